/* SPDX-License-Identifier: Apache-2.0 */
/* Steps 17 to 23: networks, memory, host waits. */
#include "tour.h"
#include <math.h>

static void network(void)
{
    wk_seed(1);
    wk_module *net = wk_nn_sequential(wk_nn_linear(3, 1));
    wk_tensor *X = tour_tensor('X');
    tour_code("net = wk_nn_sequential(wk_nn_linear(3, 1)); wk_module_to(net, %s); wk_forward(net, X)",
              tour_device(tour_accelerator(0)));
    wk_module_to(net, tour_accelerator(0));
    wk_print(wk_forward(net, X));
    wk_tensor *weight = wk_module_parameter(net, "0.weight");
    tour_code("wk_module_parameter(net, \"0.weight\")");
    wk_print(weight);
    printf("it is on %s\n", wk_device_str(wk_device_of(weight)));
}

static void lazy(void)
{
    wk_module *dense = wk_nn_lazy_linear(1);
    tour_code("dense = wk_nn_lazy_linear(1); wk_forward(dense, wk_ones((2, 5), .device = %s))",
              tour_device(tour_accelerator(0)));
    (void)wk_forward(dense, wk_ones((2, 5), .device = tour_accelerator(0)));
    tour_code("wk_describe(wk_module_parameter(dense, \"weight\"))");
    printf("weight is %s\n", wk_describe(wk_module_parameter(dense, "weight")));
}

/* Returns the gradient of one weight for a batch of six, on the CPU. */
static wk_tensor *gradient(wk_module *net, wk_module *layer)
{
    wk_backward(wk_sum(wk_forward(net, wk_div(wk_reshape(wk_arange(18.0), (6, 3)), 10.0))));
    return wk_to(wk_grad_of(wk_module_parameter(layer, "0.weight")), wk_cpu());
}

static wk_module *small_network(void)
{
    wk_seed(1);
    return wk_nn_sequential(wk_nn_linear(3, 1), wk_nn_sigmoid());
}

static void mirrored(void)
{
    const wk_device devices[] = {tour_accelerator(0), tour_accelerator(1)};
    const int n = wk_device_eq(devices[0], devices[1]) ? 1 : 2; /* 1 if the only device is the CPU */
    wk_module *one = small_network(), *net = small_network();
    char first[64];
    snprintf(first, sizeof first, "%s", tour_device(devices[0]));
    tour_code("devices = {%s%s%s}; many = wk_mirrored(net, devices, %d)", first, n > 1 ? ", " : "",
              n > 1 ? tour_device(devices[1]) : "", n);
    wk_module *many = wk_mirrored(net, devices, n);
    wk_mirrored_stats stats = {.size = sizeof stats};
    wk_mirrored_stats_of(many, &stats);
    printf("replicas on");
    for (int k = 0; k < stats.devices; k++) printf(" %s", wk_device_str(stats.device[k]));
    printf("; wk_parameters(many) are net's: %s\n",
           wk_tensors_get(wk_parameters(many), 0) == wk_module_parameter(net, "0.weight") ? "yes" : "no");
    tour_code("loss = wk_sum(wk_forward(many, x)); wk_backward(loss); wk_print(wk_grad_of(weight))");
    wk_print(gradient(many, net));
    tour_code("same on one device");
    wk_print(gradient(one, one));
}

static void memory(void)
{
    char live[16], peak[16], limit[16];
    wk_device device = tour_accelerator(0);
    wk_memory_stats stats = {.size = sizeof stats};
    /* retained, because a value that only a scope owns is not computed before it is read */
    wk_tensor *x = wk_retain(wk_ones((1 << 20, 4), .device = device));
    wk_sync();
    tour_code("x = wk_retain(wk_ones((1048576, 4), .device = %s)); wk_sync(); wk_memory_stats_of(...)",
              tour_device(device));
    wk_memory_stats_of(device, &stats);
    printf("live %s, peak %s, limit %s\n", cli_format_bytes(live, stats.live), cli_format_bytes(peak, stats.peak),
           cli_format_bytes(limit, stats.limit));
    int64_t bytes;
    wk_site site;
    tour_code("wk_memory_largest(%s, ...)", tour_device(device));
    if (wk_memory_largest(device, &bytes, &site, 1))
        printf("%s made at %s:%d\n", cli_format_bytes(live, bytes), site.file, site.line);

    tour_code("wk_memory_set_limit(%s, 64 << 20); wk_ones((16777216, 4), .device = %s)", tour_device(device),
              tour_device(device));
    wk_memory_set_limit(device, (int64_t)64 << 20);
    wk_data(wk_ones((1 << 24, 4), .device = device));
    wk_sync();
    tour_error();
    wk_memory_set_limit(device, 0);
    tour_code("wk_item(wk_sum(x))");
    printf("%.0f: the program continues\n", wk_item(wk_sum(x)));
    wk_free(x);
}

