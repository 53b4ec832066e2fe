/* SPDX-License-Identifier: Apache-2.0 */
/* Call scopes (src/tensor/call_scope.h): owners of results, grad modes, names in errors, error handlers that leave by
 * longjmp, and allocation failures. */
#include "support/alloc_faults.h"
#include "support/wick.h"
#include "tensor/call_scope.h"

#include <pthread.h>

static const wk_site site = {.file = "outer.c", .line = 7};

static void begin(wk__call_scope *c, wk__frame_kind frame, const char *name, wk__call_grad grad)
{
    assert_true(wk__call_begin(c, frame, name, site, grad));
}

static int references(const wk_tensor *x)
{
    return atomic_load(&((wk_tensor *)(uintptr_t)x)->handle.refs);
}

/* ---- ownership --------------------------------------------------------------------------------------------------- */

static void results_move_to_the_enclosing_scope(void **state)
{
    (void)state;
    static const wk__frame_kind kinds[] = {WK__FRAME_CALL, WK__FRAME_CALLBACK};
    for (int k = 0; k < 2; k++) {
        wk_guard outer = wk_scope_open(WK_HERE);
        wk__call_scope c;
        wk_tensor *before = wk_ones((2));
        begin(&c, kinds[k], "outer", WK__GRAD_KEPT);
        wk_tensor *made = wk_ones((3)), *temporary = wk_ones((4)), *out[] = {made, before, NULL};
        wk__call_end(&c, out, 3);
        assert_true(wk__is_tensor(made));
        assert_false(wk__is_tensor(temporary));
        assert_int_equal(references(made), 1);
        assert_int_equal(references(before), 1);
        wk_guard_close(&outer);
        assert_false(wk__is_tensor(made));
        expect_ok();
    }
}

static void results_without_a_scope_count_for_the_caller(void **state)
{
    (void)state;
    static const wk__frame_kind kinds[] = {WK__FRAME_CALL, WK__FRAME_CALLBACK};
    for (int k = 0; k < 2; k++) {
        wk__call_scope c;
        wk_tensor *before = wk_ones((2));
        begin(&c, kinds[k], "outer", WK__GRAD_KEPT);
        wk_tensor *made = wk_ones((3)), *out[] = {made, before};
        wk__call_end(&c, out, 2);
        assert_int_equal(references(made), 1);
        assert_int_equal(references(before), 2);
        wk_free(before);
        wk_free(before);
        wk_free(made);
        assert_false(wk__is_tensor(before) || wk__is_tensor(made));
        expect_ok();
    }
}

/* ---- gradients --------------------------------------------------------------------------------------------------- */

