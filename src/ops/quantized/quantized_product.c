/* SPDX-License-Identifier: Apache-2.0 */
/* Products with a weight of quantised blocks by public ops: panels of rows of the weight are dequantised and
 * multiplied, one after the other. Each panel has a call scope, so that its elements are freed afterwards. */
#include "base/alloc.h"
#include "base/integers.h"
#include "quantized.h"
#include "tensor/call_scope.h"

enum { PANEL_ELEMENTS = 1 << 20 };

/* The rows of a weight in panels. */
typedef struct panels {
    const wk__quantized_product *p;
    int64_t rows, per_panel, count;
} panels;

static panels panels_of(const wk__quantized_product *p)
{
    const wk__block_format *format = &wk__block_formats[p->format];
    const int64_t rows = wk_size(p->blocks, 0), columns = wk_size(p->blocks, 1) / format->bytes * format->elements;
    const int64_t most = wk__max_i64(columns > 0 ? PANEL_ELEMENTS / columns : rows, 1);
    return (panels){p, rows, most, wk__max_i64(wk__chunk_count(rows, most), 1)};
}

static int64_t rows_of(const panels *w, int64_t k)
{
    return wk__min_i64(w->rows - k * w->per_panel, w->per_panel);
}

/* Returns the elements of panel k, (rows of the panel, in). */
static wk_tensor *panel_at(const panels *w, int64_t k, wk_dtype dtype)
{
    const wk_block_options options = {.size = sizeof options, .format = w->p->format};
    wk_tensor *rows = wk_narrow_at((wk_site){0}, w->p->blocks, 0, k * w->per_panel, rows_of(w, k));
    return wk_to_dtype_at((wk_site){0}, wk_dequantize_at((wk_site){0}, rows, &options), dtype);
}

static bool begin_panel(wk__call_scope *scope)
{
    return wk__call_begin(scope, WK__FRAME_CALL, NULL, (wk_site){0}, WK__GRAD_KEPT);
}

static void release(wk_tensor *x)
{
    if (x) wk__handle_release(&x->handle, (wk_site){0});
}

/* ---- result ------------------------------------------------------------------------------------------------------ */

static wk_tensor *multiply(const panels *w, int64_t k)
{
    wk__call_scope scope;
    if (!begin_panel(&scope)) return NULL;
    wk_tensor *panel = panel_at(w, k, wk_dtype_of(w->p->x));
    wk_tensor *out = panel ? wk_matmul(w->p->x, wk_transpose_at((wk_site){0}, panel, 0, 1)) : NULL;
    wk__call_end(&scope, &out, out ? 1 : 0);
    return out;
}

/* Returns the products of all panels, which `piece` has room for, side by side. */
static wk_tensor *join(const panels *w, wk_tensor **piece)
{
    int64_t made = 0;
    while (made < w->count && (piece[made] = multiply(w, made))) made++;
    wk_tensor *out = made == w->count ? wk_cat_at((wk_site){0}, piece, (int)made, -1) : NULL;
    for (int64_t k = 0; k < made; k++) release(piece[k]);
    return out;
}

wk_tensor *wk__quantized_product_of(const wk__quantized_product *p)
{
    const panels w = panels_of(p);
    if (w.count == 1) return multiply(&w, 0);
    wk_tensor **piece = w.count <= INT32_MAX ? wk__alloc_zero((size_t)w.count, sizeof *piece) : NULL;
    if (!piece) {
        wk__error_set((wk_site){0}, WK_ERR_MEMORY, "%s: out of host memory for panels of the weight",
                      wk__op_quantized_linear.name);
        return NULL;
    }
    wk_tensor *out = join(&w, piece);
    wk__free(piece);
    return out;
}

/* ---- gradient ---------------------------------------------------------------------------------------------------- */

/* Returns sum, unless it is NULL, plus the gradient by the rows of panel k. */
static wk_tensor *add_panel(const panels *w, int64_t k, wk_tensor *grad, wk_tensor *sum)
{
    wk__call_scope scope;
    if (!begin_panel(&scope)) return NULL;
    wk_tensor *part = wk_narrow_at((wk_site){0}, grad, -1, k * w->per_panel, rows_of(w, k));
    wk_tensor *out = wk_matmul(part, panel_at(w, k, wk_dtype_of(grad)));
    if (sum) out = wk_add(sum, out);
    wk__call_end(&scope, &out, out ? 1 : 0);
    return out;
}

wk_tensor *wk__quantized_product_gradient(const wk__quantized_product *p, wk_tensor *grad)
{
    const panels w = panels_of(p);
    wk_tensor *sum = grad ? add_panel(&w, 0, grad, NULL) : NULL;
    for (int64_t k = 1; k < w.count && sum; k++) {
        wk_tensor *before = sum;
        sum = add_panel(&w, k, grad, before);
        release(before);
    }
    return sum;
}
