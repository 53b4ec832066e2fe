/* SPDX-License-Identifier: Apache-2.0 */
/* bitwise_and, bitwise_or, bitwise_xor, bitwise_not: of integers and bool. */
#include "forms.h"

static double and_exact(const double *x)
{
    return (double)((int64_t)x[0] & (int64_t)x[1]);
}

static double or_exact(const double *x)
{
    return (double)((int64_t)x[0] | (int64_t)x[1]);
}

static double xor_exact(const double *x)
{
    return (double)((int64_t)x[0] ^ (int64_t)x[1]);
}

static const char *const samples[] = {
    "[]:bool, []:bool", "[9]:bool, [9]:bool",       "[30]:i64<99, [30]:i64<99", "[30]:i32<99, 6",
    "3, [30]:i16<99",   "[3,4]:i64<99, [4]:i64<99", "[0,3]:i64<9, [3]:i64<9",   NULL};

#define BITWISE                                                                                                        \
    .group = "logic", .domain = WK__INTS | WK__BOOLS, .samples = samples, .low = 0, .high = 9, WK__ROW_BINARY

const wk__op wk__op_bitwise_and = {
    .name = "bitwise_and",
    .schema = "bitwise_and(Tensor self, Tensor other) -> Tensor",
    .doc = "a & b, bit by bit",
    .instruction = WK__AND,
    .exact = and_exact,
    BITWISE,
};

#define WK__FORM bitwise_and
#define WK__IN_PLACE
#include "binary.inc"

const wk__op wk__op_bitwise_or = {
    .name = "bitwise_or",
    .schema = "bitwise_or(Tensor self, Tensor other) -> Tensor",
    .doc = "a | b, bit by bit",
    .instruction = WK__OR,
    .exact = or_exact,
    BITWISE,
};

#define WK__FORM bitwise_or
#define WK__IN_PLACE
#include "binary.inc"

const wk__op wk__op_bitwise_xor = {
    .name = "bitwise_xor",
    .schema = "bitwise_xor(Tensor self, Tensor other) -> Tensor",
    .doc = "a ^ b, bit by bit",
    .instruction = WK__XOR,
    .exact = xor_exact,
    BITWISE,
};

#define WK__FORM bitwise_xor
#define WK__IN_PLACE
#include "binary.inc"

/* ---- bitwise_not: a bool has one bit ----------------------------------------------------------------------------- */

static int not_expression(wk__emit *e, const int in[])
{
    if (e->compute != WK_BOOL) return wk__emit_1(e, WK__NOT, in[0]);
    return wk__emit_compare(e, WK__EQ, in[0], wk__emit_constant(e, 0));
}

static double not_exact(const double *x)
{
    return (double)~(int64_t)x[0];
}

static const char *const not_samples[] = {"[]:i64<9", "[9]:i32<9", "[3,5]:i16<9", "[2,0]:i64<9", NULL};

const wk__op wk__op_bitwise_not = {
    .name = "bitwise_not",
    .schema = "bitwise_not(Tensor self) -> Tensor",
    .group = "logic",
    .doc = "~x, bit by bit; of bool: not",
    .expression = not_expression,
    .arity = 1,
    .domain = WK__INTS | WK__BOOLS,
    .invoke = wk__invoke_pointwise,
    .exact = not_exact,
    .samples = not_samples,
    .low = 0,
    .high = 9,
};

#define WK__FORM bitwise_not
#include "unary.inc"
