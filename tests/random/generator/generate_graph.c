/* SPDX-License-Identifier: Apache-2.0 */
/* Steps other than calls of ops: owners, reads, gradients; see generate.h. */
#include "generate.h"
#include "program_lib.h"
#include "tensor/tensor.h"

/* ---- owners ------------------------------------------------------------------------------------------------------ */

void generate_of_slot(generator *g, step_kind kind, unsigned dtypes, int results, int how)
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
    if (kind == STEP_HOST_WRITE) s->argument[s->arguments++] = argument_float(rng_range(&g->draw, 1, 3));
    if (kind == STEP_REQUIRE) s->argument[s->arguments++] = argument_int(rng_below(&g->draw, 2));
    generate_end(g);
}

bool generate_on(generator *g, step_kind kind, int slot)
{
    step *s = generate_begin(g, kind, 0);
    if (!s) return false;
    s->arguments = 1;
    s->argument[0] = argument_slot(slot);
    return generate_end(g);
}

void open_guard(generator *g, step_kind kind)
{
    step *s = generate_begin(g, kind, 0);
    if (!s) return;
    s->guard = (int16_t)g->program->guards++;
    generate_end(g);
}

void generate_close(generator *g, bool all)
{
    const int count = g->machine->thread[g->thread].count;
    if (count < 2) return;
    step *s = generate_begin(g, STEP_END, 0);
    if (!s) return;
    s->guard = g->machine->thread[g->thread].guard[all ? 1 : count - 1].number;
    generate_end(g);
}

void generate_plain(generator *g, step_kind kind)
{
    if (generate_begin(g, kind, 0)) generate_end(g);
}

void generate_owner(generator *g)
{
    const int what = rng_below(&g->draw, 100);
    if (what < 25)
        open_guard(g, STEP_SCOPE);
    else if (what < 40)
        generate_close(g, false);
    else if (what < 65)
        generate_of_slot(g, STEP_KEEP, ANY_DTYPE, 0, 0);
    else if (what < 75)
        generate_of_slot(g, STEP_CARRY, ANY_DTYPE, 0, 0);
    else if (what < 85)
        generate_of_slot(g, STEP_RETAIN, ANY_DTYPE, 0, 0);
    else
        generate_of_slot(g, STEP_FREE, ANY_DTYPE, 0, 0);
}

void generate_host(generator *g)
{
    const int what = rng_below(&g->draw, 100);
    if (what < 50)
        generate_of_slot(g, STEP_READ, ANY_DTYPE, 0, 0);
    else if (what < 72)
        generate_plain(g, STEP_SYNC);
    else if (what < 85)
        generate_plain(g, STEP_FLUSH);
    else if (what < 93 || g->program->gradcheck || g->program->concurrent)
        generate_of_slot(g, STEP_TAKE_ADDRESS, ANY_DTYPE, 0, 0);
    else
        generate_of_slot(g, STEP_HOST_WRITE, ANY_DTYPE, 0, rng_percent(&g->draw, 40) ? POKE_DLPACK : POKE_ADDRESS);
}

static int with_history(generator *g, bool one_element)
{
    int found = -1, seen = 0;
    for (int k = 0; k < g->program->slots; k++) {
        if (!g->machine->slot[k].tensor) continue;
        const wk__body *body = generate_body(g, k);
        if (body->requires_grad && (!one_element || wk__body_numel(body) == 1) && rng_below(&g->draw, ++seen) == 0)
            found = k;
    }
    return found;
}

