/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the device, and the ways in and out of it. */
#include "../gpu/forks.h"
#include "device.h"

#include "../../base/integers.h"

#include <string.h>

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

wk_code wk__cuda_block_take(void *user, int64_t bytes, wk__memory *block, wk__fail *fail)
{
    wk__cuda_device *device = user;
    wk_code code = wk__cuda_enter(device, fail);
    if (code != WK_OK) return code;
    CUdeviceptr memory = 0;
    if (device->gone) {
        code = wk__cuda_gone(device, fail);
    } else {
        const CUresult error = wk__cuda.MemAlloc_v2(&memory, (size_t)bytes);
        if (error != CUDA_SUCCESS) code = wk__cuda_failed(device, fail, error, "taking device memory");
    }
    wk__cuda_leave(device);
    if (code == WK_OK) *block = (wk__memory){.block = (void *)(uintptr_t)memory, .bytes = bytes};
    return code;
}

void wk__cuda_free(wk__cuda_device *device, CUdeviceptr memory)
{
    wk__cuda_calls calls;
    wk__fail fail;
    pthread_mutex_lock(&device->lock);
    const bool was_reset = device->was_reset;
    pthread_mutex_unlock(&device->lock);
    if (was_reset) return; /* what is at that address now is somebody else's */
    CUresult error = wk__cuda_begin(device->context, &calls);
    if (error == CUDA_SUCCESS) error = wk__cuda.MemFree_v2(memory);
    wk__cuda_end(&calls);
    if (error == CUDA_SUCCESS) return;
    pthread_mutex_lock(&device->lock);
    wk__cuda_failed(device, &fail, error, "giving device memory back");
    pthread_mutex_unlock(&device->lock);
}

void wk__cuda_block_give(void *user, wk__memory *block)
{
    if (wk__gpu_forked(WK__GPU_CUDA)) return;
    wk__cuda_free(user, wk__cuda_address(block, 0));
    *block = (wk__memory){0};
}

void wk__cuda_usage(void *user, wk__memory_usage *usage)
{
    wk__cuda_device *device = user;
    wk__fail fail;
    size_t available, total;
    if (wk__cuda_enter(device, &fail) != WK_OK) return;
    usage->library = (int64_t)sizeof(wk__gpu_fault) + device->scratch_bytes + device->retired.bytes +
                     (device->arguments != 0 ? WK__CUDA_ARGUMENTS : 0);
    usage->context = device->context_bytes;
    if (!device->gone && wk__cuda.MemGetInfo_v2(&available, &total) == CUDA_SUCCESS) {
        usage->used = (int64_t)(total - available);
        usage->total = (int64_t)total;
    }
    wk__cuda_leave(device);
}

/* ---- host to device ---------------------------------------------------------------------------------------------- */

/* In slots of locked memory. Holds the lock. */
static wk_code upload_parts(wk__cuda_device *device, wk__cuda_staging *staging, CUdeviceptr to, const char *from,
                            int64_t bytes, wk__fail *fail)
{
    for (int64_t at = 0, part; at < bytes; at += part) {
        part = wk__least(bytes - at, WK__CUDA_SLOT);
        void *staged = wk__cuda_staging_take(device, staging, part, fail);
        if (staged == NULL) return fail->code;
        memcpy(staged, from + at, (size_t)part);
        const CUresult error = wk__cuda.MemcpyHtoDAsync_v2(to + (CUdeviceptr)at, staged, (size_t)part, staging->stream);
        if (error != CUDA_SUCCESS) return wk__cuda_failed(device, fail, error, "copying to the device");
    }
    return WK_OK;
}

/* The other stream knows of as much as has been enqueued. */
static wk_code upload_large(wk__cuda_device *device, const wk__memory *to, int64_t offset, const void *from,
                            int64_t bytes, wk__fail *fail)
{
    CUresult error = wk__cuda_order_begin_copy(device, WK__CUDA_UPLOADS, to->block);
    if (error != CUDA_SUCCESS) return wk__cuda_failed(device, fail, error, "waiting for the device's work");
    device->large.stream = device->order.copies[WK__CUDA_UPLOADS].stream;
    wk_code code = upload_parts(device, &device->large, wk__cuda_address(to, offset), from, bytes, fail);
    error = wk__cuda_order_end_copy(device, WK__CUDA_UPLOADS, to->block);
    return code != WK_OK || error == CUDA_SUCCESS ? code
                                                  : wk__cuda_failed(device, fail, error, "copying to the device");
}

