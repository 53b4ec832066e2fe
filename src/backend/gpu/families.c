/* SPDX-License-Identifier: Apache-2.0 */
/* The table of families; see families.h. */
#include "families.h"

static wk__gpu_plan_family *const plan[WK__WORK_FAMILIES] = {
    [WK__CONTRACTION] = wk__gpu_plan_contraction,
    [WK__SCATTER_ADD] = wk__gpu_plan_scatter_add,
    [WK__SCAN] = wk__gpu_plan_scan,
    [WK__SORT] = wk__gpu_plan_sort,
};

bool wk__gpu_supports(const wk__gpu_target *target, int family, wk_dtype dtype, wk__layout layout)
{
    if (!wk__work_walked(family, layout) || (dtype == WK_F64 && !target->has_f64)) return false;
    if (dtype == WK_BOOL && layout == WK__LAYOUT_SUM) return false; /* contraction.c */
    return family == WK__PROGRAM || plan[family];
}

wk_code wk__gpu_plan_kernel(const wk__gpu_target *target, const wk__work *work, wk__gpu_emit *emit, void *user,
                            wk__fail *fail)
{
    if (!wk__work_known(work->family) || !plan[work->family])
        return wk__fail_set(fail, WK_ERR_UNSUPPORTED, "this device has no kernel for this: %s",
                            wk__work_name(work->family));
    if (work->kernel->operand[0].dtype == WK_F64 && !target->has_f64) return wk__gpu_no_f64(fail);
    if (work->group != NULL && !target->has_f64 && wk__gpu_uses_doubles(work->group)) return wk__gpu_no_f64(fail);
    return plan[work->family](target, work, emit, user, fail);
}
