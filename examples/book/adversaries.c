/* SPDX-License-Identifier: Apache-2.0 */
/* Training of a generator and a discriminator. */
#include "adversaries.h"

/* Initialises the weights, but not the biases and the parameters of batch norm. */
static void init(wk_module *net)
{
    WK_NO_GRAD;
    wk_tensors *parameters = wk_parameters(net);
    for (int k = 0; k < wk_tensors_count(parameters); k++) {
        wk_tensor *x = wk_tensors_get(parameters, k);
        if (wk_ndim(x) > 1) wk_normal_(x, 0, 0.02);
    }
}

/* Returns the binary cross entropy of scores that all have the same label, 0 or 1. */
static wk_tensor *cross_entropy(wk_tensor *scores, double label)
{
    return wk_binary_cross_entropy_with_logits(scores, wk_full_like(scores, label));
}

static wk_tensor *step_discriminator(wk_module *net, wk_optim *adam, wk_tensor *real, wk_tensor *generated)
{
    wk_tensor *loss = wk_div(
        wk_add(cross_entropy(wk_forward(net, real), 1), cross_entropy(wk_forward(net, wk_detach(generated)), 0)), 2);
    wk_optim_zero_grad(adam);
    wk_backward(loss);
    wk_optim_step(adam);
    return loss;
}

static wk_tensor *step_generator(wk_module *discriminator, wk_optim *adam, wk_tensor *generated)
{
    wk_tensor *loss = cross_entropy(wk_forward(discriminator, generated), 1);
    wk_optim_zero_grad(adam);
    wk_backward(loss);
    wk_optim_step(adam);
    return loss;
}

int train_adversaries(wk_module *generator, wk_module *discriminator, wk_dataset *real, const gan_training *t,
                      const run *r)
{
    WK_SCOPE;
    init(generator);
    init(discriminator);
    wk_module_to(generator, r->device);
    wk_module_to(discriminator, r->device);
    wk_optim *adam_g = wk_optim_adam(wk_parameters(generator), .lr = t->lr_g, .beta1 = t->beta1);
    wk_optim *adam_d = wk_optim_adam(wk_parameters(discriminator), .lr = t->lr_d, .beta1 = t->beta1);
    wk_loader *batches =
        wk_data_loader(real, .batch_size = t->batch, .shuffle = true, .seed = r->seed, .device = r->device);
    wk_history *curve_d = wk_history_new(), *curve_g = wk_history_new();
    printf("%s: %lld and %lld parameters, %lld samples, batches of %lld, learning rates %g and %g\n", t->name,
           (long long)wk_parameter_count(generator), (long long)wk_parameter_count(discriminator),
           (long long)wk_data_size(real), (long long)t->batch, t->lr_g, t->lr_d);
    double spent = 0, loss_d = 0, loss_g = 0;
    for (int epoch = 1; epoch <= r->epochs && !wk_error(); epoch++) {
        WK_SCOPE;
        wk_history *losses_d = wk_history_new(), *losses_g = wk_history_new();
        const double begin = seconds();
        WK_EACH(batch, batches)
        {
            int64_t shape[4] = {wk_size(batch->x, 0), t->latent[0], t->latent[1], t->latent[2]};
            wk_tensor *noise = wk_randn(WK_ARRAY(shape, 1 + t->dims), .device = r->device);
            wk_tensor *generated = wk_forward(generator, noise);
            wk_history_add(losses_d, step_discriminator(discriminator, adam_d, batch->x, generated));
            wk_history_add(losses_g, step_generator(discriminator, adam_g, generated));
        }
        wk_history_add(curve_d, wk_full((), loss_d = wk_history_mean(losses_d)));
        wk_history_add(curve_g, wk_full((), loss_g = wk_history_mean(losses_g)));
        spent += seconds() - begin;
        if (is_reported(epoch, r->epochs)) printf("epoch %d  loss of D %.3f, of G %.3f\n", epoch, loss_d, loss_g);
        fflush(stdout);
    }
    if (r->svg) {
        wk_plot *plot = wk_plot_new(.title = t->name, .x_label = "epoch");
        wk_plot_history(plot, "loss of the discriminator", curve_d, .first = 1);
        wk_plot_history(plot, "loss of the generator", curve_g, .first = 1);
        wk_plot_save(plot, r->svg);
    }
    printf("%.1f examples/sec on %s\n", (double)(r->epochs * wk_data_size(real)) / spent, wk_device_str(r->device));
    printf("result: loss of the discriminator %.3f, of the generator %.3f\n", loss_d, loss_g);
    return wk_report_error(stderr);
}
