/* SPDX-License-Identifier: Apache-2.0 */
/* Contractions on the CPU that are not convolutions, compared with loops: the products of attention, random
 * coordinates, sums in another dtype than the factors. */
#include "support/contraction.h"

#include "backend/cpu/contraction/contraction_reference.h"
#include "backend/cpu/contraction/matmul.h"

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
    wk__contraction sum = {.dtype = WK_F32, .nsummed = 1, .extent = {D}};
    wk__work_args kernel = {.ndim = 4, .shape = {B, H, T, T}, .contraction = &sum};
    take_operand(&kernel, &sum, 0, &s, 4, (const int[]){0, 1, 2, 3});
    take_operand(&kernel, &sum, 1, &q, 4, (const int[]){0, 2, 1, 4});
    take_operand(&kernel, &sum, 2, &k, 4, (const int[]){0, 3, 1, 4});
    const wk__work work = {.family = WK__CONTRACTION, .args = &kernel};
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
    sum = (wk__contraction){.dtype = WK_F32, .nsummed = 1, .extent = {T}};
    kernel = (wk__work_args){.ndim = 4, .shape = {B, T, H, D}, .contraction = &sum};
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

/* ---- random coordinates ------------------------------------------------------------------------------------------ */

static int64_t between(int64_t low, int64_t high)
{
    return low + random_below(high - low + 1);
}

static void fill_coordinate(wk__affine_index *q, int indices, int64_t extent, int64_t stride)
{
    *q = (wk__affine_index){.offset = between(-6, 6), .divisor = between(1, 4), .extent = extent, .stride = stride};
    for (int i = 0; i < indices; i++)
        if (random_below(2)) q->coefficient[i] = between(-3, 3);
}

