#!/bin/sh
# The library serves programs that load it while they run: an interpreter, plug-ins that were linked with it in either form.
. "$WICK_SOURCE/tests/runner/checks"

release=$WICK_SOURCE/build/release
host=$WICK_WORK/host
common="-std=c11 -Wall -Wextra -Werror -Iinclude"
# Five threads of the pool, also where there is one CPU.
export WICK_THREADS=6 LD_LIBRARY_PATH="$release"

plugin() # NAME, LIBRARIES...
{
    name=$1
    shift
    cc $common -D_GNU_SOURCE -fPIC -shared -Wl,-z,defs -o "$WICK_WORK/$name.so" tests/plugins/plugin.c "$@"
}

check "the host compiles" cc $common -D_GNU_SOURCE -pthread -o "$host" tests/plugins/host.c -ldl
check "a plug-in with libwick.so links" plugin shared -L"$release" -lwick
check "a plug-in with libwick.a inside links" plugin static -Wl,--exclude-libs,ALL "$release/libwick.a" -lz -ldl -lm -pthread
check "a plug-in with libwick.so, opened and closed 100 times" "$host" "$WICK_WORK/shared.so" 100
check "a plug-in with libwick.a inside, opened and closed 100 times" "$host" "$WICK_WORK/static.so" 100
if command -v python3 >/dev/null; then
    check "an interpreter loads libwick.so" python3 tests/plugins/load.py "$release/libwick.so"
    check "an interpreter loads a plug-in with libwick.a inside" python3 -c 'import ctypes, sys
assert ctypes.CDLL(sys.argv[1]).plugin_run() == 0' "$WICK_WORK/static.so"
else
    echo "skip an interpreter loads libwick.so"
fi

# What a program can load while it runs shares a few hundred bytes of thread-local storage with all others.
small_tls() # LIBRARY
{
    readelf -lW "$1" | awk '$1 == "TLS" { print "thread-local storage: " $6; size = $6 } END { exit size != "0x000008" }'
}
check "thread-local storage of libwick.so is a pointer" small_tls "$release/libwick.so"
cat >"$WICK_WORK/large.c" <<'END'
_Thread_local char room[6000];
char *large(void) { return room; }
END
cc -shared -fPIC -o "$WICK_WORK/large.so" "$WICK_WORK/large.c"
fails "larger thread-local storage is found" "0x001770" small_tls "$WICK_WORK/large.so"
