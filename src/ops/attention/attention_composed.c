/* SPDX-License-Identifier: Apache-2.0 */
/* Attention by public ops, for devices without a kernel, for dropout and for gradients of gradients. Rows of query are
 * independent of each other and are computed in blocks. Each block has a call scope, so that its weights are freed once
 * its results are computed. */
#include "attention.h"
#include "base/alloc.h"
#include "ops/random/dropout.h"
#include "tensor/call_scope.h"
#include <math.h>

/* Weights of a block: at most this many elements, but at least BLOCK_ROWS rows. */
enum { BLOCK_ELEMENTS = 1 << 22, BLOCK_ROWS = 16 };

/* A block of rows of query. */
typedef struct block {
    const wk__attention *a;
    int64_t first, rows;
    wk_tensor *query; /* its rows, times the scale */
} block;

static int64_t rows_per_block(const wk__attention *a)
{
    const double row = (double)a->batch * (double)a->keys;
    const int64_t rows = row < 1 ? a->rows : (int64_t)(BLOCK_ELEMENTS / row);
    return rows < BLOCK_ROWS ? BLOCK_ROWS : rows;
}

static wk_tensor *transposed(wk_tensor *x)
{
    return wk_transpose_at((wk_site){0}, x, -2, -1);
}

/* Returns true if x, a mask, is the same for all rows. */
static bool has_one_row(wk_tensor *x)
{
    return wk_ndim(x) < 2 || wk_size(x, -2) == 1;
}

/* Returns the block's rows of x, whose second-to-last dimension has L rows, or one for all. */
static wk_tensor *rows_of(const block *b, wk_tensor *x)
{
    if (!x || has_one_row(x) || b->rows == b->a->rows) return x;
    return wk_narrow_at((wk_site){0}, x, -2, b->first, b->rows);
}

static block block_at(const wk__attention *a, int64_t first)
{
    const int64_t left = a->rows - first, most = rows_per_block(a);
    block b = {.a = a, .first = first, .rows = left < most ? left : most};
    b.query = wk_mul(rows_of(&b, a->query), a->how.scale);
    return b;
}

/* Returns a bool (rows, S): key <= row. */
static wk_tensor *causal_mask(const block *b)
{
    const wk_device device = wk_device_of(b->a->query);
    wk_tensor *row = wk_arange(b->first, b->first + b->rows, 1, .device = device);
    wk_tensor *key = wk_arange(b->a->keys, .device = device);
    return wk_ge(wk_unsqueeze_at((wk_site){0}, row, 1), key);
}

wk_tensor *wk__attention_softmax(wk_tensor *score, wk_tensor *mask)
{
    if (mask && score) score = wk_dtype_of(mask) == WK_BOOL ? wk_where(mask, score, -INFINITY) : wk_add(score, mask);
    if (!score || wk_size(score, -1) == 0) return score;
    wk_tensor *none = wk_eq(wk_amax(score, (-1), .keepdim = true), -INFINITY);
    return wk_where(none, 0, wk_softmax(wk_where(none, 0, score), -1));
}

/* Returns the softmax of the scaled and masked products. */
static wk_tensor *weights(const block *b)
{
    wk_tensor *score = wk_matmul(b->query, transposed(b->a->key));
    if (!b->a->how.causal && !b->a->mask) return wk__attention_softmax(score, NULL);
    wk_tensor *mask = b->a->how.causal ? causal_mask(b) : rows_of(b, b->a->mask);
    return mask ? wk__attention_softmax(score, mask) : NULL;
}

/* Returns the dropout of x, weights of the block or their gradient. */
static wk_tensor *drop(const block *b, wk_tensor *x)
{
    const wk__attention *a = b->a;
    if (!x || a->how.threshold == 0) return x;
    const wk__attr attr = wk__dropout_attr((wk__dropout_attributes){
        .key = a->how.key,
        .counter = a->how.counter + a->batch * b->first * a->keys,
        .threshold = a->how.threshold,
        .scale = a->how.kept,
    });
    return wk__record_dropout((wk_site){0}, x, &attr);
}

/* ---- results of all blocks --------------------------------------------------------------------------------------- */

/* Results of the blocks, one after the other, which are joined once at the end. The object owns the array only. */
typedef struct pieces {
    wk_tensor **piece;
    int64_t count;
} pieces;

static int64_t count_blocks(const wk__attention *a)
{
    const int64_t most = rows_per_block(a), whole = a->rows / most;
    return whole + (a->rows % most > 0 || whole == 0); /* one block without rows */
}

static bool begin_pieces(pieces *p, const wk__attention *a)
{
    const int64_t blocks = count_blocks(a);
    if (blocks <= INT32_MAX) p->piece = wk__alloc_zero((size_t)blocks, sizeof *p->piece);
    if (!p->piece)
        wk__error_set((wk_site){0}, WK_ERR_MEMORY, "%s: out of host memory for blocks of rows",
                      wk__op_scaled_dot_product_attention.name);
    return p->piece != NULL;
}

