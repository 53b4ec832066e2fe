/* SPDX-License-Identifier: Apache-2.0 */
/* The arena on a backend with ranges: release of idle memory, consistent tables after failed calls, threads. */
#include "device.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

/* ---- idle memory ------------------------------------------------------------------------------------------------- */

static void idle_memory_is_released(void **state)
{
    (void)state;
    device *d = device_new(INT64_MAX / 2, UNITS);
    wk__arena *arena = wk__arena_new(&backend, d, INT64_MAX);
    wk__memory piece[20];
    for (int step = 0; step < 3; step++) { /* a step that frees all its memory finds it again */
        for (int k = 0; k < 20; k++) piece[k] = take(arena, 20);
        for (int k = 0; k < 20; k++) wk__arena_free(arena, &piece[k]);
        assert_int_equal(d->unmaps, 0);
    }
    wk__arena_set_idle_timeout(arena, 0);
    piece[0] = take(arena, 2);
    wk__arena_free(arena, &piece[0]);
    assert_true(d->held <= 256 * MB && d->held > 256 * MB - WK__RANGE_MAPPING);
    const int64_t unmaps = d->unmaps; /* this much may stay idle indefinitely */
    for (int k = 0; k < 5; k++) piece[k] = take(arena, 20);
    for (int k = 0; k < 5; k++) wk__arena_free(arena, &piece[k]);
    assert_int_equal(d->unmaps, unmaps);

    wk__fail fail; /* blocks and mappings are counted together */
    wk__memory block[90];
    for (int k = 0; k < 90; k++) assert_int_equal(wk__arena_alloc(arena, 2 * MB, &block[k], &fail), WK_OK);
    for (int k = 0; k < 90; k++) wk__arena_free(arena, &block[k]);
    piece[0] = take(arena, 2);
    wk__arena_free(arena, &piece[0]);
    assert_true(d->held <= 256 * MB && d->held > 256 * MB - WK__RANGE_MAPPING);
    wk__arena_destroy(arena);
    free(d);
}

/* The part in constant use stays, the rest of the memory is released. */
static void used_memory_stays(void **state)
{
    (void)state;
    device *d = device_new(INT64_MAX / 2, UNITS);
    wk__arena *arena = wk__arena_new(&backend, d, INT64_MAX);
    wk__memory unused = take(arena, 200), wall = take(arena, 2), used = take(arena, 160);
    wk__arena_free(arena, &unused);
    wk__arena_free(arena, &used);
    wk__arena_set_idle_timeout(arena, 60);
    for (int round = 0; round < 30; round++) {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        used = take(arena, 160);
        assert_int_equal(unit_of(&used), 202);
        wk__arena_free(arena, &used);
    }
    /* the idle memory is reduced to 256 MB, with none in the other form */
    assert_int_equal(d->held, (160 + 2) * UNIT);
    wk__arena_free(arena, &wall);
    wk__arena_destroy(arena);
    free(d);
}

/* One idle span whose middle is used now and then: only the parts on both sides are released. */
static void used_middle_stays(void **state)
{
    (void)state;
    device *d = device_new(INT64_MAX / 2, UNITS);
    wk__arena *arena = wk__arena_new(&backend, d, INT64_MAX);
    wk__memory before = take(arena, 60), wall = take(arena, 2), used = take(arena, 136), other = take(arena, 2);
    wk__memory behind = take(arena, 62);
    wk__arena_set_idle_timeout(arena, 50);
    wk__arena_free(arena, &before);
    wk__arena_free(arena, &behind);
    wk__arena_free(arena, &used); /* more than 256 MB are idle, and all of it counts */
    nanosleep(&(struct timespec){.tv_nsec = 80000000}, NULL);
    used = take(arena, 136);
    assert_int_equal(unit_of(&used), 62);
    wk__arena_free(arena, &wall);
    wk__arena_free(arena, &other);
    assert_int_equal(d->unmaps, 0);
    wk__arena_free(arena, &used);
    assert_int_equal(d->unmaps, 2);
    assert_int_equal(d->held, (2 + 136 + 2) * UNIT);
    const int64_t maps = d->maps;
    used = take(arena, 140);
    assert_int_equal(unit_of(&used), 60);
    assert_int_equal(d->maps, maps);
    wk__arena_destroy(arena);
    assert_int_equal(d->held, 0);
    free(d);
}

/* Idle memory counts even if it cannot be released, because its blocks or mappings are partly in use: then more of the
 * other form is released. */
