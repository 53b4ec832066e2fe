#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every file compiles without a warning in gcc and in clang. The builds of `make check` see to the compiler that made
# them, as their warnings are errors: the debug build to every file, the optimised one to the library, the command and
# the tests that run there. Here the other compiler looks at every file of the debug build, as CMake would compile it;
# of the tests' files at a third on a day.
. "$WICK_SOURCE/tests/runner/check_functions.sh"

case $(cc --version) in
*clang*) other=gcc ;;
*) other=clang ;;
esac
if [ -z "$(compilers $other)" ]; then
    echo "skip $other is not there"
    exit 0
fi

# The commands of a build with that compiler, one a line, which look and write nothing.
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

# Those whose turn it is (support_daily_subset.h).
todays()
{
    awk -v day="${WICK_TEST_DAY:-all}" -v tests="-fsyntax-only $WICK_SOURCE/tests/" '
        !index($0, tests) || day == "all" || (NR + day) % 3 == 0'
}

commands $other | todays >"$WICK_WORK/commands"
check "$(wc -l <"$WICK_WORK/commands") files without a warning in $other" clean "$WICK_WORK/commands"

# Some warnings come from what the optimiser knows, and the sanitizers keep it from knowing.
errors() # BUILD
{
    grep '^WICK_WERROR:BOOL=ON' "$WICK_SOURCE/build/$1/CMakeCache.txt"
}
check "warnings of the optimised build are errors" errors release
check "warnings of the build with sanitizers are errors" errors debug

echo 'int f(long x) { return x; }' >"$WICK_WORK/bad.c"
echo "$other -std=c11 -Wconversion -Werror -fsyntax-only $WICK_WORK/bad.c" >"$WICK_WORK/command"
fails "a warning is found" "conversion" clean "$WICK_WORK/command"
