/* SPDX-License-Identifier: Apache-2.0 */
/* Tests attention and transformers against goldens/transformers.txt, which goldens/make_transformers.py writes with
 * PyTorch:
 *
 *   case NAME                       begins a case, whose parameters and inputs fill() writes; its lines follow:
 *   names PATH:2,3;..               all parameters with their shapes
 *   out SHAPE NORM V0 .. V7         an output: its norm, and elements k * (count / 8) in row-major order
 *   grads NORM ..                   norms of the gradients of the sum of all outputs times fixed numbers, by the
 *                                   inputs, then the parameters
 *
 * and initial values, copies, dropout, text and messages. */
#include "support/wick.h"
#include <math.h>

enum { INPUT = 100, OUTPUT = 200, MOST_INPUTS = 3, MOST_OUTPUTS = 2, MOST_GRADS = 80, LINE = 8192 };

/* ---- numbers that the script repeats ----------------------------------------------------------------------------- */

static wk_tensor *fill(int number, const int64_t *shape, int ndim)
{
    int64_t count = 1;
    for (int d = 0; d < ndim; d++) count *= shape[d];
    double *values = malloc(((size_t)count + 1) * sizeof *values);
    assert_non_null(values);
    for (int64_t k = 0; k < count; k++) values[k] = sin(0.7 * (double)k * (1 + number % 7) + number) * 0.5;
    wk_tensor *x = wk_from_at(WK_HERE, WK_F64, values, (size_t)count * sizeof *values, shape, ndim);
    free(values);
    return x;
}
#define FILL(number, ...)                                                                                              \
    fill(number, (const int64_t[]){__VA_ARGS__}, (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)))
#define SEQUENCE(number, ...) wk_requires_grad_(FILL(INPUT + (number), __VA_ARGS__), true)

static wk_tensor *hidden(void)
{
    return wk_of(bool, (3, 5), 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0);
}

static wk_tensor *padding(void)
{
    return wk_of(bool, (2, 5), 0, 0, 0, 0, 1, 0, 0, 0, 1, 1);
}

static wk_tensor *later(int64_t n)
{
    return wk_triu(wk_ones((n, n), .dtype = WK_BOOL), 1);
}

static void fill_parameters(wk_module *m)
{
    WK_NO_GRAD;
    wk_tensors *all = wk_parameters(m);
    for (int k = 0; k < wk_tensors_count(all); k++) {
        wk_tensor *x = wk_tensors_get(all, k);
        int64_t shape[8];
        for (int d = 0; d < wk_ndim(x); d++) shape[d] = wk_size(x, d);
        wk_copy_(x, fill(k, shape, wk_ndim(x)));
    }
}

/* ---- cases ------------------------------------------------------------------------------------------------------- */

/* A case: the module, its inputs and outputs. */
typedef struct result {
    wk_module *module;
    int inputs, outputs;
    wk_tensor *in[MOST_INPUTS], *out[MOST_OUTPUTS];
} result;

static void attend(result *r, wk_module *m, bool batch_first, const wk_forward_attention_options *options)
{
    const int64_t rows[] = {3, 5, 5}, size[] = {8, 8, 8};
    r->module = m;
    r->inputs = MOST_INPUTS;
    fill_parameters(m);
    for (int k = 0; k < MOST_INPUTS; k++)
        r->in[k] = batch_first ? SEQUENCE(k, 2, rows[k], size[k]) : SEQUENCE(k, rows[k], 2, size[k]);
    r->out[0] = wk_forward_attention_at(WK_HERE, m, r->in[0], r->in[1], r->in[2], options);
    r->outputs = 1 + (options && options->weights);
}

#define OPTIONS(...) (&(wk_forward_attention_options){.size = sizeof(wk_forward_attention_options), __VA_ARGS__})

static void attention(result *r)
{
    attend(r, wk_nn_multihead_attention(8, 2, .dtype = WK_F64), false, NULL);
}

static void masks(result *r)
{
    attend(r, wk_nn_multihead_attention(8, 2, .batch_first = true, .dtype = WK_F64), true,
           OPTIONS(.attn_mask = hidden(), .key_padding_mask = padding()));
}

