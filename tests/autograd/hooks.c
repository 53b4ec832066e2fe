/* SPDX-License-Identifier: Apache-2.0 */
/* Tests hooks and custom functions that misbehave or do unusual things: they free, write and keep their tensors, call
 * backward, register more hooks. */
#include "support/wick.h"

static wk_tensor *leaf(void)
{
    return wk_requires_grad_(wk_of(double, (2), 1, 2), true);
}

static int calls;
static wk_tensor *subject, *kept;

static wk_tensor *frees_it(wk_tensor *grad, void *user)
{
    (void)user;
    wk_free(grad);
    return NULL;
}

static wk_tensor *frees_and_returns_it(wk_tensor *grad, void *user)
{
    (void)user;
    wk_free(grad);
    return grad;
}

/* The library owns the gradient: freeing it is an error at that line, and backward fails. */
static void a_hook_frees_its_gradient(void **state)
{
    (void)state;
    wk_hook *const hooks[] = {frees_it, frees_and_returns_it};
    for (int how = 0; how < 6; how++) {
        WK_SCOPE;
        wk_tensor *x = leaf(), *y = wk_mul(x, 2);
        wk_register_hook(how % 3 == 0 ? y : x, hooks[how / 3], NULL, .post_accumulate = how % 3 == 2);
        assert_int_equal(wk_backward(wk_sum(wk_mul(y, 1))), WK_ERR_STATE);
        expect_error("autograd/hooks.c", "free: this tensor is in use by the library or owned by another object",
                     "in a hook", NULL);
        if (how % 3 < 2) assert_null(wk_grad_of(x));
    }
}

static wk_tensor *registers_another(wk_tensor *grad, void *user)
{
    (void)grad;
    const wk_hook_options *options = user;
    calls++;
    wk_register_hook(subject, registers_another, user, .post_accumulate = options->post_accumulate);
    return NULL;
}

/* A hook registered while hooks run first runs the next time. */
static void a_hook_registers_a_hook(void **state)
{
    (void)state;
    for (int how = 0; how < 3; how++) {
        WK_SCOPE;
        wk_hook_options options = {.post_accumulate = how == 2};
        wk_tensor *x = leaf(), *y = wk_mul(x, 2);
        subject = how == 0 ? y : x;
        wk_register_hook(subject, registers_another, &options, .post_accumulate = options.post_accumulate);
        const int expected[] = {1, 3, 7};
        calls = 0;
        for (int k = 0; k < 3; k++) {
            assert_int_equal(wk_backward(wk_sum(y), .retain_graph = true), WK_OK);
            assert_int_equal(calls, expected[k]);
        }
        EXPECT_VALUES(wk_grad_of(x), 0, 6, 6);
    }
}

static wk_tensor *doubles_it_in_place(wk_tensor *grad, void *user)
{
    (void)user;
    assert_ptr_equal(wk_mul_(grad, 2), grad);
    return NULL;
}
static wk_tensor *doubles_and_returns_it(wk_tensor *grad, void *user)
{
    (void)user;
    return wk_mul_(grad, 2);
}

/* A value that a hook writes over its gradient is the gradient of that tensor from then on, and of no other tensor with
 * the same gradient. */
static void a_hook_writes_its_gradient(void **state)
{
    (void)state;
    wk_hook *const hooks[] = {doubles_it_in_place, doubles_and_returns_it};
    for (int how = 0; how < 2; how++) {
        WK_SCOPE;
        wk_tensor *a = leaf(), *b = leaf(), *x = wk_mul(a, 3), *y = wk_mul(b, 3);
        wk_tensor *seed = wk_of(double, (2), 1, 10);
        wk_register_hook(x, hooks[how], NULL);
        assert_int_equal(wk_backward(wk_add(x, y), .gradient = seed), WK_OK);
        EXPECT_VALUES(wk_grad_of(a), 0, 6, 60);
        EXPECT_VALUES(wk_grad_of(b), 0, 3, 30);
        EXPECT_VALUES(seed, 0, 1, 10);
        wk_tensor *c = leaf(), *d = leaf();
        wk_register_hook(c, hooks[how], NULL);
        wk_register_hook(d, hooks[how], NULL, .post_accumulate = true);
        assert_int_equal(wk_backward(wk_add(c, d), .gradient = seed), WK_OK);
        EXPECT_VALUES(wk_grad_of(c), 0, 2, 20);
        EXPECT_VALUES(wk_grad_of(d), 0, 2, 20);
        EXPECT_VALUES(seed, 0, 1, 10);
    }
}

static wk_tensor *writes_with_history(wk_tensor *grad, void *user)
{
    wk_mul_(grad, (wk_tensor *)user);
    return NULL;
}

