/* SPDX-License-Identifier: Apache-2.0 */
/* Execution of each kind of step, in the thread that it belongs to. Functions return false, without any effect, if an
 * operand is missing. m->code has the error code of a failed step. */
#ifndef TESTS_RANDOM_STEPS_H
#define TESTS_RANDOM_STEPS_H

#include "executor.h"

/* Returns the tensor of a slot, if this step's thread may use it; else NULL. */
wk_tensor *steps_tensor(const executor *m, int slot);
/* Returns a call site whose line is the number of the step. */
wk_site steps_site(const executor *m);

/* ---- steps_calls.c ----------------------------------------------------------------------------------------------- */

typedef struct call {
    wk_value value[16]; /* as many as an op's invoke may read */
    wk_tensor *list[MOST_ARGUMENTS][MOST_LIST];
} call;
bool steps_arguments(const executor *m, const step *s, call *c);
/* Stores result k of the step. */
void steps_put(executor *m, const step *s, int k, wk_tensor *x, bool retained);
bool steps_call(executor *m, const step *s);
bool steps_in_place(executor *m, const step *s);
bool steps_function(executor *m, const step *s);
/* Returns the number of live contexts of functions. */
int steps_contexts(void);
bool steps_make(executor *m, const step *s);

/* ---- steps_misc.c ------------------------------------------------------------------------------------------------ */

bool steps_open(executor *m, const step *s);
bool steps_close(executor *m, const step *s);
/* Closes the guards of a thread from this index on, and forgets the tensors they owned. */
void steps_close_from(executor *m, int thread, int place);
/* Closes the guards of a thread that ends. */
bool steps_end_thread(executor *m, const step *s);
bool steps_owner(executor *m, const step *s);
bool steps_host(executor *m, const step *s);
bool steps_gradient(executor *m, const step *s);
bool steps_optimise(executor *m, const step *s);

#endif
