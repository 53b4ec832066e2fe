/* SPDX-License-Identifier: Apache-2.0 */
/* See anomaly.h. */
#include "anomaly.h"
#include "base/alloc.h"
#include "device_sync.h"
#include "ir/scalar.h"
#include <math.h>
#include <string.h>
#include <wick/autograd.h>

atomic_bool wk__anomaly_enabled;

void wk_set_detect_anomaly(bool on)
{
    wk__engine_config_get(); /* the environment takes precedence */
    atomic_store(&wk__anomaly_enabled, on);
}
bool wk_is_anomaly_enabled(void)
{
    wk__engine_config_get();
    return atomic_load(&wk__anomaly_enabled);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* The value's bytes; *owned is to be freed. NULL if it has failed or cannot be read. */
static const char *bytes_of(wk__value *value, void **owned)
{
    *owned = NULL;
    wk__value_ensure(value);
    if (value->state != WK__STORED || value->bytes == 0) return NULL;
    if (value->memory.host) return value->memory.host;
    wk__fail fail = {.tag = -1};
    *owned = wk__alloc((size_t)value->bytes);
    const bool read = *owned && wk__value_download(value, 0, value->bytes, *owned, NULL, (wk_site){0}, &fail) == WK_OK;
    return read && value->state == WK__STORED ? *owned : NULL;
}

static void note(wk__nonfinite *found, double element, int64_t index)
{
    if (isnan(element) && !found->nan) {
        found->nan = true;
        found->nan_at = index;
    } else if (isinf(element) && !found->inf) {
        found->inf = true;
        found->inf_at = index;
        found->negative = element < 0;
    }
}

static wk__nonfinite scan(const wk__anomaly_span *s)
{
    wk__nonfinite found = {.nan = false};
    if (!wk__is_float(s->dtype)) return found;
    const int64_t size = (int64_t)wk_dtype_size(s->dtype);
    int64_t total = 1, index[WK__MAX_INDICES] = {0};
    for (int d = 0; d < s->ndim; d++) total *= s->shape[d];
    void *owned;
    const char *bytes = total > 0 ? bytes_of(s->value, &owned) : NULL;
    for (int64_t k = 0; bytes && k < total; k++) {
        int64_t element = s->offset;
        for (int d = 0; d < s->ndim; d++) element += index[d] * s->stride[d];
        note(&found, wk__scalar_to_double(bytes + element * size, s->dtype), k);
        for (int d = s->ndim; d-- > 0 && ++index[d] == s->shape[d];) index[d] = 0;
    }
    if (total > 0) wk__free(owned);
    return found;
}

static wk__anomaly_span span_of_body(const wk__body *body, wk__value *value)
{
    wk__anomaly_span s = {.value = value, .dtype = body->dtype, .ndim = body->ndim, .offset = body->offset};
    memcpy(s.shape, body->shape, sizeof body->shape);
    memcpy(s.stride, body->stride, sizeof body->stride);
    return s;
}

wk__nonfinite wk__anomaly_scan(const wk__body *body)
{
    const wk__anomaly_span s = span_of_body(body, body->storage->value);
    return scan(&s);
}

void wk__nonfinite_add(wk__nonfinite *all, wk__nonfinite more)
{
    all->nan = all->nan || more.nan;
    all->inf = all->inf || more.inf;
}

const char *wk__anomaly_describe(wk__nonfinite out, wk__nonfinite in, char text[48])
{
    const bool nan = out.nan && !in.nan, inf = out.inf && !in.nan && !in.inf;
    if (!nan && !inf) return NULL;
    snprintf(text, 48, "%s at element %lld",
             nan            ? "nan"
             : out.negative ? "-inf"
                            : "inf",
             (long long)(nan ? out.nan_at : out.inf_at));
    return text;
}

static void report(wk_context *context, const char *name, const char *suffix, wk_site site, const char *what)
{
    char text[200];
    snprintf(text, sizeof text,
             "%s%s: anomaly mode: the result has %s, which no operand has; check the operands of this call", name,
             suffix, what);
    wk__failure *failure = wk__failure_new(WK_ERR_STATE, site, text);
    wk__post_failure(context, failure);
    wk__failure_drop(failure);
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

struct wk__anomaly_watch {
    wk__anomaly_watch *next;
    const char *name;
    bool in_place;
    wk_site site;
    wk__nonfinite numbers; /* among the numbers of the call */
    int outputs, spans;
    wk__anomaly_span span[]; /* outputs, then operands */
};

static void whole_span(wk__anomaly_span *s)
{
    s->ndim = 1;
    s->offset = 0;
    s->shape[0] = s->value->bytes / (int64_t)wk_dtype_size(s->dtype);
    s->stride[0] = 1;
}

/* Computes the span that the record reads or writes of ref k: by its strides over the space and over the summed indices
 * of a contraction, or all of the value if elements are selected by indices. */
static void span_of(wk__record *r, int k, wk__anomaly_span *s)
{
    const wk__work_family *family = wk__record_family(r);
    const wk__ref *ref = &r->ref[k];
    const int factor = k - r->nout;
    s->value = ref->value;
    s->dtype = (wk_dtype)ref->dtype;
    s->offset = ref->offset;
    s->ndim = r->ndim;
    const bool computed = ref->flags & WK__REF_INDIRECT || family->index_operand || family->accumulates;
    if (computed || (family->is_contraction && factor >= 0 && wk__record_sum(r)->naffine[factor] > 0)) {
        whole_span(s);
        return;
    }
    for (int d = 0; d < r->ndim; d++) {
        s->shape[d] = wk__record_extent(r, k, d);
        s->stride[d] = wk__record_stride(r, k)[d];
    }
    for (int i = 0; family->is_contraction && factor >= 0 && i < wk__record_sum(r)->nsummed; i++) {
        s->shape[s->ndim] = wk__record_sum(r)->extent[i];
        s->stride[s->ndim++] = wk__record_sum(r)->stride[factor][i];
    }
}

static void add_span(wk__anomaly_watch *w, wk__record *r, int k)
{
    const wk__ref *ref = &r->ref[k];
    if (ref->value) {
        span_of(r, k, &w->span[w->spans++]);
        wk__value_hold(ref->value);
    } else if (!(ref->flags & WK__REF_IMM_INDEX) && wk__is_float((wk_dtype)ref->dtype)) {
        note(&w->numbers, ref->imm.f, 0);
    }
}

/* Part of its memory is written, the rest is the target's old contents. */
static void add_prior(wk__anomaly_watch *w, wk__record *r)
{
    wk__anomaly_span *s = &w->span[w->spans++];
    *s = w->span[0];
    s->value = r->prior;
    wk__value_hold(r->prior);
}

static wk__anomaly_watch *new_watch(wk_context *context, const char *name, bool in_place, wk_site site, int spans)
{
    wk__anomaly_watch *w = wk__alloc_zero(1, sizeof *w + sizeof *w->span * (size_t)spans);
    if (!w) {
        wk__post_failure(context, NULL);
        return NULL;
    }
    w->name = name;
    w->in_place = in_place;
    w->site = site;
    wk__anomaly_watch **last = &context->op_queue->watched;
    while (*last) last = &(*last)->next;
    return *last = w;
}

void wk__anomaly_watch_record(wk_context *context, wk__record *r)
{
    if (context->frame.op_scope || !wk__is_float((wk_dtype)r->ref[0].dtype)) return;
    wk__anomaly_watch *w = new_watch(context, r->name, r->in_place, r->site, r->nout + r->nin + (r->prior != NULL));
    if (!w) return;
    w->outputs = r->nout;
    for (int k = 0; k < r->nout + r->nin; k++) add_span(w, r, k);
    if (r->prior) add_prior(w, r);
}

/* ---- composed ops ------------------------------------------------------------------------------------------------ */

static void add_body(wk__anomaly_watch *w, const wk__body *body, wk__value *value)
{
    w->span[w->spans++] = span_of_body(body, value);
    wk__value_hold(value);
}

void wk__anomaly_check_results(wk_context *context, wk__anomaly_call call, wk_tensor *const out[], int outputs,
                               wk_tensor *const in[], int inputs)
{
    if (context->frame.op_scope || !context->op_queue) return;
    wk__anomaly_watch *w =
        new_watch(context, wk__name(context, call.name), call.before != NULL, wk__site(call.site), outputs + inputs);
    if (!w) return;
    w->outputs = outputs;
    for (int k = 0; k < outputs + inputs; k++) {
        const wk_tensor *x = k < outputs ? out[k] : in[k - outputs];
        const bool old = k == outputs && call.before;
        if (x) add_body(w, wk__body_of(x), old ? call.before->value : wk__body_of(x)->storage->value);
    }
    wk__anomaly_check(context);
}

/* ---- checking ---------------------------------------------------------------------------------------------------- */

static void check_one(wk_context *context, const wk__anomaly_watch *w)
{
    char text[48];
    wk__nonfinite out = {.nan = false}, in = w->numbers;
    for (int k = 0; k < w->outputs && !out.nan && !out.inf; k++) out = scan(&w->span[k]);
    if (!out.nan && !out.inf) return;
    for (int k = w->outputs; k < w->spans; k++) wk__nonfinite_add(&in, scan(&w->span[k]));
    const char *what = wk__anomaly_describe(out, in, text);
    if (what) report(context, w->name, wk__in_place_suffix(w->name, w->in_place), w->site, what);
}

static void free_watch(wk__anomaly_watch *w)
{
    for (int k = 0; k < w->spans; k++) wk__value_drop(w->span[k].value);
    wk__free(w);
}

void wk__anomaly_check(wk_context *context)
{
    wk__op_queue *queue = context->op_queue;
    if (!queue || context->transaction) return;
    for (wk__anomaly_watch *w; (w = queue->watched);) {
        queue->watched = w->next;
        check_one(context, w);
        free_watch(w);
    }
}

void wk__anomaly_forget(wk__op_queue *queue)
{
    for (wk__anomaly_watch *w; (w = queue->watched);) {
        queue->watched = w->next;
        free_watch(w);
    }
}
