/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles the forms of wick/core.h in C: call sites, devices and errors. */
#include <wick/core.h>

_Static_assert(sizeof(wk_device) == 8, "a device is passed in a register");

static void handler(void *user, wk_code code, const char *text)
{
    *(wk_code *)user = text ? code : WK_OK;
}

int forms_of_core(FILE *out);

int forms_of_core(FILE *out)
{
    wk_site here = WK_HERE;
    wk_device none = {0}, second = {.kind = WK_CUDA, .index = 1};
    wk_code seen = WK_OK;
    wk_set_error_handler(handler, &seen);
    if (wk_error() && wk_error_code() == WK_ERR_SHAPE) wk_clear_error();
    return here.line > 0 && none.kind != second.kind && wk_dtype_size(WK_F32) == 4 ? wk_report_error(out) : 1;
}
