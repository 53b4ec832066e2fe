/* SPDX-License-Identifier: Apache-2.0 */
/* Datasets: their kinds, and the samples that they return.
 *
 * Ownership: a handle, a loader and each dataset made of this one hold a reference to a wk__dataset, which outlives the
 * handle.
 * Threads: a dataset does not change once it is made; any number of threads may get samples from it at a time. */
#ifndef WICK_DATA_DATASET_H
#define WICK_DATA_DATASET_H

#include "tensor/tensor.h"
#include <wick/data.h>

/* Tensors of many samples in host memory. They may be stored in a narrower type than in a batch: pixels are bytes here
 * and floats in a batch. */
typedef struct wk__sample_array {
    void *data;                        /* owned */
    int64_t stored_bytes, batch_bytes; /* bytes of one sample as stored, and in a batch */
    int64_t elements;                  /* elements of one sample */
    wk_dtype dtype;                    /* dtype in a batch */
    int ndim;                          /* dimensions of one sample */
    int64_t shape[WK__MAX_DIMS];       /* shape of one sample */
    /* converts `elements` stored elements to the dtype in a batch; NULL: copies the bytes */
    void (*convert)(void *to, const void *from, int64_t elements);
} wk__sample_array;

/* One tensor of a sample: a tensor of the innermost scope, or row `row` of an array. A tensor is made of a row only for
 * a function of the user. */
typedef struct wk__sample_part {
    wk_tensor *tensor;
    const wk__sample_array *array; /* if tensor is NULL */
    int64_t row;
} wk__sample_part;

typedef struct wk__sample {
    int count;
    wk__sample_part part[WK_SAMPLE_TENSORS];
} wk__sample;

typedef struct wk__dataset wk__dataset;

/* A kind of dataset. */
typedef struct wk__dataset_kind {
    /* Gets sample `index`, which exists. Returns false after recording an error. Needs no context and never
     * fails unless user_code is set. */
    bool (*get)(const wk__dataset *data, int64_t index, wk__sample *out);
    void (*destroy)(wk__dataset *data); /* frees the kind's own memory, but not `data`; may be NULL */
} wk__dataset_kind;

/* The common part of all datasets, at the beginning of the struct of each kind. */
struct wk__dataset {
    const wk__dataset_kind *kind;
    atomic_int refs;
    int depth;           /* datasets from this one to its most distant source, at most WK__DATASET_DEPTH */
    bool user_code;      /* get calls a function of the user, so it needs a context */
    int64_t count;       /* samples */
    int64_t batch_size;  /* of the loaders that keep the order on which the samples depend; 0: any */
    wk__dataset *parent; /* the dataset that this one reads, a reference; NULL if none or several */
};

enum { WK__DATASET_DEPTH = 200 };

struct wk_dataset {
    wk__handle handle;
};

extern const wk__handle_type wk__dataset_type;

static inline wk__dataset *wk__dataset_of(const wk_dataset *data)
{
    return data->handle.body;
}
static inline bool wk__dataset_check(const wk_dataset *data, wk_site site, const char *op)
{
    return wk__handle_check(data, &wk__dataset_type, site, op, "the dataset");
}
/* Returns true if it is an array of 1 to 2^31 - 1 datasets. Records an error otherwise. */
bool wk__datasets_check(wk_site site, const char *op, wk_dataset *const *datasets, int64_t count);

/* Creates a dataset of a struct of `size` bytes that begins with a wk__dataset, with one reference, made of parent
 * (NULL: of none), which it holds. Records an error and returns NULL on failure. */
void *wk__dataset_new(wk_site site, const char *op, size_t size, const wk__dataset_kind *kind, wk__dataset *parent);
/* Adds a dataset to those that data reads: adjusts the depth and user_code of data, and takes a reference to part,
 * which the destroy function of data drops. On failure records an error and returns false; data is unchanged. */
bool wk__dataset_add_part(wk_site site, const char *op, wk__dataset *data, wk__dataset *part);
void wk__dataset_hold(wk__dataset *data);
void wk__dataset_drop(wk__dataset *data); /* accepts NULL */
/* Returns a handle that takes the reference to data. */
wk_dataset *wk__dataset_wrap(wk_site site, const char *op, wk__dataset *data);

static inline bool wk__dataset_get(const wk__dataset *data, int64_t index, wk__sample *out)
{
    return data->kind->get(data, index, out);
}

/* Creates a dataset of arrays whose elements are the samples 0..samples-1. Frees their data on failure. */
wk_dataset *wk__dataset_of_arrays(wk_site site, const char *op, int64_t samples, int count,
                                  const wk__sample_array *arrays);

/* Writes one element of an array as it is in a batch. */
void wk__sample_array_write(const wk__sample_array *array, int64_t row, void *to);

#endif
