/* SPDX-License-Identifier: Apache-2.0 */
/* Implements xalloc.h. */
#include "xalloc.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *checked(void *memory, size_t bytes)
{
    if (memory) return memory;
    fprintf(stderr, "random programs: out of host memory (%zu bytes)\n", bytes);
    _exit(70);
}

void *xcalloc(size_t count, size_t size)
{
    return checked(calloc(count ? count : 1, size ? size : 1), count * size);
}

void *xrealloc(void *memory, size_t bytes)
{
    return checked(realloc(memory, bytes ? bytes : 1), bytes);
}
