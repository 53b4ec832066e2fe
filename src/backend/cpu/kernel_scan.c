/* SPDX-License-Identifier: Apache-2.0 */
/* scan: running sum or product along one dimension, one after the other in the class of the dtype; each result is
 * narrowed by itself. A single line is one thread's work: its order is its meaning. */
#include "kernels.h"

#include "half.h"

enum { OUT, IN };

typedef struct scan {
    wk__lines lines;
    char *out;
    const char *in;
    bool product;
    void (*run)(const struct scan *s, const wk__bundle *bundle);
} scan;

#define KERNEL_BODY "kernel_scan.inc"
#include "kernel_types.inc"

static void (*const scan_of[WK_DTYPE_COUNT])(const scan *, const wk__bundle *) = {
    [WK_F32] = scan_f32, [WK_F64] = scan_f64, [WK_F16] = scan_f16, [WK_BF16] = scan_bf16, [WK_I8] = scan_i8,
    [WK_U8] = scan_u8,   [WK_I16] = scan_i16, [WK_I32] = scan_i32, [WK_I64] = scan_i64,   [WK_BOOL] = scan_bool};

static void scan_bundle(void *user, const wk__bundle *bundle, int64_t task)
{
    const scan *s = user;
    (void)task;
    s->run(s, bundle);
}

wk_code wk__cpu_scan(const wk__work *work, wk__fail *fail)
{
    const wk__kernel *kernel = work->kernel;
    (void)fail;
    scan s = {.out = wk__operand_data(&kernel->operand[OUT]),
              .in = wk__operand_data(&kernel->operand[IN]),
              .product = kernel->mode == 1,
              .run = scan_of[kernel->operand[OUT].dtype]};
    wk__lines_of(&s.lines, kernel, IN);
    wk__lines_work(&s.lines, wk__lines_tasks(&s.lines), scan_bundle, &s);
    return WK_OK;
}
