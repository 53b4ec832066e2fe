/* SPDX-License-Identifier: Apache-2.0 */
/* Error handlers that leave a failing call by longjmp: the call's resources (memory, files, counts) are released, and
 * the library works as if the call had returned. */
#include "base/slab.h"
#include "support/alloc_faults.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <unistd.h>

static jmp_buf back;
static int reports;

static void jump(void *user, wk_code code, const char *text)
{
    (void)user, (void)code;
    reports++;
    if (strlen(text) < 10) print_error("says \"%s\"\n", text);
    longjmp(back, 1);
}

static int open_files(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    if (!folder) return 0;
    while (readdir(folder)) count++;
    closedir(folder);
    return count;
}

static int64_t live_bytes(void)
{
    wk_memory_stats stats = {.size = sizeof stats};
    wk_memory_stats_of(wk_cpu(), &stats);
    return stats.live;
}

/* ---- calls that fail --------------------------------------------------------------------------------------------- */

/* Objects that the calls use. The computations of failed and failed_float fail. */
static struct {
    wk_tensor *x, *leaf, *view, *failed, *failed_float;
    wk_module *net, *other, *lazy;
    wk_tensors *parameters;
    wk_optim *optim;
    char file[500], damaged[500], missing_path[500];
} at;

/* Returns indices of which the last is out of range; detected when they are used. */
static wk_tensor *indices(void)
{
    return wk_mul(wk_arange(4), 33);
}

