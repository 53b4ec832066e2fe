/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products C = A B on the CPU: plans a wk__matmul (backend/contraction.h) and runs the macrotiles of C.
 *
 *     plan_shape        an equivalent product that is cheaper: batches that share B are folded into the rows of A, and
 *                       A and B are exchanged (the transposes, C' = B' A') if only the columns of C are contiguous
 *     plan_packing      which operands are read in place and which are packed, and the blocks of the sum over k
 *     plan_macrotiles   the macrotiles of C, for all threads (gemm_partition.c)
 *     run_product       the macrotiles, each task with its own buffers (gemm_macrotile.c, gemm_tasks.c)
 *
 * Results: an element of C is the sum over the blocks of k in order, each summed from 0. The blocks depend on k and
 * dtype, and the choice of kernels on shape, strides, dtype and instruction set; so results are bit-identical for any
 * number of threads.
 * Ownership: a plan lives on the stack of the caller and borrows the operands and programs of the product.
 * Threads: the calling thread plans; while tasks run the plan is read only. Any number of products may run at once. */
#include "matmul.h"

#include <string.h>

#include "base/integers.h"
#include "backend/cpu/isa.h"
#include "gemm_prologue.h"

enum {
    SMALL_BYTES = 16 * 1024, /* of buffers on the stack, for small products */
    TASK_WORK = 128 * 1024,  /* multiplications below which macrotiles share a task */
    TASKS_PER_THREAD = 16,   /* for load balance; fewer tasks read longer runs of batches, which is faster */
    FEW_ROWS = 16,           /* an A of at most this many rows reads B too rarely for packing to pay */
    NEAR_BYTES = 256 * 1024, /* an operand up to this size stays in cache and is read in place */
};

/* Macrotiles of a product in order, and how many consecutive ones a task runs. */
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

/* Exchanges A and B, to compute C' = B' A', if that makes rows of C contiguous or turns a column vector into a row. */
static void plan_swap(wk__gemm_plan *plan)
{
    const bool is_column_vector = plan->n == 1 && plan->m > 1;
    const bool columns_contiguous = plan->c_row == 1 && plan->c_column != 1 && plan->m > 1 && plan->n > 1;
    if (!is_column_vector && !columns_contiguous) return;
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

/* Folds the innermost batch dimensions into the rows of A and C as long as all their batches share B and the matrices
 * of A and of C follow each other at the stride of the rows. */
static void plan_merge(wk__gemm_plan *plan)
{
    for (; plan->batch.count > 0; plan->batch.count--) {
        const int d = plan->batch.count - 1; /* batch dimensions are dimensions 0, 1, .. of the result */
        const int64_t count = plan->shape[d];
        if (count == 1) continue;
        if (plan->b_batch[d] != 0) return;
        if (plan->m == 1) { /* the stride of a single row is arbitrary */
            plan->a_row = plan->a_batch[d];
            plan->c_row = plan->c_batch[d];
        } else if (plan->a_batch[d] != plan->m * plan->a_row || plan->c_batch[d] != plan->m * plan->c_row) {
            return;
        }
        plan->m *= count;
        memmove(plan->rows.dim + 1, plan->rows.dim, (size_t)plan->rows.count);
        plan->rows.dim[0] = (int8_t)d;
        plan->rows.count++;
    }
}

/* Returns the address of an operand's first element; NULL if it has no host memory, because only the boxes of the
 * epilogue are enumerated. */
static char *operand_address(const wk__operand *operand)
{
    char *host = operand->memory->host;
    return host ? host + operand->offset * (int64_t)wk_dtype_size((wk_dtype)operand->dtype) : NULL;
}

/* Fills in the part of the plan that describes the operands. `shape` is storage for the result's shape, which the plan
 * borrows. */
static void plan_shape(wk__gemm_plan *plan, const wk__matmul *product, int64_t shape[])
{
    const int row_dim = product->nbatch, column_dim = row_dim + 1; /* of C; A is rows x steps, B steps x columns */
    memcpy(shape, product->batch, sizeof *shape * (size_t)product->nbatch);
    shape[row_dim] = product->m;
    shape[column_dim] = product->n;
    plan->ndim = column_dim + 1;
    plan->shape = shape;
    plan->dtype = plan->c_dtype = product->c.dtype;
    plan->epilogue_program = product->epilogue;
    plan->c_offset = product->c.offset;
    plan->size = (int64_t)wk_dtype_size((wk_dtype)product->c.dtype);
    plan->a = operand_address(&product->a);
    plan->b = operand_address(&product->b);
    plan->c = operand_address(&product->c);
    plan->m = product->m;
    plan->n = product->n;
    plan->k = product->k;
    plan->a_row = product->a.stride[row_dim];
    plan->a_step = product->a.stride[column_dim];
    plan->b_step = product->b.stride[row_dim];
    plan->b_column = product->b.stride[column_dim];
    plan->c_row = product->c.stride[row_dim];
    plan->c_column = product->c.stride[column_dim];
    for (int d = 0; d < product->nbatch; d++) plan->batch.dim[plan->batch.count++] = (int8_t)d;
    plan->a_batch = product->a.stride;
    plan->b_batch = product->b.stride;
    plan->c_batch = product->c.stride;
    plan->rows = (wk__gemm_dims){.count = 1, .dim = {(int8_t)row_dim}};
    plan->columns = (wk__gemm_dims){.count = 1, .dim = {(int8_t)column_dim}};
    plan_merge(plan);
    plan_swap(plan);
    plan_merge(plan);   /* the exchange may have made batches of the new A foldable */
    if (plan->n == 1) { /* the stride of a single column is arbitrary */
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

/* Returns how many consecutive steps of the sum are contiguous in all rows of an A that is addressed by a_im2col, if
 * they are long enough for a separate block, so that A need not be gathered; otherwise 0. */
static int64_t a_run_length(const wk__gemm_plan *plan)
{
    const wk__im2col *a = plan->a_im2col;
    if (!a || plan->a_step != 1 || plan->k == 0) return 0;
    const int64_t run = a->steps.index[a->steps.count - 1].extent;
    return 2 * run * plan->size >= WK__GEMM_K_BYTES ? run : 0;
}

/* Chooses the microkernels and the operands to pack. An operand is packed if its elements must be converted or
 * gathered, or if the tiles read it so often that contiguous access pays. */
static void choose_packing(wk__gemm_plan *plan)
{
    const wk__gemm *gemm = wk__cpu_gemm((wk_dtype)plan->dtype);
    plan->class = gemm->class;
    plan->pack = gemm->pack;
    plan->unpack = wk__cpu_gemm((wk_dtype)plan->c_dtype)->unpack;
    plan->c_size = (int64_t)wk_dtype_size((wk_dtype)plan->c_dtype);

    const bool converts = plan->size != (int64_t)plan->class->packed_size;
    const bool converts_c = plan->c_size != (int64_t)plan->class->acc_size;
    const bool gathers = plan->a_im2col || plan->b_im2col;
    plan->is_gemv = !gathers && !converts && !converts_c && plan->class->gemv_rows && plan->m == 1 &&
                    (plan->b_column == 1 || plan->b_step == 1);
    plan->c_buffered = converts_c || plan->c_column != 1 || plan->c_rows;
    plan->pack_b = !plan->is_gemv &&
                   (converts || plan->b_column != 1 || (plan->m > FEW_ROWS && !fits_cache(plan, plan->k * plan->n)));
    plan->pack_a =
        !plan->is_gemv &&
        (converts || (plan->a_step != 1 && plan->n > 2 * plan->class->columns && !fits_cache(plan, plan->k * plan->m)));
    plan->a_run_steps = plan->pack_a ? 0 : a_run_length(plan);
    plan->pack_a = plan->pack_a || (plan->a_im2col && !plan->a_run_steps);
    plan->pack_b = plan->pack_b || plan->b_im2col;
}

/* Divides the steps of the sum into blocks of equal size, of which a packed row is at most WK__GEMM_K_BYTES long. A
 * vector times contiguous columns reads longer blocks of them. */
static void choose_k_block(wk__gemm_plan *plan)
{
    const bool reads_columns = plan->is_gemv && plan->b_column != 1;
    const int64_t steps = plan->a_run_steps ? plan->a_run_steps : plan->k;
    const int64_t packed = wk__gemm_packed_k(plan->class, steps);
    const int64_t packed_max =
        (reads_columns ? WK__GEMM_VECTOR_BYTES : WK__GEMM_K_BYTES) / (int64_t)plan->class->packed_size;
    const int64_t blocks = wk__chunk_count(packed, packed_max);
    plan->k_block = packed <= packed_max ? steps : wk__chunk_count(packed, blocks) * plan->class->k_per_packed;
}

static void plan_packing(wk__gemm_plan *plan)
{
    choose_packing(plan);
    choose_k_block(plan);
    if (plan->b_program.group) wk__gemm_b_program_layout(plan);
}

/* Finds the rows and columns of macrotile `index`, and its batch: a row-major index of the batch dimensions. */
static void find_macrotile(const wk__gemm_plan *plan, int64_t index, wk__gemm_macrotile *macrotile)
{
    const int64_t row = index % plan->row_macrotiles;
    index /= plan->row_macrotiles;
    const int64_t column = index % plan->column_macrotiles;
    index /= plan->column_macrotiles;
    *macrotile = (wk__gemm_macrotile){.batch = index};
    macrotile->row = row * plan->macrotile_rows;
    macrotile->row_end = wk__min_i64(macrotile->row + plan->macrotile_rows, plan->m);
    macrotile->column = column * plan->macrotile_columns;
    macrotile->column_end = wk__min_i64(macrotile->column + plan->macrotile_columns, plan->n);
}

/* Finds the addresses of the macrotile's batch. */
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

/* Runs macrotiles first .. end - 1 in order, all of them even if one fails. Returns the first failure. */
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

/* Returns the number of multiplications, with one more per element of C for storing it. */
static double plan_multiplications(const wk__gemm_plan *plan)
{
    return (double)plan->m * (double)plan->n * (double)(plan->k + 1) * (double)plan->batches;
}

static int64_t macrotile_count(const wk__gemm_plan *plan)
{
    return plan->batches * plan->row_macrotiles * plan->column_macrotiles;
}

static wk_code run_task(void *user, int64_t index, wk__gemm_buffers *const buffers[], wk__fail *fail)
{
    const task_list *list = user;
    const int64_t first = index * list->macrotiles_per_task;
    const int64_t end = wk__min_i64(first + list->macrotiles_per_task, list->macrotiles);
    return run_macrotiles(list->plan, first, end, buffers[0], fail);
}

static wk_code run_parallel(wk__gemm_plan *plan, wk__fail *fail)
{
    const double multiplications = plan_multiplications(plan);
    const int threads = wk__gemm_threads(multiplications);
    task_list list = {.plan = plan, .macrotiles = macrotile_count(plan)};
    const int64_t for_balance = list.macrotiles / ((int64_t)TASKS_PER_THREAD * threads) + 1;
    const int64_t for_work = (int64_t)(TASK_WORK / (multiplications / (double)list.macrotiles + 1)) + 1;
    list.macrotiles_per_task = threads == 1 ? list.macrotiles : wk__max_i64(for_balance, for_work);
    return wk__gemm_tasks(&(wk__gemm_job){.tasks = wk__chunk_count(list.macrotiles, list.macrotiles_per_task),
                                          .threads = threads,
                                          .nbuffers = needs_buffers(plan),
                                          .needs_prologue_buffer = plan->b_program.group,
                                          .body = run_task,
                                          .user = &list},
                          fail);
}

/* Returns a bound of the bytes of a packed row of A or column of B for one block of k. */
static int64_t packed_line_bytes(const wk__gemm_plan *plan)
{
    return wk__gemm_packed_k(plan->class, plan->k_block) * (int64_t)plan->class->packed_size + WK__GEMM_GAP;
}

/* Returns true if one thread can compute whole batches with buffers on its stack. */
static bool is_small(const wk__gemm_plan *plan)
{
    if (plan_multiplications(plan) >= WK__GEMM_SERIAL_FMAS || plan->m > WK__GEMM_BLOCK_ROWS || plan->b_program.group)
        return false;
    const int64_t line = packed_line_bytes(plan);
    const int64_t a = plan->pack_a ? plan->m * line : 0;
    const int64_t b = plan->pack_b ? (plan->n + plan->class->lanes) * line : 0;
    const int64_t c = plan->c_buffered ? plan->m * plan->n * (int64_t)plan->class->acc_size : 0;
    return a + b + c <= SMALL_BYTES;
}

static wk_code run_small(wk__gemm_plan *plan, wk__fail *fail)
{
    _Alignas(64) char data[SMALL_BYTES];
    wk__gemm_buffers buffers = {.a = data};
    const int64_t line = packed_line_bytes(plan);
    buffers.b = buffers.a + (plan->pack_a ? plan->m * line : 0);
    buffers.c = buffers.b + (plan->pack_b ? (plan->n + plan->class->lanes) * line : 0);
    return run_macrotiles(plan, 0, plan->batches, &buffers, fail);
}

/* Chooses the macrotiles. Returns true if there is one per batch, all for the calling thread (run_small). */
static bool plan_macrotiles(wk__gemm_plan *plan)
{
    plan_packing(plan);
    if (!is_small(plan)) {
        wk__gemm_partition(plan, wk__gemm_threads(plan_multiplications(plan)));
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
    if (!code) code = run_parallel(plan, fail);
    wk__gemm_prologue_end(&prologue);
    plan->prologue = NULL;
    return code;
}

static wk_code run_product(wk__gemm_plan *plan, wk__fail *fail)
{
    if (plan_macrotiles(plan)) return run_small(plan, fail);
    return plan->b_program.group ? run_with_prologue(plan, fail) : run_parallel(plan, fail);
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
    wk__fail unused; /* without an epilogue nothing can fail */
    run_macrotiles(plan, 0, macrotile_count(plan), buffers, &unused);
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
    const wk__program *epilogue = plan->epilogue_program;
    const bool reduces = epilogue && epilogue->nreduce > 0;
    if (is_empty(plan)) return reduces ? wk__cpu_run(epilogue, fail) : WK_OK; /* a reduction of nothing has a result */
    if (!epilogue) return run_product(plan, fail);
    if (!reduces) return run_with_epilogue(plan, fail);
    wk_code code = run_product(plan, fail); /* a row of C is complete only at the end */
    return code ? code : wk__cpu_run(epilogue, fail);
}

void wk__gemm_epilogue_boxes(wk__gemm_plan *plan, wk__epilogue_box_visit *visit, void *user)
{
    if (is_empty(plan) || !plan->epilogue_program || plan->epilogue_program->nreduce > 0) return;
    plan_macrotiles(plan);
    for (int64_t k = 0; k < macrotile_count(plan); k++) {
        wk__gemm_macrotile macrotile;
        find_macrotile(plan, k, &macrotile);
        wk__gemm_macrotile_boxes(plan, &macrotile, visit, user);
    }
}

/* Plans a product up to its packing. Returns false if a factor's prologue is not supported: only B, after the exchange,
 * may have one. */
static bool plan_product(wk__gemm_plan *plan, const wk__matmul *product, int64_t shape[])
{
    *plan = (wk__gemm_plan){0};
    plan_shape(plan, product, shape);
    const wk__program *of_a = product->prologue[plan->swapped], *of_b = product->prologue[!plan->swapped];
    if (of_a) return false;
    return !of_b || wk__gemm_b_program_init(plan, plan->swapped ? &product->a : &product->b, of_b);
}

wk_code wk__cpu_matmul(const wk__matmul *product, wk__fail *fail)
{
    wk__gemm_plan plan;
    int64_t shape[WK__MAX_DIMS];
    if (!plan_product(&plan, product, shape))
        return wk__fail_set(fail, WK_ERR_UNSUPPORTED, "the CPU cannot fuse this prologue");
    return wk__gemm_run(&plan, fail);
}

bool wk__cpu_can_fuse_prologue(const wk__work *work)
{
    wk__matmul product;
    wk__gemm_plan plan;
    int64_t shape[WK__MAX_DIMS];
    /* each macrotile computes its columns of B, so fusion pays only if no other has the same columns */
    return wk__matmul_from_work(work, &product) && plan_product(&plan, &product, shape) &&
           plan.m <= WK__GEMM_MACROTILE_ROWS;
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
    if (plan_product(&plan, product, shape)) wk__gemm_epilogue_boxes(&plan, visit, user);
}
