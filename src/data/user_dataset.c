/* SPDX-License-Identifier: Apache-2.0 */
/* Datasets whose samples functions of the user provide. */
#include "base/options.h"
#include "sample.h"

typedef struct user_dataset {
    wk__dataset base;
    wk_dataset_kind kind;
    void *user;
    wk_site site;
} user_dataset;

static const char op[] = "data_new";

static bool get(const wk__dataset *data, int64_t index, wk__sample *out)
{
    const user_dataset *d = (const user_dataset *)data;
    wk_sample sample = {.index = index};
    const bool fine = d->kind.get(&sample, index, d->user);
    if (wk__error_pending()) return false;
    return fine ? wk__sample_from_user(&sample, op, d->site, out) : wk__sample_failed(op, d->site);
}

static void destroy(wk__dataset *data)
{
    user_dataset *d = (user_dataset *)data;
    if (!d->kind.destroy) return;
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_NOUNWIND, NULL, (wk_site){0});
    d->kind.destroy(d->user);
    wk__frame_end(context, before);
}

static const wk__dataset_kind user_kind = {.get = get, .destroy = destroy};

static bool check_kind(wk_site site, const wk_dataset_kind *given, wk_dataset_kind *kind)
{
    const wk_code code = given ? wk__sized_read(given, offsetof(wk_dataset_kind, destroy), kind, sizeof *kind) : WK_OK;
    if (!given)
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: the kind is NULL", op);
    else if (code == WK_ERR_ARGUMENT)
        wk__error_set(site, code, "%s: set .size = sizeof(wk_dataset_kind) first", op);
    else if (code != WK_OK)
        wk__error_set(site, code,
                      "%s: the kind sets a member that this library version does not support; leave it zero", op);
    else if (!kind->count || !kind->get)
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .%s is NULL", op, kind->count ? "get" : "count");
    else
        return true;
    return false;
}

/* Calls the program's count function. */
static int64_t count_of(const wk_dataset_kind *kind, void *user)
{
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_NOUNWIND, NULL, (wk_site){0});
    const int64_t count = kind->count(user);
    wk__frame_end(context, before);
    return count;
}

wk_dataset *wk_data_new_at(wk_site site, const wk_dataset_kind *given, void *user)
{
    wk_dataset_kind kind;
    if (wk__error_pending() || !check_kind(site, given, &kind)) return NULL;
    const int64_t count = count_of(&kind, user);
    if (count < 0) wk__error_set(site, WK_ERR_ARGUMENT, "%s: .count returned %lld", op, (long long)count);
    if (wk__error_pending()) return NULL;
    user_dataset *d = wk__dataset_new(site, op, sizeof *d, &user_kind, NULL);
    if (!d) return NULL;
    d->base.count = count;
    d->base.user_code = true;
    d->kind = kind;
    d->kind.destroy = NULL; /* a failed call leaves user to the program */
    d->user = user;
    d->site = site;
    wk_dataset *made = wk__dataset_wrap(site, op, &d->base);
    if (made) d->kind.destroy = kind.destroy;
    return made;
}
