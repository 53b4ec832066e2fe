/* SPDX-License-Identifier: Apache-2.0 */
/* Tests optimiser state in lists and files: training continues with the same bits, and invalid state is refused without
 * any change. */
#include "support/devices.h"

#include <fcntl.h>
#include <locale.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hostile/scratch.h"
#include <base/alloc.h>
#include <base/platform/file.h>
#include <optim/optim.h>

/* ---- trainings --------------------------------------------------------------------------------------------------- */

typedef struct training {
    wk_module *net;
    wk_optim *optim;
    wk_tensor *x, *y;
    int calls; /* counts calls of closure_that_saves */
} training;

typedef wk_optim *making(wk_tensors *list, double lr);

static wk_optim *sgd(wk_tensors *list, double lr)
{
    return wk_optim_sgd(list, .lr = lr);
}
static wk_optim *momentum(wk_tensors *list, double lr)
{
    return wk_optim_sgd(list, .lr = lr, .momentum = 0.9, .dampening = 0.1, .weight_decay = 0.01);
}
static wk_optim *nesterov(wk_tensors *list, double lr)
{
    return wk_optim_sgd(list, .lr = lr, .momentum = 0.8, .nesterov = true);
}
static wk_optim *adam(wk_tensors *list, double lr)
{
    return wk_optim_adam(list, .lr = lr);
}
static wk_optim *amsgrad(wk_tensors *list, double lr)
{
    return wk_optim_adam(list, .lr = lr, .amsgrad = true, .maximize = true);
}
static wk_optim *adamw(wk_tensors *list, double lr)
{
    return wk_optim_adamw(list, .lr = lr, .eps = 0);
}
static wk_optim *adagrad(wk_tensors *list, double lr)
{
    return wk_optim_adagrad(list, .lr = lr, .lr_decay = 0.1, .initial_accumulator_value = 0.25);
}
static wk_optim *rmsprop(wk_tensors *list, double lr)
{
    return wk_optim_rmsprop(list, .lr = lr, .momentum = 0.5, .centered = true);
}
static wk_optim *centered(wk_tensors *list, double lr)
{
    return wk_optim_rmsprop(list, .lr = lr, .centered = true);
}
static wk_optim *adadelta(wk_tensors *list, double lr)
{
    return wk_optim_adadelta(list, .lr = lr);
}
static wk_optim *nadam(wk_tensors *list, double lr)
{
    return wk_optim_nadam(list, .lr = lr, .weight_decay = 0.1, .decoupled_weight_decay = true);
}
static wk_optim *radam(wk_tensors *list, double lr)
{
    return wk_optim_radam(list, .lr = lr, .beta2 = 0.9);
}
static wk_optim *adamax(wk_tensors *list, double lr)
{
    return wk_optim_adamax(list, .lr = lr);
}
static wk_optim *asgd(wk_tensors *list, double lr)
{
    return wk_optim_asgd(list, .lr = lr, .t0 = -1);
}
static wk_optim *lamb(wk_tensors *list, double lr)
{
    return wk_optim_lamb(list, .lr = lr);
}
static wk_optim *lbfgs(wk_tensors *list, double lr)
{
    return wk_optim_lbfgs(list, .lr = lr, .max_iter = 3, .history_size = 4);
}
static wk_optim *wolfe(wk_tensors *list, double lr)
{
    return wk_optim_lbfgs(list, .lr = lr, .max_iter = 2, .line_search_fn = "strong_wolfe");
}
static making *const makings[] = {sgd,      momentum, nesterov, adam,   amsgrad, adamw, adagrad, rmsprop, centered,
                                  adadelta, nadam,    radam,    adamax, asgd,    lamb,  lbfgs,   wolfe};
enum { MAKINGS = sizeof makings / sizeof *makings };

static training begin(making *make, double lr, wk_device device, wk_dtype dtype)
{
    wk_seed(11);
    training t = {
        .net = wk_nn_sequential(wk_nn_linear(4, 5, .dtype = dtype), wk_nn_tanh(), wk_nn_linear(5, 2, .dtype = dtype))};
    t.x = wk_to(wk_randn((8, 4), .dtype = dtype), device);
    t.y = wk_to(wk_randn((8, 2), .dtype = dtype), device);
    wk_module_to(t.net, device);
    t.optim = make(wk_parameters(t.net), lr);
    expect_ok();
    return t;
}

static wk_tensor *closure(void *user)
{
    training *t = user;
    wk_optim_zero_grad(t->optim);
    wk_tensor *loss = wk_mse_loss(wk_forward(t->net, t->x), t->y);
    wk_backward(loss);
    return loss;
}

