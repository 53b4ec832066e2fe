/* SPDX-License-Identifier: Apache-2.0 */
/* Contractions as matrix products. Indices are classified as
 *
 *     rows      result indices on which only A depends
 *     columns   those on which only B depends
 *     batches   the others
 *     steps     summed indices
 *
 * A and B are named so that columns are contiguous in C. If C has several row or column dimensions that are not equally
 * spaced, they are combined until they suffice for a macrotile. A factor with equally spaced lines and steps is read or
 * packed like a matrix; the other may be gathered while it is packed (im2col.h).
 *
 *     conv2d, C[n, o, y, x] = sum over c, u, v of w[o, c, u, v] x[n, c, y + u - 1, x + v - 1]
 *         A = w   rows o   steps (c, u, v): one stride of 1
 *         B = x   columns (y, x): gathered             batches n
 *
 * If faster, the other factor is read from padded copies (contraction_row_lanes.h, contraction_indirect.h, and
 * contraction_planes.h for depthwise convolutions), lanes run along the sum (contraction_k_lanes.h), or products are
 * computed first and then scattered (contraction_col2im.h).
 *
 * The result has the factors' dtype or the accumulator's. Other combinations (factors of two dtypes, other
 * accumulators) use the reference implementation. */
#include "contraction_col2im.h"
#include "contraction_k_lanes.h"
#include "contraction_indirect.h"
#include "contraction_planes.h"
#include "contraction_reference.h"
#include "contraction_row_lanes.h"
#include "backend/contraction_stride_split.h"
#include "backend/cpu/along_dim.h"
#include "matmul.h"

#include <string.h>

/* A factor's strides along all indices, and how it is gathered. */
typedef struct factor {
    int64_t stride[WK__MAX_INDICES];
    wk__im2col gather;
} factor;

typedef struct mapped {
    const wk__work_args *kernel;
    factor factor[WK__FACTORS];
    int64_t batch_stride[WK__FACTORS + 1][WK__MAX_DIMS]; /* of A, of B, of C */
    wk__im2col_indices c_rows, c_columns;
    wk__gemm_plan plan;
} mapped;

/* ---- factors ----------------------------------------------------------------------------------------------------- */

/* Returns true if a coordinate is always in range, so that it is equivalent to strides. */
static bool is_linear(const wk__work_args *kernel, const wk__affine_index *q)
{
    int64_t low, high;
    wk__affine_range(q, kernel->ndim, kernel->shape, kernel->contraction, &low, &high);
    return q->divisor == 1 && low >= 0 && high < q->extent;
}

static void analyze_factor(const wk__work_args *kernel, int number, factor *f)
{
    const wk__operand *operand = &kernel->operand[1 + number];
    const wk__contraction *sum = kernel->contraction;
    wk__im2col *g = &f->gather;
    char *host = operand->memory->host;
    g->size = (int64_t)wk_dtype_size((wk_dtype)operand->dtype);
    g->start = host ? host + operand->offset * g->size : NULL;
    memcpy(f->stride, operand->stride, sizeof *f->stride * (size_t)kernel->ndim);
    memcpy(f->stride + kernel->ndim, sum->stride[number], sizeof *f->stride * (size_t)sum->nsummed);
    for (int k = 0; k < sum->naffine[number]; k++) {
        const wk__affine_index *q = &sum->affine[number][k];
        if (!is_linear(kernel, q)) {
            g->coordinate[g->coordinates++] = *q;
            continue;
        }
        g->offset += q->offset * q->stride;
        for (int i = 0; i < kernel->ndim + sum->nsummed; i++)
            if (wk__index_extent(kernel, i) > 1) f->stride[i] += q->coefficient[i] * q->stride;
    }
}

static bool depends_on(const factor *f, int i)
{
    bool depends = f->stride[i] != 0;
    for (int k = 0; k < f->gather.coordinates; k++) depends = depends || f->gather.coordinate[k].coefficient[i] != 0;
    return depends;
}

static void add_index(const wk__work_args *kernel, const factor *f, wk__im2col_indices *list, int i)
{
    wk__im2col_index index = {.extent = wk__index_extent(kernel, i), .stride = f->stride[i]};
    for (int k = 0; k < f->gather.coordinates; k++) index.coefficient[k] = f->gather.coordinate[k].coefficient[i];
    wk__im2col_add_index(list, &index, f->gather.coordinates);
}

/* Ensures that each list has an innermost index. */
static void end_list(wk__im2col_indices *list)
{
    if (list->count == 0) list->index[list->count++] = (wk__im2col_index){.extent = 1};
}

/* ---- sides ------------------------------------------------------------------------------------------------------- */

