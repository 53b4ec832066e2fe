/* SPDX-License-Identifier: Apache-2.0 */
/* Autoregression: a network predicts each value of a noisy sine from the previous four. The error grows with the number
 * of steps ahead, for which predictions replace the values. Dive into Deep Learning, Working with Sequences.
 *
 *     autoregressive [DEVICE [EPOCHS [SVG [SEED]]]] */
#include "run.h"
#include <string.h>

enum { TIMES = 1000, BEFORE = 4, TRAINED = 600, BATCH = 16, MOST_STEPS = 64 };

static void init_linear(wk_module *m, void *user)
{
    (void)user;
    if (strcmp(wk_module_kind_name(m), "linear") == 0) wk_init_xavier_uniform_(wk_module_parameter(m, "weight"));
}

/* Predicts `steps` values after each window (N, BEFORE), each from the previous four, which may be predictions.
 * Returns (N, steps). */
static wk_tensor *predict(wk_module *net, wk_tensor *window, int64_t steps)
{
    for (int64_t k = 0; k < steps; k++) window = wk_cat((window, wk_forward(net, wk_narrow(window, 1, k, BEFORE))), 1);
    return wk_narrow(window, 1, BEFORE, steps);
}

int main(int argc, char **argv)
{
    WK_SCOPE;
    const run r = read_run(5, argc, argv);
    wk_tensor *time = wk_arange(1, TIMES + 1, .dtype = WK_F32);
    wk_tensor *x = wk_add(wk_sin(wk_mul(time, 0.01)), wk_mul(wk_randn((TIMES)), 0.2));
    wk_tensor *windows = wk_unfold(wk_narrow(x, 0, 0, TIMES - 1), 0, BEFORE, 1); /* (TIMES - BEFORE, BEFORE), a view */
    wk_tensor *labels = wk_unsqueeze(wk_narrow(x, 0, BEFORE, TIMES - BEFORE), 1);

    wk_module *net = wk_nn_sequential(wk_nn_linear(BEFORE, 10), wk_nn_relu(), wk_nn_linear(10, 1));
    wk_module_apply(net, init_linear, NULL);
    wk_module_to(net, r.device);
    wk_optim *adam = wk_optim_adam(wk_parameters(net), .lr = 0.01);
    wk_loader *batches = wk_data_loader(wk_data_slice(wk_data_tensors(windows, labels), 0, TRAINED),
                                        .batch_size = BATCH, .shuffle = true, .seed = r.seed, .device = r.device);
    double last = 0;
    for (int epoch = 1; epoch <= r.epochs && !wk_error(); epoch++) {
        WK_SCOPE;
        wk_history *losses = wk_history_new();
        WK_EACH(batch, batches)
        {
            wk_tensor *loss = wk_mse_loss(wk_forward(net, batch->x), batch->y);
            wk_optim_zero_grad(adam);
            wk_backward(loss);
            wk_optim_step(adam);
            wk_history_add(losses, loss);
        }
        last = wk_history_mean(losses);
        if (is_reported(epoch, r.epochs)) printf("epoch %d  loss %.4f\n", epoch, last);
    }

    /* the error ahead[k] steps ahead, over all windows that are followed by ahead[k] values */
    WK_NO_GRAD;
    wk_plot *plot = wk_plot_new(.title = "Autoregression", .x_label = "time");
    printf("result: loss %.4f; error", last);
    const int64_t ahead[] = {1, 4, 16, MOST_STEPS};
    for (int k = 0; k < 4; k++) {
        const int64_t count = TIMES - BEFORE - ahead[k] + 1;
        wk_tensor *y = predict(net, wk_to(wk_narrow(windows, 0, 0, count), r.device), ahead[k]);
        wk_tensor *at = wk_to(wk_select(y, 1, -1), wk_cpu());
        wk_tensor *from = wk_narrow(x, 0, BEFORE + ahead[k] - 1, count);
        char label[32];
        snprintf(label, sizeof label, "%lld %s", (long long)ahead[k], ahead[k] == 1 ? "step" : "steps");
        wk_plot_tensor(plot, label, wk_narrow(time, 0, BEFORE + ahead[k] - 1, count), at);
        printf("%s %s ahead %.4f", k ? "," : "", label, wk_item(wk_mse_loss(at, from)));
    }
    printf("\n");
    if (r.svg) wk_plot_save(plot, r.svg);
    return wk_report_error(stderr);
}
