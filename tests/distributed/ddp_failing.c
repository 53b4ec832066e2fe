/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that an error of one rank of wk_ddp fails all, so that no rank steps alone, and the state after a world has
 * ended. */
#include "support/ranks.h"

#include "distributed/session.h"
#include <pthread.h>

static wk_tensor *fails_in_rank_1(wk_tensor *grad, void *user)
{
    (void)user;
    if (wk_dist_rank() == 1) wk_matmul(wk_ones((2, 3)), wk_ones((2, 3)));
    return grad;
}

/* The input has a history, whose gradient follows those of all parameters. */
static void fails_behind_the_last_bucket(int rank)
{
    WK_SCOPE;
    RANK_CHECK(wk_dist_init() == WK_OK);
    wk_seed(3);
    wk_module *net = wk_nn_linear(3, 2), *ddp = wk_ddp(net);
    wk_optim *sgd = wk_optim_sgd(wk_parameters(ddp), .lr = 0.1);
    wk_tensor *raw = wk_ones((1, 3), .requires_grad = true), *x = wk_mul(raw, wk_full((1, 3), rank + 1.0));
    wk_register_hook(x, fails_in_rank_1, NULL);
    const double before = wk_item(wk_sum(wk_module_parameter(net, "weight")));
    RANK_CHECK(wk_backward(wk_sum(wk_forward(ddp, x))) == WK_ERR_SHAPE);
    wk_optim_step(sgd);
    rank_save_error();
    RANK_CHECK(wk_item(wk_sum(wk_module_parameter(net, "weight"))) == before);
    RANK_CHECK(wk_dist_finish() == WK_OK && !wk_error());
}

static void error_after_last_bucket(void **state)
{
    (void)state;
    ranks r = {.size = 3, .body = fails_behind_the_last_bucket};
    ranks_run(&r);
    for (int k = 0; k < 3; k += 2)
        expect_rank_error(&r, k, WK_ERR_SHAPE, "backward: rank ", "rank 1 on ", " failed: ", "matmul: ", NULL);
    expect_rank_error(&r, 1, WK_ERR_SHAPE, "matmul: ", NULL);
    ranks_free(&r);
}

/* Two networks of equal size, whose buckets look alike. */
static void takes_networks_in_its_own_order(int rank)
{
    WK_SCOPE;
    RANK_CHECK(wk_dist_init() == WK_OK);
    wk_module *ddp[] = {wk_ddp(wk_nn_linear(3, 2)), wk_ddp(wk_nn_linear(3, 2))};
    wk_tensor *x = wk_ones((1, 3)), *first = wk_sum(wk_forward(ddp[rank], x));
    RANK_CHECK(wk_backward(wk_add(first, wk_sum(wk_forward(ddp[1 - rank], x)))) == WK_ERR_STATE);
    rank_save_error();
}

static void networks_in_another_order(void **state)
{
    (void)state;
    ranks r = {.size = 2, .body = takes_networks_in_its_own_order};
    ranks_run(&r);
    for (int k = 0; k < 2; k++)
        expect_rank_error(&r, k, WK_ERR_STATE, "backward: rank ", "mismatched collectives: rank 0 on ",
                          " called all_reduce of 10 f32, avg for wk_ddp 2, rank 1 on ", "for wk_ddp 1", NULL);
    ranks_free(&r);
}

/* Groups {0, 1}, {1, 2} and {0, 2}: each rank runs its two in an order in which each waits for the next rank. */
static void waits_in_a_circle(int rank)
{
    WK_SCOPE;
    RANK_CHECK(wk_dist_init() == WK_OK);
    wk_dist_group *const group[] = {wk_dist_new_group((0, 1)), wk_dist_new_group((1, 2)), wk_dist_new_group((0, 2))};
    wk_module *ddp[3] = {NULL};
    for (int k = 0; k < 3; k++)
        if (wk_dist_group_rank(group[k]) >= 0) ddp[k] = wk_ddp(wk_nn_linear(3, 2), .group = group[k]);
    wk_tensor *x = wk_ones((1, 3)), *first = wk_sum(wk_forward(ddp[rank], x));
    RANK_CHECK(wk_backward(wk_add(first, wk_sum(wk_forward(ddp[(rank + 2) % 3], x)))) == WK_ERR_TIMEOUT);
    rank_save_error();
}

static void networks_of_groups_in_a_circle(void **state)
{
    (void)state;
    ranks r = {.size = 3, .timeout = 2, .body = waits_in_a_circle};
    ranks_run(&r);
    for (int k = 0; k < 3; k++) expect_rank_error(&r, k, WK_ERR_TIMEOUT, "backward: ", "all_reduce", NULL);
    ranks_free(&r);
}

/* Rank 1 fails before it communicates; the others fail with it, and all try again. */
static void wraps_twice(int rank)
{
    WK_SCOPE;
    RANK_CHECK(wk_dist_init() == WK_OK);
    wk_module *net = wk_nn_linear(3, 2);
    RANK_CHECK(!wk_ddp(net, .bucket_cap_mb = rank == 1 ? -1 : 25));
    if (rank == 1) RANK_CHECK(wk_dist_barrier() != WK_OK);
    rank_save_error();
    wk_module *ddp = wk_ddp(net);
    RANK_CHECK(ddp && wk_backward(wk_sum(wk_forward(ddp, wk_ones((1, 3))))) == WK_OK);
    RANK_CHECK(wk_dist_finish() == WK_OK && !wk_error());
}

