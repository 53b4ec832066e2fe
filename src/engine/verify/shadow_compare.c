/* SPDX-License-Identifier: Apache-2.0 */
/* See shadow_compare.h.
 *
 * All bits are compared, except those of NaNs: IEEE 754 does not specify which NaN an operation on two NaNs returns,
 * and processors return the first. A plan may swap the operands of a sum (backend/cpu/vm/program_codegen.c does if the
 * second is in a register), and device compilers may do so as well. So any two computed NaNs are equal; values that are
 * only read must not change at all. */
#include "shadow_compare.h"
#include "base/alloc.h"
#include "ir/scalar.h"
#include <string.h>

/* ---- permitted differences --------------------------------------------------------------------------------------- */

static bool is_async(const wk__device *device)
{
    return device->id.kind != WK_CPU;
}

/* Returns true if there was a bad index on this device, or a failure of the planned run only. */
static bool faulted(const wk__shadow_map *shadows, const wk__device *device)
{
    for (int64_t k = 0; k < shadows->count; k++) {
        const wk__shadow *t = &shadows->shadow[k];
        if (t->value.device != device || !t->writer) continue;
        if (t->failed || t->tolerated || (t->held && t->of->state == WK__FAILED)) return true;
    }
    return false;
}

/* A bad index fails the entire group if that writes memory whose address the user has (can_run_again() in
 * plan/fusion_rules.c). */
static bool shares_a_fault(const wk__shadow_map *shadows, const wk__record *r)
{
    bool exposed = false, failed = false;
    for (int64_t k = 0; k < shadows->queue->count; k++) {
        const wk__record *other = shadows->queue->record[k];
        if (r->group < 0 || other->group != r->group) continue;
        const wk__shadow *t = wk__shadow_of(shadows, other->ref[0].value);
        exposed = exposed || t->exposed;
        failed = failed || t->failed;
    }
    return exposed && failed;
}

static void excuse_outputs(wk__shadow_map *shadows, wk__record *r, bool any_failed)
{
    const bool left_out = is_async(r->device) && faulted(shadows, r->device);
    bool may_fail = left_out || (any_failed && shares_a_fault(shadows, r));
    bool may_differ = left_out && r->prior;
    for (int i = 0; i < r->nin + (r->prior != NULL); i++) {
        const wk__shadow *in = wk__shadow_of(shadows, i < r->nin ? wk__record_in(r, i)->value : r->prior);
        if (!in) continue;
        may_fail = may_fail || in->may_fail || in->rolled_back;
        may_differ = may_differ || in->may_differ || in->tolerated;
    }
    for (int o = 0; o < r->nout; o++) {
        wk__shadow *t = wk__shadow_of(shadows, r->ref[o].value);
        t->may_fail = t->may_fail || may_fail;
        t->may_differ = may_differ || t->tolerated;
    }
}

void wk__shadow_mark_tolerated(wk__shadow_map *shadows)
{
    bool any_failed = false;
    for (int64_t k = 0; k < shadows->count; k++) {
        const wk__shadow *t = &shadows->shadow[k];
        any_failed = any_failed || t->failed || t->tolerated || (t->held && t->of->state == WK__FAILED);
    }
    for (int64_t k = 0; k < shadows->queue->count && any_failed; k++)
        excuse_outputs(shadows, shadows->queue->record[k], any_failed);
}

/* ---- contents ---------------------------------------------------------------------------------------------------- */

/* Returns a value's contents in host memory: its own memory, or a copy in *owned. NULL on failure. */
static const char *bytes_of(const wk__value *value, char **owned)
{
    wk__fail fail = {.tag = -1};
    wk__device *device = value->device;
    *owned = NULL;
    if (value->memory.host) return value->memory.host;
    *owned = wk__alloc((size_t)value->bytes);
    if (*owned && device->backend->download(device->state, *owned, &value->memory, 0, value->bytes, &fail) == WK_OK)
        return *owned;
    wk__free(*owned);
    *owned = NULL;
    return NULL;
}