static void grad_modes(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_requires_grad_(wk_ones((2)), true);
    for (int outside = 0; outside < 2; outside++)
        for (int grad = WK__GRAD_KEPT; grad <= WK__GRAD_COMPOSITE; grad++) {
            wk_guard mode = outside ? wk_enable_grad_open(WK_HERE) : wk_no_grad_open(WK_HERE);
            wk__call_scope c;
            begin(&c, WK__FRAME_CALL, "outer", (wk__call_grad)grad);
            const bool enabled = grad == WK__GRAD_KEPT || grad == WK__GRAD_COMPOSITE ? outside : grad == WK__GRAD_ON;
            assert_int_equal(wk_is_grad_enabled(), enabled);
            assert_int_equal(wk_requires_grad(wk_mul(x, 2)), enabled && grad != WK__GRAD_COMPOSITE);
            wk__call_end(&c, NULL, 0);
            assert_int_equal(wk_is_grad_enabled(), outside);
            assert_int_equal(wk_requires_grad(wk_mul(x, 2)), outside);
            wk_guard_close(&mode);
        }
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

static void mistake(void)
{
    wk_reshape_at((wk_site){.file = "inner.c", .line = 3}, wk_ones((2)), (const int64_t[]){3}, 1);
}

static void errors_name_the_outermost_call(void **state)
{
    (void)state;
    WK_SCOPE;
    wk__call_scope outer, inner;
    begin(&outer, WK__FRAME_CALL, "outer", WK__GRAD_KEPT);
    assert_true(wk__call_begin(&inner, WK__FRAME_CALL, "inner", (wk_site){0}, WK__GRAD_KEPT));
    assert_int_equal(inner.site.line, site.line);
    mistake();
    wk__call_end(&inner, NULL, 0);
    wk__call_end(&outer, NULL, 0);
    expect_error("outer.c:7: outer: ", NULL);
    begin(&outer, WK__FRAME_CALL, NULL, WK__GRAD_KEPT);
    mistake();
    wk__call_end(&outer, NULL, 0);
    expect_error("outer.c:7: reshape: ", NULL);
    begin(&outer, WK__FRAME_CALLBACK, "forward of \"f\"", WK__GRAD_KEPT);
    mistake();
    wk__call_end(&outer, NULL, 0);
    expect_error("inner.c:3: reshape: ", "(in forward of \"f\")", NULL);
}

static int handled;
static int64_t guards_at_error;
static jmp_buf back;

static void count(void *user, wk_code code, const char *text)
{
    (void)user, (void)code, (void)text;
    handled++;
}

static void jump(void *user, wk_code code, const char *text)
{
    (void)user, (void)code, (void)text;
    guards_at_error = wk__context()->guards;
    longjmp(back, 1);
}

/* Returns true if the error handler left `run` by longjmp. */
static bool is_left(void (*run)(void))
{
    wk_set_error_handler(jump, NULL);
    guards_at_error = -1;
    if (!setjmp(back)) run();
    wk_set_error_handler(NULL, NULL);
    return guards_at_error >= 0;
}

static void errors_of_calls_are_delivered_at_the_end(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_set_error_handler(count, NULL);
    for (int user = 0; user < 2; user++) {
        wk__call_scope c;
        handled = 0;
        begin(&c, user ? WK__FRAME_CALLBACK : WK__FRAME_CALL, "outer", WK__GRAD_KEPT);
        mistake();
        assert_int_equal(handled, user);
        wk__call_end(&c, NULL, 0);
        assert_int_equal(handled, 1);
        wk_clear_error();
    }
    wk_set_error_handler(NULL, NULL);
}

/* User code in a call without gradients, left by longjmp. Whatever guard closes next restores the frame. */
static wk_tensor *made_by_user;
static void fail_in_user_code(void)
{
    wk__call_scope call, user;
    begin(&call, WK__FRAME_CALL, "outer", WK__GRAD_OFF);
    begin(&user, WK__FRAME_CALLBACK, "f", WK__GRAD_COMPOSITE);
    made_by_user = wk_ones((2));
    mistake();
}

static void a_handler_leaves_user_code(void **state)
{
    (void)state;
    const wk_context *context = wk__context();
    const int64_t guards = context->guards;
    wk_guard scope = wk_scope_open(WK_HERE);
    assert_true(is_left(fail_in_user_code));
    wk_guard_close(&scope);
    assert_int_equal(context->guards, guards);
    assert_true(wk_is_grad_enabled());
    assert_false(context->frame.api_call.active || context->frame.callback || context->frame.composing);
    assert_false(wk__is_tensor(made_by_user));
    wk_clear_error();
    WK_SCOPE;
    assert_true(wk_requires_grad(wk_mul(wk_requires_grad_(wk_ones((2)), true), 2)));
}

/* A tensor of another thread's scope. */
static pthread_barrier_t there;
static wk_tensor *foreign;

static void *own_one(void *unused)
{
    WK_SCOPE;
    foreign = wk_ones((2));
    pthread_barrier_wait(&there);
    pthread_barrier_wait(&there);
    return unused;
}

static void return_foreign(void)
{
    wk__call_scope c;
    begin(&c, WK__FRAME_CALLBACK, "f", WK__GRAD_OFF);
    wk__call_end(&c, &foreign, 1);
}

/* User code that returns such a tensor is an error of the call, and the handler gets it once the scope has closed. */
static void a_handler_leaves_the_end(void **state)
{
    (void)state;
    pthread_t thread;
    pthread_barrier_init(&there, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, own_one, NULL), 0);
    pthread_barrier_wait(&there);
    wk_guard scope = wk_scope_open(WK_HERE);
    assert_true(is_left(return_foreign));
    assert_int_equal(guards_at_error, wk__context()->guards);
    assert_true(wk_is_grad_enabled());
    expect_error("outer.c:7: keep: ", "another thread", NULL);
    wk_guard_close(&scope);
    pthread_barrier_wait(&there);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&there);
}

/* ---- allocation failures ----------------------------------------------------------------------------------------- */

static int entered, entered_without_scope;

/* Called by all user code below. */
static void enter(void)
{
    entered++;
    entered_without_scope += wk_error() && strstr(wk_error(), "out of host memory for a scope");
}

static wk_tensor *pass(wk_module *m, wk_tensor *x)
{
    (void)m;
    enter();
    return x;
}
static wk_tensor *hook(wk_tensor *grad, void *user)
{
    (void)grad, (void)user;
    enter();
    return NULL;
}
static void apply_forward(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    (void)f;
    enter();
    out[0] = wk_mul(in[0], 2);
}
static void apply_backward(wk_function *f, wk_tensor *const out[], wk_tensor *in[])
{
    (void)f;
    enter();
    in[0] = out[0];
}
static wk_tensor *loss(void *user)
{
    enter();
    return wk_sum(user);
}
static wk_tensor *sum(wk_tensor *const *in, void *user)
{
    (void)user;
    enter();
    return wk_sum(in[0]);
}

