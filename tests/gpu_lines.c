/* SPDX-License-Identifier: Apache-2.0 */
/* Scans, sorts and scatter_add against loops that say what they mean: on each device as it is, and as one whose
 * work-groups are so small that short lines reach every limit. And which launches a line becomes. */
#include "gpu_arrays.h"

#include "../src/backend/gpu/families.h"
#include "../src/backend/gpu/lines.h"

#include <math.h>
#include <string.h>

/* ---- what is run ------------------------------------------------------------------------------------------------- */

typedef enum layout { DENSE, FLIPPED, GAPS, ONE_LINE } layout;

typedef struct line_case {
    int family;
    wk_dtype dtype;
    int ndim;
    int64_t shape[3];
    int dim, mode;
    int64_t bound;    /* scatter_add: places of the target */
    int values;       /* scatter_add: different indices, 0: as many as places */
    layout layout[3]; /* of each operand; ONE_LINE: all lines are the same one */
} line_case;

typedef struct work {
    const line_case *at;
    wk__kernel kernel;
    array array[3];
    char *want[3];
} work;

static void fill_strides(const line_case *c, layout layout, const int64_t shape[], int64_t stride[])
{
    int64_t step = layout == GAPS ? 2 : 1;
    for (int k = 0; k < c->ndim; k++) {
        const int d = layout == FLIPPED ? k : c->ndim - 1 - k;
        stride[d] = layout == FLIPPED || (layout == GAPS && d % 2) ? -step : step;
        if (layout == ONE_LINE && d != c->dim) stride[d] = 0;
        if (layout != ONE_LINE || d == c->dim) step *= shape[d] > 0 ? shape[d] : 1;
    }
}

/* Any bits, so that each digit of a key matters; every fourth element is one of few, so that there are equals: NaN of
 * either sign, both zeros and infinities among them. */
static void fill_with_bits(array *a)
{
    static const double special[] = {NAN, -NAN, 0, -0.0, INFINITY, -INFINITY, 1, 2};
    const wk_dtype dtype = (wk_dtype)a->operand.dtype;
    const int64_t size = (int64_t)wk_dtype_size(dtype);
    for (int64_t k = 0; k < a->elements; k++) {
        const uint64_t bits = group_case_random() << 32 ^ group_case_random();
        if (dtype == WK_BOOL || (dtype <= WK_BF16 && bits % 4 == 0)) {
            group_reference_put(dtype, a->host, k, dtype == WK_BOOL ? (double)(bits & 1) : special[bits >> 8 & 7]);
        } else {
            memcpy(a->host + k * size, &bits, (size_t)size);
        }
    }
}

/* Odd numbers: however their products wrap, none is 0. */
static void fill_with_factors(array *a)
{
    for (int64_t k = 0; k < a->elements; k++)
        group_reference_put((wk_dtype)a->operand.dtype, a->host, k, (double)(group_case_random() % 50) * 2 + 1);
}

/* Numbers of very different size: their sum depends on the order in which they are added. */
static void fill_with_sizes(array *a)
{
    for (int64_t k = 0; k < a->elements; k++) {
        const double value = (double)(group_case_random() % 2048) - 1024;
        group_reference_put((wk_dtype)a->operand.dtype, a->host, k, ldexp(value, (int)(group_case_random() % 24) - 16));
    }
}

static void fill_with_indices(array *a, const line_case *c)
{
    int64_t *index = (int64_t *)(void *)a->host;
    const int64_t values = c->values ? c->values : c->bound;
    for (int64_t k = 0; k < a->elements; k++) {
        index[k] = (int64_t)(group_case_random() % (uint64_t)values);
        if (group_case_random() % 2) index[k] -= c->bound;
    }
}

static int operands_of(const line_case *c)
{
    return wk__work_families[c->family].nout + wk__work_families[c->family].nin;
}

