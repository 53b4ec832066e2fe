/* SPDX-License-Identifier: Apache-2.0 */
/* Tests wk_mirrored under errors: refused calls, models that fail or leave by longjmp, failing devices, threads; and
 * the log of profiled steps. */
#include "support/mirrored.h"
#include "support/threads.h"

#include "backend/null/null.h"
#include <setjmp.h>

/* ---- refused calls ----------------------------------------------------------------------------------------------- */

static void lists_of_devices(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *model = test_network();
    wk_device many[17];
    for (int k = 0; k < 17; k++) many[k] = wk_cpu();
    assert_null(wk_mirrored(model, many, 0));
    expect_error("parallel/mirrored_errors.c", "mirrored: got 0 devices", "1 to 16", NULL);
    assert_null(wk_mirrored(model, many, 17));
    expect_error("mirrored: got 17 devices", NULL);
    assert_null(wk_mirrored(model, many, 2));
    expect_error("mirrored: duplicate device cpu", NULL);
    assert_null(wk_mirrored(model, many, -1));
    expect_error("mirrored: the array of devices", NULL);
    assert_null(wk_mirrored(model, NULL, 1));
    expect_error("mirrored: the array of devices is NULL", NULL);
    many[1] = wk_opencl(77);
    assert_null(wk_mirrored(model, many, 2));
    expect_error("mirrored", "opencl:77 does not exist", NULL);
    assert_null(wk_mirrored(model, many, 1, .output = wk_opencl(77)));
    expect_error("mirrored", "opencl:77 does not exist", NULL);
    assert_null(wk_mirrored(model, many, 1, .buffers = (wk_mirrored_buffers)7));
    expect_error("mirrored: unknown .buffers", "7; expected", NULL);
    assert_null(wk_mirrored(NULL, many, 1));
    expect_error("mirrored: the module is NULL", NULL);
    assert_null(wk_nn_data_parallel(model, .count = 2));
    expect_error("nn_data_parallel: .devices is NULL", NULL);
    wk_mirrored_stats stats = {.size = sizeof stats};
    assert_int_equal(wk_mirrored_stats_of(model, &stats), WK_ERR_ARGUMENT);
    expect_error("mirrored_stats_of: the sequential is not a mirrored network", NULL);
    assert_true(wk_device_eq(wk_device_of(wk_module_parameter(model, "0.weight")), wk_cpu())); /* nothing was moved */
}

static void mirrored_networks_do_not_nest(void **state)
{
    (void)state;
    WK_SCOPE;
    const wk_device cpu = wk_cpu();
    wk_module *model = test_network(), *many = wk_mirrored(model, &cpu, 1);
    assert_null(wk_mirrored(many, &cpu, 1));
    expect_error("mirrored: the model already is or contains a mirrored", NULL);
    assert_null(wk_nn_data_parallel(wk_nn_sequential(wk_nn_relu(), many)));
    expect_error("nn_data_parallel: the model already is or contains a mirrored", NULL);
    assert_null(wk_module_append(many, wk_nn_relu()));
    expect_error("module_append: a mirrored only wraps its model", NULL);
    assert_null(wk_module_set_buffer(many, "b", wk_ones((1))));
    expect_error("module_set_buffer: a mirrored only wraps its model", NULL);
    assert_non_null(wk_mirrored(model, &cpu, 1)); /* two of the same model are separate */
    expect_ok();
}

static void pytorch_s_defaults(void **state)
{
    (void)state;
    wk_device gpus[16];
    const int n = wk_try_all_gpus(gpus, 16);
    EACH_DEVICE_SET(set)
    {
        WK_SCOPE;
        wk_module *all = wk_nn_data_parallel(test_network());
        wk_mirrored_stats stats = {.size = sizeof stats};
        assert_int_equal(wk_mirrored_stats_of(all, &stats), WK_OK);
        assert_int_equal(stats.devices, n);
        for (int k = 0; k < n; k++) assert_true(wk_device_eq(stats.device[k], gpus[k]));
        wk_module *some = wk_nn_data_parallel(test_network(), .devices = set->device, .count = set->n);
        wk_tensor *y = wk_forward(some, test_batch(6, 0, wk_cpu())); /* gathered on the first device */
        assert_true(wk_device_eq(wk_device_of(y), set->device[0]));
        expect_ok();
    }
}

