/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that the error handler is called once for each first error, including errors in user functions that the library
 * calls, and errors which those functions have cleared. */
#include "support/wick.h"

#include <setjmp.h>

static int reported;
static char texts[8][200];

static void listen(void *user, wk_code code, const char *text)
{
    (void)user;
    assert_int_not_equal(code, WK_OK);
    snprintf(texts[reported % 8], sizeof texts[0], "%s", text);
    reported++;
}

/* Number of errors that each user function causes and clears. */
static int errors_per_call = 1;

static void fail_and_clear(void)
{
    for (int k = 0; k < errors_per_call; k++) {
        WK_SCOPE;
        assert_null(wk_reshape(wk_ones((4)), (k + 5)));
        assert_int_equal(wk_error_code(), WK_ERR_SHAPE);
        wk_clear_error();
    }
}

/* ---- user functions ---------------------------------------------------------------------------------------------- */

static wk_tensor *forward(wk_module *m, wk_tensor *x)
{
    (void)m;
    fail_and_clear();
    return x;
}
static void end_of_module(wk_module *m)
{
    (void)m;
    fail_and_clear();
}
static void trained(wk_module *m, bool on)
{
    (void)m, (void)on;
    fail_and_clear();
}
static void moved(wk_module *m, wk_device device)
{
    (void)m, (void)device;
    fail_and_clear();
}
static const wk_module_kind module_kind = {.size = sizeof module_kind,
                                           .name = "failing",
                                           .forward1 = forward,
                                           .destroy = end_of_module,
                                           .on_move = moved,
                                           .on_train = trained};

static void twice(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    (void)f;
    out[0] = wk_mul(in[0], 2);
}
static void end_of_function(void *context)
{
    (void)context;
    fail_and_clear();
}
static const wk_function_kind function_kind = {.size = sizeof function_kind,
                                               .name = "failing",
                                               .inputs = 1,
                                               .outputs = 1,
                                               .forward = twice,
                                               .backward = twice,
                                               .destroy = end_of_function};

static float memory[4];
static void release(void *user)
{
    (void)user;
    fail_and_clear();
}
static wk_tensor *borrowed_tensor(void)
{
    return wk_borrow(memory, (4), release, NULL);
}

/* ---- calls that run them ----------------------------------------------------------------------------------------- */

static wk_module *module;
static wk_tensor *leaf;

static void forward_fails(void)
{
    WK_SCOPE;
    wk_forward(module, leaf);
}
static void train_fails(void)
{
    wk_module_train(module, true);
}
static void move_fails(void)
{
    wk_module_to(module, wk_cpu());
}
static void freed_module_fails(void)
{
    wk_free(wk_module_new(&module_kind));
}
static void module_of_a_scope_fails(void)
{
    WK_SCOPE;
    wk_module_new(&module_kind);
}
static void freed_function_fails(void)
{
    wk_free(wk_apply(&function_kind, NULL, (leaf)));
}
static void function_of_a_scope_fails(void)
{
    WK_SCOPE;
    wk_apply(&function_kind, NULL, (leaf));
}
static void freed_memory_fails(void)
{
    wk_free(borrowed_tensor());
}
static void memory_of_a_scope_fails(void)
{
    WK_SCOPE;
    borrowed_tensor();
}
static void carried_memory_fails(void)
{
    WK_SCOPE;
    wk_tensor *state = NULL;
    for (int k = 0; k < 2; k++) {
        WK_SCOPE;
        wk_carry(&state, k ? wk_ones((4)) : borrowed_tensor());
    }
}
static void gradient_fails(void)
{
    WK_SCOPE;
    {
        WK_SCOPE;
        wk_set_grad(leaf, borrowed_tensor());
    }
    wk_set_grad(leaf, NULL);
}
static void zeroed_gradient_fails(void)
{
    WK_SCOPE;
    wk_tensors *list = wk_list((leaf));
    wk_optim *optim = wk_optim_sgd(list, .lr = 1);
    {
        WK_SCOPE;
        wk_set_grad(leaf, borrowed_tensor());
    }
    wk_optim_zero_grad(optim);
}
/* The error does not belong to a running call: the next call reports it. */
static void buffer_fails(void)
{
    WK_SCOPE;
    wk_module *holds = wk_nn_relu();
    {
        WK_SCOPE;
        wk_module_set_buffer(holds, "lent", borrowed_tensor());
    }
    wk_module_set_buffer(holds, "lent", wk_zeros((4)));
    wk_flush();
}

