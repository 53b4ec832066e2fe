/* SPDX-License-Identifier: Apache-2.0 */
/* rand, randn and their _like variants. */
#include "philox_draw.h"

static int uniform_f32(wk__emit *e, const int in[])
{
    return wk__emit_uniform_f32(e, in[0], in[1], 24);
}
static int uniform_f64(wk__emit *e, const int in[])
{
    return wk__emit_uniform_f64(e, in[0], in[1]);
}
static int uniform_f16(wk__emit *e, const int in[])
{
    return wk__emit_uniform_f32(e, in[0], in[1], 11);
}
static int uniform_bf16(wk__emit *e, const int in[])
{
    return wk__emit_uniform_f32(e, in[0], in[1], 8);
}
static int normal_f32(wk__emit *e, const int in[])
{
    return wk__emit_ins(e, WK__NDTRI, WK_F32, wk__emit_bits(e, in[0], in[1], 32), 0, 0);
}
static int normal_f64(wk__emit *e, const int in[])
{
    return wk__emit_ins(e, WK__NDTRI, WK_F64, wk__emit_bits(e, in[0], in[1], 64), 0, 0);
}

/* Descriptors of the records, by dtype; separate from the ops' own. */
static const wk__op uniform_of[WK_DTYPE_COUNT] = {[WK_F32] = WK__RANDOM_OP("rand", uniform_f32),
                                                  [WK_F64] = WK__RANDOM_OP("rand", uniform_f64),
                                                  [WK_F16] = WK__RANDOM_OP("rand", uniform_f16),
                                                  [WK_BF16] = WK__RANDOM_OP("rand", uniform_bf16)};
static const wk__op normal_of[WK_DTYPE_COUNT] = {[WK_F32] = WK__RANDOM_OP("randn", normal_f32),
                                                 [WK_F64] = WK__RANDOM_OP("randn", normal_f64),
                                                 [WK_F16] = WK__RANDOM_OP("randn", normal_f32),
                                                 [WK_BF16] = WK__RANDOM_OP("randn", normal_f32)};

/* The call's dtype must have an entry in the table. */
static wk_tensor *floats(const wk__op *op, const wk__op *table, wk_site site, const int64_t *shape, int ndim,
                         const wk_tensor_options *options)
{
    wk__create c;
    if (!wk__create_begin(&c, op, site, shape, ndim, options, WK_F32)) return NULL;
    if (table[c.dtype].name) return wk__record_random(&c, &table[c.dtype], c.dtype, NULL, 0);
    wk__error_set(site, WK_ERR_DTYPE, "%s: cannot draw random %s numbers; use a floating dtype, or wk_randint",
                  op->name, wk_dtype_str(c.dtype));
    return NULL;
}

wk_tensor *wk_rand_at(wk_site site, const int64_t *shape, int ndim, const wk_tensor_options *options)
{
    return floats(&wk__op_rand, uniform_of, site, shape, ndim, options);
}
wk_tensor *wk_randn_at(wk_site site, const int64_t *shape, int ndim, const wk_tensor_options *options)
{
    return floats(&wk__op_randn, normal_of, site, shape, ndim, options);
}

static wk_tensor *floats_like(const wk__op *op, const wk__op *table, wk_site site, wk_tensor *x,
                              const wk_tensor_options *options)
{
    wk_tensor_options like;
    if (!wk__create_like(op, site, x, options, &like)) return NULL;
    return floats(op, table, site, wk__body_of(x)->shape, wk__body_of(x)->ndim, &like);
}

wk_tensor *wk_rand_like_at(wk_site site, wk_tensor *x, const wk_tensor_options *options)
{
    return floats_like(&wk__op_rand_like, uniform_of, site, x, options);
}
wk_tensor *wk_randn_like_at(wk_site site, wk_tensor *x, const wk_tensor_options *options)
{
    return floats_like(&wk__op_randn_like, normal_of, site, x, options);
}

const wk__op wk__op_rand = {
    WK__SIGNATURE_rand,
};

const wk__op wk__op_randn = {
    WK__SIGNATURE_randn,
};

const wk__op wk__op_rand_like = {
    WK__SIGNATURE_rand_like,
};

const wk__op wk__op_randn_like = {
    WK__SIGNATURE_randn_like,
};
