/* SPDX-License-Identifier: Apache-2.0 */
/* Version of the running library. */
#include <wick/core.h>

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)

const char *wk_version(void)
{
    return TEXT(WK_VERSION_MAJOR) "." TEXT(WK_VERSION_MINOR) "." TEXT(WK_VERSION_PATCH);
}
