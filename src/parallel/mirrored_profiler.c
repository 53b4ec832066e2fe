/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles the steps of a mirrored network: where the time goes, and the speed of each device.
 *
 * Calls are recorded and run later, on several devices concurrently, so timing the calls is meaningless. A few steps
 * are measured with a device synchronization between their parts:
 *
 *     forward    start | copy parameters and inputs | replicas | gather results
 *     backward   loss and replicas, up to the first parameter's gradient | sum gradients over the devices
 *     the rest   optimiser step and user code, up to the next forward
 *
 * Replicas run concurrently in these steps as well: each device records an event before and after its replica. */
#include "mirrored.h"
#include "backend/device.h"
#include "base/alloc.h"
#include "base/platform/clock.h"
#include "base/log.h"
#include "data/loader.h"
#include "engine/device_sync.h"

enum {
    WARMUP_STEPS = 8, /* steps not measured, in which kernels are compiled and memory is allocated */
    PROFILED_STEPS = 3,
    BALANCE_STEPS = 8 /* measured steps if shares follow the speed of devices */
};

/* Seconds per part of a step, or sums over several steps. */
typedef struct times {
    double whole, copying, computing, reducing, waiting, bytes;
} times;

/* A step being measured. Referenced by the profiler and by the listeners of its gradients. */
typedef struct profiled_step {
    wk__gradient_listener listener;
    int n;
    wk__device *device[WK_MIRRORED_DEVICES];
    double begun, last, waited; /* times in seconds; time that data loops had waited by then */
    times times;
    int64_t nodes, gradients_done; /* parameters whose gradients are to be summed, and those done */
} profiled_step;

struct wk__step_profiler {
    int64_t steps, trained, copied, measured;
    profiled_step *current; /* ends at the next forward; NULL: none */
    void *events[WK_MIRRORED_DEVICES][2];
    double forward[WK_MIRRORED_DEVICES];
    times sum;
    int64_t sums;
};

static double now(void)
{
    return 1e-9 * (double)wk__monotonic_ns();
}

wk__step_profiler *wk__step_profiler_new(void)
{
    return wk__alloc_zero(1, sizeof(wk__step_profiler));
}

static void release_events(const wk__device *device, void *moment[2])
{
    for (int i = 0; i < 2; i++) {
        if (moment[i]) device->backend->event_destroy(device->state, moment[i]);
        moment[i] = NULL;
    }
}

void wk__step_profiler_free(wk__mirrored *m)
{
    wk__step_profiler *figures = m->profiler;
    if (!figures) return;
    for (int k = 0; k < m->n; k++) release_events(m->device[k], figures->events[k]);
    if (figures->current) wk__gradient_listener_drop(&figures->current->listener);
    wk__free(figures);
}

void wk__step_profiler_add_copied(wk__mirrored *m, int64_t bytes)
{
    m->profiler->copied += bytes;
}

/* ---- between the parts of a step --------------------------------------------------------------------------------- */

static void sync_devices(const profiled_step *s)
{
    wk__flush(wk__context());
    for (int k = 0; k < s->n; k++) wk__device_sync(s->device[k], NULL, (wk_site){0});
}

static void end_phase(profiled_step *s, double *sum)
{
    sync_devices(s);
    const double then = s->last;
    s->last = now();
    *sum += s->last - then;
}

/* Listener: called before and after the gradients of a parameter are summed. The first call follows all work of the
 * replicas. */
static void on_gradient_summed(wk__gradient_listener *listener, bool after)
{
    profiled_step *s = (profiled_step *)listener;
    if (!after && s->gradients_done == 0) end_phase(s, &s->times.computing);
    s->gradients_done += after;
    if (after && s->gradients_done == s->nodes) end_phase(s, &s->times.reducing);
}

bool wk__step_profiler_is_active(const wk__mirrored_forward *t)
{
    return t->m->profiler->current != NULL;
}

