/* Says where work really ran, for the log's subject "placement". */
#include "execute.h"
#include "../base/log.h"
#include "../base/text.h"

static void add_device(wk__text *line, const wk__device *device)
{
    if (device->id.kind == WK_CPU)
        wk__text_add(line, "cpu");
    else
        wk__text_format(line, "%s:%d", device->backend->name, device->id.index);
}

void wk__tell(wk__record *const record[], int records)
{
    enum { NAMED = 12 }; /* ops of a long group that are named */
    const wk__record *first = record[0];
    wk__text line = {0};
    for (int k = 0; k < records && k < NAMED; k++) wk__text_format(&line, "%s%s", k ? ", " : "", record[k]->op->name);
    if (records > NAMED) wk__text_format(&line, " and %d more", records - NAMED);
    if (first->kind == WK__RECORD_TRANSFER) {
        wk__text_format(&line, ": %lld bytes from ", (long long)first->ref[0].value->bytes);
        add_device(&line, first->ref[1].value->device);
        wk__text_add(&line, " to ");
        add_device(&line, first->ref[0].value->device);
    } else {
        wk__text_add(&line, " on ");
        add_device(&line, first->device);
        if (records > 1) wk__text_add(&line, ", in one pass");
    }
    if (line.data) wk__log(WK__LOG_PLACEMENT, first->site, "%s", line.data);
    wk__text_end(&line);
}
