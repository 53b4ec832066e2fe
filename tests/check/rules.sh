#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# docs/contributing/invariants.md and docs/lesson.md name the tests of each rule and each step: all named tests exist,
# and no rule or step is missing.
. "$WICK_SOURCE/tests/runner/check_functions.sh"

# Names program.test or script.sh in `backquotes`.
named() # FILE
{
    grep -oE '`[a-z0-9_]+[.][a-z0-9_]+`' "$1" | tr -d '`' | grep -vE '^program[.]|[.](md|c|a)$' | sort -u
}

# The file of a test program or check: cpu_move is tests/backend/cpu/move.c.
file_of() # PROGRAM
{
    find tests -name '*.c' -o -name '*.sh' | awk -v program="$1" -F/ '
        { stem = $NF; sub(/[.][a-z]*$/, "", stem); if ($(NF - 1) "_" stem == program) print }'
}

exist() # FILE
{
    bad=0
    for name in $(named "$1"); do
        program=${name%.*} test=${name#*.}
        file=$(file_of "$program")
        if [ -z "$file" ]; then
            echo "no test program $program"
            bad=1
        elif [ "$test" != "${file##*.}" ]; then
            grep -qE "cmocka_unit_test[a-z_]*\($test[,)]" "$file" || { echo "no $name"; bad=1; }
        fi
    done
    [ "$(named "$1" | wc -l)" -gt 20 ] && [ $bad = 0 ]
}

# Rows "| 1 |" to "| 33 |" in order.
complete() # FILE LAST
{
    grep -oE '^[|] [0-9]+ [|]' "$1" | tr -d '| ' >"$WICK_WORK/rows"
    seq "$2" | diff - "$WICK_WORK/rows"
}

check "the tests that docs/contributing/invariants.md names exist" exist docs/contributing/invariants.md
check "docs/contributing/invariants.md has all 33 rules" complete docs/contributing/invariants.md 33
check "the tests that docs/lesson.md names exist" exist docs/lesson.md
check "docs/lesson.md has all 23 steps" complete docs/lesson.md 23
sed 's/`engine_fork.workers_of_a_server_compute`/`engine_fork.after`/' docs/contributing/invariants.md \
    >"$WICK_WORK/bad.md"
fails "a missing test is found" "no engine_fork.after" exist "$WICK_WORK/bad.md"

# Tests that run on each device must not omit any, as those for aarch64 do.
all_devices() { grep '^default ' "$1" && ! grep '^default .*WICK_TEST_DEVICES' "$1"; }
check "mode default leaves no device out" all_devices "$WICK_BUILD/results/settings"
echo "default WICK_TEST_DEVICES=cpu" >"$WICK_WORK/settings"
fails "a mode without a device is found" "DEVICES=cpu" all_devices "$WICK_WORK/settings"

# A known fault that no longer applies would measure nothing. The first hunk of each patch must match the current
# source.
applies()
{
    bad=0
    for fault in "$WICK_SOURCE"/tests/random/generator/known_bugs/*.patch; do
        file=$WICK_SOURCE/$(sed -n 's/^+++ b[/]//p' "$fault")
        sed -n 's/^-\([^-]\)/\1/p' "$fault" | head -1 >"$WICK_WORK/line"
        grep -qxF -f "$WICK_WORK/line" "$file" || { echo "$(basename "$fault") does not apply"; bad=1; }
    done
    [ $bad = 0 ]
}
check "the patches of tests/random/generator/known_bugs apply" applies
