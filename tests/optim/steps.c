/* SPDX-License-Identifier: Apache-2.0 */
/* Tests optimisers against the formulas of torch.optim in double precision, and the guarantees of a step. */
#include "support/wick.h"

#include <math.h>

#include <backend/null/null.h>
#include <engine/op_queue.h>

enum { STEPS = 7 };

/* ---- reference of one parameter ---------------------------------------------------------------------------------- */

typedef enum rule { SGD, ADAM, ADAMW, ADAGRAD } rule;

typedef struct book {
    double p, a, b, c; /* the parameter; velocity, sum of squares, or both moments and the largest second one */
} book;

static void sgd_reference(const wk_optim_group_options *o, int t, double g, book *x)
{
    if (o->momentum != 0) {
        x->a = t == 1 ? g : o->momentum * x->a + (1 - o->dampening) * g;
        g = o->nesterov ? g + o->momentum * x->a : x->a;
    }
    x->p -= o->lr * g;
}

static void adam_reference(const wk_optim_group_options *o, int t, double g, book *x)
{
    x->a = o->beta1 * x->a + (1 - o->beta1) * g;
    x->b = o->beta2 * x->b + (1 - o->beta2) * g * g;
    x->c = o->amsgrad ? fmax(x->c, x->b) : x->b;
    double m = x->a / (1 - pow(o->beta1, t)), v = x->c / (1 - pow(o->beta2, t));
    x->p -= o->lr * m / (sqrt(v) + o->eps);
}

static void adagrad_reference(const wk_optim_group_options *o, int t, double g, book *x)
{
    if (t == 1) x->a = o->initial_accumulator_value;
    x->a += g * g;
    x->p -= o->lr / (1 + (t - 1) * o->lr_decay) * g / (sqrt(x->a) + o->eps);
}

static void update_reference(rule rule, const wk_optim_group_options *o, int t, double g, book *x)
{
    if (o->maximize) g = -g;
    if (rule != ADAMW) g += o->weight_decay * x->p;
    if (rule == ADAMW) x->p *= 1 - o->lr * o->weight_decay;
    (rule == SGD ? sgd_reference : rule == ADAGRAD ? adagrad_reference : adam_reference)(o, t, g, x);
}

static wk_optim *make(rule rule, wk_tensors *list, const void *given)
{
    switch (rule) {
    case SGD: return wk_optim_sgd_at(WK_HERE, list, given);
    case ADAM: return wk_optim_adam_at(WK_HERE, list, given);
    case ADAMW: return wk_optim_adamw_at(WK_HERE, list, given);
    default: return wk_optim_adagrad_at(WK_HERE, list, given);
    }
}

/* Runs both for some steps on the loss sum(p^2 c / 2), whose gradient is c p. `given` are the program's options, `full`
 * all options with defaults. */
static void compare(rule rule, wk_dtype dtype, const void *given, const wk_optim_group_options *full, double tolerance)
{
    WK_SCOPE;
    const double start[3] = {1, -2, 0.5}, slope[3] = {1, 0.25, 3};
    book x[3] = {{0}};
    wk_tensor *p = wk_from_at(WK_HERE, WK_F64, start, sizeof start, (const int64_t[]){3}, 1);
    wk_tensor *c = wk_from_at(WK_HERE, WK_F64, slope, sizeof slope, (const int64_t[]){3}, 1);
    p = wk_requires_grad_(wk_to_dtype(p, dtype), true);
    c = wk_to_dtype(c, dtype);
    wk_optim *optim = make(rule, wk_list((p)), given);
    expect_ok();
    for (int k = 0; k < 3; k++) x[k].p = start[k];
    for (int t = 1; t <= STEPS; t++) {
        WK_SCOPE;
        wk_tensor *loss = wk_sum(wk_mul(wk_mul(wk_mul(p, p), c), 0.5));
        wk_optim_zero_grad(optim);
        assert_int_equal(wk_backward(loss), WK_OK);
        assert_int_equal(wk_optim_step(optim), WK_OK);
        for (int k = 0; k < 3; k++) update_reference(rule, full, t, slope[k] * x[k].p, &x[k]);
    }
    EXPECT_VALUES(p, tolerance, x[0].p, x[1].p, x[2].p);
    assert_int_equal(wk_dtype_of(p), dtype);
}

