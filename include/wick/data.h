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

/* A dataset is a list of samples. A sample has up to 8 tensors, usually x, the input, and y, the label. */
enum { WK_SAMPLE_TENSORS = 8 };

/* A sample, as functions of the program read and change it. The library owns the array, the innermost scope its
 * tensors. */
typedef struct wk_sample {
    wk_tensor *tensors[WK_SAMPLE_TENSORS]; /* tensors[0] is x, tensors[1] is y */
    int count;                             /* tensors; 0 to WK_SAMPLE_TENSORS */
    int64_t index;                         /* of the sample in its dataset */
} wk_sample;

/* wk_data_tensors(x, y): Creates a dataset of the samples along dimension 0 of x and y; y may be NULL. The elements
 * are copied to the host. wk_data_stack joins more tensors.
 * Errors:    WK_ERR_SHAPE if x and y differ in the number of samples
 * PyTorch:   torch.utils.data.TensorDataset */
WK_RESULT_API wk_dataset *wk_data_tensors_at(wk_site site, wk_tensor *x, wk_tensor *y);

typedef struct wk_mnist_options {
    size_t size;
    wk_by_name by_name;
    double train; /* true: the training set, files train-*; false: the test set, files t10k-*; default true */
} wk_mnist_options;
/* wk_data_mnist(folder), wk_data_fashion_mnist(folder): Read MNIST or Fashion-MNIST from the original files in the
 * folder, plain or .gz: by default the training set of 60,000 images, train-images-idx3-ubyte and
 * train-labels-idx1-ubyte; with .train = false the test set of 10,000, t10k-images-idx3-ubyte and
 * t10k-labels-idx1-ubyte. x is f32 (1, 28, 28) in [0, 1], y i64.
 *
 *     wk_dataset *digits = wk_data_mnist("data/mnist", .train = false);
 *
 * Errors:    WK_ERR_IO if a file cannot be read; WK_ERR_FORMAT if a file is invalid
 * PyTorch:   torchvision.datasets.MNIST, FashionMNIST, with ToTensor as transform */
WK_RESULT_API wk_dataset *wk_data_mnist_at(wk_site site, const char *folder, const wk_mnist_options *options);
WK_RESULT_API wk_dataset *wk_data_fashion_mnist_at(wk_site site, const char *folder, const wk_mnist_options *options);

typedef struct wk_dataset_kind {
    size_t size;                  /* sizeof(wk_dataset_kind) */
    int64_t (*count)(void *user); /* returns the number of samples; called once, by wk_data_new */
    /* Sets sample->tensors and sample->count for the sample at index, in [0, count). Returns false on failure. */
    bool (*get)(wk_sample *sample, int64_t index, void *user);
    void (*destroy)(void *user); /* optional: called when no handle, loader or dataset uses the dataset any more */
} wk_dataset_kind;
/* wk_data_new(kind, user): Creates a dataset of samples that functions of the program provide when a loader reads them.
 * The program may free *kind afterwards.
 *
 *     static int64_t count(void *user)
 *     {
 *         return ((files *)user)->count;
 *     }
 *     static bool get(wk_sample *sample, int64_t index, void *user)
 *     {
 *         const files *f = user;
 *         sample->tensors[0] = read_image(f->path[index]);
 *         sample->tensors[1] = wk_full((), f->label[index], .dtype = WK_I64);
 *         sample->count = 2;
 *         return true;
 *     }
 *     static const wk_dataset_kind kind = {.size = sizeof kind, .count = count, .get = get};
 *     wk_dataset *images = wk_data_new(&kind, &my_files);
 *
 * Threads:   get runs where the function of wk_data_map runs, with the same random stream
 * Lifetime:  user must exist until destroy is called. Tensors that get creates belong to the scope of that call
 * Errors:    WK_ERR_ARGUMENT if the kind is incomplete or count is negative. An error in get is an error of the loop
 *            WK_EACH; its message names the sample
 * PyTorch:   torch.utils.data.Dataset with __len__ and __getitem__ */
WK_RESULT_API wk_dataset *wk_data_new_at(wk_site site, const wk_dataset_kind *kind, void *user);

/* wk_data_slice(data, from, to): Returns the samples from, ..., to - 1 without copying.
 * Errors:    WK_ERR_INDEX if they do not all exist */
