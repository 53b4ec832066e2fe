/* SPDX-License-Identifier: Apache-2.0 */
/* Minimises a program that fails, so that its cause can be read off. */
#ifndef TESTS_RANDOM_SHRINK_H
#define TESTS_RANDOM_SHRINK_H

#include "program.h"

/* Returns true if the candidate fails in the same way as the original program. May change the candidate where that does
 * not affect the failure; the change is kept with it. */
typedef bool still_fails(program *candidate, void *user);
/* Replaces the failing program p by a smaller or simpler one that still fails, if it finds one. */
void shrink(program *p, still_fails *fails, void *user);

#endif
