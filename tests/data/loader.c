/* SPDX-License-Identifier: Apache-2.0 */
/* Tests datasets and loaders: the order of samples, the loop WK_EACH and the ways out of it. */
#include "support/wick.h"

#include <unistd.h>
#include <sys/wait.h>

#include "hostile/scratch.h"
#include <base/alloc.h>
#include <backend/null/null.h>
#include <engine/op_queue.h>

/* n samples: x[k] = (k, -k), y[k] = k */
static wk_dataset *numbered_samples(int64_t n)
{
    wk_tensor *k = wk_arange(n), *x = wk_stack((k, wk_mul(k, -1)), 1);
    return wk_data_tensors(wk_to_dtype(x, WK_F32), k);
}

/* Writes the labels of one epoch in order; returns their number. */
static int64_t epoch_of(wk_loader *loader, int64_t *out)
{
    int64_t count = 0;
    WK_EACH(batch, loader)
    {
        int64_t n = wk_size(batch->y, 0);
        assert_int_equal(wk_read(batch->y, out + count, (size_t)n * sizeof *out), WK_OK);
        for (int64_t k = 0; k < n; k++) {
            wk_tensor *row = wk_select(batch->x, 0, k);
            EXPECT_VALUES(row, 0, (double)out[count + k], (double)-out[count + k]);
        }
        count += n;
    }
    expect_ok();
    return count;
}

static void without_shuffling(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_dataset *data = numbered_samples(10);
    wk_loader *loader = wk_data_loader(data, .batch_size = 4);
    int64_t sizes[] = {4, 4, 2}, seen[10], index = 0;
    assert_int_equal(wk_data_size(data), 10);
    assert_int_equal(wk_loader_count(loader), 3);
    for (int epoch = 0; epoch < 2; epoch++) {
        index = 0;
        WK_EACH(batch, loader)
        {
            assert_int_equal(batch->index, index);
            EXPECT_SHAPE(batch->x, sizes[index], 2);
            EXPECT_SHAPE(batch->y, sizes[index]);
            index++;
        }
        assert_int_equal(index, 3);
    }
    assert_int_equal(epoch_of(loader, seen), 10);
    for (int64_t k = 0; k < 10; k++) assert_int_equal(seen[k], k);
    wk_loader *single = wk_data_loader(data), *whole = wk_data_loader(data, .batch_size = 4, .drop_last = true);
    assert_int_equal(wk_loader_count(single), 10);
    assert_int_equal(epoch_of(single, seen), 10);
    assert_int_equal(wk_loader_count(whole), 2);
    assert_int_equal(epoch_of(whole, seen), 8);
    assert_int_equal(wk_loader_count(wk_data_loader(data, .batch_size = 100)), 1);
    assert_int_equal(wk_loader_count(NULL), 0);
    assert_int_equal(wk_data_size(NULL), 0);
}

static void expect_permutation(const int64_t *seen, int64_t n)
{
    char *met = calloc((size_t)n, 1);
    for (int64_t k = 0; k < n; k++) {
        assert_in_range(seen[k], 0, n - 1);
        assert_false(met[seen[k]]);
        met[seen[k]] = 1;
    }
    free(met);
}

/* The order depends on seed, epoch and number of samples, not on the batch size or other random numbers. */
static void shuffled(void **state)
{
    (void)state;
    WK_SCOPE;
    enum { N = 100 };
    int64_t first[N], second[N], other[N], again[N];
    wk_dataset *data = numbered_samples(N);
    wk_loader *loader = wk_data_loader(data, .batch_size = 7, .shuffle = true, .seed = 3);
    epoch_of(loader, first);
    epoch_of(loader, second);
    expect_permutation(first, N);
    expect_permutation(second, N);
    assert_memory_not_equal(first, second, sizeof first);
    epoch_of(wk_data_loader(data, .batch_size = 7, .shuffle = true, .seed = 4), other);
    assert_memory_not_equal(first, other, sizeof first);
    wk_seed(99);
    wk_rand((5));
    wk_loader *same = wk_data_loader(data, .batch_size = 33, .shuffle = true, .seed = 3);
    epoch_of(same, again);
    assert_memory_equal(first, again, sizeof first);
    epoch_of(same, again);
    assert_memory_equal(second, again, sizeof first);
    int64_t fixed = 0;
    for (int k = 0; k < N; k++) fixed += first[k] == k;
    assert_true(fixed < 10);
}

/* The documented shuffle: element k, from the last, is exchanged with below(PHILOX(k, epoch), k + 1). ir_random.c tests
 * Philox with published vectors; this tests the order. */
