/* SPDX-License-Identifier: Apache-2.0 */
/* Type codes and struct layout of DLPack; see dlpack_export.c. */
#ifndef WICK_IO_DLPACK_H
#define WICK_IO_DLPACK_H

#include <wick/dlpack.h>

/* Checks of the ABI that other libraries were compiled with. */
_Static_assert(sizeof(wk_dl_device) == 8 && offsetof(wk_dl_device, index) == 4, "as DLDevice");
_Static_assert(sizeof(wk_dl_dtype) == 4 && offsetof(wk_dl_dtype, bits) == 1 && offsetof(wk_dl_dtype, lanes) == 2,
               "as DLDataType");
_Static_assert(sizeof(void *) != 8 || (sizeof(wk_dl_tensor) == 48 && offsetof(wk_dl_tensor, device) == 8 &&
                                       offsetof(wk_dl_tensor, ndim) == 16 && offsetof(wk_dl_tensor, dtype) == 20 &&
                                       offsetof(wk_dl_tensor, shape) == 24 && offsetof(wk_dl_tensor, stride) == 32 &&
                                       offsetof(wk_dl_tensor, byte_offset) == 40),
               "as DLTensor");
_Static_assert(sizeof(void *) != 8 ||
                   (sizeof(wk_dl_managed_unversioned) == 64 && offsetof(wk_dl_managed_unversioned, context) == 48 &&
                    offsetof(wk_dl_managed_unversioned, deleter) == 56),
               "as DLManagedTensor");
_Static_assert(sizeof(void *) != 8 ||
                   (sizeof(wk_dl_managed_versioned) == 80 && offsetof(wk_dl_managed_versioned, context) == 8 &&
                    offsetof(wk_dl_managed_versioned, deleter) == 16 &&
                    offsetof(wk_dl_managed_versioned, flags) == 24 && offsetof(wk_dl_managed_versioned, tensor) == 32),
               "as DLManagedTensorVersioned");

/* Returns the DLPack type of a dtype. */
wk_dl_dtype wk__dl_dtype(wk_dtype dtype);
/* Returns the dtype of a DLPack type; 0 if there is none. */
wk_dtype wk__dl_dtype_of(wk_dl_dtype dl);

#endif