static void load_into_another(void)
{
    wk_load(at.net, at.file);
}
static void load_missing_file(void)
{
    wk_load(at.net, at.missing_path);
}
static void load_damaged_file(void)
{
    wk_load(at.other, at.damaged);
}
static void load_damaged_tensors(void)
{
    wk_load_tensors(at.damaged);
}
static void load_tensors_onto_no_device(void)
{
    WK_DEVICE(wk_opencl(77));
    wk_load_tensors(at.file);
}
static void save_to_missing_folder(void)
{
    wk_save(at.net, at.missing_path);
}
static void save_failed_value(void)
{
    wk_tensors *list = wk_list((at.x, at.failed_float));
    wk_save_tensors(list, at.file);
}
static void optimisers_with_wrong_options(void)
{
    wk_optim_sgd(at.parameters, .momentum = -1);
}
static void optimisers_with_options_of_others(void)
{
    wk_optim_add_group(at.optim, wk_list((at.leaf)), .beta1 = 0.9);
}
static void optimisers_without_parameters(void)
{
    wk_optim_adamw(wk_tensors_new(), .lr = 1);
}
static void unknown_line_search(void)
{
    wk_optim_lbfgs(at.parameters, .line_search_fn = "armijo");
}
static wk_tensor *fail_at_the_third_call(void *user)
{
    int *calls = user;
    wk_tensor *leaf = wk_tensors_get(at.parameters, 0);
    wk_tensor *loss = wk_sum(wk_square(leaf));
    if (++*calls == 3) wk_reshape(loss, (7));
    wk_backward(loss);
    return loss;
}
static void closure_that_fails(void)
{
    int calls = 2;
    wk_optim_step_closure(at.optim, fail_at_the_third_call, &calls);
}
static void closure_that_fails_in_a_search(void)
{
    int calls = 0;
    wk_optim *lbfgs = wk_optim_lbfgs(at.parameters, .line_search_fn = "strong_wolfe");
    wk_optim_step_closure(lbfgs, fail_at_the_third_call, &calls);
}
static void groups_twice(void)
{
    wk_optim_add_group(at.optim, at.parameters);
}
static void step_with_a_failed_gradient(void)
{
    wk_tensor *leaf = wk_tensors_get(at.parameters, 0);
    wk_set_grad(leaf, wk_mul(wk_sum(at.failed_float), wk_ones_like(leaf)));
    wk_optim_step(at.optim);
}
static void print_failed_value(void)
{
    wk_print(at.failed);
}
static void text_of_failed_value(void)
{
    wk_tensor_str(at.failed_float);
}
static void nonzero_of_failed_value(void)
{
    wk_nonzero(at.failed);
}
static void nonzero_tuple_of_failed_value(void)
{
    wk_tensor *out[1];
    wk_nonzero_numpy(at.failed, out);
}
static void select_by_failed_mask(void)
{
    wk_masked_select(at.x, wk_gt(at.failed_float, 0));
}
static void unique_of_failed_value(void)
{
    wk_unique(at.failed);
}
static void item_of_failed_value(void)
{
    wk_item(wk_sum(at.failed));
}
static void dataset_of_failed_value(void)
{
    wk_data_tensors(at.x, at.failed);
}
static void missing_mnist(void)
{
    wk_data_mnist(at.missing_path);
}
static wk_dataset *samples(void)
{
    return wk_data_tensors(at.x, wk_arange(4));
}
static void subset_of_failed_indices(void)
{
    wk_data_subset(samples(), at.failed);
}
static void loader_of_failed_weights(void)
{
    wk_data_loader(samples(), .weights = at.failed_float);
}
/* Fails for the last sample. */
static wk_tensor *reshape_last(wk_tensor *y, void *user)
{
    (void)user;
    return wk_item(y) == 3 ? wk_reshape(wk_neg(y), (7)) : y;
}
static wk_dataset *failing_samples(void)
{
    return wk_data_cache(wk_data_map(samples(), reshape_last, NULL, .tensor = 1));
}
static void sample_that_fails(void)
{
    wk_sample sample;
    wk_data_get(failing_samples(), 3, &sample);
}
static void split_of_failing_samples(void)
{
    wk_dataset *parts[2];
    wk_data_random_split(failing_samples(), (0.5, 0.5), parts, .stratify = true);
}
static void loop_over_failing_samples(void)
{
    WK_EACH(batch, wk_data_loader(failing_samples())) wk_neg(batch->x);
}
static void loop_of_failing_workers(void)
{
    WK_EACH(batch, wk_data_loader(failing_samples(), .workers = 2, .shuffle = true)) wk_neg(batch->x);
}
static void history_of_failed_value(void)
{
    wk_history *history = wk_history_new();
    wk_history_add(history, wk_sum(at.failed_float));
    wk_history_mean(history);
}
static void parameters_of_a_lazy_layer(void)
{
    wk_parameters(at.lazy);
}
static void module_to_missing_device(void)
{
    wk_module_to(at.net, wk_opencl(77));
}
static void buffer_of_failed_value(void)
{
    wk_module_set_buffer(at.net, "mean", wk_expand(at.failed_float, (2, 4)));
}
static void module_cycle(void)
{
    wk_module *inner = wk_nn_relu();
    wk_module_append(inner, wk_nn_sequential(inner));
}
static void in_place_through_a_view(void)
{
    wk_tensor *y = wk_mul(at.leaf, 2);
    wk_mul_(wk_narrow(y, 0, 0, 2), wk_narrow(at.failed_float, 0, 0, 2));
}
static void copy_of_failed_value(void)
{
    wk_copy_(wk_mul(at.leaf, 2), at.failed_float);
}
static void addition_at_bad_index(void)
{
    wk_tensor *y = wk_mul(at.leaf, 2);
    wk_index_add_(y, 0, indices(), at.leaf);
    wk_item(wk_sum(y));
    wk_neg(y); /* y keeps its former values; this call reports the error */
}
static void backward_of_failed_value(void)
{
    wk_backward(wk_sum(wk_mul(at.leaf, at.failed_float)));
    wk_item(wk_sum(wk_grad_of(at.leaf)));
}
static void backward_of_modified_value(void)
{
    wk_tensor *y = wk_exp(at.leaf), *z = wk_sum(wk_mul(y, y));
    wk_mul_(y, 2);
    wk_backward(z);
}
static double failing_factor(int64_t epoch, void *user)
{
    (void)user;
    return epoch < 1 ? 1 : wk_item(wk_reshape(wk_ones((4)), (7)));
}
static void schedule_whose_factor_fails(void)
{
    wk_schedule *rates = wk_schedule_lambda_lr(at.optim, failing_factor, NULL);
    wk_schedule_step(rates);
}
static double infinite_factor(int64_t epoch, void *user)
{
    (void)user;
    return epoch < 1 ? 1 : HUGE_VAL;
}
static void schedule_of_an_infinite_rate(void)
{
    wk_schedule *rates = wk_schedule_lambda_lr(at.optim, infinite_factor, NULL);
    wk_schedule_step(rates);
}
static void gradient_of_unused_tensor(void)
{
    wk_tensor *grad, *other = wk_ones((2), .requires_grad = true);
    wk_grad((wk_sum(at.leaf)), (other), &grad);
}
static void hook_on_constant(void)
{
    wk_register_hook(at.x, NULL, NULL);
}
static wk_tensor *wrong(wk_tensor *const *in, void *user)
{
    (void)user;
    return wk_add(in[0], wk_ones((7), .dtype = WK_F64));
}
static void check_of_a_wrong_function(void)
{
    wk_tensor *in[1] = {wk_ones((3), .dtype = WK_F64, .requires_grad = true)};
    wk_gradcheck(wrong, NULL, WK_ARRAY(in, 1));
}
static wk_tensor *wrong_later(wk_tensor *const *in, void *user)
{
    (void)user;
    return wk_is_grad_enabled() ? wk_mul(in[0], in[0]) : wrong(in, user);
}
static void check_of_a_function_that_fails_later(void)
{
    wk_tensor *in[1] = {wk_ones((3), .dtype = WK_F64, .requires_grad = true)};
    wk_gradcheck(wrong_later, NULL, WK_ARRAY(in, 1));
}
static void return_nothing(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    (void)out;
    wk_function_save(f, in[0]);
}
static void function_without_result(void)
{
    static const wk_function_kind kind = {
        .size = sizeof kind, .name = "nothing", .inputs = 1, .outputs = 1, .forward = return_nothing};
    wk_apply(&kind, NULL, (at.leaf));
}
static void replay_of_damaged_file(void)
{
    wk_replay(at.damaged, NULL, NULL);
}
static void late_failure(void)
{
    wk_index_add_(wk_zeros((4)), 0, indices(), at.x);
    wk_flush();
}
static void reshape_to_another_count(void)
{
    wk_reshape(at.x, (3));
}
static void expand_to_another_size(void)
{
    wk_expand(at.x, (3));
}
static void layer_norm_of_another_shape(void)
{
    wk_layer_norm(at.x, (3), NULL, NULL);
}
static void forward_of_another_width(void)
{
    wk_forward(at.net, wk_ones((2, 77)));
}

