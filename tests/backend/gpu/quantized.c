/* SPDX-License-Identifier: Apache-2.0 */
/* Products with quantised blocks on each device, planned as for a CPU and as for GPUs, with small work-groups and with
 * few and many compute units, compared with loops, bit for bit: all summands are small multiples of 1/2. */
#include "arrays.h"
#include "backend/gpu/kernels/tiles.h"
#include "ir/blocks.h"

enum { R, O, I, B, DIMS };

/* ---- cases ------------------------------------------------------------------------------------------------------- */

typedef struct product_case {
    int64_t x_rows, block_rows;
    int64_t elements;   /* of a row; at least a block */
    int64_t x_gap, gap; /* elements between rows of x, blocks between rows of blocks */
    int64_t begin;      /* offset of x and of the result */
    int units;          /* compute units of the device */
} product_case;

enum { FEW = 1, SOME = 6, MANY = 400 };

/* Rows of one block and of many, of less and more than a work-group decodes at once. */
static const product_case products[] = {
    {1, 5, 32, 0, 0, 0, SOME},    {1, 37, 1280, 0, 0, 0, SOME},  {1, 3, 5120, 0, 1, 1, SOME},
    {3, 7, 288, 5, 0, 0, SOME},   {8, 70, 544, 0, 2, 0, SOME},   {8, 2, 2304, 4, 0, 0, SOME},
    {9, 70, 256, 4, 0, 0, SOME},  {9, 5, 1280, 0, 1, 0, SOME},   {40, 33, 768, 0, 0, 0, SOME},
    {17, 35, 1024, 1, 1, 1, FEW}, {40, 36, 1024, 0, 0, 0, MANY}, {9, 35, 1312, 4, 1, 3, MANY},
    {70, 66, 256, 0, 0, 0, FEW},  {67, 69, 288, 3, 1, 1, FEW},
};
enum { PRODUCTS = sizeof products / sizeof *products };

/* Returns the offset of a block's first scale in f16, and their number. */
static int scales_of(wk_block_format format, int *count)
{
    static const struct {
        int at, count;
    } scales[WK__BLOCK_OP_FORMATS] = {
        [WK_BLOCKS_Q8_0] = {0, 1}, [WK_BLOCKS_Q4_0] = {0, 1},   [WK_BLOCKS_Q4_1] = {0, 2},   [WK_BLOCKS_Q5_0] = {0, 1},
        [WK_BLOCKS_Q5_1] = {0, 2}, [WK_BLOCKS_Q2_K] = {80, 2},  [WK_BLOCKS_Q3_K] = {108, 1}, [WK_BLOCKS_Q4_K] = {0, 2},
        [WK_BLOCKS_Q5_K] = {0, 2}, [WK_BLOCKS_Q6_K] = {208, 1},
    };
    *count = scales[format].count;
    return scales[format].at;
}

/* Fills blocks with random codes; scales are 1 or 1/2. */
static void fill_blocks(array *blocks, wk_block_format format)
{
    const wk__block_format *f = &wk__block_formats[format];
    int count;
    const int first = scales_of(format, &count);
    for (int64_t k = 0; k < blocks->elements; k++) blocks->host[k] = (char)(group_case_random() % 256);
    for (int64_t at = MARGIN; at + f->bytes <= blocks->elements - MARGIN; at += f->bytes)
        for (int k = 0; k < count; k++) {
            blocks->host[at + first + 2 * k] = 0;
            blocks->host[at + first + 2 * k + 1] = group_case_random() % 2 ? 0x3c : 0x38;
        }
}

/* The work of a case, on the host. */
typedef struct product {
    wk__work_args args;
    array array[3]; /* result, x, blocks */
    char *want;     /* all memory of the result */
} product;

static void begin_product(product *p, const product_case *c, wk_block_format format)
{
    const wk__block_format *f = &wk__block_formats[format];
    const int64_t blocks = c->elements >= f->elements ? c->elements / f->elements : 1;
    const int64_t shape[DIMS] = {c->x_rows, c->block_rows, blocks * f->elements, blocks * f->bytes};
    const int64_t strides[3][DIMS] = {
        {[R] = shape[O], [O] = 1}, {[R] = shape[I] + c->x_gap, [I] = 1}, {[O] = shape[B] + c->gap * f->bytes, [B] = 1}};
    *p = (product){.args = {.ndim = DIMS, .mode = (int)format, .tag = -1}};
    memcpy(p->args.shape, shape, sizeof shape);
    for (int o = 0; o < 3; o++) {
        int64_t own[DIMS];
        for (int d = 0; d < DIMS; d++) own[d] = strides[o][d] != 0 ? shape[d] : 1;
        p->array[o] = new_array(o == 2 ? WK_U8 : WK_F32, DIMS, own, strides[o], true);
        p->array[o].operand.stored = o == 0;
        if (o < 2) p->array[o].operand.offset += c->begin;
    }
    fill_blocks(&p->array[2], format);
}

