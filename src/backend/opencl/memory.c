/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory, uploads, copies and downloads. */
#include "device.h"

#include <string.h>

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

wk_code wk__cl_block_alloc(void *user, int64_t bytes, wk__memory *block, wk__fail *fail)
{
    wk__cl_device *device = user;
    if (bytes > device->card->max_alloc_bytes) {
        char size[WK__FORMAT_BYTES_SIZE], most[WK__FORMAT_BYTES_SIZE];
        return wk__fail_set(fail, WK_ERR_MEMORY, "an allocation of %s exceeds the maximum of this OpenCL device, %s",
                            wk__format_bytes(size, bytes), wk__format_bytes(most, device->card->max_alloc_bytes));
    }
    cl_int error;
    cl_mem memory = wk__cl.CreateBuffer(device->context, CL_MEM_READ_WRITE, (size_t)bytes, NULL, &error);
    if (error != CL_SUCCESS) return wk__cl_fail_set(fail, error, "allocating device memory");
    *block = (wk__memory){.block = memory, .bytes = bytes};
    return WK_OK;
}

typedef struct free_command {
    wk__cl_command base;
    cl_mem memory;
} free_command;

static wk_code perform_free(wk__cl_device *device, wk__cl_command *base, wk__fail *fail)
{
    (void)fail;
    wk__cl_forget_block(device, ((free_command *)base)->memory);
    wk__cl.ReleaseMemObject(((free_command *)base)->memory);
    return WK_OK;
}

/* Commands in the queue may refer to the block, so it is freed after they have been enqueued. */
void wk__cl_block_free(void *user, wk__memory *block)
{
    wk__fail fail;
    if (wk__gpu_is_forked_child(WK__GPU_OPENCL)) return;
    free_command *command = wk__cl_command_new(sizeof *command, perform_free, &fail);
    if (command != NULL) {
        command->base.always = true;
        command->memory = block->block;
        wk__cl_push(user, &command->base, &fail);
    } else { /* out of memory: wait for a command on the stack */
        free_command here = {.base.perform = perform_free, .memory = block->block};
        wk__cl_push_and_wait(user, &here.base, &fail);
    }
    *block = (wk__memory){0};
}

/* ---- uploads ----------------------------------------------------------------------------------------------------- */

enum { STAGED_UPLOAD = 4 << 20 /* larger uploads wait for the device instead of copying to staging memory */ };

typedef struct upload_command {
    wk__cl_command base;
    wk__cl_access use;
    cl_mem to;
    int64_t piece, offset, bytes;
    const void *from; /* the caller's memory, or `staging` */
    char staging[];
} upload_command;

static wk_code perform_upload(wk__cl_device *device, wk__cl_command *base, wk__fail *fail)
{
    upload_command *command = (upload_command *)base;
    bool wait = base->waiter != NULL;
    cl_int error = wk__cl.EnqueueWriteBuffer(device->queue, command->to, wait, (size_t)command->offset,
                                             (size_t)command->bytes, command->from, 0, NULL, NULL);
    base->in_flight = !wait && error == CL_SUCCESS;
    if (wait && error == CL_SUCCESS) wk__cl_unpoison(device, command->to, command->piece);
    return error == CL_SUCCESS ? WK_OK : wk__cl_fail_set(fail, error, "copying to the device");
}

wk_code wk__cl_upload(void *user, const wk__memory *to, int64_t offset, const void *from, int64_t bytes, wk__fail *fail)
{
    if (bytes == 0) return WK_OK;
    upload_command here = {
        .to = to->block, .piece = to->offset, .offset = to->offset + offset, .bytes = bytes, .from = from};
    here.base.perform = perform_upload;
    if (bytes > STAGED_UPLOAD) return wk__cl_push_and_wait(user, &here.base, fail);
    upload_command *command = wk__cl_command_new(sizeof here + (size_t)bytes, perform_upload, fail);
    if (command == NULL) return WK_ERR_MEMORY;
    here.base = command->base;
    memcpy(command, &here, sizeof here);
    memcpy(command->staging, from, (size_t)bytes);
    command->from = command->staging;
    command->base.staged = bytes;
    command->base.use = &command->use;
    command->base.uses = 1;
    wk__cl_access_init(&command->base, &command->use, offset == 0 ? WK__CL_WRITES : WK__CL_WRITES | WK__CL_READS, to,
                       NULL);
    return wk__cl_push(user, &command->base, fail);
}

/* ---- copies within the device ------------------------------------------------------------------------------------ */

typedef struct copy_command {
    wk__cl_command base;
    wk__cl_access use[2];
    cl_mem to, from;
    int64_t to_offset, from_offset, bytes;
} copy_command;

