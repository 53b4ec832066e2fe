/* SPDX-License-Identifier: Apache-2.0 */
/* Tests tensors shared by several threads (rule 27 of docs/contributing/invariants.md): each thread has a separate
 * ring, and using a pending result runs the ring of its writer first. Also run under ThreadSanitizer. */
#include "support/threads.h"

#include "backend/null/null.h"
#include "engine/op_queue.h"

enum { ROUNDS = 300, LONG = 1000 };

/* ---- handover ---------------------------------------------------------------------------------------------------- */

static void reads_sevens(test_thread *t)
{
    WK_SCOPE;
    wk_tensor *x = t->user;
    THREAD_CHECK(t, wk_item(wk_sum(x)) == 42);
    wk_free(x);
}

static void a_pending_result_runs_for_its_reader(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *seven = wk_retain(wk_add(wk_mul(wk_ones((2, 3)), 2), 5));
    test_in_thread(reads_sevens, seven);
    wk_tensor *used = wk_retain(wk_add(seven, 0));
    EXPECT_VALUES(used, 0, 7, 7, 7, 7, 7, 7);
    wk_free(used);
}

/* A parked value reads the old values of its operands, whichever thread computes it and whatever became of them. */
static void a_parked_result_is_computed_for_its_reader(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *z = wk_retain(wk_full((2, 3), 5.0));
    wk_tensor *seven = wk_add(z, 2), *held;
    wk_flush();
    held = wk_retain(seven);
    wk_mul_(z, 100);
    test_in_thread(reads_sevens, held);
    EXPECT_VALUES(wk_mul(seven, 2), 0, 14, 14, 14, 14, 14, 14);
    wk_free(z);
}

/* One thread computes with results that only its scopes own, while another repeatedly runs its ring. */
typedef struct passing {
    _Atomic(wk_tensor *) slot; /* handed over and not yet taken */
    atomic_int over;
} passing;

static void takes_and_reads(test_thread *t)
{
    passing *p = t->user;
    double last = 0;
    while (!atomic_load(&p->over)) {
        wk_tensor *x = atomic_exchange(&p->slot, NULL);
        if (!x) {
            sched_yield();
            continue;
        }
        double now = wk_item(x);
        THREAD_CHECK(t, now > last && now < 2 * LONG + 1);
        last = now;
        wk_free(x);
    }
}

static void a_ring_is_run_by_another_thread_while_it_fills(void **state)
{
    (void)state;
    WK_SCOPE;
    passing p = {.slot = NULL};
    test_thread reader[1];
    test_threads_start(reader, 1, takes_and_reads, &p);
    wk_tensor *x = wk_ones(());
    double wrong = 0;
    for (int k = 1; k <= LONG; k++) {
        WK_SCOPE;
        wk_tensor *next = wk_retain(wk_add(wk_mul(x, k), 0.5));
        wk_tensor *old = atomic_exchange(&p.slot, next);
        if (old) wk_free(old);
        /* any of them may be run by the other thread now */
        wk_tensor *a = wk_mul(x, k), *b = wk_add(a, 1), *c = wk_mul(b, b);
        if (k % 7 == 0) wk_flush(); /* or be parked */
        wrong += wk_item(wk_sub(c, (double)(k + 1) * (k + 1))) != 0;
    }
    atomic_store(&p.over, 1);
    test_threads_end(reader, 1);
    wk_tensor *left = atomic_exchange(&p.slot, NULL);
    if (left) wk_free(left);
    assert_true(wrong == 0);
    expect_ok();
}

/* ---- one storage, many threads ----------------------------------------------------------------------------------- */

static void sums(test_thread *t)
{
    wk_tensor *x = t->user;
    for (int k = 1; k <= ROUNDS; k++) {
        WK_SCOPE;
        wk_tensor *y = wk_mul(x, k + t->number);
        THREAD_CHECK(t, wk_item(wk_sum(y)) == 6.0 * (k + t->number));
    }
}

static void many_threads_read_a_pending_result(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_retain(wk_add(wk_zeros((2, 3)), 1));
    test_threads(4, sums, x);
    wk_free(x);
}

typedef struct account {
    pthread_mutex_t lock; /* of the program: a writer has exclusive use of the tensor */
    wk_tensor *total, *half;
} account;

static void deposits(test_thread *t)
{
    account *a = t->user;
    for (int k = 0; k < ROUNDS; k++) {
        WK_SCOPE;
        wk_tensor *amount = wk_add(wk_mul(wk_ones((4)), 2), 1); /* pending, and owned by its scope only */
        pthread_mutex_lock(&a->lock);
        wk_add_(a->total, amount);
        wk_mul_(a->half, 1);
        pthread_mutex_unlock(&a->lock);
        THREAD_CHECK(t, wk_item(wk_sum(amount)) == 12);
    }
}

