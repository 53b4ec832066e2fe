/* SPDX-License-Identifier: Apache-2.0 */
/* Tests rules 31 to 33 of docs/contributing/invariants.md: call forms, options, reserved dtypes. check_headers,
 * check_symbols and forms/calls.c test the properties that hold at compile time. */
#include "support/wick.h"

#include <math.h>

/* ---- rule 31: call forms ----------------------------------------------------------------------------------------- */

static int evaluations;

static wk_tensor *once(wk_tensor *x)
{
    evaluations++;
    return x;
}

static int64_t number_once(int64_t n)
{
    evaluations++;
    return n;
}

static wk_module *module_once(wk_module *m)
{
    evaluations++;
    return m;
}

static void expect_evaluations(int count, int line)
{
    if (evaluations != count) fail_msg("line %d: %d evaluations, not %d", line, evaluations, count);
    evaluations = 0;
    expect_ok();
}

/* Every operand, number and list of a call is evaluated once. */
static void operands_are_evaluated_once(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((2, 2)), *i = wk_zeros((2, 2), .dtype = WK_I64), *c = wk_gt(x, 0), *row = wk_ones((2)),
              *out[4];
    wk_tensor *leaf = wk_ones((2), .requires_grad = true), *y = wk_mul(leaf, 2);
    wk_add(once(x), once(x)), expect_evaluations(2, __LINE__);
    wk_add(once(x), number_once(2)), expect_evaluations(2, __LINE__);
    wk_sub(number_once(2), once(x)), expect_evaluations(2, __LINE__);
    wk_mul_(once(wk_clone(x)), once(x)), expect_evaluations(2, __LINE__);
    wk_exp(once(x)), expect_evaluations(1, __LINE__);
    wk_where(once(c), once(x), number_once(1)), expect_evaluations(3, __LINE__);
    wk_clamp(once(x), number_once(0), WK_NONE), expect_evaluations(2, __LINE__);
    wk_sum(once(x), (number_once(0)), .keepdim = number_once(1)), expect_evaluations(3, __LINE__);
    wk_reshape(once(x), (number_once(4), 1)), expect_evaluations(2, __LINE__);
    wk_cat((once(x), once(x), once(x)), (int64_t)number_once(0)), expect_evaluations(4, __LINE__);
    wk_scatter(once(x), number_once(0), once(i), once(x)), expect_evaluations(4, __LINE__);
    wk_full((number_once(2), 2), number_once(3), .dtype = (wk_dtype)number_once(WK_F64)),
        expect_evaluations(3, __LINE__);
    wk_fill_(once(wk_clone(x)), number_once(3)), expect_evaluations(2, __LINE__);
    wk_arange(number_once(3)), expect_evaluations(1, __LINE__);
    wk_linear(once(x), once(x), once(row)), expect_evaluations(3, __LINE__);
    wk_cross_entropy(once(x), once(wk_select(i, 0, 0)), .label_smoothing = 0.1), expect_evaluations(2, __LINE__);
    wk_chunk(once(x), number_once(2), 0, out), expect_evaluations(2, __LINE__);
    wk_keep(once(wk_clone(x))), expect_evaluations(1, __LINE__);
    wk_free(wk_retain(once(x))), expect_evaluations(1, __LINE__);
    wk_grad((once(wk_sum(y))), (once(leaf)), out), expect_evaluations(2, __LINE__);
    wk_forward(module_once(wk_nn_sequential(module_once(wk_nn_relu()))), once(x)), expect_evaluations(3, __LINE__);
    wk_optim_sgd(wk_list((once(leaf))), .lr = (double)number_once(1)), expect_evaluations(2, __LINE__);
}

/* Each macro has an exported function with arrays, counts and options that may be NULL; simple ops also have a plain
 * one. */
static void macros_have_exported_functions(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_site here = WK_HERE;
    wk_tensor *x = wk_ones_at(here, (const int64_t[]){2, 3}, 2, NULL);
    wk_tensor *(*binary[])(wk_tensor *, wk_tensor *) = {wk_add, wk_mul, wk_maximum};
    wk_tensor *(*unary[])(wk_tensor *) = {wk_exp, wk_relu, wk_neg_};
    for (int k = 0; k < 3; k++) assert_true(binary[k](x, x) && unary[k](wk_clone(x)));
    EXPECT_VALUES(wk_sum_at(here, x, (const int64_t[]){0}, 1, NULL), 0, 2, 2, 2);
    EXPECT_VALUES(wk_sum_at(here, x, NULL, -1, NULL), 0, 6);
    EXPECT_VALUES(wk_add_scalar_i64_at(here, wk_sum(x), 1), 0, 7);
    assert_non_null(wk_cat_at(here, (wk_tensor *const[]){x, x}, 2, 0));
    wk_add_at((wk_site){"binding.zig", 7}, x, NULL);
    expect_error("binding.zig:7: add", NULL);
    wk_add_at((wk_site){0}, x, NULL); /* an unknown call site */
    assert_memory_equal(wk_error(), "add:", 4);
    wk_clear_error();
}

