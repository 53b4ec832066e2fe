/* SPDX-License-Identifier: Apache-2.0 */
/* Tests ranks with different networks (src/distributed/model_check.c): all ranks report the first difference. */
#include "support/ranks.h"

static void join(void)
{
    RANK_CHECK(wk_dist_init() == WK_OK);
}

static void leave(void)
{
    RANK_CHECK(wk_dist_finish() == WK_OK);
    RANK_CHECK(!wk_error());
}

/* Networks that differ from rank 0's in some ranks. */
typedef enum difference {
    WIDER,
    FROZEN,
    OF_F64,
    SHORTER,
    LONGER,
    EMPTY,
    NOT_EMPTY,
    NAMED,
    LONG_NAME,
    LONG_LIST,
    DIFFERENCES
} difference;

static int forward_nothing(wk_module *m, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    (void)m, (void)in, (void)inputs, (void)out, (void)outputs;
    return -1;
}

static const wk_module_kind own_kind = {.size = sizeof own_kind, .name = "own", .forward = forward_nothing};

static wk_module *with_parameter(const char *name, int64_t count, wk_dtype dtype)
{
    wk_module *m = wk_module_new(&own_kind);
    wk_module_add_parameter(m, name, wk_ones((count), .dtype = dtype));
    return m;
}

#define X10  "xxxxxxxxxx"
#define X100 X10 X10 X10 X10 X10 X10 X10 X10 X10 X10

/* Names of more bytes than the ranks exchange; only the last name differs. */
static wk_module *with_a_long_list(bool other)
{
    enum { NAMES = 280, BYTES = 4000 };
    static char name[BYTES];
    wk_module *m = wk_module_new(&own_kind);
    memset(name, 'x', sizeof name - 1);
    for (int k = 0; k < NAMES; k++) {
        name[BYTES - 3] = (char)('0' + k / 16);
        name[BYTES - 2] = (char)(other && k == NAMES - 1 ? 'z' : 'a' + k % 16);
        wk_module_add_parameter(m, name, wk_ones((1)));
    }
    return m;
}

static wk_module *network_of(difference what, bool other)
{
    wk_module *net = wk_nn_linear(3, what == WIDER && other ? 5 : 4);
    const bool two = other == (what == LONGER);
    switch (what) {
    case FROZEN: wk_requires_grad_(wk_module_parameter(net, "bias"), !other); return net;
    case OF_F64: return with_parameter("weight", 4, other ? WK_F64 : WK_F32);
    case SHORTER:
    case LONGER: return two ? wk_nn_sequential(net, wk_nn_linear(4, 2)) : wk_nn_sequential(net);
    case EMPTY:
    case NOT_EMPTY: return other == (what == EMPTY) ? wk_nn_relu() : net;
    case NAMED: return other ? wk_nn_sequential(wk_nn_relu(), net) : wk_nn_sequential(net);
    case LONG_NAME: return with_parameter("\001" X100 X100 X100, other ? 2 : 1, WK_F32);
    case LONG_LIST: return with_a_long_list(other);
    default: return net;
    }
}

/* A bit for each rank with a different network. */
static const int others[DIFFERENCES] = {[WIDER] = 2, [FROZEN] = 4,    [OF_F64] = 14, [SHORTER] = 8,   [LONGER] = 12,
                                        [EMPTY] = 2, [NOT_EMPTY] = 6, [NAMED] = 8,   [LONG_NAME] = 2, [LONG_LIST] = 4};
static const char *const messages[DIFFERENCES] = {
    [WIDER] = "\"weight\" is f32[5,3] on rank 1 and f32[4,3] on rank 0",
    [FROZEN] = "\"bias\" requires grad on rank 0 but not on rank 2",
    [OF_F64] = "\"weight\" is f64[4] on rank 1 and f32[4] on rank 0",
    [SHORTER] = "rank 3 has no parameter or buffer after \"0.bias\", rank 0 has \"1.weight\"",
    [LONGER] = "rank 0 has no parameter or buffer after \"0.bias\", rank 2 has \"1.weight\"",
    [EMPTY] = "rank 1 has no parameters and buffers, rank 0 has \"weight\"",
    [NOT_EMPTY] = "rank 0 has no parameters and buffers, rank 1 has \"weight\"",
    [NAMED] = "parameter or buffer 1 is \"1.weight\" on rank 3 and \"0.weight\" on rank 0",
    [LONG_NAME] = "\"\\x01" X10 X10 X10 X10 X10 X10 X10 "xxxxxxxxx\" is f32[2] on rank 1 and f32[1] on rank 0",
    [LONG_LIST] = "rank 2 and rank 0 differ after the first 261 parameters and buffers"};

/* Afterwards the world is usable. */
static void makes_another_network(int rank)
{
    WK_SCOPE;
    join();
    const difference what = (difference)(intptr_t)the_ranks->user;
    RANK_CHECK(!wk_ddp(network_of(what, others[what] >> rank & 1)));
    rank_save_error();
    RANK_CHECK(wk_ddp(wk_nn_linear(3, 4)));
    leave();
}

static void networks_that_differ(void **state)
{
    (void)state;
    for (difference what = 0; what < DIFFERENCES; what++) {
        char text[200];
        int size = 2;
        while (others[what] >> size) size++;
        ranks r = {.size = size, .body = makes_another_network, .user = (void *)(intptr_t)what};
        ranks_run(&r);
        snprintf(text, sizeof text, "ddp: networks differ: %s; names, shapes, ", messages[what]);
        for (int k = 0; k < size; k++) expect_rank_error(&r, k, WK_ERR_ARGUMENT, text, NULL);
        ranks_free(&r);
    }
}

/* Ranks are named by their numbers in the world. */
static void differs_in_a_group(int rank)
{
    WK_SCOPE;
    join();
    wk_dist_group *pair = wk_dist_new_group((2, 1));
    if (rank > 0) RANK_CHECK(!wk_ddp(wk_nn_linear(3, 3 + rank), .group = pair));
    rank_save_error();
    leave();
}

static void networks_that_differ_in_a_group(void **state)
{
    (void)state;
    ranks r = {.size = 3, .body = differs_in_a_group};
    ranks_run(&r);
    for (int k = 1; k < 3; k++)
        expect_rank_error(&r, k, WK_ERR_ARGUMENT, "\"weight\" is f32[4,3] on rank 1 and f32[5,3] on rank 2;", NULL);
    ranks_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(networks_that_differ),
                                       cmocka_unit_test(networks_that_differ_in_a_group)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
