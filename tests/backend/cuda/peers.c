/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between cards: direct if the driver supports it in both directions, else through the host, with the same
 * bytes. The stand-in counts both kinds. A trial detects peer access that loses bytes before it is used. */
#include "child.h"

#include "backend/cuda/device.h"

#include <errno.h>

enum { TRIED = 2 /* trial copies per pair of devices */, FEW = 1000, MANY = 1 << 20 /* 4 MB, in a range */ };

static wk_tensor *full(int index, int64_t count, double number)
{
    WK_SCOPE;
    wk_tensor *x = wk_retain(wk_full((count), number, .device = wk_cuda(index)));
    wk_flush();
    return x;
}

static void copy_to(int index, wk_tensor *x, int64_t count, double number)
{
    WK_SCOPE;
    wk_tensor *y = wk_to(x, wk_cuda(index));
    must(wk_item(wk_narrow(y, 0, 0, 1)) == number && wk_item(wk_narrow(y, 0, count - 1, 1)) == number);
    must(wk_error() == NULL);
}

/* Copies once in each direction. */
static void copy_both_ways(int64_t count)
{
    for (int k = 0; k < 2; k++) {
        wk_tensor *x = full(k, count, 3 + k);
        copy_to(1 - k, x, count, 3 + k);
        wk_free(x);
    }
}

static bool has_copied(long direct, long staged)
{
    return driver_calls("direct copy") == direct && driver_calls("staged copy") == staged;
}

static bool has_asked(long can, long enable)
{
    return driver_calls("cuDeviceCanAccessPeer") == can && driver_calls("cuCtxEnablePeerAccess") == enable;
}

static wk_copy_path way;

static void expect_path_of_network(void)
{
    WK_SCOPE;
    wk_mirrored_stats stats = {.size = sizeof stats};
    const wk_device both[] = {wk_cuda(0), wk_cuda(1)}, with_cpu[] = {wk_cuda(0), wk_cpu(), wk_cuda(1)};
    must(wk_mirrored_stats_of(wk_mirrored(wk_nn_linear(3, 2), both, 2), &stats) == WK_OK && stats.path == way);
    must(wk_mirrored_stats_of(wk_mirrored(wk_nn_linear(3, 2), both, 1), &stats) == WK_OK);
    must(stats.path == WK_COPY_NONE);
    must(wk_mirrored_stats_of(wk_mirrored(wk_nn_linear(3, 2), with_cpu, 3), &stats) == WK_OK);
    must(stats.path == WK_COPY_HOST);
}

/* ---- direct copies ----------------------------------------------------------------------------------------------- */

/* Memory that was mapped before the first copy is in two runs with a gap of unmapped memory. */
static void copy_directly(void)
{
    wk_tensor *x[2][3];
    for (int d = 0; d < 2; d++)
        for (int k = 0; k < 3; k++) x[d][k] = full(d, MANY, 10 * d + k);
    for (int d = 0; d < 2; d++) {
        wk_free(x[d][1]);
        must(wk_memory_trim(wk_cuda(d)) == WK_OK);
    }
    must(driver_calls("cuMemUnmap") == 2 && has_asked(0, 0));
    copy_both_ways(FEW);
    must(has_copied(TRIED + 2, 0) && has_asked(2, 2));
    for (int d = 0; d < 2; d++)
        for (int k = 0; k < 3; k += 2) copy_to(1 - d, x[d][k], MANY, 10 * d + k);
    const long mapped = driver_calls("cuMemMap");
    copy_both_ways(3 * MANY);
    must(driver_calls("cuMemMap") > mapped && has_copied(TRIED + 8, 0) && has_asked(2, 2));
    for (int d = 0; d < 2; d++) wk_free(x[d][0]), wk_free(x[d][2]);
}

/* Enables peer access in one direction, as another library of the process may do. */
static void enable_access(void)
{
    int (*retain)(CUcontext *, int), (*push)(CUcontext), (*pop)(CUcontext *), (*enable)(CUcontext, unsigned);
    CUcontext context[2];
    wk_free(full(0, FEW, 1)); /* initialises the driver */
    standin_find("libcuda.so.1", "cuDevicePrimaryCtxRetain", &retain);
    standin_find("libcuda.so.1", "cuCtxPushCurrent_v2", &push);
    standin_find("libcuda.so.1", "cuCtxPopCurrent_v2", &pop);
    standin_find("libcuda.so.1", "cuCtxEnablePeerAccess", &enable);
    for (int d = 0; d < 2; d++) must(retain(&context[d], d) == 0);
    must(push(context[1]) == 0 && enable(context[0], 0) == 0 && pop(&context[1]) == 0);
}

