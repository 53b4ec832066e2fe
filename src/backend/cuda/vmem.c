/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual address ranges: addresses are reserved once, and memory is mapped for allocations. These driver functions
 * don't use a context and don't wait for the device, so other threads can submit meanwhile. */
#include "backend/gpu/fork_guard.h"
#include "device.h"

#include "base/integers.h"

/* ---- driver support ---------------------------------------------------------------------------------------------- */

static CUmemAllocationProp memory_of(const wk__cuda_device *device)
{
    return (CUmemAllocationProp){.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device->card->id}};
}

static bool has_functions(void)
{
    return wk__cuda.MemGetAllocationGranularity != NULL && wk__cuda.MemAddressReserve != NULL &&
           wk__cuda.MemAddressFree != NULL && wk__cuda.MemCreate != NULL && wk__cuda.MemRelease != NULL &&
           wk__cuda.MemMap != NULL && wk__cuda.MemSetAccess != NULL && wk__cuda.MemUnmap != NULL;
}

static wk_code no_ranges(wk__fail *fail)
{
    return wk__fail_set(fail, WK_ERR_UNSUPPORTED, "the driver does not support virtual memory on this device");
}

/* Returns WK_OK if the driver may be called. Holds the lock only briefly. */
static wk_code check(wk__cuda_device *device, wk__fail *fail)
{
    wk_code code = wk__cuda_lock(device, fail);
    if (code != WK_OK) return code;
    if (device->lost) code = wk__cuda_fail_lost(device, fail);
    wk__cuda_unlock(device);
    return code;
}

/* Converts an error of the driver. */
static wk_code fail_driver(wk__cuda_device *device, wk__fail *fail, CUresult error, const char *what)
{
    if (error == CUDA_SUCCESS) return WK_OK;
    if (error == CUDA_ERROR_NOT_SUPPORTED || error == CUDA_ERROR_NOT_PERMITTED) return no_ranges(fail);
    pthread_mutex_lock(&device->lock);
    const wk_code code = wk__cuda_fail_set(device, fail, error, what);
    pthread_mutex_unlock(&device->lock);
    return code;
}

/* ---- addresses --------------------------------------------------------------------------------------------------- */

static void end_range(wk__cuda_range *range)
{
    wk__free(range->piece);
    wk__free(range->use);
    wk__free(range->mapped);
    wk__free(range);
}

static wk__cuda_range *new_range(int64_t units)
{
    wk__cuda_range *range = wk__alloc_zero(1, sizeof *range);
    if (range == NULL) return NULL;
    range->units = units;
    range->piece = wk__alloc_zero((size_t)units, sizeof *range->piece);
    range->use = wk__alloc_zero((size_t)units, sizeof *range->use);
    range->mapped = wk__alloc_zero((size_t)units, sizeof *range->mapped);
    if (range->piece != NULL && range->use != NULL && range->mapped != NULL) return range;
    end_range(range);
    return NULL;
}

/* Returns the range that contains the block, and the index of the block's first page; NULL if it is in no range. */
static wk__cuda_range *range_of(const wk__cuda_device *device, const void *block, int64_t *unit)
{
    const CUdeviceptr at = (CUdeviceptr)(uintptr_t)block;
    wk__cuda_range *range = device->ranges;
    while (range != NULL && (at < range->at || at - range->at >= (CUdeviceptr)range->units * WK__RANGE_PAGE))
        range = range->next;
    if (range != NULL) *unit = (int64_t)(at - range->at) / WK__RANGE_PAGE;
    return range;
}

