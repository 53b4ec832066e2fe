/* SPDX-License-Identifier: Apache-2.0 */
/* wk_summary_rows: calls a network once and counts, for each module, the outputs and the contractions recorded in its
 * forward. Nothing that the program can see changes: modes, buffers and the random stream are restored, also if an
 * error handler leaves a forward by longjmp. */
#include "base/alloc.h"
#include "base/options.h"
#include "module.h"
#include "tensor/call_scope.h"
#include <string.h>

/* Numbers of a module: the entry of the same index in the tree. */
typedef struct entry {
    bool eval; /* mode before the call */
    int depth, ndim;
    int64_t shape[WK__MAX_DIMS];
    int64_t calls, multiply_adds, activation_bytes;
    int64_t parameters, trainable, parameter_bytes;
    int64_t path, kind; /* offsets in `strings` */
} entry;

/* A buffer before the call. */
typedef struct saved_buffer {
    wk_tensor *buffer, *copy; /* handle held; a tensor of the call's scope */
    wk__storage *storage;     /* of the buffer, to be compared only */
    uint32_t version;
} saved_buffer;

/* State of one call. */
typedef struct summary {
    wk__forward_watch watch; /* first: its address is that of the struct */
    wk_site site;
    const char *op;
    wk_module *root; /* held, as all modules of the tree */
    wk__module_tree tree;
    entry *entry;
    saved_buffer *buffer;
    int64_t buffers;
    uint64_t key, counter; /* random stream before the call */
    uint32_t number;       /* of this summary, for wk__storage.counted_by */
    bool evaluates;        /* the modules are in evaluation mode */
    wk__text strings;      /* paths and kinds, each with a terminator */
} summary;

/* ---- state of the network ---------------------------------------------------------------------------------------- */

/* Sets all modules to evaluation, or restores their modes. */
static void set_modes(summary *s, bool evaluate)
{
    for (int64_t k = 0; k < s->tree.count; k++)
        wk__module_of(s->tree.entry[k].module)->eval = evaluate || s->entry[k].eval;
    for (int64_t k = 0; k < s->tree.count; k++)
        if (!s->entry[k].eval) wk__module_notify_training(s->tree.entry[k].module);
    s->evaluates = evaluate;
}

static void restore_buffers(summary *s)
{
    for (int64_t k = 0; k < s->buffers; k++) {
        const saved_buffer *b = &s->buffer[k];
        wk__storage *now = wk__body_of(b->buffer)->storage;
        if (now != b->storage)
            wk__rebind_storage(b->buffer, b->copy);
        else if (now->version_info.version != b->version)
            wk__assign_one(b->buffer, b->copy);
    }
}

/* Ends a summary, as the close function of its guard. */
static void end(void *address)
{
    summary *s = address;
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    if (s->evaluates) {
        set_modes(s, false);
        restore_buffers(s);
        context->key = s->key;
        context->counter = s->counter;
    }
    for (int64_t k = 0; k < s->buffers; k++) wk__handle_drop(&s->buffer[k].buffer->handle);
    for (int64_t k = s->tree.count; k-- > 0;) wk__handle_drop(&s->tree.entry[k].module->handle);
    wk__module_tree_free(&s->tree);
    wk__text_free(&s->strings);
    wk__free(s->buffer);
    wk__free(s->entry);
    wk__free(s);
    wk__frame_end(context, before);
}

/* Copies the buffers without computing pending ones. */
static bool save_buffers(summary *s, const wk__tensor_list *list)
{
    s->buffer = wk__alloc_zero((size_t)list->count + 1, sizeof *s->buffer);
    if (!s->buffer) wk__error_set(s->site, WK_ERR_MEMORY, "%s: out of host memory", s->op);
    for (int64_t k = 0; s->buffer && k < list->count; k++) {
        wk_tensor *x = list->item[k].tensor, *copy = wk__detached_copy(s->site, x);
        if (!copy) return false;
        const wk__storage *storage = wk__body_of(x)->storage;
        wk__handle_hold(&x->handle);
        s->buffer[s->buffers++] = (saved_buffer){x, copy, wk__body_of(x)->storage, storage->version_info.version};
    }
    return s->buffer != NULL;
}

/* ---- counting ---------------------------------------------------------------------------------------------------- */

/* Returns the bytes of a tensor that does not share memory with one counted before. */
static int64_t count_bytes(const summary *s, const wk_tensor *x)
{
    const wk__body *body = wk__body_of(x);
    const bool fresh = body->storage->counted_by != s->number;
    body->storage->counted_by = s->number;
    return fresh ? wk__body_numel(body) * (int64_t)wk_dtype_size(body->dtype) : 0;
}

