/* SPDX-License-Identifier: Apache-2.0 */
/* Tests random numbers: published vectors of Philox, distributions computed from its bits, and quantiles of the normal
 * distribution against erf and erfc in long double. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include <float.h>
#include <math.h>

#include "ir/random.h"

enum { SAMPLES = 1 << 16 };

static uint64_t draw(uint64_t counter)
{
    uint32_t out[4];
    wk__philox(counter, 0, 2024, out);
    return out[0] | (uint64_t)out[1] << 32;
}

static void test_philox_vectors(void **state)
{
    (void)state;
    /* Random123's kat_vectors: all zero, all ones, the digits of pi. */
    static const struct {
        uint64_t lo, hi, key;
        uint32_t out[4];
    } vector[] = {
        {0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {UINT64_MAX, UINT64_MAX, UINT64_MAX, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {0x85a308d3243f6a88, 0x0370734413198a2e, 0x299f31d0a4093822, {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof vector / sizeof *vector; i++) {
        uint32_t out[4];
        wk__philox(vector[i].lo, vector[i].hi, vector[i].key, out);
        assert_memory_equal(out, vector[i].out, sizeof out);
    }
}

/* Returns the distance of x > 0 from the quantile with upper tail (m + 1/2) / 2^bits, by one step of Newton's method:
 * exact to the square of the error. Near the centre the distance from 1/2 is compared, because there the tails differ
 * too little. */
static long double quantile_error(long double x, uint64_t m, int bits)
{
    const long double tail = ldexpl((long double)m + 0.5L, -bits);
    const long double density = expl(-x * x / 2) * 0.398942280401432677939946L;
    const long double scaled = x * 0.707106781186547524400844L;
    if (tail < 0.25L) return (tail - erfcl(scaled) / 2) / density;
    const long double distance = ldexpl((long double)((UINT64_C(1) << (bits - 1)) - m) - 0.5L, -bits);
    return (erfl(scaled) / 2 - distance) / density;
}

static void check_normal32(uint32_t m)
{
    const float x = wk__ndtri32(~m);
    assert_true(x > 0 && x < 7);
    assert_true(wk__ndtri32(m) == -x);
    assert_true(fabsl(quantile_error(x, m, 32)) < 2 * (long double)(nextafterf(x, INFINITY) - x));
}

static void check_normal64(uint64_t m)
{
    const double x = wk__ndtri64(~m);
    assert_true(x > 0 && x < 10);
    assert_true(wk__ndtri64(m) == -x);
    assert_true(fabsl(quantile_error(x, m, 64)) < 4e-15L * (long double)x);
}

static void test_normal_error(void **state)
{
    (void)state;
    for (uint32_t m = 0; m < 1u << 12; m++) check_normal32(m);
    for (uint32_t m = 0; m < 1u << 31; m += 4099) check_normal32(m);
    for (uint32_t m = 1u << 31; m-- > (1u << 31) - (1u << 12);) check_normal32(m);
    for (uint64_t k = 0; k < 1u << 18; k++) {
        const uint64_t bits = draw(k) >> 1;
        check_normal64(bits);
        check_normal64(bits >> k % 63);                       /* the tail */
        check_normal64((UINT64_MAX >> 1) - (bits >> k % 63)); /* the centre */
    }
}

static void test_normal_borders(void **state)
{
    (void)state;
    for (int octave = 2; octave < 63; octave++) {
        for (uint64_t part = 4; part < 8; part++) {
            const uint64_t border = part << (octave - 2);
            for (uint64_t m = border - 4; m < border + 4; m++) {
                if (m >= border + 3 || m + 1 >= UINT64_C(1) << 63) continue;
                check_normal64(m);
                assert_true(wk__ndtri64(m) <= wk__ndtri64(m + 1));
                if (octave > 30 || m + 1 >= UINT64_C(1) << 31) continue;
                check_normal32((uint32_t)m);
                assert_true(wk__ndtri32((uint32_t)m) <= wk__ndtri32((uint32_t)m + 1));
            }
        }
    }
}

static void test_normal_ends(void **state)
{
    (void)state;
    /* The quantile of 2^-33, of 2^-65, and of 1/2 - 2^-33, 1/2 - 2^-65: those are the distance x sqrt(2 pi). */
    assert_true(fabsf(wk__ndtri32(0) + 6.33795777f) < 1e-6f);
    assert_true(fabs(wk__ndtri64(0) + 9.15529377268607) < 1e-13);
    assert_true(fabsf(wk__ndtri32(0x80000000u) / 2.91809953e-10f - 1) < 2e-7f);
    assert_true(fabs(wk__ndtri64(UINT64_C(1) << 63) / 6.7942295524213037e-20 - 1) < 1e-14);
    /* Two values from tables: 97.5 % and 84.13 %. */
    assert_true(fabsf(wk__ndtri32(4187593114u) - 1.959964f) < 1e-6f);
    assert_true(fabsf(wk__ndtri32(3613548169u) - 1.0f) < 1e-6f);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Kolmogorov-Smirnov: sqrt(n) times the greatest distance between the distribution of the values and the uniform one on
 * [0, 1). 1 % of seeds exceed 1.63, and 1 % are below 0.44. */
static void assert_uniform(double values[], int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    double greatest = 0;
    for (int i = 0; i < count; i++) {
        assert_true(values[i] >= 0 && values[i] < 1);
        greatest = fmax(greatest, fmax(values[i] - (double)i / count, (double)(i + 1) / count - values[i]));
    }
    const double statistic = greatest * sqrt((double)count);
    assert_true(statistic < 1.63 && statistic > 0.44);
}

static void test_distributions(void **state)
{
    (void)state;
    static double uniform32[SAMPLES], uniform64[SAMPLES], normal32[SAMPLES], normal64[SAMPLES], integer[SAMPLES];
    for (int k = 0; k < SAMPLES; k++) {
        const uint64_t bits = draw((uint64_t)k);
        const uint32_t word = (uint32_t)bits;
        uniform32[k] = (double)((float)(word >> 8) * 0x1p-24f);
        uniform64[k] = (double)(bits >> 11) * 0x1p-53;
        normal32[k] = erfc(-(double)wk__ndtri32(word) / sqrt(2.0)) / 2;
        normal64[k] = erfc(-wk__ndtri64(bits) / sqrt(2.0)) / 2;
        integer[k] = (double)wk__random_below(bits, 1000000007) / 1000000007;
    }
    assert_uniform(uniform32, SAMPLES);
    assert_uniform(uniform64, SAMPLES);
    assert_uniform(normal32, SAMPLES);
    assert_uniform(normal64, SAMPLES);
    assert_uniform(integer, SAMPLES);
}

static void test_normal_moments(void **state)
{
    (void)state;
    enum { COUNT = 1 << 20 };
    static const double expected[7] = {1, 0, 1, 0, 3, 0, 15};
    static const double variance[7] = {0,  1,   2,    15,
                                       96, 945, 10170}; /* of x^k: the moment 2k minus the square of moment k */
    double moment[7] = {0};
    for (uint64_t k = 0; k < COUNT; k++) {
        const double x = (double)wk__ndtri32((uint32_t)draw(k));
        double power = 1;
        for (int j = 0; j < 7; j++, power *= x) moment[j] += power / COUNT;
    }
    for (int j = 1; j < 7; j++) assert_true(fabs(moment[j] - expected[j]) < 3 * sqrt(variance[j] / COUNT));
}

/* Operations of group programs: an arithmetic shift, products that wrap. */
static int64_t shifted(int64_t x)
{
    return x >> 32;
}

static int64_t product(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static int64_t sum(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t upper(int64_t x)
{
    return shifted(x) & 0xFFFFFFFF;
}

static int64_t lower(int64_t x)
{
    return x & 0xFFFFFFFF;
}

static int64_t below_short(int64_t b, int64_t r)
{
    return shifted(sum(product(upper(b), r), shifted(product(lower(b), r))));
}

static int64_t below_long(int64_t b, int64_t r)
{
    const int64_t m = product(upper(b), lower(r)), n = product(lower(b), upper(r));
    const int64_t c = upper(product(lower(b), lower(r))) + lower(m) + lower(n);
    return sum(sum(product(upper(b), upper(r)), upper(m)), sum(upper(n), upper(c)));
}

static void test_below(void **state)
{
    (void)state;
    assert_int_equal(wk__random_below(0, 10), 0);
    assert_int_equal(wk__random_below(UINT64_MAX, 10), 9);
    assert_int_equal(wk__random_below(UINT64_MAX, 1), 0);
    assert_true(wk__random_below(UINT64_MAX, UINT64_MAX) == UINT64_MAX - 1);
    for (uint64_t k = 0; k < 100000; k++) {
        const uint64_t bits = k % 7 ? draw(2 * k) : UINT64_MAX - k;
        const uint64_t range = (draw(2 * k + 1) >> k % 64) | 1;
        const uint64_t value = wk__random_below(bits, range);
        assert_true(value < range);
        assert_true((uint64_t)below_long((int64_t)bits, (int64_t)range) == value);
        if (range < UINT64_C(1) << 31) assert_true((uint64_t)below_short((int64_t)bits, (int64_t)range) == value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_philox_vectors), cmocka_unit_test(test_normal_error),
        cmocka_unit_test(test_normal_borders), cmocka_unit_test(test_normal_ends),
        cmocka_unit_test(test_distributions),  cmocka_unit_test(test_normal_moments),
        cmocka_unit_test(test_below),
    };
    return cmocka_run_group_tests_name("random", tests, NULL, NULL);
}
