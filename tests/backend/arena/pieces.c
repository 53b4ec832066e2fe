/* SPDX-License-Identifier: Apache-2.0 */
/* The arena on a simulated backend: pieces never overlap; reuse; limits; failure of every allocation; release of idle
 * memory; threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "backend/arena/arena.h"
#include "base/alloc.h"

enum { MB = 1 << 20 };

/* ---- the device -------------------------------------------------------------------------------------------------- */

/* Blocks are either handles that are never dereferenced, or host memory. */
typedef struct device {
    bool host;
    int64_t takes, gives, held;
    int64_t fail_from, fail_until; /* allocations from number fail_from to fail_until - 1 fail */
    wk_code failure;
    uintptr_t next_handle;
    wk__arena *limited; /* its limit is set to one byte during an allocation, as another thread might do */
} device;

static wk_code block_take(void *user, int64_t bytes, wk__memory *block, wk__fail *fail)
{
    device *d = user;
    d->takes++;
    if (d->takes >= d->fail_from && d->takes < d->fail_until) return wk__fail_set(fail, d->failure, "device is full");
    if (d->limited) wk__arena_set_limit(d->limited, 1);
    *block = (wk__memory){.bytes = bytes};
    if (d->host) {
        block->block = block->host = aligned_alloc(WK__ALIGN, (size_t)bytes);
    } else {
        d->next_handle += 4096;
        block->block = (void *)d->next_handle;
    }
    d->held += bytes;
    return WK_OK;
}

static void block_give(void *user, wk__memory *block)
{
    device *d = user;
    d->gives++;
    d->held -= block->bytes;
    free(block->host);
}

static const wk__backend backend = {.block_alloc = block_take, .block_free = block_give};

static wk__memory take(wk__arena *arena, int64_t bytes)
{
    wk__fail fail;
    wk__memory piece;
    assert_int_equal(wk__arena_alloc(arena, bytes, &piece, &fail), WK_OK);
    assert_true(piece.bytes >= bytes);
    assert_int_equal(piece.offset % WK__ALIGN, 0);
    return piece;
}

static wk__arena_stats stats_of(wk__arena *arena)
{
    wk__arena_stats stats;
    wk__arena_stats_of(arena, &stats);
    return stats;
}

/* ---- pieces -------------------------------------------------------------------------------------------------- */

static void sizes(void **state)
{
    (void)state;
    device d = {0};
    wk__arena *arena = wk__arena_new(&backend, &d, INT64_MAX);
    int64_t asked = 0, least = 0;
    while (asked < 40 * MB) {
        wk__memory piece = take(arena, asked);
        assert_null(piece.host);
        assert_true(piece.bytes >= least); /* a larger request never yields less */
        if (asked <= 2048) assert_true(piece.bytes - asked <= WK__ALIGN);
        if (asked > 2048 && asked <= 2 * MB) assert_true(piece.bytes <= asked + asked / 8 + WK__ALIGN);
        if (asked > 2 * MB) assert_int_equal(piece.bytes, (asked + 2 * MB - 1) / (2 * MB) * (2 * MB));
        least = piece.bytes;
        wk__arena_free(arena, &piece);
        wk__arena_trim(arena);
        asked += asked % 3 == 0 ? 1 : asked / 50 + 1;
    }
    assert_int_equal(d.held, 0);
    assert_int_equal(stats_of(arena).live, 0);
    wk__arena_destroy(arena);
}

enum { SLOTS = 300 };

typedef struct slot {
    wk__memory piece;
    int64_t used; /* bytes requested; -1: free */
    unsigned char mark;
} slot;

static int64_t random_size(unsigned *seed)
{
    int64_t most = (int64_t)1 << (rand_r(seed) % 23);
    return rand_r(seed) % most;
}

static void fill_slot(wk__arena *arena, slot *s, unsigned *seed)
{
    s->used = random_size(seed);
    s->mark = (unsigned char)rand_r(seed);
    s->piece = take(arena, s->used);
    memset(s->piece.host, s->mark, (size_t)s->used);
}

static void empty_slot(wk__arena *arena, slot *s)
{
    for (int64_t k = 0; k < s->used; k += 1 + k / 8) assert_int_equal((unsigned char)s->piece.host[k], s->mark);
    if (s->used > 0) assert_int_equal((unsigned char)s->piece.host[s->used - 1], s->mark);
    wk__arena_free(arena, &s->piece);
    s->used = -1;
}

