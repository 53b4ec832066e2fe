/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of a mirrored network's parameters and buffers, and the exchange by which the model uses them.
 *
 *     the model's handle --> body of the parameter      while replica k runs      handle --> body of stand-in k
 *     stand-in k         --> body of stand-in k                               stand-in k --> body of the parameter
 *
 * A stand-in lasts for one forward: it sees the copy that the network keeps for that device, or, on the parameter's own
 * device, the parameter's storage, and has the broadcast of the parameter as its node. So the handle that the model's
 * code knows gives the numbers on the right device, and the gradient finds its way to the one leaf. */
#include "mirrored.h"
#include "../base/alloc.h"
#include "../engine/ring.h"
#include "../nn/own.h"
#include <wick/autograd.h>
#include <wick/creation.h>
#include <wick/pointwise.h>

static const wk_site nowhere;

/* ---- which tensors there are ------------------------------------------------------------------------------------- */

static bool count_entries(wk_site site, wk_module *model, int64_t *entries)
{
    wk__tree tree;
    if (!wk__tree_of(&tree, model, site)) return false;
    *entries = 0;
    for (int64_t k = 0; k < tree.count; k++) *entries += wk__module_of(tree.visit[k].module)->items;
    wk__tree_end(&tree);
    return true;
}

static bool append(wk_site site, wk__mirrored *m, wk_module *model, wk__item_kind kind)
{
    wk_tensors *list = wk_tensors_new_at(site);
    if (!list || !wk__module_collect(site, "forward", model, 1u << kind, wk__list_of(list))) return false;
    const wk__list *of = wk__list_of(list);
    const bool room = wk__grow(&m->kept, &m->capacity, m->count + of->count, sizeof *m->kept);
    for (int64_t k = 0; k < of->count && room; k++)
        m->kept[m->count++] = (wk__kept){.tensor = of->item[k].tensor, .buffer = kind == WK__BUFFER};
    return room || of->count == 0;
}

void wk__mirrored_forget(wk__mirrored *m)
{
    for (int64_t k = 0; k < m->count * m->n && m->copy; k++)
        if (m->copy[k].tensor) wk__handle_drop(&m->copy[k].tensor->handle);
    wk__free(m->copy);
    m->copy = NULL;
    m->count = m->entries = 0;
}

bool wk__mirrored_list(wk_site site, wk__mirrored *m, wk_module *model)
{
    int64_t entries;
    if (!count_entries(site, model, &entries)) return false;
    if (entries == m->entries) return true;
    wk__mirrored_forget(m);
    bool fine = append(site, m, model, WK__PARAMETER) && append(site, m, model, WK__BUFFER);
    if (fine) fine = (m->copy = wk__alloc_zero((size_t)(m->count * m->n) + 1, sizeof *m->copy)) != NULL;
    if (fine) {
        m->entries = entries;
        return true;
    }
    m->count = 0;
    wk__error_set(site, WK_ERR_MEMORY, "forward: out of host memory for a mirrored network");
    return false;
}

/* ---- copies ------------------------------------------------------------------------------------------------------ */

/* Numbers at an address that the program knows may have changed without a call. */
static bool is_current(const wk__copy *copy, const wk__storage *from)
{
    if (!copy->tensor) return false;
    const wk__storage *own = wk__body_of(copy->tensor)->storage;
    return copy->of == from->assigned && copy->own == own->assigned && own->value->state != WK__FAILED &&
           !from->value->exposed;
}

static bool renew(wk__turn *t, wk__copy *copy, wk_tensor *x, wk__device *device)
{
    wk_tensor *made = wk__own(wk__broadcast_copy(nowhere, x, device->id));
    if (!made) return false;
    if (copy->tensor) wk__handle_drop(&copy->tensor->handle);
    const wk__storage *from = wk__body_of(x)->storage;
    *copy = (wk__copy){.tensor = made, .of = from->assigned, .own = wk__body_of(made)->storage->assigned};
    wk__figures_copied(t->m, from->bytes);
    return true;
}

static bool bring_up_to_date(wk__turn *t)
{
    const wk__mirrored *m = t->m;
    for (int64_t i = 0; i < m->count; i++)
        for (int k = 0; k < m->n; k++) {
            wk_tensor *x = m->kept[i].tensor;
            const wk__storage *from = wk__body_of(x)->storage;
            wk__copy *copy = &m->copy[i * m->n + k];
            if (t->share[k] == 0 || from->device == m->device[k] || is_current(copy, from)) continue;
            if (!renew(t, copy, x, m->device[k])) return false;
        }
    return true;
}

/* ---- stand-ins --------------------------------------------------------------------------------------------------- */

