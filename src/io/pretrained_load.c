/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors of the files into the parameters of a pretrained model; see pretrained.h. */
#include "base/alloc.h"
#include "nn/quantized_linear.h"
#include "pretrained.h"
#include "save_load.h"
#include "tensor/call_scope.h"
#include <stdio.h>
#include <string.h>
#include <wick/ops.h>

#define OP WK__PRETRAINED_OP

/* A call, its parameters, and which of them have been read. */
typedef struct loading {
    const wk__pretrained_call *call;
    const wk__tensor_list *parameters;
    bool *done; /* [parameters->count] */
    bool tied;  /* the model has no parameter for the head */
} loading;

static bool ends_with(const char *name, const char *end)
{
    const size_t length = strlen(name), tail = strlen(end);
    return length >= tail && strcmp(name + length - tail, end) == 0;
}

/* Returns true for a tensor that the model computes itself, or for lm_head.weight of a tied model. */
static bool is_computed(const loading *l, const char *name)
{
    const wk__pretrained_config *c = &l->call->config;
    if (c->gguf) return strcmp(name, "rope_freqs.weight") == 0;
    if (c->kind == WK__PRETRAINED_LLAMA && ends_with(name, ".rotary_emb.inv_freq")) return true;
    if (c->kind == WK__PRETRAINED_GPT2 && (ends_with(name, ".attn.bias") || ends_with(name, ".attn.masked_bias")))
        return true;
    return l->tied && strcmp(name, "lm_head.weight") == 0;
}

/* Returns the number of the parameter with this name, which may lack the name of the body; -1: none. */
static int64_t find_name(const loading *l, const char *body, const char *name)
{
    const char *within;
    for (int64_t k = 0; k < l->parameters->count; k++) {
        const char *own = l->parameters->item[k].name;
        if (strcmp(own, name) == 0 || (wk__strip_prefix(body, own, &within) && strcmp(within, name) == 0)) return k;
    }
    return -1;
}

/* Returns the number of the parameter of a tensor, or of the buffer of its blocks; -1: none. */
static int64_t find_parameter(const loading *l, const wk__safetensors_tensor *t)
{
    const wk__pretrained_config *c = &l->call->config;
    const char *const body = c->kind == WK__PRETRAINED_GPT2 ? "transformer." : "model.";
    char parameter[WK__PARAMETER_NAME], blocks[WK__PARAMETER_NAME + WK__BLOCKS_NAME];
    wk_block_format format;
    if (!c->gguf) return find_name(l, body, t->name);
    if (!wk__pretrained_gguf_name(t->name, parameter)) return -1;
    if (l->call->quantized && wk__pretrained_block_format(t, &format)) {
        snprintf(blocks, sizeof blocks, "%s_%s", parameter, wk__block_formats[format].name);
        const int64_t k = find_name(l, body, blocks);
        if (k >= 0) return k;
    }
    return find_name(l, body, parameter);
}

/* Returns true for the buffer of a quantised layer. */
static bool is_blocks(const wk_tensor *parameter)
{
    return wk__body_of(parameter)->dtype == WK_U8;
}

static bool check_shape(const loading *l, const wk__tensor_file *file, const wk__safetensors_tensor *t,
                        const wk_tensor *parameter)
{
    const wk__body *body = wk__body_of(parameter);
    const bool may_be_read = wk__is_float(t->dtype) || !t->dtype; /* reading reports an unsupported one */
    const bool blocks = is_blocks(parameter);
    if (blocks && t->gguf && t->ndim == 2 && t->shape[0] == body->shape[0] &&
        t->shape[1] / t->gguf->block * t->gguf->bytes == body->shape[1])
        return true;
    if (wk__same_shape(t->ndim, t->shape, body->ndim, body->shape) && (blocks ? t->dtype == WK_U8 : may_be_read))
        return true;
    wk__text text = {0};
    wk__text_format(&text, OP ": %s: ", wk__printable_name(file->file.path).text);
    wk__text_format(&text, "\"%s\" is %s", wk__printable_name(t->name).text, t->dtype_name);
    wk__text_shape(&text, t->ndim, t->shape);
    wk__text_format(&text, "; %s needs %s of shape ", l->call->source, blocks ? "blocks as U8" : "floating numbers");
    wk__text_shape(&text, body->ndim, body->shape);
    wk__error_set_text(file->site, WK_ERR_SHAPE, &text);
    return false;
}

