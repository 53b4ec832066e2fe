/* Which step comes next; see generate.h. */
#include "generate.h"
#include "ir/number.h"
#include "tensor/tensor.h"
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- steps that stay --------------------------------------------------------------------------------------------- */

step *generate_begin(generator *g, step_kind kind, int results)
{
    step *s = program_add(g->program, kind, results);
    if (s) s->thread = (uint8_t)g->thread;
    return s;
}

/* Numbers that are still of some size: what is infinite or NaN everywhere hides the differences that are looked for. */
static bool is_tame(wk_tensor *x)
{
    enum { MOST_BYTES = 32768 };
    static _Thread_local char bytes[MOST_BYTES];
    const wk__body *body = wk__body_of(x);
    const int64_t n = wk__body_numel(body);
    const size_t width = wk_dtype_size(body->dtype);
    if (tensor_bytes(x) > MOST_BYTES) return n <= 40000;
    machine_read(x, bytes);
    if (!wk__is_float(body->dtype)) return true;
    const double most = body->dtype == WK_F16 ? 1e3 : 1e4;
    for (int64_t k = 0; k < n; k++)
        if (!(fabs(wk__number_as_double(bytes + (size_t)k * width, body->dtype)) <= most)) return false;
    return true;
}

/* Fractions that depend on what has a history, and have none themselves (unique, ...): differences would see what gradients don't. */
static bool is_cut_off(const generator *g, const step *s, const wk_tensor *x)
{
    const wk__body *body = wk__body_of(x);
    bool history = false;
    for (int k = 0; k < s->arguments; k++) {
        const argument *a = &s->argument[k];
        const int count = a->kind == WK_VALUE_TENSOR || a->kind == WK_VALUE_TENSORS ? a->count : 0;
        for (int j = 0; j < count; j++) history = history || generate_body(g, a->slot[j])->requires_grad;
    }
    return history && !body->requires_grad && wk__is_float(body->dtype);
}

/* Lengths near 0 have any slope there. */
static bool is_pointed(const step *s, wk_tensor *x)
{
    static const char *const lengths[] = {"std", "norm", "dist", "sqrt", "cosine_similarity", NULL};
    for (int k = 0; lengths[k]; k++)
        if (s->kind == STEP_CALL && strcmp(rows[s->op].op->name, lengths[k]) == 0)
            for (int64_t e = 0; e < wk__body_numel(wk__body_of(x)); e++)
                if (fabs(machine_number(x, e)) < 1e-5) return true;
    return false;
}

static bool is_sane(generator *g, const step *s)
{
    if (s->kind != STEP_CALL && s->kind != STEP_FUNCTION) return true;
    if (g->machine->faulty) return false;
    for (int k = 0; k < s->results && k < g->machine->given; k++) {
        wk_tensor *x = g->machine->slot[s->out + k].tensor;
        if (x && !is_tame(x)) return draw_percent(&g->draw, 3);
        if (x && g->program->differences && (is_cut_off(g, s, x) || is_pointed(s, x))) return false;
    }
    return true;
}

static void drop(generator *g, step *s)
{
    for (int k = 0; k < s->results; k++) {
        slot *x = &g->machine->slot[s->out + k];
        if (x->tensor) wk_free_at((wk_site){0}, x->tensor);
        memset(x, 0, sizeof *x);
    }
    wk_sync(); /* or the next call would be told of its failure */
    wk_clear_error();
    g->program->slots = s->out;
    g->program->steps--;
}

/* A refusal is a part of some programs: the same call must fail in each mode. A failure without a reason stays: it is a fault. What an
 * index refuses comes at the call or later, as its numbers are known. */
static bool may_fail(generator *g, wk_code code)
{
    return code == WK_ERR_INTERNAL || (code != WK_ERR_INDEX && draw_percent(&g->draw, 3));
}

/* A walk of the graph that fails on its way has brought some gradients and let go of what it passed. */
static bool leaves_traces(const step *s)
{
    return s->kind == STEP_BACKWARD || s->kind == STEP_DIFFERENTIATE;
}

