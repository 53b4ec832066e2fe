/* SPDX-License-Identifier: Apache-2.0 */
/* Events: handles of the backend's event objects. The handle owns the backend's event; the device stays open until the
 * process ends. */
#include "base/alloc.h"
#include "op_queue.h"
#include <math.h>
#include <wick/event.h>

typedef struct device_event {
    wk__device *device; /* open until the process ends */
    void *event;        /* the backend's event */
} device_event;

struct wk_event {
    wk__handle handle;
};

static void destroy(void *body)
{
    device_event *m = body;
    m->device->backend->event_destroy(m->device->state, m->event);
    wk__free(m);
}

static const wk__handle_type event_kind = {.name = "event", .destroy = destroy};

static wk_code failed(wk_site site, const char *call, const wk__device *device, const wk__fail *fail)
{
    wk__error_set(site, fail->code, "%s: %s: %s", call, wk_device_str(device->id), fail->text);
    return fail->code;
}

wk_event *wk_event_record_at(wk_site site, wk_device device)
{
    static const char call[] = "event_record";
    wk_context *context = wk__context();
    if (wk__forked) {
        wk__report_forked(site, call);
        return NULL;
    }
    wk__device *on = wk__device_open(site, call, device.kind ? device : context->device);
    if (!on) return NULL;
    if (!on->backend->event_record) {
        wk__error_set(site, WK_ERR_UNSUPPORTED, "%s: %s does not support events; measure time around wk_sync", call,
                      wk_device_str(on->id));
        return NULL;
    }
    wk__flush(context);
    wk__fail fail = {.tag = -1};
    device_event *m = wk__alloc_zero(1, sizeof *m);
    if (m && on->backend->event_record(on->state, &m->event, &fail) != WK_OK) {
        wk__free(m);
        failed(site, call, on, &fail);
        return NULL;
    }
    if (m) m->device = on;
    return wk__handle_wrap(site, &event_kind, m, true, call);
}

/* Returns the event; NULL with an error recorded if it is not an event or this is a forked process. */
static const device_event *moment_of(const wk_event *event, wk_site site, const char *call, const char *role)
{
    if (!wk__handle_check(event, &event_kind, site, call, role)) return NULL;
    if (!wk__forked) return wk__handle_body(event);
    wk__report_forked(site, call);
    return NULL;
}

bool wk_event_query_at(wk_site site, const wk_event *event)
{
    const device_event *m = moment_of(event, site, "event_query", "the event");
    return !m || m->device->backend->event_query(m->device->state, m->event);
}

wk_code wk_event_synchronize_at(wk_site site, wk_event *event)
{
    static const char call[] = "event_synchronize";
    const device_event *m = moment_of(event, site, call, "the event");
    wk__fail fail = {.tag = -1};
    if (!m) return wk_error_code();
    if (m->device->id.kind != WK_CPU) atomic_fetch_add(&m->device->syncs, 1);
    const wk_code code = m->device->backend->event_wait(m->device->state, m->event, &fail);
    return code == WK_OK ? code : failed(site, call, m->device, &fail);
}

double wk_event_elapsed_time_at(wk_site site, wk_event *start, wk_event *end)
{
    static const char call[] = "event_elapsed_time";
    const device_event *from = moment_of(start, site, call, "the start"),
                       *to = from ? moment_of(end, site, call, "the end") : NULL;
    wk__fail fail = {.tag = -1};
    double seconds;
    if (!to) return (double)NAN;
    if (from->device != to->device) {
        wk__error_set(site, WK_ERR_DEVICE, "%s: the start is on %s, the end on %s; record both on one device", call,
                      wk_device_str(from->device->id), wk_device_str(to->device->id));
        return (double)NAN;
    }
    if (from->device->backend->event_elapsed(from->device->state, from->event, to->event, &seconds, &fail) == WK_OK)
        return 1e3 * seconds;
    failed(site, call, from->device, &fail);
    return (double)NAN;
}
