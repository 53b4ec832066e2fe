#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests wick run: start, output and end of ranks, on this host and on hosts simulated by a script. Each command has a
# deadline, and afterwards no process that it started may remain, as identified by a variable in the environment.
. "$WICK_SOURCE/tests/runner/check_functions.sh"
. "$WICK_SOURCE/tests/runner/process_functions.sh"

wick=$WICK_BUILD/wick
unset WICK_THREADS WICK_COMM WICK_TIMEOUT NO_COLOR PYTHONUNBUFFERED 2>/dev/null || true
# AddressSanitizer's leak check uses ptrace, which fails in stopped or killed processes.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:log_path=$WICK_WORK/sanitizer"

run() { timeout -k 5 60 env MARK=$mark "$wick" run "$@"; }

# ---- silent hosts, which take a while: checked at the end

cat >"$WICK_WORK/agent" <<'END'
#!/bin/sh
# Stands in for ssh: agent [OPTIONS] HOST COMMAND
while [ "${1#-}" != "$1" ]; do shift; done
host=$1
shift
echo "$host: $*" >>"$AGENT_LOG"
case $host in
bad) echo "agent: no host bad" >&2; exit 255 ;;
deaf | numb) exec sleep 300 ;;
late) sleep 31 ;;
lost) while sleep 0.2; do echo "still looking"; done ;;
mad) exec yes nonsense ;;
swept) rmdir "$PWD" ;;
banner) echo "Welcome to banner. You have mail." ;;
old) exec sh -c "echo 'no wick'; exit 127" ;;
esac
cd / && exec env -u OTHER FAKE_HOST="$host" sh -c "$*"
END
chmod +x "$WICK_WORK/agent"
export AGENT_LOG="$WICK_WORK/log"

# silent NAME: starts two ranks on a simulated host; the launcher is $launcher.
silent()
{
    env MARK=$mark.silent PIDS="$WICK_WORK/$1.pids" WICK_RSH="$WICK_WORK/agent" "$wick" run --hosts alpha -n 2 \
        --grace 1 sh -c 'echo $$ >>$PIDS; sleep 300' >"$WICK_WORK/$1.out" 2>"$WICK_WORK/$1.err" &
    launcher=$!
    lines "$WICK_WORK/$1.pids" 2
}
check "two ranks whose launcher stops" silent launcher
silent_launcher=$launcher
kill -STOP $silent_launcher
check "two ranks whose agent stops" silent agent
silent_agent=$launcher
kill -STOP "$(cut -d' ' -f4 "/proc/$(head -1 "$WICK_WORK/agent.pids")/stat")"
env MARK=$mark.silent WICK_RSH="$WICK_WORK/agent" "$wick" run --hosts deaf true 2>"$WICK_WORK/deaf.err" &
silent_deaf=$!
env MARK=$mark.silent WICK_RSH="$WICK_WORK/agent" "$wick" run --timeout 300 --hosts late true 2>"$WICK_WORK/late.err" &
silent_late=$!

# ---- command line

check "no program" gives 2 run -n 2
check "no number of ranks" gives 2 run true
for n in 0 1025 two -1 ''; do check "-n \"$n\" is not a number of ranks" gives 2 run -n "$n" true; done
check "-n4" gives 0 run -n4 true
check "--n is not an option" gives 2 run --n 4 true
check "-np is -n" gives 0 run --raw -np 2 sh -c 'echo "$@"' -- -np 3
check "... before the program" test "$(tr '\n' ' ' <"$WICK_WORK/out")" = "-np 3 -np 3 "
check "... requires a number" gives 2 run -np two true
check "--help" gives 0 run --help
check "... does not show -np" sh -c "! grep -e '-np' -e '(null)' '$WICK_WORK/out'"
check "a long name with one dash is not an option" gives 2 run -raw -n 2 true
check "options after the program belong to it" gives 0 run -n 1 echo -n 5 --help --raw
check "... and are passed to it" out '^-n 5 --help --raw$\|^5 --help --raw$'
check "-- ends the options" gives 0 run -n 1 -- echo -- -x
check "... once" out '^-- -x$'
for value in soon 0 -3; do check "--timeout $value" gives 2 run -n 1 --timeout $value true; done
check "--grace soon" gives 2 run -n 1 --grace soon true
for hosts in '' a,,b , -oProxyCommand=x a,-v; do check "--hosts \"$hosts\"" gives 2 run --hosts "$hosts" true; done

# ---- environment of ranks

# shellcheck disable=SC2016
tell='echo $WICK_RANK $WICK_LOCAL_RANK $WICK_WORLD_SIZE $WICK_COMM ${WICK_TIMEOUT-none} ${WICK_LISTEN_FD:+listens}'
for n in 1 2 3 4; do
    check "$n ranks" gives 0 run --raw -n $n sh -c "$tell"
    for k in $(seq 0 $((n - 1))); do
        listens=$([ "$k" = 0 ] && echo " listens")
        check "rank $k of $n" out "^$k $k $n tcp none *$listens\$"
    done
    check "... and no other output" test "$(wc -l <"$WICK_WORK/out")" = $n
done
check "--timeout is WICK_TIMEOUT" gives 0 run -n 1 --timeout 17 sh -c "$tell"
check "... for the ranks" out "tcp 17 listens"
check "WICK_COMM is kept" gives 0 env WICK_COMM=self "$wick" run -n 1 sh -c "$tell"
check "... unchanged" out "1 self none"
check "variables of the outer launcher are not passed on" gives 0 env SLURM_PROCID=7 SLURM_NTASKS=8 RANK=3 \
    OMPI_COMM_WORLD_RANK=1 PMI_RANK=1 "$wick" run --raw -n 2 sh -c "env | grep -c RANK=; env | grep SLURM; true"