static void plots_of_other_shapes(void)
{
    wk_plot_tensor(wk_plot_new(), "label", wk_ones((3)), wk_ones((2)));
}
static void plot_of_failed_value(void)
{
    wk_plot_tensor(wk_plot_new(), "label", NULL, at.failed_float);
}
static void plot_to_missing_folder(void)
{
    wk_plot_save(wk_plot_new(.title = "title"), at.missing_path);
}
static void events_below_a_file(void)
{
    wk_tensorboard_open(at.damaged);
}
static void image_of_another_format(void)
{
    wk_image_read(at.damaged);
}
static void image_in_missing_folder(void)
{
    wk_image_write("/no/such/folder/image.png", wk_ones((2, 3)));
}
static void image_of_failed_value(void)
{
    wk_image_write("failed.png", wk_expand(wk_sum(at.failed_float), (2, 2)));
}
static void grid_of_two_dimensions(void)
{
    wk_image_grid(wk_ones((2, 3)));
}

static const test_call calls[] = {
    {TEST_CALL(load_into_another)},
    {TEST_CALL(load_missing_file)},
    {TEST_CALL(load_damaged_file)},
    {TEST_CALL(load_damaged_tensors)},
    {TEST_CALL(load_tensors_onto_no_device)},
    {TEST_CALL(save_to_missing_folder)},
    {TEST_CALL(save_failed_value)},
    {TEST_CALL(optimisers_with_wrong_options)},
    {TEST_CALL(optimisers_with_options_of_others)},
    {TEST_CALL(optimisers_without_parameters)},
    {TEST_CALL(unknown_line_search)},
    {TEST_CALL(closure_that_fails)},
    {TEST_CALL(closure_that_fails_in_a_search)},
    {TEST_CALL(groups_twice)},
    {TEST_CALL(step_with_a_failed_gradient)},
    {TEST_CALL(print_failed_value)},
    {TEST_CALL(text_of_failed_value)},
    {TEST_CALL(nonzero_of_failed_value)},
    {TEST_CALL(nonzero_tuple_of_failed_value)},
    {TEST_CALL(select_by_failed_mask)},
    {TEST_CALL(unique_of_failed_value)},
    {TEST_CALL(item_of_failed_value)},
    {TEST_CALL(dataset_of_failed_value)},
    {TEST_CALL(missing_mnist)},
    {TEST_CALL(subset_of_failed_indices)},
    {TEST_CALL(loader_of_failed_weights)},
    {TEST_CALL(sample_that_fails)},
    {TEST_CALL(split_of_failing_samples)},
    {TEST_CALL(loop_over_failing_samples)},
    {TEST_CALL(loop_of_failing_workers)},
    {TEST_CALL(history_of_failed_value)},
    {TEST_CALL(plots_of_other_shapes)},
    {TEST_CALL(plot_of_failed_value)},
    {TEST_CALL(plot_to_missing_folder)},
    {TEST_CALL(events_below_a_file)},
    {TEST_CALL(image_of_another_format)},
    {TEST_CALL(image_in_missing_folder)},
    {TEST_CALL(image_of_failed_value)},
    {TEST_CALL(grid_of_two_dimensions)},
    {TEST_CALL(schedule_whose_factor_fails)},
    {TEST_CALL(schedule_of_an_infinite_rate)},
    {TEST_CALL(parameters_of_a_lazy_layer)},
    {TEST_CALL(module_to_missing_device)},
    {TEST_CALL(buffer_of_failed_value)},
    {TEST_CALL(module_cycle)},
    {TEST_CALL(in_place_through_a_view)},
    {TEST_CALL(copy_of_failed_value)},
    {TEST_CALL(addition_at_bad_index)},
    {TEST_CALL(backward_of_failed_value)},
    {TEST_CALL(backward_of_modified_value)},
    {TEST_CALL(gradient_of_unused_tensor)},
    {TEST_CALL(hook_on_constant)},
    {TEST_CALL(check_of_a_wrong_function)},
    {TEST_CALL(check_of_a_function_that_fails_later)},
    {TEST_CALL(function_without_result)},
    {TEST_CALL(replay_of_damaged_file)},
    {TEST_CALL(late_failure)},
    {TEST_CALL(reshape_to_another_count)},
    {TEST_CALL(expand_to_another_size)},
    {TEST_CALL(layer_norm_of_another_shape)},
    {TEST_CALL(forward_of_another_width)},
};
enum { CALLS = sizeof calls / sizeof *calls };

