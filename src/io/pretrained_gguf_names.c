/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the tensors of language models in GGUF files and in transformers; see pretrained_config.h. */
#include "pretrained_config.h"
#include <string.h>

/* A name in GGUF files and in transformers. */
typedef struct pair_of_names {
    const char *gguf, *parameter;
} pair_of_names;

static const pair_of_names whole[] = {
    {"token_embd.weight", "model.embed_tokens.weight"},
    {"output_norm.weight", "model.norm.weight"},
    {"output.weight", "lm_head.weight"},
};
/* within blk.N or model.layers.N, followed by .weight or .bias */
static const pair_of_names parts[] = {
    {"attn_norm", "input_layernorm"},         {"attn_q", "self_attn.q_proj"},      {"attn_k", "self_attn.k_proj"},
    {"attn_v", "self_attn.v_proj"},           {"attn_output", "self_attn.o_proj"}, {"ffn_gate", "mlp.gate_proj"},
    {"ffn_norm", "post_attention_layernorm"}, {"ffn_up", "mlp.up_proj"},           {"ffn_down", "mlp.down_proj"},
};

/* Returns what follows "blk.N."; NULL if the name does not begin so, or N has more than 9 digits. */
static const char *after_block(const char *name)
{
    const char *number, *end;
    if (!wk__strip_prefix("blk.", name, &number)) return NULL;
    end = number + strspn(number, "0123456789");
    return end > number && end - number < 10 && *end == '.' ? end + 1 : NULL;
}

bool wk__pretrained_gguf_name(const char *name, char parameter[WK__PARAMETER_NAME])
{
    const char *const part = after_block(name), *rest;
    for (int k = 0; k < (int)(sizeof whole / sizeof *whole); k++)
        if (strcmp(name, whole[k].gguf) == 0) return snprintf(parameter, WK__PARAMETER_NAME, "%s", whole[k].parameter);
    for (int k = 0; part && k < (int)(sizeof parts / sizeof *parts); k++) {
        if (!wk__strip_prefix(parts[k].gguf, part, &rest) || (strcmp(rest, ".weight") && strcmp(rest, ".bias")))
            continue;
        const char *const number = name + strlen("blk.");
        return snprintf(parameter, WK__PARAMETER_NAME, "model.layers.%.*s%s%s", (int)(part - number), number,
                        parts[k].parameter, rest);
    }
    return false;
}

int64_t wk__pretrained_gguf_heads(const wk__pretrained_config *config, const char *name)
{
    const char *const part = after_block(name);
    if (!part) return 0;
    const wk_nn_llama_options *o = &config->llama;
    if (strcmp(part, "attn_q.weight") == 0) return o->num_attention_heads;
    if (strcmp(part, "attn_k.weight") != 0) return 0;
    return o->num_key_value_heads ? o->num_key_value_heads : o->num_attention_heads;
}
