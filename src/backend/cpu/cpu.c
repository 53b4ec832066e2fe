/* SPDX-License-Identifier: Apache-2.0 */
/* CPU backend: a single device, always available. Its memory is host memory, and all calls are synchronous. */
#include "cpu.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/pool.h"
#include "backend/event.h"
#include "along_dim.h"
#include "backend/cpu/contraction/matmul.h"
#include "backend/cpu/vm/program.h"

enum {
    HUGE_PAGE = 2 << 20,
    COPY_PIECE = 1 << 20,     /* bytes; smaller copies finish before a second thread has woken up */
    PROLOGUE_BYTES = 8 << 20, /* a smaller factor is still in cache when the product reads it */
};

/* Devices have no state; this address distinguishes an open device from NULL. */
static char the_device;

static wk__backend_status status(wk__text *why)
{
    (void)why;
    return WK__BACKEND_AVAILABLE;
}

static int count(void)
{
    return 1;
}

static wk_code info(int index, wk__device_info *info, wk__fail *fail)
{
    if (index != 0)
        return wk__fail_set(fail, WK_ERR_DEVICE, "cpu:%d does not exist; the only CPU device is cpu", index);
    const wk__cpu_memory memory = wk__cpu_memory_now("");
    *info = (wk__device_info){.memory_total = memory.total,
                              .memory_available = memory.available,
                              .compute_units = wk__thread_count(),
                              .temperature = wk__cpu_temperature(),
                              .power = wk__cpu_power(),
                              .utilisation = wk__cpu_utilisation()};
    wk__cpu_name("", info->name, sizeof info->name);
    snprintf(info->driver, sizeof info->driver, "%s", wk__cpu_isa_current()->name);
    return WK_OK;
}

static wk_code open_device(int index, void **device, wk__fail *fail)
{
    if (index != 0)
        return wk__fail_set(fail, WK_ERR_DEVICE, "cpu:%d does not exist; the only CPU device is cpu", index);
    *device = &the_device;
    return WK_OK;
}

static void close_device(void *device)
{
    (void)device;
    wk__cpu_matmul_trim();
}

static wk_code fail_out_of_memory(int64_t bytes, wk__fail *fail)
{
    const wk__cpu_memory now = wk__cpu_memory_now("");
    char size[WK__FORMAT_BYTES_SIZE], available[WK__FORMAT_BYTES_SIZE], total[WK__FORMAT_BYTES_SIZE];
    return wk__fail_set(fail, WK_ERR_MEMORY, "cannot allocate a block of %s: %s of %s are available",
                        wk__format_bytes(size, bytes), wk__format_bytes(available, now.available),
                        wk__format_bytes(total, now.total));
}

/* Maps a block of huge pages. Pages are faulted in on first touch, by the thread that writes: faulting in 2 MiB pages
 * costs a fifth of 4 KiB pages. mmap aligns to 4 KiB only, so one extra huge page is mapped and the excess is unmapped.
 *
 *     mapped        |....[ 2 MB ][ 2 MB ].........|
 *     kept               [ block        ] */
static wk_code block_alloc(void *device, int64_t bytes, wk__memory *block, wk__fail *fail)
{
    (void)device;
    if (bytes <= 0 || bytes > INT64_MAX - 2 * HUGE_PAGE) return fail_out_of_memory(bytes, fail);
    const wk__cpu_memory now = wk__cpu_memory_now("");
    const size_t size = (size_t)(bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    if ((now.available >= 0 && bytes > now.available) || (now.total > 0 && bytes > now.total))
        return fail_out_of_memory(bytes, fail);

    char *mapped =
        mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return fail_out_of_memory(bytes, fail);
    const size_t before = (HUGE_PAGE - (uintptr_t)mapped % HUGE_PAGE) % HUGE_PAGE;
    if (before > 0) munmap(mapped, before);
    if (before < HUGE_PAGE) munmap(mapped + before + size, HUGE_PAGE - before);
    char *start = mapped + before;
    madvise(start, size, MADV_HUGEPAGE); /* a hint; kernels without huge pages reject it, which is harmless */
    *block = (wk__memory){.block = start, .host = start, .offset = 0, .bytes = (int64_t)size};
    return WK_OK;
}

static void block_free(void *device, wk__memory *block)
{
    (void)device;
    munmap(block->block, (size_t)block->bytes);
    *block = (wk__memory){0};
}

static bool supports(void *device, int family, wk_dtype dtype, wk__layout layout)
{
    (void)device;
    return wk__work_has_layout(family, layout) && (family == WK__PROGRAM || wk__cpu_has_kernel(family, dtype));
}

static wk_code submit(void *device, const wk__work *work, wk__fail *fail)
{
    (void)device;
    return work->args ? wk__cpu_kernel(work, fail) : wk__cpu_run(work->program, fail);
}

static bool can_fuse_prologue(void *device, const wk__work *work)
{
    (void)device;
    return wk__cpu_can_fuse_prologue(work);
}

typedef struct copy_job {
    char *to;
    const char *from;
    int64_t bytes;
} copy_job;

static void copy_chunk(void *user, int64_t index)
{
    const copy_job *job = user;
    const int64_t start = index * COPY_PIECE;
    const int64_t left = job->bytes - start;
    memcpy(job->to + start, job->from + start, (size_t)(left < COPY_PIECE ? left : COPY_PIECE));
}

static wk_code copy_bytes(char *to, const char *from, int64_t bytes)
{
    copy_job job = {to, from, bytes};
    if (bytes > 0 && to != from) wk__parallel_for((bytes + COPY_PIECE - 1) / COPY_PIECE, copy_chunk, &job);
    return WK_OK;
}

static wk_code upload(void *device, const wk__memory *to, int64_t offset, const void *from, int64_t bytes,
                      wk__fail *fail)
{
    (void)device;
    (void)fail;
    return copy_bytes(to->host + offset, from, bytes);
}

static wk_code copy(void *device, const wk__memory *to, int64_t to_offset, const wk__memory *from, int64_t from_offset,
                    int64_t bytes, wk__fail *fail)
{
    (void)device;
    (void)fail;
    return copy_bytes(to->host + to_offset, from->host + from_offset, bytes);
}

static wk_code download(void *device, void *to, const wk__memory *from, int64_t offset, int64_t bytes, wk__fail *fail)
{
    (void)device;
    (void)fail;
    return copy_bytes(to, from->host + offset, bytes);
}

static wk_code sync(void *device, wk__fail *fail)
{
    (void)device;
    (void)fail;
    return WK_OK;
}

const wk__backend wk__cpu_backend = {
    .abi_version = WK__BACKEND_VERSION,
    .kind = WK_CPU,
    .name = "cpu",
    .status = status,
    .count = count,
    .info = info,
    .open = open_device,
    .close = close_device,
    .block_alloc = block_alloc,
    .block_free = block_free,
    .supports = supports,
    .submit = submit,
    .upload = upload,
    .copy = copy,
    .download = download,
    .sync = sync,
    .epilogue_boxes = wk__cpu_contraction_boxes,
    .can_fuse_prologue = can_fuse_prologue,
    .min_prologue_bytes = PROLOGUE_BYTES,
    .event_record = wk__event_record_completed,
    .event_wait = wk__event_wait,
    .event_elapsed = wk__event_elapsed,
    .event_destroy = wk__event_destroy,
    .event_query = wk__event_query,
};
