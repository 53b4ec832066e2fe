/* SPDX-License-Identifier: Apache-2.0 */
/* A factor computed by a prologue yields the same bits as a factor in memory, for every dtype, instruction set and
 * number of threads; prologues that cannot run so are refused. */
#include "matmul_case.h"
#include "ir/build.h"

#include "backend/cpu/isa.h"
#include "backend/cpu/along_dim.h"
#include "backend/cpu/contraction/gemm_prologue.h"
#include "base/alloc.h"
#include "base/pool.h"

/* The factor's steps of the sum are contiguous. turned: the factor is A instead of B. */
typedef struct prologue_case {
    product_case product;
    bool turned;
    int ones;     /* leading dimensions of size 1 in the program's space */
    bool swapped; /* its space is (steps, columns), not (columns, steps) */
    bool first;   /* the stored operand is operand 0 */
} prologue_case;

static const prologue_case cases[] = {
    {.product = {.dtype = WK_F32, .m = 1, .n = 50, .k = 300, .b = COLUMNS}, .ones = 2},
    {.product = {.dtype = WK_F32, .m = 1, .n = 700, .k = 4097, .b = COLUMNS}},
    {.product = {.dtype = WK_F32, .m = 4, .n = 170, .k = 9000, .b = COLUMNS}, .swapped = true},
    {.product = {.dtype = WK_F32, .m = 40, .n = 300, .k = 600, .b = COLUMNS, .c = GAPS}},
    {.product = {.dtype = WK_F32, .m = 800, .n = 150, .k = 20, .b = COLUMNS, .a = COLUMNS}},
    {.product = {.dtype = WK_F32, .m = 2, .n = 2, .k = 2, .b = COLUMNS}, .first = true},
    {.product = {.dtype = WK_F32, .m = 300, .n = 40, .k = 600, .c = COLUMNS}, .turned = true},
    {.product = {.dtype = WK_F32, .m = 300, .n = 1, .k = 5000}, .turned = true},
    {.product = {.dtype = WK_F64, .m = 5, .n = 90, .k = 5000, .b = COLUMNS, .a = BACKWARDS}},
    {.product = {.dtype = WK_BF16, .m = 5, .n = 200, .k = 8301, .b = COLUMNS}},
    {.product = {.dtype = WK_BF16, .m = 1, .n = 200, .k = 33, .b = COLUMNS}},
    {.product = {.dtype = WK_F16, .m = 70, .n = 100, .k = 700, .b = COLUMNS}},
    {.product = {.dtype = WK_I32, .m = 3, .n = 500, .k = 1100, .b = COLUMNS}},
    {.product = {.dtype = WK_I64, .m = 3, .n = 100, .k = 4200, .b = COLUMNS}},
    {.product = {.dtype = WK_I8, .m = 3, .n = 100, .k = 600, .b = COLUMNS}},
    {.product = {.dtype = WK_BOOL, .m = 3, .n = 100, .k = 600, .b = COLUMNS}},
};
enum { CASES = sizeof cases / sizeof *cases };

/* factor[column, step] = source[column, step] as the dtype x scale[column]; the source is i8, transposed in memory if
 * swapped. */
typedef struct before {
    wk__program group;
    wk__memory source, scale;
    char *data;
    char *factors;
} before;

static matrix *factor_of(product *product, const prologue_case *c)
{
    return c->turned ? &product->a : &product->b;
}

static int rounded(wk__program *g, wk_dtype dtype, int r)
{
    return wk__compute_class(dtype) == dtype ? r : ir_ins(g, WK__CAST, dtype, r, 0, 0);
}

