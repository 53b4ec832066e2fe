/* SPDX-License-Identifier: Apache-2.0 */
/* Tests checkpoints of several processes: the same world continues bit for bit, another one as documented, and if one
 * rank cannot continue, none does. */
#include "support/turns.h"
#include "support/ranks.h"
#include "support/training.h"

#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "hostile/scratch.h"

enum { EPOCHS = 2, MOST_STEPS = 12 };

/* Parameters of the test for its ranks. */
typedef struct order {
    char path[320];
    int steps; /* -1: to the end */
    int every;
    bool fresh;    /* no file exists yet */
    bool may_fail; /* other ranks are being killed */
    bool draws;    /* draws at the end, and keeps the draw and a sum of the parameters */
    int way;       /* cause of rank 1's failure to load */
} order;

static const order *parameters_of_run(void)
{
    return the_ranks->user;
}

/* ---- a training in all ranks ------------------------------------------------------------------------------------- */

static test_training begin(uint64_t seed)
{
    const test_config plan = {.optimiser = test_adam,
                              .device = wk_cpu(),
                              .samples = 46,
                              .batch = 2,
                              .rank = wk_dist_rank(),
                              .world = wk_dist_size(),
                              .path = parameters_of_run()->path,
                              .keep = 1};
    test_training t = test_begin(&plan, seed);
    wk_seed_stream(seed, (uint64_t)wk_dist_rank()); /* ranks draw different numbers, */
    t.reduce = true;                                /* and share one gradient */
    return t;
}

static void keep_state(const test_training *t)
{
    const uint64_t state = test_state(t);
    my_note()->number[0] = (double)(state >> 32);
    my_note()->number[1] = (double)(state & 0xffffffff);
}

static void expect_no_error(int line)
{
    if (wk_error() && parameters_of_run()->may_fail) _exit(3);
    if (wk_error()) rank_check(false, wk_error(), line);
}

static void train(int rank)
{
    (void)rank;
    WK_SCOPE;
    const order *o = parameters_of_run();
    wk_dist_init();
    expect_no_error(__LINE__);
    test_training t = begin(1);
    const bool loaded = wk_checkpoint_load(t.checkpoint);
    expect_no_error(__LINE__);
    RANK_CHECK(loaded == !o->fresh);
    test_train(&t, EPOCHS, o->steps, o->every);
    expect_no_error(__LINE__);
    if (o->draws) {
        my_note()->number[3] = wk_item(wk_rand(()));
        my_note()->number[4] = wk_item(wk_sum(wk_module_parameter(t.net, "0.weight")));
    }
    my_note()->number[2] = (double)wk_checkpoint_step(t.checkpoint);
    if (o->steps < 0) keep_state(&t);
    wk_dist_finish();
    expect_no_error(__LINE__);
}

static void run(order *o, int size, rank_report *notes)
{
    ranks r = {.size = size, .body = train, .user = o, .bytes = sizeof *o};
    ranks_run(&r);
    for (int k = 0; k < size; k++) notes[k] = r.note[k];
    ranks_free(&r);
    o->fresh = false;
}

static order order_of(const char *name, int every)
{
    order o = {.every = every, .steps = -1, .fresh = true};
    snprintf(o.path, sizeof o.path, "%s", scratch(name));
    unlink(o.path);
    return o;
}

static void expect_same(const rank_report *a, const rank_report *b, int size)
{
    for (int k = 0; k < size; k++)
        if (a[k].number[0] != b[k].number[0] || a[k].number[1] != b[k].number[1])
            fail_msg("rank %d of %d has a different state", k, size);
}

/* mpirun takes a third of a second to start a world, and there are many: of MPI's, one size runs at a time. */
static bool has_turn(int size, int sizes)
{
    return !ranks_are_mpi() || test_has_turn(size, sizes);
}

static void the_same_world_continues(void **state)
{
    (void)state;
    for (int size = 1; size <= 4; size++) {
        if (!has_turn(size, 4)) continue;
        rank_report whole[RANKS_MOST], parts[RANKS_MOST];
        order o = order_of("world.wick", 0);
        run(&o, size, whole);
        for (int k = 1; k < size; k++) /* ranks have different random states */
            assert_true(whole[k].number[1] != whole[0].number[1]);
        for (int every = 1; every <= 3; every += 2) {
            o = order_of("world.wick", every);
            o.steps = 4;
            run(&o, size, parts); /* epochs of 12 batches for 2 ranks, 8 for 3, 6 for 4 */
            o.steps = 7;
            run(&o, size, parts);
            o.steps = -1;
            run(&o, size, parts);
            expect_same(whole, parts, size);
        }
    }
}

