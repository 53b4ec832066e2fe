/* SPDX-License-Identifier: Apache-2.0 */
/* Compares gradients with central differences: the leaves move in a random direction, and the loss must change as the
 * gradients predict. Two runs per program, whatever the number of elements. */
#include "oracles.h"
#include "trace.h"
#include "op_entries.h"
#include "tensor/tensor.h"
#include <math.h>
#include <string.h>

static double loss_of(executor *m, const program *p)
{
    wk_tensor *loss = m->slot[program_loss(p)].tensor;
    return loss && wk__body_numel(wk__body_of(loss)) == 1 ? executor_read_element(loss, 0) : NAN;
}

/* Returns the loss with the leaves moved by nudge. */
static double moved_loss(program *p, executor *m, double nudge)
{
    m->epsilon = nudge;
    m->forward_only = true;
    executor_begin(m, p, &mode_sync);
    executor_run_steps(m);
    const double loss = loss_of(m, p);
    executor_end(m);
    m->epsilon = 0;
    m->forward_only = false;
    return loss;
}

/* Returns the change of the loss that the leaves' gradients predict; sets nudged[] for these leaves. */
static double expected_change(program *p, executor *m, bool *nudged, bool *done)
{
    double total = 0;
    for (int k = 0; k < p->steps; k++) {
        const step *s = &p->step[k];
        if (s->removed || s->kind != STEP_MAKE || !(s->how & MAKE_LEAF)) continue;
        wk_tensor *leaf = m->slot[s->out].tensor, *grad = leaf ? wk_grad_of(leaf) : NULL;
        nudged[s->out] = leaf != NULL;
        for (int64_t e = 0; grad && e < wk__body_numel(wk__body_of(grad)); e++)
            total += executor_read_element(grad, e) * perturb_direction(m->nudge_seed, s->out, e);
        *done = *done || grad;
    }
    return total;
}

static bool backward_ran(const program *p, const executor *m)
{
    for (size_t at = 0; at < m->used;) {
        const trace_entry *n = (const trace_entry *)(const void *)(m->notes + at);
        if (n->what == NOTE_FAILED && p->step[n->step].kind == STEP_BACKWARD) return false;
        at += sizeof *n + (size_t)n->bytes;
    }
    return true;
}

/* Finds the smallest and largest element of the operand. */
static void range_of(const executor *m, const argument *a, double *least, double *most)
{
    wk_tensor *x = a->kind == WK_VALUE_TENSOR ? m->slot[a->slot[0]].tensor : NULL;
    *least = INFINITY;
    *most = 0;
    for (int64_t e = 0; x && e < wk__body_numel(wk__body_of(x)); e++) {
        const double size = fabs(executor_read_element(x, e));
        *most = fmax(*most, size);
        *least = fmin(*least, size);
    }
}

/* Returns true for functions with jumps shorter than the step: the remainder of a division by a tiny number, rounding
 * to several decimals, and values so large that they have only a few digits below the step. */
static bool has_tiny_steps(const executor *m, const step *s)
{
    static const char *const rounding[] = {"round", "floor", "ceil", "trunc"};
    const char *name = s->kind == STEP_CALL || s->kind == STEP_IN_PLACE ? op_entries[s->op].op->name : "";
    double least, most, other;
    for (size_t k = 0; k < sizeof rounding / sizeof *rounding; k++) {
        if (strcmp(name, rounding[k]) != 0) continue;
        range_of(m, &s->argument[0], &least, &most);
        return most > 1e6 || (s->arguments > 1 && s->argument[1].kind == WK_VALUE_INT && s->argument[1].i > 0);
    }
    if (strcmp(name, "fmod") != 0 && strcmp(name, "remainder") != 0) return false;
    range_of(m, &s->argument[0], &other, &most);
    range_of(m, &s->argument[1], &least, &other);
    return least < 1e-3 * most;
}

/* Returns true for a variance that gaussian_nll_loss replaces by .eps, or one near it: as in PyTorch, the gradient is
 * that of a variance of .eps, although the loss is constant there. */
static bool is_replaced(const executor *m, const step *s)
{
    const char *name = s->kind == STEP_CALL ? op_entries[s->op].op->name : "";
    const double eps = s->argument[4].kind == WK_VALUE_FLOAT ? s->argument[4].f : 1e-6;
    wk_tensor *x = strcmp(name, "gaussian_nll_loss") == 0 ? m->slot[s->argument[2].slot[0]].tensor : NULL;
    for (int64_t e = 0; x && e < wk__body_numel(wk__body_of(x)); e++)
        if (executor_read_element(x, e) < 2 * eps + 1e-3) return true;
    return false;
}

