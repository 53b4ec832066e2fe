#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The sources are as clang-format writes them.
. "$WICK_SOURCE/tests/runner/checks"

# Releases of clang-format differ in what they write; this one is Debian 12's.
case $(clang-format --version 2>&1) in
*" 14."*) ;;
*)
    echo "skip clang-format 14 is not there"
    exit 0
    ;;
esac

# Many files to a process: to start one costs more than to look at a file.
formatted() # LIST OF FILES
{
    xargs -n 100 -P 2 clang-format --style="file:$WICK_SOURCE/.clang-format" --dry-run --Werror <"$1"
}

scripts/formatted >"$WICK_WORK/files"
check "$(wc -l <"$WICK_WORK/files") files as clang-format writes them" formatted "$WICK_WORK/files"

printf 'int  x ;\n' >"$WICK_WORK/bad.c"
echo "$WICK_WORK/bad.c" >"$WICK_WORK/list"
fails "a file that is not is found" "clang-format-violations" formatted "$WICK_WORK/list"
