/* SPDX-License-Identifier: Apache-2.0 */
/* Grows a random program step by step, carrying each step out as it comes: so what the next one can be applied to
 * (shapes, dtypes, histories, what shares memory) is what the library says, and an op needs no rule here to take part.
 *
 *     generate.c         which step comes next
 *     generate_steps.c   carrying it out, and whether it stays
 *     generate_sync.c    where threads wait for each other
 *     generate_calls.c   calls of ops, and in place
 *     generate_graph.c   steps that call no op: owners, reading, gradients
 *     generate_large.c   those of programs whose tensors are larger than 2 MB
 *     arguments.c        the numbers of a call, by the names in its schema
 *     operands.c         the tensors of a call, from slots that there are or with steps that make them fit
 *     operands_special.c  those of products, lists, indices
 *     samples.c          calls as a row's samples say */
#ifndef TESTS_RANDOM_GENERATE_H
#define TESTS_RANDOM_GENERATE_H

#include "rng.h"
#include "executor.h"

/* What a step has touched since the threads met: a slot or a storage. */
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
    int size[4], sizes; /* what dimensions are made of in this program: equal spaces meet in one kernel */
    wk_dtype dtype;     /* of most of its tensors */
    bool grads;         /* it has leaves */
    bool mixed;         /* other dtypes too */
    int big;            /* percent of its tensors that are large */
    bool large;         /* its tensors are larger than 2 MB (generate_large.c) */
    int cards, card;    /* that it uses; the one that the next tensor made lies on */
    int64_t elements;   /* that kernels of such a program may still go through */
    bool wide;          /* the product that is being drawn is large enough for several threads to share it */
    int dim;            /* the last dimension drawn for a call */
    int thread;         /* that goes on */
    int calls;          /* aimed at */
    int tries_left;     /* that are left to get there */
    int view, base,
        owner; /* slots, -1 for none: the view goes to another thread, the base is let go by its owner then */
    storage_access touch[MOST_TOUCHES];
    int touches;
    int16_t met[MOST_STEPS];     /* how often threads had met when a step began */
    uint64_t latest[MOST_STEPS]; /* node of the graph that there was after it */
} generator;

/* Fills *p with the program of this seed; it has been carried out on m, which is ended. */
void generate(program *p, executor *m, const mode *mode, uint64_t seed);
/* The same, of tensors larger than 2 MB. */
void generate_large(program *p, executor *m, const mode *mode, uint64_t seed);

/* ---- generate_steps.c -------------------------------------------------------------------------------------------- */

/* Appends a step, to be filled in; NULL when the program is full. */
step *generate_begin(generator *g, step_kind kind, int results);
/* Carries the last step out. It stays if it went well: false when it is not there any more. */
bool generate_end(generator *g);

/* ---- generate_sync.c --------------------------------------------------------------------------------------------- */

/* What a step is going to touch, beside its results; to[] has room for MOST_TOUCHES. */
int generate_accesses(const generator *g, const step *s, storage_access *to);
/* Does it give the same each time, whichever thread was first since they met? */
bool generate_is_deterministic(const generator *g, const step *s);
/* It has been carried out, and stays: does it have to wait for the other threads? */
void generate_sync(generator *g, step *s, const storage_access *touched, int count);

/* ---- generate_calls.c, generate_graph.c: one step or some, if it goes well --------------------------------------- */

void generate_call(generator *g);
/* A product right behind the calls that compute one of its factors. */
void generate_factor(generator *g);
void generate_in_place(generator *g);
/* x op_ y; op: a pointwise op, or one that has the _ in its name. */
void generate_in_place_of(generator *g, const char *op, int x, const argument *y);
/* Something is done with this slot. */
void generate_use(generator *g, int slot);
void generate_owner(generator *g);
void generate_host(generator *g);
void generate_graph(generator *g);
void generate_backward(generator *g);
/* Closes the innermost scope or grad mode that the program opened, or all. */
void generate_close(generator *g, bool all);
/* A step on a slot of one of these dtypes. */
void generate_of_slot(generator *g, step_kind kind, unsigned dtypes, int results, int how);

/* A step on this slot alone, if there is room. */
bool generate_on(generator *g, step_kind kind, int slot);
/* A step without operands. */
void generate_plain(generator *g, step_kind kind);

/* ---- generate_large.c -------------------------------------------------------------------------------------------- */

/* What such a program is made of, and one step of it or some. */
void generate_decide_large(generator *g);
void generate_large_step(generator *g);

/* ---- operands.c -------------------------------------------------------------------------------------------------- */

enum { ANY_DTYPE = WK__ANY, LARGE = 20000 /* elements that a result may have */ };
static inline const wk__body *generate_body(const generator *g, int slot)
{
    return wk__body_of(g->machine->slot[slot].tensor);
}
/* A live slot whose dtype is among these bits, of at least min_ndim dimensions; -1 when there is none. */
int generate_pick(generator *g, unsigned dtypes, int min_ndim);
/* A new tensor of this shape; its slot, -1 when the program is full. */
int generate_make(generator *g, wk_dtype dtype, int ndim, const int64_t *shape, int how, int64_t below);
void generate_shape(generator *g, int *ndim, int64_t *shape);
/* A tensor of exactly this shape and one of these dtypes: one that is there, one cut from another, or a new one. */
int generate_operand(generator *g, unsigned dtypes, int ndim, const int64_t *shape);
/* Fills in all tensors of a call of this row; false when that can't be. */
bool generate_operands(generator *g, const op_entry *r, step *s);
bool generate_product_operands(generator *g, const op_entry *r, step *s);
bool generate_list_operands(generator *g, const op_entry *r, step *s);
bool generate_index_operands(generator *g, const op_entry *r, step *s);
/* A step of one view op: x cut down, turned, ... ; its slot or -1. */
int generate_view(generator *g, const char *op, int x, int count, const argument *arguments);

/* ---- arguments.c ------------------------------------------------------------------------------------------------- */

/* Fills in what is no tensor, the tensors being there. */
void generate_arguments(generator *g, const op_entry *r, step *s);
/* From one of the row's samples, tensors and all. */
bool generate_sample(generator *g, const op_entry *r, step *s);

#endif