void wk__step_profiler_watch(wk__mirrored_forward *t, const wk_tensor *x, wk_tensor *out)
{
    profiled_step *s = t->m->profiler->current;
    if (!s) return;
    s->nodes++;
    s->times.bytes += (double)wk__body_of(x)->storage->bytes;
    wk__device_broadcast_on_grad(out, &s->listener);
}

/* ---- the devices' speed ------------------------------------------------------------------------------------------ */

static void *record_event(const wk__device *device)
{
    wk__fail fail;
    void *moment = NULL;
    if (!device->backend->event_record || device->backend->event_record(device->state, &moment, &fail) != WK_OK)
        return NULL;
    return moment;
}

void wk__step_profiler_end_replica(wk__mirrored_forward *t, int k)
{
    wk__step_profiler *f = t->m->profiler;
    if (!f->current) return;
    release_events(t->m->device[k], f->events[k]); /* left by a forward that failed */
    f->events[k][0] = record_event(t->m->device[k]);
    wk__flush(t->context);
    f->events[k][1] = record_event(t->m->device[k]);
}

/* Returns the seconds between the two events of a device; 0: unknown. */
static double elapsed_between(const wk__device *device, void *moment[2])
{
    const wk__backend *backend = device->backend;
    wk__fail fail;
    double seconds = 0;
    if (moment[0] && moment[1] && backend->event_wait(device->state, moment[0], &fail) == WK_OK &&
        backend->event_wait(device->state, moment[1], &fail) == WK_OK &&
        backend->event_elapsed(device->state, moment[0], moment[1], &seconds, &fail) != WK_OK)
        seconds = 0;
    release_events(device, moment);
    return seconds > 0 ? seconds : 0;
}

static void read_moments(wk__mirrored_forward *t)
{
    wk__step_profiler *f = t->m->profiler;
    for (int k = 0; k < t->m->n; k++)
        if (t->share[k] > 0) f->forward[k] = elapsed_between(t->m->device[k], f->events[k]);
}

/* Updates the shares from samples per second: the first measurement replaces the equal shares, later ones are averaged.
 * An idle device, or one whose time is unknown, keeps its share. */
