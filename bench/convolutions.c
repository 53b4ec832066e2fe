/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions and their gradients as contractions, against im2col and products of matrices, in turns on one thread.
 *
 *     convolutions [WORDS [DIRECTIONS [SECONDS]]]     cases whose names have WORDS in them; f, x and w: forward and
 *                                                     the gradients by x and w
 *
 * A line says what both take in microseconds of processor time, the least of many rounds, and the ratio: above 1 the
 * contraction is faster. im2col goes image by image, so that its matrix stays in cache as far as it can. */
#include <time.h>

#include "support/convolution.h"

#include "base/pool.h"

typedef struct bench_case {
    const char *name;
    convolution of;
} bench_case;

static const bench_case cases[] = {
    {"LeNet 1 to 6, 28, 5x5", {2, 64, 1, 1, 6, {28, 28}, {5, 5}, {1, 1}, {2, 2}, {1, 1}}},
    {"LeNet 6 to 16, 14, 5x5", {2, 64, 1, 6, 16, {14, 14}, {5, 5}, {1, 1}, {0, 0}, {1, 1}}},
    {"3 to 16, 32, 3x3", {2, 32, 1, 3, 16, {32, 32}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}},
    {"3 to 32, 112, 3x3 stride 2", {2, 4, 1, 3, 32, {112, 112}, {3, 3}, {2, 2}, {1, 1}, {1, 1}}},
    {"3 to 64, 224, 7x7 stride 2", {2, 1, 1, 3, 64, {224, 224}, {7, 7}, {2, 2}, {3, 3}, {1, 1}}},
    {"16 to 16, 32, 3x3", {2, 16, 1, 16, 16, {32, 32}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}},
    {"U-Net 32 to 32, 128, 3x3", {2, 1, 1, 32, 32, {128, 128}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}},
    {"64 to 64, 56, 3x3", {2, 2, 1, 64, 64, {56, 56}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}},
    {"64 to 128, 56, 3x3 stride 2", {2, 2, 1, 64, 128, {56, 56}, {3, 3}, {2, 2}, {1, 1}, {1, 1}}},
    {"128 to 128, 28, 3x3", {2, 2, 1, 128, 128, {28, 28}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}},
    {"256 to 256, 14, 3x3", {2, 2, 1, 256, 256, {14, 14}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}},
    {"512 to 512, 7, 3x3", {2, 2, 1, 512, 512, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}},
    {"64 to 4, 56, 3x3", {2, 2, 1, 64, 4, {56, 56}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}},
    {"1x1 64 to 256, 56", {2, 2, 1, 64, 256, {56, 56}, {1, 1}, {1, 1}, {0, 0}, {1, 1}}},
    {"1x1 64 to 128, 56 stride 2", {2, 2, 1, 64, 128, {56, 56}, {1, 1}, {2, 2}, {0, 0}, {1, 1}}},
    {"groups 32 of 4 to 4, 56, 3x3", {2, 2, 32, 4, 4, {56, 56}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}},
    {"depthwise 32, 112, 3x3", {2, 1, 32, 1, 1, {112, 112}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}},
    {"depthwise 64, 112, 3x3 stride 2", {2, 1, 64, 1, 1, {112, 112}, {3, 3}, {2, 2}, {1, 1}, {1, 1}}},
    {"depthwise 256, 28, 3x3", {2, 2, 256, 1, 1, {28, 28}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}},
    {"depthwise 512, 14, 3x3", {2, 2, 512, 1, 1, {14, 14}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}},
    {"depthwise 96, 56, 7x7", {2, 1, 96, 1, 1, {56, 56}, {7, 7}, {1, 1}, {3, 3}, {1, 1}}},
    {"32 to 32, 64, 3x3 dilation 2", {2, 2, 1, 32, 32, {64, 64}, {3, 3}, {1, 1}, {2, 2}, {2, 2}}},
    {"1-d 32 to 64, 4000, 9", {1, 2, 1, 32, 64, {4000}, {9}, {1}, {4}, {1}}},
    {"1-d 1 to 32, 16000, 80 stride 4", {1, 2, 1, 1, 32, {16000}, {80}, {4}, {38}, {1}}},
    {"4 to 5, 4, 3x3", {2, 1, 1, 4, 5, {4, 4}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}},
    {"3-d 8 to 16, 16, 3x3x3", {3, 2, 1, 8, 16, {16, 16, 16}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}}},
    {"3-d 3 to 16, 24, 3x3x3", {3, 1, 1, 3, 16, {24, 24, 24}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}}},
};
enum { CASES = sizeof cases / sizeof *cases };

/* What im2col needs: a kernel and an image of three dimensions, the outer ones of size 1 where there are fewer. */
typedef struct im2col_case {
    convolution of;
    int64_t places, taps;     /* of an image; of a channel's kernel */
    int64_t of_x, of_w, of_y; /* elements of an image, a kernel of one group, a result of one image */
    float *columns, *product; /* (g, c taps, places); (g, o, c taps) of an image */
    const float *x, *w, *y;
    float *out;
} im2col_case;

