/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the CUDA backend.
 *
 * There is no thread of a device's own, as the OpenCL backend has one: what enqueues here does not wait for what it
 * enqueues, unless the driver's queue is full, so whoever submits enqueues, under the device's lock and in one stream,
 * where all happens in order. Large uploads and copies to other devices have streams of their own (stream_hazards.c).
 *
 *   any thread                          the device
 *   --------------------------------    ------------------------------------------------------------
 *   plans launches, has missing         runs the stream in order
 *   kernels compiled, enqueues      ->
 *   waits for download, sync, event     a bad index is noted down in its memory (gpu/fault.h)
 *
 * A call that fails says so at once. What fails later is the device itself: an illegal address or a card that is gone
 * leaves nothing of its context. From then on what is submitted is left out, and who reads is told why (backend.c). */
#ifndef WICK_BACKEND_CUDA_DEVICE_H
#define WICK_BACKEND_CUDA_DEVICE_H

#include "base/alloc.h"
#include "backend/gpu/fault.h"
#include "backend/gpu/cache/kernel_cache.h"
#include "api.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- enumerate.c: the devices of the machine --------------------------------------------------------------------- */

enum { WK__CUDA_MAX_DEVICES = 64 /* of more, the rest is left out */ };

typedef struct wk__cuda_device_desc {
    CUdevice id;
    int ordinal; /* its place among the cards: a bit of `met` and `peers` below */
    wk__gpu_device_desc gpu;
    int architecture;           /* 90 for sm_90 */
    int compiled_for;           /* the newest of its generation that NVRTC knows; */
    bool needs_ptx;             /* it knows none: text for an older one, from which the driver compiles */
    int64_t max_groups;         /* blocks of one launch */
    int64_t max_resident_items; /* threads that are on the card at once */
    bool has_vmm;               /* addresses and memory may be had separately */
} wk__cuda_device_desc;

wk__backend_status wk__cuda_status(wk__text *why);
int wk__cuda_count(void);
/* NULL and *fail when there is no such device. */
const wk__cuda_device_desc *wk__cuda_device_desc_at(int index, wk__fail *fail);
wk_code wk__cuda_info(int index, wk__device_info *info, wk__fail *fail);
/* Adds what NVML says of a card that is there. */
void wk__cuda_live_info(int index, wk__device_info *info);
/* Bytes of its memory that nobody uses now; -1: not known. */
int64_t wk__cuda_free_bytes(const wk__cuda_device_desc *card);

/* ---- staging.c: memory of the host from which the device copies while the host goes on --------------------------- */

enum { WK__CUDA_SLOTS = 4, WK__CUDA_SLOT = 2 << 20 /* bytes */ };

/* A ring of slots. One is filled from its start; the next begins when the device is through with what it had. */
typedef struct wk__cuda_staging {
    CUstream stream; /* that copies from it */
    char *host;      /* NULL until first wanted */
    int slot;        /* that is being filled */
    int64_t used;    /* bytes of it */
    CUevent end[WK__CUDA_SLOTS];
    bool in_flight[WK__CUDA_SLOTS]; /* the end of its copies has been recorded and not been waited for */
} wk__cuda_staging;

/* ---- stream_hazards.c: what the streams of a device do with the same block --------------------------------------- */

/* Copies beside what the device computes, each kind in a stream of its own, so that none waits for another kind's:
 * large uploads, and what goes to other devices. What comes from those is copied in a stream of theirs; the one here
 * only follows it. */
enum { WK__CUDA_STREAM_H2D, WK__CUDA_STREAM_P2P_SEND, WK__CUDA_STREAM_P2P_RECV, WK__CUDA_COPY_STREAMS };

enum { WK__CUDA_USES = 256, WK__CUDA_ENDS = 8 };

typedef struct wk__cuda_last_use {
    int64_t compute_seq;                     /* of the last use by the stream that computes */
    int64_t copy_seq[WK__CUDA_COPY_STREAMS]; /* the last copy of each lane, into it or out of it */
} wk__cuda_last_use;

