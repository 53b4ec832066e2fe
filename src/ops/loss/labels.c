/* SPDX-License-Identifier: Apache-2.0 */
/* Class labels (labels.h). */
#include "labels.h"
#include "ops/index/index_check.h"

/* ---- labels in host memory --------------------------------------------------------------------------------------- */

bool wk__check_host_labels(const wk__op *op, wk_site site, wk_tensor *const in[], const wk__label_range *classes)
{
    int64_t bad;
    if (wk__body_of(in[1])->dtype != WK_I64 ||
        !wk__find_index_out_of_range(in[1], 0, classes->count, &classes->ignore_index, &bad))
        return true;
    wk__op_error(op, site, WK_ERR_INDEX, in, "label %lld is out of range for the %lld classes of $a (valid: [0, %lld))",
                 (long long)bad, (long long)classes->count, (long long)classes->count);
    return false;
}

/* ---- labels checked on the device -------------------------------------------------------------------------------- */

/* Loads the label itself, by an index with stride 0, only for the bounds check of the load; the bound does not allow
 * indices from the end. in: labels in memory, label, [-number of classes, 0], ignored */
static int checked(wk__emit *e, const int in[])
{
    int ignored = wk__emit_compare(e, WK__EQ, in[1], in[4]);
    int index = wk__emit_where(e, ignored, wk__emit_constant(e, 0), in[1]);
    int read = wk__emit_ins(e, WK__LOADX, WK_I64, index, in[0], in[2]);
    return wk__emit_where(e, ignored, wk__emit_constant(e, -1), read);
}

static const wk__op cross_entropy_op = {.name = "cross_entropy", .expression = checked, .index_is_label = true};
static const wk__op nll_op = {.name = "nll_loss", .expression = checked, .index_is_label = true};
static const wk__op margin_op = {.name = "multi_margin_loss", .expression = checked, .index_is_label = true};

wk_tensor *wk__record_label_check(const wk__op *op, wk_site site, wk_tensor *labels, const wk__label_range *classes)
{
    const wk__op *record_op = op == &wk__op_nll_loss            ? &nll_op
                              : op == &wk__op_multi_margin_loss ? &margin_op
                                                                : &cross_entropy_op;
    wk__record *r;
    wk_tensor *out =
        wk__begin_output_record(record_op, site, &labels, 1, (wk__output_spec){WK__PROGRAM, .inputs = 5}, &r);
    if (!out) return NULL;
    const wk__body *label = wk__body_of(labels);
    wk__record_ref(r, 1, label, label->stride);
    wk__record_mark_indirect(r, 1);
    wk__record_ref(r, 2, label, label->stride);
    wk__record_imm(r, 3, WK_I64, (wk__imm){.i = -classes->count}, WK__REF_IMM | WK__REF_IMM_INDEX);
    wk__record_imm(r, 4, WK_I64, (wk__imm){.i = 0}, WK__REF_IMM | WK__REF_IMM_INDEX);
    wk__record_imm(r, 5, WK_I64, (wk__imm){.i = classes->ignore_index}, WK__REF_IMM);
    wk__record_commit(wk__context(), r);
    return out;
}
