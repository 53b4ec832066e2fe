/* SPDX-License-Identifier: Apache-2.0 */
/* wick/checkpoint.h: files from which training resumes: the state of an optimiser, or of an entire training run.
 *
 *     wk_checkpoint *resume = wk_checkpoint_new("run.wick", net, optim, batches);
 *     if (wk_checkpoint_load(resume)) printf("resumes after step %lld\n", (long long)wk_checkpoint_step(resume));
 *     for (int64_t epoch = wk_loader_epoch(batches); epoch < 10 && !wk_error(); epoch++)
 *         WK_EACH(batch, batches) {    // no iteration if the file is of the last batch of an epoch
 *             ...
 *             wk_optim_step(optim);
 *             wk_checkpoint_every(resume, 100);
 *         }
 *     wk_checkpoint_wait(resume);
 *
 * A run that is killed at any moment and started again ends with the same bits. */
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

typedef struct wk_checkpoint wk_checkpoint; /* a training run and its file */

/* ---- the state of an optimiser ----------------------------------------------------------------------------------- */

/* wk_optim_state(optim): Returns the current state of the optimiser for its parameters, under the names of
 * PyTorch's state_dict after those of the parameters in their list: "0.weight.exp_avg", "0.weight.step". Later
 * steps do not change the list. */
WK_RESULT_API wk_tensors *wk_optim_state_at(wk_site site, wk_optim *optim);
/* wk_optim_save(optim, path): Writes the state, kind, groups, options and schedules of the optimiser to a safetensors
 * file, bit for bit (docs/reference/file-formats.md). On error an older file stays.
 *
 *     wk_save(net, "net.safetensors");
 *     wk_optim_save(adam, "adam.safetensors");
 *
 * Returns:   WK_OK or an error code; the code of a pending error, without writing
 * Errors:    WK_ERR_IO if the system reports an error; WK_ERR_STATE during a step of lbfgs (from the
 *            second call of its closure on) */
WK_API wk_code wk_optim_save_at(wk_site site, wk_optim *optim, const char *path);
/* wk_optim_load(optim, path): Reads the state into an optimiser of the same kind, with the same parameters in the
 * same groups, on whatever device they are. The options become those of the file, learning rates too, and its schedules
 * (schedule.h) continue from there; they are created before. The message names the first mismatch, and optim does not
 * change.
 * Returns:   WK_OK or an error code
 * Errors:    WK_ERR_IO if the system reports an error; WK_ERR_FORMAT if the file is invalid; WK_ERR_ARGUMENT if
 *            kind, groups, names or schedules differ; WK_ERR_SHAPE or WK_ERR_DTYPE if a tensor does not match
 * PyTorch:   optim.load_state_dict */
WK_API wk_code wk_optim_load_at(wk_site site, wk_optim *optim, const char *path);

/* ---- training runs ----------------------------------------------------------------------------------------------- */

typedef struct wk_checkpoint_options {
    size_t size;
    wk_by_name by_name;
    wk_tensors *tensors; /* further tensors to save and load, by name; default none */
    int keep;            /* number of files to keep; default 1 */
    bool blocking;       /* wait for the disk at each save; default false: write in the background */
    char reserved[3];
} wk_checkpoint_options;
/* wk_checkpoint_new(path, net, optim, loader): Creates a checkpoint of a training run. net, optim and loader may be
 * NULL if the run has none. It keeps them alive; no file is written yet.
 *
 * The file is a safetensors file (docs/reference/file-formats.md) with
 *
 *     parameters and buffers of net             not whether it is training (wk_module_train)
 *     state, options and schedules of optim     as by wk_optim_save
 *     random streams                            the position of each rank's thread
 *     position of loader                        epoch and batch
 *     .tensors, steps, world size, library version, and a checksum over all of it
 *
 * With .keep = k the last k files remain: run.wick, the newest, is also run.wick.120, by its step, beside the k - 1
 * before it. At every moment path is a complete file, the new or the previous one. Values that the program counts
 * itself, as the means of a wk_history, are not saved: those of an interrupted epoch cover the batches since the
 * start.
 *
 * All ranks (wick/dist.h) create it of the same objects and call it alike; rank 0 writes. Ranks with different
 * objects get WK_ERR_STATE at the first save or load.
 * Returns:   the checkpoint, owned by the innermost scope; NULL on error, and while an error is pending, as an
 *            argument may be NULL because of it */
