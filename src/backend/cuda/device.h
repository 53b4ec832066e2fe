/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the CUDA backend.
 *
 * Unlike OpenCL, there is no worker thread per device: CUDA calls enqueue without waiting, unless the driver's queue is
 * full, so the submitting thread enqueues, under the device's lock, in one stream. Large uploads and copies to other
 * devices have separate streams (stream_hazards.c).
 *
 *   any thread                          the device
 *   --------------------------------    ------------------------------------------------------------
 *   lowers work, compiles missing       runs the stream in order
 *   kernels, enqueues launches     ->
 *   waits in download, sync, event      records a bad index in its memory (gpu/fault.h)
 *
 * Failures of calls are returned immediately. Only the loss of the device is asynchronous, for example after an illegal
 * address: its context is then unusable, submitted work is skipped, and reads return the reason (backend.c). */
#ifndef WICK_BACKEND_CUDA_DEVICE_H
#define WICK_BACKEND_CUDA_DEVICE_H

#include "base/alloc.h"
#include "backend/gpu/fault.h"
#include "backend/gpu/cache/kernel_cache.h"
#include "api.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- enumerate.c: devices of the machine ------------------------------------------------------------------------- */

enum { WK__CUDA_MAX_DEVICES = 64 /* further devices are ignored */ };

typedef struct wk__cuda_device_desc {
    CUdevice id;
    int ordinal; /* index among the cards: a bit of `p2p_probed` and `p2p_devices` below */
    wk__gpu_device_desc gpu;
    int architecture; /* 90 for sm_90 */
    int compiled_for; /* newest architecture of its generation that NVRTC supports; 0: none */
    /* NVRTC doesn't support its generation: PTX for an older one, which the driver compiles */
    bool needs_ptx;
    int64_t max_groups;         /* maximum blocks per launch */
    int64_t max_resident_items; /* maximum threads resident on the card */
    bool has_vmm;               /* supports virtual memory management */
} wk__cuda_device_desc;

wk__backend_status wk__cuda_status(wk__text *why);
int wk__cuda_count(void);
/* Returns NULL and sets *fail if the device doesn't exist. */
const wk__cuda_device_desc *wk__cuda_device_desc_at(int index, wk__fail *fail);
wk_code wk__cuda_info(int index, wk__device_info *info, wk__fail *fail);
/* Adds NVML's data about an existing card. */
void wk__cuda_live_info(int index, wk__device_info *info);
/* Returns the bytes of free memory; -1 if unknown. */
int64_t wk__cuda_free_bytes(const wk__cuda_device_desc *card);

/* ---- staging.c: pinned host memory for asynchronous uploads ------------------------------------------------------ */

enum { WK__CUDA_SLOTS = 4, WK__CUDA_SLOT = 2 << 20 /* bytes */ };

/* A ring of slots. One is being filled; the next is reused after the device has copied its previous contents. */
typedef struct wk__cuda_staging {
    CUstream stream; /* copies from the slots */
    char *host;      /* allocated on first use */
    int slot;        /* slot that is being filled */
    int64_t used;    /* bytes used in it */
    CUevent end[WK__CUDA_SLOTS];
    bool in_flight[WK__CUDA_SLOTS]; /* its end event was recorded and not waited for */
} wk__cuda_staging;

/* ---- stream_hazards.c: ordering of streams that use the same block ----------------------------------------------- */

/* Streams for copies that overlap with computation: large uploads, copies to other devices, and copies from other
 * devices. The last are enqueued in a stream of the source; the stream here only waits for them. */
enum { WK__CUDA_STREAM_H2D, WK__CUDA_STREAM_P2P_SEND, WK__CUDA_STREAM_P2P_RECV, WK__CUDA_COPY_STREAMS };

enum { WK__CUDA_USES = 256, WK__CUDA_ENDS = 8 };

typedef struct wk__cuda_last_use {
    int64_t compute_seq;                     /* index of the last use by the compute stream */
    int64_t copy_seq[WK__CUDA_COPY_STREAMS]; /* per copy stream: index of its last copy to or from the block */
} wk__cuda_last_use;

/* Returns the slot of a block in the table. */
static inline int wk__cuda_hazard_slot(const void *block)
{
    const uint64_t hash = (uint64_t)(uintptr_t)block * 0x9e3779b97f4a7c15u;
    return (int)(hash >> 32 & (WK__CUDA_USES - 1));
}

