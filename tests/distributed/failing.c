/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that an error of one rank is reported by all ranks, with the rank at fault, and that no rank hangs. */
#include "support/ranks.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { SHORT = 3 /* seconds of WICK_TIMEOUT in tests that reach it */ };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void join(void)
{
    RANK_CHECK(wk_dist_init() == WK_OK);
}

/* Also waits until all ranks have joined: the calls of others fail in wk_dist_init if a rank ends before. */
static void join_with_all(void)
{
    join();
    atomic_store(&my_note()->flag, 1);
    for (int k = 0; k < the_ranks->size; k++) ranks_await(the_ranks, k, 1);
}

/* ---- ranks that end or do not call ------------------------------------------------------------------------------- */

/* Later calls report the first cause, without waiting. */
static void expect_failed_calls(wk_tensor *x, wk_code code)
{
    RANK_CHECK(!wk_dist_all_reduce_(x));
    RANK_CHECK(wk_error_code() == code);
    RANK_CHECK(wk_item(wk_sum(x)) == 3 * (wk_dist_rank() + 1)); /* the target has its old values */
    FILE *out = tmpfile();
    RANK_CHECK(wk_report_error(out) == (code == WK_ERR_TIMEOUT ? 75 : 1));
    fclose(out);
    rank_save_error();
    const double begin = now();
    RANK_CHECK(wk_dist_barrier() == code && strstr(wk_error(), ": barrier 3"));
    RANK_CHECK(now() - begin < 1);
    wk_dist_finish();
    RANK_CHECK(now() - begin < 1);
}

enum { CULPRIT = 1 };

static void kills_itself(int rank)
{
    WK_SCOPE;
    join_with_all();
    wk_tensor *x = wk_full((3), rank + 1.0);
    wk_item(wk_sum(x));
    if (rank == CULPRIT) raise(SIGKILL);
    expect_failed_calls(x, WK_ERR_TIMEOUT);
}

static void a_rank_is_killed(void **state)
{
    (void)state;
    ranks r = {.size = 4, .body = kills_itself};
    ranks_start(&r);
    ranks_end(&r, true);
    for (int k = 0; k < 4; k++)
        if (k != CULPRIT)
            expect_rank_error(&r, k, WK_ERR_TIMEOUT, "all_reduce 2 (12 bytes): lost rank 1 on ", "lost rank ",
                              "; restart from the last checkpoint", NULL);
    ranks_free(&r);
}

static void ends_first(int rank)
{
    WK_SCOPE;
    join_with_all();
    wk_tensor *x = wk_full((3), rank + 1.0);
    if (rank == 0) _exit(0);
    expect_failed_calls(x, WK_ERR_TIMEOUT);
}

static void rank_0_ends_without_finish(void **state)
{
    (void)state;
    ranks r = {.size = 3, .body = ends_first};
    ranks_run(&r);
    for (int k = 1; k < 3; k++) expect_rank_error(&r, k, WK_ERR_TIMEOUT, "rank 0 on ", "lost rank ", NULL);
    ranks_free(&r);
}

/* Continues after the others have given up. */
static void stops(int rank)
{
    WK_SCOPE;
    join();
    const int culprit = (int)(intptr_t)the_ranks->user;
    wk_tensor *x = wk_full((3), rank + 1.0);
    wk_item(wk_sum(x));
    if (rank == culprit) raise(SIGSTOP);
    expect_failed_calls(x, WK_ERR_TIMEOUT);
    atomic_store(&my_note()->flag, 1);
}

static void a_rank_is_stopped(void **state)
{
    (void)state;
    for (int culprit = 0; culprit < 3; culprit += 2) {
        char stuck[64];
        ranks r = {.size = 4, .body = stops, .timeout = SHORT, .user = (void *)(intptr_t)culprit};
        snprintf(stuck, sizeof stuck, ": rank %d on ", culprit);
        ranks_start(&r);
        for (int k = 0; k < 4; k++)
            if (k != culprit) ranks_await(&r, k, 1);
        kill(r.note[culprit].process, SIGCONT);
        ranks_end(&r, false);
        for (int k = 0; k < 4; k++)
            if (k != culprit)
                expect_rank_error(&r, k, WK_ERR_TIMEOUT, ": all_reduce 2 (12 bytes): timed out after ", stuck,
                                  " is dead or stuck; restart from the last checkpoint", NULL);
        if (culprit > 0) expect_rank_error(&r, culprit, WK_ERR_TIMEOUT, stuck, "is dead or stuck", NULL);
        ranks_free(&r);
    }
}

