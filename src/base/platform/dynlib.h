/* SPDX-License-Identifier: Apache-2.0 */
/* How the library came into the process, and how long it stays. */
#ifndef WICK_BASE_LOADING_H
#define WICK_BASE_LOADING_H

#include <stdbool.h>
#include <stddef.h>

/* The library, or the plug-in that it was linked into, is not unmapped any more when whoever loaded it closes
 * it: threads, pthread_atfork, atexit and the ends of threads keep addresses of its functions, and none of
 * these can be taken back. */
void wk__dynlib_pin_self(void);
/* Was the program linked with -static? It has no loader, then: dlopen in it brings a second C library, and
 * what that loads crashes. */
bool wk__is_static_program(void);
/* The same for who wants to load a driver: NULL, or a sentence that says why that cannot be. */
const char *wk__why_no_dynlib(void);

/* A function of a library, and where its address belongs in a table of them. */
typedef struct wk__symbol {
    const char *name;
    size_t offset;
} wk__symbol;
/* Fills the table in this order; false: the library has no such function, and those after it are not filled. It is to
 * stay loaded: drivers do not survive being unloaded. */
bool wk__dynlib_resolve(void *library, const wk__symbol symbols[], size_t count, void *table);

#endif