/* Allocates and frees pieces of all sizes; each keeps its contents. */
static void never_overlap(void **state)
{
    (void)state;
    device d = {.host = true};
    wk__arena *arena = wk__arena_new(&backend, &d, INT64_MAX);
    static slot slots[SLOTS];
    unsigned seed = 1;
    for (int k = 0; k < SLOTS; k++) slots[k].used = -1;
    for (int round = 0; round < 20000; round++) {
        slot *s = &slots[rand_r(&seed) % SLOTS];
        if (s->used >= 0) {
            empty_slot(arena, s);
        } else {
            fill_slot(arena, s, &seed);
        }
        if (round % 3000 == 2999) wk__arena_trim(arena);
        wk__arena_stats now = stats_of(arena);
        assert_int_equal(now.live + now.cached, d.held);
        assert_true(now.peak >= now.live);
    }
    for (int k = 0; k < SLOTS; k++) {
        if (slots[k].used >= 0) empty_slot(arena, &slots[k]);
    }
    assert_int_equal(stats_of(arena).live, 0);
    wk__arena_trim(arena);
    assert_int_equal(d.held, 0);
    wk__arena_destroy(arena);
}

static void pieces_are_reused(void **state)
{
    (void)state;
    device d = {0};
    wk__arena *arena = wk__arena_new(&backend, &d, INT64_MAX);
    wk__memory small = take(arena, 1000), large = take(arena, 40 * MB);
    wk__arena_free(arena, &small);
    wk__arena_free(arena, &large);
    wk__memory again = take(arena, 900);
    assert_ptr_equal(again.block, small.block);
    assert_int_equal(again.offset, small.offset);
    wk__memory fits = take(arena, 36 * MB); /* 40 MB exceed it by less than an eighth */
    assert_ptr_equal(fits.block, large.block);
    wk__arena_free(arena, &fits);
    int64_t misses = stats_of(arena).misses;
    wk__memory lesser = take(arena, 30 * MB); /* 40 MB would waste too much */
    assert_ptr_not_equal(lesser.block, large.block);
    assert_int_equal(stats_of(arena).misses, misses + 1);
    assert_int_equal(stats_of(arena).allocs, 5);
    wk__arena_destroy(arena); /* with live pieces; frees everything */
    assert_int_equal(d.held, 0);
}

/* Takes the smallest sufficient idle block, and among equal ones the most recently freed, which may be in a cache. */
static void best_fit(void **state)
{
    (void)state;
    device d = {0};
    wk__arena *arena = wk__arena_new(&backend, &d, INT64_MAX);
    wk__memory piece[6];
    static const int64_t size[6] = {70, 64, 66, 64, 68, 62};
    for (int k = 0; k < 6; k++) piece[k] = take(arena, size[k] * MB);
    for (int k = 0; k < 6; k++) wk__arena_free(arena, &piece[k]);
    static const int order[6] = {3, 1, 2, 4, 0, -1};
    for (int k = 0; k < 6; k++) {
        wk__memory found = take(arena, 63 * MB);
        if (order[k] >= 0) {
            assert_ptr_equal(found.block, piece[order[k]].block);
        } else {
            assert_int_equal(stats_of(arena).misses, 7);
        }
    }
    wk__arena_destroy(arena);
}

/* A phase with other sizes reuses the memory of the previous phase, except for the remainder of a block that both
 * split. */
static void phases_share_blocks(void **state)
{
    (void)state;
    enum { COUNT = 4096 };
    device d = {0};
    wk__arena *arena = wk__arena_new(&backend, &d, INT64_MAX);
    static wk__memory piece[COUNT];
    static const int64_t size[] = {10000, 5000, 256, 10000, 7777};
    int64_t held = 0;
    for (int phase = 0; phase < 50; phase++) {
        for (int k = 0; k < COUNT; k++) piece[k] = take(arena, size[phase % 5]);
        for (int k = 0; k < COUNT; k++) wk__arena_free(arena, &piece[k]);
        if (phase == 0) held = d.held;
        assert_true(d.held <= held + 16 * MB);
    }
    assert_true(held < COUNT * 10000 * 5 / 4);
    wk__arena_destroy(arena);
}

/* ---- limits -------------------------------------------------------------------------------------------------- */

