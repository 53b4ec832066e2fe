/* SPDX-License-Identifier: Apache-2.0 */
/* Reading files; see file.h. */
#include "file.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

wk_code wk__file_open(wk__file *file, const char *path, wk__io_error *error)
{
    *file = (wk__file){.fd = -1, .path = path};
    /* without O_NONBLOCK, opening a pipe would wait for its writer */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return wk__io_fail_errno(error, path, "open", errno);
    struct stat status;
    int problem = fstat(fd, &status) != 0 ? errno : S_ISDIR(status.st_mode) ? EISDIR : 0;
    if (problem) {
        close(fd);
        return wk__io_fail_errno(error, path, "read", problem);
    }
    if (!S_ISREG(status.st_mode)) {
        close(fd);
        return wk__io_fail(error, WK_ERR_IO, "%s: cannot read: not a regular file", wk__printable_name(path).text);
    }
    file->fd = fd;
    file->bytes = status.st_size;
    return WK_OK;
}

bool wk__is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

void wk__file_close(wk__file *file)
{
    close(file->fd);
    file->fd = -1;
}

wk_code wk__file_read_at(const wk__file *file, int64_t at, void *to, int64_t count, wk__io_error *error)
{
    for (char *next = to; count > 0;) {
        ssize_t got = pread(file->fd, next, (size_t)count, at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return wk__io_fail_errno(error, file->path, "read", errno);
        if (got == 0)
            return wk__io_fail(error, WK_ERR_IO,
                               "%s: truncated while being read: ends at byte %lld, %lld bytes missing",
                               wk__printable_name(file->path).text, (long long)at, (long long)count);
        next += got, at += got, count -= got;
    }
    return WK_OK;
}
