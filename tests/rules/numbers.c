/* SPDX-License-Identifier: Apache-2.0 */
/* Tests rules 13, 14 and 16 of docs/contributing/invariants.md: bits of results, streams of random numbers, printed
 * text. The sweeps over the table, cpu_vm_rows, ops_random and ops_print_goldens test the rest of these rules;
 * tensor_promote_table tests rule 15. */
#include "support/bits.h"
#include "support/devices.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>

#include "backend/cpu/isa.h"
#include "engine/op_queue.h"

/* ---- rule 13: the same bits -------------------------------------------------------------------------------------- */

enum { RESULTS = 11 };

static void compute(wk_tensor *out[RESULTS])
{
    WK_SCOPE;
    wk_seed(6);
    wk_tensor *x = wk_randn((300, 513));
    wk_tensor *w = wk_randn((129, 513));
    wk_tensor *b = wk_randn((129));
    wk_tensor *long_row = wk_randn((300007));
    wk_tensor *half = wk_to_dtype(x, WK_BF16), *half_w = wk_to_dtype(w, WK_BF16);
    out[0] = wk_sum(wk_exp(wk_mul(x, 0.5)));
    out[1] = wk_sum(wk_mul(x, x), (0));
    out[2] = wk_softmax(wk_add(x, 1), 1);
    out[3] = wk_relu(wk_linear(x, w, b));
    out[4] = wk_mul(wk_linear(half, half_w, NULL), 3.0);
    out[5] = wk_mean(wk_sub(long_row, wk_mean(long_row)));
    out[6] = wk_layer_norm(x, (513), NULL, NULL);
    out[7] = wk_cumsum(x, 0);
    out[8] = wk_var(wk_transpose(x, 0, 1), (1));
    wk_tensor *one_a_row = wk_randn((300, 1)), *turned = wk_transpose(wk_randn((513, 300)), 0, 1);
    wk_sync();
    out[9] = wk_sum(wk_mul(x, one_a_row), (0));
    out[10] = wk_sum(wk_add(turned, x), (0));
    for (int k = 0; k < RESULTS; k++) out[k] = wk_keep(out[k]);
}

/* Compares the CPU with 1 to 3 threads, and every device with and without deferral and fusion. */
static void modes_and_threads_change_no_bit(void **state)
{
    (void)state;
    int before = wk_thread_count();
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        WK_DEVICE(device);
        wk_tensor *expected[RESULTS], *have[RESULTS];
        compute(expected);
        for (int way = device.kind == WK_CPU ? 0 : 3; way < 6; way++) {
            WK_SCOPE;
            char name[64];
            wk_set_threads(1 + way % 3);
            wk__engine_config_set(way == 3, way >= 4);
            compute(have);
            for (int k = 0; k < RESULTS; k++) {
                snprintf(name, sizeof name, "%s, way %d, result %d", wk_device_str(device), way, k);
                expect_same_bits(have[k], expected[k], name);
            }
        }
        wk__engine_config_set(false, false);
    }
    wk_set_threads(before);
}

/* a b - c is rounded twice, fused or not; with a single rounding it would be 2^-24. */
static void multiply_and_subtract_are_not_contracted(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        WK_DEVICE(device);
        wk_tensor *a = wk_full((100), 1 + ldexp(1, -12)), *c = wk_full((100), 1 + ldexp(1, -11));
        wk_sync();
        assert_true(wk_item(wk_sum(wk_abs(wk_sub(wk_mul(a, a), c)))) == 0);
        assert_true(wk_item(wk_sum(wk_abs(wk_sub(c, wk_mul(a, a))))) == 0);
        wk_tensor *d = wk_full((100), 1 + ldexp(1, -27), .dtype = WK_F64),
                  *e = wk_full((100), 1 + ldexp(1, -26), .dtype = WK_F64);
        assert_true(wk_item(wk_sum(wk_abs(wk_sub(wk_mul(d, d), e)))) == 0);
    }
}

/* An op after a product or a reduction reads the values as they would have been stored. */
static void fused_consumers_read_stored_values(void **state)
{
    (void)state;
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        WK_DEVICE(device);
        wk_seed(8);
        wk_tensor *x = wk_to_dtype(wk_randn((40, 60)), WK_BF16);
        wk_tensor *w = wk_to_dtype(wk_randn((60, 50)), WK_BF16);
        wk_tensor *fused = wk_mul(wk_matmul(x, w), 3.0), *product = wk_retain(wk_matmul(x, w));
        wk_sync();
        expect_same_bits(fused, wk_mul(product, 3.0), "an epilogue");
        wk_tensor *mean = wk_retain(wk_mean(x, (1), .keepdim = true)),
                  *centred = wk_sub(x, wk_mean(x, (1), .keepdim = true));
        wk_sync();
        expect_same_bits(centred, wk_sub(x, mean), "a row stage");
        wk_tensor *f = wk_randn((4000, 33));
        wk_tensor *square = wk_retain(wk_mul(f, f)), *columns = wk_sum(wk_mul(f, f), (0));
        wk_sync();
        expect_same_bits(columns, wk_sum(square, (0)), "a column sum");
        wk_free(product), wk_free(mean), wk_free(square);
    }
}

