/* SPDX-License-Identifier: Apache-2.0 */
/* Random and stratified splits. */
#include "base/alloc.h"
#include "base/options.h"
#include "sample.h"
#include "subset.h"
#include <math.h>
#include <stdlib.h>

static const char op[] = "data_random_split";

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

/* Rounds each share down, and gives the remaining samples to the first parts, one each. */
static void sizes_of_fractions(const double *fractions, int count, int64_t samples, int64_t *sizes)
{
    int64_t left = samples;
    for (int k = 0; k < count; k++) {
        sizes[k] = (int64_t)floor(fractions[k] * (double)samples);
        if (sizes[k] > left) sizes[k] = left;
        left -= sizes[k];
    }
    for (int k = 0; left > 0; k = (k + 1) % count, left--) sizes[k]++;
}

/* Computes the sizes of the parts. Returns false after recording an error if the lengths fit in neither way. */
static bool compute_sizes(wk_site site, const double *lengths, int count, int64_t samples, int64_t *sizes)
{
    double sum = 0;
    bool integers = true;
    for (int k = 0; k < count; k++) {
        if (!(lengths[k] >= 0) || lengths[k] > 0x1p53) {
            wk__error_set(site, WK_ERR_ARGUMENT, "%s: length %d is %g; it must be a size or a fraction", op, k,
                          lengths[k]);
            return false;
        }
        sum += lengths[k];
        integers = integers && lengths[k] == floor(lengths[k]);
    }
    if (integers && sum == (double)samples) {
        for (int k = 0; k < count; k++) sizes[k] = (int64_t)lengths[k];
    } else if (fabs(sum - 1) < 1e-9) {
        sizes_of_fractions(lengths, count, samples, sizes);
    } else {
        wk__error_set(site, WK_ERR_ARGUMENT,
                      "%s: the lengths add up to %g; pass sizes that add up to the %lld samples, or fractions that add "
                      "up to 1",
                      op, sum, (long long)samples);
        return false;
    }
    return true;
}

/* ---- labels ------------------------------------------------------------------------------------------------------ */

/* A sample's label, and its position in the random order. */
typedef struct labelled {
    int64_t label, position;
} labelled;

static int compare(const void *a, const void *b)
{
    const labelled *x = a, *y = b;
    if (x->label != y->label) return x->label < y->label ? -1 : 1;
    return x->position < y->position ? -1 : x->position > y->position;
}

/* Reads y of a sample. Returns false on error. */
static bool read_label(wk_site site, const wk__dataset *data, int64_t index, int64_t *label)
{
    char name[60];
    wk__call_scope c;
    wk__sample sample = {0};
    snprintf(name, sizeof name, "sample %lld of data_random_split", (long long)index);
    if (!wk__callback_begin(&c, name, site)) return false;
    if (wk__dataset_get(data, index, &sample)) {
        wk_tensor *y = sample.count > 1 ? wk__sample_tensor(&sample.part[1], site) : NULL;
        if (!wk__error_pending() && (!y || wk__body_numel(wk__body_of(y)) != 1 || wk__is_float(wk__body_of(y)->dtype)))
            wk__error_set(site, WK_ERR_ARGUMENT, "%s: .stratify needs one integer as y of each sample", op);
        if (!wk__error_pending()) *label = wk_item_i64_at(site, y);
    }
    wk__call_end(&c, NULL, 0);
    return wk_error_code() == WK_OK;
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

/* Assigns samples, in the order of labels, each to the part that is farthest below its share, so that labels are spread
 * evenly up to about one sample. part[position] is the part. */
static void deal(const labelled *labels, int64_t samples, const int64_t *sizes, int count, int64_t *given, int *part)
{
    for (int64_t k = 0; k < samples; k++) {
        int best = -1;
        double most = 0;
        for (int p = 0; p < count; p++) {
            const double missing = (double)sizes[p] * ((double)(k + 1) / (double)samples) - (double)given[p];
            if (given[p] == sizes[p] || (best >= 0 && missing <= most)) continue;
            best = p;
            most = missing;
        }
        given[best]++;
        part[labels[k].position] = best;
    }
}

/* Sorts the indices by part, in random order within each. Returns false on error. */
static bool group_by_label(wk_site site, const wk__dataset *data, const int64_t *sizes, int count, int64_t *order)
{
    const int64_t samples = data->count;
    labelled *labels = wk__alloc_zero((size_t)samples, sizeof *labels);
    int64_t *given = wk__alloc_zero((size_t)count, sizeof *given), *grouped = wk__alloc_zero((size_t)samples, 8);
    int *part = wk__alloc_zero((size_t)samples, sizeof *part);
    bool fine = labels && given && grouped && part;
    if (!fine) wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory for %lld labels", op, (long long)samples);
    for (int64_t k = 0; k < samples && fine; k++) {
        labels[k].position = k;
        fine = read_label(site, data, order[k], &labels[k].label);
    }
    if (fine) {
        qsort(labels, (size_t)samples, sizeof *labels, compare);
        deal(labels, samples, sizes, count, given, part);
        int64_t next = 0;
        for (int p = 0; p < count; p++)
            for (int64_t k = 0; k < samples; k++)
                if (part[k] == p) grouped[next++] = order[k];
        for (int64_t k = 0; k < samples; k++) order[k] = grouped[k];
    }
    wk__free(labels);
    wk__free(given);
    wk__free(grouped);
    wk__free(part);
    return fine;
}

/* Writes the parts; none on error. */
static bool split(wk_site site, wk__dataset *data, const double *lengths, int count, const wk_split_options *o,
                  wk_dataset **parts)
{
    int64_t *sizes = wk__alloc_zero((size_t)count, sizeof *sizes);
    int64_t *order = wk__alloc_zero((size_t)data->count, sizeof *order), first = 0;
    bool fine = sizes && order;
    if (!fine) wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", op);
    fine = fine && compute_sizes(site, lengths, count, data->count, sizes);
    for (int64_t k = 0; k < data->count && fine; k++) order[k] = k;
    if (fine) wk__shuffle(order, data->count, o->seed, WK__NO_EPOCH);
    fine = fine && (!o->stratify || group_by_label(site, data, sizes, count, order));
    for (int k = 0; k < count && fine; k++) {
        parts[k] = wk__dataset_select(site, op, data, order + first, sizes[k]);
        fine = parts[k] != NULL;
        first += sizes[k];
    }
    for (int k = 0; k < count && !fine; k++) {
        if (parts[k]) wk_free_at(site, parts[k]);
        parts[k] = NULL;
    }
    wk__free(order);
    wk__free(sizes);
    return fine;
}

wk_code wk_data_random_split_at(wk_site site, wk_dataset *data, const double *lengths, int64_t count,
                                wk_dataset **parts, const wk_split_options *options)
{
    wk_split_options o;
    for (int64_t k = 0; parts && k < count; k++) parts[k] = NULL;
    if (!wk__dataset_check(data, site, op) || !wk__options(site, op, options, &o) ||
        !wk__array_check(lengths, count, site, op, "the array of lengths") ||
        !wk__array_check(parts, count, site, op, "the array of parts"))
        return wk_error_code();
    if (count < 1 || count > INT32_MAX) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: expected at least one length, got %lld", op, (long long)count);
        return wk_error_code();
    }
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    const bool fine = split(site, wk__dataset_of(data), lengths, (int)count, &o, parts);
    wk__frame_end(context, before);
    return fine ? WK_OK : wk_error_code();
}