/* ---- models that fail -------------------------------------------------------------------------------------------- */

static jmp_buf out;
static int runs, fails_at, gives; /* forward number fails_at fails; gives 1: one result is missing, 2: it jumps */

static int failing_forward(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **results, int outputs)
{
    (void)inputs, (void)outputs;
    wk_tensor *w = wk_module_parameter(self, "w");
    if (++runs == fails_at) {
        if (gives == 2) longjmp(out, 1);
        if (gives == 1) {
            results[0] = in[0];
            return 1;
        }
        wk_matmul(in[0], wk_ones((7, 7), .device = wk_device_of(w)));
        return -1;
    }
    results[0] = wk_mul(in[0], w);
    results[1] = wk_add(in[0], w);
    return 2;
}

static wk_module *failing(void)
{
    static const wk_module_kind kind = {.size = sizeof kind, .name = "failing", .forward = failing_forward};
    wk_module *m = wk_module_new(&kind);
    wk_module_add_parameter(m, "w", wk_full((2), 3.0));
    wk_module_set_buffer(m, "b", wk_full((2), 4.0));
    return m;
}

/* After each way out the handles are unchanged, and the network can be used. */
static void expect_usable(wk_module *model, wk_module *many, wk_tensor *x, const test_set *set)
{
    wk_tensor *w = wk_module_parameter(model, "w"), *results[2];
    assert_true(wk_is_leaf(w) && wk_requires_grad(w));
    assert_true(wk_device_eq(wk_device_of(w), set->device[0]));
    assert_true(wk_device_eq(wk_device_of(wk_module_buffer(model, "b")), set->device[0]));
    EXPECT_VALUES(w, 0, 3, 3);
    fails_at = 0;
    assert_int_equal(wk_forward_n(many, (x), results, 2), 2);
    EXPECT_VALUES(wk_select(results[0], 0, 0), 0, 3, 3);
    wk_set_grad(w, NULL);
    wk_backward(wk_sum(results[0]));
    EXPECT_VALUES(wk_grad_of(w), 0, (double)wk_size(x, 0), (double)wk_size(x, 0));
    assert_true(wk_device_eq(wk_device_of(wk_ones((1))), wk_cpu())); /* the default device, too */
    expect_ok();
}

static void a_model_that_fails_on_one_device(void **state)
{
    (void)state;
    EACH_DEVICE_SET(set)
    {
        WK_SCOPE;
        wk_module *model = failing(), *many = wk_mirrored(model, set->device, set->n);
        wk_tensor *x = wk_ones((2 * set->n, 2), .device = set->device[0]), *results[2];
        for (int way = 0; way < 2; way++)
            for (int k = 1; k <= set->n; k++) {
                runs = 0;
                fails_at = k;
                gives = way;
                assert_int_equal(wk_forward_n(many, (x), results, 2), way && set->n == 1 ? 1 : -1);
                if (way == 0) {
                    assert_null(results[0]);
                    expect_error("matmul", "in forward of \"failing\"", NULL);
                } else if (set->n > 1) {
                    expect_error("forward: the model returned", "outputs on", NULL);
                }
                expect_usable(model, many, x, set);
            }
    }
}

static wk_optim *optim_of_it;

static wk_tensor *forgets_gradients(wk_module *self, wk_tensor *x)
{
    wk_optim_zero_grad(optim_of_it);
    return wk_mul(x, wk_module_parameter(self, "w"));
}

