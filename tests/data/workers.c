/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the workers of loaders: order of the batches, ways out of the loop, positions, and threads that are missing. */
#include "support/wick.h"

#include <data/batch_workers.h>
#include <data/loader_state.h>

#include <time.h>
#include <unistd.h>
#include <sys/wait.h>

enum { SAMPLES = 50 };

static wk_dataset *numbered_samples(int64_t n)
{
    return wk_data_tensors(wk_to_dtype(wk_arange(n), WK_F32), wk_arange(n));
}

/* Takes a time that differs between samples, so that batches are finished in another order. */
static wk_tensor *delayed(wk_tensor *x, void *user)
{
    atomic_int *calls = user;
    if (calls) atomic_fetch_add(calls, 1);
    const int64_t k = (int64_t)wk_item(x);
    nanosleep(&(struct timespec){.tv_nsec = k / 4 % 3 ? 20000 : 400000}, NULL);
    return wk_add(x, wk_rand(()));
}

/* Writes x and y of the rest of an epoch; returns the number of batches. */
static int64_t rest_of(wk_loader *loader, float *x, int64_t *y)
{
    int64_t batches = 0, count = 0;
    WK_EACH(batch, loader)
    {
        const int64_t n = wk_size(batch->y, 0);
        assert_int_equal(wk_read(batch->x, x + count, (size_t)n * sizeof *x), WK_OK);
        assert_int_equal(wk_read(batch->y, y + count, (size_t)n * sizeof *y), WK_OK);
        count += n;
        batches++;
    }
    expect_ok();
    return batches;
}

static void the_same_batches_for_any_number(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_dataset *plain = numbered_samples(SAMPLES), *mapped = wk_data_map(plain, delayed, NULL);
    for (int kind = 0; kind < 2; kind++) {
        float x[2][SAMPLES], again_x[SAMPLES];
        int64_t y[2][SAMPLES], again_y[SAMPLES];
        for (int workers = 0; workers < 6; workers++) {
            WK_SCOPE;
            wk_loader *loader = wk_data_loader(kind ? mapped : plain, .batch_size = 4, .shuffle = true, .seed = 2,
                                               .workers = workers, .prefetch_factor = workers % 4);
            for (int epoch = 0; epoch < 2; epoch++) {
                assert_int_equal(rest_of(loader, again_x, again_y), 13);
                if (workers == 0) memcpy(x[epoch], again_x, sizeof again_x), memcpy(y[epoch], again_y, sizeof again_y);
                assert_memory_equal(again_x, x[epoch], sizeof again_x);
                assert_memory_equal(again_y, y[epoch], sizeof again_y);
            }
        }
    }
}

static int leave_by_return(wk_loader *loader, int64_t at)
{
    WK_EACH(batch, loader)
    {
        if (batch->index == at) return 1;
    }
    return 0;
}

/* The loop may end at any batch; the next one begins an epoch. */
static void the_loop_can_be_left(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_dataset *data = wk_data_map(numbered_samples(SAMPLES), delayed, NULL);
    for (int workers = 0; workers < 4; workers++) {
        WK_SCOPE;
        wk_loader *loader = wk_data_loader(data, .batch_size = 4, .workers = workers);
        for (int64_t at = 0; at < 13; at++) {
            WK_EACH(batch, loader)
            {
                if (batch->index == at) break;
            }
            assert_int_equal(leave_by_return(loader, at), 1);
        }
        assert_int_equal(wk_loader_epoch(loader), 26);
        if (workers == 3) WK_EACH(batch, loader)
            {
                if (batch->index == 0) wk_free(loader);
                if (batch->index == 2) break;
            }
    }
    expect_ok();
}

/* Not more than the batch that each worker is preparing and those ahead. */
static void few_samples_are_read_ahead(void **state)
{
    (void)state;
    WK_SCOPE;
    atomic_int calls = 0;
    wk_dataset *data = wk_data_map(numbered_samples(SAMPLES), delayed, &calls);
    wk_loader *loader = wk_data_loader(data, .batch_size = 2, .workers = 2, .prefetch_factor = 1);
    assert_int_equal(leave_by_return(loader, 3), 1);
    assert_in_range(atomic_load(&calls), 8, 2 * (4 + 2));
    calls = 0;
    loader = wk_data_loader(data, .batch_size = 2);
    assert_int_equal(leave_by_return(loader, 3), 1);
    assert_int_equal(atomic_load(&calls), 8);
}

