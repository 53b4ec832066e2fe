/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of adapters of Hugging Face's peft:
 *
 *     adapter_config.json          rank, alpha, names of layers
 *     adapter_model.safetensors    base_model.model.PATH.lora_A.weight, ....lora_B.weight */
#ifndef WICK_IO_LORA_CONFIG_H
#define WICK_IO_LORA_CONFIG_H

#include "nn/lora/adapter.h"
#include "pretrained_config.h"

#define WK__LORA_MODEL  "adapter_model.safetensors"
#define WK__LORA_CONFIG "adapter_config.json"
/* Parts of the name of a tensor, before and after the path of its layer. */
#define WK__LORA_PREFIX "base_model.model."
#define WK__LORA_A      ".lora_A.weight"
#define WK__LORA_B      ".lora_B.weight"

/* Appends the parameters of the adapter for entry k of a tree to a list. Returns false on error. */
bool wk__lora_list(wk_site site, wk__tensor_list *list, const wk__module_tree *tree, int64_t k, const wk__lora *l);

/* Names of layers, each once. */
typedef struct wk__lora_names {
    char **name; /* owned, as are the strings */
    int64_t count, capacity;
} wk__lora_names;

/* Reads the file. WK_ERR_UNSUPPORTED if it describes adapters that this library would compute differently. */
wk_code wk__lora_config_read(const char *path, wk__lora_config *out, wk__io_error *error);
/* Appends the contents of the file. transposed: weights of the linear layers are (in, out). Names are UTF-8. */
void wk__lora_config_write(wk__text *text, const wk__lora_config *config, bool transposed, const wk__lora_names *names);

#endif
