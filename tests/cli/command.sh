#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the command for people and scripts: output, streams and exit codes.
. "$WICK_SOURCE/tests/runner/check_functions.sh"

wick=$WICK_SOURCE/build/release/wick
unset WICK_THREADS WICK_CPU WICK_GPU NO_COLOR 2>/dev/null || true
export POCL_DEVICES="basic pthread" POCL_MAX_PTHREAD_COUNT=1

# ends CODE COMMAND...: passes if the command ends with this exit code.
ends()
{
    code=$1
    shift
    "$@" >"$WICK_WORK/stdout" 2>"$WICK_WORK/stderr"
    found=$?
    [ "$found" = "$code" ] || { echo "exit code $found, not $code"; cat "$WICK_WORK/stdout" "$WICK_WORK/stderr";
        return 1; }
}

# says TEXT COMMAND...: passes if its standard output contains TEXT.
says()
{
    text=$1
    shift
    "$@" >"$WICK_WORK/stdout" 2>"$WICK_WORK/stderr"
    grep -q -e "$text" "$WICK_WORK/stdout" || { cat "$WICK_WORK/stdout" "$WICK_WORK/stderr"; return 1; }
}

# Parses lines of JSON objects in Python; `test` is an expression over `rows`.
json() # TEST COMMAND...
{
    test=$1
    shift
    "$@" >"$WICK_WORK/json" && python3 - "$WICK_WORK/json" "$test" <<'END'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
assert rows and eval(sys.argv[2]), rows[:3]
END
}

# ---- help and mistakes

check "wick --version" says "^wick [0-9]*[.][0-9]*[.][0-9]*$" "$wick" --version
check "wick --help" ends 0 "$wick" --help
check "wick -h" says "^usage: wick COMMAND" "$wick" -h
check "wick alone is a mistake" ends 2 "$wick"
check "an unknown command is a mistake" ends 2 "$wick" fly
for command in devices doctor tour bench train predict generate ops replay run; do
    check "wick $command --help" says "^usage: wick $command" "$wick" $command --help
    check "wick $command --help ends with 0" ends 0 "$wick" $command --help
    check "wick $command -h" says "^usage: wick $command" "$wick" $command -h
    check "wick $command: an unknown option is a mistake" ends 2 "$wick" $command --no-such-option
    check "wick $command is in wick --help" says "^  $command " "$wick" --help
done
check "mistakes go only to standard error" sh -c "'$wick' ops --fly 2>/dev/null | wc -c | grep -qx ' *0'"
check "devices: --json and --csv are mutually exclusive" ends 2 "$wick" devices --json --csv
check "devices: --watch requires a number" ends 2 "$wick" devices --watch=soon
check "devices: an operand is a mistake" ends 2 "$wick" devices all
check "train: an unknown task" ends 2 "$wick" train birds
check "train: ... is reported" grep -q 'unknown network "birds"; expected mnist, lenet, resnet18 or gpt$' \
    "$WICK_WORK/stderr"
check "train: a similar task" ends 2 "$wick" train gtp
check "train: ... is named" grep -q 'expected mnist, lenet, resnet18 or gpt; did you mean gpt?$' "$WICK_WORK/stderr"
check "train: no task" ends 2 "$wick" train
check "train: a batch must be a number" ends 2 "$wick" train lenet --batch none
check "train: a rate must be positive" ends 2 "$wick" train lenet --lr 0
check "train: ... is reported" grep -q '^wick train: --lr must be a number greater than 0, at most 100, got "0"$' \
    "$WICK_WORK/stderr"
check "predict: no file" ends 2 "$wick" predict
check "predict: no image" ends 2 "$wick" predict net.safetensors
check "predict: an unknown network" ends 2 "$wick" predict --model vgg net.safetensors a.png
check "predict: an unknown device" ends 2 "$wick" predict --device tpu net.safetensors a.png
check "train: an unknown device" ends 2 "$wick" train mnist --device tpu:0
check "train: epochs must be a number" ends 2 "$wick" train mnist --epochs many
check "train: a value is missing" ends 2 "$wick" train mnist --epochs
check "train gpt: help" says "^usage: wick train gpt .FILE. .OPTIONS.$" "$wick" train gpt --help
check "train gpt: after the options" ends 2 "$wick" train --device cpu gpt
check "train gpt: steps must be a number" ends 2 "$wick" train gpt --steps many
check "train gpt: ... is reported" grep -q '^wick train gpt: --steps must be an integer from 1 to' "$WICK_WORK/stderr"
check "generate: no model" ends 2 "$wick" generate --prompt a
check "generate: no prompt" ends 2 "$wick" generate gpt.safetensors
check "generate: an empty prompt" ends 2 "$wick" generate gpt.safetensors --prompt ""
check "generate: ... is reported" grep -q '^wick generate: --prompt is empty; expected at least one character$' \
    "$WICK_WORK/stderr"
check "generate: an empty stop text" ends 2 "$wick" generate gpt.safetensors --prompt a --stop ""
check "generate: an unknown device" ends 2 "$wick" generate gpt.safetensors --prompt a --device tpu
check "generate: a temperature must be positive" ends 2 "$wick" generate gpt.safetensors --prompt a --temperature 0
check "generate: ... is reported" grep -q \
    '^wick generate: --temperature must be greater than 0, got "0"; --greedy takes the likeliest token$' \
    "$WICK_WORK/stderr"
check "generate: --greedy has no draws" ends 2 "$wick" generate gpt.safetensors --prompt a --greedy --top-p 0.5
check "generate: ... is reported" grep -q '^wick generate: --top-p applies to sampling only; leave out --greedy$' \
    "$WICK_WORK/stderr"
check "generate: beam search has no draws" ends 2 "$wick" generate gpt.safetensors --prompt a --num-beams 2 --min-p 0.5
check "generate: a similar option" ends 2 "$wick" generate gpt.safetensors --tempature=1
check "generate: ... is named" grep -q 'unknown option "--tempature=1"; did you mean --temperature?$' \
    "$WICK_WORK/stderr"
