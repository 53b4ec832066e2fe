/* SPDX-License-Identifier: Apache-2.0 */
/* Copies from one device to another, without the host. */
#include "device.h"

/* ---- both devices ------------------------------------------------------------------------------------------------ */

/* Locks both, in an order that all threads keep. */
static wk_code enter_both(wk__cuda_device *a, wk__cuda_device *b, wk__fail *fail)
{
    const bool a_first = (uintptr_t)a < (uintptr_t)b;
    wk_code code = wk__cuda_enter(a_first ? a : b, fail);
    if (code != WK_OK) return code;
    code = wk__cuda_enter(a_first ? b : a, fail);
    if (code != WK_OK) wk__cuda_leave(a_first ? a : b);
    return code;
}

static void leave_both(wk__cuda_device *a, wk__cuda_device *b)
{
    const bool a_first = (uintptr_t)a < (uintptr_t)b;
    wk__cuda_leave(a_first ? b : a);
    wk__cuda_leave(a_first ? a : b);
}

/* ---- copies ------------------------------------------------------------------------------------------------------ */

/* Makes what the one device is given next wait for all that the other has been given. Each answers for its own
 * calls. */
static wk_code follow(wk__cuda_device *later, wk__cuda_device *earlier, wk__fail *fail)
{
    static const char what[] = "waiting for another device";
    CUevent event = NULL;
    wk__cuda_calls calls, others;
    CUresult error = wk__cuda_begin(earlier->context, &calls);
    if (error == CUDA_SUCCESS) error = wk__cuda.EventCreate(&event, CU_EVENT_DISABLE_TIMING);
    if (error == CUDA_SUCCESS) error = wk__cuda.EventRecord(event, earlier->stream);
    wk_code code = error == CUDA_SUCCESS ? WK_OK : wk__cuda_failed(earlier, fail, error, what);
    if (code == WK_OK) {
        error = wk__cuda_begin(later->context, &others);
        if (error == CUDA_SUCCESS) error = wk__cuda.StreamWaitEvent(later->stream, event, 0);
        wk__cuda_end(&others);
        if (error != CUDA_SUCCESS) code = wk__cuda_failed(later, fail, error, what);
    }
    if (event != NULL) wk__cuda.EventDestroy_v2(event); /* the driver keeps it until it has come */
    wk__cuda_end(&calls);
    return code;
}

static wk_code copy_from(wk__cuda_device *target, CUdeviceptr to, const wk__cuda_device *source, CUdeviceptr from,
                         int64_t bytes, wk__fail *fail)
{
    wk__cuda_calls calls;
    CUresult error = wk__cuda_begin(target->context, &calls);
    if (error == CUDA_SUCCESS)
        error = wk__cuda.MemcpyPeerAsync(to, target->context, from, source->context, (size_t)bytes, target->stream);
    wk__cuda_end(&calls);
    return error == CUDA_SUCCESS ? WK_OK : wk__cuda_failed(target, fail, error, "copying between devices");
}

/* Of a device that is locked, whichever is current. */
static wk_code use_block(wk__cuda_device *device, const wk__memory *memory, wk__fail *fail)
{
    wk__cuda_calls calls;
    CUresult error = wk__cuda_begin(device->context, &calls);
    if (error == CUDA_SUCCESS) error = wk__cuda_order_use(device, memory->block);
    wk__cuda_end(&calls);
    return error == CUDA_SUCCESS ? WK_OK : wk__cuda_failed(device, fail, error, "copying between devices");
}

/* The target copies when the source has what is to be copied, and the source writes over it when that is done. */
wk_code wk__cuda_transfer(void *to_device, const wk__memory *to, void *from_device, const wk__memory *from,
                          int64_t from_offset, int64_t bytes, wk__fail *fail)
{
    wk__cuda_device *target = to_device, *source = from_device;
    if (target == source) return wk__cuda_copy(target, to, 0, from, from_offset, bytes, fail);
    if (bytes == 0) return WK_OK;
    wk_code code = enter_both(target, source, fail);
    if (code != WK_OK) return code;
    if (source->gone) {
        code = wk__cuda_gone(source, fail);
    } else if (!target->gone) {
        wk__cuda_peers(target, source);
        code = use_block(source, from, fail);
        if (code == WK_OK) code = use_block(target, to, fail);
        if (code == WK_OK) code = follow(target, source, fail);
        if (code == WK_OK)
            code = copy_from(target, wk__cuda_address(to, 0), source, wk__cuda_address(from, from_offset), bytes, fail);
        if (code == WK_OK) code = follow(source, target, fail);
    }
    fail->lost = code == WK_ERR_LOST && source->gone;
    leave_both(target, source);
    return code;
}

bool wk__cuda_direct(void *device, void *other)
{
    wk__cuda_device *a = device, *b = other;
    wk__fail fail;
    if (enter_both(a, b, &fail) != WK_OK) return false;
    const bool direct = !a->gone && !b->gone && wk__cuda_peers(a, b);
    leave_both(a, b);
    return direct;
}
