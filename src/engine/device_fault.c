/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes faults that devices report asynchronously to the values that depend on them and to the threads that
 * recorded them.
 *
 *     gather  x.add_  b = 2a  sum     work in flight: submitted since the device was last known to be free of faults,
 *        |      |       |      |      in order. Nothing is listed as long as nothing can fault
 *      fault  skipped skipped reads b
 *        |      |       |      |
 *     failed  keeps   failed  failed  (its group overwrites what it reads: backend.h)
 *             its old
 *             value
 *
 * Ownership: an entry owns references to its values, so that they can be marked. Their number and bytes are limited;
 * beyond that, wk__inflight_add() waits for the device.
 * Locks: device->report_lock while waiting for a device; inside it `lock`, for all lists. */
#include "base/alloc.h"
#include "device_fault.h"
#include "device_sync.h"
#include "engine/plan/overlap.h"
#include <string.h>

/* One output of one record in flight. */
typedef struct inflight_entry {
    int64_t tag; /* -1: cannot fault */
    wk__call_label called;
    wk_site site;
    wk_context *recorder; /* thread to notify, if the context's stream is still `stream` */
    int64_t stream;
    int32_t transaction;  /* index of the recorder's transaction; 0: none */
    bool in_place;        /* its target keeps the value `prior` if it fails */
    bool overwrote_prior; /* the contents of `prior` were in the memory that `out` has now */
    bool skipped;         /* the device skips it after a fault */
    bool submitted;       /* submitted to the device: only then waiting for the device waits for it */
    bool poisoned;        /* set while marking: the device wrote invalid contents */
    wk__failure *cause;   /* set while marking: why; its readers fail for the same reason */
    bool reported;        /* set while marking: its recorder is notified of this fault */
    int input_count;
    wk__value *out, *prior, *in[WK__MAX_INPUTS];
} inflight_entry;

enum { MAX_INFLIGHT = WK__FAULT_TAGS - 64 };

typedef struct inflight_list {
    const wk__device *device;
    int64_t tags, count, capacity, bytes;
    int64_t first_number; /* number of the first entry; entries before it have been removed */
    inflight_entry *entry;
} inflight_list;

static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER;                      /* for all lists; taken once per group of an asynchronous device */
static inflight_list watches[WK__MAX_OPEN_DEVICES]; /* by wk__device.slot */

/* ---- list of work in flight -------------------------------------------------------------------------------------- */

static inflight_list *watch_of(const wk__device *device)
{
    watches[device->slot].device = device;
    return &watches[device->slot];
}

static void let_go(inflight_list *w, const inflight_entry *e)
{
    w->bytes -= e->out->bytes;
    wk__value_drop(e->out);
    if (e->prior) wk__value_drop(e->prior);
    wk__failure_drop(e->cause);
    for (int i = 0; i < e->input_count; i++) wk__value_drop(e->in[i]);
}

/* Removes the submitted entries up to a number. */
static void forget(inflight_list *w, int64_t upto)
{
    int64_t gone = 0;
    for (; w->first_number < upto && w->entry[gone].submitted; gone++, w->first_number++) let_go(w, &w->entry[gone]);
    w->count -= gone;
    if (gone > 0) memmove(w->entry, w->entry + gone, sizeof *w->entry * (size_t)w->count);
}

static void add(inflight_list *w, wk_context *recorder, wk__record *r, int output, int64_t tag, bool skipped)
{
    if (!wk__grow(&w->entry, &w->capacity, w->count + 1, sizeof *w->entry))
        return; /* out of memory: its dependents won't be marked */
    inflight_entry *e = &w->entry[w->count++];
    *e = (inflight_entry){.tag = tag,
                          .called = wk__call_label_of(r),
                          .site = r->site,
                          .recorder = recorder,
                          .stream = recorder->stream,
                          .transaction = r->transaction,
                          .in_place = r->rolls_back && r->prior,
                          .skipped = skipped,
                          .out = r->ref[output].value};
    wk__value_hold(e->out);
    w->bytes += e->out->bytes;
    if (e->in_place) wk__value_hold(e->prior = r->prior);
    e->overwrote_prior = e->in_place && e->prior->state == WK__STORED && !e->prior->memory.block;
    for (int i = 0; i < r->nin; i++) {
        const wk__ref *ref = wk__record_in(r, i);
        if (!ref->value || e->input_count == WK__MAX_INPUTS) continue;
        wk__value_hold(ref->value);
        e->in[e->input_count++] = ref->value;
    }
}