check "wick help generate" says "^usage: wick generate MODEL" "$wick" help generate
check "wick help generate ends with 0" ends 0 "$wick" help generate
check "wick help train gpt" says "^usage: wick train gpt" "$wick" help train gpt
check "wick help for an unknown command" ends 2 "$wick" help fly
check "a similar command" ends 2 "$wick" genrate
check "... is named" grep -q '^wick: unknown command "genrate"; did you mean generate?$' "$WICK_WORK/stderr"
check "bench: an unknown case" ends 2 "$wick" bench E9
check "tour: an unknown step" ends 2 "$wick" tour 24
check "tour: ... is reported" grep -q 'wick tour: STEP must be an integer from 1 to 23, got "24"' \
    "$WICK_WORK/stderr"
check "a full disk is an error" ends 1 sh -c "'$wick' ops >/dev/full"
check "a closed output is an error" ends 1 sh -c "'$wick' ops >&-"

# ---- devices, doctor, ops

check "devices: the CPU is listed" says "^cpu " "$wick" devices
check "devices: the reason why CUDA is missing" says "cuda is not usable: " "$wick" devices
check "devices: JSON" json \
    'rows[0]["device"] == "cpu" and rows[0]["memory_total"] > 2**20 and 0 <= rows[0]["utilisation"] <= 1' \
    "$wick" devices --json
check "devices: CSV has its header" says "^device,name,vendor,driver,is_gpu,compute_units,memory_total,memory_used," \
    "$wick" devices --csv
check "devices: numbers do not follow the locale" json 'rows[0]["memory_total"] > 0' env LC_ALL=de_DE.UTF-8 "$wick" \
    devices --json
check "devices: no colours in a file" sh -c "! '$wick' devices | grep -q \"\$(printf '\\033')\""
check "devices: --watch repeats" \
    sh -c "timeout 120 '$wick' devices --csv --watch=1 | grep -m 2 ^cpu, | tail -n +2 | grep -q ."

# The columns of nvidia-smi, for the stand-in for NVIDIA's libraries (tests/standin). Its second card reports neither
# clocks nor a power limit.
if [ -n "${STANDIN_NVRTC:-}" ] && [ -e "$WICK_SOURCE/build/release/standin/libcuda.so.1" ]; then
    cards="env WICK_CUDA_PATH=$WICK_SOURCE/build/release/standin $wick devices"
    check "devices: a card" says "^cuda:0 .* 12 %  *64.0 MiB / 2.0 GiB  *41 C  *88 / 700 W$" $cards
    check "devices: a card without a limit" says "^cuda:1 .* 0 %  *65.0 MiB / 2.0 GiB  *39 C  *71 W$" $cards
    check "devices: its driver and clocks" says \
        "^cuda:0  *132 compute units, NVIDIA, 580.65.06, CUDA 13.0, 1980 MHz, memory 2619 MHz, a GPU$" $cards
    check "devices: ... if it reports them" says "^cuda:1  *132 compute units, NVIDIA, 580.65.06, CUDA 13.0, a GPU$" \
        $cards
    check "devices: a process on the card" says "^cuda:0  *[0-9]*  *64.0 MiB  wick$" $cards
    check "devices: a process with unknown memory" says "^cuda:0  *4194303  *N/A " $cards
    check "devices: cards as JSON" json \
        '([(r["power_limit"], r["core_clock"], r["memory_clock"], len(r["processes"])) for r in rows[1:3]] ==
          [(700, 1980, 2619, 2), (None, None, None, 0)] and
          [p["memory"] for p in rows[1]["processes"]] == [2**26, None])' $cards --json
    check "devices: cards as CSV" says '^cuda:1,.*,71.25,"CUDA 13.0",,,,0$' $cards --csv
else
    echo "skip devices: cards of the stand-in: NVRTC is missing (scripts/setup cuda)"
fi

touch "$WICK_WORK/file"
check "doctor: version and operations" says "^wick  *[0-9.]*, [0-9]* operations" "$wick" doctor
check "doctor ends with 0" ends 0 "$wick" doctor
check "doctor: cuda in words" says \
    "^cuda  *\(usable\|not built\|library not found\|no driver\|driver too old\|no device\): " "$wick" doctor
check "doctor: opencl in words" says \
    "^opencl  *\(usable\|not built\|library not found\|no driver\|driver too old\|no device\): " "$wick" doctor
check "doctor: WICK_CPU is shown" says "instructions: portable, WICK_CPU=portable" env WICK_CPU=portable "$wick" doctor
check "doctor: an unknown WICK_CPU" says "^!  *WICK_CPU=z80 is not built" env WICK_CPU=z80 "$wick" doctor
check "doctor: a misspelt variable" says "^!  *unknown variable WICK_THREDS" env WICK_THREDS=2 "$wick" doctor
check "doctor: ... with a suggestion" says \
    "unknown variable WICK_THREDS; did you mean WICK_THREADS?" env WICK_THREDS=2 "$wick" doctor
check "doctor: a missing folder" says "^!  *WICK_CUDA_PATH: folder /nowhere does not exist" \
    env WICK_CUDA_PATH="/tmp:/nowhere" "$wick" doctor
check "doctor: a file for a folder" says "^!  *$WICK_WORK/file is not a folder; kernels are not cached" \
    env WICK_CACHE_DIR="$WICK_WORK/file" "$wick" doctor
check "doctor: without the prefix" says "^!  *unknown variable wcik_eager; did you mean WICK_EAGER?" env wcik_eager=1 \
    "$wick" doctor
check "doctor: a mode that is off" says \
    "^modes  *WICK_EAGER=0: off (run every call immediately (eager mode))" env WICK_EAGER=0 \
    "$wick" doctor
check "doctor: ... is not a warning" sh -c "! WICK_EAGER=0 '$wick' doctor | grep '^!.*WICK_EAGER'"
check "doctor: an invalid switch" says \
    "^!  *invalid WICK_NOFUSE=maybe; expected 0 or 1" env WICK_NOFUSE=maybe "$wick" doctor
for word in off OFF no False; do
    check "doctor: a switch that is $word" says "^modes  *WICK_CHECK=$word: off" env WICK_CHECK=$word "$wick" doctor
done
check "doctor: WICK_CHECK is known" says "^modes  *WICK_CHECK=1: execute everything twice" env WICK_CHECK=1 \
    "$wick" doctor
check "doctor: ... and its folder" sh -c "! WICK_CHECK_DIR=/tmp '$wick' doctor | grep '^!.*WICK_CHECK_DIR'"
check "doctor: an unknown placement" says \
    "^!  *invalid WICK_PLACEMENT=sfot; expected strict or soft" env WICK_PLACEMENT=sfot \
    "$wick" doctor
