/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles every form of call in C: parenthesised lists, keyword arguments, numbers for tensors, guards. The one-letter
 * macros, as a program may define them, must not disturb the headers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define A 1024
#define B 1024
#define C 1024
#define D 1024
#define E 1024
#define F 1024
#define G 1024
#define H 1024
#define I 1024
#define J 1024
#define K 1024
#define L 1024
#define M 1024
#define N 1024
#define O 1024
#define P 1024
#define Q 1024
#define R 1024
#define S 1024
#define T 1024
#define U 1024
#define V 1024
#define W 1024
#define X 1024
#define Y 1024
#define Z 1024
#define _ 1024

#include <wick.h>

static void apply_forward(wk_function *function, wk_tensor *const in[], wk_tensor *out[])
{
    wk_function_save(function, in[0]);
    out[0] = wk_exp(in[0]);
}

static wk_tensor *checked(wk_tensor *const in[], void *context)
{
    (void)context;
    return wk_square(in[0]);
}

static wk_tensor *making(wk_device device)
{
    WK_DEVICE(device);
    const int64_t two[] = {1, 2};
    wk_tensor *made[] = {wk_empty((2, 3)),
                         wk_zeros(()),
                         wk_ones((N), .dtype = WK_F64),
                         wk_full((2, 2), 7),
                         wk_full((2, 2), 0.5, .device = device, .requires_grad = true),
                         wk_rand((2)),
                         wk_randn((2), .device = device),
                         wk_randint(0, 10, (3)),
                         wk_randint(0, 10, (3), .device = device),
                         wk_randperm(5),
                         wk_arange(5),
                         wk_arange(2.5, .dtype = WK_F32),
                         wk_arange_from(0, 1, 0.1),
                         wk_linspace(-1, 1, 3),
                         wk_eye(3, .dtype = WK_I64),
                         wk_of(float, (2, 2), 1, 2, 3, 4),
                         wk_of(bool, (2), true, false),
                         wk_from((int64_t *)(uintptr_t)two, (2)),
                         wk_arange(0, N, 2, .dtype = WK_F32),
                         wk_of(double, (2), 1, .5, .requires_grad = true, .device = device),
                         wk_from(two, (2), .dtype = WK_F32),
                         wk_from_strided(two, (2), (1), .dtype = WK_F32),
                         wk_zeros(WK_ARRAY(two, 2), .dtype = WK_F64)};
    wk_tensor *like[] = {wk_zeros_like(made[0]),     wk_ones_like(made[0], .dtype = WK_I32),
                         wk_full_like(made[0], 2.0), wk_rand_like(made[0]),
                         wk_randn_like(made[0]),     wk_empty_like(made[0])};
    return wk_keep(wk_add(made[sizeof made / sizeof *made - 1], like[0]));
}

static wk_tensor *computing(wk_tensor *x)
{
    const wk_tensor *unused = wk_add(wk_mul(wk_sub(1, x), 2.5), wk_div(x, (int8_t)3));
    (void)unused;
    wk_add_(wk_mul_(wk_clone(x), 2), x);
    wk_fill_(wk_clone(x), 1), wk_fill_(wk_clone(x), 0.5), wk_copy_(wk_clone(x), x), wk_zero_(wk_clone(x));
    x = wk_where(wk_gt(x, 0), x, 0.0);
    x = wk_clamp(x, WK_NONE, 1);
    x = wk_lerp(x, x, 0.5);
    x = wk_masked_fill(x, wk_lt(x, 0), -INFINITY);
    x = wk_addcmul(x, x, x), x = wk_addcdiv(x, x, x, .value = 2);
    x = wk_gelu(x, .approximate = WK_GELU_TANH), x = wk_leaky_relu(x), x = wk_elu(x, .alpha = 2);
    x = wk_sum(x), x = wk_sum(x, (0)), x = wk_sum(x, (), .keepdim = true), x = wk_mean(x, (0, 1), .dtype = WK_F64);
    x = wk_mean(x, .dtype = WK_F64), x = wk_sum(x, .keepdim = true, .dtype = WK_F64), x = wk_std(x, .correction = 0);
    x = wk_argmax(x), x = wk_argmax(x, 0), x = wk_argmax(x, 0, .keepdim = true),
    x = wk_var(x, (0), .correction = WK_EXPLICIT_ZERO), x = wk_var(x, (0), .correction = 0);
    x = wk_norm(x, (0), .p = 1), x = wk_softmax(x, -1), x = wk_cumsum(x, 0), x = wk_layer_norm(x, (3), NULL, NULL),
    x = wk_layer_norm(x, (3), NULL, NULL, 0);
    x = wk_matmul(x, x), x = wk_linear(x, x, NULL), x = wk_addmm(x, x, x, .beta = 2);
    x = wk_einsum("ij,jk->ik", (x, x)), x = wk_tensordot(x, x, 1), x = wk_tensordot(x, x, (0, 1), (1, 0));
    x = wk_kron(x, x), x = wk_cross(x, x), x = wk_cross(x, x, -1), x = wk_cdist(x, x), x = wk_cdist(x, x, .p = 1);
    x = wk_nansum(x), x = wk_nanmean(x, (0), .keepdim = true), x = wk_isclose(x, x, .rtol = 0), x = wk_trace(x);
    if (wk_equal(x, x) && wk_allclose(x, x) && wk_allclose(x, x, .equal_nan = true)) x = wk_rot90(x, 1, (0, 1));
    x = wk_cross_entropy(x, x, .reduction = WK_REDUCE_SUM), x = wk_mse_loss(x, x);
    return x;
}

