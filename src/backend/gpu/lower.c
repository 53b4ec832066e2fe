/* SPDX-License-Identifier: Apache-2.0 */
/* Dispatch by work family; see lower.h. */
#include "lower.h"

static wk__gpu_lower_fn *const plan[WK__WORK_FAMILIES] = {
    [WK__CONTRACTION] = wk__gpu_lower_contraction,
    [WK__SCATTER_ADD] = wk__gpu_lower_scatter_add,
    [WK__SCAN] = wk__gpu_lower_scan,
    [WK__SORT] = wk__gpu_lower_sort,
    [WK__QUANTIZED] = wk__gpu_lower_quantized,
};

/* Returns true if there is a kernel for work of this family, other than programs. */
static bool has_kernel(int family, wk_dtype dtype)
{
    if (!wk__is_work_family(family) || !plan[family]) return false;
    return !wk__work_families[family].is_quantized || dtype == WK_F32;
}

bool wk__gpu_supports(const wk__gpu_target *target, int family, wk_dtype dtype, wk__layout layout)
{
    if (!wk__work_has_layout(family, layout) || (dtype == WK_F64 && !target->has_f64)) return false;
    if (dtype == WK_BOOL && layout == WK__LAYOUT_CONTRACTION) return false; /* contraction.c */
    return family == WK__PROGRAM || has_kernel(family, dtype);
}

wk_code wk__gpu_lower_work(const wk__gpu_target *target, const wk__work *work, wk__gpu_launch_fn *emit, void *user,
                           wk__fail *fail)
{
    const wk_dtype dtype = (wk_dtype)work->args->operand[0].dtype;
    if (!has_kernel(work->family, dtype))
        return wk__fail_set(fail, WK_ERR_UNSUPPORTED, "this device has no kernel for %s of %s",
                            wk__work_name(work->family), wk_dtype_str(dtype));
    if (dtype == WK_F64 && !target->has_f64) return wk__gpu_fail_no_f64(fail);
    if (work->program != NULL && !target->has_f64 && wk__gpu_uses_doubles(work->program))
        return wk__gpu_fail_no_f64(fail);
    return plan[work->family](target, work, emit, user, fail);
}
