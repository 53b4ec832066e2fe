/* SPDX-License-Identifier: Apache-2.0 */
/* The order of driver calls: during stream captures of other libraries, frees, submissions of several kernels, waits,
 * and exit of the process. */
#include "child.h"

#include "backend/cuda/device.h"
#include "backend/gpu/cache/kernel_build.h"

#include <pthread.h>

static void *device_of(const wk__backend *backend)
{
    void *device;
    wk__fail fail;
    must(backend->open(0, &device, &fail) == WK_OK);
    return device;
}

/* Makes calls of all kinds. */
static double compute(void)
{
    WK_SCOPE;
    enum { MANY = 3 << 20 };
    wk_tensor *x = wk_to(wk_ones((MANY)), wk_cuda(0)), *y = wk_to(wk_mul(x, 2), wk_cuda(1));
    const double sum = wk_item(wk_sum(y));
    must(wk_error() == NULL && wk_memory_trim(wk_cuda(0)) == WK_OK);
    return sum / MANY;
}

/* ---- stream capture by another library --------------------------------------------------------------------------- */

static struct {
    int (*retain)(void **context, int device), (*set_current)(void *context), (*stream)(void **stream, unsigned flags),
        (*begin)(void *stream, int mode), (*end)(void *stream, void **graph), (*exchange)(int *mode);
    void *captured;
} other;

enum { GLOBAL = 0, THREAD_LOCAL = 1 };

static void begin_capture(int mode)
{
    void *context;
    must(other.retain(&context, 0) == 0 && other.set_current(context) == 0);
    must(other.stream(&other.captured, 1) == 0 && other.begin(other.captured, mode) == 0);
}

static void *capture_elsewhere(void *turn)
{
    void *graph;
    begin_capture(GLOBAL);
    pthread_barrier_wait(turn);
    pthread_barrier_wait(turn);
    must(other.end(other.captured, &graph) == 0);
    other.set_current(NULL);
    return NULL;
}

static void while_streams_are_captured(void)
{
    void *graph;
    int (*begin)(unsigned flags);
    pthread_t thread;
    pthread_barrier_t turn;
    must(wk_device_count(WK_CUDA) == 2);
    standin_find("libcuda.so.1", "cuInit", &begin);
    must(begin(0) == 0);
    standin_find("libcuda.so.1", "cuDevicePrimaryCtxRetain", &other.retain);
    standin_find("libcuda.so.1", "cuCtxSetCurrent", &other.set_current);
    standin_find("libcuda.so.1", "cuStreamCreate", &other.stream);
    standin_find("libcuda.so.1", "cuStreamBeginCapture_v2", &other.begin);
    standin_find("libcuda.so.1", "cuStreamEndCapture", &other.end);
    standin_find("libcuda.so.1", "cuThreadExchangeStreamCaptureMode", &other.exchange);
    for (int mode = GLOBAL; mode <= THREAD_LOCAL; mode++) {
        begin_capture(mode);
        must(compute() == 2);
        must(other.end(other.captured, &graph) == 0);
    }
    pthread_barrier_init(&turn, NULL, 2);
    pthread_create(&thread, NULL, capture_elsewhere, &turn);
    pthread_barrier_wait(&turn);
    must(compute() == 2);
    pthread_barrier_wait(&turn);
    pthread_join(thread, NULL);
    int mode = THREAD_LOCAL; /* is the thread's mode restored? */
    must(other.exchange(&mode) == 0 && mode == GLOBAL);
}

/* If the mode could not be changed, it is not restored either. */
static void without_the_mode(void)
{
    must(wk_device_count(WK_CUDA) == 2);
    standin_find("libcuda.so.1", "cuThreadExchangeStreamCaptureMode", &other.exchange);
    must(compute() == 2);
    unsetenv("STANDIN_ERRORS");
    int mode = THREAD_LOCAL;
    must(other.exchange(&mode) == 0 && mode == GLOBAL);
}

static void work_during_captures(void **state)
{
    (void)state;
    in_child("STANDIN_ERRORS=cuThreadExchangeStreamCaptureMode=1@1", without_the_mode);
    in_child("STANDIN_ERRORS=", while_streams_are_captured);
}

/* ---- freeing memory ---------------------------------------------------------------------------------------------- */

static wk__cuda_device *watched;
static int frees;

static void look_at_frees(const char *call)
{
    if (watched == NULL || strcmp(call, "cuMemFree_v2") != 0) return;
    must(pthread_mutex_trylock(&watched->lock) == 0);
    pthread_mutex_unlock(&watched->lock);
    frees++;
}

