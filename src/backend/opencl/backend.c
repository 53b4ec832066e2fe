/* SPDX-License-Identifier: Apache-2.0 */
/* Table of the OpenCL backend; opening and closing of devices. */
#include "backend.h"

#include "backend/event.h"
#include "device.h"

#include <stdlib.h>
#include <unistd.h>

/* Open devices, whose worker threads must end before the process does: drivers tear themselves down at exit. */
static struct {
    pthread_mutex_t lock;
    pthread_once_t watched;
    wk__cl_device *first;
} open_devices = {.lock = PTHREAD_MUTEX_INITIALIZER, .watched = PTHREAD_ONCE_INIT};

static void stop_all(void)
{
    if (wk__gpu_is_forked_child(WK__GPU_OPENCL)) return; /* the threads belong to the parent */
    pthread_mutex_lock(&open_devices.lock);
    for (wk__cl_device *d = open_devices.first; d != NULL; d = d->next_open) wk__cl_worker_stop(d);
    pthread_mutex_unlock(&open_devices.lock);
}

/* Drivers that contain a compiler (PoCL) may run exit handlers that were registered during compilation before ours, so
 * nothing may be compiling then. glibc runs thread destructors registered here before all atexit handlers. */
extern int __cxa_thread_atexit_impl(void (*call)(void *), void *object, void *library) __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

static void drain_all(void *unused)
{
    (void)unused;
    if (wk__gpu_is_forked_child(WK__GPU_OPENCL)) return;
    pthread_mutex_lock(&open_devices.lock);
    for (wk__cl_device *d = open_devices.first; d != NULL; d = d->next_open) wk__cl_drain(d);
    pthread_mutex_unlock(&open_devices.lock);
}

static void install_exit_handler(void)
{
    atexit(stop_all);
}

/* Registers once, for the main thread, which usually ends the process. */
static void watch_main_thread(void)
{
    static bool watched;
    if (watched || getpid() != gettid() || __cxa_thread_atexit_impl == NULL) return;
    watched = true;
    __cxa_thread_atexit_impl(drain_all, NULL, &__dso_handle);
}

static void list(wk__cl_device *device)
{
    pthread_once(&open_devices.watched, install_exit_handler);
    watch_main_thread();
    pthread_mutex_lock(&open_devices.lock);
    device->next_open = open_devices.first;
    open_devices.first = device;
    pthread_mutex_unlock(&open_devices.lock);
}

static void unlist(wk__cl_device *device)
{
    pthread_mutex_lock(&open_devices.lock);
    wk__cl_device **link = &open_devices.first;
    while (*link != device) link = &(*link)->next_open;
    *link = device->next_open;
    pthread_mutex_unlock(&open_devices.lock);
}

static void free_device(wk__cl_device *device)
{
    wk__cl_poison_destroy(device);
    wk__gpu_kernel_cache_destroy(&device->kernel_cache);
    if (device->scratch != NULL) wk__cl.ReleaseMemObject(device->scratch);
    if (device->fault != NULL) wk__cl.ReleaseMemObject(device->fault);
    if (device->queue != NULL) wk__cl.ReleaseCommandQueue(device->queue);
    if (device->context != NULL) wk__cl.ReleaseContext(device->context);
    wk__free(device);
}

static wk_code prepare(wk__cl_device *device, wk__fail *fail)
{
    static wk__gpu_fault nothing;
    cl_int error;
    cl_device id = device->card->id;
    device->context = wk__cl.CreateContext(NULL, 1, &id, NULL, NULL, &error);
    if (error == CL_SUCCESS) device->queue = wk__cl.CreateCommandQueue(device->context, id, 0, &error);
    if (error == CL_SUCCESS) {
        device->fault = wk__cl.CreateBuffer(device->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof nothing,
                                            &nothing, &error);
    }
    return error == CL_SUCCESS ? WK_OK : wk__cl_fail_set(fail, error, "opening the device");
}

static wk_code open_device(int index, void **out, wk__fail *fail)
{
    const wk__cl_device_desc *card = wk__cl_device_desc_at(index, fail);
    if (card == NULL) return fail->code;
    if (wk__gpu_is_forked_child(WK__GPU_OPENCL))
        return wk__fail_set(
            fail, WK_ERR_STATE,
            "this process was forked after its parent queried OpenCL devices; query them in the child only");
    wk__cl_device *device = wk__alloc_zero(1, sizeof *device);
    if (device == NULL) return wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory to open the device");
    device->card = card;
    wk__gpu_kernel_cache_init(&device->kernel_cache, &wk__cl_compiler, device, &device->card->gpu);
    wk_code code = prepare(device, fail);
    if (code == WK_OK) code = wk__cl_worker_start(device, fail);
    if (code != WK_OK) {
        free_device(device);
        return code;
    }
    list(device);
    *out = device;
    return WK_OK;
}

static void close_device(void *user)
{
    wk__cl_device *device = user;
    if (device == NULL || wk__gpu_is_forked_child(WK__GPU_OPENCL)) return;
    unlist(device);
    wk__cl_worker_stop(device);
    free_device(device);
}

static wk_code info_of(int index, wk__device_info *info, wk__fail *fail)
{
    const wk__cl_device_desc *card = wk__cl_device_desc_at(index, fail);
    if (card == NULL) return fail->code;
    *info = card->gpu.info;
    return WK_OK;
}

const wk__backend wk__opencl_backend = {
    .abi_version = WK__BACKEND_VERSION,
    .kind = WK_OPENCL,
    .name = "opencl",
    .status = wk__cl_status,
    .count = wk__cl_count,
    .info = info_of,
    .open = open_device,
    .close = close_device,
    .block_alloc = wk__cl_block_alloc,
    .block_free = wk__cl_block_free,
    .supports = wk__cl_supports,
    .submit = wk__cl_submit,
    .upload = wk__cl_upload,
    .copy = wk__cl_copy,
    .download = wk__cl_download,
    .sync = wk__cl_sync,
    .transfer = wk__cl_transfer,
    .compile_only = wk__cl_compile_only,
    .event_record = wk__cl_event_record,
    .event_wait = wk__cl_event_wait,
    .event_elapsed = wk__event_elapsed,
    .event_destroy = wk__event_destroy,
    .event_query = wk__event_query,
};