static void train(training *t, int steps)
{
    for (int k = 0; k < steps; k++) {
        WK_SCOPE;
        wk_optim_step_closure(t->optim, closure, t);
    }
    expect_ok();
}

static bool same_bits(wk_tensor *a, wk_tensor *b)
{
    double left[64] = {0}, right[64] = {0};
    const size_t bytes = (size_t)wk_numel(a) * wk_dtype_size(wk_dtype_of(a));
    assert_true(bytes <= sizeof left && wk_numel(a) == wk_numel(b) && wk_dtype_of(a) == wk_dtype_of(b));
    assert_int_equal(wk_read(a, (void *)left, bytes), WK_OK);
    assert_int_equal(wk_read(b, (void *)right, bytes), WK_OK);
    return memcmp(left, right, bytes) == 0;
}

/* Returns true if both lists have the same names and bits. */
static bool same(wk_tensors *a, wk_tensors *b)
{
    if (wk_tensors_count(a) != wk_tensors_count(b)) return false;
    for (int k = 0; k < wk_tensors_count(a); k++) {
        wk_tensor *other = wk_tensors_find(b, wk_tensors_name(a, k));
        if (!other || !same_bits(wk_tensors_get(a, k), other)) return false;
    }
    expect_ok();
    return true;
}

static void expect_same(const training *a, const training *b)
{
    assert_true(same(wk_parameters(a->net), wk_parameters(b->net)));
    assert_true(same(wk_optim_state(a->optim), wk_optim_state(b->optim)));
}

static const char *path_of(const char *name)
{
    static char path[300];
    snprintf(path, sizeof path, "%s", scratch(name));
    return path;
}

static void save(const training *t, const char *path)
{
    assert_int_equal(wk_save(t->net, scratch("net.safetensors")), WK_OK);
    assert_int_equal(wk_optim_save(t->optim, path), WK_OK);
}

static void load(const training *t, const char *path)
{
    assert_int_equal(wk_load(t->net, scratch("net.safetensors")), WK_OK);
    if (wk_optim_load(t->optim, path) != WK_OK) fail_msg("%s", wk_error());
}

/* Saves after each number of steps, and loads into a new optimiser and into a used one with another rate. */
static void expect_resumes(making *make, wk_device device, wk_dtype dtype, wk_device other)
{
    enum { STEPS = 4, MORE = 3 };
    const char *path = path_of("optim.safetensors");
    for (int steps = 0; steps <= STEPS; steps += steps < 2 ? 1 : 2) {
        WK_SCOPE;
        training whole = begin(make, 0.1, device, dtype), fresh = begin(make, 0.1, other, dtype),
                 used = begin(make, 0.7, device, dtype);
        train(&whole, steps);
        save(&whole, path);
        train(&used, 3);
        load(&fresh, path);
        load(&used, path);
        expect_same(&whole, &fresh);
        expect_same(&whole, &used);
        assert_true(wk_optim_lr(used.optim, 0) == 0.1);
        if (device.kind != other.kind) continue;
        train(&whole, MORE);
        train(&fresh, MORE);
        train(&used, MORE);
        expect_same(&whole, &fresh);
        expect_same(&whole, &used);
    }
}

static void a_training_continues(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        for (int k = 0; k < MAKINGS; k++) expect_resumes(makings[k], device, WK_F32, device);
    }
    for (int k = 0; k < MAKINGS; k++) expect_resumes(makings[k], wk_cpu(), WK_F64, wk_cpu());
}

static void from_one_device_to_another(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        if (device.kind == WK_CPU) continue;
        for (int k = 0; k < MAKINGS; k++) {
            expect_resumes(makings[k], wk_cpu(), WK_F32, device);
            expect_resumes(makings[k], device, WK_F32, wk_cpu());
        }
    }
}

/* Six steps, before the fourth of which the optimiser is replaced by one with the state of a file; step k of a schedule
 * or a new rate follows step k. */
