/* SPDX-License-Identifier: Apache-2.0 */
/* Tests event files: bytes as TensorBoard's own writer gives them, folders, errors of the system.
 * tests/report/tensorboard_files.sh reads files with TensorBoard. */
#include "support/devices.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <sys/types.h>
#include <sys/wait.h>

#include "hostile/scratch.h"
#include <base/alloc.h>
#include <report/tensorboard_record.h>

/* Returns the path of a folder that no earlier run of this test has used. */
static const char *new_folder(const char *name)
{
    char unique[256];
    snprintf(unique, sizeof unique, "%s-%lld", name, (long long)getpid());
    return scratch(unique);
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

static void crc32c(void **state)
{
    (void)state;
    unsigned char bytes[32];
    assert_int_equal(wk__crc32c("", 0), 0);
    assert_int_equal(wk__crc32c("123456789", 9), 0xe3069283); /* the check value of the polynomial */
    /* RFC 3720, B.4 */
    memset(bytes, 0, sizeof bytes);
    assert_int_equal(wk__crc32c(bytes, 32), 0x8a9136aa);
    memset(bytes, 0xff, sizeof bytes);
    assert_int_equal(wk__crc32c(bytes, 32), 0x62a8ab43);
    for (int k = 0; k < 32; k++) bytes[k] = (unsigned char)k;
    assert_int_equal(wk__crc32c(bytes, 32), 0x46dd794e);
}

static void expect_bytes(wk__text *text, const char *bytes, int64_t count)
{
    assert_false(text->failed);
    assert_int_equal(text->length, count);
    assert_memory_equal(text->data, bytes, (size_t)count);
    wk__text_free(text);
}
#define EXPECT_BYTES(text, bytes) expect_bytes(text, bytes, sizeof(bytes) - 1)

/* Written by tensorboard 2.21: RecordWriter(file).write(Event(wall_time=1700000000.5, ...).SerializeToString()). */
static void bytes_of_records(void **state)
{
    (void)state;
    const double time = 1700000000.5;
    wk__text text = {0};
    wk__tensorboard_add_version(&text, time);
    EXPECT_BYTES(&text, "\x18\x00\x00\x00\x00\x00\x00\x00\xa3\x7f\x4b\x22\x09\x00\x00\x20\x40\xfc\x54\xd9\x41\x1a\x0d"
                        "brain.Event:2\x2b\x35\x31\x10");
    wk__tensorboard_add_scalar(&text, time, "loss/train", 0, 1.5f);
    EXPECT_BYTES(&text, "\x1e\x00\x00\x00\x00\x00\x00\x00\xd9\xdc\x12\x32\x09\x00\x00\x20\x40\xfc\x54\xd9\x41\x2a\x13"
                        "\x0a\x11\x0a\x0aloss/train\x15\x00\x00\xc0\x3f\x7b\x5e\x38\xee");
    wk__tensorboard_add_scalar(&text, time, "loss/train", 300, 0.25f);
    EXPECT_BYTES(&text, "\x21\x00\x00\x00\x00\x00\x00\x00\x01\x7b\xec\xf6\x09\x00\x00\x20\x40\xfc\x54\xd9\x41\x10\xac"
                        "\x02\x2a\x13\x0a\x11\x0a\x0aloss/train\x15\x00\x00\x80\x3e\x04\x9c\xba\xb9");
    wk__tensorboard_add_scalar(&text, time, "\xc3\xa9", -2, (float)NAN);
    EXPECT_BYTES(&text, "\x21\x00\x00\x00\x00\x00\x00\x00\x01\x7b\xec\xf6\x09\x00\x00\x20\x40\xfc\x54\xd9\x41\x10\xfe"
                        "\xff\xff\xff\xff\xff\xff\xff\xff\x01\x2a\x0b\x0a\x09\x0a\x02\xc3\xa9\x15\x00\x00\xc0\x7f\xeb"
                        "\xa0\x2f\x84");
}

/* A tag of 200 letters has a length of two bytes, as have the messages around it. */
static void bytes_of_a_long_tag(void **state)
{
    (void)state;
    static const char head[] = "\xe1\x00\x00\x00\x00\x00\x00\x00\x03\xb7\x48\x91\x09\x00\x00\x20\x40\xfc\x54\xd9\x41"
                               "\x10\x01\x2a\xd3\x01\x0a\xd0\x01\x0a\xc8\x01",
                      tail[] = "\x15\x00\x00\x80\xff\x9e\x68\xa6\x53";
    char tag[201] = "", bytes[256];
    memset(tag, 'a', 200);
    memcpy(bytes, head, sizeof head - 1);
    memset(bytes + sizeof head - 1, 'a', 200);
    memcpy(bytes + sizeof head - 1 + 200, tail, sizeof tail - 1);
    wk__text text = {0};
    wk__tensorboard_add_scalar(&text, 1700000000.5, tag, 1, -INFINITY);
    expect_bytes(&text, bytes, sizeof head - 1 + 200 + sizeof tail - 1);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static char text[1 << 16];

/* Reads the only event file of a folder. Returns the number of bytes. */
static int64_t read_folder(const char *folder)
{
    int64_t bytes = -1;
    DIR *open_one = opendir(folder);
    assert_non_null(open_one);
    for (const struct dirent *entry; (entry = readdir(open_one));) {
        if (entry->d_name[0] == '.') continue;
        assert_int_equal(strncmp(entry->d_name, "events.out.tfevents.", 20), 0);
        assert_true(bytes == -1);
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        bytes = (int64_t)fread(text, 1, sizeof text, file);
        fclose(file);
    }
    closedir(open_one);
    return bytes;
}

/* Returns the number of records in text, whose checksums must be correct. */
static int records(int64_t bytes)
{
    int count = 0;
    for (int64_t at = 0; at < bytes; count++) {
        uint64_t length;
        uint32_t stored, crc;
        memcpy(&length, text + at, 8);
        assert_true(at + 16 + (int64_t)length <= bytes);
        memcpy(&stored, text + at + 12 + length, 4);
        crc = wk__crc32c(text + at + 12, (int64_t)length);
        assert_int_equal(stored, (crc >> 15 | crc << 17) + 0xa282ead8u);
        at += 16 + (int64_t)length;
    }
    return count;
}

/* Values are in the file when a call returns. */
static void values_are_written_at_once(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        char folder[256];
        snprintf(folder, sizeof folder, "%s-%s", new_folder("runs//a/b"), wk_device_str(device));
        wk_tensorboard *board = wk_tensorboard_open(folder);
        expect_ok();
        assert_int_equal(read_folder(folder), 40);
        assert_int_equal(wk_tensorboard_scalar(board, "loss", 1, 0.5), WK_OK);
        assert_int_equal(records(read_folder(folder)), 2);
        wk_history *history = wk_history_new();
        assert_int_equal(wk_tensorboard_history(board, "loss", 2, history), WK_OK);
        assert_int_equal(records(read_folder(folder)), 2);
        for (int k = 0; k < 3; k++) wk_history_add(history, wk_full((), k, .device = device));
        assert_int_equal(wk_tensorboard_history(board, "loss", -1, history), WK_OK);
        assert_int_equal(wk_tensorboard_flush(board), WK_OK);
        const int64_t bytes = read_folder(folder);
        assert_int_equal(records(bytes), 5);
        /* the last value is 2 at step 1 */
        assert_memory_equal(text + bytes - 9, "\x15\x00\x00\x00\x40", 5);
        assert_memory_equal(text + bytes - 21, "\x10\x01\x2a\x0d", 4);
        wk_free(board);
        wk_tensorboard_scalar(board, "loss", 1, 0.5);
        expect_error("tensorboard_scalar: ", "the event file", NULL);
        wk_free(wk_tensorboard_open(folder)); /* another file in the same folder */
        DIR *all = opendir(folder);
        int files = 0;
        for (const struct dirent *entry; (entry = readdir(all));) files += entry->d_name[0] != '.';
        closedir(all);
        assert_int_equal(files, 2);
    }
}

static void mistakes(void **state)
{
    (void)state;
    WK_SCOPE;
    assert_null(wk_tensorboard_open(NULL));
    expect_error("tensorboard_open: the folder is NULL", NULL);
    assert_null(wk_tensorboard_open(""));
    expect_error("tensorboard_open: the folder is empty", NULL);
    FILE *file = fopen(scratch("a-file"), "w");
    assert_true(file && fclose(file) == 0);
    assert_null(wk_tensorboard_open(scratch("a-file/below")));
    expect_error("tensorboard_open: ", "a-file/below: cannot create the folder: Not a directory", NULL);
    assert_null(wk_tensorboard_open(scratch("a-file")));
    expect_error("tensorboard_open: ", ": cannot create: Not a directory", NULL);
    wk_tensorboard *board = wk_tensorboard_open(new_folder("mistakes"));
    assert_int_equal(wk_tensorboard_scalar(board, NULL, 0, 1), WK_ERR_ARGUMENT);
    expect_error("tensorboard_scalar: the tag is NULL", NULL);
    assert_int_equal(wk_tensorboard_scalar(board, "", 0, 1), WK_ERR_ARGUMENT);
    expect_error("tensorboard_scalar: the tag is empty", NULL);
    assert_int_equal(wk_tensorboard_scalar(board, "a\xff", 0, 1), WK_ERR_ARGUMENT);
    expect_error("tensorboard_scalar: the tag is not UTF-8", NULL);
    assert_int_equal(wk_tensorboard_history(board, "a", 0, NULL), WK_ERR_ARGUMENT);
    expect_error("tensorboard_history: the history is NULL", NULL);
    wk_history *history = wk_history_new();
    wk_history_add(history, wk_ones(()));
    assert_int_equal(wk_tensorboard_history(board, "a", INT64_MAX, history), WK_ERR_ARGUMENT);
    expect_error("tensorboard_history: steps from 9223372036854775807 on", "1 values", NULL);
    assert_int_equal(wk_tensorboard_flush(NULL), WK_ERR_ARGUMENT);
    expect_error("tensorboard_flush: the event file is NULL", NULL);
    wk_matmul(wk_ones((2, 3)), wk_ones((2, 3)));
    assert_int_equal(wk_tensorboard_scalar(board, "a", 0, 1), WK_ERR_SHAPE); /* an error is pending */
    wk_clear_error();
    assert_int_equal(read_folder(new_folder("mistakes")), 40);
}

/* ---- failures of the system -------------------------------------------------------------------------------------- */

/* The program's own definitions take precedence over those of the C library. */
static int64_t room = INT64_MAX; /* bytes that may still be written */
static bool no_disk;

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at)
{
    if (room == 0) return errno = ENOSPC, -1;
    const size_t fits = (int64_t)count < room ? count : (size_t)room;
    FILE *file = fdopen(dup(fd), "w");
    fseek(file, at, SEEK_SET);
    const size_t written = fwrite(bytes, 1, fits, file);
    fclose(file);
    room -= room == INT64_MAX ? 0 : (int64_t)written;
    return (ssize_t)written;
}
int fsync(int fd)
{
    (void)fd;
    return no_disk ? (errno = EIO, -1) : 0;
}