typedef struct wk__cuda_copy_stream {
    CUstream stream; /* created on first use */
    int64_t count;   /* number of copies enqueued so far */
    /* events recorded after copies, used in turn; a later event is also after earlier copies */
    CUevent end[WK__CUDA_ENDS];
    /* the compute stream waits for copies up to waited_seq, starting with its use waited_since */
    int64_t waited_seq;
    int64_t waited_since;
    int64_t compute_waited_seq; /* this stream waits for compute uses up to this index */
} wk__cuda_copy_stream;

typedef struct wk__cuda_hazards {
    const void *block[WK__CUDA_USES];     /* hash table of blocks */
    wk__cuda_last_use use[WK__CUDA_USES]; /* last uses of these blocks */
    wk__cuda_last_use evicted;            /* maxima of the uses of all blocks that were evicted from the table */
    int64_t number;                       /* number of uses by the compute stream so far */
    CUevent computed;                     /* event after the uses up to computed_number */
    int64_t computed_number;
    wk__cuda_copy_stream copies[WK__CUDA_COPY_STREAMS];
} wk__cuda_hazards;

/* ---- vmem.c: virtual address ranges ------------------------------------------------------------------------------ */

/* A range of virtual addresses. Allocations in it have different bounds each time, so uses are recorded per page
 * (WK__RANGE_PAGE). */
typedef struct wk__cuda_range {
    struct wk__cuda_range *next;
    CUdeviceptr at;
    int64_t units;
    int32_t *piece; /* [page] at the first page of an allocation: its number of pages */
    wk__cuda_last_use *use;
    bool *mapped; /* [page] memory is mapped there */
} wk__cuda_range;

/* ---- device ------------------------------------------------------------------------------------------------------ */

enum {
    WK__CUDA_ARGUMENTS = 1 << 20,                                     /* bytes */
    WK__CUDA_EVENT = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING /* waiting threads sleep */
};

/* State of a thread while it calls the driver for a context. */
typedef struct wk__cuda_context_guard {
    bool pushed;              /* the context was pushed */
    bool relaxed;             /* the stream capture mode was changed */
    CUstreamCaptureMode mode; /* previous mode */
} wk__cuda_context_guard;

/* A launch of the work that is being submitted. */
typedef struct wk__cuda_pending_launch {
    wk__gpu_kernel *kernel;
    wk__gpu_launch launch; /* only the arguments that it has are initialised */
} wk__cuda_pending_launch;

typedef struct wk__cuda_retired {
    CUdeviceptr memory[32];
    int count;
    int64_t bytes;
} wk__cuda_retired;

typedef struct wk__cuda_device wk__cuda_device;
struct wk__cuda_device {
    const wk__cuda_device_desc *card;
    CUcontext context;     /* primary context, shared with other libraries of the process */
    unsigned long long id; /* unique id of the context; 0: unknown */
    int64_t context_bytes; /* device memory allocated by opening the context; 0: unknown */

    pthread_mutex_t lock;         /* for all members up to ranges_lock */
    wk__cuda_context_guard calls; /* of the lock's holder */
    CUstream stream;
    CUdeviceptr fault; /* wk__gpu_fault */
    CUdeviceptr scratch;
    int64_t scratch_bytes;
    wk__cuda_retired retired; /* replaced by larger scratch memory, but possibly still in use */
    CUdeviceptr arguments;    /* ring buffer for kernels with many arguments */
    int64_t arguments_used;
    wk__cuda_staging staging, upload_staging; /* upload_staging: for large uploads in their own stream */
    wk__cuda_hazards order;
    wk__gpu_kernel_cache kernel_cache;
    wk__cuda_pending_launch *pending;
    int64_t npending, planned_room;
    bool needs_ptx;                              /* the driver compiles PTX, because it rejects compiled code */
    bool compile_only;                           /* launches are not run, their kernels only become pending */
    uint64_t p2p_probed;                         /* cards with which wk__cuda_enable_p2p() has tried direct access */
    atomic_bool lost;                            /* the context is unusable; readable without the lock */
    bool lost_reported;                          /* a waiting call has returned that error */
    bool was_reset;                              /* lost because the context was reset: its objects no longer exist */
    char lost_text[sizeof((wk__fail *)0)->text]; /* message of that error */

    pthread_mutex_t ranges_lock; /* held briefly; always taken last */
    wk__cuda_range *ranges;      /* modified with `lock` and `ranges_lock` held, read with either */

    pthread_mutex_t mapping_lock; /* for `mapped` of ranges; taken after `lock` */
    /* Cards that have access to everything mapped so far, and get access to new mappings. If the driver denies that,
     * copies to the card are staged. Modified with `lock` and `mapping_lock` held. */
    uint64_t p2p_devices;

    pthread_mutex_t download_lock; /* one download at a time; taken before `lock` */
    char *download_buffer;         /* pinned host memory: two halves, and the fault word; allocated on first use */
    CUevent download_done[2];
};

