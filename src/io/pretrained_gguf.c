/* SPDX-License-Identifier: Apache-2.0 */
/* Language models in GGUF files: metadata; see pretrained_config.h.
 *
 * Frequencies that are scaled as in Llama 3.1 are a tensor, rope_freqs.weight: the quotient of the plain frequency of
 * each pair and the scaled one. Its last value is the factor; low_freq_factor, high_freq_factor and original positions
 * are those that all of these models have, and the other values are compared with the result. */
#include "base/alloc.h"
#include "gguf.h"
#include "nn/language/rope.h"
#include "pretrained_config.h"
#include <math.h>
#include <string.h>

/* ---- metadata ---------------------------------------------------------------------------------------------------- */

/* Returns the value of ARCHITECTURE.key; NULL if it is missing. */
static const char *value_of(const wk__safetensors *header, const char *architecture, const char *key)
{
    return wk__metadata_find(header->metadata, header->metadata_count, "%s.%s", architecture, key);
}

/* A value with the option that it becomes. */
typedef struct option {
    const char *key;
    size_t offset;
    bool needed;
} option;

#define OPTION(key, member, needed)                                                                                    \
    {                                                                                                                  \
        key, offsetof(wk_nn_llama_options, member), needed                                                             \
    }
static const option sizes[] = {
    OPTION("block_count", num_hidden_layers, true),
    OPTION("embedding_length", hidden_size, true),
    OPTION("feed_forward_length", intermediate_size, true),
    OPTION("attention.head_count", num_attention_heads, true),
    OPTION("attention.head_count_kv", num_key_value_heads, false),
    OPTION("attention.key_length", head_dim, false),
    OPTION("context_length", max_position_embeddings, true),
};
static const option numbers[] = {
    OPTION("attention.layer_norm_rms_epsilon", rms_norm_eps, true),
    OPTION("rope.freq_base", rope_theta, false),
};
#define COUNT(table) (int)(sizeof(table) / sizeof *(table))

static wk_code no_such(const char *architecture, const char *key, const char *expected, wk__io_error *error)
{
    return wk__io_fail(error, WK_ERR_FORMAT, "\"%s.%s\" is missing or invalid; expected %s", architecture, key,
                       expected);
}

static wk_code read_options(const wk__safetensors *header, const char *architecture, wk_nn_llama_options *out,
                            wk__io_error *error)
{
    for (int k = 0; k < COUNT(sizes); k++) {
        const char *text = value_of(header, architecture, sizes[k].key);
        double value = 0;
        if (!text && !sizes[k].needed) continue;
        if (!text || !wk__parse_double(text, &value) || !(value >= 1 && value < 9e15) || floor(value) != value)
            return no_such(architecture, sizes[k].key, "an integer of at least 1", error);
        const int64_t size = (int64_t)value;
        memcpy((char *)out + sizes[k].offset, &size, sizeof size);
    }
    for (int k = 0; k < COUNT(numbers); k++) {
        const char *text = value_of(header, architecture, numbers[k].key);
        double value = 0;
        if (!text && !numbers[k].needed) continue;
        if (!text || !wk__parse_double(text, &value) || !(value > 0))
            return no_such(architecture, numbers[k].key, "a number above 0", error);
        memcpy((char *)out + numbers[k].offset, &value, sizeof value);
    }
    return WK_OK;
}

/* Checks that a value is missing or a number from `least` to `most`. */
static wk_code check_range(const wk__safetensors *header, const char *architecture, const char *key, double least,
                           double most, wk__io_error *error)
{
    const char *text = value_of(header, architecture, key);
    double value;
    if (!text || (wk__parse_double(text, &value) && value >= least && value <= most)) return WK_OK;
    return wk__io_fail(error, WK_ERR_UNSUPPORTED, "\"%s.%s\" of %s is not supported; expected %g", architecture, key,
                       wk__printable_name(text).text, least);
}

/* Checks that settings which this library lacks are missing or have no effect. */
static wk_code check_settings(const wk__safetensors *header, const char *architecture, const wk_nn_llama_options *o,
                              wk__io_error *error)
{
    const char *scaling = value_of(header, architecture, "rope.scaling.type");
    const double head_dim = (double)o->head_dim, positions = (double)o->max_position_embeddings;
    wk_code code = check_range(header, architecture, "rope.dimension_count", head_dim, head_dim, error);
    if (code == WK_OK) code = check_range(header, architecture, "attention.value_length", head_dim, head_dim, error);
    if (code == WK_OK) code = check_range(header, architecture, "rope.scale_linear", 1, 1, error);
    if (code == WK_OK) code = check_range(header, architecture, "expert_count", 0, 0, error);
    if (code == WK_OK && check_range(header, architecture, "attention.sliding_window", positions, INFINITY, error))
        code = check_range(header, architecture, "attention.sliding_window", 0, 0, error);
    if (code == WK_OK && scaling && strcmp(scaling, "none") != 0)
        code = wk__io_fail(error, WK_ERR_UNSUPPORTED, "\"%s.rope.scaling.type\" of %s is not supported; expected none",
                           architecture, wk__printable_name(scaling).text);
    return code;
}

/* ---- frequencies of rotary positions ----------------------------------------------------------------------------- */

