/* SPDX-License-Identifier: Apache-2.0 */
/* Pinned host memory from which the device copies asynchronously. */
#include "device.h"

/* Freed only with the device, because the device may still read it. */
wk_code wk__cuda_staging_init(wk__cuda_device *device, wk__cuda_staging *staging, wk__fail *fail)
{
    void *host = NULL;
    if (staging->host != NULL) return WK_OK;
    CUresult error = CUDA_SUCCESS;
    for (int k = 0; k < WK__CUDA_SLOTS && error == CUDA_SUCCESS; k++)
        if (staging->end[k] == NULL) error = wk__cuda.EventCreate(&staging->end[k], WK__CUDA_EVENT);
    if (error == CUDA_SUCCESS) error = wk__cuda.MemHostAlloc(&host, (size_t)WK__CUDA_SLOTS * WK__CUDA_SLOT, 0);
    if (error != CUDA_SUCCESS) return wk__cuda_fail_set(device, fail, error, "allocating host memory for copies");
    staging->host = host;
    return WK_OK;
}

/* Finishes the slot and starts the next one, after the device has copied its previous contents. If waiting fails, the
 * full slot remains current. */
static CUresult next_slot(wk__cuda_staging *staging)
{
    const int next = (staging->slot + 1) % WK__CUDA_SLOTS;
    CUresult error = wk__cuda.EventRecord(staging->end[staging->slot], staging->stream);
    if (error != CUDA_SUCCESS) return error;
    staging->in_flight[staging->slot] = true;
    if (staging->in_flight[next]) error = wk__cuda_wait(staging->end[next]);
    if (error != CUDA_SUCCESS) return error;
    staging->in_flight[next] = false;
    staging->slot = next;
    staging->used = 0;
    return CUDA_SUCCESS;
}

void *wk__cuda_staging_alloc(wk__cuda_device *device, wk__cuda_staging *staging, int64_t bytes, wk__fail *fail)
{
    if (wk__cuda_staging_init(device, staging, fail) != WK_OK) return NULL;
    const int64_t rounded = (bytes + WK__ALIGN - 1) / WK__ALIGN * WK__ALIGN;
    if (staging->used + rounded > WK__CUDA_SLOT) {
        const CUresult error = next_slot(staging);
        if (error != CUDA_SUCCESS) {
            wk__cuda_fail_set(device, fail, error, "waiting for copies to the device");
            return NULL;
        }
    }
    char *room = staging->host + (int64_t)staging->slot * WK__CUDA_SLOT + staging->used;
    staging->used += rounded;
    return room;
}

void wk__cuda_staging_destroy(wk__cuda_staging *staging)
{
    for (int k = 0; k < WK__CUDA_SLOTS; k++)
        if (staging->end[k] != NULL) wk__cuda.EventDestroy_v2(staging->end[k]);
    if (staging->host != NULL) wk__cuda.MemFreeHost(staging->host);
}
