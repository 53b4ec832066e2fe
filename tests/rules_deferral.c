/* Rules 6 to 9 of docs/semantics.md: when work is run, what is parked meanwhile, which ops wait, what a kernel's structure is. Read
 * from the plans of the null device; bits are looked at on the CPU. What engine_plan holds of them is not repeated here. */
#include "support_wick.h"

#include "../src/backend/null/null.h"
#include "../src/base/alloc.h"
#include "../src/engine/ring.h"

enum { SIDE = 512, BYTES = SIDE * SIDE * 4 };

/* A square of ones on the null device, in memory, the caller's. */
static wk_tensor *square(void)
{
    WK_SCOPE;
    wk_tensor *x = wk_retain(wk_ones((SIDE, SIDE), .device = test_null()));
    assert_non_null(x);
    wk_sync();
    return x;
}

static void start(void)
{
    wk_sync();
    expect_fine();
    wk__null_clear();
}

static int runs(void)
{
    return (int)wk__null_plan_count(WK__NULL_RUN);
}

static int stores(void)
{
    int count = 0;
    const wk__group *g;
    for (int64_t k = 0; (g = wk__null_plan_group(k)); k++)
        for (int i = 0; i < g->nins; i++) count += g->ins[i].code == WK__STORE;
    return count;
}

static bool holds(const wk__group *g, wk__alu code)
{
    for (int i = 0; i < g->nins; i++)
        if (g->ins[i].code == code) return true;
    return false;
}

static void need(wk_tensor *x)
{
    assert_true(wk__materialize(x, WK_HERE));
    expect_fine();
}

static wk__state state_of(wk_tensor *x)
{
    return wk__value_state(wk__body_of(x)->storage->value);
}

static int64_t live(void)
{
    wk_memory_stats stats = {.size = sizeof stats};
    wk_memory_stats_of(test_null(), &stats);
    return stats.live;
}

/* ---- rule 6: when work is run ------------------------------------------------------------------------------------ */

/* Recording runs nothing, reading one thing runs what was recorded before, and no more is needed for the rest. */
static void work_is_run_when_numbers_are_needed(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = square();
    start();
    wk_tensor *c = wk_retain(wk_exp(x)), *sum = wk_sum(c);
    assert_int_equal(runs(), 0);
    assert_true(wk_numel(c) == SIDE * SIDE && wk_describe(c) && !wk_error()); /* asking what it is, is not reading */
    assert_int_equal(runs(), 0);
    wk_item(sum);
    assert_int_equal(runs(), 1);
    assert_int_equal(state_of(c), WK__STORED);
    wk_exp_(c);
    wk_flush();
    assert_int_equal(runs(), 2);
    wk_exp_(c);
    assert_non_null(wk_tensor_str(wk_slice(c, 0, 0, 2)));
    assert_int_equal(runs(), 3);
    wk_free(c), wk_free(x);
}

/* Where an optimiser stepped, the handles of the scope go first and then the ring is run: each step is cut at the same places,
 * and what nobody kept is never computed. A scope without a step runs nothing. */
static void a_step_is_cut_at_the_end_of_its_scope(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *p = wk_ones((SIDE, SIDE), .device = test_null(), .requires_grad = true);
    wk_optim *optim = wk_optim_sgd(wk_list((p)), .lr = 0.5);
    start();
    {
        WK_SCOPE;
        wk_exp(p);
    }
    assert_int_equal(runs(), 0);
    int expected = 0;
    for (int step = 0; step < 3; step++) {
        wk__null_clear();
        {
            WK_SCOPE;
            wk_optim_zero_grad(optim);
            wk_backward(wk_sum(wk_mul(p, 3.0)));
            wk_optim_step(optim);
            wk_exp(wk_add(p, 1)); /* looked at by nobody */
            assert_int_equal(runs(), 0);
        }
        assert_true(runs() > 0 && (step == 0 || runs() == expected));
        expected = runs();
        for (int k = 0; k < runs(); k++) assert_false(holds(wk__null_plan_group(k), WK__EXP));
    }
}

static void a_full_ring_is_run(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_retain(wk_zeros((2, 3), .device = test_null()));
    start();
    for (int k = 0; k < WK__RING_FIRST - 1; k++) wk_add_(x, 1);
    assert_int_equal(runs(), 0);
    wk_add_(x, 1);
    assert_true(runs() > 0);
    wk_free(x);
}

/* ---- rule 7: parking --------------------------------------------------------------------------------------------- */

