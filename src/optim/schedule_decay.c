/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules that multiply the present rate of each group by a factor, as PyTorch's chainable forms do: they continue
 * from a rate that another schedule or the program has set. lambda_lr computes it from the base rate. */
#include "base/options.h"
#include "schedule.h"
#include "tensor/call_scope.h"

/* ---- step_lr, exponential_lr ------------------------------------------------------------------------------------- */

typedef struct decay {
    int64_t step_size;
    double gamma;
} decay;

static double decay_rate(const wk__schedule *s, int64_t group, double base, double now)
{
    (void)group, (void)base;
    const decay *o = s->settings;
    return s->epoch == 0 || s->epoch % o->step_size != 0 ? now : now * o->gamma;
}

static const wk__schedule_kind step_lr = {.name = "schedule_step_lr", .size = sizeof(decay), .rate = decay_rate};

wk_schedule *wk_schedule_step_lr_at(wk_site site, wk_optim *optim, int64_t step_size,
                                    const wk_schedule_step_lr_options *options)
{
    wk_schedule_step_lr_options o;
    if (!wk__optim_check(optim, site, step_lr.name) || !wk__options(site, step_lr.name, options, &o)) return NULL;
    const decay own = {step_size, wk__option_or(o.gamma, 0.1)};
    if (!wk__schedule_require(site, step_lr.name, step_size >= 1, "step_size", "at least 1", (double)step_size) ||
        !wk__schedule_require(site, step_lr.name, own.gamma >= 0, ".gamma", "at least 0", own.gamma))
        return NULL;
    return wk__schedule_new(site, &step_lr, optim, &own, NULL);
}

static const wk__schedule_kind exponential_lr = {
    .name = "schedule_exponential_lr", .size = sizeof(decay), .rate = decay_rate};

wk_schedule *wk_schedule_exponential_lr_at(wk_site site, wk_optim *optim, double gamma)
{
    const decay own = {1, gamma};
    if (!wk__optim_check(optim, site, exponential_lr.name) ||
        !wk__schedule_require(site, exponential_lr.name, gamma >= 0, "gamma", "at least 0", gamma))
        return NULL;
    return wk__schedule_new(site, &exponential_lr, optim, &own, NULL);
}

/* ---- multi_step_lr ----------------------------------------------------------------------------------------------- */

/* A repeated milestone counts each time. */
static double multi_step_rate(const wk__schedule *s, int64_t group, double base, double now)
{
    (void)group, (void)base;
    const decay *o = s->settings;
    int times = 0;
    for (int64_t k = 0; k < s->milestones; k++) times += s->milestone[k] == s->epoch;
    return times == 0 ? now : now * pow(o->gamma, times);
}

static const wk__schedule_kind multi_step_lr = {
    .name = "schedule_multi_step_lr", .size = sizeof(decay), .rate = multi_step_rate};

wk_schedule *wk_schedule_multi_step_lr_at(wk_site site, wk_optim *optim, const int64_t *milestones, int count,
                                          const wk_schedule_multi_step_lr_options *options)
{
    static const char op[] = "schedule_multi_step_lr";
    wk_schedule_multi_step_lr_options o;
    if (!wk__optim_check(optim, site, op) || !wk__options(site, op, options, &o) ||
        !wk__array_check(milestones, count, site, op, "the list of milestones"))
        return NULL;
    const decay own = {1, wk__option_or(o.gamma, 0.1)};
    if (!wk__schedule_require(site, op, own.gamma >= 0, ".gamma", "at least 0", own.gamma)) return NULL;
    return wk__schedule_new(site, &multi_step_lr, optim, &own,
                            &(wk__schedule_lists){.milestone = milestones, .milestones = count});
}

/* ---- constant_lr, linear_lr -------------------------------------------------------------------------------------- */

typedef struct ramp {
    double start, end;
    int64_t iterations;
} ramp;

/* Returns false after recording an error if the number of iterations is negative; 0 is the default, 5. */
static bool complete_iterations(wk_site site, const char *op, int64_t *iterations)
{
    if (!wk__schedule_require(site, op, *iterations >= 0, ".total_iters", "at least 1", (double)*iterations))
        return false;
    if (*iterations == 0) *iterations = 5;
    return true;
}

static double constant_rate(const wk__schedule *s, int64_t group, double base, double now)
{
    (void)group, (void)base;
    const ramp *o = s->settings;
    return s->epoch == 0 ? now * o->start : s->epoch == o->iterations ? now * (1 / o->start) : now;
}

static const wk__schedule_kind constant_lr = {
    .name = "schedule_constant_lr", .size = sizeof(ramp), .rate = constant_rate};

