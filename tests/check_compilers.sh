#!/bin/sh
# Every file compiles without a warning in gcc and in clang. The builds of `make check` see to the compiler that made them; here
# the other one looks at every file of the debug build, as CMake would have it compile them.
. "$WICK_SOURCE/tests/runner/checks"

case $(cc --version) in
*clang*) other=gcc ;;
*) other=clang ;;
esac
if [ -z "$(compilers $other)" ]; then
    echo "skip $other is not there"
    exit 0
fi

# One command a line, only to look, without sanitizers.
commands()
{
    cmake -S . -B "$WICK_WORK/$other" -DCMAKE_C_COMPILER=$other -DWICK_WERROR=ON -DWICK_PRESET=none >"$WICK_WORK/configured" &&
        sed -n 's/^ *"command": "\(.*\)",\{0,1\}$/\1/p' "$WICK_WORK/$other/compile_commands.json" |
        sed 's/\\"/"/g; s/\\\\/\\/g; s/ -o [^ ]* -c / -fsyntax-only /'
}

clean() # LIST OF COMMANDS
{
    [ -s "$1" ] && xargs -d '\n' -P 2 -n 16 sh -c 'cd "$0" && for command; do eval "$command" || bad=1; done; exit ${bad:-0}' \
        "$WICK_WORK/$other" <"$1"
}

commands >"$WICK_WORK/commands"
check "$(wc -l <"$WICK_WORK/commands") files without a warning in $other" clean "$WICK_WORK/commands"

echo 'int f(long x) { return x; }' >"$WICK_WORK/bad.c"
echo "$other -std=c11 -Wconversion -Werror -fsyntax-only $WICK_WORK/bad.c" >"$WICK_WORK/command"
fails "a warning is found" "conversion" clean "$WICK_WORK/command"
