/* SPDX-License-Identifier: Apache-2.0 */
/* Large uploads have a separate stream: whatever the order in which the stand-in runs the two streams, the contents of
 * device memory are as if all work had run in the order of the calls. */
#include "child.h"

#include "backend/cuda/device.h"

enum { BYTES = WK__CUDA_SLOT + 4096, BLOCKS = 4, DEVICES = 2, SEEDS = 8, STEPS = 60 };

static const wk__backend *backend;

typedef struct model {
    void *device;
    wk__memory block[BLOCKS];
    char *want[BLOCKS]; /* expected contents */
} model;

static uint64_t state_of_chance;

static int chance(int below)
{
    state_of_chance = state_of_chance * 6364136223846793005u + 1442695040888963407u;
    return (int)((state_of_chance >> 33) % (uint64_t)below);
}

static void fill(char *to, int64_t bytes)
{
    const uint64_t start = (uint64_t)chance(1 << 30);
    for (int64_t k = 0; k < bytes; k++) to[k] = (char)((start + (uint64_t)k) * 2654435761u >> 24);
}

static void good(wk_code code, const wk__fail *fail)
{
    if (code != WK_OK) fprintf(stderr, "%s\n", fail->text);
    must(code == WK_OK);
}

static void begin(model m[DEVICES], int seed)
{
    wk__fail fail;
    backend = wk__backend_of(WK_CUDA);
    state_of_chance = (uint64_t)seed;
    for (int d = 0; d < DEVICES; d++) {
        good(backend->open(d, &m[d].device, &fail), &fail);
        for (int b = 0; b < BLOCKS; b++) {
            good(backend->block_alloc(m[d].device, BYTES, &m[d].block[b], &fail), &fail);
            m[d].want[b] = malloc(BYTES);
            fill(m[d].want[b], BYTES);
            good(backend->upload(m[d].device, &m[d].block[b], 0, m[d].want[b], BYTES, &fail), &fail);
        }
    }
}

