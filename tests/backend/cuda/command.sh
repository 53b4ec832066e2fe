#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The command on two CUDA devices: the listed devices, the tour's steps, the exercises. E3 is left out: its
# products take a minute on the stand-in; lesson_networks counts the same waits.
. "$WICK_SOURCE/tests/runner/check_functions.sh"

wick=$WICK_BUILD/wick

# says TEXT COMMAND...: passes if the command succeeds and prints TEXT to its standard output.
says()
{
    text=$1
    shift
    "$@" >"$WICK_WORK/stdout" 2>"$WICK_WORK/stderr" && grep -q -e "$text" "$WICK_WORK/stdout" ||
        { cat "$WICK_WORK/stdout" "$WICK_WORK/stderr"; return 1; }
}

check "devices: two cards" says '^cuda:1,"NVIDIA H100' "$wick" devices --csv
check "the tour succeeds" says "^23[.] " "$wick" tour
cp "$WICK_WORK/stdout" "$WICK_WORK/tour"
said() { check "tour: $1" grep -q -e "$2" "$WICK_WORK/tour"; } # WHAT TEXT
said "the cards are listed" "^GPU tutorial with .*, on cpu cuda:0 cuda:1$"
said "3, how many" "^cuda 2, opencl [0-9]*, gpu 2$"
said "4, try_gpu" "^cuda:0, cpu, \[cuda:0, cuda:1\]$"
said "7, equal results on every device" "yes, bit for bit"
said "8, a missing device" "cuda:5 does not exist: this machine has 2 devices of this kind"
said "9, a copy" "\[1., 1., 1.\]\], device='cuda:1')"
said "11, operands on two cards" "a f32\[2,3\] on cuda:0, b f32\[2,3\] on cuda:1; move one: wk_to(b, wk_cuda(0))"
said "12, soft placement" "operand 2 (24 bytes) copied from cuda:1 to cuda:0"
said "13, the chapter's results" "20.0855, 109.1963, 445.2395\], device='cuda:0'"
said "16, where ops ran" "mul on cuda:0"
said "17, a network" "^it is on cuda:0$"
said "19, a network on both" "^replicas on cuda:0 cuda:1; wk_parameters(many) are net's: yes$"
said "20, beyond the limit" "the limit of cuda:0 is 64 MiB"
said "20, the program continues" "^4194304: the program continues$"
said "22, a log on the device" "ms on cuda:0, waits of the host: 1; "

for exercise in E1 E2 E4; do "$wick" bench --quick --json $exercise; done >"$WICK_WORK/bench"
bench() # EXERCISE DEVICE: passes if the result contains a value
{
    check "bench: $1 on $2" grep -q "\"case\": *\"$1.*\"device\": *\"$2\".*\"value\": *[0-9]*[1-9]" "$WICK_WORK/bench"
}
bench E1 cuda:0
bench E1 cuda:1
bench E2 cuda:0
bench E2 cuda:1
bench "E4 two devices at once" cuda:0
