/* SPDX-License-Identifier: Apache-2.0 */
/* Defaults per kind of device. */
#include "kernel.h"

enum { PARAMETERS = 4096 /* size limit of CUDA kernel parameters, on all architectures */ };

/* GPUs hide memory latency with many items: few items share a row, chunks are used early, and each item has several
 * loads in flight, of 16 bytes if contiguous. CUDA devices have warps; OpenCL specifies nothing comparable. On a CPU a
 * work-group is a loop in one thread: few items with long rows. */
wk__gpu_target wk__gpu_target_of(wk__gpu_dialect dialect, bool is_gpu)
{
    const bool cuda = dialect == WK__GPU_CUDA;
    return (wk__gpu_target){
        .dialect = dialect,
        .has_f64 = cuda,
        .exact_divide = cuda,
        .local_memory = is_gpu,
        .group_size = 256,
        .local_memory_bytes = 48 << 10, /* of CUDA: the limit without changing driver settings */
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
