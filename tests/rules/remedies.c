/* SPDX-License-Identifier: Apache-2.0 */
/* Tests messages that explain the cause or suggest a remedy: the origin of a NULL, the loop iteration that created a
 * tensor, why a device is not a GPU, the available dtypes, the operand to move. */
#include "support/reexec.h"
#include "support/devices.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- NULL and tensors of another scope --------------------------------------------------------------------------- */

static void a_null_names_the_failed_call(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *leaf = wk_ones((2), .requires_grad = true), *plain = wk_ones((2));
    wk_exp(wk_grad_of(leaf));
    expect_error("exp: input is NULL (returned by grad_of at ", "rules/remedies.c:", "wk_backward has not computed",
                 NULL);
    wk_exp(wk_grad_of(plain));
    expect_error("the tensor does not require grad", NULL);
    wk_tensors *list = wk_list((leaf));
    assert_true(wk_tensors_find(list, "0") == leaf);
    wk_exp(wk_tensors_find(list, "weight"));
    expect_error("exp: input is NULL (returned by tensors_find at ",
                 "rules/remedies.c:", "no tensor in the list has that name", NULL);
    wk_tensor *grads[2];
    wk_grad((wk_sum(leaf)), (leaf, wk_ones((2), .requires_grad = true)), grads, .allow_unused = true);
    wk_exp(grads[1]);
    expect_error("exp: input is NULL (returned by grad at ", "rules/remedies.c:", "was not used", NULL);
    wk_loader *loader = wk_data_loader(wk_data_tensors(plain, NULL));
    WK_EACH(batch, loader)
    {
        wk_exp(batch->y);
    }
    expect_error("exp: input is NULL (returned by WK_EACH at ", "rules/remedies.c:", "the dataset has no y", NULL);
    wk_tensor *failed = wk_matmul(plain, wk_ones((3)));
    wk_clear_error();
    wk_exp(failed);
    expect_error("exp: input is NULL; the last failed call here, ", "whose error was cleared, is ", ": matmul", NULL);
    wk_add(plain, (wk_tensor *)NULL);
    expect_error("add: second operand is NULL; the last failed call here, ", ": exp", NULL);
}

/* A NULL inside of the library is not reported as a failed call of the program, nor is an absent gradient. */
static void nulls_inside_the_library_are_not_named(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *leaf = wk_ones((2), .requires_grad = true);
    wk_module *net = wk_nn_linear(2, 2);
    wk_optim *sgd = wk_optim_sgd(wk_parameters(net), .lr = 1);
    for (int k = 0; k < 3; k++) {
        wk_matmul(leaf, wk_ones((3)));
        wk_clear_error();
        if (k == 0) wk_clip_grad_norm_(wk_list((leaf)), 1);
        if (k == 1) wk_optim_step(sgd);
        if (k == 2) wk_module_to(net, wk_cpu());
        wk_exp(NULL);
        expect_error("exp: input is NULL; the last failed call here, ", ": matmul", NULL);
    }
    wk_matmul(leaf, wk_ones((3)));
    wk_clear_error();
    assert_null(wk_grad_of(leaf));
    wk_clip_grad_norm_(NULL, 1);
    expect_error("clip_grad_norm_: the list is NULL; the last failed call here, ", ": matmul", NULL);
}

static void *without_history(void *user)
{
    (void)user;
    wk_exp(NULL);
    expect_error("input is NULL; no call of this thread returned NULL", NULL);
    return NULL;
}

static void a_null_without_a_failed_call(void **state)
{
    (void)state;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, without_history, NULL), 0);
    pthread_join(thread, NULL);
}

static void a_tensor_of_an_earlier_iteration(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *hidden = wk_ones((2));
    for (int k = 0; k < 2; k++) {
        WK_SCOPE;
        hidden = wk_tanh(hidden);
        if (k == 1)
            expect_error("tanh: input is a tensor whose scope has closed", "earlier iteration; use wk_carry", NULL);
    }
    wk_exp(hidden ? hidden : wk_ones((1)));
    wk_clear_error();
    {
        WK_SCOPE;
        hidden = wk_ones((2));
    }
    wk_exp(hidden);
    expect_error("use wk_keep", NULL);
}

