/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the flags in the table of work families against well-formed work: its operands, the results of the CPU, and
 * the work that the null device rejects. */
#include "support/families.h"

#include "backend/cpu/cpu.h"
#include "backend/cpu/contraction/matmul.h"
#include "backend/null/null.h"

enum { OPERANDS = WK__WORK_OPERANDS, ELEMENTS = FAMILY_ROWS * FAMILY_COLUMNS };

static wk__fail fail;

/* ---- operands ---------------------------------------------------------------------------------------------------- */

static void expect_operands(const wk__work_family *row, const family_work *w)
{
    for (int o = 0; o < OPERANDS; o++) {
        const wk__operand *operand = &w->kernel.operand[o];
        if (operand->stored != (o < row->nout) || !operand->memory != (o >= row->nout + row->nin))
            fail_msg("%s: operand %d is not one of %d and %d", row->name, o, row->nout, row->nin);
        if (operand->memory && (operand->dtype == WK_I64) != (row->index_operand && o == row->index_operand))
            fail_msg("%s: operand %d has positions, or has none", row->name, o);
    }
    assert_in_range(row->same_dtype_operand, 0, row->nout + row->nin - 1);
    assert_int_equal(w->kernel.operand[row->same_dtype_operand].dtype, w->kernel.operand[0].dtype);
}

/* Uses f16, so that only indices are i64. */
static void rows_match_operands(void **state)
{
    (void)state;
    wk__memory memory[OPERANDS];
    for (int o = 0; o < OPERANDS; o++) memory[o] = (wk__memory){.bytes = FAMILY_BYTES};
    for (int family = 0; family < WK__WORK_FAMILIES; family++)
        for (wk__layout layout = WK__LAYOUT_STRIDES; layout <= WK__LAYOUT_CONTRACTION; layout++) {
            const wk__work_family *row = &wk__work_families[family];
            family_work w;
            if (!family_work_of(&w, family, WK_F16, layout, memory)) continue;
            assert_int_equal(row->is_program, w.work.args == NULL);
            assert_int_equal(row->is_contraction, w.kernel.contraction != NULL);
            if (w.work.args)
                expect_operands(row, &w);
            else /* the program has the operands */
                assert_true(row->nout == 0 && row->nin == 0 && row->same_dtype_operand == 0 &&
                            row->index_operand == 0 && row->nmodes == 0);
        }
}

static void names_are_distinct(void **state)
{
    (void)state;
    for (int family = 0; family < WK__WORK_FAMILIES; family++) {
        assert_int_equal(!wk__work_families[family].log_name, wk__work_families[family].is_transfer);
        for (int other = 0; other < family; other++)
            assert_string_not_equal(wk__work_families[family].name, wk__work_families[other].name);
    }
    assert_string_equal(wk__work_name(WK__PROGRAM), "program");
    assert_string_equal(wk__work_name(WK__CONTRACTION), "contraction");
    assert_string_equal(wk__work_name(WK__SCATTER_ADD), "scatter_add");
    assert_string_equal(wk__work_name(WK__SCAN), "scan");
    assert_string_equal(wk__work_name(WK__SORT), "sort");
    assert_string_equal(wk__work_name(WK__TRANSFER), "transfer");
    assert_string_equal(wk__work_name(WK__ATTENTION), "attention");
    assert_string_equal(wk__work_name(WK__ATTENTION_BACKWARD), "attention_backward");
    assert_string_equal(wk__work_name(WK__QUANTIZED), "quantized");
    assert_string_equal(wk__work_name(WK__NORM_BACKWARD), "norm_backward");
    assert_string_equal(wk__work_name(WK__WORK_FAMILIES), "unknown work");
    assert_string_equal(wk__work_name(-1), "unknown work");
}

/* ---- results of the CPU ------------------------------------------------------------------------------------------ */

typedef struct on_cpu {
    int64_t number[OPERANDS][FAMILY_NUMBERS];
    wk__memory memory[OPERANDS];
    family_work w;
} on_cpu;

/* Builds i64 work with constant contents: `result` in the result, `read` in the other operands. Returns false if the
 * CPU does not support it. */