/* Finds the dimensions of the result on which `with` depends and `without` does not, outermost first: those contiguous
 * in C from the smallest stride on, and further ones until there are enough elements. */
static void find_side(const mapped *m, const factor *with, const factor *without, wk__gemm_dims *side)
{
    const wk__work_args *kernel = m->kernel;
    const int64_t *step = kernel->operand[0].stride;
    int dim[WK__MAX_DIMS], count = 0;
    for (int d = 0; d < kernel->ndim; d++) {
        if (kernel->shape[d] == 1 || !depends_on(with, d) || depends_on(without, d)) continue;
        int to = count++;
        for (; to > 0 && step[dim[to - 1]] < step[d]; to--) dim[to] = dim[to - 1];
        dim[to] = d;
    }
    const int64_t enough = WK__GEMM_MACROTILE_BYTES / (int64_t)wk_dtype_size((wk_dtype)kernel->operand[0].dtype);
    int first = count;
    for (int64_t places = 1; first > 0; first--) {
        const bool as_one = first == count || step[dim[first - 1]] == step[dim[first]] * kernel->shape[dim[first]];
        if (!as_one && places >= enough) break;
        places *= kernel->shape[dim[first - 1]];
    }
    for (int k = first; k < count; k++) side->dim[side->count++] = (int8_t)dim[k];
}

static int64_t step_of(const mapped *m, const wk__gemm_dims *side)
{
    return side->count ? m->kernel->operand[0].stride[side->dim[side->count - 1]] : 0;
}

static bool contains_dim(const wk__gemm_dims *side, int d)
{
    for (int k = 0; k < side->count; k++)
        if (side->dim[k] == d) return true;
    return false;
}

/* Finds rows, columns and batches. Returns true if A and B are exchanged. */
static bool find_sides(mapped *m)
{
    wk__gemm_plan *plan = &m->plan;
    find_side(m, &m->factor[0], &m->factor[1], &plan->rows);
    find_side(m, &m->factor[1], &m->factor[0], &plan->columns);
    const bool exchanged =
        plan->columns.count == 0 || (step_of(m, &plan->columns) != 1 && step_of(m, &plan->rows) == 1);
    if (exchanged) {
        const wk__gemm_dims rows = plan->rows;
        plan->rows = plan->columns;
        plan->columns = rows;
    }
    for (int d = 0; d < m->kernel->ndim; d++)
        if (m->kernel->shape[d] != 1 && !contains_dim(&plan->rows, d) && !contains_dim(&plan->columns, d))
            plan->batch.dim[plan->batch.count++] = (int8_t)d;
    return exchanged;
}

static int64_t places_of(const wk__work_args *kernel, const wk__gemm_dims *side)
{
    int64_t places = 1;
    for (int k = 0; k < side->count; k++) places *= kernel->shape[side->dim[k]];
    return places;
}

/* ---- planning ---------------------------------------------------------------------------------------------------- */

static void fill_lists(const wk__work_args *kernel, factor *f, const wk__gemm_dims *batch, const wk__gemm_dims *lines)
{
    wk__im2col *g = &f->gather;
    for (int k = 0; k < batch->count; k++) add_index(kernel, f, &g->batch, batch->dim[k]);
    for (int k = 0; k < lines->count; k++) add_index(kernel, f, &g->lines, lines->dim[k]);
    for (int i = kernel->ndim; i < kernel->ndim + kernel->contraction->nsummed; i++)
        if (wk__index_extent(kernel, i) != 1) add_index(kernel, f, &g->steps, i);
    end_list(&g->batch);
    end_list(&g->lines);
    end_list(&g->steps);
}

/* Computes the batch strides, or zeros if the factor is gathered; returns true if it is. */
static bool analyze_batches(const mapped *m, const factor *f, int64_t stride[])
{
    const bool gathered = f->gather.coordinates > 0 || f->gather.lines.count > 1 || f->gather.steps.count > 1;
    for (int k = 0; k < m->plan.batch.count; k++) stride[k] = gathered ? 0 : f->stride[m->plan.batch.dim[k]];
    return gathered;
}

/* Computes the strides of a side in C; returns true if there is a single one. */
static bool analyze_result(const wk__work_args *kernel, const wk__gemm_dims *side, wk__im2col_indices *list)
{
    for (int k = 0; k < side->count; k++) {
        const int d = side->dim[k];
        wk__im2col_add_index(list, &(wk__im2col_index){kernel->shape[d], kernel->operand[0].stride[d], {0}}, 0);
    }
    end_list(list);
    return list->count == 1;
}

static const char *first_element(const factor *f)
{
    return f->gather.start ? f->gather.start + f->gather.offset * f->gather.size : NULL;
}

