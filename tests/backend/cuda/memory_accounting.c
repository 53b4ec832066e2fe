/* SPDX-License-Identifier: Apache-2.0 */
/* Accounting of a CUDA device's memory: the categories of wk_memory_stats add up to the memory that the device reports
 * as used. */
#include "child.h"

#include "backend/cuda/device.h"

enum { MB = 1 << 20 };

static void good(wk_code code, const wk__fail *fail)
{
    if (code != WK_OK) fprintf(stderr, "%s\n", fail->text);
    must(code == WK_OK);
}

static wk_memory_stats stats_now(int device)
{
    wk_memory_stats stats = {.size = sizeof stats};
    must(wk_memory_stats_of(wk_cuda(device), &stats) == WK_OK);
    return stats;
}

/* Other processes use 64 MB of the stand-in's first device and 65 MB of the second; rounding is attributed to them. */
static void expect_accounted(int device)
{
    const wk_memory_stats now = stats_now(device);
    const int64_t others = now.used - now.live - now.cached - now.library - now.context;
    must(now.live > 0 && now.library > 0);
    must(now.context >= 100 * MB && now.context <= 100 * MB + 256);
    must(others >= (64 + device) * MB && others <= (64 + device) * MB + 512);
}

/* Chunked sums with increasing scratch memory: the former memory counts until the next wait frees it. */
static void sums_add_up(void)
{
    for (int d = 0; d < 2; d++) {
        WK_SCOPE;
        wk_tensor *x = wk_ones((32, 30000), .device = wk_cuda(d)), *sum = NULL;
        for (int k = 1; k <= 5; k++) {
            sum = wk_sum(wk_narrow(x, 0, 0, 1 << k), (1));
            wk_flush();
            expect_accounted(d);
        }
        must(wk_item(wk_sum(sum)) == 30000.0 * 32);
        expect_accounted(d);
    }
}

/* The argument ring counts from its creation. */
static void arguments_count(void)
{
    const wk__backend *backend = wk__backend_of(WK_CUDA);
    void *opened;
    wk__fail fail;
    wk__memory_usage before = {0}, after = {0};
    good(backend->open(0, &opened, &fail), &fail);
    wk__cuda_device *device = opened;
    backend->usage(device, &before);
    device->arguments = device->fault;
    backend->usage(device, &after);
    device->arguments = 0;
    must(after.library == before.library + WK__CUDA_ARGUMENTS && after.used == before.used &&
         after.total == 2048L * MB);
    backend->close(device);
}

static void no_figures(void)
{
    must(wk_item(wk_sum(wk_ones((3), .device = wk_cuda(0)))) == 3);
    const wk_memory_stats now = stats_now(0);
    must(now.used == 0 && now.library > 0 && now.context >= 100 * MB);
}

static void no_context(void)
{
    must(wk_item(wk_sum(wk_ones((3), .device = wk_cuda(0)))) == 3);
    const wk_memory_stats now = stats_now(0);
    must(now.used > 160 * MB && now.context == 0);
}

/* A caller compiled with a shorter struct receives the members it has. */
static void older_callers(void)
{
    wk_memory_stats stats;
    memset(&stats, 0x55, sizeof stats);
    stats.size = offsetof(wk_memory_stats, library);
    must(wk_memory_stats_of(wk_cuda(0), &stats) == WK_OK);
    must(stats.size == offsetof(wk_memory_stats, library) && stats.live == 0 && stats.library == 0x5555555555555555);
    wk_memory_stats cpu = {.size = sizeof cpu};
    must(wk_memory_stats_of(wk_cpu(), &cpu) == WK_OK && cpu.library == 0 && cpu.context == 0 && cpu.used == 0);
}

static void ledger(void **state)
{
    (void)state;
    in_child("STANDIN_SEED=1", sums_add_up);
    in_child("STANDIN_SEED=1", arguments_count);
    in_child("STANDIN_ERRORS=cuMemGetInfo_v2=1", no_figures);
    in_child("STANDIN_ERRORS=nvmlInit_v2=1", no_context);
    in_child("STANDIN_SEED=1", older_callers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ledger)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
