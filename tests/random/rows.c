/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the op table read; see rows.h. */
#include "rows.h"
#include "memory.h"
#include <string.h>

row *rows;
int row_count;

void rows_read(void)
{
    row_count = wk__op_total;
    rows = memory_take((size_t)row_count, sizeof *rows);
    for (int k = 0; k < row_count; k++) {
        const wk__op *op = wk__ops[k];
        row *r = &rows[k];
        *r = (row){.op = op, .parameter = op->parameters, .parameters = op->parameter_count};
        r->known = op_reference_of(op);
        for (int j = 0; j < r->parameters; j++) {
            const wk_parameter *p = &r->parameter[j];
            r->tensors += p->kind == WK_VALUE_TENSOR && !p->optional;
            r->writes = r->writes || p->written;
        }
        r->pointwise = r->known->exact != NULL;
        r->draws = strcmp(op->group, "random") == 0;
    }
}

int row_call(const row *r, wk_site site, const wk_value *args, wk_tensor **out, int room)
{
    const int count = r->op->result_count ? r->op->result_count(r->op, site, args) : r->op->results;
    if (count > room)
        wk__error_set(site, WK_ERR_UNSUPPORTED, "%s: %d results, a program takes %d at most", r->op->name, count, room);
    if (count < 0 || count > room) return -1;
    return r->op->invoke(r->op, site, args, out);
}

wk_tensor *row_call_in_place(const row *r, wk_site site, const wk_value *args)
{
    wk_tensor *out = NULL;
    return r->op->invoke_in_place(r->op, site, args, &out) == 1 ? out : NULL;
}