/* After a failed write the file has the records of the earlier calls, and later calls append. */
static void a_full_disk(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensorboard *board = wk_tensorboard_open(new_folder("full"));
    assert_int_equal(wk_tensorboard_scalar(board, "loss", 1, 0.5), WK_OK);
    room = 10;
    assert_int_equal(wk_tensorboard_scalar(board, "loss", 2, 0.25), WK_ERR_IO);
    room = INT64_MAX;
    expect_error("tensorboard_scalar: ", ": cannot write: No space left on device", NULL);
    assert_int_equal(records(read_folder(new_folder("full"))), 2);
    assert_int_equal(wk_tensorboard_scalar(board, "loss", 3, 0.25), WK_OK);
    assert_int_equal(records(read_folder(new_folder("full"))), 3);
    no_disk = true;
    assert_int_equal(wk_tensorboard_flush(board), WK_ERR_IO);
    no_disk = false;
    expect_error("tensorboard_flush: ", ": cannot flush: Input/output error", NULL);
    room = 0;
    assert_null(wk_tensorboard_open(new_folder("none")));
    room = INT64_MAX;
    expect_error("tensorboard_open: ", "No space left on device", NULL);
}

static void without_memory(void **state)
{
    (void)state;
    bool failed = true;
    for (int64_t n = 1; failed; n++) {
        WK_SCOPE;
        char folder[256];
        snprintf(folder, sizeof folder, "%s-%lld", new_folder("memory"), (long long)n);
        wk_tensorboard *spare = wk_tensorboard_open(folder);
        wk_history *history = wk_history_new();
        wk_history_add(history, wk_ones(()));
        wk_sync();
        expect_ok();
        wk__alloc_fail_at(n);
        wk_tensorboard *board = wk_tensorboard_open(new_folder("memory"));
        if (!board) board = spare;
        failed = wk_error() != NULL;
        if (!failed) failed = wk_tensorboard_scalar(board, "a", 0, 1) != WK_OK;
        if (!failed) failed = wk_tensorboard_history(board, "a", 0, history) != WK_OK;
        wk__alloc_fail_at(0);
        assert_true(!failed || wk_error_code() == WK_ERR_MEMORY);
        wk_clear_error();
        assert_int_equal(wk_tensorboard_scalar(spare, "a", 0, 1), WK_OK);
        assert_int_equal(wk_tensorboard_history(spare, "a", 0, history), WK_OK);
        assert_true(n < 2000);
    }
}

