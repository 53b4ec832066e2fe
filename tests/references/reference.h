/* SPDX-License-Identifier: Apache-2.0 */
/* The tests' knowledge of an op beyond its descriptor: a double-precision reference, and sample calls. The file NAME.c
 * here has the ops of src/ops/NAME.c; a row of ops.def without a reference is a link error.
 *
 * A reference works on dense, row-major double arrays, whatever the tensors' layouts. The tests fill the operands and
 * compare the results. A reference is simple and independent of the library: only the arguments of the call and the
 * shapes of views are read with the library's functions. */
#ifndef TESTS_REFERENCES_REFERENCE_H
#define TESTS_REFERENCES_REFERENCE_H

#include "ir/op.h"
#include "ops/core/entries.h"
#include <wick/call.h>

typedef struct reference_array {
    int ndim;
    int64_t shape[WK__MAX_DIMS];
    double *data; /* from wk__alloc; freed by the tests */
    wk_dtype dtype;
} reference_array;

typedef struct reference_call {
    const wk_value *args; /* the call's arguments; tensors among them are in `in`, in order */
    int inputs;
    reference_array in[WK__MAX_OPERANDS];
    int outputs;
    reference_array out[4]; /* filled through reference_out */
} reference_call;

typedef struct op_reference {
    double (*scalar)(const double *x);       /* element-wise ops; a text argument is its first letter */
    void (*reference)(reference_call *call); /* other ops */
    const char *const *samples;              /* NULL-terminated; notation in support/sweep/sweep.h */
    bool dense;                              /* its samples allow only dense operands */
    double low, high;                        /* range of random operands of the samples */
    int max_ulps; /* allowed error in units in the last place, if the op's own steps magnify rounding; 0: default */
    bool any_zero_sign; /* selects an operand, and may return a zero of either sign */
    bool discontinuous; /* jumps, so random programs do not compare it */
} op_reference;

#define WK__OP(name) extern const op_reference op_reference_##name;
#include "ops/ops.def"
#undef WK__OP
/* Returns the reference of a row; never NULL. */
const op_reference *op_reference_of(const wk__op *op);

/* ---- samples shared by large families ---------------------------------------------------------------------------- */

extern const char *const samples_unary[];
extern const char *const samples_binary[];
extern const char *const samples_reduce[];

/* ---- helpers ----------------------------------------------------------------------------------------------------- */

/* Allocates result k of this shape, zeroed, and returns its data. */
double *reference_out(reference_call *r, int k, int ndim, const int64_t *shape);
int64_t reference_numel(const reference_array *a);
/* Reads the sizes of `dims` dimensions from a list: of one number for all of them, or empty for `usual`. */
void reference_sizes(const wk_value *value, int dims, int64_t usual, int64_t size[]);
/* Returns element k of a space of this shape from an array that broadcasts to it. */
double reference_at(const reference_array *a, int ndim, const int64_t *shape, int64_t k);
/* Maps f over the first operand, for functions that lose digits near a zero, where 4 units of `scalar` are too
 * strict. */
void reference_map(reference_call *r, double (*f)(double x));
/* Returns the sum of n values. */
double reference_sum(const double *x, int64_t n);
/* Reduces over dims of args[1] (int[], int or none), keepdim in args[2]: reduce(x of one row, its length) for each
 * row. */
void reference_reduce(reference_call *r, double (*reduce)(const double *x, int64_t n));
/* The value of an optional number inside of `scalar`, where an omitted one is NaN. */
static inline double reference_given(double value, double otherwise)
{
    return value != value ? otherwise : value;
}
/* Views: the elements of the first operand at shape, strides and offset. */
void reference_strided(reference_call *r, int ndim, const int64_t *shape, const int64_t *stride, int64_t offset);
/* The first operand's elements in another shape. */
void reference_same(reference_call *r, int ndim, const int64_t *shape);
/* The product of operands `first` and `first` + 1; turned: the second is transposed. */
double *reference_product(reference_call *r, int first, bool turned);
/* The wk_reduction of an argument. */
int64_t reference_reduction(const wk_value *value);
/* Applies exact() to input, target, the number and the positive weight (1 if omitted), then weights and reduces. The
 * arguments between target and reduction are optional weights: weight, pos_weight. */
void reference_loss(reference_call *r, double (*exact)(const double *x), int reduction_at, double number);

/* Sets the result to the losses loss[of the shape] averaged, summed or as they are. */
void reference_reduced(reference_call *r, const wk_value *reduction, int ndim, const int64_t *shape,
                       const double *loss);
/* Applies exact() to the elements of all operands, which broadcast to the first, and the arguments of the call; then
 * reduces. */
void reference_operands(reference_call *r, double (*exact)(const double *x, const wk_value *args), int reduction_at);

/* The bits of element k of the call that drew the last n elements of this thread's stream, and the uniform and normal
 * values of a dtype from them. */
uint64_t reference_bits(int64_t n, int64_t k);
double reference_uniform(wk_dtype dtype, int64_t n, int64_t k);
double reference_normal(wk_dtype dtype, int64_t n, int64_t k);
/* Fills the result with offset + scale * number. */
void reference_filled(reference_call *r, int ndim, const int64_t *shape, wk_dtype dtype,
                      double (*number)(wk_dtype, int64_t, int64_t), double offset, double scale);

#endif
