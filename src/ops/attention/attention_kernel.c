/* SPDX-License-Identifier: Apache-2.0 */
/* Attention by the kernels of a backend (WK__ATTENTION in backend/work.h): one record each for the result and for the
 * gradients. The kernels apply no scale: query is multiplied by it before, and its gradient after. */
#include "attention.h"
#include <math.h>
#include <string.h>

#define OP (&wk__op_scaled_dot_product_attention)

/* The space of the work: leading dimensions, L, S, E, Ev. */
typedef struct space {
    int leads;
    int64_t shape[WK__MAX_DIMS];
} space;

/* Computes the space; returns false if it has too many dimensions. */
static bool space_of(const wk__attention *a, space *s)
{
    const wk__body *query = wk__body_of(a->query), *key = wk__body_of(a->key), *value = wk__body_of(a->value);
    int64_t lead[WK__MAX_DIMS];
    int leads;
    if (!wk__broadcast(query->ndim - 2, query->shape, key->ndim - 2, key->shape, &leads, lead) ||
        !wk__broadcast(leads, lead, value->ndim - 2, value->shape, &leads, lead) ||
        leads > WK__MAX_DIMS - WK__ATTENTION_DIMS)
        return false;
    s->leads = leads;
    memcpy(s->shape, lead, sizeof lead);
    s->shape[leads] = a->rows;
    s->shape[leads + 1] = a->keys;
    s->shape[leads + 2] = wk_size(a->query, -1);
    s->shape[leads + 3] = wk_size(a->value, -1);
    return true;
}

/* Sets operand k: its last two dimensions are dimensions `row` and `column` of L, S, E, Ev. */
static void set_operand(wk__record *r, int k, const space *s, wk_tensor *x, int row, int column)
{
    const wk__body *body = wk__body_of(x);
    int64_t stride[WK__MAX_DIMS] = {0};
    for (int d = body->ndim - 1, place = s->leads + 1; d >= 0; d--, place--) {
        const int at = place > s->leads ? s->leads + column : place == s->leads ? s->leads + row : place;
        stride[at] = body->shape[d] == 1 ? 0 : body->stride[d];
    }
    wk__record_ref(r, k, body, stride);
}

/* Returns x with contiguous rows. */
static wk_tensor *with_rows(wk_tensor *x)
{
    if (!x) return NULL;
    const wk__body *body = wk__body_of(x);
    return body->stride[body->ndim - 1] == 1 ? x : wk_contiguous(x);
}

enum { L, S, E, EV };
enum { QUERY, KEY, VALUE, MASK, GRADIENT, LSE, DELTA, INPUTS };

/* Prepares the operands that result and gradients have in common. */
static bool prepare(const wk__attention *a, wk_tensor *in[])
{
    const wk_dtype dtype = wk__body_of(a->query)->dtype;
    in[QUERY] = with_rows(a->how.scale == 1 ? a->query : wk_mul(a->query, a->how.scale));
    in[KEY] = with_rows(a->key);
    in[VALUE] = with_rows(a->value);
    in[MASK] = a->mask && wk_dtype_of(a->mask) == WK_BOOL
                   ? wk_to_dtype_at((wk_site){0}, wk_where(a->mask, 0.0, -INFINITY), dtype)
               : a->mask ? a->mask
                         : in[QUERY];
    return in[QUERY] && in[KEY] && in[VALUE] && in[MASK];
}

/* Begins a record with new results of these shapes (leads.., row, column), and sets the operands in common. On error
 * out[] is NULL. */