static void unreleasable_memory_counts(void **state)
{
    (void)state;
    enum { MANY = 30 };
    device *d = device_new(INT64_MAX / 2, UNITS);
    wk__arena *arena = wk__arena_new(&backend, d, INT64_MAX);
    wk__memory large[MANY], wall[MANY], small[8 * MANY];
    wk__fail fail;
    for (int k = 0; k < MANY; k++) {
        large[k] = take(arena, MAPPING);
        wk__arena_free(arena, &large[k]);
        wall[k] = take(arena, 2); /* at the start of each */
        large[k] = take(arena, MAPPING - 2);
    }
    for (int k = 0; k < 8 * MANY; k++) assert_int_equal(wk__arena_alloc(arena, 2 * MB, &small[k], &fail), WK_OK);
    for (int k = 0; k < MANY; k++) wk__arena_free(arena, &large[k]);
    wk__arena_set_idle_timeout(arena, 0);
    for (int k = 0; k < 8 * MANY; k++) wk__arena_free(arena, &small[k]); /* all blocks are released */
    assert_int_equal(stats_of(arena).cached, MANY * (MAPPING - 2) * UNIT);

    wk__arena_set_idle_timeout(arena, 1000000);
    for (int k = 0; k < 8 * MANY; k++) assert_int_equal(wk__arena_alloc(arena, 2 * MB, &small[k], &fail), WK_OK);
    for (int k = 0; k < 8 * MANY; k++) {
        if (k % 8 > 0) wk__arena_free(arena, &small[k]);
    }
    wk__arena_set_idle_timeout(arena, 0);
    for (int k = 0; k < MANY; k++) wk__arena_free(arena, &wall[k]); /* all mappings are released */
    assert_int_equal(stats_of(arena).cached, d->held - 2 * MB * MANY);
    assert_true(d->mapped == d->unmapped);
    wk__arena_destroy(arena);
    assert_int_equal(d->held, 0);
    free(d);
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

/* Each call of the backend fails in turn, once or permanently. */
static void each_call_fails(void **state)
{
    (void)state;
    static const wk_code code[] = {WK_ERR_MEMORY, WK_ERR_INTERNAL, WK_ERR_UNSUPPORTED};
    for (int c = 0; c < 6; c++) {
        bool reached = true;
        for (int64_t n = 1; reached; n++) {
            play p = {.d = device_new(500 * MB, UNITS), .seed = 7};
            p.d->fail_at = n;
            p.d->failure = code[c / 2];
            p.d->fails_on = c % 2 == 1;
            p.arena = wk__arena_new(&backend, p.d, INT64_MAX);
            play_on(&p, 500);
            reached = p.d->calls >= n && n < 120;
            play_out(&p);
        }
    }
}

static void errors_are_passed_on(void **state)
{
    (void)state;
    for (int64_t n = 1; n <= 2; n++) { /* of addresses, of memory */
        device *d = device_new(INT64_MAX / 2, UNITS);
        wk__arena *arena = wk__arena_new(&backend, d, INT64_MAX);
        wk__fail fail;
        wk__memory piece;
        d->failure = WK_ERR_DEVICE_LOST;
        d->fail_at = n;
        assert_int_equal(wk__arena_alloc(arena, 10 * MB, &piece, &fail), WK_ERR_DEVICE_LOST);
        assert_string_equal(fail.text, n == 1 ? "no addresses" : "no map");
        assert_int_equal(d->blocks, 0);
        piece = take(arena, 5); /* ranges are tried again */
        assert_true(in_range(&piece));
        wk__arena_destroy(arena);
        free(d);
    }
}

/* The device does not support ranges, or has no memory for them: blocks are used as before. */
static void blocks_replace_ranges(void **state)
{
    (void)state;
    for (int64_t n = 1; n <= 2; n++) {
        device *d = device_new(INT64_MAX / 2, UNITS);
        wk__arena *arena = wk__arena_new(&backend, d, INT64_MAX);
        d->failure = WK_ERR_UNSUPPORTED;
        d->fail_at = n;
        wk__memory piece = take(arena, 5), again;
        assert_false(in_range(&piece));
        wk__arena_free(arena, &piece);
        again = take(arena, 5);
        assert_ptr_equal(again.block, piece.block);
        again = take(arena, 6);
        assert_int_equal(d->blocks, 2);
        assert_int_equal(d->calls, n); /* no further attempts */
        wk__arena_destroy(arena);
        assert_int_equal(d->held, 0);
        free(d);
    }
}

/* Memory that cannot be unmapped stays idle, and is reused. */
static void memory_that_cannot_be_unmapped(void **state)
{
    (void)state;
    device *d = device_new(INT64_MAX / 2, UNITS);
    wk__arena *arena = wk__arena_new(&backend, d, INT64_MAX);
    wk__memory piece = take(arena, 40), again;
    wk__arena_free(arena, &piece);
    d->fail_at = d->calls + 1;
    wk__arena_trim(arena);
    assert_int_equal(stats_of(arena).cached, 40 * UNIT);
    again = take(arena, 40);
    assert_ptr_equal(again.block, piece.block);
    assert_int_equal(d->maps, 1);
    wk__arena_free(arena, &again);
    wk__arena_trim(arena);
    assert_int_equal(d->held, 0);
    wk__arena_destroy(arena);
    free(d);
}

/* Each host allocation fails once. */
static void host_memory_runs_out(void **state)
{
    (void)state;
    bool failed = true;
    for (int n = 1; failed; n++) {
        wk__memory piece[60];
        device *d = device_new(INT64_MAX / 2, UNITS);
        wk__fail fail;
        const int64_t before = wk__alloc_count();
        wk__alloc_fail_at(n);
        wk__arena *arena = wk__arena_new(&backend, d, INT64_MAX);
        int count = 0, missing = 0;
        for (int k = 0; k < 60 && arena; k++) {
            if (wk__arena_alloc(arena, (2 + k % 5) * UNIT, &piece[count], &fail) == WK_OK) {
                count++;
            } else {
                missing++;
                assert_int_equal(fail.code, WK_ERR_MEMORY);
                assert_non_null(strstr(fail.text, "out of host memory"));
            }
        }
        failed = wk__alloc_count() - before >= n;
        assert_true(missing <= 1);
        wk__alloc_fail_at(1); /* releasing never allocates */
        for (int k = 0; k < count; k += 2) wk__arena_free(arena, &piece[k]);
        for (int k = 1; k < count; k += 2) wk__arena_free(arena, &piece[k]);
        if (arena) wk__arena_trim(arena);
        wk__alloc_fail_at(0);
        assert_int_equal(d->held, 0);
        wk__arena_destroy(arena);
        assert_int_equal(d->gives, d->takes);
        free(d);
    }
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

typedef struct worker {
    wk__arena *arena;
    device *d;
    int number, refused;
} worker;

/* Owners of units are recorded without a lock, because each unit has at most one. */
static void *allocate_and_free(void *user)
{
    worker *w = user;
    wk__memory mine[12];
    wk__fail fail;
    int count = 0;
    unsigned seed = (unsigned)w->number;
    for (int round = 0; round < 3000; round++) {
        if (count < 12 && rand_r(&seed) % 2) {
            if (wk__arena_alloc(w->arena, (int64_t)(2 + rand_r(&seed) % 20) * UNIT, &mine[count], &fail) != WK_OK) {
                w->refused++;
                continue;
            }
            unit *u = units_at(w->d, mine[count].block, mine[count].bytes);
            for (int64_t k = 0; k < mine[count].bytes / UNIT; k++) {
                assert_int_equal(u[k].owner, 0);
                u[k].owner = w->number;
            }
            count++;
        } else if (count > 0) {
            const int which = rand_r(&seed) % count;
            unit *u = units_at(w->d, mine[which].block, mine[which].bytes);
            for (int64_t k = 0; k < mine[which].bytes / UNIT; k++) {
                assert_int_equal(u[k].owner, w->number);
                u[k].owner = 0;
            }
            wk__arena_free(w->arena, &mine[which]);
            mine[which] = mine[--count];
        }
        if (round % 500 == 499) wk__arena_trim(w->arena);
    }
    for (int k = 0; k < count; k++) {
        unit *u = units_at(w->d, mine[k].block, mine[k].bytes);
        for (int64_t m = 0; m < mine[k].bytes / UNIT; m++) u[m].owner = 0;
        wk__arena_free(w->arena, &mine[k]);
    }
    return NULL;
}

static void ignore_cut(void *user, const wk__memory *piece)
{
    (void)user, (void)piece;
}

static void many_threads(void **state)
{
    (void)state;
    wk__backend other = backend;
    other.range_carve = ignore_cut;
    for (int tight = 0; tight < 2; tight++) {
        device *d = device_new(tight ? 250 * MB : INT64_MAX / 2, UNITS);
        pthread_t thread[4];
        worker w[4];
        wk__arena *arena = wk__arena_new(&other, d, INT64_MAX);
        wk__arena_set_idle_timeout(arena, 0);
        for (int k = 0; k < 4; k++) {
            w[k] = (worker){.arena = arena, .d = d, .number = k + 1};
            assert_int_equal(pthread_create(&thread[k], NULL, allocate_and_free, &w[k]), 0);
        }
        int refused = 0;
        for (int k = 0; k < 4; k++) {
            pthread_join(thread[k], NULL);
            refused += w[k].refused;
        }
        assert_true(tight ? refused > 0 : refused == 0);
        assert_int_equal(stats_of(arena).live, 0);
        assert_int_equal(stats_of(arena).cached, d->held);
        wk__arena_destroy(arena);
        assert_int_equal(d->held, 0);
        free(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_memory_is_released), cmocka_unit_test(used_memory_stays),
        cmocka_unit_test(used_middle_stays),       cmocka_unit_test(unreleasable_memory_counts),
        cmocka_unit_test(each_call_fails),         cmocka_unit_test(errors_are_passed_on),
        cmocka_unit_test(blocks_replace_ranges),   cmocka_unit_test(memory_that_cannot_be_unmapped),
        cmocka_unit_test(host_memory_runs_out),    cmocka_unit_test(many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
