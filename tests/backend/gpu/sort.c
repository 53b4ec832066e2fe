/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts compared with qsort, of random bits with many equal elements; see lines.h. */
#include "lines.h"

#include <math.h>

/* Random bits, so that each digit of a key matters; every fourth element is one of a few, so that there are equal ones:
 * among them NaN of both signs, zeros and infinities. */
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

static void fill(work *w)
{
    fill_with_bits(&w->array[2]);
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

static void compute_line(const work *w, const int64_t start[3])
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

/* With small work-groups, tiles have 128 elements, or 64 of eight bytes; 17 tiles exceed the items of a work-group. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts),
        cmocka_unit_test(sorts_of_small_groups),
        cmocka_unit_test(sorts_without_local_memory),
    };
    return cmocka_run_group_tests(tests, gpu_open_one, gpu_close);
}
