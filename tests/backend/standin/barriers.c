/* SPDX-License-Identifier: Apache-2.0 */
/* Removes the barriers from the kernels that GPU backends print, one at a time: each time, the stand-in must reject the
 * kernel or the result must differ. */
#include "backend.h"

#include "support/turns.h"
#include "support/gpu/gpu_cases.h"
#include "support/group/epilogues.h"

static void good(wk_code code, const wk__fail *fail)
{
    if (code != WK_OK) fail_msg("%s", fail->text);
}

/* ---- source ------------------------------------------------------------------------------------------------------ */

static int without = -1; /* number of the removed barrier; -1: none */
static int barriers;     /* maximum number in a source */

/* Finds the next barrier; the prelude defines the macro once. */
static char *next_barrier(char *text)
{
    while ((text = strstr(text, "BARRIER")) != NULL) {
        if (strncmp(text - 8, "#define ", 8) != 0) return text;
        text++;
    }
    return NULL;
}

static wk_code build_without(void *device, const char *source, void **program, wk__text *binary, wk__fail *fail)
{
    char *text = strdup(source);
    int count = 0;
    for (char *p = text; (p = next_barrier(p)) != NULL; p++, count++)
        if (count == without) memset(p, ' ', strlen("BARRIER"));
    if (count > barriers) barriers = count;
    wk_code code = standin_compiler.compile(device, text, program, binary, fail);
    free(text);
    return code;
}