/* A parked value and the place of what it will read: the record holds values, which in-place calls do not change. */
static void parked_operands_never_change(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *z = square(), *row = wk_select(z, 0, 1);
    start();
    wk_tensor *sum = wk_add(z, 2), *of_view = wk_mul(row, 3);
    wk_flush();
    assert_int_equal(runs(), 0);
    assert_int_equal(state_of(sum), WK__PARKED);
    assert_int_equal(state_of(of_view), WK__PARKED);
    int64_t before = live();
    wk_mul_(z, 5);
    wk_flush();
    assert_int_equal(live() - before, BYTES); /* a fresh buffer */
    wk_tensor *now = wk_retain(wk_exp(row));  /* the view follows its storage */
    need(sum);
    const wk__group *written = wk__null_plan_group(0), *read_late = wk__null_plan_group(1);
    const wk__memory *old = written->operand[0].memory, *fresh = written->operand[1].memory;
    assert_true(old->block != fresh->block || old->offset != fresh->offset);
    for (int64_t k = 1; k < runs(); k++) {
        const wk__group *g = wk__null_plan_group(k);
        const wk__memory *from = holds(g, WK__EXP) ? fresh : old;
        assert_true(g->operand[0].memory->block == from->block && g->operand[0].memory->offset == from->offset);
    }
    assert_non_null(read_late);
    wk_free(now), wk_free(z);
}

/* The same in numbers, to the bit: a chain read after its input was changed twice, once through a view. */
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
        assert_int_equal(state_of(chain), WK__PARKED);
        wk_fill_(z, 100);
        wk_flush();
        wk_mul_(wk_select(z, 1, 0), 3);
        wk_flush();
        assert_int_equal(wk_read(chain, later, sizeof later), WK_OK);
        assert_memory_equal(now, later, sizeof now);
    }
    wk_free(z), wk_free(copy);
}

/* Elementwise ops and views are parked; all else is stored: computing it again would cost more than memory. */
static void what_is_parked_and_what_is_not(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = square(), *leaf = wk_ones((SIDE), .device = test_null(), .requires_grad = true);
    start();
    wk_tensor *chain = wk_mul(wk_transpose(wk_exp(x), 0, 1), 2), *sum = wk_sum(x, (1)), *product = wk_matmul(x, x),
              *sorted = wk_cumsum(x, 0), *kept = wk_retain(wk_mul(x, 3)), *saved = wk_exp(leaf),
              *part = wk_zeros((4, 4), .device = test_null());
    wk_fill_(wk_select(part, 0, 1), 2); /* written in part: the rest is the old value's */
    wk_flush();
    assert_int_equal(state_of(chain), WK__PARKED);
    assert_int_equal(state_of(sum), WK__STORED);
    assert_int_equal(state_of(product), WK__STORED);
    assert_int_equal(state_of(sorted), WK__STORED);
    assert_int_equal(state_of(kept), WK__STORED);
    assert_int_equal(state_of(saved), WK__STORED); /* backward reads it */
    assert_int_equal(state_of(part), WK__STORED);
    wk_free(kept), wk_free(x);
}

/* Of a chain that only a scope owns every 17th is stored: reading one computes 16 at most. */
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
    for (int k = 0; k < LONG; k++) assert_int_equal(state_of(y[k]), k % 17 == 16 ? WK__STORED : WK__PARKED);
    wk__null_clear();
    need(y[15]);
    int additions = 0;
    for (int k = 0; k < runs(); k++)
        for (int i = 0; i < wk__null_plan_group(k)->nins; i++)
            additions += wk__null_plan_group(k)->ins[i].code == WK__ADD;
    assert_int_equal(additions, 16);
    wk_free(x);
}

static void memory_that_others_can_write_is_not_parked_on(void **state)
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

/* The pointer is asked for when a parked value already reads that memory. */
static void a_pointer_that_is_given_out_later(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_clone(wk_of(float, (3), 1, 2, 3));
    wk_read(x, (float[3]){0}, 12);
    wk_tensor *parked = wk_add(wk_mul(x, 10), 1);
    wk_flush();
    assert_int_equal(state_of(parked), WK__PARKED);
    float *first = wk_data(x);
    assert_non_null(first);
    first[0] = 100;
    EXPECT_VALUES(parked, 0, 11, 21, 31);
    EXPECT_VALUES(x, 0, 100, 2, 3);
}

/* What a parked value alone keeps alive must not be larger than the value itself. */
static void an_operand_that_goes_first(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = square(), *y = square();
    start();
    wk_tensor *small = wk_gt(x, 0), *large = wk_mul(y, 2); /* a quarter of x; as much as y */
    wk_flush();
    assert_int_equal(state_of(small), WK__PARKED);
    assert_int_equal(state_of(large), WK__PARKED);
    int64_t before = live();
    wk_free(x), wk_free(y);
    wk_flush();
    assert_int_equal(state_of(small), WK__STORED);
    assert_int_equal(state_of(large), WK__PARKED);
    assert_int_equal(before - live(), BYTES - BYTES / 4);
}

/* The same when the operands have gone before the value was ever parked. */
static void operands_that_have_gone_before_the_flush(void **state)
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

static void modes_that_park_nothing(void **state)
{
    (void)state;
    for (int mode = 0; mode < 2; mode++) {
        WK_SCOPE;
        wk_tensor *x = square();
        wk__modes_set(mode == 0, mode == 1);
        start();
        wk_tensor *y = wk_mul(wk_exp(wk_add(x, 2)), x);
        wk_flush();
        wk__modes_set(false, false);
        assert_int_equal(state_of(y), WK__STORED);
        assert_int_equal(stores(), 3);
        assert_int_equal(runs(), 3);
        wk_free(x);
    }
}