static int shaping(wk_tensor *x)
{
    wk_tensor *out[8];
    x = wk_reshape(x, (2, -1)), x = wk_flatten(x), x = wk_flatten(x, 1), x = wk_flatten(x, 0, 1);
    x = wk_expand(x, (2, 3)), x = wk_squeeze(x), x = wk_squeeze(x, 0), x = wk_unsqueeze(x, 0),
    x = wk_transpose(x, 0, 1);
    x = wk_permute(x, (1, 0)), x = wk_slice(x, 0, 1, 5), x = wk_slice(x, 0, 1, 5, 2), x = wk_narrow(x, 0, 0, 1);
    if (wk_meshgrid((x, x), out) + wk_meshgrid((x, x), out, .indexing = "xy")) x = wk_diag_embed(x, 1);
    x = wk_diagonal(x), x = wk_diagonal(x, 1, 0, 1), x = wk_tril(x), x = wk_triu(x, 1), x = wk_unfold(x, 0, 2, 1);
    x = wk_cat((x, x), 0), x = wk_stack((x, x, x), 0), x = wk_repeat(x, (2, 2)), x = wk_flip(x, (0)),
    x = wk_roll(x, (1), (0)), x = wk_as_strided(x, (2, 2), (1, 0)), x = wk_as_strided(x, (2), (1), 1);
    x = wk_get(x, (1)), x = wk_get(x, (WK_ALL, WK_SLICE(0, 4, 2), x)), x = wk_get(x, (WK_REST, WK_NEW));
    x = wk_set(x, (), 1.5), x = wk_set(x, (0, WK_SLICE(1, WK_END)), x), x = wk_set(x, (wk_get(x, (1))), 2);
    wk_tensor *values, *indices;
    if (wk_cummax(x, 0, &values, &indices) == wk_cummin(x, 0, &values, NULL)) x = wk_logcumsumexp(x, 0);
    x = wk_index_fill(x, 0, x, 1.5), x = wk_index_fill_(x, 0, x, x), x = wk_index_copy(x, 0, x, x);
    x = wk_index_put(x, (x), x), x = wk_index_put_(x, (x, x), x, .accumulate = true), x = wk_masked_scatter(x, x, x);
    x = wk_scatter_reduce(x, 0, x, x, "sum"), x = wk_scatter_reduce_(x, 0, x, x, "amax", .exclude_self = true);
    x = wk_searchsorted(x, x, .side = "right"), x = wk_bucketize(x, x), x = wk_bincount(x), x = wk_histc(x, .bins = 3);
    x = wk_scatter(x, 0, x, x), x = wk_scatter(x, 0, x, 1.5), x = wk_index_select(x, 0, x), x = wk_gather(x, 0, x);
    return wk_chunk(x, 3, 0, out) + wk_split(x, 2, 0, out) + wk_split_with_sizes(x, (1, 2), 0, out) +
           wk_unbind(x, 0, out);
}

static wk_tensor *loss_of(void *user)
{
    return wk_sum(user);
}