static void floats(result *r)
{
    attend(r, wk_nn_multihead_attention(8, 2, .dtype = WK_F64), false,
           OPTIONS(.attn_mask = FILL(50, 4, 3, 5), .key_padding_mask = FILL(51, 2, 5)));
}

static void sizes(result *r)
{
    r->module = wk_nn_multihead_attention(8, 2, .kdim = 6, .vdim = 10, .dtype = WK_F64);
    fill_parameters(r->module);
    r->in[0] = SEQUENCE(0, 3, 2, 8);
    r->in[1] = SEQUENCE(1, 5, 2, 6);
    r->in[2] = SEQUENCE(2, 5, 2, 10);
    r->inputs = 3;
    r->outputs = wk_forward_n(r->module, (r->in[0], r->in[1], r->in[2]), r->out, 1);
}

static void added(result *r)
{
    attend(r, wk_nn_multihead_attention(8, 2, .add_bias_kv = true, .add_zero_attn = true, .dtype = WK_F64), false,
           OPTIONS(.attn_mask = hidden()));
}

static void unbatched(result *r)
{
    r->module = wk_nn_multihead_attention(8, 2, .no_bias = true, .dtype = WK_F64);
    fill_parameters(r->module);
    r->in[0] = SEQUENCE(0, 3, 8);
    r->in[1] = SEQUENCE(1, 5, 8);
    r->in[2] = SEQUENCE(2, 5, 8);
    r->inputs = 3;
    r->outputs = 1;
    r->out[0] =
        wk_forward_attention(r->module, r->in[0], r->in[1], r->in[2], .key_padding_mask = wk_select(padding(), 0, 1));
}

static void weights(result *r)
{
    attend(r, wk_nn_multihead_attention(8, 2, .dtype = WK_F64), false,
           OPTIONS(.attn_mask = hidden(), .weights = &r->out[1]));
}

static void each(result *r)
{
    attend(r, wk_nn_multihead_attention(8, 2, .add_zero_attn = true, .dtype = WK_F64), false,
           OPTIONS(.weights = &r->out[1], .no_average_weights = true));
}

static void self(result *r)
{
    r->module = wk_nn_multihead_attention(8, 4, .batch_first = true, .dtype = WK_F64);
    fill_parameters(r->module);
    r->in[0] = SEQUENCE(0, 2, 5, 8);
    r->inputs = r->outputs = 1;
    r->out[0] = wk_forward_attention(r->module, r->in[0], r->in[0], r->in[0], .is_causal = true);
}

static void encode(result *r, wk_module *m, const wk_forward_transformer_options *options)
{
    r->module = m;
    fill_parameters(m);
    r->in[0] = SEQUENCE(0, 5, 2, 8);
    r->inputs = r->outputs = 1;
    r->out[0] = wk_forward_encoder_at(WK_HERE, m, r->in[0], options);
}

static void decode(result *r, wk_module *m, const wk_forward_transformer_options *options)
{
    r->module = m;
    fill_parameters(m);
    r->in[0] = SEQUENCE(0, 3, 2, 8);
    r->in[1] = SEQUENCE(1, 5, 2, 8);
    r->inputs = 2;
    r->outputs = 1;
    r->out[0] = wk_forward_decoder_at(WK_HERE, m, r->in[0], r->in[1], options);
}

#define MASKS(...) (&(wk_forward_transformer_options){.size = sizeof(wk_forward_transformer_options), __VA_ARGS__})
#define ENCODER_LAYER(...)                                                                                             \
    wk_nn_transformer_encoder_layer(8, 2, .dim_feedforward = 12, .dropout = 0, .dtype = WK_F64, __VA_ARGS__)
#define DECODER_LAYER(...)                                                                                             \
    wk_nn_transformer_decoder_layer(8, 2, .dim_feedforward = 12, .dropout = 0, .dtype = WK_F64, __VA_ARGS__)

