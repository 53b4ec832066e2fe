/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers to and from device memory, index faults, and memory that must not change after a fault. */
#include "test.h"

#include "base/alloc.h"
#include "support/work.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static void good(wk_code code, const wk__fail *fail)
{
    if (code != WK_OK) fail_msg("%s", fail->text);
}

static wk__memory take(void *device, int64_t bytes)
{
    wk__memory memory;
    wk__fail fail;
    good(gpu->block_alloc(device, bytes, &memory, &fail), &fail);
    return memory;
}

static void pattern(uint8_t *bytes, int64_t count, int seed)
{
    for (int64_t k = 0; k < count; k++) bytes[k] = (uint8_t)(k * 31 + k / 251 + seed);
}

static void round_trips(void **state)
{
    (void)state;
    static const int64_t sizes[] = {0, 1, 7, 4096, 1000003, 9 << 20};
    uint8_t *out = malloc(9 << 20), *in = malloc(9 << 20);
    for (int d = 0; d < gpu_devices; d++) {
        void *device = gpu_device[d];
        wk__memory a = take(device, (9 << 20) + 4096), b = take(device, (9 << 20) + 4096);
        for (int k = 0; k < 6; k++) {
            wk__fail fail;
            pattern(out, sizes[k], k);
            good(gpu->upload(device, &a, 33, out, sizes[k], &fail), &fail);
            memset(out, 0, (size_t)sizes[k]); /* the caller may reuse it */
            good(gpu->copy(device, &b, 5, &a, 33, sizes[k], &fail), &fail);
            memset(in, 0xee, (size_t)sizes[k]);
            good(gpu->download(device, in, &b, 5, sizes[k], &fail), &fail);
            pattern(out, sizes[k], k);
            assert_memory_equal(in, out, (size_t)sizes[k]);
        }
        gpu->block_free(device, &a);
        gpu->block_free(device, &b);
        assert_null(a.block);
    }
    free(out);
    free(in);
}

/* More than the queue can hold, in bytes and in commands: the caller waits, and nothing is lost. */
static void back_pressure(void **state)
{
    (void)state;
    static uint8_t bytes[1 << 20], back[1 << 20];
    for (int d = 0; d < gpu_devices; d++) {
        void *device = gpu_device[d];
        wk__fail fail;
        wk__memory memory = take(device, sizeof bytes);
        for (int k = 0; k < 200; k++) {
            bytes[k] = (uint8_t)(k + 1);
            good(gpu->upload(device, &memory, 0, bytes, sizeof bytes, &fail), &fail);
        }
        for (int k = 0; k < 5000; k++) good(gpu->upload(device, &memory, k, &bytes[k % 200], 1, &fail), &fail);
        good(gpu->download(device, back, &memory, 0, sizeof back, &fail), &fail);
        for (int k = 0; k < 5000; k++) assert_int_equal(back[k], bytes[k % 200]);
        gpu->block_free(device, &memory);
    }
}

/* ---- between devices --------------------------------------------------------------------------------------------- */

enum { PARCEL = 40 << 20 };

typedef struct trip {
    void *from, *to;
    int seed;
    bool good;
} trip;

static void *transfer_repeatedly(void *user)
{
    trip *t = user;
    wk__fail fail;
    uint8_t *bytes = malloc(PARCEL), *back = malloc(PARCEL);
    t->good = true;
    for (int round = 0; round < 3 && t->good; round++) {
        wk__memory a, b;
        pattern(bytes, PARCEL, t->seed + round);
        t->good = gpu->block_alloc(t->from, PARCEL, &a, &fail) == WK_OK &&
                  gpu->block_alloc(t->to, PARCEL, &b, &fail) == WK_OK &&
                  gpu->upload(t->from, &a, 0, bytes, PARCEL, &fail) == WK_OK &&
                  gpu->transfer(t->to, &b, t->from, &a, 0, PARCEL, &fail) == WK_OK;
        if (!t->good) break;
        gpu->block_free(t->from, &a); /* while the copy is in progress */
        t->good = gpu->download(t->to, back, &b, 0, PARCEL, &fail) == WK_OK && memcmp(bytes, back, PARCEL) == 0;
        gpu->block_free(t->to, &b);
    }
    free(bytes);
    free(back);
    return NULL;
}

