/* SPDX-License-Identifier: Apache-2.0 */
/* Tests longjmp out of a hook, or a function's backward or destroy, through an error handler: nothing that the library
 * used may leak. Also tests that freeing chains of functions and modules needs no deep stack. */
#include "support/wick.h"

#include <setjmp.h>
#include <stdlib.h>

static jmp_buf back;
static wk_tensor *seen;

static void jump(void *user, wk_code code, const char *text)
{
    (void)user, (void)code, (void)text;
    longjmp(back, 1);
}

static wk_tensor *fails(wk_tensor *grad, void *user)
{
    (void)user;
    seen = grad;
    wk_neg(NULL);
    return NULL;
}

/* Runs backward of y, from `seed` or ones, in a scope to which a handler's longjmp returns. */
static void backward_and_jump(wk_tensor *y, wk_tensor *seed)
{
    seen = NULL;
    wk_guard scope = wk_scope_open(WK_HERE);
    wk_set_error_handler(jump, NULL);
    if (!setjmp(back)) {
        wk_backward(y, .gradient = seed);
        fail();
    }
    wk_guard_close(&scope);
    wk_set_error_handler(NULL, NULL);
    expect_error("neg: ", NULL);
}

static void expect_freed(wk_tensor *x)
{
    assert_null(wk_add(x, 1));
    expect_error("freed", NULL);
}

/* x times 2, owned by no scope. */
static wk_tensor *doubled(wk_tensor *x)
{
    WK_SCOPE;
    return wk_retain(wk_mul(x, 2));
}

static void roots_and_seeds_can_be_freed_after_a_jump(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_requires_grad_(wk_of(float, (2), 1, 2), true), *y = doubled(x), *seed = doubled(wk_ones((2)));
    wk_register_hook(x, fails, NULL);
    backward_and_jump(y, seed);
    wk_free(y), wk_free(seed);
    expect_freed(y), expect_freed(seed);
}

static void tensors_of_a_hook_are_freed_after_a_jump(void **state)
{
    (void)state;
    for (int how = 0; how < 3; how++) {
        WK_SCOPE;
        wk_tensor *x = wk_requires_grad_(wk_of(float, (2), 1, 2), true), *y = wk_mul(x, 2);
        wk_register_hook(how == 0 ? y : x, fails, NULL, .post_accumulate = how == 2);
        backward_and_jump(wk_sum(y), NULL);
        assert_non_null(seen);
        if (how == 2) wk_set_grad(x, NULL);
        expect_freed(seen);
        assert_int_equal(wk_requires_grad(wk_mul(x, 1)), true);
    }
}

/* More inputs and outputs than a node has room for: separate allocations of the pass are freed, too. */
enum { MANY = 6 };

static void forward_many(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    (void)f;
    for (int k = 0; k < MANY; k++) out[k] = wk_mul(in[k], 2);
}
static void backward_many(wk_function *f, wk_tensor *const grad_out[], wk_tensor *grad_in[])
{
    (void)f, (void)grad_in;
    seen = grad_out[0];
    wk_neg(NULL);
}

static void tensors_of_a_function_are_freed_after_a_jump(void **state)
{
    (void)state;
    WK_SCOPE;
    static const wk_function_kind kind = {.size = sizeof kind,
                                          .name = "many",
                                          .inputs = MANY,
                                          .outputs = MANY,
                                          .forward = forward_many,
                                          .backward = backward_many};
    wk_tensor *x = wk_requires_grad_(wk_of(float, (2), 1, 2), true), *out[MANY], *in[MANY];
    for (int k = 0; k < MANY; k++) in[k] = x;
    assert_int_equal(wk_apply_n(&kind, NULL, WK_ARRAY(in, MANY), out), WK_OK);
    backward_and_jump(wk_sum(wk_add(out[0], out[MANY - 1])), NULL);
    assert_non_null(seen);
    expect_freed(seen);
}

static int ended;

static void forward_fails(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    (void)f, (void)in, (void)out;
    wk_neg(NULL);
}
static void count_end(void *context)
{
    (void)context;
    ended++;
}

static void apply_and_jump(wk_tensor *x)
{
    static const wk_function_kind kind = {
        .size = sizeof kind, .name = "left", .inputs = 1, .outputs = 1, .forward = forward_fails, .destroy = count_end};
    ended = 0;
    wk_guard scope = wk_scope_open(WK_HERE);
    wk_set_error_handler(jump, NULL);
    if (!setjmp(back)) {
        wk_apply(&kind, NULL, (x));
        fail();
    }
    wk_guard_close(&scope);
    wk_set_error_handler(NULL, NULL);
    expect_error("neg: ", NULL);
    assert_int_equal(ended, 1);
}

