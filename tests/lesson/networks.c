/* SPDX-License-Identifier: Apache-2.0 */
/* Tests steps 17, 18 and 20 to 22 of the GPU chapter (docs/lesson.md) and its exercise on saving, on the CPU and on two
 * OpenCL devices: networks, memory, waits. */
#include "support/devices.h"

#include <math.h>

/* ---- 17, 18: networks -------------------------------------------------------------------------------------------- */

static void a_network_on_a_device(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        wk_module *net = wk_nn_sequential(wk_nn_linear(3, 1));
        wk_tensor *weight = wk_module_parameter(net, "0.weight"), *bias = wk_module_parameter(net, "0.bias");
        wk_init_constant_(weight, 2), wk_init_constant_(bias, 1);
        assert_ptr_equal(wk_module_to(net, device), net);
        wk_tensor *y = wk_forward(net, wk_ones((2, 3), .device = device));
        assert_true(wk_device_eq(wk_device_of(weight), device) && wk_device_eq(wk_device_of(y), device));
        EXPECT_VALUES(y, 0, 7, 7);
        assert_non_null(strstr(wk_tensor_str(y), "grad_fn=<AddmmBackward0>"));
        if (device.kind != WK_CPU) assert_non_null(strstr(wk_tensor_str(y), wk_device_str(device)));
        assert_ptr_equal(wk_module_parameter(net, "0.weight"), weight); /* the handle is the same */
        assert_non_null(strstr(wk_tensor_str(weight), "requires_grad=True"));
        assert_int_equal(wk_backward(wk_sum(y)), WK_OK);
        EXPECT_VALUES(wk_grad_of(weight), 0, 2, 2, 2);
        assert_true(wk_device_eq(wk_device_of(wk_grad_of(weight)), device));
        if (device.kind == WK_CPU) continue;
        assert_null(wk_forward(net, wk_ones((2, 3)))); /* its input must be on the same device */
        expect_error("lesson/networks.c", "different devices", "on cpu", wk_device_str(device), NULL);
    }
}

static void a_lazy_layer(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        wk_module *dense = wk_nn_lazy_linear(1), *net = wk_nn_sequential(wk_nn_flatten(), dense);
        assert_null(wk_parameters(net));
        expect_error("lazy", NULL);
        EXPECT_SHAPE(wk_forward(net, wk_ones((2, 5, 2), .device = device)), 2, 1);
        wk_tensor *weight = wk_module_parameter(dense, "weight");
        EXPECT_SHAPE(weight, 1, 10);
        assert_true(wk_device_eq(wk_device_of(weight), device)); /* the device of the first input */
        assert_int_equal(wk_tensors_count(wk_parameters(net)), 2);
    }
}

/* The same network trains to the same values, within rounding, on any device. */
static double trained(wk_device device)
{
    WK_SCOPE;
    wk_seed(11);
    wk_module *net = wk_nn_sequential(wk_nn_linear(4, 16), wk_nn_tanh(), wk_nn_linear(16, 3));
    wk_tensor *x = wk_randn((30, 4));
    wk_tensor *labels = wk_argmax(wk_narrow(x, 1, 0, 3), 1);
    wk_module_to(net, device);
    x = wk_to(x, device), labels = wk_to(labels, device);
    wk_optim *adam = wk_optim_adam(wk_parameters(net), .lr = 0.05);
    wk_history *losses = wk_history_new();
    for (int step = 0; step < 20; step++) {
        WK_SCOPE;
        wk_tensor *loss = wk_cross_entropy(wk_forward(net, x), labels);
        wk_optim_zero_grad(adam);
        wk_backward(loss);
        wk_optim_step(adam);
        wk_history_add(losses, loss);
    }
    const double *all = wk_history_values(losses);
    assert_non_null(all);
    assert_true(all[19] < 0.5 * all[0]);
    return all[19];
}

static void training_is_the_same_everywhere(void **state)
{
    (void)state;
    double here = 0;
    EACH_DEVICE(device)
    {
        double loss = trained(device);
        expect_ok();
        if (device.kind == WK_CPU) here = loss;
        assert_true(fabs(loss - here) < 1e-3 * here);
    }
}

/* ---- 20: memory -------------------------------------------------------------------------------------------------- */

static wk_memory_stats stats_of(wk_device device)
{
    wk_memory_stats stats = {.size = sizeof stats};
    assert_int_equal(wk_memory_stats_of(device, &stats), WK_OK);
    return stats;
}

