/* SPDX-License-Identifier: Apache-2.0 */
/* See contraction_split.h. */
#include "contraction_split.h"

/* The first coordinate that is divided. False: there is none. */
static bool find_divided(const wk__sum *sum, int *factor, int *k)
{
    for (*factor = 0; *factor < WK__FACTORS; ++*factor)
        for (*k = 0; *k < sum->coordinates[*factor]; ++*k)
            if (sum->coordinate[*factor][*k].divisor > 1) return true;
    return false;
}

bool wk__contraction_divides(const wk__kernel *kernel)
{
    int factor, k;
    return find_divided(kernel->sum, &factor, &k);
}

static bool steps_with_remainders(const wk__coordinate *q, const wk__kernel *kernel, int i)
{
    return wk__index_extent(kernel, i) > 1 && q->coefficient[i] % q->divisor != 0;
}

bool wk__contraction_splits(const wk__kernel *kernel)
{
    const wk__sum *sum = kernel->sum;
    for (int factor = 0; factor < WK__FACTORS; factor++)
        for (int k = 0; k < sum->coordinates[factor]; k++) {
            int stepping = 0;
            for (int i = kernel->ndim; i < kernel->ndim + sum->indices; i++)
                stepping += steps_with_remainders(&sum->coordinate[factor][k], kernel, i);
            if (stepping > 1) return false;
        }
    return true;
}

/* Index i becomes every x i + first: what steps along it takes longer steps, and begins further on. */
static void take_every(wk__kernel *kernel, wk__sum *sum, int i, int64_t every, int64_t first)
{
    const int s = i - kernel->ndim;
    int64_t *extent = s < 0 ? &kernel->shape[i] : &sum->extent[s];
    *extent = *extent > first ? (*extent - first - 1) / every + 1 : 0;
    const int64_t longer = *extent > 1 ? every : 0; /* what does not step takes no steps, however long */
    for (int o = 0; o <= WK__FACTORS; o++) {
        if (s >= 0 && o == 0) continue;
        int64_t *stride = s < 0 ? &kernel->operand[o].stride[i] : &sum->stride[o - 1][s];
        kernel->operand[o].offset += first * *stride;
        *stride *= longer;
    }
    for (int factor = 0; factor < WK__FACTORS; factor++)
        for (int k = 0; k < sum->coordinates[factor]; k++) {
            wk__coordinate *q = &sum->coordinate[factor][k];
            q->offset += first * q->coefficient[i];
            q->coefficient[i] *= longer;
        }
}

/* The summed index that steps with remainders takes the steps at which the division is exact. False: there is none. */
static bool keep_exact(wk__kernel *kernel, wk__sum *sum, const wk__coordinate *q)
{
    for (int i = kernel->ndim; i < kernel->ndim + sum->indices; i++) {
        if (!steps_with_remainders(q, kernel, i)) continue;
        const int64_t every = q->divisor / wk__common_divisor(q->divisor, q->coefficient[i]);
        const int64_t extent = sum->extent[i - kernel->ndim];
        for (int64_t first = 0; first < every && first < extent; first++)
            if ((q->offset + first * q->coefficient[i]) % q->divisor == 0) {
                take_every(kernel, sum, i, every, first);
                return true;
            }
        return false;
    }
    return q->offset % q->divisor == 0;
}

/* Every coefficient that counts and the offset are multiples: the rest are of indices that stay 0. */
static void divide(wk__coordinate *q)
{
    q->offset /= q->divisor;
    for (int i = 0; i < WK__MAX_INDICES; i++) q->coefficient[i] /= q->divisor;
    q->divisor = 1;
}

wk_code wk__contraction_split(const wk__kernel *whole, wk__contraction_part *visit, void *user, wk__fail *fail)
{
    int factor, k, d = 0;
    if (!find_divided(whole->sum, &factor, &k)) return visit(user, whole, fail);
    wk__kernel part = *whole;
    wk__sum sum = *whole->sum;
    wk__coordinate *q = &sum.coordinate[factor][k];
    part.sum = &sum;
    while (d < part.ndim && !steps_with_remainders(q, &part, d)) d++;
    if (d == part.ndim) { /* each index of the result has one remainder by now */
        const bool exact = keep_exact(&part, &sum, q);
        if (!exact) q->extent = 0; /* it is outside everywhere: nothing is summed */
        if (!exact && sum.indices > 0) sum.extent[0] = 0;
        divide(q);
        return wk__contraction_split(&part, visit, user, fail);
    }
    const int64_t every = q->divisor / wk__common_divisor(q->divisor, q->coefficient[d]);
    wk_code code = WK_OK;
    for (int64_t first = 0; first < every && first < whole->shape[d] && code == WK_OK; first++) {
        part = *whole;
        sum = *whole->sum;
        part.sum = &sum;
        take_every(&part, &sum, d, every, first);
        code = wk__contraction_split(&part, visit, user, fail);
    }
    return code;
}
