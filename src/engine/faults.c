/* SPDX-License-Identifier: Apache-2.0 */
/* Faults that devices report late, brought home: to the values that depend on them and to the threads whose
 * calls they were.
 *
 *     gather  x.add_  b = 2a  sum     what was given to the device since it was last known to be well, in order;
 *        |      |       |      |      nothing is watched as long as nothing can fault
 *      fault  skipped skipped reads b
 *        |      |       |      |
 *     failed  keeps   failed  failed  (its group overwrites what it reads: backend.h)
 *             its old
 *             value
 */
#include "../base/alloc.h"
#include "faults.h"
#include "late.h"
#include "places.h"
#include <string.h>

/* One record. The values are held, so that they can be marked; a bounded number of them, then the device is asked. */
typedef struct entry {
    int64_t tag; /* -1: this one cannot fault */
    wk__called called;
    wk_site site;
    wk_context *recorder; /* who is to be told; `stream` tells whether it is still that one */
    int64_t stream;
    int32_t whole;      /* the recorder's call that happens whole, 0: none */
    bool in_place;      /* its target keeps the value `prior` when it could not run */
    bool over;          /* what `prior` held is in the memory of `out` */
    bool skipped;       /* the device left it out if it had faulted before */
    bool given;         /* to the device: only then waiting for the device says something of it */
    bool spoiled;       /* scratch: the device wrote what it should not have */
    wk__failure *cause; /* of that, where it became known before the call that gave it to the device came back */
    bool told;          /* scratch: its recorder hears of what the device has just reported */
    int ins;
    wk__value *out, *prior, *in[WK__MAX_INPUTS];
} entry;

enum { WATCHED = WK__FAULT_TAGS - 64, DEVICES = 64 };

typedef struct watch {
    const wk__device *device;
    int64_t tags, count, capacity, bytes;
    int64_t before; /* entries that are forgotten: the first that is left has this number */
    entry *entry;
} watch;

static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; /* of all watches: taken once per group of asynchronous devices */
static watch watches[DEVICES];

/* ---- watching ---------------------------------------------------------------------------------------------------- */

static watch *watch_of(const wk__device *device)
{
    int k = 0;
    while (k < DEVICES - 1 && watches[k].device && watches[k].device != device) k++;
    watches[k].device = device;
    return &watches[k];
}

static void let_go(watch *w, const entry *e)
{
    w->bytes -= e->out->bytes;
    wk__value_drop(e->out);
    if (e->prior) wk__value_drop(e->prior);
    wk__failure_drop(e->cause);
    for (int i = 0; i < e->ins; i++) wk__value_drop(e->in[i]);
}

/* Entries up to a number, as far as the device had them. */
static void forget(watch *w, int64_t upto)
{
    int64_t gone = 0;
    for (; w->before < upto && w->entry[gone].given; gone++, w->before++) let_go(w, &w->entry[gone]);
    w->count -= gone;
    if (gone > 0) memmove(w->entry, w->entry + gone, sizeof *w->entry * (size_t)w->count);
}

static void add(watch *w, wk_context *recorder, wk__record *r, int output, int64_t tag, bool skipped)
{
    if (!wk__grow(&w->entry, &w->capacity, w->count + 1, sizeof *w->entry))
        return; /* its dependants will not be marked */
    entry *e = &w->entry[w->count++];
    *e = (entry){.tag = tag,
                 .called = wk__called_of(r),
                 .site = r->site,
                 .recorder = recorder,
                 .stream = recorder->stream,
                 .whole = r->whole,
                 .in_place = r->guarded && r->prior,
                 .skipped = skipped,
                 .out = r->ref[output].value};
    wk__value_hold(e->out);
    w->bytes += e->out->bytes;
    if (e->in_place) wk__value_hold(e->prior = r->prior);
    e->over = e->in_place && e->prior->state == WK__STORED && !e->prior->memory.block;
    for (int i = 0; i < r->nin; i++) {
        const wk__ref *ref = wk__record_in(r, i);
        if (!ref->value || e->ins == WK__MAX_INPUTS) continue;
        wk__value_hold(ref->value);
        e->in[e->ins++] = ref->value;
    }
}

