/* SPDX-License-Identifier: Apache-2.0 */
/* wk_nn_pretrained: a model from a folder of Hugging Face's transformers, or from a GGUF file.
 *
 * The files are opened twice: the headers decide on the dtype and on whether lm_head.weight is the embedding; then the
 * model is created without initial values, and each tensor is read and assigned to the parameter of its name. */
#include "base/alloc.h"
#include "base/options.h"
#include "pretrained_config.h"
#include "save_load.h"
#include "tensor/call_scope.h"
#include "tensor_file.h"
#include <string.h>
#include <wick/ops.h>

#define OP "nn_pretrained"

/* A call: the folder or GGUF file, its files, and what is known about their tensors. */
typedef struct loading {
    wk_site site;
    const char *folder;
    wk__pretrained_config config;
    wk__pretrained_files files;
    wk_dtype dtype; /* of the parameters; 0: that of the first floating tensor, in a GGUF file of the embedding */
    bool has_head;  /* a file has lm_head.weight, or it is a GGUF file */
    const wk__tensor_list *parameters;
    bool *loaded; /* [parameters->count] */
} loading;

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Returns "folder/name", or the folder if name is ""; empty and failed on allocation failure. */
static wk__text path_of(const char *folder, const char *name)
{
    wk__text path = {0};
    wk__text_format(&path, *name ? "%s/%s" : "%s", folder, name);
    return path;
}

static bool fail(const loading *l, wk_code code, const wk__io_error *error)
{
    wk__error_set(l->site, code, OP ": %s", error->text);
    return false;
}

static bool no_memory(const loading *l)
{
    wk__error_set(l->site, WK_ERR_MEMORY, OP ": out of host memory");
    return false;
}

static bool read_config(loading *l)
{
    wk__io_error error;
    wk__text path = path_of(l->folder, "config.json");
    if (path.failed) {
        wk__text_free(&path);
        return no_memory(l);
    }
    const wk_code code = wk__pretrained_config_read(path.data, &l->config, &error);
    wk__text_free(&path);
    return code == WK_OK || fail(l, code, &error);
}

/* Opens a file of weights. Its path, in *path, must outlive it. Returns false on error. */
static bool open_file(const loading *l, const char *name, wk__tensor_file *file, wk__text *path)
{
    wk__io_error error;
    *path = path_of(l->folder, name);
    *file = (wk__tensor_file){.site = l->site, .op = OP};
    const wk_code code = path->failed ? wk__io_fail(&error, WK_ERR_MEMORY, "out of host memory")
                                      : wk__tensor_file_open(file, path->data, &error);
    if (code == WK_OK) return true;
    wk__text_free(path);
    return fail(l, code, &error);
}

/* Returns true if the path is that of a file, and no folder, that can be opened. */
static bool is_file(const char *path)
{
    wk__file file;
    wk__io_error error;
    const bool there = wk__file_open(&file, path, &error) == WK_OK;
    if (there) wk__file_close(&file);
    return there;
}

/* Returns true if the folder has a file of this name that can be opened. */
static bool has_file(const loading *l, const char *name)
{
    wk__text path = path_of(l->folder, name);
    const bool there = !path.failed && is_file(path.data);
    wk__text_free(&path);
    return there;
}

static bool add_file(loading *l, const char *name)
{
    if (!wk__grow(&l->files.name, &l->files.capacity, 1, sizeof *l->files.name)) return no_memory(l);
    l->files.name[l->files.count++] = name;
    return true;
}

/* Lists the files of weights: those of the index if there is no other. */
static bool list_files(loading *l)
{
    static const char index[] = "model.safetensors.index.json", only[] = "model.safetensors";
    wk__io_error error;
    if (has_file(l, only) || !has_file(l, index)) return add_file(l, only);
    wk__text path = path_of(l->folder, index);
    const wk_code code = path.failed ? wk__io_fail(&error, WK_ERR_MEMORY, "out of host memory")
                                     : wk__pretrained_index_read(path.data, &l->files, &error);
    wk__text_free(&path);
    return code == WK_OK || fail(l, code, &error);
}

