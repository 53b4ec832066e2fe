#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# libwick.so exports public names only, with the version of their first release; every internal name has a prefix.
. "$WICK_SOURCE/tests/runner/check_functions.sh"

# make check has no release build: it tests the debug build's libraries.
release=$WICK_SOURCE/build/release
[ "${WICK_TEST_TIER:-all}" = check ] && release=$WICK_BUILD

only_public() # LIBRARY
{
    nm -D --defined-only "$1" | awk '
        $3 != "WICK_0.1" && $3 !~ /^wk_[a-z0-9_]*@@WICK_0[.]1$/ || $3 ~ /^wk__/ { print "shows " $3; bad = 1 }
        $3 ~ /^wk_/ { n++ }
        END { if (n == 0) print "shows nothing"; exit bad || n == 0 }'
}

only_prefixed() # LIBRARY.a
{
    nm -g --defined-only "$1" | awk 'NF == 3 && $3 !~ /^wk_/ { print "defines " $3; bad = 1 }
        NF == 3 { n++ }
        END { exit bad || n == 0 }'
}

# Fails if a name is declared in a public header and not exported, or exported and not declared.
same_as_headers() # LIBRARY
{
    nm -D --defined-only "$1" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | sort >"$WICK_WORK/exported"
    for header in include/wick.h include/wick/*.h; do
        [ -e "$header" ] && echo "#include \"$header\""
    done | cc -E -P -I. -Iinclude - | tr '\n;' ' \n' | awk '
        /visibility\("default"\)/ {
            sub(/.*visibility\("default"\)/, "")
            if (match($0, /wk_[a-z0-9_]+ *\(/)) print substr($0, RSTART, RLENGTH - 1)
        }' | sort -u >"$WICK_WORK/declared"
    diff "$WICK_WORK/declared" "$WICK_WORK/exported"
}

# Fails if an exported name does not occur as a word in a file of `folder`, so that a search for it finds nothing.
written_out() # LIBRARY FOLDER
{
    nm -D --defined-only "$1" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | sort >"$WICK_WORK/exported"
    find "$2" -name '*.[ch]' -exec cat {} + | grep -o '[A-Za-z_][A-Za-z_0-9]*' | sort -u >"$WICK_WORK/words"
    missing=$(comm -23 "$WICK_WORK/exported" "$WICK_WORK/words")
    [ -z "$missing" ] || { echo "nowhere in $2:" $missing; return 1; }
}

# A folder calls folders below it, like its includes (scripts/check_layers), also through addresses of functions: an
# object names each symbol that it calls or has the address of. ops/core is below the other folders of ops. The only
# exception is the table of ops: its rows, and the entries and parameters of ops in them.
no_calls_upwards() # OBJECT..., in folders named like those of src
{
    nm -gA "$@" | awk '
        BEGIN {
            split("base ir backend tensor engine autograd core ops nn optim parallel checkpoint", room)
            for (k in room) floor_of[room[k]] = k + 0
            floor_of["data"] = floor_of["io"] = floor_of["optim"]
            floor_of["distributed"] = floor_of["report"] = floor_of["text"] = floor_of["parallel"]
        }
        function is_exempt(type, symbol)
        {
            return type ~ /[DRB]/ && symbol ~ /^wk__(op|parameters)_/ || symbol ~ /^wk__invoke_/
        }
        {
            n = split($1, folder, "/")
            for (own = ""; n > 0 && own == ""; n--) if (folder[n] in floor_of) own = folder[n]
            if ($(NF - 1) == "U") used[own, $NF] = own
            else if (!is_exempt($(NF - 1), $NF)) home[$NF] = own
        }
        END {
            for (use in used) {
                split(use, part, SUBSEP)
                if (!(part[2] in home) || home[part[2]] == used[use]) continue
                if (floor_of[home[part[2]]] < floor_of[used[use]]) continue
                print used[use] " uses " part[2] ", which is in " home[part[2]]
                bad = 1
            }
            for (symbol in home) seen++
            exit bad || seen == 0
        }'
}

# libwick_test.so calls its own functions, so one of the same name in a test program would replace it only in the
# program's own calls. A program that replaces functions links the library statically.
replaces_nothing() # LIBRARY PROGRAM...
{
    nm -D --defined-only "$1" | awk '{ print $3 }' | sort >"$WICK_WORK/shared"
    [ -s "$WICK_WORK/shared" ] || return 1
    shift
    for program; do
        readelf -d "$program" | grep -q 'NEEDED.*\[libwick_test.so\]' || continue
        nm -g --defined-only "$program" | awk -v program="${program##*/}" '{ print $3, program " defines " $3 }'
    done | sort | join "$WICK_WORK/shared" - >"$WICK_WORK/replaced"
    cat "$WICK_WORK/replaced"
    [ ! -s "$WICK_WORK/replaced" ]
}

