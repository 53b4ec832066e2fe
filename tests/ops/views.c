/* SPDX-License-Identifier: Apache-2.0 */
/* Tests properties of views that the sweeps cannot check: shared storage, in-place calls through views, node names,
 * errors. */
#include "values.h"
#include <limits.h>

static wk_tensor *counting(const int64_t *shape, int ndim)
{
    int64_t n = 1;
    for (int d = 0; d < ndim; d++) n *= shape[d];
    return wk_reshape_at(WK_HERE, wk_arange((double)n), shape, ndim);
}
#define COUNTING(shape) counting(DIMS(shape))

static void values(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = COUNTING((2, 3));
    EXPECT(wk_t(x), (3, 2), 0, 3, 1, 4, 2, 5);
    EXPECT(wk_slice(x, 1, 0, INT64_MAX, 2), (2, 2), 0, 2, 3, 5);
    EXPECT(wk_slice(x, -1, -2, 3), (2, 2), 1, 2, 4, 5);
    EXPECT(wk_narrow(x, 0, -1, 1), (1, 3), 3, 4, 5);
    EXPECT(wk_select(x, 1, -1), (2), 2, 5);
    EXPECT(wk_diagonal(x), (2), 0, 4);
    EXPECT(wk_diagonal(x, 1, 0, 1), (2), 1, 5);
    EXPECT(wk_diagonal(x, 1), (2), 1, 5);
    EXPECT(wk_diagonal(x, -1, 0), (1), 3);
    EXPECT(wk_unfold(wk_arange(5.0), 0, 3, 1), (3, 3), 0, 1, 2, 1, 2, 3, 2, 3, 4);
    EXPECT(wk_flatten(wk_unsqueeze(x, 0), 1), (1, 6), 0, 1, 2, 3, 4, 5);
    EXPECT(wk_unflatten(wk_arange(4.0), 0, (2, -1)), (2, 2), 0, 1, 2, 3);
    EXPECT(wk_squeeze(wk_reshape(x, (1, 6, 1)), 0), (6, 1), 0, 1, 2, 3, 4, 5);
    EXPECT(wk_squeeze(wk_reshape(x, (1, 6, 1)), (0, 2)), (6), 0, 1, 2, 3, 4, 5);
    EXPECT(wk_movedim(COUNTING((1, 2, 2)), 0, 2), (2, 2, 1), 0, 1, 2, 3);
    assert_true(wk_same_storage(x, wk_permute(x, (1, 0))));
}

static void writing_through_views(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = COUNTING((2, 3));
    wk_add_(wk_select(x, 1, 0), 10);
    wk_mul_(wk_slice(x, 1, 1, 3), 2);
    EXPECT(x, (2, 3), 10, 2, 4, 13, 8, 10);
    wk_tensor *a = wk_mul(LEAF((2, 2)), 1);
    wk_tensor *row = wk_select(a, 0, 0);
    wk_mul_(row, 3);
    assert_string_equal(wk__grad_fn_name(a), "CopySlices");
    expect_error(wk_add_(wk_unfold(wk_arange(5.0), 0, 3, 1), 1), WK_ERR_STATE, "share memory");
}

static void names_of_nodes(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = LEAF((2, 1, 3)), *piece[3];
    assert_string_equal(wk__grad_fn_name(wk_transpose(x, 0, 1)), "TransposeBackward0");
    assert_string_equal(wk__grad_fn_name(wk_permute(x, (2, 0, 1))), "PermuteBackward0");
    assert_string_equal(wk__grad_fn_name(wk_movedim(x, 0, 1)), "PermuteBackward0");
    assert_string_equal(wk__grad_fn_name(wk_squeeze(x)), "SqueezeBackward0");
    assert_string_equal(wk__grad_fn_name(wk_squeeze(x, 1)), "SqueezeBackward1");
    assert_string_equal(wk__grad_fn_name(wk_unsqueeze(x, 1)), "UnsqueezeBackward0");
    assert_string_equal(wk__grad_fn_name(wk_narrow(x, 0, 0, 1)), "SliceBackward0");
    assert_string_equal(wk__grad_fn_name(wk_select(x, 0, 0)), "SelectBackward0");
    assert_string_equal(wk__grad_fn_name(wk_flatten(x)), "ViewBackward0");
    assert_int_equal(wk_chunk(x, 3, 2, piece), 3);
    assert_string_equal(wk__grad_fn_name(piece[2]), "SplitBackward0");
    assert_int_equal(wk_unbind(x, 0, piece), 2);
    assert_string_equal(wk__grad_fn_name(piece[1]), "UnbindBackward0");
}

