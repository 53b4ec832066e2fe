/* SPDX-License-Identifier: Apache-2.0 */
/* Shared declarations of the stand-in for the CUDA driver. A call holds the lock from call_begin to call_end; all other
 * functions here are called in between. Work in streams is deferred until a call waits for it, and then runs in an
 * order determined by the seed, as far as events permit. Errors of kernels are printed to stderr and become the
 * context's error 719, which lasts until the context ends.
 *
 * Environment variables:
 *   STANDIN             folder of sources and compiled kernels; default cache/standin in the build folder
 *   STANDIN_SEED        order of streams, blocks and warps; read by each cuInit
 *   STANDIN_FAIL_AT     n: the n-th call after the variable was set to this value fails with error 999
 *   STANDIN_ERRORS      name=code,name=code@n,name=code@n+: error codes of calls by name: of each call, of the n-th, of
 *                       the n-th and all later ones; the execution of a launch is named launch. An error that makes
 *                       contexts unusable remains the context's error
 *   STANDIN_ARCH        compute capability, 86 for 8.6, of the first device, the second and so on; default 90
 *   STANDIN_ATTRIBUTES  17=1,20=3: attributes of all devices; with a compute mode (20) of 2 or 3, no context is created
 *   STANDIN_FUNCTIONS   3=64: attributes of all functions, here their local memory
 *   STANDIN_DRIVER      12040: CUDA version of the driver; default 13000
 *   STANDIN_OTHERS      1500: MB of the first device, the second and so on that other processes use; default 64, 65.
 *                       They and the 100 of a context are not available to allocations
 *   STANDIN_GRANULE     4: reported allocation granularity of mappings in MB; default 2
 *   STANDIN_MIG         1: the devices are MIG instances of the first card
 *   STANDIN_ENTRIES     32: bytes of NVML's struct per process; default 24
 *   STANDIN_COUNTS      file to which the number of calls by name is appended at exit
 *   STANDIN_DEVICES     1: one device instead of two
 *   STANDIN_PEERS       0: no peer access; broken: peer copies transfer only their first half; broken1: the same, but
 *                       only towards the second device
 *   STANDIN_SECONDS     time limit of a launch; default 100
 *   STANDIN_CXX         the host's C++ compiler; default g++
 *   STANDIN_NVRTC       the real NVRTC; STANDIN_ARCHS: the architectures it supports (nvrtc.c) */
#ifndef STANDIN_DRIVER_H
#define STANDIN_DRIVER_H

#include "fibres.h"
#include "settings.h"

#include <stdbool.h>

/* Values of CUresult. */
typedef enum result {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    DEVICE_UNAVAILABLE = 46,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    NO_BINARY_FOR_GPU = 209,
    ECC_UNCORRECTABLE = 214,
    PEER_ACCESS_UNSUPPORTED = 217,
    INVALID_PTX = 218,
    NVLINK_UNCORRECTABLE = 220,
    CONTAINED = 226,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700,
    LAUNCH_OUT_OF_RESOURCES = 701,
    LAUNCH_TIMEOUT = 702,
    PEER_ACCESS_ALREADY_ENABLED = 704,
    PEER_ACCESS_NOT_ENABLED = 705,
    CONTEXT_IS_DESTROYED = 709,
    ASSERT = 710,
    HARDWARE_STACK_ERROR = 714,
    LAUNCH_FAILED = 719,
    TENSOR_MEMORY_LEAK = 721,
    NOT_SUPPORTED = 801,
    STREAM_CAPTURE_UNSUPPORTED = 900,
    STREAM_CAPTURE_INVALIDATED = 901,
    UNKNOWN = 999
} result;
typedef uint64_t address; /* an address in device memory */

enum { DEVICES = 2, MULTIPROCESSORS = 132, SHARED_BYTES = 48 << 10, MOST_SHARED_BYTES = FIBRES_SHARED };
static const int64_t DEVICE_BYTES = (int64_t)2 << 30;

typedef struct stream stream;
typedef struct event event;
typedef struct module module;
typedef struct function function;

/* The primary context of a device. Statically allocated; the stream list and what it owns belong to the context. */
typedef struct context {
    int device, retained;
    unsigned long long id; /* unique */
    bool destroyed;        /* by a reset; until all owners have released it, or it is retained again */
    result error;          /* sticky: returned by every call */
    unsigned peers;        /* bit set of devices whose memory kernels of this context may use */
    stream *streams;       /* the first one is the default stream */
    event *events;
    module *modules;
} context;

/* ---- contexts.c: contexts, begin and end of calls ---------------------------------------------------------------- */

#define CALL __attribute__((visibility("default"))) int

typedef enum call_needs { NEEDS_NOTHING, NEEDS_INIT, NEEDS_CONTEXT } call_needs;
/* Takes the lock and checks the state that the call needs. Unless it returns SUCCESS, the call must do nothing and end
 * with that code. */
