/* SPDX-License-Identifier: Apache-2.0 */
/* Rotary positions: frequencies on the host, then tables and rotations as calls of ops. */
#include "rope.h"
#include "base/alloc.h"
#include "base/context.h"
#include <math.h>
#include <wick/ops.h>

double wk__rope_frequency(const wk__rope *rope, int64_t pair)
{
    const double pi = 3.14159265358979323846;
    const double plain = pow(rope->theta, -2 * (double)pair / (double)rope->head_dim);
    if (rope->factor == 0) return plain;
    const double turns = rope->original * plain / (2 * pi); /* within the original positions */
    const double kept = fmin(fmax((turns - rope->low) / (rope->high - rope->low), 0), 1);
    return plain * (kept + (1 - kept) / rope->factor);
}

/* Returns the frequencies of all pairs, f32 (head_dim / 2). */
static wk_tensor *frequencies(const wk__rope *rope, wk_device device)
{
    const wk_tensor_options like = {.size = sizeof like, .device = device};
    const int64_t pairs = rope->head_dim / 2;
    float *value = wk__alloc((size_t)pairs * sizeof *value);
    if (!value) {
        wk__error_set((wk_site){0}, WK_ERR_MEMORY, "rotary positions: out of host memory");
        return NULL;
    }
    for (int64_t k = 0; k < pairs; k++) value[k] = (float)wk__rope_frequency(rope, k);
    wk_tensor *x = wk_from_on_at((wk_site){0}, WK_F32, value, (size_t)pairs * sizeof *value, &pairs, 1, &like);
    wk__free(value);
    return x;
}

bool wk__rope_tables(const wk__rope *rope, wk_tensor *positions, wk_tensor *table[2])
{
    wk_tensor *frequency = frequencies(rope, wk_device_of(positions));
    if (!frequency) return false;
    wk_tensor *angle = wk_mul(wk_unsqueeze(wk_to_dtype(positions, WK_F32), -1), frequency);
    if (angle && wk_ndim(angle) == 3) angle = wk_unsqueeze(angle, 1);
    if (!angle) return false;
    table[0] = wk_cos(angle);
    table[1] = wk_sin(angle);
    return table[0] && table[1];
}

wk_tensor *wk__rope_rotate(wk_tensor *x, wk_tensor *const table[2])
{
    if (!x) return NULL;
    const int64_t half = wk_size(x, -1) / 2;
    wk_tensor *a = wk_narrow(x, -1, 0, half), *b = wk_narrow(x, -1, half, half);
    wk_tensor *first = wk_sub(wk_mul(a, table[0]), wk_mul(b, table[1]));
    wk_tensor *second = wk_add(wk_mul(b, table[0]), wk_mul(a, table[1]));
    return first && second ? wk_to_dtype(wk_cat((first, second), -1), wk_dtype_of(x)) : NULL;
}
