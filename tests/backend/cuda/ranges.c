/* SPDX-License-Identifier: Apache-2.0 */
/* Large pieces on CUDA: memory is mapped into ranges of addresses, stays mapped while sizes vary, and is released on
 * allocation failure; missing or failing driver functions are replaced by blocks or reported. */
#include "child.h"

#include "backend/arena/arena.h"
#include "backend/cuda/device.h"

enum {
    MB = 1 << 20,
    NUMBERS = MB / 8 /* doubles per MB; doubles because the stand-in's time depends on the number of elements */
};

static void good(wk_code code, const wk__fail *fail)
{
    if (code != WK_OK) fprintf(stderr, "%s\n", fail->text);
    must(code == WK_OK);
}

/* Addresses are reserved only after the tables of a range have been allocated. */
static void failed_tables(void)
{
    enum { TABLES = 4 };
    const wk__backend *backend = wk__backend_of(WK_CUDA);
    void *device;
    wk__fail fail;
    wk__memory range;
    good(backend->open(0, &device, &fail), &fail);
    for (int n = 1; n <= TABLES; n++) {
        wk__alloc_fail_at(n);
        must(backend->range_reserve(device, 8 * MB, &range, &fail) == WK_ERR_MEMORY);
        wk__alloc_fail_at(0);
    }
    must(driver_calls("cuMemAddressReserve") == 0);
    wk__alloc_fail_at(TABLES + 1);
    good(backend->range_reserve(device, 8 * MB, &range, &fail), &fail);
    wk__alloc_fail_at(0);
    backend->range_release(device, &range);
    backend->close(device);
}

static long range_calls(void)
{
    return driver_calls("cuMemAddressReserve") + driver_calls("cuMemCreate") + driver_calls("cuMemMap") +
           driver_calls("cuMemSetAccess");
}

/* ---- varying sizes ----------------------------------------------------------------------------------------------- */

/* A step of a program on sequences, each with another length. */
static void step(int megabytes)
{
    WK_SCOPE;
    wk_tensor *x = wk_ones((megabytes, NUMBERS), .dtype = WK_F64, .device = wk_cuda(0)),
              *w = wk_full((NUMBERS), 2, .dtype = WK_F64, .device = wk_cuda(0));
    wk_tensor *y = wk_mul(x, w), *sums = wk_sum(y, (1));
    wk_flush();
    wk_tensor *z = wk_add(y, wk_cumsum(x, 0));
    must(wk_item(wk_select(sums, 0, megabytes - 1)) == 2.0 * NUMBERS);
    must(wk_item(wk_narrow(wk_reshape(z, (-1)), 0, megabytes * NUMBERS - 1, 1)) == 2 + megabytes);
}

static void lengths_vary(void)
{
    step(9);
    step(9);
    const long taken = driver_calls("cuMemAlloc_v2"), freed = driver_calls("cuMemFree_v2"), mapped = range_calls();
    must(mapped > 0);
    for (int k = 0; k < 8; k++) step(8 - k * 5 % 6);
    must(range_calls() == mapped && driver_calls("cuMemUnmap") == 0 && driver_calls("cuMemRelease") > 0);
    must(driver_calls("cuMemAlloc_v2") == taken && driver_calls("cuMemFree_v2") == freed);
    must(wk_error() == NULL && wk_memory_trim(wk_cuda(0)) == WK_OK);
    must(driver_calls("cuMemUnmap") > 0);
    wk_memory_stats stats = {.size = sizeof stats};
    must(wk_memory_stats_of(wk_cuda(0), &stats) == WK_OK && stats.live == 0);
    step(4);
    must(wk_error() == NULL);
}

static void sizes_vary(void **state)
{
    (void)state;
    in_child("STANDIN_SEED=1", lengths_vary);
}

/* ---- missing driver functions ------------------------------------------------------------------------------------ */

