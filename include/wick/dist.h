/* SPDX-License-Identifier: Apache-2.0 */
/* wick/dist.h: one program in several processes, on one machine or on many: torch.distributed.
 *
 *     wk_dist_init();                                      // rank and world from whoever started the processes
 *     wk_tensor *x = wk_full((3), wk_dist_rank() + 1);
 *     wk_dist_all_reduce_(x);                              // of 4 ranks: {10, 10, 10}, in each of them
 *     wk_dist_finish();
 *     return wk_error() ? wk_report_error(stderr) : 0;     // 75 where a rank was gone or late: start the job again
 *
 * Every process runs the whole program; it is a rank, 0 to size - 1, of the world, and its tensors are its own. The
 * calls below that move numbers are made by all ranks of a group, in the same order, with the same dtypes, options and
 * numbers of elements: where they are not, each rank gets an error that says who called what. Shapes of as many
 * elements are not compared: each result has the shape of its caller's tensor. Started alone, a program is a world
 * of one, in which they check their arguments and are a copy, or nothing; so it is after wk_dist_finish. In a process
 * that was started as one of several, by the variables below, they and wk_ddp are WK_ERR_STATE before wk_dist_init.
 *
 * Each such call runs what the thread has recorded, and returns when it is done here. It takes part also while an error
 * is pending: then it moves nothing, and all ranks of the group get the error "rank 2 failed: ..." with that rank's
 * text; the world is as good as before. A rank that is gone, or so late that WICK_TIMEOUT seconds (600) go by, is
 * WK_ERR_TIMEOUT in all ranks with the first cause, and ranks that differ, or of which one has left, are WK_ERR_STATE:
 * from then on every call of the world fails with that at once.
 *
 * All ranks hold the same bits. Over TCP sums have one order, which depends on the size of the group and the number of
 * elements alone, so a job gives the same bits each time; over MPI they have the order of that MPI. Of f16 and bf16
 * they are f32, rounded once at the end. Tensors may be on any device, and lie as they like. No gradient flows through
 * these calls: numbers are replaced as under WK_NO_GRAD. On error they return NULL or the code, and what they work on
 * in place keeps its numbers. */
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

/* Joins the processes of the job and returns when all are there. Which job that is the environment says, in this order
 * (docs/cli.md has the variables):
 *
 *     WICK_COMM=self|tcp|mpi                   the engine, whatever the rest says
 *     the variables of Open MPI, MPICH         mpirun -n 4 ./prog
 *     those of Slurm                           srun -n 4 ./prog
 *     WICK_RANK, WICK_WORLD_SIZE, WICK_COORDINATOR        wick run -n 4 ./prog, or set by hand
 *     RANK, WORLD_SIZE, MASTER_ADDR, _PORT     torchrun --no-python --nproc-per-node 4 ./prog
 *     none of these                            a world of one
 *
 * WK_ERR_ARGUMENT for variables that do not fit together, here or between processes (another WICK_WORLD_SIZE or WICK_SECRET,
 * one WICK_RANK twice), WK_ERR_TIMEOUT when ranks are missing after WICK_TIMEOUT seconds (and up to 20 s more, in
 * which rank 0 may say which) and nothing tells why, WK_ERR_IO where a port or a host cannot be used, WK_ERR_STATE when
 * it has been called before (a process joins a world of several once) or another thread is in it. One thread calls this
 * and wk_dist_finish, while no other makes calls of this header.
 * torch.distributed.init_process_group. */
WK_API wk_code wk_dist_init_at(wk_site site);
/* Between wk_dist_init and wk_dist_finish? */
WK_RESULT_API bool wk_dist_is_initialized(void);
/* This process among all, 0 in a world of one; how many there are; this process among those on its machine, by which it
 * chooses a device: wk_try_gpu(wk_dist_local_rank()). Before wk_dist_init they are 0, 1 and 0, whatever was started. */
WK_RESULT_API int wk_dist_rank(void);
WK_RESULT_API int wk_dist_size(void);
WK_RESULT_API int wk_dist_local_rank(void);
/* Waits until all ranks are here and leaves the world; without one it does nothing. After an error of the world it only
 * leaves. Before that it waits for checkpoints that are being written, and gives their error. WK_OK or a code:
 * WK_ERR_STATE in a hook of backward: the world is not left then. Groups of the world are of no use any more.
 * torch.distributed.destroy_process_group. */
WK_API wk_code wk_dist_finish_at(wk_site site);

/* ---- groups ------------------------------------------------------------------------------------------------------ */

/* Some of the ranks, which work together without the others; an object of the innermost scope. All ranks of the world
 * call it in the same order with the same list, also those that are not in it. Ranks have a number of their own in the
 * group, in the order of the list.
 *
 *     wk_dist_group *even = wk_dist_new_group((0, 2));
 *     if (wk_dist_group_rank(even) >= 0) wk_dist_all_reduce_(x, .group = even);
 *
 * WK_ERR_ARGUMENT for a rank that there is not or that stands twice, and for an empty list.
 * torch.distributed.new_group, which puts the ranks in ascending order. */
