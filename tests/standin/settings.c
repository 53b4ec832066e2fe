/* SPDX-License-Identifier: Apache-2.0 */
/* Implements settings.h. */
#include "settings.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- settings ---------------------------------------------------------------------------------------------------- */

int standin_number(const char *variable, int k, int otherwise)
{
    const char *text = getenv(variable);
    if (text == NULL || text[0] == '\0') return otherwise;
    for (const char *comma; k > 0 && (comma = strchr(text, ',')) != NULL; k--) text = comma + 1;
    return atoi(text);
}

/* Returns the text after "key=" in the list, or NULL. */
static const char *find_value(const char *list, const char *key)
{
    const size_t length = strlen(key);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        if (*at == ',') at++;
        if (strncmp(at, key, length) == 0 && at[length] == '=') return at + length + 1;
    }
    return NULL;
}

int standin_keyed(const char *variable, const char *key, int otherwise)
{
    const char *number = find_value(getenv(variable), key);
    return number != NULL ? atoi(number) : otherwise;
}

/* ---- call counts ------------------------------------------------------------------------------------------------- */

enum { MOST_CALLS = 128 };

static struct {
    pthread_mutex_t lock;
    struct {
        const char *name; /* string constants, not copied */
        long times, since;
    } call[MOST_CALLS];
    int calls;
    char errors[256]; /* last value of STANDIN_ERRORS; `since` counts calls from its change */
    void (*hook)(const char *name);
} made = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int find(const char *name)
{
    int k = 0;
    while (k < made.calls && strcmp(made.call[k].name, name) != 0) k++;
    return k;
}

static void write_counts(void)
{
    const char *path = getenv("STANDIN_COUNTS");
    FILE *file = path != NULL ? fopen(path, "a") : NULL;
    if (file == NULL) return;
    for (int k = 0; k < made.calls; k++) fprintf(file, "%s %ld\n", made.call[k].name, made.call[k].times);
    fclose(file);
}

static void watch_exit(void)
{
    atexit(write_counts);
}

/* Returns the error of call k: "name=error" for each call of that name, "name=error@n" for the n-th since the variable
 * was set, "name=error@n+" for that and all later ones. 0: none. */
static int error_of(const char *list, int k)
{
    const char *number = find_value(list, made.call[k].name);
    if (number == NULL) return 0;
    char *end;
    const int error = (int)strtol(number, &end, 10);
    const long number_of = *end == '@' ? strtol(end + 1, &end, 10) : 1, since = made.call[k].since;
    const bool all = number[strcspn(number, "@,")] != '@' || *end == '+';
    return (all ? since >= number_of : since == number_of) ? error : 0;
}

int standin_count_call(const char *name)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_exit);
    const char *list = getenv("STANDIN_ERRORS");
    if (list == NULL) list = "";
    pthread_mutex_lock(&made.lock);
    if (strncmp(made.errors, list, sizeof made.errors - 1) != 0) {
        snprintf(made.errors, sizeof made.errors, "%s", list);
        for (int k = 0; k < made.calls; k++) made.call[k].since = 0;
    }
    const int k = find(name);
    int error = 0;
    if (k == made.calls && k < MOST_CALLS) made.call[made.calls++].name = name;
    if (k < made.calls) {
        made.call[k].times++;
        made.call[k].since++;
        error = error_of(list, k);
    }
    void (*hook)(const char *) = made.hook;
    pthread_mutex_unlock(&made.lock);
    if (hook != NULL) hook(name);
    return error;
}

__attribute__((visibility("default"))) long standin_count(const char *name)
{
    pthread_mutex_lock(&made.lock);
    const int k = find(name);
    const long times = k < made.calls ? made.call[k].times : 0;
    pthread_mutex_unlock(&made.lock);
    return times;
}

__attribute__((visibility("default"))) void standin_set_hook(void (*hook)(const char *name))
{
    pthread_mutex_lock(&made.lock);
    made.hook = hook;
    pthread_mutex_unlock(&made.lock);
}
