/* SPDX-License-Identifier: Apache-2.0 */
/* Lost devices, for each error after which a context is unusable: every read reports it, a wait reports it once, the
 * process does not crash, the other device and the CPU continue. Messages name the call whose result is lost, or the
 * one that waited. */
#include "backend.h"

#include <math.h>

/* Checks that the error is reported at this line of this file and begins with words. */
static void expect_message(int line, const char *words)
{
    char begin[300];
    snprintf(begin, sizeof begin, "%s:%d: %s", __FILE__, line, words);
    if (wk_error() == NULL || strncmp(wk_error(), begin, strlen(begin)) != 0) {
        fprintf(stderr, "the error is %s, not %s\n", wk_error() != NULL ? wk_error() : "none", begin);
        exit(1);
    }
    wk_clear_error();
}

static void expect_lost(wk_tensor *x, int line, const char *words)
{
    float data[1000];
    must(wk_read(x, data, sizeof data) != WK_OK);
    must(wk_error_code() == WK_ERR_DEVICE_LOST);
    expect_message(line, words);
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

static void lost_in_a_kernel(void)
{
    WK_SCOPE;
    const int of_x = __LINE__ + 1;
    wk_tensor *x = wk_retain(wk_to(wk_ones((1000)), wk_cuda(0)));
    wk_sync();
    must(wk_error() == NULL);
    const int of_y = __LINE__ + 1;
    wk_tensor *y = wk_retain(wk_mul(x, 3));
    wk_sync();
    must(wk_error_code() == WK_ERR_DEVICE_LOST && strstr(wk_error(), "device lost") != NULL);
    expect_message(of_y + 1, "sync: cuda:0: ");
    wk_sync(); /* already reported */
    must(wk_error() == NULL);
    expect_lost(y, of_y, "mul: cuda:0: ");
    expect_lost(x, of_x, "to: cuda:0: ");
    expect_lost(wk_add(x, 1), of_x, "to: cuda:0: "); /* the first cause */
    unsetenv("STANDIN_ERRORS");
    others_go_on();
    wk_free(x), wk_free(y);
}

/* After the loss, no memory statistics are requested from the driver, because the current context may be another
 * library's. */
static void no_statistics(void)
{
    const wk__backend *backend = wk__backend_of(WK_CUDA);
    void *device;
    wk__fail fail;
    wk__memory_usage before = {0}, after = {0};
    must(backend->open(0, &device, &fail) == WK_OK);
    backend->usage(device, &before);
    const long asked = driver_calls("cuMemGetInfo_v2");
    must(before.used > 0 && before.total > 0 && asked > 0);
    setenv("STANDIN_ERRORS", "cuEventRecord=719@1", 1);
    must(backend->sync(device, &fail) == WK_ERR_DEVICE_LOST);
    backend->usage(device, &after);
    must(after.used == 0 && after.total == 0 && driver_calls("cuMemGetInfo_v2") == asked);
    backend->close(device);
}

static void kernels_that_end_the_context(void **state)
{
    (void)state;
    in_child("STANDIN_ERRORS=", no_statistics);
    static const int errors[] = {201, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 999};
    for (size_t k = 0; k < sizeof errors / sizeof errors[0]; k++) {
        char setting[64];
        snprintf(setting, sizeof setting, "STANDIN_ERRORS=launch=%d", errors[k]);
        in_child(setting, lost_in_a_kernel);
    }
}

/* A read reports the loss first. Results of in-place ops, of host data and of copies are reported at these calls;
 * values computed from them have the same cause, on other devices as well. */
static void read_reports_the_loss(void)
{
    WK_SCOPE;
    const float numbers[1000] = {1};
    wk_tensor *w = wk_retain(ones_on(0)), *x = wk_retain(wk_from(numbers, (1000), .device = wk_cuda(0)));
    const int line = __LINE__;
    wk_tensor *here = wk_retain(wk_to(wk_ones((1000)), wk_cuda(0)));
    wk_sync();
    must(wk_error() == NULL);
    setenv("STANDIN_ERRORS", "launch=719", 1);
    wk_add_(w, 1);
    expect_lost(w, line + 5, "add_: cuda:0: ");
    expect_lost(x, line - 1, "from: cuda:0: ");
    must(wk_tensor_str(here) == NULL);
    expect_message(line + 1, "to: cuda:0: ");
    wk_sync(); /* already reported */
    must(wk_error() == NULL);
    wk_free(w), wk_free(x), wk_free(here);
}

static void copy_to_another_device(void)
{
    WK_SCOPE;
    const int line = __LINE__;
    wk_tensor *x = wk_retain(wk_mul(wk_ones((1000), .device = wk_cuda(0)), 3));
    wk_sync();
    wk_tensor *there = ones_on(1); /* opens the other device */
    must(wk_item(wk_sum(there)) == 1000 && wk_error() == NULL);
    setenv("STANDIN_ERRORS", "cuEventRecord=719@1", 1);
    expect_lost(wk_to(x, wk_cuda(1)), line + 1, "mul: cuda:0: ");
    expect_lost(x, line + 1, "mul: cuda:0: ");
    wk_sync();
    expect_message(__LINE__ - 1, "sync: cuda:0: ");
    others_go_on();
    wk_free(x);
}

/* A copy first waits for ops that may have met a bad index, and so reports the loss. */
static void copy_reports_the_loss(void)
{
    WK_SCOPE;
    wk_tensor *x = ones_on(0), *index = wk_to(wk_of(int64_t, (2), 3, 5), wk_cuda(0));
    wk_sync();
    setenv("STANDIN_ERRORS", "launch=719", 1);
    const int line = __LINE__;
    wk_tensor *picked = wk_index_select(x, 0, index);
    wk_tensor *here = wk_retain(wk_to(picked, wk_cpu()));
    wk_flush();
    expect_message(line + 2, "to: cuda:0: ");
    must(isnan(wk_item(wk_sum(here))));
    expect_message(line + 1, "index_select: cuda:0: ");
    wk_free(here);
}

static void does_not_launch(void)
{
    WK_SCOPE;
    wk_tensor *x = ones_on(0), *y = wk_retain(wk_mul(x, 3));
    wk_flush();
    expect_message(__LINE__ - 2, "mul: cuda:0: ");
    wk_free(y);
}

/* A rejected download loses nothing, but fails this read. */
static void rejected_read(void)
{
    WK_SCOPE;
    wk_tensor *x = wk_retain(wk_sum(ones_on(0)));
    wk_sync();
    setenv("STANDIN_ERRORS", "cuMemcpyDtoHAsync_v2=701@1", 1);
    wk_item(x);
    must(wk_error_code() == WK_ERR_INTERNAL);
    expect_message(__LINE__ - 2, "item: copying from the device: ");
    must(wk_item(x) == 1000);
    wk_free(x);
}

static void a_device_does_not_open(void)
{
    WK_SCOPE;
    wk_ones((3), .device = wk_cuda(0));
    must(wk_error_code() == WK_ERR_DEVICE_LOST);
    expect_message(__LINE__ - 2, "ones: cuda:0: opening the device: ");
}

static void messages(void **state)
{
    (void)state;
    in_child("STANDIN_ERRORS=", read_reports_the_loss);
    in_child("STANDIN_ERRORS=", copy_to_another_device);
    in_child("STANDIN_ERRORS=", copy_reports_the_loss);
    in_child("STANDIN_ERRORS=cuLaunchKernel=719@1", does_not_launch);
    in_child("STANDIN_ERRORS=", rejected_read);
    in_child("STANDIN_ERRORS=cuStreamCreate=719@1", a_device_does_not_open);
}

/* A rejected call fails only that call. */
static void continue_after_a_rejected_call(void)
{
    WK_SCOPE;
    wk_tensor *x = wk_retain(ones_on(0));
    wk_sync();
    must(wk_error() == NULL);
    wk_tensor *y = wk_retain(wk_mul(x, 3));
    wk_flush();
    must(wk_error_code() == WK_ERR_INTERNAL);
    wk_clear_error();
    must(wk_item(wk_sum(wk_add(x, 1))) == 2000 && wk_error() == NULL);
    wk_free(x), wk_free(y);
}

static void rejected_calls(void **state)
{
    (void)state;
    in_child("STANDIN_ERRORS=cuLaunchKernel=701@1", continue_after_a_rejected_call);
    in_child("STANDIN_ERRORS=cuLaunchKernel=713@1", continue_after_a_rejected_call);
    in_child("STANDIN_ERRORS=cuLaunchKernel=720@1", continue_after_a_rejected_call);
}

/* ---- context reset by another library ---------------------------------------------------------------------------- */

static void reset_first(void)
{
    int (*reset)(int);
    standin_find("libcuda.so.1", "cuDevicePrimaryCtxReset_v2", &reset);
    must(reset(0) == 0);
}

static const char *const good_text[] = {"    (void)m0;\n", NULL};

/* Closing the device frees its host state, without calling the driver for anything that the reset destroyed. */
static void close_after_a_reset(void)
{
    opened o = open_first();
    wk__cuda_device *device = o.device;
    wk__gpu_template fixed;
    wk__fail fail;
    wk__memory block = {0};
    const wk__gpu_kernel_spec unit = unit_of("one", &fixed, good_text);
    must(o.backend->block_alloc(device, 1 << 20, &block, &fail) == WK_OK);
    must(o.backend->compile_only(device, true, &fail) == WK_OK);
    must(wk__gpu_kernel_lookup(&device->kernel_cache, &unit, &fail) != NULL);
    must(o.backend->compile_only(device, false, &fail) == WK_OK);
    must(o.backend->sync(device, &fail) == WK_OK);
    reset_first();
    must(o.backend->upload(device, &block, 0, "text", 4, &fail) == WK_OK); /* dropped, as submissions are */
    must(o.backend->sync(device, &fail) == WK_ERR_DEVICE_LOST && fail.async);
    must(o.backend->sync(device, &fail) == WK_OK);
    must(o.backend->download(device, fail.text, &block, 0, 4, &fail) == WK_ERR_DEVICE_LOST && fail.poisoned);
    must(o.backend->compile_only(device, false, &fail) == WK_ERR_DEVICE_LOST);
    must(o.backend->block_alloc(device, 1 << 20, &block, &fail) == WK_ERR_DEVICE_LOST);
    const long unloaded = driver_calls("cuModuleUnload"), freed = driver_calls("cuMemFreeHost");
    o.backend->close(device);
    must(driver_calls("cuModuleUnload") == unloaded && driver_calls("cuMemFreeHost") == freed);
    must(driver_calls("cuDevicePrimaryCtxRelease_v2") == 1);
}

/* The context exists again, with other handles. */
static void close_after_a_reset_and_a_use(void)
{
    opened o = open_first();
    wk__fail fail;
    wk__memory block = {0};
    must(o.backend->block_alloc(o.device, 1 << 20, &block, &fail) == WK_OK);
    must(o.backend->sync(o.device, &fail) == WK_OK);
    setenv("STANDIN_ERRORS", "cuMemcpyHtoDAsync_v2=400", 1);
    must(o.backend->upload(o.device, &block, 0, "text", 4, &fail) == WK_ERR_DEVICE_LOST);
    must(o.backend->download(o.device, fail.text, &block, 0, 4, &fail) == WK_ERR_DEVICE_LOST && fail.poisoned);
    const long freed = driver_calls("cuMemFreeHost"), ended = driver_calls("cuStreamDestroy_v2");
    o.backend->close(o.device);
    must(driver_calls("cuMemFreeHost") == freed && driver_calls("cuStreamDestroy_v2") == ended);
}

/* The same with drivers that keep the context's address: later frees do not call the driver. */
static void free_after_a_reset(void)
{
    opened o = open_first();
    wk__fail fail;
    wk__memory block = {0};
    must(o.backend->block_alloc(o.device, 1 << 20, &block, &fail) == WK_OK);
    setenv("STANDIN_ERRORS", "cuMemcpyHtoDAsync_v2=709", 1);
    must(o.backend->upload(o.device, &block, 0, "text", 4, &fail) == WK_ERR_DEVICE_LOST);
    unsetenv("STANDIN_ERRORS");
    const long freed = driver_calls("cuMemFree_v2"), ended = driver_calls("cuStreamDestroy_v2");
    o.backend->block_free(o.device, &block);
    o.backend->close(o.device);
    must(driver_calls("cuMemFree_v2") == freed && driver_calls("cuStreamDestroy_v2") == ended);
}

/* Another library continues with the context: at its address there is a new context without this library's objects. */
static opened open_and_revive(wk__memory *block)
{
    int (*retain)(CUcontext *, int);
    CUcontext context;
    wk__fail fail;
    opened o = open_first();
    const wk__cuda_device *device = o.device;
    must(o.backend->block_alloc(o.device, 1 << 20, block, &fail) == WK_OK);
    must(o.backend->sync(o.device, &fail) == WK_OK);
    reset_first();
    standin_find("libcuda.so.1", "cuDevicePrimaryCtxRetain", &retain);
    must(retain(&context, 0) == 0 && context == device->context);
    return o;
}

static void expect_close_without_frees(opened o)
{
    const long freed = driver_calls("cuMemFree_v2"), ended = driver_calls("cuStreamDestroy_v2");
    o.backend->close(o.device);
    must(driver_calls("cuMemFree_v2") == freed && driver_calls("cuStreamDestroy_v2") == ended);
}

/* A new context turns an error that would concern only the call into a loss of the device. An error that ends a context
 * is handled without freeing anything. */
static void revived_context(void)
{
    wk__memory block, none;
    wk__fail fail;
    opened o = open_and_revive(&block);
    const wk__cuda_device *device = o.device;
    const long asked = driver_calls("cuCtxGetId");
    o.backend->block_free(o.device, &block);
    must(device->lost && device->was_reset && driver_calls("cuCtxGetId") == asked + 1);
    setenv("STANDIN_ERRORS", "cuCtxPushCurrent_v2=999@1,cuCtxGetId=1", 1);
    must(o.backend->block_alloc(o.device, 1 << 20, &none, &fail) == WK_ERR_DEVICE_LOST && device->was_reset);
    unsetenv("STANDIN_ERRORS");
    expect_close_without_frees(o);
}

static void revived_context_that_ends(void)
{
    wk__memory block;
    wk__fail fail;
    opened o = open_and_revive(&block);
    const wk__cuda_device *device = o.device;
    setenv("STANDIN_ERRORS", "cuMemcpyHtoDAsync_v2=700", 1);
    must(o.backend->upload(o.device, &block, 0, "text", 4, &fail) == WK_ERR_DEVICE_LOST && device->was_reset);
    expect_close_without_frees(o);
}

/* If the driver has no context ids, or the call fails, errors have their usual meaning. */
static void no_context_ids(void)
{
    wk__memory block;
    must(wk_device_count(WK_CUDA) == 2);
    if (getenv("STANDIN_ERRORS")[0] == '\0') wk__cuda.CtxGetId = NULL;
    opened o = open_and_revive(&block);
    wk__cuda_device *device = o.device;
    must(device->id == 0 && driver_calls("cuMemFree_v2") == 0);
    unsetenv("STANDIN_ERRORS");
    o.backend->block_free(o.device, &block);
    must(!device->lost && driver_calls("cuMemFree_v2") == 1);
    device->was_reset = true;
    o.backend->close(o.device);
}

static void failing_context_ids(void)
{
    wk__memory block;
    opened o = open_and_revive(&block);
    wk__cuda_device *device = o.device;
    setenv("STANDIN_ERRORS", "cuCtxGetId=1", 1);
    o.backend->block_free(o.device, &block);
    must(device->id != 0 && !device->lost);
    device->was_reset = true;
    o.backend->close(o.device);
}

static void resets(void **state)
{
    (void)state;
    in_child("STANDIN_ERRORS=", close_after_a_reset);
    in_child("STANDIN_ERRORS=", free_after_a_reset);
    in_child("STANDIN_ERRORS=", close_after_a_reset_and_a_use);
    in_child("STANDIN_ERRORS=", revived_context);
    in_child("STANDIN_ERRORS=", revived_context_that_ends);
    in_child("STANDIN_ERRORS=", no_context_ids);
    in_child("STANDIN_ERRORS=cuCtxGetId=1", no_context_ids);
    in_child("STANDIN_ERRORS=", failing_context_ids);
}

/* ---- events of a lost device ------------------------------------------------------------------------------------- */

/* The loss is reported once, as by any wait; there is no time between such events. */
static void events_after_the_loss(void)
{
    opened o = open_first();
    void *before, *after[2];
    double seconds;
    wk__fail fail;
    must(o.backend->event_record(o.device, &before, &fail) == WK_OK);
    must(o.backend->event_wait(o.device, before, &fail) == WK_OK);
    reset_first();
    const long queries = driver_calls("cuEventQuery");
    must(o.backend->event_query(o.device, before) && driver_calls("cuEventQuery") == queries);
    must(o.backend->upload(o.device, &(wk__memory){0}, 0, "", 1, &fail) == WK_OK); /* detects the loss */
    const long made = driver_calls("cuEventCreate");
    for (int k = 0; k < 2; k++) must(o.backend->event_record(o.device, &after[k], &fail) == WK_OK);
    must(driver_calls("cuEventCreate") == made);
    const long asked = driver_calls("cuCtxPushCurrent_v2");
    must(o.backend->event_query(o.device, before) && o.backend->event_query(o.device, after[0]));
    must(o.backend->event_wait(o.device, after[0], &fail) == WK_ERR_DEVICE_LOST && fail.async && !fail.poisoned);
    must(o.backend->event_wait(o.device, after[0], &fail) == WK_OK);
    must(o.backend->event_wait(o.device, after[1], &fail) == WK_OK);
    must(o.backend->event_wait(o.device, before, &fail) == WK_OK);
    must(driver_calls("cuCtxPushCurrent_v2") == asked);
    must(o.backend->sync(o.device, &fail) == WK_OK);
    must(o.backend->event_elapsed(o.device, before, after[0], &seconds, &fail) == WK_ERR_DEVICE_LOST);
    const long destroyed = driver_calls("cuEventDestroy_v2");
    o.backend->event_destroy(o.device, before);
    for (int k = 0; k < 2; k++) o.backend->event_destroy(o.device, after[k]);
    must(driver_calls("cuEventDestroy_v2") == destroyed);
    o.backend->close(o.device);
}

/* The context exists again, and its events are others. */
static void events_after_a_reset_and_a_use(void)
{
    opened o = open_first();
    void *event;
    wk__fail fail;
    must(o.backend->event_record(o.device, &event, &fail) == WK_OK);
    setenv("STANDIN_ERRORS", "cuEventRecord=400", 1);
    void *another;
    must(o.backend->event_record(o.device, &another, &fail) == WK_OK);
    unsetenv("STANDIN_ERRORS");
    const long asked = driver_calls("cuEventQuery"), destroyed = driver_calls("cuEventDestroy_v2");
    must(o.backend->event_query(o.device, event));
    must(o.backend->event_wait(o.device, event, &fail) == WK_ERR_DEVICE_LOST);
    o.backend->event_destroy(o.device, event);
    o.backend->event_destroy(o.device, another);
    must(driver_calls("cuEventQuery") == asked && driver_calls("cuEventDestroy_v2") == destroyed);
    o.backend->close(o.device);
}

/* The wait itself fails. */
static void lost_during_a_wait(void)
{
    opened o = open_first();
    void *event;
    wk__fail fail;
    must(o.backend->event_record(o.device, &event, &fail) == WK_OK);
    setenv("STANDIN_ERRORS", "cuEventQuery=700@1", 1);
    must(o.backend->event_query(o.device, event)); /* a lost event counts as completed */
    must(o.backend->event_wait(o.device, event, &fail) == WK_ERR_DEVICE_LOST);
    must(o.backend->event_wait(o.device, event, &fail) == WK_OK);
    o.backend->event_destroy(o.device, event);
    o.backend->close(o.device);
}

/* The same by public calls: wk_event_wait and the time between events. */
static void lost_event(void)
{
    WK_SCOPE;
    wk_event *event = wk_event_record(wk_cuda(0));
    setenv("STANDIN_ERRORS", "cuEventQuery=700@1", 1);
    must(wk_event_synchronize(event) == WK_ERR_DEVICE_LOST);
    expect_message(__LINE__ - 1, "event_synchronize: cuda:0: ");
    must(isnan(wk_event_elapsed_time(event, event)) && wk_error_code() == WK_ERR_DEVICE_LOST);
    expect_message(__LINE__ - 1, "event_elapsed_time: cuda:0: ");
}

static void expect_incomplete(void)
{
    opened o = open_first();
    void *before, *after;
    double seconds;
    wk__fail fail;
    must(o.backend->event_record(o.device, &before, &fail) == WK_OK);
    must(o.backend->event_record(o.device, &after, &fail) == WK_OK);
    setenv("STANDIN_ERRORS", "cuEventQuery=600@1", 1);
    must(!o.backend->event_query(o.device, after));
    must(o.backend->event_elapsed(o.device, before, after, &seconds, &fail) == WK_ERR_STATE);
    must(strstr(fail.text, "has not completed") != NULL);
    must(o.backend->event_wait(o.device, after, &fail) == WK_OK);
    must(o.backend->event_query(o.device, after));
    must(driver_calls("cuCtxPushCurrent_v2") == driver_calls("cuCtxPopCurrent_v2"));
    must(o.backend->event_elapsed(o.device, before, after, &seconds, &fail) == WK_OK);
    o.backend->event_destroy(o.device, before);
    o.backend->event_destroy(o.device, after);
    o.backend->close(o.device);
}

/* Other threads hold the lock while a compiler runs; then the device is lost, which is recorded under the lock. */
static void lost_while_others_compile(void)
{
    opened o = open_first();
    wk__cuda_device *device = o.device;
    void *event;
    wk__fail fail;
    must(o.backend->event_record(device, &event, &fail) == WK_OK);
    must(o.backend->event_wait(device, event, &fail) == WK_OK);
    alarm(60); /* ends a deadlock */
    pthread_mutex_lock(&device->lock);
    must(o.backend->event_query(device, event));
    must(o.backend->event_wait(device, event, &fail) == WK_OK);
    wk__cuda_fail_set(device, &fail, CUDA_ERROR_ILLEGAL_ADDRESS, "a kernel");
    const long asked = driver_calls("cuEventQuery");
    must(o.backend->event_query(device, event) && driver_calls("cuEventQuery") == asked);
    pthread_mutex_unlock(&device->lock);
    alarm(0);
    must(o.backend->event_wait(device, event, &fail) == WK_ERR_DEVICE_LOST && strstr(fail.text, "a kernel: ") != NULL);
    o.backend->event_destroy(device, event);
    o.backend->close(device);
}

static void lost_during_a_record(void)
{
    opened o = open_first();
    void *event;
    wk__fail fail;
    must(o.backend->event_record(o.device, &event, &fail) == WK_OK);
    must(o.backend->sync(o.device, &fail) == WK_ERR_DEVICE_LOST);
    const long destroyed = driver_calls("cuEventDestroy_v2");
    o.backend->event_destroy(o.device, event); /* not an event of the driver */
    must(driver_calls("cuEventDestroy_v2") == destroyed);
    o.backend->close(o.device);
}

static void lost_events(void **state)
{
    (void)state;
    in_child("STANDIN_ERRORS=", events_after_the_loss);
    in_child("STANDIN_ERRORS=", events_after_a_reset_and_a_use);
    in_child("STANDIN_ERRORS=", lost_during_a_wait);
    in_child("STANDIN_ERRORS=", lost_event);
    in_child("STANDIN_ERRORS=cuEventRecord=700@1", lost_during_a_record);
    in_child("STANDIN_ERRORS=", expect_incomplete);
    in_child("STANDIN_ERRORS=", lost_while_others_compile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_that_end_the_context),
        cmocka_unit_test(messages),
        cmocka_unit_test(rejected_calls),
        cmocka_unit_test(resets),
        cmocka_unit_test(lost_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
