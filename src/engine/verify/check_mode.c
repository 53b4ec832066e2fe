/* SPDX-License-Identifier: Apache-2.0 */
/* See check_mode.h. */
#include "check_mode.h"
#include "base/alloc.h"
#include "base/environment.h"
#include "base/log.h"
#include "shadow_compare.h"
#include "engine/replay/flush_file.h"
#include "engine/device_sync.h"
#include "shadow_deferred.h"
#include "shadow_run.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- before planning --------------------------------------------------------------------------------------------- */

/* Synchronizes devices with work in flight, so that earlier faults are not attributed to this flush. */
static void settle_devices(const wk__op_queue *queue)
{
    wk__device *last = NULL;
    for (int64_t k = 0; k < queue->count; k++) {
        wk__device *device = queue->record[k]->device;
        if (device != last && device->id.kind != WK_NULL) wk__device_sync_if_inflight(device, queue->record[k]);
        last = device;
    }
}

static void not_checked(const wk__op_queue *queue, const char *why)
{
    wk__log(WK__LOG_CHECK, queue->record[0]->site, "flush of %lld calls not checked: %s", (long long)queue->count, why);
}

/* Returns the memory of a stored tensor if the user has its address. */
static const wk__memory *known_memory(const wk__shadow *t)
{
    return t->stored && t->exposed && !t->of->memory_owner && t->of->memory.host ? &t->of->memory : NULL;
}

static bool is_written(const wk__shadow_map *shadows, const wk__value *value)
{
    for (int64_t k = 0; k < shadows->queue->count; k++)
        if (shadows->queue->record[k]->prior == value) return true;
    return false;
}

/* If two tensors borrow the same user memory, a write through one changes the other. Shadows can't reproduce that,
 * because they are separate. */
static bool writes_aliased_memory(const wk__shadow_map *shadows)
{
    for (int64_t k = 0; k < shadows->count; k++) {
        const wk__memory *one = known_memory(&shadows->shadow[k]);
        if (!one || !is_written(shadows, shadows->shadow[k].of)) continue;
        for (int64_t i = 0; i < shadows->count; i++) {
            const wk__memory *other = i != k ? known_memory(&shadows->shadow[i]) : NULL;
            if (other && one->host < other->host + other->bytes && other->host < one->host + one->bytes) return true;
        }
    }
    return false;
}

static wk__shadow_map *run_reference(wk_context *owner, bool may_defer)
{
    wk__shadow_map *shadows = wk__shadow_map_new(owner, may_defer);
    if (shadows && writes_aliased_memory(shadows))
        shadows->skip_reason = "it writes memory that two tensors borrow";
    else if (shadows)
        wk__shadow_run(shadows);
    if (shadows && !shadows->skip_reason) return shadows;
    not_checked(owner->op_queue, shadows ? shadows->skip_reason : "out of host memory");
    if (shadows) wk__shadow_map_free(shadows);
    return NULL;
}

static void forget_kept(const wk__op_queue *queue)
{
    for (int64_t k = 0; k < queue->count; k++) wk__deferred_shadow_drop(queue->record[k]->ref[0].value);
}

wk__shadow_map *wk__check_begin(wk_context *owner, bool may_defer)
{
    settle_devices(owner->op_queue);
    wk__alloc_untracked pause;
    wk__alloc_untracked_begin(&pause);
    wk__shadow_map *shadows = run_reference(owner, may_defer);
    if (!shadows) forget_kept(owner->op_queue);
    wk__alloc_untracked_end(&pause);
    return shadows;
}

/* ---- during the planned run -------------------------------------------------------------------------------------- */

void wk__check_tolerate(wk__shadow_map *shadows, const wk__value *value, const wk__failure *failure)
{
    wk__shadow *t = wk__shadow_of(shadows, value);
    if (t && !wk__is_data_failure(failure)) t->tolerated = true;
}

/* ---- after the planned run --------------------------------------------------------------------------------------- */

enum { NAMED = 5 /* maximum ops of a kernel that a message names */ };

