/* SPDX-License-Identifier: Apache-2.0 */
/* Small valid work of each family in each dtype and layout. Tests that a backend accepts exactly the work that it
 * claims to support, and rejects the rest with a message. */
#ifndef TESTS_SUPPORT_FAMILIES_H
#define TESTS_SUPPORT_FAMILIES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "backend/backend.h"
#include "backend/work.h"
#include "ir/build.h"

/* Operands are dense and have FAMILY_ROWS x FAMILY_COLUMNS elements, or those of one block. */
enum { FAMILY_ROWS = 3, FAMILY_COLUMNS = 4, FAMILY_NUMBERS = 32, FAMILY_BYTES = FAMILY_NUMBERS * 8 };

typedef struct family_work {
    wk__work work;
    wk__work_args kernel;
    wk__contraction sum;
    wk__program group;
} family_work;

static inline wk__operand family_operand(wk__memory *memory, wk_dtype dtype, bool stored)
{
    return (wk__operand){.memory = memory, .dtype = (uint8_t)dtype, .stride = {FAMILY_COLUMNS, 1}, .stored = stored};
}

static inline void family_program(family_work *w, wk_dtype dtype, wk__memory memory[])
{
    const int64_t stride[] = {FAMILY_COLUMNS, 1};
    ir_space(&w->group, 2, (const int64_t[]){FAMILY_ROWS, FAMILY_COLUMNS}, 0);
    const int out = ir_operand(&w->group, dtype, &memory[0], 0, stride);
    ir_store(&w->group, out, ir_load(&w->group, ir_operand(&w->group, dtype, &memory[1], 0, stride)));
    w->work.args = NULL;
    w->work.program = &w->group;
}

/* C[i, j] = sum over l < 3 of A[i, l] B[l, j], a matrix product; with a layout of computed coordinates, B has columns j
 * + l - 1 instead. */
static inline void family_contraction(family_work *w, wk_dtype dtype, wk__layout layout, wk__memory memory[])
{
    wk__work_args *k = &w->kernel;
    for (int o = 0; o < 3; o++) k->operand[o] = family_operand(&memory[o], dtype, o == 0);
    k->operand[1].stride[1] = k->operand[2].stride[0] = 0;
    k->contraction = &w->sum;
    w->sum = (wk__contraction){.dtype = wk__accumulator_dtype(k->operand[0].dtype),
                               .nsummed = 1,
                               .extent = {FAMILY_ROWS},
                               .stride = {{1}, {FAMILY_COLUMNS}}};
    if (layout == WK__LAYOUT_STRIDES) return;
    k->operand[2].stride[1] = 0;
    w->sum.naffine[1] = 1;
    w->sum.affine[1][0] =
        (wk__affine_index){.offset = -1, .divisor = 1, .extent = FAMILY_COLUMNS, .stride = 1, .coefficient = {0, 1, 1}};
}

/* Attention of matrices (3, 4), without mask, and of vectors (3). */
static inline void family_attention(family_work *w, wk_dtype dtype, wk__memory memory[])
{
    enum { L, S, E, EV, DIMS };
    static const int dims[][2] = {{L, EV}, {L, L}, {L, E}, {S, E}, {S, EV}, {L, E}};
    static const int backward[][2] = {{L, E},  {S, E}, {S, EV}, {L, E}, {S, E},
                                      {S, EV}, {L, E}, {L, EV}, {L, L}, {L, L}};
    const wk__work_family *family = &wk__work_families[w->work.family];
    const int(*dim)[2] = w->work.family == WK__ATTENTION ? dims : backward;
    wk__work_args *k = &w->kernel;
    *k = (wk__work_args){.ndim = DIMS, .shape = {FAMILY_ROWS, FAMILY_ROWS, FAMILY_COLUMNS, FAMILY_COLUMNS}, .tag = -1};
    for (int o = 0; o < family->nout + family->nin; o++) {
        k->operand[o] = (wk__operand){.memory = &memory[o], .dtype = (uint8_t)dtype, .stored = o < family->nout};
        k->operand[o].stride[dim[o][0]] = FAMILY_COLUMNS;
        k->operand[o].stride[dim[o][1]] = 1;
    }
}

/* A row x with three rows of one block. */
static inline void family_quantized(family_work *w, wk_dtype dtype, wk__memory memory[])
{
    enum { R, O, I, B, DIMS };
    wk__work_args *k = &w->kernel;
    *k = (wk__work_args){.ndim = DIMS, .shape = {1, FAMILY_ROWS, 32, 34}, .tag = -1};
    for (int o = 0; o < 3; o++) k->operand[o] = (wk__operand){.memory = &memory[o], .dtype = (uint8_t)dtype};
    k->operand[0].stored = true;
    k->operand[0].stride[O] = k->operand[1].stride[I] = k->operand[2].stride[B] = 1;
    k->operand[2].stride[O] = 34;
    k->operand[2].dtype = WK_U8;
}