static void stays_away(int rank)
{
    WK_SCOPE;
    join();
    wk_tensor *x = wk_full((3), rank + 1.0);
    while (rank == CULPRIT && !atomic_load(&note_of(3)->flag)) usleep(2000);
    expect_failed_calls(x, WK_ERR_TIMEOUT);
    atomic_store(&my_note()->flag, 1);
}

static void a_rank_does_not_call(void **state)
{
    (void)state;
    ranks r = {.size = 4, .body = stays_away, .timeout = SHORT};
    ranks_run(&r);
    for (int k = 0; k < 4; k++)
        expect_rank_error(&r, k, WK_ERR_TIMEOUT, k == CULPRIT ? "all_reduce 2" : "all_reduce 2 (12 bytes): timed out",
                          ": rank 1 on ", " has not called it; its last call was barrier 1", NULL);
    ranks_free(&r);
}

/* Rank 2 calls wk_dist_finish, whose number is that of the call which the others gave up. */
static void finishes_late(int rank)
{
    WK_SCOPE;
    join();
    while (rank == 2 && !(atomic_load(&note_of(0)->flag) && atomic_load(&note_of(1)->flag))) usleep(2000);
    if (rank < 2) RANK_CHECK(!wk_dist_all_reduce_(wk_ones((3))));
    if (rank == 2) RANK_CHECK(wk_dist_finish() == WK_ERR_TIMEOUT);
    rank_save_error();
    atomic_store(&my_note()->flag, 1);
}

static void the_error_of_a_rank_that_finishes_late(void **state)
{
    (void)state;
    ranks r = {.size = 3, .body = finishes_late, .timeout = SHORT};
    ranks_run(&r);
    expect_rank_error(&r, 2, WK_ERR_TIMEOUT, "dist_finish: rank 2 of 3 on ",
                      ": finish: all_reduce 2 timed out: ", "rank 2 on ", " has not called it", NULL);
    ranks_free(&r);
}

static void leaves(int rank)
{
    WK_SCOPE;
    join();
    wk_tensor *x = wk_full((3), rank + 1.0);
    if (rank != CULPRIT) {
        expect_failed_calls(x, WK_ERR_STATE);
        return;
    }
    RANK_CHECK(wk_dist_finish() != WK_OK);
    rank_save_error();
}

static const char uneven[] = " called wk_dist_finish; all ranks must make the same number of collective calls";

static bool names_the_caller(const ranks *r, int rank, int asker)
{
    char who[32];
    snprintf(who, sizeof who, ": rank %d on ", asker);
    const char *at = strstr(r->note[rank].error, who), *asks = strstr(r->note[rank].error, " called ");
    return at && asks && at < asks;
}

static void a_rank_has_left(void **state)
{
    (void)state;
    ranks r = {.size = 3, .body = leaves, .timeout = 60};
    ranks_run(&r);
    for (int k = 0; k < 3; k++) {
        expect_rank_error(&r, k, WK_ERR_STATE, " called all_reduce 2 (12 bytes), but rank 1 on ", uneven, NULL);
        assert_true(names_the_caller(&r, k, 0) || names_the_caller(&r, k, 2));
    }
    ranks_free(&r);
}

/* Rank 0 waits for rank 1, or 1 for 2, in a call of a group or a receive; the third rank ends normally. */
static void waits_for_a_leaving_rank(int rank)
{
    WK_SCOPE;
    join();
    const int asker = (intptr_t)the_ranks->user & 1, leaver = asker + 1;
    wk_dist_group *pair = wk_dist_new_group((leaver, asker));
    wk_tensor *x = wk_full((3), rank + 1.0);
    atomic_store(&my_note()->flag, 1);
    while (rank == leaver && !atomic_load(&note_of(asker)->flag)) usleep(2000);
    if (rank == leaver) usleep(100000); /* usually the other one is in its call by then */
    if (rank != asker)
        wk_dist_finish();
    else if ((intptr_t)the_ranks->user & 2)
        wk_dist_recv_(x, leaver);
    else
        wk_dist_all_reduce_(x, .group = pair);
    RANK_CHECK(wk_error_code() == WK_ERR_STATE);
    rank_save_error();
    wk_dist_finish();
}

