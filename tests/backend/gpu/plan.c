/* SPDX-License-Identifier: Apache-2.0 */
/* Planning shared by GPU backends, without a device: the launches of a program, and the properties on which its source
 * depends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "backend/gpu/kernel.h"
#include "backend/gpu/kernels/sort.h"
#include "backend/gpu/kernels/tiles.h"
#include "support/gpu/gpu_cases.h"
#include "support/group/epilogues.h"

static wk__gpu_target target, cuda; /* an OpenCL CPU; a GPU */

enum { MOST = 8 };

typedef struct plan {
    wk__gpu_launch launch[MOST];
    wk__program group[MOST];
    int count;
} plan;

static wk_code note(void *user, const wk__gpu_launch *launch, wk__fail *fail)
{
    plan *p = user;
    (void)fail;
    assert_true(p->count < MOST);
    p->launch[p->count] = *launch;
    if (launch->spec.group != NULL) {
        p->group[p->count] = *launch->spec.group;
        p->launch[p->count].spec.group = &p->group[p->count];
    }
    p->count++;
    return WK_OK;
}

/* Each operand is in a separate block. */
static plan *plan_for(const wk__gpu_target *on, group_case *c)
{
    plan *p = calloc(1, sizeof *p);
    wk__fail fail;
    for (int k = 0; k < c->g.noperands; k++) c->memory[k] = (wk__memory){.block = &c->memory[k], .offset = 512};
    assert_null(wk__program_verify(&c->g));
    assert_int_equal(wk__gpu_lower_program(on, &c->g, note, p, &fail), WK_OK);
    group_case_free(c);
    return p;
}

static plan *plan_of(group_case *c)
{
    return plan_for(&target, c);
}

/* Sums of rows, which may be adjacent in memory; or softmax, which traverses a row three times. */
typedef enum kind { SUM, NEIGHBOURS, SOFTMAX } kind;

static group_case *row_case(kind kind, int64_t rows, int64_t columns)
{
    group_case *c = group_case_new("rows", 2, (int64_t[]){rows, columns}, 1);
    const int64_t across[] = {1, rows}, along[] = {columns, 1};
    int x = ir_load(&c->g, group_case_operand(c, WK_F32, kind == NEIGHBOURS ? across : along, FILL_ONES, 0));
    if (kind == SOFTMAX) {
        int e = ir_unary(&c->g, WK__EXP, ir_binary(&c->g, WK__SUB, x, ir_unary(&c->g, WK__RMAX, x)));
        int r = ir_binary(&c->g, WK__DIV, e, ir_unary(&c->g, WK__RSUM, e));
        ir_store(&c->g, group_case_dense(c, WK_F32, false, FILL_ONES), r);
    } else {
        ir_store(&c->g, group_case_dense(c, WK_F32, true, FILL_ONES), ir_unary(&c->g, WK__RSUM, x));
    }
    return c;
}

enum {
    I = WK__GPU_ROW_PER_ITEM,
    W = WK__GPU_ROW_PER_WARP,
    S = WK__GPU_STRIP_PER_GROUP,
    G = WK__GPU_ROW_PER_GROUP,
    CPU = 0,
    GPU = 1
};

