/* SPDX-License-Identifier: Apache-2.0 */
/* adapter_config.json of Hugging Face's peft, and the names of a file of adapters. */
#ifndef WICK_IO_LORA_CONFIG_H
#define WICK_IO_LORA_CONFIG_H

#include "nn/lora/adapter.h"
#include "pretrained_config.h"

/* Names of layers, each once. */
typedef struct wk__lora_names {
    const char **name;
    int64_t count, capacity;
} wk__lora_names;

/* Reads the file. WK_ERR_UNSUPPORTED if it describes adapters that this library would compute differently. */
wk_code wk__lora_config_read(const char *path, wk__lora_config *out, wk__io_error *error);
/* Appends the contents of the file. transposed: weights of the linear layers are (in, out). Returns false if a name is
 * not UTF-8. */
bool wk__lora_config_write(wk__text *text, const wk__lora_config *config, bool transposed, const wk__lora_names *names);

#endif