static bool is_nan(const char *element, wk_dtype dtype)
{
    const double number = wk__is_float(dtype) ? wk__scalar_to_double(element, dtype) : 0;
    return number != number;
}

static bool same_element(const char *a, const char *b, wk_dtype dtype)
{
    return memcmp(a, b, wk_dtype_size(dtype)) == 0 || (is_nan(a, dtype) && is_nan(b, dtype));
}

/* Finds the first element of the record's output that differs, in the order of its space. Sets its index and returns
 * its offset in memory; -1 if none. */
static int64_t differing_element(wk__record *r, int output, const char *a, const char *b, int64_t index[])
{
    const int64_t *stride = wk__record_stride(r, output);
    const wk_dtype dtype = (wk_dtype)r->ref[output].dtype;
    const int64_t size = (int64_t)wk_dtype_size(dtype);
    int64_t shape[WK__MAX_DIMS];
    for (int d = 0; d < r->ndim; d++) shape[d] = wk__record_extent(r, output, d);
    memset(index, 0, sizeof *index * WK__MAX_DIMS);
    for (int64_t k = 0, n = wk__numel(r->ndim, shape); k < n; k++) {
        int64_t place = r->ref[output].offset;
        for (int d = 0; d < r->ndim; d++) place += index[d] * stride[d];
        if (!same_element(a + place * size, b + place * size, dtype)) return place;
        for (int d = r->ndim; d-- > 0 && ++index[d] == shape[d];) index[d] = 0;
    }
    return -1;
}

/* Compares the entire memory as elements; returns the index of the first difference, or -1. `computed`: the contents
 * were computed, not only read. */