/* Where a block stands in the table. */
static inline int wk__cuda_hazard_slot(const void *block)
{
    const uint64_t hash = (uint64_t)(uintptr_t)block * 0x9e3779b97f4a7c15u;
    return (int)(hash >> 32 & (WK__CUDA_USES - 1));
}

typedef struct wk__cuda_copy_stream {
    CUstream stream;            /* NULL until first wanted */
    int64_t count;              /* so many copies there were; */
    CUevent end[WK__CUDA_ENDS]; /* each one's end, in turns: a later one's is after it */
    int64_t waited_seq;         /* the stream that computes waits for copies up to this, */
    int64_t waited_since;       /* from the use of this number on; */
    int64_t compute_waited_seq; /* this stream waits for uses up to this */
} wk__cuda_copy_stream;

typedef struct wk__cuda_hazards {
    const void *block[WK__CUDA_USES];     /* by a hash of them, */
    wk__cuda_last_use use[WK__CUDA_USES]; /* their uses, */
    wk__cuda_last_use evicted;            /* and the latest of those that have no place there */
    int64_t number;                       /* so many uses there were */
    CUevent computed;                     /* all uses up to .. */
    int64_t computed_number;
    wk__cuda_copy_stream copies[WK__CUDA_COPY_STREAMS];
} wk__cuda_hazards;

/* ---- vmem.c: addresses of which parts have memory ---------------------------------------------------------------- */

/* Pieces of a range come and go with other bounds each time, so uses are not a piece's but those of its units. */
typedef struct wk__cuda_range {
    struct wk__cuda_range *next;
    CUdeviceptr at;
    int64_t units;
    int32_t *piece; /* of the unit where a piece begins: how many it has */
    wk__cuda_last_use *use;
    bool *mapped; /* has the unit memory? */
} wk__cuda_range;

/* ---- a device that is open --------------------------------------------------------------------------------------- */

enum {
    WK__CUDA_ARGUMENTS = 1 << 20,                                     /* bytes */
    WK__CUDA_EVENT = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING /* who waits sleeps */
};

/* What a thread is in the midst of while it calls the driver for a context. */
typedef struct wk__cuda_context_guard {
    bool pushed;              /* the context is */
    bool relaxed;             /* captures are no matter, */
    CUstreamCaptureMode mode; /* and this is how they were before */
} wk__cuda_context_guard;

/* A launch of the work that is being submitted. */
typedef struct wk__cuda_pending_launch {
    wk__gpu_kernel *function;
    wk__gpu_launch launch; /* of whose arguments only as many are filled in as there are */
} wk__cuda_pending_launch;

typedef struct wk__cuda_retired {
    CUdeviceptr memory[32];
    int count;
    int64_t bytes;
} wk__cuda_retired;

typedef struct wk__cuda_device wk__cuda_device;
struct wk__cuda_device {
    const wk__cuda_device_desc *card;
    CUcontext context;     /* the primary one, which other libraries of the process share */
    unsigned long long id; /* of the context, which no other ever has; 0: not known */
    int64_t context_bytes; /* of the device that opening it took, 0: not known */

    pthread_mutex_t lock;         /* of all that follows, up to the next lock */
    wk__cuda_context_guard calls; /* of whoever holds it */
    CUstream stream;
    CUdeviceptr fault; /* a wk__gpu_fault */
    CUdeviceptr scratch;
    int64_t scratch_bytes;
    wk__cuda_retired retired; /* what was too small, and may still be in use */
    CUdeviceptr arguments;    /* a ring: of kernels whose arguments are many */
    int64_t arguments_used;
    wk__cuda_staging staging, upload_staging; /* large: for uploads in a stream of their own */
    wk__cuda_hazards order;
    wk__gpu_kernel_cache units;
    wk__cuda_pending_launch *pending;
    int64_t npending, planned_room;
    bool needs_ptx;                              /* its driver compiles, as it takes no code */
    bool compile_only;                           /* launches are not run, their units only wait to be built */
    uint64_t p2p_probed;                         /* cards to which wk__cuda_enable_p2p has looked for a way */
    atomic_bool lost;                            /* the device answers no more; readable without the lock */
    bool lost_reported;                          /* somebody who waited has heard of it */
    bool was_reset;                              /* and has nothing any more of what was made in its context */
    char lost_text[sizeof((wk__fail *)0)->text]; /* of that */

