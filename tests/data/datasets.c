/* SPDX-License-Identifier: Apache-2.0 */
/* Tests datasets that functions of the user provide or that are made of others: subsets, splits, lists, caches. */
#include "support/wick.h"

#include "hostile/scratch.h"
#include <base/alloc.h>

#include <math.h>
#include <stdatomic.h>

enum { SAMPLES = 30 };

/* n samples: x[k] = (k, -k), y[k] = k % 3 */
static wk_dataset *numbered_samples(int64_t n)
{
    wk_tensor *k = wk_arange(n), *x = wk_stack((k, wk_mul(k, -1)), 1);
    return wk_data_tensors(wk_to_dtype(x, WK_F32), wk_remainder(k, 3));
}

/* Writes the first number of x of each sample; returns the number of samples. */
static int64_t numbers_of(wk_dataset *data, int64_t *out)
{
    for (int64_t k = 0; k < wk_data_size(data); k++) {
        WK_SCOPE;
        wk_sample sample;
        assert_int_equal(wk_data_get(data, k, &sample), WK_OK);
        assert_int_equal(sample.index, k);
        out[k] = (int64_t)wk_item(wk_select(wk_reshape(sample.tensors[0], (-1)), 0, 0));
    }
    expect_ok();
    return wk_data_size(data);
}

static void single_samples(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_sample sample;
    wk_dataset *data = numbered_samples(SAMPLES);
    {
        WK_SCOPE;
        assert_int_equal(wk_data_get(data, 7, &sample), WK_OK);
        assert_int_equal(sample.count, 2);
        EXPECT_VALUES(sample.tensors[0], 0, 7, -7);
        EXPECT_VALUES(sample.tensors[1], 0, 1);
        assert_null(sample.tensors[2]);
    }
    assert_int_equal(wk_data_get(wk_data_mnist(source_file("data/mnist"), .train = false), 0, &sample), WK_OK);
    EXPECT_SHAPE(sample.tensors[0], 1, 28, 28);
    EXPECT_VALUES(sample.tensors[1], 0, 7);
    assert_int_equal(wk_data_get(data, SAMPLES, &sample), WK_ERR_INDEX);
    expect_error("data_get: index 30 is out of range for 30 samples", NULL);
    assert_int_equal(sample.count, 0);
    assert_int_equal(wk_data_get(data, -1, &sample), WK_ERR_INDEX);
    expect_error("data_get: index -1 is out of range", NULL);
    assert_int_equal(wk_data_get(data, 0, NULL), WK_ERR_ARGUMENT);
    expect_error("data_get: the sample is NULL", NULL);
    assert_int_equal(wk_data_get(NULL, 0, &sample), WK_ERR_ARGUMENT);
    expect_error("data_get", "NULL", NULL);
}

/* ---- of the user ------------------------------------------------------------------------------------------------- */

/* A dataset of `count` samples: index, its square and, for odd ones with `uneven`, a third tensor. */
typedef struct squares {
    int64_t count;
    bool uneven;
    int64_t fails_at;
    int wrong_count;
    wk_tensor *scale;
    atomic_int calls, destroyed;
} squares;

static int64_t count_squares(void *user)
{
    return ((squares *)user)->count;
}

static bool get_square(wk_sample *sample, int64_t index, void *user)
{
    squares *s = user;
    assert_int_equal(sample->index, index);
    atomic_fetch_add(&s->calls, 1);
    if (s->fails_at && index == s->fails_at) return false;
    sample->tensors[0] = wk_full((2), (double)index, .dtype = WK_F32);
    sample->tensors[1] = wk_mul(wk_full((), (double)(index * index), .dtype = WK_I64), 1);
    sample->tensors[2] = wk_rand((2, 1));
    sample->count = s->wrong_count ? s->wrong_count : s->uneven && index % 2 ? 3 : 2;
    return true;
}

