/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the values of worlds of 1 to 4 ranks: each call, dtype, reduction and element count against the definition, and
 * the same bits in all ranks. Elements are small integers, so that their sums are exact in each dtype. */
#include "support/ranks.h"

#include "engine/op_queue.h"

#include <math.h>
#include <setjmp.h>
#include <unistd.h>

static const wk_dtype dtypes[] = {WK_F32, WK_F64, WK_F16, WK_BF16, WK_I8, WK_U8, WK_I16, WK_I32, WK_I64, WK_BOOL};
static const wk_dist_op ops[] = {WK_DIST_SUM, WK_DIST_AVG, WK_DIST_PRODUCT, WK_DIST_MIN, WK_DIST_MAX};
/* None, one, fewer than ranks, not a multiple of the ranks, and too many for the agreement's message. */
static const int64_t counts[] = {0, 1, 2, 1009, 70001};
enum {
    DTYPES = sizeof dtypes / sizeof *dtypes,
    OPS = sizeof ops / sizeof *ops,
    COUNTS = sizeof counts / sizeof *counts
};

static bool is_float(wk_dtype dtype)
{
    return dtype <= WK_BF16;
}

/* A value as the dtype represents it. */
static double as(wk_dtype dtype, double v)
{
    const int64_t whole = is_float(dtype) ? 0 : (int64_t)v;
    switch ((int)dtype) {
    case WK_I8: return (int8_t)whole;
    case WK_U8: return (uint8_t)whole;
    case WK_I16: return (int16_t)whole;
    case WK_BOOL: return v != 0;
    default: return v;
    }
}

/* Element i of a rank's operand. */
static double given(wk_dtype dtype, int rank, int64_t i)
{
    return as(dtype, (double)((i * 5 + rank * 3 + i / 7) % 7 - 3));
}

static double reduced(wk_dtype dtype, wk_dist_op op, int64_t i)
{
    const int n = wk_dist_size();
    double all = given(dtype, 0, i);
    for (int rank = 1; rank < n; rank++) {
        const double v = given(dtype, rank, i);
        if (op == WK_DIST_PRODUCT)
            all *= v;
        else if (op == WK_DIST_MIN)
            all = v < all ? v : all;
        else if (op == WK_DIST_MAX)
            all = v > all ? v : all;
        else
            all += v;
    }
    return op == WK_DIST_AVG ? all / n : as(dtype, all);
}

static wk_tensor *mine(wk_dtype dtype, int64_t count)
{
    double *v = malloc(sizeof *v * (size_t)(count + 1));
    for (int64_t i = 0; i < count; i++) v[i] = given(dtype, wk_dist_rank(), i);
    wk_tensor *x = wk_to_dtype(wk_from(v, (count)), dtype);
    free(v);
    return x;
}

typedef double expected(wk_dtype dtype, wk_dist_op op, int64_t i);

/* Compares all elements; a mean to the precision of the dtype. */
static void compare(const char *what, wk_tensor *x, wk_dtype dtype, wk_dist_op op, int64_t count, expected *want)
{
    double *v = malloc(sizeof *v * (size_t)(count + 1));
    RANK_CHECK(x && wk_dtype_of(x) == dtype && wk_numel(x) == count);
    RANK_CHECK(wk_read(wk_to_dtype(x, WK_F64), v, sizeof *v * (size_t)count) == WK_OK);
    const double part = op != WK_DIST_AVG ? 0 : dtype == WK_BF16 ? 4e-3 : dtype == WK_F16 ? 5e-4 : 1e-7;
    for (int64_t i = 0; i < count; i++) {
        const double w = want(dtype, op, i), gap = v[i] > w ? v[i] - w : w - v[i];
        if (gap <= part * (w < 0 ? -w : w)) continue;
        snprintf(my_note()->failure, sizeof my_note()->failure, "%s, %s, op %d, %lld elements: [%lld] is %g, not %g",
                 what, wk_dtype_str(dtype), (int)op, (long long)count, (long long)i, v[i], w);
        _exit(1);
    }
    free(v);
}

