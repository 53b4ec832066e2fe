#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The rules of scripts/check_layers hold in this tree, and the check of each rule can fail: a small valid tree is broken
# in one place after another.
set -u
cd "$WICK_SOURCE" || exit 1
scripts/check_layers

tree=$WICK_WORK/tree
fresh()
{
    rm -rf "$tree"
    for folder in include/wick src/base src/ir src/backend/arena src/backend/cpu/vm src/backend/gpu/codegen \
        src/backend/opencl src/backend/cuda src/ops/pointwise src/ops/core src/io src/data cli; do
        mkdir -p "$tree/$folder"
    done
    echo '#include <stddef.h>' >"$tree/include/wick/core.h"
    cp src/ir/opcodes.def "$tree/src/ir"
    printf '#include "core.h"\n#include <wick/core.h>\n' >"$tree/include/wick/device.h"
    echo '#include <wick/core.h>' >"$tree/src/base/alloc.h"
    printf '#include "alloc.h"\nvoid f(void) { free(0); }\n' >"$tree/src/base/alloc.c"
    printf '#include "%s"\n' backend/gpu/codegen/codegen.h backend/arena/arena.h backend/backend.h base/alloc.h \
        >"$tree/src/backend/opencl/run.c"
    touch "$tree/src/backend/gpu/codegen/codegen.h" "$tree/src/backend/cpu/vm/vm.h" "$tree/src/io/file.h" \
        "$tree/src/backend/backend.h" "$tree/src/backend/arena/arena.h"
    printf '/* malloc(1) TODAY */\n// exit(1)\nint g(void) { h->free(x); wk__free(y); return %s; }\n' \
        'puts_ours("printf(\"%d\")")' \
        >"$tree/src/ops/pointwise/add.c"
    printf 'switch (c) {\ncase WK__LOAD: break;\ncase WK_F32: break;\n#define R(n) case WK__##n:\n}\n' \
        >"$tree/src/ir/dump.c"
    printf 'void wk_print(void) { fputs("1", stdout); }\n' >"$tree/src/ops/core/print.c"
    echo 'bool b = op == &wk__op_sub;' >"$tree/src/ops/pointwise/sub.c"
    echo 'const wk__op *op = &wk__op_sub; /* op == &wk__op_sub */' >"$tree/src/backend/gpu/codegen/codegen.c"
    printf '#include <wick.h>\nint main(void) { printf("1"); exit(1); }\n' >"$tree/cli/main.c"
    printf '#if defined(WK_CUDA)\n#endif\n' >"$tree/src/backend/cuda/open.c"
}

# breaks LAW FILE TEXT [WHAT]: with the text appended the file violates this rule and no other
breaks()
{
    what="a broken tree is found: $1, ${4:-$3}"
    fresh
    printf '%b\n' "$3" >>"$tree/$2"
    scripts/check_layers "$tree" >"$WICK_WORK/out"
    if [ "$(grep '^not ok' "$WICK_WORK/out")" = "not ok $1" ] && grep -q "^$2:[0-9]" "$WICK_WORK/out"; then
        echo "ok $what"
    else
        cat "$WICK_WORK/out"
        echo "not ok $what"
    fi
}

fresh
if scripts/check_layers "$tree" >"$WICK_WORK/out"; then
    echo "ok a valid tree passes"
else
    cat "$WICK_WORK/out"
    echo "not ok a valid tree passes"
fi

breaks layers src/base/alloc.h '#include "ir/ir.h"'
breaks layers src/ir/dump.c '#include "ops/pointwise/add.h"'
breaks layers src/data/set.c '#include "io/file.h"'
breaks layers src/backend/cpu/vm/vm.h '#include "backend/opencl/run.h"'
breaks layers src/backend/cpu/vm/vm.h '#include "../../../../cli/main.h"'
breaks layers src/ops/pointwise/add.c '# include <wick.h>'
breaks layers src/ops/pointwise/add.c '#include "elsewhere/a.h"'
breaks public include/wick/core.h '#include "../../src/base/alloc.h"'
breaks switch src/ir/dump.c 'switch (c) { case WK__ADD: break; }'
breaks switch src/ir/dump.c 'if (record->op == &wk__op_gelu) return;'
breaks switch cli/main.c 'bool b = &wk__op_gelu != op;'
breaks cuda src/ops/pointwise/add.c '#ifdef WK_CUDA'
breaks cuda src/backend/gpu/codegen/codegen.h '#elif defined(__CUDACC__)'
breaks calls src/ops/pointwise/add.c 'void *p = malloc(3);'
breaks calls src/base/alloc.h '    free (p);'
breaks calls src/ops/pointwise/add.c 'if (!p) abort();'
breaks calls src/ops/pointwise/add.c '/* so */ assert(p); /* there */'
breaks calls src/ops/pointwise/add.c '    printf("%d", 1);'
breaks calls src/ops/pointwise/add.c 'fputs("", stderr);'
breaks calls src/ops/pointwise/add.c 'fputs("", stdout);'
breaks calls src/base/alloc.c 'exit(1);'
breaks 'done' src/ops/pointwise/add.c '/* TODO: more */'
breaks length src/ops/pointwise/add.c "$(printf '%1100s' '' | sed 's/ /\\n/g')" "1,100 lines"
