/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the samplers of loaders, .order and .weights, and .collate. */
#include "support/wick.h"

#include <base/alloc.h>
#include <data/loader_state.h>

#include <math.h>

enum { MOST = 4096 };

static wk_dataset *numbered_samples(int64_t n)
{
    return wk_data_tensors(wk_to_dtype(wk_arange(n), WK_F32), wk_arange(n));
}

/* Writes the labels of the rest of an epoch; returns their number. */
static int64_t labels_of(wk_loader *loader, int64_t *out)
{
    int64_t count = 0;
    WK_EACH(batch, loader)
    {
        const int64_t n = wk_size(batch->y, 0);
        assert_int_equal(wk_read(batch->y, out + count, (size_t)n * sizeof *out), WK_OK);
        count += n;
    }
    expect_ok();
    return count;
}

static void a_list_of_indices(void **state)
{
    (void)state;
    WK_SCOPE;
    int64_t seen[8], sum = 0;
    wk_dataset *data = numbered_samples(10);
    wk_loader *loader;
    {
        WK_SCOPE; /* the loader copies the list */
        wk_tensor *order = wk_of(int64_t, (5), 8, 2, 2, 0, 9);
        loader = wk_keep(wk_data_loader(data, .batch_size = 2, .order = order));
    }
    assert_int_equal(wk_loader_count(loader), 3);
    for (int epoch = 0; epoch < 2; epoch++) {
        assert_int_equal(labels_of(loader, seen), 5);
        assert_memory_equal(seen, ((int64_t[]){8, 2, 2, 0, 9}), 5 * sizeof *seen);
    }
    wk_tensor *order = wk_of(int64_t, (5), 8, 2, 2, 0, 9);
    assert_int_equal(labels_of(wk_data_loader(data, .order = order, .shuffle = true, .seed = 1), seen), 5);
    assert_memory_not_equal(seen, ((int64_t[]){8, 2, 2, 0, 9}), 5 * sizeof *seen);
    for (int k = 0; k < 5; k++) sum += seen[k];
    assert_int_equal(sum, 21);
    assert_null(wk_data_loader(data, .order = wk_of(int64_t, (2), 0, 10)));
    assert_int_equal(wk_error_code(), WK_ERR_INDEX);
    expect_error("data_loader: element 1 of .order is 10, out of range for 10 samples", NULL);
    assert_null(wk_data_loader(data, .order = wk_ones((2))));
    expect_error("data_loader: .order must be i64 with one dimension, got f32[2]", NULL);
}

static void a_weight_of_zero_is_never_drawn(void **state)
{
    (void)state;
    WK_SCOPE;
    int64_t seen[64];
    wk_tensor *weights = wk_of(double, (2), 0, 5e-324); /* a share of their sum rounds to 0 */
    assert_int_equal(labels_of(wk_data_loader(numbered_samples(2), .weights = weights, .draws = 64), seen), 64);
    for (int k = 0; k < 64; k++) assert_int_equal(seen[k], 1);
}

/* Frequencies are within five standard deviations of the weights. */
static void draws_with_replacement(void **state)
{
    (void)state;
    WK_SCOPE;
    static int64_t seen[MOST], again[MOST];
    const double share[] = {0.5, 0, 0.125, 0.25, 0.125};
    wk_tensor *weights = wk_mul(wk_of(float, (5), 4, 0, 1, 2, 1), 0.3);
    wk_dataset *data = numbered_samples(5);
    wk_loader *loader = wk_data_loader(data, .batch_size = 256, .weights = weights, .draws = MOST, .seed = 7);
    assert_int_equal(wk_loader_count(loader), 16);
    for (int epoch = 0; epoch < 2; epoch++) {
        int met[5] = {0};
        assert_int_equal(labels_of(loader, epoch ? again : seen), MOST);
        for (int k = 0; k < MOST; k++) met[epoch ? again[k] : seen[k]]++;
        for (int k = 0; k < 5; k++)
            assert_true(fabs(met[k] - share[k] * MOST) <= 5 * sqrt(share[k] * (1 - share[k]) * MOST));
    }
    assert_memory_not_equal(seen, again, sizeof seen);
    wk_loader *same = wk_data_loader(data, .batch_size = 9, .weights = weights, .draws = MOST, .seed = 7, .workers = 2);
    labels_of(same, again);
    assert_memory_equal(seen, again, sizeof seen);
    assert_int_equal(wk_loader_count(wk_data_loader(data, .weights = weights)), 5);
}

