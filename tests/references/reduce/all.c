/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/reduce/all.c. */
#include "references/reference.h"

static double count(const double *x, int64_t n)
{
    double total = 0;
    for (int64_t k = 0; k < n; k++) total += x[k] != 0;
    return total;
}

static double all(const double *x, int64_t n)
{
    return count(x, n) == (double)n;
}

static double any(const double *x, int64_t n)
{
    return count(x, n) > 0;
}

static void all_reference(reference_call *r)
{
    reference_reduce(r, all);
}

static void any_reference(reference_call *r)
{
    reference_reduce(r, any);
}

static void count_reference(reference_call *r)
{
    reference_reduce(r, count);
}

static const char *const samples[] = {"[]",
                                      "[7]",
                                      "[3,5]:bool",
                                      "[3,5]:i64<2, (1)",
                                      "[2,3,4]:bool, (0,2)",
                                      "[2,3,4]:bool, (-2), true",
                                      "[0,3], (0)",
                                      "[3,0], (1)",
                                      "[130,3]:bool, (0)",
                                      NULL};

const op_reference op_reference_all = {.reference = all_reference, .samples = samples, .low = 0, .high = 2};

const op_reference op_reference_any = {.reference = any_reference, .samples = samples, .low = 0, .high = 2};

const op_reference op_reference_count_nonzero = {.reference = count_reference, .samples = samples, .low = 0, .high = 2};
