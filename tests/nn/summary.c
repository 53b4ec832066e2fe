/* SPDX-License-Identifier: Apache-2.0 */
/* Tests wk_summary and wk_summary_rows. */
#include "support/conv2d.h"
#include "support/wick.h"

#include <setjmp.h>
#include <unistd.h>

static const wk_summary_row *row_of(const wk_summary_row *const *rows, const char *path)
{
    expect_ok();
    assert_non_null(rows);
    while (*rows && strcmp((*rows)->path, path) != 0) rows++;
    if (!*rows) fail_msg("no row %s", path);
    return *rows;
}

#define EXPECT_ROW(row, wanted_kind, wanted_depth, ...)                                                                \
    expect_row(row, wanted_kind, wanted_depth, (const int64_t[]){__VA_ARGS__},                                         \
               (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)))
static void expect_row(const wk_summary_row *row, const char *kind, int depth, const int64_t *shape, int ndim)
{
    assert_string_equal(row->kind, kind);
    assert_int_equal(row->depth, depth);
    assert_int_equal(row->ndim, ndim);
    for (int d = 0; d < ndim; d++) assert_int_equal(row->shape[d], shape[d]);
}

static void expect_numbers(const wk_summary_row *row, int64_t parameters, int64_t products, int64_t bytes)
{
    assert_int_equal(row->parameters, parameters);
    assert_int_equal(row->multiply_adds, products);
    assert_int_equal(row->activation_bytes, bytes);
}

static void rows_of_a_network(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = wk_nn_sequential(wk_nn_flatten(), wk_nn_linear(784, 256), wk_nn_relu(),
                                      wk_nn_sequential(wk_nn_linear(256, 10, .no_bias = true), wk_nn_dropout(0.5)));
    const wk_summary_row *const *rows = wk_summary_rows(net, (2, 1, 28, 28));
    const wk_summary_row *whole = row_of(rows, ""), *first = row_of(rows, "1"), *relu = row_of(rows, "2"),
                         *inner = row_of(rows, "3"), *last = row_of(rows, "3.0");
    EXPECT_ROW(whole, "Sequential", 0, 2, 10);
    expect_numbers(whole, 784 * 256 + 256 + 2560, 2 * (784 * 256 + 2560), 4 * 2 * (256 + 256 + 10));
    assert_int_equal(whole->trainable, whole->parameters);
    assert_int_equal(whole->parameter_bytes, 4 * whole->parameters);
    assert_int_equal(whole->calls, 1);
    EXPECT_ROW(row_of(rows, "0"), "Flatten", 1, 2, 784);
    expect_numbers(row_of(rows, "0"), 0, 0, 0); /* a view of the input */
    EXPECT_ROW(first, "Linear", 1, 2, 256);
    expect_numbers(first, 784 * 256 + 256, 2 * 784 * 256, 4 * 2 * 256);
    EXPECT_ROW(relu, "ReLU", 1, 2, 256);
    expect_numbers(relu, 0, 0, 4 * 2 * 256);
    EXPECT_ROW(inner, "Sequential", 1, 2, 10);
    expect_numbers(inner, 2560, 2 * 2560, 4 * 2 * 10);
    EXPECT_ROW(last, "Linear", 2, 2, 10);
    EXPECT_ROW(row_of(rows, "3.1"), "Dropout", 2, 2, 10); /* returns its input in evaluation mode */
    expect_numbers(row_of(rows, "3.1"), 0, 0, 0);
    assert_ptr_equal(rows[0], whole);
    assert_ptr_equal(rows[6], row_of(rows, "3.1"));
    assert_null(rows[7]);
}

/* A module that is called twice, one that is never called, a frozen parameter, an input of integers. */
static wk_tensor *twice_forward(wk_module *self, wk_tensor *x)
{
    wk_module *layer = wk_module_child(self, "layer");
    return wk_tanh(wk_forward(layer, wk_forward(layer, wk_forward(wk_module_child(self, "table"), x))));
}

