/* SPDX-License-Identifier: Apache-2.0 */
/* Tests wk_data_map: functions of the user on samples, their random numbers and their errors. */
#include "support/wick.h"

#include <base/alloc.h>
#include <base/context.h>

#include <pthread.h>

enum { SAMPLES = 20, MOST = 32 };

/* n samples: x[k] = (k, -k), y[k] = k */
static wk_dataset *numbered_samples(int64_t n)
{
    wk_tensor *k = wk_arange(n), *x = wk_stack((k, wk_mul(k, -1)), 1);
    return wk_data_tensors(wk_to_dtype(x, WK_F32), k);
}

static wk_tensor *add_number(wk_tensor *x, void *user)
{
    return wk_add(x, *(const double *)user);
}

static wk_tensor *only_first(wk_tensor *x, void *user)
{
    (void)user;
    return wk_narrow(x, 0, 0, 1);
}

static wk_tensor *random_pair(wk_tensor *x, void *user)
{
    (void)user;
    const double first = wk_item(wk_randint(0, 1 << 20, ()));
    return wk_add(wk_mul(x, 0), wk_cat((wk_full((1), first, .dtype = WK_F32), wk_rand((1))), 0));
}

/* Writes the floats of x of an epoch; returns their number. */
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

static void replaces_x_or_another_tensor(void **state)
{
    (void)state;
    WK_SCOPE;
    double one = 1, ten = 10;
    wk_dataset *data = numbered_samples(5);
    wk_dataset *both = wk_data_map(wk_data_map(data, add_number, &one), add_number, &ten, .tensor = 1);
    assert_int_equal(wk_data_size(both), 5);
    for (int workers = 0; workers < 3; workers++)
        WK_EACH(batch, wk_data_loader(wk_data_slice(both, 1, 4), .batch_size = 3, .workers = workers))
        {
            assert_int_equal(batch->count, 2);
            assert_ptr_equal(batch->tensors[0], batch->x);
            assert_ptr_equal(batch->tensors[1], batch->y);
            assert_null(batch->tensors[2]);
            EXPECT_VALUES(batch->x, 0, 2, 0, 3, -1, 4, -2);
            EXPECT_VALUES(batch->y, 0, 11, 12, 13);
        }
    WK_EACH(batch, wk_data_loader(wk_data_map(data, only_first, NULL), .batch_size = 5))
    EXPECT_SHAPE(batch->x, 5, 1);
    WK_EACH(batch, wk_data_loader(data, .batch_size = 5)) EXPECT_VALUES(batch->x, 0, 0, 0, 1, -1, 2, -2, 3, -3, 4, -4);
    expect_ok();
}

/* The numbers depend on seed, epoch and sample, and on nothing else. */
static void draws_from_the_stream_of_the_sample(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_dataset *data = wk_data_map(numbered_samples(SAMPLES), random_pair, NULL);
    float first[2][2 * SAMPLES], again[2 * SAMPLES];
    wk_loader *plain = wk_data_loader(data, .batch_size = 3, .seed = 5);
    for (int epoch = 0; epoch < 2; epoch++) assert_int_equal(floats_of(plain, first[epoch]), 2 * SAMPLES);
    for (int k = 0; k < 2 * SAMPLES; k++) {
        assert_true(first[0][k] != first[1][k]);
        for (int other = k + 2; other < 2 * SAMPLES; other += 2) assert_true(first[0][k] != first[0][other]);
    }
    for (int workers = 0; workers < 5; workers++) {
        wk_seed((uint64_t)workers);
        wk_loader *loader = wk_data_loader(data, .batch_size = 7 - workers, .seed = 5, .workers = workers);
        for (int epoch = 0; epoch < 2; epoch++) {
            assert_int_equal(floats_of(loader, again), 2 * SAMPLES);
            assert_memory_equal(first[epoch], again, sizeof again);
        }
    }
    floats_of(wk_data_loader(data, .batch_size = 3, .seed = 6), again);
    for (int k = 0; k < 2 * SAMPLES; k++) assert_true(again[k] != first[0][k]);
}

static void shuffled_samples_keep_their_streams(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_dataset *data = wk_data_map(numbered_samples(SAMPLES), random_pair, NULL);
    float first[2 * SAMPLES], rank_floats[2 * SAMPLES];
    floats_of(wk_data_loader(data), first);
    for (int rank = 0; rank < 3; rank++) {
        int64_t seen = 0;
        WK_EACH(batch, wk_data_loader(data, .shuffle = true, .rank = rank, .world = 3, .workers = 2))
        {
            const int64_t sample = wk_item_i64(batch->y);
            assert_int_equal(wk_read(batch->x, rank_floats, 2 * sizeof(float)), WK_OK);
            assert_memory_equal(rank_floats, first + 2 * sample, 2 * sizeof(float));
            seen++;
        }
        assert_int_equal(seen, 7);
    }
    expect_ok();
}

