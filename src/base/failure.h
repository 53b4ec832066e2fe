/* SPDX-License-Identifier: Apache-2.0 */
/* Failures of recorded work: an error that is shared by the values that depend on it, and reported to threads later
 * than the call that caused it.
 *
 * Ownership: reference-counted.
 * Threads: any thread may post a failure to a context that it has acquired; the thread of the context reports it. */
#ifndef WICK_BASE_FAILURE_H
#define WICK_BASE_FAILURE_H

#include "context.h"

/* First cause of a failure, shared by all values that depend on it. */
typedef struct wk__failure {
    atomic_int refs;
    wk_code code;
    wk_site site;
    /* stream index + 1 of the context it was last reported to, so that each reports it once */
    atomic_llong reported_to;
    char text[560]; /* op and problem */
} wk__failure;

wk__failure *wk__failure_new(wk_code code, wk_site site, const char *text);
void wk__failure_drop(wk__failure *failure);
/* Returns the static failure for lack of host memory, marked as unreported. The caller does not own a reference. */
wk__failure *wk__failure_oom(void);

/* Reports a failure as this thread's error; NULL: out of host memory. */
void wk__report_failure(wk__failure *failure);
/* Records a failure for a context's thread to report at its next call: the current thread's context or an acquired one.
 * Keeps only the first, and each failure only once per context. NULL: out of host memory. */
void wk__post_failure(wk_context *context, wk__failure *failure);
/* Reports the posted failure of this thread's context, if any, as an error. */
void wk__report_posted_failure(wk_context *context);
void wk__discard_posted_failure(wk_context *context);
/* Makes the error handler receive the pending errors at this thread's next call, because no blocking call is active. */
void wk__schedule_error_delivery(wk_context *context);

#endif