/* Each limit from both sides. */
static const struct {
    int on;
    kind kind;
    int64_t rows, columns;
    int walk, launches;
    int64_t count;
    int ahead;
    bool held, chunked;
} walk_cases[] = {
    {CPU, SUM, 5, 256, I, 1, 5, 0, false, false},
    {CPU, SUM, 5, 257, G, 1, 5, 1, false, false},
    {CPU, SUM, 5, 0, I, 1, 5, 0, false, false},
    {CPU, SUM, 0, 5, I, 0, 0, 0, false, false},
    {CPU, SUM, 1, 16383, G, 1, 1, 1, false, false},
    {CPU, SUM, 1, 16384, G, 2, 2, 1, false, true},
    {CPU, SUM, 64, 20000, G, 2, 192, 1, false, true},
    {CPU, SUM, 65, 20000, G, 1, 65, 1, false, false},
    {CPU, SUM, 1, 8192 * 300, G, 2, 256, 1, false, true}, /* the maximum number of chunks */
    {CPU, NEIGHBOURS, 4095, 300, G, 1, 4095, 1, false, false},
    {CPU, NEIGHBOURS, 4096, 300, I, 1, 4096, 0, false, false},
    {CPU, SOFTMAX, 5, 300, G, 1, 5, 1, false, false},

    {GPU, SUM, 5, 16, I, 1, 5, 0, false, false},
    {GPU, SUM, 5, 17, W, 1, 160, 4, false, false},
    {GPU, SUM, 5, 1024, W, 1, 160, 4, false, false},
    {GPU, SUM, 5, 1025, G, 1, 5, 4, false, false},
    {GPU, SUM, 256, 16384, G, 2, 512, 4, false, true},
    {GPU, SUM, 256, 16383, G, 1, 256, 4, false, false},
    {GPU, SUM, 257, 16384, G, 1, 257, 4, false, false},
    {GPU, SUM, 1, 8192 * 3000, G, 2, 1024, 4, false, true},
    {GPU, NEIGHBOURS, 7, 100, W, 1, 224, 4, false, false},
    {GPU, NEIGHBOURS, 8, 100, S, 1, 1, 4, false, false},
    {GPU, NEIGHBOURS, 33, 100, S, 1, 2, 4, false, false},
    {GPU, NEIGHBOURS, 33, 2047, S, 1, 2, 4, false, false},
    {GPU, NEIGHBOURS, 33, 2048, S, 2, 4, 4, false, true},
    {GPU, NEIGHBOURS, 8192, 2048, S, 2, 512, 4, false, true},
    {GPU, NEIGHBOURS, 8193, 2048, S, 1, 257, 4, false, false},
    {GPU, NEIGHBOURS, 131071, 20, S, 1, 4096, 4, false, false},
    {GPU, NEIGHBOURS, 131072, 20, I, 1, 131072, 0, false, false},
    {GPU, SOFTMAX, 5, 16, I, 1, 5, 0, false, false},
    {GPU, SOFTMAX, 5, 32, W, 1, 160, 1, true, false},
    {GPU, SOFTMAX, 5, 33, W, 1, 160, 2, true, false},
    {GPU, SOFTMAX, 5, 65, W, 1, 160, 4, true, false},
    {GPU, SOFTMAX, 5, 512, W, 1, 160, 16, true, false},
    {GPU, SOFTMAX, 5, 513, W, 1, 160, 4, false, false},
    {GPU, SOFTMAX, 5, 1025, G, 1, 5, 8, true, false},
    {GPU, SOFTMAX, 5, 4096, G, 1, 5, 16, true, false},
    {GPU, SOFTMAX, 5, 4097, G, 1, 5, 4, false, false},
    {GPU, SOFTMAX, 5, 20000, G, 3, 15, 4, false, true},
};

static void launches_of_rows(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof walk_cases / sizeof walk_cases[0]; k++) {
        const int64_t rows = walk_cases[k].rows, columns = walk_cases[k].columns;
        group_case *c = row_case(walk_cases[k].kind, rows < 9 ? rows : 8, columns < 9 ? columns : 8);
        for (int o = 0; o < c->g.noperands; o++) { /* sizes that are never allocated */
            int64_t *stride = c->g.operand[o].stride;
            if (stride[0] > 1) stride[0] = columns;
            if (stride[1] > 1) stride[1] = rows;
        }
        c->g.shape[0] = rows;
        c->g.shape[1] = columns;
        plan *p = plan_for(walk_cases[k].on == GPU ? &cuda : &target, c);
        if (p->count != walk_cases[k].launches) fail_msg("case %zu: %d launches", k, p->count);
        for (int l = 0; l < p->count; l++) {
            const wk__gpu_kernel_config *form = &p->launch[l].spec.config;
            if (form->mapping != walk_cases[k].walk || p->launch[l].count != walk_cases[k].count ||
                form->loads_ahead != walk_cases[k].ahead || form->reg_cached != walk_cases[k].held ||
                form->chunked != walk_cases[k].chunked || form->pass != (form->chunked ? l : 0))
                fail_msg("case %zu, launch %d: walk %d, %lld items, %d ahead, %s, %s", k, l, form->mapping,
                         (long long)p->launch[l].count, form->loads_ahead, form->reg_cached ? "held" : "not held",
                         form->chunked ? "chunked" : "not chunked");
            assert_int_equal(p->launch[l].spec.per_group, form->mapping == S || form->mapping == G);
            assert_int_equal(p->launch[l].scratch > 0, form->chunked);
        }
        free(p);
    }
}

