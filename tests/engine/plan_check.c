/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the plan checker on plans that compute wrong values or violate ownership, as a planner without one of its
 * conditions would make them, and on correct plans beside them. */
#include "support/group/manual_plan.h"

#include "base/pool.h"

/* ---- values ------------------------------------------------------------------------------------------------------ */

static void positions_follow_the_call(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = IN_MEMORY(4, 3);
    manual_plan_begin();
    wk_tensor *down = wk_sum(wk_tril(x), (0)); /* the traversal follows columns, tril counts along rows */
    GROUP_OF(0, 2, value_of(down));
    expect_refused("values", "sum at", "tril at", "counts positions", NULL);
    manual_plan_end();
    manual_plan_begin();
    wk_tensor *along = wk_sum(wk_tril(x), (1));
    GROUP_OF(0, 2, value_of(along));
    expect_accepted();
    manual_plan_end();
    wk_free(x);
}

static void rows_count_rows(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = IN_MEMORY(4, 3);
    manual_plan_begin();
    wk_tensor *s = wk_sum(x, (1), .keepdim = true), *noise = wk_rand((4, 1), .device = test_null());
    wk_tensor *y = wk_mul(s, noise);
    GROUP_OF(0, 3, value_of(y));
    expect_refused("values", "mul at", "rand at", "counts positions", NULL);
    manual_plan_end();
    manual_plan_begin();
    s = wk_sum(x, (1), .keepdim = true);
    y = wk_mul(s, wk_rand((4, 3), .device = test_null()));
    GROUP_OF(0, 3, value_of(y));
    expect_accepted();
    manual_plan_end();
    wk_free(x);
}

static void registers_hold_what_is_read(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = IN_MEMORY(4), *b = IN_MEMORY(4);
    manual_plan_begin();
    wk_tensor *both = wk_cat((a, b), 0), *middle = wk_add(wk_narrow(both, 0, 2, 4), 1);
    GROUP_OF(0, 3, result_of(0), value_of(both), value_of(middle));
    manual_plan_donate(value_of(both), result_of(0));
    expect_refused("values", "element 0", "add at", "register", NULL);
    manual_plan_end();
    manual_plan_begin();
    both = wk_cat((a, b), 0);
    middle = wk_add(wk_narrow(both, 0, 4, 4), 1);
    GROUP_OF(0, 3, result_of(0), value_of(both), value_of(middle));
    expect_refused("owners", "cat at", "other memory", NULL);
    manual_plan_donate(value_of(both), result_of(0));
    expect_accepted();
    manual_plan_end();
    wk_free(a), wk_free(b);
}

/* ---- stores ------------------------------------------------------------------------------------------------------ */

/* A row value is stored once per row, even if the row has no columns. */
static void empty_stores(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = IN_MEMORY(5), *none = wk_narrow(x, 0, 2, 0);
    manual_plan_begin();
    wk_fill_(none, 7);
    wk_tensor *s = wk_sum(none, (0));
    GROUP_OF(0, 2, value_of(x), value_of(s));
    wk__program *g = &manual_plan_current()->group;
    int number = 0;
    while (g->ins[number].code != WK__IMM) number++;
    for (int k = 0; k < g->nins; k++) /* the filler's store, of a register of row level */
        if (g->ins[k].code == WK__STORE && manual_plan_current()->writer[g->ins[k].arg[0]] == group_record(0))
            g->ins[k].arg[1] = (int16_t)number;
    expect_refused("places", "element", "fill_ at", NULL);
    for (int k = 0; k < g->nins; k++) /* a store of element level has nothing to run for */
        if (g->ins[k].code == WK__STORE && manual_plan_current()->writer[g->ins[k].arg[0]] == group_record(0)) {
            g->ins[k].arg[1] = (int16_t)k;
            memmove(&g->ins[k + 1], &g->ins[k], sizeof *g->ins * (size_t)(g->nins - k));
            g->nins++;
            g->ins[k] = (wk__ins){.code = WK__IOTA, .dtype = WK_I64};
            break;
        }
    expect_accepted();
    manual_plan_end();
    wk_free(x);
}