#define OPTIONS(type, ...)                                                                                             \
    &(const type)                                                                                                      \
    {                                                                                                                  \
        .size = sizeof(type), __VA_ARGS__                                                                              \
    }
#define OF_SGD(...)     OPTIONS(wk_optim_sgd_options, __VA_ARGS__)
#define OF_ADAM(...)    OPTIONS(wk_optim_adam_options, __VA_ARGS__)
#define OF_ADAMW(...)   OPTIONS(wk_optim_adamw_options, __VA_ARGS__)
#define OF_ADAGRAD(...) OPTIONS(wk_optim_adagrad_options, __VA_ARGS__)
#define FULL(...)       OPTIONS(wk_optim_group_options, __VA_ARGS__)

static void sgd(void **state)
{
    (void)state;
    compare(SGD, WK_F64, NULL, FULL(.lr = 1e-3), 1e-12);
    compare(SGD, WK_F64, OF_SGD(.lr = 0.1), FULL(.lr = 0.1), 1e-12);
    compare(SGD, WK_F64, OF_SGD(.lr = 0.1, .momentum = 0.9), FULL(.lr = 0.1, .momentum = 0.9), 1e-12);
    compare(SGD, WK_F64, OF_SGD(.lr = 0.1, .momentum = 0.9, .dampening = 0.3, .weight_decay = 0.2),
            FULL(.lr = 0.1, .momentum = 0.9, .dampening = 0.3, .weight_decay = 0.2), 1e-12);
    compare(SGD, WK_F64, OF_SGD(.lr = 0.1, .momentum = 0.5, .nesterov = true),
            FULL(.lr = 0.1, .momentum = 0.5, .nesterov = true), 1e-12);
    compare(SGD, WK_F64, OF_SGD(.lr = 0.1, .weight_decay = 0.2, .maximize = true),
            FULL(.lr = 0.1, .weight_decay = 0.2, .maximize = true), 1e-12);
    compare(SGD, WK_F32, OF_SGD(.lr = 0.1, .momentum = 0.9), FULL(.lr = 0.1, .momentum = 0.9), 1e-6);
}

static void adam(void **state)
{
    (void)state;
    compare(ADAM, WK_F64, NULL, FULL(.lr = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8), 1e-12);
    compare(ADAM, WK_F64, OF_ADAM(.lr = 0.1, .beta1 = 0.8, .beta2 = 0.9, .eps = 1e-2, .weight_decay = 0.3),
            FULL(.lr = 0.1, .beta1 = 0.8, .beta2 = 0.9, .eps = 1e-2, .weight_decay = 0.3), 1e-12);
    compare(ADAM, WK_F64, OF_ADAM(.lr = 0.1, .beta1 = WK_EXPLICIT_ZERO, .eps = WK_EXPLICIT_ZERO),
            FULL(.lr = 0.1, .beta1 = 0, .beta2 = 0.999, .eps = 0), 1e-12);
    compare(ADAM, WK_F64, OF_ADAM(.lr = 0.1, .beta2 = 0.5, .amsgrad = true, .maximize = true),
            FULL(.lr = 0.1, .beta1 = 0.9, .beta2 = 0.5, .eps = 1e-8, .amsgrad = true, .maximize = true), 1e-12);
    compare(ADAM, WK_F64, OF_ADAM(.lr = 0.1, .beta2 = 0.5, .amsgrad = true),
            FULL(.lr = 0.1, .beta1 = 0.9, .beta2 = 0.5, .eps = 1e-8, .amsgrad = true), 1e-12);
    compare(ADAM, WK_F32, OF_ADAM(.lr = 0.1), FULL(.lr = 0.1, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8), 1e-6);
}

static void adamw(void **state)
{
    (void)state;
    compare(ADAMW, WK_F64, OF_ADAMW(.lr = 0.1),
            FULL(.lr = 0.1, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .weight_decay = 0.01), 1e-12);
    compare(ADAMW, WK_F64, OF_ADAMW(.lr = 0.1, .weight_decay = WK_EXPLICIT_ZERO),
            FULL(.lr = 0.1, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8), 1e-12);
    compare(ADAMW, WK_F64, OF_ADAMW(.lr = 0.1, .beta2 = 0.5, .weight_decay = 0.1, .amsgrad = true, .maximize = true),
            FULL(.lr = 0.1, .beta1 = 0.9, .beta2 = 0.5, .eps = 1e-8, .weight_decay = 0.1, .amsgrad = true,
                 .maximize = true),
            1e-12);
    /* the state of halves is f32, and the parameter is rounded once per step */
    compare(ADAMW, WK_BF16, OF_ADAMW(.lr = 0.01),
            FULL(.lr = 0.01, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .weight_decay = 0.01), 0.03);
    compare(ADAMW, WK_F16, OF_ADAMW(.lr = 0.01),
            FULL(.lr = 0.01, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .weight_decay = 0.01), 4e-3);
}

