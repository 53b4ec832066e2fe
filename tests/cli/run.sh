#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wick run: how ranks are started, heard and ended, here and on hosts that a script stands in for. Each command has a
# deadline, and all that it started is looked for afterwards, by a variable in the environment.
. "$WICK_SOURCE/tests/runner/check_functions.sh"
. "$WICK_SOURCE/tests/runner/process_functions.sh"

wick=$WICK_BUILD/wick
unset WICK_THREADS WICK_COMM WICK_TIMEOUT NO_COLOR PYTHONUNBUFFERED 2>/dev/null || true
# AddressSanitizer looks for leaks with ptrace, which a process that is stopped or killed does not like.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:log_path=$WICK_WORK/sanitizer"

run() { timeout -k 5 60 env MARK=$mark "$wick" run "$@"; }

# ---- silence, which takes its time: looked at in the end

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

# silent NAME: two ranks on a host that a script stands in for; the launcher is $launcher.
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

# ---- the words of the command

check "no program" gives 2 run -n 2
check "no number of ranks" gives 2 run true
for n in 0 1025 two -1 ''; do check "-n \"$n\" is no number of ranks" gives 2 run -n "$n" true; done
check "-n4" gives 0 run -n4 true
check "--n is no option" gives 2 run --n 4 true
check "-np is -n" gives 0 run --raw -np 2 sh -c 'echo "$@"' -- -np 3
check "... before the program" test "$(tr '\n' ' ' <"$WICK_WORK/out")" = "-np 3 -np 3 "
check "... with a number behind it" gives 2 run -np two true
check "--help" gives 0 run --help
check "... does not offer it" sh -c "! grep -e '-np' -e '(null)' '$WICK_WORK/out'"
check "a long name with one dash is none" gives 2 run -raw -n 2 true
check "the program's options are its own" gives 0 run -n 1 echo -n 5 --help --raw
check "... and reach it" out '^-n 5 --help --raw$\|^5 --help --raw$'
check "-- ends the options" gives 0 run -n 1 -- echo -- -x
check "... once" out '^-- -x$'
for value in soon 0 -3; do check "--timeout $value" gives 2 run -n 1 --timeout $value true; done
check "--grace soon" gives 2 run -n 1 --grace soon true
for hosts in '' a,,b , -oProxyCommand=x a,-v; do check "--hosts \"$hosts\"" gives 2 run --hosts "$hosts" true; done

# ---- what ranks are told

# shellcheck disable=SC2016
tell='echo $WICK_RANK $WICK_LOCAL_RANK $WICK_WORLD_SIZE $WICK_COMM ${WICK_TIMEOUT-none} ${WICK_LISTEN_FD:+listens}'
for n in 1 2 3 4; do
    check "$n ranks" gives 0 run --raw -n $n sh -c "$tell"
    for k in $(seq 0 $((n - 1))); do
        listens=$([ "$k" = 0 ] && echo " listens")
        check "rank $k of $n" out "^$k $k $n tcp none *$listens\$"
    done
    check "... and no more" test "$(wc -l <"$WICK_WORK/out")" = $n
done
check "--timeout is WICK_TIMEOUT" gives 0 run -n 1 --timeout 17 sh -c "$tell"
check "... for the ranks" out "tcp 17 listens"
check "WICK_COMM stays" gives 0 env WICK_COMM=self "$wick" run -n 1 sh -c "$tell"
check "... as it was" out "1 self none"
check "what has started it is not what starts the ranks" gives 0 env SLURM_PROCID=7 SLURM_NTASKS=8 RANK=3 \
    OMPI_COMM_WORLD_RANK=1 PMI_RANK=1 "$wick" run --raw -n 2 sh -c "env | grep -c RANK=; env | grep SLURM; true"