static void pieces(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = COUNTING((5, 2)), *piece[5];
    assert_int_equal(wk_chunk(x, 4, 0, piece), 3); /* pieces of two; PyTorch also returns fewer */
    EXPECT(piece[2], (1, 2), 8, 9);
    assert_int_equal(wk_split(x, 3, 0, piece), 2);
    EXPECT(piece[1], (2, 2), 6, 7, 8, 9);
    assert_int_equal(wk_split_with_sizes(x, (1, 4), 0, piece), 2);
    EXPECT(piece[0], (1, 2), 0, 1);
    assert_int_equal(wk_unbind(x, 1, piece), 2);
    EXPECT(piece[1], (5), 1, 3, 5, 7, 9);
    assert_int_equal(wk_split_with_sizes(x, (1, 3), 0, piece), -1);
    expect_error(piece[0], WK_ERR_SHAPE, "add up");
}

/* If one piece is used, the gradients of the others are 0. Pieces beyond the limit of a node are separate views. */
static void gradients_of_pieces(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = LEAF((4)), *piece[100], *long_one = LEAF((100));
    wk_chunk(x, 4, 0, piece);
    assert_int_equal(wk_backward(wk_sum(wk_mul(piece[2], 5))), WK_OK);
    EXPECT(wk_grad_of(x), (4), 0, 0, 5, 0);
    assert_int_equal(wk_split(long_one, 1, 0, piece), 100);
    assert_int_equal(wk_backward(wk_sum(wk_add(piece[0], wk_mul(piece[99], 2)))), WK_OK);
    EXPECT(wk_slice(wk_grad_of(long_one), 0, 0, 100, 99), (2), 1, 2);
}

static void errors(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((2, 3));
    expect_error(wk_transpose(x, 0, 2), WK_ERR_INDEX, "dimension 2 is out of range for f32[2,3]");
    expect_error(wk_permute(x, (0, 0)), WK_ERR_ARGUMENT, "once");
    expect_error(wk_narrow(x, 1, 2, 2), WK_ERR_INDEX, "f32[2,3]");
    expect_error(wk_select(x, 0, 2), WK_ERR_INDEX, "index 2");
    expect_error(wk_select(wk_ones(()), 0, 0), WK_ERR_SHAPE, "f32[]");
    expect_error(wk_slice(x, 0, 0, 2, -1), WK_ERR_ARGUMENT, "wk_flip");
    expect_error(wk_unfold(x, 1, 4, 1), WK_ERR_ARGUMENT, "windows");
    expect_error(wk_diagonal(x, 0, 1, 1), WK_ERR_ARGUMENT, "different");
    expect_error(wk_t(wk_ones((1, 2, 3))), WK_ERR_SHAPE, "wk_transpose");
    expect_error(wk_unsqueeze(wk_ones((1, 1, 1, 1, 1, 1, 1, 1)), 0), WK_ERR_SHAPE, "8 dimensions");
    const int64_t one[] = {1};
    const int below[] = {-1, INT_MIN};
    for (int k = 0; k < 2; k++) {
        expect_error(wk_reshape_at(WK_HERE, wk_ones((1)), one, below[k]), WK_ERR_ARGUMENT, "reshape");
        expect_error(wk_expand_at(WK_HERE, wk_ones((1)), one, below[k]), WK_ERR_ARGUMENT, "expand");
        expect_error(wk_repeat_at(WK_HERE, wk_ones((1)), one, below[k]), WK_ERR_ARGUMENT, "repeat");
    }
}