/* cuMemFree waits for the device, so it is called without the device's lock. */
static void blocks_are_freed_without_the_lock(void)
{
    const wk__backend *backend = wk__backend_of(WK_CUDA);
    void (*watch)(void (*)(const char *));
    wk__memory block;
    wk__fail fail;
    wk__cuda_device *device = device_of(backend);
    standin_find("libcuda.so.1", "standin_set_hook", &watch);
    must(backend->block_alloc(device, 1 << 20, &block, &fail) == WK_OK);
    watch(look_at_frees);
    watched = device;
    backend->block_free(device, &block);
    must(frees == 1 && block.block == NULL);
    watched = NULL;
    backend->close(device);
}

/* Chunked sums of more and more rows: no growth of the scratch memory waits; the former memory is freed after the next
 * wait. */
static void scratch_grows(void)
{
    enum { COLUMNS = 30000, TIMES = 5 };
    WK_SCOPE;
    wk_tensor *x = wk_retain(wk_to(wk_ones((1 << TIMES, COLUMNS)), wk_cuda(0))), *sum[TIMES + 1];
    must(wk_item(wk_sum(wk_ones((3), .device = wk_cuda(0)))) == 3);
    const long freed = driver_calls("cuMemFree_v2"), taken = driver_calls("cuMemAlloc_v2");
    for (int k = 0; k <= TIMES; k++) {
        sum[k] = wk_retain(wk_sum(wk_narrow(x, 0, 0, 1 << k), (1)));
        wk_flush();
    }
    must(wk_error() == NULL);
    must(driver_calls("cuMemAlloc_v2") - taken >= TIMES && driver_calls("cuMemFree_v2") == freed);
    for (int k = 0; k <= TIMES; k++) must(wk_item(wk_sum(sum[k])) == (double)COLUMNS * (1 << k));
    const long after = driver_calls("cuMemFree_v2");
    must(after - freed >= TIMES);
    must(wk_item(wk_sum(sum[0])) == COLUMNS && driver_calls("cuMemFree_v2") == after); /* each only once */
    for (int k = 0; k <= TIMES; k++) wk_free(sum[k]);
    wk_free(x);
}

/* On allocation failure the former scratch memory is freed immediately. */
static void scratch_is_short(void)
{
    enum { COLUMNS = 30000 };
    WK_SCOPE;
    wk_tensor *x = wk_retain(wk_to(wk_ones((16, COLUMNS)), wk_cuda(0)));
    wk_tensor *one = wk_retain(wk_sum(wk_narrow(x, 0, 0, 1), (1)));
    wk_flush();
    const long freed = driver_calls("cuMemFree_v2");
    wk_tensor *more = wk_retain(wk_sum(x, (1)));
    setenv("STANDIN_ERRORS", "cuMemAlloc_v2=2@1", 1);
    wk_flush();
    must(wk_error() == NULL && driver_calls("cuMemFree_v2") == freed + 1);
    must(wk_item(wk_sum(more)) == 16.0 * COLUMNS && wk_item(one) == COLUMNS);
    wk_free(x), wk_free(one), wk_free(more);
}

static void memory_is_freed(void **state)
{
    (void)state;
    in_child("STANDIN_ERRORS=", blocks_are_freed_without_the_lock);
    in_child("STANDIN_ERRORS=", scratch_grows);
    in_child("STANDIN_ERRORS=", scratch_is_short);
}

/* ---- submissions ------------------------------------------------------------------------------------------------- */

/* Adds with two kernels: one checks the indices, the other one, specific to the dtype, adds. */
static void add_to(wk_tensor *x)
{
    wk_tensor *ones = wk_to(wk_ones((3), .dtype = wk_dtype_of(x)), wk_cuda(0));
    wk_tensor *places = wk_to(wk_arange(3, .dtype = WK_I64), wk_cuda(0));
    wk_scatter_add_(x, 0, places, ones);
    wk_flush();
}

/* If the second kernel is not available, the first is not launched. */
static void kernels_of_a_call_are_launched_together(void)
{
    setenv("WICK_CACHE_DIR", "off", 1);
    WK_SCOPE;
    wk_tensor *x = wk_retain(wk_to(wk_zeros((3)), wk_cuda(0)));
    wk_tensor *whole = wk_retain(wk_to(wk_zeros((3), .dtype = WK_I32), wk_cuda(0)));
    add_to(whole);
    must(wk_error() == NULL);
    setenv("STANDIN_ERRORS", "nvrtcCompileProgram=11", 1);
    const long before = driver_calls("cuLaunchKernel");
    add_to(x);
    must(wk_error_code() == WK_ERR_DEVICE);
    wk_clear_error();
    must(driver_calls("cuLaunchKernel") == before);
    unsetenv("STANDIN_ERRORS");
    add_to(x);
    must(wk_item(wk_sum(x)) == 3 && wk_item(wk_sum(whole)) == 3 && wk_error() == NULL);
    wk_free(x), wk_free(whole);
}