static void destroy_squares(void *user)
{
    atomic_fetch_add(&((squares *)user)->destroyed, 1);
}

static const wk_dataset_kind square_kind = {
    .size = sizeof square_kind, .count = count_squares, .get = get_square, .destroy = destroy_squares};

static void functions_of_the_user(void **state)
{
    (void)state;
    squares s = {.count = 5};
    {
        WK_SCOPE;
        wk_loader *loader;
        {
            WK_SCOPE;
            wk_dataset *data = wk_data_new(&square_kind, &s);
            assert_int_equal(wk_data_size(data), 5);
            loader = wk_keep(wk_data_loader(wk_data_slice(data, 1, 5), .batch_size = 2, .workers = 2));
        }
        assert_int_equal(s.destroyed, 0);
        WK_EACH(batch, loader)
        {
            assert_int_equal(batch->count, 2);
            assert_int_equal(wk_dtype_of(batch->y), WK_I64);
            EXPECT_SHAPE(batch->y, 2);
            if (batch->index) EXPECT_VALUES(batch->y, 0, 9, 16);
            if (batch->index) EXPECT_VALUES(batch->x, 0, 3, 3, 4, 4);
        }
        expect_ok();
        assert_int_equal(s.calls, 4);
        wk_sample sample;
        s.wrong_count = 3; /* no error: three tensors are set */
        wk_dataset *again = wk_data_new(&square_kind, &s);
        assert_int_equal(wk_data_get(again, 4, &sample), WK_OK);
        EXPECT_SHAPE(sample.tensors[2], 2, 1);
        assert_int_equal(s.destroyed, 0);
    }
    assert_int_equal(s.destroyed, 2);
}

static void errors_of_such_functions(void **state)
{
    (void)state;
    WK_SCOPE;
    squares s = {.count = 6, .fails_at = 3};
    for (int workers = 0; workers < 2; workers++) {
        int rounds = 0;
        WK_EACH(batch, wk_data_loader(wk_data_new(&square_kind, &s), .batch_size = 2, .workers = workers))
        rounds += batch->count == 2;
        assert_int_equal(rounds, 1);
        assert_int_equal(wk_error_code(), WK_ERR_STATE);
        expect_error("data_new: the function failed without an error (in sample 3 of the loader at ", NULL);
    }
    s.fails_at = 0;
    s.uneven = true;
    WK_EACH(batch, wk_data_loader(wk_data_new(&square_kind, &s), .batch_size = 2)) assert_null(batch->x);
    expect_error("data_loader: sample 1 has 3 tensors, but sample 0 of the same batch has 2", NULL);
    s.wrong_count = 9;
    WK_EACH(batch, wk_data_loader(wk_data_new(&square_kind, &s))) assert_null(batch->x);
    expect_error("data_new: the function set sample->count, the number of tensors, to 9; it must be in [1, 8]",
                 "sample 0", NULL);
    s.wrong_count = 5;
    WK_EACH(batch, wk_data_loader(wk_data_new(&square_kind, &s))) assert_null(batch->x);
    expect_error("data_new: tensor 3 that the function set is NULL", "sample 0", NULL);
    s.count = -1;
    assert_null(wk_data_new(&square_kind, &s));
    expect_error("data_new: .count returned -1", NULL);
    assert_null(wk_data_new(NULL, &s));
    expect_error("data_new: the kind is NULL", NULL);
    assert_null(wk_data_new(&(wk_dataset_kind){.count = count_squares, .get = get_square}, &s));
    expect_error("data_new: set .size = sizeof(wk_dataset_kind) first", NULL);
    assert_null(wk_data_new(&(wk_dataset_kind){.size = sizeof(wk_dataset_kind), .count = count_squares}, &s));
    expect_error("data_new: .get is NULL", NULL);
    assert_null(wk_data_new(&(wk_dataset_kind){.size = sizeof(wk_dataset_kind), .get = get_square}, &s));
    expect_error("data_new: .count is NULL", NULL);
}