static const test_call calls[] = {
    {TEST_CALL(forward_fails)},
    {TEST_CALL(train_fails)},
    {TEST_CALL(move_fails)},
    {TEST_CALL(freed_module_fails)},
    {TEST_CALL(module_of_a_scope_fails)},
    {TEST_CALL(freed_function_fails)},
    {TEST_CALL(function_of_a_scope_fails)},
    {TEST_CALL(freed_memory_fails)},
    {TEST_CALL(memory_of_a_scope_fails)},
    {TEST_CALL(carried_memory_fails)},
    {TEST_CALL(gradient_fails)},
    {TEST_CALL(zeroed_gradient_fails)},
    {TEST_CALL(buffer_fails)},
};
enum { CALLS = sizeof calls / sizeof *calls };

static void begin(void)
{
    errors_per_call = 0;
    module = wk_module_new(&module_kind);
    leaf = wk_requires_grad_(wk_ones((4)), true);
}

static void end(void)
{
    wk_set_error_handler(NULL, NULL);
    errors_per_call = 0;
    wk_free(module), wk_free(leaf);
    errors_per_call = 1;
}

static void each_error_is_reported_once(void **state)
{
    (void)state;
    begin();
    wk_set_error_handler(listen, NULL);
    for (int k = 0; k < CALLS; k++)
        for (errors_per_call = 0; errors_per_call < 4; errors_per_call++) {
            reported = 0;
            calls[k].make();
            if (reported != errors_per_call)
                fail_msg("%s: %d of %d errors were reported", calls[k].name, reported, errors_per_call);
            for (int n = 0; n < errors_per_call; n++) {
                char wanted[40];
                snprintf(wanted, sizeof wanted, "to [%d]", n + 5);
                if (!strstr(texts[n], wanted) || !strstr(texts[n], "rules/handlers.c:"))
                    fail_msg("%s: error %d is reported as \"%s\"", calls[k].name, n, texts[n]);
            }
            expect_ok();
        }
    end();
}

/* ---- a handler that jumps ---------------------------------------------------------------------------------------- */

static jmp_buf back;

static void jump(void *user, wk_code code, const char *text)
{
    listen(user, code, text);
    longjmp(back, 1);
}

/* Errors not yet reported when the handler jumps are reported later. */
static void remaining_errors_are_reported_after_a_jump(void **state)
{
    (void)state;
    begin();
    for (int k = 0; k < CALLS; k++) {
        errors_per_call = 3;
        reported = 0;
        wk_guard scope = wk_scope_open(WK_HERE);
        wk_set_error_handler(jump, NULL);
        if (!setjmp(back)) calls[k].make();
        wk_set_error_handler(listen, NULL);
        errors_per_call = 0;
        wk_guard_close(&scope);
        wk_free(wk_ones((1)));
        const bool at_once = k == 0; /* forward stops at its first error */
        if (reported != (at_once ? 1 : 3)) fail_msg("%s: %d errors were reported", calls[k].name, reported);
        wk_clear_error();
        wk_set_grad(leaf, NULL);
        assert_true(wk_item(wk_sum(leaf)) == 4);
        expect_ok();
    }
    end();
}

/* A forward inside of a destroy defers its errors like the destroy itself: the handler is called when the destroy has
 * ended. */
static bool gone;
static void record_message(void *user, wk_code code, const char *text)
{
    listen(user, code, text);
    assert_true(gone);
}
static wk_tensor *forward_with_an_error(wk_module *m, wk_tensor *x)
{
    (void)m;
    return wk_reshape(x, (7));
}
static const wk_module_kind wrong_kind = {
    .size = sizeof wrong_kind, .name = "wrong", .forward1 = forward_with_an_error};
static void run_another(wk_module *m)
{
    WK_SCOPE;
    (void)m;
    assert_null(wk_forward(wk_module_new(&wrong_kind), wk_ones((4))));
    gone = true;
}

static void forward_within_a_destroy(void **state)
{
    (void)state;
    static const wk_module_kind kind = {.size = sizeof kind, .name = "runs", .destroy = run_another};
    reported = 0;
    gone = false;
    wk_set_error_handler(record_message, NULL);
    wk_free(wk_module_new(&kind));
    wk_set_error_handler(NULL, NULL);
    assert_int_equal(reported, 1);
    expect_error("reshape", "in forward of \"wrong\"", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_error_is_reported_once),
        cmocka_unit_test(remaining_errors_are_reported_after_a_jump),
        cmocka_unit_test(forward_within_a_destroy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
