/* SPDX-License-Identifier: Apache-2.0 */
/* Tests plans, inspected on the null device: liveness, parking, grouping, donation of memory, budgets. */
#include "support/wick.h"

#include "backend/null/null.h"
#include "base/alloc.h"
#include "engine/op_queue.h"

static wk_tensor_options on_null(void)
{
    return (wk_tensor_options){.size = sizeof(wk_tensor_options), .device = test_null()};
}

static wk_tensor *ones(int64_t rows, int64_t columns)
{
    wk_tensor_options options = on_null();
    wk_tensor *x = wk_ones_at(WK_HERE, (int64_t[]){rows, columns}, 2, &options);
    assert_non_null(x);
    void *hold = wk_retain(x); /* stored, so that it is not part of the tested plan */
    assert_non_null(hold);
    return x;
}

/* Runs what is pending and starts counting. */
static void start(void)
{
    wk_sync();
    expect_ok();
    wk__null_log_clear();
}

static int stores(void)
{
    int count = 0;
    const wk__program *g;
    for (int64_t k = 0; (g = wk__null_log_program_at(k)); k++)
        for (int i = 0; i < g->nins; i++) count += g->ins[i].code == WK__STORE;
    return count;
}

static int groups(void)
{
    return (int)wk__null_log_count(WK__PROGRAM);
}

/* Computes x alone, as a read does. */
static void materialize(wk_tensor *x)
{
    assert_true(wk__materialize(x, WK_HERE));
    expect_ok();
}

static void chain_in_a_scope_stores_once(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *z = ones(2, 3), *y = ones(2, 3);
    start();
    wk_tensor *sum = wk_add(z, 2);
    materialize(wk_mul(wk_exp(sum), y));
    assert_int_equal(groups(), 1);
    assert_int_equal(stores(), 1);
    materialize(sum); /* parked: computed now, from z */
    assert_int_equal(groups(), 2);
    assert_int_equal(stores(), 2);
    wk_free(z), wk_free(y);
}

static void unreferenced_results_are_never_computed(void **state)
{
    (void)state;
    wk_tensor *x = ones(2, 3);
    start();
    {
        WK_SCOPE;
        wk_exp(wk_mul(x, 2));
    }
    wk_sync();
    assert_int_equal(groups(), 0);
    wk_free(x);
}

static void kept_results_are_stored(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = ones(2, 3);
    start();
    wk_tensor *a = wk_retain(wk_mul(x, 2)), *b = wk_retain(wk_exp(a));
    wk_sync();
    assert_int_equal(groups(), 1);
    assert_int_equal(stores(), 2);
    wk_free(a), wk_free(b), wk_free(x);
}

static void a_reduction_takes_its_producers(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = ones(64, 128);
    start();
    materialize(wk_sum(wk_mul(wk_exp(x), x), (1)));
    assert_int_equal(groups(), 1);
    assert_int_equal(stores(), 1);
    wk_free(x);
}

static void a_row_stage_follows_its_reduction(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = ones(64, 128);
    start();
    materialize(wk_mul(x, wk_sum(x, (1), .keepdim = true)));
    assert_int_equal(groups(), 1);
    assert_int_equal(stores(), 2); /* a reduction is stored, not parked: recomputing it would read all of x */
    wk__null_log_clear();
    materialize(wk_mul(x, wk_sum(x, (0), .keepdim = true)));
    assert_int_equal(groups(), 1);
    wk__null_log_clear();
    materialize(wk_sum(wk_sum(x, (1)))); /* another space: two groups */
    assert_int_equal(groups(), 2);
    wk_free(x);
}

static void long_rows_are_not_traversed_twice(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = ones(2, 1 << 20);
    start();
    materialize(wk_mul(x, wk_sum(x, (1), .keepdim = true)));
    assert_int_equal(groups(), 2);
    wk_free(x);
}

static void independent_ops_of_one_space_share_a_group(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = ones(2, 3), *y = ones(4, 5);
    start();
    wk_tensor *a = wk_retain(wk_mul(x, 2)), *b = wk_retain(wk_mul(y, 2)), *c = wk_retain(wk_add(x, 1)),
              *d = wk_retain(wk_add(y, 1));
    wk_sync();
    assert_int_equal(groups(), 2);
    assert_int_equal(stores(), 4);
    wk_free(a), wk_free(b), wk_free(c), wk_free(d), wk_free(x), wk_free(y);
}

