/* SPDX-License-Identifier: Apache-2.0 */
/* conv1d to conv3d, conv_transpose1d to 3d, and their gradients conv1d_input, conv1d_weight to 3d. Each is one
 * contraction, and each is differentiated by the others: an op computes one of x, w, y (convolution.h) from the other
 * two, and the gradient by an operand is the product that computes the operand's role, with the gradient in the role of
 * the result. */
#include "base/alloc.h"
#include "base/sizes.h"
#include "convolution.h"
#include "ops/core/compose.h"
#include "ops/core/entries.h"
#include <string.h>

/* The roles of an op's result and of its operands. */
typedef struct conv_op {
    const wk__op *op;
    int dims;
    wk__conv_role result, operand[2];
} conv_op;

/* ---- geometry ---------------------------------------------------------------------------------------------------- */

static bool read_steps(wk_site site, const conv_op *k, wk_sizes stride, wk_sizes dilation, int64_t groups,
                       wk__convolution *c)
{
    c->dims = k->dims;
    c->groups = groups ? groups : 1;
    if (c->groups < 1) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: groups must be at least 1, got %lld", k->op->name, (long long)groups);
        return false;
    }
    return wk__sizes_read(site, k->op->name, &wk__stride_rule, stride, k->dims, c->stride) &&
           wk__sizes_read(site, k->op->name, &wk__dilation_rule, dilation, k->dims, c->dilation);
}

/* Takes channels, groups and kernel from the shape of w. */
static bool take_weight(wk_site site, const conv_op *k, wk_tensor *const in[], int ndim, const int64_t *shape,
                        wk__convolution *c)
{
    if (ndim != c->dims + 2) {
        wk__call_error(k->op->name, site, WK_ERR_SHAPE, in, "the weight must have %d dimensions, got %d: $a and $b",
                       c->dims + 2, ndim);
        return false;
    }
    if (shape[0] % c->groups != 0 || shape[0] <= 0 || shape[1] < 0) {
        wk__call_error(k->op->name, site, WK_ERR_SHAPE, in,
                       "the first size of the weight, %lld, must be a positive multiple of groups (%lld): $a and $b",
                       (long long)shape[0], (long long)c->groups);
        return false;
    }
    c->out = shape[0] / c->groups;
    c->in = shape[1];
    memcpy(c->kernel, shape + 2, sizeof *shape * (size_t)c->dims);
    for (int d = 0; d < c->dims; d++) {
        if (c->kernel[d] > 0) continue;
        wk__call_error(k->op->name, site, WK_ERR_SHAPE, in, "a kernel without elements: $a and $b");
        return false;
    }
    return true;
}

/* Takes the samples and the spatial sizes of x or y, whose channels must be those of the weight. */
static bool take_image(wk_site site, const conv_op *k, wk_tensor *const in[], wk__conv_role role, int ndim,
                       const int64_t *shape, wk__convolution *c)
{
    const int batched = ndim == c->dims + 2;
    int64_t channels;
    if (!wk__mul_size(c->groups, role == WK__CONV_X ? c->in : c->out, &channels)) channels = INT64_MAX;
    if (ndim != c->dims + 1 && ndim != c->dims + 2) {
        wk__call_error(
            k->op->name, site, WK_ERR_SHAPE, in,
            "expected an input of %d dimensions (samples, channels, %d spatial), or of %d for one sample: $a "
            "and $b%s",
            c->dims + 2, c->dims, c->dims + 1, wk__unsqueeze_hint(ndim, c->dims + 1));
        return false;
    }
    if (shape[batched] != channels) {
        wk__call_error(k->op->name, site, WK_ERR_SHAPE, in,
                       "the input has %lld channels, but the weight expects %lld (groups = %lld): $a and $b",
                       (long long)shape[batched], (long long)channels, (long long)c->groups);
        return false;
    }
    for (int d = 0; d < ndim; d++) {
        if (shape[d] >= 0) continue;
        wk__call_error(k->op->name, site, WK_ERR_SHAPE, in, "a negative size, %lld: $a and $b", (long long)shape[d]);
        return false;
    }
    c->unbatched = !batched;
    c->n = batched ? shape[0] : 1;
    memcpy(role == WK__CONV_X ? c->size : c->result, shape + batched + 1, sizeof *shape * (size_t)c->dims);
    return true;
}