static void writes_in_place_keep_the_order_of_the_program(void **state)
{
    (void)state;
    WK_SCOPE;
    account a = {.lock = PTHREAD_MUTEX_INITIALIZER, .total = wk_retain(wk_zeros((4)))};
    a.half = wk_retain(wk_narrow(a.total, 0, 0, 2));
    test_threads(3, deposits, &a);
    double total = 3.0 * 3 * ROUNDS;
    EXPECT_VALUES(a.total, 0, total, total, total, total);
    EXPECT_VALUES(a.half, 0, total, total);
    wk_free(a.total);
    wk_free(a.half);
}

/* Calls recorded before a write read the old values, in whichever ring they wait. */
static void overwrites(test_thread *t)
{
    WK_SCOPE;
    wk_tensor *x = t->user;
    wk_fill_(x, 100);
    THREAD_CHECK(t, wk_item(wk_sum(x)) == 300);
}

static void calls_of_another_ring_read_the_old_values(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_retain(wk_ones((3))), *before = wk_mul(x, 2);
    test_in_thread(overwrites, x);
    EXPECT_VALUES(x, 0, 100, 100, 100);
    EXPECT_VALUES(before, 0, 2, 2, 2);
    wk_free(x);
}

/* ---- ownership --------------------------------------------------------------------------------------------------- */

static void keeps_and_frees_a_foreign_tensor(test_thread *t)
{
    WK_SCOPE;
    wk_tensor *x = t->user;
    THREAD_CHECK(t, wk_keep(x) == x);
    THREAD_CHECK_ERROR(t, "keep", "another thread", "wk_retain", NULL);
    wk_free(x);
    THREAD_CHECK_ERROR(t, "free", "another thread", "wk_retain", NULL);
    THREAD_CHECK(t, wk_item(wk_sum(x)) == 2);
}

static void keep_and_free_need_the_owning_thread(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((2));
    test_in_thread(keeps_and_frees_a_foreign_tensor, x);
    EXPECT_VALUES(x, 0, 1, 1);
}

/* ---- end of a thread --------------------------------------------------------------------------------------------- */

typedef struct legacy {
    wk_tensor *pending, *parked, *lost;
} legacy;

static void leaves(test_thread *t)
{
    legacy *l = t->user;
    wk_scope_open(WK_HERE); /* never closed */
    wk_tensor *x = wk_full((2), 3.0), *chain = wk_add(wk_exp(wk_mul(x, 0)), 4);
    wk_flush();
    l->parked = wk_retain(chain);
    l->pending = wk_retain(wk_mul(x, 2));
    l->lost = x;
}

static void a_thread_computes_its_results_at_its_end(void **state)
{
    (void)state;
    for (int k = 0; k < ROUNDS / 10; k++) {
        legacy l;
        test_in_thread(leaves, &l);
        EXPECT_VALUES(l.pending, 0, 6, 6);
        EXPECT_VALUES(l.parked, 0, 5, 5);
        wk_free(l.pending);
        wk_free(l.parked);
        if (k > 0) continue; /* a slot may be reused later */
        assert_null(wk_add(l.lost, 1));
        expect_error("scope", "engine/threads.c", NULL);
    }
}

typedef struct last_words {
    _Atomic(wk_tensor *) slot;
} last_words;

static void says_and_goes(test_thread *t)
{
    last_words *w = t->user;
    wk_tensor *x = wk_ones((2)), *y = wk_mul(x, 21);
    wk_free(x);
    atomic_store(&w->slot, y);
}

