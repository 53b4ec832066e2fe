/* SPDX-License-Identifier: Apache-2.0 */
/* One step of L-BFGS (lbfgs.c) and its line search (lbfgs_line_search.c). All parameters form one vector, in the order
 * of the list, on one device. Everything runs on the thread that steps; functions that return NULL or false recorded
 * the error. */
#ifndef WICK_OPTIM_LBFGS_H
#define WICK_OPTIM_LBFGS_H

#include "engine/op_queue.h"
#include "update_ops.h"

/* A correction pair: change of the gradient (y) and of the parameters (s) in one iteration. */
typedef struct wk__lbfgs_pair {
    wk_tensor *grad_diff, *param_diff; /* references */
    double rho;                        /* 1 / (grad_diff . param_diff) */
} wk__lbfgs_pair;

/* State kept from one step to the next. */
typedef struct wk__lbfgs_state {
    wk__lbfgs_pair *pair; /* [pairs], oldest first; NULL before the first step */
    int64_t pairs, capacity;
    wk_tensor *direction, *gradient; /* of the last iteration; references */
    double length;                   /* step length along that direction */
    double h_diag;                   /* the initial inverse Hessian is h_diag times the identity */
    int64_t iterations;              /* over all steps */
    bool in_step;                    /* a step is in progress */
} wk__lbfgs_state;

/* A point on the line, at `length` times the direction from the start of the iteration. */
typedef struct wk__lbfgs_point {
    double length, loss, slope; /* slope: gradient . direction */
    wk_tensor *gradient;        /* reference */
} wk__lbfgs_point;
enum { WK__LBFGS_START, WK__LBFGS_BEFORE, WK__LBFGS_NOW, WK__LBFGS_BRACKET, WK__LBFGS_POINTS = WK__LBFGS_BRACKET + 2 };

/* State of one step; heap-allocated, freed by its guard. */
typedef struct wk__lbfgs_step {
    wk__optim *optim;
    wk__closure closure;      /* a copy, because the caller's may be left by longjmp */
    wk_optim_lbfgs_options o; /* as at the beginning of the step */
    wk__param_group *group;   /* the only group */
    wk__savepoint *before;    /* old values of the first `taken` parameters */
    int64_t taken;
    wk_tensor **part, **origin; /* [parameters] each: scratch for a split vector; the parameters at the start of the
                                 * iteration */
    wk_dtype dtype;
    wk_device device;
    wk__lbfgs_state next;
    wk__lbfgs_point at[WK__LBFGS_POINTS];
    int64_t evaluations;
    bool committed; /* the step will not be rolled back */
} wk__lbfgs_step;

/* ---- lbfgs_vectors.c --------------------------------------------------------------------------------------------- */

/* Replaces the reference in *slot by x. */
void wk__lbfgs_set_ref(wk_tensor **slot, wk_tensor *x);
void wk__lbfgs_free_state(wk__lbfgs_state *memory);
/* Initialises step->next with a copy of the previous step's state. */
bool wk__lbfgs_copy_state(wk__lbfgs_step *step);
/* Read the only element of x, and the largest absolute value in x. False on error. */
bool wk__lbfgs_item(wk_tensor *x, double *number);
bool wk__lbfgs_max_abs(wk_tensor *x, double *number);
/* Returns the gradients of all parameters as one vector, 0 for a parameter without one. NULL on error. */
wk_tensor *wk__lbfgs_gradient(const wk__lbfgs_step *step);
/* Adds length times the direction to the parameters. */
bool wk__lbfgs_add_direction(const wk__lbfgs_step *step, double length);
/* Computes the direction of the next iteration from the gradient at the present parameters. */
bool wk__lbfgs_choose_direction(wk__lbfgs_step *step, wk_tensor *gradient);

/* ---- lbfgs.c ----------------------------------------------------------------------------------------------------- */

/* Evaluates loss and gradient at the present parameters by calling the closure. */
bool wk__lbfgs_evaluate(wk__lbfgs_step *step, wk__lbfgs_point *point);

/* ---- lbfgs_state.c ----------------------------------------------------------------------------------------------- */

/* save_state and load_state of the algorithm (optim.h). */
bool wk__lbfgs_save_state(wk_site site, const char *op, const wk__optim *optim, const char *prefix,
                          wk__tensor_list *list);
bool wk__lbfgs_load_state(const struct wk__optim_checkpoint *from, const wk__optim *optim, const wk__param_group *group,
                          void **memory);

/* ---- lbfgs_line_search.c ----------------------------------------------------------------------------------------- */

/* Searches along the direction for a point that satisfies the strong Wolfe conditions, from the point NOW, at the
 * present parameters; tries `length` first. NOW becomes the point found; the parameters are restored. */
bool wk__lbfgs_strong_wolfe(wk__lbfgs_step *step, double length);

#endif
