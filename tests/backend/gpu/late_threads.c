/* SPDX-License-Identifier: Apache-2.0 */
/* Several threads and one GPU: state that one call leaves on the device for its own later commands is not used by
 * another thread. If work fails, every thread whose writes were skipped receives an error, however many threads there
 * are and even if some have ended. */
#include "support/threads.h"

#include <math.h>

#include "base/alloc.h"
#include "support/devices.h"
#include "support/driver_faults.h"

enum { SIZE = 48, MANY = 20 };

/* ---- interleaving two threads ------------------------------------------------------------------------------------ */

/* The leader stops at its stop_at-th allocation, possibly inside a call, and continues when the other thread is done.
 * Allocations of checks in debug builds do not count: they may hold the device's lock. */
enum { LEADER = 0, OTHER = 1, OVER = 2 };
static _Thread_local int requests;
static _Thread_local bool leads;
static int stop_at;
static atomic_int turn;
static atomic_bool no_memory; /* allocations fail in threads that have not set has_memory */
static _Thread_local bool has_memory;

static void *resize(void *user, void *block, size_t size)
{
    (void)user;
    if (size == 0) {
        free(block);
        return NULL;
    }
    if (leads && !wk__alloc_is_untracked() && ++requests == stop_at) {
        leads = false;
        test_raise(&turn, OTHER);
        while (atomic_load(&turn) != LEADER) sched_yield();
        leads = true;
    }
    if (atomic_load(&no_memory) && !has_memory) return NULL;
    return realloc(block, size);
}

static int take_over(void **state)
{
    (void)state;
    has_memory = true;
    if (wk_set_allocator(resize, NULL) != WK_OK) return -1;
    assert_true(wk_device_count(test_gpu_kind()) > 0);
    driver_install_hooks(test_gpu_kind());
    return 0;
}

static wk_tensor *numbers(int from, int step)
{
    float data[SIZE];
    for (int k = 0; k < SIZE; k++) data[k] = (float)(from + step * k);
    return wk_to(wk_from(data, (SIZE)), test_gpu(0));
}

static void await_turn(int *now)
{
    while ((*now = atomic_load(&turn)) == LEADER) sched_yield();
}

/* ---- calls with several commands --------------------------------------------------------------------------------- */

static void sort_in_between(test_thread *t)
{
    WK_SCOPE;
    wk_tensor *x = numbers(0, 1);
    wk_sync();
    for (int now; await_turn(&now), now != OVER;) {
        {
            WK_SCOPE;
            wk_tensor *sorted, *places;
            THREAD_CHECK(t, wk_sort(x, 0, false, &sorted, &places) == WK_OK);
            sorted = wk_retain(sorted);
            wk_flush();
            wk_free(sorted);
        }
        test_raise(&turn, LEADER);
    }
}

static void sort_and_look(wk_tensor *x)
{
    WK_SCOPE;
    wk_tensor *sorted, *places;
    float have[SIZE];
    requests = 0;
    leads = true;
    wk_sort(x, 0, false, &sorted, &places);
    wk_flush();
    leads = false;
    assert_int_equal(wk_read(sorted, have, sizeof have), WK_OK);
    for (int k = 0; k < SIZE; k++)
        if (have[k] != (float)(100 + k)) fail_msg("stopped at request %d: element %d is %g", stop_at, k, have[k]);
}

static void calls_do_not_share_scratch_memory(void **state)
{
    (void)state;
    WK_SCOPE;
    test_thread other[1];
    wk_tensor *x = numbers(100 + SIZE - 1, -1);
    stop_at = 0;
    sort_and_look(x);
    atomic_store(&turn, LEADER);
    test_threads_start(other, 1, sort_in_between, NULL);
    for (stop_at = 1; stop_at == 1 || requests >= stop_at - 1; stop_at++) sort_and_look(x);
    print_message("stopped at each of %d requests\n", stop_at - 2);
    test_raise(&turn, OVER);
    test_threads_end(other, 1);
    expect_ok();
}

/* Nothing is launched until this thread has failed as well; then everything works again. */
static void fail_in_between(test_thread *t)
{
    WK_SCOPE;
    wk_tensor *x = wk_retain(numbers(0, 1));
    wk_sync();
    for (int now; await_turn(&now), now != OVER;) {
        wk_add_(x, 1);
        wk_sync();
        THREAD_CHECK_ERROR(t, "add_", NULL);
        driver_clear();
        test_raise(&turn, LEADER);
    }
    wk_free(x);
}

