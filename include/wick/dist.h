/* SPDX-License-Identifier: Apache-2.0 */
/* wick/dist.h: one program in several processes, on one or several machines; torch.distributed.
 *
 *     wk_dist_init();                                      // rank and world size from the launcher's environment
 *     wk_tensor *x = wk_full((3), wk_dist_rank() + 1);
 *     wk_dist_all_reduce_(x);                              // with 4 ranks: {10, 10, 10} on each
 *     wk_dist_finish();
 *     return wk_error() ? wk_report_error(stderr) : 0;     // 75 if a rank was lost or late: start the job again
 *
 * Ranks:     every process runs the entire program. It is a rank, 0 to size - 1, of the world and has its own
 *            tensors. A program started alone is a world of one, in which the calls below check their arguments and
 *            copy or do nothing; so is a process after wk_dist_finish. In a process of several, the calls and
 *            wk_ddp are WK_ERR_STATE before wk_dist_init.
 *
 * Collectives:all ranks of a group make the same calls in the same order, with the same dtypes, options and numbers
 *            of elements; otherwise each rank gets an error that says which rank called what. Shapes with equal
 *            numbers of elements are not compared; a result has the shape of its caller's tensor. A call runs the
 *            thread's recorded work and returns when it is done on this rank. Tensors may be on any device, with
 *            any strides. Gradients do not flow: elements are replaced as under WK_NO_GRAD.
 *
 * Errors:    on error a call returns NULL or the code, and the operand of a call in place keeps its elements. While
 *            an error is pending a call takes part without moving elements, and all ranks of the group get "rank 2
 *            failed: ..." with that rank's message; the world remains usable. A rank that is lost or later than
 *            WICK_TIMEOUT seconds (600) is WK_ERR_TIMEOUT on all ranks, with the first cause; ranks with different
 *            calls, or a rank that has left, are WK_ERR_STATE. After either, every call of the world fails at once.
 *
 * Bits:      all ranks hold the same bits. Over TCP the order of a sum depends only on the size of the group and
 *            the number of elements, so a job gives the same bits each time; over MPI the order is that of MPI. f16
 *            and bf16 are added in f32 and rounded once. */
#ifndef WICK_DIST_H
#define WICK_DIST_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "nn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the world --------------------------------------------------------------------------------------------------- */

/* wk_dist_init(): Joins the processes of the job and returns when all have joined. The environment describes the
 * job, in this order of precedence (docs/reference/environment.md):
 *
 *     WICK_COMM=self|tcp|mpi                                  the transport, whatever else is set
 *     the variables of Open MPI, MPICH                        mpirun -n 4 ./prog
 *     those of Slurm                                          srun -n 4 ./prog
 *     WICK_RANK, WICK_WORLD_SIZE, WICK_COORDINATOR            wick run -n 4 ./prog, or set by hand
 *     RANK, WORLD_SIZE, MASTER_ADDR, _PORT                    torchrun --no-python --nproc-per-node 4 ./prog
 *     none of these                                           a world of one
 *
 * Threads:   one thread calls this and wk_dist_finish, while no other makes calls of this header
 * Returns:   WK_OK or an error code
 * Errors:    WK_ERR_ARGUMENT if variables do not match, here or between processes (another WICK_WORLD_SIZE or
 *            WICK_SECRET, one WICK_RANK twice); WK_ERR_TIMEOUT if ranks are missing after WICK_TIMEOUT seconds (and
 *            up to 20 s more, in which rank 0 may name them) for an unknown reason; WK_ERR_IO if a port or host
 *            cannot be used; WK_ERR_STATE if it was called before (a process joins a world of several once) or
 *            another thread is inside it
 * PyTorch:   torch.distributed.init_process_group */
WK_API wk_code wk_dist_init_at(wk_site site);
/* wk_dist_is_initialized(): Returns true between wk_dist_init and wk_dist_finish. */
WK_RESULT_API bool wk_dist_is_initialized(void);
/* wk_dist_rank(), wk_dist_size(), wk_dist_local_rank(): Return the rank of this process, the number of ranks, and
 * the rank among the processes on this machine, which selects a device: wk_try_gpu(wk_dist_local_rank()). Before
 * wk_dist_init they are 0, 1 and 0. */
WK_RESULT_API int wk_dist_rank(void);
WK_RESULT_API int wk_dist_size(void);
WK_RESULT_API int wk_dist_local_rank(void);
/* wk_dist_finish(): Waits for checkpoints that are being written and for all ranks, and leaves the world; after an
 * error of the world it does not wait for ranks. Without a world it does nothing. Groups of the world become
 * unusable.
 * Returns:   WK_OK or an error code, also that of a checkpoint
 * Errors:    WK_ERR_STATE inside a hook of backward; the world is not left
 * PyTorch:   torch.distributed.destroy_process_group */
