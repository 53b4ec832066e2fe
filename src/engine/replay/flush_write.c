/* SPDX-License-Identifier: Apache-2.0 */
/* Writes flush files; see flush_file.h. All numbers are little-endian. */
#include "base/alloc.h"
#include "base/text.h"
#include "flush_file.h"
#include "engine/verify/shadow_run.h"
#include <string.h>

static void put(wk__text *out, int64_t number, int bytes)
{
    for (int k = 0; k < bytes; k++) wk__text_repeat(out, (char)((uint64_t)number >> 8 * k & 0xff), 1);
}

static void put_string(wk__text *out, const char *string)
{
    size_t length = string ? strlen(string) : 0;
    if (length > WK__FLUSH_STRING) length = WK__FLUSH_STRING;
    put(out, (int64_t)length, 2);
    if (length > 0) wk__text_add_n(out, string, (int64_t)length);
}

static int32_t index_of(const wk__shadow_map *shadows, const wk__value *value)
{
    const wk__shadow *t = wk__shadow_of(shadows, value);
    return t ? (int32_t)(t - shadows->shadow) : -1;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static bool has_bytes(const wk__shadow *t)
{
    return !t->writer && t->value.memory.block && t->value.bytes > 0;
}

static uint32_t flags_of(const wk__shadow *t)
{
    uint32_t flags = 0;
    if (!t->writer) flags |= t->failed || !t->stored ? WK__FLUSH_FAILED : WK__FLUSH_IN_MEMORY;
    if (has_bytes(t)) flags |= WK__FLUSH_HAS_DATA;
    if (t->observable) flags |= WK__FLUSH_OBSERVABLE;
    if (t->exposed) flags |= WK__FLUSH_EXPOSED;
    if (t->borrowed) flags |= WK__FLUSH_BORROWED;
    if (t->wanted) flags |= WK__FLUSH_WANTED;
    if (t->revived) flags |= WK__FLUSH_REVIVED;
    if (t->keep) flags |= WK__FLUSH_KEEP;
    return flags;
}

static void put_value(wk__text *out, const wk__shadow *t)
{
    put(out, t->value.device->id.kind, 2);
    put(out, t->value.device->id.index, 2);
    put(out, flags_of(t), 4);
    put(out, t->value.bytes, 8);
}

static wk_code put_bytes(wk__atomic_file *save, const wk__shadow *t, wk__io_error *error)
{
    const wk__value *value = &t->value;
    if (value->memory.host) return wk__atomic_file_write(save, value->memory.host, value->bytes, error);
    wk__fail fail = {.tag = -1};
    void *bytes = wk__alloc((size_t)value->bytes);
    if (!bytes) return wk__io_fail(error, WK_ERR_MEMORY, "out of host memory");
    wk_code code =
        value->device->backend->download(value->device->state, bytes, &value->memory, 0, value->bytes, &fail);
    code = code == WK_OK ? wk__atomic_file_write(save, bytes, value->bytes, error)
                         : wk__io_fail(error, code, "%s", fail.text);
    wk__free(bytes);
    return code;
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

static void put_refs(wk__text *out, const wk__shadow_map *shadows, wk__record *r)
{
    for (int k = 0; k < r->nout + r->nin; k++) {
        const wk__ref *ref = &r->ref[k];
        put(out, index_of(shadows, ref->value), 4);
        put(out, ref->dtype, 1);
        put(out, ref->flags, 1);
        put(out, ref->value ? ref->offset : ref->imm.i, 8); /* the bits of the immediate, of either class */
        for (int d = 0; d < r->ndim; d++) put(out, ref->value ? wk__record_stride(r, k)[d] : 0, 8);
    }
}

static void put_sum(wk__text *out, const wk__contraction *sum)
{
    put(out, sum->dtype, 1);
    put(out, sum->nsummed, 1);
    for (int i = 0; i < sum->nsummed; i++) put(out, sum->extent[i], 8);
    for (int factor = 0; factor < WK__FACTORS; factor++) {
        for (int i = 0; i < sum->nsummed; i++) put(out, sum->stride[factor][i], 8);
        put(out, sum->naffine[factor], 1);
        for (int k = 0; k < sum->naffine[factor]; k++) {
            const wk__affine_index *q = &sum->affine[factor][k];
            const int64_t number[] = {q->offset, q->divisor, q->extent, q->stride};
            for (size_t n = 0; n < sizeof number / sizeof *number; n++) put(out, number[n], 8);
            for (int i = 0; i < WK__MAX_INDICES; i++) put(out, q->coefficient[i], 8);
        }
    }
}

static void put_code(wk__text *out, const wk__captured_expression *code)
{
    put(out, code->nins, 1);
    put(out, code->nimms, 1);
    put(out, code->result, 2);
    for (int k = 0; k < code->nins; k++) {
        put(out, code->ins[k].code, 1);
        put(out, code->ins[k].dtype, 1);
        for (int a = 0; a < 3; a++) put(out, code->ins[k].arg[a], 2);
    }
    for (int k = 0; k < code->nimms; k++) put(out, code->imm[k].i, 8);
}

static void put_record(wk__text *out, const wk__shadow_map *shadows, wk__record *r, const wk__captured_expression *code)
{
    const uint8_t small[] = {r->family, r->ndim, r->nout, r->nin, r->compute, r->op->reduction, r->op->result};
    for (size_t k = 0; k < sizeof small; k++) put(out, small[k], 1);
    put(out,
        r->partial | r->rolls_back << 1 | r->in_place << 2 | r->op->saturate_scalars << 3 | r->op->uses_position << 4 |
            (r->op->expression != NULL) << 5 | r->op->index_is_label << 6 | r->op->nonnegative_index << 7,
        1);
    put(out, r->dim, 1);
    put(out, r->mode, 1);
    put(out, r->reduce_mask, 2);
    put(out, r->transaction, 4);
    put(out, r->bound, 8);
    put(out, index_of(shadows, r->prior), 4);
    put(out, r->site.line, 4);
    put_string(out, r->name);
    put_string(out, r->op->name);
    put_string(out, r->op->fault_message);
    put_string(out, r->site.file);
    for (int d = 0; d < r->ndim; d++) put(out, wk__record_shape(r)[d], 8);
    put_refs(out, shadows, r);
    if (wk__record_family(r)->is_contraction) put_sum(out, wk__record_sum(r));
    put_code(out, code);
}

static wk_code put_records(wk__text *out, const wk__shadow_map *shadows, wk__io_error *error)
{
    wk__lowering *b = wk__alloc(sizeof *b);
    for (int64_t k = 0; k < shadows->queue->count && b; k++) {
        wk__record *r = shadows->queue->record[k];
        void *room = wk__alloc(wk__record_bytes(r->family, r->ndim, r->nout + r->nin));
        wk__captured_expression code;
        const bool said = room && wk__flush_capture(wk__record_on_shadows(shadows, r, room), b, &code);
        wk__free(room);
        if (!said) {
            wk__free(b);
            return wk__io_fail(error, WK_ERR_UNSUPPORTED, "cannot serialise the expression of %s", r->name);
        }
        put_record(out, shadows, r, &code);
    }
    wk__free(b);
    return b ? WK_OK : wk__io_fail(error, WK_ERR_MEMORY, "out of host memory");
}

/* ---- file -------------------------------------------------------------------------------------------------------- */

static wk_code save(const wk__shadow_map *shadows, const wk__text *first, const char *path, int64_t bytes,
                    wk__io_error *error)
{
    wk__atomic_file save;
    wk_code code = wk__atomic_file_begin(&save, path, error);
    if (code != WK_OK) return code;
    code = wk__atomic_file_write(&save, first->data, first->length, error);
    for (int64_t k = 0; k < shadows->count && code == WK_OK; k++)
        if (has_bytes(&shadows->shadow[k])) code = put_bytes(&save, &shadows->shadow[k], error);
    if (code == WK_OK) return wk__atomic_file_commit(&save, bytes, error);
    wk__atomic_file_abort(&save);
    return code;
}

wk_code wk__flush_write(const wk__shadow_map *shadows, const char *said, const char *path, wk__io_error *error)
{
    wk__text body = {0}, first = {0};
    int64_t data = 0;
    put_string(&body, said);
    for (int64_t k = 0; k < shadows->count; k++) {
        put_value(&body, &shadows->shadow[k]);
        if (has_bytes(&shadows->shadow[k])) data += shadows->shadow[k].value.bytes;
    }
    wk_code code = put_records(&body, shadows, error);
    wk__text_add_n(&first, "WICKFLSH", 8);
    put(&first, WK__FLUSH_VERSION, 4);
    put(&first, shadows->may_defer, 4);
    put(&first, WK__FLUSH_HEAD + body.length + data, 8);
    put(&first, shadows->count, 4);
    put(&first, shadows->queue->count, 4);
    wk__text_add_n(&first, body.data, body.length);
    if (code == WK_OK && (first.failed || body.failed)) code = wk__io_fail(error, WK_ERR_MEMORY, "out of host memory");
    if (code == WK_OK) code = save(shadows, &first, path, WK__FLUSH_HEAD + body.length + data, error);
    wk__text_free(&first);
    wk__text_free(&body);
    return code;
}
