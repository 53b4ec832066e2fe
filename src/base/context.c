/* SPDX-License-Identifier: Apache-2.0 */
/* Creates one context per thread, found through a thread-local pointer, and destroys it when the thread exits. */
#include "context.h"
#include "alloc.h"
#include "base/platform/fork.h"
#include "failure.h"
#include "handle.h"
#include "base/platform/dynlib.h"
#include <sched.h>
#include <string.h>
#include <time.h>

_Thread_local wk_context *wk__context_now __attribute__((tls_model("initial-exec")));

pthread_mutex_t wk__context_lock = PTHREAD_MUTEX_INITIALIZER; /* protects both lists of contexts */
static wk_context *contexts;
static int64_t streams;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t at_exit; /* per thread: its context */

/* The first threads get static contexts, so that errors can be reported when no memory is left. */
enum { STATIC_CONTEXTS = 64, CACHE_LINE = 64 };
static struct {
    _Alignas(CACHE_LINE) wk_context context;
} static_contexts[STATIC_CONTEXTS];
static int handed_out;
static wk_context *free_contexts; /* contexts of threads that have exited */

/* Removes a context from the list, after all threads that acquired it have released it. */
static void unlist(wk_context *context)
{
    pthread_mutex_lock(&wk__context_lock);
    while (context->references > 0) {
        pthread_mutex_unlock(&wk__context_lock);
        sched_yield();
        pthread_mutex_lock(&wk__context_lock);
    }
    for (wk_context **place = &contexts; *place; place = &(*place)->next)
        if (*place == context) {
            *place = context->next;
            break;
        }
    pthread_mutex_unlock(&wk__context_lock);
}

/* Closes the scopes, runs the recorded ops and returns the slots to the reserve. */
static void finish(wk_context *context)
{
    wk__context_now = context;
    if (context->guards) wk__guard_close(context->guard[0].token);
    context->frame = (wk__frame){0}; /* the current frame may belong to calls that a longjmp has left */
    if (context->work) context->work->drain(context);
    if (context->release_queue) context->free_waiting(context); /* a longjmp left the code that would have */
    unlist(context);
    wk__discard_posted_failure(context);
    if (context->work) context->work->free(context);
    wk__slab_drain(context->slots);
    wk__free(context->guard);
    wk__free(context->scratch);
    wk__text_free(&context->error);
    wk__free_undelivered(context);
    memset(context, 0, sizeof *context);
}

static void end_thread(void *address)
{
    wk_context *context = address;
    context->exiting = true;
    finish(context);
    wk__context_now = NULL;
    pthread_mutex_lock(&wk__context_lock);
    context->next = free_contexts;
    free_contexts = context;
    pthread_mutex_unlock(&wk__context_lock);
    wk__fork_count_thread(false);
}

static void create_key(void)
{
    wk__dynlib_pin_self(); /* before anything else keeps the address of one of our functions */
    pthread_key_create(&at_exit, end_thread);
}

static wk_context *take_context(void)
{
    pthread_mutex_lock(&wk__context_lock);
    wk_context *context = free_contexts;
    if (context)
        free_contexts = context->next;
    else if (handed_out < STATIC_CONTEXTS)
        context = &static_contexts[handed_out++].context;
    pthread_mutex_unlock(&wk__context_lock);
    return context ? context : wk__alloc_zero(1, sizeof *context);
}

/* Without a context not even an allocation failure could be reported, so the thread waits until another one exits or
 * frees memory. */
static wk_context *alloc_context_or_wait(void)
{
    static const struct timespec moment = {.tv_nsec = 1000000};
    wk_context *context;
    while (!(context = take_context())) nanosleep(&moment, NULL);
    return context;
}

/* numbered: the context gets its own random stream. */
static void begin(wk_context *context, bool numbered)
{
    context->scope = -1;
    pthread_mutex_lock(&wk__context_lock);
    if (numbered) context->stream = streams++;
    context->next = contexts;
    contexts = context;
    pthread_mutex_unlock(&wk__context_lock);
    context->key = (uint64_t)context->stream << 32;
}

static wk_context *start(bool numbered)
{
    pthread_once(&once, create_key);
    wk_context *context = pthread_getspecific(at_exit);
    if (!context) {
        wk__fork_count_thread(true);
        context = alloc_context_or_wait();
        pthread_setspecific(at_exit, context);
        begin(context, numbered);
    }
    wk__context_now = context;
    return context;
}

wk_context *wk__context_start(void)
{
    return start(true);
}

void wk__context_start_worker(void)
{
    if (!wk__context_now) start(false)->handler_muted = true;
}

static wk_context *make(bool numbered)
{
    wk_context *context = wk__alloc_zero(1, sizeof *context);
    if (context) begin(context, numbered);
    if (context) context->handler_muted = true;
    return context;
}

wk_context *wk__context_make(void)
{
    return make(true);
}

wk_context *wk__context_make_worker(void)
{
    return make(false);
}

void wk__context_destroy(wk_context *context)
{
    wk_context *before = wk__context();
    finish(context);
    wk__context_now = before;
    wk__free(context);
}

wk_context *wk__context_enter(wk_context *context)
{
    wk_context *before = wk__context();
    wk__context_now = context ? context : wk__context_start();
    return before;
}

wk__frame wk__frame_begin_isolated(wk_context *context, wk__frame_kind way, const char *name)
{
    const bool held = way == WK__FRAME_NOUNWIND;
    wk__frame before = context->frame;
    before.kind = (uint8_t)way;
    context->frame = (wk__frame){.grad_off = before.grad_off,
                                 .sync_off = before.sync_off,
                                 .backward_depth = before.backward_depth,
                                 .destroy_depth = before.destroy_depth,
                                 .release_depth = before.release_depth,
                                 .nounwind = held || before.nounwind,
                                 .api_call.handler_blocked = way == WK__FRAME_DETACHED ? before.api_call.handler_blocked
                                                                                       : held || before.nounwind,
                                 .callback = held ? before.callback : name,
                                 .module_frame = held || way == WK__FRAME_CALLBACK ? before.module_frame : NULL,
                                 .forward_watch = held || way == WK__FRAME_CALLBACK ? before.forward_watch : NULL};
    return before;
}

/* Errors are delivered only at the end of a blocking call. A NOUNWIND frame outside any such call leaves them to the
 * thread's next call. */
void wk__frame_end_isolated(wk_context *context, wk__frame before)
{
    context->frame = before;
    if (before.kind == WK__FRAME_NOUNWIND && context->delivery_due && !before.api_call.handler_blocked)
        wk__schedule_error_delivery(context);
}

bool wk__context_acquire(wk_context *context)
{
    pthread_mutex_lock(&wk__context_lock);
    wk_context *place = contexts;
    while (place && place != context) place = place->next;
    if (place) place->references++;
    pthread_mutex_unlock(&wk__context_lock);
    return place != NULL;
}

void wk__context_release(wk_context *context)
{
    pthread_mutex_lock(&wk__context_lock);
    context->references--;
    pthread_mutex_unlock(&wk__context_lock);
}

/* The list is not locked during a visit, which may be long and may need the lock; the reference keeps the visited
 * context in the list. */
void wk__context_each(void (*visit)(wk_context *context, void *user), void *user)
{
    pthread_mutex_lock(&wk__context_lock);
    for (wk_context *context = contexts, *next; context; context = next) {
        context->references++;
        pthread_mutex_unlock(&wk__context_lock);
        visit(context, user);
        pthread_mutex_lock(&wk__context_lock);
        next = context->next;
        context->references--;
    }
    pthread_mutex_unlock(&wk__context_lock);
}
