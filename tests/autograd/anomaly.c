/* SPDX-License-Identifier: Apache-2.0 */
/* Tests anomaly mode: the first call that produces a NaN or an infinity is named, in forward and backward, on each
 * device. */
#include "support/devices.h"

#include <math.h>
#include <stdlib.h>

/* Expects the error of the call at this line. */
#define EXPECT_ANOMALY(line, ...)                                                                                      \
    do {                                                                                                               \
        char at_[40];                                                                                                  \
        snprintf(at_, sizeof at_, "anomaly.c:%d: ", line);                                                             \
        assert_int_equal(wk_error_code(), WK_ERR_STATE);                                                               \
        expect_error(at_, "anomaly mode", __VA_ARGS__, NULL);                                                          \
    } while (0)

static void the_environment_turns_it_on(void **state)
{
    (void)state;
    assert_true(wk_is_anomaly_enabled());
    wk_set_detect_anomaly(false);
    assert_false(wk_is_anomaly_enabled());
    WK_SCOPE;
    assert_true(wk_item(wk_log(wk_zeros((1)))) == -INFINITY);
    expect_ok();
    wk_set_detect_anomaly(true);
    wk_log(wk_zeros((1)));
    EXPECT_ANOMALY(__LINE__ - 1, "log: ", "-inf at element 0");
}

/* Names the call, not its reader, although all calls are deferred otherwise. */
static void the_first_call_is_named(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        WK_DEVICE(device);
        wk_tensor *x = wk_of(float, (2, 2), 1, 2, 0, 4), *y = wk_exp(x);
        wk_tensor *z = wk_log(wk_mul(x, 2));
        const int line = __LINE__ - 1;
        wk_tensor *sum = wk_sum(wk_add(z, y));
        EXPECT_ANOMALY(line, "log: ", "-inf at element 2");
        assert_true(wk_item(sum) == -INFINITY);
        expect_ok();
        wk_sub(z, z);
        EXPECT_ANOMALY(__LINE__ - 1, "sub: ", "nan at element 2"); /* an infinity gives a NaN, which is new */
    }
}

static void operands_explain_results(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        WK_DEVICE(device);
        wk_tensor *x = wk_of(float, (2, 2), 1, INFINITY, NAN, 4), *mask = wk_gt(wk_of(float, (2), 0, 1), 0.5);
        wk_mul(x, 2), wk_matmul(x, x), wk_sum(x, (0)), wk_softmax(x, 1), wk_cat((x, x), 0), wk_logsumexp(x, (1));
        wk_tensor *masked = wk_masked_fill(wk_ones((2, 2)), mask, -INFINITY);
        wk_softmax(masked, 1), wk_full((2), NAN), wk_clamp(masked, 0, 1), wk_add_(masked, 1);
        wk_to_dtype(x, WK_F16), wk_isnan(x), wk_index_select(x, 0, wk_of(int64_t, (1), 1));
        expect_ok();
        wk_add(wk_narrow(x, 0, 0, 1), wk_narrow(x, 0, 1, 1));
        expect_ok();                                    /* both NaN and infinity come from the operands */
        wk_div(wk_select(wk_select(x, 0, 1), 0, 1), 0); /* neighbours of this element do not explain it */
        EXPECT_ANOMALY(__LINE__ - 1, "div: ", "inf at element 0");
    }
}

static void ops_of_all_kinds(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        WK_DEVICE(device);
        wk_tensor *big = wk_full((2, 2), 3e38), *one = wk_ones((1));
        wk_matmul(big, big);
        EXPECT_ANOMALY(__LINE__ - 1, "matmul: ", "inf at element 0");
        wk_sum(big, (1));
        EXPECT_ANOMALY(__LINE__ - 1, "sum: ", "inf at element 0");
        wk_cumsum(big, 1);
        EXPECT_ANOMALY(__LINE__ - 1, "cumsum: ", "inf at element 1");
        wk_std(one); /* a composed op */
        EXPECT_ANOMALY(__LINE__ - 1, "std: ", "nan at element 0");
        wk_to_dtype(big, WK_F16);
        EXPECT_ANOMALY(__LINE__ - 1, "to", "inf at element 0");
        wk_scatter_add(wk_select(big, 0, 0), 0, wk_of(int64_t, (1), 1), wk_full((1), 3e38));
        EXPECT_ANOMALY(__LINE__ - 1, "scatter_add: ", "inf at element 1");
    }
}