static void called(wk__forward_watch *watch, const wk__forward_watch *before, const void *module, wk_tensor *const *out,
                   int outputs)
{
    summary *s = (summary *)watch;
    int64_t k = 0;
    for (int i = 0; i < outputs; i++)
        if (wk__is_tensor(out[i])) watch->output_bytes += count_bytes(s, out[i]);
    while (k < s->tree.count && s->tree.entry[k].module != module) k++;
    if (k == s->tree.count || !wk__is_tensor(out[0])) return;
    entry *e = &s->entry[k];
    if (e->calls++ == 0) {
        e->ndim = wk__body_of(out[0])->ndim;
        memcpy(e->shape, wk__body_of(out[0])->shape, sizeof e->shape);
    }
    e->multiply_adds += watch->multiply_adds - before->multiply_adds;
    e->activation_bytes += watch->output_bytes - before->output_bytes;
}

/* Counts the parameters of module k and of those below it. Their memory does not count as activations. */
static bool count_parameters(summary *s, int64_t k)
{
    wk_tensors *list = wk_tensors_new_at(s->site);
    if (!list ||
        !wk__module_collect(s->site, s->op, s->tree.entry[k].module, 1u << WK__PARAMETER, wk__tensor_list_of(list)))
        return false;
    for (int64_t i = 0; i < wk__tensor_list_of(list)->count; i++) {
        const wk__body *body = wk__body_of(wk__tensor_list_of(list)->item[i].tensor);
        const int64_t count = wk__body_numel(body);
        s->entry[k].parameters += count;
        s->entry[k].trainable += body->requires_grad ? count : 0;
        s->entry[k].parameter_bytes += count * (int64_t)wk_dtype_size(body->dtype);
        body->storage->counted_by = s->number;
    }
    wk__handle_release(&list->handle, s->site);
    return true;
}

