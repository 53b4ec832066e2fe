/* SPDX-License-Identifier: Apache-2.0 */
/* stack KILOBYTES: a thread with so small a stack makes, trains, sorts, saves and prints. Ends with 0 if all
 * is well. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <wick.h>

static void *work(void *path)
{
    WK_SCOPE;
    wk_module *net = wk_nn_sequential(wk_nn_linear(40, 64), wk_nn_layer_norm((64)), wk_nn_gelu(), wk_nn_dropout(0.1),
                                      wk_nn_linear(64, 10));
    wk_optim *adam = wk_optim_adam(wk_parameters(net), .lr = 1e-3);
    wk_loader *batches = wk_data_loader(wk_data_tensors(wk_randn((96, 40)), wk_randint(0, 10, (96))), .batch_size = 32);
    WK_EACH(batch, batches)
    {
        wk_tensor *loss = wk_cross_entropy(wk_forward(net, batch->x), batch->y);
        wk_optim_zero_grad(adam);
        wk_backward(loss);
        wk_optim_step(adam);
    }
    wk_tensor *x = wk_randn((40, 40), .requires_grad = true), *values, *places;
    wk_backward(wk_sum(wk_matmul(x, wk_softmax(x, 1))));
    wk_sort(x, 1, false, &values, &places);
    wk_item(wk_sum(wk_grad_of(x)));
    wk_item(wk_var(wk_rand((3, 200000)), (1)) ? wk_sum(wk_var(wk_rand((3, 200000)), (1)))
                                              : NULL); /* columns in pieces */
    wk_item(wk_sum(wk_matmul(wk_rand((300, 300), .dtype = WK_F64), wk_rand((300, 300), .dtype = WK_F64))));
    wk_item(wk_sum(wk_argsort(wk_rand((50000)), 0, false)));
    (void)wk_tensor_str(values);
    wk_save(net, path);
    wk_load(net, path);
    (void)wk_matmul(x, wk_ones((3, 3)));
    wk_clear_error();
    return wk_error() ? NULL : path;
}

int main(int argc, char **argv)
{
    pthread_attr_t attributes;
    pthread_t thread;
    void *done = NULL;
    if (argc != 3) return 2;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, (size_t)atoi(argv[1]) * 1024) != 0) return 3;
    if (pthread_create(&thread, &attributes, work, argv[2]) != 0) return 4;
    pthread_join(thread, &done);
    return done ? 0 : 1;
}
