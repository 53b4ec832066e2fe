/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that the program lends: what its release may do. */
#include "support_wick.h"

#include <setjmp.h>

enum { LONG = 100000 };

static float numbers[LONG];
static wk_tensor *held[LONG]; /* held[k] goes when the memory of tensor k + 1 is given back */
static int released;

static void free_the_next(void *user)
{
    const long k = (float *)user - numbers;
    released++;
    if (k > 0) wk_free(held[k - 1]);
}

static wk_tensor *chain(int length)
{
    for (int k = 0; k < length; k++) {
        WK_SCOPE;
        held[k] = wk_retain(wk_borrow(&numbers[k], (1), free_the_next, &numbers[k]));
    }
    released = 0;
    return held[length - 1];
}

static void chains_of_releases_need_no_stack(void **state)
{
    (void)state;
    wk_free(chain(LONG));
    assert_int_equal(released, LONG);
    {
        WK_SCOPE;
        wk_tensor *view = wk_retain(wk_reshape(chain(LONG), (1, 1))); /* the memory goes with its last user */
        wk_free(held[LONG - 1]);
        assert_int_equal(released, 0);
        wk_free(view);
    }
    assert_int_equal(released, LONG);
    expect_fine();
}

static void a_short_chain_goes_at_once(void **state)
{
    (void)state;
    for (int length = 1; length < 20; length++) {
        wk_free(chain(length));
        assert_int_equal(released, length);
    }
    expect_fine();
}

static jmp_buf back;

static void jump(void *user, wk_code code, const char *text)
{
    (void)user, (void)code, (void)text;
    longjmp(back, 1);
}

static void fail_and_free_the_next(void *user)
{
    free_the_next(user);
    wk_neg(NULL);
}

/* The memory of one tensor goes with a scope, its release frees a chain and fails, and the handler leaves. */
static void leave_a_release(void)
{
    wk_guard scope = wk_scope_open(WK_HERE);
    chain(30);
    wk_borrow(&numbers[30], (1), fail_and_free_the_next, &numbers[30]);
    wk_set_error_handler(jump, NULL);
    if (!setjmp(back)) wk_guard_close(&scope);
    wk_guard_close(&scope);
    wk_set_error_handler(NULL, NULL);
    expect_error("neg", NULL);
    assert_int_equal(released, 31);
}

/* As often as none would be called any more if each time were counted for good. */
static void a_release_may_be_left(void **state)
{
    (void)state;
    for (int k = 0; k < 300; k++) leave_a_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_of_releases_need_no_stack),
        cmocka_unit_test(a_short_chain_goes_at_once),
        cmocka_unit_test(a_release_may_be_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
