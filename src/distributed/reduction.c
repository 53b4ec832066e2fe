/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions; see reduction.h. */
#include "reduction.h"
#include "backend/device.h"

enum { PIECE = 16384 }; /* elements; below the size at which the CPU backend uses several threads */

static int add(wk__program *g, wk__opcode code, wk_dtype dtype, int a, int b)
{
    g->ins[g->nins] = (wk__ins){.code = (uint8_t)code, .dtype = (uint8_t)dtype, .arg = {(int16_t)a, (int16_t)b}};
    return g->nins++;
}

static int load(wk__dist_reduction *r, wk_dtype dtype)
{
    wk__program *g = &r->group;
    g->operand[g->noperands] =
        (wk__operand){.memory = &r->memory[g->noperands], .stride = {1}, .dtype = (uint8_t)dtype};
    return add(g, WK__LOAD, dtype, g->noperands++, 0);
}

static void begin(wk__dist_reduction *r, wk_dtype out)
{
    *r = (wk__dist_reduction){.group = {.ndim = 1, .noperands = 1}};
    r->group.operand[0] = (wk__operand){.memory = &r->memory[0], .stride = {1}, .dtype = (uint8_t)out, .stored = true};
}

/* Emits the optional division, the conversion to the dtype of operand 0 and the store. */
static void finish(wk__dist_reduction *r, int last, wk_dtype class, int ranks)
{
    wk__program *g = &r->group;
    const wk_dtype out = (wk_dtype)g->operand[0].dtype;
    if (ranks > 0) {
        g->imm[g->nimms++].f = ranks;
        last = add(g, WK__DIV, class, last, add(g, WK__IMM, class, 0, 0));
    }
    if (out != class) last = add(g, WK__CAST, out, last, 0);
    add(g, WK__STORE, out, 0, last);
}

/* Returns the instruction of a reduction. Of bools a sum is a maximum. */
static wk__opcode code_of(wk_dist_op op, wk_dtype dtype)
{
    static const wk__opcode codes[] = {WK__ADD, WK__ADD, WK__MUL, WK__MIN, WK__MAX};
    return dtype == WK_BOOL && op == WK_DIST_SUM ? WK__MAX : codes[op];
}

void wk__dist_reduction_make(wk__dist_reduction *r, wk_dist_op op, wk_dtype out, wk_dtype theirs, wk_dtype mine,
                             int ranks)
{
    const wk_dtype class = wk__compute_class(mine);
    begin(r, out);
    const int a = load(r, theirs), b = load(r, mine);
    finish(r, add(&r->group, code_of(op, mine), class, a, b), class, op == WK_DIST_AVG ? ranks : 0);
}

void wk__dist_conversion_make(wk__dist_reduction *r, wk_dtype out, wk_dtype mine, int ranks)
{
    begin(r, out);
    finish(r, load(r, mine), wk__compute_class(mine), ranks);
}

static void set_operand(wk__dist_reduction *r, int operand, const void *at)
{
    r->memory[operand] = (wk__memory){.block = (void *)(uintptr_t)at, .host = (char *)(uintptr_t)at};
}

wk_code wk__dist_reduce(wk__dist_reduction *r, void *out, const void *theirs, const void *mine, int64_t count,
                        wk__dist_error *fail)
{
    const void *at[3] = {out, theirs, mine};
    const wk__work work = {.family = WK__PROGRAM, .program = &r->group};
    wk__fail why = {.tag = -1};
    if (r->group.noperands == 2) at[1] = mine;
    for (int64_t done = 0; done < count; done += PIECE) {
        r->group.shape[0] = count - done < PIECE ? count - done : PIECE;
        for (int k = 0; k < r->group.noperands; k++)
            set_operand(r, k, (const char *)at[k] + done * (int64_t)wk_dtype_size((wk_dtype)r->group.operand[k].dtype));
        const wk__backend *cpu = wk__backend_of(WK_CPU);
        if (cpu->submit(NULL, &work, &why) != WK_OK) return wk__dist_error_set(fail, why.code, "%s", why.text);
    }
    return WK_OK;
}
