/* SPDX-License-Identifier: Apache-2.0 */
/* Contractions on the CPU, packed and element by element, against loops: convolutions in all directions, the products
 * of attention, coordinates of any kind; their tails; and what the null device says of them. */
#include "ir_build.h"
#include "support_convolution.h"
#include "support_work.h"

#include "../src/backend/cpu/contraction_plainly.h"
#include "../src/backend/cpu/contraction_split.h"
#include "../src/backend/cpu/isa.h"
#include "../src/backend/null/null.h"
#include "../src/base/alloc.h"
#include "../src/base/pool.h"

/* ---- the result ------------------------------------------------------------------------------------------------- */

/* Sums of each element of an array, in double or in 64 bits, and of their magnitudes. */
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
    const char *a = r->way == OF_WEIGHT ? at_y : at_w, *b = r->way == OF_INPUT ? at_y : at_x;
    const int64_t to = number_of(r->out, r->ndim, r->way == FORWARD ? y : r->way == OF_INPUT ? x : w);
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
    r->out = way == FORWARD ? &t->y : way == OF_INPUT ? &t->x : &t->w;
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

/* What is not the result's stays as it was. */
static void expect_result(const reference *r, const wk__kernel *kernel, const char *before, const char *what)
{
    const wk_dtype dtype = (wk_dtype)kernel->operand[0].dtype;
    const double last = dtype == WK_BF16 ? 0x1p-8 : dtype == WK_F16 ? 0x1p-10 : 0;
    const double step = dtype == WK_F64 ? 0x1p-52 : 0x1p-23;
    const int64_t length = wk__sum_length(kernel->sum);
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
    wk__kernel kernel;
    wk__sum sum;
    wk__fail fail = {0};
    reference r;
    describe(t, way, &kernel, &sum);
    reference_new(&r, t, way);
    char *before = array_copy(r.out), *one = NULL;
    const wk__work work = {.family = WK__CONTRACTION, .kernel = &kernel};
    for (int threads = 1; threads <= 4; threads += 3) {
        wk__set_threads(threads);
        memcpy(r.out->data, before, (size_t)r.out->bytes);
        assert_int_equal(run(&work, &fail), WK_OK);
        expect_result(&r, &kernel, before, what);
        if (one) assert_memory_equal(one, r.out->data, (size_t)r.out->bytes); /* bit for bit */
        if (!one) one = array_copy(r.out);
    }
    wk__set_threads(1);
    memcpy(r.out->data, before, (size_t)r.out->bytes);
    free(one);
    free(before);
    reference_free(&r);
}

/* ---- convolutions ------------------------------------------------------------------------------------------------ */

