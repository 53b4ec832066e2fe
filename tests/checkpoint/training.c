/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that a training resumed from a checkpoint ends with the same bits as an undisturbed one. */
#include "support/devices.h"
#include "support/training.h"

#include <sys/stat.h>
#include <unistd.h>

#include "hostile/scratch.h"

static test_optimiser *const optimisers[] = {test_momentum, test_adam, test_adagrad, test_lbfgs};
enum { OPTIMISERS = sizeof optimisers / sizeof *optimisers, EPOCHS = 2, BATCHES = 6, STEPS = EPOCHS * BATCHES };

static const char *path_of(const char *name)
{
    static char paths[4][300];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s", scratch(name));
    return path;
}

static test_config plan_of(test_optimiser *optimiser, wk_device device, const char *path)
{
    return (test_config){.optimiser = optimiser,
                         .schedule = optimiser == test_momentum ? test_cycles : NULL,
                         .device = device,
                         .samples = 22,
                         .batch = 4,
                         .path = path,
                         .keep = STEPS};
}

static const char *of_step(const char *path, int step)
{
    static char name[316];
    snprintf(name, sizeof name, "%.299s.%d", path, step);
    return name;
}

static bool exists(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0;
}

static void remove_all(const char *path)
{
    unlink(path);
    for (int step = 0; step <= 4 * STEPS; step++) unlink(of_step(path, step));
}

/* The state after the last step of an undisturbed training that saves nothing. */
static uint64_t undisturbed(test_config plan)
{
    WK_SCOPE;
    plan.path = NULL;
    test_training t = test_begin(&plan, 1);
    assert_int_equal(test_train(&t, EPOCHS, -1, 0), STEPS);
    return test_state(&t);
}

/* ---- after each step --------------------------------------------------------------------------------------------- */

/* One training writes a file after each step; another continues from each of them. */
static void after_each_step(test_config plan)
{
    const uint64_t expected = undisturbed(plan);
    remove_all(plan.path);
    {
        WK_SCOPE;
        test_training t = test_begin(&plan, 1);
        assert_false(wk_checkpoint_load(t.checkpoint)); /* there is none, which is not an error */
        expect_ok();
        assert_int_equal(test_train(&t, EPOCHS, -1, 1), STEPS);
        assert_int_equal(wk_checkpoint_wait(t.checkpoint), WK_OK);
        assert_int_equal(wk_checkpoint_step(t.checkpoint), STEPS);
        if (test_state(&t) != expected) fail_msg("saving changed the training");
    }
    for (int step = 1; step <= STEPS; step++) {
        WK_SCOPE;
        test_config from = plan;
        char path[320];
        snprintf(path, sizeof path, "%s", of_step(plan.path, step));
        from.path = path;
        test_training t = test_begin(&from, 77);
        if (!wk_checkpoint_load(t.checkpoint)) fail_msg("%s: %s", path, wk_error());
        assert_int_equal(wk_checkpoint_step(t.checkpoint), step);
        assert_string_equal(wk_checkpoint_loaded_path(t.checkpoint), path);
        assert_int_equal(wk_loader_epoch(t.loader), (step - 1) / BATCHES);
        assert_int_equal(test_train(&t, EPOCHS, -1, 0), STEPS - step);
        if (test_state(&t) != expected) fail_msg("resumed from step %d: different state", step);
    }
    remove_all(plan.path);
}

static void resumes_after_each_step(void **state)
{
    (void)state;
    for (int k = 0; k < OPTIMISERS; k++) after_each_step(plan_of(optimisers[k], wk_cpu(), path_of("each.wick")));
}

static void resumes_on_each_device(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        if (device.kind == WK_CPU) continue;
        after_each_step(plan_of(test_adam, device, path_of("device.wick")));
        after_each_step(plan_of(test_lbfgs, device, path_of("device.wick")));
    }
}

static void continues_with_other_loaders(void **state)
{
    (void)state;
    test_config plan = plan_of(test_momentum, wk_cpu(), path_of("loaders.wick"));
    plan.in_order = true;
    after_each_step(plan);
    plan.in_order = false;
    plan.drop_last = true;
    plan.samples = 26; /* 6 batches and 2 samples */
    after_each_step(plan);
    plan.drop_last = false;
    plan.world = 3;
    plan.rank = 1;
    plan.samples = 70; /* 24 for each rank, the last two of which are used twice */
    after_each_step(plan);
}

