/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a flush from a file in one configuration. Used by one thread. */
#ifndef WICK_ENGINE_REPLAY_RUN_H
#define WICK_ENGINE_REPLAY_RUN_H

#include "flush_file.h"

/* Result of one run for a value: observable values have contents or have failed. */
typedef struct wk__outcome {
    bool failed;
    char *bytes; /* owned; NULL: not observable, or empty */
} wk__outcome;

typedef struct wk__replay {
    const wk__flush_data *flush;
    wk_context *context;
    wk__device **device; /* for each value: its device, or the CPU */
    wk__value **value;
    const wk__engine_config *modes; /* configuration of the run; NULL: that of the process */
    bool eager;                     /* runs each record immediately, and keeps all values until the end */
    int64_t groups;                 /* number of groups that ran */
} wk__replay;

/* Runs the flush in this thread, whose queue must be empty, and fills outcome[values]. If it fails, it sets
 * *fail; outcomes filled by then are freed like others. */
wk_code wk__replay_run(wk__replay *replay, wk__outcome outcome[], wk__fail *fail);

#endif
