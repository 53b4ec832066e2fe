/* SPDX-License-Identifier: Apache-2.0 */
/* Tests rules 17 and 18 of docs/contributing/invariants.md: deferred errors, failure as a state of values. Faults
 * come from the null device and from memory limits. engine_plan, ops_indexing and gpu_memory test the rest of these
 * rules. */
#include "support/devices.h"

#include <math.h>

#include "backend/null/null.h"
#include "engine/op_queue.h"

static wk_tensor *far_ones(void)
{
    return wk_ones((2, 3), .device = test_null());
}

/* ---- rule 17: the first error, and deferred ones ----------------------------------------------------------------- */

static void querying_the_error_runs_nothing(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_retain(far_ones());
    wk_sync();
    wk__null_log_clear();
    wk__null_fail_submit(1);
    wk_tensor *y = wk_retain(wk_mul(x, 2));
    assert_null(wk_error());
    assert_int_equal(wk_error_code(), WK_OK);
    assert_int_equal(wk_report_error(stderr), 0);
    assert_int_equal(wk__null_log_count(WK__PROGRAM), 0);
    wk_flush();
    wk__null_clear_faults();
    char site[64];
    snprintf(site, sizeof site, "rules/failures.c:%d: mul", __LINE__ - 8);
    expect_error(site, "rejected the launch", NULL);
    wk_free(x), wk_free(y);
}

/* A deferred error is reported by the next call, or by a read of the failed value; the program may have continued. */
static void deferred_errors_are_reported_by_the_next_call_or_read(void **state)
{
    (void)state;
    for (int how = 0; how < 8; how++) {
        WK_SCOPE;
        wk_tensor *x = wk_retain(far_ones()), *good = wk_ones((2));
        wk_sync();
        wk__null_fail_submit(1);
        wk_tensor *y = wk_retain(wk_exp(x));
        float data[6];
        if (how == 0) {
            wk__flush(wk__context());
            assert_int_equal(wk__context()->code, WK_OK); /* not reported yet */
            wk_add(good, 1);
            assert_int_not_equal(wk__context()->code, WK_OK);
        } else if (how == 6) {
            wk__flush(wk__context());
            assert_int_not_equal(wk_error_code(), WK_OK);
        } else if (how == 7) { /* the end of a program whose last work ran with an earlier flush */
            wk__flush(wk__context());
            FILE *out = tmpfile();
            assert_int_equal(wk_report_error(out), 1);
            assert_true(ftell(out) > 0);
            fclose(out);
        } else if (how == 1) {
            assert_true(isnan(wk_item(wk_sum(y))));
        } else if (how == 2) {
            assert_int_not_equal(wk_read(y, data, sizeof data), WK_OK);
        } else if (how == 3) {
            assert_null(wk_tensor_str(y));
        } else if (how == 4) {
            assert_int_not_equal(wk_save_tensors(wk_list((y)), "/tmp/never-written.safetensors"), WK_OK);
        } else {
            assert_int_not_equal(wk_sync(), WK_OK);
        }
        wk__null_clear_faults();
        expect_error("rules/failures.c", "exp", "rejected the launch", NULL);
        EXPECT_VALUES(wk_add(good, 1), 0, 2, 2);
        wk_free(x), wk_free(y);
    }
}

/* ---- rule 18: failure is a state of the value -------------------------------------------------------------------- */

/* Each read of a failed value reports its first cause and call site, however long the chain. Independent values are
 * unaffected. */
static void dependent_values_report_the_first_cause(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_retain(far_ones());
    wk_sync();
    wk_tensor *total = wk_retain(wk_sum(wk_mul(x, 3), (0))); /* a separate kernel, which runs first */
    wk_tensor *y = wk_retain(wk_cumsum(x, 0));
    wk_tensor *z = wk_retain(wk_exp(y)), *last = wk_retain(wk_sum(wk_mul(z, 2)));
    wk__null_fail_submit(2);
    wk_flush();
    wk__null_clear_faults();
    expect_error("cumsum", NULL);
    for (int k = 0; k < 2; k++) {
        wk_item(k ? last : wk_sum(z));
        expect_error("cumsum: null:0 rejected the launch", NULL);
        assert_null(wk_add(z, 1));
        expect_error("cumsum: null:0 rejected the launch", NULL);
    }
    assert_non_null(wk_add(total, 1));
    wk_sync();
    expect_ok();
    wk_free(total), wk_free(y), wk_free(z), wk_free(last), wk_free(x);
}

