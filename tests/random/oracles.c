/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the oracles of random programs on known programs: each must report an actual error, and nothing else. */
#include "random/generator/oracles.h"
#include "random/generator/op_entries.h"
#include "support/devices.h"
#include "tensor/tensor.h"
#include <stdlib.h>

/* ---- building programs ------------------------------------------------------------------------------------------- */

static program *begin(void)
{
    static program p;
    memset(&p, 0, sizeof p);
    p.threads = 1;
    p.seed = 7;
    return &p;
}

/* Adds a tensor of n elements; returns its slot. */
static int make(program *p, wk_dtype dtype, int64_t n, int how, uint32_t seed)
{
    step *s = program_add(p, STEP_MAKE, 1);
    s->dtype = (uint8_t)dtype;
    s->how = (uint8_t)how;
    s->seed = seed;
    s->arguments = 2;
    s->argument[0] = argument_ints(1, &n);
    s->argument[1] = argument_int(how & MAKE_INDEX ? n : 0);
    return s->out;
}

static int call(program *p, const char *op, int count, const argument *arguments)
{
    step *s = program_add(p, STEP_CALL, 1);
    s->op = (int16_t)wk_op_find(op);
    s->arguments = (uint8_t)op_entries[s->op].parameters;
    memcpy(s->argument, arguments, sizeof *arguments * (size_t)count);
    return s->out;
}
#define CALL(p, op, ...)                                                                                               \
    call(p, op, (int)(sizeof((argument[]){__VA_ARGS__}) / sizeof(argument)), (argument[]){__VA_ARGS__})

static void on(program *p, step_kind kind, int slot)
{
    step *s = program_add(p, kind, 0);
    s->arguments = 1;
    s->argument[0] = argument_slot(slot);
}

static argument text(const char *word)
{
    argument a = {.kind = WK_VALUE_TEXT};
    snprintf(a.text, sizeof a.text, "%s", word);
    return a;
}

/* ---- gradients and differences ----------------------------------------------------------------------------------- */

/* The sum of a floor after a division by a small number: many jumps within a step of the differences, gradient 0. */
static void loss_with_many_jumps_is_inconclusive(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 400; seed += 2) {
        program *p = begin();
        p->gradcheck = true;
        p->seed = seed;
        const int x = make(p, WK_F64, 1 + seed % 3, MAKE_LEAF, seed);
        const int steep = CALL(p, "mul", argument_slot(x), argument_float(1 << (16 + seed % 5)));
        const int floored = CALL(p, "div", argument_slot(steep), argument_float(1.25), text("floor"));
        on(p, STEP_BACKWARD, CALL(p, "sum", argument_slot(floored)));
        verdict v;
        if (oracle_broken(p, ORACLE_DIFFERENCES, &v)) fail_msg("seed %u: %s", seed, v.text);
    }
}

/* The part of the gradient through a detached tensor is missing, as with a faulty op. */
static void missing_part_of_a_gradient_is_detected(void **state)
{
    (void)state;
    for (uint32_t seed = 2; seed < 40; seed += 2)
        for (int lost = 0; lost < 2; lost++) {
            program *p = begin();
            p->gradcheck = true;
            const int x = make(p, WK_F64, 3, MAKE_LEAF, seed);
            int y = CALL(p, "exp", argument_slot(x));
            if (lost) {
                step *s = program_add(p, STEP_DETACH, 1);
                s->arguments = 1;
                s->argument[0] = argument_slot(y);
                y = s->out;
            }
            const int both = CALL(p, "mul", argument_slot(x), argument_slot(y));
            on(p, STEP_BACKWARD, CALL(p, "sum", argument_slot(both)));
            verdict v;
            assert_int_equal(oracle_broken(p, ORACLE_DIFFERENCES, &v), lost);
        }
}

/* ---- modes ------------------------------------------------------------------------------------------------------- */

/* The program modifies an index that scatter has saved, so that it is out of range: backward stops there, or the
 * gradient fails later. */
static void modified_index_stops_backward(void **state)
{
    (void)state;
    program *p = begin();
    const int source = make(p, WK_F16, 1, 0, 2), target = make(p, WK_F16, 1, MAKE_LEAF, 4),
              index = make(p, WK_I64, 1, MAKE_INDEX, 6);
    const int put =
        CALL(p, "scatter", argument_slot(target), argument_int(-1), argument_slot(index), argument_slot(source));
    on(p, STEP_HOST_WRITE, index);
    p->step[p->steps - 1].arguments = 2;
    p->step[p->steps - 1].argument[1] = argument_float(3);
    on(p, STEP_BACKWARD, put);
    verdict v;
    for (oracle which = ORACLE_DEFAULT; which <= ORACLE_ORDER; which++)
        if (oracle_broken(p, which, &v)) fail_msg("%s: %s", oracle_name[which], v.text);
}

/* mul runs the bad index, because it reads borrowed memory, and group_norm reports it. Then the omitted weight is not
 * one that failed. */
