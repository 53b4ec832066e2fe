/* SPDX-License-Identifier: Apache-2.0 */
/* Names and sizes of the element types, by their numbers. */
#ifndef WICK_BASE_DTYPE_H
#define WICK_BASE_DTYPE_H

#include <wick/core.h>

typedef struct wk__dtype_info {
    const char *name; /* NULL: no dtype has this number */
    uint8_t size;     /* in bytes */
} wk__dtype_info;

/* For the dtype of a tensor, which is always one that there is; wk_dtype_size and wk_dtype_str take any number. */
extern const wk__dtype_info wk__dtypes[];

#endif
