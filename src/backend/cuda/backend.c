/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA backend's table, opening and closing a device, and what becomes of one that gives up. */
#include "../../base/clock.h"
#include "../arena_cache.h"
#include "../backend.h"
#include "../gpu/forks.h"
#include "compiling.h"
#include "device.h"

#include "../../base/integers.h"

#include <stdio.h>

/* ---- calls of the driver ----------------------------------------------------------------------------------------- */

CUresult wk__cuda_begin(CUcontext context, wk__cuda_calls *calls)
{
    const CUresult error = wk__cuda.CtxPushCurrent_v2(context);
    calls->current = error == CUDA_SUCCESS;
    calls->mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    calls->relaxed = calls->current && wk__cuda.ThreadExchangeStreamCaptureMode(&calls->mode) == CUDA_SUCCESS;
    return error;
}

void wk__cuda_end(wk__cuda_calls *calls)
{
    CUcontext before;
    if (!calls->current) return;
    if (calls->relaxed) wk__cuda.ThreadExchangeStreamCaptureMode(&calls->mode);
    wk__cuda.CtxPopCurrent_v2(&before);
    calls->current = false;
}

wk_code wk__cuda_enter(wk__cuda_device *device, wk__fail *fail)
{
    if (wk__gpu_forked(WK__GPU_CUDA))
        return wk__fail_set(fail, WK_ERR_STATE,
                            "this process was forked from one that uses CUDA: fork before the first use");
    wk__nvrtc_watch_thread();
    pthread_mutex_lock(&device->lock);
    const CUresult error = wk__cuda_begin(device->context, &device->calls);
    if (error == CUDA_SUCCESS) return WK_OK;
    const wk_code code = wk__cuda_failed(device, fail, error, "making the device current");
    if (device->gone) return WK_OK;
    pthread_mutex_unlock(&device->lock);
    return code;
}

void wk__cuda_leave(wk__cuda_device *device)
{
    wk__cuda_end(&device->calls);
    pthread_mutex_unlock(&device->lock);
}

CUresult wk__cuda_wait(CUevent event)
{
    enum { PATIENCE = 50000 };
    const int64_t end = wk__nanoseconds() + PATIENCE;
    CUresult error;
    while ((error = wk__cuda.EventQuery(event)) == CUDA_ERROR_NOT_READY && wk__nanoseconds() < end) {
    }
    return error == CUDA_ERROR_NOT_READY ? wk__cuda.EventSynchronize(event) : error;
}

CUresult wk__cuda_await(const wk__cuda_device *device, CUevent event)
{
    wk__cuda_calls calls;
    CUresult error = wk__cuda_begin(device->context, &calls);
    if (error == CUDA_SUCCESS) error = wk__cuda_wait(event);
    wk__cuda_end(&calls);
    return error;
}

/* After such an error a context does nothing more, whatever it is asked. */
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

/* 0: the driver has no such numbers, or doesn't tell it. */
static unsigned long long id_of(CUcontext context)
{
    unsigned long long id = 0;
    return wk__cuda.CtxGetId != NULL && wk__cuda.CtxGetId(context, &id) == CUDA_SUCCESS ? id : 0;
}

/* Somebody has reset the context. If somebody also uses it again, at the same address, its number is another. */
static bool was_reset(const wk__cuda_device *device, CUresult error)
{
    if (error == CUDA_ERROR_INVALID_CONTEXT || error == CUDA_ERROR_INVALID_HANDLE ||
        error == CUDA_ERROR_CONTEXT_IS_DESTROYED)
        return true;
    const unsigned long long id = device->id != 0 ? id_of(device->context) : 0;
    return id != 0 && id != device->id;
}

