/* SPDX-License-Identifier: Apache-2.0 */
/* Generates the passes over a row. By p->form (wk__gpu_kernel_config):
 *
 *   items                        warps, strips, groups            chunks of strips and groups, pass s
 *   --------------------------   ------------------------------   --------------------------------------------
 *   row values                   row values                       row values; partial results of passes < s
 *   for each pass                for each pass                    (gathered from scratch memory)
 *     for all columns              for its share of the columns     for its share of the chunk's columns, pass s
 *     reduction = sum              reduction of all members         reduction of all members -> scratch
 *     row values                   row values                       in the last pass: row values
 *   store row values             member 0 stores row values       member 0 of chunk 0 stores row values
 *
 * A member is one of the items that share a row: number wk__gpu_row_item() of wk__gpu_row_items(). Members process its
 * columns in turn. With form.loads_ahead > 1, a member processes that many at a time: it loads all of them before it
 * computes, so that more loads are in flight. With form.reg_cached these are all of its columns, and values needed by
 * later passes stay in registers: the row is read once. A row value is computed once per row, outside the loops. */
#include "codegen.h"

#include <string.h>

const char *wk__gpu_row_item(const wk__gpu_codegen *p)
{
    static const char *const member[] = {"0", "(LOCAL % WARP)", "(LOCAL / STRIP)", "LOCAL"};
    return member[p->form.mapping];
}

const char *wk__gpu_row_items(const wk__gpu_codegen *p)
{
    static const char *const members[] = {"1", "WARP", "(LOCALS / STRIP)", "LOCALS"};
    return members[p->form.mapping];
}

bool wk__gpu_reduces_in(const wk__gpu_codegen *p, int k, int pass)
{
    return wk__gpu_is_reduction(p->group->ins[k].code) && p->schedule.pass[k] == pass + 1;
}

/* ---- work of a pass ---------------------------------------------------------------------------------------------- */

typedef struct pass_work {
    bool any, reduces;          /* the pass has a loop; it has a reduction */
    bool computed[WK__MAX_INS]; /* needed in the loop: computed there unless taken */
    bool taken[WK__MAX_INS];    /* kept in registers by an earlier pass */
    bool keeps[WK__MAX_INS];    /* computed, and kept for a later pass */
} pass_work;

static bool is_root(const wk__gpu_codegen *p, int k, int pass)
{
    if (wk__gpu_reduces_in(p, k, pass)) return true;
    if (!p->schedule.in_loop[k] || p->schedule.pass[k] != pass) return false;
    return p->group->ins[k].code == (p->form.check_only ? WK__LOADX : WK__STORE);
}

/* Marks the instructions that the loop of this pass computes: operands of its stores, reductions and, if it only
 * checks, indexed loads. `known`: those that earlier passes have computed. */
static void find_work(const wk__gpu_codegen *p, int pass, const bool known[], pass_work *w)
{
    memset(w, 0, sizeof *w);
    for (int k = p->group->nins - 1; k >= 0; k--) { /* operands precede their instructions */
        const wk__ins *ins = &p->group->ins[k];
        if (is_root(p, k, pass)) w->any = w->computed[k] = true;
        w->reduces |= wk__gpu_reduces_in(p, k, pass);
        if (!w->computed[k]) continue;
        if (known != NULL && known[k] && p->schedule.in_loop[k] && ins->code != WK__IMM && ins->code != WK__IOTA) {
            w->taken[k] = true;
            continue;
        }
        const int16_t *registers = ins->code == WK__STORE ? ins->arg + 1 : ins->arg;
        for (int a = 0; a < wk__opcode_arity[ins->code]; a++) w->computed[registers[a]] = true;
    }
}

/* The same; if columns are kept in registers, also which values are from earlier and for later passes. */
static void plan_work(const wk__gpu_codegen *p, int pass, pass_work *w)
{
    bool known[WK__MAX_INS] = {false};
    find_work(p, pass, NULL, w);
    for (int s = 0; p->form.reg_cached && s < p->schedule.passes; s++) {
        pass_work other;
        find_work(p, s, known, &other);
        if (s == pass) *w = other;
        for (int k = 0; k < p->group->nins; k++) {
            if (s > pass && other.taken[k] && w->computed[k] && !w->taken[k]) w->keeps[k] = true;
            known[k] |= other.computed[k];
        }
    }
}

/* ---- loops ------------------------------------------------------------------------------------------------------- */

/* Returns true if items process several columns at a time. */
static bool is_ahead(const wk__gpu_codegen *p)
{
    return p->form.reg_cached || p->form.loads_ahead > 1;
}

