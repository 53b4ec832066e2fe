/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules that raise and lower the rate while the momentum changes inversely. */
#include "base/alloc.h"
#include "base/options.h"
#include "schedule.h"

/* Bounds of the momentum. */
typedef struct momentum_range {
    double low, high;
    bool fixed; /* not changed */
} momentum_range;

static bool check_range(wk_site site, const char *op, const wk_optim *optim, const momentum_range *range)
{
    return range->fixed || (wk__schedule_check_momentum(site, op, optim) &&
                            wk__schedule_require(site, op, range->low >= 0 && range->low < 1, ".base_momentum",
                                                 "in [0, 1)", range->low) &&
                            wk__schedule_require(site, op, range->high >= 0 && range->high < 1, ".max_momentum",
                                                 "in [0, 1)", range->high));
}

/* ---- one_cycle --------------------------------------------------------------------------------------------------- */

typedef struct one_cycle {
    double share;       /* of the steps in which the rate rises */
    double first, last; /* first rate, as a divisor of the highest, and last one, as a divisor of the first */
    int64_t steps;
    bool linear, three_phase;
    momentum_range momentum;
} one_cycle;

/* Part of a cycle: ends at step `end`, with these values at its ends. */
typedef struct phase {
    double end, rate[2], momentum[2];
} phase;

/* Writes the phases of a group with this highest rate and returns their number. */
static int phases_of(const one_cycle *o, double highest, phase out[3])
{
    const double rise = o->share * (double)o->steps, low = o->momentum.low, high = o->momentum.high;
    const double first = highest / o->first, last = first / o->last;
    int count = 0;
    out[count++] = (phase){rise - 1, {first, highest}, {high, low}};
    if (o->three_phase) out[count++] = (phase){2 * rise - 2, {highest, first}, {low, high}};
    out[count++] = o->three_phase ? (phase){(double)o->steps - 1, {first, last}, {high, high}}
                                  : (phase){(double)o->steps - 1, {highest, last}, {low, high}};
    return count;
}

/* Returns the phase of a group at the present step and its completed share, which is 1 after its end or if its length
 * is 0. */
static phase phase_at(const wk__schedule *s, int64_t group, double *share)
{
    phase all[3];
    const int count = phases_of(s->settings, s->highest[group], all);
    const int64_t step = s->epoch;
    int k = 0;
    while (k < count - 1 && (double)step > all[k].end) k++;
    const double start = k == 0 ? 0 : all[k - 1].end, length = all[k].end - start;
    *share = length > 0 ? fmin(((double)step - start) / length, 1) : 1;
    return all[k];
}

static double anneal(const one_cycle *o, const double ends[2], double share)
{
    if (o->linear) return (ends[1] - ends[0]) * share + ends[0];
    return ends[1] + (ends[0] - ends[1]) / 2 * (cos(3.14159265358979323846 * share) + 1);
}

static bool one_cycle_advance(const wk__schedule_call *call, wk__schedule *s)
{
    const one_cycle *o = s->settings;
    if (s->epoch <= o->steps) return true;
    wk__error_set(call->site, WK_ERR_STATE,
                  "%s: all %lld steps of one_cycle are done; create it with the number of batches of all epochs",
                  call->op, (long long)o->steps);
    return false;
}

static double one_cycle_rate(const wk__schedule *s, int64_t group, double base, double now)
{
    (void)base, (void)now;
    double share;
    const phase at = phase_at(s, group, &share);
    return anneal(s->settings, at.rate, share);
}

static double one_cycle_momentum(const wk__schedule *s)
{
    const one_cycle *o = s->settings;
    double share;
    const phase at = phase_at(s, 0, &share);
    return o->momentum.fixed ? (double)NAN : anneal(o, at.momentum, share);
}

static const wk__schedule_kind one_cycle_kind = {.name = "schedule_one_cycle",
                                                 .size = sizeof(one_cycle),
                                                 .advance = one_cycle_advance,
                                                 .rate = one_cycle_rate,
                                                 .momentum = one_cycle_momentum};

static bool check_one_cycle(wk_site site, const char *op, const wk_optim *optim, const one_cycle *o)
{
    return wk__schedule_require(site, op, o->steps >= 1, "total_steps", "at least 1", (double)o->steps) &&
           wk__schedule_require(site, op, o->share >= 0 && o->share <= 1, ".pct_start", "in [0, 1]", o->share) &&
           wk__schedule_require(site, op, o->first > 0, ".div_factor", "greater than 0", o->first) &&
           wk__schedule_require(site, op, o->last > 0, ".final_div_factor", "greater than 0", o->last) &&
           check_range(site, op, optim, &o->momentum);
}

/* Returns the highest rates of the groups: those of the options, or max_lr for each. The memory is the caller's. NULL
 * on error. */
static double *highest_rates(wk_site site, const char *op, int64_t groups, double max_lr,
                             const wk_schedule_one_cycle_options *o)
{
    if (o->max_lrs ? o->max_lr_count != groups : o->max_lr_count != 0) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .max_lr_count is %lld; .max_lrs needs one rate per group (%lld)", op,
                      (long long)o->max_lr_count, (long long)groups);
        return NULL;
    }
    double *rates = wk__alloc_zero((size_t)groups, sizeof *rates);
    if (!rates) wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", op);
    for (int64_t g = 0; g < groups && rates; g++) {
        rates[g] = o->max_lrs ? o->max_lrs[g] : max_lr;
        if (wk__schedule_require(site, op, rates[g] >= 0 && rates[g] < INFINITY, o->max_lrs ? ".max_lrs" : "max_lr",
                                 "at least 0", rates[g]))
            continue;
        wk__free(rates);
        return NULL;
    }
    return rates;
}