WK_RESULT_API wk_dataset *wk_data_slice_at(wk_site site, wk_dataset *data, int64_t from, int64_t to);
/* wk_data_subset(data, indices): Returns the samples at the indices, an i64 tensor with one dimension, in this order
 * and without copying. An index may occur more than once.
 *
 *     wk_dataset *few = wk_data_subset(digits, wk_of(int64_t, (3), 5, 2, 7));
 *
 * Errors:    WK_ERR_INDEX if a sample does not exist; WK_ERR_SHAPE, WK_ERR_DTYPE if indices has another shape or dtype
 * PyTorch:   torch.utils.data.Subset */
WK_RESULT_API wk_dataset *wk_data_subset_at(wk_site site, wk_dataset *data, wk_tensor *indices);
/* wk_data_concat((datasets)): Returns a dataset with the samples of each listed dataset, in order. The list may be a
 * WK_ARRAY of wk_dataset *const * and a count.
 *
 *     wk_dataset *both = wk_data_concat((digits, more_digits));
 *
 * Errors:    WK_ERR_ARGUMENT if the list is empty
 * PyTorch:   torch.utils.data.ConcatDataset */
WK_RESULT_API wk_dataset *wk_data_concat_at(wk_site site, wk_dataset *const *datasets, int64_t count);
/* wk_data_stack((datasets)): Returns a dataset whose sample k has the tensors of sample k of each listed dataset, in
 * order: for samples of more than two tensors. The list may be a WK_ARRAY of wk_dataset *const * and a count.
 *
 *     wk_dataset *data = wk_data_stack((wk_data_tensors(premise, hypothesis), wk_data_tensors(label, NULL)));
 *     WK_EACH(batch, wk_data_loader(data, .batch_size = 32))
 *         wk_forward_n(net, (batch->tensors[0], batch->tensors[1]), &scores, 1);       (the label is tensors[2])
 *
 * Errors:    WK_ERR_SHAPE if they differ in the number of samples; WK_ERR_ARGUMENT if the list is empty, a sample has
 *            more than WK_SAMPLE_TENSORS tensors, which a loader may report later, or the datasets are sequential
 *            partitions for different batch sizes (see wk_text_windows)
 * PyTorch:   torch.utils.data.StackDataset; torch.utils.data.TensorDataset of more than two tensors */
WK_RESULT_API wk_dataset *wk_data_stack_at(wk_site site, wk_dataset *const *datasets, int64_t count);

typedef struct wk_split_options {
    size_t size;
    wk_by_name by_name;
    uint64_t seed; /* of the random order; default 0 */
    bool stratify; /* give each part the same proportions of the labels y, which are integers; default false */
    char reserved[7];
} wk_split_options;
/* wk_data_random_split(data, (lengths), parts): Distributes the samples at random over as many datasets as lengths, and
 * stores the datasets in parts. Lengths are sizes that add up to the number of samples, or fractions that add up to 1:
 * sizes are rounded down, and remaining samples go to the first parts, one each. The list may be a WK_ARRAY of const
 * double * and a count.
 *
 *     wk_dataset *parts[2];
 *     wk_data_random_split(digits, (0.9, 0.1), parts, .seed = 1, .stratify = true);
 *
 * Returns:   WK_OK or an error code; parts are NULL on error
 * Errors:    WK_ERR_ARGUMENT if the lengths add up to something else or, with .stratify, a y is not one integer
 * PyTorch:   torch.utils.data.random_split; .stratify as in scikit-learn's train_test_split */
WK_API wk_code wk_data_random_split_at(wk_site site, wk_dataset *data, const double *lengths, int64_t count,
                                       wk_dataset **parts, const wk_split_options *options);
/* wk_data_cache(data): Returns the samples of data. Each is computed when it is first read, and then kept in host
 * memory. Random numbers of functions below the cache depend only on the index of the sample. Functions that must vary
 * by epoch belong above it.
 *
 *     wk_dataset *train = wk_data_map(wk_data_cache(wk_data_map(images, decode, NULL)), shift, NULL);
 */
