/* SPDX-License-Identifier: Apache-2.0 */
/* Tests rules 21 and 23 to 26 of docs/contributing/invariants.md: the call that a message names, views and in-place
 * calls under autograd, hooks, parameters, modules. autograd_views, nn_modules and optim_steps test the rest of these
 * rules. */
#include "support/wick.h"

/* Returns "file.c:12: op" for a line of this file. */
static const char *at(int line, const char *op)
{
    static char text[64];
    snprintf(text, sizeof text, "rules/autograd.c:%d: %s", line, op);
    return text;
}

static void expect_site(int line, const char *op, const char *word)
{
    expect_error(at(line, op), word, NULL);
}

/* ---- rule 21: call sites ----------------------------------------------------------------------------------------- */

/* A message names the innermost call in user code; composed ops and the library's layers report their caller's site. */
static void the_site_is_a_call_of_user_code(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((2, 3));
    wk_softmax(x, 5), expect_site(__LINE__, "softmax", "5");
    wk_mse_loss(x, wk_ones((7))), expect_site(__LINE__, "mse_loss", "f32[7]");
    wk_layer_norm(x, (4), NULL, NULL), expect_site(__LINE__, "layer_norm", "f32[2,3]");
    wk_forward(wk_nn_sequential(wk_nn_flatten(), wk_nn_linear(4, 1)), x), expect_site(__LINE__, "", "f32[2,3]");
    wk_optim_adam(wk_list((x))), expect_site(__LINE__, "optim_adam", "no parameter requires grad");
    wk_load_tensors("/no/such/file"), expect_site(__LINE__, "", "/no/such/file");
}

static int inner_line, middle_line;

static wk_tensor *forward_with_an_error(wk_module *self, wk_tensor *x)
{
    (void)self;
    inner_line = __LINE__ + 1;
    return wk_matmul(x, wk_ones((9, 9)));
}

static wk_tensor *forward_around_an_error(wk_module *self, wk_tensor *x)
{
    middle_line = __LINE__ + 1;
    wk_tensor *y = wk_forward(wk_module_child_by_index(self, 0), x);
    return y ? y : wk_add(x, wk_ones((7, 7))); /* keeps the first error */
}

/* In nested modules the message names the innermost call of user code, and the forward that contains it. */
static void nested_callbacks_name_the_innermost(void **state)
{
    (void)state;
    static const wk_module_kind inner = {.size = sizeof inner, .name = "inner", .forward1 = forward_with_an_error},
                                middle = {.size = sizeof middle, .name = "middle", .forward1 = forward_around_an_error};
    WK_SCOPE;
    wk_module *block = wk_module_new(&middle), *core = wk_module_new(&inner);
    wk_module_add(block, "core", core);
    assert_null(wk_forward(wk_nn_sequential(block), wk_ones((2, 2))));
    char called[96];
    snprintf(called, sizeof called, "rules/autograd.c:%d)", middle_line);
    expect_error(at(inner_line, "matmul"), "in forward of \"inner\", called at", called, NULL);
    wk_exp(NULL); /* outside of forward again */
    assert_null(strstr(wk_error(), "forward"));
    wk_clear_error();
}

static int hook_line;

static wk_tensor *bad_hook(wk_tensor *grad, void *user)
{
    (void)user;
    hook_line = __LINE__ + 1;
    return wk_reshape(grad, (99));
}

static void own_forward(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    (void)f;
    out[0] = wk_mul(in[0], 2);
}

typedef void backward_function(wk_function *f, wk_tensor *const grad_out[], wk_tensor *grad_in[]);

static wk_function_kind own_function(backward_function *backward)
{
    return (wk_function_kind){.size = sizeof(wk_function_kind),
                              .name = "own",
                              .inputs = 1,
                              .outputs = 1,
                              .forward = own_forward,
                              .backward = backward};
}

static int backward_line;

static void own_backward(wk_function *f, wk_tensor *const grad_out[], wk_tensor *grad_in[])
{
    (void)f;
    backward_line = __LINE__ + 1;
    grad_in[0] = wk_add(grad_out[0], wk_ones((77)));
}

static void wide_backward(wk_function *f, wk_tensor *const grad_out[], wk_tensor *grad_in[])
{
    (void)f, (void)grad_out;
    grad_in[0] = wk_ones((1));
}
static wk_tensor *wide_hook(wk_tensor *grad, void *user)
{
    (void)user;
    return wk_unsqueeze(grad, 0);
}

