/* SPDX-License-Identifier: Apache-2.0 */
/* Device attributes: values of compute capability 9.0 except for the memory, unless the environment overrides them. */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define begin(device) begin_as(__func__, device)
static result begin_as(const char *name, int device)
{
    result code = call_begin_as(name, NEEDS_INIT);
    return code == SUCCESS && (device < 0 || device >= DEVICES) ? INVALID_DEVICE : code;
}

CALL cuDeviceGetCount(int *count)
{
    result code = call_begin(NEEDS_INIT);
    if (code == SUCCESS) *count = standin_number("STANDIN_DEVICES", 0, DEVICES);
    return call_end(code);
}

CALL cuDeviceGet(int *device, int index)
{
    result code = begin(index);
    if (code == SUCCESS) *device = index;
    return call_end(code);
}

CALL cuDeviceGetName(char *name, int length, int device)
{
    result code = begin(device);
    if (code == SUCCESS && length < 1) code = INVALID_VALUE;
    if (code == SUCCESS) snprintf(name, (size_t)length, "NVIDIA H100 Stand-in");
    return call_end(code);
}

CALL cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    result code = begin(device);
    if (code == SUCCESS) *bytes = (size_t)DEVICE_BYTES;
    return call_end(code);
}

/* Returns true if the devices are MIG instances of one card. */
static bool mig_enabled(void)
{
    return standin_number("STANDIN_MIG", 0, 0) == 1;
}

/* The same UUIDs as in nvml.c. */
CALL cuDeviceGetUuid_v2(unsigned char uuid[16], int device)
{
    static const unsigned char bytes[16] = {0x57, 0x41, 0x49, 0x4e, 0x44};
    result code = begin(device);
    if (code != SUCCESS) return call_end(code);
    memcpy(uuid, bytes, 16);
    uuid[15] = (unsigned char)device;
    return call_end(SUCCESS);
}

CALL cuDeviceGetPCIBusId(char *address, int length, int device)
{
    result code = begin(device);
    if (code == SUCCESS && length < 13) code = INVALID_VALUE;
    if (code == SUCCESS) snprintf(address, (size_t)length, "0000:%02X:00.0", FIRST_BUS + (mig_enabled() ? 0 : device));
    return call_end(code);
}

/* Values by CUdevice_attribute. */
static const int attributes[][2] = {
    {1, 1024},               /* MAX_THREADS_PER_BLOCK */
    {2, 1024},               /* MAX_BLOCK_DIM_X */
    {3, 1024},               /* MAX_BLOCK_DIM_Y */
    {4, 64},                 /* MAX_BLOCK_DIM_Z */
    {5, 0x7fffffff},         /* MAX_GRID_DIM_X */
    {6, 65535},              /* MAX_GRID_DIM_Y */
    {7, 65535},              /* MAX_GRID_DIM_Z */
    {8, SHARED_BYTES},       /* MAX_SHARED_MEMORY_PER_BLOCK */
    {9, 65536},              /* TOTAL_CONSTANT_MEMORY */
    {10, 32},                /* WARP_SIZE */
    {12, 65536},             /* MAX_REGISTERS_PER_BLOCK */
    {13, 1980000},           /* CLOCK_RATE, in kHz */
    {15, 1},                 /* GPU_OVERLAP */
    {16, MULTIPROCESSORS},   /* MULTIPROCESSOR_COUNT */
    {17, 0},                 /* KERNEL_EXEC_TIMEOUT */
    {18, 0},                 /* INTEGRATED */
    {19, 1},                 /* CAN_MAP_HOST_MEMORY */
    {20, 0},                 /* COMPUTE_MODE */
    {31, 1},                 /* CONCURRENT_KERNELS */
    {32, 0},                 /* ECC_ENABLED */
    {33, FIRST_BUS},         /* PCI_BUS_ID, of the first */
    {34, 0},                 /* PCI_DEVICE_ID */
    {36, 2619000},           /* MEMORY_CLOCK_RATE, in kHz */
    {37, 5120},              /* GLOBAL_MEMORY_BUS_WIDTH */
    {38, 50 << 20},          /* L2_CACHE_SIZE */
    {39, 2048},              /* MAX_THREADS_PER_MULTIPROCESSOR */
    {40, 3},                 /* ASYNC_ENGINE_COUNT */
    {41, 1},                 /* UNIFIED_ADDRESSING */
    {50, 0},                 /* PCI_DOMAIN_ID */
    {75, 9},                 /* COMPUTE_CAPABILITY_MAJOR, by STANDIN_ARCH */
    {76, 0},                 /* COMPUTE_CAPABILITY_MINOR */
    {78, 1},                 /* STREAM_PRIORITIES_SUPPORTED */
    {81, 228 << 10},         /* MAX_SHARED_MEMORY_PER_MULTIPROCESSOR */
    {82, 65536},             /* MAX_REGISTERS_PER_MULTIPROCESSOR */
    {83, 0},                 /* MANAGED_MEMORY */
    {88, 0},                 /* PAGEABLE_MEMORY_ACCESS */
    {97, MOST_SHARED_BYTES}, /* MAX_SHARED_MEMORY_PER_BLOCK_OPTIN */
    {102, 1},                /* VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED */
    {106, 32},               /* MAX_BLOCKS_PER_MULTIPROCESSOR */
    {111, 1024},             /* RESERVED_SHARED_MEMORY_PER_BLOCK */
    {115, 0},                /* MEMORY_POOLS_SUPPORTED: cuMemAllocAsync is not implemented */
};

int device_architecture(int device)
{
    return standin_number("STANDIN_ARCH", device, 90);
}

int device_attribute(int device, int attribute, int otherwise)
{
    char key[16];
    const int architecture = device_architecture(device);
    snprintf(key, sizeof key, "%d", attribute);
    if (attribute == 75) otherwise = architecture / 10;
    if (attribute == 76) otherwise = architecture % 10;
    return standin_keyed("STANDIN_ATTRIBUTES", key, otherwise);
}

CALL cuDeviceGetAttribute(int *value, int attribute, int device)
{
    result code = begin(device);
    if (code != SUCCESS) return call_end(code);
    code = INVALID_VALUE;
    for (size_t k = 0; k < sizeof attributes / sizeof attributes[0]; k++) {
        if (attributes[k][0] != attribute) continue;
        *value = device_attribute(device, attribute, attributes[k][1]) + (attribute == 33 ? device : 0);
        code = SUCCESS;
    }
    if (code != SUCCESS) log_line("unknown device attribute %d", attribute);
    return call_end(code);
}
