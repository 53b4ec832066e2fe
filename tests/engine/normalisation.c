/* SPDX-License-Identifier: Apache-2.0 */
/* Tests plans of normalisation: how many kernels run and how many values they read, so that each pass over memory is
 * one that the dependencies require. */
#include "support/plan.h"

enum { LARGE = 1 << 16 };

/* Counts the operands of at least LARGE different elements that the recorded programs load, or store. */
static int large_operands(bool stored)
{
    int count = 0;
    const wk__program *g;
    for (int64_t k = 0; (g = wk__null_log_program_at(k)); k++)
        for (int o = 0; o < g->noperands; o++) {
            int64_t elements = 1;
            for (int d = 0; d < g->ndim; d++) elements *= g->operand[o].stride[d] ? g->shape[d] : 1;
            count += elements >= LARGE && g->operand[o].stored == stored;
        }
    return count;
}

typedef struct expected {
    int kernels, loads, stores;
} expected;

static void expect_plan(expected want)
{
    wk_sync();
    expect_ok();
    const expected have = {runs(), large_operands(false), large_operands(true)};
    if (have.kernels != want.kernels || have.loads != want.loads || have.stores != want.stores)
        fail_msg("%d kernels, %d loads, %d stores", have.kernels, have.loads, have.stores);
}

typedef struct batch {
    wk_tensor *x, *seed, *mean, *var, *weight, *bias;
} batch;

static batch make(int64_t n, int64_t side)
{
    const wk_device device = test_null();
    batch b = {.x = wk_ones((n, 16, side, side), .device = device, .requires_grad = true),
               .seed = wk_ones((n, 16, side, side), .device = device),
               .mean = wk_zeros((16), .device = device),
               .var = wk_ones((16), .device = device),
               .weight = wk_ones((16), .device = device, .requires_grad = true),
               .bias = wk_zeros((16), .device = device, .requires_grad = true)};
    need(b.x), need(b.seed), need(b.mean), need(b.var), need(b.weight), need(b.bias);
    return b;
}

static wk_tensor *forward(const batch *b, bool training)
{
    return wk_relu(wk_batch_norm(b->x, b->mean, b->var, b->weight, b->bias, training));
}

static void batch_norm_of_images(void **state)
{
    (void)state;
    for (int64_t n = 16; n <= 64; n *= 4) { /* rows of 16,384 and 65,536 elements */
        WK_SCOPE;
        const batch b = make(n, 32);
        start();
        wk_tensor *out = wk_keep(forward(&b, true));
        expect_plan((expected){4, 2, 1}); /* a mean of few elements; sums of samples, of all; x again for the result */
        start();
        wk_tensor *grad[3];
        wk_grad((out), (b.x, b.weight, b.bias), grad, .grad_outputs = &b.seed);
        need(grad[0]);
        expect_plan((expected){3, 5, 2}); /* the gradient of relu is stored by the first kernel and read by the last */
    }
}

static void batch_norm_of_vectors(void **state)
{
    (void)state;
    WK_SCOPE;
    const batch b = make(4096, 1);
    wk_tensor *x = wk_detach(wk_reshape(b.x, (4096, 16))), *seed = wk_ones((4096, 16), .device = test_null());
    wk_requires_grad_(x, true);
    need(x), need(seed);
    start();
    wk_tensor *out = wk_keep(wk_relu(wk_batch_norm(x, b.mean, b.var, b.weight, b.bias, true)));
    expect_plan((expected){1, 1, 1});
    start();
    wk_tensor *grad[3];
    wk_grad((out), (x, b.weight, b.bias), grad, .grad_outputs = &seed);
    need(grad[0]);
    expect_plan((expected){1, 3, 1}); /* x, the seed and the result, whose sign is that of the argument of relu */
}

/* The second sum reads the first one, so the rows are read twice, and long ones do not stay in cache. */
static void variance_of_long_rows(void **state)
{
    (void)state;
    WK_SCOPE;
    const batch b = make(64, 32);
    WK_NO_GRAD;
    start();
    need(wk_var(b.x, (0, 2, 3)));
    expect_plan((expected){2, 2, 0});
}

