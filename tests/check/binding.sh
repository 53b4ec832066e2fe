#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A binding needs the table of ops, lifetimes, data transfer and errors, and no other symbol: tests/binding/wick.py is a
# ctypes binding for Python that contains no op names. Its results for the samples of every op equal PyTorch's.
. "$WICK_SOURCE/tests/runner/check_functions.sh"

if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null; then
    echo "skip Python 3.8 is not installed"
    exit 0
fi
WICK_LIBRARY=$WICK_SOURCE/build/release/libwick.so PYTHONDONTWRITEBYTECODE=1
export WICK_LIBRARY PYTHONDONTWRITEBYTECODE

only_these_symbols() # FILE
{
    grep -o '_lib\.wk_[a-z_]*' "$1" | sort -u >"$WICK_WORK/used"
    for name in call clear_error error free_at from_dlpack_at op_count op_info_at op_parameter_at to_dlpack_at; do
        echo "_lib.wk_$name"
    done | diff - "$WICK_WORK/used"
}

is_short() # FILE
{
    [ "$(wc -l <"$1")" -lt 400 ]
}

check "the binding has fewer than 400 lines" is_short tests/binding/wick.py
check "the binding uses only symbols of the table, lifetimes, data and errors" only_these_symbols tests/binding/wick.py
check "a program" python3 tests/binding/use.py
check "results and gradients of all ops are PyTorch's" python3 tests/binding/replay.py tests/goldens/ops.txt
sed '0,/^out f64 \[\] /s//&1/' tests/goldens/ops.txt >"$WICK_WORK/ops.txt"
fails "a different value is found" "1 differ" python3 tests/binding/replay.py "$WICK_WORK/ops.txt"