static double part_of_mine(wk_dtype dtype, wk_dist_op op, int64_t i)
{
    return reduced(dtype, op, i + (int64_t)wk_dist_rank() * (int64_t)my_note()->number[0]);
}

static double from_root(wk_dtype dtype, wk_dist_op op, int64_t i)
{
    (void)op;
    return given(dtype, (int)my_note()->number[1], i);
}

static void reductions(wk_dtype dtype, int64_t count)
{
    for (int o = 0; o < OPS; o++) {
        WK_SCOPE;
        if ((ops[o] == WK_DIST_AVG && !is_float(dtype)) || (o > 0 && count < 1000)) continue;
        wk_tensor *x = mine(dtype, count);
        RANK_CHECK(wk_dist_all_reduce_(x, .op = ops[o]) == x);
        compare("all_reduce", x, dtype, ops[o], count, reduced);
        my_note()->number[0] = (double)count;
        wk_tensor *all = mine(dtype, count * wk_dist_size());
        compare("reduce_scatter", wk_dist_reduce_scatter(all, .op = ops[o]), dtype, ops[o], count, part_of_mine);
        my_note()->number[1] = wk_dist_rank();
        compare("what reduce_scatter reads", all, dtype, WK_DIST_SUM, count * wk_dist_size(), from_root);
    }
}

static double from_all(wk_dtype dtype, wk_dist_op op, int64_t i)
{
    const int64_t count = (int64_t)my_note()->number[0];
    (void)op;
    return given(dtype, (int)(i / count), i % count);
}

static double from_each(wk_dtype dtype, wk_dist_op op, int64_t i)
{
    const int64_t count = (int64_t)my_note()->number[0];
    (void)op;
    return given(dtype, (int)(i / count), i % count + count * wk_dist_rank());
}

/* Around the ring: to the next rank, from the previous one. */
static void pass_on(wk_dtype dtype, int64_t count)
{
    const int rank = wk_dist_rank(), n = wk_dist_size(), before = (rank + n - 1) % n;
    wk_tensor *x = mine(dtype, count), *y = wk_zeros((count), .dtype = dtype);
    if (rank % 2 == 0) RANK_CHECK(wk_dist_send(x, (rank + 1) % n) == WK_OK);
    RANK_CHECK(wk_dist_recv_(y, before) == y);
    if (rank % 2 == 1) RANK_CHECK(wk_dist_send(x, (rank + 1) % n) == WK_OK);
    my_note()->number[1] = before;
    compare("recv", y, dtype, WK_DIST_SUM, count, from_root);
}

static void movements(wk_dtype dtype, int64_t count)
{
    const int n = wk_dist_size();
    my_note()->number[0] = (double)count;
    for (int src = 0; src < n; src++) {
        WK_SCOPE;
        wk_tensor *x = mine(dtype, count);
        RANK_CHECK(wk_dist_broadcast_(x, src) == x);
        my_note()->number[1] = src;
        compare("broadcast", x, dtype, WK_DIST_SUM, count, from_root);
    }
    WK_SCOPE;
    compare("all_gather", wk_dist_all_gather(mine(dtype, count)), dtype, WK_DIST_SUM, count * n, from_all);
    compare("all_to_all", wk_dist_all_to_all(mine(dtype, count * n)), dtype, WK_DIST_SUM, count * n, from_each);
    if (n > 1) pass_on(dtype, count);
}

static void of_all_dtypes(int rank)
{
    (void)rank;
    RANK_CHECK(wk_dist_init() == WK_OK);
    for (int d = 0; d < DTYPES; d++)
        for (int c = 0; c < COUNTS - (wk_dist_size() == 1); c++) { /* with one rank, no count is large */
            reductions(dtypes[d], counts[c]);
            movements(dtypes[d], counts[c]);
            RANK_CHECK(wk_dist_barrier() == WK_OK);
        }
    RANK_CHECK(wk_dist_finish() == WK_OK);
    RANK_CHECK(!wk_error());
}