static void run_module(void)
{
    static const wk_module_kind kind = {.size = sizeof kind, .name = "passing", .forward1 = pass};
    wk_forward(wk_module_new(&kind), wk_ones((2)));
}
static void run_hook(void)
{
    wk_tensor *x = wk_requires_grad_(wk_ones((2)), true);
    wk_register_hook(x, hook, NULL);
    wk_register_hook(x, hook, NULL, .post_accumulate = true);
    wk_backward(wk_sum(x));
}
static void run_function(void)
{
    static const wk_function_kind kind = {.size = sizeof kind,
                                          .name = "doubled",
                                          .inputs = 1,
                                          .outputs = 1,
                                          .forward = apply_forward,
                                          .backward = apply_backward};
    wk_backward(wk_sum(wk_apply(&kind, NULL, (wk_requires_grad_(wk_ones((2)), true)))));
}
static void run_closure(void)
{
    wk_tensor *x = wk_requires_grad_(wk_ones((2)), true);
    wk_optim_step_closure(wk_optim_sgd(wk_list((x)), .lr = 0.1), loss, x);
}
static void run_gradcheck(void)
{
    wk_tensor *in[1] = {wk_ones((1), .dtype = WK_F64, .requires_grad = true)};
    wk_gradcheck(sum, NULL, WK_ARRAY(in, 1));
}

/* No user code, but scopes too: the gradients of the base and of its views are rearranged. */
static void write_to_a_view(void)
{
    wk_tensor *x = wk_requires_grad_(wk_ones((2, 2)), true), *y = wk_mul(x, 2), *row = wk_select(y, 0, 1),
              *other = wk_select(y, 0, 0);
    wk_mul_(row, wk_add(other, 1));
    wk_backward(wk_sum(wk_mul(other, y)));
    entered = 1;
}

/* Makes the call while request n fails. The context is a new one, whose stack of guards has room for so many more
 * before it has to grow. Returns true if that request was made; *refused: a scope could not be opened. */
static bool call_with_fault(void (*call)(void), int64_t room, long long n, bool *refused)
{
    wk_context *context = wk__context_make();
    assert_non_null(context);
    wk__context_enter(context);
    do wk_scope_open(WK_HERE);
    while (context->guard_capacity - context->guards != room);
    entered = entered_without_scope = 0;
    alloc_faults_arm(n, false);
    call();
    const bool fired = alloc_fault_fired();
    alloc_faults_arm(0, false);
    assert_int_equal(entered_without_scope, 0);
    assert_true(wk_error() || entered > 0);
    *refused = wk_error() && strstr(wk_error(), "out of host memory for a scope");
    alloc_faults_disarm();
    wk__context_enter(NULL);
    wk__context_destroy(context);
    return fired;
}

/* The first failure of a kind may fill a cache. */
static void expect_no_leak(void (*call)(void), int64_t room, long long n)
{
    bool refused;
    const long long live = alloc_live_blocks();
    call_with_fault(call, room, n, &refused);
    if (alloc_live_blocks() != live)
        fail_msg("room for %d guards, request %lld: %lld blocks stay behind", (int)room, n, alloc_live_blocks() - live);
}

/* With every request failing in turn, at every height of the stack: user code runs in its scope or not at all, a call
 * that could not run it fails, and no memory stays behind. */
static void no_room_for_a_scope(void **state)
{
    (void)state;
    static void (*const calls[])(void) = {run_module,  run_hook,      run_function,
                                          run_closure, run_gradcheck, write_to_a_view};
    enum { CALLS = sizeof calls / sizeof *calls, ROOM = 6 };
    for (int k = 0; k < CALLS; k++) {
        int refusals = 0;
        bool refused;
        for (int64_t room = 0; room < ROOM; room++) {
            bool fired = true;
            for (long long n = 1; fired; n++) {
                const long long live = alloc_live_blocks();
                fired = call_with_fault(calls[k], room, n, &refused);
                refusals += refused;
                if (alloc_live_blocks() != live) expect_no_leak(calls[k], room, n);
            }
        }
        assert_true(refusals > 0);
    }
}

int main(void)
{
    alloc_faults_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(results_move_to_the_enclosing_scope, test_clean),
        cmocka_unit_test_teardown(results_without_a_scope_count_for_the_caller, test_clean),
        cmocka_unit_test_teardown(grad_modes, test_clean),
        cmocka_unit_test_teardown(errors_name_the_outermost_call, test_clean),
        cmocka_unit_test_teardown(errors_of_calls_are_delivered_at_the_end, test_clean),
        cmocka_unit_test_teardown(a_handler_leaves_user_code, test_clean),
        cmocka_unit_test_teardown(a_handler_leaves_the_end, test_clean),
        cmocka_unit_test_teardown(no_room_for_a_scope, test_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
