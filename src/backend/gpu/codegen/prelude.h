/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the prelude, each in the file of its name. */
#ifndef WICK_BACKEND_GPU_PRELUDE_H
#define WICK_BACKEND_GPU_PRELUDE_H

#include "backend/gpu/kernel.h"

/* prelude_dialect.c: what the dialects spell differently. */
void wk__gpu_prelude_dialect(wk__text *text, const wk__gpu_target *target, bool doubles);
/* prelude_classes.c: the functions of each class. */
void wk__gpu_prelude_classes(wk__text *text, const wk__gpu_target *target, unsigned needs);

#endif
