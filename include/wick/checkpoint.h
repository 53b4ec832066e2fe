/* SPDX-License-Identifier: Apache-2.0 */
/* wick/checkpoint.h: trainings that go on where they were: the state of an optimiser in a file, and a whole training.
 *
 *     wk_checkpoint *resume = wk_checkpoint_new("run.wick", net, optim, batches);
 *     if (wk_checkpoint_load(resume)) printf("goes on after step %lld\n", (long long)wk_checkpoint_step(resume));
 *     for (int64_t epoch = wk_loader_epoch(batches); epoch < 10 && !wk_error(); epoch++)
 *         WK_EACH(batch, batches) {    // none, if the file is of the last batch of an epoch
 *             ...
 *             wk_optim_step(optim);
 *             wk_checkpoint_every(resume, 100);
 *         }
 *     wk_checkpoint_wait(resume);
 *
 * Killed at any moment and started again, it ends with the same numbers, bit for bit.
 */
#ifndef WICK_CHECKPOINT_H
#define WICK_CHECKPOINT_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "data.h"
#include "io.h"
#include "optim.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wk_checkpoint wk_checkpoint; /* a training, and the file that it goes on from */

/* ---- the state of an optimiser ----------------------------------------------------------------------------------- */

/* What an optimiser keeps for its parameters, with the names of torch's state_dict behind those that the parameters had
 * in their list: "0.weight.exp_avg", "0.weight.step". The numbers of now: later steps leave the list as it is. NULL
 * with the error recorded. */
WK_RESULT_API wk_tensors *wk_optim_state_at(wk_site site, wk_optim *optim);
/* The same in a safetensors file, with kind, groups and options of the optimiser, to the bit (docs/formats.md). Refuses
 * while an error is pending, whose code it gives, and leaves an older file as it is. WK_OK or a code: WK_ERR_IO when
 * the system refuses, WK_ERR_STATE within the closure of lbfgs.
 *
 *     wk_save(net, "net.safetensors");
 *     wk_optim_save(adam, "adam.safetensors"); */
WK_API wk_code wk_optim_save_at(wk_site site, wk_optim *optim, const char *path);
/* The same back into an optimiser of the same kind, with the same parameters in the same groups, on whatever device
 * they are. Options are those of the file from then on, learning rates too, as torch's load_state_dict has it. Strict:
 * the message names the first thing in which optimiser and file differ, and nothing is changed. WK_OK or a code:
 * WK_ERR_IO when the system refuses, WK_ERR_FORMAT for a file that is no such file, WK_ERR_ARGUMENT for another kind,
 * groups or names, WK_ERR_SHAPE and WK_ERR_DTYPE for tensors that do not match.
 * torch.optim.Optimizer.load_state_dict. */
WK_API wk_code wk_optim_load_at(wk_site site, wk_optim *optim, const char *path);

/* ---- a training -------------------------------------------------------------------------------------------------- */

typedef struct wk_checkpoint_options {
    size_t size;
    wk_by_name by_name;
    wk_tensors *tensors; /* more that is saved and loaded, by its names: averages of weights, a step count */
    int keep;            /* how many files are kept, default 1 */
    bool blocking;       /* wait for the disk at each save */
    char reserved[3];
} wk_checkpoint_options;
/* What a training needs to go on, and the file for it. Each of net, optim and loader may be NULL: the training has
 * none. It keeps them alive, and makes no file yet.
 *
 * The file is a safetensors file (docs/formats.md) with
 *
 *     parameters and buffers of the network     whether it is training (wk_module_train) is the program's to say
 *     state and options of the optimiser        as wk_optim_save has them
 *     random numbers                            where each rank's thread is in its stream, to go on as wk_rand would
 *     where the loader is                       epoch and batch
 *     .tensors, steps done, world size, version of the library, and a checksum over all of it
 *
 * With .keep = k the last k stay: run.wick, the newest, is also run.wick.120 by its step, and beside it are the k - 1
 * before it. At every moment `path` is a whole file, the new one or the one before.
 *
 * What a program counts by itself, such as the means of a wk_history, is not in it: those of an epoch that was cut in
 * two are of the batches since the start.
 *
 * Among several ranks (wick/dist.h) all make it of the same things and call it alike, and rank 0 writes; ranks whose
 * checkpoints are of other things fail at the first save or load (WK_ERR_STATE). NULL with the error recorded, also
 * while an error is pending, as one of the arguments may be NULL for it. */
WK_RESULT_API wk_checkpoint *wk_checkpoint_new_at(wk_site site, const char *path, wk_module *net, wk_optim *optim,
                                                  wk_loader *loader, const wk_checkpoint_options *options);