/* ---- devices ----------------------------------------------------------------------------------------------------- */

static void a_missing_gpu_is_explained(void **state)
{
    (void)state;
    if (wk_device_count(WK_GPU) > 0) skip();
    wk_ones((1), .device = wk_gpu(0));
    if (wk_device_count(WK_OPENCL) > 0)
        expect_error("gpu:0 does not exist", "reports only CPUs", "WICK_GPU=opencl", "available: ", NULL);
    else
        expect_error("gpu:0 does not exist", "no driver reports a GPU", "available: cpu", NULL);
}

static void the_hint_moves_to_the_accelerator(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *here = wk_ones((3, 3)), *there = wk_ones((3, 3), .device = test_null());
    wk_add(here, there);
    expect_error("add: operands are on different devices: a ", "wk_to(a, wk_null(0))", NULL);
    wk_add(there, here);
    expect_error("wk_to(b, wk_null(0))", NULL);
    wk_where(wk_ones((3, 3), .dtype = WK_BOOL), there, here);
    expect_error("move them: wk_to(a, wk_null(0)), wk_to(c, wk_null(0))", NULL);
    wk_add_(here, there); /* the result would go to a copy of the target */
    expect_error("move one: wk_to(b, wk_cpu())", NULL);
    wk_add_(there, here);
    expect_error("move one: wk_to(b, wk_null(0))", NULL);
}

/* Of two accelerators the hint names the one with more of the operands: for a layer, the one with its parameters. */
static void the_hint_moves_the_minority(void **state)
{
    (void)state;
    WK_SCOPE;
    if (wk_device_count(WK_OPENCL) < 2) skip();
    wk_module *net = wk_module_to(wk_nn_linear(3, 2), wk_opencl(0));
    wk_forward(net, wk_ones((4, 3), .device = wk_opencl(1)));
    expect_error("different devices", "move one: wk_to(a, wk_opencl(0)), or the network", NULL);
    wk_add(wk_ones((3), .device = wk_opencl(1)), wk_ones((3), .device = wk_opencl(0)));
    expect_error("move one: wk_to(b, wk_opencl(1))", NULL);
}

/* Composed ops name their own operands. */
static void composed_ops_name_their_operands(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *here = wk_ones((3, 3)), *there = wk_ones((3, 3), .device = test_null());
    wk_addmm(there, there, here);
    expect_error("addmm: operands are on different devices: a ", ", c f32[3,3] on cpu; move one: wk_to(c, wk_null(0))",
                 NULL);
    wk_linear(there, there, wk_ones((3)));
    expect_error("linear: operands are on different devices", "wk_to(c, wk_null(0))", NULL);
    wk_mse_loss(there, here);
    expect_error("mse_loss: operands are on different devices", "wk_to(b, wk_null(0))", NULL);
}

static void losses_accept_cpu_scalars(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        wk_tensor *x = wk_full((), 3.0, .device = device, .requires_grad = true),
                  *target = wk_full((), 1.0, .requires_grad = true), *loss = wk_mse_loss(x, target);
        wk_backward(loss);
        expect_ok();
        EXPECT_VALUES(loss, 0, 4);
        EXPECT_VALUES(wk_grad_of(x), 0, 4);
        EXPECT_VALUES(wk_grad_of(target), 0, -4);
        assert_int_equal(wk_device_of(wk_grad_of(target)).kind, WK_CPU);
        wk_tensor *p = wk_full((2), 0.5, .device = device);
        EXPECT_VALUES(wk_binary_cross_entropy(p, wk_ones_like(p), .weight = wk_full((), 2.0)), 1e-5, 1.3862944);
        expect_ok();
    }
}

/* ---- dtypes and reductions --------------------------------------------------------------------------------------- */

