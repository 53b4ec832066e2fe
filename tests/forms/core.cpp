/* SPDX-License-Identifier: Apache-2.0 */
// Compiles the types and plain functions in C++20.
#include <wick/core.h>

int forms_of_core(FILE *out)
{
    wk_site here{__FILE__, __LINE__};
    wk_device second{.kind = WK_CUDA, .index = 1, .task = 0};
    const char *(*version)(void) = wk_version;
    wk_set_error_handler([](void *, wk_code, const char *) {}, nullptr);
    return here.line > 0 && second.index == 1 && version() ? wk_report_error(out) : 1;
}
