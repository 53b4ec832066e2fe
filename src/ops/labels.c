/* Class labels; see labels.h. */
#include "labels.h"

/* ---- at the call ------------------------------------------------------------------------------------------------- */

bool wk__labels_known_good(const wk__op *op, wk_site site, wk_tensor *const in[], const wk__classes *classes)
{
    const wk__body *label = wk__body_of(in[1]);
    const wk__value *value = label->storage->value;
    if (label->dtype != WK_I64 || wk__value_state(value) != WK__STORED || !value->memory.host) return true;
    const int64_t *first = (const int64_t *)(const void *)value->memory.host + label->offset;
    int64_t at[WK__MAX_DIMS] = {0}, n = wk__body_numel(label), place = 0;
    for (int64_t k = 0; k < n; k++) {
        int64_t here = first[place];
        if (here != classes->ignored && (here < 0 || here >= classes->count)) {
            wk__op_error(op, site, WK_ERR_INDEX, in, "label %lld names no class: there are %lld in $a", (long long)here,
                         (long long)classes->count);
            return false;
        }
        for (int d = label->ndim; d-- > 0;) {
            place += label->stride[d];
            if (++at[d] < label->shape[d]) break;
            place -= at[d] * label->stride[d];
            at[d] = 0;
        }
    }
    return true;
}

/* ---- when they are computed ---------------------------------------------------------------------------------------- */

/* The read is always of the label itself, as its stride is 0: only the check matters, against a bound that lets nothing count
 * from the end. in: labels in memory, label, [-number of classes, 0], ignored */
static int checked(wk__emit *e, const int in[])
{
    int ignored = wk__emit_compare(e, WK__EQ, in[1], in[4]);
    int index = wk__emit_where(e, ignored, wk__emit_constant(e, 0), in[1]);
    int read = wk__emit_ins(e, WK__LOADX, WK_I64, index, in[0], in[2]);
    return wk__emit_where(e, ignored, wk__emit_constant(e, -1), read);
}

/* in: label, ignored */
static int known(wk__emit *e, const int in[])
{
    return wk__emit_where(e, wk__emit_compare(e, WK__EQ, in[0], in[1]), wk__emit_constant(e, -1), in[0]);
}

static const wk__op cross_entropy_op = {.name = "cross_entropy", .expression = checked};
static const wk__op nll_op = {.name = "nll_loss", .expression = checked};
static const wk__op known_op = {.name = "cross_entropy", .expression = known, .arity = 2};

wk_tensor *wk__labels_checked(const wk__op *op, wk_site site, wk_tensor *labels, const wk__classes *classes)
{
    const wk__op *record_op = op == &wk__op_nll_loss ? &nll_op : &cross_entropy_op;
    wk__device *device = wk__ready(op, site, &labels, 1);
    if (!device) return NULL;
    wk_context *context = wk__context();
    const wk__body *label = wk__body_of(labels);
    wk_tensor *out = wk__tensor_pending(context, device, WK_I64, label->ndim, label->shape, site, op->name);
    if (!out) return NULL;
    wk__record *r =
        wk__record_begin(context, WK__RECORD_EXPRESSION, record_op, device, site, label->ndim, label->shape, 1, 5);
    if (!r) return wk__abandon(out);
    r->compute = WK_I64;
    wk__record_ref(r, 0, wk__body_of(out), wk__body_of(out)->stride);
    wk__record_ref(r, 1, label, label->stride);
    r->ref[1].flags = WK__REF_INDIRECT;
    wk__record_ref(r, 2, label, label->stride);
    wk__record_imm(r, 3, WK_I64, (wk__imm){.i = -classes->count}, WK__REF_IMM | WK__REF_RAW);
    wk__record_imm(r, 4, WK_I64, (wk__imm){.i = 0}, WK__REF_IMM | WK__REF_RAW);
    wk__record_imm(r, 5, WK_I64, (wk__imm){.i = classes->ignored}, WK__REF_IMM);
    wk__record_commit(context, r);
    return out;
}

wk_tensor *wk__labels_known(wk_site site, wk_tensor *labels, const wk__classes *classes)
{
    return wk__binary(&known_op, site, wk__t(labels), wk__i(classes->ignored));
}
