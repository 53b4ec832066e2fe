/* SPDX-License-Identifier: Apache-2.0 */
/* Tests leaves with and without gradients, writes allowed between forward and backward, and backward's messages about
 * those that are not. */
#include "support/wick.h"

static wk_tensor *leaf(double a, double b)
{
    return wk_requires_grad_(wk_of(double, (2), a, b), true);
}

/* "file.c:12" for a line of this file */
static const char *at(const char *before, int line)
{
    static char text[2][200];
    static int k;
    k = !k;
    snprintf(text[k], sizeof text[k], "%s%s:%d", before, __FILE__, line);
    return text[k];
}

/* elu, selu and cross_entropy save neither their result nor the scores themselves: as in PyTorch, these may be
 * written. */
static void results_and_scores_may_be_written(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf(-1, 2), *y = wk_elu(x), *z = wk_selu(x);
    wk_mul_(y, 3), wk_mul_(z, 0);
    assert_int_equal(wk_backward(wk_sum(wk_add(y, z))), WK_OK);
    EXPECT_VALUES(wk_grad_of(x), 1e-12, 3 * 0.36787944117144233, 3);
    wk_tensor *w = leaf(1, 3), *scores = wk_mul(wk_reshape(w, (1, 2)), 1), *label = wk_of(int64_t, (1), 0);
    wk_tensor *loss = wk_cross_entropy(scores, label);
    wk_fill_(scores, 100);
    assert_int_equal(wk_backward(wk_add(loss, wk_sum(scores))), WK_OK);
    EXPECT_VALUES(wk_grad_of(w), 1e-12, -0.8807970779778824, 0.8807970779778824);
    wk_tensor *chances = leaf(0.5, 0.5), *probable = wk_reshape(wk_mul(chances, 1), (1, 2));
    loss = wk_cross_entropy(wk_reshape(w, (1, 2)), probable);
    wk_mul_(probable, 2); /* probabilities are saved themselves: the gradient of w would be wrong */
    assert_int_not_equal(wk_backward(loss), WK_OK);
    expect_error("cross_entropy: backward needs the original value of its second operand", "mul_", NULL);
}

/* Far below 0 the gradient is small, not 0. */
static void gradients_far_below_0(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf(-20, -40), *far = wk_requires_grad_(wk_of(float, (2), -20, 1000), true), *g[1];
    assert_int_equal(wk_backward(wk_sum(wk_elu(x))), WK_OK);
    EXPECT_VALUES(wk_grad_of(x), 1e-24, 2.0611536224385579e-9, 4.248354255291589e-18);
    assert_int_equal(wk_grad((wk_sum(wk_elu(far))), (far), g, .create_graph = true), WK_OK);
    EXPECT_VALUES(g[0], 1e-15, 2.0611536e-9, 1);
    assert_int_equal(wk_backward(wk_sum(g[0])), WK_OK);
    EXPECT_VALUES(wk_grad_of(far), 1e-15, 2.0611536e-9, 0);
}

/* A leaf frozen between forward and backward gets no gradient, and its hooks do not run; unfrozen it does. */
static wk_tensor *count(wk_tensor *grad, void *user)
{
    (void)grad;
    ++*(int *)user;
    return NULL;
}

static void a_frozen_leaf_gets_no_gradient(void **state)
{
    (void)state;
    WK_SCOPE;
    int calls = 0;
    wk_tensor *x = leaf(1, 2), *w = leaf(3, 4), *part = wk_narrow(x, 0, 0, 1);
    wk_register_hook(x, count, &calls);
    wk_register_hook(x, count, &calls, .post_accumulate = true);
    wk_tensor *loss = wk_add(wk_sum(wk_mul(x, w)), wk_sum(part));
    wk_requires_grad_(x, false);
    assert_int_equal(wk_backward(loss, .retain_graph = true), WK_OK);
    assert_null(wk_grad_of(x));
    EXPECT_VALUES(wk_grad_of(w), 0, 1, 2);
    assert_int_equal(calls, 0);
    wk_requires_grad_(x, true);
    assert_int_equal(wk_backward(loss), WK_OK);
    EXPECT_VALUES(wk_grad_of(x), 0, 4, 4);
    assert_true(calls > 0);
    wk_tensor *base = wk_zeros((2), .dtype = WK_F64), *view = wk_narrow(base, 0, 0, 1);
    wk_add_(base, w);
    assert_null(wk_requires_grad_(view, false)); /* its base has become a result since, and so has the view */
    expect_error("requires_grad_", "not a leaf", NULL);
}

