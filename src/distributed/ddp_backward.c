/* SPDX-License-Identifier: Apache-2.0 */
/* Averages gradients over the ranks while backward runs; see ddp.h.
 *
 * Hooks run on the thread of the backward. `active_thread` admits one backward at a time. */
#include "autograd/hook.h"
#include "base/alloc.h"
#include "base/launcher_status.h"
#include "nn/module.h"
#include "ddp.h"
#include <string.h>

/* ---- a backward -------------------------------------------------------------------------------------------------- */

/* Returns true if a packed bucket is in host memory already. On another device packing is still running: the bucket is
 * submitted after the next one has been given to the device, so that the device has work while this thread waits. */
static bool in_host_memory(const wk__bucket *b)
{
    return wk__body_of(b->parameter[0])->storage->device->id.kind == WK_CPU;
}

/* The last bucket is submitted at the end of backward, so that an error until then reaches the other ranks, which would
 * otherwise step. */
static bool can_submit_now(const wk__ddp *d, const wk__bucket *b)
{
    return in_host_memory(b) && d->gathered < d->buckets;
}

static void submit_until(wk__ddp *d, int64_t end, wk_site site)
{
    while (d->submitted < end) wk__bucket_submit(&d->bucket[d->submitted++], d->group, d->id, site);
}

static void gather_next(wk__ddp *d, wk_site site)
{
    wk__bucket *b = &d->bucket[d->gathered++];
    wk__bucket_gather(b, site);
    submit_until(d, can_submit_now(d, b) ? d->gathered : d->gathered - 1, site);
}

static bool finish(void *user, wk_site site, bool failed)
{
    wk__ddp *d = user;
    if (failed && !wk__error_pending())
        wk__error_set(site, WK_ERR_STATE, "backward: aborted before its end"); /* sent to the other ranks */
    bool fine = !failed;
    while (d->gathered < d->buckets) gather_next(d, site);
    submit_until(d, d->buckets, site);
    for (int64_t k = 0; k < d->buckets; k++)
        if (!wk__bucket_wait(&d->bucket[k], site)) fine = false;
    for (int64_t k = 0; k < d->buckets && fine; k++) fine = wk__bucket_scatter(&d->bucket[k], site);
    for (int64_t k = 0; k < d->buckets; k++) wk__bucket_end(&d->bucket[k]);
    wk__launcher_status_step(++d->steps);
    atomic_store(&d->active_thread, NULL);
    wk__ddp_drop(d);
    return fine;
}

/* Records the error of a second concurrent backward. Returns false. */
static bool error_other_thread(void)
{
    wk__error_set((wk_site){0}, WK_ERR_STATE,
                  "backward: another thread is in a backward through this wk_ddp; run them one after the other");
    return false;
}

/* Starts the synchronization of a backward, in its first hook. Returns false after recording an error. */
static bool begin(wk__ddp *d)
{
    wk_context *nobody = NULL, *own = wk__context();
    if (!atomic_compare_exchange_strong(&d->active_thread, &nobody, own)) return nobody == own || error_other_thread();
    if (!wk__queue_final_callback(finish, d)) {
        atomic_store(&d->active_thread, NULL);
        return false;
    }
    atomic_fetch_add(&d->refs, 1);
    d->gathered = d->submitted = 0;
    for (int64_t k = 0; k < d->buckets; k++) d->bucket[k].pending = d->bucket[k].count;
    for (int64_t k = 0; k < d->count; k++) d->hook_data[k].ready = false;
    return true;
}

static bool is_syncing(const wk__ddp *d)
{
    return !d->module_freed && !wk__context()->frame.sync_off;
}

/* Records the error of a gradient that arrives after its bucket was submitted, as from a backward within a hook. */
static bool error_late_gradient(void)
{
    wk__error_set((wk_site){0}, WK_ERR_STATE,
                  "backward: a parameter of wk_ddp received a gradient after its bucket was sent; use WK_NO_SYNC for a "
                  "backward inside a hook, or call it afterwards");
    return false;
}

