/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory exhaustion while tensors are exported and imported by DLPack: a rejected struct stays the caller's, and a
 * returned one is complete. Handles, bodies and others come from slabs, so that a call fails only when a slab is
 * full. */
#include "support/dlpack.h"
#include "support/alloc_faults.h"

enum { CALLS = 1500 };

static int deleted;

static void count(wk_dl_managed_versioned *self)
{
    (void)self;
    deleted++;
}

static float memory[6] = {0, 1, 2, 3, 4, 5};
static int64_t shape[] = {3, 2}, stride[] = {1, 3};

/* Imports CALLS structs, with the first allocation of each call failing. Returns the number of rejected ones. */
static int refused_of(uint64_t flags)
{
    static wk_tensor *held[CALLS];
    wk_dl_managed_versioned m = {.version = {1, 0},
                                 .deleter = count,
                                 .flags = flags,
                                 .tensor = {.data = memory,
                                            .device = {WK_DL_CPU, 0},
                                            .ndim = 2,
                                            .dtype = {WK_DL_FLOAT, 32, 1},
                                            .shape = shape,
                                            .stride = stride}};
    const bool copies = flags & WK_DL_READ_ONLY;
    int refused = 0;
    deleted = 0;
    for (int k = 0; k < CALLS; k++) {
        alloc_faults_arm(k > 0, false); /* the first call opens the device */
        wk_tensor *x = wk_from_dlpack(&m);
        alloc_faults_arm(0, false);
        if (!x) {
            assert_int_equal(wk_error_code(), WK_ERR_MEMORY);
            assert_int_equal(deleted, copies ? k : 0);
            refused++;
            alloc_faults_disarm();
            x = wk_from_dlpack(&m);
        }
        expect_ok();
        held[k] = x;
        assert_int_equal(deleted, copies ? k + 1 : 0);
    }
    for (int k = 0; k < CALLS; k++) {
        EXPECT_VALUES(held[k], 0, 0, 3, 1, 4, 2, 5);
        wk_free(held[k]);
    }
    assert_int_equal(deleted, CALLS);
    return refused;
}

static void imports(void **state)
{
    (void)state;
    const int shared = refused_of(0), copied = refused_of(WK_DL_READ_ONLY);
    assert_in_range(shared, 1, CALLS / 2);
    assert_in_range(copied, 1, CALLS);
}

static void exports(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((3));
    wk_sync();
    long long blocks = 0;
    for (int round = 0; round < 4; round++) {
        const bool older = round % 2;
        /* the first rounds allocate permanent memory, such as texts of errors */
        if (round == 2) blocks = alloc_live_blocks();
        int refused = 0;
        for (int n = 1; n < 10; n++) {
            alloc_faults_arm(n, true);
            wk_dl_managed_versioned *m = older ? NULL : wk_to_dlpack(x);
            wk_dl_managed_unversioned *u = older ? wk_to_dlpack_unversioned(x) : NULL;
            alloc_faults_arm(0, false);
            refused += !m && !u;
            assert_int_equal(wk_error_code(), m || u ? WK_OK : WK_ERR_MEMORY);
            alloc_faults_disarm();
            if (m) m->deleter(m);
            if (u) u->deleter(u);
        }
        assert_in_range(refused, 1, 8);
    }
    assert_int_equal(alloc_live_blocks(), blocks);
    EXPECT_VALUES(x, 0, 1, 1, 1);
}

int main(void)
{
    alloc_faults_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(imports),
        cmocka_unit_test(exports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