static void *open_fresh(void)
{
    static wk__gpu_compiler compiler;
    void *device;
    wk__fail fail;
    compiler = standin_compiler;
    compiler.compile = build_without;
    good(standin.open(0, &device, &fail), &fail);
    ((standin_device *)device)->kernel_cache.compiler = &compiler;
    return device;
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

/* Returns true if the result is correct. */
typedef bool try(void *device);

static bool run_case(void *device, group_case *c)
{
    wk__fail fail;
    bool right = group_case_run(c, &standin, device, &fail) == WK_OK;
    right = right && group_case_check(c, &standin, device) == NULL;
    group_case_free(c);
    return right;
}

/* Sums rows that are contiguous, or strided side by side; or sums the differences from the maximum. */
static bool sum(void *device, int64_t rows, int64_t columns, bool side_by_side, bool two)
{
    const int64_t *stride = side_by_side ? (int64_t[]){1, rows} : (int64_t[]){columns, 1};
    group_case *c = group_case_new("sum", 2, (int64_t[]){rows, columns}, 1);
    int x = ir_load(&c->g, group_case_operand(c, WK_F32, stride, FILL_SUM, 0));
    if (two) x = ir_binary(&c->g, WK__SUB, x, ir_unary(&c->g, WK__RMAX, x));
    ir_store(&c->g, group_case_dense(c, WK_F32, true, FILL_ONES), ir_unary(&c->g, WK__RSUM, x));
    return run_case(device, c);
}

static bool sum_of_rows(void *device)
{
    return sum(device, 5, 1100, false, false);
}

static bool two_sums(void *device)
{
    return sum(device, 5, 1100, false, true);
}

static bool sum_of_neighbours(void *device)
{
    return sum(device, 40, 100, true, false);
}

static bool two_sums_of_neighbours(void *device)
{
    return sum(device, 40, 100, true, true);
}

static bool sum_in_chunks(void *device)
{
    return sum(device, 2, 40000, false, false);
}

static bool product(void *device, epilogue_product of)
{
    static char *want[EPILOGUE_PRODUCTS]; /* result with all barriers */
    char *got[EPILOGUE_MEMORIES];
    wk__fail fail;
    group_case_seed(7);
    epilogue_case *c = epilogue_case_new(of, EPILOGUE_ITSELF, WK_F32);
    good(epilogue_case_upload(c, &standin, device, &fail), &fail);
    bool right = standin.submit(device, &c->work, &fail) == WK_OK;
    right = epilogue_case_fetch(c, &standin, device, got, &fail) == WK_OK && right;
    if (without < 0 && right) {
        free(want[of]);
        want[of] = got[0];
        got[0] = NULL;
    }
    right = right && (without < 0 || memcmp(got[0], want[of], (size_t)c->bytes[0]) == 0);
    for (int m = 0; m < c->memories; m++) free(got[m]);
    epilogue_case_free(c);
    return right;
}

static bool product_in_tiles(void *device)
{
    return product(device, EPILOGUE_OF_BLOCKS);
}

static bool product_in_parts(void *device)
{
    return product(device, EPILOGUE_OF_PARTS);
}

static bool convolution_in_tiles(void *device)
{
    return product(device, EPILOGUE_OF_CONVOLUTION_TILES);
}

static bool product_of_lines(void *device)
{
    return product(device, EPILOGUE_OF_DOT);
}

/* Work along a line of i32, of which work-groups of 32, two rows of items, make several parts or tiles. */
static bool line(void *device, int family, int64_t length)
{
    enum { MOST = 1000 };
    int32_t x[MOST], got[MOST];
    wk__fail fail;
    wk__memory to, places, from;
    good(standin.block_alloc(device, sizeof x, &to, &fail), &fail);
    good(standin.block_alloc(device, 2 * sizeof x, &places, &fail), &fail);
    good(standin.block_alloc(device, sizeof x, &from, &fail), &fail);
    for (int k = 0; k < MOST; k++) x[k] = (int32_t)((uint32_t)k * 2654435761u);
    good(standin.upload(device, &from, 0, x, (int64_t)sizeof x, &fail), &fail);
    const wk__operand values = {.dtype = WK_I32, .memory = &to, .stride = {1}, .stored = true},
                      order = {.dtype = WK_I64, .memory = &places, .stride = {1}, .stored = true},
                      in = {.dtype = WK_I32, .memory = &from, .stride = {1}};
    wk__work_args kernel = {.ndim = 1, .shape = {length}, .operand = {values, in}};
    if (family == WK__SORT) kernel.operand[1] = order, kernel.operand[2] = in;
    const wk__gpu_target usual = standin_card.target;
    standin_card.target.group_size = 32;
    standin_card.target.item_line_max = 8;
    standin_card.target.chunk_columns = 500;
    const wk__work work = {.family = family, .args = &kernel};
    good(standin.compile_only(device, true, &fail), &fail); /* all kernels in one source */
    good(standin.submit(device, &work, &fail), &fail);
    bool right = standin.compile_only(device, false, &fail) == WK_OK && standin.submit(device, &work, &fail) == WK_OK;
    right = right && standin.download(device, got, &to, 0, 4 * length, &fail) == WK_OK;
    standin_card.target = usual;
    uint32_t sum = 0;
    for (int64_t k = 0; k < length && right; k++) {
        sum += (uint32_t)x[k];
        right = family == WK__SORT ? k == 0 || got[k - 1] <= got[k] : (uint32_t)got[k] == sum;
    }
    standin.block_free(device, &to);
    standin.block_free(device, &places);
    standin.block_free(device, &from);
    return right;
}

static bool scan_of_a_line(void *device)
{
    return line(device, WK__SCAN, 300);
}

static bool scan_in_parts(void *device)
{
    return line(device, WK__SCAN, 1000);
}

static bool sort_of_a_line(void *device)
{
    return line(device, WK__SORT, 100);
}

static bool sort_by_digits(void *device)
{
    return line(device, WK__SORT, 1000);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

/* Each source begins with the prelude's barriers: two of groups that combine partial results, two of strips. of_these
 * is the number of them that the run needs. It needs all later ones. number selects the try; every third one runs at a
 * time. */
static void each_barrier(int number, try *t, int of_these)
{
    enum { PRELUDE = 4, PARTS = 3 };
    if (!test_has_turn(number, PARTS)) return;
    standin_needed();
    int noticed = 0, count = 0;
    barriers = 0;
    for (without = -1; without < count; without++) {
        void *device = open_fresh();
        const bool right = t(device);
        standin.close(device);
        if (without < 0) {
            assert_true(right);
            count = barriers;
        } else if (right && without >= PRELUDE) {
            print_message("barrier %d of %d is not needed\n", without + 1, count);
        }
        noticed += without >= 0 && !right;
    }
    print_message("detected %d of %d\n", noticed, count);
    assert_true(count >= PRELUDE);
    assert_int_equal(noticed, count - PRELUDE + of_these);
}

/* The first of two barriers keeps apart threads that still read the results of the previous sum, if there is one. */
static void barriers_of_sums(void **state)
{
    (void)state;
    each_barrier(0, sum_of_rows, 1);
    each_barrier(1, two_sums, 2);
    each_barrier(2, sum_of_neighbours, 1);
    each_barrier(3, two_sums_of_neighbours, 2);
    each_barrier(4, sum_in_chunks, 1);
}

static void barriers_of_products(void **state)
{
    (void)state;
    each_barrier(5, product_in_tiles, 0);
    each_barrier(6, product_in_parts, 0);
    each_barrier(7, convolution_in_tiles, 0);
    each_barrier(8, product_of_lines, 1);
}

static void barriers_of_scans_and_sorts(void **state)
{
    (void)state;
    each_barrier(9, scan_of_a_line, 0);
    each_barrier(10, scan_in_parts, 0);
    each_barrier(11, sort_of_a_line, 0);
    each_barrier(12, sort_by_digits, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(barriers_of_sums), cmocka_unit_test(barriers_of_products),
                                       cmocka_unit_test(barriers_of_scans_and_sorts)};
    return cmocka_run_group_tests(tests, standin_open, NULL);
}
