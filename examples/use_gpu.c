/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU chapter as one program: the devices of tensors and networks, and moves between them. Runs on any machine: a
 * missing GPU is replaced by the CPU. `wick tour` shows the same with more explanations.
 *
 *     cc use_gpu.c $(pkg-config --cflags --libs wick) -Wl,-rpath,$(pkg-config --variable=libdir wick) -o use_gpu
 *     ./use_gpu
 */
#include <stdio.h>
#include <wick.h>

static void show_devices(void)
{
    printf("%s %s %s\n", wk_device_str(wk_cpu()), wk_device_str(wk_cuda(0)), wk_device_str(wk_cuda(1)));
    printf("%d GPUs; cuda: %s; opencl: ", wk_device_count(WK_GPU), wk_device_status(WK_CUDA));
    printf("%s\n", wk_device_status(WK_OPENCL));

    wk_device all[8];
    int count = wk_try_all_gpus(all, 8);
    printf("try_gpu(0) = %s, try_gpu(10) = %s, to train on:", wk_device_str(wk_try_gpu(0)),
           wk_device_str(wk_try_gpu(10)));
    for (int k = 0; k < count; k++) printf(" %s", wk_device_str(all[k]));

    wk_device_properties is = {.size = sizeof is};
    if (wk_device_get_properties(all[0], &is) == WK_OK)
        printf("\n%s: %s, %lld MiB\n", wk_device_str(all[0]), is.name, (long long)(is.memory_total >> 20));
}

static void show_tensors(wk_device gpu, wk_device gpu1)
{
    WK_SCOPE;
    wk_tensor *x = wk_of(int64_t, (3), 1, 2, 3);
    printf("x is on %s\n", wk_device_str(wk_device_of(x))); /* the CPU by default */

    wk_tensor *X = wk_print(wk_ones((2, 3), .device = gpu));
    wk_tensor *Y = wk_print(wk_rand((2, 3), .device = gpu1)); /* the same seed gives the same values on any device */

    wk_tensor *Z = wk_to(X, gpu1); /* a copy */
    wk_print(wk_add(Y, Z));        /* on the device of both */
    printf("a copy to its own device: %s\n", wk_to(Z, gpu1) == Z ? "the same tensor" : "another tensor");

    wk_tensor *z = wk_to(wk_of(float, (3), 1, 2, 3), gpu);
    wk_print(wk_mul(wk_exp(wk_add(z, 2)), z)); /* one pass over memory */

    WK_DEVICE(gpu1); /* to the end of the block */
    printf("made under WK_DEVICE: %s\n", wk_device_full_name(wk_device_of(wk_zeros((2)))));
}

/* A mistake gives a message and NULL; it never ends the process. */
static void show_mistakes(wk_device gpu)
{
    WK_SCOPE;
    (void)wk_ones((2), .device = wk_opencl(99));
    printf("%s\n", wk_error());
    wk_clear_error();
    if (wk_device_eq(gpu, wk_cpu())) return; /* with one device there is no other */

    wk_tensor *near = wk_ones((3)), *far = wk_ones((3), .device = gpu);
    (void)wk_add(near, far);
    printf("%s\n", wk_error());
    wk_clear_error();

    wk_set_soft_placement(true); /* TensorFlow's behaviour: the operand is copied, and counted */
    wk_print(wk_add(near, far));
    wk_set_soft_placement(false);
    int64_t copies, bytes;
    wk_placement_counters(&copies, &bytes);
    printf("%lld copies of %lld bytes\n", (long long)copies, (long long)bytes);
}

static void show_network(wk_device gpu)
{
    WK_SCOPE;
    wk_module *net = wk_nn_sequential(wk_nn_linear(3, 1));
    wk_module_to(net, gpu);
    wk_print(wk_forward(net, wk_ones((2, 3), .device = gpu)));
    wk_print(wk_module_parameter(net, "0.weight"));

    wk_module *lazy = wk_nn_lazy_linear(1); /* takes its width from the first input */
    (void)wk_forward(lazy, wk_ones((2, 5), .device = gpu));
    printf("lazy weight: %s\n", wk_describe(wk_module_parameter(lazy, "weight")));
}

/* Values stay on the device until the end: reading each would make both sides wait. */
static void show_logging(wk_device gpu)
{
    WK_SCOPE;
    wk_history *norms = wk_history_new();
    wk_tensor *a = wk_rand((100, 100), .device = gpu);
    for (int k = 0; k < 100; k++) {
        WK_SCOPE;
        wk_history_add(norms, wk_norm(wk_matmul(a, a)));
    }
    printf("mean of %lld norms: %.2f\n", (long long)wk_history_count(norms), wk_history_mean(norms));

    wk_memory_stats memory = {.size = sizeof memory};
    if (wk_memory_stats_of(gpu, &memory) == WK_OK)
        printf("%s holds %lld bytes, at most %lld\n", wk_device_str(gpu), (long long)memory.live,
               (long long)memory.peak);
}

int main(void)
{
    WK_SCOPE; /* freed at the closing brace, like everything created below */
    wk_device gpu = wk_try_gpu(0), gpu1 = wk_try_gpu(1);
    show_devices();
    show_tensors(gpu, gpu1);
    show_mistakes(gpu);
    show_network(gpu);
    show_logging(gpu);
    return wk_report_error(stderr); /* the first error, or 0 if there was none */
}
