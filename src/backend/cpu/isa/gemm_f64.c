/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products that accumulate in f64. */
#include "gemm_isa.h"

#define CLASS  wk__gemm_f64
#define T      double
#define VECTOR f64v
#define FMA    f64_fma
#define SIZE   64
#define GEMM_FLOATS
#include "gemm_class.inc"
