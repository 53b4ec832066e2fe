/* SPDX-License-Identifier: Apache-2.0 */
/* Maximum likelihood: the probability of heads of a coin, by gradient descent; naive Bayes on digits of black and white
 * pixels; and a linear classifier that compares images with two means. Dive into Deep Learning, Mathematics for Deep
 * Learning.
 *
 *     likelihood [DEVICE] */
#include "run.h"

enum { DIGITS = 10000, TRAINED = 9000, CLASSES = 10, PIXELS = 784, STEPS = 100 };

/* Returns the theta that maximises theta^heads (1 - theta)^tails. */
static double coin(double heads, double tails)
{
    wk_tensor *theta = wk_full((), 0.5, .dtype = WK_F64, .requires_grad = true);
    wk_optim *sgd = wk_optim_sgd(wk_list((theta)), .lr = 1e-9);
    for (int step = 0; step < STEPS; step++) {
        WK_SCOPE;
        wk_tensor *loss = wk_neg(wk_add(wk_mul(wk_log(theta), heads), wk_mul(wk_log(wk_sub(1, theta)), tails)));
        wk_optim_zero_grad(sgd);
        wk_backward(loss);
        wk_optim_step(sgd);
    }
    printf("theta %.6f, share of heads %.6f\n", wk_item(theta), heads / (heads + tails));
    return wk_item(theta);
}

/* Reads the digits with indices [from, to) into x (N, PIXELS) and their labels into y (N). */
static void read_digits(int64_t from, int64_t to, wk_tensor **x, wk_tensor **y)
{
    wk_loader *all =
        wk_data_loader(wk_data_slice(wk_data_mnist("data/mnist", .train = false), from, to), .batch_size = to - from);
    WK_EACH(batch, all)
    {
        *x = wk_keep(wk_flatten(batch->x, 1));
        *y = wk_keep(batch->y);
    }
}

/* Returns the test accuracy of naive Bayes, which assumes that pixels are independent given the class. Counts start at
 * 1 (Laplace smoothing). */
static double naive_bayes(wk_tensor *x, wk_tensor *y, wk_tensor *x_test, wk_tensor *y_test)
{
    wk_tensor *classes = wk_to_dtype(wk_one_hot(y, CLASSES), WK_F32); /* (N, CLASSES) */
    wk_tensor *count = wk_sum(classes, (0)), *black = wk_to_dtype(wk_ge(x, 0.5), WK_F32);
    wk_tensor *p = wk_div(wk_add(wk_matmul(wk_t(classes), black), 1), wk_unsqueeze(wk_add(count, 2), 1));
    wk_tensor *prior = wk_log(wk_div(count, wk_sum(count)));
    black = wk_to_dtype(wk_ge(x_test, 0.5), WK_F32);
    wk_tensor *scores =
        wk_add(wk_matmul(black, wk_t(wk_log(p))), wk_matmul(wk_sub(1, black), wk_t(wk_log(wk_sub(1, p)))));
    return wk_item(accuracy(wk_add(scores, prior), y_test));
}

/* Returns the test accuracy of a linear classifier of digits 0 and 1: its weights are the difference of their mean
 * images, and the boundary is halfway between the means. */
static double mean_difference(wk_tensor *x, wk_tensor *y, wk_tensor *x_test, wk_tensor *y_test)
{
    wk_tensor *mean[2];
    for (int k = 0; k < 2; k++) mean[k] = wk_mean(wk_index_select(x, 0, wk_flatten(wk_nonzero(wk_eq(y, k)), 0)), (0));
    wk_tensor *w = wk_sub(mean[1], mean[0]);
    wk_tensor *middle = wk_dot(w, wk_div(wk_add(mean[0], mean[1]), 2));
    wk_tensor *chosen = wk_flatten(wk_nonzero(wk_lt(y_test, 2)), 0);
    wk_tensor *predicted = wk_gt(wk_mv(wk_index_select(x_test, 0, chosen), w), middle);
    wk_tensor *correct = wk_eq(wk_to_dtype(predicted, WK_I64), wk_index_select(y_test, 0, chosen));
    return wk_item(wk_mean(wk_to_dtype(correct, WK_F32)));
}

int main(int argc, char **argv)
{
    WK_SCOPE;
    const run r = read_run(1, argc, argv);
    WK_DEVICE(r.device);
    wk_tensor *x, *y, *x_test, *y_test;
    read_digits(0, TRAINED, &x, &y);
    read_digits(TRAINED, DIGITS, &x_test, &y_test);
    const double theta = coin(8675309, 256245);
    WK_NO_GRAD;
    printf("result: theta %.6f; naive Bayes %.3f, difference of means %.3f\n", theta, naive_bayes(x, y, x_test, y_test),
           mean_difference(x, y, x_test, y_test));
    return wk_report_error(stderr);
}
