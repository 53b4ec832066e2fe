/* Logging; see log.h. */
#include "log.h"
#include "alloc.h"
#include "text.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wick/log.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_int subjects;
static wk_log_callback *callback;
static void *callback_user;
static FILE *file; /* WICK_LOG_FILE, opened at the first use and kept */
static struct place {
    wk_site site;
    int subject;
} * places; /* that have spoken */
static int64_t place_count, place_capacity;

static const struct {
    const char *name;
    int subject;
} names[] = {{"placement", WK__LOG_PLACEMENT}, {"sync", WK__LOG_SYNC}, {"kernel", WK__LOG_KERNEL}};

static int parse(const char *text)
{
    int found = 0;
    for (size_t k = 0; text && k < sizeof names / sizeof *names; k++)
        if (strstr(text, names[k].name)) found |= names[k].subject;
    return found;
}

static void read_environment(void)
{
    const char *path = getenv("WICK_LOG_FILE");
    if (path) file = fopen(path, "ae");
    if (file) atomic_store(&subjects, parse(getenv("WICK_LOG")));
}

void wk_set_log(const char *wanted, wk_log_callback *call, void *user)
{
    pthread_once(&once, read_environment);
    pthread_mutex_lock(&lock);
    callback = call;
    callback_user = user;
    place_count = 0;
    atomic_store(&subjects, parse(wanted));
    pthread_mutex_unlock(&lock);
}

bool wk__log_on(int subject)
{
    pthread_once(&once, read_environment);
    return atomic_load_explicit(&subjects, memory_order_relaxed) & subject;
}

void wk__log(int subject, wk_site site, const char *format, ...)
{
    if (!wk__log_on(subject)) return;
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
    wk__text_end(&line);
}

static bool heard(const struct place *place, int subject, wk_site site)
{
    return place->subject == subject && place->site.line == site.line &&
           (place->site.file == site.file ||
            (site.file && place->site.file && strcmp(place->site.file, site.file) == 0));
}

bool wk__log_first(int subject, wk_site site)
{
    if (!wk__log_on(subject)) return false;
    bool known = false;
    pthread_mutex_lock(&lock);
    for (int64_t k = 0; k < place_count && !known; k++) known = heard(&places[k], subject, site);
    if (!known && wk__grow(&places, &place_capacity, place_count + 1, sizeof *places))
        places[place_count++] = (struct place){site, subject};
    pthread_mutex_unlock(&lock);
    return !known;
}