bool generate_end(generator *g)
{
    program *p = g->program;
    step *s = &p->step[p->steps - 1];
    const size_t notes = g->machine->used;
    const bool done = machine_step(g->machine, p->steps - 1);
    const wk_code code = g->machine->code;
    if (!done || (code != WK_OK ? !leaves_traces(s) && !may_fail(g, code) : !is_sane(g, s))) {
        drop(g, s);
        g->machine->used = notes;
        g->machine->faulty = false;
        return false;
    }
    if (s->results > g->machine->given) {
        s->results = (uint8_t)(g->machine->given > 0 ? g->machine->given : 0);
        p->slots = s->out + s->results;
    }
    return code == WK_OK;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *group;
    int weight; /* of each of its rows */
} weights[] = {{"pointwise", 10}, {"view", 14},  {"reduction", 9},  {"matmul", 14}, {"joining", 9},      {"copy", 14},
               {"indexing", 6},   {"logic", 7},  {"comparison", 5}, {"sort", 5},    {"softmax", 10},     {"scan", 10},
               {"creation", 1},   {"random", 2}, {"activation", 4}, {"loss", 2},    {"normalisation", 5}};

static int weight_of(const row *r)
{
    static const char *const most[] = {"add", "sub", "mul", "sum", "matmul", "narrow", "slice", "select", NULL};
    for (int k = 0; most[k]; k++)
        if (strcmp(r->op->name, most[k]) == 0) return 35;
    for (size_t k = 0; k < sizeof weights / sizeof *weights; k++)
        if (strcmp(weights[k].group, r->op->group) == 0) return weights[k].weight;
    return 4;
}

static const row *pick_row(generator *g)
{
    static int *sum;
    if (!sum) {
        int *filled = calloc((size_t)row_count, sizeof *filled);
        for (int k = 0; k < row_count; k++) filled[k] = (k ? filled[k - 1] : 0) + weight_of(&rows[k]);
        sum = filled;
    }
    const int at = draw_below(&g->draw, sum[row_count - 1]);
    int k = 0;
    while (sum[k] <= at) k++;
    return &rows[k];
}

/* Appends the call that *s describes; false when it is not there any more. */
static bool add_call(generator *g, step_kind kind, const row *r, step *s)
{
    step *added = generate_begin(g, kind, kind == STEP_CALL && !r->writes ? MOST_RESULTS : 0);
    if (!added) return false;
    s->kind = added->kind;
    s->thread = added->thread;
    s->out = added->out;
    s->results = added->results;
    s->op = (int16_t)(r - rows);
    s->seed = (uint32_t)draw_bits(&g->draw) & 0xffff;
    *added = *s;
    return generate_end(g);
}

static void call(generator *g)
{
    const row *r = pick_row(g);
    /* beside the elements of a view it has no gradient, as PyTorch's */
    if (g->program->differences && strcmp(r->op->name, "as_strided") == 0) return;
    step s = {.kind = STEP_CALL};
    const bool sampled = draw_percent(&g->draw, r->tensors > 2 ? 60 : r->parameters > 2 && !r->view ? 15 : 4);
    if (sampled ? !generate_sample(g, r, &s) : !generate_operands(g, r, &s)) return;
    if (!sampled) generate_arguments(g, r, &s);
    add_call(g, STEP_CALL, r, &s);
}

/* ---- in place ---------------------------------------------------------------------------------------------------- */

static bool may_be_written(const wk__body *body)
{
    return !wk__body_overlaps(body) && !(body->requires_grad && !body->node);
}

static int pick_target(generator *g, unsigned dtypes)
{
    int best = -1;
    for (int tries = 0; tries < 5; tries++) {
        const int x = generate_pick(g, dtypes, 0);
        if (x < 0) return -1;
        if (!may_be_written(generate_body(g, x)) && !draw_percent(&g->draw, 4)) continue;
        best = x;
        if (generate_body(g, x)->is_view || draw_percent(&g->draw, 50)) break;
    }
    return best;
}

/* An operand of an in-place call: of the target's shape or less; now and then the target itself, or a view of it. */
static bool in_place_operand(generator *g, const row *r, int k, int target, argument *a)
{
    const wk__body *body = generate_body(g, target);
    const bool condition = r->op->conditions >> k & 1 && !r->parameter[k].number;
    const unsigned dtypes = condition ? WK__BOOLS : 1u << body->dtype;
    if (!condition && draw_percent(&g->draw, 15)) {
        int found = -1, seen = 0;
        for (int j = 0; j < g->program->slots; j++) {
            const slot *x = &g->machine->slot[j];
            if (!x->tensor || generate_body(g, j)->storage != body->storage || generate_body(g, j)->ndim > body->ndim)
                continue;
            if (draw_below(&g->draw, ++seen) == 0) found = j;
        }
        *a = argument_slot(found >= 0 ? found : target);
        return true;
    }
    if (r->parameter[k].number && draw_percent(&g->draw, 35)) {
        *a = draw_percent(&g->draw, 50) ? argument_int(draw_from(&g->draw, -1, 3)) : argument_float(0.6);
        return true;
    }
    int64_t shape[WK__MAX_DIMS];
    const int from = draw_percent(&g->draw, 70) ? 0 : draw_below(&g->draw, body->ndim + 1), ndim = body->ndim - from;
    for (int d = 0; d < ndim; d++) shape[d] = draw_percent(&g->draw, 12) ? 1 : body->shape[from + d];
    const int x = generate_operand(g, dtypes, ndim, shape);
    if (x >= 0) *a = argument_slot(x);
    return x >= 0;
}