static float *floats(int64_t count)
{
    float *data = aligned_alloc(64, (size_t)(count * 4 + 63) / 64 * 64);
    assert_non_null(data);
    for (int64_t k = 0; k < count; k++) data[k] = (float)random_below(1000) * 0.001F - 0.5F;
    return data;
}

static void array_take(array *array, float *data, int ndim, const int64_t shape[])
{
    int64_t step = 1;
    *array = (struct array){.data = (char *)data, .operand = {.dtype = WK_F32}};
    for (int d = ndim - 1; d >= 0; step *= shape[d--]) array->operand.stride[d] = step;
    array->bytes = step * 4;
    array->memory = (wk__memory){.block = data, .host = (char *)data, .bytes = array->bytes};
}

static int64_t elements(int ndim, const int64_t shape[])
{
    int64_t count = 1;
    for (int d = 0; d < ndim; d++) count *= shape[d];
    return count;
}

/* ---- im2col ------------------------------------------------------------------------------------------------------ */

/* The sizes of the dimension that comes `back` from the last; 1 and none where there are fewer. */
static void dimension(const convolution *c, int back, int64_t *size, int64_t *kernel, int64_t *out, int64_t way[3])
{
    const int d = c->dims - 1 - back;
    *size = d >= 0 ? c->size[d] : 1;
    *kernel = d >= 0 ? c->kernel[d] : 1;
    *out = d >= 0 ? convolution_out(c, d) : 1;
    way[0] = d >= 0 ? c->stride[d] : 1;
    way[1] = d >= 0 ? c->padding[d] : 0;
    way[2] = d >= 0 ? c->dilation[d] : 1;
}

/* A row of places of one tap: copied from x, or added to it. */
static void move_row(float *row, float *x, int64_t count, int64_t first, int64_t stride, int64_t size, bool add)
{
    int64_t low = first < 0 ? (-first + stride - 1) / stride : 0;
    int64_t end = first >= size ? 0 : (size - first + stride - 1) / stride;
    if (end > count) end = count;
    if (low > end) low = end;
    if (add) {
        for (int64_t t = low; t < end; t++) x[first + t * stride] += row[t];
        return;
    }
    for (int64_t t = 0; t < low; t++) row[t] = 0;
    if (stride == 1)
        memcpy(row + low, x + first + low, (size_t)(end - low) * 4);
    else
        for (int64_t t = low; t < end; t++) row[t] = x[first + t * stride];
    for (int64_t t = end; t < count; t++) row[t] = 0;
}

/* columns[c, u.., t..] = x[c, stride t + dilation u - padding], or the other way round, added up. */
static void im2col(const convolution *c, int64_t channels, float *x, float *columns, bool back)
{
    int64_t size[3], kernel[3], out[3], way[3][3];
    for (int k = 0; k < 3; k++) dimension(c, 2 - k, &size[k], &kernel[k], &out[k], way[k]);
    for (int64_t channel = 0; channel < channels; channel++, x += size[0] * size[1] * size[2])
        for (int64_t u = 0; u < kernel[0]; u++)
            for (int64_t v = 0; v < kernel[1]; v++)
                for (int64_t q = 0; q < kernel[2]; q++)
                    for (int64_t a = 0; a < out[0]; a++)
                        for (int64_t b = 0; b < out[1]; b++, columns += out[2]) {
                            const int64_t z = a * way[0][0] + u * way[0][2] - way[0][1];
                            const int64_t y = b * way[1][0] + v * way[1][2] - way[1][1];
                            if (z >= 0 && z < size[0] && y >= 0 && y < size[1])
                                move_row(columns, x + (z * size[1] + y) * size[2], out[2], q * way[2][2] - way[2][1],
                                         way[2][0], size[2], back);
                            else if (!back)
                                memset(columns, 0, (size_t)out[2] * 4);
                        }
}

/* C[g, i, j] = sum over l of A[g, i, l] B[g, l, j] */
static void multiply(int64_t groups, int64_t m, int64_t n, int64_t k, const float *a, int64_t a_row, int64_t a_step,
                     const float *b, int64_t b_step, int64_t b_column, float *c)
{
    wk__memory of_a = {.host = (char *)(uintptr_t)a}, of_b = {.host = (char *)(uintptr_t)b}, of_c = {.host = (char *)c};
    wk__fail fail;
    wk__matmul product = {.nbatch = 1, .batch = {groups}, .m = m, .n = n, .k = k};
    product.a = (wk__operand){.memory = &of_a, .dtype = WK_F32, .stride = {m * k, a_row, a_step}};
    product.b = (wk__operand){.memory = &of_b, .dtype = WK_F32, .stride = {k * n, b_step, b_column}};
    product.c = (wk__operand){.memory = &of_c, .dtype = WK_F32, .stride = {m * n, n, 1}};
    assert_int_equal(wk__cpu_matmul(&product, &fail), WK_OK);
}

