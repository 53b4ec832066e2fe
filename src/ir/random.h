/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers: bit-exact reference for PHILOX and NDTRI, and how other distributions derive from them. Every backend
 * must produce the same bits, so the functions are easy to port to vector code or kernel source: only conversions and
 * fma round, nothing overflows, no value is denormal, and no step depends on a device's math library.
 *
 *   one element, one counter: element k of a call draws PHILOX(first + k); `first` is reserved when it is recorded
 *
 *   uniform [0, 1)    f32   (word >> 8)  * 2^-24         f64    (bits >> 11) * 2^-53     bits: 64, >> unsigned
 *                     f16   (word >> 21) * 2^-11         bf16   (word >> 24) * 2^-8      word: 32
 *   normal            f32   NDTRI(word)                  f64    NDTRI(bits)              f16, bf16: the f32 rounded
 *   integers          low + wk__random_below(bits, high - low), any dtype
 *   permutation       stable argsort of the bits as i64
 *
 * In a program i64 is the only wide class: SHR repeats the sign, MUL keeps the low 64 bits, PHILOX 32 yields a word >=
 * 0. With U(x) = AND(SHR(x, 32), 2^32 - 1) and L(x) = AND(x, 2^32 - 1):
 *
 *   bits >> 11            AND(SHR(bits, 11), 2^53 - 1)
 *   wk__random_below(b, r)  r < 2^31:  SHR(U(b) * r + SHR(L(b) * r, 32), 32)
 *                         else:      m = U(b) * L(r)    n = L(b) * U(r)    c = U(L(b) * L(r)) + L(m) + L(n)
 *                                    U(b) * U(r) + U(m) + U(n) + U(c)
 *                         both are equal where both apply */
#ifndef WICK_IR_RANDOM_H
#define WICK_IR_RANDOM_H

#include <stdint.h>
#include <string.h>

/* Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers, as easy as 1, 2, 3; SC 2011). The counter has 128
 * bits, low word first. PHILOX uses counter_hi = 0 and yields out[0], or out[0] | out[1] << 32. */
static inline void wk__philox(uint64_t counter_lo, uint64_t counter_hi, uint64_t key, uint32_t out[4])
{
    uint32_t c0 = (uint32_t)counter_lo, c1 = (uint32_t)(counter_lo >> 32);
    uint32_t c2 = (uint32_t)counter_hi, c3 = (uint32_t)(counter_hi >> 32);
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)c0 * 0xD2511F53u, b = (uint64_t)c2 * 0xCD9E8D57u;
        c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)b;
        c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)a;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

/* Maps 64 random bits to 0..range-1: the upper half of the product. The 2^64 inputs are divided as evenly as possible;
 * the relative error per number is below range / 2^64, so no rejection is needed. range > 0. */
static inline uint64_t wk__random_below(uint64_t bits, uint64_t range)
{
    return (uint64_t)(__extension__((unsigned __int128)bits * range) >> 64);
}

/* ---- the normal distribution ------------------------------------------------------------------------------------- */

/* NDTRI computes Phi^-1 of the probability (bits + 1/2) / 2^32: the midpoints of 2^32 equal parts of the distribution.
 * ~bits yields the negated number. With m = min(bits, ~bits), 31 bits:
 *
 *   p = (m + 1/2) / 2^32, in (0, 1/2)
 *
 *   0       1/16    1/8             1/4                             1/2
 *   ..+-+-+-+-+-+-+-+---+---+---+---+-------+-------+-------+-------+     four segments per octave, 32 octaves
 *
 * Octave and segment are the exponent and the first two mantissa bits of m + 1/2 as a float. The conversion must not
 * round up into the next segment, so the bit 8 below the highest one is cleared first: a carry ends there. The
 * remaining bits are the position t within the segment, measured from its upper border, where it is 0, so that near p =
 * 1/2 the result is a small number times a polynomial, and precise. Columns of the table are segments, rows are powers
 * of t: a vector unit gathers from one row at a time, and kernel source contains the tables as integer bit patterns.
 * The 64-bit version has 64 octaves and doubles.
 *
 * The largest result is 6.34 (32 bits) and 9.15 (64 bits). */
enum { WK__NDTRI32_DEGREE = 5, WK__NDTRI32_SEGMENTS = 4 * 32, WK__NDTRI64_DEGREE = 10, WK__NDTRI64_SEGMENTS = 4 * 64 };
extern const float wk__ndtri32_table[WK__NDTRI32_DEGREE + 1][WK__NDTRI32_SEGMENTS];
extern const double wk__ndtri64_table[WK__NDTRI64_DEGREE + 1][WK__NDTRI64_SEGMENTS];

/* Monotonic in bits (verified for all inputs), and within 2 ulp of the exact quantile. */
static inline float wk__ndtri32(uint32_t bits)
{
    const uint32_t upper_half = 0u - (bits >> 31); /* all ones, or zero */
    const uint32_t m = bits ^ upper_half;
    const float position = (float)(int32_t)(m & ~(m >> 8)) + 0.5f;
    uint32_t image;
    memcpy(&image, &position, sizeof image);
    const uint32_t segment = (image >> 21) - (126u << 2); /* 126: the exponent of 0.5 */
    const uint32_t place = (2 * m + 1) << (31 - segment / 4);
    const float t = (float)(int32_t)((~place & 0x1FFFFFFFu) + 1) * 0x1p-29f;

    float value = wk__ndtri32_table[WK__NDTRI32_DEGREE][segment];
    for (int k = WK__NDTRI32_DEGREE - 1; k >= 0; k--) value = __builtin_fmaf(value, t, wk__ndtri32_table[k][segment]);
    return upper_half ? value : -value;
}

/* Relative error below 4e-15. */
static inline double wk__ndtri64(uint64_t bits)
{
    const uint64_t upper_half = 0u - (bits >> 63);
    const uint64_t m = bits ^ upper_half;
    const double position = (double)(int64_t)(m & ~(m >> 8)) + 0.5;
    uint64_t image;
    memcpy(&image, &position, sizeof image);
    const uint64_t segment = (image >> 50) - (1022u << 2);
    const uint64_t place = (2 * m + 1) << (63 - segment / 4);
    const double t = (double)(int64_t)((~place & 0x1FFFFFFFFFFFFFFFu) + 1) * 0x1p-61;

    double value = wk__ndtri64_table[WK__NDTRI64_DEGREE][segment];
    for (int k = WK__NDTRI64_DEGREE - 1; k >= 0; k--) value = __builtin_fma(value, t, wk__ndtri64_table[k][segment]);
    return upper_half ? value : -value;
}

#endif
