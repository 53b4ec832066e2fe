/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "gpu_cases.h"

gpu_cases *gpu_cases_of(int local, gpu_add_cases *add)
{
    gpu_cases *made = calloc(1, sizeof *made);
    assert_non_null(made);
    made->local = local;
    add(made);
    return made;
}

void gpu_cases_free(gpu_cases *cases)
{
    for (int k = 0; k < cases->count; k++) group_case_free(cases->at[k]);
    free(cases);
}

group_case *gpu_cases_add(gpu_cases *list, group_case *c)
{
    assert_true(list->count < (int)(sizeof list->at / sizeof list->at[0]));
    return list->at[list->count++] = c;
}
