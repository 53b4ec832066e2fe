/* SPDX-License-Identifier: Apache-2.0 */
/* The null backend: its log of submitted work, its checks of that work, and the faults that tests inject. Also the CUDA
 * table of a build without CUDA. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "backend/arena/arena.h"
#include "backend/null/null.h"
#include "base/alloc.h"
#include "ir/build.h"
#include "support/work.h"

enum { MB = 1 << 20 };

static const wk__backend *const null = &wk__null_backend;

typedef struct fixture {
    void *device;
    wk__arena *arena;
    wk__memory a, b, c;
} fixture;

static fixture f;
static wk__fail fail;

static int set_up(void **state)
{
    (void)state;
    wk__null_clear_faults();
    wk__null_log_clear();
    wk__null_set_count(1);
    wk__null_set_memory(INT64_C(1) << 30);
    if (null->open(0, &f.device, &fail) != WK_OK) return 1;
    f.arena = wk__arena_new(null, f.device, INT64_MAX);
    wk_code code = wk__arena_alloc(f.arena, 4 * 8 * 4, &f.a, &fail);
    if (code == WK_OK) code = wk__arena_alloc(f.arena, 8 * 5 * 4, &f.b, &fail);
    if (code == WK_OK) code = wk__arena_alloc(f.arena, 4 * 8 * 4, &f.c, &fail);
    return code != WK_OK;
}

static int tear_down(void **state)
{
    (void)state;
    wk__arena_destroy(f.arena);
    null->close(f.device);
    wk__null_clear_faults();
    wk__null_log_clear();
    return 0;
}

/* c = softmax(a), 4 x 8 */
static wk__program softmax(void)
{
    wk__program g;
    ir_softmax(&g, 4, 8);
    g.operand[0].memory = &f.a;
    g.operand[1].memory = &f.c;
    return g;
}

/* c = a b with m 4, k 8, n 5 */
static wk__matmul product(void)
{
    wk__matmul p = {.m = 4, .n = 5, .k = 8};
    p.a = (wk__operand){.memory = &f.a, .dtype = WK_F32, .stride = {8, 1}};
    p.b = (wk__operand){.memory = &f.b, .dtype = WK_F32, .stride = {5, 1}};
    p.c = (wk__operand){.memory = &f.c, .dtype = WK_F32, .stride = {5, 1}};
    return p;
}

static void expect_plan(const char *expected)
{
    char *text = wk__null_log_text();
    assert_non_null(text);
    assert_string_equal(text, expected);
    wk__free(text);
}

/* ---- log --------------------------------------------------------------------------------------------------------- */

static const char softmax_text[] = "run\n"
                                   "space 4 x 8, last 1 reduced\n"
                                   "%0 f32 in, offset 0, strides 8 1\n"
                                   "%1 f32 out, offset 0, strides 8 1\n"
                                   "r0 f32 LOAD %0\n"
                                   "r1 f32 RMAX r0\n"
                                   "r2 f32 SUB r0 r1\n"
                                   "r3 f32 EXP r2\n"
                                   "r4 f32 RSUM r3\n"
                                   "r5 f32 DIV r3 r4\n"
                                   "STORE %1 r5\n";

static void logs_programs(void **state)
{
    (void)state;
    expect_plan("");
    wk__program g = softmax();
    g.tag = 7;
    assert_int_equal(submit_program(null, f.device, &g, &fail), WK_OK);
    wk__memory mine = f.c; /* the log must not refer to the caller's structs */
    f.c.offset = 12345;
    g.nins = 0;
    expect_plan(softmax_text);
    assert_int_equal(wk__null_log_count(WK__PROGRAM), 1);
    assert_int_equal(wk__null_log_count(WK__CONTRACTION), 0);
    const wk__program *kept = wk__null_log_program_at(0);
    assert_int_equal(kept->tag, 7);
    assert_int_equal(kept->nins, 7);
    assert_ptr_equal(kept->operand[1].memory->block, mine.block);
    assert_int_equal(kept->operand[1].memory->offset, mine.offset);
    assert_null(wk__null_log_program_at(1));
    assert_null(wk__null_log_work_at(WK__CONTRACTION, 0));
    wk__null_log_clear();
    assert_int_equal(wk__null_log_count(WK__PROGRAM), 0);
    expect_plan("");
}

