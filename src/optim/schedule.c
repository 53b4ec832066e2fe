/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules: creation, steps, and the rates and momenta of groups. A step changes all groups or none: a snapshot of the
 * optimiser's rates and schedules is restored on failure, as several schedules may move in one step. */
#include "schedule.h"
#include "base/alloc.h"
#include "base/platform/file.h"
#include "tensor/call_scope.h"
#include <string.h>

static void destroy(void *body)
{
    wk__schedule *s = body;
    if (s->optim) {
        wk__schedule **link = &wk__optim_of(s->optim)->schedules;
        while (*link && *link != s) link = &(*link)->next;
        if (*link) *link = s->next;
        wk__handle_drop(&s->optim->handle);
    }
    for (int64_t k = 0; k < s->children; k++) wk__handle_drop(&s->child[k]->handle);
    wk__free(s->child);
    wk__free(s->milestone);
    wk__free(s->highest);
    wk__free(s->settings);
    wk__free(s);
}

static const wk__handle_type schedule_type = {.name = "schedule", .destroy = destroy, .owns_children = true};

bool wk__schedule_check(const wk_schedule *schedule, wk_site site, const char *op)
{
    return wk__handle_check(schedule, &schedule_type, site, op, "the schedule");
}

/* ---- settings ---------------------------------------------------------------------------------------------------- */

bool wk__schedule_require(wk_site site, const char *op, bool condition, const char *setting, const char *must,
                          double value)
{
    if (condition) return true;
    wk__text text = {0};
    wk__text_format(&text, "%s: %s must be %s, got ", op, setting, must);
    wk__text_double(&text, value, 'g', 12);
    wk__error_set_text(site, WK_ERR_ARGUMENT, &text);
    return false;
}

int wk__schedule_choice(wk_site site, const char *op, const char *setting, const char *given, const char *const *names)
{
    if (!given) return 0;
    for (int k = 0; names[k]; k++)
        if (strcmp(given, names[k]) == 0) return k;
    wk__text text = {0};
    wk__text_format(&text, "%s: unknown %s \"%s\"; expected ", op, setting, wk__printable_name(given).text);
    for (int k = 0; names[k]; k++) wk__text_format(&text, "%s\"%s\"", k ? ", " : "", names[k]);
    wk__error_set_text(site, WK_ERR_ARGUMENT, &text);
    return -1;
}

/* Returns the option of that name of a group; NULL if the algorithm has none. */
static double *option_of(const wk__optim *optim, int64_t group, const char *name)
{
    for (size_t k = 0; k < optim->rule->option_count; k++)
        if (strcmp(optim->rule->option[k].name, name) == 0)
            return (void *)((char *)optim->group[group].options + optim->rule->option[k].offset);
    return NULL;
}

static double *momentum_of(const wk__optim *optim, int64_t group)
{
    double *momentum = option_of(optim, group, "momentum");
    return momentum ? momentum : option_of(optim, group, "beta1");
}

bool wk__schedule_check_momentum(wk_site site, const char *op, const wk_optim *optim)
{
    const wk__optim *of = wk__optim_of(optim);
    for (int64_t g = 0; g < of->groups; g++) {
        const double *momentum = momentum_of(of, g);
        if (momentum && (*momentum > 0 || !option_of(of, g, "momentum"))) continue;
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: %s has no momentum to cycle; %spass .no_cycle_momentum = true", op,
                      wk__optim_algorithm_name(of->rule), momentum ? "create it with .momentum > 0, or " : "");
        return false;
    }
    return true;
}

/* ---- moving ------------------------------------------------------------------------------------------------------ */

void wk__schedule_reset_rates(const wk__schedule *s)
{
    const wk__optim *of = wk__optim_of(s->optim);
    for (int64_t g = 0; g < s->groups; g++) *wk__optim_rate(of, g) = of->group[g].initial_lr;
}

/* Sets the rate of a group. Rounding may leave a rate slightly below 0 where the formula has 0. */
static bool set_rate(const wk__schedule_call *call, const wk__schedule *s, int64_t group, double rate)
{
    const wk__optim *of = wk__optim_of(s->optim);
    if (rate < 0 && rate > -1e-12 * of->group[group].initial_lr) rate = 0;
    if (rate >= 0 && rate < INFINITY) {
        *wk__optim_rate(of, group) = rate;
        return true;
    }
    wk__text text = {0};
    wk__text_format(&text, "%s: %s gives the learning rate ", call->op, wk__schedule_kind_name(s->kind));
    wk__text_double(&text, rate, 'g', 6);
    wk__text_format(&text, " at step %lld; it must be finite and at least 0", (long long)s->epoch);
    wk__error_set_text(call->site, WK_ERR_ARGUMENT, &text);
    return false;
}

