/* SPDX-License-Identifier: Apache-2.0 */
/* scatter_add and scan compared with loops over single elements, in every dtype and layout. */
#include "kernels_case.h"

#include "base/pool.h"

static const int64_t shapes[][3] = {{5, 1, 1}, {0, 1, 1}, {1, 1, 1},   {3, 4, 1},  {4, 0, 1},   {2, 3, 5},
                                    {7, 2, 9}, {1, 6, 1}, {130, 3, 1}, {3, 70, 1}, {40, 33, 2}, {2, 1100, 1}};
static const int dims[] = {1, 1, 1, 2, 2, 3, 3, 3, 2, 2, 3, 2};
enum { SHAPES = sizeof dims / sizeof *dims };

static wk__work_args kernel_of(int shape, int dim)
{
    wk__work_args kernel = {.ndim = dims[shape], .dim = dim, .tag = 77};
    memcpy(kernel.shape, shapes[shape], sizeof shapes[shape]);
    return kernel;
}

/* Applies the same additions, one element after the other, to a copy of the target. */
static void scatter_plainly(const wk__work_args *kernel, const array *target, char *data, const array *index,
                            const array *source)
{
    const wk_dtype dtype = (wk_dtype)target->operand.dtype;
    int64_t at[WK__MAX_DIMS] = {0};
    if (is_empty(kernel->ndim, kernel->shape)) return;
    do {
        int64_t place, to[WK__MAX_DIMS];
        memcpy(&place, array_at(index, kernel->ndim, at), 8);
        memcpy(to, at, sizeof to);
        to[kernel->dim] = place < 0 ? place + kernel->bound : place;
        char *element = data + (array_at(target, kernel->ndim, to) - target->data);
        const char *add = array_at(source, kernel->ndim, at);
        if (dtype == WK_F32) {
            float a, b;
            memcpy(&a, element, 4);
            memcpy(&b, add, 4);
            put_rounded(dtype, element, a + b, 0);
        } else if (is_float(dtype)) {
            put_rounded(dtype, element, get_real(dtype, element) + get_real(dtype, add), 0);
        } else {
            put_rounded(dtype, element, 0,
                        (int64_t)((uint64_t)get_whole(dtype, element) + (uint64_t)get_whole(dtype, add)));
        }
    } while (advance(kernel->ndim, kernel->shape, at));
}

static void scatter_case(wk_dtype dtype, int shape, int dim, layout layout, bool one_index)
{
    wk__work_args kernel = kernel_of(shape, dim);
    kernel.bound = 1 + random_below(9);
    int64_t target_shape[3];
    memcpy(target_shape, kernel.shape, sizeof target_shape);
    target_shape[dim] = kernel.bound;
    array target, index, source;
    array_new(&target, dtype, kernel.ndim, target_shape, layout);
    array_new(&index, WK_I64, kernel.ndim, kernel.shape, (enum layout)random_below(LAYOUTS));
    array_new(&source, dtype, kernel.ndim, kernel.shape, (enum layout)random_below(LAYOUTS));
    for (int64_t k = 0; k < index.bytes / 8; k++) {
        const int64_t place = random_below(2 * kernel.bound) - kernel.bound;
        memcpy(index.data + 8 * k, &place, 8);
    }
    if (one_index) /* one for all lines, as in the gradient of an embedding */
        for (int d = 0; d < kernel.ndim; d++)
            if (d != dim) index.operand.stride[d] = 0;
    char *expected = array_copy(&target);
    scatter_plainly(&kernel, &target, expected, &index, &source);
    kernel.operand[0] = target.operand;
    kernel.operand[1] = index.operand;
    kernel.operand[2] = source.operand;
    wk__fail fail = {0};
    assert_int_equal(wk__cpu_scatter_add(&(wk__work){.family = WK__SCATTER_ADD, .args = &kernel}, &fail), WK_OK);
    assert_memory_equal(target.data, expected, (size_t)target.bytes);
    free(expected);
    free(target.data);
    free(index.data);
    free(source.data);
}

static void test_scatter_add(void **state)
{
    (void)state;
    for (int dtype = WK_F32; dtype < WK_DTYPE_COUNT; dtype++)
        for (int shape = 0; shape < SHAPES; shape++)
            for (int dim = 0; dim < dims[shape]; dim++)
                for (layout layout = ROWS; layout < LAYOUTS; layout++) {
                    scatter_case((wk_dtype)dtype, shape, dim, layout, false);
                    scatter_case((wk_dtype)dtype, shape, dim, layout, true);
                }
}