static void logs_products(void **state)
{
    (void)state;
    wk__matmul p = product();
    assert_int_equal(submit_product(null, f.device, &p, &fail), WK_OK);
    wk__program relu;
    ir_space(&relu, 2, (const int64_t[]){4, 5}, 0);
    ir_dense(&relu, WK_F32, false);
    relu.operand[0].memory = &f.c;
    int zero = ir_imm(&relu, WK_F32, (wk__imm){.f = 0});
    ir_store(&relu, 0, ir_binary(&relu, WK__MAX, ir_load(&relu, 0), zero));
    p.epilogue = &relu;
    assert_int_equal(submit_product(null, f.device, &p, &fail), WK_OK);
    expect_plan("matmul f32 m 4 n 5 k 8\n"
                "matmul f32 m 4 n 5 k 8, then\n"
                "space 4 x 5\n"
                "%0 f32 out, offset 0, strides 5 1\n"
                "r0 f32 IMM 0\n"
                "r1 f32 LOAD %0\n"
                "r2 f32 MAX r1 r0\n"
                "STORE %0 r2\n");
    relu.nins = 0;
    assert_null(wk__null_log_work_at(WK__CONTRACTION, 0)->program);
    const wk__work *kept = wk__null_log_work_at(WK__CONTRACTION, 1);
    assert_int_equal(kept->program->nins, 4);
    assert_ptr_equal(kept->args->operand[1].memory->block, f.a.block);
    assert_null(wk__null_log_work_at(WK__CONTRACTION, 2));
}

static void logs_transfers_and_kernels(void **state)
{
    (void)state;
    char bytes[100];
    memset(bytes, 1, sizeof bytes);
    wk__work_args scan = {.ndim = 2, .dim = 1, .mode = 0, .shape = {4, 8}};
    scan.operand[0] = (wk__operand){.memory = &f.c, .dtype = WK_F32, .stride = {8, 1}};
    scan.operand[1] = (wk__operand){.memory = &f.a, .dtype = WK_F32, .stride = {8, 1}};
    assert_int_equal(null->upload(f.device, &f.a, 0, bytes, 100, &fail), WK_OK);
    assert_int_equal(submit_kernel(null, f.device, WK__SCAN, &scan, &fail), WK_OK);
    assert_int_equal(null->copy(f.device, &f.b, 0, &f.c, 28, 100, &fail), WK_OK);
    assert_int_equal(null->download(f.device, bytes, &f.b, 60, 100, &fail), WK_OK);
    assert_int_equal(null->sync(f.device, &fail), WK_OK);
    for (int k = 0; k < 100; k++) assert_int_equal(bytes[k], 0);
    expect_plan("upload 100 bytes\n"
                "kernel scan f32, dim 1, mode 0, space 4 x 8\n"
                "copy 100 bytes\n"
                "download 100 bytes\n"
                "sync\n");
    assert_int_equal(wk__null_log_count(WK__NULL_UPLOAD), 1);
    assert_int_equal(wk__null_log_count(WK__NULL_SYNC), 1);
}

static void expect_wrong(wk_code code, const char *text);

static void counts_beyond_the_log(void **state)
{
    (void)state;
    wk__program g = softmax();
    for (int k = 0; k < WK__NULL_KEPT + 10; k++) {
        g.tag = k;
        assert_int_equal(submit_program(null, f.device, &g, &fail), WK_OK);
    }
    assert_int_equal(wk__null_log_count(WK__PROGRAM), WK__NULL_KEPT + 10);
    assert_int_equal(wk__null_log_program_at(WK__NULL_KEPT - 1)->tag, WK__NULL_KEPT - 1);
    assert_null(wk__null_log_program_at(WK__NULL_KEPT));
}

static void *many_runs(void *group)
{
    wk__fail mine;
    for (int k = 0; k < 500; k++) submit_program(null, f.device, group, &mine);
    return NULL;
}

static void submissions_from_threads(void **state)
{
    (void)state;
    pthread_t thread[3];
    wk__program g = softmax();
    for (int k = 0; k < 3; k++) assert_int_equal(pthread_create(&thread[k], NULL, many_runs, &g), 0);
    for (int k = 0; k < 3; k++) pthread_join(thread[k], NULL);
    assert_int_equal(wk__null_log_count(WK__PROGRAM), 1500);
}

