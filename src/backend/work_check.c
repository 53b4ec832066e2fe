/* SPDX-License-Identifier: Apache-2.0 */
/* Validation of work without executing it: programs are well formed, operands have matching dtypes and stay within
 * their memory. The null device checks all submitted work, flush_validate.c the work of a file.
 *
 * Each check returns NULL, or a static description of what is invalid, to be read after "has": "an operand without
 * memory". */
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "backend/contraction.h"
#include "base/alloc.h"
#include "ir/blocks.h"

/* Range of element offsets that an operand accesses relative to its offset: low <= 0 <= high. */
typedef struct reach {
    int64_t low, high;
} reach;

/* Extends a reach by a dimension with indices 0 .. steps. */
static void extend(reach *r, int64_t steps, int64_t stride)
{
    if (steps < 1) return;
    if (stride < 0) r->low += steps * stride;
    if (stride > 0) r->high += steps * stride;
}

static bool is_empty(int ndim, const int64_t *shape)
{
    for (int d = 0; d < ndim; d++)
        if (shape[d] == 0) return true;
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

/* Checks an operand of this shape. */
static const char *check_operand(const wk__operand *operand, int ndim, const int64_t *shape)
{
    if (!operand->memory) return "an operand without memory";
    return is_empty(ndim, shape) ? NULL : check_reach(operand, reach_of(operand, ndim, shape));
}

/* Checks a program and all its operands except `unchecked`, which has no memory (-1: none). */
static const char *check_program_except(const wk__program *program, int unchecked)
{
    const char *wrong = wk__program_verify(program);
    for (int o = 0; !wrong && o < program->noperands; o++) {
        const wk__operand *operand = &program->operand[o];
        if (o == unchecked) continue;
        if (!operand->memory) return "an operand without memory";
        reach r = reach_of(operand, program->ndim, program->shape);
        bool read = !is_empty(program->ndim, program->shape);
        for (int k = 0; k < program->nins; k++) {
            const wk__ins *ins = &program->ins[k];
            if (ins->code != WK__LOADX || ins->arg[1] != o) continue;
            /* number of valid indices; if negative, negative indices are out of range */
            int64_t bound = llabs(program->imm[ins->arg[2]].i);
            read &= bound > 0;
            extend(&r, bound - 1, program->imm[ins->arg[2] + 1].i);
        }
        if (read) wrong = check_reach(operand, r);
    }
    return wrong;
}

static const char *check_program(const wk__program *program)
{
    return check_program_except(program, -1);
}

/* Checks a prologue: a program that stores one operand, the factor. The factor's memory stays undefined. */
static const char *check_prologue(const wk__program *program, const wk__operand *factor)
{
    int stored = -1;
    for (int o = 0; o < program->noperands; o++) {
        if (!program->operand[o].stored) continue;
        if (stored >= 0) return "a prologue with more than one stored operand";
        stored = o;
    }
    if (stored < 0 || program->operand[stored].memory != factor->memory) return "a prologue without a stored operand";
    if (program->operand[stored].dtype != factor->dtype) return "a prologue with a stored operand of another dtype";
    if (program->nreduce > 0) return "a prologue with a reduction";
    for (int k = 0; k < program->nins; k++)
        if (program->ins[k].code == WK__LOADX) return "a prologue with LOADX";
    return check_program_except(program, stored);
}

/* Checks a contraction. The factors also step along the summed indices, and are not read if the sum or the result is
 * empty. */
static const char *check_contraction(const wk__work_args *args)
{
    if (!args->contraction) return "a contraction without summed indices";
    const wk__contraction *contraction = args->contraction;
    const char *wrong = wk__contraction_check(contraction, args->ndim, args->shape);
    if (wrong) return wrong;
    if (args->operand[1].dtype != args->operand[2].dtype) return "factors with different dtypes";
    for (int factor = 0; factor < WK__FACTORS; factor++) {
        const wk__operand *operand = &args->operand[1 + factor];
        if (!operand->memory) return "an operand without memory";
        if (args->prologue[factor]) {
            wrong = check_prologue(args->prologue[factor], operand);
            if (wrong) return wrong;
            continue;
        }
        if (is_empty(args->ndim, args->shape) || wk__contraction_k(contraction) == 0) continue;
        reach r = reach_of(operand, args->ndim, args->shape), summed;
        wk__contraction_reach(contraction, factor, &summed.low, &summed.high);
        wrong = check_reach(operand, (reach){r.low + summed.low, r.high + summed.high});
        if (wrong) return wrong;
    }
    return check_operand(&args->operand[0], args->ndim, args->shape);
}

/* Checks work along one dimension: scatter_add, scan, sort. */
static const char *check_along_dim(const wk__work_family *family, const wk__work_args *args)
{
    const int dims = args->ndim ? args->ndim : 1; /* a scalar is a line of one element */
    if (args->dim < 0 || args->dim >= dims) return "a dimension out of range";
    if (args->mode < 0 || args->mode >= family->nmodes) return "an unknown mode";
    if (args->operand[0].dtype != args->operand[family->same_dtype_operand].dtype)
        return "operands with different dtypes";
    if (family->index_operand && args->operand[family->index_operand].dtype != WK_I64)
        return "indices with a dtype other than i64";
    for (int o = 0; o < family->nout + family->nin; o++) {
        int64_t shape[WK__MAX_DIMS];
        memcpy(shape, args->shape, sizeof shape);
        wk__work_operand_shape(family, o, args->dim, args->bound, shape);
        const char *wrong = check_operand(&args->operand[o], args->ndim, shape);
        if (wrong) return wrong;
    }
    return NULL;
}

/* An operand of attention: the dimensions that it has besides the leading ones, from L, S, E, Ev. */
enum { L, S, E, EV };
typedef struct attention_operand {
    int row, column; /* column -1: none */
    bool is_mask;
} attention_operand;

/* Checks the strides that the kernels require: contiguous rows, except of masks, and row-major results. `shape`
 * has 1 for each dimension that the operand does not have. */
static const char *check_attention_strides(const wk__operand *operand, const attention_operand *of, bool is_result,
                                           int ndim, const int64_t *shape)
{
    const int column = ndim - WK__ATTENTION_DIMS + of->column;
    if (is_empty(ndim, shape)) return NULL;
    if (of->column >= 0 && !of->is_mask && shape[column] != 1 && operand->stride[column] != 1)
        return "an operand of attention whose rows are not contiguous";
    int64_t dense = 1;
    for (int d = ndim - 1; is_result && d >= 0; d--) {
        if (shape[d] != 1 && operand->stride[d] != dense) return "a result of attention that is not row-major";
        if (!wk__mul_size(dense, shape[d], &dense)) return "a result of attention that is too large";
    }
    return NULL;
}

/* Checks attention: operands have one dtype and are addressed by strides over one space. Operands without the dimension
 * that makes the space empty are still accessed. */
static const char *check_attention(const wk__work_family *family, const wk__work_args *args)
{
    static const attention_operand forward[] = {{L, EV, false}, {L, -1, false}, {L, E, false},
                                                {S, E, false},  {S, EV, false}, {L, S, true}};
    static const attention_operand backward[] = {{L, E, false},  {S, E, false},  {S, EV, false}, {L, E, false},
                                                 {S, E, false},  {S, EV, false}, {L, S, true},   {L, EV, false},
                                                 {L, -1, false}, {L, -1, false}};
    const int leads = args->ndim - WK__ATTENTION_DIMS;
    if (leads < 0) return "too few dimensions for attention";
    if (args->mode < 0 || args->mode >= family->nmodes) return "an unknown mode";
    for (int o = 0; o < family->nout + family->nin; o++) {
        const attention_operand *of = family->nout == 2 ? &forward[o] : &backward[o];
        const bool unread = of->is_mask && !(args->mode & WK__ATTENTION_MASKED);
        int64_t shape[WK__MAX_DIMS];
        memcpy(shape, args->shape, sizeof shape);
        for (int d = L; d <= EV && !unread; d++)
            if (d != of->row && d != of->column) shape[leads + d] = 1;
        if (args->operand[o].dtype != args->operand[0].dtype) return "operands with different dtypes";
        const char *wrong = check_operand(&args->operand[o], args->ndim, shape);
        if (!wrong) wrong = check_attention_strides(&args->operand[o], of, o < family->nout, args->ndim, shape);
        if (wrong) return wrong;
    }
    return NULL;
}

/* Checks a product with blocks: complete blocks at even offsets, contiguous rows of x and of bytes, a row-major
 * result. */
static const char *check_quantized(const wk__work_family *family, const wk__work_args *args)
{
    enum { R, O, I, B, DIMS };
    static const int row[] = {R, R, O}, column[] = {O, I, B};
    if (args->ndim != WK__QUANTIZED_DIMS) return "a number of dimensions other than 4";
    if (args->mode < 0 || args->mode >= family->nmodes) return "an unknown mode";
    const wk__block_format *format = &wk__block_formats[args->mode];
    if (args->operand[1].dtype != args->operand[0].dtype) return "operands with different dtypes";
    if (args->operand[2].dtype != WK_U8) return "blocks with a dtype other than u8";
    if (args->shape[I] % format->elements != 0 || args->shape[B] % format->bytes != 0 ||
        args->shape[I] / format->elements != args->shape[B] / format->bytes)
        return "rows with a part of a block";
    for (int o = 0; o < 3; o++) {
        const wk__operand *operand = &args->operand[o];
        int64_t shape[WK__MAX_DIMS] = {1, 1, 1, 1};
        shape[row[o]] = args->shape[row[o]];
        shape[column[o]] = args->shape[column[o]];
        const char *wrong = check_operand(operand, DIMS, shape);
        if (wrong) return wrong;
        if (shape[column[o]] > 1 && operand->stride[column[o]] != 1) return "rows that are not contiguous";
        if (o == 0 && shape[R] > 1 && operand->stride[R] != shape[O]) return "a result that is not row-major";
        if (o == 2 && (operand->offset % 2 != 0 || (shape[O] > 1 && operand->stride[O] % 2 != 0)))
            return "blocks at an odd offset";
    }
    return NULL;
}

/* Checks the gradients of a norm: operands have one dtype, contiguous rows and columns, and dense results. */
static const char *check_norm(const wk__work_family *family, const wk__work_args *args)
{
    enum { R = 1, C = 2 };
    static const int dims[] = {R | C, C, C, R | C, R | C, R, R, C};
    static const int mode[] = {0, 0, 0, 0, 0, WK__NORM_CENTRED, 0, WK__NORM_WEIGHTED};
    if (args->ndim != WK__NORM_DIMS) return "a number of dimensions other than 2";
    if (args->mode < 0 || args->mode >= family->nmodes) return "an unknown mode";
    for (int o = 0; o < family->nout + family->nin; o++) {
        const wk__operand *operand = &args->operand[o];
        const bool unread = mode[o] && !(args->mode & mode[o]);
        const int64_t shape[] = {dims[o] & R || unread ? args->shape[0] : 1,
                                 dims[o] & C || unread ? args->shape[1] : 1};
        if (operand->dtype != args->operand[0].dtype) return "operands with different dtypes";
        const char *wrong = check_operand(operand, WK__NORM_DIMS, shape);
        if (wrong) return wrong;
        if (unread) continue;
        if (shape[1] > 1 && operand->stride[1] != 1) return "rows that are not contiguous";
        if (o == 0 && shape[0] > 1 && operand->stride[0] != shape[1]) return "a result that is not row-major";
        if (dims[o] == R && shape[0] > 1 && operand->stride[0] != 1) return "statistics that are not contiguous";
    }
    return NULL;
}

static const char *check_args(const wk__work_family *family, const wk__work_args *args)
{
    if (!args) return "no operands";
    if (args->ndim < 0 || args->ndim > WK__MAX_DIMS) return "an invalid number of dimensions";
    if (family->is_attention) return check_attention(family, args);
    if (family->is_quantized) return check_quantized(family, args);
    if (family->is_norm) return check_norm(family, args);
    return family->is_contraction ? check_contraction(args) : check_along_dim(family, args);
}

const char *wk__work_check(const wk__work *work)
{
    const wk__work_family *family = wk__work_family_of(work);
    const wk__program *program = work->program;
    if (family->is_program) return program ? check_program(program) : "no program";
    const char *wrong = check_args(family, work->args);
    if (wrong || !program) return wrong;
    if (!family->can_have_epilogue) return "an epilogue of work that does not support one";
    const wk__memory *result = work->args->operand[0].memory;
    if (program->noperands < 1 || program->operand[0].memory->block != result->block ||
        program->operand[0].memory->offset != result->offset)
        return "an epilogue whose first operand is not the product";
    return check_program(program);
}
