/* SPDX-License-Identifier: Apache-2.0 */
/* Progress lines of a rank, written to the pipe named by WICK_STATUS_FD:
 *
 *     wick=open                    a device is used
 *     world=joined                 wk_dist_init was called
 *     world=left                   wk_dist_finish was called
 *     cause=1                      this rank's pending error was caused by rank 1
 *     step=120 rate=12.50          steps finished, and steps per second since the previous line
 *
 * `wick run` shows the steps, and uses the other lines to explain why a run ended. Readers must ignore unknown words.
 * Threads: any. Never blocks on the pipe. */
#ifndef WICK_BASE_LAUNCHER_STATUS_H
#define WICK_BASE_LAUNCHER_STATUS_H

#include <stdint.h>

/* Writes a line, which must end with a newline. Not rate-limited. */
void wk__launcher_status_send(const char *line);
/* Reports that this step has finished. Writes at most twice per second; drops the line if the pipe is full, and stops
 * for good once the reader has closed it. */
void wk__launcher_status_step(int64_t step);

#endif
