/* SPDX-License-Identifier: Apache-2.0 */
/* Work along lines (scans, sorts, scatter_add) on each device, and with such small work-groups that short lines reach
 * every limit, compared with a loop. A program that includes this tests one family, which it defines by fill and
 * compute_line. */
#ifndef WICK_TESTS_GPU_LINES_H
#define WICK_TESTS_GPU_LINES_H

#include "arrays.h"

#include <math.h>
#include <string.h>

/* ---- cases ------------------------------------------------------------------------------------------------------- */

typedef enum layout { DENSE, FLIPPED, GAPS, ONE_LINE } layout;

typedef struct line_case {
    int family;
    wk_dtype dtype;
    int ndim;
    int64_t shape[3];
    int dim, mode;
    int64_t bound;    /* scatter_add: size of the target */
    int values;       /* scatter_add: number of distinct indices; 0: as many as the bound */
    layout layout[3]; /* of each operand; ONE_LINE: all lines are the same memory */
} line_case;

typedef struct work {
    const line_case *at;
    wk__work_args kernel;
    array array[3];
    char *want[3];
} work;

/* Each program defines these two. fill sets the operands' values, replacing those of new_array. */
static void fill(work *w);
/* Computes want[] for the line whose element j is at place(w, operand, start, j). */
static void compute_line(const work *w, const int64_t start[3]);

static inline void fill_strides(const line_case *c, layout layout, const int64_t shape[], int64_t stride[])
{
    int64_t step = layout == GAPS ? 2 : 1;
    for (int k = 0; k < c->ndim; k++) {
        const int d = layout == FLIPPED ? k : c->ndim - 1 - k;
        stride[d] = layout == FLIPPED || (layout == GAPS && d % 2) ? -step : step;
        if (layout == ONE_LINE && d != c->dim) stride[d] = 0;
        if (layout != ONE_LINE || d == c->dim) step *= shape[d] > 0 ? shape[d] : 1;
    }
}

static inline int operands_of(const line_case *c)
{
    return wk__work_families[c->family].nout + wk__work_families[c->family].nin;
}

static inline void begin_work(const line_case *c, work *w)
{
    const wk__work_family *family = &wk__work_families[c->family];
    *w = (work){.at = c, .kernel = {.ndim = c->ndim, .dim = c->dim, .mode = c->mode, .bound = c->bound, .tag = 42}};
    memcpy(w->kernel.shape, c->shape, sizeof c->shape);
    for (int k = 0; k < operands_of(c); k++) {
        int64_t stride[3], shape[WK__MAX_DIMS] = {0};
        memcpy(shape, c->shape, sizeof c->shape);
        wk__work_operand_shape(family, k, c->dim, c->bound, shape);
        fill_strides(c, c->layout[k], shape, stride);
        w->array[k] = new_array(family->index_operand && k == family->index_operand ? WK_I64 : c->dtype, c->ndim, shape,
                                stride, false);
    }
    fill(w);
}

/* ---- expected results -------------------------------------------------------------------------------------------- */

static inline int64_t place(const work *w, int k, const int64_t start[3], int64_t j)
{
    return start[k] + j * w->kernel.operand[k].stride[w->kernel.dim];
}

static inline double number(const work *w, int k, const int64_t start[3], int64_t j)
{
    return group_reference_get(w->at->dtype, w->array[k].host, place(w, k, start, j));
}

static inline uint64_t whole(const work *w, int k, const int64_t start[3], int64_t j)
{
    return (uint64_t)group_reference_get_integer(w->at->dtype, w->array[k].host, place(w, k, start, j));
}

static inline void put_whole(wk_dtype dtype, char *to, int64_t at, uint64_t value)
{
    if (dtype == WK_BOOL) value = (uint32_t)value != 0;
    memcpy(to + at * (int64_t)wk_dtype_size(dtype), &value, wk_dtype_size(dtype));
}

static inline double in_class(wk_dtype dtype, double x)
{
    return dtype == WK_F64 ? x : (double)(float)x;
}