static void begin_work(const line_case *c, work *w)
{
    const wk__work_family *family = &wk__work_families[c->family];
    *w = (work){.at = c, .kernel = {.ndim = c->ndim, .dim = c->dim, .mode = c->mode, .bound = c->bound, .tag = 42}};
    memcpy(w->kernel.shape, c->shape, sizeof c->shape);
    for (int k = 0; k < operands_of(c); k++) {
        int64_t stride[3], shape[WK__MAX_DIMS] = {0};
        memcpy(shape, c->shape, sizeof c->shape);
        wk__work_space(family, k, c->dim, c->bound, shape);
        fill_strides(c, c->layout[k], shape, stride);
        w->array[k] =
            new_array(family->places && k == family->places ? WK_I64 : c->dtype, c->ndim, shape, stride, false);
    }
    if (c->family == WK__SORT) fill_with_bits(&w->array[2]);
    if (c->family == WK__SCAN && c->mode == 1) fill_with_factors(&w->array[1]);
    if (c->family != WK__SCATTER_ADD) return;
    fill_with_indices(&w->array[1], c);
    fill_with_sizes(&w->array[0]);
    fill_with_sizes(&w->array[2]);
}

/* ---- what they mean ---------------------------------------------------------------------------------------------- */

static int64_t place(const work *w, int k, const int64_t start[3], int64_t j)
{
    return start[k] + j * w->kernel.operand[k].stride[w->kernel.dim];
}

static double number(const work *w, int k, const int64_t start[3], int64_t j)
{
    return group_reference_get(w->at->dtype, w->array[k].host, place(w, k, start, j));
}

static uint64_t whole(const work *w, int k, const int64_t start[3], int64_t j)
{
    return (uint64_t)group_reference_get_integer(w->at->dtype, w->array[k].host, place(w, k, start, j));
}

static void put_whole(wk_dtype dtype, char *to, int64_t at, uint64_t value)
{
    if (dtype == WK_BOOL) value = (uint32_t)value != 0;
    memcpy(to + at * (int64_t)wk_dtype_size(dtype), &value, wk_dtype_size(dtype));
}

static double in_class(wk_dtype dtype, double x)
{
    return dtype == WK_F64 ? x : (double)(float)x;
}

static void scan_line(const work *w, const int64_t start[3])
{
    double running = w->kernel.mode;
    uint64_t running_whole = (uint64_t)w->kernel.mode;
    for (int64_t j = 0; j < w->kernel.shape[w->kernel.dim]; j++) {
        if (w->at->dtype <= WK_BF16) {
            const double x = number(w, 1, start, j);
            running = in_class(w->at->dtype, w->kernel.mode ? running * x : running + x);
            group_reference_put(w->at->dtype, w->want[0], place(w, 0, start, j), running);
        } else {
            const uint64_t x = whole(w, 1, start, j);
            running_whole = w->kernel.mode ? running_whole * x : running_whole + x;
            put_whole(w->at->dtype, w->want[0], place(w, 0, start, j), running_whole);
        }
    }
}

static const work *sorted;
static const int64_t *sorted_start;

static int compare_places(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    int order;
    if (sorted->at->dtype <= WK_BF16) {
        const double x = number(sorted, 2, sorted_start, a), y = number(sorted, 2, sorted_start, b);
        order = isnan(x) || isnan(y) ? isnan(x) - isnan(y) : (x > y) - (x < y);
    } else {
        const int64_t x = (int64_t)whole(sorted, 2, sorted_start, a), y = (int64_t)whole(sorted, 2, sorted_start, b);
        order = (x > y) - (x < y);
    }
    if (sorted->kernel.mode) order = -order;
    return order ? order : (a > b) - (a < b);
}

static void sort_line(const work *w, const int64_t start[3])
{
    const int64_t n = w->kernel.shape[w->kernel.dim];
    const size_t size = wk_dtype_size(w->at->dtype);
    int64_t *order = calloc((size_t)n + 1, sizeof *order);
    for (int64_t j = 0; j < n; j++) order[j] = j;
    sorted = w;
    sorted_start = start;
    qsort(order, (size_t)n, sizeof *order, compare_places);
    for (int64_t j = 0; j < n; j++) {
        memcpy(w->want[0] + place(w, 0, start, j) * (int64_t)size,
               w->array[2].host + place(w, 2, start, order[j]) * (int64_t)size, size);
        ((int64_t *)(void *)w->want[1])[place(w, 1, start, j)] = order[j];
    }
    free(order);
}