check "... except its own" test "$(sort -u "$WICK_WORK/out")" = 2
check "all ranks have one secret of 256 bits" gives 0 run --raw -n 3 sh -c 'echo $WICK_SECRET'
check "... each" test "$(grep -cxE '[0-9a-f]{64}' "$WICK_WORK/out") $(sort -u "$WICK_WORK/out" | wc -l)" = "3 1"
cp "$WICK_WORK/out" "$WICK_WORK/secret"
check "another run has a different" gives 0 run --raw -n 3 sh -c 'echo $WICK_SECRET'
check "... secret" sh -c "! cmp -s '$WICK_WORK/out' '$WICK_WORK/secret'"
cat >"$WICK_WORK/listen.py" <<'END'
import os, socket
host, port = os.environ["WICK_COORDINATOR"].split(",")[0].rsplit(":", 1)
if os.environ["WICK_RANK"] == "0":
    with socket.socket(fileno=int(os.environ["WICK_LISTEN_FD"])) as s:
        for k in range(int(os.environ["WICK_WORLD_SIZE"]) - 1):
            s.accept()[0].sendall(b"welcome")
else:
    print(socket.create_connection((host, int(port))).recv(100).decode())
END
check "the port is open before any rank connects" gives 0 run -n 4 python3 "$WICK_WORK/listen.py"
check "... for all" test "$(grep -c 'welcome$' "$WICK_WORK/out")" = 3
check "ranks share the threads" gives 0 run --raw -n 64 sh -c 'echo $WICK_THREADS'
check "... at least one each" test "$(sort -u "$WICK_WORK/out")" = 1
check "... unless WICK_THREADS is set" gives 0 env WICK_THREADS=5 "$wick" run --raw -n 2 sh -c 'echo $WICK_THREADS'
check "... for all" test "$(sort -u "$WICK_WORK/out")" = 5
check "one rank has all threads" gives 0 run -n 1 sh -c 'echo "threads ${WICK_THREADS-all}"'
check "... without a limit" out "^threads all$"
check "each rank leads a process group" gives 0 run --raw -n 2 sh -c 'test $(ps -o pgid= -p $$) = $$'

# ---- end of a run

check "a successful run" gives 0 run -n 4 true
check "... prints nothing" test ! -s "$WICK_WORK/out" -a ! -s "$WICK_WORK/err"
check "exit 3" gives 3 run -n 4 sh -c \
    'echo "I am $WICK_RANK"; echo so it ends >&2; [ $WICK_RANK != 2 ] || exit 3; sleep 300'
check "... is reported" err "^wick run: rank 2 on $(hostname) failed after [0-9.]* s: exit status 3; last output:$"
check "... with its last output" sh -c "grep -A2 'last output' '$WICK_WORK/err' | grep -qx '    I am 2' &&
    grep -A2 'last output' '$WICK_WORK/err' | grep -qx '    so it ends'"
check "exit 75 is passed on" gives 75 run -n 2 sh -c 'exit 75'
check "a silent rank has no last output" sh -c "grep -q 'exit status 75$' '$WICK_WORK/err'"
check "SIGKILL" gives 137 run -n 3 sh -c '[ $WICK_RANK != 1 ] || kill -9 $$; sleep 300'
check "... is reported" err "^wick run: rank 1 on .*: killed by signal 9 (Killed)$"
check "SIGSEGV" gives 139 run -n 1 sh -c 'kill -SEGV $$'
check "a missing program" gives 127 run -n 3 ./no/such/program
check "... is reported" err "not started: ./no/such/program: No such file or directory$"
# in_folder COMMAND...: in a folder with the programs `mine` and `broken`, a file `text` and a folder `folder`
in_folder() { (cd "$WICK_WORK/programs" && "$@"); }
mkdir -p "$WICK_WORK/programs/folder"
touch "$WICK_WORK/programs/text"
cp /bin/true "$WICK_WORK/programs/mine"
echo '#!/no/such/shell' >"$WICK_WORK/programs/broken"
chmod +x "$WICK_WORK/programs/broken"
check "a program in the current folder" gives 127 in_folder run -n 2 mine
check "... is suggested" err "not started: mine: No such file or directory; did you mean ./mine?$"
check "... on another host, too" gives 127 in_folder env WICK_RSH="$WICK_WORK/agent" "$wick" run --hosts alpha mine
check "... by its agent" err "not started: mine: No such file or directory; did you mean ./mine?$"
for word in text folder ./broken; do
    check "$word is not a program" gives 127 in_folder run -n 2 $word
    check "... without a suggestion" err "not started: $word: No such file or directory$"
done
check "a file that is not executable" gives 126 run -n 2 "$WICK_SOURCE/README.md"
check "... is reported" err "README.md: Permission denied$"
check "the cause is the rank with a code other than 75" gives 9 run -n 4 sh -c \
    'case $WICK_RANK in 2) sleep 0.2; echo it was me; exit 9;; 3) sleep 300;; *) exit 75;; esac'
check "... is reported" err "rank 2 .*: exit status 9"
check "if all have 75, the first is the cause" gives 75 run -n 3 sh -c '[ $WICK_RANK = 1 ] && exit 75; sleep 300'
check "... is reported" err "rank 1 .*: exit status 75"
check "a rank that ends after the cause is not a cause" gives 4 run -n 2 sh -c \
    '[ $WICK_RANK = 1 ] && exit 4; trap "exit 5" TERM; sleep 300 & wait'
