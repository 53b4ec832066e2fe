#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests a program as the ranks of a world, started by wick run, by the mpirun of Open MPI and of MPICH, and by hand, on
# one host and on two simulated hosts: its results, the loss of a rank or of the network, and that no process remains.
# tests/hosts/world.c is the program.
. "$WICK_SOURCE/tests/runner/check_functions.sh"
. "$WICK_SOURCE/tests/runner/process_functions.sh"

release=$WICK_SOURCE/build/release hosts=$WICK_SOURCE/tests/hosts
for variable in $(env | sed -n 's/^\(WICK_THREADS\|WICK_COMM\|WICK_TIMEOUT\|OMPI_[A-Z_]*\|PMI_[A-Z_]*\)=.*/\1/p'); do
    unset "$variable"
done
cc -Wall -Wextra -Werror -O1 -Iinclude "$hosts/world.c" -o "$WICK_WORK/world" -L"$release" -lwick \
    -Wl,-rpath,"$release" || exit 1
world=$WICK_WORK/world

tcp() { timeout -k 5 60 env MARK=$mark "$WICK_BUILD/wick" run "$@"; }
# Ranks that fill the machine share its cores; output goes to files, because mpirun's helpers hold pipes open.
mpi() { timeout -k 5 60 env MARK=$mark mpirun --allow-run-as-root --oversubscribe --bind-to none --mca \
    mpi_yield_when_idle 1 "$@"; }
mpich() { timeout -k 5 60 env MARK=$mark mpiexec.mpich "$@"; }
open_mpi=no mpich=no
[ -e "$release/libwick_mpi_openmpi.so" ] && command -v mpirun >/dev/null && open_mpi=yes
[ -e "$release/libwick_mpi_mpich.so" ] && command -v mpiexec.mpich >/dev/null && mpich=yes

# all_right N [LOCAL]: each of N ranks has reported once that all steps were right.
all_right()
{
    for k in $(seq 0 $(($1 - 1))); do out "rank $k of $1, .*: \([0-9]*\) of \1 steps$" || return 1; done
    [ "$(grep -c '^\(\[.\] \)*rank' "$WICK_WORK/out")" = "$1" ] || { cat "$WICK_WORK/out"; return 1; }
}

# ---- one host

for n in 1 2 3 4; do
    check "wick run: $n ranks" gives 0 tcp -n $n "$world"
    check "... are right" all_right $n
done
check "wick run: a rank is killed" gives 137 tcp -n 4 "$world" 20 2 kill
check "... is reported as the cause" err "^wick run: rank 2 on .*: killed by signal 9 (Killed)"
check "wick run: a rank leaves" gives 3 tcp -n 4 "$world" 20 2 exit3
check "... is reported as the cause" err "^wick run: rank 2 on .*: exit status 3"
check "wick run: a rank returns" gives 75 tcp -n 4 "$world" 20 2 exit0
check "... which explains the errors of the others" err \
    "^wick run: rank 2 on .* exited with status 0 after .* s without calling wk_dist_finish$"
check "wick run: a rank never joins" gives 75 tcp -n 2 --timeout 2 "$world" 20 1 absent
check "... is reported" err "^wick run: rank 1 on .* exited with status 0 after .* s without calling wk_dist_init$"
check "wick run: no rank joins" gives 0 tcp -n 2 "$world" 20 0 apart
check "... is reported" err "^wick run: no rank called wk_dist_init: each ran as a world of one$"
check "wick run: a successful world" gives 0 tcp -n 2 "$world"
check "... prints nothing" test ! -s "$WICK_WORK/err"
check "wick run: a rank has an error" gives 1 tcp -n 4 "$world" 20 2 fail
check "... that all report" err "all_reduce .*: rank 2 on .* failed: .*matmul: "
# Both ranks end at the same moment; either may be reported first.
for culprit in 0 1; do
    for k in 1 2 3 4 5 6 7 8 9 10; do
        check "wick run: rank $culprit passes an invalid module to wk_ddp, $k" gives 1 tcp -n 2 "$world" 3 $culprit ddp
        check "... is reported as the cause" err "^wick run: rank $culprit on .* failed after .*: exit status 1"
    done
done
check "wick run: a rank is stopped" gives 75 tcp -n 4 --timeout 2 "$world" 20 2 stop
check "... is reported" err "all_reduce 12 (512 KiB): timed out after .* s: rank 2 on .* is dead or stuck; restart"

