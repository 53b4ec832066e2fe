/* SPDX-License-Identifier: Apache-2.0 */
/* DCGAN: transposed convolutions generate digits from noise, and convolutions distinguish them from real ones. Dive
 * into Deep Learning, Deep Convolutional Generative Adversarial Networks.
 *
 *     dcgan [DEVICE [EPOCHS [SVG [SEED]]]]
 *
 * If SVG is given, generated digits are written to digits.png in the same folder. The book generates sprites of 64 x 64
 * pixels, with four times as many channels and one more block. */
#include "adversaries.h"
#include <string.h>

enum { LATENT = 100, CHANNELS = 16, SIZE = 32, DIGITS = 3000, SHOWN = 64 };

/* Creates a block that doubles height and width or, as the first one, maps 1 x 1 to 4 x 4. */
static wk_module *up(int64_t in, int64_t out, bool first)
{
    return wk_nn_sequential(
        wk_nn_conv_transpose2d(in, out, 4, .stride = first ? 1 : 2, .padding = first ? 0 : 1, .no_bias = true),
        wk_nn_batch_norm2d(out), wk_nn_relu());
}

/* Creates a block that halves height and width. */
static wk_module *down(int64_t in, int64_t out)
{
    return wk_nn_sequential(wk_nn_conv2d(in, out, 4, .stride = 2, .padding = 1, .no_bias = true),
                            wk_nn_batch_norm2d(out), wk_nn_leaky_relu(.negative_slope = 0.2));
}

/* Returns digits of SIZE x SIZE pixels with values from -1 to 1, the range of tanh. */
static wk_dataset *new_digits(void)
{
    wk_loader *all =
        wk_data_loader(wk_data_slice(wk_data_mnist("data/mnist", .train = false), 0, DIGITS), .batch_size = DIGITS);
    wk_tensor *x = NULL;
    WK_EACH(batch, all) x = wk_keep(wk_sub(wk_mul(wk_pad(batch->x, (2, 2, 2, 2)), 2), 1));
    return wk_data_tensors(x, NULL);
}

int main(int argc, char **argv)
{
    WK_SCOPE;
    const run r = read_run(5, argc, argv);
    wk_module *generator = wk_nn_sequential(
        up(LATENT, 4 * CHANNELS, true), up(4 * CHANNELS, 2 * CHANNELS, false), up(2 * CHANNELS, CHANNELS, false),
        wk_nn_conv_transpose2d(CHANNELS, 1, 4, .stride = 2, .padding = 1, .no_bias = true), wk_nn_tanh());
    wk_module *discriminator =
        wk_nn_sequential(down(1, CHANNELS), down(CHANNELS, 2 * CHANNELS), down(2 * CHANNELS, 4 * CHANNELS),
                         wk_nn_conv2d(4 * CHANNELS, 1, 4, .no_bias = true));
    const gan_training t = {
        .name = "DCGAN", .batch = 64, .latent = {LATENT, 1, 1}, .dims = 3, .lr_d = 0.005, .lr_g = 0.005, .beta1 = 0.5};
    const int status = train_adversaries(generator, discriminator, new_digits(), &t, &r);
    if (status || !r.svg) return status;
    WK_NO_GRAD;
    char path[1000];
    const char *slash = strrchr(r.svg, '/');
    snprintf(path, sizeof path, "%.*sdigits.png", slash ? (int)(slash + 1 - r.svg) : 0, r.svg);
    wk_tensor *generated = wk_forward(generator, wk_randn((SHOWN, LATENT, 1, 1), .device = r.device));
    wk_image_write(path, wk_image_grid(wk_to(wk_div(wk_add(generated, 1), 2), wk_cpu()), .padding = 1));
    return wk_report_error(stderr);
}
