/* SPDX-License-Identifier: Apache-2.0 */
/* Pending errors of a thread, and their delivery to the user's error handler.
 *
 * The first error counts; later ones are dropped until it is cleared. The handler may longjmp and never return, so it
 * is called only where no internal state would be left inconsistent: see WK__FRAME_CRITICAL. */
#include "failure.h"
#include "alloc.h"
#include "handle.h"
#include <string.h>
#include <sysexits.h>

pthread_mutex_t wk__handler_lock = PTHREAD_MUTEX_INITIALIZER;
static wk_error_handler *handler;
static void *handler_user;
static const char oom_text[] = "out of memory (not even the message of the error fits)";

void wk_set_error_handler(wk_error_handler *new_handler, void *user)
{
    pthread_mutex_lock(&wk__handler_lock);
    handler = new_handler;
    handler_user = user;
    pthread_mutex_unlock(&wk__handler_lock);
}

/* Returns the thread's context after recording failures of its asynchronous work, for queries by user code. */
static const wk_context *context_with_posted_failure(void)
{
    wk_context *context = wk__context();
    if (context->posted_failure) wk__report_posted_failure(context);
    return context;
}

const char *wk_error(void)
{
    const wk_context *context = context_with_posted_failure();
    if (context->code == WK_OK) return NULL;
    return context->error.data ? context->error.data : oom_text;
}

wk_code wk_error_code(void)
{
    return context_with_posted_failure()->code;
}

static wk_error_handler *handler_now(void **user)
{
    pthread_mutex_lock(&wk__handler_lock);
    wk_error_handler *call = handler;
    *user = handler_user;
    pthread_mutex_unlock(&wk__handler_lock);
    return call;
}

/* Saves an error that is being cleared for later delivery; drops it on allocation failure. */
static void queue_for_handler(wk_context *context)
{
    void *user;
    wk__undelivered_error *kept = handler_now(&user) ? wk__alloc_zero(1, sizeof *kept) : NULL;
    if (!kept) return;
    kept->code = context->code;
    kept->text = context->error;
    context->error = (wk__text){0};
    wk__undelivered_error **end = &context->undelivered_errors;
    while (*end) end = &(*end)->next;
    *end = kept;
}

/* Returns the length of the op name a message begins with, "reshape: ..."; 0 if none. */
static size_t name_length(const char *text)
{
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return strncmp(text + length, ": ", 2) == 0 ? length : 0;
}

/* Writes "net.c:12: matmul" for the pending error; a missing site or name is left out. */
static void name_failed_call(const wk_context *context, char *out, size_t size)
{
    const char *text = context->error.data ? context->error.data : "";
    const int64_t place = context->error.data ? context->prefix_length : 0;
    const size_t name = name_length(text + place);
    const int64_t length = name > 0 || place == 0 ? place + (int64_t)name : place - (int64_t)strlen(": ");
    snprintf(out, size, "%.*s", (int)length, text);
}

void wk_clear_error(void)
{
    wk_context *context = wk__context();
    if (context->code != WK_OK) {
        context->null_origin = (wk__null_origin){0};
        name_failed_call(context, context->null_origin.last_error, sizeof context->null_origin.last_error);
        if (context->undelivered) queue_for_handler(context);
    }
    context->code = WK_OK;
    context->error_shared = false;
    context->undelivered = false;
    context->delivery_due = context->undelivered_errors != NULL;
    wk__text_free(&context->error);
}

/* Ignores internal calls: user code does not receive their results. */
void wk__note_null_result(wk_site site, const void *kind, const char *call, const char *why)
{
    wk_context *context = wk__context();
    if (context->frame.api_call.active) return;
    wk__null_origin *origin = &context->null_origin;
    origin->call = call;
    origin->why = why;
    origin->site = site;
    origin->kind = kind;
}

int wk_report_error(FILE *out)
{
    const char *text = wk_error();
    if (!text) return 0;
    fprintf(out ? out : stderr, "%s\n", text);
    return wk__context()->code == WK_ERR_TIMEOUT ? EX_TEMPFAIL : 1;
}

wk_site wk__site(wk_site site)
{
    const wk_context *context = wk__context();
    return context->frame.api_call.active ? context->frame.api_call.site : site;
}

