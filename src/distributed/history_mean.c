/* SPDX-License-Identifier: Apache-2.0 */
/* Weighted mean of a metric over all ranks: an all_reduce of the sums of weight * value and of weights. */
#include "data/metric_history.h"
#include "base/options.h"
#include "tensor/call_scope.h"
#include "ops/core/call.h"
#include "group.h"
#include <math.h>

double wk_dist_history_mean_at(wk_site site, wk_history *history, const wk_dist_call_options *options)
{
    static const char op[] = "dist_history_mean";
    wk_dist_call_options o;
    double sums[2] = {0, 0};
    wk__call_scope c; /* delays the error handler until the other ranks have this error */
    if (wk__forked) {
        wk__report_forked(site, op);
        return (double)NAN;
    }
    wk__dist_group *group = wk__options(site, op, options, &o) ? wk__dist_group_of(site, op, o.group) : NULL;
    if (!group || !wk__call_begin(&c, WK__FRAME_CALL, op, site, WK__GRAD_OFF)) return (double)NAN;
    wk_context *context = wk__context();
    wk__flush(context);
    if (context->posted_failure) wk__report_posted_failure(context);
    bool ready = wk__metric_history_sums(site, op, history, sums);
    if (group->size > 1) {
        wk__dist_ticket ticket;
        wk__dist_request request = {
            .kind = WK__DIST_ALL_REDUCE, .dtype = WK_F64, .count = 2, .in = sums, .out = sums, .blocking = true};
        if (!ready || wk__error_pending()) {
            request.code = wk_error_code();
            request.error_text = wk_error();
        }
        wk__dist_submit(&ticket, group, &request);
        ready = wk__dist_wait(&ticket, site, op) == WK_OK;
    }
    wk__call_end(&c, NULL, 0);
    return ready && sums[1] != 0 ? sums[0] / sums[1] : (double)NAN;
}
