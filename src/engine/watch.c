/* What the host notices of devices that run on their own: waits and transfers (rule 21 of the lesson), and faults that come
 * late, which are brought back to the call that caused them. */
#include "../base/alloc.h"
#include "../base/log.h"
#include "host.h"
#include <string.h>
#include <wick/device.h>
#include <wick/log.h>

static atomic_int sync_mode;

void wk_set_sync_mode(wk_sync_mode mode)
{
    atomic_store(&sync_mode, mode);
}

static void add_device(wk__device *device, void *user)
{
    wk_transfer_counters *sum = user;
    sum->waits += atomic_load(&device->syncs);
    sum->uploads += atomic_load(&device->uploads);
    sum->downloads += atomic_load(&device->downloads);
}

int wk_transfers(wk_transfer_counters *counters)
{
    wk_transfer_counters sum = {.size = sizeof sum};
    wk__device_each(add_device, &sum);
    if (!counters || counters->size < sizeof sum) {
        wk__error_set((wk_site){0}, WK_ERR_ARGUMENT, "transfers: set .size = sizeof(wk_transfer_counters) first");
        return WK_ERR_ARGUMENT;
    }
    *counters = sum;
    return WK_OK;
}

void wk__note_wait(wk__device *device, wk_site site, int64_t bytes)
{
    if (device->id.kind == WK_CPU) return;
    int mode = atomic_load_explicit(&sync_mode, memory_order_relaxed);
    if (mode == WK_SYNC_FAIL)
        wk__error_set(site, WK_ERR_STATE,
                      "the host waits here for %s (%lld bytes); keep figures on the device with wk_history and read "
                      "them in bulk",
                      wk_device_str(device->id), (long long)bytes);
    else if (mode == WK_SYNC_LOG)
        wk__log(WK__LOG_SYNC, site, "the host waits for %s (%lld bytes)", wk_device_str(device->id), (long long)bytes);
}

/* ---- late faults ------------------------------------------------------------------------------------------------- */

/* The calls since a device was last known to be well that may have faulted or may depend on one that did: each with what it gave
 * and what it read. The values are held, so that they can be marked; a bounded number of them, then the device is asked. */
typedef struct entry {
    int64_t tag; /* of its group; -1: this one cannot fault */
    const char *op;
    wk_site site;
    wk_context *recorder; /* who is to be told; `stream` tells whether it is still that one */
    int64_t stream;
    bool in_place; /* the device left its target alone */
    bool indexed;  /* reads or writes at places that are numbers: of the records in a group, this one can fault */
    int ins;
    wk__value *out, *in[WK__MAX_INPUTS];
} entry;

enum { WATCHED = 1024, DEVICES = 64 };

typedef struct watch {
    const wk__device *device;
    int64_t tags, count, capacity, bytes;
    int64_t before; /* entries that are forgotten: the first that is left has this number */
    entry *entry;
} watch;

static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; /* of all watches: taken once per group of asynchronous devices */
static watch watches[DEVICES];

static watch *watch_of(const wk__device *device)
{
    int k = 0;
    while (k < DEVICES - 1 && watches[k].device && watches[k].device != device) k++;
    watches[k].device = device;
    return &watches[k];
}

/* Entries up to a number. */
static void forget(watch *w, int64_t upto)
{
    int64_t gone = upto - w->before;
    for (int64_t k = 0; k < gone; k++) {
        entry *e = &w->entry[k];
        w->bytes -= e->out->bytes;
        wk__value_drop(e->out);
        for (int i = 0; i < e->ins; i++) wk__value_drop(e->in[i]);
    }
    if (gone <= 0) return;
    w->count -= gone;
    w->before = upto;
    memmove(w->entry, w->entry + gone, sizeof *w->entry * (size_t)w->count);
}

static void add(watch *w, const wk_context *recorder, wk__record *r, int64_t tag)
{
    if (!wk__grow(&w->entry, &w->capacity, w->count + 1, sizeof *w->entry))
        return; /* its dependants will not be marked */
    entry *e = &w->entry[w->count++];
    *e = (entry){.tag = tag,
                 .op = r->op->name,
                 .site = r->site,
                 .recorder = (wk_context *)(uintptr_t)recorder,
                 .stream = recorder->stream,
                 .in_place = r->guarded,
                 .indexed = r->kind == WK__RECORD_KERNEL,
                 .out = r->ref[0].value};
    wk__value_hold(e->out);
    w->bytes += e->out->bytes;
    for (int i = 0; i < r->nin; i++) {
        const wk__ref *ref = wk__record_in(r, i);
        e->indexed = e->indexed || ref->flags & WK__REF_INDIRECT;
        if (!ref->value || e->ins == WK__MAX_INPUTS) continue;
        wk__value_hold(ref->value);
        e->in[e->ins++] = ref->value;
    }
}

