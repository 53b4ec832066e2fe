/* SPDX-License-Identifier: Apache-2.0 */
/* A device's worker thread and its command queue: bounded, in order. Asynchronous failures are kept for the next call
 * that waits (poison.c). */
#include "device.h"
#include "base/pool.h"

#include <string.h>

enum { MAX_PENDING = 1024, BATCH = 32 };
static const int64_t max_staged = (int64_t)64 << 20;

/* ---- failures ---------------------------------------------------------------------------------------------------- */

wk_code wk__cl_fail_set(wk__fail *fail, cl_int error, const char *what)
{
    char room[32];
    const char *name = wk__cl_error(error, room);
    switch (error) {
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_HOST_MEMORY:
    case CL_INVALID_BUFFER_SIZE: return wk__fail_set(fail, WK_ERR_MEMORY, "%s: out of memory (%s)", what, name);
    case CL_DEVICE_NOT_AVAILABLE:
    case CL_OUT_OF_RESOURCES: return wk__fail_set(fail, WK_ERR_DEVICE_LOST, "%s: device lost (%s)", what, name);
    default: return wk__fail_set(fail, WK_ERR_INTERNAL, "%s: %s", what, name);
    }
}

/* Reads and clears the fault record if a fault was raised. */
static wk_code read_fault(wk__cl_device *device, wk__fail *fail)
{
    static const wk__gpu_fault none;
    wk__gpu_fault found = none;
    cl_int error =
        wk__cl.EnqueueReadBuffer(device->queue, device->fault, true, 0, sizeof found.raised, &found, 0, NULL, NULL);
    if (error == CL_SUCCESS && found.raised) {
        error = wk__cl.EnqueueReadBuffer(device->queue, device->fault, true, 0, sizeof found, &found, 0, NULL, NULL);
        wk__cl.EnqueueWriteBuffer(device->queue, device->fault, true, 0, sizeof none, &none, 0, NULL, NULL);
    }
    if (error != CL_SUCCESS) return wk__cl_fail_set(fail, error, "waiting for the device");
    return wk__gpu_fault_report(&found, fail);
}

wk_code wk__cl_check_faults(wk__cl_device *device, wk__fail *fail)
{
    wk_code code = device->lost == NULL ? read_fault(device, fail) : WK_OK;
    if (code == WK_OK || code == WK_ERR_INDEX) return code;
    wk__cl_set_device_lost(device, fail);
    return WK_OK;
}

/* ---- batches ----------------------------------------------------------------------------------------------------- */

static void free_done(wk__cl_device *device, wk__cl_command *commands)
{
    int64_t staged = 0;
    for (const wk__cl_command *command = commands; command != NULL; command = command->next) staged += command->staged;
    wk__cl_commands_free(commands);
    pthread_mutex_lock(&device->lock);
    device->staged -= staged;
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->lock);
}

/* Waiting fails if anything that was enqueued failed; the driver does not specify what. */
static void check_wait(wk__cl_device *device, cl_int error)
{
    if (error == CL_SUCCESS || device->lost != NULL) return;
    char room[32];
    wk__fail fail;
    wk__fail_set(&fail, WK_ERR_DEVICE_LOST, "waiting for the device: device lost (%s)", wk__cl_error(error, room));
    wk__cl_set_device_lost(device, &fail);
}

void wk__cl_finish(wk__cl_device *device)
{
    check_wait(device, wk__cl.Finish(device->queue));
}

/* Waits for the oldest batch, then starts a new one, so that the driver never has more commands than the batches. */
static void next_batch(wk__cl_device *device)
{
    wk__cl_batch *oldest = &device->batch[WK__CL_BATCHES - 1];
    if (oldest->end != NULL) {
        check_wait(device, wk__cl.WaitForEvents(1, &oldest->end));
        wk__cl.ReleaseEvent(oldest->end);
    }
    free_done(device, oldest->commands);
    if (wk__cl.EnqueueMarkerWithWaitList(device->queue, 0, NULL, &device->batch[0].end) != CL_SUCCESS) {
        device->batch[0].end = NULL;
        wk__cl_finish(device);
    }
    wk__cl.Flush(device->queue);
    memmove(device->batch + 1, device->batch, (WK__CL_BATCHES - 1) * sizeof device->batch[0]);
    device->batch[0] = (wk__cl_batch){0};
    device->in_batch = 0;
}

