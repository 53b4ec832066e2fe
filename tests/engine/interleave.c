/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the order in which a flush submits work to several devices (src/engine/plan/interleave.c): all devices are busy
 * before the host computes or waits, each device keeps its order, and transactional calls run when all earlier work is
 * complete. */
#include "support/wick.h"
#include <pthread.h>

#include "backend/null/null.h"
#include "engine/verify/shuffle.h"

/* ---- the plan ---------------------------------------------------------------------------------------------------- */

enum { MOST = 4096 };

/* Group and device of each live record, and whether it copies from another device; in program order. */
typedef struct seen {
    const wk__op *op;
    int32_t group, whole;
    const wk__device *device, *from;
} seen;
static seen plan[MOST];
static int64_t records;

static const wk__device *source_of(const wk__record *r)
{
    return wk__record_family(r)->is_transfer ? r->ref[r->nout].value->device : NULL;
}

/* Records the plan, and checks that groups are computed before groups that read them. */
static void observe_plan(const wk__op_queue *ring, int32_t groups)
{
    records = 0;
    for (int64_t k = 0; k < ring->count; k++) {
        const wk__record *r = ring->record[k];
        if (!r->live) continue;
        assert_in_range(r->group, 0, groups - 1);
        for (int i = -1; i < r->nin; i++) {
            const wk__value *in = i < 0 ? r->prior : r->ref[r->nout + i].value;
            if (in && in->state == WK__PENDING) assert_true(in->group <= r->group);
        }
        assert_true(records < MOST);
        plan[records++] = (seen){r->op, r->group, r->transaction, r->device, source_of(r)};
    }
}

static int begin(void **state)
{
    test_default_mode(state);
    wk__null_set_count(WK_MIRRORED_DEVICES);
    return 0;
}

static int end(void **state)
{
    wk__set_fusion_observer(NULL);
    wk__null_set_count(1);
    test_clean(state);
    return test_restore_mode(state);
}

static wk_device null(int index)
{
    return (wk_device){WK_NULL, (int16_t)index, 0};
}

/* Ones in memory; values owned only by a scope may be parked. */
static wk_tensor *ones_on(wk_device device)
{
    wk_tensor *x = wk_retain(wk_ones((8, 8), .device = device));
    wk_sync();
    wk_free(x);
    return x;
}

static void flush(void)
{
    records = 0;
    wk__set_fusion_observer(observe_plan);
    wk_flush();
    wk__set_fusion_observer(NULL);
}

/* The group of the k-th record of a device, counted from 0. */
static int32_t group_on(wk_device device, int k)
{
    for (int64_t i = 0; i < records; i++)
        if (wk_device_eq(plan[i].device->id, device) && !plan[i].from && k-- == 0) return plan[i].group;
    fail_msg("no such record on %s", wk_device_str(device));
    return -1;
}

static int32_t copy_out_of(wk_device device, int k)
{
    for (int64_t i = 0; i < records; i++)
        if (plan[i].from && wk_device_eq(plan[i].from->id, device) && k-- == 0) return plan[i].group;
    fail_msg("no such copy from %s", wk_device_str(device));
    return -1;
}

/* ---- submission order -------------------------------------------------------------------------------------------- */

static void accelerators_begin_before_the_cpu_computes(void **state)
{
    (void)state;
    WK_SCOPE;
    WK_NO_GRAD;
    wk_tensor *c = ones_on(wk_cpu()), *a = ones_on(null(0)), *b = ones_on(null(1));
    wk_matmul(c, c);
    wk_matmul(a, a);
    wk_matmul(b, b);
    flush();
    assert_int_equal(group_on(null(0), 0), 0);
    assert_int_equal(group_on(null(1), 0), 1);
    assert_int_equal(group_on(wk_cpu(), 0), 2);
}

static void host_bytes_are_sent_first(void **state)
{
    (void)state;
    WK_SCOPE;
    WK_NO_GRAD;
    wk_tensor *c = ones_on(wk_cpu());
    wk_matmul(c, c);
    wk_to(c, null(0));
    flush();
    assert_int_equal(copy_out_of(wk_cpu(), 0), 0);
    assert_int_equal(group_on(wk_cpu(), 0), 1);
}

