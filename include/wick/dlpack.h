/* SPDX-License-Identifier: Apache-2.0 */
/* wick/dlpack.h: tensors to and from other libraries of the same process, by DLPack: PyTorch, NumPy, JAX and others
 * take and give the same struct. The memory is shared, nothing is copied.
 *
 *     wk_dl_managed_versioned *out = wk_to_dlpack(x);     // for a capsule "dltensor_versioned"
 *     ...                                                 // the consumer reads and writes out->tensor
 *     out->deleter(out);                                  // and lets go, in any thread
 *
 *     wk_tensor *y = wk_from_dlpack(in);                  // of another library: its memory until y goes
 *     if (!y) in->deleter(in);                            // refused: it is the caller's still
 *
 * The structs are laid out as those of dlpack.h, which is not needed; a program that includes it as well casts the
 * pointer, (DLManagedTensorVersioned *)out.
 *
 * A binding to Python: __dlpack__ gives the struct in a capsule of the name "dltensor_versioned" where the consumer's
 * max_version is (1, 0) or more, else wk_to_dlpack_unversioned's in one of the name "dltensor"; copy=True is
 * wk_to_dlpack(wk_clone(x)), and __dlpack_device__ of a tensor on the CPU is (1, 0). from_dlpack renames the capsule to
 * "used_dltensor_versioned" ("used_dltensor") once wk_from_dlpack has given a tensor, and not before. The standard is
 * Python's array API, `array.__dlpack__`, and torch.utils.dlpack. */
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

/* The version that wk_to_dlpack writes. Of another major one only `version` and `deleter` may be used. */
enum { WK_DL_MAJOR = 1, WK_DL_MINOR = 0 };
/* Kinds of devices whose memory the host can use; DLPack knows others. */
enum { WK_DL_CPU = 1, WK_DL_CUDA_HOST = 3, WK_DL_ROCM_HOST = 11 };
/* Kinds of numbers that there are dtypes for; DLPack knows others. */
enum { WK_DL_INT = 0, WK_DL_UINT = 1, WK_DL_FLOAT = 2, WK_DL_BFLOAT = 4, WK_DL_BOOL = 6 };
/* Bits of `flags`: the consumer must not write; the producer made a copy for it. */
enum { WK_DL_READ_ONLY = 1, WK_DL_IS_COPIED = 2 };

typedef struct wk_dl_device {
    int32_t kind; /* WK_DL_CPU, ... */
    int32_t index;
} wk_dl_device;

typedef struct wk_dl_dtype {
    uint8_t kind;   /* WK_DL_FLOAT, ... */
    uint8_t bits;   /* of one lane */
    uint16_t lanes; /* 1, but for vectors */
} wk_dl_dtype;

typedef struct wk_dl_tensor {
    void *data; /* may be NULL where there are no elements */
    wk_dl_device device;
    int32_t ndim;
    wk_dl_dtype dtype;
    int64_t *shape;       /* [ndim] */
    int64_t *stride;      /* [ndim], in elements; NULL: dense and row-major */
    uint64_t byte_offset; /* of the first element, from `data` */
} wk_dl_tensor;

typedef struct wk_dl_version {
    uint32_t major, minor;
} wk_dl_version;

/* DLManagedTensorVersioned: since 2025 the usual one. */
typedef struct wk_dl_managed_versioned wk_dl_managed_versioned;
struct wk_dl_managed_versioned {
    wk_dl_version version;
    void *context;                                  /* the producer's */
    void (*deleter)(wk_dl_managed_versioned *self); /* ends it, called once by the consumer; may be NULL */
    uint64_t flags;                                 /* WK_DL_READ_ONLY, ... */
    wk_dl_tensor tensor;
};

/* DLManagedTensor: the older one. */
typedef struct wk_dl_managed_unversioned wk_dl_managed_unversioned;
struct wk_dl_managed_unversioned {
    wk_dl_tensor tensor;
    void *context;
    void (*deleter)(wk_dl_managed_unversioned *self);
};

/* ---- out --------------------------------------------------------------------------------------------------------- */

/* x for another library: its elements where they lie, with its shape and strides, which may be any. They are computed
 * before the call returns. Memory and struct stay until the deleter is called, which any thread may do, whatever
 * becomes of x meanwhile. As with wk_data, calls on x that follow are run when their numbers are needed: wk_sync before
 * the other library reads what they wrote, and before it writes what they are not to read. Among threads the call
 * counts as a write of x, as wk_data does: no other thread uses x, nor shares it, meanwhile.
 *
 * NULL with WK_ERR_STATE where x requires grad, as nothing would know the gradient of what is written there
 * (wk_to_dlpack(wk_detach(x)) shares the memory all the same), and with WK_ERR_DEVICE where x is not on the CPU
 * (wk_to_dlpack(wk_to(x, wk_cpu())) gives a copy). torch.utils.dlpack.to_dlpack. */
WK_RESULT_API wk_dl_managed_versioned *wk_to_dlpack_at(wk_site site, wk_tensor *x);
/* The same for consumers that know the older struct only. */
WK_RESULT_API wk_dl_managed_unversioned *wk_to_dlpack_unversioned_at(wk_site site, wk_tensor *x);

/* ---- in ---------------------------------------------------------------------------------------------------------- */

/* A tensor on the CPU over another library's memory, as wk_borrow: calls that read or write it are run before they
 * return. The struct becomes the library's, which calls the deleter when the last user of the memory has let go, in
 * whichever thread that is; where the call gives NULL the struct stays the caller's, untouched, who calls its deleter
 * himself. (torch.from_dlpack, too, takes a capsule on success only.)
 *
 * The memory may be the CPU's or pinned memory of the host; strides may be any that are not negative, 0 among them; of
 * bools any byte but 0 is true.
 * What is read-only is copied instead, and the deleter called at once, as are tensors without elements: there is
 * nothing to share.
 *
 * NULL with WK_ERR_UNSUPPORTED for a major version other than 1, WK_ERR_DEVICE for memory of a device, WK_ERR_DTYPE for
 * elements that there is no dtype for (complex numbers, floats of 8 bits, unsigned ones of 16 to 64, vectors),
 * WK_ERR_SHAPE for more than 8 dimensions, negative sizes and what reaches past the end of the address space,
 * WK_ERR_ARGUMENT for NULL, negative strides and elements that are not aligned to their size, WK_ERR_MEMORY. Nobody can
 * tell whether the memory is as large as the struct says: that is the producer's word. torch.from_dlpack. */
WK_RESULT_API wk_tensor *wk_from_dlpack_at(wk_site site, wk_dl_managed_versioned *managed);
/* The same of the older struct, which has no version and no flags. */
WK_RESULT_API wk_tensor *wk_from_dlpack_unversioned_at(wk_site site, wk_dl_managed_unversioned *managed);

#define wk_to_dlpack(x)                     wk_to_dlpack_at(WK_HERE, x)
#define wk_to_dlpack_unversioned(x)         wk_to_dlpack_unversioned_at(WK_HERE, x)
#define wk_from_dlpack(managed)             WK_NEW_TENSOR_(wk_from_dlpack_at(WK_HERE, managed))
#define wk_from_dlpack_unversioned(managed) WK_NEW_TENSOR_(wk_from_dlpack_unversioned_at(WK_HERE, managed))

#ifdef __cplusplus
}
#endif
#endif
