/* SPDX-License-Identifier: Apache-2.0 */
/* Decoders of quantised blocks (ir/blocks.h). A template's text contains a mark, which is replaced by the decoder of
 * the kernel's format. It uses variables of the template
 *
 *   EACH      a macro, 4 or 16: number of elements
 *   row       address of the first byte of a row of blocks, which is even
 *   element   index of the first element in the row, unsigned, a multiple of EACH
 *
 * and declares w[EACH], these elements, with the bits of the format's `decode`. They lie in one block. */
#ifndef WICK_BACKEND_GPU_CODEGEN_CODEGEN_BLOCKS_H
#define WICK_BACKEND_GPU_CODEGEN_CODEGEN_BLOCKS_H

#include "backend/gpu/kernel.h"

extern const char wk__gpu_mark_decoder[];

/* Appends the code for the mark. */
void wk__gpu_codegen_decoder(wk__text *text, const wk__gpu_kernel_spec *spec);

#endif