/* A kernel whose threads need more local memory than the context can allocate is not launched, nor are the kernels
 * before it: the card must have memory for 132 * 2048 threads. The driver is asked once per kernel. */
static void local_memory_of_threads(void)
{
    setenv("WICK_CACHE_DIR", "off", 1);
    WK_SCOPE;
    wk_tensor *x = wk_retain(wk_to(wk_zeros((3)), wk_cuda(0)));
    wk_tensor *whole = wk_retain(wk_to(wk_zeros((3), .dtype = WK_I32), wk_cuda(0)));
    wk_flush();
    const long before = driver_calls("cuLaunchKernel");
    setenv("STANDIN_OTHERS", "1848", 1); /* leaves 100 of 2048 MB; the kernel needs 262 */
    setenv("STANDIN_FUNCTIONS", "3=1040", 1);
    add_to(x);
    must(wk_error_code() == WK_ERR_MEMORY && strstr(wk_error(), "the stack of a kernel") != NULL);
    wk_clear_error();
    must(driver_calls("cuLaunchKernel") == before);
    setenv("STANDIN_FUNCTIONS", "3=1024", 1);
    add_to(x);
    must(wk_item(wk_sum(x)) == 3 && wk_error() == NULL);
    const long asked = driver_calls("cuFuncGetAttribute");
    add_to(x);
    must(wk_item(wk_sum(x)) == 6 && driver_calls("cuFuncGetAttribute") == asked);
    setenv("STANDIN_OTHERS", "64", 1);
    setenv("STANDIN_FUNCTIONS", "3=1040", 1);
    add_to(whole);
    must(wk_item(wk_sum(whole)) == 3 && wk_error() == NULL && driver_calls("cuFuncGetAttribute") > asked);
    wk_free(x), wk_free(whole);
}

static void submissions(void **state)
{
    (void)state;
    in_child("STANDIN_ERRORS=", local_memory_of_threads);
    in_child("STANDIN_ERRORS=", kernels_of_a_call_are_launched_together);
}

/* ---- counts ------------------------------------------------------------------------------------------------------ */

static void makes_calls(void)
{
    must(compute() == 2);
}

/* The stand-in appends the counts to a file at exit. */
static void counts_at_exit(void **state)
{
    (void)state;
    char path[1024], setting[1100], line[128];
    long launches = 0, copies = 0;
    snprintf(path, sizeof path, "%s/counts", getenv("WICK_WORK"));
    snprintf(setting, sizeof setting, "STANDIN_COUNTS=%s", path);
    unlink(path);
    in_child(setting, makes_calls);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        sscanf(line, "cuLaunchKernel %ld", &launches);
        sscanf(line, "cuMemcpyHtoDAsync_v2 %ld", &copies);
    }
    fclose(file);
    assert_true(launches >= 2 && launches < 20);
    assert_int_equal(copies, 6 + 2); /* 12 MB in parts of 2 MB, and a trial copy between the cards in each direction */
}

/* ---- waits ------------------------------------------------------------------------------------------------------- */

/* Long waits block the thread in the driver (blocking-sync events). */
static void long_waits_block(void)
{
    const wk__backend *backend = wk__backend_of(WK_CUDA);
    void *device = device_of(backend), *event;
    wk__fail fail;
    setenv("STANDIN_ERRORS", "cuEventQuery=600", 1); /* never ready when queried */
    must(compute() == 2);
    must(backend->event_record(device, &event, &fail) == WK_OK);
    must(backend->event_wait(device, event, &fail) == WK_OK);
    backend->event_destroy(device, event);
    backend->close(device);
    must(driver_calls("cuEventSynchronize") > 2 && driver_calls("spin") == 0);
}

/* Waits for completed events do not call the driver. */
static void completed_events_need_no_call(void)
{
    const wk__backend *backend = wk__backend_of(WK_CUDA);
    void *device = device_of(backend), *event;
    wk__fail fail;
    must(backend->event_record(device, &event, &fail) == WK_OK);
    must(backend->event_wait(device, event, &fail) == WK_OK);
    const long before = driver_calls("cuEventSynchronize");
    for (int k = 0; k < 100; k++) must(backend->event_wait(device, event, &fail) == WK_OK);
    must(driver_calls("cuEventSynchronize") == before);
    backend->event_destroy(device, event);
    backend->close(device);
}