/* Many interruptions in a row, at irregular steps; steps since the last file are repeated. */
static void interrupted_repeatedly(void **state)
{
    (void)state;
    test_config plan = plan_of(test_adam, wk_cpu(), path_of("again.wick"));
    plan.keep = 2;
    const uint64_t expected = undisturbed(plan);
    remove_all(plan.path);
    int64_t last = 0;
    for (int run = 0;; run++) {
        WK_SCOPE;
        test_training t = test_begin(&plan, 100 + (uint64_t)run);
        if (run == 0) t = test_begin(&plan, 1);
        const bool loaded = wk_checkpoint_load(t.checkpoint);
        expect_ok();
        assert_true(loaded == (last > 0));
        assert_int_equal(wk_checkpoint_step(t.checkpoint), last);
        const int steps = test_train(&t, EPOCHS, run == 2 ? 1 : 4, 3);
        assert_int_equal(wk_checkpoint_wait(t.checkpoint), WK_OK);
        last = wk_checkpoint_step(t.checkpoint) / 3 * 3;
        assert_true(run < 20);
        if (steps == 4 || run == 2) continue;
        if (test_state(&t) != expected) fail_msg("a different state after %d runs", run);
        break;
    }
    remove_all(plan.path);
}

/* ---- times of saves ---------------------------------------------------------------------------------------------- */

/* Between epochs, before the first and after a loop was left: the next loop is a complete epoch. */
static void between_two_epochs(void **state)
{
    (void)state;
    WK_SCOPE;
    test_config plan = plan_of(test_momentum, wk_cpu(), path_of("between.wick"));
    plan.keep = 1;
    remove_all(plan.path);
    static const int left_after[] = {0, BATCHES, 2 * BATCHES, 3, BATCHES + 1};
    for (size_t k = 0; k < sizeof left_after / sizeof *left_after; k++) {
        test_training t = test_begin(&plan, 1);
        if (left_after[k]) test_train(&t, EPOCHS, left_after[k], 0);
        const int64_t epoch = wk_loader_epoch(t.loader);
        assert_int_equal(epoch, (left_after[k] + BATCHES - 1) / BATCHES);
        assert_int_equal(wk_checkpoint_save(t.checkpoint), WK_OK);
        assert_int_equal(test_train(&t, epoch + 1, -1, 0), BATCHES);
        assert_int_equal(wk_checkpoint_wait(t.checkpoint), WK_OK);
        const uint64_t expected = test_state(&t);
        test_training again = test_begin(&plan, 2);
        assert_true(wk_checkpoint_load(again.checkpoint));
        assert_int_equal(wk_loader_epoch(again.loader), epoch);
        assert_int_equal(test_train(&again, epoch + 1, -1, 0), BATCHES);
        assert_true(test_state(&again) == expected);
    }
}

/* After the last batch of an epoch the loop has no iteration; the index of batches continues. */
static void in_the_body_of_a_loop(void **state)
{
    (void)state;
    WK_SCOPE;
    test_config plan = plan_of(test_momentum, wk_cpu(), path_of("body.wick"));
    remove_all(plan.path);
    test_training t = test_begin(&plan, 1);
    test_train(&t, 1, -1, 1);
    assert_int_equal(wk_checkpoint_wait(t.checkpoint), WK_OK);
    for (int step = 1; step <= BATCHES; step++) {
        plan.path = of_step(path_of("body.wick"), step);
        test_training again = test_begin(&plan, 3);
        assert_true(wk_checkpoint_load(again.checkpoint));
        int64_t index = step;
        for (int turn = 0; turn < 2; turn++, index = 0) { /* the second one is a complete epoch */
            assert_int_equal(wk_loader_epoch(again.loader), turn);
            WK_EACH(batch, again.loader) assert_int_equal(batch->index, index++);
            assert_int_equal(index, BATCHES);
        }
        assert_int_equal(wk_loader_count(again.loader), BATCHES);
    }
    expect_ok();
    remove_all(path_of("body.wick"));
}