WK_API wk_code wk_dist_finish_at(wk_site site);

/* ---- groups ------------------------------------------------------------------------------------------------------ */

/* wk_dist_new_group((ranks)): Creates a group of ranks that communicate without the others. All ranks of the world
 * make the call in the same order with the same list, also those outside the group. Ranks of the group are numbered
 * in the order of the list.
 *
 *     wk_dist_group *even = wk_dist_new_group((0, 2));
 *     if (wk_dist_group_rank(even) >= 0) wk_dist_all_reduce_(x, .group = even);
 *
 * Returns:   the group, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_ARGUMENT if a rank does not exist or is listed twice, or the list is empty
 * PyTorch:   torch.distributed.new_group, which sorts the ranks */
typedef struct wk_dist_group wk_dist_group;
WK_API wk_dist_group *wk_dist_new_group_at(wk_site site, const int64_t *ranks, int count);
/* wk_dist_group_rank(group), wk_dist_group_size(group): Return the rank of this process in the group, -1 if it is
 * outside, and the number of ranks. NULL is the world. */
WK_RESULT_API int wk_dist_group_rank_at(wk_site site, const wk_dist_group *group);
WK_RESULT_API int wk_dist_group_size_at(wk_site site, const wk_dist_group *group);

/* ---- collectives ------------------------------------------------------------------------------------------------- */

typedef struct wk_dist_call_options {
    size_t size;
    wk_by_name by_name;
    wk_dist_group *group; /* default all ranks; WK_ERR_ARGUMENT if this rank is outside */
} wk_dist_call_options;

/* How elements of several ranks are combined. Integers wrap. For bool, sum and maximum are logical or, product and
 * minimum logical and. NaN is kept by minimum and maximum. */
typedef enum wk_dist_op {
    WK_DIST_SUM = 0,
    WK_DIST_AVG, /* the mean; floating dtypes only */
    WK_DIST_PRODUCT,
    WK_DIST_MIN,
    WK_DIST_MAX
} wk_dist_op;

typedef struct wk_dist_reduce_options {
    size_t size;
    wk_by_name by_name;
    wk_dist_group *group; /* default all ranks */
    wk_dist_op op;        /* default WK_DIST_SUM */
    char reserved[4];
} wk_dist_reduce_options;

/* wk_dist_barrier(): Returns when all ranks have called it.
 * Returns:   WK_OK or an error code
 * PyTorch:   torch.distributed.barrier */
WK_API wk_code wk_dist_barrier_at(wk_site site, const wk_dist_call_options *options);

/* wk_dist_all_reduce_(x): Replaces x by the combination of all ranks' x. Returns x; NULL on error.
 * Example:   wk_dist_all_reduce_(loss, .op = WK_DIST_AVG) on 2 ranks with {1} and {4} sets both to {2.5}
 * PyTorch:   torch.distributed.all_reduce */
WK_API wk_tensor *wk_dist_all_reduce__at(wk_site site, wk_tensor *x, const wk_dist_reduce_options *options);

/* wk_dist_broadcast_(x, src): Replaces x by that of rank src of the world. Returns x; NULL on error.
 * Example:   wk_dist_broadcast_(x, 0) on 2 ranks with {1, 2} and {3, 4} sets both to {1, 2}
 * PyTorch:   torch.distributed.broadcast */
WK_API wk_tensor *wk_dist_broadcast__at(wk_site site, wk_tensor *x, int src, const wk_dist_call_options *options);

/* wk_dist_all_gather(x): Concatenates the ranks' x.
 * Shapes:    (n, ...) -> (size n, ...); () -> (size)
 * Example:   wk_dist_all_gather(x) on 2 ranks with {1, 2} and {3, 4} is {1, 2, 3, 4}
 * PyTorch:   torch.distributed.all_gather_into_tensor */
WK_API wk_tensor *wk_dist_all_gather_at(wk_site site, wk_tensor *x, const wk_dist_call_options *options);

/* wk_dist_reduce_scatter(x): Combines the ranks' x and returns this rank's part.
 * Shapes:    (size n, ...) -> (n, ...)
 * Errors:    WK_ERR_SHAPE if the first size is no multiple of the number of ranks
 * Example:   wk_dist_reduce_scatter(x) on 2 ranks with {1, 2} and {3, 4} is {4} on rank 0, {6} on rank 1
 * PyTorch:   torch.distributed.reduce_scatter_tensor */