static void collectives_match_definition(void **state)
{
    (void)state;
    for (int n = 1; n <= RANKS_MOST; n++) {
        ranks r = {.size = n, .body = of_all_dtypes};
        ranks_run(&r);
        ranks_free(&r);
    }
}

/* ---- the order of sums ------------------------------------------------------------------------------------------- */

/* Values whose sum depends on the order. */
static float uneven(int rank, int64_t i)
{
    const uint32_t bits = (uint32_t)i * 2654435761u + (uint32_t)rank * 40503u;
    return (float)(bits >> 8) * (rank % 2 ? 1e-3f : 1.0f) * (bits & 1 ? -1 : 1);
}

/* The order in docs/contributing: small data in pairs, large data by blocks. */
static float small_sum(int n, int64_t i)
{
    float v[RANKS_MOST] = {0};
    for (int r = 0; r < n; r++) v[r] = uneven(r, i);
    if (n == 3) v[0] += v[2];
    if (n == 4) v[2] += v[3];
    v[0] += v[1];
    return n == 4 ? v[0] + v[2] : v[0];
}

static float large_sum(int n, int64_t i, int64_t count)
{
    const int64_t share = count / n, rest = count % n;
    int block = 0;
    while (i >= share * (block + 1) + (block + 1 < rest ? block + 1 : rest)) block++;
    float sum = uneven((block + 1) % n, i);
    for (int k = 2; k <= n; k++) sum += uneven((block + k) % n, i);
    return sum;
}

static void sums_in_order(int rank)
{
    enum { SMALL = 5001, LARGE = 200003 };
    static float v[LARGE];
    RANK_CHECK(wk_dist_init() == WK_OK);
    const int n = wk_dist_size();
    for (int64_t count = SMALL; count <= LARGE; count += LARGE - SMALL) {
        WK_SCOPE;
        for (int64_t i = 0; i < count; i++) v[i] = uneven(rank, i);
        wk_tensor *x = wk_from(v, (count));
        RANK_CHECK(wk_dist_all_reduce_(x) && wk_read(x, v, sizeof *v * (size_t)count) == WK_OK);
        for (int64_t i = 0; i < count; i++) {
            const float want = count == SMALL ? small_sum(n, i) : large_sum(n, i, count);
            RANK_CHECK(memcmp(&want, &v[i], sizeof want) == 0);
        }
    }
    RANK_CHECK(wk_dist_finish() == WK_OK);
}

static void sums_have_one_order(void **state)
{
    (void)state;
    for (int n = 2; n <= RANKS_MOST; n++) {
        ranks r = {.size = n, .body = sums_in_order};
        ranks_run(&r);
        ranks_free(&r);
    }
}

/* In any order. */
static void sums_have_equal_bits(int rank)
{
    enum { MOST = 200003 };
    static float v[MOST], w[MOST];
    RANK_CHECK(wk_dist_init() == WK_OK);
    for (int64_t count = 1; count <= MOST; count = count * 7 + 3) {
        WK_SCOPE;
        const size_t bytes = sizeof *v * (size_t)count;
        for (int64_t i = 0; i < count; i++) v[i] = uneven(rank, i);
        wk_tensor *x = wk_from(v, (count));
        RANK_CHECK(wk_dist_all_reduce_(x) && wk_read(x, v, bytes) == WK_OK);
        RANK_CHECK(wk_dist_broadcast_(x, wk_dist_size() - 1) && wk_read(x, w, bytes) == WK_OK);
        RANK_CHECK(memcmp(v, w, bytes) == 0);
    }
    RANK_CHECK(wk_dist_finish() == WK_OK);
}

static void all_ranks_have_the_same_bits(void **state)
{
    (void)state;
    for (int n = 2; n <= RANKS_MOST; n++) {
        ranks r = {.size = n, .body = sums_have_equal_bits};
        ranks_run(&r);
        ranks_free(&r);
    }
}

