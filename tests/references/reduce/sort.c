/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/reduce/sort.c. */
#include "references/reference.h"
#include "base/alloc.h"

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Sorts each row along dim by insertion and writes the ranks first..first+count-1. results: 1 values, 2 indices, 3
 * both. */
static void sort_reference_of(reference_call *r, int64_t dim, bool descending, int64_t first, int64_t count,
                              bool dropped, int results)
{
    const reference_array *in = &r->in[0];
    int64_t shape[WK__MAX_DIMS], step = 1, n = 1;
    int ndim = 0;
    if (dim < 0) dim += in->ndim;
    if (in->ndim) n = in->shape[dim];
    if (count < 0) count = n;
    for (int d = 0; d < in->ndim; d++) {
        if (d > dim) step *= in->shape[d];
        if (d != dim || !dropped) shape[ndim++] = d == dim ? count : in->shape[d];
    }
    double *values = results & 1 ? reference_out(r, 0, ndim, shape) : NULL;
    double *positions = results & 2 ? reference_out(r, results == 3, ndim, shape) : NULL;
    int64_t *order = wk__alloc_zero((size_t)n + 1, sizeof *order);
    for (int64_t line = 0; order && n && line < reference_numel(in) / n; line++) {
        const double *x = in->data + line / step * step * n + line % step;
        for (int64_t k = 0; k < n; k++) {
            int64_t place = k;
            for (; place > 0; place--) {
                double before = x[order[place - 1] * step], now = x[k * step];
                if (descending ? now <= before : now >= before) break;
                order[place] = order[place - 1];
            }
            order[place] = k;
        }
        for (int64_t k = 0; k < count; k++) {
            int64_t to = line / step * step * count + line % step + k * step;
            if (values) values[to] = x[order[first + k] * step];
            if (positions) positions[to] = (double)order[first + k];
        }
    }
    wk__free(order);
}

static void sort_reference(reference_call *r)
{
    sort_reference_of(r, wk__value_int(&r->args[1], -1), wk__value_int(&r->args[2], 0), 0, -1, false, 3);
}

static void argsort_reference(reference_call *r)
{
    sort_reference_of(r, wk__value_int(&r->args[1], -1), wk__value_int(&r->args[2], 0), 0, -1, false, 2);
}

static void topk_reference(reference_call *r)
{
    sort_reference_of(r, wk__value_int(&r->args[2], -1), wk__value_int(&r->args[3], 1), 0, r->args[1].i, false, 3);
}

static void kthvalue_reference(reference_call *r)
{
    sort_reference_of(r, wk__value_int(&r->args[2], -1), false, r->args[1].i - 1, 1, !wk__value_int(&r->args[3], 0), 3);
}

static void median_reference(reference_call *r)
{
    reference_array given = r->in[0], *in = &r->in[0];
    bool all = r->args[1].kind == WK_VALUE_NONE;
    if (all) {
        in->shape[0] = reference_numel(in);
        in->ndim = 1;
    }
    int64_t dim = wk__value_int(&r->args[1], 0), n = in->ndim ? in->shape[dim < 0 ? dim + in->ndim : dim] : 1;
    sort_reference_of(r, dim, false, (n - 1) / 2, 1, all || !wk__value_int(&r->args[2], 0), all ? 1 : 3);
    *in = given;
}

static const char *const sort_samples[] = {"[]",        "[7]",      "[3,5]",    "[3,5], 0", "[2,3,4], 1, true",
                                           "[3,50], 1", "[0,3], 0", "[3,0], 1", NULL};

static const char *const topk_samples[] = {
    "[7], 3", "[3,5], 2, 0", "[2,3,4], 2, 1, false", "[5], 0", "[5], 5", "[], 1", "[0,3], 2", NULL};

static const char *const kthvalue_samples[] = {"[7], 3", "[3,5], 2, 0", "[2,3,4], 1, 1, true",
                                               "[], 1",  "[0,3], 2",    NULL};

static const char *const median_samples[] = {"[]", "[7]", "[3,4]", "[3,5], 0", "[2,3,4], -1, true", NULL};

const op_reference op_reference_sort = {.reference = sort_reference, .samples = sort_samples, .low = -3, .high = 3};

const op_reference op_reference_argsort = {
    .reference = argsort_reference, .samples = sort_samples, .low = -3, .high = 3};

const op_reference op_reference_topk = {.reference = topk_reference, .samples = topk_samples, .low = -3, .high = 3};

const op_reference op_reference_kthvalue = {
    .reference = kthvalue_reference, .samples = kthvalue_samples, .low = -3, .high = 3};

const op_reference op_reference_median = {
    .reference = median_reference, .samples = median_samples, .low = -3, .high = 3};