check "doctor: an unknown backend" says \
    "^!  *invalid WICK_GPU=openc; expected opencl or cuda" env WICK_GPU=openc "$wick" \
    doctor
check "doctor: an unknown subject" says \
    "^!  *invalid WICK_LOG=sync,kernle; expected a comma-separated list of placement, sync, kernel, leaks, " \
    env WICK_LOG=sync,kernle WICK_LOG_FILE="$WICK_WORK/doctor.log" "$wick" doctor
check "doctor: a log that is off" says "WICK_LOG_FILE=: off" env WICK_LOG_FILE= "$wick" doctor
doctor_quiet() { ! env WICK_LOG_FILE= "$wick" doctor | grep "cannot write"; }
check "doctor: ... is not reported as unwritable" doctor_quiet
check "doctor: an unwritable log" says "^!  *cannot write WICK_LOG_FILE=/nowhere/log" env \
    WICK_LOG_FILE=/nowhere/log "$wick" doctor
log_to_stderr() { env WICK_LOG=sync WICK_LOG_FILE=/nowhere/log "$wick" tour 2>&1 >/dev/null |
    grep "^WICK_LOG_FILE: cannot write /nowhere/log; logging to stderr"; }
check "a log that cannot be written goes to stderr" log_to_stderr
check "doctor: a negative WICK_CACHE_MB" says \
    "^!  *invalid WICK_CACHE_MB=-1; expected an integer of at least 0" env WICK_CACHE_MB=-1 "$wick" \
    doctor
check "doctor: threads" says "^threads  *1 .*WICK_THREADS=1" env WICK_THREADS=1 "$wick" doctor
threads=$("$wick" doctor | sed -n 's/^threads  *\([0-9]*\).*/\1/p')
check "doctor: a number followed by a letter" says "^!  *invalid WICK_THREADS=${threads}x; expected an integer" env \
    WICK_THREADS="${threads}x" "$wick" doctor

check "ops: a pattern" says "^softmax(\|^    softmax(Tensor input, int dim) -> Tensor" "$wick" ops softmax
check "ops: a reference to the C calls" says "^1 of [0-9]* operations. .* of C calls" "$wick" ops 'topk'
check "ops: a name with prefix" says "^softmax" "$wick" ops wk_softmax
check "ops: a name of another library" says '"multiply" is named wk_mul in Wick' "$wick" ops multiply
check "ops: an optimiser is not an op" says '"adam" is named wk_optim_adam' "$wick" ops wk_optim_adam
check "ops: nothing matches" ends 1 "$wick" ops no_such_op
fails "ops: a misspelt name" 'no operation matches "sofmax"; did you mean softmax?$' "$wick" ops sofmax
fails "ops: a missing op" "README.md lists the larger gaps (.Limits.)" "$wick" ops fft
check "ops: JSON, sorted, each with a schema" json \
    '([r["name"] for r in rows] == sorted(r["name"] for r in rows) and len(rows) >= 110 and
        all(r["schema"].startswith(r["name"] + "(") for r in rows))' \
    "$wick" ops --json

# ---- tour

check "the tour succeeds" ends 0 "$wick" tour
cp "$WICK_WORK/stdout" "$WICK_WORK/tour"
check "the tour has steps 1 to 23 in order" sh -c \
    "grep -o '^[0-9]*[.] ' '$WICK_WORK/tour' | tr -d '. ' | diff - /dev/fd/3 3<<END
\$(seq 23)
END"
check "tour 13: the chapter's values" grep -q "20.0855, 109.1963, 445.2395" "$WICK_WORK/tour"
check "tour 7: the same values on every device" grep -q "yes, bit for bit" "$WICK_WORK/tour"
check "tour 8: the available devices" grep -q "opencl:99 does not exist" "$WICK_WORK/tour"
check "tour: X, Y and Z are created once" sh -c \
    "grep -c -E '^  (X = |Z = |wk_seed.1.; Y = )' '$WICK_WORK/tour' | grep -qx 3"
check "tour 11 alone shows X, Y and Z" sh -c \
    "'$wick' tour 11 | grep -c -E '^  (X = |Z = |wk_seed.1.; Y = )' | grep -qx 3"
check "tour 23: a world of one" grep -q "rank 0 of 1" "$WICK_WORK/tour"
check "tour: one step alone" sh -c "'$wick' tour 2 | grep -c '^[0-9]*[.] ' | grep -qx 1"
check "the tour without OpenCL" ends 0 env OCL_ICD_VENDORS=/nowhere "$wick" tour

# ---- train

check "train: learns" ends 0 "$wick" train mnist --device cpu --epochs 1 --save "$WICK_WORK/net.safetensors" --svg \
    "$WICK_WORK/loss.svg"
cp "$WICK_WORK/stdout" "$WICK_WORK/train"
check "train: more than 85 % after one epoch" sh -c \
    "grep -E -q '^(8[5-9]|9[0-9])[.][0-9] % of the 1000' '$WICK_WORK/train'"
check "train: a log has no carriage returns" sh -c "! grep -q \"\$(printf '\\r')\" '$WICK_WORK/train'"
check "train: saves" test -s "$WICK_WORK/net.safetensors"
check "train: the picture is XML" python3 -c "import sys, xml.dom.minidom as x; x.parse(sys.argv[1])" \
    "$WICK_WORK/loss.svg"
check "train: an absent device fails" ends 1 "$wick" train mnist --device opencl:77 --save "$WICK_WORK/none.safetensors"
check "train: ... and saves nothing" test ! -e "$WICK_WORK/none.safetensors"
check "train: a folder without digits fails" ends 1 "$wick" train mnist --device cpu --data "$WICK_WORK" --save \
    "$WICK_WORK/none.safetensors"
check "train: a picture that cannot be written fails" ends 1 "$wick" train mnist --device cpu --epochs 1 \
    --save "$WICK_WORK/net.safetensors" --svg "$WICK_WORK/no/such/folder.svg"
check "train: ... before training" sh -c \
    "test ! -s '$WICK_WORK/stdout' && grep -q 'cannot write --svg .*folder.svg: No such file' '$WICK_WORK/stderr'"
