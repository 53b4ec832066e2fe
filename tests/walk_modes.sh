#!/bin/sh
# Modes of the library do not change a bit: the walk over the table writes a hash of all results of each row, and the hashes are
# those of the default mode. Another kind of CPU may round a sum in another order: there only the walk itself must pass.
. "$WICK_SOURCE/tests/runner/checks"

walk()
{
    name=$1
    shift
    rm -f "$WICK_WORK/$name"
    env WICK_WALK_BITS="$WICK_WORK/$name" "$@" "$WICK_BUILD/tests/walk_values" >"$WICK_WORK/$name.log" 2>&1
    [ -s "$WICK_WORK/$name" ]
}

same()
{
    walk "$@"
    diff "$WICK_WORK/default" "$WICK_WORK/$1"
}

check "the walk in the default mode" walk default WICK_THREADS=2
check "WICK_SYNC=1 gives the same bits" same sync WICK_THREADS=2 WICK_SYNC=1
check "WICK_NOFUSE=1 gives the same bits" same nofuse WICK_THREADS=2 WICK_NOFUSE=1
check "WICK_THREADS=1 gives the same bits" same threads WICK_THREADS=1
check "the walk with WICK_CPU=portable" walk portable WICK_CPU=portable
check "the walk with WICK_CPU=avx2" walk avx2 WICK_CPU=avx2