/* The output reuses the memory of an input that dies. */
static void dying_inputs_are_donated(void **state)
{
    (void)state;
    wk_tensor *x = ones(256, 256);
    start();
    wk_memory_stats before = {.size = sizeof before}, after = before;
    wk_memory_stats_of(test_null(), &before);
    wk_tensor *y = wk_mul(x, 2); /* no scope: the caller owns y */
    wk_free(x), wk_free(x);      /* created without a scope: one reference from the call, one from ones() */
    materialize(y);
    wk_memory_stats_of(test_null(), &after);
    assert_int_equal(after.live, before.live);
    const wk__program *g = wk__null_log_program_at(0);
    assert_ptr_equal(g->operand[0].memory->block, g->operand[g->noperands - 1].memory->block);
    assert_int_equal(g->operand[0].memory->offset, g->operand[g->noperands - 1].memory->offset);
    wk_free(y);
}

static void in_place_calls_reuse_their_target(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = ones(256, 256);
    start();
    wk_mul_(x, 2);
    wk_add_(x, 1);
    wk_sync();
    assert_int_equal(groups(), 1);
    assert_int_equal(stores(), 1);
    const wk__program *g = wk__null_log_program_at(0);
    assert_ptr_equal(g->operand[0].memory->block, g->operand[g->noperands - 1].memory->block);
    assert_int_equal((int)wk__null_log_count(WK__NULL_COPY), 0);
    wk_free(x);
}

static void the_byte_budget_flushes(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = ones(4096, 4096); /* 64 MB */
    start();
    wk_tensor *kept[6];
    for (int k = 0; k < 6; k++) kept[k] = wk_retain(wk_mul(x, k));
    assert_true(groups() > 0);
    for (int k = 0; k < 6; k++) wk_free(kept[k]);
    wk_free(x);
}

/* A tensor that is written part by part has one memory, so its parts count once. */
static void parts_of_a_tensor_count_once(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = ones(4096, 4096), *row = ones(1, 4096); /* 64 MB */
    start();
    for (int k = 0; k < 6; k++) wk_copy_(wk_narrow(x, 0, k, 1), row);
    assert_int_equal(groups(), 0);
    materialize(x);
    assert_int_equal((int)wk__null_log_count(WK__NULL_COPY), 0);
    wk_free(x);
    wk_free(row);
}

static void training_steps_share_one_structure(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = ones(8, 8);
    start();
    uint64_t key[2];
    for (int k = 0; k < 2; k++) {
        materialize(wk_mul(wk_add(x, 0.5 + k), 3 - k)); /* other values, same kernel */
        key[k] = wk__program_hash(wk__null_log_program_at(k));
    }
    assert_int_equal(key[0], key[1]);
    wk_free(x);
}

static void programs_continue_after_out_of_memory(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = ones(256, 256);
    start();
    wk_memory_trim(test_null());
    wk_memory_stats now = {.size = sizeof now};
    wk_memory_stats_of(test_null(), &now);
    wk_memory_set_limit(test_null(), now.live + now.cached + (20 << 20)); /* room for one, not for two */
    wk_tensor_options options = on_null();
    wk_full_f64_at(WK_HERE, (int64_t[]){4096, 4096}, 2, 2, &options);
    expect_error("full", "limit", NULL); /* larger than the limit: refused at the call */
    wk_tensor *big = wk_retain(wk_full_f64_at(WK_HERE, (int64_t[]){1024, 4096}, 2, 2, &options));
    wk_sync();
    expect_ok();
    wk_tensor *y = wk_retain(wk_exp(wk_full_f64_at(WK_HERE, (int64_t[]){1024, 4096}, 2, 2, &options)));
    wk_mul_(x, 2); /* in place: needs no memory */
    wk_sync();
    expect_error("exp", "limit", NULL);
    wk_memory_set_limit(test_null(), 0);
    assert_true(wk__materialize(x, WK_HERE)); /* x is unaffected */
    assert_false(wk__materialize(y, WK_HERE));
    expect_error("exp", NULL);
    wk_add(y, 1);
    expect_error("exp", NULL); /* a read of a failed tensor reports the first cause */
    wk_free(big), wk_free(y), wk_free(x);
}

static void from_without_device_memory(void **state)
{
    (void)state;
    static const float numbers[1 << 21];
    WK_SCOPE;
    WK_DEVICE(test_null());
    wk_memory_trim(test_null());
    wk__null_fail_alloc(1);
    assert_null(wk_from(numbers, (1 << 21)));
    wk__null_clear_faults();
    assert_int_equal(wk_error_code(), WK_ERR_MEMORY);
    expect_error("from", NULL);
}

static void a_launch_fails_and_the_target_keeps_its_value(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = ones(4, 4);
    start();
    wk__null_fail_submit(1);
    wk_mul_(x, 2);
    wk_sync();
    expect_error("mul", NULL);
    wk__null_clear_faults();
    assert_true(wk__materialize(x, WK_HERE));
    wk_add(x, 1);
    wk_sync();
    expect_ok();
    wk_free(x);
}

