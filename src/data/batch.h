/* SPDX-License-Identifier: Apache-2.0 */
/* Batches in host memory, made by the thread that prepares them. */
#ifndef WICK_DATA_BATCH_H
#define WICK_DATA_BATCH_H

#include "dataset.h"

/* One tensor of a batch. */
typedef struct wk__batch_part {
    void *data;       /* owned */
    int64_t capacity; /* bytes at data */
    int64_t bytes;    /* of the tensor */
    wk_dtype dtype;
    int ndim;
    int64_t shape[WK__MAX_DIMS];
} wk__batch_part;

/* A prepared batch, or the error of its preparation. Its memory is reused for later batches. */
typedef struct wk__batch_data {
    int count; /* tensors */
    wk__batch_part part[WK_SAMPLE_TENSORS];
    wk_code code; /* WK_OK: no error */
    wk_site site; /* of the error */
    wk__text error;
} wk__batch_data;

/* The samples of a batch, and the inputs of its preparation. */
typedef struct wk__batch_plan {
    const wk__dataset *data;
    const int64_t *order;     /* sample indices of an epoch */
    const int64_t *positions; /* [count] of the samples of the batch in `order` */
    int64_t count;
    uint64_t seed; /* key of the random numbers that functions of the user draw, with epoch and index of the sample */
    int64_t epoch;
    bool stream_by_position;  /* these numbers depend on the position of the sample instead of its index */
    wk_data_collate *collate; /* NULL: the samples are stacked */
    void *collate_user;
    wk_site site;                 /* of the loader */
    const atomic_bool *cancelled; /* true after the end of the loop */
} wk__batch_plan;

/* Prepares a batch. Runs functions of the user in the current context, whose random stream it sets. Stores errors in
 * *out, so that the context has none. */
void wk__batch_load(const wk__batch_plan *plan, wk__batch_data *out);
/* Records the error of a batch that has one. */
void wk__batch_raise(wk__batch_data *batch);
void wk__batch_free(wk__batch_data *batch);

#endif
