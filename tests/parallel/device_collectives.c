/* SPDX-License-Identifier: Apache-2.0 */
/* Tests collectives between the devices of a process, with gradients: wk_devices_scatter, wk_devices_gather,
 * wk_devices_broadcast, wk_devices_all_reduce. */
#include "support/mirrored.h"

#include "engine/op_queue.h"

static void gather_reverses_scatter(void **state)
{
    (void)state;
    EACH_DEVICE_SET(set)
    {
        for (int64_t rows = 0; rows < 6; rows++) {
            WK_SCOPE;
            wk_tensor *x = wk_reshape(wk_arange((double)(2 * rows), .dtype = WK_F32), (rows, 2));
            wk_requires_grad_(x, true);
            wk_tensors *parts = wk_devices_scatter(x, set->device, set->n);
            const int count = wk_tensors_count(parts);
            assert_int_equal(count, rows == 0 ? 1 : rows < set->n ? rows : set->n);
            for (int k = 0; k < count; k++) {
                wk_tensor *part = wk_tensors_get(parts, k);
                assert_true(wk_device_eq(wk_device_of(part), set->device[k]));
                EXPECT_SHAPE(part, rows / count + (k < rows % count), 2);
            }
            const wk_device last = set->device[set->n - 1];
            wk_tensor *back = wk_devices_gather(parts, last);
            assert_true(wk_device_eq(wk_device_of(back), last));
            EXPECT_SHAPE(back, rows, 2);
            if (rows == 0) continue;
            assert_true(test_gap(back, x) == 0);
            wk_backward(wk_sum(wk_mul(back, wk_detach(back))));
            assert_true(test_gap(wk_grad_of(x), x) == 0);
            expect_ok();
        }
    }
}

static void scalars_are_stacked(void **state)
{
    (void)state;
    EACH_DEVICE_SET(set)
    {
        WK_SCOPE;
        wk_tensors *list = wk_tensors_new();
        for (int k = 0; k < set->n; k++) {
            char name[2] = {(char)('a' + k), 0};
            wk_tensors_add(list, name, wk_full((), k + 1.0, .device = set->device[k]));
        }
        wk_tensor *all = wk_devices_gather(list, wk_cpu());
        EXPECT_SHAPE(all, set->n);
        for (int k = 0; k < set->n; k++) assert_true(wk_item(wk_select(all, 0, k)) == k + 1);
        expect_ok();
    }
}

static void broadcasts_and_their_gradient(void **state)
{
    (void)state;
    EACH_DEVICE_SET(set)
    {
        WK_SCOPE;
        wk_tensor *x = wk_of(float, (2), 3, 4), *sum = NULL;
        wk_requires_grad_(x, true);
        wk_tensors *all = wk_devices_broadcast(x, set->device, set->n);
        for (int k = 0; k < set->n; k++) {
            wk_tensor *there = wk_tensors_get(all, k);
            assert_true(wk_device_eq(wk_device_of(there), set->device[k]));
            assert_int_equal(wk_same_storage(there, x), set->device[k].kind == WK_CPU); /* nothing is copied there */
            assert_non_null(strstr(wk_tensor_str(there), "grad_fn=<BroadcastBackward>"));
            EXPECT_VALUES(there, 0, 3, 4);
            if (k == 1) continue; /* an unused output */
            wk_tensor *y = wk_to(wk_mul(wk_mul(there, there), k + 1.0), wk_cpu());
            sum = sum ? wk_add(sum, y) : y;
        }
        wk_tensor *g[1], *gg[1];
        const double factor = 2.0 * (set->n == 1 || set->n == 2 ? 1 : set->n == 3 ? 1 + 3 : 1 + 3 + 4);
        wk_grad((wk_sum(sum)), (x), g, .create_graph = true);
        EXPECT_VALUES(g[0], 0, 3 * factor, 4 * factor);
        wk_grad((wk_sum(g[0])), (x), gg);
        EXPECT_VALUES(gg[0], 0, factor, factor);
        WK_NO_GRAD;
        assert_false(wk_requires_grad(wk_tensors_get(wk_devices_broadcast(x, set->device, set->n), 0)));
        expect_ok();
    }
}

/* One tensor per device: k + 1, and 10 (k + 1). */
static wk_tensors *one_on_each(const test_set *set, wk_dtype dtype)
{
    wk_tensors *list = wk_tensors_new();
    for (int k = 0; k < set->n; k++) {
        char name[2] = {(char)('a' + k), 0};
        wk_tensor *x = wk_to_dtype(wk_mul(wk_of(float, (2), 1, 10), k + 1.0), dtype);
        wk_tensors_add(list, name, wk_to(x, set->device[k]));
    }
    return list;
}