static void limit_holds(void **state)
{
    (void)state;
    device d = {0};
    int64_t limit = 64 * MB + 1;
    wk__arena *arena = wk__arena_new(&backend, &d, limit);
    static wk__memory piece[10000];
    wk__fail fail;
    static const int64_t size[] = {256, 20000, MB, 5 * MB, 2 * MB + 256, 3 * MB - 256, 64 * MB};
    for (size_t s = 0; s < sizeof size / sizeof size[0]; s++) {
        int count = 0;
        while (count < 10000 && wk__arena_alloc(arena, size[s], &piece[count], &fail) == WK_OK) {
            count++;
            assert_true(d.held <= limit);
        }
        int64_t live = stats_of(arena).live;
        assert_int_equal(stats_of(arena).live + stats_of(arena).cached, d.held);
        if (count < 10000) {
            assert_int_equal(fail.code, WK_ERR_MEMORY);
            assert_true(limit - live < size[s] + size[s] / 8 + 2 * MB); /* only if it is almost full */
        }
        while (count > 0) wk__arena_free(arena, &piece[--count]);
    }
    assert_int_equal(wk__arena_alloc(arena, 64 * MB + 2, &piece[0], &fail), WK_ERR_MEMORY);
    assert_int_equal(wk__arena_alloc(arena, INT64_MAX, &piece[0], &fail), WK_ERR_MEMORY);
    wk__arena_destroy(arena);
    assert_int_equal(d.held, 0);
}

static void limit_is_reported(void **state)
{
    (void)state;
    device d = {0};
    wk__fail fail;
    wk__memory piece[3];
    wk__arena *arena = wk__arena_new(&backend, &d, 20 * MB);
    piece[0] = take(arena, 10 * MB);
    piece[1] = take(arena, 1536 * 1024);
    assert_int_equal(wk__arena_alloc(arena, 12 * MB + MB / 2, &piece[2], &fail), WK_ERR_MEMORY);
    assert_string_equal(fail.text, "requested 12.5 MiB, live 11.5 MiB, cached 512 KiB, limit 20 MiB (limit exceeded)");
    assert_int_equal(fail.tag, -1);
    wk__arena_free(arena, &piece[0]);
    piece[2] = take(arena, 12 * MB + MB / 2); /* the idle 10 MB were released first */
    assert_int_equal(d.gives, 1);
    wk__arena_destroy(arena);

    arena = wk__arena_new(&backend, &d, 1000); /* smaller than any block: exact sizes */
    piece[0] = take(arena, 200);
    piece[1] = take(arena, 500);
    assert_int_equal(wk__arena_alloc(arena, 1, &piece[2], &fail), WK_ERR_MEMORY);
    assert_string_equal(fail.text,
                        "requested 1 byte, live 768 bytes, cached 0 bytes, limit 1000 bytes (limit exceeded)");
    wk__arena_destroy(arena);
}

static void limit_falls_during_an_allocation(void **state)
{
    (void)state;
    static const int64_t bytes[] = {1000, 3 * MB};
    for (int k = 0; k < 2; k++) {
        device d = {0};
        wk__fail fail;
        wk__memory piece;
        d.limited = wk__arena_new(&backend, &d, 20 * MB);
        assert_int_equal(wk__arena_alloc(d.limited, bytes[k], &piece, &fail), WK_ERR_MEMORY);
        assert_non_null(strstr(fail.text, "limit 1 byte (limit exceeded)"));
        assert_int_equal(stats_of(d.limited).live, 0);
        wk__arena_destroy(d.limited);
        assert_int_equal(d.held, 0);
    }
}

static void limit_changes(void **state)
{
    (void)state;
    device d = {0};
    wk__fail fail;
    wk__arena *arena = wk__arena_new(&backend, &d, 100 * MB);
    wk__memory a = take(arena, 50 * MB), b = take(arena, 40 * MB);
    wk__arena_free(arena, &a);
    wk__arena_set_limit(arena, 60 * MB);
    assert_int_equal(d.held, 40 * MB);
    wk__arena_set_limit(arena, 30 * MB); /* below the live memory: allocations fail until enough is freed */
    assert_int_equal(wk__arena_alloc(arena, 256, &a, &fail), WK_ERR_MEMORY);
    assert_int_equal(stats_of(arena).peak, 90 * MB);
    wk__arena_free(arena, &b);
    wk__arena_reset_peak(arena);
    assert_int_equal(stats_of(arena).peak, 0);
    a = take(arena, 256);
    assert_int_equal(stats_of(arena).limit, 30 * MB);
    assert_int_equal(stats_of(arena).peak, 256);
    wk__arena_set_limit(arena, 1000); /* the block of a has room, but the limit does not permit it */
    assert_int_equal(wk__arena_alloc(arena, 1000, &b, &fail), WK_ERR_MEMORY);
    b = take(arena, 500);
    assert_true(stats_of(arena).live <= 1000);
    wk__arena_destroy(arena);
}

/* ---- failures ------------------------------------------------------------------------------------------------ */

