/* SPDX-License-Identifier: Apache-2.0 */
/* wk_tensorboard: an open event file. Each call appends complete records with one write; after a failed write the file
 * is cut to the records before it, so that readers never meet half a record. */
#include "base/alloc.h"
#include "base/platform/file.h"
#include "base/utf8.h"
#include "data/metric_history.h"
#include "io/save_load.h"
#include "tensorboard_record.h"
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <wick/tensorboard.h>

struct wk_tensorboard {
    wk__handle handle;
};

typedef struct event_file {
    int fd;
    pid_t owner;   /* the process that opened it */
    int64_t bytes; /* of complete records */
    char *path;    /* owned; for messages */
} event_file;

static void destroy(void *body)
{
    event_file *f = body;
    if (f->fd >= 0) close(f->fd);
    wk__free(f->path);
    wk__free(f);
}

static const wk__handle_type tensorboard_type = {.name = "event file", .destroy = destroy};

/* ---- creation ---------------------------------------------------------------------------------------------------- */

/* Creates the folder and its parents. Changes `path` and restores it. Returns 0 or an errno. */
static int make_folders(char *path)
{
    for (char *at = path + 1;; at++) {
        const char here = *at;
        if (here != '/' && here != '\0') continue;
        *at = '\0';
        const bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
        const int problem = made ? 0 : errno;
        *at = here;
        if (here == '\0' || (problem && problem != EACCES && problem != EROFS)) return problem;
    }
}

static double wall_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Returns the path of a new event file in a folder, in memory of the caller; NULL on allocation failure. */
static char *new_path(const char *folder, int64_t seconds)
{
    static atomic_int files;
    char host[256] = "";
    if (gethostname(host, sizeof host - 1) != 0 || !*host) strcpy(host, "localhost");
    for (char *c = host; *c; c++)
        if (*c == '/') *c = '-';
    wk__text path = {0};
    wk__text_format(&path, "%s/events.out.tfevents.%010lld.%s.%lld.%d", folder, (long long)seconds, host,
                    (long long)getpid(), atomic_fetch_add(&files, 1));
    if (!path.failed) return path.data;
    wk__text_free(&path);
    return NULL;
}

static wk_code append_bytes(event_file *f, const wk__text *text, wk__io_error *error)
{
    if (text->failed) return wk__io_fail(error, WK_ERR_MEMORY, "out of host memory");
    int64_t done = 0;
    while (done < text->length) {
        const ssize_t put = pwrite(f->fd, text->data + done, (size_t)(text->length - done), f->bytes + done);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) {
            const int problem = put < 0 ? errno : ENOSPC;
            if (ftruncate(f->fd, f->bytes) != 0) errno = problem;
            return wk__io_fail_errno(error, f->path, "write", problem);
        }
        done += put;
    }
    f->bytes += done;
    return WK_OK;
}

static wk_code open_file(event_file *f, const char *folder, wk__io_error *error)
{
    const double now = wall_time();
    char *parents = wk__strdup(folder);
    f->path = parents ? new_path(folder, (int64_t)now) : NULL;
    const int problem = f->path ? make_folders(parents) : 0;
    wk__free(parents);
    if (!f->path) return wk__io_fail(error, WK_ERR_MEMORY, "out of host memory");
    if (problem) return wk__io_fail_errno(error, folder, "create the folder", problem);
    f->fd = open(f->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (f->fd < 0) return wk__io_fail_errno(error, f->path, "create", errno);
    wk__text first = {0};
    wk__tensorboard_add_version(&first, now);
    const wk_code code = append_bytes(f, &first, error);
    wk__text_free(&first);
    return code;
}

wk_tensorboard *wk_tensorboard_open_at(wk_site site, const char *folder)
{
    static const char op[] = "tensorboard_open";
    if (!folder || !*folder) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: the folder is %s", op, folder ? "empty" : "NULL");
        return NULL;
    }
    event_file *f = wk__alloc_zero(1, sizeof *f);
    wk__io_error error;
    if (f) {
        f->fd = -1;
        f->owner = getpid();
    }
    const wk_code code = f ? open_file(f, folder, &error) : WK_OK;
    if (code == WK_OK) return wk__handle_wrap(site, &tensorboard_type, f, f != NULL, op);
    destroy(f);
    wk__error_set(site, code, "%s: %s", op, error.text);
    return NULL;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* Returns the body of a handle; NULL after recording an error, or if one is pending. In a child of fork() the parent's
 * file is refused: each process counts only the bytes it wrote itself, so they would overwrite each other's records. */
static event_file *body_of(wk_site site, const char *op, const wk_tensorboard *handle)
{
    if (!wk__handle_check(handle, &tensorboard_type, site, op, "the event file") || wk__error_pending()) return NULL;
    event_file *f = wk__handle_body(handle);
    if (f->owner == getpid()) return f;
    wk__error_set(site, WK_ERR_STATE,
                  "%s: the event file was opened by process %lld, of which this one is a fork; call "
                  "wk_tensorboard_open in this process",
                  op, (long long)f->owner);
    return NULL;
}

static wk_code write_values(wk_site site, const char *op, event_file *f, const char *tag, int64_t step,
                            const double *values, int64_t count)
{
    wk__text records = {0};
    wk__io_error error;
    const double now = wall_time();
    for (int64_t k = 0; k < count && !records.failed; k++)
        wk__tensorboard_add_scalar(&records, now, tag, step + k, (float)values[k]);
    const wk_code code = append_bytes(f, &records, &error);
    wk__text_free(&records);
    if (code != WK_OK) wk__error_set(site, code, "%s: %s", op, error.text);
    return code;
}

/* TensorBoard reads no further than a string that is not UTF-8. */
static bool check_tag(wk_site site, const char *op, const char *tag)
{
    if (tag && *tag && wk__is_utf8(tag)) return true;
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: the tag is %s", op, !tag ? "NULL" : *tag ? "not UTF-8" : "empty");
    return false;
}

wk_code wk_tensorboard_scalar_at(wk_site site, wk_tensorboard *board, const char *tag, int64_t step, double value)
{
    static const char op[] = "tensorboard_scalar";
    event_file *f = body_of(site, op, board);
    return f && check_tag(site, op, tag) ? write_values(site, op, f, tag, step, &value, 1) : wk_error_code();
}

wk_code wk_tensorboard_history_at(wk_site site, wk_tensorboard *board, const char *tag, int64_t step,
                                  wk_history *history)
{
    static const char op[] = "tensorboard_history";
    event_file *f = body_of(site, op, board);
    const double *values;
    int64_t count, end;
    if (!f || !check_tag(site, op, tag) || !wk__metric_history_read(site, op, history, &values, &count))
        return wk_error_code();
    if (wk__add_size(step, count, &end)) return write_values(site, op, f, tag, step, values, count);
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: steps from %lld on exceed 2^63 - 1; the history has %lld values", op,
                  (long long)step, (long long)count);
    return WK_ERR_ARGUMENT;
}

wk_code wk_tensorboard_flush_at(wk_site site, wk_tensorboard *board)
{
    static const char op[] = "tensorboard_flush";
    const event_file *f = body_of(site, op, board);
    wk__io_error error;
    if (!f) return wk_error_code();
    if (fsync(f->fd) == 0) return WK_OK;
    const wk_code code = wk__io_fail_errno(&error, f->path, "flush", errno);
    wk__error_set(site, code, "%s: %s", op, error.text);
    return code;
}
