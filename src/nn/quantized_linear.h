/* SPDX-License-Identifier: Apache-2.0 */
/* Linear layers whose weight becomes blocks. */
#ifndef WICK_NN_QUANTIZED_LINEAR_H
#define WICK_NN_QUANTIZED_LINEAR_H

#include "ir/blocks.h"
#include "module.h"

/* State of a layer of wk_nn_quantized_linear. */
typedef struct wk__quantized_linear {
    wk_tensor *weight, *bias; /* blocks (out, bytes of a row); (out) or NULL; owned by the module */
    int64_t in, out;
    wk_block_format format;
} wk__quantized_linear;

/* Returns the state of a quantised linear layer; NULL if m is another kind of module. */
const wk__quantized_linear *wk__quantized_linear_state(const wk_module *m);
/* Longest name of the weight: "weight_" and the format. */
enum { WK__BLOCKS_NAME = 16 };
/* Writes the name of the buffer with blocks of this format. */
void wk__blocks_name(wk_block_format format, char name[WK__BLOCKS_NAME]);
/* Returns true if `name` is that of such a buffer in a module: the path of the layer with its dot, *length characters,
 * and such a name. */
bool wk__is_blocks_name(const char *name, size_t *length, wk_block_format *format);
/* Returns true if m is a linear layer of floats whose rows consist of blocks. */
bool wk__linear_fits_blocks(const wk_module *m, wk_block_format format);
/* Creates the quantised layer of a linear layer that fits, with the same bias. Its blocks are those of the weight or,
 * if `empty`, 0. NULL on error. */
wk_module *wk__quantized_linear_of(wk_site site, const wk_module *linear, wk_block_format format, bool empty);

#endif
