/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the next step; see generate.h. */
#include "generate.h"
#include "workers.h"
#include "tensor/tensor.h"
#include <stddef.h>
#include <string.h>

static void make(generator *g)
{
    int ndim;
    int64_t shape[WK__MAX_DIMS];
    generate_shape(g, &ndim, shape);
    const wk_dtype dtype =
        g->mixed && rng_percent(&g->draw, 50) ? (wk_dtype)rng_range(&g->draw, WK_F32, WK_DTYPE_COUNT - 1) : g->dtype;
    generate_make(g, dtype, ndim, shape, 0, 0);
}

static void go_on(void *user)
{
    (void)user;
}

/* Ends this thread, with pending work, and replaces it. */
static void end_thread(generator *g)
{
    if (generate_begin(g, STEP_THREAD_RESTART, 0) && generate_end(g))
        executor_restart_thread(g->machine, g->thread, go_on, NULL);
}

/* Hands a view to another thread; while that uses it, this thread frees the base. */
static void hand_over_view(generator *g)
{
    const int base = generate_pick(g, ANY_DTYPE, 1);
    if (base < 0 || g->machine->slot[base].thread != g->thread) return;
    const argument all[] = {argument_int(0), argument_int(0), argument_int(generate_body(g, base)->shape[0])};
    const int view = generate_view(g, "narrow", base, 3, all);
    if (view < 0 || !generate_on(g, STEP_RETAIN, view)) return;
    g->view = view;
    g->base = base;
    g->owner = g->thread;
}

/* The steps that follow: of the view's thread, then of the base's. */
static void use_view(generator *g)
{
    const int view = g->view, base = g->base;
    const bool owner = g->thread == g->owner;
    if (view >= 0 && !owner) {
        g->view = -1;
        if (g->machine->slot[view].tensor) generate_use(g, view); /* its owner may have ended */
    }
    if (view < 0 && base >= 0 && owner) {
        g->base = -1;
        if (g->machine->slot[base].tensor) generate_on(g, STEP_FREE, base);
    }
}

/* Switches to another thread and hands it some tensors, which are retained first. */
static void hand_over(generator *g)
{
    if (g->view < 0 && g->base >= 0) {
        g->thread = g->owner;
        return;
    }
    if (rng_percent(&g->draw, 30)) hand_over_view(g);
    for (int k = rng_range(&g->draw, 1, 3); k > 0; k--) generate_of_slot(g, STEP_RETAIN, ANY_DTYPE, 0, 0);
    if (g->thread > 0 && rng_percent(&g->draw, 25)) end_thread(g);
    g->thread = rng_below(&g->draw, g->program->threads);
}

static void one(generator *g)
{
    const int what = rng_below(&g->draw, 100);
    if (what < 3)
        make(g);
    else if (what < 20)
        generate_in_place(g);
    else if (what < 27)
        generate_owner(g);
    else if (what < 31)
        generate_host(g);
    else if (what < 39 && g->grads)
        generate_graph(g);
    else if (what < 41)
        generate_close(g, rng_percent(&g->draw, 10));
    else if (what < 43)
        generate_factor(g);
    else
        generate_call(g);
}

/* Sums all tensors that require grad, each with a different factor, to a scalar. */
static void add_loss(generator *g)
{
    static const double factors[] = {1.5, -0.7, 2.25, 0.4, 1.1, -1.3};
    int total = -1, terms = 0;
    const argument none[MOST_ARGUMENTS] = {{0}};
    for (int k = g->program->slots; k-- > 0 && terms < 6;) {
        if (!g->machine->slot[k].tensor) continue;
        const wk__body *body = generate_body(g, k);
        if (!body->requires_grad || body->dtype != WK_F64 || rng_percent(&g->draw, 25)) continue;
        const argument factor[] = {argument_float(factors[terms++])};
        int x = generate_view(g, "mul", k, 1, factor);
        if (x >= 0) x = generate_view(g, "sum", x, 3, none);
        if (x < 0) continue;
        const argument other[] = {argument_slot(x)};
        total = total < 0 ? x : generate_view(g, "add", total, 1, other);
        if (total < 0) return;
    }
    if (total >= 0) generate_on(g, STEP_BACKWARD, total);
}