static void batch_norm_in_evaluation(void **state)
{
    (void)state;
    WK_SCOPE;
    const batch b = make(64, 32);
    WK_NO_GRAD;
    start();
    need(forward(&b, false));
    expect_plan((expected){2, 1, 1});
}

static void group_norm_with_what_follows(void **state)
{
    (void)state;
    WK_SCOPE;
    const batch b = make(16, 32);
    start();
    wk_tensor *out = wk_keep(wk_relu(wk_add(wk_group_norm(b.x, 4, b.weight, b.bias), b.seed)));
    expect_plan((expected){4, 3, 1}); /* two small ones repeat the statistics for the channels of a group */
    start();
    wk_tensor *grad[3];
    wk_grad((out), (b.x, b.weight, b.bias), grad, .grad_outputs = &b.seed);
    need(grad[0]);
    need(grad[1]);
    expect_plan((expected){5, 5, 2});
}

static void instance_norm_of_short_rows(void **state)
{
    (void)state;
    WK_SCOPE;
    const batch b = make(16, 32);
    start();
    wk_tensor *out = wk_keep(wk_relu(wk_instance_norm(b.x, NULL, NULL, b.weight, b.bias)));
    expect_plan((expected){1, 1, 1});
    (void)out;
}

static void root_mean_square(void **state)
{
    (void)state;
    WK_SCOPE;
    const batch b = make(64, 32);
    wk_tensor *weight = wk_ones((32), .device = test_null());
    need(weight);
    start();
    need(wk_rms_norm(b.x, (32), weight));
    expect_plan((expected){1, 1, 1});
}

/* Expects gradients of layer_norm or rms_norm by so many special kernels, and by programs. */
static void row_norm(wk_dtype dtype, bool centred, bool of_x, int kernels, expected programs)
{
    WK_SCOPE;
    const wk_device device = test_null();
    wk_tensor *x = wk_ones((64, 1024), .dtype = dtype, .device = device, .requires_grad = of_x);
    wk_tensor *seed = wk_ones((64, 1024), .dtype = dtype, .device = device);
    wk_tensor *weight = wk_ones((1024), .device = device, .requires_grad = true);
    wk_tensor *bias = wk_zeros((1024), .device = device, .requires_grad = true);
    need(x), need(seed), need(weight), need(bias);
    wk_tensor *out = wk_keep(centred ? wk_layer_norm(x, (1024), weight, bias) : wk_rms_norm(x, (1024), weight));
    wk_sync();
    start();
    assert_int_equal(wk_backward(out, .gradient = wk_to_dtype(seed, wk_dtype_of(out))), WK_OK);
    need(wk_grad_of(of_x ? x : weight));
    expect_plan(programs);
    assert_int_equal(wk__null_log_count(WK__NORM_BACKWARD), kernels);
}

/* By one special kernel, to and from whose dtype others are converted; without that of x by a program that stores no
 * terms. */
static void gradients_of_row_norms(void **state)
{
    (void)state;
    for (int centred = 0; centred < 2; centred++) {
        row_norm(WK_F32, centred, true, 1, (expected){0, 0, 0});
        row_norm(WK_BF16, centred, true, 1, (expected){2, 3, 3});
        row_norm(WK_F32, centred, false, 0, (expected){1, 2, 0});
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(batch_norm_of_images),
    cmocka_unit_test(batch_norm_of_vectors),
    cmocka_unit_test(variance_of_long_rows),
    cmocka_unit_test(batch_norm_in_evaluation),
    cmocka_unit_test(group_norm_with_what_follows),
    cmocka_unit_test(instance_norm_of_short_rows),
    cmocka_unit_test(root_mean_square),
    cmocka_unit_test(gradients_of_row_norms),
};

int main(void)
{
    return cmocka_run_group_tests_name("engine_normalisation", tests, test_default_mode, test_restore_mode);
}
