/* SPDX-License-Identifier: Apache-2.0 */
/* Tests steps 1 to 10 of the GPU chapter (docs/lesson.md), on the CPU and on two OpenCL devices: existing devices,
 * devices of tensors, copies. */
#include "support/devices.h"

#include <math.h>
#include <unistd.h>

/* ---- 2: values, before anything else has used a device ----------------------------------------------------------- */

static bool loaded(const char *library)
{
    char line[512];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) found = found || strstr(line, library);
    if (maps) fclose(maps);
    return found;
}

static void devices_are_values(void **state)
{
    (void)state;
    WK_SCOPE;
    assert_string_equal(wk_device_str(wk_cpu()), "cpu");
    assert_string_equal(wk_device_str(wk_cuda(0)), "cuda:0");
    assert_string_equal(wk_device_str(wk_cuda(1)), "cuda:1");
    assert_string_equal(wk_device_str(wk_opencl(1)), "opencl:1");
    assert_string_equal(wk_device_str(wk_gpu(2)), "gpu:2");
    assert_true(wk_device_eq(wk_device_parse("cuda"), wk_device_parse("cuda:0")));
    assert_false(wk_device_eq(wk_cuda(0), wk_cuda(1)));
    {
        WK_DEVICE(wk_opencl(7));
        WK_DEVICE(wk_cuda(9));
    }
    EXPECT_VALUES(wk_add(wk_ones((2)), 1), 0, 2, 2);
    assert_false(loaded("libOpenCL")); /* named, not used */
    assert_false(loaded("libcuda"));
    expect_ok();
}

/* ---- 1, 3, 4: existing devices ----------------------------------------------------------------------------------- */

static void device_properties(void **state)
{
    (void)state;
    WK_SCOPE;
    EACH_DEVICE(device)
    {
        wk_device_properties is = {.size = sizeof is};
        wk_memory_stats memory = {.size = sizeof memory};
        assert_int_equal(wk_device_get_properties(device, &is), WK_OK);
        assert_true(is.name[0] && is.driver[0] && is.compute_units > 0 && is.memory_total > 0);
        assert_true(isnan(is.temperature) || (is.temperature > -50 && is.temperature < 150));
        assert_true(isnan(is.utilisation) || (is.utilisation >= 0 && is.utilisation <= 1));
        assert_int_equal(wk_memory_stats_of(device, &memory), WK_OK);
        assert_true(memory.live >= 0 && memory.peak >= memory.live && memory.limit > 0);
    }
    wk_device_properties cpu = {.size = sizeof cpu};
    assert_int_equal(wk_device_get_properties(wk_cpu(), &cpu), WK_OK); /* all cores and all memory */
    assert_true(cpu.memory_total <= (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE));
    assert_true(cpu.memory_free > 0 && cpu.memory_free <= cpu.memory_total);
    assert_true(cpu.compute_units <= sysconf(_SC_NPROCESSORS_CONF));
    static const char *const states[] = {"usable",    "not built",      "library not found",
                                         "no driver", "driver too old", "no device"};
    bool named = false;
    for (int k = 0; k < 6; k++) named = named || strncmp(wk_device_status(WK_CUDA), states[k], strlen(states[k])) == 0;
    assert_true(named);
}

static void device_count_and_try_gpu(void **state)
{
    (void)state;
    wk_device all[8];
    unsetenv("WICK_GPU");
    assert_int_equal(wk_device_count(WK_CPU), 1);
    assert_true(wk_device_count(WK_OPENCL) >= 2);
    assert_true(wk_device_count(WK_CUDA) >= 0 && wk_device_count(WK_GPU) >= 0);
    assert_true(wk_device_eq(wk_try_gpu(10), wk_cpu()));
    int count = wk_try_all_gpus(all, 8);
    assert_true(count >= 1 && wk_device_eq(wk_try_gpu(0), all[0]));
    setenv("WICK_GPU", "opencl", 1); /* as on a machine with two GPUs */
    assert_true(wk_device_eq(wk_try_gpu(1), wk_device_count(WK_CUDA) > 1 ? wk_cuda(1) : wk_opencl(1)));
    assert_true(wk_try_all_gpus(all, 8) >= 2);
    assert_int_equal(wk_try_all_gpus(all, 1), 1);
    unsetenv("WICK_GPU");
    expect_ok();
}

/* ---- 5, 6: the device of a tensor -------------------------------------------------------------------------------- */

static void tensors_on_devices(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(int64_t, (3), 1, 2, 3);
    assert_int_equal(wk_dtype_of(x), WK_I64);
    assert_true(wk_device_eq(wk_device_of(x), wk_cpu()));
    assert_string_equal(wk_tensor_str(x), "tensor([1, 2, 3])");
    EACH_DEVICE(device)
    {
        char text[128], where[32] = "";
        wk_tensor *ones = wk_ones((2, 3), .device = device);
        assert_true(wk_device_eq(wk_device_of(ones), device));
        if (device.kind != WK_CPU) snprintf(where, sizeof where, ", device='%s'", wk_device_str(device));
        snprintf(text, sizeof text, "tensor([[1., 1., 1.],\n        [1., 1., 1.]]%s)", where);
        assert_string_equal(wk_tensor_str(ones), text);
        EXPECT_VALUES(wk_arange(3, .device = device), 0, 0, 1, 2);
        EXPECT_VALUES(wk_full((2), 7, .device = device), 0, 7, 7);
        EXPECT_VALUES(wk_zeros_like(ones), 0, 0, 0, 0, 0, 0, 0);
        assert_true(wk_device_eq(wk_device_of(wk_zeros_like(ones)), device));
    }
}

