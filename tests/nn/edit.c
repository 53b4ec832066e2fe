/* SPDX-License-Identifier: Apache-2.0 */
/* Tests calls that change whole modules: wk_module_apply, wk_module_replace, wk_module_slice, wk_module_to_dtype; and
 * wk_parameter_count. */
#include "support/wick.h"

static void parameter_count(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *shared = wk_nn_linear(4, 4);
    assert_int_equal(wk_parameter_count(wk_nn_sequential(wk_nn_linear(3, 4), shared, shared)), 16 + 20);
    assert_int_equal(wk_parameter_count(wk_nn_relu()), 0);
    assert_int_equal(wk_parameter_count(NULL), 0);
    expect_ok();
    assert_int_equal(wk_parameter_count(wk_nn_lazy_linear(2)), 0);
    expect_error("parameter_count: lazy_linear", NULL);
}

/* ---- apply ------------------------------------------------------------------------------------------------------- */

static void add_name(wk_module *m, void *user)
{
    strcat(user, wk_module_kind_name(m));
    strcat(user, " ");
}

static void set_weights(wk_module *m, void *user)
{
    if (strcmp(wk_module_kind_name(m), "linear") == 0)
        wk_init_constant_(wk_module_parameter(m, "weight"), *(double *)user);
}

static void fail_once(wk_module *m, void *user)
{
    (void)m;
    ++*(int *)user;
    wk_add(wk_ones((2)), wk_ones((3)));
}

static void free_children(wk_module *m, void *user)
{
    if (wk_module_child_count(m) == 0) wk_module_replace(user, "0", wk_nn_tanh());
}

static void apply_visits_children_first(void **state)
{
    (void)state;
    WK_SCOPE;
    char names[200] = "";
    double two = 2;
    int calls = 0;
    wk_module *shared = wk_nn_gelu(), *net = wk_nn_sequential(wk_nn_sequential(wk_nn_relu(), shared), shared,
                                                              wk_nn_module_list(wk_nn_tanh()), wk_nn_linear(1, 1));
    assert_ptr_equal(wk_module_apply(net, add_name, names), net);
    assert_string_equal(names, "relu gelu sequential tanh module_list linear sequential ");
    assert_non_null(wk_module_apply(net, set_weights, &two));
    EXPECT_VALUES(wk_module_parameter(net, "3.weight"), 0, 2);
    assert_null(wk_module_apply(net, fail_once, &calls));
    expect_error("add", "in function of wk_module_apply", NULL);
    assert_int_equal(calls, 1);
    wk_module *alone = wk_nn_sequential(wk_nn_relu());
    assert_non_null(wk_module_apply(alone, free_children, alone)); /* frees the module that is being visited */
    assert_string_equal(wk_module_kind_name(wk_module_child(alone, "0")), "tanh");
    assert_null(wk_module_apply(net, NULL, NULL));
    expect_error("module_apply", "NULL", NULL);
    assert_null(wk_module_apply(NULL, add_name, names));
    expect_error("module_apply", "NULL", NULL);
}

/* ---- replace ----------------------------------------------------------------------------------------------------- */

typedef struct block {
    int64_t before;
    wk_module *first, *second;
} block;

static wk_tensor *block_forward(wk_module *self, wk_tensor *x)
{
    block *b = wk_module_state(self);
    return wk_forward(b->second, wk_forward(b->first, x));
}

static wk_module *new_block(void)
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "block", .state = sizeof(block), .forward1 = block_forward};
    wk_module *m = wk_module_new(&kind);
    block *b = wk_module_state(m);
    b->first = wk_module_add(m, "first", wk_nn_linear(2, 2));
    b->second = wk_module_add(m, "second", wk_nn_relu());
    return m;
}

static void replace_keeps_name_and_place(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = wk_nn_sequential(wk_nn_relu(), wk_nn_linear(2, 3), wk_nn_relu()), *layer = wk_nn_linear(2, 5);
    assert_ptr_equal(wk_module_replace(net, "1", layer), layer);
    assert_ptr_equal(wk_module_child_by_index(net, 1), layer);
    assert_string_equal(wk_module_child_name(net, 1), "1");
    EXPECT_SHAPE(wk_forward(net, wk_ones((4, 2))), 4, 5);
    assert_ptr_equal(wk_module_replace(net, "1", layer), layer); /* by itself */
    assert_ptr_equal(wk_module_child_by_index(net, 1), layer);
    expect_ok();
}

/* A forward that uses its state gets the new child, also after the old one was freed. */
static void replace_updates_the_state(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net;
    {
        WK_SCOPE;
        net = wk_keep(wk_nn_sequential(new_block()));
    }
    wk_module_replace(net, "0.first", wk_nn_linear(2, 7));
    EXPECT_SHAPE(wk_forward(net, wk_ones((4, 2))), 4, 7);
    assert_int_equal(wk_parameter_count(net), 21);
    expect_ok();
}

static void replace_refuses(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *inner = wk_nn_sequential(wk_nn_relu()), *net = wk_nn_sequential(inner);
    assert_null(wk_module_replace(net, "0.0", net));
    expect_error("module_replace", "contains its parent", NULL);
    assert_null(wk_module_replace(net, "0.0", inner));
    expect_error("module_replace", "contains its parent", NULL);
    assert_null(wk_module_replace(net, "0.1", wk_nn_relu()));
    expect_error("module_replace: unknown child \"0.1\"", NULL);
    assert_null(wk_module_replace(net, "0.0", NULL));
    expect_error("module_replace", "child is NULL", NULL);
    assert_null(wk_module_replace(net, NULL, inner));
    expect_error("module_replace", "path is NULL", NULL);
    assert_string_equal(wk_module_kind_name(wk_module_child(net, "0.0")), "relu");
}

