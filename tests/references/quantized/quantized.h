/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the references of ops on quantised blocks share. */
#ifndef TESTS_REFERENCES_QUANTIZED_H
#define TESTS_REFERENCES_QUANTIZED_H

#include "ir/blocks.h"
#include "references/reference.h"

/* Returns the format that an argument names, q8_0 if it is omitted. */
const wk__block_format *reference_block_format(const wk_value *value);

#endif
