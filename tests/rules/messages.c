/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that messages begin with file, line and the name that the program wrote: calls every op of the table with
 * invalid arguments, and every other public function that can refuse. The tests of each op check the rest of its
 * messages. */
#include "support/sweep/sweep.h"
#include "support/devices.h"
#include <math.h>

#include "hostile/scratch.h"

/* ---- the table --------------------------------------------------------------------------------------------------- */

static void expect_name(const char *text, const char *name, const char *sample)
{
    size_t length = strlen(name);
    if (strncmp(text, name, length) != 0 || text[length] != ':') fail_msg("%s, %s: %s", name, sample, text);
}

/* Calls the op with the sample's current values. Returns the number of refusals, 0 or 1, including errors at the read
 * of the result. */
static int refused(const wk__op *op, const sweep_sample *sample, const char *text)
{
    char message[4096];
    wk_value results[SWEEP_RESULTS];
    int count = SWEEP_RESULTS;
    wk_code code =
        wk_call(NULL, op->name, sample->argument, sample->arguments, results, &count, NULL, message, sizeof message);
    if (code != WK_OK) expect_name(message, op->name, text);
    for (int k = 0; k < count; k++) {
        if (wk_numel(results[k].tensor)) wk_item(wk_sum(wk_to_dtype(results[k].tensor, WK_F32)));
        if (wk_error()) expect_name(wk_error(), op->name, text);
        wk_clear_error();
        wk_free(results[k].tensor);
    }
    return code != WK_OK;
}

enum { BAD = 12 };

static void make_bad(wk_tensor *bad[BAD])
{
    int n = 0;
    bad[n++] = NULL;
    wk_free(bad[n++] = wk_ones((2)));
    bad[n++] = wk_ones(());
    bad[n++] = wk_ones((5, 7));
    bad[n++] = wk_ones((2, 3, 4, 5));
    bad[n++] = wk_ones((0));
    bad[n++] = wk_zeros((3), .dtype = WK_BOOL);
    bad[n++] = wk_full((3, 5), 99, .dtype = WK_I64);
    bad[n++] = wk_full((3), -99, .dtype = WK_I32);
    bad[n++] = wk_ones((3, 5), .device = test_null());
    bad[n++] = wk_expand(wk_ones((1)), (3));
    bad[n++] = wk_ones((3), .requires_grad = true);
    assert_int_equal(n, BAD);
    expect_ok();
}

/* Replaces an argument by one that hardly any op accepts: a tensor for a number, NULL for a list. */
static int try_values(const wk__op *op, sweep_sample *sample, int k, const char *text)
{
    static const int64_t ints[] = {99, -99, 1ll << 62, 0}, lists[] = {99, -5, 1, 1, 1, 1, 1, 1, 1, 1};
    static const int counts[] = {1, 2, 10, 1};
    static const wk_value numbers[] = {{.kind = WK_VALUE_INT, .i = 12345},
                                       {.kind = WK_VALUE_INT, .i = 0},
                                       {.kind = WK_VALUE_FLOAT, .f = 0.5},
                                       {.kind = WK_VALUE_BOOL, .i = 1}};
    const wk_value kept = sample->argument[k];
    wk_value *value = &sample->argument[k];
    int failed = 0;
    for (int i = 0; i < 4; i++) {
        if (kept.kind == WK_VALUE_INT || kept.kind == WK_VALUE_FLOAT)
            *value = (wk_value){.kind = WK_VALUE_INT, .i = ints[i]};
        if (kept.kind == WK_VALUE_INTS)
            *value = (wk_value){.kind = WK_VALUE_INTS, .count = counts[i], .ints = lists + (i == 3)};
        if (kept.kind == WK_VALUE_TENSOR) *value = numbers[i];
        if (kept.kind == WK_VALUE_TEXT) value->text = "bogus";
        if (kept.kind == WK_VALUE_DTYPE) value->i = WK_C128;
        if (kept.kind == WK_VALUE_DEVICE) value->device = wk_opencl(99);
        failed += refused(op, sample, text);
        *value = kept;
    }
    if (kept.kind == WK_VALUE_INTS || kept.kind == WK_VALUE_TENSORS) {
        *value = (wk_value){.kind = kept.kind, .count = 2};
        assert_true(refused(op, sample, text));
        value->count = -1;
        assert_true(refused(op, sample, text));
        *value = kept;
    }
    return failed;
}

static int try_sample(const wk__op *op, const char *text)
{
    WK_SCOPE;
    const char *why;
    sweep_sample sample;
    wk_tensor *bad[BAD], *tensor[SWEEP_TENSORS];
    if (!sweep_parse(text, &sample, &why)) fail_msg("%s: sample \"%s\": %s", op->name, text, why);
    make_bad(bad);
    for (int k = 0; k < sample.operands; k++)
        tensor[k] =
            wk_zeros_at(WK_HERE, sample.operand[k].shape, sample.operand[k].ndim,
                        &(wk_tensor_options){.size = sizeof(wk_tensor_options), .dtype = sample.operand[k].fixed});
    int failed = 0;
    for (int k = 0; k < sample.operands; k++) {
        wk_tensor *good = tensor[k];
        for (int i = 0; i < BAD; i++) {
            tensor[k] = bad[i];
            sweep_bind(&sample, tensor);
            failed += refused(op, &sample, text);
        }
        tensor[k] = good;
    }
    sweep_bind(&sample, tensor);
    for (int k = 0; k < sample.arguments; k++) failed += try_values(op, &sample, k, text);
    return failed;
}

static void messages_name_the_op(void **state)
{
    (void)state;
    for (int k = 0; k < wk__op_total; k++) {
        const wk__op *op = wk__ops[k];
        int failed = 0;
        for (const char *const *text = op_reference_of(op)->samples; *text; text++) failed += try_sample(op, *text);
        if (!failed && sweep_has_samples(op)) fail_msg("%s refused no argument", op->name);
    }
}

/* ---- other public functions -------------------------------------------------------------------------------------- */

