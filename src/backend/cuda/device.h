/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the CUDA backend.
 *
 * There is no thread of a device's own, as the OpenCL backend has one: what enqueues here does not wait for what it
 * enqueues, unless the driver's queue is full, so whoever submits enqueues, under the device's lock and in one stream,
 * where all happens in order. Large uploads and copies to other devices have streams of their own (order.c).
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

#include "../../base/alloc.h"
#include "../gpu/fault.h"
#include "../gpu/units.h"
#include "api.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- cards.c: the devices of the machine ------------------------------------------------------------------------- */

enum { WK__CUDA_CARDS = 64 /* of more, the rest is left out */ };

typedef struct wk__cuda_card {
    CUdevice id;
    int number; /* its place among the cards: a bit of `met` and `peers` below */
    wk__gpu_card gpu;
    int architecture;    /* 90 for sm_90 */
    int compiled_for;    /* the newest of its generation that NVRTC knows; */
    bool as_ptx;         /* it knows none: text for an older one, from which the driver compiles */
    int64_t most_groups; /* blocks of one launch */
    int64_t most_items;  /* threads that are on the card at once */
    bool maps;           /* addresses and memory may be had separately */
} wk__cuda_card;

wk__presence wk__cuda_presence(wk__text *why);
int wk__cuda_count(void);
/* NULL and *fail when there is no such device. */
const wk__cuda_card *wk__cuda_card_at(int index, wk__fail *fail);
wk_code wk__cuda_info(int index, wk__device_info *info, wk__fail *fail);
/* Adds what NVML says of a card that is there. */
void wk__cuda_now(int index, wk__device_info *info);
/* Bytes of its memory that nobody uses now; -1: not known. */
int64_t wk__cuda_available(const wk__cuda_card *card);

/* ---- staging.c: memory of the host from which the device copies while the host goes on --------------------------- */

enum { WK__CUDA_SLOTS = 4, WK__CUDA_SLOT = 2 << 20 /* bytes */ };

/* A ring of slots. One is filled from its start; the next begins when the device is through with what it had. */
typedef struct wk__cuda_staging {
    CUstream stream; /* that copies from it */
    char *host;      /* NULL until first wanted */
    int slot;        /* that is being filled */
    int64_t used;    /* bytes of it */
    CUevent end[WK__CUDA_SLOTS];
    bool is_read[WK__CUDA_SLOTS]; /* the end of its copies has been recorded and not been waited for */
} wk__cuda_staging;

/* ---- order.c: what the streams of a device do with the same block ------------------------------------------------ */

/* Copies beside what the device computes, each kind in a stream of its own, so that none waits for another kind's:
 * large uploads, and what goes to other devices. What comes from those is copied in a stream of theirs; the one here
 * only follows it. */
enum { WK__CUDA_UPLOADS, WK__CUDA_DEPARTURES, WK__CUDA_ARRIVALS, WK__CUDA_LANES };

enum { WK__CUDA_USES = 256, WK__CUDA_ENDS = 8 };

typedef struct wk__cuda_use {
    int64_t number;               /* of the last use by the stream that computes */
    int64_t copy[WK__CUDA_LANES]; /* the last copy of each lane, into it or out of it */
} wk__cuda_use;

/* Where a block stands in the table. */
static inline int wk__cuda_place_of(const void *block)
{
    const uint64_t hash = (uint64_t)(uintptr_t)block * 0x9e3779b97f4a7c15u;
    return (int)(hash >> 32 & (WK__CUDA_USES - 1));
}

typedef struct wk__cuda_copies {
    CUstream stream;            /* NULL until first wanted */
    int64_t count;              /* so many copies there were; */
    CUevent end[WK__CUDA_ENDS]; /* each one's end, in turns: a later one's is after it */
    int64_t awaited;            /* the stream that computes waits for copies up to this, */
    int64_t awaited_at;         /* from the use of this number on; */
    int64_t awaited_number;     /* this stream waits for uses up to this */
} wk__cuda_copies;

typedef struct wk__cuda_order {
    const void *block[WK__CUDA_USES]; /* by a hash of them, */
    wk__cuda_use use[WK__CUDA_USES];  /* their uses, */
    wk__cuda_use others;              /* and the latest of those that have no place there */
    int64_t number;                   /* so many uses there were */
    CUevent computed;                 /* all uses up to .. */
    int64_t computed_number;
    wk__cuda_copies copies[WK__CUDA_LANES];
} wk__cuda_order;

/* ---- ranges.c: addresses of which parts have memory -------------------------------------------------------------- */

/* Pieces of a range come and go with other bounds each time, so uses are not a piece's but those of its units. */
typedef struct wk__cuda_range {
    struct wk__cuda_range *next;
    CUdeviceptr at;
    int64_t units;
    int32_t *piece; /* of the unit where a piece begins: how many it has */
    wk__cuda_use *use;
    bool *mapped; /* has the unit memory? */
} wk__cuda_range;

