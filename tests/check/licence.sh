#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every source file names its licence, and LICENSE is its text.
. "$WICK_SOURCE/tests/runner/check_functions.sh"

check "every source file names its licence" scripts/spdx --check
check "LICENSE is the Apache License 2.0" grep -q "Version 2.0, January 2004" LICENSE

# The check can fail, and the script adds the line.
mkdir -p "$WICK_WORK/tree/src" "$WICK_WORK/tree/scripts"
echo 'int one;' >"$WICK_WORK/tree/src/one.c"
printf '#!/bin/sh\necho one\n' >"$WICK_WORK/tree/scripts/one"
fails "a file without a licence is found" "src/one.c has no line" scripts/spdx --check "$WICK_WORK/tree"
check "the script adds the licence" scripts/spdx "$WICK_WORK/tree"
check "... and the check passes then" scripts/spdx --check "$WICK_WORK/tree"
check "... after the line that names an interpreter" sh -c "sed -n 2p '$WICK_WORK/tree/scripts/one' | grep -q '^# SPDX'"
