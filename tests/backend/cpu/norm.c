/* SPDX-License-Identifier: Apache-2.0 */
/* norm_backward: gradients relative to loops in f64, for rows of any length, in every mode and instruction set, and the
 * same bits for any number of threads. */
#include "kernels_case.h"

#include "base/pool.h"

enum { D_X, D_WEIGHT, D_BIAS, GRADIENT, X, MEAN, FACTOR, WEIGHT, OPERANDS };

typedef struct norm_case {
    int64_t rows, columns;
    wk_dtype dtype;
    int mode;
    array operand[OPERANDS];
    wk__work_args args;
} norm_case;

/* Creates operands with random contents; gradient and x have rows that are apart. */
static void case_new(norm_case *c, int64_t rows, int64_t columns, wk_dtype dtype, int mode)
{
    static const bool by_row[] = {1, 0, 0, 1, 1, 1, 1, 0}, by_column[] = {1, 1, 1, 1, 1, 0, 0, 1};
    *c = (norm_case){.rows = rows, .columns = columns, .dtype = dtype, .mode = mode};
    c->args = (wk__work_args){.ndim = 2, .shape = {rows, columns}, .mode = mode, .tag = -1};
    for (int o = 0; o < OPERANDS; o++) {
        const bool apart = o == GRADIENT || o == X;
        const int64_t shape[] = {by_row[o] ? rows : 1, by_column[o] ? columns + 2 * apart : 1};
        array_new(&c->operand[o], dtype, 2, shape, ROWS);
        if (!by_row[o]) c->operand[o].operand.stride[0] = 0;
        if (!by_column[o]) c->operand[o].operand.stride[1] = 0;
        c->operand[o].operand.stored = o <= D_BIAS;
    }
    for (int o = 0; o < OPERANDS; o++) {
        c->operand[o].operand.memory = &c->operand[o].memory;
        c->args.operand[o] = c->operand[o].operand;
    }
}

static void case_free(norm_case *c)
{
    for (int o = 0; o < OPERANDS; o++) free(c->operand[o].data);
}

static double value_at(const norm_case *c, int operand, int64_t row, int64_t column)
{
    return get_real(c->dtype, array_at(&c->operand[operand], 2, (const int64_t[]){row, column}));
}

static void run_case(norm_case *c)
{
    wk__fail fail;
    const wk__work work = {.family = WK__NORM_BACKWARD, .args = &c->args};
    assert_null(wk__work_check(&work));
    assert_int_equal(wk__cpu_kernel(&work, &fail), WK_OK);
}

/* One element of h and of d, the gradient of h. */
static void terms(const norm_case *c, int64_t row, int64_t column, double *h, double *d)
{
    const double mean = c->mode & WK__NORM_CENTRED ? value_at(c, MEAN, row, 0) : 0;
    *h = (value_at(c, X, row, column) - mean) * value_at(c, FACTOR, row, 0);
    *d = value_at(c, GRADIENT, row, column) * (c->mode & WK__NORM_WEIGHTED ? value_at(c, WEIGHT, 0, column) : 1);
}

static void expect_close(const norm_case *c, int operand, int64_t row, int64_t column, double want, double size)
{
    const double have = value_at(c, operand, row, column), unit = c->dtype == WK_F32 ? 0x1p-23 : 0x1p-52;
    if (fabs(have - want) > 16 * unit * size)
        fail_msg("%lld x %lld, mode %d, operand %d, element %lld, %lld: %g, expected %g", (long long)c->rows,
                 (long long)c->columns, c->mode, operand, (long long)row, (long long)column, have, want);
}

/* Checks the results with sums in f64; errors are relative to the sums of magnitudes. */
static void check_case(const norm_case *c)
{
    const double n = (double)c->columns;
    for (int64_t column = 0; column < c->columns; column++) {
        double weight = 0, bias = 0, size = 0;
        for (int64_t row = 0; row < c->rows; row++) {
            double h, d;
            terms(c, row, column, &h, &d);
            weight += value_at(c, GRADIENT, row, column) * h;
            bias += value_at(c, GRADIENT, row, column);
            size += fabs(value_at(c, GRADIENT, row, column)) * (1 + fabs(h));
        }
        expect_close(c, D_WEIGHT, 0, column, weight, size);
        expect_close(c, D_BIAS, 0, column, bias, size);
    }
    for (int64_t row = 0; row < c->rows; row++) {
        double of_d = 0, of_dh = 0, size = 0, h, d;
        for (int64_t column = 0; column < c->columns; column++) {
            terms(c, row, column, &h, &d);
            of_d += d / n;
            of_dh += d * h / n;
            size += fabs(d) * (1 + fabs(h)) / n;
        }
        if (!(c->mode & WK__NORM_CENTRED)) of_d = 0;
        for (int64_t column = 0; column < c->columns; column++) {
            terms(c, row, column, &h, &d);
            const double factor = value_at(c, FACTOR, row, 0);
            expect_close(c, D_X, row, column, factor * (d - of_d - h * of_dh),
                         fabs(factor) * (fabs(d) + size * (1 + fabs(h))));
        }
    }
}

static void values(void **state)
{
    (void)state;
    static const int64_t sizes[][2] = {{1, 1}, {3, 7}, {2, 16}, {33, 31}, {64, 64}, {5, 133}, {70, 1000}, {1000, 3}};
    const wk__cpu_isa *before = wk__cpu_isa_current(), *isa;
    for (int kind = 0; (isa = wk__cpu_isa_at(kind)); kind++) {
        wk__cpu_isa_use(isa);
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            for (int mode = 0; mode < 4; mode++)
                for (int wide = 0; wide < 2; wide++) {
                    norm_case c;
                    case_new(&c, sizes[k][0], sizes[k][1], wide ? WK_F64 : WK_F32, mode);
                    run_case(&c);
                    check_case(&c);
                    case_free(&c);
                }
    }
    wk__cpu_isa_use(before);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    norm_case c;
    case_new(&c, 517, 130, WK_F32, WK__NORM_CENTRED | WK__NORM_WEIGHTED);
    char *one[D_BIAS + 1];
    for (int threads = 1; threads <= 4; threads++) {
        wk__set_thread_count(threads);
        run_case(&c);
        for (int o = 0; o <= D_BIAS; o++) {
            if (threads == 1) one[o] = array_copy(&c.operand[o]);
            assert_memory_equal(c.operand[o].data, one[o], (size_t)c.operand[o].bytes);
        }
    }
    wk__set_thread_count(1);
    for (int o = 0; o <= D_BIAS; o++) free(one[o]);
    case_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(threads_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
