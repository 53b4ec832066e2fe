/* SPDX-License-Identifier: Apache-2.0 */
/* Table of open devices; see device.h. */
#include "device.h"
#include "base/alloc.h"
#include "base/environment.h"
#include "base/launcher_status.h"
#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* filled from the front and never emptied, so that readers need no lock */
static _Atomic(wk__device *) opened[WK__MAX_OPEN_DEVICES];

static bool same(wk_device a, wk_device b)
{
    return a.kind == b.kind && a.index == b.index && a.task == b.task;
}

/* Returns an open device, or NULL; does not access hardware. */
static wk__device *find(wk_device id)
{
    for (int k = 0; k < WK__MAX_OPEN_DEVICES; k++) {
        wk__device *device = atomic_load_explicit(&opened[k], memory_order_acquire);
        if (!device) return NULL;
        if (same(device->id, id)) return device;
    }
    return NULL;
}

void wk__device_for_each(void (*visit)(wk__device *device, void *user), void *user)
{
    for (int k = 0; k < WK__MAX_OPEN_DEVICES; k++) {
        wk__device *device = atomic_load_explicit(&opened[k], memory_order_acquire);
        if (!device) return;
        visit(device, user);
    }
}

/* ---- gpu:i ------------------------------------------------------------------------------------------------------- */

static bool counts_as_gpu(const wk__backend *backend, int index, wk__device_info *info)
{
    wk__fail fail;
    if (backend->kind == WK_CPU || backend->kind == WK_NULL) return false;
    if (backend->info(index, info, &fail) != WK_OK) return false;
    const char *wish = wk__setting_text(WK__SETTING_GPU);
    return info->is_gpu || (wish && strcmp(wish, backend->name) == 0);
}

/* Enumerates gpu:0, gpu:1, ... A card seen by two backends counts once, but several CUDA devices at one PCI address are
 * slices of a card and each counts. Returns device number `want`; if want < 0, stores the number of GPUs in *count. */
static wk_device nth_gpu(int want, int *count)
{
    char seen[WK__MAX_OPEN_DEVICES][16];
    int found = 0;
    for (const wk__backend *const *place = wk__backends; *place; place++) {
        const wk__backend *backend = *place;
        const int first_of_cuda = backend->kind == WK_CUDA ? found : WK__MAX_OPEN_DEVICES;
        int devices = backend->kind == WK_CPU || backend->kind == WK_NULL ? 0 : backend->count();
        for (int index = 0; index < devices && found < WK__MAX_OPEN_DEVICES; index++) {
            wk__device_info info;
            if (!counts_as_gpu(backend, index, &info)) continue;
            bool known = false;
            for (int k = 0; k < found && k < first_of_cuda && info.pci[0]; k++)
                known = known || strcmp(seen[k], info.pci) == 0;
            if (known) continue;
            memcpy(seen[found], info.pci, sizeof info.pci);
            if (found++ == want) return (wk_device){backend->kind, (int16_t)index, 0};
        }
    }
    *count = found;
    return (wk_device){0};
}

wk_device wk__device_resolve(wk_device id)
{
    if (id.kind != WK_GPU) return id;
    int count;
    wk_device found = nth_gpu(id.index, &count);
    found.task = id.task;
    return found.kind ? found : (wk_device){0};
}