static int64_t innermost_step(const wk__im2col *g)
{
    return g->steps.index[g->steps.count - 1].stride;
}

static void plan_of(mapped *m, const wk__work *work)
{
    const wk__work_args *kernel = work->args;
    const wk__operand *out = &kernel->operand[0];
    wk__gemm_plan *plan = &m->plan;
    memset(m, 0, sizeof *m);
    m->kernel = kernel;
    for (int k = 0; k < WK__FACTORS; k++) analyze_factor(kernel, k, &m->factor[k]);
    const bool exchanged = find_sides(m);
    factor *a = &m->factor[exchanged], *b = &m->factor[!exchanged];
    fill_lists(kernel, a, &plan->batch, &plan->rows);
    fill_lists(kernel, b, &plan->batch, &plan->columns);
    plan->ndim = kernel->ndim;
    plan->shape = kernel->shape;
    plan->dtype = kernel->operand[1].dtype;
    plan->c_dtype = out->dtype;
    plan->epilogue_program = work->program;
    plan->c_offset = out->offset;
    plan->size = (int64_t)wk_dtype_size((wk_dtype)plan->dtype);
    plan->m = places_of(kernel, &plan->rows);
    plan->n = places_of(kernel, &plan->columns);
    plan->k = wk__contraction_k(kernel->contraction);
    plan->batches = places_of(kernel, &plan->batch);
    plan->c = out->memory->host ? out->memory->host + out->offset * (int64_t)wk_dtype_size((wk_dtype)out->dtype) : NULL;
    plan->c_row = step_of(m, &plan->rows);
    plan->c_column = plan->n == 1 ? 1 : step_of(m, &plan->columns);
    const bool rows_as_one = analyze_result(kernel, &plan->rows, &m->c_rows);
    if (!analyze_result(kernel, &plan->columns, &m->c_columns) || !rows_as_one) {
        plan->c_rows = &m->c_rows;
        plan->c_columns = &m->c_columns;
    }
    for (int k = 0; k < plan->batch.count; k++) m->batch_stride[2][k] = out->stride[plan->batch.dim[k]];
    plan->a_batch = m->batch_stride[0];
    plan->b_batch = m->batch_stride[1];
    plan->c_batch = m->batch_stride[2];
    if (analyze_batches(m, a, m->batch_stride[0])) plan->a_im2col = &a->gather;
    if (analyze_batches(m, b, m->batch_stride[1])) plan->b_im2col = &b->gather;
    plan->a = plan->a_im2col ? NULL : first_element(a);
    plan->b = plan->b_im2col ? NULL : first_element(b);
    if (!plan->a_im2col) {
        plan->a_row = a->gather.lines.index[0].stride;
        plan->a_step = a->gather.steps.index[0].stride;
    } else if (wk__im2col_is_matrix(plan->a_im2col) && innermost_step(plan->a_im2col) == 1) {
        plan->a_step = 1; /* rows are read in place or copied, not transposed */
        plan->a_row = plan->a_im2col->lines.index[0].stride;
    }
    if (!plan->b_im2col) {
        plan->b_column = b->gather.lines.index[0].stride;
        plan->b_step = b->gather.steps.index[0].stride;
    }
    if (plan->n == 1 && plan->b_step != 1) plan->b_column = 1; /* a single column: its stride is arbitrary */
}

/* ---- dispatch ---------------------------------------------------------------------------------------------------- */

static bool is_packed(const wk__work_args *kernel)
{
    const int dtype = kernel->operand[1].dtype, result = kernel->operand[0].dtype, sum = kernel->contraction->dtype;
    return kernel->operand[2].dtype == dtype && sum == wk__accumulator_dtype(dtype) &&
           (result == dtype || result == sum);
}

static bool is_split(const wk__work_args *kernel)
{
    return wk__contraction_has_divisor(kernel) && wk__contraction_can_split(kernel);
}

static wk_code run_part(void *user, const wk__work_args *part, wk__fail *fail)
{
    (void)user;
    mapped m;
    plan_of(&m, &(wk__work){.family = WK__CONTRACTION, .args = part});
    return wk__gemm_run(&m.plan, fail);
}

void wk__cpu_contraction_with_buffers(const wk__work_args *kernel, const wk__gemm_buffers *buffers)
{
    const wk__work work = {.family = WK__CONTRACTION, .args = kernel};
    wk__matmul product;
    mapped m;
    if (wk__matmul_from_work(&work, &product)) {
        wk__cpu_matmul_with_buffers(&product, buffers);
        return;
    }
    plan_of(&m, &work);
    wk__gemm_run_with_buffers(&m.plan, buffers);
}