static void compute(product *p)
{
    const wk__block_format *f = &wk__block_formats[p->args.mode];
    const wk__operand *out = &p->array[0].operand, *x = &p->array[1].operand, *blocks = &p->array[2].operand;
    const int64_t *shape = p->args.shape;
    const float *of_x = (const float *)(const void *)p->array[1].host + x->offset;
    float *w = malloc((size_t)shape[I] * sizeof *w);
    p->want = malloc((size_t)bytes_of(&p->array[0]));
    memcpy(p->want, p->array[0].host, (size_t)bytes_of(&p->array[0]));
    for (int64_t o = 0; o < shape[O]; o++) {
        const char *row = p->array[2].host + blocks->offset + o * blocks->stride[O];
        for (int64_t b = 0; b < shape[I] / f->elements; b++)
            f->decode((const uint8_t *)row + b * f->bytes, w + b * f->elements);
        for (int64_t r = 0; r < shape[R]; r++) {
            double sum = 0;
            for (int64_t i = 0; i < shape[I]; i++) sum += (double)w[i] * (double)of_x[r * x->stride[R] + i];
            group_reference_put(WK_F32, p->want, out->offset + r * out->stride[R] + o, sum);
        }
    }
    free(w);
}

static void run(int d, const product_case *c, wk_block_format format, bool look)
{
    product p;
    wk__fail fail;
    gpu_target(d)->compute_units = c->units;
    begin_product(&p, c, format);
    for (int o = 0; o < 3; o++) {
        to_device(gpu_device[d], &p.array[o]);
        p.args.operand[o] = p.array[o].operand;
    }
    good(submit_kernel(gpu, gpu_device[d], WK__QUANTIZED, &p.args, &fail), &fail);
    if (look) {
        char name[80];
        snprintf(name, sizeof name, "%s, %lld x %lld x %lld", wk__block_formats[format].name, (long long)c->x_rows,
                 (long long)c->block_rows, (long long)c->elements);
        compute(&p);
        expect(gpu_device[d], name, &p.array[0], p.want);
    }
    for (int o = 0; o < 3; o++) {
        if (o > 0 || !look) gpu->block_free(gpu_device[d], &p.array[o].memory);
        free(p.array[o].host);
    }
    free(p.want);
}

/* ---- targets ----------------------------------------------------------------------------------------------------- */

typedef enum variant { ITSELF, AS_GPU, SMALL_GROUPS, LITTLE_MEMORY } variant;

/* Reopens the devices, because compiled kernels depend on the target. */
static void use_target(variant v)
{
    static wk__gpu_target own[8];
    static bool known;
    wk__fail fail;
    for (int d = 0; d < gpu_devices; d++) {
        wk__gpu_target *target = gpu_target(d);
        if (!known) own[d] = *target;
        *target = own[d];
        target->local_memory = target->local_memory || v != ITSELF;
        if (v == SMALL_GROUPS) target->group_size = 16;
        if (v == LITTLE_MEMORY) target->local_memory_bytes = 4096; /* for one row of x */
        gpu->close(gpu_device[d]);
    }
    known = true;
    for (int d = 0; d < gpu_devices; d++) good(gpu->open(d, &gpu_device[d], &fail), &fail);
}

static void run_all(int d, variant v, bool look)
{
    static const wk_block_format several[] = {WK_BLOCKS_Q4_0, WK_BLOCKS_Q3_K, WK_BLOCKS_Q6_K};
    const int formats = v == ITSELF || v == AS_GPU ? WK__BLOCK_OP_FORMATS : (int)(sizeof several / sizeof *several);
    for (int k = 0; k < PRODUCTS; k++)
        for (int f = 0; f < formats; f++)
            run(d, &products[k], formats == WK__BLOCK_OP_FORMATS ? (wk_block_format)f : several[f], look);
}

/* With one build for all. */
static void run_as(variant v)
{
    wk__fail fail;
    use_target(v);
    for (int d = 0; d < gpu_devices; d++) {
        good(gpu->compile_only(gpu_device[d], true, &fail), &fail);
        run_all(d, v, false);
        good(gpu->compile_only(gpu_device[d], false, &fail), &fail);
        run_all(d, v, true);
    }
}

