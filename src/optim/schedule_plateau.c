/* SPDX-License-Identifier: Apache-2.0 */
/* Reduces the rates when a metric has stopped improving. */
#include "base/options.h"
#include "schedule.h"

typedef struct plateau {
    double factor, threshold, low, eps, patience;
    int64_t cooldown;
    bool max;      /* a greater metric is better */
    bool absolute; /* the threshold is an amount, not a share of the best */
} plateau;

enum { BEST, BAD_STEPS, COOLDOWN }; /* state */

static bool is_better(const plateau *o, double metric, double best)
{
    if (o->max) return metric > (o->absolute ? best + o->threshold : best * (o->threshold + 1));
    return metric < (o->absolute ? best - o->threshold : best * (1 - o->threshold));
}

static bool plateau_advance(const wk__schedule_call *call, wk__schedule *s)
{
    (void)call;
    const plateau *o = s->settings;
    s->state[BEST] = o->max ? -INFINITY : INFINITY;
    s->state[BAD_STEPS] = s->state[COOLDOWN] = 0;
    return true;
}

static void reduce(const wk__schedule *s)
{
    const plateau *o = s->settings;
    const wk__optim *of = wk__optim_of(s->optim);
    for (int64_t g = 0; g < of->groups; g++) {
        double *rate = wk__optim_rate(of, g);
        const double reduced = fmax(*rate * o->factor, o->low);
        if (*rate - reduced > o->eps) *rate = reduced;
    }
}

static void plateau_observe(wk__schedule *s, double metric)
{
    const plateau *o = s->settings;
    const bool better = is_better(o, metric, s->state[BEST]);
    if (better) s->state[BEST] = metric;
    s->state[BAD_STEPS] = better ? 0 : s->state[BAD_STEPS] + 1;
    if (s->state[COOLDOWN] > 0) {
        s->state[COOLDOWN]--;
        s->state[BAD_STEPS] = 0;
    }
    if (s->state[BAD_STEPS] <= o->patience) return;
    reduce(s);
    s->state[COOLDOWN] = (double)o->cooldown;
    s->state[BAD_STEPS] = 0;
}

static const char *const state_names[] = {"best", "num_bad_epochs", "cooldown_counter"};
static const wk__schedule_kind kind = {.name = "schedule_reduce_lr_on_plateau",
                                       .size = sizeof(plateau),
                                       .state_names = state_names,
                                       .states = 3,
                                       .advance = plateau_advance,
                                       .observe = plateau_observe};

static bool check(wk_site site, const char *op, const plateau *o)
{
    return wk__schedule_require(site, op, o->factor >= 0 && o->factor < 1, ".factor", "in [0, 1)", o->factor) &&
           wk__schedule_require(site, op, o->threshold >= 0, ".threshold", "at least 0", o->threshold) &&
           wk__schedule_require(site, op, o->low >= 0 && o->low < INFINITY, ".min_lr", "at least 0", o->low) &&
           wk__schedule_require(site, op, o->eps >= 0, ".eps", "at least 0", o->eps) &&
           wk__schedule_require(site, op, o->patience >= 0, ".patience", "at least 0", o->patience) &&
           wk__schedule_require(site, op, o->cooldown >= 0, ".cooldown", "at least 0", (double)o->cooldown);
}

wk_schedule *wk_schedule_reduce_lr_on_plateau_at(wk_site site, wk_optim *optim,
                                                 const wk_schedule_reduce_lr_on_plateau_options *options)
{
    static const char op[] = "schedule_reduce_lr_on_plateau";
    static const char *const modes[] = {"min", "max", NULL}, *const thresholds[] = {"rel", "abs", NULL};
    wk_schedule_reduce_lr_on_plateau_options o;
    if (!wk__optim_check(optim, site, op) || !wk__options(site, op, options, &o)) return NULL;
    const int mode = wk__schedule_choice(site, op, ".mode", o.mode, modes);
    const int threshold =
        mode < 0 ? -1 : wk__schedule_choice(site, op, ".threshold_mode", o.threshold_mode, thresholds);
    const plateau own = {.factor = wk__option_or(o.factor, 0.1),
                         .threshold = wk__option_or(o.threshold, 1e-4),
                         .low = wk__option_or(o.min_lr, 0),
                         .eps = wk__option_or(o.eps, 1e-8),
                         .patience = wk__option_or(o.patience, 10),
                         .cooldown = o.cooldown,
                         .max = mode == 1,
                         .absolute = threshold == 1};
    if (mode < 0 || threshold < 0 || !check(site, op, &own)) return NULL;
    return wk__schedule_new(site, &kind, optim, &own, NULL);
}