static int training(wk_tensor *x)
{
    static const wk_function_kind kind = {
        .size = sizeof kind, .name = "f", .inputs = 1, .outputs = 1, .forward = apply_forward};
    wk_tensor *grads[2], *out[1];
    x = wk_zeros((2), .device = (wk_device){WK_CPU, 0, 0}, .requires_grad = true);
    wk_module *net = wk_nn_sequential(wk_nn_flatten(), wk_nn_linear(3, 4, .no_bias = true), wk_nn_relu(),
                                      wk_nn_sequential(wk_nn_lazy_linear(2), wk_nn_layer_norm((2), .eps = 1e-3)),
                                      wk_nn_dropout(0.5), wk_nn_embedding(3, 4), wk_nn_elu(), wk_nn_elu(.alpha = 2),
                                      wk_nn_glu(), wk_nn_glu(1), wk_nn_prelu(.num_parameters = 2, .init = 0));
    wk_module *none = wk_nn_sequential(), *list = wk_nn_module_list(net, none);
    wk_optim *optim = wk_optim_adam(wk_parameters(list), .lr = 1e-3, .eps = WK_EXPLICIT_ZERO);
    optim = wk_optim_adamw(wk_parameters(list), .lr = 0, .weight_decay = 0);
    wk_optim_add_group(optim, wk_list((x)), .lr = 1e-4);
    optim = wk_optim_sgd(wk_parameters(list)), wk_optim_add_group(optim, wk_list((x)));
    optim = wk_optim_adagrad(wk_parameters(list), .initial_accumulator_value = 0, .lr_decay = 1);
    optim = wk_optim_rmsprop(wk_parameters(list), .momentum = 0.9, .centered = true);
    optim = wk_optim_adadelta(wk_parameters(list)), optim = wk_optim_nadam(wk_parameters(list), .momentum_decay = 0);
    optim = wk_optim_radam(wk_parameters(list), .decoupled_weight_decay = true),
    optim = wk_optim_adamax(wk_parameters(list));
    optim = wk_optim_asgd(wk_parameters(list), .t0 = 0, .lambd = 0);
    optim = wk_optim_lamb(wk_parameters(list), .weight_decay = 0);
    wk_clip_grad_norm_(wk_parameters(list), 1), wk_clip_grad_norm_(wk_parameters(list), 1, .norm_type = 1);
    wk_clip_grad_value_(wk_parameters(list), 0.5);
    optim = wk_optim_lbfgs(wk_parameters(list), .max_iter = 4, .line_search_fn = "strong_wolfe");
    wk_optim_step_closure(optim, loss_of, x);
    wk_schedule *rate = wk_schedule_step_lr(optim, 8, .gamma = 0.1);
    rate = wk_schedule_step_lr(optim, 8), rate = wk_schedule_multi_step_lr(optim, (30, 80), .gamma = 0);
    rate = wk_schedule_multi_step_lr(optim, (30)), rate = wk_schedule_exponential_lr(optim, 0.9);
    rate = wk_schedule_constant_lr(optim), rate = wk_schedule_linear_lr(optim, .end_factor = 0, .total_iters = 3);
    rate = wk_schedule_polynomial_lr(optim, .power = 2), rate = wk_schedule_lambda_lr(optim, NULL, NULL);
    rate = wk_schedule_cosine(optim, .warmup = 100, .steps = 1000, .min_lr = 1e-4);
    rate = wk_schedule_cosine_annealing_lr(optim, 50), rate = wk_schedule_cosine_annealing_lr(optim, 50, .eta_min = 1);
    rate = wk_schedule_cosine_annealing_warm_restarts(optim, 10, .T_mult = 2);
    rate = wk_schedule_one_cycle(optim, 0.1, 100), rate = wk_schedule_one_cycle(optim, 1, 9, .anneal_strategy = "cos");
    rate = wk_schedule_cyclic_lr(optim, 0.1, 1, .mode = "triangular2"), rate = wk_schedule_cyclic_lr(optim, 0.1, 1);
    rate = wk_schedule_reduce_lr_on_plateau(optim, .mode = "max", .patience = 0);
    rate = wk_schedule_chained(rate, rate), rate = wk_schedule_sequential((10, 20), rate, rate, rate);
    wk_schedule_step(rate), wk_schedule_step_metric(rate, 1);
    wk_progress *bar = wk_progress_new("train", wk_schedule_count(rate), .stream = stderr, .interval = 0);
    bar = wk_progress_new("train", 10), wk_progress_step(bar, "loss", x), wk_progress_step(bar, NULL, NULL);
    const wk_file_pair about[] = {{"epoch", "7"}};
    wk_save(net, "net.safetensors"), wk_save(net, "net.safetensors", .metadata = about, .pairs = 1);
    x = wk_image_read("a.png"), x = wk_image_read("a.jpg", .channels = 3), wk_image_write("b.png", x);
    x = wk_image_grid(x), x = wk_image_grid(x, .columns = 4, .padding = 0, .normalise = true, .low = 0, .high = 1);
    wk_text *text = wk_text_chars("a.txt"), *words = wk_text_words("a.txt", .lower = true, .min_frequency = 2);
    text = wk_text_chars_of("abc", .unknown = "?"), words = wk_text_words_of("a b"), text = wk_text_load("a.vocab");
    text = wk_text_bpe_train("a.txt", 300), text = wk_text_bpe_train_of("a", 300, .split = WK_TEXT_SPLIT_LLAMA3);
    text = wk_text_load_gpt2("vocab.json", "merges.txt");
    wk_text_save(words, "a.vocab"), wk_text_save_gpt2(text, "vocab.json", "merges.txt");
    wk_tensor *ids = wk_text_ids(words), *lengths = NULL, *parts[] = {ids, ids};
    ids = wk_text_encode(text, "abc"), ids = wk_text_encode(text, "abc", .add_special_tokens = false);
    ids = wk_text_encode_lines(words, "a\nb"), ids = wk_text_encode_lines(words, "a\nb", .end = "<eos>", .length = N);
    ids = wk_text_encode_file(text, "a.txt"), ids = wk_text_encode_file(text, "a.txt", .add_special_tokens = 0);
    if (wk_text_decode(text, ids) && wk_text_decode(text, ids, .skip_special_tokens = true)) x = ids;
    if (wk_text_token(text, wk_text_id(text, "a")) && wk_text_frequency(text, 0) < wk_text_vocabulary(text)) x = ids;
    ids = wk_text_pad((ids, x)), ids = wk_text_pad((ids, x), .value = 1, .lengths = &lengths);
    ids = wk_text_pad(WK_ARRAY(parts, 2)), ids = wk_text_order(lengths, 2, .shuffle = true);
    wk_loader *read = wk_data_loader(wk_text_windows(ids, 5, .stride = 1), .order = wk_text_order(lengths, 2),
                                     .collate = wk_text_collate);
    if (wk_text_bleu("a", "b", 2) > wk_text_perplexity(1) && wk_loader_count(read)) wk_text_windows(ids, 5);
    const char *const stop[] = {"."};
    x = wk_process_logits(x), x = wk_process_logits(x, .ids = ids, .repetition_penalty = 1.1, .top_k = 5);
    ids = wk_generate(net, ids), ids = wk_generate(net, ids, .max_new_tokens = 9, .num_beams = 2, .early_stopping = 1);
    if (wk_generate_text(net, text, "a") && wk_generate_text(net, text, "a", .stop = stop, .stop_count = 1)) x = ids;
    wk_history *history = wk_history_new();
    wk_plot *plot = wk_plot_new(.title = "loss", .log_y = true, .width = 100);
    plot = wk_plot_new(), wk_plot_history(plot, "loss", history), wk_plot_history(plot, NULL, history, .first = 0);
    wk_plot_line(plot, NULL, NULL, (const double[]){1, 2}, 2), wk_plot_tensor(plot, "x", NULL, x);
    wk_plot_save(plot, "loss.svg");
    wk_tensorboard *board = wk_tensorboard_open("runs");
    wk_tensorboard_scalar(board, "loss", 1, 0.5), wk_tensorboard_history(board, "loss", 2, history);
    wk_tensorboard_flush(board);
    wk_event *start = wk_keep(wk_event_record(wk_cpu())), *end = wk_retain(wk_event_record((wk_device){0}));
    if (wk_event_synchronize(end) == WK_OK && wk_event_query(start) && wk_event_elapsed_time(start, end) < 0)
        wk_free(end);
    wk_loader *loader = wk_data_loader(wk_data_tensors(x, NULL), .batch_size = 2, .shuffle = true);
    WK_EACH(batch, loader)
    {
        wk_tensor *loss = wk_mean(wk_forward(net, batch->x));
        wk_optim_zero_grad(optim);
        wk_backward(loss, .retain_graph = true);
        wk_optim_step(optim);
        wk_history_add(history, loss), wk_history_add(history, loss, .weight = 2);
    }
    wk_grad((x), (x), grads), wk_grad((x, x), (x, x), grads, .allow_unused = true);
    wk_apply(&kind, NULL, (x)), wk_apply_n(&kind, NULL, (x), out), wk_forward_n(net, (x, x), out, 1);
    wk_register_hook(x, NULL, NULL), wk_register_hook(x, NULL, NULL, .post_accumulate = true);
    {
        WK_NO_GRAD;
        wk_init_kaiming_uniform_(x, .a = 5), wk_init_zeros_(x);
    }
    wk_free(wk_retain(net));
    return wk_gradcheck(checked, NULL, (x));
}

int forms_of_calls(FILE *out);

int forms_of_calls(FILE *out)
{
    WK_SCOPE;
    wk_tensor *carried = making(wk_try_gpu(0));
    wk_carry(&carried, computing(carried));
    wk_print(carried);
    double number = wk_item(carried) + (double)wk_item_i64(carried);
    float data[6];
    wk_read(carried, data, sizeof data), wk_data(carried), wk_tensor_str(carried);
    wk_borrow(data, (2, 3), NULL, NULL);
    return number > 0 ? wk_report_error(out) : shaping(carried) + training(carried);
}
