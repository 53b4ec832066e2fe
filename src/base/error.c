/* SPDX-License-Identifier: Apache-2.0 */
/* The first error of a thread, and the program's handler for it. */
#include "context.h"
#include <string.h>

pthread_mutex_t wk__handler_lock = PTHREAD_MUTEX_INITIALIZER;
static wk_error_handler *handler;
static void *handler_user;

void wk_set_error_handler(wk_error_handler *new_handler, void *user)
{
    pthread_mutex_lock(&wk__handler_lock);
    handler = new_handler;
    handler_user = user;
    pthread_mutex_unlock(&wk__handler_lock);
}

const char *wk_error(void)
{
    const wk_context *context = wk__context();
    if (context->code == WK_OK) return NULL;
    return context->error.data ? context->error.data : "out of memory (not even the message of the error fits)";
}

wk_code wk_error_code(void)
{
    return wk__context()->code;
}

void wk_clear_error(void)
{
    wk_context *context = wk__context();
    if (context->code != WK_OK) {
        context->nothing = (wk__nothing){0};
        snprintf(context->nothing.cleared, sizeof context->nothing.cleared, "%s", wk_error());
    }
    context->code = WK_OK;
    context->untold = false;
    wk__text_end(&context->error);
}

void wk__gives_nothing(wk_site site, const char *call, const char *why)
{
    wk__context()->nothing = (wk__nothing){.call = call, .why = why, .site = site};
}

int wk_report_error(FILE *out)
{
    const char *text = wk_error();
    if (!text) return 0;
    fprintf(out ? out : stderr, "%s\n", text);
    return 1;
}

wk_site wk__site(wk_site site)
{
    const wk_context *context = wk__context();
    return context->frame.outer.on ? context->frame.outer.site : site;
}

/* The handler is the program's: it may never come back, and what it calls are calls of its own. */
void wk__tell_handler(wk_context *context)
{
    context->untold = false;
    pthread_mutex_lock(&wk__handler_lock);
    wk_error_handler *call = handler;
    void *user = handler_user;
    pthread_mutex_unlock(&wk__handler_lock);
    if (!call) return;
    const wk__frame before = wk__frame_enter(context, NULL);
    call(user, context->code, wk_error());
    wk__frame_leave(context, &before);
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
    write_text(context, text->data ? text->data : "out of memory", out);
    wk__text_end(text);
    if (context->quiet) return;
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
