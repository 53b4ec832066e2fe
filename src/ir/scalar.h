/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of one element of any dtype on the host to double or int64; f16 and bf16 by integer arithmetic. */
#ifndef WICK_IR_SCALAR_H
#define WICK_IR_SCALAR_H

#include <stdint.h>
#include <wick/core.h>

double wk__scalar_to_double(const void *element, wk_dtype dtype);
int64_t wk__scalar_to_i64(const void *element, wk_dtype dtype);
/* Converts like CAST (ir.h): truncates towards 0; INT64_MIN if out of range or NaN. */
int64_t wk__double_to_i64(double number);

#endif