static void event_waits(void **state)
{
    (void)state;
    in_child("STANDIN_ERRORS=", long_waits_block);
    in_child("STANDIN_ERRORS=", completed_events_need_no_call);
}

/* ---- process exit ------------------------------------------------------------------------------------------------ */

static int notice[2], result_to = -1;

/* Makes the compilation slow; the compiling thread stops when it ends. */
static void slow_down_compiler(const char *call)
{
    if (strcmp(call, "nvrtcCompileProgram") == 0) {
        must(write(notice[1], "c", 1) == 1);
        usleep(200000);
    }
    if (strcmp(call, "nvrtcGetCUBIN") == 0) must(write(result_to, "d", 1) == 1);
}

static void stop_here(const char *call)
{
    if (strcmp(call, "cuModuleLoadData") == 0) pause();
}

static void *compile(void *device)
{
    static const char *const text[] = {"    (void)m0;\n", NULL};
    static const wk__gpu_template fixed = {.name = "one", .text = text};
    const wk__gpu_kernel_spec unit = {.source_template = &fixed, .dtype = WK_F32, .nmemory = 1, .narguments = 2};
    wk__fail fail;
    must(wk__gpu_kernel_lookup(&((wk__cuda_device *)device)->kernel_cache, &unit, &fail) != NULL);
    wk__cuda_compile_only(device, false, &fail);
    return NULL;
}

/* Opens a device and installs hook in the compiler. */
static void *open_and_watch(void (*hook)(const char *))
{
    void (*watch)(void (*)(const char *));
    setenv("WICK_CACHE_DIR", "off", 1);
    setenv("STANDIN_KEEPS", "no", 1);
    must(pipe(notice) == 0);
    void *device = device_of(wk__backend_of(WK_CUDA));
    standin_find("libnvrtc.so.13", "standin_set_hook", &watch);
    watch(hook);
    return device;
}

/* Compiles in another thread, which never continues; returns when the compiler runs. */
static void compile_elsewhere(void *device)
{
    void (*watch)(void (*)(const char *));
    char byte;
    pthread_t thread;
    standin_find("libcuda.so.1", "standin_set_hook", &watch);
    watch(stop_here);
    pthread_create(&thread, NULL, compile, device);
    must(read(notice[0], &byte, 1) == 1);
}

static void *exit_in_thread(void *nothing)
{
    (void)nothing;
    exit(0);
}

/* The exiting thread has not used any device. */
static void exit_while_a_thread_compiles(void)
{
    pthread_t thread;
    compile_elsewhere(open_and_watch(slow_down_compiler));
    pthread_create(&thread, NULL, exit_in_thread, NULL);
    pthread_join(thread, NULL);
}

static void exit_here(const char *call)
{
    if (strcmp(call, "nvrtcCompileProgram") == 0) exit(0);
}

/* As a signal handler may do. */
static void exit_in_the_compiler(void)
{
    void (*watch)(void (*)(const char *));
    setenv("WICK_CACHE_DIR", "off", 1);
    void *device = device_of(wk__backend_of(WK_CUDA));
    standin_find("libnvrtc.so.13", "standin_set_hook", &watch);
    watch(exit_here);
    alarm(60); /* a deadlock would last for ever */
    compile(device);
    exit(1);
}

/* The first compilation is in progress, and registers exit handlers, as NVRTC does. */
static volatile bool is_compiling;

static void destroy_compiler(void)
{
    if (is_compiling) _exit(1);
}

static void register_at_exit(const char *call)
{
    if (strcmp(call, "nvrtcCompileProgram") == 0) {
        is_compiling = true;
        must(atexit(destroy_compiler) == 0 && write(notice[1], "c", 1) == 1);
        usleep(200000);
    }
    if (strcmp(call, "nvrtcGetCUBIN") == 0) is_compiling = false;
}

static void exit_in_the_first_compilation(void)
{
    compile_elsewhere(open_and_watch(register_at_exit));
    exit(0);
}

/* Exit of a thread, not of the process, waits as well; afterwards other threads can compile. */
static pthread_barrier_t has_used;

static void *uses_the_device(void *device)
{
    char byte;
    wk__fail fail;
    must(wk__backend_of(WK_CUDA)->sync(device, &fail) == WK_OK);
    pthread_barrier_wait(&has_used);
    must(read(notice[0], &byte, 1) == 1);
    return NULL;
}

