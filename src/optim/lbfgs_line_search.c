/* SPDX-License-Identifier: Apache-2.0 */
/* Line search of L-BFGS, equivalent to torch.optim.LBFGS: Nocedal, Wright: Numerical Optimization, 2006, algorithms 3.5
 * and 3.6, with cubic interpolation. */
#include "lbfgs.h"
#include "tensor/call_scope.h"
#include <wick/matmul.h>
#include <wick/tensor.h>

typedef wk__lbfgs_point point;

/* One search. The step owns the points. */
typedef struct line_search {
    wk__lbfgs_step *step;
    wk_tensor **origin;  /* the parameters at the start of the iteration */
    double farthest;     /* largest absolute value in the direction */
    int64_t tried, most; /* evaluations so far; allowed */
} line_search;

/* The strong Wolfe conditions: the loss decreases by at least WOLFE_C1 times the length times the initial slope, and
 * the absolute slope is at most WOLFE_C2 times the initial one. */
static const double WOLFE_C1 = 1e-4, WOLFE_C2 = 0.9;

static void copy(point *to, const point *from)
{
    wk__lbfgs_set_ref(&to->gradient, from->gradient);
    *to = *from;
}

/* Returns the minimum, within [low, high], of the cubic with both losses and slopes. */
static double cubic_minimizer(const point *a, const point *b, double low, double high)
{
    const double d1 = a->slope + b->slope - 3 * (a->loss - b->loss) / (a->length - b->length);
    const double square = d1 * d1 - a->slope * b->slope;
    if (!(square >= 0)) return (low + high) / 2;
    const double d2 = sqrt(square);
    const double share = a->length <= b->length ? (b->slope + d2 - d1) / (b->slope - a->slope + 2 * d2)
                                                : (a->slope + d2 - d1) / (a->slope - b->slope + 2 * d2);
    const point *far = a->length <= b->length ? b : a, *near = a->length <= b->length ? a : b;
    double least = far->length - (far->length - near->length) * share;
    least = low > least ? low : least;
    return high < least ? high : least;
}

static bool evaluate_and_restore(line_search *l, double length)
{
    wk__lbfgs_step *step = l->step;
    point *now = &step->at[WK__LBFGS_NOW];
    if (!wk__lbfgs_add_direction(step, length) || !wk__lbfgs_evaluate(step, now)) return false;
    now->length = length;
    for (int64_t k = 0; k < step->group->count; k++)
        if (!wk_copy__at((wk_site){0}, step->group->item[k].parameter, l->origin[k])) return false;
    return wk__lbfgs_item(wk_dot_at((wk_site){0}, now->gradient, step->next.direction), &now->slope);
}

/* Evaluates the point at `length`, which becomes NOW. */
static bool evaluate_at(line_search *l, double length)
{
    wk__call_scope c;
    if (!wk__call_begin(&c, WK__FRAME_CALL, NULL, (wk_site){0}, WK__GRAD_OFF)) return false;
    const bool fine = evaluate_and_restore(l, length);
    wk__call_end(&c, NULL, 0);
    return fine;
}

static bool has_sufficient_decrease(const line_search *l, const point *now)
{
    const point *start = &l->step->at[WK__LBFGS_START];
    return !(now->loss > start->loss + WOLFE_C1 * now->length * start->slope);
}

static bool meets_curvature(const line_search *l, const point *now)
{
    return fabs(now->slope) <= -WOLFE_C2 * l->step->at[WK__LBFGS_START].slope;
}

typedef enum bracket_result { FAILED, FOUND, BRACKETED } bracket_result;

/* Extends the length until a point satisfies the conditions (FOUND) or two points enclose one, which become the
 * bracket. */
static bracket_result bracket(line_search *l, double length)
{
    point *at = l->step->at, *before = &at[WK__LBFGS_BEFORE], *now = &at[WK__LBFGS_NOW];
    copy(before, &at[WK__LBFGS_START]);
    if (!evaluate_at(l, length)) return FAILED;
    for (; l->tried < l->most; l->tried++) {
        const bool too_far = !has_sufficient_decrease(l, now) || (l->tried > 1 && now->loss >= before->loss);
        if (!too_far && meets_curvature(l, now)) return FOUND;
        if (too_far || now->slope >= 0) break;
        const double low = now->length + 0.01 * (now->length - before->length), high = now->length * 10;
        length = cubic_minimizer(before, now, low, high);
        copy(before, now);
        if (!evaluate_at(l, length)) return FAILED;
    }
    const bool gave_up = l->tried == l->most;
    copy(&at[WK__LBFGS_BRACKET], gave_up ? &at[WK__LBFGS_START] : before);
    copy(&at[WK__LBFGS_BRACKET + 1], now);
    return BRACKETED;
}

/* Returns the next length to try in the bracket: the minimum of the cubic; if two tries in a row were close to an end,
 * at least a tenth of the bracket away from it. */
static double next_length(const point *b, bool *near_end)
{
    const double low = fmin(b[0].length, b[1].length), high = fmax(b[0].length, b[1].length),
                 margin = 0.1 * (high - low);
    const double length = cubic_minimizer(&b[0], &b[1], low, high);
    const bool near = fmin(high - length, length - low) < margin;
    const bool twice = near && (*near_end || length >= high || length <= low);
    *near_end = near && !twice;
    if (!twice) return length;
    return fabs(length - high) < fabs(length - low) ? high - margin : low + margin;
}

/* Shrinks the bracket until its lower end satisfies the conditions. */
static bool zoom(line_search *l)
{
    point *b = &l->step->at[WK__LBFGS_BRACKET], *now = &l->step->at[WK__LBFGS_NOW];
    int low = b[0].loss <= b[1].loss ? 0 : 1;
    bool near_end = false;
    for (bool found = false; !found && l->tried < l->most; l->tried++) {
        if (fabs(b[1].length - b[0].length) * l->farthest < l->step->o.tolerance_change) break;
        if (!evaluate_at(l, next_length(b, &near_end))) return false;
        if (!has_sufficient_decrease(l, now) || now->loss >= b[low].loss) {
            copy(&b[1 - low], now);
            low = b[0].loss <= b[1].loss ? 0 : 1;
            continue;
        }
        found = meets_curvature(l, now);
        if (!found && now->slope * (b[1 - low].length - b[low].length) >= 0) copy(&b[1 - low], &b[low]);
        copy(&b[low], now);
    }
    copy(now, &b[low]);
    return true;
}

bool wk__lbfgs_strong_wolfe(wk__lbfgs_step *step, double length)
{
    line_search l = {.step = step, .origin = step->origin, .most = step->o.max_eval - step->evaluations};
    if (!wk__lbfgs_max_abs(step->next.direction, &l.farthest)) return false;
    for (int64_t k = 0; k < step->group->count; k++)
        if (!(l.origin[k] = wk__detached_copy((wk_site){0}, step->group->item[k].parameter))) return false;
    copy(&step->at[WK__LBFGS_START], &step->at[WK__LBFGS_NOW]);
    const bracket_result reached = bracket(&l, length);
    return reached == FOUND || (reached == BRACKETED && zoom(&l));
}
