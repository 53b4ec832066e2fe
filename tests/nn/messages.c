/* SPDX-License-Identifier: Apache-2.0 */
/* Tests messages about networks: the path of a layer, the names of children, tensors kept from a forward. */
#include "support/wick.h"

/* Fails unless the error begins with "FILE:LINE: text"; clears it. */
static void expect_begin(int line, const char *text)
{
    char begin[200];
    snprintf(begin, sizeof begin, "%s:%d: %s", __FILE__, line, text);
    if (!wk_error() || strncmp(wk_error(), begin, strlen(begin)) != 0)
        fail_msg("expected \"%s\" at the beginning of: %s", begin, wk_error() ? wk_error() : "(no error)");
}

static void messages_name_the_path_of_a_layer(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *inner = wk_nn_sequential(wk_nn_relu(), wk_nn_linear(5, 2)),
              *net = wk_nn_sequential(wk_nn_linear(3, 4), wk_nn_relu(), inner);
    wk_tensor *x = wk_ones((2, 3));
    assert_null(wk_forward(net, x));
    expect_begin(__LINE__ - 1, "forward: in layer 2.1 (linear): inner dimensions differ: f32[2,4] and f32[2,5]");
    wk_clear_error();
    assert_null(wk_forward(wk_nn_sequential(wk_nn_layer_norm((7)), wk_nn_relu()), x));
    expect_begin(__LINE__ - 1, "forward: in layer 0 (layer_norm): ");
    wk_clear_error();
    assert_null(wk_forward(wk_nn_sequential(wk_nn_relu(), wk_nn_embedding(4, 2)), x));
    expect_begin(__LINE__ - 1, "forward: in layer 1 (embedding): ");
    wk_clear_error();
    assert_null(wk_forward(wk_nn_linear(5, 2), x)); /* a layer alone has no path */
    expect_begin(__LINE__ - 1, "forward: linear: inner dimensions differ");
    wk_clear_error();
    assert_null(wk_forward(wk_nn_sequential(wk_nn_relu(), wk_nn_sequential(wk_nn_module_list())), x));
    expect_begin(__LINE__ - 1, "forward: in layer 1.0 (module_list): a module_list has no forward function");
    wk_clear_error();
    assert_null(wk_matmul(x, x)); /* outside of a forward */
    expect_begin(__LINE__ - 1, "matmul: inner dimensions differ");
    wk_clear_error();
}

/* A custom block: a child that it calls, one in a list, one that is not registered, and an op. */
typedef struct block {
    wk_module *fc, *list, *stray;
    int which, line;
} block;

static wk_tensor *block_forward(wk_module *self, wk_tensor *x)
{
    block *b = wk_module_state(self);
    switch (b->which) {
    case 0: b->line = __LINE__; return wk_forward(b->fc, x);
    case 1: b->line = __LINE__; return wk_forward(wk_module_child_by_index(b->list, 1), x);
    case 2: b->line = __LINE__; return wk_forward(b->stray, x);
    default: b->line = __LINE__; return wk_matmul(x, x);
    }
}

static void custom_modules(void **state)
{
    (void)state;
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "block", .state = sizeof(block), .forward1 = block_forward};
    static const char *const begins[] = {"forward: in layer 1.fc (linear): inner dimensions differ",
                                         "forward: in layer 1.list.1 (linear): inner dimensions differ",
                                         "forward: linear: inner dimensions differ", "matmul: inner dimensions differ"};
    WK_SCOPE;
    wk_module *own = wk_module_new(&kind), *net = wk_nn_sequential(wk_nn_relu(), own);
    block *b = wk_module_state(own);
    b->fc = wk_module_add(own, "fc", wk_nn_linear(5, 2));
    b->list = wk_module_add(own, "list", wk_nn_module_list(wk_nn_relu(), wk_nn_linear(5, 2)));
    b->stray = wk_nn_linear(5, 2);
    for (b->which = 0; b->which < 4; b->which++) {
        char called[200];
        snprintf(called, sizeof called, "(layer 1, in forward of \"block\", called at %s:%d)", __FILE__, __LINE__ + 1);
        assert_null(wk_forward(net, wk_ones((2, 3))));
        expect_begin(b->line, begins[b->which]);
        expect_error(called, NULL);
    }
}

static wk_tensor *no_forward(wk_module *self, wk_tensor *x)
{
    (void)self, (void)x;
    return NULL;
}

