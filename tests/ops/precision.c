/* SPDX-License-Identifier: Apache-2.0 */
/* Tests precision if intermediate values overflow or roundings accumulate: norms of vectors of any scale, running sums
 * of any length. Runs on the CPU and on every device of the tested kind. */
#include "values.h"
#include "support/gpu/gpu.h"

static wk_device device_at(int device)
{
    return device < 0 ? wk_cpu() : test_gpu(device);
}

/* ---- norms: all are homogeneous of degree 1 ---------------------------------------------------------------------- */

typedef wk_tensor *length(wk_tensor *x, int64_t dim);

static wk_tensor *norm_2(wk_tensor *x, int64_t dim)
{
    return wk_norm(x, (dim));
}
static wk_tensor *norm_3(wk_tensor *x, int64_t dim)
{
    return wk_norm(x, (dim), .p = 3, .keepdim = true);
}
static wk_tensor *norm_half(wk_tensor *x, int64_t dim)
{
    return wk_norm(x, (dim), .p = 0.5);
}
static wk_tensor *norm_minus_2(wk_tensor *x, int64_t dim)
{
    return wk_norm(x, (dim), .p = -2);
}
static wk_tensor *spread(wk_tensor *x, int64_t dim)
{
    return wk_std(x, (dim));
}
static wk_tensor *distance(wk_tensor *x, int64_t dim)
{
    (void)dim;
    return wk_dist(x, wk_mul(x, -0.5));
}
static wk_tensor *fused(wk_tensor *x, int64_t dim)
{
    return wk_mul(wk_div(x, wk_norm(x, (dim), .keepdim = true)), wk_std(x, (dim), .keepdim = true));
}

/* Returns the largest difference, relative to the largest magnitude. */
static double difference(wk_tensor *have, wk_tensor *want)
{
    have = wk_to_dtype(have, WK_F64);
    want = wk_to_dtype(want, WK_F64);
    return wk_item(wk_amax(wk_abs(wk_sub(have, want)))) / wk_item(wk_amax(wk_abs(want)));
}

/* Expects f(s x) = s f(x) with an unchanged gradient; s is a power of 2, so that s x is exact. */
static void expect_degree_1(length *f, wk_tensor *x, int64_t dim, double s, double tolerance)
{
    wk_tensor *small = wk_requires_grad_(wk_clone(x), true), *scaled = wk_requires_grad_(wk_mul(x, s), true);
    wk_tensor *want = f(small, dim), *have = f(scaled, dim);
    wk_tensor *unscaled = wk_div(wk_to_dtype(have, WK_F64), s);
    assert_int_equal(wk_backward(wk_sum(want)), WK_OK);
    assert_int_equal(wk_backward(wk_sum(have)), WK_OK);
    const double value = difference(unscaled, want), slope = difference(wk_grad_of(scaled), wk_grad_of(small));
    if (!(value < tolerance) || !(slope < 5 * tolerance)) fail_msg("scale %g: %g, slope %g", s, value, slope);
}

static void lengths_of_any_scale(void **state)
{
    (void)state;
    static length *const f[] = {norm_2, norm_3, norm_half, norm_minus_2, spread, distance, fused};
    static const struct row {
        wk_dtype dtype;
        double scale[4], tolerance;
    } rows[] = {{WK_F32, {0x1p-110, 0x1p-50, 0x1p70, 0x1p100}, 2e-6},
                {WK_F64, {0x1p-900, 0x1p-500, 0x1p520, 0x1p900}, 1e-13},
                {WK_BF16, {0x1p-100, 0x1p-50, 0x1p70, 0x1p100}, 1e-2}};
    static const struct shape {
        int64_t size[2], dim;
    } shapes[] = {{{3, 5}, 1}, {{40, 300}, 1}, {{300, 40}, 0}, {{2, 33000}, 1}};
    for (int device = -1; device < wk_device_count(test_gpu_kind()); device++)
        for (int d = 0; d < (device < 0 ? 3 : 1); d++)
            for (int k = 0; k < 4; k++) {
                WK_SCOPE;
                const struct shape *at = &shapes[k];
                wk_seed(5);
                wk_tensor *x = wk_add(wk_randn((at->size[0], at->size[1]), .device = device_at(device)), 0.5);
                x = wk_to_dtype(x, rows[d].dtype);
                /* devices that compile each kernel run fewer, dissimilar cases of a shape */
                for (size_t n = 0; n < sizeof f / sizeof *f; n += device < 0 ? 1 : 4)
                    expect_degree_1(f[n], x, at->dim, rows[d].scale[(n + (size_t)k) % 4], rows[d].tolerance);
            }
}

/* Each row of a block, and each segment of a long row, has a separate scale. */
static void lengths_of_mixed_rows(void **state)
{
    (void)state;
    enum { ROWS = 67 };
    static const int64_t columns[] = {2, 100, 33000};
    for (int device = -1; device < wk_device_count(test_gpu_kind()); device++)
        for (int k = 0; k < 3; k++) {
            WK_SCOPE;
            static float scales[ROWS];
            for (int r = 0; r < ROWS; r++)
                scales[r] = r % 7 == 3 ? 0x1p90f : r % 11 == 5 ? 0x1p-90f : r % 13 == 6 ? 0 : 1;
            wk_tensor *s = wk_from_at(WK_HERE, WK_F32, scales, sizeof scales, (const int64_t[]){ROWS, 1}, 2);
            s = wk_to(s, device_at(device));
            wk_tensor *x = wk_randn((ROWS, columns[k]), .device = device_at(device)), *y = wk_mul(x, s);
            wk_tensor *want = wk_mul(wk_norm(wk_to_dtype(x, WK_F64), (1), .keepdim = true), wk_to_dtype(s, WK_F64));
            wk_tensor *error = wk_sub(wk_to_dtype(wk_norm(y, (1), .keepdim = true), WK_F64), want);
            assert_true(wk_item(wk_amax(wk_div(wk_abs(error), wk_add(want, wk_eq(want, 0))))) < 1e-6);
        }
}

