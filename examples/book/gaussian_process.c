/* SPDX-License-Identifier: Apache-2.0 */
/* Gaussian process regression: learns the length, scale and noise of the kernel by maximising the likelihood of noisy
 * points, and computes the posterior at other points in closed form. Dive into Deep Learning, Gaussian Process
 * Inference.
 *
 *     gaussian_process [DEVICE [EPOCHS [SVG [SEED]]]]
 *
 * The likelihood is a custom function with its own gradient, because the library has no Cholesky decomposition. */
#include "run.h"
#include <math.h>

enum { POINTS = 50, TESTS = 500 };

/* ---- linear algebra ---------------------------------------------------------------------------------------------- */

/* Replaces the symmetric positive definite matrix k by its inverse. Returns the logarithm of the determinant of k. */
static double invert(double k[POINTS][POINTS])
{
    static double l[POINTS][POINTS], inverse[POINTS][POINTS]; /* k = l l^T; inverse of l; lower triangular */
    double log_determinant = 0;
    for (int i = 0; i < POINTS; i++)
        for (int j = 0; j <= i; j++) {
            double sum = k[i][j];
            for (int m = 0; m < j; m++) sum -= l[i][m] * l[j][m];
            l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
        }
    for (int j = 0; j < POINTS; j++) {
        log_determinant += 2 * log(l[j][j]);
        for (int i = j; i < POINTS; i++) {
            double sum = i == j;
            for (int m = j; m < i; m++) sum -= l[i][m] * inverse[m][j];
            inverse[i][j] = sum / l[i][i];
        }
    }
    for (int i = 0; i < POINTS; i++)
        for (int j = 0; j < POINTS; j++) {
            k[i][j] = 0;
            for (int m = i > j ? i : j; m < POINTS; m++) k[i][j] += inverse[m][i] * inverse[m][j];
        }
    return log_determinant;
}

/* Returns the inverse of a matrix (POINTS, POINTS); sets *log_determinant unless it is NULL. */
static wk_tensor *inverse_of(wk_tensor *k, double *log_determinant)
{
    static double at[POINTS][POINTS];
    wk_read(k, at, sizeof at);
    const double logarithm = invert(at);
    if (log_determinant) *log_determinant = logarithm;
    return wk_from(&at[0][0], (POINTS, POINTS), .device = wk_device_of(k));
}

/* K (POINTS, POINTS), y (POINTS) -> (y^T K^-1 y + log det K + POINTS log 2 pi) / (2 POINTS) */
static void likelihood_forward(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    double log_determinant;
    wk_tensor *inverse = inverse_of(in[0], &log_determinant), *alpha = wk_mv(inverse, in[1]);
    wk_function_save(f, inverse);
    wk_function_save(f, alpha);
    wk_tensor *sum = wk_add(wk_dot(in[1], alpha), log_determinant + POINTS * log(2 * acos(-1)));
    out[0] = wk_div(sum, 2 * POINTS);
}

/* The gradient of K is (K^-1 - alpha alpha^T) / (2 POINTS) with alpha = K^-1 y; y has none. */
static void likelihood_backward(wk_function *f, wk_tensor *const grad_out[], wk_tensor *grad_in[])
{
    wk_tensor *inverse = wk_function_saved(f, 0), *alpha = wk_function_saved(f, 1);
    grad_in[0] = wk_mul(wk_div(wk_sub(inverse, wk_outer(alpha, alpha)), 2 * POINTS), grad_out[0]);
}

static const wk_function_kind likelihood = {.size = sizeof likelihood,
                                            .name = "negative_log_likelihood",
                                            .inputs = 2,
                                            .outputs = 1,
                                            .forward = likelihood_forward,
                                            .backward = likelihood_backward};

/* ---- the Gaussian process ---------------------------------------------------------------------------------------- */

/* The logarithms of the parameters, f64 of shape (): the length, and the variances scale and noise. */
typedef struct process {
    wk_tensor *length, *scale, *noise;
} process;

