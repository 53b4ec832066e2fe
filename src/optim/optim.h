/* SPDX-License-Identifier: Apache-2.0 */
/* The body behind wk_optim: groups of parameters, each with what the rule keeps for it; and the row by which a kind of
 * optimiser says how it works. */
#ifndef WICK_OPTIM_OPTIM_H
#define WICK_OPTIM_OPTIM_H

#include "nn/tensor_list.h"
#include "ops/core/adopt.h"
#include <math.h>
#include <wick/optim.h>

/* ---- what is kept ------------------------------------------------------------------------------------------------ */

/* One parameter. What is kept lives on the parameter's device, in the type that is computed in (f32 for f16 and
 * bf16). */
typedef struct wk__param_state {
    wk_tensor *parameter; /* held */
    char *name;           /* in the list that it came in */
    wk_tensor **state;    /* as many as the rule keeps, in the array of the group; owned; NULL before the first step */
    int64_t steps;        /* taken so far */
    wk__value *last_state_value; /* what the last one makes of state[0]: tells whether it happened; held */
} wk__param_state;

typedef struct wk__param_group {
    void *options; /* the struct of the rule, complete: defaults are filled in, WK_EXPLICIT_ZERO is 0 */
    wk__param_state *item;
    wk_tensor **state; /* of all items */
    int64_t count;
    int states_per_param; /* of one item */
} wk__param_group;

struct wk__optim_checkpoint;
typedef struct wk__optim_algorithm wk__optim_algorithm;
typedef struct wk__optim {
    const wk__optim_algorithm *rule;
    wk__param_group *group;
    int64_t groups, capacity;
    void *shared_state; /* what the rule keeps for all parameters together; NULL: nothing */
} wk__optim;

struct wk_optim {
    wk__handle handle;
};

/* Steps that count: not the last one, if it has turned out to fail since. */
int64_t wk__optim_completed_steps(const wk__param_state *t);

/* The gradient that a step goes by. NULL: the parameter is left alone. One that was frozen after a backward keeps its
 * gradient. */
wk_tensor *wk__optim_gradient(const wk__param_state *t);

/* ---- options ----------------------------------------------------------------------------------------------------- */

typedef enum wk__optim_option_type {
    WK__OPTION_FLOAT, /* double, in [least, below) */
    WK__OPTION_INT,   /* int64_t, 1 or more; 0: the default */
    WK__OPTION_BOOL,  /* bool, false at first */
    WK__OPTION_STRING /* const char *, NULL at first; the rule's `complete` checks it */
} wk__optim_option_type;

/* One option of a kind of optimiser. */
typedef struct wk__optim_option {
    const char *name;
    size_t offset; /* in the struct of options */
    wk__optim_option_type kind;
    double default_value, min, max_exclusive; /* of a number; of a whole number `usual` alone */
} wk__optim_option;
#define WK__OPTION_MEMBER(type, member) .name = #member, .offset = offsetof(type, member)

/* The options of an optimiser as its rule wants them: what is not given comes from `usual`, which is complete, or from
 * the rule when that is NULL. `own` has room for them. False with the error recorded. */
bool wk__optim_options(wk_site site, const wk__optim_algorithm *rule, const void *given, void *own);
bool wk__optim_group_options(wk_site site, const wk__optim_algorithm *rule, const wk_optim_group_options *given,
                             const void *usual, void *own);

/* Is each option within its range, and do they go together? `own` is complete. False with the error recorded. */
bool wk__optim_check_options(wk_site site, const char *op, const wk__optim_algorithm *rule, void *own);

/* ---- rules ------------------------------------------------------------------------------------------------------- */

/* The closure of a program, and the call that it was given to. */
typedef struct wk__closure {
    wk_site site;
    wk_optim_closure *call;
    void *user;
} wk__closure;
/* Calls it: the loss, of one element; NULL with the error recorded. */
wk_tensor *wk__closure_call(const wk__closure *closure);

/* How a kind of optimiser works. It has `states` and `update`, or `search`. */
struct wk__optim_algorithm {
    const char *name;                                                      /* of the call, "optim_adam" */
    size_t size;                                                           /* of the struct of options */
    const wk__optim_option *option;                                        /* the first is lr */
    size_t option_count;                                                   /* how many */
    bool (*validate_options)(wk_site site, const char *op, void *options); /* optional: what the table cannot say; false
                                                                              with
                                                                                the error recorded */
    int (*state_count)(const void *options);                 /* how many tensors it keeps for a parameter, */
    const char *const *state_names;                          /* and their names */
    double (*initial_state)(const void *options, int state); /* optional: what one begins as, 0 without
                                                                              it */
    /* Records the update of one parameter, whose `steps` counts this step already. False with the error recorded. */
    bool (*update)(const void *options, wk__param_state *t, wk_tensor *grad);
    /* One step of all parameters together that calls the closure again; `loss` is what the first call gave. False with
     * the error recorded: then nothing has changed. */
    bool (*step_with_closure)(wk__optim *optim, const wk__closure *closure, wk_tensor *loss);
    /* What it keeps for all parameters together is freed; appended to a list of tensors, whose names begin with
     * `prefix`; made anew from a file, for a group that has been read: NULL where there is nothing. False with the
     * error recorded. See optim_state.h. */
    void (*free_shared_state)(void *memory);
    bool (*save_state)(wk_site site, const char *op, const wk__optim *optim, const char *prefix, wk__tensor_list *list);
    bool (*load_state)(const struct wk__optim_checkpoint *from, const wk__optim *optim, const wk__param_group *group,
                       void **memory);
};
/* "adam": as messages and files name the kind. */
static inline const char *wk__optim_algorithm_name(const wk__optim_algorithm *rule)
{
    return rule->name + sizeof "optim_" - 1;
}

wk_optim *wk__optim_new(wk_site site, const wk__optim_algorithm *rule, wk_tensors *parameters, const void *options);
static inline wk__optim *wk__optim_of(const wk_optim *optim)
{
    return optim->handle.body;
}
bool wk__optim_check(const wk_optim *optim, wk_site site, const char *op);
/* A group of no parameters yet, with room for `count`, and one more in it; it takes the options over. False when memory
 * is short: then as ever wk__param_group_free. */
bool wk__param_group_init(wk__param_group *group, const wk__optim_algorithm *rule, void *options, int64_t count);
bool wk__param_group_add(wk__param_group *group, wk_tensor *parameter, const char *name);
void wk__param_group_free(wk__param_group *group);

#endif