check "more ranks than processors" gives 0 run -n 40 true
check "the last output is short and printable" gives 1 run -n 2 sh -c \
    'for k in $(seq 50); do printf "line %d \033[31m%0300d\n" $k 7; done; exit 1'
awk 'words { print } /last output:$/ { words = 1 }' "$WICK_WORK/err" >"$WICK_WORK/words"
check "... of ten lines" test "$(wc -l <"$WICK_WORK/words")" = 10
check "... truncated and escaped" sh -c "sed '\$d' '$WICK_WORK/words' | awk 'length > 204 { exit 1 }' &&
    ! grep -q \"\$(printf '\\033')\" '$WICK_WORK/words'"
check "... except the last one" test "$(tail -1 "$WICK_WORK/words" | wc -c)" = 318
check "a long last line" gives 1 run -n 2 sh -c 'printf "%01000d" 7; exit 1'
check "... is truncated" test "$(tail -1 "$WICK_WORK/err" | wc -c)" = 605
check "... at its end" test "$(cut -c1-12 "$WICK_WORK/words" | tail -1)" = "    line 50 "

# ---- ranks that do not end

began=$(date +%s)
check "a rank that ignores TERM" gives 6 run -n 3 --grace 1 sh -c \
    'trap "" TERM; [ $WICK_RANK = 0 ] && exit 6; while :; do sleep 1; done'
check "... is killed after the grace period" test $(($(date +%s) - began)) -lt 30
check "a rank within the grace period" gives 6 run -n 2 sh -c \
    '[ $WICK_RANK = 0 ] && { sleep 0.5; exit 6; }; trap "sleep 1; echo saved; exit" TERM; sleep 300 & wait'
check "... can save" out "^\[1\] saved$"
check "a stopped rank" gives 6 run -n 2 sh -c '[ $WICK_RANK = 1 ] && kill -STOP $$; sleep 1; exit 6'
check "... receives TERM, too" gives 6 run -n 2 sh -c \
    '[ $WICK_RANK = 0 ] && { sleep 1; exit 6; }; trap "echo saved; exit" TERM; kill -STOP $$; sleep 300 & wait'
check "... and can save" out "^\[1\] saved$"
check "grandchildren" gives 6 run -n 2 --grace 1 sh -c 'sleep 300 & (setsid sleep 301 &) ; timeout 300 sleep 302 &
    (trap "" TERM; while :; do sleep 1; done) & sleep 0.5; exit 6'
check "a rank that has ended leaves no process" gives 0 run -n 2 --grace 1 sh -c \
    '(trap "" TERM; setsid sleep 300 >/dev/null 2>&1 &) ; sleep 303 & exit 0'

# background COMMAND: `run` in the background; its process, the launcher's, is in $launcher.
background()
{
    rm -f "$WICK_WORK/pids" "$WICK_WORK/out" "$WICK_WORK/err"
    env MARK=$mark PIDS="$WICK_WORK/pids" "$wick" run "$@" >"$WICK_WORK/out" 2>"$WICK_WORK/err" &
    launcher=$!
}
ended() # CODE
{
    wait "$launcher"
    found=$?
    [ "$found" = "$1" ] || { echo "exit code $found, not $1"; cat "$WICK_WORK/out" "$WICK_WORK/err"; return 1; }
    nobody
}
# shellcheck disable=SC2016
long='echo $$ >>$PIDS; (trap "" TERM INT; sleep 300) & setsid sleep 301 & while :; do sleep 1; done'

background -n 3 --grace 1 sh -c "$long"
check "ranks run" lines "$WICK_WORK/pids" 3
kill -9 $launcher
check "the launcher is killed" ended 137
background -n 3 --grace 1 sh -c "$long"
check "ranks run" lines "$WICK_WORK/pids" 3
kill -9 "$(cut -d' ' -f4 "/proc/$(head -1 "$WICK_WORK/pids")/stat")"
check "the agent is killed" ended 75
check "... is reported" err "^wick run: host .*: connection closed"
background -n 3 sh -c "$long"
check "ranks run" lines "$WICK_WORK/pids" 3
kill -TERM "$(cut -d' ' -f4 "/proc/$(head -1 "$WICK_WORK/pids")/stat")"
check "the agent is terminated" ended 75
check "... and reports that" err "^wick run: host .*: its agent was terminated$"
for signal in INT=130 TERM=143 HUP=129 QUIT=131; do
    # A shell without job control starts background processes with INT and QUIT ignored.
    PIDS=$WICK_WORK/pids python3 - "$wick" $mark ${signal%=*} "$WICK_WORK" <<'END' >"$WICK_WORK/rc" &
import os, signal, subprocess, sys
wick, mark, name, work = sys.argv[1:]
for number in signal.SIGINT, signal.SIGQUIT: signal.signal(number, signal.SIG_DFL)
with open(work + "/out", "w") as out, open(work + "/err", "w") as err:
    p = subprocess.Popen([wick, "run", "-n", "3", "--grace", "60", "sh", "-c",
        "trap 'echo got; exit 1' " + name + "; echo $$ >>$PIDS; sleep 300 & wait"],
        stdout=out, stderr=err, env=dict(os.environ, MARK=mark))
