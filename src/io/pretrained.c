/* SPDX-License-Identifier: Apache-2.0 */
/* wk_nn_pretrained: a model from a folder of Hugging Face's transformers, or from a GGUF file.
 *
 * The files are opened twice: the headers decide on the dtype and on whether lm_head.weight is the embedding; then the
 * model is created without initial values, and each tensor is read and assigned to the parameter of its name. */
#include "base/options.h"
#include "nn/language/language.h"
#include "pretrained.h"
#include "save_load.h"
#include "tensor/call_scope.h"
#include <string.h>

#define OP WK__PRETRAINED_OP

/* ---- files ------------------------------------------------------------------------------------------------------- */

bool wk__pretrained_fail(const wk__pretrained_call *l, wk_code code, const wk__io_error *error)
{
    wk__error_set(l->site, code, OP ": %s", error->text);
    return false;
}

bool wk__pretrained_no_memory(const wk__pretrained_call *l)
{
    wk__error_set(l->site, WK_ERR_MEMORY, OP ": out of host memory");
    return false;
}

/* Sets the error of a file of the folder; if the system reports one, with the files that a folder must have. */
static bool fail_file(const wk__pretrained_call *l, wk_code code, const wk__io_error *error)
{
    if (code != WK_ERR_IO || wk__pretrained_is_file(l->folder)) return wk__pretrained_fail(l, code, error);
    wk__error_set(l->site, code,
                  OP ": %s; the folder must have config.json and model.safetensors, or its parts and "
                     "model.safetensors.index.json (nothing is downloaded)",
                  error->text);
    return false;
}

bool wk__pretrained_open(const wk__pretrained_call *l, const char *name, wk__tensor_file *file, wk__text *path)
{
    wk__io_error error;
    *path = wk__pretrained_path(l->folder, name);
    *file = (wk__tensor_file){.site = l->site, .op = OP};
    const wk_code code = path->failed ? wk__io_fail(&error, WK_ERR_MEMORY, "out of host memory")
                                      : wk__tensor_file_open(file, path->data, &error);
    if (code == WK_OK) return true;
    wk__text_free(path);
    return fail_file(l, code, &error);
}

/* Adds the tensors of a file to the totals, and those of unsupported types, for which reading has a better message. */
static void read_header(wk__pretrained_call *l, const wk__safetensors *header)
{
    wk_block_format format;
    l->has_head = l->has_head || wk__safetensors_find(header, l->config.gguf ? "output.weight" : "lm_head.weight");
    for (int64_t k = 0; k < header->count; k++) {
        const wk__safetensors_tensor *t = &header->tensors[k];
        if (!t->gguf && wk__pretrained_block_format(t, &format)) {
            static const char head[] = "lm_head.weight_";
            const wk__block_format *f = &wk__block_formats[format];
            l->has_head = l->has_head || strncmp(t->name, head, strlen(head)) == 0;
            l->saved_blocks = true;
            l->elements += (double)t->shape[0] * (double)(t->shape[1] / f->bytes * f->elements);
            l->tensors++;
        }
        if (t->dtype && !wk__is_float(t->dtype)) continue;
        if (!l->dtype) l->dtype = t->dtype;
        l->elements += (double)wk__numel(t->ndim, t->shape);
        l->tensors++;
    }
}

static bool read_headers(wk__pretrained_call *l)
{
    for (int64_t k = 0; k < l->files.count; k++) {
        wk__tensor_file file;
        wk__text path;
        if (!wk__pretrained_open(l, l->files.name[k], &file, &path)) return false;
        read_header(l, &file.header);
        wk__tensor_file_close(&file);
        wk__text_free(&path);
    }
    return true;
}

/* Reads config.json, lists the files of weights and reads their headers. */
static bool read_folder(wk__pretrained_call *l)
{
    wk__io_error error;
    wk__text path = wk__pretrained_path(l->folder, "config.json");
    wk_code code = path.failed ? wk__io_fail(&error, WK_ERR_MEMORY, "out of host memory")
                               : wk__pretrained_config_read(path.data, &l->config, &error);
    wk__text_free(&path);
    if (code == WK_OK) code = wk__pretrained_ends_read(l->folder, &l->config.ends, &error);
    if (code == WK_OK) code = wk__pretrained_files_list(l->folder, &l->files, &error);
    return code == WK_OK ? read_headers(l) : fail_file(l, code, &error);
}

/* Reads the description of the model in a GGUF file, and its header. */
static bool read_gguf(wk__pretrained_call *l)
{
    wk__io_error error;
    wk__tensor_file file;
    wk__text path;
    if (!wk__pretrained_files_add(&l->files, "")) return wk__pretrained_no_memory(l);
    if (!wk__pretrained_open(l, "", &file, &path)) return false;
    const wk_code code = file.is_gguf
                             ? wk__pretrained_gguf_read(&file, &l->config, &error)
                             : wk__io_fail(&error, WK_ERR_FORMAT, "%s: not a GGUF file; pass the folder of config.json",
                                           wk__printable_name(l->folder).text);
    if (code == WK_OK) {
        if (!l->dtype) l->dtype = l->config.dtype;
        read_header(l, &file.header);
    }
    wk__tensor_file_close(&file);
    wk__text_free(&path);
    return code == WK_OK || wk__pretrained_fail(l, code, &error);
}

/* ---- the model --------------------------------------------------------------------------------------------------- */

static wk_module *create_model(wk__pretrained_call *l, wk_device device, bool tied)
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
static wk_module *load_model(wk__pretrained_call *l, wk_device device)
{
    const bool tied = l->config.tied || !l->has_head;
    wk_module *m = create_model(l, device, tied);
    wk_tensors *list = m ? wk__module_state_dict(l->site, OP, m) : NULL;
    if (list && (l->saved_blocks || (l->quantized && l->config.gguf)))
        list =
            wk__pretrained_keep_blocks(l, m, wk__tensor_list_of(list)) ? wk__module_state_dict(l->site, OP, m) : NULL;
    if (!list) return NULL;
    const wk__pretrained_ends *ends = &l->config.ends;
    if (!wk__pretrained_load(l, wk__tensor_list_of(list), tied)) return NULL;
    wk__language_set_ends(m, ends->token, ends->count);
    return wk_module_train_at(l->site, m, false);
}

wk_module *wk_nn_pretrained_at(wk_site site, const char *folder, const wk_nn_pretrained_options *options)
{
    wk_nn_pretrained_options o;
    wk__call_scope c;
    if (!wk__options(site, OP, options, &o) || !wk__check_path(site, OP, folder) ||
        !wk__call_begin(&c, WK__FRAME_CALL, OP, site, WK__GRAD_KEPT))
        return NULL;
    wk__context()->frame.initial_off = true; /* the end of the call restores it */
    const bool is_file = wk__pretrained_is_file(folder);
    wk__pretrained_call l = {.site = site,
                             .folder = folder,
                             .source = is_file ? "the metadata" : "config.json",
                             .dtype = o.dtype,
                             .quantized = o.quantized,
                             .maps = o.mmap};
    const bool fine = (is_file ? read_gguf(&l) : read_folder(&l)) && wk__pretrained_check_size(&l);
    wk_module *m = fine ? load_model(&l, o.device) : NULL;
    wk__pretrained_files_free(&l.files);
    if (m) wk__handle_keep(&m->handle, site);
    wk__call_end(&c, NULL, 0);
    return m;
}
