/* SPDX-License-Identifier: Apache-2.0 */
/* Dispatch of work families to kernels, and iteration over lines; see along_dim.h. */
#include "along_dim.h"

#include "base/pool.h"
#include "isa.h"

enum {
    SERIAL_MAX = 32 * 1024, /* elements; below, one thread is faster than two */
    TASKS_PER_THREAD = 4,   /* balances threads of different speed */
    FAR_LINES = 8,          /* lines per bundle if adjacent lines are far apart: each occupies its own cache lines */
    NEAR_LINES = 1024
};

static wk__cpu_family_run *const run[WK__WORK_FAMILIES] = {
    [WK__CONTRACTION] = wk__cpu_contraction,
    [WK__SCATTER_ADD] = wk__cpu_scatter_add,
    [WK__SCAN] = wk__cpu_scan,
    [WK__SORT] = wk__cpu_sort,
    [WK__ATTENTION] = wk__cpu_attention,
    [WK__ATTENTION_BACKWARD] = wk__cpu_attention_backward,
    [WK__QUANTIZED] = wk__cpu_quantized,
    [WK__NORM_BACKWARD] = wk__cpu_norm_backward,
};

bool wk__cpu_has_kernel(int family, wk_dtype dtype)
{
    if (!wk__is_work_family(family) || !run[family]) return false;
    if (wk__work_families[family].is_quantized) return dtype == WK_F32;
    if (wk__work_families[family].is_norm) return wk__cpu_isa_current()->norm[dtype] != NULL;
    return !wk__work_families[family].is_attention || wk__cpu_isa_current()->attention[dtype];
}

wk_code wk__cpu_kernel(const wk__work *work, wk__fail *fail)
{
    const wk_dtype dtype = (wk_dtype)work->args->operand[0].dtype;
    if (!wk__cpu_has_kernel(work->family, dtype))
        return wk__fail_set(fail, WK_ERR_UNSUPPORTED, "the CPU has no kernel for %s of %s", wk__work_name(work->family),
                            wk_dtype_str(dtype));
    return run[work->family](work, fail);
}

static int64_t magnitude(int64_t step)
{
    return step < 0 ? -step : step;
}

/* Inserts a dimension, ordered by decreasing stride of the leader. */
static void insert_dim(wk__dim_lines *lines, const wk__work_args *kernel, int dimension, int leader)
{
    int place = lines->ndim++;
    const int64_t step = magnitude(kernel->operand[leader].stride[dimension]);
    for (; place > 0 && magnitude(lines->step[leader][place - 1]) < step; place--) {
        lines->shape[place] = lines->shape[place - 1];
        for (int o = 0; o < WK__LINE_OPERANDS; o++) lines->step[o][place] = lines->step[o][place - 1];
    }
    lines->shape[place] = kernel->shape[dimension];
    for (int o = 0; o < WK__LINE_OPERANDS; o++) lines->step[o][place] = kernel->operand[o].stride[dimension];
}

void wk__dim_lines_init(wk__dim_lines *lines, const wk__work_args *kernel, int leader)
{
    *lines = (wk__dim_lines){.count = 1, .length = 1};
    for (int d = 0; d < kernel->ndim; d++) {
        if (d == kernel->dim) {
            lines->length = kernel->shape[d];
            for (int o = 0; o < WK__LINE_OPERANDS; o++) lines->along[o] = kernel->operand[o].stride[d];
            continue;
        }
        lines->count *= kernel->shape[d];
        if (kernel->shape[d] != 1) insert_dim(lines, kernel, d, leader);
    }
    if (lines->ndim == 0) lines->shape[lines->ndim++] = 1;
    const int64_t across = magnitude(lines->step[leader][lines->ndim - 1]);
    lines->max_bundle = across > magnitude(lines->along[leader]) ? FAR_LINES : NEAR_LINES;
}

/* Fills the bundle from line `first` on with as many equally spaced lines as possible, below `end`. */
static void fill_bundle(const wk__dim_lines *lines, int64_t first, int64_t end, wk__line_bundle *bundle)
{
    *bundle =
        (wk__line_bundle){.first = first, .lines = end - first < lines->max_bundle ? end - first : lines->max_bundle};
    const int last = lines->ndim - 1;
    const int64_t left = lines->shape[last] - first % lines->shape[last];
    if (left < bundle->lines) bundle->lines = left;
    for (int d = last; d >= 0; d--) {
        const int64_t index = first % lines->shape[d];
        first /= lines->shape[d];
        for (int o = 0; o < WK__LINE_OPERANDS; o++) bundle->at[o] += index * lines->step[o][d];
    }
    for (int o = 0; o < WK__LINE_OPERANDS; o++) bundle->across[o] = lines->step[o][last];
}

int64_t wk__dim_lines_ntasks(const wk__dim_lines *lines)
{
    if (lines->count == 0 || lines->length == 0) return 0;
    if (wk__thread_count() == 1 || lines->count < SERIAL_MAX / lines->length + 1) return 1;
    const int64_t most = (int64_t)TASKS_PER_THREAD * wk__thread_count();
    return lines->count < most ? lines->count : most;
}

typedef struct sharing {
    const wk__dim_lines *lines;
    int64_t tasks;
    wk__line_bundle_fn *work;
    void *user;
} sharing;

/* Returns the first line of a task. */
static int64_t share_begin(const sharing *s, int64_t task)
{
    const int64_t each = s->lines->count / s->tasks, rest = s->lines->count % s->tasks;
    return task * each + (task < rest ? task : rest);
}

static void run_share(void *user, int64_t task)
{
    const sharing *s = user;
    wk__line_bundle bundle;
    int64_t line = share_begin(s, task);
    for (const int64_t end = share_begin(s, task + 1); line < end; line += bundle.lines) {
        fill_bundle(s->lines, line, end, &bundle);
        s->work(s->user, &bundle, task);
    }
}

void wk__dim_lines_for_each(const wk__dim_lines *lines, int64_t tasks, wk__line_bundle_fn *work, void *user)
{
    sharing s = {lines, tasks, work, user};
    wk__parallel_for(tasks, run_share, &s);
}
