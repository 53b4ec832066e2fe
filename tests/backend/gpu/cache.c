/* SPDX-License-Identifier: Apache-2.0 */
/* The cache of compiled programs on disk: a second process compiles nothing; damaged or foreign files are not used.
 * Each access is a separate process: this program, with the names of cases as its argument. */
#include "test.h"

#include "backend/gpu/cache/kernel_build.h"
#include "support/reexec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char folder[256];

/* ---- the child --------------------------------------------------------------------------------------------------- */

static group_case *case_of(char name)
{
    group_case *c = group_case_new("cached", 2, (int64_t[]){5, 8}, 1);
    int x = ir_load(&c->g, group_case_dense(c, WK_I32, false, FILL_ONES));
    int r = ir_ins(&c->g, name == 'a' ? WK__RSUM : WK__RMAX, WK_I32, x, 0, 0);
    ir_store(&c->g, group_case_dense(c, WK_I32, true, FILL_ONES), r);
    return c;
}

/* Exit status: the number of compiled programs; 100 and more on failure. */
static int child(const char *names)
{
    void *device;
    wk__fail fail;
    if (gpu->open(0, &device, &fail) != WK_OK) return 100;
    for (const char *name = names; *name != '\0'; name++) {
        group_case *c = case_of(*name);
        if (group_case_run(c, gpu, device, &fail) != WK_OK) return 101;
        if (group_case_check(c, gpu, device) != NULL) return 102;
        group_case_free(c);
    }
    gpu->close(device);
    return (int)wk__gpu_compilations();
}

static int compiled_by(const char *names)
{
    pid_t process = fork();
    if (process == 0) {
        reexec_test("gpu_cache", names);
        _exit(103);
    }
    int status;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* ---- the folder -------------------------------------------------------------------------------------------------- */

typedef void each_file(int at, const char *name);

/* Collects the names before the first call, because calls create files. */
static int for_files(each_file *call)
{
    static char names[64][64];
    DIR *entries = opendir(folder);
    int count = 0;
    if (entries == NULL) return 0;
    for (struct dirent *entry; (entry = readdir(entries)) != NULL && count < 64;) {
        if (entry->d_name[0] != '.') snprintf(names[count++], sizeof names[0], "%.63s", entry->d_name);
    }
    for (int k = 0; k < count && call != NULL; k++) call(dirfd(entries), names[k]);
    closedir(entries);
    return count;
}

static void remove_file(int at, const char *name)
{
    assert_int_equal(unlinkat(at, name, 0), 0);
}

/* Replaces the contents by a new file, because a process that is reading would keep the former contents. */
static void rewrite(int at, const char *name, long keep, int flip_at)
{
    static char content[1 << 20];
    int file = openat(at, name, O_RDONLY);
    ssize_t size = read(file, content, sizeof content);
    close(file);
    assert_true(size > 300);
    remove_file(at, name);
    if (flip_at >= 0) content[flip_at] ^= 1;
    if (flip_at < -1) content[size / 2] ^= 1;
    file = openat(at, name, O_WRONLY | O_CREAT, 0600);
    ssize_t wanted = keep < 0 ? size : (ssize_t)keep;
    assert_true(write(file, content, (size_t)wanted) == wanted);
    close(file);
}

static void truncate_file(int at, const char *name)
{
    rewrite(at, name, 200, -1);
}

static void empty_file(int at, const char *name)
{
    rewrite(at, name, 0, -1);
}

/* The file begins with the name of its dialect. */
static void change_dialect(int at, const char *name)
{
    rewrite(at, name, -1, 5);
}

static void change_header(int at, const char *name)
{
    rewrite(at, name, -1, 32);
}

static void change_binary(int at, const char *name)
{
    rewrite(at, name, -1, -2);
}

static void check_mode(int at, const char *name)
{
    struct stat state;
    assert_int_equal(fstatat(at, name, &state, AT_SYMLINK_NOFOLLOW), 0);
    assert_int_equal(state.st_mode & 0777, 0600);
    assert_null(strstr(name, "new.")); /* no temporary file remains */
}

static int set_up(void **state)
{
    (void)state;
    const char *work = getenv("WICK_WORK");
    snprintf(folder, sizeof folder, "%s/cache.%ld", work ? work : "/tmp", (long)getpid());
    return setenv("WICK_CACHE_DIR", folder, 1);
}

static int tear_down(void **state)
{
    (void)state;
    for_files(remove_file);
    return rmdir(folder);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void second_process(void **state)
{
    (void)state;
    struct stat made;
    assert_in_range(compiled_by("ab"), 1, 2);
    assert_int_equal(stat(folder, &made), 0);
    assert_int_equal(made.st_mode & 0777, 0700);
    assert_int_equal(for_files(check_mode), 2); /* one file per kernel, in whatever order they were built */
    assert_int_equal(compiled_by("ab"), 0);
    assert_int_equal(compiled_by("b"), 0);
    assert_int_equal(compiled_by("ba"), 0);
}

static void damaged_files(void **state)
{
    (void)state;
    static each_file *const damages[] = {truncate_file, empty_file, change_dialect, change_header, change_binary};
    for (int k = 0; k < 5; k++) {
        compiled_by("ab");
        assert_int_equal(compiled_by("ab"), 0);
        for_files(damages[k]);
        assert_int_equal(compiled_by("a"), 1); /* and replaced */
        assert_int_equal(compiled_by("a"), 0);
    }
}

/* A folder or file that other users may write is not trusted. */
static void foreign_files(void **state)
{
    (void)state;
    compiled_by("a");
    assert_int_equal(chmod(folder, 0777), 0);
    assert_int_equal(compiled_by("a"), 1);
    assert_int_equal(chmod(folder, 0700), 0);
    assert_int_equal(compiled_by("a"), 0);
}

static void switched_off(void **state)
{
    (void)state;
    for_files(remove_file);
    setenv("WICK_CACHE_DIR", "off", 1);
    assert_int_equal(compiled_by("a"), 1);
    setenv("WICK_CACHE_DIR", "", 1);
    assert_int_equal(compiled_by("a"), 1);
    setenv("WICK_CACHE_DIR", folder, 1);
    assert_int_equal(for_files(NULL), 0);
}

/* Compiler options are part of the key. CUDA has no variable for them. */
static void options_are_in_the_key(void **state)
{
    (void)state;
    if (gpu->kind == WK_CUDA) skip();
    const char *own = getenv("WICK_OPENCL_OPTIONS");
    char *before = own ? strdup(own) : NULL;
    compiled_by("a");
    setenv("WICK_OPENCL_OPTIONS", "-DUNUSED", 1);
    assert_int_equal(compiled_by("a"), 1);
    if (before)
        setenv("WICK_OPENCL_OPTIONS", before, 1);
    else
        unsetenv("WICK_OPENCL_OPTIONS");
    free(before);
    assert_int_equal(compiled_by("a"), 0);
}

/* ---- trimming ---------------------------------------------------------------------------------------------------- */

enum { KB = 1 << 10 };

static bool is_there(const char *name)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static void set_age(int at, const char *name, long hours)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = time(NULL) - hours * 3600}};
    assert_int_equal(utimensat(at, name, times, AT_SYMLINK_NOFOLLOW), 0);
}

