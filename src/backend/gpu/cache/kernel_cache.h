/* SPDX-License-Identifier: Apache-2.0 */
/* The units that a device has been asked for, and the programs that hold their functions. Everything here is the same
 * for each dialect; what its compiler and driver do stands behind a table of functions. */
#ifndef WICK_BACKEND_GPU_UNITS_H
#define WICK_BACKEND_GPU_UNITS_H

#include "disk_cache.h"
#include "backend/gpu/kernel.h"

#include <pthread.h>

/* Units in one kernel: a function's compile time grows faster than its length. */
enum { WK__GPU_SWITCH_CASES = 64 };

/* A dialect's compiler and driver. Programs and functions are pointers that only they understand. */
typedef struct wk__gpu_compiler {
    char magic[16]; /* the first bytes of a file with a binary: no dialect reads what another wrote */
    /* Makes a program from source. WK_ERR_INTERNAL: the compiler refuses the source (wk__gpu_fail_compile). `binary`,
     * where it is not NULL, gets what `load` takes, and stays empty when the driver gives none. */
    wk_code (*compile)(void *device, const char *source, void **program, wk__text *binary, wk__fail *fail);
    /* NULL: the driver does not take the binary. */
    void *(*load)(void *device, const char *binary, int64_t bytes);
    /* WK_OK and NULL in *out: the program has no such function. Some drivers load its code only now, so memory may be
     * short, and what failed before may come out. */
    wk_code (*get_kernel)(void *device, void *program, const char *name, void **out, wk__fail *fail);
    void (*release_kernel)(void *function); /* optional: functions end with their program */
    void (*release_module)(void *program);
} wk__gpu_compiler;

enum { WK__GPU_OPTIONS = 2 };

/* A card, as far as it is described alike for all dialects. */
typedef struct wk__gpu_device_desc {
    wk__device_info info; /* what does not change */
    wk__gpu_target target;
    char option[WK__GPU_OPTIONS][256]; /* for the compiler, "": none */
    char compiler_id[260]; /* who else decides what becomes of a text: the compiler's version, or driver and device */
    bool has_driver_cache; /* the driver keeps what it compiled on disk itself */
} wk__gpu_device_desc;

/* The function of a unit, known from the first launch that wanted it, built by the thread that enqueues. */
typedef struct wk__gpu_kernel {
    struct wk__gpu_kernel *next;         /* with the same key modulo the table's size */
    struct wk__gpu_kernel *pending_next; /* the next that is not built */
    uint64_t key;
    wk__gpu_kernel_spec spec; /* its group is a copy */
    void *handle;             /* the driver's function; NULL until built; belongs to the program */
    bool rejected;            /* the compiler did not take it, */
    char reject_text[200];    /* with these words */
    int memory_slots;         /* parameters for memory that the kernel has */
    int case_index;           /* its number in a merged kernel, -1: it is a kernel of its own */
    bool checked;             /* the backend's: the driver has been asked about it */
} wk__gpu_kernel;

/* Where a program has a unit; also what a file says of each. */
typedef struct wk__gpu_module_entry {
    wk__gpu_digest unit;
    int32_t kernel; /* wk_<kernel> is the function's name */
    int32_t which, memory_slots;
    int32_t unused;
} wk__gpu_module_entry;

typedef struct wk__gpu_module {
    struct wk__gpu_module *next;
    void *module; /* the driver's */
    int64_t entries, kernels;
    wk__gpu_module_entry *entry;
    void **kernel; /* the driver's functions, each made when first wanted */
} wk__gpu_module;

enum { WK__GPU_BUCKETS = 1024, WK__GPU_FUSE_COUNTERS = 4096 };

/* Of one device. */
typedef struct wk__gpu_kernel_cache {
    const wk__gpu_compiler *compiler;
    void *device; /* what the compiler's functions get */
    const wk__gpu_device_desc *desc;
    bool context_lost; /* at the end: with the device, and are only forgotten */

    _Atomic uint8_t fuse_count[WK__GPU_FUSE_COUNTERS]; /* how often products have been met with a tail, by a hash of the
                                                          tail */

    wk__gpu_module *modules; /* one thread at a time: the device's own, or whoever holds its lock */

    pthread_mutex_t lock; /* of the table and the list of those that wait */
    wk__gpu_kernel *bucket[WK__GPU_BUCKETS];
    wk__gpu_kernel *pending;
} wk__gpu_kernel_cache;

/* From all zero. */
void wk__gpu_kernel_cache_init(wk__gpu_kernel_cache *units, const wk__gpu_compiler *compiler, void *device,
                               const wk__gpu_device_desc *card);
/* Frees all functions and programs. Nobody uses the device any more. */
void wk__gpu_kernel_cache_destroy(wk__gpu_kernel_cache *units);

/* The function of a unit, new if need be; NULL and *fail when memory is short. Any thread. A debug build prints the
 * text of a unit that it finds in the table and refuses one that differs (WK_ERR_INTERNAL). */
wk__gpu_kernel *wk__gpu_kernel_lookup(wk__gpu_kernel_cache *units, const wk__gpu_kernel_spec *unit, wk__fail *fail);
/* Is the tail of this work to be in its kernel? A product compiles for longer than a tail, and shares its kernel with
 * products that have other tails, or none: so the two are apart until they have been met often enough. Which it is
 * changes no bit. `counts`: this time is one of them. Any thread. */
bool wk__gpu_should_fuse_epilogue(wk__gpu_kernel_cache *units, const wk__work *work, bool counts);
/* Does the built function take its arguments as a struct by value? Else they are in memory, and a merged kernel
 * (which >= 0) gets the number of the unit behind them. */
static inline bool wk__gpu_kernel_by_value(const wk__gpu_kernel_cache *units, const wk__gpu_kernel *function)
{
    return function->case_index < 0 && wk__gpu_arguments_by_value(&units->desc->target, &function->spec);
}

/* Adds a program around `built`, which it takes over, with a copy of the entries; NULL when memory is short. The
 * thread that builds, as for the next. */
wk__gpu_module *wk__gpu_add_module(wk__gpu_kernel_cache *units, void *built, const wk__gpu_module_entry *entry,
                                   int64_t entries);
/* Gives the unit its function if the program has it, which the handle tells. An error: it has it, but the driver does
 * not hand it out now. */
wk_code wk__gpu_bind(const wk__gpu_kernel_cache *units, wk__gpu_module *program, wk__gpu_kernel *function,
                     const wk__gpu_digest *digest, wk__fail *fail);

#endif