/* A tensor uses only memory of its device. */
static void each_device_has_its_own_memory(void **state)
{
    (void)state;
    enum { MEGA = 1 << 20 };
    wk_device devices[3];
    int count = test_devices(devices);
    for (int k = 0; k < count; k++) {
        int64_t before[3];
        for (int i = 0; i < count; i++) before[i] = stats_of(devices[i]).live;
        wk_tensor *x = wk_ones((MEGA), .device = devices[k]);
        wk_sync();
        for (int i = 0; i < count; i++) assert_true((stats_of(devices[i]).live - before[i] >= 4 * MEGA) == (i == k));
        assert_true(stats_of(devices[k]).peak >= stats_of(devices[k]).live);
        wk_free(x);
        for (int i = 0; i < count; i++) assert_int_equal(stats_of(devices[i]).live, before[i]);
        wk_memory_trim(devices[k]);
        wk_memory_reset_peak(devices[k]);
        assert_int_equal(stats_of(devices[k]).peak, stats_of(devices[k]).live);
    }
}

/* Beyond the limit one call fails and reports the requested and available bytes; existing tensors are unchanged, and
 * the program continues. */
static void programs_continue_after_out_of_memory(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        enum { LARGE = 4 << 20 };
        wk_module *net = wk_nn_linear(3, 1);
        wk_module_to(net, device);
        wk_tensor *kept = wk_retain(wk_full((1000), 3.0, .device = device)), *input = wk_ones((1, 3), .device = device);
        wk_sync();
        wk_memory_trim(device);
        double before = wk_item(wk_forward(net, input));
        wk_memory_set_limit(device, stats_of(device).live + stats_of(device).cached + ((int64_t)12 << 20));
        assert_null(wk_ones((100 * LARGE), .device = device)); /* never possible: refused at the call */
        expect_error("lesson/networks.c", "ones", "limit", NULL);
        wk_tensor *first = wk_retain(wk_ones((2 * LARGE / 4), .device = device)), *second;
        wk_sync();
        expect_ok();
        int line = __LINE__ + 1;
        second = wk_retain(wk_exp(wk_ones((2 * LARGE / 4), .device = device))); /* not possible now: a deferred error */
        wk_sync();
        char site[64];
        snprintf(site, sizeof site, "lesson/networks.c:%d", line);
        expect_error(site, "requested", "live", "limit", NULL);
        wk_memory_set_limit(device, 0);
        assert_true(wk_item(wk_sum(kept)) == 3000);
        assert_true(wk_item(wk_forward(net, input)) == before);
        assert_true(wk_item(wk_sum(first)) == 2 * LARGE / 4);
        assert_int_equal(wk_backward(wk_sum(wk_forward(net, input))), WK_OK);
        wk_free(kept), wk_free(first), wk_free(second);
        expect_ok();
    }
}

/* ---- 21, 22: waits ----------------------------------------------------------------------------------------------- */

static wk_transfer_counters transfers(void)
{
    wk_transfer_counters counters = {.size = sizeof counters};
    assert_int_equal(wk_transfer_stats(&counters), WK_OK);
    return counters;
}

static int waits_logged;
static char last_wait[200];

static void count_wait(void *user, const char *line)
{
    (void)user;
    waits_logged++;
    snprintf(last_wait, sizeof last_wait, "%s", line);
}