static void encoder_layer(result *r)
{
    encode(r, ENCODER_LAYER(.activation = WK_TRANSFORMER_RELU),
           MASKS(.src_is_causal = true, .src_key_padding_mask = padding()));
}

static void encoder_layer_first(result *r)
{
    encode(r, ENCODER_LAYER(.norm_first = true, .activation = WK_TRANSFORMER_GELU, .no_bias = true),
           MASKS(.src_mask = later(5), .src_key_padding_mask = padding()));
}

static void decoder_layer(result *r)
{
    decode(r, DECODER_LAYER(.norm_first = false), MASKS(.tgt_mask = later(3), .memory_key_padding_mask = padding()));
}

static void decoder_layer_first(result *r)
{
    decode(r, DECODER_LAYER(.norm_first = true, .layer_norm_eps = 1e-3),
           MASKS(.tgt_is_causal = true, .memory_key_padding_mask = padding()));
}

static void encoder(result *r)
{
    wk_module *norm = wk_nn_layer_norm((8), .dtype = WK_F64);
    encode(r, wk_nn_transformer_encoder(ENCODER_LAYER(.norm_first = false), 2, .norm = norm),
           MASKS(.src_key_padding_mask = padding()));
}

static void decoder(result *r)
{
    decode(r, wk_nn_transformer_decoder(DECODER_LAYER(.norm_first = false), 2),
           MASKS(.tgt_is_causal = true, .memory_mask = hidden()));
}

static void transform(result *r, wk_module *m, bool batch_first)
{
    r->module = m;
    fill_parameters(m);
    r->in[0] = batch_first ? SEQUENCE(0, 2, 5, 8) : SEQUENCE(0, 5, 2, 8);
    r->in[1] = batch_first ? SEQUENCE(1, 2, 3, 8) : SEQUENCE(1, 3, 2, 8);
    r->inputs = 2;
    r->outputs = 1;
    r->out[0] = wk_forward_transformer(m, r->in[0], r->in[1], .tgt_is_causal = true, .src_key_padding_mask = padding(),
                                       .memory_key_padding_mask = padding());
}

#define TRANSFORMER(...)                                                                                               \
    wk_nn_transformer(8, 2, .num_encoder_layers = 2, .num_decoder_layers = 1, .dim_feedforward = 12, .dropout = 0,     \
                      .dtype = WK_F64, __VA_ARGS__)

static void transformer(result *r)
{
    transform(r, TRANSFORMER(.batch_first = false), false);
}

static void transformer_first(result *r)
{
    transform(r, TRANSFORMER(.batch_first = true, .norm_first = true, .activation = WK_TRANSFORMER_GELU), true);
}

static const struct {
    const char *name;
    void (*run)(result *r);
} cases[] = {{"attention", attention},
             {"masks", masks},
             {"floats", floats},
             {"sizes", sizes},
             {"added", added},
             {"unbatched", unbatched},
             {"weights", weights},
             {"each", each},
             {"self", self},
             {"encoder_layer", encoder_layer},
             {"encoder_layer_first", encoder_layer_first},
             {"decoder_layer", decoder_layer},
             {"decoder_layer_first", decoder_layer_first},
             {"encoder", encoder},
             {"decoder", decoder},
             {"transformer", transformer},
             {"transformer_first", transformer_first}};
enum { CASES = sizeof cases / sizeof *cases };

/* ---- comparison -------------------------------------------------------------------------------------------------- */

static double norm_of(wk_tensor *x)
{
    return x ? sqrt(wk_item(wk_sum(wk_mul(x, x)))) : 0;
}

static void expect_near(const char *name, const char *what, double have, double want)
{
    if (!(fabs(have - want) <= 1e-9 * (1 + fabs(want)))) fail_msg("%s: %s is %.12g, not %.12g", name, what, have, want);
}

