/* SPDX-License-Identifier: Apache-2.0 */
/* Tests steps with a closure: results, and the state after a failure, also within a step of lbfgs. */
#include "support/devices.h"

#include <math.h>
#include <setjmp.h>

/* A loss of two parameters with a curved valley. Call number `failing` of the closure makes an error. */
typedef enum mistake { NONE, AN_ERROR, NOTHING, TWO_NUMBERS, NO_FLOATS, A_BAD_INDEX, A_STEP, MISTAKES } mistake;
typedef struct training {
    wk_tensor *p, *q;
    wk_optim *optim;
    int calls, failing;
    mistake mistake;
} training;

static wk_tensor *closure(void *user);

static wk_tensor *make_mistake(training *t, wk_tensor *loss)
{
    switch (t->mistake) {
    case AN_ERROR: wk_reshape(loss, (7)); return loss;
    case TWO_NUMBERS: return t->p;
    case NO_FLOATS: return wk_ones((1), .dtype = WK_I64);
    case A_BAD_INDEX: return wk_add(loss, wk_sum(wk_take(wk_ones((4)), wk_mul(wk_arange(2), 33))));
    case A_STEP: t->failing = 0; return wk_optim_step_closure(t->optim, closure, t);
    default: return NULL;
    }
}

static wk_tensor *closure(void *user)
{
    training *t = user;
    t->calls++;
    wk_optim_zero_grad(t->optim);
    wk_tensor *x = wk_select(t->p, 0, 0), *y = wk_select(t->p, 0, 1);
    wk_tensor *loss = wk_add(wk_square(wk_sub(1, x)), wk_mul(10, wk_square(wk_sub(y, wk_square(x)))));
    loss = wk_add(loss, wk_sum(wk_square(wk_sub(t->q, 3))));
    wk_backward(loss);
    return t->calls == t->failing ? make_mistake(t, loss) : loss;
}

static wk_optim *make(int kind, wk_tensors *list)
{
    switch (kind) {
    case 0: return wk_optim_lbfgs(list, .line_search_fn = "strong_wolfe", .max_iter = 3);
    case 1: return wk_optim_lbfgs(list, .lr = 0.1, .max_iter = 4, .history_size = 2);
    case 2: return wk_optim_sgd(list, .lr = 0.01, .momentum = 0.9);
    case 3: return wk_optim_adam(list, .lr = 0.1);
    case 4: return wk_optim_adamw(list, .lr = 0.1, .amsgrad = true);
    default: return wk_optim_adagrad(list, .lr = 0.1);
    }
}
enum { SEARCHES = 2, KINDS = 6 };

static training begin(int kind)
{
    training t = {.p = wk_requires_grad_(wk_of(double, (2), -1.5, 2), true),
                  .q = wk_requires_grad_(wk_of(float, (2), 0.5, 1), true)};
    t.optim = make(kind, wk_list((t.p, t.q)));
    return t;
}

static wk_tensor *numbers(const training *t)
{
    return wk_cat((wk_detach(t->p), wk_to_dtype(wk_detach(t->q), WK_F64)), 0);
}

static void expect_same(const training *a, const training *b)
{
    WK_SCOPE;
    wk_tensor *x = numbers(a), *y = numbers(b);
    for (int k = 0; k < 4; k++) {
        const double have = wk_item(wk_select(x, 0, k)), wanted = wk_item(wk_select(y, 0, k));
        if (have != wanted) fail_msg("parameter %d is %.17g, not %.17g", k, have, wanted);
    }
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static void a_step_with_a_closure_is_a_step(void **state)
{
    (void)state;
    for (int kind = SEARCHES; kind < KINDS; kind++) {
        WK_SCOPE;
        WK_NO_GRAD; /* the closure has gradients nevertheless */
        training with = begin(kind), without = begin(kind);
        for (int step = 0; step < 3; step++) {
            wk_tensor *loss = wk_optim_step_closure(with.optim, closure, &with), *other;
            {
                WK_ENABLE_GRAD;
                other = closure(&without);
            }
            assert_int_equal(wk_optim_step(without.optim), WK_OK);
            assert_true(wk_item(loss) == wk_item(other));
            assert_int_equal(with.calls, step + 1);
            expect_same(&with, &without);
        }
        expect_ok();
    }
}

/* The caller owns the closure's result, as with any call, even if it existed before. */
static wk_tensor *held;
static wk_tensor *return_held_tensor(void *user)
{
    closure(user);
    return held;
}

static void without_a_scope(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        training t;
        {
            WK_SCOPE;
            t = begin(kind);
            t.p = wk_retain(t.p), t.q = wk_retain(t.q), t.optim = wk_retain(t.optim);
            held = wk_retain(wk_ones((1)));
        }
        wk_tensor *loss = wk_optim_step_closure(t.optim, closure, &t);
        assert_true(wk_item(loss) > 10);
        wk_free(loss);
        wk_item(loss);
        expect_error("freed", NULL);
        loss = wk_optim_step_closure(t.optim, return_held_tensor, &t);
        assert_true(loss == held);
        wk_free(loss);
        assert_true(wk_item(held) == 1);
        t.failing = t.calls + 1, t.mistake = TWO_NUMBERS;
        assert_null(wk_optim_step_closure(t.optim, closure, &t)); /* refused values do not gain references */
        wk_clear_error();
        assert_int_equal(wk_ndim(t.p), 1);
        wk_free(held), wk_free(t.optim), wk_free(t.p), wk_free(t.q);
        wk_ndim(t.p);
        expect_error("freed", NULL);
    }
}

