/* SPDX-License-Identifier: Apache-2.0 */
/* Backend interface: one table of functions per backend; several backends can be in use in one process. Backends depend
 * on base and ir only. Append only; optional entries may be NULL and are marked.
 *
 * Ordering: calls on one device take effect in call order. Calls that enqueue return early and copy their arguments,
 * wk__memory structs included. Memory freed to the arena after such a call may be reused immediately, because later
 * work runs later. Host memory passed to `upload` may be reused when the call returns.
 *
 * Failures: a call returns WK_OK or a code with the text in *fail. An index out of range that the device finds later is
 * returned once, by the next `sync` or `download`, with the tag of its program. From the fault until then, programs
 * that overwrite memory they read (wk__program_is_in_place) and kernels that accumulate into their target do nothing.
 *
 * Enqueued work that turns out to be impossible (compilation failure, out of memory, lost device) is skipped, and so is
 * all work that reads its outputs; a prologue's operands count as those of its contraction. Each `download` of such
 * memory returns the first cause until the memory is overwritten. The target of an operand with `rollback` keeps its
 * old contents. The next `sync` or `download` also returns the failure once, with `async` set. */
#ifndef WICK_BACKEND_BACKEND_H
#define WICK_BACKEND_BACKEND_H

#include "base/text.h"
#include "contraction.h"
#include <stdatomic.h>
#include <wick/device.h>

enum {
    WK__BACKEND_VERSION = 1,
    WK__ALIGN = 256,             /* bytes: alignment of every allocation of device memory */
    WK__RANGE_PAGE = 2 << 20,    /* bytes: granularity of mapping in an address range */
    WK__RANGE_MAPPING = 32 << 20 /* bytes: maximum size of one mapping */
};

/* An allocation of device memory. `host` is its host address if it has one (cpu), else NULL. */
struct wk__memory {
    void *block; /* the backend's handle: host address, cl_mem, ... */
    char *host;
    int64_t offset; /* bytes, from the start of the block */
    int64_t bytes;
};

/* Origin of submitted work. A backend references it while the work can still fail, and returns it with the failure. */
typedef struct wk__origin {
    atomic_int refcount;
    int64_t recorder_id; /* receives a failure once, however many of its commands fail; unique in the process */
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

/* Failure of a call. */
enum { WK__FAULT_TAGS = 1024 }; /* tags are distinguished modulo this, so at most that many programs may be in flight */
typedef struct wk__fail {
    wk_code code;
    char text[480];                     /* without file, line and op, which the engine adds */
    int64_t tag;                        /* of the first faulty program or kernel; -1: unknown */
    int64_t index, bound;               /* WK_ERR_INDEX: the bad index and the number of valid ones */
    uint64_t tags[WK__FAULT_TAGS / 64]; /* asynchronous WK_ERR_INDEX: a bit for each faulty tag */
    /* Set by `sync` and `download` for skipped work: */
    wk__origin *origin; /* of the work that failed; NULL: unknown */
    /* another origin to notify, whose work was skipped too; NULL: none. Both are references: see wk__fail_release() */
    wk__origin *notify;
    bool poisoned; /* `download`, `transfer`: the source memory is invalid until overwritten */
    bool async;    /* the call itself succeeded and earlier work failed; there may be more such failures */
} wk__fail;
/* Drops the references of the failure. */
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

/* State of a backend. */
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
    int64_t memory_total;                   /* bytes; 0: unknown */
    int64_t memory_available;               /* bytes; -1: unknown */
    int compute_units;                      /* cores or multiprocessors */
    bool is_gpu;                            /* counts as a GPU for wk_gpu(i) */
    char pci[16];                           /* PCI address, "" if none, to count a physical card once */
    double temperature, power, utilisation; /* degrees Celsius, watts, 0 to 1; NaN: unknown */
    char api_version[16];                   /* "CUDA 13.0"; "" if unknown */
    double power_limit;                     /* watts; 0: unknown, also below */
    int core_clock, memory_clock;           /* MHz */
    int processes;                          /* number of processes that use it; the first ones follow */
    wk_device_process process[WK_DEVICE_PROCESSES];
} wk__device_info;