static void a_forward_without_a_tensor(void **state)
{
    (void)state;
    static const wk_module_kind kind = {.size = sizeof kind, .name = "empty", .forward1 = no_forward};
    WK_SCOPE;
    assert_null(wk_forward(wk_nn_sequential(wk_nn_relu(), wk_module_new(&kind)), wk_ones((2))));
    expect_begin(__LINE__ - 1, "forward: empty returned no tensor");
    wk_clear_error();
}

static wk_tensor *kept;

static wk_tensor *keeping_forward(wk_module *self, wk_tensor *x)
{
    (void)self;
    kept = wk_mul(x, 2);
    return wk_add(kept, 1);
}

static void tensors_kept_from_a_forward(void **state)
{
    (void)state;
    static const wk_module_kind kind = {.size = sizeof kind, .name = "keeping", .forward1 = keeping_forward};
    WK_SCOPE;
    char opened[200];
    wk_module *own = wk_module_new(&kind);
    snprintf(opened, sizeof opened, "whose scope has closed (opened at %s:%d)", __FILE__, __LINE__ + 1);
    assert_non_null(wk_forward(own, wk_ones((2))));
    wk_exp(kept);
    expect_error("exp: input is a tensor", opened, "wk_keep", NULL);
}

/* Expects that using a freed handle names the reason and the call site of its end. */
static void expect_freed(wk_tensor *gone, const char *how, int line)
{
    char at[300];
    snprintf(at, sizeof at, "exp: input is a tensor %sat %s:%d)", how, __FILE__, line);
    assert_null(wk_exp(gone));
    expect_error(at, NULL);
}

static wk_module *trained(wk_tensor **weight, wk_tensor **gradient)
{
    WK_SCOPE; /* its end leaves the network as the only owner of the layer */
    wk_module *net = wk_keep(wk_nn_sequential(wk_nn_linear(3, 2)));
    *weight = wk_module_parameter(net, "0.weight");
    wk_backward(wk_sum(wk_forward(net, wk_ones((1, 3)))));
    *gradient = wk_grad_of(*weight);
    expect_ok();
    return net;
}

static void messages_name_the_end_of_a_tensor(void **state)
{
    (void)state;
    static const char with_scope[] = "that was freed with its module, whose scope has closed (opened ";
    wk_tensor *weight, *gradient, *leaf;
    int line = __LINE__ + 2;
    {
        WK_SCOPE;
        trained(&weight, &gradient);
    }
    expect_freed(weight, with_scope, line);
    expect_freed(gradient, with_scope, line);
    WK_SCOPE;
    line = __LINE__ + 2;
    {
        WK_SCOPE;
        leaf = wk_ones((2), .requires_grad = true);
        wk_backward(wk_sum(leaf));
        gradient = wk_grad_of(leaf);
    }
    expect_freed(gradient, "that was freed with its tensor, whose scope has closed (opened ", line);
    {
        WK_SCOPE;
        wk_module *net = trained(&weight, &gradient);
        {
            WK_SCOPE;
            wk_optim_zero_grad(wk_optim_sgd(wk_parameters(net)));
        }
        expect_freed(gradient, "that was freed by optim_zero_grad (", __LINE__ - 2);
        wk_free(net);
        expect_freed(weight, "that was freed with its module (", __LINE__ - 1);
    }
    leaf = wk_ones((2), .requires_grad = true);
    wk_backward(wk_sum(leaf));
    gradient = wk_grad_of(leaf);
    wk_set_grad(leaf, NULL);
    expect_freed(gradient, "that was freed by set_grad (", __LINE__ - 1);
    wk_free(leaf);
    expect_freed(leaf, "that was freed (", __LINE__ - 1);
}

