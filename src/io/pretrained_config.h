/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions of models: config.json and model.safetensors.index.json of Hugging Face's transformers, and the metadata
 * of GGUF files. */
#ifndef WICK_IO_PRETRAINED_CONFIG_H
#define WICK_IO_PRETRAINED_CONFIG_H

#include "json_fields.h"
#include "tensor_file.h"
#include <wick/language.h>

typedef enum wk__pretrained_kind { WK__PRETRAINED_GPT2, WK__PRETRAINED_LLAMA } wk__pretrained_kind;

enum { WK__PRETRAINED_ENDS = 16 };
/* Tokens that end a text. */
typedef struct wk__pretrained_ends {
    int64_t token[WK__PRETRAINED_ENDS];
    int count;
} wk__pretrained_ends;

/* A model as its files describe it: its constructor's options. */
typedef struct wk__pretrained_config {
    wk__pretrained_kind kind;
    bool tied;                 /* lm_head.weight is the weight of the embedding */
    wk_nn_gpt_options gpt;     /* of WK__PRETRAINED_GPT2 */
    wk_nn_llama_options llama; /* of WK__PRETRAINED_LLAMA */
    bool gguf;                 /* it is a GGUF file, whose tensors have other names */
    bool interleaved;          /* each pair of features that positions rotate is two successive rows of q and k */
    wk_dtype dtype;            /* of the embedding in a GGUF file */
    wk__pretrained_ends ends;
} wk__pretrained_config;

/* Reads a file of at most `most` bytes that holds one object, into *text, to which strings of *into point. */
wk_code wk__pretrained_file_read(const char *path, int64_t most, wk__text *text, const wk__field *fields, int count,
                                 void *into, wk__io_error *error);

/* Reads config.json. WK_ERR_UNSUPPORTED if it describes a model that this library would compute differently. */
wk_code wk__pretrained_config_read(const char *path, wk__pretrained_config *out, wk__io_error *error);

/* ---- GGUF files -------------------------------------------------------------------------------------------------- */

/* Reads the metadata of an open GGUF file. WK_ERR_UNSUPPORTED as above. */
wk_code wk__pretrained_gguf_read(const wk__tensor_file *file, wk__pretrained_config *out, wk__io_error *error);
/* Writes the name that a tensor of a GGUF file has in transformers. Returns false if it has none. */
enum { WK__PARAMETER_NAME = 96 };
bool wk__pretrained_gguf_name(const char *name, char parameter[WK__PARAMETER_NAME]);
/* Returns the heads of q or k if the name is that of a weight of either, else 0. */
int64_t wk__pretrained_gguf_heads(const wk__pretrained_config *config, const char *name);

/* ---- files of a folder ------------------------------------------------------------------------------------------- */

/* Reads the tokens that end a text from the files in a folder, of which generation_config.json may be missing. */
wk_code wk__pretrained_ends_read(const char *folder, wk__pretrained_ends *out, wk__io_error *error);

/* Names of files with weights, in a folder. */
typedef struct wk__pretrained_files {
    wk__text text; /* of the index; the names point into it */
    const char **name;
    int64_t count, capacity;
} wk__pretrained_files;
/* Returns "folder/name", or the folder if name is ""; `failed` is set on allocation failure. */
wk__text wk__pretrained_path(const char *folder, const char *name);
/* Returns true if the path is that of a file, and no folder, that can be opened. */
bool wk__pretrained_is_file(const char *path);
/* Lists the files with weights of a folder: model.safetensors or, without it, those of model.safetensors.index.json,
 * each once. Allocates nothing on failure. */
wk_code wk__pretrained_files_list(const char *folder, wk__pretrained_files *out, wk__io_error *error);
/* Adds a name, which must outlive the list. Returns false on allocation failure. */
bool wk__pretrained_files_add(wk__pretrained_files *files, const char *name);
void wk__pretrained_files_free(wk__pretrained_files *files);

#endif
