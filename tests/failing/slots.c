/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory exhaustion, one slot at a time. Also objects that exist before the failing call: afterwards they must be
 * unchanged. */
#include "alloc_fault_sweep.h"
#include "support/turns.h"

/* ---- scenarios --------------------------------------------------------------------------------------------------- */

static void each_slot(void **state)
{
    (void)state;
    for (int k = 0; k < scenario_count; k++) {
        alloc_faults_sweep(&scenarios[k], false, test_is_quick() ? 75 : 600);
        alloc_faults_sweep(&scenarios[k], true, test_is_quick() ? 12 : 100);
    }
}

/* ---- objects that exist before the call -------------------------------------------------------------------------- */

/* All elements of a list of tensors, concatenated. */
enum { NUMBERS = 256 };
typedef struct numbers {
    float at[NUMBERS];
    int64_t count;
} numbers;

static void read_numbers(wk_tensors *list, numbers *out)
{
    out->count = 0;
    for (int k = 0; k < wk_tensors_count(list); k++) {
        wk_tensor *x = wk_tensors_get(list, k);
        int64_t n = wk_numel(x);
        assert_true(out->count + n <= NUMBERS);
        if (wk_read(x, out->at + out->count, (size_t)n * sizeof(float)) != WK_OK) fail_msg("%s", wk_error());
        out->count += n;
    }
}

static bool same(const numbers *a, const numbers *b)
{
    return a->count == b->count && memcmp(a->at, b->at, (size_t)a->count * sizeof(float)) == 0;
}

static wk_module *network(void)
{
    wk_seed(3);
    return wk_nn_sequential(wk_nn_linear(5, 6), wk_nn_layer_norm((6)), wk_nn_linear(6, 3));
}

static wk_optim *optimiser(int which, wk_tensors *parameters)
{
    if (which == 0) return wk_optim_sgd(parameters, .lr = 0.1, .momentum = 0.9, .nesterov = true, .weight_decay = 0.01);
    if (which == 1) return wk_optim_adam(parameters, .lr = 0.01, .weight_decay = 0.01);
    if (which == 2) return wk_optim_adamw(parameters, .amsgrad = true);
    return wk_optim_adagrad(parameters, .initial_accumulator_value = 0.5, .maximize = true);
}

static void gradients_of(wk_module *net)
{
    wk_tensor *x = wk_sin(wk_reshape(wk_arange(20.0), (4, 5)));
    assert_int_equal(wk_backward(wk_sum(wk_mul(wk_forward(net, x), wk_forward(net, x)))), WK_OK);
}

/* A step changes all parameters or none, and a failed step has no effect: a network without failures, which makes the
 * successful steps only, has the same parameters. */
static void step_is_atomic(void **state)
{
    (void)state;
    for (int which = 0; which < 4; which++) {
        WK_SCOPE;
        wk_module *net = network(), *twin = network();
        wk_tensors *parameters = wk_parameters(net), *of_twin = wk_parameters(twin);
        wk_optim *optim = optimiser(which, parameters), *optim_of_twin = optimiser(which, of_twin);
        bool met = true;
        int failed = 0;
        for (long long n = 1; met; n++) {
            WK_SCOPE;
            numbers before, after, wanted;
            wk_optim_zero_grad(optim), wk_optim_zero_grad(optim_of_twin);
            gradients_of(net), gradients_of(twin);
            wk_sync();
            read_numbers(parameters, &before);
            drain();
            alloc_faults_arm(n, n % 2);
            wk_code code = wk_optim_step(optim);
            met = alloc_fault_fired();
            alloc_faults_arm(0, false);
            assert_int_equal(code != WK_OK, wk_error() != NULL);
            wk_clear_error();
            read_numbers(parameters, &after);
            if (code == WK_OK) assert_int_equal(wk_optim_step(optim_of_twin), WK_OK);
            read_numbers(of_twin, &wanted);
            if (!same(&after, &wanted))
                fail_msg("optimiser %d, request %lld, code %d: wrong parameters", which, n, code);
            if ((code == WK_OK) == same(&after, &before))
                fail_msg("optimiser %d, request %lld: wrong return code", which, n);
            failed += code != WK_OK;
        }
        assert_true(failed > 3);
    }
}