check "train: --save and --svg must differ" ends 1 "$wick" train mnist --device cpu --save "$WICK_WORK/one" --svg \
    "$WICK_WORK/one"
check "train: an empty file name is a mistake" ends 1 "$wick" train mnist --device cpu --save ""
check "train: a folder as picture fails" ends 1 "$wick" train mnist --device cpu --save "$WICK_WORK/none.safetensors" \
    --svg "$WICK_WORK"
check "train: a network that cannot be saved fails" ends 1 "$wick" train mnist --device cpu --save \
    "$WICK_WORK/no/such.safetensors"
check "train: ... before training, too" sh -c \
    "test ! -s '$WICK_WORK/stdout' && grep -q 'write --save .*such.safetensors: No such' '$WICK_WORK/stderr'"
check "train: a folder as network fails" ends 1 "$wick" train mnist --device cpu --save "$WICK_WORK"
echo old >"$WICK_WORK/old.safetensors"
check "train: an error" ends 1 "$wick" train mnist --device opencl:77 --save "$WICK_WORK/old.safetensors" --svg \
    "$WICK_WORK/new.svg"
check "train: ... keeps the old file and leaves no other" sh -c \
    "cd '$WICK_WORK' && test \"\$(cat old.safetensors)\" = old && ! ls | grep -E 'new.svg|none|wick-'"

# ---- predict

# Writes a folder of digits 0 to COUNT - 1 of data/mnist in the format of MNIST's test set, cut to SIZE x SIZE pixels.
few_digits() # FOLDER COUNT SIZE
{
    mkdir "$1" && python3 - "$WICK_SOURCE/data/mnist" "$@" <<'END'
import gzip, struct, sys
source, folder, count, size = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
images = gzip.open(source + "/t10k-images-idx3-ubyte.gz").read()[16:]
labels = gzip.open(source + "/t10k-labels-idx1-ubyte.gz").read()[8:]
with open(folder + "/t10k-images-idx3-ubyte", "wb") as out:
    out.write(struct.pack(">IIII", 0x803, count, size, size))
    for k in range(count):
        for row in range(size):
            out.write(images[784 * k + 28 * row:][:size])
with open(folder + "/t10k-labels-idx1-ubyte", "wb") as out:
    out.write(struct.pack(">II", 0x801, count) + labels[:count])
END
}

