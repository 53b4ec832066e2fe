/* SPDX-License-Identifier: Apache-2.0 */
/* Tests prologues, groups that compute a factor of a product tile by tile: one test for each condition of
 * src/engine/plan/prologue.c, on the null device. On the CPU the values are checked, also under failures and later
 * writes. */
#include "support/plan.h"

#include "base/pool.h"
#include "engine/plan/prologue.h"

static int products(void)
{
    return (int)wk__null_log_count(WK__CONTRACTION);
}

/* Number of products with a prologue for this factor. */
static int with_prologue(int factor)
{
    int count = 0;
    const wk__work *work;
    for (int64_t k = 0; (work = wk__null_log_work_at(WK__CONTRACTION, k)); k++)
        count += work->args->prologue[factor] != NULL;
    return count;
}

static int prologues(void)
{
    return with_prologue(0) + with_prologue(1);
}

static int take_prologues(void **state)
{
    wk__null_set_prologues(true);
    return test_default_mode(state);
}

static int restore_backend(void **state)
{
    test_clean(state);
    return test_restore_mode(state);
}

/* Runs what is pending, and expects one product with a prologue for this factor, or without one, and this many
 * programs. */
static void expect_plan(wk_tensor *wanted, int prologue, int programs)
{
    need(wanted);
    assert_int_equal(products(), 1);
    assert_int_equal(prologues(), prologue);
    assert_int_equal(runs(), programs);
}

/* The same for the result of an expression whose operands are not referenced elsewhere. */
#define EXPECT_PLAN(expression, prologue, programs)                                                                    \
    do {                                                                                                               \
        wk_tensor *wanted_ = NULL;                                                                                     \
        {                                                                                                              \
            WK_SCOPE;                                                                                                  \
            wanted_ = wk_keep(expression);                                                                             \
        }                                                                                                              \
        expect_plan(wanted_, prologue, programs);                                                                      \
    } while (0)

/* ---- eligible groups --------------------------------------------------------------------------------------------- */

static void a_factor_is_computed_in_a_prologue(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = square(), *w = square();
    start();
    expect_plan(wk_relu(wk_matmul(x, wk_t(wk_mul(wk_exp(w), 2)))), 1, 0);
    assert_int_equal(with_prologue(1), 1);
    const wk__work_args *kernel = wk__null_log_work_at(WK__CONTRACTION, 0)->args;
    assert_true(holds(kernel->prologue[1], WK__EXP));
    assert_non_null(wk__null_log_work_at(WK__CONTRACTION, 0)->program); /* an epilogue may follow */
    start();
    expect_plan(wk_matmul(wk_mul(w, 2), x), 1, 0);
    assert_int_equal(with_prologue(0), 1);
    char *text = wk__null_log_text();
    assert_non_null(strstr(text, "a is fused\n"
                                 "space"));
    wk__free(text);
    wk_free(x), wk_free(w);
}

static void the_larger_factor_is_computed(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = square(), *w = square(), *narrow = wk_narrow(x, 0, 0, 8);
    start();
    EXPECT_PLAN(wk_matmul(wk_add(narrow, 1), wk_mul(w, 2)), 1, 1);
    assert_int_equal(with_prologue(1), 1);
    start();
    EXPECT_PLAN(wk_matmul(wk_add(w, 1), wk_mul(wk_t(narrow), 2)), 1, 1);
    assert_int_equal(with_prologue(0), 1);
    start();
    wk_tensor *wide = wk_narrow(x, 0, 0, 256), *tall = wk_narrow(w, 1, 0, 256); /* of equal size: the first */
    EXPECT_PLAN(wk_matmul(wk_add(wide, 1), wk_mul(tall, 2)), 1, 1);
    assert_int_equal(with_prologue(0), 1);
    start(); /* or the eligible one: a sum of rows is not */
    EXPECT_PLAN(wk_matmul(wk_add(narrow, 1), wk_softmax(w, 1)), 1, 1);
    assert_int_equal(with_prologue(0), 1);
    wk_free(x), wk_free(w);
}

