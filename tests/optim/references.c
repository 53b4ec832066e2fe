/* SPDX-License-Identifier: Apache-2.0 */
/* Tests LAMB, which PyTorch does not have, and the average of ASGD against their formulas in double precision. */
#include "support/devices.h"

#include <math.h>

enum { STEPS = 50, SIZE = 3 };

/* ---- lamb -------------------------------------------------------------------------------------------------------- */

typedef struct lamb {
    double lr, beta1, beta2, eps, weight_decay, sign;
    double p[SIZE], m[SIZE], v[SIZE];
} lamb;

static double norm_of(const double *x)
{
    double sum = 0;
    for (int k = 0; k < SIZE; k++) sum += x[k] * x[k];
    return sqrt(sum);
}

/* Algorithm 2 of the paper; g is the gradient. */
static void lamb_step(lamb *l, int t, const double *g)
{
    double u[SIZE];
    for (int k = 0; k < SIZE; k++) {
        const double signed_g = l->sign * g[k];
        l->m[k] = l->beta1 * l->m[k] + (1 - l->beta1) * signed_g;
        l->v[k] = l->beta2 * l->v[k] + (1 - l->beta2) * signed_g * signed_g;
        const double m = l->m[k] / (1 - pow(l->beta1, t)), v = l->v[k] / (1 - pow(l->beta2, t));
        u[k] = m / (sqrt(v) + l->eps) + l->weight_decay * l->p[k];
    }
    const double p_norm = norm_of(l->p), u_norm = norm_of(u), trust = p_norm > 0 && u_norm > 0 ? p_norm / u_norm : 1;
    for (int k = 0; k < SIZE; k++) l->p[k] -= l->lr * trust * u[k];
}

/* Trains a parameter on sum(c (p - 1)^2 / 2), whose gradient is c (p - 1), beside a second one without an effect. */
static void expect_lamb(wk_optim *(*make)(wk_tensors *list), lamb l, wk_device device, wk_dtype dtype, double tolerance)
{
    WK_SCOPE;
    static const double slope[SIZE] = {1, 0.25, 3};
    wk_tensor *p = wk_to(wk_to_dtype(wk_from(l.p, (SIZE)), dtype), device);
    wk_tensor *c = wk_to(wk_to_dtype(wk_from(slope, (SIZE)), dtype), device);
    p = wk_requires_grad_(p, true);
    wk_tensor *other = wk_ones((2), .dtype = dtype, .device = device, .requires_grad = true);
    wk_optim *optim = make(wk_list((p, other)));
    for (int t = 1; t <= STEPS; t++) {
        WK_SCOPE;
        wk_tensor *far = wk_sub(p, 1.0);
        wk_optim_zero_grad(optim);
        wk_backward(wk_add(wk_mul(wk_sum(wk_mul(wk_mul(far, far), c)), 0.5), wk_sum(wk_mul(other, other))));
        assert_int_equal(wk_optim_step(optim), WK_OK);
        double g[SIZE];
        for (int k = 0; k < SIZE; k++) g[k] = slope[k] * (l.p[k] - 1);
        lamb_step(&l, t, g);
    }
    EXPECT_VALUES(wk_to(p, wk_cpu()), tolerance, l.p[0], l.p[1], l.p[2]);
}

static wk_optim *usual(wk_tensors *list)
{
    return wk_optim_lamb(list);
}
static wk_optim *options(wk_tensors *list)
{
    return wk_optim_lamb(list, .lr = 0.02, .beta1 = 0.8, .beta2 = 0.95, .eps = 1e-3, .weight_decay = 0.1);
}
static wk_optim *maximizing(wk_tensors *list)
{
    return wk_optim_lamb(list, .lr = 0.01, .weight_decay = 0, .maximize = true);
}

static void lamb_equals_its_formula(void **state)
{
    (void)state;
    const lamb l = {1e-3, 0.9, 0.999, 1e-6, 0.01, 1, {1.5, -2, 0.5}, {0}, {0}};
    const lamb o = {0.02, 0.8, 0.95, 1e-3, 0.1, 1, {1.5, -2, 0.5}, {0}, {0}};
    const lamb most = {0.01, 0.9, 0.999, 1e-6, 0, -1, {1.5, -2, 0.5}, {0}, {0}};
    const lamb zero = {0.02, 0.8, 0.95, 1e-3, 0.1, 1, {0}, {0}, {0}};
    expect_lamb(usual, l, wk_cpu(), WK_F64, 1e-12);
    expect_lamb(options, o, wk_cpu(), WK_F64, 1e-12);
    expect_lamb(maximizing, most, wk_cpu(), WK_F64, 1e-12);
    expect_lamb(options, zero, wk_cpu(), WK_F64, 1e-12); /* the first step has the length lr |u| */
    EACH_DEVICE(device) expect_lamb(options, o, device, WK_F32, 1e-4);
    expect_lamb(options, o, wk_cpu(), WK_BF16, 0.1);
}

/* ---- asgd -------------------------------------------------------------------------------------------------------- */

/* The average is the parameter until t0, then the mean of the parameters since. */
static void asgd_averages_parameters(void **state)
{
    (void)state;
    WK_SCOPE;
    enum { T0 = 5 };
    const double lr = 0.1, lambd = 0.01, alpha = 0.75;
    wk_tensor *p = wk_full((1), 2.0, .dtype = WK_F64, .requires_grad = true);
    wk_optim *optim = wk_optim_asgd(wk_list((p)), .lr = lr, .lambd = lambd, .alpha = alpha, .t0 = T0);
    double x = 2, average = 0;
    for (int t = 1; t <= STEPS; t++) {
        WK_SCOPE;
        wk_set_grad(p, wk_detach(wk_mul(p, 3.0)));
        assert_int_equal(wk_optim_step(optim), WK_OK);
        const double eta = lr / pow(1 + lambd * lr * (t - 1), alpha);
        x = x * (1 - lambd * eta) - eta * 3 * x;
        average += (x - average) / fmax(1, t - 1 - T0);
        EXPECT_VALUES(wk_tensors_find(wk_optim_state(optim), "0.ax"), 1e-12, average);
    }
    EXPECT_VALUES(p, 1e-12, x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lamb_equals_its_formula),
                                       cmocka_unit_test(asgd_averages_parameters)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
