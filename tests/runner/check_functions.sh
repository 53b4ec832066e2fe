# SPDX-License-Identifier: Apache-2.0
# Functions of the scripts tests/*/*.sh, which begin with `. "$WICK_SOURCE/tests/runner/check_functions.sh"`. A script
# runs in the source folder, may write to $WICK_WORK, and prints lines "ok WHAT", "not ok WHAT" and "skip WHAT", which
# runner/run_one counts.
set -u
cd "$WICK_SOURCE" || exit 1
rm -rf "$WICK_WORK"
mkdir -p "$WICK_WORK"

# check WHAT COMMAND...: passes if the command succeeds; else prints its output.
check()
{
    what=$1
    shift
    if "$@" >"$WICK_WORK/output" 2>&1; then
        echo "ok $what"
    else
        cat "$WICK_WORK/output"
        echo "not ok $what"
    fi
}

# fails WHAT TEXT COMMAND...: passes if the command fails and prints the text.
fails()
{
    what=$1 text=$2
    shift 2
    if ! "$@" >"$WICK_WORK/output" 2>&1 && grep -q -e "$text" "$WICK_WORK/output"; then
        echo "ok $what"
    else
        cat "$WICK_WORK/output"
        echo "not ok $what"
    fi
}

# compilers NAME...: prints the paths of those that are installed.
compilers()
{
    for compiler; do command -v "$compiler" || true; done
}
