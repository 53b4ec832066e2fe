/* SPDX-License-Identifier: Apache-2.0 */
/* Moments in a device's work, by its own clock. */
#include "../event.h"
#include "../gpu/forks.h"
#include "device.h"

/* A moment of a device that was gone before: it has come, and no time is known of it. */
static char after_the_end;

wk_code wk__cuda_event_record(void *user, void **out, wk__fail *fail)
{
    wk__cuda_device *device = user;
    CUevent event = NULL;
    wk_code code = wk__cuda_enter(device, fail);
    if (code != WK_OK) return code;
    if (!device->gone) {
        CUresult error = wk__cuda.EventCreate(&event, CU_EVENT_BLOCKING_SYNC);
        if (error == CUDA_SUCCESS) {
            error = wk__cuda_order_all(device);
            if (error == CUDA_SUCCESS) error = wk__cuda.EventRecord(event, device->stream);
            if (error != CUDA_SUCCESS) {
                wk__cuda.EventDestroy_v2(event);
                event = NULL;
            }
        }
        if (error != CUDA_SUCCESS) code = wk__cuda_failed(device, fail, error, "recording an event");
    }
    if (device->gone) code = WK_OK; /* as all work that is given to it now */
    *out = device->gone ? &after_the_end : (void *)event;
    wk__cuda_leave(device);
    return code;
}

/* What has become of the wait for one. Who looks or waits asks without the lock, which others hold while they compile.
 * The moments of a device that is gone are not named to the driver any more: they may have gone with the context. */
static wk_code come(wk__cuda_device *device, CUresult error, wk__fail *fail)
{
    if (error == CUDA_SUCCESS && !device->gone) return WK_OK;
    pthread_mutex_lock(&device->lock);
    wk_code code = error == CUDA_SUCCESS ? WK_OK : wk__cuda_failed(device, fail, error, "waiting for the device");
    if (device->gone) code = wk__cuda_gone(device, fail);
    pthread_mutex_unlock(&device->lock);
    return code == WK_ERR_LOST ? wk__cuda_tell_gone(device, false, fail) : code;
}

wk_code wk__cuda_event_wait(void *user, void *event, wk__fail *fail)
{
    if (wk__gpu_forked(WK__GPU_CUDA))
        return wk__fail_set(fail, WK_ERR_STATE, "this process was forked from the one that recorded the event");
    wk__cuda_device *device = user;
    return come(device, device->gone ? CUDA_SUCCESS : wk__cuda_await(device, event), fail);
}

bool wk__cuda_event_query(void *user, void *event)
{
    wk__cuda_device *device = user;
    wk__cuda_calls calls;
    if (device->gone) return true;
    const CUresult error = wk__cuda_begin(device->context, &calls);
    const bool come = error != CUDA_SUCCESS || wk__cuda.EventQuery(event) != CUDA_ERROR_NOT_READY;
    wk__cuda_end(&calls);
    return come;
}

wk_code wk__cuda_event_elapsed(void *user, void *from, void *to, double *seconds, wk__fail *fail)
{
    wk__cuda_device *device = user;
    float milliseconds = 0;
    wk_code code = wk__cuda_enter(device, fail);
    if (code != WK_OK) return code;
    if (device->gone) {
        code = wk__cuda_gone(device, fail);
    } else {
        const CUresult error = wk__cuda.EventElapsedTime(&milliseconds, from, to);
        if (error == CUDA_ERROR_NOT_READY)
            code = wk__event_has_not_come(fail);
        else if (error != CUDA_SUCCESS)
            code = wk__cuda_failed(device, fail, error, "the time between two events");
    }
    wk__cuda_leave(device);
    *seconds = 1e-3 * (double)milliseconds;
    return code;
}

void wk__cuda_event_give(void *user, void *event)
{
    wk__cuda_device *device = user;
    wk__fail fail;
    if (event == &after_the_end || wk__cuda_enter(device, &fail) != WK_OK) return;
    if (device->calls.current && !device->was_reset) wk__cuda.EventDestroy_v2(event);
    wk__cuda_leave(device);
}
