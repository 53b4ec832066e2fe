/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of a mirrored network's parameters and buffers, and how they are bound to the model's handles.
 *
 *     the model's handle --> body of the parameter      while replica k runs      handle --> body of replica k
 *     replica tensor k   --> body of replica k                           replica tensor k --> body of the parameter
 *
 * A replica tensor exists for one forward. It is a view of the copy that the network keeps on that device, or on the
 * parameter's own device of its storage, and its graph node is the broadcast of the parameter. So the handle that the
 * model uses refers to data on the right device, and gradients flow to the one leaf. */
#include "mirrored.h"
#include "base/alloc.h"
#include "engine/op_queue.h"
#include "ops/core/tensor_swap.h"
#include "tensor/call_scope.h"
#include <wick/autograd.h>
#include <wick/creation.h>
#include <wick/pointwise.h>

static const wk_site no_site;

/* ---- lists of tensors -------------------------------------------------------------------------------------------- */

static bool count_entries(wk_site site, wk_module *model, int64_t *entries)
{
    wk__module_tree tree;
    if (!wk__module_tree_build(&tree, model, site)) return false;
    *entries = 0;
    for (int64_t k = 0; k < tree.count; k++) *entries += wk__module_of(tree.entry[k].module)->items;
    wk__module_tree_free(&tree);
    return true;
}

static bool append(wk_site site, wk__mirrored *m, wk_module *model, wk__item_kind kind)
{
    wk_tensors *list = wk_tensors_new_at(site);
    if (!list || !wk__module_collect(site, "forward", model, 1u << kind, wk__tensor_list_of(list))) return false;
    const wk__tensor_list *of = wk__tensor_list_of(list);
    const bool room = wk__grow(&m->model_tensors, &m->capacity, m->count + of->count, sizeof *m->model_tensors);
    for (int64_t k = 0; k < of->count && room; k++)
        m->model_tensors[m->count++] =
            (wk__mirrored_tensor){.tensor = of->item[k].tensor, .buffer = kind == WK__BUFFER};
    return room || of->count == 0;
}

void wk__mirrored_drop_copies(wk__mirrored *m)
{
    for (int64_t k = 0; k < m->count * m->n && m->copy; k++)
        if (m->copy[k].tensor) wk__handle_drop(&m->copy[k].tensor->handle);
    wk__free(m->copy);
    m->copy = NULL;
    m->count = m->module_items = 0;
}

bool wk__mirrored_collect(wk_site site, wk__mirrored *m, wk_module *model)
{
    int64_t entries;
    if (!count_entries(site, model, &entries)) return false;
    if (entries == m->module_items) return true;
    wk__mirrored_drop_copies(m);
    bool fine = append(site, m, model, WK__PARAMETER) && append(site, m, model, WK__BUFFER);
    if (fine) fine = (m->copy = wk__alloc_zero((size_t)(m->count * m->n) + 1, sizeof *m->copy)) != NULL;
    if (fine) {
        m->module_items = entries;
        return true;
    }
    m->count = 0;
    wk__error_set(site, WK_ERR_MEMORY, "forward: out of host memory for a mirrored network");
    return false;
}

/* ---- copies ------------------------------------------------------------------------------------------------------ */

/* Returns true if the copy is up to date. Memory whose address user code has may have changed without a call. */
static bool is_current(const wk__replica_copy *copy, const wk__storage *from)
{
    if (!copy->tensor) return false;
    const wk__storage *own = wk__body_of(copy->tensor)->storage;
    return copy->source_version == from->assign_count && copy->own_version == own->assign_count &&
           own->value->state != WK__FAILED && !from->value->exposed;
}

static bool refresh_copy(wk__mirrored_forward *t, wk__replica_copy *copy, wk_tensor *x, wk__device *device)
{
    wk_tensor *made = wk__handle_adopt(wk__device_broadcast_copy(no_site, x, device->id));
    if (!made) return false;
    if (copy->tensor) wk__handle_drop(&copy->tensor->handle);
    const wk__storage *from = wk__body_of(x)->storage;
    *copy = (wk__replica_copy){
        .tensor = made, .source_version = from->assign_count, .own_version = wk__body_of(made)->storage->assign_count};
    wk__step_profiler_add_copied(t->m, from->bytes);
    return true;
}

static bool refresh_copies(wk__mirrored_forward *t)
{
    const wk__mirrored *m = t->m;
    for (int64_t i = 0; i < m->count; i++)
        for (int k = 0; k < m->n; k++) {
            wk_tensor *x = m->model_tensors[i].tensor;
            const wk__storage *from = wk__body_of(x)->storage;
            wk__replica_copy *copy = &m->copy[i * m->n + k];
            if (t->share[k] == 0 || from->device == m->device[k] || is_current(copy, from)) continue;
            if (!refresh_copy(t, copy, x, m->device[k])) return false;
        }
    return true;
}

/* ---- stand-ins --------------------------------------------------------------------------------------------------- */

