#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# No line of the sources is wider than 120 columns, comments neither; and the sources are as clang-format writes them,
# which leaves comments alone.
. "$WICK_SOURCE/tests/runner/check_functions.sh"

# The programs of tests/acceptance stay as they were given; what tests are fed with, and the table of modes, is data.
narrow() # FILE OR FOLDER...
{
    find "$@" -type f ! -path '*/acceptance/*' \( -name '*.[ch]' -o -name '*.def' -o -name '*.inc' -o -name '*.sh' -o \
        -name '*.py' -o -name '*.awk' -o -name '*.cmake' -o -name CMakeLists.txt -o -name Makefile -o \
        -path 'scripts/*' -o -path '*/runner/run_one' -o -path '*/runner/run_all' -o -name measure_detection \) \
        >"$WICK_WORK/sources"
    ! LC_ALL=C.UTF-8 xargs grep -nE '^.{121,}' <"$WICK_WORK/sources" /dev/null
}
check "no line is wider than 120 columns" \
    narrow Makefile CMakeLists.txt bench cli cmake examples include scripts src tests
printf '/* %0117d */\n' 1 >"$WICK_WORK/wide.c"
fails "one that is wider is found" "wide.c:1:" narrow "$WICK_WORK/wide.c"

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

scripts/list_formatted_files >"$WICK_WORK/files"
check "$(wc -l <"$WICK_WORK/files") files as clang-format writes them" formatted "$WICK_WORK/files"

printf 'int  x ;\n' >"$WICK_WORK/bad.c"
echo "$WICK_WORK/bad.c" >"$WICK_WORK/list"
fails "a file that is not is found" "clang-format-violations" formatted "$WICK_WORK/list"