# Writes digits 9500 to 9519 of data/mnist, which wick train does not learn from, as PGM files, and their labels.
python3 - "$WICK_SOURCE/data/mnist" "$WICK_WORK" <<'END'
import gzip, sys
images = gzip.open(sys.argv[1] + "/t10k-images-idx3-ubyte.gz").read()[16:]
labels = gzip.open(sys.argv[1] + "/t10k-labels-idx1-ubyte.gz").read()[8:]
with open(sys.argv[2] + "/labels", "w") as out:
    for k in range(20):
        pixels = images[784 * (9500 + k):][:784]
        open(f"{sys.argv[2]}/digit{k:02}.pgm", "wb").write(b"P5 28 28 255\n" + pixels)
        out.write(f"{labels[9500 + k]}\n")
    dark = b"".join(bytes(255 - v for v in pixels[28 * (r // 3):][:28] for _ in range(3)) for r in range(84))
    open(sys.argv[2] + "/dark.pgm", "wb").write(b"P5 84 84 255\n" + dark)
END

check "train lenet: learns" ends 0 "$wick" train lenet --device cpu --epochs 3 --save "$WICK_WORK/lenet.safetensors"
check "train lenet: more than 85 %" grep -E -q '^(8[5-9]|9[0-9])[.][0-9] % of the 1000' "$WICK_WORK/stdout"
check "train lenet: accuracy of each epoch" grep -q '^epoch  3  loss 0[.][0-9]*  accuracy 0[.][0-9]*  ' \
    "$WICK_WORK/stdout"
cp "$WICK_WORK/stdout" "$WICK_WORK/first"
guesses() { "$wick" predict "$@" "$WICK_WORK"/digit??.pgm | awk '/pgm$/ { getline; print $NF }'; }
recognises() # MOST_WRONG ARGUMENT...
{
    most=$1
    shift
    guesses "$@" >"$WICK_WORK/guesses"
    wrong=$(paste "$WICK_WORK/labels" "$WICK_WORK/guesses" | awk '$1 != $2 { n++ } END { print n + 0 }')
    echo "$wrong of 20 are wrong"
    [ "$wrong" -le "$most" ]
}
check "predict: new digits" recognises 4 "$WICK_WORK/lenet.safetensors"
check "predict: five classes for each" sh -c \
    "'$wick' predict '$WICK_WORK/lenet.safetensors' '$WICK_WORK/digit00.pgm' | grep -c ' % ' | grep -qx 5"
check "predict: bars" says "^  *[0-9.]* %  #* *[0-9]$" "$wick" predict "$WICK_WORK/lenet.safetensors" \
    "$WICK_WORK/digit00.pgm"
check "predict: a larger dark digit on a light ground" sh -c \
    "'$wick' predict --invert '$WICK_WORK/lenet.safetensors' '$WICK_WORK/dark.pgm' | sed -n 2p | grep -q \
        \" \$(tail -n 1 '$WICK_WORK/labels')\$\""
check "predict: the network of train mnist" recognises 5 "$WICK_WORK/net.safetensors"
seq 10 | sed 's/^/number /' >"$WICK_WORK/names"
check "predict: other names" says "  number [0-9]*$" "$wick" predict --classes "$WICK_WORK/names" \
    "$WICK_WORK/lenet.safetensors" "$WICK_WORK/digit00.pgm"

# The files of networks: their metadata, and without.
few_digits "$WICK_WORK/fashion" 120 28
check "train resnet18: Fashion-MNIST" ends 0 "$wick" train resnet18 --device cpu --epochs 1 --batch 27 --lr 1e-4 \
    --data "$WICK_WORK/fashion" --save "$WICK_WORK/resnet.safetensors"
check "train resnet18: ... and a tenth to test" grep -q \
    '^ResNet-18 on cpu, 108 training images, 12 held out, batches of 27$' "$WICK_WORK/stdout"
check "train resnet18: ... whose classes are named" grep -a -q 'sneaker.nbag.nankle boot' \
    "$WICK_WORK/resnet.safetensors"
check "predict: ... as predict shows" says "  \(T-shirt\|trouser\|pullover\|dress\|coat\|sandal\)$" "$wick" predict \
    "$WICK_WORK/resnet.safetensors" "$WICK_WORK"/digit??.pgm
check "train: names of classes" ends 0 "$wick" train lenet --device cpu --epochs 1 --data "$WICK_WORK/fashion" \
    --classes "$WICK_WORK/names" --save "$WICK_WORK/named.safetensors"
check "predict: ... are those of the file" says "  number [0-9]*$" "$wick" predict "$WICK_WORK/named.safetensors" \
    "$WICK_WORK"/digit??.pgm
few_digits "$WICK_WORK/small" 20 14
fails "train: images of another size" "have 14 x 14 pixels, expected 28 x 28" "$wick" train lenet --device cpu --data \
    "$WICK_WORK/small" --save "$WICK_WORK/none.safetensors"
fails "train: a missing file of names" "cannot read --classes /nowhere: No such file" "$wick" train lenet --device cpu \
    --classes /nowhere --save "$WICK_WORK/none.safetensors"
printf '\377\n' >"$WICK_WORK/bytes"
fails "train: names that are not UTF-8" "is not a text in UTF-8" "$wick" train lenet --device cpu --classes \
    "$WICK_WORK/bytes" --save "$WICK_WORK/none.safetensors"

python3 - "$WICK_WORK" <<'END'
import array, json, struct, sys
folder = sys.argv[1]

def write(name, header, data):
    text = json.dumps(header).encode()
    open(f"{folder}/{name}", "wb").write(struct.pack("<Q", len(text)) + text + data)

# The file of lenet without its metadata.
content = open(folder + "/lenet.safetensors", "rb").read()
length = struct.unpack("<Q", content[:8])[0]
header = json.loads(content[8:8 + length])
del header["__metadata__"]
write("plain.safetensors", header, content[8 + length:])

# A resnet18 of three classes whose scores are the means of the positive parts of the normalised colours.
header, data = {}, bytearray()

def tensor(name, shape, ones=(), fill=0.0):
    count = 1
    for size in shape:
        count *= size
    values = array.array("f", bytes(4 * count)) if fill == 0 else array.array("f", [fill] * count)
    for at in ones:
        values[at] = 1.0
    header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + 4 * count]}
    data.extend(values.tobytes())

def norm(name, size, weight):
    tensor(name + ".weight", [size], fill=weight)
    tensor(name + ".bias", [size])
    tensor(name + ".running_mean", [size])
    tensor(name + ".running_var", [size], fill=1.0)

tensor("conv1.weight", [64, 3, 7, 7], [147 * c + 49 * c + 24 for c in range(3)])
norm("bn1", 64, 1.0)
inside = 64
for layer, size in enumerate((64, 128, 256, 512), 1):
    for block in range(2):
        name = f"layer{layer}.{block}."
        tensor(name + "conv1.weight", [size, inside, 3, 3])
        norm(name + "bn1", size, 0.0)
        tensor(name + "conv2.weight", [size, size, 3, 3])
        norm(name + "bn2", size, 0.0)
        if inside != size:
            tensor(name + "downsample.0.weight", [size, inside, 1, 1], [inside * c + c for c in range(3)])
            norm(name + "downsample.1", size, 1.0)
        inside = size
tensor("fc.weight", [3, 512], [512 * c + c for c in range(3)])
tensor("fc.bias", [3])
for name in [n for n in header if n.endswith("running_var")]:  # torchvision's files have these, too
    header[name.replace("running_var", "num_batches_tracked")] = {
        "dtype": "I64", "shape": [], "data_offsets": [len(data), len(data) + 8]}
    data.extend(bytes(8))
write("colours.safetensors", header, bytes(data))

# 300 x 150 pixels, of which the centre that remains after resizing and cropping has one colour.
row = b"\0" * 3 * 80 + bytes((200, 180, 20)) * 140 + b"\0" * 3 * 80
open(folder + "/colours.ppm", "wb").write(b"P6 300 150 255\n" + row * 150)
END
check "predict: a file without metadata" recognises 4 --model lenet "$WICK_WORK/plain.safetensors"
fails "predict: ... needs --model" \
    "plain.safetensors does not name its network; add --model with one of mnist, lenet, resnet18" \
    "$wick" predict "$WICK_WORK/plain.safetensors" "$WICK_WORK/digit00.pgm"
fails "predict: another network" \
    "plain.safetensors is not a resnet18: tensor fc.weight is missing or has .*; try another" "$wick" predict \
    --model resnet18 "$WICK_WORK/plain.safetensors" "$WICK_WORK/digit00.pgm"
fails "predict: --model against the file" "lenet.safetensors is a lenet; omit --model resnet18" "$wick" predict \
    --model resnet18 "$WICK_WORK/lenet.safetensors" "$WICK_WORK/digit00.pgm"
printf 'red\ngreen\nblue\n' >"$WICK_WORK/rgb"
# softmax of ((200, 180) / 255 - (0.485, 0.456)) / (0.229, 0.224) and 0
check "predict: colours are cropped and normalised as for ImageNet" says "^   47[.]7 %  #*  *red$" "$wick" predict \
    --model resnet18 --classes "$WICK_WORK/rgb" "$WICK_WORK/colours.safetensors" "$WICK_WORK/colours.ppm"
fails "predict: too few names" "rgb has 3 names, but the network in .*lenet.safetensors has 10 classes" \
    "$wick" predict --classes "$WICK_WORK/rgb" "$WICK_WORK/lenet.safetensors" "$WICK_WORK/digit00.pgm"
fails "predict: a missing file" "^wick predict: /nowhere/net: cannot open: No such file" "$wick" predict /nowhere/net \
    a.png
fails "predict: no network" "^wick predict: .*names: not a safetensors file" "$wick" predict "$WICK_WORK/names" a.png
check "predict: a missing image" ends 1 "$wick" predict "$WICK_WORK/lenet.safetensors" /nowhere/a.png \
    "$WICK_WORK/digit00.pgm"
check "predict: ... is reported" grep -q "^wick predict: /nowhere/a.png: cannot open: No such file" "$WICK_WORK/stderr"
check "predict: ... and the next one is classified" grep -q "digit00.pgm$" "$WICK_WORK/stdout"
fails "predict: no image" "names: unknown image format; expected a PNG, JPEG, PGM (P5) or PPM (P6) file" \
    "$wick" predict "$WICK_WORK/lenet.safetensors" "$WICK_WORK/names"
fails "predict: a PNG file without libpng" "cannot load libpng: /nowhere: .*install the package libpng16-16" env \
    WICK_LIBPNG=/nowhere "$wick" predict "$WICK_WORK/lenet.safetensors" "$WICK_SOURCE/tests/fixtures/image/grey.png"

# ---- train gpt and generate

head -c 20000 "$WICK_SOURCE/data/text/tinyshakespeare.txt" >"$WICK_WORK/text"
gpt=$WICK_WORK/gpt.safetensors
check "train gpt: learns" ends 0 "$wick" train gpt "$WICK_WORK/text" --device cpu --steps 260 --batch 4 --save "$gpt" \
    --svg "$WICK_WORK/gpt.svg"
cp "$WICK_WORK/stdout" "$WICK_WORK/train"
check "train gpt: the held-out part of the text" grep -q \
    '^GPT on cpu, 18000 characters, 2000 held out, [0-9]* different, batches of 4 windows$' "$WICK_WORK/train"
check "train gpt: its loss every 250 steps and at the end" sh -c \
    "grep -c -E '^step +(250|260)  held-out loss 2[.][0-9]*  [0-9.]* s$' '$WICK_WORK/train' | grep -qx 2"
check "train gpt: names the file" grep -q '^saved as .*gpt.safetensors; wick generate ' "$WICK_WORK/train"
check "train gpt: the picture is XML" python3 -c "import sys, xml.dom.minidom as x; x.parse(sys.argv[1])" \
    "$WICK_WORK/gpt.svg"
fails "train gpt: a missing text" "^wick train: /nowhere: cannot open: No such file" "$wick" train gpt /nowhere \
    --device cpu --save "$WICK_WORK/none.safetensors"
fails "train gpt: a short text" "names has 91 characters, expected at least 1320" "$wick" train gpt \
    "$WICK_WORK/names" --device cpu --save "$WICK_WORK/none.safetensors"
fails "train gpt: a network that cannot be saved" "write --save .*such.safetensors: No such" "$wick" train gpt \
    "$WICK_WORK/text" --device cpu --save "$WICK_WORK/no/such.safetensors"

# written COMMAND...: prints the text that wick generate writes.
written() { "$wick" generate "$@" --device cpu --prompt "First Citizen:" --tokens 80; }
# differ FILE FILE: passes if the files differ.
differ() { ! cmp -s "$1" "$2"; }
check "generate: continues the prompt" sh -c "'$wick' generate '$gpt' --device cpu --greedy --prompt 'First Citizen:
We' --tokens 5 | head -c 18 | tail -c 4 | grep -q '^We'"
written "$gpt" >"$WICK_WORK/one"
check "generate: as many characters as --tokens, and a newline" sh -c "wc -c <'$WICK_WORK/one' | grep -qx ' *95'"
written "$gpt" --seed 0 --temperature 1 --top-k 0 --top-p 1 >"$WICK_WORK/two"
check "generate: the same seed" cmp "$WICK_WORK/one" "$WICK_WORK/two"
written "$gpt" --seed 5 >"$WICK_WORK/two"
check "generate: another seed" differ "$WICK_WORK/one" "$WICK_WORK/two"
written "$gpt" --greedy >"$WICK_WORK/one"
written "$gpt" --top-k 1 --seed 9 >"$WICK_WORK/two"
check "generate: the likeliest characters" cmp "$WICK_WORK/one" "$WICK_WORK/two"
written "$gpt" --top-p 0.0001 >"$WICK_WORK/two"
check "generate: ... by their probability" cmp "$WICK_WORK/one" "$WICK_WORK/two"
written "$gpt" --temperature 0.0001 >"$WICK_WORK/two"
check "generate: ... by temperature" cmp "$WICK_WORK/one" "$WICK_WORK/two"
written "$gpt" --min-p 1 >"$WICK_WORK/two"
check "generate: ... by the greatest probability" cmp "$WICK_WORK/one" "$WICK_WORK/two"
written "$gpt" --num-beams 1 --max-new-tokens 80 >"$WICK_WORK/two"
check "generate: ... by one beam" cmp "$WICK_WORK/one" "$WICK_WORK/two"
written "$gpt" --num-beams 4 >"$WICK_WORK/two"
check "generate: beam search" sh -c "wc -c <'$WICK_WORK/two' | grep -qx ' *95'"
check "generate: ... finds another text" differ "$WICK_WORK/one" "$WICK_WORK/two"
written "$gpt" --greedy --repetition-penalty 3 >"$WICK_WORK/two"
check "generate: a penalty" differ "$WICK_WORK/one" "$WICK_WORK/two"
stop=$(tail -c 20 "$WICK_WORK/one" | head -c 3)
"$wick" generate "$gpt" --device cpu --prompt "First Citizen:" --tokens 80 --greedy --stop "$stop" >"$WICK_WORK/two"
check "generate: ends before --stop" sh -c "! tail -c +15 '$WICK_WORK/two' | grep -qF '$stop' &&
    [ \$(wc -c <'$WICK_WORK/two') -lt 80 ]"

# A folder of transformers with the same network: one token for each character, and no merges.
mkdir "$WICK_WORK/folder"
cp "$gpt" "$WICK_WORK/folder/model.safetensors"
python3 - "$WICK_WORK" <<'END'
import json, struct, sys
folder = sys.argv[1] + "/folder/"
data = open(folder + "model.safetensors", "rb").read()
header = json.loads(data[8 : 8 + struct.unpack("<Q", data[:8])[0]])
characters = header["__metadata__"]["wick.characters"]
sizes = {"vocab_size": len(characters), "n_positions": 64, "n_embd": 128, "n_layer": 4, "n_head": 4}
json.dump({"model_type": "gpt2", **sizes}, open(folder + "config.json", "w"))
names = {" ": "\u0120", "\n": "\u010a"}
json.dump({names.get(c, c): k for k, c in enumerate(characters)}, open(folder + "vocab.json", "w"))
open(folder + "merges.txt", "w").write("#version: 0.2\n")
END
written "$WICK_WORK/folder" --greedy >"$WICK_WORK/two"
check "generate: a folder of transformers" cmp "$WICK_WORK/one" "$WICK_WORK/two"
rm "$WICK_WORK/folder/merges.txt"
fails "generate: half a tokenizer" \
    "^wick generate: no tokenizer.json, or vocab.json and merges.txt, in .*: merges.txt is missing$" \
    "$wick" generate "$WICK_WORK/folder" --device cpu --prompt a
rm "$WICK_WORK/folder/vocab.json"
fails "generate: a folder without a tokenizer" \
    "^wick generate: no tokenizer.json, or vocab.json and merges.txt, in [^:]*$" \
    "$wick" generate "$WICK_WORK/folder" --device cpu --prompt a
fails "generate: an empty folder" "^wick generate: .*config.json: cannot open: No such file" "$wick" generate \
    "$WICK_SOURCE/tests" --device cpu --prompt a
fails "generate: a missing file" "^wick generate: /nowhere/net: cannot open: No such file" "$wick" generate \
    /nowhere/net --device cpu --prompt a
fails "generate: another network" "lenet.safetensors is not a file of wick train gpt; its network is lenet" "$wick" \
    generate "$WICK_WORK/lenet.safetensors" --device cpu --prompt a
fails "generate: an unknown character" '^wick generate: the character "@" (byte 1) is not in the vocabulary' "$wick" \
    generate "$gpt" --device cpu --prompt a@
check "generate: ... and prints no text" sh -c \
    "'$wick' generate '$gpt' --device cpu --prompt a@ 2>/dev/null | wc -c | grep -qx ' *0'"
check "generate: a closed output fails" ends 1 sh -c "'$wick' generate '$gpt' --device cpu --prompt a >&-"
fails "generate: a GGUF file without a vocabulary" 'llama.gguf: missing "tokenizer.ggml.model"; expected gpt2' "$wick" \
    generate tests/fixtures/gguf/llama.gguf --device cpu --prompt a
fails "predict: a language model" "is a network of the unknown kind .gpt.; expected mnist, lenet, resnet18" "$wick" \
    predict "$gpt" "$WICK_WORK/digit00.pgm"

# ---- bench

fails "bench: no GPU" "requires a GPU, got cpu" "$wick" bench gpu --device cpu
fails "bench: no GPU found" "no GPU found; run wick doctor" env -u WICK_GPU "$wick" bench gpu
fails "bench: a device for all" "applies only to the case gpu, not fused" "$wick" bench fused --device opencl:0
check "bench: results as JSON" json \
    '(rows[0]["ratio"] > 0 and
        all(set(r) == {"case", "device", "threads", "value", "unit", "ratio", "against"} for r in rows))' \
    "$wick" bench --quick --json fused
check "bench: the chapter's exercises and a picture" json \
    'all(any(r["case"].startswith(e) for r in rows) for e in ("E1", "E2", "E3", "E4", "mirrored"))' \
    "$wick" bench --quick --json --svg "$WICK_WORK/bench.svg"
labels()
{
    python3 - "$WICK_WORK/bench.svg" "$WICK_WORK/json" <<'END'
import json, sys, xml.dom.minidom
svg = xml.dom.minidom.parse(sys.argv[1])
texts = [t.firstChild.data for t in svg.getElementsByTagName("text")]
rows = [json.loads(line) for line in open(sys.argv[2])]
for r in rows:
    if r["ratio"] is not None:
        assert any(t.startswith(r["case"] + ", " + r["device"]) for t in texts), r["case"]
END
}
check "bench: ... without truncated names" labels
check "bench: the picture is XML" python3 -c "import sys, xml.dom.minidom as x; x.parse(sys.argv[1])" \
    "$WICK_WORK/bench.svg"
cat >"$WICK_WORK/peer" <<'EOF'
echo Abacus 1.0
while read -r name threads sizes; do case $name in fused) echo 30 ;; *) echo - ;; esac; done
EOF
check "bench: another library in alternation" json \
    'any(r["against"] == "Abacus 1.0" and r["ratio"] > 1 for r in rows)' \
    "$wick" bench --quick --json --peer "sh $WICK_WORK/peer" fused