static void state_does_not_grow(void **state)
{
    (void)state;
    for (int kind = 0; kind < SEARCHES; kind++) {
        WK_SCOPE;
        training t = begin(kind);
        wk_memory_stats before = {.size = sizeof before}, after = before;
        for (int step = 0; step < 8; step++) {
            WK_SCOPE;
            wk_optim_set_lr(t.optim, 0, 1e-3);
            assert_non_null(wk_optim_step_closure(t.optim, closure, &t));
            wk_memory_stats_of(wk_cpu(), step == 6 ? &before : &after);
        }
        assert_true(kind == 0 || before.live == after.live);
    }
}

/* ---- refused calls ----------------------------------------------------------------------------------------------- */

static void options_of_lbfgs(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = wk_ones((2), .requires_grad = true), *b = wk_ones((2), .requires_grad = true);
    assert_null(wk_optim_lbfgs(wk_list((a)), .line_search_fn = "armijo"));
    expect_error("optim_lbfgs: unknown .line_search_fn \"armijo\"", "\"strong_wolfe\"", "or NULL", NULL);
    assert_null(wk_optim_lbfgs(wk_list((a)), .max_iter = -1));
    expect_error("optim_lbfgs: .max_iter = -1 is invalid; it must be at least 1", NULL);
    assert_null(wk_optim_lbfgs(wk_list((a)), .history_size = -5));
    expect_error("optim_lbfgs: .history_size = -5", NULL);
    assert_null(wk_optim_lbfgs(wk_list((a)), .tolerance_grad = -1));
    expect_error("optim_lbfgs: .tolerance_grad = -1 is invalid; it must be at least 0", NULL);
    assert_null(wk_optim_lbfgs(wk_list((a)), .lr = (double)NAN));
    expect_error("optim_lbfgs: .lr = nan", NULL);
    assert_non_null(wk_optim_lbfgs(wk_list((a)), .max_iter = INT64_MAX)); /* 5 / 4 of it overflows */
    wk_optim *lbfgs = wk_optim_lbfgs(wk_list((a)));
    assert_true(wk_optim_lr(lbfgs, 0) == 1);
    assert_int_equal(wk_optim_add_group(lbfgs, wk_list((b))), WK_ERR_ARGUMENT);
    expect_error("optim_add_group: lbfgs", "pass all parameters in one list", NULL);
    wk_set_grad(a, wk_ones((2)));
    assert_int_equal(wk_optim_step(lbfgs), WK_ERR_STATE);
    expect_error("optim_step: lbfgs", "use wk_optim_step_closure(optim, closure, user)", NULL);
    EXPECT_VALUES(a, 0, 1, 1);
}

static void a_step_refuses_invalid_losses(void **state)
{
    (void)state;
    static const char *const words[MISTAKES] = {
        [AN_ERROR] = "reshape",
        [NOTHING] = "optim_step_closure: the result of the closure is NULL",
        [TWO_NUMBERS] = "optim_step_closure: the closure must return the loss, one float; got 2 elements of f64",
        [NO_FLOATS] = "1 elements of i64"};
    for (int kind = 0; kind < KINDS; kind++)
        for (mistake mistake = AN_ERROR; mistake < A_BAD_INDEX; mistake++) {
            WK_SCOPE;
            training t = begin(kind), same = begin(kind);
            t.failing = 1;
            t.mistake = mistake;
            assert_null(wk_optim_step_closure(t.optim, closure, &t));
            expect_error(words[mistake], NULL);
            expect_same(&t, &same);
            assert_null(wk_optim_step_closure(t.optim, NULL, &t));
            expect_error("optim_step_closure: the closure is NULL", NULL);
            wk_reshape(t.p, (7));
            assert_null(wk_optim_step_closure(t.optim, closure, &t));
            assert_int_equal(t.calls, 1);
            expect_error("reshape", NULL);
            assert_non_null(wk_optim_step_closure(t.optim, closure, &t));
            expect_ok();
        }
}

