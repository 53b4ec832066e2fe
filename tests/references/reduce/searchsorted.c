/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/reduce/searchsorted.c: how many elements come before each value, if all before the
 * first that does not do so count. Sequences of one element are sorted, whatever the random numbers. */
#include "references/reference.h"
#include <string.h>

static void search_reference(reference_call *r, const reference_array *sorted, const reference_array *values,
                             bool right)
{
    const int64_t n = sorted->shape[sorted->ndim - 1];
    const int64_t m = sorted->ndim > 1 ? values->shape[values->ndim - 1] : 1;
    double *out = reference_out(r, 0, values->ndim, values->shape);
    for (int64_t k = 0; k < reference_numel(values); k++) {
        const double *row = sorted->data + (sorted->ndim > 1 ? k / m * n : 0), value = values->data[k];
        int64_t low = 0, step = 1;
        while (step <= n / 2) step *= 2;
        for (; step && n; step /= 2)
            if (low + step <= n && (right ? !(row[low + step - 1] > value) : !(row[low + step - 1] >= value)))
                low += step;
        out[k] = (double)low;
    }
}

static void searchsorted_reference(reference_call *r)
{
    const bool side = r->args[4].kind != WK_VALUE_NONE && strcmp(r->args[4].text, "right") == 0;
    search_reference(r, &r->in[0], &r->in[1], wk__value_int(&r->args[3], 0) || side);
}

static void bucketize_reference(reference_call *r)
{
    search_reference(r, &r->in[1], &r->in[0], wk__value_int(&r->args[3], 0));
}

static const char *const searchsorted_samples[] = {"[1], [7]",
                                                   "[1], [2,3], true",
                                                   "[3,1], [3,4], false, true",
                                                   "[1], [5], none, none, \"right\"",
                                                   "[0], [3]",
                                                   "[1], []",
                                                   "[1], [5], true, none, \"left\"",
                                                   "[1], [4], none, none, none, [1]:i64<1",
                                                   "[1], [0]",
                                                   NULL};

static const char *const bucketize_samples[] = {"[7], [1]", "[2,3], [1], true", "[2,3], [1], false, true",
                                                "[3], [0]", "[], [1]",          NULL};

const op_reference op_reference_searchsorted = {
    .reference = searchsorted_reference, .samples = searchsorted_samples, .low = -3, .high = 3, .discontinuous = true};

const op_reference op_reference_bucketize = {
    .reference = bucketize_reference, .samples = bucketize_samples, .low = -3, .high = 3, .discontinuous = true};
