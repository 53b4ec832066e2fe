/* SPDX-License-Identifier: Apache-2.0 */
/* Running sums and products of adjacent lines of f32, f16 and bf16 (kernel_scan.c): a lane per line, accumulators in
 * registers. With vectors of 16 bytes, conversions to f64 take as long as in the loops of kernel_scan.inc. */
#include "backend/cpu/scan.h"
#include "block_io.h"
#include "narrow_dtypes.h"
#include "tables.h"

#if WIDTH > 16

enum { VECTORS = 4 };

static inline V widen_f32(const char *p)
{
    return load_vector(p);
}

static inline void narrow_f32(char *p, V x)
{
    store_vector(p, x);
}

static inline f64v advance(f64v value, f64v x, bool product)
{
    return product ? value * x : value + x;
}

#define F(name) name##_f32
#define BYTES   4
#include "scan_lines.inc"

#define F(name) name##_f16
#define BYTES   2
#include "scan_lines.inc"

#define F(name) name##_bf16
#define BYTES   2
#include "scan_lines.inc"

/* Scans the lines that do not fill a vector, too. */
static int64_t scan_all_f32(const wk__scan_lines *l)
{
    const int64_t first = scan_full_f32(l), rest = l->lines - first;
    if (rest == 0) return first;
    f64v low = f64_splat(l->product), high = low;
    const char *in = l->in + first * 4;
    char *out = l->out + first * 4;
    for (int64_t i = 0; i < l->length; i++, in += l->in_step, out += l->out_step) {
        const V x = load_part4(in, rest, 0);
        low = advance(low, f64_widen(x, 0), l->product);
        high = advance(high, f64_widen(x, 1), l->product);
        store_part4(out, rest, 0, (V)f32_narrow(low, high));
    }
    return l->lines;
}

wk__scan_adjacent *const WK__ISA_NAME(wk__scan)[WK_DTYPE_COUNT] = {
    [WK_F32] = scan_all_f32, [WK_F16] = scan_full_f16, [WK_BF16] = scan_full_bf16};

#else

wk__scan_adjacent *const WK__ISA_NAME(wk__scan)[WK_DTYPE_COUNT] = {NULL};

#endif
