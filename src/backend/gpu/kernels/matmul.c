/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products: C[b.., i, j] = sum over l of A[b.., i, l] B[b.., l, j]; any strides, any dtype, accumulated in the
 * class.
 *
 *   tiled    work-groups compute tiles of C (matmul_tiled.c): if the device has local memory
 *   blocked  an item computes blocks of 8 x 16 of C in registers: if local memory is ordinary memory (CPUs)
 *   dot      a work-group computes one element: for few elements that are long sums, and for products of a vector and
 *            a matrix that is contiguous along the sum
 *   simple   an item computes one element: for small products */
#include "matmul.h"
#include "backend/gpu/lower.h"
#include "backend/gpu/codegen/codegen_epilogue.h"
#include "backend/gpu/codegen/device_source.h"
#include "tiles.h"

#include <string.h>

const char wk__gpu_matmul_names[] = "#define COUNT_M A(1)\n#define COUNT_N A(2)\n#define COUNT_K A(3)\n"
                                    "#define A_START A(4)\n#define A_ROW A(5)\n#define A_COLUMN A(6)\n"
                                    "#define B_START A(7)\n#define B_ROW A(8)\n#define B_COLUMN A(9)\n"
                                    "#define C_START A(10)\n#define C_ROW A(11)\n#define C_COLUMN A(12)\n";

/* clang-format off */ /* of device code */
const char wk__gpu_matmul_matrices[] = DEVICE_CODE(
    GM STORAGE *c = (GM STORAGE *)m0 + C_START;
    GM const STORAGE *a = (GM const STORAGE *)m1 + A_START;
    GM const STORAGE *b = (GM const STORAGE *)m2 + B_START;
    i64 rest = batch;
    for (int d = 5; d >= 0; d--) {
        const i64 at = rest % A(13 + d);
        rest /= A(13 + d);
        a += at * A(19 + d);
        b += at * A(25 + d);
        c += at * A(31 + d);
    });
_Static_assert(WK__GPU_MATMUL_BATCHES == 13 && WK__GPU_MATMUL_DIMS == 6 && WK__GPU_MATMUL_COUNT == 37,
               "the texts have these numbers");

static const char simple_head[] = DEVICE_CODE(
    const i64 item = A(0) + ITEM;
    const i64 i = item / COUNT_N % COUNT_M;
    const i64 j = item % COUNT_N;
    const i64 batch = item / COUNT_N / COUNT_M;
    if (item >= A(37)) return;);
static const char simple_sum[] = DEVICE_CODE(
    T value = 0;
    a += i * A_ROW;
    b += j * B_COLUMN;
    for (i64 l = 0; l < COUNT_K; l++) value = NAME(wk_add_product)(value, LOAD(a[l * A_COLUMN]), LOAD(b[l * B_ROW]));
    GM STORAGE *to = c + i * C_ROW + j * C_COLUMN;);

/* For CPUs, whose compilers don't vectorise such loops: uses OpenCL's vectors of 16, eight rows of which fit in
 * registers. The last block of a row or column of blocks is moved back to be complete; it computes the overlap again,
 * which only the adjacent block stores. */
static const char blocked_head[] = DEVICE_CODE(
    const i64 item = A(0) + ITEM;
    const i64 blocks_i = (COUNT_M + 7) / 8;
    const i64 blocks_j = (COUNT_N + 15) / 16;
    const i64 own_i = item % blocks_i * 8;
    const i64 own_j = item / blocks_i % blocks_j * 16;
    const i64 i0 = wk_min_i64(own_i, COUNT_M - 8);
    const i64 j0 = wk_min_i64(own_j, COUNT_N - 16);
    const i64 batch = item / blocks_i / blocks_j;
    if (item >= A(37)) return;);