WK_RESULT_API wk_checkpoint *wk_checkpoint_new_at(wk_site site, const char *path, wk_module *net, wk_optim *optim,
                                                  wk_loader *loader, const wk_checkpoint_options *options);
/* wk_checkpoint_load(checkpoint): Restores all objects of the checkpoint from the file; the first WK_EACH over the
 * loader continues with the next batch. Tensors in the file that the checkpoint lacks are ignored: pass NULL for
 * optim and loader to use a trained network.
 *
 * If path is damaged and .keep is greater than 1, the newest complete older file is read (wk_checkpoint_loaded_path
 * names it).
 *
 * Device, batch size and number of ranks may differ from those of the file. With the same number of ranks and batch
 * size the run ends with the same bits as one that was not interrupted. Otherwise
 *
 *     weights, optimiser, steps    are the same on all ranks
 *     loader                       skips the samples of the epoch that all ranks have seen; rank r of w gets every w-th
 *                                  of the others, in the order of the epoch, from the r-th on (the first samples of
 *                                  the epoch fill up the last round)
 *     random streams               rank r continues with that of rank r modulo the previous number
 *
 * All ranks read the same file; if one cannot, all fail.
 * Returns:   true if it was restored; false without an error if there is no file; false with an error otherwise,
 *            and then nothing has changed
 * Errors:    WK_ERR_FORMAT if the file is damaged or no checkpoint; WK_ERR_UNSUPPORTED if a newer library wrote it;
 *            WK_ERR_IO if the system reports an error; WK_ERR_SHAPE, WK_ERR_DTYPE or WK_ERR_ARGUMENT if an object
 *            does not match, which the message names; WK_ERR_STATE if path is missing and older files exist, which
 *            a save would remove */
WK_API bool wk_checkpoint_load_at(wk_site site, wk_checkpoint *checkpoint);
/* wk_checkpoint_save(checkpoint): Saves the current state; inside WK_EACH the step of the current batch counts as
 * done. The file is written in the background, one at a time: a save waits for the previous one. A failure there is
 * an error of the next call on the checkpoint, of wk_checkpoint_wait or of its destruction; until then, and if the
 * process ends, the older file stays.
 * Returns:   WK_OK or an error code; the code of a pending error, without saving
 * Errors:    WK_ERR_IO if the system reports an error; WK_ERR_STATE inside the closure of lbfgs, if ranks that
 *            share an epoch are at different batches, or if their checkpoints are of different objects */
WK_API wk_code wk_checkpoint_save_at(wk_site site, wk_checkpoint *checkpoint);
/* wk_checkpoint_every(checkpoint, n): Counts a step, and saves if the count is a multiple of n, which is at least
 * 1. While an error is pending it does neither; among several ranks it counts all the same, so that all save at the
 * same step. A rank with an error when a save is due fails it on all ranks.
 * Returns:   WK_OK or an error code */
WK_API wk_code wk_checkpoint_every_at(wk_site site, wk_checkpoint *checkpoint, int64_t n);
/* wk_checkpoint_wait(checkpoint): Waits until the last save is written. Call it at the end of a program before
 * wk_error; wk_dist_finish does the same.
 * Returns:   WK_OK or an error code */
WK_API wk_code wk_checkpoint_wait_at(wk_site site, wk_checkpoint *checkpoint);
/* wk_checkpoint_step(checkpoint): Returns the number of steps counted by wk_checkpoint_every since training began,
 * in all processes; the same on all ranks. 0 for NULL. */
WK_RESULT_API int64_t wk_checkpoint_step_at(wk_site site, const wk_checkpoint *checkpoint);
/* wk_checkpoint_loaded_path(checkpoint): Returns the path of the file that the last wk_checkpoint_load has read;
 * NULL if there was none.
 * Lifetime:  valid until the next load */
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