static void write_in_place_and_look(wk_tensor *index, wk_tensor *source)
{
    WK_SCOPE;
    wk_tensor *x = wk_retain(wk_clone(numbers(0, 1)));
    float have[SIZE];
    wk_sync();
    if (stop_at > 0) driver_inject(DRIVER_LAUNCH, -1, DRIVER_NO_MEMORY);
    requests = 0;
    leads = true;
    wk_index_add_(x, 0, index, source);
    wk_flush();
    leads = false;
    wk_sync();
    const bool failed = wk_error() != NULL;
    wk_clear_error();
    driver_clear();
    assert_int_equal(wk_read(x, have, sizeof have), WK_OK);
    if (have[1] != (failed ? 1 : 101))
        fail_msg("stopped at request %d: %g, %s", stop_at, have[1], failed ? "failed" : "fine");
    wk_free(x);
    expect_ok();
}

static void failed_calls_are_not_continued(void **state)
{
    (void)state;
    WK_SCOPE;
    test_thread other[1];
    wk_tensor *index = wk_to(wk_of(int64_t, (1), 1), test_gpu(0)), *source = wk_to(wk_of(float, (1), 100), test_gpu(0));
    stop_at = 0;
    write_in_place_and_look(index, source);
    atomic_store(&turn, LEADER);
    test_threads_start(other, 1, fail_in_between, NULL);
    for (stop_at = 1; stop_at == 1 || requests >= stop_at - 1; stop_at++) write_in_place_and_look(index, source);
    test_raise(&turn, OVER);
    test_threads_end(other, 1);
}

/* ---- error reports ----------------------------------------------------------------------------------------------- */

static atomic_int begun, looked;

static void all_ready(int threads)
{
    atomic_fetch_add(&begun, 1);
    while (atomic_load(&begun) < threads) sched_yield();
}

/* Writes to a tensor in place with an operand that failed, so that the write is skipped. */
static void skip_a_write(test_thread *t, wk_tensor *bad)
{
    wk_tensor *own = wk_retain(numbers(0, 1));
    THREAD_CHECK(t, wk_sync() == WK_OK);
    wk_add_(own, bad);
    wk_flush();
    wk_free(own);
}

static void fail_as_one_of_many(test_thread *t)
{
    WK_SCOPE;
    skip_a_write(t, t->user);
    all_ready(MANY + 1);
    test_await(&looked, 1);
    wk_add(wk_ones((2)), 1);
    THREAD_CHECK_ERROR(t, "sqrt", "gpu/late_threads.c", NULL);
}

/* Returns a tensor whose computation by sqrt fails. */
static wk_tensor *bad_tensor(void)
{
    wk_tensor *x = wk_retain(numbers(4, 0));
    wk_sync();
    wk_tensor *bad = wk_retain(wk_sqrt(x));
    driver_inject(DRIVER_ARGUMENT, 1, DRIVER_NO_MEMORY);
    wk_flush();
    wk_free(x);
    return bad;
}

/* The threads wait for the device first, so that no error is reported before all writes have been skipped. */
static void failure_is_reported_to_each_of_many_threads(void **state)
{
    (void)state;
    WK_SCOPE;
    test_thread thread[MANY];
    atomic_store(&begun, 0), atomic_store(&looked, 0);
    wk_tensor *bad = bad_tensor();
    test_threads_start(thread, MANY, fail_as_one_of_many, bad);
    all_ready(MANY + 1);
    wk_sync();
    wk_add(wk_ones((2)), 1);
    expect_error("sqrt", NULL);
    test_raise(&looked, 1);
    test_threads_end(thread, MANY);
    wk_free(bad);
}

static void use_a_bad_index(test_thread *t)
{
    WK_SCOPE;
    wk_tensor *x = wk_retain(numbers(0, 1)), *index = wk_retain(wk_to(wk_of(int64_t, (1), 99), test_gpu(0)));
    wk_sync();
    all_ready(MANY + 1);
    wk_tensor *taken = wk_retain(wk_index_select(x, 0, index));
    wk_flush();
    atomic_fetch_add(&begun, 1);
    test_await(&looked, 1);
    wk_add(wk_ones((2)), 1);
    THREAD_CHECK_ERROR(t, "index_select", "out of range", NULL);
    wk_free(x), wk_free(index), wk_free(taken);
}