WK_RESULT_API wk_dataset *wk_data_cache_at(wk_site site, wk_dataset *data);
/* wk_data_size(data): Returns the number of samples; 0 for NULL. */
WK_RESULT_API int64_t wk_data_size_at(wk_site site, const wk_dataset *data);
/* wk_data_get(data, index, &sample): Stores the sample at index, with its tensors on the CPU, in *sample. Functions of
 * the program run in this thread, without gradients, and draw from its random stream.
 *
 *     wk_sample sample;
 *     if (wk_data_get(digits, 0, &sample) == WK_OK) wk_print(sample.tensors[1]);
 *
 * Returns:   WK_OK or an error code; the innermost scope owns the tensors
 * Errors:    WK_ERR_INDEX if the sample does not exist
 * PyTorch:   data[index] */
WK_API wk_code wk_data_get_at(wk_site site, wk_dataset *data, int64_t index, wk_sample *sample);

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
 *            NULL or .tensor is not in [0, 7]
 * PyTorch:   the argument transform of datasets; .tensor = 1: target_transform */
WK_RESULT_API wk_dataset *wk_data_map_at(wk_site site, wk_dataset *data, wk_data_transform *f, void *user,
                                         const wk_map_options *options);

/* Changes the tensors of a sample, and their number. Returns false on failure. */
typedef bool wk_data_sample_transform(wk_sample *sample, void *user);
/* wk_data_map_samples(data, f, user): Returns the samples of data, changed by f(sample, user), as wk_data_map does: for
 * functions of several tensors, such as one that flips an image and its mask together.
 *
 *     static bool flip(wk_sample *sample, void *user)
 *     {
 *         if (wk_item(wk_rand(())) < 0.5)
 *             for (int k = 0; k < sample->count; k++) sample->tensors[k] = wk_flip(sample->tensors[k], (-1));
 *         return true;
 *     }
 *     wk_dataset *train = wk_data_map_samples(scans, flip, NULL);
 *
 * Errors:    WK_ERR_ARGUMENT if f is NULL
 * PyTorch:   the argument transforms of datasets of torchvision */
WK_RESULT_API wk_dataset *wk_data_map_samples_at(wk_site site, wk_dataset *data, wk_data_sample_transform *f,
                                                 void *user);

/* ---- loaders ----------------------------------------------------------------------------------------------------- */

/* Makes the tensors of a batch from its samples: sets batch->tensors and batch->count. Returns false on failure. */
typedef bool wk_data_collate(wk_sample *batch, const wk_sample *samples, int64_t count, void *user);
typedef struct wk_loader_options {
    size_t size;
    wk_by_name by_name;
    int64_t batch_size;  /* samples per batch; default 1 */
    bool shuffle;        /* new order each epoch, a function of seed, epoch and number of samples; default false */
    bool drop_last;      /* omit a smaller last batch; default false */
    uint64_t seed;       /* of the order, and of random numbers that functions of the dataset draw; default 0 */
    int rank, world;     /* the shard of this process, one of world shards of equal size; default 0 of 1 */
    wk_device device;    /* of the batches; default WK_DEVICE, else the CPU */
    int workers;         /* threads that prepare batches; default: see wk_data_loader */
    int prefetch_factor; /* batches that each of them prepares ahead; default 2 */
    wk_tensor *order;    /* i64 indices: the samples of an epoch in order, copied; default NULL, all samples */
    wk_tensor *weights;  /* one float per sample, copied; samples are drawn in proportion to it; default NULL */
    int64_t draws;       /* samples of an epoch with .weights; default the number of samples */
    bool no_replacement; /* with .weights: draw no sample twice in an epoch; default false */
    char reserved[7];
    wk_data_collate *collate; /* makes a batch of samples; default NULL, stacks each of their tensors */
    void *collate_user;       /* passed to collate; default NULL */
} wk_loader_options;
/* wk_data_loader(data): Creates a loader of batches of data: WK_EACH loops over them.
 *
 *     wk_loader *batches = wk_data_loader(train, .batch_size = 64, .shuffle = true, .workers = 2);
 *
 * Workers:   .workers threads prepare batches while the program uses one. The batches and their order do not depend on
 *            .workers. By default the loop's thread runs the functions of wk_data_map and the like, and one thread
 *            prepares the batches of other datasets
 * Memory:    .workers * .prefetch_factor batches in host memory, by default one
 * Stacking:  the samples of a batch must have the same shapes and dtypes, unless .collate makes the batch:
 *
 *     static bool padded(wk_sample *batch, const wk_sample *samples, int64_t count, void *user);
 *     wk_loader *texts = wk_data_loader(data, .batch_size = 32, .collate = padded);
 *
 *            collate runs where the functions of the dataset do; the tensors of samples are on the CPU
 * Order:     .shuffle also shuffles .order. .weights excludes .shuffle and .order; samples of weight 0 are never drawn:
 *
 *     wk_loader *balanced = wk_data_loader(data, .batch_size = 32, .weights = weights, .draws = 10000);
 *
 * Random:    as for wk_data_map; with .order or .weights a stream depends on the position of a sample in the epoch
 *            instead of its index, so that a sample that occurs twice gets different numbers
 * Errors:    WK_ERR_DEVICE if .device does not exist; WK_ERR_ARGUMENT if .workers is not in [0, 1024], .weights are
 *            negative or not finite, too few are positive, or the dataset is a sequential partition (see
 *            wk_text_windows) with another batch size or order; WK_ERR_INDEX if a sample of .order does not exist;
 *            WK_ERR_SHAPE, WK_ERR_DTYPE if .order or .weights have another shape or dtype
 * PyTorch:   torch.utils.data.DataLoader; .weights: WeightedRandomSampler; .order: SubsetRandomSampler with .shuffle */
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
    wk_tensor
        *tensors[WK_SAMPLE_TENSORS]; /* (batch, ...): the tensors of the samples, stacked or as .collate makes them */
    int count;                       /* tensors */
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

