/* SPDX-License-Identifier: Apache-2.0 */
/* Tests files: reads, and atomic replacement, whatever fails at whatever time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "hostile/scratch.h"
#include "base/platform/file.h"

#define GOOD(call)                                                                                                     \
    if ((call) != WK_OK) fail_msg("%s: %s", #call, error.text)

static void check_error(wk_code code, wk_code expected, const wk__io_error *error, const char *word)
{
    assert_int_equal(code, expected);
    assert_int_equal(error->code, expected);
    if (!strstr(error->text, word)) fail_msg("\"%s\" does not contain \"%s\"", error->text, word);
}

static void write_file(const char *path, const char *content)
{
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    fputs(content, stream);
    fclose(stream);
}

/* Returns the complete content of a file, up to a limit that no test reaches; the next call overwrites it. */
static const char *read_file(const char *path, int64_t *bytes)
{
    static char data[1 << 20];
    wk__io_error error;
    wk__file file;
    GOOD(wk__file_open(&file, path, &error));
    *bytes = file.bytes;
    assert_true(file.bytes <= (int64_t)sizeof data);
    GOOD(wk__file_read_at(&file, 0, data, file.bytes, &error));
    wk__file_close(&file);
    return data;
}

static void check_content(const char *path, const char *expected)
{
    int64_t bytes;
    const char *data = read_file(path, &bytes);
    assert_int_equal(bytes, strlen(expected));
    assert_memory_equal(data, expected, strlen(expected));
}

/* Expects that no temporary file remains after a save. */
static void check_no_temporary(const char *path)
{
    char temporary[4200];
    snprintf(temporary, sizeof temporary, "%s.wick-saving", path);
    assert_int_equal(access(temporary, F_OK), -1);
}

static wk_code save_text(const char *path, const char *content, wk__io_error *error)
{
    wk__atomic_file save;
    wk_code code = wk__atomic_file_begin(&save, path, error);
    if (code == WK_OK) code = wk__atomic_file_write(&save, content, (int64_t)strlen(content), error);
    if (code == WK_OK) code = wk__atomic_file_commit(&save, (int64_t)strlen(content), error);
    wk__atomic_file_abort(&save);
    return code;
}

static mode_t mode_of(const char *path)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return status.st_mode & 07777;
}

/* ---- reading ------------------------------------------------------------------------------------------------------
 */

static void reads_at_any_offset(void **state)
{
    (void)state;
    wk__io_error error;
    wk__file file;
    char data[4] = "";
    const char *path = scratch("parts");
    write_file(path, "0123456789");
    GOOD(wk__file_open(&file, path, &error));
    assert_int_equal(file.bytes, 10);
    GOOD(wk__file_read_at(&file, 7, data, 3, &error));
    assert_string_equal(data, "789");
    GOOD(wk__file_read_at(&file, 10, data, 0, &error));
    check_error(wk__file_read_at(&file, 8, data, 3, &error), WK_ERR_IO, &error, "ends at byte 10");
    check_error(wk__file_read_at(&file, -1, data, 1, &error), WK_ERR_IO, &error, "Invalid argument");
    wk__file_close(&file);
}

static void refuses_other_than_files(void **state)
{
    (void)state;
    wk__io_error error;
    wk__file file;
    const char *pipe_path = scratch("pipe");
    unlink(pipe_path);
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    check_error(wk__file_open(&file, "no/such/file", &error), WK_ERR_IO, &error,
                "no/such/file: cannot open: No such file or directory");
    check_error(wk__file_open(&file, "", &error), WK_ERR_IO, &error, "No such file or directory");
    check_error(wk__file_open(&file, "/", &error), WK_ERR_IO, &error, "/: cannot read: Is a directory");
    check_error(wk__file_open(&file, "/dev/null", &error), WK_ERR_IO, &error, "not a regular file");
    check_error(wk__file_open(&file, pipe_path, &error), WK_ERR_IO, &error, "not a regular file");
    check_error(wk__file_open(&file, "/dev/null/x", &error), WK_ERR_IO, &error, "Not a directory");
    check_error(save_text(pipe_path, "x", &error), WK_ERR_IO, &error, "not a regular file");
    unlink(pipe_path);
}

/* ---- messages -----------------------------------------------------------------------------------------------------
 */

