/* SPDX-License-Identifier: Apache-2.0 */
/* lp_pool1d to 3d: the p-norm of each window, as a call of other ops, whose graph is the gradient. */
#include "windows.h"

typedef wk_tensor *avg_pool(wk_site site, wk_tensor *x, wk_sizes kernel, const wk_avg_pool_options *options);

static wk_tensor *norm_of_windows(wk_site site, wk_tensor *x, double p, double elements, wk_sizes kernel,
                                  const wk_avg_pool_options *sizes, avg_pool *avg)
{
    wk_tensor *mean = avg(site, wk_pow(x, p), kernel, sizes);
    /* as in PyTorch, a negative mean, of odd powers, keeps its sign until the root, which is then NaN */
    wk_tensor *sum = wk_mul(wk_mul(wk_sign(mean), wk_relu_at(site, wk_abs(mean))), elements);
    return wk_pow(sum, 1 / p);
}

static wk_tensor *lp_pool(const wk__op *op, wk_site site, wk_tensor *x, int dims, double p, wk_sizes kernel,
                          const wk_lp_pool_options *options, avg_pool *avg)
{
    wk_lp_pool_options o;
    wk__windows w;
    wk__call_scope c;
    if (!wk__options(site, op->name, options, &o) || !wk__check_input(op, site, x)) return NULL;
    const wk__window_sizes sizes = {.kernel = kernel, .stride = o.stride, .ceil_mode = o.ceil_mode};
    if (!wk__windows_read(&w, op, site, x, dims, &sizes)) return NULL;
    if (p == 0) {
        wk__op_error(op, site, WK_ERR_ARGUMENT, &x, "p must not be 0");
        return NULL;
    }
    double elements = 1;
    for (int k = 0; k < dims; k++) elements *= (double)w.kernel[k];
    const wk_avg_pool_options of_avg = {.size = sizeof of_avg, .stride = o.stride, .ceil_mode = o.ceil_mode};
    if (!wk__call_begin(&c, WK__FRAME_CALL, op->name, site, WK__GRAD_KEPT)) return NULL;
    wk_tensor *out = norm_of_windows(site, x, p, elements, kernel, &of_avg, avg);
    wk__call_end(&c, &out, out ? 1 : 0);
    return out;
}

wk_tensor *wk_lp_pool1d_at(wk_site site, wk_tensor *x, double p, wk_sizes kernel, const wk_lp_pool_options *options)
{
    return lp_pool(&wk__op_lp_pool1d, site, x, 1, p, kernel, options, wk_avg_pool1d_at);
}
wk_tensor *wk_lp_pool2d_at(wk_site site, wk_tensor *x, double p, wk_sizes kernel, const wk_lp_pool_options *options)
{
    return lp_pool(&wk__op_lp_pool2d, site, x, 2, p, kernel, options, wk_avg_pool2d_at);
}
wk_tensor *wk_lp_pool3d_at(wk_site site, wk_tensor *x, double p, wk_sizes kernel, const wk_lp_pool_options *options)
{
    return lp_pool(&wk__op_lp_pool3d, site, x, 3, p, kernel, options, wk_avg_pool3d_at);
}

const wk__op wk__op_lp_pool1d = {WK__SIGNATURE_lp_pool1d};
const wk__op wk__op_lp_pool2d = {WK__SIGNATURE_lp_pool2d};
const wk__op wk__op_lp_pool3d = {WK__SIGNATURE_lp_pool3d};