/* Makes a call in a scope that the handler leaves by longjmp. */
static void leave(void (*make)(void))
{
    wk_guard scope = wk_scope_open(WK_HERE);
    wk_set_error_handler(jump, NULL);
    if (!setjmp(back)) make();
    wk_set_error_handler(NULL, NULL);
    wk_guard_close(&scope);
    wk_clear_error();
}

static void write_files(const char *folder)
{
    WK_SCOPE;
    snprintf(at.file, sizeof at.file, "%s/other.safetensors", folder);
    snprintf(at.damaged, sizeof at.damaged, "%s/damaged.safetensors", folder);
    snprintf(at.missing_path, sizeof at.missing_path, "%s/no/such/folder", folder);
    assert_int_equal(wk_save(at.other, at.file), WK_OK);
    FILE *file = fopen(at.damaged, "w");
    assert_non_null(file);
    fputs("neither tensors nor a flush, but long enough for a header of some sort", file);
    fclose(file);
}

static void failing_calls_leak_nothing(void **state)
{
    enum { TIMES = 20 };
    (void)state;
    WK_SCOPE;
    at.x = wk_ones((4));
    at.leaf = wk_ones((4), .requires_grad = true);
    at.net = wk_nn_linear(3, 4), at.other = wk_nn_linear(2, 2), at.lazy = wk_nn_lazy_linear(3);
    at.parameters = wk_parameters(at.net);
    at.optim = wk_optim_sgd(at.parameters, .lr = 1);
    at.failed = wk_retain(wk_take(wk_arange(4), indices()));
    at.failed_float = wk_retain(wk_take(at.x, indices()));
    assert_int_equal(wk_flush(), WK_ERR_INDEX);
    wk_clear_error();
    write_files(alloc_faults_env.folder);
    for (int k = 0; k < CALLS; k++) {
        for (int warm = 0; warm < 3; warm++) leave(calls[k].make);
        const long long blocks = alloc_live_blocks();
        const int64_t bytes = live_bytes();
        const int files = open_files(), before = reports;
        for (int time = 0; time < TIMES; time++) leave(calls[k].make);
        if (reports - before != TIMES) fail_msg("%s: %d errors were reported", calls[k].name, reports - before);
        if (open_files() > files) fail_msg("%s: %d files stay open", calls[k].name, open_files() - files);
        if (live_bytes() > bytes + 4096)
            fail_msg("%s: %lld bytes of tensors leaked", calls[k].name, (long long)(live_bytes() - bytes));
        if (alloc_live_blocks() >= blocks + TIMES)
            fail_msg("%s: %lld blocks leaked", calls[k].name, alloc_live_blocks() - blocks);
        if (wk_requires_grad(wk_mul(at.leaf, 1)) != true || wk_item(wk_sum(at.x)) != 4)
            fail_msg("%s: nothing works afterwards", calls[k].name);
        expect_ok();
    }
    wk_free(at.failed), wk_free(at.failed_float);
}