/* The result of one device is fetched after the other has been given its work and the CPU has done its own. */
static void copies_to_the_host_come_last(void **state)
{
    (void)state;
    WK_SCOPE;
    WK_NO_GRAD;
    wk_tensor *c = ones_on(wk_cpu()), *a = ones_on(null(0)), *b = ones_on(null(1));
    wk_to(wk_matmul(a, a), wk_cpu());
    wk_matmul(c, c);
    wk_matmul(b, b);
    flush();
    assert_true(group_on(null(1), 0) < copy_out_of(null(0), 0));
    assert_true(group_on(wk_cpu(), 0) < copy_out_of(null(0), 0));
}

/* But if the device has no earlier work, the copy is ready immediately, and work that depends on it may start. */
static void copies_without_earlier_work_come_first(void **state)
{
    (void)state;
    WK_SCOPE;
    WK_NO_GRAD;
    wk_tensor *c = ones_on(wk_cpu()), *a = ones_on(null(0));
    wk_matmul(c, c);
    wk_to(a, wk_cpu());
    wk_matmul(a, a);
    flush();
    assert_int_equal(copy_out_of(null(0), 0), 0);
    assert_int_equal(group_on(null(0), 0), 1);
    assert_int_equal(group_on(wk_cpu(), 0), 2);
}

/* A copy between devices precedes later work of its source, and follows independent work of its target. */
static void copies_between_devices(void **state)
{
    (void)state;
    WK_SCOPE;
    WK_NO_GRAD;
    wk_tensor *a = ones_on(null(0)), *b = ones_on(null(1));
    wk_tensor *there = wk_to(wk_matmul(a, a), null(1));
    wk_matmul(a, a);
    wk_matmul(b, there);
    wk_matmul(b, b);
    flush();
    assert_int_equal(group_on(null(0), 0), 0);
    assert_int_equal(copy_out_of(null(0), 0), 1);
    assert_int_equal(group_on(null(0), 1), 2);
    assert_int_equal(group_on(null(1), 0), 3);

    wk_to(wk_matmul(a, a), null(1));
    wk_matmul(b, b);
    flush();
    assert_int_equal(group_on(null(1), 0), 1);
    assert_int_equal(copy_out_of(null(0), 0), 2);
}

static void one_device_keeps_its_order(void **state)
{
    (void)state;
    WK_SCOPE;
    WK_NO_GRAD;
    wk_tensor *c = ones_on(wk_cpu());
    for (int k = 0; k < 6; k++) wk_matmul(c, c);
    flush();
    for (int k = 0; k < 6; k++) assert_int_equal(group_on(wk_cpu(), k), k);
}

/* The most devices that a mirrored network may have, and the CPU, which computes when all of them are busy. */
static void seventeen_devices(void **state)
{
    (void)state;
    WK_SCOPE;
    WK_NO_GRAD;
    wk_tensor *c = ones_on(wk_cpu()), *a[WK_MIRRORED_DEVICES];
    for (int k = 0; k < WK_MIRRORED_DEVICES; k++) a[k] = ones_on(null(k));
    wk_matmul(c, c);
    for (int k = 0; k < WK_MIRRORED_DEVICES; k++) wk_matmul(a[k], a[k]);
    flush();
    assert_int_equal(group_on(wk_cpu(), 0), WK_MIRRORED_DEVICES);
}

/* A thread's first flush of a full ring: each record is a group, and groups are reordered. */
static void *fill_a_ring(void *number)
{
    WK_SCOPE;
    WK_NO_GRAD;
    wk_tensor *c = wk_ones((8, 8)), *a = wk_ones((8, 8), .device = null(0));
    for (int k = 2; k < *(const int *)number; k++) {
        if (k % 2)
            wk_matmul(a, a);
        else
            wk_matmul(c, c);
    }
    flush();
    return NULL;
}

static void a_group_per_record_of_a_full_ring(void **state)
{
    (void)state;
    for (int n = 4; n < 70; n++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, fill_a_ring, &n), 0);
        pthread_join(thread, NULL);
        assert_int_equal(records, n);
        assert_true(group_on(wk_cpu(), 1) > group_on(null(0), n / 2 - 1));
    }
}

/* ---- transactional calls ----------------------------------------------------------------------------------------- */

/* The step on the CPU waits for all earlier work of the other devices, needed or not, so that all possible failures are
 * known. Later work follows it. */
