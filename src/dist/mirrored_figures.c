/* SPDX-License-Identifier: Apache-2.0 */
/* What a mirrored network's steps spend their time on, and how fast its devices are.
 *
 * Calls are recorded and run later, on several devices at once, so a clock beside them tells little. Therefore in a few
 * steps the devices are waited for between the parts of a step:
 *
 *     forward    begin | parameters and inputs are copied | replicas | results are gathered
 *     backward   the loss and the replicas, up to the first parameter's gradient | gradients are brought together
 *     the rest   the optimiser's step and what the program does, up to the next forward
 *
 * Replicas run side by side in these steps, too: each device has a moment before its replica and one behind it. */
#include "mirrored.h"
#include "../backend/device.h"
#include "../base/alloc.h"
#include "../base/clock.h"
#include "../base/log.h"
#include "../data/loader.h"
#include "../engine/late.h"

enum {
    WARM = 8, /* steps in which kernels are built, with tails of products too, and memory is taken */
    MEASURED = 3,
    ADAPTED = 8 /* as many are measured where shares go by the devices' speed */
};

/* Seconds of a step, or sums over several. */
typedef struct times {
    double whole, copying, computing, reducing, waiting, bytes;
} times;

/* A step that is being measured. The nodes of its gradients hold it, too. */
typedef struct step {
    wk__listener listener;
    int n;
    wk__device *device[WK_MIRRORED_DEVICES];
    double begun, last, waited; /* moments; what loops over data had waited then */
    times times;
    int64_t nodes, heard; /* parameters whose gradients will be brought together, and those whose were */
} step;

struct wk__figures {
    int64_t steps, trained, copied, measured;
    step *now; /* it ends where the next forward begins; NULL: none */
    void *moment[WK_MIRRORED_DEVICES][2];
    double forward[WK_MIRRORED_DEVICES];
    times sum;
    int64_t sums;
};

static double now(void)
{
    return 1e-9 * (double)wk__nanoseconds();
}

wk__figures *wk__figures_new(void)
{
    return wk__alloc_zero(1, sizeof(wk__figures));
}

static void give_moments(const wk__device *device, void *moment[2])
{
    for (int i = 0; i < 2; i++) {
        if (moment[i]) device->backend->event_give(device->state, moment[i]);
        moment[i] = NULL;
    }
}

void wk__figures_free(wk__mirrored *m)
{
    wk__figures *figures = m->figures;
    if (!figures) return;
    for (int k = 0; k < m->n; k++) give_moments(m->device[k], figures->moment[k]);
    if (figures->now) wk__listener_drop(&figures->now->listener);
    wk__free(figures);
}

void wk__figures_copied(wk__mirrored *m, int64_t bytes)
{
    m->figures->copied += bytes;
}

/* ---- between the parts of a step --------------------------------------------------------------------------------- */

static void settle(const step *s)
{
    wk__flush(wk__context());
    for (int k = 0; k < s->n; k++) wk__device_settle(s->device[k], NULL, (wk_site){0});
}

static void part(step *s, double *sum)
{
    settle(s);
    const double then = s->last;
    s->last = now();
    *sum += s->last - then;
}

/* Before the gradients of a parameter are added, and after that. All work of the replicas comes before the first. */
static void hear(wk__listener *listener, bool after)
{
    step *s = (step *)listener;
    if (!after && s->heard == 0) part(s, &s->times.computing);
    s->heard += after;
    if (after && s->heard == s->nodes) part(s, &s->times.reducing);
}

bool wk__figures_measures(const wk__turn *t)
{
    return t->m->figures->now != NULL;
}

void wk__figures_listen(wk__turn *t, const wk_tensor *x, wk_tensor *out)
{
    step *s = t->m->figures->now;
    if (!s) return;
    s->nodes++;
    s->times.bytes += (double)wk__body_of(x)->storage->bytes;
    wk__broadcast_listen(out, &s->listener);
}

/* ---- the devices' speed ------------------------------------------------------------------------------------------ */

static void *moment_on(const wk__device *device)
{
    wk__fail fail;
    void *moment = NULL;
    if (!device->backend->event_record || device->backend->event_record(device->state, &moment, &fail) != WK_OK)
        return NULL;
    return moment;
}

void wk__figures_replica(wk__turn *t, int k)
{
    wk__figures *f = t->m->figures;
    if (!f->now) return;
    give_moments(t->m->device[k], f->moment[k]); /* of a forward that failed */
    f->moment[k][0] = moment_on(t->m->device[k]);
    wk__flush(t->context);
    f->moment[k][1] = moment_on(t->m->device[k]);
}

/* Seconds between the two moments of a device; 0: not known. */
static double between(const wk__device *device, void *moment[2])
{
    const wk__backend *backend = device->backend;
    wk__fail fail;
    double seconds = 0;
    if (moment[0] && moment[1] && backend->event_wait(device->state, moment[0], &fail) == WK_OK &&
        backend->event_wait(device->state, moment[1], &fail) == WK_OK &&
        backend->event_elapsed(device->state, moment[0], moment[1], &seconds, &fail) != WK_OK)
        seconds = 0;
    give_moments(device, moment);
    return seconds > 0 ? seconds : 0;
}

