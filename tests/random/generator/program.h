/* SPDX-License-Identifier: Apache-2.0 */
/* A random program as data: a list of steps over slots. A slot is a variable of the program, given once, by the step
 * that names it as a result; steps read slots that earlier ones gave.
 *
 *     slot 0 = make f64[3,4] requires_grad
 *     slot 1 = transpose(slot 0, 0, 1)
 *              add_(slot 1, slot 1)
 *     slot 2 = sum(slot 1)
 *              backward(slot 2)
 *
 * A step whose operands are missing (not given yet, freed, or gone with their scope) is passed over, in every mode
 * alike: so any subset of the steps is a program, and shrinking may leave out what it likes. No pointers: programs are
 * copied between processes. */
#ifndef TESTS_RANDOM_PROGRAM_H
#define TESTS_RANDOM_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <wick.h>

enum {
    MOST_STEPS = 160,
    MOST_SLOTS = 256,
    MOST_ARGUMENTS = 8,
    MOST_LIST = 8,    /* of whole numbers or slots in one argument */
    MOST_RESULTS = 6, /* of one call that get a slot */
    MOST_THREADS = 4
};

typedef enum step_kind {
    STEP_MAKE,     /* a tensor with numbers of its own: shape in argument 0; `how` are the flags below */
    STEP_CALL,     /* the op of a row */
    STEP_IN_PLACE, /* its form with a _ at the end */
    STEP_SCOPE,    /* opened; STEP_END with the same `guard` closes it */
    STEP_NO_GRAD,  /* likewise */
    STEP_END,
    STEP_KEEP,
    STEP_CARRY, /* argument 0 is let go, argument 1 kept */
    STEP_RETAIN,
    STEP_FREE,
    STEP_READ,
    STEP_SYNC,
    STEP_FLUSH,
    STEP_TRIM,         /* the device's idle memory is given back */
    STEP_TAKE_ADDRESS, /* wk_data: the program knows the address from now on */
    STEP_HOST_WRITE,   /* the program writes a number through that address, or into memory that it lent; `how` */
    STEP_REQUIRE,
    STEP_DETACH,
    STEP_BACKWARD, /* `how`: retain_graph, create_graph */
    STEP_GRAD_OF,
    STEP_DIFFERENTIATE,  /* wk_grad of argument 0 for argument 1; `how` likewise */
    STEP_HOOK,           /* `how`: which of the program's hooks */
    STEP_FUNCTION,       /* `how`: which of the program's functions with a gradient of their own */
    STEP_THREAD_RESTART, /* the thread ends: its scopes close, what it has recorded is run. Another takes its
                                     place */
    STEP_OPTIMISE,       /* `how`: which optimiser takes argument 1 steps with the leaves of argument 0 */
    STEP_KINDS
} step_kind;

/* Where a GPU has a neighbour of its kind: what STEP_MAKE and a clone give, and what STEP_TRIM is about. All else lies
 * where its operands do. */
enum { CARD_OF_OPERANDS, CARD_FIRST, CARD_SECOND };
enum { MAKE_LEAF = 1, MAKE_BORROWED = 2, MAKE_INDEX = 4, MAKE_POSITIVE = 8 };
enum { GRAPH_RETAIN = 1, GRAPH_CREATE = 2 };
enum { POKE_ADDRESS, POKE_DLPACK /* all of it, as a tensor of another library over the same memory */ };
enum { HOOK_LOOKS, HOOK_SCALES, HOOK_READS, HOOK_AFTER, HOOKS };
/* In the order of part_functions. */
enum {
    FUNCTION_SINE_PRODUCT,
    FUNCTION_SAVES_RESULT,
    FUNCTION_TWO_RESULTS,
    FUNCTION_SWAPS,
    FUNCTION_GIVES_INPUT,
    FUNCTIONS
};
/* In the order of part_optim. */
enum { OPTIM_SGD, OPTIM_ADAM, OPTIM_ADAMW, OPTIM_ADAGRAD, OPTIM_LBFGS, OPTIMS };

typedef struct argument {
    uint8_t kind;  /* wk_value_kind */
    uint8_t count; /* of a list */
    union {
        int16_t slot[MOST_LIST]; /* TENSOR (the first), TENSORS */
        int64_t ints[MOST_LIST];
        int64_t i;
        double f;
        char text[16];
    };
} argument;

typedef struct step {
    uint8_t kind, how, thread, arguments, results, dtype, card;
    int16_t op;       /* index into wk__ops */
    int16_t out;      /* the first of its results' slots */
    int16_t guard;    /* which scope or grad mode */
    bool removed;     /* left out */
    bool sync_before; /* all threads have done what stands above it before it begins */
    uint32_t
        seed; /* of numbers: those of STEP_MAKE, those that a random op draws; the bound of MAKE_INDEX in argument 1 */
    argument argument[MOST_ARGUMENTS];
} step;

enum { LEFT_TENSOR = 1, LEFT_LEAF = 2 };

typedef struct program {
    uint64_t seed;
    int32_t steps, slots, guards, threads;
    uint32_t order;           /* in which the slots are read at the end */
    uint8_t left[MOST_SLOTS]; /* LEFT_: what is there in the end, once oracles_tidy has found out */
    bool concurrent;          /* between two steps that meet, its threads work at the same time */
    bool exact;               /* its numbers have the same bits on each kind of device */
    bool gradcheck;           /* all leaves are f64, and its only backward can be checked with central differences */
    step step[MOST_STEPS];
} program;

static inline argument argument_slot(int slot)
{
    argument a = {.kind = WK_VALUE_TENSOR, .count = 1};
    a.slot[0] = (int16_t)slot;
    return a;
}
static inline argument argument_int(int64_t i)
{
    return (argument){.kind = WK_VALUE_INT, .i = i};
}
static inline argument argument_float(double f)
{
    return (argument){.kind = WK_VALUE_FLOAT, .f = f};
}
static inline argument argument_ints(int count, const int64_t *ints)
{
    argument a = {.kind = WK_VALUE_INTS, .count = (uint8_t)count};
    for (int k = 0; k < count; k++) a.ints[k] = ints[k];
    return a;
}
/* Appends a step of this kind; NULL when the program is full. Its results get the next slots. */
step *program_add(program *p, step_kind kind, int results);
/* In which order its slots are read at the end; order[p->slots]. */
void program_order(const program *p, int order[]);
/* Which thread is the k-th to look at its own slots at the end. */
static inline int program_looker(const program *p, int k)
{
    return (int)(p->order % (uint32_t)p->threads + (uint32_t)k) % p->threads;
}
/* The slot that its last backward starts at, -1 when there is none. */
int program_loss(const program *p);
/* How many steps are there, without those left out. */
int program_length(const program *p);
/* Steps that call an op, or the gradient. */
int program_calls(const program *p);
/* Bytes that say all of it: what copies and hashes need not go beyond. */
size_t program_bytes(const program *p);

#endif