/* ---- invalid work ------------------------------------------------------------------------------------------------ */

static void expect_wrong(wk_code code, const char *text)
{
    assert_int_equal(code, WK_ERR_INTERNAL);
    assert_int_equal(fail.code, WK_ERR_INTERNAL);
    assert_string_equal(fail.text, text);
}

static void rejects_invalid_programs(void **state)
{
    (void)state;
    const char *after = "null: an operand that ends after its memory";
    wk__program g = softmax();
    g.ins[2].dtype = 0;
    expect_wrong(submit_program(null, f.device, &g, &fail), "null: a register with an invalid dtype");
    g = softmax();
    g.operand[0].offset = f.a.bytes / 4 - 31;
    expect_wrong(submit_program(null, f.device, &g, &fail), after);
    g.operand[0].offset--;
    assert_int_equal(submit_program(null, f.device, &g, &fail), WK_OK);
    g = softmax();
    g.operand[0].stride[0] = -8;
    expect_wrong(submit_program(null, f.device, &g, &fail), "null: an operand that starts before its memory");
    g.operand[0].offset = 24;
    assert_int_equal(submit_program(null, f.device, &g, &fail), WK_OK);
    g.operand[0].memory = NULL;
    expect_wrong(submit_program(null, f.device, &g, &fail), "null: an operand without memory");

    ir_space(&g, 1, (const int64_t[]){16}, 0);
    ir_operand(&g, WK_F32, &f.a, 0, (const int64_t[]){0});
    g.imm[0].i = f.a.bytes / 4, g.imm[1].i = 1, g.nimms = 2;
    ir_ins(&g, WK__LOADX, WK_F32, ir_ins(&g, WK__IOTA, WK_I64, 0, 0, 0), 0, 0);
    assert_int_equal(submit_program(null, f.device, &g, &fail), WK_OK);
    g.imm[0].i++;
    expect_wrong(submit_program(null, f.device, &g, &fail), after);
    assert_int_equal(wk__null_log_count(WK__PROGRAM), 3);
}

static void rejects_invalid_products_and_kernels(void **state)
{
    (void)state;
    const char *after = "null: an operand that ends after its memory";
    wk__matmul p = product();
    p.k = 100;
    expect_wrong(submit_product(null, f.device, &p, &fail), after);
    p = product();
    p.b.dtype = WK_F64;
    expect_wrong(submit_product(null, f.device, &p, &fail), "null: factors with different dtypes");
    p = product();
    wk__program g = softmax();
    p.epilogue = &g;
    expect_wrong(submit_product(null, f.device, &p, &fail), "null: an epilogue whose first operand is not the product");

    wk__work_args k = {.ndim = 1, .shape = {8}, .bound = f.a.bytes / 4};
    k.operand[0] = (wk__operand){.memory = &f.a, .dtype = WK_F32, .stride = {1}};
    k.operand[1] = (wk__operand){.memory = &f.b, .dtype = WK_I64, .stride = {1}};
    k.operand[2] = (wk__operand){.memory = &f.c, .dtype = WK_F32, .stride = {1}};
    assert_int_equal(submit_kernel(null, f.device, WK__SCATTER_ADD, &k, &fail), WK_OK);
    k.bound++;
    expect_wrong(submit_kernel(null, f.device, WK__SCATTER_ADD, &k, &fail), after);
    k.bound--;
    k.dim = 1;
    expect_wrong(submit_kernel(null, f.device, WK__SCATTER_ADD, &k, &fail), "null: a dimension out of range");
    k.dim = 0;
    k.mode = 1;
    expect_wrong(submit_kernel(null, f.device, WK__SCATTER_ADD, &k, &fail), "null: an unknown mode");
    k.mode = 0;
    k.operand[2].dtype = WK_I32;
    expect_wrong(submit_kernel(null, f.device, WK__SCATTER_ADD, &k, &fail), "null: operands with different dtypes");
    k.operand[2].dtype = WK_F32;
    k.operand[1].dtype = WK_I32;
    expect_wrong(submit_kernel(null, f.device, WK__SCATTER_ADD, &k, &fail),
                 "null: indices with a dtype other than i64");

    char bytes[8];
    const char *leaves = "null: a transfer past the end of its memory";
    expect_wrong(null->upload(f.device, &f.a, f.a.bytes - 4, bytes, 8, &fail), leaves);
    expect_wrong(null->copy(f.device, &f.a, 0, &f.b, -1, 8, &fail), leaves);
    expect_wrong(null->download(f.device, bytes, &f.a, f.a.bytes, 1, &fail), leaves);
}

