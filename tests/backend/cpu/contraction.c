/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions in all directions on the CPU, packed and element by element, compared with loops; and their bits. */
#include "support/contraction.h"

#include "backend/cpu/contraction/contraction_reference.h"
#include "backend/cpu/isa.h"
#include "base/pool.h"

/* ---- reference --------------------------------------------------------------------------------------------------- */

/* Sums for each element of an array, in double or in 64-bit integers, and the sums of their magnitudes. */
typedef struct reference {
    const convolution_case *of;
    direction way;
    const array *out;
    int ndim;
    double *sum, *magnitude;
    uint64_t *whole;
} reference;

static int64_t count_of(const array *a)
{
    return a->bytes / (int64_t)wk_dtype_size((wk_dtype)a->operand.dtype);
}

static int64_t number_of(const array *a, int ndim, const int64_t index[])
{
    return (array_at(a, ndim, index) - a->data) / (int64_t)wk_dtype_size((wk_dtype)a->operand.dtype);
}

static void add_product(void *user, const int64_t x[], const int64_t w[], const int64_t y[])
{
    reference *r = user;
    const convolution_case *t = r->of;
    const wk_dtype dtype = (wk_dtype)t->x.operand.dtype;
    const char *at_x = array_at(&t->x, r->ndim, x), *at_w = array_at(&t->w, r->ndim, w),
               *at_y = array_at(&t->y, r->ndim, y);
    const char *a = r->way == GRAD_WEIGHT ? at_y : at_w, *b = r->way == GRAD_INPUT ? at_y : at_x;
    const int64_t to = number_of(r->out, r->ndim, r->way == FORWARD ? y : r->way == GRAD_INPUT ? x : w);
    if (is_float(dtype)) {
        r->sum[to] += get_real(dtype, a) * get_real(dtype, b);
        r->magnitude[to] += fabs(get_real(dtype, a) * get_real(dtype, b));
    } else {
        r->whole[to] += (uint64_t)get_whole(dtype, a) * (uint64_t)get_whole(dtype, b);
    }
}

static void reference_new(reference *r, const convolution_case *t, direction way)
{
    *r = (reference){.of = t, .way = way, .ndim = 3 + t->of.dims};
    r->out = way == FORWARD ? &t->y : way == GRAD_INPUT ? &t->x : &t->w;
    const size_t count = (size_t)count_of(r->out) + 1;
    r->sum = calloc(count, sizeof *r->sum);
    r->magnitude = calloc(count, sizeof *r->magnitude);
    r->whole = calloc(count, sizeof *r->whole);
    each_product(&t->of, add_product, r);
}

static void reference_free(reference *r)
{
    free(r->sum);
    free(r->magnitude);
    free(r->whole);
}

/* Compares the result with the reference, and checks that memory outside it is unchanged. */
static void expect_result(const reference *r, const wk__work_args *kernel, const char *before, const char *what)
{
    const wk_dtype dtype = (wk_dtype)kernel->operand[0].dtype;
    const double last = dtype == WK_BF16 ? 0x1p-8 : dtype == WK_F16 ? 0x1p-10 : 0;
    const double step = dtype == WK_F64 ? 0x1p-52 : 0x1p-23;
    const int64_t length = wk__contraction_k(kernel->contraction);
    char *expected = malloc((size_t)r->out->bytes);
    memcpy(expected, before, (size_t)r->out->bytes);
    int64_t index[WK__MAX_DIMS] = {0};
    if (!is_empty(kernel->ndim, kernel->shape)) do {
            const char *at = array_at(r->out, kernel->ndim, index);
            const int64_t k = number_of(r->out, kernel->ndim, index);
            memcpy(expected + (at - r->out->data), at, wk_dtype_size(dtype));
            if (is_float(dtype)) {
                const double room =
                    step * (double)(length + 2) * r->magnitude[k] + last * fabs(r->sum[k]) + 0x1p-25 * (last > 0);
                if (!(fabs(get_real(dtype, at) - r->sum[k]) <= room))
                    fail_msg("%s, %s, direction %d, %d dims, stride %d: element %lld is %.17g instead of %.17g", what,
                             wk_dtype_str(dtype), (int)r->way, r->of->of.dims, (int)r->of->of.stride[0], (long long)k,
                             get_real(dtype, at), r->sum[k]);
            } else if (memcmp(at, &r->whole[k], wk_dtype_size(dtype)) != 0) {
                fail_msg("%s, %s, direction %d: element %lld", what, wk_dtype_str(dtype), (int)r->way, (long long)k);
            }
        } while (advance(kernel->ndim, kernel->shape, index));
    assert_memory_equal(expected, r->out->data, (size_t)r->out->bytes);
    free(expected);
}

