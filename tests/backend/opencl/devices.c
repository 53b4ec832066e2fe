/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL devices: the reported reason if there are none, work on two at once, threads, fork, exit of the process. Some
 * tests run in child processes: this program, with the test's name as its argument. */
#include "backend/gpu/test.h"
#include "support/reexec.h"
#include "support/work.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- children ---------------------------------------------------------------------------------------------------- */

/* The exit status is the presence; 100 if the reason does not match it. */
static int reported_presence(void)
{
    static const char *const words[] = {
        [WK__NO_LIBRARY] = "apt install ocl-icd-libopencl1",
        [WK__NO_DRIVER] = "found no driver",
        [WK__DRIVER_TOO_OLD] = "older than",
        [WK__NO_DEVICE] = "no device",
    };
    wk__text why = {0};
    wk__backend_status presence = gpu->status(&why);
    bool fits = presence == WK__BACKEND_AVAILABLE ? why.data == NULL : why.data && strstr(why.data, words[presence]);
    wk__text_free(&why);
    wk__fail fail;
    void *device;
    if (presence != WK__BACKEND_AVAILABLE) {
        fits = fits && gpu->count() == 0 && gpu->open(0, &device, &fail) == WK_ERR_DEVICE &&
               strstr(fail.text, words[presence]);
    }
    return fits ? (int)presence : 100;
}

static group_case *work_case(int64_t elements, int steps)
{
    group_case *c = group_case_new("work", 1, (int64_t[]){elements}, 0);
    c->absolute =
        steps * 6 * 0x1p-24; /* each within 6 units in the last place below 1, and no step amplifies the error */
    int r = ir_load(&c->g, group_case_dense(c, WK_F32, false, FILL_ONES));
    for (int k = 0; k < steps; k++) r = ir_unary(&c->g, WK__SIN, r);
    ir_store(&c->g, group_case_dense(c, WK_F32, false, FILL_ONES), r);
    return c;
}

/* Exits with work in every queue and no device closed. */
static int leave_at_once(void)
{
    for (int d = 0; d < gpu->count(); d++) {
        void *device;
        wk__fail fail;
        if (gpu->open(d, &device, &fail) != WK_OK) return 1;
        group_case *c = work_case(100000, 1);
        for (int k = 0; k < 20; k++) {
            if (group_case_run(c, gpu, device, &fail) != WK_OK) return 2;
        }
        group_case_free(c);
    }
    return 0;
}

/* In a child of fork(), calls return errors, and it exits. */
static int fork_after_use(void)
{
    void *device;
    wk__fail fail;
    if (gpu->open(0, &device, &fail) != WK_OK) return 1;
    group_case *c = work_case(1000, 1);
    if (group_case_run(c, gpu, device, &fail) != WK_OK || gpu->sync(device, &fail) != WK_OK) return 2;
    pid_t process = fork();
    if (process == 0) {
        if (submit_program(gpu, device, &c->g, &fail) != WK_ERR_STATE) _exit(3);
        if (gpu->sync(device, &fail) != WK_ERR_STATE || strstr(fail.text, "forked") == NULL) _exit(4);
        wk__memory block = c->memory[0];
        gpu->block_free(device, &block);
        gpu->close(device);
        exit(0); /* runs all exit handlers */
    }
    int status;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
    if (group_case_check(c, gpu, device) != NULL) return 5;
    group_case_free(c);
    gpu->close(device);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 6;
}

static int run_child(const char *name)
{
    if (strcmp(name, "presence") == 0) return reported_presence();
    if (strcmp(name, "leave") == 0) return leave_at_once();
    if (strcmp(name, "fork") == 0) return fork_after_use();
    return 99;
}