/* An empty operand that cat skips is an operand: its gradient exists, without elements. */
static void an_empty_leaf_of_cat(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *none = wk_zeros((0), .requires_grad = true), *x = wk_ones((2, 3), .requires_grad = true);
    assert_int_equal(wk_backward(wk_sum(wk_cat((none, x, none), 1))), WK_OK);
    EXPECT_SHAPE(wk_grad_of(none), 0);
    EXPECT_VALUES(wk_grad_of(x), 0, 1, 1, 1, 1, 1, 1);
}

static void gradients_of_other_tensors(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf(1, 2), *y = wk_mul(x, 2), *base = wk_zeros((2), .dtype = WK_F64),
              *view = wk_narrow(base, 0, 0, 1);
    assert_int_equal(wk_backward(wk_sum(y)), WK_OK);
    assert_null(wk_grad_of(y));
    expect_error(at("", __LINE__ - 1), "grad_of: f64[2] is not a leaf", "wk_grad", "wk_register_hook", NULL);
    assert_int_equal(wk_set_grad(y, x), WK_ERR_STATE);
    expect_error("set_grad: f64[2] is not a leaf", NULL);
    assert_null(wk_grad_of(view)); /* a leaf without a gradient: no error */
    expect_ok();
    wk_add_(base, x);
    assert_null(wk_grad_of(view));
    expect_error("grad_of: f64[1] is not a leaf", NULL);
    assert_null(wk_grad_of(NULL));
    expect_ok();
}

static void keep_forward(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    wk_function_save(f, in[0]);
    out[0] = wk_exp(in[0]);
}
static void keep_backward(wk_function *f, wk_tensor *const grad_out[], wk_tensor *grad_in[])
{
    wk_tensor *x = wk_function_saved(f, 0);
    grad_in[0] = x ? wk_mul(grad_out[0], wk_exp(x)) : NULL;
}

/* If a value that backward needs was changed, the message names the op of the forward with its line, and the call that
 * changed it with its line. */
static void changed_values_are_reported_with_both_calls(void **state)
{
    (void)state;
    static const wk_function_kind kind = {.size = sizeof kind,
                                          .name = "own",
                                          .inputs = 1,
                                          .outputs = 1,
                                          .forward = keep_forward,
                                          .backward = keep_backward};
    for (int how = 0; how < 6; how++) {
        WK_SCOPE;
        wk_tensor *x = leaf(1, 2), *w = wk_ones((2), .dtype = WK_F64), *y = NULL;
        int line = __LINE__ + 1;
        y = how < 5 ? wk_mul(x, w) : wk_apply(&kind, NULL, (wk_add_(w, x)));
        if (how == 0) wk_add_(w, 1);
        if (how == 1) wk_zero_(w);
        if (how == 2) wk_copy_(wk_narrow(w, 0, 0, 1), wk_ones((1)));
        if (how == 3) wk_init_ones_(w);
        if (how == 4) wk_sub_(w, 1), wk_index_add_(w, 0, wk_of(int64_t, (1), 0), wk_ones((1), .dtype = WK_F64));
        if (how == 5) wk_clamp_(w, 0, 1);
        const char *const by[] = {"modified in place by add_ at ",       "modified in place by zero_ at ",
                                  "modified in place by copy_ at ",      "modified in place by init_ones_",
                                  "modified in place by index_add_ at ", "modified in place by clamp_ at "};
        char place[200], made[200];
        snprintf(place, sizeof place, "%s%s", by[how], how == 3 ? "" : at("", line + 1 + how));
        snprintf(made, sizeof made, "%s", at("", line));
        char backward[200];
        assert_int_not_equal(wk_backward(wk_sum(y)), WK_OK);
        snprintf(backward, sizeof backward, "or wk_clone it before (backward called at %s", at("", __LINE__ - 1));
        expect_error(made,
                     how < 5 ? "mul: backward needs the original value of its second operand"
                             : "own: backward needs saved tensor 0",
                     place, backward, how == 4 ? "the last of 2" : "", NULL);
    }
}

