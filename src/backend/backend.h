/* SPDX-License-Identifier: Apache-2.0 */
/* What a device has to be able to do. One table per backend; several live in one process. A backend sees base and ir
 * and nothing above. Append only; optional slots are NULL and marked so.
 *
 * Order: all work given to one device happens as if in the order of the calls. A call that enqueues returns before the
 * work is done; it copies what it needs of its arguments (wk__memory structs too), and memory given back to the arena
 * after the call may be handed out again at once, because what comes later comes later. Host pointers passed to
 * `upload` may be reused when the call returns.
 *
 * Faults: a call returns WK_OK or a code with the text in *fail. An index out of range that the device finds later is
 * returned by the next `sync` or `download`, once, with the tag of the group it happened in. From then on until that,
 * groups that overwrite what they read (wk__program_is_in_place) and kernels that add to their target do nothing.
 * Work that cannot be done when its turn has come (a compiler that refuses it, memory, a lost device) is left out, and
 * so is all that reads what it was to write (a prologue's operands are those of its contraction, too); each `download`
 * of such memory fails with the first cause until the memory is written anew. What an operand with `old` was to
 * replace stays. The next `sync` or `download` returns it once, too (`elsewhere`).
 */
#ifndef WICK_BACKEND_BACKEND_H
#define WICK_BACKEND_BACKEND_H

#include "base/text.h"
#include "contraction.h"
#include <stdatomic.h>
#include <wick/device.h>

enum {
    WK__BACKEND_VERSION = 1,
    WK__ALIGN = 256,             /* bytes: start of every piece of device memory */
    WK__RANGE_PAGE = 2 << 20,    /* bytes: parts of a range that get memory are multiples of it */
    WK__RANGE_MAPPING = 32 << 20 /* bytes that get memory at once, and lose it at once, at most */
};

/* A piece of device memory. `host` is its address where the host can use it (cpu), else NULL. */
struct wk__memory {
    void *block; /* the backend's own: host address, cl_mem, ... */
    char *host;
    int64_t offset; /* bytes, from the start of the block */
    int64_t bytes;
};

/* Whose work a call is: held by a backend as long as the work may still fail, and handed back with the failure. */
typedef struct wk__origin {
    atomic_int refcount;
    int64_t recorder_id; /* hears of a failure once, however much of its work fails: a number that nobody else ever
                            has */
    void (*destroy)(struct wk__origin *origin);
} wk__origin;
static inline wk__origin *wk__origin_retain(wk__origin *origin)
{
    if (origin) atomic_fetch_add(&origin->refcount, 1);
    return origin;
}
static inline void wk__origin_release(wk__origin *origin)
{
    if (origin && atomic_fetch_sub(&origin->refcount, 1) == 1) origin->destroy(origin);
}

/* Why a call failed. */
enum { WK__FAULT_TAGS = 1024 }; /* tags are told apart modulo this: no more groups than that may be on their way */
typedef struct wk__fail {
    wk_code code;
    char text[480];                     /* without file, line and op: the engine adds them */
    int64_t tag;                        /* of the group or kernel at fault, -1 not known; of several the first */
    int64_t index, bound;               /* WK_ERR_INDEX: the bad index and the number of valid ones */
    uint64_t tags[WK__FAULT_TAGS / 64]; /* late WK_ERR_INDEX: a bit for each group at fault */
    /* Of `sync` and `download`, work that was left out: */
    wk__origin *origin; /* whose work it was, NULL: not known */
    wk__origin *notify; /* who has to be told, as their work was left out, too; NULL: nobody new. Both are held:
                    wk__fail_release */
    bool poisoned;      /* `download`, `transfer`: what was to be read holds nothing good, now or later */
    bool async;         /* what was asked for has been done: there may be more such failures */
} wk__fail;
/* Lets go of what the failure holds. */
static inline void wk__fail_release(wk__fail *fail)
{
    wk__origin_release(fail->origin);
    wk__origin_release(fail->notify);
    fail->origin = fail->notify = NULL;
}
static inline void wk__fail_add_tag(wk__fail *fail, int64_t tag)
{
    fail->tags[tag % WK__FAULT_TAGS / 64] |= UINT64_C(1) << tag % 64;
}
static inline bool wk__fail_has_tag(const wk__fail *fail, int64_t tag)
{
    return fail->tags[tag % WK__FAULT_TAGS / 64] >> tag % 64 & 1;
}

