/* SPDX-License-Identifier: Apache-2.0 */
/* What GPU backends share, without a device: which launches a group becomes, and what their text depends on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../src/backend/gpu/kernel.h"
#include "support_gpu_cases.h"
#include "support_tails.h"

static const wk__gpu_target target = {
    .has_f64 = true, .exact_divide = true, .local = 256, .short_row = 64, .chunk = 8192, .struct_arguments = 90};

enum { MOST = 8 };

typedef struct plan {
    wk__gpu_launch launch[MOST];
    wk__group group[MOST];
    int count;
} plan;

static wk_code note(void *user, const wk__gpu_launch *launch, wk__fail *fail)
{
    plan *p = user;
    (void)fail;
    assert_true(p->count < MOST);
    p->launch[p->count] = *launch;
    if (launch->unit.group != NULL) {
        p->group[p->count] = *launch->unit.group;
        p->launch[p->count].unit.group = &p->group[p->count];
    }
    p->count++;
    return WK_OK;
}

/* Every operand in a block of its own. */
static plan *plan_of(group_case *c)
{
    plan *p = calloc(1, sizeof *p);
    wk__fail fail;
    for (int k = 0; k < c->g.noperands; k++) c->memory[k] = (wk__memory){.block = &c->memory[k], .offset = 512};
    assert_null(wk__group_check(&c->g));
    assert_int_equal(wk__gpu_plan_group(&target, &c->g, note, p, &fail), WK_OK);
    group_case_free(c);
    return p;
}

static group_case *sum_case(int64_t rows, int64_t columns)
{
    group_case *c = group_case_new("sum", 2, (int64_t[]){rows, columns}, 1);
    int r = ir_unary(&c->g, WK__RSUM, ir_load(&c->g, group_case_dense(c, WK_F32, false, FILL_ONES)));
    ir_store(&c->g, group_case_dense(c, WK_F32, true, FILL_ONES), r);
    return c;
}

static void walks(void **state)
{
    (void)state;
    static const struct {
        int64_t rows, columns;
        wk__gpu_walk walk;
        int launches;
        int64_t count;
    } cases[] = {
        {5, 64, WK__GPU_ITEMS, 1, 5}, {5, 65, WK__GPU_GROUPS, 1, 5},    {5, 0, WK__GPU_ITEMS, 1, 5},
        {0, 5, WK__GPU_ITEMS, 0, 0},  {1, 20000, WK__GPU_CHUNKS, 2, 3}, {100, 20000, WK__GPU_GROUPS, 1, 100},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        plan *p = plan_of(sum_case(cases[k].rows, cases[k].columns));
        assert_int_equal(p->count, cases[k].launches);
        for (int l = 0; l < p->count; l++) {
            assert_int_equal(p->launch[l].unit.form.walk, cases[k].walk);
            assert_int_equal(p->launch[l].count, cases[k].count);
            assert_int_equal(p->launch[l].unit.by_group, cases[k].walk != WK__GPU_ITEMS);
            assert_int_equal(p->launch[l].scratch > 0, cases[k].walk == WK__GPU_CHUNKS);
        }
        free(p);
    }
}

static char *text_of(const plan *p, int k)
{
    wk__text text = {0};
    wk__gpu_print(&text, &p->launch[k].unit);
    return text.data;
}

/* Sizes, numbers, offsets and the tag are arguments; the width of positions and what is in place are not. */
static void structure(void **state)
{
    (void)state;
    plan *a = plan_of(gpu_plus_case(3, 4, 1.5, false, false)), *b = plan_of(gpu_plus_case(30, 400, -2, false, false));
    plan *c = plan_of(gpu_plus_case(3, 4, 1.5, true, false));
    assert_true(wk__gpu_unit_key(&a->launch[0].unit) == wk__gpu_unit_key(&b->launch[0].unit));
    assert_true(wk__gpu_unit_same(&a->launch[0].unit, &b->launch[0].unit));
    assert_false(wk__gpu_unit_same(&a->launch[0].unit, &c->launch[0].unit));
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
    wide.unit.form.narrow = false;
    assert_false(wk__gpu_unit_same(&wide.unit, &a->launch[0].unit));
    free(a);
    free(b);
    free(c);
}

static void wide_positions(void **state)
{
    (void)state;
    group_case *c = gpu_plus_case(3, 4, 1, false, false);
    c->g.shape[0] = (int64_t)1 << 30; /* never run */
    plan *p = plan_of(c);
    assert_false(p->launch[0].unit.form.narrow);
    assert_true(p->launch[0].count == (int64_t)4 << 30);
    char *text = text_of(p, 0);
    assert_non_null(strstr(text, "#define idx i64"));
    wk__free(text);
    free(p);
}

