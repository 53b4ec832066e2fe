/* SPDX-License-Identifier: Apache-2.0 */
/* Implements epilogues.h. */
#include "epilogues.h"

#include <stdlib.h>

#include "ir/build.h"
#include "group_case.h"
#include "group_reference.h"

/* ---- memory ------------------------------------------------------------------------------------------------------ */

enum { MARGIN = 16, TABLE = 5 };

/* Allocates an operand and fills it with integers in [-most, most), or, if most is 0, with small integers (i64) or
 * eighths (floats). */
static int new_memory(epilogue_case *c, wk_dtype dtype, int64_t elements, int64_t most)
{
    const int m = c->memories++;
    c->memory[m].block = &c->memory[m];
    elements += 2 * MARGIN;
    c->bytes[m] = elements * (int64_t)wk_dtype_size(dtype);
    c->host[m] = calloc((size_t)elements, wk_dtype_size(dtype));
    for (int64_t k = 0; k < elements; k++) {
        const int64_t drawn = (int64_t)(group_case_random() % 1000);
        const double whole = (double)(most ? drawn % (2 * most) - most : drawn % 15 - (dtype > WK_BF16 ? 0 : 7));
        group_reference_put(dtype, c->host[m], k, dtype > WK_BF16 ? whole : whole / 8);
    }
    return m;
}

static int64_t reach_of(int ndim, const int64_t *shape, const int64_t *stride)
{
    int64_t reach = 1;
    for (int d = 0; d < ndim; d++) reach += (shape[d] - 1) * stride[d];
    return reach;
}

static void dense(int ndim, const int64_t *shape, bool turned, int64_t *stride)
{
    int64_t next = 1;
    for (int k = ndim - 1; k >= 0; k--) {
        const int d = turned && k >= ndim - 2 ? 2 * ndim - 3 - k : k;
        stride[d] = next;
        next *= shape[d];
    }
}

static wk__operand operand_in(epilogue_case *c, int memory, wk_dtype dtype, int ndim, const int64_t *stride)
{
    wk__operand operand = {.memory = &c->memory[memory], .offset = MARGIN, .dtype = (uint8_t)dtype};
    for (int d = 0; d < ndim; d++) operand.stride[d] = stride[d];
    return operand;
}

