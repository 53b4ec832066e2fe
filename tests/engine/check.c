/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that WICK_CHECK=1 detects errors of a plan, or of a device that executes it: in complete and partial results,
 * in operands that were only read, in parked values, in missing failures. The check must not report correct work, and
 * must have no other visible effect.
 *
 * The errors are injected (support/corrupt.h). Three tests inject errors that the planner once made, on a device that
 * makes them whatever the plan is. */
#include <wick/log.h>

#include "support/devices.h"
#include "support/corrupt.h"

#include "engine/host_transfer.h"
#include "engine/verify/shadow_deferred.h"
#include <math.h>

/* Runs the recorded calls with an error injected into work n, and expects a report that contains these words. */
#define FINDS(order, ...)                                                                                              \
    do {                                                                                                               \
        corrupt_arm((corrupt_request)order);                                                                           \
        wk_sync();                                                                                                     \
        assert_int_equal(wk_error_code(), WK_ERR_INTERNAL);                                                            \
        expect_error("WICK_CHECK: ", "engine/check.c:", __VA_ARGS__, NULL);                                            \
    } while (0)
#define ORDER(...)                                                                                                     \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

/* Returns the tensor after storing it: neither pending nor parked. */
static wk_tensor *stored(wk_tensor *x)
{
    const size_t bytes = (size_t)wk_numel(x) * wk_dtype_size(wk_dtype_of(x));
    char room[1 << 10], *to = bytes > sizeof room ? malloc(bytes) : room;
    assert_int_equal(wk_read(x, to, bytes), WK_OK);
    if (to != room) free(to);
    return x;
}

static wk_tensor *six(void)
{
    return stored(wk_retain(wk_arange(6, .dtype = WK_F32)));
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static void an_element_of_a_fused_result(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        WK_DEVICE(device);
        wk_tensor *x = six();
        corrupt_install(device);
        wk_tensor *y = wk_retain(wk_mul(wk_add(wk_reshape(x, (2, 3)), 1), 2));
        FINDS(ORDER(.n = 3, .how = CORRUPT_RESULT, .place = 4, .number = 77),
              "mul: WICK_CHECK: element [1, 1] is 77, but 10 when executed call by call", "add (",
              "Computed in one pass", "wick replay");
        corrupt_remove();
        assert_true(isnan(wk_item(wk_sum(y)))); /* the wrong value is not used further */
        expect_error("element [1, 1] is 77", NULL);
        wk_free(y);
        wk_free(x);
    }
}

static void correct_work_is_not_reported(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        WK_DEVICE(device);
        wk_tensor *x = six();
        wk_tensor *y = wk_retain(wk_mul(wk_add(x, 1), 2)), *z = wk_retain(wk_sum(y));
        wk_add_(wk_narrow(x, 0, 1, 2), wk_slice(x, 0, 4, 6));
        wk_sync();
        EXPECT_VALUES(y, 0, 2, 4, 6, 8, 10, 12);
        EXPECT_VALUES(x, 0, 0, 5, 7, 3, 4, 5);
        assert_true(wk_item(z) == 42);
        expect_ok();
        wk_free(x);
        wk_free(y);
        wk_free(z);
    }
}

/* Copies between devices are recomputed one by one, too, so work after a copy is compared. */
static void an_element_computed_after_a_copy(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        wk_tensor *x = six();
        corrupt_install(device);
        wk_tensor *far = wk_to(x, device), *y = wk_retain(wk_add(far, 1));
        FINDS(ORDER(.n = 2, .how = CORRUPT_RESULT, .place = 4, .number = 77),
              "add: WICK_CHECK: element [4] is 77, but 5");
        corrupt_remove();
        wk_free(y), wk_free(x);
    }
}

/* The report names a long pass by its first ops and the number of the others. */
static void an_element_of_a_long_pass(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = six();
    corrupt_install(wk_cpu());
    wk_tensor *y = wk_retain(wk_sin(wk_tan(wk_cos(wk_abs(wk_neg(wk_exp(wk_mul(wk_add(x, 1), 0))))))));
    corrupt_arm((corrupt_request){.n = 9, .how = CORRUPT_RESULT, .place = 4, .number = 77});
    wk_sync();
    assert_int_equal(wk_error_code(), WK_ERR_INTERNAL);
    assert_non_null(strstr(wk_error(), "Computed in one pass: add ("));
    assert_non_null(strstr(wk_error(), "abs ("));
    assert_null(strstr(wk_error(), "cos ("));
    expect_error("and 3 more", NULL);
    corrupt_remove();
    wk_free(y), wk_free(x);
}