/* Returns true if the quotients are those of Llama 3.1 with this factor. */
static bool is_llama3(const wk_nn_llama_options *o, const float *quotient, double factor)
{
    wk__rope rope = {.head_dim = o->head_dim, .theta = o->rope_theta == 0 ? 10000 : o->rope_theta};
    for (int64_t k = 0; k < o->head_dim / 2; k++) {
        rope.factor = 0;
        const double plain = wk__rope_frequency(&rope, k);
        rope.factor = factor, rope.low = 1, rope.high = 4, rope.original = 8192;
        if (!(fabs(plain / wk__rope_frequency(&rope, k) / (double)quotient[k] - 1) < 1e-4)) return false;
    }
    return true;
}

/* Sets the options that give these quotients. */
static wk_code set_scaling(const float *quotient, int64_t pairs, wk_nn_llama_options *o, wk__io_error *error)
{
    const double factor = (double)quotient[pairs - 1];
    if (!(factor >= 1 && is_llama3(o, quotient, factor)))
        return wk__io_fail(error, WK_ERR_UNSUPPORTED,
                           "the frequencies of \"rope_freqs.weight\" are not supported; expected those of Llama 3.1");
    o->rope_factor = factor;
    o->rope_low_freq_factor = 1;
    o->rope_high_freq_factor = 4;
    o->rope_original_positions = 8192;
    return WK_OK;
}

static wk_code read_scaling(const wk__tensor_file *file, wk_nn_llama_options *o, wk__io_error *error)
{
    const wk__safetensors_tensor *t = wk__safetensors_find(&file->header, "rope_freqs.weight");
    const int64_t pairs = o->head_dim / 2;
    if (!t) return WK_OK;
    if (t->ndim != 1 || t->shape[0] != pairs || pairs == 0 || t->gguf->blocks || t->dtype != WK_F32)
        return wk__io_fail(error, WK_ERR_FORMAT, "\"rope_freqs.weight\" must be F32[%lld]", (long long)pairs);
    float *quotient = wk__alloc((size_t)(t->end - t->begin));
    if (!quotient) return wk__io_fail(error, WK_ERR_MEMORY, "out of host memory");
    wk_code code =
        wk__file_read_at(&file->file, file->header.data_start + t->begin, quotient, t->end - t->begin, error);
    if (code == WK_OK) code = set_scaling(quotient, pairs, o, error);
    wk__free(quotient);
    return code;
}

/* ---- the model --------------------------------------------------------------------------------------------------- */

static wk_code read_architecture(const wk__safetensors *header, const char **architecture, wk__io_error *error)
{
    const int64_t parts = wk__metadata_find_int(header->metadata, header->metadata_count, "split.count");
    const char *name = wk__metadata_find(header->metadata, header->metadata_count, "general.architecture");
    if (!name || (strcmp(name, "llama") != 0 && strcmp(name, "qwen2") != 0))
        return wk__io_fail(error, WK_ERR_UNSUPPORTED, "unknown general.architecture \"%s\"; expected llama or qwen2",
                           wk__printable_name(name ? name : "").text);
    *architecture = name;
    if (parts <= 1) return WK_OK;
    return wk__io_fail(error, WK_ERR_UNSUPPORTED, "one of %lld parts of a model; merge them with gguf-split --merge",
                       (long long)parts);
}

static wk_code read_model(const wk__tensor_file *file, wk__pretrained_config *out, wk__io_error *error)
{
    const wk__safetensors *header = &file->header;
    const wk__safetensors_tensor *embedding = wk__safetensors_find(header, "token_embd.weight");
    const char *architecture = NULL;
    wk_code code = read_architecture(header, &architecture, error);
    if (code != WK_OK) return code;
    if (!embedding || embedding->ndim != 2 || embedding->shape[0] < 1)
        return wk__io_fail(error, WK_ERR_FORMAT, "\"token_embd.weight\" of two dimensions is missing");
    wk_nn_llama_options *o = &out->llama;
    *out = (wk__pretrained_config){.kind = WK__PRETRAINED_LLAMA,
                                   .gguf = true,
                                   .interleaved = strcmp(architecture, "llama") == 0,
                                   .dtype = embedding->dtype};
    const int64_t end = wk__metadata_find_int(header->metadata, header->metadata_count, "tokenizer.ggml.eos_token_id");
    if (end >= 0) out->ends = (wk__pretrained_ends){.token = {end}, .count = 1};
    *o = (wk_nn_llama_options){.size = sizeof *o, .vocab_size = embedding->shape[0]};
    o->attention_bias = !out->interleaved;
    if ((code = read_options(header, architecture, o, error)) != WK_OK) return code;
    if (o->head_dim == 0) o->head_dim = o->hidden_size / o->num_attention_heads;
    code = check_settings(header, architecture, o, error);
    return code == WK_OK ? read_scaling(file, o, error) : code;
}

wk_code wk__pretrained_gguf_read(const wk__tensor_file *file, wk__pretrained_config *out, wk__io_error *error)
{
    const wk_code code = read_model(file, out, error);
    if (code == WK_OK || code == WK_ERR_IO) return code;
    return wk__io_prefix(error, "%s", wk__printable_name(file->file.path).text);
}
