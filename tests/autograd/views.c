/* SPDX-License-Identifier: Apache-2.0 */
/* Tests in-place writes under autograd: a view rebases its base, siblings follow, saved values are guarded. Expected
 * values are PyTorch's for the same lines. */
#include "support/wick.h"

static wk_tensor *leaf(double a, double b)
{
    return wk_requires_grad_(wk_of(double, (2), a, b), true);
}

static wk_tensor *row(wk_tensor *m, int64_t k)
{
    return wk_as_strided_at(WK_HERE, m, (int64_t[]){2}, (int64_t[]){1}, 1, 2 * k);
}

static void a_view_rebases_its_base(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *w = leaf(1, 2), *m = wk_zeros((2, 2), .dtype = WK_F64), *v = row(m, 0);
    wk_mul_(wk_add_(v, w), 3);
    assert_non_null(strstr(wk_tensor_str(m), "grad_fn=<CopySlices>"));
    assert_non_null(strstr(wk_tensor_str(v), "grad_fn=<AsStridedBackward0>"));
    assert_int_equal(wk_backward(wk_sum(wk_mul(m, m))), WK_OK);
    EXPECT_VALUES(wk_grad_of(w), 1e-12, 18, 36);
}

static void siblings_see_the_write(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *w = leaf(1, 2), *m = wk_mul(wk_ones((2, 2), .dtype = WK_F64), 1), *one = row(m, 0), *same = row(m, 0);
    wk_mul_(one, w);
    assert_true(wk_requires_grad(same));
    assert_int_equal(wk_backward(wk_sum(wk_mul(same, same))), WK_OK);
    EXPECT_VALUES(wk_grad_of(w), 1e-12, 2, 4);
}

/* The same if a sibling was not used before: its next use, in an op or in place, updates it. */
static void siblings_are_updated_when_used(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *w = leaf(1, 2), *m = wk_mul(wk_ones((2, 2), .dtype = WK_F64), 1), *one = row(m, 0), *read = row(m, 0);
    wk_mul_(one, w);
    assert_int_equal(wk_backward(wk_sum(wk_mul(read, read))), WK_OK);
    EXPECT_VALUES(wk_grad_of(w), 1e-12, 2, 4);
    wk_set_grad(w, NULL);
    m = wk_mul(wk_ones((2, 2), .dtype = WK_F64), 1);
    wk_tensor *written = row(m, 0), *filled = row(m, 0);
    wk_mul_(row(m, 0), w);
    wk_mul_(written, w); /* its row is w^2 */
    assert_int_equal(wk_backward(wk_sum(m)), WK_OK);
    EXPECT_VALUES(wk_grad_of(w), 1e-12, 2, 4);
    assert_null(wk_eq_(filled, 1)); /* no gradient flows through a comparison */
    expect_error("eq", "requires grad", NULL);
}

/* A detached tensor remains detached whatever becomes of its storage, and writing it in place does not change the
 * history of the others. */
static void detached_tensors_stay_detached(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *w = leaf(1, 2), *m = wk_mul(wk_ones((2, 2), .dtype = WK_F64), 1), *apart = wk_detach(m);
    wk_mul_(row(m, 0), w);
    assert_false(wk_requires_grad(apart));
    assert_false(wk_requires_grad(wk_mul(apart, 2)));
    EXPECT_VALUES(apart, 0, 1, 2, 1, 1); /* the values are the same */
    wk_mul_(apart, 3);
    assert_false(wk_requires_grad(apart));
    assert_int_equal(wk_backward(wk_sum(m)), WK_OK);
    EXPECT_VALUES(wk_grad_of(w), 1e-12, 1, 1);
}

/* The values of a leaf may be changed through a detached tensor, as in PyTorch; a graph that saved the old ones reports
 * it. */
