/* SPDX-License-Identifier: Apache-2.0 */
/* Tests steps 11 to 16 of the GPU chapter (docs/lesson.md), on the CPU and on two GPUs: computation on the operands'
 * device, device scopes, placement. One test is a separate process: this program, with an argument. */
#include "support/devices.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/null/null.h"
#include "engine/op_queue.h"
#include "support/reexec.h"

/* ---- 11: operands on one device ---------------------------------------------------------------------------------- */

static void operands_on_one_device(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        wk_tensor *y = wk_arange(6.0, .device = device), *z = wk_ones((6), .device = device), *sum = wk_add(y, z);
        assert_true(wk_device_eq(wk_device_of(sum), device));
        EXPECT_VALUES(sum, 0, 1, 2, 3, 4, 5, 6);
        EXPECT_VALUES(wk_matmul(wk_reshape(sum, (2, 3)), wk_reshape(z, (3, 2))), 0, 6, 6, 15, 15);
    }
}

/* The message names both operands with their devices, and the call that moves one to the other. */
static void operands_on_two_devices_fail(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *near = wk_ones((2, 3)), *far = wk_ones((2, 3), .device = test_gpu(0)),
              *other = wk_ones((3), .device = test_gpu(1));
    assert_null(wk_add(near, far));
    expect_error("lesson/work.c", "add: operands are on different devices", "f32[2,3] on cpu",
                 test_backend_text("f32[2,3] on opencl:0"), test_backend_text("wk_to(a, wk_opencl(0))"), NULL);
    assert_null(wk_mul(far, other));
    expect_error("mul", test_backend_text("on opencl:0"), test_backend_text("f32[3] on opencl:1"),
                 test_backend_text("wk_to(b, wk_opencl(0))"), NULL);
    assert_null(wk_matmul(far, wk_transpose(near, 0, 1)));
    expect_error("matmul", "different devices", NULL);
    assert_null(wk_add_(far, near));
    expect_error("add", "different devices", NULL);
    assert_null(wk_cat((near, far), 0));
    expect_error("cat", "different devices", NULL);
    assert_null(wk_index_select(far, 0, wk_of(int64_t, (1), 0)));
    expect_error("index_select", "different devices", NULL);
    EXPECT_VALUES(wk_add(near, wk_to(far, wk_cpu())), 0, 2, 2, 2, 2, 2, 2);  /* corrected as suggested */
    EXPECT_VALUES(wk_add(far, 1), 0, 2, 2, 2, 2, 2, 2);                      /* a number has no device */
    EXPECT_VALUES(wk_copy_(far, wk_full((2, 3), 5.0)), 0, 5, 5, 5, 5, 5, 5); /* copy_ copies between devices */
}

/* A 0-d tensor on the CPU acts as a number, as in PyTorch: it is copied to the device of the others. */
static void a_cpu_scalar_is_copied_to_the_operands(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        WK_SCOPE;
        const wk_device device = test_gpu(k);
        wk_tensor *half = wk_full((), 0.5, .dtype = WK_F64, .requires_grad = true), *two = wk_of(int64_t, (), 2);
        wk_tensor *x = wk_of(float, (3), 1, 2, 3), *near = wk_ones((1)), *alone = wk_full((), 4.0, .device = device);
        x = wk_to(x, device);
        wk_tensor *scaled = wk_mul(x, half), *turned = wk_sub(two, x);
        assert_true(wk_device_eq(wk_device_of(scaled), device) && wk_device_eq(wk_device_of(turned), device));
        assert_int_equal(wk_dtype_of(scaled), WK_F32);
        EXPECT_VALUES(scaled, 0, 0.5, 1, 1.5);
        EXPECT_VALUES(turned, 0, 1, 0, -1);
        EXPECT_VALUES(wk_mul(two, alone), 0, 8);
        EXPECT_VALUES(wk_where(wk_gt(x, two), x, half), 0, 0.5, 0.5, 3);
        EXPECT_VALUES(wk_clamp(x, half, two), 0, 1, 2, 2);
        EXPECT_VALUES(wk_add_(wk_clone(x), two), 0, 3, 4, 5);
        assert_int_equal(wk_backward(wk_sum(scaled)), WK_OK);
        assert_true(wk_device_eq(wk_device_of(wk_grad_of(half)), wk_cpu()));
        assert_int_equal(wk_dtype_of(wk_grad_of(half)), WK_F64);
        EXPECT_VALUES(wk_grad_of(half), 0, 6);
        wk_set_grad(half, NULL);
        wk_tensor *product = wk_mul_(wk_clone(x), half);
        EXPECT_VALUES(product, 0, 0.5, 1, 1.5);
        wk_backward(wk_mean(product));
        EXPECT_VALUES(wk_grad_of(half), 0, 2);
        expect_ok();
        assert_null(wk_mul(x, near)); /* it has a dimension */
        expect_error("mul", "different devices", NULL);
        assert_null(wk_mul(near, alone)); /* not on the CPU */
        expect_error("mul", "different devices", NULL);
        assert_null(wk_mul_(wk_detach(half), x)); /* a target is not moved */
        expect_error("mul_", "different devices", NULL);
        assert_null(wk_cat((wk_reshape(x, (3)), near), 0));
        expect_error("cat", "different devices", NULL);
        assert_null(wk_add(wk_add(x, wk_to(near, test_gpu(1 - device.index))), two));
        expect_error("add", "different devices", NULL);
    }
}