static void a_result_is_read_while_its_thread_ends(void **state)
{
    (void)state;
    for (int k = 0; k < ROUNDS; k++) {
        last_words w = {.slot = NULL};
        test_thread speaker[1];
        test_threads_start(speaker, 1, says_and_goes, &w);
        wk_tensor *y;
        while (!(y = atomic_load(&w.slot))) sched_yield();
        EXPECT_VALUES(y, 0, 21, 21);
        wk_free(y);
        test_threads_end(speaker, 1);
    }
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/* More free slots than a thread may keep, and a slab that it has hardly begun: both go to the reserve when it ends. */
enum { MANY_MADE = 8000 };

static void frees_all(test_thread *t)
{
    wk_tensor **made = t->user;
    wk_free(wk_zeros((1)));
    for (int k = 0; k < MANY_MADE; k++) wk_free(made[k]);
}

static void a_thread_that_freed_others_objects_ends(void **state)
{
    (void)state;
    static wk_tensor *made[MANY_MADE];
    for (int k = 0; k < MANY_MADE; k++) made[k] = wk_zeros((1));
    test_in_thread(frees_all, made);
    wk_free(wk_zeros((1)));
}

static void errs(test_thread *t)
{
    WK_SCOPE;
    for (int k = 0; k < ROUNDS / 10; k++) {
        THREAD_CHECK(t, wk_error() == NULL);
        wk_add(wk_ones((2 + t->number)), wk_ones((3 + t->number)));
        char shape[32];
        snprintf(shape, sizeof shape, "f32[%d]", 3 + t->number);
        THREAD_CHECK_ERROR(t, "add", shape, NULL);
    }
}

static void errors_belong_to_their_thread(void **state)
{
    (void)state;
    test_threads(4, errs, NULL);
    expect_ok();
}

/* The main thread records on the null device; another thread runs its ring, and the launch is refused. */
typedef struct late {
    wk_tensor *bad, *good;
    atomic_int turn;
} late;

static void has_it_run(test_thread *t)
{
    WK_SCOPE;
    late *l = t->user;
    THREAD_CHECK(t, wk_item(wk_sum(l->good)) == 0); /* runs the main thread's ring, whose errors are its own */
    THREAD_CHECK(t, wk_error() == NULL);
    THREAD_CHECK(t, wk_add(l->bad, 1) == NULL); /* reads a failed value */
    THREAD_CHECK_ERROR(t, "exp", "rejected", NULL);
}

static void reads_an_unrelated_tensor(test_thread *t)
{
    WK_SCOPE;
    THREAD_CHECK(t, wk_item(wk_sum(wk_ones((3)))) == 3);
}

static void deferred_errors_reach_their_recorder_and_readers(void **state)
{
    (void)state;
    if (wk__engine_config_get()->sync) skip(); /* work that runs at its call reports no deferred errors */
    WK_SCOPE;
    wk_tensor_options options = {.size = sizeof options, .device = test_null()};
    wk_tensor *x = wk_retain(wk_ones_at(WK_HERE, (const int64_t[]){4}, 1, &options));
    wk_tensor *other = wk_retain(wk_ones_at(WK_HERE, (const int64_t[]){5}, 1, &options));
    wk_sync();
    late l = {.bad = wk_retain(wk_exp(x)), .good = wk_retain(wk_sqrt(other))};
    wk__null_fail_submit(1);
    test_in_thread(has_it_run, &l);
    wk__null_clear_faults();
    test_in_thread(reads_an_unrelated_tensor, NULL);
    expect_error("exp", "rejected", "engine/threads.c", NULL); /* the work has run, so wk_error reports its error */
    wk_add(other, 1);
    expect_ok(); /* reported once */
    wk_free(l.bad), wk_free(l.good), wk_free(x), wk_free(other);
}

/* A device reports a fault later: the thread that waits for it is not the one that caused it. */
static void reads_on_the_same_device(test_thread *t)
{
    late *l = t->user;
    THREAD_CHECK(t, wk_item(l->good) == 0);
    THREAD_CHECK(t, wk_error() == NULL);
    THREAD_CHECK(t, wk_add(l->bad, 1) == NULL);
    THREAD_CHECK_ERROR(t, "index_select", "7", "4", NULL);
}

static void a_bad_index_is_reported_to_its_thread(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor_options options = {.size = sizeof options, .device = test_null()};
    wk_tensor *x = wk_retain(wk_ones_at(WK_HERE, (const int64_t[]){4}, 1, &options));
    options.dtype = WK_I64;
    wk_tensor *index = wk_retain(wk_mul(wk_ones_at(WK_HERE, (const int64_t[]){2}, 1, &options), 7));
    wk_tensor *good = wk_retain(wk_sum(x));
    wk_sync();
    expect_ok();
    wk__null_fault_submit(1, 7, 4);
    late l = {.bad = wk_retain(wk_index_select(x, 0, index)), .good = good};
    wk_flush(); /* enqueued; the device has not been queried yet */
    expect_ok();
    test_in_thread(reads_on_the_same_device, &l);
    wk__null_clear_faults();
    wk_add(x, 1);
    expect_error("index_select", "7", "engine/threads.c", NULL);
    wk_add(x, 1);
    expect_ok();
    wk_free(l.bad), wk_free(l.good), wk_free(x), wk_free(index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pending_result_runs_for_its_reader),
        cmocka_unit_test(a_parked_result_is_computed_for_its_reader),
        cmocka_unit_test(a_ring_is_run_by_another_thread_while_it_fills),
        cmocka_unit_test(many_threads_read_a_pending_result),
        cmocka_unit_test(writes_in_place_keep_the_order_of_the_program),
        cmocka_unit_test(calls_of_another_ring_read_the_old_values),
        cmocka_unit_test(keep_and_free_need_the_owning_thread),
        cmocka_unit_test(a_thread_computes_its_results_at_its_end),
        cmocka_unit_test(a_result_is_read_while_its_thread_ends),
        cmocka_unit_test(a_thread_that_freed_others_objects_ends),
        cmocka_unit_test(errors_belong_to_their_thread),
        cmocka_unit_test(deferred_errors_reach_their_recorder_and_readers),
        cmocka_unit_test(a_bad_index_is_reported_to_its_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