/* Copies have no gradients to clear. */
static void gradients_are_not_cleared_in_forward(void **state)
{
    (void)state;
    if (wk_device_count(test_gpu_kind()) < 2) skip();
    static const wk_module_kind kind = {.size = sizeof kind, .name = "own", .forward1 = forgets_gradients};
    const wk_device devices[] = {wk_cpu(), test_gpu(1)};
    WK_SCOPE;
    wk_module *model = wk_module_new(&kind);
    wk_tensor *w = wk_module_add_parameter(model, "w", wk_ones((3)));
    wk_module *many = wk_mirrored(model, devices, 2);
    optim_of_it = wk_optim_sgd(wk_parameters(many), .lr = 1);
    wk_set_grad(w, wk_ones((3)));
    wk_forward(many, wk_ones((4, 3)));
    expect_error("optim_zero_grad: parameter \"w\" is not a leaf", "call this before forward", NULL);
    EXPECT_VALUES(wk_grad_of(w), 0, 1, 1, 1);
    assert_int_equal(wk_optim_zero_grad(optim_of_it), WK_OK);
    assert_null(wk_grad_of(w));
}

/* Fails within a profiled step: the profiler's resources must be released (the leak sanitizer checks). */
static bool gives_nothing;

static wk_tensor *forward_without_result_on_the_cpu(wk_module *self, wk_tensor *x)
{
    const bool fails = gives_nothing && wk_device_of(x).kind == WK_CPU;
    return fails ? NULL : wk_mul(x, wk_module_parameter(self, "w"));
}

static void a_measured_step_that_fails(void **state)
{
    (void)state;
    if (wk_device_count(test_gpu_kind()) < 2) skip();
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "own", .forward1 = forward_without_result_on_the_cpu};
    for (int fails_at = 9; fails_at < 12; fails_at++) {
        WK_SCOPE;
        const wk_device devices[] = {wk_cpu(), test_gpu(1)};
        wk_module *model = wk_module_new(&kind);
        wk_module_add_parameter(model, "w", wk_ones((3)));
        wk_module *many = wk_mirrored(model, devices, 2);
        for (int k = 0; k < 13; k++) {
            WK_SCOPE;
            gives_nothing = k == fails_at;
            wk_tensor *y = wk_forward(many, wk_ones((4, 3)));
            assert_true((y == NULL) == gives_nothing);
            if (y) wk_backward(wk_sum(y));
            if (!y) expect_error("returned no tensor", NULL);
            if (!y && k == 10) break; /* and the network is freed */
        }
    }
}

static void leave(void *user, wk_code code, const char *text)
{
    (void)user, (void)code, (void)text;
    longjmp(out, 1);
}

static void jump_out_of_model(const test_set *set, bool by_handler, int at)
{
    WK_SCOPE;
    wk_module *model = failing(), *many = wk_mirrored(model, set->device, set->n);
    wk_tensor *x = wk_ones((2 * set->n, 2), .device = set->device[0]);
    runs = 0;
    fails_at = at;
    gives = by_handler ? 0 : 2;
    wk_guard scope = wk_scope_open((wk_site){__FILE__, __LINE__});
    if (by_handler) wk_set_error_handler(leave, NULL);
    if (!setjmp(out)) {
        wk_tensor *results[2];
        wk_forward_n(many, (x), results, 2);
        fail();
    }
    wk_set_error_handler(NULL, NULL);
    wk_guard_close(&scope);
    wk_clear_error();
    expect_usable(model, many, x, set);
}

static void a_model_that_jumps_out(void **state)
{
    (void)state;
    EACH_DEVICE_SET(set)
    {
        for (int k = 1; k <= set->n; k++) {
            jump_out_of_model(set, false, k);
            jump_out_of_model(set, true, k);
        }
    }
}

static wk_module *recursive;
static wk_tensor *recursive_forward(wk_module *self, wk_tensor *x)
{
    (void)self;
    return wk_forward(recursive, x);
}

