/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of families; see work.h. */
#include "work.h"
#include <string.h>

const wk__work_family wk__work_families[WK__WORK_FAMILIES] = {
    [WK__SCATTER_ADD] =
        {.name = "scatter_add", .nout = 1, .nin = 2, .modes = 1, .like = 2, .places = 1, .adds_to_target = true},
    [WK__SCAN] = {.name = "scan", .nout = 1, .nin = 1, .modes = 2, .like = 1, .places = -1},
    [WK__SORT] = {.name = "sort", .nout = 2, .nin = 1, .modes = 2, .like = 2, .places = 1},
};

int wk__work_named(const char *name)
{
    int k = 0;
    while (k < WK__WORK_FAMILIES && strcmp(wk__work_families[k].name, name) != 0) k++;
    return k;
}

void wk__work_space(const wk__work_family *family, int operand, int dim, int64_t bound, int64_t shape[])
{
    if (operand == 0 && family->adds_to_target) shape[dim] = bound;
}
