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
            0, "(No GPU here, but OpenCL devices that are CPUs. So that there is something to see, the steps from "
               "here on take those for the accelerators of the chapter.)");
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
    printf("the same numbers with this seed on the CPU: %s\n", same ? "yes, every bit" : "NO");
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
    {1, "Which devices are there?",
     "nvidia-smi for every kind of device; the same figures come through the API. `wick devices --watch` "
     "follows them.",
     monitor},
    {2, "Devices are values",
     "Making one touches no hardware: cuda:1 may be named on a machine without a GPU. The CPU is all cores and all "
     "memory; a GPU is one card.",
     values},
    {3, "How many",
     "Counting creates no context on a card and does not disturb fork. OpenCL devices that are CPUs count as GPUs only "
     "with "
     "WICK_GPU=opencl in the environment.",
     counts},
    {4, "A GPU if there is one", "The same program runs with and without a GPU.", show_try_gpu},
    {5, "A tensor knows its device",
     "Whole numbers are i64, as in PyTorch; without a word about it, tensors live on the CPU.", show_dtype_and_device},
    {6, "Tensors on a device", "The text is PyTorch's, device included.", creates},
    {7, "Random numbers on another device",
     "A number depends on the seed and its place alone, so that moving work to another device does not "
     "change an experiment.",
     random_numbers},
    {8, "A device that is not there",
     "No error when it was named, one when it was used: file and line of the call, what there is, and why the rest is "
     "not.",
     absent},
    {9, "Copies",
     "A copy returns at once where the device can work beside the host; both ends stay alive until it is done.",
     copies},
    {10, "Copying to where it already is", "The same handle comes back, and no byte is moved.", copies_nothing},
    {0},
};