/* Reads .padding of a convolution: numbers, WK_VALID, or WK_SAME, whose odd element is after the last. after[] receives
 * the padding after the last element. */
static bool read_padding(wk_site site, const conv_op *k, wk_sizes padding, wk__convolution *c, int64_t after[])
{
    const wk__sizes_rule rule = {.name = "padding", .pads = true};
    if (padding != WK_SAME) {
        if (!wk__sizes_read(site, k->op->name, &rule, padding == WK_VALID ? 0 : padding, c->dims, c->padding))
            return false;
        memcpy(after, c->padding, sizeof *after * (size_t)c->dims);
        return true;
    }
    for (int d = 0; d < c->dims; d++) {
        int64_t both;
        if (c->stride[d] != 1) {
            wk__error_set(site, WK_ERR_ARGUMENT, "%s: padding WK_SAME needs stride 1, got %lld; write the padding",
                          k->op->name, (long long)c->stride[d]);
            return false;
        }
        if (!wk__mul_size(c->dilation[d], c->kernel[d] - 1, &both)) both = INT64_MAX;
        c->padding[d] = both / 2;
        after[d] = both - both / 2;
    }
    return true;
}

/* Computes the size of y along d, or -1 if the kernel exceeds the padded input. */
static int64_t result_size(const wk__convolution *c, int64_t after, int d)
{
    int64_t padded, reach;
    if (!wk__mul_size(c->dilation[d], c->kernel[d] - 1, &reach) ||
        __builtin_add_overflow(c->size[d], c->padding[d], &padded) || __builtin_add_overflow(padded, after, &padded))
        return -1;
    return padded > reach ? (padded - reach - 1) / c->stride[d] + 1 : -1;
}

static bool compute_result(wk_site site, const conv_op *k, wk_tensor *const in[], const int64_t after[],
                           wk__convolution *c)
{
    for (int d = 0; d < c->dims; d++) {
        c->result[d] = result_size(c, after[d], d);
        if (c->result[d] >= 0) continue;
        wk__call_error(k->op->name, site, WK_ERR_SHAPE, in,
                       "the kernel (%lld, dilation %lld) exceeds the padded input (%lld + %lld) in spatial dimension "
                       "%d: $a and $b",
                       (long long)c->kernel[d], (long long)c->dilation[d], (long long)c->size[d],
                       (long long)(c->padding[d] + after[d]), d);
        return false;
    }
    return true;
}

/* ---- calls and gradients ----------------------------------------------------------------------------------------- */

/* Returns the attributes of a node: the part of the geometry that the shapes of its operands do not determine. */
static wk__attr attr_of(const wk__convolution *c)
{
    wk__attr attr = {.i = {c->groups}};
    memcpy(attr.list, c->stride, sizeof c->stride);
    memcpy(attr.list2, c->padding, sizeof c->padding);
    memcpy(attr.list3, c->dilation, sizeof c->dilation);
    return attr;
}

static bool check_dtypes(wk_site site, const conv_op *k, wk_tensor *const in[], int count)
{
    const wk_dtype dtype = wk__body_of(in[0])->dtype;
    if (!(k->op->dtypes >> dtype & 1)) {
        wk__call_error(k->op->name, site, WK_ERR_DTYPE, in, "expected operands of numbers, got $a and $b");
        return false;
    }
    if (wk__body_of(in[1])->dtype == dtype && (count < 3 || wk__body_of(in[2])->dtype == dtype)) return true;
    wk__call_error(k->op->name, site, WK_ERR_DTYPE, in,
                   count < 3 ? "$a and $b have different dtypes; convert one with wk_to_dtype"
                             : "$a, $b and $c have different dtypes; convert them with wk_to_dtype");
    return false;
}

