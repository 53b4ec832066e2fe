/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between devices, without the host. */
#include "device.h"

/* ---- locking both devices ---------------------------------------------------------------------------------------- */

/* Locks both, ordered by address. */
static wk_code enter_both(wk__cuda_device *a, wk__cuda_device *b, wk__fail *fail)
{
    const bool a_first = (uintptr_t)a < (uintptr_t)b;
    wk_code code = wk__cuda_lock(a_first ? a : b, fail);
    if (code != WK_OK) return code;
    code = wk__cuda_lock(a_first ? b : a, fail);
    if (code != WK_OK) wk__cuda_unlock(a_first ? a : b);
    return code;
}

static void leave_both(wk__cuda_device *a, wk__cuda_device *b)
{
    const bool a_first = (uintptr_t)a < (uintptr_t)b;
    wk__cuda_unlock(a_first ? b : a);
    wk__cuda_unlock(a_first ? a : b);
}

/* ---- copies ------------------------------------------------------------------------------------------------------ */

/* A copy in the source's send stream: it waits for earlier work of both devices on the two blocks, and their later uses
 * wait for it. */
typedef struct sending {
    wk__cuda_device *target, *source;
    const wk__memory *to, *from;
    int64_t from_offset, bytes;
} sending;

static const char doing[] = "copying between devices";

static CUstream stream_of(const sending *s)
{
    return s->source->order.copies[WK__CUDA_STREAM_P2P_SEND].stream;
}

/* The error may belong to either context; asks the driver about the source's. */
static wk_code failed_between(const sending *s, CUresult error, wk__fail *fail)
{
    wk__cuda_context_guard calls;
    if (error == CUDA_SUCCESS) return WK_OK;
    CUresult own = wk__cuda_push_context(s->source->context, &calls);
    if (own == CUDA_SUCCESS)
        own = wk__cuda.EventQuery(s->source->order.copies[WK__CUDA_STREAM_P2P_SEND].end[1]); /* its first event */
    wk__cuda_pop_context(&calls);
    if (own == CUDA_SUCCESS || own == CUDA_ERROR_NOT_READY) return wk__cuda_fail_set(s->target, fail, error, doing);
    return wk__cuda_fail_set(s->source, fail, own, doing);
}

static wk_code send(const sending *s, wk__fail *fail)
{
    wk__cuda_device *target = s->target, *source = s->source;
    wk__cuda_context_guard calls, others;
    CUresult error = wk__cuda_push_context(source->context, &calls);
    if (error == CUDA_SUCCESS) error = wk__cuda_hazard_begin_copy(source, WK__CUDA_STREAM_P2P_SEND, s->from->block);
    wk_code code = error == CUDA_SUCCESS ? WK_OK : wk__cuda_fail_set(source, fail, error, doing);
    if (code == WK_OK) {
        error = wk__cuda_push_context(target->context, &others);
        if (error == CUDA_SUCCESS) error = wk__cuda_hazard_begin_receive(target, stream_of(s), s->to->block);
        wk__cuda_pop_context(&others);
        if (error == CUDA_SUCCESS)
            error = wk__cuda.MemcpyPeerAsync(wk__cuda_address(s->to, 0), target->context,
                                             wk__cuda_address(s->from, s->from_offset), source->context,
                                             (size_t)s->bytes, stream_of(s));
        code = failed_between(s, error, fail);
    }
    if (code == WK_OK) {
        error = wk__cuda_hazard_end_copy(source, WK__CUDA_STREAM_P2P_SEND, s->from->block);
        if (error != CUDA_SUCCESS) code = wk__cuda_fail_set(source, fail, error, doing);
    }
    wk__cuda_pop_context(&calls);
    return code;
}

/* If the target cannot be made to wait for the copy, waits for it here. */
static wk_code receive(const sending *s, wk__fail *fail)
{
    wk__cuda_device *target = s->target;
    wk__cuda_context_guard calls;
    CUresult error = wk__cuda_push_context(target->context, &calls);
    if (error == CUDA_SUCCESS)
        error = wk__cuda_hazard_end_receive(target, wk__cuda_hazard_last_copy(s->source, WK__CUDA_STREAM_P2P_SEND),
                                            s->to->block);
    wk__cuda_pop_context(&calls);
    if (error != CUDA_SUCCESS) wk__cuda.StreamSynchronize(stream_of(s));
    return failed_between(s, error, fail);
}

wk_code wk__cuda_transfer(void *to_device, const wk__memory *to, void *from_device, const wk__memory *from,
                          int64_t from_offset, int64_t bytes, wk__fail *fail)
{
    const sending s = {to_device, from_device, to, from, from_offset, bytes};
    if (s.target == s.source) return wk__cuda_copy(s.target, to, 0, from, from_offset, bytes, fail);
    if (bytes == 0) return WK_OK;
    wk_code code = enter_both(s.target, s.source, fail);
    if (code != WK_OK) return code;
    if (s.source->lost) {
        code = wk__cuda_fail_lost(s.source, fail);
    } else if (!s.target->lost) {
        wk__cuda_enable_p2p(s.target, s.source);
        code = send(&s, fail);
        if (code == WK_OK) code = receive(&s, fail);
    }
    fail->poisoned = code == WK_ERR_DEVICE_LOST && s.source->lost;
    leave_both(s.target, s.source);
    return code;
}

bool wk__cuda_has_p2p(void *device, void *other)
{
    wk__cuda_device *a = device, *b = other;
    wk__fail fail;
    if (enter_both(a, b, &fail) != WK_OK) return false;
    const bool direct = !a->lost && !b->lost && wk__cuda_enable_p2p(a, b);
    leave_both(a, b);
    return direct;
}
