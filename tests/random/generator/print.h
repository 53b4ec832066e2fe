/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a program as C, to be used in a test. */
#ifndef TESTS_RANDOM_PRINT_H
#define TESTS_RANDOM_PRINT_H

#include "program.h"
#include <stdio.h>

void print_program(FILE *out, const program *p);
/* Lists the kinds of its steps alphabetically: programs that fail for the same reason usually have equal lists. */
void print_signature(char *text, size_t size, const program *p);

/* ---- print_calls.c ----------------------------------------------------------------------------------------------- */

extern const char *const print_dtype[]; /* "WK_F32", by dtype */
void print_fraction(FILE *out, double x);
void print_argument(FILE *out, const argument *a);
/* Prints the statements of a STEP_CALL or STEP_IN_PLACE. */
void print_op(FILE *out, const step *s);

/* Prints one step as a statement. apart: guards are variables shared by functions. */
void print_step(FILE *out, const step *s, bool apart);
/* Prints the observation of slot k at the end. */
void print_left(FILE *out, const program *p, int k);
/* print_threads.c: prints a program of several threads, after its includes. */
void print_threads(FILE *out, const program *p);

#endif