/* Goes on from the file: everything that the checkpoint has is as it was when that was saved, and the first WK_EACH of
 * the loader goes on with the next batch. False, without an error, when there is no file: the training begins. False
 * with the error recorded when it cannot go on, and then nothing has changed: WK_ERR_FORMAT for a file that is damaged
 * or no checkpoint, WK_ERR_UNSUPPORTED for one of a newer library, WK_ERR_IO when the system refuses, WK_ERR_SHAPE,
 * WK_ERR_DTYPE and WK_ERR_ARGUMENT, in which the message names it, for a network, optimiser or loader that does not
 * fit. What the file has and the checkpoint has not is left out: to use a trained network, give NULL for the others.
 *
 * If `path` is damaged and .keep is more than 1, the newest older file that is whole is taken (wk_checkpoint_loaded_path
 * says which). If it is gone and older ones are there, that is WK_ERR_STATE: saves would remove those.
 *
 * A file goes to another device, another batch size and another number of ranks. On the same number, with loaders of
 * the same batch size, the training ends with the same bits as one that was never interrupted. On another one:
 *
 *     weights, optimiser, steps    the same in all ranks
 *     loader                       samples of the epoch that all ranks had behind them are not seen again; those left,
 *                                  in the order of the epoch, are shared out anew: rank r of w gets every w-th from
 *                                  the r-th on (as ever, the first ones of the epoch fill up the last round). The same
 *                                  holds for another batch size
 *     random numbers               rank r goes on with those of rank r modulo the old number
 *
 * All ranks load the same file: one that cannot read it fails all. */
WK_API bool wk_checkpoint_load_at(wk_site site, wk_checkpoint *checkpoint);
/* Saves now; in the body of WK_EACH the step of the batch at hand counts as done. The numbers are those of this moment,
 * whatever the program does next. They are written in the background, one file at a time: a save waits for the one
 * before it. What goes wrong there is an error of the next call on the checkpoint, of wk_checkpoint_wait, or of its
 * end; until then the older file stays. When the process ends meanwhile, too.
 *
 * Refuses while an error is pending, whose code it gives. WK_OK or a code: WK_ERR_IO when the system refuses,
 * WK_ERR_STATE in the closure of lbfgs, where ranks that share an epoch are not at the same batch, and where their
 * checkpoints are not of the same things. */
WK_API wk_code wk_checkpoint_save_at(wk_site site, wk_checkpoint *checkpoint);
/* A step is done: counts it, and saves if that makes a multiple of n, which is 1 or more. While an error is pending
 * nothing is saved; the step is not counted either, except among several ranks: there every call counts, so that all
 * save at the same one whatever fails in one of them. A rank with an error when a save is due fails it in all. WK_OK or
 * a code. */
WK_API wk_code wk_checkpoint_every_at(wk_site site, wk_checkpoint *checkpoint, int64_t n);
/* Returns when nothing is being written any more. WK_OK or a code: at the end of a program, before it looks at
 * wk_error. wk_dist_finish does the same. */
WK_API wk_code wk_checkpoint_wait_at(wk_site site, wk_checkpoint *checkpoint);
/* Steps counted by wk_checkpoint_every, in all processes since the training began; the same in all ranks. 0 for
 * NULL. */
WK_RESULT_API int64_t wk_checkpoint_step_at(wk_site site, const wk_checkpoint *checkpoint);
/* The file that the last wk_checkpoint_load has read; NULL, if there was none. Lives until the next load. */
WK_RESULT_API const char *wk_checkpoint_loaded_path_at(wk_site site, const wk_checkpoint *checkpoint);

#define wk_optim_state(optim)                 WK_NEW_TENSORS_(wk_optim_state_at(WK_HERE, optim))
#define wk_optim_save(optim, path)            wk_optim_save_at(WK_HERE, optim, path)
#define wk_optim_load(optim, path)            wk_optim_load_at(WK_HERE, optim, path)
#define wk_checkpoint_load(checkpoint)        wk_checkpoint_load_at(WK_HERE, checkpoint)
#define wk_checkpoint_save(checkpoint)        wk_checkpoint_save_at(WK_HERE, checkpoint)
#define wk_checkpoint_every(...)              wk_checkpoint_every_at(WK_HERE, __VA_ARGS__)
#define wk_checkpoint_wait(checkpoint)        wk_checkpoint_wait_at(WK_HERE, checkpoint)
#define wk_checkpoint_step(checkpoint)        wk_checkpoint_step_at(WK_HERE, checkpoint)
#define wk_checkpoint_loaded_path(checkpoint) wk_checkpoint_loaded_path_at(WK_HERE, checkpoint)

#ifndef __cplusplus
#define wk_checkpoint_options_numbers_(wk_do_, wk_o_)
#define wk_checkpoint_new(path, net, optim, ...)                                                                       \
    WK_OPT4_(wk_checkpoint *, wk_checkpoint_new, wk_checkpoint_options, "path, net, optim, loader", path, net, optim,  \
             __VA_ARGS__)
/* (a, b, c, d) or (a, b, c, d, .key = value, ...) */
#define WK_OPT4_(result, f, type, said, a, b, c, ...)                                                                  \
    WK_JOIN_(WK_OPT4_, WK_COUNT_(__VA_ARGS__))(result, f, type, said, a, b, c, __VA_ARGS__)
#define WK_OPT4_1(result, f, type, said, a, b, c, d)                                                                   \
    WK_JOIN_(WK_OPT4_1_, WK_IS_MISSING_(d))(result, f, said, a, b, c, d)
#define WK_OPT4_1_1(result, f, said, a, b, c, d)             f##_at(WK_HERE, a, b, c, d, NULL)
#define WK_OPT4_1_WK2_(result, f, said, a, b, c, d)          WK_REFUSE_MISSING_(result, f, said)
#define WK_OPT4_WK2_(result, f, type, said, a, b, c, d, ...) WK_CALL_(result, f, (a, b, c, d), type, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