static const char blocked_sum[] = DEVICE_CODE(
    T block[8 * 16];
    a += i0 * A_ROW;
    b += j0 * B_COLUMN;
    c += i0 * C_ROW + j0 * C_COLUMN;
    EACH_ROW(ROW_START)
    for (i64 l = 0; l < COUNT_K; l++) {
        ROW_WIDE columns;
        if (B_COLUMN == 1 && sizeof(STORAGE) == sizeof(T)) {
            columns = vload16(0, (GM const T *)(b + l * B_ROW));
        } else {
            for (int j = 0; j < 16; j++) block[j] = LOAD(b[l * B_ROW + j * B_COLUMN]);
            columns = vload16(0, block);
        }
        EACH_ROW(ROW_ADD)
    }
    EACH_ROW(ROW_END));
static const char blocked_element[] = DEVICE_CODE(
    const T value = block[(i - i0) * 16 + (j - j0)];
    GM STORAGE *to = c + (i - i0) * C_ROW + (j - j0) * C_COLUMN;);
/* Eight separate variables, because arrays would not be kept in registers. */
static const char blocked_names[] =
    "#define ROW_WIDE NAME(wide)\n"
    "#define EACH_ROW(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)\n"
    "#define ROW_START(i) ROW_WIDE sum##i = (ROW_WIDE)(0);\n"
    "#define ROW_ADD(i) sum##i = NAME(wk_add_products)(sum##i, LOAD(a[i * A_ROW + l * A_COLUMN]), columns);\n"
    "#define ROW_END(i) vstore16(sum##i, i, block);\n";
static const char blocked_loop[] = "for (i64 i = own_i; i < i0 + 8; i++)\nfor (i64 j = own_j; j < j0 + 16; j++) {\n";
static const char blocked_end[] =
    "}\n#undef ROW_WIDE\n#undef EACH_ROW\n#undef ROW_START\n#undef ROW_ADD\n#undef ROW_END\n";

static const char dot_head[] = DEVICE_CODE(
    SHARED(T, sums, LOCALS);
    const i64 group = A(0) + GROUP;
    const i64 i = group / COUNT_N % COUNT_M;
    const i64 j = group % COUNT_N;
    const i64 batch = group / COUNT_N / COUNT_M;);
static const char dot_sum[] = DEVICE_CODE(
    T sum = 0;
    a += i * A_ROW;
    b += j * B_COLUMN;
    for (i64 l = LOCAL; l < COUNT_K; l += LOCALS) {
        sum = NAME(wk_add_product)(sum, LOAD(a[l * A_COLUMN]), LOAD(b[l * B_ROW]));
    }
    COMBINE_GROUP(T, NAME(wk_plus), 0, sums, sum, value)
    GM STORAGE *to = c + i * C_ROW + j * C_COLUMN;);
static const char dot_one[] = "if (LOCAL == 0) {\n";

/* clang-format on */

static const char end[] = "}\n";
static const char *const simple_text[] = {
    wk__gpu_matmul_names, simple_head, wk__gpu_matmul_matrices, simple_sum, wk__gpu_mark_outer,
    wk__gpu_mark_result,  NULL};
static const char *const blocked_text[] = {
    wk__gpu_matmul_names, blocked_names,      blocked_head, wk__gpu_matmul_matrices,
    blocked_sum,          wk__gpu_mark_outer, blocked_loop, blocked_element,
    wk__gpu_mark_result,  blocked_end,        NULL};
static const char *const dot_text[] = {wk__gpu_matmul_names,
                                       dot_head,
                                       wk__gpu_matmul_matrices,
                                       dot_sum,
                                       dot_one,
                                       wk__gpu_mark_outer,
                                       wk__gpu_mark_result,
                                       end,
                                       NULL};
static const wk__gpu_epilogue_slot carrier = {.arguments = WK__GPU_MATMUL_ARGUMENTS,
                                              .inner_dims = 2,
                                              .outer = "batch",
                                              .position = "(batch * COUNT_M + i) * COUNT_N + j"};
