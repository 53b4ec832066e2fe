/* SPDX-License-Identifier: Apache-2.0 */
/* The world of this process and groups of its ranks: wk_dist_init, wk_dist_finish, wk_dist_new_group.
 *
 * One thread joins and leaves, while no other thread makes collective calls; queue.c serializes those. */
#include "group.h"
#include "base/alloc.h"
#include "base/launcher_status.h"
#include "engine/op_queue.h"
#include "session.h"
#include "mpi_plugin.h"
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

wk__dist_session wk__dist_session_now = {.pid = 0};
static wk__dist_group world = {.rank = 0, .size = 1};
static bool initialized, was_initialized; /* in a world now; wk_dist_init has succeeded before */
static int local_rank;
static uint32_t group_count; /* groups made in this world so far */

wk__dist_group *wk__dist_world(void)
{
    return &world;
}

/* ---- joining and leaving ----------------------------------------------------------------------------------------- */

static const char *look(void *user, const char *name)
{
    (void)user;
    return getenv(name);
}

static wk_code refuse(wk_site site, wk_code code, wk__text *why)
{
    wk__text text = {0};
    wk__text_format(&text, "dist_init: %s", why->data ? why->data : "out of host memory");
    wk__text_free(why);
    wk__error_set_text(site, code, &text);
    return code;
}

/* Records a join error with the rank and size from the environment. */
static wk_code join_error(wk_site site, const wk__dist_settings *s, const wk__dist_error *fail)
{
    wk__error_set(site, fail->code, "dist_init: rank %d of %d (by %s): %s", s->rank, s->size, s->source, fail->text);
    return fail->code;
}

/* Barrier of all ranks, so that connection problems are reported before any rank computes. */
static wk_code initial_barrier(wk_site site)
{
    wk__dist_ticket ticket;
    const wk__dist_request request = {.kind = WK__DIST_BARRIER, .blocking = true};
    wk__dist_submit(&ticket, &world, &request);
    return wk__dist_wait(&ticket, site, "dist_init");
}

static void reset_world(void)
{
    wk__dist_session_now.generation++;
    wk__dist_session_now.transport = NULL;
    wk__dist_session_now.world = NULL;
    world = (wk__dist_group){.rank = 0, .size = 1};
    initialized = false;
    local_rank = 0;
}

static wk_code join(wk_site site, const wk__dist_settings *s)
{
    wk__dist_session *session = &wk__dist_session_now;
    wk__dist_error fail = {.code = WK_OK};
    wk__dist_identity place;
    const char *why;
    const wk__dist_transport *transport = s->transport == WK__DIST_MPI ? wk__dist_mpi(&why) : &wk__dist_tcp;
    if (transport->join(s, &place, &session->world, &fail) != WK_OK) return join_error(site, s, &fail);
    session->transport = transport;
    session->timeout_s = s->timeout;
    session->pid = getpid();
    world = (wk__dist_group){.rank = place.rank, .size = place.size};
    local_rank = place.local_rank;
    const wk_code code = initial_barrier(site);
    if (code == WK_OK) return WK_OK;
    if (wk__dist_queue_stop()) transport->leave(session->world);
    reset_world();
    session->pid = 0;
    return code;
}

/* Returns true if MPI is requested or may have started this process; only then is the plug-in loaded. */
static bool may_be_mpi(void)
{
    const char *asked = getenv("WICK_COMM");
    return asked ? strcmp(asked, "mpi") == 0 : getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMI_SIZE");
}

