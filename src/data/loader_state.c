/* SPDX-License-Identifier: Apache-2.0 */
/* The position of a loader in its data; see loader_state.h. */
#include "base/platform/file.h"
#include "loader_body.h"
#include "loader_state.h"

bool wk__loader_check(const wk_loader *handle, wk_site site, const char *op)
{
    return wk__loader_of(handle, site, op) != NULL;
}

wk__loader_state wk__loader_get_state(const wk_loader *handle)
{
    const wk__loader *l = wk__handle_body(handle);
    int64_t seen = l->open ? l->next * l->options.batch_size : 0; /* samples consumed by this rank */
    if (seen > l->rank_samples) seen = l->rank_samples;
    const int64_t taken = l->epoch_start + seen * l->options.world;
    return (wk__loader_state){.seed = l->options.seed,
                              .shuffle = wk__sampler_is_random(&l->sampler),
                              .samples = l->sampler.count,
                              .epoch = l->epoch,
                              .consumed = taken < l->sampler.count ? taken : l->sampler.count,
                              .world = l->options.world};
}

bool wk__loader_check_state(const wk_loader *handle, const wk__loader_state *p, wk_site site, const char *op,
                            const char *path)
{
    const wk__loader *l = wk__handle_body(handle);
    const wk__printable shown = wk__printable_name(path);
    const char *where = shown.text;
    if (l->open)
        wk__error_set(site, WK_ERR_STATE,
                      "%s: a WK_EACH loop over the loader is in progress (started at %s:%d); load before the loop", op,
                      l->site.file ? l->site.file : "?", (int)l->site.line);
    else if (p->samples != l->sampler.count)
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: %s: the loader has %lld samples, the saved loader had %lld", op,
                      where, (long long)l->sampler.count, (long long)p->samples);
    else if (p->shuffle != wk__sampler_is_random(&l->sampler))
        wk__error_set(site, WK_ERR_ARGUMENT,
                      "%s: %s: the loader draws its samples in %s, the saved loader did not; see .shuffle and "
                      ".weights",
                      op, where, p->shuffle ? "a fixed order" : "random order");
    else if ((p->shuffle || l->user_code) && p->seed != l->options.seed)
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: %s: .seed of the loader is %llu, that of the saved loader was %llu",
                      op, where, (unsigned long long)l->options.seed, (unsigned long long)p->seed);
    else if (p->epoch < 0 || p->consumed < 0 || p->consumed > p->samples)
        wk__error_set(site, WK_ERR_FORMAT, "%s: %s: invalid position: epoch %lld, sample %lld of %lld", op, where,
                      (long long)p->epoch, (long long)p->consumed, (long long)p->samples);
    else
        return true;
    return false;
}

void wk__loader_set_state(wk_loader *handle, const wk__loader_state *p)
{
    wk__loader *l = wk__handle_body(handle);
    l->epoch = p->epoch;
    l->epoch_start = p->consumed;
}
