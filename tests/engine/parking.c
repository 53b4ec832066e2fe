/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that parked values are right when they are read later: memory and registers that they need are not reused. */
#include "ops/values.h"

#include "base/alloc.h"
#include "engine/op_queue.h"

/* exp is in a register of the kernel that computes c; the unrequested b needs it, too. */
static void shared_with_a_requested_result(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(float, (2), 0, 1), *b, *c;
    {
        WK_SCOPE;
        wk_tensor *a = wk_exp(x);
        b = wk_keep(wk_mul(a, 2));
        c = wk_keep(wk_add(a, 1));
    }
    wk_tensor *held = wk_retain(c);
    wk_flush();
    EXPECT(c, (2), 2, 1 + M_E);
    EXPECT(b, (2), 2, 2 * M_E);
    wk_free(held);
}

/* The output of the second read is as large as the operands of a sum that exists only in registers and is still to be
 * read. */
static void operands_of_values_in_registers(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *p, *q, *r, *sum, *scaled;
    {
        WK_SCOPE;
        p = wk_keep(wk_clone(wk_of(double, (2), 1, 2)));
        q = wk_keep(wk_clone(wk_of(double, (2), 10, 20)));
        r = wk_keep(wk_clone(wk_of(double, (2), 100, 200)));
        wk_read(p, (double[2]){0}, 16);
        wk_read(q, (double[2]){0}, 16);
        wk_read(r, (double[2]){0}, 16);
        sum = wk_keep(wk_add(wk_add(p, q), r));
        scaled = wk_keep(wk_mul(sum, 2));
    }
    wk_free(p);
    wk_free(q);
    wk_free(r);
    EXPECT(scaled, (2), 222, 444);
    EXPECT(sum, (2), 111, 222);
}

/* A copy of an operand is stored after another output of the same kernel, which could have reused its memory. */
static void copies_stored_after_other_outputs(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_clone(wk_of(double, (2), 1, 2));
    wk_read(x, (double[2]){0}, 16);
    wk_tensor *zeros = wk_retain(wk_zeros((2), .dtype = WK_F64)), *copy = wk_retain(wk_clone(x));
    wk_free(x);
    wk_flush();
    EXPECT(copy, (2), 1, 2);
    EXPECT(zeros, (2), 0, 0);
    wk_free(copy);
    wk_free(zeros);
}

/* fill_ replaces a result of an unused sort: the parked fill_ must not reference it, because it is never computed. */
static void replaced_values_that_are_never_computed(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 2), 1, 2, 3, 4), *a = wk_cumprod(x, -1), *sum, *sorted, *order;
    {
        WK_SCOPE;
        wk_tensor *other;
        wk_sort(x, 0, false, &other, &order);
        sum = wk_keep(wk_add(wk_narrow(a, 0, 0, 1), wk_narrow(other, 0, 0, 1)));
    }
    wk_sort(x, 0, true, &sorted, &order);
    wk_add_(a, 1);
    wk_fill_(sum, 0.25);
    wk_fill_(sorted, 2);
    EXPECT(wk_sum(x), (), 10);
    wk_free(order);
    wk_add_(sorted, 1);
    EXPECT(sum, (1, 2), 0.25, 0.25);
    EXPECT(sorted, (2, 2), 3, 3, 3, 3);
    EXPECT(a, (2, 2), 2, 3, 4, 13);
}

/* Each flush parks a state of the target that replaces a parked one. The states must not reference one another, which
 * would leak memory and overflow the stack when the last one is freed. */
static void replaced_again_and_again(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_clone(wk_of(double, (2), 1, 2));
    wk_add_(x, 1);
    for (int k = 0; k < 300000; k++) {
        wk_fill_(x, k);
        wk_flush();
    }
    EXPECT(x, (2), 299999, 299999);
}

/* A chain is parked from its end on, and each link needs memory. If an allocation fails, an error is reported: the
 * target of the chain keeps its values, and no later call could report it. */