static void the_shuffled_order_is_fixed(void **state)
{
    (void)state;
    WK_SCOPE;
    int64_t seen[8];
    wk_loader *loader = wk_data_loader(numbered_samples(8), .batch_size = 8, .shuffle = true, .seed = 1);
    const int64_t expected[2][8] = {{4, 2, 5, 6, 7, 1, 0, 3}, {7, 5, 1, 4, 2, 3, 0, 6}};
    for (int epoch = 0; epoch < 2; epoch++) {
        epoch_of(loader, seen);
        assert_memory_equal(seen, expected[epoch], sizeof seen);
    }
}

static void ranks_share(void **state)
{
    (void)state;
    WK_SCOPE;
    enum { N = 10, WORLD = 3 };
    int64_t all[N + 2], whole[N], count = 0;
    wk_dataset *data = numbered_samples(N);
    epoch_of(wk_data_loader(data, .batch_size = 2, .shuffle = true, .seed = 5), whole);
    for (int rank = 0; rank < WORLD; rank++) {
        wk_loader *loader =
            wk_data_loader(data, .batch_size = 2, .shuffle = true, .seed = 5, .rank = rank, .world = WORLD);
        int64_t seen[4];
        assert_int_equal(epoch_of(loader, seen), 4);
        for (int k = 0; k < 4; k++) all[k * WORLD + rank] = seen[k];
        count += 4;
    }
    assert_int_equal(count, N + 2);
    assert_memory_equal(all, whole, sizeof whole);
    assert_int_equal(all[N], whole[0]);
    assert_int_equal(all[N + 1], whole[1]);
}

static void slices(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_dataset *part;
    {
        WK_SCOPE;
        part = wk_keep(wk_data_slice(wk_data_slice(numbered_samples(10), 2, 9), 1, 4));
    }
    int64_t seen[3];
    assert_int_equal(wk_data_size(part), 3);
    assert_int_equal(epoch_of(wk_data_loader(part), seen), 3);
    for (int k = 0; k < 3; k++) assert_int_equal(seen[k], 3 + k);
    assert_int_equal(epoch_of(wk_data_loader(wk_data_slice(part, 1, 1)), seen), 0);
    assert_null(wk_data_slice(part, 1, 4));
    expect_error("data_slice", "1 to 4", "3 samples", NULL);
    assert_null(wk_data_slice(part, -1, 2));
    expect_error("data_slice", NULL);
    assert_null(wk_data_slice(part, 2, 1));
    expect_error("data_slice", NULL);
}

static void strided_tensors_and_other_dtypes(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_transpose(wk_reshape(wk_arange(6), (2, 3)), 0, 1); /* (3, 2), strided */
    WK_EACH(batch, wk_data_loader(wk_data_tensors(x, NULL), .batch_size = 3))
    {
        assert_null(batch->y);
        assert_int_equal(wk_dtype_of(batch->x), WK_I64);
        EXPECT_VALUES(batch->x, 0, 0, 3, 1, 4, 2, 5);
    }
    WK_EACH(batch, wk_data_loader(wk_data_tensors(x, wk_ones((3, 0))), .batch_size = 2))
    EXPECT_SHAPE(batch->y, batch->index ? 1 : 2, 0);
    expect_ok();
    assert_null(wk_data_tensors(x, wk_ones((2))));
    expect_error("data_tensors", "i64[3,2]", "f32[2]", NULL);
    assert_null(wk_data_tensors(wk_ones(()), NULL));
    expect_error("data_tensors", "f32[]", NULL);
    assert_null(wk_data_tensors(x, wk_reshape(x, (7))));
    expect_error("reshape", NULL);
    assert_null(wk_data_loader(wk_data_tensors(x, NULL), .batch_size = -1));
    expect_error("data_loader", "-1", NULL);
    assert_null(wk_data_loader(wk_data_tensors(x, NULL), .rank = 2, .world = 2));
    expect_error("rank 2", NULL);
    assert_null(wk_data_loader(wk_data_tensors(x, NULL), .device = wk_device_parse("tpu:0")));
    expect_error("tpu:0", NULL);
}

static void digits(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_dataset *data = wk_data_mnist(source_file("data/mnist"), .train = false);
    assert_int_equal(wk_data_size(data), 10000);
    double ink = 0;
    int64_t labels = 0;
    WK_EACH(batch, wk_data_loader(data, .batch_size = 2000))
    {
        EXPECT_SHAPE(batch->x, 2000, 1, 28, 28);
        assert_int_equal(wk_dtype_of(batch->x), WK_F32);
        assert_int_equal(wk_dtype_of(batch->y), WK_I64);
        if (batch->index == 0) EXPECT_VALUES(wk_narrow(batch->y, 0, 0, 5), 0, 7, 2, 1, 0, 4);
        ink += wk_item(wk_mean(batch->x)) / 5;
        labels += wk_item_i64(wk_sum(batch->y));
        assert_true(wk_item(wk_amax(batch->x)) == 1);
    }
    assert_float_equal(ink, 0.1325, 1e-4); /* known of the set */
    assert_int_equal(labels, 44434);
    assert_null(wk_data_mnist(source_file("data/nothing"), .train = false));
    expect_error("data_mnist", "data/nothing/t10k-images-idx3-ubyte", "No such file",
                 "must contain the MNIST files t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte", NULL);
    assert_null(wk_data_mnist(NULL));
    expect_error("data_mnist", "NULL", NULL);
}

