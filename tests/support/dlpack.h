/* SPDX-License-Identifier: Apache-2.0 */
/* A DLPack producer and consumer for tests: the structs as another library declares them. */
#ifndef TESTS_SUPPORT_DLPACK_H
#define TESTS_SUPPORT_DLPACK_H

#include "wick.h"

typedef struct other_tensor {
    void *data;
    int32_t device_type, device_id, ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} other_tensor;

typedef struct other_versioned {
    uint32_t major, minor;
    void *manager_ctx;
    void (*deleter)(struct other_versioned *self);
    uint64_t flags;
    other_tensor dl_tensor;
} other_versioned;

typedef struct other_unversioned {
    other_tensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct other_unversioned *self);
} other_unversioned;

/* A dtype with its DLPack code and size in bytes. */
typedef struct dtype_row {
    wk_dtype dtype;
    uint8_t code, bits;
} dtype_row;
static const dtype_row dtype_rows[] = {
    {WK_I8, 0, 8},   {WK_I16, 0, 16}, {WK_I32, 0, 32}, {WK_I64, 0, 64},  {WK_U8, 1, 8},
    {WK_F16, 2, 16}, {WK_F32, 2, 32}, {WK_F64, 2, 64}, {WK_BF16, 4, 16}, {WK_BOOL, 6, 8},
};
enum { DTYPE_ROWS = sizeof dtype_rows / sizeof *dtype_rows };

/* Returns the bytes of device memory in use by tensors. */
static inline int64_t live_bytes(void)
{
    wk_memory_stats stats = {.size = sizeof stats};
    wk_sync();
    wk_memory_stats_of(wk_cpu(), &stats);
    return stats.live;
}

/* A tensor that belongs to another library. */
typedef struct foreign {
    other_versioned m;
    int64_t shape[8], stride[8];
    int deleted;
} foreign;

static inline void foreign_delete(other_versioned *self)
{
    ((foreign *)self->manager_ctx)->deleted++;
}

/* Initialises a row-major f32 tensor of shape (2, 3), which tests then modify. */
static inline void foreign_begin(foreign *f, void *data)
{
    *f = (foreign){.m = {.major = 1,
                         .minor = 9,
                         .manager_ctx = f,
                         .deleter = foreign_delete,
                         .dl_tensor = {.data = data, .device_type = 1, .ndim = 2, .code = 2, .bits = 32, .lanes = 1}},
                   .shape = {2, 3},
                   .stride = {3, 1}};
    f->m.dl_tensor.shape = f->shape;
    f->m.dl_tensor.strides = f->stride;
}

static inline wk_tensor *in_of(foreign *f)
{
    return wk_from_dlpack((wk_dl_managed_versioned *)&f->m);
}

#endif