static void end_batches(wk__cl_device *device)
{
    wk__cl_finish(device);
    for (int k = 0; k < WK__CL_BATCHES; k++) next_batch(device);
}

/* ---- worker thread ----------------------------------------------------------------------------------------------- */

/* The command is kept if the driver still reads from it, or it represents poisoned memory. */
static void perform_unwatched(wk__cl_device *device, wk__cl_command *command)
{
    bool stays = wk__cl_perform_async(device, command);
    if (command->in_flight) {
        command->next = device->batch[0].commands;
        device->batch[0].commands = command;
        return;
    }
    pthread_mutex_lock(&device->lock);
    device->staged -= command->staged;
    pthread_mutex_unlock(&device->lock);
    if (!stays) wk__cl_command_free(command);
}

static void perform(wk__cl_device *device, wk__cl_command *command)
{
    wk__cl_waiter *waiter = command->waiter;
    const bool paused = command->paused;
    wk__alloc_untracked pause;
    wk_code code = WK_OK;
    if (paused) wk__alloc_untracked_begin(&pause);
    if (waiter == NULL)
        perform_unwatched(device, command);
    else
        code = command->perform(device, command, waiter->fail);
    if (paused) wk__alloc_untracked_end(&pause);
    if (++device->in_batch >= BATCH) next_batch(device);
    pthread_mutex_lock(&device->lock);
    device->pending--;
    if (waiter != NULL) {
        waiter->code = code;
        waiter->done = true;
    }
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->lock);
}

static wk__cl_command *take_command(wk__cl_device *device)
{
    pthread_mutex_lock(&device->lock);
    if (device->first == NULL) { /* idle: make sure that the driver works on what it has */
        pthread_mutex_unlock(&device->lock);
        wk__cl.Flush(device->queue);
        pthread_mutex_lock(&device->lock);
    }
    while (device->first == NULL && !device->stopping) {
        if (device->blocked_pushers > 0 && device->staged > 0) { /* only the driver can free space now */
            pthread_mutex_unlock(&device->lock);
            end_batches(device);
            pthread_mutex_lock(&device->lock);
        } else {
            device->is_idle = true;
            pthread_cond_broadcast(&device->changed);
            pthread_cond_wait(&device->changed, &device->lock);
            device->is_idle = false;
        }
    }
    wk__cl_command *command = device->first;
    if (command != NULL) {
        device->first = command->next;
        if (device->first == NULL) device->last = NULL;
    }
    pthread_mutex_unlock(&device->lock);
    return command;
}

static void *worker_main(void *user)
{
    wk__cl_device *device = user;
    for (wk__cl_command *command; (command = take_command(device)) != NULL;) perform(device, command);
    end_batches(device);
    return NULL;
}

wk_code wk__cl_worker_start(wk__cl_device *device, wk__fail *fail)
{
    pthread_mutex_init(&device->lock, NULL);
    pthread_cond_init(&device->changed, NULL);
    if (wk__thread_start(&device->thread, worker_main, device)) return WK_OK;
    return wk__fail_set(fail, WK_ERR_MEMORY, "cannot create a thread for the device");
}

void wk__cl_worker_stop(wk__cl_device *device)
{
    pthread_mutex_lock(&device->lock);
    bool first = !device->stopping;
    device->stopping = true;
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->lock);
    if (first) pthread_join(device->thread, NULL);
}

/* ---- pushing commands -------------------------------------------------------------------------------------------- */

