#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# No line of the sources, including comments, is wider than 120 columns, and the sources are formatted by clang-format,
# which does not change comments.
. "$WICK_SOURCE/tests/runner/check_functions.sh"

# The programs of tests/acceptance are not changed; inputs of tests and the table of modes are data.
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
fails "a wider line is found" "wide.c:1:" narrow "$WICK_WORK/wide.c"

# Releases of clang-format format differently; this one is Debian 12's.
case $(clang-format --version 2>&1) in
*" 14."*) ;;
*)
    echo "skip clang-format 14 is not installed"
    exit 0
    ;;
esac

# Many files per process: starting one costs more than checking a file.
formatted() # LIST OF FILES
{
    xargs -n 100 -P 2 clang-format --style="file:$WICK_SOURCE/.clang-format" --dry-run --Werror <"$1"
}

scripts/list_formatted_files >"$WICK_WORK/files"
check "$(wc -l <"$WICK_WORK/files") files are formatted by clang-format" formatted "$WICK_WORK/files"

printf 'int  x ;\n' >"$WICK_WORK/bad.c"
echo "$WICK_WORK/bad.c" >"$WICK_WORK/list"
fails "an unformatted file is found" "clang-format-violations" formatted "$WICK_WORK/list"
