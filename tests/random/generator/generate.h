/* SPDX-License-Identifier: Apache-2.0 */
/* Generates a random program step by step, executing each step immediately. So the library itself determines what the
 * next step can apply to (shapes, dtypes, histories, shared memory), and ops need no rules here to take part.
 *
 *     generate.c         chooses the next step
 *     generate_steps.c   executes it and decides whether it stays
 *     generate_sync.c    determines where threads synchronise
 *     generate_calls.c   calls of ops, also in place
 *     generate_graph.c   other steps: owners, reads, gradients
 *     generate_large.c   programs with tensors larger than 2 MB
 *     arguments.c        a call's arguments other than tensors, by their names in the schema
 *     operands.c         a call's tensors: existing slots, or new ones that fit
 *     operands_special.c those of products, lists, indices
 *     samples.c          calls from an op's samples */
#ifndef TESTS_RANDOM_GENERATE_H
#define TESTS_RANDOM_GENERATE_H

#include "rng.h"
#include "executor.h"

/* Access of a step to a slot or storage since the last synchronisation. */
typedef struct storage_access {
    const void *what;
    int thread;
    bool wrote;
} storage_access;
enum { MOST_TOUCHES = 4096 };

typedef struct generator {
    rng draw;
    program *program;
    executor *machine;
    int size[4], sizes; /* sizes of dimensions in this program; equal spaces can be fused */
    wk_dtype dtype;     /* of most tensors */
    bool grads;         /* the program has leaves */
    bool mixed;         /* other dtypes occur as well */
    int big;            /* percentage of large tensors */
    bool large;         /* tensors are larger than 2 MB (generate_large.c) */
    int cards, card;    /* number of cards; card of the next tensor */
    int64_t elements;   /* remaining elements that kernels of a large program may process */
    bool wide;          /* the next product is large enough for several threads */
    int dim;            /* the last dimension drawn for a call */
    int thread;         /* the running thread */
    int calls;          /* intended number */
    int tries_left;     /* before it gives up */
    int view, base,
        owner; /* slots; -1: none. The view is handed to another thread, then the base's owner frees the base */
    storage_access touch[MOST_TOUCHES];
    int touches;
    int16_t met[MOST_STEPS];     /* number of synchronisations before each step */
    uint64_t latest[MOST_STEPS]; /* sequence number of the latest graph node after each step */
} generator;

/* Generates the program of this seed into *p. It has been executed on m, which has ended. */
void generate(program *p, executor *m, const mode *mode, uint64_t seed);
/* The same for tensors larger than 2 MB. */
void generate_large(program *p, executor *m, const mode *mode, uint64_t seed);

/* ---- generate_steps.c -------------------------------------------------------------------------------------------- */

/* Appends a step, to be filled in; NULL if the program is full. */
step *generate_begin(generator *g, step_kind kind, int results);
/* Executes the last step. Returns true if it stays, false if it was dropped. */
bool generate_end(generator *g);

/* ---- generate_sync.c --------------------------------------------------------------------------------------------- */

/* Lists the accesses of a step except to its results; to[] has room for MOST_TOUCHES. */
int generate_accesses(const generator *g, const step *s, storage_access *to);
/* Returns true if the step's result does not depend on the timing since the last synchronisation. */
bool generate_is_deterministic(const generator *g, const step *s);
/* Decides whether a step that was executed and stays must wait for the other threads. */
void generate_sync(generator *g, step *s, const storage_access *touched, int count);

/* ---- generate_calls.c, generate_graph.c: each adds a step or several, if they succeed ---------------------------- */

void generate_call(generator *g);
/* Adds a product directly after the calls that compute one of its factors. */
void generate_factor(generator *g);
void generate_in_place(generator *g);
/* Adds x op_ y; op is a pointwise op, or has a name with _. */
void generate_in_place_of(generator *g, const char *op, int x, const argument *y);
/* Adds a use of this slot. */
void generate_use(generator *g, int slot);
void generate_owner(generator *g);
void generate_host(generator *g);
void generate_graph(generator *g);
void generate_backward(generator *g);
/* Closes the innermost scope or grad mode of the program, or all. */
void generate_close(generator *g, bool all);
/* Adds a step on a slot of one of these dtypes. */
void generate_of_slot(generator *g, step_kind kind, unsigned dtypes, int results, int how);

/* Adds a step on this slot alone, if there is room. */
bool generate_on(generator *g, step_kind kind, int slot);
/* Adds a step without operands. */
void generate_plain(generator *g, step_kind kind);

/* ---- generate_large.c -------------------------------------------------------------------------------------------- */

/* Initialises a large program, and adds a step or several. */
void generate_decide_large(generator *g);
void generate_large_step(generator *g);

/* ---- operands.c -------------------------------------------------------------------------------------------------- */

enum { ANY_DTYPE = WK__ANY, LARGE = 20000 /* maximum number of elements of a result */ };
static inline const wk__body *generate_body(const generator *g, int slot)
{
    return wk__body_of(g->machine->slot[slot].tensor);
}
/* Returns a live slot whose dtype is in the bit set, with at least min_ndim dimensions; -1 if there is none. */
int generate_pick(generator *g, unsigned dtypes, int min_ndim);
/* Creates a tensor of this shape; returns its slot, or -1 if the program is full. */
int generate_make(generator *g, wk_dtype dtype, int ndim, const int64_t *shape, int how, int64_t below);
void generate_shape(generator *g, int *ndim, int64_t *shape);
/* Returns a slot of exactly this shape and one of these dtypes: an existing one, one cut from another, or a new one. */
int generate_operand(generator *g, unsigned dtypes, int ndim, const int64_t *shape);
/* Fills in all tensors of a call; returns false if that is impossible. */
bool generate_operands(generator *g, const op_entry *r, step *s);
bool generate_product_operands(generator *g, const op_entry *r, step *s);
bool generate_list_operands(generator *g, const op_entry *r, step *s);
bool generate_index_operands(generator *g, const op_entry *r, step *s);
/* Adds a view op on x; returns its slot or -1. */
int generate_view(generator *g, const char *op, int x, int count, const argument *arguments);

/* ---- arguments.c ------------------------------------------------------------------------------------------------- */

/* Fills in the other arguments, after the tensors. */
void generate_arguments(generator *g, const op_entry *r, step *s);
/* Fills in all arguments from one of the op's samples. */
bool generate_sample(generator *g, const op_entry *r, step *s);

#endif
