/* SPDX-License-Identifier: Apache-2.0 */
/* Device synchronization; see device_sync.h. A device knows which values depend on failed work and skips it
 * (backend/backend.h). Reading such a value or waiting for the device returns the failure, with the call that recorded
 * the work. */
#include "base/alloc.h"
#include "device_fault.h"
#include "device_sync.h"

/* Call that recorded the work. Reference-counted: the device owns references as long as it may report it. */
typedef struct origin {
    wk__origin base;
    wk__call_label called;
    wk_site site;
    /* base.recorder_id is its stream: by now another thread may have the context */
    wk_context *recorder;
    _Atomic(wk__failure *) failure; /* set on failure: shared by all dependents */
} origin;

static void end_origin(wk__origin *base)
{
    origin *o = (origin *)base;
    wk__failure_drop(atomic_load(&o->failure));
    wk__free(o);
}

wk_code wk__origin_of(const wk__record *r, wk_context *recorder, wk__origin **out, wk__fail *fail)
{
    *out = NULL;
    if (r->device->id.kind == WK_CPU) return WK_OK;
    origin *o = wk__alloc_zero(1, sizeof *o);
    if (!o) return wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory");
    *o = (origin){.base = {.refcount = 1, .recorder_id = recorder->stream, .destroy = end_origin},
                  .called = wk__call_label_of(r),
                  .site = r->site,
                  .recorder = recorder};
    *out = &o->base;
    return WK_OK;
}

/* Call that waits for the device; the failure is attributed to it if the recorder is unknown. */
typedef struct waiter {
    wk__call_label called;
    wk_site site;
} waiter;

static waiter waiter_of(const wk__record *r, wk_site site)
{
    const wk__api_call *outer = &wk__context()->frame.api_call;
    if (r) return (waiter){wk__call_label_of(r), r->site};
    if (!outer->active || !outer->name) return (waiter){{.underscore = ""}, wk__site(site)};
    return (waiter){{.name = outer->name, .underscore = wk__in_place_suffix(outer->name, outer->in_place)},
                    outer->site};
}

/* Returns a reference that the caller owns; NULL on allocation failure. */
static wk__failure *failure_of(const wk__device *device, const wk__fail *fail, const waiter *otherwise)
{
    origin *o = (origin *)fail->origin;
    if (!o) return wk__failure_from(&otherwise->called, otherwise->site, device, fail, false);
    wk__failure *failure = atomic_load(&o->failure), *none = NULL;
    if (!failure && (failure = wk__failure_from(&o->called, o->site, device, fail, false))) {
        if (!atomic_compare_exchange_strong(&o->failure, &none, failure)) {
            wk__failure_drop(failure);
            failure = none;
        }
    }
    if (failure) atomic_fetch_add(&failure->refs, 1);
    return failure;
}

/* Reports skipped work to its recorder. `value` is the invalid value that was to be read, and is marked as failed, or
 * NULL. The caller reports it to the reader. */
static void report_skipped_work(wk__device *device, wk__value *value, wk__fail *fail, const waiter *waits)
{
    wk__failure *failure = failure_of(device, fail, waits);
    const origin *whom = (const origin *)fail->notify;
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    if (value) wk__fail_stored_value(value, failure);
    if (whom)
        wk__notify_recorder(whom->recorder, whom->base.recorder_id, failure);
    else if (!fail->origin && !fail->poisoned)
        wk__report_failure(failure);
    wk__failure_drop(failure);
    wk__fail_release(fail);
    wk__frame_end(context, before);
}

void wk__value_lost(wk__value *value, wk__fail *fail)
{
    const wk__call_label by = {.name = value->op_name,
                               .underscore =
                                   value->op_name ? wk__in_place_suffix(value->op_name, value->in_place) : ""};
    report_skipped_work(value->device, value, fail, &(waiter){by, value->site});
}

/* ---- waiting ----------------------------------------------------------------------------------------------------- */

/* Handles the result of waiting for the device. */
static void after_sync(wk__device *device, wk__value *value, int64_t number, wk_code code, wk__fail *fail,
                       const waiter *waits)
{
    if (code == WK_ERR_INDEX) {
        wk__inflight_handle_fault(device, number, fail, &waits->called, waits->site);
        return;
    }
    wk__inflight_retire(device, number);
    if (code != WK_OK && fail->poisoned && value)
        wk__value_lost(value, fail);
    else if (code != WK_OK)
        report_skipped_work(device, NULL, fail, waits);
}

wk_code wk__device_sync(wk__device *device, const wk__record *r, wk_site site)
{
    const waiter waits = waiter_of(r, site);
    wk_code first = WK_OK;
    for (bool more = true; more;) {
        wk__fail fail = {.tag = -1};
        const int64_t number = wk__inflight_begin_wait(device);
        wk_code code = device->backend->sync(device->state, &fail);
        more = code != WK_OK && fail.async;
        after_sync(device, NULL, number, code, &fail, &waits);
        if (first == WK_OK) first = code;
    }
    return first;
}

void wk__device_sync_if_inflight(wk__device *device, const wk__record *r)
{
    if (wk__has_inflight(device)) wk__device_sync(device, r, (wk_site){0});
}

wk_code wk__value_download(wk__value *value, int64_t from, int64_t bytes, void *to, const wk__record *r, wk_site site,
                           wk__fail *fail)
{
    wk__device *device = value->device;
    const waiter waits = waiter_of(r, site);
    for (;;) {
        const int64_t number = wk__inflight_begin_wait(device);
        *fail = (wk__fail){.tag = -1};
        wk_code code = device->backend->download(device->state, to, &value->memory, from, bytes, fail);
        bool another = code != WK_OK && (fail->async || fail->tag >= 0); /* a fault of other work, not of the copy */
        after_sync(device, value, number, code, fail, &waits);
        if (!another || value->state != WK__STORED) return code;
    }
}