/* Adds bias to each channel of out. */
static wk_tensor *add_bias(const wk__convolution *c, wk_tensor *out, wk_tensor *bias)
{
    int64_t shape[1 + WK__CONV_DIMS] = {wk__body_of(bias)->shape[0], 1, 1, 1};
    return wk_add(out, wk_reshape_at((wk_site){0}, wk__to_opmath(bias), shape, 1 + c->dims));
}

static bool check_bias(wk_site site, const conv_op *k, wk_tensor *const in[], int64_t channels)
{
    const wk__body *bias = wk__body_of(in[2]);
    if (bias->ndim == 1 && bias->shape[0] == channels) return true;
    wk__call_error(k->op->name, site, WK_ERR_SHAPE, in, "bias must have one element for each of %lld channels, got $c",
                   (long long)channels);
    return false;
}

/* Returns the weight for a gradient by x, of which the channels of x are the rows. On the CPU a copy with these
 * outermost is read in place or packed in runs, where the weight itself is gathered. Algorithms that pack it once
 * (contraction_row_lanes.h) gain little; others pack it for each piece of the result, so that it pays if there are many
 * positions: without the copy, kernels of 1x1 and few channels took up to a sixth longer. */
static wk_tensor *with_rows_of_x(const wk__convolution *c, wk_tensor *weight)
{
    enum { LEAST_POSITIONS = 1024 };
    double positions = (double)c->n;
    for (int d = 0; d < c->dims; d++) positions *= (double)c->result[d];
    if (!weight || c->groups > 1 || positions < LEAST_POSITIONS || wk_device_of(weight).kind != WK_CPU) return weight;
    return wk_transpose(wk_contiguous(wk_transpose(weight, 0, 1)), 0, 1);
}

/* Computes the op's result from its two operands and the optional in[2], a bias, whose geometry is c. */
static wk_tensor *call(wk_site site, const conv_op *k, wk_tensor *in[3], const wk__convolution *c)
{
    wk__compose scope;
    if (!wk__compose_begin(&scope, k->op, site, in, in[2] ? 3 : 2)) return NULL;
    wk_tensor *of[WK__CONV_ROLES] = {NULL}, *out = NULL;
    const int64_t channels = c->groups * (k->result == WK__CONV_X ? c->in : c->out);
    of[k->operand[0]] = wk__to_opmath(in[0]);
    of[k->operand[1]] = wk__to_opmath(in[1]);
    if (k->result == WK__CONV_X) of[WK__CONV_W] = with_rows_of_x(c, of[WK__CONV_W]);
    if (of[k->operand[0]] && of[k->operand[1]] && (!in[2] || check_bias(site, k, in, channels)))
        out = wk__convolution_record(k->op, site, c, k->result, of);
    if (out && in[2]) out = add_bias(c, out, in[2]);
    const wk__attr attr = attr_of(c);
    return wk__compose_end(&scope, wk_to_dtype_at(site, out, wk__body_of(in[0])->dtype), &attr);
}

static const conv_op *op_with_result(wk__conv_role result, int dims);

/* Restores the geometry from a node: the shapes of two roles are those of its operands, the third is that of its
 * result's gradient. */
static void geometry_of(const wk__grad_ctx *g, const conv_op *k, wk__convolution *c)
{
    const wk__body *grad = wk__body_of(g->out[0]);
    const int64_t *shape[WK__CONV_ROLES];
    shape[k->operand[0]] = g->node->shape[0].size;
    shape[k->operand[1]] = g->node->shape[1].size;
    shape[k->result] = grad->shape;
    const int image_ndim = k->result == WK__CONV_W ? g->node->shape[0].ndim : grad->ndim;
    const int batched = image_ndim == k->dims + 2;
    *c = (wk__convolution){.dims = k->dims, .unbatched = !batched, .groups = g->attr->i[0]};
    c->n = batched ? shape[WK__CONV_X][0] : 1;
    c->out = shape[WK__CONV_W][0] / c->groups;
    c->in = shape[WK__CONV_W][1];
    const size_t bytes = sizeof *c->size * (size_t)k->dims;
    memcpy(c->size, shape[WK__CONV_X] + batched + 1, bytes);
    memcpy(c->kernel, shape[WK__CONV_W] + 2, bytes);
    memcpy(c->result, shape[WK__CONV_Y] + batched + 1, bytes);
    memcpy(c->stride, g->attr->list, bytes);
    memcpy(c->padding, g->attr->list2, bytes);
    memcpy(c->dilation, g->attr->list3, bytes);
}