static wk_tensor *six_steps(wk_optim *(*make)(wk_tensors *), wk_schedule *(*schedule_of)(wk_optim *))
{
    wk_tensor *p = wk_requires_grad_(wk_of(double, (3), 1, -2, 3), true), *slope = wk_of(double, (3), 0.5, -0.25, 1);
    wk_optim *optim = make(wk_list((p)));
    wk_schedule *schedule = schedule_of ? schedule_of(optim) : NULL;
    for (int k = 0; k < 6; k++) {
        if (k == 3) {
            assert_int_equal(wk_optim_save(optim, scratch("six.safetensors")), WK_OK);
            optim = make(wk_list((p)));
            schedule = schedule_of ? schedule_of(optim) : NULL;
            assert_int_equal(wk_optim_load(optim, scratch("six.safetensors")), WK_OK);
        }
        if (k == 3 && !schedule) assert_int_equal(wk_optim_set_lr(optim, -1, 0.02), WK_OK);
        WK_NO_GRAD;
        assert_int_equal(wk_set_grad(p, wk_add(wk_mul(slope, k + 1), wk_mul(p, 0.1))), WK_OK);
        assert_int_equal(wk_optim_step(optim), WK_OK);
        if (schedule) assert_int_equal(wk_schedule_step(schedule), WK_OK);
    }
    return p;
}

static wk_optim *asgd_with_decay(wk_tensors *list)
{
    return wk_optim_asgd(list, .lr = 0.1, .lambd = 0.5, .t0 = 2);
}

static wk_optim *fast_nadam(wk_tensors *list)
{
    return wk_optim_nadam(list, .lr = 0.1);
}

static wk_schedule *cycle(wk_optim *optim)
{
    return wk_schedule_one_cycle(optim, 0.1, 7);
}

/* The next rate of asgd and the product of nadam's momenta depend on the options of earlier steps. */
static void numbers_of_earlier_steps(void **state)
{
    (void)state;
    WK_SCOPE;
    EXPECT_VALUES(six_steps(asgd_with_decay, NULL), 1e-7, 0.2366703413164, -1.277411266498, 1.246058079859);
    EXPECT_VALUES(six_steps(fast_nadam, cycle), 1e-7, 0.6920941793191, -1.703368195497, 2.693980039703);
}

/* State of f16 parameters is f32; it is on the device that the parameter had at the last step. */
static void half_floats_and_moves(void **state)
{
    (void)state;
    WK_SCOPE;
    const char *path = path_of("half.safetensors");
    wk_tensor *a = wk_requires_grad_(wk_to_dtype(wk_of(float, (3), 1, 2, 3), WK_F16), true);
    wk_optim *optim = wk_optim_adam(wk_list((a)), .lr = 0.1);
    wk_set_grad(a, wk_to_dtype(wk_of(float, (3), 1, 2, 3), WK_F16));
    assert_int_equal(wk_optim_step(optim), WK_OK);
    assert_int_equal(wk_optim_save(optim, path), WK_OK);
    assert_int_equal(wk_dtype_of(wk_tensors_find(wk_optim_state(optim), "0.exp_avg")), WK_F32);
    assert_int_equal(wk_optim_load(optim, path), WK_OK);
    wk_module *net = wk_nn_linear(2, 2);
    wk_optim *moved = wk_optim_adam(wk_parameters(net));
    wk_backward(wk_sum(wk_forward(net, wk_ones((1, 2)))));
    assert_int_equal(wk_optim_step(moved), WK_OK);
    wk_module_to(net, test_null());
    assert_int_equal(wk_optim_save(moved, path), WK_OK);
    assert_int_equal(wk_optim_load(moved, path), WK_OK);
    assert_int_equal(wk_device_of(wk_tensors_find(wk_optim_state(moved), "weight.exp_avg")).kind, WK_NULL);
    expect_ok();
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static void expect_names(wk_optim *optim, int count, const char *const *names)
{
    wk_tensors *list = wk_optim_state(optim);
    expect_ok();
    assert_int_equal(wk_tensors_count(list), count);
    for (int k = 0; k < count; k++)
        if (!wk_tensors_find(list, names[k])) fail_msg("missing %s", names[k]);
}
#define EXPECT_NAMES(optim, ...)                                                                                       \
    expect_names(optim, (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)),                            \
                 (const char *const[]){__VA_ARGS__})

