/* SPDX-License-Identifier: Apache-2.0 */
/* Calls from an op's samples, with operands from the program: sufficient for a new op without rules in arguments.c. */
#include "generate.h"
#include "tensor/tensor.h"
#include "support/sweep/sweep.h"
#include <string.h>

static int sample_operand(generator *g, const op_entry *r, const sweep_operand *what)
{
    const unsigned domain = r->op->dtypes ? r->op->dtypes : ANY_DTYPE;
    if (what->below)
        return generate_make(g, what->fixed ? what->fixed : WK_I64, what->ndim, what->shape, MAKE_INDEX, what->below);
    if (what->fixed) return generate_operand(g, 1u << what->fixed, what->ndim, what->shape);
    /* an op on positive values */
    if (r->known->low >= 0 && r->known->high > r->known->low && wk__is_float(g->dtype) && rng_percent(&g->draw, 60))
        return generate_make(g, g->dtype, what->ndim, what->shape, MAKE_POSITIVE, 0);
    const unsigned own = domain & 1u << g->dtype;
    return generate_operand(g, own ? own : domain, what->ndim, what->shape);
}

static bool convert(generator *g, const op_entry *r, const sweep_sample *sample, int k, argument *a)
{
    const wk_value *v = &sample->argument[k];
    memset(a, 0, sizeof *a);
    a->kind = (uint8_t)v->kind;
    if (v->kind == WK_VALUE_TENSOR || v->kind == WK_VALUE_TENSORS) {
        const int count = v->kind == WK_VALUE_TENSOR ? 1 : v->count;
        if (count > MOST_LIST) return false;
        a->count = (uint8_t)count;
        for (int j = 0; j < count; j++) {
            const int slot = sample_operand(g, r, &sample->operand[sample->first[k] + j]);
            if (slot < 0) return false;
            a->slot[j] = (int16_t)slot;
        }
    } else if (v->kind == WK_VALUE_INTS) {
        if (v->count > MOST_LIST) return false;
        *a = argument_ints(v->count, v->ints);
    } else if (v->kind == WK_VALUE_TEXT) {
        snprintf(a->text, sizeof a->text, "%s", v->text);
    } else if (v->kind == WK_VALUE_FLOAT) {
        a->f = v->f;
    } else {
        a->i = v->i;
    }
    return true;
}

bool generate_sample(generator *g, const op_entry *r, step *s)
{
    int count = 0;
    const char *why;
    sweep_sample sample;
    while (r->known->samples && r->known->samples[count]) count++;
    if (!count || !sweep_parse(r->known->samples[rng_below(&g->draw, count)], &sample, &why)) return false;
    s->arguments = (uint8_t)r->parameters;
    for (int k = 0; k < sample.arguments && k < r->parameters; k++)
        if (!convert(g, r, &sample, k, &s->argument[k])) return false;
    return true;
}
