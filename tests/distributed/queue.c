/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the queue of requests: asynchronous requests, groups, threads, and transports that leave more to the queue,
 * because they do not compare the ranks' requests or do not return. */
#include "support/ranks.h"

#include "base/alloc.h"
#include "distributed/session.h"
#include "distributed/tcp/tcp.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static void join(void)
{
    RANK_CHECK(wk_dist_init() == WK_OK);
}

static void leave(void)
{
    RANK_CHECK(wk_dist_finish() == WK_OK && !wk_error());
}

static void ranks_do(int size, void (*body)(int rank))
{
    ranks r = {.size = size, .body = body};
    ranks_run(&r);
    ranks_free(&r);
}

/* ---- asynchronous requests --------------------------------------------------------------------------------------- */

enum { BUCKETS = 12, ELEMENTS = 40000 };

static wk__dist_request sum_of(float *at, int64_t count)
{
    return (wk__dist_request){.kind = WK__DIST_ALL_REDUCE, .dtype = WK_F32, .count = count, .in = at, .out = at};
}

/* All run at once; they are waited for in another order, and a blocking call comes between them. */
static void many_at_once(int rank)
{
    static float bucket[BUCKETS][ELEMENTS];
    static wk__dist_ticket ticket[BUCKETS];
    join();
    for (int round = 0; round < 5; round++) {
        WK_SCOPE;
        for (int b = 0; b < BUCKETS; b++) {
            const int64_t count = b % 3 == 0 ? 10 : ELEMENTS;
            for (int64_t i = 0; i < count; i++) bucket[b][i] = (float)((rank + 1) * (b + 1));
            const wk__dist_request request = sum_of(bucket[b], count);
            wk__dist_submit(&ticket[b], wk__dist_world(), &request);
        }
        RANK_CHECK(wk_item(wk_dist_all_reduce_(wk_ones((1), .dtype = WK_F64))) == wk_dist_size());
        const int n = wk_dist_size(), all = n * (n + 1) / 2;
        for (int k = 0; k < BUCKETS; k++) {
            const int b = round % 2 ? BUCKETS - 1 - k : (k * 5 + 3) % BUCKETS;
            RANK_CHECK(wk__dist_wait(&ticket[b], (wk_site){0}, "backward") == WK_OK);
            for (int64_t i = 0; i < (b % 3 == 0 ? 10 : ELEMENTS); i += 7)
                RANK_CHECK(bucket[b][i] == (float)(all * (b + 1)));
        }
    }
    leave();
}

static void requests_under_way(void **state)
{
    (void)state;
    for (int n = 1; n <= RANKS_MOST; n++) ranks_do(n, many_at_once);
}

/* The message has the caller's name of the request, and the call. */
static void fails_in_bucket_3(int rank)
{
    static float numbers[100000];
    wk__dist_ticket ticket, next;
    join();
    wk__dist_request request = sum_of(numbers, 100000);
    request.label = "bucket 3";
    if (rank == 1) {
        request.code = WK_ERR_MEMORY;
        request.error_text = "backward: out of memory";
    }
    wk__dist_submit(&ticket, wk__dist_world(), &request);
    wk__dist_submit(&next, wk__dist_world(), &(wk__dist_request){.kind = WK__DIST_BARRIER});
    RANK_CHECK(wk__dist_wait(&ticket, (wk_site){"train.c", 31}, "backward") == WK_ERR_MEMORY);
    rank_save_error();
    RANK_CHECK(wk__dist_wait(&next, (wk_site){0}, "backward") == WK_OK);
    leave();
}