check "... but for itself" test "$(sort -u "$WICK_WORK/out")" = 2
check "all have one secret of 256 bits" gives 0 run --raw -n 3 sh -c 'echo $WICK_SECRET'
check "... each" test "$(grep -cxE '[0-9a-f]{64}' "$WICK_WORK/out") $(sort -u "$WICK_WORK/out" | wc -l)" = "3 1"
cp "$WICK_WORK/out" "$WICK_WORK/secret"
check "another run has another" gives 0 run --raw -n 3 sh -c 'echo $WICK_SECRET'
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
check "the port is open before any rank looks" gives 0 run -n 4 python3 "$WICK_WORK/listen.py"
check "... for all" test "$(grep -c 'welcome$' "$WICK_WORK/out")" = 3
check "ranks share the threads" gives 0 run --raw -n 64 sh -c 'echo $WICK_THREADS'
check "... one each at least" test "$(sort -u "$WICK_WORK/out")" = 1
check "... which they may be told" gives 0 env WICK_THREADS=5 "$wick" run --raw -n 2 sh -c 'echo $WICK_THREADS'
check "... for all" test "$(sort -u "$WICK_WORK/out")" = 5
check "one rank has all" gives 0 run -n 1 sh -c 'echo "threads ${WICK_THREADS-all}"'
check "... of them" out "^threads all$"
check "each rank leads a process group" gives 0 run --raw -n 2 sh -c 'test $(ps -o pgid= -p $$) = $$'

# ---- how it ends

check "all well" gives 0 run -n 4 true
check "... says nothing" test ! -s "$WICK_WORK/out" -a ! -s "$WICK_WORK/err"
check "exit 3" gives 3 run -n 4 sh -c \
    'echo "I am $WICK_RANK"; echo so it ends >&2; [ $WICK_RANK != 2 ] || exit 3; sleep 300'
check "... is told" err "^wick run: rank 2 on $(hostname) failed after [0-9.]* s: exit status 3; last output:$"
check "... with last words" sh -c "grep -A2 'last output' '$WICK_WORK/err' | grep -qx '    I am 2' &&
    grep -A2 'last output' '$WICK_WORK/err' | grep -qx '    so it ends'"
check "75 stays 75" gives 75 run -n 2 sh -c 'exit 75'
check "one that says nothing has no last words" sh -c "grep -q 'exit status 75$' '$WICK_WORK/err'"
check "SIGKILL" gives 137 run -n 3 sh -c '[ $WICK_RANK != 1 ] || kill -9 $$; sleep 300'
check "... is told" err "^wick run: rank 1 on .*: killed by signal 9 (Killed)$"
check "SIGSEGV" gives 139 run -n 1 sh -c 'kill -SEGV $$'
check "a missing program" gives 127 run -n 3 ./no/such/program
check "... is told" err "not started: ./no/such/program: No such file or directory$"
# in_folder COMMAND...: where programs `mine` and `broken`, a file `text` and a folder `folder` lie
in_folder() { (cd "$WICK_WORK/programs" && "$@"); }
mkdir -p "$WICK_WORK/programs/folder"
touch "$WICK_WORK/programs/text"
cp /bin/true "$WICK_WORK/programs/mine"
echo '#!/no/such/shell' >"$WICK_WORK/programs/broken"
chmod +x "$WICK_WORK/programs/broken"
check "a program that lies in the folder" gives 127 in_folder run -n 2 mine
check "... is pointed at" err "not started: mine: No such file or directory; did you mean ./mine?$"
check "... on another host, too" gives 127 in_folder env WICK_RSH="$WICK_WORK/agent" "$wick" run --hosts alpha mine
check "... by its agent" err "not started: mine: No such file or directory; did you mean ./mine?$"
for word in text folder ./broken; do
    check "$word is no program" gives 127 in_folder run -n 2 $word
    check "... and no other is meant" err "not started: $word: No such file or directory$"
done
check "one that is no program" gives 126 run -n 2 "$WICK_SOURCE/README.md"
check "... is told" err "README.md: Permission denied$"
check "the cause is who ends otherwise than with 75" gives 9 run -n 4 sh -c \
    'case $WICK_RANK in 2) sleep 0.2; echo it was me; exit 9;; 3) sleep 300;; *) exit 75;; esac'
check "... is told" err "rank 2 .*: exit status 9"
check "with 75 alone it is the first" gives 75 run -n 3 sh -c '[ $WICK_RANK = 1 ] && exit 75; sleep 300'
check "... is told" err "rank 1 .*: exit status 75"
check "who ends after the cause is none" gives 4 run -n 2 sh -c \
    '[ $WICK_RANK = 1 ] && exit 4; trap "exit 5" TERM; sleep 300 & wait'
