/* SPDX-License-Identifier: Apache-2.0 */
/* Common parts of tests of mirrored networks: sets of devices, a network, and training runs to compare. */
#ifndef TESTS_SUPPORT_MIRRORED_H
#define TESTS_SUPPORT_MIRRORED_H

#include "devices.h"

/* Sets of one to four devices, the CPU and GPUs, in orders that affect which device owns the parameters and which ones
 * wait. Fewer sets if there are no GPUs. */
typedef struct test_set {
    int n;
    wk_device device[4];
} test_set;

static inline int test_sets(test_set sets[8])
{
    wk_device d[3];
    const int count = test_devices(d);
    int n = 0;
    sets[n++] = (test_set){1, {d[0]}};
    if (count < 3) return n;
    sets[n++] = (test_set){1, {d[1]}};
    sets[n++] = (test_set){2, {d[1], d[2]}};
    sets[n++] = (test_set){2, {d[0], d[2]}};
    sets[n++] = (test_set){3, {d[0], d[1], d[2]}};
    sets[n++] = (test_set){3, {d[2], d[0], d[1]}};
    if (test_gpu_kind() == WK_CUDA && wk_device_count(WK_OPENCL) > 0)
        sets[n++] = (test_set){4, {d[0], d[1], wk_opencl(0), d[2]}};
    return n;
}

#define EACH_DEVICE_SET(set)                                                                                           \
    test_set sets_[8];                                                                                                 \
    for (int k_ = 0, count_ = test_sets(sets_); k_ < count_; k_++)                                                     \
        for (const test_set *set = &sets_[k_], *once_ = set; once_; once_ = NULL)

enum { TEST_IN = 6, TEST_OUT = 3 };

static inline wk_module *test_network(void)
{
    wk_seed(7);
    return wk_nn_sequential(wk_nn_linear(TEST_IN, 8), wk_nn_tanh(), wk_nn_linear(8, TEST_OUT));
}

/* Returns samples that differ between steps and are the same on all devices. */
static inline wk_tensor *test_batch(int64_t samples, int step, wk_device device)
{
    wk_tensor *x = wk_sin(wk_add(wk_arange((double)(samples * TEST_IN)), step * 1.5));
    return wk_to(wk_reshape(x, (samples, TEST_IN)), device);
}

static inline wk_tensor *test_loss(wk_module *net, wk_tensor *x)
{
    wk_tensor *y = wk_forward(net, x);
    return wk_mse_loss(y, wk_mul(wk_narrow(x, 1, 0, TEST_OUT), 0.5));
}

static inline void test_train(wk_module *net, wk_device first, int64_t samples, int steps)
{
    WK_SCOPE;
    wk_optim *sgd = wk_optim_sgd(wk_parameters(net), .lr = 0.2, .momentum = 0.9);
    for (int step = 0; step < steps; step++) {
        WK_SCOPE;
        wk_tensor *loss = test_loss(net, test_batch(samples, step, first));
        wk_optim_zero_grad(sgd);
        wk_backward(loss);
        wk_optim_step(sgd);
    }
    expect_ok();
}

/* Returns the largest difference between elements of a and b, which may be on different devices. */
static inline double test_gap(wk_tensor *a, wk_tensor *b)
{
    WK_SCOPE;
    WK_NO_GRAD;
    return wk_item(wk_amax(wk_abs(wk_sub(wk_to(a, wk_cpu()), wk_to(b, wk_cpu())))));
}

static inline double test_gap_of_all(wk_module *a, wk_module *b)
{
    WK_SCOPE;
    wk_tensors *p = wk_parameters(a), *q = wk_parameters(b);
    assert_int_equal(wk_tensors_count(p), wk_tensors_count(q));
    double gap = 0;
    for (int k = 0; k < wk_tensors_count(p); k++) {
        const double one = test_gap(wk_tensors_get(p, k), wk_tensors_get(q, k));
        gap = one > gap ? one : gap;
    }
    expect_ok();
    return gap;
}

#endif