static int unnamed;

static void expect_call(int line, const char *name)
{
    char begin[200];
    snprintf(begin, sizeof begin, "%s:%d: %s: ", __FILE__, line, name);
    const char *text = wk_error() ? wk_error() : "(no error)";
    const char *rest = text + strlen(begin); /* the name does not occur twice, and no text is "(null)" */
    if (strncmp(text, begin, strlen(begin)) != 0 || strstr(text, "(null)") ||
        (strncmp(rest, name, strlen(name)) == 0 && rest[strlen(name)] == ':')) {
        print_message("line %d, %s: %s\n", line, name, text);
        unnamed++;
    }
    wk_clear_error();
}
#define NAMED(name, call) ((void)(call), expect_call(__LINE__, name))

static void messages_of_tensors_name_the_call(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((2, 3)), *y = wk_ones((2, 4)), *leaf = wk_ones((2, 3), .requires_grad = true),
              *gone = wk_ones((1)), *i = wk_zeros((2), .dtype = WK_I64), *out[2];
    float data[2];
    const int64_t stride[1] = {-1};
    wk_free(gone);
    unnamed = 0;
    NAMED("ndim", wk_ndim(gone));
    NAMED("size", wk_size(x, 2));
    NAMED("stride", wk_stride(x, -3));
    NAMED("numel", wk_numel(gone));
    NAMED("dtype_of", wk_dtype_of(gone));
    NAMED("device_of", wk_device_of(gone));
    NAMED("is_contiguous", wk_is_contiguous(gone));
    NAMED("same_storage", wk_same_storage(x, gone));
    NAMED("describe", wk_describe(gone));
    NAMED("requires_grad", wk_requires_grad(gone));
    NAMED("is_leaf", wk_is_leaf(gone));
    NAMED("grad_of", wk_grad_of(gone));
    NAMED("keep", wk_keep(gone));
    NAMED("retain", wk_retain(gone) == x);
    NAMED("free", wk_free(gone));
    NAMED("of", wk_of(float, (3), 1, 2));
    NAMED("of", wk_of(float, (-1), 1));
    NAMED("from", wk_from(data, (-2)));
    NAMED("from", wk_from_on_at(WK_HERE, WK_F32, data, 7, (const int64_t[]){2}, 1, NULL));
    NAMED("from_strided", wk_from_strided_at(WK_HERE, WK_F32, data, (const int64_t[]){2}, stride, 1, NULL));
    NAMED("from_strided", wk_from_strided_at(WK_HERE, WK_C64, data, (const int64_t[]){2}, NULL, 0, NULL));
    NAMED("borrow", wk_borrow(data, (-2), NULL, NULL));
    NAMED("item", wk_item(x));
    NAMED("item_i64", wk_item_i64(x));
    NAMED("read", wk_read(x, data, sizeof data));
    NAMED("read_strided", wk_read_strided_at(WK_HERE, x, NULL, stride));
    NAMED("data", wk_data(wk_ones((2), .device = test_null())));
    NAMED("print", wk_print(gone));
    NAMED("tensor_str", wk_tensor_str(gone));
    NAMED("clone", wk_clone(gone));
    NAMED("contiguous", wk_contiguous(gone));
    NAMED("to", wk_to(x, wk_opencl(99)));
    NAMED("to_dtype", wk_to_dtype(x, WK_C64));
    NAMED("copy_", wk_copy_(x, y));
    NAMED("fill_", wk_fill_(leaf, 1));
    NAMED("zero_", wk_zero_(leaf));
    NAMED("add_", wk_add_(x, y));
    NAMED("add_", wk_add_(leaf, 1));
    NAMED("mul_", wk_mul_(i, 0.5));
    NAMED("exp_", wk_exp_(leaf));
    NAMED("clamp_", wk_clamp_(leaf, 0, 1));
    NAMED("masked_fill_", wk_masked_fill_(x, y, 0));
    NAMED("scatter_add_", wk_scatter_add_(leaf, 0, i, x));
    NAMED("index_add_", wk_index_add_(x, 5, i, x));
    NAMED("normal_", wk_normal_(leaf, 0, 1));
    NAMED("uniform_", wk_uniform_(leaf, 0, 1));
    NAMED("zeros_like", wk_zeros_like(gone));
    NAMED("rand_like", wk_rand_like(i));
    NAMED("ones", wk_ones((2), .dtype = WK_C64));
    NAMED("full", wk_full((2), 1, .requires_grad = true));
    NAMED("arange", wk_arange(3, .requires_grad = true));
    NAMED("arange_from", wk_arange_from(0, 3, 0));
    NAMED("linspace", wk_linspace(0, 1, -1));
    NAMED("eye", wk_eye(-1));
    NAMED("randperm", wk_randperm(-1));
    NAMED("randperm", wk_randperm(3, .dtype = WK_C64));
    NAMED("randint", wk_randint(3, 3, (2)));
    NAMED("matmul", wk_matmul(gone, x));
    NAMED("linear", wk_linear(x, y, NULL));
    NAMED("repeat", wk_repeat(x, (1ll << 62, 4)));
    NAMED("repeat_interleave", wk_repeat_interleave(x, 1ll << 62, 0));
    NAMED("tile", wk_tile(gone, (2)));
    NAMED("nonzero_numpy", wk_nonzero_numpy(gone, out));
    NAMED("expand_as", wk_expand_as(x, y));
    NAMED("view_as", wk_view_as(x, y));
    NAMED("movedim", wk_movedim(x, 5, 0));
    NAMED("swapaxes", wk_swapaxes(x, 5, 0));
    NAMED("t", wk_t(wk_ones((2, 2, 2))));
    NAMED("sort", wk_sort(x, 5, false, &out[0], &out[1]));
    NAMED("argsort", wk_argsort(x, 5, false));
    NAMED("median_dim", wk_median_dim(x, 5, false, &out[0], &out[1]));
    NAMED("split_with_sizes", wk_split_with_sizes(x, (1, 5), 0, out));
    NAMED("softmin", wk_softmin(x, 5));
    NAMED("norm", wk_norm(x, (7)));
    NAMED("backward", wk_backward(x));
    NAMED("grad", wk_grad((x), (leaf), out));
    NAMED("set_grad", wk_set_grad(leaf, y));
    NAMED("requires_grad_", wk_requires_grad_(i, true));
    NAMED("detach", wk_detach(gone));
    NAMED("register_hook", wk_register_hook(x, NULL, NULL));
    NAMED("apply", wk_apply(NULL, NULL, (x)));
    assert_int_equal(unnamed, 0);
}