static void a_rank_of_a_group_has_left(void **state)
{
    (void)state;
    for (intptr_t with = 0; with < 4; with++) {
        const int asker = with & 1;
        char asks[80];
        snprintf(asks, sizeof asks, " called %s, but rank %d on ",
                 with & 2 ? "recv (12 bytes)" : "all_reduce 1 (12 bytes) in group 1", asker + 1);
        ranks r = {.size = 3, .body = waits_for_a_leaving_rank, .timeout = SHORT, .user = (void *)with};
        ranks_run(&r);
        for (int k = 0; k < 3; k++) {
            expect_rank_error(&r, k, WK_ERR_STATE, k == asker ? ": dist_" : ": dist_finish: rank ", asks, uneven, NULL);
            assert_true(names_the_caller(&r, k, asker));
        }
        ranks_free(&r);
    }
}

static void is_killed_before_finish(int rank)
{
    join_with_all();
    if (rank == CULPRIT) raise(SIGKILL);
    RANK_CHECK(wk_dist_finish() == WK_ERR_TIMEOUT);
    RANK_CHECK(!wk_dist_is_initialized() && wk_dist_size() == 1);
    rank_save_error();
}

static void finish_without_all(void **state)
{
    (void)state;
    ranks r = {.size = 3, .body = is_killed_before_finish};
    ranks_start(&r);
    ranks_end(&r, true);
    for (int k = 0; k < 3; k++)
        if (k != CULPRIT) expect_rank_error(&r, k, WK_ERR_TIMEOUT, "dist_finish: ", "rank 1 on ", "lost rank", NULL);
    ranks_free(&r);
}

/* ---- ranks that differ ------------------------------------------------------------------------------------------- */

static void call_another(wk_tensor *x)
{
    switch ((int)(intptr_t)the_ranks->user) {
    case 0: wk_dist_barrier(); break;
    case 1: wk_dist_all_reduce_(wk_ones((4))); break;
    case 2: wk_dist_all_reduce_(wk_ones((3), .dtype = WK_F64)); break;
    case 3: wk_dist_all_reduce_(x, .op = WK_DIST_MAX); break;
    case 4: wk_dist_broadcast_(x, 2); break;
    case 5: wk_dist_all_gather(wk_ones((300000))); break;
    default: wk_dist_new_group((0, 1)); break;
    }
}

static void differs(int rank)
{
    WK_SCOPE;
    join();
    wk_tensor *x = wk_full((3), rank + 1.0);
    if (rank == CULPRIT)
        call_another(x);
    else
        wk_dist_all_reduce_(x);
    RANK_CHECK(wk_error_code() == WK_ERR_STATE);
    rank_save_error();
    RANK_CHECK(wk_dist_barrier() == WK_ERR_STATE);
    rank_save_error();
    wk_dist_finish();
}

static void ranks_that_differ(void **state)
{
    (void)state;
    static const char *const asks[] = {"rank 1 on %s called barrier",
                                       "called all_reduce of 4 f32, sum",
                                       "called all_reduce of 3 f64, sum",
                                       "called all_reduce of 3 f32, max",
                                       "called broadcast of 3 f32 from rank 2",
                                       "called all_gather of 300000 f32",
                                       "called new_group"};
    for (size_t k = 0; k < sizeof asks / sizeof *asks; k++) {
        ranks r = {.size = 3 + (int)(k & 1), .body = differs, .user = (void *)(intptr_t)k};
        ranks_run(&r);
        for (int rank = 0; rank < r.size; rank++)
            expect_rank_error(&r, rank, WK_ERR_STATE, ": barrier 3: ", "mismatched collectives: rank 0 on ",
                              " called all_reduce of 3 f32, sum, rank 1 on ",
                              asks[k] + (k == 0 ? sizeof "rank 1 on %s" - 1 : 0), NULL);
        ranks_free(&r);
    }
}

static void names_other_ranks(int rank)
{
    WK_SCOPE;
    join();
    RANK_CHECK(!(rank ? wk_dist_new_group((1, 0)) : wk_dist_new_group((0, 1))));
    rank_save_error();
    wk_dist_finish();
}

static void lists_of_a_group_that_differ(void **state)
{
    (void)state;
    ranks r = {.size = 2, .body = names_other_ranks};
    ranks_run(&r);
    for (int k = 0; k < 2; k++)
        expect_rank_error(&r, k, WK_ERR_STATE, "called new_group, rank 1 on ",
                          " called new_group with another list of ranks", NULL);
    ranks_free(&r);
}

