/* SPDX-License-Identifier: Apache-2.0 */
/* Products with quantised blocks in integers, by VPDPBUSD, which adds 4 products of bytes to each lane. */
#include "backend/cpu/isa/quantized_digits.inc"
