/* SPDX-License-Identifier: Apache-2.0 */
/* wick/data.h: samples in host memory, batches of them on a device, and figures gathered there.
 *
 *     wk_loader *batches = wk_data_loader(data, .batch_size = 64, .shuffle = true, .device = device);
 *     WK_EACH(batch, batches) {
 *         wk_tensor *loss = wk_cross_entropy(wk_forward(net, batch->x), batch->y);
 *         ...
 *     }
 */
#ifndef WICK_DATA_H
#define WICK_DATA_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- datasets ---------------------------------------------------------------------------------------------------- */

/* The first dimension of x, and of y, counts samples: WK_ERR_SHAPE if it differs. The numbers are copied to the host
 * now; y may be NULL. torch.utils.data.TensorDataset. */
WK_RESULT_API wk_dataset *wk_data_tensors_at(wk_site site, wk_tensor *x, wk_tensor *y);

typedef struct wk_mnist_options {
    size_t size;
    wk_by_name by_name;
    bool train; /* train-images-idx3-ubyte and train-labels-idx1-ubyte; default those of t10k */
    char reserved[7];
} wk_mnist_options;
/* The handwritten digits from a folder with the original files, plain or .gz: x f32 (1, 28, 28) in 0..1, y i64.
 * WK_ERR_IO for a file that cannot be read, WK_ERR_FORMAT for one that is not what it should be. */
WK_RESULT_API wk_dataset *wk_data_mnist_at(wk_site site, const char *folder, const wk_mnist_options *options);

/* Samples from..to - 1 of a dataset; nothing is copied. WK_ERR_INDEX if they are not all there. */
WK_RESULT_API wk_dataset *wk_data_slice_at(wk_site site, wk_dataset *data, int64_t from, int64_t to);
/* How many samples; 0 for NULL. */
WK_RESULT_API int64_t wk_data_size_at(wk_site site, const wk_dataset *data);

/* ---- loaders ----------------------------------------------------------------------------------------------------- */

typedef struct wk_loader_options {
    size_t size;
    wk_by_name by_name;
    int64_t batch_size; /* 0: 1 */
    bool shuffle;       /* another order each epoch, which depends on seed, epoch and number of samples alone */
    bool drop_last;     /* without the last batch if it is smaller */
    uint64_t seed;
    int rank, world;  /* of `world` processes this is number `rank`: each gets its share, of equal size; world 0: 1 */
    wk_device device; /* where batches are made; one that is not there is WK_ERR_DEVICE at once */
} wk_loader_options;
/* torch.utils.data.DataLoader: the next batch is gathered in the background while the program works on one. */
WK_RESULT_API wk_loader *wk_data_loader_at(wk_site site, wk_dataset *data, const wk_loader_options *options);
/* Batches of an epoch; 0 for NULL. */
WK_RESULT_API int64_t wk_loader_count_at(wk_site site, const wk_loader *loader);
/* The epoch that runs or, between two loops, comes next; counted from 0. Where a checkpoint was loaded, that is where
 * the loop over epochs goes on. 0 for NULL. */
WK_RESULT_API int64_t wk_loader_epoch_at(wk_site site, const wk_loader *loader);

/* A batch belongs to the loader, its tensors to the loop's scope: wk_keep carries them out. */
typedef struct wk_batch {
    wk_tensor *x, *y; /* (batch, ...); y is NULL for data without */
    int64_t index;    /* of the batch in its epoch, from 0 */
} wk_batch;

/* What WK_EACH is made of: opens an epoch; closes the batch before, if any, and makes the next, false after the last;
 * closes the epoch. */
WK_API wk_batch *wk_batch_begin_at(wk_site site, wk_loader *loader);
WK_API bool wk_batch_next(wk_batch **batch);
WK_API void wk_batch_end(wk_batch **batch);
#ifndef __cplusplus
/* For each batch of an epoch, in a scope of its own, at whose end what was recorded is run. `break` drops the rest of
 * the epoch, the next WK_EACH begins a new one; but the first one after wk_checkpoint_load goes on behind the batch
 * after which the file was saved, with no round if that was the last. The loop ends when an error is pending. Two loops
 * over one loader do not nest. */
#define WK_EACH(batch, loader)                                                                                         \
    for (__attribute__((cleanup(wk_batch_end))) wk_batch *batch = wk_batch_begin_at(WK_HERE, loader);                  \
         wk_batch_next(&batch);)
#else
#define WK_EACH(batch, loader)                                                                                         \
    static_assert(false, "WK_EACH is C only; in C++ use wk_batch_begin_at, wk_batch_next and wk_batch_end");           \
    for (wk_batch *batch = nullptr; false;)
#endif

/* ---- figures ----------------------------------------------------------------------------------------------------- */

/* Numbers of tensors with one element, kept on their device until they are asked for: adding never waits, reading
 * waits once for all that was added since. */
WK_RESULT_API wk_history *wk_history_new_at(wk_site site);
typedef struct wk_history_options {
    size_t size;
    wk_by_name by_name;
    double weight; /* in the mean; default 1 */
} wk_history_options;
/* WK_OK or a code: WK_ERR_SHAPE for a tensor of more than one element. */
WK_API wk_code wk_history_add_at(wk_site site, wk_history *history, wk_tensor *x, const wk_history_options *options);
/* How many were added; 0 for NULL. */
WK_RESULT_API int64_t wk_history_count_at(wk_site site, const wk_history *history);
/* The weighted mean; NaN when there is none. */
WK_API double wk_history_mean_at(wk_site site, wk_history *history);
/* All of them in order, wk_history_count many; NULL when there are none or on error. Lives until the next call on the
 * history. */
WK_API const double *wk_history_values_at(wk_site site, wk_history *history);

#define wk_data_tensors(x, y)         WK_NEW_DATASET_(wk_data_tensors_at(WK_HERE, x, y))
#define wk_data_slice(data, from, to) WK_NEW_DATASET_(wk_data_slice_at(WK_HERE, data, from, to))
#define wk_history_new()              WK_NEW_HISTORY_(wk_history_new_at(WK_HERE))
#define wk_history_mean(history)      wk_history_mean_at(WK_HERE, history)
#define wk_history_values(history)    wk_history_values_at(WK_HERE, history)
#define wk_data_size(...)             wk_data_size_at(WK_HERE, __VA_ARGS__)
#define wk_loader_count(...)          wk_loader_count_at(WK_HERE, __VA_ARGS__)
#define wk_loader_epoch(...)          wk_loader_epoch_at(WK_HERE, __VA_ARGS__)
#define wk_history_count(...)         wk_history_count_at(WK_HERE, __VA_ARGS__)

#ifndef __cplusplus
#define wk_data_mnist(...)  WK_NEW_DATASET_(WK_OPT_(wk_dataset *, wk_data_mnist, wk_mnist_options, __VA_ARGS__))
#define wk_data_loader(...) WK_NEW_LOADER_(WK_OPT_(wk_loader *, wk_data_loader, wk_loader_options, __VA_ARGS__))
#define wk_history_add(history, ...)                                                                                   \
    WK_OPT2_(wk_code, wk_history_add, wk_history_options, "history, x", history, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
