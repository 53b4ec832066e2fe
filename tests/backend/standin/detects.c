/* SPDX-License-Identifier: Apache-2.0 */
/* The stand-in detects mistakes: programs with one mistake each fail or compute another result under some seeds, or
 * under all of them. The same programs without the mistake are correct under all seeds. */
#include "test.h"

enum { SEEDS = 8, THREADS = 256, BYTES = THREADS * sizeof(float) };

/* ---- programs ---------------------------------------------------------------------------------------------------- */

/* State of a run: a context, two streams, an event and three arrays. */
static struct {
    void *context, *stream[2], *event, *module;
    cu_address in, out, other;
    float host[THREADS], got[THREADS];
    int error; /* the first error code */
} run;

/* Records the code of a call that a mistake may cause to fail. */
static void note(int code)
{
    if (run.error == 0) run.error = code;
}

/* Sources are compiled once. */
static char *cubin_of(const char *text)
{
    static struct {
        const char *text;
        char *cubin;
    } known[64];
    int k = 0;
    while (known[k].text != NULL && strcmp(known[k].text, text) != 0) k++;
    if (known[k].text != NULL) return known[k].cubin;
    known[k].text = text;
    if (standin_compile(text, &known[k].cubin) != 0) fail_msg("%s", known[k].cubin);
    return known[k].cubin;
}

static void begin(int seed)
{
    char number[16];
    snprintf(number, sizeof number, "%d", seed);
    setenv("STANDIN_SEED", number, 1);
    memset(&run, 0, sizeof run);
    assert_int_equal(cu.cuInit(0), 0);
    assert_int_equal(cu.cuDevicePrimaryCtxRetain(&run.context, 0), 0);
    assert_int_equal(cu.cuCtxSetCurrent(run.context), 0);
    for (int k = 0; k < 2; k++) assert_int_equal(cu.cuStreamCreate(&run.stream[k], 1), 0);
    assert_int_equal(cu.cuEventCreate(&run.event, 0), 0);
    assert_int_equal(cu.cuMemAlloc_v2(&run.in, BYTES), 0);
    assert_int_equal(cu.cuMemAlloc_v2(&run.out, BYTES), 0);
    assert_int_equal(cu.cuMemAlloc_v2(&run.other, BYTES), 0);
    for (int k = 0; k < THREADS; k++) run.host[k] = (float)k;
    assert_int_equal(cu.cuMemcpyHtoDAsync_v2(run.in, run.host, BYTES, run.stream[0]), 0);
    assert_int_equal(cu.cuMemsetD32Async(run.out, 0, THREADS, run.stream[0]), 0);
    assert_int_equal(cu.cuStreamSynchronize(run.stream[0]), 0);
}

static void launch(const char *text, int stream, int blocks, void **argument)
{
    void *function;
    if (run.module != NULL) cu.cuModuleUnload(run.module);
    assert_int_equal(cu.cuModuleLoadData(&run.module, cubin_of(text)), 0);
    assert_int_equal(cu.cuModuleGetFunction(&function, run.module, "kernel"), 0);
    note(cu.cuLaunchKernel(function, (unsigned)blocks, 1, 1, THREADS / (unsigned)blocks, 1, 1, 0, run.stream[stream],
                           argument, NULL));
}

/* Downloads an array after the work of a stream. */
static void fetch(cu_address from, int stream)
{
    note(cu.cuMemcpyDtoHAsync_v2(run.got, from, BYTES, run.stream[stream]));
    note(cu.cuStreamSynchronize(run.stream[stream]));
    note(cu.cuCtxSynchronize());
}

static bool is_right(float factor, float more)
{
    bool right = run.error == 0;
    for (int k = 0; k < THREADS; k++) right = right && run.got[k] == factor * (float)k + more;
    return right;
}

/* Returns true if the result is correct and no call failed. */
typedef bool program(bool mistake);

