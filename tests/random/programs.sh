#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A minute of random programs (tests/random/), from the seed of the day, so that each day tries others. What fails is
# printed as a program; `random_programs --only SEED` runs it again.
. "$WICK_SOURCE/tests/runner/check_functions.sh"

programs="$WICK_BUILD/tests/random_programs"
seed=${WICK_RANDOM_SEED:-$(date -u +%Y%m%d)}
check "random programs, seed $seed" "$programs" --kinds --seconds "${WICK_RANDOM_SECONDS:-60}" --seed "$seed"
tail -n 5 "$WICK_WORK/output"

# What it prints can be taken over.
compiles()
{
    for number in 1 2 3 4 5 6 7 8 9 10; do
        "$programs" --print $((seed * 4294967296 + number)) >"$WICK_WORK/printed.c" || return 1
        cc -std=gnu11 -Wall -Werror -Wno-unused -fsyntax-only -Iinclude -Itests "$WICK_WORK/printed.c" || return 1
    done
}
check "printed programs compile" compiles
