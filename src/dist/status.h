/* SPDX-License-Identifier: Apache-2.0 */
/* What a rank tells whoever started it, as lines of text into the pipe that WICK_STATUS_FD names:
 *
 *     step=120 rate=12.50          steps finished, and how many of them a second since the line before
 *
 * `wick run` shows them. A reader leaves out the words that it does not know. */
#ifndef WICK_DIST_STATUS_H
#define WICK_DIST_STATUS_H

#include <stdint.h>

/* The step with this number has finished. By any thread; writes at most twice a second, and never waits: a line for
 * which the pipe has no room is left out, and when nobody reads any more, no more are written. */
void wk__dist_status_step(int64_t step);

#endif