/* A gradient that does not fit the operand is rejected where it is returned. */
static void gradients_have_the_shape_of_the_operand(void **state)
{
    (void)state;
    const wk_function_kind kind = own_function(wide_backward);
    WK_SCOPE;
    wk_tensor *x = wk_ones((2), .requires_grad = true);
    assert_int_not_equal(wk_backward(wk_sum(wk_apply(&kind, NULL, (x)))), WK_OK);
    expect_error("own: backward returned for input 0 the gradient f32[1]", "[2]", NULL);
    wk_register_hook(x, wide_hook, NULL);
    assert_int_not_equal(wk_backward(wk_sum(x)), WK_OK);
    expect_error("a hook returned f32[1,2]", "f32[2]", NULL);
    assert_null(wk_grad_of(x));
}

static void hooks_and_functions_are_user_code(void **state)
{
    (void)state;
    const wk_function_kind kind = own_function(own_backward);
    WK_SCOPE;
    wk_tensor *x = wk_ones((2), .requires_grad = true);
    wk_tensor *y = wk_apply(&kind, NULL, (x));
    assert_int_not_equal(wk_backward(wk_sum(y)), WK_OK);
    expect_error(at(backward_line, "add"), "in backward of \"own\", called at", NULL);
    wk_register_hook(x, bad_hook, NULL);
    assert_int_not_equal(wk_backward(wk_sum(x)), WK_OK);
    expect_error(at(hook_line, "reshape"), "in a hook", NULL);
}

/* An error in backward names the call of the forward pass. */
static void errors_in_backward_name_the_forward_call(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((2), .requires_grad = true);
    wk_tensor *y = wk_sigmoid(x);
    int line = __LINE__ - 1;
    wk_tensor *loss = wk_sum(wk_mul(y, 3));
    wk_add_(wk_detach(y), 1);
    assert_int_not_equal(wk_backward(loss), WK_OK);
    expect_site(line, "sigmoid", "in place");
}

/* ---- rule 23: in-place calls and moves --------------------------------------------------------------------------- */

/* A version belongs to the storage and increases at the call, before anything is computed: through a view or another
 * handle, too. */
static void versions_belong_to_the_storage(void **state)
{
    (void)state;
    for (int how = 0; how < 4; how++) {
        WK_SCOPE;
        wk_tensor *w = wk_ones((2), .requires_grad = true), *x = wk_clone(wk_ones((2)));
        wk_tensor *y = wk_sum(wk_mul(w, x)), *view = wk_select(x, 0, 0);
        if (how == 1) wk_add_(x, 1);
        if (how == 2) wk_fill_(view, 5);
        if (how == 3) wk_mul_(wk_detach(x), 2);
        assert_int_equal(wk_backward(y) == WK_OK, how == 0);
        if (how) expect_error("mul: backward needs the original value of its second operand", "in place", NULL);
    }
}

/* Records, nodes and views reference storages, so handles may be freed in any order. */
static void handles_may_be_freed_in_any_order(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *w = wk_full((2), 3.0, .requires_grad = true), *base = wk_mul(w, 2), *view = wk_slice(base, 0, 0, 1);
    wk_tensor *other = wk_slice(base, 0, 1, 2), *square = wk_mul(base, base);
    wk_free(base);
    wk_tensor *loss = wk_sum(wk_add(wk_mul(view, other), square)); /* 4 w0 w1 + 4 w0^2, + 4 w1^2 */
    wk_free(view), wk_free(other), wk_free(square);
    assert_int_equal(wk_backward(loss), WK_OK);
    EXPECT_VALUES(wk_grad_of(w), 1e-5, 48, 48);

    wk_tensor *b = wk_mul(w, 1), *v = wk_slice(b, 0, 0, 1); /* the base is freed and its view is written */
    wk_free(b);
    wk_mul_(v, 10);
    wk_set_grad(w, NULL);
    assert_int_equal(wk_backward(wk_sum(v)), WK_OK);
    EXPECT_VALUES(wk_grad_of(w), 1e-5, 10, 0);
}