static void draws_without_replacement(void **state)
{
    (void)state;
    WK_SCOPE;
    int64_t seen[4];
    int first[4] = {0};
    wk_tensor *weights = wk_of(double, (4), 6, 0, 1, 3);
    wk_loader *loader = wk_data_loader(numbered_samples(4), .weights = weights, .draws = 3, .no_replacement = true);
    for (int epoch = 0; epoch < 1000; epoch++) {
        assert_int_equal(labels_of(loader, seen), 3);
        assert_int_equal(seen[0] + seen[1] + seen[2], 5); /* 0, 2 and 3 */
        assert_true(seen[0] != seen[1] && seen[1] != seen[2] && seen[0] != seen[2]);
        first[seen[0]]++;
    }
    const double share[] = {0.6, 0, 0.1, 0.3};
    for (int k = 0; k < 4; k++)
        assert_true(fabs(first[k] - share[k] * 1000) <= 5 * sqrt(share[k] * (1 - share[k]) * 1000));
}

static wk_tensor *noise(wk_tensor *x, void *user)
{
    (void)user;
    return wk_mul(wk_rand(()), wk_add(wk_mul(x, 0), 1));
}

/* A sample that is drawn twice gets other random numbers; so it does in a loader that continues. */
static void repeated_samples_differ(void **state)
{
    (void)state;
    WK_SCOPE;
    float first[12], rest[12];
    int64_t count = 0;
    wk_tensor *weights = wk_of(float, (2), 0, 1);
    wk_dataset *data = wk_data_map(numbered_samples(2), noise, NULL);
    wk_loader *loader = wk_data_loader(data, .batch_size = 3, .weights = weights, .draws = 12),
              *other = wk_data_loader(data, .batch_size = 2, .weights = weights, .draws = 12, .workers = 2);
    wk__loader_state at = {0};
    WK_EACH(batch, loader)
    {
        wk_read(batch->x, first + count, 3 * sizeof *first);
        count += 3;
        if (batch->index == 1) at = wk__loader_get_state(loader);
    }
    for (int k = 0; k < 12; k++)
        for (int l = 0; l < k; l++) assert_true(first[k] != first[l]);
    assert_true(at.consumed == 6 && at.samples == 12 && at.shuffle == 1);
    assert_true(wk__loader_check_state(other, &at, WK_HERE, "op", "path"));
    wk__loader_set_state(other, &at);
    count = 0;
    WK_EACH(batch, other)
    {
        wk_read(batch->x, rest + count, 2 * sizeof *rest);
        count += 2;
    }
    assert_int_equal(count, 6);
    assert_memory_equal(rest, first + 6, 6 * sizeof *rest);
    expect_ok();
}

static void nothing_to_draw(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_dataset *none = wk_data_slice(numbered_samples(3), 1, 1);
    int64_t seen[1];
    assert_int_equal(labels_of(wk_data_loader(none, .weights = wk_zeros((0))), seen), 0);
    assert_int_equal(labels_of(wk_data_loader(none, .weights = wk_zeros((0)), .no_replacement = true), seen), 0);
}

static void invalid_weights(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_dataset *data = numbered_samples(3);
    wk_tensor *ones = wk_ones((3)), *one = wk_of(float, (3), 0, 1, 0);
    assert_null(wk_data_loader(data, .weights = wk_ones((4))));
    assert_int_equal(wk_error_code(), WK_ERR_SHAPE);
    expect_error("data_loader: .weights must be a float for each of the 3 samples, got f32[4]", NULL);
    assert_null(wk_data_loader(data, .weights = wk_arange(3)));
    assert_int_equal(wk_error_code(), WK_ERR_DTYPE);
    expect_error("data_loader: .weights must be a float for each of the 3 samples, got i64[3]", NULL);
    assert_null(wk_data_loader(data, .weights = wk_of(float, (3), 1, -2, 1)));
    expect_error("data_loader: weight 1 is -2; weights must be finite and at least 0", NULL);
    assert_null(wk_data_loader(data, .weights = wk_of(float, (3), 1, 1, INFINITY)));
    expect_error("data_loader: weight 2 is inf", NULL);
    assert_null(wk_data_loader(data, .weights = wk_zeros((3))));
    expect_error("data_loader: cannot draw 3 samples, as 0 of the weights are greater than 0", NULL);
    assert_null(wk_data_loader(data, .weights = one, .draws = 2, .no_replacement = true));
    expect_error("data_loader: cannot draw 2 samples without replacement, as 1 of the weights", NULL);
    assert_null(wk_data_loader(data, .weights = ones, .shuffle = true));
    expect_error("data_loader: .weights determines the order; leave out .shuffle", NULL);
    assert_null(wk_data_loader(data, .weights = ones, .order = wk_arange(3)));
    expect_error("data_loader: .weights determines the order; leave out .order", NULL);
    assert_null(wk_data_loader(data, .draws = 2));
    expect_error("data_loader: .draws needs .weights", NULL);
    assert_null(wk_data_loader(data, .weights = ones, .draws = -2));
    expect_error("data_loader: .draws must be at least 0, got -2", NULL);
}

/* ---- collate ----------------------------------------------------------------------------------------------------- */

/* x of sample k has k + 1 elements. */
static wk_tensor *grow(wk_tensor *x, void *user)
{
    (void)user;
    return wk_full(((int64_t)wk_item(x) + 1), wk_item(x), .dtype = WK_F32);
}