/* It has a node if x requires grad. */
static void a_function_is_freed_after_a_jump_out_of_forward(void **state)
{
    (void)state;
    WK_SCOPE;
    apply_and_jump(wk_of(float, (2), 1, 2));
    apply_and_jump(wk_requires_grad_(wk_of(float, (2), 1, 2), true));
}

static void a_jump_out_of_wk_grad(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_requires_grad_(wk_of(float, (1), 1), true), *z = doubled(x), *grad;
    wk_register_hook(z, fails, NULL);
    wk_guard scope = wk_scope_open(WK_HERE);
    wk_set_error_handler(jump, NULL);
    if (!setjmp(back)) {
        wk_grad((z), (x), &grad);
        fail();
    }
    wk_guard_close(&scope);
    wk_set_error_handler(NULL, NULL);
    expect_error("neg: ", NULL);
    wk_free(z);
    expect_freed(z);
}

/* ---- chains ------------------------------------------------------------------------------------------------------ */

typedef struct link {
    wk_tensor *before;
    bool fails;
} link;
static int links;

static void forward_link(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    (void)f;
    out[0] = wk_mul(in[0], 1);
}
static void destroy_link(void *context)
{
    link *l = context;
    const bool goes_wrong = l->fails;
    wk_free(l->before);
    free(l);
    links--;
    if (goes_wrong) wk_neg(NULL);
}
static const wk_function_kind link_kind = {.size = sizeof link_kind,
                                           .name = "link",
                                           .inputs = 1,
                                           .outputs = 1,
                                           .forward = forward_link,
                                           .destroy = destroy_link};

/* A tensor whose function holds the previous one, and so on. The destroy of the first fails. */
__attribute__((noinline)) /* so that gcc does not treat its loop as interrupted by a longjmp */
static wk_tensor *
chain(wk_tensor *x, int length, bool fails_last)
{
    wk_tensor *last = NULL;
    for (int k = 0; k < length; k++) {
        WK_SCOPE;
        link *l = malloc(sizeof *l);
        *l = (link){.before = last, .fails = fails_last && k == length - 1};
        links++;
        last = wk_retain(wk_apply(&link_kind, l, (x)));
        if (k % 1000 == 999) wk_flush();
    }
    return last;
}

static void chains_of_functions_need_no_stack(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_requires_grad_(wk_of(float, (2), 1, 2), true);
    wk_free(chain(x, 200000, false));
    assert_int_equal(links, 0);
    expect_ok();
}

/* Deferred destroys run with the next free. */
static void a_jump_out_of_destroy(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_requires_grad_(wk_of(float, (2), 1, 2), true), *last = chain(x, 100, true);
    wk_guard scope = wk_scope_open(WK_HERE);
    wk_set_error_handler(jump, NULL);
    if (!setjmp(back)) {
        wk_free(last);
        fail();
    }
    wk_guard_close(&scope);
    wk_set_error_handler(NULL, NULL);
    expect_error("neg: ", NULL);
    wk_free(chain(x, 1, false));
    assert_int_equal(links, 0);
}

/* ---- modules ----------------------------------------------------------------------------------------------------- */

typedef struct holder {
    wk_module *before;
} holder;

static wk_tensor *return_input(wk_module *m, wk_tensor *x)
{
    (void)m;
    return x;
}
static void destroy_holder(wk_module *m)
{
    holder *h = wk_module_state(m);
    wk_free(h->before);
    links--;
}
static const wk_module_kind holder_kind = {.size = sizeof holder_kind,
                                           .name = "holder",
                                           .state = sizeof(holder),
                                           .forward1 = return_input,
                                           .destroy = destroy_holder};

static void chains_of_modules_need_no_stack(void **state)
{
    (void)state;
    wk_module *last = NULL;
    for (int k = 0; k < 100000; k++) {
        WK_SCOPE;
        wk_module *m = wk_retain(wk_module_new(&holder_kind));
        ((holder *)wk_module_state(m))->before = last;
        links++;
        last = m;
    }
    wk_free(last);
    assert_int_equal(links, 0);
    expect_ok();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roots_and_seeds_can_be_freed_after_a_jump),
        cmocka_unit_test(tensors_of_a_hook_are_freed_after_a_jump),
        cmocka_unit_test(tensors_of_a_function_are_freed_after_a_jump),
        cmocka_unit_test(a_function_is_freed_after_a_jump_out_of_forward),
        cmocka_unit_test(a_jump_out_of_wk_grad),
        cmocka_unit_test(chains_of_functions_need_no_stack),
        cmocka_unit_test(a_jump_out_of_destroy),
        cmocka_unit_test(chains_of_modules_need_no_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