static bool make_cpu_work(on_cpu *c, int family, int64_t result, int64_t read)
{
    for (int o = 0; o < OPERANDS; o++) {
        for (int k = 0; k < FAMILY_NUMBERS; k++) c->number[o][k] = o ? read : result;
        c->memory[o] = (wk__memory){.block = c->number[o], .host = (char *)c->number[o], .bytes = FAMILY_BYTES};
    }
    family_work_of(&c->w, family, WK_I64, WK__LAYOUT_STRIDES, c->memory);
    return wk__cpu_backend.supports(NULL, family, WK_I64, WK__LAYOUT_STRIDES);
}

/* Checks that a family that does not run here has none of the flags that only running could confirm. */
static void expect_no_flags(const wk__work_family *row)
{
    assert_false(row->can_fault || row->accumulates || row->can_have_epilogue || row->is_along_dim);
}

/* Every index is -1000, so a family that checks indices must report an error. */
static void families_that_check_indices(void **state)
{
    (void)state;
    on_cpu c;
    for (int family = 0; family < WK__WORK_FAMILIES; family++) {
        const wk__work_family *row = &wk__work_families[family];
        if (!make_cpu_work(&c, family, 0, -1000)) {
            expect_no_flags(row);
            continue;
        }
        const wk_code code = wk__cpu_backend.submit(NULL, &c.w.work, &fail);
        if (code != (row->can_fault ? WK_ERR_INDEX : WK_OK)) fail_msg("%s: code %d", row->name, (int)code);
    }
}

/* A family that accumulates adds zeros to sevens and leaves 7; others leave 0. */
static void accumulating_families(void **state)
{
    (void)state;
    on_cpu c;
    for (int family = 0; family < WK__WORK_FAMILIES; family++) {
        if (!make_cpu_work(&c, family, 7, 0)) continue;
        assert_int_equal(wk__cpu_backend.submit(NULL, &c.w.work, &fail), WK_OK);
        for (int k = 0; k < ELEMENTS; k++)
            assert_int_equal(c.number[0][k], wk__work_families[family].accumulates ? 7 : 0);
    }
    wk__cpu_matmul_trim();
}

/* The CPU runs an epilogue that adds 5, and the null device rejects it for all other families. */
static void families_with_epilogues(void **state)
{
    (void)state;
    on_cpu c;
    void *null;
    assert_int_equal(wk__null_backend.open(0, &null, &fail), WK_OK);
    for (int family = 0; family < WK__WORK_FAMILIES; family++) {
        const wk__work_family *row = &wk__work_families[family];
        wk__program tail;
        if (!make_cpu_work(&c, family, 0, 0) || row->is_program) continue;
        ir_space(&tail, 2, c.w.kernel.shape, 0);
        const int out = ir_operand(&tail, WK_I64, &c.memory[0], 0, c.w.kernel.operand[0].stride);
        const int sum = ir_binary(&tail, WK__ADD, ir_load(&tail, out), ir_imm(&tail, WK_I64, (wk__imm){.i = 5}));
        ir_store(&tail, out, sum);
        c.w.work.program = &tail;
        assert_int_equal(wk__null_backend.submit(null, &c.w.work, &fail),
                         row->can_have_epilogue ? WK_OK : WK_ERR_INTERNAL);
        if (!row->can_have_epilogue) {
            assert_string_equal(fail.text, "null: an epilogue of work that does not support one");
            assert_int_not_equal(family, WK__CONTRACTION);
            continue;
        }
        assert_int_equal(wk__cpu_backend.submit(NULL, &c.w.work, &fail), WK_OK);
        for (int k = 0; k < ELEMENTS; k++) assert_int_equal(c.number[0][k], 5);
    }
    wk__cpu_matmul_trim();
    wk__null_log_clear();
    wk__null_backend.close(null);
}

/* ---- work that the null device rejects --------------------------------------------------------------------------- */

static wk_code submit_with(void *null, const family_work *w, int mode, int operand, wk_dtype dtype)
{
    wk__work_args kernel = w->kernel;
    kernel.mode = mode;
    kernel.operand[operand].dtype = (uint8_t)dtype;
    return wk__null_backend.submit(null, &(wk__work){.family = w->work.family, .args = &kernel}, &fail);
}