typedef struct search {
    wk_module *net;
    wk_optim *optim;
} search;

static wk_tensor *closure(void *user)
{
    search *s = user;
    wk_optim_zero_grad(s->optim);
    wk_tensor *y = wk_forward(s->net, wk_sin(wk_reshape(wk_arange(20.0), (4, 5)))), *loss = wk_sum(wk_mul(y, y));
    wk_backward(loss);
    return loss;
}

static search search_of(wk_tensors **parameters)
{
    search s = {.net = network()};
    *parameters = wk_parameters(s.net);
    s.optim =
        wk_optim_lbfgs(*parameters, .lr = 0.1, .max_iter = 2, .history_size = 1, .line_search_fn = "strong_wolfe");
    return s;
}

/* The same for a step that calls a closure several times. */
static void line_search_step_is_atomic(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensors *parameters, *of_twin;
    search one = search_of(&parameters), twin = search_of(&of_twin);
    bool met = true;
    int failed = 0;
    for (long long n = 1; met; n = alloc_faults_next(n, 40)) {
        WK_SCOPE;
        numbers after, wanted;
        wk_sync();
        drain();
        alloc_faults_arm(n, n % 2);
        const bool fine = wk_optim_step_closure(one.optim, closure, &one) != NULL;
        met = alloc_fault_fired();
        alloc_faults_arm(0, false);
        assert_int_equal(fine, wk_error() == NULL);
        wk_clear_error();
        if (fine) assert_non_null(wk_optim_step_closure(twin.optim, closure, &twin));
        read_numbers(parameters, &after);
        read_numbers(of_twin, &wanted);
        if (!same(&after, &wanted)) fail_msg("request %lld, fine %d: wrong parameters", n, fine);
        failed += !fine;
    }
    assert_true(failed > 20);
}

/* In-place calls on the result of an op: its elements and its graph node change together or not at all. */
static wk_tensor *write_in_place(int which, wk_tensor *y, wk_tensor *x, wk_tensor *rows)
{
    switch (which) {
    case 0: return wk_add_(y, x);
    case 1: return wk_mul_(y, 3);
    case 2: return wk_exp_(wk_narrow(y, 0, 1, 2)) ? y : NULL;
    case 3: return wk_copy_(y, wk_mul(x, 5));
    case 4: return wk_copy_(wk_select(y, 0, 2), wk_select(x, 0, 1)) ? y : NULL;
    case 5: return wk_fill_(y, 2);
    case 6: return wk_index_add_(y, 0, rows, wk_ones((2)));
    case 7: return wk_masked_fill_(y, wk_gt(x, 2), 7);
    case 8: return wk_clamp_(y, 0, 3);
    default: return NULL;
    }
}

static void result_of(wk_tensor *y, wk_tensor *x, numbers *out)
{
    wk_tensor *grad = NULL;
    out->count = 8;
    assert_int_equal(wk_read(y, out->at, 4 * sizeof(float)), WK_OK);
    assert_int_equal(
        wk_grad((wk_sum(wk_mul(y, wk_of(float, (4), 1, 10, 100, 1000)))), (x), &grad, .allow_unused = true), WK_OK);
    memset(out->at + 4, 0, 4 * sizeof(float));
    if (grad) assert_int_equal(wk_read(grad, out->at + 4, 4 * sizeof(float)), WK_OK);
}