static bool make_stand_ins(wk__turn *t, int64_t i, bool has_gradient)
{
    const wk__mirrored *m = t->m;
    const wk__kept *kept = &m->kept[i];
    wk_tensor *made[WK_MIRRORED_DEVICES];
    int count = 0;
    for (int k = 0; k < m->n; k++) {
        const bool home = wk__body_of(kept->tensor)->storage->device == m->device[k];
        if (t->share[k] == 0 || (home && !kept->buffer && !has_gradient)) continue; /* the parameter itself serves */
        wk_tensor *stand_in = wk_detach_at(nowhere, home ? kept->tensor : m->copy[i * m->n + k].tensor);
        if (!stand_in) return false;
        made[count++] = t->stand_in[i * m->n + k] = stand_in;
        t->began[i * m->n + k] = wk__body_of(stand_in)->storage->assigned;
    }
    if (!has_gradient) return true;
    if (wk__broadcast_attach(nowhere, kept->tensor, made, count, !wk__figures_measures(t))) {
        wk__figures_listen(t, kept->tensor, made[0]);
        return true;
    }
    for (int k = 0; k < m->n; k++) t->stand_in[i * m->n + k] = NULL; /* let go of */
    return false;
}

bool wk__mirrored_copy(wk__turn *t)
{
    if (!bring_up_to_date(t)) return false;
    for (int64_t i = 0; i < t->m->count; i++) {
        wk_tensor *x = t->m->kept[i].tensor;
        if (!make_stand_ins(t, i, wk__wants_node(t->context, &x, 1))) return false;
    }
    return true;
}

static void exchange_all(const wk__turn *t, int k)
{
    for (int64_t i = 0; i < t->m->count; i++) {
        wk_tensor *stand_in = t->stand_in[i * t->m->n + k];
        if (stand_in) wk__exchange(t->m->kept[i].tensor, stand_in);
    }
}

void wk__mirrored_put(wk__turn *t, int k)
{
    if (t->behind >= 0) exchange_all(t, t->behind);
    if (k >= 0) exchange_all(t, k);
    t->behind = k;
}

/* ---- buffers ----------------------------------------------------------------------------------------------------- */

/* Has forward changed what stood in for buffer i on device k? It may have another storage now, or other numbers in the
 * same one. */
static bool has_changed(const wk__turn *t, int64_t i, int k)
{
    const wk__mirrored *m = t->m;
    const wk__storage *now = wk__body_of(t->stand_in[i * m->n + k])->storage;
    const wk__copy *copy = &m->copy[i * m->n + k];
    const bool home = wk__body_of(m->kept[i].tensor)->storage->device == m->device[k];
    const wk__storage *before = wk__body_of(home ? m->kept[i].tensor : copy->tensor)->storage;
    return now != before || now->assigned != t->began[i * m->n + k];
}

/* The mean of what the devices have, or what the first has. */
static wk_tensor *outcome(const wk__turn *t, int64_t i, bool mean)
{
    const wk__mirrored *m = t->m;
    const wk_device home = wk__body_of(m->kept[i].tensor)->storage->device->id;
    wk_tensor *sum = wk_to_at(nowhere, t->stand_in[i * m->n + t->first], home);
    for (int k = t->first + 1; k < m->n && mean && sum; k++) {
        if (t->share[k] == 0) continue;
        wk_tensor *here = wk_to_at(nowhere, t->stand_in[i * m->n + k], home);
        sum = here ? wk_add_at(nowhere, sum, here) : NULL;
    }
    return sum && mean ? wk_div_tf_at(nowhere, sum, (double)t->active) : sum;
}

static bool settle(wk__turn *t, int64_t i)
{
    const wk__mirrored *m = t->m;
    wk_tensor *buffer = m->kept[i].tensor;
    const bool mean = m->buffers == WK_BUFFERS_MEAN && wk__is_float(wk__body_of(buffer)->dtype) && t->active > 1;
    bool any = has_changed(t, i, t->first);
    for (int k = 0; k < m->n && mean; k++) any = any || (t->share[k] > 0 && has_changed(t, i, k));
    if (!any) return true;
    wk_tensor *now = outcome(t, i, mean), *own = now ? wk__detached(nowhere, now) : NULL;
    if (own) wk__rehouse(buffer, own);
    return own != NULL;
}

bool wk__mirrored_settle(wk__turn *t)
{
    const bool grad_off = t->context->frame.grad_off;
    bool fine = true;
    t->context->frame.grad_off = true;
    for (int64_t i = 0; i < t->m->count && fine; i++)
        if (t->m->kept[i].buffer) fine = settle(t, i);
    t->context->frame.grad_off = grad_off;
    return fine;
}
