/* SPDX-License-Identifier: Apache-2.0 */
/* Quantised blocks: elements of a row that share scales, in the formats of ggml and GGUF files. */
#ifndef WICK_IR_BLOCKS_H
#define WICK_IR_BLOCKS_H

#include <stdint.h>
#include <wick/matmul_calls.h>

/* Formats are numbered by wk_block_format. Files may have two more, for which there are no ops. */
enum { WK__BLOCK_OP_FORMATS = WK_BLOCKS_Q6_K + 1 };
enum { WK__BLOCKS_IQ4_NL = WK__BLOCK_OP_FORMATS, WK__BLOCKS_IQ4_XS, WK__BLOCK_FORMATS };
enum { WK__BLOCK_ELEMENTS = 256 /* of the longest block */ };

typedef struct wk__block_format {
    const char *name;
    int elements, bytes;                                  /* of a block */
    void (*decode)(const uint8_t *block, float *element); /* computes the elements of a block */
} wk__block_format;

extern const wk__block_format wk__block_formats[WK__BLOCK_FORMATS];

#endif