/* With create_graph the write is part of the graph. */
static void writes_of_a_hook_are_differentiable(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf(), *y = wk_mul(x, x), *g[1];
    wk_register_hook(y, writes_with_history, x);
    assert_int_equal(wk_grad((wk_sum(y)), (x), g, .create_graph = true), WK_OK); /* 2 x^2 */
    EXPECT_VALUES(g[0], 0, 2, 8);
    assert_int_equal(wk_backward(wk_sum(g[0])), WK_OK);
    EXPECT_VALUES(wk_grad_of(x), 0, 4, 8);
}

static wk_tensor *keeps_it(wk_tensor *grad, void *user)
{
    (void)user;
    kept = wk_keep(grad);
    return NULL;
}
static wk_tensor *retains_it(wk_tensor *grad, void *user)
{
    (void)user;
    kept = wk_retain(grad);
    return NULL;
}

/* wk_retain keeps the gradient with its current value; wk_keep moves only objects that the inner scope owns, and its
 * message names the remedy. */
static void a_hook_keeps_its_gradient(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf(), *y = wk_mul(x, 2);
    wk_register_hook(x, retains_it, NULL);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(wk_backward(wk_sum(y), .retain_graph = true), WK_OK);
        EXPECT_VALUES(kept, 0, 2, 2);
        wk_free(kept);
    }
    EXPECT_VALUES(wk_grad_of(x), 0, 4, 4);
    x = leaf();
    wk_register_hook(x, keeps_it, NULL);
    assert_int_equal(wk_backward(wk_sum(x)), WK_OK);
    assert_null(wk_add(kept, 1));
    expect_error("freed by the end of the call that it was passed to", "call wk_retain to keep it", NULL);
}

/* A gradient is freed with its leaf, which owns it: keep the leaf, or retain the gradient. */
static void a_gradient_is_freed_with_its_leaf(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *gradient, *retained;
    {
        WK_SCOPE;
        wk_tensor *x = leaf();
        assert_int_equal(wk_backward(wk_sum(x)), WK_OK);
        gradient = wk_keep(wk_grad_of(x)); /* the leaf owns it, so nothing moves */
    }
    assert_null(wk_add(gradient, 1));
    expect_error("a tensor that was freed with its tensor, whose scope has closed",
                 "to move that to the outer scope, or wk_retain", NULL);
    {
        WK_SCOPE;
        wk_tensor *x = leaf();
        assert_int_equal(wk_backward(wk_sum(x)), WK_OK);
        retained = wk_retain(wk_grad_of(x));
        wk_free(x);
    }
    EXPECT_VALUES(retained, 0, 1, 1);
    wk_free(retained);
}

static wk_tensor *frees_all(wk_tensor *grad, void *user)
{
    (void)grad;
    wk_tensor **all = user;
    for (int k = 0; k < 3; k++) wk_free(all[k]);
    return NULL;
}

/* The program's tensors may be freed during backward: leaf, result and root. */
static void a_hook_frees_the_program_s_tensors(void **state)
{
    (void)state;
    for (int how = 0; how < 3; how++) {
        WK_SCOPE;
        wk_tensor *w = leaf(), *x = leaf(), *y = wk_mul(x, w), *loss = wk_sum(y), *all[] = {x, y, loss}, *g[1];
        wk_register_hook(how == 0 ? x : how == 1 ? y : loss, frees_all, all);
        wk_tensor *again[] = {loss, loss};
        if (how < 2)
            assert_int_equal(wk_backward(loss), WK_OK);
        else
            assert_int_equal(wk_grad_at(WK_HERE, again, 2, &w, 1, g, NULL), WK_OK);
        EXPECT_VALUES(how < 2 ? wk_grad_of(w) : g[0], 0, how < 2 ? 1 : 2, how < 2 ? 2 : 4);
        assert_null(wk_add(x, 1));
        expect_error("freed", NULL);
    }
}

static wk_tensor *another_type(wk_tensor *grad, void *user)
{
    (void)user;
    return wk_to_dtype(grad, WK_F32);
}
static wk_tensor *another_shape(wk_tensor *grad, void *user)
{
    (void)user;
    return wk_sum(grad, .keepdim = true);
}
static wk_tensor *freed_tensor(wk_tensor *grad, void *user)
{
    (void)user;
    wk_tensor *mine = wk_mul(grad, 2);
    wk_free(mine);
    return mine;
}

/* A replacement of a gradient must have its shape and dtype, and must not be freed. */
static void a_hook_returns_an_invalid_gradient(void **state)
{
    (void)state;
    wk_hook *const hooks[] = {another_type, another_shape, freed_tensor};
    const char *const words[] = {"a hook returned f32[2]", "a hook returned f64[1]",
                                 "the result of a hook is a tensor that was freed"};
    for (int how = 0; how < 9; how++) {
        WK_SCOPE;
        wk_tensor *x = leaf(), *y = wk_mul(x, 2);
        wk_register_hook(how / 3 == 0 ? y : x, hooks[how % 3], NULL, .post_accumulate = how / 3 == 2);
        assert_int_not_equal(wk_backward(wk_sum(wk_mul(y, 1))), WK_OK);
        expect_error(words[how % 3], NULL);
    }
}

