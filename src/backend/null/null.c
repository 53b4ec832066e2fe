/* SPDX-License-Identifier: Apache-2.0 */
/* Null backend: devices, memory without addresses, and injected faults; see null.h. */
#include "null.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "backend/event.h"
#include "command_log.h"

typedef struct device {
    int index;
    int64_t taken; /* bytes in blocks */
} device;

typedef struct bad_index {
    bool found;
    int64_t tag, index, bound;
} bad_index;

#define DEFAULT_MEMORY (INT64_C(16) << 30)

/* Countdowns: 1 is the next call, 0 never. */
static struct {
    pthread_mutex_t mutex;
    int count;
    int64_t memory;
    bool lost[WK__NULL_MOST_DEVICES];
    int64_t until_full, until_refusal, until_bad_index;
    bool prologues;
    bad_index coming, reported; /* for the launch of until_bad_index; for the next wait */
} machine = {.mutex = PTHREAD_MUTEX_INITIALIZER, .count = 1, .memory = DEFAULT_MEMORY};

static void lock(void)
{
    pthread_mutex_lock(&machine.mutex);
}

static void unlock(void)
{
    pthread_mutex_unlock(&machine.mutex);
}

/* ---- faults injected by tests ------------------------------------------------------------------------------------ */

void wk__null_fail_alloc(int64_t n)
{
    lock();
    machine.until_full = n;
    unlock();
}

void wk__null_fail_submit(int64_t n)
{
    lock();
    machine.until_refusal = n;
    unlock();
}

void wk__null_fault_index(int64_t tag, int64_t index, int64_t bound)
{
    lock();
    machine.reported = (bad_index){true, tag, index, bound};
    unlock();
}

void wk__null_fault_submit(int64_t n, int64_t index, int64_t bound)
{
    lock();
    machine.until_bad_index = n;
    machine.coming = (bad_index){true, -1, index, bound};
    unlock();
}

void wk__null_lose_device(int index)
{
    lock();
    if (index >= 0 && index < WK__NULL_MOST_DEVICES) machine.lost[index] = true;
    unlock();
}

void wk__null_set_prologues(bool takes)
{
    lock();
    machine.prologues = takes;
    unlock();
}

void wk__null_clear_faults(void)
{
    lock();
    memset(machine.lost, 0, sizeof machine.lost);
    machine.until_full = machine.until_refusal = machine.until_bad_index = 0;
    machine.reported.found = machine.prologues = false;
    unlock();
}

void wk__null_set_count(int count)
{
    lock();
    machine.count = count < 0 ? 0 : count > WK__NULL_MOST_DEVICES ? WK__NULL_MOST_DEVICES : count;
    unlock();
}

void wk__null_set_memory(int64_t bytes)
{
    lock();
    machine.memory = bytes;
    unlock();
}

/* ---- devices ------------------------------------------------------------------------------------------------- */

static wk__backend_status status(wk__text *why)
{
    (void)why;
    return WK__BACKEND_AVAILABLE;
}

static int count(void)
{
    lock();
    int devices = machine.count;
    unlock();
    return devices;
}

/* Checks that the device exists and is not lost. */
static wk_code check_alive(int index, wk__fail *fail)
{
    lock();
    bool there = index >= 0 && index < machine.count, lost = there && machine.lost[index];
    unlock();
    if (!there) return wk__fail_set(fail, WK_ERR_DEVICE, "null:%d does not exist", index);
    return lost ? wk__fail_set(fail, WK_ERR_DEVICE_LOST, "the device does not respond") : WK_OK;
}

static wk_code info(int index, wk__device_info *out, wk__fail *fail)
{
    wk_code code = check_alive(index, fail);
    if (code != WK_OK) return code;
    *out = (wk__device_info){
        .name = "null",
        .vendor = "wick",
        .memory_available = -1,
        .compute_units = 1,
        .temperature = NAN,
        .power = NAN,
        .utilisation = NAN,
    };
    lock();
    out->memory_total = machine.memory;
    unlock();
    return WK_OK;
}

static wk_code open_device(int index, void **out, wk__fail *fail)
{
    wk_code code = check_alive(index, fail);
    if (code != WK_OK) return code;
    device *d = wk__alloc_zero(1, sizeof *d);
    if (!d) return wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory");
    d->index = index;
    *out = d;
    return WK_OK;
}

static void close_device(void *opened)
{
    wk__free(opened);
}

/* ---- memory -------------------------------------------------------------------------------------------------- */

static wk_code block_alloc(void *opened, int64_t bytes, wk__memory *block, wk__fail *fail)
{
    device *d = opened;
    wk_code code = check_alive(d->index, fail);
    if (code != WK_OK) return code;
    void *handle = wk__alloc(1); /* unique handle, never accessed */
    if (!handle) return wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory");
    lock();
    bool full = machine.until_full == 1 || bytes > machine.memory - d->taken;
    if (machine.until_full > 1) machine.until_full--; /* stays at 1: a full device remains full */
    if (!full) d->taken += bytes;
    unlock();
    if (full) {
        wk__free(handle);
        return wk__fail_set(fail, WK_ERR_MEMORY, "null:%d is out of memory", d->index);
    }
    *block = (wk__memory){.block = handle, .bytes = bytes};
    return WK_OK;
}

static void block_free(void *opened, wk__memory *block)
{
    device *d = opened;
    lock();
    d->taken -= block->bytes;
    unlock();
    wk__free(block->block);
}

/* ---- commands ---------------------------------------------------------------------------------------------------- */

