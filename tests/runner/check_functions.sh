# SPDX-License-Identifier: Apache-2.0
# For the checks, tests/*.sh, which begin with `. "$WICK_SOURCE/tests/runner/check_functions.sh"`. They run in the
# source folder, may write to $WICK_WORK, and report lines "ok WHAT", "not ok WHAT", "skip WHAT" that runner/run_one
# counts.
set -u
cd "$WICK_SOURCE" || exit 1
rm -rf "$WICK_WORK"
mkdir -p "$WICK_WORK"

# check WHAT COMMAND...: does the command end well? If not, its output is shown.
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

# fails WHAT TEXT COMMAND...: does the command end badly, saying the text?
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

# C and C++ compilers of this machine
compilers()
{
    for compiler; do command -v "$compiler" || true; done
}
