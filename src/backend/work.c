/* SPDX-License-Identifier: Apache-2.0 */
/* Table of work families; see work.h. */
#include "work.h"

const wk__work_family wk__work_families[WK__WORK_FAMILIES] = {
    [WK__PROGRAM] = {.name = "program", .log_name = "one pass", .is_program = true},
    [WK__CONTRACTION] = {.name = "contraction",
                         .log_name = "a product",
                         .nout = 1,
                         .nin = 2,
                         .can_have_epilogue = true,
                         .can_have_prologue = true,
                         .is_contraction = true},
    [WK__SCATTER_ADD] = {.name = "scatter_add",
                         .log_name = "scatter_add",
                         .nout = 1,
                         .nin = 2,
                         .is_along_dim = true,
                         .can_fault = true,
                         .accumulates = true,
                         .nmodes = 1,
                         .same_dtype_operand = 2,
                         .index_operand = 1},
    [WK__SCAN] = {.name = "scan",
                  .log_name = "scan",
                  .nout = 1,
                  .nin = 1,
                  .is_along_dim = true,
                  .nmodes = 2,
                  .same_dtype_operand = 1},
    [WK__SORT] = {.name = "sort",
                  .log_name = "sort",
                  .nout = 2,
                  .nin = 1,
                  .is_along_dim = true,
                  .nmodes = 2,
                  .same_dtype_operand = 2,
                  .index_operand = 1},
    [WK__ATTENTION] = {.name = "attention",
                       .log_name = "attention",
                       .nout = 2,
                       .nin = 4,
                       .is_attention = true,
                       .nmodes = 4,
                       .same_dtype_operand = 2},
    [WK__ATTENTION_BACKWARD] = {.name = "attention_backward",
                                .log_name = "gradient of attention",
                                .nout = 3,
                                .nin = 7,
                                .is_attention = true,
                                .nmodes = 4,
                                .same_dtype_operand = 3},
    [WK__TRANSFER] = {.name = "transfer", .nout = 1, .nin = 1, .is_transfer = true, .same_dtype_operand = 1},
};

void wk__work_operand_shape(const wk__work_family *family, int operand, int dim, int64_t bound, int64_t shape[])
{
    if (operand == 0 && family->accumulates) shape[dim] = bound;
}