/* ---- ownership --------------------------------------------------------------------------------------------------- */

static void memory_is_released_after_its_last_read(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = IN_MEMORY(6);
    manual_plan_begin();
    wk_tensor *twice = wk_mul(x, 2);
    GROUP_OF(0, 1, value_of(twice));
    manual_plan_donate(value_of(twice), value_of(x)); /* x may still be read */
    expect_refused("owners", "mul at", "1 more", NULL);
    manual_plan_reset();
    wk_free(twice);
    manual_plan_end();
    manual_plan_begin();
    wk_tensor *first = wk_mul(x, 2), *second = wk_add(x, 3);
    wk__value *dying = last_read_of(x);
    GROUP_OF(0, 1, value_of(first));
    manual_plan_donate(value_of(first), dying);
    expect_refused("owners", "mul at", NULL); /* the second is another group's */
    manual_plan_reset();
    GROUP_OF(0, 2, value_of(first)); /* or remains in a register: it is recomputed on request */
    manual_plan_donate(value_of(first), dying);
    expect_refused("owners", "add at", "reads it later", NULL);
    assert_non_null(second);
    manual_plan_end();
}

static void operands_are_computed_first(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = IN_MEMORY(6);
    manual_plan_begin();
    wk_tensor *first = wk_mul(x, 2), *second = wk_add(first, 3);
    GROUP_OF(1, 1, value_of(second));
    expect_refused("operands", "has not been computed", "add at", NULL);
    GROUP_OF(0, 1, value_of(first));
    expect_accepted();
    manual_plan_mark_stored();
    GROUP_OF(1, 1, value_of(second));
    expect_accepted();
    manual_plan_end();
    wk_free(x);
}

/* A partial write starts from a copy, or overwrites memory that has no other reader. */
static void parts_start_from_the_complete_value(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = IN_MEMORY(6);
    wk_tensor *half = wk_narrow(x, 0, 0, 3);
    manual_plan_begin();
    wk__value *before = value_of(x);
    wk_tensor *all = wk_mul(x, 2);
    wk_fill_(half, 7);
    GROUP_OF(1, 1, value_of(x));
    expect_accepted();
    manual_plan_donate(value_of(x), before);
    expect_refused("owners", "fill_ at", NULL);
    assert_non_null(all);
    manual_plan_end();
    wk_free(x);
}

/* The device stores a product that the program keeps; the epilogue needs no STORE for it. */
static void products_are_stored_beside_their_tails(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = IN_MEMORY(3, 4), *w = IN_MEMORY(4, 5);
    manual_plan_begin();
    wk_tensor *product = wk_matmul(x, w), *y = wk_add(product, 1);
    GROUP_OF(0, 2, value_of(product), value_of(y));
    expect_accepted();
    manual_plan_end();
    wk_free(x), wk_free(w);
}

/* Also in a sample of the elements: each has distinct values. */
static void tails_read_the_element_that_was_summed(void **state)
{
    (void)state;
    WK_SCOPE;
    static const int64_t sizes[] = {5, 700};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        wk_tensor *x = IN_MEMORY(sizes[k], 4), *w = IN_MEMORY(4, sizes[k]);
        manual_plan_begin();
        wk_tensor *y = wk_add(wk_matmul(x, w), 1);
        GROUP_OF(0, 2, value_of(y));
        wk__value *product = result_of(0);
        product->memory = value_of(y)->memory;
        expect_accepted();
        wk__operand *read = &manual_plan_current()->group.operand[0];
        read->stride[1] = 0; /* the first of its row */
        expect_refused("values", "element 1 ", "add at", sizes[k] > 100 ? "sample" : "register", NULL);
        product->memory.block = NULL;
        manual_plan_end();
        wk_free(x), wk_free(w);
    }
}

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

/* A backend that splits products of shape (3, m, 1) as if batches were columns, and one that omits the last row. */
static void batches_as_columns(const wk__work *work, wk__epilogue_box_visit *visit, void *user)
{
    wk__matmul product;
    assert_true(wk__matmul_from_work(work, &product));
    const int64_t places = product.batch[0] * product.m;
    visit(user, &(wk__epilogue_box){.size = {1, 1, places},
                                    .first = product.c.offset,
                                    .rows = 1,
                                    .columns = places,
                                    .row_step = 1,
                                    .column_step = 1});
}

