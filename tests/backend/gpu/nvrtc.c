/* SPDX-License-Identifier: Apache-2.0 */
/* Device code must compile with CUDA's compiler: NVRTC, which needs neither a GPU nor a driver, compiles everything
 * that the tests of GPU backends compile elsewhere, without warnings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "backend/cuda/api.h"
#include "backend/gpu/cache/kernel_build.h"
#include "ir/blocks.h"
#include "support/turns.h"
#include "support/gpu/gpu_cases.h"
#include "support/group/epilogues.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* ---- NVRTC ------------------------------------------------------------------------------------------------------- */

static wk__nvrtc_functions nvrtc;

/* Loads the compiler found by the runner (scripts/find_nvrtc). */
static int load(void **state)
{
    (void)state;
    const char *given = getenv("STANDIN_NVRTC");
    void *library = given != NULL ? dlopen(given, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library == NULL) print_message("skipped: STANDIN_NVRTC names no NVRTC\n");
    if (library != NULL) assert_true(wk__nvrtc_fill(library, &nvrtc));
    return setenv("WICK_CACHE_DIR", "off", 1);
}

/* Writes the source to a file, for inspection. */
static void keep_text(const char *source)
{
    char path[400];
    const char *work = getenv("WICK_WORK");
    snprintf(path, sizeof path, "%s/refused.cu", work ? work : "/tmp");
    FILE *file = fopen(path, "w");
    if (file == NULL) return;
    fputs(source, file);
    fclose(file);
    print_error("the source is in %s\n", path);
}

/* Checks the code of a kernel; set by a test. */
static void (*look)(const char *ptx);

static void look_at(nvrtcProgram program)
{
    size_t bytes = 0;
    assert_int_equal(nvrtc.GetPTXSize(program, &bytes), 0);
    char *ptx = calloc(bytes + 1, 1);
    assert_int_equal(nvrtc.GetPTX(program, ptx), 0);
    look(ptx);
    free(ptx);
}

/* Compiles a source; warnings are errors. device is the architecture. */
static wk_code compile(void *device, const char *source, void **out, wk__text *binary, wk__fail *fail)
{
    (void)binary;
    const char *const options[] = {device, "--fmad=false"};
    nvrtcProgram program;
    size_t bytes = 0;
    assert_int_equal(nvrtc.CreateProgram(&program, source, "wick.cu", 0, NULL, NULL), 0);
    int result = nvrtc.CompileProgram(program, 2, options);
    assert_int_equal(nvrtc.GetProgramLogSize(program, &bytes), 0);
    char *log = calloc(bytes + 1, 1);
    assert_int_equal(nvrtc.GetProgramLog(program, log), 0);
    bool good = result == 0 && log[0] == '\0';
    if (!good) {
        print_error("%.4000s\n", log);
        keep_text(source);
        wk__gpu_fail_compile(fail, log[0] != '\0' ? log : "no log");
    }
    free(log);
    if (good && look != NULL) look_at(program);
    nvrtc.DestroyProgram(&program);
    *out = device;
    return good ? WK_OK : WK_ERR_INTERNAL;
}

static wk_code function(void *device, void *program, const char *name, void **out, wk__fail *fail)
{
    (void)device, (void)name, (void)fail;
    *out = program;
    return WK_OK;
}

static void release(void *program)
{
    (void)program; /* the program is the name of the architecture */
}

/* Programs have no binaries here, so none is loaded; functions need no release. */
static const wk__gpu_compiler compiler = {
    .magic = "wick nvrtc\n", .compile = compile, .get_function = function, .release_module = release};

/* ---- units ------------------------------------------------------------------------------------------------------- */

static wk__gpu_target target;
static wk__gpu_kernel_cache *units;

static wk_code note(void *user, const wk__gpu_launch *launch, wk__fail *fail)
{
    (void)user;
    return wk__gpu_kernel_lookup(units, &launch->spec, fail) ? WK_OK : WK_ERR_MEMORY;
}

static void good(wk_code code, const wk__fail *fail)
{
    if (code != WK_OK) fail_msg("%s", fail->text);
}

static void note_case(group_case *c)
{
    wk__fail fail;
    for (int k = 0; k < c->g.noperands; k++) c->memory[k] = (wk__memory){.block = &c->memory[k]};
    assert_null(wk__program_verify(&c->g));
    good(wk__gpu_lower_program(&target, &c->g, note, NULL, &fail), &fail);
}

typedef void add_units(void);