check "libwick.so exports only wk_*" only_public "$release/libwick.so"
check "every name in libwick.a begins wk_" only_prefixed "$release/libwick.a"
check "libwick.so exports what the headers declare" same_as_headers "$release/libwick.so"
check "each exported name is written out in src" written_out "$release/libwick.so" src
check "each exported name is written out in a header" written_out "$release/libwick.so" include
# Objects of removed files may still exist.
objects=$(for source in $(find src -name '*.c'); do
    ls "$WICK_BUILD/CMakeFiles/wick_objects.dir/$source.o" 2>/dev/null
done)
# shellcheck disable=SC2086
check "no folder calls one above it" no_calls_upwards $objects
check "no test program replaces a function of the library" replaces_nothing "$WICK_BUILD/libwick_test.so" \
    $(find "$WICK_BUILD/tests" -maxdepth 1 -type f -perm -100)
check "libwick.so is libwick.so.0" sh -c "readelf -d '$release/libwick.so' | grep -q 'SONAME.*\[libwick.so.0\]'"

# The checks can fail.
cat >"$WICK_WORK/bad.c" <<'END'
int stray(void) { return 1; }
int wk__nested_call(void) { return 1; }
END
cc -shared -fPIC -o "$WICK_WORK/bad.so" "$WICK_WORK/bad.c"
cc -c -o "$WICK_WORK/bad.o" "$WICK_WORK/bad.c" && ar rc "$WICK_WORK/bad.a" "$WICK_WORK/bad.o"
fails "a stray name is found" "shows stray" only_public "$WICK_WORK/bad.so"
fails "an internal name is found" "shows wk__nested_call" only_public "$WICK_WORK/bad.so"
fails "a name without prefix is found" "defines stray" only_prefixed "$WICK_WORK/bad.a"

# object FOLDER TEXT: the object of a folder of the miniature tree
object()
{
    mkdir -p "$WICK_WORK/folders/$1"
    echo "$2" | cc -c -x c -o "$WICK_WORK/folders/$1/${1##*/}.o" -
}
folders()
{
    rm -rf "$WICK_WORK/folders"
    object ops 'int wk__op_above(void) { return 1; } const int wk__op_row = 1; int wk__invoke_row(void) { return 1; }'
    object io 'int wk__side(void) { return 1; }'
    object optim 'int wk__other(void) { return 1; }'
    object autograd 'extern const int wk__op_row; const int *wk__row(void) { return &wk__op_row; }'
    object ops/core 'int wk__invoke_row(void); int (*const wk__entry)(void) = wk__invoke_row;'
}
upwards()
{
    # shellcheck disable=SC2046
    no_calls_upwards $(find "$WICK_WORK/folders" -name '*.o')
}
folders
check "rows of ops are exempt" upwards
object base 'int wk__op_above(void); int wk__low(void) { return wk__op_above(); }'
fails "a call upwards is found" "base uses wk__op_above, which is in ops" upwards
folders
object base 'int wk__op_above(void); int (*const wk__low)(void) = wk__op_above;'
fails "an address of a function upwards is found" "base uses wk__op_above, which is in ops" upwards
folders
object ops/core 'int wk__op_above(void); int wk__low(void) { return wk__op_above(); }'
fails "a call from ops/core upwards is found" "core uses wk__op_above, which is in ops" upwards
folders
object optim 'int wk__side(void); int wk__other(void) { return wk__side(); }'
fails "a call to a folder beside is found" "optim uses wk__side, which is in io" upwards
