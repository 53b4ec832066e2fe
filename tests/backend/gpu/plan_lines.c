/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of scans, sorts and scatter_add, by shape and kind of device. No device is opened. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/gpu/lower.h"
#include "backend/gpu/kernels/along_dim.h"

static wk__gpu_target card, processor, few_items;

typedef struct plan {
    char text[1024]; /* name:count of each launch */
    int64_t parts, scratch;
    int writes;
} plan;

static wk_code note(void *user, const wk__gpu_launch *launch, wk__fail *fail)
{
    plan *p = user;
    const size_t used = strlen(p->text);
    (void)fail;
    assert_true(launch->scratch == 0 || launch->spec.nmemory > 2);
    assert_true(launch->spec.narguments <= WK__GPU_TEMPLATE_ARGUMENTS);
    snprintf(p->text + used, sizeof p->text - used, "%s%s:%lld", used ? " " : "", launch->spec.source_template->name,
             (long long)launch->count);
    p->parts = launch->argument[WK__GPU_PARTS];
    if (launch->scratch > p->scratch) p->scratch = launch->scratch;
    p->writes += launch->writes;
    return WK_OK;
}

static plan plan_of(const wk__gpu_target *target, int family, wk_dtype dtype, int mode, int64_t outer, int64_t length,
                    int64_t inner)
{
    plan p = {0};
    wk__fail fail;
    wk__memory memory = {.block = &memory};
    wk__work_args kernel = {.ndim = 3, .dim = 1, .mode = mode, .shape = {outer, length, inner}, .bound = 1000};
    for (int k = 0; k < 3; k++)
        kernel.operand[k] =
            (wk__operand){.dtype = (uint8_t)dtype, .memory = &memory, .stride = {length * inner, inner, 1}};
    const wk__work work = {.family = family, .args = &kernel};
    assert_int_equal(wk__gpu_lower_work(target, &work, note, &p, &fail), WK_OK);
    assert_true(p.text[0] == '\0' || p.writes == 1); /* an incomplete plan has written nothing, a complete one has */
    return p;
}