/* Loaded values are unchanged if they are saved again before anything else. */
static void saved_after_a_load(void **state)
{
    (void)state;
    WK_SCOPE;
    test_config plan = plan_of(test_adam, wk_cpu(), path_of("same.wick"));
    remove_all(plan.path);
    test_training t = test_begin(&plan, 1);
    test_train(&t, 1, 2, 1);
    assert_int_equal(wk_checkpoint_wait(t.checkpoint), WK_OK);
    for (int turn = 0; turn < 2; turn++) {
        test_training again = test_begin(&plan, 3);
        assert_true(wk_checkpoint_load(again.checkpoint));
        assert_int_equal(wk_checkpoint_save(again.checkpoint), WK_OK);
        assert_int_equal(wk_checkpoint_wait(again.checkpoint), WK_OK);
    }
    test_training whole = test_begin(&plan, 1);
    test_train(&whole, 1, -1, 0);
    const uint64_t expected = test_state(&whole);
    test_training again = test_begin(&plan, 3);
    assert_true(wk_checkpoint_load(again.checkpoint));
    assert_int_equal(test_train(&again, 1, -1, 0), BATCHES - 2);
    assert_true(test_state(&again) == expected);
    remove_all(plan.path);
}

/* The saved values are those of the call, whatever the program does during the write. */
static void saves_values_at_call_time(void **state)
{
    (void)state;
    WK_SCOPE;
    const char *path = path_of("moment.wick");
    unlink(path);
    float lent[3] = {1, 2, 3};
    wk_tensor *big = wk_zeros((1 << 20)), *known = wk_zeros((3)), *borrowed = wk_borrow(lent, (3), NULL, NULL),
              *view = wk_narrow(wk_reshape(wk_arange(12), (3, 4)), 1, 1, 2);
    float *address = wk_data(known);
    wk_tensors *list = wk_tensors_new();
    wk_tensors_add(list, "big", big);
    wk_tensors_add(list, "known", known);
    wk_tensors_add(list, "borrowed", borrowed);
    wk_tensors_add(list, "view", view);
    wk_checkpoint *c = wk_checkpoint_new(path, NULL, NULL, NULL, .tensors = list);
    wk_seed(3);
    for (int round = 1; round < 6; round++) {
        wk_tensor *before = wk_rand((3)), *after;
        wk_add_(big, 1);
        address[1] = (float)round;
        lent[2] = (float)-round;
        wk_fill_(view, round);
        (void)before;
        assert_int_equal(wk_checkpoint_save(c), WK_OK);
        after = wk_rand((3));
        wk_fill_(big, 100);
        address[1] = 100;
        lent[2] = 100;
        wk_fill_(view, 100);
        wk_sync();
        assert_true(wk_checkpoint_load(c)); /* waits for the write */
        EXPECT_VALUES(wk_narrow(big, 0, 0, 2), 0, (double)round, (double)round);
        EXPECT_VALUES(known, 0, 0, (double)round, 0);
        EXPECT_VALUES(borrowed, 0, 1, 2, (double)-round);
        EXPECT_VALUES(wk_select(view, 0, 1), 0, (double)round, (double)round);
        wk_sync();
        assert_true(address[1] == (float)round && lent[2] == (float)-round); /* at the known addresses */
        assert_true(wk_item(wk_all(wk_eq(after, wk_rand((3))))) == 1);
    }
    expect_ok();
}

/* ---- other uses of a file ---------------------------------------------------------------------------------------- */

static void from_one_device_to_another(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        if (device.kind == WK_CPU) continue;
        for (int turn = 0; turn < 2; turn++)
            for (int k = 0; k < OPTIMISERS; k++) {
                test_config plan = plan_of(optimisers[k], turn ? device : wk_cpu(), path_of("far.wick")), other = plan;
                other.device = turn ? wk_cpu() : device;
                test_training t = test_begin(&plan, 1);
                test_train(&t, 1, 3, 3);
                assert_int_equal(wk_checkpoint_wait(t.checkpoint), WK_OK);
                const uint64_t expected = test_state(&t);
                test_training far = test_begin(&other, 2);
                assert_true(wk_checkpoint_load(far.checkpoint));
                assert_true(test_state(&far) == expected);
                assert_int_equal(wk_device_of(wk_module_parameter(far.net, "0.weight")).kind, other.device.kind);
                assert_int_equal(test_train(&far, 1, -1, 0), BATCHES - 3);
            }
    }
}