static void rebalance(wk__mirrored_forward *t)
{
    wk__mirrored *m = t->m;
    const wk__step_profiler *f = m->profiler;
    double speed = 0, held = 0;
    for (int k = 0; k < m->n; k++) {
        if (t->share[k] == 0 || f->forward[k] == 0) continue;
        speed += (double)t->share[k] / f->forward[k];
        held += m->weight[k];
    }
    for (int k = 0; k < m->n; k++) {
        if (t->share[k] == 0 || f->forward[k] == 0) continue;
        const double found = held * ((double)t->share[k] / f->forward[k]) / speed;
        m->weight[k] = f->measured > 1 ? (m->weight[k] + found) / 2 : found;
    }
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* Returns how copies between the devices go; parameters are on the first. */
static wk_copy_path path_of(const wk__mirrored *m)
{
    bool peer = true;
    const wk__device *home = m->device[0];
    for (int k = 1; k < m->n && peer; k++)
        peer = m->device[k]->backend == home->backend && home->backend->transfer &&
               (!home->backend->has_p2p || home->backend->has_p2p(home->state, m->device[k]->state));
    return m->n == 1 ? WK_COPY_NONE : peer ? WK_COPY_PEER : WK_COPY_HOST;
}

static double share_of(const times *sum, double part)
{
    return sum->whole > 0 ? part / sum->whole : 0;
}

void wk__step_profiler_stats(const wk__mirrored *m, wk_mirrored_stats *stats)
{
    const wk__step_profiler *f = m->profiler;
    double weights = 0;
    stats->devices = m->n;
    stats->path = path_of(m);
    stats->steps = f->trained;
    stats->copied_bytes = f->copied;
    for (int k = 0; k < m->n; k++) weights += m->weight[k];
    for (int k = 0; k < m->n; k++) {
        stats->device[k] = m->device[k]->id;
        stats->share[k] = m->weight[k] / weights;
        stats->forward[k] = f->forward[k];
    }
    if (f->sum.reducing > 0) stats->all_reduce_bandwidth = f->sum.bytes / f->sum.reducing;
    stats->compute = share_of(&f->sum, f->sum.computing);
    stats->communication = share_of(&f->sum, f->sum.copying + f->sum.reducing);
    stats->input_wait = share_of(&f->sum, f->sum.waiting);
}

static void log_stats(const wk__mirrored *m)
{
    static const char *const ways[] = {
        [WK_COPY_NONE] = "none", [WK_COPY_PEER] = "from device to device", [WK_COPY_HOST] = "through the host"};
    wk_mirrored_stats stats = {.size = sizeof stats};
    wk__text text = {0};
    wk__step_profiler_stats(m, &stats);
    for (int k = 0; k < stats.devices; k++)
        wk__text_format(&text, "%s%s (%.0f %%)", k ? ", " : "", wk_device_str(stats.device[k]), 100 * stats.share[k]);
    wk__log(WK__LOG_PARALLEL, wk__site((wk_site){0}),
            "mirrored: %s; copies %s; all-reduce %.3g MB/s; of a step: compute %.0f %%, communication %.0f %%, input "
            "%.0f %%",
            text.data ? text.data : "", ways[stats.path], 1e-6 * stats.all_reduce_bandwidth, 100 * stats.compute,
            100 * stats.communication, 100 * stats.input_wait);
    wk__text_free(&text);
}

/* Adds a finished step to the statistics; ignores one in which not all gradients arrived. */
static void finish_step(wk__mirrored *m)
{
    wk__step_profiler *f = m->profiler;
    profiled_step *s = f->current;
    f->current = NULL;
    sync_devices(s);
    if (s->nodes > 0 && s->gradients_done == s->nodes && f->sums < PROFILED_STEPS) {
        f->sum.whole += now() - s->begun;
        f->sum.waiting += wk__loader_wait_seconds() - s->waited;
        f->sum.copying += s->times.copying;
        f->sum.computing += s->times.computing;
        f->sum.reducing += s->times.reducing;
        f->sum.bytes += s->times.bytes;
        if (++f->sums == PROFILED_STEPS && wk__log_enabled(WK__LOG_PARALLEL)) log_stats(m);
    }
    wk__gradient_listener_drop(&s->listener);
}

static bool is_measured(const wk__mirrored *m, bool trains)
{
    const wk__step_profiler *f = m->profiler;
    if (!trains && !m->balance) return false;
    return f->steps > WARMUP_STEPS && f->measured < (m->balance ? BALANCE_STEPS : PROFILED_STEPS);
}

void wk__step_profiler_begin(wk__mirrored_forward *t, bool trains)
{
    wk__mirrored *m = t->m;
    wk__step_profiler *f = m->profiler;
    if (f->current) finish_step(m);
    if (t->active < 2) return;
    f->steps++;
    f->trained += trains;
    profiled_step *s = is_measured(m, trains) ? wk__alloc_zero(1, sizeof *s) : NULL;
    if (!s) return; /* on allocation failure another step is measured */
    atomic_init(&s->listener.refs, 1);
    s->listener.on_gradient = on_gradient_summed;
    s->n = m->n;
    for (int k = 0; k < m->n; k++) s->device[k] = m->device[k];
    sync_devices(s);
    s->begun = s->last = now();
    s->waited = wk__loader_wait_seconds();
    f->current = s;
    f->measured++;
}

void wk__step_profiler_end_phase(wk__mirrored_forward *t, wk__step_phase which)
{
    profiled_step *s = t->m->profiler->current;
    if (!s) return;
    end_phase(s, which == WK__PHASE_COMPUTE ? &s->times.computing : &s->times.copying);
    if (which != WK__PHASE_COMPUTE) return;
    read_moments(t);
    if (t->m->balance) rebalance(t);
}