/* Valid modes are below nmodes; the result and one operand have the same dtype; indices are i64. */
static void modes_and_dtypes_are_checked(void **state)
{
    (void)state;
    static const struct {
        int family, modes, like, places;
    } rows[] = {
        {WK__SCATTER_ADD, 1, 2, 1},        {WK__SCAN, 2, 1, 0},         {WK__SORT, 2, 2, 1}, {WK__ATTENTION, 4, 2, 0},
        {WK__ATTENTION_BACKWARD, 4, 3, 0}, {WK__NORM_BACKWARD, 4, 3, 0}};
    void *null;
    on_cpu c;
    assert_int_equal(wk__null_backend.open(0, &null, &fail), WK_OK);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const family_work *w = &c.w;
        const int like = rows[k].like, places = rows[k].places;
        make_cpu_work(&c, rows[k].family, 0, 0);
        for (int mode = 0; mode < rows[k].modes; mode++) assert_int_equal(submit_with(null, w, mode, 0, WK_I64), WK_OK);
        assert_int_equal(submit_with(null, w, rows[k].modes, 0, WK_I64), WK_ERR_INTERNAL);
        assert_int_equal(submit_with(null, w, -1, 0, WK_I64), WK_ERR_INTERNAL);
        assert_int_equal(submit_with(null, w, 0, like, WK_F64), WK_ERR_INTERNAL);
        if (places) assert_int_equal(submit_with(null, w, 0, places, WK_F64), WK_ERR_INTERNAL);
        assert_int_equal(wk__work_families[rows[k].family].same_dtype_operand, like);
        assert_int_equal(wk__work_families[rows[k].family].nmodes, rows[k].modes);
    }
    wk__null_log_clear();
    wk__null_backend.close(null);
}

/* Rejects an invalid dimension if the family works along one, and a different dtype of the result if it must equal an
 * operand's. */
static void dimensions_and_results_are_checked(void **state)
{
    (void)state;
    void *null;
    on_cpu c;
    assert_int_equal(wk__null_backend.open(0, &null, &fail), WK_OK);
    for (int family = 0; family < WK__WORK_FAMILIES; family++) {
        const wk__work_family *row = &wk__work_families[family];
        make_cpu_work(&c, family, 0, 0);
        if (row->is_program || row->is_transfer) continue;
        assert_int_equal(submit_with(null, &c.w, 0, 0, WK_F64), row->same_dtype_operand ? WK_ERR_INTERNAL : WK_OK);
        c.w.kernel.dim = WK__MAX_DIMS;
        assert_int_equal(submit_with(null, &c.w, 0, 0, WK_I64), row->is_along_dim ? WK_ERR_INTERNAL : WK_OK);
    }
    wk__null_log_clear();
    wk__null_backend.close(null);
}

/* Rejects operands that end after their memory, and a missing program. */
static void memory_of_operands_is_checked(void **state)
{
    (void)state;
    void *null;
    on_cpu c;
    assert_int_equal(wk__null_backend.open(0, &null, &fail), WK_OK);
    for (int family = 0; family < WK__WORK_FAMILIES; family++) {
        const wk__work_family *row = &wk__work_families[family];
        make_cpu_work(&c, family, 0, 0);
        if (row->is_program || row->is_transfer) continue;
        for (int o = 0; o < OPERANDS && c.w.kernel.operand[o].memory; o++) {
            c.memory[o].bytes = 8;
            assert_int_equal(wk__null_backend.submit(null, &c.w.work, &fail), WK_ERR_INTERNAL);
            assert_string_equal(fail.text, "null: an operand that ends after its memory");
            c.memory[o].bytes = FAMILY_BYTES;
        }
        assert_int_equal(wk__null_backend.submit(null, &c.w.work, &fail), WK_OK);
    }
    assert_int_equal(wk__null_backend.submit(null, &(wk__work){.family = WK__PROGRAM}, &fail), WK_ERR_INTERNAL);
    assert_string_equal(fail.text, "null: no program");
    wk__null_log_clear();
    wk__null_backend.close(null);
}

static void expect_null_answer(void *null, const family_work *w, const char *text)
{
    assert_int_equal(wk__null_backend.submit(null, &w->work, &fail), text ? WK_ERR_INTERNAL : WK_OK);
    if (text) assert_string_equal(fail.text, text);
}

/* Rows are contiguous except those of masks, results row-major; also if the space is empty, because operands without
 * the empty dimension are still written. Work in f32 uses half of the memory. */
