/* SPDX-License-Identifier: Apache-2.0 */
/* Planning of col2im contractions: roles of indices, pieces, and cost; see contraction_col2im.h. */
#include "contraction_col2im.h"

#include "base/integers.h"
#include "backend/cpu/isa.h"
#include "matmul.h"

enum {
    BOX_BYTES = 384 * 1024,   /* of D, and */
    PIECE_BYTES = 512 * 1024, /* of a piece of C: both stay in or near L2 */
    PRODUCT_ROWS = 288,       /* of D: amortises packing B */
    PIECES = 8,               /* minimum number of pieces, for load balance, */
    PIECE_WORK = 512 * 1024,  /* unless they have less work than this, in multiplications, */
    FEW_ROWS = 48,            /* or fewer rows of D, which would pack B too often, */
    EDGES = 8,                /* or are less than this many times as wide as their overlap */
    /* Costs in multiplications of one vector lane; fitted as in contraction_indirect_plan.c: */
    GATHER = 20,       /* gathering an element of B, in runs */
    GATHER_STEP = 48,  /* gathering one of A, if its summed strides are irregular */
    PACK = 4,          /* packing one of a matrix */
    ADD = 6,           /* writing one of D and adding it to C */
    STORE = 8,         /* storing one of C with gaps */
    START = 16 * 1024, /* starting a product */
};

/* Required gain: the model is not more precise, and gathering can run the epilogue by pieces. */
static const double GAIN = 0.9;

_Static_assert((int)BOX_BYTES <= (int)WK__GEMM_BUFFER_B, "the buffer of D");
_Static_assert((int)PIECE_BYTES <= (int)WK__GEMM_BUFFER_C, "the buffer of a piece");

/* ---- roles of indices -------------------------------------------------------------------------------------------- */

/* Returns how many of B's coordinates depend on index i. */
static int coordinates_of(const wk__col2im_plan *p, int i)
{
    int count = 0;
    for (int k = p->first; k < WK__COL2IM_AXES; k++)
        count += wk__index_extent(p->kernel, i) > 1 && p->axis[k].q.coefficient[i] != 0;
    return count;
}

/* Analyses the axis of a coordinate; returns false if it depends on two result indices, or skips positions of one. */
static bool analyze_axis(const wk__col2im_plan *p, wk__col2im_axis *axis)
{
    const wk__work_args *kernel = p->kernel;
    axis->places = 1;
    int found = 0;
    for (int i = 0; i < kernel->ndim; i++) {
        if (kernel->shape[i] == 1 || axis->q.coefficient[i] == 0) continue;
        if (axis->q.coefficient[i] != 1 || coordinates_of(p, i) > 1) return false;
        if (wk__index_moves(kernel, p->a, i) || wk__index_moves(kernel, p->b, i)) return false;
        axis->places = kernel->shape[i];
        axis->step = kernel->operand[0].stride[i];
        found++;
    }
    axis->before = axis->after = -axis->q.offset;
    for (int i = kernel->ndim; i < kernel->ndim + kernel->contraction->nsummed; i++) {
        const int64_t reach = -axis->q.coefficient[i] * (wk__index_extent(kernel, i) - 1);
        *(reach < 0 ? &axis->before : &axis->after) += reach;
    }
    return found <= 1;
}

static bool analyze_axes(wk__col2im_plan *p)
{
    const wk__contraction *sum = p->kernel->contraction;
    const int count = sum->naffine[p->b - 1];
    if (count == 0 || sum->naffine[p->a - 1] > 0) return false;
    p->first = WK__COL2IM_AXES - count;
    for (int k = 0; k < p->first; k++) p->axis[k] = (wk__col2im_axis){.q = {.divisor = 1, .extent = 1}, .places = 1};
    for (int k = p->first; k < WK__COL2IM_AXES; k++)
        p->axis[k] = (wk__col2im_axis){.q = sum->affine[p->b - 1][k - p->first]};
    for (int k = p->first; k < WK__COL2IM_AXES; k++)
        if (!analyze_axis(p, &p->axis[k])) return false;
    return true;
}

/* Classifies the other result indices: a row, on which only A depends, and batches. */
static void analyze_result(wk__col2im_plan *p)
{
    const wk__work_args *kernel = p->kernel;
    p->row = -1;
    p->rows = p->batch_count = 1;
    for (int i = 0; i < kernel->ndim; i++)
        if (wk__index_moves(kernel, p->a, i) && !wk__index_moves(kernel, p->b, i)) {
            p->row = i;
            p->rows = kernel->shape[i];
        }
    for (int i = 0; i < kernel->ndim; i++) {
        if (kernel->shape[i] == 1 || i == p->row || coordinates_of(p, i) > 0) continue;
        p->batch[p->batches++] = (int8_t)i;
        p->batch_count *= kernel->shape[i];
    }
}

