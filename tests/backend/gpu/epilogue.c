/* SPDX-License-Identifier: Apache-2.0 */
/* Epilogues fused into a product's kernel on GPUs: the same bits as with two kernels, one launch less, and no unused
 * result is written. */
#include "test.h"

#include "backend/gpu/codegen/codegen_epilogue.h"
#include "support/turns.h"
#include "support/devices.h"
#include "support/driver_faults.h"
#include "support/group/epilogues.h"

#include <stdio.h>
#include <string.h>

static void good(wk_code code, const wk__fail *fail)
{
    if (code != WK_OK) fail_msg("%s", fail->text);
}

static int open_and_count(void **state)
{
    gpu_open_one(state);
    driver_install_hooks(gpu->kind);
    return 0;
}

/* ---- backends ---------------------------------------------------------------------------------------------------- */

enum { ALWAYS = 0, NEVER = 255 /* values of fuse_epilogue_after */ };

static void submit(int d, epilogue_case *c, int fuse_after)
{
    wk__fail fail;
    void *device = gpu_device[d];
    gpu_target(d)->fuse_epilogue_after = fuse_after;
    good(epilogue_case_upload(c, gpu, device, &fail), &fail);
    assert_null(wk__program_verify(&c->tail));
    good(gpu->submit(device, &c->work, &fail), &fail);
}

static void let_go(epilogue_case *c, char *got[])
{
    for (int m = 0; m < c->memories; m++) free(got[m]);
}

/* Runs the case and returns the number of launches. */
static int run(int d, epilogue_case *c, int fuse_after, char *got[])
{
    wk__fail fail;
    const int before = driver_launches();
    submit(d, c, fuse_after);
    good(gpu->sync(gpu_device[d], &fail), &fail);
    const int after = driver_launches();
    good(epilogue_case_fetch(c, gpu, gpu_device[d], got, &fail), &fail);
    return after - before;
}

static void compare(int d, epilogue_case *c)
{
    char *one[EPILOGUE_MEMORIES], *two[EPILOGUE_MEMORIES];
    const bool unread = c->kernel.elide_result && c->kind != EPILOGUE_SHARED;
    char name[80];
    snprintf(name, sizeof name, "product %d, tail %d, %s", (int)c->product, (int)c->kind, wk_dtype_str(c->dtype));
    const int apart = run(d, c, NEVER, two), together = run(d, c, ALWAYS, one);
    if (apart != 2 || together != 1) fail_msg("%s: %d launches, %d when fused", name, apart, together);
    for (int m = 0; m < c->memories; m++) {
        const char *want = m == 0 && unread ? c->host[m] : two[m];
        if (memcmp(one[m], want, (size_t)c->bytes[m]) != 0) fail_msg("%s: memory %d differs", name, m);
    }
    bool changed = false; /* otherwise the test would compare nothing */
    for (int m = 0; m < c->memories; m++) changed = changed || memcmp(one[m], c->host[m], (size_t)c->bytes[m]) != 0;
    assert_true(changed);
    let_go(c, one);
    let_go(c, two);
}

/* Compiling all combinations would take minutes: epilogues that resemble others are tested in a few dtypes, and so are
 * large products and those of work-groups; each run tests one half. */
static bool is_wanted(epilogue_product product, epilogue_kind kind, wk_dtype dtype)
{
    const bool few = dtype == WK_F32 || dtype == WK_F16 || dtype == WK_I64;
    /* in an even and an odd part of four, so that each device runs both */
    const int half = ((int)product + (int)kind) % 2;
    if (!test_has_turn(2 * half, 4) && !test_has_turn(2 * half + 1, 4)) return false;
    if (product == EPILOGUE_OF_SMALL || product == EPILOGUE_OF_CONVOLUTION) return few || kind == EPILOGUE_SEVERAL;
    return dtype == WK_F32 || (few && kind == EPILOGUE_SEVERAL);
}

static epilogue_case *cases[EPILOGUE_PRODUCTS * EPILOGUE_KINDS * WK_DTYPE_COUNT];
static int count;

static void make_cases(epilogue_product first, epilogue_product last)
{
    count = 0;
    for (int product = (int)first; product <= (int)last; product++)
        for (int kind = 0; kind < EPILOGUE_KINDS; kind++)
            for (int dtype = WK_F32; dtype < WK_DTYPE_COUNT; dtype++) {
                if (!is_wanted((epilogue_product)product, (epilogue_kind)kind, (wk_dtype)dtype)) continue;
                cases[count] = epilogue_case_new((epilogue_product)product, (epilogue_kind)kind, (wk_dtype)dtype);
                count += cases[count] != NULL;
            }
}

static void free_cases(void)
{
    for (int k = 0; k < count; k++) epilogue_case_free(cases[k]);
}