static void a_detached_leaf_can_be_written(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf(1, 2), *apart = wk_detach(x), *square = wk_mul(x, x), *twice = wk_mul(x, 2);
    assert_ptr_equal(wk_add_(apart, 1), apart);
    wk_mul_(wk_narrow(apart, 0, 0, 1), 5); /* a view of a detached tensor is detached, too */
    EXPECT_VALUES(x, 0, 10, 3);
    assert_true(wk_requires_grad(x));
    assert_false(wk_requires_grad(row(apart, 0)));
    assert_int_equal(wk_backward(wk_sum(twice)), WK_OK);
    EXPECT_VALUES(wk_grad_of(x), 0, 2, 2);
    assert_int_not_equal(wk_backward(wk_sum(square)), WK_OK);
    expect_error("it was modified in place", NULL);
    assert_null(wk_add_(wk_narrow(x, 0, 0, 1), 1)); /* a view that is not detached is still refused */
    expect_error("leaf", NULL);
}

/* They do not share history with their base, in either direction. */
static void views_of_detached_tensors(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *w = leaf(1, 2), *m = wk_mul(wk_ones((2, 2), .dtype = WK_F64), 1), *apart = wk_detach(m);
    wk_tensor *before = row(apart, 1);
    wk_mul_(row(m, 0), w);
    assert_false(wk_requires_grad(before));
    assert_false(wk_requires_grad(row(apart, 0)));
    wk_tensor *m2 = wk_ones((2, 2), .dtype = WK_F64), *apart2 = wk_detach(m2);
    wk_tensor *sibling = row(apart2, 0), *again = wk_detach(row(apart2, 0));
    assert_non_null(wk_mul_(row(apart2, 0), w));
    EXPECT_VALUES(apart2, 0, 1, 2, 1, 1);
    assert_non_null(wk_mul_(apart2, w));
    assert_true(wk_requires_grad(apart2));
    assert_false(wk_requires_grad(m2));
    assert_false(wk_requires_grad(row(m2, 0)));
    assert_false(wk_requires_grad(again));
    assert_int_equal(wk_backward(wk_sum(wk_mul(sibling, w)), .retain_graph = true), WK_OK); /* w^3 */
    EXPECT_VALUES(wk_grad_of(w), 1e-12, 3, 12);
    wk_set_grad(w, NULL);
    wk_free(apart2);
    wk_mul_(sibling, w), wk_mul_(sibling, 2);
    assert_int_equal(wk_backward(wk_sum(sibling)), WK_OK); /* 2 w^3 */
    EXPECT_VALUES(wk_grad_of(w), 1e-12, 6, 24);
}

static void double_forward(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    (void)f;
    out[0] = wk_transpose(wk_mul(in[0], 2), 0, 1);
}

static void double_backward(wk_function *f, wk_tensor *const grad_out[], wk_tensor *grad_in[])
{
    (void)f;
    grad_in[0] = wk_transpose(wk_mul(grad_out[0], 2), 0, 1);
}

/* The result of a function is a base like any other, although it is a view of a tensor of forward. */
static void results_of_functions_can_be_written(void **state)
{
    (void)state;
    static const wk_function_kind kind = {.size = sizeof kind,
                                          .name = "doubled",
                                          .inputs = 1,
                                          .outputs = 1,
                                          .forward = double_forward,
                                          .backward = double_backward};
    WK_SCOPE;
    wk_tensor *x = wk_requires_grad_(wk_of(double, (2, 2), 1, 2, 3, 4), true), *w = leaf(10, 20);
    wk_tensor *y = wk_apply(&kind, NULL, (x)); /* 2 6 / 4 8 */
    assert_non_null(wk_mul_(wk_select(y, 0, 1), w));
    assert_non_null(wk_add_(y, 1));
    EXPECT_VALUES(y, 0, 3, 7, 41, 161);
    assert_int_equal(wk_backward(wk_sum(y)), WK_OK);
    EXPECT_VALUES(wk_grad_of(x), 1e-12, 2, 20, 2, 40);
    EXPECT_VALUES(wk_grad_of(w), 1e-12, 4, 8);
}

