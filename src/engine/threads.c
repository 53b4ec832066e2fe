/* SPDX-License-Identifier: Apache-2.0 */
/* Number of compute threads (wick/device.h). */
#include "base/context.h"
#include "base/pool.h"
#include "host_transfer.h"
#include "op_queue.h"

#include <wick/device.h>

int wk_thread_count(void)
{
    return wk__thread_count();
}

wk_code wk_set_threads_at(wk_site site, int count)
{
    if (count < 1 || count > 1024) {
        wk__error_set(site, WK_ERR_ARGUMENT, "set_threads: count must be in [1, 1024], got %d", count);
        return WK_ERR_ARGUMENT;
    }
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CALL, "set_threads", site);
    wk__host_sync(site); /* recorded work still uses the old number */
    wk__frame_end(context, before);
    if (context->posted_failure) wk__report_posted_failure(context);
    const wk_code code = wk_error_code();
    if (code == WK_OK) wk__set_thread_count(count);
    return code;
}