static void all_reduce_changes_every_device(void **state)
{
    (void)state;
    static const wk_dtype dtypes[] = {WK_F32, WK_F64, WK_F16, WK_BF16, WK_I32};
    EACH_DEVICE_SET(set)
    {
        const double sum = set->n * (set->n + 1) / 2.0;
        for (int d = 0; d < 5; d++) {
            WK_SCOPE;
            wk_tensors *list = one_on_each(set, dtypes[d]), *sums = wk_devices_all_reduce(list);
            assert_int_equal(wk_tensors_count(sums), set->n);
            for (int k = 0; k < set->n; k++) {
                wk_tensor *there = wk_tensors_get(sums, k), *x = wk_tensors_get(list, k);
                assert_true(wk_device_eq(wk_device_of(there), set->device[k]));
                assert_int_equal(wk_dtype_of(there), dtypes[d]);
                EXPECT_VALUES(there, 0, sum, 10 * sum);
                EXPECT_VALUES(x, 0, k + 1, 10 * (k + 1)); /* unchanged */
                assert_false(wk_same_storage(there, x));
            }
            assert_ptr_equal(wk_devices_all_reduce_(list), list);
            for (int k = 0; k < set->n; k++) EXPECT_VALUES(wk_tensors_get(list, k), 0, sum, 10 * sum);
            expect_ok();
        }
    }
}

/* 2048 + 1 + 1 in f16 is 2048 if each sum is rounded, 2050 if they are f32. */
static void halves_are_summed_in_f32(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = wk_full((1), 2048.0, .dtype = WK_F16), *b = wk_ones((1), .dtype = WK_F16), *c = wk_clone(b);
    EXPECT_VALUES(wk_tensors_get(wk_devices_all_reduce(wk_list((a, b, c))), 2), 0, 2050);
    wk_devices_all_reduce_(wk_list((a, b, c)));
    EXPECT_VALUES(a, 0, 2050);
    expect_ok();
}

static void sums_have_gradients(void **state)
{
    (void)state;
    EACH_DEVICE_SET(set)
    {
        WK_SCOPE;
        wk_tensor *x = wk_of(float, (2), 1, 2);
        wk_requires_grad_(x, true);
        wk_tensors *sums = wk_devices_all_reduce(wk_devices_broadcast(x, set->device, set->n));
        wk_backward(wk_sum(wk_tensors_get(sums, set->n - 1)));
        EXPECT_VALUES(wk_grad_of(x), 0, set->n, set->n);
        expect_ok();
    }
}

/* A collective submits all recorded work. */
static void collectives_submit_recorded_work(void **state)
{
    (void)state;
    EACH_DEVICE_SET(set)
    {
        WK_SCOPE;
        wk_tensors *list = one_on_each(set, WK_F32);
        for (int call = 0; call < 5; call++) {
            wk_tensor *x = wk_ones((4, 2)), *y = wk_add(x, 1);
            if (call == 0) wk_devices_scatter(x, set->device, set->n);
            if (call == 1) wk_devices_gather(list, wk_cpu());
            if (call == 2) wk_devices_broadcast(x, set->device, set->n);
            if (call == 3) wk_devices_all_reduce(list);
            if (call == 4) wk_devices_all_reduce_(list);
            assert_int_not_equal(wk__body_of(y)->storage->value->state, WK__PENDING);
            assert_int_equal(wk__context()->op_queue->count, 0);
        }
        expect_ok();
    }
}

/* A failed tensor fails all sums, with its first cause; a pending error prevents nothing. */
static void errors_fail_all_devices(void **state)
{
    (void)state;
    EACH_DEVICE_SET(set)
    {
        WK_SCOPE;
        wk_tensors *list = one_on_each(set, WK_F32);
        wk_matmul(wk_ones((2, 3)), wk_ones((2, 3)));
        assert_non_null(wk_error());
        wk_tensors *sums = wk_devices_all_reduce(list);
        wk_clear_error();
        const double sum = set->n * (set->n + 1) / 2.0;
        for (int k = 0; k < set->n; k++) EXPECT_VALUES(wk_tensors_get(sums, k), 0, sum, 10 * sum);

        wk_tensors *bad = wk_tensors_new();
        for (int k = 0; k < set->n; k++) {
            char name[2] = {(char)('a' + k), 0};
            wk_tensor *x = wk_ones((1, 2));
            if (k == 0) x = wk_index_select(x, 0, wk_add(wk_of(int64_t, (1), 5), 1)); /* detected when it runs */
            wk_tensors_add(bad, name, wk_to(x, set->device[k]));
        }
        sums = wk_devices_all_reduce(bad);
        wk_sync();
        wk_clear_error();
        for (int k = 0; k < wk_tensors_count(sums); k++) {
            assert_true(wk_item(wk_sum(wk_tensors_get(sums, k))) != 1);
            expect_error("index_select", "index 6", NULL);
        }
    }
}