check "bench: a library without the case" json 'all(r["against"] != "Abacus 1.0" for r in rows)' \
    "$wick" bench --quick --json --peer "sh $WICK_WORK/peer" matmul
check "bench: a picture that cannot be written fails" ends 1 "$wick" bench --quick --json --svg \
    "$WICK_WORK/no/such/folder.svg" fused
check "bench: ... before the first case" sh -c \
    "test ! -s '$WICK_WORK/stdout' && grep -q 'wick bench: cannot write --svg .*folder.svg: No such file' \
        '$WICK_WORK/stderr'"
check "bench: a folder as picture fails" ends 1 "$wick" bench --quick --svg "$WICK_WORK" fused
check "bench: a run that does not start" ends 1 "$wick" bench --quick --peer true --svg "$WICK_WORK/left.svg" fused
check "bench: ... leaves no picture" test ! -e "$WICK_WORK/left.svg"
check "bench: a silent peer fails" ends 1 "$wick" bench --quick --peer true fused
cat >"$WICK_WORK/peer" <<'EOF'
echo Abacus 1.0
while read -r name threads sizes; do
    echo "$name" >>"$WICK_WORK/asked"
    echo 30
done
EOF
check "bench: a GPU, and another library in alternation" json \
    '(any(r["case"].startswith("kernels of a step") and r["unit"] == "ms" for r in rows) and
        all(r["value"] > 0 and r["device"] == "opencl:0" for r in rows) and
        sum(r["against"] == "Abacus 1.0" for r in rows) == 14)' \
    "$wick" bench gpu --tiny --json --device opencl:0 --peer "sh $WICK_WORK/peer"
