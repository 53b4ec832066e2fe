/* SPDX-License-Identifier: Apache-2.0 */
/* Tests rule 13 on a complete training: forward, backward and optimiser give the same bits with and without fusion and
 * deferral, and with any number of threads. */
#include "support/bits.h"

#include "engine/op_queue.h"

enum { ROWS = 150, INPUTS = 33, CLASSES = 10, STEPS = 3 };

/* Trains three steps on data from a seed; returns the losses, then the parameters. */
static int train(wk_tensor *out[], int room)
{
    WK_SCOPE;
    wk_seed(4);
    wk_module *net = wk_nn_sequential(wk_nn_linear(INPUTS, 70), wk_nn_layer_norm((70)), wk_nn_gelu(),
                                      wk_nn_dropout(0.3), wk_nn_linear(70, CLASSES));
    wk_tensors *parameters = wk_parameters(net);
    wk_optim *adam = wk_optim_adamw(parameters, .lr = 0.01);
    int count = 0;
    for (int step = 0; step < STEPS; step++) {
        WK_SCOPE;
        wk_tensor *x = wk_randn((ROWS, INPUTS));
        wk_tensor *labels = wk_randint(0, CLASSES, (ROWS));
        wk_tensor *loss = wk_cross_entropy(wk_forward(net, x), labels);
        wk_optim_zero_grad(adam);
        assert_int_equal(wk_backward(loss), WK_OK);
        assert_int_equal(wk_optim_step(adam), WK_OK);
        out[count++] = wk_keep(wk_detach(loss));
    }
    for (int k = 0; k < wk_tensors_count(parameters) && count < room; k++)
        out[count++] = wk_clone(wk_detach(wk_tensors_get(parameters, k)));
    for (int k = 0; k < count; k++) out[k] = wk_keep(out[k]);
    expect_ok();
    return count;
}

enum { ROOM = 16 };

static void a_training_in_all_modes(void **state)
{
    (void)state;
    WK_SCOPE;
    wk__engine_config before = *wk__engine_config_get();
    int threads = wk_thread_count();
    wk_tensor *expected[ROOM], *have[ROOM];
    wk__engine_config_set(false, false);
    int count = train(expected, ROOM);
    assert_int_equal(count, STEPS + 6);
    for (int way = 0; way < 9; way++) {
        WK_SCOPE;
        wk_set_threads(1 + way % 3);
        wk__engine_config_set(way / 3 == 1, way / 3 == 2);
        assert_int_equal(train(have, ROOM), count);
        char name[64];
        for (int k = 0; k < count; k++) {
            snprintf(name, sizeof name, "way %d, result %d", way, k);
            expect_same_bits(have[k], expected[k], name);
        }
    }
    wk__engine_config_set(before.sync, before.nofuse);
    wk_set_threads(threads);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_training_in_all_modes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
