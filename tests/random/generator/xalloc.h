/* SPDX-License-Identifier: Apache-2.0 */
/* The generator's allocations. On failure the process ends with a message, because a program that was not generated or
 * run proves nothing. */
#ifndef TESTS_RANDOM_XALLOC_H
#define TESTS_RANDOM_XALLOC_H

#include <stddef.h>

/* Returns zeroed memory; the caller frees it. Never NULL, even for 0 bytes. */
void *xcalloc(size_t count, size_t size);
/* As realloc; new bytes are unspecified. */
void *xrealloc(void *memory, size_t bytes);

#endif
