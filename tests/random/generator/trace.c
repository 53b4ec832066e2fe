/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and compares traces; see trace.h. */
#include "trace.h"
#include "ir/scalar.h"
#include "tensor/tensor.h"
#include "xalloc.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *room_for(executor *m, size_t bytes)
{
    if (m->used + bytes > m->room) {
        m->room = 2 * (m->used + bytes) + 4096;
        m->notes = xrealloc(m->notes, m->room);
    }
    char *at = m->notes + m->used;
    m->used += bytes;
    return at;
}

size_t tensor_bytes(const wk_tensor *x)
{
    const wk__body *body = wk__body_of(x);
    return (size_t)wk__body_numel(body) * wk_dtype_size(body->dtype);
}

/* Makes all NaN equal: their bits depend on the order of operands in registers. */
static void make_alike(wk_dtype dtype, void *bytes, size_t size)
{
    if (dtype == WK_F32) {
        for (float *x = bytes; size; x++, size -= sizeof *x)
            if (isnan(*x)) memset(x, 0xff, sizeof *x);
    } else if (dtype == WK_F64) {
        for (double *x = bytes; size; x++, size -= sizeof *x)
            if (isnan(*x)) memset(x, 0xff, sizeof *x);
    } else if (dtype == WK_F16 || dtype == WK_BF16) {
        const uint16_t infinity = dtype == WK_F16 ? 0x7c00 : 0x7f80;
        for (uint16_t *x = bytes; size; x++, size -= sizeof *x)
            if ((*x & 0x7fff) > infinity) *x = 0xffff;
    }
}

wk_code executor_read(wk_tensor *x, void *to)
{
    const size_t bytes = tensor_bytes(x);
    const wk_code code = wk_read_at((wk_site){"program", 0}, x, to, bytes);
    if (code == WK_OK) make_alike(wk__body_of(x)->dtype, to, bytes);
    wk_clear_error();
    return code;
}

double executor_read_element(wk_tensor *x, int64_t k)
{
    const wk__body *body = wk__body_of(x);
    const size_t bytes = tensor_bytes(x), width = wk_dtype_size(body->dtype);
    _Alignas(8) char few[4096];
    char *numbers = bytes > sizeof few ? xcalloc(bytes, 1) : few;
    const double number =
        executor_read(x, numbers) == WK_OK ? wk__scalar_to_double(numbers + width * (size_t)k, body->dtype) : NAN;
    if (numbers != few) free(numbers);
    return number;
}

/* Returns a hash of the message about an index, reported at the call or later. */
static uint32_t message(void)
{
    uint32_t hash = 2166136261u;
    for (const char *text = wk_error(); text && *text; text++) hash = (hash ^ (uint8_t)*text) * 16777619u;
    return hash | 4; /* never a small number */
}

static trace_entry *begin_note(executor *m, int what, int slot, size_t bytes)
{
    const size_t whole = (bytes + 7) & ~(size_t)7;
    trace_entry *n = (trace_entry *)(void *)room_for(m, sizeof *n + whole);
    memset(n, 0, sizeof *n + whole);
    n->step = (int16_t)m->now;
    n->slot = (int16_t)slot;
    n->what = (uint8_t)what;
    n->bytes = (int64_t)whole;
    return n;
}

void trace_read(executor *m, int what, int slot, wk_tensor *x)
{
    const wk__body *body = wk__body_of(x);
    const size_t bytes = tensor_bytes(x), at = m->used;
    const bool requires_grad = wk_requires_grad(x); /* may first have to recompute a view's history */
    trace_entry *n = begin_note(m, what, slot, bytes);
    n->dtype = body->dtype;
    n->ndim = body->ndim;
    n->requires_grad = requires_grad;
    memcpy(n->shape, body->shape, sizeof n->shape[0] * body->ndim);
    const wk_code code = executor_read(x, n + 1);
    n = (trace_entry *)(void *)(m->notes + at);
    n->code = (uint8_t)code;
    if (code == WK_OK) return;
    memset(n + 1, 0, bytes);
    if (code != WK_ERR_INDEX) return;
    /* read again, so that no other value's failure is reported first */
    wk_read_at((wk_site){"program", 0}, x, n + 1, bytes);
    memset(n + 1, 0, bytes);
    n->said = message();
    wk_clear_error();
}

void trace_failure(executor *m)
{
    trace_entry *n = begin_note(m, NOTE_FAILED, -1, 0);
    n->code = (uint8_t)m->code;
    if (m->code == WK_ERR_INDEX) n->said = message();
}

void trace_guard_bytes(executor *m)
{
    for (int k = 0; k < m->lents; k++) {
        const char *memory = m->borrowed[k].memory;
        bool kept = true;
        for (size_t g = 0; g < LENT_GUARD; g++)
            kept = kept && memory[g] == (char)0xa5 && memory[LENT_GUARD + m->borrowed[k].bytes + g] == (char)0xa5;
        if (!kept) begin_note(m, NOTE_GUARD, m->borrowed[k].slot, 0);
    }
}

