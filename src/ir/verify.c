/* SPDX-License-Identifier: Apache-2.0 */
/* Verifies a program against the rules of ir.h. Slow, for debug builds and tests. Never rejects a valid program;
 * overlaps are reported only if certain. */
#include "ir.h"

/* ---- counts and space ---------------------------------------------------------------------------------------- */

static const char *check_space(const wk__program *group)
{
    if (group->nins < 0 || group->nins > WK__MAX_INS) return "count of instructions";
    if (group->noperands < 0 || group->noperands > WK__MAX_OPERANDS) return "count of operands";
    if (group->nimms < 0 || group->nimms > WK__MAX_IMMS) return "count of immediates";
    if (group->ndim < 0 || group->ndim > WK__MAX_DIMS) return "count of dimensions";
    if (group->nreduce < 0 || group->nreduce > group->ndim) return "count of reduced dimensions";
    int64_t elements = 1;
    bool empty = false, overflow = false;
    for (int d = 0; d < group->ndim; d++) {
        if (group->shape[d] < 0) return "a dimension of negative size";
        empty |= group->shape[d] == 0;
        overflow |= __builtin_mul_overflow(elements, group->shape[d], &elements);
    }
    return overflow && !empty ? "a space of more than 2^63 elements" : NULL;
}

static bool usable(int dtype)
{
    return dtype >= WK_F32 && dtype < WK_DTYPE_COUNT;
}

/* ---- instructions -------------------------------------------------------------------------------------------- */

static wk_dtype class_of_register(const wk__program *group, int r)
{
    return wk__compute_class((wk_dtype)group->ins[r].dtype);
}

static bool floating(wk_dtype class)
{
    return class == WK_F32 || class == WK_F64;
}

/* Checks that register operands precede the instruction and have a value. */
static const char *check_registers(const wk__program *group, int k)
{
    const wk__ins *ins = &group->ins[k];
    const int16_t *registers = ins->code == WK__STORE ? ins->arg + 1 : ins->arg;
    for (int a = 0; a < wk__opcode_arity[ins->code]; a++) {
        if (registers[a] < 0 || registers[a] >= k) return "a register used before its definition";
        if (group->ins[registers[a]].code == WK__STORE) return "a STORE used as a register";
    }
    return NULL;
}

static const char *check_arithmetic(const wk__program *group, const wk__ins *ins)
{
    char kind = wk__opcode_kind[ins->code];
    wk_dtype class = kind == 'C' ? class_of_register(group, ins->arg[0]) : wk__compute_class((wk_dtype)ins->dtype);
    for (int a = 0; a < wk__opcode_arity[ins->code]; a++) {
        if (class_of_register(group, ins->arg[a]) != class) return "an operand class that differs from the operation's";
    }
    if (kind == 'C' && ins->dtype != WK_BOOL) return "a comparison with a dtype other than bool";
    if (kind == 'F' && !floating(class)) return "a floating-point operation on integers";
    if (kind == 'I' && floating(class)) return "an integer operation on floats";
    if (ins->code == WK__NOT && ins->dtype == WK_BOOL) return "NOT of bool; use EQ with 0";
    return NULL;
}

static const char *check_where(const wk__program *group, const wk__ins *ins)
{
    wk_dtype class = wk__compute_class((wk_dtype)ins->dtype);
    if (group->ins[ins->arg[0]].dtype != WK_BOOL) return "WHERE with a condition other than bool";
    bool same = class_of_register(group, ins->arg[1]) == class && class_of_register(group, ins->arg[2]) == class;
    return same ? NULL : "WHERE with a value of another class";
}

static bool is_imm(const wk__program *group, int index)
{
    return index >= 0 && index < group->nimms;
}

static const char *check_random(const wk__program *group, const wk__ins *ins)
{
    if (class_of_register(group, ins->arg[0]) != WK_I64) return "PHILOX or NDTRI of a register other than i64";
    if (ins->code == WK__NDTRI) {
        return ins->dtype == WK_F32 || ins->dtype == WK_F64 ? NULL : "NDTRI with a dtype other than f32 and f64";
    }
    if (ins->dtype != WK_I64) return "PHILOX with a dtype other than i64";
    if (!is_imm(group, ins->arg[1])) return "PHILOX without a key";
    return ins->arg[2] == 32 || ins->arg[2] == 64 ? NULL : "PHILOX with a width other than 32 and 64 bits";
}

