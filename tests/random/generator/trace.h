/* SPDX-License-Identifier: Apache-2.0 */
/* What a run has seen, as bytes: equal programs in equal modes give equal notes. */
#ifndef TESTS_RANDOM_NOTES_H
#define TESTS_RANDOM_NOTES_H

#include "executor.h"

void trace_read(executor *m, int what, int slot, wk_tensor *x);
void trace_failure(executor *m);
/* In the end: not all contexts of functions were destroyed. */
void notes_contexts(executor *m);
/* A new tensor in which elements share memory, though its op is no view. */
void notes_shared(executor *m, int slot);
/* What lies round memory that the program lent must be as it was. */
void trace_guard_bytes(executor *m);
/* Appends the notes of step k that stand at `at` in another's; their bytes. */
size_t trace_append(executor *m, const executor *from, size_t at, int k);
/* What no program may see in any mode, described in text[]; false when there is none. */
bool trace_has_error(const executor *m, char *text, size_t size);
/* The first note that differs, described in text[]; false when all are equal. */
bool trace_differs(const executor *a, const executor *b, char *text, size_t size);

#endif
