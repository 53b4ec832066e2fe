/* SPDX-License-Identifier: Apache-2.0 */
/* What a device finds out late: work that it could not do when its turn had come. The device knows what depends on it
 * and leaves that out (backend.h); who reads one of those values, or waits for the device, gets the failure here,
 * with the call that it was. */
#include "../base/alloc.h"
#include "faults.h"
#include "late.h"

/* Whose work it was. */
typedef struct origin {
    wk__origin base;
    wk__called called;
    wk_site site;
    wk_context *recorder;           /* base.who is its stream: another thread may have the context by then */
    _Atomic(wk__failure *) failure; /* once it has failed: one for all that depend on it */
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
    if (!o) return wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory to run it");
    *o = (origin){.base = {.refs = 1, .who = recorder->stream, .end = end_origin},
                  .called = wk__called_of(r),
                  .site = r->site,
                  .recorder = recorder};
    *out = &o->base;
    return WK_OK;
}

/* The call that waits for the device: it has failed if nobody knows whose work it was. */
typedef struct waiter {
    wk__called called;
    wk_site site;
} waiter;

static waiter waiter_of(const wk__record *r, wk_site site)
{
    const wk__outer *outer = &wk__context()->frame.outer;
    if (r) return (waiter){wk__called_of(r), r->site};
    if (!outer->on || !outer->name) return (waiter){{.underscore = ""}, wk__site(site)};
    return (waiter){{.name = outer->name, .underscore = wk__underscore(outer->name, outer->in_place)}, outer->site};
}

/* Held for the caller; NULL when memory is short. */
static wk__failure *failure_of(const wk__device *device, const wk__fail *fail, const waiter *otherwise)
{
    origin *o = (origin *)fail->origin;
    if (!o) return wk__explain(&otherwise->called, otherwise->site, device, fail, false);
    wk__failure *failure = atomic_load(&o->failure), *none = NULL;
    if (!failure && (failure = wk__explain(&o->called, o->site, device, fail, false))) {
        if (!atomic_compare_exchange_strong(&o->failure, &none, failure)) {
            wk__failure_drop(failure);
            failure = none;
        }
    }
    if (failure) atomic_fetch_add(&failure->refs, 1);
    return failure;
}

/* `value`: what was to be read and holds nothing good, or NULL. Who reads it is told by its caller. */
static void left_out(wk__device *device, wk__value *value, wk__fail *fail, const waiter *waits)
{
    wk__failure *failure = failure_of(device, fail, waits);
    const origin *whom = (const origin *)fail->whom;
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__BUSY, NULL, (wk_site){0});
    if (value) wk__fault_of_value(value, failure);
    if (whom)
        wk__tell_recorder(whom->recorder, whom->base.who, failure);
    else if (!fail->origin && !fail->lost)
        wk__tell_failure(failure);
    wk__failure_drop(failure);
    wk__fail_end(fail);
    wk__frame_end(context, before);
}

void wk__value_lost(wk__value *value, wk__fail *fail)
{
    const wk__called by = {.name = value->by,
                           .underscore = value->by ? wk__underscore(value->by, value->in_place) : ""};
    left_out(value->device, value, fail, &(waiter){by, value->site});
}

/* ---- waiting ----------------------------------------------------------------------------------------------------- */

/* The device has been waited for. */
static void settled(wk__device *device, wk__value *value, int64_t number, wk_code code, wk__fail *fail,
                    const waiter *waits)
{
    if (code == WK_ERR_INDEX) {
        wk__fault_found(device, number, fail, &waits->called, waits->site);
        return;
    }
    wk__watch_forget(device, number);
    if (code != WK_OK && fail->lost && value)
        wk__value_lost(value, fail);
    else if (code != WK_OK)
        left_out(device, NULL, fail, waits);
}

wk_code wk__device_settle(wk__device *device, const wk__record *r, wk_site site)
{
    const waiter waits = waiter_of(r, site);
    wk_code first = WK_OK;
    for (bool more = true; more;) {
        wk__fail fail = {.tag = -1};
        const int64_t number = wk__wait_begin(device);
        wk_code code = device->backend->sync(device->state, &fail);
        more = code != WK_OK && fail.elsewhere;
        settled(device, NULL, number, code, &fail, &waits);
        if (first == WK_OK) first = code;
    }
    return first;
}

void wk__device_prove(wk__device *device, const wk__record *r)
{
    if (wk__is_watched(device)) wk__device_settle(device, r, (wk_site){0});
}

wk_code wk__value_download(wk__value *value, int64_t from, int64_t bytes, void *to, const wk__record *r, wk_site site,
                           wk__fail *fail)
{
    wk__device *device = value->device;
    const waiter waits = waiter_of(r, site);
    for (;;) {
        const int64_t number = wk__wait_begin(device);
        *fail = (wk__fail){.tag = -1};
        wk_code code = device->backend->download(device->state, to, &value->memory, from, bytes, fail);
        bool another =
            code != WK_OK && (fail->elsewhere || fail->tag >= 0); /* some group's fault, not that of the copy */
        settled(device, value, number, code, fail, &waits);
        if (!another || value->state != WK__STORED) return code;
    }
}
