/* SPDX-License-Identifier: Apache-2.0 */
/* Passes of attention (backend/cpu/attention/passes.h) for f32 and f64. */
#include "backend/cpu/attention/passes.h"
#include "math_f32.h"
#include "tables.h"

typedef f32v f32v_any __attribute__((aligned(4), may_alias));
typedef f64v f64v_any __attribute__((aligned(8), may_alias));

/* e^x for x <= 0, but 0 if that would be denormal: arithmetic with denormals is slow, and hidden keys have
 * x = -infinity. NaN propagates. */
static inline f32v f32_weight(f32v x)
{
    const i32v none = x < -87;
    f32v n, r = f32_reduce_exp(f32_select(none, f32_splat(-87), x), &n);
    f32v e = f32_scale(f32_fma(f32_exp_poly(r) * r, r, r) + 1, n);
    return f32_select(none, f32_splat(0), e);
}

static f64v f64_weight(f64v x)
{
    for (int l = 0; l < LANES8; l++) x[l] = x[l] < -708 ? 0 : exp(x[l]);
    return x;
}

#define NAME(x) x##_f32
#define F(name) f32_##name
#define SCALAR  float
#define VECTOR  f32v
#define MASK    i32v
#define AT      f32v_any
#define LOG     logf
#define any_f32 i32_any
#include "attention_class.inc"
#undef NAME
#undef F
#undef SCALAR
#undef VECTOR
#undef MASK
#undef AT
#undef LOG

#define NAME(x) x##_f64
#define F(name) f64_##name
#define SCALAR  double
#define VECTOR  f64v
#define MASK    i64v
#define AT      f64v_any
#define LOG     log
#define any_f64 i64_any
#include "attention_class.inc"

const wk__attention_passes *const WK__ISA_NAME(wk__attention)[WK_DTYPE_COUNT] = {
    [WK_F32] = &passes_f32, [WK_F64] = &passes_f64};
