/* SPDX-License-Identifier: Apache-2.0 */
/* Makes batches from samples; see batch.h. */
#include "batch.h"
#include "base/alloc.h"
#include "sample.h"
#include <string.h>

/* ---- errors ------------------------------------------------------------------------------------------------------ */

__attribute__((format(printf, 4, 5))) static bool fail(wk__batch_data *out, wk_site site, wk_code code,
                                                       const char *format, ...)
{
    if (out->code != WK_OK) return false;
    out->code = code;
    out->site = site;
    va_list args;
    va_start(args, format);
    wk__text_vformat(&out->error, format, args);
    va_end(args);
    return false;
}

/* Moves the error of the current context to the batch. Kernel errors do not name the sample yet; this function adds
 * it. */
static void take_error(wk__batch_data *out, const char *sample)
{
    const wk_context *context = wk__context();
    const wk_code code = wk_error_code();
    if (code == WK_OK) return;
    const char *text = context->error.data ? context->error.data + context->prefix_length : "out of host memory";
    if (strstr(text, sample))
        fail(out, context->error_site, code, "%s", text);
    else
        fail(out, context->error_site, code, "%s (in %s)", text, sample);
    wk_clear_error();
}

void wk__batch_raise(wk__batch_data *batch)
{
    wk__error_set_text(batch->site, batch->code, &batch->error);
    batch->code = WK_OK;
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

/* Shape and dtype of one tensor of a sample. */
typedef struct layout {
    wk_dtype dtype;
    int ndim;
    const int64_t *shape;
} layout;

static layout layout_of(const wk__sample_part *part)
{
    if (!part->tensor) return (layout){part->array->dtype, part->array->ndim, part->array->shape};
    const wk__body *body = wk__body_of(part->tensor);
    return (layout){body->dtype, body->ndim, body->shape};
}

static bool fits(const layout *l, const wk__batch_part *part)
{
    return l->dtype == part->dtype && wk__same_shape(l->ndim, l->shape, part->ndim - 1, part->shape + 1);
}

static void add_layout(wk__text *text, const layout *l)
{
    wk__text_format(text, "%s[", wk_dtype_str(l->dtype));
    for (int d = 0; d < l->ndim; d++) wk__text_format(text, "%s%lld", d ? "," : "", (long long)l->shape[d]);
    wk__text_add(text, "]");
}

static bool cancelled(const wk__batch_plan *plan)
{
    return atomic_load_explicit(plan->cancelled, memory_order_relaxed);
}

/* Returns the index of sample k of the batch. */
static int64_t sample_of(const wk__batch_plan *plan, int64_t k)
{
    return plan->order[plan->positions[k]];
}

static bool report_count(const wk__batch_plan *plan, wk__batch_data *out, int64_t k, int count)
{
    return fail(out, plan->site, WK_ERR_SHAPE,
                "data_loader: sample %lld has %d tensors, but sample %lld of the same batch has %d",
                (long long)sample_of(plan, k), count, (long long)sample_of(plan, 0), out->count);
}

static bool report_layout(const wk__batch_plan *plan, wk__batch_data *out, int64_t k, int p, const layout *l)
{
    const wk__batch_part *part = &out->part[p];
    const layout first = {part->dtype, part->ndim - 1, part->shape + 1};
    wk__text text = {0};
    wk__text_format(&text, "data_loader: tensor %d of sample %lld is ", p, (long long)sample_of(plan, k));
    add_layout(&text, l);
    wk__text_format(&text, ", but that of sample %lld of the same batch is ", (long long)sample_of(plan, 0));
    add_layout(&text, &first);
    wk__text_add(&text, "; make them equal by wk_data_map or .collate");
    fail(out, plan->site, l->dtype == first.dtype ? WK_ERR_SHAPE : WK_ERR_DTYPE, "%s", text.data ? text.data : "");
    wk__text_free(&text);
    return false;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Makes room for `bytes` bytes; at least one, so that NULL always means allocation failure. */
static bool reserve(wk__batch_part *part, int64_t bytes)
{
    part->bytes = bytes;
    if (part->data && bytes <= part->capacity) return true;
    wk__free(part->data);
    part->data = wk__alloc((size_t)bytes + 1);
    part->capacity = part->data ? bytes : 0;
    return part->data != NULL;
}

/* Prepares tensor p of the batch: samples, if not -1, is the size of an added first dimension. */
static bool begin_part(const wk__batch_plan *plan, wk__batch_data *out, int p, const layout *l, int64_t samples)
{
    wk__batch_part *part = &out->part[p];
    const int first = samples >= 0;
    int64_t bytes;
    if (l->ndim + first > WK__MAX_DIMS)
        return fail(out, plan->site, WK_ERR_SHAPE,
                    "data_loader: tensor %d of sample %lld has %d dimensions; a batch of it would have more than %d", p,
                    (long long)sample_of(plan, 0), l->ndim, WK__MAX_DIMS);
    part->dtype = l->dtype;
    part->ndim = l->ndim + first;
    part->shape[0] = samples;
    memcpy(part->shape + first, l->shape, (size_t)l->ndim * sizeof *l->shape);
    if (!wk__dense_bytes(part->ndim, part->shape, l->dtype, &bytes) || bytes == INT64_MAX || !reserve(part, bytes))
        return fail(out, plan->site, WK_ERR_MEMORY, "data_loader: out of host memory for a batch");
    return true;
}

/* Prepares the tensors of a batch from its first sample. */
static bool begin_batch(const wk__batch_plan *plan, wk__batch_data *out, const wk__sample *sample)
{
    out->count = sample->count;
    for (int p = 0; p < sample->count; p++) {
        const layout l = layout_of(&sample->part[p]);
        if (!begin_part(plan, out, p, &l, plan->count)) return false;
    }
    return true;
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

static bool write_part(const wk__batch_plan *plan, const wk__sample_part *from, const wk__batch_part *to, int64_t k)
{
    const int64_t bytes = to->bytes / plan->count;
    char *slot = (char *)to->data + k * bytes;
    if (from->tensor) return wk_read_at(plan->site, from->tensor, slot, (size_t)bytes) == WK_OK;
    wk__sample_array_write(from->array, from->row, slot);
    return true;
}

/* Writes sample k of the batch. */
static bool write_sample(const wk__batch_plan *plan, wk__batch_data *out, int64_t k, const wk__sample *sample)
{
    if (k == 0 && !begin_batch(plan, out, sample)) return false;
    if (sample->count != out->count) return report_count(plan, out, k, sample->count);
    for (int p = 0; p < sample->count; p++) {
        const layout l = layout_of(&sample->part[p]);
        if (!fits(&l, &out->part[p])) return report_layout(plan, out, k, p, &l);
        if (!write_part(plan, &sample->part[p], &out->part[p], k)) return false;
    }
    return true;
}

/* ---- functions of the user --------------------------------------------------------------------------------------- */

enum { NAME = 120 };

/* Writes the name that errors show for sample k; k < 0: for .collate. */
static void name_sample(const wk__batch_plan *plan, int64_t k, char *name)
{
    snprintf(name, NAME, "%ssample %lld of the loader at %.60s:%d", k < 0 ? "the batch of " : "",
             (long long)sample_of(plan, k < 0 ? 0 : k), plan->site.file ? plan->site.file : "?", (int)plan->site.line);
}

/* Reads sample k in a separate scope, then adds it to the batch or, for .collate, moves its tensors to the caller's
 * scope in *kept. Errors name the sample. */
static void add_by_user_code(const wk__batch_plan *plan, wk__batch_data *out, int64_t k, wk_sample *kept)
{
    char name[NAME];
    name_sample(plan, k, name);
    wk__call_scope c;
    if (wk__callback_begin(&c, name, plan->site)) {
        const int64_t index = sample_of(plan, k);
        wk__sample sample = {0};
        wk__sample_begin_stream(wk__context(), plan->seed, (uint64_t)plan->epoch,
                                plan->stream_by_position ? plan->positions[k] : index);
        const bool fine =
            wk__dataset_get(plan->data, index, &sample) &&
            (kept ? wk__sample_to_user(&sample, index, plan->site, kept) : write_sample(plan, out, k, &sample));
        wk__call_end(&c, kept ? kept->tensors : NULL, kept && fine ? kept->count : 0);
    }
    take_error(out, name);
}

/* Reads the tensors that .collate has made. */
static void write_collated(const wk__batch_plan *plan, wk__batch_data *out, const wk_sample *batch)
{
    wk__sample made;
    if (!wk__sample_from_user(batch, "data_loader: .collate", plan->site, &made)) return;
    out->count = made.count;
    for (int p = 0; p < made.count; p++) {
        const layout l = layout_of(&made.part[p]);
        wk__batch_part *part = &out->part[p];
        if (!begin_part(plan, out, p, &l, -1)) return;
        if (wk_read_at(plan->site, made.part[p].tensor, part->data, (size_t)part->bytes) != WK_OK) return;
    }
}

/* Gets the samples and makes the batch by .collate. */
static void collate(const wk__batch_plan *plan, wk__batch_data *out)
{
    char name[NAME];
    name_sample(plan, -1, name);
    wk__call_scope c;
    wk_sample *samples = wk__alloc_zero((size_t)plan->count, sizeof *samples), batch = {0};
    if (!samples) {
        fail(out, plan->site, WK_ERR_MEMORY, "data_loader: out of host memory for a batch");
    } else if (wk__callback_begin(&c, name, plan->site)) {
        for (int64_t k = 0; k < plan->count && out->code == WK_OK && !cancelled(plan); k++)
            add_by_user_code(plan, out, k, &samples[k]);
        if (out->code == WK_OK && !cancelled(plan)) {
            const bool fine = plan->collate(&batch, samples, plan->count, plan->collate_user);
            if (!fine) wk__sample_failed("data_loader: .collate", plan->site);
            if (!wk__error_pending()) write_collated(plan, out, &batch);
        }
        wk__call_end(&c, NULL, 0);
    }
    wk__free(samples);
    take_error(out, name);
}

void wk__batch_load(const wk__batch_plan *plan, wk__batch_data *out)
{
    out->code = WK_OK;
    wk__text_free(&out->error);
    if (plan->collate) {
        collate(plan, out);
        return;
    }
    for (int64_t k = 0; k < plan->count && out->code == WK_OK && !cancelled(plan); k++) {
        if (plan->data->user_code) {
            add_by_user_code(plan, out, k, NULL);
            continue;
        }
        wk__sample sample;
        wk__dataset_get(plan->data, sample_of(plan, k), &sample);
        write_sample(plan, out, k, &sample);
    }
}

void wk__batch_free(wk__batch_data *batch)
{
    for (int p = 0; p < WK_SAMPLE_TENSORS; p++) wk__free(batch->part[p].data);
    wk__text_free(&batch->error);
}
