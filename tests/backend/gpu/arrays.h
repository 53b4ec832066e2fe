/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays on host and device for kernels other than programs; devices are those of test.h. */
#ifndef WICK_TESTS_GPU_ARRAYS_H
#define WICK_TESTS_GPU_ARRAYS_H

#include "test.h"

#include "support/work.h"

static inline void good(wk_code code, const wk__fail *fail)
{
    if (code != WK_OK) fail_msg("%s", fail->text);
}

/* Elements are surrounded by two margins that must not be written. */
enum { MARGIN = 16 };

typedef struct array {
    wk__operand operand;
    wk__memory memory;
    int64_t elements;
    char *host; /* initial contents on the device, later the expected contents */
} array;

static inline array new_array(wk_dtype dtype, int ndim, const int64_t *shape, const int64_t *stride, bool small)
{
    array a = {.operand = {.dtype = (uint8_t)dtype, .offset = MARGIN}};
    int64_t high = 0;
    for (int d = 0; d < ndim; d++) {
        a.operand.stride[d] = stride[d];
        if (shape[d] > 1) high += (shape[d] - 1) * (stride[d] < 0 ? -stride[d] : stride[d]);
        if (shape[d] > 1 && stride[d] < 0) a.operand.offset -= (shape[d] - 1) * stride[d];
    }
    a.elements = high + 1 + 2 * MARGIN;
    a.host = calloc((size_t)a.elements, wk_dtype_size(dtype));
    for (int64_t k = 0; k < a.elements; k++) {
        int64_t whole = (int64_t)(group_case_random() % (dtype == WK_BOOL ? 2 : 15)) - (dtype > WK_BF16 ? 0 : 7);
        group_reference_put(dtype, a.host, k, dtype > WK_BF16 || small ? (double)whole : (double)whole / 8);
    }
    return a;
}

static inline int64_t bytes_of(const array *a)
{
    return a->elements * (int64_t)wk_dtype_size((wk_dtype)a->operand.dtype);
}

static inline void to_device(void *device, array *a)
{
    wk__fail fail;
    good(gpu->block_alloc(device, bytes_of(a), &a->memory, &fail), &fail);
    good(gpu->upload(device, &a->memory, 0, a->host, bytes_of(a), &fail), &fail);
    a->operand.memory = &a->memory;
}

/* Compares bits. The tests add only integers, or eighths, whose sums are exact, so that no order of summation changes
 * any. */
static inline void expect(void *device, const char *name, array *a, const char *want)
{
    wk__fail fail;
    char *got = malloc((size_t)bytes_of(a));
    good(gpu->download(device, got, &a->memory, 0, bytes_of(a), &fail), &fail);
    wk_dtype dtype = (wk_dtype)a->operand.dtype;
    int64_t at = group_reference_differs(dtype, got, want, a->elements, 0, 0);
    if (at >= 0) {
        fail_msg("%s %s: at %lld got %.9g, expected %.9g", name, wk_dtype_str(dtype),
                 (long long)(at - a->operand.offset), group_reference_get(dtype, got, at),
                 group_reference_get(dtype, want, at));
    }
    free(got);
    gpu->block_free(device, &a->memory);
}

#endif