static void thread_exit_in_the_first_compilation(void)
{
    pthread_t user, thread;
    void *device = open_and_watch(register_at_exit);
    pthread_barrier_init(&has_used, NULL, 2);
    pthread_create(&user, NULL, uses_the_device, device);
    pthread_barrier_wait(&has_used);
    pthread_create(&thread, NULL, compile, device);
    must(pthread_join(user, NULL) == 0 && !is_compiling);
    must(pthread_join(thread, NULL) == 0);
    must(compute() == 2);
    wk__backend_of(WK_CUDA)->close(device);
}

static void exit_quietly(void)
{
    _exit(0);
}

/* A child forked during a compilation does not compile. The compiler's state in the child is lost, and exit does not
 * wait for it. */
static void forked_child_exits_in_the_first_compilation(void)
{
    int status;
    compile_elsewhere(open_and_watch(register_at_exit));
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        atexit(exit_quietly);
        exit(0);
    }
    must(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static wk__cuda_device *still_open;

static void compile_at_exit(void)
{
    static const char *const text[] = {"    (void)m0; (void)m0;\n", NULL};
    static const wk__gpu_template fixed = {.name = "late", .text = text};
    const wk__gpu_kernel_spec unit = {.source_template = &fixed, .dtype = WK_F32, .nmemory = 1, .narguments = 2};
    wk__fail fail = {.code = WK_OK};
    const wk__gpu_kernel *function = wk__gpu_kernel_lookup(&still_open->kernel_cache, &unit, &fail);
    const wk_code code = function ? wk__cuda_compile_only(still_open, false, &fail) : fail.code;
    _exit(code == WK_ERR_STATE ? 0 : 9);
}

/* An exit handler registered before NVRTC was loaded runs after NVRTC's handlers, when NVRTC is destroyed. */
static void compile_after_the_compiler_was_destroyed(void)
{
    setenv("WICK_CACHE_DIR", "off", 1);
    setenv("STANDIN_KEEPS", "no", 1);
    alarm(60);
    must(atexit(compile_at_exit) == 0);
    still_open = device_of(wk__backend_of(WK_CUDA));
    compile(still_open);
    exit(1);
}

static void *compile_repeatedly(void *first)
{
    WK_SCOPE;
    for (int k = 0;; k++) {
        wk_tensor *x = wk_rand((7, 100), .device = wk_cuda(0));
        for (int j = 0; j < k; j++) x = j % 2 ? wk_exp(x) : wk_sin(x);
        wk_item(wk_sum(x));
        if (k == 0) must(write(*(int *)first, "f", 1) == 1);
    }
    return NULL;
}

/* Exit handlers that the compiler registered during its first compilation run before the library's wait for it. */
static void exit_between_kernels(void)
{
    int first[2];
    char byte;
    pthread_t thread;
    const char *delay = getenv("DELAY");
    setenv("WICK_CACHE_DIR", "off", 1);
    setenv("STANDIN_KEEPS", "no", 1);
    alarm(60);
    must(pipe(first) == 0 && delay != NULL);
    pthread_create(&thread, NULL, compile_repeatedly, &first[1]);
    must(read(first[0], &byte, 1) == 1);
    usleep((useconds_t)atoi(delay));
    exit(0);
}

static void process_exit(void **state)
{
    (void)state;
    int result[2];
    char settings[40];
    for (int k = 0; k < 8; k++) {
        snprintf(settings, sizeof settings, "DELAY=%d", 23000 * k);
        in_child(settings, exit_between_kernels);
    }
    char byte = 0;
    assert_int_equal(pipe(result), 0);
    result_to = result[1];
    in_child("STANDIN_ERRORS=", exit_while_a_thread_compiles);
    in_child("STANDIN_ERRORS=", exit_in_the_compiler);
    in_child("STANDIN_ERRORS=", compile_after_the_compiler_was_destroyed);
    in_child("STANDIN_ERRORS=", exit_in_the_first_compilation);
    in_child("STANDIN_ERRORS=", thread_exit_in_the_first_compilation);
    in_child("STANDIN_ERRORS=", forked_child_exits_in_the_first_compilation);
    close(result[1]);
    assert_int_equal(read(result[0], &byte, 1), 1);
    close(result[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_during_captures), cmocka_unit_test(memory_is_freed), cmocka_unit_test(submissions),
        cmocka_unit_test(counts_at_exit),       cmocka_unit_test(event_waits),     cmocka_unit_test(process_exit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
