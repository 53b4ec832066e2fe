/* SPDX-License-Identifier: Apache-2.0 */
/* sort: order, stability, NaN and signed zeros, every dtype and layout, short and long lines. */
#include "kernels_case.h"

#include "base/alloc.h"
#include "base/pool.h"

/* Returns -1, 0 or 1 if a sorts before, equal to or after b in ascending order; NaN is greatest and equal to NaN. */
static int compare(wk_dtype dtype, const char *a, const char *b)
{
    if (!is_float(dtype)) {
        const int64_t x = get_whole(dtype, a), y = get_whole(dtype, b);
        return (x > y) - (x < y);
    }
    const double x = get_real(dtype, a), y = get_real(dtype, b);
    if (isnan(x) || isnan(y)) return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

static void put_special(wk_dtype dtype, char *at)
{
    static const double values[] = {0, -0.0, INFINITY, -INFINITY, 0x1p-24, -0x1p-24};
    static const uint16_t f16[] = {0, 0x8000, 0x7c00, 0xfc00, 1, 0x8001},
                          bf16[] = {0, 0x8000, 0x7f80, 0xff80, 1, 0x8001};
    const int64_t k = random_below(8);
    const bool nan = k >= 6;
    const double real = nan ? copysign(NAN, k == 6 ? 1 : -1) : values[k];
    const float single = (float)real;
    const uint16_t half = nan ? 0x7e00 : f16[k], brain = nan ? 0xffc1 : bf16[k];
    switch (dtype) {
    case WK_F32: memcpy(at, &single, 4); return;
    case WK_F64: memcpy(at, &real, 8); return;
    case WK_F16: memcpy(at, &half, 2); return;
    case WK_BF16: memcpy(at, &brain, 2); return;
    default: memset(at, k < 4 ? 0xff : 0x80, dtype == WK_BOOL ? 0 : wk_dtype_size(dtype)); return;
    }
}

/* Checks one line: the indices are a permutation, and values are the elements at these indices, in order, equal ones by
 * position. */
static void line_check(const wk__work_args *kernel, const array all[3], int64_t at[])
{
    const wk_dtype dtype = (wk_dtype)all[2].operand.dtype;
    const int64_t length = kernel->shape[kernel->dim];
    const size_t size = wk_dtype_size(dtype);
    bool *seen = calloc((size_t)length + 1, 1);
    const char *previous = NULL;
    int64_t previous_index = -1;
    for (int64_t i = 0; i < length; i++) {
        int64_t index;
        at[kernel->dim] = i;
        const char *value = array_at(&all[0], kernel->ndim, at);
        memcpy(&index, array_at(&all[1], kernel->ndim, at), 8);
        assert_in_range(index, 0, length - 1);
        assert_false(seen[index]);
        seen[index] = true;
        at[kernel->dim] = index;
        assert_memory_equal(value, array_at(&all[2], kernel->ndim, at), size);
        if (previous) {
            const int order = compare(dtype, previous, value) * (kernel->mode ? -1 : 1);
            assert_true(order < 0 || (order == 0 && previous_index < index));
        }
        previous = value;
        previous_index = index;
    }
    at[kernel->dim] = 0;
    free(seen);
}

static void sort_case(wk_dtype dtype, int ndim, const int64_t shape[], int dim, layout layout, int mode)
{
    wk__work_args kernel = {.ndim = ndim, .dim = dim, .mode = mode};
    memcpy(kernel.shape, shape, (size_t)ndim * sizeof *shape);
    array all[3];
    array_new(&all[0], dtype, ndim, shape, layout);
    array_new(&all[1], WK_I64, ndim, shape, (enum layout)random_below(LAYOUTS));
    array_new(&all[2], dtype, ndim, shape, (enum layout)random_below(LAYOUTS));
    const int64_t size = (int64_t)wk_dtype_size(dtype);
    for (int64_t k = 0; k < all[2].bytes / size; k++)
        if (random_below(8) == 0) put_special(dtype, all[2].data + k * size);
    char *guard = array_copy(&all[0]);
    for (int o = 0; o < 3; o++) kernel.operand[o] = all[o].operand;
    wk__fail fail = {0};
    assert_int_equal(wk__cpu_sort(&(wk__work){.family = WK__SORT, .args = &kernel}, &fail), WK_OK);
    int64_t at[WK__MAX_DIMS] = {0};
    if (!is_empty(ndim, shape)) do {
            if (at[dim] == 0) line_check(&kernel, all, at);
        } while (advance(ndim, shape, at));
    assert_memory_equal(guard, all[0].data, (size_t)(3 * size)); /* the bytes before the values */
    free(guard);
    for (int o = 0; o < 3; o++) free(all[o].data);
}

static void test_sort(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{0, 1, 1},   {1, 1, 1}, {2, 1, 1}, {39, 1, 1}, {40, 1, 1}, {41, 1, 1},
                                        {300, 1, 1}, {5, 7, 1}, {3, 0, 1}, {6, 50, 4}, {2, 3, 300}};
    static const int dims[] = {1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 3};
    for (int dtype = WK_F32; dtype < WK_DTYPE_COUNT; dtype++)
        for (int s = 0; s < 11; s++)
            for (int dim = 0; dim < dims[s]; dim++)
                for (layout layout = ROWS; layout < LAYOUTS; layout++)
                    for (int mode = 0; mode < 2; mode++)
                        sort_case((wk_dtype)dtype, dims[s], shapes[s], dim, layout, mode);
}

static void test_long(void **state)
{
    (void)state;
    const int64_t line[] = {100000}, lines[] = {500, 300};
    sort_case(WK_F32, 1, line, 0, ROWS, 0);
    sort_case(WK_I64, 1, line, 0, GAPS, 1);
    sort_case(WK_F32, 2, lines, 0, ROWS, 1);
    sort_case(WK_I16, 2, lines, 1, ROWS, 0);
}

/* Without memory for the pairs, nothing is written. */
static void test_no_memory(void **state)
{
    (void)state;
    const int64_t shape[] = {60};
    wk__work_args kernel = {.ndim = 1, .shape = {60}};
    array all[3];
    for (int o = 0; o < 3; o++) {
        array_new(&all[o], o == 1 ? WK_I64 : WK_F32, 1, shape, ROWS);
        kernel.operand[o] = all[o].operand;
    }
    char *values = array_copy(&all[0]), *indices = array_copy(&all[1]);
    wk__fail fail = {0};
    wk__alloc_fail_at(1);
    assert_int_equal(wk__cpu_sort(&(wk__work){.family = WK__SORT, .args = &kernel}, &fail), WK_ERR_MEMORY);
    wk__alloc_fail_at(0);
    assert_memory_equal(values, all[0].data, (size_t)all[0].bytes);
    assert_memory_equal(indices, all[1].data, (size_t)all[1].bytes);
    free(values);
    free(indices);
    for (int o = 0; o < 3; o++) free(all[o].data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sort),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_no_memory),
    };
    int failed = 0;
    for (int threads = 1; threads <= 4; threads += 3) {
        wk__set_thread_count(threads);
        failed += cmocka_run_group_tests(tests, NULL, NULL);
    }
    return failed;
}
