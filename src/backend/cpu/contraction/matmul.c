/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products on the CPU, from wk__matmul (backend/contraction.h) to macrotiles of C.
 *
 *     plan      the cheapest equivalent product: C' = B' A' if only columns of C are contiguous, batches folded into
 *               rows if they share B; which operands are read in place and which are packed
 *     divide    macrotiles of C for all threads (gemm_partition.c)
 *     run       each macrotile with separate buffers (gemm_macrotile.c, gemm_buffers.c)
 *
 * The plan depends on shape, strides, dtype and instruction set. An element is the sum of its blocks of k, each summed
 * from 0; blocks depend on k and dtype. So results are bit-identical for any number of threads. */
#include "matmul.h"

#include <string.h>

#include "base/integers.h"
#include "backend/cpu/isa.h"
#include "gemm_prologue.h"

enum {
    SMALL_SPACE = 16 * 1024, /* bytes: operands packed on the stack */
    TASK_WORK = 128 * 1024,  /* multiplications below which macrotiles share a task */
    TASKS_PER_THREAD = 16,   /* for load balance; fewer tasks read longer runs of batches, which is faster */
    FEW_ROWS = 16,           /* of A: B is read too rarely for packing to pay */
    NEAR_BYTES = 256 * 1024, /* an operand of this size is read in place */
};

typedef struct task_list {
    const wk__gemm_plan *plan;
    int64_t macrotiles, macrotiles_per_task;
} task_list;

static void swap(int64_t *a, int64_t *b)
{
    int64_t old = *a;
    *a = *b;
    *b = old;
}

/* Swaps to C' = B' A' if that makes rows of C contiguous, or turns a column vector into a row. */
static void plan_swap(wk__gemm_plan *plan)
{
    const bool tall = plan->n == 1 && plan->m > 1;
    const bool upright = plan->c_row == 1 && plan->c_column != 1 && plan->m > 1 && plan->n > 1;
    if (!tall && !upright) return;
    const char *a = plan->a;
    const int64_t *a_batch = plan->a_batch;
    plan->a = plan->b;
    plan->b = a;
    plan->a_batch = plan->b_batch;
    plan->b_batch = a_batch;
    swap(&plan->m, &plan->n);
    swap(&plan->a_row, &plan->b_column);
    swap(&plan->a_step, &plan->b_step);
    swap(&plan->c_row, &plan->c_column);
    const wk__gemm_dims rows = plan->rows;
    plan->rows = plan->columns;
    plan->columns = rows;
    plan->swapped = !plan->swapped;
}

/* Folds batches of A that share B and are adjacent into one taller A. */
static void plan_merge(wk__gemm_plan *plan)
{
    for (; plan->batch.count > 0; plan->batch.count--) {
        const int d = plan->batch.count - 1; /* equal to its dimension number */
        const int64_t count = plan->shape[d];
        if (count == 1) continue;
        if (plan->b_batch[d] != 0) return;
        if (plan->m == 1) {
            plan->a_row = plan->a_batch[d];
            plan->c_row = plan->c_batch[d];
        } else if (plan->a_batch[d] != plan->m * plan->a_row || plan->c_batch[d] != plan->m * plan->c_row) {
            return;
        }
        plan->m *= count;
        memmove(plan->rows.dim + 1, plan->rows.dim, (size_t)plan->rows.count++);
        plan->rows.dim[0] = (int8_t)d;
    }
}

/* Returns the address of an operand; NULL if it has none on the host and only boxes are enumerated. */
static char *start_of(const wk__operand *operand)
{
    char *host = operand->memory->host;
    return host ? host + operand->offset * (int64_t)wk_dtype_size((wk_dtype)operand->dtype) : NULL;
}