void generate_backward(generator *g)
{
    int x = with_history(g, rng_percent(&g->draw, 60)), seed = -1;
    if (x < 0) x = with_history(g, false);
    if (x < 0) return;
    const wk__body *body = generate_body(g, x);
    if (wk__body_numel(body) != 1) {
        if (rng_percent(&g->draw, 50)) {
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
    s->how = (uint8_t)(rng_percent(&g->draw, 40) ? GRAPH_RETAIN : rng_percent(&g->draw, 15) ? GRAPH_CREATE : 0);
    s->arguments = 1;
    s->argument[0] = argument_slot(x);
    if (seed >= 0) s->argument[s->arguments++] = argument_slot(seed);
    generate_end(g);
}

/* Adds wk_grad of a scalar for a tensor on which it depends. */
static void differentiate(generator *g)
{
    const argument none[MOST_ARGUMENTS] = {{0}};
    int x = with_history(g, true), y = with_history(g, false);
    if (x < 0 && y >= 0) x = generate_view(g, "sum", with_history(g, false), 3, none);
    if (x < 0 || y < 0) return;
    step *s = generate_begin(g, STEP_DIFFERENTIATE, 1);
    if (!s) return;
    s->how = g->program->gradcheck || rng_percent(&g->draw, 60) ? GRAPH_CREATE : GRAPH_RETAIN;
    s->arguments = 2;
    s->argument[0] = argument_slot(x);
    s->argument[1] = argument_slot(y);
    generate_end(g);
}

static void function(generator *g)
{
    const int how = rng_below(&g->draw, FUNCTIONS), x = generate_pick(g, WK__FLOATS, 0);
    if (x < 0) return;
    const wk__body *body = generate_body(g, x);
    const wk_function_kind *kind = &part_functions[how];
    const int y = kind->inputs < 2 ? x : generate_operand(g, 1u << body->dtype, body->ndim, body->shape);
    step *s = y >= 0 ? generate_begin(g, STEP_FUNCTION, kind->outputs) : NULL;
    if (!s) return;
    s->how = (uint8_t)how;
    s->arguments = (uint8_t)kind->inputs;
    s->argument[0] = argument_slot(x);
    s->argument[1] = argument_slot(y);
    generate_end(g);
}

/* Adds steps of an optimiser on some of the leaves. */
static void optimise(generator *g)
{
    int leaf[MOST_SLOTS], count = 0;
    for (int k = 0; k < g->program->slots; k++) {
        const slot *x = &g->machine->slot[k];
        if (x->leaf && x->tensor && (x->thread == g->thread || x->retains)) leaf[count++] = k;
    }
    step *s = count ? generate_begin(g, STEP_OPTIMISE, 0) : NULL;
    if (!s) return;
    s->how = (uint8_t)rng_below(&g->draw, OPTIMS);
    s->arguments = 2;
    s->argument[0] = argument_slot(0);
    s->argument[0].kind = WK_VALUE_TENSORS;
    s->argument[0].count = (uint8_t)rng_range(&g->draw, 1, count < 3 ? count : 3);
    const int first = rng_below(&g->draw, count);
    for (int k = 0; k < s->argument[0].count; k++) s->argument[0].slot[k] = (int16_t)leaf[(first + k) % count];
    s->argument[1] = argument_int(rng_range(&g->draw, 1, 2));
    generate_end(g);
}

/* Writes with gradients to a view that was created without: rejected, and the base must keep its values and gradients.
 * The view is freed immediately, because it is a constant for gradients but not for difference quotients. */
static void write_no_grad_view(generator *g)
{
    const argument first = argument_int(0), two = argument_int(2);
    const int x = with_history(g, false);
    if (x < 0) return;
    open_guard(g, STEP_NO_GRAD);
    const int v = generate_view(g, "unsqueeze", x, 1, &first);
    generate_close(g, false);
    if (v < 0) return;
    generate_in_place_of(g, "mul", v, &two);
    generate_on(g, STEP_FREE, v);
}

void generate_graph(generator *g)
{
    const bool checked = g->program->gradcheck, at_once = g->program->concurrent;
    const int what = rng_below(&g->draw, 100);
    if (what < 24 && !at_once) /* its saved tensors are not visible as accesses */
        function(g);
    else if (what < 36)
        differentiate(g);
    else if (what < 46)
        generate_of_slot(g, STEP_HOOK, WK__FLOATS, 0,
                         checked ? HOOK_LOOKS : rng_below(&g->draw, at_once ? HOOK_READS : HOOKS));
    else if (what < 50 && !at_once)
        write_no_grad_view(g);
    else if (checked)
        generate_call(g);
    else if (what < 70)
        generate_backward(g);
    else if (what < 75 && !at_once) /* it writes gradients, which are not among its arguments */
        optimise(g);
    else if (what < 78)
        generate_of_slot(g, STEP_GRAD_OF, WK__FLOATS, 1, 0);
    else if (what < 86)
        generate_of_slot(g, STEP_DETACH, ANY_DTYPE, 1, 0);
    else if (what < 95 || at_once)
        open_guard(g, STEP_NO_GRAD);
    else
        generate_of_slot(g, STEP_REQUIRE, WK__FLOATS, 0, 0);
}
