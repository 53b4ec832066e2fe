/* SPDX-License-Identifier: Apache-2.0 */
/* The stand-in for the driver: the results of its calls, and that they behave as CUDA's. */
#include "test.h"

#include <glob.h>
#include <pthread.h>
#include <unistd.h>

enum { COUNT = 256, BYTES = COUNT * sizeof(int) };

static void *context[2], *stream, *module, *add, *bad;

static const char text[] =
    "extern \"C\" __global__ void add(const int *in, int *out, int n)\n"
    "{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    out[i] = in[i] + n;\n}\n"
    "extern \"C\" __global__ void bad(int *out)\n{\n    if (threadIdx.x == 3) *(int *)16 = 1;\n    out[0] = 1;\n}\n"
    "extern \"C\" __global__ void large(int *out, int n)\n"
    "{\n    extern __shared__ int s[];\n    for (int k = threadIdx.x; k < n; k += blockDim.x) s[k] = k;\n"
    "    __syncthreads();\n    out[threadIdx.x] = s[n - 1 - threadIdx.x];\n}\n"
    "extern \"C\" __global__ void __launch_bounds__(64) few(int *out)\n{\n    out[threadIdx.x] = 1;\n}\n";

static void good(int code)
{
    if (code != 0) fail_msg("CUDA error %d", code);
}

static void begin(int seed)
{
    static char *cubin;
    char number[16];
    snprintf(number, sizeof number, "%d", seed);
    setenv("STANDIN_SEED", number, 1);
    if (cubin == NULL) assert_int_equal(standin_compile(text, &cubin), 0);
    good(cu.cuInit(0));
    for (int d = 0; d < 2; d++) good(cu.cuDevicePrimaryCtxRetain(&context[d], d));
    good(cu.cuCtxSetCurrent(context[0]));
    good(cu.cuStreamCreate(&stream, 1));
    good(cu.cuModuleLoadData(&module, cubin));
    good(cu.cuModuleGetFunction(&add, module, "add"));
    good(cu.cuModuleGetFunction(&bad, module, "bad"));
}

static void end(void)
{
    good(cu.cuCtxSetCurrent(NULL));
    for (int d = 0; d < 2; d++) good(cu.cuDevicePrimaryCtxRelease_v2(d));
}

static cu_address take(void)
{
    cu_address at;
    good(cu.cuMemAlloc_v2(&at, BYTES));
    good(cu.cuMemsetD32Async(at, 0, COUNT, stream));
    good(cu.cuStreamSynchronize(stream));
    return at;
}

static int launch_add(cu_address in, cu_address out, int n, void *on)
{
    return cu.cuLaunchKernel(add, 2, 1, 1, COUNT / 2, 1, 1, 0, on, (void *[]){&in, &out, &n}, NULL);
}

static void expect(cu_address at, int number)
{
    int got[COUNT];
    good(cu.cuMemcpyDtoHAsync_v2(got, at, BYTES, stream));
    good(cu.cuStreamSynchronize(stream));
    for (int k = 0; k < COUNT; k++) assert_int_equal(got[k], number);
}

/* ---- contexts and errors ----------------------------------------------------------------------------------------- */

static void contexts_and_handles(void **state)
{
    (void)state;
    standin_needed();
    cu_address at;
    begin(1);
    at = take();
    assert_int_equal(launch_add(at, at, 1, (void *)&at), 400);
    assert_int_equal(cu.cuMemFree_v2(at + 4), 1);
    assert_int_equal(cu.cuMemcpyHtoDAsync_v2(at + 4, text, BYTES, stream), 1);
    good(cu.cuCtxSetCurrent(context[1]));
    assert_int_equal(launch_add(at, at, 1, NULL), 400);
    good(cu.cuCtxSetCurrent(NULL));
    assert_int_equal(cu.cuMemAlloc_v2(&at, 1), 201);
    end();
    assert_int_equal(cu.cuCtxSetCurrent(context[0]), 201);
}

/* An error persists until the context ends; the other device is unaffected. */
static void errors_persist(void **state)
{
    (void)state;
    standin_needed();
    begin(1);
    cu_address at = take(), other;
    good(cu.cuLaunchKernel(bad, 1, 1, 1, 32, 1, 1, 0, stream, (void *[]){&at}, NULL));
    assert_int_equal(cu.cuStreamSynchronize(stream), CU_FAILED);
    assert_int_equal(cu.cuMemAlloc_v2(&other, 4), CU_FAILED);
    assert_int_equal(cu.cuCtxSynchronize(), CU_FAILED);
    good(cu.cuCtxSetCurrent(context[1]));
    good(cu.cuMemAlloc_v2(&other, 4));
    end();
    begin(1);
    at = take();
    good(launch_add(at, at, 5, stream));
    expect(at, 5);
    end();
}