/* ---- killed ------------------------------------------------------------------------------------------------------ */

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Kills after ever less of the duration of the complete training, as less remains. Not over MPI, whose mpirun is not a
 * rank. */
static void killed_repeatedly(void **state)
{
    (void)state;
    if (ranks_are_mpi()) skip();
    enum { SIZE = 2, KILLS = 10 };
    rank_report whole[RANKS_MOST];
    order o = order_of("killed.wick", 1);
    const double begun = seconds_now();
    run(&o, SIZE, whole);
    const double took = seconds_now() - begun;
    o = order_of("killed.wick", 1);
    o.may_fail = true;
    unsigned random = 7;
    int kills = 0;
    for (bool done = false; !done;) {
        ranks r = {.size = SIZE, .body = train, .user = &o, .bytes = sizeof o};
        o.fresh = access(o.path, F_OK) != 0;
        ranks_start(&r);
        random = random * 1103515245 + 12345;
        if (kills < KILLS) usleep((useconds_t)(took * 1e6 * ((random >> 8) % 1000) / 1000 / (1 + kills / 3.0)));
        for (int k = 0; k < SIZE && kills < KILLS; k++) kill(r.note[k].process, SIGKILL);
        ranks_end(&r, true);
        done = true;
        for (int k = 0; k < SIZE; k++) done = done && WIFEXITED(r.note[k].status) && !WEXITSTATUS(r.note[k].status);
        if (done) expect_same(whole, r.note, SIZE);
        kills += !done;
        ranks_free(&r);
    }
    print_message("killed %d times in %.3f s\n", kills, took);
    assert_true(kills > 0);
}

/* ---- another world ----------------------------------------------------------------------------------------------- */

/* All ranks have the parameters and steps of the file; the loader distributes the remaining samples; random states are
 * those of the rank with the same remainder. */
static void continues_in_another_world(int rank)
{
    WK_SCOPE;
    RANK_CHECK(wk_dist_init() == WK_OK);
    test_training t = begin(2);
    RANK_CHECK(wk_checkpoint_load(t.checkpoint));
    RANK_CHECK(wk_checkpoint_step(t.checkpoint) == 3);
    my_note()->number[0] = wk_item(wk_rand(()));
    my_note()->number[1] = wk_item(wk_sum(wk_module_parameter(t.net, "0.weight")));
    int64_t seen = 0;
    WK_EACH(batch, t.loader) seen += wk_size(batch->x, 0);
    my_note()->number[2] = (double)seen;
    RANK_CHECK(wk_loader_epoch(t.loader) == 1);
    RANK_CHECK(wk_dist_finish() == WK_OK);
    (void)rank;
}

static void another_world_continues(void **state)
{
    (void)state;
    for (int before = 1; before <= 3; before++) {
        if (!has_turn(before, 3)) continue;
        rank_report notes[RANKS_MOST];
        order o = order_of("elsewhere.wick", 3);
        o.steps = 3;
        o.draws = true;
        run(&o, before, notes);
        for (int after = 1; after <= 4; after++) {
            ranks r = {.size = after, .body = continues_in_another_world, .user = &o, .bytes = sizeof o};
            ranks_run(&r);
            const int left = 46 - 3 * 2 * before, share = (left + after - 1) / after;
            for (int k = 0; k < after; k++) {
                assert_true(r.note[k].number[0] == notes[k % before].number[3]);
                assert_true(r.note[k].number[1] == notes[0].number[4]);
                assert_true(r.note[k].number[2] == share);
            }
            ranks_free(&r);
        }
    }
}

/* ---- all or none ------------------------------------------------------------------------------------------------- */

/* Each function makes rank 1 of 2 fail to load in a different way; both ranks report it, and are unchanged. */
static test_training has_no_file(void)
{
    order *o = (order *)(uintptr_t)parameters_of_run();
    if (wk_dist_rank() == 1) strcat(o->path, ".not");
    return begin(2);
}
static test_training has_another_file(void)
{
    order *o = (order *)(uintptr_t)parameters_of_run();
    if (wk_dist_rank() == 1) strcat(o->path, ".other");
    return begin(2);
}
static test_training has_another_network(void)
{
    test_training t = begin(2);
    if (wk_dist_rank() == 1)
        t.checkpoint =
            wk_checkpoint_new(parameters_of_run()->path, wk_nn_linear(2, 2), t.optim, t.loader, .tensors = t.more);
    return t;
}
static test_training has_an_error(void)
{
    test_training t = begin(2);
    if (wk_dist_rank() == 1) wk_reshape(wk_ones((2)), (3));
    return t;
}

