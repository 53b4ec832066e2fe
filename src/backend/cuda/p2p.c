/* SPDX-License-Identifier: Apache-2.0 */
/* The way between two cards: whether either may use the other one's memory, and whether bytes arrive that way. Errors
 * are not told here: copies go through the host then, and a device that is gone says so when it copies. */
#include "device.h"

#include <string.h>

static uint64_t bit_of(const wk__cuda_device *device)
{
    return UINT64_C(1) << device->card->ordinal;
}

/* Lets the device use what the other one's context allocates. *made: it is this call that has allowed it, no other
 * library of the process. */
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

/* ---- what arrives ------------------------------------------------------------------------------------------------ */

enum { WORDS = 1 << 14, BYTES = 4 * WORDS };

/* The source copies, as it does in earnest (transfer.c): to write to another card is another way than to read from it.
 * The target's block is cleared first, as it may have the words from before. */
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

/* Where an IOMMU or a switch of the bus (PCIe ACS) redirects what one card asks of another, all calls succeed, and
 * other bytes arrive. So some are sent, in both directions. Who copied last gives its block first, which waits for that
 * copy where waiting has failed; then the other block goes, and the host's memory. */
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

/* ---- once for each pair ------------------------------------------------------------------------------------------ */

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
