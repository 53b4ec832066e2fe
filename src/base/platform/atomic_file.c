/* SPDX-License-Identifier: Apache-2.0 */
/* Atomic replacement of files; see wk__atomic_file in file.h. */
#include "file.h"
#include "base/alloc.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char suffix[] = ".wick-saving"; /* unlikely to collide with another program's file */

/* Examines the target: absent, or a regular file whose permissions the new one inherits. A symbolic link is resolved,
 * so that the link remains and the file it refers to is replaced; a dangling link is rejected. `resolved` is the buffer
 * for the name of an existing target. */
static wk_code find_target(wk__atomic_file *save, const char *path, char resolved[PATH_MAX], const char **target,
                           wk__io_error *error)
{
    struct stat status;
    if (lstat(path, &status) != 0)
        return errno == ENOENT && *path ? WK_OK : wk__io_fail_errno(error, path, "save", errno);
    if (!realpath(path, resolved) || stat(resolved, &status) != 0) return wk__io_fail_errno(error, path, "save", errno);
    if (S_ISDIR(status.st_mode)) return wk__io_fail_errno(error, path, "save", EISDIR);
    if (!S_ISREG(status.st_mode))
        return wk__io_fail(error, WK_ERR_IO, "%s: cannot save: not a regular file", wk__printable_name(path).text);
    *target = resolved;
    save->target_exists = true;
    save->mode = status.st_mode & 07777;
    return WK_OK;
}

static bool name_refers_to(int fd, const char *name)
{
    struct stat open_one, named;
    return fstat(fd, &open_one) == 0 && lstat(name, &named) == 0 && open_one.st_dev == named.st_dev &&
           open_one.st_ino == named.st_ino;
}

/* Locks the temporary against other savers. Succeeds on file systems without locks. */
static bool lock(int fd)
{
    return flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

/* Creates and locks the temporary. Removing or renaming it requires its lock, and after locking a saver verifies that
 * the name still refers to the file it locked, so no two savers ever write to one file. Returns the descriptor, or -1
 * with errno; EWOULDBLOCK: another save is in progress. */
static int create_temporary(const char *name, mode_t mode)
{
    enum { ATTEMPTS = 64 }; /* an attempt fails only if another saver acted in between */
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        bool created = fd >= 0;
        if (!created && errno != EEXIST) return -1;
        if (!created) fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0 && errno == ENOENT) continue;
        if (fd < 0) return -1;
        bool locked = lock(fd);
        if (locked && created && name_refers_to(fd, name)) return fd;
        /* Existed before and is not locked: its writer is dead. */
        bool abandoned = locked && !created && name_refers_to(fd, name);
        int problem = abandoned && unlink(name) != 0 ? errno : !locked && !created ? EWOULDBLOCK : 0;
        close(fd);
        if (problem) {
            errno = problem;
            return -1;
        }
    }
    errno = EWOULDBLOCK;
    return -1;
}

wk_code wk__atomic_file_begin(wk__atomic_file *save, const char *path, wk__io_error *error)
{
    char resolved[PATH_MAX];
    const char *target = path;
    *save = (wk__atomic_file){.fd = -1};
    wk_code code = find_target(save, path, resolved, &target, error);
    if (code != WK_OK) return code;
    size_t length = strlen(target) + 1;
    save->path = wk__alloc(length + length + sizeof suffix);
    if (!save->path)
        return wk__io_fail(error, WK_ERR_MEMORY, "%s: cannot save: out of host memory", wk__printable_name(path).text);
    save->temporary = save->path + length;
    memcpy(save->path, target, length);
    memcpy(save->temporary, target, length);
    memcpy(save->temporary + length - 1, suffix, sizeof suffix);
    /* The replacement of a private file is private from the start. */
    save->fd = create_temporary(save->temporary, save->target_exists ? 0600 : 0666);
    if (save->fd >= 0) return WK_OK;
    if (errno == EWOULDBLOCK)
        code = wk__io_fail(error, WK_ERR_IO,
                           "%s: cannot save: another save of this file is in progress; with several ranks, save from "
                           "one: if (wk_dist_rank() == 0)",
                           wk__printable_name(path).text);
    else
        code = wk__io_fail_errno(error, path, "save", errno);
    wk__free(save->path);
    save->path = NULL;
    return code;
}

wk_code wk__atomic_file_write(wk__atomic_file *save, const void *bytes, int64_t count, wk__io_error *error)
{
    for (const char *next = bytes; count > 0;) {
        ssize_t put = write(save->fd, next, (size_t)count);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return wk__io_fail_errno(error, save->path, "save", errno);
        next += put, count -= put, save->bytes += put;
    }
    return WK_OK;
}

/* Makes the new directory entry durable. A folder without read permission cannot be opened, and some file systems
 * cannot flush folders; neither fails the save. */
static int flush_folder(const char *path)
{
    char folder[PATH_MAX] = ".";
    const char *slash = strrchr(path, '/');
    if (slash) {
        size_t length = slash == path ? 1 : (size_t)(slash - path);
        memcpy(folder, path, length);
        folder[length] = '\0';
    }
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return 0;
    int problem = fsync(fd) != 0 && errno != EINVAL ? errno : 0;
    close(fd);
    return problem;
}

static void end(wk__atomic_file *save)
{
    flock(save->fd, LOCK_UN); /* a forked child may still have the descriptor open */
    close(save->fd);
    wk__free(save->path);
    *save = (wk__atomic_file){.fd = -1};
}

/* Fails without removing the temporary, which belongs to another saver now. */
static wk_code fail_replaced(wk__atomic_file *save, wk__io_error *error)
{
    wk_code code = wk__io_fail(error, WK_ERR_IO, "%s: cannot save: another save replaced this file meanwhile",
                               wk__printable_name(save->path).text);
    end(save);
    return code;
}

wk_code wk__atomic_file_commit(wk__atomic_file *save, int64_t expected, wk__io_error *error)
{
    wk_code code = WK_OK;
    if (save->bytes != expected)
        code = wk__io_fail(error, WK_ERR_INTERNAL, "%s: %lld bytes were written, expected %lld",
                           wk__printable_name(save->path).text, (long long)save->bytes, (long long)expected);
    else if ((save->target_exists && fchmod(save->fd, save->mode) != 0) || fsync(save->fd) != 0)
        code = wk__io_fail_errno(error, save->path, "save", errno);
    if (code == WK_OK && !name_refers_to(save->fd, save->temporary)) /* on file systems without locks */
        return fail_replaced(save, error);
    if (code == WK_OK && rename(save->temporary, save->path) != 0)
        code = wk__io_fail_errno(error, save->path, "save", errno);
    if (code != WK_OK) {
        wk__atomic_file_abort(save);
        return code;
    }
    /* Closed after the rename, because closing drops the lock; fsync has already reported write errors. */
    int problem = flush_folder(save->path);
    if (problem) code = wk__io_fail_errno(error, save->path, "flush the folder of", problem);
    end(save);
    return code;
}

void wk__atomic_file_abort(wk__atomic_file *save)
{
    if (save->fd < 0) return;
    unlink(save->temporary);
    end(save);
}

wk_code wk__atomic_file_save(const char *path, const void *bytes, int64_t count, wk__io_error *error)
{
    wk__atomic_file save;
    wk_code code = wk__atomic_file_begin(&save, path, error);
    if (code == WK_OK) code = wk__atomic_file_write(&save, bytes, count, error);
    if (code == WK_OK) code = wk__atomic_file_commit(&save, count, error);
    wk__atomic_file_abort(&save);
    return code;
}