/* In both directions at once, from two threads: the devices must not deadlock. */
static void transfers(void **state)
{
    (void)state;
    if (gpu_devices < 2) skip();
    trip trips[4];
    pthread_t thread[4];
    for (int k = 0; k < 4; k++) {
        trips[k] = (trip){.from = gpu_device[k % 2], .to = gpu_device[1 - k % 2], .seed = 10 * k};
        assert_int_equal(pthread_create(&thread[k], NULL, transfer_repeatedly, &trips[k]), 0);
    }
    for (int k = 0; k < 4; k++) pthread_join(thread[k], NULL);
    for (int k = 0; k < 4; k++) assert_true(trips[k].good);
}

static void too_large(void **state)
{
    (void)state;
    wk__memory memory;
    wk__fail fail;
    assert_int_equal(gpu->block_alloc(gpu_device[0], (int64_t)1 << 50, &memory, &fail), WK_ERR_MEMORY);
    assert_non_null(strstr(fail.text, gpu->kind == WK_CUDA ? "out of memory" : "exceeds the maximum"));
}

/* ---- faults ------------------------------------------------------------------------------------------------------ */

/* out = table[index] (+ out if in_place), for 9 elements. */
static group_case *lookup(const char *name, int64_t count, bool in_place)
{
    group_case *c = group_case_new(name, 1, (int64_t[]){count}, 0);
    int index = group_case_dense(c, WK_I64, false, FILL_ONES);
    int table = group_case_operand(c, WK_F32, (int64_t[]){0}, FILL_ONES, 9 * 3);
    int out = group_case_dense(c, WK_F32, false, FILL_ONES);
    group_case_index(c, index, -9, 9);
    c->g.imm[0].i = 9;
    c->g.imm[1].i = 3;
    c->g.nimms = 2;
    int r = ir_ins(&c->g, WK__LOADX, WK_F32, ir_load(&c->g, index), table, 0);
    if (in_place) r = ir_binary(&c->g, WK__ADD, ir_load(&c->g, out), r);
    ir_store(&c->g, out, r);
    return c;
}

static void run_and_check(group_case *c, void *device)
{
    wk__fail fail;
    good(group_case_run(c, gpu, device, &fail), &fail);
    const char *wrong = group_case_check(c, gpu, device);
    if (wrong != NULL) fail_msg("%s", wrong);
    group_case_free(c);
}

static void lookups(void **state)
{
    (void)state;
    for (int d = 0; d < gpu_devices; d++) {
        run_and_check(lookup("look-up", 1000, false), gpu_device[d]);
        run_and_check(lookup("look-up in place", 1000, true), gpu_device[d]);
    }
}

/* The fault is reported once, with tag, index and bound; valid indices were read, invalid ones yield 0. */
static void bad_index(void **state)
{
    (void)state;
    static const int64_t bad[] = {9, -10, INT64_MAX, INT64_MIN};
    for (int d = 0; d < gpu_devices; d++) {
        void *device = gpu_device[d];
        for (int k = 0; k < 4; k++) {
            group_case *c = lookup("bad index", 100, false);
            ((int64_t *)(void *)c->data[0])[group_case_origin(c, 0) + 50] = bad[k];
            wk__fail fail;
            good(group_case_run(c, gpu, device, &fail), &fail);
            assert_int_equal(gpu->sync(device, &fail), WK_ERR_INDEX);
            assert_int_equal(fail.code, WK_ERR_INDEX);
            assert_true(fail.tag == c->g.tag && fail.index == bad[k] && fail.bound == 9);
            assert_non_null(strstr(fail.text, "size 9"));
            good(gpu->sync(device, &fail), &fail);
            const char *wrong = group_case_check(c, gpu, device);
            if (wrong != NULL) fail_msg("%s", wrong);
            group_case_free(c);
        }
    }
}

