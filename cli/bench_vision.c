/* SPDX-License-Identifier: Apache-2.0 */
/* Networks for images: training steps and inference of networks, and layers with their gradients. Single
 * convolutions are in bench_convolutions.c. */
#include "bench.h"

/* ---- networks ---------------------------------------------------------------------------------------------------- */

/* Measures a step on `batch` images of side x side, or their inference. */
static void measure_network(bench *b, const char *name, const char *ask, wk_module *net, bool trains, int64_t channels,
                            int64_t batch, int64_t side)
{
    WK_SCOPE;
    bench_network n = {.net = net,
                       .x = wk_randn((batch, channels, side, side)),
                       .labels = wk_randint(0, 10, (batch)),
                       .optim = trains ? wk_optim_sgd(wk_parameters(net), .lr = 0.01) : NULL};
    wk_module_train(net, trains);
    wk_sync();
    char text[64];
    snprintf(text, sizeof text, "%s, %lld at %lldx%lld", name, (long long)batch, (long long)side, (long long)side);
    bench_task task = {.name = text, .question = {.name = ask}, .run = trains ? bench_step : bench_forward, .user = &n};
    snprintf(task.question.sizes, sizeof task.question.sizes, "%lld %lld", (long long)batch, (long long)side);
    bench_measure(b, &task);
}

static wk_module *create_lenet(void)
{
    return wk_nn_sequential(wk_nn_conv2d(1, 6, 5, .padding = 2), wk_nn_relu(), wk_nn_max_pool2d(2),
                            wk_nn_conv2d(6, 16, 5), wk_nn_relu(), wk_nn_max_pool2d(2), wk_nn_flatten(),
                            wk_nn_linear(400, 120), wk_nn_relu(), wk_nn_linear(120, 84), wk_nn_relu(),
                            wk_nn_linear(84, 10));
}

/* ---- layers with their gradients --------------------------------------------------------------------------------- */

/* A layer, its input, and the gradient of its output. input: the images, then the parameters. */
typedef struct layer {
    wk_module *layer;
    wk_tensor *input[3], *out_grad;
    int inputs;
} layer;

static double run_layer(void *user)
{
    layer *l = user;
    WK_SCOPE;
    double start = cli_clock();
    wk_tensor *out = wk_forward(l->layer, l->input[0]), *grads[3] = {NULL};
    const wk_grad_options options = {.size = sizeof options, .grad_outputs = &l->out_grad};
    wk_grad_at(WK_HERE, &out, 1, l->input, l->inputs, grads, &options);
    wk_sync();
    return cli_clock() - start;
}

static void measure_layer(bench *b, const char *name, const char *ask, wk_module *module, int64_t batch, int64_t side)
{
    WK_SCOPE;
    layer l = {.layer = module, .inputs = 1, .input = {wk_randn((batch, 64, side, side), .requires_grad = true)}};
    wk_tensors *parameters = wk_parameters(module);
    for (int k = 0; k < wk_tensors_count(parameters); k++) l.input[l.inputs++] = wk_tensors_get(parameters, k);
    l.out_grad = wk_randn_like(wk_detach(wk_forward(module, l.input[0])));
    wk_sync();
    char title[64];
    snprintf(title, sizeof title, "%s with gradient, 64 at %lld", name, (long long)side);
    bench_task task = {.name = title, .question = {.name = ask}, .run = run_layer, .user = &l};
    snprintf(task.question.sizes, sizeof task.question.sizes, "%lld %lld", (long long)batch, (long long)side);
    bench_measure(b, &task);
}

/* ---- the suite --------------------------------------------------------------------------------------------------- */

void bench_vision(bench *b)
{
    WK_SCOPE;
    const bool quick = b->quick;
    wk_seed(1);
    measure_network(b, "step of LeNet", "lenet_step", create_lenet(), true, 1, quick ? 4 : 256, 28);
    measure_layer(b, "batch norm and ReLU", "batch_norm", wk_nn_sequential(wk_nn_batch_norm2d(64), wk_nn_relu()),
                  quick ? 2 : 32, quick ? 28 : 56);
    measure_layer(b, "max pool 3x3/2", "max_pool", wk_nn_max_pool2d(3, .stride = 2, .padding = 1), quick ? 2 : 32,
                  quick ? 28 : 112);
    measure_network(b, "step of ResNet-18", "resnet18_step", wk_nn_resnet(18), true, 3, quick ? 2 : 32,
                    quick ? 32 : 96);
    measure_network(b, "inference of ResNet-18", "resnet18", wk_nn_resnet(18), false, 3, 1, quick ? 64 : 224);
    measure_network(b, "inference of MobileNetV2", "mobilenet_v2", wk_nn_mobilenet_v2(), false, 3, 1, quick ? 64 : 224);
    bench_convolutions(b);
}
