/* SPDX-License-Identifier: Apache-2.0 */
/* Tests random numbers: stream, equal bits in every mode and on every device, distributions, ranges. */
#include "values.h"
#include "support/gpu/gpu.h"

static void same_bits(wk_tensor *a, wk_tensor *b)
{
    assert_int_equal(wk_numel(a), wk_numel(b));
    size_t bytes = (size_t)wk_numel(a) * wk_dtype_size(wk_dtype_of(a));
    char *x = malloc(bytes + 1), *y = malloc(bytes + 1);
    assert_int_equal(wk_read(a, x, bytes), WK_OK);
    assert_int_equal(wk_read(b, y, bytes), WK_OK);
    assert_memory_equal(x, y, bytes);
    free(x);
    free(y);
}

static void a_seed_determines_the_stream(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_seed(5);
    wk_tensor *a = wk_randn((100)), *b = wk_randn((100));
    wk_sync();
    wk_seed(5);
    same_bits(a, wk_randn((100)));
    same_bits(b, wk_randn((100)));
    wk_seed(6);
    wk_tensor *differs = wk_sum(wk_ne(a, wk_randn((100))));
    assert_true(wk_item(differs) > 90);
}

/* The counter is assigned at the call, independent of when and with what the values are computed. */
static void fusion_does_not_change_draws(void **state)
{
    (void)state;
    WK_SCOPE;
    wk__engine_config before = *wk__engine_config_get();
    wk_tensor *result[2][3], *w = wk_sub(wk_reshape(wk_arange(24.0), (4, 6)), 10), *v = wk_linspace(-1, 1, 6);
    wk_sync();
    for (int fused = 0; fused < 2; fused++) {
        wk__engine_config_set(false, !fused);
        wk_seed(9);
        wk_tensor *late = wk_rand((4, 6));
        result[fused][0] = wk_mul(wk_dropout(wk_exp(w), 0.5, true), wk_randn((4, 6)));
        result[fused][1] = wk_dropout(wk_linear(w, wk_mul(w, 0.5), NULL), 0.3, true);
        result[fused][2] = wk_add(wk_sum(wk_dropout(wk_mul(w, v), 0.5, true), (1), .keepdim = true), late);
        wk_sync();
    }
    wk__engine_config_set(before.sync, before.nofuse);
    for (int k = 0; k < 3; k++) same_bits(result[0][k], result[1][k]);
}

static void distributions(void **state)
{
    (void)state;
    WK_SCOPE;
    enum { MANY = 100000 };
    wk_seed(1);
    static const wk_dtype floats[] = {WK_F32, WK_F64, WK_F16, WK_BF16};
    for (int k = 0; k < 4; k++) {
        wk_tensor *u = wk_to_dtype(wk_rand((MANY), .dtype = floats[k]), WK_F64),
                  *n = wk_to_dtype(wk_randn((MANY), .dtype = floats[k]), WK_F64);
        double mean = wk_item(wk_sum(u)) / MANY, spread = wk_item(wk_sum(wk_mul(n, n))) / MANY;
        assert_true(fabs(mean - 0.5) < 0.01);
        assert_true(fabs(spread - 1) < 0.03);
        assert_true(fabs(wk_item(wk_sum(n)) / MANY) < 0.02);
        assert_true(wk_item(wk_sum(wk_ge(u, 1))) == 0 && wk_item(wk_sum(wk_lt(u, 0))) == 0);
    }
    wk_tensor *i = wk_randint(-2, 3, (MANY));
    assert_int_equal(wk_dtype_of(i), WK_I64);
    for (int64_t k = -2; k < 3; k++) assert_true(fabs(wk_item(wk_sum(wk_eq(i, k))) / MANY - 0.2) < 0.01);
    wk_tensor *x = wk_zeros((MANY));
    assert_ptr_equal(wk_normal_(x, 3, 0.5), x);
    assert_true(fabs(wk_item(wk_sum(x)) / MANY - 3) < 0.02);
    wk_uniform_(x, -1, 0);
    assert_true(fabs(wk_item(wk_sum(x)) / MANY + 0.5) < 0.01);
    assert_true(fabs(wk_item(wk_sum(wk_bernoulli(wk_full((MANY), 0.25)))) / MANY - 0.25) < 0.01);
}

