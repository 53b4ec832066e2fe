#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The public headers compile alone, twice and together, as strict C11 and as C++20; so do the call forms in tests/forms.
. "$WICK_SOURCE/tests/runner/check_functions.sh"

# Without the line that makes them system headers for gcc, which would suppress their warnings.
mkdir "$WICK_WORK/include" "$WICK_WORK/include/wick"
for header in $(cd include && find wick wick.h -name '*.h'); do
    grep -v '^#pragma GCC system_header' "include/$header" >"$WICK_WORK/include/$header"
done

warnings="-Wall -Wextra -Wpedantic -Werror -I$WICK_WORK/include -fsyntax-only"
headers=$(cd include && find wick wick.h -name '*.h' 2>/dev/null | sort)

for header in $headers; do
    printf '#include <%s>\n#include <%s>\nint wick_unit;\n' "$header" "$header" >"$WICK_WORK/alone.c"
    cp "$WICK_WORK/alone.c" "$WICK_WORK/alone.cpp"
    for c in $(compilers gcc clang); do
        check "$header alone, C11, ${c##*/}" "$c" -std=c11 $warnings "$WICK_WORK/alone.c"
    done
    for cxx in $(compilers g++ clang++); do
        check "$header alone, C++20, ${cxx##*/}" "$cxx" -std=c++20 $warnings "$WICK_WORK/alone.cpp"
    done
done

