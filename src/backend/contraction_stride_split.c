/* SPDX-License-Identifier: Apache-2.0 */
/* Splits contractions by remainders; see contraction_stride_split.h. */
#include "contraction_stride_split.h"

/* Finds the first divided coordinate; returns false if there is none. */
static bool find_divided(const wk__contraction *sum, int *factor, int *k)
{
    for (*factor = 0; *factor < WK__FACTORS; ++*factor)
        for (*k = 0; *k < sum->naffine[*factor]; ++*k)
            if (sum->affine[*factor][*k].divisor > 1) return true;
    return false;
}

bool wk__contraction_has_divisor(const wk__work_args *kernel)
{
    int factor, k;
    return find_divided(kernel->contraction, &factor, &k);
}

static bool needs_split(const wk__affine_index *q, const wk__work_args *kernel, int i)
{
    return wk__index_extent(kernel, i) > 1 && q->coefficient[i] % q->divisor != 0;
}

bool wk__contraction_can_split(const wk__work_args *kernel)
{
    const wk__contraction *sum = kernel->contraction;
    for (int factor = 0; factor < WK__FACTORS; factor++)
        for (int k = 0; k < sum->naffine[factor]; k++) {
            int stepping = 0;
            for (int i = kernel->ndim; i < kernel->ndim + sum->nsummed; i++)
                stepping += needs_split(&sum->affine[factor][k], kernel, i);
            if (stepping > 1) return false;
        }
    return true;
}

/* Substitutes `every` x i + `first` for index i: multiplies strides and coefficients and moves the offsets. */
static void stride_index(wk__work_args *kernel, wk__contraction *sum, int i, int64_t every, int64_t first)
{
    const int s = i - kernel->ndim;
    int64_t *extent = s < 0 ? &kernel->shape[i] : &sum->extent[s];
    *extent = *extent > first ? (*extent - first - 1) / every + 1 : 0;
    const int64_t longer = *extent > 1 ? every : 0; /* an index of extent 1 keeps stride 0, however large `every` is */
    for (int o = 0; o <= WK__FACTORS; o++) {
        if (s >= 0 && o == 0) continue;
        int64_t *stride = s < 0 ? &kernel->operand[o].stride[i] : &sum->stride[o - 1][s];
        kernel->operand[o].offset += first * *stride;
        *stride *= longer;
    }
    for (int factor = 0; factor < WK__FACTORS; factor++)
        for (int k = 0; k < sum->naffine[factor]; k++) {
            wk__affine_index *q = &sum->affine[factor][k];
            q->offset += first * q->coefficient[i];
            q->coefficient[i] *= longer;
        }
}

/* Restricts the summed index whose steps leave remainders to those where the division is exact; returns false if there
 * are none. */
static bool keep_divisible(wk__work_args *kernel, wk__contraction *sum, const wk__affine_index *q)
{
    for (int i = kernel->ndim; i < kernel->ndim + sum->nsummed; i++) {
        if (!needs_split(q, kernel, i)) continue;
        const int64_t every = q->divisor / wk__gcd(q->divisor, q->coefficient[i]);
        const int64_t extent = sum->extent[i - kernel->ndim];
        for (int64_t first = 0; first < every && first < extent; first++)
            if ((q->offset + first * q->coefficient[i]) % q->divisor == 0) {
                stride_index(kernel, sum, i, every, first);
                return true;
            }
        return false;
    }
    return q->offset % q->divisor == 0;
}

/* Divides the coordinate by its divisor. The offset and all relevant coefficients are multiples; the others belong to
 * indices of extent 1. */
static void divide(wk__affine_index *q)
{
    q->offset /= q->divisor;
    for (int i = 0; i < WK__MAX_INDICES; i++) q->coefficient[i] /= q->divisor;
    q->divisor = 1;
}

wk_code wk__contraction_split_strides(const wk__work_args *whole, wk__contraction_part_visit *visit, void *user,
                                      wk__fail *fail)
{
    int factor, k, d = 0;
    if (!find_divided(whole->contraction, &factor, &k)) return visit(user, whole, fail);
    wk__work_args part = *whole;
    wk__contraction sum = *whole->contraction;
    wk__affine_index *q = &sum.affine[factor][k];
    part.contraction = &sum;
    while (d < part.ndim && !needs_split(q, &part, d)) d++;
    if (d == part.ndim) { /* each result index has a single remainder now */
        const bool exact = keep_divisible(&part, &sum, q);
        if (!exact) q->extent = 0; /* out of range everywhere: the sum is empty */
        if (!exact && sum.nsummed > 0) sum.extent[0] = 0;
        divide(q);
        return wk__contraction_split_strides(&part, visit, user, fail);
    }
    const int64_t every = q->divisor / wk__gcd(q->divisor, q->coefficient[d]);
    wk_code code = WK_OK;
    for (int64_t first = 0; first < every && first < whole->shape[d] && code == WK_OK; first++) {
        part = *whole;
        sum = *whole->contraction;
        part.contraction = &sum;
        stride_index(&part, &sum, d, every, first);
        code = wk__contraction_split_strides(&part, visit, user, fail);
    }
    return code;
}