static void names_equal_those_of_pytorch(void **state)
{
    (void)state;
    WK_SCOPE;
    for (int k = 0; k < MAKINGS; k++) {
        training t = begin(makings[k], 0.1, wk_cpu(), WK_F32);
        if (makings[k] != lbfgs && makings[k] != wolfe)
            EXPECT_NAMES(t.optim, "0.weight.step", "0.bias.step", "2.weight.step", "2.bias.step");
        else
            EXPECT_NAMES(t.optim, "n_iter");
    }
    wk_tensor *a = wk_requires_grad_(wk_ones((2)), true), *b = wk_requires_grad_(wk_ones((3)), true),
              *frozen = wk_ones((1));
    for (int k = 0; k < MAKINGS; k++) {
        wk_optim *optim = makings[k](wk_list((a, frozen, b)), 0.1);
        if (makings[k] == lbfgs || makings[k] == wolfe) continue;
        wk_set_grad(a, wk_ones((2)));
        wk_set_grad(b, NULL);
        assert_int_equal(wk_optim_step(optim), WK_OK);
        const bool buffer = makings[k] == momentum || makings[k] == nesterov;
        if (makings[k] == sgd) EXPECT_NAMES(optim, "0.step", "1.step", "2.step");
        if (buffer) EXPECT_NAMES(optim, "0.step", "0.momentum_buffer", "1.step", "2.step");
        if (makings[k] == adam || makings[k] == adamw || makings[k] == radam || makings[k] == lamb)
            EXPECT_NAMES(optim, "0.step", "0.exp_avg", "0.exp_avg_sq", "1.step", "2.step");
        if (makings[k] == amsgrad)
            EXPECT_NAMES(optim, "0.step", "0.exp_avg", "0.exp_avg_sq", "0.max_exp_avg_sq", "1.step", "2.step");
        if (makings[k] == rmsprop)
            EXPECT_NAMES(optim, "0.step", "0.square_avg", "0.momentum_buffer", "0.grad_avg", "1.step", "2.step");
        if (makings[k] == centered) EXPECT_NAMES(optim, "0.step", "0.square_avg", "0.grad_avg", "1.step", "2.step");
        if (makings[k] == adadelta) EXPECT_NAMES(optim, "0.step", "0.square_avg", "0.acc_delta", "1.step", "2.step");
        if (makings[k] == adamax) EXPECT_NAMES(optim, "0.step", "0.exp_avg", "0.exp_inf", "1.step", "2.step");
        if (makings[k] == nadam)
            EXPECT_NAMES(optim, "0.step", "0.exp_avg", "0.exp_avg_sq", "0.mu_product", "1.step", "2.step");
        if (makings[k] == asgd) EXPECT_NAMES(optim, "0.step", "0.ax", "0.eta", "0.mu", "1.step", "2.step");
        if (makings[k] == adagrad) EXPECT_NAMES(optim, "0.step", "0.sum", "1.step", "2.step");
        wk_tensors *list = wk_optim_state(optim);
        assert_int_equal(wk_item_i64(wk_tensors_find(list, "0.step")), 1);
        assert_int_equal(wk_item_i64(wk_tensors_find(list, "2.step")), 0);
    }
    training t = begin(lbfgs, 0.1, wk_cpu(), WK_F32);
    train(&t, 1);
    EXPECT_NAMES(t.optim, "n_iter", "ro", "t", "H_diag", "d", "prev_flat_grad", "old_dirs.0", "old_stps.0");
    train(&t, 1);
    EXPECT_NAMES(t.optim, "n_iter", "ro", "t", "H_diag", "d", "prev_flat_grad", "old_dirs.0", "old_stps.0",
                 "old_dirs.1", "old_stps.1", "old_dirs.2", "old_stps.2");
}

/* A list is a snapshot: later steps do not change it. */
static void a_list_is_a_snapshot(void **state)
{
    (void)state;
    WK_SCOPE;
    training t = begin(adam, 0.1, wk_cpu(), WK_F32);
    train(&t, 1);
    wk_tensors *list = wk_optim_state(t.optim);
    wk_tensor *mean = wk_tensors_find(list, "0.weight.exp_avg"), *before = wk_clone(mean);
    wk_sync();
    train(&t, 2);
    assert_true(same_bits(mean, before));
    assert_int_equal(wk_item_i64(wk_tensors_find(list, "0.weight.step")), 1);
    assert_false(same(list, wk_optim_state(t.optim)));
}

static wk_optim *two_groups(wk_tensor *a, wk_tensor *b, double lr)
{
    wk_optim *optim = wk_optim_sgd(wk_list((a)), .lr = lr, .momentum = 0.5);
    wk_optim_add_group(optim, wk_list((b)), .lr = 2 * lr, .momentum = 0.25);
    return optim;
}

