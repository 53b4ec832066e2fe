/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers of CUDA devices in several parts, between devices, and their events. */
#include "backend/gpu/test.h"

enum { BYTES = (9 << 20) + 12 }; /* three parts of a download, five slots of an upload */

static void good(wk_code code, const wk__fail *fail)
{
    if (code != WK_OK) fail_msg("%s", fail->text);
}

static char *pattern(int seed)
{
    char *made = malloc(BYTES);
    for (int64_t k = 0; k < BYTES; k++) made[k] = (char)((uint32_t)(k + seed) * 2654435761u >> 24);
    return made;
}

static void take(int d, wk__memory *block)
{
    wk__fail fail;
    good(gpu->block_alloc(gpu_device[d], BYTES + 256, block, &fail), &fail);
}

static void several_parts(void **state)
{
    (void)state;
    wk__fail fail;
    wk__memory block;
    char *want = pattern(1), *have = calloc(BYTES, 1);
    take(0, &block);
    good(gpu->upload(gpu_device[0], &block, 5, want, BYTES, &fail), &fail);
    good(gpu->download(gpu_device[0], have, &block, 5, BYTES, &fail), &fail);
    assert_memory_equal(want, have, BYTES);
    memset(have, 0, BYTES);
    good(gpu->download(gpu_device[0], have, &block, 5 + BYTES - 3, 3, &fail), &fail);
    assert_memory_equal(want + BYTES - 3, have, 3);
    gpu->block_free(gpu_device[0], &block);
    free(want), free(have);
}

/* The source is overwritten immediately afterwards; the copy must have its earlier contents. */
static void from_one_to_another(void **state)
{
    (void)state;
    wk__fail fail;
    wk__memory here, there;
    char *want = pattern(2), *later = pattern(3), *have = calloc(BYTES, 1);
    take(0, &here);
    take(1, &there);
    good(gpu->upload(gpu_device[0], &here, 0, want, BYTES, &fail), &fail);
    good(gpu->transfer(gpu_device[1], &there, gpu_device[0], &here, 0, BYTES, &fail), &fail);
    good(gpu->upload(gpu_device[0], &here, 0, later, BYTES, &fail), &fail);
    good(gpu->download(gpu_device[1], have, &there, 0, BYTES, &fail), &fail);
    assert_memory_equal(want, have, BYTES);
    good(gpu->transfer(gpu_device[0], &here, gpu_device[0], &here, 0, 0, &fail), &fail);
    good(gpu->download(gpu_device[0], have, &here, 0, BYTES, &fail), &fail);
    assert_memory_equal(later, have, BYTES);
    gpu->block_free(gpu_device[0], &here);
    gpu->block_free(gpu_device[1], &there);
    free(want), free(later), free(have);
}

/* Records and waits in a thread without a current CUDA context. */
static void events(void **state)
{
    (void)state;
    wk__fail fail;
    wk__memory block;
    void *before, *after;
    double seconds = -1;
    CUcontext current = NULL;
    take(0, &block);
    good(gpu->event_record(gpu_device[0], &before, &fail), &fail);
    good(gpu->copy(gpu_device[0], &block, 0, &block, BYTES / 2, BYTES / 4, &fail), &fail);
    good(gpu->event_record(gpu_device[0], &after, &fail), &fail);
    assert_true(wk__cuda.CtxPopCurrent_v2(&current) != CUDA_SUCCESS);
    good(gpu->event_wait(gpu_device[0], after, &fail), &fail);
    good(gpu->event_wait(gpu_device[0], before, &fail), &fail);
    good(gpu->event_elapsed(gpu_device[0], before, after, &seconds, &fail), &fail);
    assert_true(seconds >= 0 && seconds < 600);
    gpu->event_destroy(gpu_device[0], before);
    gpu->event_destroy(gpu_device[0], after);
    good(gpu->sync(gpu_device[0], &fail), &fail);
    gpu->block_free(gpu_device[0], &block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_parts),
        cmocka_unit_test(from_one_to_another),
        cmocka_unit_test(events),
    };
    return cmocka_run_group_tests(tests, gpu_open, gpu_close);
}
