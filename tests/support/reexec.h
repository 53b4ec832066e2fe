/* SPDX-License-Identifier: Apache-2.0 */
/* The program once more, in a process of its own. */
#ifndef TESTS_SUPPORT_AGAIN_H
#define TESTS_SUPPORT_AGAIN_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Becomes tests/NAME WORD; under valgrind /proc/self/exe would be valgrind. Returns when that fails. */
static inline void reexec_test(const char *name, const char *word)
{
    char path[1024] = "/proc/self/exe";
    const char *build = getenv("WICK_BUILD");
    if (build) snprintf(path, sizeof path, "%s/tests/%s", build, name);
    execl(path, name, word, (char *)NULL);
}

#endif
