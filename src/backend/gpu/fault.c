/* SPDX-License-Identifier: Apache-2.0 */
/* Converts fault records to failures. */
#include "fault.h"

wk_code wk__gpu_fault_report(const wk__gpu_fault *fault, wk__fail *fail)
{
    if (!fault->raised) return WK_OK;
    wk__fail_set(fail, WK_ERR_INDEX, "index %lld is out of range for size %lld", (long long)fault->index,
                 (long long)fault->bound);
    for (int k = 0; k < WK__FAULT_TAGS; k++)
        if (fault->tag_raised[k]) wk__fail_add_tag(fail, k);
    fail->async = true;
    return wk__fail_set_index(fail, fault->tag, fault->index, fault->bound);
}