/* b = a + a as a prologue that computes the product's factor b, which is not in memory. */
static wk__program prologue(wk__memory *unmapped)
{
    wk__program g;
    ir_space(&g, 2, (const int64_t[]){8, 5}, 0);
    const int in = ir_dense(&g, WK_F32, false), out = ir_dense(&g, WK_F32, false), r = ir_load(&g, in);
    g.operand[in].memory = &f.a;
    g.operand[out].memory = unmapped;
    ir_store(&g, out, ir_binary(&g, WK__ADD, r, r));
    return g;
}

static void prologues_store_a_factor(void **state)
{
    (void)state;
    wk__memory unmapped = {0};
    const wk__program right = prologue(&unmapped);
    wk__program g = right;
    wk__matmul p = product();
    p.b.memory = &unmapped;
    p.prologue[1] = &g;
    assert_int_equal(submit_product(null, f.device, &p, &fail), WK_OK);
    g.nins = 0; /* the log has a copy */
    expect_plan("matmul f32 m 4 n 5 k 8\n"
                "b is fused\n"
                "space 8 x 5\n"
                "%0 f32 in, offset 0, strides 5 1\n"
                "%1 f32 out, offset 0, strides 5 1\n"
                "r0 f32 LOAD %0\n"
                "r1 f32 ADD r0 r0\n"
                "STORE %1 r1\n");
    g = right;
    g.operand[1].memory = &f.b;
    expect_wrong(submit_product(null, f.device, &p, &fail), "null: a prologue without a stored operand");
    g.operand[1] = (wk__operand){.memory = &unmapped, .dtype = WK_F32};
    expect_wrong(submit_product(null, f.device, &p, &fail), "null: a prologue without a stored operand");
    g = right;
    g.operand[0].stored = true;
    expect_wrong(submit_product(null, f.device, &p, &fail), "null: a prologue with more than one stored operand");
    g = right;
    g.operand[1].dtype = WK_F64;
    expect_wrong(submit_product(null, f.device, &p, &fail), "null: a prologue with a stored operand of another dtype");
    g = right;
    g.nreduce = 1;
    expect_wrong(submit_product(null, f.device, &p, &fail), "null: a prologue with a reduction");
    g = right;
    g.ins[0].code = WK__LOADX;
    expect_wrong(submit_product(null, f.device, &p, &fail), "null: a prologue with LOADX");
    g = right;
    g.operand[0].offset = f.a.bytes / 4 - 39;
    expect_wrong(submit_product(null, f.device, &p, &fail), "null: an operand that ends after its memory");
    g.operand[0].offset--;
    assert_int_equal(submit_product(null, f.device, &p, &fail), WK_OK);
    g.ins[1].arg[0] = 7;
    assert_int_equal(submit_product(null, f.device, &p, &fail), WK_ERR_INTERNAL);
    p.prologue[1] = NULL; /* b is not in memory */
    expect_wrong(submit_product(null, f.device, &p, &fail), "null: an operand that ends after its memory");
}

/* Between 0 and WK__MAX_DIMS dimensions; dim must be one of them, or 0 without dimensions. */
static void checks_number_of_dimensions(void **state)
{
    (void)state;
    wk__work_args k = {.ndim = WK__MAX_DIMS};
    for (int d = 0; d < WK__MAX_DIMS; d++) k.shape[d] = 1;
    k.operand[0] = (wk__operand){.memory = &f.a, .dtype = WK_F32};
    k.operand[1] = (wk__operand){.memory = &f.b, .dtype = WK_F32};
    assert_int_equal(submit_kernel(null, f.device, WK__SCAN, &k, &fail), WK_OK);
    k.dim = -1;
    expect_wrong(submit_kernel(null, f.device, WK__SCAN, &k, &fail), "null: a dimension out of range");
    k.dim = k.ndim = 0;
    assert_int_equal(submit_kernel(null, f.device, WK__SCAN, &k, &fail), WK_OK);
    k.ndim = -1;
    expect_wrong(submit_kernel(null, f.device, WK__SCAN, &k, &fail), "null: an invalid number of dimensions");
    k.ndim = WK__MAX_DIMS + 1;
    expect_wrong(submit_kernel(null, f.device, WK__SCAN, &k, &fail), "null: an invalid number of dimensions");
}