void notes_contexts(executor *m)
{
    begin_note(m, NOTE_CONTEXTS, -1, 0);
}

void notes_shared(executor *m, int slot)
{
    begin_note(m, NOTE_SHARED, slot, 0);
}

size_t trace_append(executor *m, const executor *from, size_t at, int k)
{
    size_t end = at;
    while (end < from->used) {
        const trace_entry *n = (const trace_entry *)(const void *)(from->notes + end);
        if (n->step != k) break;
        end += sizeof *n + (size_t)n->bytes;
    }
    if (end > at) memcpy(room_for(m, end - at), from->notes + at, end - at);
    return end - at;
}

/* ---- comparison -------------------------------------------------------------------------------------------------- */

static int name_note(const trace_entry *n, char *text, size_t size)
{
    static const char *const what[] = {"fails",
                                       "is read",
                                       "remains",
                                       "has the gradient",
                                       "is the argument of a hook",
                                       "has modified memory around it",
                                       "is new, but its elements share memory",
                                       "contexts of functions were not destroyed"};
    int at = n->step >= 0 ? snprintf(text, size, "at step %d", n->step) : snprintf(text, size, "at the end");
    if (n->slot >= 0) at += snprintf(text + at, size - (size_t)at, " t%d", n->slot);
    at += snprintf(text + at, size - (size_t)at, " %s", what[n->what]);
    if (n->code) return at + snprintf(text + at, size - (size_t)at, " with code %d", n->code);
    if (!n->dtype) return at;
    at += snprintf(text + at, size - (size_t)at, ", %s[", wk_dtype_str((wk_dtype)n->dtype));
    for (int d = 0; d < n->ndim; d++)
        at += snprintf(text + at, size - (size_t)at, d ? ",%lld" : "%lld", (long long)n->shape[d]);
    return at + snprintf(text + at, size - (size_t)at, n->requires_grad ? "] requires_grad" : "]");
}

/* Describes an element that differs. */
static void name_numbers(const trace_entry *a, const trace_entry *b, char *text, size_t size)
{
    const size_t width = wk_dtype_size(a->dtype);
    const char *x = (const char *)(a + 1), *y = (const char *)(b + 1);
    for (size_t k = 0; width && k < (size_t)a->bytes; k += width)
        if (memcmp(x + k, y + k, width) != 0) {
            snprintf(text, size, ": element %zu is %.17g, and %.17g", k / width, wk__scalar_to_double(x + k, a->dtype),
                     wk__scalar_to_double(y + k, a->dtype));
            return;
        }
}

bool trace_has_error(const executor *m, char *text, size_t size)
{
    for (size_t at = 0; at < m->used;) {
        const trace_entry *n = (const trace_entry *)(const void *)(m->notes + at);
        if (n->what >= NOTE_GUARD || (n->what == NOTE_FAILED && n->code == WK_ERR_INTERNAL)) {
            const int end = name_note(n, text, size);
            if (n->what == NOTE_FAILED) snprintf(text + end, size - (size_t)end, " without a reason");
            return true;
        }
        at += sizeof *n + (size_t)n->bytes;
    }
    return false;
}

/* A backward pass stops at an index that was made invalid by a write, if that is already known; otherwise the dependent
 * gradients fail later. */
static bool stops_at_an_index(const executor *m, const trace_entry *n)
{
    if (n->what != NOTE_FAILED || n->code != WK_ERR_INDEX || n->step < 0) return false;
    const uint8_t kind = m->program->step[n->step].kind;
    return kind == STEP_BACKWARD || kind == STEP_DIFFERENTIATE || kind == STEP_OPTIMISE;
}

bool trace_differs(const executor *a, const executor *b, char *text, size_t size)
{
    if (a->used == b->used && memcmp(a->notes, b->notes, a->used) == 0) return false;
    text[0] = 0;
    for (size_t at = 0; at < a->used && at < b->used;) {
        const trace_entry *x = (const trace_entry *)(const void *)(a->notes + at),
                          *y = (const trace_entry *)(const void *)(b->notes + at);
        if (stops_at_an_index(a, x)) return false;
        if (memcmp(x, y, sizeof *x) != 0) {
            int n = name_note(x, text, size);
            n += snprintf(text + n, size - (size_t)n, "; and ");
            name_note(y, text + n, size - (size_t)n);
            return true;
        }
        if (memcmp(x, y, sizeof *x + (size_t)x->bytes) != 0) {
            const int n = name_note(x, text, size);
            name_numbers(x, y, text + n, size - (size_t)n);
            return true;
        }
        at += sizeof *x + (size_t)x->bytes;
    }
    snprintf(text, size, "one trace has more entries");
    return true;
}
