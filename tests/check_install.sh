#!/bin/sh
# An installed copy serves programs through pkg-config, shared and static, and through CMake, wherever it was moved to.
. "$WICK_SOURCE/tests/runner/checks"

release=$WICK_SOURCE/build/release
prefix=$WICK_WORK/moved
check "installs with DESTDIR" env DESTDIR="$WICK_WORK/root" cmake --install "$release" --prefix /opt/wick
mv "$WICK_WORK/root/opt/wick" "$prefix"
libraries=$(dirname "$(find "$prefix" -name libwick.a)")
export PKG_CONFIG_PATH="$libraries/pkgconfig" LD_LIBRARY_PATH="$libraries"
version=$(pkg-config --modversion wick)

through_pkg_config() # COMPILER, HOW
{
    flags=$(pkg-config --cflags --libs ${2:+--static} wick) || return 1
    [ -n "${2:-}" ] && flags=$(echo "$flags" | sed 's/-lwick/-l:libwick.a/')
    "$1" -std=c11 -Wall -Wextra -Wpedantic -Werror -o "$WICK_WORK/consumer" tests/install/consumer.c $flags &&
        "$WICK_WORK/consumer" "$version"
}

through_cmake()
{
    cmake -S tests/install -B "$WICK_WORK/cmake" -DCMAKE_PREFIX_PATH="$prefix" && cmake --build "$WICK_WORK/cmake" &&
        "$WICK_WORK/cmake/consumer" "$version" && "$WICK_WORK/cmake/consumer_static" "$version"
}

for compiler in $(compilers gcc clang); do
    check "pkg-config, shared, ${compiler##*/}" through_pkg_config "$compiler"
    check "pkg-config, static, ${compiler##*/}" through_pkg_config "$compiler" static
done
check "find_package(wick)" through_cmake
[ -e "$prefix/bin/wick" ] && check "the installed command starts" env -u LD_LIBRARY_PATH "$prefix/bin/wick" --help

small() # LIBRARY
{
    strip -o "$WICK_WORK/stripped.so" "$1" && size=$(wc -c <"$WICK_WORK/stripped.so") && echo "$size bytes" &&
        [ "$size" -lt 3145728 ]
}
check "libwick.so is under 3 MB when stripped" small "$libraries/libwick.so"
