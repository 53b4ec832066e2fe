/* SPDX-License-Identifier: Apache-2.0 */
/* Tests progress bars: their output to a log and to a terminal, and that a value is shown without a wait. */
#include "support/devices.h"
#include "tensor/tensor.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static char text[1 << 16];

/* Everything that was written to a file so far. */
static const char *written(FILE *file)
{
    fflush(file);
    rewind(file);
    const size_t bytes = fread(text, 1, sizeof text - 1, file);
    text[bytes] = '\0';
    fseek(file, 0, SEEK_END);
    return text;
}

static int lines(const char *of)
{
    int count = 0;
    for (; *of; of++) count += *of == '\n';
    return count;
}

static void expect_text(const char *of, const char *part)
{
    if (!strstr(of, part)) fail_msg("no \"%s\" in:\n%s", part, of);
}

/* ---- a log ------------------------------------------------------------------------------------------------------- */

static void each_step_is_a_line(void **state)
{
    (void)state;
    FILE *log = tmpfile();
    {
        WK_SCOPE;
        wk_progress *bar = wk_progress_new("train", 4, .stream = log, .interval = 0);
        for (int k = 1; k <= 4; k++) {
            WK_SCOPE;
            assert_int_equal(wk_progress_step(bar, "loss", wk_full((), 0.5 * k)), WK_OK);
            assert_int_equal(lines(written(log)), k);
            wk_flush();
        }
        expect_text(written(log), "train  25%  1/4");
        expect_text(text, "train  50%  2/4");
        expect_text(text, "/s");
        expect_text(text, " left  loss 1\n");
        assert_null(strstr(text, "["));
        assert_null(strstr(text, "\r"));
    }
    assert_int_equal(lines(written(log)), 4); /* the last step has ended the bar */
    expect_text(text, "train 100%  4/4  ");
    expect_text(text, "  in 0:00  loss 2\n");
    fclose(log);
}

/* A short loop writes the last state only: lines come every ten seconds. */
static void a_log_gets_a_line_now_and_then(void **state)
{
    (void)state;
    FILE *log = tmpfile();
    wk_progress *bar = wk_progress_new("train", 100, .stream = log);
    for (int k = 0; k < 50; k++) wk_progress_step(bar, "loss", NULL);
    assert_string_equal(written(log), "");
    wk_free(bar);
    assert_int_equal(lines(written(log)), 1);
    expect_text(text, "train  50%  50/100  ");
    assert_null(strstr(text, "loss"));
    expect_ok();
    fclose(log);
}

static void steps_that_are_counted(void **state)
{
    (void)state;
    FILE *log = tmpfile();
    WK_SCOPE;
    wk_free(wk_progress_new("none", 3, .stream = log));
    wk_progress *off = wk_progress_new("off", 3, .stream = log, .disable = true, .interval = 0);
    assert_int_equal(wk_progress_step(off, "loss", wk_ones(())), WK_OK);
    wk_free(off);
    assert_string_equal(written(log), "");
    wk_progress *resumed = wk_progress_new("resumed", 10, .stream = log, .initial = 7, .interval = 0);
    wk_progress_step(resumed, NULL, NULL);
    expect_text(written(log), "resumed  80%  8/10");
    wk_free(resumed);
    wk_progress *unknown = wk_progress_new("unknown", 0, .stream = log, .interval = 0);
    wk_progress_step(unknown, NULL, NULL);
    expect_text(written(log), "unknown  1");
    assert_null(strstr(text, "unknown  1/"));
    wk_free(unknown);
    wk_progress *more = wk_progress_new("more", 1, .stream = log, .interval = 0);
    wk_progress_step(more, NULL, NULL), wk_progress_step(more, NULL, NULL);
    expect_text(written(log), "more 100%  2/1");
    wk_free(more);
    fclose(log);
}

static void a_value_that_is_no_number(void **state)
{
    (void)state;
    FILE *log = tmpfile();
    wk_progress *bar = wk_progress_new("train", 4, .stream = log);
    {
        WK_SCOPE;
        wk_progress_step(bar, "loss", wk_div(wk_zeros((1)), 0.0));
        wk_flush();
    }
    wk_free(bar);
    expect_text(written(log), "  loss nan\n");
    fclose(log);
}

static void kinds_of_values(void **state)
{
    (void)state;
    static const wk_dtype dtypes[] = {WK_F32, WK_F64, WK_F16, WK_BF16, WK_I64, WK_U8, WK_BOOL};
    FILE *log = tmpfile();
    for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
        WK_SCOPE;
        wk_progress *bar = wk_progress_new("train", 4, .stream = log, .interval = 0);
        {
            WK_SCOPE;
            wk_tensor *x = wk_requires_grad_(wk_ones((3)), true);
            wk_tensor *one = wk_to_dtype(wk_reshape(wk_narrow(x, 0, 1, 1), (1, 1)), dtypes[k]);
            assert_int_equal(wk_progress_step(bar, wk_dtype_str(dtypes[k]), one), WK_OK);
            wk_sync();
        }
        assert_int_equal(wk_progress_step(bar, NULL, NULL), WK_OK);
        char part[32];
        snprintf(part, sizeof part, "  %s 1\n", wk_dtype_str(dtypes[k]));
        expect_text(written(log), part);
    }
    expect_ok();
    fclose(log);
}

/* ---- no wait ----------------------------------------------------------------------------------------------------- */

static int64_t waits(void)
{
    wk_transfer_counters counters = {.size = sizeof counters};
    assert_int_equal(wk_transfer_stats(&counters), WK_OK);
    return counters.waits;
}

