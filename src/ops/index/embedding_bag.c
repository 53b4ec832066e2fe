/* SPDX-License-Identifier: Apache-2.0 */
/* embedding_bag: rows of embedding, combined by the bag that each belongs to, as calls of other ops. */
#include "gather.h"
#include "index_check.h"
#include "ops/core/compose.h"
#include "ops/core/view_geometry.h"
#include "ops/reduce/reduction.h"
#include <math.h>

enum { MEAN, SUM, MAX, MODES };
static const char *const modes[MODES] = {"mean", "sum", "max"};

/* One call. */
typedef struct bag_call {
    wk_site site;
    wk_tensor *index, *weight;
    const wk_embedding_bag_options *o;
    int mode;
    int64_t bags;
} bag_call;

/* Checks dtype and values of the offsets. Waits for the device. */
static bool check_offsets(const bag_call *b, wk_tensor *offsets)
{
    const wk_dtype dtype = (wk_dtype)wk__body_of(offsets)->dtype;
    const int64_t indices = wk__body_numel(wk__body_of(b->index));
    wk__index_values values;
    if (dtype != WK_I64 && dtype != WK_I32) {
        wk__op_error(&wk__op_embedding_bag, b->site, WK_ERR_DTYPE, &offsets, ".offsets must be i64 or i32, got $a");
        return false;
    }
    if (!wk__read_index_values(b->site, offsets, 0, indices + 1, &values)) return false;
    if (values.in_range && !values.falls && values.first == 0) return true;
    if (!values.in_range)
        wk__error_set(b->site, WK_ERR_ARGUMENT, "embedding_bag: .offsets must be from 0 to %lld, got %lld",
                      (long long)indices, (long long)values.found);
    else
        wk__error_set(b->site, WK_ERR_ARGUMENT, "embedding_bag: .offsets must begin with 0 and ascend%s",
                      values.falls ? "" : "; the first is not 0");
    return false;
}

static bool check_arguments(bag_call *b)
{
    const wk__op *op = &wk__op_embedding_bag;
    wk_tensor *in[4] = {b->index, b->weight, b->o->offsets, b->o->per_sample_weights};
    const wk__body *index = wk__body_of(b->index);
    const char *problem = NULL;
    wk_code code = WK_ERR_SHAPE;
    if (index->ndim != 1 && index->ndim != 2)
        problem = "the index must be a matrix of bags or a vector, got $a";
    else if ((index->ndim == 1) != (in[2] != NULL))
        problem = in[2] ? "the matrix $a takes no .offsets: its rows are the bags"
                        : "the vector $a needs .offsets, the first index of each bag",
        code = WK_ERR_ARGUMENT;
    else if (in[2] && wk__body_of(in[2])->ndim != 1)
        problem = ".offsets must be a vector, got $c";
    else if (in[3] && b->mode != SUM)
        problem = ".per_sample_weights needs .mode = \"sum\"", code = WK_ERR_ARGUMENT;
    else if (in[3] && !wk__same_sizes(wk__body_of(in[3]), index))
        problem = ".per_sample_weights must have the shape of $a";
    if (problem) wk__op_error(op, b->site, code, in, "%s", problem);
    return !problem && wk__check_float(op, b->site, b->weight) && (!in[2] || check_offsets(b, in[2]));
}

/* Returns the bag of each index of the flattened index, and sets the number of bags. */
static wk_tensor *bag_of_each(bag_call *b)
{
    const wk__body *index = wk__body_of(b->index);
    const wk_tensor_options options = {.size = sizeof options, .device = wk_device_of(b->index)};
    wk_tensor *place = wk_arange_i64_at(b->site, wk__body_numel(index), &options);
    if (index->ndim == 2) {
        b->bags = index->shape[0];
        return wk_floor_divide(place, index->shape[1] ? index->shape[1] : 1);
    }
    const int64_t offsets = wk__body_of(b->o->offsets)->shape[0];
    b->bags = offsets - (b->o->include_last_offset && offsets);
    wk_tensor *starts = wk_narrow_at(b->site, b->o->offsets, 0, 0, b->bags);
    const wk_bucketize_options right = {.size = sizeof right, .right = true};
    wk_tensor *bag = starts ? wk_sub(wk_bucketize_at(b->site, place, starts, &right), 1) : NULL;
    return bag;
}