/* The number of elements per item: vectors of 16 bytes of the widest dtype if everything is a multiple of them. */
static void widths_on(const wk__gpu_target *on)
{
    static const struct {
        wk_dtype in, out;
        int64_t shape[2], stride[2], offset;
        int width;
    } cases[] = {
        {WK_F32, WK_F32, {1, 4096}, {0, 1}, 0, 4},  {WK_F32, WK_F32, {1, 4098}, {0, 1}, 0, 1},
        {WK_F32, WK_F32, {1, 4096}, {0, 1}, 4, 4},  {WK_F32, WK_F32, {1, 4096}, {0, 1}, 2, 1},
        {WK_F32, WK_F32, {6, 8}, {12, 1}, 0, 4},    {WK_F32, WK_F32, {6, 8}, {10, 1}, 0, 1},
        {WK_F32, WK_F32, {6, 8}, {1, 6}, 0, 4},     {WK_F32, WK_F32, {6, 8}, {8, 0}, 0, 4},
        {WK_F16, WK_F16, {6, 8}, {24, 1}, 0, 8},    {WK_F16, WK_F32, {6, 8}, {24, 1}, 0, 4},
        {WK_BOOL, WK_BOOL, {6, 32}, {48, 1}, 0, 8}, {WK_F32, WK_I64, {6, 8}, {24, 1}, 0, 2},
        {WK_F64, WK_F64, {1, 4096}, {0, 1}, 0, 2},  {WK_F32, WK_F32, {1, 1}, {0, 1}, 0, 1},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        group_case *c = group_case_new("width", 2, cases[k].shape, 0);
        int in = group_case_operand(c, cases[k].in, cases[k].stride, FILL_ONES, 8);
        int r = ir_load(&c->g, in);
        if (cases[k].in != cases[k].out) r = ir_ins(&c->g, WK__CAST, cases[k].out, r, 0, 0);
        ir_store(&c->g, group_case_dense(c, cases[k].out, false, FILL_ONES), r);
        for (int o = 0; o < c->g.noperands; o++) c->g.operand[o].offset = o == in ? cases[k].offset : 0;
        plan *p = plan_for(on, c);
        const int64_t elements = cases[k].shape[0] * cases[k].shape[1];
        assert_int_equal(p->count, 1);
        if (p->launch[0].spec.config.vector_width != cases[k].width)
            fail_msg("case %zu: %d elements an item", k, p->launch[0].spec.config.vector_width);
        assert_int_equal(p->launch[0].count, elements / cases[k].width);
        assert_int_equal(p->launch[0].argument[WK__GPU_ROWS], elements);
        free(p);
    }
}

static void widths(void **state)
{
    (void)state;
    wk__gpu_target gpu = wk__gpu_target_of(WK__GPU_OPENCL, true);
    gpu.has_f64 = true;
    widths_on(&cuda);
    widths_on(&gpu);
    group_case *c = gpu_plus_case(4, 4096, 1, false, false);
    plan *p = plan_of(c);
    assert_int_equal(p->launch[0].spec.config.vector_width, 1); /* compilers for CPUs vectorise by themselves */
    free(p);
}