static const char *check_load(const wk__program *group, const wk__ins *ins)
{
    bool indexed = ins->code == WK__LOADX;
    int operand = ins->arg[indexed ? 1 : 0];
    if (operand < 0 || operand >= group->noperands) return "a LOAD from an operand out of range";
    if (group->operand[operand].dtype != ins->dtype) return "a LOAD with a dtype other than the operand's";
    if (!indexed) return NULL;
    if (group->ins[ins->arg[0]].dtype != WK_I64) return "LOADX with an index other than i64";
    if (!is_imm(group, ins->arg[2]) || !is_imm(group, ins->arg[2] + 1)) return "LOADX without bound and stride";
    return group->operand[operand].stored ? "LOADX from an operand that is stored to" : NULL;
}

static const char *check_store(const wk__program *group, const wk__ins *ins, const uint8_t level[])
{
    int operand = ins->arg[0];
    if (operand < 0 || operand >= group->noperands) return "a STORE to an operand out of range";
    const wk__operand *target = &group->operand[operand];
    if (!target->stored) return "a STORE to an operand not marked as stored";
    if (wk__compute_class((wk_dtype)target->dtype) != class_of_register(group, ins->arg[1]))
        return "a STORE of another class";
    for (int d = group->ndim - group->nreduce; d < group->ndim; d++) {
        if (!level[ins->arg[1]] && target->stride[d] != 0 && group->shape[d] != 1) {
            return "a STORE of a row value to an operand with a stride along the row";
        }
    }
    return NULL;
}

static const char *check_ins(const wk__program *group, int k)
{
    const wk__ins *ins = &group->ins[k];
    if (ins->code >= WK__OPCODE_COUNT) return "an unknown instruction";
    if (ins->code != WK__STORE && !usable(ins->dtype)) return "a register with an invalid dtype";
    const char *wrong = check_registers(group, k);
    if (wrong) return wrong;
    if (wk__opcode_kind[ins->code] != 'S') return check_arithmetic(group, ins);
    switch (ins->code) {
    case WK__WHERE: return check_where(group, ins);
    case WK__PHILOX:
    case WK__NDTRI: return check_random(group, ins);
    case WK__IOTA: return ins->dtype == WK_I64 ? NULL : "IOTA with a dtype other than i64";
    case WK__IMM: return is_imm(group, ins->arg[0]) ? NULL : "IMM without a value";
    case WK__LOAD:
    case WK__LOADX: return check_load(group, ins);
    case WK__CAST:
    case WK__STORE: return NULL; /* any dtype; stores are checked once the levels are known */
    default:
        return class_of_register(group, ins->arg[0]) == wk__compute_class((wk_dtype)ins->dtype)
                   ? NULL
                   : "a reduction with a class other than its operand's";
    }
}

/* ---- memory -------------------------------------------------------------------------------------------------- */

static bool moves(const wk__program *group, const wk__operand *operand, int d)
{
    return group->shape[d] > 1 && operand->stride[d] != 0;
}

static int64_t magnitude(int64_t value)
{
    return value < 0 ? -value : value;
}

static int64_t gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return magnitude(a);
}

/* Returns true if two elements of a stored operand certainly share an address, within dimensions 0..dims-1. Along d and
 * e they do if i x stride d = j x stride e; the least such i is stride e / gcd. */
static bool stores_twice(const wk__program *group, const wk__operand *operand, int dims)
{
    for (int d = 0; d < dims; d++) {
        if (group->shape[d] > 1 && operand->stride[d] == 0) return true;
        if (!moves(group, operand, d)) continue;
        for (int e = 0; e < d; e++) {
            if (!moves(group, operand, e)) continue;
            int64_t common = gcd(operand->stride[d], operand->stride[e]);
            if (magnitude(operand->stride[e] / common) < group->shape[d] &&
                magnitude(operand->stride[d] / common) < group->shape[e]) {
                return true;
            }
        }
    }
    return false;
}

/* Byte range of an operand, from its first to its last element: [low, high). */
typedef struct span {
    int64_t low, high;
    bool full; /* without gaps */
} span;

/* Returns true if the operand has no gaps: strides 1, size, size x size', ... in any order of the dimensions. */
static bool is_gapless(const wk__program *group, const wk__operand *operand)
{
    int64_t next = 1;
    int left = 0;
    for (int d = 0; d < group->ndim; d++) left += moves(group, operand, d);
    for (int d = 0; d < group->ndim && left > 0; d++) {
        if (!moves(group, operand, d) || magnitude(operand->stride[d]) != next) continue;
        next *= group->shape[d];
        left--;
        d = -1; /* restart the search */
    }
    return left == 0;
}

static span span_of(const wk__program *group, const wk__operand *operand)
{
    int64_t size = (int64_t)wk_dtype_size((wk_dtype)operand->dtype);
    int64_t low = operand->offset, high = operand->offset + 1;
    for (int d = 0; d < group->ndim; d++) {
        int64_t reach = operand->stride[d] * (group->shape[d] - 1);
        if (reach < 0) low += reach;
        if (reach > 0) high += reach;
    }
    return (span){low * size, high * size, is_gapless(group, operand)};
}

