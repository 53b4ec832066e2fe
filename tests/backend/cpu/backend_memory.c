/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU's device table: reported properties of the machine, blocks of memory, copies. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "backend/cpu/cpu.h"
#include "hostile/scratch.h"
#include "base/text.h"
#include "base/pool.h"

enum { MEGA = 1 << 20 };

/* A directory that replaces the root of /proc and /sys. */
static char root[64];

static void put_file(const char *path, const char *text)
{
    put_below(root, path, text);
}

static int make_root(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/wick-test-XXXXXX");
    if (!mkdtemp(root)) return -1;
    put_file("/proc/meminfo", "MemTotal:       1000 kB\nMemFree:  1 kB\nMemAvailable:    600 kB\n");
    return 0;
}

static int remove_root(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", root);
    return system(command);
}

static void expect_figures(int64_t total, int64_t available)
{
    const wk__cpu_memory memory = wk__cpu_memory_now(root);
    assert_int_equal(memory.total, total);
    assert_int_equal(memory.available, available);
}

static void test_no_group(void **state)
{
    (void)state;
    expect_figures(1000 * 1024, 600 * 1024);
}

static void test_group_2(void **state)
{
    (void)state;
    put_file("/proc/self/cgroup", "0::/service/job\n");
    put_file("/sys/fs/cgroup/service/job/memory.max", "max\n");
    put_file("/sys/fs/cgroup/service/job/memory.current", "7\n");
    expect_figures(1000 * 1024, 600 * 1024);
    put_file("/sys/fs/cgroup/service/memory.max", "400000\n"); /* the parent group's limit applies too */
    put_file("/sys/fs/cgroup/service/memory.current", "100000\n");
    expect_figures(400000, 300000);
    put_file("/sys/fs/cgroup/service/job/memory.max", "200000\n");
    put_file("/sys/fs/cgroup/service/job/memory.current", "250000\n"); /* above its limit: nothing is available */
    expect_figures(200000, 0);
}

static void test_group_1(void **state)
{
    (void)state;
    put_file("/proc/self/cgroup", "11:cpu,cpuacct:/x\n4:memory:/docker/abc\n0::/\n");
    put_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put_file("/sys/fs/cgroup/memory/memory.usage_in_bytes", "5\n");
    expect_figures(1000 * 1024, 600 * 1024);
    /* in a container, the group's files are at the root */
    put_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "500000\n");
    expect_figures(500000, 499995);
}

static void test_no_files(void **state)
{
    (void)state;
    const wk__cpu_memory memory = wk__cpu_memory_now("/nowhere");
    assert_int_equal(memory.total, 0);
    assert_int_equal(memory.available, -1);
    char name[8];
    wk__cpu_name("/nowhere", name, sizeof name);
    assert_string_equal(name, "CPU");
}

static void test_name(void **state)
{
    (void)state;
    char name[32];
    put_file("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Abacus 9000\nflags\t: fpu\n");
    wk__cpu_name(root, name, sizeof name);
    assert_string_equal(name, "Abacus 9000");
}

static void test_device(void **state)
{
    (void)state;
    const wk__backend *cpu = &wk__cpu_backend;
    wk__device_info info;
    wk__fail fail = {0};
    void *device = NULL;
    assert_int_equal(cpu->status(NULL), WK__BACKEND_AVAILABLE);
    assert_int_equal(cpu->count(), 1);
    assert_int_equal(cpu->info(0, &info, &fail), WK_OK);
    assert_true(info.name[0] != 0 && info.memory_total > 0 && info.memory_available > 0);
    assert_int_equal(info.compute_units, wk__thread_count());
    assert_true(!info.is_gpu && isnan(info.temperature) && isnan(info.power) && isnan(info.utilisation));
    assert_int_equal(cpu->info(1, &info, &fail), WK_ERR_DEVICE);
    assert_int_equal(cpu->open(1, &device, &fail), WK_ERR_DEVICE);
    assert_int_equal(cpu->open(0, &device, &fail), WK_OK);
    assert_non_null(device);
    cpu->close(device);
    assert_null(cpu->transfer);
}