static wk__gpu_digest digest_of(int k)
{
    return (wk__gpu_digest){{(uint64_t)k, 7}};
}

static const char *name_of_digest(int k)
{
    static char name[48];
    snprintf(name, sizeof name, "%016x%016x.bin", (unsigned)k, 7u);
    return name;
}

static void make_file(int at, const char *name, long hours)
{
    int file = openat(at, name, O_WRONLY | O_CREAT, 0600);
    assert_true(file >= 0 && close(file) == 0);
    set_age(at, name, hours);
}

/* Opening a pipe for reading would wait for a writer. */
static void pipes_are_ignored(void **state)
{
    (void)state;
    wk__text text = {0};
    int at = wk__gpu_cache_open(false);
    assert_true(at >= 0);
    assert_int_equal(mkfifoat(at, name_of_digest(1), 0600), 0);
    assert_false(wk__gpu_cache_read(at, digest_of(1), 1 << 20, &text));
    assert_int_equal(unlinkat(at, name_of_digest(1), 0), 0);
    wk__text_free(&text);
    close(at);
}

/* Eight files of 200 KB with two names each, file 0 the oldest; then file 0 is read. Three quarters of the limit of 1
 * MB are kept. */
static void least_recently_used_are_removed_first(void **state)
{
    (void)state;
    static char content[200 * KB];
    for_files(remove_file);
    setenv("WICK_CACHE_MB", "0", 1); /* the first write must not trim */
    int at = wk__gpu_cache_open(false);
    assert_true(at >= 0);
    for (int k = 0; k < 8; k++) {
        wk__gpu_digest names[2] = {digest_of(2 * k), digest_of(2 * k + 1)};
        wk__gpu_cache_write(at, names, 2, content, sizeof content);
        set_age(at, name_of_digest(2 * k), 10 - k);
    }
    wk__text text = {0};
    assert_true(wk__gpu_cache_read(at, digest_of(1), 1 << 20, &text));
    wk__text_free(&text);
    make_file(at, "new.99.1", 25);
    make_file(at, "new.99.1.link", 25);
    make_file(at, "new.99.2", 1);
    make_file(at, "new.2024-report.pdf", 25);
    make_file(at, "new.1.draft", 25);
    make_file(at, "notes", 99);

    setenv("WICK_CACHE_MB", "2", 1);
    wk__gpu_cache_trim(at);
    for (int k = 0; k < 16; k++) assert_true(is_there(name_of_digest(k))); /* 1.6 MB are below the limit */
    assert_false(is_there("new.99.1"));
    assert_false(is_there("new.99.1.link"));
    assert_true(is_there("new.99.2"));            /* it may be in use */
    assert_true(is_there("new.2024-report.pdf")); /* not a file of the cache */
    assert_true(is_there("new.1.draft"));
    assert_true(is_there("notes"));

    setenv("WICK_CACHE_MB", "1", 1);
    wk__gpu_digest last = digest_of(99);
    for (int k = 0; k < 64; k++) wk__gpu_cache_write(at, &last, 1, content, 1); /* one of them trims */
    for (int k = 0; k < 16; k++) assert_int_equal(is_there(name_of_digest(k)), k < 2 || k >= 12);
    assert_true(is_there("notes"));
    close(at);
    unsetenv("WICK_CACHE_MB");
    for_files(remove_file);
}

