/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the generator's own. Without it the process ends and says so: a program that was not made, or not
 * run, proves nothing. */
#ifndef TESTS_RANDOM_MEMORY_H
#define TESTS_RANDOM_MEMORY_H

#include <stddef.h>

/* Zeros; for free(). Of 0 bytes it is something, too. */
void *xcalloc(size_t count, size_t size);
/* realloc; what is new holds anything. */
void *xrealloc(void *memory, size_t bytes);

#endif
