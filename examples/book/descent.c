/* SPDX-License-Identifier: Apache-2.0 */
/* Gradient descent, Newton's method, momentum, Adagrad and RMSprop on functions of one and two variables. Dive into
 * Deep Learning, Optimization Algorithms.
 *
 *     descent [DEVICE [EPOCHS [SVG]]]
 *
 * EPOCHS is ignored: the numbers of steps are those of the book. */
#include "run.h"

typedef wk_tensor *function(wk_tensor *x);

static wk_tensor *square(wk_tensor *x)
{
    return wk_pow(x, 2);
}

static wk_tensor *cosh_half(wk_tensor *x)
{
    return wk_cosh(wk_mul(x, 0.5));
}

/* Returns a x1^2 + 2 x2^2. */
static wk_tensor *bowl(wk_tensor *x, double a)
{
    return wk_add(wk_mul(wk_pow(wk_select(x, 0, 0), 2), a), wk_mul(wk_pow(wk_select(x, 0, 1), 2), 2));
}

static wk_tensor *round_bowl(wk_tensor *x)
{
    return bowl(x, 1);
}

static wk_tensor *flat_bowl(wk_tensor *x)
{
    return bowl(x, 0.1);
}

/* Returns round_bowl with noise of standard deviation 1 in each derivative. */
static wk_tensor *noisy_bowl(wk_tensor *x)
{
    return wk_add(bowl(x, 1), wk_dot(x, wk_randn((2), .dtype = WK_F64)));
}

/* Prints f(x) and x, which has one or two elements. Returns f(x). */
static double report(const char *name, function *f, wk_tensor *x)
{
    double at[2];
    wk_read(x, at, sizeof(double) * (size_t)wk_numel(x));
    const double value = wk_item(f(x));
    printf("%-28s f %12.6f  x %.6f", name, value, at[0]);
    if (wk_numel(x) == 2) printf(", %.6f", at[1]);
    printf("\n");
    return value;
}

/* Takes steps of an optimiser, and prints and returns f(x) after them. */
static double descend(const char *name, function *f, wk_tensor *x, wk_optim *optim, int steps)
{
    for (int k = 0; k < steps; k++) {
        WK_SCOPE;
        wk_optim_zero_grad(optim);
        wk_backward(f(x));
        wk_optim_step(optim);
    }
    return report(name, f, x);
}

/* Takes steps x -= f'(x) / f''(x), with both derivatives by autograd, and prints f(x) after them. */
static void newton(function *f, wk_tensor *x, int steps)
{
    for (int k = 0; k < steps; k++) {
        WK_SCOPE;
        wk_tensor *first, *second;
        wk_grad((f(x)), (x), &first, .create_graph = true);
        wk_grad((first), (x), &second);
        WK_NO_GRAD;
        wk_sub_(x, wk_div(first, second));
    }
    report("Newton's method", f, x);
}

static wk_tensor *from_ten(void)
{
    return wk_full((), 10.0, .dtype = WK_F64, .requires_grad = true);
}

static wk_tensor *from_corner(void)
{
    return wk_of(double, (2), -5, -2, .requires_grad = true);
}

/* Writes a plot of the points that gradient descent visits on flat_bowl, without and with momentum. */
static void save(const run *r)
{
    if (!r->svg) return;
    wk_plot *plot = wk_plot_new(.title = "Descent from (-5, -2)", .x_label = "x1", .y_label = "x2");
    const double momentum[] = {0, 0.5};
    const char *const name[] = {"gradient descent", "momentum 0.5"};
    for (int m = 0; m < 2; m++) {
        wk_tensor *x = from_corner(), *path[21] = {wk_detach(wk_clone(x))};
        wk_optim *sgd = wk_optim_sgd(wk_list((x)), .lr = m ? 0.6 : 0.4, .momentum = momentum[m]);
        for (int k = 1; k <= 20; k++) {
            wk_optim_zero_grad(sgd);
            wk_backward(flat_bowl(x));
            wk_optim_step(sgd);
            path[k] = wk_detach(wk_clone(x));
        }
        wk_tensor *points = wk_stack(WK_ARRAY(path, 21), 1);
        wk_plot_tensor(plot, name[m], wk_select(points, 0, 0), wk_select(points, 0, 1));
    }
    wk_plot_save(plot, r->svg);
}

int main(int argc, char **argv)
{
    WK_SCOPE;
    const run r = read_run(1, argc, argv);
    WK_DEVICE(r.device);
    wk_tensor *x = from_ten();
    descend("x^2, rate 0.2", square, x, wk_optim_sgd(wk_list((x)), .lr = 0.2), 10);
    x = from_ten();
    descend("x^2, rate 0.05", square, x, wk_optim_sgd(wk_list((x)), .lr = 0.05), 10);
    x = from_ten();
    descend("x^2, rate 1.1", square, x, wk_optim_sgd(wk_list((x)), .lr = 1.1), 10);
    newton(cosh_half, from_ten(), 10);
    x = from_corner();
    descend("x1^2 + 2 x2^2, rate 0.1", round_bowl, x, wk_optim_sgd(wk_list((x)), .lr = 0.1), 20);
    x = from_corner();
    descend("with noise, 50 steps", noisy_bowl, x, wk_optim_sgd(wk_list((x)), .lr = 0.1), 50);
    x = from_corner();
    const double plain =
        descend("0.1 x1^2 + 2 x2^2, rate 0.4", flat_bowl, x, wk_optim_sgd(wk_list((x)), .lr = 0.4), 20);
    x = from_corner();
    descend("rate 0.6", flat_bowl, x, wk_optim_sgd(wk_list((x)), .lr = 0.6), 20);
    x = from_corner();
    const double momentum =
        descend("rate 0.6, momentum 0.5", flat_bowl, x, wk_optim_sgd(wk_list((x)), .lr = 0.6, .momentum = 0.5), 20);
    x = from_corner();
    descend("rate 0.6, momentum 0.25", flat_bowl, x, wk_optim_sgd(wk_list((x)), .lr = 0.6, .momentum = 0.25), 20);
    x = from_corner();
    descend("Adagrad, rate 0.4", flat_bowl, x, wk_optim_adagrad(wk_list((x)), .lr = 0.4), 20);
    x = from_corner();
    const double adagrad = descend("Adagrad, rate 2", flat_bowl, x, wk_optim_adagrad(wk_list((x)), .lr = 2), 20);
    x = from_corner();
    const double rmsprop = descend("RMSprop, rate 0.4, alpha 0.9", flat_bowl, x,
                                   wk_optim_rmsprop(wk_list((x)), .lr = 0.4, .alpha = 0.9), 20);
    save(&r);
    printf("result: 0.1 x1^2 + 2 x2^2 after 20 steps: gradient descent %.6f, momentum %.6f, Adagrad %.6f, "
           "RMSprop %.6f\n",
           plain, momentum, adagrad, rmsprop);
    return wk_report_error(stderr);
}
