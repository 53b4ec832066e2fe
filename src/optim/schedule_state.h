/* SPDX-License-Identifier: Apache-2.0 */
/* Serialised form of the schedules of an optimiser, as part of its state (optim_state.h): positions, state, and kinds,
 * which loading compares. docs/reference/file-formats.md lists the keys. */
#ifndef WICK_OPTIM_SCHEDULE_STATE_H
#define WICK_OPTIM_SCHEDULE_STATE_H

#include "optim_state.h"

/* Appends the schedules of the optimiser and the base rates of its groups; nothing if there are none. */
void wk__schedules_save(const wk__optim *optim, wk__metadata *pairs);

/* Loaded positions, [count] in the order of the optimiser's list; owned. */
typedef struct wk__schedule_position {
    int64_t epoch;
    double state[3];
} wk__schedule_position;
/* Reads the positions of all schedules, and the base rates into group[], as many as the optimiser has. Stores an array
 * that the caller frees, NULL if there are no schedules. False after recording an error. */
bool wk__schedules_load(const wk__optim_checkpoint *from, const wk__optim *optim, wk__param_group *group,
                        wk__schedule_position **out);
/* Moves the schedules to these positions. */
void wk__schedules_commit(const wk__optim *optim, const wk__schedule_position *position);

#endif
