/* SPDX-License-Identifier: Apache-2.0 */
/* T[.., index, ..] += S[..]: all indices are checked first; then items process each line in index order, so that sums
 * are the same on every device. Several items share a line: each adds to a separate subset of target elements. */
#include "backend/gpu/lower.h"
#include "along_dim.h"
#include "backend/gpu/codegen/device_source.h"

#include "base/integers.h"

/* clang-format off */ /* of device code */
static const char check_body[] = DEVICE_CODE(
    const i64 item = A(0) + ITEM;
    if (item >= A(1)) return;
    const i64 line = item / LENGTH;);
static const char check_tail[] = DEVICE_CODE(
    const i64 own = item % LENGTH;
    const i64 element = (line / WIDTH * LENGTH + own) * WIDTH + line % WIDTH;
    wk_index(F, ((GM const i64 *)m1)[o1 + own * STRIDE(1)], BOUND, TAG, element););

static const char body[] = DEVICE_CODE(
    const i64 item = A(0) + ITEM;
    if (item >= A(1) || F[0] != 0) return;
    const i64 line = item % LINES;
    const i64 part = item / LINES;);
static const char tail[] = DEVICE_CODE(
    GM STORAGE *target = (GM STORAGE *)m0;
    GM const i64 *index = (GM const i64 *)m1;
    GM const STORAGE *source = (GM const STORAGE *)m2;
    for (i64 j = 0; j < LENGTH; j++) {
        i64 to = index[o1 + j * STRIDE(1)];
        if (to < 0) to += BOUND;
        if ((to & (PARTS - 1)) != part) continue;
        const i64 at = o0 + to * STRIDE(0);
        target[at] = STORE(NAME(wk_plus)(LOAD(target[at]), LOAD(source[o2 + j * STRIDE(2)])));
    });
/* clang-format on */

static const char *const check_text[] = {wk__gpu_line_names, check_body, wk__gpu_line_starts, check_tail, NULL};
static const char *const text[] = {wk__gpu_line_names, body, wk__gpu_line_starts, tail, NULL};
static const wk__gpu_template check = {.name = "scatter_add_check", .text = check_text};
static const wk__gpu_template add = {.name = "scatter_add", .text = text};

enum {
    ITEMS = 65536, /* desired number */
    LEAST_PART = 8 /* minimum indices per item of a line */
};

/* Returns the number of items per line, a power of two. Each reads all indices of the line, so no more than are needed
 * to occupy the device. */
static int64_t parts_of(const wk__gpu_target *target, int64_t lines, int64_t length, int64_t places)
{
    int64_t parts = 1;
    while (target->local_memory && 2 * parts * lines <= ITEMS && 2 * parts * LEAST_PART <= length &&
           2 * parts <= places)
        parts *= 2;
    return parts;
}

wk_code wk__gpu_lower_scatter_add(const wk__gpu_target *target, const wk__work *work, wk__gpu_launch_fn *emit,
                                  void *user, wk__fail *fail)
{
    const wk__work_args *kernel = work->args;
    wk__gpu_launch launch;
    int64_t lines = wk__gpu_fill_along_dim(kernel, 3, &launch), length = launch.argument[WK__GPU_LENGTH];
    int64_t *width = &launch.argument[WK__GPU_WIDTH]; /* elements between two indices of the dimension */
    *width = 1;
    for (int d = kernel->dim + 1; d < kernel->ndim; d++) *width *= kernel->shape[d];
    uint8_t dtype = launch.spec.dtype;
    launch.spec.dtype = WK_I64; /* one check kernel for all dtypes: it only reads indices */
    launch.writes = false;
    wk_code code = wk__gpu_emit_along_dim(&launch, &check, lines * length, emit, user, fail);
    launch.spec.dtype = dtype;
    launch.writes = true;
    launch.argument[WK__GPU_PARTS] = parts_of(target, lines, length, kernel->bound);
    lines *= launch.argument[WK__GPU_PARTS];
    return code == WK_OK ? wk__gpu_emit_along_dim(&launch, &add, lines, emit, user, fail) : code;
}