/* With one build for all. */
static void compare_all(epilogue_product first, epilogue_product last)
{
    const int d = 0, fuse_after = gpu_target(d)->fuse_epilogue_after;
    wk__fail fail;
    char *got[EPILOGUE_MEMORIES];
    make_cases(first, last);
    good(gpu->compile_only(gpu_device[d], true, &fail), &fail);
    for (int k = 0; k < 2 * count; k++) {
        run(d, cases[k / 2], k % 2 ? ALWAYS : NEVER, got);
        let_go(cases[k / 2], got);
    }
    good(gpu->compile_only(gpu_device[d], false, &fail), &fail);
    for (int k = 0; k < count; k++) compare(d, cases[k]);
    gpu_target(d)->fuse_epilogue_after = fuse_after;
    free_cases();
}

static void element_by_element(void **state)
{
    (void)state;
    compare_all(EPILOGUE_OF_CONVOLUTION, EPILOGUE_OF_CONVOLUTION);
    compare_all(EPILOGUE_OF_SMALL, EPILOGUE_OF_SMALL);
}

static void large_products(void **state)
{
    (void)state;
    compare_all(EPILOGUE_OF_BLOCKS, EPILOGUE_OF_DOT);
}

/* Runs as a device of the other type: with tiles in local memory, or without. */
static void of_other_devices(void **state)
{
    (void)state;
    if (gpu->kind == WK_CUDA) skip(); /* every CUDA device has local memory */
    gpu_target(0)->local_memory = !gpu_target(0)->local_memory;
    compare_all(EPILOGUE_OF_BLOCKS, EPILOGUE_OF_TRANSPOSED);
    gpu_target(0)->local_memory = !gpu_target(0)->local_memory;
}

/* Epilogues that reduce, or overwrite elements chosen by indices, are not fused. */
static void unfused_epilogues(void **state)
{
    (void)state;
    epilogue_case *c = epilogue_case_new(EPILOGUE_OF_SMALL, EPILOGUE_RELU, WK_F32);
    assert_true(wk__gpu_can_fuse_epilogue(&c->work));
    c->tail.nreduce = 1;
    assert_false(wk__gpu_can_fuse_epilogue(&c->work));
    epilogue_case_free(c);
    c = epilogue_case_new(EPILOGUE_OF_SMALL, EPILOGUE_PLACES, WK_F32);
    assert_true(wk__gpu_can_fuse_epilogue(&c->work));
    c->tail.operand[c->tail.noperands - 1].skip_on_fault = true;
    assert_false(wk__gpu_can_fuse_epilogue(&c->work));
    c->tail.operand[c->tail.noperands - 1].skip_on_fault = false;
    for (int k = 0; k < c->tail.nins; k++)
        if (c->tail.ins[k].code == WK__LOADX) c->tail.ins[k].arg[1] = 0;
    assert_false(wk__gpu_can_fuse_epilogue(&c->work));
    c->work.program = NULL;
    assert_false(wk__gpu_can_fuse_epilogue(&c->work));
    epilogue_case_free(c);
}

/* A bad index in a fused epilogue is reported, and the product is computed. An epilogue that overwrites its input is
 * skipped from then on; its product is computed. */
static void bad_index(void **state)
{
    (void)state;
    for (int d = 0; d < gpu_devices; d++) {
        wk__fail fail;
        char *apart[EPILOGUE_MEMORIES], *bad[EPILOGUE_MEMORIES], *after[EPILOGUE_MEMORIES];
        epilogue_case *c = epilogue_case_new(EPILOGUE_OF_SMALL, EPILOGUE_PLACES, WK_F32);
        epilogue_case *over = epilogue_case_new(EPILOGUE_OF_SMALL, EPILOGUE_IN_PLACE, WK_F32);
        const int fuse_after = gpu_target(d)->fuse_epilogue_after;
        int64_t *index = (int64_t *)(void *)c->host[3];
        for (int64_t k = 0; k < c->bytes[3] / 8; k++) index[k] = 2;
        over->kernel.elide_result = false;
        run(d, c, NEVER, apart);
        index[16 + 4] = 77;
        c->tail.tag = 42;
        submit(d, c, ALWAYS);
        submit(d, over, ALWAYS);
        assert_int_equal(gpu->sync(gpu_device[d], &fail), WK_ERR_INDEX);
        assert_true(fail.tag == 42 && fail.index == 77 && fail.bound == 5);
        good(epilogue_case_fetch(c, gpu, gpu_device[d], bad, &fail), &fail);
        good(epilogue_case_fetch(over, gpu, gpu_device[d], after, &fail), &fail);
        assert_memory_equal(bad[0], apart[0], (size_t)c->bytes[0]);
        assert_memory_equal(after[3], over->host[3], (size_t)over->bytes[3]);
        assert_memory_not_equal(after[0], over->host[0], (size_t)over->bytes[0]);
        let_go(c, apart);
        let_go(c, bad);
        let_go(over, after);
        gpu_target(d)->fuse_epilogue_after = fuse_after;
        epilogue_case_free(c);
        epilogue_case_free(over);
    }
}