/* Exchanges x and y, and adds a third tensor. */
static bool exchange(wk_sample *sample, void *user)
{
    wk_tensor *x = sample->tensors[0];
    sample->tensors[0] = sample->tensors[1];
    sample->tensors[1] = x;
    sample->tensors[2] = wk_full((1), (double)sample->index, .dtype = WK_F32);
    sample->count = 3;
    return sample->index != *(int *)user;
}

static void whole_samples_are_mapped(void **state)
{
    (void)state;
    WK_SCOPE;
    int fails_at = -1;
    wk_dataset *data = wk_data_map_samples(wk_data_slice(numbered_samples(SAMPLES), 4, 8), exchange, &fails_at);
    WK_EACH(batch, wk_data_loader(data, .batch_size = 2, .workers = 1))
    {
        if (batch->index == 0) continue;
        assert_int_equal(batch->count, 3);
        EXPECT_VALUES(batch->x, 0, 0, 1);
        EXPECT_VALUES(batch->y, 0, 6, -6, 7, -7);
        EXPECT_VALUES(batch->tensors[2], 0, 2, 3);
        EXPECT_SHAPE(batch->tensors[2], 2, 1);
    }
    expect_ok();
    fails_at = 2;
    WK_EACH(batch, wk_data_loader(data, .batch_size = 2)) assert_int_equal(batch->index, 0);
    expect_error("data_map_samples: the function failed without an error (in sample 2 of ", NULL);
    assert_null(wk_data_map_samples(data, NULL, NULL));
    expect_error("data_map_samples: the function is NULL", NULL);
}

/* ---- subsets ----------------------------------------------------------------------------------------------------- */

static void subsets(void **state)
{
    (void)state;
    WK_SCOPE;
    int64_t seen[8];
    wk_dataset *data = numbered_samples(10), *few = wk_data_subset(data, wk_of(int64_t, (5), 9, 0, 4, 4, 7));
    assert_int_equal(numbers_of(wk_data_slice(few, 1, 5), seen), 4);
    assert_memory_equal(seen, ((int64_t[]){0, 4, 4, 7}), 4 * sizeof *seen);
    assert_int_equal(numbers_of(wk_data_subset(few, wk_of(int64_t, (2), 0, 4)), seen), 2);
    assert_memory_equal(seen, ((int64_t[]){9, 7}), 2 * sizeof *seen);
    assert_int_equal(wk_data_size(wk_data_subset(data, wk_zeros((0), .dtype = WK_I64))), 0);
    WK_EACH(batch, wk_data_loader(few, .batch_size = 5)) EXPECT_VALUES(batch->y, 0, 0, 0, 1, 1, 1);
    assert_null(wk_data_subset(data, wk_of(int64_t, (2), 1, 10)));
    assert_int_equal(wk_error_code(), WK_ERR_INDEX);
    expect_error("data_subset: element 1 of the indices is 10, out of range for 10 samples", NULL);
    assert_null(wk_data_subset(data, wk_of(int64_t, (1), -1)));
    expect_error("data_subset: element 0 of the indices is -1", NULL);
    assert_null(wk_data_subset(data, wk_zeros((2))));
    assert_int_equal(wk_error_code(), WK_ERR_DTYPE);
    expect_error("data_subset: the indices must be i64 with one dimension, got f32[2]", NULL);
    assert_null(wk_data_subset(data, wk_zeros((2, 1), .dtype = WK_I64)));
    assert_int_equal(wk_error_code(), WK_ERR_SHAPE);
    expect_error("data_subset: the indices must be i64 with one dimension, got i64[2,1]", NULL);
    assert_null(wk_data_subset(data, NULL));
    expect_error("data_subset: the indices", "NULL", NULL);
}

