/* SPDX-License-Identifier: Apache-2.0 */
/* Datasets whose samples functions of the user transform. */
#include "base/options.h"
#include "sample.h"

/* ---- one tensor -------------------------------------------------------------------------------------------------- */

typedef struct mapped {
    wk__dataset base;
    wk_data_transform *f;
    void *user;
    int tensor; /* index of the tensor that f replaces */
    wk_site site;
} mapped;

static bool report_result(const mapped *m, wk_tensor *result)
{
    if (!result)
        wk__error_set(m->site, WK_ERR_STATE, "data_map: the function returned NULL without an error");
    else
        wk__check_tensor(result, m->site, "data_map", "the result of the function");
    return false;
}

static bool get(const wk__dataset *data, int64_t index, wk__sample *out)
{
    const mapped *m = (const mapped *)data;
    if (!wk__dataset_get(data->parent, index, out)) return false;
    if (m->tensor >= out->count) {
        wk__error_set(m->site, WK_ERR_ARGUMENT, "data_map: .tensor is %d, but the sample has %d tensors", m->tensor,
                      out->count);
        return false;
    }
    wk__sample_part *part = &out->part[m->tensor];
    wk_tensor *x = wk__sample_tensor(part, m->site), *result = x ? m->f(x, m->user) : NULL;
    if (wk__error_pending()) return false;
    if (!wk__is_tensor(result)) return report_result(m, result);
    *part = (wk__sample_part){.tensor = result};
    return true;
}

static const wk__dataset_kind map_kind = {.get = get};

static bool check_function(wk_site site, const char *op, bool given)
{
    if (!given) wk__error_set(site, WK_ERR_ARGUMENT, "%s: the function is NULL", op);
    return given;
}

wk_dataset *wk_data_map_at(wk_site site, wk_dataset *data, wk_data_transform *f, void *user,
                           const wk_map_options *options)
{
    static const char op[] = "data_map";
    wk_map_options o;
    if (!wk__dataset_check(data, site, op) || !wk__options(site, op, options, &o) ||
        !check_function(site, op, f != NULL))
        return NULL;
    if (o.tensor < 0 || o.tensor >= WK_SAMPLE_TENSORS) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .tensor %d is out of range [0, %d]", op, o.tensor,
                      WK_SAMPLE_TENSORS - 1);
        return NULL;
    }
    mapped *m = wk__dataset_new(site, op, sizeof *m, &map_kind, wk__dataset_of(data));
    if (!m) return NULL;
    m->base.user_code = true;
    m->f = f;
    m->user = user;
    m->tensor = o.tensor;
    m->site = site;
    return wk__dataset_wrap(site, op, &m->base);
}

/* ---- all tensors ------------------------------------------------------------------------------------------------- */

typedef struct mapped_samples {
    wk__dataset base;
    wk_data_sample_transform *f;
    void *user;
    wk_site site;
} mapped_samples;

static bool get_sample(const wk__dataset *data, int64_t index, wk__sample *out)
{
    static const char op[] = "data_map_samples";
    const mapped_samples *m = (const mapped_samples *)data;
    wk_sample sample;
    if (!wk__dataset_get(data->parent, index, out) || !wk__sample_to_user(out, index, m->site, &sample)) return false;
    const bool fine = m->f(&sample, m->user);
    if (wk__error_pending()) return false;
    return fine ? wk__sample_from_user(&sample, op, m->site, out) : wk__sample_failed(op, m->site);
}

static const wk__dataset_kind map_samples_kind = {.get = get_sample};

wk_dataset *wk_data_map_samples_at(wk_site site, wk_dataset *data, wk_data_sample_transform *f, void *user)
{
    static const char op[] = "data_map_samples";
    if (!wk__dataset_check(data, site, op) || !check_function(site, op, f != NULL)) return NULL;
    mapped_samples *m = wk__dataset_new(site, op, sizeof *m, &map_samples_kind, wk__dataset_of(data));
    if (!m) return NULL;
    m->base.user_code = true;
    m->f = f;
    m->user = user;
    m->site = site;
    return wk__dataset_wrap(site, op, &m->base);
}