/* ---- 7: random numbers ------------------------------------------------------------------------------------------- */

enum { DRAWS = 8, LENGTH = 5000 };

static void draw(wk_device device, char out[DRAWS][LENGTH * 8])
{
    WK_SCOPE;
    WK_DEVICE(device);
    wk_seed(2024);
    wk_tensor *drawn[DRAWS];
    drawn[0] = wk_rand((LENGTH));
    drawn[1] = wk_rand((LENGTH), .dtype = WK_F64);
    drawn[2] = wk_randn((LENGTH));
    drawn[3] = wk_randn((LENGTH), .dtype = WK_F64);
    drawn[4] = wk_randint(-50, 1000, (LENGTH));
    drawn[5] = wk_randperm(LENGTH);
    drawn[6] = wk_randn((LENGTH), .dtype = WK_BF16);
    drawn[7] = wk_rand((LENGTH), .dtype = WK_F16);
    for (int k = 0; k < DRAWS; k++) {
        size_t bytes = LENGTH * wk_dtype_size(wk_dtype_of(drawn[k]));
        if (wk_read(drawn[k], out[k], bytes) != WK_OK) fail_msg("%s", wk_error());
    }
}

static void the_same_seed_gives_the_same_bits(void **state)
{
    (void)state;
    static char here[DRAWS][LENGTH * 8], there[DRAWS][LENGTH * 8];
    EACH_DEVICE(device)
    {
        draw(device, device.kind == WK_CPU ? here : there);
        if (device.kind != WK_CPU)
            for (int k = 0; k < DRAWS; k++)
                if (memcmp(here[k], there[k], sizeof here[k]) != 0) fail_msg("draw %d on %s", k, wk_device_str(device));
    }
}

/* ---- 8: a device that does not exist ----------------------------------------------------------------------------- */

static void an_absent_device_is_an_error_at_its_use(void **state)
{
    (void)state;
    WK_SCOPE;
    const wk_device absent[] = {wk_cuda(5), wk_opencl(99), wk_gpu(7)};
    for (int k = 0; k < 3; k++) {
        assert_null(wk_ones((2), .device = absent[k]));
        /* and the existing ones */
        expect_error(wk_device_str(absent[k]), "does not exist", "cpu", test_backend_text("opencl:0"),
                     test_backend_text("opencl:1"), NULL);
        assert_null(wk_to(wk_ones((2)), absent[k]));
        expect_error(wk_device_str(absent[k]), "lesson/devices.c", NULL);
    }
    if (wk_device_count(WK_CUDA) > 0) return;
    wk_ones((2), .device = wk_cuda(0)); /* the reason why the kind is missing */
    assert_true(strstr(wk_error(), "built") || strstr(wk_error(), "library") || strstr(wk_error(), "driver") ||
                strstr(wk_error(), "device"));
    wk_clear_error();
}

/* ---- 9, 10: copies ----------------------------------------------------------------------------------------------- */

static int64_t moved_bytes(void)
{
    wk_transfer_counters counters = {.size = sizeof counters};
    assert_int_equal(wk_transfer_stats(&counters), WK_OK);
    return counters.uploads + counters.downloads;
}

/* Between each pair of devices; the source may change or be freed at once. */
static void copies_between_all_devices(void **state)
{
    (void)state;
    wk_device devices[3];
    int count = test_devices(devices);
    for (int from = 0; from < count; from++)
        for (int to = 0; to < count; to++) {
            WK_SCOPE;
            wk_tensor *x = wk_to(wk_reshape(wk_arange(12.0), (3, 4)), devices[from]), *y = wk_to(x, devices[to]);
            wk_tensor *part = wk_to(wk_transpose(wk_narrow(x, 1, 1, 2), 0, 1), devices[to]);
            assert_true((x == y) == (from == to));
            assert_true(wk_device_eq(wk_device_of(y), devices[to]));
            if (from != to) wk_fill_(x, -1);
            wk_free(x);
            if (from != to) EXPECT_VALUES(y, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
            EXPECT_VALUES(part, 0, 1, 5, 9, 2, 6, 10);
            expect_ok();
        }
}

static void copies_carry_gradients_back(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((3), .requires_grad = true);
    wk_tensor *far = wk_mul(wk_to(x, test_gpu(0)), 2), *farther = wk_mul(wk_to(far, test_gpu(1)), 5);
    assert_int_equal(wk_backward(wk_sum(farther)), WK_OK);
    assert_true(wk_device_eq(wk_device_of(wk_grad_of(x)), wk_cpu()));
    EXPECT_VALUES(wk_grad_of(x), 0, 10, 10, 10);
}

static void a_copy_to_the_same_device(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        wk_tensor *x = wk_retain(wk_ones((1000), .device = device));
        wk_sync();
        int64_t before = moved_bytes();
        assert_ptr_equal(wk_to(x, device), x);
        assert_ptr_equal(wk_copy_(x, x), x);
        assert_ptr_equal(wk_contiguous(x), x);
        wk_sync();
        assert_int_equal(moved_bytes(), before);
        wk_free(x);
    }
    expect_ok();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_are_values),
        cmocka_unit_test(device_properties),
        cmocka_unit_test(device_count_and_try_gpu),
        cmocka_unit_test(tensors_on_devices),
        cmocka_unit_test(the_same_seed_gives_the_same_bits),
        cmocka_unit_test(an_absent_device_is_an_error_at_its_use),
        cmocka_unit_test(copies_between_all_devices),
        cmocka_unit_test(copies_carry_gradients_back),
        cmocka_unit_test(a_copy_to_the_same_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