static void dtype_errors_suggest_a_call(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((2)), *yes = wk_ones((2), .dtype = WK_BOOL), *i = wk_ones((2), .dtype = WK_I64);
    wk_sub(yes, yes);
    expect_error("sub: dtype bool is not supported", "wk_to_dtype(x, WK_I64)", "wk_logical_xor", NULL);
    wk_neg(yes);
    expect_error("neg: dtype bool is not supported", "wk_logical_not", NULL);
    wk_bitwise_and(x, x);
    expect_error("bitwise_and: dtype f32 is not supported", "wk_to_dtype(x, WK_I64)", NULL);
    wk_softmax(i, 0);
    expect_error("softmax: ", "wk_to_dtype(x, WK_F32)", NULL);
    wk_mse_loss(x, x, .reduction = 9);
    expect_error("mse_loss: unknown reduction 9; expected WK_REDUCE_MEAN, ", NULL);
    wk_cross_entropy(wk_ones((2, 3)), i, .reduction = 9);
    expect_error("cross_entropy: unknown reduction 9; expected WK_REDUCE_MEAN, ", NULL);
    wk_zeros((2), .dtype = (wk_dtype)77);
    expect_error("zeros: unknown dtype 77; supported are WK_F32, ", NULL);
    wk_zeros((2), .dtype = WK_C64);
    expect_error("zeros: dtype c64 is not supported; supported are WK_F32, ", NULL);
    wk_to_dtype(x, (wk_dtype)77);
    expect_error("unknown dtype 77", NULL);
    wk_zeros((2), .dtype = WK_I64, .requires_grad = true);
    expect_error("omit .dtype or pass WK_F32", NULL);
    wk_full((2), 3, .requires_grad = true);
    expect_error(
        "full: only floating dtypes can require grad, got i64; write the value as 3.0, or pass .dtype = WK_F32", NULL);
    wk_arange(4, .requires_grad = true);
    expect_error("arange: ", "write the value as 3.0, or pass .dtype = WK_F32", NULL);
    wk_zeros_like(i, .requires_grad = true);
    expect_error("got i64; pass .dtype = WK_F32", NULL);
    wk_masked_select(x, i);
    expect_error("masked_select: mask must be bool", "wk_ne(mask, 0)", NULL);
    wk_uniform_(i, 0, 1);
    expect_error("wk_randint", NULL);
    wk_dot(x, wk_ones((3)));
    expect_error("dot: sizes differ: f32[2] and f32[3]; the dot product needs vectors of equal size", NULL);
    wk_mv(wk_ones((2, 3)), x);
    expect_error("mv: inner dimensions differ", "wk_transpose", NULL);
    wk_linspace(0, 1, -3);
    expect_error("linspace: count must be at least 0, got -3", NULL);
}

/* Converted to i64 a mask would select rows 0 and 1. */
static void masks_are_not_indices(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((2)), *mask = wk_gt(x, 0), *rows = wk_ones((2, 3));
    wk_tensor *const none[] = {wk_index_select(x, 0, mask), wk_take(x, mask), wk_gather(x, 0, mask),
                               wk_embedding(mask, rows), wk_index_add(x, 0, mask, x)};
    for (size_t k = 0; k < sizeof none / sizeof *none; k++) assert_null(none[k]);
    expect_error("index_select: index must be i64 or i32, got bool; use wk_masked_select", "wk_nonzero", NULL);
    wk_embedding(mask, rows);
    assert_null(strstr(wk_error(), "wk_to_dtype"));
    expect_error("embedding: ", "wk_masked_select", "wk_nonzero", NULL);
    wk_take(x, x);
    expect_error("take: index must be i64 or i32, got f32; convert it with wk_to_dtype(index, WK_I64)", NULL);
}