bool wk__schedule_move(const wk__schedule_call *call, wk__schedule *s, int64_t epoch)
{
    const wk__optim *of = wk__optim_of(s->optim);
    if (of->groups != s->groups) {
        wk__error_set(call->site, WK_ERR_STATE,
                      "%s: the optimiser has %lld groups, %lld when the schedule was created; add all groups before "
                      "creating it",
                      call->op, (long long)of->groups, (long long)s->groups);
        return false;
    }
    s->epoch = epoch;
    if (s->kind->advance && !s->kind->advance(call, s)) return false;
    if (!s->kind->rate) return true;
    for (int64_t g = 0; g < s->groups; g++)
        if (!set_rate(call, s, g, s->kind->rate(s, g, of->group[g].initial_lr, *wk__optim_rate(of, g)))) return false;
    const double momentum = s->kind->momentum ? s->kind->momentum(s) : (double)NAN;
    for (int64_t g = 0; g < s->groups && !isnan(momentum); g++) *momentum_of(of, g) = momentum;
    return true;
}

/* Position of a schedule. */
typedef struct position {
    const wk__schedule *schedule;
    int64_t epoch;
    double state[WK__SCHEDULE_STATE];
} position;
/* Rates and momenta of all groups, and positions of all schedules of an optimiser. */
typedef struct snapshot {
    double *number;     /* [2 groups] */
    position *position; /* [schedules] */
    int64_t groups, schedules;
} snapshot;

static void snapshot_free(snapshot *before)
{
    wk__free(before->number);
    wk__free(before->position);
}

static bool snapshot_take(const wk__schedule_call *call, const wk__optim *of, snapshot *out)
{
    *out = (snapshot){.groups = of->groups};
    for (const wk__schedule *s = of->schedules; s; s = s->next) out->schedules++;
    out->number = wk__alloc_zero((size_t)of->groups * 2, sizeof *out->number);
    out->position = wk__alloc_zero((size_t)out->schedules + 1, sizeof *out->position);
    if (!out->number || !out->position) {
        snapshot_free(out);
        wk__error_set(call->site, WK_ERR_MEMORY, "%s: out of host memory", call->op);
        return false;
    }
    for (int64_t g = 0; g < of->groups; g++) {
        const double *momentum = momentum_of(of, g);
        out->number[2 * g] = *wk__optim_rate(of, g);
        out->number[2 * g + 1] = momentum ? *momentum : 0;
    }
    position *to = out->position;
    for (const wk__schedule *s = of->schedules; s; s = s->next, to++) {
        *to = (position){.schedule = s, .epoch = s->epoch};
        memcpy(to->state, s->state, sizeof s->state);
    }
    return true;
}

/* A callback of the program may have freed or added schedules since, and added groups. */
static void snapshot_restore(const snapshot *before, const wk__optim *of)
{
    for (int64_t g = 0; g < before->groups; g++) {
        double *momentum = momentum_of(of, g);
        *wk__optim_rate(of, g) = before->number[2 * g];
        if (momentum) *momentum = before->number[2 * g + 1];
    }
    for (wk__schedule *s = of->schedules; s; s = s->next)
        for (int64_t k = 0; k < before->schedules; k++) {
            const position *was = &before->position[k];
            if (was->schedule != s) continue;
            s->epoch = was->epoch;
            memcpy(s->state, was->state, sizeof s->state);
        }
}

/* Moves a schedule; changes nothing on failure. */
static bool move_or_restore(const wk__schedule_call *call, wk__schedule *s, int64_t epoch)
{
    const wk__optim *of = wk__optim_of(s->optim);
    snapshot before;
    if (!snapshot_take(call, of, &before)) return false;
    const bool fine = wk__schedule_move(call, s, epoch);
    if (!fine) snapshot_restore(&before, of);
    snapshot_free(&before);
    return fine;
}

/* ---- creation ---------------------------------------------------------------------------------------------------- */

