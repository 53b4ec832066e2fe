/* SPDX-License-Identifier: Apache-2.0 */
/* Features of CUDA that the library's kernels do not use: shuffles, votes, atomics, shared memory within a warp; and
 * kernels that fail as threads of a device can. */
#include "test.h"

#include <math.h>

enum { COUNT = 10000 };

static void *stream;
static cu_address in, out;
static float host[COUNT];

static void good(int code)
{
    if (code != 0) fail_msg("CUDA error %d", code);
}

static void begin(int seed)
{
    char number[16];
    void *context;
    snprintf(number, sizeof number, "%d", seed);
    setenv("STANDIN_SEED", number, 1);
    good(cu.cuInit(0));
    good(cu.cuDevicePrimaryCtxRetain(&context, 0));
    good(cu.cuCtxSetCurrent(context));
    good(cu.cuStreamCreate(&stream, 1));
    good(cu.cuMemAlloc_v2(&in, sizeof host));
    good(cu.cuMemAlloc_v2(&out, sizeof host));
    for (int k = 0; k < COUNT; k++) host[k] = (float)(k * 7919 % 1000 % 10);
    good(cu.cuMemcpyHtoDAsync_v2(in, host, sizeof host, stream));
    good(cu.cuMemsetD32Async(out, 0, COUNT, stream));
}

static void end(void)
{
    cu.cuCtxSetCurrent(NULL);
    good(cu.cuDevicePrimaryCtxRelease_v2(0));
}

/* Returns the code of the wait for the launch. */
static int run(const char *text, unsigned blocks, unsigned threads, unsigned shared)
{
    void *module, *function;
    char *cubin;
    int n = COUNT;
    if (standin_compile(text, &cubin) != 0) fail_msg("%s", cubin);
    good(cu.cuModuleLoadData(&module, cubin));
    free(cubin);
    good(cu.cuModuleGetFunction(&function, module, "kernel"));
    good(cu.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, shared, stream, (void *[]){&in, &out, &n}, NULL));
    return cu.cuStreamSynchronize(stream);
}

static float first(void)
{
    float got;
    good(cu.cuMemcpyDtoHAsync_v2(&got, out, sizeof got, stream));
    good(cu.cuStreamSynchronize(stream));
    return got;
}

#define KERNEL(body) "extern \"C\" __global__ void kernel(const float *in, float *out, int n)\n{\n" body "}\n"
#define PLACE        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"

/* ---- correct kernels --------------------------------------------------------------------------------------------- */

static const char sum[] =
    KERNEL("    __shared__ float part[32];\n    float sum = 0;\n"
           "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];\n"
           "    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);\n"
           "    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;\n    __syncthreads();\n"
           "    if (threadIdx.x < 32) {\n        sum = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0.0f;\n"
           "        for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);\n"
           "        if (threadIdx.x == 0) atomicAdd(out, sum);\n    }\n");

static void shuffles(void **state)
{
    (void)state;
    standin_needed();
    for (int seed = 0; seed < 4; seed++) {
        float want = 0;
        begin(seed);
        for (int k = 0; k < COUNT; k++) want += host[k];
        good(run(sum, 4, 256, 0));
        assert_true(first() == want);
        end();
    }
}

static void votes_and_widths(void **state)
{
    (void)state;
    standin_needed();
    begin(1);
    good(run(KERNEL("    unsigned even = __ballot_sync(0xffffffffu, threadIdx.x % 2 == 0);\n"
                    "    int all = __all_sync(0xffffffffu, even == 0x55555555u);\n"
                    "    int any = __any_sync(0xffffffffu, threadIdx.x == 31);\n"
                    "    int eight = __shfl_sync(0xffffffffu, (int)threadIdx.x, 3, 8);\n"
                    "    int up = __shfl_up_sync(0xffffffffu, (int)threadIdx.x, 1, 16);\n"
                    "    bool right = all && any && eight == threadIdx.x / 8 * 8 + 3;\n"
                    "    right = right && up == (threadIdx.x % 16 ? threadIdx.x - 1 : threadIdx.x);\n"
                    "    if (!__any_sync(0xffffffffu, !right) && threadIdx.x == 0) out[0] = 1;\n"),
             1, 32, 0));
    assert_true(first() == 1);
    end();
}

static void atomics(void **state)
{
    (void)state;
    standin_needed();
    begin(1);
    good(run(KERNEL(PLACE "    extern __shared__ int bins[];\n"
                          "    for (int b = threadIdx.x; b < 64; b += blockDim.x) bins[b] = 0;\n    __syncthreads();\n"
                          "    if (i < n) atomicAdd(&bins[(int)in[i] & 63], 1);\n    __syncthreads();\n"
                          "    if (threadIdx.x == 0) atomicAdd(out, (float)bins[3]);\n"
                          "    unsigned *most = (unsigned *)out + 1, old = *most, assumed;\n    if (i >= n) return;\n"
                          "    do {\n        assumed = old;\n        if (__uint_as_float(assumed) >= in[i]) break;\n"
                          "        old = atomicCAS(most, assumed, __float_as_uint(in[i]));\n"
                          "    } while (old != assumed);\n"),
             40, 256, 256));
    float got[2], want[2] = {0, 0};
    for (int k = 0; k < COUNT; k++) {
        want[0] += host[k] == 3;
        want[1] = fmaxf(want[1], host[k]);
    }
    good(cu.cuMemcpyDtoHAsync_v2(got, out, sizeof got, stream));
    good(cu.cuStreamSynchronize(stream));
    assert_true(got[0] == want[0] && got[1] == want[1]);
    end();
}