static const wk__gpu_template simple = {.name = "matmul", .text = simple_text, .epilogue_slot = &carrier};
static const wk__gpu_template blocked = {
    .name = "matmul_blocked", .text = blocked_text, .needs = WK__GPU_NEEDS_WIDE, .epilogue_slot = &carrier};
static const wk__gpu_template dot = {.name = "matmul_dot", .text = dot_text, .epilogue_slot = &carrier};

int64_t wk__gpu_fill_matmul(const wk__matmul *product, int64_t *argument)
{
    const wk__operand *operand[3] = {&product->a, &product->b, &product->c};
    int64_t batches = 1;
    argument[0] = 0;
    argument[WK__GPU_MATMUL_M] = product->m;
    argument[WK__GPU_MATMUL_N] = product->n;
    argument[WK__GPU_MATMUL_K] = product->k;
    for (int k = 0; k < 3; k++) {
        const int64_t *stride = operand[k]->stride;
        argument[WK__GPU_MATMUL_OPERANDS + 3 * k] = wk__gpu_first_element(operand[k]);
        argument[WK__GPU_MATMUL_OPERANDS + 3 * k + 1] = stride[product->nbatch];
        argument[WK__GPU_MATMUL_OPERANDS + 3 * k + 2] = stride[product->nbatch + 1];
        for (int d = 0; d < WK__GPU_MATMUL_DIMS; d++)
            argument[WK__GPU_MATMUL_BATCHES + (k + 1) * WK__GPU_MATMUL_DIMS + d] = d < product->nbatch ? stride[d] : 0;
    }
    for (int d = 0; d < WK__GPU_MATMUL_DIMS; d++) {
        argument[WK__GPU_MATMUL_BATCHES + d] = d < product->nbatch ? product->batch[d] : 1;
        batches *= argument[WK__GPU_MATMUL_BATCHES + d];
    }
    return batches;
}

/* Returns true for a vector and a matrix that is contiguous along the sum: with one line per item, items would not read
 * adjacent elements. */
static bool is_gemv_along_k(const wk__gpu_target *target, const wk__matmul *product)
{
    const int rows = product->nbatch, columns = rows + 1;
    if (!target->local_memory || product->k < 1024) return false;
    return (product->m == 1 && product->b.stride[rows] == 1) || (product->n == 1 && product->a.stride[columns] == 1);
}

wk_code wk__gpu_lower_matmul(const wk__gpu_target *target, const wk__matmul *product, const wk__work *work,
                             wk__gpu_launch_fn *emit, void *user, wk__fail *fail)
{
    wk__gpu_launch launch = {.spec = {.dtype = product->c.dtype, .nmemory = 3, .narguments = WK__GPU_MATMUL_ARGUMENTS},
                             .writes = true};
    int64_t batches = wk__gpu_fill_matmul(product, launch.argument), m = product->m, n = product->n;
    launch.block[0] = product->c.memory->block;
    launch.block[1] = product->a.memory->block;
    launch.block[2] = product->b.memory->block;
    launch.count = batches * m * n;
    if (launch.count == 0) return WK_OK;
    if (wk__gpu_can_tile(target, (wk_dtype)product->c.dtype, m, n, product->k))
        return wk__gpu_lower_matmul_tiles(target, product, work, batches, &launch, emit, user, fail);
    if (m >= 8 && n >= 16 && !target->local_memory) {
        launch.spec.source_template = &blocked;
        launch.count = batches * ((m + 7) / 8) * ((n + 15) / 16);
    } else if ((launch.count <= 1024 && product->k >= 4096) || is_gemv_along_k(target, product)) {
        launch.spec.source_template = &dot;
    } else {
        launch.spec.source_template = &simple;
    }
    launch.argument[WK__GPU_MATMUL_COUNT] = launch.count;
    launch.spec.per_group = launch.spec.source_template == &dot;
    wk__program tail;
    wk__gpu_add_epilogue(work, &tail, &launch);
    return emit(user, &launch, fail);
}
