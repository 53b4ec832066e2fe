/* SPDX-License-Identifier: Apache-2.0 */
/* Tests rules 10 and 22 of docs/contributing/invariants.md: memory use of a program, and allocations that are
 * refused. A counting allocator of this program counts all host memory of the library; the library counts tensor
 * memory itself. */
#include "support/wick.h"

#include <unistd.h>

#include "backend/null/null.h"
#include "engine/op_queue.h"

#include "engine/verify/plan_check.h"

/* ---- counting allocator ------------------------------------------------------------------------------------------ */

enum { HEAD = 16 }; /* before each block: its size */

static int64_t held; /* not atomic: one thread records, and the pool's workers allocate before that */

static void *counting(void *user, void *block, size_t size)
{
    (void)user;
    char *raw = block ? (char *)block - HEAD : NULL;
    if (raw) {
        size_t before;
        memcpy(&before, raw, sizeof before);
        __atomic_fetch_sub(&held, (int64_t)before, __ATOMIC_RELAXED);
    }
    if (size == 0) {
        free(raw);
        return NULL;
    }
    raw = realloc(raw, size + HEAD);
    if (!raw) return NULL;
    memcpy(raw, &size, sizeof size);
    __atomic_fetch_add(&held, (int64_t)size, __ATOMIC_RELAXED);
    return raw + HEAD;
}

static int64_t live(wk_device device)
{
    wk_memory_stats stats = {.size = sizeof stats};
    assert_int_equal(wk_memory_stats_of(device, &stats), WK_OK);
    return stats.live;
}

/* ---- rule 10 ----------------------------------------------------------------------------------------------------- */

enum { MANY = 1000000 };

/* A million results in one scope; each has a handle that could still be read. */
static void many_results_in_one_scope(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((2, 3));
    wk_sync();
    int64_t before = held + live(wk_cpu());
    for (int k = 0; k < MANY; k++) x = wk_add(x, 1);
    wk_sync();
    int64_t each = (held + live(wk_cpu()) - before) / MANY;
    if (each >= 1024) fail_msg("%lld bytes per call", (long long)each);
    EXPECT_VALUES(wk_sum(x), 0, 6.0 * (MANY + 1));
}

/* The same with gradients: the memory of the graph is included. */
static void many_results_with_a_graph(void **state)
{
    (void)state;
    enum { FEWER = 100000 };
    WK_SCOPE;
    wk_tensor *w = wk_ones((2, 3), .requires_grad = true), *x = w;
    wk_sync();
    int64_t before = held + live(wk_cpu());
    for (int k = 0; k < FEWER; k++) x = wk_mul(x, 1.0);
    wk_sync();
    int64_t each = (held + live(wk_cpu()) - before) / FEWER;
    if (each >= 2 * 1024) fail_msg("%lld bytes per call", (long long)each);
    assert_int_equal(wk_backward(wk_sum(x)), WK_OK);
    EXPECT_VALUES(wk_grad_of(w), 0, 1, 1, 1, 1, 1, 1);
}

static bool slots_are_reused(void)
{
    wk_tensor *first = wk_ones((1)), *x;
    bool again = false;
    wk_free(first);
    for (int k = 0; k < 10000; k++) {
        x = wk_ones((1));
        again = again || x == first;
        wk_free(x);
    }
    return again;
}

enum { HANDLES = 64 }; /* maximum per iteration */

static void a_loop_with_a_scope_does_not_grow(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((64, 64)), *w = wk_ones((64, 64), .requires_grad = true);
    wk_optim *sgd = wk_optim_sgd(wk_list((w)), .lr = 1e-3, .momentum = 0.9);
    wk_history *losses = wk_history_new();
    int64_t before = 0;
    for (int k = 0; k < 12000; k++) {
        WK_SCOPE;
        wk_tensor *loss = wk_mean(wk_exp(wk_mul(wk_mul(x, w), 0.01)));
        wk_optim_zero_grad(sgd);
        wk_backward(loss);
        wk_optim_step(sgd);
        if (k % 100 == 0) wk_history_add(losses, loss);
        wk_carry(&x, wk_add(wk_mul(x, 0.5), 0.5));
        if (k == 8000) before = held + live(wk_cpu()); /* slots of freed handles are reused after 4,096 later frees */
    }
    int64_t grown = held + live(wk_cpu()) - before;
    if (!slots_are_reused()) grown -= (int64_t)4000 * HANDLES * 64; /* a debug build does not reuse slots */
    if (grown > 64 << 10) fail_msg("%lld more bytes after 4,000 iterations", (long long)grown);
    expect_ok();
}

/* ---- rule 22 ----------------------------------------------------------------------------------------------------- */

static int64_t number_in(const char *path)
{
    FILE *file = fopen(path, "r");
    long long value = INT64_MAX;
    if (file && fscanf(file, "%lld", &value) != 1) value = INT64_MAX; /* the file contains "max" */
    if (file) fclose(file);
    return value;
}

