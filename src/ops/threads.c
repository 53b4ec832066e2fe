/* How many threads compute, for programs: see wick/device.h. */
#include <wick/tensor.h>
#include "../base/context.h"
#include "../base/pool.h"

int wk_threads(void)
{
    return wk__threads();
}

int wk_set_threads(int count)
{
    if (count < 1 || count > 1024) {
        wk__error_set((wk_site){0}, WK_ERR_ARGUMENT, "set_threads: %d is not from 1 to 1024", count);
        return WK_ERR_ARGUMENT;
    }
    int code = wk_sync(); /* what was recorded runs with the old number */
    if (code == WK_OK) wk__set_threads(count);
    return code;
}