static void unknown_children_and_parameters(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = wk_nn_sequential(wk_nn_linear(3, 4), wk_nn_relu());
    wk_module_child(net, "7");
    expect_error("module_child: unknown child \"7\"; sequential has the children \"0\", \"1\"", NULL);
    wk_module_child(wk_nn_sequential(), "7");
    expect_error("unknown child \"7\"; sequential has no children", NULL);
    wk_module_parameter(net, "0.gewicht");
    expect_error("unknown parameter \"0.gewicht\"; linear has the parameters \"weight\", \"bias\"", NULL);
    wk_module_parameter(net, "weight");
    expect_error("sequential has no parameters itself; those of its child \"0\" are \"0.NAME\"", NULL);
    wk_module *deep = wk_nn_sequential(wk_nn_relu(), wk_nn_sequential(wk_nn_relu(), wk_nn_linear(3, 4)));
    wk_module_parameter(deep, "weight");
    expect_error("no parameters itself; those of its child \"1.1\" are \"1.1.NAME\"", NULL);
    wk_module_parameter(wk_nn_sequential(wk_nn_relu()), "weight");
    expect_error("unknown parameter \"weight\"; sequential has no parameters", NULL);
    wk_module_child_by_index(net, 2);
    expect_error("module_child_by_index: child index 2 is out of range; sequential has 2", NULL);
    wk_optim *sgd = wk_optim_sgd(wk_parameters(net));
    wk_exp((wk_tensor *)(void *)sgd);
    expect_error("exp: input is an optimiser, not a tensor", NULL);
    wk_optim_step((wk_optim *)(void *)net);
    expect_error("is a module, not an optimiser", NULL);
}

static void gradients_that_do_not_fit(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *w = wk_ones((2, 3), .requires_grad = true);
    assert_int_equal(wk_set_grad(w, wk_ones((3, 2))), WK_ERR_SHAPE);
    expect_error("set_grad: the gradient is f32[3,2] on cpu, the leaf f32[2,3] on cpu", NULL);
    wk_tensor *y = wk_exp(wk_mul(w, 2));
    wk_add_(y, 1);
    char backward[200], filled[200];
    snprintf(backward, sizeof backward, " (backward called at %s:%d)", __FILE__, __LINE__ + 1);
    wk_backward(wk_sum(y));
    expect_error("exp: backward needs the original value of its result, but it was modified in place by add_ at ",
                 backward, NULL);
    y = wk_exp(wk_mul(w, 2));
    snprintf(filled, sizeof filled, "modified in place by fill_ at %s:%d", __FILE__, __LINE__ + 1);
    wk_fill_(wk_select(y, 0, 1), 3);
    wk_backward(wk_sum(y));
    expect_error("exp: backward needs the original value of its result", filled, NULL);
}

/* ---- mistakes in first programs ---------------------------------------------------------------------------------- */

static void expect_part(wk_code code, const char *text)
{
    assert_int_equal(wk_error_code(), code);
    if (!strstr(wk_error(), text)) fail_msg("\"%s\" does not contain \"%s\"", wk_error(), text);
    wk_clear_error();
}

static void first_mistakes_say_their_remedy(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((2, 3)), *labels = wk_of(int64_t, (2), 0, 3), *column = wk_zeros((2, 1), .dtype = WK_I64);
    assert_null(wk_cross_entropy(x, labels));
    expect_part(WK_ERR_INDEX, "label 3 is out of range for the 3 classes of f32[2,3] (valid: [0, 3))");
    assert_null(wk_cross_entropy(x, wk_ones((2))));
    expect_part(WK_ERR_DTYPE, "got f32[2]; convert with wk_to_dtype(labels, WK_I64)");
    assert_null(wk_cross_entropy(x, column));
    expect_part(WK_ERR_SHAPE, "got i64[2,1]; remove the last dimension with wk_squeeze(labels, -1)");
    assert_null(wk_cross_entropy(x, wk_to_dtype(column, WK_F32)));
    expect_part(WK_ERR_DTYPE, "wk_squeeze(labels, -1), convert with wk_to_dtype(labels, WK_I64)");
    assert_null(wk_forward(wk_nn_linear(784, 10), wk_ones((2, 28, 28))));
    expect_part(WK_ERR_SHAPE, "; flatten the input first: add wk_nn_flatten(), or wk_flatten(x, 1)");
    assert_null(wk_nn_dropout(1.5));
    expect_part(WK_ERR_ARGUMENT, "nn_dropout: p must be in [0, 1], got 1.5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_name_the_path_of_a_layer), cmocka_unit_test(custom_modules),
        cmocka_unit_test(a_forward_without_a_tensor),        cmocka_unit_test(tensors_kept_from_a_forward),
        cmocka_unit_test(messages_name_the_end_of_a_tensor), cmocka_unit_test(unknown_children_and_parameters),
        cmocka_unit_test(gradients_that_do_not_fit),         cmocka_unit_test(first_mistakes_say_their_remedy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
