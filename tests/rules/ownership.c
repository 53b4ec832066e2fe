/* SPDX-License-Identifier: Apache-2.0 */
/* Tests rules 1 and 2 of docs/contributing/invariants.md: ownership of the objects that a call creates. engine_scopes
 * and nn_modules test the rest of these rules. */
#include "support/wick.h"

#include "hostile/scratch.h"

/* ---- rule 1: the innermost scope owns everything ----------------------------------------------------------------- */

enum { KINDS = 6 };

static void scopes_free_every_kind_of_object(void **state)
{
    (void)state;
    static const char *const names[KINDS] = {"tensor", "module", "list", "optimiser", "dataset", "loader"};
    void *stale[KINDS], *figures, *event, *rate, *bar, *plot, *board, *text;
    {
        WK_SCOPE;
        wk_tensor *x = wk_ones((4), .requires_grad = true);
        wk_dataset *data = wk_data_tensors(x, NULL);
        wk_tensors *list = wk_list((x));
        void *made[KINDS] = {x, wk_nn_relu(), list, wk_optim_sgd(list), data, wk_data_loader(data)};
        memcpy(stale, made, sizeof stale);
        figures = wk_history_new();
        event = wk_event_record(wk_cpu());
        rate = wk_schedule_step_lr(made[3], 1);
        bar = wk_progress_new("bar", 1, .disable = true);
        plot = wk_plot_new();
        board = wk_tensorboard_open(scratch("board"));
        text = wk_text_chars_of("abc");
        expect_ok();
    }
    for (int k = 0; k < KINDS; k++) {
        wk_free(stale[k]);
        expect_error("free", names[k], "scope has closed", "rules/ownership.c", NULL);
    }
    assert_int_equal(wk_history_count(figures), 0);
    expect_error("history_count", "history", "scope has closed", NULL);
    wk_free(event);
    expect_error("free", "event", "scope has closed", NULL);
    wk_free(rate);
    expect_error("free", "schedule", "scope has closed", NULL);
    wk_free(bar);
    expect_error("free", "progress bar", "scope has closed", NULL);
    wk_free(plot);
    expect_error("free", "plot", "scope has closed", NULL);
    wk_free(board);
    expect_error("free", "event file", "scope has closed", NULL);
    wk_free(text);
    expect_error("free", "text", "scope has closed", NULL);
}

/* Objects that a callback creates and does not return are freed when it ends; a result that its scope does not own
 * passes through. */
static wk_tensor *made_inside, *from_outside;

static void triple_forward(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    (void)f;
    made_inside = wk_mul(in[0], 2);
    out[0] = wk_add(made_inside, in[0]);
}

static void triple_backward(wk_function *f, wk_tensor *const grad_out[], wk_tensor *grad_in[])
{
    (void)f;
    made_inside = wk_mul(grad_out[0], 2);
    grad_in[0] = wk_add(made_inside, grad_out[0]);
}

static void pass_forward(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    (void)f;
    out[0] = in[0];
}

static void expect_freed(wk_tensor *x)
{
    wk_exp(x);
    expect_error("exp", "scope has closed", NULL);
}

static wk_tensor *hook(wk_tensor *grad, void *user)
{
    (void)user;
    made_inside = wk_mul(grad, 1);
    wk_add(made_inside, 1);
    return from_outside;
}

static wk_tensor *inner_forward(wk_module *self, wk_tensor *x)
{
    (void)self;
    made_inside = wk_mul(x, 2);
    return from_outside ? from_outside : wk_add(made_inside, 1);
}

static const wk_function_kind triple = {.size = sizeof triple,
                                        .name = "triple",
                                        .inputs = 1,
                                        .outputs = 1,
                                        .forward = triple_forward,
                                        .backward = triple_backward};
static const wk_function_kind pass = {
    .size = sizeof pass, .name = "pass", .inputs = 1, .outputs = 1, .forward = pass_forward};