static bool same_size(const wk__operand *a, const wk__operand *b)
{
    return wk_dtype_size((wk_dtype)a->dtype) == wk_dtype_size((wk_dtype)b->dtype);
}

static bool identical(const wk__program *group, const wk__operand *a, const wk__operand *b)
{
    if (!same_size(a, b) || a->offset != b->offset) return false;
    for (int d = 0; d < group->ndim; d++) {
        if (group->shape[d] > 1 && a->stride[d] != b->stride[d]) return false;
    }
    return true;
}

/* Returns true if the first or the last byte of `inner` lies in `outer`. */
static bool reaches_into(span inner, span outer)
{
    return (inner.low >= outer.low && inner.low < outer.high) || (inner.high > outer.low && inner.high <= outer.high);
}

static bool overlap(const wk__program *group, const wk__operand *a, const wk__operand *b)
{
    span s = span_of(group, a), t = span_of(group, b);
    if (a->offset == b->offset && same_size(a, b)) return true; /* same first element */
    return (s.full && reaches_into(t, s)) || (t.full && reaches_into(s, t));
}

static bool is_indexed(const wk__program *group, int operand)
{
    for (int k = 0; k < group->nins; k++) {
        if (group->ins[k].code == WK__LOADX && group->ins[k].arg[1] == operand) return true;
    }
    return false;
}

/* Checks stored operand `s` against all others in the same memory, except those read by LOADX, whose addresses are
 * unknown here. */
static const char *check_overlaps(const wk__program *group, int s)
{
    const wk__operand *stored = &group->operand[s];
    for (int k = 0; k < group->noperands; k++) {
        const wk__operand *other = &group->operand[k];
        if (k == s || !stored->memory || other->memory != stored->memory || is_indexed(group, k)) continue;
        bool same = identical(group, stored, other);
        if (same && other->stored) return "two stored operands at the same address";
        if (!same && overlap(group, stored, other)) return "an operand that overlaps one that is stored to";
    }
    return NULL;
}

/* Checks that no operand is stored twice or loaded after its store. */
static const char *check_order(const wk__program *group, int k)
{
    const wk__ins *store = &group->ins[k];
    const wk__operand *target = &group->operand[store->arg[0]];
    for (int later = k + 1; later < group->nins; later++) {
        const wk__ins *ins = &group->ins[later];
        if (ins->code == WK__STORE && ins->arg[0] == store->arg[0]) return "two STOREs to one operand";
        if (ins->code != WK__LOAD) continue;
        const wk__operand *source = &group->operand[ins->arg[0]];
        bool twin = target->memory && source->memory == target->memory && identical(group, source, target);
        if (source == target || twin) return "a LOAD after the STORE to the same address";
    }
    return NULL;
}

static bool has_elements(const wk__program *group)
{
    for (int d = 0; d < group->ndim; d++) {
        if (group->shape[d] == 0) return false;
    }
    return true;
}

static const char *check_stores(const wk__program *group)
{
    uint8_t level[WK__MAX_INS], pass[WK__MAX_INS];
    bool written[WK__MAX_OPERANDS] = {false};
    wk__program_levels(group, level, pass);
    for (int k = 0; k < group->nins; k++) {
        const wk__ins *ins = &group->ins[k];
        if (ins->code != WK__STORE) continue;
        const char *wrong = check_store(group, ins, level);
        if (!wrong) wrong = check_order(group, k);
        if (wrong) return wrong;
        written[ins->arg[0]] = true;
        int dims = group->nreduce > 0 && !level[ins->arg[1]] ? group->ndim - group->nreduce : group->ndim;
        if (has_elements(group) && stores_twice(group, &group->operand[ins->arg[0]], dims)) {
            return "a stored operand with two elements at the same address";
        }
    }
    for (int k = 0; k < group->noperands; k++) {
        if (group->operand[k].stored != written[k]) return "an operand marked as stored without a STORE";
        const char *wrong = written[k] && has_elements(group) ? check_overlaps(group, k) : NULL;
        if (wrong) return wrong;
    }
    return NULL;
}

const char *wk__program_verify(const wk__program *group)
{
    const char *wrong = check_space(group);
    for (int k = 0; !wrong && k < group->noperands; k++) {
        if (!usable(group->operand[k].dtype)) wrong = "an operand with an invalid dtype";
    }
    for (int k = 0; !wrong && k < group->nins; k++) wrong = check_ins(group, k);
    return wrong ? wrong : check_stores(group);
}
