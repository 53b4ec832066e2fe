/* SPDX-License-Identifier: Apache-2.0 */
/* Implementation type of wk_optim: parameter groups with their state, and the descriptor of an algorithm. Functions
 * that return false or NULL recorded the error. */
#ifndef WICK_OPTIM_OPTIM_H
#define WICK_OPTIM_OPTIM_H

#include "nn/tensor_list.h"
#include "ops/core/tensor_swap.h"
#include <math.h>
#include <wick/optim.h>

/* ---- state ------------------------------------------------------------------------------------------------------- */

enum { WK__OPTIM_NUMBERS = 2 };

/* State of one parameter, on its device; in its computation dtype (f32 for f16 and bf16). */
typedef struct wk__param_state {
    wk_tensor *parameter; /* reference */
    char *name;           /* its name in the list passed to the optimiser; owned */
    wk_tensor **state;    /* [states_per_param], part of group->state; owned; NULL before the first step */
    int64_t steps;        /* steps recorded, including a last one that may still fail */
    double number[WK__OPTIM_NUMBERS], number_before[WK__OPTIM_NUMBERS]; /* after and before the last recorded step */
    wk__value *last_state_value; /* state[0] as the last step writes it, by which its outcome is known; a reference */
} wk__param_state;

/* Parameters with common options. Owns its arrays and references its tensors. */
typedef struct wk__param_group {
    void *options; /* struct of the algorithm's options, complete: defaults are set, WK_EXPLICIT_ZERO is 0 */
    wk__param_state *item;
    wk_tensor **state; /* [count * states_per_param] */
    int64_t count;
    int states_per_param; /* tensors per parameter */
    double initial_lr;    /* learning rate when the first schedule was created; -1: there was none */
} wk__param_group;

struct wk__optim_checkpoint;
typedef struct wk__schedule wk__schedule;
typedef struct wk__optim_algorithm wk__optim_algorithm;
/* Body of a wk_optim. */
typedef struct wk__optim {
    const wk__optim_algorithm *rule;
    wk__param_group *group;
    int64_t groups, capacity;
    void *shared_state;      /* the algorithm's state for all parameters together, or NULL */
    wk__schedule *schedules; /* list in order of creation; each holds a reference to the optimiser */
} wk__optim;

struct wk_optim {
    wk__handle handle;
};

/* Returns the number of completed steps: does not count the last step if it has failed since it was recorded. */
int64_t wk__optim_completed_steps(const wk__param_state *t);
/* Returns the algorithm's numbers after that many steps. */
const double *wk__optim_completed_numbers(const wk__param_state *t);

/* Returns the gradient that a step uses, or NULL to skip the parameter. A parameter frozen after a backward keeps its
 * gradient. */
wk_tensor *wk__optim_gradient(const wk__param_state *t);

/* ---- options ----------------------------------------------------------------------------------------------------- */

typedef enum wk__optim_option_type {
    WK__OPTION_FLOAT, /* double, in [min, max_exclusive) */
    WK__OPTION_INT,   /* int64_t, at least 1; 0: the default */
    WK__OPTION_BOOL,  /* bool, default false */
    WK__OPTION_STRING /* const char *, default NULL; checked by validate_options */
} wk__optim_option_type;

/* One option of an algorithm. */
typedef struct wk__optim_option {
    const char *name;
    size_t offset; /* in the options struct */
    wk__optim_option_type kind;
    double default_value, min, max_exclusive; /* of a float option; an int option has default_value only */
} wk__optim_option;
#define WK__OPTION_MEMBER(type, member) .name = #member, .offset = offsetof(type, member)

/* Completes the options of an optimiser, or of a group: unset members come from `usual`, which is complete, or from the
 * defaults if `usual` is NULL. Writes to `own`, which has rule->size bytes. False on error. */
bool wk__optim_options(wk_site site, const wk__optim_algorithm *rule, const void *given, void *own);
bool wk__optim_group_options(wk_site site, const wk__optim_algorithm *rule, const wk_optim_group_options *given,
                             const void *usual, void *own);

/* Returns true if each option is within its range and they fit together. `own` is complete. False on error. */
bool wk__optim_check_options(wk_site site, const char *op, const wk__optim_algorithm *rule, void *own);

/* ---- algorithms -------------------------------------------------------------------------------------------------- */

/* A user closure and the call site it was passed at. */
typedef struct wk__closure {
    wk_site site;
    wk_optim_closure *call;
    void *user;
} wk__closure;
/* Calls the closure. Returns the loss, of one element; NULL on error. */
wk_tensor *wk__closure_call(const wk__closure *closure);

/* Descriptor of an algorithm. It has either state_count and update, or step_with_closure. */
struct wk__optim_algorithm {
    const char *name;               /* of the call, "optim_adam" */
    size_t size;                    /* of the options struct */
    const wk__optim_option *option; /* [option_count]; the first is lr */
    size_t option_count;
    bool (*validate_options)(wk_site site, const char *op, void *options); /* optional: checks that the table cannot
                                                                            * express */
    int (*state_count)(const void *options);                               /* tensors of state per parameter */
    const char *const *state_names;                                        /* their names, unless state_name is given */
    const char *(*state_name)(const void *options, int state); /* optional: the name of one, if options change it */
    double (*initial_state)(const void *options, int state);   /* optional: initial value of one; default 0 */
    int number_count;                /* numbers of state per parameter, 0 before the first step */
    const char *const *number_names; /* their names */
    /* Records the update of one parameter, whose `steps` already counts this step, and sets its `number`s. False on
     * error. */
    bool (*update)(const void *options, wk__param_state *t, wk_tensor *grad);
    /* Does one step of all parameters, calling the closure again; `loss` is the result of the first call. Returns false
     * on error, without a change. */
    bool (*step_with_closure)(wk__optim *optim, const wk__closure *closure, wk_tensor *loss);
    /* Free the shared state; append it to a list of tensors whose names begin with `prefix`; create it from a file, for
     * a group that has been loaded (NULL if there is none). False on error. See optim_state.h. */
    void (*free_shared_state)(void *memory);
    bool (*save_state)(wk_site site, const char *op, const wk__optim *optim, const char *prefix, wk__tensor_list *list);
    bool (*load_state)(const struct wk__optim_checkpoint *from, const wk__optim *optim, const wk__param_group *group,
                       void **memory);
};
static inline const char *wk__optim_state_name(const wk__optim_algorithm *rule, const void *options, int state)
{
    return rule->state_name ? rule->state_name(options, state) : rule->state_names[state];
}
/* Returns "adam", the algorithm's name in messages and files. */
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
/* Returns the learning rate of a group. */
double *wk__optim_rate(const wk__optim *optim, int64_t group);
/* Initialises a group without parameters with room for `count`, taking ownership of the options; appends a parameter.
 * False on allocation failure; wk__param_group_free is needed in any case. */
bool wk__param_group_init(wk__param_group *group, const wk__optim_algorithm *rule, void *options, int64_t count);
bool wk__param_group_add(wk__param_group *group, wk_tensor *parameter, const char *name);
void wk__param_group_free(wk__param_group *group);

#endif
