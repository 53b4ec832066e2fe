/* SPDX-License-Identifier: Apache-2.0 */
/* Tests in-place writes of views across changes of grad mode, views of several outputs, of functions and of detached
 * tensors. Each case states PyTorch's rule; expected gradients are worked out by hand. */
#include "support/wick.h"

static wk_tensor *leaf(void)
{
    return wk_requires_grad_(wk_of(double, (3), 1, 2, 3), true);
}

static wk_tensor *no_grad_view(wk_tensor *x)
{
    WK_NO_GRAD;
    return wk_narrow(x, 0, 0, 2);
}

#define EXPECT_REFUSED(call, name)                                                                                     \
    do {                                                                                                               \
        assert_null(call);                                                                                             \
        assert_int_equal(wk_error_code(), WK_ERR_STATE);                                                               \
        expect_error(name, "made under WK_NO_GRAD", "both outside", NULL);                                             \
    } while (0)

/* PyTorch: a view created in no_grad mode may not be modified in place with grad mode on if its base or another operand
 * requires grad. Values and gradients remain unchanged. */
static void a_no_grad_view_is_not_written_with_gradients(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *m = leaf(), *w = wk_requires_grad_(wk_of(double, (2), 5, 7), true), *x = wk_mul(m, 1);
    wk_tensor *v = no_grad_view(x), *view_of_view = wk_narrow(v, 0, 0, 1), *index = wk_of(int64_t, (1), 0);
    EXPECT_REFUSED(wk_mul_(v, 10), "mul_");
    EXPECT_REFUSED(wk_mul_(v, w), "mul_");
    EXPECT_REFUSED(wk_mul_(view_of_view, 10), "mul_"); /* a view of such a view is one, too */
    EXPECT_REFUSED(wk_copy_(v, w), "copy_");
    EXPECT_REFUSED(wk_fill_(v, 3), "fill_");
    EXPECT_REFUSED(wk_uniform_(v, 0, 1), "uniform_");
    EXPECT_REFUSED(wk_index_add_(v, 0, index, wk_narrow(w, 0, 0, 1)), "index_add_");
    EXPECT_VALUES(x, 0, 1, 2, 3);
    assert_int_equal(wk_backward(wk_sum(x)), WK_OK);
    EXPECT_VALUES(wk_grad_of(m), 0, 1, 1, 1);
}

/* The same if the base does not require grad but an operand does, if the base begins to require it later, and if its
 * handle was freed. */
static void the_base_or_an_operand_requires_grad(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *w = wk_requires_grad_(wk_of(double, (2), 5, 7), true), *plain = wk_zeros((3), .dtype = WK_F64);
    EXPECT_REFUSED(wk_add_(no_grad_view(plain), w), "add_");
    assert_non_null(wk_add_(no_grad_view(plain), 1)); /* no gradient flows */
    wk_tensor *later = wk_zeros((3), .dtype = WK_F64), *v = no_grad_view(later);
    wk_mul_(wk_narrow(later, 0, 0, 2), w);
    EXPECT_REFUSED(wk_mul_(v, 2), "mul_");
    wk_free(later);
    EXPECT_REFUSED(wk_mul_(v, 2), "mul_");
    wk_tensor *mine = wk_requires_grad_(no_grad_view(plain), true); /* a leaf now: the rule of leaves applies */
    assert_null(wk_mul_(mine, 2));
    assert_int_equal(wk_error_code(), WK_ERR_STATE);
    wk_clear_error();
    wk_tensor *whole = wk_ones((2, 3), .dtype = WK_F64), *counts = wk_zeros((3), .dtype = WK_I64);
    {
        WK_NO_GRAD;
        whole = wk_reshape(wk_t(whole), (6)); /* a copy, though reshaped */
    }
    assert_non_null(wk_mul_(wk_narrow(whole, 0, 0, 2), w));
    assert_non_null(wk_copy_(no_grad_view(counts), w)); /* no gradient reaches integers */
    assert_int_equal(wk_backward(wk_sum(whole)), WK_OK);
    EXPECT_VALUES(wk_grad_of(w), 0, 1, 1);
}

