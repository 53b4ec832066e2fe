/* SPDX-License-Identifier: Apache-2.0 */
/* Builds group programs in tests, one instruction per call. Each function returns the register or index that it
 * created. */
#ifndef WICK_TESTS_IR_BUILD_H
#define WICK_TESTS_IR_BUILD_H

#include <string.h>

#include "ir/ir.h"

static inline void ir_space(wk__program *g, int ndim, const int64_t *shape, int nreduce)
{
    memset(g, 0, sizeof *g);
    g->ndim = ndim;
    g->nreduce = nreduce;
    for (int d = 0; d < ndim; d++) g->shape[d] = shape[d];
}

/* wk__program's `across`, as if the operands were reduced themselves. */
static inline bool ir_across(const wk__program *g)
{
    const int row = g->ndim - g->nreduce - 1, column = g->ndim - 1;
    bool across = false;
    for (int k = 0; k < g->noperands && g->nreduce > 0 && row >= 0; k++) {
        const int64_t *stride = g->operand[k].stride;
        if (stride[column] == 1) return false;
        across = across || (stride[row] == 1 && stride[column] != 0);
    }
    return across;
}

static inline int ir_operand(wk__program *g, wk_dtype dtype, wk__memory *memory, int64_t offset, const int64_t *stride)
{
    wk__operand *operand = &g->operand[g->noperands];
    *operand = (wk__operand){.memory = memory, .offset = offset, .dtype = (uint8_t)dtype};
    for (int d = 0; d < g->ndim; d++) operand->stride[d] = stride[d];
    g->noperands++;
    g->outer_reduction = ir_across(g);
    return g->noperands - 1;
}

/* An operand with separate memory, dense in row-major order; with `rows`, constant along the reduced dimensions. */
static inline int ir_dense(wk__program *g, wk_dtype dtype, bool rows)
{
    int64_t stride[WK__MAX_DIMS] = {0}, next = 1;
    for (int d = g->ndim - (rows ? g->nreduce : 0) - 1; d >= 0; d--) {
        stride[d] = next;
        next *= g->shape[d];
    }
    return ir_operand(g, dtype, NULL, 0, stride);
}

static inline int ir_ins(wk__program *g, wk__opcode code, wk_dtype dtype, int a, int b, int c)
{
    g->ins[g->nins] = (wk__ins){(uint8_t)code, (uint8_t)dtype, {(int16_t)a, (int16_t)b, (int16_t)c}};
    return g->nins++;
}

static inline int ir_load(wk__program *g, int operand)
{
    return ir_ins(g, WK__LOAD, (wk_dtype)g->operand[operand].dtype, operand, 0, 0);
}

static inline int ir_store(wk__program *g, int operand, int r)
{
    g->operand[operand].stored = true;
    return ir_ins(g, WK__STORE, (wk_dtype)g->operand[operand].dtype, operand, r, 0);
}

static inline int ir_imm(wk__program *g, wk_dtype dtype, wk__imm value)
{
    g->imm[g->nimms] = value;
    return ir_ins(g, WK__IMM, dtype, g->nimms++, 0, 0);
}

static inline int ir_unary(wk__program *g, wk__opcode code, int r)
{
    return ir_ins(g, code, (wk_dtype)g->ins[r].dtype, r, 0, 0);
}

static inline int ir_binary(wk__program *g, wk__opcode code, int r, int s)
{
    return ir_ins(g, code, (wk_dtype)g->ins[r].dtype, r, s, 0);
}

/* y = softmax(x) over the last dimension of rows x columns; registers 0 to 6 as in ir.h. */
static inline void ir_softmax(wk__program *g, int64_t rows, int64_t columns)
{
    ir_space(g, 2, (const int64_t[]){rows, columns}, 1);
    int in = ir_dense(g, WK_F32, false), out = ir_dense(g, WK_F32, false);
    int x = ir_load(g, in);
    int most = ir_unary(g, WK__RMAX, x);
    int e = ir_unary(g, WK__EXP, ir_binary(g, WK__SUB, x, most));
    int sum = ir_unary(g, WK__RSUM, e);
    ir_store(g, out, ir_binary(g, WK__DIV, e, sum));
}

#endif