/* Calls the handler in a fresh frame. It may longjmp out, and its calls report their own sites. */
static void call_handler(wk_context *context, wk_code code, const char *text)
{
    void *user;
    wk_error_handler *call = handler_now(&user);
    context->delivery_due = context->undelivered_errors || context->undelivered;
    if (!call) return;
    const wk__frame before = wk__frame_begin(context, WK__FRAME_HANDLER, NULL, (wk_site){0});
    call(user, code, text);
    wk__frame_end(context, before);
}

static void free_cleared(void *address)
{
    wk__undelivered_error *cleared = address;
    wk__text_free(&cleared->text);
    wk__free(cleared);
}

/* A guard owns the text during the call. Delivery is blocked meanwhile, so that further errors are delivered by the
 * loop in wk__deliver_errors(), not by the end of the guard. */
static void deliver_one(wk_context *context)
{
    const bool before = context->frame.api_call.handler_blocked;
    context->frame.api_call.handler_blocked = true;
    wk__undelivered_error *const first = context->undelivered_errors;
    context->undelivered_errors = first->next;
    const uint64_t token = wk__guard_push_cleanup(first, free_cleared);
    call_handler(context, first->code, first->text.data ? first->text.data : oom_text);
    if (token)
        wk__guard_close(token);
    else
        free_cleared(first);
    context->frame.api_call.handler_blocked = before;
}

void wk__deliver_errors(wk_context *context)
{
    while (context->undelivered_errors) deliver_one(context);
    const bool unheard = context->undelivered;
    context->delivery_due = context->undelivered = false;
    if (unheard) call_handler(context, context->code, wk_error());
}

void wk__free_undelivered(wk_context *context)
{
    while (context->undelivered_errors) {
        wk__undelivered_error *const first = context->undelivered_errors;
        context->undelivered_errors = first->next;
        free_cleared(first);
    }
}

/* Appends the message with the op name replaced by that of the API call, if one is active, and with the position of the
 * module, without repeating names. */
static void write_text(const wk_context *context, const char *text, wk__text *out)
{
    const wk__api_call *outer = &context->frame.api_call;
    const wk__module_frame *layer = context->frame.module_frame;
    const bool renamed = outer->active && outer->name;
    const int64_t begin = out->length;
    const char *kind = outer->active && layer && layer->library ? layer->describe(layer, out) : "";
    const size_t own = name_length(text), length = renamed ? strlen(outer->name) : own;
    const char *name = renamed ? outer->name : text;
    const bool repeated = out->length > begin && strncmp(out->data + begin, name, length) == 0; /* "forward: " */
    if (length > 0 && !repeated && (strncmp(name, kind, length) != 0 || kind[length]))
        wk__text_format(out, "%.*s%s: ", (int)length, name, wk__in_place_suffix(name, renamed && outer->in_place));
    wk__text_add(out, own ? text + own + 2 : text);
    if (!context->frame.callback) return;
    while (layer && layer->library) layer = layer->parent;
    wk__text_add(out, " (");
    if (layer) layer->describe(layer, out);
    wk__text_format(out, "in %s)", context->frame.callback);
}

/* Drops the text if an error is pending. */
void wk__error_set_text(wk_site site, wk_code code, wk__text *text)
{
    wk_context *context = wk__context();
    if (context->code != WK_OK) {
        wk__text_free(text);
        return;
    }
    context->code = code;
    wk__text *out = &context->error;
    wk__text_free(out);
    site = wk__site(site);
    if (site.file) wk__text_format(out, "%s:%d: ", site.file, (int)site.line);
    context->error_site = site;
    context->prefix_length = out->length;
    write_text(context, text->data ? text->data : "out of memory", out);
    wk__text_escape(out, context->prefix_length);
    wk__text_free(text);
    if (context->handler_muted) return;
    context->undelivered = true;
    if (context->frame.api_call.handler_blocked)
        context->delivery_due = true;
    else
        wk__deliver_errors(context);
}

void wk__error_set(wk_site site, wk_code code, const char *format, ...)
{
    if (wk__error_pending()) return;
    wk__text text = {0};
    va_list args;
    va_start(args, format);
    wk__text_vformat(&text, format, args);
    va_end(args);
    wk__error_set_text(site, code, &text);
}
