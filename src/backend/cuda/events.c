/* SPDX-License-Identifier: Apache-2.0 */
/* Events, measured by the device's clock. */
#include "backend/event.h"
#include "backend/gpu/fork_guard.h"
#include "device.h"

/* Represents an event that was recorded on a lost device: complete, without a time. */
static char lost_event;

wk_code wk__cuda_event_record(void *user, void **out, wk__fail *fail)
{
    wk__cuda_device *device = user;
    CUevent event = NULL;
    wk_code code = wk__cuda_lock(device, fail);
    if (code != WK_OK) return code;
    if (!device->lost) {
        CUresult error = wk__cuda.EventCreate(&event, CU_EVENT_BLOCKING_SYNC);
        if (error == CUDA_SUCCESS) {
            error = wk__cuda_hazard_join(device);
            if (error == CUDA_SUCCESS) error = wk__cuda.EventRecord(event, device->stream);
            if (error != CUDA_SUCCESS) {
                wk__cuda.EventDestroy_v2(event);
                event = NULL;
            }
        }
        if (error != CUDA_SUCCESS) code = wk__cuda_fail_set(device, fail, error, "recording an event");
    }
    if (device->lost) code = WK_OK; /* like other work for a lost device */
    *out = device->lost ? &lost_event : (void *)event;
    wk__cuda_unlock(device);
    return code;
}

/* Handles the result of waiting for an event, which happens without the lock, because others hold it while they
 * compile. Events of a lost device must not be passed to the driver: they may have been destroyed with the context. */
static wk_code finish_wait(wk__cuda_device *device, CUresult error, wk__fail *fail)
{
    if (error == CUDA_SUCCESS && !device->lost) return WK_OK;
    pthread_mutex_lock(&device->lock);
    wk_code code = error == CUDA_SUCCESS ? WK_OK : wk__cuda_fail_set(device, fail, error, "waiting for the device");
    if (device->lost) code = wk__cuda_fail_lost(device, fail);
    pthread_mutex_unlock(&device->lock);
    return code == WK_ERR_DEVICE_LOST ? wk__cuda_report_lost(device, false, fail) : code;
}

wk_code wk__cuda_event_wait(void *user, void *event, wk__fail *fail)
{
    if (wk__gpu_is_forked_child(WK__GPU_CUDA))
        return wk__fail_set(fail, WK_ERR_STATE, "this process was forked from the one that recorded the event");
    wk__cuda_device *device = user;
    return finish_wait(device, device->lost ? CUDA_SUCCESS : wk__cuda_wait_unlocked(device, event), fail);
}

bool wk__cuda_event_query(void *user, void *event)
{
    wk__cuda_device *device = user;
    wk__cuda_context_guard calls;
    if (device->lost) return true;
    const CUresult error = wk__cuda_push_context(device->context, &calls);
    const bool come = error != CUDA_SUCCESS || wk__cuda.EventQuery(event) != CUDA_ERROR_NOT_READY;
    wk__cuda_pop_context(&calls);
    return come;
}

wk_code wk__cuda_event_elapsed(void *user, void *from, void *to, double *seconds, wk__fail *fail)
{
    wk__cuda_device *device = user;
    float milliseconds = 0;
    wk_code code = wk__cuda_lock(device, fail);
    if (code != WK_OK) return code;
    if (device->lost) {
        code = wk__cuda_fail_lost(device, fail);
    } else {
        const CUresult error = wk__cuda.EventElapsedTime(&milliseconds, from, to);
        if (error == CUDA_ERROR_NOT_READY)
            code = wk__event_not_ready(fail);
        else if (error != CUDA_SUCCESS)
            code = wk__cuda_fail_set(device, fail, error, "measuring the time between two events");
    }
    wk__cuda_unlock(device);
    *seconds = 1e-3 * (double)milliseconds;
    return code;
}

void wk__cuda_event_destroy(void *user, void *event)
{
    wk__cuda_device *device = user;
    wk__fail fail;
    if (event == &lost_event || wk__cuda_lock(device, &fail) != WK_OK) return;
    if (device->calls.pushed && !device->was_reset) wk__cuda.EventDestroy_v2(event);
    wk__cuda_unlock(device);
}