/* The computation of the factor may be read twice within the prologue, come from another group, or read nothing. */
static void all_calls_of_a_factor_move(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = square(), *w = square();
    start();
    wk_tensor *e = wk_exp(w);
    expect_plan(wk_matmul(x, wk_add(e, wk_mul(e, 2))), 1, 0);
    start();
    EXPECT_PLAN(wk_matmul(x, wk_mul(wk_cumsum(wk_add(w, 1), 0), 2)), 1, 1);
    start();
    expect_plan(wk_matmul(x, wk_mul(wk_rand((SIDE, SIDE), .device = test_null()), 2)), 1, 0);
    wk_free(x), wk_free(w);
}

static void small_factors_are_stored(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = square(), *w = square();
    wk__set_prologue_min_bytes(BYTES);
    start();
    expect_plan(wk_matmul(x, wk_mul(w, 2)), 1, 0);
    wk__set_prologue_min_bytes(BYTES + 1);
    start();
    expect_plan(wk_matmul(x, wk_mul(w, 2)), 0, 1);
    wk__set_prologue_min_bytes(-1);
    wk_free(x), wk_free(w);
}

static void a_factor_in_memory_is_read(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = square(), *w = square();
    wk__null_set_prologues(false);
    start();
    wk_tensor *s = wk_mul(w, 2);
    expect_plan(wk_matmul(x, s), 0, 1);
    wk__null_set_prologues(true);
    start();
    expect_plan(wk_matmul(x, s), 0, 0);
    wk_free(x), wk_free(w);
}

static void an_unused_product_has_no_prologue(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = square(), *w = square(), *y = NULL;
    start();
    {
        WK_SCOPE;
        wk_matmul(x, wk_mul(w, 2));
        y = wk_keep(wk_add(x, 1));
    }
    need(y);
    assert_int_equal(products(), 0);
    assert_int_equal(runs(), 1);
    wk_free(x), wk_free(w);
}

static void backends_without_prologues_get_programs(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = square(), *w = square();
    wk__null_set_prologues(false);
    start();
    EXPECT_PLAN(wk_matmul(x, wk_mul(w, 2)), 0, 1);
    wk_free(x), wk_free(w);
}

static void a_factor_with_two_readers_is_stored(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = square(), *w = square();
    start();
    wk_tensor *s = wk_mul(w, 2), *y = wk_matmul(x, s), *sums = wk_retain(wk_sum(s, (0)));
    expect_plan(y, 0, 1);
    wk_free(sums);
    start();
    s = wk_mul(w, 2);
    EXPECT_PLAN(wk_matmul(s, s), 0, 1);
    wk_free(x), wk_free(w);
}

static void a_referenced_factor_is_stored(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = square(), *w = square();
    start();
    wk_tensor *s = wk_retain(wk_mul(w, 2));
    EXPECT_PLAN(wk_matmul(x, s), 0, 1);
    wk_free(s);
    wk_free(x), wk_free(w);
}

/* From one pass only the calls that compute a factor move; calls that are read elsewhere stay, with all their
 * readers. */
static void other_calls_of_the_pass_stay(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = square(), *w = square();
    start();
    wk_tensor *beside = wk_retain(wk_mul(w, 3));
    expect_plan(wk_matmul(x, wk_mul(w, 2)), 1, 1);
    wk_free(beside);
    start();
    wk_tensor *step = wk_retain(wk_mul(w, 3)); /* a result needed for the factor and elsewhere */
    expect_plan(wk_matmul(x, wk_add(step, 1)), 0, 1);
    wk_free(step);
    start();
    wk_tensor *e = wk_exp(w), *other = wk_retain(wk_add(e, 1));
    expect_plan(wk_matmul(x, wk_mul(e, 2)), 0, 1);
    wk_free(other);
    wk_free(x), wk_free(w);
}

/* Two layers of the same shape: the weights of both are computed in one pass, which is split between the two
 * products. */
