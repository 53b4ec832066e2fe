/* SPDX-License-Identifier: Apache-2.0 */
/* Settings from the environment and counts of calls, shared by the stand-ins. Each library counts its own calls. */
#ifndef STANDIN_SETTINGS_H
#define STANDIN_SETTINGS_H

#include <stdbool.h>

/* Of the first card's PCI address; the others follow. It contains a letter, because the driver prints upper-case
 * digits. */
enum { FIRST_BUS = 0x1a };

/* Returns the k-th number of a comma-separated list in the variable, or its last one; otherwise if it is unset. */
int standin_number(const char *variable, int k, int otherwise);
/* Returns the number after "key=" in a comma-separated list; otherwise if the key is missing. */
int standin_keyed(const char *variable, const char *key, int otherwise);

/* Counts a call and calls the hook. Returns the error that STANDIN_ERRORS requests for it, or 0. */
int standin_count_call(const char *name);

/* For tests, looked up by dlsym: the number of calls of a name, and a function that is called at the begin of each
 * call, before any lock is taken. */
long standin_count(const char *name);
void standin_set_hook(void (*hook)(const char *name));

#endif
