/* SPDX-License-Identifier: Apache-2.0 */
/* A random program as data: a list of steps over slots. A slot is a variable of the program, assigned once, by the step
 * that names it as a result; later steps read it.
 *
 *     slot 0 = make f64[3,4] requires_grad
 *     slot 1 = transpose(slot 0, 0, 1)
 *              add_(slot 1, slot 1)
 *     slot 2 = sum(slot 1)
 *              backward(slot 2)
 *
 * A step is skipped if an operand is missing (not created, freed, or freed with its scope), in every mode alike: so any
 * subset of the steps is a program, and shrinking may remove any step. Programs contain no pointers, because they are
 * copied between processes. */
#ifndef TESTS_RANDOM_PROGRAM_H
#define TESTS_RANDOM_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <wick.h>

enum {
    MOST_STEPS = 160,
    MOST_SLOTS = 256,
    MOST_ARGUMENTS = 10,
    MOST_LIST = 8,    /* integers or slots in one argument */
    MOST_RESULTS = 6, /* results of a call that have slots */
    MOST_THREADS = 4
};

typedef enum step_kind {
    STEP_MAKE,     /* a tensor with new values: shape in argument 0; `how` has the flags below */
    STEP_CALL,     /* a call of an op */
    STEP_IN_PLACE, /* its in-place form */
    STEP_SCOPE,    /* opens a scope; the STEP_END with the same `guard` closes it */
    STEP_NO_GRAD,  /* the same for wk_no_grad */
    STEP_END,
    STEP_KEEP,
    STEP_CARRY, /* argument 0 is freed, argument 1 kept */
    STEP_RETAIN,
    STEP_FREE,
    STEP_READ,
    STEP_SYNC,
    STEP_FLUSH,
    STEP_TRIM,         /* releases the device's idle memory */
    STEP_TAKE_ADDRESS, /* wk_data: the program knows the address from now on */
    STEP_HOST_WRITE,   /* writes through that address, or into borrowed memory; see `how` */
    STEP_REQUIRE,
    STEP_DETACH,
    STEP_BACKWARD, /* `how`: retain_graph, create_graph */
    STEP_GRAD_OF,
    STEP_DIFFERENTIATE,  /* wk_grad of argument 0 for argument 1; `how` as above */
    STEP_HOOK,           /* `how`: number of the hook */
    STEP_FUNCTION,       /* `how`: number of the custom function */
    STEP_THREAD_RESTART, /* the thread ends: its scopes close, its records run; another replaces it */
    STEP_OPTIMISE,       /* `how`: number of the optimiser, which makes argument 1 steps on the leaves in argument 0 */
    STEP_KINDS
} step_kind;

/* With two GPUs of a kind: the card of the results of STEP_MAKE and clones, and of STEP_TRIM. Other results are on the
 * card of their operands. */
enum { CARD_OF_OPERANDS, CARD_FIRST, CARD_SECOND };
enum { MAKE_LEAF = 1, MAKE_BORROWED = 2, MAKE_INDEX = 4, MAKE_POSITIVE = 8 };
enum { GRAPH_RETAIN = 1, GRAPH_CREATE = 2 };
enum { POKE_ADDRESS, POKE_DLPACK /* all elements, through another library's tensor over the same memory */ };
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
        int16_t slot[MOST_LIST]; /* TENSOR (the first one), TENSORS */
        int64_t ints[MOST_LIST];
        int64_t i;
        double f;
        char text[16];
    };
} argument;

typedef struct step {
    uint8_t kind, how, thread, arguments, results, dtype, card;
    int16_t op;       /* index into wk__ops */
    int16_t out;      /* slot of its first result */
    int16_t guard;    /* number of the scope or grad mode */
    bool removed;     /* removed by shrinking */
    bool sync_before; /* all threads must have finished the previous steps */
    uint32_t seed;    /* of the values of STEP_MAKE and random ops; the bound of MAKE_INDEX is argument 1 */
    argument argument[MOST_ARGUMENTS];
} step;

enum { LEFT_TENSOR = 1, LEFT_LEAF = 2 };

typedef struct program {
    uint64_t seed;
    int32_t steps, slots, guards, threads;
    uint32_t order;           /* of the reads of slots at the end */
    uint8_t left[MOST_SLOTS]; /* LEFT_ flags of the slots that remain at the end, set by oracles_tidy */
    bool concurrent;          /* its threads run concurrently between synchronisations */
    bool exact;               /* its values have the same bits on each kind of device */
    bool gradcheck;           /* all leaves are f64, and its only backward can be checked by central differences */
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
/* Appends a step of this kind, whose results receive the next slots; NULL if the program is full. */
step *program_add(program *p, step_kind kind, int results);
/* Sets order[p->slots], the order in which slots are read at the end. */
void program_order(const program *p, int order[]);
/* Returns the k-th thread that reads its slots at the end. */
static inline int program_looker(const program *p, int k)
{
    return (int)(p->order % (uint32_t)p->threads + (uint32_t)k) % p->threads;
}
/* Returns the slot at which its last backward starts, or -1. */
int program_loss(const program *p);
/* Returns the number of steps that are not removed. */
int program_length(const program *p);
/* Returns the number of steps that call an op or compute gradients. */
int program_calls(const program *p);
/* Returns the number of bytes in use, which suffice for copies and hashes. */
size_t program_bytes(const program *p);

#endif