/* ---- a device that is open --------------------------------------------------------------------------------------- */

enum {
    WK__CUDA_ARGUMENTS = 1 << 20,                                     /* bytes */
    WK__CUDA_EVENT = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING /* who waits sleeps */
};

/* What a thread is in the midst of while it calls the driver for a context. */
typedef struct wk__cuda_calls {
    bool current;             /* the context is */
    bool relaxed;             /* captures are no matter, */
    CUstreamCaptureMode mode; /* and this is how they were before */
} wk__cuda_calls;

/* A launch of the work that is being submitted. */
typedef struct wk__cuda_planned {
    wk__gpu_function *function;
    wk__gpu_launch launch; /* of whose arguments only as many are filled in as there are */
} wk__cuda_planned;

typedef struct wk__cuda_retired {
    CUdeviceptr memory[32];
    int count;
    int64_t bytes;
} wk__cuda_retired;

typedef struct wk__cuda_device wk__cuda_device;
struct wk__cuda_device {
    const wk__cuda_card *card;
    CUcontext context;     /* the primary one, which other libraries of the process share */
    unsigned long long id; /* of the context, which no other ever has; 0: not known */
    int64_t context_bytes; /* of the device that opening it took, 0: not known */

    pthread_mutex_t lock; /* of all that follows, up to the next lock */
    wk__cuda_calls calls; /* of whoever holds it */
    CUstream stream;
    CUdeviceptr fault; /* a wk__gpu_fault */
    CUdeviceptr scratch;
    int64_t scratch_bytes;
    wk__cuda_retired retired; /* what was too small, and may still be in use */
    CUdeviceptr arguments;    /* a ring: of kernels whose arguments are many */
    int64_t arguments_used;
    wk__cuda_staging staging, large; /* large: for uploads in a stream of their own */
    wk__cuda_order order;
    wk__gpu_units units;
    wk__cuda_planned *planned;
    int64_t nplanned, planned_room;
    bool takes_text;                       /* its driver compiles, as it takes no code */
    bool gathering;                        /* launches are not run, their units only wait to be built */
    uint64_t met;                          /* cards to which wk__cuda_peers has looked for a way */
    atomic_bool gone;                      /* the device answers no more; readable without the lock */
    bool told;                             /* somebody who waited has heard of it */
    bool was_reset;                        /* and has nothing any more of what was made in its context */
    char why[sizeof((wk__fail *)0)->text]; /* of that */

    pthread_mutex_t cutting; /* for moments only, taken last */
    wk__cuda_range *ranges;  /* whoever changes the list holds `lock` and `cutting`, who looks one of them */

    pthread_mutex_t mapping; /* taken behind `lock`: of which units are mapped */
    /* Cards that were let use all that was mapped then, and are asked for at each new mapping; one that the driver does
     * not let them use is the driver's to stage. Whoever changes it holds `lock`, too. */
    uint64_t peers;

    pthread_mutex_t reading; /* one download at a time; taken before `lock` */
    char *landing;           /* memory of the host: two halves, and the fault word; NULL until first wanted */
    CUevent landed[2];
};

/* Makes the context the thread's current one until wk__cuda_end, which puts back the one before. In between the calls
 * are allowed although another library captures a stream: none of ours has to do with that. */
CUresult wk__cuda_begin(CUcontext context, wk__cuda_calls *calls);
void wk__cuda_end(wk__cuda_calls *calls);
/* The same under the lock. The device may be gone, and then nothing is to be asked of the driver. WK_ERR_STATE: this
 * process was forked from the one that opened the device. */
wk_code wk__cuda_enter(wk__cuda_device *device, wk__fail *fail);
void wk__cuda_leave(wk__cuda_device *device);
/* Waits for an event between begin and end, or outside of them and without the lock, so that others submit meanwhile.
 * The thread looks for some 50 us, and then sleeps. */
CUresult wk__cuda_wait(CUevent event);
CUresult wk__cuda_await(const wk__cuda_device *device, CUevent event);
/* Fills *fail with what a call of the driver said; notes down that the device is gone if that is what it said. Holds
 * the lock. */
wk_code wk__cuda_failed(wk__cuda_device *device, wk__fail *fail, CUresult error, const char *what);
/* Why the device is gone. */
wk_code wk__cuda_gone(const wk__cuda_device *device, wk__fail *fail);
/* For who waited and got WK_ERR_LOST: what to return, as who reads hears of it each time, and who waits once for all.
 * Does not hold the lock. */
wk_code wk__cuda_tell_gone(wk__cuda_device *device, bool reads, wk__fail *fail);
/* Gives memory back, which waits for all work of the device: without the lock. */
void wk__cuda_free(wk__cuda_device *device, CUdeviceptr memory);

