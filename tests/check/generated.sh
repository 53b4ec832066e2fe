#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The committed files equal the output of scripts/generate_ops.py: none is edited by hand, missing or left over. Needs
# Python 3.11 for the rows, and clang-format 14, because releases format differently.
. "$WICK_SOURCE/tests/runner/check_functions.sh"

if ! python3 -c 'import tomllib' 2>/dev/null; then
    echo "skip Python 3.11 is not installed"
    exit 0
fi
case $(clang-format --version 2>&1) in
*" 14."*) ;;
*)
    echo "skip clang-format 14 is not installed"
    exit 0
    ;;
esac

is_current() # FOLDER
{
    bad=0
    for file in $(cd "$1" && find . -type f); do diff -u "$file" "$1/$file" || bad=1; done
    for file in $(grep -rl '^/\* Written by scripts/generate_ops.py' include src tests); do
        [ -e "$1/$file" ] || { echo "$file: no row writes it"; bad=1; }
    done
    [ $bad = 0 ]
}

check "the rows are parsed" python3 scripts/generate_ops.py "$WICK_WORK/new"
check "generated files are current" is_current "$WICK_WORK/new"

cp -r "$WICK_WORK/new" "$WICK_WORK/other"
find "$WICK_WORK/other" -name pointwise.h -exec sed -i 's/a + b/a plus b/' {} +
fails "a changed row is found" "a plus b" is_current "$WICK_WORK/other"
rm "$WICK_WORK/new/include/wick/pointwise.h"
fails "a file without a row is found" "pointwise.h: no row" is_current "$WICK_WORK/new"

understood() # ROW
{
    printf 'title = "t"\n[[op]]\nname = "a"\ndoc = "d"\ncategory = "g"\n%s\n' "$1" >"$WICK_WORK/rows.toml"
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=scripts python3 -c 'import sys, pathlib; from opgen.spec import read_section
read_section(pathlib.Path(sys.argv[1]))' "$WICK_WORK/rows.toml"
}
row='arguments = [{ name = "self", c = "x", type = "Tensor" }]'
check "a row is parsed" understood "$row"
check "a row with a separate arity is parsed" understood "$row
elementwise = false
arity = 1"
fails "an arity without effect is refused" "a: arity follows" understood "$row
arity = 2"
no_list() # NAME
{
    echo "add" | python3 tests/goldens/make_ops.py "$1"
}
fails "goldens are made of a list of rows" "sweep_pytorch --list" no_list add