static bool loses_at(const char *op, double x)
{
    if (strcmp(op, "kl_div") == 0) return x > 30;
    if (strcmp(op, "gelu") == 0) return x < -6;
    return fabs(x * (1 - x)) < 2e-12;
}

/* Returns true for ops whose formula cancels digits. In kl_div with .log_target, if e^target is 1e13 and more, the
 * gradients of both operands cancel, and a small one added between them is lost. gelu's 1 + erf(x / sqrt 2) has seven
 * digits left at -6 and none at -8. The gradient of binary_cross_entropy divides by 1e-12 if p (1 - p) is smaller. */
static bool is_lost_inside(const executor *m, const step *s)
{
    static const struct {
        const char *name;
        int operand;
    } ops[] = {{"kl_div", 1}, {"gelu", 0}, {"binary_cross_entropy", 0}};
    const char *name = s->kind == STEP_CALL ? op_entries[s->op].op->name : "";
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
        if (strcmp(name, ops[k].name) != 0) continue;
        wk_tensor *x = m->slot[s->argument[ops[k].operand].slot[0]].tensor;
        for (int64_t e = 0; x && e < wk__body_numel(wk__body_of(x)); e++)
            if (loses_at(name, executor_read_element(x, e))) return true;
    }
    return false;
}

/* Returns true for a cosine_embedding_loss of vectors as good as parallel: 1 - cos has few digits left. */
static bool has_parallel_vectors(const executor *m, const step *s)
{
    if (s->kind != STEP_CALL || strcmp(op_entries[s->op].op->name, "cosine_embedding_loss") != 0) return false;
    wk_tensor *x = m->slot[s->argument[0].slot[0]].tensor, *y = m->slot[s->argument[1].slot[0]].tensor;
    const int64_t count = x ? wk_size(x, -1) : 0, elements = x && count ? wk_numel(x) : 0;
    for (int64_t e = 0; e < elements; e += count) {
        double xy = 0, xx = 0, yy = 0;
        for (int64_t k = e; k < e + count; k++) {
            const double a = executor_read_element(x, k), b = executor_read_element(y, k);
            xy += a * b, xx += a * a, yy += b * b;
        }
        if (xy * fabs(xy) > (1 - 1e-6) * xx * yy) return true;
    }
    return false;
}

/* A gradient passes through values that are rounded by more than a step. */
static bool is_rounded(const executor *m, const step *s)
{
    for (int k = 0; k < s->results; k++) {
        wk_tensor *x = m->slot[s->out + k].tensor;
        if (x && wk_requires_grad(x) && wk_dtype_of(x) != WK_F64) return true;
    }
    return false;
}

/* Returns true if a step after `from` reads this slot: does more than write or free it. */
static bool is_read(const program *p, int from, int slot)
{
    for (int k = from; k < p->steps; k++) {
        const step *s = &p->step[k];
        for (int a = s->kind == STEP_IN_PLACE; a < s->arguments && !s->removed && s->kind != STEP_FREE; a++) {
            const argument *x = &s->argument[a];
            const int slots = x->kind == WK_VALUE_TENSOR || x->kind == WK_VALUE_TENSORS ? x->count : 0;
            for (int j = 0; j < slots; j++)
                if (x->slot[j] == slot) return true;
        }
    }
    return false;
}

/* Returns true for a write without gradients: shrinking has removed the end of a grad mode. */
static bool is_untracked_write(const program *p, int k)
{
    int open = -1;
    for (int j = 0; j < k; j++) {
        const step *s = &p->step[j];
        if (s->removed) continue;
        if (s->kind == STEP_NO_GRAD && open < 0) open = s->guard;
        if (s->kind == STEP_END && s->guard <= open) open = -1;
    }
    return open >= 0 && p->step[k].kind == STEP_IN_PLACE;
}

/* Returns true if values depend on a leaf without a gradient, as in unique or through a view made without gradients. */
static bool is_cut(const executor *m, const step *s)
{
    if (s->kind != STEP_CALL) return false;
    if (op_entries[s->op].op->view && !is_read(m->program, m->now + 1, s->out)) return false;
    bool wanted = false, goes_on = false;
    for (int k = 0; k < s->arguments; k++) {
        const bool tensor = s->argument[k].kind == WK_VALUE_TENSOR;
        wk_tensor *x = tensor ? m->slot[s->argument[k].slot[0]].tensor : NULL;
        wanted = wanted || (x && wk_requires_grad(x));
    }
    for (int k = 0; k < s->results; k++) {
        wk_tensor *x = m->slot[s->out + k].tensor;
        goes_on = goes_on || (x && wk__is_float(wk_dtype_of(x)) && !wk_requires_grad(x));
    }
    return wanted && goes_on;
}