/* ---- failures within a step -------------------------------------------------------------------------------------- */

/* In any call of the closure: the parameters are as before the step, and later steps equal those of a twin without the
 * failed step. */
static void a_failed_step_is_undone(void **state)
{
    (void)state;
    for (int kind = 0; kind < SEARCHES; kind++)
        for (mistake mistake = AN_ERROR; mistake < MISTAKES; mistake++) {
            bool met = true;
            int failures = 0;
            for (int n = mistake == A_STEP ? 2 : 1; met; n++) { /* the first call precedes the step */
                WK_SCOPE;
                training t = begin(kind), twin = begin(kind);
                assert_non_null(wk_optim_step_closure(t.optim, closure, &t));
                assert_non_null(wk_optim_step_closure(twin.optim, closure, &twin));
                t.failing = t.calls + n;
                t.mistake = mistake;
                wk_tensor *loss = wk_optim_step_closure(t.optim, closure, &t);
                met = wk_error_code() != WK_OK;
                assert_int_equal(loss == NULL, met);
                wk_clear_error();
                if (!met) break;
                failures++;
                expect_same(&t, &twin);
                for (int step = 0; step < 2; step++) {
                    assert_non_null(wk_optim_step_closure(t.optim, closure, &t));
                    assert_non_null(wk_optim_step_closure(twin.optim, closure, &twin));
                    expect_same(&t, &twin);
                }
                expect_ok();
            }
            assert_true(failures >= 2);
        }
}

static jmp_buf back;
static void jump(void *user, wk_code code, const char *text)
{
    (void)user, (void)code, (void)text;
    longjmp(back, 1);
}

static void step_with_handler(training *t)
{
    wk_guard scope = wk_scope_open(WK_HERE);
    wk_set_error_handler(jump, NULL);
    if (!setjmp(back)) wk_optim_step_closure(t->optim, closure, t);
    wk_set_error_handler(NULL, NULL);
    wk_guard_close(&scope);
}

static void a_handler_jumps_out_of_the_closure(void **state)
{
    (void)state;
    for (int kind = 0; kind < SEARCHES; kind++) {
        WK_SCOPE;
        training t = begin(kind), twin = begin(kind);
        t.failing = 3;
        t.mistake = AN_ERROR;
        step_with_handler(&t);
        assert_int_equal(t.calls, 3);
        assert_non_null(wk_error());
        wk_clear_error();
        expect_same(&t, &twin);
        assert_non_null(wk_optim_step_closure(t.optim, closure, &t));
        assert_non_null(wk_optim_step_closure(twin.optim, closure, &twin));
        expect_same(&t, &twin);
    }
}

/* A graph recorded in a failed step does not belong to the restored values. */
static wk_tensor *recorded;
static wk_tensor *record(void *user)
{
    training *t = user;
    wk_tensor *loss = closure(t);
    if (t->calls == 2) recorded = wk_retain(wk_sum(wk_square(t->p)));
    return t->calls == 3 ? NULL : loss;
}

static void graphs_of_a_step_that_failed(void **state)
{
    (void)state;
    WK_SCOPE;
    training t = begin(1);
    assert_null(wk_optim_step_closure(t.optim, record, &t));
    expect_error("is NULL", NULL);
    assert_int_equal(wk_backward(recorded), WK_ERR_STATE);
    expect_error("in place", NULL);
    wk_free(recorded);
}

/* ---- parameters of several dtypes -------------------------------------------------------------------------------- */

typedef struct several {
    wk_optim *optim;
    wk_tensor *p[4];
    int count;
} several;

/* The weighted sum of the squared distances from 2. */
static wk_tensor *distance(void *user)
{
    several *s = user;
    wk_optim_zero_grad(s->optim);
    wk_tensor *loss = wk_zeros(());
    for (int k = 0; k < s->count; k++) {
        wk_tensor *here = wk_to(wk_sum(wk_square(wk_sub(s->p[k], 2))), wk_cpu());
        loss = wk_add(loss, wk_mul(wk_to_dtype(here, WK_F32), k + 1));
    }
    wk_backward(loss);
    return loss;
}

