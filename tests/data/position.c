/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the position of a loader: another loader continues from it, with any number of ranks and any batch size. */
#include "support/wick.h"

#include <data/loader_state.h>

enum { MOST = 64 };

static wk_dataset *numbered_samples(int64_t n)
{
    return wk_data_tensors(wk_arange(n), NULL);
}

static wk_loader *loader_of(int64_t samples, int64_t batch, int rank, int world, bool drop_last)
{
    wk_loader *l = wk_data_loader(numbered_samples(samples), .batch_size = batch, .shuffle = true, .seed = 9,
                                  .rank = rank, .world = world, .drop_last = drop_last);
    expect_ok();
    return l;
}

/* Writes the samples of a loop in order, of the first `batches` batches (-1: all); returns their number. */
static int64_t samples_of(wk_loader *loader, int batches, int64_t *out, wk__loader_state *at)
{
    int64_t count = 0;
    WK_EACH(batch, loader)
    {
        if (batches == 0) break;
        const int64_t n = wk_size(batch->x, 0);
        assert_int_equal(wk_read(batch->x, out + count, (size_t)n * sizeof *out), WK_OK);
        count += n;
        if (at) *at = wk__loader_get_state(loader);
        if (--batches == 0) break;
    }
    expect_ok();
    return count;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* After `batches` batches in each rank of one world, another world continues. */
static void expect_continuation(int64_t samples, int batches, const int64_t *batch, const int *world)
{
    WK_SCOPE;
    int64_t order[MOST], seen[MOST], left[MOST], share = (samples + world[0] - 1) / world[0], met[MOST] = {0};
    assert_int_equal(samples_of(loader_of(samples, 100, 0, 1, false), -1, order, NULL), samples);
    wk__loader_state at = {0};
    for (int rank = 0; rank < world[0]; rank++) {
        wk__loader_state own;
        samples_of(loader_of(samples, batch[0], rank, world[0], false), batches, seen, &own);
        if (rank > 0) assert_memory_equal(&own, &at, sizeof at); /* all ranks have the same position */
        at = own;
    }
    const int64_t taken = smaller(smaller(batches * batch[0], share) * world[0], samples);
    assert_int_equal(at.consumed, taken);
    assert_int_equal(at.epoch, 0);
    assert_int_equal(at.samples, samples);
    for (int rank = 0; rank < world[1]; rank++) {
        wk_loader *l = loader_of(samples, batch[1], rank, world[1], false);
        assert_true(wk__loader_check_state(l, &at, WK_HERE, "op", "path"));
        wk__loader_set_state(l, &at);
        const int64_t count = samples_of(l, -1, left, NULL), rest = samples - taken;
        assert_int_equal(count, (rest + world[1] - 1) / world[1]);
        for (int64_t k = 0; k < count; k++) {
            assert_int_equal(left[k], order[(taken + k * world[1] + rank) % samples]);
            met[left[k]]++;
        }
        assert_int_equal(wk_loader_epoch(l), 1); /* a complete epoch follows */
        assert_int_equal(samples_of(l, -1, left, NULL), (samples + world[1] - 1) / world[1]);
    }
    /* each remaining sample once, then the first ones of the order to fill the last round */
    const int64_t rounds = (samples - taken + world[1] - 1) / world[1];
    for (int64_t k = taken; k < taken + rounds * world[1]; k++) met[order[k % samples]]--;
    for (int64_t k = 0; k < samples; k++)
        if (met[k])
            fail_msg("%lld samples, %d ranks, %d batches of %lld, then %d ranks: sample %lld", (long long)samples,
                     world[0], batches, (long long)batch[0], world[1], (long long)k);
}

static void on_any_number_of_ranks(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 3, 5};
    for (int64_t samples = 1; samples <= 23; samples += samples < 3 ? 1 : 10)
        for (int before = 1; before <= 4; before++)
            for (int after = 1; after <= 4; after++)
                for (size_t a = 0; a < 3; a++)
                    for (int batches = 1; (batches - 1) * sizes[a] * before < samples; batches += 2)
                        expect_continuation(samples, batches,
                                            (const int64_t[]){sizes[a], sizes[(a + (size_t)after) % 3]},
                                            (const int[]){before, after});
}