static void lists_of_datasets(void **state)
{
    (void)state;
    WK_SCOPE;
    int64_t seen[20];
    wk_dataset *data = numbered_samples(10),
               *parts[3] = {wk_data_slice(data, 7, 9), wk_data_slice(data, 2, 2), wk_data_slice(data, 0, 3)};
    wk_dataset *all = wk_data_concat((parts[0], parts[1], parts[2]));
    for (int k = 0; k < 2; k++) {
        assert_int_equal(numbers_of(all, seen), 5);
        assert_memory_equal(seen, ((int64_t[]){7, 8, 0, 1, 2}), 5 * sizeof *seen);
        all = wk_data_concat(WK_ARRAY(parts, 3));
    }
    assert_int_equal(numbers_of(wk_data_concat((data)), seen), 10);
    wk_dataset *wide = wk_data_tensors(wk_ones((2, 3)), wk_zeros((2), .dtype = WK_I64));
    WK_EACH(batch, wk_data_loader(wk_data_concat((data, wide)), .batch_size = 6)) assert_int_equal(batch->index, 0);
    assert_int_equal(wk_error_code(), WK_ERR_SHAPE);
    expect_error("data_loader: tensor 0 of sample 10 is f32[3], but that of sample 6 of the same batch is f32[2]",
                 NULL);
    assert_null(wk_data_concat(WK_ARRAY(parts, 0)));
    expect_error("data_concat: expected 1 to 2^31 - 1 datasets, got 0", NULL);
    assert_null(wk_data_concat((data, NULL)));
    expect_error("data_concat", "NULL", NULL);
    for (int k = 0; data && k < 300; k++) data = wk_data_concat((data, wide));
    assert_null(data);
    expect_error("data_concat: more than 200 datasets are made of one another", NULL);
}

static bool five_tensors(wk_sample *sample, void *user)
{
    (void)user;
    for (sample->count = 0; sample->count < 5; sample->count++) sample->tensors[sample->count] = wk_ones((1));
    return true;
}

static void datasets_side_by_side(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_dataset *pairs = numbered_samples(5),
               *more = wk_data_tensors(wk_reshape(wk_arange(100, 110), (5, 2)), wk_arange(200, 205));
    wk_dataset *all = wk_data_stack((pairs, more)), *listed[2] = {pairs, more};
    for (int k = 0; k < 2; k++) {
        assert_int_equal(wk_data_size(all), 5);
        int64_t seen = 0;
        WK_EACH(batch, wk_data_loader(all, .batch_size = 2))
        {
            assert_int_equal(batch->count, 4);
            for (int64_t row = 0; row < wk_size(batch->y, 0); row++, seen++) {
                assert_int_equal(wk_item_i64(wk_select(batch->y, 0, row)), seen % 3);
                assert_int_equal(wk_item_i64(wk_select(wk_select(batch->tensors[2], 0, row), 0, 1)), 101 + 2 * seen);
                assert_int_equal(wk_item_i64(wk_select(batch->tensors[3], 0, row)), 200 + seen);
            }
        }
        assert_int_equal(seen, 5);
        all = wk_data_stack(WK_ARRAY(listed, 2));
    }
    wk_sample sample;
    assert_int_equal(wk_data_get(wk_data_stack((wk_data_slice(all, 1, 3), wk_data_slice(all, 3, 5))), 1, &sample),
                     WK_OK);
    assert_int_equal(sample.count, 8);
    assert_int_equal(wk_item_i64(sample.tensors[3]), 202);
    assert_int_equal(wk_item_i64(sample.tensors[7]), 204);
    assert_int_equal(wk_data_size(wk_data_stack((wk_data_slice(all, 2, 2)))), 0);
    expect_ok();
}

