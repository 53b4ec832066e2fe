/* SPDX-License-Identifier: Apache-2.0 */
/* Implements group_case.h. */
#include "group_case.h"
#include "support/work.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MARGIN = 64 /* elements before and after the range of an operand */ };

static uint64_t state = 1;

void group_case_seed(uint64_t seed)
{
    state = seed * 0x9e3779b97f4a7c15u + 1;
}

uint64_t group_case_random(void) /* splitmix64 */
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static double between(double low, double high)
{
    return low + (high - low) * (double)(group_case_random() >> 11) * 0x1p-53;
}

static double special_float(void)
{
    static const double specials[] = {NAN,   INFINITY, -INFINITY, 0.0,  -0.0,   1.0,      -1.0, 0.5,
                                      -0.5,  1.5,      2.5,       -2.5, 1e-40,  -1e-40,   3e38, -3e38,
                                      65504, 65520,    1e-7,      6e-8, 3.4e38, 0x1p-126, 1e10, -7.0};
    uint64_t k = group_case_random();
    if (k % 2) return specials[k / 2 % (sizeof specials / sizeof specials[0])];
    return between(-1, 1) * exp2(between(-30, 30));
}

static int64_t special_integer(wk_dtype dtype)
{
    uint64_t k = group_case_random();
    int bits = 8 * (int)wk_dtype_size(dtype);
    int64_t specials[] = {0, 1,  -1, 2,  -2, 7, -7, INT64_MIN >> (64 - bits), INT64_MAX >> (64 - bits),
                          3, 31, 32, 63, 64};
    if (k % 2) return specials[k / 2 % (sizeof specials / sizeof specials[0])];
    return (int64_t)group_case_random() >> (group_case_random() % 64);
}

static void fill_element(wk_dtype dtype, void *data, int64_t k, group_fill fill)
{
    bool floats = dtype <= WK_BF16;
    if (fill == FILL_WIDE && !floats) {
        int64_t value = special_integer(dtype);
        memcpy((char *)data + k * (int64_t)wk_dtype_size(dtype), &value, wk_dtype_size(dtype));
        if (dtype == WK_BOOL) ((uint8_t *)data)[k] = value & 1;
    } else if (fill == FILL_SUM) {
        group_reference_put(dtype, data, k, (double)(group_case_random() % 9) - 4);
    } else if (fill == FILL_PRODUCT) {
        group_reference_put(dtype, data, k, k % 5003 == 80 ? 3 : group_case_random() % 2 ? 1 : -1);
    } else if (fill == FILL_BITS) {
        ((uint64_t *)data)[k] = group_case_random();
    } else if (fill == FILL_WIDE) {
        group_reference_put(dtype, data, k, special_float());
    } else if (dtype == WK_BOOL) {
        ((uint8_t *)data)[k] = group_case_random() & 1;
    } else if (floats) {
        group_reference_put(dtype, data, k, fill == FILL_POSITIVE ? between(0.25, 4) : between(-2, 2));
    } else {
        int64_t value = (int64_t)(group_case_random() % 9) + 1;
        bool negative = fill != FILL_POSITIVE && dtype != WK_U8 && group_case_random() % 2;
        group_reference_put(dtype, data, k, (double)(negative ? -value : value));
    }
}

group_case *group_case_new(const char *name, int ndim, const int64_t *shape, int nreduce)
{
    group_case *c = calloc(1, sizeof *c);
    snprintf(c->name, sizeof c->name, "%s", name);
    ir_space(&c->g, ndim, shape, nreduce);
    c->g.tag = (int64_t)(group_case_random() >> 8);
    return c;
}

void group_case_free(group_case *c)
{
    for (int k = 0; k < c->g.noperands; k++) free(c->data[k]);
    free(c);
}

int group_case_operand(group_case *c, wk_dtype dtype, const int64_t *stride, group_fill fill, int64_t extra)
{
    int64_t low = 0, high = 0;
    for (int d = 0; d < c->g.ndim; d++) {
        int64_t reach = stride[d] * (c->g.shape[d] > 0 ? c->g.shape[d] - 1 : 0);
        if (reach < 0) low += reach;
        if (reach > 0) high += reach;
    }
    int k = ir_operand(&c->g, dtype, &c->memory[c->g.noperands], MARGIN - low, stride);
    c->elements[k] = high - low + 1 + extra + 2 * MARGIN;
    c->data[k] = calloc((size_t)c->elements[k], wk_dtype_size(dtype));
    for (int64_t e = 0; e < c->elements[k]; e++) fill_element(dtype, c->data[k], e, fill);
    return k;
}

int group_case_dense(group_case *c, wk_dtype dtype, bool rows, group_fill fill)
{
    int64_t stride[WK__MAX_DIMS] = {0}, next = 1;
    for (int d = c->g.ndim - (rows ? c->g.nreduce : 0) - 1; d >= 0; d--) {
        stride[d] = next;
        next *= c->g.shape[d];
    }
    return group_case_operand(c, dtype, stride, fill, 0);
}

