/* SPDX-License-Identifier: Apache-2.0 */
/* See flush_validate.h. Lowers each record alone, and checks the accesses of its program like the null device does. */
#include "flush_validate.h"
#include "base/alloc.h"
#include "engine/execute.h"
#include <stdlib.h>
#include <string.h>

static const int64_t max_elements = (int64_t)1 << 56; /* maximum of all element counts and offsets */

typedef struct checker {
    const wk__flush_data *flush;
    wk__value *value; /* stand-ins for the flush's values, with sizes but without memory */
    bool *made;
    wk__lowering building;
} checker;

static bool usable(int dtype)
{
    return dtype >= WK_F32 && dtype < WK_DTYPE_COUNT;
}

/* ---- address ranges ---------------------------------------------------------------------------------------------- */

static bool space_fits(wk__record *r)
{
    int64_t elements = 1;
    for (int d = 0; d < r->ndim; d++) {
        const int64_t size = wk__record_shape(r)[d];
        if (size < 0 || size > max_elements) return false;
        if (size > 0 && (!wk__mul_size(elements, size, &elements) || elements > max_elements)) return false;
    }
    return true;
}

/* Computes the space over which the record accesses its k-th reference. */
static void space_of(wk__record *r, int k, int64_t shape[])
{
    memcpy(shape, wk__record_shape(r), sizeof *shape * r->ndim);
    wk__work_operand_shape(wk__record_family(r), k, r->dim, r->bound, shape);
}

/* Extends the range [low, high] by the range of offsets of a dimension. */
static bool extend(int64_t size, int64_t stride, int64_t *low, int64_t *high)
{
    int64_t way;
    if (size < 1) return true;
    if (!wk__mul_size(size - 1, stride, &way) || way > max_elements || way < -max_elements) return false;
    *(way < 0 ? low : high) += way;
    return true;
}

/* The same for a contraction's factor. Dimensions and summed indices are at most 15, of 2^56 each: no overflow. */
static bool extend_sum(const wk__contraction *sum, int factor, int64_t *low, int64_t *high, bool *empty)
{
    for (int i = 0; i < sum->nsummed; i++) {
        *empty = *empty || sum->extent[i] == 0;
        if (!extend(sum->extent[i], sum->stride[factor][i], low, high)) return false;
    }
    for (int k = 0; k < sum->naffine[factor]; k++)
        if (!extend(sum->affine[factor][k].extent, sum->affine[factor][k].stride, low, high)) return false;
    return true;
}

/* Returns true if all accesses are within the value. Indirect reads are checked with the program. */
static bool reach_fits(wk__record *r, int k, int64_t bytes)
{
    int64_t shape[WK__MAX_DIMS], low = r->ref[k].offset, high = low;
    const int64_t size = (int64_t)wk_dtype_size(r->ref[k].dtype);
    bool empty = false;
    if (low > max_elements || low < -max_elements) return false;
    space_of(r, k, shape);
    for (int d = 0; d < r->ndim; d++) {
        empty = empty || shape[d] == 0;
        if (!extend(shape[d], wk__record_stride(r, k)[d], &low, &high)) return false;
    }
    if (wk__record_family(r)->is_contraction && k > 0 && !extend_sum(wk__record_sum(r), k - 1, &low, &high, &empty))
        return false;
    return empty || r->ref[k].flags & WK__REF_INDIRECT || (low >= 0 && high < bytes / size);
}

/* ---- families ---------------------------------------------------------------------------------------------------- */

static bool program_fits(const wk__record *r)
{
    if (r->nout != 1 || !usable(r->compute) || r->reduce_mask >> r->ndim != 0) return false;
    if (!wk__record_reduces(r)) return r->op->expression != NULL;
    return (r->op->expression ? r->nin >= 1 : r->nin == 1) && r->op->reduction >= WK__RSUM &&
           r->op->reduction < WK__OPCODE_COUNT;
}

static bool sum_fits(wk__record *r)
{
    const wk__contraction *sum = wk__record_sum(r);
    int64_t products = 1;
    for (int d = 0; d < r->ndim; d++)
        if (wk__record_shape(r)[d] > 0 && !wk__mul_size(products, wk__record_shape(r)[d], &products)) return false;
    for (int i = 0; i < sum->nsummed; i++)
        if (sum->extent[i] > 0 && (!wk__mul_size(products, sum->extent[i], &products) || products > max_elements))
            return false;
    return wk__contraction_check(sum, r->ndim, wk__record_shape(r)) == NULL;
}