/* out: the transpose of x^3, and x^2; saved: both, and x + 1, which counts as constant */
static void powers_forward(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    wk_tensor *more = wk_add(in[0], 1);
    wk_function_save(f, more);
    wk_free(more);
    out[1] = wk_mul(in[0], in[0]);
    wk_function_save(f, out[1]);
    out[0] = wk_transpose(wk_mul(out[1], in[0]), 0, 1);
    wk_function_save(f, out[0]);
}

/* 3 x^2 of the first; of the second (x + 1) x^2, which is not a true gradient, plus 3 times the first's transpose */
static void powers_backward(wk_function *f, wk_tensor *const grad_out[], wk_tensor *grad_in[])
{
    if (grad_out[0]) grad_in[0] = wk_mul(wk_mul(wk_transpose(grad_out[0], 0, 1), wk_function_saved(f, 1)), 3);
    if (!grad_out[1]) return;
    wk_tensor *cube = wk_transpose(wk_function_saved(f, 2), 0, 1);
    wk_tensor *sum = wk_add(wk_mul(wk_function_saved(f, 0), wk_function_saved(f, 1)), wk_mul(cube, 3));
    sum = wk_mul(grad_out[1], sum);
    grad_in[0] = grad_in[0] ? wk_add(grad_in[0], sum) : sum;
}

/* Results that forward returns and saves are connected to the call, as in PyTorch; the graph is freed nevertheless. */
static void saved_results_have_gradients(void **state)
{
    (void)state;
    static const wk_function_kind kind = {.size = sizeof kind,
                                          .name = "powers",
                                          .inputs = 1,
                                          .outputs = 2,
                                          .forward = powers_forward,
                                          .backward = powers_backward};
    WK_SCOPE;
    wk_tensor *x = wk_requires_grad_(wk_of(double, (1, 2), 2, 3), true), *out[2], *first, *second;
    for (int written = 0; written < 2; written++) { /* a write to the result does not change saved values */
        assert_int_equal(wk_apply_n(&kind, NULL, (x), out), WK_OK);
        if (written) wk_mul_(out[0], 1), wk_zero_(out[1]);
        assert_int_equal(wk_grad((wk_sum(out[0])), (x), &first, .create_graph = true), WK_OK);
        EXPECT_VALUES(first, 1e-12, 12, 27); /* 3 y, y = x^2 */
        assert_int_equal(wk_grad((wk_sum(first)), (x), &second), WK_OK);
        EXPECT_VALUES(second, 1e-12, 3 * (3 * 4 + 3 * 8), 3 * (4 * 9 + 3 * 27)); /* 3 ((x + 1) y + 3 x^3) */
    }
    assert_int_equal(wk_apply_n(&kind, NULL, (x), out), WK_OK);
    assert_int_equal(wk_grad((wk_sum(out[1])), (x), &first, .create_graph = true), WK_OK);
    EXPECT_VALUES(first, 1e-12, 36, 117); /* s y + 3 c, s = 1 + x being constant, c = x^3 */
    assert_int_equal(wk_grad((wk_sum(first)), (x), &second), WK_OK);
    EXPECT_VALUES(second, 1e-12, 3 * 36 + 9 * 4, 4 * 117 + 9 * 9); /* s dy + 3 dc, dy = s y + 3 c, dc = 3 y */
}

static void overwriting_cuts_the_old_history(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *w = leaf(1, 2), *u = leaf(5, 7), *x = wk_mul(w, 3);
    wk_copy_(x, u);
    assert_int_equal(wk_backward(wk_sum(wk_mul(x, x))), WK_OK);
    EXPECT_VALUES(wk_grad_of(u), 1e-12, 10, 14);
    EXPECT_VALUES(wk_grad_of(w), 1e-12, 0, 0);
}

static void in_place_saves_what_it_overwrites(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *w = leaf(2, 3), *x = wk_mul(w, 1);
    wk_mul_(x, w); /* w^2: the gradient for the second operand needs the old x */
    assert_int_equal(wk_backward(wk_sum(x)), WK_OK);
    EXPECT_VALUES(wk_grad_of(w), 1e-12, 4, 6);
}

