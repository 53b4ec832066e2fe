/* SPDX-License-Identifier: Apache-2.0 */
/* sinusoidal_positions, alibi_slopes, alibi_bias: encodings of the positions in a sequence. Vectors and slopes are
 * computed in double precision on the host, biases on the device. */
#include "base/alloc.h"
#include "base/options.h"
#include "tensor/call_scope.h"
#include "tensor/tensor.h"
#include <math.h>
#include <wick/nn_transformer.h>
#include <wick/ops.h>

/* Reads options of a result that is f32 unless they have another dtype. */
static bool read_options(wk_site site, const char *name, const wk_tensor_options *given, wk_tensor_options *own)
{
    if (!wk__options(site, name, given, own)) return false;
    if (!own->dtype) own->dtype = WK_F32;
    own->size = sizeof *own;
    return true;
}

/* Returns a tensor of numbers, which it frees; NULL on error. */
static wk_tensor *deliver(wk_site site, const char *name, double *values, const int64_t *shape, int ndim,
                          const wk_tensor_options *options)
{
    wk__call_scope c;
    wk_tensor *out = NULL;
    if (!values) {
        wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", name);
        return NULL;
    }
    if (wk__call_begin(&c, WK__FRAME_CALL, name, site, WK__GRAD_KEPT)) {
        const size_t count = (size_t)shape[0] * (ndim > 1 ? (size_t)shape[1] : 1);
        out = wk_from_on_at(site, WK_F64, values, count * sizeof *values, shape, ndim, options);
        wk__free(values);
        wk__call_end(&c, &out, out ? 1 : 0);
        return out;
    }
    wk__free(values);
    return NULL;
}

/* ---- sinusoidal positions ---------------------------------------------------------------------------------------- */

wk_tensor *wk_sinusoidal_positions_at(wk_site site, int64_t length, int64_t features, const wk_tensor_options *options)
{
    static const char name[] = "sinusoidal_positions";
    wk_tensor_options o;
    if (!read_options(site, name, options, &o)) return NULL;
    if (length < 0 || features < 1) {
        wk__error_set(site, WK_ERR_ARGUMENT,
                      "%s: expected a length of at least 0 and at least 1 feature, got %lld and %lld", name,
                      (long long)length, (long long)features);
        return NULL;
    }
    int64_t count;
    double *values = wk__mul_size(length, features, &count) ? wk__alloc_zero((size_t)count, sizeof *values) : NULL;
    for (int64_t k = 0; values && k < features; k++) {
        const double rate = pow(10000, -(double)(k - k % 2) / (double)features);
        for (int64_t i = 0; i < length; i++)
            values[i * features + k] = k % 2 ? cos((double)i * rate) : sin((double)i * rate);
    }
    return deliver(site, name, values, (int64_t[]){length, features}, 2, &o);
}

/* ---- attention with linear biases -------------------------------------------------------------------------------- */

static bool check_heads(wk_site site, const char *name, int64_t num_heads)
{
    if (num_heads >= 1) return true;
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: num_heads must be at least 1, got %lld", name, (long long)num_heads);
    return false;
}

wk_tensor *wk_alibi_slopes_at(wk_site site, int64_t num_heads, const wk_tensor_options *options)
{
    static const char name[] = "alibi_slopes";
    wk_tensor_options o;
    if (!read_options(site, name, options, &o) || !check_heads(site, name, num_heads)) return NULL;
    double *values = wk__alloc_zero((size_t)num_heads, sizeof *values);
    int64_t power = 1; /* the largest that is at most num_heads */
    while (power <= num_heads / 2) power *= 2;
    for (int64_t k = 0; values && k < num_heads; k++)
        values[k] = k < power ? exp2(-8.0 * (double)(k + 1) / (double)power)
                              : exp2(-4.0 * (double)(2 * (k - power) + 1) / (double)power);
    return deliver(site, name, values, &num_heads, 1, &o);
}

/* Computes the bias on the default device. */
static wk_tensor *compute_bias(int64_t heads, int64_t rows, int64_t keys, const wk_alibi_options *o)
{
    wk_tensor *query = wk_unsqueeze(wk_arange((double)(keys - rows), (double)keys, .dtype = WK_F32), 1);
    wk_tensor *key = wk_arange((double)keys, .dtype = WK_F32);
    wk_tensor *ahead = wk_sub(key, query); /* (rows, keys) */
    wk_tensor *slopes = wk_reshape(wk_alibi_slopes(heads), (heads, 1, 1));
    wk_tensor *bias = wk_mul(wk_neg(wk_abs(ahead)), slopes);
    if (o->is_causal) bias = wk_where(wk_gt(ahead, 0), -INFINITY, bias);
    return o->dtype ? wk_to_dtype(bias, o->dtype) : bias;
}

wk_tensor *wk_alibi_bias_at(wk_site site, int64_t num_heads, int64_t rows, int64_t keys,
                            const wk_alibi_options *options)
{
    static const char name[] = "alibi_bias";
    wk_alibi_options o;
    if (!wk__options(site, name, options, &o) || !check_heads(site, name, num_heads)) return NULL;
    if (rows < 0 || rows > keys) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: rows must be in [0, keys], got %lld and %lld", name, (long long)rows,
                      (long long)keys);
        return NULL;
    }
    if (o.dtype && !wk__is_float(o.dtype)) {
        wk__error_set(site, WK_ERR_DTYPE, "%s: .dtype must be floating, got %s", name, wk_dtype_str(o.dtype));
        return NULL;
    }
    wk__call_scope c;
    if (!wk__call_begin(&c, WK__FRAME_CALL, name, site, WK__GRAD_OFF)) return NULL;
    if (o.device.kind) (void)wk_device_guard_open(site, o.device); /* the end of the call closes it */
    wk_tensor *out = compute_bias(num_heads, rows, keys, &o);
    wk__call_end(&c, &out, out ? 1 : 0);
    return out;
}