static bool copy_lists(wk__schedule *s, const wk__schedule_lists *lists)
{
    s->milestone = wk__alloc_zero((size_t)lists->milestones + 1, sizeof *s->milestone);
    s->child = wk__alloc_zero((size_t)lists->children + 1, sizeof(wk_schedule *));
    s->highest = wk__alloc_zero((size_t)lists->rates + 1, sizeof *s->highest);
    if (!s->milestone || !s->child || !s->highest) return false;
    if (lists->rates) memcpy(s->highest, lists->highest, (size_t)lists->rates * sizeof *s->highest);
    if (lists->milestones) memcpy(s->milestone, lists->milestone, (size_t)lists->milestones * sizeof *s->milestone);
    s->milestones = lists->milestones;
    for (; s->children < lists->children; s->children++) {
        s->child[s->children] = lists->child[s->children];
        wk__handle_hold(&s->child[s->children]->handle);
    }
    return true;
}

/* Appends a schedule to the optimiser's list, and records the base rates of groups that have none: recorded[g]. */
static void link(wk__schedule *s, wk_optim *optim, bool recorded[])
{
    wk__optim *of = wk__optim_of(optim);
    wk__schedule **last = &of->schedules;
    s->optim = optim;
    s->groups = of->groups;
    wk__handle_hold(&optim->handle);
    while (*last) last = &(*last)->next;
    *last = s;
    for (int64_t g = 0; g < of->groups; g++) {
        recorded[g] = of->group[g].initial_lr < 0;
        if (recorded[g]) of->group[g].initial_lr = *wk__optim_rate(of, g);
    }
}

wk_schedule *wk__schedule_new(wk_site site, const wk__schedule_kind *kind, wk_optim *optim, const void *settings,
                              const wk__schedule_lists *lists)
{
    const wk__schedule_call call = {site, kind->name};
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    wk__optim *of = wk__optim_of(optim);
    bool *recorded = wk__alloc_zero((size_t)of->groups + 1, sizeof *recorded);
    wk__schedule *s = recorded ? wk__alloc_zero(1, sizeof *s) : NULL;
    bool fine = s != NULL;
    if (s) {
        s->kind = kind;
        s->settings = wk__alloc_zero(1, kind->size + 1);
        fine = s->settings && (!lists || copy_lists(s, lists));
    }
    if (fine) {
        if (settings) memcpy(s->settings, settings, kind->size);
        link(s, optim, recorded);
        fine = kind->has_begun || move_or_restore(&call, s, 0);
        for (int64_t g = 0; g < of->groups && !fine; g++)
            if (recorded[g]) of->group[g].initial_lr = -1;
    }
    wk__free(recorded);
    wk_schedule *made = wk__handle_wrap(site, &schedule_type, s, fine, kind->name);
    wk__frame_end(context, before);
    return made;
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

wk_code wk_schedule_step_at(wk_site site, wk_schedule *schedule)
{
    const wk__schedule_call call = {site, "schedule_step"};
    if (!wk__schedule_check(schedule, site, call.op) || wk__error_pending()) return wk_error_code();
    wk__schedule *s = wk__schedule_of(schedule);
    if (s->kind->observe) {
        wk__error_set(site, WK_ERR_STATE,
                      "schedule_step: %s needs a metric; use wk_schedule_step_metric(schedule, metric)",
                      wk__schedule_kind_name(s->kind));
        return wk_error_code();
    }
    const uint64_t pin = wk__handle_pin(&schedule->handle); /* a callback may free it */
    if (!pin) return wk_error_code();
    wk_context *context = wk__context(); /* a handler cannot jump before the rates are restored */
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    const bool fine = move_or_restore(&call, s, s->epoch + 1);
    wk__frame_end(context, before);
    wk__guard_close(pin);
    return fine ? WK_OK : wk_error_code();
}

wk_code wk_schedule_step_metric_at(wk_site site, wk_schedule *schedule, double metric)
{
    static const char op[] = "schedule_step_metric";
    if (!wk__schedule_check(schedule, site, op) || wk__error_pending()) return wk_error_code();
    wk__schedule *s = wk__schedule_of(schedule);
    if (!s->kind->observe) {
        wk__error_set(site, WK_ERR_STATE, "%s: %s has no metric; use wk_schedule_step(schedule)", op,
                      wk__schedule_kind_name(s->kind));
        return wk_error_code();
    }
    s->epoch++;
    s->kind->observe(s, metric);
    return WK_OK;
}

int64_t wk_schedule_count_at(wk_site site, const wk_schedule *schedule)
{
    return schedule && wk__schedule_check(schedule, site, "schedule_count") ? wk__schedule_of(schedule)->epoch : 0;
}