/* Both are "0" in their lists. */
static void groups(void **state)
{
    (void)state;
    WK_SCOPE;
    const char *path = path_of("groups.safetensors");
    wk_tensor *a = wk_requires_grad_(wk_ones((2)), true), *b = wk_requires_grad_(wk_ones((3)), true);
    wk_optim *optim = two_groups(a, b, 0.1), *again = two_groups(a, b, 3);
    wk_set_grad(a, wk_ones((2)));
    wk_set_grad(b, wk_ones((3)));
    wk_optim_set_lr(optim, 1, 0.3);
    assert_int_equal(wk_optim_step(optim), WK_OK);
    EXPECT_NAMES(optim, "0.step", "0.momentum_buffer", "0@1.step", "0@1.momentum_buffer");
    assert_int_equal(wk_optim_save(optim, path), WK_OK);
    assert_int_equal(wk_optim_load(again, path), WK_OK);
    assert_true(wk_optim_lr(again, 0) == 0.1 && wk_optim_lr(again, 1) == 0.3);
    assert_true(same(wk_optim_state(optim), wk_optim_state(again)));
    const wk_optim_sgd_options *second = wk__optim_of(again)->group[1].options;
    assert_true(second->momentum == 0.25);
    wk_tensor *more = wk_requires_grad_(wk_ones((1)), true);
    assert_int_equal(wk_optim_add_group(again, wk_list((more))), WK_OK); /* its arrays can still grow */
    assert_int_equal(wk_optim_load(again, path), WK_ERR_ARGUMENT);
    expect_error("optim_load", "2 parameter groups", "the optimiser has 3", NULL);
}

/* ---- options ----------------------------------------------------------------------------------------------------- */

/* Exact in any locale: values that need 17 digits, the smallest and the largest. */
static void options_are_exact(void **state)
{
    (void)state;
    WK_SCOPE;
    static const double rates[] = {0,     0.1, 0.30000000000000004, 1e-3, 1.0 / 3, 5e-324, 2.2250738585072009e-308,
                                   1e308, 7};
    const char *path = path_of("options.safetensors");
    wk_tensor *a = wk_requires_grad_(wk_ones((2)), true);
    wk_optim *one = wk_optim_sgd(wk_list((a)), .dampening = -0.1), *other = wk_optim_sgd(wk_list((a)));
    for (size_t k = 0; k < sizeof rates / sizeof *rates; k++) {
        setlocale(LC_ALL, k % 2 ? "de_DE.UTF-8" : "C");
        assert_int_equal(wk_optim_set_lr(one, 0, rates[k]), WK_OK);
        assert_int_equal(wk_optim_save(one, path), WK_OK);
        if (wk_optim_load(other, path) != WK_OK) fail_msg("%s", wk_error());
        const double lr = wk_optim_lr(other, 0);
        assert_memory_equal(&lr, &rates[k], sizeof lr);
    }
    setlocale(LC_ALL, "C");
    const wk_optim_sgd_options *now = wk__optim_of(other)->group[0].options;
    assert_true(now->dampening == -0.1 && now->momentum == 0 && !now->nesterov);
}

/* Momentum, amsgrad and line searches follow the options of the file, and so does their state. */
static void options_come_from_the_file(void **state)
{
    (void)state;
    static making *const kinds[][2] = {{sgd, momentum}, {momentum, nesterov}, {adam, amsgrad}, {lbfgs, wolfe}};
    const char *path = path_of("kinds.safetensors");
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int turn = 0; turn < 2; turn++) {
            WK_SCOPE;
            training one = begin(kinds[k][turn], 0.1, wk_cpu(), WK_F32),
                     other = begin(kinds[k][!turn], 0.2, wk_cpu(), WK_F32);
            train(&one, 2);
            train(&other, 3);
            save(&one, path);
            load(&other, path);
            expect_same(&one, &other);
            train(&one, 2);
            train(&other, 2);
            expect_same(&one, &other);
        }
}

/* ---- refused files ----------------------------------------------------------------------------------------------- */

static char *read_file(const char *path, int64_t *bytes)
{
    wk__io_error error;
    wk__file file;
    assert_int_equal(wk__file_open(&file, path, &error), WK_OK);
    char *data = malloc((size_t)file.bytes + 1);
    assert_int_equal(wk__file_read_at(&file, 0, data, file.bytes, &error), WK_OK);
    *bytes = file.bytes;
    wk__file_close(&file);
    return data;
}

static void write_file(const char *path, const char *data, int64_t bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, (size_t)bytes), bytes);
    close(fd);
}

/* Writes the file with `from` replaced by `to` of the same length. */
static const char *edited(const char *path, const char *from, const char *to)
{
    static char changed[310];
    int64_t bytes;
    char *data = read_file(path, &bytes), *at = memmem(data, (size_t)bytes, from, strlen(from));
    assert_non_null(at);
    assert_int_equal(strlen(from), strlen(to));
    memcpy(at, to, strlen(to));
    snprintf(changed, sizeof changed, "%s.edited", path);
    write_file(changed, data, bytes);
    free(data);
    return changed;
}

