/* SPDX-License-Identifier: Apache-2.0 */
/* Op prologue and error messages (call.h). */
#include "call.h"
#include "backend/arena/arena.h"
#include "placement.h"
#include <string.h>
#include <wick/device.h>

static const char *const roles[2][WK__MAX_INPUTS] = {
    {"input", "", "", ""}, {"first operand", "second operand", "third operand", "fourth operand"}};

static void set_op_error(const char *name, wk_site site, wk_code code, wk_tensor *const in[], const char *format,
                         va_list args)
{
    if (wk__error_pending()) return;
    wk__text plain = {0}, text = {0};
    wk__text_vformat(&plain, format, args);
    wk__text_format(&text, "%s: ", name);
    for (const char *c = plain.data ? plain.data : ""; *c; c++) {
        if (c[0] == '$' && c[1] >= 'a' && c[1] <= 'd') {
            wk__text_tensor(&text, in[c[1] - 'a']);
            c++;
        } else {
            wk__text_repeat(&text, *c, 1);
        }
    }
    wk__text_free(&plain);
    wk__error_set_text(site, code, &text);
}

void wk__op_error(const wk__op *op, wk_site site, wk_code code, wk_tensor *const in[], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_op_error(op->name, site, code, in, format, args);
    va_end(args);
}

void wk__call_error(const char *name, wk_site site, wk_code code, wk_tensor *const in[], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_op_error(name, site, code, in, format, args);
    va_end(args);
}

/* Returns the device that the error message suggests: the target's; else the accelerator with most operands, the first
 * of equals. */
static const wk__device *suggested_device(wk_tensor *const in[], int count, wk__colocation meeting)
{
    const wk__device *best = wk__body_of(in[0])->storage->device;
    if (meeting & WK__COLOCATE_TO_TARGET) return best;
    int most = 0;
    for (int k = 0; k < count; k++) {
        const wk__device *device = wk__body_of(in[k])->storage->device;
        int there = 0;
        for (int j = 0; j < count; j++) there += wk__body_of(in[j])->storage->device == device;
        if (device->id.kind == WK_CPU || there <= most) continue;
        most = there;
        best = device;
    }
    return best;
}

static wk__device *report_device_mismatch(const wk__op *op, wk_site site, wk_tensor *const in[], int count,
                                          wk__colocation meeting)
{
    wk__text text = {0}, moves = {0};
    const wk__device *target = suggested_device(in, count, meeting);
    int others = 0;
    wk__text_format(&text, "%s: operands are on different devices: ", op->name);
    for (int k = 0; k < count; k++) {
        wk__text_format(&text, k ? ", %c " : "%c ", 'a' + k);
        wk__text_tensor_device(&text, in[k]);
    }
    for (int k = 0; k < count; k++) {
        if (wk__body_of(in[k])->storage->device == target) continue;
        wk__text_format(&moves, others++ ? ", wk_to(%c, wk_%s(" : "wk_to(%c, wk_%s(", 'a' + k, target->backend->name);
        if (target->id.kind != WK_CPU) wk__text_format(&moves, "%d", target->id.index);
        wk__text_add(&moves, "))");
    }
    wk__text_format(&text, "; move %s: %s", others > 1 ? "them" : "one", moves.data != NULL ? moves.data : "");
    wk__text_free(&moves);
    if (wk__context()->frame.module_frame) wk__text_add(&text, ", or the network: wk_module_to(net, device)");
    wk__error_set_text(site, WK_ERR_DEVICE, &text);
    return NULL;
}

/* Checks that apply to every call, the most frequent causes first. */
static inline __attribute__((always_inline)) bool check_operands(wk_context *context, const wk__op *op, wk_site site,
                                                                 wk_tensor *const in[], int count)
{
    if (__builtin_expect(context->posted_failure != NULL, 0)) wk__report_posted_failure(context);
    if (wk__forked) return wk__report_forked(site, op->name);
    for (int k = 0; k < count; k++)
        if (__builtin_expect(!wk__handle_alive(in[k], &wk__tensor_kind), 0) &&
            !wk__check_tensor(in[k], site, op->name, roles[count > 1][k < WK__MAX_INPUTS ? k : WK__MAX_INPUTS - 1]))
            return false;
    return true;
}

wk__device *wk__prepare_operands(wk_context *context, const wk__op *op, wk_site site, wk_tensor *in[], int count,
                                 wk__colocation meeting)
{
    if (!check_operands(context, op, site, in, count)) return NULL;
    const wk__body *first = in[0]->handle.body;
    for (int k = 1; k < count; k++) {
        const wk__body *body = in[k]->handle.body;
        if (__builtin_expect(body->storage->device == first->storage->device, 1)) continue;
        if (!wk__colocate_operands(op, site, in, count, meeting))
            return report_device_mismatch(op, site, in, count, meeting);
        first = in[0]->handle.body;
        break;
    }
    for (int k = 0; k < count; k++)
        if (!wk__prepare_operand(context, in[k], site)) return NULL;
    return first->storage->device;
}

