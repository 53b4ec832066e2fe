/* SPDX-License-Identifier: Apache-2.0 */
/* Running sums and products: an item walks each line from its start. */
#include "families.h"
#include "lines.h"
#include "text.h"

/* clang-format off */ /* of device code */
static const char body[] = TEXT(
    const i64 line = A(0) + ITEM;
    if (line >= A(1)) return;);
static const char tail[] = TEXT(
    GM STORAGE *out = (GM STORAGE *)m0;
    GM const STORAGE *in = (GM const STORAGE *)m1;
    T running = MODE == 0 ? (T)0 : (T)1;
    for (i64 j = 0; j < LENGTH; j++) {
        const T x = LOAD(in[o1 + j * STRIDE(1)]);
        running = MODE == 0 ? NAME(wk_plus)(running, x) : NAME(wk_times)(running, x);
        out[o0 + j * STRIDE(0)] = STORE(running);
    });
/* clang-format on */

static const char *const text[] = {wk__gpu_line_names, body, wk__gpu_line_starts, tail, NULL};
static const wk__gpu_fixed scan = {.name = "scan", .text = text};

wk_code wk__gpu_plan_scan(const wk__gpu_target *target, const wk__work *work, wk__gpu_emit *emit, void *user,
                          wk__fail *fail)
{
    const wk__kernel *kernel = work->kernel;
    (void)target;
    wk__gpu_launch launch;
    int64_t lines = wk__gpu_fill_lines(kernel, 2, &launch);
    return wk__gpu_emit_lines(&launch, &scan, lines, emit, user, fail);
}
