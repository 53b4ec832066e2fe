#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Phrases in scripts/words.tsv do not become more frequent, and the check of that can fail.
. "$WICK_SOURCE/tests/runner/check_functions.sh"

check "no listed phrase is more frequent than before" scripts/check_words

tree=$WICK_WORK/tree
mkdir -p "$tree/src" "$tree/docs" "$tree/scripts"
printf 'nobody\t1\n^what\t1\n' >"$tree/scripts/words.tsv"
printf '/* What nobody reads. */\nint nobody;\nchar *s = "x. %%d";\n' >"$tree/src/one.c"
check "identifiers do not count" scripts/check_words "$tree"
printf 'Unused; read by Nobody.\n' >"$tree/docs/one.md"
fails "a document with another one is found" "^not ok nobody: 2 of at most 1" scripts/check_words "$tree"
fails "--update raises no count" "^not ok nobody: 2 of at most 1" scripts/check_words --update "$tree"
printf 'Unused.\n' >"$tree/docs/one.md"
printf 'char *s = "failed. What now";\n' >>"$tree/src/one.c"
fails "a string with a sentence that begins so is found" "^not ok ^what: 2 of at most 1" scripts/check_words "$tree"
echo 'int none;' >"$tree/src/one.c"
check "--update lowers the counts" scripts/check_words --update "$tree"
check "... in the table" grep -qx "nobody	0" "$tree/scripts/words.tsv"
