/* SPDX-License-Identifier: Apache-2.0 */
/* Attention by public ops, for devices without a kernel, for dropout and for gradients of gradients. Rows of query are
 * independent of each other and are computed in blocks; each block's weights are freed before the next block's are
 * computed, at the latest when the queue is flushed. */
#include "attention.h"
#include "ops/random/dropout.h"
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

/* Returns the softmax of the scaled and masked products; 0 in rows whose products are all -infinite. */
static wk_tensor *weights(const block *b)
{
    wk_tensor *mask = b->a->how.causal ? causal_mask(b) : rows_of(b, b->a->mask);
    wk_tensor *score = wk_matmul(b->query, transposed(b->a->key));
    const bool masked = b->a->how.causal || b->a->mask;
    if (masked && (!mask || !score)) return NULL;
    if (masked) score = wk_dtype_of(mask) == WK_BOOL ? wk_where(mask, score, -INFINITY) : wk_add(score, mask);
    if (b->a->keys == 0) return score;
    wk_tensor *none = wk_eq(wk_amax(score, (-1), .keepdim = true), -INFINITY);
    return wk_where(none, 0, wk_softmax(wk_where(none, 0, score), -1));
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

/* Appends the rows of a block. */
static wk_tensor *append(const block *b, wk_tensor *before, wk_tensor *rows)
{
    if (b->first == 0) return rows;
    return wk_cat_at((wk_site){0}, (wk_tensor *[]){before, rows}, 2, -2);
}

static wk_tensor *plus(wk_tensor *sum, wk_tensor *x, bool first)
{
    return first ? x : wk_add(sum, x);
}

wk_tensor *wk__attention_composed(const wk__attention *a)
{
    wk_tensor *out = NULL;
    int64_t first = 0;
    do {
        const block b = block_at(a, first);
        out = append(&b, out, wk_matmul(drop(&b, weights(&b)), a->value));
        first += b.rows;
    } while (out && first < a->rows);
    return out;
}

/* With weights P, their dropout D and D' the gradient of D:
 *
 *     d value = D^T grad    D' = grad value^T    dS = P (P' - sum(P' P)), P' = dropout(D')
 *     d query = scale dS key    d key = scale dS^T query    d mask = dS */
static bool add_block(const block *b, wk_tensor *grad, wk__attention_grads *out)
{
    const bool start = b->first == 0;
    wk_tensor *part = rows_of(b, grad), *p = weights(b);
    if (out->needs[2]) out->value = plus(out->value, wk_matmul(transposed(drop(b, p)), part), start);
    if (out->needs[0] || out->needs[1] || out->needs[3]) {
        wk_tensor *up = drop(b, wk_matmul(part, transposed(b->a->value)));
        wk_tensor *score = wk_mul(p, wk_sub(up, wk_sum(wk_mul(up, p), (-1), .keepdim = true)));
        if (out->needs[0]) out->query = append(b, out->query, wk_mul(wk_matmul(score, b->a->key), b->a->how.scale));
        if (out->needs[1]) out->key = plus(out->key, wk_matmul(transposed(score), b->query), start);
        if (out->needs[3])
            out->mask = has_one_row(b->a->mask) ? plus(out->mask, wk_sum(score, (-2), .keepdim = true), start)
                                                : append(b, out->mask, score);
    }
    return !wk__error_pending();
}

void wk__attention_composed_gradient(const wk__attention *a, wk_tensor *grad, wk__attention_grads *out)
{
    int64_t first = 0;
    bool fine;
    do {
        const block b = block_at(a, first);
        fine = add_block(&b, grad, out);
        first += b.rows;
    } while (fine && first < a->rows);
}
