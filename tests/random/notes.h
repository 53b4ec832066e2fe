/* SPDX-License-Identifier: Apache-2.0 */
/* What a run has seen, as bytes: equal programs in equal modes give equal notes. */
#ifndef TESTS_RANDOM_NOTES_H
#define TESTS_RANDOM_NOTES_H

#include "machine.h"

void notes_read(machine *m, int what, int slot, wk_tensor *x);
void notes_failed(machine *m);
/* In the end: not all contexts of functions were destroyed. */
void notes_contexts(machine *m);
/* A new tensor in which elements share memory, though its op is no view. */
void notes_shared(machine *m, int slot);
/* What lies round memory that the program lent must be as it was. */
void notes_guards(machine *m);
/* Appends the notes of step k that stand at `at` in another's; their bytes. */
size_t notes_take(machine *m, const machine *from, size_t at, int k);
/* What no program may see in any mode, described in text[]; false when there is none. */
bool notes_wrong(const machine *m, char *text, size_t size);
/* The first note that differs, described in text[]; false when all are equal. */
bool notes_differ(const machine *a, const machine *b, char *text, size_t size);

#endif
