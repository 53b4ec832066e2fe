#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every code block of the user pages compiles without a warning and runs. A block marked `c` is a program if it has a
# main; otherwise it becomes the body of one, in a WK_SCOPE. A block marked `text` right after it is the exact output.
# Comments of the page before a block, each on a separate line, are options:
#   <!-- setup: CODE -->    statements before the body, for names from earlier blocks of the page
#   <!-- status: N -->      the expected exit status; default 0
#   <!-- compile only -->   the program is not run: it needs other machines, other ranks or hours
. "$WICK_SOURCE/tests/runner/check_functions.sh"

pages="README.md $(find docs -name '*.md' ! -path 'docs/contributing/*' ! -path 'docs/benchmarks/*' | sort)"

# Writes NAME-N.c for each block of a page, and NAME-N.out, .status and .norun if the page has them.
extract() # PAGE NAME
{
    awk -v out="$WICK_WORK/$2" '
        function finish() { n++; file = out "-" n ".c"; program = body ~ /(^|\n)int main\(/
            if (!program) printf "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n" \
                "#include <wick.h>\n\nint main(void)\n{\n    WK_SCOPE;\n%s%s    return wk_report_error(stderr);\n}\n",
                setup, body >file
            else printf "%s", body >file
            close(file)
            if (status != "") { print status >(out "-" n ".status"); close(out "-" n ".status") }
            if (norun) { print "" >(out "-" n ".norun"); close(out "-" n ".norun") }
            print FILENAME ":" begun >(out "-" n ".where"); close(out "-" n ".where")
            body = setup = status = ""; norun = 0 }
        /^<!-- setup: .* -->$/ { s = $0; sub(/^<!-- setup: /, "", s); sub(/ -->$/, "", s); setup = setup s "\n"; next }
        /^<!-- status: [0-9]+ -->$/ { status = $3; next }
        /^<!-- compile only -->$/ { norun = 1; next }
        /^```c$/ { inside = 1; begun = FNR; next }
        inside == 1 && /^```$/ { inside = 0; finish(); after = 1; next }
        inside == 1 { body = body $0 "\n"; next }
        after && /^$/ { next }
        after && /^```text$/ { inside = 2; after = 0; result = out "-" n ".out"; printf "" >result; next }
        inside == 2 && /^```$/ { inside = 0; close(result); next }
        inside == 2 { print >result; next }
        { after = 0 }' "$1"
}

# A build with sanitizers needs them in its programs, too.
sanitize=$(sed -n 's/^WICK_SANITIZE:[A-Z]*=\(..*\)/-fsanitize=\1/p' "$WICK_BUILD/CMakeCache.txt")

build() # BLOCK
{
    # shellcheck disable=SC2086
    cc -std=c11 -O0 -Wall -Wextra -Wpedantic -Werror $sanitize -Iinclude "$1.c" -o "$1" -L"$WICK_BUILD" -lwick -lm
}

run() # BLOCK
{
    mkdir "$1.folder" && ln -s "$WICK_SOURCE/data" "$1.folder/data"
    (cd "$1.folder" && LD_LIBRARY_PATH="$WICK_BUILD" timeout 300 "$1" >"$1.stdout" 2>"$1.stderr")
    status=$?
    if [ $status != "$(cat "$1.status" 2>/dev/null || echo 0)" ]; then
        cat "$1.stderr"
        echo "exit status $status"
        return 1
    fi
    [ ! -e "$1.out" ] || diff "$1.out" "$1.stdout"
}

block() # BLOCK
{
    build "$1" && { [ -e "$1.norun" ] || run "$1"; }
}

for page in $pages; do
    name=$(echo "${page%.md}" | tr / -)
    extract "$page" "$name"
    for source in $(ls "$WICK_WORK/$name"-[0-9]*.c 2>/dev/null | sort -V); do
        check "$(cat "${source%.c}.where")" block "${source%.c}"
    done
done

# Every link between pages leads to a file.
links() # FILE...
{
    bad=0
    for page; do
        for link in $(grep -oE '\]\([^)#: ]+(#[^) ]*)?\)' "$page" | sed 's/^](//; s/[#)].*//'); do
            [ -e "$(dirname "$page")/$link" ] || { echo "$page: $link does not exist"; bad=1; }
        done
    done
    return $bad
}
# shellcheck disable=SC2046
check "links between pages lead to files" links README.md CONTRIBUTING.md $(find docs -name '*.md')

# The check can fail.
printf '```c\nprintf("%%d", 1);\n```\n\n```text\n2\n```\n' >"$WICK_WORK/bad.md"
extract "$WICK_WORK/bad.md" bad
fails "a different output is found" "^[<>]" block "$WICK_WORK/bad-1"
printf '```c\nint unused;\n```\n' >"$WICK_WORK/bad.md"
extract "$WICK_WORK/bad.md" warning
fails "a warning is found" "unused" block "$WICK_WORK/warning-1"
printf '[a](nowhere.md)' >"$WICK_WORK/bad.md"
fails "a link that leads nowhere is found" "nowhere.md does not exist" links "$WICK_WORK/bad.md"