static void before_new(before *before, product *product, const prologue_case *c)
{
    const product_case *t = &product->test;
    wk__program *g = &before->group;
    matrix *factor = factor_of(product, c);
    const int64_t columns = c->turned ? t->m : t->n, size = (int64_t)wk_dtype_size(t->dtype);
    const int across = c->ones + c->swapped, along = c->ones + !c->swapped;
    int64_t shape[WK__MAX_DIMS] = {1, 1, 1, 1}, of_factor[WK__MAX_DIMS] = {0}, of_source[WK__MAX_DIMS] = {0},
            of_scale[WK__MAX_DIMS] = {0};
    shape[across] = columns;
    shape[along] = t->k;
    of_factor[across] = factor->operand.stride[c->turned ? 0 : 1];
    of_factor[along] = factor->operand.stride[c->turned ? 1 : 0];
    of_source[across] = t->k + 3;
    of_source[along] = 1;
    of_scale[across] = 1;
    before->data = malloc((size_t)(columns * (t->k + 3)));
    before->factors = malloc((size_t)(columns * size));
    for (int64_t k = 0; k < columns * (t->k + 3); k++) before->data[k] = (char)(random_below(256) - 128);
    for (int64_t k = 0; k < columns; k++) put_random(t->dtype, before->factors + k * size);
    before->source = (wk__memory){.block = before->data, .host = before->data, .bytes = columns * (t->k + 3)};
    before->scale = (wk__memory){.block = before->factors, .host = before->factors, .bytes = columns * size};
    ir_space(g, c->ones + 2, shape, 0);
    int out = 0;
    if (c->first) out = ir_operand(g, t->dtype, &factor->memory, factor->operand.offset, of_factor);
    const int source = ir_operand(g, WK_I8, &before->source, 0, of_source);
    const int scale = ir_operand(g, t->dtype, &before->scale, 0, of_scale);
    if (!c->first) out = ir_operand(g, t->dtype, &factor->memory, factor->operand.offset, of_factor);
    const int wide = ir_ins(g, WK__CAST, t->dtype, ir_load(g, source), 0, 0);
    ir_store(g, out, rounded(g, t->dtype, ir_binary(g, WK__MUL, wide, ir_load(g, scale))));
    assert_null(wk__program_verify(g));
}

static void before_free(before *before)
{
    free(before->data);
    free(before->factors);
}

static void same_bits(const prologue_case *c)
{
    product product;
    before before;
    wk__fail fail = {0};
    product_new(&product, &c->product);
    before_new(&before, &product, c);
    matrix *factor = factor_of(&product, c);
    char *untouched = malloc((size_t)product.c.bytes), *want = malloc((size_t)product.c.bytes);
    memcpy(untouched, product.c.data, (size_t)product.c.bytes);
    assert_int_equal(wk__cpu_run(&before.group, &fail), WK_OK);
    product_run(&product);
    memcpy(want, product.c.data, (size_t)product.c.bytes);

    memcpy(product.c.data, untouched, (size_t)product.c.bytes);
    product.matmul.prologue[!c->turned] = &before.group;
    factor->memory.block = factor->memory.host = NULL; /* the factor is not in memory */
    product_run(&product);
    assert_memory_equal(want, product.c.data, (size_t)product.c.bytes);
    free(untouched);
    free(want);
    before_free(&before);
    product_free(&product);
}

static void bits_equal_those_of_a_factor_in_memory(void **state)
{
    (void)state;
    for (int kind = 0; wk__cpu_isa_at(kind); kind++) {
        wk__cpu_isa_use(wk__cpu_isa_at(kind));
        for (int k = 0; k < CASES; k++)
            for (int threads = 1; threads <= 4; threads += 3) {
                wk__set_thread_count(threads);
                same_bits(&cases[k]);
            }
    }
    wk__cpu_isa_use(wk__cpu_isa_at(0));
    wk__set_thread_count(1);
}

/* ---- refused prologues ------------------------------------------------------------------------------------------- */

static const prologue_case plain = {.product = {.dtype = WK_F32, .m = 3, .n = 50, .k = 70, .b = COLUMNS}};

static bool can_fuse(const wk__matmul *product)
{
    wk__contraction sum;
    wk__work_args kernel;
    wk__work work;
    wk__work_from_matmul(product, &sum, &kernel, &work);
    const bool takes = wk__cpu_can_fuse_prologue(&work);
    if (!takes) {
        wk__fail fail = {0};
        assert_int_equal(wk__cpu_matmul(product, &fail), WK_ERR_UNSUPPORTED);
    }
    return takes;
}

