/* SPDX-License-Identifier: Apache-2.0 */
/* What the library can tell while it runs: nothing, unless somebody asks for a subject (WICK_LOG=placement,sync, or
 * wk_set_log). Lines go to the callback, or to the file that WICK_LOG_FILE names; to stderr where WICK_LOG is set and
 * no file named. By itself the library never prints into a program's streams. */
#ifndef WICK_BASE_LOG_H
#define WICK_BASE_LOG_H

#include <wick/core.h>
#include <wick/log.h>

/* Their names are in the table of environment.c. */
enum { WK__LOG_PLACEMENT, WK__LOG_SYNC, WK__LOG_KERNEL, WK__LOG_LEAKS, WK__LOG_CHECK, WK__LOG_PARALLEL };

/* Is anyone listening to this subject? Cheap. */
bool wk__log_enabled(int subject);
__attribute__((format(printf, 3, 4))) void wk__log(int subject, wk_site site, const char *format, ...);

/* Is this the first time since the log was set that this place is heard of under the subject? So each place speaks
 * once. False when nobody listens. */
bool wk__log_first_at_site(int subject, wk_site site);

/* Until the call with NULL, the subject's lines go to this callback, each time and not once for each place; then to
 * where they went before. One at a time. */
void wk__log_redirect(int subject, wk_log_callback *call, void *user);

#endif