static void sizes_that_do_not_fit(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((2, 6)), *v = wk_ones((3)), *empty = wk_ones((0, 6));
    expect_error(wk_reshape(x, (-1, -1)), WK_ERR_SHAPE,
                 "cannot reshape f32[2,6] to [-1,-1]: at most one size may be -1");
    expect_error(wk_reshape(x, (-2, 6)), WK_ERR_SHAPE, "to [-2,6]: sizes must be at least 0, or -1");
    expect_error(wk_reshape(x, (3, 5)), WK_ERR_SHAPE,
                 "cannot reshape f32[2,6] to [3,5]: element count 12 is not equal to 15");
    expect_error(wk_reshape(x, (-1, 5)), WK_ERR_SHAPE, "to [-1,5]: element count 12 is not a multiple of 5");
    expect_error(wk_reshape(empty, (-1, 0)), WK_ERR_SHAPE, "to [-1,0]: -1 is ambiguous beside a size of 0");
    expect_error(wk_reshape(x, (1ll << 40, 1ll << 40)), WK_ERR_SHAPE, "exceeds 2^63");
    expect_error(wk_reshape(x, (1, 1, 1, 1, 1, 1, 1, 1, 12)), WK_ERR_SHAPE, "at most 8 dimensions");
    expect_error(wk_unflatten(x, 1, (2, 4)), WK_ERR_SHAPE,
                 "unflatten: cannot unflatten dimension 1 of f32[2,6] into [2,4]: size 6 is not equal to 8");
    expect_error(wk_unflatten(empty, -1, (2, 4)), WK_ERR_SHAPE, "cannot unflatten dimension 1 of f32[0,6] into [2,4]");
    expect_error(wk_unflatten(x, 1, (-1, 4)), WK_ERR_SHAPE, "into [-1,4]: size 6 is not a multiple of 4");
    expect_error(wk_unflatten(x, 0, (-1, -1)), WK_ERR_SHAPE, "at most one size may be -1");
    expect_error(wk_unflatten(x, 1, ()), WK_ERR_SHAPE, "at least one size");
    expect_error(wk_unflatten(x, 1, (1, 1, 1, 1, 1, 1, 1, 6)), WK_ERR_SHAPE, "at most 8 dimensions");
    expect_error(wk_unflatten(wk_ones(()), 0, (1, 1)), WK_ERR_SHAPE,
                 "cannot unflatten dimension 0 of f32[] into [1,1]: it has no dimensions");
    expect_error(wk_expand(v, (-1, 3)), WK_ERR_SHAPE, "f32[3] does not expand to [-1,3]: -1 is not allowed");
    expect_error(wk_expand(v, (-2, 3)), WK_ERR_SHAPE, "does not expand to [-2,3]: sizes must be at least 0");
    expect_error(wk_expand(v, (2, 4)), WK_ERR_SHAPE, "does not expand to [2,4]: only dimensions of size 1 and");
    expect_error(wk_expand(x, (6)), WK_ERR_SHAPE, "does not expand to [6]: it has more dimensions");
    expect_error(wk_expand(v, (1, 1, 1, 1, 1, 1, 1, 1, 3)), WK_ERR_SHAPE, "at most 8 dimensions");
    expect_error(wk_expand(wk_ones((1)), (1ll << 40, 1ll << 40)), WK_ERR_SHAPE, "exceeds 2^63 bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(writing_through_views),
        cmocka_unit_test(names_of_nodes),
        cmocka_unit_test(pieces),
        cmocka_unit_test(gradients_of_pieces),
        cmocka_unit_test(errors),
        cmocka_unit_test(sizes_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
