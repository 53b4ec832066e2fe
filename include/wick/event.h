/* SPDX-License-Identifier: Apache-2.0 */
/* wick/event.h: points in the work of a device, for timing; torch.cuda.Event.
 *
 *     wk_event *start = wk_event_record(gpu);
 *     wk_tensor *c = wk_matmul(a, b);
 *     wk_event *end = wk_event_record(gpu);
 *     wk_event_synchronize(end);
 *     printf("%.3f ms\n", wk_event_elapsed_time(start, end));
 *
 * An event is recorded once, when it is created. The innermost scope owns it, or the caller, who frees it with
 * wk_free; wk_keep and wk_retain work, threads may share a retained one, and it may be freed before it is reached.
 *
 * The time between two events includes everything that the device did between them: kernels, copies, and waiting
 * for a slower host. An idle device reaches start at once, so the time above includes the call on the host; give
 * the device work before start to exclude it. The first run includes compiling kernels.
 *
 * The clock is the device's on CUDA. On OpenCL it is the host's at the driver's notification, some microseconds
 * late. The CPU has finished its work when wk_event_record returns. */
#ifndef WICK_EVENT_H
#define WICK_EVENT_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* wk_event_record(device): Records the point after all work given to device so far. Work recorded by this thread
 * runs first (wk_flush), except elementwise results that only a scope owns: wk_retain those that are to be timed.
 * All zero is the default device (WK_DEVICE, else the CPU).
 * Returns:   the event; NULL on error
 * Errors:    WK_ERR_DEVICE if the device does not exist; WK_ERR_MEMORY; WK_ERR_DEVICE_LOST if the device is lost,
 *            now or when the event is waited for; WK_ERR_UNSUPPORTED if it has no events; WK_ERR_STATE or
 *            WK_ERR_DEVICE_LOST if the process ends and devices are closed. In a child of fork() that cannot use
 *            the library each of these calls is WK_ERR_STATE, and none waits. */
WK_RESULT_API wk_event *wk_event_record_at(wk_site site, wk_device device);
/* wk_event_query(event): Returns true if the event has been reached or never will be: for NULL, or if the device is
 * lost, which wk_event_synchronize reports. Never waits. */
WK_RESULT_API bool wk_event_query_at(wk_site site, const wk_event *event);
/* wk_event_synchronize(event): Waits until the event has been reached. Errors of the work before it are reported as
 * usual, by reading its results or by wk_sync. A wait for a device other than the CPU counts in wk_transfer_stats,
 * however short.
 * Returns:   WK_OK if the work before the event is done, else an error code
 * Errors:    WK_ERR_DEVICE_LOST if the device is lost, reported to the first caller that waits, as by wk_sync; or
 *            the reason why the driver could not record the event */
WK_API wk_code wk_event_synchronize_at(wk_site site, wk_event *event);
/* wk_event_elapsed_time(start, end): Returns the milliseconds from start to end, negative if end came first; NaN on
 * error.
 * Errors:    WK_ERR_STATE if one of them has not been reached; WK_ERR_DEVICE if they are of two devices;
 *            WK_ERR_DEVICE_LOST if the device is lost */
WK_RESULT_API double wk_event_elapsed_time_at(wk_site site, wk_event *start, wk_event *end);

#define wk_event_record(...)       WK_NEW_EVENT_(wk_event_record_at(WK_HERE, __VA_ARGS__))
#define wk_event_query(...)        wk_event_query_at(WK_HERE, __VA_ARGS__)
#define wk_event_synchronize(...)  wk_event_synchronize_at(WK_HERE, __VA_ARGS__)
#define wk_event_elapsed_time(...) wk_event_elapsed_time_at(WK_HERE, __VA_ARGS__)

#ifdef __cplusplus
}
#endif
#endif
