/* SPDX-License-Identifier: Apache-2.0 */
/* The older files of a checkpoint: beside run.wick, which is the newest, stand
 *
 *     run.wick.80  run.wick.100  run.wick.120
 *
 * by the step of which each is; the last of them is another name of run.wick. */
#ifndef WICK_DIST_CHECKPOINT_OLDER_H
#define WICK_DIST_CHECKPOINT_OLDER_H

#include "checkpoint_file.h"

/* The steps of which there are files beside that of `place`, a path without symbolic links at its end, the latest
 * first; the caller frees them. How many; -1 when memory is short. A folder that cannot be read has none. */
int64_t wk__checkpoint_retained_steps(const char *place, int64_t **steps);
/* "run.wick.120", which the caller frees; NULL when memory is short. */
char *wk__checkpoint_retained_path(const char *place, int64_t step);

/* The file at `place` was written just now, of that step: gives it its second name, and removes those of other steps
 * but for the latest before it, so that `keep` are left. What cannot be removed now goes the next time. */
wk_code wk__checkpoint_retain(wk__checkpoint_file *content, const char *place, int64_t step, int keep,
                              wk__io_error *error);

#endif
