/* SPDX-License-Identifier: Apache-2.0 */
/* Products with quantised blocks in integers (quantized_digits.inc), for instruction sets with products of bytes. */
#include "vector.h"

#if WIDTH > 16
#include "quantized_digits.inc"
#endif