/* each: the mistake must be detected under each seed, else under some. */
static void expect_detected(program *p, bool each)
{
    int noticed = 0;
    standin_needed();
    for (int seed = 1; seed <= SEEDS; seed++) {
        for (int mistake = 0; mistake < 2; mistake++) {
            begin(seed);
            const bool right = p(mistake);
            if (!mistake && !right) fail_msg("wrong result without the mistake, seed %d: error %d", seed, run.error);
            noticed += mistake && !right;
            cu.cuCtxSetCurrent(NULL);
            assert_int_equal(cu.cuDevicePrimaryCtxRelease_v2(0), 0);
        }
    }
    print_message("detected under %d of %d seeds\n", noticed, SEEDS);
    assert_true(each ? noticed == SEEDS : noticed > 0);
}

/* ---- mistakes in kernels ----------------------------------------------------------------------------------------- */

#define KERNEL(body) "extern \"C\" __global__ void kernel(const float *in, float *out, int n)\n{\n" body "}\n"
#define TURN(barrier)                                                                                                  \
    KERNEL("    __shared__ float s[256];\n    s[threadIdx.x] = in[255 - threadIdx.x];\n    " barrier                   \
           "\n    out[threadIdx.x] = s[255 - threadIdx.x];\n")

static bool run_kernel(const char *text, int n)
{
    launch(text, 0, 1, (void *[]){&run.in, &run.out, &n});
    fetch(run.out, 0);
    return is_right(1, 0);
}

static bool barrier(bool mistake)
{
    return run_kernel(mistake ? TURN("") : TURN("__syncthreads();"), 0);
}

static void missing_barrier(void **state)
{
    (void)state;
    expect_detected(barrier, true);
}

#define SHUFFLE(mask, lanes)                                                                                           \
    KERNEL("    float v = in[threadIdx.x];\n    if (threadIdx.x % 32 < " lanes ")\n        v = __shfl_xor_sync(" mask  \
           ", __shfl_xor_sync(" mask ", v, 1), 1);\n    out[threadIdx.x] = v;\n")

static bool mask(bool mistake)
{
    return run_kernel(mistake ? SHUFFLE("0x7fffffffu", "32") : SHUFFLE("0xffffffffu", "32"), 0);
}

static void lane_outside_its_mask(void **state)
{
    (void)state;
    expect_detected(mask, true);
}

static bool lanes(bool mistake)
{
    return run_kernel(mistake ? SHUFFLE("0xffffffffu", "20") : SHUFFLE("0x000fffffu", "20"), 0);
}

static void lane_that_does_not_arrive(void **state)
{
    (void)state;
    expect_detected(lanes, true);
}

static bool index_out(bool mistake)
{
    return run_kernel(KERNEL("    out[threadIdx.x] = in[threadIdx.x];\n    if (threadIdx.x == 255) out[n] = n;\n"),
                      mistake ? THREADS : THREADS - 1);
}

static void index_past_the_end(void **state)
{
    (void)state;
    expect_detected(index_out, true);
}

static bool four(bool mistake)
{
    return run_kernel(KERNEL("    out[threadIdx.x] = in[threadIdx.x];\n    if (threadIdx.x == 9) {\n"
                             "        float4 v = *(const float4 *)(in + n);\n"
                             "        if (v.x < 0) out[0] = v.y;\n    }\n"),
                      mistake ? 5 : 4);
}

static void unaligned_vector(void **state)
{
    (void)state;
    expect_detected(four, true);
}

static bool poison(bool mistake)
{
    return run_kernel(KERNEL("    __shared__ float s[256];\n    if ((int)threadIdx.x < n) s[threadIdx.x] = 0;\n"
                             "    __syncthreads();\n    out[threadIdx.x] = in[threadIdx.x] + s[threadIdx.x];\n"),
                      mistake ? THREADS - 1 : THREADS);
}

static void unwritten_shared_memory(void **state)
{
    (void)state;
    expect_detected(poison, true);
}

