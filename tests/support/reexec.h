/* SPDX-License-Identifier: Apache-2.0 */
/* Re-executes the test program in a new process. */
#ifndef TESTS_SUPPORT_REEXEC_H
#define TESTS_SUPPORT_REEXEC_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Executes tests/NAME WORD in this process; /proc/self/exe would name valgrind under valgrind. Returns only on
 * failure. */
static inline void reexec_test(const char *name, const char *word)
{
    char path[1024] = "/proc/self/exe";
    const char *build = getenv("WICK_BUILD");
    if (build) snprintf(path, sizeof path, "%s/tests/%s", build, name);
    execl(path, name, word, (char *)NULL);
}

#endif
