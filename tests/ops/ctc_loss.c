/* SPDX-License-Identifier: Apache-2.0 */
/* Tests ctc_loss of log_softmax against PyTorch's values and gradient, labels that need more steps than there are, and
 * lengths out of range. */
#include "support/wick.h"
#include <math.h>

static wk_tensor *scores(void)
{
    return wk_of(float, (4, 2, 4), .5, -1, .25, 2, 0, 1, -.5, .75, 1, 0, .5, -.25, -1, .5, 1, 0, 0, .25, -1, .5, .5, .5,
                 0, 1, 1, 1, 0, -1, 0, 2, -2, .5, .requires_grad = true);
}

static void values_of_pytorch(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = scores(), *labels = wk_of(int64_t, (2, 2), 1, 2, 3, 3), *steps = wk_of(int64_t, (2), 4, 3);
    wk_tensor *lengths = wk_of(int32_t, (2), 2, 2);
    wk_tensor *loss = wk_ctc_loss(wk_log_softmax(x, -1), labels, steps, lengths);
    EXPECT_VALUES(loss, 1e-5, 2.3701186180114746);
    wk_backward(loss);
    EXPECT_VALUES(
        wk_grad_of(x), 1e-6, -0.1253068447113037, -0.07753085345029831, 0.030029557645320892, 0.17280814051628113,
        0.03880894184112549, 0.10549363493919373, 0.02353881113231182, -0.16784140467643738, -0.002455474343150854,
        -0.061803188174963, 0.0325784832239151, 0.03168018162250519, -0.23396319150924683, 0.0718725249171257,
        0.11849776655435562, 0.04359288886189461, -0.0067902239970862865, -0.04147053882479668, -0.047581158578395844,
        0.0958419218659401, 0.058750931173563004, 0.058750931173563004, 0.03563424199819565, -0.15313610434532166,
        0.026509974151849747, 0.09987156093120575, -0.1398976743221283, 0.013516143895685673, 0, 0, 0, 0);
    wk_tensor *joined = wk_of(int64_t, (4), 1, 2, 3, 3);
    wk_tensor *each = wk_ctc_loss(wk_log_softmax(x, -1), joined, steps, lengths, .reduction = WK_REDUCE_NONE);
    EXPECT_VALUES(each, 1e-4, 4.6729, 4.8075);
}

/* Two equal labels need a blank between them: three steps. */
static void impossible_sequences(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = scores(), *labels = wk_of(int64_t, (2, 2), 1, 2, 3, 3), *steps = wk_of(int64_t, (2), 4, 2);
    wk_tensor *lengths = wk_of(int64_t, (2), 2, 2), *logs = wk_log_softmax(x, -1);
    wk_tensor *each = wk_ctc_loss(logs, labels, steps, lengths, .reduction = WK_REDUCE_NONE);
    EXPECT_VALUES(each, 1e-4, 4.6729, INFINITY);
    each = wk_ctc_loss(logs, labels, steps, lengths, .reduction = WK_REDUCE_NONE, .zero_infinity = true);
    EXPECT_VALUES(each, 1e-4, 4.6729, 0);
    wk_backward(wk_sum(each));
    EXPECT_VALUES(wk_select(wk_grad_of(x), 1, 1), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

static void lengths_out_of_range(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *logs = wk_log_softmax(scores(), -1), *labels = wk_ones((2, 2), .dtype = WK_I64);
    wk_tensor *steps = wk_of(int64_t, (2), 4, 4), *lengths = wk_of(int64_t, (2), 2, 2);
    expect_failure(wk_ctc_loss(logs, labels, wk_of(int64_t, (2), 5, 4), lengths),
                   "input_lengths must be from 0 to 4, got 5");
    expect_failure(wk_ctc_loss(logs, labels, wk_of(int64_t, (2), -1, 4), lengths),
                   "input_lengths must be from 0 to 4, got -1");
    expect_failure(wk_ctc_loss(logs, labels, steps, wk_of(int64_t, (2), 3, 2)),
                   "target_lengths must be from 0 to 2, got 3");
    expect_failure(wk_ctc_loss(logs, labels, steps, wk_of(int64_t, (2), 2, -1)),
                   "target_lengths must be from 0 to 2, got -1");
    expect_failure(wk_ctc_loss(logs, wk_ones((3), .dtype = WK_I64), steps, lengths),
                   "target_lengths add up to 4, but there are 3 labels");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(values_of_pytorch), cmocka_unit_test(impossible_sequences),
                                       cmocka_unit_test(lengths_out_of_range)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