static void compile_units(add_units *add, char *architecture, bool merged)
{
    wk__fail fail;
    units = calloc(1, sizeof *units);
    wk__gpu_device_desc card = {.info.name = "NVRTC", .target = target, .compiler_id = "NVRTC"};
    snprintf(card.option[0], sizeof card.option[0], "%s", architecture);
    wk__gpu_kernel_cache_init(units, &compiler, architecture, &card);
    add();
    assert_non_null(units->pending);
    good(wk__gpu_build(units, merged, &fail), &fail);
    assert_null(units->pending);
    wk__gpu_kernel_cache_destroy(units);
    free(units);
}

/* Compiles a kernel for each unit, to PTX and for an architecture; then merged ones. Each run compiles one part in
 * nine, because the tests of mode cuda compile the same cases for one architecture every time (cuda_matrix reports the
 * warnings). */
static void compile_all(add_units *add)
{
    static char any[] = "--gpu-architecture=compute_80", one[] = "--gpu-architecture=sm_90";
    enum { PARTS = 9, APART = PARTS / 3 };
    static int test;
    const int first = test++;
    if (nvrtc.CreateProgram == NULL) skip();
    if (test_has_turn(first, PARTS)) compile_units(add, any, false);
    if (test_has_turn(first + APART, PARTS)) compile_units(add, one, false);
    if (test_has_turn(first + 2 * APART, PARTS)) compile_units(add, any, true);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void note_cases(gpu_add_cases *add)
{
    gpu_cases *cases = gpu_cases_of(target.group_size, add);
    for (int k = 0; k < cases->count; k++) note_case(cases->at[k]);
    gpu_cases_free(cases);
}

static void add_codes(void)
{
    note_cases(gpu_usual_numbers);
    note_cases(gpu_narrow_dtypes);
    note_cases(gpu_casts);
    note_cases(gpu_choices);
    note_cases(gpu_random_numbers);
}

static void codes(void **state)
{
    (void)state;
    compile_all(add_codes);
}

static void add_rows(void)
{
    note_cases(gpu_layouts);
    note_cases(gpu_reductions);
    note_cases(gpu_several_passes);
    note_cases(gpu_positions_and_rows);
    note_cases(gpu_many_arguments);
    note_cases(gpu_strips);
    note_cases(gpu_held);
    note_cases(gpu_vectors);
}

static void rows(void **state)
{
    (void)state;
    compile_all(add_rows);
}

/* Indices, with and without in-place writes, elementwise and under a sum; positions in 32 and 64 bits. */
static void add_indexed(void)
{
    static const int64_t columns[] = {7, 300, 20000};
    for (int k = 0; k < 3; k++) {
        for (int form = 0; form < 8; form++) {
            group_case *c = gpu_plus_case(3, columns[k], 1, form & 1, true);
            if (form & 4) {
                int sum = ir_unary(&c->g, WK__RSUM, c->g.ins[c->g.nins - 1].arg[1]);
                c->g.nreduce = 1;
                ir_store(&c->g, group_case_dense(c, WK_F32, true, FILL_ONES), sum);
            }
            if (form & 2) c->g.shape[0] = (int64_t)1 << 30; /* never run, so its memory is not allocated */
            note_case(c);
            group_case_free(c);
        }
    }
}

static void indexed(void **state)
{
    (void)state;
    compile_all(add_indexed);
}

/* Products of all forms, and each family of work, in each dtype. */
static void note_product(wk_dtype dtype, int64_t m, int64_t n, int64_t k)
{
    wk__fail fail;
    wk__memory memory = {.block = &memory};
    const wk__operand operand = {.dtype = (uint8_t)dtype, .memory = &memory};
    const wk__matmul product = {.m = m, .n = n, .k = k, .a = operand, .b = operand, .c = operand};
    wk__contraction sum;
    wk__work_args kernel;
    wk__work work;
    wk__work_from_matmul(&product, &sum, &kernel, &work);
    good(wk__gpu_lower_work(&target, &work, note, NULL, &fail), &fail);
}

static void note_work(int id, wk_dtype dtype, int64_t lines, int64_t length, int64_t inner)
{
    wk__fail fail;
    wk__memory memory = {.block = &memory};
    const wk__work_family *family = &wk__work_families[id];
    wk__work_args kernel = {.ndim = 3, .dim = 1, .shape = {lines, length, inner}, .bound = 40};
    for (int k = 0; k < family->nout + family->nin; k++)
        kernel.operand[k] = (wk__operand){.dtype = (uint8_t)(k == family->index_operand ? WK_I64 : dtype),
                                          .memory = &memory,
                                          .stride = {length * inner, inner, 1}};
    const wk__work work = {.family = id, .args = &kernel};
    good(wk__gpu_lower_work(&target, &work, note, NULL, &fail), &fail);
}

/* A contraction with a computed coordinate, with this number of rows, columns and products. */
static void note_contraction(wk_dtype dtype, int64_t lines, int64_t length)
{
    wk__fail fail;
    wk__memory memory = {.block = &memory};
    const wk__operand operand = {.dtype = (uint8_t)dtype, .memory = &memory};
    const wk__contraction sum = {.dtype = wk__accumulator_dtype((int)dtype),
                                 .nsummed = 1,
                                 .extent = {length},
                                 .stride = {{1}, {1}},
                                 .naffine = {1},
                                 .affine[0][0] = {.divisor = 1}};
    wk__work_args kernel = {
        .ndim = 2, .shape = {lines, lines}, .operand = {operand, operand, operand}, .contraction = &sum};
    kernel.operand[1].stride[0] = kernel.operand[2].stride[1] = 1;
    const wk__work work = {.family = WK__CONTRACTION, .args = &kernel};
    if (dtype != WK_BOOL) good(wk__gpu_lower_work(&target, &work, note, NULL, &fail), &fail);
}

/* Products with quantised blocks of each format: with one and few rows of x, in tiles of both sizes and with split
 * sums. */
static void note_quantized(void)
{
    static const int64_t x_rows[] = {1, 3, 1000, 9, 20}, block_rows[] = {5, 5, 1000, 100, 100},
                         elements[] = {256, 256, 256, 256, 2048};
    wk__fail fail;
    wk__memory memory = {.block = &memory};
    for (int format = 0; format < WK__BLOCK_OP_FORMATS; format++)
        for (int k = 0; k < 5; k++) {
            const wk__block_format *f = &wk__block_formats[format];
            wk__work_args kernel = {
                .ndim = WK__QUANTIZED_DIMS,
                .mode = format,
                .shape = {x_rows[k], block_rows[k], elements[k], elements[k] / f->elements * f->bytes}};
            for (int o = 0; o < 3; o++)
                kernel.operand[o] = (wk__operand){.dtype = o == 2 ? WK_U8 : WK_F32, .memory = &memory};
            const wk__work work = {.family = WK__QUANTIZED, .args = &kernel};
            good(wk__gpu_lower_work(&target, &work, note, NULL, &fail), &fail);
        }
}

/* In tiles of both sizes, in tiles with split sums, element by element, and by work-groups. */
static void note_tiles(wk_dtype dtype)
{
    note_product(dtype, 1000, 1000, 37);
    note_product(dtype, 70, 130, 600);
    note_contraction(dtype, 70, 37);
    note_contraction(dtype, 1000, 37);
    note_contraction(dtype, 70, 600);
    note_contraction(dtype, 3, 2000);
}

static void add_kernels(void)
{
    for (int dtype = WK_F32; dtype < WK_DTYPE_COUNT; dtype++) {
        note_product((wk_dtype)dtype, 5, 7, 3);
        note_product((wk_dtype)dtype, 70, 130, 37);
        note_product((wk_dtype)dtype, 1, 1, 9000);
        note_contraction((wk_dtype)dtype, 3, 7);
        if (dtype <= WK_BF16 || dtype == WK_I64) note_tiles((wk_dtype)dtype);
        for (int id = 0; id < WK__WORK_FAMILIES; id++)
            if (wk__work_families[id].is_along_dim) note_work(id, (wk_dtype)dtype, 3, 40, 1);
    }
}

static void kernels(void **state)
{
    (void)state;
    compile_all(add_kernels);
}

static void check_registers(const char *ptx)
{
    if (strstr(ptx, "__local_depot") != NULL) fail_msg("a product with blocks has per-item memory");
}

/* Decoded elements and sums are in registers. */
static void blocks(void **state)
{
    (void)state;
    look = check_registers;
    compile_all(note_quantized);
    look = NULL;
}

/* Split lines, by items and by work-groups, and unsplit ones. */
static void add_long_lines(void)
{
    for (int dtype = WK_F32; dtype < WK_DTYPE_COUNT; dtype++)
        for (int id = 0; id < WK__WORK_FAMILIES; id++) {
            if (!wk__work_families[id].is_along_dim) continue;
            note_work(id, (wk_dtype)dtype, 3, 100, 1);
            note_work(id, (wk_dtype)dtype, 1, 200, 32);
            note_work(id, (wk_dtype)dtype, 1, 20000, 1);
        }
}

static void long_lines(void **state)
{
    (void)state;
    if (nvrtc.CreateProgram == NULL) skip();
    static char any[] = "--gpu-architecture=compute_80";
    compile_units(add_long_lines, any, false);
}

static bool is_wanted(epilogue_product product, epilogue_kind kind, wk_dtype dtype)
{
    if (dtype != WK_F32) return kind == EPILOGUE_SEVERAL && product <= EPILOGUE_OF_BLOCKS;
    return product == EPILOGUE_OF_BLOCKS || kind == EPILOGUE_SEVERAL || kind == EPILOGUE_PLACES;
}

/* Products with epilogues: all epilogues of the tiled product, two of the others; one in several dtypes. */
static void add_epilogues(void)
{
    static const wk_dtype dtypes[] = {WK_F32, WK_F64, WK_BF16, WK_U8};
    for (int product = 0; product < EPILOGUE_PRODUCTS; product++)
        for (int kind = 0; kind < EPILOGUE_KINDS; kind++)
            for (int t = 0; t < 4; t++) {
                wk__fail fail;
                if (!is_wanted((epilogue_product)product, (epilogue_kind)kind, dtypes[t])) continue;
                epilogue_case *c = epilogue_case_new((epilogue_product)product, (epilogue_kind)kind, dtypes[t]);
                good(wk__gpu_lower_work(&target, &c->work, note, NULL, &fail), &fail);
                epilogue_case_free(c);
            }
}

static void epilogues(void **state)
{
    (void)state;
    compile_all(add_epilogues);
}

static epilogue_case *in_tiles;

static void add_in_tiles(void)
{
    wk__fail fail;
    good(wk__gpu_lower_work(&target, &in_tiles->work, note, NULL, &fail), &fail);
}

static void check_vectors(const char *ptx)
{
    if (strstr(ptx, "st.global.v4") == NULL) fail_msg("product %d: no vector stores", (int)in_tiles->product);
    if (strstr(ptx, "__local_depot") != NULL) fail_msg("product %d: per-item memory", (int)in_tiles->product);
}

/* Tiles, also with epilogues, are stored four elements at once, and an item's sums are in registers or local memory of
 * the work-group: the driver would allocate per-item memory at a launch, which may fail. */
static void tiles(void **state)
{
    (void)state;
    if (nvrtc.CreateProgram == NULL) skip();
    static char any[] = "--gpu-architecture=compute_80";
    static const struct {
        epilogue_product product;
        int units;
    } of[] = {{EPILOGUE_OF_BLOCKS, 1},
              {EPILOGUE_OF_BLOCKS, 8},
              {EPILOGUE_OF_PARTS, 400},
              {EPILOGUE_OF_CONVOLUTION_TILES, 1},
              {EPILOGUE_OF_CONVOLUTION_PARTS, 400}};
    const int units_before = target.compute_units;
    look = check_vectors;
    for (size_t k = 0; k < 2 * sizeof of / sizeof *of; k++) {
        in_tiles = epilogue_case_new(of[k / 2].product, EPILOGUE_RELU, WK_F32);
        target.compute_units = of[k / 2].units;
        if (k % 2 == 1) in_tiles->work.program = NULL;
        compile_units(add_in_tiles, any, false);
        epilogue_case_free(in_tiles);
    }
    look = NULL;
    target.compute_units = units_before;
}

/* Invalid source is rejected with a message, without affecting other kernels, and is not compiled again. */
static void rejected_sources(void **state)
{
    (void)state;
    if (nvrtc.CreateProgram == NULL) skip();
    void *program;
    wk__fail fail;
    static char any[] = "--gpu-architecture=compute_80";
    assert_int_equal(compile(any, "no C at all", &program, NULL, &fail), WK_ERR_INTERNAL);
    assert_non_null(strstr(fail.text, "rejected a kernel: error"));
    assert_int_equal(compile(any, "__device__ int f(void) { int unused; return 1; }", &program, NULL, &fail),
                     WK_ERR_INTERNAL);
    assert_non_null(strstr(fail.text, "never referenced"));
}

int main(void)
{
    target = wk__gpu_target_of(WK__GPU_CUDA, true);
    target.compute_units = 8;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes),     cmocka_unit_test(rows),   cmocka_unit_test(indexed),
        cmocka_unit_test(kernels),   cmocka_unit_test(blocks), cmocka_unit_test(long_lines),
        cmocka_unit_test(epilogues), cmocka_unit_test(tiles),  cmocka_unit_test(rejected_sources),
    };
    return cmocka_run_group_tests(tests, load, NULL);
}