static void custom_networks(void **state)
{
    (void)state;
    WK_SCOPE;
    const wk_module_kind kind = {.size = sizeof kind, .name = "twice", .forward1 = twice_forward};
    wk_module *net = wk_module_new(&kind);
    wk_module_add(net, "table", wk_nn_embedding(10, 4));
    wk_module_add(net, "layer", wk_nn_linear(4, 4));
    wk_module_add(net, "unused", wk_nn_linear(2, 2));
    wk_requires_grad_(wk_module_parameter(net, "table.weight"), false);
    const wk_summary_row *const *rows = wk_summary_rows(net, (3, 5), .dtype = WK_I64);
    const wk_summary_row *layer = row_of(rows, "layer"), *unused = row_of(rows, "unused");
    EXPECT_ROW(row_of(rows, ""), "twice", 0, 3, 5, 4);
    expect_numbers(row_of(rows, ""), 40 + 20 + 6, 2 * 15 * 16, 4 * 4 * 60);
    assert_int_equal(row_of(rows, "")->trainable, 20 + 6);
    assert_int_equal(layer->calls, 2);
    expect_numbers(layer, 20, 2 * 15 * 16, 2 * 4 * 60);
    assert_int_equal(unused->calls, 0);
    assert_int_equal(unused->ndim, -1);
    expect_numbers(unused, 6, 0, 0);
}

static wk_tensor *convolve_forward(wk_module *self, wk_tensor *x)
{
    return record_conv2d(x, wk_module_parameter(self, "weight"), 1, 1);
}

/* Multiply-adds are those of the recorded contractions, and do not depend on kinds; no device computes anything. */
static void contractions_on_devices(void **state)
{
    (void)state;
    WK_SCOPE;
    const wk_module_kind kind = {.size = sizeof kind, .name = "convolve", .forward1 = convolve_forward};
    wk_module *m = wk_module_new(&kind), *net = wk_nn_sequential(m, wk_nn_flatten(), wk_nn_linear(4 * 64, 2));
    wk_module_add_parameter(m, "weight", wk_ones((4, 3, 3, 3)));
    wk_module_to(net, test_null());
    const wk_summary_row *const *rows = wk_summary_rows(net, (2, 3, 8, 8));
    EXPECT_ROW(row_of(rows, "0"), "convolve", 1, 2, 4, 8, 8);
    expect_numbers(row_of(rows, "0"), 108, 2 * 4 * 64 * 27, 4 * 2 * 4 * 64);
    expect_numbers(rows[0], 108 + 514, 2 * 4 * 64 * 27 + 2 * 512, 4 * 2 * 4 * 64 + 16);
}

/* ---- nothing changes --------------------------------------------------------------------------------------------- */

static int trained, evaluated;
static jmp_buf back;

static void count_modes(wk_module *self, bool training)
{
    (void)self;
    training ? trained++ : evaluated++;
}

/* Draws numbers, changes buffers in place and entirely, and reports its mode. */
static wk_tensor *restless_forward(wk_module *self, wk_tensor *x)
{
    assert_false(wk_module_training(self));
    assert_false(wk_is_grad_enabled());
    wk_add_(wk_module_buffer(self, "count"), 1);
    wk_module_set_buffer(self, "last", x);
    return wk_add(x, wk_rand_like(x));
}

static wk_module *new_restless(void)
{
    const wk_module_kind kind = {
        .size = sizeof kind, .name = "restless", .forward1 = restless_forward, .on_train = count_modes};
    wk_module *m = wk_module_new(&kind);
    wk_module_set_buffer(m, "count", wk_zeros(()));
    wk_module_set_buffer(m, "last", wk_of(float, (2), 1, 2));
    return m;
}

static void expect_unchanged(wk_module *m)
{
    EXPECT_VALUES(wk_module_buffer(m, "count"), 0, 0);
    EXPECT_VALUES(wk_module_buffer(m, "last"), 0, 1, 2);
    EXPECT_SHAPE(wk_module_buffer(m, "last"), 2);
    assert_true(wk_module_training(m));
    assert_int_equal(trained, 1);
    assert_int_equal(evaluated, 1);
}

static void the_network_stays_as_it_is(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *m = new_restless(), *evaluates = wk_nn_relu(), *net = wk_nn_sequential(m, evaluates);
    wk_module_train(evaluates, false);
    trained = evaluated = 0;
    wk_seed(3);
    const double wanted = wk_item(wk_rand(()));
    wk_seed(3);
    assert_non_null(wk_summary_rows(net, (2, 3)));
    expect_unchanged(m);
    assert_false(wk_module_training(evaluates));
    assert_true(wk_module_training(net));
    assert_true(wk_item(wk_rand(())) == wanted);
    assert_true(wk_is_grad_enabled());
}