same_cases()
{
    grep -o '"gpu_[a-z_]*"' "$WICK_SOURCE/bench/pytorch.py" | tr -d '"' | sort >"$WICK_WORK/known"
    sort -u "$WICK_WORK/asked" | diff - "$WICK_WORK/known"
}
check "bench: bench/pytorch.py has its cases and no others" same_cases
rm -f "$WICK_WORK/asked"
check "bench: networks for images" json \
    '(sum(r["against"] == "Abacus 1.0" for r in rows) in (12, 24) and all(r["value"] > 0 for r in rows) and
        any(r["case"].startswith("inference of ResNet-18, 1 at ") and r["unit"] == "ms" for r in rows))' \
    "$wick" bench vision --tiny --json --peer "sh $WICK_WORK/peer"
known_cases()
{
    sort -u "$WICK_WORK/asked" | while read -r name; do
        grep -q "^ *\"$name\": " "$WICK_SOURCE/bench/pytorch.py" || { echo "unknown: $name"; return 1; }
    done
}
check "bench: ... which bench/pytorch.py has" known_cases
rm -f "$WICK_WORK/asked"
check "bench: recurrent networks" json \
    '(sum(r["against"] == "Abacus 1.0" for r in rows) in (8, 16) and all(r["value"] > 0 for r in rows) and
        any(r["case"].startswith("step of GRU, 1 x ") and r["unit"] == "ms" for r in rows))' \
    "$wick" bench recurrent --tiny --json --peer "sh $WICK_WORK/peer"
