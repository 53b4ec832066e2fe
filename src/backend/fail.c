/* SPDX-License-Identifier: Apache-2.0 */
/* Failures of backends and the arena; see wk__fail in backend.h. */
#include <stdio.h>
#include <string.h>

#include "backend.h"

wk_code wk__fail_set(wk__fail *fail, wk_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(fail->text, sizeof fail->text, format, args);
    va_end(args);
    fail->code = code;
    fail->tag = -1;
    fail->index = fail->bound = 0;
    fail->origin = fail->notify = NULL;
    fail->poisoned = fail->async = false;
    memset(fail->tags, 0, sizeof fail->tags);
    return code;
}

wk_code wk__fail_set_index(wk__fail *fail, int64_t tag, int64_t index, int64_t bound)
{
    fail->tag = tag;
    fail->index = index;
    fail->bound = bound;
    return WK_ERR_INDEX;
}