check "more ranks than processors" gives 0 run -n 40 true
check "last words are few and fit for a terminal" gives 1 run -n 2 sh -c \
    'for k in $(seq 50); do printf "line %d \033[31m%0300d\n" $k 7; done; exit 1'
awk 'words { print } /last output:$/ { words = 1 }' "$WICK_WORK/err" >"$WICK_WORK/words"
check "... ten" test "$(wc -l <"$WICK_WORK/words")" = 10
check "... short and plain" sh -c "sed '\$d' '$WICK_WORK/words' | awk 'length > 204 { exit 1 }' &&
    ! grep -q \"\$(printf '\\033')\" '$WICK_WORK/words'"
check "... the last one whole" test "$(tail -1 "$WICK_WORK/words" | wc -c)" = 318
check "a last line is long" gives 1 run -n 2 sh -c 'printf "%01000d" 7; exit 1'
check "... and not shown for ever" test "$(tail -1 "$WICK_WORK/err" | wc -c)" = 605
check "... from their beginning" test "$(cut -c1-12 "$WICK_WORK/words" | tail -1)" = "    line 50 "

# ---- who does not want to end

began=$(date +%s)
check "a rank that takes no notice of TERM" gives 6 run -n 3 --grace 1 sh -c \
    'trap "" TERM; [ $WICK_RANK = 0 ] && exit 6; while :; do sleep 1; done'
check "... is given the time asked for" test $(($(date +%s) - began)) -lt 30
check "one that needs time has it" gives 6 run -n 2 sh -c \
    '[ $WICK_RANK = 0 ] && { sleep 0.5; exit 6; }; trap "sleep 1; echo saved; exit" TERM; sleep 300 & wait'
check "... to save" out "^\[1\] saved$"
check "a rank that is stopped" gives 6 run -n 2 sh -c '[ $WICK_RANK = 1 ] && kill -STOP $$; sleep 1; exit 6'
check "... hears TERM, too" gives 6 run -n 2 sh -c \
    '[ $WICK_RANK = 0 ] && { sleep 1; exit 6; }; trap "echo saved; exit" TERM; kill -STOP $$; sleep 300 & wait'
check "... and can save" out "^\[1\] saved$"
check "grandchildren" gives 6 run -n 2 --grace 1 sh -c 'sleep 300 & (setsid sleep 301 &) ; timeout 300 sleep 302 &
    (trap "" TERM; while :; do sleep 1; done) & sleep 0.5; exit 6'
check "a rank that is done leaves nothing behind" gives 0 run -n 2 --grace 1 sh -c \
    '(trap "" TERM; setsid sleep 300 >/dev/null 2>&1 &) ; sleep 303 & exit 0'

# background COMMAND: `run` behind the shell; its own process, the launcher's, is in $launcher.
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
check "... is told" err "^wick run: host .*: connection closed"
background -n 3 sh -c "$long"
check "ranks run" lines "$WICK_WORK/pids" 3
kill -TERM "$(cut -d' ' -f4 "/proc/$(head -1 "$WICK_WORK/pids")/stat")"
check "the agent is told to end" ended 75
check "... and tells" err "^wick run: host .*: its agent was terminated$"
for signal in INT=130 TERM=143 HUP=129 QUIT=131; do
    # A shell without job control starts what is behind it with INT and QUIT ignored.
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
    check "SIG${signal%=*} reaches all" test "$(grep -c 'got$' "$WICK_WORK/out") $(cat "$WICK_WORK/rc")" = \
        "3 ${signal#*=}"
    check "... and nobody is blamed" sh -c "! grep -q failed '$WICK_WORK/err'"
    check "... or left" nobody
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
check "USR2, too" ended 0
check "... to all" test "$(grep -c two "$WICK_WORK/out")" = 2
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
check "TSTP stops all" states T
kill -CONT $launcher
check "CONT continues all" states S
touch "$WICK_WORK/pids.go"
check "... to their end" ended 0
check "what is ignored stays ignored" gives 0 run -n 1 sh -c 'trap "" HUP; exec env MARK=$MARK \
    '"$wick"' run -n 2 sh -c "kill -HUP \$\$; kill -HUP \$(ps -o ppid= -p \$\$); sleep 0.3"'