static void a_changed_saved_value_is_an_error(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *w = leaf(1, 2), *x = wk_mul(w, 1), *y = wk_exp(x);
    wk_add_(y, 1);
    assert_int_not_equal(wk_backward(wk_sum(y)), WK_OK);
    expect_error("exp", "in place", "autograd/views.c", NULL);
}

static void a_leaf_cannot_be_written(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *w = leaf(1, 2);
    assert_null(wk_add_(w, 1));
    expect_error("add_", "leaf", "WK_NO_GRAD", NULL);
    {
        WK_NO_GRAD;
        wk_add_(w, 1);
    }
    EXPECT_VALUES(w, 0, 2, 3);
    assert_null(wk_mul_(wk_expand(wk_ones((1)), (4)), 2));
    expect_error("mul_", "share memory", NULL);
}

/* The same if the leaf is a view itself: its base, live or freed, does not require grad. */
static void a_leaf_that_is_a_view_cannot_be_written(void **state)
{
    (void)state;
    WK_SCOPE;
    for (int freed = 0; freed < 2; freed++) {
        wk_tensor *base = wk_zeros((4), .dtype = WK_F64), *x = wk_requires_grad_(wk_reshape(base, (2, 2)), true);
        wk_tensor *part = wk_select(x, 0, 0);
        if (freed) wk_free(base);
        wk_tensor *later = wk_select(x, 0, 1), *of_part = wk_select(part, 0, 0);
        wk_tensor *const written[] = {x, part, later, of_part};
        for (int k = 0; k < 4; k++) {
            assert_null(wk_fill_(written[k], 1));
            expect_error("fill_: cannot modify a leaf that requires grad (or a view of one) in place", NULL);
        }
        assert_null(wk_set(x, (0, 0), 1));
        expect_error("set: cannot modify a leaf that requires grad", NULL);
        {
            WK_NO_GRAD;
            wk_fill_(wk_select(x, 0, 0), 1);
        }
        if (!freed) wk_fill_(wk_select(base, 0, 3), 2); /* the base is no leaf that requires grad */
        EXPECT_VALUES(x, 0, 1, 1, 0, freed ? 0 : 2);
        wk_backward(wk_sum(wk_mul(wk_select(x, 0, 0), 3)));
        EXPECT_VALUES(wk_grad_of(x), 0, 3, 3, 0, 0);
    }
}

/* Objects held by a graph are freed with it, though no backward consumed it: results saved by their own nodes, written
 * in place or not, with and without views. */
static void an_unused_graph_is_freed(void **state)
{
    (void)state;
    WK_SCOPE;
    enum { SIDE = 256 };
    wk_tensor *w = wk_retain(wk_ones((SIDE, SIDE), .requires_grad = true));
    wk_memory_stats before = {.size = sizeof before}, after = before;
    wk_sync();
    wk_memory_stats_of(wk_cpu(), &before);
    for (int k = 0; k < 4; k++) {
        WK_SCOPE;
        wk_tensor *y = wk_exp(w), *z = wk_sigmoid(wk_mul(y, y)), *in_place = wk_exp_(wk_mul(w, 2));
        wk_tensor *base = wk_exp(w), *view = wk_select(base, 0, 1), *written = wk_tanh_(wk_select(wk_exp(w), 0, 2));
        wk_free(base);
        assert_true(wk_requires_grad(view) && wk_requires_grad(written) && wk_requires_grad(z));
        wk_item(wk_sum(wk_add(wk_add(z, in_place), wk_add(view, written))));
    }
    wk_sync();
    wk_memory_stats_of(wk_cpu(), &after);
    assert_int_equal(after.live, before.live);
    wk_free(w);
}

static void operands_are_read_before_an_overlapping_write(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(float, (5), 1, 2, 3, 4, 5);
    wk_tensor *head = wk_as_strided_at(WK_HERE, x, (int64_t[]){4}, (int64_t[]){1}, 1, 0);
    wk_tensor *tail = wk_as_strided_at(WK_HERE, x, (int64_t[]){4}, (int64_t[]){1}, 1, 1);
    wk_add_(tail, head);
    EXPECT_VALUES(x, 0, 1, 3, 5, 7, 9);
}