open(work + "/launcher", "w").write(str(p.pid) + "\n")
print(p.wait())
END
    python=$!
    rm -f "$WICK_WORK/pids" "$WICK_WORK/launcher"
    check "ranks run" lines "$WICK_WORK/pids" 3
    kill -${signal%=*} "$(cat "$WICK_WORK/launcher")"
    wait $python
    check "SIG${signal%=*} reaches all ranks" test "$(grep -c 'got$' "$WICK_WORK/out") $(cat "$WICK_WORK/rc")" = \
        "3 ${signal#*=}"
    check "... and no rank is reported as failed" sh -c "! grep -q failed '$WICK_WORK/err'"
    check "... and no process remains" nobody
done
background -n 2 --grace 60 sh -c "$long"
check "ranks run" lines "$WICK_WORK/pids" 2
kill -TERM $launcher
sleep 0.5
kill -TERM $launcher
check "a second signal does not wait" ended 143
background -n 2 sh -c 'trap "echo one" USR1; trap "echo two; exit 0" USR2; echo >>$PIDS; while :; do sleep 0.1; done'
check "ranks run" lines "$WICK_WORK/pids" 2
kill -USR1 $launcher
check "USR1 is passed on" lines "$WICK_WORK/out" 2
kill -USR2 $launcher
check "USR2 is passed on" ended 0
check "... to all ranks" test "$(grep -c two "$WICK_WORK/out")" = 2
background -n 2 sh -c 'echo $$ >>$PIDS; while [ ! -e $PIDS.go ]; do sleep 0.1; done'
check "ranks run" lines "$WICK_WORK/pids" 2
states() # STATE: of the launcher and the ranks
{
    for _ in $(seq 100); do
        all=
        for process in $launcher $(cat "$WICK_WORK/pids"); do
            all=$all$(sed 's/.*) \(.\).*/\1/' /proc/$process/stat)
        done
        case $all in $1$1$1) return 0 ;; esac
        sleep 0.1
    done
    echo "states $all"
    return 1
}
kill -TSTP $launcher
check "TSTP stops all processes" states T
kill -CONT $launcher
check "CONT continues all processes" states S
touch "$WICK_WORK/pids.go"
check "... to their end" ended 0
check "ignored signals remain ignored" gives 0 run -n 1 sh -c 'trap "" HUP; exec env MARK=$MARK \
    '"$wick"' run -n 2 sh -c "kill -HUP \$\$; kill -HUP \$(ps -o ppid= -p \$\$); sleep 0.3"'
sleep 300 &
older=$!
check "earlier children are ignored" gives 0 sh -c \
    "sleep 304 & echo \$! >'$WICK_WORK/older'; MARK= exec '$wick' run -n 2 true"
check "... and continue" kill "$(cat "$WICK_WORK/older")"
kill $older

# ---- input and output

check "one line per rank" gives 0 run -n 4 sh -c 'printf a; sleep 0.1; printf "b\nc"; echo d >&2'
check "... in one piece" test "$(sort "$WICK_WORK/out" | tr '\n' ' ')" = \
    "[0] ab [0] c [1] ab [1] c [2] ab [2] c [3] ab [3] c "
check "... on its own stream" test "$(sort "$WICK_WORK/err" | tr '\n' ' ')" = "[0] d [1] d [2] d [3] d "
cat >"$WICK_WORK/long.py" <<'END'
import os, sys
for k in range(4): sys.stdout.write(os.environ["WICK_RANK"] * 2**20 + "\n")
END
check "lines of 1 MB" gives 0 run -n 4 python3 "$WICK_WORK/long.py"
check "... are complete" python3 - "$WICK_WORK/out" <<'END'
import sys
lines = open(sys.argv[1]).read().split("\n")
assert lines.pop() == "" and len(lines) == 16
assert sorted(lines) == sorted("[%d] " % k + str(k) * 2**20 for k in range(4) for _ in range(4))
END
check "a line without end" gives 0 run -n 2 sh -c '[ $WICK_RANK = 0 ] || head -c 10000000 /dev/zero'
check "... is broken into lines" python3 - "$WICK_WORK/out" <<'END'
import sys
data = open(sys.argv[1], "rb").read()
assert data.count(b"\0") == 10000000 and data.count(b"\n") == data.count(b"[1] ") == 3, len(data)
END
head -c 3000000 /dev/urandom >"$WICK_WORK/random"
check "bytes of one rank, as they are" gives 0 run -n 1 cat "$WICK_WORK/random"
check "... every one" cmp "$WICK_WORK/out" "$WICK_WORK/random"
check "--raw" gives 0 run --raw -n 2 sh -c '[ $WICK_RANK = 0 ] || cat '"$WICK_WORK/random"
check "... every one" cmp "$WICK_WORK/out" "$WICK_WORK/random"
check "input goes to rank 0" gives 0 sh -c "printf 'x\\ny' | timeout 60 env MARK=$mark '$wick' run -n 3 cat"
check "... only" test "$(cat "$WICK_WORK/out" | tr '\n' ' ')" = "[0] x [0] y "
check "input from a file" gives 0 run -n 1 cmp - "$WICK_WORK/random" <"$WICK_WORK/random"
check "no input" gives 0 run -n 2 cat <&-
check "a closed reader ends the run" gives 0 sh -c \
    "timeout 60 env MARK=$mark '$wick' run -n 2 --grace 1 yes | head -3"
check "a full disk is an error" gives 1 sh -c "timeout 60 env MARK=$mark '$wick' run -n 2 echo >/dev/full"
check "a closed output is an error" gives 1 sh -c "timeout 60 env MARK=$mark '$wick' run -n 2 echo >&-"
check "... except for silent ranks" gives 0 sh -c "timeout 60 env MARK=$mark '$wick' run -n 2 true >&-"
check "closed standard error" gives 3 sh -c "timeout 60 env MARK=$mark '$wick' run -n 1 sh -c 'exit 3' <&- 2>&-"
check "a slow reader" gives 0 sh -c \
    "timeout 60 env MARK=$mark '$wick' run -n 2 head -c 2000000 '$WICK_WORK/random' | (sleep 2; wc -c)"
