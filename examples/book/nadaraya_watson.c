/* SPDX-License-Identifier: Apache-2.0 */
/* Nadaraya-Watson regression: the prediction for a query is the mean of the values, weighted by a Gaussian kernel of
 * the distance between the query and the keys. The width of the kernel is learned. Dive into Deep Learning, Attention
 * Pooling by Similarity.
 *
 *     nadaraya_watson [DEVICE [EPOCHS [SVG [SEED]]]] */
#include "run.h"
#include <math.h>

enum { POINTS = 50, TESTS = 50 };

/* Returns the function without noise, 2 sin x + x^0.8. */
static wk_tensor *truth(wk_tensor *x)
{
    return wk_add(wk_mul(wk_sin(x), 2), wk_pow(x, 0.8));
}

/* Returns the weighted mean of the values for each query. queries (N); keys and values (N, M) or (M); w: 1 / width of
 * the kernel. */
static wk_tensor *attend(wk_tensor *queries, wk_tensor *keys, wk_tensor *values, wk_tensor *w)
{
    wk_tensor *distance = wk_sub(wk_unsqueeze(queries, 1), keys);
    wk_tensor *weights = wk_softmax(wk_div(wk_pow(wk_mul(distance, w), 2), -2), 1);
    return wk_sum(wk_mul(weights, values), (1));
}

/* Returns for each element of x (n) the other elements: (n, n - 1). */
static wk_tensor *others(wk_tensor *x)
{
    const int64_t n = wk_size(x, 0);
    wk_tensor *different = wk_ne(wk_eye(n), 1);
    return wk_reshape(wk_masked_select(wk_expand(x, (n, n)), different), (n, n - 1));
}

static void save(const run *r, wk_tensor *x, wk_tensor *y, wk_tensor *fixed, wk_tensor *learned)
{
    if (!r->svg) return;
    wk_plot *plot = wk_plot_new(.title = "Nadaraya-Watson regression", .x_label = "x");
    wk_plot_tensor(plot, "truth", x, y);
    wk_plot_tensor(plot, "w = 1", x, fixed);
    wk_plot_tensor(plot, "w learned", x, learned);
    wk_plot_save(plot, r->svg);
}

int main(int argc, char **argv)
{
    WK_SCOPE;
    const run r = read_run(5, argc, argv);
    WK_DEVICE(r.device);
    wk_tensor *x;
    wk_sort(wk_mul(wk_rand((POINTS)), 5), 0, false, &x, NULL);
    wk_tensor *y = wk_add(truth(x), wk_mul(wk_randn((POINTS)), 0.5));
    wk_tensor *x_test = wk_arange(0, 5, 5.0 / TESTS, .dtype = WK_F32), *y_test = truth(x_test);

    /* in training, each point is predicted from the others */
    wk_tensor *w = wk_rand((1), .requires_grad = true), *keys = others(x), *values = others(y);
    wk_optim *sgd = wk_optim_sgd(wk_list((w)), .lr = 0.5);
    double last = 0;
    for (int epoch = 1; epoch <= r.epochs && !wk_error(); epoch++) {
        WK_SCOPE;
        wk_tensor *loss = wk_mse_loss(attend(x, keys, values, w), y, .reduction = WK_REDUCE_SUM);
        wk_optim_zero_grad(sgd);
        wk_backward(loss);
        wk_optim_step(sgd);
        printf("epoch %d  loss %.4f\n", epoch, last = wk_item(loss));
    }
    WK_NO_GRAD;
    wk_tensor *fixed = attend(x_test, x, y, wk_ones((1))), *learned = attend(x_test, x, y, w);
    save(&r, x_test, y_test, fixed, learned);
    printf("result: loss %.3f, learned w %.2f; test error of the mean %.3f, of w = 1 %.3f, of the learned w %.3f\n",
           last, wk_item(w), wk_item(wk_mse_loss(wk_expand(wk_mean(y), (TESTS)), y_test)),
           wk_item(wk_mse_loss(fixed, y_test)), wk_item(wk_mse_loss(learned, y_test)));
    return wk_report_error(stderr);
}
