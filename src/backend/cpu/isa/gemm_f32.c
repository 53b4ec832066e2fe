/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products that accumulate in f32: f32, f16 and bf16. */
#include "gemm_isa.h"

#define CLASS  wk__gemm_f32
#define T      float
#define VECTOR f32v
#define FMA    f32_fma
#define SIZE   32
#define GEMM_FLOATS
/* These kernels take 30 to 60 KB per instruction set, so only sets with fast convolutions have them. */
#if WIDTH >= 32 || defined(__aarch64__)
#define GEMM_CONVOLUTIONS
#endif
#include "gemm_class.inc"