wk_code wk__cuda_failed(wk__cuda_device *device, wk__fail *fail, CUresult error, const char *what)
{
    char room[32];
    const char *name = wk__cuda_error(error, room);
    if (error == CUDA_ERROR_OUT_OF_MEMORY)
        return wk__fail_set(fail, WK_ERR_MEMORY, "%s: out of memory (%s)", what, name);
    const bool reset = was_reset(device, error);
    if (!reset && !ends_context(error)) return wk__fail_set(fail, WK_ERR_INTERNAL, "%s: %s", what, name);
    wk__fail_set(
        fail, WK_ERR_LOST,
        "%s: the device gave up (%s). What it had is lost, other devices go on; another process can use it again", what,
        name);
    if (!device->gone) snprintf(device->why, sizeof device->why, "%s", fail->text);
    device->gone = true;
    device->was_reset = device->was_reset || reset;
    return WK_ERR_LOST;
}

wk_code wk__cuda_gone(const wk__cuda_device *device, wk__fail *fail)
{
    return wk__fail_set(fail, WK_ERR_LOST, "%s", device->why);
}

wk_code wk__cuda_tell_gone(wk__cuda_device *device, bool reads, wk__fail *fail)
{
    pthread_mutex_lock(&device->lock);
    const bool told = device->told;
    device->told = true;
    pthread_mutex_unlock(&device->lock);
    fail->lost = reads;
    fail->elsewhere = !reads;
    return reads || !told ? WK_ERR_LOST : WK_OK;
}

/* ---- a device ---------------------------------------------------------------------------------------------------- */

/* Of what was made before the call that failed, and what is in use. What a context had that was reset went with it, and
 * of that nothing may be named to the driver. */
static void end(wk__cuda_device *device)
{
    const bool is_there = device->calls.current && !device->was_reset;
    device->units.programs_are_gone = !is_there;
    wk__gpu_units_end(&device->units);
    wk__free(device->planned);
    if (!is_there) return;
    wk__cuda_order_end(device);
    wk__cuda_staging_end(&device->staging);
    wk__cuda_staging_end(&device->large);
    for (int k = 0; k < device->retired.count; k++) wk__cuda.MemFree_v2(device->retired.memory[k]);
    for (int k = 0; k < 2; k++)
        if (device->landed[k] != NULL) wk__cuda.EventDestroy_v2(device->landed[k]);
    if (device->landing != NULL) wk__cuda.MemFreeHost(device->landing);
    if (device->arguments != 0) wk__cuda.MemFree_v2(device->arguments);
    if (device->scratch != 0) wk__cuda.MemFree_v2(device->scratch);
    if (device->fault != 0) wk__cuda.MemFree_v2(device->fault);
    if (device->stream != NULL) wk__cuda.StreamDestroy_v2(device->stream);
}

static wk_code prepare(wk__cuda_device *device, wk__fail *fail)
{
    if (device->gone) return wk__cuda_gone(device, fail);
    CUresult error = wk__cuda.StreamCreate(&device->stream, CU_STREAM_NON_BLOCKING);
    device->staging.stream = device->stream;
    if (error == CUDA_SUCCESS) error = wk__cuda.MemAlloc_v2(&device->fault, sizeof(wk__gpu_fault));
    if (error == CUDA_SUCCESS) error = wk__cuda.MemsetD8Async(device->fault, 0, sizeof(wk__gpu_fault), device->stream);
    return error == CUDA_SUCCESS ? WK_OK : wk__cuda_failed(device, fail, error, "opening the device");
}

static void free_device(wk__cuda_device *device)
{
    if (device->context != NULL) wk__cuda.DevicePrimaryCtxRelease_v2(device->card->id);
    pthread_mutex_destroy(&device->lock);
    pthread_mutex_destroy(&device->cutting);
    pthread_mutex_destroy(&device->mapping);
    pthread_mutex_destroy(&device->reading);
    wk__free(device);
}