/* How much is in flight. */
typedef enum inflight_level { NOTHING, SOMETHING, TOO_MUCH } inflight_level;

static inflight_level look(const wk__device *device)
{
    pthread_mutex_lock(&lock);
    const inflight_list *w = watch_of(device);
    const inflight_level much = w->count > MAX_INFLIGHT || w->bytes > wk__engine_config_get()->budget ? TOO_MUCH
                                : w->count > 0                                                        ? SOMETHING
                                                                                                      : NOTHING;
    pthread_mutex_unlock(&lock);
    return much;
}

bool wk__has_inflight(wk__device *device)
{
    return device->id.kind != WK_CPU && look(device) != NOTHING;
}

/* Counts only the entries submitted so far, because the wait does not cover later ones. */
int64_t wk__inflight_begin_wait(wk__device *device)
{
    if (device->id.kind == WK_CPU) return 0;
    pthread_mutex_lock(&device->report_lock);
    pthread_mutex_lock(&lock);
    const inflight_list *w = watch_of(device);
    int64_t given = 0;
    while (given < w->count && w->entry[given].submitted) given++;
    const int64_t number = w->first_number + given;
    pthread_mutex_unlock(&lock);
    return number;
}

static void wait_end(wk__device *device)
{
    if (device->id.kind != WK_CPU) pthread_mutex_unlock(&device->report_lock);
}

int64_t wk__inflight_add(wk__device *device, wk_context *recorder, wk__record *const *record, int records,
                         bool may_fault, const wk__program *group)
{
    if (device->id.kind == WK_CPU) return -1;
    const inflight_level much = look(device);
    if (much == TOO_MUCH) wk__device_sync_if_inflight(device, record[0]);
    if (much == NOTHING && !may_fault) return -1;
    bool skipped = group ? wk__program_is_in_place(group) : record[0]->partial;
    pthread_mutex_lock(&lock);
    inflight_list *w = watch_of(device);
    int64_t first = may_fault ? w->tags : -1;
    for (int k = 0; k < records; k++) {
        /* each record of a group that can fault has a LOADX, which has its tag (ir/ir.h) */
        int64_t tag = may_fault && wk__record_may_fault(record[k]) ? w->tags++ : -1;
        for (int o = 0; o < record[k]->nout; o++) add(w, recorder, record[k], o, tag, skipped);
    }
    pthread_mutex_unlock(&lock);
    return first;
}

/* ---- notification ------------------------------------------------------------------------------------------------ */

/* Threads to notify: the recorders of work at fault, and those whose in-place writes were skipped, once each. Other
 * threads are notified immediately; this thread after the lists are unlocked, because that may call the user's
 * handler. */
typedef struct fault_report {
    wk__failure *own; /* for this thread; owned */
    bool any, for_self;
} fault_report;

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
    if (!wk__context_acquire(context)) return;
    if (context->stream == stream) wk__post_failure(context, failure);
    wk__context_release(context);
}

void wk__notify_recorder(wk_context *context, int64_t stream, wk__failure *failure)
{
    if (is_self(context, stream))
        wk__report_failure(failure);
    else
        tell_other(context, stream, failure);
}

static void notify_once(inflight_list *w, int64_t k, wk__failure *failure, fault_report *n)
{
    inflight_entry *e = &w->entry[k];
    n->any = e->reported = true;
    for (int64_t before = 0; before < k; before++)
        if (w->entry[before].reported && w->entry[before].stream == e->stream) return;
    if (!is_self(e->recorder, e->stream)) {
        tell_other(e->recorder, e->stream, failure);
        return;
    }
    n->for_self = true;
    hold(n->own = failure);
}

/* ---- marking failed values --------------------------------------------------------------------------------------- */

static bool at_fault(const inflight_entry *e, const wk__fail *fail)
{
    return fail->code == WK_ERR_INDEX && e->tag >= 0 && wk__fail_has_tag(fail, e->tag);
}

static const inflight_entry *culprit_of(const inflight_list *w, int64_t tag)
{
    for (int64_t k = 0; k < w->count && tag >= 0; k++)
        if (w->entry[k].tag == tag) return &w->entry[k];
    return NULL;
}