static inline void expected(work *w)
{
    int64_t lines = 1;
    for (int k = 0; k < operands_of(w->at); k++) {
        w->want[k] = malloc((size_t)bytes_of(&w->array[k]));
        memcpy(w->want[k], w->array[k].host, (size_t)bytes_of(&w->array[k]));
    }
    for (int d = 0; d < w->kernel.ndim; d++) lines *= d == w->kernel.dim ? 1 : w->kernel.shape[d];
    for (int64_t line = 0; line < lines; line++) {
        int64_t start[3] = {0}, rest = line;
        for (int k = 0; k < operands_of(w->at); k++) start[k] = w->kernel.operand[k].offset;
        for (int d = w->kernel.ndim - 1; d >= 0; d--) {
            if (d == w->kernel.dim) continue;
            const int64_t i = rest % w->kernel.shape[d];
            for (int k = 0; k < operands_of(w->at); k++) start[k] += i * w->kernel.operand[k].stride[d];
            rest /= w->kernel.shape[d];
        }
        compute_line(w, start);
    }
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* Returns true for equal bits or two NaN; the kind of NaN is unspecified. */
static inline bool same_element(wk_dtype dtype, const char *a, const char *b, int64_t at)
{
    const size_t size = wk_dtype_size(dtype);
    return memcmp(a + (size_t)at * size, b + (size_t)at * size, size) == 0 ||
           (isnan(group_reference_get(dtype, a, at)) && isnan(group_reference_get(dtype, b, at)));
}

static inline void same_bits(void *device, const work *w, int k)
{
    const array *a = &w->array[k];
    const int64_t size = (int64_t)wk_dtype_size((wk_dtype)a->operand.dtype);
    char *got = malloc((size_t)bytes_of(a));
    wk__fail fail;
    good(gpu->download(device, got, &a->memory, 0, bytes_of(a), &fail), &fail);
    const int64_t count = bytes_of(a) / size;
    int64_t at = 0;
    while (at < count && same_element((wk_dtype)a->operand.dtype, got, w->want[k], at)) at++;
    if (at < count) {
        const line_case *c = w->at;
        fail_msg(
            "%s %s, mode %d, %lld x %lld x %lld along %d, layouts %d %d %d: operand %d at %lld is %.17g, not %.17g",
            wk__work_name(c->family), wk_dtype_str(c->dtype), c->mode, (long long)c->shape[0], (long long)c->shape[1],
            (long long)c->shape[2], c->dim, (int)c->layout[0], (int)c->layout[1], (int)c->layout[2], k,
            (long long)(at - a->operand.offset), group_reference_get((wk_dtype)a->operand.dtype, got, at),
            group_reference_get((wk_dtype)a->operand.dtype, w->want[k], at));
    }
    free(got);
}

static inline void run_case(void *device, const line_case *c, bool look)
{
    wk__fail fail;
    work w;
    begin_work(c, &w);
    for (int k = 0; k < operands_of(c); k++) {
        to_device(device, &w.array[k]);
        w.kernel.operand[k] = w.array[k].operand;
    }
    if (look) expected(&w);
    good(submit_kernel(gpu, device, c->family, &w.kernel, &fail), &fail);
    for (int k = 0; k < operands_of(c); k++) {
        if (look) same_bits(device, &w, k);
        gpu->block_free(device, &w.array[k].memory);
        free(w.want[k]);
        free(w.array[k].host);
    }
}

/* ---- modified targets -------------------------------------------------------------------------------------------- */

/* So small that lines of a few hundred elements use every algorithm for long lines. */
enum { LOCAL = 16, CHUNK = 200, SHORT = 8 };

typedef enum variant { ITSELF, SMALL, SMALL_CPU } variant;

/* Reopens all devices, because compiled kernels depend on the target. */
static inline void use_target(variant t)
{
    wk__fail fail;
    static wk__gpu_target own[8];
    static bool known;
    for (int d = 0; d < gpu_devices; d++) {
        wk__gpu_target *target = gpu_target(d);
        if (!known) own[d] = *target;
        *target = own[d];
        if (t == ITSELF) continue;
        target->group_size = LOCAL;
        target->chunk_columns = CHUNK;
        target->item_line_max = SHORT;
        target->local_memory = t == SMALL;
    }
    known = true;
    for (int d = 0; d < gpu_devices; d++) {
        gpu->close(gpu_device[d]);
        good(gpu->open(d, &gpu_device[d], &fail), &fail);
    }
}

typedef void visit_cases(void (*visit)(const line_case *));

static void *visited;

static inline void gather_case(const line_case *c)
{
    run_case(visited, c, false);
}

static inline void check_case(const line_case *c)
{
    run_case(visited, c, true);
}

/* With one build for all. */
static inline void run_cases(visit_cases *cases)
{
    wk__fail fail;
    for (int d = 0; d < gpu_devices; d++) {
        visited = gpu_device[d];
        good(gpu->compile_only(visited, true, &fail), &fail);
        cases(gather_case);
        good(gpu->compile_only(visited, false, &fail), &fail);
        cases(check_case);
    }
}

static inline void run_as(variant t, visit_cases *cases)
{
    if (gpu->kind == WK_CUDA && t == SMALL_CPU) skip(); /* every CUDA device has local memory */
    use_target(t);
    run_cases(cases);
}

#endif