/* A value fails and there is no memory for a message: the error is reported once to the thread, and not again for
 * results computed from it. */
static void a_failure_without_a_message_is_reported_once(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_retain(wk_add(wk_ones((2)), 1)), *good = wk_retain(wk_add(wk_ones((2)), 2));
    wk_sync();
    wk_tensor *y = wk_retain(wk_exp(x)), *z = wk_retain(wk_sum(x));
    wk__value_fail(wk__body_of(x)->storage->value, NULL);
    wk__post_failure(wk__context(), NULL);
    wk_add(good, 1);
    expect_error("out of host memory", NULL);
    for (int k = 0; k < 2; k++) {
        wk_flush();
        wk_add(good, 1);
        expect_ok();
        assert_true(isnan(wk_item(k ? z : wk_sum(y))));
        expect_error("out of host memory", NULL);
    }
    wk_free(x), wk_free(y), wk_free(z), wk_free(good);
}

/* A step changes all parameters or none: it allocates all state before it writes the first parameter. */
static void a_step_is_all_or_nothing(void **state)
{
    (void)state;
    enum { LARGE = 1 << 21 }; /* 8 MB */
    for (int n = 0; n < 4; n++) {
        WK_SCOPE;
        wk_tensor *a = wk_ones((4), .requires_grad = true), *b = wk_ones((LARGE), .requires_grad = true);
        wk_optim *adam = wk_optim_adam(wk_list((a, b)), .lr = 0.5);
        wk_set_grad(a, wk_clone(wk_ones((4))));
        wk_set_grad(b, wk_clone(wk_ones((LARGE))));
        wk_sync();
        wk_memory_trim(wk_cpu());
        wk_memory_stats now = {.size = sizeof now};
        wk_memory_stats_of(wk_cpu(), &now);
        wk_memory_set_limit(wk_cpu(), now.live + now.cached + n * ((int64_t)6 << 20)); /* two moments of b are 16 MB */
        wk_code code = wk_optim_step(adam);
        wk_memory_set_limit(wk_cpu(), 0);
        if (n < 2) assert_int_equal(code, WK_ERR_MEMORY);
        if (code != WK_OK) expect_error("rules/failures.c", "limit", NULL);
        double changed = code == WK_OK ? 0.5 : 1;
        EXPECT_VALUES(a, 1e-6, changed, changed, changed, changed);
        EXPECT_VALUES(wk_slice(b, 0, 0, 2), 1e-6, changed, changed);
        assert_int_equal(wk_optim_step(adam), WK_OK); /* and the next step works */
        EXPECT_VALUES(wk_slice(a, 0, 0, 1), 1e-4, changed - 0.5);
    }
}

/* Every index is checked before the first element is written. */
/* On the CPU a bad index fails neither values computed beside it in the same kernel, nor its operands, nor an in-place
 * target. */
static void a_bad_index_fails_dependent_values_only(void **state)
{
    (void)state;
    wk_tensor *places, *beside, *fine, *taken, *after;
    WK_SCOPE;
    wk_tensor *rows = wk_ones((3)), *target = wk_ones((2)), *bad = wk_of(int64_t, (2), 0, 9),
              *good = wk_of(int64_t, (2), 0, 2);
    wk_sync();
    places = wk_retain(wk_add(bad, 0));
    beside = wk_retain(wk_add(wk_ones((2)), 5));
    fine = wk_retain(wk_index_select(rows, 0, wk_add(good, 0)));
    taken = wk_retain(wk_index_select(rows, 0, places));
    after = wk_retain(wk_add(taken, beside));
    wk_mul_(target, 3);
    wk_add_(wk_select(target, 0, 1), 1);
    wk_sync();
    expect_error("index_select", "index 9 is out of range", NULL);
    EXPECT_VALUES(places, 0, 0, 9);
    EXPECT_VALUES(beside, 0, 6, 6);
    EXPECT_VALUES(fine, 0, 1, 1);
    EXPECT_VALUES(target, 0, 3, 4);
    assert_true(isnan(wk_item(wk_sum(after))));
    expect_error("index_select", NULL);
    wk_tensor *all[] = {places, beside, fine, taken, after};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) wk_free(all[k]);
}