static bool is_staged(const wk__gpu_codegen *p, int k)
{
    return p->group->ins[k].code == WK__LOAD && p->schedule.in_loop[k];
}

/* Appends arrays of an item: loaded columns, and values kept for later passes. If columns are kept in registers, the
 * arrays are declared outside the loop. */
static void print_arrays(wk__gpu_codegen *p, const pass_work *w)
{
    for (int k = 0; k < p->group->nins; k++) {
        const wk__ins *ins = &p->group->ins[k];
        if (!w->computed[k] || w->taken[k] || !p->schedule.in_loop[k]) continue;
        if (is_staged(p, k)) {
            const wk_dtype dtype = (wk_dtype)p->group->operand[ins->arg[0]].dtype;
            wk__text_format(p->text, "    struct { %s at[%d]; } l%d;\n", wk__gpu_storage_type(dtype),
                            p->form.loads_ahead, k);
        } else if (w->keeps[k]) {
            wk__text_format(p->text, "    %s k%d[%d];\n", wk__gpu_class_type((wk_dtype)ins->dtype), k,
                            p->form.loads_ahead);
        }
    }
}

/* Opens a loop over the columns that an item processes at a time. */
static void print_each(wk__gpu_codegen *p)
{
    wk__text_format(p->text,
                    "    UNROLL for (int e = 0; e < %d; e++) {\n    const idx column = %s + e * %s;\n"
                    "    if (column < end) {\n",
                    p->form.loads_ahead, p->form.reg_cached ? "start" : "base", wk__gpu_row_items(p));
    wk__gpu_codegen_coordinates(p, p->kept, p->group->ndim, "column");
}

static void print_computations(wk__gpu_codegen *p, int pass, const pass_work *w)
{
    for (int k = 0; k < p->group->nins; k++) {
        if (!w->computed[k] || !p->schedule.in_loop[k]) continue;
        p->source[k] = is_ahead(p) && is_staged(p, k) ? WK__GPU_LOADED : w->taken[k] ? WK__GPU_KEPT : WK__GPU_COMPUTED;
        wk__gpu_codegen_instruction(p, k);
        if (w->keeps[k] && !is_staged(p, k)) wk__text_format(p->text, "    k%d[e] = r%d;\n", k, k);
    }
    wk__gpu_codegen_accumulate(p, pass);
}

/* Appends the bounds of an item's columns: every MEMBERS-th of the row, or of its chunk, from `start`. */
static void print_bounds(wk__gpu_codegen *p)
{
    const char *inside = p->form.mapping == WK__GPU_STRIP_PER_GROUP ? "!inside ? 0 : " : "",
               *member = wk__gpu_row_item(p);
    const int columns = p->layout.columns, chunks = p->layout.chunks;
    if (p->form.chunked) {
        wk__text_format(p->text,
                        "    const i64 length = (A(%d) + A(%d) - 1) / A(%d);\n"
                        "    const idx start = (idx)(chunk * length + %s);\n"
                        "    const idx end = %s(idx)wk_min_i64(A(%d), (chunk + 1) * length);\n",
                        columns, chunks, chunks, member, inside, columns);
    } else {
        wk__text_format(p->text, "    const idx start = %s;\n    const idx end = %s(idx)A(%d);\n", member, inside,
                        columns);
    }
}

/* Appends a loop that processes several columns at a time. */
static void print_ahead(wk__gpu_codegen *p, int pass, const pass_work *w)
{
    const bool held = p->form.reg_cached;
    bool loads = false;
    for (int k = 0; k < p->group->nins; k++) loads |= w->computed[k] && !w->taken[k] && is_staged(p, k);
    print_bounds(p);
    if (!held) {
        wk__text_format(p->text, "    for (idx base = start; base < end; base += %d * %s) {\n", p->form.loads_ahead,
                        wk__gpu_row_items(p));
        print_arrays(p, w);
    }
    if (loads) {
        print_each(p);
        for (int k = 0; k < p->group->nins; k++) {
            if (!w->computed[k] || w->taken[k] || !is_staged(p, k)) continue;
            wk__text_format(p->text, "    l%d.at[e] = p%d[", k, p->group->ins[k].arg[0]);
            wk__gpu_codegen_offset(p, p->group->ins[k].arg[0], true);
            wk__text_add(p->text, "];\n");
        }
        wk__text_add(p->text, "    }\n    }\n");
    }
    print_each(p);
    print_computations(p, pass, w);
    wk__text_add(p->text, "    }\n    }\n");
    if (held) return;
    if (w->reduces) wk__gpu_codegen_flush_partial(p, pass);
    wk__text_add(p->text, "    }\n");
}