WK_API wk_tensor *wk_dist_reduce_scatter_at(wk_site site, wk_tensor *x, const wk_dist_reduce_options *options);

/* wk_dist_all_to_all(x): Sends part k of x to rank k; part k of the result is from rank k.
 * Shapes:    (size n, ...) -> (size n, ...)
 * Errors:    WK_ERR_SHAPE if the first size is no multiple of the number of ranks
 * Example:   wk_dist_all_to_all(x) on 2 ranks with {1, 2} and {3, 4} is {1, 3} on rank 0, {2, 4} on rank 1
 * PyTorch:   torch.distributed.all_to_all_single */
WK_API wk_tensor *wk_dist_all_to_all_at(wk_site site, wk_tensor *x, const wk_dist_call_options *options);

/* ---- point to point----------------------------------------------------------------------------------------------- */

/* wk_dist_send(x, dst), wk_dist_recv_(x, src): Send x to rank dst of the world, which receives it from rank src
 * into an x of the same shape and dtype. Messages between two ranks arrive in order.
 * Returns:   WK_OK or an error code; x, or NULL on error
 * Errors:    WK_ERR_ARGUMENT if dst or src is this rank
 * PyTorch:   torch.distributed.send, torch.distributed.recv */
WK_API wk_code wk_dist_send_at(wk_site site, wk_tensor *x, int dst, const wk_dist_call_options *options);
WK_API wk_tensor *wk_dist_recv__at(wk_site site, wk_tensor *x, int src, const wk_dist_call_options *options);

/* ---- histories --------------------------------------------------------------------------------------------------- */

/* wk_dist_history_mean(history): Returns the weighted mean of the scalars of all ranks, the same on all; NaN on
 * error, if there are none, or if all weights are 0. A rank may have none. Waits as wk_history_mean does.
 *
 *     wk_history_add(hits, wk_mean(right), .weight = (double)wk_size(batch->x, 0));   // for each batch of this rank
 *     double accuracy = wk_dist_history_mean(hits);                                   // on every rank
 *     if (wk_dist_rank() == 0) printf("accuracy %.3f\n", accuracy);
 *
 * PyTorch:   torchmetrics.MeanMetric */
WK_API double wk_dist_history_mean_at(wk_site site, wk_history *history, const wk_dist_call_options *options);

/* ---- training ---------------------------------------------------------------------------------------------------- */

typedef struct wk_ddp_options {
    size_t size;
    wk_by_name by_name;
    wk_dist_group *group; /* default all ranks */
    /* size of the buckets in which gradients travel, in units of 2^20 bytes; default 25, the first at most 1; 0: one
     * bucket for each parameter */
    double bucket_cap_mb;
    /* keep each rank's buffers; default false: all get rank 0's before a forward in training mode */
    bool no_broadcast_buffers;
    char reserved[7];
} wk_ddp_options;
/* wk_ddp(net): Creates a module whose wk_backward leaves the mean of all ranks' gradients in each parameter, so
 * that equal steps keep the ranks' parameters equal. Forward, parameters and paths are those of net, so files are
 * interchangeable. All ranks get rank 0's parameters and buffers now.
 *
 *     wk_module *ddp = wk_ddp(net);
 *     wk_optim *sgd = wk_optim_sgd(wk_parameters(ddp), .lr = 0.1);
 *     WK_EACH(batch, batches) {                            // each rank its part: .rank and .world of wk_data_loader
 *         wk_tensor *loss = wk_cross_entropy(wk_forward(ddp, batch->x), batch->y);
 *         wk_optim_zero_grad(sgd);
 *         wk_backward(loss);
 *         wk_optim_step(sgd);
 *     }
 *
 * All ranks make the same number of backwards through it. Gradients travel in buckets during backward, and
 * wk_backward returns when the means are complete; f16 and bf16 are added in f32. A parameter that no rank used
 * keeps its gradient or has none; if some ranks used it, the others count as 0. If a rank fails, wk_backward fails
 * on all with its message. The means have no graph: gradients of .create_graph do not lead to each rank's own. Move
 * net and freeze parameters before this call. Hooks on parameters, also .post_accumulate, get this rank's gradient;
 * the mean is complete when wk_backward returns.
 *
 * A backward inside a hook of another needs WK_NO_SYNC; without it, a gradient whose bucket is being sent is
 * WK_ERR_STATE, as is a backward while another thread runs one. If one backward uses several such modules of one
 * group, all ranks use them in the same order with the same parameters, else it is WK_ERR_STATE on all; with
 * different groups it may be WK_ERR_TIMEOUT.
 *
 * In a world of one it is net. net may be a wk_mirrored module, over several devices of each rank.
 * Errors:    WK_ERR_ARGUMENT on all ranks, with the first difference, if networks differ in names, shapes, dtypes
 *            or requires_grad
 * PyTorch:   torch.nn.parallel.DistributedDataParallel
 * Paper:     Li et al.: PyTorch Distributed: Experiences on Accelerating Data Parallel Training, 2020 */
