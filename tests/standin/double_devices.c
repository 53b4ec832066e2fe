/* SPDX-License-Identifier: Apache-2.0 */
/* Wraps NVIDIA's driver and lists each card twice, so that programs for two devices run on machines with one card. The
 * library has the driver's name and precedes it in the search path (scripts/gpu-check). It replaces only these two
 * functions and is linked to the driver for all others. Both devices of a card share its primary context, with separate
 * streams. */
#include <dlfcn.h>
#include <string.h>

#define CALL __attribute__((visibility("default"))) int
enum { NOT_FOUND = 500, INVALID_DEVICE = 101 };

CALL cuDeviceGetCount(int *count)
{
    void *symbol = dlsym(RTLD_NEXT, "cuDeviceGetCount");
    int (*real)(int *);
    memcpy(&real, &symbol, sizeof real);
    const int code = symbol != NULL ? real(count) : NOT_FOUND;
    if (code == 0) *count *= 2;
    return code;
}

CALL cuDeviceGet(int *device, int index)
{
    void *symbol = dlsym(RTLD_NEXT, "cuDeviceGet");
    int (*real)(int *, int), count = 0;
    memcpy(&real, &symbol, sizeof real);
    const int code = symbol != NULL ? cuDeviceGetCount(&count) : NOT_FOUND;
    if (code != 0) return code;
    return count < 2 ? INVALID_DEVICE : real(device, index < count ? index % (count / 2) : index);
}