static void messages_of_objects_name_the_call(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((2, 3)), *leaf = wk_ones((2), .requires_grad = true);
    wk_module *net = wk_nn_sequential(wk_nn_linear(3, 2)), *gone = wk_nn_relu();
    wk_tensors *list = wk_list((leaf)), *no_list = wk_list((leaf));
    wk_optim *sgd = wk_optim_sgd(list, .lr = 1), *no_optim = wk_optim_sgd(list, .lr = 1);
    wk_schedule *rate = wk_schedule_step_lr(sgd, 2), *no_rate = wk_schedule_step_lr(sgd, 2);
    wk_progress *bar = wk_progress_new("bar", 1, .disable = true), *no_bar = wk_progress_new("bar", 1, .disable = true);
    wk_plot *plot = wk_plot_new(), *no_plot = wk_plot_new();
    wk_tensorboard *no_board = wk_tensorboard_open(scratch("board"));
    wk_history *history = wk_history_new();
    wk_text *letters = wk_text_chars_of("abc"), *no_text = wk_text_chars_of("abc");
    wk_dataset *data = wk_data_tensors(x, NULL), *no_data = wk_data_tensors(x, NULL), *parts[2];
    wk_loader *no_loader = wk_data_loader(data);
    wk_free(gone), wk_free(no_list), wk_free(no_optim), wk_free(no_data), wk_free(no_loader);
    wk_free(no_rate), wk_free(no_bar), wk_free(no_plot), wk_free(no_board), wk_free(no_text);
    expect_ok();
    unnamed = 0;
    NAMED("nn_linear", wk_nn_linear(3, -2));
    NAMED("nn_linear", wk_nn_linear(3, 2, .dtype = WK_I64));
    NAMED("nn_linear", wk_nn_linear(3, 2, .device = wk_opencl(99)));
    NAMED("nn_lazy_linear", wk_nn_lazy_linear(-2));
    NAMED("nn_embedding", wk_nn_embedding(-1, 3));
    NAMED("nn_rnn", wk_nn_rnn(3, 0));
    NAMED("nn_gru", wk_nn_gru(3, 2, .device = wk_opencl(99)));
    NAMED("nn_lstm", wk_nn_lstm(3, 2, .proj_size = 2));
    NAMED("nn_rnn_cell", wk_nn_rnn_cell(3, 0));
    NAMED("nn_gru_cell", wk_nn_gru_cell(0, 2));
    NAMED("nn_lstm_cell", wk_nn_lstm_cell(3, -1));
    NAMED("rnn_forward", wk_rnn_forward(wk_nn_relu(), x));
    NAMED("rnn_forward_packed", wk_rnn_forward_packed(wk_nn_gru(3, 2), wk_tensors_new()));
    NAMED("pack_padded_sequence", wk_pack_padded_sequence(wk_ones((2, 1)), wk_zeros((1), .dtype = WK_I64)));
    NAMED("pad_packed_sequence", wk_pad_packed_sequence(wk_tensors_new()));
    NAMED("nn_layer_norm", wk_nn_layer_norm((-3)));
    NAMED("nn_layer_norm", wk_nn_layer_norm((1, 2, 3, 4, 5, 6, 7, 8, 9)));
    NAMED("nn_dropout", wk_nn_dropout(2));
    NAMED("nn_activation", wk_nn_activation("none"));
    NAMED("nn_prelu", wk_nn_prelu(.num_parameters = -1));
    NAMED("nn_prelu", wk_nn_prelu(.dtype = WK_I64));
    NAMED("nn_function", wk_nn_function(NULL, NULL));
    NAMED("nn_sequential", wk_nn_sequential(NULL, NULL));
    NAMED("nn_lenet", wk_nn_lenet(.classes = -1));
    NAMED("nn_alexnet", wk_nn_alexnet(.classes = -1));
    NAMED("nn_vgg", wk_nn_vgg(12));
    NAMED("nn_nin", wk_nn_nin(.in_channels = -1));
    NAMED("nn_googlenet", wk_nn_googlenet(.classes = -1));
    NAMED("nn_resnet", wk_nn_resnet(18, .device = wk_opencl(99)));
    NAMED("nn_resnext50", wk_nn_resnext50(.groups = -1));
    NAMED("nn_densenet", wk_nn_densenet(12));
    NAMED("nn_regnet", wk_nn_regnet("x"));
    NAMED("nn_mobilenet_v2", wk_nn_mobilenet_v2(.width = -1));
    NAMED("nn_vit", wk_nn_vit(.patch_size = 15));
    NAMED("sinusoidal_positions", wk_sinusoidal_positions(-1, 2));
    NAMED("alibi_slopes", wk_alibi_slopes(0));
    NAMED("alibi_bias", wk_alibi_bias(1, 2, 1));
    NAMED("nn_bert", wk_nn_bert(.vocab_size = -1));
    NAMED("text_load_bert", wk_text_load_bert("no/such/vocab.txt"));
    NAMED("nn_lora", wk_nn_lora(net, .r = -1));
    NAMED("nn_lora_merge", wk_nn_lora_merge(net));
    NAMED("nn_lora_save", wk_nn_lora_save(net, "x"));
    NAMED("nn_lora_load", wk_nn_lora_load(net, "no/such/folder"));
    NAMED("nn_gpt", wk_nn_gpt(.n_layer = -1));
    NAMED("nn_gpt", wk_nn_gpt(.n_layer = 1, .dtype = WK_I64));
    NAMED("nn_llama", wk_nn_llama(.head_dim = 3));
    NAMED("nn_llama", wk_nn_llama(.num_hidden_layers = 1, .device = wk_opencl(99)));
    NAMED("nn_pretrained", wk_nn_pretrained("no/such/folder"));
    NAMED("kv_cache_new", wk_kv_cache_new(net, 1, 1));
    NAMED("kv_cache_length", wk_kv_cache_length((wk_kv_cache *)(void *)net));
    NAMED("kv_cache_capacity", wk_kv_cache_capacity((wk_kv_cache *)(void *)net));
    NAMED("kv_cache_reorder", wk_kv_cache_reorder(NULL, x));
    NAMED("decode", wk_decode(net, x, NULL));
    NAMED("process_logits", wk_process_logits(wk_ones((3))));
    NAMED("generate", wk_generate(wk_nn_relu(), x));
    NAMED("generate_text", wk_generate_text(wk_nn_relu(), wk_text_chars_of("a"), "b"));
    NAMED("nn_module_list", wk_nn_module_list(gone));
    NAMED("init_uniform_", wk_init_uniform_(wk_zeros((2), .dtype = WK_I64), 0, 1));
    NAMED("init_normal_", wk_init_normal_(wk_zeros((2), .dtype = WK_I64), 0, 1));
    NAMED("init_zeros_", wk_init_zeros_(wk_expand(wk_ones((1)), (3))));
    NAMED("init_ones_", wk_init_ones_(NULL));
    NAMED("init_xavier_uniform_", wk_init_xavier_uniform_(leaf));
    NAMED("init_xavier_normal_", wk_init_xavier_normal_(wk_zeros((2, 2), .dtype = WK_I64)));
    NAMED("init_kaiming_uniform_", wk_init_kaiming_uniform_(wk_zeros((2, 2), .dtype = WK_I64)));
    NAMED("module_new", wk_module_new(NULL));
    NAMED("module_state", wk_module_state(gone));
    NAMED("module_kind_name", wk_module_kind_name(gone));
    NAMED("module_add_parameter", wk_module_add_parameter(net, "0", x));
    NAMED("module_set_buffer", wk_module_set_buffer(net, "a.b", x));
    NAMED("module_add", wk_module_add(net, "self", net));
    NAMED("module_append", wk_module_append(net, gone));
    NAMED("module_parameter", wk_module_parameter(net, "0.gewicht"));
    NAMED("module_buffer", wk_module_buffer(net, "mean"));
    NAMED("module_child", wk_module_child(net, "7"));
    NAMED("module_child_count", wk_module_child_count(gone));
    NAMED("module_child_by_index", wk_module_child_by_index(net, 1));
    NAMED("module_child_name", wk_module_child_name(net, 1));
    NAMED("module_training", wk_module_training(gone));
    NAMED("module_train", wk_module_train(gone, true));
    NAMED("module_to", wk_module_to(net, wk_opencl(99)));
    NAMED("module_str", wk_module_str(gone));
    NAMED("module_print", wk_module_print(gone));
    NAMED("summary", wk_summary(gone, (2, 3)));
    NAMED("forward", wk_summary(net, (2, 5)));
    NAMED("summary_rows", wk_summary_rows(net, (-2, 3)));
    NAMED("parameter_count", wk_parameter_count(gone));
    NAMED("module_apply", wk_module_apply(net, NULL, NULL));
    NAMED("module_replace", wk_module_replace(net, "0", net));
    NAMED("module_slice", wk_module_slice(net, 0, 2));
    NAMED("module_to_dtype", wk_module_to_dtype(net, WK_I64));
    NAMED("parameters", wk_parameters(gone));
    NAMED("buffers", wk_buffers(gone));
    NAMED("forward", wk_forward(net, wk_ones((2, 5))));
    NAMED("forward", wk_forward(net, NULL));
    NAMED("forward", wk_forward(wk_nn_module_list(), x));
    NAMED("list", wk_list((x, NULL)));
    NAMED("tensors_add", wk_tensors_add(list, "0", x));
    NAMED("tensors_count", wk_tensors_count(no_list));
    NAMED("tensors_name", wk_tensors_name(list, 1));
    NAMED("tensors_get", wk_tensors_get(list, -1));
    NAMED("tensors_find", wk_tensors_find(no_list, "a"));
    NAMED("optim_sgd", wk_optim_sgd(list, .lr = -1));
    NAMED("optim_adam", wk_optim_adam(list, .beta1 = 2));
    NAMED("optim_adamw", wk_optim_adamw(wk_tensors_new(), .lr = 1));
    NAMED("optim_adagrad", wk_optim_adagrad(list, .lr_decay = -1));
    NAMED("optim_rmsprop", wk_optim_rmsprop(list, .alpha = 1));
    NAMED("optim_adadelta", wk_optim_adadelta(list, .rho = 1));
    NAMED("optim_nadam", wk_optim_nadam(list, .momentum_decay = -1));
    NAMED("optim_radam", wk_optim_radam(list, .eps = -1));
    NAMED("optim_adamax", wk_optim_adamax(list, .beta2 = 1));
    NAMED("optim_asgd", wk_optim_asgd(list, .t0 = (double)NAN));
    NAMED("optim_lamb", wk_optim_lamb(list, .weight_decay = -1));
    NAMED("optim_lbfgs", wk_optim_lbfgs(list, .max_iter = -1));
    NAMED("optim_add_group", wk_optim_add_group(sgd, list, .lr = -1));
    NAMED("optim_step", wk_optim_step(no_optim));
    NAMED("optim_step_closure", wk_optim_step_closure(sgd, NULL, NULL));
    NAMED("optim_zero_grad", wk_optim_zero_grad(no_optim));
    NAMED("optim_group_count", wk_optim_group_count(no_optim));
    NAMED("optim_lr", wk_optim_lr(sgd, 3));
    NAMED("optim_set_lr", wk_optim_set_lr(sgd, 0, -1));
    NAMED("clip_grad_norm_", wk_clip_grad_norm_(list, -1));
    NAMED("clip_grad_value_", wk_clip_grad_value_(list, -1));
    NAMED("schedule_step_lr", wk_schedule_step_lr(no_optim, 1));
    NAMED("schedule_step_lr", wk_schedule_step_lr(sgd, 0));
    NAMED("schedule_multi_step_lr", wk_schedule_multi_step_lr(sgd, (1), .gamma = -1));
    NAMED("schedule_exponential_lr", wk_schedule_exponential_lr(sgd, -1));
    NAMED("schedule_constant_lr", wk_schedule_constant_lr(sgd, .factor = 2));
    NAMED("schedule_linear_lr", wk_schedule_linear_lr(sgd, .end_factor = 2));
    NAMED("schedule_polynomial_lr", wk_schedule_polynomial_lr(sgd, .power = -1));
    NAMED("schedule_lambda_lr", wk_schedule_lambda_lr(sgd, NULL, NULL));
    NAMED("schedule_cosine", wk_schedule_cosine(sgd));
    NAMED("schedule_cosine_annealing_lr", wk_schedule_cosine_annealing_lr(sgd, 0));
    NAMED("schedule_cosine_annealing_warm_restarts", wk_schedule_cosine_annealing_warm_restarts(sgd, 2, .T_mult = -1));
    NAMED("schedule_one_cycle", wk_schedule_one_cycle(sgd, 1, 10));
    NAMED("schedule_cyclic_lr", wk_schedule_cyclic_lr(sgd, 1, 2));
    NAMED("schedule_reduce_lr_on_plateau", wk_schedule_reduce_lr_on_plateau(sgd, .mode = "least"));
    NAMED("schedule_chained", wk_schedule_chained(rate, no_rate));
    NAMED("schedule_sequential", wk_schedule_sequential((0), rate, rate));
    NAMED("schedule_step", wk_schedule_step(no_rate));
    NAMED("schedule_step_metric", wk_schedule_step_metric(rate, 1));
    NAMED("schedule_count", wk_schedule_count(no_rate));
    NAMED("progress_new", wk_progress_new("bar", -1));
    NAMED("progress_step", wk_progress_step(bar, "x", x));
    NAMED("progress_step", wk_progress_step(no_bar, NULL, NULL));
    NAMED("plot_new", wk_plot_new(.width = -1));
    NAMED("plot_line", wk_plot_line(no_plot, NULL, NULL, NULL, 0));
    NAMED("plot_tensor", wk_plot_tensor(plot, NULL, NULL, x));
    NAMED("plot_history", wk_plot_history(plot, NULL, NULL));
    NAMED("plot_save", wk_plot_save(plot, "no/such/folder.svg"));
    NAMED("tensorboard_open", wk_tensorboard_open(""));
    NAMED("tensorboard_scalar", wk_tensorboard_scalar(no_board, "loss", 0, 1));
    NAMED("tensorboard_history", wk_tensorboard_history(no_board, "loss", 0, history));
    NAMED("tensorboard_flush", wk_tensorboard_flush(no_board));
    NAMED("text_chars", wk_text_chars("no/such/file"));
    NAMED("text_chars_of", wk_text_chars_of("a", .punctuation = true));
    NAMED("text_words", wk_text_words("no/such/file"));
    NAMED("text_words_of", wk_text_words_of("\xff"));
    NAMED("text_bpe_train", wk_text_bpe_train("no/such/file", 300));
    NAMED("text_bpe_train_of", wk_text_bpe_train_of("a", 1));
    NAMED("text_load", wk_text_load("no/such/file"));
    NAMED("text_load_gpt2", wk_text_load_gpt2("no/such/file", "no/such/file"));
    NAMED("text_save", wk_text_save(letters, "no/such/folder/file"));
    NAMED("text_save_gpt2", wk_text_save_gpt2(letters, "a", "b"));
    NAMED("text_vocabulary", wk_text_vocabulary(no_text));
    NAMED("text_ids", wk_text_ids(no_text));
    NAMED("text_encode", wk_text_encode(letters, "d"));
    NAMED("text_encode_file", wk_text_encode_file(letters, "no/such/file"));
    NAMED("text_encode_lines", wk_text_encode_lines(letters, "d"));
    NAMED("text_decode", wk_text_decode(letters, x));
    NAMED("text_token", wk_text_token(letters, 9));
    NAMED("text_id", wk_text_id(letters, NULL));
    NAMED("text_frequency", wk_text_frequency(letters, 9));
    NAMED("text_windows", wk_text_windows(x, 1));
    NAMED("text_pad", wk_text_pad((x)));
    NAMED("text_order", wk_text_order(x, 1));
    NAMED("text_bleu", wk_text_bleu("a", "b", 0));
    NAMED("data_tensors", wk_data_tensors(x, leaf) ? wk_data_tensors(x, wk_ones((5))) : NULL);
    NAMED("data_mnist", wk_data_mnist("no/such/folder"));
    NAMED("data_slice", wk_data_slice(data, 1, 9));
    NAMED("data_size", wk_data_size(no_data));
    NAMED("data_fashion_mnist", wk_data_fashion_mnist("no/such/folder"));
    NAMED("data_new", wk_data_new(NULL, NULL));
    NAMED("data_subset", wk_data_subset(data, leaf));
    NAMED("data_concat", wk_data_concat((data, no_data)));
    NAMED("data_stack", wk_data_stack((data, no_data)));
    NAMED("data_random_split", wk_data_random_split(data, (5, 6), parts));
    NAMED("data_cache", wk_data_cache(no_data));
    NAMED("data_get", wk_data_get(data, 9, NULL));
    NAMED("data_map", wk_data_map(data, NULL, NULL));
    NAMED("data_map_samples", wk_data_map_samples(data, NULL, NULL));
    NAMED("data_loader", wk_data_loader(data, .batch_size = -1));
    NAMED("loader_count", wk_loader_count(no_loader));
    NAMED("history_add", wk_history_add(history, x));
    NAMED("history_count", wk_history_count((wk_history *)(void *)x));
    NAMED("history_mean", wk_history_mean((wk_history *)(void *)x));
    NAMED("history_values", wk_history_values((wk_history *)(void *)x));
    NAMED("save", wk_save(net, "/no/such/folder/file"));
    NAMED("load", wk_load(net, "/no/such/file"));
    NAMED("image_read", wk_image_read("/no/such/file"));
    NAMED("image_write", wk_image_write("a.jpg", x));
    NAMED("image_grid", wk_image_grid(leaf, .columns = -1));
    NAMED("save_tensors", wk_save_tensors(list, NULL));
    NAMED("load_tensors", wk_load_tensors("/no/such/file"));
    NAMED("load_tensor", wk_load_tensor("/no/such/file", "a"));
    NAMED("load_tensor", wk_load_tensor("/no/such/file", NULL));
    NAMED("load_info", wk_load_info("/no/such/file"));
    assert_int_equal(unnamed, 0);
}