static void crosses(int rank)
{
    WK_SCOPE;
    join();
    wk_dist_group *first = wk_dist_new_group((0, 1)), *second = wk_dist_new_group((1, 0));
    wk_tensor *x = wk_ones((3));
    wk_dist_all_reduce_(x, .group = rank ? first : second);
    RANK_CHECK(wk_error_code() == WK_ERR_STATE);
    rank_save_error();
    wk_dist_finish();
}

static void calls_of_two_groups_cross(void **state)
{
    (void)state;
    ranks r = {.size = 2, .body = crosses};
    ranks_run(&r);
    for (int k = 0; k < 2; k++)
        expect_rank_error(&r, k, WK_ERR_STATE, "mismatched collectives: rank ", "(call 1 of group 1)",
                          "(call 1 of group 2)", NULL);
    ranks_free(&r);
}

static void sends_another_shape(int rank)
{
    WK_SCOPE;
    join();
    wk_tensor *x = wk_ones((rank ? 5 : 4));
    if (rank)
        wk_dist_recv_(x, 0);
    else
        wk_dist_send(x, 1);
    if (!rank && !wk_error()) wk_dist_barrier();
    RANK_CHECK(wk_error_code() == WK_ERR_STATE);
    rank_save_error();
    wk_dist_finish();
}

static void a_receiver_expects_another_tensor(void **state)
{
    (void)state;
    ranks r = {.size = 2, .body = sends_another_shape};
    ranks_run(&r);
    for (int k = 0; k < 2; k++)
        expect_rank_error(&r, k, WK_ERR_STATE, "mismatched calls: rank 0 on ", "called send of 4 f32, rank 1 on ",
                          "of 5 f32", NULL);
    ranks_free(&r);
}

/* ---- an error of one rank ---------------------------------------------------------------------------------------- */

typedef void collective(wk_tensor *x);
static void of_all_reduce(wk_tensor *x)
{
    wk_dist_all_reduce_(x);
}
static void of_broadcast(wk_tensor *x)
{
    wk_dist_broadcast_(x, 0);
}
static void of_all_gather(wk_tensor *x)
{
    wk_dist_all_gather(x);
}
static void of_reduce_scatter(wk_tensor *x)
{
    wk_dist_reduce_scatter(x);
}
static void of_all_to_all(wk_tensor *x)
{
    wk_dist_all_to_all(x);
}
static void of_barrier(wk_tensor *x)
{
    (void)x;
    wk_dist_barrier();
}
static void of_new_group(wk_tensor *x)
{
    (void)x;
    wk_dist_new_group((1, 0));
}
static collective *const collectives[] = {of_all_reduce, of_broadcast, of_all_gather, of_reduce_scatter,
                                          of_all_to_all, of_barrier,   of_new_group};
enum { COLLECTIVES = sizeof collectives / sizeof *collectives };

/* The last rank fails before each call; afterwards the world is usable. */
static void fails_before(int rank)
{
    join();
    const bool fails = rank == wk_dist_size() - 1;
    for (int64_t count = 12; count <= 120000; count += 119988)
        for (int k = 0; k < COLLECTIVES; k++) {
            WK_SCOPE;
            wk_tensor *x = wk_ones((count)), *bad = fails ? wk_matmul(x, wk_ones((2, 2))) : NULL;
            collectives[k](bad ? bad : x);
            RANK_CHECK(wk_error_code() == WK_ERR_SHAPE);
            rank_save_error();
            collectives[k](fails ? NULL : x);
            RANK_CHECK(wk_error_code() == (k < 5 ? WK_ERR_ARGUMENT : WK_OK));
            wk_clear_error();
            collectives[k](x);
            RANK_CHECK(!wk_error());
        }
    RANK_CHECK(wk_dist_finish() == WK_OK);
}

static void an_error_is_pending(void **state)
{
    (void)state;
    for (int n = 2; n <= RANKS_MOST; n++) {
        char who[32];
        ranks r = {.size = n, .body = fails_before};
        ranks_run(&r);
        snprintf(who, sizeof who, ": rank %d on ", n - 1);
        for (int k = 0; k < n - 1; k++)
            expect_rank_error(&r, k, WK_ERR_SHAPE, "dist_new_group: rank ", who,
                              " failed: ", "failing.c:", "matmul: ", NULL);
        expect_rank_error(&r, n - 1, WK_ERR_SHAPE, "matmul: ", NULL);
        ranks_free(&r);
    }
}

