/* SPDX-License-Identifier: Apache-2.0 */
/* Inserted by scripts/mutants before each source file of its copy of the tree: tests whether the mutant of a number is
 * active. */
#ifndef WK__MUTANTS
#define WK__MUTANTS

#include <stdbool.h>

extern int wk__mutant_on;
extern unsigned char *wk__mutant_seen; /* NULL, or a byte per mutant: 1 if the process has executed it */

static inline bool wk__mutant(int number)
{
    if (wk__mutant_seen) wk__mutant_seen[number] = 1;
    return wk__mutant_on == number;
}

#endif