static void a_bad_index_writes_nothing(void **state)
{
    (void)state;
    for (int device = 0; device < 1 + wk_device_count(test_gpu_kind()); device++) {
        WK_SCOPE;
        WK_DEVICE(device ? test_gpu(device - 1) : wk_cpu());
        wk_tensor *x = wk_retain(wk_clone(wk_ones((4)))),
                  *late = wk_add(wk_of(int64_t, (3), 0, 1, 3), wk_of(int64_t, (3), 0, 0, 4));
        wk_sync();
        assert_ptr_equal(wk_index_add_(x, 0, late, wk_of(float, (3), 10, 20, 30)), x);
        wk_sync();
        expect_error("index_add", "index 7 is out of range", "size 4", NULL);
        EXPECT_VALUES(x, 0, 1, 1, 1, 1);
        wk_clear_error();
        EXPECT_VALUES(wk_index_add_(x, 0, wk_of(int64_t, (1), 3), wk_ones((1))), 0, 1, 1, 1, 2);
        wk_free(x);
    }
}

/* A write that cannot run leaves its target unchanged, even if the target is still to be computed and is not read
 * otherwise. A target whose address the program has is written even if a value beside it fails. */
static void targets_beside_a_bad_index(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) {
        WK_SCOPE;
        wk_tensor *rows = wk_ones((2)), *bad = wk_of(int64_t, (2), 0, 9), *fine = wk_of(float, (2), 1, 2);
        wk_sync();
        wk_tensor *late = wk_index_select(rows, 0, wk_add(bad, 0)), *target = wk_mul(fine, 2);
        if (way == 0) {
            wk_copy_(target, late);
        } else if (way == 1) {
            wk_mul_(target, wk_add(late, 1));
        } else if (way == 2) {
            wk_add_(target, 1), wk_copy_(wk_narrow(target, 0, 1, 1), wk_narrow(late, 0, 0, 1)), wk_sub_(target, 1);
        } else {
            wk_data(target);
            late = wk_index_select(rows, 0, wk_mul(bad, 1));
            wk_fill_(target, 5), wk_neg_(late);
        }
        wk_sync();
        expect_error("index_select", "index 9 is out of range", NULL);
        wk_clear_error();
        if (way < 3)
            EXPECT_VALUES(target, 0, 2, 4);
        else
            EXPECT_VALUES(target, 0, 5, 5);
        assert_true(isnan(wk_item(wk_sum(late))));
        wk_clear_error();
    }
}

/* Of several bad indices the first in element order is reported, also if indices are checked after the call. */
static void the_first_bad_index_is_reported(void **state)
{
    (void)state;
    static const char *const names[] = {"gather", "scatter_add", "scatter", "scatter"};
    /* -4 plus 2 would be a valid index */
    static const int64_t places[2][3] = {{0, -4, 1}, {7, 0, 5}};
    for (int device = 0; device < 1 + (wk_device_count(test_gpu_kind()) > 0); device++) {
        WK_SCOPE;
        WK_DEVICE(device ? test_gpu(0) : wk_cpu());
        wk_tensor *x = wk_clone(wk_ones((2, 3)));
        wk_tensor *index = wk_from_at(WK_HERE, WK_I64, places, sizeof places, (const int64_t[]){2, 3}, 2);
        for (int op = 0; op < 4; op++) {
            wk_sync();
            wk_tensor *late = wk_add(index, 0);
            wk_tensor *y = op == 0   ? wk_gather(x, 0, late)
                           : op == 1 ? wk_scatter_add(x, 0, late, x)
                           : op == 2 ? wk_scatter(x, 0, late, x)
                                     : wk_scatter(x, 0, late, 5);
            assert_true(isnan(wk_item(wk_sum(y))));
            expect_error(names[op], "index -4 is out of range for size 2", NULL);
        }
        EXPECT_VALUES(x, 0, 1, 1, 1, 1, 1, 1);
        EXPECT_VALUES(wk_scatter(x, 0, wk_add(wk_of(int64_t, (1, 3), -2, 1, -1), 0), 5), 0, 5, 1, 1, 1, 5, 5);
    }
}

