/* SPDX-License-Identifier: Apache-2.0 */
/* Contractions and matrix products in tiles on GPUs with few and many compute units, which split them differently,
 * compared with loops on the CPU, bit for bit: all summands are small integers. */
#include "test.h"
#include "support/convolution.h"

#include "backend/cpu/contraction/contraction_reference.h"
#include "backend/gpu/kernels/contraction_axes.h"
#include "backend/gpu/lower.h"
#include "support/group/epilogues.h"

#include <stdio.h>

static void good(wk_code code, const wk__fail *fail)
{
    if (code != WK_OK) fail_msg("%s", fail->text);
}

/* ---- devices ----------------------------------------------------------------------------------------------------- */

/* Plans as for a GPU, on any device; one device is sufficient. No kernels for another group size have been compiled
 * yet. */
static int open_as_gpus(void **state)
{
    gpu_open_one(state);
    for (int d = 0; d < gpu_devices; d++) {
        gpu_target(d)->local_memory = true;
        gpu_target(d)->group_size = WK__GPU_TILE_ITEMS;
    }
    return 0;
}

/* Few: tiles are large as soon as there are enough of them. Many: sums are split. */
enum { FEW = 1, SOME = 6, MANY = 400 };

static void take_units(int units)
{
    for (int d = 0; d < gpu_devices; d++) gpu_target(d)->compute_units = units;
}

/* ---- convolutions ------------------------------------------------------------------------------------------------ */

static void fill(array *a)
{
    const wk_dtype dtype = (wk_dtype)a->operand.dtype;
    const int64_t size = (int64_t)wk_dtype_size(dtype);
    for (int64_t k = 0; k < a->bytes / size; k++) {
        const double whole = (double)(group_case_random() % 5) - 2;
        group_reference_put(dtype, a->data, k, dtype == WK_U8 ? whole + 2 : whole);
    }
}

typedef struct tiles_case {
    const char *name;
    convolution of;
    int units;
    bool wide; /* adds a coordinate whose numerators exceed 32 bits */
} tiles_case;