static void each_of_many_threads_reports_its_bad_index(void **state)
{
    (void)state;
    WK_SCOPE;
    test_thread thread[MANY];
    atomic_store(&begun, 0), atomic_store(&looked, 0);
    test_threads_start(thread, MANY, use_a_bad_index, NULL);
    all_ready(MANY + 1);
    while (atomic_load(&begun) < 2 * MANY + 1) sched_yield();
    wk_sync();
    wk_clear_error();
    test_raise(&looked, 1);
    test_threads_end(thread, MANY);
    expect_ok();
}

static void end_before_the_report(test_thread *t)
{
    WK_SCOPE;
    skip_a_write(t, t->user);
    if (test_gpu_kind() == WK_CUDA) wk_clear_error(); /* the call itself has failed */
}

static void start_afterwards(test_thread *t)
{
    WK_SCOPE;
    skip_a_write(t, t->user);
    THREAD_CHECK(t, wk_sync() == WK_OK || wk_error());
    wk_add(wk_ones((2)), 1);
    THREAD_CHECK_ERROR(t, "sqrt", NULL);
}

/* A new thread may have the state of an ended one at the same address, but receives a separate error. */
static void failure_is_reported_after_another_thread_ended(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *bad = bad_tensor();
    wk_sync();
    wk_clear_error();
    test_in_thread(end_before_the_report, bad);
    test_in_thread(start_afterwards, bad);
    wk_clear_error();
    wk_free(bad);
}

/* Computes a sum of looked-up elements that are not stored. The library keeps the looked-up tensor until the device has
 * validated the index, which may be after the thread has ended. */
static void look_up_and_end(test_thread *t)
{
    WK_SCOPE;
    wk_tensor *x = numbers(0, 1), *index = wk_to(wk_of(int64_t, (2), 3, 5), test_gpu(0)), **sum = t->user;
    THREAD_CHECK(t, wk_sync() == WK_OK);
    wk_tensor *taken = wk_index_select(x, 0, index);
    *sum = wk_retain(wk_add(taken, 1));
    wk_free(taken);
}

static void thread_ends_before_its_index_is_validated(void **state)
{
    (void)state;
    float have[2];
    for (int turn = 0; turn < 4; turn++) {
        wk_tensor *sum = NULL;
        test_in_thread(look_up_and_end, &sum);
        assert_int_equal(wk_read(sum, have, sizeof have), WK_OK);
        assert_true(have[0] == 4 && have[1] == 6);
        wk_free(sum);
    }
    expect_ok();
}

/* Errors name the call and line, even if memory for recording them is short. */
static void failures_without_memory_name_their_calls(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_retain(numbers(4, 0)), *root = wk_retain(wk_sqrt(x)), *power, *next;
    wk_sync();
    wk_exp(x), wk_add(root, 1);
    for (int again = 0; again < 2; again++) {
        WK_SCOPE;
        atomic_store(&no_memory, true);
        driver_inject(DRIVER_ARGUMENT, -1, DRIVER_NO_MEMORY);
        power = wk_retain(again ? wk_neg(x) : wk_exp(x));
        next = wk_retain(wk_add(power, 1));
        wk_flush();
        wk_tensor *more = wk_retain(wk_mul(next, 2));
        wk_flush();
        wk_sync();
        expect_error(again ? "neg: " : "exp: ", "gpu/late_threads.c", NULL);
        atomic_store(&no_memory, false);
        driver_clear();
        assert_true(isnan(wk_item(wk_sum(more))));
        expect_error(again ? "neg" : "exp", NULL);
        wk_free(power), wk_free(next), wk_free(more);
    }
    wk_free(x), wk_free(root);
    expect_ok();
}

/* ---- random calls ------------------------------------------------------------------------------------------------ */

enum { THREADS = 4, ROUNDS = 40 };
static atomic_int at_work;

/* Sorts, and adds in place. Values that can be read are correct: sorted elements, and former or new values of the
 * target. Returns true if all could be read. */
