/* Slabs of slots; see slab.h. */
#include "slab.h"
#include "alloc.h"
#include <pthread.h>
#include <string.h>

/* Sizes are multiples of a cache line: two threads never share one through neighbouring slots. The owners of the kinds
 * assert that their structs fit. */
static const struct {
    int32_t size, link; /* bytes of a slot; where a free slot keeps the pointer to the next */
    int64_t idle;       /* free slots that must have gathered before the oldest is used again */
} kinds[WK__SLAB_KINDS] = {
#ifdef WK__NEVER_REUSE_HANDLES
    [WK__SLAB_HANDLE] = {64, 16, INT64_MAX},
#else
    [WK__SLAB_HANDLE] = {64, 16, 4096},
#endif
    [WK__SLAB_VIEW] = {256, 0, 0},           [WK__SLAB_STORAGE] = {128, 0, 0},
    [WK__SLAB_VALUE] = {192, 0, 0},          [WK__SLAB_NODE] = {512, 0, 0},
};

static pthread_mutex_t reserve_lock = PTHREAD_MUTEX_INITIALIZER;
static wk__slots reserve[WK__SLAB_KINDS];
static struct {
    char **start;
    int64_t count, capacity;
} handle_slabs; /* for wk__slab_is_handle; guarded by reserve_lock */

static void *next_of(int kind, const void *slot)
{
    void *next;
    memcpy(&next, (const char *)slot + kinds[kind].link, sizeof next);
    return next;
}

static void set_next(int kind, void *slot, void *next)
{
    memcpy((char *)slot + kinds[kind].link, &next, sizeof next);
}

static char *new_slab(int kind)
{
    if (kind == WK__SLAB_HANDLE &&
        !wk__grow(&handle_slabs.start, &handle_slabs.capacity, handle_slabs.count + 1, sizeof(char *)))
        return NULL;
    char *raw = wk__alloc_zero(1, WK__SLAB_BLOCK);
    if (!raw) return NULL;
    char *slab = raw + (-(uintptr_t)raw & 63);
    if (kind == WK__SLAB_HANDLE) handle_slabs.start[handle_slabs.count++] = slab;
    return slab;
}

/* Refills an empty list from the reserve, else with a fresh slab; leaves it as it is when memory is short. */
static int refill(wk__slots *list, int kind)
{
    pthread_mutex_lock(&reserve_lock);
    int filled = 0;
    char *slab;
    if (reserve[kind].count > kinds[kind].idle) {
        char *fresh = list->fresh, *fresh_end = list->fresh_end;
        *list = reserve[kind];
        list->fresh = fresh, list->fresh_end = fresh_end;
        memset(&reserve[kind], 0, sizeof reserve[kind]);
        filled = 1;
    } else if ((slab = new_slab(kind)) != NULL) {
        list->fresh = slab;
        list->fresh_end = slab + WK__SLAB_BYTES / kinds[kind].size * kinds[kind].size;
        filled = 1;
    }
    pthread_mutex_unlock(&reserve_lock);
    return filled;
}

void *wk__slab_take_more(wk__slots slots[], int kind)
{
    wk__slots *list = &slots[kind];
    if (list->count <= kinds[kind].idle && list->fresh == list->fresh_end && !refill(list, kind)) return NULL;
    if (list->count > kinds[kind].idle) {
        void *slot = list->first;
        list->first = next_of(kind, slot);
        __builtin_prefetch(list->first); /* a queue comes round cold */
        list->count--;
        return slot;
    }
    void *slot = list->fresh;
    list->fresh += kinds[kind].size;
    return slot;
}

/* To the end of the queue. */
void wk__slab_give_handle(wk__slots slots[], void *slot)
{
    wk__slots *list = &slots[WK__SLAB_HANDLE];
    set_next(WK__SLAB_HANDLE, slot, NULL);
    if (list->count == 0)
        list->first = slot;
    else
        set_next(WK__SLAB_HANDLE, list->last, slot);
    list->last = slot;
    list->count++;
}

void wk__slab_retire(wk__slots slots[])
{
    pthread_mutex_lock(&reserve_lock);
    for (int kind = 0; kind < WK__SLAB_KINDS; kind++) {
        wk__slots *list = &slots[kind];
        while (list->fresh < list->fresh_end) {
            wk__slab_give(slots, kind, list->fresh);
            list->fresh += kinds[kind].size;
        }
        if (list->count) {
            if (reserve[kind].count)
                set_next(kind, reserve[kind].last, list->first);
            else
                reserve[kind].first = list->first;
            reserve[kind].last = list->last;
            reserve[kind].count += list->count;
        }
        memset(list, 0, sizeof *list);
    }
    pthread_mutex_unlock(&reserve_lock);
}

int wk__slab_is_handle(const void *address)
{
    uintptr_t place = (uintptr_t)address;
    int found = 0;
    pthread_mutex_lock(&reserve_lock);
    for (int64_t k = 0; k < handle_slabs.count && !found; k++) {
        uintptr_t start = (uintptr_t)handle_slabs.start[k];
        found = place >= start && place < start + WK__SLAB_BYTES && (place - start) % 64 == 0;
    }
    pthread_mutex_unlock(&reserve_lock);
    return found;
}