/* A full ring runs while a tensor is being joined: elements not yet written are undefined and are not compared. */
static void unwritten_parts_are_not_compared(void **state)
{
    (void)state;
    enum { MANY = WK__OP_QUEUE_MAX + 100 };
    WK_SCOPE;
    const int64_t before = wk__context()->op_queue->flushes;
    wk_tensor *x = stored(wk_retain(wk_ones((1)))), **all = malloc(MANY * sizeof *all);
    for (int k = 0; k < MANY; k++) all[k] = x;
    wk_free(stored(wk_retain(wk_full((MANY), 7)))); /* leaves its memory to the result */
    wk_tensor *y = wk_retain(wk_cat(WK_ARRAY(all, MANY), 0));
    assert_true(wk__context()->op_queue->flushes > before + 2);
    assert_true(wk_item(wk_sum(y)) == MANY);
    expect_ok();
    free(all);
    wk_free(x), wk_free(y);
}

/* Values of a device that computes nothing are not compared. */
static void values_of_the_null_device_are_not_compared(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_exp(wk_full((6), 2, .device = test_null()));
    wk_tensor *y = wk_retain(wk_exp(wk_to(x, wk_cpu()))), *z = wk_retain(wk_add(y, 1));
    wk_sync();
    expect_ok();
    EXPECT_VALUES(z, 0, 2, 2, 2, 2, 2, 2); /* the null device reads as 0 */
    wk_free(y), wk_free(z);
}

/* The remaining elements of a partially written tensor are compared, too. */
static void an_element_beside_a_part(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = six();
    corrupt_install(wk_cpu());
    wk_mul_(wk_narrow(x, 0, 1, 2), 10);
    FINDS(ORDER(.n = 2, .how = CORRUPT_RESULT, .place = 5, .number = -1),
          "mul_: WICK_CHECK: element 5 of its memory is -1, but 5");
    wk_free(x);
}

static void an_element_in_a_part(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = six();
    corrupt_install(wk_cpu());
    wk_mul_(wk_narrow(x, 0, 1, 2), 10);
    FINDS(ORDER(.n = 2, .how = CORRUPT_RESULT, .place = 2, .number = -1),
          "mul_: WICK_CHECK: element [1] is -1, but 20");
    wk_free(x);
}

/* The iteration space is that of the index: it does not determine the element of the target. */
static void an_element_of_an_index_add(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = six(), *index = stored(wk_of(int64_t, (2), 3, 0)), *more = stored(wk_of(float, (2), 10, 20));
    corrupt_install(wk_cpu());
    wk_index_add_(x, 0, index, more);
    FINDS(ORDER(.n = 2, .how = CORRUPT_RESULT, .place = 1, .number = -1),
          "index_add_: WICK_CHECK: element 1 of its memory is -1, but 1");
    wk_free(x);
}

static void the_second_result_of_a_sort(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = stored(wk_of(float, (3), 3, 1, 2)), *values, *places;
    corrupt_install(wk_cpu());
    assert_int_equal(wk_sort(x, 0, false, &values, &places), WK_OK);
    wk_tensor *held[] = {wk_retain(values), wk_retain(places)};
    FINDS(ORDER(.n = 2, .how = CORRUPT_RESULT, .which = 1, .place = 1, .number = 9),
          "sort: WICK_CHECK: element [1] is 9, but 2");
    wk_free(held[0]);
    wk_free(held[1]);
}

static void skipped_work(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = stored(wk_of(float, (3), 3, 1, 2));
    corrupt_install(wk_cpu());
    wk_tensor *y = wk_retain(wk_cumsum(x, 0));
    wk_tensor *z = wk_retain(wk_full((3), -1));
    FINDS(ORDER(.n = 3, .how = SKIP_WORK), "WICK_CHECK: element [");
    wk_free(y);
    wk_free(z);
}

/* The bits of a NaN are unspecified and depend on the plan; whether a value is a NaN does not. */
static void nan_bits_are_not_compared(void **state)
{
    (void)state;
    WK_SCOPE;
    static const uint32_t bits[2] = {0x7fc00001, 0xffc00002};
    wk_tensor *x = stored(wk_of(float, (2), 1, 2));
    for (int which = 0; which < 2; which++) {
        float number;
        memcpy(&number, &bits[which], 4);
        corrupt_install(wk_cpu());
        wk_tensor *y = wk_retain(wk_div(wk_sub(x, which ? 9 : 1), 0)); /* 0 / 0, then -8 / 0 */
        corrupt_arm((corrupt_request){.n = 3, .how = CORRUPT_RESULT, .place = 0, .number = number});
        wk_sync();
        if (which == 0) expect_ok();
        if (which == 1) expect_error("element [0] is nan, but -inf", NULL);
        corrupt_remove();
        wk_free(y);
    }
}

