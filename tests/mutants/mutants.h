/* SPDX-License-Identifier: Apache-2.0 */
/* What scripts/mutants puts before each source file of its copy of the tree: is the mutant of this number on? */
#ifndef WK__MUTANTS
#define WK__MUTANTS

#include <stdbool.h>

extern int wk__mutant_on;
extern unsigned char *wk__mutant_seen; /* NULL, or a byte for each mutant: 1 where the process has passed by */

static inline bool wk__mutant(int number)
{
    if (wk__mutant_seen) wk__mutant_seen[number] = 1;
    return wk__mutant_on == number;
}

#endif
