/* SPDX-License-Identifier: Apache-2.0 */
/* Steps 1 to 10: listing devices, placing tensors. */
#include "tour.h"
#include <math.h>

static void monitor(void)
{
    tour_code("wk_device_get_properties(device, &properties)");
    cli_devices(0, NULL);
}

static void values(void)
{
    wk_device all[] = {wk_cpu(), wk_cuda(0), wk_cuda(1), wk_opencl(0), wk_gpu(0)};
    tour_code("wk_cpu(), wk_cuda(0), wk_cuda(1), wk_opencl(0), wk_gpu(0)");
    for (int k = 0; k < 5; k++) printf("%s ", wk_device_str(all[k]));
    printf("\n");
    tour_code("wk_device_eq(wk_device_parse(\"cuda\"), wk_device_parse(\"cuda:0\"))");
    printf("%s\n", wk_device_eq(wk_device_parse("cuda"), wk_device_parse("cuda:0")) ? "true" : "false");
}

static void counts(void)
{
    tour_code("wk_device_count(WK_CUDA), wk_device_count(WK_OPENCL), wk_device_count(WK_GPU)");
    printf("cuda %d, opencl %d, gpu %d\n", wk_device_count(WK_CUDA), wk_device_count(WK_OPENCL),
           wk_device_count(WK_GPU));
}

static void show_try_gpu(void)
{
    wk_device all[8];
    tour_code("wk_try_gpu(0), wk_try_gpu(10), wk_try_all_gpus(all, 8)");
    int count = wk_try_all_gpus(all, 8);
    printf("%s, %s, [", wk_device_str(wk_try_gpu(0)), wk_device_str(wk_try_gpu(10)));
    for (int k = 0; k < count; k++) printf("%s%s", k ? ", " : "", wk_device_str(all[k]));
    printf("]\n");
    if (wk_device_count(WK_GPU) == 0 && tour_accelerator(0).kind != WK_CPU)
        cli_print_wrapped(
            0, "(No GPU here, but OpenCL devices on the CPU; the following steps use them as accelerators.)");
}

static void show_dtype_and_device(void)
{
    tour_code("x = wk_of(int64_t, (3), 1, 2, 3)");
    wk_tensor *x = wk_of(int64_t, (3), 1, 2, 3);
    wk_print(x);
    printf("dtype %s, device %s\n", wk_dtype_str(wk_dtype_of(x)), wk_device_str(wk_device_of(x)));
}

static void creates(void)
{
    wk_print(tour_tensor('X'));
}

static void random_numbers(void)
{
    wk_tensor *Y = wk_print(tour_tensor('Y'));
    tour_code("wk_seed(1); wk_all(wk_eq(wk_to(Y, wk_cpu()), wk_rand((2, 3))))");
    wk_seed(1);
    bool same = wk_item(wk_all(wk_eq(wk_to(Y, wk_cpu()), wk_rand((2, 3))))) != 0;
    printf("same values as on the CPU with this seed: %s\n", same ? "yes, bit for bit" : "NO");
}

static void absent(void)
{
    tour_code("wk_ones((2), .device = wk_cuda(5))");
    (void)wk_ones((2), .device = wk_cuda(5));
    tour_error();
    tour_code("wk_ones((2), .device = wk_opencl(99))");
    (void)wk_ones((2), .device = wk_opencl(99));
    tour_error();
}

static void copies(void)
{
    wk_tensor *Z = wk_print(tour_tensor('Z'));
    tour_code("wk_to(Z, wk_cpu())");
    wk_print(wk_to(Z, wk_cpu()));
}

static void copies_nothing(void)
{
    wk_tensor *Z = tour_tensor('Z');
    tour_code("wk_to(Z, %s) == Z", tour_device(tour_accelerator(1)));
    printf("%s\n", wk_to(Z, tour_accelerator(1)) == Z ? "true" : "false");
    tour_code("wk_copy_(Z, Z) == Z");
    printf("%s\n", wk_copy_(Z, Z) == Z ? "true" : "false");
}

const tour_step tour_devices[] = {
    {1, "List the devices",
     "Like nvidia-smi, for every kind of device; the API returns the same data. `wick devices --watch` refreshes it.",
     monitor},
    {2, "Devices are values",
     "Creating one accesses no hardware: cuda:1 is valid on a machine without a GPU. The CPU device is all cores and "
     "all memory; a GPU device is one card.",
     values},
    {3, "Count the devices",
     "Counting creates no context on a GPU and is safe before fork. OpenCL devices on a CPU count as GPUs only if "
     "WICK_GPU=opencl is set.",
     counts},
    {4, "Use a GPU if there is one", "The same program runs with and without a GPU.", show_try_gpu},
    {5, "A tensor knows its device", "Integers default to i64, as in PyTorch; tensors are on the CPU by default.",
     show_dtype_and_device},
    {6, "Tensors on a device", "Prints as PyTorch does, including the device.", creates},
    {7, "Random numbers on another device",
     "Each value depends only on the seed and its index, so moving work to another device does not change an "
     "experiment.",
     random_numbers},
    {8, "A device that does not exist",
     "Naming it is no error, using it is: the message has the file and line of the call, the available devices, and "
     "why others are missing.",
     absent},
    {9, "Copies",
     "Copies are asynchronous if the device supports it; source and target stay alive until the copy completes.",
     copies},
    {10, "Copying to the same device", "Returns the same handle and copies nothing.", copies_nothing},
    {0},
};