static wk_tensor *failing_forward(wk_module *self, wk_tensor *x)
{
    (void)self;
    return wk_add(x, wk_ones((7)));
}

static void leave(void *user, wk_code code, const char *text)
{
    (void)user, (void)code, (void)text;
    longjmp(back, 1);
}

static void call_until_longjmp(wk_module *net)
{
    static const int64_t shape[] = {2, 3};
    static const wk_site here = {__FILE__, __LINE__};
    if (setjmp(back)) return;
    (void)wk_summary_rows_at(here, net, shape, 2, NULL);
    fail_msg("the handler was not called");
}

static void failures_restore_the_network(void **state)
{
    (void)state;
    WK_SCOPE;
    const wk_module_kind bad = {.size = sizeof bad, .name = "bad", .forward1 = failing_forward};
    wk_module *m = new_restless(), *net = wk_nn_sequential(m, wk_module_new(&bad));
    trained = evaluated = 0;
    assert_null(wk_summary_rows(net, (2, 3)));
    expect_error("add", "in forward of \"bad\"", NULL);
    expect_unchanged(m);
    trained = evaluated = 0;
    wk_set_error_handler(leave, NULL);
    wk_guard scope = wk_scope_open(WK_HERE);
    call_until_longjmp(net);
    wk_guard_close(&scope);
    wk_set_error_handler(NULL, NULL);
    wk_clear_error();
    expect_unchanged(m);
    expect_ok();
}

static void refusals(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = wk_nn_sequential(wk_nn_linear(3, 2));
    assert_null(wk_summary_rows(net, (2, 5)));
    expect_error("in layer 0 (linear)", "f32[2,5]", NULL);
    assert_null(wk_summary_rows(NULL, (2)));
    expect_error("summary_rows", "NULL", NULL);
    assert_null(wk_summary_rows(wk_nn_sequential(wk_nn_lazy_linear(2)), (2)));
    expect_error("summary_rows: lazy_linear \"0\"", NULL);
    assert_null(wk_summary_rows(net, (-1, 3)));
    expect_error("-1", NULL);
    assert_null(wk_summary(net, (2, 5)));
    expect_error("forward: in layer 0 (linear): inner", "f32[2,5]", NULL);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static void the_table(void **state)
{
    (void)state;
    WK_SCOPE;
    static const char wanted[] = "Layer         Output shape  Parameters  Multiply-adds  Activations\n"
                                 "------------------------------------------------------------------\n"
                                 "Sequential    (1, 2)             8,002          8,000      7.8 KiB\n"
                                 "  0 (Linear)  (1, 2000)          4,000          4,000      7.8 KiB\n"
                                 "  1 (Linear)  (1, 2)             4,002          4,000      8 bytes\n"
                                 "------------------------------------------------------------------\n"
                                 "Parameters: 8,002, of which 8,002 trainable\n"
                                 "Multiply-adds: 8,000\n"
                                 "Memory: 31.3 KiB of parameters, 7.8 KiB of activations\n";
    wk_module *net = wk_nn_sequential(wk_nn_linear(2, 2000, .no_bias = true), wk_nn_linear(2000, 2));
    char text[2000] = "";
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stdout);
    const int before = dup(STDOUT_FILENO);
    dup2(fileno(file), STDOUT_FILENO);
    wk_module *same = wk_summary(net, (1, 2));
    fflush(stdout);
    dup2(before, STDOUT_FILENO);
    close(before);
    rewind(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    expect_ok();
    assert_ptr_equal(same, net);
    assert_string_equal(text, wanted);
}

static void rows_outside_a_scope(void **state)
{
    (void)state;
    wk_module *layer = wk_nn_linear(2, 3);
    const wk_summary_row *const *rows = wk_summary_rows(layer, (4, 2));
    EXPECT_ROW(row_of(rows, ""), "Linear", 0, 4, 3);
    wk_free(layer);
    expect_ok();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_a_network),
        cmocka_unit_test(custom_networks),
        cmocka_unit_test(contractions_on_devices),
        cmocka_unit_test(the_network_stays_as_it_is),
        cmocka_unit_test(failures_restore_the_network),
        cmocka_unit_test(refusals),
        cmocka_unit_test(the_table),
        cmocka_unit_test(rows_outside_a_scope),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
