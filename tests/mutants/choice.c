/* SPDX-License-Identifier: Apache-2.0 */
/* Linked into the library of scripts/mutants: WICK_MUTANT=number activates a mutant in the process and its children. */
#include "mutants.h"
#include <stdlib.h>

int wk__mutant_on = -1;
unsigned char *wk__mutant_seen;

__attribute__((constructor(101))) static void choose(void)
{
    const char *on = getenv("WICK_MUTANT");
    if (on) wk__mutant_on = atoi(on);
}
