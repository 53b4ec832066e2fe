/* SPDX-License-Identifier: Apache-2.0 */
/* Tests gradients by name: the group "autograd" of the table, for bindings. Its rows have no samples, so the sweeps
 * skip them. */
#include "support/sweep/sweep.h"

static wk_value tensor(wk_tensor *x)
{
    return wk_value_of_tensor(x);
}

static wk_value boolean(bool x)
{
    return (wk_value){.kind = WK_VALUE_BOOL, .i = x};
}

/* Returns the results, or the message in *message. */
static wk_code call(const char *name, const wk_value *args, int given, wk_value *out, int *count, char *message)
{
    return wk_call(NULL, name, args, given, out, count, NULL, message, 300);
}

static wk_tensor *one(const char *name, const wk_value *args, int given)
{
    wk_value out;
    char message[300];
    int count = 1;
    if (call(name, args, given, &out, &count, message) != WK_OK) fail_msg("%s", message);
    assert_int_equal(count, 1);
    return out.kind == WK_VALUE_TENSOR ? out.tensor : NULL;
}

static void expect_refused(const char *name, const wk_value *args, int given, const char *word)
{
    wk_value out[4];
    char message[300];
    int count = 4;
    assert_int_not_equal(call(name, args, given, out, &count, message), WK_OK);
    assert_int_equal(count, 0);
    if (!strstr(message, word)) fail_msg("\"%s\" is missing in: %s", word, message);
}

/* Gradient of the sum of x^2: 2 x is added to the leaf, and again by a second backward. */
static void backward_by_name(void **state)
{
    (void)state;
    wk_tensor *x = wk_full((3), 2.0), *none = wk_ones((3));
    char message[300];
    wk_value out;
    int count = 0;
    wk_free(one("requires_grad_", (wk_value[]){tensor(x)}, 1));
    assert_true(wk_requires_grad(x));
    assert_null(one("grad_of", (wk_value[]){tensor(x)}, 1));
    wk_tensor *square = one("mul", (wk_value[]){tensor(x), tensor(x)}, 2);
    wk_tensor *loss = one("sum", (wk_value[]){tensor(square)}, 1);
    const wk_value args[] = {tensor(loss), {.kind = WK_VALUE_NONE}, boolean(true)};
    for (int turn = 1; turn <= 2; turn++) {
        if (call("backward", args, turn == 1 ? 3 : 1, &out, &count, message) != WK_OK) fail_msg("%s", message);
        assert_int_equal(count, 0);
        wk_tensor *gradient = one("grad_of", (wk_value[]){tensor(x)}, 1);
        expect_values(gradient, 3, (const double[]){4 * turn, 4 * turn, 4 * turn}, 0);
        wk_free(gradient); /* the leaf also holds it */
    }
    expect_refused("backward", args, 1, "backward");
    expect_refused("backward", (wk_value[]){tensor(none)}, 1, "requires_grad");
    expect_refused("grad_of", (wk_value[]){tensor(loss)}, 1, "grad_of");
    wk_tensor *apart = one("detach", (wk_value[]){tensor(square)}, 1);
    assert_false(wk_requires_grad(apart));
    assert_true(wk_same_storage(apart, square));
    wk_free(one("requires_grad_", (wk_value[]){tensor(x), boolean(false)}, 2));
    assert_false(wk_requires_grad(x));
    wk_tensor *all[] = {x, none, square, loss, apart};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) wk_free(all[k]);
    expect_ok();
}

