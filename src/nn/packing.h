/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of packed sequences: their order by length, and the indices by which they are selected. */
#ifndef WICK_NN_PACKING_H
#define WICK_NN_PACKING_H

#include "rnn.h"

/* Lengths of sequences and their order. The arrays share the allocation of `length`, which the owner of the struct
 * frees. */
typedef struct wk__packing {
    int64_t batch, steps, rows; /* steps: the longest length; rows: the sum of the lengths */
    int64_t *length;            /* [batch], as given */
    int64_t *order;             /* [batch]: the sequences in descending order of their lengths */
    int64_t *place;             /* [batch]: the inverse of order */
    int64_t *size;              /* [steps]: batch sizes */
} wk__packing;

/* Reads the lengths of p->batch sequences for the call `op`. They must be in [1, most] and, unless `unsorted`, in
 * descending order. Returns false on error; then nothing needs to be freed. */
bool wk__packing_read_lengths(wk_site site, const char *op, wk_tensor *lengths, int64_t most, bool unsorted,
                              wk__packing *p);
/* Reads the batch sizes and the order of packed sequences. Returns their data; NULL on error, when nothing needs to be
 * freed. */
wk_tensor *wk__packing_read_list(wk_site site, const char *op, wk_tensors *packed, wk__packing *p);
/* Adds data, batch sizes and, if `unsorted`, the order to the list. */
bool wk__packing_fill_list(wk_site site, wk_tensors *list, wk_tensor *data, const wk__packing *p, bool unsorted);

/* Reads the batch sizes of packed data: an i64 vector of numbers that are at least 1, do not grow and add up to the
 * rows of data. Returns them, for wk__free; NULL on error. */
int64_t *wk__packing_read_sizes(wk_site site, const char *op, wk_tensor *sizes, wk_tensor *data);

/* Returns an i64 vector on a device. */
wk_tensor *wk__packing_vector(wk_site site, const int64_t *data, int64_t count, wk_device device);
/* Returns the packed rows of x (steps, batch, ...). */
wk_tensor *wk__packing_pack(wk_site site, const char *op, wk_tensor *x, const wk__packing *p);
/* Returns packed rows as (steps, batch, ...), where `value` follows each sequence. */
wk_tensor *wk__packing_pad(wk_site site, const char *op, wk_tensor *rows, const wk__packing *p, int64_t steps,
                           double value);

#endif
