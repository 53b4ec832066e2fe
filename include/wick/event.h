/* SPDX-License-Identifier: Apache-2.0 */
/* wick/event.h: moments in the work of a device, to time it by; torch.cuda.Event. How long a product takes on a GPU:
 *
 *     wk_event *start = wk_event_record(gpu);
 *     wk_tensor *c = wk_matmul(a, b);
 *     wk_event *end = wk_event_record(gpu);
 *     wk_event_synchronize(end);
 *     printf("%.3f ms\n", wk_event_elapsed_time(start, end));
 *
 * An event is recorded once, when it is made, and stays what it is: one moment of one device. It is an object like all
 * others: the innermost scope's, or else the caller's, who frees it with wk_free; wk_keep and wk_retain work on it, and
 * threads may share one that is retained. It may go before it has come.
 *
 * What lies between two events is all that the device did in between: kernels, copies, and waiting for the host where
 * the host was slower. A device that has nothing to do reaches `start` at once, so the time above has in it what the
 * call takes on the host; give the device other work before `start`, and it has not. The first time kernels are
 * compiled.
 *
 * Whose clock: on CUDA the device's. On OpenCL the host's, when the driver says that the moment has come, which is some
 * microseconds late. The CPU has done its work when the recording call returns, so a moment there is now. */
#ifndef WICK_EVENT_H
#define WICK_EVENT_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The moment when the device is through with all that it was given so far. What this thread has recorded is run before
 * (wk_flush), so that it lies behind the moment; but not what nobody has asked for: of elementwise calls whose results
 * only a scope owns, wk_retain those that are to be timed. All zero: the default device (WK_DEVICE, else the CPU).
 *
 * NULL with the error recorded: a device that is not there, WK_ERR_DEVICE; memory is short, WK_ERR_MEMORY; a device
 * that is lost, WK_ERR_DEVICE_LOST, now or where the event is waited for; one that has no events, WK_ERR_UNSUPPORTED. When the
 * process ends and devices have been closed, WK_ERR_STATE or WK_ERR_DEVICE_LOST. In a child of fork() that may not use the
 * library each of these calls is WK_ERR_STATE, as all are, and nothing waits. */
WK_RESULT_API wk_event *wk_event_record_at(wk_site site, wk_device device);
/* Is there nothing to wait for? True once the moment has come, and where it never will: for NULL, or if the device is
 * lost, which wk_event_synchronize tells. Never waits. */
WK_RESULT_API bool wk_event_query_at(wk_site site, const wk_event *event);
/* Waits until the moment has come. WK_OK: what the device was given before it is done; what of that has failed is told
 * as ever, by reading it or by wk_sync. Else a code: WK_ERR_DEVICE_LOST for a device that is lost, which as with wk_sync is
 * told to the first that waits and need not be told again; or what kept the driver from noting the moment down. A wait
 * for a device other than the CPU counts as one of the host (wk_transfer_stats), however short it is. */
WK_API wk_code wk_event_synchronize_at(wk_site site, wk_event *event);
/* Milliseconds from start to end, negative if end came first. NaN with the error recorded: WK_ERR_STATE if one of them
 * has not come yet, WK_ERR_DEVICE if they are of two devices, WK_ERR_DEVICE_LOST if the device is. */
WK_RESULT_API double wk_event_elapsed_time_at(wk_site site, wk_event *start, wk_event *end);

#define wk_event_record(...)       WK_NEW_EVENT_(wk_event_record_at(WK_HERE, __VA_ARGS__))
#define wk_event_query(...)        wk_event_query_at(WK_HERE, __VA_ARGS__)
#define wk_event_synchronize(...)  wk_event_synchronize_at(WK_HERE, __VA_ARGS__)
#define wk_event_elapsed_time(...) wk_event_elapsed_time_at(WK_HERE, __VA_ARGS__)

#ifdef __cplusplus
}
#endif
#endif
