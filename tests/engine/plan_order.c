/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the plan checker on plans that overwrite memory that is still read, as a planner without one of its conditions
 * would make them, and on correct plans beside them. */
#include "support/conv2d.h"
#include "support/group/manual_plan.h"

/* A row value known before the traversal of the columns is stored before it; one known after it is stored after it. */
static void parts_are_stored_in_order(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = IN_MEMORY(4), *one = IN_MEMORY(1);
    manual_plan_begin();
    wk_tensor *z = wk_zeros((4), .device = test_null());
    wk__value *zeros = value_of(z);
    wk_tensor *s = wk_sum(x, (0));
    wk_copy_(wk_narrow(z, 0, 2, 1), one);
    GROUP_OF(0, 3, zeros, value_of(s), value_of(z));
    manual_plan_donate(value_of(z), zeros);
    expect_refused("last", "element 2", "zeros at", "copy_ at", NULL);
    manual_plan_reset();
    GROUP_OF(0, 2, zeros, value_of(s));
    expect_accepted();
    manual_plan_mark_stored();
    GROUP_OF(2, 1, value_of(z));
    expect_accepted();
    manual_plan_end();
    manual_plan_begin();
    z = wk_zeros((4), .device = test_null());
    zeros = value_of(z);
    s = wk_sum(x, (0), .keepdim = true);
    wk_copy_(wk_narrow(z, 0, 2, 1), s);
    GROUP_OF(0, 3, zeros, value_of(s), value_of(z));
    manual_plan_donate(value_of(z), zeros);
    expect_accepted();
    manual_plan_end();
    wk_free(x), wk_free(one);
}

/* A product reads its operands until all of it is computed. */
static void epilogues_do_not_overwrite_operands(void **state)
{
    (void)state;
    WK_SCOPE;
    for (int which = 0; which < 3; which++) {
        wk_tensor *x = IN_MEMORY(4, 4), *other = IN_MEMORY(4, 4);
        manual_plan_begin();
        wk_tensor *b = wk_matmul(which == 2 ? other : x, which == 1 ? other : x);
        wk__value *before = value_of(x);
        wk_add_(wk_t(x), 1);
        GROUP_OF(0, 2, value_of(b), value_of(x));
        expect_accepted();
        manual_plan_donate(value_of(x), before);
        expect_refused("order", "matmul at", "add_ at", "may overwrite it first", NULL);
        manual_plan_end();
        wk_free(x), wk_free(other);
    }
}

static void donors_are_read_at_the_written_element(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *m = IN_MEMORY(4, 4);
    manual_plan_begin();
    wk_tensor *turned = wk_t(m), *sum = wk_add(m, turned);
    wk_free(turned);
    wk__value *dying = last_read_of(m);
    GROUP_OF(0, 1, value_of(sum));
    expect_accepted();
    manual_plan_donate(value_of(sum), dying);
    expect_refused("order", "add at", "element", NULL);
    manual_plan_end();
    m = IN_MEMORY(4, 4);
    manual_plan_begin();
    wk_tensor *twice = wk_mul(m, 2);
    dying = last_read_of(m);
    GROUP_OF(0, 1, value_of(twice));
    manual_plan_donate(value_of(twice), dying);
    expect_accepted();
    manual_plan_end();
}

/* The same in a space of which only a sample is checked. */
static void large_spaces_are_sampled(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *m = IN_MEMORY(300, 300), *line = IN_MEMORY(100000);
    manual_plan_begin();
    wk_tensor *t = wk_t(m), *sum = wk_add(m, t), *back = wk_flip(line, (0)), *turned = wk_add(line, back);
    wk_free(t), wk_free(back);
    wk__value *square = last_read_of(m), *row = last_read_of(line);
    GROUP_OF(0, 1, value_of(sum));
    expect_accepted();
    manual_plan_donate(value_of(sum), square);
    expect_refused("order", "add at", "sample", NULL);
    GROUP_OF(1, 2, value_of(turned));
    manual_plan_donate(value_of(turned), row);
    expect_refused("order", "add at", "sample", NULL);
    manual_plan_end();
}

/* A value that is stored as it was loaded is read at its store. */
static void loads_are_deferred_to_their_store(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = IN_MEMORY(6);
    manual_plan_begin();
    wk_tensor *twice = wk_mul(x, 2), *same = wk_clone(x);
    wk__value *dying = last_read_of(x);
    GROUP_OF(0, 2, value_of(twice), value_of(same));
    expect_accepted();
    manual_plan_donate(value_of(twice), dying);
    expect_refused("order", "clone at", "mul at", NULL);
    manual_plan_end();
    x = IN_MEMORY(6);
    manual_plan_begin();
    same = wk_clone(x);
    twice = wk_mul(x, 2);
    dying = last_read_of(x);
    GROUP_OF(0, 2, value_of(twice), value_of(same));
    manual_plan_donate(value_of(twice), dying);
    expect_accepted(); /* already stored */
    manual_plan_end();
}

/* Indirect reads may access any element. */
static void indexed_operands_are_not_overwritten(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = IN_MEMORY(6), *index = make_stored(WK_I64, 1, (const int64_t[]){6});
    manual_plan_begin();
    wk_tensor *picked = wk_index_select(x, 0, index);
    wk__value *before = value_of(x);
    wk_add_(x, 1);
    GROUP_OF(0, 2, value_of(picked), value_of(x));
    expect_accepted();
    manual_plan_donate(value_of(x), before);
    expect_refused("order", "index_select at", "add_ at", NULL);
    manual_plan_end();
    wk_free(x), wk_free(index);
}

/* The epilogue overwrites neither factor: each element of x is read for several elements of the result. */
static void contractions_keep_their_factors(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = IN_MEMORY(1, 2, 4, 4), *w = IN_MEMORY(2, 2, 3, 3), *one = IN_MEMORY(1);
    manual_plan_begin();
    wk_tensor *y = wk_add(record_conv2d(x, w, 1, 1), one);
    GROUP_OF(0, 2, value_of(y));
    group_record(0)->ref[0].value->memory = value_of(y)->memory; /* the sum overwrites the product */
    expect_accepted();
    manual_plan_donate(value_of(y), value_of(x));
    group_record(0)->ref[0].value->memory = value_of(y)->memory;
    expect_refused("conv2d at", NULL);
    group_record(0)->ref[0].value->memory.block = NULL;
    manual_plan_end();
    wk_free(x), wk_free(w), wk_free(one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, test_default_mode, test_restore_mode)
        TEST(parts_are_stored_in_order),
        TEST(epilogues_do_not_overwrite_operands),
        TEST(donors_are_read_at_the_written_element),
        TEST(large_spaces_are_sampled),
        TEST(loads_are_deferred_to_their_store),
        TEST(indexed_operands_are_not_overwritten),
        TEST(contractions_keep_their_factors),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
