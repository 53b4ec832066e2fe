/* SPDX-License-Identifier: Apache-2.0 */
/* Structure of a program, on which its compiled kernel depends: hash and comparison. */
#include "ir.h"

/* Returns the number of arg[] in use; the others must not distinguish kernels. */
static int arguments(const wk__ins *ins)
{
    switch (ins->code) {
    case WK__IMM:
    case WK__LOAD: return 1;
    case WK__STORE: return 2;
    case WK__PHILOX:
    case WK__LOADX: return 3;
    default: return wk__opcode_arity[ins->code];
    }
}

/* Packs an instruction into 64 bits:   arg[2] | arg[1] | arg[0] | dtype | code
 *                                         16       16       16       8       8 */
static uint64_t ins_word(const wk__ins *ins)
{
    uint64_t word = ins->code | (uint64_t)ins->dtype << 8 | (uint64_t)(uint16_t)ins->arg[0] << 16 |
                    (uint64_t)(uint16_t)ins->arg[1] << 32 | (uint64_t)(uint16_t)ins->arg[2] << 48;
    int unused = 16 * (3 - arguments(ins)); /* at most 48 */
    return word << unused >> unused;
}

/* Packs an operand into 64 bits:   dtype | stored | two bits per dimension: stride 0, 1, other */
static uint64_t operand_word(const wk__operand *operand, int ndim)
{
    uint64_t word = (uint64_t)operand->dtype << 1 | operand->stored;
    for (int d = 0; d < ndim; d++) {
        int64_t stride = operand->stride[d];
        word = word << 2 | (stride == 0 ? 0 : stride == 1 ? 1 : 2);
    }
    return word;
}

static uint64_t space_word(const wk__program *group)
{
    return (uint64_t)group->nins | (uint64_t)group->noperands << 8 | (uint64_t)group->nimms << 16 |
           (uint64_t)group->ndim << 24 | (uint64_t)group->nreduce << 32;
}

/* Each step is injective in `word`, so structures that differ in one word never collide. */
static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u; /* 2^64 / golden ratio, odd */
    return hash ^ hash >> 29;
}

uint64_t wk__program_hash(const wk__program *group)
{
    uint64_t hash = mix(0, space_word(group));
    for (int k = 0; k < group->nins; k++) hash = mix(hash, ins_word(&group->ins[k]));
    for (int k = 0; k < group->noperands; k++) hash = mix(hash, operand_word(&group->operand[k], group->ndim));
    return mix(hash, 0);
}

bool wk__program_same_structure(const wk__program *a, const wk__program *b)
{
    if (space_word(a) != space_word(b)) return false;
    for (int k = 0; k < a->nins; k++) {
        if (ins_word(&a->ins[k]) != ins_word(&b->ins[k])) return false;
    }
    for (int k = 0; k < a->noperands; k++) {
        if (operand_word(&a->operand[k], a->ndim) != operand_word(&b->operand[k], b->ndim)) return false;
    }
    return true;
}
