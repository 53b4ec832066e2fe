/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/reduce/unique.c. */
#include "references/reference.h"
#include "base/alloc.h"
#include <string.h>

/* ---- unique ------------------------------------------------------------------------------------------------------ */

static void unique_reference(reference_call *r)
{
    const reference_array *x = &r->in[0];
    const int64_t n = reference_numel(x);
    double *values = wk__alloc_zero((size_t)n + 1, sizeof *values);
    int64_t count = 0;
    for (int64_t k = 0; k < n; k++) { /* by insertion */
        int64_t place = 0;
        while (place < count && values[place] < x->data[k]) place++;
        if (place < count && values[place] == x->data[k]) continue;
        memmove(values + place + 1, values + place, (size_t)(count++ - place) * sizeof *values);
        values[place] = x->data[k];
    }
    memcpy(reference_out(r, 0, 1, &count), values, (size_t)count * sizeof *values);
    const bool inverse = wk__value_int(&r->args[2], 0), counts = wk__value_int(&r->args[3], 0);
    double *place_of = inverse ? reference_out(r, 1, x->ndim, x->shape) : NULL;
    double *count_of = counts ? reference_out(r, 1 + inverse, 1, &count) : NULL;
    for (int64_t k = 0; k < n; k++) {
        int64_t place = 0;
        while (values[place] != x->data[k]) place++;
        if (place_of) place_of[k] = (double)place;
        if (count_of) count_of[place]++;
    }
    wk__free(values);
}

static const char *const unique_samples[] = {"[]",
                                             "[9]",
                                             "[20]:i64<5, true, true, true",
                                             "[4,6]:i32<7, true, false, true",
                                             "[3,5], true, true",
                                             "[12]:bool",
                                             "[0,3], true, true, true",
                                             NULL};

const op_reference op_reference_unique = {
    .reference = unique_reference, .samples = unique_samples, .low = -3, .high = 3};

/* ---- isin -------------------------------------------------------------------------------------------------------- */

static void isin_reference(reference_call *r)
{
    const reference_array *x = &r->in[0], *tests = &r->in[1];
    double *out = reference_out(r, 0, x->ndim, x->shape);
    for (int64_t k = 0; k < reference_numel(x); k++) {
        bool found = false;
        for (int64_t j = 0; j < reference_numel(tests); j++) found = found || tests->data[j] == x->data[k];
        out[k] = found != wk__value_int(&r->args[3], 0);
    }
}

static const char *const isin_samples[] = {"[30]:i64<9, [4]:i64<9",
                                           "[5,6]:i32<9, [2,2]:i32<9, false, true",
                                           "[70]:i64<200, [100]:i64<200",
                                           "[7,10]:i16<200, [70]:i16<200, false, true",
                                           "[5], [3]",
                                           "[3], [0]",
                                           "[0], [80]",
                                           "[]:i64<2, []:i64<2",
                                           NULL};

const op_reference op_reference_isin = {.reference = isin_reference, .samples = isin_samples, .low = -3, .high = 3};
