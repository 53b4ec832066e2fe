/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the messages of refused gradient calls: wk_backward, wk_grad, wk_gradcheck, and custom functions. */
#include "support/wick.h"

#include "autograd/hook.h"

static wk_tensor *leaf(double a, double b)
{
    return wk_requires_grad_(wk_of(double, (2), a, b), true);
}

/* ---- backward and grad ------------------------------------------------------------------------------------------- */

static void invalid_roots(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *y = wk_mul(leaf(1, 2), 3), *g = NULL;
    wk_backward(y);
    expect_error("backward", "is not a scalar", "wk_sum", NULL);
    wk_backward(y, .gradient = wk_ones((3), .dtype = WK_F64));
    expect_error("backward", "needs a .gradient of the same shape", "f64[3]", NULL);
    wk_tensor *constant = wk_of(double, (2), 1, 2);
    wk_grad((wk_sum(y)), (constant), &g);
    expect_error("grad", "input 0 does not require grad", NULL);
    assert_null(g);
}

/* ---- gradcheck --------------------------------------------------------------------------------------------------- */

static wk_tensor *of_the_square(wk_tensor *const *in, void *wrong)
{
    wk_tensor *square = wk_mul(in[0], in[0]);
    return wrong ? wk_mul(wk_detach(in[0]), in[0]) : square;
}

/* From the second call on the result has been freed. */
static wk_tensor *of_a_freed_result(wk_tensor *const *in, void *calls)
{
    wk_tensor *square = wk_mul(in[0], in[0]);
    if ((*(int *)calls)++ > 0) wk_free(square);
    return square;
}

static bool must_not_run(void *user, wk_site site, bool failed)
{
    (void)user, (void)site, (void)failed;
    fail();
    return false;
}

static void final_callbacks_need_a_backward(void **state)
{
    (void)state;
    assert_false(wk__queue_final_callback(must_not_run, NULL));
    assert_int_equal(wk_error_code(), WK_ERR_STATE);
    expect_error("needs a backward", NULL);
}

static void failures_of_gradcheck(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf(1.5, 2);
    assert_true(wk_gradcheck(of_the_square, NULL, (x)));
    expect_ok();
    assert_false(wk_gradcheck(of_the_square, x, (x)));
    expect_error("gradcheck", "element 0 of input 0", "backward says 1.5", "the difference quotient 3", NULL);
    wk_tensor *single = wk_requires_grad_(wk_of(float, (2), 1, 2), true);
    assert_false(wk_gradcheck(of_the_square, NULL, (single)));
    expect_error("gradcheck", "input 0 must be a leaf of dtype f64", NULL);
    assert_false(wk_gradcheck_at(WK_HERE, of_the_square, NULL, &x, 17));
    expect_error("gradcheck", "1 to 16 inputs", NULL);
    int calls = 0;
    assert_false(wk_gradcheck(of_a_freed_result, &calls, (x)));
    expect_error("gradcheck", "what f returned", NULL);
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

static void gives_nothing(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    (void)f;
    (void)in;
    (void)out;
}

static void keeps_one(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    wk_function_save(f, in[0]);
    out[0] = wk_mul(in[0], 2);
}

static void asks_for_two(wk_function *f, wk_tensor *const grad_out[], wk_tensor *grad_in[])
{
    (void)grad_out;
    grad_in[0] = wk_function_saved(f, 1);
}

static void keeps_too_many(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    for (int k = 0; k < 17; k++) wk_function_save(f, in[0]);
    out[0] = wk_mul(in[0], 2);
}

static void refused_functions(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_function_kind kind = {.size = sizeof kind, .name = "mine", .inputs = 1, .outputs = 1, .forward = gives_nothing};
    wk_tensor *x = leaf(1, 2);
    assert_null(wk_apply(&kind, NULL, (x)));
    expect_error("mine", "forward did not set output 0", NULL);
    assert_null(wk_apply(&kind, NULL, (x, x)));
    expect_error("mine", "expected 1 input tensor, got 2", NULL);
    kind.forward = keeps_one;
    kind.backward = asks_for_two;
    wk_backward(wk_sum(wk_apply(&kind, NULL, (x))));
    expect_error("function_saved", "index 1 is out of range for 1 saved tensors", NULL);
    kind.forward = keeps_too_many;
    wk_apply(&kind, NULL, (x));
    expect_error("function_save", "a function can save at most 16 tensors", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(invalid_roots), cmocka_unit_test(failures_of_gradcheck),
                                       cmocka_unit_test(final_callbacks_need_a_backward),
                                       cmocka_unit_test(refused_functions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