static void describe(summary *s, int64_t k)
{
    entry *e = &s->entry[k];
    const int64_t parent = s->tree.entry[k].parent;
    const wk__module *body = wk__module_of(s->tree.entry[k].module);
    e->eval = body->eval;
    e->depth = parent < 0 ? 0 : s->entry[parent].depth + 1;
    e->ndim = -1;
    e->path = s->strings.length;
    wk__module_tree_path(&s->tree, k, &s->strings);
    wk__text_add_n(&s->strings, "", 1);
    e->kind = s->strings.length;
    wk__module_add_kind(&s->strings, body);
    wk__text_add_n(&s->strings, "", 1);
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

/* Creates the state of a call and the guard that ends it. NULL on error. */
static summary *begin(wk_site site, const char *op, wk_module *m, uint64_t *token)
{
    static atomic_uint last;
    summary *s = wk__alloc_zero(1, sizeof *s);
    *token = 0;
    if (s && wk__module_tree_build(&s->tree, m, site)) {
        s->entry = wk__alloc_zero((size_t)s->tree.count, sizeof *s->entry);
        for (int64_t k = 0; k < s->tree.count; k++) wk__handle_hold(&s->tree.entry[k].module->handle);
        *token = s->entry ? wk__guard_push_cleanup(s, end) : 0;
        if (!*token) end(s);
    } else {
        wk__free(s);
    }
    if (!*token) {
        wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", op);
        return NULL;
    }
    wk_context *context = wk__context();
    s->site = site;
    s->op = op;
    s->root = m;
    s->key = context->key;
    s->counter = context->counter;
    s->watch.called = called;
    while (!(s->number = atomic_fetch_add(&last, 1) + 1)) {
    }
    return s;
}

/* Returns an input of zeros, on the device of the first tensor of the network and by default in its dtype. */
static wk_tensor *make_input(const summary *s, const wk__tensor_list *tensors, const int64_t *shape, int ndim,
                             wk_dtype dtype)
{
    wk_tensor_options like = {.size = sizeof like, .dtype = dtype};
    if (tensors->count > 0) {
        const wk__body *first = wk__body_of(tensors->item[0].tensor);
        like.device = first->storage->device->id;
        if (!dtype && wk__is_float(first->dtype)) like.dtype = first->dtype;
    }
    wk_tensor *x = wk_zeros_at(s->site, shape, ndim, &like);
    if (x) wk__body_of(x)->storage->counted_by = s->number;
    return x;
}

/* Fills in all entries. Returns false on error. */
static bool count_all(summary *s, const int64_t *shape, int ndim, wk_dtype dtype)
{
    wk_tensors *tensors = wk_tensors_new_at(s->site), *buffers = wk_tensors_new_at(s->site);
    if (!tensors || !buffers) return false;
    if (!wk__module_collect(s->site, s->op, s->root, 1u << WK__PARAMETER | 1u << WK__BUFFER,
                            wk__tensor_list_of(tensors)) ||
        !wk__module_collect(s->site, s->op, s->root, 1u << WK__BUFFER, wk__tensor_list_of(buffers)) ||
        !save_buffers(s, wk__tensor_list_of(buffers)))
        return false;
    for (int64_t k = 0; k < s->tree.count; k++) {
        describe(s, k);
        if (!count_parameters(s, k)) return false;
    }
    for (int64_t k = 0; k < s->buffers; k++) wk__body_of(s->buffer[k].buffer)->storage->counted_by = s->number;
    wk_tensor *x = make_input(s, wk__tensor_list_of(tensors), shape, ndim, dtype);
    if (!x) return false;
    set_modes(s, true);
    wk__context()->frame.forward_watch = &s->watch;
    wk__context()->frame.api_call.name = NULL; /* errors are those of wk_forward */
    const bool fine = wk_forward_at(s->site, s->root, x) != NULL;
    wk__context()->frame.forward_watch = NULL;
    return fine;
}

/* Returns the entries as one block: pointers, rows, shapes, strings. NULL on allocation failure, recorded. */
static const wk_summary_row **make_block(const summary *s)
{
    const size_t count = (size_t)s->tree.count, strings = (size_t)s->strings.length;
    const size_t one = sizeof(wk_summary_row *) + sizeof(wk_summary_row) + sizeof s->entry->shape;
    const wk_summary_row **pointer =
        s->strings.failed ? NULL : wk__alloc_zero(1, count * one + sizeof(wk_summary_row *) + strings);
    if (!pointer) {
        wk__error_set(s->site, WK_ERR_MEMORY, "%s: out of host memory", s->op);
        return NULL;
    }
    wk_summary_row *row = (wk_summary_row *)(pointer + count + 1);
    int64_t(*shape)[WK__MAX_DIMS] = (int64_t(*)[WK__MAX_DIMS])(row + count);
    char *text = (char *)(shape + count);
    memcpy(text, s->strings.data, strings);
    for (size_t k = 0; k < count; k++) {
        const entry *e = &s->entry[k];
        memcpy(shape[k], e->shape, sizeof e->shape);
        row[k] = (wk_summary_row){.path = text + e->path,
                                  .kind = text + e->kind,
                                  .depth = e->depth,
                                  .ndim = e->ndim,
                                  .shape = shape[k],
                                  .calls = e->calls,
                                  .parameters = e->parameters,
                                  .trainable = e->trainable,
                                  .parameter_bytes = e->parameter_bytes,
                                  .multiply_adds = e->multiply_adds,
                                  .activation_bytes = e->activation_bytes};
        pointer[k] = &row[k];
    }
    return pointer;
}

/* Returns the rows as one block; NULL on error. */
static const wk_summary_row **make_rows(wk_site site, const char *op, wk_module *m, const int64_t *shape, int ndim,
                                        wk_dtype dtype)
{
    wk__call_scope c;
    uint64_t token;
    if (!wk__call_begin(&c, WK__FRAME_CALL, op, site, WK__GRAD_OFF)) return NULL;
    summary *s = begin(site, op, m, &token);
    const wk_summary_row **rows = s && count_all(s, shape, ndim, dtype) ? make_block(s) : NULL;
    wk__call_end(&c, NULL, 0); /* closes the guard of s, too */
    return rows;
}

const wk_summary_row *const *wk__summary_rows(wk_site site, const char *op, wk_module *m, const int64_t *shape,
                                              int ndim, const wk_summary_options *options)
{
    wk_summary_options o;
    if (!wk__module_check(m, site, op) || !wk__options(site, op, options, &o)) return NULL;
    wk_context *context = wk__context(); /* errors wait until the rows have an owner */
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    const wk_summary_row **rows = make_rows(site, op, m, shape, ndim, o.dtype);
    if (rows && !wk__module_check(m, site, op)) { /* its forward has freed it */
        wk__free(rows);
        rows = NULL;
    }
    const void *kept = rows ? wk__attach(site, &wk__module_of(m)->texts, rows) : NULL;
    if (rows && !kept) wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", op);
    wk__frame_end(context, before);
    return kept;
}

const wk_summary_row *const *wk_summary_rows_at(wk_site site, wk_module *m, const int64_t *shape, int ndim,
                                                const wk_summary_options *options)
{
    return wk__summary_rows(site, "summary_rows", m, shape, ndim, options);
}
