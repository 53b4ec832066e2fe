/* SPDX-License-Identifier: Apache-2.0 */
/* wick/data.h: datasets in host memory, loaders that make batches on a device, histories of scalars.
 *
 *     wk_loader *batches = wk_data_loader(data, .batch_size = 64, .shuffle = true, .device = device);
 *     WK_EACH(batch, batches) {
 *         wk_tensor *loss = wk_cross_entropy(wk_forward(net, batch->x), batch->y);
 *         ...
 *     } */
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

/* A dataset is a number of samples, and a sample up to 8 tensors: in most datasets x, its input, and y, its label. */
enum { WK_SAMPLE_TENSORS = 8 };

/* A sample, as functions of the user get and change it. The library owns the array, the innermost scope its tensors. */
typedef struct wk_sample {
    wk_tensor *tensors[WK_SAMPLE_TENSORS]; /* tensors[0] is x, tensors[1] is y */
    int count;                             /* tensors; 0 to WK_SAMPLE_TENSORS */
    int64_t index;                         /* of the sample in its dataset */
} wk_sample;

/* wk_data_tensors(x, y): Creates a dataset of the samples along dimension 0 of x and y; y may be NULL. The elements
 * are copied to the host.
 * Errors:    WK_ERR_SHAPE if x and y differ in the number of samples
 * PyTorch:   torch.utils.data.TensorDataset */
WK_RESULT_API wk_dataset *wk_data_tensors_at(wk_site site, wk_tensor *x, wk_tensor *y);

typedef struct wk_mnist_options {
    size_t size;
    wk_by_name by_name;
    bool train; /* the training set, files train-*; default false: the test set, files t10k-* */
    char reserved[7];
} wk_mnist_options;
/* wk_data_mnist(folder): Reads MNIST from the original files, plain or .gz: by default the test set of 10,000
 * digits, t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte; with .train = true the training set of 60,000. x is
 * f32 (1, 28, 28) in [0, 1], y i64.
 * Errors:    WK_ERR_IO if a file cannot be read; WK_ERR_FORMAT if a file is invalid */
WK_RESULT_API wk_dataset *wk_data_mnist_at(wk_site site, const char *folder, const wk_mnist_options *options);

/* wk_data_slice(data, from, to): Returns the samples from, ..., to - 1 without copying.
 * Errors:    WK_ERR_INDEX if they do not all exist */
WK_RESULT_API wk_dataset *wk_data_slice_at(wk_site site, wk_dataset *data, int64_t from, int64_t to);
/* wk_data_size(data): Returns the number of samples; 0 for NULL. */
WK_RESULT_API int64_t wk_data_size_at(wk_site site, const wk_dataset *data);

/* Returns the tensor that replaces x in a sample, or NULL after an error. user is the pointer given to wk_data_map. */
typedef wk_tensor *wk_data_transform(wk_tensor *x, void *user);
typedef struct wk_map_options {
    size_t size;
    wk_by_name by_name;
    int tensor; /* the tensor of a sample that f replaces; default 0, x; 1 is y */
    char reserved[4];
} wk_map_options;
/* wk_data_map(data, f, user): Returns the samples of data with x replaced by f(x, user), computed each time a loader
 * reads the sample.
 *
 *     static wk_tensor *noisy(wk_tensor *x, void *user)
 *     {
 *         return wk_add(x, wk_mul(wk_randn((1, 28, 28)), *(double *)user));
 *     }
 *     double deviation = 0.1;
 *     wk_dataset *train = wk_data_map(digits, noisy, &deviation);
 *
 * Threads:   f runs in the loop's thread or, with .workers of the loader, in several others at a time, on the CPU
 *            without gradients
 * Random:    wk_rand, wk_randint and the like draw from a stream that depends on the loader's seed, the epoch and the
 *            index of the sample alone, so that batches do not depend on .workers
 * Lifetime:  user must exist as long as a loader reads the dataset; tensors created in f are freed after the sample
 * Errors:    an error in f is an error of the loop WK_EACH, whose message names the sample; WK_ERR_ARGUMENT if f is
 *            NULL or .tensor is not one of the 8 of a sample
 * PyTorch:   the argument transform of datasets; .tensor = 1: target_transform */
WK_RESULT_API wk_dataset *wk_data_map_at(wk_site site, wk_dataset *data, wk_data_transform *f, void *user,
                                         const wk_map_options *options);

/* ---- loaders ----------------------------------------------------------------------------------------------------- */

typedef struct wk_loader_options {
    size_t size;
    wk_by_name by_name;
    int64_t batch_size;  /* samples per batch; default 1 */
    bool shuffle;        /* new order each epoch, a function of seed, epoch and number of samples; default false */
    bool drop_last;      /* omit a smaller last batch; default false */
    uint64_t seed;       /* of .shuffle and of random numbers that functions of the dataset draw; default 0 */
    int rank, world;     /* this process among world processes, which get shares of equal size; default 0 of 1 */
    wk_device device;    /* of the batches; default WK_DEVICE, else the CPU */
    int workers;         /* threads that prepare batches; default: see wk_data_loader */
    int prefetch_factor; /* batches that each of them prepares ahead; default 2 */
} wk_loader_options;
/* wk_data_loader(data): Creates a loader of batches of data: WK_EACH loops over them.
 *
 *     wk_loader *batches = wk_data_loader(train, .batch_size = 64, .shuffle = true, .workers = 2);
 *
 * Workers:   .workers threads prepare batches while the program uses one, and the loop gets the same batches in the
 *            same order for any number of them. By default the loop's thread runs the functions of wk_data_map and the
 *            like, and one thread prepares the batches of other datasets
 * Memory:    .workers * .prefetch_factor batches in host memory, by default one
 * Errors:    WK_ERR_DEVICE if .device does not exist; WK_ERR_ARGUMENT if .workers is not in [0, 1024]
 * PyTorch:   torch.utils.data.DataLoader */