result call_begin_as(const char *name, call_needs needs);
#define call_begin(needs) call_begin_as(__func__, needs)
/* Releases the lock; returns code. */
int call_end(result code);
/* Returns the calling thread's context, or NULL. */
context *context_current(void);
extern context contexts[DEVICES];
/* Returns true if c is a context in use. */
bool context_is_alive(const context *c);
/* Returns true if the device can access the other one's memory. */
bool device_has_peer_access(int device, int other);
/* Returns true if direct copies from the other device arrive incompletely. */
bool device_corrupts_peer_copies(int device);
/* Return the compute capability, 90 for 9.0, and an attribute of a device. */
int device_architecture(int device);
int device_attribute(int device, int attribute, int otherwise);

/* Returns a random number in [0, below), determined by the seed. */
unsigned random_u32_below(unsigned below);
uint64_t seed_now(void);
/* Prints a line to stderr, with the prefix "stand-in: ". */
__attribute__((format(printf, 1, 2))) void log_line(const char *format, ...);

/* ---- memory.c ---------------------------------------------------------------------------------------------------- */

/* Returns true if the range is mapped device memory; with c, if kernels of this context may access it as well. */
bool memory_is_valid(const context *c, address at, size_t bytes);
/* Returns true if the range overlaps the address space reserved for device memory, mapped or not. */
bool memory_is_device(const void *at, size_t bytes);
/* Returns the ranges that kernels of the context may access, in the order of addresses. */
const fibres_range *memory_ranges(const context *c, int *count);
void memory_end(context *c);

/* A range of addresses in use: an allocation, or a mapping (virtual_memory.c). */
typedef struct allocation {
    char *start;
    size_t bytes;
    int device;
    unsigned allowed; /* bit set of devices that may access it */
    bool mapped;
} allocation;

/* Inserts into the table, which is sorted. Returns NULL on allocation failure. */
allocation *piece_add(const allocation *p);
void piece_remove(allocation *p);
/* Returns the one that begins at this address, or NULL. */
allocation *piece_at(address at);
/* Notes that access rights have changed. */
void ranges_invalidate(void);
/* Reserves addresses that have never been used, without memory and followed by an unused page. NULL: none left. */
char *va_reserve(size_t bytes, size_t multiple);
/* Unmaps the memory of complete pages of such addresses. */
void va_unmap(char *start, size_t bytes);
/* Adds to the bytes in use on a device; returns false if they exceed its memory. */
bool memory_account(int device, int64_t bytes);
/* Returns the bytes in use on a device by other processes, its context, allocations and mappings. nvml.c looks it
 * up. */
int64_t standin_memory_used(int device);

/* ---- streams.c --------------------------------------------------------------------------------------------------- */

/* A recorded position in a stream; reference-counted. */
typedef struct sync_point {
    int refs;
    bool done;
    uint64_t time; /* of completion, in nanoseconds */
} sync_point;

typedef enum work_kind { WORK_LAUNCH, WORK_COPY, WORK_FILL, WORK_RECORD, WORK_WAIT } work_kind;

typedef struct work {
    struct work *next;
    work_kind kind;
    char *to;
    const char *from;
    size_t bytes;
    bool to_device, from_device;
    uint32_t value; /* WORK_FILL: repeated value of `width` bytes */
    int width;
    sync_point *mark;
    function *function; /* WORK_LAUNCH */
    unsigned grid[3], block[3], shared;
    char argument[]; /* each argument at the offset in function.place */
} work;

/* Creates the default stream of a context; returns false on allocation failure. */
bool streams_begin(context *c);
/* Frees all streams and events with their pending work. */
void streams_end(context *c);
/* Returns the stream of a handle, or NULL. */
stream *stream_of(void *handle);
context *stream_context(const stream *s);
work *work_new(work_kind kind, size_t argument_bytes);
/* Appends work to a stream, which then owns it. */
void stream_add(stream *s, work *w);
/* Runs all pending work of a context. */
void streams_run(context *c);
/* Discards the pending work of a failed context. */
void streams_drop(context *c);

/* ---- capture.c --------------------------------------------------------------------------------------------------- */

/* Returns SUCCESS if this thread may make this call, as far as captures are concerned. */
result capture_check(const char *name);

/* ---- stream_ops.c ------------------------------------------------------------------------------------------------ */

/* Runs one item of work; failures set the context's error. */
void work_run(context *c, const work *w);

/* ---- modules.c, compile.c ---------------------------------------------------------------------------------------- */

struct function {
    function *next;
    module *module;
    char name[128];
    int parameters;
    uint16_t bytes[256], place[256]; /* size and offset of each parameter in the copied arguments */
    size_t argument_bytes;
    unsigned shared, most_shared,
        most_threads; /* static; maximum dynamic (settable attribute); from __launch_bounds__ */
};

struct module {
    module *next;
    context *context;
    void *library;
    char *image; /* the cubin */
    function *functions;
};

/* Returns true if f is a function of a loaded module. */
bool function_is_alive(const function *f);
void modules_end(context *c);
/* Loads a host library with the kernels of a cubin, compiling it unless it is cached; for this compute capability, 0:
 * any. */
result compile_module(const char *image, int architecture, void **library);
/* Returns the name of section k and its position; NULL if there is no section k. */
const char *cubin_section(const char *image, int k, const char **at, size_t *bytes);

#endif
