/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients of norms (backend/cpu/norm/rows.h) for f32 and f64. */
#include "backend/cpu/norm/rows.h"

#include <string.h>

#include "fold.h"
#include "tables.h"

typedef f32v f32v_any __attribute__((aligned(4), may_alias));
typedef f64v f64v_any __attribute__((aligned(8), may_alias));

#define PLUS(a, b) ((a) + (b))

#define NAME(x) x##_f32
#define SCALAR  float
#define VECTOR  f32v
#define AT      f32v_any
#define SPLAT   f32_splat
#define FOLD    FOLD4
#include "norm_class.inc"
#undef NAME
#undef SCALAR
#undef VECTOR
#undef AT
#undef SPLAT
#undef FOLD

#define NAME(x) x##_f64
#define SCALAR  double
#define VECTOR  f64v
#define AT      f64v_any
#define SPLAT   f64_splat
#define FOLD    FOLD8
#include "norm_class.inc"

wk__norm_backward_rows *const WK__ISA_NAME(wk__norm)[WK_DTYPE_COUNT] = {[WK_F32] = run_f32, [WK_F64] = run_f64};
