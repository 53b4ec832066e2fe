#!/bin/sh
# The public headers compile alone, twice and together, as strict C11 and as C++20; the forms of call in tests/forms too.
. "$WICK_SOURCE/tests/runner/checks"

warnings="-Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only"
headers=$(cd include && find wick wick.h -name '*.h' 2>/dev/null | sort)

for header in $headers; do
    printf '#include <%s>\n#include <%s>\nint wick_unit;\n' "$header" "$header" >"$WICK_WORK/alone.c"
    cp "$WICK_WORK/alone.c" "$WICK_WORK/alone.cpp"
    for c in $(compilers gcc clang); do
        check "$header alone, C11, ${c##*/}" "$c" -std=c11 $warnings "$WICK_WORK/alone.c"
    done
    for cxx in $(compilers g++ clang++); do
        check "$header alone, C++20, ${cxx##*/}" "$cxx" -std=c++20 $warnings "$WICK_WORK/alone.cpp"
    done
done

for header in $headers; do echo "#include <$header>"; done >"$WICK_WORK/together.c"
for header in $headers; do echo "$header"; done | sort -r | sed 's/.*/#include <&>/' >"$WICK_WORK/backwards.c"
for c in $(compilers gcc clang); do
    for form in "$WICK_WORK/together.c" "$WICK_WORK/backwards.c" tests/forms/*.c; do
        [ -e "$form" ] && check "${form##*/}, C11, ${c##*/}" "$c" -std=c11 $warnings "$form"
    done
done
for cxx in $(compilers g++ clang++); do
    for form in tests/forms/*.cpp; do
        [ -e "$form" ] && check "${form##*/}, C++20, ${cxx##*/}" "$cxx" -std=c++20 $warnings "$form"
    done
done

echo 'int f(int unused) { int x; }' >"$WICK_WORK/bad.c"
fails "a warning is found" "unused" cc -std=c11 $warnings "$WICK_WORK/bad.c"