/* Additions to one element happen in the order of the indices, on every device and with any number of threads. */
static void scatter_add_follows_the_indices(void **state)
{
    (void)state;
    enum { MANY = 5000, PLACES = 7 };
    static float source[MANY];
    static int64_t index[MANY];
    float expected[PLACES] = {0}, have[PLACES];
    for (int k = 0; k < MANY; k++) {
        source[k] = (float)(k % 3 == 0 ? 1e7 : k % 3 == 1 ? -1e7 : 0.1 * k); /* any other order gives different bits */
        index[k] = (k * 31) % PLACES;
        expected[index[k]] += source[k];
    }
    int before = wk_thread_count(), devices = 1 + wk_device_count(test_gpu_kind());
    for (int d = 0; d < devices; d++)
        for (int threads = 1; threads <= 4; threads += 3) {
            WK_SCOPE;
            WK_DEVICE(d ? test_gpu(d - 1) : wk_cpu());
            wk_set_threads(threads);
            wk_tensor *at = wk_from(index, (MANY)), *x = wk_from(source, (MANY));
            assert_int_equal(wk_read(wk_scatter_add(wk_zeros((PLACES)), 0, at, x), have, sizeof have), WK_OK);
            assert_memory_equal(have, expected, sizeof have);
            assert_int_equal(wk_read(wk_index_add(wk_zeros((PLACES)), 0, at, x), have, sizeof have), WK_OK);
            assert_memory_equal(have, expected, sizeof have);
        }
    wk_set_threads(before);
}

/* Reductions of zeros: -0 orders before +0 and a sum begins with +0, so the sign of a result depends on neither the
 * traversal nor the device. Each reduced row n is all -0 or all +0, except for at most one element of the other sign at
 * its start, middle or end. */
enum { PATTERNS = 8 };
typedef struct row {
    bool minus;
    int64_t other; /* -1: none */
} row;

static row row_of(int64_t n, int64_t length)
{
    const int64_t other[] = {-1, 0, length / 2, length - 1};
    return (row){n % PATTERNS<PATTERNS / 2, length> 1 ? other[n % 4] : -1};
}

/* As [rows, length] or [length, rows]; `whole`: one row of this pattern over both dimensions. */
typedef struct zeros {
    int64_t rows, length;
    int dim, whole; /* -1: none */
} zeros;

static wk_tensor *zeros_of(const zeros *z, wk_dtype dtype)
{
    const int64_t count = z->rows * z->length, shape[2] = {z->dim ? z->rows : z->length, z->dim ? z->length : z->rows};
    double *data = malloc((size_t)count * sizeof *data);
    for (int64_t k = 0; k < count; k++) {
        const int64_t i = k / shape[1], j = k % shape[1], n = z->dim ? i : j, at = z->dim ? j : i;
        const row r = z->whole < 0 ? row_of(n, z->length) : row_of(z->whole, count);
        data[k] = (r.other == (z->whole < 0 ? at : k)) != r.minus ? -0.0 : 0.0;
    }
    wk_tensor *x = wk_to_dtype(wk_from(data, WK_ARRAY(shape, 2), .device = wk_cpu()), dtype);
    free(data);
    return x;
}

static void expect_signs(wk_tensor *x, const zeros *z, const char *op)
{
    double data[PATTERNS];
    const int64_t length = z->whole < 0 ? z->length : z->rows * z->length;
    assert_int_equal(wk_read(wk_to_dtype(x, WK_F64), data, (size_t)wk_numel(x) * sizeof *data), WK_OK);
    for (int64_t n = 0; n < wk_numel(x); n++) {
        const row r = row_of(z->whole < 0 ? n : z->whole, length);
        const bool plus_and_minus = r.other >= 0;
        const bool minus = op[1] == 'u'              ? false
                           : strcmp(op, "amax") == 0 ? r.minus && !plus_and_minus
                                                     : r.minus || plus_and_minus;
        if (data[n] != 0 || (signbit(data[n]) != 0) != minus)
            fail_msg("%s of %s: row %d of %d x %d along %d is %g", op, wk_describe(x), (int)n, (int)z->rows,
                     (int)z->length, z->dim, data[n]);
    }
}

/* Checks the three reductions in one pass. */
static void check_zeros(const zeros *z, wk_dtype dtype, wk_device device)
{
    WK_SCOPE;
    const int64_t dims[2] = {z->whole < 0 ? z->dim : 0, 1};
    const int count = z->whole < 0 ? 1 : 2;
    wk_tensor *x = wk_to(zeros_of(z, dtype), device), *greatest = wk_amax(x, WK_ARRAY(dims, count)),
              *least = wk_amin(x, WK_ARRAY(dims, count)), *sum = wk_sum(x, WK_ARRAY(dims, count));
    expect_signs(greatest, z, "amax");
    expect_signs(least, z, "amin");
    expect_signs(sum, z, "sum");
}

