/* SPDX-License-Identifier: Apache-2.0 */
/* Reference of the op in src/ops/index/scatter_reduce.c. */
#include "references/reference.h"
#include "base/alloc.h"
#include <math.h>
#include <string.h>

static double combine(const char *reduce, double a, double b)
{
    return reduce[0] == 'p' ? a * b : strcmp(reduce, "amax") == 0 ? fmax(a, b) : reduce[1] == 'm' ? fmin(a, b) : a + b;
}

static void scatter_reduce_reference(reference_call *r)
{
    const reference_array *x = &r->in[0], *index = &r->in[1], *source = &r->in[2];
    const char *reduce = r->args[4].text;
    const bool alone = !wk__value_int(&r->args[5], 1), mean = strcmp(reduce, "mean") == 0;
    const int64_t n = reference_numel(x);
    int d = 0;
    wk__wrap_dim(x->ndim, r->args[1].i, &d);
    double *out = reference_out(r, 0, x->ndim, x->shape);
    int64_t *count = wk__alloc_zero((size_t)n + 1, sizeof *count);
    for (int64_t k = 0; k < n; k++) out[k] = x->data[k];
    for (int64_t k = 0; k < reference_numel(index); k++) {
        int64_t rest = k, from = 0, to = 0, from_step = 1, to_step = 1;
        for (int e = index->ndim; e-- > 0; rest /= index->shape[e]) {
            const int64_t here = rest % index->shape[e];
            int64_t there = e == d ? (int64_t)index->data[k] : here;
            if (there < 0) there += x->shape[e];
            from += here * from_step;
            to += there * to_step;
            from_step *= source->shape[e];
            to_step *= x->shape[e];
        }
        out[to] = alone && count[to] == 0 ? source->data[from] : combine(reduce, out[to], source->data[from]);
        count[to]++;
    }
    for (int64_t k = 0; k < n && mean; k++)
        if (count[k]) {
            out[k] /= (double)(count[k] + !alone);
            if (!wk__is_float(x->dtype)) out[k] = floor(out[k]);
        }
    wk__free(count);
}

static const char *const scatter_reduce_samples[] = {"[4], 0, [6]:i64<4, [6], \"sum\"",
                                                     "[4], 0, [6]:i64<4, [6], \"mean\"",
                                                     "[3,4], 1, [3,5]:i64<4, [3,5], \"amax\"",
                                                     "[3,4], 0, [5,3]:i64<3, [5,4], \"amin\", false",
                                                     "[3,2], 0, [7,2]:i64<3, [7,2], \"prod\"",
                                                     "[4], 0, [6]:i32<4, [6], \"prod\", false",
                                                     "[3,4], -1, [2,5]:i64<4, [2,5], \"sum\", false",
                                                     "[3,4], 0, [5,4]:i64<3, [5,4], \"mean\", false",
                                                     "[4], 0, [6]:i64<4, [6], \"amax\", false",
                                                     "[], 0, [3]:i64<1, [3], \"prod\"",
                                                     "[3], 0, [0]:i64<3, [2], \"amin\"",
                                                     NULL};

const op_reference op_reference_scatter_reduce = {
    .reference = scatter_reduce_reference, .samples = scatter_reduce_samples, .low = -3, .high = 3};
