#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# TensorBoard reads event files. Where its Python package is missing, the test is skipped: pip install tensorboard, or
# PYTHONPATH with the folder of pip install --target FOLDER tensorboard.
. "$WICK_SOURCE/tests/runner/check_functions.sh"

if ! python3 -c "import tensorboard.backend.event_processing.event_accumulator" 2>"$WICK_WORK/import"; then
    tail -n 1 "$WICK_WORK/import"
    echo "skip TensorBoard reads event files: the Python package tensorboard is not installed"
    exit 0
fi

cat >"$WICK_WORK/write.c" <<'END'
#include <math.h>
#include <wick.h>

int main(void)
{
    WK_SCOPE;
    wk_tensorboard *board = wk_tensorboard_open("runs/one"), *other = wk_tensorboard_open("runs/other/two");
    wk_history *history = wk_history_new();
    for (int k = 0; k < 5; k++) wk_history_add(history, wk_full((), 0.5 * k));
    wk_tensorboard_history(board, "loss/train", 10, history);
    wk_tensorboard_scalar(board, "accuracy", 0, 0.125);
    wk_tensorboard_scalar(board, "accuracy", 1, 1e300);
    wk_tensorboard_scalar(board, "accuracy", (int64_t)1 << 40, NAN);
    wk_tensorboard_scalar(other, "\xc3\xa9", -3, -1);
    return wk_report_error(stderr);
}
END

cat >"$WICK_WORK/read.py" <<'END'
import math, time
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
def read(folder):
    run = EventAccumulator(folder)
    run.Reload()
    return {tag: [(e.step, e.value) for e in run.Scalars(tag)] for tag in run.Tags()["scalars"]}, run
one, run = read("runs/one")
assert sorted(one) == ["accuracy", "loss/train"], one
assert one["loss/train"] == [(10, 0), (11, 0.5), (12, 1), (13, 1.5), (14, 2)], one
assert one["accuracy"][:2] == [(0, 0.125), (1, math.inf)], one
assert one["accuracy"][2][0] == 1 << 40 and math.isnan(one["accuracy"][2][1]), one
assert abs(run.Scalars("accuracy")[0].wall_time - time.time()) < 3600
assert abs(run.FirstEventTimestamp() - time.time()) < 3600
assert read("runs/other/two")[0] == {"\u00e9": [(-3, -1)]}
END

sanitize=$(sed -n 's/^WICK_SANITIZE:[A-Z]*=\(..*\)/-fsanitize=\1/p' "$WICK_BUILD/CMakeCache.txt")
# shellcheck disable=SC2086
check "the program is built" cc -std=c11 -Wall -Wextra -Werror $sanitize -Iinclude "$WICK_WORK/write.c" \
    -o "$WICK_WORK/write" -L"$WICK_BUILD" -lwick -lm
cd "$WICK_WORK" || exit 1
check "the files are written" env LD_LIBRARY_PATH="$WICK_BUILD" ./write
check "TensorBoard reads the values" python3 read.py
printf 'x' | dd of="$(ls runs/other/two/*)" bs=1 seek=60 conv=notrunc 2>/dev/null
fails "a changed byte is found" "Error\|Exception" python3 read.py