static const struct {
    test_training (*way)(void);
    const char *word;
} ways[] = {{has_no_file, "No such file or directory"},
            {has_another_file, "the file differs from that of rank 0"},
            {has_another_network, "missing tensor \"net.weight\""},
            {has_an_error, "reshape"}};
enum { WAYS = sizeof ways / sizeof *ways };

static void fails_to_load(int rank)
{
    (void)rank;
    WK_SCOPE;
    RANK_CHECK(wk_dist_init() == WK_OK);
    test_training t = ways[parameters_of_run()->way].way();
    wk_module *net = t.net;
    wk_tensor *before = wk_clone(wk_module_parameter(net, "0.weight"));
    const bool loaded = wk_checkpoint_load(t.checkpoint);
    rank_save_error();
    RANK_CHECK(!loaded && my_note()->code != WK_OK);
    RANK_CHECK(wk_item(wk_all(wk_eq(before, wk_module_parameter(net, "0.weight")))) == 1);
    RANK_CHECK(wk_checkpoint_step(t.checkpoint) == 0 && wk_loader_epoch(t.loader) == 0);
    RANK_CHECK(wk_dist_barrier() == WK_OK); /* the world is usable */
    RANK_CHECK(wk_dist_finish() == WK_OK);
}

static void none_loads_if_one_cannot(void **state)
{
    (void)state;
    rank_report notes[RANKS_MOST];
    order o = order_of("none.wick", 3);
    o.steps = 3;
    run(&o, 2, notes);
    order other = order_of("none.wick.other", 1);
    other.steps = 1;
    run(&other, 2, notes);
    for (int k = 0; k < WAYS; k++) {
        o.way = k;
        ranks r = {.size = 2, .body = fails_to_load, .user = &o, .bytes = sizeof o};
        ranks_run(&r);
        expect_rank_error(&r, 1, r.note[1].code, ways[k].word, NULL);
        expect_rank_error(&r, 0, r.note[1].code, "rank 1", ways[k].word, NULL);
        ranks_free(&r);
    }
}

/* ---- saving ------------------------------------------------------------------------------------------------------ */

/* Ranks that are not after the same batch have no common position to continue from. */
static void saves_after_different_batches(int rank)
{
    WK_SCOPE;
    RANK_CHECK(wk_dist_init() == WK_OK);
    test_training t = begin(1);
    t.reduce = false;
    test_train(&t, EPOCHS, 2 + rank, 0); /* left by break */
    RANK_CHECK(wk_checkpoint_save(t.checkpoint) == WK_OK);
    WK_EACH(batch, t.loader)
    if (batch->index == rank) {
        RANK_CHECK(wk_checkpoint_save(t.checkpoint) == WK_ERR_STATE);
        rank_save_error();
        break;
    }
    RANK_CHECK(wk_dist_finish() == WK_OK);
}

static void all_save_after_the_same_batch(void **state)
{
    (void)state;
    order o = order_of("apart.wick", 0);
    ranks r = {.size = 2, .body = saves_after_different_batches, .user = &o, .bytes = sizeof o};
    ranks_run(&r);
    for (int k = 0; k < 2; k++)
        expect_rank_error(&r, k, WK_ERR_STATE, "rank 0 after 4 samples of epoch 1, rank 1 after 8", "same batch", NULL);
    ranks_free(&r);
}

/* A rank with an error does not save, nor do the others. All count the save, so that later saves are of all. */
static void saves_with_an_error(int rank)
{
    WK_SCOPE;
    RANK_CHECK(wk_dist_init() == WK_OK);
    test_training t = begin(1);
    test_train(&t, EPOCHS, 1, 2);
    if (rank == 1) wk_reshape(wk_ones((2)), (3));
    RANK_CHECK(wk_checkpoint_every(t.checkpoint, 2) != WK_OK);
    rank_save_error();
    RANK_CHECK(wk_checkpoint_step(t.checkpoint) == 2);
    RANK_CHECK(access(parameters_of_run()->path, F_OK) != 0);
    if (rank == 1) wk_reshape(wk_ones((2)), (3));
    RANK_CHECK((wk_checkpoint_every(t.checkpoint, 2) == WK_OK) == (rank != 1));
    wk_clear_error();
    RANK_CHECK(access(parameters_of_run()->path, F_OK) != 0);
    RANK_CHECK(wk_checkpoint_every(t.checkpoint, 2) == WK_OK && wk_checkpoint_wait(t.checkpoint) == WK_OK);
    RANK_CHECK(wk_checkpoint_step(t.checkpoint) == 4 && wk_dist_barrier() == WK_OK);
    RANK_CHECK(access(parameters_of_run()->path, F_OK) == 0);
    RANK_CHECK(wk_dist_finish() == WK_OK);
}