/* ---- failures in functions that run at an object's end ----------------------------------------------------------- */

static void fail_at_an_end(void *context)
{
    (void)context;
    WK_SCOPE;
    wk_reshape(wk_ones((4)), (3));
}
static void fail_in_destroy(wk_module *m)
{
    fail_at_an_end(m);
}
static wk_tensor *fail_in_forward(wk_module *m, wk_tensor *x)
{
    fail_at_an_end(m);
    return x;
}
static const wk_module_kind destroyed_kind = {
    .size = sizeof destroyed_kind, .name = "destroyed", .forward1 = fail_in_forward, .destroy = fail_in_destroy};
static void run_in_destroy(wk_module *m)
{
    (void)m;
    WK_SCOPE;
    wk_forward(wk_module_new(&destroyed_kind), wk_ones((2)));
}
static void doubled(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    (void)f;
    out[0] = wk_mul(in[0], 2);
}

static float lent[4];
static wk_tensor *borrowed(void)
{
    return wk_borrow(lent, (4), fail_at_an_end, NULL);
}

static void free_lent_memory(void)
{
    wk_free(borrowed());
}
static void leave_the_scope_of_lent_memory(void)
{
    WK_SCOPE;
    borrowed();
}
static void free_a_module(void)
{
    wk_free(wk_module_new(&destroyed_kind));
}
static void free_a_module_that_runs_one(void)
{
    static const wk_module_kind kind = {.size = sizeof kind, .name = "running", .destroy = run_in_destroy};
    wk_free(wk_module_new(&kind));
}
static void free_a_function(void)
{
    static const wk_function_kind kind = {
        .size = sizeof kind, .name = "freed", .inputs = 1, .outputs = 1, .forward = doubled, .destroy = fail_at_an_end};
    wk_free(wk_apply(&kind, NULL, (at.leaf)));
}
static void set_another_gradient(void)
{
    {
        WK_SCOPE;
        wk_set_grad(at.leaf, borrowed());
    }
    wk_set_grad(at.leaf, NULL);
}