typedef struct wk_dist_group wk_dist_group;
WK_API wk_dist_group *wk_dist_new_group_at(wk_site site, const int64_t *ranks, int count);
/* This process among those of the group, -1 if it is not in it; how many there are. NULL: of the world. */
WK_RESULT_API int wk_dist_group_rank_at(wk_site site, const wk_dist_group *group);
WK_RESULT_API int wk_dist_group_size_at(wk_site site, const wk_dist_group *group);

/* ---- all ranks --------------------------------------------------------------------------------------------------- */

typedef struct wk_dist_call_options {
    size_t size;
    wk_by_name by_name;
    wk_dist_group *group; /* default: all ranks. WK_ERR_ARGUMENT for one that this rank is not in */
} wk_dist_call_options;

/* How numbers of several ranks become one. Integers wrap; of bools a sum or maximum is "or", a product or minimum
 * "and". A NaN stays one in minimum and maximum. */
typedef enum wk_dist_op {
    WK_DIST_SUM = 0,
    WK_DIST_AVG, /* the sum over the number of ranks; of floats alone */
    WK_DIST_PRODUCT,
    WK_DIST_MIN,
    WK_DIST_MAX
} wk_dist_op;

typedef struct wk_dist_reduce_options {
    size_t size;
    wk_by_name by_name;
    wk_dist_group *group; /* default: all ranks */
    wk_dist_op op;        /* default: the sum */
    char reserved[4];
} wk_dist_reduce_options;

/* Returns when all ranks have called it. torch.distributed.barrier. */
WK_API wk_code wk_dist_barrier_at(wk_site site, const wk_dist_call_options *options);

/* x = op over the ranks of x, in each of them. Returns x. torch.distributed.all_reduce.
 *
 *     wk_dist_all_reduce_(loss, .op = WK_DIST_AVG) of 2 ranks with {1} and {4} makes both {2.5} */
WK_API wk_tensor *wk_dist_all_reduce__at(wk_site site, wk_tensor *x, const wk_dist_reduce_options *options);

/* x = x of rank `src` of the world, in each rank. Returns x. torch.distributed.broadcast.
 *
 *     wk_dist_broadcast_(x, 0) of 2 ranks with {1, 2} and {3, 4} makes both {1, 2} */
WK_API wk_tensor *wk_dist_broadcast__at(wk_site site, wk_tensor *x, int src, const wk_dist_call_options *options);

/* The ranks' x (n, ...) one behind the other, (size n, ...); of numbers, (size).
 * torch.distributed.all_gather_into_tensor.
 *
 *     wk_dist_all_gather(x) of 2 ranks with {1, 2} and {3, 4} is {1, 2, 3, 4} */
WK_API wk_tensor *wk_dist_all_gather_at(wk_site site, wk_tensor *x, const wk_dist_call_options *options);

/* Of op over the ranks of x (size n, ...) this rank's part, (n, ...). WK_ERR_SHAPE for a first dimension that is no
 * multiple of the size. torch.distributed.reduce_scatter_tensor.
 *
 *     wk_dist_reduce_scatter(x) of 2 ranks with {1, 2} and {3, 4} is {4} in rank 0, {6} in rank 1 */
WK_API wk_tensor *wk_dist_reduce_scatter_at(wk_site site, wk_tensor *x, const wk_dist_reduce_options *options);

/* Part k of x (size n, ...) goes to rank k; what came from rank k is part k of the result. WK_ERR_SHAPE as above.
 * torch.distributed.all_to_all_single.
 *
 *     wk_dist_all_to_all(x) of 2 ranks with {1, 2} and {3, 4} is {1, 3} in rank 0, {2, 4} in rank 1 */
WK_API wk_tensor *wk_dist_all_to_all_at(wk_site site, wk_tensor *x, const wk_dist_call_options *options);

/* ---- two ranks --------------------------------------------------------------------------------------------------- */

/* x goes to rank `dst` of the world, which calls wk_dist_recv_ with a tensor of its shape and dtype. What is sent
 * between two ranks arrives in order. WK_ERR_ARGUMENT for this rank itself. torch.distributed.send, recv. */
WK_API wk_code wk_dist_send_at(wk_site site, wk_tensor *x, int dst, const wk_dist_call_options *options);
/* x = what rank `src` of the world sent. Returns x. */
WK_API wk_tensor *wk_dist_recv__at(wk_site site, wk_tensor *x, int src, const wk_dist_call_options *options);

/* ---- figures ----------------------------------------------------------------------------------------------------- */

