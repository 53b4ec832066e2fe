/* SPDX-License-Identifier: Apache-2.0 */
/* The tail of a product in the product's own kernel. */
#include "tail.h"
#include "print.h"

#include <stdio.h>

const char wk__gpu_outer[] = "outer", wk__gpu_result[] = "result";

/* ---- plans ------------------------------------------------------------------------------------------------------- */

/* Left to kernels of their own: what reduces, as it needs all of the result; indices that have to be looked at before
 * anything is written over; and such that choose places of the result. */
bool wk__gpu_can_carry(const wk__work *work)
{
    const wk__group *tail = work->group;
    if (work->kernel == NULL || tail == NULL || tail->nreduce > 0) return false;
    if (!wk__gpu_has(tail, WK__LOADX)) return true;
    for (int k = 0; k < tail->nins; k++) {
        if (tail->ins[k].code == WK__LOADX && tail->ins[k].arg[1] == 0) return false;
    }
    return !wk__group_overwrites(tail);
}

void wk__gpu_add_tail(const wk__work *work, wk__group *tail, wk__gpu_launch *launch)
{
    if (work->group == NULL) return;
    wk__gpu_unit *unit = &launch->unit;
    wk__gpu_layout layout;
    *tail = *work->group;
    wk__group_collapse_outer(tail, tail->ndim - unit->fixed->carrier->inner);
    wk__gpu_layout_of(tail, unit->narguments, &layout);
    wk__gpu_fill_group(tail, &layout, launch->argument);
    unit->narguments = layout.count;
    for (int k = 1; k < tail->noperands; k++) launch->block[unit->nmemory++] = tail->operand[k].memory->block;
    unit->group = tail;
    unit->form.narrow = wk__gpu_is_narrow(tail);
    unit->form.guarded = wk__group_overwrites(tail);
    unit->form.passes = work->kernel->passes;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static wk__gpu_printer printer_of(wk__text *text, const wk__gpu_unit *unit)
{
    wk__gpu_printer p = {.text = text,
                         .group = unit->group,
                         .form = unit->form,
                         .tail = true,
                         .kept = unit->group->ndim - unit->fixed->carrier->inner};
    if (unit->fixed->carrier->fours) p.form.width = 4;
    wk__gpu_layout_of(unit->group, unit->fixed->carrier->arguments, &p.layout);
    wk__gpu_schedule_of(unit->group, &p.schedule);
    return p;
}

/* Coordinates out of a position are those of the first of four: the others are beside it, unless its line ends. */
static void print_inside(wk__text *text, const wk__gpu_unit *unit)
{
    const wk__gpu_carrier *carrier = unit->fixed->carrier;
    if (!carrier->fours || carrier->inner > 0) return;
    wk__gpu_layout layout;
    const int last = unit->group == NULL ? -1 : unit->group->ndim - 1;
    if (last < 0) {
        wk__text_format(text, "    const bool inside = %s;\n", unit->group == NULL ? "true" : "false");
        return;
    }
    wk__gpu_layout_of(unit->group, carrier->arguments, &layout);
    wk__text_format(text, "    const bool inside = c%d + 3 < (idx)A(%d);\n", last, layout.shape + last);
}

void wk__gpu_print_outer(wk__text *text, const wk__gpu_unit *unit)
{
    if (unit->group != NULL) {
        wk__gpu_printer p = printer_of(text, unit);
        char place[32];
        snprintf(place, sizeof place, "(idx)%s", unit->fixed->carrier->outer);
        wk__gpu_print_coordinates(&p, 0, p.kept, place);
        wk__gpu_print_operands(&p);
        if (unit->form.guarded) wk__text_add(text, "    const int unharmed = F[0] == 0;\n");
    }
    print_inside(text, unit);
}

/* Loads or stores four elements of an operand that lie side by side. */
static void print_four(wk__gpu_printer *p, int k)
{
    const bool loads = p->group->ins[k].code == WK__LOAD;
    const int operand = p->group->ins[k].arg[0];
    const uint8_t width = p->form.width;
    wk__text_format(p->text, "    %s_FOUR(%s, ", loads ? "LOAD" : "STORE",
                    wk__gpu_storage_type((wk_dtype)p->group->operand[operand].dtype));
    if (loads) wk__text_format(p->text, "l%d, ", k);
    wk__text_format(p->text, "p%d + (", operand);
    p->form.width = 1;
    wk__gpu_print_place(p, operand, true);
    p->form.width = width;
    if (!loads) wk__text_format(p->text, "), l%d", k);
    wk__text_add(p->text, loads ? "), 1, count)\n" : ", 1, count)\n");
}

/* The instructions for each of four elements. */
static void print_fours(wk__gpu_printer *p, const char *position)
{
    for (int k = 0; k < p->group->nins; k++) {
        const wk__ins *ins = &p->group->ins[k];
        if (!wk__gpu_is_vector(p, k) || (ins->code == WK__LOAD && ins->arg[0] == 0)) continue;
        p->source[k] = WK__GPU_LOADED;
        wk__text_format(p->text, "    VECTOR(%s, 4) l%d;\n",
                        wk__gpu_storage_type((wk_dtype)p->group->operand[ins->arg[0]].dtype), k);
        if (ins->code == WK__LOAD) print_four(p, k);
    }
    wk__text_add(p->text, "    UNROLL for (int e = 0; e < 4; e++) if (e < count) {\n");
    if (position != NULL) wk__text_format(p->text, "    const i64 row = %s + e;\n", position);
    for (int k = 0; k < p->group->nins; k++) wk__gpu_print_instruction(p, k);
    wk__text_add(p->text, "    }\n");
    for (int k = 0; k < p->group->nins; k++)
        if (p->group->ins[k].code == WK__STORE && p->source[k] == WK__GPU_LOADED) print_four(p, k);
}

static void print_tail(wk__gpu_printer *p, const wk__gpu_unit *unit)
{
    static const char *const inner[] = {"i", "j"};
    const bool by_position = wk__gpu_has(p->group, WK__IOTA) || wk__gpu_has(p->group, WK__LOADX);
    const char *position = by_position ? unit->fixed->carrier->position : NULL;
    wk__text_add(p->text, p->form.guarded ? "    if (unharmed) {\n" : "    {\n");
    for (int d = p->kept; d < p->group->ndim; d++)
        wk__text_format(p->text, "    const idx c%d = (idx)%s;\n", d, inner[d - p->kept]);
    if (unit->fixed->carrier->fours) {
        print_fours(p, position);
    } else {
        if (position != NULL) wk__text_format(p->text, "    const i64 row = %s;\n", position);
        for (int k = 0; k < p->group->nins; k++) wk__gpu_print_instruction(p, k);
    }
    wk__text_add(p->text, "    }\n");
}

void wk__gpu_print_result(wk__text *text, const wk__gpu_unit *unit)
{
    const bool fours = unit->fixed->carrier->fours;
    wk__text_add(text, fours ? "    VECTOR(STORAGE, 4) stored;\n"
                               "    UNROLL for (int e = 0; e < 4; e++) stored.at[e] = STORE(value.at[e]);\n"
                             : "    const STORAGE stored = STORE(value);\n");
    if (!unit->form.passes)
        wk__text_add(text, fours ? "    STORE_FOUR(STORAGE, to, stored, apart, count)\n" : "    *to = stored;\n");
    if (unit->group == NULL) return;
    wk__gpu_printer p = printer_of(text, unit);
    print_tail(&p, unit);
}
