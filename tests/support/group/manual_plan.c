/* SPDX-License-Identifier: Apache-2.0 */
/* Implements manual_plan.h. */
#include "manual_plan.h"
#include "engine/execute.h"
#include "engine/plan/prologue.h"

enum { MOST = 64 };

static struct {
    wk__lowering group, ahead;
    wk__record *record[WK__MAX_INS], *record_ahead[WK__MAX_INS];
    int changed;
    struct {
        wk__value *value;
        wk__memory memory;
        wk__value_state state;
    } was[MOST];
    char piece[MOST]; /* addresses that identify memory pieces */
    int pieces;
} plan;

static wk__op_queue *ring(void)
{
    wk__op_queue *of_this_thread = wk__context()->op_queue;
    assert_non_null(of_this_thread);
    return of_this_thread;
}

void manual_plan_begin(void)
{
    wk_sync();
    expect_ok();
    plan.changed = plan.pieces = 0;
}

wk__value *value_of(const wk_tensor *x)
{
    return wk__body_of(x)->storage->value;
}

wk_tensor *make_stored(wk_dtype dtype, int ndim, const int64_t *shape)
{
    WK_SCOPE;
    wk_tensor_options options = {.size = sizeof options, .dtype = dtype, .device = test_null()};
    wk_tensor *x = wk_retain(wk_ones_at(WK_HERE, shape, ndim, &options));
    assert_non_null(x);
    wk_sync();
    expect_ok();
    return x;
}

wk__value *last_read_of(wk_tensor *x)
{
    wk__value *value = value_of(x);
    wk_free(x);
    return value;
}

wk__value *result_of(int k)
{
    assert_in_range(k, 0, ring()->count - 1);
    return ring()->record[k]->ref[0].value;
}

/* Saves a value's state before the test modifies it. */
static void remember(wk__value *value)
{
    for (int k = 0; k < plan.changed; k++)
        if (plan.was[k].value == value) return;
    assert_in_range(plan.changed, 0, MOST - 1);
    plan.was[plan.changed].value = value;
    plan.was[plan.changed].memory = value->memory;
    plan.was[plan.changed++].state = value->state;
}

static void give_piece(wk__value *value)
{
    remember(value);
    assert_in_range(plan.pieces, 0, MOST - 1);
    value->memory = (wk__memory){.block = &plan.piece[plan.pieces++], .bytes = value->bytes};
}

wk__lowering *manual_plan_current(void)
{
    return &plan.group;
}

wk__record *group_record(int k)
{
    return plan.group.record[k];
}

void manual_plan_group(int first, int count, wk__value *const *stored)
{
    wk__lowering *b = &plan.group;
    assert_in_range(first + count, 1, ring()->count);
    memset(b, 0, sizeof *b);
    b->record = plan.record;
    b->records = count;
    for (int k = 0; k < count; k++) {
        wk__record *r = plan.record[k] = ring()->record[first + k];
        wk__value *out = r->ref[0].value;
        r->group = out->group = 0;
        out->reg = -1;
        out->escapes = out->read_by_deferred = out->is_root = false;
        for (int s = 0; stored[s]; s++) out->is_root = out->is_root || stored[s] == out;
        if (out->is_root) give_piece(out);
    }
    if (wk__record_family(plan.record[0])->is_along_dim) return;
    assert_int_equal(wk__lower_group(b), count);
    for (int o = 0; o < b->group.noperands; o++) b->group.operand[o].memory = &b->value[o]->memory;
}

void manual_plan_prologue(int first, int count)
{
    wk__lowering *b = &plan.ahead;
    memset(b, 0, sizeof *b);
    b->record = plan.record_ahead;
    b->records = count;
    for (int k = 0; k < count; k++) {
        wk__record *r = plan.record_ahead[k] = ring()->record[first + k];
        wk__value *out = r->ref[0].value;
        r->group = out->group = 0;
        out->reg = -1;
        out->read_by_deferred = out->is_root = false;
        out->escapes = k == count - 1;
    }
    assert_int_equal(wk__lower_group(b), count);
    wk__prologue_factor(b)->escapes = false;
    plan.group.prologue = b;
}

void manual_plan_donate(wk__value *to, wk__value *from)
{
    wk__lowering *b = &plan.group;
    remember(from);
    to->memory = from->memory;
    from->memory.block = NULL;
    for (int o = 0; o < b->group.noperands; o++)
        if (b->group.operand[o].memory == &from->memory) b->group.operand[o].memory = &to->memory;
}

void manual_plan_mark_stored(void)
{
    for (int k = 0; k < plan.group.records; k++) {
        wk__value *out = group_record(k)->ref[0].value;
        if (out->memory.block) wk__value_set_state(out, WK__STORED);
    }
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

static wk_code check(wk__fail *fail)
{
    wk__work_args kernel;
    const wk__work work = wk__work_from_lowering(&plan.group, &kernel);
    return wk__plan_check(&plan.group, &work, fail);
}

void expect_accepted(void)
{
    wk__fail fail = {.tag = -1};
    if (check(&fail) != WK_OK) fail_msg("refused: %s", fail.text);
}

void expect_refused(const char *word, ...)
{
    wk__fail fail = {.tag = -1};
    assert_int_equal(check(&fail), WK_ERR_INTERNAL);
    va_list words;
    va_start(words, word);
    for (; word; word = va_arg(words, const char *))
        if (!strstr(fail.text, word)) fail_msg("\"%s\" is missing in: %s", word, fail.text);
    va_end(words);
}

void manual_plan_reset(void)
{
    for (int k = plan.changed; k-- > 0;) {
        plan.was[k].value->memory = plan.was[k].memory;
        wk__value_set_state(plan.was[k].value, plan.was[k].state);
    }
    plan.changed = plan.pieces = 0;
}

void manual_plan_end(void)
{
    manual_plan_reset();
    wk_sync();
    wk_clear_error();
}
