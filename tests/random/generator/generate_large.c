/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of programs with tensors larger than 2 MB, which on CUDA are pieces of ranges, reuse memory of earlier ones,
 * and are uploaded in a separate stream. The memory that steps access, and their order, matter here; so there are few
 * ops, which need few kernels, and most of them access a small part of a large tensor. Half of the programs use two
 * cards and copy between them. See generate.h. */
#include "generate.h"
#include "tensor/tensor.h"
#include <limits.h>

enum { MB = 1 << 20, MOST_PART = 1500 /* elements of a part of a large tensor that is accessed alone */ };

/* Draws the bytes of a tensor: a piece with a remainder, complete units, or the largest size that is not in a range;
 * small tensors are in blocks, and are uploaded in the compute stream. */
static int64_t drawn_bytes(rng *d)
{
    const int what = rng_below(d, 100);
    if (what < 45) return 2 * MB + 8 * rng_range(d, 1, 4000);
    if (what < 60) return (int64_t)rng_range(d, 2, 5) * 2 * MB;
    if (what < 85) return 4 * MB + 8 * rng_range(d, 1, MB / 2);
    if (what < 92) return 2 * MB;
    return 8 * rng_range(d, 1, 4000);
}

void generate_decide_large(generator *g)
{
    rng *d = &g->draw;
    program *p = g->program;
    g->large = true;
    g->cards = rng_percent(d, 50) ? 2 : 1;
    g->dtype = rng_percent(d, 60) ? WK_F64 : WK_I64; /* wide dtypes, for fewer elements per byte */
    g->sizes = rng_range(d, 2, 4);
    for (int k = 0; k < g->sizes; k++) g->size[k] = (int)(drawn_bytes(d) / (int64_t)wk_dtype_size(g->dtype));
    g->elements = 5 * MB / 2;
    g->calls = rng_range(d, 8, 18);
    p->threads = rng_percent(d, 50) ? rng_range(d, 2, 3) : 1;
    p->concurrent = p->threads > 1;
    p->exact = true;
    p->order = rng_percent(d, 60) ? (uint32_t)rng_bits(d) : 0;
}

static int64_t length_of(const generator *g, int slot)
{
    return wk__body_numel(generate_body(g, slot));
}

static int drawn_card(generator *g)
{
    return g->cards > 1 && rng_percent(&g->draw, 40) ? CARD_SECOND : CARD_FIRST;
}

static void make(generator *g)
{
    g->card = drawn_card(g);
    const int64_t shape[] = {g->size[rng_below(&g->draw, g->sizes)]};
    generate_make(g, g->dtype, 1, shape, 0, 0);
}

/* Adds a view of up to `most` elements with random begin and end; returns its slot, or -1. */
static int part_of(generator *g, int64_t most)
{
    const int x = generate_pick(g, 1u << g->dtype, 1);
    if (x < 0) return -1;
    const int64_t have = length_of(g, x), longest = have < most ? have : most;
    const int64_t length = rng_range(&g->draw, 1, (int)longest);
    const argument part[] = {argument_int(0), argument_int(rng_below(&g->draw, (int)(have - length) + 1)),
                             argument_int(length)};
    return generate_view(g, "narrow", x, 3, part);
}

/* Returns a slot with the same number of elements, or with one, on the same card; otherwise a scalar. */
static argument other_operand(generator *g, int x)
{
    int found = -1, seen = 0;
    const argument number = g->dtype == WK_F64 ? argument_float(0.5) : argument_int(rng_range(&g->draw, 1, 3));
    for (int k = 0; k < g->program->slots; k++) {
        const slot *s = &g->machine->slot[k];
        if (!s->tensor || (s->thread != g->thread && !s->retains) || generate_body(g, k)->dtype != g->dtype) continue;
        if (s->second != g->machine->slot[x].second) continue;
        const int64_t length = length_of(g, k);
        if ((length == length_of(g, x) || length == 1) && rng_below(&g->draw, ++seen) == 0) found = k;
    }
    return found < 0 || rng_percent(&g->draw, 30) ? number : argument_slot(found);
}

/* Returns true if the program may still run a kernel on all elements of x, whose total is limited. */
static bool may_process_all(generator *g, int x)
{
    const int64_t length = length_of(g, x);
    if (length <= MOST_PART) return true;
    if (g->elements < length) return false;
    g->elements -= length;
    return true;
}

/* Adds x op y, out of place or in place. */
static void add_op(generator *g, int x, bool in_place)
{
    static const char *const ops[] = {"add", "mul", "sub"};
    if (x < 0 || !may_process_all(g, x)) return;
    const char *op = ops[rng_below(&g->draw, 3)];
    const argument y = other_operand(g, x);
    if (in_place)
        generate_in_place_of(g, op, x, &y);
    else
        generate_view(g, op, x, 1, &y);
}

