/* SPDX-License-Identifier: Apache-2.0 */
/* Tests a process started as one of several that has not joined the world: collective calls are errors, because each
 * process would train alone. A process can join only once. */
#include "support/ranks.h"

#include <pthread.h>
#include <unistd.h>

static const char not_joined[] =
    ": 2 processes were started (WICK_WORLD_SIZE=2), but this one has not joined them; call wk_dist_init first";

static void expect_state(bool failed, const char *op, const char *words)
{
    const char *error = wk_error();
    RANK_CHECK(failed && wk_error_code() == WK_ERR_STATE && strstr(error, op) && strstr(error, words));
    wk_clear_error();
}

static void all_calls_fail(void)
{
    WK_SCOPE;
    wk_tensor *x = wk_ones((2));
    expect_state(!wk_ddp(wk_nn_linear(2, 2)), ": ddp", not_joined);
    expect_state(!wk_dist_new_group((0)), ": dist_new_group", not_joined);
    expect_state(wk_dist_barrier() != WK_OK, ": dist_barrier", not_joined);
    expect_state(!wk_dist_all_reduce_(x), ": dist_all_reduce_", not_joined);
    expect_state(!wk_dist_broadcast_(x, 0), ": dist_broadcast_", not_joined);
    expect_state(!wk_dist_all_gather(x), ": dist_all_gather", not_joined);
    expect_state(!wk_dist_reduce_scatter(x), ": dist_reduce_scatter", not_joined);
    expect_state(!wk_dist_all_to_all(x), ": dist_all_to_all", not_joined);
    expect_state(wk_dist_send(x, 1) != WK_OK, ": dist_send", not_joined);
    expect_state(!wk_dist_recv_(x, 1), ": dist_recv_", not_joined);
}

/* In a world of one every call is a copy, or does nothing. */
static void all_calls_are_fine(void)
{
    WK_SCOPE;
    wk_tensor *x = wk_ones((2));
    RANK_CHECK(wk_ddp(wk_nn_linear(2, 2)) && wk_dist_new_group((0)) && wk_dist_barrier() == WK_OK);
    RANK_CHECK(wk_dist_all_reduce_(x) == x && wk_dist_broadcast_(x, 0) == x && wk_dist_all_gather(x));
    RANK_CHECK(wk_dist_reduce_scatter(x) && wk_dist_all_to_all(x) && !wk_error());
}

static void forgets_and_joins(int rank)
{
    RANK_CHECK(wk_dist_rank() == 0 && wk_dist_size() == 1 && wk_dist_local_rank() == 0);
    all_calls_fail();
    RANK_CHECK(wk_dist_init() == WK_OK && wk_dist_rank() == rank && wk_dist_size() == 2);
    RANK_CHECK(wk_dist_barrier() == WK_OK && wk_dist_finish() == WK_OK && !wk_error());
    all_calls_are_fine();
    expect_state(wk_dist_init() != WK_OK, ": dist_init",
                 "this process has already left its world (wk_dist_finish); a process can join only once");
    all_calls_are_fine();
}

static void before_and_after_the_world(void **state)
{
    (void)state;
    ranks r = {.size = 2, .body = forgets_and_joins};
    ranks_run(&r);
    ranks_free(&r);
}

static void use_self(int rank)
{
    (void)rank;
    setenv("WICK_COMM", "self", 1);
}

static void is_alone(int rank)
{
    (void)rank;
    all_calls_are_fine();
    RANK_CHECK(wk_dist_init() == WK_OK && wk_dist_size() == 1);
    all_calls_are_fine();
    RANK_CHECK(wk_dist_finish() == WK_OK && wk_dist_init() == WK_OK && wk_dist_finish() == WK_OK);
}

static void self_is_a_world_of_one(void **state)
{
    (void)state;
    ranks r = {.size = 2, .body = is_alone, .prepare = use_self};
    ranks_run(&r);
    ranks_free(&r);
}

/* It cannot join, but still counts as one of two. */
static void without_hosts(int rank)
{
    (void)rank;
    unsetenv("WICK_COORDINATOR");
}

static void cannot_join(int rank)
{
    (void)rank;
    RANK_CHECK(wk_dist_init() == WK_ERR_ARGUMENT);
    wk_clear_error();
    all_calls_fail();
    RANK_CHECK(wk_dist_finish() == WK_OK);
    all_calls_fail();
}

static void inconsistent_variables(void **state)
{
    (void)state;
    ranks r = {.size = 2, .body = cannot_join, .prepare = without_hosts, .no_listener = true};
    ranks_run(&r);
    ranks_free(&r);
}

static void *calls_size(void *user)
{
    atomic_int *refused = user;
    *refused += wk_dist_barrier() == WK_ERR_STATE;
    wk_clear_error();
    return NULL;
}

static void calls_size_in_threads(int rank)
{
    enum { THREADS = 4 };
    (void)rank;
    pthread_t thread[THREADS];
    atomic_int refused = 0;
    for (int k = 0; k < THREADS; k++) RANK_CHECK(pthread_create(&thread[k], NULL, calls_size, &refused) == 0);
    for (int k = 0; k < THREADS; k++) pthread_join(thread[k], NULL);
    RANK_CHECK(refused == THREADS);
}

static void threads_query_at_once(void **state)
{
    (void)state;
    ranks r = {.size = 2, .body = calls_size_in_threads};
    ranks_run(&r);
    ranks_free(&r);
}

/* Rank 1 starts after one of two threads of rank 0 was refused, so the other one is joining. */
static void *joins(void *joined)
{
    if (wk_dist_init() == WK_OK) {
        atomic_fetch_add((atomic_int *)joined, 1);
        return NULL;
    }
    expect_state(true, ": dist_init", "another thread is joining the world; call it from one thread");
    atomic_store(&my_note()->flag, 1);
    return NULL;
}

static void joins_in_threads(int rank)
{
    if (rank == 0) {
        pthread_t other;
        atomic_int joined = 0;
        RANK_CHECK(pthread_create(&other, NULL, joins, &joined) == 0);
        joins(&joined);
        pthread_join(other, NULL);
        RANK_CHECK(joined == 1);
    } else {
        while (!atomic_load(&note_of(0)->flag)) usleep(1000);
        RANK_CHECK(wk_dist_init() == WK_OK);
    }
    RANK_CHECK(wk_dist_size() == 2 && wk_dist_barrier() == WK_OK);
    expect_state(wk_dist_init() != WK_OK, ": dist_init", "already initialised");
    RANK_CHECK(wk_dist_finish() == WK_OK);
}

static void threads_join_at_once(void **state)
{
    (void)state;
    ranks r = {.size = 2, .body = joins_in_threads};
    ranks_run(&r);
    ranks_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_and_after_the_world), cmocka_unit_test(self_is_a_world_of_one),
        cmocka_unit_test(inconsistent_variables),     cmocka_unit_test(threads_query_at_once),
        cmocka_unit_test(threads_join_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
