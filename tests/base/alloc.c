/* SPDX-License-Identifier: Apache-2.0 */
/* Tests host memory: sizes that overflow, injected failures, growing arrays, the program's own allocator. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <wick/core.h>

#include "base/alloc.h"
#include "base/pool.h"

/* Counts live blocks and bytes, so that a block freed by another allocator is detected. The pool's threads call it,
 * too. */
typedef struct book {
    atomic_int live, calls;
} book;

static book accounts;

static void *counting_resize(void *user, void *block, size_t size)
{
    book *b = user;
    b->calls++;
    if (size == 0) {
        b->live--;
        free(block);
        return NULL;
    }
    if (!block) b->live++;
    return realloc(block, size);
}

static void own_allocator(void **state)
{
    (void)state;
    assert_int_equal(wk_set_allocator(counting_resize, &accounts), WK_OK);
    assert_null(wk_error());
    char *a = wk__alloc(10);
    int *zeros = wk__alloc_zero(100, sizeof *zeros);
    char *copy = wk__strdup("wick");
    assert_non_null(a);
    for (int k = 0; k < 100; k++) assert_int_equal(zeros[k], 0);
    assert_string_equal(copy, "wick");
    a = wk__realloc(a, 1000, 10);
    assert_non_null(a);
    assert_int_equal(accounts.live, 3);
    assert_int_equal(accounts.calls, 4);
    wk__free(a);
    wk__free(zeros);
    wk__free(copy);
    wk__free(NULL);
    assert_int_equal(accounts.live, 0);
    assert_int_equal(wk_set_allocator(counting_resize, NULL), WK_ERR_STATE);
    assert_non_null(strstr(wk_error(), "set_allocator: memory was already allocated"));
    wk_clear_error();
    assert_int_equal(wk_set_allocator(NULL, NULL), WK_ERR_ARGUMENT);
    assert_non_null(strstr(wk_error(), "set_allocator: the function is NULL"));
    wk_clear_error();
}

static void sizes_that_overflow(void **state)
{
    (void)state;
    assert_null(wk__alloc_zero(SIZE_MAX / 2, 3));
    char *block = wk__alloc(8);
    memcpy(block, "seven..", 8);
    assert_null(wk__realloc(block, SIZE_MAX / 2, 3));
    assert_string_equal(block, "seven..");
    wk__free(block);

    int64_t out;
    assert_false(wk__mul_size(INT64_MAX / 2, 3, &out));
    assert_true(wk__mul_size(1 << 20, 1 << 20, &out));
    assert_int_equal(out, (int64_t)1 << 40);
    assert_false(wk__add_size(INT64_MAX, 1, &out));
    assert_true(wk__add_size(INT64_MAX, 0, &out));
}

static void empty_allocations_are_not_null(void **state)
{
    (void)state;
    void *a = wk__alloc(0), *b = wk__alloc_zero(0, 8), *c = wk__realloc(NULL, 0, 4);
    assert_non_null(a);
    assert_non_null(b);
    assert_non_null(c);
    wk__free(a);
    wk__free(b);
    wk__free(c);
}

static void nth_request_fails_once(void **state)
{
    (void)state;
    int64_t before = wk__alloc_count();
    wk__alloc_fail_at(3);
    void *first = wk__alloc(1), *second = wk__alloc_zero(1, 1);
    assert_non_null(first);
    assert_non_null(second);
    assert_null(wk__strdup("third"));
    char *fourth = wk__realloc(NULL, 1, 1);
    assert_non_null(fourth);
    assert_int_equal(wk__alloc_count(), before + 4);

    wk__alloc_fail_at(1);
    wk__alloc_fail_at(0);
    void *fifth = wk__alloc(1);
    assert_non_null(fifth);
    wk__free(first);
    wk__free(second);
    wk__free(fourth);
    wk__free(fifth);
}

static void *request_of_another_thread(void *user)
{
    *(bool *)user = wk__alloc_is_untracked();
    return wk__alloc(1);
}