static void plain_blocks(void)
{
    step(4);
    step(3);
    must(wk_error() == NULL && driver_calls("cuMemMap") == 0 && driver_calls("cuMemUnmap") == 0);
    must(wk_memory_trim(wk_cuda(0)) == WK_OK && driver_calls("cuMemFree_v2") > 0);
}

static void no_range_calls(void)
{
    plain_blocks();
    must(range_calls() == 0);
}

static void no_functions(void)
{
    must(wk_device_count(WK_CUDA) == 2);
    wk__cuda.MemSetAccess = NULL;
    no_range_calls();
}

static void blocks_replace_ranges(void **state)
{
    (void)state;
    in_child("STANDIN_ATTRIBUTES=102=0", no_range_calls);
    in_child("STANDIN_ERRORS=", no_functions);
    in_child("STANDIN_ERRORS=cuMemGetAllocationGranularity=801", plain_blocks);
    in_child("STANDIN_GRANULE=4", plain_blocks);
    in_child("STANDIN_ERRORS=cuMemAddressReserve=2", plain_blocks);
    in_child("STANDIN_ERRORS=cuMemCreate=801", plain_blocks);
    in_child("STANDIN_ERRORS=cuMemCreate=800", plain_blocks);
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

static const char *failing, *words;

/* A failed call causes at most an error with a message; afterwards everything works and nothing is leaked. */
static void one_call_fails(void)
{
    char errors[64];
    WK_SCOPE;
    must(wk_item(wk_sum(wk_ones((3), .device = wk_cuda(0)))) == 3);
    snprintf(errors, sizeof errors, "%s=1@1", failing);
    setenv("STANDIN_ERRORS", errors, 1);
    wk_tensor *x = wk_retain(wk_ones((35, NUMBERS), .dtype = WK_F64, .device = wk_cuda(0)));
    wk_flush();
    must(driver_calls(failing) > 0);
    must(wk_error() != NULL && strstr(wk_error(), words) != NULL && strstr(wk_error(), "INVALID_VALUE") != NULL);
    wk_clear_error();
    wk_free(x);
    wk_sync();
    wk_clear_error();
    unsetenv("STANDIN_ERRORS");
    step(8);
    wk_memory_trim(wk_cuda(0));
    step(9);
    wk_memory_stats stats = {.size = sizeof stats};
    wk_memory_trim(wk_cuda(0));
    must(wk_memory_stats_of(wk_cuda(0), &stats) == WK_OK && stats.live + stats.cached < 8 * MB);
    must(wk_error() == NULL);
}

/* Memory that cannot be unmapped stays in use. */
static void failing_unmap(void)
{
    wk_memory_stats stats = {.size = sizeof stats};
    step(8);
    const long mapped = range_calls();
    setenv("STANDIN_ERRORS", failing, 1);
    must(wk_memory_trim(wk_cuda(0)) == WK_OK);
    must(wk_memory_stats_of(wk_cuda(0), &stats) == WK_OK && stats.cached >= 24 * MB);
    unsetenv("STANDIN_ERRORS");
    step(8);
    must(range_calls() == mapped && wk_error() == NULL);
    must(wk_memory_trim(wk_cuda(0)) == WK_OK && wk_memory_stats_of(wk_cuda(0), &stats) == WK_OK);
    must(stats.live + stats.cached == 0);
}

static void calls_fail(void **state)
{
    (void)state;
    static const char *const calls[][2] = {{"cuMemGetAllocationGranularity", "reserving addresses"},
                                           {"cuMemAddressReserve", "reserving addresses"},
                                           {"cuMemCreate", "mapping device memory"},
                                           {"cuMemMap", "mapping device memory"},
                                           {"cuMemRelease", "mapping device memory"},
                                           {"cuMemSetAccess", "mapping device memory"}};
    for (size_t k = 0; k < sizeof calls / sizeof calls[0]; k++) {
        failing = calls[k][0];
        words = calls[k][1];
        in_child("STANDIN_SEED=1", one_call_fails);
    }
    failing = "cuMemUnmap=1";
    in_child("STANDIN_SEED=1", failing_unmap);
    failing = "cuStreamSynchronize=1";
    in_child("STANDIN_SEED=1", failing_unmap);
}

/* The second of three mappings fails: the first one is undone. */
static void partial_mapping_is_undone(void)
{
    const wk__backend *backend = wk__backend_of(WK_CUDA);
    void *device;
    wk__fail fail;
    wk__memory range;
    good(backend->open(0, &device, &fail), &fail);
    good(backend->range_reserve(device, 100 * MB, &range, &fail), &fail);
    must(range.bytes >= (int64_t)4 << 30 && range.bytes % WK__RANGE_PAGE == 0);
    setenv("STANDIN_ERRORS", "cuMemCreate=2@2", 1);
    must(backend->range_map(device, &range, 0, 80 * MB, &fail) == WK_ERR_MEMORY);
    must(strstr(fail.text, "out of memory") != NULL);
    good(backend->range_map(device, &range, 0, 80 * MB, &fail), &fail); /* no mapping is left there */
    good(backend->range_unmap(device, &range, 32 * MB, 48 * MB, &fail), &fail);
    good(backend->range_unmap(device, &range, 0, 32 * MB, &fail), &fail);
    backend->range_release(device, &range);
    must(range.block == NULL && driver_calls("cuMemRelease") == driver_calls("cuMemCreate") - 1);
    backend->close(device);
}

/* ---- short memory ------------------------------------------------------------------------------------------------ */

static wk_tensor *filled(int megabytes, double number)
{
    WK_SCOPE;
    wk_tensor *x = wk_retain(wk_full((megabytes, NUMBERS), number, .dtype = WK_F64, .device = wk_cuda(0)));
    wk_flush();
    return x;
}

static bool ends_with(wk_tensor *x, int megabytes, double number)
{
    WK_SCOPE;
    return wk_item(wk_narrow(wk_reshape(x, (-1)), 0, megabytes * NUMBERS - 1, 1)) == number;
}

/* 100 MB are left. Idle memory of the shorter tensors must be released for the longer one. */
static void idle_memory_is_released(void)
{
    wk_tensor *x[4];
    for (int k = 0; k < 4; k++) x[k] = filled(20, k);
    wk_free(x[0]), wk_free(x[2]);
    wk_tensor *longer = filled(42, 7);
    must(wk_error() == NULL && ends_with(longer, 42, 7) && driver_calls("cuMemUnmap") > 0);
    wk_tensor *too_long = filled(30, 8);
    must(wk_error_code() == WK_ERR_MEMORY && strstr(wk_error(), "other processes use 1.8") != NULL);
    must(strstr(wk_error(), "of the device's 2 GiB") != NULL);
    wk_clear_error();
    wk_free(too_long), wk_free(longer);
    must(ends_with(x[1], 20, 1) && ends_with(x[3], 20, 3));
    wk_free(x[1]), wk_free(x[3]);
    step(9);
    must(wk_error() == NULL);
}

/* 64 of 2048 MB are not worth mentioning, and the library's own memory is not attributed to others. */
static void other_processes_use_little(void)
{
    wk_tensor *x = filled(40, 1);
    must(wk_memory_set_limit(wk_cuda(0), 60 * MB) == WK_OK);
    wk_tensor *y = filled(30, 2);
    must(wk_error_code() == WK_ERR_MEMORY && strstr(wk_error(), "limit 60 MiB (limit exceeded)") != NULL);
    wk_clear_error();
    wk_free(x), wk_free(y);
}

static void short_memory(void **state)
{
    (void)state;
    in_child("STANDIN_SEED=1", other_processes_use_little);
    in_child("STANDIN_OTHERS=1848", idle_memory_is_released);
    in_child("STANDIN_SEED=1", failed_tables);
    in_child("STANDIN_SEED=1", partial_mapping_is_undone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes_vary), cmocka_unit_test(blocks_replace_ranges),
                                       cmocka_unit_test(calls_fail), cmocka_unit_test(short_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