static wk_tensor *calls_backward(wk_tensor *grad, void *user)
{
    (void)grad;
    WK_ENABLE_GRAD; /* hooks run without grad mode, as gradients do */
    calls++;
    if (calls < 3) assert_int_equal(wk_backward(wk_sum(wk_mul((wk_tensor *)user, 10))), WK_OK);
    return NULL;
}
static wk_tensor *counts(wk_tensor *grad, void *user)
{
    (void)grad;
    ++*(int *)user;
    return NULL;
}
static wk_tensor *never_ends(wk_tensor *grad, void *user)
{
    (void)grad, (void)user;
    WK_ENABLE_GRAD;
    calls++;
    wk_backward(wk_sum(wk_mul(subject, 2)));
    return NULL;
}

/* A backward within a hook is a separate pass: post-accumulate hooks run once for each. Unlimited recursion is
 * reported. */
static void a_hook_calls_backward(void **state)
{
    (void)state;
    WK_SCOPE;
    int after = 0;
    wk_tensor *x = leaf(), *w = leaf(), *y = wk_mul(x, 2);
    wk_register_hook(y, calls_backward, w);
    wk_register_hook(w, counts, &after, .post_accumulate = true);
    calls = 0;
    assert_int_equal(wk_backward(wk_add(wk_sum(y), wk_sum(w))), WK_OK);
    EXPECT_VALUES(wk_grad_of(x), 0, 2, 2);
    EXPECT_VALUES(wk_grad_of(w), 0, 11, 11);
    assert_int_equal(after, 2);
    subject = leaf();
    wk_register_hook(subject, never_ends, NULL);
    calls = 0;
    assert_int_equal(wk_backward(wk_sum(subject)), WK_ERR_STATE);
    expect_error("backward: called by its own hooks, 60 deep", NULL);
    assert_int_equal(calls, 60);
    assert_int_equal(wk_backward(wk_sum(leaf())), WK_OK);
}

static wk_tensor *clears_gradient(wk_tensor *grad, void *user)
{
    (void)grad;
    wk_set_grad(subject, NULL);
    return user;
}