static void datasets_side_by_side_errors(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_dataset *data = numbered_samples(5), *none[1] = {data};
    assert_null(wk_data_stack((data, wk_data_slice(data, 0, 4))));
    assert_int_equal(wk_error_code(), WK_ERR_SHAPE);
    expect_error("data_stack: dataset 0 has 5 samples, but dataset 1 has 4", NULL);
    assert_null(wk_data_stack(WK_ARRAY(none, 0)));
    expect_error("data_stack: expected 1 to 2^31 - 1 datasets, got 0", NULL);
    assert_null(wk_data_stack((data, NULL)));
    expect_error("data_stack", "NULL", NULL);
    assert_null(wk_data_stack((data, data, data, data, data)));
    expect_error("data_stack: a sample would have more than 8 tensors", NULL);
    /* functions of the program decide how many tensors a sample has, so that a loader reports the error */
    wk_dataset *five = wk_data_map_samples(data, five_tensors, NULL), *ten = wk_data_stack((five, five));
    assert_non_null(ten);
    WK_EACH(batch, wk_data_loader(ten)) assert_null(batch);
    expect_error("data_stack: a sample would have more than 8 tensors", NULL);
    wk_tensor *ids = wk_arange(0, 100);
    wk_dataset *two = wk_text_windows(wk_narrow(ids, 0, 0, 81), 5, .batch_size = 2),
               *four = wk_text_windows(ids, 5, .batch_size = 4);
    assert_null(wk_data_stack((two, four)));
    expect_error("data_stack: the datasets are partitions for batches of 2 and 4", NULL);
    WK_EACH(batch, wk_data_loader(wk_data_stack((two, two)), .batch_size = 3)) assert_null(batch);
    expect_error("data_loader", NULL);
    wk_dataset *deep = data;
    for (int k = 0; deep && k < 300; k++) deep = wk_data_stack((deep));
    assert_null(deep);
    expect_error("data_stack: more than 200 datasets are made of one another", NULL);
}

/* ---- splits ------------------------------------------------------------------------------------------------------ */

/* Checks that the parts have the given sizes and together each of n samples once. */
static void expect_split(wk_dataset *const *parts, int count, const int64_t *sizes, int64_t n)
{
    int64_t seen[100] = {0}, met[100] = {0};
    for (int p = 0; p < count; p++) {
        assert_int_equal(numbers_of(parts[p], seen), sizes[p]);
        for (int64_t k = 0; k < sizes[p]; k++) met[seen[k]]++;
    }
    for (int64_t k = 0; k < n; k++) assert_int_equal(met[k], 1);
}

static void random_splits(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_dataset *data = numbered_samples(11), *parts[3], *same[2], *other[2];
    assert_int_equal(wk_data_random_split(data, (2, 0, 9), parts), WK_OK);
    expect_split(parts, 3, (int64_t[]){2, 0, 9}, 11);
    assert_int_equal(wk_data_random_split(data, (0.5, 0.3, 0.2), parts, .seed = 3), WK_OK);
    expect_split(parts, 3, (int64_t[]){6, 3, 2}, 11); /* 5 + 1, 3, 2 */
    const double lengths[] = {5, 6};
    int64_t a[6], b[6];
    assert_int_equal(wk_data_random_split(data, WK_ARRAY(lengths, 2), same, .seed = 3), WK_OK);
    assert_int_equal(wk_data_random_split(data, (5, 6), other, .seed = 3), WK_OK);
    numbers_of(same[1], a), numbers_of(other[1], b);
    assert_memory_equal(a, b, sizeof a);
    assert_int_equal(wk_data_random_split(data, (5, 6), other, .seed = 4), WK_OK);
    numbers_of(other[1], b);
    assert_memory_not_equal(a, b, sizeof a);
    expect_ok();
    assert_int_equal(wk_data_random_split(data, (5, 5), parts), WK_ERR_ARGUMENT);
    assert_null(parts[0]);
    expect_error("data_random_split: the lengths add up to 10; pass sizes that add up to the 11 samples, or fractions",
                 NULL);
    assert_int_equal(wk_data_random_split(data, (-1, 12), parts), WK_ERR_ARGUMENT);
    expect_error("data_random_split: length 0 is -1", NULL);
    assert_int_equal(wk_data_random_split(data, WK_ARRAY(lengths, 0), parts), WK_ERR_ARGUMENT);
    expect_error("data_random_split: expected at least one length, got 0", NULL);
    assert_int_equal(wk_data_random_split(data, (5, 6), NULL), WK_ERR_ARGUMENT);
    expect_error("data_random_split: the array of parts is NULL", NULL);
}

