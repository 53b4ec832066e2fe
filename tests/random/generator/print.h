/* SPDX-License-Identifier: Apache-2.0 */
/* A program printed: as C that a test can take over. */
#ifndef TESTS_RANDOM_PRINT_H
#define TESTS_RANDOM_PRINT_H

#include "program.h"
#include <stdio.h>

void print_program(FILE *out, const program *p);
/* The kinds of its steps in order of the alphabet: programs that fail for one reason mostly have the same. */
void print_signature(char *text, size_t size, const program *p);

/* ---- print_calls.c ----------------------------------------------------------------------------------------------- */

extern const char *const print_dtype[]; /* "WK_F32", by the dtype */
void print_fraction(FILE *out, double x);
void print_argument(FILE *out, const argument *a);
/* The statements of a STEP_CALL or STEP_IN_PLACE. */
void print_op(FILE *out, const step *s);

/* One step as a statement. `apart`: what it opens is a variable that functions share. */
void print_step(FILE *out, const step *s, bool apart);
/* What is printed of slot k in the end. */
void print_left(FILE *out, const program *p, int k);
/* print_threads.c: a program of several threads, after its includes. */
void print_threads(FILE *out, const program *p);

#endif
