/* SPDX-License-Identifier: Apache-2.0 */
/* Selects the cases that a run of the tests includes, by three environment variables that tests/runner sets:
 *
 *   WICK_TEST_SEED    seed of random tests. make check leaves it unset; make check-all derives it from the commit.
 *   WICK_TEST_TURN    a number that selects one part of a test that is split into parts. Unset: all parts run.
 *   WICK_TEST_QUICK   1 in mode cpu of make check: the longest tests run a fixed share of their cases.
 *
 * Nothing depends on the date: a commit runs the same cases every day. */
#ifndef WICK_TESTS_SUPPORT_TURNS_H
#define WICK_TESTS_SUPPORT_TURNS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Returns WICK_TEST_SEED, or 1 if it is unset. */
static inline uint64_t test_seed(void)
{
    const char *seed = getenv("WICK_TEST_SEED");
    return seed ? strtoull(seed, NULL, 10) : 1;
}

/* Returns true if this part of `parts` runs. If a part is split again, both numbers of parts must be coprime, or some
 * pairs never run. */
static inline bool test_has_turn(int part, int parts)
{
    const char *turn = getenv("WICK_TEST_TURN");
    return turn == NULL || (strtoll(turn, NULL, 10) + part) % parts == 0;
}

static inline bool test_is_quick(void)
{
    const char *quick = getenv("WICK_TEST_QUICK");
    return quick && strcmp(quick, "1") == 0;
}

/* Called once per case. A quick run takes about one case in `one_in`, the same ones each time; other runs take all. */
static inline bool test_takes_case(uint32_t one_in)
{
    static uint32_t cases;
    return !test_is_quick() || (cases++ * 2654435761u >> 16) % one_in == 0;
}

#endif