/* The five states of a backend, and the sixth: it works. */
typedef enum wk__backend_status {
    WK__BACKEND_AVAILABLE,
    WK__NOT_BUILT,
    WK__NO_LIBRARY,
    WK__NO_DRIVER,
    WK__DRIVER_TOO_OLD,
    WK__NO_DEVICE
} wk__backend_status;

typedef struct wk__device_info {
    char name[128], vendor[64], driver[64];
    int64_t memory_total;                   /* bytes; 0 = not known */
    int64_t memory_available;               /* bytes now; -1 = not known */
    int compute_units;                      /* cores, multiprocessors */
    bool is_gpu;                            /* counts as a GPU for wk_gpu(i) */
    char pci[16];                           /* PCI address, "" if none: one physical card counts once */
    double temperature, power, utilisation; /* degrees C, W, 0..1; NaN = not known */
    char api_version[16];                   /* "CUDA 13.0", "" if not known */
    double power_limit;                     /* W; 0 = not known, as for the rest */
    int core_clock, memory_clock;           /* MHz */
    int processes;                          /* that use it, and the first of them */
    wk_device_process process[WK_DEVICE_PROCESSES];
} wk__device_info;

/* Whose a device's memory is, besides what the arenas hold; 0 = not known. */
typedef struct wk__memory_usage {
    int64_t library; /* bytes that the backend took for itself: scratch, arguments, the fault word */
    int64_t context; /* that the driver took when the device was opened */
    int64_t used;    /* of `total`, by everybody */
    int64_t total;
} wk__memory_usage;

/* A box of the space of a contraction's result. Its tail runs there at once when the elements of C that lie at `first`
 * + i x row_step + j x column_step, 0 <= i < rows, 0 <= j < columns, have been summed; in elements, from the start of
 * C's memory. They are to be the elements of the box. */
typedef struct wk__epilogue_box {
    int64_t start[WK__MAX_DIMS], size[WK__MAX_DIMS];
    int64_t first, rows, columns, row_step, column_step;
} wk__epilogue_box;
typedef void wk__epilogue_box_visit(void *user, const wk__epilogue_box *piece);