/* The card may be another process's alone, or too old for the compiler. */
static wk_code retain(wk__cuda_device *device, wk__fail *fail)
{
    const wk__cuda_card *card = device->card;
    if (card->compiled_for == 0)
        return wk__fail_set(fail, WK_ERR_DEVICE,
                            "%s does not compile for this card (sm_%d): install an older one "
                            "(apt install libnvrtc12), and name its folder in WICK_CUDA_PATH",
                            card->gpu.made_for, card->architecture);
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
                                ? "nobody may compute on this card: nvidia-smi -c DEFAULT, as root, allows it"
                                : "another process has the card for itself: nvidia-smi shows which, and its compute "
                                  "mode");
    }
    return wk__cuda_failed(device, fail, error, "opening the device");
}

/* What opening the device took, by what others saw. It is nothing where the context was another library's already. */
static void note_context(wk__cuda_device *device, int64_t before)
{
    const int64_t now = wk__cuda_available(device->card);
    if (before >= 0 && now >= 0) device->context_bytes = wk__most(before - now - (int64_t)sizeof(wk__gpu_fault), 0);
}

static wk_code open_device(int index, void **out, wk__fail *fail)
{
    const wk__cuda_card *card = wk__cuda_card_at(index, fail);
    if (card == NULL) return fail->code;
    if (wk__gpu_forked(WK__GPU_CUDA))
        return wk__fail_set(fail, WK_ERR_STATE,
                            "this process was forked after its parent had asked for CUDA devices: ask in the child "
                            "alone");
    wk__cuda_device *device = wk__alloc_zero(1, sizeof *device);
    if (device == NULL) return wk__fail_set(fail, WK_ERR_MEMORY, "no host memory to open the device");
    device->card = card;
    device->takes_text = card->as_ptx;
    pthread_mutex_init(&device->lock, NULL);
    pthread_mutex_init(&device->cutting, NULL);
    pthread_mutex_init(&device->mapping, NULL);
    pthread_mutex_init(&device->reading, NULL);
    const int64_t before = wk__cuda_available(card);
    wk_code code = retain(device, fail);
    if (code == WK_OK) code = wk__cuda_enter(device, fail);
    if (code == WK_OK) {
        wk__gpu_units_begin(&device->units, &wk__cuda_compiler, device, &device->card->gpu);
        code = prepare(device, fail);
        if (code != WK_OK) end(device);
        wk__cuda_leave(device);
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
    if (device == NULL || wk__gpu_forked(WK__GPU_CUDA)) return;
    if (wk__cuda_enter(device, &fail) == WK_OK) {
        if (device->calls.current && !device->was_reset) {
            wk__cuda_order_all(device);
            wk__cuda.StreamSynchronize(device->stream);
        }
        end(device);
        wk__cuda_leave(device);
    }
    free_device(device);
}

const wk__backend wk__cuda_backend = {
    .version = WK__BACKEND_VERSION,
    .kind = WK_CUDA,
    .name = "cuda",
    .presence = wk__cuda_presence,
    .count = wk__cuda_count,
    .info = wk__cuda_info,
    .open = open_device,
    .close = close_device,
    .block_take = wk__cuda_block_take,
    .block_give = wk__cuda_block_give,
    .supports = wk__cuda_supports,
    .submit = wk__cuda_submit,
    .upload = wk__cuda_upload,
    .copy = wk__cuda_copy,
    .download = wk__cuda_download,
    .sync = wk__cuda_sync,
    .transfer = wk__cuda_transfer,
    .beside = WK__LARGE + 1, /* smaller pieces share blocks, whose order is one */
    .gather = wk__cuda_gather,
    .event_record = wk__cuda_event_record,
    .event_wait = wk__cuda_event_wait,
    .event_elapsed = wk__cuda_event_elapsed,
    .event_give = wk__cuda_event_give,
    .now = wk__cuda_now,
    .range_take = wk__cuda_range_take,
    .range_give = wk__cuda_range_give,
    .range_map = wk__cuda_range_map,
    .range_unmap = wk__cuda_range_unmap,
    .range_cut = wk__cuda_range_cut,
    .usage = wk__cuda_usage,
    .event_query = wk__cuda_event_query,
    .direct = wk__cuda_direct,
};
