/* SPDX-License-Identifier: Apache-2.0 */
/* Implements scenarios.h. */
#include "scenarios.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SAMPLES = 10, FEATURES = 5, HIDDEN = 6, CLASSES = 3 };

/* Returns the sum of absolute values, so that nothing cancels. On the null device it is 0. */
static double sum_of_abs(wk_tensor *x)
{
    return wk_item(wk_sum(wk_abs(wk_to_dtype(wk_to(x, wk_cpu()), WK_F64))));
}

static wk_tensor *inputs(void)
{
    return wk_reshape(wk_sin(wk_arange((double)(SAMPLES * FEATURES))), (SAMPLES, FEATURES));
}

static wk_module *network(wk_device device)
{
    wk_module *net = wk_nn_sequential(wk_nn_linear(FEATURES, HIDDEN), wk_nn_layer_norm((HIDDEN)), wk_nn_relu(),
                                      wk_nn_dropout(0.25), wk_nn_linear(HIDDEN, CLASSES));
    return wk_module_to(net, device);
}

/* ---- training ---------------------------------------------------------------------------------------------------- */

static double train(const scenario_env *place)
{
    WK_SCOPE;
    wk_seed(5);
    wk_module *net = network(place->device);
    wk_optim *adam = wk_optim_adamw(wk_parameters(net), .lr = 0.05);
    wk_dataset *data = wk_data_tensors(inputs(), wk_remainder(wk_arange(SAMPLES), CLASSES));
    wk_loader *loader = wk_data_loader(data, .batch_size = 4, .shuffle = true, .device = place->device);
    wk_history *history = wk_history_new();
    for (int epoch = 0; epoch < 2 && !wk_error(); epoch++) {
        WK_EACH(batch, loader)
        {
            wk_tensor *loss = wk_cross_entropy(wk_forward(net, batch->x), batch->y);
            wk_optim_zero_grad(adam);
            wk_backward(loss);
            wk_clip_grad_norm_(wk_parameters(net), 1);
            wk_optim_step(adam);
            wk_history_add(history, loss);
        }
    }
    double figure = wk_history_mean(history);
    wk_tensors *parameters = wk_parameters(net);
    for (int k = 0; k < wk_tensors_count(parameters); k++) figure += sum_of_abs(wk_tensors_get(parameters, k));
    return wk_error() ? NAN : figure;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static void path_of(const scenario_env *place, const char *name, char out[400])
{
    snprintf(out, 400, "%s/%s", place->folder, name);
}

static double save_network(const scenario_env *place)
{
    WK_SCOPE;
    char path[400];
    path_of(place, "saved.safetensors", path);
    unlink(path);
    wk_module *net = network(place->device);
    wk_save(net, path);
    struct stat file;
    return wk_error() || stat(path, &file) != 0 ? NAN : (double)file.st_size;
}

static double load_network(const scenario_env *place)
{
    WK_SCOPE;
    char path[400];
    path_of(place, "loaded.safetensors", path);
    wk_seed(9);
    wk_tensors *list = wk_tensors_new();
    wk_tensors_add(list, "a", wk_to(inputs(), place->device));
    wk_tensors_add(list, "b", wk_ones((3, 2), .dtype = WK_BF16, .device = place->device));
    wk_tensors_add(list, "c", wk_to(wk_arange(7), place->device));
    wk_save_tensors(list, path);
    double figure = 0;
    {
        WK_DEVICE(place->device);
        wk_tensors *back = wk_load_tensors(path);
        for (int k = 0; k < 3; k++) figure += sum_of_abs(wk_tensors_get(back, k));
    }
    path_of(place, "net.safetensors", path);
    wk_module *one = network(place->device), *other = network(place->device);
    wk_save(one, path);
    wk_load(other, path);
    figure += sum_of_abs(wk_sub(wk_module_parameter(one, "0.weight"), wk_module_parameter(other, "0.weight")));
    return wk_error() ? NAN : figure;
}

static void count_calls(wk_module *m, void *calls)
{
    *(double *)calls += wk_module_child_count(m) + 1;
}

/* Describes, summarises and changes networks, and loads a file that fits only in part. */
static double change_networks(const scenario_env *place)
{
    WK_SCOPE;
    char path[400];
    const char *const *missing = NULL;
    path_of(place, "parts.safetensors", path);
    wk_seed(4);
    wk_module *net = network(place->device), *part = wk_module_slice(net, 0, 2);
    const wk_summary_row *const *rows = wk_summary_rows(net, (2, FEATURES));
    const char *text = wk_module_str(net);
    double figure = rows && text ? (double)(rows[0]->multiply_adds + (int64_t)strlen(text)) : 0;
    wk_module_apply(net, count_calls, &figure);
    wk_save(part, path);
    wk_module_replace(net, "4", wk_nn_linear(HIDDEN, 3, .device = place->device));
    wk_module_to_dtype(net, WK_F64);
    wk_load(net, path, .strict = false, .convert = true, .missing = &missing);
    const wk_file_info *info = wk_load_info(path);
    figure += missing && info ? (double)(strlen(missing[0]) + (size_t)info->count) : 0;
    figure += (double)wk_parameter_count(net) + sum_of_abs(wk_module_parameter(net, "0.weight"));
    figure += sum_of_abs(wk_load_tensor(path, "0.bias"));
    return wk_error() ? NAN : figure;
}

/* Saves a training after each step, and resumes it in a second training. */
static double resume_from_checkpoint(const scenario_env *place)
{
    WK_SCOPE;
    char path[400];
    path_of(place, "goes_on.wick", path);
    unlink(path);
    wk_seed(5);
    double figure = 0;
    for (int turn = 0; turn < 2 && !wk_error(); turn++) {
        wk_module *net = network(place->device);
        wk_optim *adam = wk_optim_adamw(wk_parameters(net), .lr = 0.05);
        wk_dataset *data = wk_data_tensors(inputs(), wk_remainder(wk_arange(SAMPLES), CLASSES));
        wk_loader *loader = wk_data_loader(data, .batch_size = 4, .shuffle = true, .device = place->device);
        wk_checkpoint *resume = wk_checkpoint_new(path, net, adam, loader);
        if (wk_checkpoint_load(resume) != (turn > 0) && !wk_error()) return -1;
        WK_EACH(batch, loader)
        {
            wk_optim_zero_grad(adam);
            wk_backward(wk_cross_entropy(wk_forward(net, batch->x), batch->y));
            wk_optim_step(adam);
            wk_checkpoint_every(resume, 1);
            if (turn == 0 && batch->index == 1) break;
        }
        wk_checkpoint_wait(resume);
        figure += sum_of_abs(wk_module_parameter(net, "0.weight")) + (double)wk_checkpoint_step(resume);
    }
    return wk_error() ? NAN : figure;
}

/* ---- printing ---------------------------------------------------------------------------------------------------- */

static double text_length(wk_tensor *x)
{
    const char *text = wk_tensor_str(x);
    double length = text ? (double)strlen(text) : NAN;
    text = wk_describe(x);
    return text ? length + (double)strlen(text) : NAN;
}

static double print_tensors(const scenario_env *place)
{
    WK_SCOPE;
    wk_tensor *x = wk_to(inputs(), place->device);
    double length = text_length(x) + text_length(wk_ge(x, 0)) + text_length(wk_to(wk_arange(5), place->device)) +
                    text_length(wk_zeros((40, 50, 60), .device = place->device)) +
                    text_length(wk_exp(wk_requires_grad_(wk_mul(x, 1e5), true)));
    return wk_error() ? NAN : length;
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/* Clears the pending error and returns 1; returns NaN if there is no error or its message is empty. */
static double expect_one_error(void)
{
    double errors = wk_error() && strlen(wk_error()) > 5 ? 1 : NAN;
    wk_clear_error();
    return errors;
}

static double cause_errors(const scenario_env *place)
{
    WK_SCOPE;
    double errors = 0;
    wk_tensor *x = wk_ones((2, 3), .device = place->device), *y = wk_ones((4), .device = place->device);
    wk_add(x, y);
    errors += expect_one_error();
    wk_matmul(x, x);
    errors += expect_one_error();
    wk_reshape(x, (7));
    errors += expect_one_error();
    wk_index_select(x, 5, x);
    errors += expect_one_error();
    wk_to(x, wk_opencl(77));
    errors += expect_one_error();
    wk_device_parse("tpu:0");
    errors += expect_one_error();
    wk_backward(x);
    errors += expect_one_error();
    wk_load_tensors("/no/such/file");
    errors += expect_one_error();
    wk_module_parameter(wk_nn_relu(), "weight");
    errors += expect_one_error();
    wk_free(wk_nn_relu());
    wk_add(x, (wk_tensor *)NULL);
    errors += expect_one_error();
    return errors;
}

/* ---- graphs ------------------------------------------------------------------------------------------------------ */

static wk_tensor *doubles(wk_tensor *grad, void *user)
{
    (void)user;
    return wk_mul(grad, 2);
}

static void cube(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    wk_function_save(f, in[0]);
    out[0] = wk_mul(wk_mul(in[0], in[0]), in[0]);
}

static void cube_gradient(wk_function *f, wk_tensor *const grad_out[], wk_tensor *grad_in[])
{
    wk_tensor *x = wk_function_saved(f, 0);
    grad_in[0] = wk_mul(grad_out[0], wk_mul(wk_mul(x, x), 3));
}

static double differentiate(const scenario_env *place)
{
    static const wk_function_kind kind = {
        .size = sizeof kind, .name = "cube", .inputs = 1, .outputs = 1, .forward = cube, .backward = cube_gradient};
    WK_SCOPE;
    wk_tensor *x = wk_requires_grad_(wk_to(inputs(), place->device), true), *grad = NULL, *again = NULL;
    wk_register_hook(x, doubles, NULL, .post_accumulate = true);
    wk_tensor *y = wk_mul(x, 3);
    wk_add_(wk_narrow(y, 0, 1, 2), 1); /* a view modified in place: rewrites the history of its base */
    wk_tensor *parts[2] = {wk_softmax(wk_transpose(y, 0, 1), 0), wk_apply(&kind, NULL, (y))};
    wk_tensor *both = wk_cat((wk_transpose(parts[0], 0, 1), parts[1]), 1);
    wk_tensor *rows = wk_index_select(both, 0, wk_to(wk_of(int64_t, (3), 4, 0, 4), place->device));
    wk_backward(wk_sum(rows), .retain_graph = true);
    double figure = sum_of_abs(wk_grad_of(x));
    wk_grad((wk_sum(wk_mul(rows, rows))), (x), &grad, .create_graph = true);
    wk_grad((wk_sum(wk_mul(grad, grad))), (x), &again, .allow_unused = true);
    figure += sum_of_abs(grad) + sum_of_abs(again);
    wk_tensor *sorted = NULL;
    wk_sort(wk_detach(x), 1, false, &sorted, NULL);
    figure += sum_of_abs(wk_cumsum(sorted, 0));
    return wk_error() ? NAN : figure;
}

/* ---- recurrent layers -------------------------------------------------------------------------------------------- */

/* Runs sequences of several lengths through two layers in both directions, with first and second gradients. */
static double recur(const scenario_env *place)
{
    WK_SCOPE;
    wk_seed(6);
    wk_module *lstm = wk_nn_lstm(3, 4, .num_layers = 2, .bidirectional = true, .device = place->device);
    wk_module *gru = wk_nn_gru(8, 3, .device = place->device);
    wk_tensor *x = wk_rand((3, 2, 3), .device = place->device), *lengths = wk_of(int64_t, (2), 2, 3);
    wk_tensor *c = NULL, *h = NULL, *grad = NULL, *again = NULL;
    wk_tensor *y = wk_rnn_forward(lstm, x, .lengths = lengths, .c_n = &c);
    wk_tensors *packed = wk_pack_padded_sequence(y, lengths, .unsorted = true);
    wk_tensor *z = wk_pad_packed_sequence(wk_rnn_forward_packed(gru, packed, .h_n = &h));
    wk_tensor *weight = wk_module_parameter(lstm, "weight_hh_l0"), *all = wk_add(wk_sum(wk_mul(z, z)), wk_sum(c));
    wk_backward(all, .retain_graph = true);
    double figure = sum_of_abs(wk_grad_of(weight)) + sum_of_abs(h);
    wk_grad((all), (weight), &grad, .create_graph = true);
    wk_grad((wk_sum(wk_mul(grad, grad))), (weight), &again);
    figure += sum_of_abs(again);
    return wk_error() ? NAN : figure;
}

/* ---- bindings ---------------------------------------------------------------------------------------------------- */

/* Calls an op with no scope open: the caller owns and frees the results. */
static wk_tensor *call_op(const char *op, wk_tensor *const *in, int count, const scenario_env *place, bool *fine)
{
    char message[200] = "";
    wk_value argument[3], result = {.kind = WK_VALUE_NONE};
    wk_call_options options = {.size = sizeof options, .device = place->device};
    for (int k = 0; k < count; k++) argument[k] = (wk_value){.kind = WK_VALUE_TENSOR, .tensor = in[k]};
    int results = 1;
    wk_code code = *fine ? wk_call(NULL, op, argument, count, &result, &results, &options, message, 200) : WK_ERR_STATE;
    *fine = code == WK_OK;
    return code == WK_OK ? result.tensor : NULL;
}

static double use_bindings(const scenario_env *place)
{
    bool fine = true;
    wk_tensor_options options = {.size = sizeof options, .device = place->device, .requires_grad = true};
    wk_tensor *x = wk_ones_at(WK_HERE, (const int64_t[]){3, 4}, 2, &options), *grad = NULL;
    wk_tensor *y = x ? call_op("exp", (wk_tensor *const[]){x}, 1, place, &fine) : NULL;
    wk_tensor *z = y ? call_op("softplus", (wk_tensor *const[]){y}, 1, place, &fine) : NULL;
    wk_tensor *w = z ? call_op("mul", (wk_tensor *const[]){z, x}, 2, place, &fine) : NULL;
    wk_tensor *v = w ? call_op("t", (wk_tensor *const[]){w}, 1, place, &fine) : NULL;
    wk_tensor *sum = v ? wk_sum(v) : NULL;
    wk_tensor *m = z ? wk_matmul(z, v) : NULL, *s = m ? wk_softmax(m, 1) : NULL;
    double figure = sum ? wk_item(sum) : NAN, other = NAN;
    wk_tensor *total = s ? wk_sum(s) : NULL;
    if (total && wk_grad((total), (x), &grad) == WK_OK) {
        wk_tensor *all = wk_sum(grad);
        other = all ? wk_item(all) : NAN;
        wk_free(all);
    }
    wk_tensor *const made[] = {x, y, z, w, v, sum, m, s, total, grad};
    for (size_t k = 0; k < sizeof made / sizeof *made; k++) wk_free(made[k]);
    if (!fine && !wk_error()) wk_add((wk_tensor *)NULL, 1); /* wk_call has reported the error already */
    return fine && !wk_error() ? figure + other : NAN;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

/* Encodes a string and decodes the ids. Returns the number of ids plus the length of the decoded string. */
static double round_trip(wk_text *text, const char *string)
{
    wk_tensor *ids = text ? wk_text_encode(text, string) : NULL;
    const char *decoded = ids ? wk_text_decode(text, ids, .skip_special_tokens = true) : NULL;
    return decoded ? (double)(wk_size(ids, 0) + (int64_t)strlen(decoded)) : NAN;
}

/* Saves a text, loads it, and returns the result of round_trip with the loaded text. */
static double saved_text(wk_text *text, const char *string, const scenario_env *place)
{
    char path[300];
    snprintf(path, sizeof path, "%s/text", place->folder);
    return text && wk_text_save(text, path) == WK_OK ? round_trip(wk_text_load(path), string) : NAN;
}

/* Reads a vocab.txt of BERT. Returns the vocabulary; NULL on failure. */
static wk_text *read_bert(const scenario_env *place)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/vocab.txt", place->folder);
    FILE *file = fopen(path, "w");
    if (!file) return NULL;
    const bool written = fputs("[UNK]\n[CLS]\n[SEP]\nthe\ncat\n##s\ne\n", file) >= 0;
    return fclose(file) == 0 && written ? wk_text_load_bert(path) : NULL;
}

static double read_text(const scenario_env *place)
{
    WK_SCOPE;
    static const char string[] = "the cat and the hat, the cat's hat 1234  \n";
    wk_text *chars = wk_text_chars_of(string), *words = wk_text_words_of(string, .lower = true, .letters_only = true);
    wk_text *pairs = wk_text_bpe_train_of(string, 262, .special_tokens = "<s> </s>", .split = WK_TEXT_SPLIT_LLAMA3);
    wk_text *bert = read_bert(place);
    double figure = saved_text(chars, "the", place) + saved_text(words, "a cat", place) +
                    saved_text(pairs, "the cats</s>", place) + saved_text(bert, "The cats, \xc3\xa9", place) +
                    round_trip(pairs, string);
    wk_tensor *ids = chars ? wk_text_ids(chars) : NULL, *lengths = NULL;
    wk_dataset *windows = ids ? wk_text_windows(ids, 4, .batch_size = 2) : NULL;
    wk_tensor *padded = ids ? wk_text_pad((ids, wk_narrow(ids, 0, 0, 3)), .lengths = &lengths) : NULL;
    wk_tensor *lines = words ? wk_text_encode_lines(words, "a cat\nthe hat and", .pad = "<unk>") : NULL;
    wk_tensor *order = padded ? wk_text_order(lengths, 1, .shuffle = true) : NULL;
    figure += (double)wk_data_size(windows) + (order ? wk_item(wk_sum(padded)) + wk_item(wk_sum(order)) : NAN) +
              (lines ? wk_item(wk_sum(lines)) : NAN) + wk_text_bleu("a b c", "a b d", 2);
    return wk_error() ? NAN : figure;
}

/* ---- language models --------------------------------------------------------------------------------------------- */

/* Saves a model as a folder of transformers. Returns the model that is read from it; NULL on failure. */
static wk_module *saved_gpt(const scenario_env *place)
{
    static const char config[] = "{\"model_type\": \"gpt2\", \"vocab_size\": 5, \"n_positions\": 8, \"n_embd\": 4, "
                                 "\"n_layer\": 1, \"n_head\": 2, \"rope_scaling\": {\"factor\": 1.5}}";
    char path[4200];
    wk_seed(5);
    wk_module *net = wk_nn_gpt(.vocab_size = 5, .n_positions = 8, .n_embd = 4, .n_layer = 1, .n_head = 2);
    snprintf(path, sizeof path, "%s/config.json", place->folder);
    FILE *file = fopen(path, "w");
    if (!file) return NULL;
    const bool written = fputs(config, file) >= 0;
    if (fclose(file) != 0 || !written) return NULL;
    snprintf(path, sizeof path, "%s/model.safetensors", place->folder);
    return net && wk_save(net, path) == WK_OK ? wk_nn_pretrained(place->folder, .device = place->device) : NULL;
}

/* Decodes two rows, one of which has padding and then becomes both, and computes the scores of a whole sequence. */
static double decode(const scenario_env *place)
{
    WK_SCOPE;
    wk_module *gpt = saved_gpt(place);
    wk_module *llama = wk_nn_llama(.vocab_size = 5, .hidden_size = 4, .intermediate_size = 4, .num_hidden_layers = 1,
                                   .num_attention_heads = 2, .max_position_embeddings = 8, .device = place->device);
    wk_tensor *ids = wk_to(wk_of(int64_t, (2, 3), 0, 4, 1, 3, 2, 2), place->device);
    wk_tensor *mask = wk_to(wk_of(bool, (2, 3), false, true, true, true, true, true), place->device);
    wk_kv_cache *cache = gpt ? wk_kv_cache_new(gpt, 2, 8) : NULL;
    if (!cache || !llama || !mask) return NAN;
    double figure = sum_of_abs(wk_decode(gpt, ids, cache, .mask = mask, .logits_to_keep = 1));
    wk_kv_cache_reorder(cache, wk_to(wk_of(int64_t, (2), 0, 0), place->device));
    figure += sum_of_abs(wk_decode(gpt, wk_narrow(ids, 1, 0, 1), cache)) + sum_of_abs(wk_forward(llama, ids));
    return wk_error() ? NAN : figure + (double)wk_kv_cache_length(cache);
}

/* Saves the adapters of a network, and merges those that another one loads. */
static double exchange_adapters(const scenario_env *place)
{
    WK_SCOPE;
    char path[4200];
    wk_seed(3);
    snprintf(path, sizeof path, "%s/adapters", place->folder);
    wk_module *net = wk_nn_sequential(wk_nn_linear(3, 2), wk_nn_relu(), wk_nn_linear(2, 2));
    if (!net || !wk_module_to(net, place->device) || !wk_nn_lora(net, .r = 2, .target_modules = "0,2")) return NAN;
    wk_init_ones_(wk_module_parameter(net, "2.lora_B.weight"));
    if (wk_nn_lora_save(net, path) != WK_OK || !wk_nn_lora_merge(net)) return NAN;
    wk_module *other = wk_nn_sequential(wk_nn_linear(3, 2), wk_nn_relu(), wk_nn_linear(2, 2));
    if (!other || !wk_module_to(other, place->device) || !wk_nn_lora_load(other, path)) return NAN;
    wk_tensor *x = wk_full((2, 3), 0.5, .device = place->device);
    const double figure = sum_of_abs(wk_forward(net, x)) + sum_of_abs(wk_forward(other, x));
    return wk_nn_lora_merge(other) && !wk_error() ? figure : NAN;
}

/* ---- generation -------------------------------------------------------------------------------------------------- */

static bool count_piece(const char *piece, void *user)
{
    *(double *)user += (double)strlen(piece);
    return true;
}

static bool count_tokens(const int64_t *tokens, int64_t rows, void *user)
{
    *(double *)user += (double)(rows + tokens[0]);
    return true;
}

static double continue_texts(const scenario_env *place)
{
    WK_SCOPE;
    static const char *const stop[] = {"no such text"};
    double figure = 0;
    wk_seed(1);
    wk_text *text = wk_text_chars_of("abcd");
    wk_module *net = wk_nn_embedding(4, 4, .device = place->device);
    wk_tensor *ids = wk_zeros((2, 2), .dtype = WK_I64, .device = place->device);
    wk_tensor *drawn = wk_generate(net, ids, .max_new_tokens = 3, .do_sample = true, .top_k = 3, .top_p = 0.9,
                                   .min_p = 0.01, .repetition_penalty = 1.2, .on_token = count_tokens, .user = &figure);
    wk_tensor *best = wk_generate(net, ids, .max_new_tokens = 3, .num_beams = 2, .eos_token_id = 3);
    const char *more = wk_generate_text(net, text, "ab", .max_new_tokens = 3, .stop = stop, .stop_count = 1,
                                        .on_text = count_piece, .user = &figure);
    figure += drawn && best ? wk_item(wk_sum(drawn)) + wk_item(wk_sum(best)) : NAN;
    return more && !wk_error() ? figure + (double)strlen(more) : NAN;
}

const scenario scenarios[] = {
    {"train", train},
    {"save", save_network},
    {"load", load_network},
    {"networks", change_networks},
    {"resume", resume_from_checkpoint},
    {"print", print_tensors},
    {"errors", cause_errors},
    {"gradients", differentiate},
    {"recurrent", recur},
    {"bindings", use_bindings},
    {"read", read_text},
    {"decode", decode},
    {"adapters", exchange_adapters},
    {"generate", continue_texts},
};
const int scenario_count = (int)(sizeof scenarios / sizeof *scenarios);
