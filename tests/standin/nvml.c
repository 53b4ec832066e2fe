/* SPDX-License-Identifier: Apache-2.0 */
/* A stand-in for NVIDIA's management library: two devices whose figures never change. STANDIN_ERRORS is
 * that of driver.h. */
#include "settings.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define CALL __attribute__((visibility("default"))) int
enum { SUCCESS = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7, DEVICES = 2 };

typedef struct device {
    int index;
    unsigned temperature, milliwatts, busy; /* degrees C, mW, per cent */
} device;
static device devices[DEVICES] = {{0, 41, 87500, 12}, {1, 39, 71250, 0}};
static int begun;

static device *checked(device *d)
{
    return begun > 0 && d >= devices && d < devices + DEVICES ? d : NULL;
}

static int give_text(char *to, unsigned length, const char *text)
{
    if (strlen(text) + 1 > length) return INSUFFICIENT_SIZE;
    memcpy(to, text, strlen(text) + 1);
    return SUCCESS;
}

CALL nvmlInit_v2(void)
{
    const int told = standin_called(__func__);
    begun += told == SUCCESS;
    return told;
}

CALL nvmlShutdown(void)
{
    if (begun == 0) return UNINITIALIZED;
    begun--;
    return SUCCESS;
}

__attribute__((visibility("default"))) const char *nvmlErrorString(int code)
{
    return code == SUCCESS ? "Success" : code == UNINITIALIZED ? "Uninitialized" : "Unknown Error";
}

CALL nvmlSystemGetDriverVersion(char *version, unsigned length)
{
    return begun > 0 ? give_text(version, length, "580.65.06") : UNINITIALIZED;
}

CALL nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = DEVICES;
    return begun > 0 ? SUCCESS : UNINITIALIZED;
}

CALL nvmlDeviceGetHandleByIndex_v2(unsigned index, device **out)
{
    if (begun == 0) return UNINITIALIZED;
    if (index >= DEVICES) return INVALID_ARGUMENT;
    *out = &devices[index];
    return SUCCESS;
}

/* Domains of 4 or of 8 digits are the same. */
CALL nvmlDeviceGetHandleByPciBusId_v2(const char *address, device **out)
{
    unsigned domain, bus, slot;
    if (begun == 0) return UNINITIALIZED;
    if (sscanf(address, "%x:%x:%x", &domain, &bus, &slot) != 3 || domain != 0 || slot != 0) return NOT_FOUND;
    if (bus < 0x17 || bus >= 0x17 + DEVICES) return NOT_FOUND;
    *out = &devices[bus - 0x17];
    return SUCCESS;
}

CALL nvmlDeviceGetName(device *d, char *name, unsigned length)
{
    return checked(d) != NULL ? give_text(name, length, "NVIDIA H100 Stand-in") : INVALID_ARGUMENT;
}

CALL nvmlDeviceGetUUID(device *d, char *uuid, unsigned length)
{
    char text[64];
    if (checked(d) == NULL) return INVALID_ARGUMENT;
    snprintf(text, sizeof text, "GPU-5741494e-4400-0000-0000-00000000000%d", d->index);
    return give_text(uuid, length, text);
}

CALL nvmlDeviceGetTemperature(device *d, int sensor, unsigned *degrees)
{
    if (checked(d) == NULL || sensor != 0) return INVALID_ARGUMENT;
    *degrees = d->temperature;
    return SUCCESS;
}

CALL nvmlDeviceGetPowerUsage(device *d, unsigned *milliwatts)
{
    if (checked(d) == NULL) return INVALID_ARGUMENT;
    *milliwatts = d->milliwatts;
    return SUCCESS;
}

CALL nvmlDeviceGetUtilizationRates(device *d, unsigned rates[2])
{
    if (checked(d) == NULL) return INVALID_ARGUMENT;
    rates[0] = d->busy;
    rates[1] = d->busy / 2;
    return SUCCESS;
}

/* total, free, used */
CALL nvmlDeviceGetMemoryInfo(device *d, unsigned long long memory[3])
{
    if (checked(d) == NULL) return INVALID_ARGUMENT;
    memory[0] = 2ull << 30;
    memory[2] = 64ull << 20;
    memory[1] = memory[0] - memory[2];
    return SUCCESS;
}