static void an_input_listed_twice(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf(1, 2), *y = wk_mul(x, x), *grads[3];
    assert_int_equal(wk_grad((wk_sum(y)), (x, y, x), grads), WK_OK);
    EXPECT_VALUES(grads[1], 0, 1, 1);
    wk_mul_(grads[0], 2); /* each belongs to the program */
    EXPECT_VALUES(grads[0], 0, 4, 8);
    EXPECT_VALUES(grads[2], 0, 2, 4);
    expect_ok();
}

/* Backward adds to it, and clipping writes it. */
static void a_gradient_that_was_expanded(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf(1, 2), *one = wk_of(double, (1), 3), *dense = wk_of(double, (2), 3, 4);
    assert_int_equal(wk_set_grad(x, wk_expand(one, (2))), WK_OK);
    EXPECT_VALUES(wk_grad_of(x), 0, 3, 3);
    wk_backward(wk_sum(x));
    EXPECT_VALUES(wk_grad_of(x), 0, 4, 4);
    assert_int_equal(wk_set_grad(x, wk_expand(one, (2))), WK_OK);
    wk_clip_grad_norm_(wk_list((x)), 1);
    EXPECT_VALUES(wk_mul(wk_grad_of(x), wk_grad_of(x)), 1e-6, 0.5, 0.5);
    EXPECT_VALUES(one, 0, 3);
    assert_int_equal(wk_set_grad(x, dense), WK_OK);
    assert_ptr_equal(wk_grad_of(x), dense);
    expect_ok();
}

static void a_leaf_is_not_its_own_gradient(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf(1, 2);
    assert_int_equal(wk_set_grad(x, x), WK_ERR_ARGUMENT);
    expect_error("set_grad", "wk_clone", NULL);
    assert_int_equal(wk_set_grad(x, wk_detach(x)), WK_ERR_ARGUMENT);
    expect_error("set_grad", "wk_clone", NULL);
    assert_int_equal(wk_set_grad(x, wk_clone(wk_detach(x))), WK_OK);
    wk_backward(wk_sum(x));
    EXPECT_VALUES(x, 0, 1, 2);
    EXPECT_VALUES(wk_grad_of(x), 0, 2, 3);
}

static wk_tensor *owner, *other;
static wk_optim *trains;
static float borrowed[2];

static void ask(void *user)
{
    wk_tensor *now = wk_grad_of(owner);
    if (now) wk_numel(now);
    *(wk_tensor **)user = now;
}
static void set_another(void *user)
{
    (void)user;
    wk_set_grad(owner, other);
}
static void free_optimiser(void *user)
{
    (void)user;
    wk_free(trains);
}

/* Only the leaf references it: its memory is released when the leaf releases it. */
static void set_borrowed(wk_tensor *x, void (*release)(void *user), void *user)
{
    WK_SCOPE;
    assert_int_equal(wk_set_grad(x, wk_borrow(borrowed, (2), release, user)), WK_OK);
}

