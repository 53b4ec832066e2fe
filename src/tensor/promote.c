/* SPDX-License-Identifier: Apache-2.0 */
/* Type promotion, by PyTorch's rules. */
#include "tensor.h"

enum { CLASS_BOOL, CLASS_INT, CLASS_FLOAT };

static int class_of(wk_dtype dtype)
{
    return wk__is_float(dtype) ? CLASS_FLOAT : dtype == WK_BOOL ? CLASS_BOOL : CLASS_INT;
}

/* Integers: the wider one; u8 with i8 becomes i16. Floats: the wider one; f16 with bf16 becomes f32. Different classes:
 * the dtype of the higher class. */
wk_dtype wk__promote_types(wk_dtype a, wk_dtype b)
{
    if (a == b) return a;
    int ca = class_of(a), cb = class_of(b);
    if (ca != cb) return ca > cb ? a : b;
    size_t sa = wk_dtype_size(a), sb = wk_dtype_size(b);
    if (sa != sb) return sa > sb ? a : b;
    return ca == CLASS_FLOAT ? WK_F32 : WK_I16; /* f16 + bf16, u8 + i8 */
}

void wk__promotion_add(wk__promotion *p, wk_dtype dtype, wk__promotion_priority weight)
{
    uint8_t *of = &p->of[weight];
    *of = (uint8_t)(*of ? wk__promote_types(*of, dtype) : dtype);
}

/* Numbers arrive as i64, bool or f64. A tensor of the same or a higher class determines the dtype; otherwise integers
 * become i64 and floats f32. */
wk_dtype wk__promotion_result(const wk__promotion *p)
{
    wk_dtype result = p->of[WK__PRIORITY_TENSOR];
    if (p->of[WK__PRIORITY_SCALAR]) {
        wk_dtype scalar = p->of[WK__PRIORITY_SCALAR];
        if (!result || class_of(scalar) > class_of(result))
            result = result ? wk__promote_types(result, scalar) : scalar;
    }
    if (p->of[WK__PRIORITY_NUMBER]) {
        wk_dtype number = p->of[WK__PRIORITY_NUMBER];
        if (wk__is_float(number)) number = WK_F32;
        if (!result || class_of(number) > class_of(result)) result = number;
    }
    return result;
}