/* Reports different devices with the letters of the user's call, because the calls inside have other operands. */
bool wk__check_operands(const wk__op *op, wk_site site, wk_tensor *const in[], int count)
{
    if (!check_operands(wk__context(), op, site, in, count)) return false;
    for (int k = 1; k < count; k++)
        if (wk__body_of(in[k])->storage->device != wk__body_of(in[0])->storage->device)
            return wk__soft_placement_enabled() || report_device_mismatch(op, site, in, count, WK__COLOCATE_IF_SOFT);
    return true;
}

wk__device *wk__resolve_device(const wk__op *op, wk_site site, wk_device device)
{
    wk_context *context = wk__context();
    if (!check_operands(context, op, site, NULL, 0)) return NULL;
    if (device.kind == 0) device = context->device;
    return wk__device_open(site, op->name, device);
}

bool wk__check_dtype(const wk__op *op, wk_site site, wk_dtype dtype)
{
    if (dtype >= WK_F32 && dtype < WK_DTYPE_COUNT) return true;
    const bool known = strcmp(wk_dtype_str(dtype), "?") != 0;
    wk__text text = {0};
    wk__text_format(&text, "%s: ", op->name);
    if (known)
        wk__text_format(&text, "dtype %s is not supported", wk_dtype_str(dtype));
    else
        wk__text_format(&text, "unknown dtype %d", (int)dtype);
    wk__text_add(&text,
                 "; supported are WK_F32, WK_F64, WK_F16, WK_BF16, WK_I64, WK_I32, WK_I16, WK_I8, WK_U8 and WK_BOOL");
    wk__error_set_text(site, WK_ERR_DTYPE, &text);
    return false;
}

wk_tensor *wk__return_operand(wk_tensor *x)
{
    wk_context *context = wk__context();
    if (context->scope < 0) wk__handle_retain(&x->handle, wk__body_of(x)->storage->value->site);
    return x;
}

/* Releases the result's only reference, of the innermost scope or the caller. */
wk_tensor *wk__discard_result(wk_tensor *out)
{
    wk__value_fail(wk__body_of(out)->storage->value, NULL);
    wk__handle_release(&out->handle, (wk_site){0});
    return NULL;
}

wk_tensor *wk__begin_output_record(const wk__op *op, wk_site site, wk_tensor *in[], int count, wk__output_spec m,
                                   wk__record **record)
{
    wk_context *context = wk__context();
    wk__device *device = wk__prepare_operands(context, op, site, in, count, WK__COLOCATE_IF_SOFT);
    if (!device) return NULL;
    const wk__body *first = wk__body_of(in[0]);
    const int64_t *shape = m.shape ? m.shape : first->shape, one = 1;
    int ndim = m.shape ? m.ndim : first->ndim;
    wk_tensor *out = wk__tensor_pending(context, device, m.dtype ? m.dtype : first->dtype, ndim, shape, site, op->name);
    if (!out) return NULL;
    wk__body *body = wk__body_of(out);
    if (m.same_layout) {
        wk__layout_like(first, shape, body->stride);
        body->known_dense = wk__body_contiguous(body);
    }
    bool point = ndim == 0 && wk__work_families[m.family].is_along_dim;
    wk__record *r =
        wk__record_begin(context, m.family, op, device, site, point ? 1 : ndim, point ? &one : shape, 1, m.inputs);
    if (!r) return wk__discard_result(out);
    r->compute = first->dtype;
    wk__record_ref(r, 0, body, point ? &one : body->stride);
    *record = r;
    return out;
}

bool wk__check_result_fits(const wk__op *op, wk_site site, wk_tensor *x, const int64_t *last, int count)
{
    const wk__body *body = wk__body_of(x);
    int64_t shape[WK__MAX_DIMS], bytes = INT64_MAX;
    for (int d = 0; d < body->ndim; d++) shape[d] = body->shape[d] > 0 ? body->shape[d] : 1; /* an empty batch as one */
    memcpy(shape + body->ndim - count, last, sizeof *shape * (size_t)count);
    wk__arena_stats now;
    wk__arena_stats_of(body->storage->device->arena, &now);
    if (wk__dense_bytes(body->ndim, shape, body->dtype, &bytes) && bytes <= now.limit) return true;
    wk__op_error(
        op, site, WK_ERR_MEMORY, &x,
        "the result for $a needs more than the memory limit of its device, %lld MiB; make it smaller, or raise "
        "the limit (wk_memory_set_limit)",
        (long long)(now.limit >> 20));
    return false;
}