/* One bad index of many, in the same program as the target of an in-place write: no element changes. */
static void no_partial_writes(void **state)
{
    (void)state;
    for (int d = 0; d < gpu_devices; d++) {
        void *device = gpu_device[d];
        group_case *c = lookup("half done", 5000, true);
        ((int64_t *)(void *)c->data[0])[group_case_origin(c, 0) + 4999] = 77;
        wk__fail fail;
        good(group_case_run(c, gpu, device, &fail), &fail);
        float *back = malloc((size_t)c->elements[2] * sizeof *back);
        assert_int_equal(gpu->download(device, back, &c->memory[2], 0, c->elements[2] * 4, &fail), WK_ERR_INDEX);
        assert_true(fail.index == 77);
        good(gpu->download(device, back, &c->memory[2], 0, c->elements[2] * 4, &fail), &fail);
        assert_memory_equal(back, c->data[2], (size_t)c->elements[2] * 4);
        free(back);
        for (int k = 0; k < 3; k++) gpu->block_free(device, &c->memory[k]);
        group_case_free(c);
    }
}

/* x += 1, twice: skipped before the fault was reported, effective afterwards. */
static void in_place_after_a_fault(void **state)
{
    (void)state;
    for (int d = 0; d < gpu_devices; d++) {
        void *device = gpu_device[d];
        wk__fail fail;
        float back[200];
        group_case *c = group_case_new("add one", 1, (int64_t[]){10}, 0);
        int x = group_case_dense(c, WK_F32, false, FILL_ONES);
        ir_store(&c->g, x, ir_binary(&c->g, WK__ADD, ir_load(&c->g, x), ir_imm(&c->g, WK_F32, (wk__imm){.f = 1})));
        good(group_case_run(c, gpu, device, &fail), &fail); /* uploads, and runs once */

        group_case *bad = lookup("bad", 10, false);
        ((int64_t *)(void *)bad->data[0])[group_case_origin(bad, 0)] = 9;
        good(group_case_run(bad, gpu, device, &fail), &fail);
        good(submit_program(gpu, device, &c->g, &fail), &fail);
        assert_int_equal(gpu->download(device, back, &c->memory[0], 0, c->elements[0] * 4, &fail), WK_ERR_INDEX);
        int64_t at = group_case_origin(c, x);
        float before = ((float *)(void *)c->data[0])[at];
        assert_true(back[at] == before + 1);
        good(submit_program(gpu, device, &c->g, &fail), &fail);
        good(gpu->download(device, back, &c->memory[0], 0, c->elements[0] * 4, &fail), &fail);
        assert_true(back[at] == before + 2);
        for (int k = 0; k < 3; k++) gpu->block_free(device, &bad->memory[k]);
        gpu->block_free(device, &c->memory[0]);
        group_case_free(c);
        group_case_free(bad);
    }
}

/* ---- host memory ------------------------------------------------------------------------------------------------- */

/* Each host allocation fails once in turn: an error that says so, at the call or at the next wait, no leak, and the
 * device works afterwards. */
static void failed_allocations(void **state)
{
    (void)state;
    bool failed = true;
    for (int n = 1; failed && n < 100; n++) {
        void *device = NULL;
        wk__fail fail = {.code = WK_OK};
        int64_t before = wk__alloc_count();
        wk__alloc_fail_at(n);
        wk_code code = gpu->open(0, &device, &fail);
        if (code != WK_OK) {
            assert_int_equal(code, WK_ERR_MEMORY);
            wk__alloc_fail_at(0);
            continue;
        }
        group_case *c = lookup("short of memory", 100, true);
        code = group_case_run(c, gpu, device, &fail);
        if (code == WK_OK) code = gpu->sync(device, &fail);
        failed = wk__alloc_count() - before >= n;
        wk__alloc_fail_at(0);
        if (code != WK_OK) assert_int_equal(code, WK_ERR_MEMORY);
        for (int k = 0; k < 3; k++) {
            if (c->memory[k].block != NULL) gpu->block_free(device, &c->memory[k]);
        }
        run_and_check(lookup("afterwards", 100, true), device);
        group_case_free(c);
        gpu->close(device);
    }
    assert_false(failed); /* all allocations have been tried */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips),
        cmocka_unit_test(back_pressure),
        cmocka_unit_test(transfers),
        cmocka_unit_test(too_large),
        cmocka_unit_test(lookups),
        cmocka_unit_test(bad_index),
        cmocka_unit_test(no_partial_writes),
        cmocka_unit_test(in_place_after_a_fault),
        cmocka_unit_test(failed_allocations),
    };
    return cmocka_run_group_tests(tests, gpu_open, gpu_close);
}