static void expect_names(const result *r, const char *want)
{
    char text[LINE] = "";
    wk_tensors *all = wk_parameters(r->module);
    for (int k = 0; k < wk_tensors_count(all); k++) {
        size_t at = strlen(text);
        at += (size_t)snprintf(text + at, sizeof text - at, "%s:", wk_tensors_name(all, k));
        for (int d = 0; d < wk_ndim(wk_tensors_get(all, k)); d++)
            at += (size_t)snprintf(text + at, sizeof text - at, d ? ",%lld" : "%lld",
                                   (long long)wk_size(wk_tensors_get(all, k), d));
        snprintf(text + at, sizeof text - at, ";");
    }
    assert_string_equal(text, want);
}

static void expect_out(const char *name, wk_tensor *x, char *line)
{
    char *next = strchr(line, ' '), *size = line;
    for (int d = 0; d < wk_ndim(x); d++, size++) assert_int_equal(strtoll(size, &size, 10), wk_size(x, d));
    assert_ptr_equal(size - 1, next);
    expect_near(name, "the norm of an output", norm_of(x), strtod(next, &next));
    const int64_t count = wk_numel(x), step = count < 8 ? 1 : count / 8;
    wk_tensor *flat = wk_flatten(wk_contiguous(x));
    for (int64_t k = 0; k < 8 && k * step < count; k++)
        expect_near(name, "an element", wk_item(wk_select(flat, 0, k * step)), strtod(next, &next));
}

static void expect_grads(const char *name, const result *r, char *line)
{
    wk_tensor *total = NULL, *leaf[MOST_GRADS], *grad[MOST_GRADS];
    for (int k = 0; k < r->outputs; k++) {
        int64_t shape[8];
        for (int d = 0; d < wk_ndim(r->out[k]); d++) shape[d] = wk_size(r->out[k], d);
        wk_tensor *part = wk_sum(wk_mul(r->out[k], fill(OUTPUT + k, shape, wk_ndim(r->out[k]))));
        total = total ? wk_add(total, part) : part;
    }
    wk_tensors *all = wk_parameters(r->module);
    const int count = r->inputs + wk_tensors_count(all);
    assert_true(count <= MOST_GRADS);
    for (int k = 0; k < count; k++) leaf[k] = k < r->inputs ? r->in[k] : wk_tensors_get(all, k - r->inputs);
    const wk_grad_options options = {.size = sizeof options, .allow_unused = true};
    assert_int_equal(wk_grad_at(WK_HERE, &total, 1, leaf, count, grad, &options), WK_OK);
    for (int k = 0; k < count; k++) expect_near(name, "the norm of a gradient", norm_of(grad[k]), strtod(line, &line));
}

static void values_are_those_of_pytorch(void **state)
{
    (void)state;
    char path[1024], *line = malloc(LINE);
    assert_non_null(line);
    const char *root = getenv("WICK_SOURCE");
    snprintf(path, sizeof path, "%s/tests/goldens/transformers.txt", root ? root : ".");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    int done = 0, outputs = 0;
    result r = {.module = NULL};
    const char *name = NULL;
    WK_SCOPE;
    while (fgets(line, LINE, file)) {
        line[strcspn(line, "\n")] = 0;
        char *rest = strchr(line, ' ') + 1;
        if (strncmp(line, "case ", 5) == 0) {
            assert_true(done < CASES);
            name = cases[done].name;
            assert_string_equal(rest, name);
            r = (result){.module = NULL};
            outputs = 0;
            cases[done++].run(&r);
            expect_ok();
        } else if (strncmp(line, "names ", 6) == 0) {
            expect_names(&r, rest);
        } else if (strncmp(line, "out ", 4) == 0) {
            expect_out(name, r.out[outputs++], rest);
        } else {
            assert_int_equal(outputs, r.outputs);
            expect_grads(name, &r, rest);
        }
    }
    fclose(file);
    free(line);
    assert_int_equal(done, CASES);
}

/* ---- construction ------------------------------------------------------------------------------------------------ */