static void scatter_line(const work *w, const int64_t start[3])
{
    const wk_dtype dtype = w->at->dtype;
    for (int64_t j = 0; j < w->kernel.shape[w->kernel.dim]; j++) {
        int64_t to = ((const int64_t *)(void *)w->array[1].host)[place(w, 1, start, j)];
        if (to < 0) to += w->kernel.bound;
        const int64_t at = place(w, 0, start, to);
        if (dtype <= WK_BF16) {
            const double sum = group_reference_get(dtype, w->want[0], at) + number(w, 2, start, j);
            group_reference_put(dtype, w->want[0], at, in_class(dtype, sum));
        } else {
            const uint64_t before = (uint64_t)group_reference_get_integer(dtype, w->want[0], at);
            put_whole(dtype, w->want[0], at, before + whole(w, 2, start, j));
        }
    }
}

static void expected(work *w)
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
        if (w->at->family == WK__SCAN) scan_line(w, start);
        if (w->at->family == WK__SORT) sort_line(w, start);
        if (w->at->family == WK__SCATTER_ADD) scatter_line(w, start);
    }
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static void same_bits(void *device, const work *w, int k)
{
    const array *a = &w->array[k];
    const int64_t size = (int64_t)wk_dtype_size((wk_dtype)a->operand.dtype);
    char *got = malloc((size_t)bytes_of(a));
    wk__fail fail;
    good(gpu->download(device, got, &a->memory, 0, bytes_of(a), &fail), &fail);
    int64_t at = 0;
    while (at < bytes_of(a) && got[at] == w->want[k][at]) at++;
    if (at < bytes_of(a)) {
        const line_case *c = w->at;
        at /= size;
        fail_msg(
            "%s %s, mode %d, %lld x %lld x %lld along %d, layouts %d %d %d: operand %d at %lld is %.17g, not %.17g",
            wk__work_name(c->family), wk_dtype_str(c->dtype), c->mode, (long long)c->shape[0], (long long)c->shape[1],
            (long long)c->shape[2], c->dim, (int)c->layout[0], (int)c->layout[1], (int)c->layout[2], k,
            (long long)(at - a->operand.offset), group_reference_get((wk_dtype)a->operand.dtype, got, at),
            group_reference_get((wk_dtype)a->operand.dtype, w->want[k], at));
    }
    free(got);
}

static void run_case(void *device, const line_case *c, bool look)
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
        gpu->block_give(device, &w.array[k].memory);
        free(w.want[k]);
        free(w.array[k].host);
    }
}

/* ---- devices of another temper ----------------------------------------------------------------------------------- */

/* So that lines of a few hundred elements take every way that a GPU's long lines do. */
enum { LOCAL = 16, CHUNK = 200, SHORT = 8 };

typedef enum temper { ITSELF, SMALL, SMALL_CPU } temper;

