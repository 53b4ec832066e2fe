/* SPDX-License-Identifier: Apache-2.0 */
/* Class labels: i64, in the shape of the scores without the class dimension. One label value may be ignored. */
#ifndef WICK_OPS_LABELS_H
#define WICK_OPS_LABELS_H

#include "ops/core/entries.h"

/* Valid labels: 0..count-1 and ignore_index. */
typedef struct wk__label_range {
    int64_t count;
    int64_t ignore_index; /* label of elements that do not contribute */
} wk__label_range;

/* Checks labels that are in host memory already, so that the error names this call. in[]: the call's operands, scores
 * and labels. Returns false on error. */
bool wk__check_host_labels(const wk__op *op, wk_site site, wk_tensor *const in[], const wk__label_range *classes);
/* Returns the labels (i64) with -1 for ignored ones; an invalid label fails when it is computed. */
wk_tensor *wk__record_label_check(const wk__op *op, wk_site site, wk_tensor *labels, const wk__label_range *classes);

#endif
