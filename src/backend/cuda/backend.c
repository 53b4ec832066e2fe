/* SPDX-License-Identifier: Apache-2.0 */
/* Table of the CUDA backend; opening, closing and loss of devices. */
#include "base/platform/clock.h"
#include "backend/arena/arena_blocks.h"
#include "backend/backend.h"
#include "backend/gpu/fork_guard.h"
#include "nvrtc_exit.h"
#include "device.h"

#include "base/integers.h"

#include <stdio.h>

/* ---- calls of the driver ----------------------------------------------------------------------------------------- */

CUresult wk__cuda_push_context(CUcontext context, wk__cuda_context_guard *calls)
{
    const CUresult error = wk__cuda.CtxPushCurrent_v2(context);
    calls->pushed = error == CUDA_SUCCESS;
    calls->mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    calls->relaxed = calls->pushed && wk__cuda.ThreadExchangeStreamCaptureMode(&calls->mode) == CUDA_SUCCESS;
    return error;
}

void wk__cuda_pop_context(wk__cuda_context_guard *calls)
{
    CUcontext before;
    if (!calls->pushed) return;
    if (calls->relaxed) wk__cuda.ThreadExchangeStreamCaptureMode(&calls->mode);
    wk__cuda.CtxPopCurrent_v2(&before);
    calls->pushed = false;
}

wk_code wk__cuda_lock(wk__cuda_device *device, wk__fail *fail)
{
    if (wk__gpu_is_forked_child(WK__GPU_CUDA))
        return wk__fail_set(fail, WK_ERR_STATE,
                            "this process was forked from one that uses CUDA; fork before the first use");
    wk__nvrtc_guard_thread();
    pthread_mutex_lock(&device->lock);
    const CUresult error = wk__cuda_push_context(device->context, &device->calls);
    if (error == CUDA_SUCCESS) return WK_OK;
    const wk_code code = wk__cuda_fail_set(device, fail, error, "selecting the device");
    if (device->lost) return WK_OK;
    pthread_mutex_unlock(&device->lock);
    return code;
}

void wk__cuda_unlock(wk__cuda_device *device)
{
    wk__cuda_pop_context(&device->calls);
    pthread_mutex_unlock(&device->lock);
}

CUresult wk__cuda_wait(CUevent event)
{
    enum { PATIENCE = 50000 };
    const int64_t end = wk__monotonic_ns() + PATIENCE;
    CUresult error;
    while ((error = wk__cuda.EventQuery(event)) == CUDA_ERROR_NOT_READY && wk__monotonic_ns() < end) {
    }
    return error == CUDA_ERROR_NOT_READY ? wk__cuda.EventSynchronize(event) : error;
}

CUresult wk__cuda_wait_unlocked(const wk__cuda_device *device, CUevent event)
{
    wk__cuda_context_guard calls;
    CUresult error = wk__cuda_push_context(device->context, &calls);
    if (error == CUDA_SUCCESS) error = wk__cuda_wait(event);
    wk__cuda_pop_context(&calls);
    return error;
}

/* Returns true for errors after which a context is unusable. */
static bool ends_context(CUresult error)
{
    switch (error) {
    case CUDA_ERROR_NOT_INITIALIZED:
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_TENSOR_MEMORY_LEAK:
    case CUDA_ERROR_MPS_CONNECTION_FAILED:
    case CUDA_ERROR_MPS_RPC_FAILURE:
    case CUDA_ERROR_MPS_CLIENT_TERMINATED:
    case CUDA_ERROR_UNKNOWN: return true;
    default: return error >= CUDA_ERROR_HARDWARE_STACK_ERROR && error <= CUDA_ERROR_LAUNCH_FAILED;
    }
}

/* Returns 0 if the driver lacks the function or fails. */
static unsigned long long id_of(CUcontext context)
{
    unsigned long long id = 0;
    return wk__cuda.CtxGetId != NULL && wk__cuda.CtxGetId(context, &id) == CUDA_SUCCESS ? id : 0;
}

/* Returns true if the context was reset. If it is used again at the same address, its id has changed. */
static bool was_reset(const wk__cuda_device *device, CUresult error)
{
    if (error == CUDA_ERROR_INVALID_CONTEXT || error == CUDA_ERROR_INVALID_HANDLE ||
        error == CUDA_ERROR_CONTEXT_IS_DESTROYED)
        return true;
    const unsigned long long id = device->id != 0 ? id_of(device->context) : 0;
    return id != 0 && id != device->id;
}