static bool make_replica_tensors(wk__mirrored_forward *t, int64_t i, bool has_gradient)
{
    const wk__mirrored *m = t->m;
    const wk__mirrored_tensor *kept = &m->model_tensors[i];
    wk_tensor *made[WK_MIRRORED_DEVICES];
    int count = 0;
    for (int k = 0; k < m->n; k++) {
        const bool home = wk__body_of(kept->tensor)->storage->device == m->device[k];
        if (t->share[k] == 0 || (home && !kept->buffer && !has_gradient)) continue; /* the parameter itself is used */
        wk_tensor *stand_in = wk_detach_at(no_site, home ? kept->tensor : m->copy[i * m->n + k].tensor);
        if (!stand_in) return false;
        made[count++] = t->replica_tensor[i * m->n + k] = stand_in;
        t->start_version[i * m->n + k] = wk__body_of(stand_in)->storage->assign_count;
    }
    if (!has_gradient) return true;
    if (wk__device_broadcast_attach(no_site, kept->tensor, made, count, !wk__step_profiler_is_active(t))) {
        wk__step_profiler_watch(t, kept->tensor, made[0]);
        return true;
    }
    for (int k = 0; k < m->n; k++) t->replica_tensor[i * m->n + k] = NULL; /* references dropped */
    return false;
}

bool wk__mirrored_refresh(wk__mirrored_forward *t)
{
    if (!refresh_copies(t)) return false;
    for (int64_t i = 0; i < t->m->count; i++) {
        wk_tensor *x = t->m->model_tensors[i].tensor;
        if (!make_replica_tensors(t, i, wk__needs_grad_fn(t->context, &x, 1))) return false;
    }
    return true;
}

static void exchange_all(const wk__mirrored_forward *t, int k)
{
    for (int64_t i = 0; i < t->m->count; i++) {
        wk_tensor *stand_in = t->replica_tensor[i * t->m->n + k];
        if (stand_in) wk__swap_bodies(t->m->model_tensors[i].tensor, stand_in);
    }
}

void wk__mirrored_bind(wk__mirrored_forward *t, int k)
{
    if (t->bound >= 0) exchange_all(t, t->bound);
    if (k >= 0) exchange_all(t, k);
    t->bound = k;
}

/* ---- buffers ----------------------------------------------------------------------------------------------------- */

/* Returns true if forward has changed buffer i on device k: it has another storage, or another version of it. */
static bool has_changed(const wk__mirrored_forward *t, int64_t i, int k)
{
    const wk__mirrored *m = t->m;
    const wk__storage *now = wk__body_of(t->replica_tensor[i * m->n + k])->storage;
    const wk__replica_copy *copy = &m->copy[i * m->n + k];
    const bool home = wk__body_of(m->model_tensors[i].tensor)->storage->device == m->device[k];
    const wk__storage *before = wk__body_of(home ? m->model_tensors[i].tensor : copy->tensor)->storage;
    return now != before || now->assign_count != t->start_version[i * m->n + k];
}

/* Returns the mean of the buffer over the devices, or its value on the first. */
static wk_tensor *merged_buffer(const wk__mirrored_forward *t, int64_t i, bool mean)
{
    const wk__mirrored *m = t->m;
    const wk_device home = wk__body_of(m->model_tensors[i].tensor)->storage->device->id;
    wk_tensor *sum = wk_to_at(no_site, t->replica_tensor[i * m->n + t->first], home);
    for (int k = t->first + 1; k < m->n && mean && sum; k++) {
        if (t->share[k] == 0) continue;
        wk_tensor *here = wk_to_at(no_site, t->replica_tensor[i * m->n + k], home);
        sum = here ? wk_add_at(no_site, sum, here) : NULL;
    }
    return sum && mean ? wk_div_scalar_f64_at(no_site, sum, (double)t->active) : sum;
}

static bool update_buffer(wk__mirrored_forward *t, int64_t i)
{
    const wk__mirrored *m = t->m;
    wk_tensor *buffer = m->model_tensors[i].tensor;
    const bool mean = m->buffers == WK_BUFFERS_MEAN && wk__is_float(wk__body_of(buffer)->dtype) && t->active > 1;
    bool any = has_changed(t, i, t->first);
    for (int k = 0; k < m->n && mean; k++) any = any || (t->share[k] > 0 && has_changed(t, i, k));
    if (!any) return true;
    wk_tensor *now = merged_buffer(t, i, mean), *own = now ? wk__detached_copy(no_site, now) : NULL;
    if (own) wk__rebind_storage(buffer, own);
    return own != NULL;
}

bool wk__mirrored_update_buffers(wk__mirrored_forward *t)
{
    wk__call_scope c;
    bool fine = true;
    if (!wk__call_begin(&c, WK__FRAME_CALL, NULL, no_site, WK__GRAD_OFF)) return false;
    for (int64_t i = 0; i < t->m->count && fine; i++)
        if (t->m->model_tensors[i].buffer) fine = update_buffer(t, i);
    wk__call_end(&c, NULL, 0);
    return fine;
}