/* Opens all devices anew, as what was compiled depends on the target. */
static void become(temper t)
{
    wk__fail fail;
    static wk__gpu_target own[8];
    static bool known;
    for (int d = 0; d < gpu_devices; d++) {
        wk__gpu_target *target = gpu_target(d);
        if (!known) own[d] = *target;
        *target = own[d];
        if (t == ITSELF) continue;
        target->local = LOCAL;
        target->chunk = CHUNK;
        target->short_line = SHORT;
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

static void gather_case(const line_case *c)
{
    run_case(visited, c, false);
}

static void check_case(const line_case *c)
{
    run_case(visited, c, true);
}

/* With one build for all. */
static void run_cases(visit_cases *cases)
{
    wk__fail fail;
    for (int d = 0; d < gpu_devices; d++) {
        visited = gpu_device[d];
        good(gpu->gather(visited, true, &fail), &fail);
        cases(gather_case);
        good(gpu->gather(visited, false, &fail), &fail);
        cases(check_case);
    }
}

static void run_as(temper t, visit_cases *cases)
{
    if (gpu->kind == WK_CUDA && t == SMALL_CPU) skip(); /* all its devices have local memory */
    become(t);
    run_cases(cases);
}

/* ---- scans ------------------------------------------------------------------------------------------------------- */

/* In floats, sums of eighths that no rounding touches. */
static void scan(void (*visit)(const line_case *), wk_dtype dtype, int mode, const int64_t shape[3], int dim, layout to,
                 layout from)
{
    const line_case c = {.family = WK__SCAN,
                         .dtype = dtype,
                         .ndim = 3,
                         .shape = {shape[0], shape[1], shape[2]},
                         .dim = dim,
                         .mode = mode,
                         .layout = {to, from}};
    visit(&c);
}

static void scan_cases(void (*visit)(const line_case *))
{
    static const int64_t lengths[] = {0,   1,   8,   9,   16,  17,  127, 128,           129,
                                      256, 257, 399, 400, 401, 600, 601, 17 * CHUNK + 1};
    static const wk_dtype several[] = {WK_F32, WK_I64, WK_F16};
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        const int64_t n = lengths[k];
        const wk_dtype dtype = several[k % 3];
        scan(visit, dtype, 0, (int64_t[]){2, n, 1}, 1, DENSE, DENSE);
        scan(visit, dtype, 0, (int64_t[]){n, 3, 2}, 0, k % 2 ? GAPS : FLIPPED, k % 2 ? FLIPPED : DENSE);
        scan(visit, WK_I32, 1, (int64_t[]){1, 3, n}, 2, GAPS, FLIPPED);
        scan(visit, dtype, 0, (int64_t[]){2, n, 31}, 1, DENSE, DENSE);
        scan(visit, dtype, 0, (int64_t[]){1, n, 32}, 1, DENSE, DENSE);
        scan(visit, dtype, 0, (int64_t[]){1, n, 32}, 1, DENSE, FLIPPED);
    }
    for (int dtype = WK_F32; dtype < WK_DTYPE_COUNT; dtype++) {
        scan(visit, (wk_dtype)dtype, 0, (int64_t[]){1, 2, 900}, 2, DENSE, GAPS);
        scan(visit, (wk_dtype)dtype, 0, (int64_t[]){65, 1, 400}, 2, DENSE, FLIPPED);
        scan(visit, (wk_dtype)dtype, 0, (int64_t[]){2, 300, 33}, 1, DENSE, DENSE);
        if (dtype > WK_BF16) scan(visit, (wk_dtype)dtype, 1, (int64_t[]){1, 2, 900}, 2, DENSE, GAPS);
    }
    scan(visit, WK_I32, 0, (int64_t[]){1, 9, 4096}, 1, DENSE, DENSE);
    scan(visit, WK_I32, 0, (int64_t[]){4097, 1, 9}, 2, DENSE, DENSE);
}

/* Around the limits of devices as they are. */
static void usual_scan_cases(void (*visit)(const line_case *))
{
    static const int64_t lengths[] = {64, 65, 2047, 2048, 2049, 16383, 16385};
    static const wk_dtype several[] = {WK_F32, WK_BF16, WK_I64};
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        scan(visit, several[k % 3], 0, (int64_t[]){2, lengths[k], 1}, 1, DENSE, FLIPPED);
        scan(visit, several[k % 3], 1, (int64_t[]){1, 3, lengths[k]}, 2, GAPS, DENSE);
    }
    for (int k = 0; k < 3; k++) scan(visit, several[k], 0, (int64_t[]){1, 200, 40}, 1, DENSE, DENSE);
}

static void scans(void **state)
{
    (void)state;
    run_as(ITSELF, usual_scan_cases);
}

static void scans_of_small_groups(void **state)
{
    (void)state;
    run_as(SMALL, scan_cases);
}

static void scans_without_local_memory(void **state)
{
    (void)state;
    run_as(SMALL_CPU, scan_cases);
}

/* A 0, and then what overflows: each result is 0, and none 0 times infinity. */
static void products_after_zero(void **state)
{
    (void)state;
    enum { N = 3000 };
    static float x[N], got[N];
    become(SMALL);
    for (int j = 0; j < N; j++) x[j] = j ? 16.0f : 0.0f;
    for (int d = 0; d < gpu_devices; d++) {
        wk__fail fail;
        wk__memory to, from;
        good(gpu->block_take(gpu_device[d], sizeof x, &to, &fail), &fail);
        good(gpu->block_take(gpu_device[d], sizeof x, &from, &fail), &fail);
        good(gpu->upload(gpu_device[d], &from, 0, x, sizeof x, &fail), &fail);
        const wk__kernel kernel = {.ndim = 1,
                                   .mode = 1,
                                   .shape = {N},
                                   .operand = {{.dtype = WK_F32, .memory = &to, .stride = {1}, .stored = true},
                                               {.dtype = WK_F32, .memory = &from, .stride = {1}}}};
        good(submit_kernel(gpu, gpu_device[d], WK__SCAN, &kernel, &fail), &fail);
        good(gpu->download(gpu_device[d], got, &to, 0, sizeof got, &fail), &fail);
        for (int j = 0; j < N; j++) assert_true(got[j] == 0);
        gpu->block_give(gpu_device[d], &to);
        gpu->block_give(gpu_device[d], &from);
    }
}

