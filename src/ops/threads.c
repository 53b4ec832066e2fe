/* SPDX-License-Identifier: Apache-2.0 */
/* How many threads compute, for programs: see wick/device.h. */
#include <wick/tensor.h>
#include "../base/context.h"
#include "../base/pool.h"

int wk_threads(void)
{
    return wk__thread_count();
}

wk_code wk_set_threads_at(wk_site site, int count)
{
    if (count < 1 || count > 1024) {
        wk__error_set(site, WK_ERR_ARGUMENT, "set_threads: %d is not from 1 to 1024", count);
        return WK_ERR_ARGUMENT;
    }
    wk_code code = wk_sync_at(site); /* what was recorded runs with the old number */
    if (code == WK_OK) wk__set_thread_count(count);
    return code;
}
