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
    wk__scan_adjacent *adjacent; /* for lines that are adjacent in both operands; NULL: none */
    int64_t size;                /* bytes per element */
} scan;

#define KERNEL_BODY "kernel_scan.inc"
#include "for_each_dtype.inc"

static void (*const scan_of[WK_DTYPE_COUNT])(const scan *, const wk__line_bundle *) = {
    [WK_F32] = scan_f32, [WK_F64] = scan_f64, [WK_F16] = scan_f16, [WK_BF16] = scan_bf16, [WK_I8] = scan_i8,
    [WK_U8] = scan_u8,   [WK_I16] = scan_i16, [WK_I32] = scan_i32, [WK_I64] = scan_i64,   [WK_BOOL] = scan_bool};

/* Scans the first lines of a bundle by the kernel for adjacent lines, if there is one, and returns their number. */
static int64_t scan_adjacent(const scan *s, const wk__line_bundle *bundle)
{
    if (!s->adjacent || bundle->across[OUT] != 1 || bundle->across[IN] != 1) return 0;
    return s->adjacent(&(wk__scan_lines){.out = s->out + bundle->at[OUT] * s->size,
                                         .in = s->in + bundle->at[IN] * s->size,
                                         .out_step = s->lines.along[OUT] * s->size,
                                         .in_step = s->lines.along[IN] * s->size,
                                         .length = s->lines.length,
                                         .lines = bundle->lines,
                                         .product = s->product});
}

static void scan_bundle(void *user, const wk__line_bundle *bundle, int64_t task)
{
    const scan *s = user;
    (void)task;
    wk__line_bundle rest = *bundle;
    const int64_t done = scan_adjacent(s, bundle);
    rest.lines -= done;
    for (int k = 0; k < 2; k++) rest.at[k] += done;
    s->run(s, &rest);
}

wk_code wk__cpu_scan(const wk__work *work, wk__fail *fail)
{
    const wk__work_args *kernel = work->args;
    (void)fail;
    scan s = {.out = wk__operand_data(&kernel->operand[OUT]),
              .in = wk__operand_data(&kernel->operand[IN]),
              .product = kernel->mode == 1,
              .run = scan_of[kernel->operand[OUT].dtype],
              .size = (int64_t)wk_dtype_size((wk_dtype)kernel->operand[OUT].dtype)};
    wk__dim_lines_init(&s.lines, kernel, IN);
    /* Lines whose steps are multiples of 4 KB collide in the caches: for f32, wider kernels are slower there. */
    const bool collide = s.size == 4 && s.lines.along[IN] * s.size % 4096 == 0;
    if (!collide) s.adjacent = wk__cpu_isa_current()->scan[kernel->operand[OUT].dtype];
    wk__dim_lines_for_each(&s.lines, wk__dim_lines_ntasks(&s.lines), scan_bundle, &s);
    return WK_OK;
}
