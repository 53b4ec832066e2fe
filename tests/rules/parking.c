/* SPDX-License-Identifier: Apache-2.0 */
/* Tests rule 7 of docs/contributing/invariants.md: values that only an open scope owns are parked instead of stored.
 * The tests check when values are parked, when not, and that the bits are the same. engine_plan and engine_parking test
 * the rest of this rule. */
#include "support/plan.h"

/* A parked value reads immutable values: later in-place calls do not change them. */
static void parked_operands_never_change(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *z = square(), *row = wk_select(z, 0, 1);
    start();
    wk_tensor *sum = wk_add(z, 2), *of_view = wk_mul(row, 3);
    wk_flush();
    assert_int_equal(runs(), 0);
    assert_int_equal(state_of(sum), WK__DEFERRED);
    assert_int_equal(state_of(of_view), WK__DEFERRED);
    int64_t before = live();
    wk_mul_(z, 5);
    wk_flush();
    assert_int_equal(live() - before, BYTES); /* a new buffer */
    wk_tensor *now = wk_retain(wk_exp(row));  /* the view follows its storage */
    need(sum);
    const wk__program *written = wk__null_log_program_at(0), *read_late = wk__null_log_program_at(1);
    const wk__memory *old = written->operand[0].memory, *fresh = written->operand[1].memory;
    assert_true(old->block != fresh->block || old->offset != fresh->offset);
    for (int64_t k = 1; k < runs(); k++) {
        const wk__program *g = wk__null_log_program_at(k);
        const wk__memory *from = holds(g, WK__EXP) ? fresh : old;
        assert_true(g->operand[0].memory->block == from->block && g->operand[0].memory->offset == from->offset);
    }
    assert_non_null(read_late);
    wk_free(now), wk_free(z);
}

/* Compares bits: a chain is read after its input was changed twice, once through a view. */
static void parked_values_have_the_same_bits(void **state)
{
    (void)state;
    wk_seed(7);
    wk_tensor *z = wk_randn((64, 3)), *copy = wk_clone(z);
    float now[64 * 3], later[64 * 3];
    {
        WK_SCOPE;
        wk_tensor *chain = wk_sin(wk_mul(wk_exp(wk_add(z, 2)), 0.7)),
                  *same = wk_sin(wk_mul(wk_exp(wk_add(copy, 2)), 0.7));
        assert_int_equal(wk_read(same, now, sizeof now), WK_OK);
        wk_flush();
        assert_int_equal(state_of(chain), WK__DEFERRED);
        wk_fill_(z, 100);
        wk_flush();
        wk_mul_(wk_select(z, 1, 0), 3);
        wk_flush();
        assert_int_equal(wk_read(chain, later, sizeof later), WK_OK);
        assert_memory_equal(now, later, sizeof now);
    }
    wk_free(z), wk_free(copy);
}

/* Element-wise ops and views are parked. All other results are stored, because recomputing them would cost more than
 * memory. */
static void only_elementwise_results_and_views_are_parked(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = square(), *leaf = wk_ones((SIDE), .device = test_null(), .requires_grad = true);
    start();
    wk_tensor *chain = wk_mul(wk_transpose(wk_exp(x), 0, 1), 2), *sum = wk_sum(x, (1)), *product = wk_matmul(x, x),
              *sorted = wk_cumsum(x, 0), *kept = wk_retain(wk_mul(x, 3)), *saved = wk_exp(leaf),
              *part = wk_zeros((4, 4), .device = test_null());
    wk_fill_(wk_select(part, 0, 1), 2); /* written in part: the rest keeps the old values */
    wk_flush();
    assert_int_equal(state_of(chain), WK__DEFERRED);
    assert_int_equal(state_of(sum), WK__STORED);
    assert_int_equal(state_of(product), WK__STORED);
    assert_int_equal(state_of(sorted), WK__STORED);
    assert_int_equal(state_of(kept), WK__STORED);
    assert_int_equal(state_of(saved), WK__STORED); /* backward reads it */
    assert_int_equal(state_of(part), WK__STORED);
    wk_free(kept), wk_free(x);
}