/* Classifies the summed indices: taps determine the target position; steps are summed by the matrix product. */
static bool analyze_sum(wk__col2im_plan *p)
{
    const wk__work_args *kernel = p->kernel;
    p->tap_count = p->step_count = 1;
    for (int i = kernel->ndim; i < kernel->ndim + kernel->contraction->nsummed; i++) {
        const int64_t extent = wk__index_extent(kernel, i);
        if (extent == 1) continue;
        if (coordinates_of(p, i) == 0) {
            p->step[p->steps++] = (int8_t)i;
            p->step_count *= extent;
            continue;
        }
        if (wk__index_moves(kernel, p->b, i)) return false;
        p->tap[p->taps++] = (int8_t)i;
        p->tap_count *= extent;
    }
    return true;
}

/* ---- D as a matrix product --------------------------------------------------------------------------------------- */

void wk__col2im_add_dim(wk__work_args *product, int64_t extent, int64_t of_a, int64_t of_b)
{
    wk__operand *a = &product->operand[1], *b = &product->operand[2];
    int last = product->ndim - 1;
    if (extent == 1) return;
    if (last >= 0 && a->stride[last] == of_a * extent && b->stride[last] == of_b * extent) {
        extent *= product->shape[last];
    } else {
        last = product->ndim++;
    }
    product->shape[last] = extent;
    a->stride[last] = of_a;
    b->stride[last] = of_b;
}

static void add_taps(const wk__col2im_plan *p, wk__work_args *product)
{
    for (int k = 0; k < p->taps; k++)
        wk__col2im_add_dim(product, wk__index_extent(p->kernel, p->tap[k]),
                           wk__index_stride(p->kernel, p->a, p->tap[k]), 0);
}

void wk__col2im_add_rows(const wk__col2im_plan *p, wk__work_args *product, int64_t rows)
{
    if (p->taps_first) add_taps(p, product);
    if (p->row >= 0) wk__col2im_add_dim(product, rows, p->kernel->operand[p->a].stride[p->row], 0);
    if (!p->taps_first) add_taps(p, product);
}

/* Chooses the order of the rows of D. If A has them at one stride, D is one product; else it is one per tap, because
 * there are usually too few taps to fill tiles. */