/* The value of a step is shown once it has arrived; the thread of the program waits for no device. */
static void a_value_arrives(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        FILE *log = tmpfile();
        WK_SCOPE;
        wk_progress *bar = wk_progress_new("train", 1000, .stream = log, .interval = 0);
        wk_tensor *p = wk_requires_grad_(wk_ones((4), .device = device), true);
        wk_optim *sgd = wk_optim_sgd(wk_list((p)), .lr = 0.25);
        const int64_t before = waits();
        for (int k = 0; k < 3; k++) {
            WK_SCOPE;
            wk_tensor *loss = wk_sum(wk_mul(p, p));
            wk_optim_zero_grad(sgd);
            wk_backward(loss);
            wk_optim_step(sgd);
            wk_progress_step(bar, "loss", loss);
        }
        for (int k = 0; k < 1000 && !strstr(written(log), "  loss 0.25\n"); k++) {
            nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
            wk_progress_step(bar, NULL, NULL);
        }
        expect_text(written(log), "  loss 0.25\n");
        assert_int_equal(waits(), before);
        expect_ok();
        wk_free(bar);
        fclose(log);
    }
}

/* A step runs no recorded work between updates, so that it does not break up a training step. */
static void steps_between_updates_run_nothing(void **state)
{
    (void)state;
    FILE *log = tmpfile();
    WK_SCOPE;
    wk_progress *bar = wk_progress_new("train", 10, .stream = log, .interval = 1000);
    for (int k = 0; k < 3; k++) {
        wk_tensor *loss = wk_sum(wk_exp(wk_ones((2))));
        assert_int_equal(wk_progress_step(bar, "loss", loss), WK_OK);
        assert_int_not_equal(wk__body_of(loss)->storage->value->state, WK__STORED);
    }
    expect_ok();
    wk_free(bar);
    fclose(log);
}

/* A loop whose values nothing else reads: on each device the last line has the last value. */
static void values_are_computed_to_be_shown(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        FILE *log = tmpfile();
        WK_SCOPE;
        wk_progress *bar = wk_progress_new("train", 3, .stream = log, .interval = 0);
        for (int k = 1; k <= 2; k++) wk_progress_step(bar, "loss", wk_full((), 0.5 * k, .device = device));
        if (device.kind == WK_CPU) expect_text(written(log), " left  loss 0.5\n");
        wk_progress_step(bar, "loss", wk_full((), 3.5, .device = device));
        expect_text(written(log), "  in 0:00  loss 3.5\n");
        expect_ok();
        fclose(log);
    }
}

/* ---- a terminal -------------------------------------------------------------------------------------------------- */

static void a_terminal_shows_a_bar(void **state)
{
    (void)state;
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) skip();
    FILE *screen = fopen(ptsname(terminal), "w");
    assert_non_null(screen);
    wk_progress *bar = wk_progress_new("train", 4, .stream = screen, .interval = 0);
    for (int k = 1; k <= 4; k++) wk_progress_step(bar, NULL, NULL);
    wk_free(bar);
    fflush(screen);
    text[0] = '\0';
    for (size_t bytes = 0; lines(text) == 0; text[bytes] = '\0') { /* it comes in pieces */
        const ssize_t more = read(terminal, text + bytes, sizeof text - 1 - bytes);
        assert_true(more > 0);
        bytes += (size_t)more;
    }
    expect_text(text, "\rtrain  25%  [#####---------------]  1/4");
    expect_text(text, "\rtrain 100%  [####################]  4/4");
    expect_text(text, "\033[K");
    assert_int_equal(lines(text), 1);
    fclose(screen);
    close(terminal);
}

/* ---- mistakes ---------------------------------------------------------------------------------------------------- */

static void mistakes(void **state)
{
    (void)state;
    WK_SCOPE;
    assert_null(wk_progress_new("train", -1));
    expect_error("progress_new: total must be at least 0", NULL);
    assert_null(wk_progress_new(NULL, 1));
    expect_error("progress_new: name is NULL", NULL);
    assert_null(wk_progress_new("train", 1, .initial = -1));
    expect_error("progress_new: .initial must be at least 0", NULL);
    assert_null(wk_progress_new("train", 1, .interval = (double)NAN));
    expect_error("progress_new: .interval must be at least 0", NULL);
    FILE *log = tmpfile();
    wk_progress *bar = wk_progress_new("train", 2, .stream = log, .interval = 0);
    assert_int_equal(wk_progress_step(bar, "loss", wk_ones((2))), WK_ERR_SHAPE);
    expect_error("progress_step: expected a tensor of one element, got f32[2]", "wk_mean", NULL);
    wk_matmul(wk_ones((2, 3)), wk_ones((2, 3)));
    assert_int_not_equal(wk_progress_step(bar, "loss", NULL), WK_OK); /* an error is pending */
    wk_clear_error();
    assert_string_equal(written(log), "");
    assert_int_not_equal(wk_progress_step(NULL, "loss", NULL), WK_OK);
    wk_clear_error();
    wk_free(bar);
    fclose(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_step_is_a_line, test_default_mode, test_restore_mode),
        cmocka_unit_test(a_log_gets_a_line_now_and_then),
        cmocka_unit_test(steps_that_are_counted),
        cmocka_unit_test(a_value_that_is_no_number),
        cmocka_unit_test(kinds_of_values),
        cmocka_unit_test(a_value_arrives),
        cmocka_unit_test_setup_teardown(steps_between_updates_run_nothing, test_default_mode, test_restore_mode),
        cmocka_unit_test(values_are_computed_to_be_shown),
        cmocka_unit_test(a_terminal_shows_a_bar),
        cmocka_unit_test(mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