static void as_the_device(void **state)
{
    (void)state;
    run_as(ITSELF);
}

static void as_a_gpu(void **state)
{
    (void)state;
    if (gpu->kind == WK_CUDA) skip(); /* it is one */
    run_as(AS_GPU);
}

static void in_small_groups(void **state)
{
    (void)state;
    run_as(SMALL_GROUPS);
}

static void with_little_local_memory(void **state)
{
    (void)state;
    if (gpu->kind == WK_CUDA) skip(); /* every CUDA device has enough */
    run_as(LITTLE_MEMORY);
}

/* ---- plans ------------------------------------------------------------------------------------------------------- */

typedef struct launches {
    int count;
    const char *name; /* of the first kernel */
    int64_t groups, lanes, scratch;
} launches;

static wk_code note(void *user, const wk__gpu_launch *launch, wk__fail *fail)
{
    (void)fail;
    launches *l = user;
    if (l->count++ > 0) return WK_OK;
    l->name = launch->spec.source_template->name;
    l->groups = launch->count;
    l->lanes = launch->argument[10];
    l->scratch = launch->scratch;
    return WK_OK;
}

/* The plan of a product by Q8_0 on a GPU with 100 compute units, or on a CPU. */
static void expect_plan(bool is_gpu, int64_t x_rows, int64_t block_rows, int64_t elements, launches wanted)
{
    wk__fail fail;
    wk__memory memory = {0};
    launches l = {0};
    wk__gpu_target target = wk__gpu_target_of(is_gpu ? WK__GPU_CUDA : WK__GPU_OPENCL, is_gpu);
    target.compute_units = 100;
    wk__work_args args = {.ndim = DIMS, .shape = {x_rows, block_rows, elements, elements / 32 * 34}};
    for (int o = 0; o < 3; o++) args.operand[o] = (wk__operand){.dtype = o == 2 ? WK_U8 : WK_F32, .memory = &memory};
    const wk__work work = {.family = WK__QUANTIZED, .args = &args};
    good(wk__gpu_lower_work(&target, &work, note, &l, &fail), &fail);
    if (l.count != wanted.count || strcmp(l.name, wanted.name) != 0 || l.groups != wanted.groups ||
        l.lanes != wanted.lanes || l.scratch != wanted.scratch)
        fail_msg("%lld x %lld x %lld: %d launches, %s, %lld groups, %lld, %lld bytes", (long long)x_rows,
                 (long long)block_rows, (long long)elements, l.count, l.name, (long long)l.groups, (long long)l.lanes,
                 (long long)l.scratch);
}

/* Long rows are shared by a work-group if there are few of them, else by a warp; short ones by the items that they
 * occupy. Scratch memory has parts of the result only. */
static void plans(void **state)
{
    (void)state;
    expect_plan(true, 1, 16384, 4096, (launches){1, "quantized_one", 2048, 32, 0});
    expect_plan(true, 1, 4096, 4096, (launches){1, "quantized_one", 1024, 64, 0});
    expect_plan(true, 1, 896, 4864, (launches){1, "quantized_one", 896, 256, 0});
    expect_plan(true, 1, 10000, 64, (launches){1, "quantized_one", 157, 4, 0});
    expect_plan(true, 8, 4096, 4096, (launches){1, "quantized_several", 1024, 64, 0});
    expect_plan(true, 12, 20, 4096, (launches){1, "quantized_several", 40, 256, 0});
    expect_plan(true, 9, 14336, 4096, (launches){1, "quantized_tiled", 224, 4096, 0});
    expect_plan(true, 9, 1024, 4096, (launches){2, "quantized_part", 192, 352, 12 * 9 * 1024 * 4});
    expect_plan(true, 512, 4096, 4096, (launches){1, "quantized_large", 128, 4096, 0});
    expect_plan(false, 1, 4096, 4096, (launches){1, "quantized_item_one", 4096, 4096, 0});
    expect_plan(false, 40, 4096, 4096, (launches){1, "quantized_item_several", 5 * 4096, 5 * 4096, 0});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans),
        cmocka_unit_test(as_the_device),
        cmocka_unit_test(as_a_gpu),
        cmocka_unit_test(in_small_groups),
        cmocka_unit_test(with_little_local_memory),
    };
    return cmocka_run_group_tests(tests, gpu_open, gpu_close);
}
