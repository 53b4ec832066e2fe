#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Modes of the library do not change any bit: the sweep over the table writes a hash of all results of each row, and on
# one kind of CPU the hashes equal those of the default mode. Another kind may add in another order, but random numbers
# are the same. Uses the release build; with sanitizers the sweep also runs in each mode.
. "$WICK_SOURCE/tests/runner/check_functions.sh"

walk() # NAME VARIABLE=VALUE...
{
    name=$1
    shift
    rm -f "$WICK_WORK/$name"
    env WICK_WALK_BITS="$WICK_WORK/$name" "$@" "$WICK_SOURCE/build/release/tests/sweep_values" \
        >"$WICK_WORK/$name.log" 2>&1
    [ -s "$WICK_WORK/$name" ]
}

same() # AS NAME VARIABLE=VALUE...
{
    as=$1
    shift
    walk "$@"
    diff "$WICK_WORK/$as" "$WICK_WORK/$1"
}

random() # NAME
{
    grep '^random ' "$WICK_WORK/default" >"$WICK_WORK/expected" && grep '^random ' "$WICK_WORK/$1" >"$WICK_WORK/have" &&
        diff "$WICK_WORK/expected" "$WICK_WORK/have"
}

for cpu in default avx2 portable; do
    kind=$([ $cpu = default ] && echo WICK_THREADS=2 || echo WICK_CPU=$cpu)
    check "the sweep on $cpu" walk $cpu WICK_THREADS=2 "$kind"
    check "WICK_EAGER=1 gives the same bits on $cpu" same $cpu sync WICK_THREADS=2 WICK_EAGER=1 "$kind"
    check "WICK_NOFUSE=1 gives the same bits on $cpu" same $cpu nofuse WICK_THREADS=2 WICK_NOFUSE=1 "$kind"
    check "WICK_THREADS=1 gives the same bits on $cpu" same $cpu threads "$kind" WICK_THREADS=1
    check "random numbers on $cpu" random $cpu
done