/* `shape`: storage for the result's shape. */
static void plan_shape(wk__gemm_plan *plan, const wk__matmul *product, int64_t shape[])
{
    const int rows = product->nbatch, columns = rows + 1;
    memcpy(shape, product->batch, sizeof *shape * (size_t)rows);
    shape[rows] = product->m;
    shape[columns] = product->n;
    plan->ndim = columns + 1;
    plan->shape = shape;
    plan->dtype = plan->c_dtype = product->c.dtype;
    plan->epilogue_program = product->epilogue;
    plan->c_offset = product->c.offset;
    plan->size = (int64_t)wk_dtype_size((wk_dtype)product->c.dtype);
    plan->a = start_of(&product->a);
    plan->b = start_of(&product->b);
    plan->c = start_of(&product->c);
    plan->m = product->m;
    plan->n = product->n;
    plan->k = product->k;
    plan->a_row = product->a.stride[rows];
    plan->a_step = product->a.stride[columns];
    plan->b_step = product->b.stride[rows];
    plan->b_column = product->b.stride[columns];
    plan->c_row = product->c.stride[rows];
    plan->c_column = product->c.stride[columns];
    for (int d = 0; d < rows; d++) plan->batch.dim[plan->batch.count++] = (int8_t)d;
    plan->a_batch = product->a.stride;
    plan->b_batch = product->b.stride;
    plan->c_batch = product->c.stride;
    plan->rows = (wk__gemm_dims){.count = 1, .dim = {(int8_t)rows}};
    plan->columns = (wk__gemm_dims){.count = 1, .dim = {(int8_t)columns}};
    plan_merge(plan);
    plan_swap(plan);
    plan_merge(plan);
    if (plan->n == 1) { /* a single column: its stride is arbitrary */
        plan->c_column = 1;
        if (plan->b_step != 1) plan->b_column = 1;
    }
    plan->batches = 1;
    for (int d = 0; d < plan->batch.count; d++) plan->batches *= shape[plan->batch.dim[d]];
}

/* Returns true if an operand of this many elements is so small that packing costs more than it saves. */
static bool fits_cache(const wk__gemm_plan *plan, int64_t elements)
{
    return elements <= NEAR_BYTES / plan->size;
}

/* Returns the number of steps that are contiguous in all rows of a gathered A if they justify a separate block, else
 * 0. */
static int64_t a_run_length(const wk__gemm_plan *plan)
{
    const wk__im2col *a = plan->a_im2col;
    if (!a || plan->a_step != 1) return 0;
    const int64_t run = a->steps.index[a->steps.count - 1].extent;
    return 2 * run * plan->size >= WK__GEMM_K_BYTES ? run : 0;
}

static void plan_packing(wk__gemm_plan *plan)
{
    const wk__gemm *gemm = wk__cpu_gemm((wk_dtype)plan->dtype);
    plan->class = gemm->class;
    plan->pack = gemm->pack;
    plan->unpack = wk__cpu_gemm((wk_dtype)plan->c_dtype)->unpack;
    plan->c_size = (int64_t)wk_dtype_size((wk_dtype)plan->c_dtype);

    const int64_t size = (int64_t)plan->class->packed_size;
    const bool same = plan->size == size, same_c = plan->c_size == (int64_t)plan->class->acc_size;
    const bool mapped = plan->a_im2col || plan->b_im2col;
    plan->is_gemv = !mapped && same && same_c && plan->class->gemv_rows && plan->m == 1 &&
                    (plan->b_column == 1 || plan->b_step == 1);
    plan->c_buffered = !same_c || plan->c_column != 1 || plan->c_rows;
    plan->pack_b = !plan->is_gemv &&
                   (!same || plan->b_column != 1 || (plan->m > FEW_ROWS && !fits_cache(plan, plan->k * plan->n)));
    plan->pack_a =
        !plan->is_gemv &&
        (!same || (plan->a_step != 1 && plan->n > 2 * plan->class->columns && !fits_cache(plan, plan->k * plan->m)));
    plan->a_run_steps = plan->pack_a ? 0 : a_run_length(plan);
    plan->pack_a = plan->pack_a || (plan->a_im2col && !plan->a_run_steps);
    plan->pack_b = plan->pack_b || plan->b_im2col;

    const int64_t steps = plan->a_run_steps ? plan->a_run_steps : plan->k;
    const int64_t packed = wk__gemm_packed_k(plan->class, steps), most = WK__GEMM_K_BYTES / size;
    const int64_t blocks = (packed + most - 1) / most;
    plan->k_block = packed <= most ? steps : (packed + blocks - 1) / blocks * plan->class->k_per_packed;
    if (plan->b_program.group) wk__gemm_b_program_layout(plan);
}