static void callbacks_run_in_a_separate_scope(void **state)
{
    (void)state;
    static const wk_module_kind inner = {.size = sizeof inner, .name = "inner", .forward1 = inner_forward};
    WK_SCOPE;
    wk_tensor *x = wk_ones((2), .requires_grad = true), *y = wk_apply(&triple, NULL, (x));
    expect_freed(made_inside);
    EXPECT_VALUES(y, 0, 3, 3);
    wk_backward(wk_sum(y));
    expect_freed(made_inside);
    EXPECT_VALUES(wk_grad_of(x), 0, 3, 3);
    wk_tensor *plain = wk_ones((2));
    wk_tensor *passed = wk_apply(&pass, NULL, (plain)); /* an output that is an input becomes a separate tensor */
    assert_ptr_not_equal(passed, plain);
    EXPECT_VALUES(passed, 0, 1, 1);

    from_outside = NULL;
    wk_module *m = wk_module_new(&inner);
    EXPECT_VALUES(wk_forward(m, x), 0, 3, 3);
    expect_freed(made_inside);
    from_outside = wk_full((2), 7.0);
    assert_ptr_equal(wk_forward(m, x), from_outside);
    expect_freed(made_inside);

    wk_set_grad(x, NULL);
    wk_register_hook(x, hook, NULL);
    wk_backward(wk_sum(x));
    expect_freed(made_inside);
    EXPECT_VALUES(wk_grad_of(x), 0, 7, 7);
    EXPECT_VALUES(from_outside, 0, 7, 7);
}

/* Without a scope the caller owns everything that a function or module returns, and nothing else remains. */
static void functions_without_a_scope(void **state)
{
    (void)state;
    wk_memory_stats before = {.size = sizeof before}, after = before;
    wk_tensor *x = wk_ones((500, 500)), *leaf = wk_requires_grad_(wk_clone(x), true);
    wk_sync();
    wk_memory_stats_of(wk_cpu(), &before);
    for (int k = 0; k < 4; k++) {
        wk_tensor *y = wk_apply(&triple, NULL, (leaf)), *same = wk_apply(&pass, NULL, (x));
        assert_ptr_not_equal(same, x);
        wk_sync();
        wk_free(y);
        wk_free(same);
    }
    wk_sync();
    wk_memory_stats_of(wk_cpu(), &after);
    assert_int_equal(after.live, before.live);
    wk_free(leaf);
    wk_free(x);
    expect_ok();
    wk_free(x);
    expect_error("freed", NULL);
}

/* Without a scope a call that returns its argument adds a reference; an in-place call does not. */
static void returned_handles_count_once_each(void **state)
{
    (void)state;
    wk_tensor *x = wk_ones((2, 3));
    wk_tensor *const again[] = {wk_to(x, wk_cpu()),        wk_to_dtype(x, WK_F32), wk_contiguous(x),
                                wk_dropout(x, 0.5, false), wk_detach(x),           wk_reshape(x, (2, 3))};
    const int given = sizeof again / sizeof *again;
    for (int k = 0; k < given; k++) wk_free(again[k]);
    expect_ok();
    assert_ptr_equal(wk_add_(x, 1), x);
    assert_ptr_equal(wk_fill_(x, 3), x);
    assert_ptr_equal(wk_copy_(x, x), x);
    assert_ptr_equal(wk_exp_(x), x);
    assert_ptr_equal(wk_requires_grad_(x, true), x);
    wk_free(x);
    expect_ok();
    wk_free(x);
    expect_error("free", "freed", NULL);
}

/* ---- rule 2: keep, retain, free, parents ------------------------------------------------------------------------- */

static void keep_moves_only_what_the_innermost_scope_owns(void **state)
{
    (void)state;
    wk_tensor *x, *kept_out;
    {
        WK_SCOPE;
        x = wk_ones((2));
        {
            WK_SCOPE;
            assert_ptr_equal(wk_keep(x), x);           /* owned by the outer scope: remains there */
            kept_out = wk_keep(wk_keep(wk_ones((2)))); /* the second time the innermost scope no longer owns it */
        }
        EXPECT_VALUES(kept_out, 0, 1, 1);
    }
    expect_freed(x);
    expect_freed(kept_out);
    {
        WK_SCOPE;
        x = wk_keep(wk_ones((2))); /* no scope: the caller's */
    }
    EXPECT_VALUES(x, 0, 1, 1);
    wk_free(x);
    expect_ok();
}

