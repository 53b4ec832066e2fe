/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/index/embedding.c and embedding_bag.c. */
#include "references/reference.h"
#include <math.h>
#include <string.h>

static int64_t row_of(double index, const reference_array *table)
{
    return (int64_t)index + ((int64_t)index < 0 ? table->shape[0] : 0);
}

static double scale_of(const reference_array *table, int64_t row, const wk_value *max_norm, const wk_value *norm_type)
{
    const double p = wk__value_float(norm_type, 2), most = wk__value_float(max_norm, INFINITY);
    double sum = 0;
    for (int64_t k = 0; k < table->shape[1]; k++) sum += pow(fabs(table->data[row * table->shape[1] + k]), p);
    const double norm = pow(sum, 1 / p);
    return norm > most ? most / (norm + 1e-7) : 1;
}

static void embedding_reference(reference_call *r)
{
    const reference_array *index = &r->in[0], *table = &r->in[1];
    int64_t shape[WK__MAX_DIMS], width = table->shape[1];
    memcpy(shape, index->shape, sizeof shape);
    shape[index->ndim] = width;
    double *out = reference_out(r, 0, index->ndim + 1, shape);
    for (int64_t k = 0; k < reference_numel(&r->out[0]); k++) {
        const int64_t row = row_of(index->data[k / width], table);
        out[k] = table->data[row * width + k % width] * scale_of(table, row, &r->args[3], &r->args[4]);
    }
}

/* The gradients with padding and of scaled rows are not those of the formula: tests/ops/indexing.c has them. */
static const char *const embedding_samples[] = {"[5]:i64<4, [4,3]", "[2,3]:i64<7, [7,2]", "[]:i64<3, [3,4]",
                                                "[0]:i64<3, [3,4]", NULL};

/* The elements from first to end that count are combined. */
static void combine_bag(const reference_call *r, char mode, int64_t first, int64_t end, double *out)
{
    const reference_array *index = &r->in[0], *table = &r->in[1];
    const bool weighted = r->args[7].kind == WK_VALUE_TENSOR;
    const int64_t width = table->shape[1];
    int64_t padding = -1, count = 0;
    if (r->args[9].kind != WK_VALUE_NONE) padding = row_of((double)r->args[9].i, table);
    for (int64_t k = first; k < end; k++) {
        const int64_t row = row_of(index->data[k], table);
        if (row == padding) continue;
        for (int64_t j = 0; j < width; j++) {
            const double x = table->data[row * width + j] * (weighted ? r->in[r->inputs - 1].data[k] : 1);
            out[j] = mode == 'a' && count ? fmax(out[j], x) : out[j] + x;
        }
        count++;
    }
    for (int64_t j = 0; j < width && mode == 'e' && count; j++) out[j] /= (double)count;
}

static void embedding_bag_reference(reference_call *r)
{
    const reference_array *index = &r->in[0], *table = &r->in[1], *offsets = &r->in[2];
    const char mode = wk__value_text(&r->args[6], "mean")[1];
    const bool matrix = index->ndim == 2, last = wk__value_int(&r->args[8], 0);
    const int64_t bags = matrix ? index->shape[0] : offsets->shape[0] - last, n = reference_numel(index);
    double *out = reference_out(r, 0, 2, (const int64_t[]){bags, table->shape[1]});
    for (int64_t k = 0; k < bags; k++) {
        const int64_t first = matrix ? k * index->shape[1] : (int64_t)offsets->data[k];
        const int64_t end = matrix ? first + index->shape[1] : k + 1 < bags ? (int64_t)offsets->data[k + 1] : n;
        combine_bag(r, mode, first, end, out + k * table->shape[1]);
    }
}

static const char *const embedding_bag_samples[] = {
    "[3,4]:i64<5, [5,2]",
    "[2,3]:i64<4, [4,3], none, none, none, none, \"sum\"",
    "[3,2]:i64<4, [4,3], none, none, none, none, \"max\"",
    "[2,3]:i64<4, [4,2], none, none, none, none, \"sum\", [2,3]",
    "[6]:i64<4, [4,2], [1]:i64<1",
    "[6]:i64<4, [4,2], [1]:i64<1, none, none, none, \"sum\", [6]",
    "[3,4]:i64<3, [3,2], none, none, none, none, \"mean\", none, none, 1",
    "[3,4]:i64<3, [3,2], none, none, none, none, \"max\", none, none, -1",
    "[2,0]:i64<3, [3,2]",
    NULL};

const op_reference op_reference_embedding = {
    .reference = embedding_reference, .samples = embedding_samples, .low = -3, .high = 3};

const op_reference op_reference_embedding_bag = {
    .reference = embedding_bag_reference, .samples = embedding_bag_samples, .low = -3, .high = 3};
