/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products that accumulate in i64 (unsigned, so that they wrap): i64, and bool, which counts. */
#include "gemm_isa.h"

#define CLASS  wk__gemm_i64
#define T      uint64_t
#define VECTOR u64v
#define FMA    u64_fma
#define SIZE   64
#include "gemm_class.inc"
