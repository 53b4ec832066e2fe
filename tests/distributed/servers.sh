#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the program of tests/acceptance/servers.c on two ranks: repeatedly killed and resumed, it ends with the same sum
# as an undisturbed run. The library and the command are the release build's, as in check_acceptance.
. "$WICK_SOURCE/tests/runner/check_functions.sh"
. "$WICK_SOURCE/tests/runner/process_functions.sh"

release=$WICK_SOURCE/build/release
wick=$release/wick
export LD_LIBRARY_PATH="$release" WICK_THREADS=1
for folder in alone killed; do
    mkdir -p "$WICK_WORK/$folder/data"
    ln -sfn "$WICK_SOURCE/data/mnist" "$WICK_WORK/$folder/data/mnist"
done
check "servers builds" cc -std=c11 -O1 -Iinclude tests/acceptance/servers.c -o "$WICK_WORK/servers" -L"$release" -lwick

start() { timeout -k 5 120 env MARK=$mark "$wick" run -n 2 --raw ../servers; }
sums_of() { sed -n 's/^world 2: checksum //p' "$1" | sort -u; } # one, if all are the same

alone() { (cd "$WICK_WORK/alone" && start) >"$WICK_WORK/alone.log" 2>&1; }
check "two ranks train" alone

# Kills the launcher ten times, some milliseconds after a new checkpoint was written: in turn in a training that started
# anew and in one that was resumed. Some may have ended before.
killed()
{
    cd "$WICK_WORK/killed" || return 1
    for round in 1 2 3 4 5 6 7 8 9 10; do
        [ $((round % 2)) = 0 ] || rm -f run.wick*
        touch before
        env MARK=$mark "$wick" run -n 2 --raw ../servers >>"$WICK_WORK/killed.log" 2>&1 &
        waited=0
        while kill -0 $! 2>/dev/null && [ $waited -lt 60000 ]; do
            [ run.wick -nt before ] && break
            sleep 0.001
            waited=$((waited + 1))
        done
        sleep 0.00$((round - 1))
        kill -KILL $! 2>/dev/null
        wait $! 2>/dev/null
        nobody || return 1
    done
    start >>"$WICK_WORK/killed.log" 2>&1
}
hit() { [ "$(grep -c "^world 2: checksum" "$WICK_WORK/killed.log")" -lt 11 ]; }
check "killed ten times it continues" killed
check "... killed during the training" hit
check "... from a checkpoint" grep "goes on after step" "$WICK_WORK/killed.log"

same()
{
    sum=$(sums_of "$WICK_WORK/alone.log")
    [ -n "$sum" ] && [ "$sum" = "$(sums_of "$WICK_WORK/killed.log")" ]
}
check "... and ends with the same sum" same