static const tiles_case cases[] = {
    {"plain", {2, 2, 2, 10, 9, {7, 6}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, SOME, false},
    {"strided", {2, 3, 1, 9, 11, {11, 13}, {3, 3}, {2, 3}, {2, 1}, {1, 2}}, SOME, false},
    {"of three dimensions", {3, 2, 1, 8, 8, {5, 4, 6}, {2, 3, 2}, {1, 2, 1}, {1, 1, 0}, {2, 1, 1}}, SOME, false},
    {"wide", {2, 3, 1, 9, 11, {11, 13}, {3, 3}, {2, 3}, {2, 1}, {1, 2}}, SOME, true},
    {"large", {1, 2, 1, 70, 66, {41}, {3}, {1}, {1}, {1}}, FEW, false},
    {"large and strided", {2, 5, 1, 68, 65, {9, 7}, {2, 2}, {2, 1}, {1, 0}, {1, 2}}, FEW, false},
    {"by remainders", {2, 2, 1, 40, 66, {11, 13}, {3, 3}, {2, 2}, {1, 1}, {1, 1}}, FEW, false},
    {"by remainders of three", {2, 3, 1, 70, 9, {11, 9}, {5, 3}, {3, 2}, {2, 1}, {2, 1}}, FEW, false},
    {"by remainders that no step has", {2, 2, 1, 70, 66, {9, 8}, {1, 1}, {2, 2}, {0, 0}, {1, 1}}, FEW, false},
    {"by remainders, wide", {2, 3, 1, 9, 11, {11, 13}, {3, 3}, {2, 3}, {2, 1}, {1, 2}}, FEW, true},
    {"in two parts", {1, 1, 1, 112, 9, {50}, {5}, {1}, {2}, {1}}, MANY, false},
    {"in many parts", {1, 2, 1, 8, 9, {420}, {5}, {1}, {2}, {2}}, MANY, false},
    {"wide parts", {1, 3, 1, 8, 9, {500}, {5}, {2}, {2}, {2}}, MANY, true},
    {"channel by channel", {1, 3, 4, 1, 1, {500}, {5}, {1}, {2}, {1}}, MANY, false},
    {"channel by channel, wide", {1, 3, 4, 1, 1, {500}, {5}, {1}, {2}, {1}}, MANY, true},
    {"a batch alone", {1, 1, 1, 9, 8, {40}, {2}, {1}, {0}, {1}}, MANY, false},
};
enum { CASES = sizeof cases / sizeof *cases };

/* The coordinate is always in range, and has stride 0. */
static void make_wide(wk__work_args *kernel, wk__contraction *sum)
{
    const int64_t far = (int64_t)1 << 32;
    const bool divided = sum->affine[1][0].divisor != 1;
    wk__affine_index *q = &sum->affine[0][sum->naffine[0]++];
    *q = (wk__affine_index){.offset = far, .divisor = divided ? 2 : 1, .extent = 2 * far, .coefficient = {[0] = 2}};
    assert_true(kernel->ndim > 0);
}

/* Compares all memory of the result. */
static void compare(int d, const char *name, const wk__work_args *kernel, array *const operand[], const char *want)
{
    void *device = gpu_device[d];
    wk__memory memory[WK__SUM_OPERANDS];
    wk__work_args there = *kernel;
    wk__fail fail;
    const int64_t size = (int64_t)wk_dtype_size((wk_dtype)kernel->operand[0].dtype);
    for (int o = 0; o < WK__SUM_OPERANDS; o++) {
        good(gpu->block_alloc(device, operand[o]->bytes, &memory[o], &fail), &fail);
        good(gpu->upload(device, &memory[o], 0, operand[o]->data, operand[o]->bytes, &fail), &fail);
        there.operand[o].memory = &memory[o];
    }
    good(gpu->submit(device, &(wk__work){.family = WK__CONTRACTION, .args = &there}, &fail), &fail);
    char *got = malloc((size_t)operand[0]->bytes);
    good(gpu->download(device, got, &memory[0], 0, operand[0]->bytes, &fail), &fail);
    for (int64_t k = 0; want != NULL && k < operand[0]->bytes; k++)
        if (got[k] != want[k])
            fail_msg("%s, %s: element %lld in memory differs", name, wk_dtype_str((wk_dtype)kernel->operand[0].dtype),
                     (long long)(k / size));
    for (int o = 0; o < WK__SUM_OPERANDS; o++) gpu->block_free(device, &memory[o]);
    free(got);
}

static void run(int d, const tiles_case *c, direction way, wk_dtype dtype, layout layout, bool gather)
{
    convolution_case t;
    wk__work_args kernel;
    wk__contraction sum;
    wk__fail fail;
    take_units(c->units);
    convolution_new(&t, &c->of, dtype, layout);
    fill(&t.x);
    fill(&t.w);
    fill(&t.y);
    describe(&t, way, &kernel, &sum);
    if (c->wide) make_wide(&kernel, &sum);
    array *const operand[] = {way == FORWARD      ? &t.y
                              : way == GRAD_INPUT ? &t.x
                                                  : &t.w,
                              way == GRAD_WEIGHT ? &t.y : &t.w, way == GRAD_INPUT ? &t.y : &t.x};
    array out = *operand[0]; /* the device starts with the previous contents */
    char *want = array_copy(&out);
    out.data = want;
    out.memory.host = out.memory.block = want;
    wk__work_args here = kernel;
    here.operand[0].memory = &out.memory;
    if (!gather)
        good(wk__cpu_contraction_reference(&(wk__work){.family = WK__CONTRACTION, .args = &here}, &fail), &fail);
    compare(d, c->name, &kernel, operand, gather ? NULL : want);
    free(want);
    convolution_free(&t);
}

/* Runs each case in f32, and in dtypes that represent their classes those with all kinds of kernels. */
static void run_all(int d, bool gather)
{
    static const wk_dtype dtypes[] = {WK_F64, WK_BF16, WK_U8};
    for (int k = 0; k < CASES; k++)
        for (direction way = FORWARD; way < DIRECTIONS; way++)
            run(d, &cases[k], way, WK_F32, (layout)((k + (int)way) % LAYOUTS), gather);
    for (int t = 0; t < 3; t++) {
        run(d, &cases[1], GRAD_INPUT, dtypes[t], ROWS, gather);
        run(d, &cases[11], GRAD_WEIGHT, dtypes[t], BACKWARDS, gather);
    }
    run(d, &cases[4], FORWARD, WK_I16, ROWS, gather);
    run(d, &cases[13], GRAD_WEIGHT, WK_I64, ROWS, gather);
}

typedef struct launches {
    int count, divided, groups;
} launches;

static wk_code count_launch(void *user, const wk__gpu_launch *launch, wk__fail *fail)
{
    (void)fail;
    launches *l = user;
    l->count++;
    l->divided += launch->argument[WK__GPU_SUM_DIVIDED + 1] != 0;
    l->groups += (int)launch->count;
    return WK_OK;
}

static launches plan_of(const convolution *of, direction way, int units)
{
    convolution_case t;
    wk__work_args kernel;
    wk__contraction sum;
    wk__fail fail;
    launches l = {0};
    wk__gpu_target target = wk__gpu_target_of(WK__GPU_CUDA, true);
    target.compute_units = units;
    convolution_new(&t, of, WK_F32, ROWS);
    describe(&t, way, &kernel, &sum);
    const wk__work work = {.family = WK__CONTRACTION, .args = &kernel};
    good(wk__gpu_lower_work(&target, &work, count_launch, &l, &fail), &fail);
    assert_int_equal(wk__gpu_splits_strides(&target, &kernel), l.count > 1);
    convolution_free(&t);
    return l;
}

/* A gradient for x with stride above 1 is one launch per remainder, without divisions, if each has tiles for all
 * units. */
static void remainders(void **state)
{
    (void)state;
    static const convolution of = {2, 2, 1, 40, 66, {16, 16}, {3, 3}, {2, 2}, {1, 1}, {1, 1}};
    launches l = plan_of(&of, GRAD_INPUT, 2); /* 40 rows and 128 columns: two tiles each */
    assert_true(l.count == 4 && l.divided == 0 && l.groups == 8);
    l = plan_of(&of, GRAD_INPUT, 3);
    assert_true(l.count == 1 && l.divided == 1 && l.groups == 8);
    l = plan_of(&of, FORWARD, 1);
    assert_true(l.count == 1 && l.divided == 0);
}

static void convolutions(void **state)
{
    (void)state;
    wk__fail fail;
    good(gpu->compile_only(gpu_device[0], true, &fail), &fail);
    run_all(0, true);
    good(gpu->compile_only(gpu_device[0], false, &fail), &fail);
    run_all(0, false);
}

/* ---- matrix products --------------------------------------------------------------------------------------------- */

typedef struct matrix_case {
    const char *name;
    int64_t batch, m, n, k;
    int64_t a[3], b[3], c[3]; /* strides of batch, row, column */
    int64_t begin;            /* offset of the factors */
    int units;
} matrix_case;

/* Factors that are contiguous along the sum or not, start at multiples of four or not, and end at multiples of four or
 * not. */
static const matrix_case products[] = {
    {"by fours", 1, 68, 132, 36, {0, 36, 1}, {0, 132, 1}, {0, 132, 1}, 0, SOME},
    {"by fours, turned", 1, 72, 40, 20, {0, 1, 72}, {0, 1, 20}, {0, 1, 72}, 0, SOME},
    {"large, by fours", 1, 132, 68, 36, {0, 36, 1}, {0, 68, 1}, {0, 68, 1}, 0, FEW},
    {"large, by fours, turned", 2, 72, 140, 20, {1440, 1, 72}, {2800, 1, 20}, {10080, 1, 72}, 0, FEW},
    {"large, from an odd offset", 1, 68, 132, 36, {0, 36, 1}, {0, 132, 1}, {0, 132, 1}, 1, FEW},
    {"large, and odd", 1, 67, 131, 19, {0, 19, 1}, {0, 131, 1}, {0, 131, 1}, 0, FEW},
    {"large, odd batches", 2, 68, 132, 36, {2449, 36, 1}, {0, 132, 1}, {8976, 132, 1}, 0, FEW},
    {"large, odd rows", 1, 68, 132, 36, {0, 37, 1}, {0, 133, 1}, {0, 132, 1}, 0, FEW},
    {"large, ends within fours", 1, 66, 70, 18, {0, 20, 1}, {0, 72, 1}, {0, 70, 1}, 0, FEW},
    {"large, odd and turned", 1, 67, 131, 19, {0, 1, 67}, {0, 1, 19}, {0, 1, 67}, 0, FEW},
    {"large, from the end", 1, 68, 130, 33, {0, -33, -1}, {0, -130, -1}, {0, -260, -2}, 0, FEW},
    {"large, one row again and again", 1, 68, 130, 33, {0, 0, 1}, {0, 130, 1}, {0, 130, 1}, 0, FEW},
    {"few rows", 1, 8, 33, 16, {0, 16, 1}, {0, 33, 1}, {0, 33, 1}, 0, SOME},
    {"more than a band of tiles", 1, 520, 65, 16, {0, 16, 1}, {0, 65, 1}, {0, 65, 1}, 0, 1000},
    {"two parts", 2, 33, 40, 600, {19800, 600, 1}, {24000, 40, 1}, {1320, 40, 1}, 0, MANY},
    {"many parts, the last is short", 1, 9, 34, 1030, {0, 1030, 1}, {0, 34, 1}, {0, 1, 9}, 0, MANY},
    {"row times lines", 3, 1, 21, 1030, {1030, 0, 1}, {21630, 1, 1030}, {21, 21, 1}, 0, MANY},
    {"lines times column", 1, 21, 1, 1030, {0, 1030, 1}, {0, 1, 0}, {0, 1, 1}, 0, MANY},
};
enum { PRODUCTS = sizeof products / sizeof *products };

static void new_matrix(array *x, wk_dtype dtype, const int64_t shape[3], const int64_t stride[3], int64_t begin)
{
    int64_t reach = begin;
    *x = (array){.operand = {.dtype = (uint8_t)dtype, .offset = begin}};
    for (int d = 0; d < 3; d++) {
        const int64_t way = (shape[d] - 1) * stride[d];
        x->operand.stride[d] = stride[d];
        x->operand.offset -= way < 0 ? way : 0;
        reach += way < 0 ? -way : way;
    }
    x->bytes = (reach + 1) * (int64_t)wk_dtype_size(dtype);
    x->data = malloc((size_t)x->bytes);
    x->memory = (wk__memory){.block = x->data, .host = x->data, .bytes = x->bytes};
    fill(x);
}

static void multiply(int d, const matrix_case *p, wk_dtype dtype, bool gather)
{
    array a, b, c;
    wk__work_args kernel;
    wk__contraction sum;
    wk__work work;
    wk__fail fail;
    take_units(p->units);
    new_matrix(&a, dtype, (int64_t[]){p->batch, p->m, p->k}, p->a, p->begin);
    new_matrix(&b, dtype, (int64_t[]){p->batch, p->k, p->n}, p->b, p->begin);
    new_matrix(&c, dtype, (int64_t[]){p->batch, p->m, p->n}, p->c, 3);
    wk__matmul product = {.nbatch = 1, .batch = {p->batch}, .m = p->m, .n = p->n, .k = p->k};
    product.a = a.operand;
    product.b = b.operand;
    product.c = c.operand;
    wk__work_from_matmul(&product, &sum, &kernel, &work);
    char *want = array_copy(&c);
    wk__memory memory[] = {{.host = want}, {.host = a.data}, {.host = b.data}};
    for (int o = 0; o < WK__SUM_OPERANDS; o++) kernel.operand[o].memory = &memory[o];
    if (!gather) good(wk__cpu_contraction_reference(&work, &fail), &fail);
    compare(d, p->name, &kernel, (array *const[]){&c, &a, &b}, gather ? NULL : want);
    free(want);
    free(a.data);
    free(b.data);
    free(c.data);
}

static void multiply_all(int d, bool gather)
{
    static const int of_dtypes[] = {0, 5, 14};
    for (int k = 0; k < PRODUCTS; k++) multiply(d, &products[k], WK_F32, gather);
    for (int k = 0; k < 3; k++) {
        multiply(d, &products[of_dtypes[k]], WK_F16, gather);
        multiply(d, &products[of_dtypes[k]], WK_I64, gather);
        multiply(d, &products[of_dtypes[k]], WK_I8, gather);
    }
    multiply(d, &products[0], WK_BOOL, gather);
    multiply(d, &products[2], WK_BF16, gather);
}

static void matmuls(void **state)
{
    (void)state;
    wk__fail fail;
    good(gpu->compile_only(gpu_device[0], true, &fail), &fail);
    multiply_all(0, true);
    good(gpu->compile_only(gpu_device[0], false, &fail), &fail);
    multiply_all(0, false);
}

static wk_code note(void *user, const wk__gpu_launch *launch, wk__fail *fail)
{
    (void)fail;
    memcpy(user, &launch->argument[40], 2 * sizeof *launch->argument);
    return WK_OK;
}

/* Factors are read by vectors of four (2: along rows or columns, 3: along the sum) only if each starts at a multiple of
 * four and has a multiple of four elements. The stand-in does not detect unaligned vectors as a card would. */
static void vectors_of_four(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t a, b;
    } wanted[] = {{"by fours", 3, 2},           {"by fours, turned", 2, 3}, {"large, from an odd offset", 1, 0},
                  {"large, odd batches", 1, 2}, {"large, odd rows", 1, 0},  {"large, ends within fours", 1, 0}};
    const wk__gpu_target target = wk__gpu_target_of(WK__GPU_CUDA, true);
    wk__memory memory = {0};
    size_t seen = 0;
    for (int k = 0; k < PRODUCTS; k++)
        for (size_t w = 0; w < sizeof wanted / sizeof *wanted; w++) {
            const matrix_case *p = &products[k];
            if (strcmp(p->name, wanted[w].name) != 0) continue;
            const wk__operand none = {.memory = &memory, .offset = p->begin, .dtype = WK_F32};
            wk__matmul product = {.nbatch = 1, .batch = {p->batch}, .m = p->m, .n = p->n, .k = p->k};
            product.a = product.b = product.c = none;
            memcpy(product.a.stride, p->a, sizeof p->a);
            memcpy(product.b.stride, p->b, sizeof p->b);
            wk__contraction sum;
            wk__work_args kernel;
            wk__work work;
            wk__fail fail;
            int64_t way[2];
            wk__work_from_matmul(&product, &sum, &kernel, &work);
            good(wk__gpu_lower_work(&target, &work, note, way, &fail), &fail);
            if (way[0] != wanted[w].a || way[1] != wanted[w].b)
                fail_msg("%s: %d, %d", p->name, (int)way[0], (int)way[1]);
            seen++;
        }
    assert_int_equal(seen, sizeof wanted / sizeof *wanted);
}

