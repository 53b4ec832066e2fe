/* SPDX-License-Identifier: Apache-2.0 */
/* The body behind wk_checkpoint. A save takes hold of what there is (checkpoint_save.c), which costs nothing, as values
 * never change, and then a thread writes it:
 *
 *     program's thread   | step 100 | hold, fetch | step 101        | step 102         | step 103 | ...
 *     background                                  | checksum, write, flush, rename |
 *                                                                          what was held is let go of, errors are told
 */
#ifndef WICK_DIST_CHECKPOINT_H
#define WICK_DIST_CHECKPOINT_H

#include "data/prefetch_worker.h"
#include "checkpoint_retention.h"
#include "optim_file.h"
#include <wick/checkpoint.h>
#include <wick/dist.h>

typedef struct wk__checkpoint wk__checkpoint;
struct wk__checkpoint {
    char *path;
    wk_module *net; /* these are held; NULL: the training has none */
    wk_optim *optim;
    wk_loader *loader;
    wk_tensors *tensors;
    int keep;
    bool blocking;
    int64_t step; /* how many have been done */
    char *loaded; /* the file that the last load read; NULL: none */
    /* the write under way, or done and not looked at since */
    bool writing;
    wk__prefetch_worker background;
    wk__checkpoint_file pending_file;
    int64_t written_step; /* of which step it is */
    wk_site site;         /* of the call that saved, */
    const char *op;       /* and its name */
    wk_code code;         /* how it ended */
    wk__io_error error;
    /* of all checkpoints */
    wk__checkpoint *next;
    wk_context *context; /* of the thread that made it */
};

/* Numbers of one rank, as they stand in the file: a row of "random", and one of "loader", a wk__loader_state. */
enum { WK__RANDOM_ROW = 2, WK__LOADER_ROW = 6, WK__RANK_ROW = WK__RANDOM_ROW + WK__LOADER_ROW };
enum { WK__CHECKPOINT_FORMAT = 1 };

/* Everything that a file gets; only rank 0 has the content then. All ranks call it. False with the error recorded. */
bool wk__checkpoint_collect(wk__checkpoint *c, wk_site site, const char *op);
/* All ranks call it. False when there is no file, or with the error recorded: then nothing has changed. */
bool wk__checkpoint_restore(wk__checkpoint *c, wk_site site, const char *op);

/* Returns when the writes of this thread's checkpoints have ended. WK_OK, or the code of one that failed, with its
 * error recorded. */
wk_code wk__checkpoints_wait(void);

#endif
