/* SPDX-License-Identifier: Apache-2.0 */
/* Tests rules 27 to 30 of docs/contributing/invariants.md: contexts, fork, the definition of a GPU, the entry point for
 * bindings. engine_threads, engine_fork, opencl_devices and ops_table test the rest of these rules. */
#include "support/wick.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/null/null.h"
#include "base/alloc.h"
#include "engine/op_queue.h"

/* ---- rule 27: contexts ------------------------------------------------------------------------------------------- */

static wk_value of_tensor(wk_tensor *x)
{
    return (wk_value){.kind = WK_VALUE_TENSOR, .tensor = x};
}

/* Calls an op on one or two tensors in a given context; the caller owns the result. */
static wk_tensor *in_context(wk_context *context, const char *op, wk_tensor *a, wk_tensor *b)
{
    wk_value args[2] = {of_tensor(a), of_tensor(b)}, out;
    int count = 1;
    char message[200];
    if (wk_call(context, op, args, b ? 2 : 1, &out, &count, NULL, message, sizeof message) != WK_OK)
        fail_msg("%s: %s", op, message);
    return out.tensor;
}

/* Each context has a separate ring. Using a pending result of another context runs that context's ring first. */
static void a_pending_result_runs_in_its_own_ring(void **state)
{
    (void)state;
    wk_context *one = wk_context_new(), *other = wk_context_new();
    wk_tensor *x = wk_ones((4), .device = test_null());
    wk_sync();
    wk__null_log_clear();
    wk_tensor *y = in_context(one, "exp", x, NULL), *mine = wk_mul(x, 2);
    wk_sync(); /* runs only this thread's ring */
    assert_int_equal(wk__null_log_count(WK__PROGRAM), 1);
    assert_int_equal(wk__body_of(y)->storage->value->state, WK__PENDING);
    wk_tensor *z = in_context(other, "add", y, x);
    assert_int_equal(wk__null_log_count(WK__PROGRAM), 2); /* y has been computed, z has not */
    assert_int_equal(wk__body_of(y)->storage->value->state, WK__STORED);
    assert_int_equal(wk__body_of(z)->storage->value->state, WK__PENDING);
    wk_item(wk_sum(z));
    assert_int_equal(wk__body_of(z)->storage->value->state, WK__STORED);
    wk_free(x), wk_free(y), wk_free(z), wk_free(mine);
    wk_context_free(one);
    wk_context_free(other);
}

/* Calls that another context recorded before an in-place write read the old values. */
static void in_place_writes_follow_earlier_records(void **state)
{
    (void)state;
    wk_context *other = wk_context_new();
    wk_tensor *x = wk_clone(wk_of(float, (2), 1, 2));
    wk_sync();
    wk_tensor *before = in_context(other, "exp", x, NULL), *again = in_context(other, "neg", before, NULL);
    wk_fill_(x, 7);
    wk_tensor *after = in_context(other, "neg", x, NULL);
    EXPECT_VALUES(again, 1e-5, -2.718281828, -7.389056099);
    EXPECT_VALUES(after, 0, -7, -7);
    EXPECT_VALUES(x, 0, 7, 7);
    wk_free(x), wk_free(before), wk_free(again), wk_free(after);
    wk_context_free(other);
}

typedef struct handed {
    wk_tensor *scoped, *retained, *made;
    bool refused, read;
} handed;

static void *receive(void *user)
{
    handed *h = user;
    WK_SCOPE;
    wk_keep(h->scoped);
    h->refused = wk_error() && strstr(wk_error(), "another thread") && strstr(wk_error(), "wk_retain");
    wk_clear_error();
    h->read = wk_item(wk_sum(h->retained)) == 6;
    h->made = wk_retain(wk_mul(h->retained, 2)); /* computed at this thread's end at the latest */
    wk_tensor *scoped = wk_mul(h->retained, 3);
    (void)scoped;
    return NULL;
}

/* A thread retains a tensor before it hands it over; the end of a thread runs its ring and closes its scopes. */
static void tensors_move_between_threads(void **state)
{
    (void)state;
    WK_SCOPE;
    handed h = {.scoped = wk_ones((2)), .retained = wk_retain(wk_of(float, (3), 1, 2, 3))};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, receive, &h), 0);
    pthread_join(thread, NULL);
    assert_true(h.refused);
    assert_true(h.read);
    EXPECT_VALUES(h.made, 0, 2, 4, 6);
    wk_free(h.made), wk_free(h.retained);
}

/* ---- rule 28: fork ----------------------------------------------------------------------------------------------- */

static int status_of(int (*body)(void))
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(120);
        _exit(body());
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int uses_the_cpu(void)
{
    WK_SCOPE;
    return wk_item(wk_sum(wk_ones((3)))) == 3 && !wk_error() ? 0 : 1;
}