/* A child may not write to its parent's file, but to its own. */
static void files_of_children(void **state)
{
    (void)state;
    WK_SCOPE;
    const char *folder = new_folder("fork"), *other = new_folder("fork-child");
    wk_tensorboard *board = wk_tensorboard_open(folder);
    assert_int_equal(wk_tensorboard_scalar(board, "a", 1, 1), WK_OK);
    const pid_t child = fork();
    if (child == 0) {
        const bool refused = wk_tensorboard_scalar(board, "a", 2, 2) == WK_ERR_STATE &&
                             strstr(wk_error(), "opened by process") && strstr(wk_error(), "wk_tensorboard_open");
        wk_clear_error();
        const bool flush_refused = wk_tensorboard_flush(board) == WK_ERR_STATE;
        wk_clear_error();
        wk_tensorboard *own = wk_tensorboard_open(other);
        _exit(refused && flush_refused && wk_tensorboard_scalar(own, "b", 2, 2) == WK_OK ? 0 : 1);
    }
    int status = 1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(wk_tensorboard_scalar(board, "a", 3, 3), WK_OK);
    assert_int_equal(records(read_folder(folder)), 3);
    assert_int_equal(records(read_folder(other)), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crc32c),
        cmocka_unit_test(bytes_of_records),
        cmocka_unit_test(bytes_of_a_long_tag),
        cmocka_unit_test(values_are_written_at_once),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(files_of_children),
        cmocka_unit_test(a_full_disk),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