static void adagrad(void **state)
{
    (void)state;
    compare(ADAGRAD, WK_F64, NULL, FULL(.lr = 1e-2, .eps = 1e-10), 1e-12);
    compare(ADAGRAD, WK_F64, OF_ADAGRAD(.lr = 0.5, .lr_decay = 0.1), FULL(.lr = 0.5, .lr_decay = 0.1, .eps = 1e-10),
            1e-12);
    compare(ADAGRAD, WK_F64, OF_ADAGRAD(.lr = 0.5, .initial_accumulator_value = 0.5, .eps = 0.25, .weight_decay = 0.2),
            FULL(.lr = 0.5, .initial_accumulator_value = 0.5, .eps = 0.25, .weight_decay = 0.2), 1e-12);
    compare(ADAGRAD, WK_F64, OF_ADAGRAD(.lr = 0.5, .eps = WK_EXPLICIT_ZERO, .maximize = true),
            FULL(.lr = 0.5, .maximize = true), 1e-12);
    compare(ADAGRAD, WK_F32, OF_ADAGRAD(.lr = 0.1), FULL(.lr = 0.1, .eps = 1e-10), 1e-6);
    compare(ADAGRAD, WK_BF16, OF_ADAGRAD(.lr = 0.05), FULL(.lr = 0.05, .eps = 1e-10), 0.03);
    compare(ADAGRAD, WK_F16, OF_ADAGRAD(.lr = 0.05), FULL(.lr = 0.05, .eps = 1e-10), 4e-3);
}