/* Halves, a part of a tensor, borrowed memory, a frozen one. */
static void parameters_of_several_kinds(void **state)
{
    (void)state;
    for (int kind = 0; kind < SEARCHES; kind++) {
        WK_SCOPE;
        float lent[3] = {0, 4, 0};
        wk_tensor *base = wk_zeros((3, 2)), *part = wk_requires_grad_(wk_select(base, 0, 1), true);
        several s = {.p = {wk_requires_grad_(wk_of(float, (2), 1, 4, .dtype = WK_F16), true), part,
                           wk_requires_grad_(wk_borrow(lent, (3), NULL, NULL), true), wk_ones((2))},
                     .count = 4};
        s.optim =
            wk_optim_lbfgs(wk_list((s.p[0], s.p[1], s.p[2], s.p[3])), .line_search_fn = kind ? NULL : "strong_wolfe");
        for (int step = 0; step < 3; step++) assert_non_null(wk_optim_step_closure(s.optim, distance, &s));
        WK_NO_GRAD;
        EXPECT_VALUES(s.p[0], 1e-2, 2, 2);
        EXPECT_VALUES(base, 1e-2, 0, 0, 2, 2, 0, 0);
        EXPECT_VALUES(s.p[2], 1e-2, 2, 2, 2);
        assert_true(fabsf(lent[1] - 2) < 1e-2F);
        EXPECT_VALUES(s.p[3], 0, 1, 1);
        expect_ok();
    }
}

/* Borrowed memory is restored, too. */
static wk_tensor *distance_fails(void *user)
{
    several *s = user;
    s->count++;
    if (s->count == 3) return NULL;
    wk_optim_zero_grad(s->optim);
    wk_tensor *loss = wk_sum(wk_square(wk_sub(s->p[0], 2)));
    wk_backward(loss);
    return loss;
}

static void a_failed_step_on_borrowed_memory(void **state)
{
    (void)state;
    for (int kind = 0; kind < SEARCHES; kind++) {
        WK_SCOPE;
        float lent[3] = {0, 4, 0};
        several s = {.p = {wk_requires_grad_(wk_borrow(lent, (3), NULL, NULL), true)}};
        s.optim = wk_optim_lbfgs(wk_list((s.p[0])), .lr = 0.3, .line_search_fn = kind ? NULL : "strong_wolfe");
        assert_null(wk_optim_step_closure(s.optim, distance_fails, &s));
        expect_error("the result of the closure is NULL", NULL);
        assert_true(lent[0] == 0 && lent[1] == 4);
        WK_NO_GRAD;
        EXPECT_VALUES(s.p[0], 0, 0, 4, 0);
    }
}

/* State follows the parameters, which may be on several devices. */
static void devices(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        for (int kind = 0; kind < SEARCHES; kind++) {
            WK_SCOPE;
            wk_module *box = wk_module_new((&(wk_module_kind){.size = sizeof(wk_module_kind), .name = "box"}));
            several s = {.p = {wk_module_add_parameter(box, "p", wk_of(float, (2), 5, -3)),
                               wk_requires_grad_(wk_of(float, (2), 1, 7), true)},
                         .count = 2};
            s.optim = wk_optim_lbfgs(wk_list((s.p[0], s.p[1])), .max_iter = 4, .lr = 0.3,
                                     .line_search_fn = kind ? NULL : "strong_wolfe");
            wk_tensor *first = wk_optim_step_closure(s.optim, distance, &s), *last = NULL;
            wk_module_to(box, device);
            for (int step = 0; step < 12; step++) last = wk_optim_step_closure(s.optim, distance, &s);
            expect_ok();
            assert_true(wk_item(first) == 86 && wk_item(last) < 1e-3);
            assert_true(wk_device_eq(wk_device_of(s.p[0]), device));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_with_a_closure_is_a_step),
        cmocka_unit_test(without_a_scope),
        cmocka_unit_test(state_does_not_grow),
        cmocka_unit_test(options_of_lbfgs),
        cmocka_unit_test(a_step_refuses_invalid_losses),
        cmocka_unit_test(a_failed_step_is_undone),
        cmocka_unit_test(a_handler_jumps_out_of_the_closure),
        cmocka_unit_test(graphs_of_a_step_that_failed),
        cmocka_unit_test(parameters_of_several_kinds),
        cmocka_unit_test(a_failed_step_on_borrowed_memory),
        cmocka_unit_test(devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