/* ---- errors of earlier planners ---------------------------------------------------------------------------------- */

/* An epilogue over batches was traversed like one over rows: its values came from wrong elements. */
static void an_epilogue_over_batches(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        WK_DEVICE(device);
        wk_tensor *a = stored(wk_ones((4, 3, 8))), *b = stored(wk_ones((8, 2)));
        wk_tensor *place = stored(wk_reshape(wk_arange(3, .dtype = WK_F32), (3, 1)));
        corrupt_install(device);
        wk_tensor *y = wk_retain(wk_add(wk_matmul(a, b), place));
        FINDS(ORDER(.n = 3, .how = CORRUPT_RESULT, .which = 1, .place = 8, .number = 8),
              "add: WICK_CHECK: element [1, 1, 0] is 8, but 9", "matmul (");
        corrupt_remove();
        wk_free(y);
    }
}

/* A later write joined a product as its epilogue, over memory that the product still had to read. */
static void an_epilogue_over_an_operand(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = stored(wk_retain(wk_ones((3, 3))));
    corrupt_install(wk_cpu());
    wk_tensor *b = wk_retain(wk_add(wk_matmul(a, a), 1));
    FINDS(ORDER(.n = 3, .how = CORRUPT_OPERAND_BEFORE, .place = 0, .number = 2),
          "matmul: WICK_CHECK: element [0, 0] is 6, but 3", "add (");
    wk_free(a);
    wk_free(b);
}

/* A part with row values was stored before the zeros of the elements around it. */
static void a_part_before_the_zeros_around_it(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = stored(wk_ones((4)));
    corrupt_install(wk_cpu());
    wk_tensor *whole = wk_zeros((4)), *sum = wk_retain(wk_sum(x));
    wk_copy_(wk_narrow(whole, 0, 2, 1), wk_reshape(sum, (1)));
    wk_tensor *held = wk_retain(whole);
    FINDS(ORDER(.n = 4, .how = CORRUPT_RESULT, .which = 0, .place = 0, .number = 0.5f), "is 0.5, but ");
    wk_free(held);
    wk_free(sum);
}

/* ---- values from before the flush -------------------------------------------------------------------------------- */

static void an_overwritten_operand(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = six();
    corrupt_install(wk_cpu());
    wk_tensor *y = wk_retain(wk_add(x, 1));
    FINDS(ORDER(.n = 2, .how = CORRUPT_OPERAND, .place = 3, .number = 33),
          "add: WICK_CHECK: element 3 of its memory is 33, but 3 before the flush that reads it");
    wk_free(x);
    wk_free(y);
}

/* An unrequested value is computed later, from operands that must not have changed. */
static void a_parked_value_is_compared_when_it_is_read(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = six();
    wk_tensor *y = wk_add(x, 1);
    wk_flush();
    wk__value *value = wk__body_of(y)->storage->value;
    assert_int_equal(value->state, WK__DEFERRED);
    ((float *)(void *)wk__body_of(x)->storage->value->memory.host)[2] = 50;
    assert_true(isnan(wk_item(wk_sum(y))));
    expect_error("add: WICK_CHECK: element [2] is 51, but 3", NULL);
    wk_free(x);
}

static void a_parked_value_may_be_freed(void **state)
{
    (void)state;
    for (int k = 0; k < 100; k++) {
        WK_SCOPE;
        wk_tensor *x = six();
        wk_tensor *y = wk_add(x, k), *z = wk_mul(y, 2);
        wk_flush();
        if (k % 3 == 0) assert_true(wk_item(wk_sum(z)) == 30 + 12 * k);
        if (k % 3 == 1) assert_true(wk_item(wk_sum(y)) == 15 + 6 * k);
        wk_free(x);
    }
    expect_ok();
}

/* A new record refers to a parked value again and is then dropped unread, with the value: the saved copy must not be
 * used for another value at the same address. */