int wk__device_count_of(int kind)
{
    int count = 0;
    if (kind == WK_GPU) {
        nth_gpu(-1, &count);
        return count;
    }
    const wk__backend *backend = wk__backend_of(kind);
    return backend ? backend->count() : 0;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

/* Appends "cpu, opencl:0, opencl:1". */
static void list_usable(wk__text *out)
{
    bool first = true;
    for (const wk__backend *const *place = wk__backends; *place; place++) {
        int count = (*place)->kind == WK_NULL ? 0 : (*place)->count();
        for (int index = 0; index < count; index++, first = false) {
            wk__text_add(out, first ? "" : ", ");
            if ((*place)->kind == WK_CPU)
                wk__text_add(out, "cpu");
            else
                wk__text_format(out, "%s:%d", (*place)->name, index);
        }
    }
}

/* Explains a missing gpu:i. OpenCL devices may be CPUs, which count as GPUs only if WICK_GPU=opencl is set. */
static void explain_no_gpu(wk__text *out)
{
    int count = wk__backend_of(WK_OPENCL)->count(), gpus;
    nth_gpu(-1, &gpus);
    if (gpus > 0)
        wk__text_format(out, "this machine has %d GPU%s", gpus, gpus == 1 ? "" : "s");
    else if (count == 0)
        wk__text_add(out, "no driver reports a GPU (run `wick doctor`)");
    else
        wk__text_format(out, "OpenCL reports only CPUs here (%d device%s); with WICK_GPU=opencl %s as GPU", count,
                        count == 1 ? "" : "s", count == 1 ? "it counts" : "they count");
}

static wk_code fail_unavailable(wk_device id, const wk__backend *backend, wk__fail *fail)
{
    if (!backend && id.kind != WK_GPU)
        return wk__fail_set(fail, WK_ERR_DEVICE,
                            "unknown device kind %d; expected WK_CPU, WK_CUDA, WK_OPENCL or WK_GPU", (int)id.kind);
    wk__text there = {0}, why = {0};
    list_usable(&there);
    const char *name = backend ? backend->name : "gpu";
    int count = backend ? backend->count() : 0;
    if (id.kind == WK_GPU)
        explain_no_gpu(&why);
    else if (count > 0 || backend->status(&why) == WK__BACKEND_AVAILABLE)
        wk__text_format(&why, "this machine has %d device%s of this kind", count, count == 1 ? "" : "s");
    wk__fail_set(fail, WK_ERR_DEVICE, "%s:%d does not exist: %s; available: %s", name, id.index,
                 why.data ? why.data : "", there.data ? there.data : "cpu");
    wk__text_free(&there);
    wk__text_free(&why);
    return WK_ERR_DEVICE;
}

static int64_t default_limit(const wk__backend *backend, int index)
{
    wk__device_info info;
    wk__fail fail;
    if (backend->info(index, &info, &fail) != WK_OK || info.memory_total <= 0) return INT64_MAX;
    return info.memory_total;
}

void wk__device_set_limit(wk__device *device, int64_t bytes)
{
    if (bytes <= 0) bytes = default_limit(device->backend, device->id.index);
    wk__arena_set_limit(device->arena, bytes);
    atomic_store(&device->limit, bytes);
}

static wk__device *open_device(wk_device id, const wk__backend *backend, wk__fail *fail)
{
    if (id.task != 0) {
        wk__fail_set(fail, WK_ERR_UNSUPPORTED,
                     "the device belongs to task %d; this process is task 0 and cannot use it", (int)id.task);
        return NULL;
    }
    int place = 0;
    while (place < WK__MAX_OPEN_DEVICES && atomic_load(&opened[place])) place++;
    if (place == WK__MAX_OPEN_DEVICES) {
        wk__fail_set(fail, WK_ERR_UNSUPPORTED, "%s:%d is one device too many; a process can use %d", backend->name,
                     id.index, WK__MAX_OPEN_DEVICES);
        return NULL;
    }
    wk__device *device = wk__alloc_zero(1, sizeof *device);
    if (!device) {
        wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory for device %s:%d", backend->name, id.index);
        return NULL;
    }
    device->id = (wk_device){id.kind, id.index, 0};
    device->slot = place;
    device->backend = backend;
    if (backend->open(id.index, &device->state, fail) != WK_OK) {
        wk__free(device);
        return NULL;
    }
    device->arena = wk__arena_new(backend, device->state, default_limit(backend, id.index));
    if (!device->arena) {
        backend->close(device->state);
        wk__free(device);
        wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory for device %s:%d", backend->name, id.index);
        return NULL;
    }
    atomic_store(&device->limit, default_limit(backend, id.index));
    pthread_mutex_init(&device->report_lock, NULL);
    atomic_store_explicit(&opened[place], device, memory_order_release);
    return device;
}

/* Environment variables determine which devices exist and how they compute, so no device is opened while one is
 * invalid: otherwise the program would run with unintended settings. */
static bool check_environment(wk__fail *fail)
{
    char why[sizeof fail->text];
    const bool right = wk__settings_valid(why, sizeof why);
    if (!right) wk__fail_set(fail, WK_ERR_ARGUMENT, "%s", why);
    return right;
}

wk__device *wk__device_get(wk_device id, wk__fail *fail)
{
    wk__device *device = find(id);
    if (device) return device;
    if (!check_environment(fail)) return NULL;
    const wk__backend *backend = wk__backend_of(id.kind);
    if (!backend || id.index < 0 || id.index >= backend->count()) {
        fail_unavailable(id, backend, fail);
        return NULL;
    }
    pthread_mutex_lock(&lock);
    device = find(id); /* another thread may have opened it */
    if (!device) {
        device = open_device(id, backend, fail);
        wk__launcher_status_send("wick=open\n");
    }
    pthread_mutex_unlock(&lock);
    return device;
}
