/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the op table; see op_entries.h. */
#include "op_entries.h"
#include "xalloc.h"
#include <assert.h>
#include <string.h>

op_entry *op_entries;
int op_entry_count;

void op_entries_load(void)
{
    op_entry_count = wk__op_total;
    op_entries = xcalloc((size_t)op_entry_count, sizeof *op_entries);
    for (int k = 0; k < op_entry_count; k++) {
        const wk__op *op = wk__ops[k];
        op_entry *r = &op_entries[k];
        assert(op->parameter_count <= MOST_ARGUMENTS);
        *r = (op_entry){.op = op, .parameter = op->parameters, .parameters = op->parameter_count};
        r->known = op_reference_of(op);
        for (int j = 0; j < r->parameters; j++) {
            const wk_parameter *p = &r->parameter[j];
            r->tensors += p->kind == WK_VALUE_TENSOR && !p->optional;
            r->writes = r->writes || p->mutated;
        }
        r->pointwise = r->known->scalar != NULL;
        r->draws = strcmp(op->category, "random") == 0;
    }
}

int op_entry_call(const op_entry *r, wk_site site, const wk_value *args, wk_tensor **out, int room)
{
    const int count = r->op->result_count ? r->op->result_count(r->op, site, args) : r->op->results;
    if (count > room)
        wk__error_set(site, WK_ERR_UNSUPPORTED, "%s: %d results, a program takes %d at most", r->op->name, count, room);
    if (count < 0 || count > room) return -1;
    return r->op->invoke(r->op, site, args, out);
}

wk_tensor *op_entry_call_in_place(const op_entry *r, wk_site site, const wk_value *args)
{
    wk_tensor *out = NULL;
    return r->op->invoke_in_place(r->op, site, args, &out) == 1 ? out : NULL;
}