static wk_code perform_copy(wk__cl_device *device, wk__cl_command *base, wk__fail *fail)
{
    const copy_command *c = (const copy_command *)base;
    cl_int error = wk__cl.EnqueueCopyBuffer(device->queue, c->from, c->to, (size_t)c->from_offset, (size_t)c->to_offset,
                                            (size_t)c->bytes, 0, NULL, NULL);
    return error == CL_SUCCESS ? WK_OK : wk__cl_fail_set(fail, error, "copying on the device");
}

wk_code wk__cl_copy(void *user, const wk__memory *to, int64_t to_offset, const wk__memory *from, int64_t from_offset,
                    int64_t bytes, wk__fail *fail)
{
    if (bytes == 0) return WK_OK;
    copy_command *command = wk__cl_command_new(sizeof *command, perform_copy, fail);
    if (command == NULL) return WK_ERR_MEMORY;
    command->to = to->block;
    command->from = from->block;
    command->base.use = command->use;
    command->base.uses = 2;
    wk__cl_access_init(&command->base, &command->use[0], WK__CL_READS, from, NULL);
    wk__cl_access_init(&command->base, &command->use[1], to_offset == 0 ? WK__CL_WRITES : WK__CL_WRITES | WK__CL_READS,
                       to, NULL);
    command->to_offset = to->offset + to_offset;
    command->from_offset = from->offset + from_offset;
    command->bytes = bytes;
    return wk__cl_push(user, &command->base, fail);
}

/* ---- downloads and synchronization ------------------------------------------------------------------------------- */

typedef struct download_command {
    wk__cl_command base;
    cl_mem from; /* NULL: only waits */
    int64_t piece, offset, bytes;
    void *to;
} download_command;

/* Reading the fault word waits for all work, including the copy. Index faults are reported first: the engine determines
 * their effect on this memory. */
static wk_code perform_download(wk__cl_device *device, wk__cl_command *base, wk__fail *fail)
{
    const download_command *c = (const download_command *)base;
    wk__fail copy_failed = {.code = WK_OK};
    bool good = c->from == NULL || wk__cl_poison_of(device, c->from, c->piece) == NULL;
    if (good && c->bytes > 0) {
        cl_int error = wk__cl.EnqueueReadBuffer(device->queue, c->from, false, (size_t)c->offset, (size_t)c->bytes,
                                                c->to, 0, NULL, NULL);
        if (error != CL_SUCCESS) wk__cl_fail_set(&copy_failed, error, "copying from the device");
    } else {
        wk__cl_finish(device);
    }
    wk_code code = wk__cl_check_faults(device, fail);
    if (code != WK_OK) return code;
    wk__cl_failure *cause = c->from == NULL ? NULL : wk__cl_poison_of(device, c->from, c->piece);
    if (cause != NULL) return wk__cl_report(device, cause, fail);
    if (copy_failed.code == WK_OK) return wk__cl_report_next(device, fail);
    *fail = copy_failed;
    return fail->code;
}

wk_code wk__cl_download(void *user, void *to, const wk__memory *from, int64_t offset, int64_t bytes, wk__fail *fail)
{
    download_command command = {.base.perform = perform_download,
                                .from = from->block,
                                .piece = from->offset,
                                .offset = from->offset + offset,
                                .bytes = bytes,
                                .to = to};
    return wk__cl_push_and_wait(user, &command.base, fail);
}

wk_code wk__cl_sync(void *user, wk__fail *fail)
{
    download_command command = {.base.perform = perform_download};
    return wk__cl_push_and_wait(user, &command.base, fail);
}

/* ---- transfers between devices ----------------------------------------------------------------------------------- */

/* Host buffer between two devices: the source's worker fills it; the target's worker waits for that and writes it to
 * the device. Each command owns one reference. A target only waits for earlier commands, so two devices cannot
 * deadlock. */
typedef struct transfer_buffer {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int references;
    bool filled;
    wk_code code;  /* result of filling it */
    wk__fail fail; /* includes the origin, if the source memory is poisoned */
    int64_t bytes;
    char data[];
} transfer_buffer;

typedef struct parcel_command {
    wk__cl_command base;
    wk__cl_access use;
    transfer_buffer *parcel;
    cl_mem memory;
    int64_t piece, offset;
} parcel_command;

enum { PARCEL = 16 << 20 };

static void drop(transfer_buffer *parcel)
{
    pthread_mutex_lock(&parcel->lock);
    bool last = --parcel->references == 0;
    pthread_mutex_unlock(&parcel->lock);
    if (!last) return;
    pthread_mutex_destroy(&parcel->lock);
    pthread_cond_destroy(&parcel->changed);
    wk__fail_release(&parcel->fail);
    wk__free(parcel);
}