static char *text_of(const plan *p, int k)
{
    wk__text text = {0};
    wk__gpu_codegen_body(&text, &p->launch[k].spec);
    return text.data;
}

/* Sizes, values, offsets and the tag are arguments; the width of positions and in-place operands are part of the
 * source. */
static void structure(void **state)
{
    (void)state;
    plan *a = plan_of(gpu_plus_case(3, 4, 1.5, false, false)), *b = plan_of(gpu_plus_case(30, 400, -2, false, false));
    plan *c = plan_of(gpu_plus_case(3, 4, 1.5, true, false));
    assert_true(wk__gpu_kernel_spec_hash(&a->launch[0].spec) == wk__gpu_kernel_spec_hash(&b->launch[0].spec));
    assert_true(wk__gpu_kernel_spec_equal(&a->launch[0].spec, &b->launch[0].spec));
    assert_false(wk__gpu_kernel_spec_equal(&a->launch[0].spec, &c->launch[0].spec));
    char *text_a = text_of(a, 0), *text_b = text_of(b, 0), *text_c = text_of(c, 0);
    assert_string_equal(text_a, text_b);
    assert_null(strstr(text_a, "F[0]"));
    assert_non_null(strstr(text_c, "if (F[0] != 0) return;"));
    assert_non_null(strstr(text_a, "#define idx i32"));
    assert_true(a->launch[0].argument[1] == 12 && b->launch[0].argument[1] == 12000);
    wk__free(text_a);
    wk__free(text_b);
    wk__free(text_c);

    wk__gpu_launch wide = a->launch[0];
    wide.spec.config.index32 = false;
    assert_false(wk__gpu_kernel_spec_equal(&wide.spec, &a->launch[0].spec));
    wk__gpu_launch other = a->launch[0];
    other.spec.nmemory++;
    assert_false(wk__gpu_kernel_spec_equal(&other.spec, &a->launch[0].spec));
    other = a->launch[0];
    other.spec.narguments++;
    assert_false(wk__gpu_kernel_spec_equal(&other.spec, &a->launch[0].spec));
    other = a->launch[0];
    other.spec.per_group = !other.spec.per_group;
    assert_false(wk__gpu_kernel_spec_equal(&other.spec, &a->launch[0].spec));
    free(a);
    free(b);
    free(c);
}

/* A kernel that serves another program as well has the source that would be generated for it: for rows of any length,
 * including one column, and whichever operands share memory. */
static void shared_kernels_have_the_same_source(void **state)
{
    (void)state;
    static const int64_t columns[] = {1, 2, 5, 16, 17, 255, 256, 257, 20000};
    enum { LENGTHS = sizeof columns / sizeof *columns };
    const wk__gpu_target *const targets[] = {&target, &cuda};
    int shared = 0;
    for (int on = 0; on < 2; on++)
        for (kind kind = SUM; kind <= SOFTMAX; kind++) {
            plan *p[LENGTHS];
            for (int k = 0; k < LENGTHS; k++) p[k] = plan_for(targets[on], row_case(kind, 4, columns[k]));
            for (int a = 0; a < LENGTHS; a++)
                for (int b = 0; b < a; b++) {
                    if (!wk__gpu_kernel_spec_equal(&p[a]->launch[0].spec, &p[b]->launch[0].spec)) continue;
                    char *text_a = text_of(p[a], 0), *text_b = text_of(p[b], 0);
                    assert_string_equal(text_a, text_b);
                    wk__free(text_a);
                    wk__free(text_b);
                    shared++;
                }
            for (int k = 0; k < LENGTHS; k++) free(p[k]);
        }
    assert_true(shared > 0);
}