/* The last cases are long enough to be split between threads and into chunks. Halves are computed in f32 and differ
 * only in their loads. */
static void check_zeros_on(wk_device device)
{
    static const int64_t lengths[] = {200, 1, 20000};
    static const wk_dtype dtypes[] = {WK_F16, WK_BF16, WK_F32, WK_F64};
    for (int t = 0; t < 4; t++) {
        const bool small = wk_dtype_size(dtypes[t]) < 4;
        for (int dim = 0; dim < 2; dim++)
            for (int k = 0; k < (small ? 1 : 3); k++)
                check_zeros(&(zeros){PATTERNS, lengths[k], dim, -1}, dtypes[t], device);
        for (int whole = 0; whole < PATTERNS; whole++) check_zeros(&(zeros){3, 50, 1, whole}, dtypes[t], device);
        if (!small) check_zeros(&(zeros){2, 70000, 1, 3}, dtypes[t], device);
    }
}

static void zeros_of_reductions(void **state)
{
    (void)state;
    const int before = wk_thread_count();
    const wk__cpu_isa *kind = wk__cpu_isa_current();
    EACH_DEVICE(device)
    {
        if (device.kind != WK_CPU) check_zeros_on(device);
        for (int k = 0; device.kind == WK_CPU && wk__cpu_isa_at(k); k++)
            for (int threads = 1; threads <= 2; threads++) {
                wk__cpu_isa_use(wk__cpu_isa_at(k));
                wk_set_threads(threads);
                check_zeros_on(device);
            }
    }
    wk__cpu_isa_use(kind);
    wk_set_threads(before);
}

/* ---- rule 14: random numbers ------------------------------------------------------------------------------------- */

static void *draw(void *out)
{
    WK_SCOPE;
    wk_seed(1);
    *(double *)out = wk_item(wk_rand((1)));
    return NULL;
}

/* Each thread has a separate stream under the same seed; the main thread's begins with the published generator's first
 * word. */
static void each_thread_has_a_stream(void **state)
{
    (void)state;
    WK_SCOPE;
    double here, there;
    pthread_t thread;
    draw(&here);
    assert_int_equal(pthread_create(&thread, NULL, draw, &there), 0);
    pthread_join(thread, NULL);
    assert_true(here != there);
    double again;
    draw(&again);
    assert_true(again == here);
}

/* A call takes its counter values when it is recorded, one per element, whenever it is computed. */
static void the_counter_is_assigned_at_the_call(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_seed(2);
    wk_tensor *first = wk_rand((10));
    wk_tensor *second = wk_rand((20));
    wk_tensor *dropped = wk_rand((5));
    wk_tensor *third = wk_rand((3));
    (void)dropped;
    wk_item(wk_sum(third));
    wk_item(wk_sum(second));
    wk_seed(2);
    wk_tensor *all = wk_rand((38));
    expect_same_bits(first, wk_clone(wk_slice(all, 0, 0, 10)), "first");
    expect_same_bits(second, wk_clone(wk_slice(all, 0, 10, 30)), "second");
    expect_same_bits(third, wk_clone(wk_slice(all, 0, 35, 38)), "third");
}

/* ---- rule 16: text ----------------------------------------------------------------------------------------------- */

static void text_does_not_depend_on_the_locale(void **state)
{
    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) skip();
    WK_SCOPE;
    char comma[8], path[256];
    snprintf(comma, sizeof comma, "%.1f", 1.5);
    wk_tensor *x = wk_of(float, (2), 0.5, 1234.25);
    assert_string_equal(wk_tensor_str(x), "tensor([5.0000e-01, 1.2342e+03])");
    assert_null(wk_optim_sgd(wk_list((wk_requires_grad_(wk_clone(x), true))), .lr = -0.25));
    expect_error(".lr = -0.25 ", NULL);
    assert_null(wk_dropout(x, 1.5, true));
    expect_error("1.5", NULL);
    snprintf(path, sizeof path, "%s/german.safetensors", getenv("WICK_WORK") ? getenv("WICK_WORK") : "/tmp");
    wk_save_tensors(wk_list((x)), path);
    wk_tensors *back = wk_load_tensors(path);
    assert_non_null(back);
    EXPECT_VALUES(wk_tensors_get(back, 0), 0, 0.5, 1234.25);
    remove(path);
    setlocale(LC_ALL, "C");
    assert_string_equal(comma, "1,5"); /* the locale was active */
    expect_ok();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modes_and_threads_change_no_bit),
        cmocka_unit_test(multiply_and_subtract_are_not_contracted),
        cmocka_unit_test(fused_consumers_read_stored_values),
        cmocka_unit_test(scatter_add_follows_the_indices),
        cmocka_unit_test(each_thread_has_a_stream),
        cmocka_unit_test(the_counter_is_assigned_at_the_call),
        cmocka_unit_test(text_does_not_depend_on_the_locale),
        cmocka_unit_test(zeros_of_reductions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