static void launches(void **state)
{
    (void)state;
    static const struct {
        const wk__gpu_target *target;
        int family;
        wk_dtype dtype;
        int mode;
        int64_t outer, length, inner;
        const char *launches;
    } cases[] = {
        {&card, WK__SCAN, WK_F32, 0, 3, 64, 1, "scan:3"},
        {&card, WK__SCAN, WK_F32, 0, 3, 65, 1, "scan_tiled:3"},
        {&card, WK__SCAN, WK_F32, 0, 3, 0, 1, "scan:3"},
        {&card, WK__SCAN, WK_F32, 0, 0, 65, 1, ""},
        {&card, WK__SCAN, WK_F32, 0, 3, 16383, 1, "scan_tiled:3"},
        {&card, WK__SCAN, WK_F32, 0, 64, 16384, 1, "scan_tiled_sums:128 scan_tiled_offsets:64 scan_tiled_parts:128"},
        {&card, WK__SCAN, WK_F32, 0, 65, 16384, 1, "scan_tiled:65"},
        {&card, WK__SCAN, WK_F32, 0, 1, 1 << 24, 1, "scan_tiled_sums:2048 scan_tiled_offsets:1 scan_tiled_parts:2048"},
        {&card, WK__SCAN, WK_F32, 1, 1, 1 << 24, 1, "scan:1"},
        {&card, WK__SCAN, WK_BF16, 1, 1, 1 << 24, 1, "scan:1"},
        {&card, WK__SCAN, WK_I8, 1, 1, 300, 1, "scan_tiled:1"},
        {&card, WK__SCAN, WK_F32, 0, 1, 1000, 31, "scan_tiled:31"},
        {&card, WK__SCAN, WK_F32, 0, 1, 1000, 32, "scan_sums:480 scan_offsets:32 scan_parts:480"},
        {&card, WK__SCAN, WK_F32, 0, 1, 100, 32, "scan:32"},
        {&card, WK__SCAN, WK_F32, 0, 1, 1000, 4095, "scan_sums:16380 scan_offsets:4095 scan_parts:16380"},
        {&card, WK__SCAN, WK_F32, 0, 1, 1000, 4096, "scan:4096"},
        {&processor, WK__SCAN, WK_F32, 0, 1, 1 << 24, 1, "scan:1"},
        {&processor, WK__SCAN, WK_F32, 0, 1, 1000, 32, "scan:32"},
        {&card, WK__SORT, WK_F32, 0, 100, 10, 1, "sort_short:1"},
        {&card, WK__SORT, WK_F32, 0, 128, 16, 1, "sort_short:1"},
        {&card, WK__SORT, WK_F32, 0, 129, 16, 1, "sort_short:2"},
        {&card, WK__SORT, WK_F32, 0, 3, 2048, 1, "sort_short:3"},
        {&card, WK__SORT, WK_F64, 0, 3, 1024, 1, "sort_short:3"},
        {&card, WK__SORT, WK_I8, 0, 3, 2049, 1, "sort_count:6 sort_offsets:768 sort_move:6"},
        {&card, WK__SORT, WK_F16, 0, 1, 4097, 1,
         "sort_count:3 sort_offsets:256 sort_move:3 sort_count:3 sort_offsets:256 sort_move:3"},
        {&card, WK__SORT, WK_F32, 0, 1, 0, 1, ""},
        {&processor, WK__SORT, WK_F32, 0, 3, 16, 1, "sort_start:3 sort_finish:48"},
        {&processor, WK__SORT, WK_F32, 0, 3, 17, 1, "sort_short:1"},
        {&processor, WK__SORT, WK_F32, 0, 1, 2048, 1, "sort_short:1"},
        {&processor, WK__SORT, WK_I8, 0, 1, 65536, 1, "sort_count:32 sort_offsets:256 sort_move:32"},
        {&few_items, WK__SCAN, WK_F32, 0, 1, 1 << 24, 1, "scan:1"},
        {&few_items, WK__SORT, WK_F32, 0, 3, 33, 1, "sort_start:9 sort_merge:99 sort_merge:99 sort_finish:99"},
        {&card, WK__SCATTER_ADD, WK_F32, 0, 1, 8192, 768, "scatter_add_check:6291456 scatter_add:49152"},
        {&card, WK__SCATTER_ADD, WK_F32, 0, 1, 15, 1, "scatter_add_check:15 scatter_add:1"},
        {&card, WK__SCATTER_ADD, WK_F32, 0, 1, 16, 1, "scatter_add_check:16 scatter_add:2"},
        {&card, WK__SCATTER_ADD, WK_F32, 0, 1, 1 << 20, 1, "scatter_add_check:1048576 scatter_add:512"},
        {&card, WK__SCATTER_ADD, WK_F32, 0, 1, 100, 32769, "scatter_add_check:3276900 scatter_add:32769"},
        {&processor, WK__SCATTER_ADD, WK_F32, 0, 1, 8192, 768, "scatter_add_check:6291456 scatter_add:768"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const plan p = plan_of(cases[k].target, cases[k].family, cases[k].dtype, cases[k].mode, cases[k].outer,
                               cases[k].length, cases[k].inner);
        if (strcmp(p.text, cases[k].launches) != 0) fail_msg("case %zu: %s, not %s", k, p.text, cases[k].launches);
    }
    /* 4 digits; 8 of i64, of pairs of 12 bytes; positions of more than 32 bits are merge-sorted */
    const int64_t n = 100001, tiles = 49, wide_tiles = 98;
    assert_int_equal(plan_of(&card, WK__SORT, WK_F32, 0, 1, n, 1).scratch, 2 * 8 * n + 4 * 256 * (tiles + 1));
    assert_int_equal(plan_of(&card, WK__SORT, WK_I64, 0, 1, n, 1).scratch,
                     2 * (12 * n + 4) + 4 * 256 * (wide_tiles + 1));
    assert_int_equal(plan_of(&card, WK__SORT, WK_I8, 0, 1, n, 1).scratch, 4 * 256 * (tiles + 1));
    assert_int_equal(strncmp(plan_of(&card, WK__SORT, WK_I8, 0, 1, INT32_MAX, 1).text, "sort_count:", 11), 0);
    assert_int_equal(strncmp(plan_of(&card, WK__SORT, WK_I8, 0, 1, (int64_t)INT32_MAX + 1, 1).text, "sort_start:", 11),
                     0);
    assert_int_equal(strncmp(plan_of(&processor, WK__SORT, WK_F32, 0, 1, 2049, 1).text, "sort_start:", 11), 0);
    assert_int_equal(strncmp(plan_of(&processor, WK__SORT, WK_F32, 0, 1, 65535, 1).text, "sort_start:", 11), 0);
}

int main(void)
{
    card = few_items = wk__gpu_target_of(WK__GPU_CUDA, true);
    few_items.group_size = 8;
    processor = wk__gpu_target_of(WK__GPU_OPENCL, false);
    processor.has_f64 = true;
    const struct CMUnitTest tests[] = {cmocka_unit_test(launches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
