/* SPDX-License-Identifier: Apache-2.0 */
/* Implements costs.h. */
#include "costs.h"

#include "backend/null/null.h"
#include "engine/op_queue.h"

wk_tensor *test_materialized(wk_tensor *x)
{
    assert_non_null(x);
    wk_tensor *hold = wk_keep(x);
    assert_true(wk__materialize(hold, WK_HERE));
    return hold;
}

void test_force(wk_tensor *x)
{
    assert_non_null(x);
    assert_true(wk__materialize(x, WK_HERE));
    expect_ok();
}

wk_tensor *test_computed(wk_tensor *x)
{
    test_force(x);
    return x;
}

static int64_t on_device(bool peak)
{
    wk_memory_stats stats = {.size = sizeof stats};
    assert_int_equal(wk_memory_stats_of(test_null(), &stats), WK_OK);
    return peak ? stats.peak : stats.live;
}

static void count_program(costs *costs, const wk__program *g)
{
    costs->instructions += g->nins;
    for (int o = 0; o < g->noperands; o++) (*(g->operand[o].stored ? &costs->stores : &costs->loads))++;
}

static costs costs_of(const cost_case *t)
{
    WK_SCOPE;
    WK_DEVICE(test_null());
    const inputs in = {.x = test_materialized(wk_ones((32, 64))),
                       .y = test_materialized(wk_ones((32, 64))),
                       .w = test_materialized(wk_ones((64, 16))),
                       .row = test_materialized(wk_ones((64))),
                       .index = test_materialized(wk_zeros((32), .dtype = WK_I64))};
    wk_sync();
    wk__null_log_clear();
    assert_int_equal(wk_memory_reset_peak(test_null()), WK_OK);
    const int64_t before = on_device(false);
    t->run(&in);
    expect_ok();
    costs found = {.passes = wk__null_log_count(WK__PROGRAM),
                   .products = wk__null_log_count(WK__CONTRACTION),
                   .kernels = wk__null_log_work_count() - wk__null_log_count(WK__PROGRAM) -
                              wk__null_log_count(WK__CONTRACTION),
                   .copies = wk__null_log_count(WK__NULL_COPY),
                   .bytes = on_device(true) - before,
                   .left = on_device(false) - before};
    for (int64_t k = 0; k < found.passes; k++) count_program(&found, wk__null_log_program_at(k));
    for (int64_t k = 0; k < found.products; k++)
        if (wk__null_log_work_at(WK__CONTRACTION, k)->program)
            count_program(&found, wk__null_log_work_at(WK__CONTRACTION, k)->program);
    return found;
}

void expect_costs(const cost_case *typicals, size_t count)
{
    bool as_written = true;
    for (size_t k = 0; k < count; k++) {
        const costs found = costs_of(&typicals[k]);
        if (memcmp(&found, &typicals[k].costs, sizeof found) == 0) continue;
        as_written = false;
        print_message("{NAMED(%s), {%lld, %lld, %lld, %lld, %lld, %lld, %lld, %lld, %lld}},\n", typicals[k].name,
                      (long long)found.passes, (long long)found.products, (long long)found.kernels,
                      (long long)found.copies, (long long)found.loads, (long long)found.stores,
                      (long long)found.instructions, (long long)found.bytes, (long long)found.left);
    }
    assert_true(as_written);
}