static bool sort_and_add(test_thread *t)
{
    WK_SCOPE;
    float have[SIZE];
    const int first = 1000 * t->number;
    wk_tensor *sorted = NULL, *places = NULL, *target = numbers(first, 1);
    wk_sort(wk_neg(target), 0, false, &sorted, &places);
    wk_add_(target, 0.5);
    const bool read = sorted && wk_read(sorted, have, sizeof have) == WK_OK;
    for (int k = 0; k < SIZE && read; k++) THREAD_CHECK(t, have[k] == (float)(1 - SIZE - first + k));
    wk_clear_error();
    const bool written = target && wk_read(target, have, sizeof have) == WK_OK;
    const float added = have[0] - (float)first;
    if (written) THREAD_CHECK(t, added == 0 || added == 0.5F);
    for (int k = 0; k < SIZE && written; k++) THREAD_CHECK(t, have[k] == (float)(first + k) + added);
    return read && written && added == 0.5F;
}

static void work_while_calls_fail(test_thread *t)
{
    for (int k = 0; k < ROUNDS; k++) {
        sort_and_add(t);
        wk_clear_error();
    }
    atomic_fetch_sub(&at_work, 1);
    while (atomic_load(&at_work) > 0) sched_yield();
    wk_sync();
    wk_clear_error();
    test_await(&looked, 1);
    THREAD_CHECK(t, sort_and_add(t));
    THREAD_CHECK(t, !wk_error());
}

static void random_calls_with_a_failing_driver(void **state)
{
    (void)state;
    test_thread thread[THREADS];
    const driver_call calls[] = {DRIVER_ARGUMENT, DRIVER_LAUNCH, DRIVER_WRITE};
    atomic_store(&at_work, THREADS), atomic_store(&looked, 0);
    test_threads_start(thread, THREADS, work_while_calls_fail, NULL);
    int orders = 0;
    for (; atomic_load(&at_work) > 0; orders++) {
        driver_inject(calls[orders % 3], 1 + orders % 7, DRIVER_NO_MEMORY);
        while (atomic_load(&at_work) > 0 && !driver_fault_fired()) sched_yield();
    }
    driver_clear();
    wk_sync();
    wk_clear_error();
    test_raise(&looked, 1);
    test_threads_end(thread, THREADS);
    print_message("%d driver calls failed\n", orders);
}

/* ---- concurrent bad indices -------------------------------------------------------------------------------------- */

/* A read waits for the device, and may report another thread's bad index. */
static void read_by_good_and_bad_indices(test_thread *t)
{
    enum { ROUNDS = 250 };
    has_memory = true;
    uint32_t drawn = (uint32_t)t->number + 1;
    for (int round = 0; round < ROUNDS; round++) {
        WK_SCOPE;
        drawn = drawn * 1664525u + 1013904223u;
        const bool bad = drawn >> 31;
        float got[2] = {-7, -7};
        wk_tensor *x = wk_arange(1000, .dtype = WK_F32, .device = test_gpu(0));
        wk_tensor *place = wk_full((2), bad ? 1000000 : 3, .dtype = WK_I64, .device = test_gpu(0));
        wk_add_(place, 0);
        wk_tensor *taken = wk_index_select(x, 0, place);
        const wk_code code = wk_read(taken, got, sizeof got);
        if (!THREAD_CHECK(t, code == (bad ? WK_ERR_INDEX : WK_OK))) return;
        if (!THREAD_CHECK(t, bad || (got[0] == 3 && got[1] == 3))) return;
        if (bad && !THREAD_CHECK(t, wk_error() != NULL && strstr(wk_error(), "index_select") != NULL)) return;
        if (bad) wk_clear_error();
        if (!THREAD_CHECK(t, wk_error() == NULL)) return;
    }
}

static void each_thread_reads_its_own_results(void **state)
{
    (void)state;
    test_threads(3, read_by_good_and_bad_indices, NULL);
    test_threads(TEST_THREADS, read_by_good_and_bad_indices, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_do_not_share_scratch_memory),
        cmocka_unit_test(failed_calls_are_not_continued),
        cmocka_unit_test(failure_is_reported_to_each_of_many_threads),
        cmocka_unit_test(each_of_many_threads_reports_its_bad_index),
        cmocka_unit_test(failure_is_reported_after_another_thread_ended),
        cmocka_unit_test(thread_ends_before_its_index_is_validated),
        cmocka_unit_test(failures_without_memory_name_their_calls),
        cmocka_unit_test(each_thread_reads_its_own_results),
        cmocka_unit_test(random_calls_with_a_failing_driver),
    };
    return cmocka_run_group_tests(tests, take_over, NULL);
}
