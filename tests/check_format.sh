#!/bin/sh
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

formatted() # LIST OF FILES
{
    status=0
    while read -r file; do
        clang-format "$file" | cmp -s - "$file" || { echo "make format would change $file" && status=1; }
    done <"$1"
    return $status
}

scripts/formatted >"$WICK_WORK/files"
check "$(wc -l <"$WICK_WORK/files") files as clang-format writes them" formatted "$WICK_WORK/files"

printf 'int  x ;\n' >"$WICK_WORK/bad.c"
echo "$WICK_WORK/bad.c" >"$WICK_WORK/list"
fails "a file that is not is found" "would change" formatted "$WICK_WORK/list"
