/* SPDX-License-Identifier: Apache-2.0 */
/* pack_padded_sequence and pad_packed_sequence. */
#include "base/alloc.h"
#include "packing.h"
#include "tensor/call_scope.h"

wk_tensors *wk_pack_padded_sequence_at(wk_site site, wk_tensor *x, wk_tensor *lengths,
                                       const wk_pack_padded_sequence_options *options)
{
    static const char op[] = "pack_padded_sequence";
    wk_pack_padded_sequence_options o;
    if (!wk__options(site, op, options, &o) || !wk__check_tensor(x, site, op, "the input") ||
        !wk__check_tensor(lengths, site, op, "the lengths"))
        return NULL;
    const wk__body *body = wk__body_of(x);
    if (body->ndim < 2 || body->shape[0] < 1 || body->shape[1] < 1) {
        wk__call_error(op, site, WK_ERR_SHAPE, &x, "expected sequences (steps, batch, ...), got $a");
        return NULL;
    }
    wk__packing p = {.batch = body->shape[!o.batch_first]};
    wk_tensors *list = wk_tensors_new_at(site);
    wk__call_scope c;
    if (!list || !wk__call_begin(&c, WK__FRAME_CALL, op, site, WK__GRAD_KEPT)) return NULL;
    bool fine = wk__packing_read_lengths(site, op, lengths, body->shape[o.batch_first], o.unsorted, &p);
    if (fine) {
        wk_tensor *data = wk__packing_pack(site, op, o.batch_first ? wk_transpose_at(site, x, 0, 1) : x, &p);
        fine = wk__packing_fill_list(site, list, data, &p, o.unsorted);
        wk__free(p.length);
    }
    wk__call_end(&c, NULL, 0);
    if (!fine) wk_free_at(site, list);
    return fine ? list : NULL;
}

wk_tensor *wk_pad_packed_sequence_at(wk_site site, wk_tensors *packed, const wk_pad_packed_sequence_options *options)
{
    static const char op[] = "pad_packed_sequence";
    wk_pad_packed_sequence_options o;
    wk__packing p = {0};
    if (!wk__options(site, op, options, &o)) return NULL;
    if (o.lengths) *o.lengths = NULL;
    wk__call_scope c;
    if (!wk__tensor_list_check(packed, site, op) || !wk__call_begin(&c, WK__FRAME_CALL, op, site, WK__GRAD_KEPT))
        return NULL;
    wk_tensor *data = wk__packing_read_list(site, op, packed, &p), *out[2] = {NULL};
    const int64_t steps = o.total_length ? o.total_length : p.steps;
    if (data && steps < p.steps)
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .total_length must be at least the longest length %lld, got %lld", op,
                      (long long)p.steps, (long long)steps);
    else if (data)
        out[0] = wk__packing_pad(site, op, data, &p, steps, wk__option_or(o.padding_value, 0));
    if (out[0] && o.batch_first) out[0] = wk_transpose_at(site, out[0], 0, 1);
    if (out[0] && o.lengths) out[1] = wk__packing_vector(site, p.length, p.batch, (wk_device){.kind = WK_CPU});
    const bool fine = out[0] && (out[1] || !o.lengths);
    wk__free(p.length);
    wk__call_end(&c, out, fine ? 2 : 0);
    if (fine && o.lengths) *o.lengths = out[1];
    return fine ? out[0] : NULL;
}