static void late_index_fails_no_omitted_operand(void **state)
{
    (void)state;
    const int64_t spoiled = counts->spoiled;
    for (uint32_t seed = 2; seed < 40; seed += 2) {
        program *p = begin();
        const int x = make(p, WK_F32, 3, 0, 2), index = make(p, WK_I64, 3, MAKE_INDEX, seed);
        const int lent = make(p, WK_F32, 3, MAKE_BORROWED, 4);
        const int computed = CALL(p, "mul", argument_slot(index), argument_int(1));
        CALL(p, "take", argument_slot(x), argument_slot(computed));
        const int row = CALL(p, "unsqueeze", argument_slot(x), argument_int(0));
        CALL(p, "mul", argument_slot(x), argument_slot(lent));
        CALL(p, "group_norm", argument_slot(row), argument_int(1), (argument){.kind = WK_VALUE_NONE},
             (argument){.kind = WK_VALUE_NONE}, argument_float(1e-5));
        verdict v;
        if (oracle_broken(p, ORACLE_INDEX, &v)) fail_msg("seed %u: %s", seed, v.text);
    }
    assert_true(counts->spoiled > spoiled);
}

/* The oracle compares a GPU with the CPU, where a program may take a tensor's address, and wk_to copies nothing. */
static void memory_of_the_cpu_is_no_bad_index(void **state)
{
    (void)state;
    if (test_cpu_alone()) skip();
    assert_true(wk_device_count(test_gpu_kind()) > 0);
    static executor base, other;
    enum { NEITHER, ADDRESS, COPY };
    for (int what = NEITHER; what <= COPY; what++) {
        program *p = begin();
        const int source = make(p, WK_F32, 2, 0, 2), index = make(p, WK_I64, 8, MAKE_INDEX, 6);
        p->step[p->steps - 1].argument[1] = argument_int(2); /* index_corrupt makes it 4 */
        if (what == ADDRESS) on(p, STEP_TAKE_ADDRESS, source);
        if (what == COPY) CALL(p, "to", argument_slot(source), (argument){.kind = WK_VALUE_DEVICE});
        CALL(p, "index_select", argument_slot(source), argument_int(0), argument_slot(index));
        verdict v;
        const int64_t spoiled = counts->spoiled;
        if (index_disagrees_on_gpu(p, test_gpu_kind(), &base, &other, &v)) fail_msg("%s", v.text);
        assert_int_equal(counts->spoiled, spoiled + 1);
    }
}

/* In size 257 repeat gives 257 * 257 elements, and the product with another repeated tensor would take 679 MB. */
static void other_sizes_take_little_memory(void **state)
{
    (void)state;
    program *p = begin();
    const int x = make(p, WK_I8, 3, 0, 2);
    const int64_t threes[] = {3}, forties[] = {40}, column[] = {-1, 1};
    const int more = CALL(p, "repeat", argument_slot(x), argument_ints(1, threes));
    const int rest = CALL(p, "repeat", argument_slot(x), argument_ints(1, forties));
    const int rows = CALL(p, "reshape", argument_slot(more), argument_ints(2, column));
    CALL(p, "mul", argument_slot(rows), argument_slot(rest));
    verdict v;
    wk_memory_stats stats = {.size = sizeof stats};
    wk_memory_reset_peak(wk_cpu());
    if (oracle_broken(p, ORACLE_SIZES, &v)) fail_msg("%s", v.text);
    assert_int_equal(wk_memory_stats_of(wk_cpu(), &stats), WK_OK);
    assert_in_range(stats.peak, 1000, 256 << 20);
}

/* In size 255 and more the outer product takes 150 MB. In place, op by op, it takes as much again, which exceeds the
 * limit, so that the target keeps its old value; by default one kernel stores the end result. */
static void out_of_memory_op_by_op_is_inconclusive(void **state)
{
    (void)state;
    program *p = begin();
    const int x = make(p, WK_F64, 4, 0, 2);
    const int64_t more[] = {17};
    const int longer = CALL(p, "repeat", argument_slot(x), argument_ints(1, more));
    const int outer = CALL(p, "outer", argument_slot(longer), argument_slot(longer));
    step *s = program_add(p, STEP_IN_PLACE, 0);
    s->op = (int16_t)wk_op_find("square");
    s->arguments = 1;
    s->argument[0] = argument_slot(outer);
    verdict v;
    if (oracle_broken(p, ORACLE_SIZES, &v)) fail_msg("%s", v.text);
}

int main(void)
{
    op_entries_load();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loss_with_many_jumps_is_inconclusive),
        cmocka_unit_test(missing_part_of_a_gradient_is_detected),
        cmocka_unit_test(modified_index_stops_backward),
        cmocka_unit_test(late_index_fails_no_omitted_operand),
        cmocka_unit_test(memory_of_the_cpu_is_no_bad_index),
        cmocka_unit_test(other_sizes_take_little_memory),
        cmocka_unit_test(out_of_memory_op_by_op_is_inconclusive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
