/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory, uploads, copies and downloads. */
#include "backend/gpu/fork_guard.h"
#include "device.h"

#include "base/integers.h"

#include <string.h>

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

wk_code wk__cuda_block_alloc(void *user, int64_t bytes, wk__memory *block, wk__fail *fail)
{
    wk__cuda_device *device = user;
    wk_code code = wk__cuda_lock(device, fail);
    if (code != WK_OK) return code;
    CUdeviceptr memory = 0;
    if (device->lost) {
        code = wk__cuda_fail_lost(device, fail);
    } else {
        const CUresult error = wk__cuda.MemAlloc_v2(&memory, (size_t)bytes);
        if (error != CUDA_SUCCESS) code = wk__cuda_fail_set(device, fail, error, "allocating device memory");
    }
    wk__cuda_unlock(device);
    if (code == WK_OK) *block = (wk__memory){.block = (void *)(uintptr_t)memory, .bytes = bytes};
    return code;
}

void wk__cuda_free(wk__cuda_device *device, CUdeviceptr memory)
{
    wk__cuda_context_guard calls;
    wk__fail fail;
    pthread_mutex_lock(&device->lock);
    const bool was_reset = device->was_reset;
    pthread_mutex_unlock(&device->lock);
    if (was_reset) return; /* the address may belong to another library now */
    CUresult error = wk__cuda_push_context(device->context, &calls);
    if (error == CUDA_SUCCESS) error = wk__cuda.MemFree_v2(memory);
    wk__cuda_pop_context(&calls);
    if (error == CUDA_SUCCESS) return;
    pthread_mutex_lock(&device->lock);
    wk__cuda_fail_set(device, &fail, error, "freeing device memory");
    pthread_mutex_unlock(&device->lock);
}

void wk__cuda_block_free(void *user, wk__memory *block)
{
    if (wk__gpu_is_forked_child(WK__GPU_CUDA)) return;
    wk__cuda_free(user, wk__cuda_address(block, 0));
    *block = (wk__memory){0};
}

void wk__cuda_usage(void *user, wk__memory_usage *usage)
{
    wk__cuda_device *device = user;
    wk__fail fail;
    size_t available, total;
    if (wk__cuda_lock(device, &fail) != WK_OK) return;
    usage->library = (int64_t)sizeof(wk__gpu_fault) + device->scratch_bytes + device->retired.bytes +
                     (device->arguments != 0 ? WK__CUDA_ARGUMENTS : 0);
    usage->context = device->context_bytes;
    if (!device->lost && wk__cuda.MemGetInfo_v2(&available, &total) == CUDA_SUCCESS) {
        usage->used = (int64_t)(total - available);
        usage->total = (int64_t)total;
    }
    wk__cuda_unlock(device);
}

/* ---- uploads ----------------------------------------------------------------------------------------------------- */

/* Copies through slots of pinned memory. The lock is held. */
static wk_code upload_parts(wk__cuda_device *device, wk__cuda_staging *staging, CUdeviceptr to, const char *from,
                            int64_t bytes, wk__fail *fail)
{
    for (int64_t at = 0, part; at < bytes; at += part) {
        part = wk__min_i64(bytes - at, WK__CUDA_SLOT);
        void *staged = wk__cuda_staging_alloc(device, staging, part, fail);
        if (staged == NULL) return fail->code;
        memcpy(staged, from + at, (size_t)part);
        const CUresult error = wk__cuda.MemcpyHtoDAsync_v2(to + (CUdeviceptr)at, staged, (size_t)part, staging->stream);
        if (error != CUDA_SUCCESS) return wk__cuda_fail_set(device, fail, error, "copying to the device");
    }
    return WK_OK;
}

/* The copy stream waits for the work that has been enqueued so far. */
static wk_code upload_large(wk__cuda_device *device, const wk__memory *to, int64_t offset, const void *from,
                            int64_t bytes, wk__fail *fail)
{
    CUresult error = wk__cuda_hazard_begin_copy(device, WK__CUDA_STREAM_H2D, to->block);
    if (error != CUDA_SUCCESS) return wk__cuda_fail_set(device, fail, error, "waiting for the device");
    device->upload_staging.stream = device->order.copies[WK__CUDA_STREAM_H2D].stream;
    wk_code code = upload_parts(device, &device->upload_staging, wk__cuda_address(to, offset), from, bytes, fail);
    error = wk__cuda_hazard_end_copy(device, WK__CUDA_STREAM_H2D, to->block);
    return code != WK_OK || error == CUDA_SUCCESS ? code
                                                  : wk__cuda_fail_set(device, fail, error, "copying to the device");
}