/* Returns the sum of grad over all dimensions but that of the channels. */
static wk_tensor *bias_gradient(wk_tensor *grad, const wk__convolution *c)
{
    int64_t dims[1 + WK__CONV_DIMS];
    int count = 0;
    const int channel = c->unbatched ? 0 : 1;
    for (int d = 0; d < channel + 1 + c->dims; d++)
        if (d != channel) dims[count++] = d;
    return wk_sum_at((wk_site){0}, grad, dims, count, NULL);
}

static void differentiate(wk__grad_ctx *g, const conv_op *k)
{
    wk__convolution c;
    if (!g->out[0]) return; /* its computation failed */
    geometry_of(g, k, &c);
    for (int i = 0; i < 2; i++) {
        if (!wk__needs_input_grad(g, i)) continue;
        const conv_op *of = op_with_result(k->operand[i], k->dims);
        wk_tensor *role[WK__CONV_ROLES] = {NULL};
        role[k->result] = g->out[0];
        role[k->operand[1 - i]] = wk__saved(g, 1 - i);
        wk_tensor *in[3] = {role[of->operand[0]], role[of->operand[1]]};
        if (in[0] && in[1]) g->in[i] = call((wk_site){0}, of, in, &c);
    }
    if (wk__needs_input_grad(g, 2)) g->in[2] = bias_gradient(g->out[0], &c);
}

/* ---- the calls of each kind -------------------------------------------------------------------------------------- */

/* Checks the operands: NULL and dtypes, and reads stride, dilation and groups. */
static bool begin(wk_site site, const conv_op *k, wk_tensor *in[3], wk_sizes stride, wk_sizes dilation, int64_t groups,
                  wk__convolution *c)
{
    *c = (wk__convolution){.n = 1};
    const int count = in[2] ? 3 : 2;
    return wk__check_operands(k->op, site, in, count) && check_dtypes(site, k, in, count) &&
           read_steps(site, k, stride, dilation, groups, c);
}

/* Checks that grad_output has the sizes of the convolution's result. */
static bool check_grad_output(wk_site site, const conv_op *k, wk_tensor *const in[], const wk__convolution *c,
                              const wk_tensor *grad_output)
{
    int64_t shape[WK__MAX_DIMS];
    const wk__body *grad = wk__body_of(grad_output);
    const int ndim = wk__convolution_shape(c, WK__CONV_Y, shape);
    if (wk__same_shape(grad->ndim, grad->shape, ndim, shape)) return true;
    wk__call_error(k->op->name, site, WK_ERR_SHAPE, in,
                   "the sizes of grad_output are not those of the convolution's result: $a and $b");
    return false;
}

/* Sets the shape of the tensor of this role to that of its operand; a list given instead stays. */
static void shape_of(const conv_op *k, wk_tensor *const in[], wk__conv_role role, const int64_t **shape, int *ndim)
{
    if (role == k->result) return; /* the caller has set the list */
    const wk__body *body = wk__body_of(in[k->operand[1] == role]);
    *shape = body->shape;
    *ndim = body->ndim;
}