/* Calls made while the old gradient is released find the leaf with the new one, or with none. */
static void the_old_gradient_is_released_last(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *seen = NULL, *plain = wk_ones((2)), *next = wk_ones((2));
    owner = wk_ones((2), .requires_grad = true), other = wk_full((2), 3.0);
    wk_tensor *second = wk_ones((2), .requires_grad = true);
    seen = plain;
    set_borrowed(owner, ask, &seen);
    assert_int_equal(wk_set_grad(owner, NULL), WK_OK);
    assert_null(seen);
    set_borrowed(owner, ask, &seen);
    assert_int_equal(wk_set_grad(owner, next), WK_OK);
    assert_ptr_equal(seen, next);
    set_borrowed(owner, set_another, NULL);
    assert_int_equal(wk_set_grad(owner, next), WK_OK);
    assert_ptr_equal(wk_grad_of(owner), other); /* the last one that was set */
    trains = wk_retain(wk_optim_sgd(wk_list((owner, second)), .lr = 1));
    set_borrowed(owner, free_optimiser, NULL);
    wk_set_grad(second, other);
    {
        WK_SCOPE;
        wk_optim_zero_grad(trains);
    }
    assert_null(wk_grad_of(owner));
    assert_null(wk_grad_of(second));
    wk_backward(wk_sum(wk_mul(owner, 2)));
    EXPECT_VALUES(wk_grad_of(owner), 0, 2, 2);
    expect_ok();
}

static jmp_buf back;

static void jump(void *user, wk_code code, const char *text)
{
    (void)user, (void)code, (void)text;
    longjmp(back, 1);
}
static void fail_in_release(void *user)
{
    (void)user;
    wk_neg(NULL);
}

static void a_handler_jumps_while_a_gradient_is_released(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((2), .requires_grad = true), *next = wk_full((2), 3.0);
    for (int k = 0; k < 2; k++) {
        set_borrowed(x, fail_in_release, NULL);
        wk_guard scope = wk_scope_open(WK_HERE);
        wk_set_error_handler(jump, NULL);
        if (!setjmp(back)) wk_set_grad(x, k ? next : NULL);
        wk_set_error_handler(NULL, NULL);
        wk_guard_close(&scope);
        expect_error("neg", NULL);
        assert_ptr_equal(wk_grad_of(x), k ? next : NULL);
    }
    wk_backward(wk_sum(x));
    EXPECT_VALUES(wk_grad_of(x), 0, 4, 4);
    expect_ok();
}

static wk_tensor *replace_by(wk_tensor *grad, void *user)
{
    (void)grad;
    return user;
}

/* PyTorch: without create_graph the gradient of a leaf requires no grad, whatever backward starts with. */
static void a_gradient_has_no_history(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *w = leaf(3, 5);
    for (int how = 0; how < 4; how++) {
        wk_memory_stats before = {.size = sizeof before}, after = {.size = sizeof after};
        wk_memory_stats_of(wk_cpu(), &before);
        {
            WK_SCOPE;
            wk_tensor *x = leaf(1, 2), *start = how == 0 ? x : how == 1 ? w : wk_mul(w, 1);
            if (how == 3) wk_register_hook(x, replace_by, w);
            assert_int_equal(wk_backward(how == 0 ? x : wk_add(x, 1), .gradient = start), WK_OK);
            assert_false(wk_requires_grad(wk_grad_of(x)));
            assert_int_equal(wk_backward(wk_sum(wk_mul(x, wk_grad_of(x)))), WK_OK);
            EXPECT_VALUES(wk_grad_of(x), 0, how == 0 ? 2 : 6, how == 0 ? 4 : 10);
        }
        wk_memory_stats_of(wk_cpu(), &after);
        assert_int_equal(after.live, before.live);
    }
    assert_null(wk_grad_of(w));
    wk_clear_error();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_input_listed_twice),
        cmocka_unit_test(a_gradient_that_was_expanded),
        cmocka_unit_test(a_leaf_is_not_its_own_gradient),
        cmocka_unit_test(the_old_gradient_is_released_last),
        cmocka_unit_test(a_handler_jumps_while_a_gradient_is_released),
        cmocka_unit_test(results_and_scores_may_be_written),
        cmocka_unit_test(gradients_far_below_0),
        cmocka_unit_test(a_frozen_leaf_gets_no_gradient),
        cmocka_unit_test(an_empty_leaf_of_cat),
        cmocka_unit_test(gradients_of_other_tensors),
        cmocka_unit_test(changed_values_are_reported_with_both_calls),
        cmocka_unit_test(a_gradient_has_no_history),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