static void messages_of_devices_name_the_call(void **state)
{
    (void)state;
    wk_device_properties properties = {0};
    wk_memory_stats stats = {0};
    wk_transfer_counters counters = {0};
    wk_op op = {0};
    wk_setting setting = {0};
    const wk_device none = wk_opencl(99);
    unnamed = 0;
    NAMED("device_parse", wk_device_parse("tpu:0"));
    NAMED("cuda", wk_cuda(-1));
    NAMED("opencl", wk_opencl(-1));
    NAMED("gpu", wk_gpu(1 << 20));
    NAMED("device_get_properties", wk_device_get_properties(wk_cpu(), &properties));
    NAMED("memory_stats_of", wk_memory_stats_of(wk_cpu(), &stats));
    NAMED("memory_largest", wk_memory_largest(none, NULL, NULL, 3));
    NAMED("memory_reset_peak", wk_memory_reset_peak(none));
    NAMED("memory_set_limit", wk_memory_set_limit(none, 1));
    NAMED("memory_trim", wk_memory_trim(none));
    NAMED("set_threads", wk_set_threads(0));
    NAMED("set_log", wk_set_log("bogus", NULL, NULL));
    NAMED("transfer_stats", wk_transfer_stats(&counters));
    NAMED("event_record", wk_event_record(none));
    NAMED("event_query", wk_event_query(NULL));
    NAMED("event_synchronize", wk_event_synchronize(NULL));
    NAMED("event_elapsed_time", wk_event_elapsed_time(NULL, NULL));
    NAMED("op_info", wk_op_info(0, &op));
    NAMED("setting_info", wk_setting_info(0, &setting));
    NAMED("setting_info", wk_setting_info(wk_setting_count(), &setting));
    assert_int_equal(unnamed, 0);
}