    pthread_mutex_t ranges_lock; /* for moments only, taken last */
    wk__cuda_range *ranges;      /* whoever changes the list holds `lock` and `cutting`, who looks one of them */

    pthread_mutex_t mapping_lock; /* taken behind `lock`: of which units are mapped */
    /* Cards that were let use all that was mapped then, and are asked for at each new mapping; one that the driver does
     * not let them use is the driver's to stage. Whoever changes it holds `lock`, too. */
    uint64_t p2p_devices;

    pthread_mutex_t download_lock; /* one download at a time; taken before `lock` */
    char *download_buffer;         /* memory of the host: two halves, and the fault word; NULL until first wanted */
    CUevent download_done[2];
};

/* Makes the context the thread's current one until wk__cuda_pop_context, which puts back the one before. In between the
 * calls are allowed although another library captures a stream: none of ours has to do with that. */
CUresult wk__cuda_push_context(CUcontext context, wk__cuda_context_guard *calls);
void wk__cuda_pop_context(wk__cuda_context_guard *calls);
/* The same under the lock. The device may be gone, and then nothing is to be asked of the driver. WK_ERR_STATE: this
 * process was forked from the one that opened the device. */
wk_code wk__cuda_lock(wk__cuda_device *device, wk__fail *fail);
void wk__cuda_unlock(wk__cuda_device *device);
/* Waits for an event between begin and end, or outside of them and without the lock, so that others submit meanwhile.
 * The thread looks for some 50 us, and then sleeps. */
CUresult wk__cuda_wait(CUevent event);
CUresult wk__cuda_wait_unlocked(const wk__cuda_device *device, CUevent event);
/* Fills *fail with what a call of the driver said; notes down that the device is gone if that is what it said. Holds
 * the lock. */
wk_code wk__cuda_fail_set(wk__cuda_device *device, wk__fail *fail, CUresult error, const char *what);
/* Why the device is gone. */
wk_code wk__cuda_fail_lost(const wk__cuda_device *device, wk__fail *fail);
/* For who waited and got WK_ERR_DEVICE_LOST: what to return, as who reads hears of it each time, and who waits once for
 * all.
 * Does not hold the lock. */
wk_code wk__cuda_report_lost(wk__cuda_device *device, bool reads, wk__fail *fail);
/* Gives memory back, which waits for all work of the device: without the lock. */
void wk__cuda_free(wk__cuda_device *device, CUdeviceptr memory);

/* WK_OK once there is the memory that the next call hands out. */
wk_code wk__cuda_staging_init(wk__cuda_device *device, wk__cuda_staging *staging, wk__fail *fail);
/* Room for so many bytes, at most a slot, from which the device copies next; NULL and *fail: there is none. */
void *wk__cuda_staging_alloc(wk__cuda_device *device, wk__cuda_staging *staging, int64_t bytes, wk__fail *fail);
void wk__cuda_staging_destroy(wk__cuda_staging *staging);

/* The stream that computes is about to use the block: it waits for the copies into it and out of it, or for all. */
CUresult wk__cuda_hazard_use(wk__cuda_device *device, const void *block);
CUresult wk__cuda_hazard_join(wk__cuda_device *device);
/* Around a copy into the block or out of it in the stream of a lane: that waits for what was done with the block
 * before, and who uses the block later waits for the copy. */