static void conditions_of_a_prologue(void **state)
{
    (void)state;
    product product;
    before before;
    product_new(&product, &plain.product);
    before_new(&before, &product, &plain);
    wk__matmul *p = &product.matmul;
    p->prologue[1] = &before.group;
    assert_true(can_fuse(p));
    p->m = 0; /* nothing is multiplied or computed */
    assert_true(can_fuse(p));
    product_run(&product);
    p->m = 3;

    p->prologue[0] = &before.group; /* of both factors */
    assert_false(can_fuse(p));
    p->prologue[1] = NULL; /* of the other factor */
    assert_false(can_fuse(p));
    p->prologue[0] = NULL;
    p->prologue[1] = &before.group;

    wk__operand *stored = &before.group.operand[2];
    stored->offset++; /* another part of the memory */
    assert_false(can_fuse(p));
    stored->offset--;
    wk__memory elsewhere = *stored->memory;
    stored->memory = &elsewhere;
    assert_false(can_fuse(p));
    stored->memory = p->b.memory;
    stored->stored = false; /* no stored operand */
    assert_false(can_fuse(p));
    stored->stored = true;
    stored->dtype = WK_F64; /* wider than the buffer's element */
    assert_false(can_fuse(p));
    stored->dtype = WK_F32;
    before.group.operand[0].stored = true; /* a second stored operand */
    assert_false(can_fuse(p));
    before.group.operand[0].stored = false;
    p->m = WK__GEMM_MACROTILE_ROWS; /* up to one piece of rows, which then computes the factor once */
    assert_true(can_fuse(p));
    wk__contraction sum;
    wk__work_args kernel;
    wk__work work;
    p->m++;
    wk__work_from_matmul(p, &sum, &kernel, &work);
    assert_false(wk__cpu_can_fuse_prologue(&work));
    p->m = 3;
    before.group.nreduce = 1;
    assert_false(can_fuse(p));
    before.group.nreduce = 0;
    for (int d = 0; d < 2; d++) {
        before.group.shape[d]--; /* does not cover the factor */
        assert_false(can_fuse(p));
        before.group.shape[d]++;
        stored->stride[d]++; /* another stride */
        assert_false(can_fuse(p));
        stored->stride[d]--;
    }
    p->k = before.group.shape[1] = 0; /* no steps */
    assert_false(can_fuse(p));
    p->k = before.group.shape[1] = 70;
    before.group.ndim = 1; /* one column for all, then one step for all */
    assert_false(can_fuse(p));
    before.group.shape[0] = 70;
    stored->stride[0] = 1;
    assert_false(can_fuse(p));
    before_free(&before);
    product_free(&product);
}

/* A square factor: each dimension of the space must be either steps or columns, which only strides distinguish. */
static void square_factors(void **state)
{
    (void)state;
    static const prologue_case square = {.product = {.dtype = WK_F32, .m = 3, .n = 64, .k = 64, .b = COLUMNS}};
    product product;
    before before;
    product_new(&product, &square.product);
    before_new(&before, &product, &square);
    product.matmul.prologue[1] = &before.group;
    assert_true(can_fuse(&product.matmul));
    before.group.operand[2].stride[1] = 64; /* both dimensions are columns */
    assert_false(can_fuse(&product.matmul));
    before_free(&before);
    product_free(&product);
}

static void rows_of_b_and_batches_are_refused(void **state)
{
    (void)state;
    static const prologue_case rows = {.product = {.dtype = WK_F32, .m = 3, .n = 50, .k = 70}},
                               batches = {.product = {.dtype = WK_F32,
                                                      .nbatch = 1,
                                                      .batch = {2},
                                                      .m = 3,
                                                      .n = 50,
                                                      .k = 70,
                                                      .a = COLUMNS,
                                                      .b = COLUMNS,
                                                      .b_shared = true}};
    static const prologue_case *const both[] = {&rows, &batches};
    for (int k = 0; k < 2; k++) {
        product product;
        before before;
        product_new(&product, &plain.product);
        before_new(&before, &product, &plain);
        product_free(&product);
        product_new(&product, &both[k]->product);
        before.group.operand[2].stride[0] = product.b.operand.stride[k + 1];
        before.group.operand[2].stride[1] = product.b.operand.stride[k];
        product.matmul.prologue[1] = &before.group;
        assert_false(can_fuse(&product.matmul));
        before_free(&before);
        product_free(&product);
    }
}

