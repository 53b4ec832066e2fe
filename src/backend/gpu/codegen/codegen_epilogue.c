/* SPDX-License-Identifier: Apache-2.0 */
/* Epilogue of a contraction, fused into its kernel; see codegen_epilogue.h. */
#include "codegen_epilogue.h"
#include "codegen.h"

#include <stdio.h>

const char wk__gpu_mark_outer[] = "outer", wk__gpu_mark_result[] = "result";

/* ---- lowering ---------------------------------------------------------------------------------------------------- */

/* Not fused: reductions, which need the entire result; indices that must be checked before anything is overwritten; and
 * indexed loads from the result. */
bool wk__gpu_can_fuse_epilogue(const wk__work *work)
{
    const wk__program *tail = work->program;
    if (work->args == NULL || tail == NULL || tail->nreduce > 0) return false;
    if (!wk__gpu_has_instruction(tail, WK__LOADX)) return true;
    for (int k = 0; k < tail->nins; k++) {
        if (tail->ins[k].code == WK__LOADX && tail->ins[k].arg[1] == 0) return false;
    }
    return !wk__program_is_in_place(tail);
}

void wk__gpu_add_epilogue(const wk__work *work, wk__program *tail, wk__gpu_launch *launch)
{
    if (work->program == NULL) return;
    wk__gpu_kernel_spec *spec = &launch->spec;
    wk__gpu_layout layout;
    *tail = *work->program;
    wk__program_coalesce_outer(tail, tail->ndim - spec->source_template->epilogue_slot->inner_dims);
    wk__gpu_layout_of(tail, spec->narguments, &layout);
    wk__gpu_fill_program(tail, &layout, launch->argument);
    spec->narguments = layout.count;
    for (int k = 1; k < tail->noperands; k++) launch->block[spec->nmemory++] = tail->operand[k].memory->block;
    spec->group = tail;
    spec->config.index32 = wk__gpu_fits_index32(tail);
    spec->config.skip_on_fault = wk__program_is_in_place(tail);
    spec->config.elide_result = work->args->elide_result;
}

/* ---- source ------------------------------------------------------------------------------------------------------ */

static wk__gpu_codegen printer_of(wk__text *text, const wk__gpu_kernel_spec *spec)
{
    wk__gpu_codegen p = {.text = text,
                         .group = spec->group,
                         .form = spec->config,
                         .is_epilogue = true,
                         .kept = spec->group->ndim - spec->source_template->epilogue_slot->inner_dims};
    if (spec->source_template->epilogue_slot->vector4) p.form.vector_width = 4;
    wk__gpu_layout_of(spec->group, spec->source_template->epilogue_slot->arguments, &p.layout);
    wk__gpu_schedule_of(spec->group, &p.schedule);
    return p;
}

/* Coordinates computed from a position are those of the first of four elements: the others are adjacent, unless their
 * line ends. */
static void print_inside(wk__text *text, const wk__gpu_kernel_spec *spec)
{
    const wk__gpu_epilogue_slot *carrier = spec->source_template->epilogue_slot;
    if (!carrier->vector4 || carrier->inner_dims > 0) return;
    wk__gpu_layout layout;
    const int last = spec->group == NULL ? -1 : spec->group->ndim - 1;
    if (last < 0) {
        wk__text_format(text, "    const bool inside = %s;\n", spec->group == NULL ? "true" : "false");
        return;
    }
    wk__gpu_layout_of(spec->group, carrier->arguments, &layout);
    wk__text_format(text, "    const bool inside = c%d + 3 < (idx)A(%d);\n", last, layout.shape + last);
}

void wk__gpu_codegen_epilogue_outer(wk__text *text, const wk__gpu_kernel_spec *spec)
{
    if (spec->group != NULL) {
        wk__gpu_codegen p = printer_of(text, spec);
        char place[32];
        snprintf(place, sizeof place, "(idx)%s", spec->source_template->epilogue_slot->outer);
        wk__gpu_codegen_coordinates(&p, 0, p.kept, place);
        wk__gpu_codegen_operands(&p);
        if (spec->config.skip_on_fault) wk__text_add(text, "    const int unharmed = F[0] == 0;\n");
    }
    print_inside(text, spec);
}

/* Appends a load or store of four contiguous elements of an operand. */
static void print_four(wk__gpu_codegen *p, int k)
{
    const bool loads = p->group->ins[k].code == WK__LOAD;
    const int operand = p->group->ins[k].arg[0];
    const uint8_t width = p->form.vector_width;
    wk__text_format(p->text, "    %s_FOUR(%s, ", loads ? "LOAD" : "STORE",
                    wk__gpu_storage_type((wk_dtype)p->group->operand[operand].dtype));
    if (loads) wk__text_format(p->text, "l%d, ", k);
    wk__text_format(p->text, "p%d + (", operand);
    p->form.vector_width = 1;
    wk__gpu_codegen_offset(p, operand, true);
    p->form.vector_width = width;
    if (!loads) wk__text_format(p->text, "), l%d", k);
    wk__text_add(p->text, loads ? "), 1, count)\n" : ", 1, count)\n");
}

/* Appends the instructions for each of four elements. */
static void print_fours(wk__gpu_codegen *p, const char *position)
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
    for (int k = 0; k < p->group->nins; k++) wk__gpu_codegen_instruction(p, k);
    wk__text_add(p->text, "    }\n");
    for (int k = 0; k < p->group->nins; k++)
        if (p->group->ins[k].code == WK__STORE && p->source[k] == WK__GPU_LOADED) print_four(p, k);
}

static void print_tail(wk__gpu_codegen *p, const wk__gpu_kernel_spec *spec)
{
    static const char *const inner[] = {"i", "j"};
    const bool by_position =
        wk__gpu_has_instruction(p->group, WK__IOTA) || wk__gpu_has_instruction(p->group, WK__LOADX);
    const char *position = by_position ? spec->source_template->epilogue_slot->position : NULL;
    wk__text_add(p->text, p->form.skip_on_fault ? "    if (unharmed) {\n" : "    {\n");
    for (int d = p->kept; d < p->group->ndim; d++)
        wk__text_format(p->text, "    const idx c%d = (idx)%s;\n", d, inner[d - p->kept]);
    if (spec->source_template->epilogue_slot->vector4) {
        print_fours(p, position);
    } else {
        if (position != NULL) wk__text_format(p->text, "    const i64 row = %s;\n", position);
        for (int k = 0; k < p->group->nins; k++) wk__gpu_codegen_instruction(p, k);
    }
    wk__text_add(p->text, "    }\n");
}

void wk__gpu_codegen_epilogue_result(wk__text *text, const wk__gpu_kernel_spec *spec)
{
    const bool fours = spec->source_template->epilogue_slot->vector4;
    wk__text_add(text, fours ? "    VECTOR(STORAGE, 4) stored;\n"
                               "    UNROLL for (int e = 0; e < 4; e++) stored.at[e] = STORE(value.at[e]);\n"
                             : "    const STORAGE stored = STORE(value);\n");
    if (!spec->config.elide_result)
        wk__text_add(text, fours ? "    STORE_FOUR(STORAGE, to, stored, apart, count)\n" : "    *to = stored;\n");
    if (spec->group == NULL) return;
    wk__gpu_codegen p = printer_of(text, spec);
    print_tail(&p, spec);
}