static void permutations(void **state)
{
    (void)state;
    WK_SCOPE;
    enum { N = 1000 };
    int64_t place[N];
    bool seen[N] = {false};
    wk_tensor *p = wk_randperm(N);
    assert_int_equal(wk_read(p, place, sizeof place), WK_OK);
    for (int k = 0; k < N; k++) {
        assert_in_range(place[k], 0, N - 1);
        assert_false(seen[place[k]]);
        seen[place[k]] = true;
    }
    EXPECT_EMPTY(wk_randperm(0), (0));
}

/* Gradients pass through kept elements with the same factor; in eval mode the result is x itself. */
static void dropout(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((1000), .requires_grad = true), *y = wk_dropout(x, 0.2, true);
    assert_string_equal(wk__grad_fn_name(y), "MulBackward0");
    assert_int_equal(wk_backward(wk_sum(y)), WK_OK);
    same_bits(y, wk_grad_of(x));
    double zeros = wk_item(wk_sum(wk_eq(y, 0)));
    assert_true(zeros > 140 && zeros < 260);
    assert_int_equal(wk_item(wk_sum(wk_eq(y, 1.25f))), 1000 - zeros);
    assert_ptr_equal(wk_dropout(x, 0.2, false), x);
    assert_int_equal(wk_item(wk_sum(wk_dropout(x, 1, true))), 0);
}

/* The slopes of negative elements are uniform, and the gradient has those of the call. */
static void random_slopes(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_seed(3);
    wk_tensor *x = wk_full((20000), -1.0, .requires_grad = true);
    wk_tensor *y = wk_rrelu(x, .lower = 0.25, .upper = 0.75, .training = true), *slopes = wk_neg(y);
    assert_int_equal(wk_backward(wk_sum(y)), WK_OK);
    same_bits(slopes, wk_grad_of(x));
    assert_true(wk_item(wk_amin(slopes)) >= 0.25 && wk_item(wk_amax(slopes)) <= 0.75);
    assert_true(fabs(wk_item(wk_mean(slopes)) - 0.5) < 0.005 && fabs(wk_item(wk_var(slopes)) - 1.0 / 48) < 0.001);
    wk_tensor *again = wk_rrelu(x, .lower = 0.25, .upper = 0.75, .training = true);
    assert_true(wk_item(wk_sum(wk_eq(y, again))) < 100);
    wk_tensor *above = wk_ones((4), .dtype = WK_BF16);
    same_bits(wk_rrelu(above, .training = true), above);
}

static void draws(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_seed(2);
    wk_tensor *p = wk_of(float, (4), 0, 1, 3, 0), *d = wk_multinomial(p, 20000, .replacement = true);
    assert_int_equal(wk_item(wk_sum(wk_eq(d, 0))) + wk_item(wk_sum(wk_eq(d, 3))), 0);
    assert_true(fabs(wk_item(wk_sum(wk_eq(d, 2))) / 20000 - 0.75) < 0.02);
    EXPECT(wk_multinomial(wk_of(float, (2, 3), 0, 5, 0, 0, 0, 1), 1), (2, 1), 1, 2);
    for (int k = 0; k < 20; k++) { /* without replacement each positive class is drawn once */
        wk_tensor *all = wk_multinomial(wk_of(float, (2, 4), 1, 2, 0, 3, 9, 0, 1, 1), 3);
        EXPECT(wk_sum(all, (1)), (2), 4, 5);
    }
}

