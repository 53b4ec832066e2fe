/* SPDX-License-Identifier: Apache-2.0 */
/* The body behind wk_optim: groups of parameters, each with what the rule keeps for it. */
#ifndef WICK_OPTIM_OPTIM_H
#define WICK_OPTIM_OPTIM_H

#include "../nn/list.h"
#include "../nn/own.h"
#include <wick/optim.h>

enum { WK__OPTIM_STATES = 2 };

/* One parameter. What is kept lives on the parameter's device, in the type that is computed in (f32 for f16 and
 * bf16). */
typedef struct wk__trained {
    wk_tensor *parameter;               /* held */
    wk_tensor *state[WK__OPTIM_STATES]; /* owned; NULL before the first step */
    int64_t steps;                      /* taken so far */
    wk__value *last;                    /* what the last one makes of state[0]: tells whether it happened; held */
} wk__trained;

typedef struct wk__group_of {
    wk_optim_options options; /* complete: defaults are filled in, WK_ZERO is 0 */
    wk__trained *item;
    int64_t count;
} wk__group_of;

/* How a kind of optimiser works. */
typedef struct wk__rule {
    const char *name;
    bool moments;                                   /* takes beta1, beta2, eps; else momentum, dampening, nesterov */
    double weight_decay;                            /* default */
    int (*states)(const wk_optim_options *options); /* how many tensors it keeps for a parameter */
    /* Records the update of one parameter, whose `steps` counts this step already. False with the error recorded. */
    bool (*update)(const wk_optim_options *options, wk__trained *t, wk_tensor *grad);
} wk__rule;

typedef struct wk__optim {
    const wk__rule *rule;
    wk__group_of *group;
    int64_t groups, capacity;
} wk__optim;

struct wk_optim {
    wk__handle handle;
};

wk_optim *wk__optim_new(wk_site site, const wk__rule *rule, wk_tensors *parameters, const wk_optim_options *options);

#endif
