/* SPDX-License-Identifier: Apache-2.0 */
/* Compares each call with the op's double-precision reference, and checks which tensors it changes, with an explicit
 * model of storages. After every step all live tensors are read. Those that share the written storage must have the new
 * values at the target's positions and the former ones elsewhere; all others must be unchanged. */
#include "oracles.h"
#include "base/alloc.h"
#include "ir/scalar.h"
#include "xalloc.h"
#include "trace.h"
#include "tensor/tensor.h"
#include "support/sweep/sweep.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_READ = 512 /* maximum number of elements of a tensor that is read */ };

/* Contents of a slot after the last step. */
typedef struct snapshot {
    bool finite;
    int64_t n;
    double number[MOST_READ];
} snapshot;

typedef struct model {
    program *program;
    executor *machine;
    verdict *verdict;
    snapshot *held; /* [MOST_SLOTS] */
    bool known[MOST_SLOTS];
} model;

static bool take_snapshot(wk_tensor *x, snapshot *h)
{
    static _Thread_local _Alignas(8) char bytes[MOST_READ * 8];
    const wk__body *body = wk__body_of(x);
    h->n = wk__body_numel(body);
    h->finite = true;
    if (h->n > MOST_READ || executor_read(x, bytes) != WK_OK) return false;
    for (int64_t k = 0; k < h->n; k++) {
        h->number[k] = wk__scalar_to_double(bytes + (size_t)k * wk_dtype_size(body->dtype), body->dtype);
        h->finite = h->finite && isfinite(h->number[k]);
    }
    return true;
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static bool disagree(model *m, const char *what, int slot, int64_t k, double have, double want)
{
    snprintf(m->verdict->text, sizeof m->verdict->text, "at step %d t%d %s: element %lld is %.17g, not %.17g",
             m->machine->now, slot, what, (long long)k, have, want);
    return true;
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */

/* Returns the offset of element k of a tensor in its storage. */
static int64_t place_of(const wk__body *body, int64_t k)
{
    int64_t place = body->offset;
    for (int d = body->ndim; d-- > 0; k /= body->shape[d]) place += k % body->shape[d] * body->stride[d];
    return place;
}

/* Returns the element of the target at an offset, or -1. */
static int64_t element_at(const wk__body *target, int64_t place)
{
    for (int64_t e = wk__body_numel(target); e-- > 0;)
        if (place_of(target, e) == place) return e;
    return -1;
}

/* Checks a slot: its former contents, except at the target's positions, which have the written values. */
static bool check_slot(model *m, int s, const wk__body *to, const snapshot *written, const snapshot *now)
{
    const wk__body *body = wk__body_of(m->machine->slot[s].tensor);
    const bool shares = to && body->storage == to->storage && body->dtype == to->dtype;
    for (int64_t k = 0; k < now->n; k++) {
        const int64_t e = shares ? element_at(to, place_of(body, k)) : -1;
        const double want = e >= 0 ? written->number[e] : m->held[s].number[k];
        if (!same(now->number[k], want)) return disagree(m, "changed", s, k, now->number[k], want);
    }
    return false;
}

/* Reads all slots again. Known ones are compared, unless compared is false because anything may have changed. */
static bool check_all_slots(model *m, bool compared, int target)
{
    static _Thread_local snapshot now, written;
    const wk__body *to = target >= 0 ? wk__body_of(m->machine->slot[target].tensor) : NULL;
    if (to && !take_snapshot(m->machine->slot[target].tensor, &written)) compared = false;
    for (int s = 0; s < m->program->slots; s++) {
        wk_tensor *x = m->machine->slot[s].tensor;
        snapshot *h = x && m->known[s] && compared ? &now : &m->held[s];
        const bool known = x && take_snapshot(x, h);
        if (known && h == &now) {
            if (check_slot(m, s, to, &written, &now)) return true;
            if (to && wk__body_of(x)->storage == to->storage) take_snapshot(x, &m->held[s]);
        }
        m->known[s] = known;
    }
    return false;
}

/* ---- results of a call ------------------------------------------------------------------------------------------- */

/* Returns true if the tensor contains all elements of its storage in order. */
static bool covers_storage(const model *m, const step *s)
{
    const wk_tensor *x = m->machine->slot[s->argument[0].slot[0]].tensor;
    const wk__body *body = x ? wk__body_of(x) : NULL;
    return body && wk__body_contiguous(body) &&
           wk__body_numel(body) * (int64_t)wk_dtype_size(body->dtype) == body->storage->bytes;
}

/* Converts the call to a sample and inputs of the sweep. Returns false if it cannot be compared: other dtypes than f64,
 * too large, without a reference, or discontinuous. */
static bool as_sample(model *m, const step *s, sweep_sample *sample, sweep_input input[])
{
    const op_entry *r = &op_entries[s->op];
    if ((!r->known->reference && !r->known->scalar) || r->draws || r->known->discontinuous) return false;
    /* its reference does not know the storage outside the operand */
    if (strcmp(r->op->name, "as_strided") == 0 && !covers_storage(m, s)) return false;
    memset(sample, 0, sizeof *sample);
    sample->arguments = s->arguments;
    for (int k = 0; k < s->arguments; k++) {
        const argument *a = &s->argument[k];
        wk_value *v = &sample->argument[k];
        sample->first[k] = sample->operands;
        *v = (wk_value){.kind = a->kind, .count = a->kind == WK_VALUE_TENSOR ? 0 : a->count};
        if (a->kind == WK_VALUE_INTS) v->ints = a->ints;
        if (a->kind == WK_VALUE_TEXT) v->text = a->text;
        if (a->kind == WK_VALUE_FLOAT) v->f = a->f;
        if (a->kind == WK_VALUE_DTYPE && a->i != WK_F64) return false; /* converted before it is summed */
        if (a->kind == WK_VALUE_INT || a->kind == WK_VALUE_BOOL || a->kind == WK_VALUE_DTYPE) v->i = a->i;
        const int count = a->kind == WK_VALUE_TENSOR || a->kind == WK_VALUE_TENSORS ? a->count : 0;
        for (int j = 0; j < count; j++) {
            const wk_tensor *x = m->machine->slot[a->slot[j]].tensor;
            const snapshot *h = &m->held[a->slot[j]];
            if (!x || !m->known[a->slot[j]] || !h->finite || sample->operands == SWEEP_TENSORS) return false;
            const wk__body *body = wk__body_of(x);
            if (wk__is_float(body->dtype) && body->dtype != WK_F64) return false;
            reference_array *array = &input[sample->operands++].array;
            *array =
                (reference_array){.ndim = body->ndim, .dtype = body->dtype, .data = (double *)(uintptr_t)h->number};
            memcpy(array->shape, body->shape, sizeof body->shape);
        }
    }
    return sample->operands > 0 && input[0].array.dtype == WK_F64;
}

/* Rounding errors accumulate and cancel; the tolerance only needs to reveal wrong elements. */
static double tolerance(const sweep_sample *sample, const sweep_input input[])
{
    double largest = 1, n = 1;
    for (int k = 0; k < sample->operands; k++) {
        const int64_t count = reference_numel(&input[k].array);
        n = fmax(n, (double)count);
        for (int64_t e = 0; e < count; e++)
            if (isfinite(input[k].array.data[e])) largest = fmax(largest, fabs(input[k].array.data[e]));
    }
    return 1e-9 * n * largest * largest;
}

static bool check_results(model *m, const step *s, int target, const reference_array expected[], int count, double near)
{
    static _Thread_local snapshot now;
    for (int k = 0; k < count; k++) {
        const int slot = target >= 0 ? target : s->out + k;
        if (target < 0 && k >= s->results) break;
        wk_tensor *x = m->machine->slot[slot].tensor;
        if (!x || !take_snapshot(x, &now)) continue;
        const wk__body *body = wk__body_of(x);
        if (!wk__same_shape(body->ndim, body->shape, expected[k].ndim, expected[k].shape))
            return disagree(m, "has another shape", slot, 0, body->ndim, expected[k].ndim);
        for (int64_t e = 0; e < now.n; e++) {
            const double have = now.number[e], want = sweep_rounded(expected[k].data[e], body->dtype);
            const bool close = fabs(have - want) <= near * fmax(1, fabs(want)) || !isfinite(want) || fabs(want) > 1e6;
            if (!same(have, want) && !(wk__is_float(body->dtype) && close))
                return disagree(m, "is wrong", slot, e, have, want);
        }
    }
    return false;
}

/* Executes the step, compares it with the reference computed beforehand, and checks all other slots. */
static bool check_call(model *m, int k)
{
    const step *s = &m->program->step[k];
    sweep_sample sample;
    sweep_input input[SWEEP_TENSORS] = {{0}};
    reference_array expected[SWEEP_RESULTS] = {{0}};
    const bool writes = s->kind == STEP_IN_PLACE || op_entries[s->op].writes;
    const bool compared = as_sample(m, s, &sample, input);
    const int target = writes ? s->argument[0].slot[0] : -1;
    if (!executor_step(m->machine, k) || m->machine->code != WK_OK || m->machine->given > 4)
        return check_all_slots(m, false, -1);
    wk_tensor *result = m->machine->slot[target >= 0 ? target : s->out].tensor;
    if (!result || !compared || wk__body_numel(wk__body_of(result)) > MOST_READ)
        return check_all_slots(m, result != NULL, target);
    const int count = sweep_expected(op_entries[s->op].op, &sample, input, expected, result);
    bool wrong = check_results(m, s, target, expected, count, tolerance(&sample, input));
    for (int j = 0; j < count; j++) wk__free(expected[j].data);
    return wrong || check_all_slots(m, true, target);
}

bool reference_disagrees(program *p, executor *m, verdict *v)
{
    static snapshot *room;
    if (!room) room = xcalloc(MOST_SLOTS, sizeof *room);
    model model = {.program = p, .machine = m, .verdict = v, .held = room};
    bool wrong = false;
    executor_begin(m, p, &mode_sync);
    for (int k = 0; k < p->steps && !wrong && !m->has_failed_value; k++) {
        const uint8_t kind = p->step[k].kind;
        if (kind == STEP_CALL || kind == STEP_IN_PLACE) {
            wrong = check_call(&model, k);
        } else {
            executor_step(m, k);
            /* backward accumulates gradients that the program holds; host writes may change any memory, and an
             * optimiser its leaves */
            wrong =
                check_all_slots(&model, kind != STEP_BACKWARD && kind != STEP_HOST_WRITE && kind != STEP_OPTIMISE, -1);
        }
    }
    executor_end(m);
    return wrong;
}