static void rows_but_the_last(const wk__work *work, wk__epilogue_box_visit *visit, void *user)
{
    wk__matmul product;
    assert_true(wk__matmul_from_work(work, &product));
    for (int64_t b = 0; b < product.batch[0]; b++)
        visit(user, &(wk__epilogue_box){.start = {b},
                                        .size = {1, product.m - 1, product.n},
                                        .first = product.c.offset + b * product.c.stride[0],
                                        .rows = product.m - 1,
                                        .columns = 1,
                                        .row_step = product.c.stride[1],
                                        .column_step = 1});
}

/* Valid except for the order: the epilogue runs on the batch before the summed one. */
static void other_batches(const wk__work *work, wk__epilogue_box_visit *visit, void *user)
{
    wk__matmul product;
    assert_true(wk__matmul_from_work(work, &product));
    for (int64_t b = 0; b < product.batch[0]; b++)
        visit(user, &(wk__epilogue_box){.start = {b},
                                        .size = {1, product.m, product.n},
                                        .first = product.c.offset + (product.batch[0] - 1 - b) * product.c.stride[0],
                                        .rows = product.m,
                                        .columns = 1,
                                        .row_step = product.c.stride[1],
                                        .column_step = 1});
}

static void epilogues_run_on_summed_elements(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = IN_MEMORY(3, 4, 8), *w = IN_MEMORY(8, 1), *place = IN_MEMORY(4, 1);
    static const struct {
        void (*pieces)(const wk__work *work, wk__epilogue_box_visit *visit, void *user);
        const char *word;
    } wrong[] = {{batches_as_columns, "(size 1)"}, {rows_but_the_last, "9 of 12 elements"}, {other_batches, "summed"}};
    manual_plan_begin();
    wk_tensor *y = wk_add(wk_matmul(x, w), place);
    GROUP_OF(0, 2, value_of(y));
    group_record(0)->ref[0].value->memory = value_of(y)->memory; /* the sum overwrites the product */
    wk__device *device = group_record(0)->device, other = *device;
    wk__backend backend = *device->backend;
    backend.kind = WK_CPU;
    other.backend = &backend;
    group_record(0)->device = &other;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        backend.epilogue_boxes = wrong[k].pieces;
        expect_refused("pieces", "matmul at", wrong[k].word, NULL);
    }
    backend.epilogue_boxes = NULL; /* the epilogue runs on the complete product */
    expect_accepted();
    group_record(0)->device = device;
    group_record(0)->ref[0].value->memory.block = NULL;
    manual_plan_end();
    wk_free(x), wk_free(w), wk_free(place);
}

/* A product of x over two batch dimensions, [a, b, m, k], and w, [k, n] or one for each b, with an epilogue that uses
 * rows. */
static void split_as_the_cpu_does(const int64_t size[5], bool own_w)
{
    WK_SCOPE;
    const int64_t a = size[0], b = size[1], m = size[2], n = size[3], k = size[4];
    wk_tensor *x = IN_MEMORY(a, b, m, k), *w = own_w ? IN_MEMORY(b, k, n) : IN_MEMORY(k, n), *place = IN_MEMORY(m, 1);
    manual_plan_begin();
    wk_tensor *y = wk_add(wk_matmul(x, w), place);
    GROUP_OF(0, 2, value_of(y));
    group_record(0)->ref[0].value->memory = value_of(y)->memory;
    expect_accepted();
    group_record(0)->ref[0].value->memory.block = NULL;
    manual_plan_end();
    wk_free(x), wk_free(w), wk_free(place);
}

