/* SPDX-License-Identifier: Apache-2.0 */
/* Products and the named kernels against loops that say what they mean. */
#include "gpu_test.h"

#include "../src/backend/opencl/device.h"
#include "support_work.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void good(wk_code code, const wk__fail *fail)
{
    if (code != WK_OK) fail_msg("%s", fail->text);
}

/* ---- arrays with a margin, on host and device -------------------------------------------------------------------- */

enum { MARGIN = 16, ARRAYS = 4 };

typedef struct array {
    wk__operand operand;
    wk__memory memory;
    int64_t elements;
    char *host; /* what the device got, and what it should have afterwards */
} array;

static array new_array(wk_dtype dtype, int ndim, const int64_t *shape, const int64_t *stride, bool small)
{
    array a = {.operand = {.dtype = (uint8_t)dtype, .offset = MARGIN}};
    int64_t high = 0;
    for (int d = 0; d < ndim; d++) {
        a.operand.stride[d] = stride[d];
        if (shape[d] > 1) high += (shape[d] - 1) * (stride[d] < 0 ? -stride[d] : stride[d]);
        if (shape[d] > 1 && stride[d] < 0) a.operand.offset -= (shape[d] - 1) * stride[d];
    }
    a.elements = high + 1 + 2 * MARGIN;
    a.host = calloc((size_t)a.elements, wk_dtype_size(dtype));
    for (int64_t k = 0; k < a.elements; k++) {
        int64_t whole = (int64_t)(group_case_random() % (dtype == WK_BOOL ? 2 : 15)) - (dtype > WK_BF16 ? 0 : 7);
        group_reference_put(dtype, a.host, k, dtype > WK_BF16 || small ? (double)whole : (double)whole / 8);
    }
    return a;
}

static int64_t bytes_of(const array *a)
{
    return a->elements * (int64_t)wk_dtype_size((wk_dtype)a->operand.dtype);
}

static void to_device(void *device, array *a)
{
    wk__fail fail;
    good(gpu->block_take(device, bytes_of(a), &a->memory, &fail), &fail);
    good(gpu->upload(device, &a->memory, 0, a->host, bytes_of(a), &fail), &fail);
    a->operand.memory = &a->memory;
}

/* To the bit: all that these tests add up are whole numbers, or eighths, whose products' sums have few bits: no order
 * of adding them changes any. */
