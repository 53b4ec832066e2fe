/* SPDX-License-Identifier: Apache-2.0 */
/* Tests modules: ownership, the tree, forward, moves. */
#include "support/wick.h"

#include <base/alloc.h>

/* ---- a custom layer ---------------------------------------------------------------------------------------------- */

typedef struct scale {
    wk_tensor *factor;
} scale;

static int destroyed, moved, trained;

static wk_tensor *scale_forward(wk_module *self, wk_tensor *x)
{
    const scale *s = wk_module_state(self);
    return wk_mul(x, s->factor);
}

static void scale_destroy(wk_module *self)
{
    const scale *s = wk_module_state(self);
    assert_string_equal(wk_module_kind_name(self), "scale");
    destroyed += s->factor != NULL;
}

static void scale_moved(wk_module *self, wk_device device)
{
    const scale *s = wk_module_state(self);
    assert_true(wk_device_eq(wk_device_of(s->factor), device));
    moved++;
}

static void scale_trained(wk_module *self, bool training)
{
    assert_int_equal(wk_module_training(self), training);
    trained++;
}

static wk_module *new_scale(double factor)
{
    static const wk_module_kind kind = {.size = sizeof kind,
                                        .name = "scale",
                                        .state = sizeof(scale),
                                        .forward1 = scale_forward,
                                        .destroy = scale_destroy,
                                        .on_move = scale_moved,
                                        .on_train = scale_trained};
    wk_module *m = wk_module_new(&kind);
    scale *s = wk_module_state(m);
    s->factor = wk_module_add_parameter(m, "factor", wk_full((2), factor));
    return m;
}