static void in_place(generator *g)
{
    const row *r = NULL;
    for (int tries = 0; tries < 30; tries++) {
        r = pick_row(g);
        if (row_in_place(r) || r->writes) break;
    }
    if (!row_in_place(r) && !r->writes) return;
    const unsigned domain = r->op->domain ? r->op->domain : ANY_DTYPE;
    const int target = pick_target(g, domain);
    if (target < 0) return;
    step s = {.arguments = (uint8_t)r->parameters};
    if (r->tensors > 1 && !r->pointwise && strcmp(r->op->name, "copy_") != 0) return; /* scatter_add_ comes by the op */
    s.argument[0] = argument_slot(target);
    for (int k = 1; k < r->parameters; k++)
        if (r->parameter[k].type == TYPE_TENSOR && (!r->parameter[k].optional || draw_percent(&g->draw, 50)) &&
            !in_place_operand(g, r, k, target, &s.argument[k]))
            return;
    generate_arguments(g, r, &s);
    add_call(g, row_in_place(r) ? STEP_IN_PLACE : STEP_CALL, r, &s);
}

/* ---- owners, reading, the graph ---------------------------------------------------------------------------------- */

static void of_slot(generator *g, step_kind kind, unsigned dtypes, int results, int how)
{
    const int x = generate_pick(g, dtypes, 0);
    step *s = x >= 0 ? generate_begin(g, kind, results) : NULL;
    if (!s) return;
    s->how = (uint8_t)how;
    s->dtype = generate_body(g, x)->dtype;
    s->arguments = 1;
    s->argument[0] = argument_slot(x);
    if (kind == STEP_CARRY || kind == STEP_DIFFERENTIATE) {
        const int y = generate_pick(g, dtypes, 0);
        s->argument[s->arguments++] = argument_slot(y);
    }
    if (kind == STEP_POKE) s->argument[s->arguments++] = argument_float(draw_from(&g->draw, 1, 3));
    if (kind == STEP_REQUIRE) s->argument[s->arguments++] = argument_int(draw_below(&g->draw, 2));
    generate_end(g);
}

static void open_guard(generator *g, step_kind kind)
{
    step *s = generate_begin(g, kind, 0);
    if (!s) return;
    s->guard = (int16_t)g->program->guards++;
    generate_end(g);
}

static void close_guard(generator *g, bool all)
{
    const int count = g->machine->thread[g->thread].count;
    if (count < 2) return;
    step *s = generate_begin(g, STEP_END, 0);
    if (!s) return;
    s->guard = g->machine->thread[g->thread].guard[all ? 1 : count - 1].number;
    generate_end(g);
}

static void plain(generator *g, step_kind kind)
{
    if (generate_begin(g, kind, 0)) generate_end(g);
}

static void owners(generator *g)
{
    const int what = draw_below(&g->draw, 100);
    if (what < 25)
        open_guard(g, STEP_SCOPE);
    else if (what < 40)
        close_guard(g, false);
    else if (what < 65)
        of_slot(g, STEP_KEEP, ANY_DTYPE, 0, 0);
    else if (what < 75)
        of_slot(g, STEP_CARRY, ANY_DTYPE, 0, 0);
    else if (what < 85)
        of_slot(g, STEP_RETAIN, ANY_DTYPE, 0, 0);
    else
        of_slot(g, STEP_FREE, ANY_DTYPE, 0, 0);
}

static void host(generator *g)
{
    const int what = draw_below(&g->draw, 100);
    if (what < 50)
        of_slot(g, STEP_READ, ANY_DTYPE, 0, 0);
    else if (what < 72)
        plain(g, STEP_SYNC);
    else if (what < 85)
        plain(g, STEP_FLUSH);
    else if (what < 93 || g->program->differences)
        of_slot(g, STEP_PIN, ANY_DTYPE, 0, 0);
    else
        of_slot(g, STEP_POKE, ANY_DTYPE, 0, 0);
}

