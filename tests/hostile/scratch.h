/* Places for the files of tests: of the source, and such as a test writes. */
#ifndef WICK_TESTS_HOSTILE_SCRATCH_H
#define WICK_TESTS_HOSTILE_SCRATCH_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The name in a folder of this test's own; the text lives until the second next call. */
static inline const char *scratch(const char *name)
{
    static char paths[2][4096];
    static int next;
    static char folder[64] = "/tmp/wick-XXXXXX";
    const char *work = getenv("WICK_WORK");
    if (!work && !folder[15]) abort();
    if (!work && folder[15] == 'X' && !mkdtemp(folder)) abort();
    next = !next;
    snprintf(paths[next], sizeof paths[next], "%s/%s", work ? work : folder, name);
    return paths[next];
}

/* A file of the source folder, in which the tests run unless WICK_SOURCE names it. */
static inline const char *source_file(const char *name)
{
    static char path[4096];
    const char *source = getenv("WICK_SOURCE");
    snprintf(path, sizeof path, "%s/%s", source ? source : ".", name);
    return path;
}

#endif