CUresult wk__cuda_hazard_begin_copy(wk__cuda_device *device, int lane, const void *block);
CUresult wk__cuda_hazard_end_copy(wk__cuda_device *device, int lane, const void *block);
CUevent wk__cuda_hazard_last_copy(const wk__cuda_device *device, int lane); /* the end of its last copy */
/* Around a copy into the block in the stream of another device, which ends with an event of that device. */
CUresult wk__cuda_hazard_begin_receive(wk__cuda_device *device, CUstream stream, const void *block);
CUresult wk__cuda_hazard_end_receive(wk__cuda_device *device, CUevent end, const void *block);
void wk__cuda_hazard_destroy(wk__cuda_device *device);

/* Lets the card use all that is mapped in the ranges of the device now, and what will be as far as the driver allows.
 * False: it does not let it use what is mapped now. Holds the lock. */
bool wk__cuda_range_share(wk__cuda_device *device, const wk__cuda_device_desc *card);
/* The uses of the units of a piece: *count of them. NULL: the block is not of a range. */
wk__cuda_last_use *wk__cuda_range_last_uses(wk__cuda_device *device, const void *block, int64_t *count);

/* Do copies go from card to card? Looked for once, when a pair is first copied between or asked about: from then on the
 * driver maps what either allocates on both. A mapping made later may be left out (`peers`). What one context has is on
 * one card. Both devices are locked, and not gone. */
bool wk__cuda_enable_p2p(wk__cuda_device *a, wk__cuda_device *b);

/* compiler.c. `device` is a wk__cuda_device. */
extern const wk__gpu_compiler wk__cuda_compiler;

/* ---- launch.c, memory.c, vmem.c, transfer.c, events.c ------------------------------------------------------------ */

bool wk__cuda_supports(void *user, int family, wk_dtype dtype, wk__layout layout);
wk_code wk__cuda_submit(void *user, const wk__work *work, wk__fail *fail);
wk_code wk__cuda_compile_only(void *user, bool on, wk__fail *fail);

wk_code wk__cuda_block_alloc(void *user, int64_t bytes, wk__memory *block, wk__fail *fail);
void wk__cuda_block_free(void *user, wk__memory *block);
wk_code wk__cuda_range_reserve(void *user, int64_t bytes, wk__memory *range, wk__fail *fail);
void wk__cuda_range_release(void *user, wk__memory *range);
wk_code wk__cuda_range_map(void *user, const wk__memory *range, int64_t offset, int64_t bytes, wk__fail *fail);
wk_code wk__cuda_range_unmap(void *user, const wk__memory *range, int64_t offset, int64_t bytes, wk__fail *fail);
void wk__cuda_range_carve(void *user, const wk__memory *piece);
void wk__cuda_usage(void *user, wk__memory_usage *usage);
wk_code wk__cuda_upload(void *user, const wk__memory *to, int64_t offset, const void *from, int64_t bytes,
                        wk__fail *fail);
wk_code wk__cuda_copy(void *user, const wk__memory *to, int64_t to_offset, const wk__memory *from, int64_t from_offset,
                      int64_t bytes, wk__fail *fail);
wk_code wk__cuda_download(void *user, void *to, const wk__memory *from, int64_t offset, int64_t bytes, wk__fail *fail);
wk_code wk__cuda_sync(void *user, wk__fail *fail);
wk_code wk__cuda_transfer(void *to_device, const wk__memory *to, void *from_device, const wk__memory *from,
                          int64_t from_offset, int64_t bytes, wk__fail *fail);
bool wk__cuda_has_p2p(void *device, void *other);
wk_code wk__cuda_event_record(void *user, void **event, wk__fail *fail);
wk_code wk__cuda_event_wait(void *user, void *event, wk__fail *fail);
wk_code wk__cuda_event_elapsed(void *user, void *from, void *to, double *seconds, wk__fail *fail);
void wk__cuda_event_destroy(void *user, void *event);
bool wk__cuda_event_query(void *user, void *event);

/* The address of a block's byte. */
static inline CUdeviceptr wk__cuda_address(const wk__memory *memory, int64_t offset)
{
    return (CUdeviceptr)(uintptr_t)memory->block + (CUdeviceptr)(memory->offset + offset);
}

#endif
