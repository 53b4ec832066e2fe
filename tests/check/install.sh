#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An installed copy works through pkg-config, shared and static, and through CMake, wherever it was moved to.
. "$WICK_SOURCE/tests/runner/check_functions.sh"

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

through_cmake() # FROM, OPTIONS...
{
    build=$WICK_WORK/$1
    cmake -S tests/install -B "$build" -DWICK_FROM="$@" && cmake --build "$build" -j 2 --target consumer \
        consumer_static &&
        "$build/consumer" "$version" && "$build/consumer_static" "$version"
}

# Only configured: FetchContent also ends in add_subdirectory, and is built.
in_a_folder()
{
    cmake -S tests/install -B "$WICK_WORK/folder" -DWICK_FROM=folder -DWICK_SOURCE="$WICK_SOURCE" -DWICK_INSTALL=ON \
        -DCMAKE_UNITY_BUILD=ON -DCMAKE_C_FLAGS=-ffast-math
}

for compiler in $(compilers gcc clang); do
    check "pkg-config, shared, ${compiler##*/}" through_pkg_config "$compiler"
    check "pkg-config, static, ${compiler##*/}" through_pkg_config "$compiler" static
done
with_a_space()
{
    make -n install PREFIX="/with a space" | grep -q -- '--prefix "/with a space"' || return 1
    mkdir -p "$WICK_WORK/with a space"
        cp -R "$prefix/." "$WICK_WORK/with a space" || return 1
    PKG_CONFIG_PATH="$WICK_WORK/with a space${libraries#"$prefix"}/pkgconfig"
    eval "set -- $(pkg-config --cflags --libs wick)"
    cc -std=c11 -o "$WICK_WORK/consumer" tests/install/consumer.c "$@" && "$WICK_WORK/consumer" "$version"
}
check "a prefix with a space" with_a_space
export PKG_CONFIG_PATH="$libraries/pkgconfig"
check "find_package(wick)" through_cmake package -DCMAKE_PREFIX_PATH="$prefix"
check "add_subdirectory(wick)" in_a_folder
check "FetchContent" through_cmake fetched -DWICK_SOURCE="$WICK_SOURCE" -DCMAKE_BUILD_TYPE=Unoptimised
[ -e "$prefix/bin/wick" ] && check "the installed command starts" env -u LD_LIBRARY_PATH "$prefix/bin/wick" --help

small() # LIBRARY
{
    strip -o "$WICK_WORK/stripped.so" "$1" && size=$(wc -c <"$WICK_WORK/stripped.so") && echo "$size bytes" &&
        [ "$size" -lt 5242880 ]
}
check "libwick.so is under 5 MiB when stripped" small "$libraries/libwick.so"
