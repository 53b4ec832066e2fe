/* SPDX-License-Identifier: Apache-2.0 */
/* Running sums of adjacent f32 lines (kernel_scan.c): a lane per line, accumulators in registers. With vectors of 16
 * bytes, conversions to f64 take as long as in the loops of kernel_scan.inc. */
#include "backend/cpu/scan.h"
#include "block_io.h"
#include "tables.h"

#if WIDTH > 16

enum { VECTORS = 4, LINES = VECTORS * LANES4 };

static void scan_lines(const wk__scan_lines *l, int64_t first)
{
    f64v value[2 * VECTORS];
    const char *in = l->in + first * 4;
    char *out = l->out + first * 4;
    UNROLL for (int k = 0; k < 2 * VECTORS; k++) value[k] = f64_splat(0);
    for (int64_t i = 0; i < l->length; i++, in += l->in_step, out += l->out_step) {
        UNROLL for (int k = 0; k < VECTORS; k++)
        {
            const V x = load_vector(in + k * WIDTH);
            value[2 * k] += f64_widen(x, 0);
            value[2 * k + 1] += f64_widen(x, 1);
            store_vector(out + k * WIDTH, (V)f32_narrow(value[2 * k], value[2 * k + 1]));
        }
    }
}

/* Scans `count` lines, at most a vector. */
static void scan_part(const wk__scan_lines *l, int64_t first, int64_t count)
{
    f64v low = f64_splat(0), high = low;
    const char *in = l->in + first * 4;
    char *out = l->out + first * 4;
    for (int64_t i = 0; i < l->length; i++, in += l->in_step, out += l->out_step) {
        const V x = load_part4(in, count, 0);
        low += f64_widen(x, 0);
        high += f64_widen(x, 1);
        store_part4(out, count, 0, (V)f32_narrow(low, high));
    }
}

static void scan_f32(const wk__scan_lines *l)
{
    int64_t first = 0;
    for (; l->lines - first >= LINES; first += LINES) scan_lines(l, first);
    for (; first < l->lines; first += LANES4) {
        const int64_t left = l->lines - first;
        scan_part(l, first, left < LANES4 ? left : LANES4);
    }
}

wk__scan_adjacent *const WK__ISA_NAME(wk__scan_f32) = scan_f32;

#else

wk__scan_adjacent *const WK__ISA_NAME(wk__scan_f32) = NULL;

#endif