/* ---- rule 32: positional arguments and lists; rules_options.c tests options -------------------------------------- */

/* An argument is positional if 0 is a plausible value and not the default. */
static void positional_where_zero_is_plausible(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((100));
    assert_true(wk_item(wk_sum(wk_dropout(x, 0, true))) == 100);
    assert_true(wk_item(wk_sum(wk_forward(wk_nn_dropout(0), x))) == 100);
    wk_optim *sgd = wk_optim_sgd(wk_list((wk_ones((1), .requires_grad = true))));
    assert_true(wk_optim_lr(sgd, 0) == 1e-3);
    assert_int_equal(wk_optim_set_lr(sgd, 0, 0), WK_OK); /* an explicit 0 */
    assert_true(wk_optim_lr(sgd, 0) == 0);
}

static void an_empty_list_means_all_dimensions(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(float, (2, 2), 1, 2, 3, 4), *all = wk_sum(x, (), .keepdim = true);
    EXPECT_SHAPE(all, 1, 1);
    EXPECT_VALUES(all, 0, 10);
    EXPECT_VALUES(wk_mean(x, ()), 0, 2.5);
    EXPECT_VALUES(wk_mean(x, .dtype = WK_F64), 0, 2.5); /* or omitted before options */
    EXPECT_SHAPE(wk_std(x, .keepdim = true), 1, 1);
    EXPECT_VALUES(wk_amax(x, ()), 0, 4);
    EXPECT_VALUES(wk_logsumexp(wk_zeros((2, 2)), ()), 1e-6, log(4));
    EXPECT_VALUES(wk_norm(x, ()), 1e-5, sqrt(30));
    wk_tensor *scalar = wk_zeros(());
    assert_int_equal(wk_ndim(scalar), 0);
}

/* ---- rule 33: reserved dtypes ------------------------------------------------------------------------------------ */

static void reserved_dtypes_are_named_errors(void **state)
{
    (void)state;
    static const wk_dtype reserved[] = {WK_C64, WK_C128, WK_F8_E4M3, WK_F8_E5M2, WK_DTYPE_COUNT, (wk_dtype)99};
    static const char *const names[] = {"c64", "c128", "f8_e4m3", "f8_e5m2", "?", "?"},
                             *const told[] = {"c64", "c128", "f8_e4m3", "f8_e5m2", "unknown dtype", "unknown dtype"};
    WK_SCOPE;
    wk_tensor *x = wk_ones((2));
    char data[64] = {0};
    for (int k = 0; k < 6; k++) {
        wk_dtype dtype = reserved[k];
        assert_string_equal(wk_dtype_str(dtype), names[k]);
        for (int way = 0; way < 10; way++) {
            bool failed = false;
            if (way == 0) failed = !wk_zeros((2), .dtype = dtype);
            if (way == 1) failed = !wk_to_dtype(x, dtype);
            if (way == 2) failed = !wk_from_at(WK_HERE, dtype, data, 16, (const int64_t[]){2}, 1);
            if (way == 3) failed = !wk_borrow_at(WK_HERE, dtype, data, (const int64_t[]){2}, 1, NULL, NULL);
            if (way == 4) failed = !wk_sum(x, (), .dtype = dtype);
            if (way == 8) failed = !wk_mean(x, (), .dtype = dtype);
            if (way == 9) failed = !wk_prod(x, (), .dtype = dtype);
            if (way == 5) failed = !wk_rand((2), .dtype = dtype);
            if (way == 6) failed = !wk_nn_linear(2, 1, .dtype = dtype);
            if (way == 7) failed = !wk_arange(3, .dtype = dtype);
            if (!failed || wk_error_code() != WK_ERR_DTYPE)
                fail_msg("%s, way %d: %s", names[k], way, wk_error() ? wk_error() : "no error");
            expect_error(told[k], NULL);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operands_are_evaluated_once),        cmocka_unit_test(macros_have_exported_functions),
        cmocka_unit_test(positional_where_zero_is_plausible), cmocka_unit_test(an_empty_list_means_all_dimensions),
        cmocka_unit_test(reserved_dtypes_are_named_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
