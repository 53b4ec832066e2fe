#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every file compiles without a warning in gcc and in clang. In the builds of `make check-all` warnings are errors: the
# debug build compiles every file, the release build the library, the command and the tests that run there. This script
# runs the other compiler's parser on every file of the debug build, with CMake's options, and on a third of the tests'
# files (WICK_TEST_TURN).
. "$WICK_SOURCE/tests/runner/check_functions.sh"

case $(cc --version) in
*clang*) other=gcc ;;
*) other=clang ;;
esac
if [ -z "$(compilers $other)" ]; then
    echo "skip $other is not installed"
    exit 0
fi

# The commands of a build with that compiler, one per line, changed to only parse.
commands() # COMPILER
{
    cmake -S . -B "$WICK_WORK/$1" -DCMAKE_C_COMPILER="$1" -DCMAKE_BUILD_TYPE= -DWICK_WERROR=ON -DWICK_PRESET=none \
        >"$WICK_WORK/configured" &&
        sed -n 's/^ *"command": "\(.*\)",\{0,1\}$/\1/p' "$WICK_WORK/$1/compile_commands.json" |
        sed "s/\\\\\"/\"/g; s/\\\\\\\\/\\\\/g; s| -o [^ ]* -c | -fsyntax-only |"
}

clean() # LIST OF COMMANDS
{
    [ -s "$1" ] && xargs -d '\n' -P 2 -n 16 sh -c 'for command; do eval "$command" || bad=1; done; exit ${bad:-0}' sh \
        <"$1"
}

selected()
{
    awk -v turn="${WICK_TEST_TURN:-all}" -v tests="-fsyntax-only $WICK_SOURCE/tests/" '
        !index($0, tests) || turn == "all" || (NR + turn) % 3 == 0'
}

commands $other | selected >"$WICK_WORK/commands"
check "$(wc -l <"$WICK_WORK/commands") files without a warning in $other" clean "$WICK_WORK/commands"

# Some warnings need the optimiser, which the sanitizers restrict.
errors() # BUILD
{
    grep '^WICK_WERROR:BOOL=ON' "$WICK_SOURCE/build/$1/CMakeCache.txt"
}
check "warnings of the optimised build are errors" errors release
check "warnings of the build with sanitizers are errors" errors debug

echo 'int f(long x) { return x; }' >"$WICK_WORK/bad.c"
echo "$other -std=c11 -Wconversion -Werror -fsyntax-only $WICK_WORK/bad.c" >"$WICK_WORK/command"
fails "a warning is found" "conversion" clean "$WICK_WORK/command"