/* One thread's untracked allocations neither hide another's requests nor protect them. */
static void untracked_sections_belong_to_a_thread(void **state)
{
    (void)state;
    wk__alloc_untracked pause;
    pthread_t other;
    bool paused = true;
    void *its = &its;
    wk__alloc_fail_at(1);
    const int64_t before = wk__alloc_count();
    wk__alloc_untracked_begin(&pause);
    void *own = wk__alloc(1);
    assert_non_null(own);
    assert_int_equal(wk__alloc_count(), before);
    assert_int_equal(pthread_create(&other, NULL, request_of_another_thread, &paused), 0);
    assert_int_equal(pthread_join(other, &its), 0);
    assert_null(its);
    assert_false(paused);
    assert_int_equal(wk__alloc_count(), before + 1);
    wk__alloc_untracked_end(&pause);
    wk__alloc_fail_at(1);
    assert_null(wk__alloc(1));
    wk__free(own);
}

static void request_of_a_task(void *user, int64_t task)
{
    ((void **)user)[task] = wk__alloc(1);
}

/* The pool's threads do a part of the caller's work. */
static void jobs_of_an_untracked_section_are_untracked(void **state)
{
    (void)state;
    enum { TASKS = 64 };
    void *block[TASKS];
    wk__alloc_untracked pause;
    const int threads = wk__thread_count();
    wk__set_thread_count(4);
    const int64_t before = wk__alloc_count();
    wk__alloc_untracked_begin(&pause);
    wk__parallel_for(TASKS, request_of_a_task, block);
    wk__alloc_untracked_end(&pause);
    assert_int_equal(wk__alloc_count(), before);
    for (int k = 0; k < TASKS; k++) wk__free(block[k]);
    wk__parallel_for(TASKS, request_of_a_task, block);
    assert_int_equal(wk__alloc_count(), before + TASKS);
    for (int k = 0; k < TASKS; k++) wk__free(block[k]);
    wk__set_thread_count(threads);
}

static void arrays_grow(void **state)
{
    (void)state;
    int32_t *array = NULL;
    int64_t capacity = 0, before = wk__alloc_count();
    for (int32_t k = 0; k < 100000; k++) {
        assert_true(wk__grow(&array, &capacity, k + 1, sizeof *array));
        assert_true(capacity > k);
        array[k] = k;
    }
    for (int32_t k = 0; k < 100000; k++) assert_int_equal(array[k], k);
    assert_true(wk__alloc_count() - before < 20); /* the capacity doubles */

    int32_t *same = array;
    int64_t room = capacity;
    wk__alloc_fail_at(1);
    assert_false(wk__grow(&array, &capacity, capacity + 1, sizeof *array));
    assert_false(wk__grow(&array, &capacity, INT64_MAX, sizeof *array));
    assert_ptr_equal(array, same);
    assert_int_equal(capacity, room);
    wk__free(array);
}

static void dtypes(void **state)
{
    (void)state;
    static const char *const names[] = {"f32", "f64", "f16", "bf16", "i8", "u8", "i16", "i32", "i64", "bool"};
    static const size_t sizes[] = {4, 8, 2, 2, 1, 1, 2, 4, 8, 1};
    assert_int_equal(WK_DTYPE_COUNT, 11);
    for (int k = WK_F32; k < WK_DTYPE_COUNT; k++) {
        assert_string_equal(wk_dtype_str((wk_dtype)k), names[k - 1]);
        assert_int_equal(wk_dtype_size((wk_dtype)k), sizes[k - 1]);
    }
    assert_string_equal(wk_dtype_str(WK_C128), "c128");
    assert_string_equal(wk_dtype_str(WK_F8_E5M2), "f8_e5m2");
    assert_int_equal(wk_dtype_size(WK_C64), 8);
    const int none[] = {0, WK_DTYPE_COUNT, 31, 36, 1000, -1};
    for (size_t k = 0; k < sizeof none / sizeof none[0]; k++) {
        assert_string_equal(wk_dtype_str((wk_dtype)none[k]), "?");
        assert_int_equal(wk_dtype_size((wk_dtype)none[k]), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_allocator), /* first: an allocator is set before the first request */
        cmocka_unit_test(sizes_that_overflow),
        cmocka_unit_test(empty_allocations_are_not_null),
        cmocka_unit_test(nth_request_fails_once),
        cmocka_unit_test(untracked_sections_belong_to_a_thread),
        cmocka_unit_test(jobs_of_an_untracked_section_are_untracked),
        cmocka_unit_test(arrays_grow),
        cmocka_unit_test(dtypes),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed ? failed : accounts.live != 0; /* every block was freed by its allocator */
}