WK_RESULT_API wk_module *wk_ddp_at(wk_site site, wk_module *net, const wk_ddp_options *options);

/* wk_no_sync_open(site): Opens the guard of WK_NO_SYNC, for bindings and C++; wk_guard_close closes it. */
WK_API wk_guard wk_no_sync_open(wk_site site);
#ifndef __cplusplus
/* WK_NO_SYNC: Until the end of the enclosing block, backwards of this thread add to the gradients of this rank
 * only; the next one after it averages what was added up.
 *
 *     for (int part = 0; part < 4; part++) {
 *         if (part < 3) { WK_NO_SYNC; wk_backward(loss_of(part)); }
 *         else wk_backward(loss_of(part));
 *     }
 *
 * PyTorch:   no_sync */
#define WK_NO_SYNC WK_GUARD_(wk_no_sync_open(WK_HERE))
#else
#define WK_NO_SYNC static_assert(false, "WK_NO_SYNC is C only; in C++ use wk_no_sync_open(WK_HERE) and wk_guard_close")
#endif

#define wk_dist_init()          wk_dist_init_at(WK_HERE)
#define wk_dist_finish()        wk_dist_finish_at(WK_HERE)
#define wk_dist_group_rank(...) wk_dist_group_rank_at(WK_HERE, __VA_ARGS__)
#define wk_dist_group_size(...) wk_dist_group_size_at(WK_HERE, __VA_ARGS__)

#ifndef __cplusplus
#define wk_dist_new_group(...) WK_JOIN_(WK_DIST_NEW_GROUP_, WK_COUNT_(__VA_ARGS__))(WK_INTS_NAME_, __VA_ARGS__)
#define WK_DIST_NEW_GROUP_1(wk_s_, list)                                                                               \
    WK_SIZED_(wk_dist_group *, wk_s_, list, WK_DIST_NEW_GROUP_TEXT_,                                                   \
              WK_GIVE_(wk_dist_group *, wk_dist_new_group_at(WK_HERE, wk_s_.at, wk_s_.count)))
#define WK_DIST_NEW_GROUP_WK2_(wk_s_, ...) WK_REFUSE_(wk_dist_group *, WK_DIST_NEW_GROUP_TEXT_)
#define WK_DIST_NEW_GROUP_TEXT_                                                                                        \
    "wk_dist_new_group: write ranks in parentheses: wk_dist_new_group((0, 2)); for an array: "                         \
    "wk_dist_new_group(WK_ARRAY(ranks, count))"
/* () or (.group = even) */
#define wk_dist_barrier(...) WK_OPT0_(wk_code, wk_dist_barrier, wk_dist_call_options, __VA_ARGS__)

#define wk_ddp(...)              WK_NEW_MODULE_(WK_OPT_(wk_module *, wk_ddp, wk_ddp_options, __VA_ARGS__))
#define wk_dist_all_reduce_(...) WK_OPT_(wk_tensor *, wk_dist_all_reduce_, wk_dist_reduce_options, __VA_ARGS__)
#define wk_dist_broadcast_(x, ...)                                                                                     \
    WK_OPT2_(wk_tensor *, wk_dist_broadcast_, wk_dist_call_options, "x, src", x, __VA_ARGS__)
#define wk_dist_all_gather(...)     WK_OPT_(wk_tensor *, wk_dist_all_gather, wk_dist_call_options, __VA_ARGS__)
#define wk_dist_history_mean(...)   WK_OPT_(double, wk_dist_history_mean, wk_dist_call_options, __VA_ARGS__)
#define wk_dist_reduce_scatter(...) WK_OPT_(wk_tensor *, wk_dist_reduce_scatter, wk_dist_reduce_options, __VA_ARGS__)
#define wk_dist_all_to_all(...)     WK_OPT_(wk_tensor *, wk_dist_all_to_all, wk_dist_call_options, __VA_ARGS__)
#define wk_dist_send(x, ...)        WK_OPT2_(wk_code, wk_dist_send, wk_dist_call_options, "x, dst", x, __VA_ARGS__)
#define wk_dist_recv_(x, ...)       WK_OPT2_(wk_tensor *, wk_dist_recv_, wk_dist_call_options, "x, src", x, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