static void messages_are_english_in_every_locale(void **state)
{
    (void)state;
    wk__io_error error;
    wk__file file;
    const char *locales[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "C.UTF-8", "C"};
    for (size_t k = 0; k < sizeof locales / sizeof *locales; k++) {
        setlocale(LC_ALL, locales[k]); /* the locales of this machine */
        check_error(wk__file_open(&file, "missing", &error), WK_ERR_IO, &error, "No such file or directory");
    }
    check_error(wk__io_fail_errno(&error, "f", "open", 123456), WK_ERR_IO, &error, "f: cannot open: error 123456");
}

static void names_are_shown_short_and_plain(void **state)
{
    (void)state;
    assert_string_equal(wk__printable_name("layers.0.weight").text, "layers.0.weight");
    assert_string_equal(wk__printable_name("a\nb\x1b[31m\x7f").text, "a?b?[31m?");
    assert_string_equal(wk__printable_name("").text, "");
    char name[3000], copy[400];
    for (size_t length = 90; length < sizeof name; length += length < 130 ? 1 : 500) {
        memset(name, 'a', length);
        memset(name + length / 2, 'z', length - length / 2);
        name[length] = '\0';
        wk__printable shown = wk__printable_name(name);
        assert_true(strlen(shown.text) < sizeof shown.text);
        assert_int_equal(shown.text[0], 'a');
        assert_int_equal(shown.text[strlen(shown.text) - 1], 'z');
        assert_true((strstr(shown.text, "...") != NULL) == (length >= sizeof shown.text));
    }
    /* characters of two bytes are not split, wherever they begin */
    for (size_t shift = 0; shift < 2; shift++) {
        memset(name, 'x', shift);
        for (size_t k = 0; k < 100; k++) memcpy(name + shift + 2 * k, "é", 3);
        wk__printable shown = wk__printable_name(name);
        char *gap = strstr(shown.text, "...");
        assert_non_null(gap);
        assert_int_equal((gap - shown.text - (ptrdiff_t)shift) % 2, 0);
        assert_int_equal(strlen(gap + 3) % 2, 0);
    }
    wk__io_error error;
    memset(copy, 'p', sizeof copy - 1);
    copy[sizeof copy - 1] = '\0';
    wk__io_fail(&error, WK_ERR_FORMAT, "%s", copy);
    assert_int_equal(wk__io_prefix(&error, "%s", "file"), WK_ERR_FORMAT);
    assert_int_equal(strlen(error.text), sizeof error.text - 1);
    assert_memory_equal(error.text, "file: ppp", 9);
    wk__io_prefix(&error, "%s", copy);
    assert_memory_equal(error.text + sizeof error.text - 6, "ppp: ", 5);
}

/* ---- replacing ----------------------------------------------------------------------------------------------------
 */

static void replaces_and_keeps_permissions(void **state)
{
    (void)state;
    wk__io_error error;
    const char *path = scratch("kept");
    unlink(path);
    mode_t mask = umask(027);
    GOOD(save_text(path, "first", &error));
    assert_int_equal(mode_of(path), 0640);
    const mode_t modes[] = {0600, 0644, 0444, 0755};
    for (size_t k = 0; k < sizeof modes / sizeof *modes; k++) {
        assert_int_equal(chmod(path, modes[k]), 0);
        GOOD(save_text(path, k % 2 ? "odd" : "even", &error));
        check_content(path, k % 2 ? "odd" : "even");
        assert_int_equal(mode_of(path), modes[k]);
    }
    umask(mask);
    check_no_temporary(path);
}

