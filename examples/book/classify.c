/* SPDX-License-Identifier: Apache-2.0 */
/* Classification of texts: random numbers, and the training loop. */
#include "classify.h"

int choose(uint32_t *state, int n)
{
    *state = *state * 1664525U + 1013904223U; /* a linear congruential generator; its upper bits are more random */
    return (int)((*state >> 16) % (uint32_t)n);
}

/* Returns the accuracy in evaluation mode. */
static double test(wk_module *net, wk_loader *batches)
{
    WK_SCOPE;
    WK_NO_GRAD;
    wk_history *hits = wk_history_new();
    wk_module_train(net, false);
    WK_EACH(batch, batches)
    {
        wk_tensor *hit = accuracy(wk_forward(net, batch->x), batch->y);
        wk_history_add(hits, hit, .weight = (double)wk_size(batch->x, 0));
    }
    wk_module_train(net, true);
    return wk_history_mean(hits);
}

double classify(wk_module *net, const texts *t, const classifier_training *how, const run *r)
{
    WK_SCOPE;
    const int64_t samples = wk_size(t->x, 0);
    wk_dataset *all = wk_data_tensors(t->x, t->y);
    wk_loader *batches = wk_data_loader(wk_data_slice(all, 0, t->trained), .batch_size = how->batch, .shuffle = true,
                                        .seed = r->seed, .device = r->device);
    wk_loader *test_batches =
        wk_data_loader(wk_data_slice(all, t->trained, samples), .batch_size = how->batch, .device = r->device);
    wk_module_to(net, r->device);
    wk_optim *adam = wk_optim_adam(wk_parameters(net), .lr = how->lr);
    wk_history *curve = wk_history_new();
    printf("%s: %lld parameters, %lld texts, batches of %lld, learning rate %g\n", how->name,
           (long long)wk_parameter_count(net), (long long)t->trained, (long long)how->batch, how->lr);
    double spent = 0, loss = 0, train_accuracy = 0, test_accuracy = 0;
    for (int epoch = 1; epoch <= r->epochs && !wk_error(); epoch++) {
        WK_SCOPE;
        wk_history *losses = wk_history_new(), *hits = wk_history_new();
        const double begin = seconds();
        WK_EACH(batch, batches)
        {
            wk_tensor *scores = wk_forward(net, batch->x), *error = wk_cross_entropy(scores, batch->y);
            wk_optim_zero_grad(adam);
            wk_backward(error);
            wk_optim_step(adam);
            wk_history_add(losses, error);
            wk_history_add(hits, accuracy(scores, batch->y));
        }
        loss = wk_history_mean(losses);
        train_accuracy = wk_history_mean(hits);
        spent += seconds() - begin;
        wk_history_add(curve, wk_full((), loss));
        test_accuracy = test(net, test_batches);
        printf("epoch %2d  loss %.4f  train acc %.3f  test acc %.3f\n", epoch, loss, train_accuracy, test_accuracy);
        fflush(stdout);
    }
    save_curve(r, how->name, "loss", curve);
    printf("%.1f examples/sec on %s\n", (double)(r->epochs * t->trained) / spent, wk_device_str(r->device));
    printf("result: loss %.4f, train accuracy %.3f, test accuracy %.3f\n", loss, train_accuracy, test_accuracy);
    return test_accuracy;
}
