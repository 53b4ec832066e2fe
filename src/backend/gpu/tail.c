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
    wk__gpu_layout_of(unit->group, unit->fixed->carrier->arguments, &p.layout);
    wk__gpu_schedule_of(unit->group, &p.schedule);
    return p;
}

void wk__gpu_print_outer(wk__text *text, const wk__gpu_unit *unit)
{
    if (unit->group == NULL) return;
    wk__gpu_printer p = printer_of(text, unit);
    char place[32];
    snprintf(place, sizeof place, "(idx)%s", unit->fixed->carrier->outer);
    wk__gpu_print_coordinates(&p, 0, p.kept, place);
    wk__gpu_print_operands(&p);
    if (unit->form.guarded) wk__text_add(text, "    const int unharmed = F[0] == 0;\n");
}

static void print_tail(wk__gpu_printer *p, const wk__gpu_unit *unit)
{
    static const char *const inner[] = {"i", "j"};
    wk__text_add(p->text, p->form.guarded ? "    if (unharmed) {\n" : "    {\n");
    for (int d = p->kept; d < p->group->ndim; d++)
        wk__text_format(p->text, "    const idx c%d = (idx)%s;\n", d, inner[d - p->kept]);
    if (wk__gpu_has(p->group, WK__IOTA) || wk__gpu_has(p->group, WK__LOADX))
        wk__text_format(p->text, "    const i64 row = %s;\n", unit->fixed->carrier->position);
    for (int k = 0; k < p->group->nins; k++) wk__gpu_print_instruction(p, k);
    wk__text_add(p->text, "    }\n");
}

void wk__gpu_print_result(wk__text *text, const wk__gpu_unit *unit)
{
    if (unit->group == NULL) {
        wk__text_add(text, "    *to = STORE(value);\n");
        return;
    }
    wk__gpu_printer p = printer_of(text, unit);
    wk__text_add(text, "    const STORAGE stored = STORE(value);\n");
    if (!unit->form.passes) wk__text_add(text, "    *to = stored;\n");
    print_tail(&p, unit);
}