/* Returns q or k of a file with interleaved pairs, whose rows are (heads, pairs, 2), with rows (heads, 2, pairs). */
static wk_tensor *separate_pairs(wk_tensor *x, int64_t heads)
{
    const int64_t rows = wk_size(x, 0), columns = wk_size(x, 1);
    wk_tensor *pairs = wk_reshape(x, (heads, rows / heads / 2, 2, columns));
    return pairs ? wk_reshape(wk_transpose(pairs, 1, 2), (rows, columns)) : NULL;
}

/* Reads a tensor of the file into its parameter, in a new scope. */
static bool load_tensor(const loading *l, const wk__tensor_file *file, const wk__safetensors_tensor *t, int64_t k)
{
    const wk__pretrained_config *config = &l->call->config;
    wk_tensor *const parameter = l->parameters->item[k].tensor;
    wk__call_scope c;
    if (!check_shape(l, file, t, parameter) || !wk__call_begin(&c, WK__FRAME_CALL, OP, file->site, WK__GRAD_OFF))
        return false;
    const wk_device device = wk_device_of(parameter);
    wk_tensor *x = is_blocks(parameter) && t->gguf ? wk__tensor_file_read_blocks(file, t, device)
                                                   : wk__tensor_file_read_one(file, t, device);
    const int64_t heads = config->interleaved ? wk__pretrained_gguf_heads(config, t->name) : 0;
    if (x && heads > 0) x = separate_pairs(x, heads);
    if (x) x = wk_to_dtype_at(file->site, x, wk_dtype_of(parameter));
    l->done[k] = x && wk__assign_one(parameter, x);
    wk__call_end(&c, NULL, 0);
    return l->done[k];
}

/* Reads the tensors of a file. */
static bool load_file(const loading *l, const wk__tensor_file *file)
{
    for (int64_t k = 0; k < file->header.count; k++) {
        const wk__safetensors_tensor *t = &file->header.tensors[k];
        if (is_computed(l, t->name)) continue;
        const int64_t at = find_parameter(l, t);
        if (at < 0) {
            wk__error_set(l->call->site, WK_ERR_SHAPE, OP ": %s: unexpected tensor \"%s\": the model of %s has none",
                          wk__printable_name(file->file.path).text, wk__printable_name(t->name).text, l->call->source);
            return false;
        }
        if (!load_tensor(l, file, t, at)) return false;
    }
    return true;
}

/* Reads all files, after which no parameter may be missing. */
static bool load_files(const loading *l)
{
    const wk__pretrained_call *call = l->call;
    for (int64_t k = 0; k < call->files.count; k++) {
        wk__tensor_file file;
        wk__text path;
        if (!wk__pretrained_open(call, call->files.name[k], &file, &path)) return false;
        const bool fine = (!call->maps || wk__tensor_file_map(&file)) && load_file(l, &file);
        wk__tensor_file_close(&file);
        wk__text_free(&path);
        if (!fine) return false;
    }
    for (int64_t k = 0; k < l->parameters->count; k++) {
        if (l->done[k]) continue;
        wk__error_set(call->site, WK_ERR_SHAPE, OP ": %s: the files have no tensor \"%s\"",
                      wk__printable_name(call->folder).text, l->parameters->item[k].name);
        return false;
    }
    return true;
}

bool wk__pretrained_load(const wk__pretrained_call *call, const wk__tensor_list *parameters, bool tied)
{
    const loading l = {call, parameters, wk__alloc_zero((size_t)parameters->count + 1, sizeof(bool)), tied};
    const bool fine = l.done ? load_files(&l) : wk__pretrained_no_memory(call);
    wk__free(l.done);
    return fine;
}
