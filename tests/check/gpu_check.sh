#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# scripts/gpu-check, which is for machines that have a GPU and little else: its short list, on the stand-in for NVIDIA's
# driver. NVRTC is not there when it runs, so every kernel has to be in the archive.
. "$WICK_SOURCE/tests/runner/check_functions.sh"

release=$WICK_SOURCE/build/release
folder=$WICK_WORK/pack
nvrtc=${STANDIN_NVRTC:-}
if [ -z "$nvrtc" ] || [ ! -e "$release/standin/libcuda.so.1" ]; then
    echo "skip gpu-check: there is no NVRTC (scripts/setup cuda), or no stand-in in build/release"
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
fails "no folder of somebody else's is taken" "none of gpu-check's" \
    env STANDIN_NVRTC="$nvrtc" scripts/gpu-check pack --short "$WICK_WORK/own"
check "... nor emptied" test -e "$WICK_WORK/own/file"
check "a folder is packed" env STANDIN_NVRTC="$nvrtc" scripts/gpu-check pack --short "$folder"
check "it runs" run
check "the table says that no GPU took part" says '^STAND-IN: no GPU took part'
check "the chapter ran on cuda:0" says '^lesson  *1  *0 '
check "a program for two devices ran where there is one" says '^ops_devices  *[1-9][0-9]*  *0  *0 '
check "no kernel was missing from the archive" says '^kernels that were not in the archive: 0'

# Nothing of this is true by itself: without the archive's kernels, without time, and where a part fails.
chmod u+w "$folder/kernels.tar.gz"
cp "$folder/kernels.tar.gz" "$WICK_WORK/kernels.tar.gz"
mkdir "$WICK_WORK/empty" && touch "$WICK_WORK/empty/nothing"
tar -czf "$folder/kernels.tar.gz" -C "$WICK_WORK/empty" nothing
fails "a kernel that is not in the archive fails its part" '[1-9] failed' run
check "and is named" says 'not in the archive, and there is no NVRTC'
cp "$WICK_WORK/kernels.tar.gz" "$folder/kernels.tar.gz"
printf '#!/bin/sh\nsleep 1000\n' >"$folder/bin/lesson"
hangs() { GPU_CHECK_SECONDS_EACH=5 run; }
fails "a part that hangs costs its own time" '[1-9] failed' hangs
check "and the table says so" says 'lesson .*stopped after 5 seconds'
late() { GPU_CHECK_SECONDS=1 run; }
check "what there is no time for is skipped" late
check "and the table says so, too" says 'not run: the time is over'
