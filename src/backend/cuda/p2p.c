/* SPDX-License-Identifier: Apache-2.0 */
/* Direct access between two cards: enables it and verifies that data arrives. Errors are not reported here: copies are
 * staged instead, and a lost device reports that when it copies. */
#include "device.h"

#include <string.h>

static uint64_t bit_of(const wk__cuda_device *device)
{
    return UINT64_C(1) << device->card->ordinal;
}

/* Gives the device access to allocations of the other one's context. *made: this call enabled it, not another library
 * of the process. */
static bool enable_peer_access(const wk__cuda_device *device, const wk__cuda_device *other, bool *made)
{
    wk__cuda_context_guard calls;
    int can = 0;
    if (wk__cuda.DeviceCanAccessPeer(&can, device->card->id, other->card->id) != CUDA_SUCCESS || !can) return false;
    CUresult error = wk__cuda_push_context(device->context, &calls);
    if (error == CUDA_SUCCESS) error = wk__cuda.CtxEnablePeerAccess(other->context, 0);
    wk__cuda_pop_context(&calls);
    *made = error == CUDA_SUCCESS;
    return *made || error == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}

static void disable_peer_access(const wk__cuda_device *device, const wk__cuda_device *other)
{
    wk__cuda_context_guard calls;
    if (wk__cuda_push_context(device->context, &calls) == CUDA_SUCCESS) wk__cuda.CtxDisablePeerAccess(other->context);
    wk__cuda_pop_context(&calls);
}

/* ---- verification ------------------------------------------------------------------------------------------------ */

enum { WORDS = 1 << 14, BYTES = 4 * WORDS };

/* Copies in the same direction as transfer.c, by the source, because writing to another card and reading from it use
 * different paths. The target is cleared first, because it may contain the pattern from before. */
static bool copy_arrives(const wk__cuda_device *source, CUdeviceptr from, const wk__cuda_device *target, CUdeviceptr to,
                         uint32_t *host)
{
    uint32_t *sent = host, *got = host + WORDS;
    wk__cuda_context_guard calls;
    for (uint32_t k = 0; k < WORDS; k++) sent[k] = (k + 1) * 0x9e3779b1u;
    CUresult error = wk__cuda_push_context(target->context, &calls);
    if (error == CUDA_SUCCESS) error = wk__cuda.MemsetD8Async(to, 0, BYTES, target->stream);
    if (error == CUDA_SUCCESS) error = wk__cuda.StreamSynchronize(target->stream);
    wk__cuda_pop_context(&calls);
    if (error != CUDA_SUCCESS) return false;
    error = wk__cuda_push_context(source->context, &calls);
    if (error == CUDA_SUCCESS) error = wk__cuda.MemcpyHtoDAsync_v2(from, sent, BYTES, source->stream);
    if (error == CUDA_SUCCESS)
        error = wk__cuda.MemcpyPeerAsync(to, target->context, from, source->context, BYTES, source->stream);
    if (error == CUDA_SUCCESS) error = wk__cuda.StreamSynchronize(source->stream);
    wk__cuda_pop_context(&calls);
    if (error != CUDA_SUCCESS) return false;
    error = wk__cuda_push_context(target->context, &calls);
    if (error == CUDA_SUCCESS) error = wk__cuda.MemcpyDtoHAsync_v2(got, to, BYTES, target->stream);
    if (error == CUDA_SUCCESS) error = wk__cuda.StreamSynchronize(target->stream);
    wk__cuda_pop_context(&calls);
    return error == CUDA_SUCCESS && memcmp(sent, got, BYTES) == 0;
}

static CUdeviceptr take(const wk__cuda_device *device)
{
    wk__cuda_context_guard calls;
    CUdeviceptr block = 0;
    CUresult error = wk__cuda_push_context(device->context, &calls);
    if (error == CUDA_SUCCESS) error = wk__cuda.MemAlloc_v2(&block, BYTES);
    wk__cuda_pop_context(&calls);
    return error == CUDA_SUCCESS ? block : 0;
}

static void give(const wk__cuda_device *device, CUdeviceptr block)
{
    wk__cuda_context_guard calls;
    if (block != 0 && wk__cuda_push_context(device->context, &calls) == CUDA_SUCCESS) {
        wk__cuda.MemFree_v2(block);
        wk__cuda_pop_context(&calls);
    }
}

/* If an IOMMU or a PCIe switch (ACS) redirects peer-to-peer traffic, all calls succeed but other data arrives. So a
 * pattern is sent in both directions. The block of the device that copied last is freed first, which waits for that
 * copy even if waiting for it failed; then the other block and the host memory. */
static bool verify_p2p(const wk__cuda_device *a, const wk__cuda_device *b)
{
    uint32_t *host = wk__alloc(2 * BYTES);
    if (host == NULL) return false;
    const CUdeviceptr of_a = take(a), of_b = take(b);
    const bool there = of_a != 0 && of_b != 0 && copy_arrives(a, of_a, b, of_b, host);
    const bool back = there && copy_arrives(b, of_b, a, of_a, host);
    if (there) give(b, of_b);
    give(a, of_a);
    if (!there) give(b, of_b);
    wk__free(host);
    return back;
}

/* ---- once per pair ----------------------------------------------------------------------------------------------- */

static void enable_p2p(wk__cuda_device *a, wk__cuda_device *b)
{
    bool a_made = false, b_made = false;
    if (enable_peer_access(a, b, &a_made) && enable_peer_access(b, a, &b_made) && verify_p2p(a, b) &&
        wk__cuda_range_share(a, b->card) && wk__cuda_range_share(b, a->card))
        return;
    if (a_made) disable_peer_access(a, b);
    if (b_made) disable_peer_access(b, a);
}

bool wk__cuda_enable_p2p(wk__cuda_device *a, wk__cuda_device *b)
{
    if (a->context == b->context) return true;
    if (!(a->p2p_probed & bit_of(b)) || !(b->p2p_probed & bit_of(a))) {
        a->p2p_probed |= bit_of(b);
        b->p2p_probed |= bit_of(a);
        enable_p2p(a, b);
    }
    return (a->p2p_devices & bit_of(b)) && (b->p2p_devices & bit_of(a));
}
