/* SPDX-License-Identifier: Apache-2.0 */
/* Names and sizes of the element types, indexed by wk_dtype. */
#ifndef WICK_BASE_DTYPE_H
#define WICK_BASE_DTYPE_H

#include <wick/core.h>

typedef struct wk__dtype_info {
    const char *name; /* NULL: unused index */
    uint8_t size;     /* bytes per element */
} wk__dtype_info;

/* Indexed without a check, for valid dtypes such as those of tensors; wk_dtype_size and wk_dtype_str accept any
 * number. */
extern const wk__dtype_info wk__dtypes[];

#endif
