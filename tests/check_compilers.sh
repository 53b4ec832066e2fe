#!/bin/sh
# Every file of the release build compiles without a warning in gcc and in clang, whichever of them built it.
. "$WICK_SOURCE/tests/runner/checks"

commands=$WICK_BUILD/compile_commands.json

# The compile commands as shell lines for another compiler that only looks.
commands_for() # COMPILER
{
    sed -n 's/^ *"command": "\(.*\)",\{0,1\}$/\1/p' "$commands" | sed 's/\\"/"/g; s/\\\\/\\/g' |
        sed "s,^[^ ]*,$1," | sed 's/ -o [^ ]* -c / -Werror -fsyntax-only /; s/-fsanitize=[^ ]*//; s/-fno-sanitize-[^ ]*//'
}

for compiler in $(compilers gcc clang); do
    commands_for "$compiler" >"$WICK_WORK/commands"
    # shellcheck disable=SC2016
    check "${compiler##*/}: $(wc -l <"$WICK_WORK/commands") files without a warning" \
        sh -c 'cd "$1" && xargs -d "\n" -P 2 -n 1 sh -c <"$2"' sh "$WICK_BUILD" "$WICK_WORK/commands"
done

echo 'int f(long x) { return x; }' >"$WICK_WORK/bad.c"
fails "a conversion is found" "conversion" cc -std=c11 -Wconversion -Werror -c -o "$WICK_WORK/bad.o" "$WICK_WORK/bad.c"