static void a_step_follows_all_earlier_work(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *p = wk_ones((8, 8), .requires_grad = true), *q = wk_ones((4, 4), .requires_grad = true);
    wk_tensor *a = ones_on(null(0));
    wk_optim *sgd = wk_optim_sgd(wk_list((p, q)), .lr = 0.1, .momentum = 0.9);
    for (int step = 0; step < 2; step++) {
        wk_set_grad(p, wk_ones((8, 8)));
        wk_set_grad(q, wk_ones((4, 4)));
        wk_sync();
        WK_NO_GRAD;
        wk_to(wk_matmul(a, a), wk_cpu());
        wk_optim_step(sgd);
        wk_matmul(a, a);
        flush();
    }
    int32_t first = MOST, last = -1;
    for (int64_t k = 0; k < records; k++) {
        if (!plan[k].whole) continue;
        first = plan[k].group < first ? plan[k].group : first;
        last = plan[k].group > last ? plan[k].group : last;
    }
    assert_true(copy_out_of(null(0), 0) < first);
    assert_true(group_on(null(0), 1) > last);
    expect_ok();
}

/* ---- random programs --------------------------------------------------------------------------------------------- */

static uint64_t seed = 1;
static int draw(int bound)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((seed >> 33) % (uint64_t)bound);
}

enum { TENSORS = 12, CALLS = 60, PROGRAMS = 300 };

static void record(wk_tensor *x[TENSORS], wk_optim *sgd)
{
    const int into = draw(TENSORS), from = draw(TENSORS), other = draw(TENSORS);
    const wk_device there = wk_device_of(x[into]);
    wk_tensor *a = wk_to(x[from], there), *made;
    switch (draw(5)) {
    case 0: made = wk_add(a, wk_to(x[other], there)); break;
    case 1: made = wk_matmul(a, wk_to(x[other], there)); break;
    case 2: made = wk_sub(a, wk_sum(a, (0), .keepdim = true)); break;
    case 3: wk_add_(x[into], a); return;
    default:
        if (draw(4) == 0) wk_optim_step(sgd);
        return;
    }
    x[into] = made;
}

/* A lane is a device's own groups and the copies from it; copies from the CPU are a separate lane. */
static const wk__device *lane_of(const seen *s)
{
    static const wk__device uploads;
    return !s->from ? s->device : s->from->id.kind == WK_CPU ? &uploads : s->from;
}

/* Checks that lanes keep their order; `look` has checked the rest. */
static void lanes_keep_their_order(void)
{
    for (int64_t k = 0; k < records; k++) {
        for (int64_t before = 0; before < k; before++) {
            bool opens =
                lane_of(&plan[before]) == lane_of(&plan[k]); /* the first record of its group within the lane */
            for (int64_t i = 0; i < k && opens; i++) opens = plan[i].group != plan[k].group;
            if (opens) assert_true(plan[before].group < plan[k].group);
        }
    }
}

static void programs_of_all_devices(void **state)
{
    (void)state;
    int64_t flushed = 0;
    for (int program = 0; program < PROGRAMS; program++) {
        WK_SCOPE;
        wk_tensor *x[TENSORS], *p = wk_ones((4, 4), .requires_grad = true);
        wk_optim *sgd = wk_optim_sgd(wk_list((p)), .lr = 0.1);
        for (int k = 0; k < TENSORS; k++) x[k] = wk_ones((4, 4), .device = k % 4 == 3 ? wk_cpu() : null(k % 4));
        wk_set_grad(p, wk_ones((4, 4)));
        wk_sync();
        WK_NO_GRAD;
        for (int call = 0; call < CALLS; call++) record(x, sgd);
        flush();
        lanes_keep_their_order();
        flushed += records;
        expect_ok();
    }
    assert_true(flushed > 10 * PROGRAMS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accelerators_begin_before_the_cpu_computes),
        cmocka_unit_test(host_bytes_are_sent_first),
        cmocka_unit_test(copies_to_the_host_come_last),
        cmocka_unit_test(copies_without_earlier_work_come_first),
        cmocka_unit_test(copies_between_devices),
        cmocka_unit_test(one_device_keeps_its_order),
        cmocka_unit_test(seventeen_devices),
        cmocka_unit_test(a_group_per_record_of_a_full_ring),
        cmocka_unit_test(a_step_follows_all_earlier_work),
        cmocka_unit_test(programs_of_all_devices),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