for header in $headers; do echo "#include <$header>"; done >"$WICK_WORK/together.c"
for header in $headers; do echo "$header"; done | sort -r | sed 's/.*/#include <&>/' >"$WICK_WORK/backwards.c"
for c in $(compilers gcc clang); do
    for form in "$WICK_WORK/together.c" "$WICK_WORK/backwards.c" tests/forms/*.c; do
        [ -e "$form" ] && check "${form##*/}, C11, ${c##*/}" "$c" -std=c11 $warnings "$form"
    done
done
for cxx in $(compilers g++ clang++); do
    for form in tests/forms/*.cpp; do
        [ -e "$form" ] && check "${form##*/}, C++20, ${cxx##*/}" "$cxx" -std=c++20 $warnings "$form"
    done
done

# Names of macros do not shadow those of the same macro in an operand. (gcc shows no warnings of system headers.)
cat >"$WICK_WORK/shadow.c" <<'END'
#include <wick.h>
void f(wk_tensor *x, wk_module *m);
void f(wk_tensor *x, wk_module *m)
{
    wk_print(wk_argmax(wk_argmax(x, ({ 1, 0; })), ({ 1, 0; })));
    wk_print(wk_sum(wk_sum(x, .keepdim = true), .keepdim = true));
    wk_print(wk_transpose(wk_transpose(x, ({ 1, 0; }), 1), ({ 1, 0; }), 1));
    wk_print(wk_forward(m, wk_forward(m, wk_get(wk_get(x, (0)), (WK_ALL)))));
}
END
for c in $(compilers clang); do
    check "nested calls do not shadow names, ${c##*/}" \
        "$c" -std=c11 -Wall -Wno-unused-value -Wshadow -Werror -Iinclude -fsyntax-only "$WICK_WORK/shadow.c"
done

# A guard lasts to the end of its block: alone after an if it has none, and the compiler reports that.
while read -r statement; do
    printf '#include <wick.h>\nvoid f(int n);\nvoid f(int n)\n{\n    (void)n;\n    %s\n}\n' "$statement" \
        >"$WICK_WORK/guard.c"
    for c in $(compilers gcc clang); do
        for dialect in c11 gnu11 gnu2x; do
            fails "$statement, $dialect, ${c##*/}" "expected expression" \
                "$c" -std=$dialect -w -Iinclude -fsyntax-only "$WICK_WORK/guard.c"
        done
    done
done <<'END'
if (n) WK_NO_GRAD;
if (n) n--; else WK_ENABLE_GRAD;
while (n--) WK_SCOPE;
for (; n; n--) WK_DEVICE(wk_cpu());
END

# ---- rule 31 of docs/contributing/invariants.md ------------------------------------------------------------------

# C++ programs use types, functions and constants; a macro with parameters only puts the call site before the arguments,
# or for a layer of an activation its name.
only_sites() # COMPILER
{
    echo '#include <wick.h>' | "$1" -x c++ -std=c++20 -Iinclude -dM -E - |
        grep -E '^#define (WK|wk)' >"$WICK_WORK/macros"
    site='\1_at\(WK_HERE(, ?(__VA_ARGS__|[a-z_]+|\(x\)))*\)'
    ! grep -vE "^#define (wk_[a-z0-9_]+)\([a-z0-9_., ]*\) (WK_NEW_[A-Z]+_\($site\)|$site)\$" "$WICK_WORK/macros" |
        grep -vE '^#define (wk_[a-z0-9_]+)\(\.\.\.\) WK_EXACT_(NEW_)?\(.*[0-9], ?\1, ?"[a-z_0-9, ]*", ?__VA_ARGS__\)$' |
        grep -vE '^#define wk_nn_([a-z0-9_]+)\(\) WK_NEW_MODULE_\(wk_nn_activation_at\(WK_HERE, "\1", NULL\)\)$' |
        grep -vE -e '^#define wk_nn_activation\(name\) WK_NEW_MODULE_\(wk_nn_activation_at\(WK_HERE, name, NULL\)\)$' \
            -e '^#define WK_(PLAIN|EXACT|EXACT_NEW)_\([a-z, ]*\.\.\.\) f ?## ?_at\(WK_HERE, ?__VA_ARGS__\)$' \
            -e '^#define WK_NEW_[A-Z]+_ *$' -e '^#define WK_[A-Z_]+(\([a-z, ]*\))? static_assert\(false, ' \
            -e '^#define WK_(HERE \(wk_site\{__FILE__, __LINE__\}\)|(RESULT_)?API .*)$' \
            -e '^#define WK_(EXPLICIT_ZERO [0-9.e-]+|VERSION_[A-Z]+ [0-9]+|WARN_UNUSED [01])$' \
            -e '^#define WK_(SAME|VALID|END) 0x[0-9a-f]+$'
}
for cxx in $(compilers g++ clang++); do check "in C++ macros are constants or add the call site, ${cxx##*/}" \
    only_sites "$cxx"; done

# The size of an expansion whose operand is the same expansion, N deep, minus that of the headers.
nested() # PATTERN N
{
    text=x
    for depth in $(seq "$2"); do text=$(printf '%s' "$1" | sed "s/@/$(printf '%s' "$text" | sed 's,[&/],\\&,g')/"); done
    printf '#include <wick.h>\nMARK\n%s\n' "$text" | cc -std=c11 -E -P -Iinclude - | sed '1,/^MARK$/d' | wc -c
}
linear() # PATTERN
{
    small=$(nested "$1" 4) large=$(nested "$1" 16)
    echo "4 deep $small bytes, 16 deep $large"
    [ "$large" -lt $((6 * small)) ]
}
while read -r pattern; do check "nesting is linear: $pattern" linear "$pattern"; done <<'END'
wk_add(@, 1)
wk_mul(2.5, @)
wk_sub_(@, y)
wk_exp(@)
wk_clamp(@, 0, 1)
wk_where(c, @, 0.5)
wk_masked_fill(y, c, @)
wk_lerp(y, @, 0.5)
wk_gelu(@, .approximate = WK_GELU_TANH)
wk_sum(@, (0), .keepdim = true)
wk_mean(@, .dtype = WK_F64)
wk_std(@, .correction = 0)
wk_argmax(@, 0)
wk_softmax(@, 1)
wk_reshape(@, (2, 3))
wk_flatten(@, 1)
wk_slice(@, 0, 1, 2)
wk_cat((@, y), 0)
wk_get(@, (0))
wk_get(y, (@, WK_ALL))
wk_einsum("i,i", (@, y))
wk_stack((y, @), 0)
wk_scatter(@, 0, i, y)
wk_scatter(y, 0, i, @)
wk_index_select(@, 0, i)
wk_matmul(@, y)
wk_addmm(@, y, y, .beta = 2)
wk_linear(@, w, NULL)
wk_layer_norm(@, (3), NULL, NULL)
wk_cross_entropy(@, y, .reduction = WK_REDUCE_SUM)
wk_full((2), wk_item(@))
wk_fill_(y, wk_item(@))
wk_zeros_like(@, .dtype = WK_F64)
wk_to(@, wk_cpu())
wk_clone(@)
wk_keep(@)
wk_print(@)
wk_detach(@)
wk_apply(kind, NULL, (@))
wk_forward(m, @)
wk_nn_sequential(@, m)
END
fails "a macro that expands its operand twice is found" "bytes" linear "wk_retain(@)"

# The results of wk_retain and wk_call must be used, whatever WK_WARN_UNUSED is; mistakes.sh tests the others.
check "warn_unused_result of wk_retain and wk_call" \
    test "$(cat include/wick/tensor.h include/wick/call.h | grep -c warn_unused_result)" = 2
printf '#include <wick.h>\nvoid f(wk_tensor *x);\nvoid f(wk_tensor *x) { wk_retain(x); }\n' >"$WICK_WORK/retain.c"
fails "a lost wk_retain is found" "warn_unused_result" gcc -std=c11 -Wall -Werror -Iinclude -c "$WICK_WORK/retain.c" \
    -o "$WICK_WORK/retain.o"

# Operands are never const, because a call may have to compute them. Only queries of properties accept const.
questions='ndim|size|stride|numel|dtype_of|device_of|is_contiguous|same_storage|describe|requires_grad|is_leaf'
operands() # HEADER
{
    ! cc -E -P -Iinclude "$1" | tr '\n;' ' \n' | grep -E 'wk_[a-z0-9_]+_at\(wk_site' |
        grep -vE "wk_($questions)_at" | grep -E 'const wk_tensor \*[^c]'
}
check "no const wk_tensor * among operands" operands include/wick.h

# Also with it.
for form in tests/forms/*.c; do
    for flags in '' -ftrack-macro-expansion=0; do
        for c in $(compilers gcc clang); do
            [ "${c##*/} $flags" = "clang -ftrack-macro-expansion=0" ] && continue
            check "${form##*/}, as it is, ${c##*/} $flags" "$c" -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude \
                -fsyntax-only $flags "$form"
        done
    done
done

echo 'int f(int unused) { int x; }' >"$WICK_WORK/bad.c"
fails "a warning is found" "unused" cc -std=c11 $warnings "$WICK_WORK/bad.c"
