#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Options are written by name, lists in parentheses: other forms are compile errors with texts from the headers.
# check_headers tests that the forms in tests/forms compile without a warning.
. "$WICK_SOURCE/tests/runner/check_functions.sh"

warnings="-Wall -Wextra -Wpedantic -Wshadow -Wfloat-equal -Werror -fsyntax-only"

body() # STATEMENT
{
    printf '#include <wick.h>\nvoid f(wk_tensor *x, wk_tensors *list, int n);\n'
    printf 'void f(wk_tensor *x, wk_tensors *list, int n)\n'
    printf '{\n    (void)x, (void)list, (void)n;\n    %s;\n}\n' "$1"
}

# The error of a call without option names, whatever the options of the compiler.
while read -r call; do
    body "$call" >"$WICK_WORK/call.c"
    for c in $(compilers gcc clang); do
        fails "$call, ${c##*/}" "options must be named" "$c" -std=c11 -w -Iinclude \
            -fsyntax-only "$WICK_WORK/call.c"
    done
done <<'END'
wk_eye(3, 4)
wk_eye(n, n)
wk_zeros((2), WK_F64)
wk_full((2), 1, WK_F64)
wk_randint(0, 1, (2), WK_F64)
wk_sum(x, 0)
wk_sum(x, 1, true)
wk_sum(x, (0), true)
wk_argmax(x, 0, true)
wk_gelu(x, x)
wk_layer_norm(wk_elu(x, 0.5), (2), NULL, NULL)
wk_mse_loss(x, x, WK_REDUCE_SUM)
wk_nn_linear(2, 3, false)
wk_nn_elu(0.5)
wk_nn_prelu(3)
wk_nn_layer_norm((2), 1e-6)
wk_optim_adam(list, 1e-3)
wk_backward(x, x)
wk_dist_all_reduce_(x, 1)
wk_dist_barrier(1)
wk_save(net, path, 1)
wk_image_read("a.png", 1)
wk_image_grid(x, 4)
wk_mirrored(net, devices, 2, true)
wk_nn_data_parallel(net, devices)
END
body "wk_argmax(x, .keepdim = true)" >"$WICK_WORK/call.c"
for c in $(compilers gcc clang); do
    fails "wk_argmax(x, .keepdim = true), ${c##*/}" "the dimension comes before the options" \
        "$c" -std=c11 -Iinclude -fsyntax-only "$WICK_WORK/call.c"
done

# A struct initialised without names: the type of the reserved member explains the mistake.
body "wk_tensor_options o = {sizeof o, WK_F64}; (void)wk_eye_at((wk_site){0}, 3, &o)" >"$WICK_WORK/struct.c"
for c in $(compilers gcc clang); do
    fails "a struct without names, ${c##*/}" "wk_options_are_written_by_name" \
        "$c" -std=c11 -Werror -Iinclude -fsyntax-only "$WICK_WORK/struct.c"
done
body "wk_tensor_options o = {sizeof o, WK_F64}; wk_eye_at(wk_site{}, 3, &o)" >"$WICK_WORK/struct.cpp"
for cxx in $(compilers g++ clang++); do
    fails "a struct without names, ${cxx##*/}" "wk_options_are_written_by_name\|wk_by_name" \
        "$cxx" -std=c++20 -Iinclude -fsyntax-only "$WICK_WORK/struct.cpp"
done

# The reserved member is the second of every struct of options, and each struct has its list of numbers.
head_and_numbers()
{
    cat include/wick/*.h >"$WICK_WORK/headers"
    for type in $(sed -n 's/^typedef struct \(wk_[a-z0-9_]*options\) {$/\1/p' "$WICK_WORK/headers"); do
        sed -n "/^typedef struct $type {/,/^}/p" "$WICK_WORK/headers" | sed -n '2,3p' | tr -s ' \n' ' ' |
            grep -q '^ size_t size; wk_by_name by_name;' || { echo "$type: size, by_name"; return 1; }
        [ "$type" = wk_call_options ] || grep -q "define ${type}_numbers_(" "$WICK_WORK/headers" ||
            { echo "$type: numbers"; return 1; }
    done
    [ "$(grep -c '^    wk_by_name by_name;' "$WICK_WORK/headers")" -ge 42 ]
}
check "structs of options begin in the same way" head_and_numbers

# The lists of numbers name the doubles of their structs and nothing else; a member with default 0 may be missing.
numbers_are_the_doubles()
{
    usual_is_0="wk_init_options.a wk_nan_to_num_options.nan wk_cross_entropy_options.label_smoothing"
    usual_is_0="$usual_is_0 wk_pad_options.value wk_margin_ranking_loss_options.margin"
    usual_is_0="$usual_is_0 wk_cosine_embedding_loss_options.margin wk_histc_options.min wk_histc_options.max"
    for type in $(sed -n 's/^typedef struct \(wk_[a-z0-9_]*options\) {$/\1/p' "$WICK_WORK/headers"); do
        [ "$type" = wk_call_options ] && continue
        doubles=$(sed -n "/^typedef struct $type {/,/^}/s/^    double \([^;]*\);.*/\1/p" "$WICK_WORK/headers" |
            tr -d ' ' | tr ',\n' '  ')
        numbers=$(printf '#include <wick.h>\n#define SAY(o, member) member\nMARK %s_numbers_(SAY, o)\n' "$type" |
            cc -std=c11 -E -P -Iinclude - | sed -n 's/^MARK//p')
        for number in $numbers; do
            case " $doubles " in *" $number "*) ;; *) echo "$type: $number is no double"; return 1 ;; esac
        done
        for double in $doubles; do
            case " $numbers $usual_is_0 " in *" $double "* | *" $type.$double "*) ;; *) echo "$type: $double";
                return 1 ;; esac
        done
    done
}
check "the lists of numbers are the doubles of the structs" numbers_are_the_doubles