static void stratified_splits(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_dataset *data = numbered_samples(60), *parts[3];
    assert_int_equal(wk_data_random_split(data, (0.5, 0.3, 0.2), parts, .stratify = true), WK_OK);
    expect_split(parts, 3, (int64_t[]){30, 18, 12}, 60);
    for (int p = 0; p < 3; p++) {
        int labels[3] = {0}, sorted = 1;
        int64_t seen[30];
        const int64_t count = numbers_of(parts[p], seen);
        for (int64_t k = 0; k < count; k++) {
            labels[seen[k] % 3]++;
            sorted = sorted && (k == 0 || seen[k - 1] % 3 <= seen[k] % 3);
        }
        for (int label = 0; label < 3; label++) assert_in_range(labels[label], count / 3 - 1, count / 3 + 1);
        assert_false(sorted);
    }
    wk_dataset *unlabelled = wk_data_tensors(wk_arange(5), NULL), *floats = wk_data_tensors(wk_arange(5), wk_ones((5)));
    assert_int_equal(wk_data_random_split(unlabelled, (2, 3), parts, .stratify = true), WK_ERR_ARGUMENT);
    expect_error("data_random_split: .stratify needs one integer as y of each sample", "(in sample ", NULL);
    assert_int_equal(wk_data_random_split(floats, (2, 3), parts, .stratify = true), WK_ERR_ARGUMENT);
    expect_error("data_random_split: .stratify needs one integer", NULL);
    squares s = {.count = 4, .fails_at = 2};
    assert_int_equal(wk_data_random_split(wk_data_new(&square_kind, &s), (2, 2), parts, .stratify = true),
                     WK_ERR_STATE);
    assert_null(parts[0]);
    wk_clear_error();
}

/* ---- caches ------------------------------------------------------------------------------------------------------ */

static wk_tensor *count_call(wk_tensor *x, void *user)
{
    atomic_fetch_add((atomic_int *)user, 1);
    return wk_add(x, wk_rand((2)));
}

static int64_t floats_of(wk_loader *loader, float *out)
{
    int64_t count = 0;
    WK_EACH(batch, loader)
    {
        const int64_t n = wk_numel(batch->x);
        assert_int_equal(wk_read(batch->x, out + count, (size_t)n * sizeof *out), WK_OK);
        count += n;
    }
    expect_ok();
    return count;
}

static void caches(void **state)
{
    (void)state;
    WK_SCOPE;
    float first[2 * SAMPLES], again[2 * SAMPLES];
    for (int workers = 0; workers < 4; workers++) {
        WK_SCOPE;
        atomic_int calls = 0;
        wk_dataset *data = wk_data_cache(wk_data_map(numbered_samples(SAMPLES), count_call, &calls));
        WK_EACH(batch, wk_data_loader(wk_data_slice(data, 0, 8), .batch_size = 2, .workers = workers))
        {
            if (batch->index == 1) break;
        }
        for (int epoch = 0; epoch < 3; epoch++) {
            wk_loader *loader = wk_data_loader(data, .batch_size = 4, .seed = (uint64_t)epoch, .workers = workers);
            assert_int_equal(floats_of(loader, again), 2 * SAMPLES);
            if (workers == 0 && epoch == 0) memcpy(first, again, sizeof first);
            assert_memory_equal(first, again, sizeof first);
        }
        assert_int_equal(calls, SAMPLES);
        wk_sample sample;
        assert_int_equal(wk_data_get(data, 3, &sample), WK_OK);
        EXPECT_VALUES(sample.tensors[0], 0, (double)first[6], (double)first[7]);
        EXPECT_VALUES(sample.tensors[1], 0, 0);
    }
    for (int k = 2; k < 2 * SAMPLES; k++) assert_true(first[k] - truncf(first[k]) != first[0]);
}