static void full_device_is_retried(void **state)
{
    (void)state;
    device d = {.failure = WK_ERR_MEMORY};
    wk__fail fail;
    wk__arena *arena = wk__arena_new(&backend, &d, INT64_MAX);
    wk__memory idle = take(arena, 10 * MB), piece;
    wk__arena_free(arena, &idle);
    d.fail_from = 2, d.fail_until = 3;
    piece = take(arena, 30 * MB);
    assert_int_equal(d.gives, 1); /* the caches were released first */
    assert_int_equal(d.takes, 3);

    d.fail_from = 4, d.fail_until = INT64_MAX;
    assert_int_equal(wk__arena_alloc(arena, 1000, &idle, &fail), WK_ERR_MEMORY);
    assert_non_null(strstr(fail.text, "(device is full)"));
    assert_non_null(strstr(fail.text, "live 30 MiB, cached 0 bytes, limit none"));
    assert_int_equal(stats_of(arena).live, 30 * MB);
    d.fail_from = INT64_MAX;
    idle = take(arena, 1000);
    wk__arena_free(arena, &piece);
    wk__arena_destroy(arena);
    assert_int_equal(d.held, 0);
}

static void other_failures_are_passed_on(void **state)
{
    (void)state;
    device d = {.failure = WK_ERR_DEVICE_LOST, .fail_from = 2, .fail_until = INT64_MAX};
    wk__fail fail;
    wk__memory idle, piece;
    wk__arena *arena = wk__arena_new(&backend, &d, INT64_MAX);
    idle = take(arena, 10 * MB);
    wk__arena_free(arena, &idle);
    assert_int_equal(wk__arena_alloc(arena, 30 * MB, &piece, &fail), WK_ERR_DEVICE_LOST);
    assert_string_equal(fail.text, "device is full");
    assert_int_equal(d.takes, 2);
    assert_int_equal(d.gives, 0);
    wk__arena_destroy(arena);
}

/* Each host allocation fails once; nothing is lost and the arena continues to work. */
static void host_memory_runs_out(void **state)
{
    (void)state;
    static wk__memory piece[700];
    bool failed = true;
    for (int n = 1; failed; n++) {
        device d = {0};
        wk__fail fail;
        int64_t before = wk__alloc_count();
        wk__alloc_fail_at(n);
        wk__arena *arena = wk__arena_new(&backend, &d, INT64_MAX);
        if (!arena) continue;
        int count = 0, missing = 0;
        for (int k = 0; k < 700; k++) {
            if (wk__arena_alloc(arena, k % 10 == 0 ? 3 * MB : 1 + k * 100, &piece[count], &fail) == WK_OK) {
                count++;
            } else {
                missing++;
                assert_int_equal(fail.code, WK_ERR_MEMORY);
                assert_non_null(strstr(fail.text, "out of host memory"));
            }
        }
        failed = wk__alloc_count() - before >= n;
        assert_true(missing <= 1);
        wk__alloc_fail_at(1);
        while (count > 0) wk__arena_free(arena, &piece[--count]); /* freeing never allocates */
        wk__arena_trim(arena);
        wk__alloc_fail_at(0);
        assert_int_equal(stats_of(arena).live, 0);
        assert_int_equal(d.held, 0);
        wk__arena_destroy(arena);
    }
}

/* ---- release of idle memory -------------------------------------------------------------------------------------- */

static void idle_memory_is_released(void **state)
{
    (void)state;
    device d = {0};
    wk__arena *arena = wk__arena_new(&backend, &d, INT64_MAX);
    static wk__memory piece[600];
    for (int step = 0; step < 3; step++) { /* a step that frees all its memory finds it again */
        for (int k = 0; k < 600; k++) piece[k] = take(arena, k % 2 ? MB : 4 * MB);
        for (int k = 0; k < 600; k++) wk__arena_free(arena, &piece[k]);
        assert_int_equal(d.gives, 0);
    }
    int64_t peak = stats_of(arena).peak;
    assert_int_equal(peak, 1500LL * MB);
    wk__arena_set_idle_timeout(arena, 0);
    piece[0] = take(arena, 4 * MB);
    wk__arena_free(arena, &piece[0]);
    assert_true(d.gives > 0);
    assert_true(d.held <= peak / 4);
    assert_true(d.held >= peak / 4 - 16 * MB);

    wk__arena_reset_peak(arena);
    piece[0] = take(arena, 4 * MB);
    wk__arena_free(arena, &piece[0]);
    assert_true(d.held <= 256 * MB);
    assert_true(d.held >= 240 * MB);
    int64_t gives = d.gives; /* this much may stay idle indefinitely */
    for (int k = 0; k < 20; k++) piece[k] = take(arena, 4 * MB);
    for (int k = 0; k < 20; k++) wk__arena_free(arena, &piece[k]);
    assert_int_equal(d.gives, gives);
    wk__arena_destroy(arena);
}