static wk_code upload_small(wk__cuda_device *device, const wk__memory *to, int64_t offset, const void *from,
                            int64_t bytes, wk__fail *fail)
{
    const CUresult error = wk__cuda_hazard_use(device, to->block);
    if (error != CUDA_SUCCESS) return wk__cuda_fail_set(device, fail, error, "copying to the device");
    return upload_parts(device, &device->staging, wk__cuda_address(to, offset), from, bytes, fail);
}

wk_code wk__cuda_upload(void *user, const wk__memory *to, int64_t offset, const void *from, int64_t bytes,
                        wk__fail *fail)
{
    wk__cuda_device *device = user;
    wk_code code = wk__cuda_lock(device, fail);
    if (code != WK_OK) return code;
    if (bytes > 0 && !device->lost)
        code = (bytes < WK__CUDA_SLOT ? upload_small : upload_large)(device, to, offset, from, bytes, fail);
    wk__cuda_unlock(device);
    return code;
}

/* ---- copies within the device ------------------------------------------------------------------------------------ */

wk_code wk__cuda_copy(void *user, const wk__memory *to, int64_t to_offset, const wk__memory *from, int64_t from_offset,
                      int64_t bytes, wk__fail *fail)
{
    wk__cuda_device *device = user;
    if (bytes == 0) return WK_OK;
    wk_code code = wk__cuda_lock(device, fail);
    if (code != WK_OK) return code;
    if (!device->lost) {
        CUresult error = wk__cuda_hazard_use(device, from->block);
        if (error == CUDA_SUCCESS) error = wk__cuda_hazard_use(device, to->block);
        if (error == CUDA_SUCCESS)
            error = wk__cuda.MemcpyDtoDAsync_v2(wk__cuda_address(to, to_offset), wk__cuda_address(from, from_offset),
                                                (size_t)bytes, device->stream);
        if (error != CUDA_SUCCESS) code = wk__cuda_fail_set(device, fail, error, "copying on the device");
    }
    wk__cuda_unlock(device);
    return code;
}

/* ---- downloads and synchronization ------------------------------------------------------------------------------- */

/* Pinned host memory for downloads: two halves used in turn, then the fault word. */
enum { HALF = 4 << 20, LANDING = 2 * HALF + WK__ALIGN };

static int32_t *fault_raised(const wk__cuda_device *device)
{
    return (int32_t *)(void *)(device->download_buffer + 2 * HALF);
}

static wk_code ensure_download_buffer(wk__cuda_device *device, wk__fail *fail)
{
    if (device->download_buffer != NULL) return WK_OK;
    void *host = NULL;
    CUresult error = CUDA_SUCCESS;
    for (int k = 0; k < 2 && error == CUDA_SUCCESS; k++)
        if (device->download_done[k] == NULL) error = wk__cuda.EventCreate(&device->download_done[k], WK__CUDA_EVENT);
    if (error == CUDA_SUCCESS) error = wk__cuda.MemHostAlloc(&host, LANDING, 0);
    if (error != CUDA_SUCCESS) return wk__cuda_fail_set(device, fail, error, "allocating host memory for copies");
    device->download_buffer = host;
    return WK_OK;
}

/* A download: requests the fault word, which covers all earlier work, then the data in parts. */
typedef struct download {
    wk__cuda_device *device;
    char *to;
    const wk__memory *from;
    int64_t offset, bytes;
    wk__cuda_retired retired; /* unused by any work once this has completed */
} download;

static int64_t parts_of(const download *r)
{
    return r->bytes > HALF ? (r->bytes + HALF - 1) / HALF : 1;
}

static int64_t bytes_of(const download *r, int64_t part)
{
    return wk__min_i64(r->bytes - part * HALF, HALF);
}

/* The lock is held. */
static CUresult request(const download *r, int64_t part)
{
    wk__cuda_device *device = r->device;
    const int half = (int)(part % 2);
    CUresult error = CUDA_SUCCESS;
    if (part == 0)
        error = wk__cuda.MemcpyDtoHAsync_v2(fault_raised(device), device->fault, sizeof(int32_t), device->stream);
    if (error == CUDA_SUCCESS && r->bytes > 0)
        error = wk__cuda.MemcpyDtoHAsync_v2(device->download_buffer + half * HALF,
                                            wk__cuda_address(r->from, r->offset + part * HALF),
                                            (size_t)bytes_of(r, part), device->stream);
    return error == CUDA_SUCCESS ? wk__cuda.EventRecord(device->download_done[half], device->stream) : error;
}