/* Returns the rows of all blocks, or NULL if some are missing, and frees the array. */
static wk_tensor *join_pieces(pieces *p, bool complete)
{
    wk_tensor *all = complete ? p->piece[0] : NULL;
    if (complete && p->count > 1) {
        all = wk_cat_at((wk_site){0}, p->piece, (int)p->count, -2);
        for (int64_t k = 0; k < p->count; k++) wk__handle_release(&p->piece[k]->handle, (wk_site){0});
    }
    wk__free(p->piece);
    *p = (pieces){.piece = NULL};
    return all;
}

/* Begins the scope of a block, whose end frees all tensors but the block's results. */
static bool begin_block(wk__call_scope *scope)
{
    return wk__call_begin(scope, WK__FRAME_CALL, NULL, (wk_site){0}, WK__GRAD_KEPT);
}

/* ---- result ------------------------------------------------------------------------------------------------------ */

static wk_tensor *compute_block(const wk__attention *a, int64_t first, int64_t *rows)
{
    wk__call_scope scope;
    if (!begin_block(&scope)) return NULL;
    const block b = block_at(a, first);
    wk_tensor *out = wk_matmul(drop(&b, weights(&b)), a->value);
    *rows = b.rows;
    wk__call_end(&scope, &out, 1);
    return out;
}

wk_tensor *wk__attention_composed(const wk__attention *a)
{
    pieces p = {.piece = NULL};
    int64_t first = 0, rows = 0;
    if (!begin_pieces(&p, a)) return NULL;
    wk_tensor *out;
    do {
        p.piece[p.count++] = out = compute_block(a, first, &rows);
        first += rows;
    } while (out && first < a->rows);
    return join_pieces(&p, out != NULL);
}

/* ---- gradients --------------------------------------------------------------------------------------------------- */

enum { QUERY, KEY, VALUE, MASK, OPERANDS };

/* Gradients of the blocks that have been computed: the rows of some, sums of the others. */
typedef struct gradients {
    const wk__attention *a;
    wk_tensor *grad;
    const bool *needs;
    bool by_rows[OPERANDS];
    pieces rows[OPERANDS];
    wk_tensor *sum[OPERANDS];
} gradients;

/* With weights P, their dropout D and D' the gradient of D:
 *
 *     d value = D^T grad    D' = grad value^T    dS = P (P' - sum(P' P)), P' = dropout(D')
 *     d query = scale dS key    d key = scale dS^T query    d mask = dS */
static void block_gradients(const gradients *g, const block *b, wk_tensor *of[OPERANDS])
{
    const wk__attention *a = g->a;
    wk_tensor *part = rows_of(b, g->grad), *p = weights(b);
    if (g->needs[VALUE]) of[VALUE] = wk_matmul(transposed(drop(b, p)), part);
    if (!g->needs[QUERY] && !g->needs[KEY] && !g->needs[MASK]) return;
    wk_tensor *up = drop(b, wk_matmul(part, transposed(a->value)));
    wk_tensor *score = wk_mul(p, wk_sub(up, wk_sum(wk_mul(up, p), (-1), .keepdim = true)));
    if (g->needs[QUERY]) of[QUERY] = wk_mul(wk_matmul(score, a->key), a->how.scale);
    if (g->needs[KEY]) of[KEY] = wk_matmul(transposed(score), b->query);
    if (g->needs[MASK]) of[MASK] = g->by_rows[MASK] ? score : wk_sum(score, (-2), .keepdim = true);
}

/* Computes the gradients of the block at row *first, adds them to the sums, and moves *first to the next block. */
static bool add_block(gradients *g, int64_t *first)
{
    wk_tensor *of[OPERANDS] = {NULL}, *before[OPERANDS];
    wk__call_scope scope;
    if (!begin_block(&scope)) return false;
    const block b = block_at(g->a, *first);
    block_gradients(g, &b, of);
    for (int k = 0; k < OPERANDS; k++) {
        before[k] = g->sum[k];
        if (!g->by_rows[k] && before[k]) of[k] = wk_add(before[k], of[k]);
    }
    wk__call_end(&scope, of, OPERANDS);
    *first += b.rows;
    for (int k = 0; k < OPERANDS; k++) {
        if (!g->needs[k]) continue;
        if (!of[k]) return false;
        if (g->by_rows[k])
            g->rows[k].piece[g->rows[k].count++] = of[k];
        else
            g->sum[k] = of[k];
        if (before[k]) wk__handle_release(&before[k]->handle, (wk_site){0});
    }
    return true;
}

void wk__attention_composed_gradient(const wk__attention *a, wk_tensor *grad, wk__attention_grads *out)
{
    gradients g = {.a = a, .grad = grad, .needs = out->needs, .by_rows = {[QUERY] = true}};
    g.by_rows[MASK] = out->needs[MASK] && !has_one_row(a->mask);
    bool fine = true;
    for (int k = 0; k < OPERANDS && fine; k++) fine = !g.needs[k] || !g.by_rows[k] || begin_pieces(&g.rows[k], a);
    int64_t first = 0;
    if (fine) {
        do fine = add_block(&g, &first);
        while (fine && first < a->rows);
    }
    wk_tensor **const to[OPERANDS] = {&out->query, &out->key, &out->value, &out->mask};
    for (int k = 0; k < OPERANDS; k++) *to[k] = g.by_rows[k] ? join_pieces(&g.rows[k], fine && g.needs[k]) : g.sum[k];
}
