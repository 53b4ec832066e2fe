/* SPDX-License-Identifier: Apache-2.0 */
/* What takes long and does much the same each time is done in parts, one on a day: `make check` says which day it is
 * (WICK_TEST_DAY, a number), and without that, or with "all" (`make check-all`), all parts have their turn. Where a
 * part is one of another part, or of a program that has its own days (WICK_TEST_DAYS in runner/modes), their days must
 * have no divisor in common: else some pairs of them never come. */
#ifndef WICK_TESTS_SUPPORT_DAYS_H
#define WICK_TESTS_SUPPORT_DAYS_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Is it the turn of that part, of which one in `days` has it on a day? */
static inline bool test_runs_today(int part, int days)
{
    const char *day = getenv("WICK_TEST_DAY");
    return day == NULL || strcmp(day, "all") == 0 || (strtol(day, NULL, 10) + part) % days == 0;
}

#endif
