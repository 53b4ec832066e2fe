#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs WICK_RANDOM_PROGRAMS random programs (tests/random/generator) from WICK_TEST_SEED. A failing one is printed as C;
# `random_programs --only SEED` runs it again.
. "$WICK_SOURCE/tests/runner/check_functions.sh"

programs="$WICK_BUILD/tests/random_programs"
seed=${WICK_TEST_SEED:-1}
check "random programs, seed $seed" "$programs" --kinds --programs "${WICK_RANDOM_PROGRAMS:-2000}" --seed "$seed"
tail -n 5 "$WICK_WORK/output"

# Printed programs must compile, so that tests can use them.
compiles()
{
    for number in 1 2 3 4 5 6 7 8 9 10; do
        "$programs" --print $((seed * 4294967296 + number)) >"$WICK_WORK/printed.c" || return 1
        cc -std=gnu11 -Wall -Werror -Wno-unused -fsyntax-only -Iinclude -Itests "$WICK_WORK/printed.c" || return 1
    done
}
check "printed programs compile" compiles
