/* SPDX-License-Identifier: Apache-2.0 */
/* randint: integers below a bound, from the upper half of a product, exactly as ir/random.h defines. */
#include "ir/random.h"
#include "dtype_range.h"
#include "philox_draw.h"

static int low_half(wk__emit *e, int x)
{
    return wk__emit_i64(e, WK__AND, x, wk__emit_i64_const(e, 0xFFFFFFFF));
}
static int high_half(wk__emit *e, int x)
{
    return low_half(e, wk__emit_i64(e, WK__SHR, x, wk__emit_i64_const(e, 32)));
}

/* low + wk__random_below(bits, range), range below 2^31. in[2]: low, in[3]: range */
static int below_small(wk__emit *e, const int in[])
{
    int bits = wk__emit_bits(e, in[0], in[1], 64), range = wk__emit_raw_imm(e, in[3]);
    int carried =
        wk__emit_i64(e, WK__SHR, wk__emit_i64(e, WK__MUL, low_half(e, bits), range), wk__emit_i64_const(e, 32));
    int product = wk__emit_i64(e, WK__ADD, wk__emit_i64(e, WK__MUL, high_half(e, bits), range), carried);
    return wk__emit_i64(e, WK__ADD, wk__emit_raw_imm(e, in[2]),
                        wk__emit_i64(e, WK__SHR, product, wk__emit_i64_const(e, 32)));
}

/* Like below_small(), but for any range: the upper half of a 128-bit product, computed from four 64-bit ones. */
static int below_any(wk__emit *e, const int in[])
{
    int bits = wk__emit_bits(e, in[0], in[1], 64), range = wk__emit_raw_imm(e, in[3]);
    int ub = high_half(e, bits), lb = low_half(e, bits), ur = high_half(e, range), lr = low_half(e, range);
    int m = wk__emit_i64(e, WK__MUL, ub, lr), n = wk__emit_i64(e, WK__MUL, lb, ur);
    int c = wk__emit_i64(e, WK__ADD, high_half(e, wk__emit_i64(e, WK__MUL, lb, lr)),
                         wk__emit_i64(e, WK__ADD, low_half(e, m), low_half(e, n)));
    int upper = wk__emit_i64(e, WK__ADD, wk__emit_i64(e, WK__MUL, ub, ur),
                             wk__emit_i64(e, WK__ADD, high_half(e, m), high_half(e, n)));
    return wk__emit_i64(e, WK__ADD, wk__emit_raw_imm(e, in[2]), wk__emit_i64(e, WK__ADD, upper, high_half(e, c)));
}

/* An integer that a float dtype cannot represent is rounded when it is stored. in[4] and in[5] are the limits of the
 * result, so that none is rounded to the excluded end. */
static int clamped(wk__emit *e, int x, const int in[])
{
    return wk__emit_i64(e, WK__MIN, wk__emit_i64(e, WK__MAX, x, wk__emit_raw_imm(e, in[4])),
                        wk__emit_raw_imm(e, in[5]));
}
static int clamped_small(wk__emit *e, const int in[])
{
    return clamped(e, below_small(e, in), in);
}
static int clamped_any(wk__emit *e, const int in[])
{
    return clamped(e, below_any(e, in), in);
}

/* [result is clamped][range is below 2^31] */
static const wk__op below_of[2][2] = {
    {WK__RANDOM_OP("randint", below_any), WK__RANDOM_OP("randint", below_small)},
    {WK__RANDOM_OP("randint", clamped_any), WK__RANDOM_OP("randint", clamped_small)},
};

/* Returns the ends of [low, high) as the dtype represents them; false on error. */
static bool range_in_dtype(wk_site site, int64_t low, int64_t high, wk_dtype dtype, wk__integer_range *ends)
{
    const wk__integer_range limits = wk__integer_limits(dtype);
    *ends = (wk__integer_range){low, high - 1};
    if (low < limits.least || high - 1 > limits.greatest) {
        wk__error_set(site, WK_ERR_ARGUMENT,
                      "randint: [%lld, %lld) is out of range for %s (valid: [%lld, %lld]); use a "
                      "wider dtype",
                      (long long)low, (long long)high, wk_dtype_str(dtype), (long long)limits.least,
                      (long long)limits.greatest);
        return false;
    }
    if (wk__integer_range_narrow(ends, dtype)) return true;
    wk__error_set(site, WK_ERR_ARGUMENT, "randint: %s holds no integer in [%lld, %lld); use a wider dtype",
                  wk_dtype_str(dtype), (long long)low, (long long)high);
    return false;
}

wk_tensor *wk_randint_at(wk_site site, int64_t low, int64_t high, const int64_t *shape, int ndim,
                         const wk_tensor_options *options)
{
    wk__create c;
    wk__integer_range ends;
    if (low >= high) {
        wk__error_set(site, WK_ERR_ARGUMENT, "randint: the range [%lld, %lld) is empty", (long long)low,
                      (long long)high);
        return NULL;
    }
    if (!wk__create_begin(&c, &wk__op_randint, site, shape, ndim, options, WK_I64) ||
        !range_in_dtype(site, low, high, c.dtype, &ends))
        return NULL;
    const uint64_t range = (uint64_t)high - (uint64_t)low; /* up to 2^64 - 1 */
    const bool small = range < (uint64_t)1 << 31;
    const int64_t exact = wk__largest_exact_integer(c.dtype);
    const bool rounds = wk__is_float(c.dtype) && (low < -exact || high - 1 > exact);
    return wk__record_random(&c, &below_of[rounds][small], WK_I64,
                             (const int64_t[]){low, (int64_t)range, ends.least, ends.greatest}, rounds ? 4 : 2);
}

const wk__op wk__op_randint = {
    WK__SIGNATURE_randint,
};