/* y is stored over x, which is read again once the sum is known; or into separate memory. */
static void source_does_not_depend_on_shared_memory(void **state)
{
    (void)state;
    plan *p[2];
    for (int over = 0; over < 2; over++) {
        group_case *c = group_case_new("over", 2, (int64_t[]){4, 300}, 1);
        int x = ir_load(&c->g, group_case_dense(c, WK_F32, false, FILL_ONES));
        int y = group_case_dense(c, WK_F32, false, FILL_ONES), s = group_case_dense(c, WK_F32, true, FILL_ONES);
        ir_store(&c->g, y, ir_binary(&c->g, WK__ADD, x, x));
        ir_store(&c->g, s, ir_unary(&c->g, WK__RSUM, x));
        if (over) c->g.operand[y].memory = c->g.operand[0].memory;
        p[over] = plan_of(c);
    }
    wk__program group = *p[1]->launch[0].spec.group;
    assert_true(group.operand[0].memory == group.operand[1].memory);
    wk__gpu_schedule with, without;
    wk__gpu_schedule_of(&group, &with);
    group.operand[1].memory = NULL;
    wk__gpu_schedule_of(&group, &without);
    assert_memory_equal(&with, &without, sizeof with);
    free(p[0]);
    free(p[1]);
}

static void wide_positions(void **state)
{
    (void)state;
    group_case *c = gpu_plus_case(3, 4, 1, false, false);
    c->g.shape[0] = (int64_t)1 << 30; /* never run */
    plan *p = plan_of(c);
    assert_false(p->launch[0].spec.config.index32);
    assert_true(p->launch[0].count == (int64_t)4 << 30);
    char *text = text_of(p, 0);
    assert_non_null(strstr(text, "#define idx i64"));
    wk__free(text);
    free(p);
}

/* An index next to an in-place target is checked in a separate launch, which stores nothing. */
static void indices_are_checked_first(void **state)
{
    (void)state;
    plan *p = plan_of(gpu_plus_case(3, 4, 1, true, true)), *q = plan_of(gpu_plus_case(3, 4, 1, false, true));
    assert_int_equal(p->count, 2);
    assert_true(p->launch[0].spec.config.check_only && !p->launch[1].spec.config.check_only &&
                p->launch[1].spec.config.skip_on_fault);
    char *check = text_of(p, 0), *work = text_of(p, 1);
    assert_non_null(strstr(check, "wk_index"));
    assert_null(strstr(check, "] = "));
    assert_non_null(strstr(work, "] = "));
    assert_int_equal(q->count, 1);
    wk__free(check);
    wk__free(work);
    free(p);
    free(q);
}

static void without_doubles(void **state)
{
    (void)state;
    wk__gpu_target poor = target;
    poor.has_f64 = false;
    group_case *c = group_case_new("f64", 1, (int64_t[]){4}, 0);
    ir_store(&c->g, group_case_dense(c, WK_F64, false, FILL_ONES),
             ir_load(&c->g, group_case_dense(c, WK_F64, false, FILL_ONES)));
    plan p = {.count = 0};
    wk__fail fail;
    assert_int_equal(wk__gpu_lower_program(&poor, &c->g, note, &p, &fail), WK_ERR_UNSUPPORTED);
    assert_non_null(strstr(fail.text, "f64"));
    assert_int_equal(p.count, 0);
    group_case_free(c);
}

/* Tiles require a number of items per work-group, 32 rows or columns, and local memory for strips in the dtype of
 * sums. */
static void tiles(void **state)
{
    (void)state;
    wk__gpu_target gpu = wk__gpu_target_of(WK__GPU_OPENCL, true);
    gpu.local_memory_bytes = 32 << 10; /* the minimum that OpenCL requires of a GPU */
    assert_true(wk__gpu_can_tile(&gpu, WK_F32, 32, 8, 16) && wk__gpu_can_tile(&gpu, WK_BF16, 8, 32, 16));
    assert_false(wk__gpu_can_tile(&gpu, WK_F32, 31, 8, 16) || wk__gpu_can_tile(&gpu, WK_F32, 32, 7, 16));
    assert_false(wk__gpu_can_tile(&gpu, WK_F32, 7, 32, 16) || wk__gpu_can_tile(&gpu, WK_F32, 32, 8, 15));
    assert_false(wk__gpu_can_tile(&gpu, WK_F64, 99, 99, 99) || wk__gpu_can_tile(&gpu, WK_I64, 99, 99, 99));
    assert_true(wk__gpu_can_tile(&cuda, WK_F64, 99, 99, 99));
    gpu.group_size = 128;
    assert_false(wk__gpu_can_tile(&gpu, WK_F32, 99, 99, 99));
    assert_false(wk__gpu_can_tile(&target, WK_F32, 99, 99, 99));
}

