/* SPDX-License-Identifier: Apache-2.0 */
/* Tests rules 3 to 5 of docs/contributing/invariants.md: guards, handles after their end, lifetimes of texts.
 * engine_scopes and data_loader test the rest of these rules. */
#include "support/wick.h"

static void expect_freed(wk_tensor *x)
{
    wk_exp(x);
    expect_error("exp", "scope has closed", NULL);
}

/* ---- rule 3: guards ---------------------------------------------------------------------------------------------- */

static void closing_a_guard_closes_all_above_it(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_guard scope = wk_scope_open(WK_HERE), grad = wk_no_grad_open(WK_HERE),
             device = wk_device_guard_open(WK_HERE, test_null()), inner = wk_scope_open(WK_HERE);
    uint64_t last = inner.token;
    assert_true(scope.token < grad.token && grad.token < device.token && device.token < inner.token);
    wk_tensor *x = wk_ones((1));
    assert_int_equal(wk_device_of(x).kind, WK_NULL);
    assert_false(wk_is_grad_enabled());
    wk_guard_close(&scope);
    assert_true(wk_is_grad_enabled());
    assert_int_equal(wk_device_of(wk_ones((1))).kind, WK_CPU);
    expect_freed(x);
    wk_guard other = wk_no_grad_open(WK_HERE);
    assert_true(other.token > last); /* guard numbers are never reused, */
    wk_guard_close(&grad);           /* so an old one closes nothing */
    wk_guard_close(&inner);
    assert_false(wk_is_grad_enabled());
    wk_guard_close(&other);
    assert_true(wk_is_grad_enabled());
    expect_ok();
}

static jmp_buf back;
static void jump(void *user, wk_code code, const char *text)
{
    (void)user, (void)code, (void)text;
    longjmp(back, 1);
}

/* A longjmp out of a handler ends the interrupted calls, and their modes, when the surrounding scope closes. */
static void a_handler_may_jump_out(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((2), .requires_grad = true);
    wk_set_error_handler(jump, NULL);
    wk_guard scope = wk_scope_open(WK_HERE);
    if (!setjmp(back)) {
        wk_softmax(wk_ones((2), .dtype = WK_I64), 0);
        fail();
    }
    wk_guard_close(&scope);
    wk_set_error_handler(NULL, NULL);
    expect_error("rules/guards.c", NULL);
    wk_tensor *y = wk_mul(x, 2);
    assert_true(wk_requires_grad(y));
    assert_int_equal(wk_backward(wk_sum(y)), WK_OK);
    wk_exp(NULL);
    expect_error("exp: ", NULL);
    expect_ok();
}

static void fail_at_the_end(wk_module *m)
{
    (void)m;
    wk_neg(NULL);
}
static wk_tensor *return_input(wk_module *m, wk_tensor *x)
{
    (void)m;
    return x;
}
static const wk_module_kind part_kind = {
    .size = sizeof part_kind, .name = "part", .forward1 = return_input, .destroy = fail_at_the_end};

static wk_tensor *jump_from_a_scope(wk_module *m, wk_tensor *x)
{
    (void)m;
    wk_scope_open(WK_HERE);
    wk_module_new(&part_kind);
    wk_exp(NULL);
    return x;
}
static const wk_module_kind jumping_kind = {
    .size = sizeof jumping_kind, .name = "jumping", .forward1 = jump_from_a_scope};

static __attribute__((noinline)) void overwrite_the_stack(void)
{
    volatile char used[1 << 14];
    for (size_t k = 0; k < sizeof used; k++) used[k] = 'x';
}

/* A scope that forward left open closes after the jump. Errors from then on are not attributed to forward, whose frame
 * no longer exists. */
static void errors_after_a_jump_do_not_name_forward(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((2));
    wk_guard scope = wk_scope_open(WK_HERE);
    wk_module *jumping = wk_module_new(&jumping_kind);
    wk_set_error_handler(jump, NULL);
    if (!setjmp(back)) {
        wk_forward(jumping, x);
        fail();
    }
    wk_set_error_handler(NULL, NULL);
    expect_error("exp: ", NULL);
    overwrite_the_stack();
    wk_guard_close(&scope);
    assert_non_null(strstr(wk_error(), "neg: "));
    assert_null(strstr(wk_error(), "forward"));
    wk_clear_error();
}

static int destroyed;
static void count_destroyed(wk_module *m)
{
    (void)m;
    destroyed++;
}
static const wk_module_kind counting_kind = {
    .size = sizeof counting_kind, .name = "counting", .forward1 = return_input, .destroy = count_destroyed};

/* Modules are destroyed one after another, not nested: a jump out of one destroy must not prevent the next. */
static void modules_are_freed_after_a_jump_out_of_destroy(void **state)
{
    (void)state;
    WK_SCOPE;
    destroyed = 0;
    wk_guard scope = wk_scope_open(WK_HERE);
    wk_module *jumps = wk_module_new(&part_kind);
    wk_module_add(jumps, "child", wk_module_new(&counting_kind));
    wk_set_error_handler(jump, NULL);
    if (!setjmp(back)) {
        wk_free(jumps);
        fail();
    }
    wk_set_error_handler(NULL, NULL);
    expect_error("neg: ", NULL);
    wk_free(wk_module_new(&counting_kind));
    assert_int_equal(destroyed, 1);
    wk_guard_close(&scope);
    assert_int_equal(destroyed, 2); /* the child of the module whose destroy jumped */
    expect_ok();
}

