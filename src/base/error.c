/* SPDX-License-Identifier: Apache-2.0 */
/* The first error of a thread, and the program's handler for it. */
#include "above.h"
#include "alloc.h"
#include "handle.h"
#include <string.h>
#include <sysexits.h>

pthread_mutex_t wk__handler_lock = PTHREAD_MUTEX_INITIALIZER;
static wk_error_handler *handler;
static void *handler_user;
static const char no_room[] = "out of memory (not even the message of the error fits)";

void wk_set_error_handler(wk_error_handler *new_handler, void *user)
{
    pthread_mutex_lock(&wk__handler_lock);
    handler = new_handler;
    handler_user = user;
    pthread_mutex_unlock(&wk__handler_lock);
}

/* The thread's context with what is known by now of the work that has run for it, where the program asks. */
static const wk_context *informed(void)
{
    wk_context *context = wk__context();
    if (context->late) wk__above.tell_late(context);
    return context;
}

const char *wk_error(void)
{
    const wk_context *context = informed();
    if (context->code == WK_OK) return NULL;
    return context->error.data ? context->error.data : no_room;
}

wk_code wk_error_code(void)
{
    return informed()->code;
}

static wk_error_handler *handler_now(void **user)
{
    pthread_mutex_lock(&wk__handler_lock);
    wk_error_handler *call = handler;
    *user = handler_user;
    pthread_mutex_unlock(&wk__handler_lock);
    return call;
}

/* The handler hears later of an error that is cleared now. Where memory is short it does not. */
static void keep_for_handler(wk_context *context)
{
    void *user;
    wk__cleared *kept = handler_now(&user) ? wk__alloc_zero(1, sizeof *kept) : NULL;
    if (!kept) return;
    kept->code = context->code;
    kept->text = context->error;
    context->error = (wk__text){0};
    wk__cleared **end = &context->cleared;
    while (*end) end = &(*end)->next;
    *end = kept;
}

void wk_clear_error(void)
{
    wk_context *context = wk__context();
    if (context->code != WK_OK) {
        context->nothing = (wk__nothing){0};
        snprintf(context->nothing.cleared, sizeof context->nothing.cleared, "%s", wk_error());
        if (context->unheard) keep_for_handler(context);
    }
    context->code = WK_OK;
    context->unheard = false;
    context->untold = context->cleared != NULL;
    wk__text_end(&context->error);
}

/* Of a call that the library makes for one of the program's the program has got nothing. */
void wk__gives_nothing(wk_site site, const void *kind, const char *call, const char *why)
{
    wk_context *context = wk__context();
    if (context->frame.outer.on) return;
    wk__nothing *nothing = &context->nothing;
    nothing->call = call;
    nothing->why = why;
    nothing->site = site;
    nothing->kind = kind;
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
    return context->frame.outer.on ? context->frame.outer.site : site;
}

/* The handler is the program's: it may never come back, and what it calls are calls of its own. */
static void call_handler(wk_context *context, wk_code code, const char *text)
{
    void *user;
    wk_error_handler *call = handler_now(&user);
    context->untold = context->cleared || context->unheard;
    if (!call) return;
    const wk__frame before = wk__frame_begin(context, WK__HANDLER, NULL, (wk_site){0});
    call(user, code, text);
    wk__frame_end(context, before);
}

static void free_cleared(void *address)
{
    wk__cleared *cleared = address;
    wk__text_end(&cleared->text);
    wk__free(cleared);
}

/* A guard has the text while the handler reads it. The call is busy meanwhile, so that what is still to be told is told
 * by the loop, not by the guard's end. */
static void tell_cleared(wk_context *context)
{
    const bool before = context->frame.outer.busy;
    context->frame.outer.busy = true;
    wk__cleared *const first = context->cleared;
    context->cleared = first->next;
    const uint64_t token = wk__guard_on(first, free_cleared);
    call_handler(context, first->code, first->text.data ? first->text.data : no_room);
    if (token)
        wk__guard_close(token);
    else
        free_cleared(first);
    context->frame.outer.busy = before;
}

void wk__tell_handler(wk_context *context)
{
    while (context->cleared) tell_cleared(context);
    const bool unheard = context->unheard;
    context->untold = context->unheard = false;
    if (unheard) call_handler(context, context->code, wk_error());
}

void wk__forget_cleared(wk_context *context)
{
    while (context->cleared) {
        wk__cleared *const first = context->cleared;
        context->cleared = first->next;
        free_cleared(first);
    }
}

/* How long the name is that a text begins with, "reshape: ..."; 0 for none. */
static size_t name_length(const char *text)
{
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return strncmp(text + length, ": ", 2) == 0 ? length : 0;
}

/* The text with the name that the program wrote in the place of the op's that the library called for it, and with the
 * layer, which need not be named twice. */
static void write_text(const wk_context *context, const char *text, wk__text *out)
{
    const wk__outer *outer = &context->frame.outer;
    const wk__layer *layer = context->frame.layer;
    const bool renamed = outer->on && outer->name;
    const int64_t begin = out->length;
    const char *kind = outer->on && layer && layer->library ? layer->describe(layer, out) : "";
    const size_t own = name_length(text), length = renamed ? strlen(outer->name) : own;
    const char *name = renamed ? outer->name : text;
    const bool said = out->length > begin && strncmp(out->data + begin, name, length) == 0; /* "forward: " */
    if (length > 0 && !said && (strncmp(name, kind, length) != 0 || kind[length]))
        wk__text_format(out, "%.*s%s: ", (int)length, name, wk__underscore(name, renamed && outer->in_place));
    wk__text_add(out, own ? text + own + 2 : text);
    if (!context->frame.callback) return;
    while (layer && layer->library) layer = layer->around;
    wk__text_add(out, " (");
    if (layer) layer->describe(layer, out);
    wk__text_format(out, "in %s)", context->frame.callback);
}

/* The first error counts: the text of a later one is dropped. */
void wk__error_take(wk_site site, wk_code code, wk__text *text)
{
    wk_context *context = wk__context();
    if (context->code != WK_OK) {
        wk__text_end(text);
        return;
    }
    context->code = code;
    wk__text *out = &context->error;
    wk__text_end(out);
    site = wk__site(site);
    if (site.file) wk__text_format(out, "%s:%d: ", site.file, (int)site.line);
    context->failed = site;
    context->said = out->length;
    write_text(context, text->data ? text->data : "out of memory", out);
    wk__text_escape(out, context->said);
    wk__text_end(text);
    if (context->quiet) return;
    context->unheard = true;
    if (context->frame.outer.busy)
        context->untold = true;
    else
        wk__tell_handler(context);
}

void wk__error_set(wk_site site, wk_code code, const char *format, ...)
{
    if (wk__error_pending()) return;
    wk__text text = {0};
    va_list args;
    va_start(args, format);
    wk__text_vformat(&text, format, args);
    va_end(args);
    wk__error_take(site, code, &text);
}
