/* SPDX-License-Identifier: Apache-2.0 */
/* wick/dlpack.h: tensors shared with other libraries of the process by DLPack, as PyTorch, NumPy and JAX. Memory is
 * shared, not copied.
 *
 *     wk_dl_managed_versioned *out = wk_to_dlpack(x);     // for a capsule "dltensor_versioned"
 *     ...                                                 // the consumer reads and writes out->tensor
 *     out->deleter(out);                                  // and releases it, in any thread
 *
 *     wk_tensor *y = wk_from_dlpack(in);                  // uses the producer's memory until y is freed
 *     if (!y) in->deleter(in);                            // on error the caller still owns it
 *
 * The structs have the layout of those in dlpack.h, which is not needed. A program that includes both casts the
 * pointer, (DLManagedTensorVersioned *)out.
 *
 * Python bindings: __dlpack__ returns a capsule "dltensor_versioned" if the consumer's max_version is at least (1,
 * 0), else one of wk_to_dlpack_unversioned named "dltensor"; copy=True is wk_to_dlpack(wk_clone(x));
 * __dlpack_device__ of a tensor on the CPU is (1, 0). from_dlpack renames the capsule to "used_dltensor_versioned"
 * ("used_dltensor") after wk_from_dlpack has returned a tensor, not before. The standards are `array.__dlpack__` of
 * Python's array API and torch.utils.dlpack. */
#ifndef WICK_DLPACK_H
#define WICK_DLPACK_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the structs of DLPack 1 ------------------------------------------------------------------------------------- */

/* The version that wk_to_dlpack writes. With another major version only version and deleter may be used. */
enum { WK_DL_MAJOR = 1, WK_DL_MINOR = 0 };
/* Devices whose memory the host can access; DLPack has others. */
enum { WK_DL_CPU = 1, WK_DL_CUDA_HOST = 3, WK_DL_ROCM_HOST = 11 };
/* Kinds of elements with a dtype; DLPack has others. */
enum { WK_DL_INT = 0, WK_DL_UINT = 1, WK_DL_FLOAT = 2, WK_DL_BFLOAT = 4, WK_DL_BOOL = 6 };
/* Bits of flags: the consumer must not write; the producer made a copy for it. */
enum { WK_DL_READ_ONLY = 1, WK_DL_IS_COPIED = 2 };

typedef struct wk_dl_device {
    int32_t kind; /* WK_DL_CPU, ... */
    int32_t index;
} wk_dl_device;

typedef struct wk_dl_dtype {
    uint8_t kind;   /* WK_DL_FLOAT, ... */
    uint8_t bits;   /* of one lane */
    uint16_t lanes; /* 1 unless an element is a vector */
} wk_dl_dtype;

typedef struct wk_dl_tensor {
    void *data; /* may be NULL without elements */
    wk_dl_device device;
    int32_t ndim;
    wk_dl_dtype dtype;
    int64_t *shape;       /* [ndim] */
    int64_t *stride;      /* [ndim], in elements; NULL: contiguous */
    uint64_t byte_offset; /* of the first element, from data */
} wk_dl_tensor;

typedef struct wk_dl_version {
    uint32_t major, minor;
} wk_dl_version;

/* DLManagedTensorVersioned, the current struct. */
typedef struct wk_dl_managed_versioned wk_dl_managed_versioned;
struct wk_dl_managed_versioned {
    wk_dl_version version;
    void *context;                                  /* the producer's */
    void (*deleter)(wk_dl_managed_versioned *self); /* releases it, called once by the consumer; may be NULL */
    uint64_t flags;                                 /* WK_DL_READ_ONLY, ... */
    wk_dl_tensor tensor;
};

/* DLManagedTensor, the older struct. */
typedef struct wk_dl_managed_unversioned wk_dl_managed_unversioned;
struct wk_dl_managed_unversioned {
    wk_dl_tensor tensor;
    void *context;
    void (*deleter)(wk_dl_managed_unversioned *self);
};

/* ---- export ------------------------------------------------------------------------------------------------------ */

/* wk_to_dlpack(x): Exports x: its elements in place, computed before the call returns, with its shape and strides.
 *
 * Memory and struct are valid until the deleter is called, in any thread, whatever happens to x. Later calls on x
 * run when their results are needed: call wk_sync before the other library reads what they wrote, and before it
 * writes what they read. Among threads the call counts as a write of x, as wk_data: no other thread may use x
 * meanwhile.
 * Returns:   the struct, owned by the caller; NULL on error
 * Errors:    WK_ERR_STATE if x requires grad, as writes would have no gradient (wk_to_dlpack(wk_detach(x)) shares
 *            the memory all the same); WK_ERR_DEVICE if x is not on the CPU (wk_to_dlpack(wk_to(x, wk_cpu()))
 *            copies)
 * PyTorch:   torch.utils.dlpack.to_dlpack */
WK_RESULT_API wk_dl_managed_versioned *wk_to_dlpack_at(wk_site site, wk_tensor *x);
/* wk_to_dlpack_unversioned(x): The same for consumers of the older struct. */
WK_RESULT_API wk_dl_managed_unversioned *wk_to_dlpack_unversioned_at(wk_site site, wk_tensor *x);

/* ---- import ------------------------------------------------------------------------------------------------------ */

/* wk_from_dlpack(managed): Imports a tensor on the CPU that uses the producer's memory, as wk_borrow: calls that
 * read or write it run before they return. Read-only memory and tensors without elements are copied, and the
 * deleter is called at once. The memory may be the CPU's or pinned host memory; strides are not negative and may be
 * 0; any nonzero byte of a bool is true. The size of the memory cannot be checked.
 * Ownership: on success the library owns managed and calls its deleter when the last user of the memory has let go,
 *            in that thread; on error the caller still owns it, unchanged
 * Returns:   the tensor, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_UNSUPPORTED if the major version is not 1; WK_ERR_DEVICE if the memory is a device's;
 *            WK_ERR_DTYPE if there is no dtype for the elements (complex, 8-bit floats, unsigned 16 to 64 bits,
 *            vectors); WK_ERR_SHAPE if there are more than 8 dimensions or a negative size, or the tensor exceeds
 *            the address space; WK_ERR_ARGUMENT if managed is NULL, a stride is negative or an element is not
 *            aligned; WK_ERR_MEMORY
 * PyTorch:   torch.from_dlpack */
WK_RESULT_API wk_tensor *wk_from_dlpack_at(wk_site site, wk_dl_managed_versioned *managed);
/* wk_from_dlpack_unversioned(managed): The same for the older struct, which has no version and no flags. */
WK_RESULT_API wk_tensor *wk_from_dlpack_unversioned_at(wk_site site, wk_dl_managed_unversioned *managed);

#define wk_to_dlpack(x)                     wk_to_dlpack_at(WK_HERE, x)
#define wk_to_dlpack_unversioned(x)         wk_to_dlpack_unversioned_at(WK_HERE, x)
#define wk_from_dlpack(managed)             WK_NEW_TENSOR_(wk_from_dlpack_at(WK_HERE, managed))
#define wk_from_dlpack_unversioned(managed) WK_NEW_TENSOR_(wk_from_dlpack_unversioned_at(WK_HERE, managed))

#ifdef __cplusplus
}
#endif
#endif