int64_t wk__watch(wk__device *device, const wk_context *recorder, wk__record *const *record, int records,
                  bool may_fault)
{
    if (device->id.kind == WK_CPU) return -1;
    pthread_mutex_lock(&lock);
    watch *w = watch_of(device);
    int64_t tag = may_fault ? ++w->tags : -1;
    bool open = may_fault || w->count > 0;
    for (int k = 0; k < records && open; k++) add(w, recorder, record[k], tag);
    bool full = w->count > WATCHED || w->bytes > wk__modes_now()->budget;
    pthread_mutex_unlock(&lock);
    if (full) wk__device_prove(device);
    return tag;
}

int64_t wk__watched(wk__device *device)
{
    if (device->id.kind == WK_CPU) return 0;
    pthread_mutex_lock(&lock);
    const watch *w = watch_of(device);
    int64_t number = w->before + w->count;
    pthread_mutex_unlock(&lock);
    return number;
}

void wk__device_prove(wk__device *device)
{
    if (device->id.kind == WK_CPU) return;
    pthread_mutex_lock(&lock);
    const watch *w = watch_of(device);
    int64_t number = w->before + w->count;
    bool open = w->count > 0;
    pthread_mutex_unlock(&lock);
    if (!open) return;
    wk__fail fail = {.tag = -1};
    wk_code code = device->backend->sync(device->state, &fail);
    wk__device_settled(device, number, code, &fail, (wk_site){0});
}

/* ---- a fault is brought home ------------------------------------------------------------------------------------- */

static bool reads_failed(const entry *e)
{
    for (int i = 0; i < e->ins; i++)
        if (wk__value_state(e->in[i]) == WK__FAILED) return true;
    return false;
}

/* The memory stays until the value goes: another thread may just be about to read it. */
static void mark(watch *w, wk__failure *failure, int64_t tag)
{
    for (int64_t k = 0; k < w->count; k++) {
        entry *e = &w->entry[k];
        bool bad = (tag >= 0 && e->tag == tag) || reads_failed(e);
        if (bad && !e->in_place && wk__value_state(e->out) == WK__STORED) wk__value_fail(e->out, failure);
    }
}

static const entry *culprit_of(const watch *w, int64_t tag)
{
    const entry *culprit = NULL;
    for (int64_t k = 0; k < w->count && tag >= 0; k++) {
        const entry *e = &w->entry[k];
        if (e->tag == tag && (!culprit || (e->indexed && !culprit->indexed))) culprit = e;
    }
    return culprit;
}

static wk__failure *explain(const wk__device *device, const entry *culprit, const wk__fail *fail, wk_site site)
{
    char text[400];
    const char *op = culprit ? culprit->op : device->backend->name;
    if (fail->code == WK_ERR_INDEX)
        snprintf(text, sizeof text, "%s: index %lld is out of range: there are %lld places", op, (long long)fail->index,
                 (long long)fail->bound);
    else
        snprintf(text, sizeof text, "%s: %s", op, fail->text);
    return wk__failure_new(fail->code, culprit ? culprit->site : site, text);
}

/* The threads that have to hear of a fault: who recorded the culprit, and those whose in-place calls after it left their targets
 * alone. A fault that belongs to no call is the waiting thread's. */
enum { TOLD = 16 };
typedef struct audience {
    struct {
        wk_context *context;
        int64_t stream;
    } who[TOLD];
    int count;
} audience;

static void listens(audience *a, const entry *e)
{
    for (int k = 0; k < a->count; k++)
        if (a->who[k].context == e->recorder && a->who[k].stream == e->stream) return;
    if (a->count == TOLD) return;
    a->who[a->count].context = e->recorder;
    a->who[a->count++].stream = e->stream;
}

static void gather(audience *a, const watch *w, const entry *culprit)
{
    if (!culprit) return;
    listens(a, culprit);
    for (const entry *e = culprit; e < w->entry + w->count; e++)
        if (e->in_place) listens(a, e);
}

static void tell(const audience *a, wk__failure *failure)
{
    if (a->count == 0) wk__tell_failure(failure);
    for (int k = 0; k < a->count; k++) {
        wk_context *context = a->who[k].context;
        if (context == wk__context() && context->stream == a->who[k].stream) {
            wk__tell_failure(failure);
        } else if (failure && wk__context_visit(context)) {
            if (context->stream == a->who[k].stream) wk__late(context, failure);
            wk__context_leave(context);
        }
    }
}

void wk__device_settled(wk__device *device, int64_t watched, wk_code code, const wk__fail *fail, wk_site site)
{
    if (device->id.kind == WK_CPU && code == WK_OK) return;
    audience to_tell = {.count = 0};
    wk__failure *failure = NULL;
    pthread_mutex_lock(&lock);
    watch *w = watch_of(device);
    if (code != WK_OK) {
        const entry *culprit = culprit_of(w, fail->tag);
        failure = explain(device, culprit, fail, site);
        mark(w, failure, fail->tag);
        gather(&to_tell, w, culprit);
    }
    forget(w, watched);
    pthread_mutex_unlock(&lock);
    if (code == WK_OK) return;
    if (code == WK_ERR_LOST) atomic_store(&device->lost, true);
    tell(&to_tell, failure);
    wk__failure_drop(failure);
}