/* Without replacement the first draw is k with probability p[k], the second with p[k] / (1 - p[first]). */
static void draws_without_replacement(void **state)
{
    (void)state;
    static const wk_dtype floats[] = {WK_F32, WK_F64, WK_BF16};
    static const double p[3] = {0.125, 0.625, 0.25};
    enum { ROWS = 40000 };
    for (int k = 0; k < 3; k++) {
        WK_SCOPE;
        wk_seed(3);
        wk_tensor *table = wk_expand(wk_to_dtype(wk_of(double, (3), p[0], p[1], p[2]), floats[k]), (ROWS, 3));
        wk_tensor *all = wk_multinomial(table, 3), *first = wk_select(all, 1, 0), *second = wk_select(all, 1, 1);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                double share = wk_item(wk_sum(wk_logical_and(wk_eq(first, i), wk_eq(second, j)))) / ROWS;
                double wanted = i == j ? 0 : p[i] * p[j] / (1 - p[i]);
                if (fabs(share - wanted) > 0.008) fail_msg("share of %d before %d: %g, not %g", i, j, share, wanted);
            }
        wk_seed(3);
        same_bits(first, wk_select(wk_multinomial(table, 1), 1, 0));
    }
}

/* Draws are the same on every device and in every mode. */
static void draws_are_the_same_everywhere(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *p = wk_rand((50, 40)), *want[3], *have[3];
    for (int device = -2; device < wk_device_count(test_gpu_kind()); device++) {
        wk__engine_config before = *wk__engine_config_get();
        wk_tensor *x = device < 0 ? p : wk_to(p, test_gpu(device));
        if (device == -1) wk__engine_config_set(false, true);
        wk_seed(4);
        have[0] = wk_multinomial(x, 30);
        have[1] = wk_multinomial(x, 1);
        have[2] = wk_multinomial(x, 60, .replacement = true);
        wk_sync();
        wk__engine_config_set(before.sync, before.nofuse);
        for (int k = 0; k < 3; k++) {
            have[k] = wk_to(have[k], wk_cpu());
            if (device == -2) want[k] = have[k];
            same_bits(want[k], have[k]);
        }
    }
}

/* Number of draws on a device; slow devices make fewer. */
static int64_t draws_on(int device)
{
    return device < 0 ? 1 << 22 : 1 << 14;
}
static wk_device device_at(int device)
{
    return device < 0 ? wk_cpu() : test_gpu(device);
}

static double smallest(wk_tensor *x)
{
    return wk_item(wk_amin(x));
}
static double largest(wk_tensor *x)
{
    return wk_item(wk_amax(x));
}

static const wk_dtype float_dtypes[] = {WK_F32, WK_F64, WK_F16, WK_BF16};

/* Rounding never reaches the excluded end: [from, to) with both bounds as the dtype represents them. */
static void uniform_stays_in_its_range(void **state)
{
    (void)state;
    static const double ends[][2] = {{0, 1},     {-3, -2},   {1000, 1001}, {-1, 0},
                                     {0.1, 0.3}, {1, 1.001}, {-6e4, 5e3},  {2, 2}};
    for (int device = -1; device < wk_device_count(test_gpu_kind()); device++)
        for (int d = 0; d < 4; d++)
            for (int k = 0; k < 8; k++) {
                WK_SCOPE;
                const wk_dtype dtype = float_dtypes[d];
                wk_tensor *x = wk_empty((draws_on(device)), .dtype = dtype, .device = device_at(device));
                const double from = wk_item(wk_full((1), ends[k][0], .dtype = dtype));
                const double to = wk_item(wk_full((1), ends[k][1], .dtype = dtype));
                wk_uniform_(x, ends[k][0], ends[k][1]);
                wk_sync(); /* otherwise each reduction draws anew */
                const double least = smallest(x), most = largest(x);
                if (!(least >= from) || !(from < to ? most < to : most == to))
                    fail_msg("%s of [%g, %g): %.17g to %.17g", wk_dtype_str(dtype), from, to, least, most);
            }
}