static void refuses(training *t, const char *path, wk_code code, const char *first, const char *second)
{
    WK_SCOPE;
    wk_tensors *before = wk_optim_state(t->optim);
    const double lr = wk_optim_lr(t->optim, 0);
    assert_int_equal(wk_optim_load(t->optim, path), code);
    expect_error("optim/state.c:", "optim_load: ", first, second, NULL);
    assert_true(same(before, wk_optim_state(t->optim)));
    assert_true(wk_optim_lr(t->optim, 0) == lr);
}

static void another_optimiser(void **state)
{
    (void)state;
    WK_SCOPE;
    const char *path = path_of("another.safetensors");
    training one = begin(adam, 0.1, wk_cpu(), WK_F32), other = begin(adamw, 0.1, wk_cpu(), WK_F32),
             wide = begin(adam, 0.1, wk_cpu(), WK_F64), line = begin(lbfgs, 0.1, wk_cpu(), WK_F32),
             line64 = begin(lbfgs, 0.1, wk_cpu(), WK_F64);
    train(&one, 1);
    train(&other, 1);
    train(&line, 1);
    assert_int_equal(wk_optim_save(one.optim, path), WK_OK);
    refuses(&other, path, WK_ERR_ARGUMENT, "the file holds the state of adam", "the optimiser is adamw");
    refuses(&wide, path, WK_ERR_DTYPE, "is f64[5,4] in the optimiser", "f32[5,4] in the file");
    training part = one;
    part.optim = adam(wk_list((wk_module_parameter(one.net, "0.weight"))), 0.1);
    refuses(&part, path, WK_ERR_ARGUMENT, "parameter 0 of group 0 is \"0\"", "\"0.weight\" in the file");
    wk_tensors *list = wk_tensors_new();
    for (int k = 0; k < 3; k++)
        wk_tensors_add(list, wk_tensors_name(wk_parameters(one.net), k), wk_tensors_get(wk_parameters(one.net), k));
    part.optim = adam(list, 0.1);
    refuses(&part, path, WK_ERR_ARGUMENT, "parameter 3 of group 0 is missing", "\"2.bias\" in the file");
    wk_tensors_add(list, "2.bias", wk_requires_grad_(wk_ones((3)), true));
    part.optim = adam(list, 0.1);
    refuses(&part, path, WK_ERR_SHAPE, "\"2.bias.exp_avg\" is f32[3] in the optimiser", "f32[2] in the file");
    refuses(&one, scratch("missing"), WK_ERR_IO, "missing", "No such file");
    refuses(&one, source_file("README.md"), WK_ERR_FORMAT, "README.md", "");
    refuses(&one, scratch("net.safetensors"), WK_ERR_FORMAT, "not an optimiser state file", "");
    assert_int_equal(wk_optim_save(line.optim, path), WK_OK);
    refuses(&line64, path, WK_ERR_DTYPE, "in the optimiser", "f32[37] in the file");
    refuses(&one, path, WK_ERR_ARGUMENT, "the state of lbfgs", "adam");
    assert_int_not_equal(wk_optim_load(one.optim, NULL), WK_OK);
    expect_error("optim_load", "NULL", NULL);
    assert_int_not_equal(wk_optim_load(NULL, path), WK_OK);
    expect_error("optim_load", "NULL", NULL);
    assert_int_not_equal(wk_optim_save(one.optim, NULL), WK_OK);
    expect_error("optim_save", "NULL", NULL);
    assert_null(wk_optim_state(NULL));
    expect_error("optim_state", "NULL", NULL);
}

