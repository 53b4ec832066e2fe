/* SPDX-License-Identifier: Apache-2.0 */
/* Reference implementation, literally by definition; see contraction_reference.h. */
#include "contraction_reference.h"

#include "base/pool.h"
#include "ir/scalar.h"
#include "backend/cpu/half.h"
#include "backend/cpu/vm/program.h"

enum { TASK = 256 /* elements of the result per task */ };

typedef struct job {
    const wk__work_args *kernel;
    int64_t elements;
} job;

/* Accumulator in one of the classes; the other members are unused. */
typedef union total {
    float f32;
    double f64;
    uint32_t i32;
    uint64_t i64;
} total;

/* Returns the address of a factor's element; NULL if the factor is 0 there. */
static const char *element_of(const wk__work_args *kernel, int factor, const int64_t index[])
{
    const wk__operand *operand = &kernel->operand[1 + factor];
    const wk__contraction *sum = kernel->contraction;
    int64_t at = operand->offset;
    for (int d = 0; d < kernel->ndim; d++) at += index[d] * operand->stride[d];
    for (int s = 0; s < sum->nsummed; s++) at += index[kernel->ndim + s] * sum->stride[factor][s];
    for (int k = 0; k < sum->naffine[factor]; k++) {
        const wk__affine_index *q = &sum->affine[factor][k];
        int64_t numerator = q->offset;
        for (int i = 0; i < kernel->ndim + sum->nsummed; i++) numerator += q->coefficient[i] * index[i];
        if (numerator < 0 || numerator % q->divisor != 0 || numerator / q->divisor >= q->extent) return NULL;
        at += numerator / q->divisor * q->stride;
    }
    return operand->memory->host + at * (int64_t)wk_dtype_size((wk_dtype)operand->dtype);
}

static double real(const char *element, int dtype)
{
    return element ? wk__scalar_to_double(element, (wk_dtype)dtype) : 0;
}

/* Converts to f32; an integer is rounded only once. */
static float narrow_real(const char *element, int dtype)
{
    if (element && (dtype == WK_I64 || dtype == WK_I32)) return (float)wk__scalar_to_i64(element, (wk_dtype)dtype);
    return (float)real(element, dtype);
}

static uint64_t whole(const char *element, int dtype)
{
    return element ? (uint64_t)wk__scalar_to_i64(element, (wk_dtype)dtype) : 0;
}

static void add_product(const wk__work_args *kernel, const int64_t index[], total *t)
{
    const char *a = element_of(kernel, 0, index), *b = element_of(kernel, 1, index);
    const int of_a = kernel->operand[1].dtype, of_b = kernel->operand[2].dtype;
    switch (kernel->contraction->dtype) {
    case WK_F32: t->f32 += narrow_real(a, of_a) * narrow_real(b, of_b); break;
    case WK_F64: t->f64 += real(a, of_a) * real(b, of_b); break;
    case WK_I32: t->i32 += (uint32_t)whole(a, of_a) * (uint32_t)whole(b, of_b); break;
    default: t->i64 += whole(a, of_a) * whole(b, of_b); break;
    }
}

static void store(const wk__operand *out, int64_t at, int class, const total *t)
{
    const bool floats = class == WK_F32 || class == WK_F64;
    const double number = class == WK_F32 ? (double)t->f32 : t->f64;
    const int64_t count = class == WK_I32 ? (int32_t)t->i32 : (int64_t)t->i64;
    const float narrow = floats ? (float)number : (float)count;
    const double wide = floats ? number : (double)count;
    const uint16_t half = out->dtype == WK_F16 ? f16_of_f32(narrow) : bf16_of_f32(narrow);
    const size_t size = wk_dtype_size((wk_dtype)out->dtype);
    const int64_t bits = out->dtype == WK_BOOL ? (floats ? number != 0 : count != 0)
                         : floats              ? wk__double_to_i64(number)
                                               : count;
    char *to = out->memory->host + at * (int64_t)size;
    switch (out->dtype) {
    case WK_F32: memcpy(to, &narrow, size); break;
    case WK_F64: memcpy(to, &wide, size); break;
    case WK_F16:
    case WK_BF16: memcpy(to, &half, size); break;
    default: memcpy(to, &bits, size); break; /* the low bytes: wraps */
    }
}

static void compute(const wk__work_args *kernel, int64_t number)
{
    const wk__contraction *sum = kernel->contraction;
    const wk__operand *out = &kernel->operand[0];
    int64_t index[WK__MAX_INDICES] = {0}, at = out->offset;
    for (int d = kernel->ndim - 1; d >= 0; d--) {
        index[d] = number % kernel->shape[d];
        number /= kernel->shape[d];
        at += index[d] * out->stride[d];
    }
    total t = {.f64 = 0};
    for (int64_t left = wk__contraction_k(sum); left > 0; left--) {
        add_product(kernel, index, &t);
        for (int s = sum->nsummed - 1; s >= 0; s--) {
            if (++index[kernel->ndim + s] < sum->extent[s]) break;
            index[kernel->ndim + s] = 0;
        }
    }
    store(out, at, sum->dtype, &t);
}

static void run_task(void *user, int64_t task)
{
    const job *j = user;
    const int64_t end = (task + 1) * TASK < j->elements ? (task + 1) * TASK : j->elements;
    for (int64_t k = task * TASK; k < end; k++) compute(j->kernel, k);
}

wk_code wk__cpu_contraction_reference(const wk__work *work, wk__fail *fail)
{
    job j = {.kernel = work->args, .elements = 1};
    for (int d = 0; d < work->args->ndim; d++) j.elements *= work->args->shape[d];
    wk__parallel_for((j.elements + TASK - 1) / TASK, run_task, &j);
    return work->program ? wk__cpu_run(work->program, fail) : WK_OK;
}