static bool along_fits(const wk__record *r)
{
    return r->dim >= 0 && r->dim < r->ndim && r->bound >= 0 && r->bound <= max_elements && r->mode >= 0 &&
           r->mode < wk__record_family(r)->nmodes;
}

static bool attention_fits(const wk__record *r)
{
    return r->ndim >= WK__ATTENTION_DIMS && (r->ref[0].dtype == WK_F32 || r->ref[0].dtype == WK_F64) && r->mode >= 0 &&
           r->mode < wk__record_family(r)->nmodes;
}

/* Sizes are checked when the work is submitted. */
static bool quantized_fits(const wk__record *r)
{
    return r->ndim == WK__QUANTIZED_DIMS && r->ref[0].dtype == WK_F32 && r->ref[2].dtype == WK_U8 && r->mode >= 0 &&
           r->mode < wk__record_family(r)->nmodes;
}

static bool norm_fits(const wk__record *r)
{
    return r->ndim == WK__NORM_DIMS && (r->ref[0].dtype == WK_F32 || r->ref[0].dtype == WK_F64) && r->mode >= 0 &&
           r->mode < wk__record_family(r)->nmodes;
}

static bool family_fits(wk__record *r)
{
    const wk__work_family *family = wk__record_family(r);
    if (family->is_program) return program_fits(r);
    if (r->op->expression || wk__record_reduces(r)) return false;
    if (r->nout != family->nout || r->nin != family->nin || r->partial != family->accumulates) return false;
    if ((family->is_contraction && !sum_fits(r)) || (family->is_along_dim && !along_fits(r)) ||
        (family->is_attention && !attention_fits(r)) || (family->is_quantized && !quantized_fits(r)) ||
        (family->is_norm && !norm_fits(r)))
        return false;
    return r->ref[0].dtype == r->ref[family->same_dtype_operand].dtype &&
           (!family->index_operand || r->ref[family->index_operand].dtype == WK_I64);
}

static bool imm_fits(const wk__ref *ref)
{
    return ref->flags & WK__REF_IMM && !(ref->flags & WK__REF_INDIRECT);
}

static bool ref_fits(const checker *c, const wk__flush_record *f, int k)
{
    wk__record *r = f->record;
    const wk__ref *ref = &r->ref[k];
    const bool output = k < r->nout, plain = !r->op->expression;
    if (!usable(ref->dtype) || (plain && ref->flags != 0)) return false;
    if (f->value[k] < 0) return !output && !plain && imm_fits(ref);
    if (f->value[k] >= c->flush->values || ref->flags & (WK__REF_IMM | WK__REF_IMM_INDEX)) return false;
    if (c->made[f->value[k]] == output || (output && ref->flags)) return false;
    return reach_fits(r, k, c->flush->value[f->value[k]].bytes);
}

static bool same_device(const wk__flush_value *a, const wk__flush_value *b)
{
    return a->device.kind == b->device.kind && a->device.index == b->device.index;
}

static bool prior_fits(const checker *c, const wk__flush_record *f)
{
    const wk__flush_value *value = c->flush->value;
    if (f->prior < 0) return !f->record->partial;
    return f->prior < c->flush->values && c->made[f->prior] && value[f->prior].bytes == value[f->value[0]].bytes &&
           same_device(&value[f->prior], &value[f->value[0]]);
}

/* All operands are on one device, except in transfers. */
static bool devices_fit(const checker *c, const wk__flush_record *f)
{
    const wk__flush_value *value = c->flush->value, *out = &value[f->value[0]];
    const wk__record *r = f->record;
    for (int k = 1; k < r->nout + r->nin && !wk__record_family(r)->is_transfer; k++)
        if (f->value[k] >= 0 && !same_device(&value[f->value[k]], out)) return false;
    return true;
}

/* ---- work -------------------------------------------------------------------------------------------------------- */

/* Offsets of indirect reads are between those of the first and the last index, so only these must not overflow. */
static bool places_fit(const wk__program *g)
{
    for (int k = 0; k < g->nins; k++) {
        const wk__ins *ins = &g->ins[k];
        if (ins->code != WK__LOADX) continue;
        if (ins->arg[2] < 0 || ins->arg[2] + 1 >= g->nimms) return false;
        const int64_t bound = g->imm[ins->arg[2]].i, stride = g->imm[ins->arg[2] + 1].i;
        int64_t way;
        if (bound > max_elements || bound < -max_elements || !wk__mul_size(llabs(bound), stride, &way)) return false;
        if (way > max_elements || way < -max_elements) return false;
    }
    return true;
}