/* Packed and element by element, with random indices and coordinates; integers, so the results are exact. */
static void coordinates_of_any_kind(void **state)
{
    (void)state;
    for (int round = 0; round < 2000; round++) {
        if (!test_takes_case(2)) continue;
        const int ndim = (int)between(0, 4), summed = (int)between(0, 3), indices = ndim + summed;
        wk__contraction sum = {.dtype = WK_I32, .nsummed = (int8_t)summed};
        wk__work_args kernel = {.ndim = ndim, .contraction = &sum};
        for (int d = 0; d < ndim; d++) kernel.shape[d] = random_below(12) ? between(1, 7) : random_below(2) * 60;
        for (int s = 0; s < summed; s++) sum.extent[s] = random_below(12) ? between(1, 7) : 0;
        const int64_t sizes[] = {between(1, 9), between(1, 9), between(1, 9)};
        array factor[WK__FACTORS], out;
        array_new(&out, WK_I32, ndim, kernel.shape, (layout)random_below(LAYOUTS));
        take_operand(&kernel, &sum, 0, &out, ndim, (const int[]){0, 1, 2, 3});
        for (int f = 0; f < WK__FACTORS; f++) {
            int64_t shape[WK__MAX_DIMS] = {0};
            int map[WK__MAX_DIMS], used = 0;
            sum.naffine[f] = (int8_t)random_below(WK__MAX_AFFINE + 1);
            for (int k = 0; k < sum.naffine[f]; k++) {
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
            for (int k = 0; k < sum.naffine[f]; k++)
                fill_coordinate(&sum.affine[f][k], indices, sizes[k], factor[f].operand.stride[k]);
        }
        assert_null(wk__contraction_check(&sum, ndim, kernel.shape));
        const wk__work work = {.family = WK__CONTRACTION, .args = &kernel};
        wk__fail fail = {0};
        assert_int_equal(wk__cpu_contraction_reference(&work, &fail), WK_OK);
        char *want = array_copy(&out);
        int64_t at[WK__MAX_DIMS] = {0}; /* other values, so that elements that are not written differ */
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

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static wk_code run_packed(const wk__work_args *kernel, wk__fail *fail)
{
    return wk__cpu_contraction(&(wk__work){.family = WK__CONTRACTION, .args = kernel}, fail);
}

/* c[b, i, j] = sum over n and p of a[b, n, i, p] x[b, n, j, p]: rows are discontiguous after each run of p, where a
 * block of the sum ends as well, so that those of a are read in place. */
static void rows_of_several_runs(void **state)
{
    (void)state;
    enum { B = 2, N = 3, I = 17, J = 35 };
    static const int64_t runs[] = {1001, 600, 513, 512, 257, 130, 16};
    static const struct {
        wk_dtype of, result;
    } dtypes[] = {{WK_F32, WK_F32}, {WK_F64, WK_F64}, {WK_I64, WK_I64}, {WK_BF16, WK_F32}};
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++)
        for (size_t t = 0; t < sizeof dtypes / sizeof *dtypes; t++)
            for (layout way = ROWS; way <= GAPS; way++) {
                if (!test_takes_case(2)) continue;
                const int64_t of_a[] = {B, N, I, runs[k]}, of_x[] = {B, N, J, runs[k]}, of_c[] = {B, I, J};
                array a, x, c;
                char what[64];
                array_new(&a, dtypes[t].of, 4, of_a, way);
                array_new(&x, dtypes[t].of, 4, of_x, way);
                array_new(&c, dtypes[t].result, 3, of_c, ROWS);
                fill_small(&a), fill_small(&x);
                wk__contraction sum = {
                    .dtype = (uint8_t)wk__accumulator_dtype((int)dtypes[t].of), .nsummed = 2, .extent = {N, runs[k]}};
                wk__work_args kernel = {.ndim = 3, .shape = {B, I, J}, .contraction = &sum};
                take_operand(&kernel, &sum, 0, &c, 3, (const int[]){0, 1, 2});
                take_operand(&kernel, &sum, 1, &a, 4, (const int[]){0, 3, 1, 4});
                take_operand(&kernel, &sum, 2, &x, 4, (const int[]){0, 3, 2, 4});
                snprintf(what, sizeof what, "runs of %d, %s, layout %d", (int)runs[k], wk_dtype_str(dtypes[t].of),
                         (int)way);
                expect_exactly(&kernel, &c, run_packed, what);
                free(a.data), free(x.data), free(c.data);
            }
}

/* ---- dtypes ------------------------------------------------------------------------------------------------------ */

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
        wk__contraction sum = {.dtype = (uint8_t)cases[k].sum, .nsummed = 1, .extent = {300}};
        wk__work_args kernel = {.ndim = 0, .contraction = &sum};
        take_operand(&kernel, &sum, 1, &a, 1, (const int[]){0});
        take_operand(&kernel, &sum, 2, &b, 1, (const int[]){0});
        kernel.operand[0] = (wk__operand){.memory = &memory, .dtype = (uint8_t)cases[k].result, .stored = true};
        const wk__work work = {.family = WK__CONTRACTION, .args = &kernel};
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

/* f32 factors summed in f64: 1e8 + 1 - 1e8 is 1. */
static void wide_sums_cancel(void **state)
{
    (void)state;
    float a[] = {1e8f, 1, -1e8f, 0}, b[] = {1, 1, 1, 1}, c = 0;
    wk__memory of_a = {.block = a, .host = (char *)a, .bytes = 16}, of_b = {.block = b, .host = (char *)b, .bytes = 16},
               of_c = {.block = &c, .host = (char *)&c, .bytes = 4};
    wk__contraction sum = {.dtype = WK_F64, .nsummed = 1, .extent = {4}, .stride = {{1}, {1}}};
    const wk__work_args kernel = {.contraction = &sum,
                                  .operand = {{.memory = &of_c, .dtype = WK_F32, .stored = true},
                                              {.memory = &of_a, .dtype = WK_F32},
                                              {.memory = &of_b, .dtype = WK_F32}}};
    wk__fail fail;
    assert_int_equal(wk__cpu_contraction(&(wk__work){.family = WK__CONTRACTION, .args = &kernel}, &fail), WK_OK);
    assert_true(c == 1);
}

/* A product inside a task without rows, where there is nothing to divide. */
static void product_without_rows(void **state)
{
    (void)state;
    const int64_t of_c[] = {0, 7}, of_a[] = {0, 5}, of_b[] = {5, 7};
    array a, b, c;
    wk__gemm_buffers *space;
    array_new(&a, WK_F32, 2, of_a, ROWS);
    array_new(&b, WK_F32, 2, of_b, ROWS);
    array_new(&c, WK_F32, 2, of_c, ROWS);
    wk__contraction sum = {.dtype = WK_F32, .nsummed = 1, .extent = {5}};
    wk__work_args kernel = {.ndim = 2, .shape = {0, 7}, .contraction = &sum};
    take_operand(&kernel, &sum, 0, &c, 2, (const int[]){0, 1});
    take_operand(&kernel, &sum, 1, &a, 2, (const int[]){0, 2});
    take_operand(&kernel, &sum, 2, &b, 2, (const int[]){2, 1});
    char *before = array_copy(&c);
    assert_true(wk__gemm_buffers_acquire(1, &space));
    wk__cpu_contraction_with_buffers(&kernel, space);
    wk__gemm_buffers_release(space);
    assert_memory_equal(before, c.data, (size_t)c.bytes);
    free(before), free(a.data), free(b.data), free(c.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wide_sums_cancel),        cmocka_unit_test(products_of_attention),
        cmocka_unit_test(coordinates_of_any_kind), cmocka_unit_test(sums_of_other_dtypes),
        cmocka_unit_test(product_without_rows),    cmocka_unit_test(rows_of_several_runs),
    };
    return cmocka_run_group_tests(tests, NULL, trim_products);
}