/* ---- sorts ------------------------------------------------------------------------------------------------------- */

static void sort(void (*visit)(const line_case *), wk_dtype dtype, int mode, const int64_t shape[3], int dim,
                 layout values, layout places, layout from)
{
    const line_case c = {.family = WK__SORT,
                         .dtype = dtype,
                         .ndim = 3,
                         .shape = {shape[0], shape[1], shape[2]},
                         .dim = dim,
                         .mode = mode,
                         .layout = {values, places, from}};
    visit(&c);
}

/* Tiles have 128 elements, or 64 of eight bytes, where groups are small; 17 tiles are more than a group has items. */
static void sort_cases(void (*visit)(const line_case *))
{
    static const int64_t lengths[] = {0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257};
    static const wk_dtype several[] = {WK_F32, WK_I64, WK_BF16, WK_I8};
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        const int64_t n = lengths[k];
        for (int t = 0; t < 2; t++) {
            const wk_dtype dtype = several[(k + (size_t)t * 3) % 4];
            sort(visit, dtype, t, (int64_t[]){3, n, 2}, 1, DENSE, FLIPPED, GAPS);
            sort(visit, dtype, 1 - t, (int64_t[]){n, 17, 1}, 0, FLIPPED, DENSE, DENSE);
        }
    }
    for (int dtype = WK_F32; dtype < WK_DTYPE_COUNT; dtype++)
        for (int mode = 0; mode < 2; mode++) {
            sort(visit, (wk_dtype)dtype, mode, (int64_t[]){1, 50, 5}, 1, DENSE, DENSE, GAPS);
            sort(visit, (wk_dtype)dtype, mode, (int64_t[]){2, 1, 700}, 2, GAPS, DENSE, FLIPPED);
        }
    sort(visit, WK_F32, 0, (int64_t[]){1, 1, 17 * 128 + 1}, 2, DENSE, DENSE, DENSE);
    sort(visit, WK_F64, 1, (int64_t[]){2, 1, 17 * 64 + 1}, 2, DENSE, DENSE, DENSE);
}

static void usual_sort_cases(void (*visit)(const line_case *))
{
    static const int64_t lengths[] = {1, 5, 100, 1023, 1024, 1025, 2047, 2048, 2049, 5000};
    static const wk_dtype several[] = {WK_F32, WK_I64, WK_I8};
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        sort(visit, WK_F32, (int)k % 2, (int64_t[]){2, lengths[k], 1}, 1, FLIPPED, DENSE, GAPS);
        sort(visit, several[k % 3], 1 - (int)k % 2, (int64_t[]){1, lengths[k], 3}, 1, DENSE, GAPS, DENSE);
    }
}

static void sorts(void **state)
{
    (void)state;
    run_as(ITSELF, usual_sort_cases);
}

static void sorts_of_small_groups(void **state)
{
    (void)state;
    run_as(SMALL, sort_cases);
}

static void sorts_without_local_memory(void **state)
{
    (void)state;
    run_as(SMALL_CPU, sort_cases);
}

/* ---- scatter_add ------------------------------------------------------------------------------------------------- */

static void scatter(void (*visit)(const line_case *), wk_dtype dtype, const int64_t shape[3], int dim, int64_t bound,
                    int values, layout to, layout index, layout from)
{
    const line_case c = {.family = WK__SCATTER_ADD,
                         .dtype = dtype,
                         .ndim = 3,
                         .shape = {shape[0], shape[1], shape[2]},
                         .dim = dim,
                         .bound = bound,
                         .values = values,
                         .layout = {to, index, from}};
    visit(&c);
}