/* Blocks are unordered: the second one relies on the first. */
static bool blocks(bool mistake)
{
    int n = mistake;
    launch(KERNEL("    int k = blockIdx.x * blockDim.x + threadIdx.x;\n    out[k] = in[k];\n"
                  "    if (n && blockIdx.x == 1) out[k] = in[k] + out[0] - out[1] + 1;\n"),
           0, 2, (void *[]){&run.in, &run.out, &n});
    fetch(run.out, 0);
    return is_right(1, 0);
}

static void dependence_between_blocks(void **state)
{
    (void)state;
    expect_detected(blocks, true);
}

/* All lanes of a warp read a word that one of them then writes: a shuffle in between does not order memory accesses. */
#define READ_FIRST(between)                                                                                            \
    KERNEL("    float zero = __shfl_xor_sync(0xffffffffu, out[threadIdx.x / 32 * 32], 1);\n    " between               \
           "\n    out[threadIdx.x] = in[threadIdx.x] + zero;\n")

static bool warp(bool mistake)
{
    return run_kernel(mistake ? READ_FIRST("") : READ_FIRST("__syncwarp();"), 0);
}

static void missing_wait_of_a_warp(void **state)
{
    (void)state;
    expect_detected(warp, true);
}

#define WRITE_TWICE(between)                                                                                           \
    KERNEL("    out[255 - threadIdx.x] = 1;\n    " between "\n    out[threadIdx.x] = in[threadIdx.x];\n")

static bool twice(bool mistake)
{
    return run_kernel(mistake ? WRITE_TWICE("") : WRITE_TWICE("__syncthreads();"), 0);
}

static void race_between_threads(void **state)
{
    (void)state;
    expect_detected(twice, true);
}

/* Volatile memory may be written by any thread at any time. */
#define WRITE_OTHERS(how)                                                                                              \
    KERNEL("    int k = blockIdx.x * blockDim.x + threadIdx.x;\n    out[k] = in[k];\n"                                 \
           "    if (k == 200) *(" how " float *)&out[3] = in[3];\n")

static bool others(bool mistake)
{
    launch(mistake ? WRITE_OTHERS("") : WRITE_OTHERS("volatile"), 0, 2, (void *[]){&run.in, &run.out, &(int){0}});
    fetch(run.out, 0);
    return is_right(1, 0);
}

static void race_between_blocks(void **state)
{
    (void)state;
    expect_detected(others, true);
}

/* ---- mistakes around kernels ------------------------------------------------------------------------------------- */

#define TWICE KERNEL("    out[threadIdx.x] = 2 * in[threadIdx.x];\n")

/* The second stream reads the output of the first one. */
static bool event(bool mistake)
{
    launch(TWICE, 0, 1, (void *[]){&run.in, &run.out, &(int){0}});
    note(cu.cuEventRecord(run.event, run.stream[0]));
    if (!mistake) note(cu.cuStreamWaitEvent(run.stream[1], run.event, 0));
    note(cu.cuMemcpyDtoDAsync_v2(run.other, run.out, BYTES, run.stream[1]));
    fetch(run.other, 1);
    return is_right(2, 0);
}

static void missing_wait_of_a_stream(void **state)
{
    (void)state;
    expect_detected(event, false);
}

/* The host reads without waiting. */
static bool early(bool mistake)
{
    float got;
    launch(TWICE, 0, 1, (void *[]){&run.in, &run.out, &(int){0}});
    note(cu.cuMemcpyDtoHAsync_v2(run.got, run.out, BYTES, run.stream[0]));
    if (!mistake) note(cu.cuStreamSynchronize(run.stream[0]));
    got = run.got[7];
    fetch(run.out, 0);
    return is_right(2, 0) && got == 14;
}

static void missing_wait_of_the_host(void **state)
{
    (void)state;
    expect_detected(early, true);
}