static bool countdown_hits(int64_t *countdown)
{
    if (*countdown == 0) return false;
    (*countdown)--;
    return *countdown == 0;
}

/* Checks device and work before a launch, then applies injected faults. */
static wk_code launch(const device *d, const char *wrong, int64_t tag, wk__fail *fail)
{
    wk_code code = check_alive(d->index, fail);
    if (code == WK_OK && wrong) code = wk__fail_set(fail, WK_ERR_INTERNAL, "null: %s", wrong);
    if (code != WK_OK) return code;
    lock();
    bool refused = countdown_hits(&machine.until_refusal);
    if (countdown_hits(&machine.until_bad_index)) {
        machine.reported = machine.coming;
        machine.reported.tag = tag;
    }
    unlock();
    return refused ? wk__fail_set(fail, WK_ERR_DEVICE, "null:%d rejected the launch", d->index) : WK_OK;
}

static wk_code noted(bool done, wk__fail *fail)
{
    return done ? WK_OK : wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory");
}

static bool supports(void *opened, int family, wk_dtype dtype, wk__layout layout)
{
    (void)opened, (void)dtype;
    return wk__work_has_layout(family, layout) && !wk__work_families[family].is_transfer;
}

static wk_code submit(void *opened, const wk__work *work, wk__fail *fail)
{
    if (!wk__is_work_family(work->family) || wk__work_family_of(work)->is_transfer)
        return wk__fail_set(fail, WK_ERR_UNSUPPORTED, "the null device has no kernel for %s",
                            wk__work_name(work->family));
    const char *wrong = wk__work_check(work);
    const int64_t tag = wrong ? -1 : work->program ? work->program->tag : work->args->tag;
    wk_code code = launch(opened, wrong, tag, fail);
    return code == WK_OK ? noted(wk__null_log_append_work(work), fail) : code;
}

static bool can_fuse_prologue(void *opened, const wk__work *work)
{
    (void)opened, (void)work;
    lock();
    const bool takes = machine.prologues;
    unlock();
    return takes;
}

/* Checks that bytes offset..offset+bytes-1 are in the allocation. */
static wk_code check_range(const wk__memory *memory, int64_t offset, int64_t bytes, wk__fail *fail)
{
    bool within = offset >= 0 && bytes >= 0 && offset <= memory->bytes && bytes <= memory->bytes - offset;
    return within ? WK_OK : wk__fail_set(fail, WK_ERR_INTERNAL, "null: a transfer past the end of its memory");
}

static wk_code upload(void *opened, const wk__memory *to, int64_t offset, const void *from, int64_t bytes,
                      wk__fail *fail)
{
    (void)from;
    wk_code code = check_alive(((device *)opened)->index, fail);
    if (code == WK_OK) code = check_range(to, offset, bytes, fail);
    return code == WK_OK ? noted(wk__null_log_append_bytes(WK__NULL_UPLOAD, bytes), fail) : code;
}

static wk_code copy(void *opened, const wk__memory *to, int64_t to_offset, const wk__memory *from, int64_t from_offset,
                    int64_t bytes, wk__fail *fail)
{
    wk_code code = check_alive(((device *)opened)->index, fail);
    if (code == WK_OK) code = check_range(to, to_offset, bytes, fail);
    if (code == WK_OK) code = check_range(from, from_offset, bytes, fail);
    return code == WK_OK ? noted(wk__null_log_append_bytes(WK__NULL_COPY, bytes), fail) : code;
}

/* ---- waiting ------------------------------------------------------------------------------------------------- */

static wk_code wait_for_all(const device *d, wk__fail *fail)
{
    wk_code code = check_alive(d->index, fail);
    if (code != WK_OK) return code;
    lock();
    bad_index bad = machine.reported;
    machine.reported.found = false;
    unlock();
    if (!bad.found) return WK_OK;
    wk__fail_set(fail, WK_ERR_INDEX, "index %lld is out of range for size %lld", (long long)bad.index,
                 (long long)bad.bound);
    if (bad.tag >= 0) wk__fail_add_tag(fail, bad.tag);
    return wk__fail_set_index(fail, bad.tag, bad.index, bad.bound);
}

static wk_code download(void *opened, void *to, const wk__memory *from, int64_t offset, int64_t bytes, wk__fail *fail)
{
    wk_code code = wait_for_all(opened, fail);
    if (code == WK_OK) code = check_range(from, offset, bytes, fail);
    if (code != WK_OK) return code;
    memset(to, 0, (size_t)bytes);
    return noted(wk__null_log_append_bytes(WK__NULL_DOWNLOAD, bytes), fail);
}

static wk_code sync_device(void *opened, wk__fail *fail)
{
    wk_code code = wait_for_all(opened, fail);
    return code == WK_OK ? noted(wk__null_log_append_bytes(WK__NULL_SYNC, 0), fail) : code;
}

static wk_code record(void *opened, void **event, wk__fail *fail)
{
    wk_code code = check_alive(((device *)opened)->index, fail);
    return code == WK_OK ? wk__event_record_completed(opened, event, fail) : code;
}

const wk__backend wk__null_backend = {
    .abi_version = WK__BACKEND_VERSION,
    .kind = WK_NULL,
    .name = "null",
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
    .sync = sync_device,
    .can_fuse_prologue = can_fuse_prologue,
    .min_prologue_bytes = 1,
    .event_record = record,
    .event_wait = wk__event_wait,
    .event_elapsed = wk__event_elapsed,
    .event_destroy = wk__event_destroy,
    .event_query = wk__event_query,
};
