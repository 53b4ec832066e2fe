/* SPDX-License-Identifier: Apache-2.0 */
/* The world and groups of its ranks. */
#include "group.h"
#include "../base/alloc.h"

static wk__dist_group world = {.rank = 0, .size = 1};
static bool initialized;
static int local_rank;

wk__dist_group *wk__dist_world(void)
{
    return &world;
}

/* ---- joining and leaving ----------------------------------------------------------------------------------------- */

wk_code wk_dist_init_at(wk_site site)
{
    if (wk__forked) return wk__refuse_fork(site, "dist_init"), WK_ERR_STATE;
    if (initialized) {
        wk__error_set(site, WK_ERR_STATE, "dist_init: the world is there; it is joined once, until wk_dist_finish");
        return WK_ERR_STATE;
    }
    initialized = true;
    return WK_OK;
}

bool wk_dist_is_initialized(void)
{
    return initialized;
}

int wk_dist_rank(void)
{
    return world.rank;
}

int wk_dist_size(void)
{
    return world.size;
}

int wk_dist_local_rank(void)
{
    return local_rank;
}

wk_code wk_dist_finish_at(wk_site site)
{
    (void)site;
    initialized = false;
    return WK_OK;
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

struct wk_dist_group {
    wk__handle handle;
};

static void destroy(void *body)
{
    wk__dist_group *group = body;
    wk__free(group->world);
    wk__free(group);
}

static const wk__kind group_kind = {.name = "group", .destroy = destroy};

static bool ranks_fit(wk_site site, const int64_t *ranks, int count)
{
    if (!wk__array_check(ranks, count, site, "dist_new_group", "the list of ranks")) return false;
    if (count == 0) wk__error_set(site, WK_ERR_ARGUMENT, "dist_new_group: the list of ranks is empty");
    for (int k = 0; k < count; k++) {
        if (ranks[k] < 0 || ranks[k] >= world.size)
            wk__error_set(site, WK_ERR_ARGUMENT, "dist_new_group: rank %lld is not in 0..%d", (long long)ranks[k],
                          world.size - 1);
        for (int other = 0; other < k; other++)
            if (ranks[other] == ranks[k])
                wk__error_set(site, WK_ERR_ARGUMENT, "dist_new_group: rank %lld stands twice in the list",
                              (long long)ranks[k]);
    }
    return !wk__error_pending();
}

wk_dist_group *wk_dist_new_group_at(wk_site site, const int64_t *ranks, int count)
{
    if (!ranks_fit(site, ranks, count)) return NULL;
    wk__dist_group *group = wk__alloc_zero(1, sizeof *group);
    if (group) group->world = wk__alloc_zero((size_t)count, sizeof *group->world);
    if (group && group->world) {
        group->rank = -1;
        group->size = count;
        for (int k = 0; k < count; k++) group->world[k] = (int)ranks[k];
        group->rank = wk__dist_rank_in(group, world.rank);
    }
    return wk__handle_object(site, &group_kind, group, group && group->world, "dist_new_group");
}

int wk__dist_rank_in(const wk__dist_group *group, int world_rank)
{
    if (!group->world) return world_rank;
    for (int k = 0; k < group->size; k++)
        if (group->world[k] == world_rank) return k;
    return -1;
}

static wk__dist_group *body_of(wk_site site, const char *op, const wk_dist_group *group)
{
    if (!group) return &world;
    return wk__handle_check(group, &group_kind, site, op, "the group") ? wk__handle_body(group) : NULL;
}

wk__dist_group *wk__dist_group_of(wk_site site, const char *op, const wk_dist_group *handle)
{
    wk__dist_group *group = body_of(site, op, handle);
    if (!group || group->rank >= 0) return group;
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: rank %d is not in the group; only its ranks make this call", op,
                  world.rank);
    return NULL;
}

int wk_dist_group_rank_at(wk_site site, const wk_dist_group *handle)
{
    const wk__dist_group *group = body_of(site, "dist_group_rank", handle);
    return group ? group->rank : -1;
}

int wk_dist_group_size_at(wk_site site, const wk_dist_group *handle)
{
    const wk__dist_group *group = body_of(site, "dist_group_size", handle);
    return group ? group->size : 0;
}