/* PyTorch: such a view may be read as a constant, until its base is modified in place with grad mode on. */
static void a_no_grad_view_is_read(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *m = leaf(), *x = wk_mul(m, 1), *v = no_grad_view(x);
    assert_false(wk_requires_grad(wk_mul(v, 2)));
    wk_mul_(x, 3);
    assert_null(wk_mul(v, 2));
    assert_int_equal(wk_error_code(), WK_ERR_STATE);
    expect_error("mul: ", "made under WK_NO_GRAD", "make the view after", NULL);
    assert_null(wk_mul_(wk_mul(m, 1), wk_reshape(v, (2, 1))));
    expect_error("made under WK_NO_GRAD", NULL);
    assert_false(wk_requires_grad(v));
    assert_true(wk_is_leaf(v));
    EXPECT_VALUES(v, 0, 3, 6);
    EXPECT_VALUES(wk_detach(v), 0, 3, 6);
    assert_false(wk_requires_grad(wk_mul(no_grad_view(x), 2))); /* created after the write: a constant again */
    {
        WK_NO_GRAD;
        EXPECT_VALUES(wk_mul(v, 2), 0, 6, 12);
    }
    assert_false(wk_error());
}

/* PyTorch: writes under no_grad are allowed whatever the mode in which the view was created, and do not change the
 * history: a graph that saved the values fails in backward. */
static void writes_without_gradients_leave_the_history(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *m = leaf(), *x = wk_mul(m, 1), *with = wk_narrow(x, 0, 0, 2), *without = no_grad_view(x);
    wk_tensor *square = wk_mul(x, x);
    {
        WK_NO_GRAD;
        assert_non_null(wk_mul_(with, 10));
        assert_non_null(wk_add_(without, 1));
    }
    EXPECT_VALUES(x, 0, 11, 21, 3);
    assert_int_equal(wk_backward(wk_sum(wk_mul(with, 2)), .retain_graph = true), WK_OK);
    EXPECT_VALUES(wk_grad_of(m), 0, 2, 2, 0);
    assert_int_equal(wk_backward(wk_sum(square)), WK_ERR_STATE);
    wk_clear_error();
    {
        WK_NO_GRAD;
        WK_ENABLE_GRAD;
        wk_mul_(wk_narrow(x, 0, 0, 2), 3); /* created and written with gradients */
    }
    wk_set_grad(m, NULL);
    assert_int_equal(wk_backward(wk_sum(x)), WK_OK);
    EXPECT_VALUES(wk_grad_of(m), 0, 3, 3, 1);
}

/* PyTorch refuses to modify an output of split, chunk or unbind in place if its input requires grad, because these
 * outputs share a node that cannot be replaced for one alone. Here each piece gets a separate node, and the gradients
 * are right; under no_grad the pieces are ordinary no-grad views. */
static void pieces_are_written(void **state)
{
    (void)state;
    static const double expected[] = {20, 20, 5};
    for (int how = 0; how < 4; how++) {
        for (int grad = 0; grad < 2; grad++) {
            WK_SCOPE;
            wk_tensor *m = leaf(), *x = wk_mul(m, 1), *p[3];
            wk_guard guard = grad ? wk_enable_grad_open(WK_HERE) : wk_no_grad_open(WK_HERE);
            const int pieces = how == 0   ? wk_split(x, 2, 0, p)
                               : how == 1 ? wk_chunk(x, 2, 0, p)
                               : how == 2 ? wk_unbind(x, 0, p)
                                          : wk_split_with_sizes(x, (2, 1), 0, p);
            wk_guard_close(&guard);
            assert_int_equal(pieces, how == 2 ? 3 : 2);
            if (!grad) {
                EXPECT_REFUSED(wk_mul_(p[1], 5), "mul_");
                continue;
            }
            wk_tensor *last = p[pieces - 1];
            assert_non_null(wk_mul_(last, 5));
            for (int k = 0; k < pieces - 1; k++) assert_non_null(wk_mul_(p[k], 10));
            wk_mul_(wk_narrow(x, 0, 0, 2), 2);
            wk_tensor *sum = wk_sum(last);
            for (int k = 0; k < pieces - 1; k++) sum = wk_add(sum, wk_sum(p[k]));
            assert_int_equal(wk_backward(sum, .retain_graph = true), WK_OK);
            expect_values(wk_grad_of(m), 3, expected, 0);
            wk_set_grad(m, NULL);
            assert_int_equal(wk_backward(wk_sum(x)), WK_OK);
            expect_values(wk_grad_of(m), 3, expected, 0);
        }
    }
}

