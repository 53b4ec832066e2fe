/* SPDX-License-Identifier: Apache-2.0 */
/* What ranks do together; see group.h. */
#include "group.h"

const char *const wk__dist_names[WK__DIST_KINDS] = {"barrier",        "all_reduce", "broadcast", "all_gather",
                                                    "reduce_scatter", "all_to_all", "send",      "recv"};

/* Of a group of one rank: what it gives it gets. */
static void alone(wk__dist_ticket *ticket)
{
    const wk__dist_request *r = &ticket->request;
    ticket->code = r->code;
    if (r->code != WK_OK)
        snprintf(ticket->text, sizeof ticket->text, "%s", r->text);
    else if (r->kind != WK__DIST_BARRIER && r->out != r->in && r->count > 0)
        memcpy(r->out, r->in, (size_t)r->count * wk_dtype_size(r->dtype));
}

void wk__dist_ask(wk__dist_ticket *ticket, wk__dist_group *group, const wk__dist_request *request)
{
    *ticket = (wk__dist_ticket){.group = group, .request = *request};
    alone(ticket);
}

wk_code wk__dist_wait(wk__dist_ticket *ticket, wk_site site, const char *op)
{
    if (ticket->code != WK_OK) wk__error_set(site, ticket->code, "%s: %s", op, ticket->text);
    return ticket->code;
}