/* Returns the seconds of `count` sums of 1,000 elements, read one by one or all at once; *waits counts host waits. */
static double sums(wk_device device, int count, bool one_by_one, int64_t *waits)
{
    WK_SCOPE;
    wk_tensor *x = wk_ones((1000), .device = device);
    wk_history *history = wk_history_new();
    wk_sync();
    wk_transfer_counters before = {.size = sizeof before}, after = {.size = sizeof after};
    wk_transfer_stats(&before);
    double start = cli_clock();
    for (int k = 0; k < count; k++) {
        WK_SCOPE;
        wk_tensor *sum = wk_sum(wk_mul(x, k));
        if (one_by_one)
            wk_item(sum);
        else
            wk_history_add(history, sum);
    }
    if (!one_by_one) wk_history_mean(history);
    double seconds = cli_clock() - start;
    wk_transfer_stats(&after);
    *waits = after.waits - before.waits;
    return seconds;
}

static void say(void *user, const char *line)
{
    (void)user;
    printf("log: %s\n", line);
}

static void waits(void)
{
    wk_device device = tour_accelerator(0);
    int64_t waits;
    sums(device, 10, true, &waits); /* builds kernels */
    double slow = sums(device, 200, true, &waits);
    tour_code("200 sums on %s, wk_item after each", wk_device_str(device));
    printf("%.1f ms, waits of the host: %lld\n", 1e3 * slow, (long long)waits);
    tour_code("wk_set_log(\"sync\", say, NULL), and 3 sums more");
    wk_set_log("sync", say, NULL);
    sums(device, 3, true, &waits);
    wk_set_log("", NULL, NULL);
    if (device.kind != WK_CPU) {
        tour_code("wk_set_sync_debug_mode(WK_SYNC_ERROR); wk_item(wk_sum(wk_ones((3), .device = %s)))",
                  tour_device(device));
        wk_set_sync_debug_mode(WK_SYNC_ERROR);
        wk_item(wk_sum(wk_ones((3), .device = device)));
        wk_set_sync_debug_mode(WK_SYNC_LOG);
        tour_error();
    }
}

static void history(void)
{
    enum { COUNT = 50 };
    wk_device device = tour_accelerator(0);
    int64_t waits, waits_one_by_one;
    sums(device, COUNT, false, &waits); /* builds kernels */
    double slow = sums(device, COUNT, true, &waits_one_by_one), quick = sums(device, COUNT, false, &waits);
    tour_code("wk_history_add(history, sum), %d times, then wk_history_mean(history)", COUNT);
    printf("%.1f ms on %s, waits of the host: %lld; read one by one %.1f ms, waits: %lld\n", 1e3 * quick,
           wk_device_str(device), (long long)waits, 1e3 * slow, (long long)waits_one_by_one);
}

static void world(void)
{
    tour_code("wk_dist_init(); wk_dist_rank(); wk_dist_size()");
    if (wk_dist_init() != WK_OK) return;
    printf("rank %d of %d\n", wk_dist_rank(), wk_dist_size());
    wk_dist_finish();
}

const tour_step tour_networks[] = {
    {17, "A network on a device", "Parameters move, their handles stay valid. The result records its history: grad_fn.",
     network},
    {18, "A lazy layer",
     "Like TensorFlow's Dense(1): the first call creates the parameters on the device of the input.", lazy},
    {19, "All GPUs: wk_mirrored",
     "Like TensorFlow's MirroredStrategy, over any set of devices: each computes its share of the batch with a replica "
     "of the parameters, and the gradients are summed. `wick bench mirrored` measures it; examples/multi_gpu.c does it "
     "by hand.",
     mirrored},
    {20, "Memory per device",
     "Memory is counted per device. At the limit, caches are freed first; then the call fails, and existing tensors "
     "stay valid.",
     memory},
    {21, "The cost of synchronisation",
     "Each read makes the host wait for the device and the device wait for the host. The log reports such calls by "
     "file and line; with WK_SYNC_ERROR they are errors.",
     waits},
    {22, "Collect metrics on the device", "wk_history collects values on the device and reads them in bulk.", history},
    {23, "Several GPUs, then several servers: wk_mirrored, wk_ddp",
     "wk_mirrored is step 19. With wk_ddp the processes of a job train one network, on one machine or many: start them "
     "with `wick run -n 4 ./prog`, mpirun or Slurm. A program started alone is a world of one.",
     world},
    {0},
};