static void networks_are_wrapped_after_an_error(void **state)
{
    (void)state;
    ranks r = {.size = 2, .body = wraps_twice};
    ranks_run(&r);
    expect_rank_error(&r, 1, WK_ERR_ARGUMENT, "bucket_cap_mb", NULL);
    ranks_free(&r);
}

static void *runs_backward(void *ddp)
{
    WK_SCOPE;
    RANK_CHECK(wk_backward(wk_sum(wk_forward((wk_module *)ddp, wk_ones((1, 3))))) == WK_ERR_STATE);
    rank_save_error();
    return NULL;
}

static wk_tensor *waits_for_another_thread(wk_tensor *grad, void *ddp)
{
    pthread_t thread;
    (void)grad;
    RANK_CHECK(pthread_create(&thread, NULL, runs_backward, ddp) == 0 && pthread_join(thread, NULL) == 0);
    return NULL;
}

/* The hook runs after wk_ddp's, during the backward pass. */
static void runs_two_backwards_at_once(int rank)
{
    WK_SCOPE;
    (void)rank;
    RANK_CHECK(wk_dist_init() == WK_OK);
    wk_module *ddp = wk_ddp(wk_nn_linear(3, 2));
    wk_tensor *y = wk_forward(ddp, wk_ones((1, 3)));
    wk_register_hook(y, waits_for_another_thread, ddp);
    RANK_CHECK(wk_backward(wk_sum(y)) == WK_OK);
    RANK_CHECK(wk_dist_finish() == WK_OK && !wk_error());
}

static void two_backwards_at_once(void **state)
{
    (void)state;
    ranks r = {.size = 2, .body = runs_two_backwards_at_once};
    ranks_run(&r);
    for (int k = 0; k < 2; k++)
        expect_rank_error(&r, k, WK_ERR_STATE, "backward: another thread is in a backward through this wk_ddp", NULL);
    ranks_free(&r);
}

static wk_tensor *finishes_in_a_hook(wk_tensor *grad, void *user)
{
    (void)grad, (void)user;
    if (wk_dist_rank() == 1) RANK_CHECK(wk_dist_finish() == WK_ERR_STATE);
    return NULL;
}

static void finishes_within_backward(int rank)
{
    WK_SCOPE;
    RANK_CHECK(wk_dist_init() == WK_OK);
    wk_module *ddp = wk_ddp(wk_nn_linear(3, 2));
    wk_register_hook(wk_module_parameter(ddp, "weight"), finishes_in_a_hook, NULL);
    RANK_CHECK(wk_backward(wk_sum(wk_forward(ddp, wk_full((1, 3), rank + 1.0)))) == WK_ERR_STATE);
    rank_save_error();
    RANK_CHECK(wk_dist_size() == 2 && wk_dist_barrier() == WK_OK);
    RANK_CHECK(wk_dist_finish() == WK_OK && !wk_error());
}

static void a_world_is_not_left_within_backward(void **state)
{
    (void)state;
    ranks r = {.size = 2, .body = finishes_within_backward};
    ranks_run(&r);
    expect_rank_error(&r, 0, WK_ERR_STATE, "backward: rank 0 of 2", "rank 1 on ",
                      "dist_finish: called during a backward", NULL);
    expect_rank_error(&r, 1, WK_ERR_STATE, "dist_finish: called during a backward; call it after wk_backward returns",
                      NULL);
    ranks_free(&r);
}

static void continues_without_a_world(int rank)
{
    WK_SCOPE;
    (void)rank;
    RANK_CHECK(wk_dist_init() == WK_OK);
    wk_dist_group *group = wk_dist_new_group((0, 1));
    wk_module *ddp = wk_ddp(wk_nn_linear(3, 2), .group = group);
    RANK_CHECK(wk_backward(wk_sum(wk_forward(ddp, wk_ones((1, 3))))) == WK_OK);
    wk__dist_session_now.generation++; /* like a world that was joined later */
    RANK_CHECK(wk_backward(wk_sum(wk_forward(ddp, wk_ones((1, 3))))) == WK_ERR_STATE);
    wk_clear_error();
    wk__dist_session_now.generation--;
    RANK_CHECK(wk_dist_finish() == WK_OK && !wk_error());
    RANK_CHECK(wk_backward(wk_sum(wk_forward(ddp, wk_ones((1, 3))))) == WK_ERR_STATE);
    rank_save_error();
}

static void a_group_whose_world_has_ended(void **state)
{
    (void)state;
    ranks r = {.size = 2, .body = continues_without_a_world};
    ranks_run(&r);
    for (int k = 0; k < 2; k++)
        expect_rank_error(&r, k, WK_ERR_STATE, "backward: ", "the group belongs to a world that this process has left",
                          NULL);
    ranks_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(error_after_last_bucket),        cmocka_unit_test(networks_in_another_order),
        cmocka_unit_test(networks_of_groups_in_a_circle), cmocka_unit_test(networks_are_wrapped_after_an_error),
        cmocka_unit_test(two_backwards_at_once),          cmocka_unit_test(a_world_is_not_left_within_backward),
        cmocka_unit_test(a_group_whose_world_has_ended)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