static void in_place_write_is_atomic(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_requires_grad_(wk_of(float, (4), 1, 2, 3, 4), true), *rows = wk_of(int64_t, (2), 3, 1);
    for (int which = 0; which < 9; which++) {
        numbers before, after, have;
        {
            WK_SCOPE;
            result_of(wk_mul(x, 2), x, &before);
            result_of(write_in_place(which, wk_mul(x, 2), x, rows), x, &after);
        }
        bool met = true;
        int failed = 0;
        for (long long n = 1; met; n++) {
            WK_SCOPE;
            wk_tensor *y = wk_mul(x, 2);
            drain();
            alloc_faults_arm(n, n % 2);
            wk_tensor *written = write_in_place(which, y, x, rows);
            met = alloc_fault_fired();
            alloc_faults_arm(0, false);
            if (!written && !wk_error()) fail_msg("call %d, request %lld: no error", which, n);
            wk_clear_error();
            result_of(y, x, &have);
            if (!same(&have, written ? &after : &before))
                fail_msg("call %d, request %lld: %s, %g with gradient %g", which, n,
                         written ? "written" : "not written", have.at[3], have.at[7]);
            failed += written == NULL;
        }
        assert_true(failed > 1);
    }
    expect_ok();
}

/* An error about in-place changes does not name a failed write as the last one. */
static void failed_write_is_not_named(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_requires_grad_(wk_of(float, (4), 1, 2, 3, 4), true), *rows = wk_of(int64_t, (2), 3, 1);
    for (int which = 0; which < 9; which++) {
        bool met = true;
        int failed = 0;
        for (long long n = 1; met; n++) {
            WK_SCOPE;
            wk_tensor *y = wk_exp(x); /* its gradient uses the result */
            wk_relu_(y);
            drain();
            alloc_faults_arm(n, n % 2);
            wk_tensor *written = write_in_place(which, y, x, rows);
            met = alloc_fault_fired();
            alloc_faults_arm(0, false);
            wk_clear_error();
            if (written) continue;
            failed++;
            assert_int_equal(wk_backward(wk_sum(y)), WK_ERR_STATE);
            if (strstr(wk_error(), "the last of")) fail_msg("call %d, request %lld: %s", which, n, wk_error());
            expect_error("it was modified in place by relu_ at ", "failing/slots.c:", NULL);
        }
        assert_true(failed > 1);
    }
    expect_ok();
}

/* A file has its former contents or the new ones; a network has all of the file's parameters or its former ones. */
static void files_and_networks_change_atomically(void **state)
{
    (void)state;
    WK_SCOPE;
    char path[500];
    snprintf(path, sizeof path, "%s/whole.safetensors", alloc_faults_env.folder);
    wk_module *one = network(), *other = network(), *check = network();
    wk_tensors *of_one = wk_parameters(one), *of_other = wk_parameters(other), *of_check = wk_parameters(check);
    WK_NO_GRAD;
    numbers own, ones, have;
    read_numbers(of_one, &ones);
    bool met = true;
    for (long long n = 1; met; n++) {
        WK_SCOPE;
        assert_int_equal(wk_save(one, path), WK_OK);
        for (int k = 0; k < wk_tensors_count(of_other); k++) wk_add_(wk_tensors_get(of_other, k), 1);
        read_numbers(of_other, &own);
        drain();
        alloc_faults_arm(n, n % 2);
        wk_code saved = wk_save(other, path);
        met = alloc_fault_fired();
        alloc_faults_arm(0, false);
        wk_clear_error();
        assert_int_equal(wk_load(check, path), WK_OK);
        read_numbers(of_check, &have);
        if (!same(&have, saved == WK_OK ? &own : &ones)) fail_msg("request %lld of saving: a wrong file", n);
        assert_int_equal(wk_save(one, path), WK_OK);
        drain();
        alloc_faults_arm(n, n % 2);
        wk_code loaded = wk_load(other, path);
        met = met || alloc_fault_fired();
        alloc_faults_arm(0, false);
        wk_clear_error();
        read_numbers(of_other, &have);
        if (!same(&have, loaded == WK_OK ? &ones : &own)) fail_msg("request %lld of loading: a wrong network", n);
    }
    expect_ok();
}

int main(void)
{
    alloc_faults_init();
    alloc_faults_env.device = wk_cpu();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_slot),
        cmocka_unit_test(step_is_atomic),
        cmocka_unit_test(line_search_step_is_atomic),
        cmocka_unit_test(in_place_write_is_atomic),
        cmocka_unit_test(failed_write_is_not_named),
        cmocka_unit_test(files_and_networks_change_atomically),
    };
    return cmocka_run_group_tests(tests, fill_queue, NULL);
}
