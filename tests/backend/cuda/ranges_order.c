/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of a range on CUDA reuse the memory of earlier pieces, which may be unmapped: all accesses happen in the order
 * of the calls, in whichever stream of the device they run. */
#include "child.h"

#include "backend/arena/arena.h"

enum { MB = 1 << 20 };
enum { PIECES = 5, SEEDS = 8, STEPS = 60, DEVICES = 2 };

static void good(wk_code code, const wk__fail *fail)
{
    if (code != WK_OK) fprintf(stderr, "%s\n", fail->text);
    must(code == WK_OK);
}

typedef struct part {
    wk__memory memory;
    int64_t bytes;
    char *want;
} part;

static unsigned seed_now;

static void fill(char *to, int64_t bytes)
{
    const uint64_t start = (uint64_t)rand_r(&seed_now);
    for (int64_t k = 0; k < bytes; k++) to[k] = (char)((start + (uint64_t)k) * 2654435761u >> 24);
}

static void begin_part(void *device, wk__arena *arena, part *p)
{
    const wk__backend *backend = wk__backend_of(WK_CUDA);
    wk__fail fail;
    p->bytes = 2 * MB + 1 + rand_r(&seed_now) % (6 * MB);
    good(wk__arena_alloc(arena, p->bytes, &p->memory, &fail), &fail);
    p->want = malloc((size_t)p->bytes);
    fill(p->want, p->bytes);
    char *from = malloc((size_t)p->bytes);
    memcpy(from, p->want, (size_t)p->bytes);
    good(backend->upload(device, &p->memory, 0, from, p->bytes, &fail), &fail);
    free(from);
}

static void end_part(wk__arena *arena, part *p)
{
    free(p->want);
    p->want = NULL;
    wk__arena_free(arena, &p->memory);
}

static void check_bytes(void *device, const wk__memory *memory, const char *want, int64_t bytes)
{
    wk__fail fail;
    char *have = malloc((size_t)bytes);
    good(wk__backend_of(WK_CUDA)->download(device, have, memory, 0, bytes, &fail), &fail);
    must(memcmp(have, want, (size_t)bytes) == 0);
    free(have);
}

static void check_part(void *device, const part *p)
{
    check_bytes(device, &p->memory, p->want, p->bytes);
}

/* Random order. Uploads run in a separate stream: an upload into a piece comes after every use of the pieces that had
 * its memory before, and before later kernels that use it. */
static void any_order(void)
{
    const wk__backend *backend = wk__backend_of(WK_CUDA);
    void *device[DEVICES];
    wk__arena *arena[DEVICES];
    part part[DEVICES][PIECES] = {{{.want = NULL}}};
    wk__fail fail;
    for (int d = 0; d < DEVICES; d++) {
        good(backend->open(d, &device[d], &fail), &fail);
        arena[d] = wk__arena_new(backend, device[d], INT64_MAX);
    }
    for (int k = 0; k < STEPS; k++) {
        const int d = rand_r(&seed_now) % DEVICES;
        struct part *a = &part[d][rand_r(&seed_now) % PIECES], *b = &part[d][rand_r(&seed_now) % PIECES];
        struct part *c = &part[1 - d][rand_r(&seed_now) % PIECES];
        if (a->want == NULL) {
            begin_part(device[d], arena[d], a);
        } else if (b->want != NULL && b != a && rand_r(&seed_now) % 2) {
            const int64_t bytes = a->bytes < b->bytes ? a->bytes : b->bytes;
            good(backend->copy(device[d], &b->memory, 0, &a->memory, 0, bytes, &fail), &fail);
            memcpy(b->want, a->want, (size_t)bytes);
        } else if (c->want != NULL && rand_r(&seed_now) % 4 == 0) {
            const int64_t bytes = a->bytes < c->bytes ? a->bytes : c->bytes;
            good(backend->transfer(device[1 - d], &c->memory, device[d], &a->memory, 0, bytes, &fail), &fail);
            memcpy(c->want, a->want, (size_t)bytes);
        } else if (rand_r(&seed_now) % 8 == 0) {
            check_part(device[d], a);
        } else {
            end_part(arena[d], a);
        }
        if (rand_r(&seed_now) % 16 == 0) wk__arena_trim(arena[d]);
    }
    for (int d = 0; d < DEVICES; d++) {
        for (int k = 0; k < PIECES; k++) {
            if (part[d][k].want != NULL) check_part(device[d], &part[d][k]);
            free(part[d][k].want);
        }
        wk__arena_destroy(arena[d]);
    }
    for (int d = 0; d < DEVICES; d++) backend->close(device[d]);
}

