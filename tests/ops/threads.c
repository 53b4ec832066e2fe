/* SPDX-License-Identifier: Apache-2.0 */
/* Tests calls from several threads: a random stream per thread (rule 14 of docs/contributing/invariants.md), calls by
 * name in one context (rule 30), gradients of a shared leaf. */
#include "support/threads.h"

enum { ROUNDS = 200, DRAWN = 64 };

/* ---- random numbers ---------------------------------------------------------------------------------------------- */

typedef struct draws {
    float number[TEST_THREADS][DRAWN];
    bool seeded;
    int stream;
} draws;

static void draws_numbers(test_thread *t)
{
    WK_SCOPE;
    draws *d = t->user;
    if (d->seeded) wk_seed(7);
    if (d->stream) wk_seed_stream(7, (uint64_t)d->stream);
    for (int k = 0; k < DRAWN; k++) {
        d->number[t->number][k] = (float)wk_item(wk_rand((1)));
        if (k % 8 == 0) sched_yield();
    }
}

static bool same(const float *a, const float *b)
{
    return memcmp(a, b, sizeof(float) * DRAWN) == 0;
}

static void each_thread_has_a_separate_stream(void **state)
{
    (void)state;
    static draws seeded = {.seeded = true}, unseeded, alone, disturbed, chosen = {.stream = 5};
    test_threads(4, draws_numbers, &seeded);
    test_threads(4, draws_numbers, &unseeded);
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < a; b++) {
            assert_false(same(seeded.number[a], seeded.number[b]));
            assert_false(same(unseeded.number[a], unseeded.number[b]));
        }
    test_threads(4, draws_numbers, &chosen);
    for (int a = 1; a < 4; a++) assert_true(same(chosen.number[a], chosen.number[0]));
    test_thread self = {.user = &alone};
    wk_seed(3);
    draws_numbers(&self);
    test_thread others[3];
    self.user = &disturbed;
    wk_seed(3);
    test_threads_start(others, 3, draws_numbers, &unseeded);
    draws_numbers(&self);
    test_threads_end(others, 3);
    assert_true(same(alone.number[0], disturbed.number[0])); /* draws of other threads change nothing */
}

/* ---- wk_call ----------------------------------------------------------------------------------------------------- */

static wk_tensor *call_add(test_thread *t, wk_tensor *a, wk_tensor *b)
{
    char message[200];
    wk_value in[2] = {{.kind = WK_VALUE_TENSOR, .tensor = a}, {.kind = WK_VALUE_TENSOR, .tensor = b}}, out[1];
    int count = 1;
    wk_code code = wk_call(NULL, "add", in, 2, out, &count, NULL, message, sizeof message);
    THREAD_CHECK(t, (code == WK_OK) == (count == 1) && (code == WK_OK) == (message[0] == 0));
    if (code != WK_OK) THREAD_CHECK(t, code == WK_ERR_SHAPE && strstr(message, "broadcast"));
    return count == 1 ? out[0].tensor : NULL;
}

static void calls_by_name(test_thread *t)
{
    wk_tensor *shared = t->user, *misfit = wk_ones((4));
    for (int k = 0; k < ROUNDS; k++) {
        wk_tensor *mine = wk_full((3), (double)k), *sum = call_add(t, mine, shared);
        THREAD_CHECK(t, sum && wk_item(wk_sum(sum)) == 3.0 * (k + 1));
        THREAD_CHECK(t, call_add(t, mine, misfit) == NULL && wk_error() == NULL);
        wk_free(mine);
        wk_free(sum);
    }
    wk_free(misfit);
}

static void one_context_serves_all_threads(void **state)
{
    (void)state;
    wk_tensor *shared = wk_ones((3));
    test_threads(4, calls_by_name, shared);
    wk_free(shared);
}

/* ---- leaves ------------------------------------------------------------------------------------------------------ */

static void differentiates(test_thread *t)
{
    wk_tensor *w = t->user;
    for (int k = 1; k <= ROUNDS; k++) {
        WK_SCOPE;
        wk_tensor *loss = wk_sum(wk_mul(wk_mul(w, w), k)), *grad;
        THREAD_CHECK(t, wk_grad((loss), (w), &grad) == WK_OK);
        THREAD_CHECK(t, wk_item(wk_sum(grad)) == 2.0 * 3 * k);
    }
}

static void threads_share_a_leaf(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *w = wk_retain(wk_ones((3), .requires_grad = true));
    test_threads(4, differentiates, w);
    assert_null(wk_grad_of(w));
    wk_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_thread_has_a_separate_stream),
        cmocka_unit_test(one_context_serves_all_threads),
        cmocka_unit_test(threads_share_a_leaf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
