/* SPDX-License-Identifier: Apache-2.0 */
/* scatter_add: T[.., index, ..] += S[..] along one dimension, in index order. Threads share independent lines, so
 * results do not depend on the number of threads.
 *
 * All indices are checked before the first write: a bad one leaves the target unchanged. */
#include "along_dim.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "half.h"

enum { TARGET, INDEX, SOURCE };

typedef struct scatter {
    wk__dim_lines lines;
    char *target;
    const int64_t *index;
    const char *source;
    int64_t bound;
    void (*add)(const struct scatter *s, const wk__line_bundle *bundle);

    atomic_bool bad; /* an index is out of range */
} scatter;

static int64_t place_of(int64_t index, int64_t bound)
{
    return index < 0 ? index + bound : index;
}

#define KERNEL_BODY "kernel_scatter_add.inc"
#include "for_each_dtype.inc"

static void (*const add_of[WK_DTYPE_COUNT])(const scatter *, const wk__line_bundle *) = {
    [WK_F32] = add_f32, [WK_F64] = add_f64, [WK_F16] = add_f16, [WK_BF16] = add_bf16, [WK_I8] = add_i8,
    [WK_U8] = add_u8,   [WK_I16] = add_i16, [WK_I32] = add_i32, [WK_I64] = add_i64,   [WK_BOOL] = add_bool};

static void add_bundle(void *user, const wk__line_bundle *bundle, int64_t task)
{
    const scatter *s = user;
    (void)task;
    s->add(s, bundle);
}

/* Checks the indices of a bundle; lines that share indices are checked once. */
static void check_bundle(void *user, const wk__line_bundle *bundle, int64_t task)
{
    scatter *s = user;
    (void)task;
    const int64_t *first = s->index + bundle->at[INDEX];
    const int64_t different = bundle->across[INDEX] == 0 ? 1 : bundle->lines;
    bool bad = false;
    for (int64_t j = 0; j < different && !bad; j++)
        for (int64_t i = 0; i < s->lines.length; i++) {
            const int64_t index = first[j * bundle->across[INDEX] + i * s->lines.along[INDEX]];
            bad |= (index < -s->bound) | (index >= s->bound);
        }
    if (bad) atomic_store_explicit(&s->bad, true, memory_order_relaxed);
}

/* Returns the first bad index in row-major order, so that the error does not depend on strides and threads. */
static int64_t first_bad(const scatter *s, const wk__work_args *kernel)
{
    const int64_t *stride = kernel->operand[INDEX].stride;
    int64_t at[WK__MAX_DIMS] = {0};
    const int64_t *index = s->index;
    while (*index >= -s->bound && *index < s->bound)
        for (int d = kernel->ndim; d-- > 0;) {
            index += stride[d];
            if (++at[d] < kernel->shape[d]) break;
            index -= at[d] * stride[d];
            at[d] = 0;
        }
    return *index;
}

wk_code wk__cpu_scatter_add(const wk__work *work, wk__fail *fail)
{
    const wk__work_args *kernel = work->args;
    scatter s = {.target = wk__operand_data(&kernel->operand[TARGET]),
                 .index = (const int64_t *)(const void *)wk__operand_data(&kernel->operand[INDEX]),
                 .source = wk__operand_data(&kernel->operand[SOURCE]),
                 .bound = kernel->bound,
                 .add = add_of[kernel->operand[TARGET].dtype]};
    wk__dim_lines_init(&s.lines, kernel, SOURCE);
    const int64_t tasks = wk__dim_lines_ntasks(&s.lines);
    wk__dim_lines_for_each(&s.lines, tasks, check_bundle, &s);
    if (atomic_load(&s.bad)) {
        const int64_t bad = first_bad(&s, kernel);
        wk__fail_set(fail, WK_ERR_INDEX, "index %lld is out of range (valid: %lld to %lld)", (long long)bad,
                     -(long long)s.bound, (long long)s.bound - 1);
        return wk__fail_set_index(fail, kernel->tag, bad, s.bound);
    }
    wk__dim_lines_for_each(&s.lines, tasks, add_bundle, &s);
    return WK_OK;
}