static void a_parked_value_recorded_again_and_dropped(void **state)
{
    (void)state;
    wk_tensor *x = six();
    for (int k = 0; k < 200; k++) {
        WK_SCOPE;
        {
            WK_SCOPE;
            wk_tensor *y = wk_add(x, k);
            wk_flush();
            if (k % 2 == 0) assert_non_null(wk_mul(y, 2)); /* back in the ring, and dropped from its end */
        }
        wk_tensor *z = wk_sub(x, k);
        wk_flush();
        assert_true(wk_item(wk_sum(z)) == 15 - 6 * k);
    }
    expect_ok();
    wk_free(x);
    assert_int_equal(atomic_load(&wk__deferred_shadow_count), 0);
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

/* The call checks each element of an index that is in memory; this one is computed. */
static void a_bad_index_fails_in_both(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        WK_DEVICE(device);
        wk_tensor *x = six(), *index = wk_add(wk_to(wk_of(int64_t, (2), 1, 9), device), 0);
        wk_tensor *bad = wk_retain(wk_index_select(x, 0, index)), *more = wk_retain(wk_add(bad, 1));
        wk_tensor *good = wk_retain(wk_mul(x, 2));
        wk_sync();
        expect_error("index_select: index 9 is out of range", NULL);
        assert_true(isnan(wk_item(wk_sum(more))));
        expect_error("index_select", NULL);
        EXPECT_VALUES(good, 0, 0, 2, 4, 6, 8, 10);
        wk_free(x);
        wk_free(bad);
        wk_free(more);
        wk_free(good);
    }
}

/* A target that is not written because of a bad index has its old values in both executions. */
static void a_target_keeps_its_values_in_both(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        WK_DEVICE(device);
        wk_tensor *x = six(), *index = wk_add(wk_to(wk_of(int64_t, (2), 1, 9), device), 0);
        wk_index_add_(x, 0, index, wk_ones((2)));
        wk_tensor *y = wk_retain(wk_add(x, 1));
        wk_sync();
        expect_error("index_add_: index 9 is out of range", NULL);
        EXPECT_VALUES(x, 0, 0, 1, 2, 3, 4, 5);
        wk_clear_error();
        wk_free(y);
        wk_free(x);
    }
}

static void a_failure_of_the_plan_alone(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = six();
    corrupt_install(wk_cpu());
    wk_tensor *y = wk_retain(wk_add(x, 1));
    FINDS(ORDER(.n = 2, .how = REPORT_BAD_INDEX), "its result failed, but succeeds when executed call by call");
    wk_free(x);
    wk_free(y);
}

static void a_failure_missed_by_the_plan(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = six();
    corrupt_install(wk_cpu());
    wk_tensor *y = wk_retain(wk_add(x, 1));
    FINDS(ORDER(.n = 1, .how = REPORT_BAD_INDEX), "its result succeeded, but fails when executed call by call");
    wk_free(x);
    wk_free(y);
}

/* ---- no other visible effect ------------------------------------------------------------------------------------- */

static void counters_and_statistics(void **state)
{
    (void)state;
    enum { KINDS = 4 };
    int64_t counted[2][KINDS + 2];
    for (int check = 0; check < 2; check++) {
        WK_SCOPE;
        wk_tensor *x = six();
        wk__engine_config_set_check(check);
        wk_memory_reset_peak(wk_cpu());
        const wk__op_queue before = *wk__context()->op_queue;
        wk_tensor *y = wk_retain(wk_softmax(wk_reshape(x, (2, 3)), 1));
        wk_sync();
        const wk__op_queue *after = wk__context()->op_queue;
        wk_memory_stats stats = {.size = sizeof stats};
        assert_int_equal(wk_memory_stats_of(wk_cpu(), &stats), WK_OK);
        const int64_t now[] = {after->flushes - before.flushes,
                               after->groups - before.groups,
                               after->stores - before.stores,
                               after->copies - before.copies,
                               stats.live,
                               stats.peak};
        memcpy(counted[check], now, sizeof now);
        wk_free(y);
        wk_free(x);
    }
    assert_memory_equal(counted[0], counted[1], sizeof counted[0]);
}

/* Room for what the plan stores, and no more. */
static void limits(void **state)
{
    (void)state;
    enum { MANY = 1 << 20 };
    WK_SCOPE;
    wk_memory_stats stats = {.size = sizeof stats};
    wk_tensor *x = stored(wk_retain(wk_ones((MANY))));
    wk_memory_trim(wk_cpu());
    assert_int_equal(wk_memory_stats_of(wk_cpu(), &stats), WK_OK);
    wk_memory_set_limit(wk_cpu(), stats.live + stats.cached + 5 * MANY);
    wk_tensor *y = wk_retain(wk_mul(wk_add(wk_mul(x, 3), 1), 2));
    wk_sync();
    expect_ok();
    wk_tensor *more = wk_retain(wk_add(y, 1)), *in_place = wk_retain(wk_cat((y, more), 0));
    wk_sync(); /* no room for these: the only error */
    assert_int_equal(wk_error_code(), WK_ERR_MEMORY);
    wk_clear_error();
    wk_sync();
    expect_ok();
    wk_memory_set_limit(wk_cpu(), 0);
    wk_free(x);
    wk_free(y);
    wk_free(more);
    wk_free(in_place);
}

