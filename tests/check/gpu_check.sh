#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests scripts/gpu-check, which is for machines with a GPU and few other programs: its short list, on the stand-in for
# NVIDIA's driver. NVRTC is not available when it runs, so the archive must have every kernel.
. "$WICK_SOURCE/tests/runner/check_functions.sh"

release=$WICK_SOURCE/build/release
folder=$WICK_WORK/pack
nvrtc=${STANDIN_NVRTC:-}
if [ -z "$nvrtc" ] || [ ! -e "$release/standin/libcuda.so.1" ]; then
    echo "skip gpu-check: NVRTC (scripts/setup cuda) or the stand-in of build/release is missing"
    exit 0
fi
unset STANDIN_NVRTC WICK_CACHE_DIR
run()
{
    (cd "$WICK_WORK" && STANDIN_DEVICES=1 OCL_ICD_VENDORS=/nonexistent GPU_CHECK_NVRTC=none WICK_CUDA_PATH=stand-in \
        "$folder/gpu-check" run --out table)
}
ln -s "$release/standin" "$WICK_WORK/stand-in"
says() { grep -q -e "$1" "$WICK_WORK/table"; }

mkdir "$WICK_WORK/own" && touch "$WICK_WORK/own/file"
fails "another folder is refused" "none of gpu-check's" \
    env STANDIN_NVRTC="$nvrtc" scripts/gpu-check pack --short "$WICK_WORK/own"
check "... and not emptied" test -e "$WICK_WORK/own/file"
check "a folder is packed" env STANDIN_NVRTC="$nvrtc" scripts/gpu-check pack --short "$folder"
check "the packed tests run" run
check "the table says that no GPU took part" says '^STAND-IN: no GPU took part'
check "the chapter ran on cuda:0" says '^lesson  *1  *0 '
check "a program for two devices ran with one" says '^ops_devices  *[1-9][0-9]*  *0  *0 '
check "no kernel was missing from the archive" says '^kernels that were not in the archive: 0'

# The checks above can fail: without the archive's kernels, without time, and with a failing part.
chmod u+w "$folder/kernels.tar.gz"
cp "$folder/kernels.tar.gz" "$WICK_WORK/kernels.tar.gz"
mkdir "$WICK_WORK/empty" && touch "$WICK_WORK/empty/nothing"
tar -czf "$folder/kernels.tar.gz" -C "$WICK_WORK/empty" nothing
fails "a kernel missing in the archive fails its part" '[1-9] failed' run
check "... and is named" says 'not in the archive, and there is no NVRTC'
cp "$WICK_WORK/kernels.tar.gz" "$folder/kernels.tar.gz"
printf '#!/bin/sh\nsleep 1000\n' >"$folder/bin/lesson"
hangs() { GPU_CHECK_SECONDS_EACH=5 run; }
fails "a part that hangs is stopped" '[1-9] failed' hangs
check "... and is listed as stopped" says 'lesson .*stopped after 5 seconds'
late() { GPU_CHECK_SECONDS=1 run; }
check "parts after the deadline are skipped" late
check "... and are listed as skipped" says 'not run: the time is over'