/* Large tiles are for sums of four bytes; wider ones would exceed an item's registers. */
static void large_tiles(void **state)
{
    (void)state;
    static const wk_dtype dtypes[] = {WK_F32, WK_BF16, WK_I8, WK_F64, WK_I64};
    for (int k = 0; k < 5; k++) {
        const wk__gpu_tiling t = wk__gpu_choose_tiling(&cuda, dtypes[k], false, 100, 200, 200, 100);
        assert_true(t.large == (k < 3) && t.tiles == (k < 3 ? 400 : 1600) && t.k_splits == 1);
    }
}

/* Contractions with divided coordinates are planned before it is known whether they are empty. */
static void tiles_of_an_empty_batch(void **state)
{
    (void)state;
    const wk__gpu_tiling t = wk__gpu_choose_tiling(&cuda, WK_F32, false, 0, 64, 64, 4096);
    assert_true(t.tiles == 0 && t.k_splits == 1 && t.k_per_split == 4096);
}

/* ---- sorts ------------------------------------------------------------------------------------------------------- */

typedef struct line {
    wk__work_args kernel;
    wk__memory memory[3];
    wk__work work;
} line;

static const wk__work *sort_of(line *l, wk_dtype dtype, int64_t length)
{
    *l = (line){.kernel = {.ndim = 1, .shape = {length}, .tag = -1}, .work = {.args = &l->kernel}};
    for (int o = 0; o < 3; o++) {
        l->memory[o].block = &l->memory[o];
        l->kernel.operand[o] =
            (wk__operand){.memory = &l->memory[o], .dtype = (uint8_t)(o == 1 ? WK_I64 : dtype), .stride = {1}};
    }
    return &l->work;
}

/* A radix sort moves elements between the halves of the scratch memory; with one digit there are no halves. Only the
 * last launch writes the results. */
static void launches_of_sorts(void **state)
{
    (void)state;
    wk__gpu_target few = cuda;
    few.group_size = 8;
    const int64_t tile = wk__gpu_sort_tile(&cuda, WK_U8), counts = 4 * 256 * (3 + 1);
    const struct {
        const wk__gpu_target *on;
        wk_dtype dtype;
        int64_t length;
        int launches;
        int64_t scratch;
    } cases[] = {{&few, WK_F32, 100, 5, 2 * 8 * 100},
                 {&cuda, WK_U8, 3 * tile, 3, counts},
                 {&cuda, WK_I16, 3 * tile, 6, counts + 8 * 3 * tile}};
    for (int k = 0; k < 3; k++) {
        plan *p = calloc(1, sizeof *p);
        line l;
        wk__fail fail;
        const wk__work *work = sort_of(&l, cases[k].dtype, cases[k].length);
        assert_int_equal(wk__gpu_lower_sort(cases[k].on, work, note, p, &fail), WK_OK);
        assert_int_equal(p->count, cases[k].launches);
        for (int at = 0; at < p->count; at++) {
            assert_int_equal(p->launch[at].scratch, cases[k].scratch);
            assert_int_equal(p->launch[at].writes, at == p->count - 1);
        }
        free(p);
    }
}

/* Accepts a number of launches, then fails. */
static wk_code refuse(void *user, const wk__gpu_launch *launch, wk__fail *fail)
{
    int *taken = user;
    (void)launch;
    return (*taken)-- > 0 ? WK_OK : wk__fail_set(fail, WK_ERR_MEMORY, "no more");
}

