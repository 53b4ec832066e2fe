/* SPDX-License-Identifier: Apache-2.0 */
/* Files as the formats need them: read at any place, replaced as a whole or not at all, with errors that name the file
 * and say in English, whatever the locale, what the system refused. */
#ifndef WICK_BASE_FILE_H
#define WICK_BASE_FILE_H

#include <stdint.h>
#include <sys/types.h>
#include <wick/core.h>

/* ---- errors of everything that reads or writes a format ---------------------------------------------------------- */

/* Why a call failed; untouched by a call that succeeds. `text` is a sentence without file and line of the program: the
 * tensor layer adds them. */
typedef struct wk__io_error {
    wk_code code;
    char text[400];
} wk__io_error;

/* Fills *error and returns code. */
__attribute__((format(printf, 3, 4))) wk_code wk__io_fail(wk__io_error *error, wk_code code, const char *format, ...);
/* "path: cannot what: what the system says of `number`, an errno". */
wk_code wk__io_fail_errno(wk__io_error *error, const char *path, const char *what, int number);
/* Puts the formatted words and ": " in front of the text of an error. Returns its code. */
__attribute__((format(printf, 2, 3))) wk_code wk__io_prefix(wk__io_error *error, const char *format, ...);

/* A name for use in a message: control characters as '?', the middle of a long one as "...". Both ends tell most:
 * "layers.0.attention.query.weight", "/home/.../model.safetensors". */
typedef struct wk__printable {
    char text[112];
} wk__printable;
wk__printable wk__printable_name(const char *name);

/* ---- reading ----------------------------------------------------------------------------------------------------- */

typedef struct wk__file {
    int fd;
    int64_t bytes;    /* size when it was opened */
    const char *path; /* the caller's, for messages */
} wk__file;

/* Opens a regular file; anything else (a folder, a pipe, a device) is refused: then *file is closed and empty. `path`
 * must live as long as *file. */
wk_code wk__file_open(wk__file *file, const char *path, wk__io_error *error);
void wk__file_close(wk__file *file);
/* Reads all of bytes at..at + count - 1; fails when the file has become shorter. Threads may read one file together. */
wk_code wk__file_read_at(const wk__file *file, int64_t at, void *to, int64_t count, wk__io_error *error);

/* ---- replacing --------------------------------------------------------------------------------------------------- */

/* A file on its way to replace another, or to come into being. Until the commit it is a temporary beside its target, so
 * whatever happens, a kill or a full disk, `path` is the whole old file or the whole new one:
 *
 *     model.safetensors.wick-saving  -- written, flushed to disk -->  renamed to model.safetensors  -->  folder flushed
 *
 * The temporary's name is fixed, so that what a killed process left is removed by the next save; a lock on it keeps two
 * savers of one file apart. The new file has the permissions of the old one. */
typedef struct wk__atomic_file {
    int fd;             /* of the temporary; -1 when no save is under way */
    int64_t bytes;      /* written so far */
    char *path;         /* the target, symbolic links followed */
    char *temporary;    /* its name; same memory as path */
    bool target_exists; /* there is an older file, with these permissions: */
    mode_t mode;
} wk__atomic_file;

/* Begins. When it fails there is nothing to clean up. */
wk_code wk__atomic_file_begin(wk__atomic_file *save, const char *path, wk__io_error *error);
/* Adds bytes at the end. After a failure only wk__atomic_file_abort makes sense. */
wk_code wk__atomic_file_write(wk__atomic_file *save, const void *bytes, int64_t count, wk__io_error *error);
/* Puts the new file in place and ends the save, well or not. `expected` is the number of bytes that the format
 * promised: another number is an internal error, and the old file stays. */
wk_code wk__atomic_file_commit(wk__atomic_file *save, int64_t expected, wk__io_error *error);
/* Ends the save without a trace. Does nothing after a commit or a failed begin. */
void wk__atomic_file_abort(wk__atomic_file *save);

#endif