bool group_case_takes(int code, wk_dtype dtype)
{
    bool floats = dtype <= WK_BF16;
    switch (wk__opcode_kind[code]) {
    case 'A':
    case 'C': return true;
    case 'F': return floats;
    case 'I': return !floats && !(code == WK__NOT && dtype == WK_BOOL);
    default: return false;
    }
}

void group_case_arithmetic(group_case *c, int code, wk_dtype dtype, int a, int b)
{
    wk_dtype result = wk__opcode_kind[code] == 'C' ? WK_BOOL : wk__compute_class(dtype);
    int value = ir_ins(&c->g, (wk__opcode)code, result, a, b, 0);
    if (result != WK_BOOL && result != dtype) value = ir_ins(&c->g, WK__CAST, dtype, value, 0, 0);
    ir_store(&c->g, group_case_dense(c, result == WK_BOOL ? WK_BOOL : dtype, false, FILL_ONES), value);
}

void group_case_index(group_case *c, int operand, int64_t low, int64_t bound)
{
    int64_t *index = (int64_t *)(void *)c->data[operand];
    for (int64_t e = 0; e < c->elements[operand]; e++) {
        index[e] = low + (int64_t)(group_case_random() % (uint64_t)(bound - low));
    }
}

int64_t group_case_origin(const group_case *c, int operand)
{
    return c->g.operand[operand].offset;
}

void group_case_set(group_case *c, int operand, int64_t element, double value)
{
    group_reference_put((wk_dtype)c->g.operand[operand].dtype, c->data[operand],
                        group_case_origin(c, operand) + element, value);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static int64_t bytes_of(const group_case *c, int k)
{
    return c->elements[k] * (int64_t)wk_dtype_size((wk_dtype)c->g.operand[k].dtype);
}

static wk_code take_memory(group_case *c, const wk__backend *backend, void *device, wk__fail *fail)
{
    for (int k = 0; k < c->g.noperands; k++) {
        if (c->memory[k].block != NULL) continue;
        wk_code code = backend->block_alloc(device, bytes_of(c, k) + WK__ALIGN, &c->memory[k], fail);
        if (code != WK_OK) return code;
        c->memory[k].offset = WK__ALIGN; /* offsets are usually not the start of a block */
        if (c->memory[k].host != NULL) c->memory[k].host += WK__ALIGN;
        code = backend->upload(device, &c->memory[k], 0, c->data[k], bytes_of(c, k), fail);
        if (code != WK_OK) return code;
    }
    return WK_OK;
}

wk_code group_case_run(group_case *c, const wk__backend *backend, void *device, wk__fail *fail)
{
    const char *wrong = wk__program_verify(&c->g);
    if (wrong != NULL) return wk__fail_set(fail, WK_ERR_ARGUMENT, "%s: %s", c->name, wrong);
    wk_code code = take_memory(c, backend, device, fail);
    return code == WK_OK ? submit_program(backend, device, &c->g, fail) : code;
}

static const char *compare(const group_case *c, int k, const char *got, const char *want)
{
    static char text[320];
    wk_dtype dtype = (wk_dtype)c->g.operand[k].dtype;
    double relative = c->g.operand[k].stored ? c->relative : 0, absolute = c->g.operand[k].stored ? c->absolute : 0;
    int64_t at = group_reference_differs(dtype, got, want, c->elements[k], relative, absolute);
    if (at < 0) return NULL;
    double a = group_reference_get(dtype, got, at), b = group_reference_get(dtype, want, at);
    snprintf(text, sizeof text, "%s: operand %d (%s) at %lld: got %.17g, expected %.17g, before %.17g", c->name, k,
             wk_dtype_str(dtype), (long long)(at - group_case_origin(c, k)), a, b,
             group_reference_get(dtype, c->data[k], at));
    return text;
}

static const char *check_memory(group_case *c, const wk__backend *backend, void *device, char *const want[])
{
    static char text[640];
    const char *wrong = NULL;
    for (int k = 0; k < c->g.noperands && wrong == NULL; k++) {
        char *got = calloc((size_t)bytes_of(c, k), 1);
        wk__fail fail;
        wk_code code = backend->download(device, got, &c->memory[k], 0, bytes_of(c, k), &fail);
        bool expected = code == WK_ERR_INDEX && c->bad.bound > 0 && fail.tag == c->g.tag && fail.bound == c->bad.bound;
        if (code != WK_OK && !expected) {
            snprintf(text, sizeof text, "%s: %s", c->name, fail.text);
            wrong = text;
        } else {
            wrong = compare(c, k, got, want[k]);
        }
        free(got);
    }
    return wrong;
}

const char *group_case_check(group_case *c, const wk__backend *backend, void *device)
{
    char *want[WK__MAX_OPERANDS];
    for (int k = 0; k < c->g.noperands; k++) {
        want[k] = calloc((size_t)bytes_of(c, k), 1);
        memcpy(want[k], c->data[k], (size_t)bytes_of(c, k));
    }
    c->bad = (wk__fail){.code = WK_OK};
    group_reference_run(&c->g, (void *const *)want, &c->bad);
    const char *wrong = check_memory(c, backend, device, want);
    for (int k = 0; k < c->g.noperands; k++) {
        free(want[k]);
        backend->block_free(device, &c->memory[k]);
    }
    return wrong;
}