wk__call_label wk__call_label_of(const wk__record *r)
{
    return (wk__call_label){.name = r->name,
                            .underscore = wk__in_place_suffix(r->name, r->in_place),
                            .fault = r->op->fault_message,
                            .labels = r->op->index_is_label,
                            .from_first = r->op->nonnegative_index};
}

wk__failure *wk__failure_from(const wk__call_label *called, wk_site site, const wk__device *device,
                              const wk__fail *fail, bool known)
{
    const char *name = called->name ? called->name : wk_device_str(device->id), *underscore = called->underscore;
    const bool refused = fail->code == WK_ERR_INDEX && called->fault;
    const bool is_lost = fail->code == WK_ERR_DEVICE_LOST && called->name;
    char text[sizeof fail->text + 120];
    if (refused)
        snprintf(text, sizeof text, "%s%s: %s", name, underscore, called->fault);
    else if (fail->code == WK_ERR_INDEX && known && called->labels)
        snprintf(text, sizeof text, "%s%s: label %lld is out of range for %lld classes (valid: [0, %lld))", name,
                 underscore, (long long)fail->index, (long long)fail->bound, (long long)fail->bound);
    else if (fail->code == WK_ERR_INDEX && known) /* same text as where the index is known at the call */
        snprintf(text, sizeof text, "%s%s: index %lld is out of range for size %lld (valid: [%lld, %lld))", name,
                 underscore, (long long)fail->index, (long long)fail->bound,
                 called->from_first ? 0 : -(long long)fail->bound, (long long)fail->bound);
    else
        snprintf(text, sizeof text, "%s%s: %s%s%s", name, underscore, is_lost ? wk_device_str(device->id) : "",
                 is_lost ? ": " : "",
                 fail->code != WK_ERR_INDEX ? fail->text
                 : called->labels           ? "a label is out of range"
                                            : "an index is out of range");
    return wk__failure_new(refused ? WK_ERR_ARGUMENT : fail->code, site, text);
}

/* If several calls are at fault, the device reports the index of the first only. A call that several groups compute has
 * a tag in each, and one index. */
static wk__failure *explain(const inflight_list *w, int64_t tag, const wk__fail *fail, const wk__call_label *otherwise,
                            wk_site site)
{
    const inflight_entry *culprit = culprit_of(w, tag), *first = culprit_of(w, fail->tag);
    const bool known = tag == fail->tag || (culprit && first && culprit->out == first->out);
    return wk__failure_from(culprit ? &culprit->called : otherwise, culprit ? culprit->site : site, w->device, fail,
                            known);
}

/* Restores a target's old value, unless that was never stored. If the new value had separate memory, the device wrote
 * it, and its readers are invalid. */
static bool roll_back_entry(inflight_entry *e)
{
    wk__value *out = e->out, *prior = e->prior;
    if (!e->in_place) return false;
    if (e->overwrote_prior && e->skipped) return out->rolled_back = true;
    if (prior->state != WK__STORED || !prior->memory.block) return false;
    e->poisoned = out->rolled_back = true;
    wk__value_free_memory(out);
    wk__value_hold(prior);
    out->memory_owner = prior;
    out->memory = prior->memory;
    return true;
}

/* Returns true if the device skipped the record that computes a value and that belongs to the same transaction: a
 * parameter must not be updated with moments that were not. */
static bool is_left_out(const inflight_entry *made, const inflight_entry *e)
{
    return e->transaction && made->transaction == e->transaction && made->stream == e->stream && made->out->rolled_back;
}

/* Returns true if the value has failed, or is not stored and was computed from failed ones, or was read before its old
 * contents were restored. Sets *cause if it is known. */
static bool is_spoiled(const inflight_list *w, int64_t k, const wk__value *value, wk__failure **cause)
{
    if (value->state == WK__FAILED) {
        *cause = value->failure;
        return true;
    }
    for (int64_t before = 0; before < k; before++) {
        const inflight_entry *made = &w->entry[before];
        if (made->out != value || !(made->poisoned || is_left_out(made, &w->entry[k]))) continue;
        if (made->cause) *cause = made->cause;
        return true;
    }
    return false;
}

static bool reads_spoiled(const inflight_list *w, int64_t k, wk__failure **cause)
{
    const inflight_entry *e = &w->entry[k];
    for (int i = 0; i < e->input_count; i++)
        if (is_spoiled(w, k, e->in[i], cause)) return true;
    return false;
}

