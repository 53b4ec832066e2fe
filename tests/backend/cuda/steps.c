/* SPDX-License-Identifier: Apache-2.0 */
/* Driver calls of a training step after warm-up, as listed in docs/contributing. More calls cost time that no kernel
 * compensates. */
#include "child.h"

/* Numbers of calls by kind. */
typedef struct calls {
    long launches, uploads, downloads, copies, waits, allocations;
} calls;

static calls calls_now(void)
{
    return (calls){.launches = driver_calls("cuLaunchKernel"),
                   .uploads = driver_calls("cuMemcpyHtoDAsync_v2"),
                   .downloads = driver_calls("cuMemcpyDtoHAsync_v2"),
                   .copies = driver_calls("cuMemcpyDtoDAsync_v2") + driver_calls("cuMemsetD8Async"),
                   .waits = driver_calls("cuEventRecord"), /* each wait records one event */
                   .allocations = driver_calls("cuMemAlloc_v2")};
}

typedef struct training {
    const char *name;
    bool adam, reads; /* reads: the loss, in each step */
    calls most;
} training;

/* Trains a network of three layers on a batch from the host. */
static void step(wk_module *net, wk_optim *optim, bool reads)
{
    WK_SCOPE;
    wk_tensor *x = wk_to(wk_ones((16, 24)), wk_cuda(0));
    wk_tensor *label = wk_to(wk_full((16), 3, .dtype = WK_I64), wk_cuda(0));
    wk_tensor *loss = wk_cross_entropy(wk_forward(net, x), label);
    wk_backward(loss);
    wk_optim_step(optim);
    wk_optim_zero_grad(optim);
    if (reads) wk_item(loss);
    wk_flush();
}

static const training *now;

static void train(void)
{
    enum { BEFORE = 12, STEPS = 4 };
    wk_seed(1);
    wk_module *net =
        wk_nn_sequential(wk_nn_linear(24, 16), wk_nn_relu(), wk_nn_linear(16, 12), wk_nn_relu(), wk_nn_linear(12, 10));
    wk_module_to(net, wk_cuda(0));
    wk_optim *optim =
        now->adam ? wk_optim_adam(wk_parameters(net), .lr = 0.01) : wk_optim_sgd(wk_parameters(net), .lr = 0.05);
    for (int k = 0; k < BEFORE; k++) step(net, optim, now->reads);
    const calls before = calls_now();
    for (int k = 0; k < STEPS; k++) step(net, optim, now->reads);
    const calls after = calls_now(), most = now->most;
    must(wk_error() == NULL);
    const calls each = {.launches = (after.launches - before.launches) / STEPS,
                        .uploads = (after.uploads - before.uploads) / STEPS,
                        .downloads = (after.downloads - before.downloads) / STEPS,
                        .copies = (after.copies - before.copies) / STEPS,
                        .waits = (after.waits - before.waits) / STEPS,
                        .allocations = after.allocations - before.allocations};
    fprintf(stderr, "%s: %ld launches, %ld uploads, %ld downloads, %ld copies, %ld waits, %ld allocations\n", now->name,
            each.launches, each.uploads, each.downloads, each.copies, each.waits, each.allocations);
    must(each.launches <= most.launches && each.uploads <= most.uploads && each.downloads <= most.downloads);
    must(each.copies <= most.copies && each.waits <= most.waits && each.allocations == 0);
}

static void steps(void **state)
{
    (void)state;
    static const training all[] = {
        {"SGD", .most = {.launches = 16, .uploads = 2}},
        {"SGD, loss read", .reads = true, .most = {.launches = 16, .uploads = 2, .downloads = 2, .waits = 1}},
        {"Adam", .adam = true, .most = {.launches = 16, .uploads = 2}},
    };
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
        now = &all[k];
        in_child("STANDIN_ERRORS=", train);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