/* Returns scale exp(-(a - b)^2 / (2 length^2)) for all pairs of elements of a (N) and b (M): (N, M). */
static wk_tensor *kernel(const process *p, wk_tensor *a, wk_tensor *b)
{
    wk_tensor *distance = wk_div(wk_sub(wk_unsqueeze(a, 1), b), wk_exp(p->length));
    return wk_mul(wk_exp(wk_div(wk_pow(distance, 2), -2)), wk_exp(p->scale));
}

/* Returns the covariance of noisy values at x (POINTS). */
static wk_tensor *noisy_kernel(const process *p, wk_tensor *x)
{
    wk_tensor *eye = wk_eye(POINTS, .dtype = WK_F64, .device = wk_device_of(x));
    return wk_add(kernel(p, x, x), wk_mul(eye, wk_exp(p->noise)));
}

/* Returns the function without noise, sin x + sin(4 x) / 2. */
static wk_tensor *truth(wk_tensor *x)
{
    return wk_add(wk_sin(x), wk_mul(wk_sin(wk_mul(x, 4)), 0.5));
}

int main(int argc, char **argv)
{
    WK_SCOPE;
    const run r = read_run(50, argc, argv);
    WK_DEVICE(r.device);
    wk_tensor *x = wk_linspace(0, 5, POINTS, .dtype = WK_F64), *x_test = wk_linspace(0, 5, TESTS, .dtype = WK_F64);
    wk_tensor *y = wk_add(truth(x), wk_mul(wk_randn((POINTS), .dtype = WK_F64), 0.25));
    const process p = {.length = wk_full((), log(0.4), .dtype = WK_F64, .requires_grad = true),
                       .scale = wk_zeros((), .dtype = WK_F64, .requires_grad = true),
                       .noise = wk_full((), 2 * log(0.5), .dtype = WK_F64, .requires_grad = true)};
    wk_optim *adam = wk_optim_adam(wk_list((p.length, p.scale, p.noise)), .lr = 0.1);
    double last = 0;
    for (int step = 1; step <= r.epochs && !wk_error(); step++) {
        WK_SCOPE;
        wk_tensor *loss = wk_apply(&likelihood, NULL, (noisy_kernel(&p, x), y));
        wk_optim_zero_grad(adam);
        wk_backward(loss);
        wk_optim_step(adam);
        last = wk_item(loss);
        if (is_reported(step, r.epochs))
            printf("step %2d  loss %.4f  length %.3f  noise %.3f\n", step, last, wk_item(wk_exp(p.length)),
                   wk_item(wk_exp(wk_div(p.noise, 2))));
    }

    WK_NO_GRAD;
    wk_tensor *inverse = inverse_of(noisy_kernel(&p, x), NULL), *k = kernel(&p, x_test, x);
    wk_tensor *mean = wk_mv(wk_matmul(k, inverse), y);
    wk_tensor *explained = wk_sum(wk_mul(wk_matmul(k, inverse), k), (1));
    wk_tensor *deviation = wk_sqrt(wk_sub(wk_exp(p.scale), explained));
    wk_tensor *error = wk_sub(mean, truth(x_test));
    if (r.svg) {
        wk_plot *plot = wk_plot_new(.title = "Gaussian process", .x_label = "x");
        wk_plot_tensor(plot, "truth", x_test, truth(x_test));
        wk_plot_tensor(plot, "mean", x_test, mean);
        wk_plot_tensor(plot, "mean + 2 deviations", x_test, wk_add(mean, wk_mul(deviation, 2)));
        wk_plot_tensor(plot, "mean - 2 deviations", x_test, wk_sub(mean, wk_mul(deviation, 2)));
        wk_plot_save(plot, r.svg);
    }
    wk_tensor *inside = wk_to_dtype(wk_le(wk_abs(error), wk_mul(deviation, 2)), WK_F64);
    printf("result: loss %.4f, length %.3f, scale %.3f, noise %.3f; error %.3f, within 2 deviations %.0f%%\n", last,
           wk_item(wk_exp(p.length)), wk_item(wk_exp(p.scale)), wk_item(wk_exp(wk_div(p.noise, 2))),
           sqrt(wk_item(wk_mean(wk_pow(error, 2)))), 100 * wk_item(wk_mean(inside)));
    return wk_report_error(stderr);
}
