/* Where a call's numbers begin in its thread's stream, and the instructions that draw them. */
#ifndef WICK_OPS_RANDOM_H
#define WICK_OPS_RANDOM_H

#include "forms.h"

/* The next `count` numbers of this thread's stream belong to the caller. */
typedef struct wk__draw {
    uint64_t key, counter;
} wk__draw;
wk__draw wk__draw_take(int64_t count);

/* The bits of the element that is being computed: `bits` 32, as 0..2^32-1, or 64. counter and key are RAW immediates. */
int wk__emit_bits(wk__emit *e, int counter, int key, int bits);
/* Uniform in [0, 1) of a floating class, from those bits. */
int wk__emit_uniform_f32(wk__emit *e, int counter, int key);
int wk__emit_uniform_f64(wk__emit *e, int counter, int key);

/* op->expression over x, the draw's counter and key (raw), and two numbers more: one raw, one in the class of x. One number is drawn
 * for each element of x, in row-major order. */
wk_tensor *wk__drawn_beside(const wk__op *op, wk_site site, wk_tensor *x, wk__draw draw, int64_t raw, double number);

/* Uniform numbers of a dtype on a device; without checks of the call: for composed ops. */
wk_tensor *wk__uniform(wk_site site, const int64_t *shape, int ndim, wk_dtype dtype, wk_device device);

/* For references: the bits of element k of the call that drew the last n numbers of this thread's stream, and the uniform number
 * of a dtype that they make. */
uint64_t wk__reference_bits(int64_t n, int64_t k);
double wk__reference_uniform(wk_dtype dtype, int64_t n, int64_t k);

#endif
