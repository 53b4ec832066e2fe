#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the programs of tests/acceptance that use a GPU, on two CUDA devices. mnist is left out: its ten epochs take the
# stand-in half an hour; lesson_networks trains there. parallel takes 22 s of processor time, so only one of the two
# builds is run.
. "$WICK_SOURCE/tests/runner/check_functions.sh"

printf 'lesson -\nerrors -\nparallel - cpu\n' >"$WICK_WORK/runs"
tests/acceptance/run "$WICK_SOURCE/build/release" "$WICK_WORK" "$WICK_WORK/runs"
says() { "$@" >"$WICK_WORK/output" && grep -q "^try_gpu(10) = cpu, 2 device(s) to train on$" "$WICK_WORK/output"; }
LD_LIBRARY_PATH=$(dirname "$(find "$WICK_WORK/prefix" -name libwick.a)")
export LD_LIBRARY_PATH
check "lesson finds both devices" says "$WICK_WORK/lesson-gcc"
parallel() { cd "$WICK_WORK/run" && ../parallel-gcc cuda:0 cuda:1; }
check "parallel cuda:0 cuda:1, gcc" parallel
