/* SPDX-License-Identifier: Apache-2.0 */
/* Log sinks and subjects; see log.h. */
#include "log.h"
#include "alloc.h"
#include "context.h"
#include "environment.h"
#include "text.h"
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>
#include <wick/log.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_int subjects; /* bit set of enabled subjects */
static wk_log_callback *callback;
static void *callback_user;
static struct redirection {
    bool on;
    int subjects; /* saved settings */
    wk_log_callback *callback;
    void *user;
} redirection;
static FILE *file; /* WICK_LOG_FILE, opened at first use and never closed; stderr if only WICK_LOG is set */
static struct logged_site {
    wk_site site;
    int subject;
} * logged; /* sites already logged */
static int64_t logged_count, logged_capacity;

#define NO_SUBJECT "unknown log subject \"%.*s\"; expected %s"

static void read_environment(void)
{
    const char *path = wk__setting_text(WK__SETTING_LOG_FILE), *wanted = wk__setting_text(WK__SETTING_LOG), *unknown;
    int length = 0;
    if (path && !*path) return; /* an empty name disables the log */
    if (path) file = fopen(path, "ae");
    /* WICK_LOG without a usable file means an interactive user: log to stderr */
    if (!file && wanted) file = stderr;
    if (!file) return;
    if (path && file == stderr) fprintf(file, "WICK_LOG_FILE: cannot write %s; logging to stderr\n", path);
    atomic_store(&subjects, wk__setting_parse_flags(WK__SETTING_LOG, wanted, &unknown, &length));
    if (unknown) fprintf(file, "WICK_LOG: " NO_SUBJECT "\n", length, unknown, wk__setting_takes(WK__SETTING_LOG));
}

wk_code wk_set_log_at(wk_site site, const char *wanted, wk_log_callback *call, void *user)
{
    const char *unknown;
    int length = 0, found = wk__setting_parse_flags(WK__SETTING_LOG, wanted, &unknown, &length);
    if (unknown) {
        wk__error_set(site, WK_ERR_ARGUMENT, "set_log: " NO_SUBJECT, length > 60 ? 60 : length, unknown,
                      wk__setting_takes(WK__SETTING_LOG));
        return WK_ERR_ARGUMENT;
    }
    pthread_once(&once, read_environment);
    pthread_mutex_lock(&lock);
    callback = call;
    callback_user = user;
    logged_count = 0;
    atomic_store(&subjects, found);
    pthread_mutex_unlock(&lock);
    return WK_OK;
}

bool wk__log_enabled(int subject)
{
    pthread_once(&once, read_environment);
    return atomic_load_explicit(&subjects, memory_order_relaxed) >> subject & 1;
}

void wk__log(int subject, wk_site site, const char *format, ...)
{
    if (!wk__log_enabled(subject)) return;
    wk__text line = {0};
    va_list args;
    va_start(args, format);
    if (site.file) wk__text_format(&line, "%s:%d: ", site.file, (int)site.line);
    wk__text_vformat(&line, format, args);
    va_end(args);
    pthread_mutex_lock(&lock);
    wk_log_callback *call = callback;
    void *user = callback_user;
    if (!call && file && line.data) {
        fprintf(file, "%s\n", line.data);
        fflush(file);
    }
    pthread_mutex_unlock(&lock);
    if (call && line.data) call(user, line.data);
    wk__text_free(&line);
}

static bool is_same_site(const struct logged_site *place, int subject, wk_site site)
{
    return place->subject == subject && place->site.line == site.line &&
           (place->site.file == site.file ||
            (site.file && place->site.file && strcmp(place->site.file, site.file) == 0));
}

bool wk__log_first_at_site(int subject, wk_site site)
{
    if (!wk__log_enabled(subject)) return false;
    bool known = false;
    pthread_mutex_lock(&lock);
    if (redirection.on) {
        pthread_mutex_unlock(&lock);
        return true;
    }
    for (int64_t k = 0; k < logged_count && !known; k++) known = is_same_site(&logged[k], subject, site);
    if (!known && wk__grow(&logged, &logged_capacity, logged_count + 1, sizeof *logged))
        logged[logged_count++] = (struct logged_site){site, subject};
    pthread_mutex_unlock(&lock);
    return !known;
}

void wk__log_redirect(int subject, wk_log_callback *call, void *user)
{
    pthread_once(&once, read_environment);
    pthread_mutex_lock(&lock);
    if (call && !redirection.on)
        redirection = (struct redirection){true, atomic_load(&subjects), callback, callback_user};
    if (!call) redirection.on = false;
    callback = call ? call : redirection.callback;
    callback_user = call ? user : redirection.user;
    atomic_store(&subjects, call ? 1 << subject : redirection.subjects);
    pthread_mutex_unlock(&lock);
}
