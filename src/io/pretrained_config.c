/* SPDX-License-Identifier: Apache-2.0 */
/* config.json; see pretrained_config.h. Fields that do not change results are skipped. */
#include "pretrained_config.h"
#include <string.h>

/* ---- fields of config.json --------------------------------------------------------------------------------------- */

/* Values of config.json. Strings are NULL, integers and numbers 0 where the file has none. */
typedef struct config {
    const char *model_type, *activation_function, *hidden_act, *rope_type;
    int64_t vocab_size, n_positions, n_embd, n_layer, n_head, n_inner;
    int64_t hidden_size, intermediate_size, num_hidden_layers, num_attention_heads, num_key_value_heads, head_dim;
    int64_t max_position_embeddings, original_max_position_embeddings;
    double layer_norm_epsilon, resid_pdrop, rms_norm_eps;
    double rope_theta, factor, low_freq_factor, high_freq_factor, partial_rotary_factor;
    bool scale_attn_weights, scale_attn_by_inverse_layer_idx, add_cross_attention;
    bool attention_bias, mlp_bias, use_sliding_window, quantized;
    enum { TIE_DEFAULT, TIED, UNTIED } tie;
} config;

#define FIELD(member, kind) WK__FIELD_OF(config, member, WK__FIELD_##kind)

static wk_code read_rope(wk__json *json, void *into, wk__io_error *error)
{
    static const wk__field fields[] = {
        FIELD(rope_type, STRING),
        {.name = "type", .kind = WK__FIELD_STRING, .offset = offsetof(config, rope_type)},
        FIELD(rope_theta, NUMBER),
        FIELD(factor, NUMBER),
        FIELD(low_freq_factor, NUMBER),
        FIELD(high_freq_factor, NUMBER),
        FIELD(partial_rotary_factor, NUMBER),
        FIELD(original_max_position_embeddings, INTEGER),
    };
    return wk__json_part_of_object(json, fields, sizeof fields / sizeof *fields, into, error);
}

static wk_code read_quantization(wk__json *json, void *into, wk__io_error *error)
{
    ((config *)into)->quantized = true;
    return wk__json_skip(json, error);
}

static wk_code read_tie(wk__json *json, void *into, wk__io_error *error)
{
    bool tied;
    const wk_code code = wk__json_bool(json, &tied, error);
    if (code == WK_OK) ((config *)into)->tie = tied ? TIED : UNTIED;
    return code;
}

static const wk__field config_fields[] = {
    FIELD(model_type, STRING),
    FIELD(activation_function, STRING),
    FIELD(hidden_act, STRING),
    FIELD(vocab_size, INTEGER),
    FIELD(n_positions, INTEGER),
    FIELD(n_embd, INTEGER),
    FIELD(n_layer, INTEGER),
    FIELD(n_head, INTEGER),
    FIELD(n_inner, INTEGER),
    FIELD(hidden_size, INTEGER),
    FIELD(intermediate_size, INTEGER),
    FIELD(num_hidden_layers, INTEGER),
    FIELD(num_attention_heads, INTEGER),
    FIELD(num_key_value_heads, INTEGER),
    FIELD(head_dim, INTEGER),
    FIELD(max_position_embeddings, INTEGER),
    FIELD(layer_norm_epsilon, NUMBER),
    FIELD(resid_pdrop, NUMBER),
    FIELD(rms_norm_eps, NUMBER),
    FIELD(rope_theta, NUMBER),
    FIELD(partial_rotary_factor, NUMBER),
    FIELD(scale_attn_weights, BOOL),
    FIELD(scale_attn_by_inverse_layer_idx, BOOL),
    FIELD(add_cross_attention, BOOL),
    FIELD(attention_bias, BOOL),
    FIELD(mlp_bias, BOOL),
    FIELD(use_sliding_window, BOOL),
    {.name = "tie_word_embeddings", .kind = WK__FIELD_READ, .read = read_tie},
    {.name = "rope_scaling", .kind = WK__FIELD_READ, .read = read_rope},
    {.name = "rope_parameters", .kind = WK__FIELD_READ, .read = read_rope},
    {.name = "quantization_config", .kind = WK__FIELD_READ, .read = read_quantization},
};

/* ---- settings ---------------------------------------------------------------------------------------------------- */

/* A setting that this library has with one value only. */
typedef struct setting {
    const char *name;
    bool supported;
    const char *expected;
} setting;

static wk_code check_settings(const setting *settings, int count, wk__io_error *error)
{
    for (int k = 0; k < count; k++)
        if (!settings[k].supported)
            return wk__io_fail(error, WK_ERR_UNSUPPORTED, "\"%s\" is not supported; expected %s", settings[k].name,
                               settings[k].expected);
    return WK_OK;
}

/* A size that config.json must have. */
typedef struct needed {
    const char *name;
    int64_t value;
} needed;

static wk_code check_sizes(const needed *sizes, int count, wk__io_error *error)
{
    for (int k = 0; k < count; k++)
        if (sizes[k].value < 1)
            return wk__io_fail(error, WK_ERR_FORMAT, "missing \"%s\", an integer of at least 1", sizes[k].name);
    return WK_OK;
}

/* Returns a number as an option: 0 would be its default. */
static double as_option(double value)
{
    return value == 0 ? WK_EXPLICIT_ZERO : value;
}

static bool is_one_of(const char *text, const char *a, const char *b)
{
    return !text || strcmp(text, a) == 0 || strcmp(text, b) == 0;
}

