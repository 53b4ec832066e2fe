/* SPDX-License-Identifier: Apache-2.0 */
/* Alias sets and dead bases; see alias_set.h. */
#include "tensor.h"
#include "base/alloc.h"
#include <string.h>

/* One lock for all alias sets: held so briefly that contention is negligible. */
static atomic_int alias_lock;

void wk__alias_lock(void)
{
    wk__spin_lock(&alias_lock);
}
void wk__alias_unlock(void)
{
    wk__spin_unlock(&alias_lock);
}

void wk__dead_base_free(wk__dead_base *past)
{
    if (past->node) wk__counted_drop(past->node);
    if (past->leaf) wk__counted_drop(past->leaf);
    wk__free(past);
}

wk__dead_base *wk__dead_base_alloc(void)
{
    wk__dead_base *past = wk__alloc_zero(1, sizeof *past);
    if (!past) wk__error_set((wk_site){0}, WK_ERR_MEMORY, "out of host memory for the graph of gradients");
    return past;
}

void wk__dead_base_fill(wk__dead_base *past, const wk__body *base)
{
    wk__body_share(base);
    past->node = base->node;
    past->leaf = base->leaf;
    past->requires_grad = base->requires_grad;
    past->output = base->output;
    past->offset = base->offset;
    past->ndim = base->ndim;
    past->dtype = base->dtype;
    memcpy(past->shape, base->shape, sizeof past->shape);
    memcpy(past->stride, base->stride, sizeof past->stride);
}

static bool is_in_graph(const wk__body *body)
{
    return body->node || body->leaf || body->requires_grad;
}

void wk__alias_set_drop_base(wk__alias_set *family, const wk__body *base)
{
    wk__dead_base *past = NULL;
    if (atomic_load_explicit(&family->views, memory_order_acquire) == 0) {
        atomic_store_explicit(&family->base, NULL, memory_order_relaxed);
        return;
    }
    wk__alias_lock();
    if (is_in_graph(base)) {
        wk__alias_unlock();
        past = wk__dead_base_alloc();
        wk__alias_lock();
    }
    if (past && wk__refcount_get(&family->views) > 0) {
        wk__dead_base *before = family->dead_base;
        wk__dead_base_fill(past, base);
        family->dead_base = past;
        past = before;
    }
    atomic_store_explicit(&family->base, NULL, memory_order_relaxed);
    wk__alias_unlock();
    if (past) wk__dead_base_free(past);
}

void wk__alias_set_drop_view(wk__alias_set *family)
{
    if (!wk__refcount_dec(&family->views)) return;
    wk__alias_lock(); /* the base may be clearing its graph data concurrently */
    wk__dead_base *past = family->dead_base;
    family->dead_base = NULL;
    wk__alias_unlock();
    if (past) wk__dead_base_free(past);
}

void wk__alias_set_drop(wk__alias_set *family)
{
    if (!wk__refcount_dec(&family->refs)) return;
    if (family->dead_base) wk__dead_base_free(family->dead_base);
    wk__free(family);
}