/* Computes a convolution, or a gradient of one, whose sizes are `size`. */
static wk_tensor *convolve(wk_site site, const conv_op *k, wk_tensor *in[3], const int64_t *size, int ndim,
                           const wk_conv_options *options)
{
    const bool gradient = k->result != WK__CONV_Y;
    const char *list = k->result == WK__CONV_X ? "input_size" : "weight_size";
    wk_conv_options o;
    wk__convolution c;
    int64_t after[WK__CONV_DIMS];
    if ((!gradient && !in[2] && wk__omitted_may_have_failed()) || !wk__options(site, k->op->name, options, &o) ||
        (gradient && !wk__array_check(size, ndim, site, k->op->name, list)) ||
        !begin(site, k, in, o.stride, o.dilation, o.groups, &c))
        return NULL;
    const int64_t *x = size, *weight = size;
    int x_ndim = ndim, weight_ndim = ndim;
    shape_of(k, in, WK__CONV_X, &x, &x_ndim);
    shape_of(k, in, WK__CONV_W, &weight, &weight_ndim);
    const bool fits = take_weight(site, k, in, weight_ndim, weight, &c) &&
                      take_image(site, k, in, WK__CONV_X, x_ndim, x, &c) &&
                      read_padding(site, k, o.padding, &c, after) && compute_result(site, k, in, after, &c) &&
                      (!gradient || check_grad_output(site, k, in, &c, in[1]));
    return fits ? call(site, k, in, &c) : NULL;
}

static bool compute_transposed_size(wk_site site, const conv_op *k, wk_tensor *const in[], const int64_t more[],
                                    wk__convolution *c)
{
    for (int d = 0; d < c->dims; d++) {
        const int64_t most = c->stride[d] > c->dilation[d] ? c->stride[d] : c->dilation[d];
        int64_t size, reach;
        if (more[d] >= most) {
            wk__error_set(site, WK_ERR_ARGUMENT,
                          "%s: output_padding (%lld) must be less than the stride (%lld) or the dilation (%lld)",
                          k->op->name, (long long)more[d], (long long)c->stride[d], (long long)c->dilation[d]);
            return false;
        }
        if (!wk__mul_size(c->dilation[d], c->kernel[d] - 1, &reach) ||
            __builtin_mul_overflow(c->result[d] - 1, c->stride[d], &size) ||
            __builtin_add_overflow(size, reach, &size) || __builtin_sub_overflow(size, 2 * c->padding[d], &size) ||
            __builtin_add_overflow(size, more[d] + 1, &size) || size < 1) {
            wk__call_error(k->op->name, site, WK_ERR_SHAPE, in,
                           "the result would have no elements in spatial dimension %d: $a and $b; use less padding", d);
            return false;
        }
        c->size[d] = size;
    }
    return true;
}

static wk_tensor *transpose_convolve(wk_site site, const conv_op *k, wk_tensor *x, wk_tensor *weight, wk_tensor *bias,
                                     const wk_conv_transpose_options *options)
{
    const wk__sizes_rule of_more = {.name = "output_padding"};
    wk_tensor *in[3] = {x, weight, bias};
    wk_conv_transpose_options o;
    wk__convolution c;
    int64_t more[WK__CONV_DIMS];
    if ((!bias && wk__omitted_may_have_failed()) || !wk__options(site, k->op->name, options, &o) ||
        !begin(site, k, in, o.stride, o.dilation, o.groups, &c))
        return NULL;
    const wk__body *of_x = wk__body_of(x), *of_w = wk__body_of(weight);
    const bool fits = take_weight(site, k, in, of_w->ndim, of_w->shape, &c) &&
                      take_image(site, k, in, WK__CONV_Y, of_x->ndim, of_x->shape, &c) &&
                      wk__sizes_read(site, k->op->name, &wk__padding_rule, o.padding, c.dims, c.padding) &&
                      wk__sizes_read(site, k->op->name, &of_more, o.output_padding, c.dims, more) &&
                      compute_transposed_size(site, k, in, more, &c);
    return fits ? call(site, k, in, &c) : NULL;
}

/* ---- the ops ----------------------------------------------------------------------------------------------------- */

