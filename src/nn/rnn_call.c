/* SPDX-License-Identifier: Apache-2.0 */
/* rnn_forward and rnn_forward_packed: recurrent layers with all their inputs and results. */
#include "base/alloc.h"
#include "packing.h"
#include "tensor/call_scope.h"

/* A call of a layer. */
typedef struct layer_call {
    wk_site site;
    const char *op;
    wk_module *module;
    wk_tensor *given[2];     /* h0 and c0, or NULL */
    wk_tensor **receives[2]; /* h_n and c_n, or NULL */
    wk_tensor *out[3];       /* output, h_n, c_n */
} layer_call;

static const wk__rnn *rnn_of(const layer_call *l)
{
    return wk__module_of(l->module)->state;
}

/* Checks the call, and begins it with all results NULL. */
static bool begin_layer(layer_call *l)
{
    for (int k = 0; k < 2; k++)
        if (l->receives[k]) *l->receives[k] = NULL;
    if (wk__omitted_may_have_failed() || !wk__module_check(l->module, l->site, l->op)) return false;
    if (wk__module_of(l->module)->kind.forward != wk__rnn_forward) {
        const char *kind = wk__module_of(l->module)->kind.name;
        wk__error_set(l->site, WK_ERR_ARGUMENT, "%s: expected a wk_nn_rnn, wk_nn_gru or wk_nn_lstm, got %s %s", l->op,
                      wk__article(kind), kind);
        return false;
    }
    for (int k = 0; k < 2; k++)
        if (l->given[k] && !wk__check_tensor(l->given[k], l->site, l->op, k ? "c0" : "h0")) return false;
    if (!rnn_of(l)->cell->has_c && (l->given[1] || l->receives[1])) {
        wk__error_set(l->site, WK_ERR_ARGUMENT, "%s: .c0 and .c_n are options of an lstm, not of a %s", l->op,
                      rnn_of(l)->kind->name);
        return false;
    }
    return true;
}

/* Returns the given states, or zeros; batch < 0: without a batch. */
static wk_tensor *state_or_zeros(const layer_call *l, int k, int64_t batch, const wk_tensor *like)
{
    if (l->given[k]) return l->given[k];
    const wk__rnn *rnn = rnn_of(l);
    const int64_t size = k ? rnn->hidden : rnn->state, count = rnn->layers * rnn->directions;
    const int64_t shape[3] = {count, batch < 0 ? size : batch, size};
    const wk_tensor_options as = {
        .size = sizeof as, .dtype = wk__body_of(like)->dtype, .device = wk__body_of(like)->storage->device->id};
    return wk_zeros_at(l->site, shape, batch < 0 ? 2 : 3, &as);
}

/* Calls the layer with data and states, and the batch sizes of packed data. Sets out[]. */
static bool call_layer(layer_call *l, wk_tensor *x, wk_tensor *sizes, int64_t batch)
{
    const int states = wk__rnn_states(rnn_of(l));
    wk_tensor *in[4] = {x};
    int inputs = 1, outputs = 1;
    for (int k = 0; k < states && (sizes || l->given[0] || l->given[1]); k++)
        if (!(in[inputs++] = state_or_zeros(l, k, batch, x))) return false;
    if (sizes) in[inputs++] = sizes;
    for (int k = 0; k < states; k++)
        if (l->receives[k]) outputs = 2 + k;
    return wk_forward_n_at(l->site, l->module, in, inputs, l->out, outputs) == outputs;
}

static bool is_sorted(const wk__packing *p)
{
    for (int64_t k = 0; k < p->batch; k++)
        if (p->order[k] != k) return false;
    return true;
}

/* Calls the layer with packed data, whose states are reordered if the sequences were. */
static bool call_layer_packed(layer_call *l, wk_tensor *data, const wk__packing *p)
{
    const wk_device cpu = {.kind = WK_CPU};
    wk_tensor *sizes = wk__packing_vector(l->site, p->size, p->steps, cpu), *order = NULL, *place = NULL;
    if (!is_sorted(p)) {
        order = wk__packing_vector(l->site, p->order, p->batch, wk_device_of(data));
        place = wk__packing_vector(l->site, p->place, p->batch, wk_device_of(data));
        if (!order || !place) return false;
    }
    for (int k = 0; k < 2; k++) {
        if (!l->given[k] || !order) continue;
        const wk__body *body = wk__body_of(l->given[k]);
        if (body->ndim != 3 || body->shape[1] != p->batch) break; /* forward reports it */
        if (!(l->given[k] = wk_index_select_at(l->site, l->given[k], 1, order))) return false;
    }
    bool fine = sizes && call_layer(l, data, sizes, p->batch);
    for (int k = 1; k < 3 && fine && place; k++)
        if (l->out[k]) fine = (l->out[k] = wk_index_select_at(l->site, l->out[k], 1, place));
    return fine;
}

