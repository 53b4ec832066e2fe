/* SPDX-License-Identifier: Apache-2.0 */
/* Registry of large tensors; see large_values.h. */
#include "large_values.h"
#include "base/alloc.h"
#include "base/text.h"
#include <string.h>
#include <wick/device.h>

enum { LARGE = 64 << 10, NAMED = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static wk__value **list; /* unordered; each value stores its index */
static int64_t count, capacity;

void wk__large_values_add(wk__value *value)
{
    if (value->memory.bytes < LARGE) return;
    pthread_mutex_lock(&lock);
    if (wk__grow(&list, &capacity, count + 1, sizeof *list)) { /* on allocation failure the value is not listed */
        list[count] = value;
        value->large_index = ++count;
    }
    pthread_mutex_unlock(&lock);
}

void wk__large_values_remove(wk__value *value)
{
    if (!atomic_load_explicit(&value->large_index, memory_order_relaxed))
        return; /* other threads may change it, but not from or to 0 */
    pthread_mutex_lock(&lock);
    wk__value *last = list[--count];
    const int64_t place = value->large_index;
    list[place - 1] = last;
    last->large_index = place;
    value->large_index = 0;
    pthread_mutex_unlock(&lock);
}

int wk__large_values_list(const wk__device *device, wk_site *sites, int64_t *bytes, int places)
{
    int found = 0;
    pthread_mutex_lock(&lock);
    for (int64_t k = 0; k < count; k++) {
        if (list[k]->device != device) continue;
        int place = found;
        while (place > 0 && bytes[place - 1] < list[k]->memory.bytes) place--;
        if (place == places) continue;
        int moved = found < places ? found : places - 1;
        memmove(&sites[place + 1], &sites[place], sizeof *sites * (size_t)(moved - place));
        memmove(&bytes[place + 1], &bytes[place], sizeof *bytes * (size_t)(moved - place));
        sites[place] = list[k]->site;
        bytes[place] = list[k]->memory.bytes;
        found = moved + 1;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

void wk__describe_oom(const wk__device *device, wk__fail *fail)
{
    enum { ROOM = sizeof fail->text };
    char figures[ROOM], size[WK__FORMAT_BYTES_SIZE];
    wk_site sites[NAMED];
    int64_t bytes[NAMED];
    snprintf(figures, ROOM, "%s", fail->text);
    int used = snprintf(fail->text, ROOM,
                        "out of memory on %s: %s; use a smaller batch, free unused tensors (wk_free, WK_SCOPE, "
                        "wk_memory_trim), or raise the limit (wk_memory_set_limit)",
                        wk_device_str(device->id), figures);
    int found = wk__large_values_list(device, sites, bytes, NAMED);
    for (int k = 0; k < found && used < ROOM; k++) {
        used += snprintf(fail->text + used, (size_t)(ROOM - used), "%s%s",
                         k ? ", " : ". Largest: ", wk__format_bytes(size, bytes[k]));
        if (sites[k].file && used < ROOM)
            used +=
                snprintf(fail->text + used, (size_t)(ROOM - used), " made at %s:%d", sites[k].file, (int)sites[k].line);
    }
}