static void calls_fail_by_number(void **state)
{
    (void)state;
    standin_needed();
    begin(1);
    setenv("STANDIN_FAIL_AT", "3", 1);
    assert_int_equal(cu.cuCtxSynchronize(), 0);
    assert_int_equal(cu.cuCtxSynchronize(), 0);
    assert_int_equal(cu.cuCtxSynchronize(), 999);
    assert_int_equal(cu.cuCtxSynchronize(), 0);
    unsetenv("STANDIN_FAIL_AT");
    end();
}

/* ---- streams and events ------------------------------------------------------------------------------------------ */

/* Usually not ready at first, and ready soon. */
static void queries(void **state)
{
    (void)state;
    standin_needed();
    int late = 0;
    for (int seed = 0; seed < 8; seed++) {
        void *event, *other;
        float milliseconds = -1;
        int asked = 0, code;
        begin(seed);
        cu_address at = take();
        good(cu.cuEventCreate(&event, 0));
        good(cu.cuEventCreate(&other, 0));
        assert_int_equal(cu.cuEventQuery(event), 0); /* has not been recorded */
        good(cu.cuEventRecord(event, stream));
        for (int k = 0; k < 3; k++) good(launch_add(at, at, 1, stream));
        good(cu.cuEventRecord(other, stream));
        code = cu.cuEventElapsedTime(&milliseconds, event, other);
        assert_int_equal(code, CU_NOT_READY);
        for (; (code = cu.cuEventQuery(other)) == CU_NOT_READY; asked++) assert_true(asked < 10);
        assert_int_equal(code, 0);
        late += asked > 0;
        good(cu.cuEventElapsedTime(&milliseconds, event, other));
        assert_true(milliseconds >= 0);
        good(launch_add(at, at, 1, stream));
        for (asked = 0; (code = cu.cuStreamQuery(stream)) == CU_NOT_READY; asked++) assert_true(asked < 10);
        assert_int_equal(code, 0);
        expect(at, 4);
        good(cu.cuEventDestroy_v2(event));
        end();
    }
    assert_true(late > 3);
}

/* A wait applies to the record before it, not to the next one; a destroyed stream finishes its work. */
static void waits(void **state)
{
    (void)state;
    standin_needed();
    for (int seed = 0; seed < 8; seed++) {
        void *event, *other;
        begin(seed);
        cu_address at = take(), to = take();
        good(cu.cuEventCreate(&event, 2));
        good(cu.cuStreamCreate(&other, 1));
        good(launch_add(at, at, 7, other));
        good(cu.cuEventRecord(event, other));
        good(cu.cuStreamWaitEvent(stream, event, 0));
        good(cu.cuEventRecord(event, stream));
        good(cu.cuStreamDestroy_v2(other));
        assert_int_equal(cu.cuStreamQuery(other), 400);
        good(cu.cuMemcpyDtoDAsync_v2(to, at, BYTES, stream));
        expect(to, 7);
        assert_int_equal(cu.cuEventSynchronize(event), 0);
        end();
    }
}

/* Without events: blocking streams and the default stream are ordered. */
static void default_stream(void **state)
{
    (void)state;
    standin_needed();
    for (int seed = 0; seed < 8; seed++) {
        void *blocks;
        begin(seed);
        cu_address at = take(), to = take();
        good(cu.cuStreamCreate(&blocks, 0));
        good(launch_add(at, at, 2, blocks));
        good(launch_add(at, to, 3, NULL));
        good(launch_add(to, to, 4, blocks));
        good(cu.cuStreamSynchronize(NULL));
        good(cu.cuStreamSynchronize(blocks));
        expect(to, 9);
        end();
    }
}

static void *add_often(void *at)
{
    void *mine;
    good(cu.cuCtxSetCurrent(context[0]));
    good(cu.cuStreamCreate(&mine, 1));
    for (int k = 0; k < 50; k++) good(launch_add(*(cu_address *)at, *(cu_address *)at, 1, mine));
    good(cu.cuStreamSynchronize(mine));
    good(cu.cuCtxSetCurrent(NULL));
    return NULL;
}