wk_schedule *wk_schedule_one_cycle_at(wk_site site, wk_optim *optim, double max_lr, int64_t total_steps,
                                      const wk_schedule_one_cycle_options *options)
{
    static const char op[] = "schedule_one_cycle";
    static const char *const strategies[] = {"cos", "linear", NULL};
    wk_schedule_one_cycle_options o;
    if (!wk__optim_check(optim, site, op) || !wk__options(site, op, options, &o)) return NULL;
    const int strategy = wk__schedule_choice(site, op, ".anneal_strategy", o.anneal_strategy, strategies);
    const one_cycle own = {
        .share = wk__option_or(o.pct_start, 0.3),
        .first = wk__option_or(o.div_factor, 25),
        .last = wk__option_or(o.final_div_factor, 1e4),
        .steps = total_steps,
        .linear = strategy == 1,
        .three_phase = o.three_phase,
        .momentum = {wk__option_or(o.base_momentum, 0.85), wk__option_or(o.max_momentum, 0.95), o.no_cycle_momentum}};
    if (strategy < 0 || !check_one_cycle(site, op, optim, &own)) return NULL;
    const int64_t groups = wk__optim_of(optim)->groups;
    double *highest = highest_rates(site, op, groups, max_lr, &o);
    if (!highest) return NULL;
    wk_schedule *made = wk__schedule_new(site, &one_cycle_kind, optim, &own,
                                         &(wk__schedule_lists){.highest = highest, .rates = groups});
    wk__free(highest);
    return made;
}

/* ---- cyclic_lr --------------------------------------------------------------------------------------------------- */

enum { TRIANGULAR, TRIANGULAR2, EXP_RANGE };

typedef struct cyclic {
    double low, high; /* rates */
    double gamma;
    int64_t up, down; /* steps */
    int mode;
    momentum_range momentum;
} cyclic;

/* Returns the height above the low end at a step, as a share of the distance between the ends. */
static double height(const wk__schedule *s)
{
    const cyclic *o = s->settings;
    const double total = (double)o->up + (double)o->down, t = (double)s->epoch, rising = (double)o->up / total;
    const double cycle = floor(1 + t / total), x = 1 + t / total - cycle;
    const double share = x <= rising ? x / rising : (x - 1) / (rising - 1);
    return share * (o->mode == TRIANGULAR ? 1 : o->mode == TRIANGULAR2 ? 1 / pow(2, cycle - 1) : pow(o->gamma, t));
}

static double cyclic_rate(const wk__schedule *s, int64_t group, double base, double now)
{
    (void)group, (void)base, (void)now;
    const cyclic *o = s->settings;
    return o->low + (o->high - o->low) * height(s);
}

static double cyclic_momentum(const wk__schedule *s)
{
    const momentum_range *range = &((const cyclic *)s->settings)->momentum;
    return range->fixed ? (double)NAN : range->high - (range->high - range->low) * height(s);
}

static const wk__schedule_kind cyclic_lr = {
    .name = "schedule_cyclic_lr", .size = sizeof(cyclic), .rate = cyclic_rate, .momentum = cyclic_momentum};

static bool check_cyclic(wk_site site, const char *op, const wk_optim *optim, const cyclic *o)
{
    return wk__schedule_require(site, op, o->low >= 0 && o->low < INFINITY, "base_lr", "at least 0", o->low) &&
           wk__schedule_require(site, op, o->high >= 0 && o->high < INFINITY, "max_lr", "at least 0", o->high) &&
           wk__schedule_require(site, op, o->up >= 1, ".step_size_up", "at least 1", (double)o->up) &&
           wk__schedule_require(site, op, o->down >= 1, ".step_size_down", "at least 1", (double)o->down) &&
           wk__schedule_require(site, op, o->gamma > 0 && o->gamma <= 1, ".gamma", "in (0, 1]", o->gamma) &&
           check_range(site, op, optim, &o->momentum);
}

wk_schedule *wk_schedule_cyclic_lr_at(wk_site site, wk_optim *optim, double base_lr, double max_lr,
                                      const wk_schedule_cyclic_lr_options *options)
{
    static const char op[] = "schedule_cyclic_lr";
    static const char *const modes[] = {"triangular", "triangular2", "exp_range", NULL};
    wk_schedule_cyclic_lr_options o;
    if (!wk__optim_check(optim, site, op) || !wk__options(site, op, options, &o)) return NULL;
    const int64_t up = o.step_size_up == 0 ? 2000 : o.step_size_up;
    const cyclic own = {
        .low = base_lr,
        .high = max_lr,
        .gamma = wk__option_or(o.gamma, 1),
        .up = up,
        .down = o.step_size_down == 0 ? up : o.step_size_down,
        .mode = wk__schedule_choice(site, op, ".mode", o.mode, modes),
        .momentum = {wk__option_or(o.base_momentum, 0.8), wk__option_or(o.max_momentum, 0.9), o.no_cycle_momentum}};
    if (own.mode < 0 || !check_cyclic(site, op, optim, &own)) return NULL;
    return wk__schedule_new(site, &cyclic_lr, optim, &own, NULL);
}
