/* SPDX-License-Identifier: Apache-2.0 */
/* The trace of a run as bytes: equal programs in equal modes have equal traces. */
#ifndef TESTS_RANDOM_TRACE_H
#define TESTS_RANDOM_TRACE_H

#include "executor.h"

void trace_read(executor *m, int what, int slot, wk_tensor *x);
void trace_failure(executor *m);
/* Records at the end that contexts of functions were not destroyed. */
void notes_contexts(executor *m);
/* Records a new tensor whose elements share memory although its op is not a view. */
void notes_shared(executor *m, int slot);
/* Checks that memory around borrowed buffers is unchanged. */
void trace_guard_bytes(executor *m);
/* Appends the entries of step k, which start at offset `at` in the other trace; returns their size. */
size_t trace_append(executor *m, const executor *from, size_t at, int k);
/* Describes in text[] an entry that is an error in any mode; returns false if there is none. */
bool trace_has_error(const executor *m, char *text, size_t size);
/* Describes in text[] the first entry that differs; returns false if all are equal. */
bool trace_differs(const executor *a, const executor *b, char *text, size_t size);

#endif