by_hand()
{
    for k in 0 1 2; do
        timeout -k 5 60 env MARK=$mark WICK_RANK=$k WICK_WORLD_SIZE=3 WICK_COORDINATOR=127.0.0.1:"$1" WICK_SECRET=s \
            "$world" &
    done
    wait
}
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
check "by hand: three ranks" gives 0 by_hand "$port"
check "... are right" all_right 3
torchrun()
{
    for k in 0 1; do
        timeout -k 5 60 env MARK=$mark RANK=$k WORLD_SIZE=2 LOCAL_RANK=$k MASTER_ADDR=127.0.0.1 MASTER_PORT="$1" \
            WICK_SECRET=s "$world" &
    done
    wait
}
check "torchrun's variables: two ranks" gives 0 torchrun "$port"
check "... are right" all_right 2
check "without a launcher: a world of one" gives 0 "$world"
check "... which is right" all_right 1
check "WICK_COMM=self: a world of one each" gives 0 env WICK_COMM=self "$WICK_BUILD/wick" run -n 2 "$world"
check "... twice" out "^\[1\] rank 0 of 1, 0 on"

if [ $open_mpi = yes ]; then
    for n in 1 2 3 4; do
        check "Open MPI: $n ranks" gives 0 mpi -n $n "$world"
        check "... are right" all_right $n
    done
    check "Open MPI: a rank is killed" gives 137 mpi -n 3 "$world" 20 1 kill
    check "Open MPI: a rank leaves" gives 3 mpi -n 3 "$world" 20 1 exit3
    check "Open MPI: a rank has an error" gives 1 mpi -n 3 "$world" 20 1 fail
    check "... that it reports" err "matmul: inner dimensions differ"
    check "Open MPI: a rank is stopped" gives 75 env WICK_TIMEOUT=2 sh -c "timeout -k 5 60 env MARK=$mark mpirun \
        --allow-run-as-root --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 -n 3 '$world' 20 1 stop"
    check "... is reported" err "all_reduce .* (512 KiB): timed out after 2 s"
    check "Open MPI: tcp under mpirun" gives 0 mpi -n 3 -x WICK_COMM=tcp -x WICK_COORDINATOR=127.0.0.1:"$port" -x \
        WICK_SECRET=s "$world"
    check "... is right" all_right 3
    check "MPI without its mpirun" gives 1 env WICK_COMM=mpi "$WICK_BUILD/wick" run -n 2 "$world"
    check "... is reported" err "expected 2 ranks, but MPI has 1; start the program with the mpirun of this MPI library"

    # The plug-in: beside the library, at the path of a variable, missing, another one.
    mkdir "$WICK_WORK/bare"
    cp -P "$release"/libwick.so* "$WICK_WORK/bare"
    bare() { plugin=$1; shift; LD_LIBRARY_PATH=$WICK_WORK/bare WICK_MPI_PLUGIN=$plugin mpi -n 2 "$@"; }
    cc -Iinclude "$hosts/world.c" -o "$WICK_WORK/bare/world" -L"$release" -lwick
    check "a missing plug-in" gives 1 bare "" "$WICK_WORK/bare/world"
    check "... is reported" err "cannot load the MPI plug-in .*libwick_mpi_openmpi.so (.*scripts/setup many"
    check "WICK_MPI_PLUGIN" gives 0 bare "$release/libwick_mpi_openmpi.so" "$WICK_WORK/bare/world"
    check "... is used" all_right 2
    check "a library that is not a plug-in" gives 1 bare "$WICK_WORK/bare/libwick.so" "$WICK_WORK/bare/world"
    check "... is reported" err "was built for another version of Wick"
    cp "$release/libwick_mpi_openmpi.so" "$WICK_WORK/bare"
    check "a plug-in beside the library" gives 0 bare "" "$WICK_WORK/bare/world"
    check "... is found" all_right 2

    # A program that uses MPI itself.
    cat >"$WICK_WORK/both.c" <<'END'
