/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of families; see work.h. */
#include "collective.h"

const wk__work_family wk__work_families[WK__WORK_FAMILIES] = {
    [WK__PROGRAM] = {.name = "program", .said = "one pass", .program = true},
    [WK__CONTRACTION] =
        {.name = "contraction", .said = "a product", .nout = 1, .nin = 2, .tail = true, .prologue = true, .sums = true},
    [WK__SCATTER_ADD] = {.name = "scatter_add",
                         .said = "scatter_add",
                         .nout = 1,
                         .nin = 2,
                         .along = true,
                         .faults = true,
                         .adds_to_target = true,
                         .modes = 1,
                         .like = 2,
                         .places = 1},
    [WK__SCAN] = {.name = "scan", .said = "scan", .nout = 1, .nin = 1, .along = true, .modes = 2, .like = 1},
    [WK__SORT] =
        {.name = "sort", .said = "sort", .nout = 2, .nin = 1, .along = true, .modes = 2, .like = 2, .places = 1},
    [WK__TRANSFER] = {.name = "transfer", .nout = 1, .nin = 1, .moves = true, .like = 1},
    [WK__COLLECTIVE] = {.name = "collective",
                        .said = "a collective",
                        .nout = 1,
                        .nin = 1,
                        .team = true,
                        .modes = WK__COLLECTIVES,
                        .like = 1},
};

void wk__work_space(const wk__work_family *family, int operand, int dim, int64_t bound, int64_t shape[])
{
    if (operand == 0 && family->adds_to_target) shape[dim] = bound;
}