/* A long piece is used and freed, and a short one takes memory from its middle: writes to it come after all uses of the
 * long one, which are copies within the device or uploads. */
static void across_bounds(void)
{
    enum { LONG = 24 * MB, SHORT = 5 * MB };
    const wk__backend *backend = wk__backend_of(WK_CUDA);
    void *device;
    wk__fail fail;
    wk__memory source, piece, first;
    good(backend->open(0, &device, &fail), &fail);
    wk__arena *arena = wk__arena_new(backend, device, INT64_MAX);
    char *want = malloc(SHORT), *other = calloc(LONG, 1);
    fill(want, SHORT);
    good(wk__arena_alloc(arena, SHORT, &source, &fail), &fail);
    good(backend->upload(device, &source, 0, want, SHORT, &fail), &fail);
    for (int turn = 0; turn < 6; turn++) {
        good(wk__arena_alloc(arena, LONG, &piece, &fail), &fail);
        if (turn % 2) good(backend->upload(device, &piece, 0, other, LONG, &fail), &fail);
        for (int k = 0; k < 20 && turn % 2 == 0; k++)
            good(backend->copy(device, &piece, LONG / 2, &piece, 0, LONG / 2, &fail), &fail);
        wk__arena_free(arena, &piece);
        good(wk__arena_alloc(arena, LONG / 2, &first, &fail), &fail);
        must(first.block == piece.block);
        good(wk__arena_alloc(arena, SHORT, &piece, &fail), &fail);
        if (turn % 2) good(backend->copy(device, &piece, 0, &source, 0, SHORT, &fail), &fail);
        if (turn % 2 == 0) good(backend->upload(device, &piece, 0, want, SHORT, &fail), &fail);
        check_bytes(device, &piece, want, SHORT);
        good(backend->sync(device, &fail), &fail); /* detects uploads that ran too late */
        check_bytes(device, &piece, want, SHORT);
        wk__arena_free(arena, &first);
        wk__arena_free(arena, &piece);
    }
    free(want), free(other);
    wk__arena_destroy(arena);
    backend->close(device);
}

/* Keeps the device busy with part of a piece, by copies within it or by an upload. */
static void use_part(void *device, const wk__memory *piece, int64_t at, int64_t bytes, bool by_upload)
{
    const wk__backend *backend = wk__backend_of(WK_CUDA);
    char *other = calloc(1, (size_t)bytes);
    wk__fail fail;
    if (by_upload) good(backend->upload(device, piece, at, other, bytes, &fail), &fail);
    for (int k = 0; k < 20 && !by_upload; k++)
        good(backend->copy(device, piece, at + bytes / 2, piece, at, bytes / 2, &fail), &fail);
    free(other);
}

/* Writes to the piece and checks the result, now and after all work. */
static void write_and_check(void *device, const wk__memory *piece, const wk__memory *source, const char *want,
                            int64_t bytes, bool by_upload)
{
    const wk__backend *backend = wk__backend_of(WK_CUDA);
    wk__fail fail;
    if (by_upload) good(backend->upload(device, piece, 0, want, bytes, &fail), &fail);
    if (!by_upload) good(backend->copy(device, piece, 0, source, 0, bytes, &fail), &fail);
    check_bytes(device, piece, want, bytes);
    good(backend->sync(device, &fail), &fail); /* detects uploads that ran too late */
    check_bytes(device, piece, want, bytes);
}

/* A piece takes the memory of two, one of which was used; and a piece starts with the last unit that another has
 * used. */