/* The same for draws with a fixed range; also compares all devices. */
static void draws_in_every_float_dtype(void **state)
{
    (void)state;
    enum { OPS = 5, SAME = 1 << 14 };
    for (int d = 0; d < 4; d++) {
        WK_SCOPE;
        wk_tensor *want[OPS];
        for (int device = -1; device < wk_device_count(test_gpu_kind()); device++) {
            const int64_t n = draws_on(device);
            const wk_device on = device_at(device);
            const wk_dtype dtype = float_dtypes[d];
            wk_seed(7);
            wk_tensor *ones = wk_ones((n), .dtype = dtype, .device = on);
            wk_tensor *rand = wk_rand((n), .dtype = dtype, .device = on);
            wk_tensor *randn = wk_randn((n), .dtype = dtype, .device = on);
            wk_tensor *chance = wk_bernoulli(wk_mul(ones, 0.25)), *kept = wk_dropout(ones, 0.5, true);
            wk_sync();
            assert_true(smallest(rand) >= 0 && largest(rand) < 1);
            assert_true(smallest(randn) > -10 && largest(randn) < 10);
            assert_true(wk_item(wk_sum(wk_mul(wk_to_dtype(chance, WK_F32), wk_sub(1, chance)))) == 0);
            assert_true(wk_item(wk_sum(wk_mul(wk_to_dtype(kept, WK_F32), wk_sub(2, kept)))) == 0);
            wk_seed(8);
            wk_tensor *have[OPS] = {wk_rand((SAME), .dtype = dtype, .device = on)};
            have[1] = wk_randn((SAME), .dtype = dtype, .device = on);
            have[2] = wk_bernoulli(wk_narrow(wk_mul(ones, 0.25), 0, 0, SAME));
            have[3] = wk_dropout(wk_narrow(ones, 0, 0, SAME), 0.5, true);
            have[4] = wk_uniform_(wk_empty((SAME), .dtype = dtype, .device = on), 3, 4.5);
            for (int k = 0; k < OPS; k++) {
                have[k] = wk_to(have[k], wk_cpu());
                if (device < 0) want[k] = have[k];
                same_bits(want[k], have[k]);
            }
        }
    }
}

static void integers_stay_in_their_range(void **state)
{
    (void)state;
    static const struct row {
        int64_t low, high;
        wk_dtype dtype;
    } rows[] = {{0, 4000, WK_F16},
                {2047, 2050, WK_F16},
                {-2050, -2048, WK_F16},
                {-65504, 65505, WK_F16},
                {0, 1000, WK_BF16},
                {-1000, -255, WK_BF16},
                {0, (int64_t)1 << 30, WK_F32},
                {INT64_MIN, INT64_MAX, WK_F32},
                {((int64_t)1 << 53) - 2, ((int64_t)1 << 53) + 4, WK_F64},
                {0, 256, WK_U8},
                {-128, 128, WK_I8},
                {-32768, 32768, WK_I16},
                {0, 2, WK_BOOL}};
    for (int device = -1; device < wk_device_count(test_gpu_kind()); device++)
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
            WK_SCOPE;
            const struct row *r = &rows[k];
            wk_seed(11);
            wk_tensor *x =
                wk_randint(r->low, r->high, (draws_on(device)), .dtype = r->dtype, .device = device_at(device));
            wk_sync();
            const double least = smallest(x), most = largest(x);
            if (!(least >= (double)r->low) || !(most < (double)r->high))
                fail_msg("%s of [%lld, %lld): %.17g to %.17g", wk_dtype_str(r->dtype), (long long)r->low,
                         (long long)r->high, least, most);
            wk_seed(11);
            same_bits(wk_narrow(wk_to(x, wk_cpu()), 0, 0, 1 << 14),
                      wk_randint(r->low, r->high, (1 << 14), .dtype = r->dtype));
        }
}