/* How much is being watched? */
typedef enum amount { NOTHING, SOMETHING, TOO_MUCH } amount;

static amount look(const wk__device *device)
{
    pthread_mutex_lock(&lock);
    const watch *w = watch_of(device);
    const amount much = w->count > WATCHED || w->bytes > wk__modes_now()->budget ? TOO_MUCH
                        : w->count > 0                                           ? SOMETHING
                                                                                 : NOTHING;
    pthread_mutex_unlock(&lock);
    return much;
}

bool wk__is_watched(wk__device *device)
{
    return device->id.kind != WK_CPU && look(device) != NOTHING;
}

/* Only those that are given by now: what comes later is not waited for. */
int64_t wk__wait_begin(wk__device *device)
{
    if (device->id.kind == WK_CPU) return 0;
    pthread_mutex_lock(&device->reporting);
    pthread_mutex_lock(&lock);
    const watch *w = watch_of(device);
    int64_t given = 0;
    while (given < w->count && w->entry[given].given) given++;
    const int64_t number = w->before + given;
    pthread_mutex_unlock(&lock);
    return number;
}

static void wait_end(wk__device *device)
{
    if (device->id.kind != WK_CPU) pthread_mutex_unlock(&device->reporting);
}

int64_t wk__watch(wk__device *device, wk_context *recorder, wk__record *const *record, int records, bool may_fault,
                  const wk__group *group)
{
    if (device->id.kind == WK_CPU) return -1;
    const amount much = look(device);
    if (much == TOO_MUCH) wk__device_prove(device, record[0]);
    if (much == NOTHING && !may_fault) return -1;
    bool skipped = group ? wk__group_overwrites(group) : record[0]->partial;
    pthread_mutex_lock(&lock);
    watch *w = watch_of(device);
    int64_t first = may_fault ? w->tags : -1;
    for (int k = 0; k < records; k++) {
        /* Of the records in a group, each that can fault has a LOADX, and that has its tag (ir.h). */
        int64_t tag = may_fault && wk__places_may_fault(record[k]) ? w->tags++ : -1;
        for (int o = 0; o < record[k]->nout; o++) add(w, recorder, record[k], o, tag, skipped);
    }
    pthread_mutex_unlock(&lock);
    return first;
}

/* ---- who has to hear of it --------------------------------------------------------------------------------------- */

/* Who recorded what is at fault, and those whose writes in place were left out: each once. Others are told at once,
 * this thread when the watches are unlocked, as the program's handler may run then. */
typedef struct news {
    wk__failure *own; /* for this thread, held */
    bool any, for_self;
} news;

static void hold(wk__failure *failure)
{
    if (failure) atomic_fetch_add(&failure->refs, 1);
}

static bool is_self(const wk_context *context, int64_t stream)
{
    return context == wk__context() && context->stream == stream;
}

static void tell_other(wk_context *context, int64_t stream, wk__failure *failure)
{
    if (!wk__context_visit(context)) return;
    if (context->stream == stream) wk__late(context, failure);
    wk__context_leave(context);
}

void wk__tell_recorder(wk_context *context, int64_t stream, wk__failure *failure)
{
    if (is_self(context, stream))
        wk__tell_failure(failure);
    else
        tell_other(context, stream, failure);
}

static void announce(watch *w, int64_t k, wk__failure *failure, news *n)
{
    entry *e = &w->entry[k];
    n->any = e->told = true;
    for (int64_t before = 0; before < k; before++)
        if (w->entry[before].told && w->entry[before].stream == e->stream) return;
    if (!is_self(e->recorder, e->stream)) {
        tell_other(e->recorder, e->stream, failure);
        return;
    }
    n->for_self = true;
    hold(n->own = failure);
}

/* ---- what has failed --------------------------------------------------------------------------------------------- */

static bool at_fault(const entry *e, const wk__fail *fail)
{
    return fail->code == WK_ERR_INDEX && e->tag >= 0 && wk__fail_has_tag(fail, e->tag);
}

