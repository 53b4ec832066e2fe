/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the release functions of borrowed memory: they may free other tensors, fail, and jump out through an error
 * handler. */
#include "support/devices.h"

#include <pthread.h>
#include <setjmp.h>

enum { LONG = 100000 };

static float numbers[LONG];
static wk_tensor *held[LONG]; /* held[k] is freed when the memory of tensor k + 1 is released */
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
        wk_tensor *view = wk_retain(wk_reshape(chain(LONG), (1, 1))); /* the memory is released with its last user */
        wk_free(held[LONG - 1]);
        assert_int_equal(released, 0);
        wk_free(view);
    }
    assert_int_equal(released, LONG);
    expect_ok();
}

static void a_short_chain_is_released_at_once(void **state)
{
    (void)state;
    for (int length = 1; length < 20; length++) {
        wk_free(chain(length));
        assert_int_equal(released, length);
    }
    expect_ok();
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

/* The memory of one tensor is released with a scope; its release frees a chain and fails, and the handler jumps out. */
static void jump_out_of_a_release(void)
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

/* More often than the limit of nested releases, in case a jump did not reset the count. */
static void a_jump_out_of_a_release(void **state)
{
    (void)state;
    for (int k = 0; k < 300; k++) jump_out_of_a_release();
}

/* ---- releases within destroys ------------------------------------------------------------------------------------ */

enum { DEEP = 12 };
static wk_module *within[DEEP];
static wk_tensor *innermost;
static int depth;

static void count(void *user)
{
    (void)user;
    released++;
}

/* Nested destroys; the innermost frees borrowed memory. */
static void free_the_module_within(wk_module *m)
{
    (void)m;
    if (++depth < DEEP)
        wk_free(within[depth]);
    else
        wk_free(innermost);
}

static void destroy_all(void)
{
    static const wk_module_kind kind = {.size = sizeof kind, .name = "outer", .destroy = free_the_module_within};
    for (int k = 0; k < DEEP; k++) within[k] = wk_module_new(&kind);
    innermost = wk_borrow(numbers, (4), count, NULL);
    depth = released = 0;
    wk_free(within[0]);
}

static void memory_is_released_in_deep_destroys(void **state)
{
    (void)state;
    destroy_all();
    assert_int_equal(depth, DEEP);
    assert_int_equal(released, 1);
    expect_ok();
}

static bool leaving;
static void jump_at_once(void *user)
{
    (void)user;
    if (leaving) longjmp(back, 1);
}

static void jump_out_of_one(void)
{
    wk_tensor *left = wk_borrow(numbers, (4), jump_at_once, NULL);
    if (!setjmp(back)) wk_free(left);
}

/* The program's own longjmp has left releases without an enclosing scope, so their end is never recorded. */
static void *jump_and_end(void *unused)
{
    (void)unused;
    released = 0;
    leaving = true;
    for (int k = 0; k < 20; k++) jump_out_of_one();
    leaving = false;
    wk_free(wk_borrow(numbers, (4), count, NULL));
    return NULL;
}

static void a_thread_releases_all_memory_at_its_end(void **state)
{
    (void)state;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, jump_and_end, NULL), 0);
    pthread_join(thread, NULL);
    assert_int_equal(released, 1);
    expect_ok();
}

/* Bytes other than 0 and 1, which C's bool never has, are true, wherever they are read, also after a copy. */
static void any_byte_but_0_is_true(void **state)
{
    (void)state;
    static unsigned char bytes[40];
    for (int k = 0; k < 40; k++) bytes[k] = (unsigned char)(k % 4 == 3 ? 255 : k % 4);
    for (int way = 0; way < 4 + (wk_device_count(test_gpu_kind()) > 0); way++) {
        WK_SCOPE;
        wk_tensor *x = wk_borrow_at(WK_HERE, WK_BOOL, bytes, (int64_t[]){40}, 1, NULL, NULL), *values, *places;
        if (way == 1) x = wk_clone(x);
        if (way == 2) x = wk_cat((x, x), 0);
        if (way == 3) x = wk_from_at(WK_HERE, WK_BOOL, bytes, 40, (int64_t[]){40}, 1);
        if (way == 4) x = wk_to(x, test_gpu(0));
        x = wk_narrow(x, 0, 0, 4);
        EXPECT_VALUES(wk_to_dtype(x, WK_I64), 0, 0, 1, 1, 1);
        EXPECT_VALUES(wk_to_dtype(x, WK_U8), 0, 0, 1, 1, 1);
        EXPECT_VALUES(wk_sum(x), 0, 3);
        EXPECT_VALUES(wk_cumsum(x, 0), 0, 0, 1, 2, 3);
        EXPECT_VALUES(wk_eq(x, wk_ones_like(x)), 0, 0, 1, 1, 1);
        EXPECT_VALUES(wk_logical_not(x), 0, 1, 0, 0, 0);
        EXPECT_VALUES(wk_mul(x, 3), 0, 0, 3, 3, 3);
        EXPECT_VALUES(wk_unique(x), 0, 0, 1);
        wk_tensor *index = wk_to(wk_of(int64_t, (2), 2, 0), wk_device_of(x));
        EXPECT_VALUES(wk_gather(x, 0, index), 0, 1, 0);
        wk_sort(x, 0, true, &values, &places);
        EXPECT_VALUES(values, 0, 1, 1, 1, 0);
        EXPECT_VALUES(places, 0, 1, 2, 3, 0);
        unsigned char read[4] = {9, 9, 9, 9}, want[4] = {0, 1, 1, 1};
        assert_int_equal(wk_read_at(WK_HERE, x, read, sizeof read), WK_OK);
        assert_memory_equal(read, want, sizeof read);
    }
    expect_ok();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_of_releases_need_no_stack),
        cmocka_unit_test(a_short_chain_is_released_at_once),
        cmocka_unit_test(a_jump_out_of_a_release),
        cmocka_unit_test(memory_is_released_in_deep_destroys),
        cmocka_unit_test(a_thread_releases_all_memory_at_its_end),
        cmocka_unit_test(any_byte_but_0_is_true),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