# Padding at the end is declared as `reserved`: compilers do not set padding to 0, and an older library reads it as
# options.
ends_in_padding() # LINES IN FRONT
{
    { echo '#include <wick.h>' && printf '%s\n' "$1"; } >"$WICK_WORK/padded.c"
    gcc -std=c11 -Wpadded -Iinclude -fsyntax-only "$WICK_WORK/padded.c" 2>&1 | grep -A1 'padding struct size' |
        grep -E '} wk_[a-z_]*(options|kind);'
}
no_padding() { ! ends_in_padding ""; }
check "no struct of options ends in padding" no_padding
check "a struct with padding is found" ends_in_padding 'typedef struct { double x; char y; } wk_bad_options;'

# An explicit 0 that replaces the default is not a mistake: silent in every dialect, and after preprocessing.
body "wk_var(wk_elu(x, .alpha = 0), .correction = 0);
    if (n) wk_optim_adamw(list, .lr = 0, .weight_decay = n); else wk_eye(3, .dtype = WK_F64)" \
    >"$WICK_WORK/zero.c"
for c in $(compilers gcc clang); do
    for dialect in c11 gnu11 c17 gnu2x; do
        check "an explicit 0, $dialect, ${c##*/}" "$c" -std=$dialect $warnings -Iinclude "$WICK_WORK/zero.c"
    done
    "$c" -std=c11 -Iinclude -E "$WICK_WORK/zero.c" -o "$WICK_WORK/zero.i"
    check "an explicit 0, preprocessed, ${c##*/}" "$c" -std=c11 $warnings "$WICK_WORK/zero.i"
    body "int a[2] = {[0] = 1, [0] = n}; wk_elu(x, .alpha = 0); (void)a" >"$WICK_WORK/adopt.c"
    fails "the program's own overrides are still reported, ${c##*/}" "overrid\|overwritten" "$c" -std=c11 $warnings \
        -Iinclude "$WICK_WORK/adopt.c"
done

# Each call that accepts a list in parentheses accepts a WK_ARRAY instead, and tests/rules/lists.c makes that call.
# (wk_argmax takes one dimension, without parentheses.)
lists_of_any_length() # FILE
{
    cc -E -P -Iinclude include/wick.h | tr '\n;' ' \n' | tr -s ' ' |
        grep -E -e '(const int64_t|wk_tensor \*const) \*[a-z_0-9]+, int (count|ndim|inputs|[a-z]+_count)\b' \
            -e 'const int64_t \*stride\)' |
        sed -n 's/.* \*\{0,1\}\(wk_[a-z0-9_]*\)_at *(wk_site.*/\1/p' |
            sed 's/_[if]64$//; s/_on$//; s/_sized$//; s/_strided_n$/_strided/' | grep -v '^wk_arg' |
            sort -u >"$WICK_WORK/calls"
    tr -d '\n ' <"$1" >"$WICK_WORK/made"
    bad=0
    while read -r call; do
        grep -q "$call([^;]*WK_ARRAY(" "$WICK_WORK/made" || { echo "$call"; bad=1; }
    done <"$WICK_WORK/calls"
    [ "$(wc -l <"$WICK_WORK/calls")" -ge 46 ] && [ $bad = 0 ]
}
check "every list may be an array" lists_of_any_length tests/rules/lists.c
echo 'wk_zeros(WK_ARRAY(shape, 2))' >"$WICK_WORK/few.c"
fails "a list without an array is found" "wk_reshape" lists_of_any_length "$WICK_WORK/few.c"
