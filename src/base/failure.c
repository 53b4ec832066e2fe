/* SPDX-License-Identifier: Apache-2.0 */
/* Failures of recorded work (failure.h). */
#include "failure.h"
#include "alloc.h"
#include <string.h>

/* Marker in wk_context.posted_failure: an error that only the error handler has not received. Never freed: has one
 * reference that is not counted elsewhere. */
static wk__failure delivery_only = {.refs = 1};

/* Failure that is used if none can be allocated. Never freed: no user owns this initial reference. */
static wk__failure no_memory = {.refs = 1, .code = WK_ERR_MEMORY, .text = "out of host memory"};

wk__failure *wk__failure_new(wk_code code, wk_site site, const char *text)
{
    wk__failure *failure = wk__alloc_zero(1, sizeof *failure);
    if (!failure) return NULL;
    atomic_store(&failure->refs, 1);
    failure->code = code;
    failure->site = site;
    strncpy(failure->text, text, sizeof failure->text - 1);
    return failure;
}

void wk__failure_drop(wk__failure *failure)
{
    if (failure && atomic_fetch_sub(&failure->refs, 1) == 1) wk__free(failure);
}

wk__failure *wk__failure_oom(void)
{
    atomic_store(&no_memory.reported_to, 0); /* another failure from now on */
    return &no_memory;
}

void wk__report_failure(wk__failure *failure)
{
    if (!failure) failure = &no_memory;
    wk_context *context = wk__context();
    atomic_store(&failure->reported_to, context->stream + 1);
    /* the failure belongs to another call than the current one */
    const wk__frame before = wk__frame_begin(context, WK__FRAME_DETACHED, NULL, (wk_site){0});
    wk__error_set(failure->site, failure->code, "%s", failure->text);
    wk__frame_end(context, before);
}

void wk__post_failure(wk_context *context, wk__failure *failure)
{
    if (!failure) failure = wk__failure_oom();
    if (atomic_load(&failure->reported_to) == context->stream + 1) return;
    wk__failure *there = NULL;
    atomic_fetch_add(&failure->refs, 1);
    while (there == NULL || there == &delivery_only) {
        if (!atomic_compare_exchange_weak(&context->posted_failure, &there, failure)) continue;
        wk__failure_drop(there); /* if delivery_only: the same call reports both */
        return;
    }
    wk__failure_drop(failure); /* only the first is kept */
}

void wk__discard_posted_failure(wk_context *context)
{
    wk__failure_drop(atomic_exchange(&context->posted_failure, NULL));
}

void wk__report_posted_failure(wk_context *context)
{
    wk__failure *late = atomic_exchange(&context->posted_failure, NULL);
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    const int64_t told = late ? atomic_load(&late->reported_to) : 0;
    /* language bindings read errors from another context */
    const bool heard = context->handler_muted ? told != 0 : told == context->stream + 1;
    if (late && late != &delivery_only && !heard) wk__report_failure(late);
    wk__failure_drop(late);
    wk__frame_end(context, before);
}

void wk__schedule_error_delivery(wk_context *context)
{
    wk__failure *none = NULL;
    atomic_fetch_add(&delivery_only.refs, 1);
    if (!atomic_compare_exchange_strong(&context->posted_failure, &none, &delivery_only))
        wk__failure_drop(&delivery_only); /* the posted failure's delivery covers both */
}
