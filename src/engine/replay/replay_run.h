/* SPDX-License-Identifier: Apache-2.0 */
/* Running a flush from a file, in one mode after the other. */
#ifndef WICK_ENGINE_REPLAY_RUN_H
#define WICK_ENGINE_REPLAY_RUN_H

#include "flush_file.h"

/* What one run gave: a value that was seen has its bytes, or has failed. */
typedef struct wk__outcome {
    bool failed;
    char *bytes; /* NULL: not looked at, or without elements */
} wk__outcome;

typedef struct wk__replay {
    const wk__flush_data *flush;
    wk_context *context;
    wk__device **device; /* of each value: its own, or the CPU */
    wk__value **value;
    const wk__engine_config *modes; /* in which this is run; NULL: those of the process */
    bool eager;                     /* each record is run at once, and all values are held until the end */
    int64_t groups;                 /* that were run */
} wk__replay;

/* Runs the flush in this thread, whose ring must be empty. Other threads run as ever. Fills outcome[values]. A call
 * that fails (memory) has recorded why; what it has filled is freed like the rest. */
wk_code wk__replay_run(wk__replay *replay, wk__outcome outcome[], wk__fail *fail);

#endif
