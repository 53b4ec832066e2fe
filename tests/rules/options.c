/* SPDX-License-Identifier: Apache-2.0 */
/* Tests rule 32 of docs/contributing/invariants.md: explicit options count even if 0, 0 in a struct means the default,
 * and structs of other versions are accepted. check_options tests that the compiler rejects values without names. */
#include "support/wick.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <sys/stat.h>

#include "hostile/scratch.h"

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* Options omitted or explicit in a call, including an explicit 0. */
static void explicit_options_count(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (4), -1, 2, 4, 9), *minus = wk_of(double, (1), -2),
              *one = wk_ones((1), .dtype = WK_F64), *bad = wk_of(double, (2), INFINITY, -INFINITY);
    EXPECT_VALUES(wk_leaky_relu(minus), 1e-12, -0.02);
    EXPECT_VALUES(wk_leaky_relu(minus, .negative_slope = 0), 0, -0.0);
    EXPECT_VALUES(wk_leaky_relu(minus, .negative_slope = -0.0), 0, -0.0);
    EXPECT_VALUES(wk_leaky_relu(minus, .negative_slope = 1e-295), 0, -0.0);
    EXPECT_VALUES(wk_leaky_relu(minus, .negative_slope = 1e-280), 1e-279, -2e-280);
    EXPECT_VALUES(wk_elu(minus, .alpha = 0), 0, -0.0);
    EXPECT_VALUES(wk_softshrink(minus), 0, -1.5);
    EXPECT_VALUES(wk_softshrink(minus, .lambd = 0), 0, -2);
    EXPECT_VALUES(wk_hardshrink(wk_mul(minus, 0.125), .lambd = 0), 0, -0.25);
    EXPECT_VALUES(wk_rrelu(minus), 1e-12, -2 * (0.125 + 1.0 / 3) / 2);
    EXPECT_VALUES(wk_rrelu(minus, .lower = 0, .upper = 0), 0, -0.0);
    assert_null(wk_celu(minus, .alpha = 0)); /* 0 is neither valid nor the default */
    expect_error("celu: .alpha must not be 0", NULL);
    EXPECT_VALUES(wk_hardtanh(minus), 0, -1);
    EXPECT_VALUES(wk_hardtanh(minus, .min_val = 0), 0, 0);
    EXPECT_VALUES(wk_hardtanh(one, .max_val = 0), 0, 0);
    EXPECT_VALUES(wk_softplus(wk_ones((1)), .threshold = 0), 0, 1);
    EXPECT_VALUES(wk_nan_to_num(bad, .posinf = 0, .neginf = 0), 0, 0, 0);
    EXPECT_VALUES(wk_var(x, (0)), 1e-9, 53.0 / 3);
    EXPECT_VALUES(wk_var(x, (0), .correction = 0), 1e-9, 53.0 / 4);
    EXPECT_VALUES(wk_std(x, .correction = 2), 1e-9, sqrt(53.0 / 2));
    EXPECT_VALUES(wk_norm(x, (0)), 1e-12, sqrt(102));
    EXPECT_VALUES(wk_norm(x, .p = 0), 0, 4);
    EXPECT_VALUES(wk_dist(one, minus, .p = 0), 0, 1);
    EXPECT_VALUES(wk_smooth_l1_loss(one, minus), 0, 2.5);
    EXPECT_VALUES(wk_smooth_l1_loss(one, minus, .beta = 0), 0, 3);
    EXPECT_VALUES(wk_pairwise_distance(one, minus), 1e-5, 3);
    EXPECT_VALUES(wk_pairwise_distance(one, minus, .p = 0, .eps = 0), 0, 1);
    EXPECT_VALUES(wk_multi_margin_loss(x, wk_zeros((), .dtype = WK_I64), .margin = 0), 0, 18.0 / 4);
    EXPECT_VALUES(wk_huber_loss(one, minus), 0, 2.5);
    assert_null(wk_huber_loss(one, minus, .delta = 0)); /* 0 is neither a valid delta nor the default */
    expect_error("huber_loss: .delta must be greater than 0, got 0", NULL);
    EXPECT_VALUES(wk_addcmul(one, one, one), 0, 2);
    EXPECT_VALUES(wk_addcmul(one, one, one, .value = 0), 0, 1);
    EXPECT_VALUES(wk_addmm(wk_ones((1, 1)), wk_ones((1, 1)), wk_ones((1, 1))), 0, 2);
    EXPECT_VALUES(wk_addmm(wk_ones((1, 1)), wk_ones((1, 1)), wk_ones((1, 1)), .beta = 0, .alpha = 3), 0, 3);
    EXPECT_VALUES(wk_init_xavier_uniform_(wk_ones((1, 1)), .gain = 0), 0, 0);
    EXPECT_VALUES(wk_layer_norm(wk_of(double, (2), -1e-9, 1e-9), (2), NULL, NULL, 0), 1e-12, -1, 1);
    EXPECT_VALUES(wk_layer_norm(wk_of(double, (2), -1e-9, 1e-9), (2), NULL, NULL), 1e-6, 0, 0);
    wk_module *norm = wk_nn_layer_norm((2), .eps = 0, .dtype = WK_F64);
    EXPECT_VALUES(wk_forward(norm, wk_of(double, (2), -1e-9, 1e-9)), 1e-12, -1, 1);
    wk_tensor *zero = wk_zeros((2), .dtype = WK_F64);
    assert_true(isnan(wk_item(wk_cosine_similarity(zero, zero, 0, .eps = 0))));
    EXPECT_VALUES(wk_cosine_similarity(zero, zero, 0), 0, 0);
    wk_tensor *logits = wk_zeros((2, 2)), *labels = wk_of(int64_t, (2), 0, 1);
    EXPECT_VALUES(wk_cross_entropy(logits, labels, .reduction = WK_REDUCE_SUM, .ignore_index = 0), 1e-6, log(2));
    EXPECT_VALUES(wk_cross_entropy(logits, labels, .reduction = WK_REDUCE_SUM), 1e-6, 2 * log(2));
    wk_history *history = wk_history_new();
    wk_history_add(history, one), wk_history_add(history, minus, .weight = 0);
    assert_true(wk_history_mean(history) == 1);
}

