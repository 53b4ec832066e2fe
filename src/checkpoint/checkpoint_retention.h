/* SPDX-License-Identifier: Apache-2.0 */
/* Retained files of a checkpoint. Next to run.wick, the newest, are
 *
 *     run.wick.80  run.wick.100  run.wick.120
 *
 * named by their steps; the last one is a second name of run.wick. */
#ifndef WICK_CHECKPOINT_CHECKPOINT_RETENTION_H
#define WICK_CHECKPOINT_CHECKPOINT_RETENTION_H

#include "checkpoint_file.h"

/* Lists the steps of the retained files of `place`, a resolved path, latest first. Returns their number, with *steps
 * freed by the caller; -1 on allocation failure. An unreadable folder counts as empty. */
int64_t wk__checkpoint_retained_steps(const char *place, int64_t **steps);
/* Returns "run.wick.120", freed by the caller; NULL on allocation failure. */
char *wk__checkpoint_retained_path(const char *place, int64_t step);

/* Called after `place` was written at `step`: creates its second name and removes retained files, so that the `keep`
 * latest up to this step remain. Files that cannot be removed now are removed the next time. */
wk_code wk__checkpoint_retain(wk__checkpoint_file *content, const char *place, int64_t step, int keep,
                              wk__io_error *error);

#endif