/* Fails a value that has separate memory, or restores its old contents. A value that two groups compute fails once. */
static void fail_or_keep_old(inflight_entry *e, wk__failure *cause)
{
    if (!roll_back_entry(e) && e->out->state != WK__FAILED)
        wk__value_fail(e->out, cause); /* keeps its memory: another thread may be about to read it */
}

/* Marks an entry whose output is invalid. Until the submission returns, the submitting call owns the output's
 * memory. */
static void poison(inflight_entry *e, wk__failure *cause)
{
    const bool in_register = e->out->state != WK__STORED && !e->out->memory.block;
    if (in_register || !e->submitted) e->poisoned = true;
    if (e->cause == NULL) hold(e->cause = cause);
    if (!in_register && e->submitted) fail_or_keep_old(e, e->cause);
}

static void store(wk__record *const *record, int records)
{
    for (int k = 0; k < records; k++)
        for (int o = 0; o < record[k]->nout; o++) {
            wk__value *out = record[k]->ref[o].value;
            if (out->memory.block && out->state == WK__PENDING) wk__value_set_state(out, WK__STORED);
        }
}

/* Marks the newest entries of this recorder: only one thread at a time flushes a queue, one group after another. */
void wk__inflight_submitted(wk__device *device, const wk_context *recorder, wk__record *const *stored, int records)
{
    if (device->id.kind == WK_CPU) {
        store(stored, records);
        return;
    }
    wk__release_suspend();
    pthread_mutex_lock(&lock);
    store(stored, records);
    inflight_list *w = watch_of(device);
    for (int64_t k = w->count; k-- > 0;) {
        inflight_entry *e = &w->entry[k];
        if (e->recorder != recorder) continue;
        if (e->submitted) break;
        e->submitted = true;
        if (e->cause && e->out->state == WK__STORED) fail_or_keep_old(e, e->cause);
    }
    pthread_mutex_unlock(&lock);
    wk__release_resume();
}

/* Marks entries in the order in which the device ran them. */
static void mark(inflight_list *w, const wk__fail *fail, wk__failure *first, fault_report *n)
{
    bool faulted = false;
    int64_t other = -1; /* tag of `another` */
    wk__failure *another = NULL;
    for (int64_t k = 0; k < w->count; k++) {
        inflight_entry *e = &w->entry[k];
        e->reported = false;
        wk__failure *cause = first;
        bool guilty = at_fault(e, fail);
        faulted = faulted || guilty;
        if (guilty && e->tag != fail->tag && e->tag != other) {
            wk__failure_drop(another);
            another = explain(w, other = e->tag, fail, &e->called, e->site);
        }
        if (guilty && e->tag != fail->tag) cause = another;
        if (!guilty && !reads_spoiled(w, k, &cause) && !(faulted && e->skipped)) continue;
        if (guilty || e->in_place) notify_once(w, k, cause, n);
        poison(e, cause);
    }
    wk__failure_drop(another);
}

void wk__inflight_handle_fault(wk__device *device, int64_t watched, const wk__fail *fail, const wk__call_label *waits,
                               wk_site site)
{
    fault_report n = {.any = false};
    /* values dropped below may be deferred in queues whose threads wait for this lock */
    wk__release_suspend();
    pthread_mutex_lock(&lock);
    inflight_list *w = watch_of(device);
    wk__failure *first = explain(w, fail->tag, fail, waits, site);
    mark(w, fail, first, &n);
    forget(w, watched);
    pthread_mutex_unlock(&lock);
    wait_end(device);
    wk__release_resume();
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    if (!n.any) wk__report_failure(first); /* attributed to no call, so to the waiting thread */
    if (n.for_self) wk__report_failure(n.own);
    wk__failure_drop(n.own);
    wk__failure_drop(first);
    wk__frame_end(context, before);
}

void wk__inflight_retire(wk__device *device, int64_t watched)
{
    if (device->id.kind == WK_CPU) return;
    wk__release_suspend();
    pthread_mutex_lock(&lock);
    forget(watch_of(device), watched);
    pthread_mutex_unlock(&lock);
    wait_end(device);
    wk__release_resume();
}

void wk__fail_stored_value(wk__value *value, wk__failure *failure)
{
    pthread_mutex_lock(&lock);
    if (value->state == WK__STORED) wk__value_fail(value, failure);
    pthread_mutex_unlock(&lock);
}
