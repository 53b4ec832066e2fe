/* SPDX-License-Identifier: Apache-2.0 */
/* Anomaly mode (WICK_ANOMALY, wk_set_detect_anomaly): the first call that produces a NaN or an infinity is an error
 * that names it. Each call is computed before it returns, or a transaction at its end, and its result is read on the
 * host. A call is blamed for a NaN if no operand has one, and for an infinity if all operands are finite, numbers in
 * the call included. Only the result of a composed op or a gradient counts: both may compute infinities on the way
 * that they mask. */
#ifndef WICK_ENGINE_ANOMALY_H
#define WICK_ENGINE_ANOMALY_H

#include "op_queue.h"

extern atomic_bool wk__anomaly_enabled;
static inline bool wk__anomaly_on(void)
{
    return __builtin_expect(atomic_load_explicit(&wk__anomaly_enabled, memory_order_relaxed), 0);
}

/* The elements of an operand or a result. */
typedef struct wk__anomaly_span {
    wk__value *value;
    wk_dtype dtype;
    int ndim;
    int64_t offset, shape[WK__MAX_INDICES], stride[WK__MAX_INDICES]; /* in elements */
} wk__anomaly_span;

/* Non-finite elements of one or several spans. */
typedef struct wk__nonfinite {
    bool nan, inf;
    int64_t nan_at, inf_at; /* index of the first one in the span's order */
    bool negative;          /* the infinity at inf_at is */
} wk__nonfinite;

/* Reads the elements, computing them if they are not stored. A failed value has none. */
wk__nonfinite wk__anomaly_scan(const wk__body *body);
void wk__nonfinite_add(wk__nonfinite *all, wk__nonfinite more);
/* "nan at element 3"; NULL if `out` has nothing that `in` does not explain. */
const char *wk__anomaly_describe(wk__nonfinite out, wk__nonfinite in, char text[48]);

/* Calls to be checked hold their operands and results until wk__anomaly_check, which reports what it finds by
 * wk__post_failure; within a transaction it does nothing. All by the context's own thread. */
void wk__anomaly_watch_record(wk_context *context, wk__record *r);
void wk__anomaly_check(wk_context *context);
void wk__anomaly_forget(wk__op_queue *queue);

/* A call that is composed of others. */
typedef struct wk__anomaly_call {
    const char *name;
    wk_site site;
    const wk__savepoint *before; /* in place: value of in[0] before the call; else NULL */
} wk__anomaly_call;
/* It has returned out[], made of in[]; in[k] may be NULL. */
void wk__anomaly_check_results(wk_context *context, wk__anomaly_call call, wk_tensor *const out[], int outputs,
                               wk_tensor *const in[], int inputs);

#endif