/* Only contractions have a sum; a scan of the same device reads a dimension. */
static void only_contractions_have_sums(void **state)
{
    (void)state;
    wk_tensor *x = ones(4, 4);
    start();
    wk_tensor *y = wk_retain(wk_cumsum(wk_matmul(x, x), 0));
    wk_sync();
    expect_ok();
    const wk__work *scan = wk__null_log_work_at(WK__SCAN, 0), *product = wk__null_log_work_at(WK__CONTRACTION, 0);
    assert_true(scan && !scan->args->contraction);
    assert_true(product && product->args->contraction);
    wk_free(y);
    wk_free(x);
}

static size_t room_of(wk_tensor *x, wk_tensor *(*call)(wk_site site, wk_tensor *a, wk_tensor *b))
{
    const wk__op_queue *ring = wk__context()->op_queue;
    const size_t before = ring->used;
    wk_tensor *y = wk_retain(call(WK_HERE, x, x));
    const size_t room = ring->used - before;
    wk_sync();
    wk_free(y);
    return room;
}

/* A sum is several times as large as the rest of a record, so other records have no room for one. */
static void only_contractions_have_room_for_sums(void **state)
{
    (void)state;
    wk_tensor *x = ones(4, 4);
    start();
    assert_true(room_of(x, wk_maximum_at) < sizeof(wk__contraction));
    assert_true(room_of(x, wk_matmul_at) > sizeof(wk__contraction));
    wk_free(x);
}

/* Work along a dimension gets one of size 1 if the tensor is 0-d. */
static void scalars_are_lines_of_size_1(void **state)
{
    (void)state;
    wk_tensor *x = ones(1, 4), *point = wk_retain(wk_sum(x));
    start();
    wk_tensor *scan = wk_retain(wk_cumsum(point, 0)),
              *dot = wk_retain(wk_matmul(wk_reshape(x, (4)), wk_reshape(x, (4))));
    wk_sync();
    expect_ok();
    const wk__work *line = wk__null_log_work_at(WK__SCAN, 0), *product = wk__null_log_work_at(WK__CONTRACTION, 0);
    assert_true(line && line->args->ndim == 1 && line->args->shape[0] == 1);
    assert_non_null(product);
    wk_free(dot), wk_free(scan), wk_free(point), wk_free(x);
}

/* Fills x with a number and returns the sums of rows that follow from it, computed in one go or step by step. */
static wk_tensor *sums_after_a_fill(wk_tensor *x, wk_tensor *y, int adds, int gelus, bool steps)
{
    wk_fill_(x, 7);
    wk_tensor *z = wk_mul(x, y);
    for (int k = 0; k < adds + gelus; k++) {
        if (steps) wk_sync();
        z = k < adds ? wk_add(z, 0.25 * k) : wk_gelu(z);
    }
    if (steps) wk_sync();
    return wk_sum(z, (1));
}

/* A constant that is stored beside a sum takes an immediate. Groups filled by the constants of expressions, which the
 * planner only estimates, must have one left for it. */
static void groups_at_the_limit_of_immediates(void **state)
{
    (void)state;
    for (int gelus = 0; gelus <= 12; gelus++)
        for (int adds = 0; adds < 28; adds++) {
            WK_SCOPE;
            wk_tensor *x = wk_zeros((2, 3)), *y = wk_full((2, 3), 0.125);
            wk_sync();
            wk_tensor *sum = sums_after_a_fill(x, y, adds, gelus, false);
            const double once = wk_item(wk_sum(sum)), of_x = wk_item(wk_sum(x));
            const double stepwise = wk_item(wk_sum(sums_after_a_fill(x, y, adds, gelus, true)));
            if (of_x != 42 || once != stepwise)
                fail_msg("%d adds, %d gelus: %g, %g, not 42, %g", adds, gelus, of_x, once, stepwise);
        }
    expect_ok();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chain_in_a_scope_stores_once),
        cmocka_unit_test(unreferenced_results_are_never_computed),
        cmocka_unit_test(kept_results_are_stored),
        cmocka_unit_test(a_reduction_takes_its_producers),
        cmocka_unit_test(a_row_stage_follows_its_reduction),
        cmocka_unit_test(long_rows_are_not_traversed_twice),
        cmocka_unit_test(independent_ops_of_one_space_share_a_group),
        cmocka_unit_test(dying_inputs_are_donated),
        cmocka_unit_test(in_place_calls_reuse_their_target),
        cmocka_unit_test(the_byte_budget_flushes),
        cmocka_unit_test(parts_of_a_tensor_count_once),
        cmocka_unit_test(training_steps_share_one_structure),
        cmocka_unit_test(from_without_device_memory),
        cmocka_unit_test(programs_continue_after_out_of_memory),
        cmocka_unit_test(a_launch_fails_and_the_target_keeps_its_value),
        cmocka_unit_test(only_contractions_have_sums),
        cmocka_unit_test(only_contractions_have_room_for_sums),
        cmocka_unit_test(scalars_are_lines_of_size_1),
        cmocka_unit_test(groups_at_the_limit_of_immediates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
