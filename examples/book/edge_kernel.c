/* SPDX-License-Identifier: Apache-2.0 */
/* A convolution that finds vertical edges: first with a kernel that is given, then with one that is learned from the
 * picture and its edges. Dive into Deep Learning, Convolutions for Images.
 *
 *     edge_kernel [DEVICE] */
#include <stdio.h>
#include <wick.h>

/* The sum of the products of the kernel with each window of x, by hand: two loops over windows, which are views. */
static wk_tensor *corr2d(wk_tensor *x, wk_tensor *kernel)
{
    const int64_t rows = wk_size(kernel, 0), columns = wk_size(kernel, 1);
    wk_tensor *y = wk_zeros((wk_size(x, 0) - rows + 1, wk_size(x, 1) - columns + 1), .device = wk_device_of(x));
    for (int64_t i = 0; i < wk_size(y, 0); i++)
        for (int64_t j = 0; j < wk_size(y, 1); j++) {
            wk_tensor *window = wk_narrow(wk_narrow(x, 0, i, rows), 1, j, columns);
            wk_copy_(wk_select(wk_select(y, 0, i), 0, j), wk_sum(wk_mul(window, kernel)));
        }
    return y;
}

int main(int argc, char **argv)
{
    WK_SCOPE;
    WK_DEVICE(argc > 1 ? wk_device_parse(argv[1]) : wk_try_gpu(0));
    wk_seed(1);

    /* a white picture with a black stripe, and its edges: 1 from white to black, -1 from black to white */
    wk_tensor *x = wk_ones((6, 8));
    wk_fill_(wk_narrow(x, 1, 2, 4), 0);
    wk_tensor *edge = wk_of(float, (1, 2), 1, -1);
    wk_tensor *y = corr2d(x, edge);
    wk_print(x);
    wk_print(y);
    wk_print(corr2d(wk_t(x), edge)); /* the kernel finds no horizontal edges */

    /* a layer with one channel in and out, and a gradient step written by hand */
    wk_module *conv = wk_nn_conv2d(1, 1, (1, 2), .no_bias = true);
    wk_tensor *kernel = wk_module_parameter(conv, "weight");
    x = wk_reshape(x, (1, 1, 6, 8));
    y = wk_reshape(y, (1, 1, 6, 7));
    const double lr = 0.03;
    for (int step = 1; step <= 10; step++) {
        WK_SCOPE;
        wk_tensor *loss = wk_sum(wk_pow(wk_sub(wk_forward(conv, x), y), 2));
        wk_backward(loss);
        {
            WK_NO_GRAD;
            wk_sub_(kernel, wk_mul(wk_grad_of(kernel), lr));
        }
        wk_set_grad(kernel, NULL);
        if (step % 2 == 0) printf("step %2d  loss %.3f\n", step, wk_item(loss));
    }
    wk_print(wk_reshape(wk_detach(kernel), (1, 2))); /* close to 1, -1 */
    return wk_report_error(stderr);
}
