/* SPDX-License-Identifier: Apache-2.0 */
/* Limits the size of the disk cache. Other processes may read, write or trim the same directory: a file that is removed
 * while it is read remains readable, and a missing one is compiled again. */
#include "disk_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/environment.h"

enum { NAME_SIZE = 37, DEFAULT_MB = 256, STALE_SECONDS = 24 * 3600 };

/* One name of a file, which may have several. Reading sets the modification time, which is therefore the last use. */
typedef struct entry {
    struct timespec used;
    ino_t file;
    int64_t bytes;
    char name[NAME_SIZE];
} entry;

typedef struct entries {
    entry *entry;
    int64_t count, capacity;
} entries;

/* The directory may be the user's: only files with names of this cache are removed. */
static bool is_program(const char *name)
{
    return strlen(name) == NAME_SIZE - 1 && strspn(name, "0123456789abcdef") == 32 && strcmp(name + 32, ".bin") == 0;
}

/* new.PROCESS.NUMBER or its link, left behind by a process that was killed while writing. */
static bool is_stale_temp(const char *name, const struct stat *state, time_t now)
{
    static const char digits[] = "0123456789";
    if (strncmp(name, "new.", 4) != 0) return false;
    const size_t process = strspn(name + 4, digits);
    const char *dot = name + 4 + process;
    const size_t number = *dot == '.' ? strspn(dot + 1, digits) : 0;
    const char *end = dot + 1 + number;
    return process && number && (!*end || strcmp(end, ".link") == 0) && state->st_mtime < now - STALE_SECONDS;
}

static void scan_folder(int folder, DIR *listing, entries *all)
{
    const time_t now = time(NULL);
    struct stat state;
    for (const struct dirent *found; (found = readdir(listing)) != NULL;) {
        if (fstatat(folder, found->d_name, &state, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(state.st_mode)) continue;
        if (is_stale_temp(found->d_name, &state, now)) unlinkat(folder, found->d_name, 0);
        if (!is_program(found->d_name)) continue;
        if (!wk__grow(&all->entry, &all->capacity, all->count + 1, sizeof *all->entry)) return;
        entry *e = &all->entry[all->count++];
        *e = (entry){.used = state.st_mtim, .file = state.st_ino, .bytes = state.st_size};
        memcpy(e->name, found->d_name, sizeof e->name);
    }
}

static int latest_first(const void *left, const void *right)
{
    const entry *a = left, *b = right;
    if (a->used.tv_sec != b->used.tv_sec) return a->used.tv_sec < b->used.tv_sec ? 1 : -1;
    if (a->used.tv_nsec != b->used.tv_nsec) return a->used.tv_nsec < b->used.tv_nsec ? 1 : -1;
    return (a->file > b->file) - (a->file < b->file); /* keeps all names of a file together */
}

/* Removes the files beyond the most recently used `limit` bytes. Returns the bytes of all files. */
static int64_t evict_beyond(int folder, const entries *all, int64_t limit)
{
    int64_t bytes = 0;
    for (int64_t k = 0; k < all->count; k++) {
        const entry *e = &all->entry[k];
        if (k == 0 || e->file != e[-1].file) bytes += e->bytes;
        if (bytes > limit) unlinkat(folder, e->name, 0);
    }
    return bytes;
}

/* Returns the limit in bytes, from WICK_CACHE_MB. */
static int64_t cache_limit(void)
{
    const int64_t megabytes = wk__setting_number(WK__SETTING_CACHE_MB, DEFAULT_MB);
    return megabytes == 0 ? INT64_MAX : megabytes << 20;
}

/* Trims to three quarters of the limit, so that the next trim is not needed immediately. */
void wk__gpu_cache_trim(int folder)
{
    entries all = {0};
    /* a separate descriptor has its own read position */
    int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = again >= 0 ? fdopendir(again) : NULL;
    if (listing != NULL) {
        scan_folder(folder, listing, &all);
        closedir(listing);
    } else if (again >= 0) {
        close(again);
    }
    const int64_t limit = cache_limit();
    if (all.count > 0) qsort(all.entry, (size_t)all.count, sizeof *all.entry, latest_first);
    if (evict_beyond(folder, &all, INT64_MAX) > limit) evict_beyond(folder, &all, limit / 4 * 3);
    wk__free(all.entry);
}
