/* SPDX-License-Identifier: Apache-2.0 */
/* Common parts of tests of plans: a tensor on the null device, counts from the device's log, states of values. */
#ifndef TESTS_SUPPORT_PLAN_H
#define TESTS_SUPPORT_PLAN_H

#include "wick.h"

#include "backend/null/null.h"
#include "base/alloc.h"
#include "engine/op_queue.h"

enum { SIDE = 512, BYTES = SIDE * SIDE * 4 };

/* Returns a computed square matrix of ones on the null device; the caller frees it. */
static inline wk_tensor *square(void)
{
    WK_SCOPE;
    wk_tensor *x = wk_retain(wk_ones((SIDE, SIDE), .device = test_null()));
    assert_non_null(x);
    wk_sync();
    return x;
}

static inline void start(void)
{
    wk_sync();
    expect_ok();
    wk__null_log_clear();
}

static inline int runs(void)
{
    return (int)wk__null_log_count(WK__PROGRAM);
}

static inline int stores(void)
{
    int count = 0;
    const wk__program *g;
    for (int64_t k = 0; (g = wk__null_log_program_at(k)); k++)
        for (int i = 0; i < g->nins; i++) count += g->ins[i].code == WK__STORE;
    return count;
}

static inline bool holds(const wk__program *g, wk__opcode code)
{
    for (int i = 0; i < g->nins; i++)
        if (g->ins[i].code == code) return true;
    return false;
}

static inline void need(wk_tensor *x)
{
    assert_true(wk__materialize(x, WK_HERE));
    expect_ok();
}

static inline wk__value_state state_of(wk_tensor *x)
{
    return wk__body_of(x)->storage->value->state;
}

static inline int64_t live(void)
{
    wk_memory_stats stats = {.size = sizeof stats};
    wk_memory_stats_of(test_null(), &stats);
    return stats.live;
}

#endif
