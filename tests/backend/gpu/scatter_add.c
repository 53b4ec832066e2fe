/* SPDX-License-Identifier: Apache-2.0 */
/* scatter_add compared with a loop in index order; see lines.h. */
#include "lines.h"

#include <math.h>

/* Values of very different magnitudes, whose sum depends on the order of addition. */
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

static void fill(work *w)
{
    fill_with_indices(&w->array[1], w->at);
    fill_with_sizes(&w->array[0]);
    fill_with_sizes(&w->array[2]);
}

static void compute_line(const work *w, const int64_t start[3])
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
                DENSE); /* few indices, repeated */
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

/* The last index is bad: nothing is added, and the fault is reported once. */
static void bad_scatter(void **state)
{
    (void)state;
    use_target(ITSELF);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scatter_adds),
        cmocka_unit_test(bad_scatter),
        cmocka_unit_test(scatter_adds_of_small_groups),
    };
    return cmocka_run_group_tests(tests, gpu_open, gpu_close);
}