/* Functions above a cache draw new numbers in each epoch, and the same whether the cache has the sample or not. */
static void maps_above_a_cache(void **state)
{
    (void)state;
    WK_SCOPE;
    float first[2][2 * SAMPLES], again[2 * SAMPLES];
    atomic_int below = 0, above = 0;
    for (int k = 0; k < 3; k++) {
        wk_dataset *cache = wk_data_cache(wk_data_map(numbered_samples(SAMPLES), count_call, &below));
        wk_loader *loader = wk_data_loader(wk_data_map(cache, count_call, &above), .batch_size = 5, .workers = k);
        if (k == 2) floats_of(wk_data_loader(cache), again);
        for (int epoch = 0; epoch < 2; epoch++) {
            floats_of(loader, again);
            if (k == 0) memcpy(first[epoch], again, sizeof again);
            assert_memory_equal(first[epoch], again, sizeof again);
        }
    }
    assert_memory_not_equal(first[0], first[1], sizeof again);
    assert_int_equal(below, 3 * SAMPLES);
    assert_int_equal(above, 6 * SAMPLES);
}

static void errors_are_not_cached(void **state)
{
    (void)state;
    WK_SCOPE;
    squares s = {.count = 4, .fails_at = 2};
    wk_dataset *data = wk_data_cache(wk_data_new(&square_kind, &s));
    int64_t seen[4];
    WK_EACH(batch, wk_data_loader(data, .workers = 2)) assert_true(batch->index < 2);
    expect_error("(in sample 2 of ", NULL);
    s.fails_at = 0;
    assert_int_equal(numbers_of(data, seen), 4);
    assert_int_equal(seen[2], 2);
    wk_dataset *plain = numbered_samples(4), *same = wk_data_cache(plain);
    wk_free(plain);
    assert_int_equal(numbers_of(same, seen), 4);
    assert_null(wk_data_cache(NULL));
    expect_error("data_cache", "NULL", NULL);
}

static void allocation_failures(void **state)
{
    (void)state;
    for (int64_t n = 1; n < 250; n++) {
        WK_SCOPE;
        squares s = {.count = 6};
        wk_tensor *indices = wk_of(int64_t, (4), 5, 2, 1, 0);
        wk_sync();
        wk__alloc_fail_at(n);
        wk_dataset *data = wk_data_new(&square_kind, &s), *parts[2];
        wk_dataset *both = wk_data_concat((wk_data_cache(data), wk_data_subset(data, indices)));
        both = wk_data_stack((both, both));
        int rounds = 0;
        if (wk_data_random_split(both, (0.5, 0.5), parts, .stratify = false) == WK_OK)
            WK_EACH(batch, wk_data_loader(parts[1], .batch_size = 5, .workers = (int)n % 2)) rounds += batch->count;
        wk__alloc_fail_at(0);
        if (rounds < 2) assert_non_null(wk_error());
        wk_clear_error();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_samples),
        cmocka_unit_test(functions_of_the_user),
        cmocka_unit_test(errors_of_such_functions),
        cmocka_unit_test(whole_samples_are_mapped),
        cmocka_unit_test(subsets),
        cmocka_unit_test(lists_of_datasets),
        cmocka_unit_test(datasets_side_by_side),
        cmocka_unit_test(datasets_side_by_side_errors),
        cmocka_unit_test(random_splits),
        cmocka_unit_test(stratified_splits),
        cmocka_unit_test(caches),
        cmocka_unit_test(maps_above_a_cache),
        cmocka_unit_test(errors_are_not_cached),
        cmocka_unit_test(allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