check "bench: ... which bench/pytorch.py has, too" known_cases
rm -f "$WICK_WORK/asked"
check "bench: language models" json \
    '(sum(r["against"] == "Abacus 1.0" for r in rows) in (14, 28) and all(r["value"] > 0 for r in rows) and
        sum(r["against"] == "reading the weights" for r in rows) in (4, 8))' \
    "$wick" bench language --tiny --json --peer "sh $WICK_WORK/peer"
check "bench: ... which bench/pytorch.py has as well" known_cases

# ---- replay: a flush of (x + 1) * 2, written after an injected error in its result (tests/engine/check.c)

flush=$WICK_SOURCE/tests/fixtures/flush/add_mul.flush
check "replay: all modes agree" ends 0 "$wick" replay "$flush"
check "replay: the reason of the file" says \
    "^recorded because of mul: WICK_CHECK: element \[1, 1\] is 77, and 10 " "$wick" \
    replay "$flush"
check "replay: the passes" says "^r2 f32 ADD r0 r1$" "$wick" replay "$flush"
check "replay: six modes besides the first" sh -c "'$wick' replay '$flush' | grep -c ', identical$' | grep -qx 6"
check "replay: no file" ends 2 "$wick" replay
check "replay: two files" ends 2 "$wick" replay "$flush" "$flush"
check "replay: a missing file" ends 1 "$wick" replay /nowhere/at.all
head -c 300 "$flush" >"$WICK_WORK/cut.flush"
check "replay: a truncated file" ends 1 "$wick" replay "$WICK_WORK/cut.flush"
check "replay: ... is reported" grep -q "cut.flush: invalid flush file: " "$WICK_WORK/stderr"
echo 'int main(void) { return 0; }' >"$WICK_WORK/other.c"
check "replay: another file" ends 1 "$wick" replay "$WICK_WORK/other.c"
check "replay: ... is reported" grep -q "other.c: invalid flush file: expected WICKFLSH" \
    "$WICK_WORK/stderr"
printf 'WICKFLSH' >"$WICK_WORK/short.flush"
check "replay: a file that is too short" ends 1 "$wick" replay "$WICK_WORK/short.flush"

# ---- the examples

# Stands in for the command: trains nothing, and creates the file of --save.
printf '#!/bin/sh\nwhile [ $# -gt 1 ]; do shift; [ "$1" != --save ] || touch "$2"; done\n' >"$WICK_WORK/wick"
chmod +x "$WICK_WORK/wick"
check "the demo runs" scripts/demo "$WICK_WORK/wick"
check "... and keeps the network that it saves" test -f "$WICK_WORK/demo/cpu.safetensors"
check "examples/use_gpu succeeds" ends 0 "$WICK_SOURCE/build/release/examples/use_gpu"
check "examples/use_gpu shows the chapter's values" says "20.0855, 109.1963, 445.2395" \
    "$WICK_SOURCE/build/release/examples/use_gpu"
multi_gpu=$WICK_SOURCE/build/release/examples/multi_gpu
check "examples/multi_gpu by hand and mirrored" says "^step 30: loss 1.990207 by hand, 1.990207 mirrored$" "$multi_gpu"
check "examples/multi_gpu on three devices" says "^weights are the same on all devices: yes$" \
    "$multi_gpu" opencl:0 opencl:1 cpu
check "examples/use_gpu on OpenCL" ends 0 env WICK_GPU=opencl "$WICK_SOURCE/build/release/examples/use_gpu"

# ---- programs of the book, for one epoch of 16 digits

book=$WICK_SOURCE/build/release/examples/book
check "examples/book/edge_kernel finds the kernel" says "^step 10  loss 0[.][0-9]*$" "$book/edge_kernel" cpu
for program in lenet alexnet vgg nin googlenet batch_norm_by_hand batch_norm resnet densenet regnet vit; do
    check "examples/book/$program trains" says "^[0-9.]* examples/sec on cpu$" "$book/$program" cpu 1 16 \
        "$WICK_WORK/$program.svg"
    check "examples/book/$program draws its curves" grep -q ">test accuracy</text>" "$WICK_WORK/$program.svg"
done
for program in rnn_by_hand rnn gru lstm lstm_deep lstm_bidirectional; do
    check "examples/book/$program trains" says "^epoch 1 perplexity [0-9.]*$" "$book/$program" cpu 1 \
        data/text/tinyshakespeare.txt "$WICK_WORK/$program.svg"
    check "examples/book/$program draws its curve" grep -q "perplexity</text>" "$WICK_WORK/$program.svg"
done
for program in optimisers descent autoregressive language_models seq2seq nadaraya_watson seq2seq_attention transformer \
    sentiment_lstm sentiment_cnn entailment_attention entailment_bert gaussian_process random_search gan dcgan; do
    check "examples/book/$program has a result" says "^result: .*[0-9]" "$book/$program" cpu 1 "$WICK_WORK/$program.svg"
    check "examples/book/$program draws its curves" grep -q "</text>" "$WICK_WORK/$program.svg"
done
for program in frozen_lake likelihood; do
    check "examples/book/$program has a result" says "^result: .*[0-9]" "$book/$program" cpu 1
done
check "examples/book: an absent device fails" ends 1 "$book/lenet" opencl:77 1 16
check "examples/book: no number of epochs" ends 2 "$book/lenet" cpu many
