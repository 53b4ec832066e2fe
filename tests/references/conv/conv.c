/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/conv/conv.c: the products of a convolution by plain loops. */
#include "references/reference.h"
#include "tensor/tensor.h"

enum { DIMS = 3 };
typedef enum role { X, W, Y, ROLES } role;

/* A convolution whose tensors are row-major: x (n, channels, size..), w (out, in, kernel..), y (n, out, result..). */
typedef struct geometry {
    int dims;
    int64_t n, groups, channels[2]; /* of x and of y */
    int64_t size[DIMS], kernel[DIMS], result[DIMS], stride[DIMS], padding[DIMS], dilation[DIMS];
} geometry;

static void read_image(const geometry *g, int ndim, const int64_t *shape, int64_t *n, int64_t *channels, int64_t size[])
{
    const int batched = ndim == g->dims + 2;
    *n = batched ? shape[0] : 1;
    *channels = shape[batched];
    for (int d = 0; d < g->dims; d++) size[d] = shape[batched + 1 + d];
}

static void read_weight(geometry *g, const int64_t *shape)
{
    for (int d = 0; d < g->dims; d++) g->kernel[d] = shape[2 + d];
}

/* Reads stride, padding, dilation, groups at args[3] .. args[6], and computes the size of y. */
static void read_convolution(geometry *g, const wk_value *args)
{
    reference_sizes(&args[3], g->dims, 1, g->stride);
    reference_sizes(&args[5], g->dims, 1, g->dilation);
    g->groups = wk__value_int(&args[6], 1);
    for (int d = 0; d < g->dims; d++) {
        const int64_t reach = g->dilation[d] * (g->kernel[d] - 1);
        if (args[4].kind == WK_VALUE_TEXT) {
            const bool same = args[4].text[0] == 's';
            g->padding[d] = same ? reach / 2 : 0;
            g->result[d] = same ? g->size[d] : (g->size[d] - reach - 1) / g->stride[d] + 1;
        } else {
            reference_sizes(&args[4], g->dims, 0, g->padding);
            g->result[d] = (g->size[d] + 2 * g->padding[d] - reach - 1) / g->stride[d] + 1;
        }
    }
}

/* Adds, to the tensor of role `result`, each product of the elements of the others. */
static void add_products(const geometry *g, role result, double *const of[ROLES])
{
    const int64_t in = g->channels[0] / g->groups, out = g->channels[1] / g->groups;
    int64_t kernel = 1, size = 1, spatial = 1;
    for (int d = 0; d < g->dims; d++) {
        kernel *= g->kernel[d];
        size *= g->size[d];
        spatial *= g->result[d];
    }
    for (int64_t n = 0; n < g->n; n++)
        for (int64_t o = 0; o < g->channels[1]; o++)
            for (int64_t t = 0; t < spatial; t++)
                for (int64_t c = 0; c < in; c++)
                    for (int64_t k = 0; k < kernel; k++) {
                        int64_t from = 0, rest_t = t, rest_k = k, step = 1;
                        bool inside = true;
                        for (int d = g->dims - 1; d >= 0; d--) {
                            const int64_t p = rest_t % g->result[d] * g->stride[d] +
                                              rest_k % g->kernel[d] * g->dilation[d] - g->padding[d];
                            inside = inside && p >= 0 && p < g->size[d];
                            from += p * step;
                            step *= g->size[d];
                            rest_t /= g->result[d];
                            rest_k /= g->kernel[d];
                        }
                        if (!inside) continue;
                        const int64_t at[ROLES] = {(n * g->channels[0] + o / out * in + c) * size + from,
                                                   (o * in + c) * kernel + k, (n * g->channels[1] + o) * spatial + t};
                        const role a = result == X ? W : X, b = result == Y ? W : Y;
                        of[result][at[result]] += of[a][at[a]] * of[b][at[b]];
                    }
}

static void add_bias(const reference_call *r, double *out, int64_t channels)
{
    if (r->inputs < 3) return;
    const int64_t total = reference_numel(&r->out[0]);
    int64_t spatial = 1;
    const int batched = r->in[0].ndim == r->in[1].ndim;
    for (int d = batched + 1; d < r->out[0].ndim; d++) spatial *= r->out[0].shape[d];
    for (int64_t k = 0; k < total; k++) out[k] += r->in[2].data[k / spatial % channels];
}

static double *image_out(reference_call *r, const geometry *g, bool batched, int64_t channels, const int64_t *size)
{
    int64_t shape[2 + DIMS] = {g->n};
    shape[batched] = channels;
    for (int d = 0; d < g->dims; d++) shape[batched + 1 + d] = size[d];
    return reference_out(r, 0, batched + 1 + g->dims, shape);
}

