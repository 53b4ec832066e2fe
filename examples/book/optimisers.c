/* SPDX-License-Identifier: Apache-2.0 */
/* Linear regression by gradient descent with several batch sizes, and by other optimisers. Dive into Deep Learning, the
 * chapters from Minibatch Stochastic Gradient Descent to Adam.
 *
 *     optimisers [DEVICE [EPOCHS [SVG [SEED]]]]
 *
 * The generated data have the size of the book's dataset of airfoil noise, 1,500 rows of five features, and lead to
 * about the same loss: noise of variance 0.5 keeps it at about 0.25. */
#include "run.h"
#include <math.h>

enum { ROWS = 1500, FEATURES = 5 };

/* State of Yogi, which neither torch.optim nor the library has: Adam with v -= (1 - beta2) sign(v - g^2) g^2. */
typedef struct yogi {
    wk_tensor *m, *v;
    int64_t steps;
} yogi;

static void yogi_step(yogi *state, wk_tensor *x, double lr)
{
    const double beta1 = 0.9, beta2 = 0.999, eps = 1e-3;
    WK_NO_GRAD;
    wk_tensor *g = wk_grad_of(x), *g2 = wk_pow(g, 2);
    state->steps++;
    wk_lerp_(state->m, g, 1 - beta1);
    wk_sub_(state->v, wk_mul(wk_mul(wk_sign(wk_sub(state->v, g2)), g2), 1 - beta2));
    const double t = (double)state->steps;
    wk_tensor *m = wk_div(state->m, 1 - pow(beta1, t)), *v = wk_div(state->v, 1 - pow(beta2, t));
    wk_sub_(x, wk_mul(wk_div(m, wk_add(wk_sqrt(v), eps)), lr));
}

/* Returns half the mean squared error. */
static wk_tensor *loss_of(wk_module *net, wk_tensor *x, wk_tensor *y)
{
    return wk_div(wk_mse_loss(wk_forward(net, x), y), 2);
}

/* ---- training ---------------------------------------------------------------------------------------------------- */

typedef struct rows {
    wk_tensor *x, *y;
    wk_plot *plot;
} rows;

/* Returns features with mean 0 and variance 1, and targets with a variance of about 1, half of which a linear function
 * of the features explains. */
static rows new_rows(void)
{
    wk_tensor *x = wk_randn((ROWS, FEATURES)), *w = wk_of(float, (FEATURES, 1), -0.6F, -0.2F, 0.2F, -0.3F, 0.2F);
    return (rows){.x = x, .y = wk_add(wk_matmul(x, w), wk_mul(wk_randn((ROWS, 1)), sqrt(0.5)))};
}

static wk_module *new_net(void)
{
    wk_module *net = wk_nn_linear(FEATURES, 1);
    WK_NO_GRAD;
    wk_normal_(wk_module_parameter(net, "weight"), 0, 0.01);
    wk_fill_(wk_module_parameter(net, "bias"), 0);
    return net;
}

/* Trains a network with optim, or with Yogi if optim is NULL. Prints and returns the final loss over all rows. */
static double train_net(const char *name, const rows *data, const run *r, wk_module *net, wk_optim *optim,
                        int64_t batch, int epochs)
{
    WK_SCOPE;
    wk_loader *batches = wk_data_loader(wk_data_tensors(data->x, data->y), .batch_size = batch, .shuffle = true,
                                        .seed = r->seed, .device = r->device);
    wk_tensors *parameters = wk_parameters(net);
    yogi state[2] = {{0}};
    for (int k = 0; k < 2; k++)
        state[k] = (yogi){.m = wk_zeros_like(wk_tensors_get(parameters, k)),
                          .v = wk_zeros_like(wk_tensors_get(parameters, k))};
    wk_history *losses = wk_history_new();
    const double begin = seconds();
    for (int epoch = 0; epoch < epochs; epoch++) WK_EACH(batch, batches)
        {
            for (int k = 0; k < 2; k++) wk_set_grad(wk_tensors_get(parameters, k), NULL);
            wk_tensor *loss = loss_of(net, batch->x, batch->y);
            wk_backward(loss);
            for (int k = 0; k < 2 && !optim; k++) yogi_step(&state[k], wk_tensors_get(parameters, k), 0.01);
            if (optim) wk_optim_step(optim);
            wk_history_add(losses, loss);
        }
    const double spent = seconds() - begin;
    const double loss = wk_item(loss_of(net, wk_to(data->x, r->device), wk_to(data->y, r->device)));
    printf("%-32s batch %4lld  loss %.4f  %.3f sec/epoch\n", name, (long long)batch, loss, spent / epochs);
    if (data->plot) wk_plot_history(data->plot, name, losses, .step = (double)batch / ROWS);
    return loss;
}

int main(int argc, char **argv)
{
    WK_SCOPE;
    const run r = read_run(2, argc, argv);
    WK_DEVICE(r.device);
    const int more = 2 * r.epochs; /* epochs of the optimisers from momentum 0.9 on */
    rows data = new_rows();
    if (r.svg) data.plot = wk_plot_new(.title = "Optimisers", .x_label = "epoch", .y_label = "loss");
    wk_module *net = new_net();
    const double descent =
        train_net("gradient descent, rate 1", &data, &r, net, wk_optim_sgd(wk_parameters(net), .lr = 1), ROWS, 10);
    net = new_net();
    train_net("SGD, rate 0.005", &data, &r, net, wk_optim_sgd(wk_parameters(net), .lr = 0.005), 1, r.epochs);
    net = new_net();
    train_net("SGD, rate 0.4", &data, &r, net, wk_optim_sgd(wk_parameters(net), .lr = 0.4), 100, r.epochs);
    net = new_net();
    const double sgd =
        train_net("SGD, rate 0.05", &data, &r, net, wk_optim_sgd(wk_parameters(net), .lr = 0.05), 10, r.epochs);
    net = new_net();
    train_net("momentum 0.5, rate 0.02", &data, &r, net, wk_optim_sgd(wk_parameters(net), .lr = 0.02, .momentum = 0.5),
              10, r.epochs);
    net = new_net();
    train_net("momentum 0.9, rate 0.005", &data, &r, net,
              wk_optim_sgd(wk_parameters(net), .lr = 0.005, .momentum = 0.9), 10, more);
    net = new_net();
    train_net("Adagrad, rate 0.1", &data, &r, net, wk_optim_adagrad(wk_parameters(net), .lr = 0.1), 10, more);
    net = new_net();
    train_net("RMSprop, rate 0.01, alpha 0.9", &data, &r, net,
              wk_optim_rmsprop(wk_parameters(net), .lr = 0.01, .alpha = 0.9), 10, more);
    net = new_net();
    train_net("Adadelta, rho 0.9", &data, &r, net, wk_optim_adadelta(wk_parameters(net), .rho = 0.9), 10, more);
    net = new_net();
    const double adam =
        train_net("Adam, rate 0.01", &data, &r, net, wk_optim_adam(wk_parameters(net), .lr = 0.01), 10, more);
    const double yogi_loss = train_net("Yogi, rate 0.01", &data, &r, new_net(), NULL, 10, more);
    if (r.svg) wk_plot_save(data.plot, r.svg);
    printf("result: loss of gradient descent %.4f, SGD %.4f, Adam %.4f, Yogi %.4f\n", descent, sgd, adam, yogi_loss);
    return wk_report_error(stderr);
}