void *wk__cl_command_new(size_t size, wk__cl_perform *perform_it, wk__fail *fail)
{
    wk__cl_command *command = wk__alloc_zero(1, size);
    if (command == NULL) {
        wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory for a command of %zu bytes", size);
        return NULL;
    }
    command->perform = perform_it;
    command->first = command->writes = true;
    return command;
}

void wk__cl_command_free(wk__cl_command *command)
{
    wk__origin_release(command->origin);
    wk__free(command);
}

void wk__cl_commands_free(wk__cl_command *commands)
{
    for (wk__cl_command *next; commands != NULL; commands = next) {
        next = commands->next;
        wk__cl_command_free(commands);
    }
}

/* The lock is held. A command larger than the limit is accepted if nothing else is queued. If the first command of a
 * call fits, all are accepted: they are few, and contain no data. */
static bool has_room(const wk__cl_device *device, const wk__cl_command *command)
{
    return device->pending < MAX_PENDING && (device->staged == 0 || device->staged + command->staged <= max_staged);
}

/* The lock is held. */
static void append(wk__cl_device *device, wk__cl_command *commands)
{
    const bool paused = wk__alloc_is_untracked();
    if (device->last != NULL)
        device->last->next = commands;
    else
        device->first = commands;
    for (; commands != NULL; commands = commands->next) {
        device->last = commands;
        device->pending++;
        device->staged += commands->staged;
        commands->paused = paused;
    }
    pthread_cond_broadcast(&device->changed);
}

static wk_code push(wk__cl_device *device, wk__cl_command *commands, wk__fail *fail)
{
    if (wk__gpu_is_forked_child(WK__GPU_OPENCL)) {
        return wk__fail_set(fail, WK_ERR_STATE,
                            "this process was forked from one that uses OpenCL; fork before the first use");
    }
    pthread_mutex_lock(&device->lock);
    if (!device->stopping && !has_room(device, commands)) {
        device->blocked_pushers++;
        pthread_cond_broadcast(&device->changed);
        while (!device->stopping && !has_room(device, commands)) pthread_cond_wait(&device->changed, &device->lock);
        device->blocked_pushers--;
    }
    const bool stopping = device->stopping;
    if (!stopping) append(device, commands);
    pthread_mutex_unlock(&device->lock);
    return stopping ? wk__fail_set(fail, WK_ERR_STATE, "the device is closed") : WK_OK;
}

wk_code wk__cl_push(wk__cl_device *device, wk__cl_command *commands, wk__fail *fail)
{
    wk_code code = push(device, commands, fail);
    if (code != WK_OK) wk__cl_commands_free(commands);
    return code;
}

wk_code wk__cl_push_and_wait(wk__cl_device *device, wk__cl_command *command, wk__fail *fail)
{
    wk__cl_waiter waiter = {.fail = fail};
    command->waiter = &waiter;
    command->staged = 0;
    command->next = NULL;
    wk_code code = push(device, command, fail);
    if (code == WK_OK) {
        pthread_mutex_lock(&device->lock);
        while (!waiter.done) pthread_cond_wait(&device->changed, &device->lock);
        pthread_mutex_unlock(&device->lock);
        code = waiter.code;
    }
    command->waiter = NULL;
    return code;
}

static wk_code perform_finish(wk__cl_device *device, wk__cl_command *command, wk__fail *fail)
{
    (void)command;
    (void)fail;
    wk__cl_finish(device);
    return WK_OK;
}

void wk__cl_drain(wk__cl_device *device)
{
    wk__fail fail;
    wk__cl_command finish = {.perform = perform_finish};
    if (wk__cl_push_and_wait(device, &finish, &fail) != WK_OK) return;
    pthread_mutex_lock(&device->lock);
    while (!device->is_idle && !device->stopping) pthread_cond_wait(&device->changed, &device->lock);
    pthread_mutex_unlock(&device->lock);
}