/* ---- 12: soft placement ------------------------------------------------------------------------------------------ */

enum { MOST_LINES = 100 };

static struct {
    int count;
    char line[MOST_LINES][200];
} log_lines;

static void count_line(void *user, const char *line)
{
    assert_ptr_equal(user, &log_lines);
    if (log_lines.count < MOST_LINES) snprintf(log_lines.line[log_lines.count++], sizeof log_lines.line[0], "%s", line);
}

static void listen(const char *subjects)
{
    log_lines.count = 0;
    wk_set_log(subjects, count_line, &log_lines);
}

/* Number of lines that contain both words. */
static int lines_with(const char *one, const char *other)
{
    int count = 0;
    for (int k = 0; k < log_lines.count; k++)
        count += strstr(log_lines.line[k], one) && strstr(log_lines.line[k], other);
    return count;
}

static void soft_placement_copies_counts_and_logs_once(void **state)
{
    (void)state;
    WK_SCOPE;
    int64_t copies, bytes, copies_before, bytes_before;
    wk_tensor *near = wk_ones((2, 3)), *far = wk_full((2, 3), 2.0, .device = test_gpu(1));
    wk_sync();
    wk_placement_counters(&copies_before, &bytes_before);
    wk_set_soft_placement(true);
    listen("placement");
    for (int k = 0; k < 3; k++) {
        wk_tensor *sum = wk_add(near, far); /* on the accelerator among them */
        assert_true(wk_device_eq(wk_device_of(sum), test_gpu(1)));
        EXPECT_VALUES(sum, 0, 3, 3, 3, 3, 3, 3);
    }
    wk_tensor *in_place = wk_clone(near);
    assert_ptr_equal(wk_add_(in_place, far), in_place); /* a target is not moved */
    assert_true(wk_device_eq(wk_device_of(in_place), wk_cpu()));
    EXPECT_VALUES(in_place, 0, 3, 3, 3, 3, 3, 3);
    wk_sync();
    wk_set_log(NULL, NULL, NULL);
    wk_set_soft_placement(false);
    wk_placement_counters(&copies, &bytes);
    assert_int_equal(copies - copies_before, 4);
    assert_int_equal(bytes - bytes_before, 4 * 24);
    assert_int_equal(
        lines_with(test_backend_text("add: operand 1 (24 bytes) copied from cpu to opencl:1"), "lesson/work.c:"), 1);
    assert_int_equal(
        lines_with(test_backend_text("add: operand 2 (24 bytes) copied from opencl:1 to cpu"), "lesson/work.c:"), 1);
    assert_null(wk_add(near, far)); /* strict again */
    expect_error("different devices", NULL);
}

/* It is an ordinary copy that soft placement does not count, and that no scope of the program owns. */
static void the_cost_of_a_cpu_scalar(void **state)
{
    (void)state;
    int64_t copies_before, copies, bytes;
    wk_transfer_counters before = {.size = sizeof before}, after = before;
    wk_memory_stats empty = {.size = sizeof empty}, now = empty;
    wk_tensor *x = wk_ones((3), .device = test_gpu(0)), *number = wk_full((), 2.0),
              *far = wk_ones((3), .device = test_null());
    wk_sync();
    wk_placement_counters(&copies_before, &bytes);
    wk_transfer_stats(&before);
    wk_memory_stats_of(test_gpu(0), &empty);
    listen("placement");
    wk_tensor *product = wk_mul(x, number), *elsewhere = wk_add(number, far);
    EXPECT_VALUES(product, 0, 2, 2, 2);
    assert_true(wk_device_eq(wk_device_of(elsewhere), test_null()));
    wk_sync();
    wk_set_log(NULL, NULL, NULL);
    wk_placement_counters(&copies, &bytes);
    wk_transfer_stats(&after);
    assert_int_equal(copies, copies_before);
    assert_int_equal(after.uploads - before.uploads, 4 + 4); /* to both devices */
    assert_int_equal(lines_with("to ", "lesson/work.c"), 2);
    wk_free(product), wk_free(elsewhere);
    wk_sync();
    wk_memory_stats_of(test_gpu(0), &now);
    assert_int_equal(now.live, empty.live);
    wk_free(x), wk_free(number), wk_free(far);
    expect_ok();
}

