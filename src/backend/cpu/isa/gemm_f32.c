/* SPDX-License-Identifier: Apache-2.0 */
/* Products that compute in f32: f32 itself, f16 and bf16. */
#include "gemm_isa.h"

#define CLASS  wk__gemm_f32
#define T      float
#define VECTOR f32v
#define FMA    f32_fma
#define SIZE   32
#define GEMM_FLOATS
/* Each set that has them grows by 30 to 60 KB: not where convolutions would be slow anyway. */
#if WIDTH >= 32 || defined(__aarch64__)
#define GEMM_CONVOLUTIONS
#endif
#include "gemm_class.inc"