static void threads(void **state)
{
    (void)state;
    standin_needed();
    pthread_t thread[4];
    cu_address at[4];
    begin(1);
    for (int k = 0; k < 4; k++) at[k] = take();
    for (int k = 0; k < 4; k++) pthread_create(&thread[k], NULL, add_often, &at[k]);
    for (int k = 0; k < 4; k++) pthread_join(thread[k], NULL);
    for (int k = 0; k < 4; k++) expect(at[k], 50);
    end();
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

static void limits(void **state)
{
    (void)state;
    standin_needed();
    void *large, *few;
    int n = 100 << 8, value, got[COUNT];
    begin(1);
    cu_address at = take();
    void *arguments[] = {&at, &n};
    good(cu.cuModuleGetFunction(&large, module, "large"));
    good(cu.cuModuleGetFunction(&few, module, "few"));
    assert_int_equal(cu.cuModuleGetFunction(&few, module, "fewer"), 500);
    assert_int_equal(cu.cuLaunchKernel(large, 1, 1, 1, COUNT, 1, 1, 100 << 10, stream, arguments, NULL), 1);
    assert_int_equal(cu.cuFuncSetAttribute(large, 8, 228 << 10), 1);
    good(cu.cuFuncSetAttribute(large, 8, 100 << 10));
    good(cu.cuLaunchKernel(large, 1, 1, 1, COUNT, 1, 1, 100 << 10, stream, arguments, NULL));
    good(cu.cuMemcpyDtoHAsync_v2(got, at, BYTES, stream));
    good(cu.cuStreamSynchronize(stream));
    for (int k = 0; k < COUNT; k++) assert_int_equal(got[k], n - 1 - k);
    good(cu.cuFuncGetAttribute(&value, 0, few));
    assert_int_equal(value, 64);
    assert_int_equal(cu.cuLaunchKernel(few, 1, 1, 1, 65, 1, 1, 0, stream, arguments, NULL), 1);
    assert_int_equal(cu.cuLaunchKernel(few, 1, 1, 1, 0, 1, 1, 0, stream, arguments, NULL), 1);
    good(cu.cuLaunchKernel(few, 1, 1, 1, 64, 1, 1, 0, stream, arguments, NULL));
    good(cu.cuStreamSynchronize(stream));
    end();
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void out_of_memory(void **state)
{
    (void)state;
    standin_needed();
    size_t before, after, total;
    cu_address at;
    begin(1);
    good(cu.cuMemGetInfo_v2(&before, &total));
    assert_true(total == (size_t)2 << 30 && before <= total);
    assert_int_equal(cu.cuMemAlloc_v2(&at, before + 256), 2);
    good(cu.cuMemAlloc_v2(&at, 1 << 20));
    good(cu.cuMemGetInfo_v2(&after, &total));
    assert_int_equal(before - after, 1 << 20);
    good(cu.cuMemFree_v2(at));
    good(cu.cuMemGetInfo_v2(&after, &total));
    assert_int_equal(before, after);
    end();
}

/* A kernel can access the other device's memory once that is enabled. */
static void peers(void **state)
{
    (void)state;
    standin_needed();
    for (int allowed = 0; allowed < 2; allowed++) {
        cu_address far;
        begin(1);
        cu_address near = take();
        good(cu.cuCtxSetCurrent(context[1]));
        good(cu.cuMemAlloc_v2(&far, BYTES));
        good(cu.cuCtxSetCurrent(context[0]));
        good(cu.cuMemcpyPeerAsync(far, context[1], near, context[0], BYTES, stream));
        if (allowed) good(cu.cuCtxEnablePeerAccess(context[1], 0));
        good(launch_add(far, near, 6, stream));
        if (allowed)
            expect(near, 6);
        else
            assert_int_equal(cu.cuStreamSynchronize(stream), CU_FAILED);
        end();
    }
}

enum { GRANULE = 2 << 20 };
static const struct {
    int type, handle_types, location, id;
    void *meta;
    unsigned char flags[8];
} properties = {1, 0, 1, 0, NULL, {0}}; /* on the first device */

/* Two adjacent mappings with a kernel across the boundary; the kernel is rejected where nothing is mapped. */
static void mappings(void **state)
{
    (void)state;
    static const int access[] = {1, 0, 3};
    standin_needed();
    for (int unmapped = 0; unmapped < 2; unmapped++) {
        cu_address at;
        void *memory[2];
        begin(1);
        good(cu.cuMemAddressReserve(&at, 4 * GRANULE, 0, 0, 0));
        for (int k = 0; k < 2; k++) {
            good(cu.cuMemCreate(&memory[k], GRANULE, &properties, 0));
            good(cu.cuMemMap(at + (cu_address)k * GRANULE, GRANULE, 0, memory[k], 0));
            good(cu.cuMemRelease(memory[k]));
        }
        assert_int_equal(cu.cuMemsetD8Async(at, 0, GRANULE, stream), 1); /* no device has access yet */
        good(cu.cuMemSetAccess(at, 2 * GRANULE, access, 1));
        good(cu.cuMemsetD8Async(at, 0, 2 * GRANULE, stream));
        const cu_address seam = at + GRANULE - BYTES / 2;
        good(launch_add(seam, seam, 8, stream));
        if (!unmapped) expect(seam, 8);
        good(cu.cuMemUnmap(at, 2 * GRANULE));
        if (unmapped) assert_int_equal(cu.cuStreamSynchronize(stream), CU_FAILED);
        good(cu.cuMemAddressFree(at, 4 * GRANULE));
        end();
    }
}

/* Access to mapped memory depends on the named devices, not on peer access of contexts. A copy works either way, and is
 * counted. */
static void access_by_device(void **state)
{
    (void)state;
    static const int of_0[] = {1, 0, 3}, of_1[] = {1, 1, 3}, none_of_1[] = {1, 1, 0};
    cu_address at, far;
    void *memory, *function = standin_function(standin_library("libcuda.so.1"), "standin_count");
    long (*count)(const char *);
    standin_needed();
    memcpy(&count, &function, sizeof count);
    begin(1);
    const long direct = count("direct copy"), staged = count("staged copy");
    good(cu.cuMemAddressReserve(&at, GRANULE, 0, 0, 0));
    good(cu.cuMemCreate(&memory, GRANULE, &properties, 0));
    good(cu.cuMemMap(at, GRANULE, 0, memory, 0));
    good(cu.cuMemRelease(memory));
    good(cu.cuMemSetAccess(at, GRANULE, of_0, 1));
    setenv("STANDIN_PEERS", "0", 1);
    assert_int_equal(cu.cuMemSetAccess(at, GRANULE, of_1, 1), 101);
    assert_int_equal(cu.cuCtxEnablePeerAccess(context[1], 0), 101);
    unsetenv("STANDIN_PEERS");
    good(cu.cuCtxEnablePeerAccess(context[1], 0));
    good(cu.cuCtxSetCurrent(context[1]));
    good(cu.cuCtxEnablePeerAccess(context[0], 0));
    good(cu.cuMemAlloc_v2(&far, BYTES));
    good(cu.cuCtxSetCurrent(context[0]));
    good(cu.cuMemsetD8Async(at, 0, GRANULE, stream));
    good(cu.cuMemcpyPeerAsync(far, context[1], at, context[0], BYTES, stream));
    assert_true(count("direct copy") == direct && count("staged copy") == staged + 1);
    good(cu.cuMemSetAccess(at, GRANULE, of_1, 1));
    good(launch_add(at, at, 8, stream)); /* the first device has access */
    good(cu.cuMemcpyPeerAsync(far, context[1], at, context[0], BYTES, stream));
    assert_true(count("direct copy") == direct + 1 && count("staged copy") == staged + 1);
    expect(far, 8);
    good(cu.cuMemSetAccess(at, GRANULE, none_of_1, 1));
    good(cu.cuMemcpyPeerAsync(far, context[1], at, context[0], BYTES, stream));
    assert_true(count("direct copy") == direct + 1 && count("staged copy") == staged + 2);
    good(cu.cuStreamSynchronize(stream));
    good(cu.cuMemUnmap(at, GRANULE));
    good(cu.cuMemAddressFree(at, GRANULE));
    end();
}

/* Half of a direct copy to the second device is lost, and nothing of a staged one. */
static void lossy_peers(void **state)
{
    (void)state;
    cu_address far;
    int got[COUNT];
    standin_needed();
    begin(1);
    const cu_address near = take();
    setenv("STANDIN_PEERS", "broken1", 1);
    good(cu.cuCtxSetCurrent(context[1]));
    good(cu.cuMemAlloc_v2(&far, BYTES));
    good(cu.cuCtxEnablePeerAccess(context[0], 0));
    good(cu.cuCtxSetCurrent(context[0]));
    good(cu.cuCtxEnablePeerAccess(context[1], 0));
    good(cu.cuMemsetD32Async(near, 7, COUNT, stream));
    good(cu.cuMemsetD32Async(far, 1, COUNT, stream));
    good(cu.cuMemcpyPeerAsync(far, context[1], near, context[0], BYTES, stream));
    good(cu.cuMemcpyDtoHAsync_v2(got, far, BYTES, stream));
    good(cu.cuStreamSynchronize(stream));
    for (int k = 0; k < COUNT; k++) assert_int_equal(got[k], k < COUNT / 2 ? 7 : 1);
    good(cu.cuMemsetD32Async(far, 8, COUNT, stream));
    good(cu.cuMemcpyPeerAsync(near, context[0], far, context[1], BYTES, stream));
    expect(near, 8);
    good(cu.cuCtxDisablePeerAccess(context[1]));
    assert_int_equal(cu.cuCtxDisablePeerAccess(context[1]), 705);
    good(cu.cuMemsetD32Async(near, 9, COUNT, stream));
    good(cu.cuMemcpyPeerAsync(far, context[1], near, context[0], BYTES, stream));
    good(cu.cuMemcpyPeerAsync(near, context[0], far, context[1], BYTES, stream));
    expect(near, 9);
    unsetenv("STANDIN_PEERS");
    end();
}

/* ---- NVML -------------------------------------------------------------------------------------------------------- */

static void management(void **state)
{
    (void)state;
    standin_needed();
    void *library = standin_library("libnvidia-ml.so.1"), *device;
    assert_non_null(library);
    int (*init)(void), (*count)(unsigned *), (*by_address)(const char *, void **), (*power)(void *, unsigned *);
    void *f[] = {standin_function(library, "nvmlInit_v2"), standin_function(library, "nvmlDeviceGetCount_v2"),
                 standin_function(library, "nvmlDeviceGetHandleByPciBusId_v2"),
                 standin_function(library, "nvmlDeviceGetPowerUsage")};
    unsigned number = 0;
    memcpy(&init, &f[0], sizeof init);
    memcpy(&count, &f[1], sizeof count);
    memcpy(&by_address, &f[2], sizeof by_address);
    memcpy(&power, &f[3], sizeof power);
    assert_int_equal(count(&number), 1);
    good(init());
    good(count(&number));
    assert_int_equal(number, 2);
    good(by_address("0000:1b:00.0", &device));
    assert_int_equal(by_address("0000:19:00.0", &device), 6);
    good(power(device, &number));
    assert_int_equal(number, 71250);
}

/* ---- NVRTC ------------------------------------------------------------------------------------------------------- */

static size_t cached_after(const char *folder, const char *source)
{
    char pattern[600], *cubin;
    glob_t found = {0};
    assert_int_equal(standin_compile(source, &cubin), 0);
    free(cubin);
    snprintf(pattern, sizeof pattern, "%s/*.kept", folder);
    if (glob(pattern, 0, NULL, &found) != 0) return 0;
    const size_t count = found.gl_pathc;
    globfree(&found);
    return count;
}

/* Cubins are cached by the compiling process (compile_worker.c), except those with warnings, because a cached warning
 * would not be seen again. */
static void cubins_are_cached(void **state)
{
    (void)state;
    standin_needed();
    const char *work = getenv("WICK_WORK"), *own = getenv("STANDIN");
    char folder[500], before[1024];
    snprintf(before, sizeof before, "%s", own != NULL ? own : "");
    snprintf(folder, sizeof folder, "%s/kept", work != NULL ? work : "/tmp");
    setenv("STANDIN", folder, 1);
    char fresh[100];
    snprintf(fresh, sizeof fresh, "extern \"C\" __global__ void k(int *p) { *p = %d; }", (int)getpid());
    const size_t first = cached_after(folder, fresh), again = cached_after(folder, fresh);
    const size_t warned = cached_after(folder, "extern \"C\" __global__ void k(int *p) { int unused; *p = 1; }");
    if (own != NULL)
        setenv("STANDIN", before, 1);
    else
        unsetenv("STANDIN");
    assert_true(first > 0 && again == first && warned == first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts_and_handles),
        cmocka_unit_test(errors_persist),
        cmocka_unit_test(calls_fail_by_number),
        cmocka_unit_test(queries),
        cmocka_unit_test(waits),
        cmocka_unit_test(default_stream),
        cmocka_unit_test(threads),
        cmocka_unit_test(limits),
        cmocka_unit_test(out_of_memory),
        cmocka_unit_test(peers),
        cmocka_unit_test(lossy_peers),
        cmocka_unit_test(mappings),
        cmocka_unit_test(access_by_device),
        cmocka_unit_test(management),
        cmocka_unit_test(cubins_are_cached),
    };
    return cmocka_run_group_tests(tests, standin_open, NULL);
}