check "... gets all" sh -c "test \"\$(cat '$WICK_WORK/out')\" -gt 4000000"
check "no step is shown without a terminal" gives 0 run -n 2 sh -c \
    'echo step=5 rate=2 >/proc/self/fd/$WICK_STATUS_FD'
check "... at all" test ! -s "$WICK_WORK/out" -a ! -s "$WICK_WORK/err"
check "a full status pipe does not block" gives 0 run -n 1 python3 -c 'import os
for k in range(20000):
    try: os.write(int(os.environ["WICK_STATUS_FD"]), b"step=%d\n" % k)
    except BlockingIOError: pass'

# The ranks' standard output is a terminal, so that their output is neither buffered until they end nor lost.
cat >"$WICK_WORK/last.py" <<'END'
import os, sys, time
print("soon")
while not os.path.exists(sys.argv[1] + ".go"): time.sleep(0.05)
print("last of", os.environ.get("FAKE_HOST"))
os.kill(os.getpid(), 11)
END
# last OPTIONS...: output appears before the program ends.
last()
{
    rm -f "$WICK_WORK/last.go"
    background "$@" python3 "$WICK_WORK/last.py" "$WICK_WORK/last"
    lines "$WICK_WORK/out" 2
    seen=$?
    touch "$WICK_WORK/last.go"
    ended 139 && return $seen
}
last_words() { test "$(sed '/last output:$/d' "$WICK_WORK/err" | tr '\n' '|')" = "    soon|    last of $1|"; }
check "lines appear at once" last -n 2
check "... and none is lost with a killed rank" last_words None
export WICK_RSH="$WICK_WORK/agent"
check "... on another host" last --hosts alpha -n 2
check "... too" last_words alpha
unset WICK_RSH
terminal='[ -t 1 ] && [ ! -t 2 ] && [ ! -t 0 ] && echo terminal || echo none'
check "standard output is a terminal" gives 0 run -n 2 sh -c "$terminal" </dev/null
check "... for all ranks" test "$(sort "$WICK_WORK/out" | tr '\n' '#')" = "[0] terminal#[1] terminal#"
check "... and is not a controlling terminal" gives 0 run -n 2 sh -c '! (: </dev/tty) 2>/dev/null'
for hosts in localhost alpha; do
    check "--pipe on $hosts" gives 0 env WICK_RSH="$WICK_WORK/agent" "$wick" run --hosts $hosts -n 2 --pipe sh -c \
        "$terminal"
    check "... gives no terminal" test "$(sort "$WICK_WORK/out" | tr '\n' '#')" = "[0] none#[1] none#"
done
cat >"$WICK_WORK/none.c" <<'END'
int posix_openpt(int flags);
int posix_openpt(int flags)
{
    return flags < 0 ? flags : -1;
}
END
cc -shared -fPIC "$WICK_WORK/none.c" -o "$WICK_WORK/none.so"
check "without terminals in the system" gives 0 env ASAN_OPTIONS="$ASAN_OPTIONS:verify_asan_link_order=0" \
    LD_PRELOAD="$WICK_WORK/none.so" "$wick" run -n 2 sh -c "$terminal"
check "... output is a pipe" test "$(sort "$WICK_WORK/out" | tr '\n' '#')" = "[0] none#[1] none#"
check "the output of a killed rank" gives 137 run -n 1 sh -c 'seq 200000; kill -9 $$'
check "... is complete to the last line" sh -c "seq 200000 | cmp - '$WICK_WORK/out'"

# Status messages of ranks about their world explain how a run ends.
# world LINES CODE WHEN LINES CODE WHEN: ranks 0 and 1 send lines and end: once both have started, later, when the other
# one has ended, or never.
world()
{
    rm -f "$WICK_WORK"/rank.?
    # shellcheck disable=SC2016
    run -n 2 sh -c 'shift $((3 * WICK_RANK)); trap "exit 0" TERM; other=$WICK_WORK/rank.$((1 - WICK_RANK))
        printf "$1" >/proc/self/fd/$WICK_STATUS_FD; echo $$ >$WICK_WORK/rank.$WICK_RANK
        until [ -s "$other" ]; do sleep 0.05; done
        while [ $3 = never ] || { [ $3 = later ] && kill -0 $(cat "$other") 2>/dev/null; }; do sleep 0.05; done
        exit $2' -- "$@"
}
none() { ! grep "$1" "$WICK_WORK/err"; }
check "a rank that exits with 0 during the run" gives 75 world 'world=joined\n' 75 later 'world=joined\n' 0 once
check "... is reported" err \
    "^wick run: rank 1 on $(hostname) exited with status 0 after [0-9.]* s without calling wk_dist_finish$"
check "... after the failure" test "$(grep -c . "$WICK_WORK/err") $(grep -n "failed after" "$WICK_WORK/err" |
    cut -d: -f1)" = "2 1"
check "a rank that never joined" gives 75 world 'world=joined\n' 75 later 'wick=open\n' 0 once
check "... is reported" err \
    "^wick run: rank 1 on $(hostname) exited with status 0 after [0-9.]* s without calling wk_dist_init$"
