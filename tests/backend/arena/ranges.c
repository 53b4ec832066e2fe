/* SPDX-License-Identifier: Apache-2.0 */
/* The arena on a backend with ranges: placement of large pieces, the amount of mapped memory, and release of memory
 * under pressure. */
#include "device.h"

/* ---- random operations ------------------------------------------------------------------------------------------- */

static void never_overlap(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 6; seed++) {
        play p = {.d = device_new(INT64_MAX / 2, UNITS), .seed = seed};
        p.arena = wk__arena_new(&backend, p.d, INT64_MAX);
        if (seed % 2 == 0) wk__arena_set_idle_timeout(p.arena, 0);
        play_on(&p, 4000);
        assert_int_equal(p.refused, 0);
        assert_true(p.d->unmaps > 0);
        play_out(&p);
    }
}

/* The arena's limit and the device's capacity are reached repeatedly. */
static void never_overlap_under_pressure(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 6; seed++) {
        play p = {.d = device_new(seed % 2 ? 400 * MB : INT64_MAX / 2, UNITS), .seed = seed};
        p.arena = wk__arena_new(&backend, p.d, seed % 2 ? INT64_MAX : 401 * MB);
        play_on(&p, 4000);
        assert_true(p.refused > 0 && p.refused < 2000);
        play_out(&p);
    }
}

/* ---- placement --------------------------------------------------------------------------------------------------- */

/* Varying sizes need no more memory than the maximum in use at a time. */
static void sizes_vary(void **state)
{
    (void)state;
    device *d = device_new(INT64_MAX / 2, UNITS);
    wk__arena *arena = wk__arena_new(&backend, d, INT64_MAX);
    wk__memory piece[4];
    for (int step = 0; step < 50; step++) {
        const int64_t size = 20 - step * 7 % 17; /* 20 comes first */
        for (int k = 0; k < 4; k++) piece[k] = take(arena, size);
        for (int k = 0; k < 4; k++) wk__arena_free(arena, &piece[k]);
        assert_int_equal(d->mapped, 80 * UNIT);
    }
    assert_int_equal(d->maps, 4);
    assert_int_equal(d->unmaps, 0);
    assert_int_equal(d->blocks, 0);
    assert_int_equal(stats_of(arena).misses, 4);
    assert_int_equal(stats_of(arena).allocs, 200);
    assert_int_equal(d->cuts, 200);
    wk__arena_destroy(arena);
    assert_int_equal(d->held, 0);
    free(d);
}

static void best_fit(void **state)
{
    (void)state;
    device *d = device_new(INT64_MAX / 2, UNITS);
    wk__arena *arena = wk__arena_new(&backend, d, INT64_MAX);
    wk__memory piece[9];
    static const int64_t size[9] = {9, 2, 6, 2, 8, 2, 6, 2, 7};
    for (int k = 0; k < 9; k++) piece[k] = take(arena, size[k]);
    const int64_t maps = d->maps;
    for (int k = 0; k < 9; k += 2) wk__arena_free(arena, &piece[k]);
    wk__memory found = take(arena, 6); /* of two that fit, the lower address */
    assert_ptr_equal(found.block, piece[2].block);
    found = take(arena, 5);
    assert_ptr_equal(found.block, piece[6].block);
    found = take(arena, 7);
    assert_ptr_equal(found.block, piece[8].block);
    found = take(arena, 3);
    assert_ptr_equal(found.block, piece[4].block);
    wk__memory rest = take(arena, 5); /* in the same span */
    assert_int_equal(unit_of(&rest), unit_of(&found) + 3);
    wk__arena_free(arena, &found);
    wk__arena_free(arena, &rest);
    found = take(arena, 8); /* the two are merged */
    assert_ptr_equal(found.block, piece[4].block);
    assert_int_equal(d->maps, maps);
    wk__arena_destroy(arena);
    assert_int_equal(d->held, 0);
    free(d);
}

