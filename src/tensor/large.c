/* The largest tensors; see large.h. */
#include "large.h"
#include "../base/alloc.h"
#include <string.h>

enum { LARGE = 64 << 10, NAMED = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static wk__value **list; /* unordered; a value knows its place */
static int64_t count, capacity;

void wk__large_add(wk__value *value)
{
    if (value->memory.bytes < LARGE) return;
    pthread_mutex_lock(&lock);
    if (wk__grow(&list, &capacity, count + 1, sizeof *list)) { /* else it goes unnamed */
        list[count] = value;
        value->large = ++count;
    }
    pthread_mutex_unlock(&lock);
}

void wk__large_remove(wk__value *value)
{
    if (!value->large) return;
    pthread_mutex_lock(&lock);
    wk__value *last = list[--count];
    list[value->large - 1] = last;
    last->large = value->large;
    value->large = 0;
    pthread_mutex_unlock(&lock);
}

int wk__large_list(const wk__device *device, wk_site *sites, int64_t *bytes, int places)
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

void wk__large_describe(const wk__device *device, char *text, size_t size)
{
    wk_site sites[NAMED];
    int64_t bytes[NAMED];
    int found = wk__large_list(device, sites, bytes, NAMED);
    for (int k = 0; k < found; k++) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%lld KB made at %s:%d",
                 k ? ", " : ". Largest: ", (long long)(bytes[k] >> 10), sites[k].file ? sites[k].file : "?",
                 (int)sites[k].line);
    }
}