/* A lost device fails the values on it and no others. */
static void a_lost_device_fails_its_values_only(void **state)
{
    (void)state;
    WK_SCOPE;
    wk__null_set_count(3);
    wk_tensor *here = wk_ones((2)), *there = wk_retain(far_ones()),
              *other = wk_retain(wk_ones((2), .device = {.kind = WK_NULL, .index = 1}));
    wk_sync();
    wk__null_lose_device(0);
    wk_tensor *y = wk_retain(wk_exp(there));
    assert_int_not_equal(wk_sync(), WK_OK);
    assert_int_equal(wk_error_code(), WK_ERR_DEVICE_LOST);
    wk_clear_error();
    wk_item(wk_sum(y));
    expect_error("exp: null:0: the device does not respond", NULL);
    wk_item(wk_sum(there));
    expect_error("sum: null:0: the device does not respond", NULL);
    assert_true(wk_item(wk_sum(here)) == 2);
    const wk_device third = {.kind = WK_NULL, .index = 2};
    assert_true(wk__materialize(wk_to(other, third), WK_HERE)); /* through the host */
    wk_tensor *sum = wk_sum(other);
    assert_true(wk_item(sum) == 0); /* the null device reads as 0 */
    expect_ok();
    wk__null_clear_faults();
    wk_free(y), wk_free(there), wk_free(other);
}

/* Reading a target that kept its old values reports the error that prevented the write, because the read ran it. */
static void a_read_reports_errors_of_the_work_it_runs(void **state)
{
    (void)state;
    for (int how = 0; how < 4; how++) {
        WK_SCOPE;
        float data[10];
        wk_tensor *w = wk_ones((10)), *i = wk_ones((1), .dtype = WK_I64);
        wk_sync();
        wk_index_add_(w, 0, wk_add(i, 5000), wk_ones((1)));
        if (how == 0) assert_true(wk_item(wk_sum(w)) == 10);
        if (how == 1) wk_read(w, data, sizeof data);
        if (how == 2) assert_non_null(wk_tensor_str(w));
        if (how == 3) assert_non_null(wk_data(w));
        expect_error("index_add_", "5001", "out of range", NULL);
        EXPECT_VALUES(w, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(querying_the_error_runs_nothing, test_clean),
        cmocka_unit_test_teardown(deferred_errors_are_reported_by_the_next_call_or_read, test_clean),
        cmocka_unit_test_teardown(a_read_reports_errors_of_the_work_it_runs, test_clean),
        cmocka_unit_test_teardown(dependent_values_report_the_first_cause, test_clean),
        cmocka_unit_test_teardown(a_failure_without_a_message_is_reported_once, test_clean),
        cmocka_unit_test_teardown(a_step_is_all_or_nothing, test_clean),
        cmocka_unit_test_teardown(a_bad_index_fails_dependent_values_only, test_clean),
        cmocka_unit_test_teardown(a_bad_index_writes_nothing, test_clean),
        cmocka_unit_test_teardown(targets_beside_a_bad_index, test_clean),
        cmocka_unit_test_teardown(the_first_bad_index_is_reported, test_clean),
        cmocka_unit_test_teardown(a_lost_device_fails_its_values_only, test_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