static int64_t differing_number(const char *a, const char *b, int64_t bytes, wk_dtype dtype, bool computed)
{
    const int64_t size = (int64_t)wk_dtype_size(dtype);
    for (int64_t k = 0; k < bytes / size; k++) {
        const char *x = a + k * size, *y = b + k * size;
        if (computed ? !same_element(x, y, dtype) : memcmp(x, y, (size_t)size) != 0) return k;
    }
    return -1;
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static void add_number(wk__text *text, const char *element, wk_dtype dtype)
{
    if (wk__is_float(dtype))
        wk__text_double(text, wk__scalar_to_double(element, dtype), 'g', dtype == WK_F64 ? 17 : 9);
    else
        wk__text_format(text, "%lld", (long long)wk__scalar_to_i64(element, dtype));
}

static void add_bits(wk__text *text, const char *element, size_t size)
{
    wk__text_add(text, " (0x");
    for (size_t k = size; k-- > 0;) wk__text_format(text, "%02x", (unsigned char)element[k]);
    wk__text_repeat(text, ')', 1);
}

/* NaNs are distinguished by their bits. */
static void add_numbers(wk__text *text, const char *have, const char *want, wk_dtype dtype)
{
    const size_t size = wk_dtype_size(dtype);
    const bool bits = is_nan(have, dtype) && is_nan(want, dtype);
    wk__text_add(text, " is ");
    add_number(text, have, dtype);
    if (bits) add_bits(text, have, size);
    wk__text_add(text, ", but ");
    add_number(text, want, dtype);
    if (bits) add_bits(text, want, size);
}

static void add_index(wk__text *text, const int64_t *index, int ndim)
{
    wk__text_add(text, "element [");
    for (int d = 0; d < ndim; d++) wk__text_format(text, "%s%lld", d ? ", " : "", (long long)index[d]);
    wk__text_repeat(text, ']', 1);
}

/* The space of a scatter is that of its index, not that of its target. */
static bool walks_its_result(const wk__record *r, int reference)
{
    return reference < r->nout && (wk__record_family(r)->is_program || !r->partial);
}

bool wk__record_fills(wk__record *r, int output, int64_t bytes)
{
    const int64_t size = (int64_t)wk_dtype_size(r->ref[output].dtype);
    int64_t elements = 1;
    for (int d = 0; d < r->ndim; d++) elements *= wk__record_extent(r, output, d);
    return elements * size == bytes;
}

bool wk__bytes_differ(wk__record *r, int reference, bool holes, const char *have, const char *want, int64_t bytes,
                      wk__text *what)
{
    if (!holes && memcmp(have, want, (size_t)bytes) == 0) return false;
    const wk_dtype dtype = (wk_dtype)r->ref[reference].dtype;
    const int64_t size = (int64_t)wk_dtype_size(dtype);
    int64_t index[WK__MAX_DIMS];
    int64_t place = walks_its_result(r, reference) ? differing_element(r, reference, have, want, index) : -1;
    if (place >= 0) {
        add_index(what, index, r->ndim);
    } else {
        place = holes ? -1 : differing_number(have, want, bytes, dtype, reference < r->nout);
        if (place < 0) return false;
        wk__text_format(what, "element %lld of its memory", (long long)place);
    }
    add_numbers(what, have + place * size, want + place * size, dtype);
    return true;
}

static const char one_by_one[] = " when executed call by call";

/* ---- one value --------------------------------------------------------------------------------------------------- */

static int output_of(const wk__record *r, const wk__value *value)
{
    int k = r->nout - 1;
    while (k > 0 && r->ref[k].value != value) k--;
    return k;
}

/* Returns the record to name in a message, and sets its reference to the value. */
static wk__record *record_to_blame(const wk__shadow_map *shadows, const wk__shadow *t, int *reference)
{
    *reference = 0;
    if (t->writer) *reference = output_of(t->writer, t->of);
    if (t->writer) return t->writer;
    for (int64_t k = 0; k < shadows->queue->count; k++) {
        wk__record *r = shadows->queue->record[k];
        for (*reference = r->nout; *reference < r->nout + r->nin; ++*reference)
            if (r->ref[*reference].value == t->of) return r;
        if (r->prior == t->of) return *reference = 0, r;
    }
    return NULL;
}

static bool numbers_differ(const wk__shadow_map *shadows, wk__shadow *t, wk__difference *found)
{
    char *own_have = NULL, *own_want = NULL;
    const char *have = bytes_of(t->of, &own_have), *want = bytes_of(&t->value, &own_want);
    int reference;
    wk__record *r = have && want ? record_to_blame(shadows, t, &reference) : NULL;
    const bool differs =
        r && wk__bytes_differ(r, reference, t->partly_written, have, want, t->value.bytes, &found->what);
    if (differs) wk__text_add(&found->what, t->writer ? one_by_one : " before the flush that reads it");
    found->record = r;
    wk__free(own_have);
    wk__free(own_want);
    return differs;
}

bool wk__is_data_failure(const wk__failure *failure)
{
    return failure && (failure->code == WK_ERR_INDEX || failure->code == WK_ERR_ARGUMENT);
}

static bool says(wk__difference *found, wk__record *record, const char *what)
{
    found->record = record;
    wk__text_add(&found->what, what);
    return true;
}

bool wk__shadow_differs(const wk__shadow_map *shadows, wk__shadow *t, wk__difference *found)
{
    *found = (wk__difference){.shadow = t};
    if (!t->held || !t->valid || t->may_differ) return false;
    const wk__value_state state = t->of->state;
    if (state == WK__FAILED && !t->failed && !t->may_fail && t->writer && wk__is_data_failure(t->of->failure))
        return says(found, t->writer, "its result failed, but succeeds when executed call by call");
    if (state != WK__STORED) return false;
    if (!t->failed || t->rolled_back)
        return t->value.bytes > 0 && t->value.memory.block && numbers_differ(shadows, t, found);
    if (!t->writer || t->writer->rolls_back) return false; /* the target's old contents, which nothing else needed */
    return says(found, t->writer, "its result succeeded, but fails when executed call by call");
}