static void an_error_of_one_is_reported_by_all(void **state)
{
    (void)state;
    order o = order_of("error.wick", 0);
    ranks r = {.size = 2, .body = saves_with_an_error, .user = &o, .bytes = sizeof o};
    ranks_run(&r);
    expect_rank_error(&r, 1, WK_ERR_SHAPE, "reshape", NULL);
    expect_rank_error(&r, 0, WK_ERR_SHAPE, "rank 1", "reshape", NULL);
    ranks_free(&r);
}

/* Ranks whose checkpoints have different parts would diverge at the next start. */
static void has_different_parts(int rank)
{
    WK_SCOPE;
    RANK_CHECK(wk_dist_init() == WK_OK);
    test_training t = begin(1);
    wk_optim *sgd = wk_optim_sgd(wk_parameters(t.net), .lr = 0.1), *adam = wk_optim_adam(wk_parameters(t.net));
    wk_checkpoint *less = wk_checkpoint_new(parameters_of_run()->path, t.net, rank ? NULL : adam, t.loader),
                  *other = wk_checkpoint_new(parameters_of_run()->path, t.net, rank ? sgd : adam, t.loader);
    RANK_CHECK(wk_checkpoint_save(less) == WK_ERR_STATE);
    wk_clear_error();
    RANK_CHECK(!wk_checkpoint_load(less) && wk_error_code() == WK_ERR_STATE);
    rank_save_error();
    RANK_CHECK(wk_checkpoint_save(other) == WK_ERR_STATE && strstr(wk_error(), "optimiser adam, rank 1 has ") &&
               strstr(wk_error(), "optimiser sgd"));
    wk_clear_error();
    wk_checkpoint *more = rank ? t.checkpoint : wk_checkpoint_new(parameters_of_run()->path, t.net, t.optim, t.loader);
    RANK_CHECK(wk_checkpoint_save(more) == WK_ERR_STATE &&
               strstr(wk_error(), "rank 1 has a network, a loader, tensors"));
    wk_clear_error();
    RANK_CHECK(access(parameters_of_run()->path, F_OK) != 0);
    RANK_CHECK(wk_checkpoint_save(t.checkpoint) == WK_OK);
    RANK_CHECK(wk_dist_finish() == WK_OK);
}

static void all_have_the_same_parts(void **state)
{
    (void)state;
    order o = order_of("parts.wick", 0);
    ranks r = {.size = 2, .body = has_different_parts, .user = &o, .bytes = sizeof o};
    ranks_run(&r);
    for (int k = 0; k < 2; k++)
        expect_rank_error(&r, k, WK_ERR_STATE, "checkpoint_load: checkpoints differ: rank 0 has a network, a loader, ",
                          "optimiser adam, rank 1 has a network, a loader; pass the same kinds of objects", NULL);
    ranks_free(&r);
}

/* A write error of rank 0 is reported by all ranks, at the end at the latest. */
static void cannot_write(int rank)
{
    (void)rank;
    WK_SCOPE;
    RANK_CHECK(wk_dist_init() == WK_OK);
    test_training t = begin(1);
    test_train(&t, EPOCHS, 2, 2);
    RANK_CHECK(!wk_error());
    RANK_CHECK(wk_dist_finish() == WK_ERR_IO);
    rank_save_error();
}

static void all_report_a_write_error(void **state)
{
    (void)state;
    order o = order_of("no/such/folder/file.wick", 0);
    ranks r = {.size = 3, .body = cannot_write, .user = &o, .bytes = sizeof o};
    ranks_run(&r);
    for (int k = 0; k < 3; k++) expect_rank_error(&r, k, WK_ERR_IO, "cannot save: No such file or directory", NULL);
    ranks_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_world_continues),      cmocka_unit_test(killed_repeatedly),
        cmocka_unit_test(another_world_continues),       cmocka_unit_test(none_loads_if_one_cannot),
        cmocka_unit_test(all_save_after_the_same_batch), cmocka_unit_test(an_error_of_one_is_reported_by_all),
        cmocka_unit_test(all_report_a_write_error),      cmocka_unit_test(all_have_the_same_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
