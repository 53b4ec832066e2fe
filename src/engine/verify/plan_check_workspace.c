/* SPDX-License-Identifier: Apache-2.0 */
/* Workspaces, hash tables and sampling of the plan checker. */
#include "plan_check_workspace.h"
#include "base/alloc.h"
#include <pthread.h>
#include <string.h>

/* ---- workspaces -------------------------------------------------------------------------------------------------- */

/* Unused workspaces of the process: several threads may check flushes at the same time. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static wk__plan_check_workspace *kept;

wk__plan_check_workspace *wk__plan_check_workspace_acquire(void)
{
    pthread_mutex_lock(&lock);
    wk__plan_check_workspace *space = kept;
    if (space) kept = space->next;
    pthread_mutex_unlock(&lock);
    return space ? space : wk__alloc(sizeof *space);
}

void wk__plan_check_workspace_release(wk__plan_check_workspace *space)
{
    pthread_mutex_lock(&lock);
    space->next = kept;
    kept = space;
    pthread_mutex_unlock(&lock);
}

/* ---- hash tables ------------------------------------------------------------------------------------------------- */

void wk__plan_check_table_start(wk__plan_check_table *table, int64_t count)
{
    table->slots = 16;
    while (table->slots < 2 * count && table->slots < WK__PLAN_CHECK_SLOTS) table->slots *= 2;
    memset(table->slot, 0, sizeof *table->slot * (size_t)table->slots);
}

uint64_t *wk__plan_check_table_find(const wk__plan_check_table *table, int owner, int64_t place, bool add)
{
    const uint64_t mark = (uint64_t)owner + 1;
    uint64_t at = wk__plan_check_mix(mark, (uint64_t)place);
    for (int64_t tried = 0; tried < table->slots; tried++, at++) {
        wk__plan_check_slot *slot = &table->slot[at & (uint64_t)(table->slots - 1)];
        if (slot->owner == mark && slot->place == place) return &slot->number;
        if (slot->owner) continue;
        if (!add) return NULL;
        *slot = (wk__plan_check_slot){.place = place, .owner = mark};
        return &slot->number;
    }
    return NULL;
}

/* ---- sampling of indices ----------------------------------------------------------------------------------------- */

/* Each dimension expands every existing offset, from the last to the first, so that none is overwritten before it is
 * read. */
int64_t wk__plan_check_offsets(int64_t *offset, int first, int end, const int64_t *shape, int64_t most,
                               const int64_t *stride)
{
    int64_t count = 1;
    offset[0] = 0;
    for (int d = first; d < end; d++) {
        const int64_t places = wk__plan_check_visited(shape[d], most);
        for (int64_t k = count; k-- > 0;) {
            const int64_t start = offset[k];
            for (int64_t i = places; i-- > 0;)
                offset[k * places + i] = start + wk__plan_check_visited_place(shape[d], most, i) * stride[d];
        }
        count *= places;
    }
    return count;
}
