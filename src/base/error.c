/* The first error of a thread, and the program's handler for it. */
#include "context.h"
#include <string.h>

static pthread_mutex_t handler_lock = PTHREAD_MUTEX_INITIALIZER;
static wk_error_handler *handler;
static void *handler_user;

void wk_set_error_handler(wk_error_handler *new_handler, void *user)
{
    pthread_mutex_lock(&handler_lock);
    handler = new_handler;
    handler_user = user;
    pthread_mutex_unlock(&handler_lock);
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
    context->code = WK_OK;
    wk__text_end(&context->error);
}

int wk_report_error(FILE *out)
{
    const char *text = wk_error();
    if (!text) return 0;
    fputs(text, out);
    fputc('\n', out);
    return 1;
}

wk_site wk__site(wk_site site)
{
    const wk_context *context = wk__context();
    return context->outer.file ? context->outer : site;
}

static void tell_handler(wk_code code, const char *text)
{
    pthread_mutex_lock(&handler_lock);
    wk_error_handler *call = handler;
    void *user = handler_user;
    pthread_mutex_unlock(&handler_lock);
    if (call) call(user, code, text);
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
    wk__text_add_n(out, text->data ? text->data : "out of memory", text->data ? text->length : 13);
    if (context->callback) wk__text_format(out, " (in %s)", context->callback);
    wk__text_end(text);
    if (!context->quiet) tell_handler(code, wk_error());
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