/* ---- slice ------------------------------------------------------------------------------------------------------- */

static void slices_share_children(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = wk_nn_sequential(wk_nn_linear(2, 3), wk_nn_relu(), wk_nn_linear(3, 4)),
              *tail = wk_module_slice(net, 1, 3), *list = wk_nn_module_list(wk_nn_relu(), wk_nn_tanh(), wk_nn_gelu()),
              *end = wk_module_slice(list, 1, 3);
    expect_ok();
    assert_int_equal(wk_module_child_count(tail), 2);
    assert_string_equal(wk_module_child_name(tail, 0), "1");
    assert_ptr_equal(wk_module_child(tail, "2"), wk_module_child(net, "2"));
    EXPECT_SHAPE(wk_forward(tail, wk_ones((5, 3))), 5, 4);
    assert_string_equal(wk_module_kind_name(end), "module_list");
    assert_string_equal(wk_module_child_name(end, 0), "0");
    assert_string_equal(wk_module_kind_name(wk_module_child(end, "1")), "gelu");
    assert_int_equal(wk_module_child_count(wk_module_slice(net, 3, 3)), 0);
    expect_ok();
    assert_null(wk_module_slice(net, 1, 4));
    expect_error("module_slice", "sequential has 3", NULL);
    assert_null(wk_module_slice(net, -1, 2));
    expect_error("module_slice", "-1", NULL);
    assert_null(wk_module_slice(net, 2, 1));
    expect_error("module_slice", NULL);
    assert_null(wk_module_slice(wk_nn_relu(), 0, 0));
    expect_error("module_slice", "got a relu", NULL);
}

/* ---- dtype ------------------------------------------------------------------------------------------------------- */

static void to_dtype_converts_everything(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *layer = wk_nn_linear(2, 1), *net = wk_nn_sequential(layer, layer);
    wk_tensor *weight = wk_module_parameter(layer, "weight"), *mean = wk_module_set_buffer(layer, "mean", wk_ones((2))),
              *count = wk_module_set_buffer(layer, "count", wk_arange(3));
    wk_init_constant_(weight, 0.1);
    wk_backward(wk_sum(wk_forward(layer, wk_ones((1, 2)))));
    assert_ptr_equal(wk_module_to_dtype(net, WK_F64), net);
    assert_ptr_equal(wk_module_parameter(net, "0.weight"), weight);
    assert_int_equal(wk_dtype_of(weight), WK_F64);
    assert_int_equal(wk_dtype_of(wk_grad_of(weight)), WK_F64);
    assert_int_equal(wk_dtype_of(mean), WK_F64);
    assert_int_equal(wk_dtype_of(count), WK_I64);
    EXPECT_VALUES(weight, 0, 0.1f, 0.1f);
    EXPECT_VALUES(wk_grad_of(weight), 0, 1, 1);
    assert_true(wk_is_leaf(weight) && wk_requires_grad(weight));
    wk_backward(wk_sum(wk_forward(layer, wk_ones((1, 2), .dtype = WK_F64))));
    EXPECT_VALUES(wk_grad_of(weight), 0, 2, 2);
    expect_ok();
    assert_null(wk_module_to_dtype(net, WK_I32));
    expect_error("module_to_dtype", "i32", NULL);
    assert_null(wk_module_to_dtype(NULL, WK_F32));
    expect_error("module_to_dtype", "NULL", NULL);
}

static void a_graph_from_before_is_refused(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *layer = wk_nn_linear(2, 1);
    wk_tensor *loss = wk_sum(wk_forward(layer, wk_ones((1, 2))));
    wk_module_to_dtype(layer, WK_F16);
    assert_int_not_equal(wk_backward(loss), WK_OK);
    expect_error("backward", "converted to another dtype afterwards", "wk_module_to_dtype", NULL);
}

static void train_once(wk_module *layer, wk_optim *optim, wk_dtype dtype)
{
    WK_SCOPE;
    wk_tensor *x = wk_of(float, (1, 2), 1, 2);
    wk_optim_zero_grad(optim);
    wk_backward(wk_sum(wk_forward(layer, wk_to_dtype(x, dtype))));
    assert_int_equal(wk_optim_step(optim), WK_OK);
    expect_ok();
}

/* Steps in f64 continue with the momentum of those in f32: here 1 + 0.5 and 2 + 1. */
static void optimisers_continue(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *layer = wk_nn_linear(2, 1, .no_bias = true);
    wk_tensor *weight = wk_module_parameter(layer, "weight");
    wk_optim *optim = wk_optim_sgd(wk_parameters(layer), .lr = 1, .momentum = 0.5);
    wk_init_zeros_(weight);
    train_once(layer, optim, WK_F32);
    EXPECT_VALUES(weight, 0, -1, -2);
    wk_module_to_dtype(layer, WK_F64);
    train_once(layer, optim, WK_F64);
    EXPECT_VALUES(weight, 0, -2.5, -5);
    wk_module_to_dtype(layer, WK_BF16);
    train_once(layer, optim, WK_BF16);
    EXPECT_VALUES(weight, 0, -4.25, -8.5);
    assert_int_equal(wk_dtype_of(weight), WK_BF16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameter_count),
        cmocka_unit_test(apply_visits_children_first),
        cmocka_unit_test(replace_keeps_name_and_place),
        cmocka_unit_test(replace_updates_the_state),
        cmocka_unit_test(replace_refuses),
        cmocka_unit_test(slices_share_children),
        cmocka_unit_test(to_dtype_converts_everything),
        cmocka_unit_test(a_graph_from_before_is_refused),
        cmocka_unit_test(optimisers_continue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
