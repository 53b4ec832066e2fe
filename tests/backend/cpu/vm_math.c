/* SPDX-License-Identifier: Apache-2.0 */
/* Accuracy of elementary functions, compared with libm in long double, in units in the last place. Arguments have all
 * magnitudes, and include known difficult ones. */
#include "vm_test.h"

#include <math.h>
#include <stdio.h>

typedef struct function {
    wk__opcode code;
    double bound; /* in ulp, for f32 */
    long double (*reference)(long double);
} function;

static long double rsqrt_of(long double x)
{
    return 1 / sqrtl(x);
}

static long double reciprocal_of(long double x)
{
    return 1 / x;
}

static long double sigmoid_of(long double x)
{
    return 1 / (1 + expl(-x));
}

static const function functions[] = {
    {WK__SQRT, 0.5, sqrtl},       {WK__RSQRT, 1.5, rsqrt_of}, {WK__RECIPROCAL, 0.5, reciprocal_of},
    {WK__EXP, 1.5, expl},         {WK__EXPM1, 2, expm1l},     {WK__LOG, 1.5, logl},
    {WK__LOG1P, 0.51, log1pl},    {WK__LOG2, 0.51, log2l},    {WK__LOG10, 0.51, log10l},
    {WK__SIN, 0.51, sinl},        {WK__COS, 0.51, cosl},      {WK__TAN, 0.51, tanl},
    {WK__ASIN, 0.51, asinl},      {WK__ACOS, 0.51, acosl},    {WK__ATAN, 0.51, atanl},
    {WK__SINH, 0.51, sinhl},      {WK__COSH, 0.51, coshl},    {WK__TANH, 2, tanhl},
    {WK__SIGMOID, 2, sigmoid_of}, {WK__ERF, 2, erfl},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* Returns the spacing of floats of this precision at x, at least the smallest denormal. */
static long double unit(long double x, int precision, int least)
{
    int exponent;
    frexpl(x, &exponent);
    return ldexpl(1, exponent - precision > least ? exponent - precision : least);
}

/* Returns the error of got in units in the last place; infinity if only one is NaN or zeros differ in sign. */
static double distance(wk_dtype dtype, double got, long double want)
{
    double rounded = dtype == WK_F32 ? (double)(float)want : (double)want;
    if (isnan(got) || isnan(want)) return isnan(got) && isnan(want) ? 0 : INFINITY;
    if (got == rounded) return got == 0 && signbit(got) != signbit(rounded) && want == 0 ? INFINITY : 0;
    if (isinf(got) || isinf(rounded)) return INFINITY;
    if (dtype == WK_F32) return (double)(fabsl((long double)got - want) / unit(want, 24, -149));
    return (double)(fabsl((long double)got - want) / unit(want, 53, -1074));
}

static void *values_of(group_case *c, int operand)
{
    size_t size = wk_dtype_size((wk_dtype)c->g.operand[operand].dtype);
    return c->data[operand] + (size_t)group_case_origin(c, operand) * size;
}

/* Runs the case and copies its result in operand to the case's data. */
static void run_and_read(group_case *c, int operand)
{
    wk__fail fail;
    assert_int_equal(group_case_run(c, vm_backend(), vm_device, &fail), WK_OK);
    size_t bytes = (size_t)c->elements[operand] * wk_dtype_size((wk_dtype)c->g.operand[operand].dtype);
    memcpy(c->data[operand], c->memory[operand].host, bytes);
    for (int k = 0; k < c->g.noperands; k++) vm_backend()->block_free(vm_device, &c->memory[k]);
}

/* ---- one argument ------------------------------------------------------------------------------------------------ */

enum { EVERY = 6007, NEAR = 4000, SPECIALS = 64 };

/* Every 6007th float in the order of their bits, and more densely between -2 and 2. */
static int64_t fill_floats(float *x)
{
    static const float specials[] = {
        0.0f,      -0.0f,      INFINITY,   -INFINITY, NAN,         1e-45f,         -1e-45f,
        0x1p-126f, -0x1p-126f, 1,          -1,        0.5f,        -0.5f,          88.72f,
        -87.33f,   -103.9f,    -104.5f,    89.5f,     3.4e38f,     -3.4e38f,       1.5f,
        -1.5f,     10,         100,        1000,      0.625f,      0.925f,         4,
        -4,        0.25f,      1e10f,      1e20f,     0x1p20f,     0x1.000002p20f, 11,
        22,        33,         355,        104348,    0.70710678f, 0.99999994f,    1.0000001f,
        2,         8,          3.1415927f, 1.5707964f};
    int64_t n = 0;
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += EVERY) {
        uint32_t low = (uint32_t)bits;
        memcpy(&x[n++], &low, sizeof low);
    }
    for (int k = 0; k < NEAR; k++) x[n++] = (float)(4.0 * k / NEAR - 2 + 1e-5);
    for (size_t k = 0; k < sizeof specials / sizeof *specials; k++) x[n++] = specials[k];
    return n;
}