static void invalid_option_texts(void **state)
{
    (void)state;
    WK_SCOPE;
    static const struct {
        making *make;
        const char *from, *to;
        wk_code code;
        const char *first, *second;
    } edits[] = {
        {adam, "\"optim.0.lr\":\"0.1\"", "\"optim.0.lr\":\"-.1\"", WK_ERR_ARGUMENT, ".lr", "at least 0"},
        {adam, "\"optim.0.lr\":\"0.1\"", "\"optim.0.lr\":\"nan\"", WK_ERR_ARGUMENT, ".lr", "at least 0"},
        {adam, "\"optim.0.lr\":\"0.1\"", "\"optim.0.lr\":\"inf\"", WK_ERR_ARGUMENT, ".lr", "at least 0"},
        {adam, "\"optim.0.lr\":\"0.1\"", "\"optim.0.lr\":\"0.x\"", WK_ERR_FORMAT, "optim.0.lr is 0.x", ""},
        {adam, "\"optim.0.lr\":\"0.1\"", "\"optim.0.lr\":\" .1\"", WK_ERR_FORMAT, "optim.0.lr is  .1", ""},
        {adam, "\"optim.0.lr\":\"0.1\"", "\"optim.0.ls\":\"0.1\"", WK_ERR_FORMAT, "optim.0.lr is missing", ""},
        {adam, "\"optim.0.beta1\":\"0.9\"", "\"optim.0.beta1\":\"1.0\"", WK_ERR_ARGUMENT, ".beta1", "[0, 1)"},
        {adam, "\"optim.0.amsgrad\":\"false\"", "\"optim.0.amsgrad\":\"False\"", WK_ERR_FORMAT, "amsgrad is False", ""},
        {adam, "\"optim.0.amsgrad\":\"false\"", "\"optim.0.amsgrad\":\"true\" ", WK_ERR_SHAPE, "max_exp_avg_sq", ""},
        {adam, "\"optim.groups\":\"1\"", "\"optim.groups\":\"2\"", WK_ERR_ARGUMENT, "the file has 2 parameter groups",
         "has 1"},
        {adam, "\"optim\":\"adam\"", "\"optim\":\"adum\"", WK_ERR_ARGUMENT, "state of adum", "is adam"},
        {adam, "2.bias.step", "2.bias.stop", WK_ERR_SHAPE, "missing \"2.bias.step\"", "i64[]"},
        {adam, "2.bias.exp_avg_sq", "2.bias.exp_avg_sr", WK_ERR_SHAPE, "missing \"2.bias.exp_avg_sq\"", "f32[2]"},
        {nesterov, "\"optim.0.momentum\":\"0.8\"", "\"optim.0.momentum\":\"0.0\"", WK_ERR_ARGUMENT, ".nesterov", ""},
        {lbfgs, "\"optim.0.history_size\":\"4\"", "\"optim.0.history_size\":\"0\"", WK_ERR_FORMAT, "history_size is 0",
         ""},
        {lbfgs, "\"optim.0.history_size\":\"4\"", "\"optim.0.history_size\":\"1\"", WK_ERR_FORMAT, "3 saved pairs",
         ".history_size 1"},
        {lbfgs, "\"optim.0.max_iter\":\"3\"", "\"optim.0.max_iter\":\"x\"", WK_ERR_FORMAT, "max_iter is x", ""},
        {wolfe, "\"strong_wolfe\"", "\"strong_walfe\"", WK_ERR_ARGUMENT, "strong_walfe", ""},
        {lbfgs, "prev_flat_grad", "prev_flat_gred", WK_ERR_SHAPE, "missing \"prev_flat_grad\"", ""},
        {lbfgs, "old_stps.1", "old_stps.7", WK_ERR_SHAPE, "missing \"old_stps.1\"", ""},
        {lbfgs, "\"n_iter\"", "\"n_ider\"", WK_ERR_SHAPE, "missing \"n_iter\"", ""},
    };
    for (size_t k = 0; k < sizeof edits / sizeof *edits; k++) {
        training t = begin(edits[k].make, 0.1, wk_cpu(), WK_F32);
        train(&t, 2);
        const char *path = path_of("texts.safetensors");
        assert_int_equal(wk_optim_save(t.optim, path), WK_OK);
        refuses(&t, edited(path, edits[k].from, edits[k].to), edits[k].code, edits[k].first, edits[k].second);
    }
}

/* Unexpected tensors, and a negative step. */
static void unexpected_tensors(void **state)
{
    (void)state;
    WK_SCOPE;
    const char *path = path_of("many.safetensors");
    training t = begin(adam, 0.1, wk_cpu(), WK_F32);
    train(&t, 1);
    assert_int_equal(wk_optim_save(t.optim, path), WK_OK);
    int64_t bytes;
    char *data = read_file(path, &bytes);
    uint64_t header;
    memcpy(&header, data, sizeof header); /* the steps are the first tensors, because large dtypes come first */
    data[8 + header] = 0;
    write_file(path, data, bytes);
    refuses(&t, path, WK_ERR_SHAPE, "unexpected tensor \"0.bias.exp_avg\"", "has none of that name");
    memset(data + 8 + header, 0xff, 8);
    write_file(path, data, bytes);
    refuses(&t, path, WK_ERR_FORMAT, "0.bias.step is negative", "");
    free(data);
}