static void over_bounds(void)
{
    enum { HALF = 4 * MB, WHOLE = 2 * HALF, LONG = 6 * MB, UNIT = 2 * MB, TURNS = 6 };
    const wk__backend *backend = wk__backend_of(WK_CUDA);
    void *device;
    wk__fail fail;
    wk__memory source, a, b, c;
    good(backend->open(0, &device, &fail), &fail);
    wk__arena *arena = wk__arena_new(backend, device, INT64_MAX);
    char *want = malloc(WHOLE);
    fill(want, WHOLE);
    good(wk__arena_alloc(arena, WHOLE, &source, &fail), &fail);
    good(backend->upload(device, &source, 0, want, WHOLE, &fail), &fail);
    for (int turn = 0; turn < TURNS; turn++) {
        const bool uploads = turn % 2 == 0; /* first into memory without earlier uploads */
        good(backend->sync(device, &fail), &fail);
        if (turn < 4) {
            good(wk__arena_alloc(arena, HALF, &a, &fail), &fail);
            good(wk__arena_alloc(arena, HALF, &b, &fail), &fail);
            must((char *)b.block == (char *)a.block + HALF);
            use_part(device, turn < 2 ? &b : &a, 0, HALF, !uploads);
            wk__arena_free(arena, &a);
            wk__arena_free(arena, &b);
            good(wk__arena_alloc(arena, WHOLE, &c, &fail), &fail);
            must(c.block == a.block);
            write_and_check(device, &c, &source, want, WHOLE, uploads);
        } else {
            good(wk__arena_alloc(arena, LONG, &b, &fail), &fail);
            use_part(device, &b, uploads ? LONG - UNIT : 0, uploads ? UNIT : LONG, !uploads);
            wk__arena_free(arena, &b);
            good(wk__arena_alloc(arena, LONG - UNIT, &a, &fail), &fail);
            good(wk__arena_alloc(arena, HALF, &c, &fail), &fail);
            must(a.block == b.block && (char *)c.block == (char *)b.block + LONG - UNIT);
            write_and_check(device, &c, &source, want, HALF, uploads);
            wk__arena_free(arena, &a);
        }
        wk__arena_free(arena, &c);
    }
    free(want);
    wk__arena_destroy(arena);
    backend->close(device);
}

/* The memory of a piece is unmapped while the device still uses it or an upload into it is in progress. */
static void unmapped_in_use(void)
{
    const wk__backend *backend = wk__backend_of(WK_CUDA);
    void *device;
    wk__fail fail;
    wk__memory a, b;
    good(backend->open(0, &device, &fail), &fail);
    wk__arena *arena = wk__arena_new(backend, device, INT64_MAX);
    char *bytes = calloc(8, MB);
    for (int turn = 0; turn < 4; turn++) {
        good(wk__arena_alloc(arena, 8 * MB, &a, &fail), &fail);
        good(wk__arena_alloc(arena, 8 * MB, &b, &fail), &fail);
        if (turn % 2) good(backend->copy(device, &b, 0, &a, 0, 8 * MB, &fail), &fail);
        good(backend->upload(device, &a, 0, bytes, 8 * MB, &fail), &fail);
        if (turn < 2) good(backend->copy(device, &b, 0, &a, 0, 8 * MB, &fail), &fail);
        wk__arena_free(arena, &a);
        wk__arena_free(arena, &b);
        wk__arena_trim(arena);
        good(backend->sync(device, &fail), &fail);
    }
    must(driver_calls("cuMemUnmap") > 0);
    free(bytes);
    wk__arena_destroy(arena);
    backend->close(device);
}

/* Uploads into a piece do not wait for uses of neighbouring pieces in the same range. */
static void no_waits_for(int uploaded)
{
    const wk__backend *backend = wk__backend_of(WK_CUDA);
    const int others = uploaded == 0 ? 1 : 0;
    void *device;
    wk__fail fail;
    wk__memory piece[3];
    char *bytes = calloc(4, MB);
    good(backend->open(0, &device, &fail), &fail);
    wk__arena *arena = wk__arena_new(backend, device, INT64_MAX);
    for (int k = 0; k < 3; k++) good(wk__arena_alloc(arena, 4 * MB, &piece[k], &fail), &fail);
    must((char *)piece[2].block == (char *)piece[1].block + 4 * MB);
    good(backend->upload(device, &piece[uploaded], 0, bytes, 4 * MB, &fail), &fail);
    const long before = driver_calls("cuStreamWaitEvent");
    for (int k = 0; k < 4; k++) {
        good(backend->copy(device, &piece[others + 1], 0, &piece[others], 0, 4 * MB, &fail), &fail);
        good(backend->upload(device, &piece[uploaded], 0, bytes, 4 * MB, &fail), &fail);
    }
    must(driver_calls("cuStreamWaitEvent") == before);
    good(backend->copy(device, &piece[others], 0, &piece[uploaded], 0, 4 * MB, &fail), &fail);
    must(driver_calls("cuStreamWaitEvent") == before + 1);
    free(bytes);
    wk__arena_destroy(arena);
    backend->close(device);
}

static void no_waits(void)
{
    no_waits_for(0);
    no_waits_for(2);
}

static void order(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        char setting[32];
        seed_now = seed;
        snprintf(setting, sizeof setting, "STANDIN_SEED=%u", seed);
        in_child(setting, any_order);
        in_child(setting, across_bounds);
        in_child(setting, over_bounds);
        in_child(setting, unmapped_in_use);
    }
    in_child("STANDIN_SEED=1", no_waits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