/* The mean of the figures that the ranks have added, by their weights: sum over ranks and figures of weight x figure,
 * over that of the weights. A rank may have added none. Waits as wk_history_mean does, and is the same number in all
 * ranks; NaN on error, and where there is no figure or the weights are 0 in all. torchmetrics' MeanMetric.
 *
 *     wk_history_add(hits, wk_mean(right), .weight = (double)wk_size(batch->x, 0));   // for each batch of this rank
 *     double accuracy = wk_dist_history_mean(hits);                                   // every rank calls it
 *     if (wk_dist_rank() == 0) printf("accuracy %.3f\n", accuracy); */
WK_API double wk_dist_history_mean_at(wk_site site, wk_history *history, const wk_dist_call_options *options);

/* ---- training ---------------------------------------------------------------------------------------------------- */

typedef struct wk_ddp_options {
    size_t size;
    wk_by_name by_name;
    wk_dist_group *group; /* default: all ranks */
    /* Of the vectors, in units of 2^20 bytes, in which gradients travel: default 25, and the first has 1 at most; 0:
     * one for each parameter. */
    double bucket_cap_mb;
    /* Buffers stay each rank's own; default: all get rank 0's before a forward in training. */
    bool no_broadcast_buffers;
    char reserved[7];
} wk_ddp_options;
/* The network as a module whose wk_backward leaves in each parameter the mean of all ranks' gradients, so that equal
 * steps keep the ranks' parameters equal. Its forward is that of the network, its parameters are the network's, by the
 * same paths, so files of the one are files of the other. When it is made, all ranks get rank 0's parameters and
 * buffers; WK_ERR_ARGUMENT with the first difference in all of them if networks differ in names, shapes, dtypes or in
 * what requires grad.
 *
 *     wk_module *ddp = wk_ddp(net);
 *     wk_optim *sgd = wk_optim_sgd(wk_parameters(ddp), .lr = 0.1);
 *     WK_EACH(batch, batches) {                            // each rank its own part: .rank, .world of wk_data_loader
 *         wk_tensor *loss = wk_cross_entropy(wk_forward(ddp, batch->x), batch->y);
 *         wk_optim_zero_grad(sgd);
 *         wk_backward(loss);
 *         wk_optim_step(sgd);
 *     }
 *
 * All ranks make the same number of backwards through it. Gradients travel in buckets while backward still runs, and
 * wk_backward returns when the means are there. Of f16 and bf16 they are summed in f32. A parameter that no rank used
 * keeps its gradient, or has none; where some ranks used it, those that did not count as 0. If a rank fails,
 * wk_backward fails in all of them with its text. The means have no history: wk_backward with .create_graph gives
 * gradients that lead to each rank's own graph no more. Move the network and freeze parameters before it is made.
 * Hooks on parameters, .post_accumulate too, see this rank's own gradient: the mean is there when wk_backward is back.
 * A backward through it within a hook of another stands behind WK_NO_SYNC; without that, a gradient that comes when its
 * parameter's bucket is on the way is WK_ERR_STATE. So is a backward while that of another thread runs. Where one
 * backward goes through several such networks of one group, all ranks do so in the same order and use the same
 * parameters, or it is WK_ERR_STATE in all of them; where they are of different groups it may be WK_ERR_TIMEOUT.
 *
 * In a world of one it does what the network does. The network may be wk_mirrored's, over several devices of each rank.
 * torch.nn.parallel.DistributedDataParallel; Li et al.:
 * PyTorch Distributed: Experiences on Accelerating Data Parallel Training, 2020. */
WK_RESULT_API wk_module *wk_ddp_at(wk_site site, wk_module *net, const wk_ddp_options *options);

/* The function behind WK_NO_SYNC, for bindings: closed by wk_guard_close. */
WK_API wk_guard wk_no_sync_open(wk_site site);
#ifndef __cplusplus
/* Until the end of the enclosing block, backwards of this thread add to the gradients of this rank alone; the next one
 * after it brings the mean of all that was added up. torch's no_sync.
 *
 *     for (int part = 0; part < 4; part++) {
 *         if (part < 3) { WK_NO_SYNC; wk_backward(loss_of(part)); }
 *         else wk_backward(loss_of(part));
 *     } */
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
    "wk_dist_new_group: ranks stand in parentheses: wk_dist_new_group((0, 2)); those in an array: "                    \
    "wk_dist_new_group(WK_ARRAY(ranks, count))"
/* () or (.group = even) */
#define wk_dist_barrier(...)    WK_JOIN_(WK_DIST_BARRIER_, WK_IS_MISSING_(__VA_ARGS__))(__VA_ARGS__)
#define WK_DIST_BARRIER_WK2_(x) wk_dist_barrier_at(WK_HERE, NULL)
#define WK_DIST_BARRIER_1(x)                                                                                           \
    WK_CALL_OF_(wk_code, WK_DIST_BARRIER_AT_, (), wk_dist_call_options, "wk_dist_barrier: " WK_BY_NAME_TEXT_, x)
#define WK_DIST_BARRIER_AT_(site, nothing, options) wk_dist_barrier_at(site, options)

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