/* Idle memory next to unmapped addresses becomes part of the piece. */
static void minimum_is_mapped(void **state)
{
    (void)state;
    device *d = device_new(INT64_MAX / 2, UNITS);
    wk__arena *arena = wk__arena_new(&backend, d, INT64_MAX);
    wk__memory a = take(arena, 20), b = take(arena, 30), c = take(arena, 25);
    assert_int_equal(unit_of(&c), 50);
    wk__arena_free(arena, &c);
    wk__memory longer = take(arena, 40);
    assert_int_equal(unit_of(&longer), 50);
    assert_int_equal(d->mapped, 90 * UNIT);

    wk__arena_free(arena, &b);
    wk__arena_trim(arena); /* a | 30 unmapped | longer */
    assert_int_equal(d->unmapped, 30 * UNIT);
    b = take(arena, 12);
    assert_int_equal(unit_of(&b), 20); /* of equally good spans, the first */
    wk__memory e = take(arena, 18);
    assert_int_equal(unit_of(&e), 32);
    wk__arena_free(arena, &b);
    wk__arena_trim(arena);
    wk__arena_free(arena, &e); /* a | 12 unmapped | 18 idle | longer */
    const int64_t mapped = d->mapped;
    wk__memory f = take(arena, 21);
    assert_int_equal(unit_of(&f), 29); /* all idle units, after the unmapped ones before them */
    assert_int_equal(d->mapped, mapped + 3 * UNIT);
    wk__arena_free(arena, &f);
    f = take(arena, 30);
    assert_int_equal(unit_of(&f), 20);
    assert_int_equal(d->mapped, mapped + 12 * UNIT);
    wk__arena_free(arena, &a);
    wk__arena_free(arena, &f);
    wk__arena_free(arena, &longer);
    wk__arena_destroy(arena);
    assert_int_equal(d->held, 0);
    free(d);
}

/* Idle memory on both sides of an unmapped part: all of it must be considered. */
static void both_neighbours_are_considered(void **state)
{
    (void)state;
    device *d = device_new(INT64_MAX / 2, 60);
    wk__arena *arena = wk__arena_new(&backend, d, INT64_MAX);
    wk__memory piece[6];
    static const int64_t size[6] = {10, 6, 10, 4, 10, 20};
    for (int k = 0; k < 6; k++) piece[k] = take(arena, size[k]);
    wk__arena_free(arena, &piece[1]);
    wk__arena_free(arena, &piece[3]);
    wk__arena_trim(arena); /* 10 | 6 unmapped | 10 | 4 unmapped | 10 | 20 */
    wk__arena_free(arena, &piece[0]);
    wk__arena_free(arena, &piece[2]);
    wk__arena_free(arena, &piece[4]);
    const int64_t mapped = d->mapped;
    wk__memory found = take(arena, 22); /* 10 + 4 + 8 of 10, not 10 + 6 + 6 of 10 */
    assert_int_equal(unit_of(&found), 16);
    assert_int_equal(d->mapped, mapped + 4 * UNIT);
    wk__arena_destroy(arena);
    assert_int_equal(d->held, 0);
    free(d);
}

/* Few large pieces are replaced by many small ones and every second is freed: the tables have room for each span. */
static void many_spans(void **state)
{
    (void)state;
    enum { LONG = 29, SHORT = LONG * MAPPING / 2 };
    device *d = device_new(INT64_MAX / 2, UNITS);
    wk__arena *arena = wk__arena_new(&backend, d, INT64_MAX);
    wk__memory piece[SHORT];
    for (int k = 0; k < LONG; k++) piece[k] = take(arena, MAPPING);
    for (int k = 0; k < LONG; k++) wk__arena_free(arena, &piece[k]);
    for (int k = 0; k < SHORT; k++) piece[k] = take(arena, 2);
    for (int k = 0; k < SHORT; k += 2) wk__arena_free(arena, &piece[k]);
    for (int k = 0; k < SHORT; k += 2) piece[k] = take(arena, 2);
    assert_int_equal(d->mapped, (int64_t)LONG * WK__RANGE_MAPPING);
    assert_int_equal(stats_of(arena).cached, 0);
    for (int k = 0; k < SHORT; k++) wk__arena_free(arena, &piece[k]);
    wk__arena_destroy(arena);
    assert_int_equal(d->held, 0);
    free(d);
}