/* A bad index anywhere: the error contains its value and the bound, and the target is unchanged. */
static void test_bad_index(void **state)
{
    (void)state;
    static const int64_t bad[] = {4, -5, INT64_MAX, INT64_MIN};
    for (int k = 0; k < 4; k++)
        for (int dim = 0; dim < 2; dim++) {
            const int64_t shape[] = {300, 200}, target_shape[] = {dim ? 300 : 4, dim ? 4 : 200};
            wk__work_args kernel = {.ndim = 2, .dim = dim, .bound = 4, .tag = 77};
            memcpy(kernel.shape, shape, sizeof shape);
            array target, index, source;
            array_new(&target, WK_F32, 2, target_shape, ROWS);
            array_new(&index, WK_I64, 2, shape, ROWS);
            array_new(&source, WK_F32, 2, shape, ROWS);
            memset(index.data, 0, (size_t)index.bytes);
            const int64_t last = 1 + random_below(30000), other = 9;
            memcpy(index.data + index.bytes - 8 * last, &other, 8);
            memcpy(index.data + index.bytes - 8 * (last + 1 + random_below(30000)), &bad[k], 8); /* an earlier one */
            char *before = array_copy(&target);
            kernel.operand[0] = target.operand;
            kernel.operand[1] = index.operand;
            kernel.operand[2] = source.operand;
            wk__fail fail = {0};
            assert_int_equal(wk__cpu_scatter_add(&(wk__work){.family = WK__SCATTER_ADD, .args = &kernel}, &fail),
                             WK_ERR_INDEX);
            assert_int_equal(fail.code, WK_ERR_INDEX);
            assert_int_equal(fail.tag, 77);
            assert_true(fail.index == bad[k]);
            assert_int_equal(fail.bound, 4);
            assert_memory_equal(target.data, before, (size_t)target.bytes);
            free(before);
            free(target.data);
            free(index.data);
            free(source.data);
        }
}

static void scan_case(wk_dtype dtype, int shape, int dim, layout layout, int mode)
{
    wk__work_args kernel = kernel_of(shape, dim);
    kernel.mode = mode;
    array out, in;
    array_new(&out, dtype, kernel.ndim, kernel.shape, layout);
    array_new(&in, dtype, kernel.ndim, kernel.shape, (enum layout)random_below(LAYOUTS));
    const int64_t size = (int64_t)wk_dtype_size(dtype);
    /* powers of two: no product is infinity times 0, whose NaN could have any sign and payload */
    if (mode && is_float(dtype))
        for (int64_t k = 0; k < in.bytes / size; k++)
            put_rounded(dtype, in.data + k * size, ldexp(random_below(2) ? 1 : -1, (int)random_below(3) - 1), 0);
    char *expected = array_copy(&out);
    int64_t at[WK__MAX_DIMS] = {0};
    if (!is_empty(kernel.ndim, kernel.shape)) do {
            if (at[dim] != 0) continue;
            double real = mode;
            uint64_t whole = (uint64_t)mode;
            for (; at[dim] < kernel.shape[dim]; at[dim]++) {
                const char *element = array_at(&in, kernel.ndim, at);
                if (is_float(dtype)) { /* in double, rounded to f32 and to the dtype when stored */
                    real = mode ? real * get_real(dtype, element) : real + get_real(dtype, element);
                } else {
                    const uint64_t next = (uint64_t)get_whole(dtype, element);
                    whole = mode ? whole * next : whole + next;
                }
                put_rounded(dtype, expected + (array_at(&out, kernel.ndim, at) - out.data),
                            dtype == WK_F64 ? real : (double)(float)real, (int64_t)whole);
            }
            at[dim] = 0;
        } while (advance(kernel.ndim, kernel.shape, at));
    kernel.operand[0] = out.operand;
    kernel.operand[1] = in.operand;
    wk__fail fail = {0};
    assert_int_equal(wk__cpu_scan(&(wk__work){.family = WK__SCAN, .args = &kernel}, &fail), WK_OK);
    assert_memory_equal(out.data, expected, (size_t)out.bytes);
    free(expected);
    free(out.data);
    free(in.data);
}

static void test_scan(void **state)
{
    (void)state;
    for (int dtype = WK_F32; dtype < WK_DTYPE_COUNT; dtype++)
        for (int shape = 0; shape < SHAPES; shape++)
            for (int dim = 0; dim < dims[shape]; dim++)
                for (layout layout = ROWS; layout < LAYOUTS; layout++)
                    for (int mode = 0; mode < 2; mode++) scan_case((wk_dtype)dtype, shape, dim, layout, mode);
}

static void test_unknown(void **state)
{
    (void)state;
    for (int family = -1; family <= WK__WORK_FAMILIES; family += WK__WORK_FAMILIES + 1) {
        const wk__work_args kernel = {.ndim = 0};
        const wk__work work = {.family = family, .args = &kernel};
        wk__fail fail = {0};
        assert_int_equal(wk__cpu_kernel(&work, &fail), WK_ERR_UNSUPPORTED);
        assert_non_null(strstr(fail.text, "unknown work"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scatter_add),
        cmocka_unit_test(test_bad_index),
        cmocka_unit_test(test_scan),
        cmocka_unit_test(test_unknown),
    };
    int failed = 0;
    for (int threads = 1; threads <= 4; threads += 3) {
        wk__set_thread_count(threads);
        failed += cmocka_run_group_tests(tests, NULL, NULL);
    }
    return failed;
}
