/* SPDX-License-Identifier: Apache-2.0 */
/* Diagnostic log, off by default; subjects are enabled by WICK_LOG=placement,sync or wk_set_log. Lines go to the
 * callback, else to the file named by WICK_LOG_FILE, else to stderr if WICK_LOG is set. The library never prints
 * otherwise.
 * Threads: any. Callbacks are called without a lock. */
#ifndef WICK_BASE_LOG_H
#define WICK_BASE_LOG_H

#include <wick/core.h>
#include <wick/log.h>

/* Indices of the words of WICK_LOG in environment.c. */
enum { WK__LOG_PLACEMENT, WK__LOG_SYNC, WK__LOG_KERNEL, WK__LOG_LEAKS, WK__LOG_CHECK, WK__LOG_PARALLEL };

/* Returns true if the subject is enabled. Cheap. */
bool wk__log_enabled(int subject);
__attribute__((format(printf, 3, 4))) void wk__log(int subject, wk_site site, const char *format, ...);

/* Returns true if the subject is enabled and this is its first line from this site since the log was set, so that each
 * call site is logged once. */
bool wk__log_first_at_site(int subject, wk_site site);

/* Redirects the log to this callback with this subject only, every line instead of once per site; call == NULL restores
 * the previous settings. One redirection at a time. */
void wk__log_redirect(int subject, wk_log_callback *call, void *user);

#endif