static int with_history(generator *g, bool one_element)
{
    int found = -1, seen = 0;
    for (int k = 0; k < g->program->slots; k++) {
        if (!g->machine->slot[k].tensor) continue;
        const wk__body *body = generate_body(g, k);
        if (body->requires_grad && (!one_element || wk__body_numel(body) == 1) && draw_below(&g->draw, ++seen) == 0)
            found = k;
    }
    return found;
}

static void backward(generator *g)
{
    int x = with_history(g, draw_percent(&g->draw, 60)), seed = -1;
    if (x < 0) x = with_history(g, false);
    if (x < 0) return;
    const wk__body *body = generate_body(g, x);
    if (wk__body_numel(body) != 1) {
        if (draw_percent(&g->draw, 50)) {
            const argument none[MOST_ARGUMENTS] = {{0}};
            x = generate_view(g, "sum", x, 3, none);
            if (x < 0) return;
        } else {
            seed = generate_operand(g, 1u << body->dtype, body->ndim, body->shape);
            if (seed < 0) return;
        }
    }
    step *s = generate_begin(g, STEP_BACKWARD, 0);
    if (!s) return;
    s->how = (uint8_t)(draw_percent(&g->draw, 40) ? GRAPH_RETAIN : draw_percent(&g->draw, 15) ? GRAPH_CREATE : 0);
    s->arguments = 1;
    s->argument[0] = argument_slot(x);
    if (seed >= 0) s->argument[s->arguments++] = argument_slot(seed);
    generate_end(g);
}

/* The gradient of a number for something that it depends on, as a tensor of the program. */
static void differentiate(generator *g)
{
    const argument none[MOST_ARGUMENTS] = {{0}};
    int x = with_history(g, true), y = with_history(g, false);
    if (x < 0 && y >= 0) x = generate_view(g, "sum", with_history(g, false), 3, none);
    if (x < 0 || y < 0) return;
    step *s = generate_begin(g, STEP_DIFFERENTIATE, 1);
    if (!s) return;
    s->how = g->program->differences || draw_percent(&g->draw, 60) ? GRAPH_CREATE : GRAPH_RETAIN;
    s->arguments = 2;
    s->argument[0] = argument_slot(x);
    s->argument[1] = argument_slot(y);
    generate_end(g);
}

static void function(generator *g)
{
    const int how = draw_below(&g->draw, FUNCTIONS), x = generate_pick(g, WK__FLOATS, 0);
    if (x < 0) return;
    const wk__body *body = generate_body(g, x);
    const int y = how == FUNCTION_SAVES_RESULT ? x : generate_operand(g, 1u << body->dtype, body->ndim, body->shape);
    step *s = y >= 0 ? generate_begin(g, STEP_FUNCTION, how == FUNCTION_TWO_RESULTS ? 2 : 1) : NULL;
    if (!s) return;
    s->how = (uint8_t)how;
    s->arguments = how == FUNCTION_SAVES_RESULT ? 1 : 2;
    s->argument[0] = argument_slot(x);
    s->argument[1] = argument_slot(y);
    generate_end(g);
}