sleep 300 &
older=$!
check "children from before are none of its business" gives 0 sh -c \
    "sleep 304 & echo \$! >'$WICK_WORK/older'; MARK= exec '$wick' run -n 2 true"
check "... and live on" kill "$(cat "$WICK_WORK/older")"
kill $older

# ---- what ranks say and hear

check "one line of each" gives 0 run -n 4 sh -c 'printf a; sleep 0.1; printf "b\nc"; echo d >&2'
check "... in one piece" test "$(sort "$WICK_WORK/out" | tr '\n' ' ')" = \
    "[0] ab [0] c [1] ab [1] c [2] ab [2] c [3] ab [3] c "
check "... on its own stream" test "$(sort "$WICK_WORK/err" | tr '\n' ' ')" = "[0] d [1] d [2] d [3] d "
cat >"$WICK_WORK/long.py" <<'END'
import os, sys
for k in range(4): sys.stdout.write(os.environ["WICK_RANK"] * 2**20 + "\n")
END
check "lines of 1 MB" gives 0 run -n 4 python3 "$WICK_WORK/long.py"
check "... are whole" python3 - "$WICK_WORK/out" <<'END'
import sys
lines = open(sys.argv[1]).read().split("\n")
assert lines.pop() == "" and len(lines) == 16
assert sorted(lines) == sorted("[%d] " % k + str(k) * 2**20 for k in range(4) for _ in range(4))
END
check "a line without end" gives 0 run -n 2 sh -c '[ $WICK_RANK = 0 ] || head -c 10000000 /dev/zero'
check "... gets some" python3 - "$WICK_WORK/out" <<'END'
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
check "... alone" test "$(cat "$WICK_WORK/out" | tr '\n' ' ')" = "[0] x [0] y "
check "input from a file" gives 0 run -n 1 cmp - "$WICK_WORK/random" <"$WICK_WORK/random"
check "no input" gives 0 run -n 2 cat <&-
check "a reader that goes ends the run" gives 0 sh -c \
    "timeout 60 env MARK=$mark '$wick' run -n 2 --grace 1 yes | head -3"
check "a full disk is a failure" gives 1 sh -c "timeout 60 env MARK=$mark '$wick' run -n 2 echo >/dev/full"
check "so is a closed output" gives 1 sh -c "timeout 60 env MARK=$mark '$wick' run -n 2 echo >&-"
check "... but for ranks that say nothing" gives 0 sh -c "timeout 60 env MARK=$mark '$wick' run -n 2 true >&-"
check "nobody hears the errors" gives 3 sh -c "timeout 60 env MARK=$mark '$wick' run -n 1 sh -c 'exit 3' <&- 2>&-"
check "a slow reader" gives 0 sh -c \
    "timeout 60 env MARK=$mark '$wick' run -n 2 head -c 2000000 '$WICK_WORK/random' | (sleep 2; wc -c)"
check "... gets all" sh -c "test \"\$(cat '$WICK_WORK/out')\" -gt 4000000"
check "no step is shown where there is no terminal" gives 0 run -n 2 sh -c \
    'echo step=5 rate=2 >/proc/self/fd/$WICK_STATUS_FD'
check "... at all" test ! -s "$WICK_WORK/out" -a ! -s "$WICK_WORK/err"
check "nor waited for" gives 0 run -n 1 python3 -c 'import os
for k in range(20000):
    try: os.write(int(os.environ["WICK_STATUS_FD"]), b"step=%d\n" % k)
    except BlockingIOError: pass'

