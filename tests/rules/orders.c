/* SPDX-License-Identifier: Apache-2.0 */
/* Tests rule 13 with random programs: the order of additions in a sum depends only on the reduced operand, not on the
 * other work of the kernel. Real values, whose sum shows the order, are reduced from random operands: dense,
 * transposed, expanded, sliced; computed in the same kernel or not, several per kernel. Results with and without fusion
 * must have the same bits. */
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

/* A tensor of the program's shape whose dimensions a and b are swapped in memory. */
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

/* Values between -1 and 1; a product of many must not become 0 or infinite, which would hide the order. */
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

/* Seeds that once failed: two sums in one kernel of operands with different layouts, and a factor that is constant
 * along each summed row. */
static const uint64_t failed_seeds[] = {67, 80};
enum { FAILED_SEEDS = sizeof failed_seeds / sizeof *failed_seeds };

/* Makes the same calls for equal seeds. */
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
    wk_sync(); /* operands of reductions are in memory, or computed from memory */
    for (int k = 0; k < VALUES; k++) {
        wk_tensor *y = computed(&p, x[k], x[rng_below(&p.d, VALUES)]);
        out[2 * k] = wk_keep(reduced(&p, y, dims, count, true));
        out[2 * k + 1] =
            wk_keep(rng_percent(&p.d, 50) ? wk_sub(y, out[2 * k]) : wk_sum(wk_mul(y, y), WK_ARRAY(dims, count)));
    }
}

static void fusion_does_not_change_the_order(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_DEVICE(device);
        for (uint64_t k = 0; k < PROGRAMS; k++) {
            WK_SCOPE;
            const uint64_t seed = k < FAILED_SEEDS ? failed_seeds[k] : test_seed() * PROGRAMS + k;
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
        cmocka_unit_test_setup_teardown(fusion_does_not_change_the_order, test_default_mode, test_restore_mode)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