static void choose_order(wk__col2im_plan *p)
{
    wk__work_args product = {.ndim = 0};
    p->taps_first = false;
    wk__col2im_add_rows(p, &product, p->rows);
    p->taps_first = product.ndim > 1 && p->row >= 0 && p->rows > p->tap_count;
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

static int64_t volume(const int64_t size[])
{
    return size[0] * size[1] * size[2];
}

/* Returns the rows of D. */
static double rows_of_piece(const wk__col2im_plan *p)
{
    return (double)(p->piece_rows * p->tap_count);
}

/* Returns the columns of D over all boxes: the q that contribute to the piece. */
static double columns_of_piece(const wk__col2im_plan *p)
{
    const wk__col2im_axis *axis = &p->axis[p->first];
    const int64_t reach = (p->piece_places + axis->after - axis->before) / axis->q.divisor + 1;
    double columns = (double)wk__min_i64(reach, axis->q.extent);
    for (int k = p->first + 1; k < WK__COL2IM_AXES; k++) columns *= (double)p->axis[k].q.extent;
    return columns;
}

static double products_of_piece(const wk__col2im_plan *p)
{
    return rows_of_piece(p) * columns_of_piece(p) * (double)p->step_count;
}

static void count_parts(wk__col2im_plan *p)
{
    p->row_parts = wk__chunk_count(p->rows, p->piece_rows);
    p->place_parts = wk__chunk_count(p->axis[p->first].places, p->piece_places);
}

int64_t wk__col2im_ntasks(const wk__col2im_plan *p)
{
    return p->batch_count * p->row_parts * p->place_parts;
}

/* Splits pieces if there are few: by rows, or by positions. */
static void split_tasks(wk__col2im_plan *p)
{
    const wk__col2im_axis *axis = &p->axis[p->first];
    const int64_t narrow = EDGES * (axis->after - axis->before + 1);
    while (wk__col2im_ntasks(p) < PIECES && products_of_piece(p) >= 2 * PIECE_WORK) {
        const bool tall = p->piece_rows > 1 && p->piece_rows * p->tap_count >= 4 * FEW_ROWS;
        if (!tall && p->piece_places >= 2 * narrow)
            p->piece_places = wk__even_chunk(axis->places, (p->piece_places + 1) / 2);
        else if (p->piece_rows > 1 && p->piece_rows * p->tap_count >= 2 * FEW_ROWS)
            p->piece_rows = wk__even_chunk(p->rows, (p->piece_rows + 1) / 2);
        else
            return;
        count_parts(p);
    }
}

/* Chooses pieces and boxes; returns false if even the smallest piece exceeds its buffer. */
static bool choose_sizes(wk__col2im_plan *p)
{
    const int64_t size = (int64_t)p->class->acc_size;
    const int64_t places = p->axis[p->first].places;
    int64_t slice = size; /* bytes per position along the first axis */
    for (int k = p->first + 1; k < WK__COL2IM_AXES; k++)
        if (__builtin_mul_overflow(slice, p->axis[k].places, &slice)) return false;
    if (slice > PIECE_BYTES || p->tap_count > BOX_BYTES / size) return false;
    p->piece_places = wk__even_chunk(places, wk__min_i64(places, PIECE_BYTES / slice));
    p->piece_rows = wk__max_i64(PRODUCT_ROWS / p->tap_count, 1);
    p->piece_rows = wk__min_i64(p->piece_rows, wk__max_i64(PIECE_BYTES / (slice * p->piece_places), 1));
    p->piece_rows = wk__even_chunk(p->rows, wk__min_i64(p->rows, p->piece_rows));
    count_parts(p);
    split_tasks(p);
    int64_t room = BOX_BYTES / (size * p->piece_rows * p->tap_count);
    for (int k = WK__COL2IM_AXES - 1; k >= 0; k--) {
        p->box[k] = wk__even_chunk(p->axis[k].q.extent, wk__max_i64(wk__min_i64(p->axis[k].q.extent, room), 1));
        room /= p->box[k];
    }
    return true;
}

/* ---- cost -------------------------------------------------------------------------------------------------------- */

/* Plans with B as operand `b`; returns false if the contraction does not have this form. */
static bool plan_with_b(wk__col2im_plan *p, const wk__work_args *kernel, int b)
{
    *p = (wk__col2im_plan){.kernel = kernel, .a = WK__FACTORS + 1 - b, .b = b};
    p->class = wk__cpu_gemm((wk_dtype)kernel->operand[b].dtype)->class;
    p->unpack = wk__cpu_gemm((wk_dtype)kernel->operand[0].dtype)->unpack;
    p->size = (int64_t)wk_dtype_size((wk_dtype)kernel->operand[0].dtype);
    if (!analyze_axes(p) || !analyze_sum(p)) return false;
    analyze_result(p);
    choose_order(p);
    return choose_sizes(p);
}

static bool is_empty(const wk__work_args *kernel)
{
    bool none = wk__contraction_is_empty(kernel);
    for (int k = 0; k < WK__FACTORS; k++)
        for (int i = 0; i < kernel->contraction->naffine[k]; i++)
            none = none || kernel->contraction->affine[k][i].extent == 0;
    return none;
}

double wk__col2im_fmas(const wk__col2im_plan *p)
{
    return products_of_piece(p) * (double)wk__col2im_ntasks(p);
}

double wk__col2im_cost(const wk__col2im_plan *p)
{
    const double rows = rows_of_piece(p), columns = columns_of_piece(p), steps = (double)p->step_count;
    const double box = (double)volume(p->box), boxes = columns > box ? columns / box : 1;
    const double of_a = PACK * boxes * rows * steps;
    const double of_d = ADD * rows * columns, of_b = PACK * columns * steps;
    const double of_piece = rows * columns * steps + of_d + of_b + of_a + START * boxes;
    return of_piece * (double)wk__col2im_ntasks(p);
}

/* Returns the number of distinct strides of A along the summed indices; if more than one, A is gathered. */
static int steps_of_a(const wk__col2im_plan *p)
{
    const wk__work_args *kernel = p->kernel;
    wk__work_args product = {.ndim = 0};
    for (int i = kernel->ndim; i < kernel->ndim + kernel->contraction->nsummed; i++)
        wk__col2im_add_dim(&product, wk__index_extent(kernel, i), wk__index_stride(kernel, p->a, i), 0);
    return product.ndim;
}

/* Returns the cost of gathering. Batches of which A is independent are further columns there: small images share
 * macrotiles, each of which gathers A once. */
static double im2col_cost(const wk__col2im_plan *p)
{
    double columns = 1, batches = 1, divisors = 1;
    for (int k = p->first; k < WK__COL2IM_AXES; k++) {
        columns *= (double)p->axis[k].places;
        divisors *= (double)p->axis[k].q.divisor;
    }
    for (int k = 0; k < p->batches; k++)
        *(wk__index_moves(p->kernel, p->a, p->batch[k]) ? &batches : &columns) *= (double)p->kernel->shape[p->batch[k]];
    const double rows = (double)p->rows, steps = (double)p->tap_count * (double)p->step_count;
    const double of_b = columns * batches * steps / divisors;
    const double wide = WK__GEMM_MACROTILE_BYTES / (double)p->class->acc_size,
                 pieces = columns > wide ? columns / wide : 1;
    const bool near = divisors == 1 && steps_of_a(p) <= 1;
    const double of_a = near ? 0 : rows * steps * batches * pieces;
    const double stored = divisors > 1 ? columns * batches * rows : 0;
    return of_b * rows + GATHER * of_b + GATHER_STEP * of_a + STORE * stored;
}

bool wk__col2im_plan_init(wk__col2im_plan *p, const wk__work_args *kernel)
{
    return !is_empty(kernel) && (plan_with_b(p, kernel, 2) || plan_with_b(p, kernel, 1));
}

bool wk__col2im_is_profitable(const wk__col2im_plan *p)
{
    return wk__col2im_cost(p) < GAIN * im2col_cost(p);
}