/* The function neither draws from the caller's stream nor sees its grad mode, device or scopes. */
static wk_tensor *check_context(wk_tensor *x, void *user)
{
    wk_tensor *weight = user;
    if (wk_is_grad_enabled()) wk_reshape(x, (99)); /* an error */
    wk_tensor *y = wk_mul(x, weight);
    return wk_requires_grad(y) ? NULL : y;
}

static void runs_apart_from_the_program(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *weight = wk_full((2), 2.0, .requires_grad = true);
    wk_dataset *data = wk_data_map(wk_data_map(numbered_samples(4), random_pair, NULL), check_context, weight);
    for (int workers = 0; workers < 2; workers++) {
        wk_seed(3);
        const double expected = wk_item(wk_rand((1)));
        wk_seed(3);
        WK_EACH(batch, wk_data_loader(data, .batch_size = 4, .workers = workers))
        assert_false(wk_requires_grad(batch->x));
        assert_true(wk_item(wk_rand((1))) == expected);
    }
    expect_ok();
}

static void *stream_of_a_thread(void *user)
{
    *(int64_t *)user = wk__context()->stream;
    return NULL;
}

/* The random stream of a thread does not depend on the loops before. */
static void takes_no_stream_of_a_thread(void **state)
{
    (void)state;
    int64_t before = -1;
    for (int workers = 0; workers < 4; workers++) {
        WK_SCOPE;
        int64_t now;
        pthread_t thread;
        wk_dataset *data = wk_data_map(numbered_samples(SAMPLES), random_pair, NULL);
        if (before >= 0) WK_EACH(batch, wk_data_loader(data, .workers = workers)) assert_non_null(batch->x);
        assert_int_equal(pthread_create(&thread, NULL, stream_of_a_thread, &now), 0);
        pthread_join(thread, NULL);
        if (before >= 0) assert_int_equal(now, before + 1);
        before = now;
    }
    expect_ok();
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/* Functions that fail for sample 9, whose first element is 9. */
static wk_tensor *wrong_call(wk_tensor *x, void *user)
{
    (void)user;
    return wk_item(wk_select(x, 0, 0)) == 9 ? wk_reshape(x, (7)) : x;
}
static wk_tensor *null_result(wk_tensor *x, void *user)
{
    (void)user;
    return wk_item(wk_select(x, 0, 0)) == 9 ? NULL : x;
}
static wk_tensor *stale_result(wk_tensor *x, void *user)
{
    (void)user;
    if (wk_item(wk_select(x, 0, 0)) != 9) return x;
    wk_tensor *stale;
    {
        WK_SCOPE;
        stale = wk_exp(x);
    }
    return stale;
}
static wk_tensor *other_shape(wk_tensor *x, void *user)
{
    (void)user;
    return wk_item(wk_select(x, 0, 0)) == 9 ? wk_cat((x, x), 0) : x;
}
static wk_tensor *other_dtype(wk_tensor *x, void *user)
{
    (void)user;
    return wk_item(wk_select(x, 0, 0)) == 9 ? wk_to_dtype(x, WK_F64) : x;
}
/* An index that a kernel finds out of range when the result is computed, if the first element is 18 or more. */
static wk_tensor *far_index(wk_tensor *x, void *user)
{
    (void)user;
    return wk_index_select(x, 0, wk_to_dtype(wk_floor_divide(wk_narrow(x, 0, 0, 1), 9), WK_I64));
}

static void an_error_is_that_of_the_loop(void **state)
{
    (void)state;
    static const struct {
        wk_data_transform *f;
        wk_code code;
        const char *words[3];
    } cases[] = {
        {wrong_call, WK_ERR_SHAPE, {"data/map.c:", "reshape: ", "(in sample 9 of the loader at "}},
        {null_result, WK_ERR_STATE, {"data_map: the function returned NULL", "(in sample 9 of the loader at "}},
        {stale_result, WK_ERR_STATE, {"data_map: the result of the function", "scope", "(in sample 9 of the loader"}},
        {other_shape, WK_ERR_SHAPE, {"data_loader: tensor 0 of sample 9 is f32[4], but that of sample 8 ", "f32[2]"}},
        {other_dtype, WK_ERR_DTYPE, {"data_loader: tensor 0 of sample 9 is f64[2], but that of sample 8 ", "f32[2]"}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int workers = 0; workers < 4; workers++) {
            WK_SCOPE;
            wk_loader *loader = wk_data_loader(wk_data_map(numbered_samples(SAMPLES), cases[c].f, NULL),
                                               .batch_size = 4, .workers = workers);
            for (int loop = 0; loop < 2; loop++) {
                int rounds = 0;
                WK_EACH(batch, loader) rounds += batch->index == rounds;
                assert_int_equal(rounds, 2);
                assert_int_equal(wk_error_code(), cases[c].code);
                expect_error(cases[c].words[0], cases[c].words[1], cases[c].words[2], NULL);
            }
            assert_int_equal(wk_loader_epoch(loader), 2);
        }
}

static void a_late_error_names_the_sample(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_dataset *data = wk_data_map(wk_data_slice(numbered_samples(SAMPLES), 1, SAMPLES), far_index, NULL);
    for (int workers = 0; workers < 3; workers++) {
        int rounds = 0;
        WK_EACH(batch, wk_data_loader(data, .batch_size = 4, .workers = workers)) rounds += batch->index == rounds;
        assert_int_equal(rounds, 4);
        assert_int_equal(wk_error_code(), WK_ERR_INDEX);
        expect_error("data/map.c:", "index", "(in sample 17 of the loader at ", NULL);
    }
}

static int handled;
static void count_errors(void *user, wk_code code, const char *message)
{
    (void)user, (void)code;
    handled += strstr(message, "in sample 9") != NULL;
}

static void the_handler_receives_it_once(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_dataset *data = wk_data_map(numbered_samples(SAMPLES), wrong_call, NULL);
    wk_set_error_handler(count_errors, NULL);
    for (int workers = 0; workers < 3; workers++) {
        handled = 0;
        WK_EACH(batch, wk_data_loader(data, .batch_size = 4, .workers = workers)) assert_int_equal(handled, 0);
        assert_int_equal(handled, 1);
        wk_clear_error();
    }
    wk_set_error_handler(NULL, NULL);
}

static void invalid_arguments(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_dataset *data = numbered_samples(3);
    assert_null(wk_data_map(data, NULL, NULL));
    expect_error("data_map: the function is NULL", NULL);
    assert_null(wk_data_map(data, only_first, NULL, .tensor = 8));
    expect_error("data_map: .tensor 8 is out of range [0, 7]", NULL);
    assert_null(wk_data_map(data, only_first, NULL, .tensor = -1));
    expect_error("data_map: .tensor -1 is out of range", NULL);
    assert_null(wk_data_map(NULL, only_first, NULL));
    expect_error("data_map", "NULL", NULL);
    int rounds = 0;
    WK_EACH(batch, wk_data_loader(wk_data_map(data, only_first, NULL, .tensor = 2))) rounds += batch->count;
    assert_int_equal(rounds, 0);
    expect_error("data_map: .tensor is 2, but the sample has 2 tensors", "sample 0", NULL);
    for (int k = 0; data && k < 300; k++) data = wk_data_map(data, only_first, NULL);
    assert_null(data);
    expect_error("data_map: more than 200 datasets are made of one another", NULL);
}

static void allocation_failures(void **state)
{
    (void)state;
    for (int workers = 0; workers < 3; workers += 2)
        for (int64_t n = 1; n < 150; n++) {
            WK_SCOPE;
            wk_tensor *x = wk_to_dtype(wk_arange(8), WK_F32);
            wk_sync();
            wk__alloc_fail_at(n);
            double one = 1;
            wk_loader *loader = wk_data_loader(wk_data_map(wk_data_tensors(x, x), add_number, &one), .batch_size = 4,
                                               .workers = workers);
            int rounds = 0;
            WK_EACH(batch, loader) rounds += wk_size(batch->x, 0) > 0;
            wk__alloc_fail_at(0);
            if (rounds < 2) assert_non_null(wk_error());
            wk_clear_error();
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replaces_x_or_another_tensor),
        cmocka_unit_test(draws_from_the_stream_of_the_sample),
        cmocka_unit_test(shuffled_samples_keep_their_streams),
        cmocka_unit_test(runs_apart_from_the_program),
        cmocka_unit_test(takes_no_stream_of_a_thread),
        cmocka_unit_test(an_error_is_that_of_the_loop),
        cmocka_unit_test(a_late_error_names_the_sample),
        cmocka_unit_test(the_handler_receives_it_once),
        cmocka_unit_test(invalid_arguments),
        cmocka_unit_test(allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