/* Four processes write and trim at once; every file that is read is complete. */
static void concurrent_trimming(void **state)
{
    (void)state;
    static char content[64 * KB];
    setenv("WICK_CACHE_MB", "1", 1);
    int at = wk__gpu_cache_open(false);
    pid_t child[4];
    for (int p = 0; p < 4; p++) {
        child[p] = fork();
        if (child[p] != 0) continue;
        bool fine = true;
        for (int k = 0; k < 200; k++) {
            wk__gpu_digest name = digest_of(k % 40);
            wk__text text = {0};
            memset(content, k % 40, sizeof content);
            wk__gpu_cache_write(at, &name, 1, content, sizeof content);
            if (k % 8 == 0) wk__gpu_cache_trim(at);
            name = digest_of((k * 7 + p) % 40);
            if (wk__gpu_cache_read(at, name, 1 << 20, &text))
                fine = fine && text.length == sizeof content && text.data[0] == (char)name.word[0] &&
                       memcmp(text.data, text.data + 1, sizeof content - 1) == 0;
            wk__text_free(&text);
        }
        _exit(fine ? 0 : 1);
    }
    for (int p = 0; p < 4; p++) {
        int status;
        while (waitpid(child[p], &status, 0) < 0 && errno == EINTR) continue;
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    wk__gpu_cache_trim(at);
    assert_in_range(for_files(check_mode), 1, 16); /* no temporary file remains */
    close(at);
    unsetenv("WICK_CACHE_MB");
    for_files(remove_file);
}

/* Without WICK_CACHE_DIR: $XDG_CACHE_HOME/wick, else ~/.cache/wick. PoCL has a separate cache, so none is needed. */
static void default_places(void **state)
{
    (void)state;
    char made[300];
    unsetenv("WICK_CACHE_DIR");
    setenv("XDG_CACHE_HOME", folder, 1);
    snprintf(made, sizeof made, "%s/wick", folder);
    assert_int_equal(wk__gpu_cache_open(true), -1);
    assert_int_equal(access(made, F_OK), -1);
    int opened = wk__gpu_cache_open(false);
    assert_true(opened >= 0 && close(opened) == 0 && rmdir(made) == 0);

    char *home = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", folder, 1);
    opened = wk__gpu_cache_open(false);
    snprintf(made, sizeof made, "%s/.cache/wick", folder);
    assert_true(opened >= 0 && close(opened) == 0 && rmdir(made) == 0);
    snprintf(made, sizeof made, "%s/.cache", folder);
    assert_int_equal(rmdir(made), 0);
    if (home != NULL) setenv("HOME", home, 1);
    free(home);
    setenv("WICK_CACHE_DIR", folder, 1);
}

/* One character more than a path may have: no folder is created, in particular none with a truncated name. */
static void path_that_is_too_long(void **state)
{
    (void)state;
    enum { MOST = 4096, STEP = 200 };
    char path[MOST + 1], shorter[MOST];
    size_t ends[MOST / STEP + 2], length = strlen(folder);
    int made = 0;
    mkdir(folder, 0700);
    memcpy(path, folder, length + 1);
    while (length + STEP + 2 < MOST) {
        memset(path + length, 'x', STEP);
        path[length] = '/';
        path[length += STEP] = '\0';
        assert_int_equal(mkdir(path, 0700), 0);
        ends[made++] = length;
    }
    memset(path + length, 'y', MOST - length);
    path[length] = '/';
    path[MOST] = '\0';
    memcpy(shorter, path, MOST - 1);
    shorter[MOST - 1] = '\0';
    setenv("WICK_CACHE_DIR", path, 1);
    assert_int_equal(wk__gpu_cache_open(false), -1);
    assert_int_equal(access(shorter, F_OK), -1);
    setenv("WICK_CACHE_DIR", folder, 1);
    while (made > 0) {
        path[ends[--made]] = '\0';
        assert_int_equal(rmdir(path), 0);
    }
}

int main(int argc, char **argv)
{
    gpu = wk__backend_of(test_gpu_kind());
    if (argc > 1) return child(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(second_process),
        cmocka_unit_test(damaged_files),
        cmocka_unit_test(foreign_files),
        cmocka_unit_test(switched_off),
        cmocka_unit_test(options_are_in_the_key),
        cmocka_unit_test(default_places),
        cmocka_unit_test(least_recently_used_are_removed_first),
        cmocka_unit_test(concurrent_trimming),
        cmocka_unit_test(pipes_are_ignored),
        cmocka_unit_test(path_that_is_too_long),
    };
    (void)gpu_close;
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