static void print_one_by_one(wk__gpu_codegen *p, int pass, const pass_work *w)
{
    const wk__gpu_layout *at = &p->layout;
    const int first = p->kept, end = p->group->ndim;
    int braces = 1;
    if (p->form.mapping == WK__GPU_ROW_PER_ITEM) {
        wk__text_add(p->text, "    idx column = 0;\n");
        for (int d = first; d < end; d++) {
            wk__text_format(p->text, "    for (idx c%d = 0; c%d < (idx)A(%d); c%d++%s) {\n", d, d, at->shape + d, d,
                            d == end - 1 ? ", column++" : "");
        }
        braces = end - first;
    } else {
        print_bounds(p);
        wk__text_format(p->text, "    for (idx column = start; column < end; column += %s) {\n", wk__gpu_row_items(p));
        wk__gpu_codegen_coordinates(p, first, end, "column");
    }
    print_computations(p, pass, w);
    if (w->reduces) wk__gpu_codegen_flush_partial(p, pass);
    wk__text_repeat(p->text, '}', braces);
    wk__text_add(p->text, "\n");
}

/* Returns true if the loop has no effect except its reductions, so that a condition may skip it. */
static bool only_reduces(const wk__gpu_codegen *p, int pass, const pass_work *w)
{
    for (int k = 0; k < p->group->nins; k++)
        if (w->keeps[k] || (is_root(p, k, pass) && !wk__gpu_is_reduction(p->group->ins[k].code))) return false;
    return true;
}

static void print_pass(wk__gpu_codegen *p, int pass)
{
    pass_work w;
    plan_work(p, pass, &w);
    if (!w.any) return;
    wk__gpu_codegen_accumulators(p, pass);
    if (p->form.reg_cached) print_arrays(p, &w);
    wk__gpu_codegen_condition(p, pass, only_reduces(p, pass, &w));
    if (w.reduces && !p->form.reg_cached) wk__text_add(p->text, "    int count = 0;\n");
    if (is_ahead(p)) {
        print_ahead(p, pass, &w);
    } else {
        print_one_by_one(p, pass, &w);
    }
    wk__text_add(p->text, "    }\n");
    wk__gpu_codegen_reduce_results(p, pass);
}

/* ---- row values -------------------------------------------------------------------------------------------------- */

/* Appends the row values that are available after `pass` passes. */
static void print_row_values(wk__gpu_codegen *p, int pass)
{
    for (int k = 0; k < p->group->nins; k++) {
        int code = p->group->ins[k].code;
        if (p->schedule.in_loop[k] || p->schedule.pass[k] != pass || code == WK__STORE || wk__gpu_is_reduction(code))
            continue;
        wk__gpu_codegen_instruction(p, k);
    }
}

/* One member stores the row's values. All members have loaded what may be overwritten before they combined anything;
 * shuffles alone don't prevent a compiler from moving loads after them. */
static void print_row_stores(wk__gpu_codegen *p)
{
    const uint8_t walk = p->form.mapping;
    if (walk == WK__GPU_ROW_PER_WARP && p->form.skip_on_fault) wk__text_add(p->text, "    WARP_WAIT;\n");
    wk__text_format(p->text, "    if (%s == 0%s%s) {\n", wk__gpu_row_item(p),
                    walk == WK__GPU_STRIP_PER_GROUP ? " && inside" : "", p->form.chunked ? " && chunk == 0" : "");
    for (int k = 0; k < p->group->nins; k++) {
        if (p->group->ins[k].code == WK__STORE && !p->schedule.in_loop[k]) wk__gpu_codegen_instruction(p, k);
    }
    wk__text_add(p->text, "    }\n");
}

void wk__gpu_codegen_rows(wk__gpu_codegen *p)
{
    if (p->form.chunked) {
        for (int pass = 0; pass < p->form.pass; pass++) {
            print_row_values(p, pass);
            wk__gpu_codegen_combine_chunks(p, pass);
        }
        print_row_values(p, p->form.pass);
        print_pass(p, p->form.pass);
        if (p->form.pass == wk__gpu_last_pass(p->group, &p->schedule)) print_row_stores(p);
        return;
    }
    for (int pass = 0; pass <= p->schedule.passes; pass++) {
        print_row_values(p, pass);
        print_pass(p, pass);
    }
    if (!p->form.check_only) print_row_stores(p);
}