static void soft_placement_passes_gradients(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_set_soft_placement(true);
    wk_tensor *w = wk_ones((2), .requires_grad = true), *far = wk_full((2), 3.0, .device = test_gpu(0));
    wk_code code = wk_backward(wk_sum(wk_mul(w, far)));
    wk_set_soft_placement(false);
    expect_ok();
    assert_int_equal(code, WK_OK);
    assert_true(wk_device_eq(wk_device_of(wk_grad_of(w)), wk_cpu()));
    EXPECT_VALUES(wk_grad_of(w), 0, 3, 3);
}

/* A child process does not inherit the log file. */
static bool log_stays_here(void)
{
    bool stays = false;
    for (int file = 3; file < 1000; file++) {
        char link[64], path[300] = "";
        const int flags = fcntl(file, F_GETFD);
        snprintf(link, sizeof link, "/proc/self/fd/%d", file);
        if (flags < 0 || readlink(link, path, sizeof path - 1) < 0 || !strstr(path, "/placement.log")) continue;
        stays = (flags & FD_CLOEXEC) != 0;
    }
    return stays;
}

/* Settings come from the environment; the counters are the last line of the log file. */
static int child(void)
{
    WK_SCOPE;
    wk_tensor *near = wk_ones((2, 3)), *far = wk_ones((2, 3), .device = test_gpu(0));
    for (int k = 0; k < 5; k++) wk_item(wk_sum(wk_add(near, far)));
    return wk_error() || !log_stays_here() ? 1 : 0;
}

static void the_log_of_a_process(void **state)
{
    (void)state;
    char path[256], line[300], last[300] = "";
    snprintf(path, sizeof path, "%s/placement.log", getenv("WICK_WORK") ? getenv("WICK_WORK") : "/tmp");
    remove(path);
    pid_t process = fork();
    if (process == 0) {
        setenv("WICK_PLACEMENT", "soft", 1);
        setenv("WICK_LOG", "placement", 1);
        setenv("WICK_LOG_FILE", path, 1);
        alarm(120);
        reexec_test("lesson_work", "child");
        _exit(98);
    }
    int status, copied = 0, ran = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        copied += strstr(line, test_backend_text("copied from cpu to opencl:0")) != NULL;
        ran += strstr(line, test_backend_text(" on opencl:0")) != NULL;
        snprintf(last, sizeof last, "%s", line);
    }
    fclose(file);
    remove(path);
    assert_int_equal(copied, 1);
    assert_true(ran >= 5);
    assert_string_equal(last, "soft placement made 5 copies of 120 bytes\n");
}

/* ---- 13: one fused kernel ---------------------------------------------------------------------------------------- */

static void the_example_of_the_chapter(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        wk_tensor *z = wk_to(wk_of(float, (3), 1, 2, 3), device), *y = wk_to(wk_of(float, (3), 1, 2, 3), device);
        char text[100], where[32] = "";
        if (device.kind != WK_CPU) snprintf(where, sizeof where, ", device='%s'", wk_device_str(device));
        snprintf(text, sizeof text, "tensor([ 20.0855, 109.1963, 445.2395]%s)", where);
        wk_tensor *sum = wk_add(z, 2), *result = wk_mul(wk_exp(sum), y);
        assert_string_equal(wk_tensor_str(result), text);
        wk_fill_(z, 100);
        EXPECT_VALUES(sum, 0, 3, 4, 5); /* never stored, and right nevertheless */
    }
    WK_SCOPE;
    wk_tensor *z = wk_retain(wk_ones((3), .device = test_null())), *y = wk_retain(wk_ones((3), .device = test_null()));
    wk_sync();
    wk__null_log_clear();
    assert_non_null(wk_tensor_str(wk_mul(wk_exp(wk_add(z, 2)), y)));
    assert_int_equal(wk__null_log_count(WK__PROGRAM), 1); /* one kernel, one store */
    const wk__program *g = wk__null_log_program_at(0);
    int stores = 0;
    for (int k = 0; k < g->nins; k++) stores += g->ins[k].code == WK__STORE;
    assert_int_equal(stores, 1);
    wk_free(z), wk_free(y);
}

/* ---- 14, 15: scopes ---------------------------------------------------------------------------------------------- */

