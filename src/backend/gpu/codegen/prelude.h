/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the prelude. */
#ifndef WICK_BACKEND_GPU_PRELUDE_H
#define WICK_BACKEND_GPU_PRELUDE_H

#include "backend/gpu/kernel.h"

/* Defines macros for the differences between dialects. */
void wk__gpu_prelude_dialect(wk__text *text, const wk__gpu_target *target, bool doubles);
/* Defines the functions of each class. */
void wk__gpu_prelude_classes(wk__text *text, const wk__gpu_target *target, unsigned needs);

#endif
