# SPDX-License-Identifier: Apache-2.0
# Functions of scripts that start programs of several processes; included after runner/check_functions.sh. Every process
# that such a script starts has MARK=$mark in its environment, which identifies it.
mark=wick_check_$$

# Prints the processes with the mark.
left()
{
    for process in $(grep -lzsx "MARK=$mark" /proc/[0-9]*/environ); do
        process=${process%/environ}
        case $(sed 's/.*) //' "$process/stat" 2>/dev/null) in Z* | "") continue ;; esac
        echo "left: ${process#/proc/} $(tr '\0' ' ' <"$process/cmdline")"
    done
}

# Passes if all processes with the mark end within 15 seconds; else kills them.
nobody()
{
    for _ in $(seq 75); do
        [ -z "$(left)" ] && return 0
        sleep 0.2
    done
    left
    for process in $(left | sed 's/left: \([0-9]*\).*/\1/'); do kill -9 "$process"; done
    return 1
}

# gives CODE COMMAND...: passes if the command ends with this exit code and leaves no process. Its output is in the
# files out and err of $WICK_WORK.
gives()
{
    code=$1
    shift
    "$@" >"$WICK_WORK/out" 2>"$WICK_WORK/err"
    found=$?
    nobody || return 1
    [ "$found" = "$code" ] || { echo "exit code $found, not $code"; cat "$WICK_WORK/out" "$WICK_WORK/err"; return 1; }
}
out() { grep -q -e "$1" "$WICK_WORK/out" || { cat "$WICK_WORK/out"; return 1; }; }
err() { grep -q -e "$1" "$WICK_WORK/err" || { cat "$WICK_WORK/err"; return 1; }; }

# Waits until the file has COUNT lines, for 20 seconds.
lines() # FILE COUNT
{
    for _ in $(seq 200); do
        [ "$(cat "$1" 2>/dev/null | wc -l)" -ge "$2" ] && return 0
        sleep 0.1
    done
    echo "$1 has fewer than $2 lines"
    return 1
}