static void scatter_cases(void (*visit)(const line_case *))
{
    static const int64_t lengths[] = {0, 1, 15, 16, 17, 31, 32, 33, 200}, places[] = {1, 2, 3, 4, 5, 100};
    static const wk_dtype several[] = {WK_F32, WK_F16, WK_I32};
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++)
        for (size_t p = 0; p < sizeof places / sizeof places[0]; p++) {
            const wk_dtype dtype = several[(k + p) % 3];
            const int64_t n = lengths[k];
            scatter(visit, dtype, (int64_t[]){n, 5, 1}, 0, places[p], 0, DENSE, ONE_LINE, DENSE);
            scatter(visit, dtype, (int64_t[]){2, n, 3}, 1, places[p], 0, FLIPPED, GAPS, FLIPPED);
        }
    for (int dtype = WK_F32; dtype < WK_DTYPE_COUNT; dtype++) {
        scatter(visit, (wk_dtype)dtype, (int64_t[]){300, 40, 1}, 0, 50, 0, DENSE, ONE_LINE, DENSE);
        scatter(visit, (wk_dtype)dtype, (int64_t[]){3, 2, 150}, 2, 64, 3, GAPS, FLIPPED,
                DENSE); /* few, again and again */
    }
}

static void usual_scatter_cases(void (*visit)(const line_case *))
{
    static const wk_dtype several[] = {WK_F32, WK_F16, WK_I32};
    for (int k = 0; k < 3; k++) {
        scatter(visit, several[k], (int64_t[]){500, 40, 1}, 0, 90, 0, DENSE, ONE_LINE, DENSE);
        scatter(visit, several[k], (int64_t[]){2, 70, 3}, 1, 5, 0, FLIPPED, GAPS, FLIPPED);
    }
}

static void scatter_adds(void **state)
{
    (void)state;
    run_as(ITSELF, usual_scatter_cases);
}

static void scatter_adds_of_small_groups(void **state)
{
    (void)state;
    run_as(SMALL, scatter_cases);
}

