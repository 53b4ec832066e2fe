/* SPDX-License-Identifier: Apache-2.0 */
/* Enumerates the OpenCL devices of the machine, once, and their properties. */
#include "base/environment.h"
#include "device.h"
#include "probe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CARDS = 64, MAX_PLATFORMS = 16 };

static struct {
    pthread_once_t once;
    wk__backend_status presence;
    const char *why;
    int count;
    wk__cl_device_desc card[MAX_CARDS];
} found = {.once = PTHREAD_ONCE_INIT};

static void read_text(cl_device id, cl_uint what, char *out, size_t size)
{
    size_t length = 0;
    out[0] = '\0';
    char text[1024];
    if (wk__cl.GetDeviceInfo(id, what, sizeof text, text, &length) != CL_SUCCESS || length == 0) return;
    text[sizeof text - 1] = '\0';
    snprintf(out, size, "%.*s", (int)(size - 1), text);
}

/* Values have 4 or 8 bytes. */
static int64_t read_number(cl_device id, cl_uint what)
{
    uint64_t value = 0;
    size_t length = 0;
    if (wk__cl.GetDeviceInfo(id, what, sizeof value, &value, &length) != CL_SUCCESS) return 0;
    if (length == 4) {
        uint32_t half;
        memcpy(&half, &value, sizeof half);
        return half;
    }
    return (int64_t)value;
}

/* Returns "0000:65:00.0" from the Khronos extension, NVIDIA's ids or AMD's structure; "" if unknown. */
static void read_pci(cl_device id, char *out, size_t size)
{
    struct {
        cl_uint domain, bus, device, function;
    } khr;
    struct {
        cl_uint type;
        uint8_t unused[17], bus, device, function;
    } amd;
    cl_uint bus, slot;
    out[0] = '\0';
    if (wk__cl.GetDeviceInfo(id, CL_DEVICE_PCI_BUS_INFO_KHR, sizeof khr, &khr, NULL) == CL_SUCCESS) {
        snprintf(out, size, "%04x:%02x:%02x.%x", khr.domain & 0xffff, khr.bus & 0xff, khr.device & 0xff,
                 khr.function & 7);
    } else if (wk__cl.GetDeviceInfo(id, CL_DEVICE_PCI_BUS_ID_NV, sizeof bus, &bus, NULL) == CL_SUCCESS &&
               wk__cl.GetDeviceInfo(id, CL_DEVICE_PCI_SLOT_ID_NV, sizeof slot, &slot, NULL) == CL_SUCCESS) {
        snprintf(out, size, "0000:%02x:%02x.%x", bus & 0xff, (slot >> 3) & 0xff, slot & 7);
    } else if (wk__cl.GetDeviceInfo(id, CL_DEVICE_TOPOLOGY_AMD, sizeof amd, &amd, NULL) == CL_SUCCESS &&
               amd.type == 1) {
        snprintf(out, size, "0000:%02x:%02x.%x", amd.bus, amd.device, amd.function & 7u);
    }
}

/* Returns true if the device supports OpenCL 1.2. The format is "OpenCL 1.2 <vendor-specific>". */
static bool new_enough(cl_device id)
{
    char version[64];
    read_text(id, CL_DEVICE_VERSION, version, sizeof version);
    if (strncmp(version, "OpenCL ", 7) != 0) return false;
    char *end;
    long major = strtol(version + 7, &end, 10);
    long minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
    return major > 1 || (major == 1 && minor >= 2);
}

static int power_of_two_below(int64_t n)
{
    int power = 1;
    while (2 * power <= n && power < 256) power *= 2;
    return power;
}

