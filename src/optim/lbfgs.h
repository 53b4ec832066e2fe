/* SPDX-License-Identifier: Apache-2.0 */
/* One step of lbfgs: what it has at hand (lbfgs.c), and the search along a line (lbfgs_line_search.c). All parameters
 * are one vector, in the order of the list, on one device. */
#ifndef WICK_OPTIM_LBFGS_H
#define WICK_OPTIM_LBFGS_H

#include "engine/op_queue.h"
#include "update_ops.h"

/* How the gradient changed along a step. */
typedef struct wk__lbfgs_pair {
    wk_tensor *grad_diff, *param_diff; /* held */
    double rho;                        /* 1 / (change . step) */
} wk__lbfgs_pair;

/* What one step leaves to the next. */
typedef struct wk__lbfgs_state {
    wk__lbfgs_pair *pair; /* the oldest first; NULL before the first step */
    int64_t pairs, capacity;
    wk_tensor *direction, *gradient; /* of the last iteration; held */
    double length;                   /* how far it went along that direction */
    double h_diag;      /* the first guess at the inverse of the Hessian is this number times the identity */
    int64_t iterations; /* in all steps */
    bool in_step;       /* a step is being taken */
} wk__lbfgs_state;

/* A point on the line, `length` times the direction from where the iteration began. */
typedef struct wk__lbfgs_point {
    double length, loss, slope; /* slope: gradient . direction */
    wk_tensor *gradient;        /* held */
} wk__lbfgs_point;
enum { WK__LBFGS_START, WK__LBFGS_BEFORE, WK__LBFGS_NOW, WK__LBFGS_BRACKET, WK__LBFGS_POINTS = WK__LBFGS_BRACKET + 2 };

typedef struct wk__lbfgs_step {
    wk__optim *optim;
    wk__closure closure;      /* a copy: the caller may be left for good */
    wk_optim_lbfgs_options o; /* as they were when the step began */
    wk__param_group *group;   /* the only one */
    wk__savepoint *before;    /* what the parameters held, of the first `taken` */
    int64_t taken;
    wk_tensor **part, **origin; /* room for a tensor per parameter each: of a vector; where an iteration began */
    wk_dtype dtype;
    wk_device device;
    wk__lbfgs_state next;
    wk__lbfgs_point at[WK__LBFGS_POINTS];
    int64_t evaluations;
    bool committed; /* it may stay as it is */
} wk__lbfgs_step;

/* ---- lbfgs_vectors.c --------------------------------------------------------------------------------------------- */

/* *slot holds x from now on, and no longer what it held. */
void wk__lbfgs_set_ref(wk_tensor **slot, wk_tensor *x);
void wk__lbfgs_free_state(wk__lbfgs_state *memory);
/* step->next begins as a copy of what the last step left. */
bool wk__lbfgs_copy_state(wk__lbfgs_step *step);
/* The number in a tensor, and the greatest element without its sign; false with the error recorded. */
bool wk__lbfgs_item(wk_tensor *x, double *number);
bool wk__lbfgs_max_abs(wk_tensor *x, double *number);
/* The gradients of all parameters as one vector, 0 where there is none. NULL with the error recorded. */
wk_tensor *wk__lbfgs_gradient(const wk__lbfgs_step *step);
/* Adds length times the direction to the parameters. */
bool wk__lbfgs_add_direction(const wk__lbfgs_step *step, double length);
/* The direction of the next iteration, by the gradient where the parameters are. */
bool wk__lbfgs_choose_direction(wk__lbfgs_step *step, wk_tensor *gradient);

/* ---- lbfgs.c ----------------------------------------------------------------------------------------------------- */

/* Loss and gradient where the parameters are, by the closure. */
bool wk__lbfgs_evaluate(wk__lbfgs_step *step, wk__lbfgs_point *point);

/* ---- lbfgs_state.c ----------------------------------------------------------------------------------------------- */

/* Those of its rule. */
bool wk__lbfgs_save_state(wk_site site, const char *op, const wk__optim *optim, const char *prefix,
                          wk__tensor_list *list);
bool wk__lbfgs_load_state(const struct wk__optim_checkpoint *from, const wk__optim *optim, const wk__param_group *group,
                          void **memory);

/* ---- lbfgs_line_search.c ----------------------------------------------------------------------------------------- */

/* A search by the strong Wolfe conditions from the point NOW, where the parameters are, the first length tried being
 * `length`. NOW becomes the point that it found; the parameters are where they were. */
bool wk__lbfgs_strong_wolfe(wk__lbfgs_step *step, double length);

#endif