static void one_argument_f32(void **state)
{
    (void)state;
    const int64_t most = (int64_t)(UINT32_MAX / EVERY + 1 + NEAR + SPECIALS);
    const wk__cpu_isa *isa, *before = wk__cpu_isa_current();
    for (int k = 0; (isa = vm_isa_at(k)) != NULL; k++) {
        wk__cpu_isa_use(isa);
        for (int f = 0; f < FUNCTIONS; f++) {
            group_case *c = group_case_new(wk__opcode_name[functions[f].code], 1, &most, 0);
            int in = group_case_dense(c, WK_F32, false, FILL_ONES), out = group_case_dense(c, WK_F32, false, FILL_ONES);
            const float *x = values_of(c, in), *y = values_of(c, out);
            int64_t n = c->g.shape[0] = fill_floats(values_of(c, in));
            ir_store(&c->g, out, ir_unary(&c->g, functions[f].code, ir_load(&c->g, in)));
            run_and_read(c, out);
            double worst = 0;
            float where = 0;
            for (int64_t e = 0; e < n; e++) {
                double off = distance(WK_F32, (double)y[e], functions[f].reference((long double)x[e]));
                if (off > worst) {
                    worst = off;
                    where = x[e];
                }
            }
            if (worst > functions[f].bound)
                fail_msg("%s %s: %.3f ulp at %.9g", isa->name, c->name, worst, (double)where);
            group_case_free(c);
        }
    }
    wk__cpu_isa_use(before);
}

static void one_argument_f64(void **state)
{
    (void)state;
    const int64_t n = 3000;
    for (int f = 0; f < FUNCTIONS; f++) {
        group_case *c = group_case_new(wk__opcode_name[functions[f].code], 1, &n, 0);
        int in = group_case_dense(c, WK_F64, false, FILL_WIDE), out = group_case_dense(c, WK_F64, false, FILL_ONES);
        const double *x = values_of(c, in), *y = values_of(c, out);
        ir_store(&c->g, out, ir_unary(&c->g, functions[f].code, ir_load(&c->g, in)));
        run_and_read(c, out);
        for (int64_t e = 0; e < n; e++) {
            double off = distance(WK_F64, y[e], functions[f].reference((long double)x[e]));
            if (off > 2.5) fail_msg("%s: %.3f ulp at %.17g", c->name, off, x[e]);
        }
        group_case_free(c);
    }
}

/* ---- two arguments ----------------------------------------------------------------------------------------------- */

static void two_arguments(void **state)
{
    (void)state;
    static const float specials[] = {0,     -0.0f, 1,    -1,       2,         -2,       3,           -3,
                                     0.5f,  -0.5f, 1.5f, INFINITY, -INFINITY, NAN,      1e-45f,      -1e30f,
                                     1e30f, 1e10f, 7.0f, 127,      -149,      16777215, 33554432.0f, 1.0000001f};
    enum { S = sizeof specials / sizeof *specials, N = S * S + 20000 };
    const int64_t n = N;
    const wk__cpu_isa *isa, *before = wk__cpu_isa_current();
    for (int k = 0; (isa = vm_isa_at(k)) != NULL; k++) {
        wk__cpu_isa_use(isa);
        for (int which = 0; which < 2; which++) {
            group_case *c = group_case_new(which ? "POW" : "ATAN2", 1, &n, 0);
            int a = group_case_dense(c, WK_F32, false, FILL_WIDE), b = group_case_dense(c, WK_F32, false, FILL_WIDE);
            int out = group_case_dense(c, WK_F32, false, FILL_ONES);
            float *x = values_of(c, a), *y = values_of(c, b);
            const float *z = values_of(c, out);
            for (int e = 0; e < S * S; e++) {
                x[e] = specials[e / S];
                y[e] = specials[e % S];
            }
            for (int e = S * S; e < S * S + 10000; e++) {
                x[e] = fabsf(x[e]);
                y[e] = (float)((double)(group_case_random() >> 11) * 0x1p-53 * 40 - 20);
            }
            int r = ir_load(&c->g, a), q = ir_load(&c->g, b);
            ir_store(&c->g, out, ir_binary(&c->g, which ? WK__POW : WK__ATAN2, r, q));
            run_and_read(c, out);
            for (int64_t e = 0; e < n; e++) {
                long double want =
                    which ? powl((long double)x[e], (long double)y[e]) : atan2l((long double)x[e], (long double)y[e]);
                double off = distance(WK_F32, (double)z[e], want);
                if (off > 0.51)
                    fail_msg("%s %s: %.3f ulp at %.9g, %.9g: %.9g", isa->name, c->name, off, (double)x[e], (double)y[e],
                             (double)z[e]);
            }
            group_case_free(c);
        }
    }
    wk__cpu_isa_use(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_argument_f32),
        cmocka_unit_test(one_argument_f64),
        cmocka_unit_test(two_arguments),
    };
    return cmocka_run_group_tests(tests, vm_open, vm_close);
}