typedef wk_code run_contraction(const wk__work *work, wk__fail *fail);

static void run_and_compare(const convolution_case *t, direction way, run_contraction *run, const char *what)
{
    wk__work_args kernel;
    wk__contraction sum;
    wk__fail fail = {0};
    reference r;
    describe(t, way, &kernel, &sum);
    reference_new(&r, t, way);
    char *before = array_copy(r.out), *one = NULL;
    const wk__work work = {.family = WK__CONTRACTION, .args = &kernel};
    for (int threads = 1; threads <= 4; threads += 3) {
        wk__set_thread_count(threads);
        memcpy(r.out->data, before, (size_t)r.out->bytes);
        assert_int_equal(run(&work, &fail), WK_OK);
        expect_result(&r, &kernel, before, what);
        if (one) assert_memory_equal(one, r.out->data, (size_t)r.out->bytes); /* bitwise */
        if (!one) one = array_copy(r.out);
    }
    wk__set_thread_count(1);
    memcpy(r.out->data, before, (size_t)r.out->bytes);
    free(one);
    free(before);
    reference_free(&r);
}

/* ---- convolutions ------------------------------------------------------------------------------------------------ */

/* Runs the first of_other_dtypes convolutions in all dtypes, and those up to of_other_layouts in all layouts. */
static void run_all(run_contraction *run, const char *what, int of_other_dtypes, int of_other_layouts)
{
    static const wk_dtype dtypes[] = {WK_F32, WK_F64, WK_F16, WK_BF16, WK_I8, WK_I32, WK_I64};
    for (int k = 0; k < CONVOLUTIONS; k++)
        for (int dtype = 0; dtype < (k < of_other_dtypes ? 7 : 1); dtype++)
            for (layout layout = ROWS; layout < (k < of_other_layouts ? LAYOUTS : COLUMNS); layout++)
                for (direction way = FORWARD; way < DIRECTIONS; way++) {
                    if (!test_takes_case(4)) continue;
                    convolution_case t;
                    convolution_new(&t, &convolutions[k], dtypes[dtype], layout);
                    run_and_compare(&t, way, run, what);
                    convolution_free(&t);
                }
}

static void packed_convolutions(void **state)
{
    (void)state;
    run_all(wk__cpu_contraction, "packed", 10, 10);
}

/* Tiles, and so panels, have different sizes there. */
static void other_instruction_sets(void **state)
{
    (void)state;
    const wk__cpu_isa *before = wk__cpu_isa_current();
    for (int k = 0; wk__cpu_isa_at(k); k++) {
        wk__cpu_isa_use(wk__cpu_isa_at(k));
        if (wk__cpu_isa_at(k) != before) run_all(wk__cpu_contraction, wk__cpu_isa_at(k)->name, 8, 0);
    }
    wk__cpu_isa_use(before);
}

static void plain_convolutions(void **state)
{
    (void)state;
    run_all(wk__cpu_contraction_reference, "plain", 4, 9);
}

/* Sums over positions in several slices (im2col.c): rows of positions fit into one or do not, and start at odd steps
 * where packed elements are pairs. */