/* ---- epilogues --------------------------------------------------------------------------------------------------- */

enum { ALWAYS = 0, NEVER = 255 /* values of fuse_epilogue_after */ };

/* Runs the case and returns the final contents of its memory. */
static void run_epilogue(int d, epilogue_case *c, int fuse_after, char *got[])
{
    wk__fail fail;
    void *device = gpu_device[d];
    gpu_target(d)->fuse_epilogue_after = fuse_after;
    good(epilogue_case_upload(c, gpu, device, &fail), &fail);
    good(gpu->submit(device, &c->work, &fail), &fail);
    good(epilogue_case_fetch(c, gpu, device, got, &fail), &fail);
}

static void compare_epilogue(int d, epilogue_product product, epilogue_kind kind, int units)
{
    char *apart[EPILOGUE_MEMORIES], *together[EPILOGUE_MEMORIES];
    epilogue_case *c = epilogue_case_new(product, kind, WK_F32);
    const bool unread = c->kernel.elide_result && kind != EPILOGUE_SHARED;
    const int fuse_after = gpu_target(d)->fuse_epilogue_after;
    take_units(units);
    run_epilogue(d, c, NEVER, apart);
    run_epilogue(d, c, ALWAYS, together);
    gpu_target(d)->fuse_epilogue_after = fuse_after;
    bool changed = false; /* otherwise the test would compare nothing */
    for (int m = 0; m < c->memories; m++) {
        const char *want = m == 0 && unread ? c->host[m] : apart[m];
        if (memcmp(together[m], want, (size_t)c->bytes[m]) != 0)
            fail_msg("product %d, tail %d, %d units: memory %d differs", (int)product, (int)kind, units, m);
        changed = changed || memcmp(together[m], c->host[m], (size_t)c->bytes[m]) != 0;
        free(apart[m]);
        free(together[m]);
    }
    assert_true(changed);
    epilogue_case_free(c);
}

/* Fusing an epilogue changes no bit, and runs it once per element. */
static void epilogues(void **state)
{
    (void)state;
    static const struct {
        epilogue_product product;
        int units;
    } of[] = {{EPILOGUE_OF_BLOCKS, SOME},
              {EPILOGUE_OF_BLOCKS, FEW},
              {EPILOGUE_OF_PARTS, MANY},
              {EPILOGUE_OF_PARTS, FEW},
              {EPILOGUE_OF_CONVOLUTION_TILES, SOME},
              {EPILOGUE_OF_CONVOLUTION_PARTS, MANY}};
    static const epilogue_kind kinds[] = {EPILOGUE_IN_PLACE, EPILOGUE_PLACES};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++)
        for (int kind = 0; kind < 2; kind++) compare_epilogue(0, of[k].product, kinds[kind], of[k].units);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(vectors_of_four), cmocka_unit_test(convolutions),
                                       cmocka_unit_test(matmuls), cmocka_unit_test(epilogues),
                                       cmocka_unit_test(remainders)};
    return cmocka_run_group_tests(tests, open_as_gpus, gpu_close);
}
