/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA's driver with each card listed twice, so that programs for two devices run where there is one card: a library
 * of the driver's name that is found before it (scripts/gpu-check). All but these two functions are the driver's own,
 * with which this is linked. Both devices of a card have its one context, and a stream of their own each. */
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