# Their standard output is a terminal, so that what they print is not kept until they end, or lost.
cat >"$WICK_WORK/last.py" <<'END'
import os, sys, time
print("soon")
while not os.path.exists(sys.argv[1] + ".go"): time.sleep(0.05)
print("last of", os.environ.get("FAKE_HOST"))
os.kill(os.getpid(), 11)
END
# last OPTIONS...: lines are seen before the program ends.
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
check "lines are seen at once" last -n 2
check "... and none is lost with a killed rank" last_words None
export WICK_RSH="$WICK_WORK/agent"
check "... on another host" last --hosts alpha -n 2
check "... too" last_words alpha
unset WICK_RSH
terminal='[ -t 1 ] && [ ! -t 2 ] && [ ! -t 0 ] && echo terminal || echo none'
check "standard output is a terminal" gives 0 run -n 2 sh -c "$terminal" </dev/null
check "... that of all" test "$(sort "$WICK_WORK/out" | tr '\n' '#')" = "[0] terminal#[1] terminal#"
check "... which controls nothing" gives 0 run -n 2 sh -c '! (: </dev/tty) 2>/dev/null'
for hosts in localhost alpha; do
    check "--pipe on $hosts" gives 0 env WICK_RSH="$WICK_WORK/agent" "$wick" run --hosts $hosts -n 2 --pipe sh -c \
        "$terminal"
    check "... it is none" test "$(sort "$WICK_WORK/out" | tr '\n' '#')" = "[0] none#[1] none#"
done
cat >"$WICK_WORK/none.c" <<'END'
int posix_openpt(int flags);
int posix_openpt(int flags)
{
    return flags < 0 ? flags : -1;
}
END
cc -shared -fPIC "$WICK_WORK/none.c" -o "$WICK_WORK/none.so"
check "where the system has no terminals" gives 0 env ASAN_OPTIONS="$ASAN_OPTIONS:verify_asan_link_order=0" \
    LD_PRELOAD="$WICK_WORK/none.so" "$wick" run -n 2 sh -c "$terminal"
check "... it is a pipe" test "$(sort "$WICK_WORK/out" | tr '\n' '#')" = "[0] none#[1] none#"
check "what a killed rank has printed" gives 137 run -n 1 sh -c 'seq 200000; kill -9 $$'
check "... comes to the last line" sh -c "seq 200000 | cmp - '$WICK_WORK/out'"

# What ranks tell of the world explains how a run ends.
# world LINES CODE WHEN LINES CODE WHEN: ranks 0 and 1, which tell lines and end: once they are both there, later, when
# the other one has gone, or never.
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
check "a rank that ends well in the midst" gives 75 world 'world=joined\n' 75 later 'world=joined\n' 0 once
check "... is told" err \
    "^wick run: rank 1 on $(hostname) exited with status 0 after [0-9.]* s without calling wk_dist_finish$"
check "... behind the failure" test "$(grep -c . "$WICK_WORK/err") $(grep -n "failed after" "$WICK_WORK/err" |
    cut -d: -f1)" = "2 1"
check "one that never joined" gives 75 world 'world=joined\n' 75 later 'wick=open\n' 0 once
check "... is told" err \
    "^wick run: rank 1 on $(hostname) exited with status 0 after [0-9.]* s without calling wk_dist_init$"
check "one that is no Wick program" gives 75 world 'world=joined\n' 75 later '' 0 once
check "... is told, too" err "rank 1 .* without calling wk_dist_init$"
check "one that has left" gives 75 world 'world=joined\n' 75 later 'world=joined\nstep=3\nworld=left\n' 0 once
check "... is no cause" none "exited with status 0"
check "one that ends well because it is told to" gives 3 world 'world=joined\n' 3 once 'world=joined\n' 0 never
check "... is none" none "exited with status 0"
# An error of rank 1, which all are told, and which it is the last to end by.
check "an error that all are told is of who made it" gives 4 run -n 3 sh -c \
    'printf "world=joined\ncause=1\nworld=left\n" >/proc/self/fd/$WICK_STATUS_FD
    case $WICK_RANK in 0) exit 1;; 1) sleep 0.3; echo it was me; exit 4;; *) sleep 0.1; echo me too; exit 1;; esac'
check "... is told" err "^wick run: rank 1 on .*: exit status 4; last output:$"
check "... and the others have said what they had to" grep -q '^\[2\] me too$' "$WICK_WORK/out"
check "an error that was passed on twice is of who made it" gives 4 run -n 3 sh -c \
    'echo world=joined >/proc/self/fd/$WICK_STATUS_FD
    [ $WICK_RANK = 2 ] || echo cause=$((WICK_RANK + 1)) >/proc/self/fd/$WICK_STATUS_FD
    case $WICK_RANK in 0) exit 1;; 1) sleep 0.4; exit 1;; *) sleep 0.2; exit 4;; esac'
