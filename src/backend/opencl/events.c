/* SPDX-License-Identifier: Apache-2.0 */
/* Events: a marker in the device's queue, and the host's clock at its completion. The driver's clock would require
 * profiling of the entire queue, which makes it slower. */
#include "backend/event.h"
#include "device.h"

typedef struct record_command {
    wk__cl_command base;
    wk__event *event;
} record_command;

static void passed(cl_event marker, cl_int status, void *event)
{
    (void)marker;
    wk__fail why;
    if (status < 0) wk__cl_fail_set(&why, status, "waiting for the device");
    wk__event_complete(event, status < 0 ? &why : NULL);
}

static cl_int enqueue(wk__cl_device *device, wk__event *event)
{
    cl_event marker;
    cl_int error = wk__cl.EnqueueMarkerWithWaitList(device->queue, 0, NULL, &marker);
    if (error != CL_SUCCESS) return error;
    error = wk__cl.SetEventCallback(marker, CL_COMPLETE, passed, event);
    wk__cl.ReleaseEvent(marker);
    return error;
}

/* Failures are attributed to the event, not to the device. */
static wk_code perform_record(wk__cl_device *device, wk__cl_command *base, wk__fail *fail)
{
    wk__event *event = ((record_command *)base)->event;
    if (device->lost != NULL) {
        wk__cl_failure_copy(device->lost, fail);
        wk__event_complete(event, fail);
        wk__fail_release(fail);
        return WK_OK;
    }
    cl_int error = enqueue(device, event);
    if (error != CL_SUCCESS) {
        wk__cl_fail_set(fail, error, "recording an event");
        wk__event_complete(event, fail);
    }
    return WK_OK;
}

wk_code wk__cl_event_record(void *user, void **out, wk__fail *fail)
{
    record_command *command = wk__cl_command_new(sizeof *command, perform_record, fail);
    if (command == NULL) return WK_ERR_MEMORY;
    command->base.always = true;
    wk__event *event = wk__event_new(fail);
    if (event == NULL) {
        wk__cl_command_free(&command->base);
        return WK_ERR_MEMORY;
    }
    command->event = event;
    wk_code code = wk__cl_push(user, &command->base, fail);
    if (code == WK_OK) {
        *out = event;
        return WK_OK;
    }
    wk__event_complete(event, fail);
    wk__event_destroy(user, event);
    return code;
}

/* In a forked child no thread would ever complete the event. */
wk_code wk__cl_event_wait(void *user, void *event, wk__fail *fail)
{
    if (wk__gpu_is_forked_child(WK__GPU_OPENCL))
        return wk__fail_set(fail, WK_ERR_STATE, "this process was forked from the one that recorded the event");
    return wk__event_wait(user, event, fail);
}