static void describe(cl_device id, wk__cl_device_desc *card)
{
    memset(card, 0, sizeof *card);
    card->id = id;
    wk__device_info *info = &card->gpu.info;
    read_text(id, CL_DEVICE_NAME, info->name, sizeof info->name);
    read_text(id, CL_DEVICE_VENDOR, info->vendor, sizeof info->vendor);
    read_text(id, CL_DRIVER_VERSION, info->driver, sizeof info->driver);
    info->memory_total = read_number(id, CL_DEVICE_GLOBAL_MEM_SIZE);
    info->memory_available = -1;
    info->compute_units = (int)read_number(id, CL_DEVICE_MAX_COMPUTE_UNITS);
    info->is_gpu = (read_number(id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_GPU) != 0;
    info->temperature = info->power = info->utilisation = NAN;
    read_pci(id, info->pci, sizeof info->pci);

    snprintf(card->gpu.compiler_id, sizeof card->gpu.compiler_id, "%s|%s|%s", info->name, info->vendor, info->driver);
    bool exact = (read_number(id, CL_DEVICE_SINGLE_FP_CONFIG) & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    char version[256];
    read_text(id, CL_DEVICE_VERSION, version, sizeof version);
    card->gpu.has_driver_cache = strcasestr(version, "pocl") != NULL;
    card->max_alloc_bytes = read_number(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    /* -cl-opt-disable makes PoCL compile three times as fast */
    const char *more = wk__setting_text(WK__SETTING_OPENCL_OPTIONS);
    snprintf(card->gpu.option[0], sizeof card->gpu.option[0], "-w%s %s",
             exact ? " -cl-fp32-correctly-rounded-divide-sqrt" : "", more != NULL ? more : "");
    int64_t parameters = read_number(id, CL_DEVICE_MAX_PARAMETER_SIZE);
    int64_t values = (parameters - 8 * (WK__GPU_MAX_MEMORY + 2)) / 8;
    card->gpu.target = wk__gpu_target_of(WK__GPU_OPENCL, info->is_gpu);
    card->gpu.target.has_f64 = read_number(id, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
    card->gpu.target.exact_divide = exact;
    card->gpu.target.group_size = power_of_two_below(read_number(id, CL_DEVICE_MAX_WORK_GROUP_SIZE));
    card->gpu.target.local_memory_bytes = read_number(id, CL_DEVICE_LOCAL_MEM_SIZE);
    card->gpu.target.max_by_value_arguments = values < 0 ? 0 : (int)values;
    card->gpu.target.compute_units = info->compute_units;
}

static void ask_driver(void)
{
    cl_platform platforms[MAX_PLATFORMS];
    cl_uint count = 0, devices;
    if (wk__cl.GetPlatformIDs(MAX_PLATFORMS, platforms, &count) != CL_SUCCESS) return;
    for (cl_uint k = 0; k < count && k < MAX_PLATFORMS; k++)
        wk__cl.GetDeviceIDs(platforms[k], CL_DEVICE_TYPE_ALL, 0, NULL, &devices);
}

static void enumerate(void)
{
    enum { PATIENCE = 30000 }; /* milliseconds; some drivers take seconds the first time */
    cl_platform platforms[MAX_PLATFORMS];
    cl_uint count = 0;
    found.presence = WK__NO_LIBRARY;
    found.why = wk__cl_load();
    if (found.why != NULL) return;
    wk__gpu_install_fork_guard(WK__GPU_OPENCL);

    found.presence = WK__NO_DRIVER;
    if (wk__cl_needs_probe() && !wk__cl_probe_survives(ask_driver, PATIENCE)) {
        found.why = "an OpenCL driver terminates the process when it lists devices without /sys; mount it (mount -t "
                    "sysfs sysfs /sys), or use the CPU";
        return;
    }
    found.why = "the OpenCL loader found no driver; install your device's (for an NVIDIA GPU its driver package, for "
                "an Intel GPU intel-opencl-icd, for the CPU pocl-opencl-icd)";
    if (wk__cl.GetPlatformIDs(MAX_PLATFORMS, platforms, &count) != CL_SUCCESS || count == 0) return;
    if (count > MAX_PLATFORMS) count = MAX_PLATFORMS;

    found.presence = WK__NO_DEVICE;
    found.why =
        "the OpenCL drivers found no device; check that it is installed and that you may open it (group render)";
    for (cl_uint k = 0; k < count; k++) {
        cl_device ids[MAX_CARDS];
        cl_uint devices = 0;
        if (wk__cl.GetDeviceIDs(platforms[k], CL_DEVICE_TYPE_ALL, MAX_CARDS, ids, &devices) != CL_SUCCESS) continue;
        for (cl_uint d = 0; d < devices && d < MAX_CARDS && found.count < MAX_CARDS; d++) {
            if (new_enough(ids[d])) {
                describe(ids[d], &found.card[found.count++]);
            } else if (found.presence == WK__NO_DEVICE) {
                found.presence = WK__DRIVER_TOO_OLD;
                found.why = "the OpenCL driver is older than OpenCL 1.2; install a newer one";
            }
        }
    }
    if (found.count > 0) found.presence = WK__BACKEND_AVAILABLE;
}

wk__backend_status wk__cl_status(wk__text *why)
{
    pthread_once(&found.once, enumerate);
    if (found.presence != WK__BACKEND_AVAILABLE && why != NULL) wk__text_add(why, found.why);
    return found.presence;
}

int wk__cl_count(void)
{
    pthread_once(&found.once, enumerate);
    return found.count;
}

const wk__cl_device_desc *wk__cl_device_desc_at(int index, wk__fail *fail)
{
    if (index >= 0 && index < wk__cl_count()) return &found.card[index];
    if (found.presence != WK__BACKEND_AVAILABLE) {
        wk__fail_set(fail, WK_ERR_DEVICE, "%s", found.why);
    } else {
        wk__fail_set(fail, WK_ERR_DEVICE, "opencl:%d does not exist: this machine has %d OpenCL device%s", index,
                     found.count, found.count == 1 ? "" : "s");
    }
    return NULL;
}