static void first_two(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    (void)f;
    out[0] = wk_narrow(in[0], 0, 0, 2);
    out[1] = in[0];
}

static void first_two_back(wk_function *f, wk_tensor *const grad_out[], wk_tensor *grad_in[])
{
    (void)f;
    grad_in[0] = wk_zeros((3), .dtype = WK_F64);
    if (grad_out[1]) grad_in[0] = wk_add(grad_in[0], grad_out[1]);
    if (grad_out[0]) wk_add_(wk_narrow(grad_in[0], 0, 0, 2), wk_mul(grad_out[0], 2)); /* unlike a view's own gradient */
}

/* PyTorch refuses to modify a view that a custom function returns, and an input that it returns unchanged, because the
 * write would bypass its backward. Here both are separate tensors, so a write reaches neither the input nor its
 * history, in either grad mode. */
static void results_of_functions_are_not_views(void **state)
{
    (void)state;
    static const wk_function_kind kind = {.size = sizeof kind,
                                          .name = "first_two",
                                          .inputs = 1,
                                          .outputs = 2,
                                          .forward = first_two,
                                          .backward = first_two_back};
    for (int grad = 0; grad < 3; grad++) {
        WK_SCOPE;
        wk_tensor *m = leaf(), *x = grad == 1 ? wk_detach(m) : wk_mul(m, 1), *out[2];
        wk_guard guard = grad ? wk_enable_grad_open(WK_HERE) : wk_no_grad_open(WK_HERE);
        assert_int_equal(wk_apply_n(&kind, NULL, (x), out), WK_OK);
        wk_guard_close(&guard);
        assert_non_null(wk_mul_(out[0], 10));
        assert_non_null(wk_mul_(wk_narrow(out[1], 0, 2, 1), 100));
        EXPECT_VALUES(x, 0, 1, 2, 3);
        EXPECT_VALUES(out[0], 0, 10, 20);
        EXPECT_VALUES(out[1], 0, 1, 2, 300);
        assert_int_equal(wk_requires_grad(out[0]), grad == 2);
        assert_int_equal(wk_requires_grad(out[1]), grad == 2);
        if (grad < 2) continue;
        assert_int_equal(wk_backward(wk_add(wk_sum(out[0]), wk_sum(out[1]))), WK_OK);
        EXPECT_VALUES(wk_grad_of(m), 0, 21, 21, 100);
    }
}

/* PyTorch: a detached tensor shares memory but is not a differentiable view: it and its views may be written in every
 * mode, even if a no-grad view was detached. */
static void detached_views_are_written(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *m = leaf(), *w = wk_requires_grad_(wk_of(double, (2), 5, 7), true), *x = wk_mul(m, 1);
    wk_tensor *apart = wk_detach(no_grad_view(x));
    assert_non_null(wk_mul_(apart, 10));
    assert_non_null(wk_mul_(wk_narrow(apart, 0, 0, 2), w));
    EXPECT_VALUES(x, 0, 50, 140, 3);
    assert_int_equal(wk_backward(wk_add(wk_sum(x), wk_sum(apart))), WK_OK);
    EXPECT_VALUES(wk_grad_of(m), 0, 1, 1, 1);
    EXPECT_VALUES(wk_grad_of(w), 0, 10, 20);
    EXPECT_REFUSED(wk_mul_(no_grad_view(apart), w), "mul_");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_no_grad_view_is_not_written_with_gradients),
        cmocka_unit_test(the_base_or_an_operand_requires_grad),
        cmocka_unit_test(a_no_grad_view_is_read),
        cmocka_unit_test(writes_without_gradients_leave_the_history),
        cmocka_unit_test(pieces_are_written),
        cmocka_unit_test(results_of_functions_are_not_views),
        cmocka_unit_test(detached_views_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
