/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients become the ranks' mean while backward runs; see ddp.h. */
#include "../autograd/hook.h"
#include "../base/alloc.h"
#include "../base/status.h"
#include "../nn/module.h"
#include "ddp.h"
#include <string.h>

/* ---- a backward -------------------------------------------------------------------------------------------------- */

/* On the CPU a bucket that was gathered is in host memory. A device is still at it: the ranks hear of the bucket when
 * the next one has been given to the device, so that it has work while this thread waits. */
static bool in_host_memory(const wk__bucket *b)
{
    return wk__body_of(b->parameter[0])->storage->device->id.kind == WK_CPU;
}

/* The last one is asked for when backward is at its end: what fails until then goes with it to the other ranks, which
 * would step otherwise. */
static bool goes_at_once(const wk__ddp *d, const wk__bucket *b)
{
    return in_host_memory(b) && d->gathered < d->buckets;
}

static void ask_until(wk__ddp *d, int64_t end, wk_site site)
{
    while (d->asked < end) wk__bucket_ask(&d->bucket[d->asked++], d->group, d->number, site);
}

static void gather_next(wk__ddp *d, wk_site site)
{
    wk__bucket *b = &d->bucket[d->gathered++];
    wk__bucket_gather(b, site);
    ask_until(d, goes_at_once(d, b) ? d->gathered : d->gathered - 1, site);
}

static bool finish(void *user, wk_site site, bool failed)
{
    wk__ddp *d = user;
    if (failed && !wk__error_pending())
        wk__error_set(site, WK_ERR_STATE, "backward: it was left before its end"); /* the other ranks are told */
    bool fine = !failed;
    while (d->gathered < d->buckets) gather_next(d, site);
    ask_until(d, d->buckets, site);
    for (int64_t k = 0; k < d->buckets; k++)
        if (!wk__bucket_wait(&d->bucket[k], site)) fine = false;
    for (int64_t k = 0; k < d->buckets && fine; k++) fine = wk__bucket_scatter(&d->bucket[k], site);
    for (int64_t k = 0; k < d->buckets; k++) wk__bucket_end(&d->bucket[k]);
    wk__status_step(++d->steps);
    atomic_store(&d->by, NULL);
    wk__ddp_drop(d);
    return fine;
}

/* Buckets are filled by one backward. */
static bool in_other_thread(void)
{
    wk__error_set((wk_site){0}, WK_ERR_STATE,
                  "backward: another thread's backward through this wk_ddp is under way; call one after the other");
    return false;
}

/* The first hook of a backward begins the round. */
static bool begin(wk__ddp *d)
{
    wk_context *nobody = NULL, *own = wk__context();
    if (!atomic_compare_exchange_strong(&d->by, &nobody, own)) return nobody == own || in_other_thread();
    if (!wk__walk_finally(finish, d)) {
        atomic_store(&d->by, NULL);
        return false;
    }
    atomic_fetch_add(&d->refs, 1);
    d->gathered = d->asked = 0;
    for (int64_t k = 0; k < d->buckets; k++) d->bucket[k].missing = d->bucket[k].count;
    for (int64_t k = 0; k < d->count; k++) d->place[k].come = false;
    return true;
}

static bool syncs(const wk__ddp *d)
{
    return !d->ended && !wk__context()->frame.sync_off;
}

/* A hook of backward has called wk_backward through the network, and that was asked for already. */
static bool too_late(void)
{
    wk__error_set((wk_site){0}, WK_ERR_STATE,
                  "backward: a parameter of wk_ddp got one more gradient after its own was on the way to the other "
                  "ranks; put what is called within a hook of backward behind WK_NO_SYNC, or call it afterwards");
    return false;
}

static bool gradient_came(wk_tensor *grad, void *user)
{
    wk__ddp_parameter *p = user;
    wk__ddp *d = p->ddp;
    (void)grad; /* the bucket takes it from the leaf */
    if (!syncs(d)) return true;
    if (!begin(d)) return false;
    if (p->come) return p->bucket >= d->gathered || too_late();
    p->come = true;
    d->bucket[p->bucket].missing--;
    while (d->gathered < d->buckets && d->bucket[d->gathered].missing == 0) gather_next(d, wk__site((wk_site){0}));
    return true;
}

static bool output_reached(wk_tensor *grad, void *user)
{
    (void)grad;
    return !syncs(user) || begin(user);
}

static void parameter_gone(void *user)
{
    wk__ddp_drop(((wk__ddp_parameter *)user)->ddp);
}

static void output_gone(void *user)
{
    wk__ddp_drop(user);
}

bool wk__ddp_hook(wk__ddp *d, wk_site site)
{
    for (int64_t k = 0; k < d->count; k++) {
        if (!wk__hook_add(site, d->parameter[k], gradient_came, &d->place[k], parameter_gone, &d->ended)) return false;
        atomic_fetch_add(&d->refs, 1);
    }
    return true;
}

bool wk__ddp_hook_output(wk__ddp *d, wk_tensor *x, wk_site site)
{
    if (!wk__hook_add(site, x, output_reached, d, output_gone, &d->ended)) return false;
    atomic_fetch_add(&d->refs, 1);
    return true;
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

static wk_dtype sums_of(const wk_tensor *x)
{
    return wk__body_of(x)->dtype == WK_F64 ? WK_F64 : WK_F32;
}

static int64_t bytes_of(const wk_tensor *x)
{
    return wk__body_numel(wk__body_of(x)) * (int64_t)wk_dtype_size(sums_of(x));
}

/* Has the bucket, which is not empty, no room for x? */
static bool full(const wk__bucket *b, int64_t bytes, const wk_tensor *x, double most)
{
    return b->dtype != sums_of(x) || (double)(bytes + bytes_of(x)) > most ||
           wk__body_of(b->parameter[0])->storage->device != wk__body_of(x)->storage->device;
}

static void fill(wk__ddp *d, double first, double most)
{
    int64_t bytes = 0;
    wk__bucket *b = NULL;
    for (int64_t k = 0; k < d->count; k++) {
        wk_tensor *x = d->parameter[k];
        if (!b || full(b, bytes, x, d->buckets == 1 ? first : most)) {
            b = &d->bucket[d->buckets++];
            b->parameter = &d->parameter[k];
            b->dtype = sums_of(x);
            bytes = 0;
        }
        b->count++;
        b->elements += wk__body_numel(wk__body_of(x));
        bytes += bytes_of(x);
        d->place[k] = (wk__ddp_parameter){.ddp = d, .bucket = d->buckets - 1};
    }
    for (int64_t k = 0; k < d->buckets; k++)
        snprintf(d->bucket[k].what, sizeof d->bucket[k].what, "bucket %lld", (long long)k);
}

bool wk__ddp_plan(wk__ddp *d, const wk__list *list, double first, double most, wk_site site)
{
    const size_t count = (size_t)list->count + 1;
    d->parameter = wk__alloc_zero(count, sizeof *d->parameter);
    d->place = wk__alloc_zero(count, sizeof *d->place);
    d->bucket = wk__alloc_zero(count, sizeof *d->bucket);
    if (!d->parameter || !d->place || !d->bucket) {
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
    wk__free(d->place);
    wk__free(d->bucket);
    wk__free(d);
}