static void initial_values(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *m = wk_nn_multihead_attention(16, 4, .add_bias_kv = true);
    assert_true(norm_of(wk_module_parameter(m, "in_proj_bias")) == 0);
    assert_true(norm_of(wk_module_parameter(m, "out_proj.bias")) == 0);
    const double bound = sqrt(6.0 / (16 + 48));
    wk_tensor *weight = wk_abs(wk_module_parameter(m, "in_proj_weight"));
    assert_true(wk_item(wk_amax(weight)) <= bound && wk_item(wk_amax(weight)) > 0.9 * bound);
    assert_true(norm_of(wk_module_parameter(m, "bias_k")) > 0);
    wk_module *t = wk_nn_transformer(16, 2, .num_encoder_layers = 1, .num_decoder_layers = 1, .dim_feedforward = 32);
    weight = wk_abs(wk_module_parameter(t, "encoder.layers.0.linear1.weight"));
    assert_true(wk_item(wk_amax(weight)) <= sqrt(6.0 / 48) && wk_item(wk_amax(weight)) > 0.9 * sqrt(6.0 / 48));
    expect_ok();
}

/* Layers of a stack begin equal, and are then separate. */
static void stacks_copy_their_layer(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *layer = wk_nn_transformer_encoder_layer(8, 2, .dim_feedforward = 4, .dropout = 0);
    wk_module *stack = wk_nn_transformer_encoder(layer, 2);
    wk_tensor *of = wk_module_parameter(layer, "linear1.weight");
    wk_tensor *first = wk_module_parameter(stack, "layers.0.linear1.weight");
    wk_tensor *second = wk_module_parameter(stack, "layers.1.linear1.weight");
    assert_true(wk_item(wk_all(wk_eq(first, of))) == 1 && wk_item(wk_all(wk_eq(second, of))) == 1);
    wk_init_zeros_(first);
    assert_true(norm_of(second) > 0 && norm_of(of) > 0);
    wk_tensor *x = wk_randn((3, 2, 8));
    assert_true(wk_item(wk_all(wk_eq(wk_forward(stack, x), wk_forward(stack, x)))) == 1); /* no dropout in the copies */
    assert_int_equal(wk_parameter_count(wk_nn_transformer_encoder(layer, 0)), 0);
    expect_ok();
}

static void copies_keep_modes(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *layer = wk_nn_transformer_decoder_layer(8, 2, .dim_feedforward = 4);
    wk_requires_grad_(wk_module_parameter(layer, "linear1.weight"), false);
    wk_module_train(wk_module_child(layer, "dropout1"), false);
    wk_module *stack = wk_nn_transformer_decoder(layer, 1);
    assert_false(wk_requires_grad(wk_module_parameter(stack, "layers.0.linear1.weight")));
    assert_true(wk_requires_grad(wk_module_parameter(stack, "layers.0.linear2.weight")));
    assert_false(wk_module_training(wk_module_child(stack, "layers.0.dropout1")));
    assert_true(wk_module_training(wk_module_child(stack, "layers.0.dropout2")));
    wk_module_train(layer, false);
    assert_false(wk_module_training(wk_module_child(wk_nn_transformer_decoder(layer, 1), "layers.0")));
    expect_ok();
}

static void dropout_in_training_only(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *layer = wk_nn_transformer_encoder_layer(8, 2, .dim_feedforward = 16);
    wk_tensor *x = wk_randn((3, 2, 8)), *one = wk_forward(layer, x);
    assert_true(wk_item(wk_all(wk_eq(one, wk_forward(layer, x)))) == 0);
    wk_module_train(layer, false);
    one = wk_forward(layer, x);
    assert_true(wk_item(wk_all(wk_eq(one, wk_forward(layer, x)))) == 1);
    expect_ok();
}

static void rows_without_keys_yield_the_bias(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *m = wk_nn_multihead_attention(4, 2);
    wk_tensor *x = wk_randn((3, 2, 4)), *all = wk_ones((2, 3), .dtype = WK_BOOL), *share;
    assert_true(norm_of(wk_forward_attention(m, x, x, x, .key_padding_mask = all)) == 0);
    assert_true(norm_of(wk_forward_attention(m, x, x, x, .key_padding_mask = all, .weights = &share)) == 0);
    assert_true(norm_of(share) == 0);
    wk_tensor *none = wk_zeros((0, 2, 4)), *padded = wk_ones((2, 0), .dtype = WK_BOOL); /* no keys at all */
    assert_true(norm_of(wk_forward_attention(m, x, none, none, .key_padding_mask = padded)) == 0);
    expect_ok();
}