/* As in PyTorch the training set is the default. */
static void training_sets(void **state)
{
    (void)state;
    WK_SCOPE;
    static const char *const words = "files train-images-idx3-ubyte and train-labels-idx1-ubyte";
    assert_null(wk_data_mnist(source_file("data/mnist")));
    expect_error("data_mnist", words, "use .train = false if the folder has the test set only", NULL);
    assert_null(wk_data_mnist(source_file("data/mnist"), .train = true));
    expect_error("data_mnist", "must contain the MNIST files", words, NULL);
    wk_mnist_options zeros = {.size = sizeof zeros};
    assert_null(wk_data_mnist_at(WK_HERE, source_file("data/mnist"), &zeros)); /* 0 in a struct is the default */
    expect_error("data_mnist", words, NULL);
    assert_null(wk_data_fashion_mnist(source_file("data/mnist")));
    expect_error("data_fashion_mnist", "must contain the Fashion-MNIST files", words, NULL);
    assert_int_equal(wk_data_size(wk_data_fashion_mnist(source_file("data/mnist"), .train = false)), 10000);
    assert_null(wk_data_fashion_mnist(NULL, .train = false));
    expect_error("data_fashion_mnist: the folder is NULL", NULL);
}

/* ---- the loop ---------------------------------------------------------------------------------------------------- */

static void a_break_drops_the_rest(void **state)
{
    (void)state;
    WK_SCOPE;
    int64_t seen[6];
    wk_loader *loader = wk_data_loader(numbered_samples(6), .batch_size = 2);
    WK_EACH(batch, loader)
    {
        if (batch->index == 1) break;
    }
    assert_int_equal(epoch_of(loader, seen), 6);
    assert_int_equal(seen[0], 0);
    WK_EACH(batch, loader) continue;
    assert_int_equal(epoch_of(loader, seen), 6);
}

static int leave_by_return(wk_loader *loader)
{
    WK_EACH(batch, loader)
    {
        WK_SCOPE;
        WK_NO_GRAD;
        if (batch->index == 1) return 1;
    }
    return 0;
}

static void a_return_closes_everything(void **state)
{
    (void)state;
    WK_SCOPE;
    int64_t seen[6];
    wk_loader *loader = wk_data_loader(numbered_samples(6), .batch_size = 2);
    assert_int_equal(leave_by_return(loader), 1);
    assert_true(wk_is_grad_enabled());
    assert_int_equal(epoch_of(loader, seen), 6);
}

/* longjmp bypasses the loop's own end: the enclosing scope closes it. */
static void a_jump_closes_everything(void **state)
{
    (void)state;
    WK_SCOPE;
    int64_t seen[6];
    jmp_buf back;
    wk_loader *loader = wk_data_loader(numbered_samples(6), .batch_size = 2);
    wk_guard outer = wk_scope_open(WK_HERE);
    if (setjmp(back) == 0) {
        wk_batch *batch = wk_batch_begin_at(WK_HERE, loader);
        assert_true(wk_batch_next(&batch));
        longjmp(back, 1);
    }
    wk_guard_close(&outer);
    assert_int_equal(epoch_of(loader, seen), 6);
}

static void loops_on_one_loader_do_not_nest(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_loader *loader = wk_data_loader(numbered_samples(6), .batch_size = 2),
              *other = wk_data_loader(numbered_samples(4));
    int outer = 0, inner = 0;
    WK_EACH(batch, loader)
    {
        (void)batch;
        outer++;
        WK_EACH(deeper, other) inner += deeper->index >= 0;
    }
    assert_int_equal(outer, 3);
    assert_int_equal(inner, 12);
    expect_ok();
    outer = 0;
    WK_EACH(batch, loader)
    {
        outer += batch->index >= 0;
        WK_EACH(deeper, loader) inner = -(int)deeper->index;
    }
    assert_int_equal(outer, 1);
    assert_int_equal(inner, 12);
    expect_error("WK_EACH", "data/loader.c:", "second loader", NULL);
}

static void the_loop_ends_when_an_error_is_pending(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_loader *loader = wk_data_loader(numbered_samples(6), .batch_size = 2);
    int rounds = 0;
    WK_EACH(batch, loader)
    {
        rounds++;
        wk_reshape(batch->x, (77));
    }
    assert_int_equal(rounds, 1);
    WK_EACH(batch, loader) rounds += batch->index >= 0;
    assert_int_equal(rounds, 1);
    expect_error("reshape", NULL);
    WK_EACH(batch, loader) rounds += batch->index >= 0;
    assert_int_equal(rounds, 4);
    WK_EACH(batch, NULL) rounds += batch->index >= 0;
    expect_error("WK_EACH", "NULL", NULL);
    assert_int_equal(rounds, 4);
}