/* Gradients of a layer norm without weight. */
static inline void family_norm(family_work *w, wk_dtype dtype, wk__memory memory[])
{
    static const int64_t stride[][2] = {{FAMILY_COLUMNS, 1}, {0, 1}, {0, 1}, {FAMILY_COLUMNS, 1},
                                        {FAMILY_COLUMNS, 1}, {1, 0}, {1, 0}, {0, 1}};
    wk__work_args *k = &w->kernel;
    for (int o = 0; o < 8; o++) {
        k->operand[o] = (wk__operand){.memory = &memory[o], .dtype = (uint8_t)dtype, .stored = o < 3};
        memcpy(k->operand[o].stride, stride[o], sizeof stride[o]);
    }
}

/* Builds work of a family. Returns false if the family does not have this layout. For numbers outside the families it
 * builds some kernel. */
static inline bool family_work_of(family_work *w, int family, wk_dtype dtype, wk__layout layout, wk__memory memory[])
{
    memset(w, 0, sizeof *w);
    wk__work_args *k = &w->kernel;
    *k = (wk__work_args){.ndim = 2, .dim = 1, .shape = {FAMILY_ROWS, FAMILY_COLUMNS}, .tag = -1};
    w->work = (wk__work){.family = family, .args = k};
    k->operand[0] = family_operand(&memory[0], dtype, true);
    k->operand[1] = family_operand(&memory[1], dtype, false);
    switch (family) {
    case WK__PROGRAM: family_program(w, dtype, memory); break;
    case WK__CONTRACTION: family_contraction(w, dtype, layout, memory); break;
    case WK__SCATTER_ADD:
        k->bound = FAMILY_COLUMNS;
        k->operand[1].dtype = WK_I64;
        k->operand[2] = family_operand(&memory[2], dtype, false);
        break;
    case WK__SORT:
        k->operand[1] = family_operand(&memory[1], WK_I64, true);
        k->operand[2] = family_operand(&memory[2], dtype, false);
        break;
    case WK__ATTENTION:
    case WK__ATTENTION_BACKWARD: family_attention(w, dtype, memory); break;
    case WK__QUANTIZED: family_quantized(w, dtype, memory); break;
    case WK__NORM_BACKWARD: family_norm(w, dtype, memory); break;
    default: break; /* a scan and a transfer are complete */
    }
    return layout == WK__LAYOUT_STRIDES || family == WK__CONTRACTION;
}

/* Checks that work of an unsupported kind failed with WK_ERR_UNSUPPORTED and a message. */
static inline void family_expect_refused(wk_code code, const wk__fail *fail, int family, wk_dtype dtype)
{
    if (code != WK_ERR_UNSUPPORTED || fail->code != code || strlen(fail->text) < 10)
        fail_msg("family %d in %s, which is not supported: code %d, \"%s\"", family, wk_dtype_str(dtype), (int)code,
                 code == WK_OK ? "" : fail->text);
}

typedef bool family_supported(int family, wk_dtype dtype, wk__layout layout);

/* Checks all families, and one number below and one above them. wanted returns true for work that must be supported. */
static inline void families_agree(const wk__backend *backend, void *device, family_supported *wanted)
{
    const char zeros[FAMILY_BYTES] = {0}; /* also valid as indices */
    wk__memory memory[WK__WORK_OPERANDS];
    wk__fail fail;
    for (int o = 0; o < WK__WORK_OPERANDS; o++) {
        assert_int_equal(backend->block_alloc(device, FAMILY_BYTES, &memory[o], &fail), WK_OK);
        assert_int_equal(backend->upload(device, &memory[o], 0, zeros, FAMILY_BYTES, &fail), WK_OK);
    }
    for (int family = -1; family <= WK__WORK_FAMILIES; family++)
        for (wk_dtype dtype = WK_F32; dtype < WK_DTYPE_COUNT; dtype++)
            for (wk__layout layout = WK__LAYOUT_STRIDES; layout <= WK__LAYOUT_CONTRACTION; layout++) {
                family_work w;
                const bool exists = family_work_of(&w, family, dtype, layout, memory);
                const bool supported = backend->supports(device, family, dtype, layout);
                if (supported != (exists && wanted(family, dtype, layout)))
                    fail_msg("%s: family %d in %s, layout %d: %d", backend->name, family, wk_dtype_str(dtype),
                             (int)layout, supported);
                if (!exists) continue;
                const wk_code code = backend->submit(device, &w.work, &fail);
                if (!supported) family_expect_refused(code, &fail, family, dtype);
                if (supported && code != WK_OK)
                    fail_msg("%s: family %d in %s: %s", backend->name, family, wk_dtype_str(dtype), fail.text);
            }
    const wk_code code = backend->sync(device, &fail);
    if (code != WK_OK) fail_msg("%s: %s", backend->name, fail.text);
    for (int o = 0; o < WK__WORK_OPERANDS; o++) backend->block_free(device, &memory[o]);
}

#endif
