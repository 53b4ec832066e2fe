/* SPDX-License-Identifier: Apache-2.0 */
/* Cumulative sums and products compared with a loop, for every algorithm; see lines.h. */
#include "lines.h"

/* Odd values: their products are never 0, even if they wrap. */
static void fill_with_factors(array *a)
{
    for (int64_t k = 0; k < a->elements; k++)
        group_reference_put((wk_dtype)a->operand.dtype, a->host, k, (double)(group_case_random() % 50) * 2 + 1);
}

static void fill(work *w)
{
    if (w->at->mode == 1) fill_with_factors(&w->array[1]);
}

static void compute_line(const work *w, const int64_t start[3])
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

/* ---- scans ------------------------------------------------------------------------------------------------------- */

/* For floats, exact sums of eighths. */
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

/* Around the limits of unmodified devices. */
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

/* A 0 before an overflow: every result is 0, and none is 0 times infinity. */
static void products_after_zero(void **state)
{
    (void)state;
    enum { N = 3000 };
    static float x[N], got[N];
    use_target(SMALL);
    for (int j = 0; j < N; j++) x[j] = j ? 16.0f : 0.0f;
    for (int d = 0; d < gpu_devices; d++) {
        wk__fail fail;
        wk__memory to, from;
        good(gpu->block_alloc(gpu_device[d], sizeof x, &to, &fail), &fail);
        good(gpu->block_alloc(gpu_device[d], sizeof x, &from, &fail), &fail);
        good(gpu->upload(gpu_device[d], &from, 0, x, sizeof x, &fail), &fail);
        const wk__work_args kernel = {.ndim = 1,
                                      .mode = 1,
                                      .shape = {N},
                                      .operand = {{.dtype = WK_F32, .memory = &to, .stride = {1}, .stored = true},
                                                  {.dtype = WK_F32, .memory = &from, .stride = {1}}}};
        good(submit_kernel(gpu, gpu_device[d], WK__SCAN, &kernel, &fail), &fail);
        good(gpu->download(gpu_device[d], got, &to, 0, sizeof got, &fail), &fail);
        for (int j = 0; j < N; j++) assert_true(got[j] == 0);
        gpu->block_free(gpu_device[d], &to);
        gpu->block_free(gpu_device[d], &from);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scans),
        cmocka_unit_test(scans_of_small_groups),
        cmocka_unit_test(products_after_zero),
        cmocka_unit_test(scans_without_local_memory),
    };
    return cmocka_run_group_tests(tests, gpu_open_one, gpu_close);
}