static void null_texts_are_refused(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((2, 3));
    wk_module *net = wk_nn_linear(3, 2);
    unnamed = 0;
    NAMED("module_parameter", wk_module_parameter(net, NULL));
    NAMED("module_buffer", wk_module_buffer(net, NULL));
    NAMED("module_child", wk_module_child(net, NULL));
    NAMED("module_add_parameter", wk_module_add_parameter(net, NULL, x));
    NAMED("module_add_parameter", wk_module_add_parameter(net, NULL, wk_arange(3)));
    NAMED("module_set_buffer", wk_module_set_buffer(net, NULL, x));
    NAMED("module_add", wk_module_add(net, NULL, wk_nn_relu()));
    NAMED("module_new", wk_module_new(&(wk_module_kind){.size = sizeof(wk_module_kind)}));
    NAMED("apply", wk_apply(&(wk_function_kind){.size = sizeof(wk_function_kind)}, NULL, (x)));
    NAMED("tensors_add", wk_tensors_add(wk_list((x)), NULL, x));
    NAMED("device_parse", wk_device_parse(NULL));
    NAMED("data_mnist", wk_data_mnist(NULL));
    NAMED("text_chars", wk_text_chars(NULL));
    NAMED("text_words_of", wk_text_words_of(NULL));
    NAMED("text_load", wk_text_load(""));
    NAMED("save", wk_save(net, NULL));
    NAMED("save", wk_save(net, ""));
    NAMED("load", wk_load(net, NULL));
    NAMED("load_tensors", wk_load_tensors(""));
    NAMED("set_allocator", wk_set_allocator(NULL, NULL));
    NAMED("forward", wk_forward(wk_nn_sequential(wk_nn_relu(), wk_nn_module_list()), x));
    assert_int_equal(unnamed, 0);
}

