/* SPDX-License-Identifier: Apache-2.0 */
/* What the stand-ins share of settings from the environment and of the calls that are made. Each library counts its
 * own calls. */
#ifndef STANDIN_SETTINGS_H
#define STANDIN_SETTINGS_H

#include <stdbool.h>

/* Of the first card's PCI address; the others follow. It has a letter, which the driver writes as a capital. */
enum { FIRST_BUS = 0x1a };

/* The k-th number of a list with commas in that variable, or its last one; `otherwise` where there is none. */
int standin_number(const char *variable, int k, int otherwise);
/* The number behind "key=" in a list with commas; `otherwise` where the key is not there. */
int standin_keyed(const char *variable, const char *key, int otherwise);

/* Counts a call and tells the hook. The error that STANDIN_ERRORS has for it, 0: none. */
int standin_count_call(const char *name);

/* For tests, found with dlsym: how often there was a call of that name; and a function that each call is told to,
 * before it takes any lock. */
long standin_count(const char *name);
void standin_set_hook(void (*hook)(const char *name));

#endif
