/* SPDX-License-Identifier: Apache-2.0 */
/* Body of wk_checkpoint. A save takes references to the current values (checkpoint_save.c), which is cheap because
 * values are immutable; then a background thread writes the file:
 *
 *     user's thread      | step 100 | hold, fetch | step 101        | step 102         | step 103 | ...
 *     background                                  | checksum, write, flush, rename |
 *                                                                          drop references, report errors
 */
#ifndef WICK_DIST_CHECKPOINT_H
#define WICK_DIST_CHECKPOINT_H

#include "base/background_worker.h"
#include "checkpoint_retention.h"
#include "optim_file.h"
#include <wick/checkpoint.h>
#include <wick/dist.h>

typedef struct wk__checkpoint wk__checkpoint;
struct wk__checkpoint {
    char *path;
    wk_module *net; /* references held; NULL: not part of the training */
    wk_optim *optim;
    wk_loader *loader;
    wk_tensors *tensors;
    int keep;
    bool blocking;
    int64_t step; /* steps counted so far */
    char *loaded; /* path that the last load read, owned; NULL: none */
    /* the write that is running, or has finished and was not checked since */
    bool writing;
    wk__background_worker background;
    wk__checkpoint_file pending_file;
    int64_t written_step; /* step of the written state */
    wk_site site;         /* site of the save, for its errors */
    const char *op;       /* name of that call */
    wk_code code;         /* result of the write */
    wk__io_error error;
    /* links in the list of all checkpoints */
    wk__checkpoint *next;
    wk_context *context; /* context of the thread that made it */
};

/* State of one rank as stored in the file: a row of "random", and a row of "loader", a wk__loader_state. */
enum { WK__RANDOM_ROW = 2, WK__LOADER_ROW = 6, WK__RANK_ROW = WK__RANDOM_ROW + WK__LOADER_ROW };
enum { WK__CHECKPOINT_FORMAT = 1 };

/* Collects the contents of a file; only rank 0 gets them. Every rank must call it. Returns false after recording an
 * error. */
bool wk__checkpoint_collect(wk__checkpoint *c, wk_site site, const char *op);
/* Loads a checkpoint. Every rank must call it. Returns false if there is no file, or after recording an error; nothing
 * has changed then. */
bool wk__checkpoint_restore(wk__checkpoint *c, wk_site site, const char *op);

/* Waits for the writes of this thread's checkpoints. Returns WK_OK, or the code of one that failed after recording its
 * error. */
wk_code wk__checkpoints_wait(void);

#endif
