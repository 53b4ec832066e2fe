/* SPDX-License-Identifier: Apache-2.0 */
/* Implementation type of wk_schedule, and the descriptor of a kind. A schedule has a position, PyTorch's last_epoch,
 * and a few numbers of state; its settings never change. Files identify it by its index in the optimiser's list, which
 * is in order of creation. Functions that return false or NULL recorded the error. */
#ifndef WICK_OPTIM_SCHEDULE_H
#define WICK_OPTIM_SCHEDULE_H

#include "optim.h"
#include <wick/schedule.h>

struct wk_schedule {
    wk__handle handle;
};

typedef struct wk__schedule_kind wk__schedule_kind;
enum { WK__SCHEDULE_STATE = 3 };
/* Body of a wk_schedule. */
struct wk__schedule {
    const wk__schedule_kind *kind;
    wk_optim *optim; /* reference */
    void *settings;  /* [kind->size]; owned */
    int64_t groups;  /* of the optimiser at creation; they must not change */
    int64_t epoch;   /* steps so far */
    double state[WK__SCHEDULE_STATE];
    int64_t *milestone; /* [milestones]; owned; increasing in sequential */
    int64_t milestones;
    double *highest;     /* rate of each group of one_cycle; owned */
    wk_schedule **child; /* [children] references; owned */
    int64_t children;
    wk__schedule *next; /* in the list of the optimiser */
};

/* A call that moves schedules, for messages. */
typedef struct wk__schedule_call {
    wk_site site;
    const char *op;
} wk__schedule_call;

/* Descriptor of a kind of schedule. */
struct wk__schedule_kind {
    const char *name; /* of the call, "schedule_step_lr" */
    size_t size;      /* of the settings */
    const char *const *state_names;
    int states;     /* of s->state, saved in files */
    bool has_begun; /* creation does not set rates, because the children have set them */
    /* Optional: updates the state, or the children, after s->epoch has changed; it is 0 when the schedule begins. */
    bool (*advance)(const wk__schedule_call *call, wk__schedule *s);
    /* Optional: returns the rate of a group at s->epoch from its base rate and its present one. */
    double (*rate)(const wk__schedule *s, int64_t group, double base, double now);
    /* Optional: returns the momentum of all groups at s->epoch; NaN leaves it alone. */
    double (*momentum)(const wk__schedule *s);
    /* Optional: a step with a metric, for a kind without `rate`. */
    void (*observe)(wk__schedule *s, double metric);
};
/* Returns "step_lr", the name in messages and files. */
static inline const char *wk__schedule_kind_name(const wk__schedule_kind *kind)
{
    return kind->name + sizeof "schedule_" - 1;
}

/* Lists that a new schedule copies. */
typedef struct wk__schedule_lists {
    const int64_t *milestone;
    int milestones;
    const double *highest;
    int64_t rates;
    wk_schedule *const *child;
    int children;
} wk__schedule_lists;

/* Creates a schedule with a copy of the settings and lists (NULL: none), and sets the rates at position 0 unless the
 * kind has begun. */
wk_schedule *wk__schedule_new(wk_site site, const wk__schedule_kind *kind, wk_optim *optim, const void *settings,
                              const wk__schedule_lists *lists);
bool wk__schedule_check(const wk_schedule *schedule, wk_site site, const char *op);
static inline wk__schedule *wk__schedule_of(const wk_schedule *schedule)
{
    return schedule->handle.body;
}

/* Moves a schedule to a position and sets the rates there. */
bool wk__schedule_move(const wk__schedule_call *call, wk__schedule *s, int64_t epoch);
/* Sets the rates of all groups to their base rates. */
void wk__schedule_reset_rates(const wk__schedule *s);

/* Checks of settings: record "op: name must be ..., got ..." and return false if the condition does not hold. */
bool wk__schedule_require(wk_site site, const char *op, bool condition, const char *setting, const char *must,
                          double value);
/* Returns the index of `text` among `names`, which ends with NULL; 0 for NULL. Records an error and returns -1 if it is
 * not among them. */
int wk__schedule_choice(wk_site site, const char *op, const char *setting, const char *text, const char *const *names);
/* Returns true if the optimiser has a momentum or beta1 that can change. */
bool wk__schedule_check_momentum(wk_site site, const char *op, const wk_optim *optim);

#endif