static double after_a_step(wk_optim *optim, wk_tensor *x)
{
    assert_int_equal(wk_optim_zero_grad(optim), WK_OK);
    assert_int_equal(wk_backward(wk_sum(x)), WK_OK);
    assert_int_equal(wk_optim_step(optim), WK_OK);
    return wk_item(x);
}

static void an_explicit_0_reaches_the_optimiser(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((1), .dtype = WK_F64, .requires_grad = true), *y = wk_detach(wk_clone(x));
    wk_requires_grad_(y, true);
    wk_optim *still = wk_optim_adamw(wk_list((x)), .lr = 0);
    assert_true(wk_optim_lr(still, 0) == 0 && after_a_step(still, x) == 1);
    wk_optim *plain = wk_optim_adamw(wk_list((x)), .lr = 0.5, .weight_decay = 0, .beta1 = 0, .beta2 = 0, .eps = 0);
    assert_true(after_a_step(plain, x) == 0.5);
    wk_optim *usual = wk_optim_adamw(wk_list((x)), .lr = 0.5);
    assert_true(fabs(after_a_step(usual, x) - (0.5 * (1 - 0.5 * 0.01) - 0.5)) < 1e-7);

    /* a group omits options to inherit the optimiser's, and sets 0 to disable one */
    wk_optim *sgd = wk_optim_sgd(wk_list((x)), .lr = 1, .momentum = 0.5);
    assert_int_equal(wk_optim_add_group(sgd, wk_list((y)), .momentum = 0), WK_OK);
    double first = wk_item(wk_add(y, 0));
    for (int k = 0; k < 2; k++) {
        WK_SCOPE;
        wk_optim_zero_grad(sgd), wk_backward(wk_sum(wk_add(x, y))), wk_optim_step(sgd);
    }
    assert_true(wk_item(y) == first - 2);
}

static void options_of_another_optimiser(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensors *list = wk_list((wk_ones((1), .requires_grad = true)));
    wk_tensors *more = wk_list((wk_ones((1), .requires_grad = true)));
    wk_optim *adam = wk_optim_adam(list), *sgd = wk_optim_sgd(list, .lr = 1, .momentum = 0.5);
    wk_optim *adagrad = wk_optim_adagrad(list);
    assert_int_equal(wk_optim_add_group(adam, more, .momentum = 0.9), WK_ERR_ARGUMENT);
    expect_error("optim_add_group: unknown option .momentum for adam; available: .lr, .beta1, ", NULL);
    assert_int_equal(wk_optim_add_group(adam, more, .nesterov = true), WK_ERR_ARGUMENT);
    expect_error("optim_add_group: unknown option .nesterov for adam", ".amsgrad and .maximize", NULL);
    assert_int_equal(wk_optim_add_group(sgd, more, .beta1 = 0.5), WK_ERR_ARGUMENT);
    expect_error("optim_add_group: unknown option .beta1 for sgd; available: .lr, .momentum, ", NULL);
    assert_int_equal(wk_optim_add_group(adagrad, more, .amsgrad = true), WK_ERR_ARGUMENT);
    expect_error("optim_add_group: unknown option .amsgrad for adagrad", ".initial_accumulator_value, .eps and", NULL);
    assert_int_equal(wk_optim_add_group(adagrad, more, .beta2 = 0), WK_ERR_ARGUMENT); /* an explicit 0 counts */
    expect_error("optim_add_group: unknown option .beta2 for adagrad", NULL);
    assert_int_equal(wk_optim_group_count(adam) + wk_optim_group_count(sgd) + wk_optim_group_count(adagrad), 3);
}

