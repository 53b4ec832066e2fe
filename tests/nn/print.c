/* SPDX-License-Identifier: Apache-2.0 */
/* Tests networks as text: wk_module_str, wk_module_print. Expected texts are those of PyTorch. */
#include "support/wick.h"

#include <unistd.h>

static void expect_text(wk_module *m, const char *text)
{
    const char *given = wk_module_str(m);
    expect_ok();
    assert_string_equal(given, text);
}

static void options_of_layers(void **state)
{
    (void)state;
    WK_SCOPE;
    expect_text(wk_nn_linear(784, 256), "Linear(in_features=784, out_features=256, bias=True)");
    expect_text(wk_nn_linear(3, 2, .no_bias = true), "Linear(in_features=3, out_features=2, bias=False)");
    expect_text(wk_nn_flatten(), "Flatten(start_dim=1, end_dim=-1)");
    expect_text(wk_nn_flatten(0, 2), "Flatten(start_dim=0, end_dim=2)");
    expect_text(wk_nn_unflatten(1, (2, 5)), "Unflatten(dim=1, unflattened_size=(2, 5))");
    expect_text(wk_nn_relu(), "ReLU()");
    expect_text(wk_nn_sigmoid(), "Sigmoid()");
    expect_text(wk_nn_tanh(), "Tanh()");
    expect_text(wk_nn_gelu(), "GELU(approximate='none')");
    expect_text(wk_nn_dropout(0.25), "Dropout(p=0.25, inplace=False)");
    expect_text(wk_nn_dropout(1), "Dropout(p=1.0, inplace=False)");
    expect_text(wk_nn_embedding(10, 3), "Embedding(10, 3)");
    expect_text(wk_nn_embedding(10, 3, .padding_idx = -1, .max_norm = 2, .norm_type = 1, .scale_grad_by_freq = true),
                "Embedding(10, 3, padding_idx=9, max_norm=2.0, norm_type=1.0, scale_grad_by_freq=True)");
    expect_text(wk_nn_embedding_bag(10, 3), "EmbeddingBag(10, 3, mode='mean')");
    expect_text(wk_nn_layer_norm((5)), "LayerNorm((5,), eps=1e-05, elementwise_affine=True, bias=True)");
    expect_text(wk_nn_layer_norm((5, 4), .eps = 0.001, .no_affine = true),
                "LayerNorm((5, 4), eps=0.001, elementwise_affine=False, bias=False)");
    expect_text(wk_nn_layer_norm((3), .no_bias = true, .eps = 0),
                "LayerNorm((3,), eps=0.0, elementwise_affine=True, bias=False)");
    expect_text(wk_nn_sequential(), "Sequential()");
    expect_text(wk_nn_module_list(), "ModuleList()");
}

static void nested_networks(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = wk_nn_sequential(wk_nn_linear(784, 256), wk_nn_relu(),
                                      wk_nn_module_list(wk_nn_linear(2, 2), wk_nn_linear(2, 2), wk_nn_relu()),
                                      wk_nn_sequential(wk_nn_sequential(wk_nn_tanh())));
    wk_module_add(net, "head", wk_nn_module_list(wk_nn_sequential(wk_nn_relu()), wk_nn_sequential(wk_nn_relu())));
    expect_text(net, "Sequential(\n"
                     "  (0): Linear(in_features=784, out_features=256, bias=True)\n"
                     "  (1): ReLU()\n"
                     "  (2): ModuleList(\n"
                     "    (0-1): 2 x Linear(in_features=2, out_features=2, bias=True)\n"
                     "    (2): ReLU()\n"
                     "  )\n"
                     "  (3): Sequential(\n"
                     "    (0): Sequential(\n"
                     "      (0): Tanh()\n"
                     "    )\n"
                     "  )\n"
                     "  (head): ModuleList(\n"
                     "    (0-1): 2 x Sequential(\n"
                     "      (0): ReLU()\n"
                     "    )\n"
                     "  )\n"
                     ")");
}

static void lazy_layers(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *lazy = wk_nn_lazy_linear(4, .no_bias = true);
    expect_text(lazy, "LazyLinear(in_features=0, out_features=4, bias=False)");
    assert_non_null(wk_forward(lazy, wk_ones((2, 3))));
    expect_text(lazy, "Linear(in_features=3, out_features=4, bias=False)");
}

