/* SPDX-License-Identifier: Apache-2.0 */
/* Products that compute in f32: f32 itself, f16 and bf16. */
#include "gemm_isa.h"

#define CLASS  wk__gemm_f32
#define T      float
#define VECTOR f32v
#define FMA    f32_fma
#define SIZE   32
#define GEMM_FLOATS
#include "gemm_class.inc"
