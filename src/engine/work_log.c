/* SPDX-License-Identifier: Apache-2.0 */
/* Logs where work was run and as which kernels: log subjects "placement" and "kernel". */
#include "execute.h"
#include "base/alloc.h"
#include "base/log.h"
#include "base/text.h"
#include <string.h>
#include <wick/device.h>

void wk__log_placement(wk__record *const record[], int records)
{
    enum { NAMED = 12 }; /* number of ops named for a long group */
    const wk__record *first = record[0];
    wk__text line = {0};
    for (int k = 0; k < records && k < NAMED; k++) wk__text_format(&line, "%s%s", k ? ", " : "", record[k]->op->name);
    if (records > NAMED) wk__text_format(&line, " and %d more", records - NAMED);
    if (wk__record_family(first)->is_transfer) {
        wk__text_format(&line, ": %lld bytes from %s to %s", (long long)first->ref[0].value->bytes,
                        wk_device_str(first->ref[1].value->device->id), wk_device_str(first->ref[0].value->device->id));
    } else {
        wk__text_format(&line, " on %s", wk_device_str(first->device->id));
        if (records > 1) wk__text_add(&line, ", in one pass");
    }
    if (line.data) wk__log(WK__LOG_PLACEMENT, first->site, "%s", line.data);
    wk__text_free(&line);
}

/* Appends the program's text without its final newline. */
static void add_program(wk__text *line, const char *before, const wk__program *group)
{
    char *text = wk__program_dump(group);
    const size_t length = text ? strlen(text) : 0;
    if (length) wk__text_format(line, "%s%.*s", before, (int)length - 1, text);
    wk__free(text);
}

void wk__log_kernel(const wk__record *r, const wk__work *work)
{
    if (!wk__log_first_at_site(WK__LOG_KERNEL, r->site)) return;
    wk__text line = {0};
    const wk__work_args *kernel = work->args;
    wk__text_format(&line, "%s%s on %s", wk__work_family_of(work)->log_name,
                    work->program && kernel ? ", and then" : "", wk_device_str(r->device->id));
    if (work->program) add_program(&line, ":\n", work->program);
    static const char *const computed[WK__FACTORS] = {"\nwith a fused left factor:\n",
                                                      "\nwith a fused right factor:\n"};
    for (int k = 0; kernel && k < WK__FACTORS; k++) {
        if (kernel->prologue[k]) add_program(&line, computed[k], kernel->prologue[k]);
    }
    if (line.data) wk__log(WK__LOG_KERNEL, r->site, "%s", line.data);
    wk__text_free(&line);
}