/* Of a chain that only a scope owns, every 17th value is stored, so a read computes at most 16. */
static void chains_are_parked_sixteen_deep(void **state)
{
    (void)state;
    enum { LONG = 20 };
    WK_SCOPE;
    wk_tensor *x = square(), *y[LONG];
    start();
    for (int k = 0; k < LONG; k++) y[k] = wk_add(k ? y[k - 1] : x, 1);
    wk_flush();
    assert_int_equal(stores(), 1);
    for (int k = 0; k < LONG; k++) assert_int_equal(state_of(y[k]), k % 17 == 16 ? WK__STORED : WK__DEFERRED);
    wk__null_log_clear();
    need(y[15]);
    int additions = 0;
    for (int k = 0; k < runs(); k++)
        for (int i = 0; i < wk__null_log_program_at(k)->nins; i++)
            additions += wk__null_log_program_at(k)->ins[i].code == WK__ADD;
    assert_int_equal(additions, 16);
    wk_free(x);
}

static void values_of_writable_memory_are_not_parked(void **state)
{
    (void)state;
    WK_SCOPE;
    float memory[4] = {1, 2, 3, 4};
    wk_tensor *borrowed = wk_borrow(memory, (4), NULL, NULL), *sum = wk_add(borrowed, 1);
    wk_tensor *own = wk_clone(wk_of(float, (3), 1, 2, 3));
    float *first = wk_data(own);
    wk_tensor *after = wk_mul(own, 2);
    wk_flush();
    memory[0] = first[0] = 100;
    EXPECT_VALUES(sum, 0, 2, 3, 4, 5);
    EXPECT_VALUES(after, 0, 2, 4, 6);
    EXPECT_VALUES(wk_add(own, 0), 0, 100, 2, 3);
}

/* The pointer is requested when a parked value already reads that memory. */
static void a_pointer_requested_after_parking(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_clone(wk_of(float, (3), 1, 2, 3));
    wk_read(x, (float[3]){0}, 12);
    wk_tensor *parked = wk_add(wk_mul(x, 10), 1);
    wk_flush();
    assert_int_equal(state_of(parked), WK__DEFERRED);
    float *first = wk_data(x);
    assert_non_null(first);
    first[0] = 100;
    EXPECT_VALUES(parked, 0, 11, 21, 31);
    EXPECT_VALUES(x, 0, 100, 2, 3);
}

/* Memory kept alive only by a parked value must not be larger than the value. */
static void a_parked_value_keeps_no_larger_operand(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = square(), *y = square();
    start();
    wk_tensor *small = wk_gt(x, 0), *large = wk_mul(y, 2); /* a quarter of x; the size of y */
    wk_flush();
    assert_int_equal(state_of(small), WK__DEFERRED);
    assert_int_equal(state_of(large), WK__DEFERRED);
    int64_t before = live();
    wk_free(x), wk_free(y);
    wk_flush();
    assert_int_equal(state_of(small), WK__STORED);
    assert_int_equal(state_of(large), WK__DEFERRED);
    assert_int_equal(before - live(), BYTES - BYTES / 4);
}

/* The same if the operands were freed before the value was parked. */
static void operands_freed_before_the_flush(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = square(), *y = square(), *sum;
    start();
    int64_t before = live();
    sum = wk_add(x, y);
    wk_free(x), wk_free(y);
    wk_flush();
    wk_flush();
    assert_int_equal(before - live(), BYTES);
    assert_int_equal(state_of(sum), WK__STORED);
}

static void modes_without_parking(void **state)
{
    (void)state;
    for (int mode = 0; mode < 2; mode++) {
        WK_SCOPE;
        wk_tensor *x = square();
        wk__engine_config_set(mode == 0, mode == 1);
        start();
        wk_tensor *y = wk_mul(wk_exp(wk_add(x, 2)), x);
        wk_flush();
        wk__engine_config_set(false, false);
        assert_int_equal(state_of(y), WK__STORED);
        assert_int_equal(stores(), 3);
        assert_int_equal(runs(), 3);
        wk_free(x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parked_operands_never_change),
        cmocka_unit_test(parked_values_have_the_same_bits),
        cmocka_unit_test(only_elementwise_results_and_views_are_parked),
        cmocka_unit_test(chains_are_parked_sixteen_deep),
        cmocka_unit_test(values_of_writable_memory_are_not_parked),
        cmocka_unit_test(a_pointer_requested_after_parking),
        cmocka_unit_test(a_parked_value_keeps_no_larger_operand),
        cmocka_unit_test(operands_freed_before_the_flush),
        cmocka_unit_test(modes_without_parking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