static void each_product_computes_its_factor(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = square(), *w = square(), *v = square();
    start();
    wk_tensor *first = wk_retain(wk_matmul(x, wk_mul(w, 2)));
    need(wk_relu(wk_matmul(first, wk_mul(v, 3))));
    assert_int_equal(products(), 2);
    assert_int_equal(prologues(), 2);
    assert_int_equal(runs(), 0);
    wk_free(first);
    wk_free(x), wk_free(w), wk_free(v);
}

static void without_fusion_each_call_is_a_pass(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = square(), *w = square();
    start();
    wk__engine_config_set(false, true);
    EXPECT_PLAN(wk_matmul(x, wk_mul(w, 2)), 0, 1);
    wk__engine_config_set(false, false);
    wk_free(x), wk_free(w);
}

static void reductions_stay(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = square(), *w = square();
    start();
    EXPECT_PLAN(wk_matmul(x, wk_softmax(w, 1)), 0, 1);
    wk_free(x), wk_free(w);
}

static void indirect_reads_stay(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = square(), *w = square(),
              *index = wk_retain(wk_zeros((SIDE), .dtype = WK_I64, .device = test_null()));
    start();
    EXPECT_PLAN(wk_matmul(x, wk_index_select(w, 0, index)), 0, 1);
    wk_free(index);
    wk_free(x), wk_free(w);
}

static void in_place_writes_stay(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = square(), *w = square();
    start();
    wk_tensor *s = wk_mul(w, 2);
    wk_add_(s, 1);
    EXPECT_PLAN(wk_matmul(x, s), 0, 1);
    wk_free(x), wk_free(w);
}

static void an_epilogue_stays_with_its_product(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = square(), *w = square();
    start();
    wk_tensor *y = NULL;
    {
        WK_SCOPE;
        y = wk_keep(wk_matmul(x, wk_relu(wk_matmul(w, w))));
    }
    need(y);
    assert_int_equal(products(), 2);
    assert_int_equal(prologues(), 0);
    assert_int_equal(runs(), 0);
    wk_free(x), wk_free(w);
}

static void a_product_has_at_most_one_prologue(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = square(), *w = square();
    start();
    need(wk_matmul(wk_matmul(x, wk_mul(w, 2)), wk_mul(wk_narrow(w, 1, 0, 8), 3)));
    assert_int_equal(products(), 2);
    assert_int_equal(prologues(), 2);
    assert_int_equal(runs(), 0);
    wk_free(x), wk_free(w);
}

static void with_an_optimiser_step_groups_stay(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = square(), *w = square(), *parameter = wk_retain(wk_ones((3), .device = test_null()));
    wk_requires_grad_(parameter, true);
    wk_optim *sgd = wk_optim_sgd(wk_list((parameter)), .lr = 0.1);
    wk_backward(wk_sum(wk_mul(parameter, parameter)));
    wk_sync();
    start();
    wk_tensor *y = wk_retain(wk_matmul(x, wk_mul(w, 2)));
    wk_optim_step(sgd);
    wk_sync();
    assert_int_equal(products(), 1);
    assert_int_equal(prologues(), 0);
    wk_free(y);
    wk_free(sgd);
    wk_free(parameter);
    wk_free(x), wk_free(w);
}

/* ---- values not stored ------------------------------------------------------------------------------------------- */

static void a_factor_that_was_not_stored_is_readable(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = square(), *w = square();
    start();
    wk_tensor *s = wk_mul(w, 2);
    expect_plan(wk_matmul(x, s), 1, 0);
    assert_int_equal(state_of(s), WK__DEFERRED);
    need(s);
    assert_int_equal(runs(), 1);
    wk_free(x), wk_free(w);
}

static void memory_read_by_a_prologue_is_not_reused(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = square(), *w = square();
    start();
    wk_tensor *y = NULL;
    {
        WK_SCOPE; /* w dies here, and has the result's layout */
        y = wk_keep(wk_add(wk_matmul(x, wk_mul(w, 2)), w));
        wk_free(w);
    }
    expect_plan(y, 1, 0);
    wk_free(x);
}