static bool buffer(bool mistake)
{
    note(cu.cuMemcpyHtoDAsync_v2(run.out, run.host, BYTES, run.stream[0]));
    if (!mistake) note(cu.cuStreamSynchronize(run.stream[0]));
    run.host[100] = -1;
    fetch(run.out, 0);
    return is_right(1, 0);
}

static void buffer_modified_before_its_copy(void **state)
{
    (void)state;
    expect_detected(buffer, true);
}

/* Arguments passed by value are copied at the launch; memory behind pointers is not. */
static bool argument(bool mistake)
{
    int number = 3, *place = malloc(sizeof *place);
    cu_address memory = run.other;
    *place = number;
    note(cu.cuMemcpyHtoDAsync_v2(memory, place, sizeof *place, run.stream[0]));
    note(cu.cuStreamSynchronize(run.stream[0]));
    void *arguments[] = {&run.in, &run.out, &number, &memory};
    launch("extern \"C\" __global__ void kernel(const float *in, float *out, int n, const int *more)\n"
           "{\n    out[threadIdx.x] = in[threadIdx.x] + n + *more;\n}\n",
           0, 1, arguments);
    number = 1000;
    memory = run.in;
    arguments[1] = NULL;
    if (!mistake) note(cu.cuStreamSynchronize(run.stream[0]));
    *place = 1000;
    note(cu.cuMemcpyHtoDAsync_v2(run.other, place, sizeof *place, run.stream[1]));
    note(cu.cuStreamSynchronize(run.stream[1]));
    fetch(run.out, 0);
    free(place);
    return is_right(1, 6);
}

static void argument_modified_after_the_launch(void **state)
{
    (void)state;
    expect_detected(argument, false);
}

static bool freed(bool mistake)
{
    if (mistake) note(cu.cuMemFree_v2(run.in));
    launch(TWICE, 0, 1, (void *[]){&run.in, &run.out, &(int){0}});
    if (!mistake) note(cu.cuMemFree_v2(run.in)); /* waits for the launch */
    fetch(run.out, 0);
    return is_right(2, 0);
}

static void use_after_free(void **state)
{
    (void)state;
    expect_detected(freed, true);
}

static bool fresh(bool mistake)
{
    if (!mistake) note(cu.cuMemsetD8Async(run.other, 0, BYTES, run.stream[0]));
    launch(TWICE, 0, 1, (void *[]){&run.other, &run.out, &(int){0}});
    fetch(run.out, 0);
    return is_right(0, 0);
}

static void use_of_uninitialised_memory(void **state)
{
    (void)state;
    expect_detected(fresh, true);
}

static bool unloaded(bool mistake)
{
    launch(TWICE, 0, 1, (void *[]){&run.in, &run.out, &(int){0}});
    if (!mistake) note(cu.cuStreamSynchronize(run.stream[0]));
    cu.cuModuleUnload(run.module);
    run.module = NULL;
    fetch(run.out, 0);
    return is_right(2, 0);
}

static void module_unloaded_before_its_launch(void **state)
{
    (void)state;
    expect_detected(unloaded, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_barrier),
        cmocka_unit_test(lane_outside_its_mask),
        cmocka_unit_test(lane_that_does_not_arrive),
        cmocka_unit_test(index_past_the_end),
        cmocka_unit_test(unaligned_vector),
        cmocka_unit_test(unwritten_shared_memory),
        cmocka_unit_test(dependence_between_blocks),
        cmocka_unit_test(missing_wait_of_a_warp),
        cmocka_unit_test(race_between_threads),
        cmocka_unit_test(race_between_blocks),
        cmocka_unit_test(missing_wait_of_a_stream),
        cmocka_unit_test(missing_wait_of_the_host),
        cmocka_unit_test(buffer_modified_before_its_copy),
        cmocka_unit_test(argument_modified_after_the_launch),
        cmocka_unit_test(use_after_free),
        cmocka_unit_test(use_of_uninitialised_memory),
        cmocka_unit_test(module_unloaded_before_its_launch),
    };
    return cmocka_run_group_tests(tests, standin_open, NULL);
}