wk_code wk__cuda_fail_set(wk__cuda_device *device, wk__fail *fail, CUresult error, const char *what)
{
    char room[32];
    const char *name = wk__cuda_error(error, room);
    if (error == CUDA_ERROR_OUT_OF_MEMORY)
        return wk__fail_set(fail, WK_ERR_MEMORY, "%s: out of memory (%s)", what, name);
    const bool reset = was_reset(device, error);
    if (!reset && !ends_context(error)) return wk__fail_set(fail, WK_ERR_INTERNAL, "%s: %s", what, name);
    wk__fail_set(
        fail, WK_ERR_DEVICE_LOST,
        "%s: device lost (%s); its data is gone, other devices keep working, and a new process can use it again", what,
        name);
    if (!device->lost) snprintf(device->lost_text, sizeof device->lost_text, "%s", fail->text);
    device->lost = true;
    device->was_reset = device->was_reset || reset;
    return WK_ERR_DEVICE_LOST;
}

wk_code wk__cuda_fail_lost(const wk__cuda_device *device, wk__fail *fail)
{
    return wk__fail_set(fail, WK_ERR_DEVICE_LOST, "%s", device->lost_text);
}

wk_code wk__cuda_report_lost(wk__cuda_device *device, bool reads, wk__fail *fail)
{
    pthread_mutex_lock(&device->lock);
    const bool told = device->lost_reported;
    device->lost_reported = true;
    pthread_mutex_unlock(&device->lock);
    fail->poisoned = reads;
    fail->async = !reads;
    return reads || !told ? WK_ERR_DEVICE_LOST : WK_OK;
}

/* ---- device ------------------------------------------------------------------------------------------------------ */

/* Frees what has been created; also after an incomplete open. Objects of a context that was reset no longer exist, and
 * must not be passed to the driver. */
static void end(wk__cuda_device *device)
{
    const bool is_there = device->calls.pushed && !device->was_reset;
    device->kernel_cache.context_lost = !is_there;
    wk__gpu_kernel_cache_destroy(&device->kernel_cache);
    wk__free(device->pending);
    if (!is_there) return;
    wk__cuda_hazard_destroy(device);
    wk__cuda_staging_destroy(&device->staging);
    wk__cuda_staging_destroy(&device->upload_staging);
    for (int k = 0; k < device->retired.count; k++) wk__cuda.MemFree_v2(device->retired.memory[k]);
    for (int k = 0; k < 2; k++)
        if (device->download_done[k] != NULL) wk__cuda.EventDestroy_v2(device->download_done[k]);
    if (device->download_buffer != NULL) wk__cuda.MemFreeHost(device->download_buffer);
    if (device->arguments != 0) wk__cuda.MemFree_v2(device->arguments);
    if (device->scratch != 0) wk__cuda.MemFree_v2(device->scratch);
    if (device->fault != 0) wk__cuda.MemFree_v2(device->fault);
    if (device->stream != NULL) wk__cuda.StreamDestroy_v2(device->stream);
}

static wk_code prepare(wk__cuda_device *device, wk__fail *fail)
{
    if (device->lost) return wk__cuda_fail_lost(device, fail);
    CUresult error = wk__cuda.StreamCreate(&device->stream, CU_STREAM_NON_BLOCKING);
    device->staging.stream = device->stream;
    if (error == CUDA_SUCCESS) error = wk__cuda.MemAlloc_v2(&device->fault, sizeof(wk__gpu_fault));
    if (error == CUDA_SUCCESS) error = wk__cuda.MemsetD8Async(device->fault, 0, sizeof(wk__gpu_fault), device->stream);
    return error == CUDA_SUCCESS ? WK_OK : wk__cuda_fail_set(device, fail, error, "opening the device");
}

static void free_device(wk__cuda_device *device)
{
    if (device->context != NULL) wk__cuda.DevicePrimaryCtxRelease_v2(device->card->id);
    pthread_mutex_destroy(&device->lock);
    pthread_mutex_destroy(&device->ranges_lock);
    pthread_mutex_destroy(&device->mapping_lock);
    pthread_mutex_destroy(&device->download_lock);
    wk__free(device);
}