/* A complete batch with .drop_last: the remainder is not a batch. */
static void without_the_last_batch(void **state)
{
    (void)state;
    WK_SCOPE;
    int64_t seen[MOST];
    wk__loader_state at = {0};
    wk_loader *l = loader_of(10, 4, 0, 1, true), *other = loader_of(10, 4, 0, 1, true);
    assert_int_equal(samples_of(l, -1, seen, &at), 8);
    assert_int_equal(at.consumed, 8);
    wk__loader_set_state(other, &at);
    assert_int_equal(samples_of(other, -1, seen, NULL), 0);
    assert_int_equal(samples_of(other, -1, seen, NULL), 8);
}

static void before_and_between_loops(void **state)
{
    (void)state;
    WK_SCOPE;
    int64_t seen[MOST];
    wk_loader *l = loader_of(10, 4, 0, 1, false);
    wk__loader_state at = wk__loader_get_state(l);
    assert_true(at.epoch == 0 && at.consumed == 0 && at.seed == 9 && at.shuffle == 1 && at.world == 1);
    samples_of(l, 1, seen, NULL); /* left by break: the rest is dropped */
    at = wk__loader_get_state(l);
    assert_true(at.epoch == 1 && at.consumed == 0);
    at.consumed = 4;
    wk__loader_set_state(l, &at);
    assert_int_equal(wk_loader_epoch(l), 1);
    const wk__loader_state again = wk__loader_get_state(l);
    assert_memory_equal(&again, &at, sizeof at);
    WK_EACH(batch, l) assert_true(batch->index >= 1);
    at = wk__loader_get_state(l);
    assert_true(at.epoch == 2 && at.consumed == 0);
    assert_int_equal(wk_loader_epoch(NULL), 0);
}

/* An index counts batches of this loader's size. */
static void the_index_of_a_batch(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_loader *l = loader_of(23, 2, 1, 3, false); /* shares of 8 */
    wk__loader_state at = wk__loader_get_state(l);
    static const int64_t taken[] = {0, 5, 6, 7, 12, 22, 23}, first[] = {0, 1, 1, 2, 2, 4, -1};
    for (size_t k = 0; k < sizeof taken / sizeof *taken; k++) {
        at.consumed = taken[k];
        wk__loader_set_state(l, &at);
        int64_t index = -1;
        WK_EACH(batch, l)
        {
            index = batch->index;
            break;
        }
        assert_int_equal(index, first[k]);
    }
    expect_ok();
}

static void refuses(wk_loader *l, wk__loader_state at, wk_code code, const char *first, const char *second)
{
    assert_false(wk__loader_check_state(l, &at, WK_HERE, "op", "path"));
    assert_int_equal(wk_error_code(), code);
    expect_error("op: path: ", first, second, NULL);
}

static void invalid_positions(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_loader *l = loader_of(10, 4, 0, 1, false), *order = wk_data_loader(numbered_samples(10));
    const wk__loader_state at = wk__loader_get_state(l);
    wk__loader_state p = at;
    p.samples = 11;
    refuses(l, p, WK_ERR_ARGUMENT, "has 10 samples", "had 11");
    p = at, p.seed = 10;
    refuses(l, p, WK_ERR_ARGUMENT, ".seed of the loader is 9", "was 10");
    assert_true(wk__loader_check_state(order, &(wk__loader_state){.seed = 10, .samples = 10}, WK_HERE, "op",
                                       "path")); /* unusable */
    refuses(order, at, WK_ERR_ARGUMENT, "in a fixed order", "");
    p = at, p.shuffle = 0;
    refuses(l, p, WK_ERR_ARGUMENT, "in random order", "");
    for (int k = 0; k < 4; k++) {
        p = at;
        if (k == 0) p.epoch = -1;
        if (k == 1) p.consumed = -1;
        if (k == 2) p.consumed = 11;
        if (k == 3) p.epoch = INT64_MIN;
        refuses(l, p, WK_ERR_FORMAT, "invalid position", "");
    }
    WK_EACH(batch, l)
    {
        assert_false(wk__loader_check_state(l, &at, WK_HERE, "op", "path"));
        assert_int_equal(wk_error_code(), WK_ERR_STATE);
        expect_error("op: ", "a WK_EACH loop over the loader is in progress", "data/position.c:", NULL);
        (void)batch;
    }
    assert_true(wk__loader_check_state(l, &at, WK_HERE, "op", "path"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_any_number_of_ranks),   cmocka_unit_test(without_the_last_batch),
        cmocka_unit_test(before_and_between_loops), cmocka_unit_test(the_index_of_a_batch),
        cmocka_unit_test(invalid_positions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
