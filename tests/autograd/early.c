/* SPDX-License-Identifier: Apache-2.0 */
/* Tests priority nodes (wk__node_prioritize): they run once all their gradients have arrived, other nodes in the
 * reverse order of calls. Hooks of leaves behind the nodes record the order. */
#include "support/wick.h"

#include "autograd/node.h"
#include "base/alloc.h"

static char order[8];

static wk_tensor *record_leaf(wk_tensor *grad, void *user)
{
    (void)grad;
    strncat(order, user, 1);
    return NULL;
}

static wk_tensor *leaf(char *name)
{
    wk_tensor *x = wk_requires_grad_(wk_of(double, (2), 1, 2), true);
    wk_register_hook(x, record_leaf, name);
    return x;
}

/* 3 x, the first call, which runs last unless it has priority. */
static wk_tensor *tripled(wk_tensor *x, bool early)
{
    wk_tensor *y = wk_mul(x, 3);
    if (early) wk__node_prioritize(wk__body_of(y)->node);
    return y;
}

static void expect_order(wk_tensor *loss, const char *expected)
{
    order[0] = '\0';
    assert_int_equal(wk_backward(loss), WK_OK);
    assert_string_equal(order, expected);
}

/* Its only gradient arrives first. */
static void priority_nodes_run_before_later_calls(void **state)
{
    (void)state;
    for (int early = 0; early < 2; early++) {
        WK_SCOPE;
        wk_tensor *x = leaf("x"), *w = leaf("w"), *y = tripled(x, early), *z = wk_exp(wk_mul(w, 2));
        expect_order(wk_add(wk_sum(z), wk_sum(y)), early ? "xw" : "wx");
        EXPECT_VALUES(wk_grad_of(x), 0, 3, 3);
    }
}

/* Two gradients: the second arrives through v, and the node waits for it; w comes later. */
static void priority_nodes_wait_for_all_gradients(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf("x"), *w = leaf("w"), *v = leaf("v"), *y = tripled(x, true);
    wk_tensor *late = wk_mul(w, 2), *both = wk_mul(wk_mul(v, 1), y);
    expect_order(wk_add(wk_add(wk_sum(late), wk_sum(both)), wk_sum(y)), "xvw");
    EXPECT_VALUES(wk_grad_of(x), 0, 6, 9);
    EXPECT_VALUES(wk_grad_of(v), 0, 3, 6);
}

static void same(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    (void)f;
    out[0] = wk_clone(in[0]);
}

static void no_gradient(wk_function *f, wk_tensor *const grad_out[], wk_tensor *grad_in[])
{
    (void)f, (void)grad_out;
    grad_in[0] = NULL;
}

static const wk_function_kind stops = {
    .size = sizeof stops, .name = "stops", .inputs = 1, .outputs = 1, .forward = same, .backward = no_gradient};

/* A call behind one without a gradient never runs; a node that waits for it runs in the order of calls. */
static void priority_nodes_behind_a_missing_gradient(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf("x"), *w = leaf("w"), *y = tripled(x, true), *z = wk_exp(w);
    wk_tensor *cut = wk_apply(&stops, NULL, (wk_mul(y, 5)));
    expect_order(wk_add(wk_add(wk_sum(z), wk_sum(cut)), wk_sum(y)), "wx");
    EXPECT_VALUES(wk_grad_of(x), 0, 3, 3);
}

/* Only the path to y is traversed, several times. */
static void priority_nodes_in_wk_grad(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf("x"), *y = tripled(x, true), *loss = wk_sum(wk_mul(y, y));
    for (int k = 0; k < 3; k++) {
        wk_tensor *grad[2];
        assert_int_equal(wk_grad((loss), (x, y), grad, .retain_graph = true), WK_OK);
        EXPECT_VALUES(grad[0], 0, 18, 36);
        EXPECT_VALUES(grad[1], 0, 6, 12);
    }
    assert_null(wk_grad_of(x));
    assert_null(wk_error());
}

/* Second derivatives: the pass extends the graph, and traverses the extension. */
static void priority_nodes_of_second_order(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf("x"), *y = tripled(x, true), *first[1], *second[1];
    assert_int_equal(wk_grad((wk_sum(wk_mul(wk_mul(y, y), y))), (x), first, .create_graph = true), WK_OK);
    EXPECT_VALUES(first[0], 0, 81, 324);
    assert_int_equal(wk_grad((wk_sum(first[0])), (x), second), WK_OK);
    EXPECT_VALUES(second[0], 0, 162, 324);
}

/* Several roots; one is the result of the priority call itself. */
static void priority_nodes_with_several_roots(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf("x"), *y = tripled(x, true), *ones = wk_ones((2), .dtype = WK_F64);
    wk_tensor *results[] = {wk_sum(wk_mul(y, y)), y, wk_sum(y)}, *seeds[] = {NULL, ones, NULL}, *grad[1];
    assert_int_equal(wk_grad_at(WK_HERE, results, 3, &x, 1, grad,
                                &(wk_grad_options){.size = sizeof(wk_grad_options), .grad_outputs = seeds}),
                     WK_OK);
    EXPECT_VALUES(grad[0], 0, 24, 42);
}

/* A hook on the path to the priority call traverses it in a nested pass. */
static wk_tensor *runs_backward(wk_tensor *grad, void *loss)
{
    (void)grad;
    assert_int_equal(wk_backward(loss, .retain_graph = true), WK_OK);
    return NULL;
}

static void priority_nodes_in_nested_passes(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = leaf("x"), *y = tripled(x, true), *z = wk_mul(y, 2), *inner = wk_sum(wk_mul(y, 5));
    wk_register_hook(z, runs_backward, inner);
    order[0] = '\0';
    assert_int_equal(wk_backward(wk_add(wk_sum(z), wk_sum(y)), .retain_graph = true), WK_OK);
    assert_string_equal(order, "xx");
    EXPECT_VALUES(wk_grad_of(x), 0, 24, 24);
}

/* If allocation fails for counts or a list, nodes run in the order of calls. */
static void priority_nodes_without_memory(void **state)
{
    (void)state;
    bool met = true, late = false;
    for (int n = 1; met; n++) {
        WK_SCOPE;
        wk_tensor *x = leaf("x"), *w = leaf("w"), *y = tripled(x, true), *z = wk_exp(wk_mul(w, 2));
        wk_tensor *loss = wk_add(wk_sum(z), wk_sum(y));
        wk_flush();
        order[0] = '\0';
        wk__alloc_fail_at(n);
        const int64_t before = wk__alloc_count();
        const wk_code code = wk_backward(loss);
        met = wk__alloc_count() - before >= n;
        wk__alloc_fail_at(0);
        if (code == WK_OK) {
            assert_true(strcmp(order, "xw") == 0 || strcmp(order, "wx") == 0);
            late = late || strcmp(order, "wx") == 0;
            EXPECT_VALUES(wk_grad_of(x), 0, 3, 3);
        }
        wk_clear_error();
    }
    assert_true(late);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(priority_nodes_run_before_later_calls),
        cmocka_unit_test(priority_nodes_wait_for_all_gradients),
        cmocka_unit_test(priority_nodes_behind_a_missing_gradient),
        cmocka_unit_test(priority_nodes_in_wk_grad),
        cmocka_unit_test(priority_nodes_of_second_order),
        cmocka_unit_test(priority_nodes_with_several_roots),
        cmocka_unit_test(priority_nodes_in_nested_passes),
        cmocka_unit_test(priority_nodes_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