static void calls_in_place(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        WK_DEVICE(device);
        wk_tensor *x = wk_of(float, (2, 2), 1, INFINITY, 2, 3), *index = wk_of(int64_t, (2), 0, 0);
        wk_mul_(x, 2);
        expect_ok();
        wk_div_(wk_select(x, 0, 1), 0); /* the infinity is in the other row */
        EXPECT_ANOMALY(__LINE__ - 1, "div_: ", "inf at element 0");
        wk_tensor *half = wk_full((1), 60000, .dtype = WK_F16), *more = wk_full((2), 60000, .dtype = WK_F16);
        wk_index_add_(half, 0, index, more);
        EXPECT_ANOMALY(__LINE__ - 1, "index_add_: ", "inf at element 0");
        wk_index_add_(half, 0, index, more);
        expect_ok(); /* it existed before */
    }
}

/* Names the forward call of the gradient, and the backward call. */
static void backward_names_the_forward(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        WK_DEVICE(device);
        wk_tensor *x = wk_of(float, (3), 4, 0, 1, .requires_grad = true), *twice = wk_mul(x, 2);
        wk_tensor *root = wk_sqrt(twice);
        const int line = __LINE__ - 1;
        wk_tensor *loss = wk_sum(wk_mul(root, 3));
        expect_ok();
        assert_int_equal(wk_backward(loss), WK_ERR_STATE);
        char at[60];
        snprintf(at, sizeof at, "the backward is at %s:%d", "tests/autograd/anomaly.c", __LINE__ - 2);
        EXPECT_ANOMALY(line, "sqrt: ", "gradient of operand 0", "inf at element 1", strchr(at, '/') + 1);
        wk_tensor *given = wk_of(float, (3), INFINITY, 1, 1), *g[1];
        assert_int_equal(wk_grad((wk_mul(x, 2)), (x), g, .grad_outputs = &given), WK_OK);
        assert_int_equal(wk_grad((wk_sum(wk_mul(x, given))), (x), g), WK_OK); /* an operand explains it */
        expect_ok();
    }
}

static wk_tensor *divided(wk_tensor *grad, void *line)
{
    *(int *)line = __LINE__ + 1;
    return wk_div(grad, 0);
}

/* User code within a backward: its own line is named. */
static void a_hook_is_named(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(float, (2), 1, 2, .requires_grad = true), *y = wk_mul(x, 2);
    int line = 0;
    wk_register_hook(y, divided, &line);
    wk_backward(wk_sum(y));
    EXPECT_ANOMALY(line, "div: ", "inf at element 0");
}

/* A step is all or nothing: it is checked at its end, and is applied. */
static void a_step_is_checked(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        WK_DEVICE(device);
        wk_module *net = wk_nn_linear(2, 1);
        wk_module_to(net, device);
        wk_optim *sgd = wk_optim_sgd(wk_parameters(net), .lr = 1e38);
        wk_backward(wk_sum(wk_mul(wk_forward(net, wk_ones((1, 2))), 1e3)));
        expect_ok();
        wk_optim_step(sgd);
        EXPECT_ANOMALY(__LINE__ - 1, "inf at element 0");
    }
}

int main(void)
{
    setenv("WICK_ANOMALY", "1", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_environment_turns_it_on),
        cmocka_unit_test(the_first_call_is_named),
        cmocka_unit_test(operands_explain_results),
        cmocka_unit_test(ops_of_all_kinds),
        cmocka_unit_test(calls_in_place),
        cmocka_unit_test(backward_names_the_forward),
        cmocka_unit_test(a_hook_is_named),
        cmocka_unit_test(a_step_is_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
