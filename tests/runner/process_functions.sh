# SPDX-License-Identifier: Apache-2.0
# For checks that start programs of several processes: . "$WICK_SOURCE/tests/runner/process_functions.sh" after
# runner/check_functions.sh. All that such a check starts has MARK=$mark in its environment, by which it is looked for
# afterwards.
mark=wick_check_$$

# The processes with the mark.
left()
{
    for process in $(grep -lzsx "MARK=$mark" /proc/[0-9]*/environ); do
        process=${process%/environ}
        case $(sed 's/.*) //' "$process/stat" 2>/dev/null) in Z* | "") continue ;; esac
        echo "left: ${process#/proc/} $(tr '\0' ' ' <"$process/cmdline")"
    done
}

# Has everything gone within 15 seconds?
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

# gives CODE COMMAND...: this exit code, and nobody is left; what it says is in out and err.
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

# Waits until the file has so many lines.
lines() # FILE COUNT
{
    for _ in $(seq 200); do
        [ "$(cat "$1" 2>/dev/null | wc -l)" -ge "$2" ] && return 0
        sleep 0.1
    done
    echo "$1 has not $2 lines"
    return 1
}
