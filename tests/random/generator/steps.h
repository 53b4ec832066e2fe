/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of step, each carried out in the thread that it belongs to. They return false when an operand is missing:
 * then nothing has happened. m->code says what failed. */
#ifndef TESTS_RANDOM_STEPS_H
#define TESTS_RANDOM_STEPS_H

#include "executor.h"

/* What this step's thread may use of a slot. NULL: nothing. */
wk_tensor *steps_tensor(const executor *m, int slot);
/* The line of a step is its number. */
wk_site steps_site(const executor *m);

/* ---- steps_calls.c ----------------------------------------------------------------------------------------------- */

typedef struct call {
    wk_value value[16]; /* as many as an op's invoke looks at */
    wk_tensor *list[MOST_ARGUMENTS][MOST_LIST];
} call;
bool steps_arguments(const executor *m, const step *s, call *c);
/* Result k of the step. */
void steps_put(executor *m, const step *s, int k, wk_tensor *x, bool retained);
bool steps_call(executor *m, const step *s);
bool steps_in_place(executor *m, const step *s);
bool steps_function(executor *m, const step *s);
/* Contexts of functions that have not been destroyed. */
int steps_contexts(void);
bool steps_make(executor *m, const step *s);

/* ---- steps_misc.c ------------------------------------------------------------------------------------------------ */

bool steps_open(executor *m, const step *s);
bool steps_close(executor *m, const step *s);
/* Closes the guards of a thread from this place on, and forgets what they owned. */
void steps_close_from(executor *m, int thread, int place);
/* They close with their thread. */
bool steps_end_thread(executor *m, const step *s);
bool steps_owner(executor *m, const step *s);
bool steps_host(executor *m, const step *s);
bool steps_gradient(executor *m, const step *s);
bool steps_optimise(executor *m, const step *s);

#endif
