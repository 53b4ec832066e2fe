/* SPDX-License-Identifier: Apache-2.0 */
/* MNIST and Fashion-MNIST: images and labels from two IDX files, stored as bytes and converted to floats in batches. */
#include "base/alloc.h"
#include "base/options.h"
#include "dataset.h"
#include "idx.h"
#include <string.h>
#include <unistd.h>

static void pixels_to_float(void *to, const void *from, int64_t elements)
{
    float *out = to;
    const uint8_t *in = from;
    for (int64_t k = 0; k < elements; k++) out[k] = (float)in[k] / 255;
}

static void labels_to_i64(void *to, const void *from, int64_t elements)
{
    const uint8_t *in = from;
    for (int64_t k = 0; k < elements; k++) {
        int64_t label = in[k];
        memcpy((char *)to + (size_t)k * sizeof label, &label, sizeof label);
    }
}

/* Returns FOLDER/NAME, or FOLDER/NAME.gz if only that exists. The reader detects compression by content, not by
 * name. */
static wk_code read_plain_or_gz(const char *folder, const char *name, wk__idx *out, wk__io_error *error)
{
    wk__text path = {0};
    wk__text_format(&path, "%s/%s", folder, name);
    if (path.data && access(path.data, F_OK) != 0) wk__text_add(&path, ".gz");
    wk_code code = path.failed || !path.data ? wk__io_fail(error, WK_ERR_MEMORY, "out of host memory for a path")
                                             : wk__idx_read(path.data, out, error);
    wk__text_free(&path);
    return code;
}

/* A set of images. */
typedef struct image_set {
    const char *op, *name;
    const char *test_hint, *train_hint; /* advice if the files are missing */
} image_set;

static bool read_pair(wk_site site, const image_set *set, const char *folder, bool train, wk__idx *images,
                      wk__idx *names)
{
    const char *first = train ? "train-images-idx3-ubyte" : "t10k-images-idx3-ubyte",
               *second = train ? "train-labels-idx1-ubyte" : "t10k-labels-idx1-ubyte";
    wk__io_error error;
    wk_code code = read_plain_or_gz(folder, first, images, &error);
    if (code == WK_OK) {
        code = read_plain_or_gz(folder, second, names, &error);
        if (code != WK_OK) wk__free(images->data);
    }
    if (code == WK_ERR_IO)
        wk__error_set(site, code, "%s: %s; the folder \"%.200s\" must contain the %s files %s and %s (or .gz): %s",
                      set->op, error.text, folder, set->name, first, second, train ? set->train_hint : set->test_hint);
    else if (code != WK_OK)
        wk__error_set(site, code, "%s: %s", set->op, error.text);
    return code == WK_OK;
}

enum { WIDEST = 1 << 15 }; /* of an image without pixels its sizes may be anything */

static bool check_shapes(wk_site site, const char *op, const char *folder, const wk__idx *images, const wk__idx *names)
{
    if (images->dtype == WK_U8 && names->dtype == WK_U8 && images->ndim == 3 && names->ndim == 1 &&
        images->shape[0] == names->shape[0] && images->shape[1] <= WIDEST && images->shape[2] <= WIDEST)
        return true;
    wk__error_set(site, WK_ERR_FORMAT, "%s: expected n u8 images and n u8 labels in %.200s", op, folder);
    return false;
}

static wk_dataset *read_set(wk_site site, const image_set *set, const char *folder, const wk_mnist_options *options)
{
    wk__idx images = {0}, label_file = {0};
    wk_mnist_options o;
    if (!wk__options(site, set->op, options, &o)) return NULL;
    if (!folder) wk__error_set(site, WK_ERR_ARGUMENT, "%s: the folder is NULL", set->op);
    if (!folder || !read_pair(site, set, folder, wk__option_or(o.train, 1) != 0, &images, &label_file)) return NULL;
    if (!check_shapes(site, set->op, folder, &images, &label_file)) {
        wk__free(images.data);
        wk__free(label_file.data);
        return NULL;
    }
    const int64_t rows = images.shape[1], columns = images.shape[2], size = rows * columns;
    const wk__sample_array arrays[] = {{.data = images.data,
                                        .stored_bytes = size,
                                        .batch_bytes = 4 * size,
                                        .elements = size,
                                        .dtype = WK_F32,
                                        .ndim = 3,
                                        .shape = {1, rows, columns},
                                        .convert = pixels_to_float},
                                       {.data = label_file.data,
                                        .stored_bytes = 1,
                                        .batch_bytes = 8,
                                        .elements = 1,
                                        .dtype = WK_I64,
                                        .convert = labels_to_i64}};
    return wk__dataset_of_arrays(site, set->op, images.shape[0], 2, arrays);
}

wk_dataset *wk_data_mnist_at(wk_site site, const char *folder, const wk_mnist_options *options)
{
    static const image_set mnist = {
        .op = "data_mnist",
        .name = "MNIST",
        .test_hint = "download them, or use data/mnist of Wick's source tree",
        .train_hint = "download them, or use .train = false if the folder has the test set only, as data/mnist of "
                      "Wick's source tree"};
    return read_set(site, &mnist, folder, options);
}

wk_dataset *wk_data_fashion_mnist_at(wk_site site, const char *folder, const wk_mnist_options *options)
{
    static const image_set fashion = {.op = "data_fashion_mnist",
                                      .name = "Fashion-MNIST",
                                      .test_hint = "download them",
                                      .train_hint =
                                          "download them, or use .train = false if the folder has the test set only"};
    return read_set(site, &fashion, folder, options);
}
