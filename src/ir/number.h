/* One element of any dtype on the host, as a double or int64, and back; f16 and bf16 by integer arithmetic. */
#ifndef WICK_IR_NUMBER_H
#define WICK_IR_NUMBER_H

#include <stdint.h>
#include <wick/core.h>

double wk__number_as_double(const void *element, wk_dtype dtype);
int64_t wk__number_as_i64(const void *element, wk_dtype dtype);
/* Rounds to nearest even; integers wrap, bool is value != 0. */
void wk__number_store(void *element, wk_dtype dtype, double value);
float wk__f16_to_f32(uint16_t bits);
uint16_t wk__f16_from_f64(double value);

#endif