/* A deferred error that another call reports keeps its own name and line; so do calls of a handler. */
static void deferred_errors_keep_their_names(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((3)), *places = wk_add(wk_randint(5, 9, (2)), 0);
    int line = __LINE__ + 1;
    wk_tensor *y = wk_retain(wk_index_select(x, 0, places));
    unnamed = 0;
    wk_sync();
    expect_call(line, "index_select");
    wk_add_(wk_ones((2)), y);
    expect_call(line, "index_select");
    wk_softmax(y, 0);
    expect_call(line, "index_select");
    assert_int_equal(unnamed, 0);
    wk_free(y);
    wk_clear_error();
}

static char handled[300];
static jmp_buf before_the_call;

static void refuse_again(void *user, wk_code code, const char *text)
{
    (void)user;
    (void)text;
    (void)code;
    wk_clear_error();
    wk_set_error_handler(NULL, NULL);
    wk_exp(NULL);
    snprintf(handled, sizeof handled, "%s", wk_error());
    wk_clear_error();
    longjmp(before_the_call, 1);
}

/* Fails in a call that the library composes, which creates no nodes by itself. */
static void differentiate(void *user, wk_code code, const char *text)
{
    (void)code;
    (void)text;
    WK_SCOPE;
    wk_clear_error();
    wk_set_error_handler(NULL, NULL);
    *(bool *)user = wk_requires_grad(wk_mul(wk_ones((2), .requires_grad = true), 2));
}