static void lengths_at_the_ends(void **state)
{
    (void)state;
    WK_SCOPE;
    EXPECT(wk_norm(wk_zeros((3))), (), 0);
    EXPECT(wk_norm(wk_zeros((0))), (), 0);
    EXPECT(wk_norm(wk_zeros((2, 0)), (1)), (2), 0, 0);
    EXPECT(wk_norm(wk_of(float, (2), 0, 5), (), .p = -2), (), 0);
    EXPECT(wk_std(wk_full((4), 0x1p100)), (), 0);
    assert_true(isinf(wk_item(wk_norm(wk_of(float, (2), INFINITY, 1)))));
    assert_true(isinf(wk_item(wk_norm(wk_full((4), 0x1p127)))));
    assert_true(isnan(wk_item(wk_norm(wk_of(float, (3), INFINITY, 1, NAN)))));
    assert_true(isnan(wk_item(wk_std(wk_of(float, (2), INFINITY, 1)))));
    assert_true(isnan(wk_item(wk_std(wk_full((1), 0x1p100)))));
    assert_true(wk_item(wk_norm(wk_full((1), 0x1p-149))) == 0x1p-149);
    assert_true(fabs(wk_item(wk_std(wk_of(float, (2), 1e20f, -1e20f))) / 1.41421356e20 - 1) < 1e-6);
    assert_true(fabs(wk_item(wk_std(wk_of(float, (2), 1e-30f, -1e-30f))) / 1.41421356e-30 - 1) < 1e-6);
}

static void angles_of_any_scale(void **state)
{
    (void)state;
    static const double scales[] = {0x1p-40, 1, 0x1p80};
    for (int k = 0; k < 3; k++) {
        WK_SCOPE;
        wk_tensor *a = wk_requires_grad_(wk_mul(wk_of(float, (2), 3, 4), scales[k]), true);
        wk_tensor *b = wk_mul(wk_of(float, (2), 4, 3), scales[k]),
                  *cosine = wk_cosine_similarity(a, b, 0, .eps = 1e-20);
        EXPECT(cosine, (), 0.96);
        wk_backward(cosine);
        EXPECT(wk_mul(wk_grad_of(a), scales[k]), (2), 0.0448, -0.0336);
    }
}

/* ---- running sums ------------------------------------------------------------------------------------------------ */

/* Each running sum is right to about its last bit: roundings do not accumulate. */
static void long_running_sums(void **state)
{
    (void)state;
    static const struct row {
        int64_t shape[2], dim;
    } rows[] = {{{1, 1000000}, 1}, {{1000000, 1}, 0}, {{30000, 33}, 0}, {{3, 100000}, 1}};
    static const struct kind {
        wk_dtype dtype;
        double tolerance;
    } kinds[] = {{WK_F32, 1.5e-7}, {WK_BF16, 4e-3}};
    for (int device = -1; device < wk_device_count(test_gpu_kind()); device++)
        for (int k = 0; k < 4 * 2; k++) {
            WK_SCOPE;
            const struct row *r = &rows[k / 2];
            const struct kind *of = &kinds[k % 2];
            wk_seed(3);
            wk_tensor *x = wk_to_dtype(wk_rand((r->shape[0], r->shape[1])), of->dtype);
            wk_tensor *want = wk_cumsum(wk_to_dtype(x, WK_F64), r->dim);
            wk_tensor *have = wk_to(wk_cumsum(wk_to(x, device_at(device)), r->dim), wk_cpu());
            wk_tensor *error = wk_div(wk_abs(wk_sub(wk_to_dtype(have, WK_F64), want)), want);
            const double most = wk_item(wk_amax(error));
            /* GPUs combine partial sums of work items: a few more roundings */
            if (!(most < (device < 0 ? 1 : 3) * of->tolerance)) fail_msg("device %d, case %d: %g", device, k, most);
        }
}

/* An infinite or overflowing sum stays infinite, and becomes NaN only if the exact sum is. */
static void running_sums_past_infinity(void **state)
{
    (void)state;
    for (int device = -1; device < wk_device_count(test_gpu_kind()); device++) {
        WK_SCOPE;
        wk_tensor *x = wk_ones((1000), .device = device_at(device));
        wk_fill_(wk_narrow(x, 0, 300, 1), INFINITY);
        wk_tensor *y = wk_cumsum(x, 0);
        assert_true(wk_item(wk_narrow(y, 0, 299, 1)) == 300);
        assert_true(isinf(wk_item(wk_amin(wk_narrow(y, 0, 300, 700)))));
        wk_fill_(wk_narrow(x, 0, 600, 1), -INFINITY);
        y = wk_cumsum(x, 0);
        assert_true(isinf(wk_item(wk_narrow(y, 0, 599, 1))) && isnan(wk_item(wk_narrow(y, 0, 600, 1))));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_of_any_scale), cmocka_unit_test(lengths_of_mixed_rows),
        cmocka_unit_test(lengths_at_the_ends),  cmocka_unit_test(angles_of_any_scale),
        cmocka_unit_test(long_running_sums),    cmocka_unit_test(running_sums_past_infinity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