/* A plan ends with the first launch that fails: in merge sorts, tile sorts and radix sorts. */
static void failing_launches(void **state)
{
    (void)state;
    wk__gpu_target few = cuda;
    few.group_size = 8;
    const int64_t tile = wk__gpu_sort_tile(&cuda, WK_F32);
    const struct {
        const wk__gpu_target *on;
        int64_t length;
        int launches;
    } cases[] = {{&few, 100, 5}, {&cuda, tile, 1}, {&cuda, tile + 1, 12}};
    for (int k = 0; k < 3; k++) {
        for (int good = 0; good <= cases[k].launches; good++) {
            line l;
            wk__fail fail;
            int taken = good;
            const wk_code code =
                wk__gpu_lower_sort(cases[k].on, sort_of(&l, WK_F32, cases[k].length), refuse, &taken, &fail);
            assert_int_equal(code, good < cases[k].launches ? WK_ERR_MEMORY : WK_OK);
            assert_int_equal(taken, good < cases[k].launches ? -1 : 0);
        }
    }
}

/* ---- rows, and source -------------------------------------------------------------------------------------------- */

/* Work-groups of few items do not combine results. */
static void small_groups(void **state)
{
    (void)state;
    for (int local = 8; local <= 16; local *= 2) {
        wk__gpu_target few = wk__gpu_target_of(WK__GPU_OPENCL, true);
        few.group_size = local;
        group_case *c = group_case_new("sum", 2, (int64_t[]){5, 100000}, 1);
        ir_store(&c->g, group_case_dense(c, WK_F32, true, FILL_ONES),
                 ir_unary(&c->g, WK__RSUM, ir_load(&c->g, group_case_dense(c, WK_F32, false, FILL_ONES))));
        plan *p = plan_for(&few, c);
        assert_int_equal(p->launch[0].spec.config.mapping, local < 16 ? WK__GPU_ROW_PER_ITEM : WK__GPU_ROW_PER_GROUP);
        free(p);
    }
}

/* The prelude contains the definitions that a program uses, no unused tables, and one dialect. */
static void preludes(void **state)
{
    (void)state;
    wk__text plain = {0}, full = {0}, poor = {0}, other = {0};
    wk__gpu_prelude(&plain, &target, 0);
    wk__gpu_prelude(&full, &target, WK__GPU_NEEDS_F64 | WK__GPU_NEEDS_NDTRI32 | WK__GPU_NEEDS_NDTRI64);
    wk__gpu_target inexact = target;
    inexact.exact_divide = false;
    wk__gpu_prelude(&poor, &inexact, 0);
    wk__gpu_prelude(&other, &cuda, WK__GPU_NEEDS_F64);
    assert_non_null(strstr(plain.data, "FP_CONTRACT OFF"));
    assert_null(strstr(plain.data, "#define T double"));
    assert_null(strstr(plain.data, "ndtri32_table["));
    assert_non_null(strstr(full.data, "wk_ndtri64_table[11 * 256] = {0x"));
    assert_non_null(strstr(poor.data, "(double)a / (double)b"));
    assert_non_null(strstr(plain.data, "__kernel"));
    assert_null(strstr(plain.data, "__device__"));
    assert_non_null(strstr(other.data, "__device__"));
    assert_null(strstr(other.data, "__kernel"));
    assert_null(strstr(other.data, "OPENCL"));
    wk__text_free(&plain);
    wk__text_free(&full);
    wk__text_free(&poor);
    wk__text_free(&other);
}

/* Returns the unit and source of a product's launch with this epilogue. */
static plan *epilogue_plan(epilogue_product product, epilogue_kind kind, bool passes)
{
    plan *p = calloc(1, sizeof *p);
    epilogue_case *c = epilogue_case_new(product, kind, WK_F32);
    wk__fail fail;
    c->kernel.elide_result = passes;
    assert_int_equal(wk__gpu_lower_work(&target, &c->work, note, p, &fail), WK_OK);
    assert_int_equal(p->count, 1);
    assert_int_equal(p->launch[0].spec.nmemory, c->memories);
    for (int m = 0; m < c->memories; m++) assert_ptr_equal(p->launch[0].block[m], &c->memory[m]);
    epilogue_case_free(c);
    return p;
}

