/* SPDX-License-Identifier: Apache-2.0 */
/* scan: running sum or product along one dimension, sequentially in the compute class of the dtype, floats in double;
 * each result is narrowed separately. A single line runs on one thread, because its order defines the result. */
#include "along_dim.h"

#include "half.h"
#include "isa.h"

enum { OUT, IN };

typedef struct scan {
    wk__dim_lines lines;
    char *out;
    const char *in;
    bool product;
    void (*run)(const struct scan *s, const wk__line_bundle *bundle);
    wk__scan_adjacent *adjacent; /* for sums of f32 whose lines are adjacent in both operands; NULL: none */
} scan;

#define KERNEL_BODY "kernel_scan.inc"
#include "for_each_dtype.inc"

static void (*const scan_of[WK_DTYPE_COUNT])(const scan *, const wk__line_bundle *) = {
    [WK_F32] = scan_f32, [WK_F64] = scan_f64, [WK_F16] = scan_f16, [WK_BF16] = scan_bf16, [WK_I8] = scan_i8,
    [WK_U8] = scan_u8,   [WK_I16] = scan_i16, [WK_I32] = scan_i32, [WK_I64] = scan_i64,   [WK_BOOL] = scan_bool};

static void scan_bundle(void *user, const wk__line_bundle *bundle, int64_t task)
{
    const scan *s = user;
    (void)task;
    /* Lines whose steps are multiples of a page collide in the caches; wider kernels are slower there. */
    const bool collide = s->lines.along[IN] * (int64_t)sizeof(float) % 4096 == 0;
    if (!s->adjacent || collide || bundle->across[OUT] != 1 || bundle->across[IN] != 1) {
        s->run(s, bundle);
        return;
    }
    s->adjacent(&(wk__scan_lines){.out = s->out + bundle->at[OUT] * (int64_t)sizeof(float),
                                  .in = s->in + bundle->at[IN] * (int64_t)sizeof(float),
                                  .out_step = s->lines.along[OUT] * (int64_t)sizeof(float),
                                  .in_step = s->lines.along[IN] * (int64_t)sizeof(float),
                                  .length = s->lines.length,
                                  .lines = bundle->lines});
}

wk_code wk__cpu_scan(const wk__work *work, wk__fail *fail)
{
    const wk__work_args *kernel = work->args;
    (void)fail;
    scan s = {.out = wk__operand_data(&kernel->operand[OUT]),
              .in = wk__operand_data(&kernel->operand[IN]),
              .product = kernel->mode == 1,
              .run = scan_of[kernel->operand[OUT].dtype]};
    if (kernel->operand[OUT].dtype == WK_F32 && !s.product) s.adjacent = *wk__cpu_isa_current()->scan_f32;
    wk__dim_lines_init(&s.lines, kernel, IN);
    wk__dim_lines_for_each(&s.lines, wk__dim_lines_ntasks(&s.lines), scan_bundle, &s);
    return WK_OK;
}