/* Parts of the file that are not requested are ignored. */
static void loads_only_the_network(void **state)
{
    (void)state;
    WK_SCOPE;
    test_config plan = plan_of(test_adam, wk_cpu(), path_of("alone.wick"));
    test_training t = test_begin(&plan, 1), use = test_begin(&plan, 2);
    test_train(&t, 1, 4, 4);
    assert_int_equal(wk_checkpoint_wait(t.checkpoint), WK_OK);
    wk_checkpoint *c = wk_checkpoint_new(plan.path, use.net, NULL, NULL);
    assert_true(wk_checkpoint_load(c));
    assert_int_equal(wk_checkpoint_step(c), 4);
    wk_tensor *a = wk_module_parameter(t.net, "4.weight"), *b = wk_module_parameter(use.net, "4.weight");
    assert_true(wk_item(wk_all(wk_eq(a, b))) == 1);
    assert_int_equal(wk_tensors_count(wk_optim_state(use.optim)), 4); /* of no steps */
    remove_all(plan.path);
}

/* Only the last k files are kept, the newest under two names; those of an abandoned run are removed. */
static void the_last_k_are_kept(void **state)
{
    (void)state;
    WK_SCOPE;
    test_config plan = plan_of(test_momentum, wk_cpu(), path_of("kept.wick"));
    plan.keep = 3;
    remove_all(plan.path);
    char beside[320];
    snprintf(beside, sizeof beside, "%s.7x", plan.path); /* not one of them */
    fclose(fopen(beside, "w"));
    test_training t = test_begin(&plan, 1);
    test_train(&t, EPOCHS, 10, 2);
    assert_int_equal(wk_checkpoint_wait(t.checkpoint), WK_OK);
    for (int step = 0; step <= STEPS; step++)
        assert_true(exists(of_step(plan.path, step)) == (step == 6 || step == 8 || step == 10));
    struct stat newest, last;
    assert_int_equal(stat(plan.path, &newest), 0);
    assert_int_equal(stat(of_step(plan.path, 10), &last), 0);
    assert_true(newest.st_ino == last.st_ino);
    char old[320];
    snprintf(old, sizeof old, "%s", of_step(plan.path, 6));
    assert_int_equal(rename(old, plan.path), 0); /* the program returns to step 6 */
    test_training back = test_begin(&plan, 2);
    assert_true(wk_checkpoint_load(back.checkpoint));
    test_train(&back, EPOCHS, 1, 7);
    assert_int_equal(wk_checkpoint_wait(back.checkpoint), WK_OK);
    for (int step = 0; step <= STEPS; step++) assert_true(exists(of_step(plan.path, step)) == (step == 7));
    plan.keep = 0;
    test_training one = test_begin(&plan, 2);
    test_train(&one, EPOCHS, 1, 1);
    assert_int_equal(wk_checkpoint_wait(one.checkpoint), WK_OK);
    assert_false(exists(of_step(plan.path, 1))); /* one file with one name */
    assert_true(exists(beside));
    unlink(beside);
    remove_all(plan.path);
}

/* A link is kept, and the older files are beside the linked file. */
static void saves_through_a_link(void **state)
{
    (void)state;
    WK_SCOPE;
    char folder[300], target[320];
    snprintf(folder, sizeof folder, "%s", scratch("elsewhere"));
    mkdir(folder, 0700);
    snprintf(target, sizeof target, "%s/run.wick", folder);
    fclose(fopen(target, "w"));
    test_config plan = plan_of(test_momentum, wk_cpu(), path_of("link.wick"));
    remove_all(plan.path);
    assert_int_equal(symlink(target, plan.path), 0);
    test_training t = test_begin(&plan, 1);
    test_train(&t, EPOCHS, 2, 1);
    assert_int_equal(wk_checkpoint_wait(t.checkpoint), WK_OK);
    struct stat status;
    assert_int_equal(lstat(plan.path, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_true(exists(of_step(target, 1)) && exists(of_step(target, 2)) && !exists(of_step(plan.path, 1)));
    assert_int_equal(truncate(target, 100), 0); /* both names of the newest */
    assert_true(wk_checkpoint_load(t.checkpoint));
    assert_string_equal(wk_checkpoint_loaded_path(t.checkpoint), of_step(target, 1));
    remove_all(target);
    unlink(plan.path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resumes_after_each_step),      cmocka_unit_test(resumes_on_each_device),
        cmocka_unit_test(continues_with_other_loaders), cmocka_unit_test(interrupted_repeatedly),
        cmocka_unit_test(between_two_epochs),           cmocka_unit_test(in_the_body_of_a_loop),
        cmocka_unit_test(saved_after_a_load),           cmocka_unit_test(saves_values_at_call_time),
        cmocka_unit_test(from_one_device_to_another),   cmocka_unit_test(loads_only_the_network),
        cmocka_unit_test(the_last_k_are_kept),          cmocka_unit_test(saves_through_a_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
