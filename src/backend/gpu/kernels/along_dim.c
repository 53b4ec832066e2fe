/* SPDX-License-Identifier: Apache-2.0 */
/* Lines along one dimension; see along_dim.h. */
#include "along_dim.h"
#include "backend/gpu/codegen/device_source.h"

#include <string.h>

const char wk__gpu_line_names[] = "#define LENGTH A(2)\n#define STRIDE(k) A(3 + k)\n#define START(k) A(6 + k)\n#define "
                                  "MODE A(9)\n#define BOUND A(10)\n"
                                  "#define TAG A(11)\n#define WIDTH A(12)\n#define LINES A(13)\n"
                                  "#define PARTS A(42)\n#define PART A(43)\n";

/* clang-format off */ /* of device code */
const char wk__gpu_line_starts[] = DEVICE_CODE(
    i64 rest = line;
    i64 o0 = START(0);
    i64 o1 = START(1);
    i64 o2 = START(2);
    for (int d = 6; d >= 0; d--) {
        const i64 at = rest % A(14 + d);
        rest /= A(14 + d);
        o0 += at * A(21 + d);
        o1 += at * A(28 + d);
        o2 += at * A(35 + d);
    });

/* Two levels, in rows of 16 items: the prefix within the row, and the prefix of rows. So two barriers suffice, and the
 * order of operations is the same in every dialect. */
const char wk__gpu_prefix_memory[] = DEVICE_CODE(
    SHARED(JOINED, lanes, LOCALS);
    SHARED(JOINED, rows, LOCALS / 16););
const char wk__gpu_prefix_before[] = DEVICE_CODE(
    lanes[LOCAL] = own;
    BARRIER;
    JOINED in_row = NOTHING;
    for (int l = LOCAL / 16 * 16; l < LOCAL; l++) in_row = JOIN(in_row, lanes[l]);
    if (LOCAL % 16 == 15) rows[LOCAL / 16] = JOIN(in_row, own);
    BARRIER;
    JOINED ahead = NOTHING;
    for (int r = 0; r < LOCAL / 16; r++) ahead = JOIN(ahead, rows[r]);
    const JOINED before = JOIN(ahead, in_row););
const char wk__gpu_prefix_all[] = DEVICE_CODE(
    JOINED all = NOTHING;
    for (int r = 0; r < LOCALS / 16; r++) all = JOIN(all, rows[r]););
/* clang-format on */
_Static_assert(WK__GPU_OUTER == 14 && WK__GPU_LINE_DIMS == 7 && WK__GPU_PARTS == 42,
               "the texts of wk__gpu_line_names and wk__gpu_line_starts have these numbers");

int64_t wk__gpu_fill_along_dim(const wk__work_args *kernel, int operands, wk__gpu_launch *launch)
{
    int64_t *argument = launch->argument, lines = 1;
    memset(launch, 0, sizeof *launch);
    launch->spec.nmemory = operands;
    launch->spec.dtype = kernel->operand[0].dtype;
    launch->spec.narguments = WK__GPU_LINE_ARGUMENTS;
    launch->writes = true;
    argument[WK__GPU_LENGTH] = kernel->ndim > 0 ? kernel->shape[kernel->dim] : 1;
    argument[WK__GPU_MODE] = kernel->mode;
    argument[WK__GPU_BOUND] = kernel->bound;
    argument[WK__GPU_TAG] = kernel->tag;
    for (int d = 0, to = 0; to < WK__GPU_LINE_DIMS; d++) {
        if (kernel->ndim > 0 && d == kernel->dim) continue;
        int64_t size = d < kernel->ndim ? kernel->shape[d] : 1;
        lines *= size;
        argument[WK__GPU_OUTER + to] = size;
        for (int k = 0; k < operands && d < kernel->ndim; k++) {
            argument[WK__GPU_OUTER + (k + 1) * WK__GPU_LINE_DIMS + to] = kernel->operand[k].stride[d];
        }
        to++;
    }
    for (int k = 0; k < operands; k++) {
        launch->block[k] = kernel->operand[k].memory->block;
        argument[WK__GPU_START + k] = wk__gpu_first_element(&kernel->operand[k]);
        argument[WK__GPU_STRIDE + k] = kernel->ndim > 0 ? kernel->operand[k].stride[kernel->dim] : 0;
    }
    argument[WK__GPU_LINES] = lines;
    argument[WK__GPU_PARTS] = 1;
    argument[WK__GPU_PART] = argument[WK__GPU_LENGTH];
    return lines;
}

wk_code wk__gpu_emit_along_dim(wk__gpu_launch *launch, const wk__gpu_template *fixed, int64_t items,
                               wk__gpu_launch_fn *emit, void *user, wk__fail *fail)
{
    launch->spec.source_template = fixed;
    launch->argument[0] = 0;
    launch->argument[1] = launch->count = items;
    return items > 0 ? emit(user, launch, fail) : WK_OK;
}