static const convolution shapes[] = {
    {1, 2, 1, 3, 4, {9}, {3}, {1}, {1}, {1}},
    {1, 2, 2, 3, 2, {11}, {4}, {3}, {2}, {1}},
    {1, 1, 1, 1, 1, {30}, {5}, {2}, {4}, {3}},
    {1, 3, 1, 5, 7, {40}, {1}, {1}, {0}, {1}},
    {1, 1, 1, 2, 2, {3}, {7}, {1}, {3}, {1}}, /* a kernel longer than its input */
    {1, 0, 1, 2, 2, {5}, {3}, {1}, {1}, {1}},
    {1, 2, 1, 0, 2, {5}, {3}, {1}, {1}, {1}},
    {2, 2, 1, 3, 5, {8, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {2, 1, 3, 2, 4, {9, 10}, {3, 2}, {2, 3}, {1, 0}, {1, 2}},
    {2, 2, 8, 1, 1, {9, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},   /* depthwise */
    {2, 2, 1, 70, 60, {6, 6}, {1, 1}, {1, 1}, {0, 0}, {1, 1}}, /* 1 x 1: a product of matrices */
    {2, 1, 1, 64, 50, {14, 14}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {2, 1, 1, 60, 40, {15, 16}, {3, 3}, {2, 2}, {1, 1}, {1, 1}},
    {3, 2, 1, 3, 4, {5, 6, 7}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
    {3, 1, 2, 2, 3, {5, 6, 7}, {2, 3, 1}, {2, 1, 3}, {1, 2, 0}, {2, 1, 1}},
    {2, 12, 1, 3, 5, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, /* pieces end within an image */
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* The first `of_other_dtypes` shapes in all dtypes, those up to `of_other_layouts` in all layouts. */
static void run_all(run_contraction *run, const char *what, int of_other_dtypes, int of_other_layouts)
{
    static const wk_dtype dtypes[] = {WK_F32, WK_F64, WK_F16, WK_BF16, WK_I8, WK_I32, WK_I64};
    for (int k = 0; k < SHAPES; k++)
        for (int dtype = 0; dtype < (k < of_other_dtypes ? 7 : 1); dtype++)
            for (layout layout = ROWS; layout < (k < of_other_layouts ? LAYOUTS : COLUMNS); layout++)
                for (direction way = FORWARD; way < DIRECTIONS; way++) {
                    convolution_case t;
                    convolution_new(&t, &shapes[k], dtypes[dtype], layout);
                    run_and_compare(&t, way, run, what);
                    convolution_free(&t);
                }
}

static void packed_convolutions(void **state)
{
    (void)state;
    run_all(wk__cpu_contraction, "packed", 10, 10);
}

/* Tiles, and so panels, have other sizes there. */
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
    run_all(wk__cpu_contraction_plainly, "plain", 4, 9);
}

/* Rows that C does not walk as one, with a tail that does what two calls do. */
static void rows_with_gaps(void **state)
{
    (void)state;
    const int64_t room[] = {3, 6, 8}, of_a[] = {3, 5, 9}, of_b[] = {9, 7};
    array a, b, c;
    wk__fail fail;
    wk__group g;
    array_new(&a, WK_F32, 3, of_a, ROWS);
    array_new(&b, WK_F32, 2, of_b, ROWS);
    array_new(&c, WK_F32, 3, room, ROWS);
    wk__sum sum = {.dtype = WK_F32, .indices = 1, .extent = {9}};
    wk__kernel kernel = {.ndim = 3, .shape = {3, 5, 7}, .sum = &sum};
    take_operand(&kernel, &sum, 0, &c, 3, (const int[]){0, 1, 2});
    take_operand(&kernel, &sum, 1, &a, 3, (const int[]){0, 1, 3});
    take_operand(&kernel, &sum, 2, &b, 2, (const int[]){3, 2});
    ir_space(&g, 3, kernel.shape, 0);
    const int out = ir_operand(&g, WK_F32, &c.memory, c.operand.offset, c.operand.stride);
    ir_store(&g, out, ir_binary(&g, WK__MUL, ir_load(&g, out), ir_imm(&g, WK_F32, (wk__imm){.f = 2})));
    const wk__work apart = {.family = WK__CONTRACTION, .kernel = &kernel};
    const wk__work together = {.family = WK__CONTRACTION, .kernel = &kernel, .group = &g};
    assert_int_equal(wk__cpu_contraction_plainly(&apart, &fail), WK_OK);
    assert_int_equal(wk__cpu_run(&g, &fail), WK_OK);
    char *want = array_copy(&c);
    assert_int_equal(wk__cpu_contraction(&together, &fail), WK_OK);
    for (int64_t k = 0; k < c.bytes / 4; k++)
        assert_true(fabs(get_real(WK_F32, c.data + 4 * k) - get_real(WK_F32, want + 4 * k)) < 1e-3);
    free(want), free(a.data), free(b.data), free(c.data);
}

/* The bits are those of im2col and a product of matrices. */
static void bits_of_im2col(void **state)
{
    (void)state;
    for (int k = 0; k < SHAPES; k++) {
        const convolution *c = &shapes[k];
        if (c->dims != 2 || c->groups != 1 || c->n == 0) continue;
        convolution_case t;
        wk__kernel kernel;
        wk__sum sum;
        wk__fail fail;
        convolution_new(&t, c, WK_F32, ROWS);
        const int64_t height = convolution_out(c, 0), width = convolution_out(c, 1), places = height * width;
        const int64_t taps = c->in * c->kernel[0] * c->kernel[1];
        float *columns = malloc((size_t)(taps * places) * sizeof *columns),
              *want = malloc((size_t)(c->out * places) * 4);
        wk__memory of_columns = {.block = columns, .host = (char *)columns, .bytes = taps * places * 4};
        wk__memory of_want = {.block = want, .host = (char *)want, .bytes = c->out * places * 4};
        describe(&t, FORWARD, &kernel, &sum);
        assert_int_equal(wk__cpu_contraction(&(wk__work){.family = WK__CONTRACTION, .kernel = &kernel}, &fail), WK_OK);
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

/* ---- attention --------------------------------------------------------------------------------------------------- */

/* With heads inside, (b, t, h, d): scores s[b, h, t, u] = sum over d of q k, and o[b, t, h, d] = sum over u of s v. */
static void products_of_attention(void **state)
{
    (void)state;
    enum { B = 2, T = 19, H = 3, D = 17 };
    const int64_t inner[] = {B, T, H, D}, scores[] = {B, H, T, T};
    array q, k, v, s, o;
    wk__fail fail;
    array_new(&q, WK_F32, 4, inner, ROWS);
    array_new(&k, WK_F32, 4, inner, ROWS);
    array_new(&v, WK_F32, 4, inner, ROWS);
    array_new(&s, WK_F32, 4, scores, ROWS);
    array_new(&o, WK_F32, 4, inner, ROWS);
    wk__sum sum = {.dtype = WK_F32, .indices = 1, .extent = {D}};
    wk__kernel kernel = {.ndim = 4, .shape = {B, H, T, T}, .sum = &sum};
    take_operand(&kernel, &sum, 0, &s, 4, (const int[]){0, 1, 2, 3});
    take_operand(&kernel, &sum, 1, &q, 4, (const int[]){0, 2, 1, 4});
    take_operand(&kernel, &sum, 2, &k, 4, (const int[]){0, 3, 1, 4});
    const wk__work work = {.family = WK__CONTRACTION, .kernel = &kernel};
    assert_int_equal(wk__cpu_contraction(&work, &fail), WK_OK);
    int64_t at[WK__MAX_DIMS] = {0};
    do {
        double want = 0;
        for (int64_t d = 0; d < D; d++) {
            const int64_t of_q[] = {at[0], at[2], at[1], d}, of_k[] = {at[0], at[3], at[1], d};
            want += get_real(WK_F32, array_at(&q, 4, of_q)) * get_real(WK_F32, array_at(&k, 4, of_k));
        }
        assert_true(fabs(get_real(WK_F32, array_at(&s, 4, at)) - want) < 1e-3);
    } while (advance(4, scores, at));
    sum = (wk__sum){.dtype = WK_F32, .indices = 1, .extent = {T}};
    kernel = (wk__kernel){.ndim = 4, .shape = {B, T, H, D}, .sum = &sum};
    take_operand(&kernel, &sum, 0, &o, 4, (const int[]){0, 1, 2, 3});
    take_operand(&kernel, &sum, 1, &s, 4, (const int[]){0, 2, 1, 4});
    take_operand(&kernel, &sum, 2, &v, 4, (const int[]){0, 4, 2, 3});
    assert_int_equal(wk__cpu_contraction(&work, &fail), WK_OK);
    do {
        double want = 0, magnitude = 0;
        for (int64_t u = 0; u < T; u++) {
            const int64_t of_s[] = {at[0], at[2], at[1], u}, of_v[] = {at[0], u, at[2], at[3]};
            const double product = get_real(WK_F32, array_at(&s, 4, of_s)) * get_real(WK_F32, array_at(&v, 4, of_v));
            want += product;
            magnitude += fabs(product);
        }
        assert_true(fabs(get_real(WK_F32, array_at(&o, 4, at)) - want) <= 20 * 0x1p-23 * magnitude);
    } while (advance(4, inner, at));
    free(q.data), free(k.data), free(v.data), free(s.data), free(o.data);
}

/* ---- any coordinates --------------------------------------------------------------------------------------------- */

static int64_t between(int64_t low, int64_t high)
{
    return low + random_below(high - low + 1);
}

static void fill_coordinate(wk__coordinate *q, int indices, int64_t extent, int64_t stride)
{
    *q = (wk__coordinate){.offset = between(-6, 6), .divisor = between(1, 4), .extent = extent, .stride = stride};
    for (int i = 0; i < indices; i++)
        if (random_below(2)) q->coefficient[i] = between(-3, 3);
}

/* Packed and element by element, of whatever indices and coordinates: whole numbers, so exactly. */
static void coordinates_of_any_kind(void **state)
{
    (void)state;
    for (int round = 0; round < 2000; round++) {
        const int ndim = (int)between(0, 4), summed = (int)between(0, 3), indices = ndim + summed;
        wk__sum sum = {.dtype = WK_I32, .indices = (int8_t)summed};
        wk__kernel kernel = {.ndim = ndim, .sum = &sum};
        for (int d = 0; d < ndim; d++) kernel.shape[d] = random_below(12) ? between(1, 7) : random_below(2) * 60;
        for (int s = 0; s < summed; s++) sum.extent[s] = random_below(12) ? between(1, 7) : 0;
        const int64_t sizes[] = {between(1, 9), between(1, 9), between(1, 9)};
        array factor[WK__FACTORS], out;
        array_new(&out, WK_I32, ndim, kernel.shape, (layout)random_below(LAYOUTS));
        take_operand(&kernel, &sum, 0, &out, ndim, (const int[]){0, 1, 2, 3});
        for (int f = 0; f < WK__FACTORS; f++) {
            int64_t shape[WK__MAX_DIMS] = {0};
            int map[WK__MAX_DIMS], used = 0;
            sum.coordinates[f] = (int8_t)random_below(WK__MAX_COORDINATES + 1);
            for (int k = 0; k < sum.coordinates[f]; k++) {
                map[used] = -1;
                shape[used++] = sizes[k];
            }
            for (int i = 0; i < indices && used < WK__MAX_DIMS; i++) {
                if (random_below(3) == 0) continue;
                map[used] = i;
                shape[used++] = i < ndim ? kernel.shape[i] : sum.extent[i - ndim];
            }
            array_new(&factor[f], WK_I32, used, shape, (layout)random_below(LAYOUTS));
            take_operand(&kernel, &sum, 1 + f, &factor[f], used, map);
            for (int k = 0; k < sum.coordinates[f]; k++)
                fill_coordinate(&sum.coordinate[f][k], indices, sizes[k], factor[f].operand.stride[k]);
        }
        assert_null(wk__sum_check(&sum, ndim, kernel.shape));
        const wk__work work = {.family = WK__CONTRACTION, .kernel = &kernel};
        wk__fail fail = {0};
        assert_int_equal(wk__cpu_contraction_plainly(&work, &fail), WK_OK);
        char *want = array_copy(&out);
        int64_t at[WK__MAX_DIMS] = {0}; /* other numbers, so that what is not written differs */
        if (!is_empty(ndim, kernel.shape)) do {
                memset(array_at(&out, ndim, at), 0x55, 4);
            } while (advance(ndim, kernel.shape, at));
        assert_int_equal(wk__cpu_contraction(&work, &fail), WK_OK);
        if (memcmp(want, out.data, (size_t)out.bytes) != 0) fail_msg("round %d differs", round);
        free(want);
        free(out.data);
        for (int f = 0; f < WK__FACTORS; f++) free(factor[f].data);
    }
}

static int64_t elements_of(const wk__kernel *kernel)
{
    int64_t elements = 1;
    for (int d = 0; d < kernel->ndim; d++) elements *= kernel->shape[d];
    return elements;
}

typedef struct counted {
    int parts;
    int64_t elements, products;
} counted;

static wk_code count_part(void *user, const wk__kernel *part, wk__fail *fail)
{
    (void)fail;
    counted *c = user;
    c->parts++;
    c->elements += elements_of(part);
    c->products += elements_of(part) * wk__sum_length(part->sum);
    assert_false(wk__contraction_divides(part));
    return WK_OK;
}

/* A gradient of stride s by the input is a contraction for each remainder, which multiplies no zeros between. */
static void remainders_apart(void **state)
{
    (void)state;
    static const struct {
        convolution of;
        int parts;
        int64_t products; /* of a result of 1, 8 channels: kernel places that meet, summed over the input's */
    } cases[] = {
        {{2, 1, 1, 1, 1, {8, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, 1, 64 * 9},
        {{2, 1, 1, 1, 1, {8, 8}, {3, 3}, {2, 2}, {1, 1}, {1, 1}}, 4, 16 * (1 + 2 + 2 + 4)},
        {{2, 1, 1, 1, 1, {8, 8}, {2, 2}, {2, 2}, {0, 0}, {1, 1}}, 4, 64},
        {{2, 1, 1, 1, 1, {9, 8}, {1, 1}, {3, 2}, {0, 0}, {1, 1}}, 6, 3 * 4},  /* most remainders have no place */
        {{2, 1, 1, 1, 1, {9, 9}, {3, 3}, {2, 2}, {2, 2}, {2, 2}}, 4, 25 * 9}, /* odd places meet none */
        {{1, 1, 1, 1, 1, {2}, {3}, {5}, {2}, {1}}, 2, 1},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        convolution_case t;
        wk__kernel kernel;
        wk__sum sum;
        wk__fail fail;
        counted c = {0};
        convolution_new(&t, &cases[k].of, WK_F32, ROWS);
        describe(&t, OF_INPUT, &kernel, &sum);
        assert_true(wk__contraction_splits(&kernel));
        assert_int_equal(wk__contraction_divides(&kernel), cases[k].of.stride[0] > 1);
        assert_int_equal(wk__contraction_split(&kernel, count_part, &c, &fail), WK_OK);
        assert_int_equal(c.parts, cases[k].parts);
        assert_int_equal(c.elements, t.of.size[0] * (t.of.dims > 1 ? t.of.size[1] : 1));
        if (c.products != cases[k].products) fail_msg("case %d: %lld products", (int)k, (long long)c.products);
        convolution_free(&t);
    }
}

typedef struct pieces {
    const wk__kernel *kernel;
    int64_t count, elements;
} pieces;

/* A box begins where the elements do that have been summed, and has as many. */
static void see_piece(void *user, const wk__piece *piece)
{
    pieces *seen = user;
    const wk__kernel *kernel = seen->kernel;
    int64_t first = kernel->operand[0].offset, elements = 1;
    for (int d = 0; d < kernel->ndim; d++) {
        first += piece->start[d] * kernel->operand[0].stride[d];
        elements *= piece->size[d];
        assert_true(piece->start[d] >= 0 && piece->start[d] + piece->size[d] <= kernel->shape[d]);
    }
    assert_int_equal(piece->first, first);
    assert_int_equal(piece->rows * piece->columns, elements);
    seen->count++;
    seen->elements += elements;
}

/* The tail runs in pieces, but behind all of the parts. */
static void pieces_of_contractions(void **state)
{
    (void)state;
    for (int k = 0; k < 2 * SHAPES; k++) {
        const convolution *of = &shapes[k / 2];
        const direction way = k % 2 ? OF_INPUT : FORWARD;
        convolution_case t;
        wk__kernel kernel;
        wk__sum sum;
        wk__group g;
        convolution_new(&t, of, WK_F32, ROWS);
        describe(&t, way, &kernel, &sum);
        ir_space(&g, kernel.ndim, kernel.shape, 0);
        pieces seen = {.kernel = &kernel};
        wk__cpu_contraction_pieces(&(wk__work){.family = WK__CONTRACTION, .kernel = &kernel, .group = &g}, see_piece,
                                   &seen);
        assert_int_equal(seen.elements, wk__contraction_divides(&kernel) ? 0 : elements_of(&kernel));
        convolution_free(&t);
    }
}

/* Sums wider than their factors, and a result of another dtype. */
static void sums_of_other_dtypes(void **state)
{
    (void)state;
    const int64_t shape[] = {300};
    static const struct {
        wk_dtype of, sum, result;
    } cases[] = {{WK_I8, WK_I32, WK_I32},  {WK_U8, WK_I64, WK_F32},   {WK_F32, WK_F64, WK_F32},
                 {WK_F16, WK_F32, WK_F64}, {WK_BF16, WK_F64, WK_F16}, {WK_I16, WK_I32, WK_I64},
                 {WK_F32, WK_F32, WK_I16}, {WK_I32, WK_I32, WK_BF16}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        array a, b;
        char result[8] = {0};
        wk__fail fail;
        array_new(&a, cases[k].of, 1, shape, ROWS);
        array_new(&b, cases[k].of, 1, shape, ROWS);
        wk__memory memory = {.block = result, .host = result, .bytes = 8};
        wk__sum sum = {.dtype = (uint8_t)cases[k].sum, .indices = 1, .extent = {300}};
        wk__kernel kernel = {.ndim = 0, .sum = &sum};
        take_operand(&kernel, &sum, 1, &a, 1, (const int[]){0});
        take_operand(&kernel, &sum, 2, &b, 1, (const int[]){0});
        kernel.operand[0] = (wk__operand){.memory = &memory, .dtype = (uint8_t)cases[k].result, .stored = true};
        const wk__work work = {.family = WK__CONTRACTION, .kernel = &kernel};
        assert_int_equal(wk__cpu_contraction(&work, &fail), WK_OK);
        double want = 0, magnitude = 0;
        for (int64_t l = 0; l < 300; l++) {
            const char *x = array_at(&a, 1, &l), *y = array_at(&b, 1, &l);
            const bool floats = is_float(cases[k].of);
            const double product = floats ? get_real(cases[k].of, x) * get_real(cases[k].of, y)
                                          : (double)(get_whole(cases[k].of, x) * get_whole(cases[k].of, y));
            want += product;
            magnitude += fabs(product);
        }
        if (cases[k].sum == WK_I32) want = (double)(int32_t)(uint32_t)(int64_t)want;
        const double got =
            is_float(cases[k].result) ? get_real(cases[k].result, result) : (double)get_whole(cases[k].result, result);
        const double room = (cases[k].sum == WK_F32 ? 300 * 0x1p-23 * magnitude : 0) +
                            fabs(want) * (cases[k].result == WK_F32    ? 0x1p-23
                                          : cases[k].result == WK_F16  ? 0x1p-10
                                          : cases[k].result == WK_BF16 ? 0x1p-8
                                                                       : 0) +
                            (cases[k].result == WK_I16 ? 1 : 0);
        if (cases[k].of != WK_I32 && !(fabs(got - want) <= room))
            fail_msg("case %d: %.17g instead of %.17g", (int)k, got, want);
        free(a.data);
        free(b.data);
    }
}

/* f32 factors that are summed in f64: 1 is left of 1e8 + 1 - 1e8. */
static void wide_sums_cancel(void **state)
{
    (void)state;
    float a[] = {1e8f, 1, -1e8f, 0}, b[] = {1, 1, 1, 1}, c = 0;
    wk__memory of_a = {.block = a, .host = (char *)a, .bytes = 16}, of_b = {.block = b, .host = (char *)b, .bytes = 16},
               of_c = {.block = &c, .host = (char *)&c, .bytes = 4};
    wk__sum sum = {.dtype = WK_F64, .indices = 1, .extent = {4}, .stride = {{1}, {1}}};
    const wk__kernel kernel = {.sum = &sum,
                               .operand = {{.memory = &of_c, .dtype = WK_F32, .stored = true},
                                           {.memory = &of_a, .dtype = WK_F32},
                                           {.memory = &of_b, .dtype = WK_F32}}};
    wk__fail fail;
    assert_int_equal(wk__cpu_contraction(&(wk__work){.family = WK__CONTRACTION, .kernel = &kernel}, &fail), WK_OK);
    assert_true(c == 1);
}

/* ---- tails ------------------------------------------------------------------------------------------------------- */

/* relu(y + bias of the channel), piece by piece or afterwards: the same bits. */
static void tails(void **state)
{
    (void)state;
    for (int k = 0; k < SHAPES; k++)
        for (int threads = 1; threads <= 4; threads += 3) {
            convolution_case t;
            wk__kernel kernel;
            wk__sum sum;
            wk__fail fail;
            wk__group g;
            wk__set_threads(threads);
            convolution_new(&t, &shapes[k], WK_F32, ROWS);
            describe(&t, FORWARD, &kernel, &sum);
            array bias;
            const int64_t channels[] = {1, shapes[k].groups, shapes[k].out, 1, 1, 1}, none[WK__MAX_DIMS] = {0};
            array_new(&bias, WK_F32, kernel.ndim, channels, ROWS);
            int64_t stride[WK__MAX_DIMS];
            memcpy(stride, bias.operand.stride, sizeof stride);
            for (int d = 0; d < kernel.ndim; d++)
                if (d != 1 && d != 2) stride[d] = none[d];
            ir_space(&g, kernel.ndim, kernel.shape, 0);
            const int out = ir_operand(&g, WK_F32, &t.y.memory, t.y.operand.offset, t.y.operand.stride);
            const int in = ir_operand(&g, WK_F32, &bias.memory, bias.operand.offset, stride);
            const int sums = ir_binary(&g, WK__ADD, ir_load(&g, out), ir_load(&g, in));
            ir_store(&g, out, ir_binary(&g, WK__MAX, sums, ir_imm(&g, WK_F32, (wk__imm){.f = 0})));
            assert_null(wk__group_check(&g));
            const wk__work apart = {.family = WK__CONTRACTION, .kernel = &kernel};
            const wk__work together = {.family = WK__CONTRACTION, .kernel = &kernel, .group = &g};
            assert_int_equal(wk__cpu_contraction(&apart, &fail), WK_OK);
            if (wk__group_rows(&g) && wk__group_columns(&g)) assert_int_equal(wk__cpu_run(&g, &fail), WK_OK);
            char *want = array_copy(&t.y);
            assert_int_equal(wk__cpu_contraction(&together, &fail), WK_OK);
            assert_memory_equal(want, t.y.data, (size_t)t.y.bytes);
            free(want);
            free(bias.data);
            convolution_free(&t);
        }
    wk__set_threads(1);
}

/* ---- the null device --------------------------------------------------------------------------------------------- */

static void *null_device;

static wk_code order(const wk__kernel *kernel, wk__fail *fail)
{
    return wk__null_backend.submit(null_device, &(wk__work){.family = WK__CONTRACTION, .kernel = kernel}, fail);
}

/* It takes what stays inside, and refuses a factor that is one element too short. */
static void null_checks_reaches(void **state)
{
    (void)state;
    wk__fail fail;
    for (int k = 0; k < SHAPES; k++)
        for (direction way = FORWARD; way < DIRECTIONS; way++) {
            convolution_case t;
            wk__kernel kernel;
            wk__sum sum;
            convolution_new(&t, &shapes[k], WK_F32, ROWS);
            describe(&t, way, &kernel, &sum);
            assert_int_equal(order(&kernel, &fail), WK_OK);
            if (is_empty(kernel.ndim, kernel.shape) || wk__sum_length(&sum) == 0) {
                convolution_free(&t);
                continue;
            }
            for (int o = 0; o < WK__KERNEL_OPERANDS; o++) {
                wk__memory less = *kernel.operand[o].memory, *memory = kernel.operand[o].memory;
                less.bytes -= 4;
                kernel.operand[o].memory = &less;
                assert_int_equal(order(&kernel, &fail), WK_ERR_INTERNAL);
                assert_string_equal(fail.text, "null: an operand that ends after its memory");
                kernel.operand[o].memory = memory;
            }
            convolution_free(&t);
        }
}

static void expect_wrong(const wk__kernel *kernel, const char *text)
{
    wk__fail fail;
    assert_int_equal(order(kernel, &fail), WK_ERR_INTERNAL);
    assert_string_equal(fail.text, text);
}

static void null_refuses(void **state)
{
    (void)state;
    convolution_case t;
    wk__kernel kernel, good;
    wk__sum sum, fine;
    convolution_new(&t, &shapes[0], WK_F32, ROWS);
    describe(&t, FORWARD, &good, &fine);
    kernel = good;
    kernel.sum = NULL;
    expect_wrong(&kernel, "null: a contraction without a sum");
    kernel.sum = &sum;
    sum = fine, sum.indices = WK__MAX_SUMMED + 1;
    expect_wrong(&kernel, "null: a count of indices that there is not");
    sum = fine, sum.extent[0] = -1;
    expect_wrong(&kernel, "null: a sum over less than nothing");
    sum = fine, sum.extent[0] = sum.extent[1] = INT64_MAX / 2;
    expect_wrong(&kernel, "null: a sum of too many products");
    sum = fine, sum.dtype = WK_F16;
    expect_wrong(&kernel, "null: sums in a dtype that is no class");
    sum = fine, sum.coordinates[1] = WK__MAX_COORDINATES + 1;
    expect_wrong(&kernel, "null: a count of coordinates that there is not");
    sum = fine, sum.coordinate[1][0].divisor = 0;
    expect_wrong(&kernel, "null: a coordinate that is divided by less than 1");
    sum = fine, sum.coordinate[1][0].extent = -1;
    expect_wrong(&kernel, "null: a coordinate with less than no places");
    sum = fine, sum.coordinate[1][0].coefficient[0] = INT64_MAX / 2;
    expect_wrong(&kernel, "null: a coordinate whose numbers are too large");
    sum = fine, sum.coordinate[1][0].offset = (int64_t)1 << 40;
    expect_wrong(&kernel, "null: a coordinate whose numbers are too large");
    sum = fine, sum.coordinate[1][0].divisor = 1 << 20;
    expect_wrong(&kernel, "null: a coordinate whose numbers are too large");
    sum = fine;
    kernel.operand[2].dtype = WK_F64;
    expect_wrong(&kernel, "null: a product of two dtypes");
    convolution_free(&t);
}

static void null_writes_down(void **state)
{
    (void)state;
    wk__null_clear();
    wk__fail fail;
    convolution_case t;
    wk__kernel kernel;
    wk__sum sum;
    convolution_new(&t, &shapes[1], WK_F32, ROWS);
    describe(&t, FORWARD, &kernel, &sum);
    assert_int_equal(order(&kernel, &fail), WK_OK);
    describe(&t, OF_INPUT, &kernel, &sum);
    assert_int_equal(order(&kernel, &fail), WK_OK);
    char *text = wk__null_plan_text();
    assert_string_equal(text,
                        "contraction f32 sums f32, space 2 x 2 x 2 x 4, sum 3 x 4, b (-2 +3 i3 +1 i5) / 1 in 11\n"
                        "contraction f32 sums f32, space 2 x 2 x 3 x 11, sum 2 x 4, b (2 +1 i3 -1 i5) / 3 in 4\n");
    wk__free(text);
    assert_int_equal(wk__null_plan_count(WK__CONTRACTION), 2);
    assert_int_equal(wk__null_plan_work(WK__CONTRACTION, 1)->kernel->sum->coordinate[1][0].divisor, 3);
    convolution_free(&t);
    wk__null_clear();
}

static int open_null(void **state)
{
    (void)state;
    wk__fail fail;
    return wk__null_backend.open(0, &null_device, &fail) != WK_OK;
}

static int close_null(void **state)
{
    (void)state;
    wk__null_backend.close(null_device);
    wk__cpu_matmul_trim();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packed_convolutions),    cmocka_unit_test(other_instruction_sets),
        cmocka_unit_test(plain_convolutions),     cmocka_unit_test(bits_of_im2col),
        cmocka_unit_test(rows_with_gaps),         cmocka_unit_test(wide_sums_cancel),
        cmocka_unit_test(products_of_attention),  cmocka_unit_test(coordinates_of_any_kind),
        cmocka_unit_test(sums_of_other_dtypes),   cmocka_unit_test(remainders_apart),
        cmocka_unit_test(pieces_of_contractions), cmocka_unit_test(tails),
        cmocka_unit_test(null_checks_reaches),    cmocka_unit_test(null_refuses),
        cmocka_unit_test(null_writes_down),
    };
    return cmocka_run_group_tests(tests, open_null, close_null);
}