static void take(const download *r, int64_t part)
{
    if (r->bytes > 0)
        memcpy(r->to + part * HALF, r->device->download_buffer + part % 2 * HALF, (size_t)bytes_of(r, part));
}

/* Reads several parts, with up to two in flight. The lock is held, so that work of other threads follows the entire
 * download. */
static CUresult read_parts(const download *r)
{
    CUresult error = CUDA_SUCCESS;
    for (int64_t part = 0; part < parts_of(r) && error == CUDA_SUCCESS; part++) {
        if (part + 1 < parts_of(r)) error = request(r, part + 1);
        if (error == CUDA_SUCCESS) error = wk__cuda_wait(r->device->download_done[part % 2]);
        if (error == CUDA_SUCCESS) take(r, part);
    }
    return error;
}

/* Waits without the lock, so that other threads can submit meanwhile. */
static wk_code await_part(const download *r, wk__fail *fail)
{
    wk__cuda_device *device = r->device;
    const CUresult error = wk__cuda_wait_unlocked(device, device->download_done[0]);
    if (error == CUDA_SUCCESS) {
        take(r, 0);
        return WK_OK;
    }
    pthread_mutex_lock(&device->lock);
    const wk_code code = wk__cuda_fail_set(device, fail, error, "waiting for the device");
    pthread_mutex_unlock(&device->lock);
    return code;
}

/* Reads and clears the fault record. */
static CUresult fetch_fault(const wk__cuda_device *device)
{
    _Static_assert(sizeof(wk__gpu_fault) <= HALF, "the marks land in a half");
    CUresult error =
        wk__cuda.MemcpyDtoHAsync_v2(device->download_buffer, device->fault, sizeof(wk__gpu_fault), device->stream);
    if (error == CUDA_SUCCESS) error = wk__cuda.MemsetD8Async(device->fault, 0, sizeof(wk__gpu_fault), device->stream);
    if (error == CUDA_SUCCESS) error = wk__cuda.EventRecord(device->download_done[0], device->stream);
    return error == CUDA_SUCCESS ? wk__cuda_wait(device->download_done[0]) : error;
}

/* Reads and clears the fault record after the fault word was set. */
static wk_code read_fault(wk__cuda_device *device, wk__fail *fail)
{
    wk_code code = wk__cuda_lock(device, fail);
    if (code != WK_OK) return code;
    if (device->lost) {
        code = wk__cuda_fail_lost(device, fail);
    } else {
        const CUresult error = fetch_fault(device);
        code = error == CUDA_SUCCESS
                   ? wk__gpu_fault_report((const wk__gpu_fault *)(const void *)device->download_buffer, fail)
                   : wk__cuda_fail_set(device, fail, error, "waiting for the device");
    }
    wk__cuda_unlock(device);
    return code;
}

static wk_code read_all(download *r, wk__fail *fail)
{
    wk__cuda_device *device = r->device;
    wk_code code = wk__cuda_lock(device, fail);
    if (code != WK_OK) return code;
    code = device->lost ? wk__cuda_fail_lost(device, fail) : ensure_download_buffer(device, fail);
    if (code == WK_OK) {
        r->retired = device->retired;
        device->retired = (wk__cuda_retired){0};
        CUresult error = r->from != NULL ? wk__cuda_hazard_use(device, r->from->block) : wk__cuda_hazard_join(device);
        if (error == CUDA_SUCCESS) error = request(r, 0);
        if (error == CUDA_SUCCESS && parts_of(r) > 1) error = read_parts(r);
        if (error != CUDA_SUCCESS) code = wk__cuda_fail_set(device, fail, error, "copying from the device");
    }
    wk__cuda_unlock(device);
    if (code == WK_OK && parts_of(r) == 1) code = await_part(r, fail);
    return code == WK_OK && *fault_raised(device) ? read_fault(device, fail) : code;
}

static wk_code read_device(wk__cuda_device *device, void *to, const wk__memory *from, int64_t offset, int64_t bytes,
                           wk__fail *fail)
{
    download r = {.device = device, .to = to, .from = from, .offset = offset, .bytes = bytes};
    if (wk__gpu_is_forked_child(WK__GPU_CUDA))
        return wk__cuda_lock(device, fail); /* another thread may have held download_lock during the fork */
    pthread_mutex_lock(&device->download_lock);
    wk_code code = read_all(&r, fail);
    if (code == WK_ERR_DEVICE_LOST) code = wk__cuda_report_lost(device, from != NULL, fail);
    pthread_mutex_unlock(&device->download_lock);
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
