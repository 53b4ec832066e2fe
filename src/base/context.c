/* One context per thread, in thread-local storage: it needs no allocation, so an error can be told when memory is short. */
#include "context.h"
#include "above.h"
#include "alloc.h"
#include "handle.h"
#include <sched.h>
#include <string.h>

_Thread_local wk_context *wk__context_now __attribute__((tls_model("initial-exec")));
static _Thread_local wk_context own;

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static wk_context *list;
static int64_t streams;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t at_exit;

atomic_bool wk__forked;

bool wk__refuse_fork(wk_site site, const char *op)
{
    wk__error_set(site, WK_ERR_STATE,
                  "%s: this process was forked after its parent had computed with the library, which does not carry "
                  "over; fork before the first computation, or start a new program (exec)",
                  op);
    return false;
}

/* Whoever visits it has left when this returns. */
static void unlist(wk_context *context)
{
    pthread_mutex_lock(&list_lock);
    while (context->visitors > 0) {
        pthread_mutex_unlock(&list_lock);
        sched_yield();
        pthread_mutex_lock(&list_lock);
    }
    for (wk_context **place = &list; *place; place = &(*place)->next)
        if (*place == context) {
            *place = context->next;
            break;
        }
    pthread_mutex_unlock(&list_lock);
}

/* What its scopes own goes, what it recorded is run, its free slots serve others. */
static void finish(wk_context *context)
{
    wk__context_now = context;
    if (context->guards) wk__guard_close(context->guard[0].token);
    wk__above.settle(context);
    unlist(context);
    wk__above.end(context);
    wk__slab_retire(context->slots);
    wk__free(context->guard);
    wk__text_end(&context->error);
    memset(context, 0, sizeof *context);
}

static void end_thread(void *context_address)
{
    finish(context_address);
    wk__context_now = NULL;
}

static void make_key(void)
{
    pthread_key_create(&at_exit, end_thread);
}

static void begin(wk_context *context)
{
    context->ready = true;
    context->scope = -1;
    pthread_mutex_lock(&list_lock);
    context->stream = streams++;
    context->next = list;
    list = context;
    pthread_mutex_unlock(&list_lock);
    context->key = (uint64_t)context->stream << 32;
}

wk_context *wk__context_start(void)
{
    wk_context *context = &own;
    if (!context->ready) {
        pthread_once(&once, make_key);
        pthread_setspecific(at_exit, context);
        begin(context);
    }
    wk__context_now = context;
    return context;
}

wk_context *wk__context_make(void)
{
    wk_context *context = wk__alloc_zero(1, sizeof *context);
    if (context) begin(context);
    if (context) context->quiet = true;
    return context;
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

bool wk__context_visit(wk_context *context)
{
    pthread_mutex_lock(&list_lock);
    wk_context *place = list;
    while (place && place != context) place = place->next;
    if (place) place->visitors++;
    pthread_mutex_unlock(&list_lock);
    return place != NULL;
}

void wk__context_leave(wk_context *context)
{
    pthread_mutex_lock(&list_lock);
    context->visitors--;
    pthread_mutex_unlock(&list_lock);
}

/* The list is not locked during a visit, which may take long and may need it; who is visited stays in it. */
void wk__context_each(void (*visit)(wk_context *context, void *user), void *user)
{
    pthread_mutex_lock(&list_lock);
    for (wk_context *context = list, *next; context; context = next) {
        context->visitors++;
        pthread_mutex_unlock(&list_lock);
        visit(context, user);
        pthread_mutex_lock(&list_lock);
        next = context->next;
        context->visitors--;
    }
    pthread_mutex_unlock(&list_lock);
}
