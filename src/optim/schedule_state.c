/* SPDX-License-Identifier: Apache-2.0 */
/* Serialised schedules; see schedule_state.h. */
#include "schedule_state.h"
#include "base/alloc.h"
#include "base/platform/file.h"
#include "schedule.h"
#include <string.h>

static const int64_t MAX_EPOCH = (int64_t)1 << 53;

_Static_assert(sizeof((wk__schedule_position){0}.state) == WK__SCHEDULE_STATE * sizeof(double),
               "a position has the state of a schedule");

/* ---- saving ------------------------------------------------------------------------------------------------------ */

static void add_number(wk__metadata *pairs, double number, int64_t at, const char *list, const char *name)
{
    wk__text value = {0};
    wk__text_double_shortest(&value, number);
    if (value.data) wk__metadata_add(pairs, value.data, "%s.%lld.%s", list, (long long)at, name);
    pairs->failed = pairs->failed || value.failed;
    wk__text_free(&value);
}

static void add_schedule(wk__metadata *pairs, const wk__schedule *s, int64_t at)
{
    char epoch[24];
    snprintf(epoch, sizeof epoch, "%lld", (long long)s->epoch);
    wk__metadata_add(pairs, wk__schedule_kind_name(s->kind), "schedule.%lld", (long long)at);
    wk__metadata_add(pairs, epoch, "schedule.%lld.last_epoch", (long long)at);
    for (int k = 0; k < s->kind->states; k++) add_number(pairs, s->state[k], at, "schedule", s->kind->state_names[k]);
}

void wk__schedules_save(const wk__optim *optim, wk__metadata *pairs)
{
    int64_t count = 0;
    for (const wk__schedule *s = optim->schedules; s; s = s->next) add_schedule(pairs, s, count++);
    if (count > 0) wk__metadata_add_int(pairs, "schedules", count);
    for (int64_t g = 0; g < optim->groups; g++)
        if (optim->group[g].initial_lr >= 0) add_number(pairs, optim->group[g].initial_lr, g, "optim", "initial_lr");
}

/* ---- loading ----------------------------------------------------------------------------------------------------- */

static bool invalid(const wk__optim_checkpoint *from, int64_t at, const char *list, const char *name, const char *text)
{
    return wk__optim_load_error(from, WK_ERR_FORMAT, "%s.%lld.%s is %s", list, (long long)at, name,
                                text ? wk__printable_name(text).text : "missing");
}

static bool load_number(const wk__optim_checkpoint *from, int64_t at, const char *list, const char *name, double *out)
{
    const char *text = wk__metadata_find(from->pair, from->pairs, "%s.%lld.%s", list, (long long)at, name);
    return (text && wk__parse_double(text, out) && !isnan(*out)) || invalid(from, at, list, name, text);
}

static bool load_position(const wk__optim_checkpoint *from, const wk__schedule *s, int64_t at,
                          wk__schedule_position *out)
{
    const char *kind = wk__metadata_find(from->pair, from->pairs, "schedule.%lld", (long long)at);
    if (!kind || strcmp(kind, wk__schedule_kind_name(s->kind)) != 0)
        return wk__optim_load_error(from, WK_ERR_ARGUMENT,
                                    "schedule %lld is %s in the optimiser but %s in the file; create the same "
                                    "schedules in the same order",
                                    (long long)at, wk__schedule_kind_name(s->kind),
                                    kind ? wk__printable_name(kind).text : "missing");
    const char *epoch = wk__metadata_find(from->pair, from->pairs, "schedule.%lld.last_epoch", (long long)at);
    const wk__metadata_entry alone = {"", (char *)(uintptr_t)(epoch ? epoch : "")};
    out->epoch = wk__metadata_find_int(&alone, 1, "");
    if (out->epoch < 0 || out->epoch > MAX_EPOCH) return invalid(from, at, "schedule", "last_epoch", epoch);
    for (int k = 0; k < s->kind->states; k++)
        if (!load_number(from, at, "schedule", s->kind->state_names[k], &out->state[k])) return false;
    return true;
}

/* A group without a base rate in the file has none afterwards. */
static bool load_base_rate(const wk__optim_checkpoint *from, int64_t g, double *rate)
{
    *rate = -1;
    if (!wk__metadata_find(from->pair, from->pairs, "optim.%lld.initial_lr", (long long)g)) return true;
    if (!load_number(from, g, "optim", "initial_lr", rate)) return false;
    return (*rate >= 0 && *rate < INFINITY) || invalid(from, g, "optim", "initial_lr", "out of range");
}

static bool check_count(const wk__optim_checkpoint *from, int64_t have)
{
    const char *text = wk__metadata_find(from->pair, from->pairs, "schedules");
    const int64_t saved = text ? wk__metadata_find_int(from->pair, from->pairs, "schedules") : 0;
    if (saved == have) return true;
    return wk__optim_load_error(
        from, WK_ERR_ARGUMENT, "the optimiser has %lld schedules, but had %lld when it was saved; %s", (long long)have,
        (long long)saved,
        saved < have ? "create further schedules after loading" : "create the same schedules before loading");
}

bool wk__schedules_load(const wk__optim_checkpoint *from, const wk__optim *optim, wk__param_group *group,
                        wk__schedule_position **out)
{
    int64_t count = 0, at = 0;
    *out = NULL;
    for (const wk__schedule *s = optim->schedules; s; s = s->next) count++;
    if (!check_count(from, count)) return false;
    for (int64_t g = 0; g < optim->groups; g++)
        if (!load_base_rate(from, g, &group[g].initial_lr)) return false;
    wk__schedule_position *position = count ? wk__alloc_zero((size_t)count, sizeof *position) : NULL;
    if (count && !position) return wk__optim_load_error(from, WK_ERR_MEMORY, "out of host memory");
    bool fine = true;
    for (const wk__schedule *s = optim->schedules; s && fine; s = s->next, at++)
        fine = load_position(from, s, at, &position[at]);
    if (fine)
        *out = position;
    else
        wk__free(position);
    return fine;
}

void wk__schedules_commit(const wk__optim *optim, const wk__schedule_position *position)
{
    for (wk__schedule *s = optim->schedules; s; s = s->next, position++) {
        s->epoch = position->epoch;
        memcpy(s->state, position->state, sizeof s->state);
    }
}