static wk_code convert_gpt2(const config *c, wk__pretrained_config *out, wk__io_error *error)
{
    const needed sizes[] = {{"vocab_size", c->vocab_size},
                            {"n_positions", c->n_positions},
                            {"n_embd", c->n_embd},
                            {"n_layer", c->n_layer},
                            {"n_head", c->n_head}};
    const setting settings[] = {
        {"activation_function", is_one_of(c->activation_function, "gelu_new", "gelu_pytorch_tanh"), "gelu_new"},
        {"scale_attn_weights", c->scale_attn_weights, "true"},
        {"scale_attn_by_inverse_layer_idx", !c->scale_attn_by_inverse_layer_idx, "false"},
        {"add_cross_attention", !c->add_cross_attention, "false"},
        {"quantization_config", !c->quantized, "none"}};
    out->gpt = (wk_nn_gpt_options){.size = sizeof out->gpt,
                                   .vocab_size = c->vocab_size,
                                   .n_positions = c->n_positions,
                                   .n_embd = c->n_embd,
                                   .n_layer = c->n_layer,
                                   .n_head = c->n_head,
                                   .n_inner = c->n_inner,
                                   .dropout = as_option(c->resid_pdrop),
                                   .layer_norm_epsilon = as_option(c->layer_norm_epsilon)};
    const wk_code code = check_sizes(sizes, sizeof sizes / sizeof *sizes, error);
    return code == WK_OK ? check_settings(settings, sizeof settings / sizeof *settings, error) : code;
}

static wk_code convert_llama(const config *c, wk__pretrained_config *out, bool qwen2, wk__io_error *error)
{
    const bool scaled = c->rope_type && strcmp(c->rope_type, "default") != 0;
    const bool unsplit = c->partial_rotary_factor == 0 || c->partial_rotary_factor == 1;
    const needed sizes[] = {{"vocab_size", c->vocab_size},
                            {"hidden_size", c->hidden_size},
                            {"intermediate_size", c->intermediate_size},
                            {"num_hidden_layers", c->num_hidden_layers},
                            {"num_attention_heads", c->num_attention_heads},
                            {"max_position_embeddings", c->max_position_embeddings}};
    const setting settings[] = {{"hidden_act", is_one_of(c->hidden_act, "silu", "swish"), "silu"},
                                {"rope_type", !scaled || strcmp(c->rope_type, "llama3") == 0, "default or llama3"},
                                {"partial_rotary_factor", unsplit, "1"},
                                {"attention_bias", !c->attention_bias, "false"},
                                {"mlp_bias", !c->mlp_bias, "false"},
                                {"use_sliding_window", !c->use_sliding_window, "false"},
                                {"quantization_config", !c->quantized, "none"}};
    out->llama = (wk_nn_llama_options){.size = sizeof out->llama,
                                       .vocab_size = c->vocab_size,
                                       .hidden_size = c->hidden_size,
                                       .intermediate_size = c->intermediate_size,
                                       .num_hidden_layers = c->num_hidden_layers,
                                       .num_attention_heads = c->num_attention_heads,
                                       .num_key_value_heads = c->num_key_value_heads,
                                       .head_dim = c->head_dim,
                                       .max_position_embeddings = c->max_position_embeddings,
                                       .rms_norm_eps = as_option(c->rms_norm_eps),
                                       .rope_theta = as_option(c->rope_theta),
                                       .attention_bias = qwen2};
    if (scaled) {
        out->llama.rope_factor = as_option(c->factor);
        out->llama.rope_low_freq_factor = as_option(c->low_freq_factor);
        out->llama.rope_high_freq_factor = as_option(c->high_freq_factor);
        out->llama.rope_original_positions = c->original_max_position_embeddings;
    }
    wk_code code = check_sizes(sizes, sizeof sizes / sizeof *sizes, error);
    if (code == WK_OK) code = check_settings(settings, sizeof settings / sizeof *settings, error);
    if (code == WK_OK && scaled && !(c->factor > 0 && c->original_max_position_embeddings > 0))
        code = wk__io_fail(error, WK_ERR_FORMAT,
                           "rope_type llama3 needs \"factor\" and \"original_max_position_embeddings\" above 0");
    return code;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static wk_code convert(const config *c, wk__pretrained_config *out, wk__io_error *error)
{
    *out = (wk__pretrained_config){.kind = WK__PRETRAINED_LLAMA, .tied = c->tie == TIED};
    if (!c->model_type)
        return wk__io_fail(error, WK_ERR_FORMAT, "missing \"model_type\"; expected gpt2, llama or qwen2");
    if (strcmp(c->model_type, "gpt2") == 0) {
        out->kind = WK__PRETRAINED_GPT2;
        out->tied = c->tie != UNTIED;
        return convert_gpt2(c, out, error);
    }
    const bool qwen2 = strcmp(c->model_type, "qwen2") == 0;
    if (qwen2 || strcmp(c->model_type, "llama") == 0) return convert_llama(c, out, qwen2, error);
    return wk__io_fail(error, WK_ERR_UNSUPPORTED, "unknown model_type \"%s\"; expected gpt2, llama or qwen2",
                       wk__printable_name(c->model_type).text);
}

wk_code wk__pretrained_config_read(const char *path, wk__pretrained_config *out, wk__io_error *error)
{
    enum { MOST = 1 << 24 };
    config c = {.layer_norm_epsilon = 1e-5,
                .resid_pdrop = 0.1,
                .rms_norm_eps = 1e-6,
                .rope_theta = 10000,
                .low_freq_factor = 1,
                .high_freq_factor = 4,
                .scale_attn_weights = true};
    wk__text text = {0};
    wk_code code = wk__pretrained_file_read(path, MOST, &text, config_fields,
                                            sizeof config_fields / sizeof *config_fields, &c, error);
    if (code == WK_OK && (code = convert(&c, out, error)) != WK_OK)
        wk__io_prefix(error, "%s", wk__printable_name(path).text);
    wk__text_free(&text);
    return code;
}
