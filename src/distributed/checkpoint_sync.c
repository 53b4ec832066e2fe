/* SPDX-License-Identifier: Apache-2.0 */
/* See checkpoint_sync.h. */
#include "checkpoint_sync.h"
#include "group.h"

static bool ask(wk_site site, const char *op, wk__dist_request request)
{
    wk__dist_ticket ticket;
    request.code = wk_error_code();
    request.error_text = wk_error();
    wk__dist_submit(&ticket, wk__dist_world(), &request);
    return wk__dist_wait(&ticket, site, op) == WK_OK;
}

bool wk__ranks_all_gather(wk_site site, const char *op, const int64_t *own, int count, int64_t *all)
{
    return ask(site, op,
               (wk__dist_request){.kind = WK__DIST_ALL_GATHER,
                                  .blocking = true,
                                  .dtype = WK_I64,
                                  .count = count,
                                  .in = own,
                                  .out = all,
                                  .label = "checkpoint"});
}

bool wk__ranks_barrier(wk_site site, const char *op)
{
    return ask(site, op, (wk__dist_request){.kind = WK__DIST_BARRIER, .blocking = true, .label = "checkpoint"});
}