typedef struct wk__backend {
    int abi_version;
    int16_t kind; /* WK_CPU, ... */
    const char *name;

    /* Finds the backend's library and devices on first use; thread-safe. `why` gets a sentence for every state but
     * WK__BACKEND_AVAILABLE: what is missing and how to mend it. */
    wk__backend_status (*status)(wk__text *why);
    int (*count)(void);
    /* Cheap: each use of gpu:i asks it. What a slot `now` adds is as not known. */
    wk_code (*info)(int index, wk__device_info *info, wk__fail *fail);
    wk_code (*open)(int index, void **device, wk__fail *fail);
    void (*close)(void *device);

    /* Memory in large blocks; arena.h cuts them into pieces. Contents are undefined. */
    wk_code (*block_alloc)(void *device, int64_t bytes, wk__memory *block, wk__fail *fail);
    void (*block_free)(void *device, wk__memory *block);

    /* Enqueue. */
    /* Is there code for work of that family whose first operand has this dtype? No, if nothing of it is walked so. */
    bool (*supports)(void *device, int family, wk_dtype dtype, wk__layout layout);
    /* WK_ERR_UNSUPPORTED: there is no code for it. */
    wk_code (*submit)(void *device, const wk__work *work, wk__fail *fail);
    wk_code (*upload)(void *device, const wk__memory *to, int64_t offset, const void *from, int64_t bytes,
                      wk__fail *fail);
    wk_code (*copy)(void *device, const wk__memory *to, int64_t to_offset, const wk__memory *from, int64_t from_offset,
                    int64_t bytes, wk__fail *fail);

    /* Wait. */
    wk_code (*download)(void *device, void *to, const wk__memory *from, int64_t offset, int64_t bytes, wk__fail *fail);
    wk_code (*sync)(void *device, wk__fail *fail);

    /* optional: copies between two devices of this backend without the host; else the engine goes through the host */
    wk_code (*transfer)(void *to_device, const wk__memory *to, void *from_device, const wk__memory *from,
                        int64_t from_offset, int64_t bytes, wk__fail *fail);
    /* optional: true makes `submit` only gather what would have to be compiled; false compiles the
     * gathered kernels together and makes them run again. For tests: a cold build costs a second a kernel. */
    wk_code (*compile_only)(void *device, bool on, wk__fail *fail);
    /* optional: how `submit` would cut this contraction, without touching its memory; no pieces: its tail runs on
     * single elements of C as soon as each is summed, or on all of C afterwards */
    void (*epilogue_boxes)(const wk__work *work, wk__epilogue_box_visit *visit, void *user);
    /* optional, both or none: programs that compute a factor on the way. `can_fuse_prologue`: would `submit` run this
     * contraction with the prologues of its kernel, and sooner than each in work of its own? Operands have no memory
     * yet. Factors of fewer bytes than `min_prologue_bytes` are not asked about. */
    bool (*can_fuse_prologue)(void *device, const wk__work *work);
    int64_t min_prologue_bytes;
    /* optional, all or none: moments in a device's work. `event_record` enqueues one, which has come when all that was
     * enqueued before it is done, whether well or not; `event_wait` waits until it has come; `event_elapsed` gives the
     * time between two of the same device that have been waited for, negative if `to` came first. `event_destroy` frees
     * one, at any time before the device is closed. */
    wk_code (*event_record)(void *device, void **event, wk__fail *fail);
    wk_code (*event_wait)(void *device, void *event, wk__fail *fail);
    wk_code (*event_elapsed)(void *device, void *from, void *to, double *seconds, wk__fail *fail);
    void (*event_destroy)(void *device, void *event);
    /* optional: adds to *info what the device does now, if asking for that takes time. */
    void (*live_info)(int index, wk__device_info *info);
    /* optional, all or none: ranges of addresses, parts of which have memory. A byte's address is the range's `block`
     * plus its offset; pieces of a range have their address as their `block`, and no offset.
     *
     * `range_reserve` reserves addresses, at least so many bytes and enough for all that the device can hold.
     * `range_map` gives a part memory, all of it or none: in mappings of WK__RANGE_MAPPING bytes from `offset` on, and
     * one of what is left. WK_ERR_UNSUPPORTED from either: the device cannot do it, so blocks have to serve.
     * `range_unmap` takes the memory of whole mappings that lie side by side away. It waits for all that the device was
     * given before, as pieces are given back while work on them is under way; when it fails, the memory stays.
     * `range_release` gives the addresses back, of which none has memory any more.
     * `range_carve`: a piece is about to be handed out whose bytes may have been parts of other pieces. From any
     * thread, without waiting, before anything uses it; the rest is called by one thread at a time. */
    wk_code (*range_reserve)(void *device, int64_t bytes, wk__memory *range, wk__fail *fail);
    void (*range_release)(void *device, wk__memory *range);
    wk_code (*range_map)(void *device, const wk__memory *range, int64_t offset, int64_t bytes, wk__fail *fail);
    wk_code (*range_unmap)(void *device, const wk__memory *range, int64_t offset, int64_t bytes, wk__fail *fail);
    void (*range_carve)(void *device, const wk__memory *piece);
    /* optional: from any thread */
    void (*usage)(void *device, wk__memory_usage *usage);
    /* with the events: true if there is nothing to wait for, as the moment has come or never will. Never waits; not in
     * a child of fork(). */
    bool (*event_query)(void *device, void *event);
    /* optional, with `transfer`: do its copies between the two go from one device's memory to the other's? NULL: they
     * do, as far as the backend knows. False: the driver takes them through the host's. Who asks first has the way
     * opened and tried, as a first copy does; true is of the pair, and the driver may stage single copies all the
     * same. */
    bool (*has_p2p)(void *device, void *other);
    /* with `transfer`: its copies of so many bytes or more go beside what both devices compute, which wait for them
     * where they use the same memory next. Others, and with 0 all, may take a device's turn: it does nothing until they
     * have come. */
    int64_t min_overlap_bytes;
} wk__backend;

/* All backends of this build, NULL at the end; in the order in which gpu:i counts. */
extern const wk__backend *const wk__backends[];
/* The backend of a kind, or NULL. */
const wk__backend *wk__backend_of(int kind);

/* Does the group write memory that it also reads, or that holds an old value? */
bool wk__program_is_in_place(const wk__program *group);

/* Fills *fail and returns code. */
__attribute__((format(printf, 3, 4))) wk_code wk__fail_set(wk__fail *fail, wk_code code, const char *format, ...);
/* Adds to a text that is set which index it was, of what, in the work with that tag. WK_ERR_INDEX. */
wk_code wk__fail_set_index(wk__fail *fail, int64_t tag, int64_t index, int64_t bound);

#endif