check "a rank that does not use Wick" gives 75 world 'world=joined\n' 75 later '' 0 once
check "... is reported, too" err "rank 1 .* without calling wk_dist_init$"
check "a rank that left" gives 75 world 'world=joined\n' 75 later 'world=joined\nstep=3\nworld=left\n' 0 once
check "... is not a cause" none "exited with status 0"
check "a rank that exits with 0 on TERM" gives 3 world 'world=joined\n' 3 once 'world=joined\n' 0 never
check "... is not a cause" none "exited with status 0"
# An error of rank 1, which all ranks report; rank 1 is the last to end because of it.
check "an error reported by all ranks belongs to its origin" gives 4 run -n 3 sh -c \
    'printf "world=joined\ncause=1\nworld=left\n" >/proc/self/fd/$WICK_STATUS_FD
    case $WICK_RANK in 0) exit 1;; 1) sleep 0.3; echo it was me; exit 4;; *) sleep 0.1; echo me too; exit 1;; esac'
check "... is reported" err "^wick run: rank 1 on .*: exit status 4; last output:$"
check "... and the output of the others is complete" grep -q '^\[2\] me too$' "$WICK_WORK/out"
check "an error passed on twice belongs to its origin" gives 4 run -n 3 sh -c \
    'echo world=joined >/proc/self/fd/$WICK_STATUS_FD
    [ $WICK_RANK = 2 ] || echo cause=$((WICK_RANK + 1)) >/proc/self/fd/$WICK_STATUS_FD
    case $WICK_RANK in 0) exit 1;; 1) sleep 0.4; exit 1;; *) sleep 0.2; exit 4;; esac'
check "... is reported" err "^wick run: rank 2 on .*: exit status 4"
check "another error of a later rank is not the cause" gives 3 run -n 2 sh -c \
    'printf "world=joined\ncause=1\n" >/proc/self/fd/$WICK_STATUS_FD; [ $WICK_RANK = 0 ] && exit 3; sleep 0.2; exit 75'
check "a rank that continues is not the cause" gives 1 run -n 2 sh -c \
    'printf "world=joined\ncause=1\n" >/proc/self/fd/$WICK_STATUS_FD; [ $WICK_RANK = 1 ] && sleep 300; exit 1'
check "... is reported, too" err "^wick run: rank 0 on .*: exit status 1"
check "programs without a world" gives 75 world '' 75 later 'wick=open\n' 0 once
check "... need not join" none "exited with status 0"
# Three descriptors per rank may exceed the soft limit of a process; poll() accepts no more entries than that.
few() { (ulimit -Sn 64 && gives "$@"); }
check "more ranks than descriptors" few 0 run -n 30 sh -c 'ulimit -Sn; sleep 0.5'
check "... and unchanged limits for ranks" test "$(grep -c ' 64$' "$WICK_WORK/out")" = 30
rm -f "$WICK_WORK"/rank.?
check "the first error" gives 75 run -n 4 sh -c 'echo world=joined >/proc/self/fd/$WICK_STATUS_FD
    echo $$ >$WICK_WORK/rank.$WICK_RANK; [ $WICK_RANK != 3 ] || exit 0; next=$WICK_WORK/rank.$((WICK_RANK + 1))
    until [ -s "$next" ] && ! kill -0 $(cat "$next") 2>/dev/null; do sleep 0.05; done; [ $WICK_RANK != 0 ] || exit 75'
check "... is reported" err \
    "rank 3 .* exited with status 0 after [0-9.]* s without calling wk_dist_finish, and so did 2 more$"
check "ranks that did not join" gives 0 world 'wick=open\n' 0 once 'wick=open\nworld=left\n' 0 once
check "... are reported" err "^wick run: no rank called wk_dist_init: each ran as a world of one$"
check "one rank that joined" gives 0 world 'wick=open\n' 0 once 'world=joined\nworld=left\nwick=open\n' 0 once
check "... is enough" test ! -s "$WICK_WORK/err"
check "one rank" gives 0 run -n 1 sh -c 'echo wick=open >/proc/self/fd/$WICK_STATUS_FD'
check "... need not join" test ! -s "$WICK_WORK/err"
check "ranks that fail without a world" gives 3 world 'wick=open\n' 3 later 'wick=open\n' 0 once
check "... are reported without it" none "no rank"

# On a terminal: a line per rank below the output, removed at the end.
cat >"$WICK_WORK/terminal.py" <<'END'
import os, pty, signal, sys
seen, typed = b"", False
process, fd = pty.fork()
if process == 0:
    os.environ["TERM"] = "xterm"
    os.execv(sys.argv[1], sys.argv[1:])
signal.alarm(60)
while True:
    try: got = os.read(fd, 65536)
    except OSError: break
    if not got: break
    seen += got
    if not typed and b"your name" in seen:
        os.write(fd, b"Ada\n")
        typed = True
code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
sys.stdout.write(repr(seen)[2:-1].replace("\\n", "\n") + "\n")
sys.exit(code)
END
# shellcheck disable=SC2016
steps='for k in $(seq 20); do
    echo "step=$k rate=12.5" >/proc/self/fd/$WICK_STATUS_FD; sleep 0.1; [ $k != 15 ] || echo half
done'
check "steps on a terminal" gives 0 env MARK=$mark python3 "$WICK_WORK/terminal.py" "$wick" run -n 2 sh -c "$steps"
check "... of each rank" out "\[1\] .* running  step [0-9]*  12.5 steps/s"
check "... below the output" sh -c "tr '\n' ' ' <'$WICK_WORK/out' | grep -q 'x1b.2A.x1b.J\[[01]\] half'"
check "... removed at the end" sh -c "tail -1 '$WICK_WORK/out' | grep -q 'x1b.J$'"
check "a failure on a terminal" gives 3 env MARK=$mark python3 "$WICK_WORK/terminal.py" "$wick" run -n 2 sh -c \
    "$steps; [ \$WICK_RANK = 0 ] || exit 3; sleep 300"