/* An allocator that fails at a given request. */
static long long requests, first_to_fail;

static void *resize(void *user, void *block, size_t size)
{
    (void)user;
    if (size == 0) {
        free(block);
        return NULL;
    }
    return ++requests == first_to_fail ? NULL : realloc(block, size);
}

static int skipped;

static void note_line(void *user, const char *line)
{
    (void)user;
    if (strstr(line, " not checked: ")) skipped++;
}

/* Without memory for the check a flush is not checked: the log reports that, and the results are right. */
static void without_memory(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = six();
    skipped = 0;
    assert_int_equal(wk_set_log("check", note_line, NULL), WK_OK);
    for (int n = 0; n < 40; n++) {
        WK_SCOPE;
        wk_tensor *y = wk_retain(wk_add(wk_mul(x, 2), 1));
        first_to_fail = n ? requests + n : 0;
        wk_flush();
        first_to_fail = 0;
        wk_sync();
        expect_ok();
        EXPECT_VALUES(y, 0, 1, 3, 5, 7, 9, 11);
        wk_free(y);
    }
    assert_in_range(skipped, 2, 20);
    wk_free(x);
}

/* Memory borrowed by two tensors changes under one when the other is written, as the program requested: a flush with
 * both is not checked, and the log has the reason. A flush that only reads them is checked. */
static void memory_borrowed_twice(void **state)
{
    (void)state;
    WK_SCOPE;
    float lent[4] = {200, 7, 7, 10};
    wk_tensor *a = wk_borrow(lent, (4), NULL, NULL), *b = wk_borrow(lent + 1, (2), NULL, NULL);
    wk_tensor *apart = wk_borrow(lent + 3, (1), NULL, NULL), *x = six();
    skipped = 0;
    assert_int_equal(wk_set_log("check", note_line, NULL), WK_OK);
    EXPECT_VALUES(wk_add(wk_sum(a), wk_sum(b)), 0, 238);
    wk_add_(apart, 1); /* the last element of a, which is not read here */
    wk_mul_(b, 1);
    assert_int_equal(skipped, 0);
    wk_copy_(b, wk_slice(a, 0, 0, 2));
    assert_int_equal(skipped, 1);
    EXPECT_VALUES(a, 0, 200, 200, 7, 11);
    EXPECT_VALUES(b, 0, 200, 7);

    wk_tensor *again = wk_borrow((float *)wk_data(x) + 3, (3), NULL, NULL);
    wk_add_(wk_slice(x, 0, 3, 6), again);
    wk_sync();
    EXPECT_VALUES(again, 0, 6, 8, 10);
    assert_int_equal(skipped, 2);
    wk_set_log(NULL, NULL, NULL);
    wk_free(x);
    expect_ok();
}

#define ONE(test) cmocka_unit_test_setup_teardown(test, corrupt_setup, corrupt_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONE(an_element_of_a_fused_result),
        ONE(correct_work_is_not_reported),
        ONE(an_element_beside_a_part),
        ONE(an_element_in_a_part),
        ONE(an_element_of_an_index_add),
        ONE(the_second_result_of_a_sort),
        ONE(skipped_work),
        ONE(nan_bits_are_not_compared),
        ONE(an_epilogue_over_batches),
        ONE(an_epilogue_over_an_operand),
        ONE(a_part_before_the_zeros_around_it),
        ONE(an_overwritten_operand),
        ONE(a_parked_value_is_compared_when_it_is_read),
        ONE(a_parked_value_may_be_freed),
        ONE(a_parked_value_recorded_again_and_dropped),
        ONE(a_bad_index_fails_in_both),
        ONE(a_target_keeps_its_values_in_both),
        ONE(an_element_of_a_long_pass),
        ONE(an_element_computed_after_a_copy),
        ONE(values_of_the_null_device_are_not_compared),
        ONE(unwritten_parts_are_not_compared),
        ONE(a_failure_of_the_plan_alone),
        ONE(a_failure_missed_by_the_plan),
        ONE(counters_and_statistics),
        ONE(limits),
        ONE(without_memory),
        ONE(memory_borrowed_twice),
    };
    wk_set_allocator(resize, NULL);
    setenv("WICK_CHECK_DIR", getenv("WICK_WORK") ? getenv("WICK_WORK") : "/tmp", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
