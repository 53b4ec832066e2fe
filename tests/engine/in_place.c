/* SPDX-License-Identifier: Apache-2.0 */
/* Tests in-place calls, joins and histories that fill the ring: a flush within such a call must find every value owned.
 * Also tests memory whose address the program has. */
#include "support/devices.h"

#include "engine/op_queue.h"

enum { MANY = 10000 /* more than the ring holds */ };

static void many_in_place(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_zeros((4)), *one = wk_ones((4));
    for (int k = 0; k < MANY; k++) wk_add_(x, one);
    assert_true(wk_item(wk_sum(x)) == 4.0 * MANY);
    assert_null(wk_error());
}

static void many_copies(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_zeros((4)), *one = wk_ones((4));
    for (int k = 0; k < MANY; k++) wk_copy_(x, wk_mul(one, k));
    assert_true(wk_item(wk_sum(x)) == 4.0 * (MANY - 1));
    assert_null(wk_error());
}

static void many_history_values(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((3));
    wk_history *history = wk_history_new();
    for (int k = 0; k < MANY; k++) {
        WK_SCOPE;
        wk_history_add(history, wk_sum(wk_mul(x, k % 2)));
    }
    assert_true(wk_history_mean(history) == 1.5);
    assert_null(wk_error());
}

/* ---- memory with a known address --------------------------------------------------------------------------------- */

static int released;
static void count_release(void *user)
{
    (void)user;
    released++;
}

static void borrowed_memory_is_written(void **state)
{
    (void)state;
    float numbers[4] = {1, 2, 3, 4};
    released = 0;
    {
        WK_SCOPE;
        wk_tensor *x = wk_borrow(numbers, (4), count_release, NULL);
        wk_add_(x, 1);
        wk_mul_(x, 2);
        wk_sync();
        assert_true(numbers[0] == 4 && numbers[3] == 10);
        wk_tensor *part = wk_narrow(x, 0, 1, 2);
        wk_mul_(part, 10);
        assert_true(wk_item(wk_sum(x)) == 4 + 60 + 80 + 10);
        assert_true(numbers[0] == 4 && numbers[1] == 60 && numbers[2] == 80 && numbers[3] == 10);
        assert_int_equal(released, 0);
    }
    wk_sync();
    assert_int_equal(released, 1);
    assert_null(wk_error());
}

/* Written although the tensor was freed before anything ran. */
static void borrowed_memory_is_written_late(void **state)
{
    (void)state;
    float numbers[4] = {1, 2, 3, 4};
    released = 0;
    {
        WK_SCOPE;
        wk_add_(wk_borrow(numbers, (4), count_release, NULL), 1);
    }
    wk_sync();
    assert_true(numbers[0] == 2 && numbers[3] == 5);
    assert_int_equal(released, 1);
}

/* A program refills a borrowed buffer while results of its old contents are still pending. */
static void a_buffer_may_be_refilled(void **state)
{
    (void)state;
    WK_SCOPE;
    float buffer[3];
    wk_tensor *x = wk_borrow(buffer, (3), NULL, NULL), *sums[3];
    for (int k = 0; k < 3; k++) {
        buffer[0] = buffer[1] = buffer[2] = (float)k;
        sums[k] = wk_sum(wk_add(x, 1));
    }
    for (int k = 0; k < 3; k++) assert_true(wk_item(sums[k]) == 3 * (k + 1));
    wk_add_(x, 5);
    buffer[0] = 100;
    assert_true(wk_item(wk_sum(x)) == 100 + 7 + 7);
    assert_null(wk_error());
}

static void addresses_are_stable(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((300));
    float *at = wk_data(x);
    wk_tensor *before = wk_mul(x, 3);                           /* reads the old values, whatever happens to x */
    wk_copy_(wk_narrow(x, 0, 0, 299), wk_narrow(x, 0, 1, 299)); /* overlaps */
    wk_add_(x, 1);
    at = (float *)wk_data(x) == at ? at : NULL;
    assert_non_null(at);
    assert_true(at[0] == 2 && at[299] == 2);
    at[5] = 7;
    assert_true(wk_item(wk_select(wk_mul(x, 2), 0, 5)) == 14);
    assert_true(wk_item(wk_sum(before)) == 900);
    wk_scatter_add_(x, 0, wk_of(int64_t, (1), 2), wk_of(float, (1), 5));
    wk_sync();
    assert_true(at[2] == 7);
    assert_null(wk_error());
}

static wk_code refuse_copy(void *device, const wk__memory *to, int64_t to_offset, const wk__memory *from,
                           int64_t from_offset, int64_t bytes, wk__fail *fail)
{
    (void)device, (void)to, (void)to_offset, (void)from, (void)from_offset, (void)bytes;
    return wk__fail_set(fail, WK_ERR_DEVICE_LOST, "the copy was refused");
}