static void a_forward_within_its_own(void **state)
{
    (void)state;
    static const wk_module_kind kind = {.size = sizeof kind, .name = "recursive", .forward1 = recursive_forward};
    EACH_DEVICE_SET(set)
    {
        if (set->n < 2) continue;
        WK_SCOPE;
        recursive = wk_mirrored(wk_module_new(&kind), set->device, set->n);
        assert_null(wk_forward(recursive, wk_ones((4, 1))));
        expect_error("forward: this mirrored network is already running", NULL);
    }
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static atomic_int inside, done;

static wk_tensor *waiting_forward(wk_module *self, wk_tensor *x)
{
    (void)self;
    test_raise(&inside, 1);
    test_await(&done, 1);
    return wk_mul(x, 2);
}

static void second(test_thread *t)
{
    wk_module *many = t->user;
    WK_SCOPE;
    test_await(&inside, 1);
    THREAD_CHECK(t, wk_forward(many, wk_ones((4, 1))) == NULL);
    THREAD_CHECK_ERROR(t, "forward: this mirrored network is already running", NULL);
    test_raise(&done, 1);
}

static void two_threads_at_once(void **state)
{
    (void)state;
    static const wk_module_kind kind = {.size = sizeof kind, .name = "waiting", .forward1 = waiting_forward};
    EACH_DEVICE_SET(set)
    {
        if (set->n < 2) continue;
        WK_SCOPE;
        wk_module *many = wk_mirrored(wk_module_new(&kind), set->device, set->n);
        test_thread thread[1];
        atomic_store(&inside, 0);
        atomic_store(&done, 0);
        test_threads_start(thread, 1, second, many);
        wk_tensor *y = wk_forward(many, wk_ones((4, 1)));
        test_threads_end(thread, 1);
        EXPECT_VALUES(y, 0, 2, 2, 2, 2);
        expect_ok();
    }
}

static void other(test_thread *t)
{
    wk_module *many = t->user;
    WK_SCOPE;
    for (int k = 0; k < 3 && THREAD_CHECK(t, true); k++) { /* reads copies that another thread has recorded */
        wk_backward(test_loss(many, test_batch(6, k, wk_cpu())));
        THREAD_CHECK(t, !wk_error());
    }
}

static void threads_take_turns(void **state)
{
    (void)state;
    EACH_DEVICE_SET(set)
    {
        WK_SCOPE;
        wk_module *one = test_network(), *many = wk_mirrored(test_network(), set->device, set->n);
        for (int k = 0; k < 3; k++) {
            test_in_thread(other, many);
            for (int i = 0; i < 3; i++) wk_backward(test_loss(one, test_batch(6, i, wk_cpu())));
        }
        wk_tensor *a = wk_grad_of(wk_module_parameter(one, "0.weight")),
                  *b = wk_grad_of(wk_module_parameter(many, "0.weight"));
        assert_true(test_gap(a, b) <= 1e-5);
        expect_ok();
    }
}

/* ---- devices that fail ------------------------------------------------------------------------------------------- */

/* The null device reads as 0, and fails on request. */
static void a_lost_device(void **state)
{
    (void)state;
    WK_SCOPE;
    const wk_device devices[2] = {wk_cpu(), test_null()};
    wk_module *model = test_network(), *many = wk_mirrored(model, devices, 2);
    wk_optim *sgd = wk_optim_sgd(wk_parameters(many), .lr = 0.1);
    wk_tensor *x = test_batch(4, 0, wk_cpu()), *w = wk_module_parameter(model, "0.weight"), *before = wk_clone(w);
    test_loss(many, x);
    wk_sync();
    wk__null_lose_device(0);
    wk_backward(test_loss(many, x));
    wk_optim_step(sgd);
    assert_int_not_equal(wk_sync(), WK_OK);
    expect_error("null:0", NULL);
    assert_true(test_gap(w, before) == 0); /* the parameters are on another device and keep their values */
    wk__null_clear_faults();
    wk_optim_zero_grad(sgd);
    wk_backward(test_loss(many, x)); /* failed copies are created again */
    wk_optim_step(sgd);
    wk_sync();
    expect_ok();
    assert_true(test_gap(w, before) > 0);
}

/* ---- log --------------------------------------------------------------------------------------------------------- */

static char line[400];
static int lines;
static void listen(void *user, const char *text)
{
    (void)user;
    lines++;
    snprintf(line, sizeof line, "%s", text);
}

static void a_profile_is_logged_once(void **state)
{
    (void)state;
    EACH_DEVICE_SET(set)
    {
        WK_SCOPE;
        lines = 0;
        wk_set_log("parallel", listen, NULL);
        wk_module *many = wk_mirrored(test_network(), set->device, set->n);
        test_train(many, set->device[0], 12, 15);
        wk_set_log(NULL, NULL, NULL);
        wk_mirrored_stats stats = {.size = sizeof stats};
        assert_int_equal(wk_mirrored_stats_of(many, &stats), WK_OK);
        assert_int_equal(stats.devices, set->n);
        assert_int_equal(lines, set->n > 1);
        assert_int_equal(stats.steps, set->n > 1 ? 15 : 0);
        if (set->n == 1) {
            assert_int_equal(stats.path, WK_COPY_NONE);
            assert_true(stats.compute == 0 && stats.copied_bytes == 0);
            continue;
        }
        bool alike = true;
        for (int k = 1; k < set->n; k++) alike = alike && set->device[k].kind == set->device[0].kind;
        assert_int_equal(stats.path, alike ? WK_COPY_PEER : WK_COPY_HOST);
        assert_true(stats.all_reduce_bandwidth > 0 && stats.compute > 0 && stats.communication > 0);
        assert_true(stats.compute + stats.communication + stats.input_wait <= 1 + 1e-9);
        for (int k = 0; k < set->n; k++) {
            assert_true(wk_device_eq(stats.device[k], set->device[k]) && stats.share[k] == 1.0 / set->n);
            assert_non_null(strstr(line, wk_device_str(set->device[k])));
        }
        assert_non_null(strstr(line, alike ? "from device to device" : "through the host"));
        assert_non_null(strstr(line, "support/mirrored.h:")); /* the call site of forward */
    }
}

/* If some gradients never arrive, or the graph outlives the network, nothing is profiled and nothing breaks. */
static void steps_that_do_not_end(void **state)
{
    (void)state;
    EACH_DEVICE_SET(set)
    {
        WK_SCOPE;
        wk_tensor *kept = NULL;
        {
            WK_SCOPE;
            wk_module *many = wk_mirrored(test_network(), set->device, set->n);
            for (int step = 0; step < 14; step++) {
                wk_tensor *loss = test_loss(many, test_batch(6, step, set->device[0]));
                if (step % 2) wk_carry(&kept, loss);
            }
            wk_mirrored_stats stats = {.size = sizeof stats};
            assert_int_equal(wk_mirrored_stats_of(many, &stats), WK_OK);
            assert_true(stats.compute == 0 && stats.all_reduce_bandwidth == 0);
        }
        assert_int_equal(wk_backward(kept), WK_OK); /* its leaves are kept alive by the graph */
        expect_ok();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_of_devices),
        cmocka_unit_test(mirrored_networks_do_not_nest),
        cmocka_unit_test(pytorch_s_defaults),
        cmocka_unit_test(a_model_that_fails_on_one_device),
        cmocka_unit_test(gradients_are_not_cleared_in_forward),
        cmocka_unit_test(a_measured_step_that_fails),
        cmocka_unit_test(a_model_that_jumps_out),
        cmocka_unit_test(a_forward_within_its_own),
        cmocka_unit_test(two_threads_at_once),
        cmocka_unit_test(threads_take_turns),
        cmocka_unit_test_teardown(a_lost_device, test_clean),
        cmocka_unit_test(a_profile_is_logged_once),
        cmocka_unit_test(steps_that_do_not_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