/* WK_OK once there is the memory that the next call hands out. */
wk_code wk__cuda_staging_begin(wk__cuda_device *device, wk__cuda_staging *staging, wk__fail *fail);
/* Room for so many bytes, at most a slot, from which the device copies next; NULL and *fail: there is none. */
void *wk__cuda_staging_take(wk__cuda_device *device, wk__cuda_staging *staging, int64_t bytes, wk__fail *fail);
void wk__cuda_staging_end(wk__cuda_staging *staging);

/* The stream that computes is about to use the block: it waits for the copies into it and out of it, or for all. */
CUresult wk__cuda_order_use(wk__cuda_device *device, const void *block);
CUresult wk__cuda_order_all(wk__cuda_device *device);
/* Around a copy into the block or out of it in the stream of a lane: that waits for what was done with the block
 * before, and who uses the block later waits for the copy. */
CUresult wk__cuda_order_begin_copy(wk__cuda_device *device, int lane, const void *block);
CUresult wk__cuda_order_end_copy(wk__cuda_device *device, int lane, const void *block);
CUevent wk__cuda_order_last(const wk__cuda_device *device, int lane); /* the end of its last copy */
/* Around a copy into the block in the stream of another device, which ends with an event of that device. */
CUresult wk__cuda_order_begin_in(wk__cuda_device *device, CUstream stream, const void *block);
CUresult wk__cuda_order_arrive(wk__cuda_device *device, CUevent end, const void *block);
void wk__cuda_order_end(wk__cuda_device *device);

/* Lets the card use all that is mapped in the ranges of the device now, and what will be as far as the driver allows.
 * False: it does not let it use what is mapped now. Holds the lock. */
bool wk__cuda_range_share(wk__cuda_device *device, const wk__cuda_card *card);
/* The uses of the units of a piece: *count of them. NULL: the block is not of a range. */
wk__cuda_use *wk__cuda_range_uses(wk__cuda_device *device, const void *block, int64_t *count);

/* Do copies go from card to card? Looked for once, when a pair is first copied between or asked about: from then on the
 * driver maps what either allocates on both. A mapping made later may be left out (`peers`). What one context has is on
 * one card. Both devices are locked, and not gone. */
bool wk__cuda_peers(wk__cuda_device *a, wk__cuda_device *b);

/* programs.c. `device` is a wk__cuda_device. */
extern const wk__gpu_compiler wk__cuda_compiler;

/* ---- launch.c, memory.c, ranges.c, transfer.c, events.c ---------------------------------------------------------- */

bool wk__cuda_supports(void *user, int family, wk_dtype dtype, wk__layout layout);
wk_code wk__cuda_submit(void *user, const wk__work *work, wk__fail *fail);
wk_code wk__cuda_gather(void *user, bool on, wk__fail *fail);

wk_code wk__cuda_block_take(void *user, int64_t bytes, wk__memory *block, wk__fail *fail);
void wk__cuda_block_give(void *user, wk__memory *block);
wk_code wk__cuda_range_take(void *user, int64_t bytes, wk__memory *range, wk__fail *fail);
void wk__cuda_range_give(void *user, wk__memory *range);
wk_code wk__cuda_range_map(void *user, const wk__memory *range, int64_t offset, int64_t bytes, wk__fail *fail);
wk_code wk__cuda_range_unmap(void *user, const wk__memory *range, int64_t offset, int64_t bytes, wk__fail *fail);
void wk__cuda_range_cut(void *user, const wk__memory *piece);
void wk__cuda_usage(void *user, wk__memory_usage *usage);
wk_code wk__cuda_upload(void *user, const wk__memory *to, int64_t offset, const void *from, int64_t bytes,
                        wk__fail *fail);
wk_code wk__cuda_copy(void *user, const wk__memory *to, int64_t to_offset, const wk__memory *from, int64_t from_offset,
                      int64_t bytes, wk__fail *fail);
wk_code wk__cuda_download(void *user, void *to, const wk__memory *from, int64_t offset, int64_t bytes, wk__fail *fail);
wk_code wk__cuda_sync(void *user, wk__fail *fail);
wk_code wk__cuda_transfer(void *to_device, const wk__memory *to, void *from_device, const wk__memory *from,
                          int64_t from_offset, int64_t bytes, wk__fail *fail);
bool wk__cuda_direct(void *device, void *other);
wk_code wk__cuda_event_record(void *user, void **event, wk__fail *fail);
wk_code wk__cuda_event_wait(void *user, void *event, wk__fail *fail);
wk_code wk__cuda_event_elapsed(void *user, void *from, void *to, double *seconds, wk__fail *fail);
void wk__cuda_event_give(void *user, void *event);
bool wk__cuda_event_query(void *user, void *event);

/* The address of a block's byte. */
static inline CUdeviceptr wk__cuda_address(const wk__memory *memory, int64_t offset)
{
    return (CUdeviceptr)(uintptr_t)memory->block + (CUdeviceptr)(memory->offset + offset);
}

#endif