static void a_link_stays_a_link(void **state)
{
    (void)state;
    wk__io_error error;
    char target[4096];
    snprintf(target, sizeof target, "%s", scratch("behind"));
    const char *link_path = scratch("link");
    unlink(link_path);
    write_file(target, "old");
    assert_int_equal(symlink(target, link_path), 0);
    GOOD(save_text(link_path, "new", &error));
    check_content(target, "new");
    struct stat status;
    assert_int_equal(lstat(link_path, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    unlink(target);
    check_error(save_text(link_path, "new", &error), WK_ERR_IO, &error, "No such file or directory");
    unlink(link_path);
}

/* Saves use only this test's folder: an erroneous library must not replace other files of the machine. */
static void paths_that_cannot_be_saved(void **state)
{
    (void)state;
    wk__io_error error;
    char name[400], folder[4096];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    snprintf(folder, sizeof folder, "%s", scratch("folder"));
    write_file(scratch("plain"), "x");
    mkdir(folder, 0700);
    check_error(save_text(scratch("no/such/folder/file"), "x", &error), WK_ERR_IO, &error, "No such file or directory");
    check_error(save_text("", "x", &error), WK_ERR_IO, &error, "No such file or directory");
    check_error(save_text(folder, "x", &error), WK_ERR_IO, &error, "folder: cannot save: Is a directory");
    check_error(save_text(scratch("plain/x"), "x", &error), WK_ERR_IO, &error, "Not a directory");
    check_error(save_text(scratch(name), "x", &error), WK_ERR_IO, &error, "File name too long");
    rmdir(folder);
    wk__alloc_fail_at(1);
    check_error(save_text(scratch("memory"), "x", &error), WK_ERR_MEMORY, &error, "memory");
    wk__alloc_fail_at(0);
}

static void cancel_leaves_the_old_file(void **state)
{
    (void)state;
    wk__io_error error;
    wk__atomic_file save;
    const char *path = scratch("cancelled");
    write_file(path, "old");
    GOOD(wk__atomic_file_begin(&save, path, &error));
    GOOD(wk__atomic_file_write(&save, "new", 3, &error));
    wk__atomic_file_abort(&save);
    wk__atomic_file_abort(&save);
    check_content(path, "old");
    check_no_temporary(path);
    GOOD(wk__atomic_file_begin(&save, path, &error));
    GOOD(wk__atomic_file_write(&save, "new", 3, &error));
    check_error(wk__atomic_file_commit(&save, 4, &error), WK_ERR_INTERNAL, &error, "3 bytes were written, expected 4");
    wk__atomic_file_abort(&save);
    check_content(path, "old");
    check_no_temporary(path);
}

/* Begins a save of `path` whose temporary is another file, so errors of that file happen to the save. */
static wk__atomic_file save_into(const char *path, const char *device)
{
    wk__io_error error;
    wk__atomic_file save;
    GOOD(wk__atomic_file_begin(&save, path, &error));
    int fd = open(device, O_WRONLY);
    assert_true(fd >= 0);
    dup2(fd, save.fd);
    close(fd);
    return save;
}

static void failures_leave_the_old_file(void **state)
{
    (void)state;
    wk__io_error error;
    const char *path = scratch("failing");
    write_file(path, "old");

    wk__atomic_file save = save_into(path, "/dev/full");
    check_error(wk__atomic_file_write(&save, "new", 3, &error), WK_ERR_IO, &error,
                "cannot save: No space left on device");
    wk__atomic_file_abort(&save);
    check_content(path, "old");
    check_no_temporary(path);

    save = save_into(path, "/dev/null"); /* accepts bytes, but cannot be flushed */
    save.target_exists = false;          /* and keeps its permissions */
    GOOD(wk__atomic_file_write(&save, "new", 3, &error));
    check_error(wk__atomic_file_commit(&save, 3, &error), WK_ERR_IO, &error, "cannot save: Invalid argument");
    check_content(path, "old");
    check_no_temporary(path);

    GOOD(wk__atomic_file_begin(&save, path, &error)); /* without locks another save may use the temporary */
    const char *temporary = scratch("failing.wick-saving");
    unlink(temporary);
    write_file(temporary, "another's");
    check_error(wk__atomic_file_commit(&save, 0, &error), WK_ERR_IO, &error, "replaced this file meanwhile");
    check_content(path, "old");
    check_content(temporary, "another's");
    unlink(temporary);

    GOOD(wk__atomic_file_begin(&save, path, &error));
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0); /* an obstacle appeared in between */
    check_error(wk__atomic_file_commit(&save, 0, &error), WK_ERR_IO, &error, "cannot save: Is a directory");
    rmdir(path);
    check_no_temporary(path);
}

/* Runs `body` in a child, which ends by exit or a signal within it. */
static int in_child(void (*body)(const char *path), const char *path)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        body(path);
        _exit(99);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void save_to_a_small_disk(const char *path)
{
    wk__io_error error;
    wk__atomic_file save;
    static const char block[4096];
    struct rlimit limit = {10000, 10000};
    signal(SIGXFSZ, SIG_IGN);
    if (wk__atomic_file_begin(&save, path, &error) != WK_OK || setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(1);
    int blocks = 0;
    while (wk__atomic_file_write(&save, block, sizeof block, &error) == WK_OK) blocks++;
    wk__atomic_file_abort(&save);
    _exit(blocks == 2 && strstr(error.text, "File too large") ? 0 : 2);
}

static void save_and_be_killed(const char *path)
{
    wk__io_error error;
    wk__atomic_file save;
    if (wk__atomic_file_begin(&save, path, &error) != WK_OK || wk__atomic_file_write(&save, "half", 4, &error) != WK_OK)
        _exit(1);
    raise(SIGKILL);
}

static void a_full_disk_and_a_kill(void **state)
{
    (void)state;
    wk__io_error error;
    const char *path = scratch("killed");
    write_file(path, "old");
    int status = in_child(save_to_a_small_disk, path);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    check_content(path, "old");
    check_no_temporary(path);

    status = in_child(save_and_be_killed, path);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    check_content(path, "old");
    GOOD(save_text(path, "new", &error)); /* removes the dead save's file */
    check_content(path, "new");
    check_no_temporary(path);
}

static void saves_of_one_file_exclude_each_other(void **state)
{
    (void)state;
    wk__io_error error;
    wk__atomic_file first, second;
    const char *path = scratch("twice");
    write_file(path, "old");
    GOOD(wk__atomic_file_begin(&first, path, &error));
    GOOD(wk__atomic_file_write(&first, "first", 5, &error));
    check_error(wk__atomic_file_begin(&second, path, &error), WK_ERR_IO, &error,
                "another save of this file is in progress");
    check_error(wk__atomic_file_begin(&second, path, &error), WK_ERR_IO, &error,
                "save from one: if (wk_dist_rank() == 0)");
    wk__atomic_file_abort(&second);
    GOOD(wk__atomic_file_commit(&first, 5, &error));
    check_content(path, "first");
    GOOD(save_text(path, "second", &error));
    check_content(path, "second");
}

static void obstacles_to_the_temporary(void **state)
{
    (void)state;
    wk__io_error error;
    const char *path = scratch("way"), *temporary = scratch("way.wick-saving");
    unlink(temporary);
    write_file(path, "old");
    assert_int_equal(symlink(path, temporary), 0); /* is not followed */
    check_error(save_text(path, "x", &error), WK_ERR_IO, &error, "Too many levels of symbolic links");
    check_content(path, "old");
    unlink(temporary);
    assert_int_equal(mkdir(temporary, 0700), 0);
    check_error(save_text(path, "x", &error), WK_ERR_IO, &error, "Is a directory");
    rmdir(temporary);
    write_file(temporary, "left by a saver that died");
    chmod(temporary, 0444);
    GOOD(save_text(path, "x", &error));
    check_content(path, "x");
    check_no_temporary(path);
}

/* Processes that save are killed at random moments while this one reads: it always reads a complete file. */
enum { SAVED = 100000 };

static void save_forever(const char *path)
{
    wk__io_error error;
    static char block[SAVED];
    for (char letter = 'a';; letter = letter == 'z' ? 'a' : (char)(letter + 1)) {
        wk__atomic_file save;
        memset(block, letter, sizeof block);
        if (wk__atomic_file_begin(&save, path, &error) != WK_OK) continue;
        if (wk__atomic_file_write(&save, block, sizeof block, &error) == WK_OK)
            wk__atomic_file_commit(&save, sizeof block, &error);
        wk__atomic_file_abort(&save);
    }
}

static void killed_at_random_moments(void **state)
{
    (void)state;
    wk__io_error error;
    const char *path = scratch("torn");
    unlink(path);
    for (int round = 0; round < 60; round++) {
        fflush(NULL);
        pid_t children[2];
        for (int k = 0; k < 2; k++)
            if ((children[k] = fork()) == 0) save_forever(path);
        usleep((useconds_t)(1000 + 300 * round));
        for (int k = 0; k < 2; k++) {
            kill(children[k], SIGKILL);
            waitpid(children[k], NULL, 0);
        }
        int64_t bytes;
        if (access(path, F_OK) != 0) continue; /* both died before their first save */
        const char *data = read_file(path, &bytes);
        assert_int_equal(bytes, SAVED);
        for (int64_t k = 0; k < bytes; k++)
            if (data[k] != *data) fail_msg("an incomplete file: byte %lld", (long long)k);
    }
    GOOD(save_text(path, "whole", &error));
    check_content(path, "whole");
    check_no_temporary(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_at_any_offset),
        cmocka_unit_test(refuses_other_than_files),
        cmocka_unit_test(messages_are_english_in_every_locale),
        cmocka_unit_test(names_are_shown_short_and_plain),
        cmocka_unit_test(replaces_and_keeps_permissions),
        cmocka_unit_test(a_link_stays_a_link),
        cmocka_unit_test(paths_that_cannot_be_saved),
        cmocka_unit_test(cancel_leaves_the_old_file),
        cmocka_unit_test(failures_leave_the_old_file),
        cmocka_unit_test(a_full_disk_and_a_kill),
        cmocka_unit_test(saves_of_one_file_exclude_each_other),
        cmocka_unit_test(obstacles_to_the_temporary),
        cmocka_unit_test(killed_at_random_moments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
