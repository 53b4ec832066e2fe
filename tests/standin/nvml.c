/* SPDX-License-Identifier: Apache-2.0 */
/* A stand-in for NVIDIA's management library: two devices with constant values, except for the memory in use, which
 * comes from the stand-in for the driver. The second device reports neither clocks nor a power limit and runs no
 * processes. Initialisation is per process; a forked child must repeat it. STANDIN_ERRORS, STANDIN_MIG and
 * STANDIN_ENTRIES are described in driver.h. */
#include "settings.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CALL __attribute__((visibility("default"))) int
enum {
    SUCCESS = 0,
    UNINITIALIZED = 1,
    INVALID_ARGUMENT = 2,
    NOT_SUPPORTED = 3,
    NOT_FOUND = 6,
    INSUFFICIENT_SIZE = 7,
    DEVICES = 2
};

typedef struct device {
    int index;
    unsigned temperature, milliwatts, busy; /* degrees C, mW, percent */
} device;
/* The cards, then the MIG instances of the first. */
static device devices[2 * DEVICES] = {{0, 41, 87500, 12}, {1, 39, 71250, 0}, {0, 0, 0, 0}, {1, 0, 0, 0}};
static int begun; /* number of initialisations */
static pid_t of;  /* in this process */

static bool is_begun(void)
{
    return begun > 0 && of == getpid();
}

static device *checked(device *d)
{
    return is_begun() && d >= devices && d < devices + 2 * DEVICES ? d : NULL;
}

static bool mig_enabled(void)
{
    return standin_number("STANDIN_MIG", 0, 0) == 1;
}

static bool is_slice(const device *d)
{
    return d >= devices + DEVICES;
}

static int give_text(char *to, unsigned length, const char *text)
{
    if (strlen(text) + 1 > length) return INSUFFICIENT_SIZE;
    memcpy(to, text, strlen(text) + 1);
    return SUCCESS;
}

CALL nvmlInit_v2(void)
{
    const int injected = standin_count_call(__func__);
    if (of != getpid()) begun = 0;
    of = getpid();
    begun += injected == SUCCESS;
    return injected;
}

CALL nvmlShutdown(void)
{
    if (!is_begun()) return UNINITIALIZED;
    begun--;
    return SUCCESS;
}

__attribute__((visibility("default"))) const char *nvmlErrorString(int code)
{
    return code == SUCCESS ? "Success" : code == UNINITIALIZED ? "Uninitialized" : "Unknown Error";
}

CALL nvmlSystemGetDriverVersion(char *version, unsigned length)
{
    return is_begun() ? give_text(version, length, "580.65.06") : UNINITIALIZED;
}

CALL nvmlDeviceGetCount_v2(unsigned *count)
{
    const int injected = standin_count_call(__func__);
    *count = (unsigned)standin_number("STANDIN_DEVICES", 0, DEVICES);
    return injected != SUCCESS ? injected : is_begun() ? SUCCESS : UNINITIALIZED;
}

CALL nvmlDeviceGetHandleByIndex_v2(unsigned index, device **out)
{
    if (!is_begun()) return UNINITIALIZED;
    if (index >= DEVICES) return INVALID_ARGUMENT;
    *out = &devices[index];
    return SUCCESS;
}

/* Accepts PCI domains of 4 or 8 digits. */
CALL nvmlDeviceGetHandleByPciBusId_v2(const char *address, device **out)
{
    unsigned domain, bus, slot;
    if (!is_begun()) return UNINITIALIZED;
    if (sscanf(address, "%x:%x:%x", &domain, &bus, &slot) != 3 || domain != 0 || slot != 0) return NOT_FOUND;
    if (bus < FIRST_BUS || bus >= FIRST_BUS + DEVICES) return NOT_FOUND;
    *out = &devices[bus - FIRST_BUS];
    return SUCCESS;
}