static void convolution(reference_call *r)
{
    geometry g = {.dims = r->in[1].ndim - 2};
    read_image(&g, r->in[0].ndim, r->in[0].shape, &g.n, &g.channels[0], g.size);
    read_weight(&g, r->in[1].shape);
    g.channels[1] = r->in[1].shape[0];
    read_convolution(&g, r->args);
    double *out = image_out(r, &g, r->in[0].ndim == r->in[1].ndim, g.channels[1], g.result);
    add_products(&g, Y, (double *[]){r->in[0].data, r->in[1].data, out});
    add_bias(r, out, g.channels[1]);
}

static void transposed_convolution(reference_call *r)
{
    geometry g = {.dims = r->in[1].ndim - 2};
    int64_t more[DIMS];
    read_image(&g, r->in[0].ndim, r->in[0].shape, &g.n, &g.channels[1], g.result);
    read_weight(&g, r->in[1].shape);
    reference_sizes(&r->args[3], g.dims, 1, g.stride);
    reference_sizes(&r->args[4], g.dims, 0, g.padding);
    reference_sizes(&r->args[5], g.dims, 0, more);
    g.groups = wk__value_int(&r->args[6], 1);
    reference_sizes(&r->args[7], g.dims, 1, g.dilation);
    g.channels[0] = r->in[1].shape[1] * g.groups;
    for (int d = 0; d < g.dims; d++)
        g.size[d] =
            (g.result[d] - 1) * g.stride[d] - 2 * g.padding[d] + g.dilation[d] * (g.kernel[d] - 1) + more[d] + 1;
    double *out = image_out(r, &g, r->in[0].ndim == r->in[1].ndim, g.channels[0], g.size);
    add_products(&g, X, (double *[]){out, r->in[1].data, r->in[0].data});
    add_bias(r, out, g.channels[0]);
}

static void input_gradient(reference_call *r)
{
    int ndim;
    const int64_t *size = wk__value_dims(&r->args[0], &ndim);
    geometry g = {.dims = r->in[0].ndim - 2};
    read_image(&g, ndim, size, &g.n, &g.channels[0], g.size);
    read_weight(&g, r->in[0].shape);
    g.channels[1] = r->in[0].shape[0];
    read_convolution(&g, r->args);
    double *out = reference_out(r, 0, ndim, size);
    add_products(&g, X, (double *[]){out, r->in[0].data, r->in[1].data});
}

static void weight_gradient(reference_call *r)
{
    int ndim;
    const int64_t *size = wk__value_dims(&r->args[1], &ndim);
    geometry g = {.dims = ndim - 2};
    read_image(&g, r->in[0].ndim, r->in[0].shape, &g.n, &g.channels[0], g.size);
    read_weight(&g, size);
    g.channels[1] = size[0];
    read_convolution(&g, r->args);
    double *out = reference_out(r, 0, ndim, size);
    add_products(&g, W, (double *[]){r->in[0].data, out, r->in[1].data});
}

static const char *const samples_1d[] = {"[2,3,7], [4,3,3], [4]",
                                         "[2,3,7], [4,3,3], none, 2, 1",
                                         "[3,7], [4,3,2], [4], (2), (0), 2",
                                         "[2,4,9], [6,2,3], [6], 1, \"same\", 2, 2",
                                         "[2,4,9], [4,1,4], none, 1, \"same\", 1, 4",
                                         "[0,3,7], [4,3,3], [4]",
                                         "[2,0,7], [4,0,3], [4]",
                                         "[2,3,7], [4,3,3], [4], 1, \"valid\"",
                                         NULL};
static const char *const samples_2d[] = {"[1,2,5,4], [3,2,3,2], [3]",
                                         "[2,2,4,4], [4,1,2,2], [4], (2,1), (1,0), 1, 2",
                                         "[1,2,4,5], [2,2,2,3], none, 1, \"same\", (1,2)",
                                         "[2,3,6,5], [4,3,3,2], [4]",
                                         "[2,3,6,5], [4,3,3,3], none, 2, 1",
                                         "[3,6,5], [4,3,1,3], [4], (1,2), (0,1), (1,2)",
                                         "[2,4,5,6], [6,2,3,2], [6], 1, \"same\", (2,1), 2",
                                         "[2,4,5,5], [4,1,3,3], none, (2,1), (1,1), 1, 4",
                                         "[2,8,5,5], [4,8,1,1], [4], 1",
                                         "[0,3,6,5], [4,3,3,2], [4]",
                                         NULL};
static const char *const samples_3d[] = {"[1,2,3,2,3], [2,2,2,2,2], [2]",
                                         "[1,2,2,3,4], [2,1,1,2,3], [2], (1,2,1), (0,1,1), (1,1,2), 2",
                                         "[2,2,4,3,5], [3,2,2,3,2], [3]",
                                         "[1,2,5,4,4], [2,1,3,2,2], none, (2,1,2), 1, 1, 2",
                                         "[2,4,3,5], [3,2,2,2,2], [3], 1, (0,1,1), (2,1,1)",
                                         NULL};
