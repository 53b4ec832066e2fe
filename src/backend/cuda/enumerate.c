/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA devices of the machine, and their properties. */
#include "nvrtc_exit.h"
#include "device.h"

#include "backend/gpu/fork_guard.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_ARCHITECTURES = 64 };

static struct {
    pthread_once_t libraries_once, once;
    const char *no_driver, *no_compiler; /* reasons, or NULL */
    wk__backend_status presence;
    atomic_bool known; /* the following members are initialised */
    const char *why;
    char words[200];
    int count;
    wk__cuda_device_desc card[WK__CUDA_MAX_DEVICES];
    int driver; /* 12040 for CUDA 12.4 */
    int compiler_major, compiler_minor;
    int architectures, architecture[MAX_ARCHITECTURES]; /* supported by NVRTC */
    bool has_nvml;                                      /* the library is available */
    atomic_long nvml_of;                                /* process in which it was initialised */
    atomic_int counted;                                 /* number of cards according to NVML; 0: unknown */
} found = {.libraries_once = PTHREAD_ONCE_INIT, .once = PTHREAD_ONCE_INIT};

/* Initialises NVML again in a forked child. Two threads may do so simultaneously: NVML counts initialisations. There is
 * no lock, because a child could inherit it locked. */
static bool has_nvml(void)
{
    const long own = (long)getpid();
    if (!found.has_nvml) return false;
    if (atomic_load(&found.nvml_of) == own) return true;
    if (wk__nvml.Init_v2() != NVML_SUCCESS) return false;
    atomic_store(&found.nvml_of, own);
    return true;
}

static int attribute(CUdevice id, int what)
{
    int value = 0;
    return wk__cuda.DeviceGetAttribute(&value, what, id) == CUDA_SUCCESS ? value : 0;
}

/* Code for an architecture runs on later ones of its generation: 8.0 on 8.6, but none of 8 on 9. Cards of a generation
 * newer than NVRTC get PTX, which their driver compiles; cards older than all supported ones get nothing. */
static void choose_architecture(wk__cuda_device_desc *card)
{
    int same = 0, older = 0;
    for (int k = 0; k < found.architectures; k++) {
        const int one = found.architecture[k];
        if (one > card->architecture) continue;
        if (one > older) older = one;
        if (one / 10 == card->architecture / 10 && one > same) same = one;
    }
    card->needs_ptx = same == 0;
    card->compiled_for = same > 0 ? same : older;
}