static const char *wrong_program(wk__lowering *b, wk__record *r)
{
    const bool fits = wk__lower_group(b) == 1;
    r->ref[0].value->reg = -1;
    if (!fits) return "a program that is too long";
    for (int o = 0; o < b->group.noperands; o++) b->group.operand[o].memory = &b->value[o]->memory;
    return places_fit(&b->group) ? NULL : "an unsorted axis of a program";
}

static const char *kernel_problem(checker *c, wk__record *r)
{
    wk__lowering *b = &c->building;
    b->record = &r;
    b->records = 1;
    const char *wrong = wrong_program(b, r); /* ignored by wk__work_from_lowering() if the work has no program */
    if (wrong) return wrong;
    wk__work_args kernel;
    const wk__work work = wk__work_from_lowering(b, &kernel);
    return wk__work_check(&work);
}

static const char *wrong_work(checker *c, const wk__flush_record *f)
{
    wk__record *r = f->record;
    const char *wrong = NULL;
    for (int k = 0; k < r->nout + r->nin; k++)
        if (f->value[k] >= 0) r->ref[k].value = &c->value[f->value[k]];
    if (wk__record_family(r)->is_transfer) {
        const int64_t skip = r->ref[1].offset * (int64_t)wk_dtype_size(r->ref[1].dtype);
        const bool fits = skip >= 0 && r->ref[0].value->bytes <= r->ref[1].value->bytes - skip;
        wrong = fits ? NULL : "a copy past the end of its source";
    } else {
        wrong = kernel_problem(c, r);
    }
    for (int k = 0; k < r->nout + r->nin; k++)
        if (f->value[k] >= 0) r->ref[k].value = NULL;
    return wrong;
}

static const char *wrong_record(checker *c, const wk__flush_record *f)
{
    wk__record *r = f->record;
    if (!family_fits(r)) return "an unknown kind of work";
    if (!space_fits(r)) return "a space that is too large";
    for (int k = r->nout; k < r->nout + r->nin; k++)
        if (!ref_fits(c, f, k)) return "an operand that is missing or extends past its value";
    for (int k = 0; k < r->nout; k++)
        if (!ref_fits(c, f, k)) return "a result that existed before or extends past its value";
    if (!prior_fits(c, f)) return "an overwritten value";
    if (!devices_fit(c, f)) return "operands on several devices";
    for (int k = 1; k < r->nout; k++)
        for (int j = 0; j < k; j++)
            if (f->value[j] == f->value[k]) return "two results in one value";
    const char *wrong = wrong_work(c, f);
    for (int k = 0; k < r->nout; k++) c->made[f->value[k]] = true;
    return wrong;
}

static void make_placeholder(wk__value *value, const wk__flush_value *v)
{
    value->bytes = v->bytes;
    value->reg = -1;
    value->group = -1;
    value->is_root = true;
    value->memory = (wk__memory){.block = value, .bytes = v->bytes};
    wk__value_set_state(value, WK__STORED);
}

static wk_code check_all(checker *c, wk__io_error *error)
{
    const wk__flush_data *flush = c->flush;
    for (int64_t k = 0; k < flush->values; k++) {
        make_placeholder(&c->value[k], &flush->value[k]);
        c->made[k] = flush->value[k].flags & (WK__FLUSH_IN_MEMORY | WK__FLUSH_FAILED);
    }
    for (int64_t k = 0; k < flush->records; k++) {
        const char *wrong = wrong_record(c, &flush->record[k]);
        if (wrong)
            return wk__io_fail(error, WK_ERR_FORMAT, "invalid flush file: call %lld has %s", (long long)k + 1, wrong);
    }
    for (int64_t k = 0; k < flush->values; k++)
        if (!c->made[k])
            return wk__io_fail(error, WK_ERR_FORMAT, "invalid flush file: no call computes value %lld",
                               (long long)k + 1);
    return WK_OK;
}

wk_code wk__flush_validate(const wk__flush_data *flush, wk__io_error *error)
{
    checker *c = wk__alloc_zero(1, sizeof *c);
    wk__value *value = wk__alloc_zero((size_t)flush->values, sizeof *value);
    bool *made = wk__alloc_zero((size_t)flush->values, sizeof *made);
    wk_code code = WK_ERR_MEMORY;
    if (c && value && made) {
        c->flush = flush;
        c->value = value;
        c->made = made;
        code = check_all(c, error);
    } else {
        wk__io_fail(error, code, "out of host memory");
    }
    wk__free(c);
    wk__free(value);
    wk__free(made);
    return code;
}