static void complete_send(transfer_buffer *parcel, wk_code code, const wk__fail *fail)
{
    pthread_mutex_lock(&parcel->lock);
    parcel->filled = true;
    parcel->code = code;
    if (code != WK_OK) parcel->fail = *fail;
    pthread_cond_broadcast(&parcel->changed);
    pthread_mutex_unlock(&parcel->lock);
    drop(parcel);
}

/* Failures are reported by the receiver, whose memory is affected. */
static wk_code perform_send(wk__cl_device *device, wk__cl_command *base, wk__fail *fail)
{
    const parcel_command *c = (const parcel_command *)base;
    const wk__cl_failure *cause = wk__cl_poison_of(device, c->memory, c->piece);
    wk_code code = WK_OK;
    if (cause != NULL) {
        wk__cl_failure_copy(cause, fail);
        code = fail->code;
    } else {
        cl_int error = wk__cl.EnqueueReadBuffer(device->queue, c->memory, true, (size_t)c->offset,
                                                (size_t)c->parcel->bytes, c->parcel->data, 0, NULL, NULL);
        if (error != CL_SUCCESS) code = wk__cl_fail_set(fail, error, "copying to another device");
    }
    complete_send(c->parcel, code, fail);
    return WK_OK;
}

static wk_code perform_receive(wk__cl_device *device, wk__cl_command *base, wk__fail *fail)
{
    const parcel_command *c = (const parcel_command *)base;
    transfer_buffer *parcel = c->parcel;
    pthread_mutex_lock(&parcel->lock);
    while (!parcel->filled) pthread_cond_wait(&parcel->changed, &parcel->lock);
    pthread_mutex_unlock(&parcel->lock);
    wk_code code = parcel->code;
    if (code != WK_OK) {
        *fail = parcel->fail;
        parcel->fail.origin = NULL; /* now owned by *fail */
        base->from_peer = true;
    }
    if (code == WK_OK) {
        cl_int error = wk__cl.EnqueueWriteBuffer(device->queue, c->memory, true, (size_t)c->offset,
                                                 (size_t)parcel->bytes, parcel->data, 0, NULL, NULL);
        if (error != CL_SUCCESS) code = wk__cl_fail_set(fail, error, "copying from another device");
    }
    drop(parcel);
    return code;
}

static transfer_buffer *new_parcel(int64_t bytes, wk__fail *fail)
{
    transfer_buffer *made = wk__alloc(sizeof *made + (size_t)bytes);
    if (made == NULL) {
        wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory to copy between devices");
        return NULL;
    }
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->changed, NULL);
    made->references = 2;
    made->filled = false;
    made->code = WK_OK;
    made->fail = (wk__fail){.tag = -1};
    made->bytes = bytes;
    return made;
}

static wk_code push_end(wk__cl_device *device, transfer_buffer *parcel, wk__cl_perform *perform,
                        const wk__memory *memory, int64_t at, wk__fail *fail)
{
    parcel_command *command = wk__cl_command_new(sizeof *command, perform, fail);
    if (command == NULL) return WK_ERR_MEMORY;
    command->parcel = parcel;
    command->memory = memory->block;
    command->piece = memory->offset;
    command->offset = memory->offset + at;
    command->base.always = true;
    if (perform == perform_receive) {
        command->base.staged = parcel->bytes;
        command->base.use = &command->use;
        command->base.uses = 1;
        command->base.first = at == 0;
        wk__cl_access_init(&command->base, &command->use, WK__CL_WRITES, memory, NULL);
    }
    return wk__cl_push(device, &command->base, fail);
}

static wk_code transfer_part(wk__cl_device *to_device, const wk__memory *to, wk__cl_device *from_device,
                             const wk__memory *from, int64_t from_offset, int64_t at, int64_t bytes, wk__fail *fail)
{
    transfer_buffer *parcel = new_parcel(bytes, fail);
    if (parcel == NULL) return WK_ERR_MEMORY;
    wk_code code = push_end(from_device, parcel, perform_send, from, from_offset + at, fail);
    if (code != WK_OK) drop(parcel); /* reference of the sender */
    if (code == WK_OK) code = push_end(to_device, parcel, perform_receive, to, at, fail);
    if (code != WK_OK) drop(parcel); /* reference of the receiver */
    return code;
}

wk_code wk__cl_transfer(void *to_device, const wk__memory *to, void *from_device, const wk__memory *from,
                        int64_t from_offset, int64_t bytes, wk__fail *fail)
{
    for (int64_t at = 0; at < bytes; at += PARCEL) {
        int64_t part = bytes - at < PARCEL ? bytes - at : PARCEL;
        wk_code code = transfer_part(to_device, to, from_device, from, from_offset, at, part, fail);
        if (code != WK_OK) return code;
    }
    return WK_OK;
}