check "... is told" err "^wick run: rank 2 on .*: exit status 4"
check "nor of who ends by another error then" gives 3 run -n 2 sh -c \
    'printf "world=joined\ncause=1\n" >/proc/self/fd/$WICK_STATUS_FD; [ $WICK_RANK = 0 ] && exit 3; sleep 0.2; exit 75'
check "of who goes on it is not" gives 1 run -n 2 sh -c \
    'printf "world=joined\ncause=1\n" >/proc/self/fd/$WICK_STATUS_FD; [ $WICK_RANK = 1 ] && sleep 300; exit 1'
check "... is told, too" err "^wick run: rank 0 on .*: exit status 1"
check "programs that know no world" gives 75 world '' 75 later 'wick=open\n' 0 once
check "... miss none" none "exited with status 0"
# Three descriptors for each rank are more than what a process may have at first; poll() takes no more places than that.
few() { (ulimit -Sn 64 && gives "$@"); }
check "more ranks than descriptors" few 0 run -n 30 sh -c 'ulimit -Sn; sleep 0.5'
check "... which are as they were for ranks" test "$(grep -c ' 64$' "$WICK_WORK/out")" = 30
rm -f "$WICK_WORK"/rank.?
check "who began" gives 75 run -n 4 sh -c 'echo world=joined >/proc/self/fd/$WICK_STATUS_FD
    echo $$ >$WICK_WORK/rank.$WICK_RANK; [ $WICK_RANK != 3 ] || exit 0; next=$WICK_WORK/rank.$((WICK_RANK + 1))
    until [ -s "$next" ] && ! kill -0 $(cat "$next") 2>/dev/null; do sleep 0.05; done; [ $WICK_RANK != 0 ] || exit 75'
check "... is told" err \
    "rank 3 .* exited with status 0 after [0-9.]* s without calling wk_dist_finish, and so did 2 more$"
check "ranks that joined no world" gives 0 world 'wick=open\n' 0 once 'wick=open\nworld=left\n' 0 once
check "... are told" err "^wick run: no rank called wk_dist_init: each ran as a world of one$"
check "one that joined" gives 0 world 'wick=open\n' 0 once 'world=joined\nworld=left\nwick=open\n' 0 once
check "... is enough" test ! -s "$WICK_WORK/err"
check "one rank" gives 0 run -n 1 sh -c 'echo wick=open >/proc/self/fd/$WICK_STATUS_FD'
check "... needs no world" test ! -s "$WICK_WORK/err"
check "ranks that fail without a world" gives 3 world 'wick=open\n' 3 later 'wick=open\n' 0 once
check "... have another fault" none "no rank"

# On a terminal: a line for each rank, below what they say, that has gone in the end.
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
check "... below what they say" sh -c "tr '\n' ' ' <'$WICK_WORK/out' | grep -q 'x1b.2A.x1b.J\[[01]\] half'"
check "... gone in the end" sh -c "tail -1 '$WICK_WORK/out' | grep -q 'x1b.J$'"
check "a failure on a terminal" gives 3 env MARK=$mark python3 "$WICK_WORK/terminal.py" "$wick" run -n 2 sh -c \
    "$steps; [ \$WICK_RANK = 0 ] || exit 3; sleep 300"
check "... is told below" out "x1b.Jwick run: rank 1 .* exit status 3; last output:"
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
check "a host that is named twice" gives 0 far --raw --hosts alpha,beta,alpha -n 3 sh -c "$where"
check "... counts on" test "$(sort "$WICK_WORK/out" | cut -d' ' -f1-3 | tr '\n' ' ')" = \
    "0 alpha 0 1 beta 0 2 alpha 1 "