/* Use of a device's memory beyond the arenas, in bytes; 0: unknown. */
typedef struct wk__memory_usage {
    int64_t library; /* allocated by the backend: scratch, arguments, the fault word */
    int64_t context; /* allocated by the driver when the device was opened */
    int64_t used;    /* of `total`, by all processes */
    int64_t total;
} wk__memory_usage;

/* A box in the result space of a contraction whose epilogue can run as soon as its elements of C are complete. These
 * are at `first` + i x row_step + j x column_step, 0 <= i < rows, 0 <= j < columns, in elements from the start of C's
 * memory. */
typedef struct wk__epilogue_box {
    int64_t start[WK__MAX_DIMS], size[WK__MAX_DIMS];
    int64_t first, rows, columns, row_step, column_step;
} wk__epilogue_box;
typedef void wk__epilogue_box_visit(void *user, const wk__epilogue_box *piece);

typedef struct wk__backend {
    int abi_version;
    int16_t kind; /* WK_CPU, ... */
    const char *name;

    /* Finds the backend's library and devices on first use; thread-safe. Unless it returns WK__BACKEND_AVAILABLE, `why`
     * receives a sentence that names the missing part and how to fix it. */
    wk__backend_status (*status)(wk__text *why);
    int (*count)(void);
    /* Must be cheap: every use of gpu:i calls it. Fields that live_info adds are set to unknown. */
    wk_code (*info)(int index, wk__device_info *info, wk__fail *fail);
    wk_code (*open)(int index, void **device, wk__fail *fail);
    void (*close)(void *device);

    /* Allocate and free memory in large blocks, from which the arena allocates (arena.h). Contents are undefined. */
    wk_code (*block_alloc)(void *device, int64_t bytes, wk__memory *block, wk__fail *fail);
    void (*block_free)(void *device, wk__memory *block);

    /* Functions that enqueue. */
    /* Returns true if work of this family, dtype of the first operand and layout is supported. */
    bool (*supports)(void *device, int family, wk_dtype dtype, wk__layout layout);
    /* Returns WK_ERR_UNSUPPORTED if there is no kernel for the work. */
    wk_code (*submit)(void *device, const wk__work *work, wk__fail *fail);
    wk_code (*upload)(void *device, const wk__memory *to, int64_t offset, const void *from, int64_t bytes,
                      wk__fail *fail);
    wk_code (*copy)(void *device, const wk__memory *to, int64_t to_offset, const wk__memory *from, int64_t from_offset,
                    int64_t bytes, wk__fail *fail);

    /* Functions that wait. */
    wk_code (*download)(void *device, void *to, const wk__memory *from, int64_t offset, int64_t bytes, wk__fail *fail);
    wk_code (*sync)(void *device, wk__fail *fail);

    /* Optional: copies between two devices of this backend. Without it the engine copies through the host. */
    wk_code (*transfer)(void *to_device, const wk__memory *to, void *from_device, const wk__memory *from,
                        int64_t from_offset, int64_t bytes, wk__fail *fail);
    /* Optional, for tests, because a cold build takes a second per kernel: true makes `submit` only collect kernels;
     * false compiles the collected ones together and resumes normal execution. */
    wk_code (*compile_only)(void *device, bool on, wk__fail *fail);
    /* Optional: enumerates the boxes in which `submit` would compute this contraction, without accessing its memory.
     * Without any boxes, the epilogue runs on single elements of C as they are completed, or on all of C afterwards. */
    void (*epilogue_boxes)(const wk__work *work, wk__epilogue_box_visit *visit, void *user);
    /* Optional, both or none: fused prologues. Returns true if `submit` would run this contraction with the prologues
     * of its kernel, and faster than separate kernels. Operands have no memory yet. Not called for factors smaller than
     * `min_prologue_bytes`. */
    bool (*can_fuse_prologue)(void *device, const wk__work *work);
    int64_t min_prologue_bytes;
    /* Optional, all or none: events. `event_record` enqueues an event, which completes when all earlier work has
     * completed or failed; `event_wait` blocks until then; `event_elapsed` returns the time between two completed
     * events of one device, negative if `to` came first; `event_destroy` frees an event at any time before the device
     * is closed. */
    wk_code (*event_record)(void *device, void **event, wk__fail *fail);
    wk_code (*event_wait)(void *device, void *event, wk__fail *fail);
    wk_code (*event_elapsed)(void *device, void *from, void *to, double *seconds, wk__fail *fail);
    void (*event_destroy)(void *device, void *event);
    /* Optional: adds current measurements to *info, if querying them is slow. */
    void (*live_info)(int index, wk__device_info *info);
    /* Optional, all or none: virtual address ranges, parts of which are backed by memory. The address of a byte is the
     * range's `block` plus its offset; allocations in a range have their address as `block` and offset 0.
     *
     *   range_reserve   reserves at least `bytes` of addresses, enough for the memory of the device
     *   range_map       backs a part with memory, all or nothing, in mappings of WK__RANGE_MAPPING bytes from `offset`
     *                   on and one of the remainder
     *   range_unmap     removes adjacent complete mappings, after waiting for all submitted work, because memory is
     *                   freed while work on it is pending; if it fails, the memory stays mapped
     *   range_release   releases the addresses; no part of the range is mapped any more
     *   range_carve     announces an allocation whose bytes may have belonged to other allocations, before its first
     *                   use; any thread, must not wait
     *
     * range_reserve and range_map return WK_ERR_UNSUPPORTED if the device has no ranges; the arena then uses blocks.
     * All except range_carve are called by one thread at a time. */
    wk_code (*range_reserve)(void *device, int64_t bytes, wk__memory *range, wk__fail *fail);
    void (*range_release)(void *device, wk__memory *range);
    wk_code (*range_map)(void *device, const wk__memory *range, int64_t offset, int64_t bytes, wk__fail *fail);
    wk_code (*range_unmap)(void *device, const wk__memory *range, int64_t offset, int64_t bytes, wk__fail *fail);
    void (*range_carve)(void *device, const wk__memory *piece);
    /* Optional; any thread. */
    void (*usage)(void *device, wk__memory_usage *usage);
    /* With the events: returns true if the event has completed or never will. Never waits; not called in a forked
     * child. */
    bool (*event_query)(void *device, void *event);
    /* Optional, with `transfer`: returns true if its copies between the two devices are direct, false if the driver
     * stages them in host memory. NULL: direct, as far as the backend knows. The first call enables and tests peer
     * access, like a first copy; the driver may still stage individual copies. */
    bool (*has_p2p)(void *device, void *other);
    /* With `transfer`: copies of at least this many bytes overlap computation on both devices, which wait for them only
     * at the next use of the same memory. Smaller copies, and all if 0, may block a device's queue until they
     * complete. */
    int64_t min_overlap_bytes;
} wk__backend;

/* All backends of this build, NULL-terminated, in the order in which gpu:i counts. */
extern const wk__backend *const wk__backends[];
/* Returns the backend of a kind, or NULL. */
const wk__backend *wk__backend_of(int kind);

/* Returns true if the program overwrites an old value that it loads, or a part of an old value. */
bool wk__program_is_in_place(const wk__program *group);

/* Fills *fail and returns code. */
__attribute__((format(printf, 3, 4))) wk_code wk__fail_set(wk__fail *fail, wk_code code, const char *format, ...);
/* Adds the bad index, its bound and the tag of the work to a failure with a text. Returns WK_ERR_INDEX. */
wk_code wk__fail_set_index(wk__fail *fail, int64_t tag, int64_t index, int64_t bound);

#endif
