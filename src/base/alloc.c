/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory: the user's allocator, and the failure injection of tests; see alloc.h. */
#include "alloc.h"
#include "context.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <wick/core.h>

/* Written only before the first request (wk_set_allocator enforces this), so it is read without a lock. */
static struct {
    wk_realloc_fn *resize; /* NULL: the C library's allocator */
    void *user;
} program;

static _Atomic int64_t requests; /* requests so far */
static _Atomic int64_t fail_at;  /* number of the request that fails; 0: none */

/* Protects the list of pauses, which rarely has more than one element. Thread-local storage has no space for it
 * (context.h). */
static pthread_mutex_t pause_lock = PTHREAD_MUTEX_INITIALIZER;
static wk__alloc_untracked *pause_list;
static atomic_int pause_count; /* length of the list, read without the lock; usually 0 */

/* Counts a request; returns true if it must fail. */
static bool should_fail(void)
{
    if (wk__alloc_is_untracked()) return false;
    int64_t number = atomic_fetch_add_explicit(&requests, 1, memory_order_relaxed) + 1;
    return number == atomic_load_explicit(&fail_at, memory_order_relaxed);
}

/* Rounds an empty request up to one byte, so that NULL always means failure. */
static size_t at_least_one(size_t size)
{
    return size > 0 ? size : 1;
}

void *wk__alloc(size_t size)
{
    if (should_fail()) return NULL;
    size = at_least_one(size);
    return program.resize ? program.resize(program.user, NULL, size) : malloc(size);
}

void *wk__alloc_zero(size_t count, size_t size)
{
    size_t bytes;
    if (should_fail() || __builtin_mul_overflow(count, size, &bytes)) return NULL;
    bytes = at_least_one(bytes);
    if (!program.resize) return calloc(1, bytes);
    void *block = program.resize(program.user, NULL, bytes);
    return block ? memset(block, 0, bytes) : NULL;
}

void *wk__realloc(void *block, size_t count, size_t size)
{
    size_t bytes;
    if (should_fail() || __builtin_mul_overflow(count, size, &bytes)) return NULL;
    bytes = at_least_one(bytes);
    return program.resize ? program.resize(program.user, block, bytes) : realloc(block, bytes);
}

void wk__free(void *block)
{
    if (!block) return;
    if (program.resize) {
        program.resize(program.user, block, 0);
    } else {
        free(block);
    }
}

char *wk__strdup(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = wk__alloc(bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

bool wk__grow(void *array_address, int64_t *capacity, int64_t need, size_t size)
{
    if (need <= *capacity) return true;
    int64_t room = need < 8 ? 8 : need;
    if (*capacity <= INT64_MAX / 2 && room < *capacity * 2) room = *capacity * 2;

    /* copied by bytes: the caller's pointer is not a void *, and accessing it as one would break aliasing rules */
    void *array;
    memcpy(&array, array_address, sizeof array);
    array = wk__realloc(array, (size_t)room, size);
    if (!array) return false;
    memcpy(array_address, &array, sizeof array);
    *capacity = room;
    return true;
}

void wk__alloc_fail_at(int64_t n)
{
    atomic_store(&fail_at, n > 0 ? atomic_load(&requests) + n : 0);
}

int64_t wk__alloc_count(void)
{
    return atomic_load(&requests);
}

void wk__alloc_untracked_begin(wk__alloc_untracked *pause)
{
    pause->thread = pthread_self();
    pthread_mutex_lock(&pause_lock);
    pause->next = pause_list;
    pause_list = pause;
    atomic_fetch_add_explicit(&pause_count, 1, memory_order_relaxed);
    pthread_mutex_unlock(&pause_lock);
}

void wk__alloc_untracked_end(wk__alloc_untracked *pause)
{
    pthread_mutex_lock(&pause_lock);
    wk__alloc_untracked **place = &pause_list;
    while (*place != pause) place = &(*place)->next;
    *place = pause->next;
    atomic_fetch_sub_explicit(&pause_count, 1, memory_order_relaxed);
    pthread_mutex_unlock(&pause_lock);
}

bool wk__alloc_is_untracked(void)
{
    if (__builtin_expect(atomic_load_explicit(&pause_count, memory_order_relaxed) == 0, 1)) return false;
    pthread_mutex_lock(&pause_lock);
    const wk__alloc_untracked *pause = pause_list;
    while (pause && !pthread_equal(pause->thread, pthread_self())) pause = pause->next;
    pthread_mutex_unlock(&pause_lock);
    return pause != NULL;
}

void wk__alloc_after_fork(void)
{
    pthread_mutex_init(&pause_lock, NULL);
    pause_list = NULL;
    atomic_store(&pause_count, 0);
}

wk_code wk_set_allocator_at(wk_site site, wk_realloc_fn *resize, void *user)
{
    const wk_code code = !resize ? WK_ERR_ARGUMENT : wk__alloc_count() > 0 ? WK_ERR_STATE : WK_OK;
    if (code == WK_OK) {
        program.resize = resize;
        program.user = user;
    } else {
        wk__error_set(site, code, "set_allocator: %s",
                      resize ? "memory was already allocated with the previous allocator; call wk_set_allocator before "
                               "any other wk_ function"
                             : "the function is NULL");
    }
    return code;
}
