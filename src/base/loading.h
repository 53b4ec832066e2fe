/* SPDX-License-Identifier: Apache-2.0 */
/* How the library came into the process, and how long it stays. */
#ifndef WICK_BASE_LOADING_H
#define WICK_BASE_LOADING_H

#include <stdbool.h>

/* The library, or the plug-in that it was linked into, is not unmapped any more when whoever loaded it closes
 * it: threads, pthread_atfork, atexit and the ends of threads keep addresses of its functions, and none of
 * these can be taken back. */
void wk__stay_loaded(void);
/* Was the program linked with -static? It has no loader, then: dlopen in it brings a second C library, and
 * what that loads crashes. */
bool wk__linked_statically(void);

#endif