static void access_enabled_before(void)
{
    enable_access();
    copy_both_ways(FEW);
    must(has_copied(TRIED + 2, 0) && has_asked(2, 3));
}

/* ---- through the host -------------------------------------------------------------------------------------------- */

static struct {
    long can, enable; /* expected calls, for all copies together */
    const char *errors;
} refusal;

static void copy_through_host(void)
{
    wk_tensor *x = full(0, MANY, 7);
    if (refusal.errors != NULL) setenv("STANDIN_ERRORS", refusal.errors, 1);
    copy_to(1, x, MANY, 7);
    for (int k = 0; k < 2; k++) copy_both_ways(FEW);
    copy_both_ways(2 * MANY);
    must(has_copied(0, 7) && has_asked(refusal.can, refusal.enable));
    wk_free(x);
}

static void staged_copies(void **state)
{
    (void)state;
    static const struct {
        const char *settings, *errors;
        long can, enable;
    } cases[] = {
        {"STANDIN_PEERS=0", NULL, 1, 0},
        {"STANDIN_PEERS=1", "cuDeviceCanAccessPeer=101", 1, 0},
        {"STANDIN_PEERS=1", "cuDeviceCanAccessPeer=101@2", 2, 1},
        {"STANDIN_PEERS=1", "cuCtxEnablePeerAccess=217", 1, 1},
        {"STANDIN_PEERS=1", "cuCtxEnablePeerAccess=711@2", 2, 2},
        {"STANDIN_PEERS=1", "cuCtxEnablePeerAccess=201", 1, 1}, /* which in other calls means a lost context */
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        refusal.can = cases[k].can;
        refusal.enable = cases[k].enable;
        refusal.errors = cases[k].errors;
        in_child(cases[k].settings, copy_through_host);
    }
}

static const char *refused_call;

/* The first call is for the copy's own memory, the next two grant the other card access to mappings. If one of them
 * fails, copies stay staged. */
static void access_to_mapping_fails(void)
{
    wk_tensor *x = full(0, MANY, 7);
    setenv("STANDIN_ERRORS", refused_call, 1);
    copy_to(1, x, MANY, 7);
    unsetenv("STANDIN_ERRORS");
    copy_both_ways(MANY);
    copy_both_ways(FEW);
    must(has_copied(TRIED, 5) && has_asked(2, 2));
    wk_free(x);
    way = WK_COPY_HOST;
    expect_path_of_network();
}

/* The mapping itself stays usable. */
static void access_to_later_mapping_fails(void)
{
    copy_both_ways(FEW);
    must(has_copied(TRIED + 2, 0));
    setenv("STANDIN_ERRORS", "cuMemSetAccess=1@2", 1);
    wk_tensor *x = full(0, MANY, 7);
    unsetenv("STANDIN_ERRORS");
    copy_to(1, x, MANY, 7);
    must(has_copied(TRIED + 2, 1));
    wk_free(x);
}

static void direct_copies(void **state)
{
    (void)state;
    in_child("STANDIN_SEED=1", copy_directly);
    in_child("STANDIN_SEED=1", access_enabled_before);
    refused_call = "cuMemSetAccess=1@2";
    in_child("STANDIN_SEED=1", access_to_mapping_fails);
    refused_call = "cuMemSetAccess=1@3";
    in_child("STANDIN_SEED=1", access_to_mapping_fails);
    in_child("STANDIN_SEED=1", access_to_later_mapping_fails);
}

/* ---- peer access that loses bytes -------------------------------------------------------------------------------- */

static long trials;

/* The first copy detects it; then all copies are staged, of earlier and later mappings and of blocks. */
static void lossy_access(void)
{
    wk_tensor *x = full(0, MANY, 7);
    copy_to(1, x, MANY, 7);
    copy_both_ways(FEW);
    copy_both_ways(2 * MANY);
    must(has_copied(trials, 5) && has_asked(2, 2) && driver_calls("cuCtxDisablePeerAccess") == 2);
    wk_free(x);
    expect_path_of_network();
}