static double first_of(wk_tensor *x)
{
    return wk_item(wk_select(wk_reshape(x, (-1)), 0, 0));
}

/* A NaN of any rank propagates; integers wrap. Tests small and large data, which use different algorithms. */
static void extremes(int rank)
{
    static const struct {
        wk_dtype dtype;
        double most;
    } whole[] = {{WK_I8, 127}, {WK_U8, 255}, {WK_I16, 32767}, {WK_I32, 2147483647}};
    static const wk_dtype floats[] = {WK_F32, WK_F64, WK_F16, WK_BF16};
    RANK_CHECK(wk_dist_init() == WK_OK);
    for (int64_t count = 3; count < 200000; count += 199000) {
        for (int k = 0; k < 4; k++)
            for (int op = WK_DIST_SUM; op <= WK_DIST_MAX; op++)
                for (int whose = 0; whose < wk_dist_size(); whose++) {
                    WK_SCOPE;
                    wk_tensor *x = wk_full((count), rank == whose ? (double)NAN : rank, .dtype = floats[k]);
                    RANK_CHECK(isnan(first_of(wk_dist_all_reduce_(x, .op = (wk_dist_op)op))));
                }
        for (int k = 0; k < 4; k++) {
            WK_SCOPE;
            const double range = whole[k].dtype == WK_U8 ? whole[k].most + 1 : 2 * (whole[k].most + 1);
            wk_tensor *x = wk_full((count), rank == 0 ? whole[k].most : 1, .dtype = whole[k].dtype), *y = wk_clone(x);
            wk_dist_all_reduce_(x);
            RANK_CHECK(first_of(x) == whole[k].most + wk_dist_size() - 1 - range);
            wk_fill_(y, rank < 2 ? whole[k].most : 1);
            wk_dist_all_reduce_(y, .op = WK_DIST_PRODUCT); /* (-1)^2, but of u8 the same */
            RANK_CHECK(first_of(y) == 1);
        }
    }
    RANK_CHECK(wk_dist_finish() == WK_OK);
}

static void nan_propagates_and_integers_wrap(void **state)
{
    (void)state;
    ranks r = {.size = 3, .body = extremes};
    ranks_run(&r);
    ranks_free(&r);
}

/* 2048 + 1 + 1 + 1 in f16 remains 2048 if each sum is rounded. */
static void sums_of_halves(int rank)
{
    RANK_CHECK(wk_dist_init() == WK_OK);
    for (int64_t count = 10; count < 200000; count += 100000) {
        WK_SCOPE;
        wk_tensor *x = wk_full((count), rank ? 1 : 2048, .dtype = WK_F16),
                  *most = wk_full((count), 40000, .dtype = WK_F16);
        RANK_CHECK(wk_item(wk_amin(wk_dist_all_reduce_(x))) == 2052 && wk_item(wk_amax(x)) == 2052);
        RANK_CHECK(wk_item(wk_amax(wk_dist_all_reduce_(most, .op = WK_DIST_AVG))) == 40000);
        wk_tensor *parts = wk_dist_reduce_scatter(wk_full((count * 4), rank ? 1 : 2048, .dtype = WK_BF16));
        RANK_CHECK(wk_item(wk_amax(parts)) == 2048 && wk_dtype_of(parts) == WK_BF16); /* 2051 in steps of 16 */
    }
    RANK_CHECK(wk_dist_finish() == WK_OK);
}

static void sums_of_halves_are_rounded_once(void **state)
{
    (void)state;
    ranks r = {.size = 4, .body = sums_of_halves};
    ranks_run(&r);
    ranks_free(&r);
}

/* Rank r has 2 r values, so rank 0 has none: r + 0, with weight 1, r + 1, with weight 2, ... */
static double mean_over(int ranks, int step)
{
    double sum = 0, weights = 0;
    for (int r = 0; r < ranks; r += step)
        for (int k = 0; k < 2 * r; k++) {
            sum += (k + 1) * (r + k);
            weights += k + 1;
        }
    return sum / weights;
}