static void slices(void **state)
{
    (void)state;
    static const convolution cases[] = {
        {2, 1, 1, 8, 5, {29, 27}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
        {2, 2, 1, 8, 5, {58, 31}, {3, 3}, {2, 1}, {1, 1}, {1, 1}},
        {1, 1, 1, 9, 4, {1001}, {5}, {1}, {2}, {1}},
    };
    static const wk_dtype dtypes[] = {WK_F32, WK_F64, WK_F16, WK_BF16, WK_I8, WK_I64};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (size_t dtype = 0; dtype < sizeof dtypes / sizeof *dtypes; dtype++) {
            convolution_case t;
            convolution_new(&t, &cases[k], dtypes[dtype], ROWS);
            run_and_compare(&t, GRAD_WEIGHT, wk__cpu_contraction, "slices");
            convolution_free(&t);
        }
}

/* The bits are those of im2col followed by a matrix product. */
static void bits_of_im2col(void **state)
{
    (void)state;
    for (int k = 0; k < CONVOLUTIONS; k++) {
        const convolution *c = &convolutions[k];
        if (c->dims != 2 || c->groups != 1 || c->n == 0) continue;
        convolution_case t;
        wk__work_args kernel;
        wk__contraction sum;
        wk__fail fail;
        convolution_new(&t, c, WK_F32, ROWS);
        const int64_t height = convolution_out(c, 0), width = convolution_out(c, 1), places = height * width;
        const int64_t taps = c->in * c->kernel[0] * c->kernel[1];
        float *columns = malloc((size_t)(taps * places) * sizeof *columns),
              *want = malloc((size_t)(c->out * places) * 4);
        wk__memory of_columns = {.block = columns, .host = (char *)columns, .bytes = taps * places * 4};
        wk__memory of_want = {.block = want, .host = (char *)want, .bytes = c->out * places * 4};
        describe(&t, FORWARD, &kernel, &sum);
        assert_int_equal(wk__cpu_contraction(&(wk__work){.family = WK__CONTRACTION, .args = &kernel}, &fail), WK_OK);
        for (int64_t n = 0; n < c->n; n++) {
            for (int64_t l = 0; l < taps; l++)
                for (int64_t p = 0; p < places; p++) {
                    const int64_t u = l / c->kernel[1] % c->kernel[0], v = l % c->kernel[1];
                    const int64_t y = p / width * c->stride[0] + u * c->dilation[0] - c->padding[0];
                    const int64_t x = p % width * c->stride[1] + v * c->dilation[1] - c->padding[1];
                    const bool inside = y >= 0 && y < c->size[0] && x >= 0 && x < c->size[1];
                    const int64_t at[] = {n, 0, l / c->kernel[0] / c->kernel[1], y, x};
                    columns[l * places + p] = 0;
                    if (inside) memcpy(&columns[l * places + p], array_at(&t.x, 5, at), 4);
                }
            wk__matmul product = {.m = c->out, .n = places, .k = taps};
            product.a = (wk__operand){
                .memory = &t.w.memory, .offset = t.w.operand.offset, .dtype = WK_F32, .stride = {taps, 1}};
            product.b = (wk__operand){.memory = &of_columns, .dtype = WK_F32, .stride = {places, 1}};
            product.c = (wk__operand){.memory = &of_want, .dtype = WK_F32, .stride = {places, 1}};
            assert_int_equal(wk__cpu_matmul(&product, &fail), WK_OK);
            const int64_t at[] = {n, 0, 0, 0, 0};
            assert_memory_equal(array_at(&t.y, 5, at), want, (size_t)(c->out * places) * 4);
        }
        free(columns);
        free(want);
        convolution_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packed_convolutions), cmocka_unit_test(other_instruction_sets),
        cmocka_unit_test(plain_convolutions),  cmocka_unit_test(slices),
        cmocka_unit_test(bits_of_im2col),
    };
    return cmocka_run_group_tests(tests, NULL, trim_products);
}