/* An index next to a target in place: looked at in a launch of its own, which stores nothing. */
static void checked_first(void **state)
{
    (void)state;
    plan *p = plan_of(gpu_plus_case(3, 4, 1, true, true)), *q = plan_of(gpu_plus_case(3, 4, 1, false, true));
    assert_int_equal(p->count, 2);
    assert_true(p->launch[0].unit.form.check && !p->launch[1].unit.form.check && p->launch[1].unit.form.guarded);
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
    assert_int_equal(wk__gpu_plan_group(&poor, &c->g, note, &p, &fail), WK_ERR_UNSUPPORTED);
    assert_non_null(strstr(fail.text, "f64"));
    assert_int_equal(p.count, 0);
    group_case_free(c);
}

/* The prelude has what a program needs, no tables that it does not, and the words of one dialect. */
static void preludes(void **state)
{
    (void)state;
    wk__text plain = {0}, full = {0}, poor = {0}, cuda = {0};
    wk__gpu_prelude(&plain, &target, 0);
    wk__gpu_prelude(&full, &target, WK__GPU_NEEDS_F64 | WK__GPU_NEEDS_NDTRI32 | WK__GPU_NEEDS_NDTRI64);
    wk__gpu_target inexact = target;
    inexact.exact_divide = false;
    wk__gpu_prelude(&poor, &inexact, 0);
    wk__gpu_target other = target;
    other.dialect = WK__GPU_CUDA;
    wk__gpu_prelude(&cuda, &other, WK__GPU_NEEDS_F64);
    assert_non_null(strstr(plain.data, "FP_CONTRACT OFF"));
    assert_null(strstr(plain.data, "#define T double"));
    assert_null(strstr(plain.data, "ndtri32_table["));
    assert_non_null(strstr(full.data, "wk_ndtri64_table[11 * 256] = {0x"));
    assert_non_null(strstr(poor.data, "(double)a / (double)b"));
    assert_non_null(strstr(plain.data, "__kernel"));
    assert_null(strstr(plain.data, "__device__"));
    assert_non_null(strstr(cuda.data, "__device__"));
    assert_null(strstr(cuda.data, "__kernel"));
    assert_null(strstr(cuda.data, "OPENCL"));
    wk__text_end(&plain);
    wk__text_end(&full);
    wk__text_end(&poor);
    wk__text_end(&cuda);
}

/* A product's launch with this tail, in unit and text. */
static plan *tail_plan(tail_product product, tail_kind kind, bool passes)
{
    plan *p = calloc(1, sizeof *p);
    tail_case *c = tail_case_new(product, kind, WK_F32);
    wk__fail fail;
    c->kernel.passes = passes;
    assert_int_equal(wk__gpu_plan_kernel(&target, &c->work, note, p, &fail), WK_OK);
    assert_int_equal(p->count, 1);
    assert_int_equal(p->launch[0].unit.nmemory, c->memories);
    for (int m = 0; m < c->memories; m++) assert_ptr_equal(p->launch[0].block[m], &c->memory[m]);
    tail_case_free(c);
    return p;
}

/* A tail is part of its product's text, and of the unit's name. */
static void tails(void **state)
{
    (void)state;
    plan *a = tail_plan(TAIL_OF_BLOCKS, TAIL_RELU, true), *b = tail_plan(TAIL_OF_BLOCKS, TAIL_RELU, false);
    plan *c = tail_plan(TAIL_OF_BLOCKS, TAIL_PLACES, false), *again = tail_plan(TAIL_OF_BLOCKS, TAIL_RELU, true);
    const wk__gpu_unit *unit = &a->launch[0].unit;
    wk__gpu_unit without = *unit;
    without.group = NULL;
    assert_true(wk__gpu_unit_same(unit, &again->launch[0].unit));
    assert_true(wk__gpu_unit_key(unit) == wk__gpu_unit_key(&again->launch[0].unit));
    assert_false(wk__gpu_unit_same(unit, &b->launch[0].unit));
    assert_false(wk__gpu_unit_same(unit, &without) || wk__gpu_unit_same(&without, unit));
    assert_false(wk__gpu_unit_same(&b->launch[0].unit, &c->launch[0].unit));

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

static void tail_without_doubles(void **state)
{
    (void)state;
    wk__gpu_target poor = target;
    poor.has_f64 = false;
    tail_case *c = tail_case_new(TAIL_OF_SMALL, TAIL_RELU, WK_F32);
    plan p = {.count = 0};
    wk__fail fail;
    ir_ins(&c->tail, WK__CAST, WK_F64, 0, 0, 0);
    assert_int_equal(wk__gpu_plan_kernel(&poor, &c->work, note, &p, &fail), WK_ERR_UNSUPPORTED);
    assert_non_null(strstr(fail.text, "f64"));
    tail_case_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walks),           cmocka_unit_test(structure),
        cmocka_unit_test(wide_positions),  cmocka_unit_test(checked_first),
        cmocka_unit_test(without_doubles), cmocka_unit_test(preludes),
        cmocka_unit_test(tails),           cmocka_unit_test(tail_without_doubles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