static void text(void **state)
{
    (void)state;
    WK_SCOPE;
    assert_string_equal(wk_module_str(wk_nn_multihead_attention(4, 2)),
                        "MultiheadAttention(\n  (out_proj): Linear(in_features=4, out_features=4, bias=True)\n)");
    const char *layer = wk_module_str(wk_nn_transformer_encoder_layer(4, 2, .dim_feedforward = 8));
    assert_non_null(strstr(layer, "TransformerEncoderLayer(\n  (self_attn): MultiheadAttention("));
    assert_non_null(strstr(layer, "  (dropout2): Dropout(p=0.1, inplace=False)\n)"));
    expect_ok();
}

static void messages(void **state)
{
    (void)state;
    WK_SCOPE;
    assert_null(wk_nn_multihead_attention(5, 2));
    expect_error("nn_multihead_attention: embed_dim must be a positive multiple of num_heads, got 5 and 2", NULL);
    assert_null(wk_nn_multihead_attention(4, 2, .dropout = 2));
    expect_error(".dropout must be in [0, 1], got 2", NULL);
    assert_null(wk_nn_transformer_encoder(wk_nn_linear(2, 2), 1));
    expect_error("expected a transformer_encoder_layer and at least 0 layers, got a linear and 1", NULL);
    assert_null(wk_nn_transformer_decoder_layer(4, 2, .activation = 7));
    expect_error("nn_transformer_decoder_layer: .activation must be WK_TRANSFORMER_RELU or WK_TRANSFORMER_GELU, got 7",
                 NULL);
    assert_null(wk_nn_transformer_encoder_layer(8, 3));
    expect_error("nn_transformer_encoder_layer: d_model must be a positive multiple of nhead, got 8 and 3", NULL);
    assert_null(wk_nn_transformer(8, 3));
    expect_error("nn_transformer: d_model must be a positive multiple of nhead, got 8 and 3", NULL);
    assert_null(wk_nn_transformer_decoder_layer(4, 2, .dim_feedforward = -1));
    expect_error("nn_transformer_decoder_layer: .dim_feedforward must be at least 0, got -1", NULL);
    wk_module *m = wk_nn_multihead_attention(4, 2);
    wk_tensor *x = wk_randn((3, 2, 4));
    assert_null(wk_forward(m, wk_randn((3, 2, 5))));
    expect_error("multihead_attention: query f32[3,2,5] must have 3 dimensions and 4 features", NULL);
    assert_null(wk_forward_attention(m, x, wk_randn((3, 4)), x));
    expect_error("key f32[3,4] must have the dimensions of query f32[3,2,4] (3) and 4 features", NULL);
    assert_null(wk_forward(m, wk_randn((4))));
    expect_error("expected sequences of 3 dimensions, or of 2 for one sample, got 1", NULL);
    assert_null(wk_forward_attention(m, x, wk_randn((3, 1, 4)), x));
    expect_error("query f32[3,2,4] and key f32[3,1,4] must have the same number of samples (dimension 1)", NULL);
    assert_null(wk_forward_attention(m, x, x, wk_randn((3, 3, 4))));
    expect_error("query f32[3,2,4] and value f32[3,3,4] must have the same number of samples (dimension 1)", NULL);
    assert_null(wk_forward_attention(m, x, x, wk_randn((5, 2, 4))));
    expect_error("multihead_attention: key f32[3,2,4] and value f32[5,2,4] must have the same length (dimension 0)",
                 NULL);
    assert_null(wk_forward_attention(wk_nn_multihead_attention(4, 2, .batch_first = true), x, x, wk_randn((3, 5, 4))));
    expect_error("key f32[3,2,4] and value f32[3,5,4] must have the same length (dimension 1)", NULL);
    assert_null(wk_forward_attention(m, wk_randn((3, 4)), wk_randn((2, 4)), wk_randn((3, 4))));
    expect_error("key f32[2,4] and value f32[3,4] must have the same length (dimension 0)", NULL);
    assert_null(wk_forward_attention(m, x, x, x, .attn_mask = wk_ones((2, 3))));
    expect_error("multihead_attention: .attn_mask must have shape (3, 3) or (4, 3, 3), got (2, 3)", NULL);
    assert_null(wk_forward_attention(m, x, x, x, .key_padding_mask = wk_ones((2, 3), .dtype = WK_I64)));
    expect_error("multihead_attention: .key_padding_mask must be bool or floating, got i64", NULL);
    assert_null(wk_forward_attention(m, x, x, x, .key_padding_mask = wk_zeros((3, 2), .dtype = WK_BOOL)));
    expect_error("multihead_attention: .key_padding_mask must have shape (2, 3), got (3, 2)", NULL);
    assert_null(wk_forward_attention(wk_nn_linear(4, 4), x, x, x));
    expect_error("forward_attention: expected a multihead_attention, got a linear", NULL);
    assert_null(wk_forward_decoder(wk_nn_transformer_encoder_layer(4, 2), x, x));
    expect_error("forward_decoder: expected a transformer_decoder or transformer_decoder_layer, got a "
                 "transformer_encoder_layer",
                 NULL);
    assert_null(wk_forward(wk_nn_transformer_decoder_layer(4, 2), x));
    expect_error("transformer_decoder_layer: expected 2 inputs and 1 output, got 1 and 1", NULL);
}

