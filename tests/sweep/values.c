/* SPDX-License-Identifier: Apache-2.0 */
/* Sweep on the CPU: every row, sample, dtype and layout against the double-precision reference, with guard elements
 * around written memory, and without leaks. With WICK_WALK_BITS=FILE the test appends a hash of each row's result bits:
 * modes of the library must not change it (sweep_modes.sh). */
#include "base/slab.h"
#include "support/sweep/sweep.h"

static int64_t live_bytes(void)
{
    wk_memory_stats stats = {.size = sizeof stats};
    assert_int_equal(wk_memory_stats_of(wk_cpu(), &stats), WK_OK);
    return stats.live;
}

static int64_t blocks; /* host blocks of the library, except slabs, whose handles this build never reuses */

static void *counted(void *user, void *block, size_t size)
{
    (void)user;
    void *result = size ? realloc(block, size) : NULL;
    if (!size) free(block);
    if (size == WK__SLAB_BLOCK) return result;
    __atomic_add_fetch(&blocks, (result && !block) - (block && !size), __ATOMIC_RELAXED);
    return result;
}

static void walk_cpu(void **state)
{
    sweep_op row = {.op = *state, .device = wk_cpu(), .dtypes = WK__ANY, .layouts = (1 << SWEEP_LAYOUTS) - 1};
    int64_t live = live_bytes();
    sweep_values(&row);
    expect_ok();
    assert_int_equal(live_bytes(), live);
    const char *path = getenv("WICK_WALK_BITS");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file) return;
    fprintf(file, "%s %s %016llx\n", row.op->category, row.op->name, (unsigned long long)row.bits);
    fclose(file);
}

/* The first rounds allocate cached objects (plans, pooled memory); after that the balance of host memory must be
 * even. */
static void balance(void **state)
{
    sweep_op row = {.op = *state,
                    .device = wk_cpu(),
                    .dtypes = 1 << WK_F32 | 1 << WK_I64 | 1 << WK_BOOL,
                    .layouts = 1 << SWEEP_MIXED | 1 << SWEEP_DENSE};
    int64_t before = 0;
    for (int round = 0; round < 6; round++) {
        sweep_values(&row);
        wk_sync();
        if (round == 4) before = __atomic_load_n(&blocks, __ATOMIC_RELAXED);
    }
    assert_int_equal(__atomic_load_n(&blocks, __ATOMIC_RELAXED), before);
}

int main(void)
{
    static const sweep_kind kinds[] = {{"%s cpu", walk_cpu}, {"%s leaves nothing behind", balance}};
    return wk_set_allocator(counted, NULL) == WK_OK ? sweep_run("sweep_values", kinds, 2, NULL) : 1;
}