/* After a parameter was moved, the backward pass of an older graph is an error that names both calls; so is wk_grad. */
static void moving_makes_older_graphs_errors(void **state)
{
    (void)state;
    for (int how = 0; how < 2; how++) {
        WK_SCOPE;
        wk_module *net = wk_nn_linear(2, 1);
        wk_tensor *weight = wk_module_parameter(net, "weight"), *grads[1], *x = wk_ones((1, 2));
        wk_tensor *loss = wk_sum(wk_forward(net, x));
        int forward = __LINE__ - 1;
        wk_module_to(net, test_null());
        int moved = __LINE__ - 1;
        char by[64];
        snprintf(by, sizeof by, "rules/autograd.c:%d", moved);
        wk_code code = how ? wk_grad((loss), (weight), grads) : wk_backward(loss);
        assert_int_not_equal(code, WK_OK);
        expect_error(at(forward, "backward"), "moved to another device", by, "wk_module_to", NULL);
        if (how) assert_null(grads[0]);
        assert_null(how ? NULL : wk_grad_of(weight));
        assert_int_equal(wk_backward(wk_sum(wk_forward(net, wk_ones((1, 2), .device = test_null())))), WK_OK);
    }
}

/* ---- rule 24: hooks ---------------------------------------------------------------------------------------------- */

static char order[32];
static double sums[32];

static wk_tensor *append_name(wk_tensor *grad, void *user)
{
    size_t n = strlen(order);
    sums[n] = wk_item(wk_sum(grad));
    order[n] = *(const char *)user;
    return order[n] == 'x' ? wk_mul(grad, 10) : NULL;
}

/* Hooks of a tensor run in order of registration, and hooks of results before those of their operands. Post-accumulate
 * hooks run once per leaf, after its complete gradient, however many paths lead to it. */
static void hooks_run_in_order(void **state)
{
    (void)state;
    WK_SCOPE;
    memset(order, 0, sizeof order);
    wk_tensor *x = wk_ones((2), .requires_grad = true), *y = wk_mul(x, 2), *z = wk_mul(x, 3);
    wk_register_hook(x, append_name, "A", .post_accumulate = true);
    wk_register_hook(x, append_name, "a");
    wk_register_hook(x, append_name, "b");
    wk_register_hook(x, append_name, "B", .post_accumulate = true);
    wk_register_hook(y, append_name, "y");
    wk_register_hook(y, append_name, "x"); /* times 10 */
    wk_register_hook(y, append_name, "w"); /* receives the result of the previous hook */
    assert_int_equal(wk_backward(wk_sum(wk_add(y, z))), WK_OK);
    assert_string_equal(order, "abyxwabAB"); /* z was created after y */
    const double expected[] = {6, 6, 2, 2, 20, 40, 40, 46, 46};
    for (int k = 0; k < 9; k++) assert_true(sums[k] == expected[k]);
    EXPECT_VALUES(wk_grad_of(x), 0, 23, 23);
    memset(order, 0, sizeof order);
    /* both operands: two gradients, one run of the post-accumulate hooks */
    assert_int_equal(wk_backward(wk_sum(wk_mul(x, x))), WK_OK);
    assert_int_equal(strlen(order) - strcspn(order, "A"), 2);
    assert_string_equal(order + strcspn(order, "A"), "AB");
}

/* Gradients are composed of public ops, so they can be differentiated, including in-place calls and custom
 * functions. */
static void cube_forward(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    wk_function_save(f, in[0]);
    out[0] = wk_mul(wk_mul(in[0], in[0]), in[0]);
}

static void cube_backward(wk_function *f, wk_tensor *const grad_out[], wk_tensor *grad_in[])
{
    wk_tensor *x = wk_function_saved(f, 0);
    grad_in[0] = wk_mul(grad_out[0], wk_mul(wk_mul(x, x), 3));
}

static void gradients_are_differentiable(void **state)
{
    (void)state;
    static const wk_function_kind cube = {.size = sizeof cube,
                                          .name = "cube",
                                          .inputs = 1,
                                          .outputs = 1,
                                          .forward = cube_forward,
                                          .backward = cube_backward};
    WK_SCOPE;
    wk_tensor *x = wk_requires_grad_(wk_of(double, (2), 2, 3), true), *first[1], *second[1], *third[1];
    wk_tensor *y = wk_mul(wk_apply(&cube, NULL, (x)), 1);
    wk_mul_(wk_select(y, 0, 0), 2); /* 2 x0^3, x1^3 */
    assert_int_equal(wk_grad((wk_sum(y)), (x), first, .create_graph = true), WK_OK);
    EXPECT_VALUES(first[0], 1e-9, 24, 27);
    assert_int_equal(wk_grad((wk_sum(first[0])), (x), second, .create_graph = true), WK_OK);
    EXPECT_VALUES(second[0], 1e-9, 24, 18);
    assert_int_equal(wk_grad((wk_sum(second[0])), (x), third), WK_OK);
    EXPECT_VALUES(third[0], 1e-9, 12, 6);
}

