/* SPDX-License-Identifier: Apache-2.0 */
/* Samples in host memory, shared by a dataset and its slices. */
#ifndef WICK_DATA_DATASET_H
#define WICK_DATA_DATASET_H

#include "tensor/tensor.h"
#include <wick/data.h>

/* Samples of one shape. They may be stored in a narrower type than in a batch: pixels are bytes here and floats in a
 * batch. */
typedef struct wk__sample_array {
    void *data;                        /* owned */
    int64_t stored_bytes, batch_bytes; /* bytes of one sample as stored, and in a batch */
    int64_t elements;                  /* elements of one sample */
    wk_dtype dtype;                    /* dtype of batches */
    int ndim;                          /* dimensions of a batch: 1 + those of a sample */
    int64_t shape[WK__MAX_DIMS];       /* shape of a batch; shape[0] is unused */
    /* converts `elements` stored elements to the dtype of batches; NULL: copies the bytes */
    void (*convert)(void *to, const void *from, int64_t elements);
} wk__sample_array;

typedef struct wk__samples {
    atomic_int refs; /* held by datasets and their loaders */
    int64_t count;
    bool labelled; /* y exists */
    wk__sample_array x, y;
} wk__samples;

void wk__samples_hold(wk__samples *samples);
void wk__samples_drop(wk__samples *samples);
/* Gathers samples first + which[0..n) of one array into a batch, converted. */
void wk__samples_gather(const wk__sample_array *array, int64_t first, const int64_t *which, int64_t n, void *to);

typedef struct wk__dataset {
    wk__samples *samples;
    int64_t first, count; /* range of samples in this dataset */
} wk__dataset;

struct wk_dataset {
    wk__handle handle;
};

extern const wk__handle_type wk__dataset_kind;

static inline wk__dataset *wk__dataset_of(const wk_dataset *data)
{
    return data->handle.body;
}
static inline bool wk__dataset_check(const wk_dataset *data, wk_site site, const char *op)
{
    return wk__handle_check(data, &wk__dataset_kind, site, op, "the dataset");
}
/* Consumes the reference to samples, also on failure. */
wk_dataset *wk__dataset_new(wk_site site, const char *op, wk__samples *samples, int64_t first, int64_t count);

#endif