/* Runs the child with one environment variable changed; it is stopped after a minute. */
static int status_of(const char *name, const char *variable, const char *value)
{
    pid_t process = fork();
    if (process == 0) {
        if (variable != NULL) setenv(variable, value, 1);
        alarm(60);
        reexec_test("opencl_devices", name);
        _exit(98);
    }
    int status;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 97;
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void reported_states(void **state)
{
    (void)state;
    char folder[] = "/tmp/opencl_devices.XXXXXX", file[64];
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/libOpenCL.so.1", folder);
    int handle = open(file, O_WRONLY | O_CREAT, 0700);
    assert_int_equal(write(handle, "no library", 10), 10);
    close(handle);
    assert_int_equal(status_of("presence", NULL, NULL), WK__BACKEND_AVAILABLE);
    assert_int_equal(status_of("presence", "LD_LIBRARY_PATH", folder), WK__NO_LIBRARY);
    assert_int_equal(status_of("presence", "OCL_ICD_VENDORS", folder), WK__NO_DRIVER);
    unlink(file);
    rmdir(folder);
}

static void process_exit(void **state)
{
    (void)state;
    assert_int_equal(status_of("leave", NULL, NULL), 0);
    assert_int_equal(status_of("fork", NULL, NULL), 0);
}

static void device_properties(void **state)
{
    (void)state;
    wk__fail fail;
    for (int d = 0; d < gpu_devices; d++) {
        wk__device_info info;
        assert_int_equal(gpu->info(d, &info, &fail), WK_OK);
        assert_true(info.name[0] != '\0' && info.vendor[0] != '\0' && info.driver[0] != '\0');
        assert_true(info.memory_total > 1 << 20 && info.memory_available == -1 && info.compute_units > 0);
        assert_true(isnan(info.power) && isnan(info.temperature) && isnan(info.utilisation));
    }
    wk__device_info info;
    assert_int_equal(gpu->info(gpu->count(), &info, &fail), WK_ERR_DEVICE);
    assert_non_null(strstr(fail.text, " does not exist: this machine has "));
}

static void at_address(int index, const char *address)
{
    wk__fail fail;
    wk__cl_device_desc *card = (wk__cl_device_desc *)(uintptr_t)wk__cl_device_desc_at(index, &fail);
    snprintf(card->gpu.info.pci, sizeof card->gpu.info.pci, "%s", address);
}

/* A card that several platforms list is one GPU. */
static void duplicate_cards_are_one_gpu(void **state)
{
    (void)state;
    if (gpu->kind != WK_OPENCL || gpu_devices < 2) skip();
    setenv("WICK_GPU", "opencl", 1);
    const int gpus = wk_device_count(WK_GPU);
    at_address(0, "0000:01:00.0");
    at_address(1, "0000:02:00.0");
    assert_int_equal(wk_device_count(WK_GPU), gpus);
    at_address(1, "0000:01:00.0");
    assert_int_equal(wk_device_count(WK_GPU), gpus - 1);
    at_address(0, "");
    at_address(1, "");
    unsetenv("WICK_GPU");
}

/* ---- two at once ------------------------------------------------------------------------------------------------- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct wait_for {
    void *device;
    double done;
    wk_code code;
} wait_for;

static void *wait_for_device(void *user)
{
    wait_for *w = user;
    wk__fail fail;
    w->code = gpu->sync(w->device, &fail);
    w->done = now();
    return NULL;
}

/* Long work on one device, then short work on another: the call returns immediately, and the short work finishes first.
 * In both roles, because one kind of device computes in the thread that enqueues. */
static void concurrent_devices(void **state)
{
    (void)state;
    if (gpu_devices < 2) skip();
    wk__fail fail;
    for (int slow = 0; slow < 2; slow++) {
        void *busy = gpu_device[slow], *other = gpu_device[1 - slow];
        group_case *lots = work_case(1 << 20, 3), *little = work_case(100, 1);
        assert_int_equal(group_case_run(lots, gpu, busy, &fail), WK_OK); /* compiled and uploaded */
        assert_int_equal(group_case_run(little, gpu, other, &fail), WK_OK);
        assert_int_equal(gpu->sync(busy, &fail), WK_OK);
        assert_int_equal(gpu->sync(other, &fail), WK_OK);

        for (int k = 0; k < 20; k++) assert_int_equal(submit_program(gpu, busy, &lots->g, &fail), WK_OK);
        wait_for both[2] = {{.device = busy}, {.device = other}};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, wait_for_device, &both[0]), 0);
        assert_int_equal(submit_program(gpu, other, &little->g, &fail), WK_OK);
        wait_for_device(&both[1]);
        pthread_join(thread, NULL);
        assert_true(both[0].code == WK_OK && both[1].code == WK_OK);
        assert_true(both[1].done < both[0].done);
        assert_null(group_case_check(lots, gpu, busy));
        assert_null(group_case_check(little, gpu, other));
        group_case_free(lots);
        group_case_free(little);
    }
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static void *use_device(void *user)
{
    wait_for *w = user;
    wk__fail fail;
    for (int k = 0; k < 10 && w->code == WK_OK; k++) {
        float in[64], out[64];
        wk__memory memory;
        for (int e = 0; e < 64; e++) in[e] = (float)(e + k) + (float)w->done;
        if ((w->code = gpu->block_alloc(w->device, 4096, &memory, &fail)) != WK_OK) break;
        w->code = gpu->upload(w->device, &memory, 256, in, sizeof in, &fail);
        if (w->code == WK_OK) w->code = gpu->copy(w->device, &memory, 1024, &memory, 256, sizeof in, &fail);
        if (w->code == WK_OK) w->code = gpu->download(w->device, out, &memory, 1024, sizeof out, &fail);
        if (w->code == WK_OK && memcmp(in, out, sizeof in) != 0) w->code = WK_ERR_INTERNAL;
        gpu->block_free(w->device, &memory);
    }
    return NULL;
}

static void many_threads(void **state)
{
    (void)state;
    enum { THREADS = 8 };
    pthread_t thread[THREADS];
    wait_for use[THREADS];
    for (int k = 0; k < THREADS; k++) {
        use[k] = (wait_for){.device = gpu_device[k % gpu_devices], .done = 1000 * k};
        assert_int_equal(pthread_create(&thread[k], NULL, use_device, &use[k]), 0);
    }
    for (int k = 0; k < THREADS; k++) pthread_join(thread[k], NULL);
    for (int k = 0; k < THREADS; k++) assert_int_equal(use[k].code, WK_OK);
}

int main(int argc, char **argv)
{
    gpu = wk__backend_of(test_gpu_kind());
    if (argc > 1) return run_child(argv[1]);
    const struct CMUnitTest first[] = {cmocka_unit_test(reported_states), cmocka_unit_test(process_exit)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_properties),
        cmocka_unit_test(duplicate_cards_are_one_gpu),
        cmocka_unit_test(concurrent_devices),
        cmocka_unit_test(many_threads),
    };
    int failed = cmocka_run_group_tests(first, NULL, NULL); /* before this process uses OpenCL */
    return failed + cmocka_run_group_tests(tests, gpu_open, gpu_close);
}
