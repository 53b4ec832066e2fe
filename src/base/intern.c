/* SPDX-License-Identifier: Apache-2.0 */
/* Hash table with chaining; see intern.h. Entries are never removed. */
#include "intern.h"
#include "alloc.h"
#include <string.h>

typedef struct name {
    struct name *next;
    char text[];
} name;

enum { LISTS = 4096 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static name *list[LISTS];

static name **list_of(const char *text)
{
    uint32_t hash = 2166136261u;
    for (const char *c = text; *c; c++) hash = (hash ^ (unsigned char)*c) * 16777619u;
    return &list[(hash ^ hash >> 16) % LISTS];
}

static name *made(const char *text, name *next)
{
    const size_t bytes = strlen(text) + 1;
    name *n = wk__alloc(sizeof *n + bytes);
    if (!n) return NULL;
    n->next = next;
    memcpy(n->text, text, bytes);
    return n;
}

const char *wk__intern(const char *text)
{
    if (!text) return NULL;
    pthread_mutex_lock(&lock);
    name **first = list_of(text), *n = *first;
    while (n && strcmp(n->text, text) != 0) n = n->next;
    if (!n && (n = made(text, *first))) *first = n;
    pthread_mutex_unlock(&lock);
    return n ? n->text : NULL;
}