static void calls_of_handlers_keep_their_names(void **state)
{
    (void)state;
    wk_tensor *x = wk_ones((2)), *y = wk_ones((3));
    if (setjmp(before_the_call) == 0) {
        wk_set_error_handler(refuse_again, NULL);
        wk_add_(x, y);
    }
    assert_non_null(strstr(handled, ": exp: input is NULL"));
    unnamed = 0;
    NAMED("matmul", wk_matmul(x, y)); /* no scope that would restore the state */
    assert_int_equal(unnamed, 0);
    bool traced = false;
    wk_set_error_handler(differentiate, &traced);
    assert_null(wk_cosine_similarity(x, y, 0));
    assert_true(traced);
    wk_clear_error();
    wk_free(x);
    wk_free(y);
}

/* ---- invalid values ---------------------------------------------------------------------------------------------- */

static void invalid_numbers_are_refused(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((2, 3));
    assert_int_equal(wk_memory_set_limit(wk_cpu(), -5), WK_ERR_ARGUMENT);
    expect_error("memory_set_limit: bytes must be at least 0", NULL);
    assert_null(wk_layer_norm(x, (3), NULL, NULL, -1));
    expect_error("layer_norm: eps must be at least 0, got -1", NULL);
    assert_null(wk_nn_layer_norm((3), .eps = -1));
    expect_error("nn_layer_norm: .eps must be at least 0, got -1", NULL);
    assert_null(wk_init_uniform_(x, 1, 0));
    expect_error("init_uniform_: the range [1, 0) is empty", NULL);
    assert_null(wk_init_normal_(x, 0, -1));
    expect_error("init_normal_: std must be at least 0, got -1", NULL);
    assert_null(wk_arange_from(0, 5, -1));
    expect_error("arange_from: step -1 does not lead from 0 to 5; use the step 1", NULL);
    assert_null(wk_arange_from(0.5, 0, 0.25));
    expect_error("arange_from: step 0.25 does not lead from 0.5 to 0;", "-0.25", NULL);
    assert_null(wk_arange_from(1, 1, 0));
    expect_error("arange_from: the step must not be 0", NULL);
    assert_null(wk_arange(-5));
    expect_error("arange: step 1 does not lead from 0 to -5; end must be at least 0", "wk_arange(start, end, step)",
                 NULL);
    assert_null(wk_arange(-0.5));
    expect_error("arange: step 1 does not lead from 0 to -0.5; end must be at least 0", NULL);
    assert_true(wk_numel(wk_arange_from(5, 5, -1)) == 0 && wk_numel(wk_arange(0)) == 0 &&
                wk_numel(wk_arange(-0.0)) == 0);
    expect_ok();
    assert_int_equal(wk_opencl(-1).kind, -1);
    expect_error("opencl: device index -1 is out of range", NULL);
    wk_ones((2), .device = (wk_device){.kind = -1});
    expect_error("ones: invalid device", NULL);
}

/* The known size of an array is compared with the shape; an array may be larger. */
static void arrays_too_small_are_refused(void **state)
{
    (void)state;
    WK_SCOPE;
    const float three[3] = {1, 2, 3};
    double rows[2][3] = {{1, 2, 3}, {4, 5, 6}};
    const int64_t shape[] = {2, 3};
    assert_null(wk_from(three, (2, 3)));
    assert_int_equal(wk_error_code(), WK_ERR_SHAPE);
    expect_error("from: the shape needs 6 elements of f32 (24 bytes), but the array has 3 (12 bytes)", NULL);
    assert_null(wk_from(three, WK_ARRAY(shape, 2), .dtype = WK_F64));
    expect_error("from: the shape needs 6 elements of f32 (24 bytes), but the array has 3 (12 bytes)", NULL);
    assert_null(wk_from(three, (1ll << 40, 1ll << 40)));
    expect_error("from: ", NULL);
    assert_true(wk_item(wk_sum(wk_from(three, (2)))) == 3 && wk_item(wk_from(&three[2], ())) == 3);
    assert_true(wk_item(wk_sum(wk_from(&rows[0][0], WK_ARRAY(shape, 2)))) == 21);
    assert_true(wk_numel(wk_from(three, (4, 0))) == 0);
    assert_null(wk_from(three, (-1)));
    expect_error("from: the shape [-1] has a negative size", NULL);
    expect_ok();
}

/* The same for an array that becomes the tensor's memory, and for strides that reach beyond it. */
static void borrowed_arrays_too_small_are_refused(void **state)
{
    (void)state;
    WK_SCOPE;
    float four[4] = {1, 2, 3, 4};
    assert_null(wk_borrow(four, (5), NULL, NULL));
    assert_int_equal(wk_error_code(), WK_ERR_SHAPE);
    expect_error("borrow: the shape needs 5 elements of f32 (20 bytes), but the array has 4 (16 bytes)", NULL);
    assert_null(wk_borrow(&four[1], (2, 2), NULL, NULL));
    expect_error("borrow: the shape needs 4 elements of f32 (16 bytes), but the array has 3 (12 bytes)", NULL);
    assert_true(wk_item(wk_sum(wk_borrow(four, (2, 2), NULL, NULL))) == 10);
    assert_true(wk_item(wk_sum(wk_borrow(four, (3), NULL, NULL))) == 6);
    assert_null(wk_from_strided(four, (2, 2), (3, 1)));
    assert_int_equal(wk_error_code(), WK_ERR_SHAPE);
    expect_error("from_strided: ", "element 4 of f32", "has 4 (16 bytes)", NULL);
    assert_null(wk_from_strided(four, (2), (1ll << 62), .dtype = WK_F64));
    expect_error("from_strided: ", "has 4 (16 bytes)", NULL);
    assert_null(wk_from_strided(four, (3, 2), (INT64_MAX / 2, INT64_MAX / 2)));
    expect_error("from_strided: ", "has 4 (16 bytes)", NULL);
    assert_true(wk_item(wk_sum(wk_from_strided(four, (2, 2), (2, 1)))) == 10);
    assert_true(wk_item(wk_sum(wk_from_strided(four, (2), (3), .dtype = WK_F64))) == 5);
    assert_true(wk_numel(wk_from_strided(four, (9, 0), (9, 9))) == 0);
    wk_tensor *x = wk_of(float, (2, 2), 5, 6, 7, 8);
    expect_ok();
    assert_int_equal(wk_read_strided(x, four, (3, 1)), WK_ERR_SHAPE);
    expect_error("read_strided: ", "element 4 of f32", "has 4 (16 bytes)", NULL);
    assert_true(four[0] == 1 && four[3] == 4);
    assert_int_equal(wk_read_strided(x, four, (1, 2)), WK_OK);
    assert_true(four[0] == 5 && four[1] == 7 && four[2] == 6 && four[3] == 8);
    assert_int_equal(wk_read_strided(wk_of(float, (2), 1, 2), &four[3], (-3)), WK_OK);
    assert_true(four[3] == 1 && four[0] == 2);
    expect_ok();
}

