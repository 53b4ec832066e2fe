/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products that accumulate in i32 (unsigned, so that they wrap): i8, u8, i16 and i32. */
#include "gemm_isa.h"

#define CLASS  wk__gemm_i32
#define T      uint32_t
#define VECTOR u32v
#define FMA    u32_fma
#define SIZE   32
#include "gemm_class.inc"