/* Reserved members of an optimiser's options must be 0, so each gap between members is checked. */
#define EXPECT_RESERVED(kind)                                                                                          \
    do {                                                                                                               \
        wk_optim_##kind##_options given = {.size = sizeof given, .lr = 1};                                             \
        for (size_t k = 0; k < sizeof given.reserved; k++) {                                                           \
            given.reserved[k] = 1;                                                                                     \
            assert_null(wk_optim_##kind##_at(WK_HERE, list, &given));                                                  \
            assert_int_equal(wk_error_code(), WK_ERR_UNSUPPORTED);                                                     \
            expect_error("optim_" #kind ": .reserved of the options is not 0", "initialise with {.size", NULL);        \
            given.reserved[k] = 0;                                                                                     \
        }                                                                                                              \
        given.maximize = true;                                                                                         \
        assert_non_null(wk_optim_##kind##_at(WK_HERE, list, &given));                                                  \
    } while (0)

static void reserved_members_must_be_0(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensors *list = wk_list((wk_ones((1), .requires_grad = true)));
    EXPECT_RESERVED(sgd);
    EXPECT_RESERVED(adam);
    EXPECT_RESERVED(adamw);
    EXPECT_RESERVED(adagrad);
    EXPECT_RESERVED(rmsprop);
    EXPECT_RESERVED(adadelta);
    EXPECT_RESERVED(nadam);
    EXPECT_RESERVED(radam);
    EXPECT_RESERVED(adamax);
    EXPECT_RESERVED(asgd);
    EXPECT_RESERVED(lamb);
    EXPECT_RESERVED(lbfgs);
    assert_non_null(wk_optim_lbfgs(list, .lr = 0.5, .max_iter = 3, .max_eval = 4, .tolerance_grad = 1e-3,
                                   .tolerance_change = 1e-4, .history_size = 5, .line_search_fn = "strong_wolfe"));
    wk_optim_group_options group = {.size = sizeof group, .reserved = {1}};
    assert_int_equal(wk_optim_add_group_at(WK_HERE, wk_optim_sgd(list, .lr = 1), list, &group), WK_ERR_UNSUPPORTED);
    expect_error("optim_add_group: .reserved of the options is not 0", NULL);
}

/* In a struct 0 is the default; WK_EXPLICIT_ZERO and any value below 1e-290 in magnitude mean 0. */
static void zero_is_the_default_and_explicit_zero_is_0(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *minus = wk_of(double, (1), -2);
    wk_leaky_relu_options relu = {.size = sizeof relu};
    EXPECT_VALUES(wk_leaky_relu_at(WK_HERE, minus, NULL), 1e-12, -0.02);
    EXPECT_VALUES(wk_leaky_relu_at(WK_HERE, minus, &relu), 1e-12, -0.02);
    const double tiny[] = {WK_EXPLICIT_ZERO, -WK_EXPLICIT_ZERO, 1e-295};
    for (int k = 0; k < 3; k++) {
        relu.negative_slope = tiny[k];
        EXPECT_VALUES(wk_leaky_relu_at(WK_HERE, minus, &relu), 0, -0.0);
    }
    EXPECT_VALUES(wk_leaky_relu(minus, .negative_slope = WK_EXPLICIT_ZERO), 0, -0.0);
}

/* ---- structs of other versions ----------------------------------------------------------------------------------- */

static wk_tensor *x, *y, *square, *leaf; /* operands of `worked` */

static bool binding(const void *o)
{
    wk_value in = wk_value_of_tensor(x), out = {0};
    int count = 1;
    if (wk_call(NULL, "exp", &in, 1, &out, &count, o, NULL, 0) != WK_OK) return false;
    wk_free(out.tensor);
    return true;
}

static wk_tensor *same(wk_tensor *grad, void *user)
{
    (void)user;
    return grad;
}

/* Returns a folder with a training set of one black digit, which is a 0. */
static const char *one_digit(void)
{
    static const unsigned char images[16 + 28 * 28] = {0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 28, 0, 0, 0, 28},
                                                labels[9] = {0, 0, 8, 1, 0, 0, 0, 1, 0};
    static char folder[300];
    snprintf(folder, sizeof folder, "%s", scratch("options-mnist"));
    assert_true(mkdir(folder, 0777) == 0 || errno == EEXIST);
    for (int k = 0; k < 2; k++) {
        char path[400];
        snprintf(path, sizeof path, "%s/train-%s-ubyte", folder, k == 0 ? "images-idx3" : "labels-idx1");
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(k == 0 ? images : labels, k == 0 ? sizeof images : sizeof labels, 1, file), 1);
        fclose(file);
    }
    return folder;
}

static bool loaded(const void *o)
{
    wk_module *m = wk_nn_linear(2, 2);
    const bool saved = wk_save(m, scratch("options.safetensors")) == WK_OK;
    return saved && wk_load_at(WK_HERE, m, scratch("options.safetensors"), o) == WK_OK;
}

/* The null device has no elements, so that large networks cost little. */
static bool vision_transformer(const void *o)
{
    WK_DEVICE(test_null());
    return wk_nn_vit_at(WK_HERE, o);
}

static bool bert(const void *o)
{
    WK_DEVICE(test_null());
    return wk_nn_bert_at(WK_HERE, o);
}

static bool called_bert(const void *o)
{
    wk_module *m = wk_nn_bert(.vocab_size = 4, .hidden_size = 2, .num_hidden_layers = 1, .num_attention_heads = 1,
                              .intermediate_size = 2, .max_position_embeddings = 2);
    return wk_forward_bert_at(WK_HERE, m, wk_zeros((1, 2), .dtype = WK_I64), o);
}

static bool loaded_bert(const void *o)
{
    put_below(scratch("."), "/vocab.txt", "[UNK]\n[CLS]\n[SEP]\na\n");
    return wk_text_load_bert_at(WK_HERE, scratch("vocab.txt"), o);
}

/* Returns a module with a layer that gets an adapter by default. */
static wk_module *with_query(void)
{
    wk_module *m = wk_nn_sequential();
    wk_module_add(m, "query", wk_nn_linear(2, 2));
    return m;
}

enum { BINDING = 160, CALLS };

/* Makes a call that takes options with the given ones. Returns true on success. */
static bool worked(int call, const void *o)
{
    const wk_site at = WK_HERE;
    const int64_t shape[] = {2};
    wk_tensors *list = wk_list((leaf));
    wk_tensor *out[1], *in[1] = {leaf}, *loss[1] = {wk_sum(leaf)};
    wk_dataset *part[1];
    wk_text *letters = wk_text_chars_of("abc");
    wk_tensor *ids = wk_text_ids(letters);
    switch (call) {
    case 0: return wk_empty_at(at, shape, 1, o);
    case 1: return wk_rand_at(at, shape, 1, o);
    case 2: return wk_randint_at(at, 0, 9, shape, 1, o);
    case 3: return wk_randperm_at(at, 3, o);
    case 4: return wk_arange_i64_at(at, 3, o);
    case 5: return wk_linspace_at(at, 0, 1, 3, o);
    case 6: return wk_eye_at(at, 3, o);
    case 7: return wk_zeros_like_at(at, x, o);
    case 8: return wk_randn_like_at(at, x, o);
    case 9: return wk_from_on_at(at, WK_I64, shape, sizeof shape, shape, 0, o);
    case 10: return wk_from_strided_at(at, WK_I64, shape, shape, shape, 0, o);
    case 11: return wk_div_rounded_at(at, wk_value_of_tensor(x), wk_value_of_int(2), o);
    case 12: return wk_round_at(at, x, o);
    case 13: return wk_leaky_relu_at(at, x, o);
    case 14: return wk_elu_at(at, x, o);
    case 15: return wk_gelu_at(at, x, o);
    case 16: return wk_softplus_at(at, x, o);
    case 17: return wk_hardtanh_at(at, x, o);
    case 18: return wk_nan_to_num_at(at, x, o);
    case 19: return wk_addcmul_at(at, x, x, x, o);
    case 20: return wk_addmm_at(at, square, square, square, o);
    case 21: return wk_multinomial_at(at, x, 1, o);
    case 22: return wk_sum_at(at, x, NULL, -1, o);
    case 23: return wk_mean_at(at, x, NULL, -1, o);
    case 24: return wk_amax_at(at, x, NULL, -1, o);
    case 25: return wk_all_at(at, x, NULL, -1, o);
    case 26: return wk_logsumexp_at(at, x, NULL, -1, o);
    case 27: return wk_argmax_at(at, x, NULL, -1, o);
    case 28: return wk_var_at(at, x, NULL, -1, o);
    case 29: return wk_norm_at(at, x, NULL, -1, o);
    case 30: return wk_dist_at(at, x, y, o);
    case 31: return wk_cosine_similarity_at(at, x, y, 0, o);
    case 32: return wk_unique_at(at, x, o);
    case 33: return wk_isin_at(at, x, y, o);
    case 34: return wk_mse_loss_at(at, x, y, o);
    case 35: return wk_smooth_l1_loss_at(at, x, y, o);
    case 36: return wk_huber_loss_at(at, x, y, o);
    case 37: return wk_binary_cross_entropy_at(at, y, y, o);
    case 38: return wk_binary_cross_entropy_with_logits_at(at, x, y, o);
    case 39: return wk_kl_div_at(at, x, y, o);
    case 40: return wk_cross_entropy_at(at, x, y, o);
    case 41: return wk_nn_linear_at(at, 2, 2, o);
    case 42: return wk_nn_lazy_linear_at(at, 2, o);
    case 43: return wk_nn_layer_norm_at(at, shape, 1, o);
    case 44: return wk_nn_embedding_at(at, 2, 2, o);
    case 45: return wk_init_xavier_uniform__at(at, square, o);
    case 46: return wk_init_kaiming_normal__at(at, square, o);
    case 47: return wk_optim_sgd_at(at, list, o);
    case 48: return wk_optim_adamw_at(at, list, o);
    case 49: return wk_data_loader_at(at, wk_data_tensors(x, NULL), o);
    case 50: return wk_history_add_at(at, wk_history_new(), loss[0], o) == WK_OK;
    case 51: return wk_backward_at(at, loss[0], o) == WK_OK;
    case 52: return wk_register_hook_at(at, leaf, same, NULL, o) == WK_OK;
    case 53: return wk_grad_at(at, loss, 1, in, 1, out, o) == WK_OK;
    case 54: return wk_optim_adagrad_at(at, list, o);
    case 55: return wk_optim_lbfgs_at(at, list, o);
    case 56: return wk_optim_add_group_at(at, wk_optim_sgd(list), wk_list((wk_zeros_like(leaf))), o) == WK_OK;
    case 57: return wk_celu_at(at, x, o);
    case 58: return wk_softshrink_at(at, x, o);
    case 59: return wk_hardshrink_at(at, x, o);
    case 60: return wk_rrelu_at(at, x, o);
    case 61: return wk_schedule_step_lr_at(at, wk_optim_sgd(list), 2, o);
    case 62: return wk_schedule_one_cycle_at(at, wk_optim_adam(list), 1, 9, o);
    case 63: return wk_schedule_cyclic_lr_at(at, wk_optim_adam(list), 1, 2, o);
    case 64: return wk_schedule_reduce_lr_on_plateau_at(at, wk_optim_sgd(list), o);
    case 65: return wk_progress_new_at(at, "bar", 2, o);
    case 66: return wk_nn_activation_at(at, "elu", o);
    case 67: return wk_nn_activation_at(at, "gelu", o);
    case 68: return wk_nn_activation_at(at, "prelu", o);
    case 69: return wk_nn_activation_at(at, "relu", o);
    case 70: return wk_pairwise_distance_at(at, x, y, o);
    case 71: return wk_margin_ranking_loss_at(at, x, y, x, o);
    case 72: return wk_poisson_nll_loss_at(at, x, y, o);
    case 73: return wk_gaussian_nll_loss_at(at, x, y, y, o);
    case 74: return wk_multi_margin_loss_at(at, square, wk_zeros((2), .dtype = WK_I64), o);
    case 75: return wk_cosine_embedding_loss_at(at, x, y, wk_ones(()), o);
    case 76: return wk_triplet_margin_loss_at(at, x, y, x, o);
    case 77: return wk_optim_rmsprop_at(at, list, o);
    case 78: return wk_optim_adadelta_at(at, list, o);
    case 79: return wk_optim_nadam_at(at, list, o);
    case 80: return wk_optim_radam_at(at, list, o);
    case 81: return wk_optim_adamax_at(at, list, o);
    case 82: return wk_optim_asgd_at(at, list, o);
    case 83: return wk_optim_lamb_at(at, list, o);
    case 84: return wk_clip_grad_norm__at(at, list, 1, o);
    case 85: return wk_data_map_at(at, wk_data_tensors(x, NULL), same, NULL, o);
    case 86: return wk_data_random_split_at(at, wk_data_tensors(x, NULL), (const double[]){2}, 1, part, o) == WK_OK;
    case 87: return wk_schedule_multi_step_lr_at(at, wk_optim_sgd(list), shape, 1, o);
    case 88: return wk_schedule_constant_lr_at(at, wk_optim_sgd(list), o);
    case 89: return wk_schedule_linear_lr_at(at, wk_optim_sgd(list), o);
    case 90: return wk_schedule_polynomial_lr_at(at, wk_optim_sgd(list), o);
    case 91: return wk_schedule_cosine_annealing_lr_at(at, wk_optim_sgd(list), 2, o);
    case 92: return wk_schedule_cosine_annealing_warm_restarts_at(at, wk_optim_sgd(list), 2, o);
    case 93: return wk_nn_conv1d_at(at, 1, 1, 1, o);
    case 94: return wk_nn_conv_transpose1d_at(at, 1, 1, 1, o);
    case 95: return wk_conv1d_at(at, wk_ones((1, 1, 1)), wk_ones((1, 1, 1)), NULL, o);
    case 96: return wk_conv_transpose1d_at(at, wk_ones((1, 1, 1)), wk_ones((1, 1, 1)), NULL, o);
    case 97: return wk_max_pool1d_at(at, wk_ones((1, 1, 1)), 1, o);
    case 98: return wk_avg_pool1d_at(at, wk_ones((1, 1, 1)), 1, o);
    case 99: return wk_pad_at(at, x, shape, 0, o);
    case 100: return wk_nn_batch_norm1d_at(at, 2, o);
    case 101: return wk_plot_new_at(at, o);
    case 102: return wk_plot_history_at(at, wk_plot_new(), NULL, wk_history_new(), o) == WK_OK;
    case 103: return wk_nn_gru_at(at, 2, 2, o);
    case 104: return wk_nn_gru_cell_at(at, 2, 2, o);
    case 105: return wk_rnn_forward_at(at, wk_nn_rnn(2, 2), wk_ones((1, 1, 2)), o);
    case 106: return wk_pack_padded_sequence_at(at, wk_ones((1, 1, 2)), wk_ones((1), .dtype = WK_I64), o);
    case 107:
        return wk_pad_packed_sequence_at(at, wk_pack_padded_sequence(wk_ones((1, 1, 2)), wk_ones((1), .dtype = WK_I64)),
                                         o);
    case 108:
        return wk_rnn_forward_packed_at(at, wk_nn_rnn(2, 2),
                                        wk_pack_padded_sequence(wk_ones((1, 1, 2)), wk_ones((1), .dtype = WK_I64)), o);
    case 109: return wk_text_chars_of_at(at, "abc", o);
    case 110: return wk_text_words_of_at(at, "abc", o);
    case 111: return wk_text_bpe_train_of_at(at, "abc", 256, o);
    case 112: return wk_text_encode_at(at, letters, "abc", o);
    case 113: return wk_text_encode_file_at(at, letters, scratch("letters.txt"), o);
    case 114: return wk_text_decode_at(at, letters, ids, o);
    case 115: return wk_text_windows_at(at, ids, 1, o);
    case 116: return wk_text_pad_at(at, &ids, 1, o);
    case 117: return wk_text_order_at(at, ids, 1, o);
    case 118: return wk_text_chars_at(at, scratch("letters.txt"), o);
    case 119: return wk_text_encode_lines_at(at, letters, "abc", o);
    case 120: return wk_data_mnist_at(at, one_digit(), o);
    case 121: return wk_data_fashion_mnist_at(at, one_digit(), o);
    case 122: return wk_optim_adam_at(at, list, o);
    case 123: return wk_save_at(at, wk_nn_linear(2, 2), scratch("options.safetensors"), o) == WK_OK;
    case 124: return loaded(o);
    case 125: return wk_image_grid_at(at, wk_ones((1, 1, 2, 2)), o);
    case 126: return wk_logit_at(at, y, o);
    case 127: return wk_adaptive_max_pool1d_at(at, wk_ones((1, 1, 2)), 1, o);
    case 128: return wk_lp_pool1d_at(at, wk_ones((1, 1, 2)), 2, 1, o);
    case 129: return wk_max_unpool1d_at(at, wk_ones((1, 1, 1)), wk_zeros((1, 1, 1), .dtype = WK_I64), 2, o);
    case 130: return wk_affine_grid_at(at, wk_ones((1, 2, 3)), (const int64_t[]){1, 1, 2, 2}, 4, o);
    case 131: return wk_grid_sample_at(at, wk_ones((1, 1, 2, 2)), wk_ones((1, 1, 1, 2)), o);
    case 132: return wk_im2col_at(at, wk_ones((1, 1, 2, 2)), 1, o);
    case 133: return wk_nn_max_pool1d_at(at, 2, o);
    case 134: return wk_nn_adaptive_max_pool1d_at(at, 2, o);
    case 135: return wk_nn_lp_pool1d_at(at, 2, 2, o);
    case 136: return wk_nn_max_unpool1d_at(at, 2, o);
    case 137: return wk_nn_unfold_at(at, 2, o);
    case 138: return wk_nn_upsample_at(at, 2, o);
    case 139: return wk_nn_group_norm_at(at, 1, 2, o);
    case 140: return wk_nn_instance_norm1d_at(at, 2, o);
    case 141: return wk_nn_rms_norm_at(at, shape, 1, o);
    case 142: return wk_nn_local_response_norm_at(at, 2, o);
    case 143: return wk_nn_lenet_at(at, o);
    case 144: return vision_transformer(o);
    case 145: return bert(o);
    case 146: return called_bert(o);
    case 147: return wk_sinusoidal_positions_at(at, 2, 2, o);
    case 148: return wk_alibi_slopes_at(at, 2, o);
    case 149: return wk_alibi_bias_at(at, 2, 2, 2, o);
    case 150: return wk_process_logits_at(at, square, o);
    case 151: return wk_generate_at(at, wk_nn_embedding(2, 2), wk_zeros((1, 1), .dtype = WK_I64), o);
    case 152: return wk_generate_text_at(at, wk_nn_embedding(3, 3), letters, "a", o);
    case 153: return wk_nn_lora_at(at, with_query(), o);
    case 154: return loaded_bert(o);
    case 155: return wk_quantize_at(at, wk_ones((32)), o);
    case 156: return wk_dequantize_at(at, wk_zeros((34), .dtype = WK_U8), o);
    case 157: return wk_quantized_linear_at(at, wk_ones((1, 32)), wk_zeros((2, 34), .dtype = WK_U8), NULL, o);
    case 158: return wk_nn_quantized_linear_at(at, 32, 2, o);
    case 159: return wk_module_quantize_at(at, wk_nn_sequential(wk_nn_linear(32, 2)), o);
    case BINDING: return binding(o);
    default: return false;
    }
}

/* Returns a struct of `size` bytes that states this size; 0 except for its last byte. Memory after it is not
 * readable. */
static const void *struct_of(size_t size, char last)
{
    static struct {
        size_t size;
        const void *by_name;
        char rest[4096];
    } bytes;
    memset(&bytes, 0x55, sizeof bytes);
    if (size <= sizeof bytes) memset(&bytes, 0, size);
    bytes.size = size;
    if (size > sizeof size && size <= sizeof bytes) ((char *)&bytes)[size - 1] = last;
    return &bytes;
}

static void expect_code(int call, wk_code code, const char *word)
{
    if (wk_error_code() != code || (word && !strstr(wk_error(), word)))
        fail_msg("call %d: %s instead of code %d", call, wk_error() ? wk_error() : "no error", (int)code);
    wk_clear_error();
}

static void options_of_other_versions(void **state)
{
    (void)state;
    WK_SCOPE;
    x = wk_of(float, (2), 0.25, 0.75), y = wk_of(float, (2), 0.5, 0.5), square = wk_ones((2, 2));
    leaf = wk_ones((2), .requires_grad = true);
    const size_t head = offsetof(wk_elu_options, alpha);
    put_below(scratch("."), "/letters.txt", "abc");
    for (int call = 0; call < CALLS; call++) {
        WK_SCOPE;
        if (!worked(call, NULL)) fail_msg("call %d: %s", call, wk_error() ? wk_error() : "false");
        if (!worked(call, struct_of(head, 0))) fail_msg("call %d, short: %s", call, wk_error() ? wk_error() : "false");
        if (!worked(call, struct_of(512, 0))) fail_msg("call %d, long: %s", call, wk_error() ? wk_error() : "false");
        /* wk_call returns the message instead of setting the thread's error; see below */
        if (call == BINDING) continue;
        assert_false(worked(call, struct_of(512, 1)));
        expect_code(call, WK_ERR_UNSUPPORTED, "does not support");
        assert_false(worked(call, struct_of(0, 0)));
        expect_code(call, WK_ERR_ARGUMENT, ".size");
        assert_false(worked(call, struct_of(head - 1, 0)));
        expect_code(call, WK_ERR_ARGUMENT, ".size");
        assert_false(worked(call, struct_of((size_t)1 << 40, 0)));
        expect_code(call, WK_ERR_ARGUMENT, ".size");
        assert_false(worked(call, struct_of(head, 1)));
        expect_code(call, WK_ERR_ARGUMENT, "be named");
    }
    wk_value in = wk_value_of_tensor(x), out = {0};
    int count = 1;
    char message[200];
    assert_int_equal(wk_call(NULL, "exp", &in, 1, &out, &count, struct_of(512, 1), message, sizeof message),
                     WK_ERR_UNSUPPORTED);
    assert_non_null(strstr(message, "does not support"));
}

/* Members known to both versions are copied; missing ones have their defaults. */
static void a_short_struct_sets_its_members(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_softplus_options o = {.size = offsetof(wk_softplus_options, threshold), .beta = 2, .threshold = -1};
    EXPECT_VALUES(wk_softplus_at(WK_HERE, wk_ones((1), .dtype = WK_F64), &o), 1e-12, log1p(exp(2)) / 2);
    struct {
        wk_softplus_options o;
        double later;
    } later = {{.size = sizeof later, .beta = 2, .threshold = 1e-9}, 0};
    EXPECT_VALUES(wk_softplus_at(WK_HERE, wk_ones((1), .dtype = WK_F64), &later.o), 0, 1);
}

/* Output structs are filled as far as their size allows, and zeroed beyond the members that the library knows. */
static void output_structs_of_other_versions(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *held = wk_add(wk_ones((100)), 1);
    assert_non_null(wk_data(held)); /* stored */
    union {
        wk_memory_stats memory;
        wk_op op;
        wk_device_properties device;
        wk_transfer_counters transfers;
        wk_setting setting;
        size_t size;
        char bytes[1024];
    } out;
    for (int call = 0; call < 5; call++) {
        const size_t sizes[] = {0, sizeof(size_t), 16, 1024};
        for (int k = 0; k < 4; k++) {
            memset(&out, 0x55, sizeof out);
            out.size = sizes[k];
            wk_code code = call == 0   ? wk_memory_stats_of(wk_cpu(), &out.memory)
                           : call == 1 ? wk_op_info(0, &out.op)
                           : call == 2 ? wk_device_get_properties(wk_cpu(), &out.device)
                           : call == 3 ? wk_setting_info(0, &out.setting)
                                       : wk_transfer_stats(&out.transfers);
            assert_int_equal(code, k < 2 ? WK_ERR_ARGUMENT : WK_OK);
            if (k < 2) expect_error("set .size = sizeof(wk_", NULL);
            assert_true(out.size == sizes[k]);
            if (k < 3) assert_int_equal(out.bytes[16], 0x55);
            assert_int_equal(out.bytes[1023], k < 3 ? 0x55 : 0);
            if (call == 0 && k >= 2) assert_true(out.memory.live >= 400);
            if (call == 1 && k >= 2) assert_string_equal(out.op.name, "abs");
        }
    }
    assert_int_equal(wk_transfer_stats(NULL), WK_ERR_ARGUMENT);
    expect_error("wk_transfer_counters", NULL);
    assert_true(wk_item(wk_sum(held)) == 200);
}

/* ---- kinds ------------------------------------------------------------------------------------------------------- */

static void forward(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    (void)f;
    out[0] = wk_mul(in[0], 2);
}

static void backward(wk_function *f, wk_tensor *const grad_out[], wk_tensor *grad_in[])
{
    (void)f;
    grad_in[0] = wk_mul(grad_out[0], 2);
}

static void must_not_run(void *context)
{
    (void)context;
    fail_msg("a member beyond the end was read");
}

/* A kind is copied by the call: it may be shorter, longer, and freed before backward. */
static void kinds_of_other_versions(void **state)
{
    (void)state;
    WK_SCOPE;
    struct {
        wk_function_kind kind;
        void *later;
    } of = {{sizeof of, "twice", 1, 1, forward, backward, NULL}, NULL};
    wk_tensor *at = wk_ones((1), .requires_grad = true), *out = wk_apply(&of.kind, NULL, (at));
    assert_non_null(out);
    of.kind.size = offsetof(wk_function_kind, destroy), of.kind.destroy = must_not_run;
    wk_tensor *again = wk_apply(&of.kind, NULL, (at));
    of.later = &of, of.kind.size = sizeof of;
    assert_null(wk_apply(&of.kind, NULL, (at)));
    expect_code(0, WK_ERR_UNSUPPORTED, "does not support");
    of.kind.size = 0;
    assert_null(wk_apply(&of.kind, NULL, (at)));
    expect_error(".size", NULL);
    memset(&of, 0x55, sizeof of);
    assert_int_equal(wk_backward(wk_add(out, again)), WK_OK);
    EXPECT_VALUES(wk_grad_of(at), 0, 4);

    struct {
        wk_module_kind kind;
        void *later;
    } module = {{.size = sizeof module, .name = "later"}, NULL};
    assert_non_null(wk_module_new(&module.kind));
    module.later = &module;
    assert_null(wk_module_new(&module.kind));
    expect_code(1, WK_ERR_UNSUPPORTED, "does not support");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(explicit_options_count),
        cmocka_unit_test(an_explicit_0_reaches_the_optimiser),
        cmocka_unit_test(zero_is_the_default_and_explicit_zero_is_0),
        cmocka_unit_test(options_of_other_versions),
        cmocka_unit_test(a_short_struct_sets_its_members),
        cmocka_unit_test(output_structs_of_other_versions),
        cmocka_unit_test(kinds_of_other_versions),
        cmocka_unit_test(options_of_another_optimiser),
        cmocka_unit_test(reserved_members_must_be_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