static wk_code upload_small(wk__cuda_device *device, const wk__memory *to, int64_t offset, const void *from,
                            int64_t bytes, wk__fail *fail)
{
    const CUresult error = wk__cuda_order_use(device, to->block);
    if (error != CUDA_SUCCESS) return wk__cuda_failed(device, fail, error, "copying to the device");
    return upload_parts(device, &device->staging, wk__cuda_address(to, offset), from, bytes, fail);
}

wk_code wk__cuda_upload(void *user, const wk__memory *to, int64_t offset, const void *from, int64_t bytes,
                        wk__fail *fail)
{
    wk__cuda_device *device = user;
    wk_code code = wk__cuda_enter(device, fail);
    if (code != WK_OK) return code;
    if (bytes > 0 && !device->gone)
        code = (bytes < WK__CUDA_SLOT ? upload_small : upload_large)(device, to, offset, from, bytes, fail);
    wk__cuda_leave(device);
    return code;
}

/* ---- within the device ------------------------------------------------------------------------------------------- */

wk_code wk__cuda_copy(void *user, const wk__memory *to, int64_t to_offset, const wk__memory *from, int64_t from_offset,
                      int64_t bytes, wk__fail *fail)
{
    wk__cuda_device *device = user;
    if (bytes == 0) return WK_OK;
    wk_code code = wk__cuda_enter(device, fail);
    if (code != WK_OK) return code;
    if (!device->gone) {
        CUresult error = wk__cuda_order_use(device, from->block);
        if (error == CUDA_SUCCESS) error = wk__cuda_order_use(device, to->block);
        if (error == CUDA_SUCCESS)
            error = wk__cuda.MemcpyDtoDAsync_v2(wk__cuda_address(to, to_offset), wk__cuda_address(from, from_offset),
                                                (size_t)bytes, device->stream);
        if (error != CUDA_SUCCESS) code = wk__cuda_failed(device, fail, error, "copying on the device");
    }
    wk__cuda_leave(device);
    return code;
}

/* ---- device to host, and waiting --------------------------------------------------------------------------------- */

/* Memory of the host where what is read arrives: two halves in turns, then the fault word. */
enum { HALF = 4 << 20, LANDING = 2 * HALF + WK__ALIGN };

static int32_t *raised_of(const wk__cuda_device *device)
{
    return (int32_t *)(void *)(device->landing + 2 * HALF);
}

static wk_code provide_landing(wk__cuda_device *device, wk__fail *fail)
{
    if (device->landing != NULL) return WK_OK;
    void *host = NULL;
    CUresult error = CUDA_SUCCESS;
    for (int k = 0; k < 2 && error == CUDA_SUCCESS; k++)
        if (device->landed[k] == NULL) error = wk__cuda.EventCreate(&device->landed[k], WK__CUDA_EVENT);
    if (error == CUDA_SUCCESS) error = wk__cuda.MemHostAlloc(&host, LANDING, 0);
    if (error != CUDA_SUCCESS) return wk__cuda_failed(device, fail, error, "taking host memory for copies");
    device->landing = host;
    return WK_OK;
}

/* What a download asks the device for: the fault word, which tells of all work before, then part by part. */
typedef struct reading {
    wk__cuda_device *device;
    char *to;
    const wk__memory *from;
    int64_t offset, bytes;
    wk__cuda_retired retired; /* what no work uses any more when this has come */
} reading;

static int64_t parts_of(const reading *r)
{
    return r->bytes > HALF ? (r->bytes + HALF - 1) / HALF : 1;
}

static int64_t bytes_of(const reading *r, int64_t part)
{
    return wk__least(r->bytes - part * HALF, HALF);
}

/* Holds the lock. */
static CUresult request(const reading *r, int64_t part)
{
    wk__cuda_device *device = r->device;
    const int half = (int)(part % 2);
    CUresult error = CUDA_SUCCESS;
    if (part == 0)
        error = wk__cuda.MemcpyDtoHAsync_v2(raised_of(device), device->fault, sizeof(int32_t), device->stream);
    if (error == CUDA_SUCCESS && r->bytes > 0)
        error = wk__cuda.MemcpyDtoHAsync_v2(device->landing + half * HALF,
                                            wk__cuda_address(r->from, r->offset + part * HALF),
                                            (size_t)bytes_of(r, part), device->stream);
    return error == CUDA_SUCCESS ? wk__cuda.EventRecord(device->landed[half], device->stream) : error;
}

static void take(const reading *r, int64_t part)
{
    if (r->bytes > 0) memcpy(r->to + part * HALF, r->device->landing + part % 2 * HALF, (size_t)bytes_of(r, part));
}

/* Several parts, both halves on their way at a time. Holds the lock: what others submit meanwhile comes later, as all
 * of this is one moment of the device's work. */