static void graph(generator *g)
{
    const bool checked = g->program->differences;
    const int what = draw_below(&g->draw, 100);
    if (what < 24)
        function(g);
    else if (what < 36)
        differentiate(g);
    else if (what < 46)
        of_slot(g, STEP_HOOK, WK__FLOATS, 0, checked ? HOOK_LOOKS : draw_below(&g->draw, HOOKS));
    else if (checked)
        call(g);
    else if (what < 70)
        backward(g);
    else if (what < 78)
        of_slot(g, STEP_GRAD_OF, WK__FLOATS, 1, 0);
    else if (what < 86)
        of_slot(g, STEP_DETACH, ANY_DTYPE, 1, 0);
    else if (what < 95)
        open_guard(g, STEP_NO_GRAD);
    else
        of_slot(g, STEP_REQUIRE, WK__FLOATS, 0, 0);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static void make(generator *g)
{
    int ndim;
    int64_t shape[WK__MAX_DIMS];
    generate_shape(g, &ndim, shape);
    const wk_dtype dtype =
        g->mixed && draw_percent(&g->draw, 50) ? (wk_dtype)draw_from(&g->draw, WK_F32, WK_DTYPE_COUNT - 1) : g->dtype;
    generate_make(g, dtype, ndim, shape, 0, 0);
}

/* Another thread goes on, with some of what this one has: that is retained first. */
static void hand_over(generator *g)
{
    for (int k = draw_from(&g->draw, 1, 3); k > 0; k--) of_slot(g, STEP_RETAIN, ANY_DTYPE, 0, 0);
    g->thread = draw_below(&g->draw, g->program->threads);
}

static void one(generator *g)
{
    if (g->program->threads > 1 && draw_percent(&g->draw, 12)) hand_over(g);
    const int what = draw_below(&g->draw, 100);
    if (what < 3)
        make(g);
    else if (what < 20)
        in_place(g);
    else if (what < 27)
        owners(g);
    else if (what < 31)
        host(g);
    else if (what < 39 && g->grads)
        graph(g);
    else if (what < 41)
        close_guard(g, draw_percent(&g->draw, 10));
    else
        call(g);
}

/* All that has a history, each with a factor of its own, added up to a number. */
static void add_loss(generator *g)
{
    static const double factors[] = {1.5, -0.7, 2.25, 0.4, 1.1, -1.3};
    int total = -1, terms = 0;
    const argument none[MOST_ARGUMENTS] = {{0}};
    for (int k = g->program->slots; k-- > 0 && terms < 6;) {
        if (!g->machine->slot[k].tensor) continue;
        const wk__body *body = generate_body(g, k);
        if (!body->requires_grad || body->dtype != WK_F64 || draw_percent(&g->draw, 25)) continue;
        const argument factor[] = {argument_float(factors[terms++])};
        int x = generate_view(g, "mul", k, 1, factor);
        if (x >= 0) x = generate_view(g, "sum", x, 3, none);
        if (x < 0) continue;
        const argument other[] = {argument_slot(x)};
        total = total < 0 ? x : generate_view(g, "add", total, 1, other);
        if (total < 0) return;
    }
    step *s = total >= 0 ? generate_begin(g, STEP_BACKWARD, 0) : NULL;
    if (!s) return;
    s->arguments = 1;
    s->argument[0] = argument_slot(total);
    generate_end(g);
}

static wk_dtype main_dtype(generator *g)
{
    static const uint8_t share[] = {[WK_F32] = 45, [WK_F64] = 65, [WK_F16] = 70, [WK_BF16] = 75, [WK_I8] = 78,
                                    [WK_U8] = 81,  [WK_I16] = 84, [WK_I32] = 90, [WK_I64] = 96,  [WK_BOOL] = 100};
    const int at = draw_below(&g->draw, 100);
    wk_dtype dtype = WK_F32;
    while (share[dtype] <= at) dtype++;
    return dtype;
}

static void decide(generator *g)
{
    draw *d = &g->draw;
    program *p = g->program;
    p->differences = draw_percent(d, 25);
    g->dtype = p->differences ? WK_F64 : main_dtype(g);
    g->grads = p->differences || (wk__is_float(g->dtype) && draw_percent(d, 60));
    g->mixed = !p->differences && draw_percent(d, 45);
    g->big = draw_percent(d, 6) && !p->differences ? 30 : 0;
    g->sizes = draw_from(d, 2, 3);
    for (int k = 0; k < g->sizes; k++) g->size[k] = draw_percent(d, 75) ? draw_from(d, 2, 4) : draw_from(d, 1, 6);
    g->calls = draw_from(d, 14, 42);
    p->threads = draw_percent(d, 6) ? draw_from(d, 2, MOST_THREADS) : 1;
    p->order = draw_percent(d, 60) ? (uint32_t)draw_bits(d) : 0;
}

void generate(program *p, machine *m, const mode *mode, uint64_t seed)
{
    generator g = {.draw = {seed}, .program = p, .machine = m};
    memset(p, 0, offsetof(program, step));
    p->seed = seed;
    decide(&g);
    machine_begin(m, p, mode);
    for (int k = draw_from(&g.draw, 1, 3); k > 0; k--) make(&g);
    /* room for the end; and an end, should most calls be refused */
    for (int turns = 0; turns < 4 * MOST_STEPS && p->steps < MOST_STEPS - 40 && p->slots < MOST_SLOTS - 60; turns++) {
        if (program_calls(p) >= g.calls) break;
        one(&g);
    }
    if (p->differences)
        add_loss(&g);
    else if (g.grads && draw_percent(&g.draw, 75))
        backward(&g);
    machine_look(m);
    machine_end(m);
}