wk_schedule *wk_schedule_constant_lr_at(wk_site site, wk_optim *optim, const wk_schedule_constant_lr_options *options)
{
    static const char op[] = "schedule_constant_lr";
    wk_schedule_constant_lr_options o;
    if (!wk__optim_check(optim, site, op) || !wk__options(site, op, options, &o)) return NULL;
    ramp own = {.start = wk__option_or(o.factor, 1.0 / 3), .iterations = o.total_iters};
    if (!wk__schedule_require(site, op, own.start > 0 && own.start <= 1, ".factor", "in (0, 1]", own.start) ||
        !complete_iterations(site, op, &own.iterations))
        return NULL;
    return wk__schedule_new(site, &constant_lr, optim, &own, NULL);
}

static double linear_rate(const wk__schedule *s, int64_t group, double base, double now)
{
    (void)group, (void)base;
    const ramp *o = s->settings;
    const double change = o->end - o->start;
    if (s->epoch == 0) return now * o->start;
    if (s->epoch > o->iterations) return now;
    return now * (1 + change / ((double)o->iterations * o->start + (double)(s->epoch - 1) * change));
}

static const wk__schedule_kind linear_lr = {.name = "schedule_linear_lr", .size = sizeof(ramp), .rate = linear_rate};

wk_schedule *wk_schedule_linear_lr_at(wk_site site, wk_optim *optim, const wk_schedule_linear_lr_options *options)
{
    static const char op[] = "schedule_linear_lr";
    wk_schedule_linear_lr_options o;
    if (!wk__optim_check(optim, site, op) || !wk__options(site, op, options, &o)) return NULL;
    ramp own = {wk__option_or(o.start_factor, 1.0 / 3), wk__option_or(o.end_factor, 1), o.total_iters};
    if (!wk__schedule_require(site, op, own.start > 0 && own.start <= 1, ".start_factor", "in (0, 1]", own.start) ||
        !wk__schedule_require(site, op, own.end >= 0 && own.end <= 1, ".end_factor", "in [0, 1]", own.end) ||
        !complete_iterations(site, op, &own.iterations))
        return NULL;
    return wk__schedule_new(site, &linear_lr, optim, &own, NULL);
}

/* ---- polynomial_lr ----------------------------------------------------------------------------------------------- */

typedef struct polynomial {
    double power;
    int64_t iterations;
} polynomial;

static double polynomial_rate(const wk__schedule *s, int64_t group, double base, double now)
{
    (void)group, (void)base;
    const polynomial *o = s->settings;
    const double n = (double)o->iterations, t = (double)s->epoch;
    return s->epoch == 0 || s->epoch > o->iterations ? now : now * pow((1 - t / n) / (1 - (t - 1) / n), o->power);
}

static const wk__schedule_kind polynomial_lr = {
    .name = "schedule_polynomial_lr", .size = sizeof(polynomial), .rate = polynomial_rate};

wk_schedule *wk_schedule_polynomial_lr_at(wk_site site, wk_optim *optim,
                                          const wk_schedule_polynomial_lr_options *options)
{
    static const char op[] = "schedule_polynomial_lr";
    wk_schedule_polynomial_lr_options o;
    if (!wk__optim_check(optim, site, op) || !wk__options(site, op, options, &o)) return NULL;
    polynomial own = {wk__option_or(o.power, 1), o.total_iters};
    if (!wk__schedule_require(site, op, own.power >= 0, ".power", "at least 0", own.power) ||
        !complete_iterations(site, op, &own.iterations))
        return NULL;
    return wk__schedule_new(site, &polynomial_lr, optim, &own, NULL);
}

/* ---- lambda_lr --------------------------------------------------------------------------------------------------- */

typedef struct lambda {
    wk_schedule_factor *factor;
    void *user;
} lambda;

/* Calls the program once for all groups. */
static bool lambda_advance(const wk__schedule_call *call, wk__schedule *s)
{
    const lambda *o = s->settings;
    wk__call_scope c;
    if (!wk__callback_begin(&c, "the factor of schedule_lambda_lr", call->site)) return false;
    s->state[0] = o->factor(s->epoch, o->user);
    wk__call_end(&c, NULL, 0);
    return !wk__error_pending();
}

static double lambda_rate(const wk__schedule *s, int64_t group, double base, double now)
{
    (void)group, (void)now;
    return base * s->state[0];
}

static const wk__schedule_kind lambda_lr = {
    .name = "schedule_lambda_lr", .size = sizeof(lambda), .advance = lambda_advance, .rate = lambda_rate};

wk_schedule *wk_schedule_lambda_lr_at(wk_site site, wk_optim *optim, wk_schedule_factor *factor, void *user)
{
    if (!wk__optim_check(optim, site, lambda_lr.name)) return NULL;
    if (!factor) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: factor is NULL", lambda_lr.name);
        return NULL;
    }
    return wk__schedule_new(site, &lambda_lr, optim, &(lambda){factor, user}, NULL);
}