static int finds_opencl_marked(void)
{
    WK_SCOPE;
    if (uses_the_cpu() != 0) return 1;
    wk_ones((3), .device = wk_opencl(0));
    wk_sync();
    return wk_error() && strstr(wk_error(), "fork") ? 0 : 2;
}

/* Runs in a child process: counting CUDA devices marks nothing, counting OpenCL devices marks OpenCL, and neither marks
 * the CPU. */
static int counts_then_forks(void)
{
    wk_device_count(WK_CUDA);
    int status;
    pid_t pid = fork();
    if (pid == 0) _exit(uses_the_cpu());
    waitpid(pid, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return 10;
    if (wk_device_count(WK_OPENCL) == 0) return 0;
    pid = fork();
    if (pid == 0) _exit(finds_opencl_marked());
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 11;
}

/* Must run before this process uses a device. */
static void counting_devices_and_fork(void **state)
{
    (void)state;
    assert_int_equal(status_of(counts_then_forks), 0);
    assert_int_equal(status_of(uses_the_cpu), 0);
}

/* ---- rule 29: definition of a GPU -------------------------------------------------------------------------------- */

/* OpenCL devices that are CPUs are not GPUs unless WICK_GPU is opencl. */
static void opencl_cpus_are_gpus_only_on_request(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_device all[8];
    int devices = wk_device_count(WK_OPENCL), cpus = 0;
    for (int k = 0; k < devices; k++) {
        wk_device_properties is = {.size = sizeof is};
        assert_int_equal(wk_device_get_properties(wk_opencl(k), &is), WK_OK);
        cpus += !is.is_gpu;
    }
    unsetenv("WICK_GPU");
    int gpus = wk_device_count(WK_GPU);
    if (cpus == devices && wk_device_count(WK_CUDA) == 0) {
        assert_int_equal(gpus, 0);
        assert_true(wk_device_eq(wk_try_gpu(0), wk_cpu()));
        assert_int_equal(wk_try_all_gpus(all, 8), 1);
        assert_true(wk_device_eq(all[0], wk_cpu()));
        assert_null(wk_ones((1), .device = wk_gpu(0)));
        expect_error("gpu:0 does not exist", "cpu", NULL);
    }
    setenv("WICK_GPU", "opencl", 1);
    assert_int_equal(wk_device_count(WK_GPU), gpus + cpus);
    if (cpus == devices && devices > 0 && gpus == 0) {
        assert_true(wk_device_eq(wk_try_gpu(0), wk_opencl(0)));
        assert_int_equal(wk_try_all_gpus(all, 8), devices);
        assert_true(wk_device_eq(all[devices - 1], wk_opencl(devices - 1)));
        assert_string_equal(wk_device_str(wk_device_of(wk_ones((1), .device = wk_gpu(0)))), "opencl:0");
        assert_true(wk_device_eq(wk_gpu(0), wk_opencl(0)));
    }
    assert_true(wk_device_eq(wk_try_gpu(99), wk_cpu()));
    unsetenv("WICK_GPU");
    expect_ok();
}

/* ---- rule 30: bindings ------------------------------------------------------------------------------------------- */

/* The device and grad mode are arguments, independent of the thread's. The caller owns results, whatever scopes are
 * open. The thread's error is neither read nor changed. */
static void bindings_do_not_depend_on_the_thread_state(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_context *context = wk_context_new();
    wk_tensor *w = wk_ones((2), .requires_grad = true), *made[2];
    for (int k = 0; k < 2; k++) {
        WK_SCOPE;
        WK_NO_GRAD;
        WK_DEVICE(wk_opencl(99));
        wk_call_options options = {.size = sizeof options, .no_grad = k, .device = k ? test_null() : wk_cpu()};
        wk_value args[2] = {of_tensor(w), {.kind = WK_VALUE_FLOAT, .f = 3}}, out;
        int count = 1;
        char message[100];
        wk_reshape(w, (9));
        assert_int_equal(wk_call(context, "mul", args, 2, &out, &count, &options, message, sizeof message), WK_OK);
        made[k] = out.tensor;
        args[0] = (wk_value){.kind = WK_VALUE_INTS, .count = 1, .ints = (const int64_t[]){2}};
        assert_int_equal(wk_call(context, "zeros", args, 1, &out, &count, &options, message, sizeof message), WK_OK);
        assert_int_equal(wk_device_of(out.tensor).kind, k ? WK_NULL : WK_CPU);
        wk_free(out.tensor);
        expect_error("reshape", NULL);
    }
    assert_true(wk_requires_grad(made[0]));
    assert_false(wk_requires_grad(made[1]));
    EXPECT_VALUES(made[1], 0, 3, 3);
    wk_free(made[0]), wk_free(made[1]);
    wk_context_free(context);
    expect_ok();
}

static void messages_are_truncated_and_name_the_binding_s_site(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_value args[2] = {of_tensor(wk_ones((2))), of_tensor(wk_ones((3)))}, out;
    wk_call_options options = {.size = sizeof options, .site = {.file = "program.go", .line = 42}};
    char message[128], cut[8];
    int count = 1;
    wk_code code = wk_call(NULL, "add", args, 2, &out, &count, &options, message, sizeof message);
    if (code != WK_ERR_SHAPE) fail_msg("%d: %s", code, message);
    assert_non_null(strstr(message, "program.go:42: add: shapes do not broadcast"));
    assert_int_equal(count, 0);
    count = 1;
    assert_int_equal(wk_call(NULL, "add", args, 2, &out, &count, &options, cut, sizeof cut), WK_ERR_SHAPE);
    assert_string_equal(cut, "program");
    expect_ok();
}

enum { THREADS = 4, CALLS = 300 };

static void *calls(void *user)
{
    int *wrong = user;
    for (int k = 0; k < CALLS; k++) {
        wk_value args[2] = {{.kind = WK_VALUE_INTS, .count = 1, .ints = (const int64_t[]){3}},
                            {.kind = WK_VALUE_FLOAT, .f = 2}},
                 out, sum;
        int count = 1, one = 1;
        char message[100];
        if (wk_call(NULL, "full", args, 2, &out, &count, NULL, message, sizeof message) != WK_OK) ++*wrong;
        if (wk_call(NULL, "sum", &out, 1, &sum, &one, NULL, message, sizeof message) != WK_OK) ++*wrong;
        float value = 0;
        if (wk_read(sum.tensor, &value, sizeof value) != WK_OK || value != 6) ++*wrong;
        wk_free(sum.tensor);
        wk_free(out.tensor);
    }
    return NULL;
}

/* The shared context has a lock: any thread may call it. */
static void threads_share_one_context(void **state)
{
    (void)state;
    pthread_t thread[THREADS];
    int wrong[THREADS] = {0};
    for (int k = 0; k < THREADS; k++) assert_int_equal(pthread_create(&thread[k], NULL, calls, &wrong[k]), 0);
    for (int k = 0; k < THREADS; k++) pthread_join(thread[k], NULL);
    for (int k = 0; k < THREADS; k++) assert_int_equal(wrong[k], 0);
}

/* Without memory the names are still right. */
static void the_returned_code_is_the_recorded_one(void **state)
{
    (void)state;
    wk_device elsewhere = wk_cpu();
    elsewhere.task = 3;
    wk_memory_stats stats = {.size = sizeof stats};
    wk_device_properties properties = {.size = sizeof properties};
    const wk_code codes[] = {wk_memory_stats_of(elsewhere, &stats), wk_memory_trim(elsewhere),
                             wk_memory_reset_peak(elsewhere), wk_memory_set_limit(elsewhere, 1 << 20)};
    const wk_code first = wk_error_code();
    assert_int_equal(first, WK_ERR_UNSUPPORTED);
    for (size_t k = 0; k < sizeof codes / sizeof *codes; k++) assert_int_equal(codes[k], first);
    wk_clear_error();
    const wk_code absent = wk_device_get_properties(wk_opencl(99), &properties);
    assert_int_equal(absent, WK_ERR_DEVICE);
    assert_int_equal(wk_error_code(), absent);
    wk_clear_error();
}

static void names_are_right_without_memory(void **state)
{
    (void)state;
    wk__alloc_fail_at(1);
    assert_string_equal(wk_device_str((wk_device){.kind = WK_OPENCL, .index = 7}), "opencl:7");
    wk__alloc_fail_at(0);
    assert_string_equal(wk_device_str((wk_device){.kind = WK_OPENCL, .index = 7}), "opencl:7");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counting_devices_and_fork),
        cmocka_unit_test(opencl_cpus_are_gpus_only_on_request),
        cmocka_unit_test(the_returned_code_is_the_recorded_one),
        cmocka_unit_test(names_are_right_without_memory),
        cmocka_unit_test_setup_teardown(a_pending_result_runs_in_its_own_ring, test_default_mode, test_restore_mode),
        cmocka_unit_test(in_place_writes_follow_earlier_records),
        cmocka_unit_test(tensors_move_between_threads),
        cmocka_unit_test(bindings_do_not_depend_on_the_thread_state),
        cmocka_unit_test(messages_are_truncated_and_name_the_binding_s_site),
        cmocka_unit_test(threads_share_one_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