static wk_dtype main_dtype(generator *g)
{
    static const uint8_t share[] = {[WK_F32] = 45, [WK_F64] = 65, [WK_F16] = 70, [WK_BF16] = 75, [WK_I8] = 78,
                                    [WK_U8] = 81,  [WK_I16] = 84, [WK_I32] = 90, [WK_I64] = 96,  [WK_BOOL] = 100};
    const int at = rng_below(&g->draw, 100);
    wk_dtype dtype = WK_F32;
    while (share[dtype] <= at) dtype++;
    return dtype;
}

static void decide(generator *g)
{
    rng *d = &g->draw;
    program *p = g->program;
    p->gradcheck = rng_percent(d, 25);
    g->dtype = p->gradcheck ? WK_F64 : main_dtype(g);
    g->grads = p->gradcheck || (wk__is_float(g->dtype) && rng_percent(d, 60));
    g->mixed = !p->gradcheck && rng_percent(d, 45);
    g->big = rng_percent(d, 6) && !p->gradcheck ? 30 : 0;
    g->sizes = rng_range(d, 2, 3);
    for (int k = 0; k < g->sizes; k++) g->size[k] = rng_percent(d, 75) ? rng_range(d, 2, 4) : rng_range(d, 1, 6);
    g->calls = rng_range(d, 14, 42);
    p->threads = rng_percent(d, 8) ? rng_range(d, 2, MOST_THREADS) : 1;
    p->concurrent = p->threads > 1 && !p->gradcheck && (!g->grads || rng_percent(d, 70));
    p->order = rng_percent(d, 60) ? (uint32_t)rng_bits(d) : 0;
}

/* Returns true if there is room for the final steps and the limit of rejected calls has not been reached. */
static bool has_room(const generator *g)
{
    const program *p = g->program;
    return g->tries_left > 0 && p->steps < MOST_STEPS - 40 && p->slots < MOST_SLOTS - 60 && program_calls(p) < g->calls;
}

/* Runs in the thread of the steps, to avoid a hand-over per step. */
static void until_handed_over(void *user)
{
    generator *g = user;
    use_view(g);
    while (has_room(g)) {
        if (g->large)
            generate_large_step(g);
        else
            one(g);
        g->tries_left--;
        if (g->program->threads == 1 || !rng_percent(&g->draw, g->large ? 25 : 12)) continue;
        hand_over(g);
        return;
    }
}

static void finish_program(void *user)
{
    generator *g = user;
    if (g->program->gradcheck)
        add_loss(g);
    else if (g->grads && rng_percent(&g->draw, 75))
        generate_backward(g);
}

static void grow(program *p, executor *m, const mode *mode, uint64_t seed, void (*decide)(generator *g))
{
    generator g = {.draw = {seed}, .program = p, .machine = m, .view = -1, .base = -1};
    memset(p, 0, offsetof(program, step));
    p->seed = seed;
    decide(&g);
    executor_begin(m, p, mode);
    for (int k = rng_range(&g.draw, 1, 3); k > 0 && !g.large; k--) make(&g);
    for (g.tries_left = 4 * MOST_STEPS; has_room(&g);) workers_run(g.thread, until_handed_over, &g);
    workers_run(g.thread, finish_program, &g);
    executor_observe_end(m);
    executor_end(m);
}

void generate(program *p, executor *m, const mode *mode, uint64_t seed)
{
    grow(p, m, mode, seed, decide);
}

void generate_large(program *p, executor *m, const mode *mode, uint64_t seed)
{
    grow(p, m, mode, seed, generate_decide_large);
}
