/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that the files of one instruction set define and vm.c combines. */
#ifndef WICK_BACKEND_CPU_ISA_TABLES_H
#define WICK_BACKEND_CPU_ISA_TABLES_H

#include "vector.h"

extern const wk__vm WK__ISA_NAME(wk__vm);
extern const wk__vm_table WK__ISA_NAME(wk__vm_f32), WK__ISA_NAME(wk__vm_f64), WK__ISA_NAME(wk__vm_i32),
    WK__ISA_NAME(wk__vm_i64);

extern wk__vm_op *const WK__ISA_NAME(wk__vm_load)[WK_DTYPE_COUNT];
extern wk__vm_op *const WK__ISA_NAME(wk__vm_store)[WK_DTYPE_COUNT];
extern wk__vm_op *const WK__ISA_NAME(wk__vm_stream)[WK_DTYPE_COUNT];
extern wk__vm_op *const WK__ISA_NAME(wk__vm_fetch)[WK_DTYPE_COUNT];
extern wk__vm_op *const WK__ISA_NAME(wk__vm_convert)[WK__VM_CLASSES][WK__VM_CLASSES];
extern wk__vm_op *const WK__ISA_NAME(wk__vm_narrow)[WK_DTYPE_COUNT];
extern wk__vm_op *const WK__ISA_NAME(wk__vm_truth)[WK__VM_CLASSES];
extern wk__vm_op *const WK__ISA_NAME(wk__vm_source_ops)[WK__VM_GENERATORS];

#endif