/* An indexed operand may be empty if no index is valid or no element is read. */
static void indexed_loads_of_empty_operands(void **state)
{
    (void)state;
    wk__program g;
    wk__memory nothing = f.a;
    nothing.bytes = 0;
    ir_space(&g, 1, (const int64_t[]){16}, 0);
    ir_operand(&g, WK_F32, &nothing, 0, (const int64_t[]){0});
    g.imm[1].i = 1, g.nimms = 2;
    ir_ins(&g, WK__LOADX, WK_F32, ir_ins(&g, WK__IOTA, WK_I64, 0, 0, 0), 0, 0);
    g.imm[0].i = 0;
    assert_int_equal(submit_program(null, f.device, &g, &fail), WK_OK);
    g.imm[0].i = 1;
    expect_wrong(submit_program(null, f.device, &g, &fail), "null: an operand that ends after its memory");
    g.shape[0] = 0;
    assert_int_equal(submit_program(null, f.device, &g, &fail), WK_OK);
}

/* The first operand of an epilogue must be the product's result, from its first element. */
static void epilogues_start_with_the_product(void **state)
{
    (void)state;
    const char *other = "null: an epilogue whose first operand is not the product";
    wk__matmul p = product();
    wk__program tail;
    ir_space(&tail, 2, (const int64_t[]){4, 5}, 0);
    ir_dense(&tail, WK_F32, false);
    tail.operand[0].memory = &f.c;
    ir_store(&tail, 0, ir_load(&tail, 0));
    p.epilogue = &tail;
    assert_int_equal(submit_product(null, f.device, &p, &fail), WK_OK);
    wk__memory later = f.c, elsewhere = f.c;
    later.offset += WK__ALIGN;
    elsewhere.block = &elsewhere;
    tail.operand[0].memory = &later;
    expect_wrong(submit_product(null, f.device, &p, &fail), other);
    tail.operand[0].memory = &elsewhere;
    expect_wrong(submit_product(null, f.device, &p, &fail), other);
    tail.operand[0].memory = &f.c;
    tail.noperands = tail.nins = 0;
    expect_wrong(submit_product(null, f.device, &p, &fail), other);
}

/* ---- faults -------------------------------------------------------------------------------------------------- */

static void full_device(void **state)
{
    (void)state;
    wk__memory piece, other;
    assert_int_equal(wk__arena_alloc(f.arena, 900 * MB, &piece, &fail), WK_OK);
    assert_null(piece.host);
    assert_int_equal(wk__arena_alloc(f.arena, 900 * MB, &other, &fail), WK_ERR_MEMORY);
    assert_non_null(strstr(fail.text, "(null:0 is out of memory)"));
    wk__arena_free(f.arena, &piece);
    assert_int_equal(wk__arena_alloc(f.arena, 901 * MB, &piece, &fail), WK_OK); /* cached memory was released first */
    wk__arena_free(f.arena, &piece);

    wk__null_fail_alloc(2);
    assert_int_equal(wk__arena_alloc(f.arena, 30 * MB, &piece, &fail), WK_OK);
    assert_int_equal(wk__arena_alloc(f.arena, 30 * MB, &other, &fail), WK_ERR_MEMORY);
    wk__arena_free(f.arena, &piece);
    wk__null_fail_alloc(0);
    assert_int_equal(wk__arena_alloc(f.arena, 60 * MB, &other, &fail), WK_OK);
}

static void rejected_launch(void **state)
{
    (void)state;
    wk__program g = softmax();
    wk__matmul p = product();
    wk__null_fail_submit(2);
    assert_int_equal(submit_program(null, f.device, &g, &fail), WK_OK);
    assert_int_equal(submit_product(null, f.device, &p, &fail), WK_ERR_DEVICE);
    assert_string_equal(fail.text, "null:0 rejected the launch");
    assert_int_equal(submit_product(null, f.device, &p, &fail), WK_OK);
    assert_int_equal(wk__null_log_count(WK__CONTRACTION), 1);
}

