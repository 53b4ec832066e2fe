/* SPDX-License-Identifier: Apache-2.0 */
/* Faults on devices that run asynchronously: a bad index is detected when the device is waited for. It must be
 * attributed to the call, propagate to values computed from its result, on other devices as well, and be reported once
 * (docs/contributing/invariants.md). */
#include "support/devices.h"
#include "support/threads.h"

#include <math.h>

static wk_device other(void)
{
    return test_gpu(1);
}

static wk_tensor *numbers(wk_device device)
{
    return wk_to(wk_of(float, (4), 1, 2, 3, 4), device);
}

/* Takes rows 1 and 9 of four. */
static wk_tensor *bad_rows(wk_tensor *x)
{
    return wk_index_select(x, 0, wk_to(wk_of(int64_t, (2), 1, 9), wk_device_of(x)));
}

/* ---- one thread -------------------------------------------------------------------------------------------------- */

static void reader_receives_the_cause_once(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = numbers(test_gpu(0)), *bad = bad_rows(x), *after = wk_mul(bad, 2);
    wk_flush();
    expect_ok(); /* the device has not been waited for */
    assert_true(isnan(wk_item(wk_sum(after))));
    expect_error("index_select", "9", "4", "gpu/faults.c", NULL);
    wk_add(x, 1);
    wk_sync();
    expect_ok(); /* later ops on the result fail without reporting again */
    assert_null(wk_add(bad, 1));
    expect_error("index_select", "9", NULL); /* every explicit read reports it again */
    EXPECT_VALUES(x, 0, 1, 2, 3, 4);
}

static void other_results_of_the_device_are_read(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = numbers(test_gpu(0)), *bad = wk_retain(bad_rows(x));
    wk_flush();
    float have[4] = {0};
    assert_int_equal(wk_read(x, have, sizeof have), WK_OK);
    assert_true(have[0] == 1 && have[3] == 4);
    expect_error("index_select", "9", NULL); /* of this thread, detected during the read */
    wk_add(x, 1);
    expect_ok();
    wk_free(bad);
}

/* A product plus an addend is computed by one kernel, which adds in the memory of its result. It is not skipped. */
static void products_plus_addends_are_read(void **state)
{
    (void)state;
    WK_SCOPE;
    const wk_device gpu = test_gpu(0);
    wk_tensor *x = wk_ones((3, 2), .device = gpu), *w = wk_ones((4, 2), .device = gpu);
    wk_tensor *b = wk_ones((4), .device = gpu), *bad = wk_retain(bad_rows(numbers(gpu)));
    wk_tensor *layer = wk_linear(x, w, b), *sum = wk_addmm(b, x, wk_transpose(w, 0, 1), .beta = 2);
    wk_flush();
    assert_true(isnan(wk_item(wk_sum(bad))));
    expect_error("index_select", "9", NULL);
    assert_true(wk_item(wk_sum(layer)) == 36 && wk_item(wk_sum(sum)) == 48);
    expect_ok();
    wk_free(bad);
}

static void copies_propagate_the_fault(void **state)
{
    (void)state;
    const wk_device to[] = {wk_cpu(), other()};
    for (size_t k = 0; k < sizeof to / sizeof *to; k++) {
        WK_SCOPE;
        wk_tensor *x = numbers(test_gpu(0)), *bad = wk_retain(bad_rows(x));
        wk_flush(); /* so that the fault has not been detected yet at the copy */
        wk_tensor *copy = wk_retain(wk_to(bad, to[k])), *sum = wk_sum(copy);
        wk_tensor *good = wk_to(x, to[k]);
        wk_flush();
        if (wk_error()) expect_error("index_select", "9", NULL);
        assert_true(isnan(wk_item(sum)));
        expect_error("index_select", "9", "4", "gpu/faults.c", NULL);
        EXPECT_VALUES(good, 0, 1, 2, 3, 4);
        wk_add(good, 1);
        expect_ok();
        wk_free(bad);
        wk_free(copy);
    }
}

/* If an in-place write depends on a failed value, the target keeps its former values, including writes that were to use
 * other memory. */
static void target_keeps_its_values(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_retain(wk_zeros((2), .device = test_gpu(0))), *four = numbers(test_gpu(0));
    wk_tensor *part = wk_retain(wk_ones((3), .device = test_gpu(0))), *before, *between, *after;
    wk_sync();
    wk_tensor *bad = wk_retain(bad_rows(four));
    before = wk_retain(wk_mul(x, 2));
    wk_add_(x, bad);
    between = wk_retain(wk_sub(x, 3));
    wk_fill_(x, 5);
    wk_flush();
    after = wk_retain(wk_sub(x, 3));
    wk_copy_(x, bad);
    wk_flush();
    wk_copy_(wk_narrow(part, 0, 1, 2), bad);
    wk_flush();
    assert_true(isnan(wk_item(wk_sum(bad))));
    expect_error("index_select", "9", NULL);
    EXPECT_VALUES(before, 0, 0, 0);
    EXPECT_VALUES(after, 0, 2, 2);
    EXPECT_VALUES(x, 0, 5, 5);
    EXPECT_VALUES(part, 0, 1, 1, 1);
    bool old = wk_item(wk_sum(between)) == -6; /* either it read the former values, or it is known to be wrong */
    if (!old) expect_error("index_select", "9", NULL);
    wk_free(x), wk_free(part), wk_free(bad), wk_free(before), wk_free(between), wk_free(after);
}

