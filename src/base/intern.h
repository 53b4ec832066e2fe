/* SPDX-License-Identifier: Apache-2.0 */
/* Interned strings, never freed. Op names and call-site files are usually string literals, so failures, logs and
 * asynchronous device errors keep plain pointers to them. Names from other sources, such as files, must be interned
 * first.
 * Threads: any. */
#ifndef WICK_BASE_INTERN_H
#define WICK_BASE_INTERN_H

/* Returns the interned copy of the text; NULL for NULL or on allocation failure. */
const char *wk__intern(const char *text);

#endif
