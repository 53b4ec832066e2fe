/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products compared with loops. */
#include "arrays.h"

#include <string.h>

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
        gpu->block_free(device, &c.memory);
    }
    gpu->block_free(device, &a.memory);
    gpu->block_free(device, &b.memory);
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
        good(gpu->compile_only(gpu_device[d], true, &fail), &fail);
        all_products(gpu_device[d], true);
        good(gpu->compile_only(gpu_device[d], false, &fail), &fail);
        all_products(gpu_device[d], false);
    }
}

static void matmuls(void **state)
{
    (void)state;
    products_on_all();
}

/* Runs as a device of the other type: with tiles in local memory, or without. */
static void matmuls_of_other_devices(void **state)
{
    (void)state;
    if (gpu->kind == WK_CUDA) skip(); /* every CUDA device has local memory */
    for (int turn = 0; turn < 2; turn++) {
        for (int d = 0; d < gpu_devices; d++) {
            wk__gpu_target *target = gpu_target(d);
            target->local_memory = !target->local_memory;
        }
        if (turn == 0) products_on_all();
    }
}

/* relu(A B + bias) by an epilogue */
static void epilogues(void **state)
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
        wk__program tail;
        ir_space(&tail, 2, (int64_t[]){6, 4}, 0);
        int to = ir_operand(&tail, WK_F32, &c.memory, MARGIN, (int64_t[]){4, 1});
        int from = ir_operand(&tail, WK_F32, &bias.memory, MARGIN, (int64_t[]){0, 1});
        int sum = ir_binary(&tail, WK__ADD, ir_load(&tail, to), ir_load(&tail, from));
        ir_store(&tail, to, ir_binary(&tail, WK__MAX, sum, ir_imm(&tail, WK_F32, (wk__imm){.f = 0})));
        wk__matmul product = {
            .m = 6, .n = 4, .k = 5, .a = a.operand, .b = b.operand, .c = c.operand, .epilogue = &tail};
        good(submit_product(gpu, device, &product, &fail), &fail);
        char *want = malloc((size_t)bytes_of(&c));
        memcpy(want, c.host, (size_t)bytes_of(&c));
        product.epilogue = NULL;
        expected_product(&product, &a, &b, &c, want);
        group_reference_run(&tail, (void *const[]){want, bias.host}, NULL);
        expect(device, "tail", &c, want);
        free(want);
        for (int k = 0; k < 4; k++) {
            if (k != 2) gpu->block_free(device, &all[k]->memory);
            free(all[k]->host);
        }
    }
}

static void unknown_kernel(void **state)
{
    (void)state;
    wk__fail fail;
    wk__memory memory = {0};
    wk__work_args kernel = {.operand[0] = {.dtype = WK_F32, .memory = &memory}};
    assert_int_equal(submit_kernel(gpu, gpu_device[0], WK__WORK_FAMILIES, &kernel, &fail), WK_ERR_UNSUPPORTED);
    assert_non_null(strstr(fail.text, "unknown work"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matmuls),
        cmocka_unit_test(matmuls_of_other_devices),
        cmocka_unit_test(epilogues),
        cmocka_unit_test(unknown_kernel),
    };
    return cmocka_run_group_tests(tests, gpu_open, gpu_close);
}
