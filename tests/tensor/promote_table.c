/* SPDX-License-Identifier: Apache-2.0 */
/* Tests type promotion: PyTorch's table (torch.promote_types) for every pair of dtypes, 0-d operands, and numbers; rule
 * 15 of docs/contributing/invariants.md. */
#include "support/wick.h"

#define F WK_F32
#define D WK_F64
#define H WK_F16
#define B WK_BF16
enum { KINDS = 10 };

/*                                      f32 f64 f16 bf16 i8      u8      i16     i32     i64     bool */
static const wk_dtype kinds[KINDS] = {F, D, H, B, WK_I8, WK_U8, WK_I16, WK_I32, WK_I64, WK_BOOL};
static const wk_dtype table[KINDS][KINDS] = {
    {F, D, F, F, F, F, F, F, F, F},
    {D, D, D, D, D, D, D, D, D, D},
    {F, D, H, F, H, H, H, H, H, H},
    {F, D, F, B, B, B, B, B, B, B},
    {F, D, H, B, WK_I8, WK_I16, WK_I16, WK_I32, WK_I64, WK_I8},
    {F, D, H, B, WK_I16, WK_U8, WK_I16, WK_I32, WK_I64, WK_U8},
    {F, D, H, B, WK_I16, WK_I16, WK_I16, WK_I32, WK_I64, WK_I16},
    {F, D, H, B, WK_I32, WK_I32, WK_I32, WK_I32, WK_I64, WK_I32},
    {F, D, H, B, WK_I64, WK_I64, WK_I64, WK_I64, WK_I64, WK_I64},
    {F, D, H, B, WK_I8, WK_U8, WK_I16, WK_I32, WK_I64, WK_BOOL},
};

static int class_of(wk_dtype dtype)
{
    return dtype == WK_BOOL ? 0 : dtype == F || dtype == D || dtype == H || dtype == B ? 2 : 1;
}

static wk_tensor *ones(wk_dtype dtype, int ndim)
{
    wk_tensor_options options = {.size = sizeof options, .dtype = dtype};
    return wk_ones_at(WK_HERE, (const int64_t[]){3}, ndim, &options);
}

static void expect_dtype(wk_tensor *x, wk_dtype dtype, wk_dtype a, wk_dtype b, const char *what)
{
    expect_ok();
    if (wk_dtype_of(x) != dtype)
        fail_msg("%s + %s (%s) is %s, not %s", wk_dtype_str(a), wk_dtype_str(b), what, wk_dtype_str(wk_dtype_of(x)),
                 wk_dtype_str(dtype));
}

static void promotion_of_tensors(void **state)
{
    (void)state;
    for (int a = 0; a < KINDS; a++)
        for (int b = 0; b < KINDS; b++) {
            WK_SCOPE;
            expect_dtype(wk_add(ones(kinds[a], 1), ones(kinds[b], 1)), table[a][b], kinds[a], kinds[b], "tensors");
            expect_dtype(wk_add(ones(kinds[a], 0), ones(kinds[b], 0)), table[a][b], kinds[a], kinds[b], "both 0-d");
        }
}

/* A 0-d operand counts only if its class is higher than that of the tensors with dimensions. */
static void promotion_of_scalars(void **state)
{
    (void)state;
    for (int a = 0; a < KINDS; a++)
        for (int b = 0; b < KINDS; b++) {
            WK_SCOPE;
            wk_dtype expected = class_of(kinds[b]) > class_of(kinds[a]) ? table[a][b] : kinds[a];
            expect_dtype(wk_add(ones(kinds[a], 1), ones(kinds[b], 0)), expected, kinds[a], kinds[b], "the second 0-d");
            expect_dtype(wk_add(ones(kinds[b], 0), ones(kinds[a], 1)), expected, kinds[b], kinds[a], "the first 0-d");
        }
}

/* Integers promote only bool, to i64; fractions promote all but floats, to f32. */
static void promotion_of_numbers(void **state)
{
    (void)state;
    for (int a = 0; a < KINDS; a++)
        for (int ndim = 0; ndim < 2; ndim++) {
            WK_SCOPE;
            wk_dtype whole = kinds[a] == WK_BOOL ? WK_I64 : kinds[a], fraction = class_of(kinds[a]) == 2 ? kinds[a] : F;
            expect_dtype(wk_add(ones(kinds[a], ndim), 2), whole, kinds[a], WK_I64, "a whole number");
            expect_dtype(wk_add(ones(kinds[a], ndim), 0.5), fraction, kinds[a], F, "a fraction");
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(promotion_of_tensors), cmocka_unit_test(promotion_of_scalars),
                                       cmocka_unit_test(promotion_of_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