/* ---- positions --------------------------------------------------------------------------------------------------- */

static void sinusoidal_positions(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_sinusoidal_positions(3, 4, .dtype = WK_F64);
    EXPECT_SHAPE(x, 3, 4);
    EXPECT_VALUES(x, 1e-15, 0, 1, 0, 1, sin(1), cos(1), sin(0.01), cos(0.01), sin(2), cos(2), sin(0.02), cos(0.02));
    x = wk_sinusoidal_positions(2, 3, .dtype = WK_F64); /* the last cosine is left out */
    const double rate = pow(10000, -2.0 / 3);
    EXPECT_VALUES(x, 1e-15, 0, 1, 0, sin(1), cos(1), sin(rate));
    EXPECT_SHAPE(wk_sinusoidal_positions(0, 4), 0, 4);
    x = wk_sinusoidal_positions(1000, 32, .requires_grad = true);
    assert_true(wk_dtype_of(x) == WK_F32 && wk_requires_grad(x));
    EXPECT_VALUES(wk_select(wk_select(x, 0, 999), 0, 0), 1e-7, sin(999)); /* not rounded to f32 before the sine */
    assert_int_equal(wk_device_of(wk_sinusoidal_positions(2, 2, .device = test_null())).kind, test_null().kind);
    expect_ok();
    assert_null(wk_sinusoidal_positions(-1, 4));
    expect_error("sinusoidal_positions: expected a length of at least 0 and at least 1 feature, got -1 and 4", NULL);
    assert_null(wk_sinusoidal_positions(2, 0));
    expect_error("got 2 and 0", NULL);
    assert_null(wk_sinusoidal_positions(INT64_MAX / 4, 8));
    expect_error("sinusoidal_positions: out of host memory", NULL);
}

