/* SPDX-License-Identifier: Apache-2.0 */
/* Moments in a device's work, by its own clock. */
#include "../gpu/forks.h"
#include "device.h"

wk_code wk__cuda_event_record(void *user, void **out, wk__fail *fail)
{
    wk__cuda_device *device = user;
    CUevent event = NULL;
    wk_code code = wk__cuda_enter(device, fail);
    if (code != WK_OK) return code;
    if (device->gone) {
        code = wk__cuda_gone(device, fail);
    } else {
        CUresult error = wk__cuda.EventCreate(&event, CU_EVENT_DEFAULT);
        if (error == CUDA_SUCCESS) {
            error = wk__cuda.EventRecord(event, device->stream);
            if (error != CUDA_SUCCESS) wk__cuda.EventDestroy_v2(event);
        }
        if (error != CUDA_SUCCESS) code = wk__cuda_failed(device, fail, error, "recording an event");
    }
    wk__cuda_leave(device);
    if (code == WK_OK) *out = event;
    return code;
}

/* Fills *fail if the driver said so. Does not hold the lock. */
static wk_code said(wk__cuda_device *device, CUresult error, const char *what, wk__fail *fail)
{
    if (error == CUDA_SUCCESS) return WK_OK;
    pthread_mutex_lock(&device->lock);
    const wk_code code = wk__cuda_failed(device, fail, error, what);
    pthread_mutex_unlock(&device->lock);
    return code;
}

wk_code wk__cuda_event_wait(void *user, void *event, wk__fail *fail)
{
    if (wk__gpu_forked())
        return wk__fail_set(fail, WK_ERR_STATE, "this process was forked from the one that recorded the event");
    return said(user, wk__cuda_await(user, event), "waiting for the device", fail);
}

wk_code wk__cuda_event_elapsed(void *user, void *from, void *to, double *seconds, wk__fail *fail)
{
    wk__cuda_device *device = user;
    float milliseconds = 0;
    wk_code code = wk__cuda_enter(device, fail);
    if (code != WK_OK) return code;
    const CUresult error = wk__cuda.EventElapsedTime(&milliseconds, from, to);
    if (error != CUDA_SUCCESS) code = wk__cuda_failed(device, fail, error, "the time between two events");
    wk__cuda_leave(device);
    *seconds = 1e-3 * (double)milliseconds;
    return code;
}

void wk__cuda_event_give(void *user, void *event)
{
    wk__fail fail;
    if (wk__cuda_enter(user, &fail) != WK_OK) return;
    wk__cuda.EventDestroy_v2(event);
    wk__cuda_leave(user);
}
