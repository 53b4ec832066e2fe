/* SPDX-License-Identifier: Apache-2.0 */
/* A program linked with -static: it computes, and hears why there is no OpenCL. */
#include <stdio.h>
#include <string.h>
#include <wick.h>

int main(void)
{
    WK_SCOPE;
    const char *opencl = wk_device_status(WK_OPENCL);
    printf("%s\n", opencl);
    if (!strstr(opencl, "-static") || wk_item(wk_sum(wk_ones((1000, 1000)))) != 1e6) return 1;
    (void)wk_ones((1), .device = wk_opencl(0));
    const char *error = wk_error();
    return error && strstr(error, "opencl:0 does not exist") && strstr(error, "-static") ? 0 : 2;
}