/* A later read of the target sees its former values. */
static void skipped_target_is_read(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_retain(wk_full((3), 2.0, .device = test_gpu(0))), *four = numbers(test_gpu(0));
    wk_sync();
    wk_tensor *bad = wk_retain(bad_rows(four));
    wk_flush();
    wk_mul_(x, 8);
    wk_flush();
    wk_tensor *sums = wk_retain(wk_cumsum(x, 0)); /* a separate kernel, which overwrites nothing */
    wk_flush();
    assert_true(isnan(wk_item(wk_sum(bad))));
    expect_error("index_select", "9", NULL);
    EXPECT_VALUES(x, 0, 2, 2, 2);
    EXPECT_VALUES(sums, 0, 2, 4, 6);
    expect_ok();
    wk_free(x), wk_free(bad), wk_free(sums);
}

/* Kernels that overwrite their input are skipped after a fault. Their results must not appear valid. */
static void skipped_results_fail(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *four = numbers(test_gpu(0)), *x = wk_retain(numbers(test_gpu(0))), *y, *apart;
    wk_sync();
    wk_tensor *bad = wk_retain(bad_rows(four));
    wk_flush();
    y = wk_retain(wk_mul(x, 2)); /* in the memory of x, which is freed */
    apart = wk_retain(wk_mul(four, 2));
    wk_free(x);
    if (wk_error()) fail_msg("%s", wk_error());
    wk_flush();
    assert_true(isnan(wk_item(wk_sum(bad))));
    expect_error("index_select", "9", NULL);
    double sum = wk_item(wk_sum(y));
    if (sum != 20) expect_error("index_select", "9", NULL);
    EXPECT_VALUES(apart, 0, 2, 4, 6, 8);
    wk_free(bad), wk_free(y), wk_free(apart);
}

/* Several faults before the first wait: exactly the failed calls are known. */
static void each_fault_is_attributed(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = numbers(test_gpu(0)), *rows = wk_to(wk_of(int64_t, (2), 3, 0), test_gpu(0));
    wk_tensor *bad[3], *good[3];
    for (int k = 0; k < 3; k++) {
        bad[k] = wk_retain(bad_rows(x));
        wk_flush();
        good[k] = wk_retain(wk_index_select(x, 0, rows));
        wk_flush();
    }
    wk_sync();
    expect_error("index_select", "9", NULL);
    for (int k = 0; k < 3; k++) {
        EXPECT_VALUES(good[k], 0, 4, 1);
        assert_true(isnan(wk_item(wk_sum(bad[k]))));
        expect_error("index_select", "out of range", NULL);
        wk_free(bad[k]), wk_free(good[k]);
    }
}

/* A cheap call may be computed by two kernels, each with its tag. */
static void a_call_of_two_kernels_has_one_message(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_to(wk_of(int64_t, (3, 3), 1, 2, 3, 4, 5, 6, 7, 8, 9), test_gpu(0));
    wk_tensor *index = wk_to(wk_of(int64_t, (7), 9, 9, 2, 9, 9, 2, 2), test_gpu(0));
    wk_tensor *bad = wk_index_select(x, 1, index), *sum = wk_sum(bad, (1)), *values, *places;
    wk_flush();
    wk_median_dim(bad, 0, false, &values, &places);
    wk_sync();
    expect_error("index_select", "index 9 is out of range for size 3", NULL);
    wk_tensor *const read[] = {sum, values, places, bad};
    for (size_t k = 0; k < sizeof read / sizeof *read; k++) {
        int64_t to[21];
        assert_int_equal(wk_read(read[k], to, (size_t)wk_numel(read[k]) * sizeof *to), WK_ERR_INDEX);
        expect_error("index_select", "index 9 is out of range for size 3", NULL);
    }
}

/* Two calls fail before the wait, and only kernels refer to their results: each sum fails with the message of the call
 * that it depends on. */