static CUresult reserve(const wk__cuda_device *device, wk__cuda_range *range)
{
    wk__cuda_context_guard calls;
    const CUmemAllocationProp memory = memory_of(device);
    size_t granule = 0;
    CUresult error = wk__cuda_push_context(device->context, &calls);
    if (error == CUDA_SUCCESS)
        error = wk__cuda.MemGetAllocationGranularity(&granule, &memory, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (error == CUDA_SUCCESS && (granule == 0 || WK__RANGE_PAGE % granule != 0)) error = CUDA_ERROR_NOT_SUPPORTED;
    if (error == CUDA_SUCCESS)
        error = wk__cuda.MemAddressReserve(&range->at, (size_t)range->units * WK__RANGE_PAGE, WK__RANGE_PAGE, 0, 0);
    wk__cuda_pop_context(&calls);
    return error;
}

/* Reserves at least twice the device's memory, so that fragmentation doesn't prevent large allocations. Addresses cost
 * nothing; if none are available, the arena uses blocks. */
wk_code wk__cuda_range_reserve(void *user, int64_t bytes, wk__memory *range, wk__fail *fail)
{
    wk__cuda_device *device = user;
    if (!device->card->has_vmm || !has_functions()) return no_ranges(fail);
    wk_code code = check(device, fail);
    if (code != WK_OK) return code;
    const int64_t units = wk__max_i64(wk__chunk_count(bytes, WK__RANGE_PAGE),
                                      2 * wk__chunk_count(device->card->gpu.info.memory_total, WK__RANGE_PAGE));
    wk__cuda_range *made = new_range(units);
    if (made == NULL) return wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory");
    const CUresult error = reserve(device, made);
    if (error != CUDA_SUCCESS) {
        end_range(made);
        return error == CUDA_ERROR_OUT_OF_MEMORY ? no_ranges(fail)
                                                 : fail_driver(device, fail, error, "reserving addresses");
    }
    pthread_mutex_lock(&device->lock);
    pthread_mutex_lock(&device->ranges_lock);
    made->next = device->ranges;
    device->ranges = made;
    pthread_mutex_unlock(&device->ranges_lock);
    pthread_mutex_unlock(&device->lock);
    *range = (wk__memory){.block = (void *)(uintptr_t)made->at, .bytes = units * WK__RANGE_PAGE};
    return WK_OK;
}

void wk__cuda_range_release(void *user, wk__memory *memory)
{
    wk__cuda_device *device = user;
    wk__cuda_context_guard calls;
    if (wk__gpu_is_forked_child(WK__GPU_CUDA)) return;
    pthread_mutex_lock(&device->lock);
    pthread_mutex_lock(&device->ranges_lock);
    wk__cuda_range **link = &device->ranges;
    while ((*link)->at != wk__cuda_address(memory, 0)) link = &(*link)->next;
    wk__cuda_range *gone = *link;
    *link = gone->next;
    pthread_mutex_unlock(&device->ranges_lock);
    pthread_mutex_unlock(&device->lock);
    end_range(gone);
    if (wk__cuda_push_context(device->context, &calls) == CUDA_SUCCESS)
        wk__cuda.MemAddressFree(wk__cuda_address(memory, 0), (size_t)memory->bytes);
    wk__cuda_pop_context(&calls);
    *memory = (wk__memory){0};
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* The memory is freed when it is unmapped. */
static CUresult map_one(CUdeviceptr at, size_t bytes, const CUmemAllocationProp *properties)
{
    CUmemGenericAllocationHandle memory;
    CUresult error = wk__cuda.MemCreate(&memory, bytes, properties, 0);
    if (error != CUDA_SUCCESS) return error;
    error = wk__cuda.MemMap(at, bytes, 0, memory, 0);
    const CUresult released = wk__cuda.MemRelease(memory);
    if (error == CUDA_SUCCESS && released != CUDA_SUCCESS) wk__cuda.MemUnmap(at, bytes);
    return error != CUDA_SUCCESS ? error : released;
}

static CUresult give_access(const wk__cuda_device_desc *card, CUdeviceptr at, int64_t bytes)
{
    const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, card->id}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    return wk__cuda.MemSetAccess(at, (size_t)bytes, &access, 1);
}

/* mapping_lock is held. */
static void note_mapped(wk__cuda_device *device, CUdeviceptr at, int64_t bytes, bool mapped)
{
    int64_t unit = 0;
    pthread_mutex_lock(&device->ranges_lock);
    const wk__cuda_range *range = range_of(device, (const void *)(uintptr_t)at, &unit);
    for (int64_t k = 0; k < bytes / WK__RANGE_PAGE; k++) range->mapped[unit + k] = mapped;
    pthread_mutex_unlock(&device->ranges_lock);
}

/* If a call fails, unmaps what was mapped, which nothing can have used. If another card gets no access, copies to it
 * are staged. */
static CUresult map_all(wk__cuda_device *device, CUdeviceptr at, int64_t bytes)
{
    const CUmemAllocationProp properties = memory_of(device);
    wk__fail fail;
    CUresult error = CUDA_SUCCESS;
    int64_t mapped = 0;
    while (mapped < bytes && error == CUDA_SUCCESS) {
        const int64_t part = wk__min_i64(bytes - mapped, WK__RANGE_MAPPING);
        error = map_one(at + (CUdeviceptr)mapped, (size_t)part, &properties);
        if (error == CUDA_SUCCESS) mapped += part;
    }
    if (error == CUDA_SUCCESS) error = give_access(device->card, at, bytes);
    if (error != CUDA_SUCCESS && mapped > 0) wk__cuda.MemUnmap(at, (size_t)mapped);
    if (error != CUDA_SUCCESS) return error;
    for (int k = 0; k < WK__CUDA_MAX_DEVICES; k++)
        if (device->p2p_devices >> k & 1) give_access(wk__cuda_device_desc_at(k, &fail), at, bytes);
    note_mapped(device, at, bytes, true);
    return CUDA_SUCCESS;
}

wk_code wk__cuda_range_map(void *user, const wk__memory *range, int64_t offset, int64_t bytes, wk__fail *fail)
{
    wk__cuda_device *device = user;
    wk__cuda_context_guard calls;
    wk_code code = check(device, fail);
    if (code != WK_OK) return code;
    pthread_mutex_lock(&device->mapping_lock);
    CUresult error = wk__cuda_push_context(device->context, &calls);
    if (error == CUDA_SUCCESS) error = map_all(device, wk__cuda_address(range, offset), bytes);
    wk__cuda_pop_context(&calls);
    pthread_mutex_unlock(&device->mapping_lock);
    return fail_driver(device, fail, error, "mapping device memory");
}

static CUresult unmap(wk__cuda_device *device, CUdeviceptr at, int64_t bytes)
{
    pthread_mutex_lock(&device->mapping_lock);
    const CUresult error = wk__cuda.MemUnmap(at, (size_t)bytes);
    if (error == CUDA_SUCCESS) note_mapped(device, at, bytes, false);
    pthread_mutex_unlock(&device->mapping_lock);
    return error;
}

/* Waits for all submitted work in all streams, because it may use the memory; the receive stream waits for copies from
 * other devices. */
static CUresult await_all(wk__cuda_device *device)
{
    CUstream stream[WK__CUDA_COPY_STREAMS + 1];
    CUresult error = CUDA_SUCCESS;
    pthread_mutex_lock(&device->lock);
    for (int k = 0; k < WK__CUDA_COPY_STREAMS; k++) stream[k] = device->order.copies[k].stream;
    stream[WK__CUDA_COPY_STREAMS] = device->stream;
    pthread_mutex_unlock(&device->lock);
    for (int k = 0; k <= WK__CUDA_COPY_STREAMS && error == CUDA_SUCCESS; k++)
        if (stream[k] != NULL) error = wk__cuda.StreamSynchronize(stream[k]);
    return error;
}

wk_code wk__cuda_range_unmap(void *user, const wk__memory *range, int64_t offset, int64_t bytes, wk__fail *fail)
{
    wk__cuda_device *device = user;
    wk__cuda_context_guard calls;
    wk_code code = check(device, fail);
    if (code != WK_OK) return code;
    CUresult error = wk__cuda_push_context(device->context, &calls);
    if (error == CUDA_SUCCESS) error = await_all(device);
    if (error == CUDA_SUCCESS) error = unmap(device, wk__cuda_address(range, offset), bytes);
    wk__cuda_pop_context(&calls);
    return fail_driver(device, fail, error, "unmapping device memory");
}

/* One call per run of contiguous mapped pages. */
bool wk__cuda_range_share(wk__cuda_device *device, const wk__cuda_device_desc *card)
{
    CUresult error = CUDA_SUCCESS;
    pthread_mutex_lock(&device->mapping_lock);
    for (const wk__cuda_range *range = device->ranges; range != NULL; range = range->next) {
        for (int64_t k = 0, end; k < range->units && error == CUDA_SUCCESS; k = end + 1) {
            for (end = k; end < range->units && range->mapped[end];) end++;
            const CUdeviceptr at = range->at + (CUdeviceptr)(k * WK__RANGE_PAGE);
            if (end > k) error = give_access(card, at, (end - k) * WK__RANGE_PAGE);
        }
    }
    if (error == CUDA_SUCCESS) device->p2p_devices |= UINT64_C(1) << card->ordinal;
    pthread_mutex_unlock(&device->mapping_lock);
    return error == CUDA_SUCCESS;
}

/* ---- allocations ------------------------------------------------------------------------------------------------- */

void wk__cuda_range_carve(void *user, const wk__memory *piece)
{
    wk__cuda_device *device = user;
    int64_t unit;
    pthread_mutex_lock(&device->ranges_lock);
    wk__cuda_range *range = range_of(device, piece->block, &unit);
    if (range != NULL) range->piece[unit] = (int32_t)wk__chunk_count(piece->bytes, WK__RANGE_PAGE);
    pthread_mutex_unlock(&device->ranges_lock);
}

wk__cuda_last_use *wk__cuda_range_last_uses(wk__cuda_device *device, const void *block, int64_t *count)
{
    int64_t unit;
    const wk__cuda_range *range = range_of(device, block, &unit);
    if (range == NULL) return NULL;
    *count = range->piece[unit];
    return &range->use[unit];
}
