/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests know of an op beside its descriptor: what it computes, in double precision, and calls to try. The file
 * NAME.c here has the ops of src/ops/NAME.c; a row of ops.def without its reference is a link error.
 *
 * A reference works on dense double arrays, row-major, whatever the tensors were. The tests fill the operands and
 * compare the results. It is written plainly and stands by itself: only the arguments of the call and the shapes of
 * views are read with the library's own functions. */
#ifndef TESTS_REFERENCES_REFERENCE_H
#define TESTS_REFERENCES_REFERENCE_H

#include "ir/op.h"
#include "ops/core/entries.h"
#include <wick/call.h>

typedef struct reference_array {
    int ndim;
    int64_t shape[WK__MAX_DIMS];
    double *data; /* from wk__alloc; the tests free it */
    wk_dtype dtype;
} reference_array;

typedef struct reference_call {
    const wk_value *args; /* the call's arguments; tensors among them are in `in`, in order */
    int inputs;
    reference_array in[WK__MAX_OPERANDS];
    int outputs;
    reference_array out[4]; /* filled with reference_out */
} reference_call;

typedef struct op_reference {
    double (*scalar)(const double *x);       /* elementwise ops; of a text it gets the first letter */
    void (*reference)(reference_call *call); /* others */
    const char *const *samples;              /* NULL-terminated; notation in walk.h */
    bool dense;                              /* its samples are only for dense operands */
    double low, high;                        /* random operands of the samples lie between */
    int max_ulps;       /* in the last place, how far a result may be off where its own steps magnify rounding; 0: the
                     usual */
    bool any_zero_sign; /* it chooses between operands, and may give either zero */
    bool discontinuous; /* where random programs round: their references do not follow it there */
} op_reference;

#define WK__OP(name) extern const op_reference op_reference_##name;
#include "ops/ops.def"
#undef WK__OP
/* Of a row; never NULL. */
const op_reference *op_reference_of(const wk__op *op);

/* ---- samples of large families ----------------------------------------------------------------------------------- */

extern const char *const samples_unary[];
extern const char *const samples_binary[];
extern const char *const samples_reduce[];

/* ---- helpers ----------------------------------------------------------------------------------------------------- */

/* Makes result k of this shape, zeroed; its data. */
double *reference_out(reference_call *r, int k, int ndim, const int64_t *shape);
int64_t reference_numel(const reference_array *a);
/* What place k of a space sees of an array that broadcasts to it. */
double reference_at(const reference_array *a, int ndim, const int64_t *shape, int64_t k);
/* f of each element of the first operand: for functions that lose digits near a zero, where 4 units of
 * `exact` are too few. */
void reference_map(reference_call *r, double (*f)(double x));
/* The sum of n numbers. */
double reference_sum(const double *x, int64_t n);
/* dims of args[1] (int[], int or none), keepdim in args[2]: reduce(x of one row, its length) for each kept place. */
void reference_reduce(reference_call *r, double (*reduce)(const double *x, int64_t n));
/* In `exact`: the value of an optional number, NaN where it was not given. */
static inline double reference_given(double value, double otherwise)
{
    return value != value ? otherwise : value;
}
/* Views: the elements of the first operand that shape, strides and offset name. */
void reference_strided(reference_call *r, int ndim, const int64_t *shape, const int64_t *stride, int64_t offset);
/* The first operand's elements in another shape. */
void reference_same(reference_call *r, int ndim, const int64_t *shape);
/* A product of operands `first` and the one behind it; the second is turned. */
double *reference_product(reference_call *r, int first, bool turned);
/* The wk_reduction that an argument names. */
int64_t reference_reduction(const wk_value *value);
/* exact() of input, target, the number and the positive weight (1 if there is none), weighted and reduced. Between
 * target and reduction the arguments are optional weights: weight, pos_weight. */
void reference_loss(reference_call *r, double (*exact)(const double *x), int reduction_at, double number);

/* The bits of element k of the call that drew the last n numbers of this thread's stream, and the uniform and the
 * normal number of a dtype that they make. */
uint64_t reference_bits(int64_t n, int64_t k);
double reference_uniform(wk_dtype dtype, int64_t n, int64_t k);
double reference_normal(wk_dtype dtype, int64_t n, int64_t k);
/* The result: offset + scale * number, of all elements. */
void reference_filled(reference_call *r, int ndim, const int64_t *shape, wk_dtype dtype,
                      double (*number)(wk_dtype, int64_t, int64_t), double offset, double scale);

#endif