/* The smaller of the machine's memory and the limit of the control group. */
static void the_limit_of_the_cpu(void **state)
{
    (void)state;
    wk_memory_stats stats = {.size = sizeof stats};
    assert_int_equal(wk_memory_stats_of(wk_cpu(), &stats), WK_OK);
    int64_t physical = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    int64_t quota = number_in("/sys/fs/cgroup/memory.max"),
            older = number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes");
    int64_t least = physical < quota ? physical : quota;
    if (older < least) least = older;
    assert_true(stats.limit > 0 && stats.limit <= least);
    if (quota == INT64_MAX && older >= physical) assert_true(stats.limit == physical);
}

/* A result that cannot be stored is refused at the call, in every mode; views of any size are allowed. */
static void results_too_large_are_refused_at_the_call(void **state)
{
    (void)state;
    for (int mode = 0; mode < 3; mode++) {
        WK_SCOPE;
        wk__engine_config_set(mode == 1, mode == 2);
        wk_memory_set_limit(wk_cpu(), (int64_t)1 << 30);
        wk_tensor *row = wk_ones((1, 1 << 20)), *column = wk_ones((1 << 20, 1)), *out[2];
        wk_tensor *wide = wk_expand(row, (1 << 20, 1 << 20));
        EXPECT_SHAPE(wide, 1 << 20, 1 << 20);
        assert_null(wk_zeros((1 << 20, 1 << 20)));
        expect_error("rules/memory.c", "zeros", "limit", NULL);
        assert_null(wk_add(row, column));
        expect_error("rules/memory.c", "add", "limit", NULL);
        assert_null(wk_mul(wide, 2));
        expect_error("mul", "limit", NULL);
        assert_null(wk_exp(wide));
        expect_error("exp", "limit", NULL);
        assert_null(wk_clone(wide));
        expect_error("clone", "limit", NULL);
        assert_null(wk_to_dtype(wide, WK_I64));
        expect_error("to_dtype", "limit", NULL);
        assert_null(wk_matmul(column, row));
        expect_error("matmul", "limit", NULL);
        assert_null(wk_cat((wide, wide), 0));
        expect_error("cat", "limit", NULL);
        assert_null(wk_to(wide, test_null()));
        expect_error("rules/memory.c", "limit", NULL);
        assert_null(wk_cumsum(wide, 0));
        expect_error("cumsum", "limit", NULL);
        assert_int_not_equal(wk_sort(wide, 1, false, &out[0], &out[1]), WK_OK);
        expect_error("sort", "limit", NULL);
        assert_null(wk_rand((1 << 20, 1 << 20)));
        expect_error("rand", "limit", NULL);
        EXPECT_VALUES(wk_sum(wk_slice(wide, 0, 0, 2)), 0, 2 << 20); /* a part that fits can be computed */
        wk__engine_config_set(false, false);
        wk_memory_set_limit(wk_cpu(), 0);
        expect_ok();
    }
}

static void writes_to_overlapping_elements_are_refused(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((6)), *windows = wk_unfold(x, 0, 3, 1), *wide = wk_expand(wk_ones((1)), (4));
    assert_null(wk_add_(windows, 1));
    expect_error("add_", "share memory", "wk_clone", NULL);
    assert_null(wk_fill_(wide, 1));
    expect_error("fill_", "share memory", NULL);
    assert_null(wk_copy_(wide, wk_ones((4))));
    expect_error("copy_", "share memory", NULL);
    assert_null(wk_scatter_add_(wide, 0, wk_zeros((1), .dtype = WK_I64), wk_ones((1))));
    expect_error("scatter_add_", "share memory", NULL);
    assert_null(wk_uniform_(windows, 0, 1));
    expect_error("uniform_", "share memory", NULL);
    assert_non_null(wk_add_(wk_unfold(x, 0, 3, 3), 1)); /* these windows do not overlap */
    EXPECT_VALUES(x, 0, 2, 2, 2, 2, 2, 2);
}

/* A gradient with a stride of 0 becomes dense before others are added to it. */
static void gradients_are_dense_before_they_accumulate(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_ones((2, 3), .requires_grad = true);
    wk_backward(wk_sum(x));
    assert_int_equal(wk_stride(wk_grad_of(x), 1), 1);
    assert_int_equal(wk_stride(wk_grad_of(x), 0), 3);
    wk_backward(wk_sum(wk_mul(x, wk_of(float, (2, 3), 1, 2, 3, 4, 5, 6))));
    EXPECT_VALUES(wk_grad_of(x), 0, 2, 3, 4, 5, 6, 7);
    wk_backward(wk_sum(x));
    EXPECT_VALUES(wk_grad_of(x), 0, 3, 4, 5, 6, 7, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_results_in_one_scope),
        cmocka_unit_test(many_results_with_a_graph),
        cmocka_unit_test(a_loop_with_a_scope_does_not_grow),
        cmocka_unit_test(the_limit_of_the_cpu),
        cmocka_unit_test(results_too_large_are_refused_at_the_call),
        cmocka_unit_test(writes_to_overlapping_elements_are_refused),
        cmocka_unit_test(gradients_are_dense_before_they_accumulate),
    };
    if (wk_set_allocator(counting, NULL) != WK_OK) return 1;
    wk__plan_check_every(100); /* a million calls of one plan */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