/* Returns a mask of the indices that are not padding; NULL without .padding_idx. */
static wk_tensor *counted_indices(const bag_call *b, wk_tensor *index)
{
    const double row = wk__option_or(b->o->padding_idx, NAN);
    if (isnan(row)) return NULL;
    const int64_t n = wk__body_of(b->weight)->shape[0], padding = (int64_t)row < 0 ? (int64_t)row + n : (int64_t)row;
    return wk_logical_not(wk_logical_or(wk_eq(index, padding), wk_eq(index, padding - n)));
}

static wk_tensor *zeros_for_bags(const bag_call *b, int64_t width, wk_dtype dtype)
{
    const wk_tensor_options options = {.size = sizeof options, .dtype = dtype, .device = wk_device_of(b->weight)};
    return wk_zeros_at(b->site, (const int64_t[]){b->bags, width}, 2, &options);
}

/* Returns the largest elements of the rows of each bag; 0 for a bag without any. */
static wk_tensor *largest(const bag_call *b, wk_tensor *bag, wk_tensor *rows, wk_tensor *counts, wk_tensor *zeros)
{
    const wk_scatter_reduce_options alone = {.size = sizeof alone, .exclude_self = true};
    wk_tensor *index = wk_expand_as_at(b->site, wk_unsqueeze_at(b->site, bag, 1), rows);
    return wk_where(wk_gt(counts, 0), wk_scatter_reduce_at(b->site, zeros, 0, index, rows, "amax", &alone), 0);
}

static wk_tensor *combined(bag_call *b)
{
    const wk_embedding_bag_options *o = b->o;
    const wk_embedding_options options = {.size = sizeof options,
                                          .padding_idx = o->padding_idx,
                                          .max_norm = o->max_norm,
                                          .norm_type = o->norm_type,
                                          .scale_grad_by_freq = o->scale_grad_by_freq};
    wk_tensor *index = wk__as_vector(b->index), *bag = bag_of_each(b);
    wk_tensor *rows = wk__to_opmath(wk_embedding_at(b->site, index, b->weight, &options));
    if (!bag || !rows) return NULL;
    if (o->per_sample_weights) {
        wk_tensor *factor = wk_unsqueeze_at(b->site, wk__as_vector(o->per_sample_weights), 1);
        rows = wk_mul(rows, wk_to_dtype_at(b->site, factor, wk_dtype_of(rows)));
    }
    wk_tensor *counted = counted_indices(b, index);
    if (counted) rows = wk_where(wk_unsqueeze_at(b->site, counted, 1), rows, b->mode == MAX ? -INFINITY : 0.0);
    if (!rows) return NULL;
    const wk_dtype dtype = wk_dtype_of(rows);
    wk_tensor *zeros = zeros_for_bags(b, wk__body_of(rows)->shape[1], dtype), *out;
    wk_tensor *one = counted ? wk_to_dtype_at(b->site, counted, dtype)
                             : wk_to_dtype_at(b->site, wk_ones_like_at(b->site, index, NULL), dtype);
    wk_tensor *counts = wk_index_add_at(b->site, zeros_for_bags(b, 1, dtype), 0, bag, wk_unsqueeze_at(b->site, one, 1));
    if (b->mode == MAX)
        out = largest(b, bag, rows, counts, zeros);
    else
        out = wk_index_add_at(b->site, zeros, 0, bag, rows);
    if (b->mode == MEAN) out = wk_div(out, wk_maximum(counts, 1));
    return wk_to_dtype_at(b->site, out, wk__body_of(b->weight)->dtype);
}

wk_tensor *wk_embedding_bag_at(wk_site site, wk_tensor *index, wk_tensor *weight,
                               const wk_embedding_bag_options *options)
{
    const wk__op *op = &wk__op_embedding_bag;
    wk_embedding_bag_options o;
    wk__call_scope c;
    if (!wk__read_embedding_bag_options(site, op->name, options, &o)) return NULL;
    if (!(o.offsets && o.per_sample_weights) && wk__omitted_may_have_failed()) return NULL;
    bag_call b = {.site = site, .index = index, .weight = weight, .o = &o};
    if ((b.mode = wk__option_word(site, op->name, ".mode", modes, MODES, o.mode)) < 0) return NULL;
    wk_tensor *in[4] = {index, weight};
    int inputs = 2;
    if (o.offsets) in[inputs++] = o.offsets;
    if (o.per_sample_weights) in[inputs++] = o.per_sample_weights;
    if (!wk__inlined_begin(&c, op, site, in, inputs)) return NULL;
    return wk__inlined_end(&c, check_arguments(&b) ? combined(&b) : NULL);
}

const wk__op wk__op_embedding_bag = {WK__SIGNATURE_embedding_bag};
