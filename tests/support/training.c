/* SPDX-License-Identifier: Apache-2.0 */
/* Implements training.h. */
#include "training.h"

wk_optim *test_momentum(wk_tensors *parameters)
{
    return wk_optim_sgd(parameters, .lr = 0.05, .momentum = 0.9);
}
wk_optim *test_adam(wk_tensors *parameters)
{
    return wk_optim_adam(parameters, .lr = 0.01, .amsgrad = true);
}
wk_optim *test_adagrad(wk_tensors *parameters)
{
    return wk_optim_adagrad(parameters, .lr = 0.1, .lr_decay = 0.01);
}
wk_optim *test_lbfgs(wk_tensors *parameters)
{
    return wk_optim_lbfgs(parameters, .lr = 0.1, .max_iter = 3, .history_size = 5);
}

wk_schedule *test_cycles(wk_optim *optim)
{
    return wk_schedule_cyclic_lr(optim, 0.01, 0.1, .step_size_up = 5, .mode = "triangular2");
}

enum { FEATURES = 6, HIDDEN = 8, CLASSES = 3 };

/* A layer that counts its calls in a buffer. */
static wk_tensor *counted(wk_module *self, wk_tensor *x)
{
    wk_module_set_buffer(self, "calls", wk_add(wk_module_buffer(self, "calls"), 1));
    return x;
}

static wk_module *counter(void)
{
    static const wk_module_kind kind = {.size = sizeof kind, .name = "counter", .forward1 = counted};
    wk_module *m = wk_module_new(&kind);
    wk_module_set_buffer(m, "calls", wk_full((), 0));
    return m;
}

static wk_dataset *samples(int64_t count)
{
    wk_tensor *x = wk_reshape(wk_sin(wk_arange((double)(count * FEATURES))), (count, FEATURES));
    return wk_data_tensors(x, wk_remainder(wk_arange(count), CLASSES));
}

test_training test_begin(const test_config *plan, uint64_t seed)
{
    test_training t = {.plan = *plan};
    wk_seed(seed);
    t.net = wk_nn_sequential(wk_nn_linear(FEATURES, HIDDEN), counter(), wk_nn_tanh(), wk_nn_dropout(0.25),
                             wk_nn_linear(HIDDEN, CLASSES));
    wk_module_to(t.net, plan->device);
    t.optim = plan->optimiser(wk_parameters(t.net));
    t.schedule = plan->schedule ? plan->schedule(t.optim) : NULL;
    t.loader =
        wk_data_loader(samples(plan->samples), .batch_size = plan->batch, .shuffle = !plan->in_order, .seed = 5,
                       .drop_last = plan->drop_last, .rank = plan->rank, .world = plan->world, .device = plan->device);
    t.more = wk_tensors_new();
    wk_tensors_add(t.more, "average", wk_to(wk_zeros((HIDDEN, FEATURES)), plan->device));
    if (plan->path)
        t.checkpoint = wk_checkpoint_new(plan->path, t.net, t.optim, t.loader, .tensors = t.more, .keep = plan->keep,
                                         .blocking = plan->blocking);
    expect_ok();
    return t;
}

static wk_tensor *closure(void *user)
{
    test_training *t = user;
    wk_optim_zero_grad(t->optim);
    wk_tensor *loss = wk_cross_entropy(wk_forward(t->net, t->batch->x), t->batch->y);
    wk_backward(loss);
    wk_tensors *parameters = wk_parameters(t->net);
    for (int k = 0; k < wk_tensors_count(parameters) && t->reduce; k++)
        wk_dist_all_reduce_(wk_grad_of(wk_tensors_get(parameters, k)), .op = WK_DIST_AVG);
    return loss;
}

int test_train(test_training *t, int64_t epochs, int steps, int64_t every)
{
    int taken = 0;
    for (int64_t epoch = wk_loader_epoch(t->loader); epoch < epochs && taken != steps && !wk_error(); epoch++)
        WK_EACH(batch, t->loader)
        {
            t->batch = batch;
            wk_optim_step_closure(t->optim, closure, t);
            if (t->schedule) wk_schedule_step(t->schedule);
            {
                WK_NO_GRAD;
                wk_lerp_(wk_tensors_get(t->more, 0), wk_module_parameter(t->net, "0.weight"), 0.1);
            }
            if (every) wk_checkpoint_every(t->checkpoint, every);
            if (++taken == steps) break;
        }
    return taken;
}

/* Updates an FNV-1a hash with the bytes of a tensor. */
static uint64_t add(uint64_t sum, wk_tensor *x)
{
    const size_t bytes = (size_t)wk_numel(x) * wk_dtype_size(wk_dtype_of(x));
    unsigned char *data = malloc(bytes + 1);
    if (wk_read(x, data, bytes) != WK_OK) fail_msg("%s", wk_error());
    for (size_t k = 0; k < bytes; k++) sum = (sum ^ data[k]) * 0x100000001b3u;
    free(data);
    return sum;
}

static uint64_t add_all(uint64_t sum, wk_tensors *list)
{
    for (int k = 0; k < wk_tensors_count(list); k++) sum = add(sum, wk_tensors_get(list, k));
    return sum;
}

uint64_t test_state(const test_training *t)
{
    WK_SCOPE;
    uint64_t sum = add_all(0xcbf29ce484222325u, wk_parameters(t->net));
    sum = add_all(add_all(sum, wk_buffers(t->net)), t->more);
    sum = add_all(sum, wk_optim_state(t->optim));
    sum = add(sum, wk_rand((4)));
    expect_ok();
    return sum;
}