/* Values are not checked at the call: a read of the result reports the error, with the line of the call. */
static void probabilities_are_checked_on_the_device(void **state)
{
    (void)state;
    static const double bad[] = {-1, 2, 1.0001, -1e-3, NAN, INFINITY};
    EACH_DEVICE(device)
    {
        for (wk_dtype dtype = WK_F32; dtype <= WK_BF16; dtype++) {
            WK_SCOPE;
            wk_tensor *fine = wk_to(wk_to_dtype(wk_of(float, (4), 0, 1, 0.5, -0.0f), dtype), device);
            wk_tensor *drawn = wk_bernoulli(fine);
            assert_true(wk_item(wk_select(drawn, 0, 0)) == 0 && wk_item(wk_select(drawn, 0, 1)) == 1);
            wk_bernoulli(wk_ones((0), .dtype = dtype, .device = device));
            expect_ok();
            for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
                char site[64];
                wk_tensor *p = wk_clone(fine);
                wk_fill_(wk_select(p, 0, 2), bad[k]);
                snprintf(site, sizeof site, "rules/messages.c:%d: bernoulli: ", __LINE__ + 1);
                wk_item(wk_sum(wk_bernoulli(p)));
                if (sweep_rounded(bad[k], dtype) == 1) {
                    expect_ok();
                    continue;
                }
                assert_int_equal(wk_error_code(), WK_ERR_ARGUMENT);
                expect_error(site, "expected 0 <= p <= 1", NULL);
            }
        }
    }
}

static void allocation_failures_name_the_call(void **state)
{
    (void)state;
    enum { MIB = 1 << 20 };
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        char limit[100], largest[100];
        wk_sync();
        wk_memory_trim(device);
        wk_memory_stats now = {.size = sizeof now};
        wk_memory_stats_of(device, &now);
        assert_true(now.live + now.cached < 4 * MIB);
        wk_memory_set_limit(device, 12 * MIB);
        assert_null(wk_ones((8, MIB), .device = device));
        snprintf(limit, sizeof limit, "ones: f32[8,1048576] needs 32 MiB, but the limit of %s is 12 MiB; ",
                 wk_device_str(device));
        expect_error(limit, "smaller batch", "wk_memory_set_limit", NULL);
        wk_tensor *first = wk_retain(wk_ones((2 * MIB), .device = device));
        snprintf(largest, sizeof largest, "Largest: 8 MiB made at %s:%d", __FILE__, __LINE__ - 1);
        wk_sync();
        expect_ok();
        wk_tensor *second = wk_retain(wk_ones((2 * MIB), .device = device));
        wk_sync();
        wk_memory_set_limit(device, 0);
        snprintf(limit, sizeof limit, "ones: out of memory on %s: requested 8 MiB, live 8", wk_device_str(device));
        expect_error(limit, "limit 12 MiB (limit exceeded)", "smaller batch", "wk_memory_trim", largest, NULL);
        wk_free(first);
        wk_free(second);
    }
}

/* Names are arbitrary bytes of the program, messages are UTF-8. */
static void names_with_invalid_utf8(void **state)
{
    (void)state;
    WK_SCOPE;
    char message[200];
    int count = 0;
    assert_int_not_equal(wk_call(NULL, "\xff\x01op", NULL, 0, NULL, &count, NULL, message, sizeof message), WK_OK);
    assert_string_equal(message, "call: unknown op \"\\xff\\x01op\"");
    wk_device_parse("\xfegpu");
    expect_error("device_parse: unknown device \"\\xfegpu\"", NULL);
    wk_module_parameter(wk_nn_linear(2, 2), "gew\xe4hlt");
    expect_error("module_parameter: unknown parameter \"gew\\xe4hlt\"", NULL);
    wk_module_parameter(wk_nn_linear(2, 2), "gew\xc3\xa4hlt");
    expect_error("module_parameter: unknown parameter \"gew\xc3\xa4hlt\"", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocation_failures_name_the_call), /* first: networks leave large blocks cached */
        cmocka_unit_test(messages_name_the_op),
        cmocka_unit_test(messages_of_tensors_name_the_call),
        cmocka_unit_test(messages_of_objects_name_the_call),
        cmocka_unit_test(messages_of_devices_name_the_call),
        cmocka_unit_test(null_texts_are_refused),
        cmocka_unit_test_setup_teardown(deferred_errors_keep_their_names, test_default_mode, test_restore_mode),
        cmocka_unit_test(calls_of_handlers_keep_their_names),
        cmocka_unit_test(invalid_numbers_are_refused),
        cmocka_unit_test(arrays_too_small_are_refused),
        cmocka_unit_test(borrowed_arrays_too_small_are_refused),
        cmocka_unit_test(probabilities_are_checked_on_the_device),
        cmocka_unit_test(names_with_invalid_utf8)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