/* Pads x with zeros to the longest of the batch; adds the lengths as a third tensor. */
static bool pad_all(wk_sample *batch, const wk_sample *samples, int64_t count, void *user)
{
    wk_tensor *x[8], *y[8], *lengths[8];
    int64_t longest = 0;
    if (user && samples[0].index == *(int64_t *)user) return false;
    for (int64_t k = 0; k < count; k++)
        if (wk_size(samples[k].tensors[0], 0) > longest) longest = wk_size(samples[k].tensors[0], 0);
    for (int64_t k = 0; k < count; k++) {
        const int64_t n = wk_size(samples[k].tensors[0], 0);
        x[k] = wk_cat((samples[k].tensors[0], wk_zeros((longest - n))), 0);
        y[k] = samples[k].tensors[1];
        lengths[k] = wk_full((), (double)n, .dtype = WK_I64);
    }
    batch->tensors[0] = wk_stack(WK_ARRAY(x, count), 0);
    batch->tensors[1] = wk_stack(WK_ARRAY(y, count), 0);
    batch->tensors[2] = wk_stack(WK_ARRAY(lengths, count), 0);
    batch->count = 3;
    return true;
}

static void a_function_makes_the_batch(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_dataset *data = wk_data_map(numbered_samples(5), grow, NULL);
    for (int workers = 0; workers < 3; workers++)
        WK_EACH(batch, wk_data_loader(data, .batch_size = 2, .collate = pad_all, .workers = workers))
        {
            assert_int_equal(batch->count, 3);
            if (batch->index == 0) EXPECT_VALUES(batch->x, 0, 0, 0, 1, 1);
            if (batch->index == 1) EXPECT_SHAPE(batch->x, 2, 4);
            if (batch->index == 1) EXPECT_VALUES(batch->tensors[2], 0, 3, 4);
            if (batch->index == 2) EXPECT_VALUES(batch->x, 0, 4, 4, 4, 4, 4);
            if (batch->index == 2) EXPECT_VALUES(batch->y, 0, 4);
        }
    expect_ok();
    wk_tensor *one = wk_ones((5, 1));
    WK_EACH(batch, wk_data_loader(wk_data_tensors(one, wk_arange(5)), .batch_size = 5, .collate = pad_all))
    EXPECT_SHAPE(batch->x, 5, 1); /* stored samples become tensors */
    expect_ok();
}

static bool set_nothing(wk_sample *batch, const wk_sample *samples, int64_t count, void *user)
{
    (void)samples, (void)count, (void)user;
    batch->count = 1;
    return true;
}

static void errors_of_collate(void **state)
{
    (void)state;
    WK_SCOPE;
    int64_t fails_at = 2;
    wk_dataset *data = wk_data_map(numbered_samples(5), grow, NULL);
    for (int workers = 0; workers < 2; workers++) {
        int rounds = 0;
        WK_EACH(batch, wk_data_loader(data, .batch_size = 2, .collate = pad_all, .collate_user = &fails_at,
                                      .workers = workers))
        rounds += batch->count == 3;
        assert_int_equal(rounds, 1);
        expect_error("data_loader: .collate: the function failed without an error",
                     "(in the batch of sample 2 of the loader at ", NULL);
    }
    WK_EACH(batch, wk_data_loader(data, .collate = set_nothing)) assert_null(batch->x);
    expect_error("data_loader: .collate: tensor 0 that the function set is NULL", NULL);
    WK_EACH(batch, wk_data_loader(data, .batch_size = 2)) assert_null(batch->x);
    expect_error("data_loader: tensor 0 of sample 1 is f32[2], but that of sample 0 ", "wk_data_map or .collate", NULL);
}

static void allocation_failures(void **state)
{
    (void)state;
    for (int64_t n = 1; n < 250; n++) {
        WK_SCOPE;
        wk_tensor *weights = wk_ones((5));
        wk_sync();
        wk__alloc_fail_at(n);
        wk_dataset *data = wk_data_map(numbered_samples(5), grow, NULL);
        wk_loader *loader = wk_data_loader(data, .batch_size = 3, .weights = weights, .no_replacement = n % 2,
                                           .collate = pad_all, .workers = (int)n % 3);
        int rounds = 0;
        WK_EACH(batch, loader) rounds += batch->count == 3;
        wk__alloc_fail_at(0);
        if (rounds < 2) assert_non_null(wk_error());
        wk_clear_error();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_weight_of_zero_is_never_drawn),
        cmocka_unit_test(a_list_of_indices),
        cmocka_unit_test(draws_with_replacement),
        cmocka_unit_test(draws_without_replacement),
        cmocka_unit_test(repeated_samples_differ),
        cmocka_unit_test(nothing_to_draw),
        cmocka_unit_test(invalid_weights),
        cmocka_unit_test(a_function_makes_the_batch),
        cmocka_unit_test(errors_of_collate),
        cmocka_unit_test(allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
