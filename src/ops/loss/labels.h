/* SPDX-License-Identifier: Apache-2.0 */
/* Class labels: i64, in the shape of the scores without the dimension of the classes. One number may be told
 * to be ignored. */
#ifndef WICK_OPS_LABELS_H
#define WICK_OPS_LABELS_H

#include "ops/core/entries.h"

typedef struct wk__label_range {
    int64_t count;
    int64_t ignore_index; /* the label that counts nothing */
} wk__label_range;

/* Labels that lie in host memory already are looked at now, so that the error names the call that passed them. False
 * with the error recorded; in[] are the call's operands: scores, labels. */
bool wk__check_host_labels(const wk__op *op, wk_site site, wk_tensor *const in[], const wk__label_range *classes);
/* Labels (i64) as they are, -1 for the ignored; what names no class faults when it is computed. */
wk_tensor *wk__record_label_check(const wk__op *op, wk_site site, wk_tensor *labels, const wk__label_range *classes);

#endif
