/* SPDX-License-Identifier: Apache-2.0 */
/* Contractions of any dtypes, element by element: 12 to 18 ns a product (a product of matrices, a convolution; one
 * thread of an Intel Xeon with AVX-512). Products are added up in the order of the indices in the dtype that the sum
 * says. */
#ifndef WICK_CPU_CONTRACTION_PLAINLY_H
#define WICK_CPU_CONTRACTION_PLAINLY_H

#include "backend/backend.h"

wk_code wk__cpu_contraction_reference(const wk__work *work, wk__fail *fail);

#endif