static const conv_op convolutions[WK__CONV_DIMS] = {
    {&wk__op_conv1d, 1, WK__CONV_Y, {WK__CONV_X, WK__CONV_W}},
    {&wk__op_conv2d, 2, WK__CONV_Y, {WK__CONV_X, WK__CONV_W}},
    {&wk__op_conv3d, 3, WK__CONV_Y, {WK__CONV_X, WK__CONV_W}},
};
static const conv_op transposed[WK__CONV_DIMS] = {
    {&wk__op_conv_transpose1d, 1, WK__CONV_X, {WK__CONV_Y, WK__CONV_W}},
    {&wk__op_conv_transpose2d, 2, WK__CONV_X, {WK__CONV_Y, WK__CONV_W}},
    {&wk__op_conv_transpose3d, 3, WK__CONV_X, {WK__CONV_Y, WK__CONV_W}},
};
static const conv_op input_gradients[WK__CONV_DIMS] = {
    {&wk__op_conv1d_input, 1, WK__CONV_X, {WK__CONV_W, WK__CONV_Y}},
    {&wk__op_conv2d_input, 2, WK__CONV_X, {WK__CONV_W, WK__CONV_Y}},
    {&wk__op_conv3d_input, 3, WK__CONV_X, {WK__CONV_W, WK__CONV_Y}},
};
static const conv_op weight_gradients[WK__CONV_DIMS] = {
    {&wk__op_conv1d_weight, 1, WK__CONV_W, {WK__CONV_X, WK__CONV_Y}},
    {&wk__op_conv2d_weight, 2, WK__CONV_W, {WK__CONV_X, WK__CONV_Y}},
    {&wk__op_conv3d_weight, 3, WK__CONV_W, {WK__CONV_X, WK__CONV_Y}},
};

/* Returns the op that computes the tensor of this role. */
static const conv_op *op_with_result(wk__conv_role result, int dims)
{
    const conv_op *const ops = result == WK__CONV_Y   ? convolutions
                               : result == WK__CONV_X ? input_gradients
                                                      : weight_gradients;
    return &ops[dims - 1];
}

/* Differentiates a node, whose op is in one of the tables. */
static void gradient(wk__grad_ctx *g)
{
    static const conv_op *const tables[] = {convolutions, transposed, input_gradients, weight_gradients};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (int d = 0; d < WK__CONV_DIMS; d++) {
            if (tables[t][d].op != g->node->op) continue;
            differentiate(g, &tables[t][d]);
            return;
        }
}

wk_tensor *wk_conv1d_at(wk_site site, wk_tensor *x, wk_tensor *weight, wk_tensor *bias, const wk_conv_options *options)
{
    return convolve(site, &convolutions[0], (wk_tensor *[3]){x, weight, bias}, NULL, 0, options);
}
wk_tensor *wk_conv_transpose1d_at(wk_site site, wk_tensor *x, wk_tensor *weight, wk_tensor *bias,
                                  const wk_conv_transpose_options *options)
{
    return transpose_convolve(site, &transposed[0], x, weight, bias, options);
}
wk_tensor *wk_conv1d_input_at(wk_site site, const int64_t *input_size, int count, wk_tensor *weight,
                              wk_tensor *grad_output, const wk_conv_options *options)
{
    return convolve(site, &input_gradients[0], (wk_tensor *[3]){weight, grad_output}, input_size, count, options);
}
wk_tensor *wk_conv1d_weight_at(wk_site site, wk_tensor *x, const int64_t *weight_size, int count,
                               wk_tensor *grad_output, const wk_conv_options *options)
{
    return convolve(site, &weight_gradients[0], (wk_tensor *[3]){x, grad_output}, weight_size, count, options);
}

wk_tensor *wk_conv2d_at(wk_site site, wk_tensor *x, wk_tensor *weight, wk_tensor *bias, const wk_conv_options *options)
{
    return convolve(site, &convolutions[1], (wk_tensor *[3]){x, weight, bias}, NULL, 0, options);
}
wk_tensor *wk_conv_transpose2d_at(wk_site site, wk_tensor *x, wk_tensor *weight, wk_tensor *bias,
                                  const wk_conv_transpose_options *options)
{
    return transpose_convolve(site, &transposed[1], x, weight, bias, options);
}
wk_tensor *wk_conv2d_input_at(wk_site site, const int64_t *input_size, int count, wk_tensor *weight,
                              wk_tensor *grad_output, const wk_conv_options *options)
{
    return convolve(site, &input_gradients[1], (wk_tensor *[3]){weight, grad_output}, input_size, count, options);
}
wk_tensor *wk_conv2d_weight_at(wk_site site, wk_tensor *x, const int64_t *weight_size, int count,
                               wk_tensor *grad_output, const wk_conv_options *options)
{
    return convolve(site, &weight_gradients[1], (wk_tensor *[3]){x, grad_output}, weight_size, count, options);
}