typedef enum algorithm { REFERENCE, PLANES, ROW_LANES, INDIRECT, K_LANES, COL2IM, STRIDE_SPLIT, IM2COL } algorithm;

/* The algorithm for a contraction that is not a matrix product, and its plan, if any. */
typedef struct choice {
    algorithm way;
    union {
        wk__planes_plan planes;
        wk__row_lanes_plan rows;
        wk__indirect_plan padded;
        wk__k_lanes_plan dots;
        wk__col2im_plan columns;
        mapped mapped;
    };
} choice;

static void choose_indirect_or_col2im(choice *c, const wk__work_args *kernel)
{
    wk__col2im_plan columns;
    const bool faster = wk__indirect_plan_init(&c->padded, kernel) && wk__indirect_is_profitable(&c->padded);
    if (faster) c->way = INDIRECT;
    if (!wk__col2im_plan_init(&columns, kernel) || !wk__col2im_is_profitable(&columns)) return;
    if (faster && wk__col2im_cost(&columns) >= wk__indirect_cost(&c->padded)) return;
    c->way = COL2IM;
    c->columns = columns;
}

/* Chooses the way of a convolution with channels. */
static void choose_convolution(choice *c, const wk__work_args *kernel)
{
    wk__row_lanes_plan rows;
    choose_indirect_or_col2im(c, kernel);
    if (!wk__row_lanes_plan_init(&rows, kernel) || rows.b.taps.places == 1) return;
    const double other = c->way == INDIRECT ? wk__indirect_cost(&c->padded)
                         : c->way == COL2IM ? wk__col2im_cost(&c->columns)
                                            : wk__row_lanes_im2col_cost(&rows);
    if (rows.cost >= other) return;
    c->way = ROW_LANES;
    c->rows = rows;
}

static void choose(choice *c, const wk__work *work)
{
    const wk__work_args *kernel = work->args;
    c->way = REFERENCE;
    if (!is_packed(kernel)) return;
    c->way = PLANES;
    if (wk__planes_plan_init(&c->planes, kernel) && wk__planes_is_profitable(&c->planes)) return;
    c->way = K_LANES;
    if (wk__k_lanes_plan_init(&c->dots, kernel) && wk__k_lanes_is_profitable(&c->dots)) return;
    c->way = IM2COL;
    choose_convolution(c, kernel);
    if (c->way != IM2COL) return;
    if (is_split(kernel))
        c->way = STRIDE_SPLIT;
    else
        plan_of(&c->mapped, work);
}

static wk_code run_epilogue(wk_code code, const wk__program *epilogue, wk__fail *fail)
{
    return code == WK_OK && epilogue ? wk__cpu_run(epilogue, fail) : code;
}

wk_code wk__cpu_contraction(const wk__work *work, wk__fail *fail)
{
    wk__matmul product;
    choice c;
    if (wk__matmul_from_work(work, &product)) return wk__cpu_matmul(&product, fail);
    if (work->args->prologue[0] || work->args->prologue[1])
        return wk__fail_set(fail, WK_ERR_UNSUPPORTED, "the CPU fuses prologues only into matrix products");
    choose(&c, work);
    switch (c.way) {
    case PLANES: return wk__planes_run(&c.planes, work->program, fail);
    case ROW_LANES: return wk__row_lanes_run(&c.rows, work->program, fail);
    case INDIRECT: return wk__indirect_run(&c.padded, work->program, fail);
    case K_LANES: return run_epilogue(wk__k_lanes_run(&c.dots, fail), work->program, fail);
    case COL2IM: return run_epilogue(wk__col2im_run(&c.columns, fail), work->program, fail);
    case STRIDE_SPLIT:
        return run_epilogue(wk__contraction_split_strides(work->args, run_part, NULL, fail), work->program, fail);
    case IM2COL: return wk__gemm_run(&c.mapped.plan, fail);
    default: return wk__cpu_contraction_reference(work, fail);
    }
}

void wk__cpu_contraction_boxes(const wk__work *work, wk__epilogue_box_visit *visit, void *user)
{
    wk__matmul product;
    choice c;
    if (wk__matmul_from_work(work, &product)) {
        wk__cpu_matmul_boxes(&product, visit, user);
        return;
    }
    choose(&c, work);
    if (c.way == PLANES) wk__planes_epilogue_boxes(&c.planes, work->program, visit, user);
    if (c.way == ROW_LANES) wk__row_lanes_epilogue_boxes(&c.rows, work->program, visit, user);
    if (c.way == INDIRECT) wk__indirect_epilogue_boxes(&c.padded, work->program, visit, user);
    if (c.way == IM2COL) wk__gemm_epilogue_boxes(&c.mapped.plan, visit, user);
}
