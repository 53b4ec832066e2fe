/* SPDX-License-Identifier: Apache-2.0 */
/* The walk over the table of ops: what its programs (walk_*.c) share. For each row every sample is called with
 * every dtype that the row takes, with operands that lie in memory in every way, and compared with the row's
 * reference in double precision.
 *
 * The notation of samples: the arguments in the order of the schema, separated by commas; those left out are none.
 *
 *   [2,3]  []           a tensor of random numbers between the row's low and high, of the dtype under test; 0-d
 *   [4]:i64  [4]:i64<7  one of a fixed dtype; of whole numbers in 0..6
 *   {[2,3] [4,3]}       a list of tensors
 *   2  -1  0.5  1e-3    numbers; those with a point or an exponent are fractions (also inf, -inf, nan)
 *   (1,2)  ()           a list of whole numbers
 *   true  false  none   f32 ... bool (a dtype)   cpu (a device)   "floor" (a text) */
#ifndef TESTS_WALK_H
#define TESTS_WALK_H

#include "support/wick.h"
#include "ops/core/entries.h"
#include "references/reference.h"

enum { SWEEP_ARGUMENTS = 16, SWEEP_TENSORS = 12, SWEEP_INTS = 64, SWEEP_RESULTS = 16 };

/* ---- samples (support_sweep.c) ----------------------------------------------------------------------------------- */

typedef struct sweep_operand {
    int ndim;
    int64_t shape[WK__MAX_DIMS];
    wk_dtype fixed; /* 0: the dtype under test */
    int64_t below;  /* whole numbers in [0, below); 0: random between low and high */
} sweep_operand;

typedef struct sweep_sample {
    int arguments;
    wk_value argument[SWEEP_ARGUMENTS]; /* tensors among them are filled in by sweep_bind */
    int first[SWEEP_ARGUMENTS];         /* the first operand of an argument that is a tensor or a list of them */
    int operands, ints;
    sweep_operand operand[SWEEP_TENSORS];
    int64_t number[SWEEP_INTS]; /* the lists of whole numbers */
    char text[16];
    wk_tensor *tensor[SWEEP_TENSORS];
} sweep_sample;

/* False, with what is wrong in *why, for a text that is no sample. */
bool sweep_parse(const char *text, sweep_sample *sample, const char **why);
/* The tensors for the operands, in order. */
void sweep_bind(sweep_sample *sample, wk_tensor *const tensor[]);
/* Does any operand take the dtype under test? */
bool sweep_takes_dtype(const sweep_sample *sample);
/* Is argument 0 written in place, as "copy_(Tensor(a!) self, ...)" says? */
bool sweep_writes(const wk__op *op);
/* Is it tried by samples? Calls that need a graph are not. */
bool sweep_has_samples(const wk__op *op);

/* ---- operands (support_sweep_operands.c) ------------------------------------------------------------------------- */

/* How an operand lies in its storage; '.' are elements that belong to nobody and must stay as they are.
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
    wk_tensor *tensor, *storage; /* the operand, and all of the storage that it lies in as one row */
    reference_array array;       /* its numbers, row-major, rounded to its dtype; data from wk__alloc */
    char *bytes;                 /* what the storage held */
    size_t size;
} sweep_input;

/* Random operands for the sample; the same `seed` gives the same numbers. Tensors belong to the scope, the
 * rest to the input. */
void sweep_make_inputs(const wk__op *op, const sweep_sample *sample, wk_dtype dtype, sweep_layout layout,
                       wk_device device, uint64_t seed, sweep_input input[]);
void sweep_free_inputs(const sweep_sample *sample, sweep_input input[]);
/* Storages hold what they held, but for the elements of operand `written` (-1: none). */
void sweep_check_untouched(const sweep_sample *sample, const sweep_input input[], int written);
/* Uniform in [0, 1). */
double sweep_random(uint64_t *state);
/* The nearest number of that dtype; integers wrap. */
double sweep_rounded(double x, wk_dtype dtype);

/* ---- calls and expectations (support_sweep_check.c) -------------------------------------------------------------- */

/* The row's reference or `exact`, over the operands. Fails for a row that has neither. out[k].data from wk__alloc. */
int sweep_expected(const wk__op *op, const sweep_sample *sample, const sweep_input input[], reference_array out[],
                   const wk_tensor *result);
/* How far a result may be from x where the largest number of the reference is `scale`. */
double sweep_tolerance(const wk__op *op, wk_dtype dtype, double x, double scale);
/* NaN where NaN is expected, infinities and signs of zero equal, numbers within the tolerance. */
bool sweep_agrees(const wk__op *op, wk_dtype dtype, double have, double expected, double scale);
/* Calls the row through wk_call; how many results, -1 with the message of an error. sweep_call fails with it. */
int sweep_try_call(const wk__op *op, const sweep_sample *sample, wk_device device, wk_tensor *out[], char message[400]);
int sweep_call(const wk__op *op, const sweep_sample *sample, wk_device device, wk_tensor *out[]);
/* "add([3,4], [4]) bf16 transposed opencl:0": what is being tried, for messages of failures. */
const char *sweep_label(const wk__op *op, const char *text, wk_dtype dtype, sweep_layout layout, wk_device device);
/* Setup of each test: what one that failed has left open is closed. */
int sweep_reset(void **state);
/* The program's main: for each row that `fits` (NULL: all), a test of each kind, whose state is the row. How
 * many failed. */
typedef struct sweep_kind {
    const char *format; /* its name, with %s for that of the row */
    CMUnitTestFunction test;
} sweep_kind;
int sweep_run(const char *group, const sweep_kind kinds[], size_t count, bool (*fits)(const wk__op *op));
/* All elements as double, row-major; free() them. */
double *sweep_numbers(wk_tensor *x);

/* ---- one row on one device (support_sweep_op.c) ------------------------------------------------------------------ */

typedef struct sweep_op {
    const wk__op *op;
    wk_device device;
    uint16_t dtypes; /* those to try, as bits */
    uint8_t layouts; /* the same */
    bool plan;       /* for a device that gathers kernels and runs none: what comes back means nothing */
    uint64_t bits;   /* a hash of all bits of all results */
} sweep_op;
void sweep_values(sweep_op *row);

#endif