const op_reference op_reference_conv1d = {.reference = convolution, .samples = samples_1d, .low = -2, .high = 2};
const op_reference op_reference_conv2d = {.reference = convolution, .samples = samples_2d, .low = -2, .high = 2};
const op_reference op_reference_conv3d = {.reference = convolution, .samples = samples_3d, .low = -2, .high = 2};

static const char *const transposed_1d[] = {"[2,3,5], [3,4,3], [4]", "[2,4,5], [4,2,3], none, 2, 1, 1, 2",
                                            "[3,5], [3,2,2], [2], (3), (0), (2), 1, 2", "[0,3,5], [3,4,3], [4]", NULL};
static const char *const transposed_2d[] = {"[1,3,3,2], [3,2,2,3], [2]",
                                            "[2,2,3,2], [2,2,3,2], none, (2,1), (1,0), (1,0), 2",
                                            "[2,3,4,3], [3,4,2,3], [4]",
                                            "[2,4,3,4], [4,2,3,3], none, 2, 1, (1,0), 2",
                                            "[3,4,3], [3,2,2,2], [2], (2,3), 1, 1, 1, (2,1)",
                                            NULL};
static const char *const transposed_3d[] = {"[1,2,2,2,3], [2,2,2,1,2], [2]", "[2,2,3,2,3], [2,3,2,2,3], [3]",
                                            "[1,2,2,3,2], [2,1,2,3,2], none, (1,2,2), 1, (0,1,0), 2", NULL};
const op_reference op_reference_conv_transpose1d = {
    .reference = transposed_convolution, .samples = transposed_1d, .low = -2, .high = 2};
const op_reference op_reference_conv_transpose2d = {
    .reference = transposed_convolution, .samples = transposed_2d, .low = -2, .high = 2};
const op_reference op_reference_conv_transpose3d = {
    .reference = transposed_convolution, .samples = transposed_3d, .low = -2, .high = 2};

static const char *const input_1d[] = {"(2,3,8), [4,3,3], [2,4,4], 2, 1", "(3,7), [4,3,2], [4,3], 2, 0, 2",
                                       "(2,4,9), [4,2,4], [2,4,9], 1, \"same\", 1, 2", NULL};
static const char *const input_2d[] = {
    "(1,2,5,4), [3,2,3,2], [1,3,3,3]", "(2,2,4,4), [4,1,2,2], [2,4,3,3], (2,1), (1,0), 1, 2",
    "(2,3,6,5), [4,3,3,2], [2,4,4,4]", "(2,4,5,6), [4,2,3,3], [2,4,3,6], (2,1), 1, 1, 2", NULL};
static const char *const input_3d[] = {"(1,2,3,2,3), [2,2,2,2,2], [1,2,2,1,2]", "(1,2,4,3,5), [3,2,2,3,2], [1,3,3,1,4]",
                                       NULL};
const op_reference op_reference_conv1d_input = {.reference = input_gradient, .samples = input_1d, .low = -2, .high = 2};
const op_reference op_reference_conv2d_input = {.reference = input_gradient, .samples = input_2d, .low = -2, .high = 2};
const op_reference op_reference_conv3d_input = {.reference = input_gradient, .samples = input_3d, .low = -2, .high = 2};

static const char *const weight_1d[] = {"[2,3,8], (4,3,3), [2,4,4], 2, 1", "[3,7], (4,3,2), [4,3], 2, 0, 2",
                                        "[2,4,9], (4,2,4), [2,4,9], 1, \"same\", 1, 2", NULL};
static const char *const weight_2d[] = {
    "[1,2,5,4], (3,2,3,2), [1,3,3,3]",     "[2,2,4,4], (4,1,2,2), [2,4,3,3], (2,1), (1,0), 1, 2",
    "[2,3,6,5], (4,3,3,2), [2,4,4,4]",     "[2,4,5,6], (4,2,3,3), [2,4,3,6], (2,1), 1, 1, 2",
    "[0,1,20,20], (2,1,1,2), [0,2,20,19]", NULL};
static const char *const weight_3d[] = {"[1,2,3,2,3], (2,2,2,2,2), [1,2,2,1,2]",
                                        "[1,2,4,3,5], (3,2,2,3,2), [1,3,3,1,4]", NULL};
const op_reference op_reference_conv1d_weight = {
    .reference = weight_gradient, .samples = weight_1d, .low = -2, .high = 2};
const op_reference op_reference_conv2d_weight = {
    .reference = weight_gradient, .samples = weight_2d, .low = -2, .high = 2};
const op_reference op_reference_conv3d_weight = {
    .reference = weight_gradient, .samples = weight_3d, .low = -2, .high = 2};
