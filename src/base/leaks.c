/* SPDX-License-Identifier: Apache-2.0 */
/* Open references for the leak report; see leaks.h. Most references are dropped soon after they were added, so searches
 * start at the end of the list. */
#include "leaks.h"
#include "alloc.h"
#include "log.h"
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t at_exit = PTHREAD_ONCE_INIT;
static struct leak_entry {
    const wk__handle *handle;
    const wk__handle_type *kind;
    wk_site site;
} * open_counts;
static int64_t count, capacity;

static bool alike(const struct leak_entry *a, const struct leak_entry *b)
{
    return a->kind == b->kind && a->site.line == b->site.line &&
           (a->site.file == b->site.file || (a->site.file && b->site.file && strcmp(a->site.file, b->site.file) == 0));
}

/* Logs one line per site and kind, in order of first appearance, and removes the reported entries. */
static void report_leaks(void)
{
    while (true) { /* a log callback may free objects, so it is called without the lock */
        pthread_mutex_lock(&lock);
        if (count == 0) break;
        const struct leak_entry first = open_counts[0];
        int64_t left = 0;
        for (int64_t k = 0; k < count; k++)
            if (!alike(&first, &open_counts[k])) open_counts[left++] = open_counts[k];
        const int64_t many = count - left;
        count = left;
        pthread_mutex_unlock(&lock);
        wk__log(WK__LOG_LEAKS, first.site, "%lld %s%s never freed", (long long)many, first.kind->name,
                many == 1 ? " was" : "s were");
    }
    pthread_mutex_unlock(&lock);
}

static void watch_exit(void)
{
    atexit(report_leaks);
}

/* Returns the index of the newest reference to an object, -1 if none; requires the lock. */
static int64_t find(const wk__handle *handle)
{
    int64_t k = count - 1;
    while (k >= 0 && open_counts[k].handle != handle) k--;
    return k;
}

void wk__leaks_add(const wk__handle *handle, wk_site site)
{
    if (!wk__log_enabled(WK__LOG_LEAKS)) return;
    pthread_once(&at_exit, watch_exit);
    pthread_mutex_lock(&lock);
    if (wk__grow(&open_counts, &capacity, count + 1, sizeof *open_counts))
        open_counts[count++] = (struct leak_entry){handle, handle->kind, wk__site(site)};
    pthread_mutex_unlock(&lock);
}

void wk__leaks_remove(const wk__handle *handle)
{
    if (!wk__log_enabled(WK__LOG_LEAKS)) return;
    pthread_mutex_lock(&lock);
    const int64_t k = find(handle);
    if (k >= 0) memmove(open_counts + k, open_counts + k + 1, (size_t)(--count - k) * sizeof *open_counts);
    pthread_mutex_unlock(&lock);
}

void wk__leaks_set_site(const wk__handle *handle, wk_site site)
{
    if (!wk__log_enabled(WK__LOG_LEAKS)) return;
    pthread_mutex_lock(&lock);
    const int64_t k = find(handle);
    if (k >= 0) open_counts[k].site = wk__site(site);
    pthread_mutex_unlock(&lock);
}