static void scores_and_labels_swapped(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *scores = wk_ones((2, 3)), *labels = wk_zeros((2), .dtype = WK_I64);
    wk_cross_entropy(labels, scores);
    assert_null(strstr(wk_error(), "wk_to_dtype"));
    expect_error("cross_entropy: operands may be swapped: expected a float input and integer labels, got i64[2]",
                 "f32[2,3]", NULL);
    wk_nll_loss(labels, scores);
    expect_error("nll_loss: operands may be swapped", NULL);
    wk_cross_entropy(wk_zeros((2, 3), .dtype = WK_I64), labels);
    expect_error("cross_entropy: input must be floating-point", "wk_to_dtype(x, WK_F32)", NULL);
}

/* ---- user functions ---------------------------------------------------------------------------------------------- */

static void double_it(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    (void)f;
    out[0] = wk_mul(in[0], 2);
}

static void a_function_without_backward(void **state)
{
    (void)state;
    WK_SCOPE;
    static const wk_function_kind kind = {
        .size = sizeof kind, .name = "twice", .inputs = 1, .outputs = 1, .forward = double_it};
    wk_tensor *x = wk_ones((2), .requires_grad = true), *y = wk_apply(&kind, NULL, (x));
    EXPECT_VALUES(y, 0, 2, 2);
    wk_backward(wk_sum(y));
    expect_error("rules/remedies.c:", "twice: not differentiable", ".backward", "wk_detach", NULL);
    wk_tensor *z = wk_apply(&kind, NULL, (wk_detach(x)));
    assert_false(wk_requires_grad(z));
    expect_ok();
}

/* ---- leaks ------------------------------------------------------------------------------------------------------- */

static int leaks(void)
{
    wk_module *net = wk_nn_linear(2, 2);
    wk_free(wk_ones((1)));
    for (int k = 0; k < 3; k++) wk_ones((2));
    WK_SCOPE;
    wk_tensor *kept = wk_retain(wk_ones((1)));
    wk_free(wk_retain(wk_ones((1))));
    return wk_error() || !net || !kept;
}

/* Runs this program as a child and expects leaks in its log: in the named file, or in its stderr. */
static void expect_leaks_reported(bool named)
{
    char path[300], text[4000] = "";
    snprintf(path, sizeof path, "%s/leaks.log", getenv("WICK_WORK") ? getenv("WICK_WORK") : "/tmp");
    unlink(path);
    const pid_t child = fork();
    if (child == 0) {
        setenv("WICK_LOG", "leaks", 1);
        if (named)
            setenv("WICK_LOG_FILE", path, 1);
        else if (unsetenv("WICK_LOG_FILE") != 0 || !freopen(path, "w", stderr))
            _exit(4);
        setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
        reexec_test("rules_remedies", "leaks");
        _exit(3);
    }
    int status = 1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    unlink(path);
    int lines = 0;
    for (const char *c = text; *c; c++) lines += *c == '\n';
    if (lines != 3 || !strstr(text, "1 module was never freed") || !strstr(text, "3 tensors were never freed") ||
        !strstr(text, "1 tensor was never freed") || !strstr(text, "rules/remedies.c:"))
        fail_msg("%s", text);
}

static void leaks_are_reported(void **state)
{
    (void)state;
    expect_leaks_reported(true);
    expect_leaks_reported(false);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "leaks") == 0) return leaks();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_null_names_the_failed_call), cmocka_unit_test(nulls_inside_the_library_are_not_named),
        cmocka_unit_test(a_null_without_a_failed_call), cmocka_unit_test(a_tensor_of_an_earlier_iteration),
        cmocka_unit_test(a_missing_gpu_is_explained),   cmocka_unit_test(the_hint_moves_to_the_accelerator),
        cmocka_unit_test(the_hint_moves_the_minority),  cmocka_unit_test(composed_ops_name_their_operands),
        cmocka_unit_test(losses_accept_cpu_scalars),    cmocka_unit_test(dtype_errors_suggest_a_call),
        cmocka_unit_test(masks_are_not_indices),        cmocka_unit_test(scores_and_labels_swapped),
        cmocka_unit_test(a_function_without_backward),  cmocka_unit_test(leaks_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