/* Returns true if the differences are meaningless; called only if they disagree with the gradients. */
static bool is_inconclusive(program *p, executor *m)
{
    bool blurred = false;
    executor_begin(m, p, &mode_sync);
    for (int k = 0; k < p->steps; k++) {
        blurred = blurred || has_tiny_steps(m, &p->step[k]) || is_lost_inside(m, &p->step[k]) ||
                  is_replaced(m, &p->step[k]) || has_parallel_vectors(m, &p->step[k]);
        executor_step(m, k);
        blurred = blurred || is_rounded(m, &p->step[k]) || is_cut(m, &p->step[k]) || is_untracked_write(p, k);
    }
    executor_end(m);
    return blurred;
}

/* Returns true if the loss jumps often within a step (floor of something steep, the remainder by a tiny number): it
 * appears to have a slope, which varies with the step. */
static bool jumps(program *p, executor *m, double nudge, double quotient, double slope)
{
    static const double part[] = {3, 10, 30, 100, 300};
    for (size_t k = 0; k < sizeof part / sizeof *part; k++) {
        const double step = nudge / part[k];
        const double near = (moved_loss(p, m, step) - moved_loss(p, m, -step)) / (2 * step);
        if (!(fabs(near - quotient) <= fabs(quotient - slope) / 4)) return true;
    }
    return false;
}

/* Adds a relative error to every f64 element that the step returns. */
static void add_noise(executor *m, int k, double noise)
{
    WK_SCOPE;
    WK_NO_GRAD;
    const step *s = &m->program->step[k];
    const bool writes = s->kind == STEP_IN_PLACE || (s->kind == STEP_CALL && op_entries[s->op].writes);
    for (int j = 0; j < (writes ? 1 : s->results); j++) {
        wk_tensor *x = m->slot[writes ? s->argument[0].slot[0] : s->out + j].tensor;
        if (x && wk_dtype_of(x) == WK_F64) wk_mul_(x, 1 + (1 + (j + k) % 3) * noise);
    }
    wk_clear_error(); /* unless elements share memory */
}

/* Returns true if the loss depends on the last digits, as of 1 + erf(-5), or of x in log(exp(x)) where exp(x) is 1:
 * these are constant within a step, and so is the loss, although its gradient is correct. */
static bool magnifies_rounding(program *p, executor *m, double here, double difference)
{
    bool does = false;
    for (int sign = -1; sign <= 1; sign += 2) {
        m->forward_only = true;
        executor_begin(m, p, &mode_sync);
        for (int k = 0; k < p->steps; k++) {
            executor_step(m, k);
            add_noise(m, k, sign * 4e-16);
        }
        does = does || !(fabs(loss_of(m, p) - here) <= difference / 4);
        executor_end(m);
        m->forward_only = false;
    }
    return does;
}

bool gradcheck_fails(program *p, executor *m, verdict *v, bool *conclusive)
{
    enum { HALVINGS = 2, STEEP = 1000000 };
    bool nudged[MOST_SLOTS] = {0}, done = false;
    *conclusive = false;
    if (program_loss(p) < 0) return false;
    m->nudged = nudged;
    m->nudge_seed = (uint32_t)p->seed;
    executor_begin(m, p, &mode_sync);
    executor_run_steps(m);
    const double here = loss_of(m, p), slope = expected_change(p, m, nudged, &done);
    executor_end(m);
    if (!backward_ran(p, m) || !isfinite(here) || !(fabs(slope) < STEEP) || !done) return false;
    double nudge = 1e-5, quotient[HALVINGS];
    const double noise = 1e-9 * fmax(1, fabs(here)) / nudge, near = 1e-4 * fmax(1, fabs(slope)) + noise;
    for (int k = 0; k < HALVINGS; k++, nudge /= 2) {
        const double ahead = moved_loss(p, m, nudge), behind = moved_loss(p, m, -nudge);
        /* at a corner of the loss, any value between the slopes on both sides is a valid gradient */
        const double bend = fabs((ahead - here) - (here - behind)) / nudge;
        quotient[k] = (ahead - behind) / (2 * nudge);
        if (k == 0 && fabs(quotient[0] - slope) <= near) {
            *conclusive = true;
            return false;
        }
        if (!(fabs(quotient[k]) < STEEP) || fabs(quotient[k] - slope) <= near + 2 * bend) return false;
    }
    if (fabs(quotient[0] - quotient[1]) > near || jumps(p, m, nudge, quotient[1], slope) || is_inconclusive(p, m) ||
        magnifies_rounding(p, m, here, fabs(quotient[1] - slope) * nudge))
        return false;
    *conclusive = true;
    snprintf(v->text, sizeof v->text, "in a direction the loss changes by %.9g; its gradients predict %.9g",
             quotient[1], slope);
    return true;
}