/* Each read waits and is counted; gathered on the device, one read is enough. The modes report the call site. */
static void reads_wait_and_are_counted(void **state)
{
    (void)state;
    enum { STEPS = 25 };
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        bool far = device.kind != WK_CPU;
        wk_tensor *x = wk_retain(wk_ones((100), .device = device));
        wk_history *history = wk_history_new();
        wk_sync();
        int64_t before = transfers().waits;
        for (int k = 0; k < STEPS; k++) assert_true(wk_item(wk_sum(wk_mul(x, k))) == 100 * k);
        assert_int_equal(transfers().waits - before, far ? STEPS : 0);
        before = transfers().waits;
        assert_true(wk_item(wk_to(wk_sum(x), wk_cpu())) == 100); /* the copy waits */
        assert_int_equal(transfers().waits - before, far ? 1 : 0);
        before = transfers().waits;
        int64_t bytes = transfers().downloads;
        for (int k = 0; k < STEPS; k++) {
            WK_SCOPE;
            wk_history_add(history, wk_sum(wk_mul(x, k)));
        }
        assert_int_equal(transfers().waits, before);
        assert_true(wk_history_mean(history) == 100 * (STEPS - 1) / 2.0);
        assert_int_equal(transfers().waits - before, far ? 1 : 0);
        assert_int_equal(transfers().downloads - bytes, far ? 4 * STEPS : 0);

        waits_logged = 0;
        wk_set_log("sync", count_wait, NULL);
        wk_set_sync_debug_mode(WK_SYNC_LOG);
        int line = __LINE__ + 1;
        for (int k = 0; k < 3; k++) wk_item(wk_sum(x));
        wk_set_log(NULL, NULL, NULL);
        assert_int_equal(waits_logged, far); /* one line per call site */
        char site[64];
        snprintf(site, sizeof site, "lesson/networks.c:%d: host waits for %s", line, wk_device_str(device));
        if (far) assert_non_null(strstr(last_wait, site));

        wk_set_sync_debug_mode(WK_SYNC_ERROR);
        wk_item(wk_sum(x));
        wk_history_add(history, wk_sum(x)); /* does not wait */
        wk_set_sync_debug_mode(WK_SYNC_QUIET);
        if (far) expect_error("lesson/networks.c", "item: host waits for", "wk_history", NULL);
        wk_free(x);
        expect_ok();
    }
}

/* A training step does not wait: the complete loop makes the host wait only when its history is read. */
static void a_training_loop_does_not_wait(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        wk_module *net = wk_nn_sequential(wk_nn_linear(4, 8), wk_nn_relu(), wk_nn_linear(8, 2));
        wk_module_to(net, device);
        wk_optim *sgd = wk_optim_sgd(wk_parameters(net), .lr = 0.1, .momentum = 0.9);
        wk_tensor *x = wk_rand((6, 4), .device = device), *labels = wk_zeros((6), .dtype = WK_I64, .device = device);
        wk_history *losses = wk_history_new();
        wk_sync();
        wk_set_sync_debug_mode(WK_SYNC_ERROR);
        for (int step = 0; step < 5; step++) {
            WK_SCOPE;
            wk_tensor *loss = wk_cross_entropy(wk_forward(net, x), labels);
            wk_optim_zero_grad(sgd);
            wk_backward(loss);
            wk_clip_grad_norm_(wk_parameters(net), 1);
            wk_optim_step(sgd);
            wk_history_add(losses, loss);
        }
        expect_ok();
        wk_set_sync_debug_mode(WK_SYNC_QUIET);
        assert_true(wk_history_mean(losses) > 0);
    }
}

/* ---- exercise 2: parameters in files ----------------------------------------------------------------------------- */

static void parameters_are_saved_and_loaded_anywhere(void **state)
{
    (void)state;
    char path[256];
    snprintf(path, sizeof path, "%s/net.safetensors", getenv("WICK_WORK") ? getenv("WICK_WORK") : "/tmp");
    wk_device devices[3];
    int count = test_devices(devices);
    for (int from = 0; from < count; from++)
        for (int to = 0; to < count; to++) {
            WK_SCOPE;
            wk_module *net = wk_nn_linear(3, 2), *again = wk_nn_linear(3, 2);
            wk_module_to(net, devices[from]), wk_module_to(again, devices[to]);
            assert_int_equal(wk_save(net, path), WK_OK);
            assert_int_equal(wk_load(again, path), WK_OK);
            wk_tensor *saved = wk_to(wk_module_parameter(net, "weight"), wk_cpu()),
                      *loaded = wk_to(wk_module_parameter(again, "weight"), wk_cpu());
            assert_true(wk_device_eq(wk_device_of(wk_module_parameter(again, "weight")), devices[to]));
            assert_int_equal(wk_item_i64(wk_sum(wk_eq(saved, loaded))), 6);
        }
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_network_on_a_device),
        cmocka_unit_test(a_lazy_layer),
        cmocka_unit_test(training_is_the_same_everywhere),
        cmocka_unit_test(each_device_has_its_own_memory),
        cmocka_unit_test(programs_continue_after_out_of_memory),
        cmocka_unit_test(reads_wait_and_are_counted),
        cmocka_unit_test(a_training_loop_does_not_wait),
        cmocka_unit_test(parameters_are_saved_and_loaded_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
