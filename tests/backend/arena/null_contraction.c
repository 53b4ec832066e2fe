/* SPDX-License-Identifier: Apache-2.0 */
/* Contractions on the null backend: the checked range of operands, rejected work, the log. */
#include "support/contraction.h"

#include "backend/null/null.h"
#include "base/alloc.h"

static void *null_device;

static wk_code order(const wk__work_args *kernel, wk__fail *fail)
{
    return wk__null_backend.submit(null_device, &(wk__work){.family = WK__CONTRACTION, .args = kernel}, fail);
}

/* Accepts operands within their memory, and rejects a factor whose memory is one element too short. */
static void checks_range_of_operands(void **state)
{
    (void)state;
    wk__fail fail;
    for (int k = 0; k < CONVOLUTIONS; k++)
        for (direction way = FORWARD; way < DIRECTIONS; way++) {
            convolution_case t;
            wk__work_args kernel;
            wk__contraction sum;
            convolution_new(&t, &convolutions[k], WK_F32, ROWS);
            describe(&t, way, &kernel, &sum);
            assert_int_equal(order(&kernel, &fail), WK_OK);
            if (is_empty(kernel.ndim, kernel.shape) || wk__contraction_k(&sum) == 0) {
                convolution_free(&t);
                continue;
            }
            for (int o = 0; o < WK__SUM_OPERANDS; o++) {
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

static void expect_wrong(const wk__work_args *kernel, const char *text)
{
    wk__fail fail;
    assert_int_equal(order(kernel, &fail), WK_ERR_INTERNAL);
    assert_string_equal(fail.text, text);
}

static void rejects_invalid_contractions(void **state)
{
    (void)state;
    convolution_case t;
    wk__work_args kernel, good;
    wk__contraction sum, fine;
    const int64_t far = (int64_t)1 << 62;
    convolution_new(&t, &convolutions[0], WK_F32, ROWS);
    describe(&t, FORWARD, &good, &fine);
    kernel = good;
    kernel.contraction = NULL;
    expect_wrong(&kernel, "null: a contraction without summed indices");
    kernel.contraction = &sum;
    sum = fine, sum.nsummed = WK__MAX_SUMMED + 1;
    expect_wrong(&kernel, "null: an invalid number of indices");
    sum.nsummed = -1;
    expect_wrong(&kernel, "null: an invalid number of indices");
    sum = fine, sum.extent[0] = -1;
    expect_wrong(&kernel, "null: a negative number of terms");
    sum = fine, sum.extent[0] = sum.extent[1] = INT64_MAX / 2;
    expect_wrong(&kernel, "null: too many terms");
    sum = fine, sum.dtype = WK_F16;
    expect_wrong(&kernel, "null: sums in a dtype other than an arithmetic class");
    sum.dtype = WK_DTYPE_COUNT;
    expect_wrong(&kernel, "null: sums in a dtype other than an arithmetic class");
    sum = fine, sum.naffine[1] = WK__MAX_AFFINE + 1;
    expect_wrong(&kernel, "null: an invalid number of coordinates");
    sum.naffine[1] = -1;
    expect_wrong(&kernel, "null: an invalid number of coordinates");
    sum = fine, sum.affine[1][0].divisor = 0;
    expect_wrong(&kernel, "null: a coordinate with a divisor below 1");
    sum = fine, sum.affine[1][0].extent = -1;
    expect_wrong(&kernel, "null: a coordinate with negative extent");
    static const int64_t large[] = {INT64_MAX, INT64_MAX / 2, -INT64_MAX / 2, (int64_t)1 << 40, -((int64_t)1 << 40)};
    for (size_t k = 0; k < sizeof large / sizeof *large; k++) {
        sum = fine, sum.affine[1][0].coefficient[0] = large[k];
        expect_wrong(&kernel, "null: a coordinate that overflows");
        sum = fine, sum.affine[1][0].offset = large[k];
        expect_wrong(&kernel, "null: a coordinate that overflows");
    }
    sum = fine, sum.affine[1][0].divisor = 1 << 20;
    expect_wrong(&kernel, "null: a coordinate that overflows");
    sum = fine, sum.affine[1][0].extent = far;
    expect_wrong(&kernel, "null: a coordinate that overflows");
    sum.affine[1][0].extent = far / 2, sum.affine[1][0].divisor = 2;
    expect_wrong(&kernel, "null: a coordinate that overflows");
    sum.affine[1][0].extent = far - 1, sum.affine[1][0].divisor = 1, sum.affine[1][0].stride = -1;
    sum.stride[1][0] = 0;
    assert_null(wk__contraction_check(&sum, kernel.ndim, kernel.shape));
    sum.affine[1][0].stride = -2;
    expect_wrong(&kernel, "null: a factor that spans 2^62 elements or more");
    sum = fine, sum.affine[1][0].stride = INT64_MIN;
    expect_wrong(&kernel, "null: a factor that spans 2^62 elements or more");
    sum = fine, sum.stride[0][0] = far / 2 - 2; /* two steps of one index and two of 1 */
    assert_null(wk__contraction_check(&sum, kernel.ndim, kernel.shape));
    sum.stride[0][0] = far / 2 - 1;
    expect_wrong(&kernel, "null: a factor that spans 2^62 elements or more");
    sum = fine, sum.affine[1][0].offset = -((int64_t)1 << 32), sum.affine[1][0].stride = (int64_t)1 << 30;
    expect_wrong(&kernel, "null: a factor that spans 2^62 elements or more");
    sum = fine;
    kernel.operand[2].dtype = WK_F64;
    expect_wrong(&kernel, "null: factors with different dtypes");
    convolution_free(&t);
}

static void logs_contractions(void **state)
{
    (void)state;
    wk__null_log_clear();
    wk__fail fail;
    convolution_case t;
    wk__work_args kernel;
    wk__contraction sum;
    convolution_new(&t, &convolutions[1], WK_F32, ROWS);
    describe(&t, FORWARD, &kernel, &sum);
    assert_int_equal(order(&kernel, &fail), WK_OK);
    describe(&t, GRAD_INPUT, &kernel, &sum);
    assert_int_equal(order(&kernel, &fail), WK_OK);
    char *text = wk__null_log_text();
    assert_string_equal(text,
                        "contraction f32 sums f32, space 2 x 2 x 2 x 4, sum 3 x 4, b (-2 +3 i3 +1 i5) / 1 in 11\n"
                        "contraction f32 sums f32, space 2 x 2 x 3 x 11, sum 2 x 4, b (2 +1 i3 -1 i5) / 3 in 4\n");
    wk__free(text);
    assert_int_equal(wk__null_log_count(WK__CONTRACTION), 2);
    assert_int_equal(wk__null_log_work_at(WK__CONTRACTION, 1)->args->contraction->affine[1][0].divisor, 3);
    convolution_free(&t);
    wk__null_log_clear();
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
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checks_range_of_operands),
        cmocka_unit_test(rejects_invalid_contractions),
        cmocka_unit_test(logs_contractions),
    };
    return cmocka_run_group_tests(tests, open_null, close_null);
}