static void read_moments(wk__turn *t)
{
    wk__figures *f = t->m->figures;
    for (int k = 0; k < t->m->n; k++)
        if (t->share[k] > 0) f->forward[k] = between(t->m->device[k], f->moment[k]);
}

/* Samples in a second become shares. The first time tells more than equal shares did, later ones are averaged. A device
 * that had no part this time, or whose time is not known, keeps its share. */
static void adapt(wk__turn *t)
{
    wk__mirrored *m = t->m;
    const wk__figures *f = m->figures;
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

/* Parameters are on the first device. */
static wk_copy_path path_of(const wk__mirrored *m)
{
    bool peer = true;
    const wk__device *home = m->device[0];
    for (int k = 1; k < m->n && peer; k++)
        peer = m->device[k]->backend == home->backend && home->backend->transfer &&
               (!home->backend->direct || home->backend->direct(home->state, m->device[k]->state));
    return m->n == 1 ? WK_COPY_NONE : peer ? WK_COPY_PEER : WK_COPY_HOST;
}

static double share_of(const times *sum, double part)
{
    return sum->whole > 0 ? part / sum->whole : 0;
}

void wk__figures_fill(const wk__mirrored *m, wk_mirrored_stats *stats)
{
    const wk__figures *f = m->figures;
    double weights = 0;
    stats->devices = m->n;
    stats->path = path_of(m);
    stats->steps = f->trained;
    stats->copied = f->copied;
    for (int k = 0; k < m->n; k++) weights += m->weight[k];
    for (int k = 0; k < m->n; k++) {
        stats->device[k] = m->device[k]->id;
        stats->share[k] = m->weight[k] / weights;
        stats->forward[k] = f->forward[k];
    }
    if (f->sum.reducing > 0) stats->all_reduce = f->sum.bytes / f->sum.reducing;
    stats->compute = share_of(&f->sum, f->sum.computing);
    stats->communication = share_of(&f->sum, f->sum.copying + f->sum.reducing);
    stats->input = share_of(&f->sum, f->sum.waiting);
}

static void tell(const wk__mirrored *m)
{
    static const char *const ways[] = {
        [WK_COPY_NONE] = "none", [WK_COPY_PEER] = "from device to device", [WK_COPY_HOST] = "through the host"};
    wk_mirrored_stats stats = {.size = sizeof stats};
    wk__text text = {0};
    wk__figures_fill(m, &stats);
    for (int k = 0; k < stats.devices; k++)
        wk__text_format(&text, "%s%s (%.0f %%)", k ? ", " : "", wk_device_str(stats.device[k]), 100 * stats.share[k]);
    wk__log(WK__LOG_PARALLEL, wk__site((wk_site){0}),
            "mirrored: %s; copies %s; all-reduce %.3g MB/s; of a step: compute %.0f %%, communication %.0f %%, input "
            "%.0f %%",
            text.data ? text.data : "", ways[stats.path], 1e-6 * stats.all_reduce, 100 * stats.compute,
            100 * stats.communication, 100 * stats.input);
    wk__text_end(&text);
}

/* A step has ended with this moment. One whose gradients did not all come is passed over. */
static void take_in(wk__mirrored *m)
{
    wk__figures *f = m->figures;
    step *s = f->now;
    f->now = NULL;
    settle(s);
    if (s->nodes > 0 && s->heard == s->nodes && f->sums < MEASURED) {
        f->sum.whole += now() - s->begun;
        f->sum.waiting += wk__loaders_waited() - s->waited;
        f->sum.copying += s->times.copying;
        f->sum.computing += s->times.computing;
        f->sum.reducing += s->times.reducing;
        f->sum.bytes += s->times.bytes;
        if (++f->sums == MEASURED && wk__log_on(WK__LOG_PARALLEL)) tell(m);
    }
    wk__listener_drop(&s->listener);
}

static bool is_measured(const wk__mirrored *m, bool trains)
{
    const wk__figures *f = m->figures;
    if (!trains && !m->balance) return false;
    return f->steps > WARM && f->measured < (m->balance ? ADAPTED : MEASURED);
}

void wk__figures_begin(wk__turn *t, bool trains)
{
    wk__mirrored *m = t->m;
    wk__figures *f = m->figures;
    if (f->now) take_in(m);
    if (t->active < 2) return;
    f->steps++;
    f->trained += trains;
    step *s = is_measured(m, trains) ? wk__alloc_zero(1, sizeof *s) : NULL;
    if (!s) return; /* where memory is short, another step will do */
    atomic_init(&s->listener.refs, 1);
    s->listener.hear = hear;
    s->n = m->n;
    for (int k = 0; k < m->n; k++) s->device[k] = m->device[k];
    settle(s);
    s->begun = s->last = now();
    s->waited = wk__loaders_waited();
    f->now = s;
    f->measured++;
}

void wk__figures_part(wk__turn *t, wk__part which)
{
    step *s = t->m->figures->now;
    if (!s) return;
    part(s, which == WK__COMPUTING ? &s->times.computing : &s->times.copying);
    if (which != WK__COMPUTING) return;
    read_moments(t);
    if (t->m->balance) adapt(t);
}