static void describe(CUdevice id, wk__cuda_device_desc *card)
{
    size_t bytes = 0;
    wk__device_info *info = &card->gpu.info;
    *card = (wk__cuda_device_desc){.id = id, .ordinal = (int)(card - found.card)};
    wk__cuda.DeviceGetName(info->name, sizeof info->name - 1, id);
    wk__cuda.DeviceTotalMem_v2(&bytes, id);
    if (wk__cuda.DeviceGetPCIBusId(info->pci, sizeof info->pci, id) != CUDA_SUCCESS) info->pci[0] = '\0';
    for (char *c = info->pci; *c != '\0'; c++)
        if (*c >= 'A' && *c <= 'F') *c = (char)(*c - 'A' + 'a'); /* lower case, as OpenCL drivers report it */
    snprintf(info->vendor, sizeof info->vendor, "NVIDIA");
    if (!has_nvml() || wk__nvml.SystemGetDriverVersion(info->driver, sizeof info->driver) != NVML_SUCCESS)
        snprintf(info->driver, sizeof info->driver, "CUDA %d.%d", found.driver / 1000, found.driver % 1000 / 10);
    snprintf(info->api_version, sizeof info->api_version, "CUDA %d.%d", found.driver / 1000 % 100,
             found.driver % 1000 / 10);
    info->memory_total = (int64_t)bytes;
    info->memory_available = -1;
    info->compute_units = attribute(id, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    info->is_gpu = true;
    info->temperature = info->power = info->utilisation = NAN;

    card->architecture = 10 * attribute(id, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                         attribute(id, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    card->has_vmm = attribute(id, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) != 0;
    choose_architecture(card);
    snprintf(card->gpu.option[0], sizeof card->gpu.option[0], "--gpu-architecture=%s_%d",
             card->needs_ptx ? "compute" : "sm", card->compiled_for);
    snprintf(card->gpu.option[1], sizeof card->gpu.option[1], "--fmad=false");
    snprintf(card->gpu.compiler_id, sizeof card->gpu.compiler_id, "NVRTC %d.%d", found.compiler_major,
             found.compiler_minor);
    /* Drivers of cards with a display stop kernels that take seconds. */
    const int grid = attribute(id, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
    card->max_groups = attribute(id, CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT) != 0 ? 32768 : grid > 0 ? grid : 65535;
    card->max_resident_items =
        (int64_t)info->compute_units * attribute(id, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    card->gpu.target = wk__gpu_target_of(WK__GPU_CUDA, true);
    card->gpu.target.compute_units = info->compute_units;
}

/* Explains why the driver did not initialise. */
static wk__backend_status explain_init_error(CUresult error)
{
    switch (error) {
    case CUDA_ERROR_NO_DEVICE:
        found.why = "NVIDIA's driver found no GPU; check that one is installed (lspci) and that CUDA_VISIBLE_DEVICES "
                    "does not hide it";
        return WK__NO_DEVICE;
    case CUDA_ERROR_SYSTEM_NOT_READY:
        found.why = "NVIDIA's driver reports that the system is not ready; on machines with NVSwitch, start "
                    "nvidia-fabricmanager (systemctl start nvidia-fabricmanager)";
        return WK__NO_DRIVER;
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
        found.why = "libcuda.so.1 is from a cuda-compat package, which this GPU does not support; remove its folder "
                    "from LD_LIBRARY_PATH";
        return WK__NO_DRIVER;
    case CUDA_ERROR_STUB_LIBRARY:
        found.why = "libcuda.so.1 is the link-time stub, not the driver; remove its folder from LD_LIBRARY_PATH";
        return WK__NO_DRIVER;
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
        found.why = "NVIDIA's driver library and its kernel module have different versions; restart the machine, or "
                    "reinstall the driver";
        return WK__NO_DRIVER;
    default: {
        char room[32];
        snprintf(found.words, sizeof found.words,
                 "cannot initialise NVIDIA's driver (%s); check that its kernel module is loaded and that you may open "
                 "/dev/nvidia* (see nvidia-smi)",
                 wk__cuda_error(error, room));
        found.why = found.words;
        return WK__NO_DRIVER;
    }
    }
}

static const char *find_compiler(void)
{
    int count = 0;
    const char *why = wk__cuda_load_nvrtc(found.driver / 1000);
    if (why != NULL) return why;
    wk__nvrtc_install_exit_guard();
    if (wk__nvrtc.Version(&found.compiler_major, &found.compiler_minor) != NVRTC_SUCCESS ||
        wk__nvrtc.GetNumSupportedArchs(&count) != NVRTC_SUCCESS || count < 1 || count > MAX_ARCHITECTURES ||
        wk__nvrtc.GetSupportedArchs(found.architecture) != NVRTC_SUCCESS)
        return "NVRTC, CUDA's run-time compiler, does not report its targets; reinstall it";
    found.architectures = count;
    return NULL;
}

enum { OLDEST = 11020 /* minimum driver version */ };

/* Doesn't initialise the driver, so the process may still fork. If the version is unknown, initialisation will explain
 * why. */
static void find_libraries(void)
{
    found.no_driver = wk__cuda_load_driver();
    if (found.no_driver != NULL) return;
    if (wk__cuda.DriverGetVersion(&found.driver) != CUDA_SUCCESS) found.driver = 0;
    if (found.driver >= OLDEST) found.no_compiler = find_compiler();
    found.has_nvml = wk__cuda_load_nvml() == NULL;
    atomic_store(&found.nvml_of, (long)getpid());
}

/* Finds the devices, or the reason why there are none. */
static wk__backend_status enumerate(void)
{
    int count = 0;
    pthread_once(&found.libraries_once, find_libraries);
    found.why = found.no_driver;
    if (found.why != NULL) return wk__cuda.Init == NULL ? WK__NO_LIBRARY : WK__DRIVER_TOO_OLD;
    wk__gpu_install_fork_guard(WK__GPU_CUDA);
    CUresult error = wk__cuda.Init(0);
    if (error != CUDA_SUCCESS) return explain_init_error(error);
    if (found.driver < OLDEST) {
        found.why = "NVIDIA's driver is older than CUDA 11.2; install a newer one (apt install nvidia-driver)";
        return WK__DRIVER_TOO_OLD;
    }
    error = wk__cuda.DeviceGetCount(&count);
    if (error != CUDA_SUCCESS || count < 1)
        return explain_init_error(error != CUDA_SUCCESS ? error : CUDA_ERROR_NO_DEVICE);
    found.why = found.no_compiler;
    if (found.why != NULL) return WK__NO_LIBRARY;
    bool compiled = false;
    for (int k = 0; k < count && found.count < WK__CUDA_MAX_DEVICES; k++) {
        CUdevice id;
        if (wk__cuda.DeviceGet(&id, k) != CUDA_SUCCESS) break; /* otherwise indices would differ from CUDA's */
        describe(id, &found.card[found.count]);
        compiled = compiled || found.card[found.count].compiled_for > 0;
        found.count++;
    }
    if (compiled) return WK__BACKEND_AVAILABLE;
    found.count = 0;
    found.why = "NVRTC, CUDA's run-time compiler, is too new for this GPU; install an older one (apt install "
                "libnvrtc12) and set WICK_CUDA_PATH to its folder";
    return WK__NO_LIBRARY;
}

static void find_cards(void)
{
    found.presence = enumerate();
    atomic_store(&found.known, true);
}

wk__backend_status wk__cuda_status(wk__text *why)
{
    pthread_once(&found.once, find_cards);
    if (found.presence != WK__BACKEND_AVAILABLE && why != NULL) wk__text_add(why, found.why);
    return found.presence;
}

/* Counts devices with NVML, without initialising the driver, so that programs which only count may fork afterwards.
 * NVML ignores CUDA_VISIBLE_DEVICES, and does not know how many MIG slices CUDA uses. The number is kept, also for
 * children, until the driver is initialised, which determines the final number. */
static bool count_by_nvml(int *count)
{
    unsigned cards = 0, now = 0, later;
    if (getenv("CUDA_VISIBLE_DEVICES")) return false; /* a program may set it after counting */
    *count = atomic_load(&found.counted);
    if (*count > 0) return true;
    pthread_once(&found.libraries_once, find_libraries);
    if (found.driver < OLDEST || found.no_compiler != NULL || !has_nvml() || wk__nvml_extra.DeviceGetCount_v2 == NULL ||
        wk__nvml_extra.DeviceGetHandleByIndex_v2 == NULL || wk__nvml_extra.DeviceGetCount_v2(&cards) != NVML_SUCCESS ||
        cards > WK__CUDA_MAX_DEVICES)
        return false;
    for (unsigned k = 0; k < cards; k++) {
        nvmlDevice card;
        if (wk__nvml_extra.DeviceGetHandleByIndex_v2(k, &card) != NVML_SUCCESS ||
            (wk__nvml.DeviceGetMigMode(card, &now, &later) == NVML_SUCCESS && now == NVML_MIG_ENABLED))
            return false;
    }
    *count = (int)cards;
    atomic_store(&found.counted, *count);
    return true;
}

int wk__cuda_count(void)
{
    int count;
    if (!atomic_load(&found.known) && count_by_nvml(&count)) return count;
    pthread_once(&found.once, find_cards);
    return found.count;
}

const wk__cuda_device_desc *wk__cuda_device_desc_at(int index, wk__fail *fail)
{
    pthread_once(&found.once, find_cards);
    if (index >= 0 && index < found.count) return &found.card[index];
    if (found.presence != WK__BACKEND_AVAILABLE) {
        wk__fail_set(fail, WK_ERR_DEVICE, "%s", found.why);
    } else {
        wk__fail_set(fail, WK_ERR_DEVICE, "cuda:%d does not exist: this machine has %d CUDA device%s", index,
                     found.count, found.count == 1 ? "" : "s");
    }
    return NULL;
}

/* Reads the list of processes that compute on the card; NVML returns none if there are more than MOST. Some drivers of
 * release 535 write entries of 32 bytes with the same initial layout, so they write beyond the space of that many usual
 * entries. */
static void ask_processes(nvmlDevice device, wk__device_info *info)
{
    enum { MOST = 128, USUAL = sizeof(nvmlProcessInfo), LONGER = USUAL + 8, UNTOUCHED = 0xa5 };
    _Alignas(nvmlProcessInfo) unsigned char entries[MOST * LONGER];
    unsigned count = MOST;
    size_t stride = USUAL;
    memset(entries, UNTOUCHED, sizeof entries);
    if (wk__nvml_extra.DeviceGetComputeRunningProcesses_v3 == NULL ||
        wk__nvml_extra.DeviceGetComputeRunningProcesses_v3(device, &count, (nvmlProcessInfo *)(void *)entries) !=
            NVML_SUCCESS ||
        count > MOST)
        return;
    for (size_t k = (size_t)count * USUAL; k < (size_t)count * LONGER; k++)
        if (entries[k] != UNTOUCHED) stride = LONGER;
    info->processes = (int)count;
    for (unsigned k = 0; k < count && k < WK_DEVICE_PROCESSES; k++) {
        nvmlProcessInfo process;
        memcpy(&process, entries + k * stride, sizeof process);
        const int64_t bytes = (int64_t)process.memory;
        info->process[k] = (wk_device_process){.id = (int64_t)process.pid, .memory = bytes > 0 ? bytes : 0};
    }
}

/* Reads clocks and limits, which not every card has. */
static void ask_extras(nvmlDevice device, wk__device_info *info)
{
    unsigned number;
    const wk__nvml_extras *extra = &wk__nvml_extra;
    if (extra->DeviceGetEnforcedPowerLimit != NULL &&
        extra->DeviceGetEnforcedPowerLimit(device, &number) == NVML_SUCCESS)
        info->power_limit = 1e-3 * (double)number;
    if (extra->DeviceGetClockInfo == NULL) return;
    if (extra->DeviceGetClockInfo(device, NVML_CLOCK_GRAPHICS, &number) == NVML_SUCCESS) info->core_clock = (int)number;
    if (extra->DeviceGetClockInfo(device, NVML_CLOCK_MEM, &number) == NVML_SUCCESS) info->memory_clock = (int)number;
}

/* A MIG slice has separate memory. Its PCI address is that of the card, so NVML needs its UUID. */
static bool find_slice(CUdevice id, nvmlDevice *slice)
{
    unsigned char u[16];
    char name[48];
    if (wk__cuda.DeviceGetUuid_v2 == NULL || wk__cuda.DeviceGetUuid_v2(u, id) != CUDA_SUCCESS) return false;
    snprintf(name, sizeof name, "MIG-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1],
             u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
    return wk__nvml.DeviceGetHandleByUUID(name, slice) == NVML_SUCCESS;
}

/* NVML handles of a card. NVML ignores CUDA_VISIBLE_DEVICES and numbers cards differently, so cards are identified by
 * PCI address. Temperature and power of slices are those of the card; their utilisation is unknown. */
typedef struct nvml_handles {
    nvmlDevice card, memory_of; /* memory_of: NULL if the slice was not found */
    bool sliced;
} nvml_handles;

static bool find_in_nvml(const wk__cuda_device_desc *card, nvml_handles *w)
{
    unsigned now = 0, later;
    if (wk__gpu_is_forked_child(WK__GPU_CUDA) || !has_nvml() ||
        wk__nvml.DeviceGetHandleByPciBusId_v2(card->gpu.info.pci, &w->card) != NVML_SUCCESS)
        return false;
    w->sliced = wk__nvml.DeviceGetMigMode(w->card, &now, &later) == NVML_SUCCESS && now == NVML_MIG_ENABLED;
    w->memory_of = w->card;
    if (w->sliced && !find_slice(card->id, &w->memory_of)) w->memory_of = NULL;
    return true;
}

static int64_t available_of(const nvml_handles *w)
{
    nvmlMemory memory;
    return w->memory_of != NULL && wk__nvml.DeviceGetMemoryInfo(w->memory_of, &memory) == NVML_SUCCESS
               ? (int64_t)memory.free
               : -1;
}

int64_t wk__cuda_free_bytes(const wk__cuda_device_desc *card)
{
    nvml_handles w;
    return find_in_nvml(card, &w) ? available_of(&w) : -1;
}

static void ask_nvml(const wk__cuda_device_desc *card, wk__device_info *info)
{
    nvml_handles w;
    nvmlUtilization rates;
    unsigned number;
    if (!find_in_nvml(card, &w)) return;
    info->memory_available = available_of(&w);
    if (wk__nvml.DeviceGetTemperature(w.card, NVML_TEMPERATURE_GPU, &number) == NVML_SUCCESS)
        info->temperature = (double)number;
    if (wk__nvml.DeviceGetPowerUsage(w.card, &number) == NVML_SUCCESS) info->power = 1e-3 * (double)number;
    if (!w.sliced && wk__nvml.DeviceGetUtilizationRates(w.card, &rates) == NVML_SUCCESS)
        info->utilisation = 1e-2 * (double)rates.gpu;
    ask_extras(w.card, info);
    if (w.memory_of != NULL) ask_processes(w.memory_of, info);
}

wk_code wk__cuda_info(int index, wk__device_info *info, wk__fail *fail)
{
    const wk__cuda_device_desc *card = wk__cuda_device_desc_at(index, fail);
    if (card == NULL) return fail->code;
    *info = card->gpu.info;
    return WK_OK;
}

void wk__cuda_live_info(int index, wk__device_info *info)
{
    ask_nvml(&found.card[index], info);
}