/* A product that is only compiled ahead does not count towards the threshold. No other test uses this pair before. */
static void gathering_does_not_count(void **state)
{
    (void)state;
    wk__fail fail;
    const int fuse_after = gpu_target(0)->fuse_epilogue_after;
    epilogue_case *c = epilogue_case_new(EPILOGUE_OF_SMALL, EPILOGUE_RELU, WK_I32);
    char *got[EPILOGUE_MEMORIES];
    good(gpu->compile_only(gpu_device[0], true, &fail), &fail);
    for (int k = 0; k < 5; k++) {
        run(0, c, 2, got);
        let_go(c, got);
    }
    good(gpu->compile_only(gpu_device[0], false, &fail), &fail);
    for (int k = 0; k < 4; k++) {
        assert_int_equal(run(0, c, 2, got), k < 2 ? 2 : 1);
        let_go(c, got);
    }
    gpu_target(0)->fuse_epilogue_after = fuse_after;
    epilogue_case_free(c);
}

/* ---- the library ------------------------------------------------------------------------------------------------- */

enum { ROWS = 19, COLUMNS = 21, DEPTH = 8, MOST_BYTES = ROWS * COLUMNS * 8 };

/* relu(x w + bias). With product, the program keeps the product as well. one_by_one: nothing is fused. */
static wk_tensor *layer(wk_tensor *const in[3], wk_tensor **product, bool one_by_one)
{
    wk_tensor *sum;
    if (product) {
        *product = wk_matmul(in[0], wk_transpose(in[1], 0, 1));
        if (one_by_one) wk_sync();
        sum = wk_add(*product, in[2]);
    } else {
        sum = wk_linear(in[0], in[1], in[2]);
    }
    if (one_by_one) wk_sync();
    return wk_relu(sum);
}

static wk_tensor *some(wk_tensor *numbers, wk_dtype dtype)
{
    return wk_to_dtype(wk_mul(numbers, 3), dtype);
}

static void read_back(wk_tensor *x, char to[MOST_BYTES])
{
    wk_tensor *near = wk_to(x, wk_cpu());
    expect_ok();
    memset(to, 0, MOST_BYTES);
    memcpy(to, wk_data(near), (size_t)(wk_numel(near) * (int64_t)wk_dtype_size(wk_dtype_of(near))));
}

static void expect_layer(wk_dtype dtype, bool with_product)
{
    WK_SCOPE;
    WK_DEVICE(test_gpu(0));
    const int fuse_after = gpu_target(0)->fuse_epilogue_after;
    char want[2][MOST_BYTES], got[MOST_BYTES];
    wk_tensor *product, *const in[] = {some(wk_randn((ROWS, DEPTH)), dtype), some(wk_randn((COLUMNS, DEPTH)), dtype),
                                       some(wk_randn((COLUMNS)), dtype)};
    for (int k = 0; k < 3; k++) read_back(in[k], got); /* otherwise they would be computed together with the layer */
    read_back(layer(in, with_product ? &product : NULL, true), want[0]);
    if (with_product) read_back(product, want[1]);
    for (int step = 0; step < fuse_after + 2; step++) {
        const int before = driver_launches();
        read_back(layer(in, with_product ? &product : NULL, false), got);
        assert_int_equal(driver_launches() - before, step < fuse_after ? 2 : 1);
        assert_memory_equal(got, want[0], sizeof got);
        if (!with_product) continue;
        read_back(product, got);
        assert_memory_equal(got, want[1], sizeof got);
    }
}

/* One launch less after the layer has run often enough; the bits are always those of separate ops. */
static void after_threshold(void **state)
{
    (void)state;
    static const wk_dtype dtypes[] = {WK_F32, WK_F64, WK_F16, WK_BF16, WK_I32};
    assert_true(gpu_target(0)->fuse_epilogue_after > 1);
    for (size_t t = 0; t < sizeof dtypes / sizeof *dtypes; t++) {
        expect_layer(dtypes[t], true);
        if (t < 2) expect_layer(dtypes[t], false); /* narrow dtypes are not rounded in between, so they are cast */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gathering_does_not_count), cmocka_unit_test(element_by_element),
        cmocka_unit_test(large_products),           cmocka_unit_test(of_other_devices),
        cmocka_unit_test(unfused_epilogues),        cmocka_unit_test(bad_index),
        cmocka_unit_test(after_threshold),
    };
    return cmocka_run_group_tests(tests, open_and_count, gpu_close);
}
