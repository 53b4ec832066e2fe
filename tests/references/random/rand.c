/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/random/rand.c. */
#include "references/reference.h"

static void rand_reference(reference_call *r)
{
    reference_filled(r, r->args[0].count, r->args[0].ints, (wk_dtype)wk__value_int(&r->args[1], WK_F32),
                     reference_uniform, 0, 1);
}

static void randn_reference(reference_call *r)
{
    reference_filled(r, r->args[0].count, r->args[0].ints, (wk_dtype)wk__value_int(&r->args[1], WK_F32),
                     reference_normal, 0, 1);
}

static void rand_like_reference(reference_call *r)
{
    reference_filled(r, r->in[0].ndim, r->in[0].shape, (wk_dtype)wk__value_int(&r->args[1], r->in[0].dtype),
                     reference_uniform, 0, 1);
}

static void randn_like_reference(reference_call *r)
{
    reference_filled(r, r->in[0].ndim, r->in[0].shape, (wk_dtype)wk__value_int(&r->args[1], r->in[0].dtype),
                     reference_normal, 0, 1);
}

static const char *const shape_samples[] = {"()",          "(5)",   "(2,3), f64", "(300), f16",
                                            "(300), bf16", "(0,2)", "(1000)",     NULL};

static const char *const like_samples[] = {"[]", "[5]", "[2,3]", "[3], f64", "[0,2]", NULL};

const op_reference op_reference_rand = {.reference = rand_reference, .samples = shape_samples};

const op_reference op_reference_randn = {.reference = randn_reference, .samples = shape_samples};

const op_reference op_reference_rand_like = {.reference = rand_like_reference, .samples = like_samples};

const op_reference op_reference_randn_like = {.reference = randn_like_reference, .samples = like_samples};
