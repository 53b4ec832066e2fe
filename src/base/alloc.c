/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory of the library and the two hooks on it: the program's own allocator, and the failure that tests order. */
#include "alloc.h"
#include "context.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <wick/core.h>

/* Written before the first request only (wk_set_allocator sees to that), so it is read without a lock. */
static struct {
    wk_resize *resize; /* NULL: the C library's */
    void *user;
} program;

static _Atomic int64_t requests; /* made so far */
static _Atomic int64_t doomed;   /* the number of the request that fails; 0: none */

/* Counts a request; true when it is the one that has to fail. */
static bool refused(void)
{
    int64_t number = atomic_fetch_add_explicit(&requests, 1, memory_order_relaxed) + 1;
    return number == atomic_load_explicit(&doomed, memory_order_relaxed);
}

/* An empty request gets a byte, so that NULL always means that memory is short. */
static size_t at_least_one(size_t size)
{
    return size > 0 ? size : 1;
}

void *wk__alloc(size_t size)
{
    if (refused()) return NULL;
    size = at_least_one(size);
    return program.resize ? program.resize(program.user, NULL, size) : malloc(size);
}

void *wk__alloc_zero(size_t count, size_t size)
{
    size_t bytes;
    if (refused() || __builtin_mul_overflow(count, size, &bytes)) return NULL;
    bytes = at_least_one(bytes);
    if (!program.resize) return calloc(1, bytes);
    void *block = program.resize(program.user, NULL, bytes);
    return block ? memset(block, 0, bytes) : NULL;
}

void *wk__realloc(void *block, size_t count, size_t size)
{
    size_t bytes;
    if (refused() || __builtin_mul_overflow(count, size, &bytes)) return NULL;
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

    void *array; /* the caller's pointer has a type of its own: copied as bytes, not through a void ** */
    memcpy(&array, array_address, sizeof array);
    array = wk__realloc(array, (size_t)room, size);
    if (!array) return false;
    memcpy(array_address, &array, sizeof array);
    *capacity = room;
    return true;
}

void wk__alloc_fail_at(int64_t n)
{
    atomic_store(&doomed, n > 0 ? atomic_load(&requests) + n : 0);
}

int64_t wk__alloc_count(void)
{
    return atomic_load(&requests);
}

wk__alloc_pause wk__alloc_pause_begin(void)
{
    const int64_t doomed_now = atomic_exchange(&doomed, 0);
    return (wk__alloc_pause){atomic_load(&requests), doomed_now};
}

void wk__alloc_pause_end(wk__alloc_pause before)
{
    atomic_store(&requests, before.requests);
    atomic_store(&doomed, before.doomed);
}

wk_code wk_set_allocator_at(wk_site site, wk_resize *resize, void *user)
{
    const wk_code code = !resize ? WK_ERR_ARGUMENT : wk__alloc_count() > 0 ? WK_ERR_STATE : WK_OK;
    if (code == WK_OK) {
        program.resize = resize;
        program.user = user;
    } else {
        wk__error_set(site, code, "set_allocator: %s",
                      resize ? "the library has memory of the old one already; call it before anything else"
                             : "the function is NULL");
    }
    return code;
}
