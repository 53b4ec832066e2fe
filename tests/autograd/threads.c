/* SPDX-License-Identifier: Apache-2.0 */
/* Tests a view whose base is freed in another thread: a thread that alone has the view may write it and run backward
 * through it. Also run under ThreadSanitizer. */
#include "support/threads.h"

enum { ROUNDS = 2000 };

typedef struct passing {
    _Atomic(wk_tensor *) slot; /* handed over and not yet taken */
    bool writes;
} passing;

static void runs_backward(test_thread *t, wk_tensor *view)
{
    wk_tensor *w = wk_ones((3), .requires_grad = true);
    wk_mul_(view, w);
    THREAD_CHECK(t, wk_backward(wk_sum(view)) == WK_OK);
    THREAD_CHECK(t, wk_item(wk_sum(wk_grad_of(w))) == 6);
}

static void takes(test_thread *t)
{
    passing *p = t->user;
    for (int k = 0; k < ROUNDS; k++) {
        wk_tensor *view;
        while (!(view = atomic_exchange(&p->slot, NULL))) sched_yield();
        WK_SCOPE;
        if (p->writes) runs_backward(t, view);
        wk_free(view);
    }
}

/* The base of each round is freed with its scope, about when the other thread looks for it. */
static void hand_over(bool writes, bool needs_grad)
{
    passing p = {.writes = writes};
    test_thread thread;
    test_threads_start(&thread, 1, takes, &p);
    for (int k = 0; k < ROUNDS; k++) {
        WK_SCOPE;
        wk_tensor *x = wk_ones((3), .requires_grad = needs_grad), *base = wk_mul(x, 2);
        wk_tensor *view = wk_retain(wk_reshape(base, (3)));
        while (atomic_load(&p.slot)) sched_yield();
        atomic_store(&p.slot, view);
    }
    test_threads_end(&thread, 1);
    expect_ok();
}

static void a_view_is_freed(void **state)
{
    (void)state;
    hand_over(false, false);
    hand_over(false, true);
}

static void a_view_is_written(void **state)
{
    (void)state;
    hand_over(true, false);
}

static void a_view_with_a_history_is_written(void **state)
{
    (void)state;
    hand_over(true, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_view_is_freed),
        cmocka_unit_test(a_view_is_written),
        cmocka_unit_test(a_view_with_a_history_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