static long resident_pages(void)
{
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld", &pages, &resident), 2);
    fclose(file);
    return resident;
}

static void test_blocks(void **state)
{
    (void)state;
    const wk__backend *cpu = &wk__cpu_backend;
    wk__fail fail = {0};
    void *device = NULL;
    assert_int_equal(cpu->open(0, &device, &fail), WK_OK);
    for (int64_t bytes = 1; bytes <= 64 * MEGA + 1; bytes = bytes * 8 + 1) {
        wk__memory block;
        const long before = resident_pages();
        assert_int_equal(cpu->block_alloc(device, bytes, &block, &fail), WK_OK);
        assert_true(block.bytes >= bytes && block.offset == 0);
        assert_int_equal((uintptr_t)block.host % (2 * MEGA), 0);
        assert_true((resident_pages() - before) * sysconf(_SC_PAGESIZE) < MEGA); /* not touched */
        block.host[0] = 1;
        block.host[bytes - 1] = 1;
        cpu->block_free(device, &block);
        assert_null(block.host);
    }
    cpu->close(device);
}

/* A block larger than the memory is an error with both sizes; the process is not killed later. */
static void test_too_large(void **state)
{
    (void)state;
    const wk__backend *cpu = &wk__cpu_backend;
    const int64_t total = wk__cpu_memory_now("").total;
    const int64_t sizes[] = {total + 1, INT64_MAX, 0, -1};
    for (int k = 0; k < 4; k++) {
        wk__memory block;
        wk__fail fail = {0};
        char figure[64], size[WK__FORMAT_BYTES_SIZE];
        assert_int_equal(cpu->block_alloc(NULL, sizes[k], &block, &fail), WK_ERR_MEMORY);
        snprintf(figure, sizeof figure, "of %s are", wk__format_bytes(size, total));
        assert_non_null(strstr(fail.text, figure));
        snprintf(figure, sizeof figure, "of %s:", wk__format_bytes(size, sizes[k]));
        assert_non_null(strstr(fail.text, figure));
    }
}

static void test_copies(void **state)
{
    (void)state;
    const wk__backend *cpu = &wk__cpu_backend;
    const int64_t sizes[] = {0, 1, 100, MEGA, 5 * MEGA + 3};
    char *from = malloc(5 * MEGA + 3), *back = malloc(5 * MEGA + 4);
    for (int64_t k = 0; k < 5 * MEGA + 3; k++) from[k] = (char)(k * 7 + k / 4096);
    for (int k = 0; k < 5; k++) {
        wk__memory a, b;
        wk__fail fail = {0};
        assert_int_equal(cpu->block_alloc(NULL, 6 * MEGA, &a, &fail), WK_OK);
        assert_int_equal(cpu->block_alloc(NULL, 6 * MEGA, &b, &fail), WK_OK);
        memset(back, 9, 5 * MEGA + 4);
        assert_int_equal(cpu->upload(NULL, &a, 17, from, sizes[k], &fail), WK_OK);
        assert_int_equal(cpu->copy(NULL, &b, 5, &a, 17, sizes[k], &fail), WK_OK);
        assert_int_equal(cpu->download(NULL, back, &b, 5, sizes[k], &fail), WK_OK);
        assert_int_equal(cpu->sync(NULL, &fail), WK_OK);
        assert_memory_equal(back, from, (size_t)sizes[k]);
        assert_int_equal(back[sizes[k]], 9);
        assert_int_equal(a.host[16] | a.host[17 + sizes[k]] | b.host[4] | b.host[5 + sizes[k]], 0);
        cpu->block_free(NULL, &a);
        cpu->block_free(NULL, &b);
    }
    free(from);
    free(back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_no_group, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_group_2, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_group_1, make_root, remove_root),
        cmocka_unit_test(test_no_files),
        cmocka_unit_test_setup_teardown(test_name, make_root, remove_root),
        cmocka_unit_test(test_device),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