# The launcher has two descriptors for each host.
many=$(seq -s, -f h%g 16)
few_for_hosts() { (ulimit "$1" 32 && shift && gives "$@"); }
check "more hosts than descriptors" few_for_hosts -Sn 0 far --raw --hosts "$many" sh -c 'ulimit -Sn'
check "... which are as they were for ranks" test "$(grep -c '^32$' "$WICK_WORK/out")" = 16
check "... of which the system gives no more" few_for_hosts -n 1 far --hosts "$many" true
check "... is told" err "host h1[0-9]: Too many open files$"
rm -f "$WICK_WORK/log"
check "more hosts than ranks" gives 0 far --raw --hosts alpha,beta,gamma -n 2 sh -c "$where"
check "... leaves some alone" sh -c "! grep -q gamma '$WICK_WORK/log'"
check "localhost is here" gives 0 far --raw --hosts localhost,beta -n 2 sh -c "$where"
check "... and others know it by name" test "$(sort "$WICK_WORK/out" | cut -d' ' -f2-4 | tr '\n' ' ')" = \
    "0 $(hostname) listens beta 0 $(hostname) "
check "no secret in a command line" gives 0 far --hosts alpha,beta sh -c \
    'sleep 0.2; printf "%s\n" "$WICK_SECRET" >"$AGENT_LOG.$WICK_RANK"; test -s "$AGENT_LOG.$WICK_RANK" || exit 1
    ! cat /proc/[0-9]*/cmdline "$AGENT_LOG" | grep -aqf "$AGENT_LOG.$WICK_RANK"'
check "WICK_ variables reach other hosts" gives 0 env WICK_LOG=sync WICK_RSH="$WICK_WORK/agent" "$wick" run --raw \
    --hosts alpha sh -c 'echo "$WICK_LOG"'
check "... each" out "^sync$"
check "--env" gives 0 far --env NONE,OTHER --hosts alpha sh -c 'echo "<$OTHER>"'
check "... brings a variable" out "^<a b>$"
check "no --env" gives 0 far --hosts alpha sh -c 'echo "<$OTHER>"'
check "... brings none" out "^<>$"
odd="$WICK_WORK/it's a \$folder"
mkdir "$odd"
cp "$wick" "$odd/wick"
here()
{
    (cd "$odd" && LD_LIBRARY_PATH=$WICK_BUILD WICK_RSH="$WICK_WORK/agent" timeout 60 env MARK=$mark ./wick run "$@")
}
check "words and folders with odd characters" gives 0 here --hosts alpha,beta --raw sh -c \
    'words=$(printf "%s|" "$@"); printf "%s\n%s\n" "$PWD" "$words"' -- "it's" 'a "b" $c' ''
check "... reach the other side" test "$(sort -u "$WICK_WORK/out" | tr '\n' '#')" = \
    "$odd#it's|a \"b\" \$c||#"
check "a host that prints when one comes in" gives 0 far --hosts banner,beta sh -c "$where"
check "... is no less good" out "^\[0\] 0 banner"
check "a wrong host" gives 1 far --hosts alpha,bad sh -c 'echo started'
check "... is told" err "^wick run: host bad: $WICK_WORK/agent -x could not start an agent (see its output above)"
check "... as the agent says it" err "^agent: no host bad$"
check "... and nothing is started" test ! -s "$WICK_WORK/out"
check "a host without wick" gives 1 far --hosts old,alpha true
check "... is told" err "^wick run: host old: .*Wick must be installed there"
check "a host that talks nonsense" gives 1 far --hosts alpha,mad true
# An agent that says "exit 3" (19) of rank 1000, where there is one rank, and of one that another host has.
for rank in '\350\003' '\001\000'; do
    cat >"$WICK_WORK/liar" <<EOF
#!/bin/sh
printf 'wick run agent 2\n\023$rank\000\006\000\000\000exit 3\000'; sleep 5
EOF
    chmod +x "$WICK_WORK/liar"
    check "what a host says of a rank that it has not" gives 75 env WICK_RSH="$WICK_WORK/liar" \
        "$wick" run --hosts alpha -n 1 true
    check "... makes no sense" err "host alpha: protocol error"