static wk_code init(wk_site site)
{
    wk__dist_settings s;
    wk__text why = {0};
    const char *no_mpi = "";
    if (wk__forked) return wk__report_forked(site, "dist_init"), WK_ERR_STATE;
    if (initialized || wk__dist_queue_is_stuck()) {
        wk__error_set(site, WK_ERR_STATE,
                      initialized ? "dist_init: already initialised; call it only once"
                                  : "dist_init: a call of the previous world has not returned; restart the program");
        return WK_ERR_STATE;
    }
    wk__launcher_status_send("world=joined\n");
    const bool mpi = may_be_mpi() && wk__dist_mpi(&no_mpi) != NULL;
    wk_code code = wk__dist_settings_read(look, NULL, mpi, no_mpi, &s, &why);
    if (code != WK_OK) return refuse(site, code, &why);
    wk__text_free(&why);
    if (s.transport != WK__DIST_SELF && wk__dist_session_now.pid == getpid()) {
        wk__error_set(
            site, WK_ERR_STATE,
            "dist_init: this process has already left its world (wk_dist_finish); a process can join only once");
        return WK_ERR_STATE;
    }
    wk__dist_session_now.generation++;
    group_count = 0;
    if (s.transport == WK__DIST_SELF)
        local_rank = s.local_rank > 0 ? s.local_rank : 0;
    else
        code = join(site, &s);
    initialized = code == WK_OK;
    was_initialized = was_initialized || initialized;
    return code;
}

static atomic_flag joining = ATOMIC_FLAG_INIT;

/* Cleanup of wk_dist_init, also after a longjmp out of the error handler. */
static void end_joining(void *flag)
{
    atomic_flag_clear((atomic_flag *)flag);
}