/* Computes macrotile `index`. The batch is a row-major index of the batch dimensions. */
static void find_macrotile(const wk__gemm_plan *plan, int64_t index, wk__gemm_macrotile *macrotile)
{
    const int64_t row = index % plan->row_macrotiles;
    index /= plan->row_macrotiles;
    const int64_t column = index % plan->column_macrotiles;
    index /= plan->column_macrotiles;
    *macrotile = (wk__gemm_macrotile){.batch = index};
    macrotile->row = row * plan->macrotile_rows;
    macrotile->row_end =
        macrotile->row + plan->macrotile_rows < plan->m ? macrotile->row + plan->macrotile_rows : plan->m;
    macrotile->column = column * plan->macrotile_columns;
    macrotile->column_end =
        macrotile->column + plan->macrotile_columns < plan->n ? macrotile->column + plan->macrotile_columns : plan->n;
}

/* Computes the addresses of the macrotile's batch. */
static void find_batch(const wk__gemm_plan *plan, wk__gemm_macrotile *macrotile)
{
    int64_t index = macrotile->batch;
    macrotile->a = plan->a;
    macrotile->b = plan->b;
    macrotile->c = plan->c;
    for (int d = plan->batch.count - 1; d >= 0; d--) {
        const int64_t count = plan->shape[plan->batch.dim[d]], at = index % count;
        index /= count;
        macrotile->a += at * plan->a_batch[d] * plan->size;
        macrotile->b += at * plan->b_batch[d] * plan->size;
        macrotile->c += at * plan->c_batch[d] * plan->c_size;
    }
}

static bool needs_buffers(const wk__gemm_plan *plan)
{
    return plan->pack_a || plan->pack_b || plan->c_buffered || plan->b_program.group;
}

/* Runs macrotiles first .. end in order, all of them even if one fails. */
static wk_code run_macrotiles(const wk__gemm_plan *plan, int64_t first, int64_t end, const wk__gemm_buffers *buffers,
                              wk__fail *fail)
{
    wk_code code = WK_OK;
    for (int64_t k = first; k < end; k++) {
        wk__gemm_macrotile macrotile;
        wk__fail other;
        find_macrotile(plan, k, &macrotile);
        find_batch(plan, &macrotile);
        const wk_code result = wk__gemm_macrotile_run(plan, &macrotile, buffers, code ? &other : fail);
        if (!code) code = result;
    }
    return code;
}

static int64_t macrotile_count(const wk__gemm_plan *plan)
{
    return plan->batches * plan->row_macrotiles * plan->column_macrotiles;
}

static wk_code task(void *user, int64_t index, wk__gemm_buffers *const buffers[], wk__fail *fail)
{
    const task_list *work = user;
    const int64_t first = index * work->macrotiles_per_task;
    return run_macrotiles(work->plan, first, wk__min_i64(first + work->macrotiles_per_task, work->macrotiles),
                          buffers[0], fail);
}

