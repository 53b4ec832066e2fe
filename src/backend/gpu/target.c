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
        .local = 256,
        .local_bytes = 48 << 10, /* of CUDA's: what needs no setting of the driver's */
        .warp = cuda ? 32 : 0,
        .vector = is_gpu ? 16 : 0,
        .ahead = is_gpu ? 4 : 1,
        .held = cuda ? 16 : 0,
        .short_row = cuda     ? 16
                     : is_gpu ? 64
                              : 256,
        .short_line = 64,
        .few_rows = is_gpu ? 256 : 64,
        .many_rows = is_gpu ? 1 << 17 : 4096,
        .chunk = 8192,
        .most_chunks = is_gpu ? 1024 : 256,
        .struct_arguments = cuda ? PARAMETERS / 8 - (WK__GPU_MAX_MEMORY + 2) : 0,
        .carry_after = 4,
    };
}
