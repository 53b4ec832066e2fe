#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The library works in programs that load it at run time: an interpreter, and plug-ins linked with either form of it.
. "$WICK_SOURCE/tests/runner/check_functions.sh"

release=$WICK_SOURCE/build/release
host=$WICK_WORK/host
common="-std=c11 -Wall -Wextra -Werror -Iinclude"
# Five threads in the pool, even with one CPU.
export WICK_THREADS=6 LD_LIBRARY_PATH="$release"

plugin() # NAME, LIBRARIES...
{
    name=$1
    shift
    cc $common -D_GNU_SOURCE -fPIC -shared -Wl,-z,defs -o "$WICK_WORK/$name.so" tests/plugins/plugin.c "$@"
}

check "the host compiles" cc $common -D_GNU_SOURCE -pthread -o "$host" tests/plugins/host.c -ldl
check "a plug-in with libwick.so links" plugin shared -L"$release" -lwick
check "a plug-in with libwick.a inside links" plugin static -Wl,--exclude-libs,ALL "$release/libwick.a" -lz -ldl -lm \
    -pthread
check "a plug-in with libwick.so, opened and closed 100 times" "$host" "$WICK_WORK/shared.so" 100
check "a plug-in with libwick.a inside, opened and closed 100 times" "$host" "$WICK_WORK/static.so" 100
if command -v python3 >/dev/null; then
    check "an interpreter loads libwick.so" python3 tests/plugins/load.py "$release/libwick.so"
    check "an interpreter loads a plug-in with libwick.a inside" python3 -c 'import ctypes, sys
assert ctypes.CDLL(sys.argv[1]).plugin_run() == 0' "$WICK_WORK/static.so"
else
    echo "skip an interpreter loads libwick.so"
fi

static_program()
{
    cc $common -static -o "$WICK_WORK/alone" tests/plugins/static.c "$release/libwick.a" -lz -ldl -lm -pthread &&
        "$WICK_WORK/alone"
}
if echo 'int main(void) { return 0; }' | cc -static -x c -o "$WICK_WORK/empty" - -lz -lm 2>/dev/null; then
    check "a program linked with -static computes, and reports why OpenCL is missing" static_program
else
    echo "skip a program linked with -static computes: static libz is missing"
fi

# The default stack of a thread with musl, and the minimum in include/wick/tensor.h.
small_stack() # THREADS, CPU
{
    env WICK_THREADS="$1" WICK_CPU="$2" "$WICK_WORK/stack" 128 "$WICK_WORK/net.safetensors"
}
check "the program for small stacks compiles" cc $common -D_GNU_SOURCE -pthread -o "$WICK_WORK/stack" \
    tests/plugins/stack.c \
    -L"$release" -lwick
for cpu in "" portable avx2; do
    check "a stack of 128 KB, 1 thread ${cpu:+($cpu)}" small_stack 1 "$cpu"
    check "a stack of 128 KB, 6 threads ${cpu:+($cpu)}" small_stack 6 "$cpu"
done

# PoCL calls abort() without /sys.
without_sys() { unshare -rm sh -c 'mount -t tmpfs none /sys && exec "$@"' sh "$@"; }
sandboxed()
{
    without_sys "$release/wick" devices >"$WICK_WORK/devices" || return 1
    cat "$WICK_WORK/devices"
    tr '\n' ' ' <"$WICK_WORK/devices" | grep -q -e "mount it (mount -t sysfs" -e "^Wick.*opencl:0"
}
if without_sys true 2>/dev/null; then
    check "without /sys the CPU works" sandboxed
else
    echo "skip without /sys the CPU works: private mounts are not allowed"
fi

# Libraries loaded at run time share a few hundred bytes of thread-local storage.
small_tls() # LIBRARY
{
    readelf -lW "$1" | awk \
        '$1 == "TLS" { print "thread-local storage: " $6; size = $6 } END { exit size != "0x000008" }'
}
check "thread-local storage of libwick.so is a pointer" small_tls "$release/libwick.so"
cat >"$WICK_WORK/large_values.c" <<'END'
_Thread_local char room[6000];
char *large(void) { return room; }
END
cc -shared -fPIC -o "$WICK_WORK/large.so" "$WICK_WORK/large_values.c"
fails "larger thread-local storage is found" "0x001770" small_tls "$WICK_WORK/large.so"