static const entry *culprit_of(const watch *w, int64_t tag)
{
    for (int64_t k = 0; k < w->count && tag >= 0; k++)
        if (w->entry[k].tag == tag) return &w->entry[k];
    return NULL;
}

wk__called wk__called_of(const wk__record *r)
{
    return (wk__called){.name = r->name,
                        .underscore = wk__underscore(r->name, r->in_place),
                        .fault = r->op->fault,
                        .labels = r->op->labels,
                        .from_first = r->op->from_first};
}

wk__failure *wk__explain(const wk__called *called, wk_site site, const wk__device *device, const wk__fail *fail,
                         bool known)
{
    const char *name = called->name ? called->name : wk_device_str(device->id), *underscore = called->underscore;
    const bool refused = fail->code == WK_ERR_INDEX && called->fault;
    const bool is_lost = fail->code == WK_ERR_LOST && called->name;
    char text[sizeof fail->text + 120];
    if (refused)
        snprintf(text, sizeof text, "%s%s: %s", name, underscore, called->fault);
    else if (fail->code == WK_ERR_INDEX && known && called->labels)
        snprintf(text, sizeof text, "%s%s: label %lld names no class: there are %lld", name, underscore,
                 (long long)fail->index, (long long)fail->bound);
    else if (fail->code == WK_ERR_INDEX && known) /* as it is said at the call where the index is known */
        snprintf(text, sizeof text,
                 "%s%s: index %lld is out of range: there are %lld places, so it must lie in [%lld, %lld)", name,
                 underscore, (long long)fail->index, (long long)fail->bound,
                 called->from_first ? 0 : -(long long)fail->bound, (long long)fail->bound);
    else
        snprintf(text, sizeof text, "%s%s: %s%s%s", name, underscore, is_lost ? wk_device_str(device->id) : "",
                 is_lost ? ": " : "",
                 fail->code != WK_ERR_INDEX ? fail->text
                 : called->labels           ? "a label names no class"
                                            : "an index is out of range");
    return wk__failure_new(refused ? WK_ERR_ARGUMENT : fail->code, site, text);
}

/* Of several groups at fault the device tells the index of the first. */
static wk__failure *explain(const watch *w, int64_t tag, const wk__fail *fail, const wk__called *otherwise,
                            wk_site site)
{
    const entry *culprit = culprit_of(w, tag);
    return wk__explain(culprit ? &culprit->called : otherwise, culprit ? culprit->site : site, w->device, fail,
                       tag == fail->tag);
}

/* The target has its old value again, unless that was never stored. When the new one was to have memory of its own,
 * that was written, and those who read it are wrong. */
static bool keep_old(entry *e)
{
    wk__value *out = e->out, *prior = e->prior;
    if (!e->in_place) return false;
    if (e->over && e->skipped) return out->undone = true;
    if (prior->state != WK__STORED || !prior->memory.block) return false;
    e->spoiled = out->undone = true;
    wk__value_give_memory(out);
    wk__value_hold(prior);
    out->shares = prior;
    out->memory = prior->memory;
    return true;
}

/* Did the device leave out the record that makes the value, one of the same step? A parameter is not updated by moments
 * that have not been. */
static bool is_left_out(const entry *made, const entry *e)
{
    return e->whole && made->whole == e->whole && made->stream == e->stream && made->out->undone;
}

/* Has the value failed, or was it read before its old contents came back, or never stored but computed from such? */
static bool is_spoiled(const watch *w, int64_t k, const wk__value *value)
{
    if (value->state == WK__FAILED) return true;
    for (int64_t before = 0; before < k; before++) {
        const entry *made = &w->entry[before];
        if (made->out == value && (made->spoiled || is_left_out(made, &w->entry[k]))) return true;
    }
    return false;
}

static bool reads_spoiled(const watch *w, int64_t k, wk__failure **cause)
{
    const entry *e = &w->entry[k];
    for (int i = 0; i < e->ins; i++) {
        if (!is_spoiled(w, k, e->in[i])) continue;
        if (e->in[i]->state == WK__FAILED) *cause = e->in[i]->failure;
        return true;
    }
    return false;
}