/* Make the context current until wk__cuda_pop_context() restores the previous one. In between, calls are permitted even
 * while another library captures a stream, because ours are independent of the capture. */
CUresult wk__cuda_push_context(CUcontext context, wk__cuda_context_guard *calls);
void wk__cuda_pop_context(wk__cuda_context_guard *calls);
/* The same with the lock. Also succeeds if the device is lost; then the driver must not be called. Fails with
 * WK_ERR_STATE in a forked process. */
wk_code wk__cuda_lock(wk__cuda_device *device, wk__fail *fail);
void wk__cuda_unlock(wk__cuda_device *device);
/* Wait for an event: with the lock held, or without it, so that other threads can submit meanwhile. Polls for about 50
 * us, then sleeps. */
CUresult wk__cuda_wait(CUevent event);
CUresult wk__cuda_wait_unlocked(const wk__cuda_device *device, CUevent event);
/* Sets *fail for an error of the driver, and marks the device as lost if the error means that. The lock is held. */
wk_code wk__cuda_fail_set(wk__cuda_device *device, wk__fail *fail, CUresult error, const char *what);
/* Fails with the reason of the device's loss. */
wk_code wk__cuda_fail_lost(const wk__cuda_device *device, wk__fail *fail);
/* For calls that waited and got WK_ERR_DEVICE_LOST: returns the code to report. Reads report it each time, other waits
 * once per device. The lock is not held. */
wk_code wk__cuda_report_lost(wk__cuda_device *device, bool reads, wk__fail *fail);
/* Frees memory, which waits for all work of the device. The lock is not held. */
void wk__cuda_free(wk__cuda_device *device, CUdeviceptr memory);

/* Allocates the staging memory if necessary. */
wk_code wk__cuda_staging_init(wk__cuda_device *device, wk__cuda_staging *staging, wk__fail *fail);
/* Returns `bytes` of staging memory, at most a slot, for the device to copy from next; NULL and *fail on failure. */
void *wk__cuda_staging_alloc(wk__cuda_device *device, wk__cuda_staging *staging, int64_t bytes, wk__fail *fail);
void wk__cuda_staging_destroy(wk__cuda_staging *staging);

/* Called before the compute stream uses the block: makes it wait for copies to and from it; or for all copies. */
CUresult wk__cuda_hazard_use(wk__cuda_device *device, const void *block);
CUresult wk__cuda_hazard_join(wk__cuda_device *device);
/* Called before and after a copy to or from the block in a copy stream: it waits for earlier uses of the block, and
 * later users of the block wait for it. */
CUresult wk__cuda_hazard_begin_copy(wk__cuda_device *device, int lane, const void *block);
CUresult wk__cuda_hazard_end_copy(wk__cuda_device *device, int lane, const void *block);
CUevent wk__cuda_hazard_last_copy(const wk__cuda_device *device, int lane); /* event after its last copy */
/* Called before and after a copy to the block in a stream of another device, which ends with an event of that
 * device. */
CUresult wk__cuda_hazard_begin_receive(wk__cuda_device *device, CUstream stream, const void *block);
CUresult wk__cuda_hazard_end_receive(wk__cuda_device *device, CUevent end, const void *block);
void wk__cuda_hazard_destroy(wk__cuda_device *device);

/* Gives the card access to everything that is mapped in the device's ranges, and to future mappings if the driver
 * permits it. Returns false if the driver denies access to current mappings. The lock is held. */
bool wk__cuda_range_share(wk__cuda_device *device, const wk__cuda_device_desc *card);
/* Returns the uses of an allocation's pages, and their number in *count; NULL if the block is not in a range. */
wk__cuda_last_use *wk__cuda_range_last_uses(wk__cuda_device *device, const void *block, int64_t *count);

/* Returns true if copies between the cards are direct. Tried once per pair, when it is first used: the driver then maps
 * allocations of each on both. Later mappings may be inaccessible (`p2p_devices`). Two devices with the same context
 * are one card. Both devices are locked and not lost. */
bool wk__cuda_enable_p2p(wk__cuda_device *a, wk__cuda_device *b);

/* compiler.c; `device` is a wk__cuda_device. */
extern const wk__gpu_compiler wk__cuda_compiler;

/* ---- entries of the backend table: launch.c, memory.c, vmem.c, transfer.c, events.c ------------------------------ */

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

/* Returns the device address of a byte. */
static inline CUdeviceptr wk__cuda_address(const wk__memory *memory, int64_t offset)
{
    return (CUdeviceptr)(uintptr_t)memory->block + (CUdeviceptr)(memory->offset + offset);
}

#endif