static bool read_headers(loading *l)
{
    for (int64_t k = 0; k < l->files.count; k++) {
        wk__tensor_file file;
        wk__text path;
        if (!open_file(l, l->files.name[k], &file, &path)) return false;
        l->has_head = l->has_head || wk__safetensors_find(&file.header, "lm_head.weight");
        for (int64_t t = 0; t < file.header.count && !l->dtype; t++)
            if (wk__is_float(file.header.tensors[t].dtype)) l->dtype = file.header.tensors[t].dtype;
        wk__tensor_file_close(&file);
        wk__text_free(&path);
    }
    return true;
}

/* Reads the description of the model in a folder, and the headers of its files. */
static bool describe_folder(loading *l)
{
    return read_config(l) && list_files(l) && read_headers(l);
}

/* Reads the description of the model in a GGUF file. */
static bool describe_gguf(loading *l)
{
    wk__io_error error;
    wk__tensor_file file;
    wk__text path;
    if (!add_file(l, "") || !open_file(l, "", &file, &path)) return false;
    const wk_code code = file.is_gguf
                             ? wk__pretrained_gguf_read(&file, &l->config, &error)
                             : wk__io_fail(&error, WK_ERR_FORMAT, "%s: not a GGUF file; pass the folder of config.json",
                                           wk__printable_name(l->folder).text);
    wk__tensor_file_close(&file);
    wk__text_free(&path);
    if (code != WK_OK) return fail(l, code, &error);
    l->has_head = true;
    if (!l->dtype) l->dtype = l->config.dtype;
    return true;
}

/* ---- tensors ----------------------------------------------------------------------------------------------------- */

static bool ends_with(const char *name, const char *end)
{
    const size_t length = strlen(name), tail = strlen(end);
    return length >= tail && strcmp(name + length - tail, end) == 0;
}

/* Returns true for a tensor that the model computes itself, or for lm_head.weight of a tied model. */
static bool is_computed(const loading *l, const char *name, bool tied)
{
    if (l->config.gguf) return strcmp(name, "rope_freqs.weight") == 0;
    if (l->config.kind == WK__PRETRAINED_LLAMA && ends_with(name, ".rotary_emb.inv_freq")) return true;
    if (l->config.kind == WK__PRETRAINED_GPT2 &&
        (ends_with(name, ".attn.bias") || ends_with(name, ".attn.masked_bias")))
        return true;
    return tied && strcmp(name, "lm_head.weight") == 0;
}

/* Returns the number of the parameter of a tensor, whose name may lack the name of the body; -1: none. */
static int64_t find_parameter(const loading *l, const char *name)
{
    char parameter[WK__PARAMETER_NAME];
    if (l->config.gguf && !wk__pretrained_gguf_name(name, parameter)) return -1;
    if (l->config.gguf) name = parameter;
    const char *const prefix = l->config.kind == WK__PRETRAINED_GPT2 ? "transformer." : "model.", *rest;
    for (int64_t k = 0; k < l->parameters->count; k++)
        if (strcmp(l->parameters->item[k].name, name) == 0) return k;
    for (int64_t k = 0; k < l->parameters->count; k++)
        if (wk__strip_prefix(prefix, l->parameters->item[k].name, &rest) && strcmp(rest, name) == 0) return k;
    return -1;
}

/* Returns what describes the model, for messages. */
static const char *description(const loading *l)
{
    return l->config.gguf ? "the metadata" : "config.json";
}