static wk_code run_parallel(wk__gemm_plan *plan, double work_all, wk__fail *fail)
{
    const int threads = wk__gemm_threads(work_all);
    task_list work = {.plan = plan, .macrotiles = macrotile_count(plan)};
    const double work_per_macrotile = work_all / (double)work.macrotiles;
    work.macrotiles_per_task = work.macrotiles / ((int64_t)TASKS_PER_THREAD * threads) + 1;
    const int64_t worthwhile = (int64_t)(TASK_WORK / (work_per_macrotile + 1)) + 1;
    if (work.macrotiles_per_task < worthwhile) work.macrotiles_per_task = worthwhile;
    if (threads == 1) work.macrotiles_per_task = work.macrotiles;
    return wk__gemm_tasks(&(wk__gemm_job){.tasks = wk__chunk_count(work.macrotiles, work.macrotiles_per_task),
                                          .threads = threads,
                                          .nbuffers = needs_buffers(plan),
                                          .needs_prologue_buffer = plan->b_program.group,
                                          .body = task,
                                          .user = &work},
                          fail);
}

/* Returns the bytes of a packed row of A or column of B for a block of k, rounded up. */
static int64_t packed_line_bytes(const wk__gemm_plan *plan)
{
    return wk__gemm_packed_k(plan->class, plan->k_block) * (int64_t)plan->class->packed_size + WK__GEMM_GAP;
}

/* Returns true if one thread can compute whole batches with packing buffers on the stack. */
static bool is_small(const wk__gemm_plan *plan, double work)
{
    if (work >= WK__GEMM_SERIAL_FMAS || plan->m > WK__GEMM_BLOCK_ROWS || plan->b_program.group) return false;
    const int64_t line = packed_line_bytes(plan);
    const int64_t a = plan->pack_a ? plan->m * line : 0;
    const int64_t b = plan->pack_b ? (plan->n + plan->class->lanes) * line : 0;
    const int64_t c = plan->c_buffered ? plan->m * plan->n * (int64_t)plan->class->acc_size : 0;
    return a + b + c <= SMALL_SPACE;
}

static wk_code run_small(wk__gemm_plan *plan, wk__fail *fail)
{
    _Alignas(64) char data[SMALL_SPACE];
    wk__gemm_buffers buffers = {.a = data};
    const int64_t line = packed_line_bytes(plan);
    buffers.b = buffers.a + (plan->pack_a ? plan->m * line : 0);
    buffers.c = buffers.b + (plan->pack_b ? (plan->n + plan->class->lanes) * line : 0);
    return run_macrotiles(plan, 0, plan->batches, &buffers, fail);
}

static double work_of(const wk__gemm_plan *plan)
{
    return (double)plan->m * (double)plan->n * (double)(plan->k + 1) * (double)plan->batches;
}

/* Chooses the macrotiles. Returns true if there is one per batch, all for one thread. */
static bool divide(wk__gemm_plan *plan)
{
    plan_packing(plan);
    const double work = work_of(plan);
    if (!is_small(plan, work)) {
        wk__gemm_partition(plan, wk__gemm_threads(work));
        return false;
    }
    plan->macrotile_rows = plan->m;
    plan->macrotile_columns = plan->n;
    plan->row_macrotiles = plan->column_macrotiles = 1;
    return true;
}

static wk_code run_with_prologue(wk__gemm_plan *plan, wk__fail *fail)
{
    wk__gemm_prologue prologue;
    plan->prologue = &prologue;
    wk_code code = wk__gemm_prologue_prepare(&prologue, plan, fail);
    if (!code) code = run_parallel(plan, work_of(plan), fail);
    wk__gemm_prologue_end(&prologue);
    plan->prologue = NULL;
    return code;
}

static wk_code run_product(wk__gemm_plan *plan, wk__fail *fail)
{
    if (divide(plan)) return run_small(plan, fail);
    return plan->b_program.group ? run_with_prologue(plan, fail) : run_parallel(plan, work_of(plan), fail);
}

static bool is_empty(const wk__gemm_plan *plan)
{
    return plan->m == 0 || plan->n == 0 || plan->batches == 0;
}