#define wk_data_tensors(x, y)              WK_NEW_DATASET_(wk_data_tensors_at(WK_HERE, x, y))
#define wk_data_new(...)                   WK_NEW_DATASET_(wk_data_new_at(WK_HERE, __VA_ARGS__))
#define wk_data_slice(data, from, to)      WK_NEW_DATASET_(wk_data_slice_at(WK_HERE, data, from, to))
#define wk_data_subset(data, indices)      WK_NEW_DATASET_(wk_data_subset_at(WK_HERE, data, indices))
#define wk_data_cache(data)                WK_NEW_DATASET_(wk_data_cache_at(WK_HERE, data))
#define wk_data_map_samples(data, f, user) WK_NEW_DATASET_(wk_data_map_samples_at(WK_HERE, data, f, user))
#define wk_history_new()                   WK_NEW_HISTORY_(wk_history_new_at(WK_HERE))
#define wk_history_mean(history)           wk_history_mean_at(WK_HERE, history)
#define wk_history_values(history)         wk_history_values_at(WK_HERE, history)
#define wk_data_get(data, index, sample)   wk_data_get_at(WK_HERE, data, index, sample)
#define wk_data_size(...)                  wk_data_size_at(WK_HERE, __VA_ARGS__)
#define wk_loader_count(...)               wk_loader_count_at(WK_HERE, __VA_ARGS__)
#define wk_loader_epoch(...)               wk_loader_epoch_at(WK_HERE, __VA_ARGS__)
#define wk_history_count(...)              wk_history_count_at(WK_HERE, __VA_ARGS__)

#ifndef __cplusplus
#define wk_data_mnist(...) WK_NEW_DATASET_(WK_OPT_(wk_dataset *, wk_data_mnist, wk_mnist_options, __VA_ARGS__))
#define wk_data_fashion_mnist(...)                                                                                     \
    WK_NEW_DATASET_(WK_OPT_(wk_dataset *, wk_data_fashion_mnist, wk_mnist_options, __VA_ARGS__))
#define wk_data_map(data, f, ...)                                                                                      \
    WK_NEW_DATASET_(WK_OPT3_(wk_dataset *, wk_data_map, wk_map_options, "data, f, user", data, f, __VA_ARGS__))
#define wk_data_loader(...) WK_NEW_LOADER_(WK_OPT_(wk_loader *, wk_data_loader, wk_loader_options, __VA_ARGS__))