/* One of two blocks stays in use; only the other one is released. */
static void used_memory_stays(void **state)
{
    (void)state;
    device d = {0};
    wk__arena *arena = wk__arena_new(&backend, &d, INT64_MAX);
    wk__memory unused = take(arena, 500 * MB), used = take(arena, 400 * MB);
    wk__arena_free(arena, &unused);
    wk__arena_free(arena, &used);
    wk__arena_set_idle_timeout(arena, 60);
    for (int round = 0; round < 30; round++) {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        used = take(arena, 400 * MB);
        wk__arena_free(arena, &used);
    }
    assert_int_equal(d.gives, 1);
    assert_int_equal(d.held, 400 * MB);
    wk__arena_destroy(arena);
}

/* ---- threads ------------------------------------------------------------------------------------------------- */

static void *allocate_and_free(void *arena)
{
    slot mine[20];
    unsigned seed = (unsigned)(uintptr_t)&mine;
    for (int k = 0; k < 20; k++) mine[k].used = -1;
    for (int round = 0; round < 4000; round++) {
        slot *s = &mine[rand_r(&seed) % 20];
        if (s->used >= 0) {
            empty_slot(arena, s);
        } else {
            fill_slot(arena, s, &seed);
        }
        if (round % 1000 == 999) wk__arena_trim(arena);
    }
    for (int k = 0; k < 20; k++) {
        if (mine[k].used >= 0) empty_slot(arena, &mine[k]);
    }
    return NULL;
}

static void many_threads(void **state)
{
    (void)state;
    device d = {.host = true};
    pthread_t thread[4];
    wk__arena *arena = wk__arena_new(&backend, &d, INT64_MAX);
    wk__arena_set_idle_timeout(arena, 0);
    for (int k = 0; k < 4; k++) assert_int_equal(pthread_create(&thread[k], NULL, allocate_and_free, arena), 0);
    for (int k = 0; k < 4; k++) pthread_join(thread[k], NULL);
    assert_int_equal(stats_of(arena).live, 0);
    assert_int_equal(stats_of(arena).cached, d.held);
    wk__arena_destroy(arena);
    assert_int_equal(d.held, 0);
}

/* Allocations that fail while others succeed. */
static void *compete_for_memory(void *arena)
{
    wk__memory mine[30];
    wk__fail fail;
    int count = 0;
    unsigned seed = (unsigned)(uintptr_t)&mine;
    for (int round = 0; round < 4000; round++) {
        bool wanted = count < 30 && rand_r(&seed) % 2;
        if (wanted && wk__arena_alloc(arena, random_size(&seed), &mine[count], &fail) == WK_OK) {
            mine[count].host[0] = 1;
            mine[count].host[mine[count].bytes - 1] = 1;
            count++;
        } else if (count > 0) {
            wk__arena_free(arena, &mine[--count]);
        }
    }
    while (count > 0) wk__arena_free(arena, &mine[--count]);
    return NULL;
}

static void many_threads_and_a_limit(void **state)
{
    (void)state;
    device d = {.host = true};
    pthread_t thread[4];
    wk__arena *arena = wk__arena_new(&backend, &d, 6 * MB);
    for (int k = 0; k < 4; k++) assert_int_equal(pthread_create(&thread[k], NULL, compete_for_memory, arena), 0);
    for (int k = 0; k < 4; k++) pthread_join(thread[k], NULL);
    assert_int_equal(stats_of(arena).live, 0);
    assert_int_equal(stats_of(arena).cached, d.held);
    assert_true(stats_of(arena).peak <= 6 * MB);
    assert_true(d.gives > 0); /* the limit was reached */
    wk__arena_destroy(arena);
    assert_int_equal(d.held, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(never_overlap),
        cmocka_unit_test(pieces_are_reused),
        cmocka_unit_test(best_fit),
        cmocka_unit_test(phases_share_blocks),
        cmocka_unit_test(limit_holds),
        cmocka_unit_test(limit_is_reported),
        cmocka_unit_test(limit_falls_during_an_allocation),
        cmocka_unit_test(limit_changes),
        cmocka_unit_test(full_device_is_retried),
        cmocka_unit_test(other_failures_are_passed_on),
        cmocka_unit_test(host_memory_runs_out),
        cmocka_unit_test(idle_memory_is_released),
        cmocka_unit_test(used_memory_stays),
        cmocka_unit_test(many_threads),
        cmocka_unit_test(many_threads_and_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