/* A hook may clear the gradient of the leaf that it is registered on. */
static void a_hook_clears_the_gradient(void **state)
{
    (void)state;
    for (int how = 0; how < 4; how++) {
        WK_SCOPE;
        subject = leaf();
        wk_register_hook(subject, clears_gradient, how % 2 ? wk_of(double, (2), 7, 7) : NULL,
                         .post_accumulate = how >= 2);
        assert_int_equal(wk_backward(wk_sum(subject)), WK_OK);
        if (how == 0) EXPECT_VALUES(wk_grad_of(subject), 0, 1, 1);
        if (how == 1) EXPECT_VALUES(wk_grad_of(subject), 0, 7, 7);
        if (how >= 2) assert_null(wk_grad_of(subject));
    }
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

static int way;

static void forward(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    wk_function_save(f, in[0]);
    out[0] = wk_mul(in[0], in[1]);
    if (way == 0) wk_free(in[0]), wk_free(in[1]);
}

static void backward(wk_function *f, wk_tensor *const grad_out[], wk_tensor *grad_in[])
{
    wk_tensor *x = wk_function_saved(f, 0);
    if (way == 1) wk_free(grad_out[0]);
    if (way == 2) wk_mul_(grad_out[0], 2);
    if (way == 3) wk_free(x), x = wk_function_saved(f, 0);
    grad_in[0] = grad_in[1] = grad_out[0];
    if (way == 4) grad_in[0] = wk_reshape(grad_out[0], (2)), grad_in[1] = grad_out[0];
    if (way == 5) wk_free(subject);
}

/* The same for the tensors passed to forward and backward. */
static void functions_free_and_write_their_tensors(void **state)
{
    (void)state;
    static const wk_function_kind kind = {
        .size = sizeof kind, .name = "sloppy", .inputs = 2, .outputs = 1, .forward = forward, .backward = backward};
    for (way = 0; way < 6; way++) {
        WK_SCOPE;
        wk_tensor *a = leaf(), *b = leaf(), *x = wk_mul(a, 1), *y = wk_mul(b, 1), *seed = wk_of(double, (2), 1, 10);
        wk_tensor *out = wk_apply(&kind, NULL, (x, y));
        subject = out;
        expect_ok();
        const wk_code code = wk_backward(out, .gradient = seed);
        if (way == 1) {
            assert_int_equal(code, WK_ERR_STATE);
            expect_error("free: this tensor is in use by the library or owned by another object",
                         "backward of \"sloppy\"", NULL);
            continue;
        }
        assert_int_equal(code, WK_OK);
        EXPECT_VALUES(wk_grad_of(a), 0, way == 2 ? 2 : 1, way == 2 ? 20 : 10);
        EXPECT_VALUES(wk_grad_of(b), 0, way == 2 ? 2 : 1, way == 2 ? 20 : 10);
        EXPECT_VALUES(seed, 0, 1, 10);
    }
}

static char order[8];

static wk_tensor *appends_name(wk_tensor *grad, void *user)
{
    (void)grad;
    const size_t length = strlen(order);
    order[length] = *(const char *)user;
    order[length + 1] = 0;
    return NULL;
}

static wk_tensor *expects_six_times(wk_tensor *grad, void *user)
{
    EXPECT_VALUES(grad, 0, 6, 12);
    return appends_name(grad, user);
}

/* Has a gradient for the first input only. */
static void gives_one(wk_function *f, wk_tensor *const grad_out[], wk_tensor *grad_in[])
{
    (void)f;
    grad_in[0] = wk_mul(grad_out[0], 6);
}
static void adds_both(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    (void)f;
    out[0] = wk_add(in[0], in[1]);
}

/* Post-accumulate hooks run during the pass once their leaf cannot receive more gradients: before earlier calls, after
 * the last of several uses, at the end if a use gets no gradient, and not at all if none does. */
static void post_accumulate_hooks_run_after_the_last_gradient(void **state)
{
    (void)state;
    static const wk_function_kind kind = {
        .size = sizeof kind, .name = "half", .inputs = 2, .outputs = 1, .forward = adds_both, .backward = gives_one};
    WK_SCOPE;
    wk_tensor *a = leaf(), *b = leaf(), *h = wk_mul(b, 2), *y = wk_mul(a, h);
    wk_register_hook(a, appends_name, "a", .post_accumulate = true);
    wk_register_hook(b, appends_name, "b", .post_accumulate = true);
    wk_register_hook(h, appends_name, "h");
    *order = 0;
    assert_int_equal(wk_backward(wk_sum(y)), WK_OK);
    assert_string_equal(order, "ahb");

    wk_tensor *w = leaf(), *early = wk_mul(w, 3), *late = wk_mul(w, early);
    wk_register_hook(w, expects_six_times, "w", .post_accumulate = true);
    wk_register_hook(early, appends_name, "e");
    *order = 0;
    assert_int_equal(wk_backward(wk_sum(late)), WK_OK);
    assert_string_equal(order, "ew");

    wk_tensor *u = leaf(), *v = leaf(), *before = wk_mul(v, 1);
    wk_register_hook(u, expects_six_times, "u", .post_accumulate = true);
    wk_register_hook(before, appends_name, "v");
    *order = 0;
    wk_tensor *seed = wk_of(double, (2), 1, 2);
    assert_int_equal(wk_backward(wk_apply(&kind, NULL, (wk_add(u, before), wk_mul(u, 1))), .gradient = seed), WK_OK);
    assert_string_equal(order, "vu");

    wk_tensor *old = leaf(), *other = leaf();
    assert_int_equal(wk_backward(wk_sum(old)), WK_OK);
    wk_register_hook(old, appends_name, "o", .post_accumulate = true);
    *order = 0;
    assert_int_equal(wk_backward(wk_apply(&kind, NULL, (other, old)), .gradient = seed), WK_OK);
    assert_string_equal(order, "");
    EXPECT_VALUES(wk_grad_of(old), 0, 1, 1);

    wk_tensor *root = leaf();
    wk_register_hook(root, appends_name, "r", .post_accumulate = true);
    *order = 0;
    assert_int_equal(wk_backward(root, .gradient = seed), WK_OK);
    assert_string_equal(order, "r");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hook_frees_its_gradient),
        cmocka_unit_test(a_hook_registers_a_hook),
        cmocka_unit_test(a_hook_writes_its_gradient),
        cmocka_unit_test(writes_of_a_hook_are_differentiable),
        cmocka_unit_test(a_hook_keeps_its_gradient),
        cmocka_unit_test(a_gradient_is_freed_with_its_leaf),
        cmocka_unit_test(a_hook_frees_the_program_s_tensors),
        cmocka_unit_test(a_hook_returns_an_invalid_gradient),
        cmocka_unit_test(a_hook_calls_backward),
        cmocka_unit_test(a_hook_clears_the_gradient),
        cmocka_unit_test(post_accumulate_hooks_run_after_the_last_gradient),
        cmocka_unit_test(functions_free_and_write_their_tensors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