/* Moments are precise even if little of the old value is kept: a small gradient after a large one is not lost. */
static void a_small_gradient_after_a_large_one(void **state)
{
    (void)state;
    static const double beta[] = {0, 1e-3, 0.3, 0.5, 0.6, 0.9}, gradient[] = {-4, 1e-7};
    for (int k = 0; k < 6 * 2; k++) {
        WK_SCOPE;
        const double b = beta[k / 2];
        wk_tensor *p = wk_ones((1), .requires_grad = true);
        wk_optim *optim = k % 2 ? wk_optim_adamw(wk_list((p)), .beta1 = b, .beta2 = b)
                                : wk_optim_adam(wk_list((p)), .beta1 = b, .beta2 = b);
        double m = 0, v = 0;
        for (int t = 0; t < 2; t++) {
            wk_set_grad(p, wk_full((1), gradient[t], .dtype = WK_F32));
            wk_optim_step(optim);
            m = b * m + (1 - b) * gradient[t];
            v = b * v + (1 - b) * gradient[t] * gradient[t];
        }
        const double have_m = wk_item(wk_tensors_find(wk_optim_state(optim), "0.exp_avg"));
        const double have_v = wk_item(wk_tensors_find(wk_optim_state(optim), "0.exp_avg_sq"));
        if (!(fabs(have_m - m) <= 3e-7 * fabs(m)) || !(fabs(have_v - v) <= 3e-7 * v))
            fail_msg("beta %g: %g, not %g; %g, not %g", b, have_m, m, have_v, v);
    }
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

static void groups_have_separate_options(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = wk_ones((1), .requires_grad = true), *b = wk_ones((1), .requires_grad = true),
              *c = wk_ones((1), .requires_grad = true);
    wk_optim *optim = wk_optim_sgd(wk_list((a)), .lr = 0.5, .weight_decay = 0.1);
    assert_int_equal(wk_optim_add_group(optim, wk_list((b)), .lr = 0.25), WK_OK);
    assert_int_equal(wk_optim_add_group(optim, wk_list((c)), .weight_decay = WK_EXPLICIT_ZERO), WK_OK);
    assert_int_equal(wk_optim_group_count(optim), 3);
    assert_int_equal(wk_backward(wk_sum(wk_add(wk_add(a, b), c))), WK_OK);
    assert_int_equal(wk_optim_step(optim), WK_OK);
    EXPECT_VALUES(a, 1e-6, 1 - 0.5 * 1.1);
    EXPECT_VALUES(b, 1e-6, 1 - 0.25 * 1.1);
    EXPECT_VALUES(c, 1e-6, 1 - 0.5);
    assert_true(wk_optim_lr(optim, 1) == 0.25);
    assert_int_equal(wk_optim_set_lr(optim, -1, 0), WK_OK);
    assert_int_equal(wk_optim_set_lr(optim, 2, 1), WK_OK);
    assert_int_equal(wk_optim_step(optim), WK_OK);
    EXPECT_VALUES(a, 1e-6, 0.45);
    EXPECT_VALUES(c, 1e-6, -0.5);
    assert_true(isnan(wk_optim_lr(optim, 3)));
    expect_error("optim_lr", "group index 3", NULL);
    assert_int_equal(wk_optim_set_lr(optim, 0, -1), WK_ERR_ARGUMENT);
    expect_error("lr must be", NULL);
}

/* A network with frozen parameters may be passed as it is: they do not change until they require grad again. */
static void frozen_parameters_do_not_change(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = wk_ones((1), .requires_grad = true), *b = wk_ones((1));
    wk_optim *optim = wk_optim_sgd(wk_list((a, b)), .lr = 0.5, .momentum = 0.9);
    assert_non_null(optim);
    for (int step = 0; step < 2; step++) {
        wk_optim_zero_grad(optim);
        wk_backward(wk_sum(wk_mul(a, b)));
        assert_int_equal(wk_optim_step(optim), WK_OK);
        if (step == 0) {
            EXPECT_VALUES(a, 1e-6, 0.5);
            EXPECT_VALUES(b, 0, 1);
            wk_requires_grad_(b, true);
        }
    }
    EXPECT_VALUES(a, 1e-6, 0.5 - 0.5 * (0.9 + 1));
    EXPECT_VALUES(b, 1e-6, 1 - 0.5 * 0.5);
    wk_requires_grad_(b, false); /* its gradient still exists */
    assert_int_equal(wk_optim_step(optim), WK_OK);
    EXPECT_VALUES(b, 1e-6, 1 - 0.5 * 0.5);
    assert_null(wk_error());
}

static void refused_options(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = wk_ones((1), .requires_grad = true), *b = wk_ones((1));
    assert_null(wk_optim_sgd(wk_list((b))));
    expect_error("optim_sgd", "no parameter requires grad", "wk_requires_grad_", NULL);
    wk_tensor *whole = wk_zeros((1), .dtype = WK_I64);
    assert_null(wk_optim_sgd(wk_list((a, whole))));
    expect_error("optim_sgd", "\"1\"", "floating-point", NULL);
    assert_null(wk_optim_sgd(wk_list((wk_mul(a, 2)))));
    expect_error("\"0\"", "is not a leaf", NULL);
    assert_null(wk_optim_sgd(wk_list((a, a))));
    expect_error("\"1\"", "already in this optimiser", NULL);
    assert_null(wk_optim_adam(wk_tensors_new()));
    expect_error("optim_adam", "empty", NULL);
    assert_null(wk_optim_adam(NULL));
    expect_error("optim_adam", "NULL", NULL);
    assert_null(wk_optim_adam(wk_list((a)), .beta1 = 1));
    expect_error(".beta1 = 1", "[0, 1)", NULL);
    assert_null(wk_optim_adam(wk_list((a)), .lr = -0.5));
    expect_error(".lr = -0.5", NULL);
    assert_null(wk_optim_sgd(wk_list((a)), .nesterov = true));
    expect_error("nesterov", "momentum", NULL);
    wk_optim *optim = wk_optim_sgd(wk_list((a)));
    assert_int_equal(wk_optim_add_group(optim, wk_list((a))), WK_ERR_ARGUMENT);
    expect_error("already in this optimiser", NULL);
    assert_int_equal(wk_optim_group_count(optim), 1);
}

/* ---- the step ---------------------------------------------------------------------------------------------------- */

static void a_step_refuses_while_an_error_is_pending(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = wk_ones((1), .requires_grad = true);
    wk_optim *optim = wk_optim_sgd(wk_list((a)), .lr = 1);
    wk_backward(wk_sum(a));
    wk_add(a, wk_ones((2, 3, 1)));
    wk_reshape(a, (2));
    assert_int_equal(wk_optim_step(optim), WK_ERR_SHAPE);
    expect_error("reshape", NULL);
    EXPECT_VALUES(a, 0, 1);
    assert_int_equal(wk_optim_step(optim), WK_OK);
    EXPECT_VALUES(a, 0, 0);
}

static void parameters_without_a_gradient_do_not_change(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = wk_ones((1), .requires_grad = true), *b = wk_ones((1), .requires_grad = true);
    wk_optim *optim = wk_optim_adamw(wk_list((a, b)), .lr = 0.1);
    wk_backward(wk_sum(a));
    assert_int_equal(wk_optim_step(optim), WK_OK);
    EXPECT_VALUES(b, 0, 1);
    assert_true(wk_item(a) < 1);
    wk_optim_zero_grad(optim);
    assert_null(wk_grad_of(a));
    double before = wk_item(a);
    assert_int_equal(wk_optim_step(optim), WK_OK);
    assert_true(wk_item(a) == before);
}

static void a_step_invalidates_older_graphs(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = wk_ones((1), .requires_grad = true);
    wk_optim *optim = wk_optim_sgd(wk_list((a)));
    wk_tensor *old = wk_sum(wk_mul(a, a));
    wk_backward(wk_sum(a));
    wk_optim_step(optim);
    wk_backward(old);
    expect_error("mul", "in place", NULL);
}

static wk_tensor *on_null(void)
{
    return wk_ones((64, 64), .device = test_null(), .requires_grad = true);
}

/* The complete update of a parameter is one kernel, in existing memory, the same each time. It reads the parameter, its
 * gradient and state, and writes all but the gradient. */
static void one_kernel(wk_tensor *p, wk_optim *optim, int states)
{
    wk_memory_stats before = {.size = sizeof before}, after = before;
    for (int t = 0; t < 3; t++) {
        WK_SCOPE;
        wk_set_grad(p, wk_ones((64, 64), .device = test_null()));
        wk_sync();
        wk__null_log_clear();
        wk_memory_stats_of(test_null(), &before);
        wk_memory_reset_peak(test_null());
        assert_int_equal(wk_optim_step(optim), WK_OK);
        wk_sync();
        wk_memory_stats_of(test_null(), &after);
        expect_ok();
        const wk__program *g = wk__null_log_program_at(wk__null_log_count(WK__PROGRAM) - 1);
        assert_int_equal(wk__null_log_count(WK__PROGRAM), t == 0 ? 1 + states : 1); /* states are created first */
        int loads = 0, stores = 0;
        for (int k = 0; k < g->nins; k++) {
            loads += g->ins[k].code == WK__LOAD;
            stores += g->ins[k].code == WK__STORE;
        }
        assert_int_equal(loads, 2 + states);
        assert_int_equal(stores, 1 + states);
        if (t > 0) assert_int_equal(after.peak, before.live);
    }
}

static void an_update_is_one_kernel(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *p = on_null();
    one_kernel(p, wk_optim_sgd(wk_list((p)), .lr = 0.1), 0);
    one_kernel(p, wk_optim_adagrad(wk_list((p)), .initial_accumulator_value = 0.5, .weight_decay = 0.1), 1);
    one_kernel(p, wk_optim_adam(wk_list((p)), .lr = 0.1), 2);
    one_kernel(p, wk_optim_adamw(wk_list((p)), .amsgrad = true), 3);
    one_kernel(p, wk_optim_rmsprop(wk_list((p)), .momentum = 0.5, .centered = true), 3);
    one_kernel(p, wk_optim_adadelta(wk_list((p))), 2);
    one_kernel(p, wk_optim_nadam(wk_list((p))), 2);
    one_kernel(p, wk_optim_radam(wk_list((p)), .beta2 = 0.5), 2);
    one_kernel(p, wk_optim_adamax(wk_list((p))), 2);
    one_kernel(p, wk_optim_asgd(wk_list((p))), 1);
}

/* The first step allocates its state before anything changes. */
static void a_step_without_memory_changes_nothing(void **state)
{
    (void)state;
    for (int n = 1; n <= 2; n++) {
        WK_SCOPE;
        wk_tensor *p = on_null();
        wk_optim *optim = wk_optim_adam(wk_list((p)), .lr = 0.1);
        wk_set_grad(p, wk_ones((64, 64), .device = test_null()));
        wk_sync();
        wk__null_log_clear();
        wk_memory_trim(test_null());
        wk__null_fail_alloc(n);
        wk_code code = wk_optim_step(optim);
        wk__null_clear_faults();
        if (code == WK_OK) continue; /* a larger block had room */
        expect_error("memory", NULL);
        assert_int_equal(wk_optim_step(optim), WK_OK);
        wk_sync();
        expect_ok();
    }
}

/* Recorded work runs when the scope of the step closes. */
static void a_scope_with_a_step_is_flushed(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *p = on_null();
    wk_optim *optim = wk_optim_adam(wk_list((p)), .lr = 0.1);
    wk_set_grad(p, wk_ones((64, 64), .device = test_null()));
    wk_optim_step(optim);
    wk_sync();
    wk__null_log_clear();
    {
        WK_SCOPE;
        wk_optim_step(optim);
        assert_int_equal(wk__null_log_count(WK__PROGRAM), 0);
    }
    assert_int_equal(wk__null_log_count(WK__PROGRAM), 1);
}

/* One flush has gradients and the step. Its first pass computes a gradient and the update with it; operands of the
 * other update come before that. An unused call is among them. */
static void a_step_that_shares_its_first_pass(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = wk_requires_grad_(wk_of(double, (2), 1, 2), true), *x = wk_of(double, (2), 1, 2);
    wk_tensor *b = wk_requires_grad_(wk_of(double, (3), 1, 2, 3), true), *y = wk_of(double, (3), 1, 2, 3);
    wk_tensor *places = wk_of(int64_t, (3), 2, 0, 1);
    wk_tensors *list = wk_tensors_new();
    wk_tensors_add(list, "a", a), wk_tensors_add(list, "b", b);
    wk_optim *optim = wk_optim_sgd(list, .lr = 0.25);
    for (int step = 0; step < 3; step++) {
        wk_sync();
        {
            WK_SCOPE;
            wk_exp(x); /* not the newest when the scope closes, so it stays until the flush */
            wk_set_grad(a, wk_mul(x, 2));
        }
        wk_set_grad(b, wk_index_add(wk_zeros((3), .dtype = WK_F64), 0, places, y)); /* a separate kernel */
        assert_int_equal(wk_optim_step(optim), WK_OK);
    }
    EXPECT_VALUES(a, 0, -0.5, -1);
    EXPECT_VALUES(b, 0, 1 - 0.75 * 2, 2 - 0.75 * 3, 3 - 0.75);
}

static void state_follows_the_parameter(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *box = wk_module_new((&(wk_module_kind){.size = sizeof(wk_module_kind), .name = "box"}));
    wk_tensor *p = wk_module_add_parameter(box, "p", wk_ones((2)));
    wk_optim *optim = wk_optim_sgd(wk_parameters(box), .lr = 1, .momentum = 0.5);
    wk_backward(wk_sum(p));
    wk_optim_step(optim); /* p = 0, velocity 1 */
    EXPECT_VALUES(p, 0, 0, 0);
    wk_module_to(box, test_null());
    assert_int_equal(wk_optim_step(optim), WK_OK);
    wk_sync();
    expect_ok();
    assert_int_equal(wk_device_of(p).kind, WK_NULL);
}

/* The product that computes the gradient of the large weights updates them in place. */
static void the_largest_parameter_has_no_second_copy(void **state)
{
    (void)state;
    enum { INPUTS = 512, HIDDEN = 256, WEIGHTS = INPUTS * HIDDEN * 4, STEADY = 3 };
    WK_SCOPE;
    wk_module *net = wk_nn_sequential(wk_nn_linear(INPUTS, HIDDEN), wk_nn_linear(HIDDEN, 4));
    wk_tensor *x = wk_randn((8, INPUTS)), *labels = wk_randint(0, 4, (8));
    wk_optim *optim = wk_optim_sgd(wk_parameters(net), .lr = 0.1);
    wk_memory_stats before = {.size = sizeof before}, after = before;
    for (int step = 0; step < 2 * STEADY; step++) {
        if (step == STEADY) {
            wk_sync();
            wk_memory_reset_peak(wk_cpu());
            wk_memory_stats_of(wk_cpu(), &before);
        }
        WK_SCOPE;
        wk_tensor *loss = wk_cross_entropy(wk_forward(net, x), labels);
        wk_optim_zero_grad(optim);
        wk_backward(loss);
        assert_int_equal(wk_optim_step(optim), WK_OK);
    }
    wk_sync();
    expect_ok();
    wk_memory_stats_of(wk_cpu(), &after);
    assert_true(before.live > 2 * WEIGHTS); /* weights and their gradient */
    assert_in_range(after.peak - before.live, 1, WEIGHTS / 2);
}

/* The kernel with the most to update also computes an operand of another gradient: it does not run last. */
static void a_gradient_waits_for_another_kernels_update(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((1, 1)), *weight = wk_requires_grad_(wk_ones((1, 64)), true);
    wk_tensor *b = wk_requires_grad_(wk_ones((1, 64)), true), *c = wk_requires_grad_(wk_ones((1, 64)), true);
    wk_optim *optim = wk_optim_sgd(wk_list((weight, b, c)), .lr = 0.125);
    wk_sync();
    wk_tensor *z = wk_add(wk_add(wk_matmul(x, weight), b), c);
    assert_int_equal(wk_backward(wk_sum(wk_square(z))), WK_OK);
    assert_int_equal(wk_optim_step(optim), WK_OK);
    WK_NO_GRAD;
    for (int k = 0; k < 64; k += 63) {
        assert_float_equal(wk_item(wk_select(wk_select(weight, 0, 0), 0, k)), 0.25, 0);
        assert_float_equal(wk_item(wk_select(wk_select(b, 0, 0), 0, k)), 0.25, 0);
        assert_float_equal(wk_item(wk_select(wk_select(c, 0, 0), 0, k)), 0.25, 0);
    }
}

/* In borrowed memory the values before and after the call are readable. */
static void a_step_on_borrowed_memory(void **state)
{
    (void)state;
    WK_SCOPE;
    float lent[2], gradient[2];
    for (int k = 0; k < 2; k++) lent[k] = 10;
    wk_tensor *p = wk_requires_grad_(wk_borrow(lent, (2), NULL, NULL), true);
    wk_optim *optim = wk_optim_sgd(wk_list((p)), .lr = 1);
    wk_set_grad(p, wk_borrow(gradient, (2), NULL, NULL));
    for (int step = 1; step <= 3; step++) {
        gradient[0] = gradient[1] = (float)step;
        assert_int_equal(wk_optim_step(optim), WK_OK);
        assert_int_equal((int)lent[1], 10 - step * (step + 1) / 2);
    }
}

/* ---- clipping ---------------------------------------------------------------------------------------------------- */

static void clipping(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = wk_ones((2), .requires_grad = true), *b = wk_ones((1), .requires_grad = true, .dtype = WK_BF16);
    wk_tensor *none = wk_ones((1), .requires_grad = true);
    wk_set_grad(a, wk_of(float, (2), 1, 2));
    wk_set_grad(b, wk_to_dtype(wk_of(float, (1), 2), WK_BF16));
    wk_tensor *grad = wk_grad_of(a), *norm = wk_clip_grad_norm_(wk_list((a, none, b)), 1.5);
    EXPECT_VALUES(norm, 1e-6, 3);
    EXPECT_VALUES(grad, 1e-6, 0.5, 1);
    assert_true(wk_grad_of(a) == grad);
    EXPECT_VALUES(wk_grad_of(b), 1e-2, 1);
    assert_null(wk_grad_of(none));
    norm = wk_clip_grad_norm_(wk_list((a, b)), 100);
    EXPECT_VALUES(norm, 1e-2, 1.5);
    EXPECT_VALUES(grad, 1e-6, 0.5, 1);
    EXPECT_VALUES(wk_clip_grad_norm_(wk_list((none)), 1), 0, 0);
    assert_null(wk_clip_grad_norm_(wk_list((a)), -1));
    expect_error("clip_grad_norm_", NULL);
}

/* Values of torch.nn.utils.clip_grad_norm_ for the gradients {1, -2} and {3}. */
static void clipping_by_other_norms(void **state)
{
    (void)state;
    static const double p[] = {1, 2, 3, 0.5, (double)INFINITY};
    static const double norms[] = {6, 3.74165738677394, 3.30192724889463, 17.1915082254503, 3};
    static const double scaled[] = {0.333333277777787, 0.534522340967744, 0.605706680837033, 0.116336499243429,
                                    0.666666444444519};
    for (int k = 0; k < 5; k++) {
        WK_SCOPE;
        wk_tensor *a = wk_ones((2), .requires_grad = true, .dtype = WK_F64);
        wk_tensor *b = wk_ones((1), .requires_grad = true, .dtype = WK_F64);
        wk_tensor *empty = wk_ones((0), .requires_grad = true, .dtype = WK_F64);
        wk_set_grad(a, wk_of(double, (2), 1, -2)), wk_set_grad(b, wk_of(double, (1), 3));
        wk_set_grad(empty, wk_zeros((0), .dtype = WK_F64));
        wk_tensors *list = wk_list((empty, a, b));
        EXPECT_VALUES(wk_clip_grad_norm_(list, 2, .norm_type = p[k], .error_if_nonfinite = true), 1e-12, norms[k]);
        EXPECT_VALUES(wk_grad_of(a), 1e-12, scaled[k], -2 * scaled[k]);
        EXPECT_VALUES(wk_grad_of(b), 1e-12, 3 * scaled[k]);
    }
}

static void norms_that_are_not_finite(void **state)
{
    (void)state;
    static const double bad[] = {(double)NAN, (double)INFINITY};
    for (int k = 0; k < 2; k++) {
        WK_SCOPE;
        wk_tensor *a = wk_ones((2), .requires_grad = true);
        wk_set_grad(a, wk_of(float, (2), 1, (float)bad[k]));
        assert_null(wk_clip_grad_norm_(wk_list((a)), 1, .error_if_nonfinite = true));
        assert_int_equal(wk_error_code(), WK_ERR_STATE);
        expect_error("clip_grad_norm_: the norm of the gradients is ", k ? "infinite" : "NaN", NULL);
        EXPECT_VALUES(wk_narrow(wk_grad_of(a), 0, 0, 1), 0, 1);
        assert_non_null(wk_clip_grad_norm_(wk_list((a)), 1));
        assert_null(wk_clip_grad_norm_(wk_list((a)), 1, .norm_type = 0));
        expect_error("clip_grad_norm_: .norm_type must be greater than 0", NULL);
    }
}

static void clipping_by_value(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = wk_ones((3), .requires_grad = true), *none = wk_ones((1), .requires_grad = true);
    wk_set_grad(a, wk_of(float, (3), 1, -2, 0.25));
    wk_tensor *grad = wk_grad_of(a);
    assert_int_equal(wk_clip_grad_value_(wk_list((a, none)), 0.5), WK_OK);
    EXPECT_VALUES(grad, 0, 0.5, -0.5, 0.25);
    assert_true(wk_grad_of(a) == grad);
    assert_int_equal(wk_clip_grad_value_(wk_list((a)), -1), WK_ERR_ARGUMENT);
    expect_error("clip_grad_value_: max must be at least 0", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sgd),
        cmocka_unit_test(adam),
        cmocka_unit_test(adamw),
        cmocka_unit_test(adagrad),
        cmocka_unit_test(a_small_gradient_after_a_large_one),
        cmocka_unit_test(groups_have_separate_options),
        cmocka_unit_test(frozen_parameters_do_not_change),
        cmocka_unit_test(refused_options),
        cmocka_unit_test(a_step_refuses_while_an_error_is_pending),
        cmocka_unit_test(parameters_without_a_gradient_do_not_change),
        cmocka_unit_test(a_step_invalidates_older_graphs),
        cmocka_unit_test_setup_teardown(an_update_is_one_kernel, test_default_mode, test_restore_mode),
        cmocka_unit_test(a_step_without_memory_changes_nothing),
        cmocka_unit_test_setup_teardown(a_scope_with_a_step_is_flushed, test_default_mode, test_restore_mode),
        cmocka_unit_test(a_step_that_shares_its_first_pass),
        cmocka_unit_test_setup_teardown(the_largest_parameter_has_no_second_copy, test_default_mode, test_restore_mode),
        cmocka_unit_test(a_gradient_waits_for_another_kernels_update),
        cmocka_unit_test(a_step_on_borrowed_memory),
        cmocka_unit_test(state_follows_the_parameter),
        cmocka_unit_test(clipping),
        cmocka_unit_test(clipping_by_other_norms),
        cmocka_unit_test(norms_that_are_not_finite),
        cmocka_unit_test(clipping_by_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
