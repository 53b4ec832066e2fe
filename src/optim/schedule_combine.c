/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules of schedules: chained moves all of them, sequential one after the other. The children keep their own
 * positions and are saved like other schedules of the optimiser. */
#include "schedule.h"

/* Checks that the children are schedules of one optimiser that need no metric. Returns that optimiser; NULL after
 * recording an error. */
static wk_optim *check_children(wk_site site, const char *op, wk_schedule *const *child, int count)
{
    if (!wk__array_check(child, count, site, op, "the list of schedules")) return NULL;
    if (!wk__schedule_require(site, op, count >= 1, "the number of schedules", "at least 1", count)) return NULL;
    for (int k = 0; k < count; k++) {
        if (!wk__schedule_check(child[k], site, op)) return NULL;
        const wk__schedule *s = wk__schedule_of(child[k]);
        const char *problem = s->kind->observe ? "needs a metric; step it on its own with wk_schedule_step_metric"
                              : s->optim != wk__schedule_of(child[0])->optim
                                  ? "belongs to another optimiser; pass schedules of one optimiser"
                                  : NULL;
        if (!problem) continue;
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: schedule %d (%s) %s", op, k, wk__schedule_kind_name(s->kind),
                      problem);
        return NULL;
    }
    return wk__schedule_of(child[0])->optim;
}

/* ---- chained ----------------------------------------------------------------------------------------------------- */

static bool chained_advance(const wk__schedule_call *call, wk__schedule *s)
{
    for (int64_t k = 0; k < s->children; k++) {
        wk__schedule *child = wk__schedule_of(s->child[k]);
        if (!wk__schedule_move(call, child, s->epoch == 0 ? 0 : child->epoch + 1)) return false;
    }
    return true;
}

static const wk__schedule_kind chained = {.name = "schedule_chained", .has_begun = true, .advance = chained_advance};

wk_schedule *wk_schedule_chained_at(wk_site site, wk_schedule *const *schedules, int count)
{
    wk_optim *optim = check_children(site, chained.name, schedules, count);
    if (!optim) return NULL;
    return wk__schedule_new(site, &chained, optim, NULL, &(wk__schedule_lists){.child = schedules, .children = count});
}

/* ---- sequential -------------------------------------------------------------------------------------------------- */

/* Each child starts from the base rates. */
static bool sequential_advance(const wk__schedule_call *call, wk__schedule *s)
{
    int64_t k = 0;
    while (k < s->milestones && s->milestone[k] <= s->epoch) k++;
    wk__schedule *child = wk__schedule_of(s->child[k]);
    const bool begins = s->epoch == (k == 0 ? 0 : s->milestone[k - 1]);
    if (begins) wk__schedule_reset_rates(s);
    return wk__schedule_move(call, child, begins ? 0 : child->epoch + 1);
}

static const wk__schedule_kind sequential = {.name = "schedule_sequential", .advance = sequential_advance};

wk_schedule *wk_schedule_sequential_at(wk_site site, const int64_t *milestones, int milestone_count,
                                       wk_schedule *const *schedules, int count)
{
    const char *op = sequential.name;
    wk_optim *optim = check_children(site, op, schedules, count);
    if (!optim || !wk__array_check(milestones, milestone_count, site, op, "the list of milestones")) return NULL;
    if (milestone_count != count - 1) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: %d schedules need %d milestones, got %d", op, count, count - 1,
                      milestone_count);
        return NULL;
    }
    for (int k = 0; k < milestone_count; k++)
        if (!wk__schedule_require(site, op, milestones[k] > (k == 0 ? 0 : milestones[k - 1]), "a milestone",
                                  "greater than 0 and than the one before", (double)milestones[k]))
            return NULL;
    return wk__schedule_new(
        site, &sequential, optim, NULL,
        &(wk__schedule_lists){
            .milestone = milestones, .milestones = milestone_count, .child = schedules, .children = count});
}
