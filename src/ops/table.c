/* SPDX-License-Identifier: Apache-2.0 */
/* The table of all op descriptors (ops/core/entries.h). Of the library only wk_call reads it. */
#include "ops/core/entries.h"

const wk__op *const wk__ops[] = {
#define WK__OP(name) &wk__op_##name,
#include "ops/ops.def"
#undef WK__OP
};
const int wk__op_total = (int)(sizeof wk__ops / sizeof *wk__ops);
