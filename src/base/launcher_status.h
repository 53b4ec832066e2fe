/* SPDX-License-Identifier: Apache-2.0 */
/* What a rank tells whoever started it, as lines of text into the pipe that WICK_STATUS_FD names:
 *
 *     wick=open                    a device is used
 *     world=joined                 wk_dist_init has been called,
 *     world=left                   and wk_dist_finish
 *     cause=1                      a call of this rank failed as that rank had an error
 *     step=120 rate=12.50          steps finished, and how many of them a second since the line before
 *
 * `wick run` shows steps, and says what became of the world, and who began, where that explains how a run has ended. A
 * reader leaves out the words that it does not know. */
#ifndef WICK_BASE_STATUS_H
#define WICK_BASE_STATUS_H

#include <stdint.h>

/* A line, with its newline. As below, but for how often. */
void wk__launcher_status_send(const char *line);
/* The step with this number has finished. By any thread; writes at most twice a second, and never waits: a line for
 * which the pipe has no room is left out, and when nobody reads any more, no more are written. */
void wk__launcher_status_step(int64_t step);

#endif