/* What has memory of its own holds nothing good. */
static void fail_or_keep_old(entry *e, wk__failure *cause)
{
    if (!keep_old(e)) wk__value_fail(e->out, cause); /* its memory stays: another thread may just be about to read it */
}

/* One that went wrong. While the call that gives it to the device has not come back, its memory is that call's. */
static void spoil(entry *e, wk__failure *cause)
{
    const bool in_register = e->out->state != WK__STORED && !e->out->memory.block;
    if (in_register || !e->given) e->spoiled = true;
    if (in_register) return;
    if (e->given)
        fail_or_keep_old(e, cause);
    else if (e->cause == NULL)
        hold(e->cause = cause);
}

static void store(wk__record *const *record, int records)
{
    for (int k = 0; k < records; k++)
        for (int o = 0; o < record[k]->nout; o++) {
            wk__value *out = record[k]->ref[o].value;
            if (out->memory.block && out->state == WK__PENDING) wk__value_set_state(out, WK__STORED);
        }
}

/* The newest of this recorder's: a ring is run by one thread at a time, one group after the other. */
void wk__watch_given(wk__device *device, const wk_context *recorder, wk__record *const *stored, int records)
{
    if (device->id.kind == WK_CPU) {
        store(stored, records);
        return;
    }
    wk__release_later();
    pthread_mutex_lock(&lock);
    store(stored, records);
    watch *w = watch_of(device);
    for (int64_t k = w->count; k-- > 0;) {
        entry *e = &w->entry[k];
        if (e->recorder != recorder) continue;
        if (e->given) break;
        e->given = true;
        if (e->cause && e->out->state == WK__STORED) fail_or_keep_old(e, e->cause);
    }
    pthread_mutex_unlock(&lock);
    wk__release_now();
}

/* In the order in which the device ran them. */
static void mark(watch *w, const wk__fail *fail, wk__failure *first, news *n)
{
    bool faulted = false;
    int64_t other = -1; /* the tag of `another` */
    wk__failure *another = NULL;
    for (int64_t k = 0; k < w->count; k++) {
        entry *e = &w->entry[k];
        e->told = false;
        wk__failure *cause = first;
        bool guilty = at_fault(e, fail);
        faulted = faulted || guilty;
        if (guilty && e->tag != fail->tag && e->tag != other) {
            wk__failure_drop(another);
            another = explain(w, other = e->tag, fail, &e->called, e->site);
        }
        if (guilty && e->tag != fail->tag) cause = another;
        if (!guilty && !reads_spoiled(w, k, &cause) && !(faulted && e->skipped)) continue;
        if (guilty || e->in_place) announce(w, k, cause, n);
        spoil(e, cause);
    }
    wk__failure_drop(another);
}

void wk__fault_found(wk__device *device, int64_t watched, const wk__fail *fail, const wk__called *waits, wk_site site)
{
    news n = {.any = false};
    wk__release_later(); /* values that are let go of below may be parked in rings whose threads wait for this lock */
    pthread_mutex_lock(&lock);
    watch *w = watch_of(device);
    wk__failure *first = explain(w, fail->tag, fail, waits, site);
    mark(w, fail, first, &n);
    forget(w, watched);
    pthread_mutex_unlock(&lock);
    wait_end(device);
    wk__release_now();
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__BUSY, NULL, (wk_site){0});
    if (!n.any) wk__tell_failure(first); /* no call's: the waiting thread's */
    if (n.for_self) wk__tell_failure(n.own);
    wk__failure_drop(n.own);
    wk__failure_drop(first);
    wk__frame_end(context, before);
}

void wk__watch_forget(wk__device *device, int64_t watched)
{
    if (device->id.kind == WK_CPU) return;
    wk__release_later();
    pthread_mutex_lock(&lock);
    forget(watch_of(device), watched);
    pthread_mutex_unlock(&lock);
    wait_end(device);
    wk__release_now();
}

void wk__fault_of_value(wk__value *value, wk__failure *failure)
{
    pthread_mutex_lock(&lock);
    if (value->state == WK__STORED) wk__value_fail(value, failure);
    pthread_mutex_unlock(&lock);
}
