/* SPDX-License-Identifier: Apache-2.0 */
/* Samplers; see sampler.h. */
#include "sampler.h"
#include "base/alloc.h"
#include "ir/random.h"
#include "sample.h"
#include "subset.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char op[] = "data_loader";

/* ---- making ------------------------------------------------------------------------------------------------------ */

static bool check_options(wk_site site, const wk_loader_options *o)
{
    if (o->weights && (o->order || o->shuffle))
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .weights determines the order; leave out .%s", op,
                      o->order ? "order" : "shuffle");
    else if (!o->weights && (o->draws || o->no_replacement))
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .%s needs .weights", op, o->draws ? "draws" : "no_replacement");
    else if (o->draws < 0)
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .draws must be at least 0, got %lld", op, (long long)o->draws);
    else
        return true;
    return false;
}

/* Reads .weights as doubles. Returns NULL after recording an error. */
static double *read_weights(wk_site site, wk_tensor *x, int64_t samples)
{
    if (!wk__check_tensor(x, site, op, ".weights")) return NULL;
    const wk__body *body = wk__body_of(x);
    if (body->ndim != 1 || body->shape[0] != samples || !wk__is_float(body->dtype)) {
        wk__tensor_refuse(site, wk__is_float(body->dtype) ? WK_ERR_SHAPE : WK_ERR_DTYPE, x, "",
                          "%s: .weights must be a float for each of the %lld samples", op, (long long)samples);
        return NULL;
    }
    double *weights = wk__alloc_zero((size_t)samples + 1, sizeof *weights);
    if (!weights) wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory for the weights", op);
    wk_tensor *wide = weights ? wk_to_dtype_at(site, x, WK_F64) : NULL;
    const bool fine = wide && wk_read_at(site, wide, weights, (size_t)samples * sizeof *weights) == WK_OK;
    if (wide && wide != x) wk_free_at(site, wide);
    if (fine) return weights;
    wk__free(weights);
    return NULL;
}

/* Checks the weights, and replaces them by their sums. Returns the number of positive ones; -1 after recording an
 * error. */
static int64_t add_up(wk_site site, const double *weights, double *sums, int64_t samples)
{
    int64_t positive = 0;
    double sum = 0;
    for (int64_t k = 0; k < samples; k++) {
        if (!(weights[k] >= 0) || isinf(weights[k])) {
            wk__error_set(site, WK_ERR_ARGUMENT, "%s: weight %lld is %g; weights must be finite and at least 0", op,
                          (long long)k, weights[k]);
            return -1;
        }
        positive += weights[k] > 0;
        sums[k] = sum += weights[k];
    }
    if (!isinf(sum)) return positive;
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: the sum of the weights is infinite", op);
    return -1;
}

static bool init_weights(wk__sampler *s, wk_site site, const wk_loader_options *o)
{
    s->weights = read_weights(site, o->weights, s->samples);
    if (!s->weights) return false;
    s->count = o->draws ? o->draws : s->samples;
    s->sums = wk__alloc_zero((size_t)s->samples + 1, sizeof *s->sums);
    if (!s->sums) {
        wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory for the weights", op);
        return false;
    }
    const int64_t positive = add_up(site, s->weights, s->sums, s->samples);
    if (positive < 0) return false;
    if (s->count > 0 && (positive == 0 || (o->no_replacement && s->count > positive))) {
        wk__error_set(site, WK_ERR_ARGUMENT,
                      "%s: cannot draw %lld samples%s, as %lld of the weights are greater than 0", op,
                      (long long)s->count, o->no_replacement ? " without replacement" : "", (long long)positive);
        return false;
    }
    wk__free(o->no_replacement ? (void *)s->sums : s->weights);
    if (o->no_replacement)
        s->sums = NULL;
    else
        s->weights = NULL;
    return true;
}

bool wk__sampler_init(wk__sampler *s, wk_site site, const wk_loader_options *o, int64_t samples)
{
    *s = (wk__sampler){.count = samples, .samples = samples, .shuffle = o->shuffle, .seed = o->seed};
    if (!check_options(site, o)) return false;
    if (o->weights) return init_weights(s, site, o);
    if (o->order) s->list = wk__read_indices(site, op, ".order", o->order, samples, &s->count);
    return !o->order || s->list;
}

void wk__sampler_free(wk__sampler *s)
{
    wk__free(s->list);
    wk__free(s->weights);
    wk__free(s->sums);
}

/* ---- orders ------------------------------------------------------------------------------------------------------ */

/* A number in (0, 1] for draw or sample k. */
static double uniform(const wk__sampler *s, int64_t epoch, int64_t k)
{
    uint32_t word[4];
    wk__philox((uint64_t)k, (uint64_t)epoch, s->seed, word);
    return ldexp((double)((word[0] | (uint64_t)word[1] << 32) >> 11) + 1, -53);
}

/* Returns the first sample whose sum is at least `target`; its weight is positive if target is. */
static int64_t find(const double *sums, int64_t samples, double target)
{
    int64_t low = 0, high = samples - 1;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (sums[middle] >= target)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void draw_with_replacement(const wk__sampler *s, int64_t epoch, int64_t *order)
{
    if (s->samples == 0) return;
    const double sum = s->sums[s->samples - 1];
    for (int64_t k = 0; k < s->count; k++) {
        const double target = uniform(s, epoch, k) * sum; /* 0 if it underflows */
        order[k] = find(s->sums, s->samples, target > 0 ? target : DBL_TRUE_MIN);
    }
}

/* A sample and its arrival time. */
typedef struct arrival {
    double time;
    int64_t sample;
} arrival;

static int compare(const void *a, const void *b)
{
    const arrival *x = a, *y = b;
    if (x->time < y->time || x->time > y->time) return x->time < y->time ? -1 : 1;
    return x->sample < y->sample ? -1 : x->sample > y->sample;
}

/* Samples arrive after exponential times with their weights as rates; the first to arrive are drawn (Efraimidis,
 * Spirakis: Weighted random sampling with a reservoir, 2006). */
static bool draw_without_replacement(const wk__sampler *s, int64_t epoch, int64_t *order)
{
    arrival *arrivals = wk__alloc_zero((size_t)s->samples, sizeof *arrivals);
    if (!arrivals) return false;
    int64_t count = 0;
    for (int64_t k = 0; k < s->samples; k++)
        if (s->weights[k] > 0) arrivals[count++] = (arrival){-log(uniform(s, epoch, k)) / s->weights[k], k};
    qsort(arrivals, (size_t)count, sizeof *arrivals, compare);
    for (int64_t k = 0; k < s->count; k++) order[k] = arrivals[k].sample;
    wk__free(arrivals);
    return true;
}

bool wk__sampler_order(const wk__sampler *s, int64_t epoch, int64_t *order)
{
    if (s->weights) return draw_without_replacement(s, epoch, order);
    if (s->sums) {
        draw_with_replacement(s, epoch, order);
        return true;
    }
    for (int64_t k = 0; k < s->count; k++) order[k] = s->list ? s->list[k] : k;
    if (s->shuffle) wk__shuffle(order, s->count, s->seed, (uint64_t)epoch);
    return true;
}