static bool check_shape(const loading *l, const wk__tensor_file *file, const wk__safetensors_tensor *t,
                        const wk_tensor *parameter)
{
    const wk__body *body = wk__body_of(parameter);
    const bool may_be_read = wk__is_float(t->dtype) || !t->dtype; /* reading reports an unsupported one */
    if (wk__same_shape(t->ndim, t->shape, body->ndim, body->shape) && may_be_read) return true;
    wk__text text = {0};
    wk__text_format(&text, OP ": %s: ", wk__printable_name(file->file.path).text);
    wk__text_format(&text, "\"%s\" is %s", wk__printable_name(t->name).text, t->dtype_name);
    wk__text_shape(&text, t->ndim, t->shape);
    wk__text_format(&text, "; %s needs floating numbers of shape ", description(l));
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

/* Reads a tensor of the file into its parameter, in a scope of its own. */
static bool load_tensor(const loading *l, const wk__tensor_file *file, const wk__safetensors_tensor *t, int64_t k)
{
    wk_tensor *const parameter = l->parameters->item[k].tensor;
    wk__call_scope c;
    if (!check_shape(l, file, t, parameter) || !wk__call_begin(&c, WK__FRAME_CALL, OP, l->site, WK__GRAD_OFF))
        return false;
    wk_tensor *x = wk__tensor_file_read_one(file, t, wk_device_of(parameter));
    const int64_t heads = l->config.interleaved ? wk__pretrained_gguf_heads(&l->config, t->name) : 0;
    if (x && heads > 0) x = separate_pairs(x, heads);
    if (x) x = wk_to_dtype_at(l->site, x, wk_dtype_of(parameter));
    const bool fine = x && wk__assign_one(parameter, x);
    wk__call_end(&c, NULL, 0);
    l->loaded[k] = fine;
    return fine;
}

/* Reads the tensors of a file. */
static bool load_file(const loading *l, const wk__tensor_file *file, bool tied)
{
    for (int64_t k = 0; k < file->header.count; k++) {
        const wk__safetensors_tensor *t = &file->header.tensors[k];
        if (is_computed(l, t->name, tied)) continue;
        const int64_t at = find_parameter(l, t->name);
        if (at < 0) {
            wk__error_set(l->site, WK_ERR_SHAPE, OP ": %s: unexpected tensor \"%s\": the model of %s has none",
                          wk__printable_name(file->file.path).text, wk__printable_name(t->name).text, description(l));
            return false;
        }
        if (!load_tensor(l, file, t, at)) return false;
    }
    return true;
}

/* Reads all files, after which no parameter may be missing. */
static bool load_files(const loading *l, bool tied)
{
    for (int64_t k = 0; k < l->files.count; k++) {
        wk__tensor_file file;
        wk__text path;
        if (!open_file(l, l->files.name[k], &file, &path)) return false;
        const bool fine = load_file(l, &file, tied);
        wk__tensor_file_close(&file);
        wk__text_free(&path);
        if (!fine) return false;
    }
    for (int64_t k = 0; k < l->parameters->count; k++) {
        if (l->loaded[k]) continue;
        wk__error_set(l->site, WK_ERR_SHAPE, OP ": %s: the files have no tensor \"%s\"",
                      wk__printable_name(l->folder).text, l->parameters->item[k].name);
        return false;
    }
    return true;
}

/* ---- the model --------------------------------------------------------------------------------------------------- */

static wk_module *create_model(loading *l, wk_device device, bool tied)
{
    wk__pretrained_config *c = &l->config;
    if (c->kind == WK__PRETRAINED_GPT2) {
        c->gpt.untied = !tied;
        c->gpt.dtype = l->dtype;
        c->gpt.device = device;
        return wk_nn_gpt_at(l->site, &c->gpt);
    }
    c->llama.tie_word_embeddings = tied;
    c->llama.dtype = l->dtype;
    c->llama.device = device;
    return wk_nn_llama_at(l->site, &c->llama);
}

/* Creates the model and reads its parameters. Returns NULL on error. */
static wk_module *load_model(loading *l, wk_device device)
{
    const bool tied = l->config.tied || !l->has_head;
    wk_module *m = create_model(l, device, tied);
    wk_tensors *list = m ? wk__module_state_dict(l->site, OP, m) : NULL;
    if (!list) return NULL;
    l->parameters = wk__tensor_list_of(list);
    l->loaded = wk__alloc_zero((size_t)l->parameters->count + 1, sizeof *l->loaded);
    const bool fine = l->loaded ? load_files(l, tied) : no_memory(l);
    wk__free(l->loaded);
    return fine ? wk_module_train_at(l->site, m, false) : NULL;
}

wk_module *wk_nn_pretrained_at(wk_site site, const char *folder, const wk_nn_pretrained_options *options)
{
    wk_nn_pretrained_options o;
    wk__call_scope c;
    if (!wk__options(site, OP, options, &o) || !wk__check_path(site, OP, folder) ||
        !wk__call_begin(&c, WK__FRAME_CALL, OP, site, WK__GRAD_KEPT))
        return NULL;
    wk__context()->frame.initial_off = true; /* the end of the call restores it */
    loading l = {.site = site, .folder = folder, .dtype = o.dtype};
    const bool fine = is_file(folder) ? describe_gguf(&l) : describe_folder(&l);
    wk_module *m = fine ? load_model(&l, o.device) : NULL;
    wk__pretrained_files_free(&l.files);
    if (m) wk__handle_keep(&m->handle, site);
    wk__call_end(&c, NULL, 0);
    return m;
}