/* ---- custom kinds ------------------------------------------------------------------------------------------------ */

static int describe_scale(wk_module *self, char *out, size_t size)
{
    return snprintf(out, size, "by=%d", *(int *)wk_module_state(self));
}

static int describe_two_lines(wk_module *self, char *out, size_t size)
{
    (void)self;
    return snprintf(out, size, "first\nsecond");
}

static int describe_at_length(wk_module *self, char *out, size_t size)
{
    (void)self;
    return snprintf(out, size, "%0600d", 7);
}

static int describe_badly(wk_module *self, char *out, size_t size)
{
    (void)self, (void)out, (void)size;
    return -1;
}

static wk_module *custom(int (*describe)(wk_module *self, char *out, size_t size))
{
    const wk_module_kind kind = {.size = sizeof kind, .name = "scale", .state = sizeof(int), .describe = describe};
    wk_module *m = wk_module_new(&kind);
    *(int *)wk_module_state(m) = 5;
    return m;
}

static void custom_kinds_describe_themselves(void **state)
{
    (void)state;
    WK_SCOPE;
    expect_text(custom(NULL), "scale()");
    expect_text(custom(describe_scale), "scale(by=5)");
    expect_text(custom(describe_two_lines), "scale(\n  first\n  second\n)");
    wk_module *parent = custom(describe_scale);
    wk_module_add(parent, "inner", custom(describe_two_lines));
    expect_text(parent, "scale(\n  by=5\n  (inner): scale(\n    first\n    second\n  )\n)");
    assert_int_equal(strlen(wk_module_str(custom(describe_at_length))), 600 + strlen("scale()"));
    assert_null(wk_module_str(wk_nn_sequential(custom(describe_badly))));
    expect_error("module_str: describe of \"scale\" failed", NULL);
}

/* A struct of a program that was compiled without the member describe. */
static void kinds_without_describe_are_accepted(void **state)
{
    (void)state;
    WK_SCOPE;
    const wk_module_kind kind = {.size = offsetof(wk_module_kind, describe), .name = "old", .describe = describe_badly};
    expect_text(wk_module_new(&kind), "old()");
}

/* ---- limits and ownership ---------------------------------------------------------------------------------------- */

static void too_large_networks_are_refused(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *deep = wk_nn_relu(), *shared = wk_nn_relu();
    for (int k = 0; k < 501; k++) deep = wk_nn_sequential(deep);
    for (int k = 0; k < 30; k++) shared = wk_nn_sequential(shared, shared);
    assert_null(wk_module_str(deep));
    expect_error("module_str: more than 500 modules are nested", NULL);
    assert_null(wk_module_str(shared));
    expect_error("module_str", "print a child", NULL);
}

static void texts_live_as_long_as_their_owner(void **state)
{
    (void)state;
    wk_module *m = wk_nn_relu();
    const char *outside = wk_module_str(m), *again = wk_module_str(m);
    {
        WK_SCOPE;
        assert_string_equal(wk_module_str(m), outside);
    }
    assert_string_equal(outside, again);
    wk_free(m);
    expect_ok();
}

static void print_writes_to_stdout(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *m = wk_nn_sequential(wk_nn_relu());
    char text[100] = "";
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stdout);
    const int before = dup(STDOUT_FILENO);
    dup2(fileno(file), STDOUT_FILENO);
    wk_module *same = wk_module_print(m);
    fflush(stdout);
    dup2(before, STDOUT_FILENO);
    close(before);
    rewind(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    assert_ptr_equal(same, m);
    assert_string_equal(text, "Sequential(\n  (0): ReLU()\n)\n");
    assert_null(wk_module_print(NULL));
    expect_error("module_print", "NULL", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_of_layers),
        cmocka_unit_test(nested_networks),
        cmocka_unit_test(lazy_layers),
        cmocka_unit_test(custom_kinds_describe_themselves),
        cmocka_unit_test(kinds_without_describe_are_accepted),
        cmocka_unit_test(too_large_networks_are_refused),
        cmocka_unit_test(texts_live_as_long_as_their_owner),
        cmocka_unit_test(print_writes_to_stdout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