static void permutations_of_narrow_dtypes(void **state)
{
    (void)state;
    WK_SCOPE;
    static const struct row {
        int64_t most;
        wk_dtype dtype;
    } rows[] = {{257, WK_BF16}, {2049, WK_F16}, {256, WK_U8}, {128, WK_I8}, {32768, WK_I16}, {2, WK_BOOL}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        wk_tensor *p = wk_to_dtype(wk_randperm(rows[k].most, .dtype = rows[k].dtype), WK_I64);
        assert_int_equal(wk_numel(wk_unique(p)), rows[k].most);
        assert_true(smallest(p) == 0 && largest(p) == (double)(rows[k].most - 1));
        expect_error(wk_randperm(rows[k].most + 1, .dtype = rows[k].dtype), WK_ERR_ARGUMENT, "wider dtype");
    }
}

static void errors(void **state)
{
    (void)state;
    WK_SCOPE;
    expect_error(wk_rand((2), .dtype = WK_I32), WK_ERR_DTYPE, "wk_randint");
    expect_error(wk_randint(3, 3, (2)), WK_ERR_ARGUMENT, "[3, 3)");
    expect_error(wk_randint(0, 70000, (2), .dtype = WK_F16), WK_ERR_ARGUMENT, "[-65504, 65504]");
    expect_error(wk_randint(2049, 2050, (2), .dtype = WK_F16), WK_ERR_ARGUMENT, "no integer in [2049, 2050)");
    expect_error(wk_randint(-1, 5, (2), .dtype = WK_U8), WK_ERR_ARGUMENT, "[0, 255]");
    expect_error(wk_randint(0, 257, (2), .dtype = WK_U8), WK_ERR_ARGUMENT, "[0, 255]");
    expect_error(wk_randint(0, 3, (2), .dtype = WK_BOOL), WK_ERR_ARGUMENT, "[0, 1]");
    expect_error(wk_uniform_(wk_empty((2), .dtype = WK_F16), 0, 70000), WK_ERR_ARGUMENT, "[0, 70000)");
    expect_error(wk_uniform_(wk_empty((2)), -3e38, 3e38), WK_ERR_ARGUMENT, "finite");
    expect_error(wk_uniform_(wk_empty((2)), 0, INFINITY), WK_ERR_ARGUMENT, "finite");
    expect_error(wk_randperm(-1), WK_ERR_SHAPE, "randperm");
    expect_error(wk_dropout(wk_ones((2)), 1.5, true), WK_ERR_ARGUMENT, "1.5");
    expect_error(wk_dropout(wk_of(int64_t, (1), 1), 0.5, true), WK_ERR_DTYPE, "i64[1]");
    expect_error(wk_multinomial(wk_ones((3)), 4), WK_ERR_ARGUMENT, ".replacement");
    expect_error(wk_multinomial(wk_ones((1, 2, 3)), 1), WK_ERR_SHAPE, "f32[1,2,3]");
    expect_error(wk_uniform_(wk_ones((1)), 2, 1), WK_ERR_ARGUMENT, "uniform_");
    expect_error(wk_normal_(wk_ones((1)), 0, -1), WK_ERR_ARGUMENT, "normal_");
    wk_tensor *leaf = wk_ones((2), .requires_grad = true);
    expect_error(wk_normal_(leaf, 0, 1), WK_ERR_STATE, "leaf");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_seed_determines_the_stream),
        cmocka_unit_test(fusion_does_not_change_draws),
        cmocka_unit_test(distributions),
        cmocka_unit_test(permutations),
        cmocka_unit_test(dropout),
        cmocka_unit_test(random_slopes),
        cmocka_unit_test(draws),
        cmocka_unit_test(draws_without_replacement),
        cmocka_unit_test(draws_are_the_same_everywhere),
        cmocka_unit_test(uniform_stays_in_its_range),
        cmocka_unit_test(draws_in_every_float_dtype),
        cmocka_unit_test(integers_stay_in_their_range),
        cmocka_unit_test(permutations_of_narrow_dtypes),
        cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
