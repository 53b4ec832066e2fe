/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a failing program small. */
#ifndef TESTS_RANDOM_SHRINK_H
#define TESTS_RANDOM_SHRINK_H

#include "program.h"

/* Does the candidate still fail as the program did? It may change what does not matter in it. */
typedef bool still_fails(program *candidate, void *user);
void shrink(program *p, still_fails *fails, void *user);

#endif