static void a_parked_value_ignores_later_writes(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *z = wk_of(float, (3), 1, 2, 3), *sum = wk_add(z, 2);
    wk_sync();
    wk_fill_(z, 100);
    EXPECT_VALUES(sum, 0, 3, 4, 5);
    EXPECT_VALUES(z, 0, 100, 100, 100);
}

static void gradients_accumulate_and_second_order_works(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf(2, 3), *y = wk_sum(wk_mul(wk_mul(x, x), x)), *g[1];
    assert_int_equal(wk_grad((y), (x), g, .create_graph = true), WK_OK);
    EXPECT_VALUES(g[0], 1e-12, 12, 27);
    assert_int_equal(wk_backward(wk_sum(g[0])), WK_OK);
    EXPECT_VALUES(wk_grad_of(x), 1e-12, 12, 18);
    assert_int_equal(wk_backward(wk_sum(wk_mul(x, 2))), WK_OK);
    EXPECT_VALUES(wk_grad_of(x), 1e-12, 14, 20);
}

static void a_second_backward_needs_the_graph(void **state)
{
    (void)state;
    WK_SCOPE;
    char first[200], second[200], made[200];
    wk_tensor *x = leaf(2, 3), *y = wk_sum(wk_mul(x, x));
    assert_int_equal(wk_backward(y, .retain_graph = true), WK_OK);
    assert_int_equal(wk_backward(y), WK_OK);
    EXPECT_VALUES(wk_grad_of(x), 1e-12, 8, 12);
    assert_int_not_equal(wk_backward(y), WK_OK);
    snprintf(first, sizeof first, "sum: the graph was freed by the backward at %s:%d", __FILE__, __LINE__ - 3);
    snprintf(second, sizeof second, "and is needed again by the backward at %s:%d", __FILE__, __LINE__ - 2);
    snprintf(made, sizeof made, "%s:%d: ", __FILE__, __LINE__ - 7);
    expect_error(made, first, second, "retain_graph", NULL);
}

static wk_tensor *doubled(wk_tensor *grad, void *user)
{
    ++*(int *)user;
    return wk_mul(grad, 2);
}

static void hooks_run_in_order(void **state)
{
    (void)state;
    WK_SCOPE;
    int calls = 0;
    wk_tensor *x = leaf(1, 1), *y = wk_mul(x, 3);
    assert_int_equal(wk_register_hook(y, doubled, &calls), WK_OK);
    assert_int_equal(wk_register_hook(x, doubled, &calls), WK_OK);
    assert_int_equal(wk_backward(wk_sum(y)), WK_OK);
    assert_int_equal(calls, 2);
    EXPECT_VALUES(wk_grad_of(x), 1e-12, 12, 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_view_rebases_its_base),
        cmocka_unit_test(siblings_see_the_write),
        cmocka_unit_test(siblings_are_updated_when_used),
        cmocka_unit_test(detached_tensors_stay_detached),
        cmocka_unit_test(a_detached_leaf_can_be_written),
        cmocka_unit_test(views_of_detached_tensors),
        cmocka_unit_test(results_of_functions_can_be_written),
        cmocka_unit_test(saved_results_have_gradients),
        cmocka_unit_test(overwriting_cuts_the_old_history),
        cmocka_unit_test(in_place_saves_what_it_overwrites),
        cmocka_unit_test(a_changed_saved_value_is_an_error),
        cmocka_unit_test(a_leaf_cannot_be_written),
        cmocka_unit_test(a_leaf_that_is_a_view_cannot_be_written),
        cmocka_unit_test(an_unused_graph_is_freed),
        cmocka_unit_test(operands_are_read_before_an_overlapping_write),
        cmocka_unit_test(a_parked_value_ignores_later_writes),
        cmocka_unit_test(gradients_accumulate_and_second_order_works),
        cmocka_unit_test(a_second_backward_needs_the_graph),
        cmocka_unit_test(hooks_run_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