/* Access that another library enabled is not disabled. */
static void lossy_access_enabled_before(void)
{
    enable_access();
    copy_both_ways(FEW);
    must(has_copied(1, 2) && has_asked(2, 3) && driver_calls("cuCtxDisablePeerAccess") == 1);
}

static void lossy_peers(void **state)
{
    (void)state;
    way = WK_COPY_HOST;
    trials = 1;
    in_child("STANDIN_PEERS=broken", lossy_access);
    in_child("STANDIN_PEERS=broken", lossy_access_enabled_before);
    in_child("STANDIN_PEERS=broken0", lossy_access);
    trials = 2; /* the reverse direction is tried first */
    in_child("STANDIN_PEERS=broken1", lossy_access);
}

/* ---- the backend ------------------------------------------------------------------------------------------------- */

static const wk__backend *backend;
static void *device[2];
static wk__memory block[2];

static void open_one(int d)
{
    wk__fail fail;
    must(backend->open(d, &device[d], &fail) == WK_OK);
    must(backend->block_alloc(device[d], FEW, &block[d], &fail) == WK_OK);
}

static void open_both(void)
{
    backend = wk__backend_of(WK_CUDA);
    for (int d = 0; d < 2; d++) open_one(d);
}

static void close_one(int d)
{
    backend->block_free(device[d], &block[d]);
    backend->close(device[d]);
}

static wk_code copy_from(int d)
{
    wk__fail fail;
    return backend->transfer(device[1 - d], &block[1 - d], device[d], &block[d], 0, FEW, &fail);
}

/* A new context has no peer access in either direction. */
static void reopened_device(void)
{
    open_both();
    must(copy_from(0) == WK_OK && has_copied(TRIED + 1, 0) && backend->has_p2p(device[0], device[1]) &&
         has_asked(2, 2));
    for (int k = 0; k < 2; k++) {
        close_one(1);
        open_one(1);
        must(copy_from(k) == WK_OK && has_copied((2 + k) * (TRIED + 1), 0) &&
             backend->has_p2p(device[k], device[1 - k]));
    }
    close_one(1);
    open_one(1);
    setenv("STANDIN_PEERS", "0", 1);
    must(!backend->has_p2p(device[0], device[1]) && !backend->has_p2p(device[1], device[0]));
    for (int d = 0; d < 2; d++) close_one(d);
}

static const char *failing;
static int forbidden;

/* If a call of the trial fails, neither memory nor access remains. */
static void failing_trial(void)
{
    int64_t (*used)(int);
    open_both();
    standin_find("libcuda.so.1", "standin_memory_used", &used);
    const int64_t before[] = {used(0), used(1)};
    setenv("STANDIN_ERRORS", failing, 1);
    must(!backend->has_p2p(device[0], device[1]));
    unsetenv("STANDIN_ERRORS");
    must(used(0) == before[0] && used(1) == before[1] && driver_calls("cuCtxDisablePeerAccess") == forbidden);
    const long copies = driver_calls("direct copy");
    must(copy_from(0) == WK_OK && copy_from(1) == WK_OK && has_copied(copies, 2));
    for (int d = 0; d < 2; d++) close_one(d);
}

/* A thread that fails to enter the context does not leave the lock held. */
static void failing_context_push(void)
{
    open_both();
    alarm(60); /* ends a deadlock */
    for (int k = 1; k <= 2; k++) {
        char errors[64];
        snprintf(errors, sizeof errors, "cuCtxPushCurrent_v2=2@%d", k);
        setenv("STANDIN_ERRORS", errors, 1);
        must(copy_from(0) == WK_ERR_MEMORY);
        must(driver_calls("cuCtxPushCurrent_v2") > 0 && has_copied(0, 0));
        unsetenv("STANDIN_ERRORS");
    }
    setenv("STANDIN_ERRORS", "cuCtxPushCurrent_v2=2@1", 1);
    must(!backend->has_p2p(device[0], device[1]) && has_asked(0, 0));
    must(copy_from(0) == WK_OK && copy_from(1) == WK_OK && has_copied(TRIED + 2, 0));
    alarm(0);
    must(driver_calls("cuCtxPushCurrent_v2") == driver_calls("cuCtxPopCurrent_v2") + 3);
    for (int d = 0; d < 2; d++) close_one(d);
}

