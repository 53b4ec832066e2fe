/* SPDX-License-Identifier: Apache-2.0 */
/* Common parts of the sweep over the table of ops. For each op, every sample is called in every dtype that the op
 * supports, with operands in every memory layout, and compared with the op's double-precision reference.
 *
 * Notation of samples: arguments in the order of the schema, separated by commas; omitted ones are none.
 *
 *   [2,3]  []           a tensor of random values between the reference's low and high, in the dtype under test; 0-d
 *   [4]:i64  [4]:i64<7  one of a fixed dtype; of integers in [0, 7)
 *   [4]<7               integers in [0, 7) in the dtype under test, which are not differentiated
 *   {[2,3] [4,3]}       a list of tensors
 *   2  -1  0.5  1e-3    scalars; floating-point with a point or exponent (also inf, -inf, nan)
 *   (1,2)  ()           a list of integers
 *   true  false  none   f32 ... bool (a dtype)   cpu (a device)   "floor" (a string) */
#ifndef TESTS_SUPPORT_SWEEP_SWEEP_H
#define TESTS_SUPPORT_SWEEP_SWEEP_H

#include "support/wick.h"
#include "ops/core/entries.h"
#include "references/reference.h"

enum { SWEEP_ARGUMENTS = 16, SWEEP_TENSORS = 12, SWEEP_INTS = 64, SWEEP_TEXTS = 2, SWEEP_RESULTS = 16 };

/* ---- samples (sweep.c) ------------------------------------------------------------------------------------------- */

typedef struct sweep_operand {
    int ndim;
    int64_t shape[WK__MAX_DIMS];
    wk_dtype fixed; /* 0: the dtype under test */
    int64_t below;  /* integers in [0, below); 0: random values between low and high */
} sweep_operand;

typedef struct sweep_sample {
    int arguments;
    wk_value argument[SWEEP_ARGUMENTS]; /* sweep_bind fills in the tensors */
    int first[SWEEP_ARGUMENTS];         /* the first operand of an argument that is a tensor or a list of tensors */
    int operands, ints;
    sweep_operand operand[SWEEP_TENSORS];
    int64_t number[SWEEP_INTS]; /* lists of integers */
    int texts;
    char text[SWEEP_TEXTS][32];
    wk_tensor *tensor[SWEEP_TENSORS];
} sweep_sample;

/* Parses text. Returns false, with the problem in *why, if it is not a sample. */
bool sweep_parse(const char *text, sweep_sample *sample, const char **why);
/* Fills in the tensors of the operands, in order. */
void sweep_bind(sweep_sample *sample, wk_tensor *const tensor[]);
/* Returns true if an operand has the dtype under test. */
bool sweep_takes_dtype(const sweep_sample *sample);
/* Returns true if argument 0 is written in place, as in "copy_(Tensor(a!) self, ...)". */
bool sweep_writes(const wk__op *op);
/* Returns true if samples test the op; ops that need a graph are excluded. */
bool sweep_has_samples(const wk__op *op);

/* ---- operands (sweep_operands.c) --------------------------------------------------------------------------------- */

/* Layout of an operand in its storage; '.' are elements outside the operand, which must not change.
 *   dense       0 1 2 3 4 5               transposed  0 3 1 4 2 5
 *   outer       0 0 .. (first stride 0)   inner       last stride 0
 *   offset      . . . 0 1 2 . . 3 4 5 . . .
 *   mixed       each operand in the next one of these */
typedef enum sweep_layout {
    SWEEP_DENSE,
    SWEEP_TRANSPOSED,
    SWEEP_OUTER,
    SWEEP_INNER,
    SWEEP_OFFSET,
    SWEEP_MIXED,
    SWEEP_LAYOUTS
} sweep_layout;
extern const char *const sweep_layout_name[SWEEP_LAYOUTS];

typedef struct sweep_input {
    wk_tensor *tensor, *storage; /* the operand, and its storage as a 1-d tensor */
    reference_array array;       /* its values, row-major, rounded to its dtype; data from wk__alloc */
    char *bytes;                 /* the storage's initial contents */
    size_t size;
} sweep_input;

/* Fills input with random operands for the sample; the same seed yields the same values. The scope owns the tensors,
 * the input the rest, which sweep_free_inputs frees. */
void sweep_make_inputs(const wk__op *op, const sweep_sample *sample, wk_dtype dtype, sweep_layout layout,
                       wk_device device, uint64_t seed, sweep_input input[]);
void sweep_free_inputs(const sweep_sample *sample, sweep_input input[]);
/* Checks that storages are unchanged except for the elements of operand written (-1: none). */
void sweep_check_untouched(const sweep_sample *sample, const sweep_input input[], int written);
/* Returns a number uniform in [0, 1). */
double sweep_random(uint64_t *state);
/* Rounds to the nearest value of the dtype; integers wrap. */
double sweep_rounded(double x, wk_dtype dtype);

/* ---- calls and expectations (sweep_check.c) ---------------------------------------------------------------------- */

/* Evaluates the op's `reference` or `exact` on the operands; fails if it has neither. out[k].data comes from wk__alloc.
 * Returns the number of results. */
int sweep_expected(const wk__op *op, const sweep_sample *sample, const sweep_input input[], reference_array out[],
                   const wk_tensor *result);
/* Returns the tolerance for an expected value x, if scale is the largest magnitude of the reference. */
double sweep_tolerance(const wk__op *op, wk_dtype dtype, double x, double scale);
/* Returns true if both are NaN, are equal infinities or zeros of equal sign, or differ by at most the tolerance. */
bool sweep_agrees(const wk__op *op, wk_dtype dtype, double have, double expected, double scale);
/* Calls the op through wk_call. sweep_try_call returns the number of results, or -1 with the error in message;
 * sweep_call fails on errors. */
int sweep_try_call(const wk__op *op, const sweep_sample *sample, wk_device device, wk_tensor *out[], char message[400]);
int sweep_call(const wk__op *op, const sweep_sample *sample, wk_device device, wk_tensor *out[]);
/* Returns a description of the call for failure messages, as "add([3,4], [4]) bf16 transposed opencl:0". */
const char *sweep_label(const wk__op *op, const char *text, wk_dtype dtype, sweep_layout layout, wk_device device);
/* Setup of each test: closes scopes that a failed test left open. */
int sweep_reset(void **state);
/* Runs the sweep: for each op that fits (NULL: all), one test of each kind, with the op as its state. Returns the
 * number of failures. */
typedef struct sweep_kind {
    const char *format; /* its name, with %s for the op's */
    CMUnitTestFunction test;
} sweep_kind;
int sweep_run(const char *group, const sweep_kind kinds[], size_t count, bool (*fits)(const wk__op *op));
/* Returns all elements as doubles in row-major order; the caller frees them. */
double *sweep_numbers(wk_tensor *x);

/* ---- one op on one device (sweep_op.c) --------------------------------------------------------------------------- */

typedef struct sweep_op {
    const wk__op *op;
    wk_device device;
    uint16_t dtypes; /* bit set of dtypes to test */
    uint8_t layouts; /* bit set of layouts to test */
    bool plan;       /* for a device that gathers kernels without running them: results are not compared */
    uint64_t bits;   /* hash of the bits of all results */
} sweep_op;
void sweep_values(sweep_op *row);

#endif