static void bad_index(void **state)
{
    (void)state;
    char byte;
    wk__program g = softmax();
    wk__null_fault_index(31, -9, 5);
    assert_int_equal(submit_program(null, f.device, &g, &fail), WK_OK);
    assert_int_equal(null->sync(f.device, &fail), WK_ERR_INDEX);
    assert_int_equal(fail.code, WK_ERR_INDEX);
    assert_int_equal(fail.tag, 31);
    assert_int_equal(fail.index, -9);
    assert_int_equal(fail.bound, 5);
    assert_int_equal(null->sync(f.device, &fail), WK_OK); /* only once */

    wk__null_fault_submit(2, 8, 8);
    g.tag = 100;
    assert_int_equal(submit_program(null, f.device, &g, &fail), WK_OK);
    assert_int_equal(null->sync(f.device, &fail), WK_OK);
    g.tag = 101;
    assert_int_equal(submit_program(null, f.device, &g, &fail), WK_OK);
    assert_int_equal(null->download(f.device, &byte, &f.a, 0, 1, &fail), WK_ERR_INDEX);
    assert_int_equal(fail.tag, 101);
    assert_int_equal(null->download(f.device, &byte, &f.a, 0, 1, &fail), WK_OK);
}

static void lost_device(void **state)
{
    (void)state;
    char byte;
    void *second, *third;
    wk__memory piece;
    wk__device_info info;
    wk__program g = softmax();
    assert_int_equal(null->count(), 1);
    assert_int_equal(null->open(1, &second, &fail), WK_ERR_DEVICE);
    wk__null_set_count(2);
    assert_int_equal(null->open(1, &second, &fail), WK_OK);
    wk__null_lose_device(0);
    assert_int_equal(submit_program(null, f.device, &g, &fail), WK_ERR_DEVICE_LOST);
    assert_string_equal(fail.text, "the device does not respond");
    assert_int_equal(null->sync(f.device, &fail), WK_ERR_DEVICE_LOST);
    assert_int_equal(null->upload(f.device, &f.a, 0, "", 1, &fail), WK_ERR_DEVICE_LOST);
    assert_int_equal(null->download(f.device, &byte, &f.a, 0, 1, &fail), WK_ERR_DEVICE_LOST);
    assert_int_equal(null->info(0, &info, &fail), WK_ERR_DEVICE_LOST);
    assert_int_equal(null->open(0, &third, &fail), WK_ERR_DEVICE_LOST);
    assert_int_equal(wk__arena_alloc(f.arena, 100 * MB, &piece, &fail), WK_ERR_DEVICE_LOST);
    assert_int_equal(null->sync(second, &fail), WK_OK); /* the other device works on */
    wk__null_clear_faults();
    assert_int_equal(null->sync(f.device, &fail), WK_OK);
    null->close(second);
}

static void host_memory_runs_out(void **state)
{
    (void)state;
    wk__program g = softmax();
    wk__matmul p = product();
    void *device;
    wk__alloc_fail_at(1);
    assert_int_equal(null->open(0, &device, &fail), WK_ERR_MEMORY);
    wk__alloc_fail_at(1);
    assert_int_equal(submit_program(null, f.device, &g, &fail), WK_ERR_MEMORY);
    wk__alloc_fail_at(2);
    assert_int_equal(submit_product(null, f.device, &p, &fail), WK_ERR_MEMORY);
    assert_int_equal(wk__null_log_count(WK__PROGRAM) + wk__null_log_count(WK__CONTRACTION), 0);
    assert_int_equal(submit_program(null, f.device, &g, &fail), WK_OK);
    for (int n = 1; n <= 3; n++) {
        wk__alloc_fail_at(n);
        assert_null(wk__null_log_text());
    }
    wk__alloc_fail_at(0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(logs_programs),
        TEST(logs_products),
        TEST(checks_number_of_dimensions),
        TEST(indexed_loads_of_empty_operands),
        TEST(epilogues_start_with_the_product),
        TEST(logs_transfers_and_kernels),
        TEST(counts_beyond_the_log),
        TEST(submissions_from_threads),
        TEST(rejects_invalid_programs),
        TEST(rejects_invalid_products_and_kernels),
        TEST(prologues_store_a_factor),
        TEST(full_device),
        TEST(rejected_launch),
        TEST(bad_index),
        TEST(lost_device),
        TEST(host_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