/* No driver calls for a lost device. */
static void lost_device(void)
{
    wk__fail fail;
    open_both();
    for (int d = 0; d < 2; d++) {
        wk__cuda_device *gone = device[d];
        wk__cuda_fail_set(gone, &fail, CUDA_ERROR_ILLEGAL_ADDRESS, "a kernel");
        must(!backend->has_p2p(device[0], device[1]) && has_asked(0, 0));
        gone->lost = false;
    }
    for (int d = 0; d < 2; d++) close_one(d);
}

static void shared_context(void)
{
    open_both();
    wk__cuda_device *first = device[0], *second = device[1];
    const CUcontext own = second->context;
    second->context = first->context; /* as if a card is listed twice */
    must(backend->has_p2p(first, second) && has_asked(0, 0));
    second->context = own;
    for (int d = 0; d < 2; d++) close_one(d);
}

static int looked;

/* Checks that the mapping lock is held; only the first device's calls concern mappings. */
static void check_mapping_lock(const char *name)
{
    wk__cuda_device *first = device[0];
    if (strcmp(name, "cuMemMap") != 0 && strcmp(name, "cuMemSetAccess") != 0 && strcmp(name, "cuMemUnmap") != 0) return;
    must(pthread_mutex_trylock(&first->mapping_lock) == EBUSY);
    looked++;
}

/* The arena maps and unmaps without the device's lock; the mapping lock ensures that access is granted to every
 * mapping. */
static void mapping_lock_is_held(void)
{
    void (*watch)(void (*)(const char *));
    wk__memory range;
    wk__fail fail;
    open_both();
    must(backend->range_reserve(device[0], WK__RANGE_PAGE, &range, &fail) == WK_OK);
    standin_find("libcuda.so.1", "standin_set_hook", &watch);
    watch(check_mapping_lock);
    must(backend->range_map(device[0], &range, 0, WK__RANGE_PAGE, &fail) == WK_OK && looked == 2);
    must(backend->has_p2p(device[0], device[1]) && looked == 3);
    must(backend->range_unmap(device[0], &range, 0, WK__RANGE_PAGE, &fail) == WK_OK && looked == 4);
    watch(NULL);
    backend->range_release(device[0], &range);
    for (int d = 0; d < 2; d++) close_one(d);
}

static void devices(void **state)
{
    (void)state;
    static const char *const failures[] = {
        "cuMemAlloc_v2=2@1",        "cuMemAlloc_v2=2@2",        "cuMemcpyHtoDAsync_v2=1@1", "cuMemcpyHtoDAsync_v2=1@2",
        "cuStreamSynchronize=1@1",  "cuStreamSynchronize=1@2",  "cuStreamSynchronize=1@3",  "cuStreamSynchronize=1@4",
        "cuMemsetD8Async=1@1",      "cuMemsetD8Async=1@2",      "cuMemcpyPeerAsync=1@1",    "cuMemcpyPeerAsync=1@2",
        "cuMemcpyDtoHAsync_v2=1@1", "cuMemcpyDtoHAsync_v2=1@2",
    };
    in_child("STANDIN_SEED=1", reopened_device);
    for (size_t k = 0; k < sizeof failures / sizeof failures[0]; k++) {
        failing = failures[k];
        forbidden = 2;
        in_child("STANDIN_SEED=1", failing_trial);
    }
    failing = "cuCtxEnablePeerAccess=217@2";
    forbidden = 1;
    in_child("STANDIN_SEED=1", failing_trial);
    in_child("STANDIN_SEED=1", failing_context_push);
    in_child("STANDIN_SEED=1", lost_device);
    in_child("STANDIN_SEED=1", shared_context);
    in_child("STANDIN_SEED=1", mapping_lock_is_held);
}

/* ---- reports ----------------------------------------------------------------------------------------------------- */

static void logs_copy_path(void **state)
{
    (void)state;
    way = WK_COPY_PEER;
    in_child("STANDIN_PEERS=1", expect_path_of_network);
    way = WK_COPY_HOST;
    in_child("STANDIN_PEERS=0", expect_path_of_network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(direct_copies), cmocka_unit_test(staged_copies),
                                       cmocka_unit_test(lossy_peers), cmocka_unit_test(devices),
                                       cmocka_unit_test(logs_copy_path)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