static void strides_of_attention_are_checked(void **state)
{
    (void)state;
    static const int results[] = {2, 3}, mask[] = {5, 6};
    void *null;
    on_cpu c;
    assert_int_equal(wk__null_backend.open(0, &null, &fail), WK_OK);
    for (int k = 0; k < 2; k++) {
        for (int o = 0; o < OPERANDS; o++) c.memory[o] = (wk__memory){.block = c.number[o], .bytes = FAMILY_BYTES};
        family_work_of(&c.w, k ? WK__ATTENTION_BACKWARD : WK__ATTENTION, WK_F32, WK__LAYOUT_STRIDES, c.memory);
        expect_null_answer(null, &c.w, NULL);
        for (int o = 0; o < OPERANDS && c.w.kernel.operand[o].memory; o++) {
            wk__operand *operand = &c.w.kernel.operand[o];
            const wk__operand was = *operand;
            int64_t *column = operand->stride[2] == 1 ? &operand->stride[2] : &operand->stride[3];
            if (*column == 1) {
                *column = 2;
                expect_null_answer(null, &c.w,
                                   o == mask[k] ? NULL : "null: an operand of attention whose rows are not contiguous");
            }
            *operand = was;
            operand->stride[0] *= 2;
            operand->stride[1] *= 2;
            expect_null_answer(null, &c.w, o < results[k] ? "null: a result of attention that is not row-major" : NULL);
            *operand = was;
        }
    }
    c.w.kernel.shape[0] = 0; /* no queries: the gradients of key and value are set to 0 */
    expect_null_answer(null, &c.w, NULL);
    c.memory[1].bytes = 8;
    expect_null_answer(null, &c.w, "null: an operand that ends after its memory");
    wk__null_log_clear();
    wk__null_backend.close(null);
}

/* Rows consist of blocks at even offsets and are contiguous, the result is row-major. */
static void blocks_are_checked(void **state)
{
    (void)state;
    enum { R, O, I, B };
    void *null;
    on_cpu c;
    assert_int_equal(wk__null_backend.open(0, &null, &fail), WK_OK);
    make_cpu_work(&c, WK__QUANTIZED, 0, 0);
    wk__work_args *k = &c.w.kernel;
    expect_null_answer(null, &c.w, NULL);
    k->mode = WK_BLOCKS_Q4_0;
    expect_null_answer(null, &c.w, "null: rows with a part of a block");
    k->mode = WK__BLOCK_OP_FORMATS;
    expect_null_answer(null, &c.w, "null: an unknown mode");
    k->mode = WK_BLOCKS_Q8_0;
    k->operand[2].dtype = WK_I8;
    expect_null_answer(null, &c.w, "null: blocks with a dtype other than u8");
    k->operand[2].dtype = WK_U8;
    k->operand[1].dtype = WK_F32;
    expect_null_answer(null, &c.w, "null: operands with different dtypes");
    k->operand[0].dtype = WK_F32;
    expect_null_answer(null, &c.w, NULL);
    k->operand[1].stride[I] = 2;
    expect_null_answer(null, &c.w, "null: rows that are not contiguous");
    k->operand[1].stride[I] = 1;
    k->operand[2].stride[O] = -34;
    expect_null_answer(null, &c.w, "null: an operand that starts before its memory");
    k->operand[2].stride[O] = 33;
    expect_null_answer(null, &c.w, "null: blocks at an odd offset");
    k->operand[2].stride[O] = 34;
    k->operand[2].offset = 1;
    expect_null_answer(null, &c.w, "null: blocks at an odd offset");
    k->operand[2].offset = 0;
    k->shape[R] = 2;
    expect_null_answer(null, &c.w, "null: a result that is not row-major");
    k->ndim = 3;
    expect_null_answer(null, &c.w, "null: a number of dimensions other than 4");
    wk__null_log_clear();
    wk__null_backend.close(null);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_match_operands),
        cmocka_unit_test(names_are_distinct),
        cmocka_unit_test(families_that_check_indices),
        cmocka_unit_test(accumulating_families),
        cmocka_unit_test(families_with_epilogues),
        cmocka_unit_test(modes_and_dtypes_are_checked),
        cmocka_unit_test(dimensions_and_results_are_checked),
        cmocka_unit_test(memory_of_operands_is_checked),
        cmocka_unit_test(strides_of_attention_are_checked),
        cmocka_unit_test(blocks_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