static CUresult read_parts(const reading *r)
{
    CUresult error = CUDA_SUCCESS;
    for (int64_t part = 0; part < parts_of(r) && error == CUDA_SUCCESS; part++) {
        if (part + 1 < parts_of(r)) error = request(r, part + 1);
        if (error == CUDA_SUCCESS) error = wk__cuda_wait(r->device->landed[part % 2]);
        if (error == CUDA_SUCCESS) take(r, part);
    }
    return error;
}

/* Waits without the lock: others submit meanwhile. */
static wk_code await_part(const reading *r, wk__fail *fail)
{
    wk__cuda_device *device = r->device;
    const CUresult error = wk__cuda_await(device, device->landed[0]);
    if (error == CUDA_SUCCESS) {
        take(r, 0);
        return WK_OK;
    }
    pthread_mutex_lock(&device->lock);
    const wk_code code = wk__cuda_failed(device, fail, error, "waiting for the device");
    pthread_mutex_unlock(&device->lock);
    return code;
}

/* The marks arrive, and are none from then on. */
static CUresult fetch_fault(const wk__cuda_device *device)
{
    _Static_assert(sizeof(wk__gpu_fault) <= HALF, "the marks land in a half");
    CUresult error = wk__cuda.MemcpyDtoHAsync_v2(device->landing, device->fault, sizeof(wk__gpu_fault), device->stream);
    if (error == CUDA_SUCCESS) error = wk__cuda.MemsetD8Async(device->fault, 0, sizeof(wk__gpu_fault), device->stream);
    if (error == CUDA_SUCCESS) error = wk__cuda.EventRecord(device->landed[0], device->stream);
    return error == CUDA_SUCCESS ? wk__cuda_wait(device->landed[0]) : error;
}

/* The word is raised: what happened, which is then forgotten. */
static wk_code read_fault(wk__cuda_device *device, wk__fail *fail)
{
    wk_code code = wk__cuda_enter(device, fail);
    if (code != WK_OK) return code;
    if (device->gone) {
        code = wk__cuda_gone(device, fail);
    } else {
        const CUresult error = fetch_fault(device);
        code = error == CUDA_SUCCESS ? wk__gpu_fault_told((const wk__gpu_fault *)(const void *)device->landing, fail)
                                     : wk__cuda_failed(device, fail, error, "waiting for the device");
    }
    wk__cuda_leave(device);
    return code;
}

static wk_code read_all(reading *r, wk__fail *fail)
{
    wk__cuda_device *device = r->device;
    wk_code code = wk__cuda_enter(device, fail);
    if (code != WK_OK) return code;
    code = device->gone ? wk__cuda_gone(device, fail) : provide_landing(device, fail);
    if (code == WK_OK) {
        r->retired = device->retired;
        device->retired = (wk__cuda_retired){0};
        CUresult error = r->from != NULL ? wk__cuda_order_use(device, r->from->block) : wk__cuda_order_all(device);
        if (error == CUDA_SUCCESS) error = request(r, 0);
        if (error == CUDA_SUCCESS && parts_of(r) > 1) error = read_parts(r);
        if (error != CUDA_SUCCESS) code = wk__cuda_failed(device, fail, error, "copying from the device");
    }
    wk__cuda_leave(device);
    if (code == WK_OK && parts_of(r) == 1) code = await_part(r, fail);
    return code == WK_OK && *raised_of(device) ? read_fault(device, fail) : code;
}

static wk_code read_device(wk__cuda_device *device, void *to, const wk__memory *from, int64_t offset, int64_t bytes,
                           wk__fail *fail)
{
    reading r = {.device = device, .to = to, .from = from, .offset = offset, .bytes = bytes};
    if (wk__gpu_forked(WK__GPU_CUDA)) return wk__cuda_enter(device, fail); /* another thread may have been reading */
    pthread_mutex_lock(&device->reading);
    wk_code code = read_all(&r, fail);
    if (code == WK_ERR_LOST) code = wk__cuda_tell_gone(device, from != NULL, fail);
    pthread_mutex_unlock(&device->reading);
    for (int k = 0; k < r.retired.count; k++) wk__cuda_free(device, r.retired.memory[k]);
    return code;
}

wk_code wk__cuda_download(void *user, void *to, const wk__memory *from, int64_t offset, int64_t bytes, wk__fail *fail)
{
    return read_device(user, to, from, offset, bytes, fail);
}

wk_code wk__cuda_sync(void *user, wk__fail *fail)
{
    return read_device(user, NULL, NULL, 0, 0, fail);
}
