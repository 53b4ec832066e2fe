/* SPDX-License-Identifier: Apache-2.0 */
/* A generative adversarial network: a linear generator learns to map noise to points that a discriminator cannot
 * distinguish from samples of a normal distribution. Dive into Deep Learning, Generative Adversarial Networks.
 *
 *     gan [DEVICE [EPOCHS [SVG [SEED]]]] */
#include "adversaries.h"

enum { POINTS = 1000, BATCH = 8, LATENT = 2 };

/* Prints the mean and the covariance of points (N, 2). */
static void describe(const char *name, wk_tensor *points)
{
    wk_tensor *mean = wk_mean(points, (0)), *rest = wk_sub(points, mean);
    wk_tensor *covariance = wk_div(wk_matmul(wk_t(rest), rest), (double)wk_size(points, 0));
    double m[2], c[4];
    wk_read(wk_to_dtype(mean, WK_F64), m, sizeof m);
    wk_read(wk_to_dtype(covariance, WK_F64), c, sizeof c);
    printf("%s: mean %.2f, %.2f, covariance %.2f, %.2f, %.2f\n", name, m[0], m[1], c[0], c[1], c[3]);
}

int main(int argc, char **argv)
{
    WK_SCOPE;
    const run r = read_run(20, argc, argv);
    wk_tensor *a = wk_of(float, (2, 2), 1, 2, -0.1F, 0.5F), *b = wk_of(float, (2), 1, 2);
    wk_tensor *points = wk_add(wk_matmul(wk_randn((POINTS, 2)), a), b);
    wk_module *generator = wk_nn_linear(LATENT, 2);
    wk_module *discriminator =
        wk_nn_sequential(wk_nn_linear(2, 5), wk_nn_tanh(), wk_nn_linear(5, 3), wk_nn_tanh(), wk_nn_linear(3, 1));
    const gan_training t = {
        .name = "GAN", .batch = BATCH, .latent = {LATENT}, .dims = 1, .lr_d = 0.05, .lr_g = 0.005, .beta1 = 0.9};
    const int status = train_adversaries(generator, discriminator, wk_data_tensors(points, NULL), &t, &r);
    WK_NO_GRAD;
    describe("points", points);
    describe("generated", wk_forward(generator, wk_randn((POINTS, LATENT), .device = r.device)));
    return status ? status : wk_report_error(stderr);
}
