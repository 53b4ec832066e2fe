/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of wick/shape.h that only pass their operands on: splitting: views in out[], which must have room;
 * they return how many there are, or -1 with out[] NULL. */
/* Written by scripts/generate_ops.py from src/ops/rows/shape: edit those. */
#include "../forms.h"

/* ---- chunk ------------------------------------------------------------------------------------------------------- */

/* ---- split ------------------------------------------------------------------------------------------------------- */

/* ---- split_with_sizes -------------------------------------------------------------------------------------------- */

/* ---- unbind ------------------------------------------------------------------------------------------------------ */
