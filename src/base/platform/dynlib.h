/* SPDX-License-Identifier: Apache-2.0 */
/* Dynamic libraries: pins this library in memory and resolves the functions of drivers. */
#ifndef WICK_BASE_PLATFORM_DYNLIB_H
#define WICK_BASE_PLATFORM_DYNLIB_H

#include <stdbool.h>
#include <stddef.h>

/* Prevents the library, or the plug-in it is linked into, from being unmapped by dlclose: threads, pthread_atfork,
 * atexit and thread-exit destructors keep addresses of its functions and cannot be unregistered. */
void wk__dynlib_pin_self(void);
/* Returns true if the program was linked with -static. Such a program has no loader: dlopen would load a second C
 * library, and the loaded code would crash. */
bool wk__is_static_program(void);
/* Returns NULL if drivers can be loaded, else a sentence that explains why not. */
const char *wk__why_no_dynlib(void);

/* A function of a library, and the offset of its pointer in a table. */
typedef struct wk__symbol {
    const char *name;
    size_t offset;
} wk__symbol;
/* Fills the table in order. Returns false at the first missing function and leaves the rest unset. The library must
 * stay loaded: drivers do not survive being unloaded. */
bool wk__dynlib_resolve(void *library, const wk__symbol symbols[], size_t count, void *table);

#endif