/* ---- rules 25 and 26: parameters and modules --------------------------------------------------------------------- */

/* A parameter remains one storage with one handle. Values that a module keeps in its plain state remain valid. */
static void a_parameter_is_one_storage(void **state)
{
    (void)state;
    WK_SCOPE;
    char path[256];
    snprintf(path, sizeof path, "%s/one.safetensors", getenv("WICK_WORK") ? getenv("WICK_WORK") : "/tmp");
    wk_module *net = wk_nn_linear(2, 1, .no_bias = true);
    wk_tensor *weight = wk_module_parameter(net, "weight"), *view = wk_select(wk_detach(weight), 0, 0);
    wk_optim *sgd = wk_optim_sgd(wk_parameters(net), .lr = 1);
    wk_init_ones_(weight);
    EXPECT_VALUES(view, 0, 1, 1); /* initialisation writes the existing storage, */
    wk_backward(wk_sum(wk_forward(net, wk_of(float, (1, 2), 1, 2))));
    wk_tensor *grad = wk_grad_of(weight);
    wk_clip_grad_norm_(wk_parameters(net), 1e9);
    assert_int_equal(wk_optim_step(sgd), WK_OK);
    EXPECT_VALUES(view, 0, 0, -1); /* so does a step, */
    assert_int_equal(wk_save(net, path), WK_OK);
    wk_init_ones_(weight);
    assert_int_equal(wk_load(net, path), WK_OK);
    EXPECT_VALUES(view, 0, 0, -1); /* and a load */
    assert_ptr_equal(wk_module_parameter(net, "weight"), weight);
    assert_ptr_equal(wk_grad_of(weight), grad);
    remove(path);
    assert_ptr_equal(wk_module_to(net, test_null()), net);
    assert_ptr_equal(wk_module_parameter(net, "weight"), weight);
    assert_int_equal(wk_device_of(weight).kind, WK_NULL);
    assert_int_equal(wk_device_of(view).kind, WK_CPU); /* a view follows its base */
    expect_ok();
}

/* A kind may come from an older header; members that its struct lacks have their defaults. */
static wk_tensor *same_forward(wk_module *self, wk_tensor *x)
{
    (void)self;
    return x;
}

static void kinds_of_older_headers_are_accepted(void **state)
{
    (void)state;
    struct {
        size_t size;
        const char *name;
        size_t state;
        wk_tensor *(*forward1)(wk_module *self, wk_tensor *x);
    } older = {.size = sizeof older, .name = "older", .forward1 = same_forward};
    WK_SCOPE;
    wk_module *m = wk_module_new((const wk_module_kind *)(const void *)&older);
    wk_tensor *x = wk_ones((1)), *out[1];
    assert_ptr_equal(wk_forward(m, x), x);
    assert_int_equal(wk_forward_n(m, (x), out, 1), 1); /* forward1 is shorthand for lists of one tensor */
    assert_ptr_equal(out[0], x);
    assert_true(wk_module_to(m, test_null()) == m && wk_module_train(m, false) == m);
    expect_ok();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_site_is_a_call_of_user_code),
        cmocka_unit_test(nested_callbacks_name_the_innermost),
        cmocka_unit_test(hooks_and_functions_are_user_code),
        cmocka_unit_test(gradients_have_the_shape_of_the_operand),
        cmocka_unit_test(errors_in_backward_name_the_forward_call),
        cmocka_unit_test(versions_belong_to_the_storage),
        cmocka_unit_test(handles_may_be_freed_in_any_order),
        cmocka_unit_test(moving_makes_older_graphs_errors),
        cmocka_unit_test(hooks_run_in_order),
        cmocka_unit_test(gradients_are_differentiable),
        cmocka_unit_test(a_parameter_is_one_storage),
        cmocka_unit_test(kinds_of_older_headers_are_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
