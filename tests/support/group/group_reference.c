/* SPDX-License-Identifier: Apache-2.0 */
/* The reference interpreter of programs; see group_reference.h. */
#include "group_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/random.h"

typedef union number {
    double f;
    int64_t i;
} number;

/* ---- dtypes ------------------------------------------------------------------------------------------------------ */

static bool is_float(wk_dtype dtype)
{
    return dtype <= WK_BF16;
}

/* Rounds to a float format with that many bits of precision, the smallest step 2^least and the largest finite number
 * most. */
static double round_to(double x, int precision, int least, double most)
{
    if (!isfinite(x) || x == 0) return x;
    int exponent;
    frexp(x, &exponent);
    int step = exponent - precision > least ? exponent - precision : least;
    double rounded = ldexp(rint(ldexp(x, -step)), step); /* rint rounds half to even */
    return fabs(rounded) > most ? copysign(INFINITY, x) : rounded;
}

static double round_dtype(wk_dtype dtype, double x)
{
    switch (dtype) {
    case WK_F32: return (float)x;
    case WK_F16: return round_to((float)x, 11, -24, 65504);
    case WK_BF16: return round_to((float)x, 8, -133, 0x1.fep127);
    default: return x;
    }
}

static int64_t wrap(wk_dtype dtype, int64_t x)
{
    switch (dtype) {
    case WK_I8: return (int8_t)x;
    case WK_U8: return (uint8_t)x;
    case WK_I16: return (int16_t)x;
    case WK_I32: return (int32_t)x;
    case WK_BOOL: return x != 0;
    default: return x;
    }
}

static double half_value(uint16_t bits, int mantissa_bits, int exponent_bits)
{
    int bias = (1 << (exponent_bits - 1)) - 1, exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1);
    int mantissa = bits & ((1 << mantissa_bits) - 1);
    double value;
    if (exponent == (1 << exponent_bits) - 1) {
        value = mantissa ? NAN : INFINITY;
    } else if (exponent == 0) {
        value = ldexp(mantissa, 1 - bias - mantissa_bits);
    } else {
        value = ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
    }
    return bits >> 15 ? -value : value;
}

static uint16_t half_bits(double x, int mantissa_bits, int exponent_bits)
{
    int bias = (1 << (exponent_bits - 1)) - 1, exponent;
    int sign = signbit(x) ? 1 << 15 : 0, special = ((1 << exponent_bits) - 1) << mantissa_bits;
    x = fabs(x);
    if (isnan(x)) return (uint16_t)(sign | special | 1 << (mantissa_bits - 1));
    if (isinf(x)) return (uint16_t)(sign | special);
    if (x == 0) return (uint16_t)sign;
    frexp(x, &exponent);
    exponent += bias - 1;
    if (exponent < 1) return (uint16_t)(sign | (int)ldexp(x, bias - 1 + mantissa_bits));
    int mantissa = (int)ldexp(x, mantissa_bits + bias - exponent) - (1 << mantissa_bits);
    return (uint16_t)(sign | exponent << mantissa_bits | mantissa);
}

int64_t group_reference_get_integer(wk_dtype dtype, const void *data, int64_t index)
{
    switch (dtype) {
    case WK_I8: return ((const int8_t *)data)[index];
    case WK_U8:
    case WK_BOOL: return ((const uint8_t *)data)[index];
    case WK_I16: return ((const int16_t *)data)[index];
    case WK_I32: return ((const int32_t *)data)[index];
    default: return ((const int64_t *)data)[index];
    }
}

static void put_integer(wk_dtype dtype, void *data, int64_t index, int64_t value)
{
    value = wrap(dtype, value);
    switch (dtype) {
    case WK_I8: ((int8_t *)data)[index] = (int8_t)value; break;
    case WK_U8:
    case WK_BOOL: ((uint8_t *)data)[index] = (uint8_t)value; break;
    case WK_I16: ((int16_t *)data)[index] = (int16_t)value; break;
    case WK_I32: ((int32_t *)data)[index] = (int32_t)value; break;
    default: ((int64_t *)data)[index] = value; break;
    }
}