static void allocation_failures_while_parking(void **state)
{
    (void)state;
    if (wk__engine_config_get()->sync || wk__engine_config_get()->check)
        skip(); /* nothing is parked, or other memory is used */
    int reported = 0;
    for (int n = 1; n < 8; n++) {
        WK_SCOPE;
        wk_tensor *x = wk_of(double, (2), 1, 2), *z = wk_clone(x);
        wk_sync();
        wk_read(z, (double[2]){0}, 16);
        wk_add_(z, wk_relu(wk_mul(x, 10)));
        wk__alloc_fail_at(n);
        wk_sync();
        wk__alloc_fail_at(0);
        double got[2] = {0};
        const bool read = wk_read(z, got, sizeof got) == WK_OK;
        wk_sync(); /* an error found by the read has been reported */
        if (read && !wk_error_code()) assert_true(got[0] == 11 && got[1] == 22);
        reported += wk_error_code() == WK_ERR_MEMORY;
        wk_clear_error();
        wk_clear_error();
    }
    assert_in_range(reported, 2, 6);
}

/* A comparison is deferred while the program holds its operand. Once the program frees that, only the deferred record
 * owns the operand: the next flush stores the result, which is smaller, and frees the operand. */
static void operands_without_a_tensor_are_freed(void **state)
{
    (void)state;
    const wk__engine_config *modes = wk__engine_config_get();
    if (modes->sync || modes->nofuse || modes->check) skip(); /* nothing is deferred */
    WK_SCOPE;
    wk_tensor *x;
    {
        WK_SCOPE;
        x = wk_retain(wk_ones((1 << 18)));
    }
    wk_sync();
    wk_tensor *positive = wk_gt(x, 0);
    const wk__storage *storage = wk__body_of(positive)->storage;
    for (int k = 0; k < 2; k++) {
        wk_flush();
        assert_int_equal(storage->value->state, WK__DEFERRED);
    }
    wk_memory_stats held = {.size = sizeof held}, freed = {.size = sizeof freed};
    assert_int_equal(wk_memory_stats_of(wk_cpu(), &held), WK_OK);
    wk_free(x);
    wk_flush();
    assert_int_equal(storage->value->state, WK__STORED);
    assert_int_equal(wk_memory_stats_of(wk_cpu(), &freed), WK_OK);
    assert_true(held.live - freed.live == 3 << 18); /* f32 freed, bool stored */
    EXPECT(wk_sum(positive), (), 1 << 18);
}

enum { ROWS = 3, COLUMNS = 10, NUMBERS = ROWS * COLUMNS };

static wk_tensor *joined(wk_tensor *x, wk_tensor *a, wk_tensor *b, int way)
{
    if (way == 0) return wk_cat((a, b), 0);
    if (way == 1) return wk_stack((a, b), 0);
    wk_tensor *index = wk_expand(wk_reshape(wk_arange(ROWS), (-1, 1)), (-1, COLUMNS));
    return wk_cat((wk_scatter(a, 0, wk_add(index, 0), b), wk_sub(b, x)), 0);
}

/* The ring is full and runs between the parts of a call: values that the call still needs are parked. The limit of
 * pending bytes, from none to more than there are, determines after which record that happens. */
static void the_ring_runs_between_parts_of_a_call(void **state)
{
    (void)state;
    wk__op_queue *ring = wk__context()->op_queue;
    wk__engine_config modes = *ring->config;
    ring->config = &modes;
    for (int way = 0; way < 3; way++) {
        const int64_t before = ring->flushes;
        for (modes.budget = 0; modes.budget < 10 * NUMBERS * 4; modes.budget += NUMBERS) {
            WK_SCOPE;
            float got[2 * NUMBERS];
            wk_tensor *x = wk_arange(NUMBERS, .dtype = WK_F32), *wide = wk_reshape(x, (ROWS, COLUMNS)),
                      *y = joined(wide, wk_mul(wide, 3), wk_add(wide, 1), way);
            assert_int_equal(wk_read(y, got, sizeof got), WK_OK);
            for (int k = 0; k < NUMBERS; k++) {
                assert_true(got[k] == (float)(way < 2 ? 3 * k : k + 1));
                assert_true(got[NUMBERS + k] == (float)(way < 2 ? k + 1 : 1));
            }
        }
        assert_true(ring->flushes > before + 41); /* also between the parts */
    }
    ring->config = wk__engine_config_get();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_with_a_requested_result),
        cmocka_unit_test(operands_of_values_in_registers),
        cmocka_unit_test(copies_stored_after_other_outputs),
        cmocka_unit_test(replaced_values_that_are_never_computed),
        cmocka_unit_test(replaced_again_and_again),
        cmocka_unit_test(allocation_failures_while_parking),
        cmocka_unit_test(operands_without_a_tensor_are_freed),
        cmocka_unit_test(the_ring_runs_between_parts_of_a_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