static void fails_in_a_pair(int rank)
{
    join();
    WK_SCOPE;
    for (int64_t count = 5; count < 300000; count += 200000) {
        wk_tensor *x = wk_full((count), rank + 1.0);
        /* the sender has failed */
        if (rank == 0) RANK_CHECK(wk_dist_send(wk_matmul(x, wk_ones((3, 3))), 1) == WK_ERR_SHAPE);
        if (rank == 1) RANK_CHECK(!wk_dist_recv_(x, 0) && wk_error_code() == WK_ERR_SHAPE);
        rank_save_error();
        /* the receiver has failed */
        if (rank == 0) RANK_CHECK(wk_dist_send(x, 1) == WK_OK);
        if (rank == 1) RANK_CHECK(!wk_dist_recv_(NULL, 0) && wk_error_code() == WK_ERR_ARGUMENT);
        wk_clear_error();
        if (rank == 0) RANK_CHECK(wk_dist_send(x, 1) == WK_OK);
        if (rank == 1) RANK_CHECK(wk_dist_recv_(x, 0) && wk_item(wk_amax(x)) == 1);
    }
    RANK_CHECK(wk_dist_finish() == WK_OK);
}

static void an_error_is_pending_in_a_pair(void **state)
{
    (void)state;
    ranks r = {.size = 2, .body = fails_in_a_pair};
    ranks_run(&r);
    expect_rank_error(&r, 1, WK_ERR_SHAPE, "dist_recv_: ", "rank 0 on ", " failed: ", "matmul: ", NULL);
    ranks_free(&r);
}

/* Its program runs to its end; the others do not wait for calls that it no longer makes. */
static void fails_and_finishes(int rank)
{
    WK_SCOPE;
    join();
    wk_tensor *x = wk_ones((3));
    if (rank == 2)
        wk_matmul(x, wk_ones((2, 2)));
    else
        wk_dist_all_reduce_(x);
    wk_dist_finish();
    RANK_CHECK(wk_error_code() == WK_ERR_SHAPE);
    rank_save_error();
}

static void a_rank_fails_and_finishes(void **state)
{
    (void)state;
    ranks r = {.size = 3, .body = fails_and_finishes};
    ranks_run(&r);
    for (int k = 0; k < 2; k++)
        expect_rank_error(&r, k, WK_ERR_SHAPE, "all_reduce 2 (12 bytes): rank 2 on ", " failed: ", "matmul: ", NULL);
    ranks_free(&r);
}

/* All others wait in wk_dist_finish when the last rank arrives there with an error. */
static void is_last_to_finish_and_has_failed(int rank)
{
    WK_SCOPE;
    join();
    if (rank == 2) {
        usleep(300000);
        wk_matmul(wk_ones((3)), wk_ones((2, 2)));
    }
    const wk_code code = wk_dist_finish();
    RANK_CHECK(rank == 2 || code == WK_ERR_SHAPE);
    RANK_CHECK(wk_error_code() == WK_ERR_SHAPE);
    rank_save_error();
}

static void the_last_to_finish_has_failed(void **state)
{
    (void)state;
    ranks r = {.size = 3, .body = is_last_to_finish_and_has_failed};
    ranks_run(&r);
    for (int k = 0; k < 2; k++)
        expect_rank_error(&r, k, WK_ERR_SHAPE, "dist_finish: rank ", "rank 2 on ", " failed: ", "matmul: ", NULL);
    ranks_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_that_differ),
        cmocka_unit_test(an_error_is_pending),
        cmocka_unit_test(a_rank_fails_and_finishes),
        cmocka_unit_test(the_last_to_finish_has_failed),
    };
    /* Ranks of MPI detect neither ended ranks nor crossing calls; distributed_launch.sh tests these. */
    const struct CMUnitTest of_tcp[] = {
        cmocka_unit_test(a_rank_is_killed),
        cmocka_unit_test(rank_0_ends_without_finish),
        cmocka_unit_test(a_rank_is_stopped),
        cmocka_unit_test(a_rank_does_not_call),
        cmocka_unit_test(the_error_of_a_rank_that_finishes_late),
        cmocka_unit_test(a_rank_has_left),
        cmocka_unit_test(a_rank_of_a_group_has_left),
        cmocka_unit_test(finish_without_all),
        cmocka_unit_test(lists_of_a_group_that_differ),
        cmocka_unit_test(calls_of_two_groups_cross),
        cmocka_unit_test(a_receiver_expects_another_tensor),
        cmocka_unit_test(an_error_is_pending_in_a_pair),
    };
    const int failed = ranks_are_mpi() ? 0 : cmocka_run_group_tests(of_tcp, NULL, NULL);
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
