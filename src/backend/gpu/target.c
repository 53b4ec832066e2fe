/* SPDX-License-Identifier: Apache-2.0 */
/* What kinds of devices there are to plan for. */
#include "kernel.h"

enum { PARAMETERS = 4096 /* bytes that CUDA passes to a kernel, on all architectures */ };

/* A GPU hides the time that memory takes by having many items under way: rows are shared by few items each, what is few
 * is cut early, and each item has several loads out at once, of 16 bytes where those lie side by side. One that CUDA
 * drives has warps; of OpenCL's GPUs nothing of the kind is known. A CPU's work-group is a loop of one thread: few
 * items with long rows. */
wk__gpu_target wk__gpu_target_of(wk__gpu_dialect dialect, bool is_gpu)
{
    const bool cuda = dialect == WK__GPU_CUDA;
    return (wk__gpu_target){
        .dialect = dialect,
        .has_f64 = cuda,
        .exact_divide = cuda,
        .local_memory = is_gpu,
        .group_size = 256,
        .local_memory_bytes = 48 << 10, /* of CUDA's: what needs no setting of the driver's */
        .warp_size = cuda ? 32 : 0,
        .vector_bytes = is_gpu ? 16 : 0,
        .loads_ahead = is_gpu ? 4 : 1,
        .max_reg_cached = cuda ? 16 : 0,
        .item_row_max = cuda     ? 16
                        : is_gpu ? 64
                                 : 256,
        .item_line_max = 64,
        .chunk_rows_max = is_gpu ? 256 : 64,
        .item_rows_min = is_gpu ? 1 << 17 : 4096,
        .chunk_columns = 8192,
        .max_chunks = is_gpu ? 1024 : 256,
        .max_by_value_arguments = cuda ? PARAMETERS / 8 - (WK__GPU_MAX_MEMORY + 2) : 0,
        .fuse_epilogue_after = 4,
    };
}