static void grad_mode_nests(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *w = wk_ones((1), .requires_grad = true);
    {
        WK_NO_GRAD;
        assert_false(wk_requires_grad(wk_mul(w, 2)));
        {
            WK_ENABLE_GRAD;
            assert_true(wk_requires_grad(wk_mul(w, 2)));
        }
        assert_false(wk_requires_grad(wk_mul(w, 2)));
    }
    assert_true(wk_requires_grad(wk_mul(w, 2)));
}

/* ---- rule 4: handle slots ---------------------------------------------------------------------------------------- */

/* A slot is reused after at least 4,096 later frees; in debug builds never. */
static void slots_are_reused_late(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *first = wk_ones((1));
    wk_free(first);
    for (int k = 0; k < 4095; k++) {
        wk_tensor *x = wk_ones((1));
        assert_ptr_not_equal(x, first);
        wk_free(x);
    }
    wk_exp(first);
    expect_error("exp", "tensor", "freed", NULL);
}

static void a_wild_pointer_is_reported(void **state)
{
    (void)state;
    WK_SCOPE;
    static _Alignas(64) char wild[64];
    int64_t small = 1; /* only the mark of a handle is read */
    void *places[] = {wild, wild + 3, &small};
    for (int k = 0; k < 3; k++) {
        assert_null(wk_retain(places[k]));
        expect_error("retain", "does not point to a tensor of this library", NULL);
    }
    wk_free((wk_tensor *)(void *)wild);
    expect_error("free", "does not point to a tensor of this library", NULL);
}

/* An op reads only the mark of a handle, and only at addresses that a handle can have. */
static void a_wild_operand_is_reported(void **state)
{
    (void)state;
    WK_SCOPE;
    static _Alignas(64) char wild[64];
    static _Alignas(8) uint32_t mark = 7;
    memset(wild, 1, sizeof wild);
    char *places[] = {wild, wild + 1, wild + 60, (char *)&mark};
    for (int k = 0; k < 4; k++) {
        wk_tensor *x = (wk_tensor *)(void *)places[k];
        assert_null(wk_neg(x));
        expect_error("neg", "does not point to a tensor of this library", NULL);
        assert_int_equal(wk_ndim(x), 0);
        expect_error("ndim", "does not point to a tensor of this library", NULL);
        assert_null(wk_forward((wk_module *)x, wk_ones((2))));
        expect_error("forward", "of this library (invalid pointer)", NULL);
    }
}

/* ---- rule 5: texts ----------------------------------------------------------------------------------------------- */

static void texts_live_as_long_as_their_object(void **state)
{
    (void)state;
    WK_SCOPE;
    const char *device = wk_device_str(test_null()), *dtype = wk_dtype_str(WK_BF16);
    wk_tensor *x = wk_ones((2)), *y = wk_ones((3));
    wk_module *m = wk_nn_sequential(wk_nn_linear(1, 1));
    const char *about_x = wk_describe(x), *kind = wk_module_kind_name(m), *child = wk_module_child_name(m, 0);
    wk_tensors *list = wk_parameters(m);
    const char *name = wk_tensors_name(list, 0);
    wk_add(x, y);
    const char *error = wk_error();
    char *copy = strdup(error);
    wk_exp(NULL);
    for (int k = 0; k < 100; k++) {
        WK_SCOPE;
        wk_describe(wk_ones((k + 4)));
        wk_describe(y);
    }
    assert_ptr_equal(wk_error(), error); /* until the error is cleared */
    assert_string_equal(error, copy);
    free(copy);
    wk_clear_error();
    assert_string_equal(about_x, "f32[2] cpu");
    assert_string_equal(kind, "sequential");
    assert_string_equal(child, "0");
    assert_string_equal(name, "0.weight");
    assert_ptr_equal(device, wk_device_str(test_null()));
    assert_ptr_equal(dtype, wk_dtype_str(WK_BF16));
}

static void any_number_of_texts_in_one_printf(void **state)
{
    (void)state;
    wk_tensor *lasting = wk_of(float, (1), 3);
    char line[400];
    {
        WK_SCOPE;
        wk_tensor *x = wk_of(float, (2), 1, 2), *y = wk_ones((3), .dtype = WK_I64);
        snprintf(line, sizeof line, "%s|%s|%s|%s|%s", wk_describe(x), wk_tensor_str(x), wk_describe(y), wk_describe(x),
                 wk_tensor_str(lasting));
        assert_string_equal(line, "f32[2] cpu|tensor([1., 2.])|i64[3] cpu|f32[2] cpu|tensor([3.])");
        const char *before = wk_tensor_str(x);
        wk_add_(x, 1);
        const char *after = wk_tensor_str(x);
        wk_free(x); /* the scope owns the texts */
        assert_string_equal(before, "tensor([1., 2.])");
        assert_string_equal(after, "tensor([2., 3.])");
    }
    /* no scope: they live as long as the tensor */
    const char *one = wk_describe(lasting), *two = wk_tensor_str(lasting);
    wk_mul_(lasting, 2);
    snprintf(line, sizeof line, "%s|%s|%s", one, two, wk_tensor_str(lasting));
    assert_string_equal(line, "f32[1] cpu|tensor([3.])|tensor([6.])");
    wk_free(lasting);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closing_a_guard_closes_all_above_it),
        cmocka_unit_test(grad_mode_nests),
        cmocka_unit_test(a_handler_may_jump_out),
        cmocka_unit_test(errors_after_a_jump_do_not_name_forward),
        cmocka_unit_test(modules_are_freed_after_a_jump_out_of_destroy),
        cmocka_unit_test(slots_are_reused_late),
        cmocka_unit_test(a_wild_pointer_is_reported),
        cmocka_unit_test(a_wild_operand_is_reported),
        cmocka_unit_test(texts_live_as_long_as_their_object),
        cmocka_unit_test(any_number_of_texts_in_one_printf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
