/* SPDX-License-Identifier: Apache-2.0 */
/* The language model of `wick train gpt`, which `wick generate` continues texts with, and the metadata of its file:
 *
 *     wick.model        "gpt"
 *     wick.n_head       number of heads, "4"; the other sizes are those of the tensors
 *     wick.characters   the characters of the vocabulary, in the order of their ids */
#ifndef CLI_GPT_H
#define CLI_GPT_H

#include "model.h"

/* A language model and its vocabulary. */
typedef struct cli_gpt {
    wk_module *net;
    wk_text *text;
    int64_t context; /* positions of the network; 0: no limit that matters */
} cli_gpt;

/* Creates a network without dropout. */
wk_module *cli_gpt_create(int64_t vocabulary, int64_t context, int64_t width, int64_t layers, int64_t heads);
/* Writes a network with this number of heads. Returns false after recording or printing an error. */
bool cli_gpt_save(const cli_gpt *gpt, int64_t heads, const char *file);
/* Reads a file of cli_gpt_save, a folder of transformers with its tokenizer, or a file .gguf with one, for a device.
 * Returns false after printing the reason. */
bool cli_gpt_read(const char *command, const char *path, wk_device device, cli_gpt *out);

#endif