/* Fails if another process has exclusive use of the card, or NVRTC doesn't support it. */
static wk_code retain(wk__cuda_device *device, wk__fail *fail)
{
    const wk__cuda_device_desc *card = device->card;
    if (card->compiled_for == 0)
        return wk__fail_set(fail, WK_ERR_DEVICE,
                            "%s does not support this GPU (sm_%d); install an older one (apt install libnvrtc12) and "
                            "set WICK_CUDA_PATH",
                            card->gpu.compiler_id, card->architecture);
    const CUresult error = wk__cuda.DevicePrimaryCtxRetain(&device->context, card->id);
    if (error == CUDA_SUCCESS) {
        device->id = id_of(device->context);
        return WK_OK;
    }
    device->context = NULL;
    if (error == CUDA_ERROR_DEVICE_UNAVAILABLE) {
        int mode = 0;
        wk__cuda.DeviceGetAttribute(&mode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, card->id);
        return wk__fail_set(fail, WK_ERR_DEVICE, "%s",
                            mode == CU_COMPUTEMODE_PROHIBITED
                                ? "the compute mode of this GPU is Prohibited; as root, run nvidia-smi -c DEFAULT"
                                : "another process has exclusive use of this GPU; see nvidia-smi");
    }
    return wk__cuda_fail_set(device, fail, error, "opening the device");
}

/* Determines the memory used by opening the context, by the change of free memory. It is 0 if another library had
 * already opened the context. */
static void note_context(wk__cuda_device *device, int64_t before)
{
    const int64_t now = wk__cuda_free_bytes(device->card);
    if (before >= 0 && now >= 0) device->context_bytes = wk__max_i64(before - now - (int64_t)sizeof(wk__gpu_fault), 0);
}

static wk_code open_device(int index, void **out, wk__fail *fail)
{
    const wk__cuda_device_desc *card = wk__cuda_device_desc_at(index, fail);
    if (card == NULL) return fail->code;
    if (wk__gpu_is_forked_child(WK__GPU_CUDA))
        return wk__fail_set(
            fail, WK_ERR_STATE,
            "this process was forked after its parent queried CUDA devices; query them in the child only");
    wk__cuda_device *device = wk__alloc_zero(1, sizeof *device);
    if (device == NULL) return wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory to open the device");
    device->card = card;
    device->needs_ptx = card->needs_ptx;
    pthread_mutex_init(&device->lock, NULL);
    pthread_mutex_init(&device->ranges_lock, NULL);
    pthread_mutex_init(&device->mapping_lock, NULL);
    pthread_mutex_init(&device->download_lock, NULL);
    const int64_t before = wk__cuda_free_bytes(card);
    wk_code code = retain(device, fail);
    if (code == WK_OK) code = wk__cuda_lock(device, fail);
    if (code == WK_OK) {
        wk__gpu_kernel_cache_init(&device->kernel_cache, &wk__cuda_compiler, device, &device->card->gpu);
        code = prepare(device, fail);
        if (code != WK_OK) end(device);
        wk__cuda_unlock(device);
    }
    if (code != WK_OK) {
        free_device(device);
        return code;
    }
    note_context(device, before);
    *out = device;
    return WK_OK;
}

static void close_device(void *user)
{
    wk__cuda_device *device = user;
    wk__fail fail;
    if (device == NULL || wk__gpu_is_forked_child(WK__GPU_CUDA)) return;
    if (wk__cuda_lock(device, &fail) == WK_OK) {
        if (device->calls.pushed && !device->was_reset) {
            wk__cuda_hazard_join(device);
            wk__cuda.StreamSynchronize(device->stream);
        }
        end(device);
        wk__cuda_unlock(device);
    }
    free_device(device);
}

const wk__backend wk__cuda_backend = {
    .abi_version = WK__BACKEND_VERSION,
    .kind = WK_CUDA,
    .name = "cuda",
    .status = wk__cuda_status,
    .count = wk__cuda_count,
    .info = wk__cuda_info,
    .open = open_device,
    .close = close_device,
    .block_alloc = wk__cuda_block_alloc,
    .block_free = wk__cuda_block_free,
    .supports = wk__cuda_supports,
    .submit = wk__cuda_submit,
    .upload = wk__cuda_upload,
    .copy = wk__cuda_copy,
    .download = wk__cuda_download,
    .sync = wk__cuda_sync,
    .transfer = wk__cuda_transfer,
    .min_overlap_bytes = WK__LARGE_BYTES + 1, /* smaller allocations share blocks, which have one order */
    .compile_only = wk__cuda_compile_only,
    .event_record = wk__cuda_event_record,
    .event_wait = wk__cuda_event_wait,
    .event_elapsed = wk__cuda_event_elapsed,
    .event_destroy = wk__cuda_event_destroy,
    .live_info = wk__cuda_live_info,
    .range_reserve = wk__cuda_range_reserve,
    .range_release = wk__cuda_range_release,
    .range_map = wk__cuda_range_map,
    .range_unmap = wk__cuda_range_unmap,
    .range_carve = wk__cuda_range_carve,
    .usage = wk__cuda_usage,
    .event_query = wk__cuda_event_query,
    .has_p2p = wk__cuda_has_p2p,
};
