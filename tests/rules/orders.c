/* SPDX-License-Identifier: Apache-2.0 */
/* Rule 13 under any program: the order in which a sum adds up is a matter of what is reduced, not of what the kernel
 * computes besides. Real numbers, which show an order, in reductions of drawn operands: dense, transposed, repeated
 * along a dimension, cut out; computed on the way or not, several in a kernel. Fused or not the bits are the same. */
#include "support/bits.h"
#include "support/devices.h"

#include <math.h>

#include "engine/op_queue.h"
#include "random/generator/rng.h"

enum { PROGRAMS = 6, DIMS = 3, VALUES = 3, RESULTS = 2 * VALUES };

typedef struct program {
    rng d;
    int64_t shape[DIMS];
} program;

static void draw_shape(program *p)
{
    static const int64_t sizes[] = {1, 3, 8, 17, 40, 70, 130};
    int64_t elements = 1;
    for (int k = 0; k < DIMS; k++) {
        p->shape[k] = sizes[rng_below(&p->d, sizeof sizes / sizeof *sizes)];
        if (elements * p->shape[k] > 20000) p->shape[k] = 3;
        elements *= p->shape[k];
    }
    if (elements < 200 && rng_percent(&p->d, 50)) p->shape[rng_below(&p->d, DIMS)] = 2500;
}

/* Of the program's shape, where dimension `a` of the memory is `b` of the tensor. */
static wk_tensor *transposed(program *p, int a, int b)
{
    int64_t shape[DIMS];
    memcpy(shape, p->shape, sizeof shape);
    shape[a] = p->shape[b];
    shape[b] = p->shape[a];
    return wk_transpose(wk_randn(WK_ARRAY(shape, DIMS)), a, b);
}

static wk_tensor *operand(program *p)
{
    int64_t shape[DIMS];
    const int dim = rng_below(&p->d, DIMS), other = rng_below(&p->d, DIMS);
    memcpy(shape, p->shape, sizeof shape);
    switch (rng_below(&p->d, 5)) {
    case 0: return transposed(p, dim, other);
    case 1: shape[dim] = 1; return wk_expand(wk_randn(WK_ARRAY(shape, DIMS)), WK_ARRAY(p->shape, DIMS));
    case 2: shape[dim] += 3; return wk_narrow(wk_randn(WK_ARRAY(shape, DIMS)), dim, 2, p->shape[dim]);
    default: return wk_randn(WK_ARRAY(shape, DIMS));
    }
}

/* Numbers between -1 and 1, so that a product of many is none that all orders agree on. */
static wk_tensor *computed(program *p, wk_tensor *x, wk_tensor *y)
{
    switch (rng_below(&p->d, 5)) {
    case 0: return wk_mul(x, y);
    case 1: return wk_add(x, wk_sin(y));
    case 2: return wk_sub(wk_mul(x, 0.3), y);
    case 3: return wk_tanh(x);
    default: return x;
    }
}

static wk_tensor *reduced(program *p, wk_tensor *x, const int64_t *dims, int count, bool keepdim)
{
    switch (rng_below(&p->d, 4)) {
    case 0: return wk_mean(x, WK_ARRAY(dims, count), .keepdim = keepdim);
    case 1: return wk_var(x, WK_ARRAY(dims, count), .correction = WK_EXPLICIT_ZERO, .keepdim = keepdim);
    case 2: return wk_logsumexp(x, WK_ARRAY(dims, count), .keepdim = keepdim);
    default: return wk_sum(x, WK_ARRAY(dims, count), .keepdim = keepdim);
    }
}

/* Programs that found something: two sums in a kernel of what lies in memory in two ways, and a factor that is the same
 * for a row of what is summed. */
static const uint64_t found[] = {67, 80};
enum { FOUND = sizeof found / sizeof *found };

/* The same calls each time. */
static void compute(uint64_t seed, wk_tensor *out[RESULTS])
{
    WK_SCOPE;
    program p = {.d = {seed}};
    wk_tensor *x[VALUES];
    wk_seed(seed >> 1);
    draw_shape(&p);
    const int mask = rng_range(&p.d, 1, (1 << DIMS) - 1);
    int64_t dims[DIMS];
    int count = 0;
    for (int k = 0; k < DIMS; k++)
        if (mask >> k & 1) dims[count++] = k;
    for (int k = 0; k < VALUES; k++) x[k] = operand(&p);
    wk_sync(); /* what is reduced is in memory, or computed from what is */
    for (int k = 0; k < VALUES; k++) {
        wk_tensor *y = computed(&p, x[k], x[rng_below(&p.d, VALUES)]);
        out[2 * k] = wk_keep(reduced(&p, y, dims, count, true));
        out[2 * k + 1] =
            wk_keep(rng_percent(&p.d, 50) ? wk_sub(y, out[2 * k]) : wk_sum(wk_mul(y, y), WK_ARRAY(dims, count)));
    }
}

static void a_kernel_of_its_own_has_the_same_order(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_DEVICE(device);
        for (uint64_t k = 0; k < PROGRAMS; k++) {
            WK_SCOPE;
            const uint64_t seed = k < FOUND ? found[k] : test_seed() * PROGRAMS + k;
            wk_tensor *fused[RESULTS], *alone[RESULTS];
            compute(seed, fused);
            wk_sync();
            wk__engine_config_set(false, true);
            compute(seed, alone);
            wk_sync();
            wk__engine_config_set(false, false);
            for (int r = 0; r < RESULTS; r++) {
                char name[100];
                snprintf(name, sizeof name, "%s, WICK_TEST_SEED=%llu, program %d, result %d", wk_device_str(device),
                         (unsigned long long)test_seed(), (int)k, r);
                expect_same_bits(fused[r], alone[r], name);
            }
            expect_ok();
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_kernel_of_its_own_has_the_same_order, test_default_mode, test_restore_mode)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
