/* SPDX-License-Identifier: Apache-2.0 */
/* Reads flush files; see flush_file.h. This file parses the bytes, and checks counts before they are used;
 * flush_validate.c checks the contents. */
#include "base/alloc.h"
#include "base/intern.h"
#include "flush_validate.h"
#include "flush_file.h"
#include <string.h>

/* Read position. Reading past the end returns zeros and sets `failed`. */
typedef struct reader {
    const unsigned char *bytes;
    int64_t at, count;
    bool failed;
} reader;

static int64_t get(reader *in, int bytes)
{
    uint64_t number = 0;
    if (in->failed || in->count - in->at < bytes) {
        in->failed = true;
        return 0;
    }
    for (int k = 0; k < bytes; k++) number |= (uint64_t)in->bytes[in->at + k] << 8 * k;
    in->at += bytes;
    if (bytes < 8 && number >> (8 * bytes - 1)) number |= ~UINT64_C(0) << 8 * bytes; /* signed */
    return (int64_t)number;
}

static uint32_t get_u32(reader *in)
{
    return (uint32_t)get(in, 4);
}

static uint8_t get_u8(reader *in)
{
    return (uint8_t)get(in, 1);
}

/* Reads a string without NUL bytes, copies it to *to, and advances *to past its end. */
static const char *get_string(reader *in, char **to)
{
    const int64_t length = get(in, 2);
    if (length < 0 || length > WK__FLUSH_STRING || length > in->count - in->at) in->failed = true;
    if (in->failed) return "";
    char *string = *to;
    memcpy(string, in->bytes + in->at, (size_t)length);
    string[length] = 0;
    in->failed = memchr(string, 0, (size_t)length) != NULL;
    in->at += length;
    *to += length + 1;
    return string;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* A value can't be both in memory and failed; only values in memory have contents. */
static bool flags_fit(uint32_t flags)
{
    const bool there = flags & WK__FLUSH_IN_MEMORY, failed = flags & WK__FLUSH_FAILED;
    return flags <= WK__FLUSH_ALL && !(there && failed) && (there || !(flags & WK__FLUSH_HAS_DATA));
}

static bool get_value(reader *in, wk__flush_value *v)
{
    v->device.kind = (int16_t)get(in, 2);
    v->device.index = (int16_t)get(in, 2);
    v->flags = get_u32(in);
    v->bytes = get(in, 8);
    const bool known = v->device.kind == WK_CPU || v->device.kind == WK_CUDA || v->device.kind == WK_OPENCL;
    return !in->failed && known && v->device.index >= 0 && flags_fit(v->flags) && v->bytes >= 0 &&
           v->bytes <= INT64_MAX / 4;
}

/* The contents of the values are the rest of the file, without gaps. */
static bool place_data(reader *in, wk__flush_data *flush)
{
    for (int64_t k = 0; k < flush->values; k++) {
        wk__flush_value *v = &flush->value[k];
        if (!(v->flags & WK__FLUSH_HAS_DATA)) continue;
        if (v->bytes > in->count - in->at) return false;
        v->data = flush->bytes + in->at;
        in->at += v->bytes;
    }
    return in->at == in->count;
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

static void get_refs(reader *in, wk__flush_record *f)
{
    wk__record *r = f->record;
    for (int k = 0; k < r->nout + r->nin; k++) {
        wk__ref *ref = &r->ref[k];
        f->value[k] = (int32_t)get(in, 4);
        ref->dtype = get_u8(in);
        ref->flags = get_u8(in);
        r->has_indirect_read = r->has_indirect_read || (k >= r->nout && ref->flags & WK__REF_INDIRECT);
        const int64_t number = get(in, 8);
        if (f->value[k] < 0)
            ref->imm.i = number;
        else
            ref->offset = number;
        for (int d = 0; d < r->ndim; d++) wk__record_stride(r, k)[d] = get(in, 8);
    }
}

/* Returns false if there are more indices than fit; flush_validate.c checks the values. */
static bool get_sum(reader *in, wk__contraction *sum)
{
    sum->dtype = get_u8(in);
    sum->nsummed = (int8_t)get(in, 1);
    if (sum->nsummed < 0 || sum->nsummed > WK__MAX_SUMMED) return false;
    for (int i = 0; i < sum->nsummed; i++) sum->extent[i] = get(in, 8);
    for (int factor = 0; factor < WK__FACTORS; factor++) {
        for (int i = 0; i < sum->nsummed; i++) sum->stride[factor][i] = get(in, 8);
        sum->naffine[factor] = (int8_t)get(in, 1);
        if (sum->naffine[factor] < 0 || sum->naffine[factor] > WK__MAX_AFFINE) return false;
        for (int k = 0; k < sum->naffine[factor]; k++) {
            wk__affine_index *q = &sum->affine[factor][k];
            int64_t *const number[] = {&q->offset, &q->divisor, &q->extent, &q->stride};
            for (size_t n = 0; n < sizeof number / sizeof *number; n++) *number[n] = get(in, 8);
            for (int i = 0; i < WK__MAX_INDICES; i++) q->coefficient[i] = get(in, 8);
        }
    }
    return true;
}

static bool get_code(reader *in, wk__flush_record *f)
{
    const wk__record *r = f->record;
    wk__captured_expression *code = &f->op->code;
    code->nins = get_u8(in);
    code->nimms = get_u8(in);
    code->result = (int16_t)get(in, 2);
    if (code->nins > WK__MAX_INS || code->nimms > WK__MAX_IMMS) return false;
    for (int k = 0; k < code->nins; k++) {
        code->ins[k].code = get_u8(in);
        code->ins[k].dtype = get_u8(in);
        for (int a = 0; a < 3; a++) code->ins[k].arg[a] = (int16_t)get(in, 2);
    }
    for (int k = 0; k < code->nimms; k++) code->imm[k].i = get(in, 8);
    return !r->op->expression || wk__flush_expression_is_valid(code, r->ref + r->nout, r->nin);
}

/* Strings are stored in the record at first, so that a file that is rejected later leaves none behind. */
static void get_names(reader *in, wk__flush_record *f)
{
    wk__record *r = f->record;
    wk__op *op = &f->op->op;
    char *to = f->strings;
    r->name = get_string(in, &to);
    op->name = get_string(in, &to);
    op->fault_message = get_string(in, &to);
    r->site.file = get_string(in, &to);
    if (!*op->fault_message) op->fault_message = NULL;
    if (!*r->site.file) r->site.file = NULL;
}

/* Returns an upper bound of the memory for a record's strings. */
static size_t room_for_strings(const reader *in)
{
    reader ahead = *in;
    size_t bytes = 0;
    for (int k = 0; k < 4; k++) {
        const int64_t length = get(&ahead, 2);
        if (ahead.failed || length < 0 || length > ahead.count - ahead.at) break;
        bytes += (size_t)length + 1;
        ahead.at += length;
    }
    return bytes + 4;
}

/* The fixed-size start of a record, before its strings. */
typedef struct record_header {
    uint8_t family, ndim, nout, nin, compute, reduction, result, bits;
    int8_t dim, mode;
    uint16_t reduce_mask;
    int32_t transaction, prior, line;
    int64_t bound;
} record_header;

static bool get_head(reader *in, record_header *h)
{
    uint8_t *const small[] = {&h->family,  &h->ndim,      &h->nout,   &h->nin,
                              &h->compute, &h->reduction, &h->result, &h->bits};
    for (size_t k = 0; k < sizeof small / sizeof *small; k++) *small[k] = get_u8(in);
    h->dim = (int8_t)get(in, 1);
    h->mode = (int8_t)get(in, 1);
    h->reduce_mask = (uint16_t)get(in, 2);
    h->transaction = (int32_t)get(in, 4);
    h->bound = get(in, 8);
    h->prior = (int32_t)get(in, 4);
    h->line = (int32_t)get(in, 4);
    return !in->failed && wk__is_work_family(h->family) && h->ndim <= WK__MAX_DIMS && h->nout >= 1 &&
           h->nout <= WK__FLUSH_RESULTS && h->nin <= WK__MAX_OPERANDS && h->result <= WK__RESULT_BOOL;
}

static void fill(wk__flush_record *f, const record_header *h)
{
    *f->record = (wk__record){.op = &f->op->op,
                              .site.line = h->line,
                              .bound = h->bound,
                              .group = -1,
                              .transaction = h->transaction,
                              .reduce_mask = h->reduce_mask,
                              .family = h->family,
                              .ndim = h->ndim,
                              .nout = h->nout,
                              .nin = h->nin,
                              .compute = h->compute,
                              .dim = h->dim,
                              .mode = h->mode,
                              .partial = h->bits & 1,
                              .rolls_back = h->bits >> 1 & 1,
                              .in_place = h->bits >> 2 & 1};
    f->op->op = (wk__op){.expression = h->bits >> 5 & 1 ? wk__flush_expression : NULL,
                         .reduction = h->reduction,
                         .result = h->result,
                         .saturate_scalars = h->bits >> 3 & 1,
                         .uses_position = h->bits >> 4 & 1,
                         .index_is_label = h->bits >> 6 & 1,
                         .nonnegative_index = h->bits >> 7 & 1};
    f->prior = h->prior;
}

static bool get_record(reader *in, wk__flush_record *f, bool *no_memory)
{
    record_header h;
    if (!get_head(in, &h)) return false;
    f->record = wk__alloc_zero(1, wk__record_bytes(h.family, h.ndim, h.nout + h.nin));
    f->op = wk__alloc_zero(1, sizeof *f->op);
    f->strings = wk__alloc(room_for_strings(in));
    *no_memory = !f->record || !f->op || !f->strings;
    if (*no_memory) return false;
    fill(f, &h);
    get_names(in, f);
    for (int d = 0; d < h.ndim; d++) wk__record_shape(f->record)[d] = get(in, 8);
    get_refs(in, f);
    if (wk__record_family(f->record)->is_contraction && !get_sum(in, wk__record_sum(f->record))) return false;
    return get_code(in, f) && !in->failed;
}

/* ---- file -------------------------------------------------------------------------------------------------------- */

enum { MIN_VALUE_BYTES = 16, MIN_RECORD_BYTES = 58 /* minimum sizes in a file */ };

static const char magic[] = "WICKFLSH";

static bool get_counts(reader *in, wk__flush_data *out)
{
    if (in->count < WK__FLUSH_HEAD) return false;
    in->at = 8;
    const uint32_t version = get_u32(in), flags = get_u32(in);
    const int64_t bytes = get(in, 8);
    out->values = get_u32(in);
    out->records = get_u32(in);
    out->may_defer = flags == 1;
    return version == WK__FLUSH_VERSION && flags <= 1 && bytes == in->count && out->records >= 1 &&
           out->records <= WK__FLUSH_RECORDS && out->records <= in->count / MIN_RECORD_BYTES &&
           out->values <= in->count / MIN_VALUE_BYTES;
}

static wk_code refused(wk__io_error *error, const reader *in, const char *what)
{
    return wk__io_fail(error, WK_ERR_FORMAT, "invalid flush file: %s, before byte %lld", what, (long long)in->at);
}

static wk_code no_room(wk__io_error *error)
{
    return wk__io_fail(error, WK_ERR_MEMORY, "out of host memory");
}

static wk_code get_all(reader *in, wk__flush_data *out, wk__io_error *error)
{
    if (in->count < 8 || memcmp(in->bytes, magic, 8) != 0)
        return wk__io_fail(error, WK_ERR_FORMAT,
                           "invalid flush file: expected %s at its start, as WICK_CHECK=1 writes it", magic);
    if (!get_counts(in, out)) return refused(error, in, "its first bytes");
    out->value = wk__alloc_zero((size_t)out->values, sizeof *out->value);
    out->record = wk__alloc_zero((size_t)out->records, sizeof *out->record);
    out->message = wk__alloc(WK__FLUSH_STRING + 1);
    if (!out->value || !out->record || !out->message) return no_room(error);
    char *to = out->message;
    get_string(in, &to);
    if (in->failed) return refused(error, in, "its message");
    for (int64_t k = 0; k < out->values; k++)
        if (!get_value(in, &out->value[k])) return refused(error, in, "a value");
    for (int64_t k = 0; k < out->records; k++) {
        bool no_memory = false;
        if (!get_record(in, &out->record[k], &no_memory))
            return no_memory ? no_room(error) : refused(error, in, "a call");
    }
    return place_data(in, out) ? WK_OK : refused(error, in, "the bytes of its values");
}

static bool keep(const char **name)
{
    const char *before = *name;
    *name = wk__intern(before);
    return *name || !before;
}

/* Failures, the log and asynchronous devices refer to a record's names, possibly after the flush has been freed. */
static bool keep_names(wk__flush_data *flush)
{
    bool kept = true;
    for (int64_t k = 0; k < flush->records && kept; k++) {
        wk__flush_record *f = &flush->record[k];
        kept = keep(&f->record->name) && keep(&f->record->site.file) && keep(&f->op->op.name) &&
               keep(&f->op->op.fault_message);
        wk__free(f->strings);
        f->strings = NULL;
    }
    return kept;
}

wk_code wk__flush_parse(char *bytes, int64_t count, wk__flush_data *out, wk__io_error *error)
{
    *out = (wk__flush_data){.bytes = bytes};
    reader in = {.bytes = (const unsigned char *)bytes, .count = count};
    wk_code code = get_all(&in, out, error);
    if (code == WK_OK) code = wk__flush_validate(out, error);
    if (code == WK_OK && !keep_names(out)) code = no_room(error);
    if (code != WK_OK) wk__flush_free(out);
    return code;
}

wk_code wk__flush_read(const char *path, wk__flush_data *out, wk__io_error *error)
{
    wk__file file;
    wk_code code = wk__file_open(&file, path, error);
    if (code != WK_OK) return code;
    const int64_t count = file.bytes;
    char *bytes = wk__alloc((size_t)count);
    code = bytes ? wk__file_read_at(&file, 0, bytes, count, error) : no_room(error);
    wk__file_close(&file);
    if (code == WK_OK) {
        code = wk__flush_parse(bytes, count, out, error);
        return code == WK_OK ? code : wk__io_prefix(error, "%s", wk__printable_name(path).text);
    }
    wk__free(bytes);
    return code;
}

void wk__flush_free(wk__flush_data *flush)
{
    for (int64_t k = 0; k < flush->records && flush->record; k++) {
        wk__free(flush->record[k].record);
        wk__free(flush->record[k].op);
        wk__free(flush->record[k].strings);
    }
    wk__free(flush->record);
    wk__free(flush->value);
    wk__free(flush->message);
    wk__free(flush->bytes);
    *flush = (wk__flush_data){0};
}
