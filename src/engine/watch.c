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
    bool in_place; /* the device left its target alone */
    int ins;
    wk__value *out, *in[WK__MAX_INPUTS];
} entry;

enum { WATCHED = 1024, DEVICES = 64 };

typedef struct watch {
    const wk__device *device;
    int64_t tags, count, capacity, bytes;
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

static void forget(watch *w)
{
    for (int64_t k = 0; k < w->count; k++) {
        entry *e = &w->entry[k];
        wk__value_drop(e->out);
        for (int i = 0; i < e->ins; i++) wk__value_drop(e->in[i]);
    }
    w->count = 0;
    w->bytes = 0;
}

static void add(watch *w, const wk__record *r, int64_t tag)
{
    if (!wk__grow(&w->entry, &w->capacity, w->count + 1, sizeof *w->entry))
        return; /* its dependants will not be marked */
    entry *e = &w->entry[w->count++];
    *e = (entry){.tag = tag, .op = r->op->name, .site = r->site, .in_place = r->guarded, .out = r->ref[0].value};
    wk__value_hold(e->out);
    w->bytes += e->out->bytes;
    for (int i = 0; i < r->nin && e->ins < WK__MAX_INPUTS; i++) {
        wk__value *in = r->ref[r->nout + i].value;
        if (!in) continue;
        wk__value_hold(in);
        e->in[e->ins++] = in;
    }
}

int64_t wk__watch(wk__device *device, wk__record *const *record, int records, bool may_fault)
{
    if (device->id.kind == WK_CPU) return -1;
    pthread_mutex_lock(&lock);
    watch *w = watch_of(device);
    int64_t tag = may_fault ? ++w->tags : -1;
    bool open = may_fault || w->count > 0;
    for (int k = 0; k < records && open; k++) add(w, record[k], tag);
    bool full = w->count > WATCHED || w->bytes > wk__modes_now()->budget;
    pthread_mutex_unlock(&lock);
    if (!full) return tag;
    wk__fail fail = {.tag = -1};
    wk_code code = device->backend->sync(device->state, &fail);
    wk__device_settled(device, code, &fail, (wk_site){0});
    return tag;
}

static bool reads_failed(const entry *e)
{
    for (int i = 0; i < e->ins; i++)
        if (wk__value_state(e->in[i]) == WK__FAILED) return true;
    return false;
}

static void mark(watch *w, wk__failure *failure, int64_t tag)
{
    for (int64_t k = 0; k < w->count; k++) {
        entry *e = &w->entry[k];
        bool bad = (tag >= 0 && e->tag == tag) || reads_failed(e);
        if (!bad || e->in_place || wk__value_state(e->out) != WK__STORED) continue;
        wk__value_give_memory(e->out);
        wk__value_fail(e->out, failure);
    }
}

void wk__device_settled(wk__device *device, wk_code code, const wk__fail *fail, wk_site site)
{
    pthread_mutex_lock(&lock);
    watch *w = watch_of(device);
    if (code == WK_OK) {
        forget(w);
        pthread_mutex_unlock(&lock);
        return;
    }
    const entry *culprit = NULL;
    for (int64_t k = 0; k < w->count && !culprit; k++)
        if (fail->tag >= 0 && w->entry[k].tag == fail->tag) culprit = &w->entry[k];
    char text[400];
    const char *op = culprit ? culprit->op : device->backend->name;
    if (code == WK_ERR_INDEX)
        snprintf(text, sizeof text, "%s: index %lld is out of range: there are %lld places", op, (long long)fail->index,
                 (long long)fail->bound);
    else
        snprintf(text, sizeof text, "%s: %s", op, fail->text);
    wk__failure *failure = wk__failure_new(code, culprit ? culprit->site : site, text);
    mark(w, failure, fail->tag);
    forget(w);
    pthread_mutex_unlock(&lock);
    if (code == WK_ERR_LOST) atomic_store(&device->lost, true);
    wk__tell_failure(failure);
    wk__failure_drop(failure);
}