static void device_errors(void **state)
{
    (void)state;
    WK_SCOPE;
    assert_null(wk_data_loader(numbered_samples(6), .device = wk_opencl(99)));
    expect_error("data/loader.c", "data_loader: opencl:99", NULL);
    assert_null(wk_data_loader(numbered_samples(6), .device = wk_cuda(0)));
    expect_error("data_loader: cuda:0", NULL);
    wk_loader *loader = wk_data_loader(numbered_samples(16), .batch_size = 16);
    wk_memory_set_limit(wk_cpu(), 64);
    WK_EACH(batch, loader) fail();
    wk_memory_set_limit(wk_cpu(), 0);
    expect_error("data/loader.c", "WK_EACH: f32[16,2] needs 128 bytes", NULL);
}

static void a_batch_has_a_scope(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *stale = NULL, *kept = NULL;
    WK_EACH(batch, wk_data_loader(numbered_samples(3)))
    {
        stale = batch->x;
        if (batch->index == 1) kept = wk_keep(batch->y);
    }
    EXPECT_VALUES(kept, 0, 1);
    wk_exp(stale);
    expect_error("scope has closed", "wk_keep", NULL);
}

/* The end of a batch frees its handles, then runs what was recorded. */
static void a_batch_is_flushed(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *total = wk_zeros((2), .device = test_null());
    wk_sync();
    wk__null_log_clear();
    int rounds = 0;
    WK_EACH(batch, wk_data_loader(numbered_samples(6), .batch_size = 2, .device = test_null()))
    {
        assert_int_equal(wk__null_log_count(WK__PROGRAM), rounds++);
        wk_add_(total, wk_sum(batch->x, (0)));
        wk_exp(batch->x); /* unused */
    }
    assert_int_equal(wk__null_log_count(WK__PROGRAM), 3);
}

static void a_loader_may_be_freed_in_its_loop(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_loader *loader = wk_data_loader(numbered_samples(6), .batch_size = 2);
    int rounds = 0;
    WK_EACH(batch, loader)
    {
        if (batch->index == 0) wk_free(loader);
        rounds++;
    }
    assert_int_equal(rounds, 3);
    expect_ok();
}

/* The child of a parent that has used a device with a driver gets an error, and does not wait for a thread that it does
 * not have. */
static void a_child_does_not_hang(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_loader *loader = wk_data_loader(numbered_samples(6), .batch_size = 2);
    int64_t seen[6];
    epoch_of(loader, seen);
    wk_ones((1), .device = test_null());
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        int rounds = 0;
        WK_EACH(batch, loader) rounds += batch->index >= 0;
        _exit(rounds == 0 && wk_error() && strstr(wk_error(), "fork") ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(epoch_of(loader, seen), 6);
}

static void allocation_failures(void **state)
{
    (void)state;
    for (int64_t n = 1; n < 40; n++) {
        WK_SCOPE;
        wk_tensor *x = wk_arange(8);
        wk_sync();
        wk__alloc_fail_at(n);
        wk_loader *loader =
            wk_data_loader(wk_data_slice(wk_data_tensors(x, x), 1, 7), .batch_size = 4, .shuffle = true);
        int rounds = 0;
        WK_EACH(batch, loader) rounds += wk_size(batch->x, 0) > 0;
        wk__alloc_fail_at(0);
        if (rounds < 2) assert_non_null(wk_error());
        wk_clear_error();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_shuffling),
        cmocka_unit_test(shuffled),
        cmocka_unit_test(the_shuffled_order_is_fixed),
        cmocka_unit_test(ranks_share),
        cmocka_unit_test(slices),
        cmocka_unit_test(strided_tensors_and_other_dtypes),
        cmocka_unit_test(digits),
        cmocka_unit_test(training_sets),
        cmocka_unit_test(a_break_drops_the_rest),
        cmocka_unit_test(a_return_closes_everything),
        cmocka_unit_test(a_jump_closes_everything),
        cmocka_unit_test(loops_on_one_loader_do_not_nest),
        cmocka_unit_test(the_loop_ends_when_an_error_is_pending),
        cmocka_unit_test(device_errors),
        cmocka_unit_test(a_batch_has_a_scope),
        cmocka_unit_test_setup_teardown(a_batch_is_flushed, test_default_mode, test_restore_mode),
        cmocka_unit_test(a_loader_may_be_freed_in_its_loop),
        cmocka_unit_test(a_child_does_not_hang),
        cmocka_unit_test(allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