/* The last index is bad: nothing at all is added, the fault comes once. */
static void bad_scatter(void **state)
{
    (void)state;
    become(ITSELF);
    for (int d = 0; d < gpu_devices; d++) {
        void *device = gpu_device[d];
        wk__fail fail;
        work w;
        const line_case c = {
            .family = WK__SCATTER_ADD, .dtype = WK_F32, .ndim = 1, .shape = {50, 1, 1}, .bound = 7, .layout = {DENSE}};
        begin_work(&c, &w);
        ((int64_t *)(void *)w.array[1].host)[MARGIN + 49] = -8;
        for (int k = 0; k < 3; k++) {
            to_device(device, &w.array[k]);
            w.kernel.operand[k] = w.array[k].operand;
        }
        good(submit_kernel(gpu, device, c.family, &w.kernel, &fail), &fail);
        assert_int_equal(gpu->sync(device, &fail), WK_ERR_INDEX);
        assert_true(fail.tag == 42 && fail.index == -8 && fail.bound == 7);
        for (int k = 0; k < 3; k++) {
            expect(device, "bad scatter_add", &w.array[k], w.array[k].host);
            free(w.array[k].host);
        }
    }
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

static wk__gpu_target card, processor, few_items;

typedef struct plan {
    char text[1024]; /* name:count of each launch */
    int64_t parts, scratch;
    int writes;
} plan;

static wk_code note(void *user, const wk__gpu_launch *launch, wk__fail *fail)
{
    plan *p = user;
    const size_t used = strlen(p->text);
    (void)fail;
    assert_true(launch->scratch == 0 || launch->unit.nmemory > 2);
    assert_true(launch->unit.narguments <= WK__GPU_FIXED_ARGUMENTS);
    snprintf(p->text + used, sizeof p->text - used, "%s%s:%lld", used ? " " : "", launch->unit.fixed->name,
             (long long)launch->count);
    p->parts = launch->argument[WK__GPU_PARTS];
    if (launch->scratch > p->scratch) p->scratch = launch->scratch;
    p->writes += launch->writes;
    return WK_OK;
}

static plan plan_of(const wk__gpu_target *target, int family, wk_dtype dtype, int mode, int64_t outer, int64_t length,
                    int64_t inner)
{
    plan p = {0};
    wk__fail fail;
    wk__memory memory = {.block = &memory};
    wk__kernel kernel = {.ndim = 3, .dim = 1, .mode = mode, .shape = {outer, length, inner}, .bound = 1000};
    for (int k = 0; k < 3; k++)
        kernel.operand[k] =
            (wk__operand){.dtype = (uint8_t)dtype, .memory = &memory, .stride = {length * inner, inner, 1}};
    const wk__work work = {.family = family, .kernel = &kernel};
    good(wk__gpu_plan_kernel(target, &work, note, &p, &fail), &fail);
    assert_true(p.text[0] == '\0' || p.writes == 1); /* what is cut short has written nothing, or all is written */
    return p;
}

static void launches(void **state)
{
    (void)state;
    static const struct {
        const wk__gpu_target *target;
        int family;
        wk_dtype dtype;
        int mode;
        int64_t outer, length, inner;
        const char *launches;
    } cases[] = {
        {&card, WK__SCAN, WK_F32, 0, 3, 64, 1, "scan:3"},
        {&card, WK__SCAN, WK_F32, 0, 3, 65, 1, "scan_tiled:3"},
        {&card, WK__SCAN, WK_F32, 0, 3, 0, 1, "scan:3"},
        {&card, WK__SCAN, WK_F32, 0, 0, 65, 1, ""},
        {&card, WK__SCAN, WK_F32, 0, 3, 16383, 1, "scan_tiled:3"},
        {&card, WK__SCAN, WK_F32, 0, 64, 16384, 1, "scan_tiled_sums:128 scan_tiled_offsets:64 scan_tiled_parts:128"},
        {&card, WK__SCAN, WK_F32, 0, 65, 16384, 1, "scan_tiled:65"},
        {&card, WK__SCAN, WK_F32, 0, 1, 1 << 24, 1, "scan_tiled_sums:2048 scan_tiled_offsets:1 scan_tiled_parts:2048"},
        {&card, WK__SCAN, WK_F32, 1, 1, 1 << 24, 1, "scan:1"},
        {&card, WK__SCAN, WK_BF16, 1, 1, 1 << 24, 1, "scan:1"},
        {&card, WK__SCAN, WK_I8, 1, 1, 300, 1, "scan_tiled:1"},
        {&card, WK__SCAN, WK_F32, 0, 1, 1000, 31, "scan_tiled:31"},
        {&card, WK__SCAN, WK_F32, 0, 1, 1000, 32, "scan_sums:480 scan_offsets:32 scan_parts:480"},
        {&card, WK__SCAN, WK_F32, 0, 1, 100, 32, "scan:32"},
        {&card, WK__SCAN, WK_F32, 0, 1, 1000, 4095, "scan_sums:16380 scan_offsets:4095 scan_parts:16380"},
        {&card, WK__SCAN, WK_F32, 0, 1, 1000, 4096, "scan:4096"},
        {&processor, WK__SCAN, WK_F32, 0, 1, 1 << 24, 1, "scan:1"},
        {&processor, WK__SCAN, WK_F32, 0, 1, 1000, 32, "scan:32"},
        {&card, WK__SORT, WK_F32, 0, 100, 10, 1, "sort_short:1"},
        {&card, WK__SORT, WK_F32, 0, 128, 16, 1, "sort_short:1"},
        {&card, WK__SORT, WK_F32, 0, 129, 16, 1, "sort_short:2"},
        {&card, WK__SORT, WK_F32, 0, 3, 2048, 1, "sort_short:3"},
        {&card, WK__SORT, WK_F64, 0, 3, 1024, 1, "sort_short:3"},
        {&card, WK__SORT, WK_I8, 0, 3, 2049, 1, "sort_count:6 sort_offsets:768 sort_move:6"},
        {&card, WK__SORT, WK_F16, 0, 1, 4097, 1,
         "sort_count:3 sort_offsets:256 sort_move:3 sort_count:3 sort_offsets:256 sort_move:3"},
        {&card, WK__SORT, WK_F32, 0, 1, 0, 1, ""},
        {&processor, WK__SORT, WK_F32, 0, 3, 16, 1, "sort_start:3 sort_finish:48"},
        {&processor, WK__SORT, WK_F32, 0, 3, 17, 1, "sort_short:1"},
        {&processor, WK__SORT, WK_F32, 0, 1, 2048, 1, "sort_short:1"},
        {&processor, WK__SORT, WK_I8, 0, 1, 65536, 1, "sort_count:32 sort_offsets:256 sort_move:32"},
        {&few_items, WK__SCAN, WK_F32, 0, 1, 1 << 24, 1, "scan:1"},
        {&few_items, WK__SORT, WK_F32, 0, 3, 33, 1, "sort_start:9 sort_merge:99 sort_merge:99 sort_finish:99"},
        {&card, WK__SCATTER_ADD, WK_F32, 0, 1, 8192, 768, "scatter_add_check:6291456 scatter_add:49152"},
        {&card, WK__SCATTER_ADD, WK_F32, 0, 1, 15, 1, "scatter_add_check:15 scatter_add:1"},
        {&card, WK__SCATTER_ADD, WK_F32, 0, 1, 16, 1, "scatter_add_check:16 scatter_add:2"},
        {&card, WK__SCATTER_ADD, WK_F32, 0, 1, 1 << 20, 1, "scatter_add_check:1048576 scatter_add:512"},
        {&card, WK__SCATTER_ADD, WK_F32, 0, 1, 100, 32769, "scatter_add_check:3276900 scatter_add:32769"},
        {&processor, WK__SCATTER_ADD, WK_F32, 0, 1, 8192, 768, "scatter_add_check:6291456 scatter_add:768"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const plan p = plan_of(cases[k].target, cases[k].family, cases[k].dtype, cases[k].mode, cases[k].outer,
                               cases[k].length, cases[k].inner);
        if (strcmp(p.text, cases[k].launches) != 0) fail_msg("case %zu: %s, not %s", k, p.text, cases[k].launches);
    }
    /* 4 digits; 8 of i64, of pairs of 12 bytes; what has positions of more than 32 bits is merged */
    const int64_t n = 100001, tiles = 49, wide_tiles = 98;
    assert_int_equal(plan_of(&card, WK__SORT, WK_F32, 0, 1, n, 1).scratch, 2 * 8 * n + 4 * 256 * (tiles + 1));
    assert_int_equal(plan_of(&card, WK__SORT, WK_I64, 0, 1, n, 1).scratch,
                     2 * (12 * n + 4) + 4 * 256 * (wide_tiles + 1));
    assert_int_equal(plan_of(&card, WK__SORT, WK_I8, 0, 1, n, 1).scratch, 4 * 256 * (tiles + 1));
    assert_int_equal(strncmp(plan_of(&card, WK__SORT, WK_I8, 0, 1, INT32_MAX, 1).text, "sort_count:", 11), 0);
    assert_int_equal(strncmp(plan_of(&card, WK__SORT, WK_I8, 0, 1, (int64_t)INT32_MAX + 1, 1).text, "sort_start:", 11),
                     0);
    assert_int_equal(strncmp(plan_of(&processor, WK__SORT, WK_F32, 0, 1, 2049, 1).text, "sort_start:", 11), 0);
    assert_int_equal(strncmp(plan_of(&processor, WK__SORT, WK_F32, 0, 1, 65535, 1).text, "sort_start:", 11), 0);
}

int main(void)
{
    card = few_items = wk__gpu_target_of(WK__GPU_CUDA, true);
    few_items.local = 8;
    processor = wk__gpu_target_of(WK__GPU_OPENCL, false);
    processor.has_f64 = true;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches),
        cmocka_unit_test(scans),
        cmocka_unit_test(sorts),
        cmocka_unit_test(scatter_adds),
        cmocka_unit_test(bad_scatter),
        cmocka_unit_test(scans_of_small_groups),
        cmocka_unit_test(products_after_zero),
        cmocka_unit_test(sorts_of_small_groups),
        cmocka_unit_test(scatter_adds_of_small_groups),
        cmocka_unit_test(scans_without_local_memory),
        cmocka_unit_test(sorts_without_local_memory),
    };
    return cmocka_run_group_tests(tests, gpu_open, gpu_close);
}