/* A list or an array of datasets, and one of lengths. */
typedef struct wk_datasets_ {
    wk_dataset *const *at;
    int64_t count;
} wk_datasets_;
typedef struct wk_lengths_ {
    const double *at;
    int64_t count;
} wk_lengths_;
static inline wk_datasets_ wk_datasets_of_(wk_dataset *const *at, int64_t count)
{
    wk_datasets_ datasets = {at, count};
    return datasets;
}
static inline wk_lengths_ wk_lengths_of_(const double *at, int64_t count)
{
    wk_lengths_ lengths = {at, count};
    return lengths;
}
/* (.., list, ..): a block that ends with last, which uses wk_l_, a wk_datasets_ or wk_lengths_ of the list. */
#define WK_ITEMS_(result, item, items, wk_l_, list, text, last)                                                        \
    WK_JOIN_(WK_ITEMS_, WK_KIND_(list))(result, item, items, wk_l_, WK_JOIN_(wk_l_, in_), list, text, last)
#define WK_ITEMS_NOT_(result, item, items, wk_l_, wk_i_, list, text, last)                                             \
    WK_REFUSE_LIST_(result, text, WK_TEXTS_(list))
#define WK_ITEMS_LIST_(result, item, items, wk_l_, wk_i_, list, text, last)                                            \
    __extension__({                                                                                                    \
        item const wk_i_[] = {WK_BARE_ list};                                                                          \
        const items wk_l_ = {wk_i_, (int64_t)(WK_BYTES_(wk_i_) / sizeof(item))};                                       \
        last;                                                                                                          \
    })
#define WK_ITEMS_ARRAY_(result, item, items, wk_l_, wk_i_, list, text, last)                                           \
    __extension__({                                                                                                    \
        const items wk_l_ = items##of_ WK_NOTHING_ list;                                                               \
        last;                                                                                                          \
    })

#define wk_data_concat(list) WK_NEW_DATASET_(WK_CONCAT_(WK_LIST_NAME_, list))
#define WK_CONCAT_(wk_l_, list)                                                                                        \
    WK_ITEMS_(wk_dataset *, wk_dataset *, wk_datasets_, wk_l_, list,                                                   \
              "wk_data_concat: write datasets in two pairs of parentheses: wk_data_concat((a, b))",                    \
              WK_GIVE_(wk_dataset *, wk_data_concat_at(WK_HERE, wk_l_.at, wk_l_.count)))
#define wk_data_stack(list) WK_NEW_DATASET_(WK_DATA_STACK_(WK_LIST_NAME_, list))
#define WK_DATA_STACK_(wk_l_, list)                                                                                    \
    WK_ITEMS_(wk_dataset *, wk_dataset *, wk_datasets_, wk_l_, list,                                                   \
              "wk_data_stack: write datasets in two pairs of parentheses: wk_data_stack((a, b))",                      \
              WK_GIVE_(wk_dataset *, wk_data_stack_at(WK_HERE, wk_l_.at, wk_l_.count)))
#define wk_data_random_split(data, lengths, ...) WK_RANDOM_SPLIT_(WK_LIST_NAME_, data, lengths, __VA_ARGS__)
#define WK_RANDOM_SPLIT_(wk_l_, data, lengths, ...)                                                                    \
    WK_ITEMS_(wk_code, double, wk_lengths_, wk_l_, lengths,                                                            \
              "wk_data_random_split: write lengths in parentheses: wk_data_random_split(data, (0.9, 0.1), parts)",     \
              WK_JOIN_(WK_RANDOM_SPLIT_, WK_COUNT_(__VA_ARGS__))(wk_l_, data, __VA_ARGS__))
#define WK_RANDOM_SPLIT_1(wk_l_, data, parts)                                                                          \
    WK_GIVE_(wk_code, wk_data_random_split_at(WK_HERE, data, wk_l_.at, wk_l_.count, parts, NULL))
#define WK_RANDOM_SPLIT_WK2_(wk_l_, data, parts, ...)                                                                  \
    WK_GIVE_(wk_code, WK_CALL_(wk_code, wk_data_random_split, (data, wk_l_.at, wk_l_.count, parts), wk_split_options,  \
                               __VA_ARGS__))

#define wk_history_add(history, ...)                                                                                   \
    WK_OPT2_(wk_code, wk_history_add, wk_history_options, "history, x", history, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