static void run_im2col(const im2col_case *r, direction way)
{
    const convolution *c = &r->of;
    const int64_t inner = c->in * r->taps, channels = c->groups * c->in, of_result = c->groups * c->out * inner;
    float *x = (float *)(uintptr_t)r->x;
    if (way == GRAD_INPUT) memset(r->out, 0, (size_t)(c->n * r->of_x) * 4);
    if (way == GRAD_WEIGHT) memset(r->out, 0, (size_t)of_result * 4);
    for (int64_t n = 0; n < c->n; n++) {
        const float *y = r->y + n * r->of_y;
        if (way != GRAD_INPUT) im2col(c, channels, x + n * r->of_x, r->columns, false);
        if (way == FORWARD) {
            multiply(c->groups, c->out, r->places, inner, r->w, inner, 1, r->columns, r->places, 1,
                     r->out + n * r->of_y);
        } else if (way == GRAD_INPUT) {
            multiply(c->groups, inner, r->places, c->out, r->w, 1, inner, y, r->places, 1, r->columns);
            im2col(c, channels, r->out + n * r->of_x, r->columns, true);
        } else {
            multiply(c->groups, c->out, inner, r->places, y, r->places, 1, r->columns, 1, r->places, r->product);
            for (int64_t k = 0; k < of_result; k++) r->out[k] += r->product[k];
        }
    }
}

/* ---- measuring --------------------------------------------------------------------------------------------------- */

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

static void expect_same(const char *name, int64_t count, const float *a, const float *b, int64_t length)
{
    for (int64_t k = 0; k < count; k++)
        if (!(fabsf(a[k] - b[k]) <= 1e-6F * (float)length + 1e-4F))
            fail_msg("%s: element %lld is %g instead of %g", name, (long long)k, (double)a[k], (double)b[k]);
}

/* The least time of each in turns. `alone`: only the contraction, for a profiler. */
static void measure(const char *name, const im2col_case *r, const wk__work_args *kernel, direction way, double seconds)
{
    static const char *const ways[] = {"forward", "by x", "by w"};
    const wk__work work = {.family = WK__CONTRACTION, .args = kernel};
    const bool alone = seconds < 0;
    double best[2] = {INFINITY, INFINITY};
    const double begin = now();
    wk__fail fail;
    for (int round = 0; round < 3 || now() - begin < fabs(seconds); round++) {
        double at = now();
        assert_int_equal(wk__cpu_contraction(&work, &fail), WK_OK);
        const double own = now() - at;
        at = now();
        if (!alone) run_im2col(r, way);
        const double other = now() - at;
        if (own < best[0]) best[0] = own;
        if (other < best[1]) best[1] = other;
    }
    printf("%-34s %-8s %10.1f %10.1f %6.2f\n", name, ways[way], 1e6 * best[0], 1e6 * best[1], best[1] / best[0]);
    fflush(stdout);
}

static void run_case(const bench_case *which, direction way, double seconds)
{
    const convolution *c = &which->of;
    int64_t x[WK__MAX_DIMS], w[WK__MAX_DIMS], y[WK__MAX_DIMS];
    convolution_shapes(c, x, w, y);
    const int ndim = 3 + c->dims;
    const int64_t of_x = elements(ndim, x), of_w = elements(ndim, w), of_y = elements(ndim, y);
    convolution_case t = {.of = *c};
    array_take(&t.x, floats(of_x), ndim, x);
    array_take(&t.w, floats(of_w), ndim, w);
    array_take(&t.y, floats(of_y), ndim, y);
    im2col_case r = {.of = *c, .x = (float *)t.x.data, .w = (float *)t.w.data, .y = (float *)t.y.data};
    r.places = elements(c->dims, y + 3);
    r.taps = elements(c->dims, w + 3);
    r.of_x = of_x / c->n;
    r.of_w = of_w / c->groups;
    r.of_y = of_y / c->n;
    r.columns = floats(c->groups * c->in * r.taps * r.places);
    r.product = floats(of_w);
    const int64_t count = way == FORWARD ? of_y : way == GRAD_INPUT ? of_x : of_w;
    r.out = floats(count);
    wk__work_args kernel;
    wk__contraction sum;
    wk__fail fail;
    describe(&t, way, &kernel, &sum);
    assert_int_equal(wk__cpu_contraction(&(wk__work){.family = WK__CONTRACTION, .args = &kernel}, &fail), WK_OK);
    run_im2col(&r, way);
    const float *own = (const float *)(way == FORWARD ? &t.y : way == GRAD_INPUT ? &t.x : &t.w)->data;
    expect_same(which->name, count, own, r.out, wk__contraction_k(&sum));
    measure(which->name, &r, &kernel, way, seconds);
    free(r.columns), free(r.product), free(r.out);
    convolution_free(&t);
}

int main(int count, char **words)
{
    const char *name = count > 1 ? words[1] : "", *ways = count > 2 ? words[2] : "fxw";
    const double seconds = count > 3 ? atof(words[3]) : 0.5;
    static const char letters[] = "fxw";
    wk__set_thread_count(1);
    printf("%-34s %-8s %10s %10s %6s\n", "convolution", "", "us", "im2col us", "ratio");
    for (direction way = FORWARD; way < DIRECTIONS; way++)
        for (int k = 0; k < CASES; k++)
            if (strchr(ways, letters[way]) && strstr(cases[k].name, name)) run_case(&cases[k], way, seconds);
    return 0;
}