static void each_result_has_its_own_cause(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = numbers(test_gpu(0)), *rows = wk_to(wk_of(int64_t, (2), 1, 9), test_gpu(0)), *sum[2];
    for (int k = 0; k < 2; k++) {
        wk_tensor *bad = k ? wk_take(x, rows) : wk_index_select(x, 0, rows);
        sum[k] = wk_sum(wk_mul(bad, 2));
        wk_free(bad);
        wk_flush();
    }
    wk_sync();
    expect_error("index_select", "9", NULL);
    for (int k = 0; k < 2; k++) {
        assert_true(isnan(wk_item(sum[k])));
        expect_error(k ? "take" : "index_select", "out of range", NULL);
    }
}

/* Other results of a kernel with a bad index are valid if they do not depend on it, including another index; of several
 * bad indices, the first in program and element order is reported. */
static void other_results_of_the_kernel_are_valid(void **state)
{
    (void)state;
    enum { ROWS = 5000 };
    for (int first_bad = 0; first_bad < 2; first_bad++) {
        WK_SCOPE;
        wk_device device = test_gpu(0);
        wk_tensor *x = numbers(device), *fine = wk_zeros((ROWS), .dtype = WK_I64, .device = device);
        wk_tensor *counted = wk_arange(ROWS, .device = device),
                  *low = wk_where(wk_lt(counted, 4000), 1, wk_add(counted, 1000));
        wk_sync();
        wk_tensor *good = wk_retain(wk_index_select(x, 0, first_bad ? low : fine));
        wk_tensor *bad = wk_retain(wk_index_select(x, 0, first_bad ? fine : low));
        wk_tensor *aside = wk_retain(wk_mul(wk_to_dtype(counted, WK_F32), 2));
        wk_flush();
        wk_tensor *well = first_bad ? bad : good, *failed = first_bad ? good : bad;
        wk_sync();
        expect_error("index_select", "index 5000 is out of range", "size 4", NULL);
        assert_true(wk_item(wk_sum(well)) == ROWS);
        assert_true(wk_item(wk_sum(aside)) == (double)ROWS * (ROWS - 1));
        assert_true(isnan(wk_item(wk_sum(failed))));
        expect_error("index_select", "index 5000", NULL);
        expect_ok();
        wk_free(good), wk_free(bad), wk_free(aside);
    }
}

/* ---- many threads ------------------------------------------------------------------------------------------------ */

static void write_in_place_after_a_fault(test_thread *t)
{
    WK_SCOPE;
    wk_tensor *x = t->user;
    float have[4] = {0};
    wk_add_(x, 1); /* in the memory of x */
    THREAD_CHECK(t, wk_read(x, have, sizeof have) == WK_OK);
    THREAD_CHECK(t, have[0] == 1 && have[3] == 4); /* the device skipped the write, so this thread must be informed */
    THREAD_CHECK_ERROR(t, "index_select", "9", NULL);
    wk_add_(x, 1);
    THREAD_CHECK(t, wk_read(x, have, sizeof have) == WK_OK);
    THREAD_CHECK(t, have[0] == 2 && have[3] == 5);
}

static void fault_is_reported_to_threads_with_skipped_writes(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_retain(numbers(test_gpu(0))), *four = numbers(test_gpu(0));
    wk_sync();
    wk_tensor *bad = wk_retain(bad_rows(four));
    wk_flush();
    test_in_thread(write_in_place_after_a_fault, x);
    expect_error("index_select", "9", NULL); /* another thread has waited, so wk_error reports it */
    wk_free(x);
    wk_free(bad);
}

static void compute_on_own_device(test_thread *t)
{
    WK_SCOPE;
    wk_device mine = t->number % 2 ? other() : test_gpu(0), next = t->number % 2 ? test_gpu(0) : other();
    wk_tensor *x = numbers(mine), *all = t->user;
    for (int k = 1; k <= 20; k++) {
        WK_SCOPE;
        wk_tensor *y = wk_add(wk_mul(x, k), wk_to(all, mine)), *there = wk_to(y, next);
        THREAD_CHECK(t, wk_item(wk_sum(there)) == 10.0 * k + 4);
    }
}

static void threads_and_devices(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *all = wk_retain(wk_ones((4)));
    test_threads(4, compute_on_own_device, all);
    wk_free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reader_receives_the_cause_once),
        cmocka_unit_test(other_results_of_the_device_are_read),
        cmocka_unit_test(products_plus_addends_are_read),
        cmocka_unit_test(copies_propagate_the_fault),
        cmocka_unit_test(target_keeps_its_values),
        cmocka_unit_test(skipped_target_is_read),
        cmocka_unit_test(skipped_results_fail),
        cmocka_unit_test(each_fault_is_attributed),
        cmocka_unit_test(a_call_of_two_kernels_has_one_message),
        cmocka_unit_test(each_result_has_its_own_cause),
        cmocka_unit_test(other_results_of_the_kernel_are_valid),
        cmocka_unit_test(fault_is_reported_to_threads_with_skipped_writes),
        cmocka_unit_test(threads_and_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