/* ---- rule 8: shapes that depend on data -------------------------------------------------------------------------- */

static int64_t waits(void)
{
    wk_transfer_counters counters = {.size = sizeof counters};
    assert_int_equal(wk_transfers(&counters), WK_OK);
    return counters.waits;
}

static void shapes_that_depend_on_data_wait_and_are_counted(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = square();
    start();
    int64_t before = waits();
    assert_non_null(wk_nonzero(wk_exp(x)));
    assert_int_equal(waits(), before + 1);
    assert_non_null(wk_masked_select(x, wk_gt(x, 0)));
    assert_int_equal(waits(), before + 2);
    wk_set_sync_mode(WK_SYNC_FAIL);
    wk_nonzero(wk_mul(x, 2)); /* whose line the mode names */
    wk_set_sync_mode(WK_SYNC_QUIET);
    expect_error("rules_deferral.c", "waits here for null:0", NULL);
    static const char *const marked[] = {"nonzero", "masked_select"};
    int found = 0;
    for (int k = 0; k < wk_op_count(); k++) {
        wk_op op = {.size = sizeof op};
        wk_op_info(k, &op);
        bool expected = strcmp(op.name, marked[0]) == 0 || strcmp(op.name, marked[1]) == 0;
        if (op.waits != expected) fail_msg("%s: waits is %d", op.name, op.waits);
        found += op.waits;
    }
    assert_int_equal(found, 2);
    wk_free(x);
}

/* ---- rule 9: structure ------------------------------------------------------------------------------------------- */

enum { MOST_KEYS = 64 };

static int keys_of_plan(uint64_t *key)
{
    int count = 0;
    const wk__group *g;
    while (count < MOST_KEYS && (g = wk__null_plan_group(count))) key[count++] = wk__group_key(g);
    assert_true(count > 0 && count < MOST_KEYS);
    return count;
}

/* A whole training step, with a learning rate, a step count, random places and numbers that differ from step to step, is the same
 * list of kernels from the second step on (the first one makes the optimiser's state). */
static void a_training_step_compiles_once(void **state)
{
    (void)state;
    WK_SCOPE;
    WK_DEVICE(test_null());
    wk_module *net = wk_nn_sequential(wk_nn_linear(16, 32), wk_nn_gelu(), wk_nn_dropout(0.5), wk_nn_layer_norm((32)),
                                      wk_nn_linear(32, 10));
    wk_optim *adam = wk_optim_adam(wk_parameters(net), .lr = 0.1, .weight_decay = 0.01);
    wk_tensor *labels = wk_retain(wk_zeros((8), .dtype = WK_I64)), *x = wk_retain(wk_randn((8, 16)));
    uint64_t first[MOST_KEYS], next[MOST_KEYS];
    int count = 0;
    for (int step = 0; step < 4; step++) {
        start();
        wk_optim_set_lr(adam, -1, 0.1 / (step + 1));
        {
            WK_SCOPE;
            wk_tensor *noisy = wk_add(wk_mul(x, 1.0 + step), wk_mul(wk_rand((8, 16)), 0.25 * step));
            wk_tensor *loss = wk_cross_entropy(wk_forward(net, noisy), labels);
            wk_optim_zero_grad(adam);
            assert_int_equal(wk_backward(loss), WK_OK);
            assert_int_equal(wk_optim_step(adam), WK_OK);
        }
        wk_sync();
        expect_fine();
        if (step == 1) count = keys_of_plan(first);
        if (step < 2) continue;
        assert_int_equal(keys_of_plan(next), count);
        assert_memory_equal(first, next, sizeof *first * (size_t)count);
    }
    wk_free(labels), wk_free(x);
}

static void shapes_are_no_structure(void **state)
{
    (void)state;
    WK_SCOPE;
    WK_DEVICE(test_null());
    uint64_t key[2];
    for (int k = 0; k < 2; k++) {
        start();
        need(wk_sum(wk_mul(wk_exp(wk_rand((5 + 40 * k, 70 + k))), 0.5 + k), (1)));
        key[k] = wk__group_key(wk__null_plan_group(0));
    }
    assert_true(key[0] == key[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_is_run_when_numbers_are_needed),
        cmocka_unit_test(a_step_is_cut_at_the_end_of_its_scope),
        cmocka_unit_test(a_full_ring_is_run),
        cmocka_unit_test(parked_operands_never_change),
        cmocka_unit_test(parked_values_have_the_same_bits),
        cmocka_unit_test(what_is_parked_and_what_is_not),
        cmocka_unit_test(chains_are_parked_sixteen_deep),
        cmocka_unit_test(memory_that_others_can_write_is_not_parked_on),
        cmocka_unit_test(a_pointer_that_is_given_out_later),
        cmocka_unit_test(an_operand_that_goes_first),
        cmocka_unit_test(operands_that_have_gone_before_the_flush),
        cmocka_unit_test(modes_that_park_nothing),
        cmocka_unit_test(shapes_that_depend_on_data_wait_and_are_counted),
        cmocka_unit_test(a_training_step_compiles_once),
        cmocka_unit_test(shapes_are_no_structure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