double group_reference_get(wk_dtype dtype, const void *data, int64_t index)
{
    switch (dtype) {
    case WK_F32: return ((const float *)data)[index];
    case WK_F64: return ((const double *)data)[index];
    case WK_F16: return half_value(((const uint16_t *)data)[index], 10, 5);
    case WK_BF16: return half_value(((const uint16_t *)data)[index], 7, 8);
    default: return (double)group_reference_get_integer(dtype, data, index);
    }
}

void group_reference_put(wk_dtype dtype, void *data, int64_t index, double value)
{
    switch (dtype) {
    case WK_F32: ((float *)data)[index] = (float)value; break;
    case WK_F64: ((double *)data)[index] = value; break;
    case WK_F16: ((uint16_t *)data)[index] = half_bits(round_dtype(dtype, value), 10, 5); break;
    case WK_BF16: ((uint16_t *)data)[index] = half_bits(round_dtype(dtype, value), 7, 8); break;
    case WK_BOOL: put_integer(dtype, data, index, value != 0); break;
    default: put_integer(dtype, data, index, (int64_t)value); break;
    }
}

static number load(wk_dtype dtype, const void *data, int64_t index)
{
    number n;
    if (is_float(dtype)) {
        n.f = group_reference_get(dtype, data, index);
    } else {
        n.i = group_reference_get_integer(dtype, data, index);
    }
    return n;
}

/* ---- arithmetic -------------------------------------------------------------------------------------------------- */