static void refused_calls(void **state)
{
    (void)state;
    WK_SCOPE;
    const wk_device cpu[2] = {wk_cpu(), wk_cpu()};
    assert_int_equal(wk_tensors_count(wk_devices_broadcast(wk_ones((2)), cpu, 2)),
                     2); /* the same device twice is allowed here */
    assert_null(wk_devices_scatter(wk_ones(()), cpu, 1));
    expect_error("devices_scatter: the input has no dimension", "wk_devices_broadcast", NULL);
    assert_null(wk_devices_scatter(NULL, cpu, 1));
    expect_error("devices_scatter: input is NULL", NULL);
    assert_null(wk_devices_scatter(wk_ones((2)), cpu, 0));
    expect_error("devices_scatter: got 0 devices", NULL);
    assert_null(wk_devices_broadcast(wk_ones((2)), NULL, 2));
    expect_error("devices_broadcast: the array of devices is NULL", NULL);
    assert_null(wk_devices_gather(NULL, wk_cpu()));
    expect_error("devices_gather: the list is NULL", NULL);
    assert_null(wk_devices_gather(wk_tensors_new(), wk_cpu()));
    expect_error("devices_gather: the list is empty", NULL);
    assert_null(wk_devices_gather(wk_list((wk_ones((2, 3)), wk_ones((2, 4)))), wk_cpu()));
    expect_error("devices_gather", "f32[2,4]", NULL);
    assert_null(wk_devices_all_reduce(wk_tensors_new()));
    expect_error("devices_all_reduce: the list is empty", NULL);
    assert_null(wk_devices_all_reduce(wk_list((wk_ones((2)), wk_ones((3))))));
    expect_error("devices_all_reduce: tensor 1 of the list is f32[3] on cpu, but the first is f32[2] on cpu; shapes",
                 NULL);
    assert_int_equal(wk_error_code(), WK_OK);
    assert_null(wk_devices_all_reduce(wk_list((wk_ones((2)), wk_ones((2), .dtype = WK_F64)))));
    expect_error("devices_all_reduce: tensor 1 of the list is f64[2]", "dtypes must be the same", NULL);
    wk_tensor *x = wk_ones((2)), *leaf = wk_ones((2), .requires_grad = true);
    assert_null(wk_devices_all_reduce_(wk_list((x, leaf))));
    expect_error("devices_all_reduce_: tensor 1 of the list requires grad", NULL);
    assert_null(wk_devices_all_reduce_(wk_list((x, wk_expand(wk_ones((1)), (2))))));
    expect_error("devices_all_reduce_: elements of tensor 1 of the list share memory", NULL);
    EXPECT_VALUES(x, 0, 1, 1); /* all of them or none */
}

/* Without a scope the caller owns the list, and the list its tensors. */
static void without_a_scope(void **state)
{
    (void)state;
    const wk_device cpu[1] = {wk_cpu()};
    wk_tensor *x = wk_ones((2, 2));
    wk_tensors *parts = wk_devices_scatter(x, cpu, 1), *all = wk_devices_broadcast(x, cpu, 1),
               *sums = wk_devices_all_reduce(all);
    wk_tensor *y = wk_devices_gather(parts, wk_cpu());
    EXPECT_VALUES(y, 0, 1, 1, 1, 1);
    wk_free(y);
    wk_free(sums);
    wk_free(all);
    wk_free(parts);
    wk_free(x);
    expect_ok();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gather_reverses_scatter),
        cmocka_unit_test(scalars_are_stacked),
        cmocka_unit_test(broadcasts_and_their_gradient),
        cmocka_unit_test(all_reduce_changes_every_device),
        cmocka_unit_test(halves_are_summed_in_f32),
        cmocka_unit_test(sums_have_gradients),
        cmocka_unit_test(collectives_submit_recorded_work),
        cmocka_unit_test(errors_fail_all_devices),
        cmocka_unit_test(refused_calls),
        cmocka_unit_test(without_a_scope),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
