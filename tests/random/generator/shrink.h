/* SPDX-License-Identifier: Apache-2.0 */
/* Reduces a failing program to a small one. */
#ifndef TESTS_RANDOM_SHRINK_H
#define TESTS_RANDOM_SHRINK_H

#include "program.h"

/* Returns true if the candidate fails as the program does. It may change irrelevant parts of the candidate. */
typedef bool still_fails(program *candidate, void *user);
void shrink(program *p, still_fails *fails, void *user);

#endif