static double float_mod(double a, double b)
{
    double r = fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/* Python's //, computed step by step in the precision of the class, because that determines the last bits of large
 * quotients. */
static double float_floordiv(double a, double b, bool narrow)
{
    double r = fmod(a, b);
    if (b == 0) return a / b;
    double quotient = narrow ? (float)((float)(a - r) / b) : (a - r) / b;
    if (r != 0 && (r < 0) != (b < 0)) quotient = narrow ? (float)(quotient - 1) : quotient - 1;
    if (quotient == 0) return copysign(0, a / b);
    double whole = floor(quotient);
    return quotient - whole > 0.5 ? whole + 1 : whole;
}

static double float_binary(wk__opcode code, double a, double b, bool narrow)
{
    switch (code) {
    case WK__ADD: return a + b;
    case WK__SUB: return a - b;
    case WK__MUL: return a * b;
    case WK__DIV: return a / b;
    case WK__FLOORDIV: return float_floordiv(a, b, narrow);
    case WK__REM: return float_mod(a, b);
    case WK__FMOD: return fmod(a, b);
    case WK__MAX: return isnan(a) || isnan(b) ? NAN : a > b ? a : b;
    case WK__MIN: return isnan(a) || isnan(b) ? NAN : a < b ? a : b;
    case WK__POW: return pow(a, b);
    default: return atan2(a, b);
    }
}

static double float_unary(wk__opcode code, double x, bool narrow)
{
    switch (code) {
    case WK__NEG: return -x;
    case WK__ABS: return fabs(x);
    case WK__SIGN: return (x > 0) - (x < 0);
    case WK__FLOOR: return floor(x);
    case WK__CEIL: return ceil(x);
    case WK__ROUND: return rint(x);
    case WK__TRUNC: return trunc(x);
    case WK__SQRT: return sqrt(x);
    case WK__RSQRT: return 1 / (narrow ? (float)sqrt(x) : sqrt(x));
    case WK__RECIPROCAL: return 1 / x;
    case WK__EXP: return exp(x);
    case WK__EXPM1: return expm1(x);
    case WK__LOG: return log(x);
    case WK__LOG1P: return log1p(x);
    case WK__LOG2: return log2(x);
    case WK__LOG10: return log10(x);
    case WK__SIN: return sin(x);
    case WK__COS: return cos(x);
    case WK__TAN: return tan(x);
    case WK__ASIN: return asin(x);
    case WK__ACOS: return acos(x);
    case WK__ATAN: return atan(x);
    case WK__SINH: return sinh(x);
    case WK__COSH: return cosh(x);
    case WK__TANH: return tanh(x);
    case WK__SIGMOID: return 1 / (1 + exp(-x));
    default: return erf(x);
    }
}

static int64_t int_power(int64_t base, int64_t exponent)
{
    if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0;
    uint64_t power = 1, square = (uint64_t)base;
    for (uint64_t rest = (uint64_t)exponent; rest != 0; rest >>= 1, square *= square) {
        if (rest & 1) power *= square;
    }
    return (int64_t)power;
}

static int64_t int_mod(int64_t a, int64_t b)
{
    return b == 0 || b == -1 ? 0 : a % b;
}

static int64_t int_binary(wk__opcode code, int64_t a, int64_t b, int bits)
{
    int64_t r = int_mod(a, b);
    bool opposite = r != 0 && (r < 0) != (b < 0);
    switch (code) {
    case WK__ADD: return (int64_t)((uint64_t)a + (uint64_t)b);
    case WK__SUB: return (int64_t)((uint64_t)a - (uint64_t)b);
    case WK__MUL: return (int64_t)((uint64_t)a * (uint64_t)b);
    case WK__FLOORDIV: return b == 0 ? 0 : b == -1 ? (int64_t) - (uint64_t)a : a / b - opposite;
    case WK__REM: return opposite ? r + b : r;
    case WK__FMOD: return r;
    case WK__MAX: return a > b ? a : b;
    case WK__MIN: return a < b ? a : b;
    case WK__POW: return int_power(a, b);
    case WK__AND: return a & b;
    case WK__OR: return a | b;
    case WK__XOR: return a ^ b;
    case WK__SHL: return b < 0 || b >= bits ? 0 : (int64_t)((uint64_t)a << b);
    default: return b < 0 || b >= bits ? (a < 0 ? -1 : 0) : a >> b;
    }
}

static int64_t int_unary(wk__opcode code, int64_t x)
{
    switch (code) {
    case WK__NEG: return (int64_t) - (uint64_t)x;
    case WK__ABS: return x < 0 ? (int64_t) - (uint64_t)x : x;
    case WK__SIGN: return (x > 0) - (x < 0);
    default: return ~x;
    }
}

static bool compare(wk__opcode code, bool floats, number a, number b)
{
    switch (code) {
    case WK__EQ: return floats ? a.f == b.f : a.i == b.i;
    case WK__NE: return floats ? a.f != b.f : a.i != b.i;
    case WK__LT: return floats ? a.f < b.f : a.i < b.i;
    case WK__LE: return floats ? a.f <= b.f : a.i <= b.i;
    case WK__GT: return floats ? a.f > b.f : a.i > b.i;
    default: return floats ? a.f >= b.f : a.i >= b.i;
    }
}

/* Converts as x86-64 does: values out of range become INT64_MIN. */
static int64_t truncate(double x)
{
    return x >= -0x1p63 && x < 0x1p63 ? (int64_t)x : INT64_MIN;
}

static number cast(wk_dtype from, wk_dtype to, number x)
{
    number n;
    if (to == WK_BOOL) {
        n.i = is_float(from) ? x.f != 0 : x.i != 0;
    } else if (is_float(to)) {
        double wide = is_float(from) ? x.f : to == WK_F64 ? (double)x.i : (double)(float)x.i;
        n.f = round_dtype(to, wide);
    } else {
        n.i = wrap(to, is_float(from) ? truncate(x.f) : x.i);
    }
    return n;
}

static number arithmetic(const wk__program *group, const wk__ins *ins, const number x[3])
{
    wk_dtype dtype = (wk_dtype)ins->dtype, class = wk__compute_class(dtype);
    wk_dtype operand = (wk_dtype)group->ins[ins->arg[0]].dtype;
    number n;
    if (wk__opcode_kind[ins->code] == 'C') {
        n.i = compare((wk__opcode)ins->code, is_float(operand), x[0], x[1]);
    } else if (is_float(class)) {
        double value = wk__opcode_arity[ins->code] == 2
                           ? float_binary((wk__opcode)ins->code, x[0].f, x[1].f, class == WK_F32)
                           : float_unary((wk__opcode)ins->code, x[0].f, class == WK_F32);
        n.f = round_dtype(class, value);
    } else {
        int64_t value = wk__opcode_arity[ins->code] == 2
                            ? int_binary((wk__opcode)ins->code, x[0].i, x[1].i, class == WK_I64 ? 64 : 32)
                            : int_unary((wk__opcode)ins->code, x[0].i);
        n.i = wrap(class, value);
    }
    return n;
}

static number random_bits(const wk__ins *ins, const wk__imm imm[], int64_t counter)
{
    uint32_t word[4];
    wk__philox((uint64_t)counter, 0, (uint64_t)imm[ins->arg[1]].i, word);
    return (number){.i = (int64_t)(ins->arg[2] == 32 ? word[0] : (uint64_t)word[1] << 32 | word[0])};
}

/* ---- a row ------------------------------------------------------------------------------------------------------- */

typedef struct row {
    const wk__program *group;
    void *const *data;
    int64_t number, columns;
    number *value; /* [instruction][column]; at least one column, for per-row values */
    int64_t width;
    int64_t bad;
    wk__fail *first_bad;
} row;

static int64_t place(const row *r, int operand, int64_t column)
{
    const wk__program *group = r->group;
    int64_t at = group->operand[operand].offset, rest = column;
    for (int d = group->ndim - 1; d >= 0; d--) {
        if (d == group->ndim - group->nreduce - 1) rest = r->number;
        if (group->shape[d] == 0) continue; /* an empty row still has room for its value */
        at += rest % group->shape[d] * group->operand[operand].stride[d];
        rest /= group->shape[d];
    }
    return at;
}

static bool moves_along_columns(const wk__program *group, int operand)
{
    for (int d = group->ndim - group->nreduce; d < group->ndim; d++) {
        if (group->operand[operand].stride[d] != 0 && group->shape[d] != 1) return true;
    }
    return false;
}

static number load_indexed(row *r, const wk__ins *ins, number index, int64_t column)
{
    int operand = ins->arg[1];
    int64_t bound = r->group->imm[ins->arg[2]].i, stride = r->group->imm[ins->arg[2] + 1].i;
    int64_t count = bound < 0 ? -bound : bound, at = index.i < 0 && bound > 0 ? index.i + bound : index.i;
    if (at < 0 || at >= count) {
        if (r->bad++ == 0 && r->first_bad != NULL) {
            r->first_bad->index = index.i;
            r->first_bad->bound = count;
        }
        return (number){.i = 0};
    }
    return load((wk_dtype)r->group->operand[operand].dtype, r->data[operand], place(r, operand, column) + at * stride);
}

static number reduce(const wk__ins *ins, const number *x, int64_t columns)
{
    wk_dtype class = wk__compute_class((wk_dtype)ins->dtype);
    bool most = ins->code == WK__RMAX, floats = is_float(class);
    number n;
    long double sum = ins->code == WK__RPROD;
    uint64_t wrapped = ins->code == WK__RPROD;
    int64_t least = class == WK_I64 ? INT64_MIN : INT32_MIN, greatest = class == WK_I64 ? INT64_MAX : INT32_MAX;
    int64_t extreme = ins->dtype == WK_BOOL ? !most : most ? least : greatest;
    double float_extreme = most ? -INFINITY : INFINITY;
    for (int64_t c = 0; c < columns; c++) {
        if (ins->code == WK__RSUM) {
            if (floats)
                sum += x[c].f;
            else
                wrapped += (uint64_t)x[c].i;
        } else if (ins->code == WK__RPROD) {
            if (floats)
                sum *= x[c].f;
            else
                wrapped *= (uint64_t)x[c].i;
        } else if (floats) {
            float_extreme = float_binary(most ? WK__MAX : WK__MIN, float_extreme, x[c].f, false);
        } else {
            extreme = int_binary(most ? WK__MAX : WK__MIN, extreme, x[c].i, 64);
        }
    }
    bool adds = ins->code == WK__RSUM || ins->code == WK__RPROD;
    if (floats) {
        n.f = round_dtype(class, adds ? (double)sum : float_extreme);
    } else {
        n.i = wrap(class, adds ? (int64_t)wrapped : extreme);
    }
    return n;
}

static void store(row *r, const wk__ins *ins, number x, int64_t column)
{
    wk_dtype dtype = (wk_dtype)r->group->operand[ins->arg[0]].dtype;
    int64_t at = place(r, ins->arg[0], column);
    if (is_float(dtype)) {
        group_reference_put(dtype, r->data[ins->arg[0]], at, x.f);
    } else {
        put_integer(dtype, r->data[ins->arg[0]], at, x.i);
    }
}

static number evaluate(row *r, int k, int64_t column)
{
    const wk__ins *ins = &r->group->ins[k];
    wk_dtype dtype = (wk_dtype)ins->dtype;
    number x[3] = {{0}, {0}, {0}};
    for (int a = 0; a < wk__opcode_arity[ins->code] && ins->code != WK__STORE; a++)
        x[a] = r->value[ins->arg[a] * r->width + column];
    switch (ins->code) {
    case WK__WHERE: return x[0].i ? x[1] : x[2];
    case WK__CAST: return cast((wk_dtype)r->group->ins[ins->arg[0]].dtype, dtype, x[0]);
    case WK__PHILOX: return random_bits(ins, r->group->imm, x[0].i);
    case WK__NDTRI:
        return (number){.f = dtype == WK_F64 ? wk__ndtri64((uint64_t)x[0].i) : wk__ndtri32((uint32_t)x[0].i)};
    case WK__IOTA: return (number){.i = r->number * r->columns + column};
    case WK__IMM: {
        wk__imm imm = r->group->imm[ins->arg[0]];
        if (is_float(dtype)) return (number){.f = round_dtype(wk__compute_class(dtype), imm.f)};
        return (number){.i = imm.i};
    }
    case WK__LOAD:
        return load((wk_dtype)r->group->operand[ins->arg[0]].dtype, r->data[ins->arg[0]],
                    place(r, ins->arg[0], column));
    case WK__LOADX: return load_indexed(r, ins, x[0], column);
    default: return arithmetic(r->group, ins, x);
    }
}

static void run_instruction(row *r, int k)
{
    const wk__ins *ins = &r->group->ins[k];
    bool reads = ins->code == WK__LOAD || ins->code == WK__LOADX;
    bool along = r->group->nreduce == 0 || (ins->code == WK__STORE && moves_along_columns(r->group, ins->arg[0])) ||
                 (reads && moves_along_columns(r->group, ins->arg[ins->code == WK__LOADX]));
    number *value = r->value + k * r->width;
    if (ins->code >= WK__RSUM && ins->code <= WK__RMIN && r->group->nreduce > 0) {
        value[0] = reduce(ins, r->value + ins->arg[0] * r->width, r->columns);
        for (int64_t c = 1; c < r->width; c++) value[c] = value[0];
        return;
    }
    for (int64_t c = 0; c < r->width; c++) {
        if (along && c >= r->columns) continue; /* an empty row has no elements to load or store */
        if (ins->code == WK__STORE) {
            if (along || c == 0) store(r, ins, r->value[ins->arg[1] * r->width + c], c);
        } else {
            value[c] = evaluate(r, k, c);
        }
    }
}

int64_t group_reference_run(const wk__program *group, void *const data[], wk__fail *bad)
{
    row r = {.group = group, .data = data, .columns = wk__program_columns(group), .first_bad = bad};
    r.width = r.columns > 0 ? r.columns : 1;
    r.value = calloc((size_t)(group->nins * r.width) + 1, sizeof *r.value);
    int64_t rows = wk__program_rows(group);
    for (r.number = 0; r.number < rows; r.number++) {
        for (int k = 0; k < group->nins; k++) run_instruction(&r, k);
    }
    free(r.value);
    return r.bad;
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

static bool close_enough(double got, double want, double relative, double absolute)
{
    if (isnan(want) || isnan(got)) return isnan(want) && isnan(got);
    if (isinf(want) || isinf(got)) return got == want;
    return fabs(got - want) <= relative * fabs(want) + absolute;
}

int64_t group_reference_differs(wk_dtype dtype, const void *got, const void *want, int64_t count, double relative,
                                double absolute)
{
    for (int64_t k = 0; k < count; k++) {
        if (dtype == WK_I64 && relative == 0 && absolute == 0) {
            if (((const int64_t *)got)[k] != ((const int64_t *)want)[k]) return k;
        } else if (!close_enough(group_reference_get(dtype, got, k), group_reference_get(dtype, want, k), relative,
                                 absolute)) {
            return k;
        }
    }
    return -1;
}