/* Slopes of heads that are and are not a power of 2, and biases with and without keys from before. */
static void attention_with_linear_biases(void **state)
{
    (void)state;
    WK_SCOPE;
    EXPECT_VALUES(wk_alibi_slopes(1), 0, 1.0 / 256);
    EXPECT_VALUES(wk_alibi_slopes(8), 0, 0.5, 0.25, 0.125, 0.0625, 0.03125, 1.0 / 64, 1.0 / 128, 1.0 / 256);
    EXPECT_VALUES(wk_alibi_slopes(6, .dtype = WK_F64), 1e-15, 0.25, 0.0625, 1.0 / 64, 1.0 / 256, 0.5, 0.125);
    wk_tensor *x = wk_alibi_bias(2, 2, 3);
    EXPECT_SHAPE(x, 2, 2, 3);
    EXPECT_VALUES(wk_mul(x, 256), 0, -16, -0.0, -16, -32, -16, -0.0, -1, -0.0, -1, -2, -1, -0.0);
    x = wk_alibi_bias(2, 2, 3, .is_causal = true, .dtype = WK_F64);
    EXPECT_VALUES(wk_mul(wk_select(x, 0, 0), 256), 0, -16, -0.0, -INFINITY, -32, -16, -0.0);
    assert_int_equal(wk_dtype_of(x), WK_F64);
    assert_int_equal(wk_device_of(wk_alibi_bias(1, 2, 2, .device = test_null())).kind, test_null().kind);
    assert_int_equal(wk_device_of(wk_zeros((1))).kind, WK_CPU);
    EXPECT_SHAPE(wk_alibi_bias(3, 0, 4), 3, 0, 4);
    expect_ok();
    assert_null(wk_alibi_slopes(0));
    expect_error("alibi_slopes: num_heads must be at least 1, got 0", NULL);
    assert_null(wk_alibi_bias(-1, 2, 2));
    expect_error("alibi_bias: num_heads must be at least 1, got -1", NULL);
    assert_null(wk_alibi_bias(2, 3, 2));
    expect_error("alibi_bias: rows must be in [0, keys], got 3 and 2", NULL);
    assert_null(wk_alibi_bias(2, 2, 2, .dtype = WK_I64));
    expect_error("alibi_bias: .dtype must be floating, got i64", NULL);
}

/* Attention with a bias as .attn_mask equals the formula, in the op and in the layer. */
static void a_bias_is_added_to_the_products(void **state)
{
    (void)state;
    WK_SCOPE;
    WK_NO_GRAD;
    wk_tensor *q = FILL(1, 2, 4, 3, 5), *k = FILL(2, 2, 4, 6, 5), *v = FILL(3, 2, 4, 6, 5);
    wk_tensor *bias = wk_alibi_bias(4, 3, 6, .is_causal = true, .dtype = WK_F64);
    wk_tensor *score = wk_add(wk_mul(wk_matmul(q, wk_transpose(k, 2, 3)), 1 / sqrt(5)), bias);
    wk_tensor *expected = wk_matmul(wk_softmax(score, -1), v);
    assert_true(wk_allclose(wk_scaled_dot_product_attention(q, k, v, .attn_mask = bias), expected, .rtol = 1e-12));
    wk_module *m = wk_nn_multihead_attention(8, 2, .batch_first = true, .dtype = WK_F64);
    wk_tensor *x = FILL(4, 3, 5, 8), *own = wk_alibi_bias(2, 5, 5, .dtype = WK_F64), *weights;
    wk_tensor *y = wk_forward_attention(m, x, x, x, .attn_mask = wk_repeat(own, (3, 1, 1)), .is_causal = true);
    wk_tensor *causal = wk_alibi_bias(2, 5, 5, .is_causal = true, .dtype = WK_F64);
    wk_tensor *z = wk_forward_attention(m, x, x, x, .attn_mask = wk_repeat(causal, (3, 1, 1)), .weights = &weights);
    assert_true(wk_allclose(y, z, .rtol = 1e-12));
    assert_false(wk_allclose(y, wk_forward_attention(m, x, x, x, .is_causal = true)));
    assert_true(wk_item(wk_sum(wk_triu(weights, 1))) == 0);
    expect_ok();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_pytorch),
        cmocka_unit_test(initial_values),
        cmocka_unit_test(stacks_copy_their_layer),
        cmocka_unit_test(copies_keep_modes),
        cmocka_unit_test(dropout_in_training_only),
        cmocka_unit_test(rows_without_keys_yield_the_bias),
        cmocka_unit_test(text),
        cmocka_unit_test(messages),
        cmocka_unit_test(sinusoidal_positions),
        cmocka_unit_test(attention_with_linear_biases),
        cmocka_unit_test(a_bias_is_added_to_the_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