static void add_send(generator *g, int x, int card)
{
    step *s = x >= 0 && may_process_all(g, x) ? generate_begin(g, STEP_CALL, 1) : NULL;
    if (!s) return;
    s->op = (int16_t)wk_op_find("clone");
    s->arguments = 1;
    s->argument[0] = argument_slot(x);
    s->card = (uint8_t)card;
    generate_end(g);
}

/* Copies a tensor, or a part of it, to the card that is drawn. */
static void add_card_copy(generator *g)
{
    const int x = rng_percent(&g->draw, 70) ? generate_pick(g, 1u << g->dtype, 1) : part_of(g, INT_MAX);
    add_send(g, x, drawn_card(g));
}

/* Copies a part to separate memory or into another tensor, possibly of another card. */
static void add_copy(generator *g)
{
    const int x = generate_pick(g, 1u << g->dtype, 1),
              y = part_of(g, g->cards > 1 && rng_percent(&g->draw, 50) ? INT_MAX : MOST_PART);
    if (x < 0 || y < 0 || !may_process_all(g, x)) return;
    const argument none[MOST_ARGUMENTS] = {{0}}, part = argument_slot(y);
    if (rng_percent(&g->draw, 50))
        generate_view(g, "clone", x, 0, none);
    else
        generate_in_place_of(g, "copy_", part_of(g, length_of(g, y)), &part);
}

/* Adds a lookup in a part so short that an index out of range is likely, if the program has any (bad_indices.c). */
static void add_lookup(generator *g)
{
    const int table = part_of(g, 4);
    const int64_t count[] = {rng_percent(&g->draw, 50) ? 1 : rng_range(&g->draw, 2, 40)};
    if (table >= 0) g->card = g->machine->slot[table].second ? CARD_SECOND : CARD_FIRST;
    const int index = table < 0 ? -1 : generate_make(g, WK_I64, 1, count, MAKE_INDEX, length_of(g, table));
    if (index < 0) return;
    const argument arguments[] = {argument_int(0), argument_slot(index)};
    const int x = generate_view(g, "index_select", table, 2, arguments);
    if (x >= 0 && rng_percent(&g->draw, 60)) add_op(g, x, false);
}

/* Frees a tensor with pending work on the device, and creates others that reuse its memory, or copies one there. */
static void reuse_memory(generator *g)
{
    const int x = generate_pick(g, 1u << g->dtype, 1);
    const bool copies = x >= 0 && g->cards > 1 && rng_percent(&g->draw, 50);
    const int card = x >= 0 && g->machine->slot[x].second ? CARD_SECOND : CARD_FIRST;
    if (x >= 0 && (copies || rng_percent(&g->draw, 60))) add_op(g, x, rng_percent(&g->draw, 50));
    if (copies) {
        generate_plain(g, STEP_FLUSH);
        generate_on(g, STEP_FREE, x);
        add_send(g, generate_pick(g, 1u << g->dtype, 1), card);
        generate_plain(g, STEP_FLUSH);
        return;
    }
    generate_of_slot(g, STEP_FREE, ANY_DTYPE, 0, 0);
    generate_plain(g, STEP_FLUSH);
    for (int k = rng_range(&g->draw, 1, 3); k > 0; k--) make(g);
}

static void add_trim(generator *g)
{
    step *s = generate_begin(g, STEP_TRIM, 0);
    if (!s) return;
    s->card = (uint8_t)drawn_card(g);
    generate_end(g);
}

/* On one card the reuse of memory matters, on two the copies. */
void generate_large_step(generator *g)
{
    const int what = rng_below(&g->draw, 100), more = g->cards > 1 ? 10 : 0;
    if (what < more)
        add_card_copy(g);
    else if (what < 10 + more)
        make(g);
    else if (what < 24 + more)
        reuse_memory(g);
    else if (what < 38 + more / 2)
        add_op(g, part_of(g, MOST_PART), rng_percent(&g->draw, 75));
    else if (what < 50)
        add_op(g, generate_pick(g, 1u << g->dtype, 1), rng_percent(&g->draw, 40));
    else if (what < 56)
        add_copy(g);
    else if (what < 64)
        add_lookup(g);
    else if (what < 78)
        generate_of_slot(g, STEP_FREE, ANY_DTYPE, 0, 0);
    else if (what < 81)
        add_trim(g);
    else if (what < 85)
        generate_of_slot(g, STEP_READ, ANY_DTYPE, 0, 0);
    else if (what < 94)
        generate_plain(g, rng_percent(&g->draw, 15) ? STEP_SYNC : STEP_FLUSH);
    else
        generate_owner(g);
}