/* Tiles are known without memory, so products of the null device are split, too. */
static void the_cpu_splits_products_correctly(void **state)
{
    (void)state;
    static const int64_t sizes[][5] = {
        {1, 1, 5, 7, 3},   {3, 4, 1, 1, 1},   {3, 4, 5, 1, 8}, {3, 4, 1, 5, 8},      {2, 3, 100, 1, 20},
        {2, 1, 97, 50, 9}, {5, 2, 200, 3, 4}, {0, 2, 3, 4, 5}, {2, 2, 300, 500, 40}, {1, 1, 2000, 1, 300},
    };
    const int threads = wk__thread_count();
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int t = 1; t <= 7; t += 6) {
            wk__set_thread_count(t);
            split_as_the_cpu_does(sizes[s], false);
            split_as_the_cpu_does(sizes[s], true);
        }
    wk__set_thread_count(threads);
}

/* ---- prologues --------------------------------------------------------------------------------------------------- */

static void prologues_compute_the_factor(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = IN_MEMORY(4, 4), *w = IN_MEMORY(4, 4);
    manual_plan_begin();
    wk_tensor *other = wk_add(w, 1), *y = wk_relu(wk_matmul(x, wk_mul(w, 2)));
    GROUP_OF(2, 2, value_of(y));
    wk__value *product = group_record(0)->ref[0].value;
    product->memory = value_of(y)->memory;
    expect_refused("operands", "operand 1 of matmul at", "has not been computed", NULL);
    manual_plan_prologue(1, 1);
    expect_accepted();
    wk__program *g = &manual_plan_current()->prologue->group;
    g->imm[0].f = 3;
    expect_refused("values", "mul at", NULL);
    g->imm[0].f = 2;
    for (int o = 0; o < g->noperands; o++) g->operand[o].stored = false;
    expect_refused("operands", "matmul at", "does not compute its factor", NULL);
    manual_plan_prologue(0, 1); /* not a factor */
    expect_refused("operands", "matmul at", "does not compute its factor", NULL);
    assert_non_null(other);
    product->memory.block = NULL;
    manual_plan_reset();
    GROUP_OF(3, 1, value_of(y)); /* and a program has no factor */
    manual_plan_prologue(1, 1);
    expect_refused("operands", "relu at", "does not compute its factor", NULL);
    manual_plan_end();
    wk_free(x), wk_free(w);
}

static void prologues_read_unchanged_memory(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = IN_MEMORY(4, 4), *w = IN_MEMORY(4, 4);
    manual_plan_begin();
    wk_tensor *y = wk_add(wk_matmul(x, wk_mul(w, 2)), w);
    GROUP_OF(1, 2, value_of(y));
    wk__value *product = group_record(0)->ref[0].value;
    product->memory = value_of(y)->memory;
    manual_plan_prologue(0, 1);
    expect_accepted();
    value_of(y)->memory = value_of(w)->memory; /* the result overwrites memory that the prologue still reads */
    expect_refused("order", "mul at", "add at", NULL);
    manual_plan_reset();
    GROUP_OF(1, 2, value_of(y));
    product->memory = value_of(y)->memory;
    manual_plan_prologue(0, 1);
    manual_plan_donate(value_of(y), value_of(w));
    expect_refused("operands", "operand 0 of mul at", "was already reused", NULL);
    product->memory.block = NULL;
    manual_plan_end();
    wk_free(x), wk_free(w);
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

static void kernels_do_not_overwrite_operands(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = IN_MEMORY(6);
    manual_plan_begin();
    wk_tensor *sums = wk_cumsum(x, 0);
    wk__value *dying = last_read_of(x);
    GROUP_OF(0, 1, value_of(sums));
    expect_accepted();
    value_of(sums)->memory = dying->memory;
    expect_refused("order", "cumsum at", "operand 0", NULL);
    manual_plan_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, test_default_mode, test_restore_mode)
        TEST(positions_follow_the_call),
        TEST(rows_count_rows),
        TEST(registers_hold_what_is_read),
        TEST(empty_stores),
        TEST(memory_is_released_after_its_last_read),
        TEST(operands_are_computed_first),
        TEST(parts_start_from_the_complete_value),
        TEST(epilogues_run_on_summed_elements),
        TEST(the_cpu_splits_products_correctly),
        TEST(kernels_do_not_overwrite_operands),
        TEST(prologues_compute_the_factor),
        TEST(prologues_read_unchanged_memory),
        TEST(products_are_stored_beside_their_tails),
        TEST(tails_read_the_element_that_was_summed),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