wk_tensor *wk_conv3d_at(wk_site site, wk_tensor *x, wk_tensor *weight, wk_tensor *bias, const wk_conv_options *options)
{
    return convolve(site, &convolutions[2], (wk_tensor *[3]){x, weight, bias}, NULL, 0, options);
}
wk_tensor *wk_conv_transpose3d_at(wk_site site, wk_tensor *x, wk_tensor *weight, wk_tensor *bias,
                                  const wk_conv_transpose_options *options)
{
    return transpose_convolve(site, &transposed[2], x, weight, bias, options);
}
wk_tensor *wk_conv3d_input_at(wk_site site, const int64_t *input_size, int count, wk_tensor *weight,
                              wk_tensor *grad_output, const wk_conv_options *options)
{
    return convolve(site, &input_gradients[2], (wk_tensor *[3]){weight, grad_output}, input_size, count, options);
}
wk_tensor *wk_conv3d_weight_at(wk_site site, wk_tensor *x, const int64_t *weight_size, int count,
                               wk_tensor *grad_output, const wk_conv_options *options)
{
    return convolve(site, &weight_gradients[2], (wk_tensor *[3]){x, grad_output}, weight_size, count, options);
}

const wk__op wk__op_conv1d = {
    .gradient = gradient,
    .saves = {WK__SAVE_1, WK__SAVE_0},
    WK__SIGNATURE_conv1d,
};

const wk__op wk__op_conv2d = {
    .gradient = gradient,
    .saves = {WK__SAVE_1, WK__SAVE_0},
    WK__SIGNATURE_conv2d,
};

const wk__op wk__op_conv3d = {
    .gradient = gradient,
    .saves = {WK__SAVE_1, WK__SAVE_0},
    WK__SIGNATURE_conv3d,
};

const wk__op wk__op_conv_transpose1d = {
    .gradient = gradient,
    .saves = {WK__SAVE_1, WK__SAVE_0},
    WK__SIGNATURE_conv_transpose1d,
};

const wk__op wk__op_conv_transpose2d = {
    .gradient = gradient,
    .saves = {WK__SAVE_1, WK__SAVE_0},
    WK__SIGNATURE_conv_transpose2d,
};

const wk__op wk__op_conv_transpose3d = {
    .gradient = gradient,
    .saves = {WK__SAVE_1, WK__SAVE_0},
    WK__SIGNATURE_conv_transpose3d,
};

const wk__op wk__op_conv1d_input = {
    .gradient = gradient,
    .saves = {WK__SAVE_1, WK__SAVE_0},
    WK__SIGNATURE_conv1d_input,
};

const wk__op wk__op_conv2d_input = {
    .gradient = gradient,
    .saves = {WK__SAVE_1, WK__SAVE_0},
    WK__SIGNATURE_conv2d_input,
};

const wk__op wk__op_conv3d_input = {
    .gradient = gradient,
    .saves = {WK__SAVE_1, WK__SAVE_0},
    WK__SIGNATURE_conv3d_input,
};

const wk__op wk__op_conv1d_weight = {
    .gradient = gradient,
    .saves = {WK__SAVE_1, WK__SAVE_0},
    WK__SIGNATURE_conv1d_weight,
};

const wk__op wk__op_conv2d_weight = {
    .gradient = gradient,
    .saves = {WK__SAVE_1, WK__SAVE_0},
    WK__SIGNATURE_conv2d_weight,
};

const wk__op wk__op_conv3d_weight = {
    .gradient = gradient,
    .saves = {WK__SAVE_1, WK__SAVE_0},
    WK__SIGNATURE_conv3d_weight,
};