static void a_factor_survives_a_failed_product(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = square(), *w = square();
    start();
    wk_tensor *s = wk_mul(w, 2), *y = wk_matmul(x, s);
    wk__null_fail_submit(1);
    assert_false(wk__materialize(y, WK_HERE));
    expect_error("matmul", "rejected", NULL);
    need(s); /* it was not the cause */
    wk_free(x), wk_free(w);
}

/* The product cannot be computed, and the factor is unused otherwise. */
static void a_factor_is_skipped_without_its_product(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = square(), *w = square();
    start();
    wk_tensor *far = wk_retain(wk_softmax(wk_narrow(x, 0, 0, 8), 1)), *s = wk_mul(w, 2), *y = wk_matmul(far, s);
    wk__null_fail_submit(1);
    assert_false(wk__materialize(y, WK_HERE));
    expect_error("softmax", "rejected", NULL);
    assert_int_equal(runs() + products(), 0);
    need(s);
    assert_int_equal(runs(), 1);
    wk_free(far);
    start(); /* if another group has joined the product, that group runs alone */
    wk_tensor *u = NULL;
    {
        WK_SCOPE;
        far = wk_retain(wk_softmax(wk_narrow(wk_narrow(x, 0, 0, 8), 1, 0, 256), 1));
        y = wk_retain(wk_matmul(far, wk_mul(wk_narrow(w, 0, 0, 256), 2)));
        u = wk_retain(wk_add(wk_narrow(x, 0, 8, 8), 1));
    }
    wk__null_fail_submit(1);
    wk_flush();
    assert_int_equal(state_of(y), WK__FAILED);
    assert_int_equal(state_of(u), WK__STORED);
    assert_int_equal(runs(), 1);
    wk_clear_error();
    wk_sync();
    wk_clear_error();
    wk_free(far), wk_free(y), wk_free(u);
    wk_free(x), wk_free(w);
}

