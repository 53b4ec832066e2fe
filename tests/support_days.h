/* SPDX-License-Identifier: Apache-2.0 */
/* What takes long and does much the same each time is done in parts, one on a day: `make check` says which day it is
 * (WICK_TEST_DAY, a number), and without that, or with "all" (`make check-all`), all parts have their turn. */
#ifndef WICK_TESTS_SUPPORT_DAYS_H
#define WICK_TESTS_SUPPORT_DAYS_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Is it the turn of that part, of which one in `days` has it on a day? */
static inline bool test_has_turn(int part, int days)
{
    const char *day = getenv("WICK_TEST_DAY");
    return day == NULL || strcmp(day, "all") == 0 || (strtol(day, NULL, 10) + part) % days == 0;
}

#endif