/* An epilogue is part of its product's source, and of the unit's name. */
static void epilogues(void **state)
{
    (void)state;
    plan *a = epilogue_plan(EPILOGUE_OF_BLOCKS, EPILOGUE_RELU, true),
         *b = epilogue_plan(EPILOGUE_OF_BLOCKS, EPILOGUE_RELU, false);
    plan *c = epilogue_plan(EPILOGUE_OF_BLOCKS, EPILOGUE_PLACES, false),
         *again = epilogue_plan(EPILOGUE_OF_BLOCKS, EPILOGUE_RELU, true);
    const wk__gpu_kernel_spec *unit = &a->launch[0].spec;
    wk__gpu_kernel_spec without = *unit;
    without.group = NULL;
    assert_true(wk__gpu_kernel_spec_equal(unit, &again->launch[0].spec));
    assert_true(wk__gpu_kernel_spec_hash(unit) == wk__gpu_kernel_spec_hash(&again->launch[0].spec));
    assert_false(wk__gpu_kernel_spec_equal(unit, &b->launch[0].spec));
    assert_false(wk__gpu_kernel_spec_equal(unit, &without) || wk__gpu_kernel_spec_equal(&without, unit));
    assert_false(wk__gpu_kernel_spec_equal(&b->launch[0].spec, &c->launch[0].spec));

    char *passes = text_of(a, 0), *kept = text_of(b, 0), *places = text_of(c, 0);
    assert_non_null(strstr(passes, "const float r0 = LOAD(stored);"));
    assert_null(strstr(passes, "*to = stored"));
    assert_null(strstr(passes, "const i64 row"));
    assert_non_null(strstr(kept, "*to = stored;"));
    assert_non_null(strstr(places, "const i64 row = (batch * COUNT_M + i) * COUNT_N + j;"));
    wk__free(passes);
    wk__free(kept);
    wk__free(places);
    free(a);
    free(b);
    free(c);
    free(again);
}

static void epilogue_without_doubles(void **state)
{
    (void)state;
    wk__gpu_target poor = target;
    poor.has_f64 = false;
    epilogue_case *c = epilogue_case_new(EPILOGUE_OF_SMALL, EPILOGUE_RELU, WK_F32);
    plan p = {.count = 0};
    wk__fail fail;
    ir_ins(&c->tail, WK__CAST, WK_F64, 0, 0, 0);
    assert_int_equal(wk__gpu_lower_work(&poor, &c->work, note, &p, &fail), WK_ERR_UNSUPPORTED);
    assert_non_null(strstr(fail.text, "f64"));
    epilogue_case_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_of_rows),
        cmocka_unit_test(widths),
        cmocka_unit_test(structure),
        cmocka_unit_test(shared_kernels_have_the_same_source),
        cmocka_unit_test(source_does_not_depend_on_shared_memory),
        cmocka_unit_test(wide_positions),
        cmocka_unit_test(indices_are_checked_first),
        cmocka_unit_test(without_doubles),
        cmocka_unit_test(tiles),
        cmocka_unit_test(large_tiles),
        cmocka_unit_test(tiles_of_an_empty_batch),
        cmocka_unit_test(launches_of_sorts),
        cmocka_unit_test(failing_launches),
        cmocka_unit_test(small_groups),
        cmocka_unit_test(preludes),
        cmocka_unit_test(epilogues),
        cmocka_unit_test(epilogue_without_doubles),
    };
    cuda = wk__gpu_target_of(WK__GPU_CUDA, true);
    target = wk__gpu_target_of(WK__GPU_OPENCL, false);
    target.has_f64 = target.exact_divide = true;
    target.max_by_value_arguments = 90;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
