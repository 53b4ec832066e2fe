/* SPDX-License-Identifier: Apache-2.0 */
/* A call of wk_nn_pretrained and its parts, in this order:
 *
 *     pretrained_config.c, pretrained_gguf.c     description of the model
 *     pretrained.c                               names of the tensors in the files; creation of the model
 *     pretrained_size.c                          check that the files can contain the model
 *     pretrained_blocks.c                        layers whose weights stay in their blocks
 *     pretrained_load.c                          reading of its parameters */
#ifndef WICK_IO_PRETRAINED_H
#define WICK_IO_PRETRAINED_H

#include "gguf.h"
#include "nn/tensor_list.h"
#include "pretrained_config.h"

#define WK__PRETRAINED_OP "nn_pretrained"

/* The arguments of the call, the model and the tensors of its files. */
typedef struct wk__pretrained_call {
    wk_site site;
    const char *folder; /* or GGUF file */
    const char *source; /* "config.json" or "the metadata", for messages */
    wk__pretrained_config config;
    wk__pretrained_files files;
    wk_dtype dtype;    /* of the parameters; 0: that of the first floating tensor, in a GGUF file of the embedding */
    bool has_head;     /* the files have the weight of the head */
    double elements;   /* of the tensors in the files that may be parameters */
    int64_t tensors;   /* number of these tensors */
    bool quantized;    /* weights of linear layers of a GGUF file stay in their blocks */
    bool saved_blocks; /* the files have blocks that wk_save wrote */
    bool maps;         /* weights stay in the pages of the files */
} wk__pretrained_call;

/* Set the error of the call. Return false. */
bool wk__pretrained_fail(const wk__pretrained_call *l, wk_code code, const wk__io_error *error);
bool wk__pretrained_no_memory(const wk__pretrained_call *l);
/* Opens a file of weights. Its path, in *path, must outlive it. Returns false on error. */
bool wk__pretrained_open(const wk__pretrained_call *l, const char *name, wk__tensor_file *file, wk__text *path);
/* Checks that the files can hold the model, before memory for it is allocated. */
bool wk__pretrained_check_size(const wk__pretrained_call *l);
/* Returns true if a tensor has blocks that can stay as they are, and sets their format. */
bool wk__pretrained_block_format(const wk__safetensors_tensor *t, wk_block_format *format);
/* Replaces linear layers of the model, whose tensors are in the list, by layers of blocks where the file has blocks. */
bool wk__pretrained_keep_blocks(const wk__pretrained_call *l, wk_module *m, const wk__tensor_list *list);
/* Reads all tensors of the files into the parameters, each of which must be among them. `tied`: the model
 * has no lm_head.weight. */
bool wk__pretrained_load(const wk__pretrained_call *l, const wk__tensor_list *parameters, bool tied);

#endif