static void end(model m[DEVICES])
{
    for (int d = 0; d < DEVICES; d++) {
        for (int b = 0; b < BLOCKS; b++) {
            backend->block_free(m[d].device, &m[d].block[b]);
            free(m[d].want[b]);
        }
        backend->close(m[d].device);
    }
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static void upload(model *m, int b, int64_t offset, int64_t bytes)
{
    wk__fail fail;
    fill(m->want[b] + offset, bytes);
    char *from = malloc((size_t)bytes); /* the caller may free it after the call */
    memcpy(from, m->want[b] + offset, (size_t)bytes);
    good(backend->upload(m->device, &m->block[b], offset, from, bytes, &fail), &fail);
    free(from);
}

static void copy(model *m, int to, int from)
{
    const int64_t bytes = BYTES / 2, at = chance(BYTES / 2);
    wk__fail fail;
    if (to == from) return;
    good(backend->copy(m->device, &m->block[to], at, &m->block[from], 0, bytes, &fail), &fail);
    memcpy(m->want[to] + at, m->want[from], (size_t)bytes);
}

static void transfer(model *to, model *from, int b, int c)
{
    wk__fail fail;
    good(backend->transfer(to->device, &to->block[b], from->device, &from->block[c], 0, BYTES, &fail), &fail);
    memcpy(to->want[b], from->want[c], BYTES);
}

static void read_back(model *m, int b)
{
    static char have[BYTES];
    wk__fail fail;
    good(backend->download(m->device, have, &m->block[b], 0, BYTES, &fail), &fail);
    must(memcmp(have, m->want[b], BYTES) == 0);
}

/* Waits for all work and checks the blocks. The stand-in's device memory is host memory, so they are read without the
 * driver. */
static void wait_for_all(model *m, bool by_event)
{
    void *event;
    wk__fail fail;
    if (by_event) {
        good(backend->event_record(m->device, &event, &fail), &fail);
        good(backend->event_wait(m->device, event, &fail), &fail);
        backend->event_destroy(m->device, event);
    } else {
        good(backend->sync(m->device, &fail), &fail);
    }
    for (int b = 0; b < BLOCKS; b++) must(memcmp(m->block[b].block, m->want[b], BYTES) == 0);
}

/* Records an event that is never waited for. */
static void record_unused_event(model *m)
{
    void *event;
    wk__fail fail;
    good(backend->event_record(m->device, &event, &fail), &fail);
    backend->event_destroy(m->device, event);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static int seed_now;

static void any_order(void)
{
    model m[DEVICES];
    begin(m, seed_now);
    for (int k = 0; k < STEPS; k++) {
        const int d = chance(DEVICES), b = chance(BLOCKS), c = chance(BLOCKS);
        switch (chance(12)) {
        case 0:
        case 1:
        case 2: upload(&m[d], b, 0, WK__CUDA_SLOT + chance(4096)); break;
        case 3: upload(&m[d], b, chance(BYTES - 4096), 1 + chance(4096)); break;
        case 4:
        case 5: copy(&m[d], b, c); break;
        case 6:
        case 7: transfer(&m[d], &m[1 - d], b, c); break;
        case 8: read_back(&m[d], b); break;
        case 9:
        case 10: record_unused_event(&m[d]); break;
        default: wait_for_all(&m[d], chance(2) == 0); break;
        }
    }
    for (int d = 0; d < DEVICES; d++) wait_for_all(&m[d], false);
    end(m);
}

static void each_seed(void (*body)(void))
{
    for (int seed = 1; seed <= SEEDS; seed++) {
        char setting[32];
        seed_now = seed;
        snprintf(setting, sizeof setting, "STANDIN_SEED=%d", seed);
        in_child(setting, body);
    }
}

static void random_calls(void **state)
{
    (void)state;
    each_seed(any_order);
}

/* Uses of other memory do not delay uploads, nor uploads them. */
static void no_waits(void)
{
    model m[DEVICES];
    begin(m, 1);
    copy(&m[0], 2, 1);
    read_back(&m[0], 2);
    const long before = driver_calls("cuStreamWaitEvent");
    for (int k = 0; k < 4; k++) {
        upload(&m[0], 0, 0, BYTES);
        copy(&m[0], 2, 1);
        copy(&m[0], 1, 2);
    }
    must(driver_calls("cuStreamWaitEvent") == before);
    copy(&m[0], 3, 0);
    must(driver_calls("cuStreamWaitEvent") == before + 1);
    upload(&m[0], 0, 0, BYTES);
    must(driver_calls("cuStreamWaitEvent") == before + 2);
    read_back(&m[0], 3);
    end(m);
}

static void independent_work(void **state)
{
    (void)state;
    in_child("STANDIN_SEED=1", no_waits);
}

/* A copy between devices delays no work on other blocks; only the first use of its blocks waits. */
static void no_waits_for_copies_between(void)
{
    model m[DEVICES];
    begin(m, 1);
    for (int d = 0; d < DEVICES; d++) wait_for_all(&m[d], false);
    transfer(&m[1], &m[0], 0, 1);
    const long before = driver_calls("cuStreamWaitEvent");
    for (int k = 0; k < 4; k++)
        for (int d = 0; d < DEVICES; d++) copy(&m[d], 2, 3);
    must(driver_calls("cuStreamWaitEvent") == before);
    copy(&m[0], 2, 1);
    must(driver_calls("cuStreamWaitEvent") == before + 1);
    copy(&m[1], 2, 0);
    must(driver_calls("cuStreamWaitEvent") == before + 2);
    for (int d = 0; d < DEVICES; d++) read_back(&m[d], 2);
    must(driver_calls("cuStreamWaitEvent") == before + 2);
    end(m);
}

static void independent_work_of_two(void **state)
{
    (void)state;
    in_child("STANDIN_SEED=1", no_waits_for_copies_between);
}

/* Returns the same memory under another block address whose entry collides with this one in the table of hazards. */
static wk__memory colliding_block(const wk__memory *block, const wk__memory *memory)
{
    for (int k = 1;; k++) {
        char *name = (char *)memory->block + k;
        if (wk__cuda_hazard_slot(name) == wk__cuda_hazard_slot(block->block))
            return (wk__memory){.block = name, .offset = memory->offset - k, .bytes = memory->bytes};
    }
}

/* Both streams are busy when the entry of the block's last use is replaced. */
static void colliding_blocks(void)
{
    model m[DEVICES];
    wk__fail fail;
    begin(m, seed_now);
    const wk__memory rival = colliding_block(&m[0].block[0], &m[0].block[1]);
    for (int turn = 0; turn < 4; turn++) {
        upload(&m[0], 0, 0, BYTES);
        fill(m[0].want[1], BYTES);
        good(backend->upload(m[0].device, &rival, 0, m[0].want[1], BYTES, &fail), &fail);
        copy(&m[0], 2, 0);
        read_back(&m[0], 2);
        wait_for_all(&m[0], false);
        for (int k = 0; k < 8; k++) copy(&m[0], 3, 2);
        copy(&m[0], 2, 0);
        good(backend->upload(m[0].device, &rival, 0, m[0].want[1], 4, &fail), &fail);
        upload(&m[0], 0, 0, BYTES);
        read_back(&m[0], 2);
        read_back(&m[0], 0);
        wait_for_all(&m[0], false);
    }
    end(m);
}

static void replaced_hazards(void **state)
{
    (void)state;
    each_seed(colliding_blocks);
}

/* If the end of the upload cannot be recorded, the upload completes before the call returns. */
static void upload_without_an_end(void)
{
    model m[DEVICES];
    wk__fail fail;
    begin(m, 1);
    wait_for_all(&m[0], false);
    fill(m[0].want[0], BYTES);
    setenv("STANDIN_ERRORS", "cuEventRecord=1@3", 1); /* two end slots */
    must(backend->upload(m[0].device, &m[0].block[0], 0, m[0].want[0], BYTES, &fail) == WK_ERR_INTERNAL);
    setenv("STANDIN_ERRORS", "", 1);
    must(memcmp((const char *)m[0].block[0].block + m[0].block[0].offset, m[0].want[0], BYTES) == 0);
    end(m);
}

/* A slot whose upload cannot be waited for is not overwritten. */
static void slot_without_a_wait(void)
{
    model m[DEVICES];
    wk__fail fail;
    begin(m, 1);
    wait_for_all(&m[0], false);
    upload(&m[0], 0, 0, BYTES);
    upload(&m[0], 1, 0, BYTES);
    setenv("STANDIN_ERRORS", "cuEventQuery=1", 1);
    must(backend->upload(m[0].device, &m[0].block[2], 0, m[0].want[2], BYTES, &fail) == WK_ERR_INTERNAL);
    setenv("STANDIN_ERRORS", "", 1);
    upload(&m[0], 2, 0, BYTES);
    upload(&m[0], 3, 0, BYTES);
    for (int b = 0; b < BLOCKS; b++) read_back(&m[0], b);
    end(m);
}

/* Each call of a copy between devices fails once: the target has either all bytes or its previous contents, and later
 * work is ordered after the copy, including writes to the copied block. */
static const char *between;

static void copy_between_fails(void)
{
    model m[DEVICES];
    wk__fail fail;
    begin(m, 1);
    for (int d = 0; d < DEVICES; d++) wait_for_all(&m[d], false);
    char *copied = malloc(BYTES);
    for (int n = 1, failed = 1; failed; n++) {
        char errors[64];
        for (int d = 0; d < DEVICES; d++) copy(&m[d], 2, 0), copy(&m[d], 0, 3); /* both blocks are in use */
        transfer(&m[0], &m[1], 1, 0); /* opens the path and creates the streams */
        snprintf(errors, sizeof errors, "%s=1@%d", between, n);
        memcpy(copied, m[0].want[0], BYTES);
        setenv("STANDIN_ERRORS", errors, 1);
        failed = backend->transfer(m[1].device, &m[1].block[0], m[0].device, &m[0].block[0], 0, BYTES, &fail) != WK_OK;
        setenv("STANDIN_ERRORS", "", 1);
        upload(&m[0], 0, 0, BYTES);
        static char have[BYTES];
        good(backend->download(m[1].device, have, &m[1].block[0], 0, BYTES, &fail), &fail);
        const bool is_new = memcmp(have, copied, BYTES) == 0;
        must(is_new || (failed && memcmp(have, m[1].want[0], BYTES) == 0));
        if (is_new) memcpy(m[1].want[0], copied, BYTES);
        for (int d = 0; d < DEVICES; d++) wait_for_all(&m[d], false);
        must(n > 1 || failed);
    }
    free(copied);
    end(m);
}

/* The sending card is lost, and a copy reports it first: the other card continues. */
static void lost_sender(void)
{
    model m[DEVICES];
    wk__fail fail = {.tag = -1};
    begin(m, 1);
    for (int d = 0; d < DEVICES; d++) wait_for_all(&m[d], false);
    /* so that the next one has no free event */
    for (int k = 0; k < 2 * WK__CUDA_ENDS; k++) transfer(&m[1], &m[0], 1, 0);
    read_back(&m[1], 1);
    copy(&m[1], 2, 1);
    wk__cuda_device *source = m[0].device;
    const wk__memory beside = {.block = m[0].block[3].block, .bytes = BYTES};
    setenv("STANDIN_ERRORS", "cuMemcpyDtoDAsync_v2=719", 1);
    wk__cuda_context_guard calls;
    must(wk__cuda_push_context(source->context, &calls) == CUDA_SUCCESS);
    must(wk__cuda.MemcpyDtoDAsync_v2(wk__cuda_address(&beside, 0), wk__cuda_address(&beside, 8), 8, source->stream) ==
         719);
    wk__cuda_pop_context(&calls);
    setenv("STANDIN_ERRORS", "", 1);
    must(backend->transfer(m[1].device, &m[1].block[1], m[0].device, &m[0].block[0], 0, BYTES, &fail) ==
         WK_ERR_DEVICE_LOST);
    must(fail.poisoned && atomic_load(&source->lost) && !atomic_load(&((wk__cuda_device *)m[1].device)->lost));
    read_back(&m[1], 2);
    end(m);
}

static void calls_that_fail(void **state)
{
    (void)state;
    static const char *const each[] = {"cuEventRecord", "cuStreamWaitEvent", "cuMemcpyPeerAsync",
                                       "cuCtxPushCurrent_v2"};
    for (size_t k = 0; k < sizeof each / sizeof each[0]; k++) {
        between = each[k];
        in_child("STANDIN_SEED=1", copy_between_fails);
        in_child("STANDIN_SEED=2", copy_between_fails);
    }
    in_child("STANDIN_SEED=1", lost_sender);
    in_child("STANDIN_SEED=1", upload_without_an_end);
    in_child("STANDIN_SEED=1", slot_without_a_wait);
}

/* A kernel reads a block that is being copied, as its first or another operand, and the block is overwritten next. */
static void with_kernels(void)
{
    enum { COUNT = WK__CUDA_SLOT / 4 + 1000, TURNS = 6 };
    static float data[TURNS][COUNT], have[COUNT];
    wk_tensor *y[TURNS] = {wk_retain(wk_zeros((COUNT), .device = wk_cuda(0)))};
    for (int turn = 1; turn < TURNS; turn++) {
        WK_SCOPE;
        for (int k = 0; k < COUNT; k++) data[turn][k] = (float)(k % 1000 * turn);
        wk_tensor *x = wk_to(wk_from(data[turn], (COUNT)), wk_cuda(0)), *before = y[turn - 1];
        y[turn] = wk_retain(turn % 2 ? wk_add(before, x) : wk_add(x, before));
        wk_flush();
    }
    for (int turn = 0; turn < TURNS; turn++) {
        must(wk_read(y[turn], have, sizeof have) == WK_OK);
        for (int k = 0; k < COUNT; k++) must(have[k] == (float)(k % 1000 * (turn * (turn + 1) / 2)));
        wk_free(y[turn]);
    }
    must(wk_error() == NULL);
}

static void kernels(void **state)
{
    (void)state;
    each_seed(with_kernels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_calls),
        cmocka_unit_test(independent_work),
        cmocka_unit_test(independent_work_of_two),
        cmocka_unit_test(replaced_hazards),
        cmocka_unit_test(calls_that_fail),
        cmocka_unit_test(kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