void wk__gemm_run_with_buffers(wk__gemm_plan *plan, const wk__gemm_buffers *buffers)
{
    if (is_empty(plan)) return;
    plan_packing(plan);
    wk__gemm_partition(plan, 1);
    wk__fail none; /* without an epilogue nothing can fail */
    run_macrotiles(plan, 0, macrotile_count(plan), buffers, &none);
}

static wk_code run_with_epilogue(wk__gemm_plan *plan, wk__fail *fail)
{
    wk__cpu_program program;
    plan->epilogue = &program;
    wk_code code = wk__cpu_program_prepare(&program, plan->epilogue_program, fail);
    if (!code) code = run_product(plan, fail);
    wk__cpu_program_destroy(&program);
    plan->epilogue = NULL;
    return code;
}

wk_code wk__gemm_run(wk__gemm_plan *plan, wk__fail *fail)
{
    if (is_empty(plan))
        return plan->epilogue_program && plan->epilogue_program->nreduce ? wk__cpu_run(plan->epilogue_program, fail)
                                                                         : WK_OK;
    if (!plan->epilogue_program) return run_product(plan, fail);
    if (plan->epilogue_program->nreduce == 0) return run_with_epilogue(plan, fail);
    wk_code code = run_product(plan, fail); /* a row of C is complete only at the end */
    return code ? code : wk__cpu_run(plan->epilogue_program, fail);
}

void wk__gemm_epilogue_boxes(wk__gemm_plan *plan, wk__epilogue_box_visit *visit, void *user)
{
    if (is_empty(plan) || !plan->epilogue_program || plan->epilogue_program->nreduce > 0) return;
    divide(plan);
    for (int64_t k = 0; k < macrotile_count(plan); k++) {
        wk__gemm_macrotile macrotile;
        find_macrotile(plan, k, &macrotile);
        wk__gemm_macrotile_boxes(plan, &macrotile, visit, user);
    }
}

/* Returns false if a factor's prologue is not supported. */
static bool plan_of(wk__gemm_plan *plan, const wk__matmul *product, int64_t shape[])
{
    *plan = (wk__gemm_plan){0};
    plan_shape(plan, product, shape);
    const int a = plan->swapped, b = !plan->swapped;
    if (product->prologue[a]) return false;
    return !product->prologue[b] ||
           wk__gemm_b_program_init(plan, plan->swapped ? &product->a : &product->b, product->prologue[b]);
}

wk_code wk__cpu_matmul(const wk__matmul *product, wk__fail *fail)
{
    wk__gemm_plan plan;
    int64_t shape[WK__MAX_DIMS];
    if (!plan_of(&plan, product, shape))
        return wk__fail_set(fail, WK_ERR_UNSUPPORTED, "the CPU cannot fuse this prologue");
    return wk__gemm_run(&plan, fail);
}

bool wk__cpu_can_fuse_prologue(const wk__work *work)
{
    wk__matmul product;
    wk__gemm_plan plan;
    int64_t shape[WK__MAX_DIMS];
    /* each macrotile of rows recomputes its columns of B, so fusion pays only with one */
    return wk__matmul_from_work(work, &product) && plan_of(&plan, &product, shape) && plan.m <= WK__GEMM_MACROTILE_ROWS;
}

void wk__cpu_matmul_with_buffers(const wk__matmul *product, const wk__gemm_buffers *buffers)
{
    wk__gemm_plan plan = {0};
    int64_t shape[WK__MAX_DIMS];
    plan_shape(&plan, product, shape);
    wk__gemm_run_with_buffers(&plan, buffers);
}

void wk__cpu_matmul_boxes(const wk__matmul *product, wk__epilogue_box_visit *visit, void *user)
{
    wk__gemm_plan plan;
    int64_t shape[WK__MAX_DIMS];
    if (plan_of(&plan, product, shape)) wk__gemm_epilogue_boxes(&plan, visit, user);
}
