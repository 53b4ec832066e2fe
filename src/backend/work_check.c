/* SPDX-License-Identifier: Apache-2.0 */
/* Validation of work without executing it: programs are well-formed and operands stay within their memory. */
#include <stdlib.h>
#include <string.h>

#include "backend/null/command_log.h"

/* Range of element offsets that an operand accesses relative to its offset: low <= 0 <= high. */
typedef struct reach {
    int64_t low, high;
} reach;

static void extend(reach *r, int64_t steps, int64_t stride)
{
    if (steps < 1) return;
    if (stride < 0) r->low += steps * stride;
    if (stride > 0) r->high += steps * stride;
}

static bool is_empty(int ndim, const int64_t *shape)
{
    for (int d = 0; d < ndim; d++) {
        if (shape[d] == 0) return true;
    }
    return false;
}

static reach reach_of(const wk__operand *operand, int ndim, const int64_t *shape)
{
    reach r = {0, 0};
    for (int d = 0; d < ndim; d++) extend(&r, shape[d] - 1, operand->stride[d]);
    return r;
}

static const char *check_reach(const wk__operand *operand, reach r)
{
    int64_t size = (int64_t)wk_dtype_size((wk_dtype)operand->dtype);
    if (operand->memory->offset % WK__ALIGN != 0) return "unaligned memory";
    if (operand->offset + r.low < 0) return "an operand that starts before its memory";
    if ((operand->offset + r.high + 1) * size > operand->memory->bytes) return "an operand that ends after its memory";
    return NULL;
}

/* Checks an operand over its shape. */
static const char *check_operand(const wk__operand *operand, int ndim, const int64_t *shape)
{
    if (!operand->memory) return "an operand without memory";
    return is_empty(ndim, shape) ? NULL : check_reach(operand, reach_of(operand, ndim, shape));
}

/* Checks a program; operand `nowhere` has no memory (-1: all have). */
static const char *check_group_but(const wk__program *group, int nowhere)
{
    const char *wrong = wk__program_verify(group);
    for (int o = 0; !wrong && o < group->noperands; o++) {
        const wk__operand *operand = &group->operand[o];
        if (o == nowhere) continue;
        if (!operand->memory) return "an operand without memory";
        reach r = reach_of(operand, group->ndim, group->shape);
        bool read = !is_empty(group->ndim, group->shape);
        for (int k = 0; k < group->nins; k++) {
            const wk__ins *ins = &group->ins[k];
            if (ins->code != WK__LOADX || ins->arg[1] != o) continue;
            int64_t bound = llabs(group->imm[ins->arg[2]].i);
            read &= bound > 0; /* no valid index */
            extend(&r, bound - 1, group->imm[ins->arg[2] + 1].i);
        }
        if (read) wrong = check_reach(operand, r);
    }
    return wrong;
}

static const char *check_group(const wk__program *group)
{
    return check_group_but(group, -1);
}

static const char *check_prologue(const wk__program *group, const wk__operand *factor)
{
    int stored = -1;
    for (int o = 0; o < group->noperands; o++) {
        if (!group->operand[o].stored) continue;
        if (stored >= 0) return "a prologue with more than one stored operand";
        stored = o;
    }
    if (stored < 0 || group->operand[stored].memory != factor->memory) return "a prologue without a stored operand";
    if (group->operand[stored].dtype != factor->dtype) return "a prologue with a stored operand of another dtype";
    if (group->nreduce > 0) return "a prologue with a reduction";
    for (int k = 0; k < group->nins; k++)
        if (group->ins[k].code == WK__LOADX) return "a prologue with LOADX";
    return check_group_but(group, stored);
}

/* Checks a contraction. Factors reach further than their strides over the result space, and are not read if the sum is
 * empty. */
static const char *check_sum(const wk__work_args *kernel)
{
    if (!kernel->contraction) return "a contraction without summed indices";
    const wk__contraction *sum = kernel->contraction;
    const char *wrong = wk__contraction_check(sum, kernel->ndim, kernel->shape);
    if (wrong) return wrong;
    if (kernel->operand[1].dtype != kernel->operand[2].dtype) return "a product with mixed dtypes";
    for (int factor = 0; factor < WK__FACTORS; factor++) {
        const wk__operand *operand = &kernel->operand[1 + factor];
        if (!operand->memory) return "an operand without memory";
        if (kernel->prologue[factor]) {
            wrong = check_prologue(kernel->prologue[factor], operand);
            if (wrong) return wrong;
            continue;
        }
        if (is_empty(kernel->ndim, kernel->shape) || wk__contraction_k(sum) == 0) continue;
        reach r = reach_of(operand, kernel->ndim, kernel->shape), more;
        wk__contraction_reach(sum, factor, &more.low, &more.high);
        wrong = check_reach(operand, (reach){r.low + more.low, r.high + more.high});
        if (wrong) return wrong;
    }
    return check_operand(&kernel->operand[0], kernel->ndim, kernel->shape);
}

static const char *check_along(const wk__work_family *family, const wk__work_args *kernel)
{
    if (kernel->dim < 0 || kernel->dim >= (kernel->ndim ? kernel->ndim : 1)) return "a dimension out of range";
    if (kernel->mode < 0 || kernel->mode >= family->nmodes) return "an unknown mode of the kernel";
    if (kernel->operand[0].dtype != kernel->operand[family->same_dtype_operand].dtype)
        return "a kernel with mixed dtypes";
    if (family->index_operand && kernel->operand[family->index_operand].dtype != WK_I64)
        return "positions with a dtype other than i64";
    for (int o = 0; o < family->nout + family->nin; o++) {
        int64_t shape[WK__MAX_DIMS];
        memcpy(shape, kernel->shape, sizeof shape);
        wk__work_operand_shape(family, o, kernel->dim, kernel->bound, shape);
        const char *wrong = check_operand(&kernel->operand[o], kernel->ndim, shape);
        if (wrong) return wrong;
    }
    return NULL;
}

static const char *check_kernel(const wk__work_family *family, const wk__work_args *kernel)
{
    if (!kernel) return "work without its operands";
    if (kernel->ndim < 0 || kernel->ndim > WK__MAX_DIMS) return "count of dimensions";
    return family->is_contraction ? check_sum(kernel) : check_along(family, kernel);
}

const char *wk__work_check(const wk__work *work)
{
    const wk__work_family *family = wk__work_family_of(work);
    const wk__program *group = work->program;
    const char *wrong = family->is_program ? NULL : check_kernel(family, work->args);
    if (wrong) return wrong;
    if (!group) return family->is_program ? "a missing program" : NULL;
    if (family->is_program) return check_group(group);
    if (!family->can_have_epilogue) return "an epilogue of work that does not support one";
    const wk__memory *result = work->args->operand[0].memory;
    if (group->noperands < 1 || group->operand[0].memory->block != result->block ||
        group->operand[0].memory->offset != result->offset)
        return "an epilogue whose first operand is not the product";
    return check_group(group);
}
