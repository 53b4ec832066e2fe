/* Reading of files; see file.h. */
#include "file.h"
#include "alloc.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

wk_code wk__file_open(wk__file *file, const char *path, wk__io_error *error)
{
    *file = (wk__file){.fd = -1, .path = path};
    /* Without O_NONBLOCK opening a pipe would wait for its writer. */
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
        return wk__io_fail(error, WK_ERR_IO, "%s: cannot read: not a regular file", wk__show(path).text);
    }
    file->fd = fd;
    file->bytes = status.st_size;
    return WK_OK;
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
            return wk__io_fail(error, WK_ERR_IO, "%s: ends at byte %lld, where it had %lld more when it was opened",
                               wk__show(file->path).text, (long long)at, (long long)count);
        next += got, at += got, count -= got;
    }
    return WK_OK;
}

static wk_code read_open(const wk__file *file, int64_t limit, void **data, wk__io_error *error)
{
    if (file->bytes > limit)
        return wk__io_fail(error, WK_ERR_FORMAT, "%s: has %lld bytes, more than the %lld that are read",
                           wk__show(file->path).text, (long long)file->bytes, (long long)limit);
    char *block = wk__alloc((size_t)file->bytes);
    if (!block)
        return wk__io_fail(error, WK_ERR_MEMORY, "%s: no memory for its %lld bytes", wk__show(file->path).text,
                           (long long)file->bytes);
    wk_code code = wk__file_read_at(file, 0, block, file->bytes, error);
    if (code != WK_OK)
        wk__free(block);
    else
        *data = block;
    return code;
}

wk_code wk__file_read_all(const char *path, int64_t limit, void **data, int64_t *bytes, wk__io_error *error)
{
    wk__file file;
    wk_code code = wk__file_open(&file, path, error);
    if (code != WK_OK) return code;
    code = read_open(&file, limit, data, error);
    if (code == WK_OK) *bytes = file.bytes;
    wk__file_close(&file);
    return code;
}