/* A device that reports faults later: a fault in a prologue fails its product. */
static void late_faults_reach_the_product(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = square(), *w = square(),
              *index = wk_retain(wk_zeros((SIDE), .dtype = WK_I64, .device = test_null())), *y = NULL;
    start();
    wk__null_fault_submit(1, 9, SIDE);
    {
        WK_SCOPE;
        y = wk_retain(wk_matmul(x, wk_mul(wk_t(wk_index_select(w, 0, index)), 2)));
    }
    wk_flush();
    assert_int_equal(prologues(), 1);
    wk_sync();
    wk_clear_error();
    assert_int_equal(state_of(y), WK__FAILED);
    wk_free(y);
    start(); /* and so does a fault in its operands, or in what is restored */
    wk__null_fault_submit(1, 9, SIDE);
    {
        WK_SCOPE;
        wk_add_(w, wk_index_select(x, 0, index));
        y = wk_retain(wk_matmul(x, wk_mul(wk_t(w), 2)));
    }
    wk_flush();
    assert_int_equal(prologues(), 1);
    wk_sync();
    wk_clear_error();
    assert_int_equal(state_of(y), WK__FAILED);
    wk_free(y), wk_free(index);
    wk_free(x), wk_free(w);
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

enum { OUTPUTS = 1040, INPUTS = 2112 }; /* 8.8 MB of f32 */

static wk_tensor *weights(void)
{
    WK_SCOPE;
    return wk_retain(
        wk_to_dtype(wk_sub(wk_remainder(wk_reshape(wk_arange(OUTPUTS * INPUTS), (OUTPUTS, INPUTS)), 251), 125), WK_I8));
}

static int64_t counted(void)
{
    return wk__context()->op_queue->prologues;
}

/* Expects the same values from `compute` as with each op run alone, and this many products with prologues. */
static void expect_same_unfused(wk_tensor *(*compute)(wk_tensor *w, wk_tensor *x), int prologues)
{
    WK_SCOPE;
    static float fused[64 * OUTPUTS], alone[64 * OUTPUTS];
    wk_tensor *x = wk_remainder(wk_reshape(wk_arange(3 * INPUTS), (3, INPUTS)), 17);
    x = wk_to_dtype(x, WK_F32);
    wk_sync();
    for (int k = 0; k < 2; k++) {
        wk_tensor *w = weights();
        wk_sync();
        wk__engine_config_set(false, k);
        const int64_t before = counted();
        {
            WK_SCOPE;
            wk_tensor *y = compute(w, x);
            assert_true(wk_numel(y) <= 64 * OUTPUTS);
            wk_read(y, k ? alone : fused, 4 * (size_t)wk_numel(y));
            expect_ok();
            assert_memory_equal(fused, alone, k ? 4 * (size_t)wk_numel(y) : 0);
        }
        assert_int_equal(counted() - before, k ? 0 : prologues);
        wk__engine_config_set(false, false);
        wk_free(w);
    }
}

static wk_tensor *scaled(wk_tensor *w, double scale)
{
    return wk_mul(wk_to_dtype(w, WK_F32), scale);
}

static wk_tensor *a_layer(wk_tensor *w, wk_tensor *x)
{
    return wk_relu(wk_matmul(x, wk_t(scaled(w, 0.25))));
}

static wk_tensor *a_vector(wk_tensor *w, wk_tensor *x)
{
    return wk_matmul(scaled(w, 0.25), wk_select(x, 0, 1));
}

/* The epilogue exceeds the length of a program: the rest is a separate one. */
static wk_tensor *a_long_tail(wk_tensor *w, wk_tensor *x)
{
    wk_tensor *y = wk_matmul(x, wk_t(scaled(w, 0x1p-16)));
    for (int k = 0; k < 20; k++) y = wk_gelu(y);
    return y;
}

static wk_tensor *rows_of_b(wk_tensor *w, wk_tensor *x)
{
    return wk_matmul(wk_narrow(x, 1, 0, OUTPUTS), scaled(w, 0.25));
}

static wk_tensor *overwritten(wk_tensor *w, wk_tensor *x)
{
    wk_tensor *y = wk_matmul(x, wk_t(scaled(w, 0.5)));
    wk_fill_(w, 1);
    return wk_add(y, wk_sum(wk_to_dtype(w, WK_F32)));
}

static wk_tensor *read_later(wk_tensor *w, wk_tensor *x)
{
    wk_tensor *s = scaled(w, 0.5), *y = wk_matmul(x, wk_t(s));
    wk_read(wk_sum(y), (float[1]){0}, 4);
    return wk_add(y, wk_sum(s));
}

static void prologues_do_not_change_values(void **state)
{
    (void)state;
    expect_same_unfused(a_layer, 1);
    expect_same_unfused(a_vector, 1);
    expect_same_unfused(a_long_tail, 1);
    expect_same_unfused(rows_of_b, 0); /* this one is stored, because its steps are apart */
    expect_same_unfused(overwritten, 1);
    expect_same_unfused(read_later, 1);
}

/* A bad index in the epilogue: the product runs again alone, and computes its factor again. */
static void a_bad_index_in_the_epilogue_fails_alone(void **state)
{
    (void)state;
    static float got[3 * OUTPUTS], want[3 * OUTPUTS];
    WK_SCOPE;
    wk_tensor *w = weights(), *x = wk_ones((3, INPUTS)), *table = wk_retain(wk_ones((3, 7)));
    wk_sync();
    wk_read(wk_matmul(x, wk_t(scaled(w, 0.25))), want, sizeof want);
    wk_tensor *index = wk_add(wk_zeros((OUTPUTS), .dtype = WK_I64), 7); /* not known before it runs */
    wk_tensor *product = wk_retain(wk_matmul(x, wk_t(scaled(w, 0.25)))),
              *sum = wk_add(product, wk_index_select(table, 1, index));
    assert_false(wk__materialize(sum, WK_HERE));
    expect_error("index", "7", NULL);
    wk_read(product, got, sizeof got);
    expect_ok();
    assert_memory_equal(got, want, sizeof want);
    wk_free(product), wk_free(table), wk_free(w);
}

static char log_lines[4000];

static void keep_line(void *user, const char *line)
{
    (void)user;
    snprintf(log_lines, sizeof log_lines, "%s", line);
}

static void prologues_are_logged(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *w = weights(), *x = wk_ones((3, INPUTS));
    wk_sync();
    assert_int_equal(wk_set_log("kernel", keep_line, NULL), WK_OK);
    wk_read(a_layer(w, x), (float[3 * OUTPUTS]){0}, 4 * 3 * OUTPUTS);
    wk_set_log("", NULL, NULL);
    const char *product = strstr(log_lines, "a product, and then on cpu:\nspace 3 x 1040\n"),
               *factor = strstr(log_lines, "\n"
                                           "with a fused right factor:\n"
                                           "space 1040 x 2112\n");
    if (!product || !factor) fail_msg("%s", log_lines);
    assert_true(product < factor);
    assert_non_null(strstr(product, " MAX ")); /* of relu */
    assert_non_null(strstr(factor, "i8 in"));
    wk_free(w);
}

static wk_memory_stats memory_of_cpu(void)
{
    wk_memory_stats stats = {.size = sizeof stats};
    assert_int_equal(wk_memory_stats_of(wk_cpu(), &stats), WK_OK);
    return stats;
}

/* A factor in a prologue uses no memory. */
static void the_cpu_does_not_store_the_factor(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *w = weights(), *x = wk_ones((3, INPUTS));
    wk_sync();
    wk_memory_reset_peak(wk_cpu());
    const int64_t before = memory_of_cpu().live;
    wk_tensor *y = a_layer(w, x);
    wk_read(wk_sum(y), (float[1]){0}, 4);
    assert_true(memory_of_cpu().peak - before < (int64_t)OUTPUTS * INPUTS * 4);
    wk_free(w);
}

/* Memory with a known address is overwritten only after the product is done. */
static void memory_with_a_known_address_is_written_last(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *w = wk_ones((OUTPUTS, INPUTS)), *x = wk_ones((3, INPUTS)), *y = NULL;
    wk_sync();
    const float *memory = wk_data(w);
    const int64_t before = counted();
    {
        WK_SCOPE;
        y = wk_keep(wk_matmul(x, wk_t(wk_mul(w, 2))));
    }
    wk_fill_(wk_narrow(w, 0, 0, OUTPUTS / 2), 7);
    assert_true(wk_item(wk_amin(y)) == 2 * INPUTS && wk_item(wk_amax(y)) == 2 * INPUTS);
    wk_sync();
    assert_int_equal(counted() - before, 1);
    assert_true(memory[0] == 7 && memory[OUTPUTS * INPUTS - 1] == 1);
    expect_ok();
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, take_prologues, restore_backend)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_factor_is_computed_in_a_prologue),
        CASE(all_calls_of_a_factor_move),
        CASE(small_factors_are_stored),
        CASE(a_factor_in_memory_is_read),
        CASE(an_unused_product_has_no_prologue),
        CASE(the_larger_factor_is_computed),
        CASE(backends_without_prologues_get_programs),
        CASE(a_factor_with_two_readers_is_stored),
        CASE(a_referenced_factor_is_stored),
        CASE(other_calls_of_the_pass_stay),
        CASE(each_product_computes_its_factor),
        CASE(without_fusion_each_call_is_a_pass),
        CASE(reductions_stay),
        CASE(indirect_reads_stay),
        CASE(in_place_writes_stay),
        CASE(an_epilogue_stays_with_its_product),
        CASE(a_product_has_at_most_one_prologue),
        CASE(with_an_optimiser_step_groups_stay),
        CASE(a_factor_that_was_not_stored_is_readable),
        CASE(memory_read_by_a_prologue_is_not_reused),
        CASE(a_factor_survives_a_failed_product),
        CASE(a_factor_is_skipped_without_its_product),
        CASE(late_faults_reach_the_product),
        CASE(prologues_do_not_change_values),
        CASE(the_cpu_does_not_store_the_factor),
        CASE(a_bad_index_in_the_epilogue_fails_alone),
        CASE(prologues_are_logged),
        CASE(memory_with_a_known_address_is_written_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