static void device_scopes_nest(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *made[5];
    char name[80];
    made[0] = wk_ones((1));
    {
        WK_DEVICE(test_gpu(1));
        made[1] = wk_rand((1));
        {
            WK_DEVICE(wk_device_parse("/job:localhost/replica:0/task:0/device:CPU:0"));
            made[2] = wk_arange(1);
        }
        made[3] = wk_of(float, (1), 1);
        wk_tensor *explicit = wk_zeros((1), .device = test_gpu(0));
        assert_true(wk_device_eq(wk_device_of(explicit), test_gpu(0)));
    }
    made[4] = wk_eye(1);
    const char *const where[] = {"cpu", test_backend_text("opencl:1"), "cpu", test_backend_text("opencl:1"), "cpu"};
    for (int k = 0; k < 5; k++) assert_string_equal(wk_device_str(wk_device_of(made[k])), where[k]);
    snprintf(name, sizeof name, "/job:localhost/replica:0/task:0/device:%s:1",
             test_gpu(1).kind == WK_CUDA ? "CUDA" : "OPENCL");
    assert_string_equal(wk_device_full_name(wk_device_of(made[1])), name);
    {
        WK_DEVICE(wk_cuda(7)); /* no error until a tensor is created there */
        expect_ok();
        EXPECT_VALUES(wk_add(made[0], 1), 0, 2);
        assert_null(wk_zeros((1)));
        expect_error("cuda:7 does not exist", NULL);
    }
}

/* A scope sets the device of new tensors. Existing tensors are not moved: by assignment, by use as an operand, or as a
 * parameter. */
static void a_device_scope_does_not_move_tensors(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *far = wk_retain(wk_ones((2), .device = test_gpu(0)));
    wk_module *box = wk_module_new((&(wk_module_kind){.size = sizeof(wk_module_kind), .name = "box"}));
    wk_transfer_counters before = {.size = sizeof before}, after = before;
    wk_sync();
    wk_transfer_stats(&before);
    {
        WK_DEVICE(wk_cpu());
        wk_tensor *same = far, *copy = wk_clone(far), *twice = wk_mul(far, 2), *like = wk_zeros_like(far);
        wk_tensor *variable = wk_module_add_parameter(box, "variable", far);
        wk_tensor *const all[] = {same, copy, twice, like, variable};
        for (int k = 0; k < 5; k++) assert_true(wk_device_eq(wk_device_of(all[k]), test_gpu(0)));
        wk_sync();
        wk_transfer_stats(&after);
        assert_int_equal(after.uploads + after.downloads, before.uploads + before.downloads);
        wk_tensor *near = wk_to(far, wk_cpu()); /* unless requested */
        assert_true(wk_device_eq(wk_device_of(near), wk_cpu()));
        EXPECT_VALUES(near, 0, 1, 1);
    }
    wk_free(far);
}

/* ---- 16: the log of placement ------------------------------------------------------------------------------------ */

static void the_log_names_the_device_of_ops(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_transfer_counters before = {.size = sizeof before}, after = before;
    wk_sync();
    wk_transfer_stats(&before);
    listen("placement");
    wk_tensor *x = wk_to(wk_full((100), 2.0), test_gpu(1)), *y = wk_mul(wk_exp(x), 3);
    wk_tensor *back = wk_to(wk_sum(y), wk_cpu());
    wk_item(wk_add(back, 1));
    wk_set_log(NULL, NULL, NULL);
    wk_transfer_stats(&after);
    assert_int_equal(lines_with("lesson/work.c:", test_backend_text("to: 400 bytes from cpu to opencl:1")), 1);
    assert_int_equal(lines_with(test_backend_text("exp, mul, sum on opencl:1, in one pass"), "lesson/work.c:"), 1);
    assert_int_equal(lines_with(test_backend_text("to: 4 bytes from opencl:1 to cpu"), "lesson/work.c:"), 1);
    assert_int_equal(lines_with("add on cpu", "lesson/work.c:"), 1);
    assert_int_equal(after.uploads - before.uploads, 400);
    assert_int_equal(after.downloads - before.downloads, 4);
    int before_silence = log_lines.count;
    wk_item(wk_sum(wk_exp(x)));
    assert_int_equal(log_lines.count, before_silence); /* no longer logged */
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) return child();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operands_on_one_device),
        cmocka_unit_test(operands_on_two_devices_fail),
        cmocka_unit_test(a_cpu_scalar_is_copied_to_the_operands),
        cmocka_unit_test_setup_teardown(the_cost_of_a_cpu_scalar, test_default_mode, test_restore_mode),
        cmocka_unit_test(soft_placement_copies_counts_and_logs_once),
        cmocka_unit_test(soft_placement_passes_gradients),
        cmocka_unit_test(the_log_of_a_process),
        cmocka_unit_test_setup_teardown(the_example_of_the_chapter, test_default_mode, test_restore_mode),
        cmocka_unit_test(device_scopes_nest),
        cmocka_unit_test(a_device_scope_does_not_move_tensors),
        cmocka_unit_test_setup_teardown(the_log_names_the_device_of_ops, test_default_mode, test_restore_mode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
