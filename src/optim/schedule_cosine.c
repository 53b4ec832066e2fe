/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules along a cosine: one decrease after a warm-up, PyTorch's annealing, and its warm restarts. */
#include "base/options.h"
#include "schedule.h"

static const double pi = 3.14159265358979323846;

/* Returns the value at share x of half a cosine from `high` to `low`. */
static double half_cosine(double high, double low, double x)
{
    return low + (high - low) * (1 + cos(pi * x)) / 2;
}

/* ---- cosine ------------------------------------------------------------------------------------------------------ */

typedef struct decrease {
    int64_t steps, warmup;
    double low;
} decrease;

static double cosine_rate(const wk__schedule *s, int64_t group, double base, double now)
{
    (void)group, (void)now;
    const decrease *o = s->settings;
    if (s->epoch < o->warmup) return base * (double)(s->epoch + 1) / (double)(o->warmup + 1);
    if (s->epoch >= o->steps) return o->low;
    return half_cosine(base, o->low, (double)(s->epoch - o->warmup) / (double)(o->steps - o->warmup));
}

static const wk__schedule_kind cosine = {.name = "schedule_cosine", .size = sizeof(decrease), .rate = cosine_rate};

wk_schedule *wk_schedule_cosine_at(wk_site site, wk_optim *optim, const wk_schedule_cosine_options *options)
{
    static const char op[] = "schedule_cosine";
    wk_schedule_cosine_options o;
    if (!wk__optim_check(optim, site, op) || !wk__options(site, op, options, &o)) return NULL;
    const decrease own = {o.steps, o.warmup, wk__option_or(o.min_lr, 0)};
    if (!wk__schedule_require(site, op, own.steps >= 1, ".steps", "at least 1", (double)own.steps) ||
        !wk__schedule_require(site, op, own.warmup >= 0 && own.warmup < own.steps, ".warmup",
                              "at least 0 and less than .steps", (double)own.warmup) ||
        !wk__schedule_require(site, op, own.low >= 0 && own.low < INFINITY, ".min_lr", "at least 0", own.low))
        return NULL;
    return wk__schedule_new(site, &cosine, optim, &own, NULL);
}

/* ---- cosine_annealing_lr ----------------------------------------------------------------------------------------- */

typedef struct annealing {
    int64_t period; /* half of the cosine's, T_max */
    double low;
} annealing;

/* Multiplies the present rate by the quotient of two values of the cosine. After the minimum, where the quotient is
 * 0 / 0, adds one step. */
static double annealing_rate(const wk__schedule *s, int64_t group, double base, double now)
{
    (void)group;
    const annealing *o = s->settings;
    const double t = (double)s->epoch, period = (double)o->period;
    if (s->epoch == 0) return now;
    if ((s->epoch - 1 - o->period) % (2 * o->period) == 0) return now + (base - o->low) * (1 - cos(pi / period)) / 2;
    return (1 + cos(pi * t / period)) / (1 + cos(pi * (t - 1) / period)) * (now - o->low) + o->low;
}

static const wk__schedule_kind cosine_annealing_lr = {
    .name = "schedule_cosine_annealing_lr", .size = sizeof(annealing), .rate = annealing_rate};

/* The limit avoids an overflow of the period, twice the length. */
static bool check_annealing(wk_site site, const char *op, const char *length, int64_t value, double low)
{
    return wk__schedule_require(site, op, value >= 1 && value <= INT64_MAX / 4, length, "at least 1", (double)value) &&
           wk__schedule_require(site, op, low >= 0 && low < INFINITY, ".eta_min", "at least 0", low);
}

wk_schedule *wk_schedule_cosine_annealing_lr_at(wk_site site, wk_optim *optim, int64_t T_max,
                                                const wk_schedule_cosine_annealing_lr_options *options)
{
    static const char op[] = "schedule_cosine_annealing_lr";
    wk_schedule_cosine_annealing_lr_options o;
    if (!wk__optim_check(optim, site, op) || !wk__options(site, op, options, &o)) return NULL;
    const annealing own = {T_max, wk__option_or(o.eta_min, 0)};
    if (!check_annealing(site, op, "T_max", T_max, own.low)) return NULL;
    return wk__schedule_new(site, &cosine_annealing_lr, optim, &own, NULL);
}

/* ---- cosine_annealing_warm_restarts ------------------------------------------------------------------------------ */

typedef struct restarts {
    int64_t first, factor;
    double low;
} restarts;

enum { DONE, LENGTH }; /* state: steps in this period, and its length */

static bool restarts_advance(const wk__schedule_call *call, wk__schedule *s)
{
    (void)call;
    const restarts *o = s->settings;
    s->state[DONE] = s->epoch == 0 ? 0 : s->state[DONE] + 1;
    if (s->epoch == 0) s->state[LENGTH] = (double)o->first;
    if (s->state[DONE] < s->state[LENGTH]) return true;
    s->state[DONE] = 0;
    s->state[LENGTH] *= (double)o->factor;
    return true;
}

static double restarts_rate(const wk__schedule *s, int64_t group, double base, double now)
{
    (void)group, (void)now;
    const restarts *o = s->settings;
    return half_cosine(base, o->low, s->state[DONE] / s->state[LENGTH]);
}

static const char *const restarts_state[] = {"T_cur", "T_i"};
static const wk__schedule_kind warm_restarts = {.name = "schedule_cosine_annealing_warm_restarts",
                                                .size = sizeof(restarts),
                                                .state_names = restarts_state,
                                                .states = 2,
                                                .advance = restarts_advance,
                                                .rate = restarts_rate};

wk_schedule *
wk_schedule_cosine_annealing_warm_restarts_at(wk_site site, wk_optim *optim, int64_t T_0,
                                              const wk_schedule_cosine_annealing_warm_restarts_options *options)
{
    static const char op[] = "schedule_cosine_annealing_warm_restarts";
    wk_schedule_cosine_annealing_warm_restarts_options o;
    if (!wk__optim_check(optim, site, op) || !wk__options(site, op, options, &o)) return NULL;
    const restarts own = {T_0, o.T_mult == 0 ? 1 : o.T_mult, wk__option_or(o.eta_min, 0)};
    if (!check_annealing(site, op, "T_0", T_0, own.low) ||
        !wk__schedule_require(site, op, own.factor >= 1, ".T_mult", "at least 1", (double)own.factor))
        return NULL;
    return wk__schedule_new(site, &warm_restarts, optim, &own, NULL);
}