static wk__operand new_operand(epilogue_case *c, int ndim, const int64_t *shape, const int64_t *stride)
{
    return operand_in(c, new_memory(c, c->dtype, reach_of(ndim, shape, stride), 0), c->dtype, ndim, stride);
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

static void make_matmul(epilogue_case *c)
{
    static const struct {
        int nbatch;
        int64_t batch[2], m, n, k;
    } sizes[] = {[EPILOGUE_OF_SMALL] = {2, {2, 3}, 5, 7, 3},
                 [EPILOGUE_OF_BLOCKS] = {1, {2}, 70, 130, 37},
                 [EPILOGUE_OF_TRANSPOSED] = {0, {0}, 33, 40, 17},
                 [EPILOGUE_OF_DOT] = {0, {0}, 2, 3, 5000},
                 [EPILOGUE_OF_PARTS] = {0, {0}, 33, 40, 600}};
    wk__matmul p = {.nbatch = sizes[c->product].nbatch};
    const int rows = p.nbatch, columns = rows + 1, ndim = rows + 2;
    int64_t shape[4] = {sizes[c->product].batch[0], sizes[c->product].batch[1]}, stride[4];
    for (int d = 0; d < rows; d++) p.batch[d] = shape[d];
    p.m = shape[rows] = sizes[c->product].m;
    p.n = shape[columns] = sizes[c->product].n;
    p.k = sizes[c->product].k;
    dense(ndim, shape, c->product == EPILOGUE_OF_TRANSPOSED, stride);
    p.c = new_operand(c, ndim, shape, stride);
    shape[columns] = p.k;
    dense(ndim, shape, false, stride);
    p.a = new_operand(c, ndim, shape, stride);
    shape[rows] = p.k;
    shape[columns] = p.n;
    dense(ndim, shape, c->product == EPILOGUE_OF_TRANSPOSED, stride);
    if (rows > 0) stride[0] = 0;
    p.b = new_operand(c, ndim, shape, stride);
    wk__work_from_matmul(&p, &c->sum, &c->kernel, &c->work);
}

static bool is_convolution(epilogue_product product)
{
    return product == EPILOGUE_OF_CONVOLUTION || product > EPILOGUE_OF_PARTS;
}

/* C[n, o, t] = sum over k of w[o, k] x[n, t + k - 1] */
static void make_convolution(epilogue_case *c)
{
    enum { BATCH = 2, LENGTH = 17 };
    const int64_t out = c->product == EPILOGUE_OF_CONVOLUTION ? 3 : 9;
    const int64_t width = c->product == EPILOGUE_OF_CONVOLUTION         ? 3
                          : c->product == EPILOGUE_OF_CONVOLUTION_TILES ? 18
                                                                        : 530;
    const int64_t length = LENGTH + width - 3, shape[] = {BATCH, out, LENGTH}, result[] = {out * LENGTH, LENGTH, 1};
    const wk__operand y = new_operand(c, 3, shape, result);
    const wk__operand w = operand_in(c, new_memory(c, c->dtype, out * width, 0), c->dtype, 3, (int64_t[]){0, width, 0});
    const wk__operand x =
        operand_in(c, new_memory(c, c->dtype, BATCH * length, 0), c->dtype, 3, (int64_t[]){length, 0, 0});
    c->sum = (wk__contraction){
        .dtype = wk__accumulator_dtype((int)c->dtype), .nsummed = 1, .naffine = {0, 1}, .extent = {width}};
    c->sum.stride[0][0] = 1;
    c->sum.affine[1][0] = (wk__affine_index){
        .offset = -1, .divisor = 1, .extent = length, .stride = 1, .coefficient = {[2] = 1, [3] = 1}};
    c->kernel = (wk__work_args){.ndim = 3, .shape = {BATCH, out, LENGTH}, .operand = {y, w, x}, .contraction = &c->sum};
    c->kernel.operand[0].stored = true;
    c->work = (wk__work){.family = WK__CONTRACTION, .args = &c->kernel};
}

/* ---- epilogues --------------------------------------------------------------------------------------------------- */

/* Adds an operand of the epilogue with separate memory and these strides. */
static int add_operand(epilogue_case *c, wk_dtype dtype, const int64_t *stride, int64_t most)
{
    const wk__program *g = &c->tail;
    const int memory = new_memory(c, dtype, reach_of(g->ndim, g->shape, stride), most);
    return ir_operand(&c->tail, dtype, &c->memory[memory], MARGIN, stride);
}

static int add_dense(epilogue_case *c, wk_dtype dtype, bool turned)
{
    int64_t stride[WK__MAX_DIMS];
    dense(c->tail.ndim, c->tail.shape, turned, stride);
    return add_operand(c, dtype, stride, 0);
}

/* Loads an operand with one element per index of dimension d. */
static int load_line(epilogue_case *c, wk_dtype dtype, int d, int64_t most)
{
    int64_t stride[WK__MAX_DIMS] = {0};
    stride[d] = 1;
    return ir_load(&c->tail, add_operand(c, dtype, stride, most));
}

/* Stores r like an op: computed in the class, then rounded or wrapped to the dtype. */
static void store(epilogue_case *c, int operand, int r)
{
    wk__program *g = &c->tail;
    const wk_dtype dtype = (wk_dtype)g->operand[operand].dtype;
    if (g->ins[r].dtype != dtype || wk__compute_class(dtype) != dtype) r = ir_ins(g, WK__CAST, dtype, r, 0, 0);
    ir_store(g, operand, r);
}

static int compute(epilogue_case *c, wk__opcode code, int r, int s)
{
    return ir_ins(&c->tail, code, wk__compute_class(c->dtype), r, s, 0);
}

static int indexed(epilogue_case *c)
{
    wk__program *g = &c->tail;
    const int64_t no_strides[WK__MAX_DIMS] = {0};
    const int index = load_line(c, WK_I64, g->ndim - 1, TABLE);
    const int memory = new_memory(c, c->dtype, TABLE, 0);
    const int table = ir_operand(g, c->dtype, &c->memory[memory], MARGIN, no_strides);
    const int bound = g->nimms;
    g->imm[g->nimms++].i = TABLE;
    g->imm[g->nimms++].i = 1;
    return ir_ins(g, WK__LOADX, c->dtype, index, table, bound);
}

static void add_tail(epilogue_case *c)
{
    wk__program *g = &c->tail;
    const wk__operand *result = &c->kernel.operand[0];
    ir_space(g, c->kernel.ndim, c->kernel.shape, 0);
    const int last = g->ndim - 1, to = ir_operand(g, c->dtype, result->memory, MARGIN, result->stride);
    const int element = ir_load(g, to);
    int sum;
    switch (c->kind) {
    case EPILOGUE_RELU:
        sum = compute(c, WK__ADD, element, load_line(c, c->dtype, last, 0));
        store(c, add_dense(c, c->dtype, false),
              compute(c, WK__MAX, sum, ir_imm(g, wk__compute_class(c->dtype), (wk__imm){0})));
        break;
    case EPILOGUE_SEVERAL:
        sum = compute(c, WK__MUL, element, load_line(c, c->dtype, last - 1, 0));
        store(c, add_dense(c, c->dtype, true), sum);
        store(c, add_dense(c, c->dtype == WK_I16 ? WK_F32 : WK_I16, false), element);
        break;
    case EPILOGUE_IN_PLACE: {
        const int x = add_dense(c, c->dtype, false);
        store(c, x, compute(c, WK__ADD, ir_load(g, x), element));
        break;
    }
    case EPILOGUE_SHARED:
        sum = compute(c, WK__ADD, element, element);
        store(c, ir_operand(g, c->dtype, result->memory, MARGIN, result->stride), sum);
        break;
    case EPILOGUE_ITSELF: store(c, to, compute(c, WK__ADD, element, load_line(c, c->dtype, last, 0))); break;
    default:
        sum = compute(c, WK__ADD, element, indexed(c));
        sum = compute(c, WK__ADD, sum,
                      ir_ins(g, WK__CAST, wk__compute_class(c->dtype), ir_ins(g, WK__IOTA, WK_I64, 0, 0, 0), 0, 0));
        store(c, add_dense(c, c->dtype, false), sum);
        break;
    }
    c->kernel.elide_result = c->kind == EPILOGUE_RELU || c->kind == EPILOGUE_IN_PLACE || c->kind == EPILOGUE_SHARED;
    c->work.program = g;
}

epilogue_case *epilogue_case_new(epilogue_product product, epilogue_kind kind, wk_dtype dtype)
{
    if (is_convolution(product) && dtype == WK_BOOL) return NULL;
    epilogue_case *c = calloc(1, sizeof *c);
    c->product = product;
    c->kind = kind;
    c->dtype = dtype;
    if (is_convolution(product))
        make_convolution(c);
    else
        make_matmul(c);
    add_tail(c);
    return c;
}

wk_code epilogue_case_upload(epilogue_case *c, const wk__backend *backend, void *device, wk__fail *fail)
{
    wk_code code = WK_OK;
    for (int m = 0; m < c->memories && code == WK_OK; m++) {
        code = backend->block_alloc(device, c->bytes[m], &c->memory[m], fail);
        if (code == WK_OK) code = backend->upload(device, &c->memory[m], 0, c->host[m], c->bytes[m], fail);
    }
    return code;
}

wk_code epilogue_case_fetch(epilogue_case *c, const wk__backend *backend, void *device, char *got[EPILOGUE_MEMORIES],
                            wk__fail *fail)
{
    wk_code code = WK_OK;
    for (int m = 0; m < c->memories; m++) {
        got[m] = malloc((size_t)c->bytes[m]);
        if (code == WK_OK) code = backend->download(device, got[m], &c->memory[m], 0, c->bytes[m], fail);
        backend->block_free(device, &c->memory[m]);
    }
    return code;
}

void epilogue_case_free(epilogue_case *c)
{
    for (int m = 0; m < c->memories; m++) free(c->host[m]);
    free(c);
}