/* A container without forward. */
static wk_module *new_box(void)
{
    static const wk_module_kind kind = {.size = sizeof kind, .name = "box"};
    return wk_module_new(&kind);
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

static void a_parameter_is_a_leaf_of_the_module(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *m = new_box();
    wk_tensor *p;
    {
        WK_SCOPE;
        wk_tensor *x = wk_ones((2, 2), .requires_grad = true), *y = wk_mul(x, 3.0);
        p = wk_module_add_parameter(m, "p", y);
        assert_true(p != y);
        assert_true(wk_is_leaf(p) && wk_requires_grad(p));
        assert_false(wk_same_storage(p, y));
        wk_add_(y, 1.0); /* the argument is unchanged: a separate tensor */
        EXPECT_VALUES(y, 0, 4, 4, 4, 4);
    }
    assert_true(wk_module_parameter(m, "p") == p);
    EXPECT_VALUES(p, 0, 3, 3, 3, 3);
    wk_backward(wk_sum(wk_mul(p, p)));
    EXPECT_VALUES(wk_grad_of(p), 0, 6, 6, 6, 6);
    assert_string_equal(wk_describe(p), "f32[2,2] cpu requires_grad");
}

static void a_view_becomes_a_separate_parameter(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *m = new_box();
    wk_tensor *row = wk_expand(wk_of(float, (1, 3), 1, 2, 3), (2, 3));
    wk_tensor *p = wk_module_add_parameter(m, "p", row);
    assert_true(wk_is_contiguous(p));
    {
        WK_NO_GRAD;
        wk_mul_(p, 2.0);
    }
    EXPECT_VALUES(p, 0, 2, 4, 6, 2, 4, 6);
    EXPECT_VALUES(row, 0, 1, 2, 3, 1, 2, 3);
    float memory[2] = {1, 2};
    wk_tensor *q = wk_module_add_parameter(m, "q", wk_borrow(memory, (2), NULL, NULL));
    wk_sync();
    memory[0] = 9;
    EXPECT_VALUES(q, 0, 1, 2);
}

static void names_are_checked(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *m = new_box(), *n = new_box();
    wk_tensor *x = wk_ones((2));
    assert_non_null(wk_module_add_parameter(m, "a", x));
    assert_null(wk_module_add_parameter(m, "a", x));
    expect_error("module_add_parameter", "\"a\"", "already in use", NULL);
    assert_null(wk_module_add_parameter(m, "", x));
    expect_error("empty", NULL);
    assert_null(wk_module_add_parameter(m, NULL, x));
    expect_error("NULL", NULL);
    assert_null(wk_module_set_buffer(m, "b.c", x));
    expect_error("dot", NULL);
    assert_null(wk_module_set_buffer(m, "a", x));
    expect_error("already in use", NULL);
    assert_null(wk_module_add_parameter(m, "i", wk_arange(3)));
    expect_error("i64", "wk_module_set_buffer", NULL);
    assert_null(wk_module_add_parameter(m, "z", NULL));
    expect_error("module_add_parameter", "NULL", NULL);
    assert_non_null(wk_module_add(m, "n", n));
    assert_null(wk_module_add(n, "m", m));
    expect_error("module_add", "contain", NULL);
    assert_null(wk_module_add(m, "self", m));
    expect_error("contain", NULL);
    assert_null(wk_module_parameter(m, "n.weight"));
    expect_error("module_parameter", "n.weight", "box has no parameters", NULL);
    assert_null(wk_module_parameter(m, "b"));
    expect_error("\"b\"", "box has the parameters \"a\"", NULL);
    assert_null(wk_module_parameter(m, "m.weight")); /* the error is the first part of the path */
    expect_error("\"m.weight\"", "box has the children \"n\"", NULL);
    assert_null(wk_module_parameter(m, "n"));
    expect_error("unknown parameter \"n\"", NULL);
    assert_null(wk_module_add(NULL, "m", m));
    expect_error("module_add", "NULL", NULL);
    assert_null(wk_module_add(m, "x", (wk_module *)(void *)x));
    expect_error("tensor, not a module", NULL);
    wk_module_kind nameless = {.size = sizeof nameless};
    assert_null(wk_module_new(&nameless));
    expect_error("module_new", ".name", NULL);
}

static void a_constructor_need_not_check(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module_kind small = {.size = 4, .name = "x"};
    wk_module *m = wk_module_new(&small);
    assert_null(m);
    scale *s = wk_module_state(m);
    s->factor = wk_module_add_parameter(m, "factor", wk_ones((2)));
    assert_null(s->factor);
    expect_error("module_new", NULL);
}

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

static void expect_names(wk_tensors *list, const char *const *names)
{
    int count = 0;
    expect_ok();
    for (; names[count]; count++) {
        assert_true(count < wk_tensors_count(list));
        assert_string_equal(wk_tensors_name(list, count), names[count]);
    }
    assert_int_equal(wk_tensors_count(list), count);
}

static void parameters_come_in_order_and_once(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *shared = new_scale(2), *inner = wk_nn_module_list(shared, new_scale(3)), *outer = new_box();
    assert_non_null(wk_module_add(outer, "inner", inner));
    assert_non_null(wk_module_add(outer, "again", shared));
    assert_non_null(wk_module_add_parameter(outer, "late", wk_ones((1))));
    assert_non_null(wk_module_set_buffer(shared, "mean", wk_zeros((1))));
    wk_tensors *list = wk_parameters(outer);
    expect_names(list, (const char *const[]){"late", "inner.0.factor", "inner.1.factor", NULL});
    expect_names(wk_buffers(outer), (const char *const[]){"inner.0.mean", NULL});
    assert_true(wk_tensors_get(list, 1) == wk_module_parameter(outer, "again.factor"));
    assert_true(wk_tensors_find(list, "inner.1.factor") == wk_module_parameter(inner, "1.factor"));
    assert_null(wk_tensors_find(list, "nothing"));
    expect_ok();
    assert_null(wk_tensors_get(list, 3));
    expect_error("tensors_get", "3", NULL);
    assert_int_equal(wk_module_child_count(outer), 2);
    assert_true(wk_module_child_by_index(outer, 1) == shared);
    assert_string_equal(wk_module_child_name(outer, 1), "again");
    assert_true(wk_module_child(outer, "inner.0") == shared);
    assert_null(wk_module_child_by_index(outer, 2));
    expect_error("module_child_by_index", "2", NULL);
    assert_int_equal(wk_module_child_count(NULL), 0);
    assert_int_equal(wk_tensors_count(NULL), 0);
}

static void lists_hold_their_tensors(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensors *list;
    {
        WK_SCOPE;
        wk_tensor *a = wk_full((1), 1.0), *b = wk_full((1), 2.0);
        list = wk_keep(wk_list((a, b)));
        assert_non_null(wk_tensors_add(list, "third", wk_full((1), 3.0)));
        assert_null(wk_tensors_add(list, "third", a));
        expect_error("third", "duplicate", NULL);
    }
    expect_names(list, (const char *const[]){"0", "1", "third", NULL});
    EXPECT_VALUES(wk_tensors_get(list, 2), 0, 3);
    assert_null(wk_list((wk_tensors_get(list, 0), NULL)));
    expect_error("list", "NULL", NULL);
}

static wk_tensor *call_itself(wk_module *self, wk_tensor *x)
{
    return wk_forward(self, x);
}

/* An endless recursion is an error, and the program continues. */
static void a_forward_that_calls_its_own_module(void **state)
{
    (void)state;
    static const wk_module_kind kind = {.size = sizeof kind, .name = "mirror", .forward1 = call_itself};
    WK_SCOPE;
    wk_module *net = wk_module_new(&kind);
    assert_null(wk_forward(net, wk_ones((2))));
    assert_int_equal(wk_error_code(), WK_ERR_STATE);
    expect_error("forward: more than 500 modules are nested", "\"mirror\" may call its own module", NULL);
    wk_module *deep = wk_nn_relu();
    for (int k = 0; k < 499; k++) deep = wk_nn_sequential(deep);
    assert_non_null(wk_forward(deep, wk_ones((2))));
    expect_ok();
}

/* A deeply nested module is traversed and freed without recursion. */
static void a_deep_tree(void **state)
{
    (void)state;
    enum { DEEP = 200000 };
    destroyed = 0;
    {
        WK_SCOPE;
        wk_module *outermost = new_box();
        {
            WK_SCOPE;
            wk_module *at = outermost;
            for (int k = 0; k < DEEP; k++) at = wk_module_add(at, "m", new_box());
            assert_non_null(wk_module_add(at, "last", new_scale(1)));
        }
        wk_tensors *list = wk_parameters(outermost);
        expect_ok();
        assert_int_equal(wk_tensors_count(list), 1);
        const char *name = wk_tensors_name(list, 0);
        assert_int_equal(strlen(name), 2 * DEEP + strlen("last.factor"));
        assert_string_equal(name + 2 * DEEP - 2, "m.last.factor");
        assert_true(wk_module_parameter(outermost, name) == wk_tensors_get(list, 0));
        wk_module_train(outermost, false);
        expect_ok();
    }
    assert_int_equal(destroyed, 1);
}

static void a_module_runs_its_destroy(void **state)
{
    (void)state;
    destroyed = 0;
    {
        WK_SCOPE;
        wk_module *list;
        {
            WK_SCOPE;
            list = wk_keep(wk_nn_module_list(new_scale(1), new_scale(2)));
        }
        assert_int_equal(destroyed, 0);
        EXPECT_VALUES(wk_module_parameter(list, "1.factor"), 0, 2, 2);
    }
    assert_int_equal(destroyed, 2);
    expect_ok();
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

static void forward_and_backward(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = wk_nn_sequential(new_scale(2), new_scale(3));
    wk_tensor *x = wk_of(float, (2), 1, 10), *y = wk_forward(net, x);
    EXPECT_VALUES(y, 0, 6, 60);
    wk_backward(wk_sum(y));
    EXPECT_VALUES(wk_grad_of(wk_module_parameter(net, "0.factor")), 0, 3, 30);
    EXPECT_VALUES(wk_grad_of(wk_module_parameter(net, "1.factor")), 0, 2, 20);
    assert_true(wk_forward(wk_nn_sequential(), x) == x);
    expect_ok();
}

static wk_tensor *bad_forward(wk_module *self, wk_tensor *x)
{
    (void)self;
    return wk_add(x, wk_ones((7)));
}

static wk_tensor *nothing_forward(wk_module *self, wk_tensor *x)
{
    (void)self;
    (void)x;
    return NULL;
}

/* Lists of modules may be written in parentheses, like lists of tensors. */
static void modules_in_parentheses(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *a = new_scale(2), *b = new_scale(3), *c = new_scale(4);
    assert_int_equal(wk_module_child_count(wk_nn_sequential((a, b, c))), 3);
    assert_int_equal(wk_module_child_count(wk_nn_sequential((a))), 1);
    assert_int_equal(wk_module_child_count(wk_nn_sequential((a ? a : b), c)), 2);
    assert_int_equal(wk_module_child_count(wk_nn_module_list((a, b))), 2);
    void *untyped = a;
    assert_int_equal(wk_module_child_count(wk_nn_sequential((wk_module *)untyped)), 1);
    assert_int_equal(wk_module_child_count(wk_nn_sequential((new_scale)(2))), 1);
    assert_int_equal(wk_module_child_count(wk_nn_sequential((new_scale)(2), b)), 2);
    expect_ok();
}

static void errors_name_the_call(void **state)
{
    (void)state;
    WK_SCOPE;
    static const wk_module_kind bad = {.size = sizeof bad, .name = "block", .forward1 = bad_forward};
    static const wk_module_kind nothing = {.size = sizeof nothing, .name = "nothing", .forward1 = nothing_forward};
    wk_module *net = wk_nn_sequential(wk_module_new(&bad));
    wk_tensor *x = wk_ones((2));
    char call[128];
    snprintf(call, sizeof call, "in forward of \"block\", called at %s:%d", __FILE__, __LINE__ + 1);
    assert_null(wk_forward(net, x));
    expect_error("nn/modules.c:", "add", "f32[7]", call, NULL);
    wk_exp(NULL); /* the next error is outside of any forward */
    assert_null(strstr(wk_error(), "forward"));
    expect_error("exp", NULL);
    assert_null(wk_forward(wk_module_new(&nothing), x));
    expect_error("nothing", "returned no tensor", NULL);
    assert_null(wk_forward(new_box(), x));
    expect_error("box", "no forward", NULL);
    assert_null(wk_forward(wk_nn_module_list(net), x));
    expect_error("module_list", NULL);
    assert_null(wk_forward(net, NULL));
    expect_error("sequential", "NULL", NULL);
    assert_null(wk_forward(NULL, x));
    expect_error("forward", "module is NULL", NULL);
    wk_error_code();
    wk_add(x, wk_ones((3)));
    assert_null(wk_forward(net, NULL)); /* keeps the first error */
    expect_error("add", "f32[3]", NULL);
}

/* In kinds of the library, an error names the program's call. */
static void the_library_s_kinds_inherit_the_site(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = wk_nn_sequential(wk_nn_sequential(wk_nn_module_list()));
    char call[128];
    snprintf(call, sizeof call, "%s:%d: forward", __FILE__, __LINE__ + 1);
    assert_null(wk_forward(net, wk_ones((2))));
    expect_error(call, NULL);
}

static int swap_forward(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    (void)self;
    if (inputs != 2 || outputs < 2) return -1;
    out[0] = wk_mul(in[1], 2.0);
    out[1] = in[0];
    return 2;
}

static void lists_in_and_out(void **state)
{
    (void)state;
    WK_SCOPE;
    static const wk_module_kind kind = {.size = sizeof kind, .name = "swap", .forward = swap_forward};
    wk_module *m = wk_module_new(&kind);
    wk_tensor *a = wk_full((1), 1.0), *b = wk_full((1), 2.0), *out[3] = {a, a, a};
    assert_int_equal(wk_forward_n(m, (a, b), out, 3), 2);
    EXPECT_VALUES(out[0], 0, 4);
    assert_true(out[1] == a);
    assert_null(out[2]);
    assert_int_equal(wk_forward_n(m, (a), out, 3), -1);
    expect_error("swap", NULL);
    assert_null(out[0]);
    assert_int_equal(wk_forward_n(new_scale(5), (a), out, 1), 1);
    EXPECT_VALUES(out[0], 0, 5, 5);
    assert_int_equal(wk_forward_n(new_scale(5), (a, b), out, 1), -1);
    expect_error("scale", "one input", NULL);
}

/* Without a scope each returned handle is a reference, even if it existed before. */
static void ownership_without_a_scope(void **state)
{
    (void)state;
    wk_module *empty = wk_nn_sequential(), *net = wk_nn_sequential(empty);
    wk_tensor *x = wk_ones((2)), *same = wk_forward(net, x);
    assert_true(same == x);
    wk_free(same);
    EXPECT_VALUES(x, 0, 1, 1);
    wk_free(x);
    expect_ok();
    wk_free(x);
    expect_error("free", "freed", NULL);
    wk_free(empty);
    wk_free(net);
    expect_ok();
    wk_forward(net, NULL);
    expect_error("module that was freed", NULL);
}

/* Tensors that forward creates and does not return are freed at its end. */
static void forward_has_a_scope(void **state)
{
    (void)state;
    WK_SCOPE;
    WK_NO_GRAD;
    wk_module *net = wk_nn_sequential(new_scale(2), new_scale(3));
    wk_memory_stats before = {.size = sizeof before}, after = before;
    wk_tensor *x = wk_ones((1 << 18, 2));
    wk_sync();
    wk_memory_stats_of(wk_cpu(), &before);
    wk_memory_reset_peak(wk_cpu());
    for (int k = 0; k < 20; k++) {
        x = wk_forward(net, x);
        if (k % 2) wk_sync();
        WK_SCOPE;
    }
    wk_sync();
    wk_memory_stats_of(wk_cpu(), &after);
    assert_true(after.live - before.live <= 21 * (int64_t)(1 << 21));
}

/* ---- training, buffers, moves ------------------------------------------------------------------------------------ */

static void training_reaches_children(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *child = new_scale(1), *net = wk_nn_sequential(wk_nn_sequential(child));
    assert_true(wk_module_training(child));
    trained = 0;
    assert_true(wk_module_train(net, false) == net);
    assert_false(wk_module_training(child));
    assert_int_equal(trained, 1);
    wk_module_train(net, true);
    assert_true(wk_module_training(child));
}

static wk_tensor *counting_forward(wk_module *self, wk_tensor *x)
{
    wk_module_set_buffer(self, "seen", wk_add(wk_module_buffer(self, "seen"), wk_sum(x)));
    return x;
}

static void buffers_follow_forward(void **state)
{
    (void)state;
    WK_SCOPE;
    static const wk_module_kind kind = {.size = sizeof kind, .name = "counting", .forward1 = counting_forward};
    wk_module *m = wk_module_new(&kind);
    wk_tensor *seen = wk_module_set_buffer(m, "seen", wk_zeros(()));
    for (int k = 0; k < 3; k++) {
        WK_SCOPE;
        wk_forward(m, wk_ones((4), .requires_grad = true));
    }
    assert_true(wk_module_buffer(m, "seen") == seen);
    assert_false(wk_requires_grad(seen));
    EXPECT_VALUES(seen, 0, 12);
    assert_non_null(wk_module_set_buffer(m, "seen", wk_arange(2)));
    EXPECT_SHAPE(seen, 2);
    assert_int_equal(wk_dtype_of(seen), WK_I64);
}

static void moving(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = wk_nn_sequential(new_scale(2), new_scale(3));
    wk_tensor *first = wk_module_parameter(net, "0.factor");
    wk_tensor *mean = wk_module_set_buffer(wk_module_child_by_index(net, 0), "mean", wk_ones((3)));
    wk_tensor *loss = wk_sum(wk_forward(net, wk_ones((2)))), *old = wk_sum(wk_mul(first, 2.0));
    wk_backward(loss);
    wk_tensor *grad = wk_grad_of(first);
    wk_backward(wk_sum(wk_mul(first, 0.0))); /* the second time: accumulated */
    EXPECT_VALUES(grad, 0, 3, 3);
    moved = 0;
    char call[128];
    snprintf(call, sizeof call, "%s:%d", __FILE__, __LINE__ + 1);
    assert_true(wk_module_to(net, test_null()) == net);
    expect_ok();
    assert_int_equal(moved, 2);
    assert_true(wk_module_parameter(net, "0.factor") == first);
    assert_true(wk_grad_of(first) == grad);
    assert_int_equal(wk_device_of(first).kind, WK_NULL);
    assert_int_equal(wk_device_of(grad).kind, WK_NULL);
    assert_int_equal(wk_device_of(mean).kind, WK_NULL);
    assert_true(wk_is_leaf(first) && wk_requires_grad(first));
    wk_backward(old);
    expect_error("moved", "wk_module_to", call, NULL);
    wk_tensor *again = wk_forward(net, wk_ones((2), .device = test_null()));
    assert_int_equal(wk_device_of(again).kind, WK_NULL);
    assert_int_equal(wk_backward(wk_sum(again)), WK_OK);
    wk_sync();
    expect_ok();
}

static void moving_is_all_or_nothing(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = wk_nn_sequential(new_scale(2), new_scale(3));
    wk_sync();
    assert_null(wk_module_to(net, wk_opencl(99)));
    expect_error("opencl:99", NULL);
    assert_null(wk_module_to(net, wk_device_parse("tpu:0")));
    expect_error("tpu:0", NULL);
    wk_memory_stats stats = {.size = sizeof stats};
    wk_memory_stats_of(test_null(), &stats);
    wk_memory_set_limit(test_null(), stats.live + 64); /* one of the two fits */
    wk_memory_trim(test_null());
    assert_null(wk_module_to(net, test_null()));
    expect_error("memory", NULL);
    wk_memory_set_limit(test_null(), 0);
    assert_int_equal(wk_device_of(wk_module_parameter(net, "0.factor")).kind, WK_CPU);
    assert_true(wk_item(wk_sum(wk_module_parameter(net, "1.factor"))) == 6);
    int64_t start = wk__alloc_count();
    wk_module_to(net, test_null());
    wk_module_to(net, wk_cpu());
    int64_t requests = wk__alloc_count() - start;
    for (int64_t n = 1; n <= requests; n++) {
        wk_device before = wk_device_of(wk_module_parameter(net, "0.factor"));
        wk__alloc_fail_at(n);
        wk_module *result = wk_module_to(net, before.kind == WK_CPU ? test_null() : wk_cpu());
        wk__alloc_fail_at(0);
        wk_device first = wk_device_of(wk_module_parameter(net, "0.factor")),
                  last = wk_device_of(wk_module_parameter(net, "1.factor"));
        assert_true(wk_device_eq(first, last));
        assert_true(result ? !wk_device_eq(first, before) : wk_device_eq(first, before));
        wk_clear_error();
    }
}

/* Each allocation fails in turn: an error, no leak, no crash. */
static void without_memory(void **state)
{
    (void)state;
    for (int64_t n = 1; n < 60; n++) {
        WK_SCOPE;
        wk__alloc_fail_at(n);
        wk_module *net = wk_nn_sequential(new_scale(2), wk_nn_module_list(new_scale(3)));
        wk_tensors *list = wk_parameters(net);
        bool whole = list && wk_tensors_count(list) == 2;
        wk__alloc_fail_at(0);
        if (!whole) assert_non_null(wk_error());
        wk_clear_error();
        if (!whole && net) wk_free(net);
    }
    expect_ok();
}

/* ---- freed while running ----------------------------------------------------------------------------------------- */

static wk_module *around;

static wk_tensor *frees_its_container(wk_module *self, wk_tensor *x)
{
    (void)self;
    wk_free(around);
    return wk_mul(x, 2);
}

/* The module exists until its forward ends. */
static void freed_in_its_own_forward(void **state)
{
    (void)state;
    static const wk_module_kind kind = {.size = sizeof kind, .name = "odd", .forward1 = frees_its_container};
    for (int own = 0; own < 2; own++) {
        WK_SCOPE;
        wk_module *inner = wk_module_new(&kind);
        around = own ? inner : wk_nn_sequential(inner, wk_nn_relu(), wk_nn_tanh());
        wk_tensor *y = wk_forward(around, wk_zeros((3)));
        EXPECT_VALUES(y, 0, 0, 0, 0);
        wk_forward(around, y);
        expect_error("module that was freed", NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(freed_in_its_own_forward),
        cmocka_unit_test(a_parameter_is_a_leaf_of_the_module),
        cmocka_unit_test(a_view_becomes_a_separate_parameter),
        cmocka_unit_test(names_are_checked),
        cmocka_unit_test(a_constructor_need_not_check),
        cmocka_unit_test(parameters_come_in_order_and_once),
        cmocka_unit_test(lists_hold_their_tensors),
        cmocka_unit_test(a_forward_that_calls_its_own_module),
        cmocka_unit_test(a_deep_tree),
        cmocka_unit_test(a_module_runs_its_destroy),
        cmocka_unit_test(forward_and_backward),
        cmocka_unit_test(modules_in_parentheses),
        cmocka_unit_test(errors_name_the_call),
        cmocka_unit_test(the_library_s_kinds_inherit_the_site),
        cmocka_unit_test(lists_in_and_out),
        cmocka_unit_test(ownership_without_a_scope),
        cmocka_unit_test(forward_has_a_scope),
        cmocka_unit_test(training_reaches_children),
        cmocka_unit_test(buffers_follow_forward),
        cmocka_unit_test(moving),
        cmocka_unit_test(moving_is_all_or_nothing),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