done
check "a remote shell that is not there" gives 1 env WICK_RSH=/no/such/ssh "$wick" run --hosts alpha true
check "... is told" err "^wick run: /no/such/ssh: No such file or directory"
# in_new NAME COMMAND...: in a new folder
in_new() { (mkdir "$WICK_WORK/$1" && cd "$WICK_WORK/$1" && shift && "$@"); }
nowhere() { rmdir "$PWD" && far --hosts alpha true; }
check "a folder that is not there" gives 1 in_new gone nowhere
check "... is told" err "^wick run: cannot determine the current folder: No such file or directory$"
check "a folder that is not there far away" gives 127 in_new away far --hosts swept true
check "... is told" err "not started: .*/away: No such file or directory$"
check "exit 3 far away" gives 3 far --hosts alpha,beta,gamma -n 6 sh -c \
    '[ $WICK_RANK != 3 ] || { echo bye; exit 3; }; sleep 300'
check "... is told" err "^wick run: rank 3 on beta failed after [0-9.]* s: exit status 3; last output:$"
check "input to another host" gives 0 sh -c "WICK_RSH='$WICK_WORK/agent' timeout 60 env MARK=$mark '$wick' run \
    --hosts alpha,beta -n 3 --raw cat <'$WICK_WORK/random'"
check "... every byte" cmp "$WICK_WORK/out" "$WICK_WORK/random"
check "input that nobody takes" gives 0 sh -c "WICK_RSH='$WICK_WORK/agent' timeout 60 env MARK=$mark '$wick' run \
    --hosts alpha sleep 0.5 <'$WICK_WORK/random'"
far_background()
{
    export WICK_RSH="$WICK_WORK/agent"
    background "$@"
    unset WICK_RSH
}
far_background --hosts alpha,beta,localhost -n 6 --grace 1 sh -c "$long"
check "ranks run far away" lines "$WICK_WORK/pids" 6
kill -9 $launcher
check "the launcher is killed, and they end" ended 137
far_background --hosts alpha,beta -n 4 --grace 1 sh -c "$long"
check "ranks run far away" lines "$WICK_WORK/pids" 4
kill -9 "$(cut -d' ' -f4 "/proc/$(tail -1 "$WICK_WORK/pids")/stat")"
check "a connection is lost" ended 75
check "... is told" err "^wick run: host \(alpha\|beta\): connection closed"
check "... with the rank" err "^wick run: rank [0-3] on \(alpha\|beta\) failed after .* s: its host is unreachable"
check "a host that never answers" gives 1 far --timeout 2 --hosts alpha,deaf,numb,lost true
for host in deaf numb lost; do
    check "... is told: $host" err \
        "^wick run: host $host: no answer within 2 s; check that \`.*/agent -x $host true\`"
done
check "... nobody else" sh -c "! grep -q 'host alpha' '$WICK_WORK/err'"
check "... and nothing is started" test ! -s "$WICK_WORK/out"
far_background --hosts alpha,deaf -n 2 true
sleep 1
kill -TERM $launcher
check "a host that never answers can be given up" ended 143
far_background --hosts alpha,deaf -n 2 true
sleep 1
kill -9 $launcher
check "... or killed" ended 137

# The searches of this file find something.
MARK=$mark setsid sleep 305 &
found() { for _ in $(seq 100); do [ -n "$(left)" ] && return 0; sleep 0.1; done; return 1; }
check "who is left is found" found
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
check "a host that falls silent is lost" silence_ends
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
check "ranks whose launcher falls silent end" gone "$WICK_WORK/launcher.pids"
kill -CONT $silent_launcher
wait $silent_launcher
check "... and it is told" test "$? $(grep -c '^wick run: host alpha: lost contact with the launcher$' \
    "$WICK_WORK/launcher.err")" = "75 1"
wait $silent_deaf
check "a host that does not answer is waited for, and not for ever" test "$? $(grep -c \
    '^wick run: host deaf: no answer within 30 s' "$WICK_WORK/deaf.err")" = "1 1"
wait $silent_late
check "one that answers late is waited for as long as --timeout says" test "$? $(cat "$WICK_WORK/late.err")" = "0 "
check "nobody of them is left" nobody
check "no sanitizer has anything to say" sh -c "! cat '$WICK_WORK'/sanitizer* 2>/dev/null | grep ."