static bool on_gradient_ready(wk_tensor *grad, void *user)
{
    wk__ddp_parameter *p = user;
    wk__ddp *d = p->ddp;
    (void)grad; /* packing reads it from the leaf */
    if (!is_syncing(d)) return true;
    if (!begin(d)) return false;
    if (p->ready) return p->bucket >= d->gathered || error_late_gradient();
    p->ready = true;
    d->bucket[p->bucket].pending--;
    while (d->gathered < d->buckets && d->bucket[d->gathered].pending == 0) gather_next(d, wk__site((wk_site){0}));
    return true;
}

static bool on_output_gradient(wk_tensor *grad, void *user)
{
    (void)grad;
    return !is_syncing(user) || begin(user);
}

static void drop_parameter_hook(void *user)
{
    wk__ddp_drop(((wk__ddp_parameter *)user)->ddp);
}

static void drop_output_hook(void *user)
{
    wk__ddp_drop(user);
}

bool wk__ddp_add_hooks(wk__ddp *d, wk_site site)
{
    for (int64_t k = 0; k < d->count; k++) {
        if (!wk__hook_add(site, d->parameter[k], on_gradient_ready, &d->hook_data[k], drop_parameter_hook,
                          &d->module_freed))
            return false;
        atomic_fetch_add(&d->refs, 1);
    }
    return true;
}

bool wk__ddp_hook_output(wk__ddp *d, wk_tensor *x, wk_site site)
{
    if (!wk__hook_add(site, x, on_output_gradient, d, drop_output_hook, &d->module_freed)) return false;
    atomic_fetch_add(&d->refs, 1);
    return true;
}

/* ---- setup ------------------------------------------------------------------------------------------------------- */

static wk_dtype sum_dtype(const wk_tensor *x)
{
    return wk__body_of(x)->dtype == WK_F64 ? WK_F64 : WK_F32;
}

static int64_t bytes_of(const wk_tensor *x)
{
    return wk__body_numel(wk__body_of(x)) * (int64_t)wk_dtype_size(sum_dtype(x));
}

/* Returns true if x does not fit into the bucket, which is not empty. */
static bool is_full(const wk__bucket *b, int64_t bytes, const wk_tensor *x, double most)
{
    return b->dtype != sum_dtype(x) || (double)(bytes + bytes_of(x)) > most ||
           wk__body_of(b->parameter[0])->storage->device != wk__body_of(x)->storage->device;
}

static void fill(wk__ddp *d, double first, double most)
{
    int64_t bytes = 0;
    wk__bucket *b = NULL;
    for (int64_t k = 0; k < d->count; k++) {
        wk_tensor *x = d->parameter[k];
        if (!b || is_full(b, bytes, x, d->buckets == 1 ? first : most)) {
            b = &d->bucket[d->buckets++];
            b->parameter = &d->parameter[k];
            b->dtype = sum_dtype(x);
            bytes = 0;
        }
        b->count++;
        b->elements += wk__body_numel(wk__body_of(x));
        bytes += bytes_of(x);
        d->hook_data[k] = (wk__ddp_parameter){.ddp = d, .bucket = d->buckets - 1};
    }
    for (int64_t k = 0; k < d->buckets; k++)
        snprintf(d->bucket[k].label, sizeof d->bucket[k].label, "bucket %lld", (long long)k);
}

bool wk__ddp_make_buckets(wk__ddp *d, const wk__tensor_list *list, double first, double most, wk_site site)
{
    const size_t count = (size_t)list->count + 1;
    d->parameter = wk__alloc_zero(count, sizeof *d->parameter);
    d->hook_data = wk__alloc_zero(count, sizeof *d->hook_data);
    d->bucket = wk__alloc_zero(count, sizeof *d->bucket);
    if (!d->parameter || !d->hook_data || !d->bucket) {
        wk__error_set(site, WK_ERR_MEMORY, "ddp: out of host memory");
        return false;
    }
    for (int64_t k = list->count - 1; k >= 0; k--)
        if (wk__body_of(list->item[k].tensor)->requires_grad) d->parameter[d->count++] = list->item[k].tensor;
    fill(d, first, most);
    return true;
}

void wk__ddp_drop(wk__ddp *d)
{
    if (atomic_fetch_sub(&d->refs, 1) > 1) return;
    if (d->handle) wk__handle_drop((wk__handle *)d->handle);
    wk__free(d->parameter);
    wk__free(d->hook_data);
    wk__free(d->bucket);
    wk__free(d);
}