static const test_call ends[] = {
    {TEST_CALL(free_lent_memory)}, {TEST_CALL(leave_the_scope_of_lent_memory)},
    {TEST_CALL(free_a_module)},    {TEST_CALL(free_a_module_that_runs_one)},
    {TEST_CALL(free_a_function)},  {TEST_CALL(set_another_gradient)},
};

/* Handles and the objects behind them are slots of slabs, so that only many lost ones are visible. Debug builds never
 * reuse a handle: a round consumes the handles that it creates, at most six; a lost body, storage or value would add
 * more. */
#ifdef NDEBUG
enum { FEW = 100, MANY = 20000, SLABS = 2 };
#else
enum { FEW = 100, MANY = 20000, SLABS = 6 * 64 * MANY / WK__SLAB_BYTES };
#endif
static void failing_destructors_leak_nothing(void **state)
{
    (void)state;
    WK_SCOPE;
    at.leaf = wk_ones((4), .requires_grad = true);
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
        for (int time = 0; time < MANY; time++) leave(ends[k].make);
        const long long first = alloc_request_count();
        for (int time = 0; time < FEW; time++) leave(ends[k].make);
        const long long second = alloc_request_count(), blocks = alloc_live_blocks();
        const int before = reports;
        for (int time = 0; time < MANY; time++) leave(ends[k].make);
        const long long more = alloc_request_count() - second - (second - first) * (MANY / FEW);
        if (reports - before != MANY) fail_msg("%s: %d errors were reported", ends[k].name, reports - before);
        if (more > SLABS) fail_msg("%s: %lld slabs are used up", ends[k].name, more);
        if (alloc_live_blocks() > blocks + 2)
            fail_msg("%s: %lld blocks leaked", ends[k].name, alloc_live_blocks() - blocks);
        expect_ok();
    }
}

/* ---- memory exhaustion ------------------------------------------------------------------------------------------- */

static const scenario *running;
static volatile double figure;

static void run(void)
{
    figure = running->run(&alloc_faults_env);
}

/* Each allocation of a scenario fails in turn, and the handler leaves it. */
static void leave_each_request(const scenario *s)
{
    running = s;
    const double expected = s->run(&alloc_faults_env);
    for (int k = 0; k < 2; k++) leave(run);
    const long long blocks = alloc_live_blocks();
    const int64_t bytes = live_bytes();
    const int files = open_files();
    long long n = 1, runs = 0;
    for (bool met = true; met; n = alloc_faults_next(n, 150), runs++) {
        alloc_faults_arm(n, false);
        leave(run);
        met = alloc_fault_fired();
        alloc_faults_disarm();
        WK_SCOPE;
        if (s->run(&alloc_faults_env) != expected)
            fail_msg("%s, after request %lld: another result; %s", s->name, n, wk_error() ? wk_error() : "no error");
        if (live_bytes() > bytes || open_files() > files)
            fail_msg("%s, after request %lld: %lld bytes, %d files stay", s->name, n, (long long)(live_bytes() - bytes),
                     open_files() - files);
    }
    print_message("%-9s %5lld runs to request %lld, blocks %lld -> %lld\n", s->name, runs, n, blocks,
                  alloc_live_blocks());
    if (alloc_live_blocks() > blocks + 32 + runs / 4)
        fail_msg("%s: %lld blocks leaked", s->name, alloc_live_blocks() - blocks);
}

static void host_memory_exhaustion(void **state)
{
    (void)state;
    alloc_faults_env.device = wk_cpu();
    for (int k = 0; k < scenario_count; k++) {
        /* in `mistakes`, each error would leave the scenario; no scope owns results of wk_call */
        const char *name = scenarios[k].name;
        if (strcmp(name, "errors") != 0 && strcmp(name, "bindings") != 0) leave_each_request(&scenarios[k]);
    }
}

int main(void)
{
    alloc_faults_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failing_calls_leak_nothing),
        cmocka_unit_test(failing_destructors_leak_nothing),
        cmocka_unit_test(host_memory_exhaustion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