static void mean_of_histories(int rank)
{
    RANK_CHECK(wk_dist_init() == WK_OK);
    const int n = wk_dist_size();
    wk_history *h = wk_history_new(), *none = wk_history_new(), *lost = wk_history_new();
    for (int k = 0; k < 2 * rank; k++) RANK_CHECK(wk_history_add(h, wk_full((), rank + k), .weight = k + 1) == WK_OK);
    const double own = wk_history_mean(h), all = wk_dist_history_mean(h);
    RANK_CHECK(n == 1 ? isnan(all) : all == mean_over(n, 1));
    RANK_CHECK(wk_dist_history_mean(h) == all || n == 1); /* the local history is unchanged */
    RANK_CHECK(wk_history_mean(h) == own || rank == 0);
    wk_tensor *recorded = wk_add(wk_ones((4)), 1);
    RANK_CHECK(isnan(wk_dist_history_mean(none)) && !wk_error());
    RANK_CHECK(wk__body_of(recorded)->storage->value->state != WK__PENDING); /* like every collective call */
    wk_dist_group *even = n > 2 ? wk_dist_new_group((0, 2)) : NULL;
    if (even && rank % 2 == 0) RANK_CHECK(wk_dist_history_mean(h, .group = even) == mean_over(3, 2));
    if (rank == n - 1) wk_history_add(lost, wk_zeros((2)));
    RANK_CHECK(isnan(wk_dist_history_mean(lost)) && strstr(wk_error(), "expected a tensor of one element"));
    wk_clear_error();
    RANK_CHECK(isnan(wk_dist_history_mean(rank == n - 1 ? NULL : h)) && strstr(wk_error(), "the history is NULL"));
    wk_clear_error();
    RANK_CHECK(wk_dist_finish() == WK_OK);
    RANK_CHECK(rank == 0 || wk_dist_history_mean(h) == own); /* a world of one again */
}

static void histories_have_a_mean_over_all_ranks(void **state)
{
    (void)state;
    for (int n = 1; n <= RANKS_MOST; n++) {
        ranks r = {.size = n, .body = mean_of_histories};
        ranks_run(&r);
        ranks_free(&r);
    }
}

static jmp_buf back;

static void jump(void *user, wk_code code, const char *text)
{
    (void)user, (void)code, (void)text;
    longjmp(back, 1);
}

/* A handler that does not return blocks no other rank: the error was sent to them before. */
static void leaves_a_mean_by_a_jump(int rank)
{
    RANK_CHECK(wk_dist_init() == WK_OK);
    if (rank == 1) {
        wk_set_error_handler(jump, NULL);
        if (setjmp(back) == 0) wk_dist_history_mean(NULL);
        wk_set_error_handler(NULL, NULL);
    } else {
        RANK_CHECK(isnan(wk_dist_history_mean(wk_history_new())));
    }
    RANK_CHECK(strstr(wk_error(), "the history is NULL"));
    wk_clear_error();
    RANK_CHECK(wk_dist_barrier() == WK_OK && wk_dist_finish() == WK_OK);
}

static void a_handler_jumps(void **state)
{
    (void)state;
    ranks r = {.size = 2, .body = leaves_a_mean_by_a_jump};
    ranks_run(&r);
    ranks_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collectives_match_definition),         cmocka_unit_test(all_ranks_have_the_same_bits),
        cmocka_unit_test(nan_propagates_and_integers_wrap),     cmocka_unit_test(sums_of_halves_are_rounded_once),
        cmocka_unit_test(histories_have_a_mean_over_all_ranks), cmocka_unit_test(a_handler_jumps),
    };
    const struct CMUnitTest of_tcp[] = {
        cmocka_unit_test(sums_have_one_order),
    };
    const int failed = ranks_are_mpi() ? 0 : cmocka_run_group_tests(of_tcp, NULL, NULL);
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
