/* SPDX-License-Identifier: Apache-2.0 */
/* What an op's reference works on: dense double arrays, row-major, whatever the tensors were. The tests fill the
 * operands and compare the results. */
#ifndef WICK_OPS_REFERENCE_H
#define WICK_OPS_REFERENCE_H

#include "../ir/ir.h"
#include <wick/call.h>

typedef struct wk__array {
    int ndim;
    int64_t shape[WK__MAX_DIMS];
    double *data; /* from wk__alloc; the tests free it */
    wk_dtype dtype;
} wk__array;

typedef struct wk__reference {
    const wk_value *args; /* the call's arguments; tensors among them are in `in`, in order */
    int inputs;
    wk__array in[WK__MAX_OPERANDS];
    int outputs;
    wk__array out[4]; /* filled with wk__reference_out */
} wk__reference;

/* Makes result k of this shape, zeroed; its data. */
double *wk__reference_out(wk__reference *r, int k, int ndim, const int64_t *shape);
int64_t wk__array_numel(const wk__array *a);
/* f of each element of the first operand: for functions that lose digits near a zero, where 4 units of
 * `exact` are too few. */
void wk__reference_map(wk__reference *r, double (*f)(double x));
/* What place k of a space sees of an array that broadcasts to it. */
double wk__array_at(const wk__array *a, int ndim, const int64_t *shape, int64_t k);
/* The sum of n numbers. */
double wk__reference_sum(const double *x, int64_t n);
/* dims of args[1] (int[], int or none), keepdim in args[2]: reduce(x of one row, its length) for each kept place. */
void wk__reference_reduce(wk__reference *r, double (*reduce)(const double *x, int64_t n));

#endif