static void timeout_names_the_request(void **state)
{
    (void)state;
    ranks r = {.size = 2, .body = fails_in_bucket_3};
    ranks_run(&r);
    expect_rank_error(&r, 0, WK_ERR_MEMORY, "train.c:31: backward: rank 0 of 2 on ",
                      ": all_reduce 2 (bucket 3, 390.6 KiB): rank 1 on ", " failed: backward: out of memory", NULL);
    ranks_free(&r);
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

static double sum_in(const wk_dist_group *group, double mine)
{
    WK_SCOPE;
    wk_tensor *x = wk_full((70000), mine);
    RANK_CHECK(wk_dist_all_reduce_(x, .group = (wk_dist_group *)(uintptr_t)group) != NULL);
    RANK_CHECK(wk_item(wk_amin(x)) == wk_item(wk_amax(x)));
    return wk_item(wk_amax(x));
}

static void work_in_groups(int rank)
{
    WK_SCOPE;
    join();
    const int64_t turned[] = {3, 1, 0};
    wk_dist_group *even = wk_dist_new_group((0, 2)), *odd = wk_dist_new_group((1, 3));
    wk_dist_group *three = wk_dist_new_group(WK_ARRAY(turned, 3)), *one = wk_dist_new_group((2));
    RANK_CHECK(wk_dist_group_size(three) == 3 && wk_dist_group_size(even) == 2 && wk_dist_group_size(NULL) == 4);
    RANK_CHECK(wk_dist_group_rank(three) == (rank == 3 ? 0 : rank == 1 ? 1 : rank == 0 ? 2 : -1));
    for (int k = 0; k < 3; k++) {
        if (rank % 2 == 0) RANK_CHECK(sum_in(even, rank) == 2);
        if (rank % 2 == 1) RANK_CHECK(sum_in(odd, rank) == 4);
        if (rank != 2) RANK_CHECK(sum_in(three, rank) == 4);
        if (rank == 2) RANK_CHECK(sum_in(one, 7) == 7);
        RANK_CHECK(sum_in(NULL, rank) == 6);
    }
    if (rank != 2) {
        wk_tensor *x = wk_full((1), rank + 10.0);
        EXPECT_SHAPE(wk_dist_all_gather(x, .group = three), 3);
        RANK_CHECK(wk_item(wk_select(wk_dist_all_gather(x, .group = three), 0, 0)) == 13); /* its rank 0 is rank 3 */
        RANK_CHECK(wk_item(wk_dist_broadcast_(x, 1, .group = three)) == 11);               /* a rank of the world */
        RANK_CHECK(wk_dist_barrier(.group = three) == WK_OK);
        RANK_CHECK(!wk_dist_broadcast_(x, 2, .group = three));
        RANK_CHECK(strstr(wk_error(), "dist_broadcast_: src is rank 2, which is not in the group"));
        wk_clear_error();
    } else {
        RANK_CHECK(!wk_dist_all_reduce_(wk_ones((1)), .group = three));
        RANK_CHECK(strstr(wk_error(), "dist_all_reduce_: rank 2 is not in the group"));
        wk_clear_error();
    }
    if (rank == 3) RANK_CHECK(wk_dist_send(wk_full((1), 33.0), 0, .group = three) == WK_OK);
    if (rank == 0) RANK_CHECK(wk_item(wk_dist_recv_(wk_zeros((1)), 3, .group = three)) == 33);
    leave();
    RANK_CHECK(!wk_dist_barrier(.group = three) || strstr(wk_error(), "to a world that this process has left"));
    RANK_CHECK(wk_error_code() == WK_ERR_STATE);
    wk_clear_error();
}

static void groups_of_some_ranks(void **state)
{
    (void)state;
    ranks_do(4, work_in_groups);
}

/* ---- tensors ----------------------------------------------------------------------------------------------------- */

/* Views, borrowed memory, snapshots, versions: as for any in-place call. */
static void tensors_of_all_kinds(int rank)
{
    WK_SCOPE;
    join();
    float mine[6] = {1, 2, 3, 4, 5, 6};
    wk_tensor *lent = wk_borrow(mine, (2, 3), wk__free, NULL), *column = wk_slice(lent, 1, 1, 2, 1);
    RANK_CHECK(wk_dist_all_reduce_(column) == column);
    wk_sync();
    RANK_CHECK(mine[0] == 1 && mine[1] == 4 && mine[4] == 10 && mine[5] == 6); /* at the program's addresses */
    wk_tensor *turned = wk_transpose(wk_full((2, 3), rank + 1.0), 0, 1);
    RANK_CHECK(wk_dist_broadcast_(turned, 1) && wk_item(wk_sum(turned)) == 12);
    wk_tensor *w = wk_of(float, (2), 1, 2, .requires_grad = true), *y = wk_mul(w, w);
    RANK_CHECK(wk_dist_broadcast_(w, 0) == w && wk_requires_grad(w) && wk_is_leaf(w));
    if (rank == 1) {
        wk_backward(wk_sum(y)); /* needs the values that w had */
        RANK_CHECK(wk_error_code() == WK_ERR_STATE && strstr(wk_error(), "dist_broadcast_"));
        wk_clear_error();
    }
    wk_tensor *copy = wk_clone(w), *pending = wk_mul(w, 2);
    RANK_CHECK(wk_dist_all_reduce_(w) == w);
    EXPECT_VALUES(copy, 0, 1, 2);
    EXPECT_VALUES(pending, 0, 2, 4);
    EXPECT_VALUES(w, 0, 2, 4);
    wk_tensor *empty = wk_dist_all_gather(wk_zeros((0, 3)));
    RANK_CHECK(wk_numel(empty) == 0 && wk_size(empty, 1) == 3);
    RANK_CHECK(!wk_dist_reduce_scatter(wk_ones((3))) && wk_error_code() == WK_ERR_SHAPE);
    RANK_CHECK(strstr(wk_error(), "f32[3] cannot be split into 2 equal parts along its first dimension"));
    wk_clear_error();
    RANK_CHECK(!wk_dist_all_to_all(wk_ones((3))) && wk_error_code() == WK_ERR_SHAPE);
    wk_clear_error();
    leave();
}

static void tensors(void **state)
{
    (void)state;
    ranks_do(2, tensors_of_all_kinds);
}

/* ---- threads and children ---------------------------------------------------------------------------------------- */

static void *sum_many(void *group)
{
    for (int k = 0; k < 50; k++)
        if (sum_in(group, 1) != wk_dist_size()) return group;
    return NULL;
}

/* One thread per group: calls of a group are ordered, those of two groups are not. */
static void in_two_threads(int rank)
{
    WK_SCOPE;
    (void)rank;
    join();
    pthread_t other;
    wk_dist_group *first = wk_dist_new_group((0, 1));
    RANK_CHECK(pthread_create(&other, NULL, sum_many, first) == 0);
    void *wrong;
    pthread_join(other, &wrong); /* one after another: all ranks make the calls of both in the same order */
    RANK_CHECK(!wrong && !sum_many(NULL));
    leave();
}

static void threads(void **state)
{
    (void)state;
    ranks_do(2, in_two_threads);
}

static void forks(int rank)
{
    WK_SCOPE;
    (void)rank;
    join();
    RANK_CHECK(sum_in(NULL, 1) == 2);
    const pid_t child = fork();
    if (child == 0) {
        WK_SCOPE;
        if (wk_item(wk_sum(wk_ones((3)))) != 3) _exit(1); /* the child computes */
        if (wk_dist_barrier() != WK_ERR_STATE || !strstr(wk_error(), "this process was forked after")) _exit(2);
        wk_dist_finish();
        _exit(0);
    }
    int status = -1;
    RANK_CHECK(waitpid(child, &status, 0) == child && status == 0);
    RANK_CHECK(sum_in(NULL, 1) == 2);
    leave();
}

static void a_forked_child_is_not_a_rank(void **state)
{
    (void)state;
    ranks_do(2, forks);
}

static void joins_twice(int rank)
{
    WK_SCOPE;
    (void)rank;
    join();
    RANK_CHECK(sum_in(NULL, 1) == 2);
    RANK_CHECK(wk_dist_init() == WK_ERR_STATE);
    wk_clear_error();
    leave();
    RANK_CHECK(sum_in(NULL, 1) == 1);
}

static void a_process_joins_once(void **state)
{
    (void)state;
    ranks_do(2, joins_twice);
}

/* ---- end of the world -------------------------------------------------------------------------------------------- */

/* Waits until this rank knows that another one is in wk_dist_finish. */
static void await_first_at_end(void)
{
    wk__tcp *tcp = wk__dist_session_now.world;
    bool there = false;
    while (!there) {
        usleep(1000);
        pthread_mutex_lock(&tcp->lock);
        there = tcp->leave_count > 0;
        pthread_mutex_unlock(&tcp->lock);
    }
}

/* Rank 2 has no more work. */
static void passes_on_at_end(int rank)
{
    join();
    for (int k = 0; k < 3 && rank < 2; k++) {
        WK_SCOPE;
        if (k == 0) await_first_at_end();
        wk_tensor *x = wk_full((1 + 50000 * k), rank + 1);
        if (rank == k % 2)
            RANK_CHECK(wk_dist_send(x, !rank) == WK_OK);
        else
            RANK_CHECK(wk_dist_recv_(x, !rank) == x && wk_item(wk_amin(x)) == 1 + k % 2);
    }
    leave();
}

static void two_ranks_when_a_third_is_at_the_end(void **state)
{
    (void)state;
    ranks_do(3, passes_on_at_end);
}

/* ---- transports that leave more to the queue --------------------------------------------------------------------- */

static wk__dist_transport transport; /* tcp with changed functions */

/* An agreement precedes the call and has its number; for tcp, a rank in wk_dist_finish has made all calls before that
 * number. */
static wk_code call_of_tcp(void *world, const wk__dist_call *call, wk__dist_error *fail)
{
    wk__dist_call own = *call;
    own.sequence += own.request->kind == WK__DIST_FINISH;
    return wk__dist_tcp.call(world, &own, fail);
}

static void join_with(bool agrees, bool prompt)
{
    join();
    transport = wk__dist_tcp;
    transport.call = call_of_tcp;
    transport.checks_agreement = agrees;
    transport.honors_deadline = prompt;
    wk__dist_session_now.transport = &transport;
}

/* Like a transport without statuses: it does what all ranks request. */
static void calls_without_comparison(int rank)
{
    join_with(false, rank % 2 == 0);
    const int n = wk_dist_size(), last = n - 1;
    for (int k = 0; k < 20; k++) {
        WK_SCOPE;
        wk_tensor *x = wk_full((1000), rank + 1.0), *y = wk_zeros((3));
        RANK_CHECK(wk_dist_all_reduce_(x) && wk_item(wk_amax(x)) == n * (n + 1) / 2);
        if (rank == last) wk_matmul(x, wk_ones((2, 2)));
        RANK_CHECK(!wk_dist_all_gather(x) && wk_error_code() == WK_ERR_SHAPE);
        rank_save_error();
        RANK_CHECK(wk_numel(wk_dist_all_gather(y)) == 3 * n);
        if (rank == 0) RANK_CHECK(wk_dist_send(wk_matmul(x, wk_ones((2, 2))), last) == WK_ERR_SHAPE);
        if (rank == last) RANK_CHECK(!wk_dist_recv_(y, 0) && wk_error_code() == WK_ERR_SHAPE);
        if (rank == last) rank_save_error();
        wk_clear_error();
        if (rank == 0) RANK_CHECK(wk_dist_send(y, last) == WK_OK);
        if (rank == last) RANK_CHECK(wk_dist_recv_(y, 0) == y);
    }
    leave();
}

static void a_transport_that_does_not_compare(void **state)
{
    (void)state;
    for (int n = 2; n <= RANKS_MOST; n++) {
        ranks r = {.size = n, .body = calls_without_comparison};
        ranks_run(&r);
        for (int k = 0; k < n - 1; k++)
            expect_rank_error(&r, k, WK_ERR_SHAPE, "dist_all_gather: rank ", " failed: ", "matmul: ", NULL);
        expect_rank_error(&r, n - 1, WK_ERR_SHAPE, "dist_recv_: rank ", ": recv (12 bytes): rank 0 on ",
                          " failed: ", "matmul: ", NULL);
        ranks_free(&r);
    }
}

static void differ_without_comparison(int rank)
{
    WK_SCOPE;
    join_with(false, true);
    if (rank == 1)
        wk_dist_barrier();
    else
        wk_dist_broadcast_(wk_ones((7)), 2);
    RANK_CHECK(wk_error_code() == WK_ERR_STATE);
    rank_save_error();
    RANK_CHECK(wk_dist_barrier() == WK_ERR_STATE &&
               strstr(wk_error(), "an earlier call failed: mismatched collectives"));
    atomic_store(&my_note()->flag,
                 1); /* tcp does not know that this world has ended: calls report that the leaving rank has left */
    for (int k = 0; k < 3; k++)
        while (!atomic_load(&note_of(k)->flag)) usleep(1000);
    wk_dist_finish();
}

static void ranks_that_differ_in_such_a_transport(void **state)
{
    (void)state;
    ranks r = {.size = 3, .body = differ_without_comparison};
    ranks_run(&r);
    for (int k = 0; k < 3; k++)
        expect_rank_error(&r, k, WK_ERR_STATE, "mismatched collectives: rank 0 on ",
                          " called broadcast of 7 f32 from rank 2, rank 1 on ", " called barrier", NULL);
    ranks_free(&r);
}

static wk_code never_returns(void *world, const wk__dist_call *call, wk__dist_error *fail)
{
    if (call->request->kind != WK__DIST_BARRIER) return wk__dist_tcp.call(world, call, fail);
    for (;;) pause();
}

/* The program continues without the stuck thread, and ends. */
static void is_stuck(int rank)
{
    WK_SCOPE;
    (void)rank;
    join_with(true, false);
    transport.call = never_returns;
    RANK_CHECK(sum_in(NULL, 1) == 2);
    RANK_CHECK(wk_dist_barrier() == WK_ERR_TIMEOUT);
    rank_save_error();
    RANK_CHECK(wk_dist_barrier() == WK_ERR_TIMEOUT && strstr(wk_error(), "an earlier call has not returned"));
    wk_clear_error();
    float number = 1;
    const wk__dist_request request = sum_of(&number, 1);
    wk__dist_ticket ticket;
    wk__dist_submit(&ticket, wk__dist_world(), &request);
    RANK_CHECK(wk__dist_wait(&ticket, (wk_site){0}, "backward") == WK_ERR_TIMEOUT && !ticket.abandoned);
    wk_clear_error();
    RANK_CHECK(wk_dist_finish() == WK_ERR_TIMEOUT);
    wk_clear_error();
    RANK_CHECK(wk_dist_init() == WK_ERR_STATE && strstr(wk_error(), "has not returned"));
}

static void a_transport_that_does_not_return(void **state)
{
    (void)state;
    ranks r = {.size = 2, .body = is_stuck, .timeout = 3};
    ranks_run(&r);
    for (int k = 0; k < 2; k++)
        expect_rank_error(&r, k, WK_ERR_TIMEOUT, ": barrier 3: timed out after 3 s: another rank is dead or stuck",
                          NULL);
    ranks_free(&r);
}

/* Returns after the program has given up, then writes to the request's memory. */
static wk_code returns_late(void *world, const wk__dist_call *call, wk__dist_error *fail)
{
    const wk__dist_request *q = call->request;
    (void)world, (void)fail;
    while (!atomic_load(&my_note()->flag)) usleep(2000);
    const bool there = call->group->size == 2 && call->group->world_rank; /* the world has no list of its ranks */
    my_note()->number[1] = there;
    memset(q->out, 1, (size_t)q->count * wk_dtype_size(q->dtype));
    atomic_store(&my_note()->flag, 2);
    return WK_OK;
}

static void let_the_call_return(void)
{
    atomic_store(&my_note()->flag, 1);
    while (atomic_load(&my_note()->flag) < 2) usleep(2000);
}

/* The request no longer uses caller memory after a timeout; large memory that it uses is never freed. */
static void leaves_memory(int rank)
{
    float own[4] = {0};
    (void)rank;
    join_with(true, false);
    transport.call = returns_late;
    wk__dist_ticket ticket;
    const wk__dist_request request = sum_of(own, 4);
    wk__dist_submit(&ticket, wk__dist_world(), &request);
    RANK_CHECK(wk__dist_wait(&ticket, (wk_site){0}, "backward") == WK_ERR_TIMEOUT);
    rank_save_error();
    let_the_call_return();
    for (int k = 0; k < 4; k++) RANK_CHECK(own[k] == 0);
}

static int64_t live(void)
{
    wk_memory_stats stats = {.size = sizeof stats};
    RANK_CHECK(wk_memory_stats_of(wk_cpu(), &stats) == WK_OK);
    return stats.live;
}

/* The scope of tensors and group ends while the transport still uses both. */
static void times_out(bool transposed)
{
    WK_SCOPE;
    wk_dist_group *group = wk_dist_new_group((0, 1));
    transport.call = returns_late;
    wk_tensor *x = wk_rand((300, 400));
    wk_sync();
    if (transposed) x = wk_transpose(x, 0, 1);
    RANK_CHECK(!wk_dist_all_reduce_(x, .group = group) && wk_error_code() == WK_ERR_TIMEOUT);
    rank_save_error();
}

/* The result's memory remains, and that of x if the transport reads it directly. */
static void leaves_tensors(int rank)
{
    (void)rank;
    join_with(true, false);
    times_out(false);
    RANK_CHECK(live() >= 2 * 300 * 400 * 4);
    let_the_call_return();
    RANK_CHECK(my_note()->number[1] == 1);
}

static void leaves_a_copy(int rank)
{
    (void)rank;
    join_with(true, false);
    times_out(true);
    RANK_CHECK(live() >= 300 * 400 * 4);
    let_the_call_return();
}

static void a_call_that_returns_late(void **state)
{
    (void)state;
    void (*const body[])(int) = {leaves_memory, leaves_tensors, leaves_a_copy};
    for (int k = 0; k < 3; k++) {
        ranks r = {.size = 2, .body = body[k], .timeout = 1};
        ranks_run(&r);
        expect_rank_error(&r, 0, WK_ERR_TIMEOUT, "timed out after 1 s: another rank is dead or stuck", NULL);
        ranks_free(&r);
    }
}

/* The agreement completes after this rank has given up: it must not make a call with memory that may be freed. */
static wk_code completes_the_agreement_late(void *world, const wk__dist_call *call, wk__dist_error *fail)
{
    const wk__dist_request *q = call->request;
    (void)world, (void)fail;
    if (q->kind == WK__DIST_ALL_REDUCE) my_note()->number[0]++;
    if (q->kind != WK__DIST_ALL_GATHER) return WK_OK;
    for (int k = 0; k < 2; k++) memcpy((char *)q->out + k * q->count, q->in, (size_t)q->count);
    while (!atomic_load(&my_note()->flag)) usleep(2000);
    return WK_OK;
}

static void times_out_while_ranks_agree(int rank)
{
    WK_SCOPE;
    (void)rank;
    join_with(false, false);
    transport.call = completes_the_agreement_late;
    RANK_CHECK(!wk_dist_all_reduce_(wk_ones((3))) && wk_error_code() == WK_ERR_TIMEOUT);
    rank_save_error();
    atomic_store(&my_note()->flag, 1);
    usleep(300000);
    RANK_CHECK(my_note()->number[0] == 0);
}

static void an_agreement_that_completes_late(void **state)
{
    (void)state;
    ranks r = {.size = 2, .body = times_out_while_ranks_agree, .timeout = 1};
    ranks_run(&r);
    ranks_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_under_way),
        cmocka_unit_test(timeout_names_the_request),
        cmocka_unit_test(groups_of_some_ranks),
        cmocka_unit_test(tensors),
        cmocka_unit_test(threads),
        cmocka_unit_test(a_forked_child_is_not_a_rank),
        cmocka_unit_test(a_process_joins_once),
        cmocka_unit_test(two_ranks_when_a_third_is_at_the_end),
        cmocka_unit_test(a_transport_that_does_not_compare),
        cmocka_unit_test(ranks_that_differ_in_such_a_transport),
        cmocka_unit_test(a_transport_that_does_not_return),
        cmocka_unit_test(a_call_that_returns_late),
        cmocka_unit_test(an_agreement_that_completes_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