static void any_object_and_null(void **state)
{
    (void)state;
    wk_module *module;
    wk_history *history;
    wk_tensors *list;
    {
        WK_SCOPE;
        module = wk_keep(wk_nn_relu()); /* the result has the type of the argument */
        history = wk_retain(wk_history_new());
        list = wk_retain(wk_list((wk_ones((1)))));
        wk_optim *optim = wk_optim_sgd(wk_list((wk_ones((1), .requires_grad = true))));
        wk_free(optim); /* frees an object of a scope early */
        assert_int_equal(wk_optim_group_count(optim), 0);
        expect_error("optim_group_count", "freed", NULL);
    }
    EXPECT_VALUES(wk_forward(module, wk_tensors_get(list, 0)), 0, 1);
    assert_int_equal(wk_history_count(history), 0);
    wk_free(wk_tensors_get(list, 0));
    expect_error("free", "is in use by the library or owned by another object", NULL);
    wk_free(module);
    wk_free(history);
    wk_free(list);
    wk_tensor *none = NULL, *slot = wk_zeros((1));
    assert_null(wk_keep(none));
    assert_null(wk_retain(none));
    wk_free(none);
    wk_carry(&none, slot);
    assert_ptr_equal(none, slot);
    wk_carry(&none, (wk_tensor *)NULL);
    assert_null(none);
    expect_ok();
}

/* Graphs, optimisers and loaders hold references of their operands, independent of the program's handles. */
static void parents_hold_references(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *w = wk_full((2), 2.0, .requires_grad = true), *loss;
    {
        WK_SCOPE;
        wk_tensor *a = wk_mul(w, 3.0), *b = wk_exp(a);
        loss = wk_keep(wk_sum(wk_mul(b, a)));
    }
    assert_int_equal(wk_backward(loss), WK_OK);
    double e = 403.4287934927351; /* d (3w e^(3w)) / dw = 3 e^(3w) (1 + 3w) */
    EXPECT_VALUES(wk_grad_of(w), 1e-2, 21 * e, 21 * e);

    wk_optim *optim;
    wk_tensor *seen;
    wk_loader *loader;
    {
        WK_SCOPE;
        wk_module *box = wk_module_new((&(wk_module_kind){.size = sizeof(wk_module_kind), .name = "box"}));
        seen = wk_module_add_parameter(box, "p", wk_ones((1)));
        optim = wk_keep(wk_optim_sgd(wk_parameters(box), .lr = 1));
        loader = wk_keep(wk_data_loader(wk_data_tensors(wk_arange(3), NULL)));
        wk_backward(wk_sum(seen));
    }
    assert_int_equal(wk_optim_step(optim), WK_OK); /* the module was freed, its parameter was not */
    EXPECT_VALUES(seen, 0, 0);
    int batches = 0;
    WK_EACH(batch, loader) batches += wk_item_i64(batch->x) == batch->index;
    assert_int_equal(batches, 3);
    wk_free(optim);
    wk_exp(seen);
    expect_error("exp", "freed", NULL);
}

/* A module owns the gradients, optimiser state and lazy parameters that are created later, whatever scope is open. */
static void a_module_owns_objects_created_later(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *lazy = wk_nn_lazy_linear(1);
    wk_tensor *x = wk_ones((2, 3));
    wk_optim *optim;
    {
        WK_SCOPE;
        wk_forward(lazy, x);
        optim = wk_keep(wk_optim_sgd(wk_parameters(lazy), .lr = 0.5, .momentum = 0.5));
        {
            WK_SCOPE;
            wk_init_zeros_(wk_module_parameter(lazy, "weight"));
            wk_backward(wk_sum(wk_forward(lazy, x)));
            wk_optim_step(optim); /* velocity 2, weight -1 */
        }
    }
    wk_tensor *weight = wk_module_parameter(lazy, "weight");
    EXPECT_VALUES(wk_grad_of(weight), 0, 2, 2, 2);
    EXPECT_VALUES(weight, 0, -1, -1, -1);
    assert_int_equal(wk_optim_step(optim), WK_OK); /* velocity 0.5 * 2 + 2 */
    EXPECT_VALUES(weight, 0, -2.5, -2.5, -2.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scopes_free_every_kind_of_object),
        cmocka_unit_test(callbacks_run_in_a_separate_scope),
        cmocka_unit_test(functions_without_a_scope),
        cmocka_unit_test(returned_handles_count_once_each),
        cmocka_unit_test(keep_moves_only_what_the_innermost_scope_owns),
        cmocka_unit_test(any_object_and_null),
        cmocka_unit_test(parents_hold_references),
        cmocka_unit_test(a_module_owns_objects_created_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