CALL nvmlDeviceGetHandleByUUID(const char *uuid, device **out)
{
    unsigned last;
    const int injected = standin_count_call(__func__);
    if (injected != SUCCESS || !is_begun()) return injected != SUCCESS ? injected : UNINITIALIZED;
    if (sscanf(uuid, "MIG-5741494e-4400-0000-0000-%12x", &last) == 1 && mig_enabled() && last < DEVICES)
        *out = &devices[DEVICES + last];
    else if (sscanf(uuid, "GPU-5741494e-4400-0000-0000-%12x", &last) == 1 && last < DEVICES)
        *out = &devices[last];
    else
        return NOT_FOUND;
    return SUCCESS;
}

CALL nvmlDeviceGetMigMode(device *d, unsigned *now, unsigned *later)
{
    if (checked(d) == NULL) return INVALID_ARGUMENT;
    *now = *later = mig_enabled() && d == devices;
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
    if (is_slice(d)) return NOT_SUPPORTED;
    *degrees = d->temperature;
    return SUCCESS;
}

CALL nvmlDeviceGetPowerUsage(device *d, unsigned *milliwatts)
{
    if (checked(d) == NULL) return INVALID_ARGUMENT;
    if (is_slice(d)) return NOT_SUPPORTED;
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

/* Returns the memory in use according to the driver in this library's folder, if it is loaded. */
static unsigned long long used_of(int index)
{
    static const char driver[] = "libcuda.so.1";
    char path[4096];
    Dl_info own;
    int64_t (*used)(int) = NULL;
    const char *slash = dladdr(devices, &own) != 0 ? strrchr(own.dli_fname, '/') : NULL;
    if (slash == NULL || (size_t)(slash - own.dli_fname) + sizeof driver + 1 > sizeof path) return 0;
    snprintf(path, sizeof path, "%.*s/%s", (int)(slash - own.dli_fname), own.dli_fname, driver);
    void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD), *function = NULL;
    if (library != NULL) function = dlsym(library, "standin_memory_used");
    if (function == NULL) return 0;
    memcpy(&used, &function, sizeof used);
    const unsigned long long bytes = (unsigned long long)used(index);
    dlclose(library);
    return bytes;
}

/* Fills in total, free, used. */
CALL nvmlDeviceGetMemoryInfo(device *d, unsigned long long memory[3])
{
    if (checked(d) == NULL) return INVALID_ARGUMENT;
    memory[0] = mig_enabled() && !is_slice(d) ? 80ull << 30 : 2ull << 30;
    memory[2] = used_of(d->index);
    memory[1] = memory[0] - memory[2];
    return SUCCESS;
}

CALL nvmlDeviceGetEnforcedPowerLimit(device *d, unsigned *milliwatts)
{
    if (checked(d) == NULL) return INVALID_ARGUMENT;
    if (d->index > 0) return NOT_SUPPORTED;
    *milliwatts = 700000;
    return SUCCESS;
}

CALL nvmlDeviceGetClockInfo(device *d, int which, unsigned *megahertz)
{
    if (checked(d) == NULL || which < 0 || which > 3) return INVALID_ARGUMENT;
    if (d->index > 0) return NOT_SUPPORTED;
    *megahertz = which == 2 ? 2619 : 1980;
    return SUCCESS;
}

typedef struct process {
    unsigned id;
    unsigned long long memory;
    unsigned instance, compute_instance;
} process;

/* Reports this process and one of unknown memory use. Longer entries end with the size of the protected memory. */
CALL nvmlDeviceGetComputeRunningProcesses_v3(device *d, unsigned *count, void *processes)
{
    if (checked(d) == NULL) return INVALID_ARGUMENT;
    const process known[] = {{(unsigned)getpid(), 64ull << 20, 0, 0}, {4194303, ~0ull, 0, 0}};
    const unsigned wanted = d->index == 0 ? 2 : 0, room = *count;
    const size_t bytes = (size_t)standin_number("STANDIN_ENTRIES", 0, sizeof known[0]);
    *count = wanted;
    if (wanted > room) return INSUFFICIENT_SIZE;
    memset(processes, 0, wanted * bytes);
    for (unsigned k = 0; k < wanted; k++) memcpy((char *)processes + k * bytes, &known[k], sizeof known[k]);
    return SUCCESS;
}