#include <mpi.h>
#include <wick.h>
int main(int count, char **words)
{
    int level, all = 0;
    WK_SCOPE;
    MPI_Init_thread(&count, &words, words[1][0] == 'm' ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    wk_dist_init();
    const int rank = wk_dist_rank(), n = wk_dist_size(), one = 1;
    wk_tensor *x = wk_dist_all_reduce_(wk_full((5), rank));
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    const bool right = x && wk_item(wk_amax(x)) == n * (n - 1) / 2 && all == n;
    wk_dist_finish();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return wk_error() ? wk_report_error(stderr) : !right;
}
END
    OMPI_CC=cc mpicc -Iinclude "$WICK_WORK/both.c" -o "$WICK_WORK/both" -L"$release" -lwick -Wl,-rpath,"$release"
    check "a program that has started MPI" gives 0 mpi -n 3 "$WICK_WORK/both" multiple
    check "a program that has started MPI for one thread" gives 1 mpi -n 2 "$WICK_WORK/both" single
    check "... is reported" err "the program initialised MPI without thread support"

    # Data beyond the range of an int count is split; here pieces are small.
    OMPI_CC=cc mpicc -std=gnu11 -D_GNU_SOURCE -DWICK_MPI_PIECE=50000 -Iinclude -fPIC -fvisibility=hidden -shared \
        plugins/wick_mpi.c -o "$WICK_WORK/small.so"
    check "large calls are split" env WICK_TEST_MPI=1 WICK_MPI_PLUGIN="$WICK_WORK/small.so" \
        ASAN_OPTIONS=detect_leaks=0 timeout -k 5 300 "$WICK_BUILD/tests/distributed_values"
else
    echo "skip Open MPI: not installed (scripts/setup many)"
fi
if [ $mpich = yes ]; then
    for n in 1 2; do
        check "MPICH: $n ranks" gives 0 mpich -n $n "$world"
        check "... are right" all_right $n
    done
    check "MPICH: a rank has an error" gives 1 mpich -n 2 "$world" 20 1 fail
else
    echo "skip MPICH: not installed (packages mpich, libmpich-dev)"
fi

# ---- two hosts

# on_two COMMAND...: runs with a deadline; output goes to files.
on_two() { timeout -k 5 90 env MARK=$mark WICK_RSH="$hosts/rsh" "$hosts/two_hosts" "$@"; }
far_tcp() { on_two timeout -k 5 60 "$WICK_BUILD/wick" run --hosts nodeA,nodeB "$@"; }
far_mpi()
{
    on_two timeout -k 5 60 mpirun --allow-run-as-root --bind-to none --mca mpi_yield_when_idle 1 --mca plm_rsh_agent \
        "$hosts/rsh" --mca oob_tcp_keepalive_time 3 --mca oob_tcp_keepalive_intvl 1 --mca oob_tcp_keepalive_probes 3 \
        -host nodeA:2,nodeB:2 --map-by node "$@"
}
on_each() { out "rank 0 of $1, 0 on nodeA" && out "rank $2 of $1, 0 on nodeB" && all_right "$1"; }

if why=$("$hosts/two_hosts" true) && [ -z "$why" ]; then
    check "two hosts, wick run: 2 ranks" gives 0 far_tcp -n 2 "$world" 30
    check "... are right" on_each 2 1
    check "two hosts, wick run: 4 ranks" gives 0 far_tcp -n 4 "$world" 30
    check "... are right" on_each 4 2
    check "two hosts, wick run: a rank is killed" gives 137 far_tcp -n 4 "$world" 20 3 kill
    check "... is reported as the cause" err "^wick run: rank 3 on nodeB failed after .*: killed by signal 9"
    check "two hosts, wick run: a missing host" gives 1 on_two "$WICK_BUILD/wick" run --hosts nodeA,nodeC true
    check "... is reported" err "rsh: there is no host nodeC"
    # The system or the deadline may detect it first, depending on the network.
    cut_tcp() { CUT=2 WICK_TIMEOUT=4 far_tcp -n 2 "$world" 1000000; }
    check "two hosts, wick run: the cable is cut" gives 75 cut_tcp
    check "... is reported" err "all_reduce .*\(lost rank . on node\|rank . on node.* is dead or stuck\)"
    if [ $open_mpi = yes ]; then
        check "two hosts, Open MPI: 2 ranks" gives 0 far_mpi -n 2 "$world" 30
        check "... are right" on_each 2 1
        check "two hosts, Open MPI: 4 ranks" gives 0 far_mpi -n 4 "$world" 30
        check "... are right" on_each 4 1
        check "two hosts, Open MPI: a rank is killed" gives 137 far_mpi -n 2 "$world" 20 1 kill
        # 205: mpirun detected it; 75: a rank's deadline was first; 1: the cable was cut before mpirun had started, as
        # on a busy machine
        cut_mpi()
        {
            for cut in 3 12 40; do
                CUT=$cut far_mpi -n 2 "$world" 1000000
                how=$?
                [ $how = 1 ] || break
            done
            [ $how = 75 ] || [ $how = 205 ]
        }
        check "two hosts, Open MPI: the cable is cut" gives 0 cut_mpi
    fi
else
    echo "skip two hosts: $why"
fi