/* If rolling back a tensor with a known address fails, it has neither old nor new values: a read is an error. */
static void a_rollback_that_fails_is_an_error(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((300));
    const float *at = wk_data(x);
    wk__device *cpu = wk__body_of(x)->storage->device;
    const wk__backend *usual = cpu->backend;
    wk__backend refusing = *usual;
    refusing.copy = refuse_copy;
    for (int refused = 0; refused < 2; refused++) {
        wk__savepoint before;
        wk__savepoint_take(&before, x);
        wk_add_(x, 1);
        wk_sync();
        assert_true(at[0] == 2);
        cpu->backend = refused ? &refusing : usual;
        wk__savepoint_end(&before, false);
        cpu->backend = usual;
        if (!refused) {
            assert_true(at[0] == 1 && wk_item(wk_select(x, 0, 0)) == 1);
            assert_null(wk_error());
        }
    }
    assert_int_equal(wk_error_code(), WK_ERR_DEVICE_LOST);
    expect_error("add_: ", "could not be restored", "the copy was refused", "make the target again", NULL);
    assert_null(wk_data(x));
    expect_error("could not be restored", NULL);
}

/* The gradient reads the values that the in-place call overwrites: the values move, the tensor keeps its address. */
static void old_values_move(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *w = wk_of(float, (3), 1, 2, 3), *y;
    wk_requires_grad_(w, true);
    y = wk_mul(w, 2);
    const float *at = wk_data(y);
    wk_tensor *loss = wk_sum(wk_mul(y, y));
    wk_exp_(wk_mul_(wk_detach(y), 0));
    wk_sync();
    assert_true(at[0] == 1 && at[2] == 1);
    assert_true(wk_item(loss) == 4 + 16 + 36);
    assert_null(wk_error());
}

/* Snapshots and parked values do not see writes through the pointer. */
static void pointers_reach_one_tensor(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_add(wk_ones((4)), 1);
    wk_sync();
    wk_tensor *parked = wk_mul(x, 3);
    wk_sync();
    ((float *)wk_data(x))[0] = 100;
    assert_true(wk_item(wk_sum(parked)) == 24);
    assert_true(wk_item(wk_sum(x)) == 106);
    assert_null(wk_error());
}

/* Soft placement copies the other operands to the target: it keeps its address, and is written. */
static void targets_keep_their_address(void **state)
{
    (void)state;
    WK_SCOPE;
    if (wk_device_count(test_gpu_kind()) == 0) skip();
    wk_set_soft_placement(true);
    wk_tensor *x = wk_zeros((3)), *there = wk_ones((3), .device = test_gpu(0));
    assert_ptr_equal(wk_add_(x, there), x);
    wk_scatter_add_(x, 0, wk_of(int64_t, (1), 1), wk_to(wk_of(float, (1), 5), test_gpu(0)));
    wk_set_soft_placement(false);
    assert_int_equal(wk_device_of(x).kind, WK_CPU);
    assert_true(wk_item(wk_sum(x)) == 8);
    assert_null(wk_error());
}

/* References that a dropped in-place call released are not used by the call that overwrites its result. */
static void unused_states_are_released(void **state)
{
    (void)state;
    for (int round = 0; round < 50; round++) {
        WK_SCOPE;
        wk_tensor *x = wk_of(double, (1, 1), 1.5);
        wk_atan_(x);
        wk_fill_(x, round);
        EXPECT_VALUES(x, 0, round);
    }
}

static void keep_line(void *user, const char *line)
{
    char *all = user;
    strncat(all, line, 500 - strlen(all));
}

/* The CPU is named without an index everywhere. */
static void copies_are_logged(void **state)
{
    (void)state;
    WK_SCOPE;
    char log_lines[501] = "";
    wk_set_log("placement", keep_line, log_lines);
    wk_set_soft_placement(true);
    wk_add(wk_ones((3)), wk_ones((3), .device = test_null()));
    wk_sync();
    wk_set_soft_placement(false);
    wk_set_log(NULL, NULL, NULL);
    if (!strstr(log_lines, "add: operand 1 (12 bytes) copied from cpu to null:0")) fail_msg("%s", log_lines);
    if (strstr(log_lines, "cpu:")) fail_msg("%s", log_lines);
    expect_ok();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unused_states_are_released), /* first: while memory for values is new */
        cmocka_unit_test(many_in_place),
        cmocka_unit_test(many_copies),
        cmocka_unit_test(many_history_values),
        cmocka_unit_test(borrowed_memory_is_written),
        cmocka_unit_test(borrowed_memory_is_written_late),
        cmocka_unit_test(a_buffer_may_be_refilled),
        cmocka_unit_test(addresses_are_stable),
        cmocka_unit_test(a_rollback_that_fails_is_an_error),
        cmocka_unit_test(old_values_move),
        cmocka_unit_test(pointers_reach_one_tensor),
        cmocka_unit_test(targets_keep_their_address),
        cmocka_unit_test(copies_are_logged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