static void expect(void *device, const char *name, array *a, const char *want)
{
    wk__fail fail;
    char *got = malloc((size_t)bytes_of(a));
    good(gpu->download(device, got, &a->memory, 0, bytes_of(a), &fail), &fail);
    wk_dtype dtype = (wk_dtype)a->operand.dtype;
    int64_t at = group_reference_differs(dtype, got, want, a->elements, 0, 0);
    if (at >= 0) {
        fail_msg("%s %s: at %lld got %.9g, expected %.9g", name, wk_dtype_str(dtype),
                 (long long)(at - a->operand.offset), group_reference_get(dtype, got, at),
                 group_reference_get(dtype, want, at));
    }
    free(got);
    gpu->block_give(device, &a->memory);
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

typedef struct product_case {
    const char *name;
    int nbatch;
    int64_t batch[3], m, n, k;
    int64_t a[5], b[5], c[5];
} product_case;

static const product_case products[] = {
    {"small", 0, {0}, 5, 7, 3, {3, 1}, {7, 1}, {7, 1}},
    {"tiled", 0, {0}, 70, 130, 37, {37, 1}, {130, 1}, {130, 1}},
    {"both transposed", 0, {0}, 70, 65, 40, {1, 70}, {1, 40}, {1, 70}},
    {"gaps", 0, {0}, 33, 40, 17, {50, 2}, {100, 2}, {90, 2}},
    {"row times column", 0, {0}, 1, 1, 9000, {9000, 1}, {1, 1}, {1, 1}},
    {"row times matrix", 0, {0}, 1, 50, 60, {60, 1}, {50, 1}, {50, 1}},
    {"no terms", 0, {0}, 4, 4, 0, {1, 1}, {4, 1}, {4, 1}},
    {"no elements", 0, {0}, 0, 4, 4, {4, 1}, {4, 1}, {4, 1}},
    {"batches", 2, {2, 3}, 4, 5, 6, {72, 24, 6, 1}, {90, 30, 5, 1}, {60, 20, 5, 1}},
    {"broadcast batches", 2, {2, 3}, 40, 33, 20, {800, 0, 20, 1}, {0, 660, 33, 1}, {3960, 1320, 33, 1}},
};

static double combine(const wk__matmul *p, const array *a, const array *b, const int64_t index[5], bool integers,
                      int64_t *whole)
{
    int nb = p->nbatch;
    int64_t at_a = a->operand.offset + index[nb] * a->operand.stride[nb];
    int64_t at_b = b->operand.offset + index[nb + 1] * b->operand.stride[nb + 1];
    for (int d = 0; d < nb; d++) {
        at_a += index[d] * a->operand.stride[d];
        at_b += index[d] * b->operand.stride[d];
    }
    double sum = 0;
    uint64_t wrapped = 0;
    wk_dtype dtype = (wk_dtype)a->operand.dtype;
    for (int64_t l = 0; l < p->k; l++, at_a += a->operand.stride[nb + 1], at_b += b->operand.stride[nb]) {
        if (integers) {
            wrapped += (uint64_t)group_reference_get_integer(dtype, a->host, at_a) *
                       (uint64_t)group_reference_get_integer(dtype, b->host, at_b);
        } else {
            sum += group_reference_get(dtype, a->host, at_a) * group_reference_get(dtype, b->host, at_b);
        }
    }
    *whole = (int64_t)wrapped;
    return sum;
}

static void expected_product(const wk__matmul *p, const array *a, const array *b, const array *c, char *want)
{
    wk_dtype dtype = (wk_dtype)c->operand.dtype;
    int64_t batches = 1;
    for (int d = 0; d < p->nbatch; d++) batches *= p->batch[d];
    for (int64_t at = 0; at < batches * p->m * p->n; at++) {
        int64_t index[5] = {0}, rest = at / p->n / p->m, place = c->operand.offset, whole;
        index[p->nbatch] = at / p->n % p->m;
        index[p->nbatch + 1] = at % p->n;
        for (int d = p->nbatch - 1; d >= 0; d--) {
            index[d] = rest % p->batch[d];
            rest /= p->batch[d];
        }
        for (int d = 0; d < p->nbatch + 2; d++) place += index[d] * c->operand.stride[d];
        double sum = combine(p, a, b, index, dtype > WK_BF16, &whole);
        if (dtype > WK_BF16) {
            if (dtype == WK_BOOL) whole = whole != 0;
            memcpy(want + place * (int64_t)wk_dtype_size(dtype), &whole, wk_dtype_size(dtype));
        } else {
            group_reference_put(dtype, want, place, sum);
        }
    }
}

static void space_of(const product_case *p, int64_t shape[5], int64_t rows, int64_t columns)
{
    for (int d = 0; d < p->nbatch; d++) shape[d] = p->batch[d];
    shape[p->nbatch] = rows;
    shape[p->nbatch + 1] = columns;
}

static void multiply(void *device, const product_case *p, wk_dtype dtype, bool gather)
{
    wk__fail fail;
    int64_t shape[5];
    int ndim = p->nbatch + 2;
    space_of(p, shape, p->m, p->k);
    array a = new_array(dtype, ndim, shape, p->a, false);
    space_of(p, shape, p->k, p->n);
    array b = new_array(dtype, ndim, shape, p->b, false);
    space_of(p, shape, p->m, p->n);
    array c = new_array(dtype, ndim, shape, p->c, false);
    to_device(device, &a);
    to_device(device, &b);
    to_device(device, &c);
    wk__matmul product = {
        .nbatch = p->nbatch, .m = p->m, .n = p->n, .k = p->k, .a = a.operand, .b = b.operand, .c = c.operand};
    for (int d = 0; d < p->nbatch; d++) product.batch[d] = p->batch[d];
    good(submit_product(gpu, device, &product, &fail), &fail);
    if (!gather) {
        char *want = malloc((size_t)bytes_of(&c));
        memcpy(want, c.host, (size_t)bytes_of(&c));
        expected_product(&product, &a, &b, &c, want);
        expect(device, p->name, &c, want);
        free(want);
    } else {
        gpu->block_give(device, &c.memory);
    }
    gpu->block_give(device, &a.memory);
    gpu->block_give(device, &b.memory);
    free(a.host);
    free(b.host);
    free(c.host);
}

static void all_products(void *device, bool gather)
{
    for (size_t k = 0; k < sizeof products / sizeof products[0]; k++) multiply(device, &products[k], WK_F32, gather);
    for (int dtype = WK_F64; dtype < WK_DTYPE_COUNT; dtype++) {
        multiply(device, &products[0], (wk_dtype)dtype, gather);
        if (dtype == WK_BF16 || dtype == WK_I64) multiply(device, &products[1], (wk_dtype)dtype, gather);
    }
}

static void products_on_all(void)
{
    wk__fail fail;
    for (int d = 0; d < gpu_devices; d++) {
        good(gpu->gather(gpu_device[d], true, &fail), &fail);
        all_products(gpu_device[d], true);
        good(gpu->gather(gpu_device[d], false, &fail), &fail);
        all_products(gpu_device[d], false);
    }
}

static void matmuls(void **state)
{
    (void)state;
    products_on_all();
}

/* As a device of the other temper would: with tiles in local memory, or without. */
static void matmuls_of_other_devices(void **state)
{
    (void)state;
    if (gpu->kind == WK_CUDA) skip(); /* all its devices have local memory */
    for (int turn = 0; turn < 2; turn++) {
        for (int d = 0; d < gpu_devices; d++) {
            wk__gpu_target *target = gpu_target(d);
            target->local_memory = !target->local_memory;
        }
        if (turn == 0) products_on_all();
    }
}

/* relu(A B + bias) by a tail */
static void tails(void **state)
{
    (void)state;
    for (int d = 0; d < gpu_devices; d++) {
        void *device = gpu_device[d];
        wk__fail fail;
        array a = new_array(WK_F32, 2, (int64_t[]){6, 5}, (int64_t[]){5, 1}, true);
        array b = new_array(WK_F32, 2, (int64_t[]){5, 4}, (int64_t[]){4, 1}, true);
        array c = new_array(WK_F32, 2, (int64_t[]){6, 4}, (int64_t[]){4, 1}, true);
        array bias = new_array(WK_F32, 2, (int64_t[]){6, 4}, (int64_t[]){0, 1}, true);
        array *all[] = {&a, &b, &c, &bias};
        for (int k = 0; k < 4; k++) to_device(device, all[k]);
        wk__group tail;
        ir_space(&tail, 2, (int64_t[]){6, 4}, 0);
        int to = ir_operand(&tail, WK_F32, &c.memory, MARGIN, (int64_t[]){4, 1});
        int from = ir_operand(&tail, WK_F32, &bias.memory, MARGIN, (int64_t[]){0, 1});
        int sum = ir_binary(&tail, WK__ADD, ir_load(&tail, to), ir_load(&tail, from));
        ir_store(&tail, to, ir_binary(&tail, WK__MAX, sum, ir_imm(&tail, WK_F32, (wk__imm){.f = 0})));
        wk__matmul product = {.m = 6, .n = 4, .k = 5, .a = a.operand, .b = b.operand, .c = c.operand, .tail = &tail};
        good(submit_product(gpu, device, &product, &fail), &fail);
        char *want = malloc((size_t)bytes_of(&c));
        memcpy(want, c.host, (size_t)bytes_of(&c));
        product.tail = NULL;
        expected_product(&product, &a, &b, &c, want);
        group_reference_run(&tail, (void *const[]){want, bias.host}, NULL);
        expect(device, "tail", &c, want);
        free(want);
        for (int k = 0; k < 4; k++) {
            if (k != 2) gpu->block_give(device, &all[k]->memory);
            free(all[k]->host);
        }
    }
}

/* ---- kernels along a dimension ----------------------------------------------------------------------------------- */

/* Calls `visit` for each line with the offsets of its first element in each operand. */
typedef void visit(void *user, const int64_t start[3]);

static void each_line(const wk__kernel *kernel, int operands, visit *call, void *user)
{
    int64_t lines = 1;
    for (int d = 0; d < kernel->ndim; d++) lines *= d == kernel->dim ? 1 : kernel->shape[d];
    for (int64_t line = 0; line < lines; line++) {
        int64_t start[3] = {0}, rest = line;
        for (int k = 0; k < operands; k++) start[k] = kernel->operand[k].offset;
        for (int d = kernel->ndim - 1; d >= 0; d--) {
            if (d == kernel->dim) continue;
            for (int k = 0; k < operands; k++) start[k] += rest % kernel->shape[d] * kernel->operand[k].stride[d];
            rest /= kernel->shape[d];
        }
        call(user, start);
    }
}

typedef struct work {
    int family;
    wk__kernel kernel;
    array array[3];
    char *want[3];
    const char *name;
} work;

static double value_at(const work *w, int k, int64_t start, int64_t j)
{
    const wk__operand *o = &w->kernel.operand[k];
    return group_reference_get((wk_dtype)o->dtype, w->array[k].host, start + j * o->stride[w->kernel.dim]);
}

static int64_t place_of(const work *w, int k, int64_t start, int64_t j)
{
    return start + j * w->kernel.operand[k].stride[w->kernel.dim];
}

static void scan_line(void *user, const int64_t start[3])
{
    work *w = user;
    wk_dtype dtype = (wk_dtype)w->kernel.operand[0].dtype;
    double running = w->kernel.mode;
    for (int64_t j = 0; j < w->kernel.shape[w->kernel.dim]; j++) {
        double x = value_at(w, 1, start[1], j);
        running = w->kernel.mode ? running * x : running + x;
        if (dtype == WK_I64 || dtype == WK_F64) {
            group_reference_put(dtype, w->want[0], place_of(w, 0, start[0], j), running);
        } else {
            running = dtype <= WK_BF16 ? (float)running : (double)(int32_t)(int64_t)running;
            group_reference_put(dtype, w->want[0], place_of(w, 0, start[0], j), running);
        }
    }
}

static bool stands_before(double x, double y, bool descending)
{
    if (descending) return stands_before(y, x, false);
    return x < y || (isnan(y) && !isnan(x));
}

static void sort_line(void *user, const int64_t start[3])
{
    work *w = user;
    int64_t n = w->kernel.shape[w->kernel.dim], *order = malloc((size_t)(n + 1) * sizeof *order);
    for (int64_t j = 0; j < n; j++) {
        int64_t k = j;
        double x = value_at(w, 2, start[2], j);
        for (; k > 0 && stands_before(x, value_at(w, 2, start[2], order[k - 1]), w->kernel.mode); k--)
            order[k] = order[k - 1];
        order[k] = j;
    }
    for (int64_t j = 0; j < n; j++) {
        group_reference_put((wk_dtype)w->kernel.operand[0].dtype, w->want[0], place_of(w, 0, start[0], j),
                            value_at(w, 2, start[2], order[j]));
        ((int64_t *)(void *)w->want[1])[place_of(w, 1, start[1], j)] = order[j];
    }
    free(order);
}

static void scatter_line(void *user, const int64_t start[3])
{
    work *w = user;
    wk_dtype dtype = (wk_dtype)w->kernel.operand[0].dtype;
    for (int64_t j = 0; j < w->kernel.shape[w->kernel.dim]; j++) {
        int64_t to = ((const int64_t *)(void *)w->array[1].host)[place_of(w, 1, start[1], j)];
        if (to < 0) to += w->kernel.bound;
        int64_t at = place_of(w, 0, start[0], to);
        double sum = group_reference_get(dtype, w->want[0], at) + value_at(w, 2, start[2], j);
        group_reference_put(dtype, w->want[0], at, dtype <= WK_BF16 && dtype != WK_F64 ? (float)sum : sum);
    }
}

static work new_work(wk__work_id family, int ndim, const int64_t *shape, int dim, int mode)
{
    work w = {.name = wk__work_families[family].name,
              .family = (int)family,
              .kernel = {.ndim = ndim, .dim = dim, .mode = mode, .tag = 42}};
    for (int d = 0; d < ndim; d++) w.kernel.shape[d] = shape[d];
    return w;
}

static void add_array(work *w, int k, wk_dtype dtype, const int64_t *shape, const int64_t *stride)
{
    w->array[k] = new_array(dtype, w->kernel.ndim, shape, stride, false);
}

static void run_work(void *device, work *w, int operands, visit *line)
{
    wk__fail fail;
    for (int k = 0; k < operands; k++) {
        to_device(device, &w->array[k]);
        w->kernel.operand[k] = w->array[k].operand;
        w->want[k] = malloc((size_t)bytes_of(&w->array[k]));
        memcpy(w->want[k], w->array[k].host, (size_t)bytes_of(&w->array[k]));
    }
    each_line(&w->kernel, operands, line, w);
    good(submit_kernel(gpu, device, w->family, &w->kernel, &fail), &fail);
    for (int k = 0; k < operands; k++) {
        expect(device, w->name, &w->array[k], w->want[k]);
        free(w->want[k]);
        free(w->array[k].host);
    }
}

static void scans(void **state)
{
    (void)state;
    static const wk_dtype dtypes[] = {WK_F32, WK_F16, WK_I32, WK_I64};
    for (int d = 0; d < gpu_devices; d++) {
        for (int k = 0; k < 8; k++) {
            const int64_t shape[] = {3, 9, 4}, dense[] = {36, 4, 1}, other[] = {1, 3, 27};
            work w = new_work(WK__SCAN, 3, shape, k % 3, k / 4);
            add_array(&w, 0, dtypes[k % 4], shape, dense);
            add_array(&w, 1, dtypes[k % 4], shape, k % 2 ? dense : other);
            run_work(gpu_device[d], &w, 2, scan_line);
        }
        work w = new_work(WK__SCAN, 0, NULL, 0, 0);
        add_array(&w, 0, WK_F32, NULL, NULL);
        add_array(&w, 1, WK_F32, NULL, NULL);
        w.kernel.ndim = 1, w.kernel.shape[0] = 1; /* for the expectation alone */
        run_work(gpu_device[d], &w, 2, scan_line);
    }
}

static void sorts(void **state)
{
    (void)state;
    static const int64_t lengths[] = {1, 2, 15, 16, 17, 100, 1000};
    for (int d = 0; d < gpu_devices; d++) {
        for (int k = 0; k < 14; k++) {
            const int64_t n = lengths[k / 2], shape[] = {3, n, 2};
            const int64_t dense[] = {2 * n, 2, 1}, flipped[] = {n, -1, 3 * n};
            wk_dtype dtype = k % 4 == 0 ? WK_F32 : k % 4 == 1 ? WK_I64 : k % 4 == 2 ? WK_BF16 : WK_F32;
            work w = new_work(WK__SORT, 3, shape, 1, k % 2);
            add_array(&w, 0, dtype, shape, dense);
            add_array(&w, 1, WK_I64, shape, k % 3 ? dense : flipped);
            add_array(&w, 2, dtype, shape, k % 3 ? flipped : dense);
            if (dtype == WK_F32 && n > 10) {
                float *x = (float *)(void *)w.array[2].host + MARGIN;
                x[3] = x[7] = NAN, x[8] = -INFINITY, x[9] = INFINITY, x[2] = -0.0f, x[5] = 0.0f;
            }
            run_work(gpu_device[d], &w, 3, sort_line);
        }
    }
}

static void scatter_adds(void **state)
{
    (void)state;
    static const wk_dtype dtypes[] = {WK_F32, WK_F64, WK_F16, WK_I64, WK_I32};
    for (int d = 0; d < gpu_devices; d++) {
        for (int k = 0; k < 5; k++) {
            const int64_t shape[] = {50, 6}, target_shape[] = {7, 6};
            work w = new_work(WK__SCATTER_ADD, 2, shape, 0, 0);
            w.kernel.bound = 7;
            add_array(&w, 0, dtypes[k], target_shape, (int64_t[]){6, 1});
            add_array(&w, 1, WK_I64, shape, k % 2 ? (int64_t[]){1, 0} : (int64_t[]){6, 1});
            add_array(&w, 2, dtypes[k], shape, (int64_t[]){1, 50});
            int64_t *index = (int64_t *)(void *)w.array[1].host;
            for (int64_t e = 0; e < w.array[1].elements; e++) index[e] = (int64_t)(group_case_random() % 14) - 7;
            run_work(gpu_device[d], &w, 3, scatter_line);
        }
    }
}

/* The last index is bad: nothing at all is added, the fault comes once. */
static void bad_scatter(void **state)
{
    (void)state;
    for (int d = 0; d < gpu_devices; d++) {
        void *device = gpu_device[d];
        wk__fail fail;
        work w = new_work(WK__SCATTER_ADD, 1, (int64_t[]){50}, 0, 0);
        w.kernel.bound = 7;
        add_array(&w, 0, WK_F32, (int64_t[]){7}, (int64_t[]){1});
        add_array(&w, 1, WK_I64, (int64_t[]){50}, (int64_t[]){1});
        add_array(&w, 2, WK_F32, (int64_t[]){50}, (int64_t[]){1});
        int64_t *index = (int64_t *)(void *)w.array[1].host;
        for (int64_t e = 0; e < w.array[1].elements; e++) index[e] = e % 7;
        index[MARGIN + 49] = -8;
        for (int k = 0; k < 3; k++) {
            to_device(device, &w.array[k]);
            w.kernel.operand[k] = w.array[k].operand;
        }
        good(submit_kernel(gpu, device, w.family, &w.kernel, &fail), &fail);
        assert_int_equal(gpu->sync(device, &fail), WK_ERR_INDEX);
        assert_true(fail.tag == 42 && fail.index == -8 && fail.bound == 7);
        for (int k = 0; k < 3; k++) {
            expect(device, "bad scatter_add", &w.array[k], w.array[k].host);
            free(w.array[k].host);
        }
    }
}

static void unknown_kernel(void **state)
{
    (void)state;
    wk__fail fail;
    wk__memory memory = {0};
    wk__kernel kernel = {.operand[0] = {.dtype = WK_F32, .memory = &memory}};
    assert_int_equal(submit_kernel(gpu, gpu_device[0], WK__WORK_FAMILIES, &kernel, &fail), WK_ERR_UNSUPPORTED);
    assert_non_null(strstr(fail.text, "unknown work"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matmuls),     cmocka_unit_test(matmuls_of_other_devices),
        cmocka_unit_test(tails),       cmocka_unit_test(scans),
        cmocka_unit_test(sorts),       cmocka_unit_test(scatter_adds),
        cmocka_unit_test(bad_scatter), cmocka_unit_test(unknown_kernel),
    };
    return cmocka_run_group_tests(tests, gpu_open, gpu_close);
}