/* Batches that are prepared but not taken are not counted. */
static void another_loader_continues(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_dataset *data = wk_data_map(numbered_samples(SAMPLES), delayed, NULL);
    float x[SAMPLES], again_x[SAMPLES];
    int64_t y[SAMPLES], again_y[SAMPLES];
    rest_of(wk_data_loader(data, .batch_size = 4, .shuffle = true, .seed = 4), x, y);
    for (int workers = 0; workers < 4; workers++) {
        wk__loader_state at = {0};
        wk_loader *loader = wk_data_loader(data, .batch_size = 4, .shuffle = true, .seed = 4, .workers = 3 - workers),
                  *other = wk_data_loader(data, .batch_size = 4, .shuffle = true, .seed = 4, .workers = workers);
        WK_EACH(batch, loader)
        {
            at = wk__loader_get_state(loader);
            if (batch->index == 4) break;
        }
        assert_int_equal(at.consumed, 20);
        assert_true(wk__loader_check_state(other, &at, WK_HERE, "op", "path"));
        wk__loader_set_state(other, &at);
        assert_int_equal(rest_of(other, again_x, again_y), 8);
        assert_memory_equal(again_x, x + 20, 30 * sizeof *x);
        assert_memory_equal(again_y, y + 20, 30 * sizeof *y);
    }
    wk_loader *ordered = wk_data_loader(data, .seed = 1);
    const wk__loader_state at = {.samples = SAMPLES, .seed = 2};
    assert_false(wk__loader_check_state(ordered, &at, WK_HERE, "op", "path"));
    expect_error(".seed of the loader is 1, that of the saved loader was 2", NULL);
}

/* Several loaders at a time, one in the loop of the other. */
static void loops_nest(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_dataset *data = wk_data_map(numbered_samples(8), delayed, NULL);
    wk_loader *outer = wk_data_loader(data, .batch_size = 2, .workers = 2),
              *inner = wk_data_loader(data, .batch_size = 4, .workers = 2);
    int rounds = 0;
    WK_EACH(batch, outer)
    {
        WK_EACH(deeper, inner) rounds += deeper->index >= 0 && batch->index >= 0;
    }
    assert_int_equal(rounds, 8);
    expect_ok();
}

static void no_samples(void **state)
{
    (void)state;
    WK_SCOPE;
    double seen = 0;
    wk_dataset *data = wk_data_map(wk_data_slice(numbered_samples(4), 2, 2), delayed, NULL);
    for (int workers = 0; workers < 3; workers++)
        WK_EACH(batch, wk_data_loader(data, .workers = workers)) seen += wk_item(batch->x);
    assert_true(seen == 0);
    expect_ok();
}

static void invalid_numbers(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_dataset *data = numbered_samples(4);
    assert_null(wk_data_loader(data, .workers = -1));
    expect_error("data_loader: .workers -1 is out of range [0, 1024]", NULL);
    assert_null(wk_data_loader(data, .workers = 1025));
    expect_error("data_loader: .workers 1025 is out of range [0, 1024]", NULL);
    assert_null(wk_data_loader(data, .workers = 1, .prefetch_factor = -2));
    expect_error("data_loader: .prefetch_factor -2 is out of range [0, 1024]", NULL);
}

/* A child has no workers. It computes if no worker has used the library, and else gets an error; it does not wait. */
static void a_child_does_not_hang(void **state)
{
    (void)state;
    WK_SCOPE;
    for (int mapped = 0; mapped < 2; mapped++) {
        wk_dataset *data = numbered_samples(SAMPLES);
        if (mapped) data = wk_data_map(data, delayed, NULL);
        wk_loader *loader = wk_data_loader(data, .batch_size = 2, .workers = 2);
        WK_EACH(batch, loader)
        {
            if (batch->index < 3) continue;
            pid_t child = fork();
            if (child == 0) {
                alarm(20);
                float x[SAMPLES];
                int64_t y[SAMPLES];
                wk_batch_end(&batch);
                if (!mapped) _exit(rest_of(loader, x, y) == 25 ? 0 : 1);
                int rounds = 0;
                WK_EACH(more, loader) rounds += more->index >= 0;
                _exit(rounds == 0 && wk_error() && strstr(wk_error(), "fork") ? 0 : 2);
            }
            int status = 0;
            assert_int_equal(waitpid(child, &status, 0), child);
            assert_int_equal(status, 0);
            break;
        }
    }
    expect_ok();
}

/* ---- the threads themselves -------------------------------------------------------------------------------------- */

typedef struct record {
    int order[SAMPLES];
    atomic_int count;
} record;

static void append(void *user, int64_t job, bool in_caller)
{
    record *r = user;
    assert_true(in_caller);
    r->order[r->count++] = (int)job;
}

/* Without threads a job runs when it is waited for, once. */
static void without_threads(void **state)
{
    (void)state;
    record r = {0};
    wk__batch_workers w;
    assert_true(wk__batch_workers_init(&w, 0, 1, append, &r));
    wk__batch_workers_begin(&w, 3);
    for (int job = 0; job < 2; job++) {
        wk__batch_workers_wait(&w, job);
        wk__batch_workers_wait(&w, job);
        assert_int_equal(r.count, job + 1);
        assert_int_equal(r.order[job], job);
        wk__batch_workers_release(&w, job);
    }
    wk__batch_workers_cancel(&w);
    assert_int_equal(r.count, 2);
    wk__batch_workers_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_batches_for_any_number),
        cmocka_unit_test(the_loop_can_be_left),
        cmocka_unit_test(few_samples_are_read_ahead),
        cmocka_unit_test(another_loader_continues),
        cmocka_unit_test(loops_nest),
        cmocka_unit_test(no_samples),
        cmocka_unit_test(invalid_numbers),
        cmocka_unit_test(a_child_does_not_hang),
        cmocka_unit_test(without_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
