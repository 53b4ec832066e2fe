#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the programs of tests/acceptance, unchanged, as a user builds and runs them: see tests/acceptance/runs.
. "$WICK_SOURCE/tests/runner/check_functions.sh"

exec tests/acceptance/run "$WICK_SOURCE/build/release" "$WICK_WORK"
