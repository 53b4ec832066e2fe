/* SPDX-License-Identifier: Apache-2.0 */
/* File access for all formats: reads at any offset, atomic replacement, and errors that name the file and the system's
 * reason in English, independent of the locale. An object belongs to one thread at a time, except that several threads
 * may read from one wk__file. */
#ifndef WICK_BASE_FILE_H
#define WICK_BASE_FILE_H

#include "base/refcount.h"
#include <stdint.h>
#include <sys/types.h>
#include <wick/core.h>

/* ---- errors of readers and writers of formats -------------------------------------------------------------------- */

/* Reason why a call failed; not modified by a successful call. `text` lacks the call site, which the tensor layer
 * adds. */
typedef struct wk__io_error {
    wk_code code;
    char text[400];
} wk__io_error;

/* Fills *error and returns code. */
__attribute__((format(printf, 3, 4))) wk_code wk__io_fail(wk__io_error *error, wk_code code, const char *format, ...);
/* Formats "path: cannot WHAT: REASON" for an errno and returns WK_ERR_IO. */
wk_code wk__io_fail_errno(wk__io_error *error, const char *path, const char *what, int number);
/* Prepends the formatted text and ": " to the error's text. Returns its code. */
__attribute__((format(printf, 2, 3))) wk_code wk__io_prefix(wk__io_error *error, const char *format, ...);

/* Name for use in a message: control characters become '?', and the middle of a long name becomes "...", because both
 * ends matter: "layers.0.attention.query.weight", "/home/.../model.safetensors". */
typedef struct wk__printable {
    char text[112];
} wk__printable;
wk__printable wk__printable_name(const char *name);
wk__printable wk__printable_bytes(const char *name, int64_t bytes);

/* ---- reading ----------------------------------------------------------------------------------------------------- */

typedef struct wk__file {
    int fd;
    int64_t bytes;    /* size when opened */
    const char *path; /* for messages; owned by the caller */
} wk__file;

/* Opens a regular file and rejects anything else, such as a folder or a pipe; *file is closed and empty after a
 * failure. `path` must outlive *file. */
wk_code wk__file_open(wk__file *file, const char *path, wk__io_error *error);
void wk__file_close(wk__file *file);
/* Returns true if the path is that of a folder. */
bool wk__is_folder(const char *path);
/* Reads bytes at..at + count - 1 completely. Fails if the file has been truncated. Thread-safe. */
wk_code wk__file_read_at(const wk__file *file, int64_t at, void *to, int64_t count, wk__io_error *error);

/* ---- mapping ----------------------------------------------------------------------------------------------------- */

/* The bytes of a file in memory. Pages are read when they are first used; if the file has been shortened then, the
 * process gets SIGBUS. Writing changes a copy of the page, not the file. References are counted; any thread may drop
 * one, and the last ends the mapping, which does not need the open file. */
typedef struct wk__mapping {
    wk__counted counted;
    char *data;
    int64_t bytes;
} wk__mapping;

/* Maps a file that is not empty, with one reference. NULL after setting the error. */
wk__mapping *wk__file_map(const wk__file *file, wk__io_error *error);

/* ---- replacing --------------------------------------------------------------------------------------------------- */

/* Atomic replacement or creation of a file. Data goes to a temporary file next to the target until the commit, so that
 * after a crash or on a full disk `path` is the complete old file or the complete new one:
 *
 *     model.safetensors.wick-saving  -- written, flushed to disk -->  renamed to model.safetensors  -->  folder flushed
 *
 * The name of the temporary is fixed, so that the next save removes what a killed process left; a lock on it excludes
 * concurrent saves of one file. The new file inherits the permissions of the old one. */
typedef struct wk__atomic_file {
    int fd;             /* the temporary; -1 if no save is in progress */
    int64_t bytes;      /* written so far */
    char *path;         /* target, with symbolic links resolved */
    char *temporary;    /* name of the temporary; in the same block as path */
    bool target_exists; /* the target exists, with the permissions in `mode` */
    mode_t mode;
} wk__atomic_file;

/* Starts a save. Needs no cleanup after a failure. */
wk_code wk__atomic_file_begin(wk__atomic_file *save, const char *path, wk__io_error *error);
/* Appends bytes. After a failure only wk__atomic_file_abort() may follow. */
wk_code wk__atomic_file_write(wk__atomic_file *save, const void *bytes, int64_t count, wk__io_error *error);
/* Replaces the target and ends the save, on failure too. If the bytes written differ from `expected`, the size that the
 * format computed, fails with an internal error and keeps the old file. */
wk_code wk__atomic_file_commit(wk__atomic_file *save, int64_t expected, wk__io_error *error);
/* Saves all bytes of a file at once. */
wk_code wk__atomic_file_save(const char *path, const void *bytes, int64_t count, wk__io_error *error);
/* Ends the save and removes the temporary. Does nothing after a commit or a failed begin. */
void wk__atomic_file_abort(wk__atomic_file *save);

#endif