static wk__record *begin(const wk__attention *a, const space *s, wk__work_id family, wk_tensor *in[], int inputs,
                         const int shape[][2], int results, wk_tensor *out[])
{
    wk_context *context = wk__context();
    wk__device *device = wk__prepare_operands(context, OP, (wk_site){0}, in, inputs, WK__COLOCATE_IF_SOFT);
    const wk_dtype dtype = wk__body_of(in[QUERY])->dtype;
    wk__record *r = NULL;
    int made = 0;
    for (int k = 0; k < results; k++) out[k] = NULL;
    for (; device && made < results; made++) {
        int64_t size[WK__MAX_DIMS];
        memcpy(size, s->shape, sizeof size);
        for (int d = 0; d < 2; d++) size[s->leads + d] = shape[made][d] < 0 ? 1 : s->shape[s->leads + shape[made][d]];
        out[made] = wk__tensor_pending(context, device, dtype, s->leads + 2, size, (wk_site){0}, OP->name);
        if (!out[made]) break;
    }
    if (device && made == results)
        r = wk__record_begin(context, family, OP, device, (wk_site){0}, s->leads + WK__ATTENTION_DIMS, s->shape,
                             results, inputs);
    if (!r) {
        while (made > 0) {
            made--;
            out[made] = wk__discard_result(out[made]);
        }
        return NULL;
    }
    r->mode = (int8_t)((a->how.causal ? WK__ATTENTION_CAUSAL : 0) | (a->mask ? WK__ATTENTION_MASKED : 0));
    for (int k = 0; k < results; k++) set_operand(r, k, s, out[k], shape[k][0], shape[k][1] < 0 ? EV : shape[k][1]);
    set_operand(r, results + QUERY, s, in[QUERY], L, E);
    set_operand(r, results + KEY, s, in[KEY], S, E);
    set_operand(r, results + VALUE, s, in[VALUE], S, EV);
    set_operand(r, results + MASK, s, in[MASK], L, a->mask ? S : E);
    return r;
}

bool wk__attention_has_kernel(const wk__attention *a)
{
    space s;
    const wk__device *device = wk__body_of(a->query)->storage->value->device;
    return a->how.threshold == 0 && a->keys > 0 && wk_size(a->query, -1) > 0 && wk_size(a->value, -1) > 0 &&
           space_of(a, &s) &&
           device->backend->supports(device->state, WK__ATTENTION, wk__body_of(a->query)->dtype, WK__LAYOUT_STRIDES);
}

bool wk__attention_by_kernel(const wk__attention *a, wk_tensor *out[2])
{
    static const int shape[][2] = {{L, EV}, {L, -1}};
    wk_tensor *in[INPUTS];
    space s;
    if (!space_of(a, &s) || !prepare(a, in)) return false;
    wk__record *r = begin(a, &s, WK__ATTENTION, in, MASK + 1, shape, 2, out);
    if (r) wk__record_commit(wk__context(), r);
    return r != NULL;
}

void wk__attention_gradient_by_kernel(const wk__attention *a, wk_tensor *grad, wk_tensor *result, wk_tensor *lse,
                                      wk__attention_grads *out)
{
    static const int shape[][2] = {{L, E}, {S, E}, {S, EV}};
    wk_tensor *in[INPUTS], *made[3];
    space s;
    if (!space_of(a, &s) || !prepare(a, in)) return;
    in[GRADIENT] = with_rows(grad);
    in[LSE] = lse;
    in[DELTA] = wk_sum(wk_mul(grad, result), (-1), .keepdim = true);
    if (!in[GRADIENT] || !in[LSE] || !in[DELTA]) return;
    wk__record *r = begin(a, &s, WK__ATTENTION_BACKWARD, in, INPUTS, shape, 3, made);
    if (!r) return;
    set_operand(r, 3 + GRADIENT, &s, in[GRADIENT], L, EV);
    set_operand(r, 3 + LSE, &s, in[LSE], L, EV);
    set_operand(r, 3 + DELTA, &s, in[DELTA], L, EV);
    wk__record_commit(wk__context(), r);
    if (out->needs[QUERY]) out->query = a->how.scale == 1 ? made[0] : wk_mul(made[0], a->how.scale);
    if (out->needs[KEY]) out->key = made[1];
    if (out->needs[VALUE]) out->value = made[2];
}