/* If no span of a range is long enough, another range is reserved. */
static void exhausted_range_is_followed_by_another(void **state)
{
    (void)state;
    device *d = device_new(INT64_MAX / 2, 32);
    wk__arena *arena = wk__arena_new(&backend, d, INT64_MAX);
    wk__memory piece[4];
    for (int k = 0; k < 4; k++) {
        piece[k] = take(arena, 20);
        own(d, &piece[k], k + 1);
    }
    assert_int_equal(d->takes, 4);
    for (int k = 0; k < 4; k++) {
        disown(d, &piece[k], k + 1);
        wk__arena_free(arena, &piece[k]);
    }
    const int64_t maps = d->maps; /* idle memory of all ranges is reused, whichever is the newest */
    for (int k = 0; k < 4; k++) piece[k] = take(arena, 20);
    assert_int_equal(d->maps, maps);
    for (int k = 0; k < 4; k++) piece[k] = take(arena, 10); /* and so are their remaining addresses */
    assert_int_equal(d->takes, 4);
    wk__memory beyond = take(arena, 33); /* longer than any range: a block */
    assert_false(in_range(&beyond));
    wk__arena_destroy(arena);
    assert_int_equal(d->gives, 4);
    assert_int_equal(d->held, 0);
    free(d);
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

static void limit_releases_idle_memory(void **state)
{
    (void)state;
    device *d = device_new(INT64_MAX / 2, UNITS);
    wk__arena *arena = wk__arena_new(&backend, d, 64 * MB + 1);
    wk__fail fail;
    wk__memory a = take(arena, 10), b = take(arena, 10), more;
    wk__arena_free(arena, &a);
    assert_int_equal(wk__arena_alloc(arena, 50 * MB, &more, &fail), WK_ERR_MEMORY);
    assert_string_equal(fail.text, "requested 50 MiB, live 20 MiB, cached 0 bytes, limit 64 MiB (limit exceeded)");
    more = take(arena, 22); /* all the memory that is left */
    assert_int_equal(stats_of(arena).live, 64 * MB);
    assert_int_equal(d->held, 64 * MB);
    wk__arena_free(arena, &more);
    wk__arena_set_limit(arena, 30 * MB); /* idle memory is released */
    assert_int_equal(d->held, 20 * MB);
    assert_int_equal(wk__arena_alloc(arena, 4 * MB, &more, &fail), WK_OK);
    wk__arena_free(arena, &more);
    wk__arena_set_limit(arena, 22 * MB); /* an idle piece that is now too large is not handed out */
    assert_int_equal(wk__arena_alloc(arena, 4 * MB, &more, &fail), WK_ERR_MEMORY);
    wk__arena_free(arena, &b);
    wk__arena_reset_peak(arena);
    assert_int_equal(stats_of(arena).peak, 0);

    wk__arena_set_limit(arena, 3 * MB); /* less than two units: a block of exactly that size */
    assert_int_equal(wk__arena_alloc(arena, 2 * MB + 300, &more, &fail), WK_OK);
    assert_int_equal(more.bytes, 2 * MB + 512);
    assert_false(in_range(&more));
    wk__arena_free(arena, &more);
    wk__arena_destroy(arena);
    assert_int_equal(d->held, 0);
    free(d);
}

static void full_device_is_retried(void **state)
{
    (void)state;
    device *d = device_new(100 * MB, UNITS);
    wk__arena *arena = wk__arena_new(&backend, d, INT64_MAX);
    wk__fail fail;
    wk__memory first = take(arena, 10), idle = take(arena, 30), wall = take(arena, 5), small, more;
    assert_int_equal(wk__arena_alloc(arena, 1000, &small, &fail), WK_OK);
    wk__arena_free(arena, &idle);
    more = take(arena, 34); /* room for 34 more only where the idle ones are */
    assert_int_equal(unit_of(&more), 45);
    assert_int_equal(d->unmapped, 30 * UNIT);
    assert_int_equal(d->held, 100 * MB);
    assert_int_equal(wk__arena_alloc(arena, 1 * UNIT + 1, &idle, &fail), WK_ERR_MEMORY);
    assert_non_null(strstr(fail.text, "(device is full)"));
    wk__arena_free(arena, &more);
    more = take(arena, 34);
    wk__arena_free(arena, &first);
    wk__arena_free(arena, &wall);
    wk__arena_destroy(arena);
    assert_int_equal(d->held, 0);
    free(d);
}

/* A mapping that is partly in use stays, and its idle part is reused. */
static void only_complete_mappings_are_released(void **state)
{
    (void)state;
    device *d = device_new(INT64_MAX / 2, UNITS);
    wk__arena *arena = wk__arena_new(&backend, d, INT64_MAX);
    wk__memory a = take(arena, 3 * MAPPING + 4), b;
    wk__arena_free(arena, &a);
    a = take(arena, MAPPING + 2); /* two mappings are in use; one, and a piece of 4, are idle */
    wk__arena_trim(arena);
    assert_int_equal(d->unmapped, (MAPPING + 4) * UNIT);
    assert_int_equal(stats_of(arena).cached, (MAPPING - 2) * UNIT);
    b = take(arena, MAPPING - 2);
    assert_int_equal(unit_of(&b), MAPPING + 2);
    wk__arena_free(arena, &a);
    wk__arena_trim(arena); /* the second one belongs to b */
    assert_int_equal(stats_of(arena).cached, 2 * UNIT);
    wk__arena_free(arena, &b);
    wk__arena_trim(arena);
    assert_int_equal(d->held, 0);
    wk__arena_destroy(arena);
    free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_overlap),
        cmocka_unit_test(never_overlap_under_pressure),
        cmocka_unit_test(sizes_vary),
        cmocka_unit_test(best_fit),
        cmocka_unit_test(minimum_is_mapped),
        cmocka_unit_test(both_neighbours_are_considered),
        cmocka_unit_test(many_spans),
        cmocka_unit_test(exhausted_range_is_followed_by_another),
        cmocka_unit_test(limit_releases_idle_memory),
        cmocka_unit_test(full_device_is_retried),
        cmocka_unit_test(only_complete_mappings_are_released),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