/* The first call precedes the step, when the optimiser is in a consistent state. */
static wk_tensor *closure_that_saves(void *user)
{
    training *t = user;
    const char *path = path_of("before.safetensors");
    if (t->calls++ == 0) {
        assert_int_equal(wk_optim_save(t->optim, path), WK_OK);
        return closure(user);
    }
    assert_int_equal(wk_optim_save(t->optim, scratch("inside.safetensors")), WK_ERR_STATE);
    expect_error("optim_save", "inside an lbfgs closure", NULL);
    assert_int_equal(access(scratch("inside.safetensors"), F_OK), -1);
    assert_int_equal(wk_optim_load(t->optim, path), WK_ERR_STATE);
    expect_error("optim_load", "inside an lbfgs closure", NULL);
    return closure(user);
}

static void within_a_step(void **state)
{
    (void)state;
    WK_SCOPE;
    training t = begin(lbfgs, 0.1, wk_cpu(), WK_F32), other = begin(lbfgs, 0.1, wk_cpu(), WK_F32);
    unlink(scratch("inside.safetensors"));
    train(&t, 1);
    train(&other, 2);
    wk_optim_step_closure(t.optim, closure_that_saves, &t);
    assert_in_range(t.calls, 2, 100);
    expect_same(&t, &other);
}

static void a_step_that_failed_does_not_count(void **state)
{
    (void)state;
    WK_SCOPE;
    const char *path = path_of("failed.safetensors");
    wk_tensor *a = wk_requires_grad_(wk_ones((4)), true), *y = wk_ones((4)), *places = wk_of(int64_t, (4), 0, 1, 2, 9);
    wk_optim *optim = wk_optim_adam(wk_list((a)), .lr = 1);
    unlink(path);
    wk_set_grad(a, wk_ones((4)));
    assert_int_equal(wk_optim_step(optim), WK_OK);
    wk_sync();
    wk_tensors *before = wk_optim_state(optim);
    wk_set_grad(a, wk_index_select(y, 0, wk_add(places, 0)));
    assert_int_equal(wk_optim_step(optim), WK_OK);
    assert_int_equal(wk_optim_save(optim, path), WK_ERR_INDEX); /* runs it, and leaves no file */
    expect_error("9", NULL);
    assert_int_equal(access(path, F_OK), -1);
    assert_true(same(before, wk_optim_state(optim)));
    assert_int_equal(wk_optim_save(optim, path), WK_OK);
    wk_reshape(y, (3));
    assert_int_equal(wk_optim_save(optim, path), WK_ERR_SHAPE); /* an error is pending */
    expect_error("reshape", NULL);
    assert_int_equal(wk_optim_load(optim, path), WK_OK);
    assert_true(same(before, wk_optim_state(optim)));
}

/* ---- allocation failures ----------------------------------------------------------------------------------------- */

/* Each allocation fails in turn: the optimiser has the old or the new state, and the file is complete. */
static void without_memory(void **state)
{
    (void)state;
    static making *const kinds[] = {amsgrad, lbfgs};
    const char *path = path_of("memory.safetensors");
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        WK_SCOPE;
        training t = begin(kinds[k], 0.1, wk_cpu(), WK_F32), other = begin(kinds[k], 0.2, wk_cpu(), WK_F32);
        train(&t, 2);
        train(&other, 1);
        assert_int_equal(wk_optim_save(t.optim, path), WK_OK);
        wk_tensors *new = wk_optim_state(t.optim);
        bool failed = true;
        for (int64_t n = 1; failed; n++) {
            WK_SCOPE;
            wk_tensors *old = wk_optim_state(other.optim);
            wk__alloc_fail_at(n);
            const wk_code saved = wk_optim_save(t.optim, path), loaded = wk_optim_load(other.optim, path);
            failed = wk_error() != NULL;
            wk__alloc_fail_at(0);
            if (saved != WK_OK || loaded != WK_OK) assert_true(failed);
            wk_clear_error();
            wk_tensors *now = wk_optim_state(other.optim);
            assert_true(same(now, loaded == WK_OK ? new : old));
            assert_true(n < 5000);
            if (loaded == WK_OK) train(&other, 1);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_training_continues),
        cmocka_unit_test(from_one_device_to_another),
        cmocka_unit_test(numbers_of_earlier_steps),
        cmocka_unit_test(half_floats_and_moves),
        cmocka_unit_test(names_equal_those_of_pytorch),
        cmocka_unit_test(a_list_is_a_snapshot),
        cmocka_unit_test(groups),
        cmocka_unit_test(options_are_exact),
        cmocka_unit_test(options_come_from_the_file),
        cmocka_unit_test(another_optimiser),
        cmocka_unit_test(invalid_option_texts),
        cmocka_unit_test(unexpected_tensors),
        cmocka_unit_test(within_a_step),
        cmocka_unit_test_setup_teardown(a_step_that_failed_does_not_count, test_default_mode, test_restore_mode),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