/* Calls the layer with an input of 3 dimensions and the lengths of its sequences. */
static bool call_layer_padded(layer_call *l, wk_tensor *x, wk_tensor *lengths)
{
    const bool batch_first = rnn_of(l)->batch_first;
    const wk__body *body = wk__body_of(x);
    const int64_t steps = body->shape[batch_first];
    wk__packing p = {.batch = body->shape[!batch_first]};
    if (!wk__packing_read_lengths(l->site, l->op, lengths, steps, true, &p)) return false;
    bool fine;
    if (p.batch == 0) { /* a list of packed sequences cannot be empty */
        fine = call_layer(l, x, NULL, 0);
    } else {
        wk_tensor *data = wk__packing_pack(l->site, l->op, batch_first ? wk_transpose_at(l->site, x, 0, 1) : x, &p);
        fine = data && call_layer_packed(l, data, &p);
        if (fine) l->out[0] = wk__packing_pad(l->site, l->op, l->out[0], &p, steps, 0);
        if (batch_first && l->out[0]) l->out[0] = wk_transpose_at(l->site, l->out[0], 0, 1);
    }
    wk__free(p.length);
    return fine && l->out[0];
}

/* Ends the call: delivers the requested states if it succeeded. */
static void end_layer(layer_call *l, wk__call_scope *c, bool fine)
{
    for (int k = 0; k < 2; k++)
        if (!l->receives[k]) l->out[1 + k] = NULL;
    wk__call_end(c, l->out, fine ? 3 : 0);
    for (int k = 0; k < 2; k++)
        if (l->receives[k] && fine) *l->receives[k] = l->out[1 + k];
}

wk_tensor *wk_rnn_forward_at(wk_site site, wk_module *layer, wk_tensor *x, const wk_rnn_forward_options *options)
{
    static const char op[] = "rnn_forward";
    wk_rnn_forward_options o;
    if (!wk__options(site, op, options, &o)) return NULL;
    layer_call l = {site, op, layer, {o.h0, o.c0}, {o.h_n, o.c_n}, {NULL}};
    wk__call_scope c;
    if (!begin_layer(&l) || !wk__check_tensor(x, site, op, "the input") ||
        (o.lengths && !wk__check_tensor(o.lengths, site, op, "the lengths")) ||
        !wk__call_begin(&c, WK__FRAME_CALL, op, site, WK__GRAD_KEPT))
        return NULL;
    const wk__body *body = wk__body_of(x);
    const bool batched = body->ndim == 3;
    bool fine = false;
    if (!o.lengths)
        fine = call_layer(&l, x, NULL, batched ? body->shape[!rnn_of(&l)->batch_first] : -1);
    else if (batched)
        fine = call_layer_padded(&l, x, o.lengths);
    else
        wk__call_error(op, site, WK_ERR_SHAPE, &x, ".lengths needs an input of 3 dimensions, got $a");
    end_layer(&l, &c, fine);
    return fine ? l.out[0] : NULL;
}

wk_tensors *wk_rnn_forward_packed_at(wk_site site, wk_module *layer, wk_tensors *packed,
                                     const wk_rnn_forward_packed_options *options)
{
    static const char op[] = "rnn_forward_packed";
    wk_rnn_forward_packed_options o;
    if (!wk__options(site, op, options, &o)) return NULL;
    layer_call l = {site, op, layer, {o.h0, o.c0}, {o.h_n, o.c_n}, {NULL}};
    if (!begin_layer(&l) || !wk__tensor_list_check(packed, site, op)) return NULL;
    wk_tensors *list = wk_tensors_new_at(site);
    wk__call_scope c;
    if (!list || !wk__call_begin(&c, WK__FRAME_CALL, op, site, WK__GRAD_KEPT)) return NULL;
    wk__packing p = {0};
    wk_tensor *data = wk__packing_read_list(site, op, packed, &p);
    const bool unsorted = wk_tensors_find_at(site, packed, "unsorted_indices");
    bool fine = data && call_layer_packed(&l, data, &p) && wk__packing_fill_list(site, list, l.out[0], &p, unsorted);
    wk__free(p.length);
    end_layer(&l, &c, fine);
    if (fine) wk__handle_release(&l.out[0]->handle, site); /* the list has a reference */
    if (!fine) wk_free_at(site, list);
    return fine ? list : NULL;
}