/* Lanes that exchange data through shared memory, with or without the barrier of the warp. */
#define IN_WARP(first_one, second_one)                                                                                 \
    KERNEL("    __shared__ float s[256];\n    float v = in[threadIdx.x];\n    for (int k = 0; k < 4; k++) {\n"         \
           "        s[threadIdx.x] = v;\n        " first_one "\n        v = s[threadIdx.x ^ 1];\n        " second_one  \
           "\n    }\n    out[threadIdx.x] = v;\n")

static void within_a_warp(void **state)
{
    (void)state;
    static const char *const texts[] = {IN_WARP("__syncwarp();", "__syncwarp();"), IN_WARP("", "__syncwarp();"),
                                        IN_WARP("__syncwarp();", "")};
    standin_needed();
    for (int k = 0; k < 3; k++) {
        begin(2);
        assert_int_equal(run(texts[k], 1, 256, 0), k == 0 ? 0 : CU_FAILED);
        if (k == 0) assert_true(first() == host[0]);
        end();
    }
}

/* All lanes read a word that one lane then writes. */
static void broadcast_then_write(void **state)
{
    (void)state;
    standin_needed();
    begin(3);
    good(run(KERNEL("    __shared__ float s;\n    float v = 0;\n    for (int k = 0; k < 4; k++) {\n"
                    "        if (threadIdx.x == 0) s = k;\n        __syncwarp();\n        v += s;\n"
                    "        __syncwarp();\n    }\n    if (threadIdx.x == 5) out[0] = v;\n"),
             1, 32, 0));
    assert_true(first() == 6);
    end();
}

static void vectors(void **state)
{
    (void)state;
    standin_needed();
    begin(1);
    good(run(KERNEL(PLACE "    if (i >= n / 4) return;\n    float4 v = ((const float4 *)in)[i];\n"
                          "    v.x *= 2; v.y *= 2; v.z *= 2; v.w *= 2;\n    ((float4 *)out)[i] = v;\n"),
             10, 256, 0));
    float got[COUNT];
    good(cu.cuMemcpyDtoHAsync_v2(got, out, sizeof got, stream));
    good(cu.cuStreamSynchronize(stream));
    for (int k = 0; k < COUNT; k++) assert_true(got[k] == 2 * host[k]);
    end();
}

/* ---- failing kernels --------------------------------------------------------------------------------------------- */

static void refused(const char *text)
{
    begin(1);
    assert_int_equal(run(text, 2, 256, 0), CU_FAILED);
    end();
}

static void incomplete_barriers(void **state)
{
    (void)state;
    standin_needed();
    refused(KERNEL("    if (threadIdx.x < 128) __syncthreads();\n    out[threadIdx.x] = 1;\n"));
    refused(KERNEL("    if (threadIdx.x < 128) {\n        __syncthreads();\n        out[0] = 1;\n    } else {\n"
                   "        __syncthreads();\n        out[1] = 1;\n    }\n"));
}

/* The process continues after each fault. */
static void processor_faults(void **state)
{
    (void)state;
    standin_needed();
    refused(KERNEL("    out[0] = (float)(n / (int)out[threadIdx.x]);\n"));
    refused(KERNEL("    volatile float many[40000];\n    for (int k = 0; k < n; k++) many[k] = k;\n"
                   "    out[0] = many[n - 1];\n"));
    refused(KERNEL("    __trap();\n"));
}

static void endless_kernel(void **state)
{
    (void)state;
    standin_needed();
    setenv("STANDIN_SECONDS", "1", 1);
    refused(KERNEL("    while (*(volatile float *)out == 0) {}\n"));
    unsetenv("STANDIN_SECONDS");
}

static void other_memory(void **state)
{
    (void)state;
    standin_needed();
    refused(KERNEL("    if (threadIdx.x == 0) out[0] = *(const float *)(((unsigned long long)in) + (1ull << 40));\n"));
    refused(KERNEL("    in[3] == 1 ? ((float *)0)[2] = 1 : out[-1] = 1;\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shuffles),
        cmocka_unit_test(votes_and_widths),
        cmocka_unit_test(atomics),
        cmocka_unit_test(within_a_warp),
        cmocka_unit_test(broadcast_then_write),
        cmocka_unit_test(vectors),
        cmocka_unit_test(incomplete_barriers),
        cmocka_unit_test(processor_faults),
        cmocka_unit_test(endless_kernel),
        cmocka_unit_test(other_memory),
    };
    return cmocka_run_group_tests(tests, standin_open, NULL);
}
