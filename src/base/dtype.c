/* SPDX-License-Identifier: Apache-2.0 */
/* Names and sizes of the element types; see dtype.h. */
#include "dtype.h"

/* Reserved dtypes have entries too, so that errors can name them. */
const wk__dtype_info wk__dtypes[] = {
    [WK_F32] = {"f32", 4},         [WK_F64] = {"f64", 8},         [WK_F16] = {"f16", 2}, [WK_BF16] = {"bf16", 2},
    [WK_I8] = {"i8", 1},           [WK_U8] = {"u8", 1},           [WK_I16] = {"i16", 2}, [WK_I32] = {"i32", 4},
    [WK_I64] = {"i64", 8},         [WK_BOOL] = {"bool", 1},       [WK_C64] = {"c64", 8}, [WK_C128] = {"c128", 16},
    [WK_F8_E4M3] = {"f8_e4m3", 1}, [WK_F8_E5M2] = {"f8_e5m2", 1},
};

enum { ROWS = sizeof wk__dtypes / sizeof *wk__dtypes };

const char *wk_dtype_str(wk_dtype dtype)
{
    return (size_t)dtype < ROWS && wk__dtypes[dtype].name ? wk__dtypes[dtype].name : "?";
}

size_t wk_dtype_size(wk_dtype dtype)
{
    return (size_t)dtype < ROWS ? wk__dtypes[dtype].size : 0; /* unnamed entries have size 0 */
}