check "... is reported below" out "x1b.Jwick run: rank 1 .* exit status 3; last output:"
check "typed input" gives 0 env MARK=$mark python3 "$WICK_WORK/terminal.py" "$wick" run -n 2 sh -c \
    '[ $WICK_RANK = 1 ] || { echo your name; read name; echo hello $name; }'
check "... reaches rank 0" out "^\[0\] hello Ada"

# ---- other hosts

far() { WICK_RSH="$WICK_WORK/agent -x" OTHER="a b" run "$@"; }
# shellcheck disable=SC2016
where='echo $WICK_RANK $FAKE_HOST $WICK_LOCAL_RANK ${WICK_COORDINATOR%:*} ${WICK_LISTEN_FD:+listens}'

check "one rank on each host" gives 0 far --raw --hosts alpha,beta sh -c "$where"
check "... in order" test "$(sort "$WICK_WORK/out" | tr '\n' ' ')" = "0 alpha 0 alpha listens 1 beta 0 alpha "
check "five on two hosts" gives 0 far --raw --hosts alpha,beta -n 5 sh -c "$where"
check "... the first has more" test "$(sort "$WICK_WORK/out" | cut -d' ' -f1-3 | tr '\n' ' ')" = \
    "0 alpha 0 1 alpha 1 2 alpha 2 3 beta 0 4 beta 1 "
check "a host listed twice" gives 0 far --raw --hosts alpha,beta,alpha -n 3 sh -c "$where"
check "... numbers its ranks consecutively" test "$(sort "$WICK_WORK/out" | cut -d' ' -f1-3 | tr '\n' ' ')" = \
    "0 alpha 0 1 beta 0 2 alpha 1 "
# The launcher has two descriptors per host.
many=$(seq -s, -f h%g 16)
few_for_hosts() { (ulimit "$1" 32 && shift && gives "$@"); }
check "more hosts than descriptors" few_for_hosts -Sn 0 far --raw --hosts "$many" sh -c 'ulimit -Sn'
check "... and unchanged limits for ranks" test "$(grep -c '^32$' "$WICK_WORK/out")" = 16
check "... beyond the hard limit" few_for_hosts -n 1 far --hosts "$many" true
check "... is reported" err "host h1[0-9]: Too many open files$"
rm -f "$WICK_WORK/log"
check "more hosts than ranks" gives 0 far --raw --hosts alpha,beta,gamma -n 2 sh -c "$where"
check "... leaves some unused" sh -c "! grep -q gamma '$WICK_WORK/log'"
check "localhost is this host" gives 0 far --raw --hosts localhost,beta -n 2 sh -c "$where"
check "... and its name is given to others" test "$(sort "$WICK_WORK/out" | cut -d' ' -f2-4 | tr '\n' ' ')" = \
    "0 $(hostname) listens beta 0 $(hostname) "
check "no secret in a command line" gives 0 far --hosts alpha,beta sh -c \
    'sleep 0.2; printf "%s\n" "$WICK_SECRET" >"$AGENT_LOG.$WICK_RANK"; test -s "$AGENT_LOG.$WICK_RANK" || exit 1
    ! cat /proc/[0-9]*/cmdline "$AGENT_LOG" | grep -aqf "$AGENT_LOG.$WICK_RANK"'
check "WICK_ variables reach other hosts" gives 0 env WICK_LOG=sync WICK_RSH="$WICK_WORK/agent" "$wick" run --raw \
    --hosts alpha sh -c 'echo "$WICK_LOG"'
check "... with their values" out "^sync$"
check "--env" gives 0 far --env NONE,OTHER --hosts alpha sh -c 'echo "<$OTHER>"'
check "... passes a variable" out "^<a b>$"
check "no --env" gives 0 far --hosts alpha sh -c 'echo "<$OTHER>"'
check "... passes none" out "^<>$"
odd="$WICK_WORK/it's a \$folder"
mkdir "$odd"
cp "$wick" "$odd/wick"
here()
{
    (cd "$odd" && LD_LIBRARY_PATH=$WICK_BUILD WICK_RSH="$WICK_WORK/agent" timeout 60 env MARK=$mark ./wick run "$@")
}
check "arguments and folders with special characters" gives 0 here --hosts alpha,beta --raw sh -c \
    'words=$(printf "%s|" "$@"); printf "%s\n%s\n" "$PWD" "$words"' -- "it's" 'a "b" $c' ''
check "... reach the other host" test "$(sort -u "$WICK_WORK/out" | tr '\n' '#')" = \
    "$odd#it's|a \"b\" \$c||#"
check "a host that prints at login" gives 0 far --hosts banner,beta sh -c "$where"
check "... works" out "^\[0\] 0 banner"
check "a wrong host" gives 1 far --hosts alpha,bad sh -c 'echo started'
check "... is reported" err "^wick run: host bad: $WICK_WORK/agent -x could not start an agent (see its output above)"
check "... in the agent's words" err "^agent: no host bad$"
check "... and nothing is started" test ! -s "$WICK_WORK/out"
check "a host without wick" gives 1 far --hosts old,alpha true
check "... is reported" err "^wick run: host old: .*Wick must be installed there"
check "a host that sends invalid data" gives 1 far --hosts alpha,mad true
# An agent that reports "exit 3" (19) of rank 1000 in a world of one rank, and of a rank on another host.
for rank in '\350\003' '\001\000'; do
    cat >"$WICK_WORK/liar" <<EOF
