/* SPDX-License-Identifier: Apache-2.0 */
/* The chapter on several GPUs as one program: a batch is split, each device computes the gradients of its share with
 * its own copy of the parameters, gradients are summed and broadcast to all, and each device takes the same step. By
 * hand, and by wk_mirrored, which does the same. Uses the named devices, otherwise all GPUs, otherwise the CPU.
 *
 *     cc multi_gpu.c $(pkg-config --cflags --libs wick) -Wl,-rpath,$(pkg-config --variable=libdir wick) -o multi_gpu
 *     ./multi_gpu opencl:0 opencl:1
 */
#include <stdio.h>
#include <wick.h>

enum { MOST = 8, INPUTS = 64, HIDDEN = 32, CLASSES = 10, BATCH = 96, STEPS = 30, PARAMETERS = 4 };

/* ---- a network of four tensors ----------------------------------------------------------------------------------- */

typedef struct parameters {
    wk_tensor *at[PARAMETERS]; /* weights (INPUTS, HIDDEN), bias, weights (HIDDEN, CLASSES), bias */
} parameters;

static parameters new_parameters(void)
{
    wk_seed(1);
    return (parameters){{wk_mul(wk_randn((INPUTS, HIDDEN)), 0.1), wk_zeros((HIDDEN)),
                         wk_mul(wk_randn((HIDDEN, CLASSES)), 0.1), wk_zeros((CLASSES))}};
}

/* Copies of all parameters on a device, each a leaf that requires grad. */
static parameters get_params(parameters from, wk_device device)
{
    parameters to;
    for (int k = 0; k < PARAMETERS; k++)
        to.at[k] = wk_requires_grad_(wk_detach(wk_clone(wk_to(from.at[k], device))), true);
    return to;
}

static wk_tensor *network(wk_tensor *x, parameters p)
{
    wk_tensor *hidden = wk_relu(wk_add(wk_matmul(x, p.at[0]), p.at[1]));
    return wk_add(wk_matmul(hidden, p.at[2]), p.at[3]);
}

/* ---- a step on several devices ----------------------------------------------------------------------------------- */

/* The k-th gradient becomes, on each device, the sum over all devices. */
static void all_reduce_gradients(const parameters *of, int devices, int k)
{
    wk_tensor *gradient[MOST];
    for (int d = 0; d < devices; d++) gradient[d] = wk_grad_of(of[d].at[k]);
    wk_devices_all_reduce_(wk_list(WK_ARRAY(gradient, devices)));
}

static void sgd(parameters p, double rate)
{
    WK_NO_GRAD;
    for (int k = 0; k < PARAMETERS; k++) {
        wk_sub_(p.at[k], wk_mul(wk_grad_of(p.at[k]), rate));
        wk_set_grad(p.at[k], NULL);
    }
}

/* Returns the loss of the complete batch. Only the last line waits for a device, so all devices work at the same time:
 * calls are recorded, and wk_devices_scatter and wk_devices_all_reduce_ submit the recorded work first. */
static double train_batch(const parameters *of, const wk_device *device, int devices, wk_tensor *x, wk_tensor *labels)
{
    WK_SCOPE;
    wk_tensors *xs = wk_devices_scatter(x, device, devices), *ys = wk_devices_scatter(labels, device, devices);
    wk_tensor *loss[MOST];
    for (int d = 0; d < devices; d++) { /* summed, not averaged, so that shares may differ in size */
        loss[d] =
            wk_cross_entropy(network(wk_tensors_get(xs, d), of[d]), wk_tensors_get(ys, d), .reduction = WK_REDUCE_SUM);
        wk_backward(loss[d]);
    }
    for (int k = 0; k < PARAMETERS; k++) all_reduce_gradients(of, devices, k);
    for (int d = 0; d < devices; d++) sgd(of[d], 0.3 / BATCH);
    return wk_item(wk_sum(wk_devices_gather(wk_list(WK_ARRAY(loss, devices)), wk_cpu()))) / BATCH;
}

/* ---- the same by wk_mirrored ------------------------------------------------------------------------------------- */

/* wk_nn_linear stores its weights transposed. */
static wk_module *same_network(parameters p)
{
    wk_module *net = wk_nn_sequential(wk_nn_linear(INPUTS, HIDDEN), wk_nn_relu(), wk_nn_linear(HIDDEN, CLASSES));
    WK_NO_GRAD;
    wk_copy_(wk_module_parameter(net, "0.weight"), wk_transpose(p.at[0], 0, 1));
    wk_copy_(wk_module_parameter(net, "0.bias"), p.at[1]);
    wk_copy_(wk_module_parameter(net, "2.weight"), wk_transpose(p.at[2], 0, 1));
    wk_copy_(wk_module_parameter(net, "2.bias"), p.at[3]);
    return net;
}

static double train_mirrored(wk_module *many, wk_optim *optimiser, wk_tensor *x, wk_tensor *labels)
{
    WK_SCOPE;
    wk_tensor *loss = wk_cross_entropy(wk_forward(many, x), labels);
    wk_optim_zero_grad(optimiser);
    wk_backward(loss);
    wk_optim_step(optimiser);
    return wk_item(loss);
}

/* ---- both -------------------------------------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
    WK_SCOPE;
    wk_device device[MOST];
    int devices = argc > 1 ? 0 : wk_try_all_gpus(device, MOST);
    for (int k = 1; k < argc && devices < MOST; k++) device[devices++] = wk_device_parse(argv[k]);

    parameters start = new_parameters(), of[MOST];
    for (int d = 0; d < devices; d++) of[d] = get_params(start, device[d]);
    wk_module *many = wk_mirrored(same_network(start), device, devices);
    wk_optim *optimiser = wk_optim_sgd(wk_parameters(many), .lr = 0.3);

    wk_tensor *x = wk_rand((BATCH, INPUTS)); /* instead of a batch of images */
    wk_tensor *labels = wk_argmax(wk_narrow(x, 1, 0, CLASSES), 1);
    printf("%d device(s):", devices);
    for (int d = 0; d < devices; d++) printf(" %s", wk_device_str(device[d]));
    printf("\n");
    double by_hand = 0, mirrored = 0;
    for (int step = 0; step < STEPS && !wk_error(); step++) {
        by_hand = train_batch(of, device, devices, x, labels);
        mirrored = train_mirrored(many, optimiser, x, labels);
        if (step % 10 == 9) printf("step %d: loss %.6f by hand, %.6f mirrored\n", step + 1, by_hand, mirrored);
    }
    wk_tensor *first = wk_to(of[0].at[0], wk_cpu()), *last = wk_to(of[devices - 1].at[0], wk_cpu());
    printf("weights are the same on all devices: %s\n", wk_item(wk_all(wk_eq(first, last))) == 1 ? "yes" : "no");
    if (wk_error()) return wk_report_error(stderr);
    return by_hand - mirrored < 1e-4 && mirrored - by_hand < 1e-4 ? 0 : 1;
}
