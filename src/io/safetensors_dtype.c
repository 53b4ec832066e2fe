/* SPDX-License-Identifier: Apache-2.0 */
/* The dtypes of safetensors; see safetensors.h. */
#include "safetensors.h"
#include "base/alloc.h"

const wk__safetensors_dtype wk__safetensors_dtypes[] = {
    {"U64", 0, 64},      {"I64", WK_I64, 64}, {"F64", WK_F64, 64},   {"C64", 0, 64}, /* two F32 */
    {"F32", WK_F32, 32}, {"U32", 0, 32},      {"I32", WK_I32, 32},   {"BF16", WK_BF16, 16}, {"F16", WK_F16, 16},
    {"U16", 0, 16},      {"I16", WK_I16, 16}, {"F8_E5M2FNUZ", 0, 8}, {"F8_E4M3FNUZ", 0, 8}, {"F8_E8M0", 0, 8},
    {"F8_E4M3", 0, 8},   {"F8_E5M2", 0, 8},   {"I8", WK_I8, 8},      {"U8", WK_U8, 8},      {"F6_E3M2", 0, 6},
    {"F6_E2M3", 0, 6},   {"F4", 0, 4},        {"BOOL", WK_BOOL, 8},  {NULL, 0, 0},
};

bool wk__safetensors_bytes(const int64_t *shape, int ndim, int bits, int64_t *bytes)
{
    /* A shape of no elements must not hide an overflow: strides are products of the other dimensions. */
    int64_t total = bits;
    bool empty = false;
    for (int k = 0; k < ndim; k++) {
        if (shape[k] == 0)
            empty = true;
        else if (!wk__mul_size(total, shape[k], &total))
            return false;
    }
    *bytes = empty ? 0 : total / 8;
    return empty || total % 8 == 0;
}

wk_code wk__safetensors_check_dtype(const wk__safetensors_tensor *tensor, wk__io_error *error)
{
    if (tensor->dtype) return WK_OK;
    return wk__io_fail(
        error, WK_ERR_UNSUPPORTED,
        "tensor \"%s\" has unsupported dtype %s; expected BOOL, U8, I8, I16, I32, I64, F16, BF16, F32 or F64",
        wk__printable_name(tensor->name).text, tensor->dtype_name);
}