WK_RESULT_API wk_loader *wk_data_loader_at(wk_site site, wk_dataset *data, const wk_loader_options *options);
/* wk_loader_count(loader): Returns the number of batches per epoch; 0 for NULL. */
WK_RESULT_API int64_t wk_loader_count_at(wk_site site, const wk_loader *loader);
/* wk_loader_epoch(loader): Returns the current epoch, or between two loops the next one, counted from 0; 0 for
 * NULL. After wk_checkpoint_load it is the epoch to continue with. */
WK_RESULT_API int64_t wk_loader_epoch_at(wk_site site, const wk_loader *loader);

/* A batch. The loader owns it, the loop's scope owns its tensors: wk_keep moves them out. */
typedef struct wk_batch {
    wk_tensor *x, *y; /* (batch, ...): tensors[0] and tensors[1]; y is NULL if the samples have none */
    int64_t index;    /* of the batch in its epoch, counted from 0 */
    wk_tensor *tensors[WK_SAMPLE_TENSORS]; /* (batch, ...): the tensors of the samples, stacked */
    int count;                             /* tensors */
} wk_batch;

/* wk_batch_begin(loader), wk_batch_next(batch), wk_batch_end(batch): Begin an epoch; free the previous batch, if
 * any, and load the next one, returning false after the last; end the epoch. For bindings and C++; C uses WK_EACH. */
WK_API wk_batch *wk_batch_begin_at(wk_site site, wk_loader *loader);
WK_API bool wk_batch_next(wk_batch **batch);
WK_API void wk_batch_end(wk_batch **batch);
#ifndef __cplusplus
/* WK_EACH(batch, loader): Iterates over the batches of an epoch, each in a scope of its own, at whose end recorded
 * work runs. break ends the epoch, and the next WK_EACH begins a new one; the first one after wk_checkpoint_load
 * continues after the batch at which the file was saved, without an iteration if that was the last. The loop ends
 * if an error is pending. Loops over one loader do not nest. */
#define WK_EACH(batch, loader)                                                                                         \
    for (__attribute__((cleanup(wk_batch_end))) wk_batch *batch = wk_batch_begin_at(WK_HERE, loader);                  \
         wk_batch_next(&batch);)
#else
#define WK_EACH(batch, loader)                                                                                         \
    static_assert(false, "WK_EACH is C only; in C++ use wk_batch_begin_at, wk_batch_next and wk_batch_end");           \
    for (wk_batch *batch = nullptr; false;)
#endif

/* ---- histories --------------------------------------------------------------------------------------------------- */

/* wk_history_new(): Creates a history, a list of scalars that stay on their device until they are read. Adding does
 * not wait; reading waits once for all scalars added since. */
WK_RESULT_API wk_history *wk_history_new_at(wk_site site);
typedef struct wk_history_options {
    size_t size;
    wk_by_name by_name;
    double weight; /* weight in the mean; default 1 */
} wk_history_options;
/* wk_history_add(history, x): Appends the element of x.
 * Returns:   WK_OK or an error code
 * Errors:    WK_ERR_SHAPE if x does not have exactly one element */
WK_API wk_code wk_history_add_at(wk_site site, wk_history *history, wk_tensor *x, const wk_history_options *options);
/* wk_history_count(history): Returns the number of scalars; 0 for NULL. */
WK_RESULT_API int64_t wk_history_count_at(wk_site site, const wk_history *history);
/* wk_history_mean(history): Returns the weighted mean; NaN if there is none. Waits for the device. */
WK_API double wk_history_mean_at(wk_site site, wk_history *history);
/* wk_history_values(history): Returns all wk_history_count scalars in order; NULL if there are none or on error.
 * Waits for the device.
 * Lifetime:  valid until the next call on history */
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
/* The doubles of each struct of options whose default may be other than 0 (macros.h). */
#define wk_map_options_numbers_(wk_do_, wk_o_)
#define wk_mnist_options_numbers_(wk_do_, wk_o_)
#define wk_loader_options_numbers_(wk_do_, wk_o_)
#define wk_history_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, weight)

#define wk_data_mnist(...) WK_NEW_DATASET_(WK_OPT_(wk_dataset *, wk_data_mnist, wk_mnist_options, __VA_ARGS__))
#define wk_data_map(data, f, ...)                                                                                      \
    WK_NEW_DATASET_(WK_OPT3_(wk_dataset *, wk_data_map, wk_map_options, "data, f, user", data, f, __VA_ARGS__))
#define wk_data_loader(...) WK_NEW_LOADER_(WK_OPT_(wk_loader *, wk_data_loader, wk_loader_options, __VA_ARGS__))
#define wk_history_add(history, ...)                                                                                   \
    WK_OPT2_(wk_code, wk_history_add, wk_history_options, "history, x", history, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