/* One gradient per input; none for an unused one. */
static void grad_by_name(void **state)
{
    (void)state;
    WK_SCOPE;
    char message[300];
    wk_value out[3];
    int count = 3;
    wk_tensor *x = wk_full((2), 3.0, .requires_grad = true), *y = wk_ones((2), .requires_grad = true),
              *other = wk_ones((1), .requires_grad = true), *cube = wk_mul(wk_mul(x, x), wk_mul(x, y)),
              *inputs[] = {x, y, other}, *seed = wk_full((2), 10.0);
    wk_value args[6] = {{.kind = WK_VALUE_TENSORS, .count = 1, .tensors = &cube},
                        {.kind = WK_VALUE_TENSORS, .count = 2, .tensors = inputs},
                        {.kind = WK_VALUE_TENSORS, .count = 1, .tensors = &seed},
                        boolean(true)};
    if (call("grad", args, 4, out, &count, message) != WK_OK) fail_msg("%s", message);
    assert_int_equal(count, 2);
    expect_values(out[0].tensor, 2, (const double[]){270, 270}, 0);
    expect_values(out[1].tensor, 2, (const double[]){270, 270}, 0);
    wk_free(out[0].tensor);
    wk_free(out[1].tensor);
    assert_null(wk_grad_of(x));
    args[1].count = 3;
    expect_refused("grad", args, 4, "input 2 was not used");
    args[5] = boolean(true);
    args[4] = boolean(true); /* these can be differentiated again */
    count = 3;
    if (call("grad", args, 6, out, &count, message) != WK_OK) fail_msg("%s", message);
    assert_int_equal(count, 3);
    assert_int_equal(out[2].kind, WK_VALUE_NONE);
    assert_true(wk_requires_grad(out[0].tensor));
    wk_free(out[0].tensor);
    wk_free(out[1].tensor);
    wk_tensor *gone = wk_ones((2));
    wk_free(gone);
    args[2].tensors = &gone;
    expect_refused("grad", args, 4, "freed");
    args[2].count = 0;
    expect_refused("grad", args, 4, "expected one grad_output per output, got 0 for 1 outputs");
    expect_ok();
}

/* A hook within a call by name: neither the shared context nor the running one accepts another call. */
static wk_context *running;

static wk_tensor *calls_on(wk_tensor *grad, void *user)
{
    int *refused = user;
    const wk_value args[2] = {tensor(grad), {.kind = WK_VALUE_INT, .i = 2}};
    wk_context *own = wk_context_new(), *contexts[2] = {running, own};
    for (int k = 0; k < 2; k++) {
        char message[300];
        wk_value out;
        int count = 1;
        const wk_code code = wk_call(contexts[k], "mul", args, 2, &out, &count, NULL, message, sizeof message);
        if (code == WK_ERR_STATE && strstr(message, "wk_context_new()")) ++*refused;
        if (code == WK_OK) wk_free(out.tensor);
    }
    wk_context_free(own);
    return NULL;
}

static void calls_within_calls(void **state)
{
    (void)state;
    wk_context *contexts[2] = {NULL, wk_context_new()};
    for (int k = 0; k < 2; k++) {
        int refused = 0, count = 0;
        char message[300];
        wk_value out;
        wk_tensor *x = wk_full((1), 3.0, .requires_grad = true), *y = wk_mul(x, 3);
        assert_int_equal(wk_register_hook(x, calls_on, &refused), WK_OK);
        running = contexts[k];
        if (wk_call(contexts[k], "backward", (wk_value[]){tensor(y)}, 1, &out, &count, NULL, message, 300) != WK_OK)
            fail_msg("%s", message);
        assert_int_equal(refused, 1); /* a separate context works */
        wk_free(y);
        wk_free(x);
        wk_value args[2] = {{.kind = WK_VALUE_INTS, .count = 1, .ints = (const int64_t[]){2}}};
        count = 1; /* and the context is usable again */
        assert_int_equal(wk_call(contexts[k], "ones", args, 1, &out, &count, NULL, message, 300), WK_OK);
        wk_free(out.tensor);
    }
    wk_context_free(contexts[1]);
    expect_ok();
}

/* Rows without samples are tested only here. */
static void rows_without_samples(void **state)
{
    (void)state;
    static const char *const known[] = {"backward", "grad", "grad_of", "requires_grad_"};
    size_t found = 0;
    for (int k = 0; k < wk_op_count(); k++) {
        if (sweep_has_samples(wk__ops[k])) continue;
        assert_true(found < sizeof known / sizeof *known);
        assert_string_equal(wk__ops[k]->name, known[found++]);
    }
    assert_int_equal(found, sizeof known / sizeof *known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(backward_by_name), cmocka_unit_test(grad_by_name),
                                       cmocka_unit_test(calls_within_calls), cmocka_unit_test(rows_without_samples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
