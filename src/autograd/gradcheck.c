/* SPDX-License-Identifier: Apache-2.0 */
/* Compares gradients with central differences, in f64. */
#include "base/alloc.h"
#include "engine/host_transfer.h"
#include "tensor/call_scope.h"
#include "dispatch.h"
#include <math.h>
#include <string.h>
#include <wick/autograd.h>

enum { MAX_INPUTS = 16 };
#define STEP     1e-6 /* balances rounding and truncation in f64 */
#define ABSOLUTE 1e-5
#define RELATIVE 1e-3

/* Arguments of one wk_gradcheck call. */
typedef struct check {
    wk_tensor *(*f)(wk_tensor *const *in, void *context);
    void *context;
    wk_tensor *const *in;
    int count;
    wk_site site;
} check;

static bool inputs_fit(const check *c)
{
    for (int k = 0; k < c->count; k++) {
        if (!wk__check_tensor(c->in[k], c->site, "gradcheck", "an input")) return false;
        const wk__body *body = wk__body_of(c->in[k]);
        if (body->dtype == WK_F64 && body->requires_grad && !body->node) continue;
        wk__error_set(c->site, WK_ERR_DTYPE,
                      "gradcheck: input %d must be a leaf of dtype f64 with requires_grad; create it with .dtype = "
                      "WK_F64, .requires_grad = true",
                      k);
        return false;
    }
    return true;
}

/* Allocates n + 1 doubles, owned by the open scope. NULL on error. */
static double *room(const check *c, int64_t n)
{
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    double *numbers = wk__alloc_zero((size_t)n + 1, sizeof *numbers);
    const bool kept = numbers && wk__guard_push_cleanup(numbers, wk__free);
    if (!kept) {
        wk__free(numbers);
        wk__error_set(c->site, WK_ERR_MEMORY, "gradcheck: out of host memory");
    }
    wk__frame_end(context, before);
    return kept ? numbers : NULL;
}

/* Returns the weighted sum of f(in). The weights differ between elements, so that a permuted gradient is detected. */
static double weighted(const double *y, int64_t n)
{
    double total = 0;
    for (int64_t k = 0; k < n; k++) total += y[k] * (1 + 0.25 * (double)(k % 7));
    return total;
}

static wk_tensor *fresh(wk__device *device, const wk__body *like, const double *data)
{
    wk_tensor *x =
        wk__tensor_pending(wk__context(), device, WK_F64, like->ndim, like->shape, (wk_site){0}, "gradcheck");
    if (!x) return NULL;
    int64_t bytes = wk__body_numel(like) * (int64_t)sizeof(double);
    return wk__host_upload(wk__body_of(x)->storage->value, data, bytes, (wk_site){0}, "gradcheck") ? x : NULL;
}

/* Returns the weighted sum with input `which` replaced by `data`; NaN on failure. */
static double value_at(const check *c, int which, const double *data)
{
    wk__call_scope scope;
    if (!wk__call_begin(&scope, WK__FRAME_CALLBACK, NULL, c->site, WK__GRAD_OFF)) return (double)NAN;
    wk_tensor *in[MAX_INPUTS] = {0};
    for (int k = 0; k < c->count; k++)
        in[k] = k == which ? fresh(wk__body_of(c->in[k])->storage->device, wk__body_of(c->in[k]), data) : c->in[k];
    wk_tensor *y = in[which] ? c->f(in, c->context) : NULL;
    double result = NAN;
    const bool good = in[which] && wk__check_tensor(y, c->site, "gradcheck", "what f returned");
    int64_t n = good ? wk__body_numel(wk__body_of(y)) : 0;
    double *host = good ? room(c, n) : NULL;
    if (host && wk__body_of(y)->dtype == WK_F64 && wk__host_download(y, host, NULL, c->site))
        result = weighted(host, n);
    wk__call_end(&scope, NULL, 0);
    return result;
}

/* Computes the gradients by backward, with the weights as seed. */
static bool analytic(const check *c, wk_tensor **grads)
{
    wk_tensor *y = c->f(c->in, c->context);
    if (!wk__check_tensor(y, c->site, "gradcheck", "the result of f")) return false;
    const wk__body *body = wk__body_of(y);
    int64_t n = wk__body_numel(body);
    if (body->dtype != WK_F64) wk__error_set(c->site, WK_ERR_DTYPE, "gradcheck: f must return an f64 tensor");
    double *weights = body->dtype == WK_F64 ? room(c, n) : NULL;
    if (!weights) return false;
    for (int64_t k = 0; k < n; k++) weights[k] = 1 + 0.25 * (double)(k % 7);
    wk_tensor *seed = fresh(body->storage->device, body, weights);
    wk_grad_options options = {.size = sizeof options,
                               .grad_outputs = &seed,
                               .retain_graph = true,
                               .create_graph = wk_is_grad_enabled(),
                               .allow_unused = true};
    return seed && wk_grad_at(c->site, &y, 1, c->in, c->count, grads, &options) == WK_OK;
}

static bool compare_one(const check *c, int which, const double *gradient, double *data, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        double x = data[k];
        data[k] = x + STEP;
        double above = value_at(c, which, data);
        data[k] = x - STEP;
        double below = value_at(c, which, data), quotient = (above - below) / (2 * STEP);
        data[k] = x;
        if (fabs(gradient[k] - quotient) <= ABSOLUTE + RELATIVE * fabs(quotient)) continue;
        wk__text text = {0};
        wk__text_format(&text, "gradcheck: element %lld of input %d: backward says ", (long long)k, which);
        wk__text_double(&text, gradient[k], 'g', 9);
        wk__text_add(&text, ", the difference quotient ");
        wk__text_double(&text, quotient, 'g', 9);
        wk__error_set_text(c->site, WK_ERR_STATE, &text);
        return false;
    }
    return true;
}

static bool compare(const check *c, int which, wk_tensor *grad)
{
    int64_t n = wk__body_numel(wk__body_of(c->in[which]));
    double *gradient = room(c, n), *data = gradient ? room(c, n) : NULL;
    return data && wk__host_download(c->in[which], data, NULL, c->site) &&
           (!grad || wk__host_download(grad, gradient, NULL, c->site)) && compare_one(c, which, gradient, data, n);
}

bool wk_gradcheck_at(wk_site site, wk_tensor *(*f)(wk_tensor *const *in, void *context), void *context,
                     wk_tensor *const *in, int count)
{
    check c = {.f = f, .context = context, .in = in, .count = count, .site = site};
    wk_tensor *grads[MAX_INPUTS] = {0};
    if (count < 1 || count > MAX_INPUTS) {
        wk__error_set(site, WK_ERR_ARGUMENT, "gradcheck: expected 1 to 16 inputs");
        return false;
    }
    if (!f) wk__error_set(site, WK_ERR_ARGUMENT, "gradcheck: the function is NULL");
    if (wk__error_pending() || !wk__array_check(in, count, site, "gradcheck", "the array of inputs") || !inputs_fit(&c))
        return false;
    wk__guard *guard = wk__guard_push(WK__GUARD_SCOPE, site);
    if (!guard) return false;
    uint64_t token = guard->token;
    bool fine = analytic(&c, grads);
    for (int k = 0; k < count && fine; k++) fine = compare(&c, k, grads[k]);
    wk__guard_close(token);
    return fine && !wk__error_pending(); /* including an error left by f */
}