wk_code wk_dist_init_at(wk_site site)
{
    if (atomic_flag_test_and_set(&joining)) {
        wk__error_set(site, WK_ERR_STATE, "dist_init: another thread is joining the world; call it from one thread");
        return WK_ERR_STATE;
    }
    const uint64_t token = wk__guard_push_cleanup(&joining, end_joining);
    const wk_code code = token ? init(site) : WK_ERR_MEMORY;
    if (token)
        wk__guard_close(token);
    else
        end_joining(&joining);
    return code;
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

static _Atomic(wk__dist_finish_hook) finish_hook;

void wk__dist_at_finish(wk__dist_finish_hook hook)
{
    finish_hook = hook;
}

wk_code wk_dist_finish_at(wk_site site)
{
    wk__dist_session *session = &wk__dist_session_now;
    if (wk__context()->frame.backward_depth > 0) { /* wk_ddp would be left with this rank's own gradients */
        wk__error_set(site, WK_ERR_STATE, "dist_finish: called during a backward; call it after wk_backward returns");
        return WK_ERR_STATE;
    }
    const wk__dist_finish_hook hook = finish_hook;
    const wk_code written = hook ? hook() : WK_OK;
    wk_code code = WK_OK;
    if (world.size > 1 && session->pid == getpid()) {
        wk__dist_ticket ticket;
        wk__flush(wk__context());
        wk__dist_request request = {.kind = WK__DIST_FINISH, .blocking = true};
        if (wk_error() && !wk__context()->error_shared) {
            request.code = wk_error_code();
            request.error_text = wk_error();
        }
        wk__dist_submit(&ticket, &world, &request);
        code = wk__dist_wait(&ticket, site, "dist_finish");
        if (wk__dist_queue_stop()) session->transport->leave(session->world);
    }
    reset_world();
    wk__launcher_status_send("world=left\n");
    return code != WK_OK ? code : written;
}

/* ---- before it is joined ----------------------------------------------------------------------------------------- */

static struct {
    pthread_once_t once;
    int processes; /* launched together, as the environment says */
    const char *variable;
} started = {.once = PTHREAD_ONCE_INIT};

static void detect_launched_size(void)
{
    started.processes = wk__dist_launched_size(look, NULL, &started.variable);
}

/* Returns false, with an error recorded, if this process was launched as one of several and never called wk_dist_init.
 * Collectives would then be no-ops, and each process would train a separate network. */
static bool check_joined(wk_site site, const char *op)
{
    if (was_initialized) return true;
    pthread_once(&started.once, detect_launched_size);
    if (started.processes <= 1) return true;
    wk__error_set(site, WK_ERR_STATE,
                  "%s: %d processes were started (%s=%d), but this one has not joined them; call wk_dist_init first",
                  op, started.processes, started.variable, started.processes);
    return false;
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

struct wk_dist_group {
    wk__handle handle;
};

static void destroy(void *body)
{
    wk__dist_group *group = body;
    wk__free(group->world_rank);
    wk__free(group);
}

static const wk__handle_type group_kind = {.name = "group", .destroy = destroy};

static bool ranks_fit(wk_site site, const int64_t *ranks, int count)
{
    if (!wk__array_check(ranks, count, site, "dist_new_group", "the list of ranks")) return false;
    if (count == 0) {
        wk__error_set(site, WK_ERR_ARGUMENT, "dist_new_group: the list of ranks is empty");
        return false;
    }
    for (int k = 0; k < count; k++) {
        int other = 0;
        while (other < k && ranks[other] != ranks[k]) other++;
        if (ranks[k] >= 0 && ranks[k] < world.size && other == k) continue;
        if (other < k)
            wk__error_set(site, WK_ERR_ARGUMENT, "dist_new_group: duplicate rank %lld in the list",
                          (long long)ranks[k]);
        else
            wk__error_set(site, WK_ERR_ARGUMENT, "dist_new_group: rank %lld is out of range [0, %d]",
                          (long long)ranks[k], world.size - 1);
        return false;
    }
    return true;
}

/* Hashes the list of ranks; the ranks compare the hashes. */
static int64_t hash_of(const int64_t *ranks, int count)
{
    uint64_t hash = (uint64_t)count;
    for (int k = 0; k < count; k++) hash = (hash ^ (uint64_t)ranks[k]) * UINT64_C(0x9e3779b97f4a7c15);
    return (int64_t)(hash >> 1);
}

static bool agree_on_group(wk_site site, bool fine, const int64_t *ranks, int count)
{
    wk__dist_ticket ticket;
    wk__dist_request request = {.kind = WK__DIST_NEW_GROUP, .blocking = true};
    if (!fine || wk__error_pending()) {
        request.code = wk_error_code();
        request.error_text = wk_error();
    } else {
        request.count = hash_of(ranks, count);
    }
    wk__dist_submit(&ticket, &world, &request);
    return wk__dist_wait(&ticket, site, "dist_new_group") == WK_OK;
}

static wk__dist_group *group_of(const int64_t *ranks, int count)
{
    wk__dist_group *group = wk__alloc_zero(1, sizeof *group);
    if (!group) return NULL;
    *group = (wk__dist_group){.size = count, .generation = wk__dist_session_now.generation};
    group->world_rank = wk__alloc_zero((size_t)count, sizeof *group->world_rank);
    for (int k = 0; group->world_rank && k < count; k++) group->world_rank[k] = (int)ranks[k];
    if (group->world_rank) group->rank = wk__dist_rank_in(group, world.rank);
    return group;
}

wk_dist_group *wk_dist_new_group_at(wk_site site, const int64_t *ranks, int count)
{
    static const char op[] = "dist_new_group";
    if (wk__forked) return wk__report_forked(site, op), NULL;
    if (!check_joined(site, op)) return NULL;
    const bool fits = ranks_fit(site, ranks, count);
    wk__dist_group *group = fits ? group_of(ranks, count) : NULL;
    wk_dist_group *handle = fits ? wk__handle_wrap(site, &group_kind, group, group && group->world_rank, op) : NULL;
    if (world.size == 1) return handle;
    if (agree_on_group(site, handle != NULL, ranks, count)) {
        group->id = ++group_count;
        return handle;
    }
    if (handle) wk__handle_release(&handle->handle, site);
    return NULL;
}

int wk__dist_rank_in(const wk__dist_group *group, int world_rank)
{
    if (!group->world_rank) return world_rank;
    for (int k = 0; k < group->size; k++)
        if (group->world_rank[k] == world_rank) return k;
    return -1;
}

static wk__dist_group *body_of(wk_site site, const char *op, const wk_dist_group *group)
{
    if (!group) return &world;
    if (!wk__handle_check(group, &group_kind, site, op, "the group")) return NULL;
    wk__dist_group *body = wk__handle_body(group);
    if (body->generation == wk__dist_session_now.generation) return body;
    wk__error_set(site, WK_ERR_STATE, "%s: the group belongs to a world that this process has left", op);
    return NULL;
}

wk__dist_group *wk__dist_group_of(wk_site site, const char *op, const wk_dist_group *handle)
{
    if (!check_joined(site, op)) return NULL;
    wk__dist_group *group = body_of(site, op, handle);
    if (!group || group->rank >= 0) return group;
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: rank %d is not in the group; only members may make this call", op,
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
