/* SPDX-License-Identifier: Apache-2.0 */
/* A plug-in of some program that knows nothing of Wick. */
#include <wick.h>

__attribute__((visibility("default"))) int plugin_run(void)
{
    WK_SCOPE;
    return wk_item(wk_sum(wk_ones((1000, 1000)))) == 1e6 && !wk_error() ? 0 : 1; /* with threads of the pool */
}
