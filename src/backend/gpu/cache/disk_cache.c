/* SPDX-License-Identifier: Apache-2.0 */
/* Disk cache of compiled modules. Files are code that this process executes, so only this user may be able to write
 * them. */
#include "base/environment.h"
#include "disk_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIM_EVERY = 64 }; /* writes */

/* ---- digest: FNV-1a, twice; the second with another start value and a rotation ----------------------------------- */

wk__gpu_digest wk__gpu_digest_start(void)
{
    return (wk__gpu_digest){{0xcbf29ce484222325u, 0x6c62272e07bb0142u}};
}

void wk__gpu_digest_add(wk__gpu_digest *digest, const void *bytes, size_t count)
{
    const uint8_t *byte = bytes;
    uint64_t a = digest->word[0], b = digest->word[1];
    for (size_t k = 0; k < count; k++) {
        a = (a ^ byte[k]) * 0x100000001b3u;
        b = ((b << 5 | b >> 59) ^ byte[k]) * 0x9e3779b97f4a7c15u;
    }
    digest->word[0] = a;
    digest->word[1] = b;
}

void wk__gpu_digest_add_text(wk__gpu_digest *digest, const char *text)
{
    wk__gpu_digest_add(digest, text, strlen(text) + 1); /* the terminator keeps "ab" "c" from "a" "bc" */
}

/* ---- directory --------------------------------------------------------------------------------------------------- */

/* Opens a directory below `parent`; creates it with access for this user only. */
static int open_below(const char *parent, const char *name)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s%s%s", parent, name[0] != '\0' ? "/" : "", name);
    if (length < 0 || length >= (int)sizeof path) return -1;
    if (mkdir(path, 0700) != 0 && errno != EEXIST) return -1;
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int find_folder(bool driver_has_one)
{
    const char *own = wk__setting_text(WK__SETTING_CACHE_DIR);
    if (own != NULL) return own[0] == '\0' || strcmp(own, "off") == 0 ? -1 : open_below(own, "");
    if (driver_has_one) return -1;
    const char *xdg = getenv("XDG_CACHE_HOME");
    if (xdg != NULL && xdg[0] == '/') return open_below(xdg, "wick");
    const char *home = getenv("HOME");
    if (home == NULL || home[0] != '/') return -1;
    int parent = open_below(home, ".cache");
    if (parent >= 0) close(parent);
    return open_below(home, ".cache/wick");
}

/* `type`: S_IFDIR or S_IFREG */
static bool is_private(int file, mode_t type)
{
    struct stat state;
    return fstat(file, &state) == 0 && (state.st_mode & S_IFMT) == type && state.st_uid == geteuid() &&
           (state.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

int wk__gpu_cache_open(bool driver_has_one)
{
    int folder = find_folder(driver_has_one);
    if (folder < 0 || is_private(folder, S_IFDIR)) return folder;
    close(folder);
    return -1;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static void file_name(wk__gpu_digest digest, char name[48])
{
    snprintf(name, 48, "%016llx%016llx.bin", (unsigned long long)digest.word[0], (unsigned long long)digest.word[1]);
}

bool wk__gpu_cache_read(int folder, wk__gpu_digest digest, int64_t limit, wk__text *content)
{
    char name[48], buffer[16384];
    file_name(digest, name);
    /* O_NONBLOCK: open() of a pipe would wait for a writer. */
    int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return false;
    ssize_t got = is_private(file, S_IFREG) ? 1 : -1;
    if (got > 0) futimens(file, NULL); /* marks it as used: see disk_cache_trim.c */
    while (got > 0 && content->length < limit) {
        int64_t rest = limit - content->length;
        got = read(file, buffer, rest < (int64_t)sizeof buffer ? (size_t)rest : sizeof buffer);
        if (got > 0) wk__text_add_n(content, buffer, got);
    }
    close(file);
    return got >= 0 && !content->failed && content->length > 0;
}

static bool write_all(int file, const char *content, int64_t bytes)
{
    while (bytes > 0) {
        ssize_t put = write(file, content, (size_t)bytes);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        content += put;
        bytes -= put;
    }
    return true;
}

void wk__gpu_cache_write(int folder, const wk__gpu_digest names[], int count, const char *content, int64_t bytes)
{
    static int64_t serial; /* distinguishes files of this process's threads */
    char whole[64], link_name[80], name[48];
    int64_t number = __atomic_add_fetch(&serial, 1, __ATOMIC_RELAXED);
    snprintf(whole, sizeof whole, "new.%ld.%lld", (long)getpid(), (long long)number);
    snprintf(link_name, sizeof link_name, "%s.link", whole);
    int file = openat(folder, whole, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) return;
    bool good = write_all(file, content, bytes);
    good = close(file) == 0 && good;
    for (int k = 0; good && k < count; k++) {
        file_name(names[k], name);
        if (linkat(folder, whole, folder, link_name, 0) != 0) break;
        if (renameat(folder, link_name, folder, name) != 0) break;
    }
    unlinkat(folder, link_name, 0);
    unlinkat(folder, whole, 0);
    if (number % TRIM_EVERY == 1) wk__gpu_cache_trim(folder);
}
