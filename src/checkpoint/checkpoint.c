/* SPDX-License-Identifier: Apache-2.0 */
/* Public calls of checkpoints, and the thread that writes a file in the background; see checkpoint.h. */
#include "checkpoint.h"
#include "base/alloc.h"
#include "data/loader_state.h"
#include "distributed/checkpoint_sync.h"
#include "distributed/group.h"
#include <string.h>
#include <unistd.h>

struct wk_checkpoint {
    wk__handle handle;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects the list of all checkpoints */
static wk__checkpoint *all;

/* ---- the write under way ----------------------------------------------------------------------------------------- */

static void write_file(void *user, int64_t step)
{
    wk__checkpoint *c = user;
    char *place = NULL;
    c->code = wk__checkpoint_file_write(&c->pending_file, c->path, c->keep > 1 ? &place : NULL, &c->error);
    if (c->code == WK_OK && c->keep > 1)
        c->code = wk__checkpoint_retain(&c->pending_file, place, step, c->keep, &c->error);
    wk__free(place);
}

/* Ends a write: waits for it, or only checks whether it is done, and reports its error. A child of fork() has no writer
 * thread, and the write belongs to its parent. */
static wk_code finish_write(wk__checkpoint *c, bool wait)
{
    if (!c->writing) return WK_OK;
    const bool ours = !c->background.process || c->background.process == getpid();
    if (ours && !wait && wk__background_worker_is_busy(&c->background)) return WK_OK;
    if (ours)
        wk__background_worker_wait(&c->background);
    else
        wk__background_worker_init(&c->background, write_file, c);
    c->writing = false;
    wk__checkpoint_file_end(&c->pending_file);
    if (!ours || c->code == WK_OK) return WK_OK;
    wk__error_set(c->site, c->code, "%s: %s", c->op, c->error.text);
    return c->code;
}

static void start(wk__checkpoint *c, wk_site site, const char *op)
{
    c->writing = true;
    c->site = site;
    c->op = op;
    c->written_step = c->step;
    if (c->blocking)
        write_file(c, c->written_step);
    else
        wk__background_worker_submit(&c->background, c->written_step);
}

/* Returns a checkpoint of this thread that is being written; NULL: none. */
static wk__checkpoint *find_pending(void)
{
    pthread_mutex_lock(&lock);
    wk__checkpoint *c = all;
    while (c && !(c->context == wk__context() && c->writing)) c = c->next;
    pthread_mutex_unlock(&lock);
    return c;
}

wk_code wk__checkpoints_wait(void)
{
    wk_code first = WK_OK;
    for (wk__checkpoint *c; (c = find_pending());) {
        const wk_code code = finish_write(c, true);
        if (first == WK_OK) first = code;
    }
    return first;
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

static void enlist(wk__checkpoint *c)
{
    wk__dist_at_finish(wk__checkpoints_wait);
    pthread_mutex_lock(&lock);
    c->next = all;
    all = c;
    pthread_mutex_unlock(&lock);
}

static void delist(const wk__checkpoint *c)
{
    pthread_mutex_lock(&lock);
    for (wk__checkpoint **place = &all; *place; place = &(*place)->next)
        if (*place == c) {
            *place = c->next;
            break;
        }
    pthread_mutex_unlock(&lock);
}

static void destroy(void *body)
{
    wk__checkpoint *c = body;
    finish_write(c, true);
    delist(c);
    wk__background_worker_stop(&c->background);
    wk__handle_drop((wk__handle *)c->net);
    wk__handle_drop((wk__handle *)c->optim);
    wk__handle_drop((wk__handle *)c->loader);
    wk__handle_drop((wk__handle *)c->tensors);
    wk__free(c->path);
    wk__free(c->loaded);
    wk__free(c);
}

static const wk__handle_type checkpoint_kind = {.name = "checkpoint", .destroy = destroy, .owns_children = true};

static wk__checkpoint *body_of(const wk_checkpoint *checkpoint, wk_site site, const char *op)
{
    return wk__handle_check(checkpoint, &checkpoint_kind, site, op, "the checkpoint") ? wk__handle_body(checkpoint)
                                                                                      : NULL;
}

static void hold(void *object)
{
    if (object) wk__handle_hold(object);
}

wk_checkpoint *wk_checkpoint_new_at(wk_site site, const char *path, wk_module *net, wk_optim *optim, wk_loader *loader,
                                    const wk_checkpoint_options *options)
{
    static const char op[] = "checkpoint_new";
    wk_checkpoint_options o;
    if (wk__error_pending()) return NULL; /* an argument may be NULL because of that error */
    if (!wk__check_path(site, op, path) || !wk__options(site, op, options, &o)) return NULL;
    if ((net && !wk__module_check(net, site, op)) || (optim && !wk__optim_check(optim, site, op)) ||
        (loader && !wk__loader_check(loader, site, op)) || (o.tensors && !wk__tensor_list_check(o.tensors, site, op)))
        return NULL;
    if (o.keep < 0) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: .keep must be at least 1, got %d", op, o.keep);
        return NULL;
    }
    wk__checkpoint *c = wk__alloc_zero(1, sizeof *c);
    if (c) {
        *c = (wk__checkpoint){.path = wk__strdup(path),
                              .net = net,
                              .optim = optim,
                              .loader = loader,
                              .tensors = o.tensors,
                              .keep = o.keep ? o.keep : 1,
                              .blocking = o.blocking,
                              .context = wk__context()};
        hold(net), hold(optim), hold(loader), hold(o.tensors);
        wk__background_worker_init(&c->background, write_file, c);
        enlist(c);
    }
    return wk__handle_wrap(site, &checkpoint_kind, c, c && c->path, op);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static wk_code save(wk__checkpoint *c, wk_site site, const char *op)
{
    finish_write(c, true);
    const bool fine = wk__checkpoint_collect(c, site, op);
    if (fine && wk_dist_rank() == 0) {
        start(c, site, op);
        if (c->blocking) finish_write(c, true);
    }
    return wk_error_code();
}

wk_code wk_checkpoint_save_at(wk_site site, wk_checkpoint *checkpoint)
{
    static const char op[] = "checkpoint_save";
    wk__checkpoint *c = body_of(checkpoint, site, op);
    return c ? save(c, site, op) : wk_error_code();
}

/* Counts a step, except after an error. Among several ranks every call counts: an error may be on one rank only, and
 * ranks that count differently would never again save at the same call. A rank with an error at a save sends it to the
 * others. */
wk_code wk_checkpoint_every_at(wk_site site, wk_checkpoint *checkpoint, int64_t n)
{
    static const char op[] = "checkpoint_every";
    wk__checkpoint *c = body_of(checkpoint, site, op);
    if (!c) return wk_error_code();
    if (n < 1) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: n must be at least 1, got %lld", op, (long long)n);
        return wk_error_code();
    }
    const bool due = (c->step + 1) % n == 0;
    if (!wk__error_pending() || wk_dist_size() > 1) c->step++;
    if (due) return save(c, site, op);
    finish_write(c, false);
    return wk_error_code();
}

wk_code wk_checkpoint_wait_at(wk_site site, wk_checkpoint *checkpoint)
{
    wk__checkpoint *c = body_of(checkpoint, site, "checkpoint_wait");
    if (c) finish_write(c, true);
    return wk_error_code();
}

bool wk_checkpoint_load_at(wk_site site, wk_checkpoint *checkpoint)
{
    static const char op[] = "checkpoint_load";
    wk__checkpoint *c = body_of(checkpoint, site, op);
    if (!c) return false;
    finish_write(c, true);
    return wk__checkpoint_restore(c, site, op);
}

int64_t wk_checkpoint_step_at(wk_site site, const wk_checkpoint *checkpoint)
{
    const wk__checkpoint *c = checkpoint ? body_of(checkpoint, site, "checkpoint_step") : NULL;
    return c ? c->step : 0;
}

const char *wk_checkpoint_loaded_path_at(wk_site site, const wk_checkpoint *checkpoint)
{
    const wk__checkpoint *c = body_of(checkpoint, site, "checkpoint_loaded_path");
    return c ? c->loaded : NULL;
}
