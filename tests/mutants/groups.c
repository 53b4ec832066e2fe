/* SPDX-License-Identifier: Apache-2.0 */
/* Linked into the test programs of scripts/mutants: wraps cmocka.
 *
 *   WICK_MUTANT_TESTS="2 5"   runs only these tests of the program, numbered from 0 in order
 *   WICK_MUTANT_SEEN=FILE     writes the mutants that each test executes: rows of ROW bytes, the first one for code
 *   outside
 *                             the tests, then one per test; FILE.tests receives a line "number seconds name" per
 * test */
#include "base/mutants.h"
#include "support/wick.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { ROW = 16384, MOST_TESTS = 1000 };

typedef const struct CMUnitTest test;
int __real__cmocka_run_group_tests(const char *name, test tests[], size_t count, CMFixtureFunction begin,
                                   CMFixtureFunction end);
int __wrap__cmocka_run_group_tests(const char *name, test tests[], size_t count, CMFixtureFunction begin,
                                   CMFixtureFunction end);

static unsigned char *rows;
static FILE *names;
static int number;              /* of the group's first test */
static int running = -1;        /* index in the group */
static struct timespec started; /* of the running test */
static test *group;

__attribute__((constructor(102))) static void open_rows(void)
{
    const char *path = getenv("WICK_MUTANT_SEEN");
    char beside[4096];
    if (!path) return;
    const int file = open(path, O_RDWR);
    void *map =
        file < 0 ? MAP_FAILED : mmap(NULL, (size_t)ROW * (MOST_TESTS + 1), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    snprintf(beside, sizeof beside, "%s.tests", path);
    if (map == MAP_FAILED || !(names = fopen(beside, "a"))) abort();
    wk__mutant_seen = rows = map;
}

static void leave(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (running >= 0) {
        const double seconds = (double)(now.tv_sec - started.tv_sec) + 1e-9 * (double)(now.tv_nsec - started.tv_nsec);
        fprintf(names, "%d %.6f %s\n", number + running, seconds, group[running].name);
        fflush(names);
    }
    wk__mutant_seen = rows;
    started = now;
}

/* Added to each test as its setup function, because cmocka does not report otherwise which test runs. */
static int enter(void **state)
{
    leave();
    running++;
    if (number + running < MOST_TESTS) wk__mutant_seen = rows + (size_t)ROW * (size_t)(number + running + 1);
    return group[running].setup_func ? group[running].setup_func(state) : 0;
}

static bool chosen(int test_number)
{
    const char *text = getenv("WICK_MUTANT_TESTS");
    if (!text) return true;
    for (char *end; *text; text = end) {
        if (strtol(text, &end, 10) == test_number && end != text) return true;
        if (end == text) break;
    }
    return false;
}

int __wrap__cmocka_run_group_tests(const char *name, test tests[], size_t count, CMFixtureFunction begin,
                                   CMFixtureFunction end)
{
    struct CMUnitTest *some = calloc(count + 1, sizeof *some);
    size_t kept = 0;
    if (!some) abort();
    for (size_t k = 0; k < count; k++) {
        if (!chosen(number + (int)k)) continue;
        some[kept] = tests[k];
        if (rows) some[kept].setup_func = enter;
        kept++;
    }
    group = tests;
    running = -1;
    const int failed = __real__cmocka_run_group_tests(name, some, kept, begin, end);
    if (rows) leave();
    number += (int)count;
    free(some);
    return failed;
}
