/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices that are written step by step (recurrence.h). */
#include "base/alloc.h"
#include "ops/shape/cat.h"
#include "recurrence.h"

bool wk__step_rows_begin(wk__step_rows *m, const wk__op *op, wk_site site, const wk__steps *steps, int64_t width,
                         const wk_tensor *like, bool differentiable)
{
    *m = (wk__step_rows){.op = op, .site = site, .steps = steps, .width = width, .like = like};
    if (!differentiable) return true;
    m->piece = wk__alloc_zero((size_t)steps->count, sizeof *m->piece);
    if (!m->piece) wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory for the graph of gradients", op->name);
    return m->piece != NULL;
}

/* Creates the matrix with its first part. The record of the part must follow immediately. */
static bool put_part(wk__step_rows *m, int64_t offset, wk_tensor *part)
{
    wk_context *context = wk__context();
    if (!wk__prepare_operands(context, m->op, m->site, &part, 1, WK__COLOCATE_IF_SOFT)) return false;
    const bool first = !m->matrix;
    if (first) {
        const wk__body *like = wk__body_of(m->like);
        const int64_t shape[2] = {m->steps->row[m->steps->count], m->width};
        m->matrix = wk__tensor_pending(context, like->storage->device, like->dtype, 2, shape, m->site, m->op->name);
        if (!m->matrix) return false;
    }
    if (wk__write_part(m->op, m->site, m->matrix, offset, part, first)) return true;
    if (first) m->matrix = wk__discard_result(m->matrix);
    return false;
}

wk_tensor *wk__step_rows_put(wk__step_rows *m, int64_t t, wk_tensor *const part[], int parts)
{
    if (m->piece) return m->piece[t] = parts == 1 ? part[0] : wk_cat_at(m->site, part, parts, 1);
    const int64_t row = m->steps->row[t];
    const wk__frame before = wk__frame_begin(wk__context(), WK__FRAME_CRITICAL, NULL, (wk_site){0});
    bool fine = true;
    for (int k = 0; k < parts && fine; k++)
        fine = part[k] && put_part(m, row * m->width + k * (m->width / parts), part[k]);
    wk__frame_end(wk__context(), before);
    return fine ? wk_narrow(m->matrix, 0, row, wk__steps_rows(m->steps, t)) : NULL;
}

wk_tensor *wk__step_rows_end(wk__step_rows *m)
{
    if (!m->piece) return m->matrix;
    wk_tensor *joined = wk__error_pending() ? NULL : m->piece[0];
    if (joined && m->steps->count > 1 && m->steps->count <= INT32_MAX)
        joined = wk_cat_at(m->site, m->piece, (int)m->steps->count, 0);
    wk__free(m->piece);
    m->piece = NULL;
    return joined;
}