#!/bin/sh
printf 'wick run agent 2\n\023$rank\000\006\000\000\000exit 3\000'; sleep 5
EOF
    chmod +x "$WICK_WORK/liar"
    check "a message about a rank of another host" gives 75 env WICK_RSH="$WICK_WORK/liar" \
        "$wick" run --hosts alpha -n 1 true
    check "... is a protocol error" err "host alpha: protocol error"
done
check "a missing remote shell" gives 1 env WICK_RSH=/no/such/ssh "$wick" run --hosts alpha true
check "... is reported" err "^wick run: /no/such/ssh: No such file or directory"
# in_new NAME COMMAND...: in a new folder
in_new() { (mkdir "$WICK_WORK/$1" && cd "$WICK_WORK/$1" && shift && "$@"); }
nowhere() { rmdir "$PWD" && far --hosts alpha true; }
check "a missing folder" gives 1 in_new gone nowhere
check "... is reported" err "^wick run: cannot determine the current folder: No such file or directory$"
check "a missing folder on another host" gives 127 in_new away far --hosts swept true
check "... is reported" err "not started: .*/away: No such file or directory$"
check "exit 3 on another host" gives 3 far --hosts alpha,beta,gamma -n 6 sh -c \
    '[ $WICK_RANK != 3 ] || { echo bye; exit 3; }; sleep 300'
check "... is reported" err "^wick run: rank 3 on beta failed after [0-9.]* s: exit status 3; last output:$"
check "input to another host" gives 0 sh -c "WICK_RSH='$WICK_WORK/agent' timeout 60 env MARK=$mark '$wick' run \
    --hosts alpha,beta -n 3 --raw cat <'$WICK_WORK/random'"
check "... every byte" cmp "$WICK_WORK/out" "$WICK_WORK/random"
check "input that is not read" gives 0 sh -c "WICK_RSH='$WICK_WORK/agent' timeout 60 env MARK=$mark '$wick' run \
    --hosts alpha sleep 0.5 <'$WICK_WORK/random'"
far_background()
{
    export WICK_RSH="$WICK_WORK/agent"
    background "$@"
    unset WICK_RSH
}
far_background --hosts alpha,beta,localhost -n 6 --grace 1 sh -c "$long"
check "ranks run on other hosts" lines "$WICK_WORK/pids" 6
kill -9 $launcher
check "the launcher is killed, and the ranks end" ended 137
far_background --hosts alpha,beta -n 4 --grace 1 sh -c "$long"
check "ranks run on other hosts" lines "$WICK_WORK/pids" 4
kill -9 "$(cut -d' ' -f4 "/proc/$(tail -1 "$WICK_WORK/pids")/stat")"
check "a connection is lost" ended 75
check "... is reported" err "^wick run: host \(alpha\|beta\): connection closed"
check "... with the rank" err "^wick run: rank [0-3] on \(alpha\|beta\) failed after .* s: its host is unreachable"
check "a host that never answers" gives 1 far --timeout 2 --hosts alpha,deaf,numb,lost true
for host in deaf numb lost; do
    check "... is reported: $host" err \
        "^wick run: host $host: no answer within 2 s; check that \`.*/agent -x $host true\`"
done
check "... and no other host" sh -c "! grep -q 'host alpha' '$WICK_WORK/err'"
check "... and nothing is started" test ! -s "$WICK_WORK/out"
far_background --hosts alpha,deaf -n 2 true
sleep 1
kill -TERM $launcher
check "waiting for a silent host can be interrupted" ended 143
far_background --hosts alpha,deaf -n 2 true
sleep 1
kill -9 $launcher
check "... or killed" ended 137

# Process searches of this file find processes.
MARK=$mark setsid sleep 305 &
found() { for _ in $(seq 100); do [ -n "$(left)" ] && return 0; sleep 0.1; done; return 1; }
check "remaining processes are found" found
kill $!
wait $! 2>/dev/null
mark=$mark.silent
silence_ends()
{
    wait $silent_agent
    found=$?
    [ $found = 75 ] || { echo "exit code $found"; return 1; }
    grep "^wick run: host alpha: no heartbeat$" "$WICK_WORK/agent.err"
}
check "a host without heartbeat is lost" silence_ends
gone() # FILE OF PROCESSES
{
    for _ in $(seq 200); do
        any=
        while read -r process; do [ ! -e "/proc/$process" ] || any=$process; done <"$1"
        [ -n "$any" ] || return 0
        sleep 0.2
    done
    return 1
}
check "ranks without contact to the launcher end" gone "$WICK_WORK/launcher.pids"
kill -CONT $silent_launcher
wait $silent_launcher
check "... and the launcher reports it" test "$? $(grep -c '^wick run: host alpha: lost contact with the launcher$' \
    "$WICK_WORK/launcher.err")" = "75 1"
wait $silent_deaf
check "waiting for a silent host ends" test "$? $(grep -c \
    '^wick run: host deaf: no answer within 30 s' "$WICK_WORK/deaf.err")" = "1 1"
wait $silent_late
check "waiting for a late host lasts for --timeout" test "$? $(cat "$WICK_WORK/late.err")" = "0 "
check "no process remains" nobody
check "no sanitizer reports" sh -c "! cat '$WICK_WORK'/sanitizer* 2>/dev/null | grep ."
