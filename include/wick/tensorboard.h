/* SPDX-License-Identifier: Apache-2.0 */
/* wick/tensorboard.h: event files, which TensorBoard shows while a program trains.
 *
 *     wk_tensorboard *board = wk_tensorboard_open("runs/lenet");
 *     ...
 *     wk_tensorboard_scalar(board, "accuracy/test", epoch, accuracy);
 *
 * `tensorboard --logdir runs` then serves a page with the curves. */
#ifndef WICK_TENSORBOARD_H
#define WICK_TENSORBOARD_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "data.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wk_tensorboard wk_tensorboard; /* an event file */

/* wk_tensorboard_open(folder): Creates an event file in the folder, which is created with its parents if it does not
 * exist. Each call creates another file, events.out.tfevents.TIME.HOST.PROCESS.NUMBER; TensorBoard shows the files of a
 * folder as one run. The file is closed when the object is freed, for example by its scope. A child of
 * fork() cannot write to the file of its parent, and opens its own.
 * Returns:   the event file, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_ARGUMENT if folder is NULL or empty; WK_ERR_IO if the system reports an error
 * PyTorch:   torch.utils.tensorboard.SummaryWriter(folder) */
WK_RESULT_API wk_tensorboard *wk_tensorboard_open_at(wk_site site, const char *folder);
/* wk_tensorboard_scalar(board, tag, step, value): Writes a value, as f32, of the curve tag. The value is in the file,
 * where TensorBoard finds it, when the call returns.
 * Returns:   WK_OK or an error code; the code of a pending error, without writing
 * Errors:    WK_ERR_ARGUMENT if tag is NULL, empty or not UTF-8; WK_ERR_IO if the system reports an error; WK_ERR_STATE
 *            in a child of the process that opened the file. The file keeps the values of earlier calls
 * PyTorch:   SummaryWriter.add_scalar(tag, value, step) */
WK_API wk_code wk_tensorboard_scalar_at(wk_site site, wk_tensorboard *board, const char *tag, int64_t step,
                                        double value);
/* wk_tensorboard_history(board, tag, step, history): Writes all values of a history, for the steps step, step + 1, ...
 * Waits for the device once.
 *
 *     wk_tensorboard_history(board, "loss/train", epoch * wk_loader_count(batches), losses_of_epoch);
 *
 * Returns:   WK_OK or an error code; the code of a pending error, without writing
 * Errors:    as wk_tensorboard_scalar; WK_ERR_ARGUMENT if a step exceeds 2^63 - 1 */
WK_API wk_code wk_tensorboard_history_at(wk_site site, wk_tensorboard *board, const char *tag, int64_t step,
                                         wk_history *history);
/* wk_tensorboard_flush(board): Waits until the file is on the disk, so that it survives a crash of the system.
 * Returns:   WK_OK or an error code
 * Errors:    WK_ERR_IO if the system reports an error; WK_ERR_STATE in a child of the process that opened the file
 * PyTorch:   SummaryWriter.flush */
WK_API wk_code wk_tensorboard_flush_at(wk_site site, wk_tensorboard *board);

#define wk_tensorboard_open(...)    wk_tensorboard_open_at(WK_HERE, __VA_ARGS__)
#define wk_tensorboard_scalar(...)  wk_tensorboard_scalar_at(WK_HERE, __VA_ARGS__)
#define wk_tensorboard_history(...) wk_tensorboard_history_at(WK_HERE, __VA_ARGS__)
#define wk_tensorboard_flush(...)   wk_tensorboard_flush_at(WK_HERE, __VA_ARGS__)

#ifdef __cplusplus
}
#endif
#endif