static void add_pass(wk__text *text, const wk__shadow_map *shadows, const wk__record *r)
{
    int named = 0;
    for (int64_t k = 0; k < shadows->queue->count; k++) {
        const wk__record *other = shadows->queue->record[k];
        if (r->group < 0 || other->group != r->group || named++ >= NAMED) continue;
        wk__text_format(text, "%s%s%s (%s:%d)", named == 1 ? " Computed in one pass: " : ", ", other->name,
                        wk__in_place_suffix(other->name, other->in_place), other->site.file ? other->site.file : "?",
                        (int)other->site.line);
    }
    if (named > NAMED) wk__text_format(text, " and %d more", named - NAMED);
}

/* Maximum number of flush files per process. */
enum { MAX_FILES = 16 };
static atomic_int files;

/* Writes the flush file and appends its path, or the error, to the message. */
static void write_file(wk__text *text, const wk__shadow_map *shadows, const char *said)
{
    char path[PATH_MAX];
    wk__io_error error;
    const char *folder = wk__setting_text(WK__SETTING_CHECK_DIR);
    if (shadows->queue->config->skip_file) return;
    const int number = atomic_fetch_add(&files, 1) + 1;
    if (number > MAX_FILES) return;
    snprintf(path, sizeof path, "%s%swick-check-%d-%d.flush", folder && *folder ? folder : "",
             folder && *folder ? "/" : "", (int)getpid(), number);
    if (wk__flush_write(shadows, said, path, &error) == WK_OK)
        wk__text_format(text, " Reproduce it with `wick replay %s`.", path);
    else
        wk__text_format(text, " It could not be saved: %s.", error.text);
}

static wk__failure *failure_of(const wk__shadow_map *shadows, const wk__difference *found)
{
    wk__text text = {0};
    const wk__record *r = found->record;
    wk__text_format(&text, "%s%s: WICK_CHECK: %s.", r->name, wk__in_place_suffix(r->name, r->in_place),
                    found->what.data ? found->what.data : "");
    write_file(&text, shadows, text.data ? text.data : "");
    add_pass(&text, shadows, r);
    wk__failure *failure =
        wk__failure_new(WK_ERR_INTERNAL, r->site, text.data ? text.data : "WICK_CHECK: a difference");
    wk__text_free(&text);
    return failure;
}

/* Fails a value that differs. Its memory is kept, because another thread may be about to read it. */
static void check_shadow(wk__shadow_map *shadows, wk__shadow *t, wk__failure **failure)
{
    wk__difference found;
    if (wk__shadow_differs(shadows, t, &found)) {
        if (!*failure) *failure = failure_of(shadows, &found);
        wk__text_free(&found.what);
        if (t->of->state == WK__STORED) wk__value_fail(t->of, *failure);
    } else if (t->held && t->valid && !t->may_differ && t->of->state == WK__DEFERRED) {
        wk__deferred_shadow_add(t);
    }
}

void wk__check_end(wk__shadow_map *shadows)
{
    settle_devices(shadows->queue);
    wk__alloc_untracked pause;
    wk__alloc_untracked_begin(&pause);
    wk__failure *failure = NULL;
    wk__shadow_mark_tolerated(shadows);
    for (int64_t k = 0; k < shadows->queue->count; k++) { /* in program order: the first difference is reported */
        wk__record *r = shadows->queue->record[k];
        for (int o = 0; o < r->nout; o++) check_shadow(shadows, wk__shadow_of(shadows, r->ref[o].value), &failure);
    }
    for (int64_t k = 0; k < shadows->count; k++)
        if (!shadows->shadow[k].writer) check_shadow(shadows, &shadows->shadow[k], &failure);
    if (failure) {
        wk__discard_posted_failure(shadows->owner); /* other failures are less important */
        wk__post_failure(shadows->owner, failure);
    }
    wk__failure_drop(failure);
    wk__shadow_map_free(shadows);
    wk__alloc_untracked_end(&pause);
}