static void other_contractions_are_refused(void **state)
{
    (void)state;
    product product;
    before before;
    wk__contraction sum;
    wk__work_args kernel;
    wk__work work;
    wk__fail fail = {0};
    product_new(&product, &plain.product);
    before_new(&before, &product, &plain);
    wk__work_from_matmul(&product.matmul, &sum, &kernel, &work);
    sum.dtype = WK_F64; /* f64 sums of f32 factors */
    for (int k = 0; k < WK__FACTORS; k++) {
        kernel.prologue[k] = &before.group;
        assert_false(wk__cpu_can_fuse_prologue(&work));
        assert_int_equal(wk__cpu_contraction(&work, &fail), WK_ERR_UNSUPPORTED);
        kernel.prologue[k] = NULL;
    }
    assert_int_equal(wk__cpu_contraction(&work, &fail), WK_OK);
    before_free(&before);
    product_free(&product);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void failed_allocations(void **state)
{
    (void)state;
    product product;
    before before;
    wk__fail fail = {0};
    product_new(&product, &plain.product);
    before_new(&before, &product, &plain);
    product.matmul.prologue[1] = &before.group;
    int failures = 0;
    for (wk_code code = WK_ERR_MEMORY; code != WK_OK;) {
        wk__cpu_matmul_trim();
        wk__alloc_fail_at(failures + 1);
        code = wk__cpu_matmul(&product.matmul, &fail);
        wk__alloc_fail_at(0);
        if (code == WK_OK) break;
        assert_int_equal(code, WK_ERR_MEMORY);
        assert_in_range(++failures, 1, 100);
    }
    assert_true(failures >= 2); /* the buffers of a product, and that of the factor */
    wk__cpu_matmul_trim();
    before_free(&before);
    product_free(&product);
}

/* A prologue that needs more buffer than a worker has: all memory is allocated before anything is written. */
static void no_allocations_while_running(void **state)
{
    (void)state;
    enum { SOURCES = 12 };
    product product;
    before before;
    wk__fail fail = {0};
    product_new(&product, &plain.product);
    before_new(&before, &product, &plain);
    wk__program *g = &before.group;
    const wk__operand stored = g->operand[2];
    wk__memory sources[SOURCES];
    ir_space(g, 2, (const int64_t[]){50, 70}, 0);
    int sum = -1;
    for (int k = 0; k < SOURCES; k++) { /* each is transposed */
        sources[k] = (wk__memory){.bytes = 50 * 70 * 4};
        sources[k].block = sources[k].host = calloc(50 * 70, 4);
        const int r = ir_load(g, ir_operand(g, WK_F32, &sources[k], 0, (const int64_t[]){1, 50}));
        sum = k ? ir_binary(g, WK__ADD, sum, r) : r;
    }
    g->operand[g->noperands] = stored;
    ir_store(g, g->noperands++, sum);
    assert_null(wk__program_verify(g));
    product.matmul.prologue[1] = g;
    assert_int_equal(wk__cpu_matmul(&product.matmul, &fail), WK_OK); /* allocates the buffers */
    wk__alloc_fail_at(1);
    assert_int_equal(wk__cpu_matmul(&product.matmul, &fail), WK_OK);
    wk__alloc_fail_at(0);
    for (int k = 0; k < SOURCES; k++) free(sources[k].host);
    before_free(&before);
    product_free(&product);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_equal_those_of_a_factor_in_memory),
        cmocka_unit_test(conditions_of_a_prologue),
        cmocka_unit_test(square_factors),
        cmocka_unit_test(rows_of_b_and_batches_are_refused),
        cmocka_unit_test(other_contractions_are_refused),
        cmocka_unit_test(failed_allocations),
        cmocka_unit_test(no_allocations_while_running),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
